/**
 * What the registries of other packages tell the scenario reader: names, and a schema for each name's options.
 * The reader checks options without knowing any algorithm; whoever owns the registries hands them in.
 */
import * as z from 'zod';
import type { ClusterSpec } from './cluster-spec.js';

export interface CatalogEntry {
  readonly summary: string;
  readonly options: z.ZodType;
}

export type Registry = Readonly<Record<string, CatalogEntry>>;

/** A kind of topology, which can say whether a cluster is a network: `build` throws RangeError when it is none. */
export interface TopologyEntry extends CatalogEntry {
  build?(cluster: ClusterSpec): unknown;
}

export interface Catalog {
  readonly routing: Registry;
  readonly placement: Registry;
  readonly topology: Readonly<Record<string, TopologyEntry>>;
  readonly workload: Registry;
  readonly networkModels: Registry;
  readonly overlaps: Registry;
  readonly exchanges: Registry;
}

/** A JSON schema, as far as it is looked into. */
export interface JsonSchema {
  readonly [key: string]: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
}

/** The schema of what may be written, as plain JSON schema without its `$schema` line. */
export function inputSchema(type: z.ZodType): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' });
  return schema as JsonSchema;
}

/** Names of the fields that may stand at `path` inside a value of this schema, over all alternatives. */
export function fieldsAt(schema: JsonSchema, path: readonly PropertyKey[]): readonly string[] {
  const found = new Set<string>();
  const walk = (at: JsonSchema | undefined, depth: number): void => {
    if (at === undefined || typeof at !== 'object') return;
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const branches = at[key];
      if (Array.isArray(branches)) for (const branch of branches) walk(branch as JsonSchema, depth);
    }
    if (depth === path.length) {
      for (const name of Object.keys(at.properties ?? {})) found.add(name);
      return;
    }
    const key = path[depth];
    if (typeof key === 'number') walk(at.items, depth + 1);
    else if (at.properties && Object.hasOwn(at.properties, key)) walk(at.properties[String(key)], depth + 1);
  };
  walk(schema, 0);
  return [...found];
}
