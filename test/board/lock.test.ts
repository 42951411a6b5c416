// Who may write a board: one at a time, whatever happens to the lock, the directory and the owner. Two receivers never
// write one file.
//
// @seconds 21
// @shared 12
// @waits

import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { lock } from '../../src/native/index.js';
import type { BoardReader } from '../../src/shm/reader.js';
import { follow } from '../kit/children.js';
import { openReader } from '../kit/openreader.js';
import { NOBODY, ROOT_USER } from '../kit/ordinary.js';
import { boardPath, folder } from '../kit/places.js';
import { PROGRAM, run, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';

const SECOND = 1_000_000_000n;

function seqOf(reader: BoardReader, name: string): number | undefined {
  return [...reader.snapshot().nodes()].find(node => node.name === name)?.report?.seq;
}

/** Sends a report of a node, and waits until it is on the board. */
async function report(port: number, reader: BoardReader, hostname: string, seq: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.send(makeReport({ hostname, seq, t_boot_ns: BigInt(100 + seq) * SECOND }), port, '127.0.0.1');
  await until(`report ${seq} of ${hostname} is on the board`, () => seqOf(reader, hostname) === seq);
  socket.close();
}

const lockOf = (board: string) => statSync(`${board}.lock`, { throwIfNoEntry: false });
const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;

t.test('a removed lock file lets no second receiver in', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board);
  const reader = openReader(t, board);
  await report(first.port, reader, 'n1', 1);
  const before = inodeOf(board);
  for (let i = 0; i < 5; i++) {
    rmSync(`${board}.lock`, { force: true });
    // The first receiver checks its lock every second: each round is at another moment of it.
    await new Promise(resolve => setTimeout(resolve, i * 190));
    const { code, stderr } = await run(['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '16']);
    t.equal(code, 1);
    t.match(stderr, new RegExp(`another receiver \\(pid ${first.child.pid}\\) writes ${board}`));
  }
  await until('there is a lock again', () => (lockOf(board)?.size ?? 0) > 0);
  t.equal(inodeOf(board), before, 'the board is the same');
  await report(first.port, reader, 'n1', 2);
  t.notMatch(first.output().stderr, /another/);
});

t.test('a receiver that was stopped while another took the board ends, and says so', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board);
  const reader = openReader(t, board);
  await report(first.port, reader, 'n1', 1);
  const before = inodeOf(board);
  first.child.kill('SIGSTOP');
  rmSync(`${board}.lock`);
  const second = await startReceiver(t, board);
  t.not(inodeOf(board), before, 'it does not write what the other may go on writing');
  const fresh = openReader(t, board);
  t.equal(seqOf(fresh, 'n1'), 1, 'nothing is lost');
  t.equal(fresh.snapshot().header.instance, 2);
  const mine = inodeOf(board);
  // This report waits in the first receiver's socket; it must not appear on the board.
  const socket = createSocket('udp4');
  socket.send(makeReport({ hostname: 'n1', seq: 9, t_boot_ns: 900n * SECOND }), first.port, '127.0.0.1');
  first.child.kill('SIGCONT');
  t.equal(await first.exit, 1);
  socket.close();
  t.match(
    first.output().stderr,
    new RegExp(`another receiver \\(pid ${second.child.pid}\\) writes ${board}.*so this one ended\n`),
  );
  t.equal(inodeOf(board), mine, 'the board stays that of the second');
  t.equal(seqOf(fresh, 'n1'), 1);
  await report(second.port, fresh, 'n1', 2);
  t.equal(seqOf(reader, 'n1'), 2, 'a reader from before follows');
  await until('it can be asked to forget', () => existsSync(`${board}.ctl`));
  t.match(await run(['forget', '--board', board, 'n1']), { code: 0, stdout: 'forgot n1\n' });
});

