// Shared by the tests of time and loss: a receiver in its own environment, nodes that record their reports with the
// times, a sampler that reads the board a thousand times a second, and what the design requires of each sample. No test
// of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as others } from 'node:timers/promises';
import { bits } from '../../src/layout/layout.gen.js';
import { BulkSender, CLOCK, clocks } from '../../src/native/index.js';
import type { State } from '../../src/shm/liveness.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { Node, Snapshot } from '../../src/shm/snapshot.js';
import { endWith } from './children.js';
import { testProgram } from './compiling.js';
import { judge } from './judging.js';
import { boardPath, folder } from './places.js';
import { PROGRAM, type Running, roomIn, runningOf } from './program.js';
import { makeReport } from './reports.js';
import { until } from './until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

interface Test extends Teardown {
  same(found: unknown, wanted: unknown, ...more: [string]): boolean;
  ok(value: unknown, ...more: [string]): boolean;
}

/** Times are ns of CLOCK_MONOTONIC as numbers: exact to 2 ns after a hundred days. */
export const MS = 1e6;
export const S = 1e9;

/** By how much two programs' readings of one moment may differ if wall clock and monotonic clock are compared. */
export const SLACK = 5 * MS;
/** The longest time that the kernel takes to put a datagram that was sent over loopback into a socket. */
export const ROAD = 20 * MS;

const time = new BigUint64Array(3);

export function now(): number {
  clocks(time);
  return Number(time[CLOCK.monotonic]);
}

export function realNow(): bigint {
  clocks(time);
  return time[CLOCK.real] ?? 0n;
}

/** Waits until this time, for tests in which time itself is the subject. */
export async function pass(end: number): Promise<void> {
  for (let left = end - now(); left > 0; left = end - now())
    await new Promise(resolve => setTimeout(resolve, Math.ceil(left / MS)));
}

export interface Surroundings {
  /** The command that runs the program; it must exec the program, without another process. */
  prefix?: readonly string[];
  env?: Record<string, string>;
}

/** Starts `beoboard argv` like lib's start, in its own environment. */
export function startIn(t: Teardown, { prefix = [], env = {} }: Surroundings, argv: string[]): Running {
  const [command = '', ...rest] = [...prefix, process.execPath, PROGRAM, ...argv];
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...env } });
  return runningOf(t, child, argv);
}

