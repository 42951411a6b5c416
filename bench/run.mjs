// Runs the benchmarks: npm run bench [-- [NAME…] [--quick] [--json] [--markdown]]. Every figure is a ratio of two things
// measured side by side in one run, several times; the table shows the median and the extremes. Exit code 1 when a
// bound is broken.

import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, markdown: { type: 'boolean' } },
});

const here = new URL('.', import.meta.url);
const names = readdirSync(here)
  .filter(file => file.endsWith('.bench.mjs'))
  .map(file => file.replace('.bench.mjs', ''))
  .filter(name => positionals.length === 0 || positionals.includes(name));
if (names.length === 0) {
  console.error(`bench: no benchmark is called ${positionals.join(' or ')}`);
  process.exit(2);
}

const median = list => {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
const round = number => Number(number.toPrecision(3));

const rows = [];
for (const name of names) {
  console.error(`bench: ${name} …`);
  const { bench } = await import(new URL(`${name}.bench.mjs`, here).href);
  for (const { figure, unit, samples, bound } of await bench({
    quick: values.quick ?? false,
    say: text => console.error(`bench: ${name}: ${text}`),
  }))
    rows.push({
      bench: name,
      figure,
      unit,
      median: round(median(samples)),
      least: round(Math.min(...samples)),
      most: round(Math.max(...samples)),
      runs: samples.length,
      bound: bound ?? null,
      holds: bound === undefined || median(samples) <= bound,
    });
}

const model = cpus()[0]?.model ?? /model name\s*: (.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
const machine = `${model}, ${availableParallelism()} CPUs, Linux ${release()}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`;
const cells = rows.map(({ bench, figure, unit, median, least, most, runs, bound, holds }) => [
  bench,
  figure,
  unit,
  String(median),
  `${least} to ${most}`,
  String(runs),
  bound === null ? '' : `at most ${bound}: ${holds ? 'holds' : 'BROKEN'}`,
]);
const head = ['bench', 'figure', 'unit', 'median', 'spread', 'runs', 'bound'];
if (values.json) console.log(JSON.stringify({ schema: 1, machine, rows }));
else if (values.markdown) {
  const line = row => `| ${row.join(' | ')} |`;
  console.log([`${machine}:`, '', line(head), line(head.map(() => '---')), ...cells.map(line)].join('\n'));
} else {
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map(row => row[i].length)));
  const line = row =>
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd();
  console.log([machine, line(head), ...cells.map(line)].join('\n'));
}
process.exitCode = rows.every(({ holds }) => holds) ? 0 : 1;
