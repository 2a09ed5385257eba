/** The few figures that a reader looks for first, each with the name of its measure and what to hold it against. */
import type { Summary } from '@epsim/results';
import { formatValue } from './page/format.js';
import { errorBar } from './summary-table.js';

export interface KeyFigure {
  readonly label: string;
  readonly value: string;
  readonly note: string;
}

export function keyFigures(summary: Summary): KeyFigure[] {
  const { timed, ranks, load, bytes, baseline } = summary;
  const ratio = (value: number) => formatValue(value, 'ratio');
  const times: KeyFigure[] =
    timed === null
      ? []
      : [
          { label: 'step time, predicted', value: formatValue(timed.stepNs, 'ns'), note: timeNote(timed) },
          {
            label: 'tokens per second and rank',
            value: formatValue(timed.tokensPerSecPerRank, 'count'),
            note: `the ${summary.layers} simulated layers of experts only`,
          },
        ];
  return [
    ...times,
    {
      label: 'max / mean over ranks',
      value: ratio(ranks.maxOverMean),
      note: `worst layer ${ratio(ranks.worst.maxOverMean)}; 1 is even`,
    },
    {
      label: 'MaxVio over experts',
      value: ratio(load.maxVio),
      note: `last step ${ratio(load.lastStep.maxVio)}, floor ${ratio(load.maxVioFloor)}${
        baseline === null ? '' : `, ${baseline.policy} ${ratio(baseline.load.maxVio)}`
      }; 0 is even`,
    },
    {
      label: 'bytes per token and layer',
      value: formatValue(bytes.perToken, 'bytes'),
      note: `both ways; ${ratio(bytes.dedupRatio)} rows sent per choice`,
    },
    { label: 'carried', ...carried(summary) },
  ];
}

/** "± 8 % for the 60 % of phase time that is scored". */
export function timeNote(timed: NonNullable<Summary['timed']>): string {
  if (timed.relErrorBar === null) return errorBar(null);
  if (timed.unscoredFraction === 0) return errorBar(timed.relErrorBar);
  const scored = formatValue(1 - timed.unscoredFraction, 'fraction');
  return `${errorBar(timed.relErrorBar)} on ${scored} of the time, not measured on the rest`;
}

function carried({ carried }: Summary): Pick<KeyFigure, 'value' | 'note'> {
  if (carried.transport === null) return { value: 'nothing', note: 'time and counts only' };
  const scaled =
    carried.expertInnerSize === carried.fullExpertInnerSize
      ? ''
      : `; experts scaled to ${carried.expertInnerSize} of ${carried.fullExpertInnerSize}`;
  const workers = `${carried.workers} ${carried.transport} worker${carried.workers === 1 ? '' : 's'}`;
  const error =
    carried.maxRelError === null
      ? ''
      : `largest relative error ${formatValue(carried.maxRelError, 'ratio')}; `;
  return {
    value: checkedWords(carried),
    note: `${error}${formatValue(carried.tokens, 'count')} tokens over ${workers}${scaled}`,
  };
}

/** How much of what was carried was compared with the reference. */
export function checkedWords({ checked, checkedLayerSteps, layerSteps }: Summary['carried']): string {
  if (checked) return 'checked';
  return checkedLayerSteps === 0 ? 'not checked' : `${checkedLayerSteps} of ${layerSteps} layers checked`;
}
