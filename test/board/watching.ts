// What schedulers see of a cluster during all kinds of events: scenes with a simulated cluster, a receiver, and a
// program that asks libbeoboard about every node; and which results are correct. For the short and long tests of
// liveness. No test of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as others } from 'node:timers/promises';
import { REPORT_BYTES } from '../../src/layout/codec.js';
import { Cluster, random } from '../../src/load/simulatednode.js';
import { BulkSender } from '../../src/native/index.js';
import { countStates, type State } from '../../src/shm/liveness.js';
import { BoardReader } from '../../src/shm/reader.js';
import { endWith } from '../kit/children.js';
import { now as present } from '../kit/clocks.js';
import { testProgram } from '../kit/compiling.js';
import { type Heard, Hearer, type Surroundings as SenderSurroundings, startIn as startSender } from '../kit/hanging.js';
import type { Limits } from '../kit/pausing.js';
import { boardPath, folder } from '../kit/places.js';
import type { Running } from '../kit/program.js';
import { goOn, MS, now, pass, ROAD, S, SLACK, StandIn, type Surroundings, startIn, stop } from '../kit/sampler.js';
import { until } from '../kit/until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

interface Test extends Teardown {
  same(found: unknown, wanted: unknown, ...more: [string]): boolean;
  ok(value: unknown, ...more: [string]): boolean;
  equal(found: unknown, wanted: unknown, ...more: [string]): boolean;
}

/** The default limits of a receiver, for nodes that report once a second. */
export const USUAL: Limits = { uncertainAfter: 4.5 * S, silentAfter: 10.5 * S, intervalMs: 1000 };
/** The same, ten times as fast. */
export const QUICK: Limits = { uncertainAfter: 0.45 * S, silentAfter: 1.05 * S, intervalMs: 100 };

// ---- the watcher ----

/** A change of a node from one look to the next; see c/test/watcher.c. Times in ns of CLOCK_MONOTONIC. */
interface Change {
  name: string;
  from: State;
  to: State;
  before: number;
  began: number;
  ended: number;
  heartbeatThen: number;
  heartbeat: number;
  since: number;
  seq: number;
  stamp: number;
  sent: number;
}

/** Reports that are missing between two consecutive ones on the board. */
interface Gap {
  name: string;
  lost: number;
  /** The sequence number of the report before the gap. */
  seq: number;
}

interface Watched {
  changes: Change[];
  gaps: Gap[];
  looks: number;
  /** The longest time between two looks, ns. */
  longest: number;
  reports: number;
  /** Reports that were overwritten between two looks. */
  unseen: number;
  /** When the last report of all was sent. */
  lastSent: number;
}

/** After so many lines other work gets a turn. */
const SLICE = 1000;

/** A running c/test/watcher.c on a board: a stand-in for a scheduler. */
class Watcher {
  private constructor(
    readonly child: ReturnType<typeof spawn>,
    readonly path: string,
    readonly exit: Promise<unknown>,
  ) {}

  /** It looks every so many ms, and prints gaps of at least so many missing reports. */
  static async start(t: Teardown, board: string, { everyMs = 5, missing = 10 } = {}): Promise<Watcher> {
    const path = join(folder(t), 'watched');
    const out = openSync(path, 'w');
    const program = testProgram('test/watcher');
    const child = spawn(program, [board, String(everyMs), String(missing)], { stdio: ['ignore', out, 'inherit'] });
    closeSync(out);
    const exit = endWith(t, child);
    await until('it watches', () => statSync(path).size > 0);
    return new Watcher(child, path, exit);
  }