t.test('a board of a receiver that was killed is taken over in place, and without its lock in a copy', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board);
  const reader = openReader(t, board);
  await report(first.port, reader, 'n1', 1);
  first.child.kill('SIGKILL');
  await first.exit;
  const before = inodeOf(board);
  const second = await startReceiver(t, board);
  t.equal(inodeOf(board), before, 'in place');
  second.child.kill('SIGKILL');
  await second.exit;
  rmSync(`${board}.lock`);
  const third = await startReceiver(t, board);
  t.not(inodeOf(board), before, 'in a copy');
  t.equal(seqOf(reader, 'n1'), 1);
  await report(third.port, reader, 'n1', 2);
  third.child.kill('SIGTERM');
  t.equal(await third.exit, 0);
  // The lock file was made by hand, so no writer has held this lock.
  unlinkSync(`${board}.lock`);
  writeFileSync(`${board}.lock`, '1', { mode: 0o600 });
  const fourth = await startReceiver(t, board);
  await report(fourth.port, reader, 'n1', 3);
  t.equal(reader.snapshot().header.instance, 4);
});

t.test('whoever may read cannot hold a lock', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board);
  first.child.kill('SIGKILL');
  await first.exit;
  // As after `chmod -R a+r` of the board's directory.
  chmodSync(`${board}.lock`, 0o644);
  for (const path of [dirname(board), board]) {
    const enemy = spawn('flock', ['-F', path, 'sh', '-c', 'echo; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    t.teardown(() => enemy.kill());
    await once(enemy.stdout, 'data');
  }
  await startReceiver(t, board);
  t.equal((lockOf(board)?.mode ?? 0) & 0o777, 0o600);
  const journal = join(dirname(board), 'lock');
  writeFileSync(journal, '', { mode: 0o644 });
  t.ok(lock(journal) > 0);
  t.equal(statSync(journal).mode & 0o777, 0o600, 'nor that of a journal');
});

t.test('forget works without a receiver and without a lock', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board);
  const reader = openReader(t, board);
  for (const name of ['n1', 'n2']) await report(first.port, reader, name, 1);
  first.child.kill('SIGKILL');
  await first.exit;
  rmSync(`${board}.lock`);
  t.match(await run(['forget', '--board', board, 'n1']), {
    code: 0,
    stdout: 'forgot n1\n',
    stderr: /n1 may still report/,
  });
  t.same(
    [...reader.snapshot().nodes()].map(({ name }) => name),
    ['n2'],
  );
});

t.test('a board path that is too long for the socket beside it is refused', async t => {
  const place = folder(t);
  const fits = join(place, 'b'.repeat(107 - '.ctl'.length - place.length - 1));
  const { child, exit } = await startReceiver(t, fits);
  t.ok(statSync(`${fits}.ctl`).isSocket());
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  const { code, stderr } = await run(['receive', '--board', `${fits}b`, '--listen', '127.0.0.1:0']);
  t.equal(code, 2);
  t.match(stderr, /^beoboard receive: --board is too long .*at most 103 bytes/);
  t.notOk(existsSync(`${fits}b`));
});

// ---- as another user ----

