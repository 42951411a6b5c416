// Grid Engine as a scheduler, with stand-ins for its commands that print real answers of 8.1.9: what the states of queues
// mean, what is left out and counted, that names of jobs forge nothing, and that it is shown as Slurm is.

import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { SchedulerFamilies } from '../../src/prometheus/schedulerfamilies.js';
import { LeftOut, NoAnswer } from '../../src/schedulerfile/scheduler.js';
import type { SchedulerState } from '../../src/schedulerfile/statefile.js';
import { meaningOf, parseHosts, parseJobs } from '../../src/schedulers/gridengine/answers.js';
import { gridEngine } from '../../src/schedulers/gridengine/gridengine.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { writeCommand } from '../kit/slurmstandin.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';

const run = verbRun(t);

t.setTimeout(600_000);

const fixture = (name: string) => readFileSync(join(ROOT, 'test', 'fixtures', 'gridengine', name), 'utf8');

/** The commands print files beside them. */
const STAND_IN = `#!/bin/sh
here=$(dirname "$0")
echo "$(basename "$0") $* TZ=$TZ SGE_ROOT=$SGE_ROOT" >>"$here/asked"
if [ -e "$here/failing" ]; then cat "$here/failing" >&2; exit 1; fi
case "$1 $(basename "$0")" in -help*) cat "$here/help" ;; *qhost) cat "$here/hosts" ;; *) cat "$here/jobs" ;; esac
`;

/** The folder of the commands, and what replaces one of their answers. */
function standIn(t: Test) {
  const path = folder(t);
  for (const name of ['qhost', 'qstat']) writeCommand(join(path, name), STAND_IN);
  const put = (name: string, text: string) => {
    writeFileSync(join(path, `${name}.new`), text);
    renameSync(join(path, `${name}.new`), join(path, name));
  };
  for (const name of ['hosts', 'jobs']) put(name, fixture(`${name}-8.1.9.xml`));
  put('help', 'SGE 8.1.9\nusage: qhost [options]\n');
  return { path, put };
}

t.test('what the states of the queues of a host mean', async t => {
  for (const [letters, base, takes_jobs, aside] of [
    ['', 'idle', true],
    [',', 'idle', true],
    ['1', 'allocated', true],
    ['1,', 'allocated', true],
    ['a', 'idle'],
    ['1a', 'allocated'],
    ['A', 'idle'],
    ['a,', 'idle', true],
    ['au', 'down'],
    ['au,dau', 'down'],
    ['1u', 'down'],
    ['au,', undefined],
    ['d', 'idle', undefined, 'disabled'],
    ['1d,ds', 'allocated', undefined, 'disabled'],
    ['d,', 'idle', true],
    ['s', 'idle', undefined, 'suspended'],
    ['d,s', 'idle', undefined, 'suspended'],
    // By calendar, or for another queue, is not by hand.
    ['D', 'idle'],
    ['C,S', 'idle'],
    ['d,D', 'idle'],
    ['E', 'error'],
    ['1E', 'error'],
    ['E,', 'idle', true],
    ['c', 'idle'],
    ['o', 'idle'],
    ['Q', undefined],
    [',Q', undefined],
  ] as const) {
    const queues = letters.split(',').map((text, i) => ({
      ...{ name: `q${i}`, letters: text.replace('1', ''), slots: 4 },
      used: text.startsWith('1') ? 1 : 0,
    }));
    const meaning: ReturnType<typeof meaningOf> = meaningOf(queues);
    t.strictSame([meaning.base, meaning.takes_jobs, meaning.aside], [base, takes_jobs, aside], `'${letters}'`);
  }
  t.match(meaningOf([]), { base: 'idle', takes_jobs: undefined, aside: undefined }, 'without a queue it gets no jobs');
  t.equal(meaningOf([{ name: 'q', letters: '', used: 0, slots: 0 }]).takes_jobs, undefined, 'nor without slots');
});

const queue = (name: string, used: number | string, slots: number | string, state: string) =>
  `<queue name='${name}'><queuevalue qname='${name}' name='slots_used'>${used}</queuevalue><queuevalue qname='${name}' name='slots'>${slots}</queuevalue><queuevalue qname='${name}' name='state_string'>${state}</queuevalue></queue>`;
const host = (name: string, ...queues: string[]) =>
  `<host name='${name}'><hostvalue name='num_proc'>4</hostvalue>${queues.join('')}</host>`;
const hosts = (...rows: string[]) => `<?xml version='1.0'?>\n<qhost xmlns:xsd="x">${rows.join('\n')}</qhost>\n`;