  /** Ends it; returns everything that it saw. */
  async end(): Promise<Watched> {
    this.child.kill('SIGTERM');
    const code = await this.exit;
    if (code !== 0) throw new Error(`the watcher ended with ${code}`);
    const watched: Watched = { changes: [], gaps: [], looks: 0, longest: 0, reports: 0, unseen: 0, lastSent: 0 };
    for (const [i, line] of readFileSync(this.path, 'utf8').trimEnd().split('\n').entries()) {
      if (i % SLICE === 0) await others();
      const [kind, ...words] = line.split(' ');
      const name = words[0] as string;
      const [from, to] = words.slice(1, 3) as [State, State];
      if (kind === 'state') {
        const [before, began, ended, heartbeatThen, heartbeat, since, seq, stamp, sent] = words.slice(3).map(Number);
        const times = { before, began, ended, heartbeatThen, heartbeat, since, seq, stamp, sent };
        watched.changes.push({ name, from, to, ...(times as Omit<Change, 'name' | 'from' | 'to'>) });
      } else if (kind === 'gap') {
        const [lost = 0, seq = 0] = words.slice(1).map(Number);
        watched.gaps.push({ name, lost, seq });
      } else if (kind === 'end') {
        const [looks = 0, longest = 0, reports = 0, unseen = 0, lastSent = 0] = words.map(Number);
        Object.assign(watched, { looks, longest, reports, unseen, lastSent });
      }
    }
    return watched;
  }
}

// ---- which results are correct ----

/** A node that was called silent although it reported: its last report before, and how many were missing after it. */
interface FalseSilence {
  name: string;
  seq: number;
  lost: number;
}

interface Verdict {
  /** Forbidden observations, as sentences. */
  faults: string[];
  falsely: FalseSilence[];
  /** How many nodes, without the dead ones, were called silent because their senders had really stopped. */
  truly: number;
  /** How long after the limit a dead node was first seen as uncertain, or silent: the longest time, ns. */
  uncertainLate: number;
  silentLate: number;
  /** The last state of each node. */
  last: Map<string, State>;
}

function* faultsOf(change: Change, limits: Limits, stepped: boolean): Generator<string> {
  const { from, to, before, began, ended, heartbeatThen, heartbeat, since, stamp, sent } = change;
  const { uncertainAfter, silentAfter } = limits;
  const heard = Math.max(stamp, since);
  const over = (ns: number) => `${(ns / MS).toFixed(1)} ms`;
  if (!stepped && stamp > 0 && stamp < sent - SLACK) yield `its stamp is ${over(sent - stamp)} before it was sent`;
  if (from === 'live' && before > stamp + uncertainAfter)
    yield `still live ${over(before - stamp - uncertainAfter)} after the limit`;
  if (to === 'live' && began > stamp + uncertainAfter)
    yield `called live ${over(began - stamp - uncertainAfter)} after the limit`;
  // The column has whole milliseconds.
  if (to === 'uncertain' && ended + MS < stamp + uncertainAfter)
    yield `called uncertain ${over(stamp + uncertainAfter - ended)} before the limit`;
  if (to === 'silent' && heartbeat + MS < heard + silentAfter)
    yield `called silent though nobody listened for ${over(heard + silentAfter - heartbeat)} of the limit`;
  if (from === 'uncertain' && to === 'silent' && heartbeatThen - MS > heard + silentAfter)
    yield `still uncertain by a heartbeat ${over(heartbeatThen - heard - silentAfter)} after the limit`;
}

interface Truth {
  /** Nodes that stopped for good. */
  dead?: ReadonlySet<string>;
  /** Wall clocks stepped in between: stamps may be as early as the drain before. */
  stepped?: boolean;
  /**
   * Reports are lost at random. If a node was called silent after fewer losses than that takes, its sender was late as
   * well.
   */
  lossy?: boolean;
}

