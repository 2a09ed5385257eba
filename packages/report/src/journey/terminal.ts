/** A journey in a few lines of a terminal: what was followed, what it met, where the page is. */
import { formatValue } from '../page/format.js';
import { plural } from './page/scene.js';
import type { JourneyTrace, NextTokenPart } from './trace.js';

/** Loss and balance of each short run, first and last step; nothing when none was made. */
function trainingLines({ training }: JourneyTrace): string[] {
  return (training?.runs ?? []).map(({ name, loss, maxVio }, i) => {
    const change = (values: readonly number[]) =>
      `${values[0].toFixed(2)} to ${values[values.length - 1].toFixed(2)}`;
    return `${i === 0 ? 'short run ' : '          '} ${name}: loss ${change(loss)}, MaxVio ${change(maxVio)}`;
  });
}

function likeliest({ top, sampled }: NextTokenPart): string {
  const most = top
    .slice(0, 4)
    .map(({ label, probability }) => `${JSON.stringify(label)} ${formatValue(probability, 'fraction')}`);
  return `${most.join(', ')}; drawn: ${JSON.stringify(sampled)}`;
}

/** Lines of text; every figure says whose it is. */
export function terminalJourney(trace: JourneyTrace, dir: string | null): string {
  const { stream, kda, mla, depth, width, balance, muon, nextToken, nextTokenTrained } = trace;
  const { fullSize, fullSizeWidth } = trace;
  const followed = stream.tokens[stream.focus];
  const last = balance.rounds[balance.rounds.length - 1];
  const read = depth[depth.length - 1];
  const chosen = width.chosen.map(({ expert, rank }) => `${expert} on rank ${rank}`).join(', ');
  const lines = [
    `${trace.model}, seed ${trace.seed}: token ${stream.focus} of ${stream.tokens.length}, ${followed.kind} ${JSON.stringify(followed.label)}`,
    '',
    `sequence   layer ${kda.layer}, head ${kda.head}: a state of ${formatValue(kda.stateBytes, 'bytes')} after ${plural(kda.tokens.length, 'token')}; a softmax cache of that head would hold ${formatValue(kda.cacheBytesPerToken * kda.tokens.length, 'bytes')}`,
    `           layer ${mla.layer}: ${plural(mla.kept.length, 'row')} of ${mla.latentRank} + ${mla.sharedKeySize} kept; head 0 reads token ${mla.strongest.token} most`,
    `depth      the output mixes ${read.weights.length} sources: ${read.weights.map((w) => w.toFixed(3)).join(' + ')} = 1`,
    `width      layer ${width.layer}: experts ${chosen}; ${formatValue(width.batchBytes, 'bytes')} for ${width.batchTokens} tokens, out and back`,
    `balance    layer ${balance.layer}: MaxVio ${balance.rounds[0].maxVio.toFixed(2)} without bias, ${last.maxVio.toFixed(2)} after ${balance.rounds.length - 1} rounds of quantile balancing`,
    `training   orthogonality error ${muon.steps[5].perHead.toFixed(2)} per head, ${muon.steps[5].whole.toFixed(2)} on the whole slice`,
    ...trainingLines(trace),
    `next token ${likeliest(nextToken)} (untrained weights)`,
    ...(nextTokenTrained === null ? [] : [`           ${likeliest(nextTokenTrained)} (after the short run)`]),
    '',
    `Kimi K3 at full size, for scale: ${fullSize.layers} layers, ${fullSizeWidth.biased.length} experts, ${fullSizeWidth.topK} chosen; ${formatValue(fullSize.kdaStateBytes, 'bytes')} of state a sequence, ${formatValue(fullSize.cacheBytesPerToken, 'bytes')} of cache a token`,
  ];
  if (dir !== null) lines.push('', `page: ${dir}/journey.html`, `data: ${dir}/journey.json`);
  return lines.join('\n');
}