t.test('hosts: which are understood', async t => {
  const read = (...rows: string[]) => {
    const leftOut = new LeftOut();
    const list = parseHosts(hosts(...rows), leftOut);
    return { list, leftOut: leftOut.count, first: leftOut.first };
  };
  t.strictSame(
    read(
      host('global'),
      host('n1', queue('all.q', 3, 4, ''), queue('b.q', 1, 2, 'd')),
      host('N2.example.org', queue('all.q', 0, 4, 'au')),
      host('n3', queue('all.q', 0, 4, 'd'), queue('b.q', 0, 4, 'd')),
      host('n4'),
      host('n5', queue('all.q', 0, 4, '')).replace('>4<', '>-<'),
    ).list.map(({ name, state, cpus, cpus_used = 0, no_jobs = '' }) =>
      [name, state, cpus, cpus_used, no_jobs].join(' ').trimEnd(),
    ),
    ['n1 allocated+b.q:d 4 4', 'N2.example.org idle+au 4 0', 'n3 idle+d 4 0', 'n4 no-queue 4 0 true', 'n5 idle 0 0'],
  );
  t.strictSame(
    read(host('n1', queue('all.q', 0, 4, '')), host('n1', queue('all.q', 1, 4, ''))).list,
    [{ name: 'n1', state: '?', cpus: 0 }],
    'of one that is there twice nothing is known',
  );
  for (const row of [
    host('a b'),
    host(''),
    host('n1,n2'),
    host('n[1-9]'),
    host('n1&apos;\u202e'),
    host('n'.repeat(256)),
    ...[queue('q', -1, 4, ''), queue('q', 'x', 4, ''), queue('q', 1, '', ''), queue('q', 1, 4, 'a u')].map(queue =>
      host('n1', queue),
    ),
    host('n1', "<queue name='q'/>"),
  ])
    t.match(read(row, host('n9')), { list: [{ name: 'n9' }], leftOut: 1, first: /^host / }, row);
  const many = Array.from({ length: 100 }, (_, i) => queue(`queue${i}`, 0, 1, i === 0 ? '' : 'd'));
  t.equal(read(host('n1', ...many)).list[0]?.state.length, 120, 'a state is cut');
});

const row = (fields: Readonly<Record<string, string | number>>) =>
  `<job_list state="running">${Object.entries({
    JB_job_number: 7,
    JB_name: 'x',
    JB_owner: 'anna',
    state: 'r',
    slots: 1,
    ...fields,
  })
    .map(([key, value]) => `<${key}>${value}</${key}>`)
    .join('')}</job_list>`;
const onQueue = (name: string, ...rows: string[]) => `<Queue-List><name>${name}</name>${rows.join('')}</Queue-List>`;
const jobs = (...lists: string[]) =>
  `<job_info  xmlns:xsd="x"><queue_info>${lists.join('\n')}</queue_info><job_info></job_info></job_info>`;

t.test('jobs: which are understood', async t => {
  const read = (...lists: string[]) => {
    const leftOut = new LeftOut();
    const list = parseJobs(jobs(...lists), leftOut);
    return { list, leftOut: leftOut.count };
  };
  const start = { JAT_start_time: '2026-11-27T10:00:01' };
  t.strictSame(
    read(
      onQueue('all.q@n1', row({ ...start, slots: 4 }), row({ JB_job_number: 8, tasks: 3, state: 'hRr' })),
      onQueue('b.q@n1', row({ slots: 1 })),
      onQueue('all.q@N2.example.org', row({ slots: 2 })),
      '<job_list state="pending"><JB_job_number>9</JB_job_number><state>qw</state><slots>1</slots></job_list>',
    ),
    {
      list: [
        {
          ...{ id: '7', state: 'RUNNING', user: 'anna', partition: 'all.q', cpus: 7, start_s: 1795773601, name: 'x' },
          nodes: 'N2.example.org,n1',
        },
        {
          ...{ id: '8.3', state: 'RUNNING', user: 'anna', partition: 'all.q', cpus: 1, start_s: undefined, name: 'x' },
          nodes: 'n1',
        },
      ],
      leftOut: 0,
    },
    'a row for each queue; what waits has no nodes yet',
  );
  const list = Array.from({ length: 40 }, (_, i) => onQueue(`all.q@n${i + 1}`, row({})));
  t.match(read(...list).list, [{ nodes: 'n[1-40]', cpus: 40 }]);
  t.match(read(onQueue(`q@${'n'.repeat(70)}1`, row({}))).list, [{ nodes: `${'n'.repeat(70)}1` }]);
  for (const state of ['t', 's', 'S', 'T', 'dr', 'Er', 'hs'])
    t.match(read(onQueue('q@n1', row({ state }))).list, [{ state }], 'nothing is concluded of it');
  t.match(read(onQueue('q@n1', row({})), onQueue('q@n2', row({ state: 's' }))).list, [{ state: '?', nodes: 'n[1-2]' }]);
  for (const start of ['', 'yesterday', '2026-11-27 10:00:01', '2026-99-27T10:00:01', '1969-11-27T10:00:01'])
    t.equal(read(onQueue('q@n1', row({ JAT_start_time: start }))).list[0]?.start_s, undefined, start);
  for (const list of [
    ...[{ JB_job_number: '' }, { JB_job_number: -1 }, { JB_job_number: '7 8' }, { tasks: '1-3:1' }, { tasks: 'x' }],
    ...[{ slots: '' }, { slots: 'x' }, { state: '' }, { state: 'r r' }],
  ].map(fields => onQueue('q@n1', row(fields))))
    t.match(read(list), { list: [], leftOut: 1 }, list);
  for (const name of ['q@a b', 'q@n[1-9]', 'q@n1,n2', 'q@\u202e'])
    t.match(read(onQueue(name, row({}))), { leftOut: 1 }, name);
});

