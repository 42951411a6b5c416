// Builds and runs tests of test/ROOM/; the last line is the true count. `npm test` runs those that anybody can run in
// minutes, types included; `--rest` runs what is left, style included, `--all` both, and `--long` the long ones
// (NAME.long.test.ts), one after another, and shows their figures. Words choose rooms, and files by how their names
// begin. A test says itself where it belongs, how long it takes and whether it waits (see `traitsOf`). Plain JavaScript
// without dependencies, because it runs before there are any.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { footprint, freeMemory, sharedMemory } from './footprint.mjs';
import { clear, show } from './progress.mjs';
import { chooses } from './testwords.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const report = join(root, 'build', 'test.tap');
const PARTS = ['--rest', '--all', '--long'];
const [part = '--short'] = process.argv.filter(word => PARTS.includes(word));
const long = part === '--long';
const words = process.argv.slice(2).filter(word => !PARTS.includes(word));
const began = performance.now();

/**
 * What the head of a test says of it, each a line of its own: `// @seconds 40`, how long it takes on two quiet cores (5
 * if it says nothing), because the longest begin first; `// @waits`: mostly it waits, so it runs beside those that
 * compute; `// @shared 34`, how many MiB of /dev/shm it takes at once (4 if it says nothing), because all together may
 * take no more than there is in a container; `// @rest`: it does not belong to `npm test`; `// @whole`: it belongs to
 * both, and in the rest it takes all cases and not only some (`WHOLE` of test/kit/whole.ts); with `// @days 3`, either
 * belongs to the rest of one day in three.
 */
function traitsOf(source) {
  const [head] = readFileSync(source, 'utf8').split('\nimport ');
  const of = name => new RegExp(`^// @${name}(?: (.*))?$`, 'm').exec(head ?? '');
  const seconds = Number(of('seconds')?.[1] ?? 5);
  const shared = Number(of('shared')?.[1] ?? 4);
  const days = Number(of('days')?.[1] ?? 1);
  const [waits, rest, whole] = ['waits', 'rest', 'whole'].map(name => of(name) !== null);
  return { seconds, shared, days, waits, rest, whole };
}

// What chooses cases: the same ones in `npm test`, whose result depends on nothing else; others each day in the rest.
process.env.SEED ??= String(part === '--short' ? 1 : Math.floor(Date.now() / 86_400_000));
console.log(`test: SEED=${process.env.SEED}`);

/** The tests, by what their sources are: what is left in dist/ of a test that is gone never runs. */
const tests = readdirSync(join(root, 'test'), { recursive: true })
  .filter(path => path.endsWith('.test.ts') && path.endsWith('.long.test.ts') === long)
  .map(path => ({
    name: path.replace(/(\.long)?\.test\.ts$/, ''),
    file: join('dist', 'test', path.replace(/\.ts$/, '.js')),
    ...traitsOf(join(root, 'test', path)),
  }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));
/** Those of which each day of the rest takes a part, about as long as those of other days. */
const byDays = tests.filter(({ days }) => days > 1).sort((a, b) => b.seconds - a.seconds);
const isToday = test => test.days === 1 || (byDays.indexOf(test) + Number(process.env.SEED)) % test.days === 0;
/** What is held besides, as if they were tests; the first is the reference for all times. */
const tool = (...path) => join(root, 'node_modules', ...path);
const TSC = tool('typescript', 'bin', 'tsc');
const checks = [
  // By one thread, because it is what others are compared with.
  { name: 'types', command: [process.execPath, TSC, '--noEmit', '--singleThreaded'] },
  { name: 'types of the page', command: [process.execPath, TSC, '--noEmit', '--singleThreaded', '-p', 'src/web/page'] },
  { name: 'style', command: [tool('.bin', 'biome'), 'check', '.'] },
].map(check => ({
  seconds: 1000,
  shared: 0,
  days: 1,
  waits: false,
  rest: check.name === 'style',
  whole: false,
  ...check,
}));

/** Without words, what belongs to a part; with words, `npm test` runs whatever they choose, wherever it belongs. */
const BELONGS = {
  '--short': test => words.length > 0 || !test.rest,
  '--rest': test => (test.whole || test.rest) && (words.length > 0 || isToday(test)),
  '--all': () => true,
  '--long': () => true,
};
const isWanted = ({ name }) => words.length === 0 || words.some(word => chooses(word, name));
const wanted = [...(long ? [] : checks), ...tests]
  .filter(test => isWanted(test) && BELONGS[part](test))
  .sort((a, b) => b.seconds - a.seconds);
if (wanted.length === 0) {
  console.error(`test: no room of test/ is called, and no name of a test begins with, ${words.join(' or ')}`);
  process.exit(2);
}

/** What `npm test` may take at once, MiB; the rest may take a quarter of what /dev/shm has, and half of what is free. */
const free = sharedMemory()?.free ?? 0;
const [SHARED_MIB, MEMORY_MIB] =
  part === '--short' ? [40, 1536] : [Math.max(40, free / 4), Math.max(1536, freeMemory() / 2)];