/** Compares the observations with the truth. */
async function verdictOf(
  { changes, lastSent }: Watched,
  limits: Limits,
  { dead = new Set(), stepped = false, lossy = false }: Truth = {},
): Promise<Verdict> {
  const verdict: Verdict = { faults: [], falsely: [], truly: 0, uncertainLate: 0, silentLate: 0, last: new Map() };
  const byName = new Map<string, Change[]>();
  for (const change of changes) byName.set(change.name, [...(byName.get(change.name) ?? []), change]);
  let i = 0;
  for (const [name, changes] of byName) {
    if (i++ % SLICE === 0) await others();
    const fault = (what: string) => verdict.faults.push(`${name}: ${what}`);
    const isDead = dead.has(name);
    const last = changes.at(-1) as Change;
    verdict.last.set(name, last.to);
    // It was silent when the scene ended; if the receiver was delayed after that, it has restarted listening, and the
    // node is no longer silent.
    if (isDead && !['silent', 'uncertain', 'unknown'].includes(last.to)) fault(`is dead, and at last ${last.to}`);
    /** The last report before it was no longer live, and the last one before it was silent. */
    let over = -1;
    let silent = -1;
    for (const [at, change] of changes.entries()) {
      const { to, seq, stamp, sent } = change;
      for (const what of faultsOf(change, limits, stepped)) fault(what);
      if (to === 'live' && seq === over) fault('live again without a report');
      if (to === 'uncertain' || to === 'silent') over = seq;
      if (isDead && seq === last.seq && change.from === 'live' && to === 'uncertain')
        verdict.uncertainLate = Math.max(verdict.uncertainLate, change.ended - sent - limits.uncertainAfter);
      if (to !== 'silent' || seq === silent) continue;
      silent = seq;
      const next = changes.slice(at + 1).find(later => later.seq !== seq);
      if (isDead && next === undefined) {
        if (change.since < stamp)
          verdict.silentLate = Math.max(verdict.silentLate, change.ended - sent - limits.silentAfter);
        continue;
      }
      const until = next?.sent ?? lastSent;
      const lost =
        next === undefined ? Math.floor((until - sent) / (limits.intervalMs * MS)) : (next.seq - seq - 1) >>> 0;
      if (lost >= (lossy || next === undefined ? runToSilence(limits) : 1)) verdict.falsely.push({ name, seq, lost });
      else if (next !== undefined && until - sent < limits.silentAfter - ROAD)
        fault('silent between two reports that came in time');
      else verdict.truly++;
    }
  }
  return verdict;
}

// ---- arithmetic ----

/** How many consecutive reports have to be lost for a silence: with one fewer, the next comes before the limit. */
export const runToSilence = ({ silentAfter, intervalMs }: Limits): number =>
  Math.floor(silentAfter / (intervalMs * MS));

/**
 * The expected number of false silences for so many reports in total, at this loss: each begins with a report that
 * arrives, (1 - p), followed by `run` ones that do not, p^k.
 */
export const expectedSilences = (reports: number, loss: number, run: number): number =>
  reports * (1 - loss) * loss ** run;

/** The bounds of a count with this expectation, each exceeded only once in 10,000 times. */
export function poissonBounds(expected: number): [least: number, most: number] {
  const most = (share: number) => {
    let term = Math.exp(-expected);
    let sum = term;
    let n = 0;
    for (; sum < share; sum += term) term *= expected / ++n;
    return n;
  };
  return [most(1e-4), most(1 - 1e-4)];
}

/**
 * How many runs of at least `least` consecutive reports of one node `load --loss --seed` leaves out, between two that
 * it sends.
 */
export function runsLeftOut(seed: number, loss: number, count: number, reports: number, least: number): number {
  const next = random(seed + 1);
  const missing = new Int32Array(count).fill(-1); // since its last report; -1: none yet
  let runs = 0;
  for (let i = 0; i < reports; i++) {
    const node = i % count;
    const before = missing[node] as number;
    if (next() < loss) {
      if (before >= 0) missing[node] = before + 1;
    } else {
      if (before >= least) runs++;
      missing[node] = 0;
    }
  }
  return runs;
}

// ---- a scene ----

