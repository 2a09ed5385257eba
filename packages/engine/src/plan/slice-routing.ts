/** A part of every rank's tokens as a routing of its own: a micro-batch, or the tokens that are carried. */
import { NO_EXPERT, type Routing } from '@epsim/spec';

/** Copies rows `range(tokens of the rank)` = [from, to) of every rank, counted from the rank's first token. */
export function sliceRouting(
  routing: Routing,
  range: (tokens: number) => readonly [number, number],
): Routing {
  const { tokenOffsets, width, topK, expertCount } = routing;
  const offsets = new Int32Array(tokenOffsets.length);
  const starts = new Int32Array(tokenOffsets.length - 1);
  for (let rank = 0; rank < starts.length; rank++) {
    const [from, to] = range(tokenOffsets[rank + 1] - tokenOffsets[rank]);
    starts[rank] = tokenOffsets[rank] + from;
    offsets[rank + 1] = offsets[rank] + to - from;
  }
  const tokens = offsets[starts.length];
  const experts = new Int32Array(tokens * width);
  const weights = new Float32Array(tokens * width);
  for (let rank = 0; rank < starts.length; rank++) {
    const end = starts[rank] + offsets[rank + 1] - offsets[rank];
    experts.set(routing.experts.subarray(starts[rank] * width, end * width), offsets[rank] * width);
    weights.set(routing.weights.subarray(starts[rank] * width, end * width), offsets[rank] * width);
  }
  let made = 0;
  for (const e of experts) if (e !== NO_EXPERT) made++;
  return {
    expertCount,
    topK,
    width,
    tokenOffsets: offsets,
    experts,
    weights,
    droppedChoices: Math.max(0, tokens * topK - made),
  };
}
