/**
 * DeepSeek-V3's node-limited routing: experts stand in groups, a token may use the best few groups only, so that its
 * row travels to few nodes. A group is worth the sum of its two best scores + bias; equal groups go to the lower one.
 * Source: DeepSeek-V3's gate (noaux_tc); groups are runs of expertCount / groupCount ids.
 */
import { z } from 'zod';
import { createRoutingArena } from '../arena.js';
import { startingBias } from '../bias.js';
import { userMistake } from '../mistakes.js';
import { definePolicy, type RouterContext } from '../policy.js';
import { routeRows } from '../route-rows.js';
import { createSelector } from '../select.js';

const options = z.strictObject({
  groupCount: z.int().min(1).nullable().default(null).describe("groups of experts; null: the model's own"),
  topGroupCount: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe("groups a token may use; null: the model's own"),
});

export const groupLimited = definePolicy({
  summary: 'DeepSeek-V3: top-k within the groups whose two best experts score highest',
  options,
  create(context, chosen) {
    const groupCount = chosen.groupCount ?? context.groupCount;
    const topGroupCount = chosen.topGroupCount ?? context.topGroupCount;
    checkGroups(context, groupCount, topGroupCount);
    const { expertCount, topK } = context;
    const groupSize = expertCount / groupCount;
    const arena = context.arena ?? createRoutingArena();
    const bias = startingBias(context);
    const groupScores = new Float32Array(groupCount);
    const noBias = new Float32Array(groupCount);
    const groups = createSelector(groupCount, topGroupCount);
    const allowed = new Float32Array(topGroupCount * groupSize);
    const allowedIds = new Int32Array(allowed.length);
    const within = createSelector(allowed.length, topK);
    const withinBias = new Float32Array(allowed.length);
    return {
      bias: context.initialBias ? bias : null,
      route(batch) {
        return routeRows(context, arena, batch, topK, (scores, offset, _row, experts, at) => {
          for (let group = 0; group < groupCount; group++) {
            groupScores[group] = topTwoSum(scores, offset, bias, group * groupSize, groupSize);
          }
          groups.select(groupScores, 0, noBias);
          let next = 0;
          for (let group = 0; group < groupCount; group++) {
            if (!groups.ids.includes(group)) continue;
            for (let expert = group * groupSize; expert < (group + 1) * groupSize; expert++) {
              allowed[next] = scores[offset + expert];
              withinBias[next] = bias[expert];
              allowedIds[next++] = expert;
            }
          }
          within.select(allowed, 0, withinBias);
          for (let i = 0; i < topK; i++) experts[at + i] = allowedIds[within.ids[i]];
          return 0;
        });
      },
    };
  },
});

/** Sum of the two largest of score + bias among `count` experts from `first`; of the one, where there is one. */
function topTwoSum(
  scores: Float32Array,
  offset: number,
  bias: Float32Array,
  first: number,
  count: number,
): number {
  let best = -Infinity;
  let second = -Infinity;
  for (let expert = first; expert < first + count; expert++) {
    const value = scores[offset + expert] + bias[expert];
    if (value > best) {
      second = best;
      best = value;
    } else if (value > second) {
      second = value;
    }
  }
  return count > 1 ? best + second : best;
}

/** Throws UserError when the groups are not equal, not there, or too small to hold top-k. */
function checkGroups({ expertCount, topK }: RouterContext, groupCount: number, topGroupCount: number): void {
  const groupSize = expertCount / groupCount;
  if (!Number.isInteger(groupSize)) {
    throw userMistake('routing.groupCount', {
      kind: 'uneven',
      subject: 'groups',
      value: `${expertCount} experts in ${groupCount} groups`,
      help: `use a divisor of ${expertCount}`,
    });
  }
  const topGroups = (kind: string, value: string) =>
    userMistake('routing.topGroupCount', {
      kind,
      subject: 'groups',
      value,
      help: `use ${Math.ceil(topK / groupSize)} to ${groupCount}`,
    });
  if (topGroupCount > groupCount) throw topGroups('too many', `${topGroupCount} of ${groupCount}`);
  if (topGroupCount * groupSize < topK) {
    throw topGroups('too few', `${topGroupCount} x ${groupSize} experts < top-${topK}`);
  }
}