export interface Setting {
  limits: Limits;
  count: number;
  /** The receiver's address; the test has its own network. */
  address: string;
  /** The first so many nodes do not report any more after `dieAfter` (ns). */
  dying?: number;
  dieAfter?: number;
  /** Further options of `load`. */
  load?: string[];
  /**
   * The environments of the nodes and of the receiver; if there are several for the nodes, these are divided among
   * them.
   */
  nodes?: Surroundings[];
  master?: Surroundings;
  everyMs?: number;
}

const ms = (ns: number) => `${Math.round(ns / MS)}ms`;

/** The receiver, the cluster that reports to it, and the scheduler. */
class Scene {
  readonly board: string;
  readonly dead = new Set<string>();
  readonly loads: Running[] = [];
  receiver!: Running;
  reader!: BoardReader;
  watcher!: Watcher;

  private constructor(
    readonly t: Test,
    readonly setting: Setting,
  ) {
    this.board = boardPath(t);
  }

  static async begin(t: Test, setting: Setting): Promise<Scene> {
    const scene = new Scene(t, setting);
    await scene.receive();
    scene.reader = new BoardReader(scene.board);
    t.teardown(() => scene.reader.close());
    scene.watcher = await Watcher.start(t, scene.board, {
      everyMs: setting.everyMs,
      missing: runToSilence(setting.limits),
    });
    scene.#load();
    return scene;
  }

  /** Starts a receiver on the same board and at the same address each time. */
  async receive(): Promise<void> {
    const { limits, address, count, master = {} } = this.setting;
    this.receiver = startIn(this.t, master, [
      ...['receive', '--board', this.board, '--listen', address, '--capacity', String(count)],
      ...['--uncertain-after', ms(limits.uncertainAfter), '--silent-after', ms(limits.silentAfter)],
    ]);
    await this.receiver.ready;
  }

  #load(): void {
    const { limits, address, count, dying = 0, dieAfter = 0, load = [], nodes = [{}] } = this.setting;
    const each = Math.floor(count / nodes.length);
    const digits = String(each).length;
    const [first, last] = [1, dying].map(i => String(i).padStart(digits, '0'));
    for (const [i, surroundings] of nodes.entries()) {
      const prefix = String.fromCharCode(97 + i);
      const argv = ['load', '--to', address, '--size', String(each), '--prefix', prefix, '--json', ...load];
      argv.push('--interval', `${limits.intervalMs}ms`);
      if (dying > 0) argv.push('--silent', `${prefix}[${first}-${last}]`, '--silent-from', ms(dieAfter));
      for (let n = 1; n <= dying; n++) this.dead.add(`${prefix}${String(n).padStart(digits, '0')}`);
      this.loads.push(startIn(this.t, surroundings, argv));
    }
  }

  tally(): Record<State, number> {
    return countStates(this.reader.snapshot().overview.states);
  }

  heartbeat(): number {
    return Number(this.reader.snapshot().evidence.heartbeatNs);
  }

  /** Waits until all nodes are known, the dead ones are silent and the others are live. */
  async settled(): Promise<void> {
    const { count } = this.setting;
    await until(
      'the dead are silent, and the others live',
      () => {
        const { silent, live } = this.tally();
        return silent === this.dead.size && live === count - this.dead.size;
      },
      50,
    );
  }

  /** Waits until the receiver has listened a little longer than it takes to call a node silent. */
  async listened(): Promise<void> {
    const enough = (1.1 * this.setting.limits.silentAfter) / MS;
    await until('it has listened', () => this.reader.snapshot().listenedMs > enough, 50);
  }

  /** Ends the watcher, then the cluster; returns what was seen and what the nodes sent. */
  async end(): Promise<Watched & { sent: number; leftOut: number }> {
    const watched = await this.watcher.end();
    let [sent, leftOut] = [0, 0];
    for (const load of this.loads) {
      load.child.kill('SIGTERM');
      this.t.equal(await load.exit, 0, load.output().stderr);
      const told = JSON.parse(load.output().stdout);
      sent += told.reports;
      leftOut += told.left_out;
    }
    return { ...watched, sent, leftOut };
  }
}

