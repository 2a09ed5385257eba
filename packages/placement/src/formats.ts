/**
 * Placements as text that engines load, and back.
 * The one idea: a writer refuses what an engine could not load rather than write it. Load tables are read by
 * whoever knows recordings; here only placements have a format.
 */
import type { PlacementTable } from './place-table.js';

export const placementFormats = ['sglang', 'vllm', 'trtllm'] as const;
export type PlacementFormat = (typeof placementFormats)[number];

/**
 * A placement in the text that an engine loads, ending in a newline.
 * - sglang: JSON `physical_to_logical_map` for --init-expert-location. That engine counts all layers, so the
 *   `firstLayer` layers before the first with experts get the first row.
 * - vllm: JSON of its two maps, -1 padded, and replica counts.
 * - trtllm: YAML for moe_load_balancer, layers by their number in the model, from `firstLayer`.
 * Throws RangeError for placements with empty slots or ranks of different size, which these engines have not.
 */
export function writePlacement(table: PlacementTable, format: PlacementFormat, firstLayer = 0): string {
  if (table.slotsPerRank.some((slots) => slots !== table.slotsPerRank[0])) {
    throw new RangeError(
      `${format} needs equally many slots on every rank, these are ${table.slotsPerRank.join(', ')}`,
    );
  }
  table.physicalToLogical.forEach((row, layer) => {
    const empty = row.indexOf(-1);
    if (empty >= 0)
      throw new RangeError(`${format} needs an expert in every slot; layer ${layer} slot ${empty} is empty`);
  });
  if (format === 'trtllm') return trtllm(table, firstLayer);
  const rows = table.physicalToLogical;
  if (format === 'sglang') {
    const padding = Array.from({ length: firstLayer }, () => rows[0]);
    return `${JSON.stringify({ physical_to_logical_map: [...padding, ...rows] })}\n`;
  }
  return `${JSON.stringify({
    physical_to_logical_map: rows,
    logical_to_physical_map: table.logicalToPhysical,
    logical_replica_count: table.logicalCount,
  })}\n`;
}

function trtllm(table: PlacementTable, firstLayer: number): string {
  const layers = table.physicalToLogical.map((row, layer) => `  ${firstLayer + layer}: [${row.join(', ')}]`);
  return [
    `num_slots: ${table.physicalToLogical[0].length}`,
    // A fixed placement: the engine is not to move experts by itself.
    'layer_updates_per_iter: 0',
    'initial_global_assignments:',
    ...layers,
    '',
  ].join('\n');
}

/**
 * A placement [layers][slots] from JSON: a table, or an object with `physicalToLogical`,
 * `physical_to_logical_map`, `phy2log` or `initial_global_assignments` (layers in ascending order).
 * Throws RangeError on anything else.
 */
export function readPlacement(text: string): number[][] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RangeError(`placement: not JSON: ${(cause as Error).message}`, { cause });
  }
  const keys = ['physicalToLogical', 'physical_to_logical_map', 'phy2log', 'initial_global_assignments'];
  const found = isRecord(value) ? value[keys.find((key) => key in value) ?? ''] : value;
  const rows = isRecord(found)
    ? Object.keys(found)
        .sort((a, b) => Number(a) - Number(b))
        .map((layer) => found[layer])
    : found;
  const whole = (row: unknown) => Array.isArray(row) && row.every((e) => Number.isInteger(e) && e >= -1);
  if (!Array.isArray(rows) || !rows.every(whole)) {
    throw new RangeError(
      `placement: expected [layers][slots] of expert numbers, or one of ${keys.join(', ')}`,
    );
  }
  return rows;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
