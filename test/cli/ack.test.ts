// Lines of the trouble list are acknowledged: for whom, until when, and what stays as it is; and what a file of another
// may hold.
//
// @seconds 6
// @whole

import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { ACKS_MOST, ackFile, ackPath, changeAcks, readAcks } from '../../src/acks/ackfile.js';
import type { Ack } from '../../src/acks/acks.js';
import type { Encodable } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { asOwner } from '../../src/service/asowner.js';
import { FileFollower } from '../../src/service/leftfile.js';
import { openWriter } from '../../src/shm/writer.js';
import { now } from '../kit/clocks.js';
import { boardPath } from '../kit/places.js';
import { run as runApart } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { verbRun } from '../kit/verbchild.js';
import { NOT_WHOLE } from '../kit/whole.js';

const run = verbRun(t);

const READONLY = { flags: 1 << bits.flags.root_readonly, interval_ms: 600_000 };
const HOUR = 3_600_000;

/** A board whose nodes report as they are told, and the program's output about it. */
function master(t: Test) {
  const board = boardPath(t);
  const writer = openWriter({
    ...{ path: board, cluster: '', capacity: 16, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] },
  });
  const beat = setInterval(() => writer.heartbeat(now().mono), 100);
  t.teardown(() => {
    clearInterval(beat);
    writer.close();
  });
  writer.listeningSince(now().mono - 60n * 1_000_000_000n);
  writer.heartbeat(now().mono);
  const report = (hostname: string, values: Encodable<'report'> = {}) =>
    t.equal(
      writer.deliver(makeReport({ hostname, t_real_ns: now().real, ...values }), now().mono, now().real, 'eth0'),
      0,
    );
  const ask = (verb: string, ...argv: string[]) => run([verb, ...argv, '--board', board], { SUDO_USER: 'eva' });
  const trouble = async () => JSON.parse((await ask('status', '--json')).stdout).trouble;
  return { board, report, ask, trouble };
}

t.test('a line is dimmed for all, until another node joins it', async t => {
  const { report, ask, trouble } = master(t);
  for (const name of ['n1', 'n2']) report(name, READONLY);
  report('n3', { interval_ms: 600_000 });
  const answers = async () => {
    const all = [await ask('check'), await ask('nodes', '--healthy'), await ask('metrics')];
    // What is measured at each look is left out.
    return all.map(({ code, stdout }) => [
      code,
      stdout.split('\n').filter(line => !/_(exporter|receiver|seconds)/.test(line)),
    ]);
  };
  const before = await answers();
  t.match(await ask('ack'), { code: 0, stdout: 'not acknowledged: root_readonly\n', stderr: '' });
  t.match(await ask('ack', 'root_readonly', '--until', '+8h', '--reason', 'disk is on its way'), {
    code: 0,
    stdout: /^root_readonly \(n\[1-2\]\): what began before [\d:]{8}, by eva until [\d:]{8}: disk is on its way\n$/,
  });
  t.match((await ask('ack')).stdout, /^root_readonly [^\n]*\n$/, 'and no other line is left');
  t.same(await answers(), before, 'no verdict, exit code or metric is another');
  const [line] = await trouble();
  t.match(line, { key: 'root_readonly', dim: 'acknowledged', ack: { by: 'eva', reason: 'disk is on its way' } });
  t.ok(Math.abs(Date.parse(line.ack.until) - Date.now() - 8 * HOUR) < HOUR);
  t.match((await ask('status')).stdout.replaceAll(/\s+/g, ' '), /; acknowledged by eva until \S+( \S+ \S+)?: disk is/);
  t.match(JSON.parse((await ask('ack', '--json')).stdout), {
    schema: 1,
    acks: [{ key: 'root_readonly', nodes: 'n[1-2]' }],
  });
  report('n3', { ...READONLY, seq: 1, t_boot_ns: 200_000_000_000n });
  t.match(await trouble(), [{ key: 'root_readonly', nodes: 'n[1-3]', dim: undefined }]);
  t.match(await ask('ack', 'root_readonly', '--until', '+1h'), {
    code: 0,
    stdout: /^root_readonly \(n\[1-3\]\): what began before .*, by eva/,
  });
  t.match(await trouble(), [{ key: 'root_readonly', dim: 'acknowledged' }]);
  t.match(await ask('ack', 'root_readonl', '--withdraw'), {
    code: 1,
    stderr: /acknowledged; did you mean root_readonly\?\n$/,
  });
  t.match(await ask('ack', 'root_readonly', '--withdraw'), { code: 0, stdout: '' });
  t.match(await trouble(), [{ key: 'root_readonly', dim: undefined }]);
});

