// The fuzzing of test/fuzz/fuzz.test.ts at length, with libFuzzer if clang is installed, with other inputs each time. Not
// part of `npm test`. Prints for each target what was run. libFuzzer keeps its corpus in build/fuzz/corpus, with which
// the next run begins.
//   npm run test:long -- fuzz          SECONDS=n for each part of it (40), SEED=n
// Mutated trees of /proc and /sys, over both senders:   npm run test:long -- csenderproperty

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { random } from '../kit/brokenboards.js';
import {
  commandsDisagree,
  compareBoards,
  compileTargets,
  configDisagrees,
  corpus,
  corpusOf,
  fuzzTexts,
  hostlistDisagrees,
  kernelAnswer,
  mutant,
  TARGETS,
  tellAll,
  textTargets,
} from '../kit/fuzzing.js';
import { folder, ROOT } from '../kit/places.js';
import { gridEngineTargets } from './gridenginefuzzing.js';
import { slurmTargets } from './slurmfuzzing.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const SECONDS = Number(process.env.SECONDS ?? 40);

t.setTimeout(3_600_000 + SECONDS * 100_000);
t.comment(`SEED=${SEED}, SECONDS=${SECONDS}`);
setPriority(19);

/** Whether this has lasted long enough. */
function timer(): () => boolean {
  const until = performance.now() + SECONDS * 1000;
  return () => performance.now() >= until;
}

const rate = (count: number, what: string, seconds = SECONDS) =>
  `${count} ${what}, ${Math.round(count / seconds)} a second`;

/** Runs a target in its own process, and returns its output. */
function run(t: { equal(a: unknown, b: unknown, what: string): void }, command: string[], place: string): string {
  const { status, signal, stdout, stderr } = spawnSync('nice', ['-n', '19', ...command], {
    cwd: place,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  t.equal(status, 0, `${signal ?? status}: ${stderr.slice(-4000)}`);
  return `${stdout}${stderr}`;
}

const place = folder(t);
const replay = compileTargets(TARGETS, {});
const probe = spawnSync('clang', ['-fsanitize=fuzzer', '-x', 'c', '-o', join(place, 'probe'), '-'], {
  input:
    '#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { (void)d; (void)n; return 0; }\n',
});
const skip = probe.status !== 0 && 'no libFuzzer: apt-get install clang libclang-rt-14-dev';
const fuzzer = skip ? '' : compileTargets(TARGETS, { CC: 'clang', ENGINE: 'libfuzzer' });

for (const target of TARGETS) {
  const grown = join(ROOT, 'build', 'fuzz', 'corpus', target);
  mkdirSync(grown, { recursive: true });

  t.test(`${target}, by libFuzzer`, { skip }, async t => {
    const findings = join(ROOT, 'build', 'fuzz', `${target}-`);
    // Leaks are checked only at the end, because checking after each input would take most of the time.
    const options = ['-detect_leaks=0', '-max_len=3000', '-timeout=10', '-print_final_stats=1'];
    const told = run(
      t,
      [
        join(fuzzer, target),
        ...options,
        `-max_total_time=${SECONDS}`,
        `-seed=${SEED}`,
        `-artifact_prefix=${findings}`,
      ].concat(grown, corpusOf(target)),
      place,
    );
    const executed = Number(/number_of_executed_units: (\d+)/.exec(told)?.[1]);
    const [cov, features] = [...told.matchAll(/ cov: (\d+) ft: (\d+)/g)].at(-1)?.slice(1) ?? [];
    const units = /^(\d+ \w+)$/m.exec(told)?.[1] ?? `${executed} of them`;
    t.ok(executed > 0);
    t.comment(`${target}: libFuzzer: ${rate(executed, 'inputs')}; ${units}; ${cov} edges, ${features} features`);
  });

  t.test(`${target}, by mutation`, async t => {
    const last = join(place, `last-${target}`);
    const command = [
      join(replay, target),
      '--seconds',
      `${SECONDS}`,
      '--seed',
      `${SEED}`,
      '--last',
      last,
      corpusOf(target),
    ];
    const told = run(t, [...command, grown], place);
    const [, inputs, units = ''] = /, (\d+) mutations of seed \d+, (\d+ \w+)\n/.exec(told) ?? [];
    if (inputs === undefined) {
      const bytes = readFileSync(last);
      t.comment(`the input: ${bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString('base64')}`);
    }
    t.ok(Number(inputs) > 0);
    t.comment(`${target}: replay: ${rate(Number(inputs), 'inputs')}; ${units}`);
  });
}

for (const [target, disagrees] of [
  ['kernel', (input: Buffer, told: string) => kernelAnswer(input) !== told],
  ['config', (input: Buffer, told: string) => configDisagrees(input, told) !== undefined],
  ['gatefiles', (input: Buffer, told: string) => hostlistDisagrees(input, told) !== undefined],
  ['commands', (input: Buffer, told: string) => commandsDisagree(input, told) !== undefined],
] as const)
  t.test(`${target}: C and TypeScript read the same`, async t => {
    const inputs = corpus(target);
    const next = random(SEED);
    const isOver = timer();
    let count = 0;
    while (!isOver()) {
      const some = Array.from({ length: 5000 }, () => mutant(inputs, next, 1));
      const told = tellAll(join(replay, target), some);
      const differ = some.filter((input, i) => disagrees(input, told[i] ?? ''));
      t.strictSame(
        differ.slice(0, 3).map(input => input.toString('base64')),
        [],
      );
      count += some.length;
    }
    t.comment(`${target}: C beside TypeScript: ${rate(count, 'inputs')}`);
  });

t.test('boards: the library and TypeScript say the same of them', async t => {
  const isOver = timer();
  const { boards, read } = await compareBoards(t, join(replay, 'boards'), SEED, isOver);
  t.ok(read > 0 && read < boards);
  t.comment(`boards: the library beside TypeScript: ${rate(boards, 'boards')}; ${read} could be read`);
});

for (const target of [...textTargets(place), ...slurmTargets(), ...gridEngineTargets()])
  t.test(target.name, async t => {
    const isOver = timer();
    const { texts, taken } = fuzzTexts(target, SEED, isOver);
    t.ok(taken > 0 && taken < texts);
    t.comment(`${target.name}: ${rate(texts, 'texts')}; ${taken} were taken`);
  });
