// Runs every `epsim compare` of the documents again and says which of the quoted figures it does not answer today.
// Pages quote some columns of a table; a cell must stand in a row and a column of the same names, in the same section.
// `node scripts/quoted.mjs` takes some minutes, which is why no test does it; with a page's name only that page.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const epsim = join(root, 'packages/cli/bin/epsim.mjs');

/** `cells` of tables, as "section | row | column | value", and the sentences between them. */
function figuresOf(text) {
  const cells = [];
  const sentences = [];
  let section = '';
  let columns = null;
  for (const line of text.split('\n')) {
    const words = line.trim().split(/ {2,}/);
    if (line.trim() === '') columns = null;
    else if (line.startsWith(' ')) columns = words;
    else if (columns !== null && words.length === columns.length + 1) {
      const [row, ...values] = words;
      values.forEach((value, i) => {
        cells.push(`${section} | ${row} | ${columns[i]} | ${value}`);
      });
    } else {
      columns = null;
      if (/^(means|difference from)/.test(line)) section = line;
      else sentences.push(line);
    }
  }
  return { cells, sentences };
}

/** Quoted commands of a page, each with what is quoted of its answer. */
function quotesOf(page) {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  const blocks = [...text.matchAll(/^```\n(.*?)^```$/gms)].map(([, block]) => block);
  return blocks
    .flatMap((block) => block.split(/^(?=epsim )/m))
    .filter((part) => part.startsWith('epsim compare'))
    .map((part) => {
      const [command, ...lines] = part.trimEnd().split('\n');
      return { command, quoted: lines.join('\n') };
    });
}

function answer(command) {
  const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, inQuotes, plain]) => inQuotes ?? plain);
  const out = join(mkdtempSync(join(tmpdir(), 'epsim-quoted-')), 'out');
  const args = [epsim, ...words.slice(1), '--quiet', '--out', out];
  return spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }).stdout;
}

let stale = 0;
for (const page of readdirSync(join(root, 'docs')).filter((name) =>
  name.endsWith(process.argv[2] ?? '.md'),
)) {
  for (const { command, quoted } of quotesOf(page)) {
    const [here, there] = [figuresOf(quoted), figuresOf(answer(command))];
    const missing = [
      ...here.cells.filter((cell) => !there.cells.includes(cell)),
      ...here.sentences.filter((sentence) => !there.sentences.includes(sentence)),
    ];
    stale += missing.length;
    console.log(`${page}: ${command}: ${here.cells.length} figures, ${missing.length} of them stale`);
    for (const one of missing) console.log(`  ${one}`);
  }
}
process.exitCode = stale === 0 ? 0 : 1;
