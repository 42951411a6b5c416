// Makes the small wrong changes of test/mutants/rows.ts, one at a time in copies of the repository, and says which test
// falls: the one that the row names, or, if that holds, any of its room. Words choose rows by file or test; `--part 2/4`
// takes every fourth, from the second. A change that nothing finds, or that ends in a hang, makes the exit code 1.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clear, show } from './progress.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** A test that takes longer hangs, s; so does a room. */
const HANG_S = 300;
const ROOM_HANGS_S = 1800;

const [[own, all] = [1, 1], words] = (() => {
  const argv = process.argv.slice(2);
  const at = argv.indexOf('--part');
  if (at < 0) return [undefined, argv];
  const part = /^([1-9]\d*)\/([1-9]\d*)$/
    .exec(argv[at + 1] ?? '')
    ?.slice(1)
    .map(Number);
  if (part === undefined) {
    console.error('mutants: --part: write which part of how many, as in 2/4');
    process.exit(2);
  }
  return [part, argv.toSpliced?.(at, 2) ?? argv.filter((_, i) => i !== at && i !== at + 1)];
})();

async function run(cwd, argv, env = {}, most = HANG_S) {
  const child = spawn('timeout', ['--foreground', '-s', 'KILL', String(most), ...argv], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LANG: 'C.UTF-8', TAP_TIMEOUT: String(HANG_S), ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text));
  const [code] = await once(child, 'close');
  // timeout(1) ends as what it killed.
  return { code, output, isHang: code === null || code === 137 };
}

/** What a test says first of what does not hold. */
const sentenceIn = output =>
  (/^ *not ok \d+ - (?!.*# time=)(.*)$/m.exec(output)?.[1] ?? output.trim().split('\n').at(-1) ?? '').slice(0, 100);

/** A copy of the repository as it is, with what was built; packages as links, because nothing writes into them. */
async function copyTo(folder, files) {
  rmSync(folder, { recursive: true, force: true });
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    // With its time: the build asks whether packages are older than their list.
    cpSync(join(root, file), join(folder, file), { preserveTimestamps: true });
  }
  mkdirSync(join(folder, 'build'));
  for (const built of ['dist', ...readdirSync(join(root, 'build')).map(name => join('build', name))])
    if (!/mutants|\.(tap|log)$/.test(built))
      cpSync(join(root, built), join(folder, built), { recursive: true, preserveTimestamps: true });
  await run(root, ['cp', '-al', 'node_modules', folder]);
}

const BUILD = [process.execPath, 'scripts/build.mjs', '--modules'];

const commandOf = test => [process.execPath, '--enable-source-maps', `dist/test/${test}.test.js`];

/** Whether `npm test` leaves it out. */
function isOfRest(test) {
  const [head] = readFileSync(join(root, 'test', `${test}.test.ts`), 'utf8').split(/^import /m, 1);
  return /^\/\/ @rest$/m.test(head);
}

/** Whether each test holds without a change. */
const holding = new Map();

/** Makes one change in a copy and runs what may find it; undoes it. */
async function tried(folder, { file, was, becomes, test }) {
  const path = join(folder, file);
  if (!holding.has(test)) {
    // The last change was undone, but not built.
    await run(folder, BUILD);
    holding.set(test, (await run(folder, commandOf(test))).code === 0);
  }
  if (!holding.get(test)) return { how: 'NOT TRIED', sentence: `${test} does not hold as it is` };
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(was, () => becomes),
  );
  try {
    const built = await run(folder, BUILD);
    if (built.code !== 0) return { how: 'does not compile', sentence: sentenceIn(built.output) };
    const alone = commandOf(test);
    const room = [process.execPath, 'scripts/test.mjs', '--all', test.split('/')[0]];
    for (const [how, argv, env, most] of [
      [`${test} in ${isOfRest(test) ? 'the rest' : 'npm test'}`, alone, {}],
      [`${test} in the rest`, alone, { BEOBOARD_TEST_WHOLE: '1' }],
      ['its room', room, {}, ROOM_HANGS_S],
    ]) {
      const { code, output, isHang } = await run(folder, argv, env, most);
      if (isHang) return { how: 'HANGS', sentence: how };
      if (code !== 0) return { how, sentence: sentenceIn(output) };
    }
    return { how: 'NOT FOUND', sentence: '' };
  } finally {
    writeFileSync(path, text);
  }
}

const built = await run(root, BUILD);
if (built.code !== 0) {
  console.error(built.output);
  process.exit(1);
}
const { MUTANTS } = await import(join(root, 'dist', 'test', 'mutants', 'rows.js'));
const isWanted = ({ file, test }) =>
  words.length === 0 || words.some(word => file.includes(word) || test.includes(word));
const wanted = MUTANTS.filter(isWanted).filter((_, i) => i % all === own - 1);
if (wanted.length === 0) {
  console.error(`mutants: no row has ${words.join(' or ')} in its file or test`);
  process.exit(2);
}

const listed = await run(root, ['git', 'ls-files']);
const files = listed.output.split('\n').filter(file => file !== '');
const left = [...wanted];
const counts = new Map();
const began = performance.now();
let done = 0;

async function work(folder) {
  await copyTo(folder, files);
  for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
    const { how, sentence } = await tried(folder, mutant);
    const kind = how.replace(/^\S+\/\S+ in/, 'in');
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
    clear();
    console.log(`${how}: ${mutant.file}: ${mutant.was.trim()} -> ${mutant.becomes.trim()}: ${sentence}`);
    done++;
    show(`${done} of ${wanted.length}, ${Math.round((performance.now() - began) / 1000)} s`);
  }
  rmSync(folder, { recursive: true, force: true });
}

const copies = Math.min(availableParallelism(), wanted.length);
await Promise.all(Array.from({ length: copies }, (_, i) => work(join(root, 'build', 'mutants', String(i)))));
clear();
for (const [kind, count] of counts) console.log(`${count} of ${wanted.length}: ${kind}`);
process.exitCode = ['NOT FOUND', 'NOT TRIED', 'HANGS'].some(how => counts.has(how)) ? 1 : 0;