t.test('another one of the same key leaves that of other nodes', async t => {
  const { board, report, ask } = master(t);
  for (const name of ['n1', 'n2']) report(name, READONLY);
  const acks = async () => JSON.parse((await ask('ack', '--json')).stdout).acks as Ack[];
  t.match(await ask('ack', 'root_readonly', '--until', '+2h', '--reason', 'old'), { code: 0 });
  // As if others had had it then, which have not now.
  changeAcks(board, Date.now(), acks => acks.map(ack => ({ ...ack, nodes: 'n[2,8-9]' })));
  t.match(
    (await ask('ack')).stdout,
    /^root_readonly \(n\[2,8-9\]\): what began before .*: old\nnot acknowledged: root_readonly \(n\[1-2\] since [\d:]{8}\)\n$/,
    'what is acknowledged, and what is not',
  );
  t.match(await ask('ack', 'root_readonly', '--until', '+1h', '--reason', 'new'), { code: 0 });
  t.same(
    (await acks()).map(({ nodes, reason }) => [nodes, reason]),
    [
      ['n[8-9]', 'old'],
      ['n[1-2]', 'new'],
    ],
  );
  t.match(await ask('ack', 'root_readonly', '--withdraw'), { code: 0 });
  t.same(await acks(), [], 'both are withdrawn together');
});

t.test('a kind chooses all of its lines', { skip: NOT_WHOLE }, async t => {
  const { report, ask, trouble } = master(t);
  report('n1', READONLY);
  // What nodes of another interval have is another episode.
  report('n2', { ...READONLY, interval_ms: 500_000 });
  const keys = (await trouble()).map(({ key }: { key: string }) => key);
  t.match(keys, ['root_readonly', /^root_readonly:at-\d+$/]);
  t.match(await ask('ack', keys[1], '--until', '+1h'), { code: 0 });
  t.match((await ask('ack')).stdout, /\nnot acknowledged: root_readonly\n$/);
  const { stdout } = await ask('ack', 'root_readonly', '--until', '+2h', '--json');
  const { acks } = JSON.parse(stdout);
  t.match(acks, [{ key: 'root_readonly', nodes: 'n[1-2]', mono_ms: Number, boot: /^\d+$/, times: 1 }]);
  t.match(await trouble(), [{ dim: 'acknowledged' }, { dim: 'acknowledged' }]);
  t.match(await ask('ack', 'root_readonly', '--withdraw'), { code: 0 });
  t.equal((await ask('ack')).stdout, `not acknowledged: ${keys.join(', ')}\n`);
});

t.test('wrong keys, times, uses', async t => {
  const { report, ask, board } = master(t);
  report('n1', READONLY);
  const rows: [argv: string[], code: number, stderr: RegExp][] = [
    [
      ['root_readonl', '--until', '+1h'],
      1,
      /^beoboard ack: there is no line 'root_readonl'; did you mean root_readonly\?\n$/,
    ],
    [['x', '--until', '+1h'], 1, /^beoboard ack: there is no line 'x'; there are root_readonly\n$/],
    [['root_readonly', '--withdraw'], 1, /^beoboard ack: 'root_readonly' is not acknowledged\n$/],
    [['acks', '--until', '+1h'], 1, /^beoboard ack: 'acks' is about what is acknowledged itself, and cannot be ack/],
    [
      ['not_on_board', '--until', '+1h'],
      1,
      /^beoboard ack: 'not_on_board' is about names that somebody asked for, and/,
    ],
    [['constructor', '--until', '+1h'], 1, /^beoboard ack: there is no line 'constructor'; there are root_readonly\n$/],
    [['root_readonly'], 2, /: until when\? give --until 18:00, or --until \+8h\n/],
    [['root_readonly', '--until', '2020-01-01'], 2, /: --until: 2020-01-01 00:00:00 is over; /],
    [['root_readonly', '--until', '+99999999d'], 2, /: --until: '\+99999999d' is too far away; /],
    [['root_readonly', '--until', '8h'], 2, /--until: '8h' is no moment; write /],
    [['root_readonly', '--until', '+1h', '--reason', ' '], 2, /--reason: write one to 200 characters/],
    [['--until', '+1h'], 2, /: no key given; /],
    [['root_readonly', '--until', '+1h', '--withdraw'], 2, /do not go together/],
  ];
  for (const [argv, code, stderr] of rows)
    t.match(await ask('ack', ...argv), { code, stdout: '', stderr }, argv.join(' '));
  t.notOk(existsSync(ackPath(board)), 'nothing was acknowledged');
  t.match(await run(['ack', '--board', `${board}.none`]), { code: 4 });
  const clock = new Date(Date.now() - HOUR).toTimeString().slice(0, 5);
  const { stdout } = await ask('ack', 'root_readonly', '--until', clock, '--json');
  t.ok(Date.parse(JSON.parse(stdout).acks[0].until) > Date.now(), 'a time of day is the next one');
});

