// beoboard jobs: the table, and the page of one job, beside made boards (test/golden/jobs.txt; to write it again, after
// reading the difference: node dist/test/cli/jobs.test.js --write), and the command on a board file.
//
// @seconds 6

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { showJob } from '../../src/cli/jobpage.js';
import { showJobs } from '../../src/cli/jobtable.js';
import { listJobs } from '../../src/jobs/joblist.js';
import { bits } from '../../src/layout/layout.gen.js';
import type { SchedulerJob } from '../../src/schedulerfile/scheduler.js';
import { type OddJobs, type OddMark, stateText } from '../../src/schedulerfile/statefile.js';
import { atOnce } from '../../src/service/slices.js';
import { painter } from '../../src/terminal/style.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { UNSEEN } from '../../src/text/unseen.js';
import { node, writeLiveBoard } from '../kit/ganglia.js';
import { busy, type MadeNode, madeBoard, NOW, validOf } from '../kit/madeboard.js';
import { atLook, madeJob, madeLook, madeState } from '../kit/madejobs.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { verbChild } from '../kit/verbchild.js';

// Times of day are shown in this time zone.
process.env.TZ = 'UTC';
const GOLDEN = join(ROOT, 'test', 'golden', 'jobs.txt');
const ask = verbChild(t);

/** What a node of a job is: its CPU in per cent, clock rate, GPUs and so on. */
interface Made {
  readonly cpu?: number;
  readonly mhz?: number;
  readonly hardware?: number;
  /** Of its sender. */
  readonly version?: number;
  readonly gpus?: number;
  readonly use?: number;
  readonly flags?: number;
}

function report(
  { cpu = 97, mhz = 2900, hardware = 0x1234, version = 0x1_0000, gpus = 0, use = 95, flags = 0 }: Made,
  i: number,
) {
  const usual = BigInt(busy(1).report?.valid ?? 0);
  const [valid, more] = [validOf('groups', 'topology', 'hw_hash'), gpus > 0 ? validOf('gpu', 'fabric') : 0n];
  const gpu = { util_pct: use, power_w: 4 * use, temp_degc: 40 + Math.round(use / 4), mem_total_mib: 80_000 };
  const of = (bytes: number) => ({ name: 'fabric', state: 1 << 16, rx_bytes: bytes, tx_bytes: bytes });
  const made = busy(62, {
    valid: usual | valid | more,
    ...{ cpu_busy_pm: 10 * cpu + (i % 5), hw_hash: hardware, agent_version: version, groups: 1, flags },
    group: [{ cpus: 64, busy_pm: 10 * cpu, mhz: mhz + 5 * (i % 4) }],
    ...(gpus > 0 && {
      ...{ gpu_count: gpus, gpu_busy: use > 10 ? gpus : 0, gpu_flags: Array.from({ length: gpus }, () => 1) },
      ...{ gpu: Array.from({ length: gpus }, () => gpu), fabric: of(9e9 + 1e7 * i) },
    }),
  });
  return { ...made, before: { ...made.before, ...(gpus > 0 && { fabric: of(0) }) } };
}

/** Nodes n01 and so on; `change` says what is different. */
const cluster = (count: number, change: (name: string) => Made & Partial<MadeNode> = () => ({}), usual: Made = {}) =>
  expand(`n[01-${String(count).padStart(2, '0')}]`, BOARD_MOST).map((name, i): MadeNode => {
    const { age = 0.4, ...made } = change(name);
    return { name, age, ...report({ ...usual, ...made }, i) };
  });

const HELD = { flags: 1 << bits.flags.root_readonly };
const STRAGGLER = cluster(16, name => (name === 'n07' ? { cpu: 8, mhz: 1200 } : {}));
/** n05 differs; n02 is silent, n03 has a problem, n16 is not on the board. */
const ILL = cluster(15, name =>
  name === 'n05' ? { mhz: 1900 } : name === 'n02' ? { age: 60 } : name === 'n03' ? HELD : {},
);
const GPUS = cluster(
  16,
  name => (name === 'n04' ? { gpus: 3, hardware: 0x777 } : name === 'n09' ? { use: 40, cpu: 96 } : {}),
  { gpus: 4 },
);

