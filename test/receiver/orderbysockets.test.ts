// The rules of order without keys by real sockets and a real receiver, with the numbers of c/test/unit/orderunit.c, which
// has those of time, too; then what only sockets show: several paths at once, a change between them under load, a full
// board.
//
// @seconds 10
// @rest
// @days 3

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as others } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { Encodable } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { random } from '../../src/load/simulatednode.js';
import { BulkSender } from '../../src/native/index.js';
import type { BoardReader } from '../../src/shm/reader.js';
import type { Node } from '../../src/shm/snapshot.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { type Running, start } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { countsOf, goOn, pass, S, StandIn, settled, startIn, stop } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { SEED } from '../kit/whole.js';

/** A master under test; `socket` sends to its first address. */
interface Master extends Running {
  port: number;
  reader: BoardReader;
  socket: BulkSender;
}

function openSocket(t: Test, port: number, host = '127.0.0.1'): BulkSender {
  const socket = new BulkSender(host, port);
  t.teardown(() => socket.close());
  return socket;
}

async function startMaster(t: Test, more: string[], board = boardPath(t)): Promise<Master> {
  const running = start(t, ['receive', '--board', board, '--listen', '127.0.0.1:0', ...more]);
  const port = Number((await running.ready).listening?.[0]?.split(':').at(-1));
  return { ...running, port, reader: openReader(t, board), socket: openSocket(t, port) };
}

const find = (reader: BoardReader, name: string): Node | undefined =>
  [...reader.snapshot().nodes()].find(node => node.name === name);

function put(socket: BulkSender, report: Uint8Array): void {
  if (socket.send(report, report.length, 0, 1) !== 1) throw new Error('not sent');
}

// ---- the rules ----

interface Sent {
  boot?: number;
  /** The sender's start, in seconds after boot. */
  start?: number;
  /** The time of this report, in seconds after boot. */
  t: number;
  seq: number;
  interval?: number;
  goodbye?: number;
}

type Outcome = 'accepted' | 'duplicate' | 'late' | 'replay' | 'rival';

/** A report, and the result; or the receiver is stopped. */
type Step = [Sent, Outcome] | 'stop';

interface Row {
  /** Its number in c/test/unit/orderunit.c. */
  number: number;
  steps: Step[];
  counts: ReturnType<typeof countsOf>;
  refusal?: string | undefined;
}