/** The results of a scene, for tables. */
export interface Outcome extends Verdict {
  watched: Watched;
  /** Reports that were due during the scene, and those that were sent. */
  nodeIntervals: number;
  sent: number;
}

/** Ends a scene, and compares it with the truth. */
async function endOf(t: Test, scene: Scene, truth: Truth = {}): Promise<Outcome> {
  const { setting, dead } = scene;
  const { sent, leftOut, ...watched } = await scene.end();
  const verdict = await verdictOf(watched, setting.limits, { dead, ...truth });
  t.same(verdict.faults.slice(0, 10), [], `${watched.looks} looks at ${setting.count} nodes`);
  t.equal(verdict.last.size, setting.count, 'all were seen');
  return { ...verdict, watched, nodeIntervals: sent + leftOut, sent };
}

/** The same for a scene in which only dead nodes may be silent. */
async function nobodyBlamed(t: Test, scene: Scene, truth: Truth = {}): Promise<Outcome> {
  const outcome = await endOf(t, scene, truth);
  t.same(outcome.falsely.slice(0, 10), [], 'nobody is called silent who reports');
  return outcome;
}

/** Some nodes die; they become uncertain and then silent at the limits. */
export async function dying(t: Test, setting: Setting): Promise<Outcome> {
  const scene = await Scene.begin(t, { dieAfter: 5 * setting.limits.intervalMs * MS, ...setting });
  await scene.settled();
  return nobodyBlamed(t, scene);
}

type Stop = 'receiver' | 'master' | 'killed';

/** The receiver, with or without the schedulers, is stopped or absent for a time, and then continues. */
export async function pausing(t: Test, setting: Setting, what: Stop, pause: number): Promise<Outcome> {
  const scene = await Scene.begin(t, { dieAfter: 5 * setting.limits.intervalMs * MS, ...setting });
  await scene.settled();
  await scene.listened();
  if (what === 'killed') {
    scene.receiver.child.kill('SIGKILL');
    await scene.receiver.exit;
    await pass(now() + pause);
    await scene.receive();
  } else {
    const receiver = await stop(scene.receiver.child);
    const watcher = what === 'master' && (await stop(scene.watcher.child));
    await pass(receiver.from + pause);
    // A scheduler may continue before the receiver does.
    if (watcher) {
      goOn(watcher);
      await pass(now() + 50 * MS);
    }
    goOn(receiver);
  }
  const wentOn = now();
  await until('it listens again', () => scene.heartbeat() > wentOn);
  await scene.listened();
  await scene.settled();
  return nobodyBlamed(t, scene);
}

/** The receiver is killed again and again, soon after its start or during it. */
export async function crashing(t: Test, setting: Setting, times: number, seed: number): Promise<Outcome> {
  const next = random(seed);
  const scene = await Scene.begin(t, { dieAfter: 5 * setting.limits.intervalMs * MS, ...setting });
  // They may already be silent at the next look.
  await until(
    'the dead are no longer live',
    () => scene.reader.snapshot().count === setting.count && scene.tally().live <= setting.count - scene.dead.size,
    50,
  );
  for (let i = 0; i < times; i++) {
    await pass(now() + next() * 1.2 * setting.limits.silentAfter);
    scene.receiver.child.kill(next() < 0.75 ? 'SIGKILL' : 'SIGTERM');
    await scene.receiver.exit;
    await pass(now() + next() * setting.limits.uncertainAfter);
    await scene.receive();
  }
  await scene.listened();
  await scene.settled();
  return nobodyBlamed(t, scene);
}

const STEPS = [100n, -100n, 3_600_000n, -3_600_000n].map(ms => ms * 1_000_000n);

