/**
 * The expert-parallel load balancer that DeepSeek published (github.com/deepseek-ai/EPLB), bit for bit.
 * The one idea: give the next redundant slot to the expert with the most load per replica, then pack replicas,
 * heaviest first, on the rank with the least load that still has room.
 * Hierarchical when the groups of experts divide over the nodes: whole groups are packed on nodes first, and
 * replicas stay in the node. Beyond the published form, ranks may differ in slots and in speed; with equal
 * ones nothing changes. Does not mind two replicas of an expert on one rank: see eplb-distinct.
 */
import { z } from 'zod';
import { sumOf } from './loads.js';
import { packBalanced } from './pack.js';
import type { PlacedReplicas, PlacementInput, PlacementPolicy } from './policy.js';
import { replicate } from './replicate.js';
import { checkInput, slotOffsetsOf } from './slots.js';

const eplbOptions = z.strictObject({
  groups: z
    .int()
    .positive()
    .default(1)
    .describe('groups of experts that the router limits a token to; each is kept together on a node'),
  nodes: z
    .int()
    .positive()
    .optional()
    .describe('nodes that the ranks form; the scale-up domains of the cluster unless said'),
});

export const eplb: PlacementPolicy = {
  summary: 'DeepSeek EPLB: replicate the heaviest experts, pack replicas by load; hierarchical with groups',
  options: eplbOptions,
  place(input, options) {
    checkInput(input);
    const { groups, nodes = domainsOf(input) } = eplbOptions.parse(options);
    // The published rule: groups that do not divide over the nodes mean one group on one node.
    if (groups % nodes !== 0) return placeOnNodes(input, 1, 1);
    checkHierarchy(input, groups, nodes);
    return placeOnNodes(input, groups, nodes);
  },
};

function domainsOf(input: PlacementInput): number {
  const domains = input.rankCount / input.domainRanks;
  return Number.isInteger(domains) ? domains : 1;
}

function checkHierarchy(input: PlacementInput, groups: number, nodes: number): void {
  const { loads, rankCount, slotsPerRank } = input;
  if (loads.length % groups !== 0) {
    throw new RangeError(`eplb: ${loads.length} experts do not divide into ${groups} groups`);
  }
  if (rankCount % nodes !== 0) {
    throw new RangeError(`eplb: ${rankCount} ranks do not divide over ${nodes} nodes`);
  }
  const expertsPerNode = loads.length / nodes;
  const ranksPerNode = rankCount / nodes;
  for (let node = 0; node < nodes; node++) {
    const slots = sumOf(slotsPerRank.subarray(node * ranksPerNode, (node + 1) * ranksPerNode));
    if (slots < expertsPerNode) {
      throw new RangeError(
        `eplb: too few slots: node ${node} has ${slots} for ${expertsPerNode} experts; ` +
          `use ${Math.ceil(expertsPerNode / ranksPerNode)} or more per rank`,
      );
    }
  }
}

function placeOnNodes(input: PlacementInput, groups: number, nodes: number): PlacedReplicas {
  const { rankCount, slotsPerRank, rankSpeed } = input;
  const expertCount = input.loads.length;
  // Single precision as published: it decides ties.
  const loads = Float32Array.from(input.loads);
  const slotOffsets = slotOffsetsOf(slotsPerRank);
  const slotExpert = new Int32Array(slotOffsets[rankCount]);
  const slotReplica = new Int32Array(slotOffsets[rankCount]);
  const ranksPerNode = rankCount / nodes;
  const expertsPerNode = expertCount / nodes;
  const nodeExperts = expertsByNode(input, loads, groups, nodes);
  for (let node = 0; node < nodes; node++) {
    const firstRank = node * ranksPerNode;
    const experts = nodeExperts.subarray(node * expertsPerNode, (node + 1) * expertsPerNode);
    const slots = slotOffsets[firstRank + ranksPerNode] - slotOffsets[firstRank];
    const replicas = replicate(
      Float32Array.from(experts, (expert) => loads[expert]),
      slots,
    );
    const { pack, position } = packBalanced(
      replicas.loads,
      slotsPerRank.subarray(firstRank, firstRank + ranksPerNode),
      rankSpeed?.subarray(firstRank, firstRank + ranksPerNode),
    );
    for (let i = 0; i < slots; i++) {
      const slot = slotOffsets[firstRank + pack[i]] + position[i];
      slotExpert[slot] = experts[replicas.item[i]];
      slotReplica[slot] = replicas.copy[i];
    }
  }
  return { rankCount, expertCount, slotOffsets, slotExpert, slotReplica };
}

/** The experts of node 0, then of node 1, ..., [expertCount]: groups packed on nodes by load. */
function expertsByNode(
  input: PlacementInput,
  loads: Float32Array,
  groups: number,
  nodes: number,
): Int32Array {
  const groupSize = loads.length / groups;
  const groupsPerNode = groups / nodes;
  const groupLoads = Float32Array.from({ length: groups }, (_, group) =>
    sumOf(loads.subarray(group * groupSize, (group + 1) * groupSize)),
  );
  const { rankCount, rankSpeed } = input;
  const ranksPerNode = rankCount / nodes;
  const nodeSpeed =
    rankSpeed &&
    Float64Array.from({ length: nodes }, (_, node) =>
      sumOf(rankSpeed.subarray(node * ranksPerNode, (node + 1) * ranksPerNode)),
    );
  const { pack, position } = packBalanced(groupLoads, new Int32Array(nodes).fill(groupsPerNode), nodeSpeed);
  const order = new Int32Array(loads.length);
  for (let group = 0; group < groups; group++) {
    const to = (pack[group] * groupsPerNode + position[group]) * groupSize;
    for (let i = 0; i < groupSize; i++) order[to + i] = group * groupSize + i;
  }
  return order;
}
