// The slow side: a source that hangs in the kernel loses its own readings, at the next round, and affects neither the
// other sources nor a report; it recovers when it answers. With real children and a real FIFO.
//
// @seconds 18
// @waits
// @rest

import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { bitNames, decodeReport, REPORT_BYTES } from '../../src/layout/codec.js';
import { type RoundSource, SlowSide } from '../../src/sender/slow/rounds.js';
import { folder } from '../kit/places.js';
import { start } from '../kit/program.js';
import { until } from '../kit/until.js';

const module = fileURLToPath(new URL('./slowchild.js', import.meta.url));

function open(t: { teardown(end: () => void): void }, sources: RoundSource[]) {
  const fifo = join(folder(t), 'fifo');
  execFileSync('mkfifo', [fifo]);
  const told: string[] = [];
  const slow = new SlowSide({
    sources,
    world: { fifo, sources },
    intervalMs: 1000,
    tell: message => told.push(message),
    module,
  });
  t.teardown(() => slow.stop());
  const look = () => {
    const view = new DataView(new ArrayBuffer(REPORT_BYTES));
    const details = slow.look();
    slow.fill(view);
    const report = decodeReport(view, 0);
    return {
      details,
      sets: bitNames('valid', report.valid),
      flags: bitNames('flags', report.flags),
      report,
      rx: report.fabric?.rx_bytes ?? 0,
    };
  };
  /**
   * Releases the hanging source by opening the other end of its FIFO. From then on, a file that does not hang is there.
   */
  const release = (text = 'x') => {
    renameSync(fifo, `${fifo}.old`);
    writeFileSync(fifo, text);
    const fd = openSync(`${fifo}.old`, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(fd, text);
    closeSync(fd);
  };
  return { slow, look, told, release, fifo };
}

t.test('before the first round there is nothing; after it, everything', async t => {
  const { slow, look } = open(t, [
    { name: 'fast', periodMs: 0 },
    { name: 'seldom', periodMs: 60_000 },
  ]);
  t.same(look().sets, []);
  t.equal(look().report.slow_boot_ns, 0n);
  slow.start();
  await slow.closed();
  const first = await until('the first round is closed', () => look().report.slow_boot_ns > 0n && look());
  t.same(first.sets, ['edac', 'fabric']);
  t.same(first.flags, ['held']);
  t.same(first.details, { mhz: [first.report.edac_ce] });
  const from = first.report.slow_boot_ns;
  const later = await until('another round is closed', () => look().report.slow_boot_ns > from && look());
  t.ok(later.rx > first.rx, 'what is read in every round is read again');
  t.equal(later.report.edac_ce, first.report.edac_ce, 'the other is not, and stays');
});

t.test('a source that hangs in the kernel', async t => {
  const { slow, look, told, release } = open(t, [
    { name: 'fast', periodMs: 0 },
    { name: 'pipe', periodMs: 0 },
    { name: 'seldom', periodMs: 0 },
  ]);
  slow.start();
  const hung = await until('the round is closed without it', () => look().report.slow_boot_ns > 0n && look());
  t.same(hung.sets, ['edac', 'fabric'], 'what came before and after it in that round is there');
  t.same(hung.flags, ['held', 'slow_stale']);
  t.same(told, ['the slow source pipe does not answer: its readings are left out until it does']);
  const others = await until('the others go on', () => look().rx > hung.rx && look().sets.includes('edac') && look());
  t.notOk(others.sets.includes('energy_cpu'));
  t.ok(others.flags.includes('slow_stale'));
  t.equal(told.length, 1, 'told once');
  release();
  await until('it comes back', () => look().sets.includes('energy_cpu'));
  t.equal(told[1], 'the slow source pipe answers again');
  t.notOk(look().flags.includes('slow_stale'));
});

t.test('a child that crashes costs a round and no more', async t => {
  const { slow, look } = open(t, [
    { name: 'crash', periodMs: 60_000 },
    { name: 'fast', periodMs: 0 },
  ]);
  slow.start();
  await until('the source behind it is read', () => look().sets.includes('fabric'));
  t.ok(look().report.slow_boot_ns > 0n);
});

t.test('the next child goes on with the sums of the last one', async t => {
  const { slow, look, release, fifo } = open(t, [
    { name: 'sum', periodMs: 0 },
    { name: 'pipesum', periodMs: 0 },
  ]);
  renameSync(fifo, `${fifo}.later`);
  const say = (path: string, members: object) => {
    writeFileSync(`${fifo}.new`, JSON.stringify(members));
    renameSync(`${fifo}.new`, path);
  };
  const seen: Record<string, number | undefined> = {};
  /** Nothing but the sum before may be published on the way. */
  const become = async (what: string, set: 'edac' | 'throttle', sum: number) => {
    const from = set === 'edac' ? 'edac_ce' : 'throttle_events';
    await until(what, () => {
      const { sets, report } = look();
      const now = sets.includes(set) ? report[from] : undefined;
      if (now !== undefined && now !== seen[set] && now !== sum) t.fail(`${what}: ${set} is ${now}`);
      return now === sum;
    });
    seen[set] = sum;
  };
  say(`${fifo}.sum`, { a: 100, b: 50 });
  say(fifo, { a: 10, b: 5 });
  slow.start();
  await become('both are there', 'edac', 150);
  await become('both are there', 'throttle', 15);
  say(`${fifo}.sum`, { a: 101 });
  say(fifo, { a: 11 });
  await become('one has left', 'edac', 151);
  await become('one has left', 'throttle', 16);
  renameSync(`${fifo}.later`, fifo);
  await until('one sum hangs', () => look().flags.includes('slow_stale'));
  say(`${fifo}.sum`, { a: 103 });
  await become('the other goes on in the next child', 'edac', 153);
  say(`${fifo}.sum`, { a: 103, b: 57 });
  await become('what left before is back, and has counted', 'edac', 160);
  t.notOk(look().sets.includes('throttle'));
  release(JSON.stringify({ a: 12, b: 6 }));
  await become('what hung goes on in a child that had not read it', 'throttle', 18);
  writeFileSync(fifo, 'end');
  await until('a child has ended', () => !look().sets.includes('throttle'));
  say(`${fifo}.sum`, { a: 104 });
  await become('the next one goes on', 'edac', 161);
});

t.test('the readings of a child are gone if the next child has none', async t => {
  const { slow, look } = open(t, [
    { name: 'once', periodMs: 0 },
    { name: 'late', periodMs: 0 },
  ]);
  slow.start();
  const first = await until('it is said', () => look().sets.includes('edac') && look());
  const later = await until(
    'the next child has closed a round',
    () => look().report.slow_boot_ns > first.report.slow_boot_ns && look(),
  );
  t.same(later.sets, []);
});

t.test('no child outlives a sender that is killed, however early', async t => {
  const mark = folder(t);
  /** The child processes of this test's senders, recognized by a word in their command lines. */
  const children = () =>
    readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .filter(pid => {
        try {
          const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
          return /slow-child-\w+\.cjs/.test(command) && command.includes(mark);
        } catch {
          return false;
        }
      });
  for (let i = 0; i < 6; i++) {
    const { child, exit } = start(t, ['send', '--to', '127.0.0.1:9', '--scratch', mark]);
    await until('it has a child', () => children().length > 0);
    // The kill comes at another moment of the child's start in each round.
    for (let turn = 0; turn < i * 5; turn++) await new Promise(resolve => setImmediate(resolve));
    child.kill('SIGKILL');
    await exit;
    await until('its child has ended', () => children().length === 0);
  }
});
