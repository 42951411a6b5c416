// The short verbs in C, c/verbs, beside those in TypeScript: on boards with nodes in every state, with links that are
// down or dark, with rejections and with unreadable files, for every option that both have, they print exactly the same
// and end with the same code.
//
// @seconds 23
// @whole
// @days 3

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { verb as checkVerb } from '../../src/cli/check.js';
import { verb as nodesVerb } from '../../src/cli/nodes.js';
import { type JournalState, writeState } from '../../src/journalfile/state.js';
import type { Encodable } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { survey } from '../../src/query/survey.js';
import { PROBLEMS } from '../../src/shm/problems.js';
import { BoardReader } from '../../src/shm/reader.js';
import { anomalies } from '../kit/anomalies.js';
import { type BrokenBoard, groups, make, beat as pulse, Sheet } from '../kit/brokenboards.js';
import { ended, follow } from '../kit/children.js';
import { monotonicNs } from '../kit/clocks.js';
import { builds, CHECKED, DYNAMIC, INSTALLED, type Make, makeIn, testProgram } from '../kit/compiling.js';
import { keepAlive } from '../kit/heart.js';
import { REFUSED } from '../kit/hostlistcases.js';
import { lacks } from '../kit/lacking.js';
import { beat, poke } from '../kit/linkboard.js';
import { validOf } from '../kit/madeboard.js';
import { NOBODY, ROOT_USER } from '../kit/ordinary.js';
import { boardPath, folder, ROOT, type Teardown } from '../kit/places.js';
import { PROGRAM } from '../kit/program.js';
import { makeBoard, mirrored, numbered, stall, unborn } from '../kit/stateboard.js';
import { type Answer, verbChild } from '../kit/verbchild.js';
import { NOT_WHOLE, partOf, SEED, WHOLE } from '../kit/whole.js';
import { writtenBoard } from '../kit/writtenboard.js';

t.setTimeout(600_000);
t.comment(`SEED=${SEED}`);
const SOURCE = join(ROOT, 'c', 'verbs');

/** Compiles both; returns the folder of copies. */
function compile(t: Teardown, how: Make): string {
  const out = makeIn('verbs', how);
  const to = folder(t);
  for (const name of ['beoboard-nodes', 'beoboard-check']) copyFileSync(join(out, name), join(to, name));
  return to;
}

const BUILT = compile(t, CHECKED);

type VerbName = 'check' | 'nodes';

interface Question {
  readonly verb: VerbName;
  readonly argv: readonly string[];
  readonly owner?: string | undefined;
}

/** The environment, with this default of --owner and no other. */
const environment = (owner: string | undefined) => {
  const { BEOBOARD_OWNER: _, ...env } = process.env;
  return owner === undefined ? env : { ...env, BEOBOARD_OWNER: owner };
};

/** Runs the verbs in TypeScript. */
const runHere = verbChild(t);
const askHere = ({ verb, argv, owner }: Question) => runHere([verb, ...argv], environment(owner));

