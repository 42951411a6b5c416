// Texts of others, of whatever characters, in what the built programs write: it is UTF-8, or ASCII in such a locale; it
// parses and has its schema; the texts come back equal, or cut and marked; and nothing in it controls a terminal. And no
// setting is kept in a module of which two parts of the program have a copy each.
//
// @seconds 60
// @whole

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { ackPath } from '../../src/acks/ackfile.js';
import { bits } from '../../src/layout/layout.gen.js';
import { readState } from '../../src/schedulerfile/statefile.js';
import { keepAlive } from '../kit/heart.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM, start } from '../kit/program.js';
import { unlike } from '../kit/schemacheck.js';
import { until } from '../kit/until.js';
import { WHOLE } from '../kit/whole.js';
import { writtenBoard } from '../kit/writtenboard.js';

/** The low bytes of some of these are a quote, a comma, a colon, a backslash, controls. */
const HOSTILE: readonly string[] = [
  'plain, "quoted", back\\slash',
  'Lüfter „defekt“ Ģ',
  'ĢĬĺŜ\u0122\u012c\u022c\u013a,"forged":1',
  '日本語の理由',
  '🔥 disk 🇨🇭',
  'a\0b',
  '\x1b[31mred\x1b]0;title\x07',
  'user\u202Etxt.exe\u2066',
  '\ud800 half \udc22',
  'two\r\nlines\ttab\u2028\u2029\x85\x9b',
  '=1+1|cmd',
  "<b a='b'>&amp;--></b>",
  'ü'.repeat(100_000),
  '…'.repeat(300),
];
/** How many characters of a text the reader of a scheduler keeps; what is cut ends with …. */
const KEPT = 256;
const keptOf = (text: string) => {
  const characters = Array.from(text);
  return characters.length <= KEPT ? text : `${characters.slice(0, KEPT - 1).join('')}…`;
};
/** As a report has it: up to a NUL would be all of it, and a half surrogate has no UTF-8. */
const wellFormed = (text: string) => Buffer.from(text.replaceAll('\0', '')).toString();
const inFile = (value: object) => `${JSON.stringify(value)}\n`;

const [UTF8, ASCII] = ['C.UTF-8', 'POSIX'];
/** What a terminal never gets, but for the ends of our lines, and our tabs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

const valid = Object.values<number>(bits.valid).reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
const MANY = 'n99';
const nodes = HOSTILE.map((_, i) => `n${i + 1}`);
const reports = [...nodes, MANY].map((name, i) => {
  const os_release = Buffer.from(wellFormed(HOSTILE[i] ?? '')).subarray(0, 40);
  const report = {
    valid,
    flags: 1 << bits.flags.root_readonly,
    os_release: os_release.toString(),
    interval_ms: 600_000,
  };
  return [name, () => report] as const;
});
const { path: board } = writtenBoard(t, Object.fromEntries(reports), 10);
keepAlive(t, board);
const dir = folder(t);

/** Runs the built program; returns what it wrote, which is UTF-8. */
function bytesOf(argv: readonly string[], locale: string): string {
  const env = { ...process.env, LC_ALL: locale, COLUMNS: '200' };
  const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, ...argv], { env, maxBuffer: 1 << 28 });
  const all = Buffer.concat([stdout, stderr]);
  t.ok(status !== null && status <= 3, `${argv.join(' ')}: exit code ${status} ${stderr}`);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(all);
  if (locale === ASCII && argv[0] !== 'metrics')
    t.equal(/[^\0-\x7f]/.exec(text)?.[0], undefined, `${argv.join(' ')}: ASCII`);
  return new TextDecoder('utf-8', { fatal: true }).decode(stdout);
}

const AT = ['--board', board];
const JOBS = [...AT, '--slurm-dir', dir];

t.before(async () => {
  const file = join(dir, 'file');
  const many = Array.from({ length: 3000 }, (_, i) => ({
    ...{ job: `j${i}`, nodes: MANY, user: `u${'x'.repeat(200)}`, partition: `p${'y'.repeat(200)}`, name: 'ü' },
  }));
  const rows = HOSTILE.flatMap((text, i) => [
    { node: nodes[i], state: 'drained', reason: text, reason_by: text, switch: text },
    { job: `x"${i}\\,`, nodes: nodes[i], user: text, name: text, partition: text, cpus: 1 },
  ]);
  const head = { schema: 1, scheduler: 'X', cluster: HOSTILE[2], version: HOSTILE[6], daemon: HOSTILE[7] };
  writeFileSync(file, [head, ...rows, { node: MANY, state: 'idle' }, ...many, { end: true }].map(inFile).join(''));
  start(t, ['slurm', ...JOBS, '--scheduler', `file:${file}`, '--public-jobs']);
  await until('the file is read', () => {
    const found = readState(dir);
    return found.why === undefined && found.state.jobs.list.length > 3000;
  });
  bytesOf(['ack', 'root_readonly', '--until', '+1h', '--reason', 'Netzteil geprüft Ģ', ...JOBS], UTF8);
  t.match(readFileSync(ackPath(board), 'utf8'), 'Ģ');
});

