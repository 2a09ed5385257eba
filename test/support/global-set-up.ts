/** Once before all tests: the browser is found or installed, so that no two test files do it at the same time. */
import { findChromium } from './chromium.js';

export function setup(): void {
  const found = findChromium();
  if ('missing' in found) process.stderr.write(`tests of pages are not run: ${found.missing}\n`);
}
