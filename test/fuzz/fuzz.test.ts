// Every parser of foreign bytes, fuzzed for a short time: the texts that only TypeScript reads; and in the whole suite
// the corpus of each target of c/test/fuzz, and mutations of it, under the sanitizers; C and TypeScript with the same
// texts, files and boards. For longer: test/fuzz/fuzz.long.test.ts. docs/internals/fuzzing.md says what is compared with what.
//
// @seconds 14
// @whole
// @days 3

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { random } from '../kit/brokenboards.js';
import {
  boardAnswer,
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
import { folder } from '../kit/places.js';
import { NOT_WHOLE, SEED, WHOLE } from '../kit/whole.js';
import { gridEngineTargets } from './gridenginefuzzing.js';
import { slurmTargets } from './slurmfuzzing.js';

t.comment(`seed ${SEED}, another one by SEED=n`);
t.setTimeout(600_000);

/** How many mutations of each corpus: a second. */
const RUNS = {
  ...{ datagrams: 2000, boards: 500, mirrors: 500, kernel: 5000, config: 2000, gatefiles: 2000, commands: 2000 },
};

const place = folder(t);

const out = WHOLE ? compileTargets(TARGETS) : '';

for (const target of TARGETS)
  t.test(`${target}: the corpus, and mutations of it`, { skip: NOT_WHOLE }, async t => {
    const last = join(place, `last-${target}`);
    const { status, signal, stdout, stderr } = spawnSync(
      join(out, target),
      ['--runs', String(RUNS[target]), '--seed', String(SEED), '--last', last, corpusOf(target)],
      { encoding: 'utf8', timeout: 120_000 },
    );
    const length = Number(readFileSync(last).readBigUInt64LE());
    const input = readFileSync(last)
      .subarray(8, 8 + length)
      .toString('base64');
    t.equal(status, 0, `${signal}: ${stderr}\nthe input, in base64: ${input}`);
    const kept = readdirSync(corpusOf(target)).length;
    t.match(stdout, `${kept} inputs, ${RUNS[target]} mutations of seed ${SEED}, `);
    const [, units = ''] = /, (\d+) \w+\n$/.exec(stdout) ?? [];
    t.ok(Number(units) >= RUNS[target] * 0.9, `${units} were looked at`);
  });

t.test('kernel texts: C and TypeScript read the same', { skip: NOT_WHOLE }, async t => {
  const inputs = corpus('kernel');
  const next = random(SEED);
  const all = [...inputs, ...Array.from({ length: 5000 }, () => mutant(inputs, next, 1))];
  const told = tellAll(join(out, 'kernel'), all);
  t.equal(told.length, all.length);
  const differ = all.filter((input, i) => kernelAnswer(input) !== told[i]);
  t.strictSame(
    differ
      .slice(0, 3)
      .map(input => [input[0], input.toString('latin1', 1), kernelAnswer(input), told[all.indexOf(input)]]),
    [],
  );
  const taken = told.filter(line => line !== 'no').length;
  t.ok(taken > all.length / 10 && taken < all.length, `${taken} were taken`);
});

t.test('TOML and key files: what C takes means the same to TypeScript', { skip: NOT_WHOLE }, async t => {
  const inputs = corpus('config');
  const next = random(SEED);
  const all = [...inputs, ...Array.from({ length: 5000 }, () => mutant(inputs, next, 1))];
  const told = tellAll(join(out, 'config'), all);
  t.equal(told.length, all.length);
  const differ = all.flatMap((input, i) => {
    const here = configDisagrees(input, told[i] ?? '');
    return here === undefined ? [] : [[input[0], input.toString('latin1', 1), here, told[i]]];
  });
  t.strictSame(differ.slice(0, 3), []);
  const taken = told.filter(line => !line.endsWith('NO')).length;
  t.ok(taken > all.length / 50 && taken < all.length, `${taken} were taken`);
});

t.test('host lists: C and TypeScript read the same', { skip: NOT_WHOLE }, async t => {
  const inputs = corpus('gatefiles');
  const next = random(SEED);
  const all = [...inputs, ...Array.from({ length: 5000 }, () => mutant(inputs, next, 1))];
  const told = tellAll(join(out, 'gatefiles'), all);
  t.equal(told.length, all.length);
  const differ = all.flatMap((input, i) => {
    const here = hostlistDisagrees(input, told[i] ?? '');
    return here === undefined ? [] : [[input.toString('latin1', 1), here, told[i]]];
  });
  t.strictSame(differ.slice(0, 3), []);
  const taken = told.filter(line => !line.startsWith('NO ')).length;
  t.ok(taken > all.length / 50 && taken < all.length, `${taken} were taken`);
});

t.test('commands of Supermon: C and TypeScript take the same', { skip: NOT_WHOLE }, async t => {
  const inputs = corpus('commands');
  const next = random(SEED);
  const all = [...inputs, ...Array.from({ length: 5000 }, () => mutant(inputs, next, 1))];
  const told = tellAll(join(out, 'commands'), all);
  t.equal(told.length, all.length);
  const differ = all.flatMap((input, i) => {
    const here = commandsDisagree(input, told[i] ?? '');
    return here === undefined ? [] : [[input.toString('latin1'), here, told[i]]];
  });
  t.strictSame(differ.slice(0, 3), []);
  const taken = told.filter(line => / [#S]/.test(line)).length;
  t.ok(taken > all.length / 10 && taken < all.length, `${taken} have a command`);
});

t.test('boards: the library and TypeScript say the same of them', { skip: NOT_WHOLE }, async t => {
  const counts = await compareBoards(t, join(out, 'boards'), SEED, boards => boards >= 800);
  t.ok(counts.read > 80 && counts.read < counts.boards, JSON.stringify(counts));
  t.equal(boardAnswer(join(place, 'nothing')), 'absent');
});

for (const target of [...textTargets(place), ...slurmTargets(), ...gridEngineTargets()])
  t.test(target.name, async t => {
    const counts = fuzzTexts(target, SEED, texts => texts >= (WHOLE ? 1000 : 300));
    t.ok(counts.taken > counts.texts / 40 && counts.taken < counts.texts, JSON.stringify(counts));
  });
