// Runs the commands whose results docs/data keeps, so that documents can repeat them and a test can compare them.
// `node scripts/measure.mjs` runs all of them (the training run takes minutes), with names only those.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const epsim = fileURLToPath(new URL('../packages/cli/bin/epsim.mjs', import.meta.url));
const data = new URL('../docs/data/', import.meta.url);

/** A comparison without its curves. */
const figuresOf = ({ rows, ...rest }) => ({ ...rest, rows: rows.map(({ series, ...row }) => row) });

/** The best layout of a plan and what fills its fullest rank. */
function bestOf({ layouts: [best], best: { memory } }) {
  const { layout, sequencesPerGroup, ttftNs, tpotNs, tokensPerSecPerRank, relErrorBar } = best;
  return { layout, sequencesPerGroup, ttftNs, tpotNs, tokensPerSecPerRank, relErrorBar, memory };
}

const compare = 'compare scenarios/k2-vs-k3.yaml';
const plan = 'plan scenarios/k2-vs-k3.yaml';

/** Name of a stored result to its command and what is kept of the answer. */
export const measured = {
  'k2-vs-k3': { command: `${compare} --seeds 3`, keep: figuresOf },
  'k2-vs-k3-per-rank': { command: `${compare} --set dispatch.kind=per-rank --seeds 1`, keep: figuresOf },
  'k2-plan': { command: `${plan} --set model=kimi-k2`, keep: bestOf },
  'k3-plan': { command: `${plan} --set model=kimi-k3`, keep: bestOf },
  journey: { command: 'journey', keep: ({ muon }) => ({ muonSteps: muon.steps }) },
  training: { command: 'journey --train', keep: ({ training }) => training },
};

/** What the stored file of this name should hold. */
export function measure(name) {
  const { command, keep } = measured[name];
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [epsim, ...command.split(' '), '--json', '--quiet'],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      encoding: 'utf8',
      maxBuffer: 1e8,
    },
  );
  if (status !== 0) throw new Error(`epsim ${command}: ${stderr}`);
  return { command: `epsim ${command}`, result: keep(JSON.parse(stdout)) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  mkdirSync(data, { recursive: true });
  for (const name of names.length > 0 ? names : Object.keys(measured)) {
    writeFileSync(new URL(`${name}.json`, data), `${JSON.stringify(measure(name), null, 2)}\n`);
  }
}