interface Told {
  readonly nodes: readonly {
    readonly name: string;
    readonly slurm: { readonly reason?: string; readonly jobs: readonly Record<string, string>[] };
    readonly report: { readonly os_release: string };
  }[];
}

/** Without what is another each time. */
const lasting = (text: string) =>
  JSON.stringify(JSON.parse(text), (key, value) =>
    /(_ms|_s|_ns|_mib|_c|pid|count)$|^(age|header)/.test(key) ? 0 : value,
  );

/** Each with JSON's part of the schema, if it is one object. */
const SPOKEN: readonly (readonly [part: string | undefined, ...argv: string[]])[] = [
  ['Status', 'status', ...JOBS, '--jobs'],
  ...(WHOLE
    ? ([
        ['Status', 'show', nodes[1] as string, ...JOBS],
        ['Jobs', 'jobs', ...JOBS],
        ['Users', 'users', ...JOBS],
        [undefined, 'ack', ...JOBS],
        ['OddNodes', 'odd', ...AT],
        [undefined, 'dump', ...AT],
        ['Described', 'describe', 'os_release'],
      ] as const)
    : []),
];

t.test('JSON of every verb', async t => {
  for (const [part, ...argv] of SPOKEN) {
    const [rich, plain] = [UTF8, ASCII].map(locale => bytesOf([...argv, '--json'], locale)) as [string, string];
    t.notMatch(rich.replaceAll('\n', ''), UNSEEN, `${argv[0]}: nothing that a terminal would obey`);
    if (part !== undefined) t.same(unlike(part, JSON.parse(rich)), [], `${argv[0]}: the schema`);
    t.ok(lasting(plain) === lasting(rich), `${argv[0]}: the same in both locales`);
    if (argv[0] !== 'status') continue;
    const told = new Map((JSON.parse(rich) as Told).nodes.map(node => [node.name, node] as const));
    for (const [i, text] of HOSTILE.entries()) {
      const { slurm, report } = told.get(nodes[i] as string) ?? {};
      const [job] = slurm?.jobs ?? [];
      for (const back of [slurm?.reason, job?.user, job?.partition])
        t.ok(back === keptOf(text), `text ${i} comes back`);
      t.ok(wellFormed(text).startsWith((report?.os_release ?? '?').replace(/\ufffd+$/, '')), `text ${i} of a node`);
    }
    t.equal(told.get(MANY)?.slurm.jobs.length, 3000, 'a node has as many jobs as it has');
  }
});

t.test('text of every verb', { skip: !WHOLE && 'npm run test:rest runs it' }, async t => {
  for (const argv of [
    ...['status', 'jobs', 'users', 'ack', 'check', 'nodes'].map(verb => [verb, ...JOBS]),
    ...['odd', 'dump', 'xml', 'metrics'].map(verb => [verb, ...AT]),
    ...[['-l'], ['--csv'], ['--jobs'], ['-x']].map(more => ['status', ...JOBS, ...more]),
    ...nodes.map(name => ['show', name, ...JOBS]),
    ['status', ...AT, '--csv', '-o', 'os_release'],
    ['events', ...AT, '--last', '9', '--for', '10ms'],
  ])
    for (const locale of [UTF8, ASCII]) {
      const text = bytesOf(argv, locale);
      if (argv[0] !== 'metrics') t.notMatch(text.replace(/\r?\n|\t/g, ''), UNSEEN, `${argv.join(' ')} ${locale}`);
    }
  const terminal = spawnSync('script', ['-qec', `${process.execPath} ${PROGRAM} metrics ${AT.join(' ')}`, '/dev/null']);
  if (terminal.status === 0) t.notMatch(`${terminal.stdout}`.replace(/\r?\n|\t/g, ''), UNSEEN, 'metrics on a terminal');
});

/** What a module keeps that can become another: a variable, or a collection that begins empty. */
const KEEPS = /^(?:export )?(?:let \w+|const \w+.* = (?:new (?:Weak)?(?:Map|Set)\b.*\(\)|\[\]|\{\});$)/m;

t.test('a module with a state is once in a process', async t => {
  const bin = dirname(PROGRAM);
  const partsOf = new Map<string, Set<string>>();
  // Those of earlier builds stay for an hour.
  const main = readFileSync(PROGRAM, 'utf8');
  for (const part of readdirSync(bin).filter(name => join(bin, name) === PROGRAM || main.includes(name)))
    for (const [, source] of readFileSync(join(bin, part), 'utf8').matchAll(/^\/\/ (src\/\S+\.ts)$/gm))
      partsOf.set(source as string, (partsOf.get(source as string) ?? new Set()).add(part));
  t.ok(partsOf.size > 300, `${partsOf.size} modules are in the program`);
  // Each process has loaded these, and one verb.
  const isCommon = (part: string) => part.startsWith('base-') || part === 'beoboard.cjs';
  const twice = [...partsOf]
    .filter(([, parts]) => parts.size > 1 && [...parts].some(isCommon))
    .map(([source]) => source);
  t.same(
    twice.filter(source => KEEPS.test(readFileSync(join(ROOT, source), 'utf8'))),
    [],
    'shared ones belong into src/base.ts',
  );
  t.match('let isSpoken = false;', KEEPS);
  t.match('const known = new Map<string, number>();', KEEPS);
});
