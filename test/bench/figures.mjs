// Draws docs/img/bench-network-time.png and -memory.png from what `npm run bench -- network` printed, and
// bench-placement.png from what `npm run bench -- "placement eplb"` did:
//   npm run bench -- network > network.txt; node test/bench/figures.mjs network.txt
//   npm run bench -- 'placement eplb' > placement.txt; node test/bench/figures.mjs placement.txt
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawCharts } from '@epsim/report';

const text = readFileSync(process.argv[2], 'utf8');
const line = /^network (\S+) (\S+) (\d+) ranks: .*? flows ([\d.]+) (ms|s) CPU.*\n {2}peak memory (\d+) MB/gm;
const points = [...text.matchAll(line)].map(([, model, kind, ranks, time, unit, megabytes]) => ({
  name: `${model}, ${kind} bytes`,
  ranks: Number(ranks),
  ns: Number(time) * (unit === 's' ? 1e9 : 1e6),
  bytes: Number(megabytes) * 1e6,
}));
const names = [...new Set(points.map(({ name }) => name))];
const x = { label: 'ranks, all to all', unit: 'count', log: true };

const time = {
  summary: 'CPU time of one exchange',
  file: 'bench-network-time.png',
  spec: () => ({
    kind: 'xy',
    title: 'What timing one all-to-all costs against ranks',
    subtitle: 'CPU time, single-threaded, nodes of eight below a 2:1 spine',
    x,
    y: { label: 'CPU time', unit: 'ns', log: true },
    series: names.map((name, colour) => {
      const own = points.filter((point) => point.name === name);
      return { name, mark: 'line', colour, xs: own.map((p) => p.ranks), values: own.map((p) => p.ns) };
    }),
  }),
};

const memory = {
  summary: 'peak memory',
  file: 'bench-network-memory.png',
  spec() {
    const ranks = [...new Set(points.map((point) => point.ranks))];
    const most = ranks.map((count) =>
      Math.max(...points.filter((p) => p.ranks === count).map((p) => p.bytes)),
    );
    return {
      kind: 'xy',
      title: 'Peak memory of the process against ranks',
      subtitle: 'the largest of both models and both kinds of exchange, Node itself included',
      x,
      y: { label: 'resident memory', unit: 'bytes', log: true },
      series: [{ name: 'peak', mark: 'line', colour: 0, xs: ranks, values: most }],
    };
  },
};

const placed = [
  ...text.matchAll(/^placement eplb (\d+) experts (\d+) slots (\d+) ranks: one layer ([\d.]+) ms/gm),
].map(([, experts, slots, ranks, ms]) => ({
  experts,
  label: `${experts} / ${slots} / ${ranks}`,
  ns: Number(ms) * 1e6,
}));

const placement = {
  summary: 'CPU time of EPLB for one layer',
  file: 'bench-placement.png',
  spec: () => ({
    kind: 'xy',
    title: 'What placing one layer by EPLB costs',
    subtitle: 'CPU time, single-threaded, by experts / slots / ranks',
    x: { label: 'experts / slots / ranks', unit: 'count', labels: placed.map(({ label }) => label) },
    y: { label: 'CPU time', unit: 'ns', min: 0 },
    series: [{ name: 'one layer', mark: 'bar', colour: 0, values: placed.map(({ ns }) => ns) }],
  }),
};

const found = { ...(points.length > 0 ? { time, memory } : {}), ...(placed.length > 0 ? { placement } : {}) };
await drawCharts(found, null, fileURLToPath(new URL('../../docs/img', import.meta.url)));
