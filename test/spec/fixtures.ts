/**
 * Published configurations as text and as data.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export type Config = { [key: string]: ConfigValue };
export type ConfigValue = null | boolean | number | string | ConfigValue[] | Config;

export function configText(name: string): string {
  return readFileSync(fileURLToPath(new URL(`./fixtures/${name}.json`, import.meta.url)), 'utf8');
}

/** Read as YAML, because some publishers write Infinity, which JSON does not know. */
export function config(name: string): Config {
  return parse(configText(name));
}
