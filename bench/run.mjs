// Runs the benchmarks: npm run bench [-- [NAME…] [--quick] [--json | --markdown]]. Every figure is measured several
// times, in the same run as what it is compared with; a table with medians and extremes is printed as soon as a
// benchmark has ended. With --markdown its results are then kept in results.json, and at the end the documents' tables
// and plots are written from that. A benchmark that fails does not end the others. Exit code 1 if one failed or a bound
// is broken.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { parseArgs } from 'node:util';
import { inOwnNetwork } from './processes.mjs';
import { keep, slopes, verdict, writeDocuments, writePlots } from './results.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, json: { type: 'boolean' }, markdown: { type: 'boolean' } },
});

const here = new URL('.', import.meta.url);
const all = readdirSync(here)
  .filter(file => file.endsWith('.bench.mjs'))
  .map(file => file.replace('.bench.mjs', ''));
const unknown = positionals.filter(name => !all.includes(name));
if (unknown.length > 0) {
  console.error(`bench: no benchmark is called ${unknown.join(' or ')}; there are ${all.join(', ')}`);
  process.exit(2);
}

const median = list => {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
const round = (number, digits = 3) => Number(number.toPrecision(digits));

const model = cpus()[0]?.model ?? /model name\s*: (.*)/.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown';
/** How long a process of Node.js that does nothing takes, ms: machines of the same name differ in speed. */
const bareMs = Math.round(
  median(
    Array.from({ length: 7 }, () => {
      const began = performance.now();
      spawnSync(process.execPath, ['-e', '0']);
      return performance.now() - began;
    }),
  ),
);
const machine = `${model}, ${availableParallelism()} CPUs, Linux ${release()}, Node ${process.versions.node} (starts in ${bareMs} ms)`;
const date = new Date().toISOString().slice(0, 10);
/** The commit whose programs are measured; undefined outside of a repository. */
const commit =
  spawnSync('git', ['rev-parse', '--short=8', 'HEAD'], { cwd: here, encoding: 'utf8' }).stdout?.trim() || undefined;

const head = ['bench', 'figure', 'unit', 'median', 'spread', 'runs', 'bound'];

/** The result of one benchmark, as a table. */
function table(name, rows) {
  const cells = rows.map(row => [
    name,
    row.figure,
    row.unit,
    String(row.median),
    `${row.least} to ${row.most}`,
    String(row.runs),
    verdict(row),
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map(row => row[i].length)));
  return [head, ...cells].map(row =>
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd(),
  );
}

const results = {};
const failed = [];
if (!values.json) console.log([machine, date, commit].filter(Boolean).join(', '));
for (const name of all.filter(name => positionals.length === 0 || positionals.includes(name))) {
  console.error(`bench: ${name} …`);
  const began = performance.now();
  let measured, made;
  try {
    const file = new URL(`${name}.bench.mjs`, here).href;
    const { bench, network, tools } = await import(file);
    made = tools?.();
    const quick = values.quick ?? false;
    // A network of its own needs root.
    measured = await (network === undefined
      ? bench({ quick, say: text => console.error(`bench: ${name}: ${text}`) })
      : inOwnNetwork(network, file, name, quick));
  } catch (error) {
    console.error(`bench: ${name}: ${error.stack}`);
    failed.push(name);
    continue;
  }
  const rows = measured.map(({ samples, digits, ...row }) => ({
    ...row,
    median: round(median(samples), digits),
    least: round(Math.min(...samples), digits),
    most: round(Math.max(...samples), digits),
    runs: samples.length,
  }));
  const command = `npm run bench -- ${name}${values.quick ? ' --quick' : ''}`;
  results[name] = { date, commit, machine, tools: made, command, rows: [...rows, ...slopes(rows)] };
  if (values.markdown) keep({ [name]: results[name] });
  console.error(`bench: ${name}: ${Math.round((performance.now() - began) / 1000)} s`);
  // Shown at once: all of them together take an hour.
  if (!values.json) console.log(`\n${table(name, results[name].rows).join('\n')}`);
}

if (values.json) console.log(JSON.stringify({ schema: 2, results }));
if (values.markdown) {
  writePlots();
  writeDocuments();
}
if (failed.length > 0) console.error(`bench: failed: ${failed.join(', ')}`);
const isBroken = ({ rows }) => rows.some(row => verdict(row).endsWith('BROKEN'));
process.exitCode = failed.length > 0 || Object.values(results).some(isBroken) ? 1 : 0;