const skip = !ROOT_USER && 'only root can be another user';
/** How another user may read what root may, because the program can be in any folder. */
const READS = ['--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];
const noReceiver =
  skip ||
  (spawnSync('setpriv', [...READS, 'true']).status !== 0 && 'no right to read what others may not is given here');

/**
 * Starts a receiver as another user, with a board in a folder of this user; returns it with its port.
 */
async function startAs(t: Test, uid: number, board: string) {
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
  const argv = [process.execPath, PROGRAM, 'receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '16'];
  const child = spawn('setpriv', [...user, ...READS, ...argv], { stdio: ['ignore', 'ignore', 'pipe'] });
  const said = follow(child, t);
  const port = await until('it listens', () => /ready: listening on 127\.0\.0\.1:(\d+)/.exec(said.stderr)?.[1]);
  return { child, exit: said.exit, port: Number(port), stderr: () => said.stderr };
}

/** A board's path in a folder of this user, which is in a folder of root that everybody may enter. */
function placeOf(t: Test, uid: number): string {
  const place = join(folder(t), 'place');
  chmodSync(dirname(place), 0o755);
  mkdirSync(place);
  chmodSync(place, 0o755);
  chownSync(place, uid, uid);
  return join(place, 'board');
}

t.test("a lock file of another user's is not taken: its owner may hold it", { skip }, async t => {
  const board = boardPath(t);
  for (const path of [`${board}.lock`, join(dirname(board), 'lock')]) {
    writeFileSync(path, '', { mode: 0o600 });
    chownSync(path, NOBODY, NOBODY);
  }
  t.match(await run(['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '16']), {
    code: 1,
    stderr: /board\.lock belongs to somebody else; remove it or choose another --board\n$/,
  });
  t.equal(lock(join(dirname(board), 'lock')), -constants.errno.EPERM);
});

t.test('root forgets as the owner of the board', { skip: noReceiver }, async t => {
  const board = placeOf(t, NOBODY);
  const first = await startAs(t, NOBODY, board);
  const reader = openReader(t, board, NOBODY);
  for (const name of ['n1', 'n2']) await report(first.port, reader, name, 1);
  first.child.kill('SIGKILL');
  await first.exit;
  for (const lock of ['there', 'gone']) {
    if (lock === 'gone') rmSync(`${board}.lock`);
    const name = lock === 'there' ? 'n1' : 'n2';
    t.match(await run(['forget', '--board', board, name]), { code: 0, stdout: `forgot ${name}\n` }, lock);
    for (const file of [board, `${board}.lock`])
      t.match(statSync(file), { uid: NOBODY, gid: NOBODY }, `${file} is the owner's`);
  }
  const again = await startAs(t, NOBODY, board);
  await report(again.port, reader, 'n3', 1);
  // Root does not follow a link in the board's place.
  again.child.kill('SIGKILL');
  await again.exit;
  const target = join(folder(t), 'target');
  writeFileSync(target, 'precious');
  rmSync(board);
  symlinkSync(target, board);
  t.equal((await run(['forget', '--board', board, 'n3'])).code, 4);
  t.equal(readFileSync(target, 'utf8'), 'precious');
});

t.test(
  'a directory that was missing comes back, in a parent that the receiver cannot write',
  { skip: noReceiver },
  async t => {
    const board = placeOf(t, NOBODY);
    const { port, stderr } = await startAs(t, NOBODY, board);
    const reader = openReader(t, board, NOBODY);
    await report(port, reader, 'n1', 1);
    renameSync(dirname(board), `${dirname(board)}.away`);
    await until('it says so', () => /cannot use the directory/.test(stderr()));
    renameSync(`${dirname(board)}.away`, dirname(board));
    await report(port, reader, 'n1', 2);
    const before = inodeOf(board);
    // Everything that needs the directory works again: forget replaces the board.
    await until('the node is forgotten', async () => (await run(['forget', '--board', board, 'n1'])).code === 0, 100);
    t.not(inodeOf(board), before);
    await report(port, reader, 'n2', 1);
  },
);

t.test('a board that was given to another user is published again', { skip }, async t => {
  const board = boardPath(t);
  const { port, output } = await startReceiver(t, board);
  const reader = openReader(t, board);
  await report(port, reader, 'n1', 1);
  chownSync(board, NOBODY, NOBODY);
  await until('it is ours again', () => statSync(board, { throwIfNoEntry: false })?.uid === process.getuid?.());
  await report(port, reader, 'n1', 2);
  await until('it is told', () => /published again/.test(output().stderr));
});

t.test('a receiver that waits for a lock says who has it', async t => {
  const board = boardPath(t);
  const first = await startReceiver(t, board);
  const second = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '16']);
  t.equal(await second.exit, 1);
  t.match(second.output().stderr, new RegExp(`another receiver \\(pid ${first.child.pid}\\) writes`));
});
