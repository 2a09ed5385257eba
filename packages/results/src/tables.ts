/**
 * The CSV tables of a run folder, written and read back. A header row, commas, no quoting but for link names.
 * Numbers are written in full, so that reading gives the same bits.
 */

/** Bytes from rank s to rank d at [s, d], row-major [rankCount x rankCount], dispatch and combine together. */
export interface RankTraffic {
  readonly rankCount: number;
  readonly bytes: Float64Array;
}

/** What one link of the target cluster carried over the run. */
export interface LinkUse {
  readonly link: string;
  /** "scale-up", "scale-out", ... as the topology names its tiers. */
  readonly tier: string;
  readonly bytes: number;
  /** Share of the timed run in which the link was full, 0 to 1. */
  readonly busyFraction: number;
}

/** Choices per expert, by layer, over all steps. */
export type ExpertLoad = ReadonlyMap<number, Float64Array>;

/** One row per layer and expert: layer,expert,choices. */
export function expertLoadCsv(load: ExpertLoad): string {
  const lines = ['layer,expert,choices'];
  for (const [layer, choices] of [...load].sort(([a], [b]) => a - b)) {
    choices.forEach((count, expert) => {
      lines.push(`${layer},${expert},${count}`);
    });
  }
  return `${lines.join('\n')}\n`;
}

/** One row per source rank, one column per destination rank, in bytes. */
export function rankTrafficCsv({ rankCount, bytes }: RankTraffic): string {
  if (bytes.length !== rankCount * rankCount) {
    throw new RangeError(
      `bytes has shape [${bytes.length}]; ${rankCount} ranks need [${rankCount * rankCount}]`,
    );
  }
  const lines = [['from\\to', ...Array(rankCount).keys()].join(',')];
  for (let s = 0; s < rankCount; s++) {
    lines.push(`${s},${bytes.subarray(s * rankCount, (s + 1) * rankCount).join(',')}`);
  }
  return `${lines.join('\n')}\n`;
}

/** One row per link: link,tier,bytes,busyFraction. */
export function linkUseCsv(links: readonly LinkUse[]): string {
  const lines = ['link,tier,bytes,busyFraction'];
  for (const { link, tier, bytes, busyFraction } of links) {
    lines.push(`${quoted(link)},${quoted(tier)},${bytes},${busyFraction}`);
  }
  return `${lines.join('\n')}\n`;
}

export function parseExpertLoad(text: string): ExpertLoad {
  const rows = new Map<number, number[]>();
  for (const [layer, , choices] of numberRows(text)) {
    const row = rows.get(layer);
    if (row === undefined) rows.set(layer, [choices]);
    else row.push(choices);
  }
  return new Map([...rows].map(([layer, choices]) => [layer, Float64Array.from(choices)]));
}

export function parseRankTraffic(text: string): RankTraffic {
  const rows = numberRows(text);
  const rankCount = rows.length;
  const bytes = new Float64Array(rankCount * rankCount);
  rows.forEach((row, s) => {
    bytes.set(row.slice(1), s * rankCount);
  });
  return { rankCount, bytes };
}

export function parseLinkUse(text: string): LinkUse[] {
  return bodyLines(text).map((line) => {
    const [link, tier, bytes, busyFraction] = line.match(/"(?:[^"]|"")*"|[^,]+/g) ?? [];
    return {
      link: unquoted(link ?? ''),
      tier: unquoted(tier ?? ''),
      bytes: Number(bytes),
      busyFraction: Number(busyFraction),
    };
  });
}

function numberRows(text: string): number[][] {
  return bodyLines(text).map((line) => line.split(',').map(Number));
}

function bodyLines(text: string): string[] {
  return text
    .split('\n')
    .slice(1)
    .filter((line) => line !== '');
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
}