const ack = (key: string, more: Partial<Ack> = {}): Ack => ({
  ...{ key, nodes: 'n1', by: 'eva', at: new Date().toISOString(), until: new Date(Date.now() + HOUR).toISOString() },
  ...more,
});

t.test('twenty at once lose nothing, and what is over leaves', async t => {
  const { report, ask, board } = master(t);
  report('n1', { ...READONLY, flags: READONLY.flags | (1 << bits.flags.held) });
  changeAcks(board, Date.now(), () => [ack('old', { until: new Date(Date.now() - 1000).toISOString() })]);
  const follower = new FileFollower(ackFile(board));
  t.match((await follower.look()).acks, [{ key: 'old' }]);
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      await null;
      changeAcks(board, Date.now(), acks => [...acks, ack(`k${i}`)]);
    }),
  );
  const keys = ['root_readonly', 'held'];
  const apart = (key: string) => runApart(['ack', key, '--until', '+1h', '--board', board]);
  const all = await Promise.all([1, 2, 3].flatMap(() => keys.map(apart)));
  t.same(new Set(all.map(({ code }) => code)), new Set([0]));
  const { acks } = readAcks(board);
  t.same(acks.map(({ key }) => key).sort(), [...Array.from({ length: 20 }, (_, i) => `k${i}`), ...keys].sort());
  t.same((await follower.look()).acks, acks);
  const full = Array.from({ length: ACKS_MOST + 1 }, (_, i) => ack(`many${i}`));
  t.throws(() => changeAcks(board, Date.now(), () => full), { message: /has 1000 lines already; withdraw some/ });
  t.same(readAcks(board).acks, acks);
  for (const wrong of [{ key: 'k'.repeat(201) }, { reason: 'r'.repeat(401) }])
    t.throws(() => changeAcks(board, Date.now(), acks => [...acks, ack('x', wrong)]), { message: /of that length/ });
  t.match(await ask('ack', 'held', '--until', '+1h', '--reason', '𝒜'.repeat(200)), { code: 0 });
  t.equal(readAcks(board).acks.length, acks.length);
  // A journal could not tell that time, and no name on a board has upper case.
  for (const wrong of [{ until: '+275760-09-13T00:00:00.000Z' }, { nodes: 'N1' }, { nodes: 'n[1-' }]) {
    writeFileSync(ackPath(board), JSON.stringify({ schema: 1, acks: [ack('x', wrong)] }));
    t.match(readAcks(board), { acks: [], acksWhy: /is not understood/ }, JSON.stringify(wrong));
  }
  writeFileSync(ackPath(board), '{"schema":2}');
  t.match(await ask('ack', 'held', '--until', '+1h'), { code: 1, stderr: /is not understood, so no line/ });
  t.equal(readFileSync(ackPath(board), 'utf8'), '{"schema":2}', 'what a later version wrote stays');
});