/** Whether every thread of a process is stopped. */
const isStopped = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).every(task =>
    / [Tt] /.test(readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8').replace(/^.*\)/, '')),
  );

/** A process that has certainly been stopped since `from`. */
export interface Stop {
  pid: number;
  from: number;
}

export async function stop(child: ChildProcess): Promise<Stop> {
  const pid = child.pid as number;
  child.kill('SIGSTOP');
  await until('it is stopped', () => isStopped(pid));
  return { pid, from: now() };
}

/** Continues the process; it was certainly stopped until the returned time. */
export function goOn({ pid }: Stop): number {
  const end = now();
  process.kill(pid, 'SIGCONT');
  return end;
}

// ---- the stand-in ----

/** Where the receive thread can be held; see c/test/standin.c. */
const POINTS = ['nowhere', 'begun', 'before receive', 'after receive', 'after drain'] as const;
export type Point = (typeof POINTS)[number];

const WORD = { hold: 0, held: 1, call: 2, unstepped: 3, buffer: 4, lookup: 5, steal: 6, steps: 7, firstStep: 8 };
/** For `hold('before receive')`: at whichever call of a drain. */
export const ANY_CALL = -1;
/** The number of steps that fit into the shared memory. */
const MOST_STEPS = 200;

/**
 * Controls c/test/standin.c in a daemon: its wall clock, its socket buffers, where its receive thread is held, and how
 * slow look-ups of names are.
 */
export class StandIn {
  readonly env: Record<string, string>;
  readonly #file: number;
  readonly #path: string;
  #steps = 0;
  #offset = 0n;

  constructor(t: Teardown, { buffer = 0, lookupMs = 0 } = {}) {
    this.#path = join(folder(t), 'words');
    writeFileSync(this.#path, new Uint8Array(4096));
    this.#file = openSync(this.#path, 'r+');
    t.teardown(() => closeSync(this.#file));
    this.#write(WORD.buffer, BigInt(buffer));
    this.#write(WORD.lookup, BigInt(lookupMs));
    this.env = { LD_PRELOAD: testProgram('test/standin.so'), STANDIN: this.#path };
  }

  #write(word: number, value: bigint): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    writeSync(this.#file, bytes, 0, 8, word * 8);
  }

  #read(word: number): number {
    return Number(readFileSync(this.#path).readBigInt64LE(word * 8));
  }

  /**
   * Holds the receive thread at the next such point, and waits until it is there. `call`: which recvmmsg within a
   * drain.
   */
  async hold(point: Point, call = 0): Promise<void> {
    const before = this.arm(point, call);
    await until(`it is held ${point}`, () => this.#read(WORD.held) > before);
  }

  /** The same without waiting; returns how often it has been held so far. */
  arm(point: Point, call = 0): number {
    const before = this.#read(WORD.held);
    this.#write(WORD.call, BigInt(call));
    this.#write(WORD.hold, BigInt(POINTS.indexOf(point)));
    return before;
  }

  isHeldSince(before: number): boolean {
    return this.#read(WORD.held) > before;
  }

  release(): void {
    this.#write(WORD.hold, 0n);
  }

  /** Removes one datagram before the program sees it, without counting it anywhere. */
  steal(): void {
    this.#write(WORD.steal, 1n);
  }

  /** Whether the kernel's receive times step with the wall clock, as real ones do. */
  stepKernel(yes: boolean): void {
    this.#write(WORD.unstepped, yes ? 0n : 1n);
  }

  /** Steps the wall clock by so many ns, and waits until this has happened. */
  async step(by: bigint): Promise<void> {
    if (this.#steps === MOST_STEPS) {
      // There is no more room: one step at time 0 replaces all earlier ones.
      this.#write(WORD.firstStep, 0n);
      this.#write(WORD.firstStep + 1, this.#offset);
      this.#write(WORD.steps, 1n);
      this.#steps = 1;
    }
    this.#offset += by;
    const at = realNow() + 2_000_000n;
    this.#write(WORD.firstStep + 2 * this.#steps, at);
    this.#write(WORD.firstStep + 2 * this.#steps + 1, this.#offset);
    this.#steps++;
    this.#write(WORD.steps, BigInt(this.#steps));
    while (realNow() <= at) await new Promise(resolve => setTimeout(resolve, 1));
  }
}

// ---- nodes ----

/** A report that was sent, and its true times. */
export interface Sent {
  seq: number;
  goodbye: boolean;
  /** It was sent after `after`, and was in the receiver's socket before `before`. */
  after: number;
  before: number;
  /** The heartbeat on the board before it was sent: its stamp must not be earlier, whatever the clocks do. */
  heartbeat: number;
}

/** A node that reports when it is told to, and records its reports. */
export class Reporter {
  readonly sent: Sent[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly name: string,
    readonly intervalMs: number,
    readonly socket: BulkSender,
    readonly reader: BoardReader,
  ) {}

  send(goodbye = false): Sent {
    const seq = this.sent.length;
    const heartbeat = Number(this.reader.snapshot().evidence.heartbeatNs);
    const after = now();
    const report = makeReport({
      hostname: this.name,
      seq,
      interval_ms: this.intervalMs,
      t_boot_ns: BigInt(100 + seq) * 1_000_000_000n,
      flags: goodbye ? 2 ** bits.flags.goodbye : 0,
    });
    if (this.socket.send(report, report.length, 0, 1) !== 1) throw new Error('not sent');
    const sent = { seq, goodbye, after, before: now(), heartbeat };
    this.sent.push(sent);
    return sent;
  }

  /** Reports every so many ms from now on; ended with the test. */
  begin(t: Teardown, ms: number): this {
    this.send();
    this.#timer = setInterval(() => this.send(), ms);
    t.teardown(() => this.end());
    return this;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  get last(): Sent {
    return this.sent.at(-1) as Sent;
  }

  /** This node on the board; undefined if it is not there. */
  find(): Node | undefined {
    return [...this.reader.snapshot().nodes()].find(({ name }) => name === this.name);
  }
}

const COUNTERS = [
  ...['accepted', 'lost', 'unheard', 'duplicate', 'late', 'refused', 'restarts', 'reboots', 'resets'],
] as const;

/** The counters of a node that are not 0. */
export function countsOf(node: Node | undefined): Partial<Record<(typeof COUNTERS)[number], number>> {
  const record = node?.record;
  return Object.fromEntries(
    COUNTERS.map(name => [name, record?.[name] ?? 0] as const).filter(([, count]) => count > 0),
  );
}

/** A master with its own board, and sockets that send to it. */
export interface Master extends Running {
  board: string;
  reader: BoardReader;
  /** Sends to its first address; the others send to one address each. */
  socket: BulkSender;
  sockets: readonly BulkSender[];
  port: number;
  /** A node that reports to the first address, or to another. */
  node(name: string, intervalMs: number, socket?: number): Reporter;
}

/** Starts a receiver on so many free ports of 127.0.0.1. */
export async function startMaster(
  t: Teardown,
  surroundings: Surroundings,
  more: string[] = [],
  addresses = 1,
): Promise<Master> {
  const board = boardPath(t);
  const listen = Array.from({ length: addresses }, () => ['--listen', '127.0.0.1:0']).flat();
  const argv = ['receive', '--board', board, ...listen, ...roomIn(more), ...more];
  const running = startIn(t, surroundings, argv);
  const { listening = [] } = await running.ready;
  const ports = listening.map(address => Number(address.split(':').at(-1)));
  const reader = new BoardReader(board);
  const sockets = ports.map(port => new BulkSender('127.0.0.1', port));
  t.teardown(() => {
    for (const socket of sockets) socket.close();
    reader.close();
  });
  return {
    ...running,
    board,
    reader,
    socket: sockets[0] as BulkSender,
    sockets,
    port: ports[0] as number,
    node: (name, intervalMs, socket = 0) => new Reporter(name, intervalMs, sockets[socket] as BulkSender, reader),
  };
}

/** Waits until everything that was sent to the receiver so far is on the board, with all counters. */
export async function settled(reader: BoardReader): Promise<Snapshot> {
  const sent = now() + ROAD;
  return until('the receiver has done all there was', () => {
    const snapshot = reader.snapshot();
    return Number(snapshot.evidence.heartbeatNs) > sent && snapshot;
  });
}

// ---- the sampler ----

/** What one look showed of a node. */
interface Seen {
  name: string;
  stamp: number;
  intervalMs: number;
  goodbye: boolean;
  seq: number;
  head: number;
  /** The link of its newest report: its heartbeat, and the time since which the receiver has listened to it. */
  link: { heartbeat: number; since: number };
  bySlot: State;
  byColumn: State;
}

export interface Sample {
  /** When the look began, which is the time for judging states, and when it ended. */
  now: number;
  end: number;
  heartbeat: number;
  since: number;
  nodes: Seen[];
}

/** A running c/test/sampler.c on a board. */
export class Sampler {
  private constructor(
    readonly child: ChildProcess,
    readonly path: string,
    readonly exit: Promise<unknown>,
  ) {}

  static async start(t: Teardown, board: string): Promise<Sampler> {
    const path = join(folder(t), 'samples');
    const out = openSync(path, 'w');
    const child = spawn(testProgram('test/sampler'), [board], { stdio: ['ignore', out, 'inherit'] });
    closeSync(out);
    const exit = endWith(t, child);
    await until('it samples', () => statSync(path).size > 0);
    return new Sampler(child, path, exit);
  }

  /** Ends it; returns all samples. */
  async end(): Promise<Sample[]> {
    this.child.kill('SIGTERM');
    const code = await this.exit;
    if (code !== 0) throw new Error(`the sampler ended with ${code}`);
    const [first = '', ...lines] = readFileSync(this.path, 'utf8').trimEnd().split('\n');
    const base = Number(first.replace('base ', ''));
    const samples: Sample[] = [];
    for (const line of lines) {
      if (samples.length % SLICE === 0) await others();
      const words = line.split(' ');
      const number = (i: number) => Number(words[i]);
      const nodes: Seen[] = [];
      for (let i = 3; i < words.length - 1; i += 10)
        nodes.push({
          name: words[i] as string,
          stamp: base + number(i + 1),
          intervalMs: number(i + 2),
          goodbye: words[i + 3] === '1',
          seq: number(i + 4),
          head: number(i + 5),
          link: { heartbeat: base + number(i + 6), since: base + number(i + 7) },
          bySlot: words[i + 8] as State,
          byColumn: words[i + 9] as State,
        });
      const time = (i: number) => base + number(i);
      samples.push({ now: time(0), heartbeat: time(1), since: time(2), end: time(words.length - 1), nodes });
    }
    return samples;
  }
}

/** After so many samples other work gets a turn, because the nodes of other tests report by timers of this process. */
const SLICE = 100;

// ---- what the design requires ----

/** What was done to the receiver during the samples. */
export interface Truth {
  uncertainAfter: number;
  silentAfter: number;
  /** It was certainly stopped between these times. */
  pause?: { from: number; to: number };
  /**
   * The socket's buffer overflowed: certainly not before the first time, and the kernel had counted it by the second.
   */
  overflow?: { from: number; to: number };
  /** The wall clock stepped: stamps may be as early as the drain before. */
  stepped?: boolean;
}

/** The earliest and the latest correct stamp of a report. */
export function stampsOf(sent: Sent, stepped: boolean): [number, number] {
  return [stepped ? sent.heartbeat : sent.after - SLACK, sent.before + SLACK];
}

function stateFrom(
  look: Sample,
  truth: Truth,
  stamp: number,
  last: Pick<Seen, 'intervalMs' | 'goodbye' | 'link'>,
): State {
  const ns = (value: number) => BigInt(Math.round(value));
  return judge(
    {
      nowNs: ns(look.now),
      heartbeatNs: ns(look.heartbeat),
      listeningSinceNs: ns(look.since),
      uncertainAfterNs: ns(truth.uncertainAfter),
      silentAfterNs: ns(truth.silentAfter),
      retired: false,
      link: { heartbeatNs: ns(last.link.heartbeat), listeningSinceNs: ns(last.link.since) },
    },
    { ...last, stampNs: ns(stamp) },
  );
}

/** How many values of an ascending sequence are at most `most`. */
function countUpTo(sent: readonly Sent[], of: (sent: Sent) => number, most: number): number {
  let [low, high] = [0, sent.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (of(sent[middle] as Sent) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * How many reports of a node were in the receiver's socket when the drain of this heartbeat began: these have to be on
 * the board.
 */
const thereAt = (look: Sample, node: Reporter) => countUpTo(node.sent, ({ before }) => before + ROAD, look.heartbeat);

/**
 * All violations of the design in one look at one node. `possible`: the reports that can be the newest in this look;
 * none earlier than the last one that was there when the drain of the heartbeat began.
 */
function* faultsOf(look: Sample, seen: Seen, node: Reporter, truth: Truth): Generator<string> {
  const there = thereAt(look, node);
  const left = countUpTo(node.sent, ({ after }) => after, look.end);
  const possible = node.sent.slice(Math.max(there - 1, 0), left);
  const shown = possible.find(({ seq }) => seq === seen.seq);
  if (seen.head === 0) {
    if (there > 0) yield `shows nothing, but number ${there - 1} was there at its heartbeat`;
    return;
  }
  if (shown === undefined) {
    yield `shows number ${seen.seq}, which cannot be: ${possible.map(({ seq }) => seq).join(', ')}`;
    return;
  }
  if (shown.goodbye !== seen.goodbye) yield `number ${seen.seq} has another goodbye`;
  const [earliest, latest] = stampsOf(shown, truth.stepped === true);
  if (seen.stamp < earliest) yield `number ${seen.seq} is ${(earliest - seen.stamp) / MS} ms too old`;
  if (seen.stamp > latest) yield `number ${seen.seq} is ${(seen.stamp - latest) / MS} ms too young`;
  // The two readers have to agree, and the state has to be that of a stamp at one of the two ends of the possible
  // range.
  const read = stateFrom(look, truth, seen.stamp, seen);
  if (seen.bySlot !== read) yield `is ${seen.bySlot} for the sampler and ${read} for the reader`;
  const states = (sent: Sent) =>
    stampsOf(sent, truth.stepped === true).map(stamp =>
      stateFrom(look, truth, stamp, { intervalMs: node.intervalMs, goodbye: sent.goodbye, link: seen.link }),
    );
  if (!states(shown).includes(seen.bySlot)) yield `is ${seen.bySlot}, but truly ${states(shown).join(' or ')}`;
  // The column was read before the slots: its word may belong to an earlier report.
  const column = possible.flatMap(states);
  if (there === 0) column.push('never', 'unknown');
  if (!column.includes(seen.byColumn)) yield `is ${seen.byColumn} by the column, but truly ${column.join(' or ')}`;
}

/** All impossible or forbidden values in the header of one look. */
function* faultsOfHeader(look: Sample, before: Sample | undefined, { pause, overflow }: Truth): Generator<string> {
  if (look.heartbeat > look.end) yield 'its heartbeat is ahead of the clock';
  if (before !== undefined && look.heartbeat < before.heartbeat) yield 'its heartbeat went back';
  if (before !== undefined && look.since < before.since) yield 'listens since earlier than before';
  const overflowed = overflow !== undefined && look.since >= overflow.from;
  if (before !== undefined && look.since > before.since && look.since - before.heartbeat <= S && !overflowed)
    yield 'listens anew, but nothing kept it from hearing';
  if (overflow !== undefined && look.heartbeat >= overflow.to && !overflowed)
    yield 'says that it heard everything, but its buffer overflowed';
  if (pause === undefined) return;
  // After the pause, it may say that it has heard what arrived during the pause, but not that it has listened.
  const hasHeard = look.now > pause.to && look.since >= pause.to;
  if (look.heartbeat > pause.from && look.heartbeat < pause.to && !hasHeard)
    yield 'its heart beat while it stood still';
  if (look.heartbeat >= pause.to && pause.to - pause.from > S && look.since < pause.to)
    yield 'says that it listened while it stood still';
}

/** The consecutive states of a node, without repetitions. */
export function course(samples: readonly Sample[], name: string): State[] {
  const states = samples.flatMap(({ nodes }) => nodes.filter(node => node.name === name).map(node => node.bySlot));
  return states.filter((state, i) => state !== states[i - 1]);
}

/** Compares every sample with the truth. */
export async function hold(
  t: Test,
  samples: readonly Sample[],
  nodes: readonly Reporter[],
  truth: Truth,
): Promise<void> {
  const faults: string[] = [];
  let before: Sample | undefined;
  for (const [i, look] of samples.entries()) {
    if (i % SLICE === 0) await others();
    const add = (who: string, what: string) =>
      faults.push(`${((look.now - (samples[0]?.now ?? 0)) / MS).toFixed(1)} ms: ${who} ${what}`);
    for (const fault of faultsOfHeader(look, before, truth)) add('the receiver', fault);
    for (const node of nodes) {
      const seen = look.nodes.find(({ name }) => name === node.name);
      const earlier = before?.nodes.find(({ name }) => name === node.name);
      if (seen !== undefined) for (const fault of faultsOf(look, seen, node, truth)) add(node.name, fault);
      else if (thereAt(look, node) > 0 || earlier !== undefined) add(node.name, 'is missing');
      if (seen !== undefined && seen.head < (earlier?.head ?? 0)) add(node.name, 'went back');
    }
    if (look.nodes.some(({ name }) => !nodes.some(node => node.name === name))) add('somebody', 'was never there');
    before = look;
  }
  t.same(faults.slice(0, 10), [], `${samples.length} samples of ${nodes.length} nodes, ${faults.length} faults`);
}
