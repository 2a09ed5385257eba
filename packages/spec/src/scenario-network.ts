/**
 * What only a built network can know: domains that do not come out even, links that no name names, ranks that
 * nobody reaches.
 * The one idea: the kind of topology builds the cluster once, and what it refuses is placed where it was written.
 * Knows no topology: a refusal says "FIELD: WHAT IS WRONG: VALUE; REPAIR".
 */
import type { Catalog } from './catalog.js';
import type { ClusterSpec } from './cluster-spec.js';
import type { Path } from './document.js';
import type { Reader } from './reader.js';

/** Reports why the cluster is no network. `stages` where only parts of it are ever built, each evenly filled. */
export function checkNetwork(to: Reader, cluster: ClusterSpec, catalog: Catalog, stages: boolean): void {
  const { topology } = cluster;
  const options = stages ? { ...topology.options, unevenLastDomain: true } : topology.options;
  try {
    catalog.topology[topology.kind]?.build?.({ ...cluster, topology: { ...topology, options } });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const [, field, wrong, value, help] =
      /^([\w.]+): ([^:]+): (.*?); (.*)$/s.exec(error.message) ??
      (['', 'cluster', 'wrong network', error.message, ''] as const);
    const [kind = 'wrong', ...subject] = (wrong as string).split(' ');
    const path = placeOf(cluster, (field as string).split('.'), value as string);
    to.report(path, { kind, subject: subject.join(' '), value: value as string, help: help as string });
  }
}

/** The entry of a list or record that a refusal is about: the override of a rank, the name of a link. */
function placeOf({ overrides, topology }: ClusterSpec, path: string[], value: string): Path {
  const last = path.at(-1);
  if (last === 'overrides') {
    const rank = Number(/^(?:rank )?(\d+)/.exec(value)?.[1]);
    const index = overrides.findIndex((one) => one.rank === rank);
    return index < 0 ? path : [...path, index];
  }
  const degraded = Object.keys((topology.options.degraded as object | undefined) ?? {});
  const named = degraded.find((name) => value === name || value.includes(`link ${name} `));
  return named === undefined ? path : ['cluster', 'topology', 'degraded', named];
}