/** The wall clock of the master steps, then that of half the nodes, then both. */
export async function stepping(t: Test, setting: Setting): Promise<Outcome> {
  const [master, half] = [new StandIn(t), new StandIn(t)];
  const scene = await Scene.begin(t, {
    dieAfter: 5 * setting.limits.intervalMs * MS,
    ...setting,
    master: { env: master.env },
    nodes: [{}, { env: half.env }],
  });
  await scene.settled();
  const living = setting.count - scene.dead.size;
  const off = () =>
    [...scene.reader.snapshot().nodes()].filter(({ record }) => Math.abs(record.offset_us ?? 0) > 1e9).length;
  for (const clocks of [[master], [half], [master, half]])
    for (const by of STEPS) {
      for (const clock of clocks) await clock.step(by);
      const stepped = now();
      await until('every node has reported since', () => scene.heartbeat() > stepped + setting.limits.intervalMs * MS);
      // A step of an hour is seen on nodes whose clock then differs from the master's; the next step takes it back.
      const seen = by < S ? 0 : clocks.length === 1 && clocks[0] === master ? living : living / 2;
      await until('the board shows it', () => off() === seen);
    }
  await scene.settled();
  return nobodyBlamed(t, scene, { stepped: true });
}

/** Reports are lost at random, on the network or before it, until so many were due. */
export async function losing(t: Test, setting: Setting, forNs: number): Promise<Outcome & { drops: number }> {
  const load = [...(setting.load ?? []), '--for', ms(forNs)];
  const scene = await Scene.begin(t, { ...setting, load });
  await Promise.all(scene.loads.map(({ exit }) => exit));
  const ended = now();
  await until('all is drained', () => scene.heartbeat() > ended + ROAD);
  const { accepted = 0, kernel_drops: drops = 0 } = scene.reader.snapshot().header;
  const outcome = await endOf(t, scene, { lossy: true });
  const { watched, falsely } = outcome;
  t.equal(watched.reports + watched.unseen, accepted, 'every report was seen, or is known not to have been');
  // A node whose gap is three intervals longer than a silence needs must have been called silent, provided that there
  // was a look.
  const surely = runToSilence(setting.limits) + 3;
  if (watched.longest < 2 * setting.limits.intervalMs * MS)
    t.same(
      watched.gaps.filter(
        ({ name, lost, seq }) => lost >= surely && !falsely.some(f => f.name === name && f.seq === seq),
      ),
      [],
      'who is missing for so long is silent',
    );
  return { ...outcome, drops };
}

// ---- ten thousand at once ----

/** All nodes of a cluster report for the first time at nearly the same moment, and once more after an interval. */
export async function comingUp(
  t: Test,
  count: number,
  address: string,
): Promise<{ held: boolean; tookNs: number; drops: number }> {
  const board = boardPath(t);
  const receiver = startIn(t, {}, ['receive', '--board', board, '--listen', address, '--capacity', String(count)]);
  await receiver.ready;
  const reader = new BoardReader(board);
  const [host = '', port] = address.split(':');
  const socket = new BulkSender(host, Number(port));
  t.teardown(() => {
    reader.close();
    socket.close();
  });
  const watcher = await Watcher.start(t, board);
  const node = (i: number) => ({
    name: `node${i}`,
    cluster: undefined,
    intervalMs: 1000,
    agentVersion: 1,
    bootNs: present().boot,
  });
  const cluster = new Cluster(count, node, 1);
  const header = () => reader.snapshot().header;
  const held = (header().receive_buffer ?? 0) > count * 2305;
  let sent = 0;
  let began = 0;
  for (let round = 0; round < 3; round++) {
    const { real, boot } = present();
    for (let i = 0; i < count; i++) cluster.move(i, real, boot);
    const at = now();
    if (round === 0) began = at;
    sent += socket.send(cluster.reports, REPORT_BYTES, 0, count);
    await until('all is there, or counted as dropped', () => {
      const { received = 0, kernel_drops = 0 } = header();
      return received + kernel_drops === sent;
    });
    await pass(at + S);
  }
  const { accepted = 0, kernel_drops: drops = 0 } = header();
  const watched = await watcher.end();
  const verdict = await verdictOf(watched, USUAL);
  t.equal(accepted + drops, 3 * count, 'each report was accepted, or dropped and counted');
  if (held) t.equal(drops, 0, 'the buffer holds them all');
  t.same(verdict.faults.slice(0, 10), [], 'what is seen of them');
  t.same(verdict.falsely, [], 'nobody is silent');
  const first = watched.changes.filter(({ from, to }) => from === 'never' && to === 'live');
  t.equal(first.length, reader.snapshot().count, 'all that are there are live at their first report');
  if (held) t.equal(first.length, count, 'and all are there');
  const tookNs = Math.max(...first.map(({ ended }) => ended)) - began;
  return { held, tookNs, drops };
}