/** The same hardware, whose hash a sender of another version makes otherwise. */
const VERSIONS = cluster(16, name => (/n0[5-8]/.test(name) ? { hardware: 0x777, version: 0x1_0100 } : {}));

const told = (count: number, gpus = 0) =>
  expand(`n[01-${String(count).padStart(2, '0')}]`, BOARD_MOST).map(name => ({
    ...{ name, state: 'ALLOCATED', cpus: 64, cpus_used: 64 },
    ...(gpus > 0 && { gpus, gpus_used: gpus }),
  }));

const LONG = `e\u202e\x1b[2J${'x'.repeat(300)}`;
const ONE = madeJob('4711', 'n[01-16]', { cpus: 1024, name: 'climate', partition: 'batch' });
const PARTS = ['4711_1', '4711_2', '47110', '4711_13'].map((id, i) => madeJob(id, `n0${i + 1}`, { cpus: 64 }));
const EVIL = madeJob('12', 'n[01-04]', { user: LONG, name: LONG, partition: LONG, state: LONG, cpus: 1 });

const lookAt = (nodes: readonly MadeNode[], jobs: readonly SchedulerJob[], gpus = 0, odd?: OddJobs) =>
  madeLook(madeBoard(nodes), madeState(told(nodes.length > 16 ? nodes.length : 16, gpus), jobs.map(atLook), { odd }));

const mark = (node: string, reading: string, value: number, lowest: number, highest: number): OddMark => ({
  ...{ job: '4711', node, reading, value, peers: 15, median: highest, lowest, highest },
  since_ms: Number(NOW / 1_000_000n) - 239_500,
});
const marked = () => ({ unjudged: {}, marks: [mark('n07', 'mhz', 1200, 2900, 2915), mark('n07', 'cpu', 8, 97, 97)] });
const two = () => ({ unjudged: {}, marks: [mark('n07', 'mhz', 1200, 2900, 2915), mark('n08', LONG, 1, 2, 3)] });
const UNJUDGED = { marks: [], unjudged: { 4711: 'shared', toString: 'young' } };

function page(
  nodes: readonly MadeNode[],
  jobs: readonly SchedulerJob[],
  { width = 80, id = '4711', gpus = 0, long = false, odd = undefined as OddJobs | undefined } = {},
) {
  const shown = showJob(id, lookAt(nodes, jobs, gpus, odd), { board: '/nowhere', width, long });
  return [...shown.lines(painter('never')), ...(shown.wrong === undefined ? [] : [`wrong: ${shown.wrong}`])];
}

const WIDTHS = [80, 120, 200];
const SHARED = [ONE, madeJob('4712', 'n16', { user: 'bert' })];
const SCENES: [title: string, lines: (width: number) => string[]][] = [
  ['all alike', width => page(cluster(16), [ONE], { width })],
  ['one differs; all others are in the order of their names', width => page(STRAGGLER, [ONE], { width })],
  ['one is marked', width => page(STRAGGLER, [ONE], { width, odd: marked() })],
  ['two are marked, one by a reading of a later version', width => page(STRAGGLER, [ONE], { width, odd: two() })],
  ['none is marked, because they share nodes', width => page(cluster(16), SHARED, { width, odd: UNJUDGED })],
  ['one differs, and others are ill', width => page(ILL, [ONE], { width })],
  ['GPUs: one is at work less, and one has lost one', width => page(GPUS, [ONE], { width, gpus: 4 })],
  ['senders of two versions', width => page(VERSIONS, [ONE], { width })],
  ['nodes that others share', width => page(cluster(16), SHARED, { width })],
  ['too few to compare', width => page(cluster(3), [madeJob('4711', 'n[01-03]', { cpus: 0, name: '' })], { width })],
  ['more nodes than rows', width => page(cluster(60), [madeJob('4711', 'n[01-60]', {})], { width })],
  ['hostile texts', width => page(cluster(4), [EVIL], { width, id: '12' })],
  ['parts of an array', width => page(cluster(16), PARTS, { width })],
  ['none of that number', width => page(cluster(16), PARTS, { width, id: '471' })],
];