async function askC({ verb, argv, owner }: Question, built = BUILT, under: readonly string[] = []): Promise<Answer> {
  // No leak check: they free nothing before they end, by design, and the check takes longer than they do.
  const [program = '', ...args] = [...under, join(built, `beoboard-${verb}`), ...argv];
  const env = { ...environment(owner), ASAN_OPTIONS: 'detect_leaks=0' };
  return ended(spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** Ages and times of day are replaced, because the clock moves on between the two; and so is the program's name. */
const alike = ({ code, stdout, stderr }: Answer) => ({
  code,
  ...Object.fromEntries(
    Object.entries({ stdout, stderr }).map(([name, text]) => [
      name,
      text
        .replaceAll(/\bbeoboard-(nodes|check)\b/g, 'beoboard $1')
        .replaceAll(/\b(\d+ms|\d+\.\ds|\d+m\d\ds|\d+h\d\dm|\d+d\d+h)\b/g, 'AGE')
        .replaceAll(/\b\d\d:\d\d:\d\d \(AGE\)/g, 'TIME (AGE)'),
    ]),
  ),
});

/** Asks both about a board that `live` keeps alive. */
async function askBoth(question: Question, live = () => {}) {
  live();
  // On a busy machine an answer takes longer than a heartbeat counts.
  const beating = setInterval(live, 200);
  const [c, ts] = await Promise.all([askC(question), askHere(question)]).finally(() => clearInterval(beating));
  return { c: alike(c), ts: alike(ts), raw: c };
}

const NODES: readonly string[][] = [
  [],
  ...['live', 'silent', 'uncertain', 'left', 'never', 'unknown', 'silent,uncertain', 'never,left,live'].map(state => [
    '--state',
    state,
  ]),
  ['--count'],
  ['-c', '-s', 'live'],
  ['--expand'],
  ['-e', '-slive,silent'],
  ['--fold', '--state=uncertain'],
  ['--healthy'],
  ['--healthy', '--count', '--state', 'silent'],
  ['--nodes', 'n[001-012],s1,nobody[1-3],s1'],
  ['-w', 'x2,n003,x1', '--state', 'live', '--expand'],
  ['-wn[001-002]', '--count'],
  ['--healthy', '-w', 'h1,n001,zz'],
  ['-s', 'live,silent,uncertain,left', '--for-at-least', '10s'],
];
const CHECKS: readonly string[][] = [
  [],
  ['--health', 'off'],
  ['-w', '5', '-c', '2'],
  ['--warning', '7%', '--critical=33%'],
  ['-w', '12.5%,1', '-c', '0.1%,3'],
  ['-w100%', '-c', '100%'],
  ['--nodes', 'n[001-003]'],
  ['--nodes', 'n001,s1,h1,nobody'],
  ['--nodes', 'n001,nobody[1-9]', '--fail', 'open'],
  ['--nodes', 's1,nobody', '--fail', 'closed'],
  ['--ignore', 'held'],
  ['--ignore', 'bad_health,ecc,held', '--nodes', 'h1,i1,n001'],
  ['--recent', 'bad_health,none'],
  ['--fail', 'open'],
];

/** Asks every question about a board, and compares the answers. */
async function compare(
  t: Test,
  what: string,
  path: string,
  live = () => {},
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const rows = [
    ...NODES.slice(0, most).map(argv => ['nodes', argv] as const),
    ...CHECKS.slice(0, most).map(argv => ['check', argv] as const),
  ].filter((_, i) => WHOLE || i % 4 === SEED % 4);
  const differ: unknown[] = [];
  for (const [verb, argv] of rows) {
    const { c, ts } = await askBoth({ verb, argv: [...argv, '--board', path] }, live);
    if (JSON.stringify(c) !== JSON.stringify(ts)) differ.push([verb, argv, c, ts]);
  }
  t.strictSame(differ, [], what);
}

t.test('nodes in every state', async t => {
  const states = {
    live: ['n001', 'n002', ...numbered(9, 4), 'second@eth1'],
    silent: ['s1', 's2@eth1', 'n003'],
    uncertain: ['u1', 'u2'],
    left: ['l1', 'gone'],
    never: ['v2', 'v1', 'v10'],
    held: ['h1'],
    unhealthy: ['i1'],
  };
  const board = makeBoard(t, states);
  // Nobody can have left before this machine was started.
  const goneFor = uptime() > 900 ? Math.min(3600, uptime() - 1) : Math.min(300, uptime() - 1);
  board.lay('gone', Math.floor(goneFor), { flags: 1 << bits.flags.goodbye });
  await compare(t, 'all states', board.path, () => beat(board.path));
  const { raw } = await askBoth({ verb: 'check', argv: ['--board', board.path] }, () => beat(board.path));
  const gone = goneFor > 600 ? ', 1 left longer than 10 minutes ago (gone)' : '';
  t.ok(raw.stdout.startsWith(`BEOBOARD CRITICAL: of 24 nodes 3 silent (n003,s[1-2])${gone}, 2 uncertain`), raw.stdout);
  t.match(raw.stdout, /1 held \(h1\), 1 bad_health \(i1\) \| live=14;;;0;24 /);

  const healthy = makeBoard(t, { live: numbered(40) });
  await compare(t, 'all is well', healthy.path, () => beat(healthy.path), 12);
  const empty = makeBoard(t, {});
  await compare(t, 'nobody', empty.path, () => beat(empty.path), 12);
});

t.test('links', async t => {
  const nodes = {
    live: [...numbered(20), 'c1@eth3'],
    silent: ['a1@eth1', 'a2@eth1', 'c2@eth3'],
    uncertain: ['b1@eth2', 'b2@eth2'],
    left: ['a3@eth1'],
  };
  const board = makeBoard(t, nodes, { dark: true, down: ['eth2'] });
  await compare(t, 'dark, and down', board.path, () => beat(board.path));
  const asked = (list: string) =>
    askBoth({ verb: 'nodes', argv: ['--board', board.path, '--nodes', list] }, () => beat(board.path));
  for (const [list, says] of [
    ['a1', /^beoboard nodes: no node behind eth1 has reported for AGE, all 2 at once: a switch or this master is/],
    ['b1,b2', /^beoboard nodes: eth2 is down since TIME \(AGE\): no reports from its 2 nodes since then; see that/],
    ['c2', /^$/],
  ] as const) {
    const { c, ts } = await asked(list);
    t.strictSame(c, ts, list);
    t.match((c as Answer).stderr, says);
  }
});

t.test('a receiver that could not read its options again', async t => {
  const board = makeBoard(t, { live: ['n1'] });
  const { accepted_keys, reload_failed_at, reload_failed_ns } = structs.board_header.fields;
  for (const [part, first, second, says] of [
    [3n, 2n, 0n, 'key file again since TIME (AGE): key 1 is still accepted'],
    [3n, 2n, 65_536n, 'key file again since TIME (AGE): keys 1 and 65535 are still accepted'],
    [3n, 0n, 0n, 'key file again since TIME (AGE): reports are still not verified'],
    [2n, 2n, 0n, 'node list again since TIME (AGE): the list before still holds'],
    [1n, 2n, 0n, 'options again since TIME (AGE): those before still hold'],
  ] as const) {
    poke(board.path, [
      [accepted_keys.offset, first],
      [accepted_keys.offset + 8, second],
      [reload_failed_ns.offset, monotonicNs() - 70_000_000_000n],
      [reload_failed_at.offset, part],
    ]);
    const { c, ts } = await askBoth({ verb: 'check', argv: ['--board', board.path] }, () => beat(board.path));
    t.strictSame(c, ts);
    t.match(c, {
      code: 1,
      stdout: `BEOBOARD WARNING: 1 node, 1 live; the receiver could not read its ${says}; its log says why | `,
    });
  }
  // A time zone whose clocks are set back an hour now: this hour happens twice.
  const now = new Date();
  const day = Math.round((Date.UTC(2026, now.getUTCMonth(), now.getUTCDate()) - Date.UTC(2026, 0, 0)) / 86_400_000);
  const at = `J${day}/${now.getUTCHours() + 1}:${now.getUTCMinutes()}`;
  beat(board.path);
  const twice = await askC({ verb: 'check', argv: ['--board', board.path] }, BUILT, [
    'env',
    `TZ=AAA0BBB-1,J${(day + 180) % 365 || 1}/0,${at}`,
  ]);
  t.match(twice.stdout, /since \d\d:\d\d:\d\d \+0[01]:00 \(/, 'with the offset');
});

t.test('nodes that have been in their state for so long', async t => {
  const long = makeBoard(t, { silent: ['s1', 's2'], uncertain: ['u1'], left: ['l1', 'l2'] });
  const goodbye = { flags: 1 << bits.flags.goodbye };
  for (const [name, ago, values] of [
    ['s1', 70, {}],
    ['s2', 30, {}],
    ['l1', 80, goodbye],
    ['l2', 50, goodbye],
  ] as const)
    long.lay(name, ago, values);
  const gaps = { interval_ms: 10_000 };
  const live = writtenBoard(t, {
    steady: () => gaps,
    late: ago => (ago > 80 || ago < 25 ? gaps : undefined),
    fresh: ago => (ago < 10 ? gaps : undefined),
  });
  const rows: [path: string, argv: string[], stdout: string][] = [
    [long.path, ['-s', 'silent', '--for-at-least', '60s'], 's1\n'],
    [long.path, ['-s', 'silent', '--for-at-least', '20s'], 's[1-2]\n'],
    [long.path, ['-s', 'silent', '--for-at-least', '2h'], ''],
    [long.path, ['-s', 'silent,left', '--for-at-least', '1m', '-c'], '2\n'],
    [long.path, ['-s', 'left', '--for-at-least', '1m', '-w', 'l1,l2,s1'], 'l1\n'],
    [live.path, ['-s', 'live', '--for-at-least', '15s'], 'late,steady\n'],
    [live.path, ['-s', 'live', '--for-at-least', '1m'], 'steady\n'],
    [live.path, ['-s', 'live', '--healthy', '--for-at-least', '1m', '-e'], 'steady\n'],
    [live.path, ['-s', 'live', '--for-at-least', '1s'], 'fresh,late,steady\n'],
  ];
  for (const [path, argv, stdout] of rows) {
    const { c, ts } = await askBoth({ verb: 'nodes', argv: ['--board', path, ...argv] }, () => beat(path));
    t.strictSame(c, ts, argv.join(' '));
    t.same(c, { code: 0, stdout, stderr: '' }, argv.join(' '));
  }
  const needs = /^beoboard nodes: --for-at-least needs a state of which the begin is known; give --state silent, /;
  for (const [argv, says] of [
    [[], needs],
    [['--healthy'], needs],
    [['-s', 'silent,never'], needs],
    [['-s', 'unknown'], needs],
  ] as const) {
    const { c, ts } = await askBoth({ verb: 'nodes', argv: ['--for-at-least', '5m', ...argv, '--board', live.path] });
    t.strictSame(c, ts, argv.join(' '));
    t.match(c, { code: 2, stdout: '', stderr: says });
  }
  const old = sheet(t, b => b.header({ memory_bytes: 64 }));
  const argv = ['-s', 'live', '--for-at-least', '1s', '--board', old.path];
  const { c, ts } = await askBoth({ verb: 'nodes', argv }, old.live);
  t.strictSame(c, ts, 'a board of 2.0');
  t.match(c, {
    code: 2,
    stdout: '',
    stderr: /: --for-at-least: this board does not remember since when nodes are live; /,
  });
});

t.test('nodes with a problem', async t => {
  const board = makeBoard(t, { live: ['n1', 'n2'], held: ['h1', 'h2'], unhealthy: ['i1'], silent: ['s1'] });
  const lasting = { interval_ms: 600_000, valid: validOf('root', 'vmstat') };
  const full = writtenBoard(t, {
    full: () => ({ ...lasting, root_total_mib: 1000, root_avail_mib: 10, root_inodes_free_pm: 900 }),
    killed: ago => ({ ...lasting, root_total_mib: 0, oom_kills: ago > 0 ? 1 : 2 }),
  });
  const nodes = async (path: string, ...argv: string[]) => {
    const { c, ts, raw } = await askBoth({ verb: 'nodes', argv: ['--board', path, ...argv] }, () => beat(path));
    if (!argv.includes('--help')) t.strictSame(c, ts, argv.join(' '));
    return raw;
  };
  const rows: [path: string, argv: string[], stdout: string][] = [
    [board.path, ['--with-problem', 'held'], 'h[1-2]\n'],
    [board.path, ['--with-problem', 'bad_health', '-e'], 'i1\n'],
    [board.path, ['--with-problem', 'held,bad_health', '-c'], '3\n'],
    [board.path, ['--with-problem', 'held', '-w', 'h2,i1,s1'], 'h2\n'],
    [board.path, ['--with-problem', 'held', '-s', 'silent'], ''],
    [board.path, ['--with-problem', 'held', '--with-state'], 'h1 live\nh2 live\n'],
    [full.path, ['--with-problem', 'root_full'], 'full\n'],
    [full.path, ['--with-problem', 'oom'], 'killed\n'],
    ...PROBLEMS.filter(name => !['held', 'bad_health'].includes(name)).map((name): (typeof rows)[number] => [
      board.path,
      ['--with-problem', name],
      '',
    ]),
  ];
  for (const [path, argv, stdout] of rows)
    t.strictSame(await nodes(path, ...argv), { code: 0, stdout, stderr: '' }, argv.join(' '));
  for (const [condition, stdout] of [
    ['name == "h2"', 'h2 live\n'],
    ['state == live', 'h1 live\nh2 live\n'],
    ['name == "n1"', ''],
  ] as const) {
    beat(board.path);
    const argv = ['--board', board.path, '--with-problem', 'held', '--with-state', '--where', condition];
    t.strictSame(await askHere({ verb: 'nodes', argv }), { code: 0, stdout, stderr: '' }, `and ${condition}`);
  }
  const { stdout: help } = await nodes(board.path, '--help');
  const [, told = ''] = /--with-problem NAMES .*?:\s(.*?)\n {2}--/s.exec(help) ?? [];
  t.strictSame(
    told.split(/,\s+/).map(name => name.trim()),
    [...PROBLEMS],
    'the help names each',
  );
  const manual = readFileSync(join(SOURCE, 'beoboard-nodes.1'), 'utf8');
  for (const name of PROBLEMS) t.ok(manual.includes(`\\fI${name}\\fR`), `the page tells of ${name}`);
  for (const [argv, says] of [
    [['--with-problem', 'full'], /--with-problem: 'full' is not a problem; /],
    [['--with-problem', ''], /--with-problem: '' is not a problem; /],
    [['--with-problem', 'held', '--healthy'], /--healthy and --with-problem do not go together; leave one out/],
  ] as const)
    t.match(await nodes(board.path, ...argv), { code: 2, stdout: '', stderr: says });
});

t.test("a scheduler's names, and the state of each", async t => {
  const states = { live: ['n1', 'n2', 'n10', 'n11'], silent: ['s1'], left: ['cn7'], never: ['v1'] };
  const board = makeBoard(t, states);
  const names = join(folder(t), 'names');
  writeFileSync(names, '# by the site\nCN-7 cn7\nn2.example.org N2\nzz n11\nyy n11\nAbsent nowhere\n');
  chmodSync(names, 0o644);
  const nodes = async (...argv: string[]) => {
    const { c, ts, raw } = await askBoth({ verb: 'nodes', argv: ['--board', board.path, ...argv] }, () =>
      beat(board.path),
    );
    const told = ({ stderr, ...rest }: Answer) => ({
      ...rest,
      stderr: stderr.replace(/; name a file that this user.*/, ''),
    });
    t.strictSame(told(c as Answer), told(ts as Answer), argv.join(' '));
    return raw;
  };
  const rows: [argv: string[], stdout: string, absent?: string][] = [
    [['--with-state'], 'cn7 left\nn1 live\nn2 live\nn10 live\nn11 live\ns1 silent\nv1 never\n'],
    [['--with-state', '-s', 'silent,left'], 'cn7 left\ns1 silent\n'],
    [['--with-state', '-w', 'n10,x,n2'], 'n2 live\nn10 live\n', 'x'],
    [['--names', names, '-s', 'left'], 'CN-7\n'],
    [['--names', names, '-e', '-s', 'live'], 'n1\nn2.example.org\nn10\nyy\n'],
    [['--names', names, '-w', 'N1,N10,n2.example.org,CN-7'], 'CN-7,N[1,10],n2.example.org\n'],
    [['-w', 'S1,CN-7,zz', '--with-state', '--names', names], 'CN-7 left\nS1 silent\nzz live\n'],
    [['--names', names, '-w', 'N1,n1,n2,Other+1,Absent', '-s', 'live'], 'N1,n2\n', 'Absent,Other+1'],
    [['--names', names, '-w', 'N[1-2]', '--count'], '2\n'],
  ];
  for (const [argv, stdout, absent] of rows) {
    const stderr = absent === undefined ? '' : `beoboard-nodes: not on the board: ${absent}\n`;
    t.strictSame(await nodes(...argv), { code: absent === undefined ? 0 : 1, stdout, stderr }, argv.join(' '));
  }
  const list = join(folder(t), 'list');
  writeFileSync(list, 'CN-7 # the old one\nS1\n');
  t.match(await nodes('--names', names, '-w', `@${list}`), { code: 0, stdout: 'CN-7,S1\n' });
  t.match(await nodes('-w', 'N1'), { code: 2, stderr: /upper-case 'N'/ }, 'without --names as ever');
  const odd = join(folder(t), 'odd');
  for (const [text, says] of [
    ['CN-7\n', /--names: \S+:1: two names are wanted; /],
    ['a b\na c\n', /--names: \S+: a is there twice, as b and c; /],
    ['a \u001b[2J\n', /--names: \S+:1: '\\u\{1b\}\[2J' is not a name; /],
  ] as const) {
    writeFileSync(odd, text);
    chmodSync(odd, 0o644);
    t.match(await nodes('--names', odd), { code: 2, stdout: '', stderr: says });
  }
  chmodSync(odd, 0o666);
  t.match(await nodes('--names', odd), { code: 2, stderr: /--names: cannot read .*: others than its owner can write/ });
  for (const way of ['expand', 'fold', 'count'])
    t.match(await nodes('--with-state', `--${way}`), {
      code: 2,
      stderr: `beoboard-nodes: --${way} and --with-state do not go together; leave one out\n`,
    });
  stall(board, 60);
  const stalled = await askBoth({ verb: 'nodes', argv: ['--board', board.path, '--with-state', '-w', 'n1,s1'] });
  t.strictSame(stalled.c, stalled.ts, 'stalled');
  t.match(stalled.raw, { code: 4, stdout: 'n1 unknown\ns1 unknown\n', stderr: /nothing is known about nodes/ });
});

t.test('problems that are recent', async t => {
  const valid = validOf('vmstat', 'throttle', 'edac', 'gpu_errors', 'gpu', 'hung_tasks');
  const lasting = { interval_ms: 600_000, valid };
  const rises =
    (field: string, ...when: number[]) =>
    (ago: number) => ({ ...lasting, [field]: when.filter(moment => ago <= moment).length });
  const { path } = writtenBoard(t, {
    hot1: rises('throttle_events', 90, 60, 30, 0),
    hot2: rises('throttle_events', 50),
    hot3: ago => ({ ...rises('throttle_events', 40)(ago), flags: Number(ago === 0) << bits.flags.goodbye }),
    killed: rises('oom_kills', 70),
    now: rises('oom_kills', 70, 0),
    stuck: rises('hung_tasks', 20),
    held: ago => ({ ...lasting, flags: Number(ago > 20) << bits.flags.held }),
    freed: ago => ({ ...lasting, flags: Number(ago > 90) << bits.flags.held }),
    again: ago => ({ ...lasting, flags: Number(ago > 80 || (ago > 5 && ago < 10)) << bits.flags.held }),
    [`odd-${'x'.repeat(50)}`]: rises('edac_ce', 10),
    xid: rises('gpu_errors', 0),
  });
  await compare(t, 'recent problems', path, () => beat(path));
  const all = [
    ...[[], ['none'], ['oom'], ['held,ecc'], ['oom,'], ['omm'], ['none,oom'], ['']].map(list =>
      list.flatMap(names => ['--recent', names]),
    ),
    ...[['--ignore', 'throttled,hung_tasks'], ['--nodes', 'hot1,hot2,killed,x'], ['-w', '3'], ['--recent']],
  ];
  for (const argv of all) {
    const { c, ts } = await askBoth({ verb: 'check', argv: [...argv, '--board', path] }, () => beat(path));
    t.strictSame(c, ts, argv.join(' '));
  }
  const { c } = await askBoth({ verb: 'check', argv: ['--board', path, '--ignore', 'ecc'] }, () => beat(path));
  t.match(
    (c as Answer).stdout,
    '1 gpu_errors (xid), 1 oom (now), 1 throttled (hot1); recent: 2 held (again,held; 3 times in AGE, last AGE ago), ' +
      '1 oom (killed; last AGE ago), 1 hung_tasks (stuck; last AGE ago), 1 throttled (hot2; last AGE ago) |',
  );
});

t.test('problems and sources that are not measured any more', async t => {
  const sets = validOf('health', 'gpu', 'gpu_errors', 'root');
  const bad = enums.health.indexOf('bad');
  const past = (set: 'health' | 'gpu', from: number, values: Encodable<'report'>) => (ago: number) => ({
    ...{ interval_ms: 10_000, valid: ago <= from ? sets & ~validOf(set) : sets, ...values },
  });
  const { path } = writtenBoard(t, {
    brief: past('health', 30, { health: bad }),
    long: past('health', 70, { health: bad }),
    file: past('health', 70, {}),
    file2: past('health', 80, {}),
    just: past('health', 30, {}),
    helper: past('gpu', 75, {}),
  });
  const ask = async (...argv: string[]) => {
    const { c, ts } = await askBoth({ verb: 'check', argv: [...argv, '--board', path] }, () => beat(path));
    t.strictSame(c, ts, argv.join(' '));
    return c as Answer;
  };
  t.match(await ask(), {
    code: 1,
    stdout:
      '6 nodes, 6 live; recent: 1 bad_health (brief; last AGE ago); not measured any more: 1 bad_health (long; not measured since AGE ago), ' +
      '2 health (file,file2; not measured since AGE ago), 1 gpu (helper; not measured since AGE ago) |',
  });
  t.match(await ask('--ignore', 'bad_health'), { code: 0, stdout: /6 nodes, 6 live; not measured any more: 2 health/ });
  t.match(await ask('--nodes', 'just'), { code: 0, stdout: /OK: 1 node, 1 live \|/ });
  t.match(await ask('--health', 'off'), { code: 0, stdout: /OK: 6 nodes, 6 live \|/ });
});

t.test('journals that do not write', async t => {
  const board = makeBoard(t, { live: ['n001'] });
  const elsewhere = makeBoard(t, { live: ['n001'] });
  const link = `${board.path}.link`;
  symlinkSync(board.path, link);
  const odd = `${board.path} "ä\\n%41`;
  symlinkSync(board.path, odd);
  const mono = () => Number(monotonicNs() / 1_000_000n);
  const state = (values: Partial<JournalState> = {}): JournalState => ({
    ...{ schema: 1, board: board.path, journal_dir: '/var/log/beoboard/default', pid: 1 },
    ...{ time_ms: Date.now(), mono_ms: mono(), next_ms: mono() + 3_600_000, ...values },
  });
  const failed = { error: 'cannot write', error_since_ms: Date.now() - 120_000 };
  const stopped = { mono_ms: mono() - 90_000, next_ms: mono() - 80_000, time_ms: Date.now() - 90_000 };
  const unwritten = (why: string, lost = 0) =>
    `the journal of this board has not been written since TIME (AGE): ${why}; lines lost so far: ${lost}`;
  const has = (name: string) =>
    `the journal of this board has stopped: it last ran at TIME (AGE); see systemctl status beoboard-journal@${name}`;
  const rows: [journals: Record<string, JournalState>, says?: string | undefined, mode?: number][] = [
    [{}],
    [{ a: state() }],
    [{ a: state(failed) }, unwritten('cannot write')],
    [{ a: state({ ...failed, dropped: 17, last_id: 'x', times_hour: { silent: 3 } }) }, unwritten('cannot write', 17)],
    [{ a: state(stopped) }, has('a')],
    [{ b: state({ ...stopped, ...failed }), a: state(failed) }, `${unwritten('cannot write')}; ${has('b')}`],
    [{ a: state({ mono_ms: mono() + 1e9, next_ms: mono() + 2e9 }) }, has('a')],
    // Written after the look at the board.
    [{ a: state({ mono_ms: mono() + 10_000.5 }) }],
    [{ a: state({ ...failed, board: link }) }, unwritten('cannot write')],
    [{ a: state({ ...failed, board: odd }) }, unwritten('cannot write')],
    [{ a: state({ ...failed, board: `${board.path}\0` }) }],
    [{ a: state({ ...failed, board: elsewhere.path }) }],
    [{ a: state({ ...failed, board: `${board.path}x` }) }],
    [{ a: state(failed) }, undefined, 0o646],
    [
      { a: state({ ...failed, error: '\x1b[2J é|😀 "\\/%41\b\f\n\r\t' }) },
      unwritten('\\u{1b}[2J é/😀 "\\/%41\\u{8}\\u{c}\\u{a}\\u{d}\\u{9}'),
    ],
    [{ a: state({ ...failed, error: 'ä'.repeat(201) }) }, unwritten(`${'ä'.repeat(199)}…`)],
    [{ a: state({ ...failed, error: 'ä'.repeat(200) }) }, unwritten('ä'.repeat(200))],
    [{ a: state({ ...failed, error: 'x'.repeat(65_536) }) }],
    [{ '.a': state(failed), 'a b': state(failed) }],
  ];
  for (const [journals, says, mode] of rows) {
    const run = folder(t);
    for (const [name, contents] of Object.entries(journals)) {
      writeState(run, name, contents);
      chmodSync(join(run, `${name}.json`), mode ?? 0o644);
    }
    const argv = ['--board', board.path, '--journal-run', run];
    const { c, ts } = await askBoth({ verb: 'check', argv }, () => beat(board.path));
    const what = JSON.stringify(journals).slice(0, 300);
    t.strictSame(c, ts, what);
    const { code, stdout } = c as Answer;
    const said = says === undefined ? '' : `; ${says}`;
    t.ok(
      stdout.startsWith(`BEOBOARD ${says === undefined ? 'OK' : 'WARNING'}: 1 node, 1 live${said} | `),
      `${what}: ${stdout}`,
    );
    t.equal(code, says === undefined ? 0 : 1);
  }
  const run = folder(t);
  writeState(run, 'a', state(failed));
  const whole = readFileSync(join(run, 'a.json'), 'utf8');
  renameSync(join(run, 'a.json'), join(run, 'real'));
  symlinkSync('real', join(run, 'a.json'));
  mkdirSync(join(run, 'b.json'));
  execFileSync('mkfifo', [join(run, 'c.json')]);
  if (ROOT_USER) {
    writeFileSync(join(run, 'd.json'), whole);
    chownSync(join(run, 'd.json'), NOBODY, NOBODY);
  }
  const { c, ts } = await askBoth({ verb: 'check', argv: ['--board', board.path, '--journal-run', run] }, () =>
    beat(board.path),
  );
  t.strictSame(c, ts, 'what nobody believes, and what nobody waits for');
  t.match(c, { code: 0 });
  // A journal of 1.0.0 leaves no plain line; others are not understood.
  const lines = whole.match(/(?<="plain":").*(?=")/)?.[0].split(' ') ?? [];
  t.equal(lines.length, 7);
  const changed = lines.flatMap((_, i) =>
    i === 0 ? [] : [lines.with(i, '-1'), lines.with(i, '%4'), lines.slice(0, i)],
  );
  const broken = [
    `${JSON.stringify(JSON.parse(whole, (key, value) => (key === 'plain' ? undefined : value)))}\n`,
    whole.replace('\n', ''),
    whole.trimEnd(),
    whole.slice(0, -4),
    '',
    ...changed
      .filter(words => words.length !== 4 && words[6] !== '-1')
      .map(words => whole.replace(lines.join(' '), words.join(' '))),
  ];
  for (const contents of broken) {
    const one = folder(t);
    writeFileSync(join(one, 'a.json'), contents);
    beat(board.path);
    const answer = await askC({ verb: 'check', argv: ['--board', board.path, '--journal-run', one] });
    t.match(answer, { code: 0, stdout: 'BEOBOARD OK: 1 node, 1 live |' }, contents);
  }
});

/** Eight nodes and two links; the test sets the rest. */
function sheet(t: Teardown, spoil: (b: Sheet) => void): { path: string; live: () => void } {
  const b = new Sheet();
  for (const name of ['node3', 'node4', 'node5', 'node6', 'node7', 'node8']) b.node(name, 1);
  spoil(b);
  const path = boardPath(t);
  writeFileSync(path, b.bytes, { mode: 0o644 });
  return { path, live: () => pulse(path, true) };
}

t.test('nodes as which two machines report', async t => {
  const v4 = (last: number) => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, last];
  const six = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
  const other = (name: string, from: string, forged = ', or somebody forges reports') =>
    `${name}: two machines report as one since TIME \\(AGE\\), ${from}: one is a copy of the other with its memory${forged}; ` +
    'either can fail unnoticed: stop one, or give it its own name';
  const first = other('node1', '10.0.0.7 and 10.0.0.8');
  const rows: [nodes: number, last: number, argv: string[], says: string | undefined, spoil?: (b: Sheet) => void][] = [
    [1, 1, [], first],
    [1, 59, [], first],
    [1, 61, [], undefined, b => b.report(0, 0, { interval_ms: 1000 })],
    [1, 61, [], first, b => b.report(0, 0, { interval_ms: 2000 })],
    [1, 1, ['--nodes', 'node2'], undefined],
    [1, 1, ['--nodes', 'node1,node2'], first],
    [1, 1, [], other('node1', 'both from 10.0.0.7'), b => b.memory(0, { clone_other: v4(7) })],
    [1, 1, [], other('node1', '10.0.0.7 and fd00::7'), b => b.memory(0, { clone_other: six })],
    [1, 1, [], other('node1', '10.0.0.7 and 10.0.0.8', ''), b => b.record(0, { order_proved: 2n })],
    [1, 1, [], undefined, b => b.memory(0, { clone_tail: 4n })],
    [1, 1, [], undefined, b => b.header({ memory_bytes: 48 })],
    [3, 1, [], `${first}; node2: .*; node3: .* its own name`],
    [4, 1, [], `${first}; node2: .*; node3: .* its own name; two machines report as each of 1 more \\(node4\\)`],
    [8, 1, [], 'node3: .* its own name; two machines report as each of 5 more \\(node\\[4-8\\]\\)'],
  ];
  for (const [nodes, last, argv, says, spoil] of rows) {
    const { path, live } = sheet(t, b => {
      const times = { clone_since_ns: b.ago(120), clone_ns: b.ago(last) };
      for (let i = 0; i < nodes; i++)
        b.memory(i, { clone_head: 2n, ...times, clone_address: v4(7), clone_other: v4(8), clone_tail: 2n });
      b.header({ clone_ns: b.ago(last) });
      spoil?.(b);
    });
    const { c, ts } = await askBoth({ verb: 'check', argv: ['--board', path, ...argv] }, live);
    t.strictSame(c, ts);
    const { stdout } = c as Answer;
    if (says === undefined) t.notMatch(stdout, /two machines/);
    else t.match(stdout, new RegExp(`^BEOBOARD WARNING: .*${says} \\| `));
  }
});

t.test('other texts about links', async t => {
  const address = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1];
  const six = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
  const rows: [what: string, values: Parameters<Sheet['link']>[1], ago?: number][] = [
    ['down', { state: 0n, nodes: 8 }, 200_000],
    ['down, with one node', { state: 0n, nodes: 1 }, 5],
    ['gone', { state: 2n, nodes: 8 }, 90],
    ['elsewhere', { state: 2n, name: 'other namespace', nodes: 8 }, 90],
    ['elsewhere, of one', { state: 2n, name: 'other namespace', nodes: 1 }, 90],
    ['another address', { state: 4n, nodes: 8, address, port: 8677 }, 3700],
    ['of the other kind', { state: 4n, nodes: 8, address: six }, 3700],
    ['none that is known', { state: 4n, nodes: 8, address: new Array(16).fill(0) }, 3700],
    ['a name that steers', { state: 0n, name: '\x1b[2J', nodes: 2 }, 1],
  ];
  for (const [what, values, ago = 1] of rows) {
    const { path, live } = sheet(t, b => b.link(1, { ...values, changed_ns: b.ago(ago) }));
    for (const verb of ['nodes', 'check'] as const) {
      const { c, ts } = await askBoth({ verb, argv: ['--board', path] }, live);
      t.strictSame(c, ts, `${what}, ${verb}`);
      t.match(`${(c as Answer).stdout}${(c as Answer).stderr}`, /no reports from|is unknown until/);
    }
  }
  // Times of day come from the wall clock: the two may differ by a second.
  const { path, live } = sheet(t, b => b.link(1, { state: 0n, changed_ns: b.ago(90) }));
  live();
  const [c, ts] = await Promise.all([
    askC({ verb: 'nodes', argv: ['--board', path] }),
    askHere({ verb: 'nodes', argv: ['--board', path] }),
  ]);
  const [when, here] = [c, ts].map(({ stderr }) => /down since ([\d:]+) \(1m/.exec(stderr)?.[1] ?? '');
  const [one, other] = [when, here].map(time => Date.parse(`2026-11-22T${time}Z`));
  t.ok(Math.abs((one ?? 0) - (other ?? 0)) % 86_399_000 <= 1000, `${when} and ${here}`);
});

t.test('refusals', async t => {
  const reason = (name: string) => enums.reason.indexOf(name as 'clock');
  /** Makes a node silent, with its last report a minute ago and later reports rejected. */
  const refuse = (b: Sheet, node: number, why: string, ago: number, offsetUs = 0) => {
    b.bytes.fill(0, b.slotAt(node, 1), b.slotAt(node, 2));
    b.slot(node, 0, { stamp_ns: b.ago(60) });
    b.report(node, 0, { interval_ms: 1000 });
    b.word(node, b.ago(60), 1000);
    b.record(node, { refusal_reason: reason(why), refusal_ns: b.ago(ago), refusal_offset_us: BigInt(offsetUs) });
  };
  const from = (last: number) => [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, last];
  const send = (b: Sheet, why: string, at: number, last: number, name: string, ago: number, count = 1) =>
    b.sender(8 * reason(why) + at, {
      ...{ head: 2n, tail: 2n, name, count, address: from(last) },
      ...{ first_ns: b.ago(ago + 3), last_ns: b.ago(ago), last_real_ns: 0n },
    });
  const boards: [what: string, spoil: (b: Sheet) => void, says: RegExp][] = [
    ...[
      ...['clock', 'rival', 'replay', 'interval', 'range', 'reserved', 'auth_missing', 'tag', 'full'].map(
        why => [why, 30_000] as const,
      ),
      ...[0, 250_000, -250_000, 750_000, 350_000, 2_250_000, -59_949_999, 60_000_000, -7_200_000_000].map(
        us => ['clock', us] as const,
      ),
    ].map(([why, us]): [string, (b: Sheet) => void, RegExp] => [
      `${why}, ${us} us`,
      b => {
        b.evidence(1, { listening_since_ns: 1n });
        refuse(b, 1, why, 2, us);
      },
      /node2 is silent; reports in its name are rejected, /,
    ]),
    [
      'of several nodes, and of several states and reasons',
      b => {
        b.evidence(1, { listening_since_ns: 1n });
        for (const node of [1, 2, 3]) refuse(b, node, 'clock', node, 1_000_000 * node);
        refuse(b, 4, 'rival', 5);
        refuse(b, 5, 'rival', 70);
        refuse(b, 6, 'late', 1);
        b.record(7, { refusal_reason: reason('clock'), refusal_ns: b.ago(1) });
      },
      /node\[2-4\] are silent; reports in their names are rejected, clocks up to 3\.0 s off, the last AGE ago; they may be recordings/,
    ],
    [
      'who claims the name of another',
      b => {
        b.evidence(1, { listening_since_ns: 1n });
        refuse(b, 1, 'late', 2);
        refuse(b, 2, 'late', 2);
        send(b, 'tag', 0, 9, 'node2', 5, 7);
        send(b, 'tag', 1, 9, 'node3', 2, 1);
        send(b, 'tag', 2, 8, 'other', 1);
        send(b, 'key_id', 0, 7, 'node2', 90);
        send(b, 'auth_missing', 0, 7, 'node2', 3);
        for (let i = 0; i < 8; i++) send(b, 'key_id', i, 6, `node${i + 2}`, 4);
      },
      /10\.0\.0\.9 sends reports with false signatures under 2 names \(node\[2-3\]\), 8 times in AGE, the last AGE ago/,
    ],
  ];
  for (const [what, spoil, says] of boards) {
    const { path, live } = sheet(t, spoil);
    for (const verb of ['nodes', 'check'] as const) {
      const { c, ts } = await askBoth({ verb, argv: ['--board', path] }, live);
      t.strictSame(c, ts, `${what}, ${verb}`);
      t.match(`${(c as Answer).stdout}${(c as Answer).stderr}`, says);
    }
  }
  const { path, live } = sheet(t, b => send(b, 'tag', 0, 9, 'stranger', 1));
  const { c, ts } = await askBoth({ verb: 'nodes', argv: ['--board', path, '-w', 'node1,stranger'] }, live);
  t.strictSame(c, ts, 'a name that is not on the board may be claimed, too');
  t.match((c as Answer).stderr, /under the name stranger/);
});

t.test('reports that come in pieces, and are not joined', async t => {
  const rows: [values: Parameters<Sheet['link']>[1], seconds: number, says: string | undefined][] = [
    [
      { state: 9n, nodes: 2 },
      61,
      'reports of 2 nodes arrive as such (link eth7, in pieces), and they cannot be called silent',
    ],
    [
      { state: 9n, nodes: 1 },
      120,
      'reports of 1 node arrive as such (link eth7, in pieces), and it cannot be called silent',
    ],
    [{ state: 9n, nodes: 2 }, 59, undefined],
    [{ state: 9n, nodes: 0 }, 90, undefined],
    [{ state: 1n, nodes: 2 }, 90, undefined],
  ];
  for (const [values, seconds, says] of rows) {
    const { path, live } = sheet(t, b => b.link(1, { name: 'eth7', ...values, unjoined_since_ns: b.ago(seconds) }));
    const { c, ts } = await askBoth({ verb: 'check', argv: ['--board', path] }, live);
    t.strictSame(c, ts);
    if (says === undefined) t.notMatch((c as Answer).stdout, 'failed to join');
    else t.match(c, { code: 1, stdout: says });
  }
  const lasting = sheet(t, b => b.link(1, { name: 'eth7', state: 9n, nodes: 2, unjoined_since_ns: b.ago(61) }));
  lasting.live();
  const reader = new BoardReader(lasting.path);
  t.teardown(() => reader.close());
  const told = anomalies(survey(reader.snapshot())).filter(({ text }) => text.includes('failed to join'));
  t.equal(told.length, 1, 'status says it once');
  const { path, live } = sheet(t, b => b.link(1, { name: 'eth7', state: 8n, nodes: 3, changed_ns: b.ago(9) }));
  const { c, ts } = await askBoth({ verb: 'nodes', argv: ['--board', path] }, live);
  t.strictSame(c, ts);
  t.match((c as Answer).stderr, /eth7, in pieces is down since/);
});

t.test('a full board', async t => {
  const FULL = enums.reason.indexOf('full');
  for (const [names, ago, says] of [
    [['n1'], 2, 'and 1 other reports (n1); give the receiver a higher --capacity, or forget nodes that are gone'],
    [['n1', 'n3', 'n1'], 59, 'and 2 others report (n[1,3])'],
    [['n1', 'n2', 'n3', 'a', 'b', 'c', 'd', 'e'], 1, 'and 8 or more others report ('],
    [['n1'], 61, undefined],
  ] as const) {
    const { path, live } = sheet(t, b => {
      b.header({ capacity: 8, count: 8 });
      for (const [i, name] of names.entries())
        b.sender(8 * FULL + i, {
          ...{ head: 2n, tail: 2n, name, count: 1, address: new Array(16).fill(0) },
          ...{ first_ns: b.ago(ago + 3), last_ns: b.ago(ago), last_real_ns: 0n },
        });
    });
    const { c, ts } = await askBoth({ verb: 'check', argv: ['--board', path] }, live);
    t.strictSame(c, ts);
    const text = (c as Answer).stdout;
    if (says === undefined) t.notMatch(text, 'full');
    else t.match(text, `; the board is full: it has room for 8 nodes, ${says}`);
  }
});

t.test('a stalled board, and one that was ended', async t => {
  const board = makeBoard(t, { live: ['n001', 'h1'], silent: ['s1'] });
  unborn(board);
  await compare(t, 'no heartbeat yet, as of a mirror that follows nobody', board.path);
  t.match(
    (await askHere({ verb: 'check', argv: ['--board', board.path] })).stdout,
    /^BEOBOARD UNKNOWN: the receiver is stalled, it has no heartbeat yet: nothing is known about nodes\n$/,
  );
  const { stdout } = await runHere(['status', '--json', '--board', board.path]);
  const { board: told } = JSON.parse(stdout);
  t.notOk('heartbeat_age_ms' in told, 'nor an age of one');
  stall(board, 70);
  await compare(t, 'stalled', board.path);
  board.writer.close();
  stall(board, 101);
  await compare(t, 'ended', board.path, undefined, 3);
  const mirror = makeBoard(t, { live: ['n001', 'h1'], silent: ['s1'] });
  mirrored(mirror);
  stall(mirror, 70);
  await compare(t, "a mirror's, stalled", mirror.path);
  const here = async (...argv: string[]) => (await runHere([...argv, '--board', mirror.path])).stdout;
  t.match(
    await here('check'),
    /UNKNOWN: nothing new comes from the master, its heartbeat is 1m\d+s old: nothing is known/,
  );
  const { trouble } = JSON.parse(await here('status', '--json'));
  t.equal(trouble[0].what, 'nothing new comes from the master: the state of nodes is unknown');
  mirror.writer.close();
  await compare(t, "a mirror's, ended", mirror.path, undefined, 3);
  t.match(await here('check'), /UNKNOWN: the mirror was stopped, /);
});

/** 64-bit words that are not exact as JavaScript numbers: no receiver writes them. */
const BEYOND_NUMBERS = ['link-state-ones', 'link-ones'];

t.test('every board that can be read, and every one that cannot', async t => {
  const place = folder(t);
  const all = groups.flatMap(([, boards]) => boards).filter(({ ordinary, root }) => !ordinary && (!root || ROOT_USER));
  // `sparse-many` has 16 million records, and reading a name maps a page of shared memory for each: more than this
  // machine has.
  const compared = all.filter(({ name }) => name !== 'sparse-many' && !BEYOND_NUMBERS.includes(name));
  const boards = partOf(compared, 20, SEED, 3);
  const differ: unknown[] = [];
  let answered = 0;
  const look = async (board: BrokenBoard, question: Question) => {
    const path = question.argv[1] ?? '';
    const { c, ts } = await askBoth(question, () => {
      if (board.beats !== false) pulse(path, board.beats === true);
    });
    answered += (c as Answer).code === 0 ? 1 : 0;
    if (JSON.stringify(c) !== JSON.stringify(ts)) differ.push([board.name, question.argv.slice(2), c, ts]);
  };
  for (const [i, board] of boards.entries()) {
    const within = join(place, board.name);
    mkdirSync(within);
    const path = await make(board, within);
    const options = ['--board', path, ...(board.options ?? [])];
    await look(board, { verb: i % 2 === 0 ? 'check' : 'nodes', argv: options });
  }
  t.strictSame(differ, []);
  t.ok(answered > boards.length / 15 && compared.length > 200, `${answered} answers of ${boards.length} boards`);
});

t.test('invalid command lines', async t => {
  const file = (name: string, text: string | Buffer) => {
    const path = join(place, name);
    writeFileSync(path, text);
    return path;
  };
  const place = folder(t);
  const pipe = join(place, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const none = join(place, 'none');
  const both: string[][] = [
    ['--foo'],
    ['--noeds', 'n1'],
    ['--boards', 'x'],
    ['-nodes', 'x'],
    ['-x'],
    ['--nodes'],
    ['--nodes', '--board'],
    ['--nodes', '--config'],
    ['--nodes', 'a', '--nodes=b', '--nodes', 'c'],
    ['extra'],
    ['--', '--nodes'],
    [''],
    ['-'],
    ['--board', ''],
    ['--owner', 'a b'],
    ['--owner', '4294967295'],
    ['--owner', '-x'],
    ['--owner', ''],
    ['--owner', '$'],
    ['--owner', 'nobody-of-that-name'],
    ['--owner', '1234'],
    ['--nodes', '@'],
    ['--nodes', `@${none}`],
    ['--nodes', `@${place}`],
    ['--nodes', `@${pipe}`],
    ['--nodes', '@/dev/zero'],
    ['--nodes', `@${place}/none/none`],
    ['--nodes', `@${file('empty', '# nothing\n\n')}`],
    ['--nodes', `@${file('bad', 'node1\n\n  node[1-x]\n')}`],
    ['--nodes', `@${file('wide', '\u3000\u00a0n1,N2 # x\n')}`],
    ['--nodes', `@${file('latin', Buffer.from([0x6e, 0xff, 0x0a]))}`],
    ['--nodes', `@${file('mark', '\uFEFFn[1-2]\n')}`],
    ['--nodes', `@${file('twice\u001b', 'n1\n]\n')}`],
    ...REFUSED.filter(([list]) => !list.includes('\0')).map(([list]) => ['--nodes', list]),
    ['--nodes', 'nöd\u{1f600}'],
    ['--nodes', `n[${'ö'.repeat(80)}]`],
    ['--nodes', `n[${'x'.repeat(56)}😀${'y'.repeat(20)}]`],
    ['--nodes', 'n[1-\u{1f600}]'],
    ['--nodes', 'n\u00a0'],
  ];
  const rows: [verb: VerbName, argv: string[]][] = [
    ...both.flatMap((argv): [VerbName, string[]][] => [
      ['nodes', argv],
      ['check', [...argv, '--fail', 'closed']],
    ]),
    ...[
      ['--state', 'dead'],
      ['--state', 'slient'],
      ['--state', 'LIVE'],
      ['--state', ''],
      ['--state', 'live,,silent'],
      ['--state', 'uncrtn'],
      ['--fold', '--expand'],
      ['--count', '--fold'],
      ['-ec'],
      ['-expand'],
      ['-eö'],
      ['--count=yes'],
      ['--healthy', '--wth', 'x'],
    ].map((argv): [VerbName, string[]] => ['nodes', argv]),
    ...[
      ['--fail', 'never'],
      ['--fail'],
      ['--fail='],
      ['--fail', 'open', '--fail', 'closed'],
      ['--fail=closed', '--x'],
      ['--warning', 'many'],
      ['--warning', '-1'],
      ['-w', '1234567890'],
      ['--critical', '200%'],
      ['--critical', '5%%'],
      ['--health', 'no'],
      ['--ignore', 'held,root_ro'],
      ['--ignore', 'nothing'],
      ['--ignore', ''],
    ].map((argv): [VerbName, string[]] => ['check', argv]),
  ];
  const differ: unknown[] = [];
  for (const [verb, argv] of partOf(rows, 4, SEED, 2)) {
    const full = argv.includes('--board') || argv[0] === '--' ? argv : ['--board', none, ...argv];
    const { c, ts } = await askBoth({ verb, argv: full });
    if (
      JSON.stringify(c).replaceAll(/see beoboard (nodes|check) --help/g, 'HELP') !==
      JSON.stringify(ts).replaceAll(/see beoboard (nodes|check) --help/g, 'HELP')
    )
      differ.push([verb, argv, c, ts]);
  }
  t.strictSame(differ, []);
  for (const owner of ['a b', 'nobody-of-that-name', '', '1234'])
    for (const verb of ['nodes', 'check'] as const) {
      const { c, ts } = await askBoth({ verb, argv: ['--board', none], owner });
      t.strictSame(c, ts, `BEOBOARD_OWNER=${owner}`);
    }
});

t.test('options that only the other program has are rejected by name', async t => {
  const board = makeBoard(t, { live: ['n001'] });
  const rows: [verb: VerbName, option: string][] = [
    ...['where', 'job-id', 'user', 'for', 'slurm-dir', 'config'].map((option): [VerbName, string] => ['nodes', option]),
    ...['where', 'setup', 'slurm-dir', 'config'].map((option): [VerbName, string] => ['check', option]),
  ];
  for (const [verb, option] of rows) {
    const { code, stdout, stderr } = await askC({ verb, argv: ['--board', board.path, `--${option}`, 'x'] });
    const says = `beoboard-${verb}: --${option} is only in beoboard ${verb}; use beoboard ${verb} --${option}`;
    if (verb === 'nodes') t.strictSame([code, stdout, stderr], [2, '', `${says}\n`]);
    else t.strictSame([code, stdout, stderr], [3, `BEOBOARD UNKNOWN: ${says}\n`, '']);
  }
  // Every option of the other program is either accepted or rejected by name, so that a new option of it is not
  // forgotten here.
  for (const { name, options, letters = {} } of [nodesVerb, checkVerb]) {
    const { stdout: help, code } = await askC({ verb: name as VerbName, argv: ['--x', '--help'] });
    t.equal(code, 0);
    const left = rows.filter(([verb]) => verb === name).map(([, option]) => option);
    for (const option of options) {
      const [letter] = Object.entries(letters).find(([, meant]) => meant === option) ?? [];
      if (left.includes(option)) t.ok(help.includes(`--${option}`), `${name}: --${option} is told to be left out`);
      else
        t.match(
          help,
          new RegExp(`^  ${letter === undefined ? '' : `-${letter}, `}--${option}\\b`, 'm'),
          `${name}: --${option}`,
        );
    }
    t.ok(help.split('\n').every(line => line.length < 160));
  }
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  for (const verb of ['nodes', 'check'] as const)
    t.strictSame(await askC({ verb, argv: ['--nodes', 'x', '-V'] }), { code: 0, stdout: `${version}\n`, stderr: '' });
});

t.test('the default board', async t => {
  // Whatever is at the default path: both read it.
  for (const verb of ['nodes', 'check'] as const) {
    const { c, ts } = await askBoth({ verb, argv: ['--nodes', 'surely-nobody'] });
    t.strictSame((c as Answer).code, (ts as Answer).code);
    t.strictSame((c as Answer).stderr, (ts as Answer).stderr);
  }
});

t.test('another board takes its place', async t => {
  const [old, other] = [makeBoard(t, { live: ['n001'] }), makeBoard(t, { live: ['n002'] })];
  stall(old, 60);
  const path = boardPath(t);
  renameSync(old.path, path);
  renameSync(other.path, path);
  keepAlive(t, path);
  t.strictSame(await askC({ verb: 'nodes', argv: ['--board', path] }), { code: 0, stdout: 'n002\n', stderr: '' });
});

t.test('a board that is cut while it is read', async t => {
  const plain = compile(t, DYNAMIC);
  const cutter = testProgram('test/cutshort.so');
  const why = 'PATH: was cut while it was read; restart beoboard receive: it makes another';
  const rows: [verb: VerbName, argv: string[], answer: Answer][] = [
    ['nodes', [], { code: 4, stdout: '', stderr: `beoboard-nodes: ${why}\n` }],
    ['check', [], { code: 3, stdout: `BEOBOARD UNKNOWN: ${why}\n`, stderr: '' }],
    ['check', ['--fail', 'open'], { code: 0, stdout: `BEOBOARD OK: ${why}; fails open\n`, stderr: '' }],
    ['check', ['--fail=closed'], { code: 2, stdout: `BEOBOARD CRITICAL: ${why}; fails closed\n`, stderr: '' }],
  ];
  for (const [verb, argv, answer] of rows) {
    const board = makeBoard(t, { live: numbered(2000) });
    beat(board.path);
    board.writer.close();
    const under = ['env', `LD_PRELOAD=${cutter}`, `CUT_SHORT=${board.path}`];
    const { code, stdout, stderr } = await askC({ verb, argv: ['--board', board.path, ...argv] }, plain, under);
    const [out, err] = [stdout, stderr].map(text => text.replaceAll(board.path, 'PATH'));
    t.strictSame({ code, stdout: out, stderr: err }, answer);
  }
});

t.test('stdin, stdout and stderr may be closed, full or gone', async t => {
  const board = makeBoard(t, { live: numbered(10), silent: ['s001'] });
  keepAlive(t, board.path);
  const shell = async (line: string, program: string, ...argv: string[]) => {
    const child = spawn('sh', ['-c', line, program, ...argv, '--board', board.path], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = follow(child);
    return [await said.exit, said.all.replaceAll(/beoboard[ -](nodes|check)?/g, 'beoboard')];
  };
  const here = (verb: string) => [process.execPath, PROGRAM, verb] as const;
  for (const how of partOf(['<&- >&- 2>&-', '2>&-', '>&-', '<&-', '>/dev/full', '2>/dev/full'], 3, SEED))
    for (const [verb, ...argv] of [['nodes', '-w', 'n001,x'], ['check']] as const) {
      const [node = '', ...program] = here(verb);
      const c = await shell(`exec "$0" "$@" ${how}`, join(BUILT, `beoboard-${verb}`), ...argv);
      const ts = await shell(`exec "$0" "$@" ${how}`, node, ...program, ...argv);
      t.strictSame(c, ts, `${how}: ${verb}`);
    }
  // `yes` ends when the reader of the pipe is gone.
  for (const verb of ['nodes', 'check'])
    t.strictSame(
      await shell('{ yes 2>&-; "$0" "$@"; echo $? >&2; } | exec 0<&-', join(BUILT, `beoboard-${verb}`)),
      [0, '0\n'],
      `nobody reads ${verb}: an end, and no error`,
    );
});

t.test(
  'out of memory, each says so in its usual form',
  { skip: NOT_WHOLE || lacks('musl-tools', 'musl-gcc') },
  async t => {
    const built = compile(t, INSTALLED);
    const shell = (kib: number, program: string, ...argv: string[]) => {
      const line = `ulimit -v ${kib}; exec "$0" "$@"`;
      const { status, stdout, stderr } = spawnSync('sh', ['-c', line, join(built, program), ...argv], {
        encoding: 'utf8',
      });
      return [status, stdout, stderr];
    };
    const list = ['--nodes', 'n[1-1000000]', '--board', '/nowhere'];
    t.same(shell(20_000, 'beoboard-nodes', ...list), [2, '', 'beoboard-nodes: --nodes: out of memory\n']);
    const poor = ['--board', '/nowhere'];
    t.same(shell(1000, 'beoboard-nodes', ...poor), [74, '', 'beoboard-nodes: out of memory\n']);
    t.same(shell(1000, 'beoboard-check', ...poor), [3, 'BEOBOARD UNKNOWN: out of memory\n', '']);
    t.same(shell(1000, 'beoboard-check', '--fail', 'open', ...poor), [
      0,
      'BEOBOARD OK: out of memory; fails open\n',
      '',
    ]);
    t.same(shell(1000, 'beoboard-check', '--fail=closed', ...poor), [
      2,
      'BEOBOARD CRITICAL: out of memory; fails closed\n',
      '',
    ]);
    // Memory is asked for when it is needed, and not for the largest file that there may be.
    const few = join(folder(t), 'names');
    writeFileSync(few, 'n1\n');
    for (const verb of ['beoboard-nodes', 'beoboard-check'])
      t.match(shell(8000, verb, '--nodes', `@${few}`, ...poor).join(), /nowhere/, `${verb}: a short file of names`);
    // A board that cannot be mapped.
    const { path } = makeBoard(t, { live: numbered(4000) });
    const refused = `${path}: Out of memory`;
    t.same(shell(8000, 'beoboard-nodes', '--board', path), [4, '', `beoboard-nodes: ${refused}\n`]);
    t.same(shell(8000, 'beoboard-check', '--board', path), [3, `BEOBOARD UNKNOWN: ${refused}\n`, '']);
  },
);

t.test('many nodes', async t => {
  const count = WHOLE ? 10_000 : 1000;
  const names = Array.from({ length: count }, (_, i) => `n${((i * 7919) % count) + 1}`);
  const board = makeBoard(t, { live: names.slice(0, -3), silent: names.slice(-3) });
  const list = join(folder(t), 'list');
  writeFileSync(list, 'n[1-4000]\nx[1-20]\nn[3000-9000]\n');
  for (const argv of [
    [],
    ['--expand'],
    ['--healthy', '--count'],
    ['-w', `@${list}`, '-e', '-s', 'live'],
    ['-s', 'silent'],
  ]) {
    const { c, ts } = await askBoth({ verb: 'nodes', argv: ['--board', board.path, ...argv] }, () => beat(board.path));
    t.ok(JSON.stringify(c) === JSON.stringify(ts), argv.join(' '));
    t.ok((c as Answer).stdout.length > 0);
  }
  const { c, ts } = await askBoth({ verb: 'check', argv: ['--board', board.path] }, () => beat(board.path));
  t.strictSame(c, ts);
});

t.test('a line with its figures has at most 1,023 bytes, as old NRPE passes on', async t => {
  const answers: string[] = [];
  const check = async (path: string, what: string, ...argv: string[]) => {
    const { c, ts, raw } = await askBoth({ verb: 'check', argv: ['--board', path, ...argv] }, () => beat(path));
    // Where the line is cut depends on how long the ages in it are.
    const begin = (answer: object) => {
      const { stdout } = answer as Answer;
      return stdout.slice(0, /…(; fails open)? \|/.test(stdout) ? 500 : undefined);
    };
    t.equal(begin(c), begin(ts), what);
    t.ok(Buffer.byteLength(raw.stdout) <= 1023, `${what}: ${Buffer.byteLength(raw.stdout)} bytes`);
    t.match(raw.stdout, / \| live=\d+;;;0;\d+ .* down=\d+;;[\d.]+;0;\d+\n$/, 'the figures are whole');
    answers.push(raw.stdout);
    return raw.stdout;
  };
  // Names of this length that cannot be folded, in five groups.
  for (const length of [2, 24, 30, 38, 62]) {
    const some = (group: string) => ['a', 'b', 'c', 'd', 'e', 'f'].map(one => group + one.repeat(length));
    const [silent, uncertain, never, held, unhealthy] = ['s', 'u', 'n', 'h', 'i'].map(some) as [
      string[],
      ...string[][],
    ];
    const board = makeBoard(t, { silent, uncertain, never, held, unhealthy } as Parameters<typeof makeBoard>[1]);
    await check(board.path, `names of ${length + 1}`);
  }
  const parts = answers.map(line => (/silent \((.*?)\)/.exec(line)?.[1] ?? '').split(',').length);
  t.same(parts, [5, 5, 4, 3, 2], 'as many names as there is room for');

  const all = ['oom_kills', 'hung_tasks', 'throttle_events', 'edac_ce', 'gpu_errors'];
  const valid = validOf('vmstat', 'throttle', 'edac', 'gpu_errors', 'gpu', 'hung_tasks');
  const rose = (ago: number) => ({
    interval_ms: 600_000,
    valid,
    ...Object.fromEntries(all.map(field => [field, Number(ago <= 5)])),
  });
  const names = ['a', 'b', 'c', 'd', 'e', 'f'].map(one => one.repeat(60));
  const recent = writtenBoard(t, Object.fromEntries(names.map(name => [name, rose])), 10);
  const shown = await check(recent.path, 'five problems are recent');
  t.match(
    shown,
    /^BEOBOARD WARNING: 6 nodes, 6 live; recent: 6 gpu_errors \(a{60},b{60}( and more)?; last AGE|s ago\), .*; last [\d.]+s ago\) \| /,
  );

  // The causes alone are too long.
  const links = Array.from({ length: 14 }, (_, i) => `eth${i + 1}`);
  const behind = makeBoard(
    t,
    { uncertain: links.map((link, i) => `n${i}@${link}`), live: ['ok'] },
    { down: links, dark: true },
  );
  const told = await check(behind.path, 'fourteen links are down');
  t.match(told, /^BEOBOARD WARNING: of 15 nodes 14 uncertain; eth1 is down since .*… \| live=1;/);
  t.equal(Buffer.byteLength(told), 1023);
  const open = await check(behind.path, 'and it fails open', '--fail', 'open', '--nodes', 'n[0-13],x');
  t.match(open, /^BEOBOARD WARNING: of 15 nodes 1 not on the board, 14 uncertain; .*…; fails open \| live=0;/);
  const long = join(folder(t), 'x'.repeat(200), 'y'.repeat(200), 'z'.repeat(200), 'é'.repeat(250));
  const { c, ts, raw } = await askBoth({ verb: 'check', argv: ['--board', long, '--fail', 'closed'] });
  t.strictSame(c, ts, 'a path that is too long');
  t.match(raw.stdout, /^BEOBOARD CRITICAL: .*[é…]; fails closed\n$/);
  t.ok(Buffer.byteLength(raw.stdout) <= 1023);
});

// ---- how they are built ----

t.test('other compilers, C libraries and processors', { skip: NOT_WHOLE }, async t => {
  const board = makeBoard(t, { live: numbered(10), silent: ['s001'], left: ['l001'] });
  for (const { what, how, under, skip } of builds(['installed', 'clang']))
    await t.test(what, { skip }, async t => {
      const built = compile(t, how);
      for (const verb of ['nodes', 'check'] as const) {
        const question = { verb, argv: ['--board', board.path, '--nodes', 'n[001-010],s001,x'] };
        beat(board.path);
        t.strictSame(alike(await askC(question, built, under)), alike(await askHere(question)), verb);
      }
    });
});

t.test('make install, and the manual pages', { skip: NOT_WHOLE || lacks('musl-tools', 'musl-gcc') }, async t => {
  const to = folder(t);
  makeIn('verbs', INSTALLED, 'install', 'PREFIX=/opt/beo', `DESTDIR=${to}`);
  t.strictSame(
    readdirSync(to, { recursive: true, encoding: 'utf8' })
      .filter(path => /-(nodes|check)/.test(path))
      .sort(),
    [
      'opt/beo/bin/beoboard-check',
      'opt/beo/bin/beoboard-nodes',
      'opt/beo/share/man/man1/beoboard-check.1',
      'opt/beo/share/man/man1/beoboard-nodes.1',
    ],
  );
  for (const verb of ['nodes', 'check'] as const) {
    const page = readFileSync(join(SOURCE, `beoboard-${verb}.1`), 'utf8').replaceAll('\\-', '-');
    const { stdout: help } = await askC({ verb, argv: ['--help'] });
    const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name = '']) => name);
    t.ok(options.length > 9);
    for (const option of options) t.ok(page.includes(option), `the page tells of ${option}`);
    const lint = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', join(SOURCE, `beoboard-${verb}.1`)], {
      encoding: 'utf8',
    });
    if (lint.error === undefined) t.strictSame([lint.status, lint.stdout], [0, '']);
    const groff = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z', join(SOURCE, `beoboard-${verb}.1`)], {
      encoding: 'utf8',
    });
    if (groff.error === undefined) t.strictSame([groff.status, groff.stdout, groff.stderr], [0, '', '']);
  }
});