t.test('a file that nobody believes acknowledges nothing, and is told of', { skip: NOT_WHOLE }, async t => {
  const { report, board, trouble } = master(t);
  report('n1', READONLY);
  const path = ackPath(board);
  const good = JSON.stringify({ schema: 1, acks: [ack('root_readonly')] });
  const none = async (what: string, why = '') => {
    const { acks, acksWhy } = readAcks(board);
    t.same(acks, [], what);
    t.match(acksWhy, `${why}, so no line is acknowledged`.replace(/^, so /, ''), what);
    t.match(
      await trouble(),
      [
        { key: 'root_readonly', dim: undefined },
        { key: 'acks', severity: 'notice' },
      ],
      what,
    );
    rmSync(path, { recursive: true });
  };
  for (const text of [
    '',
    '{',
    '[]',
    '{"schema":2,"acks":[]}',
    good.slice(0, -3),
    '{"schema":1,"acks":[{}]}',
    good.replace('n1', 'n['),
  ]) {
    writeFileSync(path, text);
    await none(text);
  }
  writeFileSync(path, good);
  t.equal(readAcks(board).acksWhy, undefined);
  chmodSync(path, 0o666);
  await none('writable for others', 'may be written by others');
  writeFileSync(path, good);
  truncateSync(path, 2 ** 25);
  await none('a large one', 'is too large');
  mkdirSync(path);
  await none('a folder', 'is no plain file');
  writeFileSync(`${board}.other`, good);
  symlinkSync(`${board}.other`, path);
  await none('a link');
  if (process.geteuid?.() === 0) {
    writeFileSync(path, good);
    chownSync(path, 4711, 4711);
    await none("another user's", 'may be written by others');
    chownSync(board, 4712, 4712);
    changeAcks(board, Date.now(), () => [ack('root_readonly')]);
    t.equal(readAcks(board).acks.length, 1);
    t.match(JSON.parse(readFileSync(path, 'utf8')), { schema: 1 });
  }
});

t.test(
  "in a folder where each has files of its own, root's do not stand in the way of the board's owner",
  { skip: process.geteuid?.() !== 0 && 'only root may act as another' },
  async t => {
    const { board } = master(t);
    const folder = dirname(board);
    chmodSync(folder, 0o1777);
    chownSync(board, 4712, 4712);
    // As where libuv may use io_uring, by whose threads Node cannot change who it is.
    const { setegid } = process;
    process.setegid = () => {
      throw new Error('setegid() disabled');
    };
    t.teardown(() => Object.assign(process, { setegid }));
    changeAcks(board, Date.now(), () => [ack('silent')]);
    t.same([process.geteuid?.(), process.getegid?.()], [0, 0], 'and is root again');
    for (const file of readdirSync(folder).filter(file => file.includes('.acks')))
      t.equal(lstatSync(join(folder, file)).uid, 4712, file);
    t.equal(readAcks(board).acks.length, 1);
  },
);

t.test(
  "what another user has laid in root's way leads nowhere, and the cause is told",
  { skip: process.geteuid?.() !== 0 && 'only root may act as another' },
  async t => {
    const { board, ask, report } = master(t);
    report('n1', READONLY);
    const folder = dirname(board);
    const [lock, made, precious] = [join(folder, '.board.acks.lock'), join(folder, '.board.acks.new'), `${board}.mine`];
    const whole = () => [readFileSync(precious, 'utf8'), lstatSync(precious).mode & 0o777, lstatSync(precious).uid];
    for (const mode of [0o755, 0o1777]) {
      for (const path of [folder, board]) chownSync(path, 4712, 4712);
      chmodSync(folder, mode);
      writeFileSync(precious, "root's", { mode: 0o644 });
      const before = whole();
      for (const lay of [symlinkSync, linkSync])
        for (const at of [lock, made, `${board}.acks`]) {
          for (const path of [lock, made, `${board}.acks`]) rmSync(path, { force: true });
          lay(precious, at);
          const { code, stderr } = await ask('ack', 'root_readonly', '--until', '+1h', '--owner', '4712');
          if (at !== made)
            t.match([code, stderr], [1, /\.acks.*(EPERM|ELOOP|EACCES|error \d|written by others|not understood)/]);
          t.notMatch(stderr, /as root/);
          t.same(whole(), before, `${mode.toString(8)} ${at}`);
        }
      for (const path of [lock, made, `${board}.acks`]) rmSync(path, { force: true });
      // A receiver of root's, to which another user's link leads.
      const server = createServer(socket => socket.end('{"forgotten":["n1"],"unknown":[]}\n'));
      const theirs = `${board}.theirs`;
      const mask = process.umask(0o177);
      await new Promise<void>(done => void server.listen(theirs, done));
      process.umask(mask);
      symlinkSync(theirs, `${board}.ctl`);
      lchownSync(`${board}.ctl`, 4712, 4712);
      const { code, stderr } = await ask('forget', 'n1');
      t.match([code, stderr], [1, /board\.ctl/]);
      rmSync(`${board}.ctl`);
      await new Promise(done => server.close(done));
    }
    chownSync(folder, 0, 0);
    chmodSync(folder, 0o755);
    asOwner(board, () => t.equal(process.geteuid?.(), 0, "in root's own folder root is root"));
  },
);
