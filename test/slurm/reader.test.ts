// beoboard scheduler and the programs that show its files, with stand-ins for Slurm's commands: calls have limits, files
// are complete and have the right permissions, an old answer stays and is called old, and nobody needs Slurm to look at
// the board.
//
// @whole
// @days 3

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { schedulerSection } from '../../src/jobs/schedulernode.js';
import { SchedulerFamilies } from '../../src/prometheus/schedulerfamilies.js';
import { NoAnswer, type SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { Pairing, SchedulerView } from '../../src/schedulerfile/schedulerview.js';
import {
  monotonicMs,
  readState,
  type SchedulerState,
  stateFile,
  stateText,
  stateTrouble,
} from '../../src/schedulerfile/statefile.js';
import { slurmCalls } from '../../src/schedulers/slurm/calls.js';
import { FileFollower } from '../../src/service/leftfile.js';
import { replaceFile } from '../../src/service/replacefile.js';
import { attempt } from '../../src/text/failure.js';
import { boardPath, folder } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { standIn, writeCommand } from '../kit/slurmstandin.js';
import { until } from '../kit/until.js';
import { verbRun } from '../kit/verbchild.js';
import { NOT_WHOLE } from '../kit/whole.js';

const run = verbRun(t);

t.setTimeout(600_000);

/** A stand-in for squeue. */
function only(t: Test, text: string): string {
  const path = folder(t);
  writeCommand(join(path, 'squeue'), `#!/bin/sh\n${text}\n`);
  return path;
}

const NONCE = 'ab'.repeat(16);

t.test('a call is ended in time, with all its child processes', async t => {
  const path = only(t, 'sleep 1000 & echo $! >"$(dirname "$0")/child"; wait');
  await t.rejects(
    slurmCalls({ folder: path, limitMs: 500 }).jobs(NONCE),
    new NoAnswer('squeue took longer than 500ms'),
  );
  const pid = readFileSync(join(path, 'child'), 'utf8').trim();
  await until('the child of the child is gone', () => {
    // A zombie is gone, too: it only waits for its parent. It may go while this looks.
    return / Z /.test(attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? ' Z ');
  });
  const stop = new AbortController();
  const asked = slurmCalls({ folder: path, stop: stop.signal }).jobs(NONCE);
  stop.abort();
  await t.rejects(asked, new NoAnswer('the program is ending'));
  const late = only(t, 'touch "$(dirname "$0")/asked"');
  await t.rejects(slurmCalls({ folder: late, stop: stop.signal }).jobs(NONCE), new NoAnswer('the program is ending'));
  t.notOk(existsSync(join(late, 'asked')), 'who is told to end asks nothing more');
});

t.test('what a call that fails says', async t => {
  for (const [text, said] of [
    [
      'echo x; echo "first" >&2; echo "slurm_load_jobs error: \\033[31mgone" >&2; exit 1',
      /^slurm_load_jobs error: \\u\{1b\}\[31mgone$/,
    ],
    ['exit 3', /^squeue ended with 3$/],
    ['kill -9 $$', /^squeue ended with a signal$/],
    [`head -c 5000 /dev/zero | tr '\\0' x >&2; exit 1`, /^x{200}…$/],
  ] as const)
    await t.rejects(slurmCalls({ folder: only(t, text) }).jobs(NONCE), { message: said }, text);
  await t.rejects(slurmCalls({ folder: folder(t) }).jobs(NONCE), {
    message: /^squeue was not found; give its folder by --slurm-bin$/,
  });
});

t.test('the nonce is where nobody else can read it', async t => {
  const path = standIn(t);
  const calls = slurmCalls({ folder: path });
  process.env.SQUEUE_STATES = 'PENDING';
  t.teardown(() => delete process.env.SQUEUE_STATES);
  t.match(await calls.jobs(NONCE), new RegExp(`^${NONCE}\\|1\\|`));
  const [line = '', ...env] = readFileSync(join(path, 'asked'), 'utf8').split('\n');
  t.notOk(line.includes(NONCE), line);
  t.ok(env.some(word => word.startsWith(`SQUEUE_FORMAT=${NONCE}|`)));
  await calls.nodes();
  const asked = readFileSync(join(path, 'asked'), 'utf8').match(/^(squeue|scontrol) --local /gm);
  t.same(asked, ['squeue --local ', 'scontrol --local '], 'in a federation, of this cluster alone');
  t.notOk(
    env.some(word => word.startsWith('SQUEUE_STATES=')),
    'and what would change the answer is not passed on',
  );
});

t.test('a file is replaced as a whole, with its permissions, and never through a link', async t => {
  const path = folder(t);
  const other = join(folder(t), 'other');
  writeFileSync(other, 'theirs');
  symlinkSync(other, join(path, 'state'));
  symlinkSync(other, join(path, '.state.new'));
  for (const mode of [0o640, 0o644]) {
    replaceFile(path, 'state', `${mode}`, mode);
    t.equal(statSync(join(path, 'state')).mode & 0o777, mode);
    t.equal(readFileSync(join(path, 'state'), 'utf8'), `${mode}`);
  }
  t.equal(readFileSync(other, 'utf8'), 'theirs');
});

const STATE: SchedulerState = {
  schema: 2,
  pid: 1,
  mono_ms: 1000,
  next_ms: 6000,
  time_ms: 5,
  cluster: 'c',
  version: '22.05.8',
  scheduler: 'Slurm',
  daemon: 'slurmd',
  user: 'root',
  nodes: { list: [] },
  jobs: { list: [] },
  names: {},
  differences: [],
};

/** The families by the file in that folder. */
async function familiesOf(folder: string) {
  const slurm = new SchedulerFamilies(folder);
  await slurm.look();
  return slurm.of([]);
}

t.test('the file: what is written is read, and what is wrong with it is said', async t => {
  const path = folder(t);
  const put = (text: string) => writeFileSync(join(path, 'state'), text);
  const answer = { time_ms: 1, mono_ms: 900, took_ms: 3, list: [{ name: 'n"1\n', state: 'IDLE', cpus: 4 }] };
  put(stateText({ ...STATE, nodes: answer }));
  t.match(readState(path), { state: { ...STATE, nodes: { count: 1, ...answer } } });
  for (const [text, said] of [
    ['', /is not JSON/],
    ['[1', /is not JSON/],
    ['null', /is not JSON/],
    ['{"schema":1}', /is of another version; restart beoboard scheduler/],
    ['{"schema":2,"nodes":{}}', /has no nodes and jobs/],
  ] as const) {
    put(text);
    t.match(readState(path), { why: said }, text);
  }
  const node = { name: 'n1', state: 'IDLE', cpus: 4 };
  const job = { id: '4', state: 'RUNNING', user: 'u', partition: 'p', cpus: 4, nodes: 'n1', name: 'x' };
  const difference = { kind: 'live_down', node: 'n1', node_name: 'N1', since_ms: 1 };
  const filled = { nodes: { list: [node] }, jobs: { list: [job] }, names: { N2: 'n2' }, differences: [difference] };
  const numbers = { value: 1, peers: 4, median: 2, lowest: 2, highest: 2, since_ms: 1 };
  const mark = { job: '4', node: 'n1', reading: 'mhz', ...numbers };
  put(JSON.stringify({ ...STATE, ...filled }));
  t.match(readState(path), { state: filled });
  for (const wrong of [
    { nodes: { list: [null] } },
    { nodes: { list: [{ ...node, name: undefined }] } },
    { nodes: { list: [{ ...node, cpus: 'x' }] } },
    { nodes: { list: [{ ...node, reason: {} }] } },
    { nodes: { list: [], error: 5 } },
    { jobs: { list: [{ ...job, partition: undefined }] } },
    { jobs: { list: [{ ...job, nodes: 'n[1-' }] } },
    { jobs: { list: [{ ...job, nodes: '' }] } },
    { names: null },
    { names: { n1: 5 } },
    { differences: 5 },
    { differences: [{ ...difference, jobs: '4' }] },
    { scheduler: 5 },
    { nodes: { list: [{ ...node, takes_jobs: 'yes' }] } },
    // Times that no calendar has, and what is no number.
    { odd: { marks: [{ ...mark, since_ms: 1e300 }], unjudged: {} } },
    { odd: { marks: [{ ...mark, since_ms: -1 }], unjudged: {} } },
    { odd: { marks: [{ ...mark, value: Number.POSITIVE_INFINITY }], unjudged: {} } },
    { differences: [{ ...difference, since_ms: 8.64e15 }] },
    { nodes: { list: [node], time_ms: 1e300 } },
    { nodes: { list: [], error: 'x', error_since_ms: 1e300 } },
    { nodes: { list: [{ ...node, reason_s: 1e13 }] } },
    { jobs: { list: [{ ...job, start_s: 1e300 }] } },
    { time_ms: 1e300 },
  ]) {
    put(
      JSON.stringify({ ...STATE, ...filled, ...wrong }, (_, value) => (value === Infinity ? '∞' : value)).replace(
        '"∞"',
        '1e999',
      ),
    );
    t.match(readState(path), { why: /holds what no reader writes/ }, JSON.stringify(wrong));
  }
  // Who breaks into the reader must not take the memory of those who show its file, nor keep them waiting.
  for (const [make, said] of [
    [(place: string) => symlinkSync('/dev/zero', place), /is no plain file; see/],
    [(place: string) => execFileSync('mkfifo', [place]), /is no plain file; see/],
    [(place: string) => truncateSync(place, 1 << 29), /is too large; see/],
  ] as const) {
    rmSync(join(path, 'state'));
    if (said.source.includes('large')) put('');
    make(join(path, 'state'));
    t.match(readState(path), { why: said });
    t.match(await new FileFollower(stateFile(path)).look(), { why: said });
  }
  rmSync(join(path, 'state'));
  t.match(readState(path), { why: /is not there; start beoboard scheduler on this machine \(docs\/slurm\.md\)$/ });
  t.match(stateFile(path).without(Object.assign(new Error(), { code: 'EACCES' })), {
    why: /cannot be read by this user, .*; a service: SupplementaryGroups=beoboard-jobs in its unit$/,
  });
  t.equal(stateTrouble(STATE, 6000), undefined);
  t.equal(stateTrouble(STATE, 21_000), undefined, 'it may take its time');
  t.match(stateTrouble(STATE, 21_001), /^beoboard scheduler has written nothing for 20\.0s: .* see systemctl status/);
  t.match(stateTrouble(STATE, 999), /^beoboard scheduler has written nothing since this machine was booted: /);
  t.match(stateTrouble({ ...STATE, next_ms: Number.NaN }, 1500), /^beoboard scheduler has written nothing for 500ms: /);
  const failed = { ...answer, list: [], error: 'squeue took longer than 5.0s', error_since_ms: 2 };
  t.match(
    stateTrouble({ ...STATE, jobs: failed }, 1500),
    /^Slurm does not answer: squeue took .*; what is shown of Slurm is 600ms old$/,
  );
  t.match(
    stateTrouble({ ...STATE, nodes: { ...failed, mono_ms: undefined } }, 1500),
    /nothing is known about Slurm yet$/,
  );
});

t.test('a NodeName is data on a page, too', t => {
  const evil = '\u001b[31mN1';
  const nodes = { list: [{ name: evil, state: 'IDLE', cpus: 4 }] };
  const view = new SchedulerView(new Pairing({ state: { ...STATE, nodes, names: { [evil]: 'n1' } } }, ['n1']));
  t.same(
    schedulerSection(view, 'n1', 0).facts.map(facts => facts.slice(-2)),
    [['IDLE as \\u{1b}[31mN1', '0 of 4 CPUs given to jobs']],
  );
  t.end();
});

t.test('a mapping is kept as long as nobody has got another name', t => {
  const list = [
    { name: 'N1', state: 'IDLE', cpus: 4 } as const,
    { name: 'N2', host: 'h2', state: 'IDLE', cpus: 4 } as const,
  ];
  const board = ['n1', 'h2'];
  const told = (list: readonly SchedulerNode[], names = {}) => ({ state: { ...STATE, nodes: { list }, names } });
  const before = new Pairing(told(list), board);
  const allocated = list.map(node => ({ ...node, state: 'ALLOCATED' }));
  const next = new Pairing(told(allocated), board, before);
  t.equal(next.matched, before.matched);
  t.match(next.nodes.get('N1'), { state: 'ALLOCATED' });
  for (const [what, found, names] of [
    ['another name', told([{ name: 'N3', state: 'IDLE', cpus: 4 }, ...list.slice(1)]), board],
    ['another host', told(list.map(node => ({ ...node, host: 'h3' }))), board],
    ['one more', told([...list, { name: 'N3', state: 'IDLE', cpus: 4 }]), board],
    ['one less', told(list.slice(1)), board],
    ['an exception', told(list, { N2: 'n1' }), board],
    ['another board', told(list), ['n1', 'n2']],
    ['no answer', { why: 'nothing' }, board],
  ] as const)
    t.same(new Pairing(found, names, before).matched, new Pairing(found, names).matched, what);
  const without = new Pairing({ why: 'nothing' }, board);
  t.same(new Pairing(told(list), board, without).matched, before.matched, 'after no answer');
  board.push('n3');
  t.same(new Pairing(told(list), board, before).matched.boardAlone, ['n3'], 'in the same array');
  t.end();
});

const state = (path: string) => JSON.parse(readFileSync(join(path, 'state'), 'utf8')) as SchedulerState;

t.test('the reader, and those who show what it leaves', async t => {
  const slurm = standIn(t);
  const path = join(folder(t), 'slurm');
  const board = boardPath(t);
  const names = join(folder(t), 'names');
  writeFileSync(names, 'node007 odd-one # where it is called so\n');
  const { port } = await startReceiver(t, board);
  for (const name of ['node001', 'node003', 'node005', 'odd-one', 'stranger']) {
    const argv = ['send', '--to', `127.0.0.1:${port}`, '--name', name, '--interval', '100ms'];
    await start(t, argv).ready;
  }
  const before = await run(['jobs', '--board', board, '--slurm-dir', path]);
  t.match(before, {
    code: 1,
    stdout: '',
    stderr: /^beoboard jobs: nothing is known about jobs: .* is not there; start beoboard scheduler/,
  });
  t.match(
    (await run(['status', '--jobs', '--board', board, '--slurm-dir', path])).stdout,
    /nothing is known about jobs:\s/,
  );
  t.notMatch(
    (await run(['status', '--board', board, '--slurm-dir', path])).stdout,
    /Slurm/,
    'who does not ask is not told',
  );
  t.notMatch((await run(['show', 'node001', '--board', board, '--slurm-dir', path])).stdout, /Slurm/);
  t.match(await run(['nodes', '--for', 'slurm', '--board', board, '--slurm-dir', path]), { code: 1, stdout: '' });

  const argv = ['slurm', '--slurm-bin', slurm, '--slurm-names', names, '--board', board];
  const options = join(folder(t), 'slurm.toml');
  writeFileSync(options, `interval = "100ms"\nslurm-dir = ${JSON.stringify(path)}\n`);
  const running = start(t, [...argv, '--config', options, '--public-jobs']);
  await running.ready;
  await until('it has said so', () =>
    /ready: 8 nodes and 5 jobs of test, Slurm 22\.05\.8\n/.test(running.output().stderr),
  );
  t.equal(statSync(join(path, 'state')).mode & 0o777, 0o644, 'public, as was asked for, where Slurm hides nothing');
  t.equal(statSync(join(path, 'skip')).mode & 0o777, 0o644);
  t.equal(statSync(path).mode & 0o777, 0o755 & ~process.umask());
  t.match(
    readFileSync(join(path, 'skip'), 'utf8'),
    /^# power saving: on\n(?:# has been in it: .*\n)+(?:.*\n)*node006\n/,
  );
  const heard = await until('all are heard, and matched, and looked at often enough', () => {
    const now = state(path);
    return readFileSync(join(path, 'names'), 'utf8').includes(' ') && now.differences.length > 0 && now;
  });
  t.equal(readFileSync(join(path, 'names'), 'utf8').replace(/^#.*\n/, ''), 'node007 odd-one\n');
  t.match(
    heard.differences.filter(({ kind }) => kind === 'live_down'),
    [{ node: 'node005', node_name: 'node005' }],
  );

  const jobs = await run(['jobs', '--board', board, '--slurm-dir', path]);
  t.match(jobs, { code: 0, stderr: '' });
  t.equal(jobs.stdout.split('\n').filter(line => /RUNNING/.test(line)).length, 5, jobs.stdout);
  t.match(jobs.stdout, /^ +2 +root +RUNNING .* b\\u\{a\}5…/m);
  t.match(jobs.stdout, /node005: live on the board, and DOWN in Slurm/);
  t.match(
    jobs.stdout,
    /on the board, and not known to Slurm, or powered down and not shown by it \(PrivateData=cloud\): stranger/,
  );
  t.match(jobs.stdout, /known to Slurm, and not on the board: node\[002,004,008\]/, 'and not who is switched off');
  const some = await run(['jobs', 'node001', '--json', '--board', board, '--slurm-dir', path]);
  t.match(JSON.parse(some.stdout), {
    schema: 1,
    jobs: [{ id: '1', nodes: 'node[001-002]', alone: true, states: { live: 1, absent: 1 } }],
  });
  const table = await run(['status', '--jobs', '--board', board, '--slurm-dir', path], { COLUMNS: '150' });
  t.match(table.stdout, /^NODE +STATE +SLURM +USER +JOBS/m);
  t.match(table.stdout, /^node003 +live!? +MIXED\+DRAIN +root +2, 3, 4_1, 4_2 /m);
  const wide = JSON.parse(
    (await run(['status', '--jobs', '--json', '-o', 'load', '--board', board, '--slurm-dir', path])).stdout,
  );
  t.match(
    wide.nodes.find(({ name }: { name: string }) => name === 'odd-one'),
    { slurm: { node_name: 'node007', state: 'IDLE', jobs: [] } },
  );
  t.match(wide.slurm, { cluster: 'test', version: '22.05.8' });
  const page = (await run(['show', 'node003', '--board', board, '--slurm-dir', path])).stdout;
  t.match(page, /^Slurm +MIXED\+DRAIN, 6 of 8 CPUs given to jobs, 1 of 2 GPUs given to jobs$/m);
  t.match(page, /reason: bad DIMM slot "A1" = worn \[slot@7\] ask Anna/);
  const plain = (await run(['status', '--jobs', '--plain', 'node003', '--board', board, '--slurm-dir', path])).stdout;
  t.match(plain, /^node003 is live.*; in Slurm MIXED\+DRAIN, user root, jobs 2, 3, 4_1, 4_2; /m);
  t.match(await run(['nodes', '--for', 'slurm', '--board', board, '--slurm-dir', path]), {
    code: 0,
    stdout: 'node[001,003,005,007]\n',
    stderr: 'beoboard nodes: not known to Slurm: stranger\n',
  });

  await t.test('Slurm shows only part of it', async t => {
    const part = standIn(t);
    const own = join(folder(t), 'own');
    const skip = () => readFileSync(join(own, 'skip'), 'utf8').split('\n');
    const nodes = readFileSync(join(part, 'nodes'), 'utf8');
    const put = (name: string, text: string) => {
      writeFileSync(join(part, `${name}.new`), text);
      renameSync(join(part, `${name}.new`), join(part, name));
    };
    const config = readFileSync(join(part, 'config'), 'utf8');
    put('config', config.replace(/^(PrivateData +=).*/m, '$1 cloud').replace(/^(ResumeTimeout +=).*/m, '$1 1 sec'));
    put('nodes', `Node=node003 CPUTot=8\n${nodes.replace(/^NodeName=node003 .*\n/m, '')}`);
    const argv = ['slurm', '--slurm-dir', own, '--slurm-bin', part, '--board', board, '--public-jobs'];
    const other = start(t, [...argv, '--interval', '100ms']);
    await other.ready;
    t.equal(statSync(join(own, 'state')).mode & 0o777, 0o644, 'PrivateData=cloud hides no jobs');
    // Two lines of a comment look like nodes.
    await until('it has said what it left out', () =>
      /of what Slurm 22\.05\.8 answers, this is not understood and left out: 3 lines about nodes, the first: 'Node=node003 CPUTot=8'\n/.test(
        other.output().stderr,
      ),
    );
    t.strictSame(
      skip(),
      [
        '# power saving: on',
        ...['# has been in it: ', ''].flatMap(beginning =>
          ['node[003,006]', 'odd-one', 'stranger'].map(list => beginning + list),
        ),
        '',
      ],
      'whom Slurm calls so, and nodes of the board that it does not show',
    );
    const shown = await run(['status', '--jobs', '--long', '--board', board, '--slurm-dir', own]);
    t.match(
      shown.stdout,
      /this is not understood and left out: 3 lines\s+about nodes, the first: 'Node=node003 CPUTot=8'/,
    );
    for (const node of ['node001', 'stranger'])
      t.match(
        (await run(['show', node, '--board', board, '--slurm-dir', own])).stdout.replaceAll(/\s+/g, ' '),
        /not understood and left out: 3 lines about nodes/,
        `${node} may be one of them`,
      );
    t.match((await run(['nodes', '--for', 'slurm', '--board', board, '--slurm-dir', own])).stderr, /left out: 3 lines/);
    const json = JSON.parse((await run(['jobs', '--json', '--board', board, '--slurm-dir', own])).stdout);
    t.match(json.slurm, { nodes_left_out: 3, jobs_left_out: undefined });
    t.strictSame((await familiesOf(own)).find(({ name }) => name.endsWith('_left_out'))?.samples, [
      [{ about: 'nodes' }, 3],
      [{ about: 'jobs' }, 0],
    ]);
    t.strictSame(
      (await familiesOf(join(own, 'nothing'))).flatMap(({ name, samples }) => samples.map(sample => [name, ...sample])),
      [['beoboard_odd_judged', {}, 0]],
      'only that nothing is known',
    );
    put('nodes', nodes);
    await until('after its ResumeTimeout it has to be heard', () => !skip().some(line => /^node.*003/.test(line)));
    t.ok(
      skip().some(line => /^# has been in it: .*003/.test(line)),
      'an old file would still say that it may sleep',
    );
    other.child.kill('SIGTERM');
    t.equal(await other.exit, 0);
  });

  await t.test('Slurm hides what it does not want to be seen', async t => {
    const hidden = join(slurm, 'config');
    writeFileSync(hidden, readFileSync(hidden, 'utf8').replace(/^(PrivateData +=).*/m, '$1 jobs,users'));
    const own = join(folder(t), 'own');
    const other = start(t, ['slurm', '--slurm-dir', own, '--slurm-bin', slurm, '--board', board, '--public-jobs']);
    await other.ready;
    t.equal(statSync(join(own, 'state')).mode & 0o777, 0o640);
    await until('it has said why', () =>
      /--public-jobs is ignored: Slurm has PrivateData=jobs,users/.test(other.output().stderr),
    );
    const us = userInfo().username;
    t.match(
      (await run(['jobs', '--board', board, '--slurm-dir', own])).stdout,
      `Slurm hides the jobs of others (PrivateData=jobs): only the reader's own are shown, unless its user ${us} is`,
    );
    other.child.kill('SIGTERM');
    t.equal(await other.exit, 0);
  });

  await t.test('a file in place of Slurm', { skip: NOT_WHOLE }, async t => {
    const own = join(folder(t), 'own');
    const file = join(folder(t), 'site.jsonl');
    const head = { schema: 1, scheduler: 'LSF', cluster: 'site', version: '10.1', daemon: 'sbatchd' };
    const lines = [
      { node: 'node001', state: 'allocated', cpus: 4, cpus_used: 4, switch: 'leaf07' },
      { node: 'node003', state: 'draining', cpus: 8, reason: 'bad\x1b DIMM', reason_by: 'anna' },
      ...[
        { node: 'node005', state: 'down' },
        { node: 'Odd', host: 'odd-one', state: 'closed_Adm' },
      ],
      // Two of them could be the one on the board.
      ...[
        { node: 'Stranger', state: 'idle' },
        { node: 'STRANGER', state: 'idle' },
      ],
      ...[{ node: 'node009', state: 'off' }, { node: 'node010', state: 'idle' }, { user: 'root' }],
      { job: '4711', user: 'anna', nodes: 'node[001,010]', cpus: 8, name: 'a\nb\x1b\u202e' },
      { job: '4713', nodes: 'stranger' },
      { end: true },
    ];
    const text = [head, ...lines].map(line => `${JSON.stringify(line)}\n`).join('');
    const put = (text: string) => {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    };
    put(text);
    const at = ['--board', board, '--slurm-dir', own];
    const other = start(t, ['slurm', '--scheduler', `file:${file}`, ...at, '--interval', '100ms', '--public-jobs']);
    await other.ready;
    await until('it has said so', () => /ready: 8 nodes and 2 jobs of site, LSF 10\.1\n/.test(other.output().stderr));
    t.equal(statSync(join(own, 'state')).mode & 0o777, 0o644, 'as everybody may read the file');
    t.equal(readFileSync(join(own, 'skip'), 'utf8'), '# power saving: on\n# has been in it: node009\nnode009\n');
    t.match(readFileSync(join(own, 'names'), 'utf8'), /\nOdd odd-one\n$/);
    t.match(state(own), { scheduler: 'LSF', nodes: { left_out: 1, whole: undefined } });
    const { mono_ms } = state(own);
    await until('it is looked at often enough', () => state(own).mono_ms > mono_ms + 1000);
    t.strictSame(state(own).differences, [], 'three looks at one answer are one');
    await until('it is written often enough', () => {
      put(text);
      return state(own).differences.length > 0;
    });

    const { stdout } = await run(['jobs', ...at]);
    t.match(stdout, /^ *4711 +anna +RUNNING .* 8 .* a\\u\{a\}b\\u\{1b\}\\u\{202e\}$/m);
    t.match(stdout, /^ *4713 +RUNNING +- +1 absent +- .* stranger is not among LSF's nodes$/m);
    for (const sentence of [
      'of what LSF 10.1 answers, this is not understood and left out: 1 line about nodes, the first: \'{"user":"root"}\'; 1 line about jobs,',
      'node005: live on the board, and DOWN in LSF: the fault is its sbatchd rather than the node',
      'on the board, and not known to LSF: stranger',
      'known to LSF, and not on the board: STRANGER,Stranger,node010 (3 of ',
    ])
      t.ok(stdout.includes(sentence), `${sentence} in ${stdout}`);
    const table = await run(['status', '--jobs', ...at], { COLUMNS: '150' });
    t.match(table.stdout, /^NODE +STATE +LSF +USER +JOBS/m);
    t.match(table.stdout, /^node001 +live!? +allocated +anna +4711 /m);
    t.match((await run(['status', '--jobs', '--plain', 'node001', ...at])).stdout, /; in LSF allocated, user anna, /);
    t.match(
      (await run(['show', 'node001', ...at])).stdout,
      /^LSF +allocated, 4 of 4 CPUs given to jobs, behind leaf07\n +job 4711 of anna, RUNNING, 8 CPUs on 2 nodes, a\\u/m,
    );
    t.match((await run(['show', 'node005', ...at])).stdout, /^LSF +down$/m, 'what is not known is left out');
    t.match((await run(['show', 'node003', ...at])).stdout, /reason: bad\\u\{1b\} DIMM \(anna\)/);
    t.match(await run(['nodes', '--for', 'slurm', ...at]), {
      code: 0,
      stdout: 'Odd,node[001,003,005]\n',
      stderr: 'beoboard nodes: not known to LSF: stranger\n',
    });

    put(`${JSON.stringify(head)}\n{"end":true}\n`);
    await until('there are none', () => state(own).jobs.list.length === 0);
    t.match((await run(['jobs', ...at])).stdout, /^no jobs\n/);
    put(JSON.stringify(head));
    await until('there is no answer', () => state(own).nodes.error !== undefined);
    t.match((await run(['jobs', ...at])).stdout, /^LSF does not answer/, 'nobody knows that there are none');
    put(text);
    await until('there are some', () => state(own).jobs.list.length > 0);

    put(text.slice(0, -14));
    await until('half a file is no answer', () => state(own).nodes.error !== undefined);
    t.equal(state(own).nodes.list.length, 8, 'the last one stays');
    t.match(
      (await run(['jobs', ...at])).stdout,
      /LSF does not answer: \S+ does not end with \{"end":true\}.*; what is/,
    );
    other.child.kill('SIGTERM');
    t.equal(await other.exit, 0);
  });

  await t.test('Slurm does not answer any more, and answers again', async t => {
    writeFileSync(join(slurm, 'failing'), '');
    const old = await until('that is noticed', () => {
      const now = state(path);
      return now.nodes.error !== undefined && now.jobs.error !== undefined && now;
    });
    utimesSync(join(path, 'skip'), 1, 1);
    t.match(old.nodes, { error: 'slurm_load: Unable to contact slurm controller', list: heard.nodes.list });
    t.strictSame(old.differences, [], 'what was different says nothing any more');
    t.ok(old.next_ms > old.mono_ms + 100, 'it is asked less often');
    const { stdout } = await run(['jobs', '--board', board, '--slurm-dir', path]);
    t.match(
      stdout,
      /RUNNING[\s\S]*\nSlurm does not answer: slurm_load: Unable to .*; what is shown of Slurm is .* old\n/,
    );
    const table = await run(['status', '--jobs', '--board', board, '--slurm-dir', path], { COLUMNS: '150' });
    t.match(table.stdout, /^node003 +live!? +\[MIXED\+DRAIN\] +\[root\]/m, 'in brackets, as all that is old');
    await until('it was asked again', () => state(path).mono_ms > old.mono_ms);
    t.equal(statSync(join(path, 'skip')).mtimeMs, 1000, 'an old list of who saves power does not grow new');
    rmSync(join(slurm, 'failing'));
    await until('it answers', () => state(path).nodes.error === undefined);
    await until('both are told', () =>
      /Slurm does not answer: slurm_load: .*\n.*Slurm answers again after /.test(running.output().stderr),
    );
    t.ok(statSync(join(path, 'skip')).mtimeMs > 1000);
  });

  await t.test('SIGHUP: its files are read again', async t => {
    const told = (what: RegExp) => until(`it says ${what}`, () => what.test(running.output().stderr));
    writeFileSync(names, 'node007 odd-one\nnode007 twice\n');
    running.child.kill('SIGHUP');
    await told(/SIGHUP: .*names:2: node007 is there twice; remove one; nothing has changed\n/);
    t.strictSame(state(path).names, { node007: 'odd-one' });
    // The reader does not sleep out its old interval.
    writeFileSync(options, 'interval = "60s"\nslurm-dir = "/elsewhere"\n');
    writeFileSync(names, 'node007 odd-one\nnode008 stranger\n');
    running.child.kill('SIGHUP');
    await told(/--slurm-dir has changed, which needs a restart: the old value stays\n.*read its options again\n/);
    await until('it goes by them', () => state(path).names.node008 === 'stranger');
    t.ok(state(path).next_ms > state(path).mono_ms + 30_000);
    writeFileSync(names, '');
    running.child.kill('SIGHUP');
    await until('it was waked', () => Object.keys(state(path).names).length === 0);
    t.match(running.output().stderr, /^(?!.*ended)/s, 'and it goes on');
  });

  running.child.kill('SIGTERM');
  t.equal(await running.exit, 0);
  const last = state(path);
  writeFileSync(join(path, 'state'), stateText({ ...last, next_ms: monotonicMs() - 60_000 }));
  const { stdout } = await run(['jobs', '--board', board, '--slurm-dir', path]);
  t.match(
    stdout,
    /\nbeoboard scheduler has written nothing for .*: what is shown of Slurm is that old; see systemctl status beoboard-slurm\n/,
  );
});

t.test('a scrape tells how old the answers are at its own time', async t => {
  const path = folder(t);
  const age = async () => {
    await slurm.look();
    const family = slurm.of([]).find(({ name }) => name.endsWith('_age_seconds'));
    return family?.samples?.map(([, seconds]) => seconds);
  };
  const slurm = new SchedulerFamilies(path);
  const leave = (agoMs: number) => {
    const mono_ms = monotonicMs() - agoMs;
    replaceFile(
      path,
      'state',
      stateText({ ...STATE, nodes: { mono_ms, list: [] }, jobs: { mono_ms, list: [] } }),
      0o644,
    );
  };
  leave(60_000);
  t.ok((await age())?.every(seconds => seconds >= 60));
  leave(0);
  t.ok(
    (await age())?.every(seconds => seconds < 60),
    'not what the scrape before has found',
  );
});

t.test('without a board Slurm is read all the same', async t => {
  const path = join(folder(t), 'slurm');
  const running = start(t, [
    'slurm',
    '--slurm-dir',
    path,
    '--slurm-bin',
    standIn(t),
    '--board',
    join(folder(t), 'none'),
  ]);
  await running.ready;
  t.equal(state(path).nodes.list.length, 8);
  t.strictSame(state(path).differences, []);
  t.notOk(existsSync(join(path, 'names')), 'whose names differ nobody can say');
  running.child.kill('SIGINT');
  t.equal(await running.exit, 0);
});