const lacking = [
  [free, SHARED_MIB, 'of /dev/shm'],
  [freeMemory(), MEMORY_MIB, 'of memory'],
].filter(([free, needed]) => part === '--short' && words.length === 0 && free < needed);
for (const [free, needed, what] of lacking)
  console.log(`test: tests may fail: ${Math.floor(free)} MiB ${what} are free, and they take up to ${needed}`);

const built = spawn(process.execPath, [join(root, 'scripts', 'build.mjs'), '--modules'], { stdio: 'inherit' });
if ((await once(built, 'close'))[0] !== 0) process.exit(1);

// What tests are about, and machines have in many ways: the modes of files, and in which letters programs speak.
process.umask(0o022);
for (const name of Object.keys(process.env)) if (/^(LC_|LANGUAGE$)/.test(name)) delete process.env[name];
process.env.LANG = 'C.UTF-8';

/** No test of ours takes so long; one that hangs is ended. A test can set a shorter limit (t.setTimeout). */
const TIMEOUT_S = long ? 100_000 : 1800;

// The short tests speak with this machine alone. With these certificates each start of Node.js takes twice as long.
if (!long) delete process.env.NODE_EXTRA_CA_CERTS;

/** Measures a command, with all processes that it waits for, and kills it if it hangs. */
const TIMED = 'TIMEFORMAT="%U %S"; time timeout --foreground -s KILL "$0" "$@" 2>&3 3>&-';

/** Runs a command to its end: what it printed, why it ended, and its CPU time, s. */
async function timed(args) {
  const child = spawn('bash', ['-c', TIMED, `${TIMEOUT_S + 60}`, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      TAP_TIMEOUT: String(TIMEOUT_S),
      ...(part === '--short' ? {} : { BEOBOARD_TEST_WHOLE: '1' }),
    },
  });
  let [output, times] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', text => {
    times += text;
  });
  const [code, signal] = await once(child, 'close');
  const [user, system] = times.split(/\s/).map(Number);
  return { output, code, cpu: user + system, ended: signal ?? `exit code ${code}` };
}

/** Runs a check: types or style. */
async function runCheck({ command }) {
  const { output, code, cpu } = await timed(command);
  const failed = code === 0 ? 0 : 1;
  return { output: '', passed: 1 - failed, failed, skipped: 0, cpu, why: failed ? output : '' };
}

/**
 * Runs a file by itself, as `node FILE`, and reads its TAP output. Not by `tap run`: that makes every process load a
 * TypeScript compiler, also those that tests start, and what takes 0.1 s takes 2 (Node 20, two busy cores).
 */