t.test('what is no answer', async t => {
  for (const text of [
    '',
    'error: no such host',
    '<qhost>',
    '<qhost></qhost><qhost></qhost>',
    '<qhost></qhost> x',
    '<qhost><host></qhost></host>',
    '<qhost><host name=n1></host></qhost>',
    '<other></other>',
    '<qhost><!-- a comment --></qhost>',
    '<qhost>a < b</qhost>',
    '</qhost>',
    hosts(host('n1')).slice(0, -5),
  ])
    t.throws(() => parseHosts(text), { constructor: NoAnswer, message: /^qhost did not print the whole of a/ }, text);
  // Time that grows with the square of the length would be hours.
  for (const text of [`<qhost${' '.repeat(1 << 20)}`, `<qhost${' a="b"'.repeat(1 << 17)}`, '<qhost>'.repeat(1 << 17)])
    t.throws(() => parseHosts(text), { constructor: NoAnswer, message: /at character \d+: / });
});

t.test('real answers', async t => {
  t.strictSame(
    parseHosts(fixture('hosts-8.1.9.xml')).map(({ name, state, cpus, cpus_used = 0 }) =>
      [name, state, cpus, cpus_used].join(' '),
    ),
    ['master no-queue 2 0', 'n1 allocated+short.q:d 2 4', 'n2 allocated 2 3'],
  );
  t.match(parseHosts(fixture('hosts-unheard-8.1.9.xml'))[2], { name: 'n2', state: 'allocated+u', base: 'down' });
  const told = (name: string) =>
    parseJobs(fixture(name)).map(({ id, state, cpus, nodes, name }) => [id, state, cpus, nodes, name].join(' '));
  const all = ['1 RUNNING 4 n[1-2] mpi', '2.1 s 1 n1 array', '2.2 RUNNING 1 n1 array', '3 RUNNING 1 n2 <b>&"x'];
  t.strictSame(told('jobs-8.1.9.xml'), all);
  t.strictSame(told('jobs-unheard-8.1.9.xml'), all.slice(1));
  t.match(parseJobs(fixture('jobs-8.1.9.xml'))[0], { user: 'anna', partition: 'all.q', start_s: 1795824161 });
});

t.test('what the commands are asked, and what they say instead of an answer', async t => {
  const { path, put } = standIn(t);
  process.env.SGE_ROOT = '/opt/sge';
  t.teardown(() => delete process.env.SGE_ROOT);
  const scheduler = gridEngine({ folder: path });
  t.match(scheduler.unasked, { hides: undefined, closed: /^it is not known what this Grid Engine hides/ });
  t.match(await scheduler.about(), {
    name: 'Grid Engine',
    version: '8.1.9',
    cluster: 'default',
    hides: [],
    closed: undefined,
  });
  t.equal((await scheduler.nodes()).list.length, 3);
  t.equal((await scheduler.jobs()).list.length, 4);
  t.strictSame(readFileSync(join(path, 'asked'), 'utf8').split('\n'), [
    'qhost -help TZ=UTC SGE_ROOT=/opt/sge',
    'qhost -q -xml TZ=UTC SGE_ROOT=/opt/sge',
    'qstat -f -ne -g d -s rs -u * -xml TZ=UTC SGE_ROOT=/opt/sge',
    '',
  ]);
  put('help', 'UGE 8.6.1\nusage: qhost [options]\n');
  t.match(await scheduler.about(), {
    version: 'UGE 8.6.1',
    hides: undefined,
    closed: /^it is not known what UGE 8\.6\.1 hides/,
  });
  put('failing', 'error: commlib error: got select error\nerror: unable to send message to qmaster\n');
  await t.rejects(scheduler.nodes(), new NoAnswer('error: unable to send message to qmaster'));
  await t.rejects(
    gridEngine({ folder: folder(t) }).nodes(),
    new NoAnswer('qhost was not found; give its folder by --slurm-bin'),
  );
});

