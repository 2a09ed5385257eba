/**
 * EPLB as its published Python reads: whole rows at a time, a division per replica, a scan per item.
 * The slow form that the product's is tied to; single precision by Math.fround.
 */
const f32 = Math.fround;

function balancedPacking(weight: number[], packs: number): { pack: number[]; rank: number[] } {
  const perPack = weight.length / packs;
  if (perPack === 1) return { pack: weight.map((_, i) => i), rank: weight.map(() => 0) };
  const order = weight.map((_, i) => i).sort((a, b) => weight[b] - weight[a]);
  const packWeights: number[] = new Array(packs).fill(0);
  const packItems: number[] = new Array(packs).fill(0);
  const pack: number[] = [];
  const rank: number[] = [];
  for (const item of order) {
    const open = packWeights.map((_, p) => p).filter((p) => packItems[p] < perPack);
    const best = open.reduce((a, b) => (packWeights[b] < packWeights[a] ? b : a));
    pack[item] = best;
    rank[item] = packItems[best]++;
    packWeights[best] = f32(packWeights[best] + weight[item]);
  }
  return { pack, rank };
}

function replicateExperts(
  weight: number[],
  physical: number,
): { log: number[]; rank: number[]; count: number[] } {
  const log = weight.map((_, i) => i);
  const rank = weight.map(() => 0);
  const count = weight.map(() => 1);
  for (let i = weight.length; i < physical; i++) {
    const each = weight.map((w, e) => f32(w / count[e]));
    const most = each.indexOf(Math.max(...each));
    log.push(most);
    rank.push(count[most]++);
  }
  return { log, rank, count };
}

/** Expert and replica number of each slot of one layer. */
export function naiveEplb(
  loads: readonly number[],
  replicas: number,
  groups: number,
  nodes: number,
  gpus: number,
): { expert: number[]; replica: number[] } {
  if (groups % nodes !== 0) return naiveEplb(loads, replicas, 1, 1, gpus);
  const weight = loads.map(f32);
  const groupSize = weight.length / groups;
  const groupWeight = Array.from({ length: groups }, (_, g) =>
    f32(weight.slice(g * groupSize, (g + 1) * groupSize).reduce((a, b) => a + b, 0)),
  );
  const onNode = balancedPacking(groupWeight, nodes);
  const middle: number[] = [];
  weight.forEach((_, expert) => {
    const group = Math.floor(expert / groupSize);
    const at =
      (onNode.pack[group] * (groups / nodes) + onNode.rank[group]) * groupSize + (expert % groupSize);
    middle[at] = expert;
  });
  const expert: number[] = [];
  const replica: number[] = [];
  const perNode = weight.length / nodes;
  for (let node = 0; node < nodes; node++) {
    const local = middle.slice(node * perNode, (node + 1) * perNode);
    const localWeight = local.map((e) => weight[e]);
    const { log, rank, count } = replicateExperts(localWeight, replicas / nodes);
    const packed = balancedPacking(
      log.map((e) => f32(localWeight[e] / count[e])),
      gpus / nodes,
    );
    log.forEach((e, i) => {
      const slot = (node * (gpus / nodes) + packed.pack[i]) * (replicas / gpus) + packed.rank[i];
      expert[slot] = local[e];
      replica[slot] = rank[i];
    });
  }
  return { expert, replica };
}
