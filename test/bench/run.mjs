// Benchmarks: each compares something with a named baseline in the same run, turn by turn, and prints the ratio of
// medians. `npm run bench` runs all; `npm run bench -- NAME` those whose name contains NAME.
import { readdirSync } from 'node:fs';

const wanted = process.argv[2] ?? '';
const files = readdirSync(new URL('.', import.meta.url)).filter((file) => file.endsWith('.bench.mjs'));

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function timeOf(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

for (const file of files.sort()) {
  const { benchmarks } = await import(`./${file}`);
  for (const { name, baseline, subject, runs = 5, note } of benchmarks) {
    if (!name.includes(wanted)) continue;
    const a = [];
    const b = [];
    await subject.work();
    for (let i = 0; i < runs; i++) {
      if (baseline) b.push(await timeOf(baseline.work));
      a.push(await timeOf(subject.work));
    }
    const of = `${median(a).toFixed(1)} ms, median of ${runs}`;
    console.log(
      baseline
        ? `${name}: ${(median(b) / median(a)).toFixed(1)} x ${baseline.name} (${subject.name} ${of}; ${median(b).toFixed(1)} ms)`
        : `${name}: ${subject.name} ${of}`,
    );
    if (note) console.log(`  ${note()}`);
  }
}