async function runTest({ name, file }) {
  const { output, code, cpu, ended } = await timed([process.execPath, '--enable-source-maps', file]);
  // tap's own totals at the end of the output: # { total: 95, pass: 93, fail: 1, skip: 1 }
  const totals = output.match(/^# \{ total: .*\}$/gm)?.at(-1);
  const count = what => Number(new RegExp(`${what}: (\\d+)`).exec(totals ?? '')?.[1] ?? 0);
  const [passed, failed, skipped] = [count('pass'), count('fail'), count('skip') + count('todo')];
  const broken = totals === undefined || (code !== 0 && failed === 0);
  // The failures with tap's diagnostics. The enclosing tests are indented less, and say only that something in them
  // failed.
  const blocks = output.match(/^ *not ok \d+ - (?!.*# time=).*\n(?: *---\n[\s\S]*?^ *\.\.\.\n)?/gm) ?? [];
  if (broken) blocks.push(`${name} ended before its time: ${ended}\n${output.slice(-2000)}`);
  return { output, passed, failed: failed + (broken ? 1 : 0), skipped, cpu, why: blocks.join('\n') };
}

/** Ticks of /proc/PID/stat in a second. */
const HZ = 100;

/** The CPU time of this process and of the children that it has waited for, and of theirs, s. */
function cpuSoFar() {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The second field is a name in parentheses; these are the 14th to the 17th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / HZ;
}

const measured = footprint();
const results = new Map();
const running = new Set();

/** Runs one of either, and shows its line. */
async function runOne(test) {
  running.add(test);
  const since = performance.now();
  const result = await (test.command === undefined ? runTest(test) : runCheck(test));
  running.delete(test);
  result.wall = (performance.now() - since) / 1000;
  results.set(test, result);
  const { passed, failed, cpu, wall, why } = result;
  clear();
  const verdict = failed === 0 ? 'ok' : 'FAILED';
  console.log(`${verdict} ${test.name}: ${passed} passed, ${wall.toFixed(1)} s, CPU ${cpu.toFixed(1)} s`);
  if (why !== '') console.log(why);
}

/** What runs, on a terminal, under the lines of what has run. */
const showing = setInterval(() => {
  const seconds = Math.floor((performance.now() - began) / 1000);
  const names = [...running].map(({ name }) => name).join(', ');
  show(`${results.size} of ${wanted.length} done, ${seconds} s: ${names}`);
}, 1000);

/**
 * Takes the next test of these queues that has room in /dev/shm, when it has it; undefined: none is left. In `npm test`
 * none begins while half of the memory is taken.
 */
async function next(...queues) {
  while (queues.some(queue => queue.length > 0)) {
    const taken = [...running].reduce((sum, { shared }) => sum + shared, 0);
    const isFull = part === '--short' && running.size > 0 && measured.last.pss > MEMORY_MIB / 2;
    const hasRoom = ({ shared }) => !isFull && (taken === 0 || taken + shared <= SHARED_MIB);
    const queue = queues.find(queue => queue.some(hasRoom));
    if (queue !== undefined) return queue.splice(queue.findIndex(hasRoom), 1)[0];
    await setTimeout(200);
  }
  return undefined;
}

/** Runs what is in these queues, first the first one. */
async function work(...queues) {
  for (let test = await next(...queues); test !== undefined; test = await next(...queues)) await runOne(test);
}

/** How long the processors of this machine have been idle, and how long they have been there, ticks. */
function idleSoFar() {
  const [user, nice, system, idle, ...more] = /^cpu +(.*)$/m
    .exec(readFileSync('/proc/stat', 'utf8'))[1]
    .split(' ')
    .map(Number);
  return [idle, user + nice + system + idle + more.reduce((a, b) => a + b, 0)];
}

/**
 * Many wait some of their time: one more begins whenever a fifth of the processors had nothing to do for a second (in the
 * rest, where most are long, a tenth), and half of the memory is free that they may take.
 */
async function moreWhileIdle(...queues) {
  const began = [];
  let [idle, all] = idleSoFar();
  while (queues.some(queue => queue.length > 0)) {
    await setTimeout(1000);
    const [idleNow, allNow] = idleSoFar();
    const isIdle =
      (idleNow - idle) / (allNow - all) > (part === '--short' ? 1 / 5 : 1 / 10) && measured.last.pss < MEMORY_MIB / 2;
    const test = isIdle ? await next(...queues) : undefined;
    if (test !== undefined) began.push(runOne(test));
    [idle, all] = [idleNow, allNow];
  }
  await Promise.all(began);
}

if (long) await work(wanted);
else {
  // Alone, because its times are those that all others are told in.
  if (wanted[0] === checks[0]) await work(wanted.splice(0, 1));
  const waiting = wanted.filter(({ waits }) => waits);
  const busy = wanted.filter(({ waits }) => !waits);
  // For two cores: two that compute, and two that wait; then whatever is left, four at a time: more at once take more
  // CPU each, and end later.
  const both = [work(busy, waiting), work(busy, waiting), work(waiting, busy), work(waiting, busy)];
  const more = moreWhileIdle(waiting, busy);
  await Promise.all(both);
  await more;
}
clearInterval(showing);
clear();
const { pss, shared } = measured.end();

const all = [...results.values()];
mkdirSync(dirname(report), { recursive: true });
writeFileSync(report, [...results].map(([{ name }, { output }]) => `# ${name}\n${output}`).join(''));

const output = all.map(result => result.output).join('');
if (long)
  for (const [, figures] of output.matchAll(/^ *# (?!Subtest|No coverage|\{|time=)(.*)$/gm)) console.log(figures);
// Again at the end, by name, because often only the end of a long log is kept.
for (const [{ name, command }, { failed }] of results)
  if (command !== undefined && failed > 0) console.log(`failed: ${name}`);
for (const [, name] of output.matchAll(/^ *not ok \d+ - (?!should |dist\/)(.*?)(?: # time=\S+)?$/gm))
  console.log(`failed: ${name}`);

// What was left out, and why, by file; each reason once.
for (const [{ name }, { output }] of results) {
  const reasons = new Map();
  for (const [, why] of output.matchAll(/^ *ok \d+ - .*? # (?:SKIP|TODO)\b ?(.*?)(?: # time=\S+)?$/gm))
    reasons.set(why, (reasons.get(why) ?? 0) + 1);
  const told = [...reasons].map(([why, count]) => `${count} × ${why}`);
  if (told.length > 0) console.log(`skipped: ${name}: ${told.join('; ')}`);
}

const later = part === '--rest' && words.length === 0 ? byDays.filter(test => !isToday(test)) : [];
if (later.length > 0) console.log(`of other days: ${later.map(({ name }) => name).join(', ')}`);
console.log(`at most ${pss.toFixed(0)} MiB of memory (PSS) and ${shared.toFixed(0)} MiB of /dev/shm at once`);
// Some machines are twice as slow as others: so the times are told as multiples of one that is taken in the same run.
const [cpu, wall] = [cpuSoFar(), (performance.now() - began) / 1000];
const reference = results.get(checks[0]);
const times = (what, value) => `${what} ${value.toFixed(0)} s`;
const multiple = (value, of) => `${(value / of).toFixed(1)} ×`;
console.log(
  reference === undefined
    ? `${times('CPU', cpu)}, ${times('wall', wall)}`
    : `${times('CPU', cpu)}, ${times('wall', wall)}: ${multiple(cpu, reference.cpu)} and ${multiple(wall, reference.wall)} ` +
        `those of tsc --noEmit (${reference.cpu.toFixed(1)} and ${reference.wall.toFixed(1)} s)`,
);
const sum = what => all.reduce((total, result) => total + result[what], 0);
const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map(sum);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);
