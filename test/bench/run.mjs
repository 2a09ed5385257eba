// Benchmarks: each compares something with a named baseline in the same run, turn by turn, and prints the ratio of
// medians of CPU time, which other work on the machine disturbs least; wall time stands beside it.
// `npm run bench` runs all; `npm run bench -- NAME` those whose name contains NAME.
// Work that runs in a child process returns { cpuMs }.
import { readdirSync } from 'node:fs';

const wanted = process.argv[2] ?? '';
const files = readdirSync(new URL('.', import.meta.url)).filter((file) => file.endsWith('.bench.mjs'));

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

async function spent(work) {
  const started = performance.now();
  const before = process.cpuUsage();
  const told = await work();
  const { user, system } = process.cpuUsage(before);
  return { wallMs: performance.now() - started, cpuMs: told?.cpuMs ?? (user + system) / 1000 };
}

const text = (ms) =>
  ms < 10 ? `${ms.toFixed(2)} ms` : ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
const medians = (times) => ({
  cpuMs: median(times.map((t) => t.cpuMs)),
  wallMs: median(times.map((t) => t.wallMs)),
});
const show = ({ cpuMs, wallMs }) => `${text(cpuMs)} CPU, ${text(wallMs)}`;

for (const file of files.sort()) {
  const { benchmarks } = await import(`./${file}`);
  for (const { name, baseline, subject, runs = 5, warm = true, note, close } of benchmarks) {
    if (!name.includes(wanted)) continue;
    const own = [];
    const others = [];
    if (warm) await subject.work();
    for (let i = 0; i < runs; i++) {
      if (baseline) others.push(await spent(baseline.work));
      own.push(await spent(subject.work));
    }
    const a = medians(own);
    const of = `${show(a)}, median of ${runs}`;
    if (baseline) {
      const b = medians(others);
      const ratio = (b.cpuMs / a.cpuMs).toFixed(1);
      console.log(`${name}: ${ratio} x ${baseline.name} (${subject.name} ${of}; ${show(b)})`);
    } else console.log(`${name}: ${subject.name} ${of}`);
    if (note) console.log(`  ${note()}`);
    await close?.();
  }
}
