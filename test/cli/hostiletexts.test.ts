// Texts of others, of whatever characters, in what the built programs write: it is UTF-8, or ASCII in such a locale; it
// parses and has its schema; the texts come back equal, or cut and marked; and nothing in it controls a terminal. And no
// setting is kept in a module of which two parts of the program have a copy each.
//
// @seconds 11
// @whole
// @days 3

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import t from 'tap';
import { ackPath } from '../../src/acks/ackfile.js';
import { bits } from '../../src/layout/layout.gen.js';
import { keepAlive } from '../kit/heart.js';
import {
  HOSTILE,
  hostileScheduler,
  keptOf,
  MANY,
  nodes,
  osReleaseOf,
  UNSEEN,
  wellFormed,
  withoutEnds,
} from '../kit/hostiletexts.js';
import { folder, ROOT } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { unlike } from '../kit/schemacheck.js';
import { todayOf, WHOLE } from '../kit/whole.js';
import { writtenBoard } from '../kit/writtenboard.js';

const [UTF8, ASCII] = ['C.UTF-8', 'POSIX'];
const valid = Object.values<number>(bits.valid).reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
const reports = [...nodes, MANY].map((name, i) => {
  const report = {
    valid,
    flags: 1 << bits.flags.root_readonly,
    os_release: osReleaseOf(HOSTILE[i] ?? ''),
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
  await hostileScheduler(t, board, dir, 3000);
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
  const lines = [
    ...['status', 'jobs', 'users', 'ack', 'check', 'nodes'].map(verb => [verb, ...JOBS]),
    ...['odd', 'dump', 'xml', 'metrics'].map(verb => [verb, ...AT]),
    ...[['-l'], ['--csv'], ['--jobs'], ['-x']].map(more => ['status', ...JOBS, ...more]),
    ...nodes.map(name => ['show', name, ...JOBS]),
    ['status', ...AT, '--csv', '-o', 'os_release'],
    ['events', ...AT, '--last', '9', '--for', '10ms'],
  ];
  for (const argv of todayOf(lines, 2))
    for (const locale of [UTF8, ASCII]) {
      const text = bytesOf(argv, locale);
      if (argv[0] !== 'metrics') t.notMatch(withoutEnds(text), UNSEEN, `${argv.join(' ')} ${locale}`);
    }
  const terminal = spawnSync('script', ['-qec', `${process.execPath} ${PROGRAM} metrics ${AT.join(' ')}`, '/dev/null']);
  if (terminal.status === 0) t.notMatch(withoutEnds(`${terminal.stdout}`), UNSEEN, 'metrics on a terminal');
});

/** What a module keeps that can become another: a variable, or a collection that begins empty. */
const KEEPS = /^(?:export )?(?:let \w+|const \w+.* = (?:new (?:Weak)?(?:Map|Set)\b.*\(\)|\[\]|\{\});$)/m;

/** The sources with a state that a process would have twice: in what each has loaded, and in a verb's part. */
function statesTwice(bin: string, root = ROOT): { twice: string[]; modules: number } {
  const main = readFileSync(join(bin, 'beoboard.cjs'), 'utf8');
  const partsOf = new Map<string, Set<string>>();
  // Those of earlier builds stay for an hour.
  for (const part of readdirSync(bin).filter(name => name === 'beoboard.cjs' || main.includes(name)))
    for (const [, source = ''] of readFileSync(join(bin, part), 'utf8').matchAll(/^\/\/ (src\/\S+\.ts)$/gm))
      partsOf.set(source, (partsOf.get(source) ?? new Set()).add(part));
  const isCommon = (part: string) => part.startsWith('base-') || part === 'beoboard.cjs';
  const shared = [...partsOf].filter(([, parts]) => parts.size > 1 && [...parts].some(isCommon));
  const twice = shared.map(([source]) => source).filter(source => KEEPS.test(readFileSync(join(root, source), 'utf8')));
  return { twice, modules: partsOf.size };
}

t.test('a module with a state is once in a process', async t => {
  const { twice, modules } = statesTwice(dirname(PROGRAM));
  t.ok(modules > 300, `${modules} modules are in the program`);
  t.same(twice, [], 'shared ones belong into src/base.ts');
  t.match('let isSpoken = false;', KEEPS);
  t.match('const known = new Map<string, number>();', KEEPS);
});

t.test('a build that bundles a module with a state twice is found', t => {
  const root = folder(t);
  const bin = join(root, 'dist', 'bin');
  const built = (name: string, kept: string, main: string) => {
    mkdirSync(join(root, 'src'), { recursive: true });
    writeFileSync(join(root, 'src', 'madeup.ts'), kept);
    writeFileSync(join(root, 'src', `${name}.ts`), `import { is } from './madeup.js';\n${main}`);
    const [format, target] = ['cjs', 'node20'] as const;
    const outExtension = { '.js': '.cjs' };
    const entryPoints = [`src/${name}.ts`];
    buildSync({ absWorkingDir: root, entryPoints, outdir: bin, outExtension, bundle: true, format, target });
  };
  for (const [kept, twice] of [
    ['let spoken = false;\nexport const is = () => (spoken = !spoken);\n', ['src/madeup.ts']],
    ['export const is = (text: string) => text.length;\n', []],
  ] as const) {
    built('beoboard', kept, "console.log(is, 'verb.cjs');\n");
    built('verb', kept, 'console.log(is);\n');
    t.match(statesTwice(bin, root), { modules: 3, twice });
  }
  t.end();
});
