// Builds and runs the tests; the last line is the true count. Arguments choose test files by a part of their name;
// --long runs those of test/long instead, one after another, and shows their figures. Plain JavaScript without
// dependencies, because it runs before there are any.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const long = process.argv.includes('--long');
const folder = long ? join('test', 'long') : 'test';
const tests = join(root, 'dist', folder);
const report = join(root, 'build', 'test.tap');

function run(command, args) {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

if (run(process.execPath, [join(root, 'scripts', 'build.mjs')]) !== 0) process.exit(1);
if (run(join(root, 'node_modules', '.bin', 'biome'), ['check', '.']) !== 0) process.exit(1);

// Only tests with a source: a deleted test may still be in dist/.
const sources = new Set(readdirSync(join(root, folder)).map(name => name.replace(/\.ts$/, '.js')));
const wanted = process.argv.slice(2).filter(word => word !== '--long');
const files = readdirSync(tests)
  .filter(name => name.endsWith('.test.js') && sources.has(name))
  .filter(name => wanted.length === 0 || wanted.some(part => name.includes(part)))
  .map(name => join('dist', folder, name));
if (files.length === 0) {
  console.error(`test: no test is called ${wanted.join(' or ')}`);
  process.exit(2);
}

/** No test of ours takes so long; one that hangs is ended. A test can set a shorter limit (t.setTimeout). */
const TIMEOUT_S = long ? 100_000 : 600;

/**
 * Runs a file by itself, as `node FILE`, and returns its TAP output. Not by `tap run`: that makes every process load a
 * TypeScript compiler, also those that tests start, and what takes 0.1 s takes 2 (Node 20, two busy cores).
 */
async function runTest(file) {
  const child = spawn(process.execPath, ['--enable-source-maps', file], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT_S) },
  });
  const hung = setTimeout(() => child.kill('SIGKILL'), (TIMEOUT_S + 60) * 1000);
  const began = performance.now();
  let told = '';
  child.stdout.setEncoding('utf8').on('data', data => {
    told += data;
  });
  const [code, signal] = await once(child, 'close');
  clearTimeout(hung);
  // tap's own totals at the end of the output: # { total: 95, pass: 93, fail: 1, skip: 1 }
  const totals = told.match(/^# \{ total: .*\}$/gm)?.at(-1);
  const count = what => Number(new RegExp(`${what}: (\\d+)`).exec(totals ?? '')?.[1] ?? 0);
  const [passed, failed, skipped] = [count('pass'), count('fail'), count('skip') + count('todo')];
  const broken = totals === undefined || (code !== 0 && failed === 0);
  const seconds = (performance.now() - began) / 1000;
  console.log(`${code === 0 && !broken ? 'ok' : 'FAILED'} ${file}: ${passed} passed, ${seconds.toFixed(1)} s`);
  // The failures with tap's diagnostics. The enclosing tests are indented less, and say only that something in them
  // failed.
  for (const [block] of told.matchAll(/^ *not ok \d+ - (?!.*# time=).*\n(?: *---\n[\s\S]*?^ *\.\.\.\n)?/gm))
    console.log(block);
  if (broken) console.log(`${file} ended before its time: ${signal ?? `exit code ${code}`}\n${told.slice(-2000)}`);
  return { file, told, passed, failed: failed + (broken ? 1 : 0), skipped };
}

/** The slowest tests, which begin first so that none is alone at the end; by their numbers. */
const LONGEST = '61 93 35 111 106 70 65 53 13'.split(' ');
/** Tests that mostly wait, the longest first. */
const WAITING = '90 56 77 126 52 76 78 98 28 119 29 15 86 45 104 54 94 99 125 113 112 24 39 22 122 58'.split(' ');

/**
 * Tests that hold several programs to seconds, as users do. On a slow machine they fail beside two others, so they run
 * last, two at a time.
 */
const LAST = '72 124 123 27'.split(' ');

const placeIn = (numbers, file) => {
  const place = numbers.indexOf(file.split(/[/.]/).at(-4));
  return place < 0 ? numbers.length : place;
};
const inOrderOf = (numbers, files) => files.toSorted((a, b) => placeIn(numbers, a) - placeIn(numbers, b));

/**
 * All tests: two at a time, and one of the waiting ones beside them; at the end whatever is left. With three busy
 * tests, those that depend on the kernel's own times (links, carriers) would fail.
 */
async function runTests() {
  const results = [];
  const among = numbers => file => placeIn(numbers, file) < numbers.length;
  const waiting = inOrderOf(WAITING, files.filter(among(WAITING)));
  const last = inOrderOf(LAST, files.filter(among(LAST)));
  const others = inOrderOf(
    LONGEST,
    files.filter(file => !waiting.includes(file) && !last.includes(file)),
  );
  const work = async (...queues) => {
    for (const queue of queues)
      for (let file = queue.shift(); file !== undefined; file = queue.shift()) results.push(await runTest(file));
  };
  if (long) {
    await work(files);
    return results;
  }
  await Promise.all([work(others, waiting), work(others, waiting), work(waiting)]);
  await Promise.all([work(last), work(last)]);
  return results;
}

const results = await runTests();
mkdirSync(dirname(report), { recursive: true });
writeFileSync(report, results.map(({ file, told }) => `# ${file}\n${told}`).join(''));

const told = results.map(result => result.told).join('');
if (long) for (const [, figures] of told.matchAll(/^ *# (?!Subtest|No coverage|\{|time=)(.*)$/gm)) console.log(figures);
// Again at the end, by name, because often only the end of a long log is kept.
for (const [, name] of told.matchAll(/^ *not ok \d+ - (?!should |dist\/)(.*?)(?: # time=\S+)?$/gm))
  console.log(`failed: ${name}`);
const sum = what => results.reduce((all, result) => all + result[what], 0);
const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map(sum);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
