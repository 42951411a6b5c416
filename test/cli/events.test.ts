// The events of a board in `beoboard events`: on boards that are written here, change by change, and of a receiver that
// gets reports, stands still and is replaced.
//
// @seconds 14
// @waits
// @whole
// @days 3

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import t, { type Test } from 'tap';
import { type BoardChange, ChangeFollower, type Following } from '../../src/changes/changes.js';
import type { Encodable } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import type { Writer } from '../../src/native/index.js';
import { objectLines, textLines } from '../../src/presentation/eventlines.js';
import { STATES } from '../../src/shm/liveness.js';
import { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { painter } from '../../src/terminal/style.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { follow } from '../kit/children.js';
import { now } from '../kit/clocks.js';
import { validOf } from '../kit/madeboard.js';
import { openReader } from '../kit/openreader.js';
import { boardPath } from '../kit/places.js';
import { PROGRAM, run, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { goOn, stop } from '../kit/sampler.js';
import { unlike } from '../kit/schemacheck.js';
import { until } from '../kit/until.js';
import { NOT_WHOLE } from '../kit/whole.js';

t.setTimeout(600_000);
const S = 1_000_000_000n;
/** So long an interval that the node stays live. */
const FOREVER = { interval_ms: 600_000 };
const HELD = 1 << bits.flags.held;
const GOODBYE = 1 << bits.flags.goodbye;
const [UP, DOWN] = [1 << bits.link_state.up, 0];

type Options = Partial<Parameters<typeof openWriter>[0]>;

/** A board that the test writes, and followers of it. */
function scene(t: Test, options: Options = {}) {
  const path = boardPath(t);
  const make = (): Writer =>
    openWriter({ path, cluster: '', capacity: 64, uncertainAfter: 4500, silentAfter: 10_500, nodes: [], ...options });
  const held = { writer: make() };
  const began = now();
  let seq = 0;
  const ago = (seconds: number) => began.mono - BigInt(Math.round(seconds * 1e9));
  /** A report that arrived `age` s before the test began; by the node's clocks each is later than the last one. */
  const report = (hostname: string, values: Encodable<'report'> = {}, age = 0, by = 'eth0') => {
    seq++;
    const made = makeReport({ hostname, seq, t_boot_ns: BigInt(100 + seq) * S, ...FOREVER, ...values });
    return held.writer.deliver(made, ago(age), began.real - BigInt(Math.round(age * 1e9)), by);
  };
  const beat = (age = 0) => held.writer.heartbeat(now().mono - BigInt(Math.round(age * 1e9)));
  held.writer.listeningSince(ago(100));
  beat();
  const follow = (following: Partial<Following> = {}) => {
    const reader = openReader(t, path);
    return new ChangeFollower(reader, { last: 0, ...following });
  };
  t.teardown(() => held.writer.close());
  return { path, held, make, ago, report, beat, follow };
}

/** Events as text, without the values that differ in every run. */
function bare(happenings: readonly BoardChange[]): string[] {
  t.strictSame(
    [...objectLines(happenings)].flatMap(line => unlike('Event', JSON.parse(line))),
    [],
  );
  return happenings.map(({ at: _, ...rest }) => {
    const { event, ...more } = rest as Record<string, unknown>;
    for (const key of ['age_ms', 'heartbeat_age_ms', 'seen_ms', 'number', 'last_words']) delete more[key];
    return [event, ...Object.values(more).map(value => (typeof value === 'object' ? JSON.stringify(value) : value))]
      .filter(value => value !== undefined)
      .join(' ');
  });
}

const states = (some: Record<string, number>) =>
  JSON.stringify(Object.fromEntries(STATES.map(state => [state, some[state] ?? 0])));

t.test('nothing is told twice, and what was there before is no change', async t => {
  const { report, beat, follow } = scene(t);
  report('a');
  report('b', { flags: HELD });
  const follower = follow();
  t.same(bare(follower.look(true)), [`begin 2 ${states({ live: 2 })} 1 0`]);
  beat();
  t.same(follower.look(true), []);
  report('c');
  beat();
  t.same(bare(follower.look(true)), ['state c live']);
  t.same(follower.look(true), []);
});

t.test('live, uncertain, silent, and live again', async t => {
  const { report, beat, follow, ago } = scene(t, { uncertainAfter: 300, silentAfter: 1000 });
  const valid = validOf('memory', 'hw_hash', 'temp_hottest');
  const common = { interval_ms: 1000, valid, mem_total_mib: 1000, hw_hash: 7 };
  report('a', { ...common, mem_avail_mib: 10, temp_hottest_dc: 900 });
  report('b', { ...common, ...FOREVER, mem_avail_mib: 900, temp_hottest_dc: 850 });
  const follower = follow();
  const told = follower.look(true).slice(1);
  await until('a is silent', () => {
    beat();
    told.push(...follower.look(true));
    return bare(told).some(text => text.endsWith(' silent'));
  });
  const chain = told as unknown as Record<string, string>[];
  t.ok(chain.every(({ event, node }) => event === 'state' && node === 'a'));
  for (const [i, { from, to }] of chain.entries()) {
    t.not(from, to);
    t.equal(from, chain[i - 1]?.to ?? from, 'each goes on from the one before');
  }
  // The column has whole milliseconds.
  t.ok(Number(chain.at(-1)?.age_ms) >= 1000);
  t.match(chain.at(-1), { last_words: { said: ['memory_low', 'hottest'] } }, 'with what it said last');
  t.ok(chain.slice(0, -1).every(change => !('last_words' in change)));
  // As one says that was stopped meanwhile.
  const still = { flags: (1 << bits.flags.late) | (1 << bits.flags.skipped), valid: validOf('sender') };
  report('a', { ...still, late_us: 13_612_345 }, Number(ago(0) - now().mono) / 1e9);
  beat();
  const heard = follower.look(true);
  t.match(heard, [{ event: 'state', node: 'a', from: 'silent', to: 'live', stood_still_ms: 13_600 }]);
  t.same(heard.length, 1);
  t.match(textLines(heard, painter('never'))[0], /a silent -> live; the node or its sender stood still for 13\.6s\n$/);
});

t.test('a boot without a goodbye is told with what the node had said before it', async t => {
  const { report, beat, follow } = scene(t);
  const pressed = { valid: validOf('memory'), mem_total_mib: 1000, mem_avail_mib: 10, interval_ms: 1000 };
  report('ended', pressed, 40);
  beat(21);
  // It had been silent before, with last words.
  for (const name of ['crashed', 'ended', 'back']) report(name, pressed, 20);
  const follower = follow();
  follower.look(true);
  report('crashed', { ...pressed, mem_avail_mib: 900 }, 12);
  report('crashed', { boot_id: 2n, interval_ms: 1000 }, 5);
  report('ended', { flags: GOODBYE }, 12);
  report('ended', { boot_id: 2n, interval_ms: 1000 }, 5);
  report('back', { boot_id: 2n, interval_ms: 1000 }, 11);
  beat();
  const told = follower.look(true);
  const booted = told.filter(({ event }) => event === 'reboot') as unknown as Record<string, { said: string[] }>[];
  t.same(
    booted.map(({ node, last_words }) => [node, last_words?.said]),
    [
      ['crashed', []],
      ['ended', undefined],
      ['back', ['memory_low']],
    ],
  );
  t.same(
    textLines(told, painter('never')).flatMap(line => / {2}(.* booted.*)/.exec(line)?.[1] ?? []),
    [
      'crashed booted; its last report: nothing that explains it',
      'ended booted',
      'back booted; its last report: hardly any memory was available',
    ],
  );
});

t.test("what the receiver has written, in the board's order", async t => {
  const { report, beat, held, follow } = scene(t);
  for (const name of ['a', 'b', 'c']) report(name);
  const follower = follow();
  follower.look(true);
  report('a', { start_boot_ns: 60n * S });
  report('b', { flags: GOODBYE });
  report('b', { boot_id: 2n });
  report('c', { flags: GOODBYE });
  held.writer.deliver(new Uint8Array(7), now().mono, now().real, 'eth0');
  beat();
  const told = follower.look(true);
  t.same(bare(told), ['restart a', 'goodbye b', 'reboot b', 'goodbye c', 'refusal size', 'state c live left']);
  const numbers = told.flatMap(happening => ('number' in happening ? [happening.number] : []));
  t.same(
    numbers,
    numbers.map((_, i) => (numbers[0] ?? 0) + i),
  );
  held.writer.linkState(1, DOWN, false, now().mono);
  held.writer.linkState(1, UP, false, now().mono);
  beat();
  t.same(bare(follower.look(true)), ['link_down eth0', 'link_up eth0']);

  // With `last`, events of the ring come first; changes of state are not in the ring.
  t.same(bare(follow({ last: 3 }).look(true)).slice(0, -1), ['refusal size', 'link_down eth0', 'link_up eth0']);
  t.equal(bare(follow({ last: 4096 }).look(true)).length, 8, 'all of them, from the beginning');
  const one = follow({ among: new Set(['c', 'nobody']), last: 4096 });
  t.same(bare(one.look(true)), [
    'goodbye c',
    'refusal size',
    'link_down eth0',
    'link_up eth0',
    `begin 1 ${states({ left: 1 })} 0 0`,
  ]);
  t.same(one.notOnBoard(), ['nobody']);
});

t.test('problems come and go; for a node that does not report they are unknown', async t => {
  const { report, beat, follow } = scene(t, { uncertainAfter: 100, silentAfter: 200 });
  report('a');
  const follower = follow();
  follower.look(true);
  report('a', { flags: HELD });
  beat();
  t.same(bare(follower.look(false)), [], 'reports were not read');
  t.same(bare(follower.look(true)), ['problem a held']);
  report('a', { flags: HELD, interval_ms: 1000 });
  const told: BoardChange[] = [];
  await until('a is silent', () => {
    beat();
    told.push(...follower.look(true));
    return bare(told).some(text => text.endsWith(' silent'));
  });
  t.same(
    bare(told).filter(text => text.includes('problem')),
    [],
  );
  report('a', { flags: HELD });
  beat();
  t.same(bare(follower.look(true)), ['state a silent live'], 'it is held as before');
  report('a');
  beat();
  t.same(bare(follower.look(true)), [], 'it may come again: a minute has to pass without it');
  const [sum] = bare(follow().look(true)).slice(-1);
  t.equal(sum, `begin 1 ${states({ live: 1 })} 0 1`, 'none has it now, one had it recently');
  report('a', { flags: GOODBYE });
  report('a', { boot_id: 2n });
  beat();
  t.same(bare(follower.look(true)), ['goodbye a', 'reboot a', 'problem_resolved a held'], 'a boot ends it');
});

t.test('more events than the ring holds: as many as were lost are told', async t => {
  const { report, beat, follow } = scene(t);
  report('a');
  const follower = follow();
  follower.look(true);
  for (let i = 0; i < 5000; i++) report('a', { start_boot_ns: 60n * S + BigInt(i) });
  beat();
  const told = bare(follower.look(true));
  t.same(told.slice(0, 2), ['lost 904', 'restart a']);
  t.equal(told.filter(text => text === 'restart a').length, 4096);
  t.equal(told.length, 4097);
  report('a', { start_boot_ns: 61n * S });
  beat();
  t.same(bare(follower.look(true)), ['restart a']);
});

t.test('nodes are forgotten: that is the same board, and the others go on', async t => {
  const { report, beat, held, follow } = scene(t);
  for (const name of ['a', 'b', 'c']) report(name);
  const follower = follow();
  follower.look(true);
  // The last events of the old board are shown, too.
  report('c', { start_boot_ns: 60n * S });
  held.writer.forget(['a']);
  report('c', { flags: HELD, start_boot_ns: 60n * S });
  beat();
  const told = bare(follower.look(true));
  t.same(told, ['restart c', 'state a live', 'problem c held']);
  t.same(bare(follower.look(true)), ['forget 1']);
  report('a');
  t.same(bare(follower.look(true)), ['state a live']);
});

t.test('a board that goes is told once and waited for; another one has other numbers', async t => {
  const { report, beat, held, make, path, follow } = scene(t);
  t.throws(() => new ChangeFollower(new BoardReader(`${path}.none`), { last: 0 }).look(true), /there is no board/);
  for (const name of ['a', 'b']) report(name);
  for (let i = 0; i < 20; i++) report('a', { start_boot_ns: 60n * S + BigInt(i) });
  const follower = follow();
  follower.look(true);
  beat(5);
  held.writer.close();
  rmSync(path);
  t.match(bare(follower.look(true)), [/^no_board .*there is no board/]);
  t.same(follower.look(true), []);
  held.writer = make();
  report('b');
  beat();
  // The new receiver has not seen any node silent, and does not know node a.
  t.same(bare(follower.look(true)), ['state a live', `board 1 ${states({ live: 1 })} 0 0`]);
  t.same(follower.look(true), []);
  report('b', { flags: GOODBYE });
  beat();
  t.same(bare(follower.look(true)), ['goodbye b', 'state b live left'], 'its events begin anew');
});

t.test('a receiver that is stalled: no node changes its state', async t => {
  const { path, report, beat, follow } = scene(t, { uncertainAfter: 300, silentAfter: 600 });
  report('a');
  report('b', { interval_ms: 1000 }, 0);
  const follower = follow();
  beat(5);
  const begun = bare(follower.look(true));
  t.same(begun, [`begin 2 ${states({ unknown: 2 })} 0 0`, 'stalled false']);
  t.same(follower.look(true), [], 'it is told once');
  beat();
  t.match(bare(follower.look(true)), [/^resumed 2 /], 'what is known now is no change');
  const reader = openReader(t, path);
  await until('b is silent', () => {
    beat();
    return reader.snapshot().stateOf(1) === 'silent';
  });
  follower.look(true);
  beat(5);
  t.same(bare(follower.look(true)), ['stalled false']);
  report('a', { flags: GOODBYE });
  report('b');
  t.same(bare(follower.look(true)), ['goodbye a'], 'the ring tells what was written');
  beat();
  const told = bare(follower.look(true));
  t.match(told[0], /^resumed 2 /);
  t.same(told.slice(1), ['state a live left', 'state b silent live'], 'against what was known before');

  const { mirror_masters, mirror_followed, mirror_names } = structs.board_header.fields;
  const file = openSync(path, 'r+');
  writeSync(file, Uint8Array.of(1), 0, 1, mirror_masters.offset);
  writeSync(file, Uint8Array.of(0), 0, 1, mirror_followed.offset);
  writeSync(file, 'm1\0', mirror_names.offset);
  closeSync(file);
  beat(5);
  t.match(follower.look(true), [{ event: 'stalled', master: 'm1' }], 'of a mirror it says whom it follows');
  beat();
  t.match(follower.look(true)[0], { event: 'resumed', master: 'm1' });
});

t.test('lines: equal events of several nodes are one line', async t => {
  process.env.TZ = 'UTC';
  const at = BigInt(Date.UTC(2026, 10, 22, 14, 3, 33, 250)) * 1_000_000n;
  const fell = (node: string, i: number) => ({
    at,
    event: 'state' as const,
    node,
    from: 'uncertain' as const,
    to: 'silent' as const,
    age_ms: 10_600 + 10 * i,
  });
  const standing = { nodes: 60, states: { live: 60 } as Record<string, number> as never, unhealthy: 1, recently: 2 };
  const all: BoardChange[] = [
    { at, event: 'begin', ...standing },
    { at, event: 'restart', number: 7, node: 'n01' },
    ...expand('node[001-030]', BOARD_MOST).map(fell),
    { at, event: 'state', node: 'n07', to: 'live', age_ms: 3 },
    { at, event: 'state', node: 'n08', from: 'live' },
    { at, event: 'problem', node: 'n02', problem: 'root_readonly' },
    { at, event: 'problem_resolved', node: 'n03', problem: 'held' },
    { at, event: 'problem_resolved', node: 'n04', problem: 'held' },
    { at, event: 'reboot', number: 8, node: 'n\x1b[31m' },
    { at, event: 'reset', number: 8, node: 'n5' },
    { at, event: 'goodbye', number: 8, node: 'n5' },
    { at, event: 'refusal', number: 9, node: 'n9', reason: 'rival' },
    { at, event: 'refusal', number: 10, reason: 'size' },
    { at, event: 'refusal', number: 10, node: 'n9', reason: 'clock' },
    { at, event: 'link_down', number: 11, link: 'eth0' },
    { at, event: 'link_up', number: 11, link: 'eth0' },
    { at, event: 'dark', number: 12, link: 'eth0', count: 30 },
    { at, event: 'lit', number: 13, link: 'eth0' },
    { at, event: 'overflow', number: 14, count: 3 },
    { at, event: 'takeover', number: 15, instance: 3 },
    ...['n1', 'n2'].map(
      (node): BoardChange => ({
        ...fell(node, 0),
        at: at + 5n * S,
        last_words: { reported_ms: 10_600, said: ['late'] },
      }),
    ),
    ...['n3', 'n4', 'n5'].map(
      (node, i): BoardChange => ({
        ...{ at: at + 9n * S, event: 'state', node, from: 'silent', to: 'live', age_ms: 10 },
        ...(i < 2 && { stood_still_ms: 13_600 }),
      }),
    ),
    { at, event: 'deaf', number: 15, deaf_ms: 52_000 },
    { at, event: 'forget', number: 16, count: 1 },
    { at, event: 'restart', number: 17 },
    { at, event: 'unknown', number: 18 },
    { at, event: 'lost', count: 1 },
    { at, event: 'stalled', closed: false, heartbeat_age_ms: 3100 },
    { at, event: 'stalled', closed: false, heartbeat_age_ms: 3100, master: 'm1' },
    { at, event: 'stalled', closed: true, heartbeat_age_ms: 3100, master: '' },
    { at, event: 'resumed', nodes: 1, states: { live: 1 }, unhealthy: 0, recently: 0, master: 'm1' } as never,
    { at, event: 'no_board', why: 'gone' },
  ];
  t.same(
    textLines(all, painter('never')).map(line => line.replace(/^2026-11-22 14:03:33 {2}/, '').trimEnd()),
    [
      'watching 60 nodes: 60 live, 1 unhealthy now, 2 more recently',
      'n01 sender restarted',
      'node[001-030] (30 nodes) uncertain -> silent, last heard 10.6s to 10.8s ago',
      'n07 new: live',
      'n08 no longer on the board',
      'n02 problem: its root file system is read-only',
      'n[03-04] (2 nodes) problem resolved: put on hold by its administrator',
      'n\\u{1b}[31m booted',
      'n5 reset: accepted only because nothing else was heard',
      'n5 said goodbye',
      'n9 rejected: rival (another run or boot of that name is live)',
      'a datagram was rejected: size',
      'n9 rejected: a wall clock that is off, or a recording',
      'eth0 is down: nothing is heard from the nodes behind it',
      'eth0 is up',
      'eth0 is dark: all 30 nodes behind it fell silent together; a switch or this master is more likely at fault',
      'eth0 is no longer dark: a node behind it is heard again',
      'a socket buffer was full: 3 datagrams were dropped; see net.core.rmem_max',
      'a receiver started, the 3rd of this board',
      '2026-11-22 14:03:38  n[1-2] (2 nodes) uncertain -> silent, last heard 10.6s ago; their last reports: its sender was late',
      '2026-11-22 14:03:42  n[3-4] (2 nodes) silent -> live; the nodes or their senders stood still for 13.6s',
      '2026-11-22 14:03:42  n5 silent -> live',
      'this master did not listen for 52.0s until now: nothing is known of nodes for that time',
      '1 node was removed from the board',
      'restart of an unknown node',
      'an event of a kind that this version does not know, number 18',
      '1 event was lost: there were more between two looks than the board keeps, or another board replaced it',
      'the receiver is stalled, its heartbeat is 3.1s old: nothing is known about nodes',
      'nothing new comes from the master, its heartbeat is 3.1s old: nothing is known about nodes',
      'the mirror was stopped, its heartbeat is 3.1s old: nothing is known about nodes',
      'the mirror hears its master again: 1 node: 1 live',
      'no board: gone',
    ],
  );
  t.match(textLines([fell('n1', 0)], painter('always'))[0], /\x1b\[3\dm/);
  const objects = [...objectLines(all)].map(line => JSON.parse(line));
  t.equal(objects.length, all.length, 'each node has its own');
  t.same(objects[2], {
    schema: 1,
    time: '2026-11-22T14:03:33.250Z',
    event: 'state',
    node: 'node001',
    from: 'uncertain',
    to: 'silent',
    age_ms: 10_600,
  });
});

type Told = Record<string, unknown>;

/** The program, and its output so far as objects. */
function following(t: Test, board: string, ...more: string[]) {
  const running = start(t, ['events', '--json', '--board', board, ...more]);
  const told = () =>
    running
      .output()
      .stdout.split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as Told);
  const tells = (wanted: Told) =>
    until(`it tells ${JSON.stringify(wanted)}`, () =>
      told().find(object => Object.entries(wanted).every(([key, value]) => object[key] === value)),
    );
  return { ...running, told, tells };
}

/** Sends reports, each later than the last one. */
function sender(t: Test, port: () => number) {
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  let seq = 0;
  return (hostname: string, values: Encodable<'report'> = {}) => {
    seq++;
    socket.send(
      makeReport({ hostname, seq, t_boot_ns: BigInt(100 + seq) * S, ...FOREVER, ...values }),
      port(),
      '127.0.0.1',
    );
  };
}

t.test('the command, with a receiver that hears, stands still, and is replaced', async t => {
  const board = boardPath(t);
  let receiver = await startReceiver(t, board, ['--uncertain-after', '1s', '--silent-after', '2s']);
  const send = sender(t, () => receiver.port);
  const events = following(t, board);
  await events.tells({ event: 'begin', nodes: 0 });
  send('a');
  await events.tells({ event: 'state', node: 'a', to: 'live' });
  send('a', { flags: HELD });
  await events.tells({ event: 'problem', node: 'a', problem: 'held' });
  send('b', { interval_ms: 1000 });
  await events.tells({ event: 'state', node: 'b', to: 'silent' });
  const halted = await stop(receiver.child);
  await events.tells({ event: 'stalled', closed: false });
  goOn(halted);
  await events.tells({ event: 'resumed', nodes: 2 });
  const kinds = events.told().map(({ event }) => event);
  t.same(kinds.slice(kinds.indexOf('stalled') + 1, kinds.indexOf('resumed')), ['deaf'], 'meanwhile no state changes');
  send('a', { flags: GOODBYE });
  await events.tells({ event: 'goodbye', node: 'a' });
  await events.tells({ event: 'state', node: 'a', from: 'live', to: 'left' });
  receiver.child.kill('SIGTERM');
  await receiver.exit;
  receiver = await startReceiver(t, board, ['--uncertain-after', '1s', '--silent-after', '2s']);
  await events.tells({ event: 'takeover', instance: 2 });
  t.equal((await run(['forget', '--board', board, 'b'])).code, 0);
  await events.tells({ event: 'forget', count: 1 });
  await events.tells({ event: 'state', node: 'b', from: 'silent' });
  t.notOk(
    events.told().some(({ event }) => event === 'board'),
    'the board is the same one',
  );
  receiver.child.kill('SIGTERM');
  await receiver.exit;
  rmSync(board);
  await events.tells({ event: 'no_board' });
  receiver = await startReceiver(t, board);
  await events.tells({ event: 'board', nodes: 0 });
  const gone = events.told().filter(({ event, to }) => event === 'state' && to === undefined);
  t.same(gone.map(({ node }) => node).sort(), ['a', 'b'], 'of what was on the board before nothing is left');
  t.ok(events.told().every(({ schema, time }) => schema === 1 && !Number.isNaN(Date.parse(String(time)))));
  events.child.kill('SIGTERM');
  t.equal(await events.exit, 0);
  t.equal(events.output().stderr, '');
});

t.test('how it begins and ends', { skip: NOT_WHOLE }, async t => {
  const board = boardPath(t);
  const none = await run(['events', '--board', board]);
  t.match(none, { code: 4, stdout: '', stderr: /^beoboard events: .*there is no board; start beoboard receive.*\n$/ });
  let receiver = await startReceiver(t, board);
  const timed = await run(['events', '--for', '100ms', '-w', 'nobody', '--board', board]);
  t.match(timed, { code: 1, stderr: 'beoboard events: not on the board: nobody\n' });
  t.match(timed.stdout, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}watching 0 nodes\n$/);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const events = following(t, board);
    await events.tells({ event: 'begin' });
    events.child.kill(signal);
    t.equal(await events.exit, 0, signal);
  }
  const last = following(t, board, '-n', '1');
  await until('it says that it goes on', () => last.output().stderr === 'following; Ctrl-C ends\n');
  last.child.kill('SIGTERM');
  t.equal(await last.exit, 0);
  const noJournal = ['--journal-dir', `${board}.journal`];
  t.match(await run(['events', '-f', '--board', board, ...noJournal]), { code: 4, stderr: /there is no journal/ });
  // When the reader of its output closes the pipe, the program ends cleanly at its next line.
  const send = sender(t, () => receiver.port);
  // A node that is missing at first and reports later is known in the end.
  const waiting = following(t, board, '-w', 'late');
  await waiting.tells({ event: 'begin' });
  send('late');
  await waiting.tells({ event: 'state', node: 'late', to: 'live' });
  waiting.child.kill('SIGTERM');
  t.equal(await waiting.exit, 0);
  t.equal(waiting.output().stderr, 'beoboard events: not on the board: late\n');
  const silences = following(t, board, '-f', '--kind', 'goodbye,stalled');
  await until('it says whom it follows', () => /no journal: follows the board/.test(silences.output().stderr));
  // Its first look has begun when this is told: what comes before is no change.
  await until('a goodbye', () => {
    send('late', { flags: GOODBYE });
    return silences.told().length > 0;
  });
  const brief = await run(['events', '-n', '5', '--for', '0', '--board', board]);
  t.match(brief, { code: 0, stderr: '' });
  t.match(brief.stdout, /late( \(\d+ nodes\))? said goodbye\n.*watching 1 node: .*\n$/, 'what is there, and no more');
  t.same([...new Set(silences.told().map(({ event }) => event))], ['goodbye']);
  receiver.child.kill('SIGTERM');
  await silences.tells({ event: 'stalled' });
  await receiver.exit;
  receiver = await startReceiver(t, board);
  await silences.tells({ event: 'resumed' });
  silences.child.kill('SIGTERM');
  t.equal(await silences.exit, 0);
  const child = spawn(process.execPath, [PROGRAM, 'events', '--board', board], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = follow(child, t, ['stderr']);
  await once(child.stdout, 'data');
  child.stdout.destroy();
  await until('it has ended', () => {
    send('a', { start_boot_ns: 50n * S + BigInt(Date.now()) });
    return child.exitCode !== null || child.signalCode !== null;
  });
  t.equal(await said.exit, 0);
  t.equal(said.stderr, '');
});
