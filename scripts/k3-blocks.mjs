// What docs/mechanisms.md and docs/k2-vs-k3.md repeat: tables of full-size models from code, figures of runs from
// docs/data, where scripts/measure.mjs keeps them with their commands.
import { readFileSync } from 'node:fs';
import {
  comparisonTables,
  contextMarkdown,
  formatValue,
  ledgerMarkdown,
  markdownTable,
  mechanismsMarkdown,
} from '@epsim/report';
import { fullScale } from '../packages/cli/dist/journey/scale.js';

const stored = (name) =>
  JSON.parse(readFileSync(new URL(`../docs/data/${name}.json`, import.meta.url), 'utf8'));
const bytes = (value) => (value === 0 ? 'none' : formatValue(value, 'bytes'));

/** Page to its blocks by name. */
export function k3Blocks() {
  const scale = fullScale();
  const names = ['k2-vs-k3', 'k2-vs-k3-per-rank', 'k2-plan', 'k3-plan', 'journey', 'training'];
  const [each, shared, k2Plan, k3Plan, journey, training] = names.map(stored);
  const [k2, k3] = each.result.rows.map(({ means }) => means);
  const [, memory] = each.result.ledgers;
  const whole = journey.result.muonSteps.at(-1);
  const without = training.result.runs.at(-1).maxVio.at(-1);
  return {
    'mechanisms.md': {
      mechanisms: mechanismsMarkdown(scale),
      context: contextMarkdown(scale),
      training: trainingTable(training.result),
      'busiest-expert': (1 + without).toFixed(1),
      'per-head-error': whole.perHead.toFixed(2),
      'whole-error': whole.whole.toFixed(2),
    },
    'k2-vs-k3.md': {
      ledger: ledgerMarkdown(scale.ledger),
      memory: ledgerMarkdown(memory),
      runs: runsTable(each.result, shared.result),
      'step-ratio': (k3['timed.stepNs'] / k2['timed.stepNs']).toFixed(1),
      plans: plansTable([k2Plan.result, k3Plan.result]),
      commands: ['```', ...[each, shared, k2Plan, k3Plan].map(({ command }) => command), '```'].join('\n'),
    },
  };
}

/** Loss and MaxVio of each form, first and last step. */
function trainingTable({ runs }) {
  const change = (values) => `${values[0].toFixed(2)} to ${values.at(-1).toFixed(2)}`;
  return markdownTable(
    ['form', 'loss, first to last step', 'MaxVio, first to last step'],
    runs.map(({ name, loss, maxVio }) => [name, change(loss), change(maxVio)]),
  );
}

/** What is of interest of a comparison with a row per choice, and of the same with a row per rank. */
function runsTable(each, shared) {
  const lines = (comparison, wanted) => {
    const [means, differences] = comparisonTables(comparison);
    return Object.entries(wanted).map(([column, name]) => {
      const at = means.columns.indexOf(column);
      if (at < 0) throw new Error(`a comparison has no ${column}`);
      const cells = [...means.rows, ...differences.rows].map((row) => row.cells[at].replace(/ \*$/, ' \\*'));
      return [name, ...cells];
    });
  };
  const rows = [
    ...lines(each, { 'bytes/token/layer': 'bytes a token and layer, a row per choice' }),
    ...lines(shared, {
      'bytes/token/layer': 'bytes a token and layer, a row per rank (one seed)',
      'rows/choice': 'rows for a choice, a row per rank (one seed)',
    }),
    ...lines(each, {
      'MaxVio, last step': 'MaxVio over experts, last step',
      'MaxVio floor': 'its floor at this many tokens',
      'ranks max/mean': 'busiest rank over the mean',
      'activated/rank': 'experts at work on a rank',
      'step time': 'time of a step, 2 layers',
      'its error bar ±': 'its error bar ±',
      'routed experts': 'of it, routed experts',
      dispatch: 'dispatch',
      combine: 'combine',
      'shared experts': 'shared experts',
      'router, projection in': 'router, projection in',
      'norm, projection out': 'norm, projection out',
    }),
  ];
  return markdownTable(['', 'Kimi K2', 'Kimi K3', 'difference (\\*: its 95 % interval leaves out 0)'], rows);
}

function plansTable(plans) {
  const row = (name, of) => [name, ...plans.map(of)];
  const others = ({ weights, redundantExperts }) =>
    Object.entries(weights).reduce((sum, [name, value]) => sum + (name === 'routed-expert' ? 0 : value), 0) +
    redundantExperts;
  return markdownTable(
    ['', 'Kimi K2', 'Kimi K3'],
    [
      row('best layout for decode', ({ layout }) => layout),
      row('sequences of an attention group', ({ sequencesPerGroup }) => String(sequencesPerGroup)),
      row(
        'tokens a second and rank',
        ({ tokensPerSecPerRank: rate, relErrorBar }) =>
          `${formatValue(rate, 'count')} ± ${formatValue(relErrorBar, 'fraction')}`,
      ),
      row('time between tokens', ({ tpotNs }) => formatValue(tpotNs, 'ns')),
      row('routed experts of the fullest rank', ({ memory }) => bytes(memory.weights['routed-expert'])),
      row('its other weights', ({ memory }) => bytes(others(memory))),
      row('its growing cache', ({ memory }) => bytes(memory.cache)),
      row('its recurrent states', ({ memory }) => bytes(memory.recurrent)),
    ],
  );
}