function golden(): string {
  const look = lookAt(ILL, [ONE, ...PARTS]);
  const table = showJobs(atOnce(listJobs(look.slurm, look.nodeOf)), look).lines(painter('never'));
  const pages = WIDTHS.flatMap(width =>
    SCENES.filter(([title]) => width === 80 || /ill|GPUs|hostile/.test(title)).flatMap(([title, lines]) => [
      `== ${title}, ${width} columns`,
      ...lines(width),
      '',
    ]),
  );
  return ['== the table', ...table, '', ...pages].join('\n');
}

t.test('the table and the pages are those of test/golden/jobs.txt, and the pages fit', async t => {
  const text = golden();
  if (process.argv.includes('--write')) writeFileSync(GOLDEN, text);
  t.equal(text, readFileSync(GOLDEN, 'utf8'));
  for (const width of WIDTHS)
    for (const [title, lines] of SCENES)
      t.strictSame(title.startsWith('parts') ? [] : lines(width).filter(line => line.length > width), [], title);
  t.strictSame(text.replaceAll('\n', '').match(UNSEEN), null);
});

t.test('who differs most stands first, whatever else is ill', async t => {
  const rows = page(ILL, [ONE]).filter(line => /^n\d\d /.test(line));
  t.match(rows[0], /^n05 +live .* clock 1\.9 GHz, others 2\.9[01] GHz$/);
  t.equal(rows.length, 16);
  t.match(rows.slice(-2), [/^n02 +silent +\[/, /^n16 +absent +- /], 'at the end, not left out');
});

t.test('a node that does not work as much as its peers is told by that, and not by what follows from it', async t => {
  const [first] = page(STRAGGLER, [ONE]).filter(line => /^n\d\d /.test(line));
  t.match(first, /^n07 +live +8% .* CPU 8\.\d %, others 97\.2 %$/);
  const few = page(
    cluster(3, name => (name === 'n02' ? { cpu: 8 } : {})),
    [madeJob('4711', 'n[01-03]', {})],
  );
  t.notMatch(few.join('\n'), 'others', 'three are too few to say which differs');
});

t.test('for programs', async t => {
  const of = (nodes: MadeNode[], jobs: SchedulerJob[], id: string, gpus = 0) => {
    const shown = showJob(id, lookAt(nodes, jobs, gpus), { board: '/nowhere', width: 80 });
    return JSON.parse(JSON.stringify(shown.json()));
  };
  const [job] = of(GPUS, [ONE], '4711', 4);
  t.match(job, { id: '4711', node_count: 16, states: { live: 16 }, members: { length: 16 } });
  const byName = new Map<string, { readonly compared: object }>(job.members.map((m: { name: string }) => [m.name, m]));
  t.match(byName.get('n04'), {
    ...{ hardware: 'other', readings: { gpus_up: 3 }, compared: { gpus_up: { median: 4, deviation: 10 } } },
  });
  t.match(byName.get('n09'), { hardware: 'same', compared: { gpu_util: { median: 95, deviation: 11 } } });
  t.notOk(
    Object.keys(byName.get('n09')?.compared ?? {}).includes('gpu_power'),
    'its power is not compared: it is less at work',
  );
  t.match(byName.get('n08'), { compared: { gpu_power: {} } });
  const [ill] = of(ILL, [ONE], '4711');
  t.match(ill.trouble, [{ kind: 'silent', nodes: 'n02', jobs: undefined }, { nodes: 'n03' }]);
  t.same(
    of(cluster(16), PARTS, '4711')
      .map(({ id }: SchedulerJob) => id)
      .sort(),
    ['4711_1', '4711_13', '4711_2'],
  );
  t.match(of(cluster(16), PARTS, '4711_2'), [{ id: '4711_2', members: [{ name: 'n02', compared: {} }] }]);
  t.match(of(cluster(16), [madeJob('5+0', 'n01', {}), madeJob('5+1', 'n02', {})], '5'), { length: 2 });
  t.match(of(cluster(16), [madeJob('5+1', 'n02', {})], '5'), [{ id: '5+1', members: [{ name: 'n02' }] }]);
});

t.test('the command: a number is no host list; exit codes', async t => {
  const [board, path] = [boardPath(t), folder(t)];
  writeLiveBoard(t, board, [node('n01'), node('n02'), node('n77')]);
  const jobs = (...argv: string[]) => ask(['jobs', '--board', board, '--slurm-dir', path, ...argv], { COLUMNS: '120' });
  t.match(await jobs('4711'), { code: 1, stdout: '', stderr: /^beoboard jobs: nothing is known about jobs: / });
  writeFileSync(join(path, 'state'), stateText(madeState(told(16), [...PARTS, EVIL])));
  t.match(await jobs('4711_1'), {
    code: 0,
    stderr: '',
    stdout: /^job 4711_1 \(job\) of anna in partition batch: RUNNING/,
  });
  t.match(await jobs('4711'), { code: 0, stdout: /\n3 jobs have this number; name one of them: beoboard jobs 4711_/ });
  const arrays = ['7[1].s', '7[2].s'].map(id => madeJob(id, 'n01', {}));
  writeFileSync(join(path, 'state'), stateText(madeState(told(16), [...PARTS, EVIL, ...arrays])));
  t.match(await jobs('7'), {
    code: 0,
    stdout: /\n2 jobs have this number; name one of them: beoboard jobs '7\[1\]\.s'\n/,
  });
  const none = /^beoboard jobs: no job 99 has nodes; beoboard jobs lists those that have\n$/;
  t.match(await jobs('99'), { code: 1, stdout: '', stderr: none });
  t.match(await jobs('99', '--json'), { code: 1, stdout: /"jobs":\[\n\]\}\n$/, stderr: none });
  t.match(JSON.parse((await jobs('12', '--json')).stdout), { schema: 1, jobs: [{ id: '12', members: { length: 4 } }] });
  t.match((await jobs('n04')).stdout, /^ *JOB .*\n(?:.*\n)*4711_13 /, 'a host list still is one');
  const never = { list: [], error: 'timeout', error_since_ms: 1 };
  writeFileSync(join(path, 'state'), stateText(madeState([], [], { nodes: never, jobs: never })));
  const silent = {
    code: 1,
    stdout: '',
    stderr: /: Slurm does not answer: timeout; nothing is known about Slurm yet\n$/,
  };
  for (const argv of [['jobs'], ['jobs', '99'], ['jobs', 'nn4'], ['users'], ['nodes', '--for', 'slurm']])
    t.match(await ask([...argv, '--board', board, '--slurm-dir', path]), silent, argv.join(' '));
  t.match(await jobs('--json'), { code: 1, stdout: /"jobs":\[\n\]\}\n$/ });
  writeFileSync(join(path, 'state'), stateText(madeState(told(16), [...PARTS, EVIL])));
  const typo = await jobs('n04,nn4');
  t.match(typo, {
    code: 1,
    stdout: /4711_13 /,
    stderr: /^beoboard jobs: not on the board, and not known to Slurm: nn4\n$/,
  });
  t.match(await jobs('4711_1', 'n01'), { code: 2, stderr: /^beoboard jobs: job 4711_1 is shown alone; / });
  t.match(await jobs('-w', 'n01', '4711_1'), { code: 2 });
  const named = [
    madeJob('3_2', 'n01', { raw_id: '6' }),
    madeJob('77[3].pbs01', 'n02', { user: 'bob@ad.example.org' }),
    madeJob('5', 'n01', { user: 'AD\\carl' }),
    madeJob('8', 'n02', { user: 'n77' }),
    madeJob('9', 'n04', { user: '1001' }),
    madeJob('10', 'n03', { user: 'n02' }),
  ];
  writeFileSync(join(path, 'state'), stateText(madeState(told(16), named)));
  const idsOf = async (...argv: string[]) => {
    const { jobs: rows, of_user } = JSON.parse((await jobs('--json', ...argv)).stdout);
    return [rows, of_user].map(list => list?.map(({ id }: { id: string }) => id).join(' '));
  };
  const asked: (readonly [word: string, of: string, ofUser?: string | undefined])[] = [
    ...([
      ['6', '3_2'],
      ['3', '3_2'],
      ['77[3].pbs01', '77[3].pbs01'],
      ['77', '77[3].pbs01'],
    ] as const),
    ...([
      ['anna', '3_2'],
      ['bob', '77[3].pbs01'],
      ['bob@ad.example.org', '77[3].pbs01'],
      ['AD\\carl', '5'],
      ['1001', '9'],
    ] as const),
    ...([
      ['n01', '3_2 5'],
      ['n77', '', '8'],
    ] as const),
  ];
  for (const [word, of, ofUser] of asked) t.strictSame(await idsOf(word), [of, ofUser], word);
  t.strictSame(await idsOf('anna', 'n02'), ['3_2 8 77[3].pbs01', '10'], 'users and nodes');
  t.match((await jobs('n77')).stdout, /^no jobs\n\nn77 is a user, too:\n *JOB.*\n *8 /);
  t.match(await jobs('dora'), { code: 1, stderr: /: not on the board, and not known to Slurm: dora\n$/ });
  t.match(await jobs('Node1'), { code: 2 }, 'a host list that is none, and no user');
  const other = async (...argv: string[]) => await ask([...argv, '--board', board, '--slurm-dir', path]);
  t.match(await other('nodes', '--job-id', '77[3]', '--user', 'bob'), { stderr: / n02\n$/ }, 'one that it looks up');
  t.match(await other('users', 'carl'), { code: 0, stdout: /\nAD.carl +1 / });
  t.match(await other('show', '6'), { code: 0, stdout: /^n01:/ });
  t.match(await other('show', 'bob'), { code: 0, stdout: /^n02:/ });
  t.match(await other('show', '99'), { code: 1, stdout: '', stderr: 'beoboard show: no job 99 has nodes\n' });
  t.match(await other('show', 'n77'), { code: 0, stdout: /^n77: (?:.*\n)*\nn77 is a user, too, with jobs on n02\n$/ });
  const both = await ask(['show', 'n77', 'n02', 'n02', '--board', board, '--slurm-dir', path], { COLUMNS: '40' });
  t.match(both.stdout, /\nn77 is .* on n02\n\nn02 is a user, too, with jobs on n03\n$/, 'each with its own nodes');
  t.match(JSON.parse((await other('show', 'n77', '--json')).stdout), { nodes: [{ name: 'n77' }], of_user: ['n02'] });
  writeFileSync(join(path, 'state'), stateText(madeState(told(16), [...PARTS, EVIL])));
  const status = await ask(['status', '--json', '--jobs', '--board', board, '--slurm-dir', path]);
  const sides = JSON.parse(status.stdout).nodes.map(({ name, slurm }: { name: string; slurm?: object }) => [
    name,
    !!slurm,
  ]);
  t.strictSame(Object.fromEntries(sides), { n01: true, n02: true, n77: false }, 'valid with a node not known to Slurm');
});