const state = (path: string) => JSON.parse(readFileSync(join(path, 'state'), 'utf8')) as SchedulerState;

t.test('the reader, and those who show what it leaves', async t => {
  const { path, put } = standIn(t);
  const own = join(folder(t), 'own');
  const board = boardPath(t);
  const names = join(folder(t), 'names');
  writeFileSync(names, 'n2 odd-one\n');
  const { port } = await startReceiver(t, board);
  for (const name of ['n1', 'odd-one', 'stranger'])
    await start(t, ['send', '--to', `127.0.0.1:${port}`, '--name', name, '--interval', '100ms']).ready;
  const at = ['--board', board, '--slurm-dir', own];
  const asks = [
    'slurm',
    '--scheduler',
    'gridengine',
    '--slurm-bin',
    path,
    '--slurm-names',
    names,
    '--interval',
    '100ms',
  ];
  const reader = start(t, [...asks, ...at, '--public-jobs']);
  await reader.ready;
  await until('it has said so', () =>
    /ready: 3 nodes and 4 jobs of default, Grid Engine 8\.1\.9\n/.test(reader.output().stderr),
  );
  t.equal(statSync(join(own, 'state')).mode & 0o777, 0o644, 'everybody may see them by qstat');
  t.match(state(own), { nodes: { whole: true }, jobs: { whole: true } });

  const { stdout } = await run(['jobs', ...at]);
  t.match(stdout, /^ *1 +anna +RUNNING .* 4 /m);
  t.match(stdout, /^ *2\.1 +anna +s /m);
  for (const sentence of [
    'on the board, and not known to Grid Engine: stranger',
    'known to Grid Engine, and not on the board: master',
  ])
    t.ok(stdout.includes(sentence), `${sentence} in ${stdout}`);
  t.match((await run(['jobs', '1', ...at])).stdout, /^job 1 \(mpi\) of anna in partition all\.q: RUNNING for /);
  t.match((await run(['jobs', '2.2', ...at])).stdout, /^job 2\.2 \(array\) of anna /);
  t.match(JSON.parse((await run(['users', '--json', ...at])).stdout), { users: [{ user: 'anna' }] });
  const table = await run(['status', '--jobs', ...at], { COLUMNS: '150' });
  t.match(table.stdout, /^NODE +STATE +GRID ENGINE +USER +JOBS/m);
  t.match(table.stdout, /^odd-one +live!? +allocated +anna +1, 3 /m);
  t.match(
    (await run(['show', 'n1', ...at])).stdout,
    /^Grid Engine +allocated\+short\.q:d, 4 of 2 CPUs given to jobs$/m,
  );
  t.match(await run(['nodes', '--job-id', '2', ...at]), { stdout: 'n1\n' }, 'all tasks of an array job');
  t.match(await run(['nodes', '--for', 'slurm', ...at]), { stdout: 'n[1-2]\n' });

  put('hosts', fixture('hosts-unheard-8.1.9.xml'));
  put('jobs', fixture('jobs-unheard-8.1.9.xml').replace('<slots>1</slots>', '<slots>one</slots>'));
  await until('it is looked at often enough', () => state(own).differences.some(({ kind }) => kind === 'live_down'));
  const unheard = (await run(['jobs', ...at])).stdout;
  for (const sentence of [
    'odd-one: live on the board, and DOWN in Grid Engine: the fault is its sge_execd rather than the node',
    'of what Grid Engine 8.1.9 answers, this is not understood and left out: 1 line about jobs, the first: ',
  ])
    t.ok(unheard.includes(sentence), `${sentence} in ${unheard}`);
  const sentence = /^beoboard nodes: of what Grid Engine 8\.1\.9 answers, .* left out: 1 line about jobs/;
  t.match(
    await run(['nodes', '--user', 'anna', ...at]),
    { code: 0, stderr: sentence },
    'nodes of that job are missing',
  );
  t.equal(state(own).jobs.whole, undefined);
  const slurm = new SchedulerFamilies(own);
  await slurm.look();
  t.strictSame(slurm.of([]).find(({ name }) => name.endsWith('_left_out'))?.samples, [
    [{ about: 'nodes' }, 0],
    [{ about: 'jobs' }, 1],
  ]);

  put('failing', 'error: unable to send message to qmaster using port 6444 on host "master": got send error\n');
  await until('it is said', () => state(own).nodes.error !== undefined);
  t.match((await run(['jobs', ...at])).stdout, /Grid Engine does not answer: error: unable to send message to qmaster/);
  reader.child.kill('SIGTERM');
  t.equal(await reader.exit, 0);
});