// ---- a starved sender ----

/** What a node's own reports say about its sender's delays. */
interface Lateness {
  /** How many reports it took at most until one reported the delay. */
  within: number;
  /** The shortest and the longest reported delay, us. */
  lateUs: [least: number, most: number];
  /** How often it was stopped while it made a report: the next report then has skipped ticks instead of a delay. */
  skipped: number;
}

/** One node with a real sender, and a master that hears it. */
export async function lonely(
  t: Test,
  intervalMs: number,
  surroundings: SenderSurroundings = {},
): Promise<{ hearer: Hearer; sender: ChildProcess }> {
  const hearer = await Hearer.open(t);
  const argv = ['send', '--to', hearer.address, '--name', 'node1', '--interval', `${intervalMs}ms`];
  const { child } = startSender(t, surroundings, argv);
  await hearer.next('it reports', () => true);
  return { hearer, sender: child };
}

/**
 * A sender that is stopped for longer than an interval, again and again, at random moments: each time its reports have
 * to say so.
 */
export async function starving(
  t: Test,
  surroundings: SenderSurroundings,
  { times, intervalMs, seed }: { times: number; intervalMs: number; seed: number },
): Promise<Lateness> {
  const { hearer, sender } = await lonely(t, intervalMs, surroundings);
  const next = random(seed);
  const interval = intervalMs * MS;
  const offset = now() - Number(present().boot);
  const lateness: Lateness = { within: 0, lateUs: [Number.POSITIVE_INFINITY, 0], skipped: 0 };
  for (let i = 0; i < times; i++) {
    const before = await hearer.next('it reports', () => true);
    await pass(now() + 0.5 * next() * interval);
    const stopped = await stop(sender);
    await pass(stopped.from + (1.2 + next()) * interval);
    const to = goOn(stopped);
    // A report was due within the first interval of the stop.
    const least = (to - stopped.from - interval) / 1000;
    const isLate = ({ late_us = 0 }: Heard) => late_us >= least;
    const told = await hearer.next(
      'it tells',
      report => isLate(report) || (report.missed_ticks ?? 0) > (before.missed_ticks ?? 0),
    );
    // Selected by the time when they were made: some reports may be from before the stop, and some from after the look.
    const since = hearer.reports.filter(
      ({ seq, t_boot_ns }) => seq <= told.seq && Number(t_boot_ns) + offset > stopped.from,
    );
    lateness.within = Math.max(lateness.within, since.length);
    const lateUs = told.late_us ?? 0;
    if (isLate(told)) lateness.lateUs = [Math.min(lateness.lateUs[0], lateUs), Math.max(lateness.lateUs[1], lateUs)];
    else lateness.skipped++;
  }
  t.ok(lateness.skipped < times / 2, `told by late_us, but for ${lateness.skipped} of ${times} times`);
  t.ok(lateness.within <= 3, `within ${lateness.within} reports`);
  return lateness;
}