/** The rows of c/test/unit/orderunit.c: their rules, what they count, and their steps, without the times. */
const ORDER = readFileSync(join(ROOT, 'c/test/unit/orderunit.c'), 'utf8');
const TABLE = [
  ...ORDER.matchAll(/^ {2}\{"(?<rule>.*)",\n {3}\{(?<counts>.*?)\}, .*\n(?<steps>(?: {4}.*\n| {3}\{\{.*\n)+)/gm),
].map(({ groups: { rule = '', counts = '', steps = '' } = {} }) => ({
  rule,
  counts: valuesIn(counts),
  steps: [...steps.matchAll(/\{[\d.]+, ([A-Z]+), \{(.*?)\}\}/g)].map(
    ([, outcome = '', sent = '']): Step =>
      outcome === 'RESUMED' ? 'stop' : [sentOf(valuesIn(sent)), outcome.toLowerCase() as Outcome],
  ),
}));

/** Designated initialisers of C. */
function valuesIn(text: string): Record<string, number> {
  const values = [...text.matchAll(/\.(\w+) = ([\w.]+)/g)];
  return Object.fromEntries(values.map(([, name, value]) => [name, value === 'true' ? 1 : Number(value)]));
}

/** Another boot has lasted for days: one that began just now, at the same address, is a plain reset. */
function sentOf({ t = 0, seq = 0, ...sent }: Record<string, number>): Sent {
  return sent.boot === undefined ? { ...sent, t, seq } : { ...sent, start: 500_000, t: 1_000_000 + t, seq };
}

/** A row of the table, up to its step `end`; with a stop of the receiver before its step `stop`. */
function rowOf(number: number, stop?: number, end?: number, counted?: Row['counts']): Row {
  const row = TABLE[number - 1];
  if (row === undefined) throw new Error(`no row ${number}`);
  const steps = row.steps.slice(0, end);
  const outcomes = steps.flatMap(step => (typeof step === 'string' ? [] : step[1]));
  const refused = outcomes.filter(outcome => outcome !== 'accepted' && outcome !== 'duplicate');
  const times = (which: Outcome) => outcomes.filter(outcome => outcome === which).length;
  const counts = { accepted: times('accepted'), duplicate: times('duplicate'), late: times('late') };
  const all = { ...counts, refused: refused.length, ...(counted ?? row.counts) };
  if (stop !== undefined) steps.splice(stop, 0, 'stop');
  return {
    number,
    steps,
    counts: Object.fromEntries(Object.entries(all).filter(([, count]) => count > 0)),
    refusal: refused.at(-1),
  };
}

/** Rows without waiting. */
const atOnce = [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 15, 18, 21].map(number => rowOf(number));

/** Rows in which the receiver is stopped or paused. */
const overStops = [rowOf(4), rowOf(8), rowOf(5, 3), rowOf(6, 2), rowOf(12, 2, 4, { restarts: 1 }), rowOf(18, 1, 3)];

const titleOf = ({ number }: Row) => `${number}. ${TABLE[number - 1]?.rule}`;

/** Limits that are never reached, so that a slow machine does not matter. */
const HOURS = ['--uncertain-after', '3600s', '--silent-after', '7200s'];

const ns = (seconds: number) => BigInt(Math.round(seconds * 1e6)) * 1000n;

function encodeSent(hostname: string, { boot = 1, start = 50, t, seq, interval = 1000, goodbye = 0 }: Sent) {
  const values: Encodable<'report'> = {
    hostname,
    boot_id: BigInt(boot),
    start_boot_ns: ns(start),
    t_boot_ns: ns(t),
    seq,
    interval_ms: interval,
    flags: goodbye ? 2 ** bits.flags.goodbye : 0,
  };
  return makeReport(values);
}

/** One node that goes through the steps of a row. */
class Walker {
  #outcomes = 0;
  readonly #name: string;

  constructor(
    row: Row,
    private master: Master,
  ) {
    this.#name = `row${row.number}`;
  }

  goTo(master: Master): void {
    this.master = master;
  }

  get node(): Node | undefined {
    return find(this.master.reader, this.#name);
  }

  async settled(): Promise<void> {
    await settled(this.master.reader);
  }

  /** Sends it, and waits until its record shows the result. */
  async send(sent: Sent): Promise<{ outcome: string; node: Node }> {
    const before = countsOf(this.node);
    put(this.master.socket, encodeSent(this.#name, sent));
    const node = await until(`${this.#name}: something became of it`, () => {
      const found = this.node;
      const { accepted = 0, duplicate = 0, refused = 0 } = countsOf(found);
      return found !== undefined && accepted + duplicate + refused > this.#outcomes && found;
    });
    this.#outcomes++;
    const after = countsOf(node);
    const more = (['accepted', 'duplicate'] as const).find(name => (after[name] ?? 0) > (before[name] ?? 0));
    return { outcome: more ?? node.lastRefusal?.reason ?? '', node };
  }
}

/** Takes a node through the steps. */
async function walk(t: Test, walker: Walker, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (step === 'stop') continue;
    const [sent, expected] = step;
    const { outcome, node } = await walker.send(sent);
    t.equal(outcome, expected, JSON.stringify(sent));
    if (outcome === 'accepted') t.match(node.report, { seq: sent.seq, t_boot_ns: ns(sent.t) }, 'the board holds it');
  }
}

async function compare(t: Test, { counts, refusal }: Row, walker: Walker): Promise<void> {
  await walker.settled();
  t.same(countsOf(walker.node), counts);
  t.equal(walker.node?.lastRefusal?.reason, refusal);
}

const stops: [how: string, again: (t: Test, master: Master, board: string) => Promise<Master>][] = [
  [
    'SIGTERM and a new start',
    async (t, { child, exit }, board) => {
      child.kill('SIGTERM');
      t.equal(await exit, 0);
      return startMaster(t, HOURS, board);
    },
  ],
  [
    'kill -9 and a new start',
    async (t, { child, exit }, board) => {
      child.kill('SIGKILL');
      t.equal(await exit, 'SIGKILL');
      return startMaster(t, HOURS, board);
    },
  ],
  [
    'a pause',
    async (_, master) => {
      const stopped = await stop(master.child);
      await pass(stopped.from + 1.1 * S);
      const to = goOn(stopped);
      await until('it listens again', () => Number(master.reader.snapshot().evidence.heartbeatNs) > to);
      return master;
    },
  ],
];

function rules(): void {
  t.test('no row of the table is overlooked', async t => {
    t.strictSame(
      TABLE.map(({ rule }) => rule),
      [...ORDER.matchAll(/^ {2}\{"(.*)",$/gm)].map(([, rule]) => rule),
    );
    t.notOk(TABLE.some(({ steps }) => steps.length === 0));
  });

  t.test('at once', { buffered: true }, async t => {
    const master = await startMaster(t, HOURS);
    t.jobs = atOnce.length;
    for (const row of atOnce)
      t.test(titleOf(row), { buffered: true }, async t => {
        const walker = new Walker(row, master);
        await walk(t, walker, row.steps);
        await compare(t, row, walker);
      });
  });

  for (const [how, again] of stops)
    t.test(`over ${how}`, { buffered: true }, async t => {
      const board = boardPath(t);
      const before = await startMaster(t, HOURS, board);
      const rows = overStops.map(row => ({ row, at: row.steps.indexOf('stop'), walker: new Walker(row, before) }));
      for (const { row, at, walker } of rows) await walk(t, walker, row.steps.slice(0, at));
      const after = await again(t, before, board);
      for (const { row, at, walker } of rows)
        await t.test(titleOf(row), async t => {
          walker.goTo(after);
          await walk(t, walker, row.steps.slice(at));
          await compare(t, row, walker);
        });
    });
}

// ---- what only sockets show ----

/** The number of looks without a pause, before looks with a pause begin. */
const IMPATIENT = 200;

/** Waits until the receiver has counted so many datagrams; it may not have handled the last one yet. */
async function received(reader: BoardReader, count: number): Promise<void> {
  const look = () => (reader.snapshot().header.received ?? 0) >= count;
  for (let i = 0; i < IMPATIENT; i++) {
    if (look()) return;
    await others();
  }
  await until(`${count} datagrams were received`, look);
}

function boards(): void {
  t.test(
    'a full board: the others are undisturbed, and more room lets the next one in',
    { buffered: true },
    async t => {
      const board = boardPath(t);
      const names = ['node1', 'node2', 'node3'];
      const first = await startMaster(t, [...HOURS, '--capacity', '3'], board);
      for (let seq = 0; seq < 5; seq++)
        for (const name of [...names, 'node4', 'node5']) put(first.socket, encodeSent(name, { t: 100 + seq, seq }));
      await received(first.reader, 25);
      const full = await settled(first.reader);
      t.same(full.refused, { full: 10 });
      t.same([full.header.accepted, full.count], [15, 3]);
      const states = (reader: BoardReader) =>
        [...reader.snapshot().nodes()].map(node => [node.name, node.state, countsOf(node)]);
      t.same(
        states(first.reader),
        names.map(name => [name, 'live', { accepted: 5 }]),
      );
      first.child.kill('SIGTERM');
      await first.exit;
      const second = await startMaster(t, [...HOURS, '--capacity', '4'], board);
      for (const name of ['node4', 'node5', ...names]) put(second.socket, encodeSent(name, { t: 105, seq: 5 }));
      await received(second.reader, 30);
      const more = await settled(second.reader);
      t.same(more.refused, { full: 11 });
      t.same(states(second.reader), [
        ...names.map(name => [name, 'live', { accepted: 6 }]),
        ['node4', 'live', { accepted: 1 }],
      ]);
    },
  );

  t.test('unlisted nodes get no record, and disturb no other node', { buffered: true }, async t => {
    const { reader, socket } = await startMaster(t, [...HOURS, '--nodes', 'node[1-2]']);
    for (let seq = 0; seq < 5; seq++)
      for (const name of ['node1', 'node3', 'nod', 'node10']) put(socket, encodeSent(name, { t: 100 + seq, seq }));
    await received(reader, 20);
    const snapshot = await settled(reader);
    t.same(snapshot.refused, { stranger: 15 });
    t.same(
      [...snapshot.nodes()].map(node => [node.name, node.state, countsOf(node)]),
      [
        ['node1', 'live', { accepted: 5 }],
        ['node2', 'never', {}],
      ],
    );
  });
}

/** How far one path may lag behind another, in reports: the history does not reach further back. */
const MOST_LAG = 60;

/**
 * Sends the same reports on several paths, each with its own delays and losses; the expected counts come from set
 * arithmetic.
 */
async function bring(t: Test, reader: BoardReader, name: string, roads: BulkSender[], seed: number): Promise<void> {
  t.comment(`seed ${seed}`);
  const next = random(seed);
  const count = 400;
  const reports = Array.from({ length: count }, (_, seq) => encodeSent(name, { t: 100 + seq, seq }));
  const arrivals: { seq: number; road: number; at: number }[] = [];
  for (let seq = 0; seq < count; seq++)
    for (let road = 0; road < roads.length; road++)
      // The first and the last report come on every path without delay, so that gaps occur only between them.
      if (seq === 0 || seq === count - 1) arrivals.push({ seq, road, at: seq === 0 ? -1 : count + MOST_LAG });
      else if (next() < 0.6) arrivals.push({ seq, road, at: seq + Math.floor(next() * MOST_LAG) });
  arrivals.sort((a, b) => a.at - b.at);
  const total = reader.snapshot().header.received ?? 0;
  for (const [i, { seq, road }] of arrivals.entries()) {
    put(roads[road] as BulkSender, reports[seq] as Uint8Array);
    // One at a time: sockets are read in turn, so the order would be lost otherwise.
    await received(reader, total + i + 1);
  }
  const seen = new Set(arrivals.map(({ seq }) => seq));
  let highest = -1;
  let late = 0;
  const come = new Set<number>();
  for (const { seq } of arrivals) {
    if (!come.has(seq) && seq < highest) late++;
    come.add(seq);
    highest = Math.max(highest, seq);
  }
  const expected = {
    accepted: seen.size - late,
    lost: count - seen.size,
    duplicate: arrivals.length - seen.size,
    late,
    refused: late,
  };
  await settled(reader);
  const node = find(reader, name);
  t.same(countsOf(node), expected, `${arrivals.length} datagrams by ${roads.length} roads`);
  t.equal(node?.report?.seq, count - 1);
}

function roads(): void {
  t.test(
    'the same reports by two addresses: who comes first wins, what comes late takes back a loss',
    { buffered: true },
    async t => {
      const board = boardPath(t);
      const listen = ['--listen', '127.0.0.1:0', '--listen', '127.0.0.2:0'];
      const { ready } = start(t, ['receive', '--board', board, '--drain', '1ms', ...listen, ...HOURS]);
      const sockets = ((await ready).listening ?? []).map(address => {
        const [host, port] = address.split(':');
        return openSocket(t, Number(port), host);
      });
      t.equal(sockets.length, 2);
      await bring(t, openReader(t, board), 'node1', sockets, SEED);
    },
  );
}

function slowRoads(): void {
  t.test('a sender changes to a name whose look-up takes longer than an interval', { buffered: true }, async t => {
    const board = boardPath(t);
    const listen = ['--listen', '127.0.0.1:0', '--listen', '127.0.0.1:0'];
    const { listening = [] } = await start(t, ['receive', '--board', board, ...listen]).ready;
    const [first, second] = listening.map(address => address.split(':').at(-1));
    const reader = openReader(t, board);
    const config = join(folder(t), 'send.toml');
    const write = (to: string) => writeFileSync(config, `to = "${to}"\ninterval = "100ms"\n`);
    write(`127.0.0.1:${first}`);
    const standIn = new StandIn(t, { lookupMs: 350 });
    const sender = startIn(t, standIn, ['send', '--config', config, '--name', 'node1']);
    await sender.ready;
    const reports = () => countsOf(find(reader, 'node1')).accepted ?? 0;
    await until('it is heard', () => reports() >= 2);
    write(`slow.invalid:${second}`);
    sender.child.kill('SIGHUP');
    await until('it has read its options again', () => sender.output().stderr.includes('read its options again'));
    const before = reports();
    await until('it is heard on the other road', () => reports() > before + 1);
    sender.child.kill('SIGTERM');
    t.equal(await sender.exit, 0);
    await until('it has left', () => find(reader, 'node1')?.state === 'left');
    await settled(reader);
    const sent = Number(/after (\d+) reports/.exec(sender.output().stderr)?.[1]);
    t.same(countsOf(find(reader, 'node1')), { accepted: sent }, 'none is lost');
  });
}

// ---- in its own network, with groups and ports that nobody else uses ----

const GROUP = '239.255.86.77';

/** Loopback with multicast. */
const SETUP = 'ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo';

function inside(): void {
  t.test('two addresses and a group at once, on sockets of their own', { buffered: true }, async t => {
    const board = boardPath(t);
    const listen = ['--listen', '127.0.0.1:9001', '--listen', '127.0.0.2:9002', '--group', `${GROUP}:9003`];
    await start(t, ['receive', '--board', board, '--drain', '1ms', ...listen, ...HOURS]).ready;
    const sockets = [openSocket(t, 9001), openSocket(t, 9002, '127.0.0.2'), openSocket(t, 9003, GROUP)];
    await bring(t, openReader(t, board), 'node1', sockets, SEED);
  });

  t.test('an address and a group at once, on one socket', { buffered: true }, async t => {
    const board = boardPath(t);
    const listen = ['--listen', '0.0.0.0:9004', '--group', `${GROUP}:9004`];
    await start(t, ['receive', '--board', board, '--drain', '1ms', ...listen, ...HOURS]).ready;
    await bring(t, openReader(t, board), 'node1', [openSocket(t, 9004), openSocket(t, 9004, GROUP)], SEED);
  });

  for (const [what, listen, address, group] of [
    ['one socket', '0.0.0.0:9005', '127.0.0.1:9005', `${GROUP}:9005`],
    ['two sockets', '127.0.0.1:9006', '127.0.0.1:9006', `${GROUP}:9007`],
  ] as const)
    t.test(`senders go over to a group and back under load, ${what}`, { buffered: true }, async t => {
      const board = boardPath(t);
      await start(t, ['receive', '--board', board, '--listen', listen, '--group', group]).ready;
      const reader = openReader(t, board);
      const config = join(folder(t), 'send.toml');
      const write = (to: string[]) => writeFileSync(config, `to = ${JSON.stringify(to)}\ninterval = "100ms"\n`);
      write([address]);
      const names = ['node1', 'node2', 'node3'];
      const senders = names.map(name => start(t, ['send', '--config', config, '--name', name]));
      await Promise.all(senders.map(({ ready }) => ready));
      // A rate at which the buffer holds more than a second of reports, for the slowest machine.
      const rate = Math.min(1000, Math.floor((reader.snapshot().header.receive_buffer ?? 0) / 2305));
      const load = start(t, ['load', '--to', address, '--size', '200', '--rate', String(rate), '--json']);
      await until('the load is there', () => reader.snapshot().count === 203);
      const heard = async (count: number) => {
        const before = names.map(name => find(reader, name)?.record.accepted ?? 0);
        await until(`${count} more were heard of each`, () =>
          names.every((name, i) => (find(reader, name)?.record.accepted ?? 0) >= (before[i] ?? 0) + count),
        );
      };
      const changes = [[group], [address], [address, group], [group]];
      for (const [i, to] of changes.entries()) {
        await heard(2);
        write(to);
        for (const { child } of senders) child.kill('SIGHUP');
        const told = ({ output }: Running) => output().stderr.split('read its options again').length - 1;
        await until('they have read their options again', () => senders.every(sender => told(sender) === i + 1));
      }
      await heard(3);
      for (const { child } of [load, ...senders]) child.kill('SIGTERM');
      for (const { exit } of [load, ...senders]) t.equal(await exit, 0);
      await until('all have left', () => names.every(name => find(reader, name)?.state === 'left'));
      const snapshot = await settled(reader);
      for (const [i, name] of names.entries()) {
        const reports = Number(/after (\d+) reports/.exec(senders[i]?.output().stderr ?? '')?.[1]);
        const { duplicate, ...counts } = countsOf(find(reader, name));
        t.same(
          counts,
          { accepted: reports },
          `${name}: ${reports} reports, of which none is lost, and no state changed`,
        );
        t.ok((duplicate ?? 0) >= 1, 'by both roads for a while');
      }
      const { reports } = JSON.parse(load.output().stdout);
      const others = [...snapshot.nodes()].filter(({ name }) => !names.includes(name)).map(countsOf);
      t.equal(
        others.reduce((sum, { accepted = 0 }) => sum + accepted, 0),
        reports,
        'the load is all there',
      );
      t.same(
        others.filter(counts => Object.keys(counts).length > 1),
        [],
      );
      t.same([snapshot.refused, snapshot.header.kernel_drops], [{}, 0]);
    });
}

t.jobs = 3;

if (INSIDE) inside();
else {
  rules();
  boards();
  roads();
  slowRoads();
  inOwnNetwork(t, SETUP, import.meta.url, 'roads');
}
