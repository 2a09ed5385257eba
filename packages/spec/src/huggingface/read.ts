import type { PlainObject } from '../document.js';
import type { Finding } from '../findings.js';
import type { ModelShape } from '../model-shape.js';
export function modelFromHuggingFace(
  _c: PlainObject,
  _o: { name: string; source: string; quantConfig?: PlainObject | null },
): { ok: true; model: ModelShape } | { ok: false; problems: readonly Finding[] } {
  return { ok: false, problems: [] };
}
