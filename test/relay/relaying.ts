// A master, its relay and a mirror in one process, with simulated clocks and network: everything is known to the ns,
// and a minute takes a second. Boards, relay, mirror, signatures and messages are the real ones. No test of its own.

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decode } from '../../src/layout/codec.js';
import { clusterId } from '../../src/layout/identity.js';
import { enums } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { Writer } from '../../src/native/index.js';
import type { Key } from '../../src/options/keys.js';
import type { Bus, Message } from '../../src/relay/bus.js';
import { RelayFollower, STEP_MS } from '../../src/relay/follower.js';
import { Relay, SWEEP_MS } from '../../src/relay/publisher.js';
import { subjectOf } from '../../src/relay/relaywire.js';
import type { Log } from '../../src/service/log.js';
import type { State } from '../../src/shm/liveness.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import type { Trust } from '../../src/shm/trust.js';
import { writerOptions } from '../../src/shm/writer.js';
import { snapshotOf } from '../kit/judged.js';
import { makeReport } from '../kit/reports.js';

export const S = 1_000_000_000n;
const MS = 1_000_000n;
/** The time between two steps of the simulation. */
const TICK = 20n * MS;
/** The same in long pauses. */
export const SLOW_TICK = 250n * MS;
/** The same where nobody looks for ten minutes and more: relays sign what they tell in each step. */
export const IDLE_TICK = S;
/** The time between two looks of the mirror's readers. */
const LOOK = 200n * MS;
/** The number of messages that a server keeps for a client that does not read. */
const MOST_WAITING = 500;
export const CLUSTER = 'alpha';
export const SITE = 'home';
const UNCERTAIN = 4_500_000_000n;
const SILENT = 10_500_000_000n;

export const quiet: Log = { info: () => {}, warn: () => {}, error: () => {}, seldom: () => {} };

/** A clock with an adjustable rate, which can also stop. */
export class Clock {
  #base: bigint;
  #since = 0n;
  #ppm: bigint;
  stopped = false;

  constructor(base: bigint, ppm = 0) {
    this.#base = base;
    this.#ppm = BigInt(ppm);
  }

  at(now: bigint): bigint {
    if (this.stopped) return this.#base;
    const span = now - this.#since;
    return this.#base + span + (span * this.#ppm) / 1_000_000n;
  }

  stop(now: bigint): void {
    this.#base = this.at(now);
    this.stopped = true;
  }

  goOn(now: bigint): void {
    this.#since = now;
    this.stopped = false;
  }

  /** Changes its rate from now on. */
  slew(now: bigint, ppm: number): void {
    this.#base = this.at(now);
    this.#since = now;
    this.#ppm = BigInt(ppm);
  }
}

interface Underway extends Message {
  readonly due: bigint;
  readonly to: Endpoint;
}

/**
 * The network between two endpoints: the deliveries of a message, each with its delay; none: it is lost. By default
 * every message is delivered at once.
 */
export type Carrier = (message: Message, from: string, to: string) => readonly { message: Message; delay: bigint }[];

class Endpoint implements Bus {
  connected = true;
  readonly subscriptions = new Map<symbol, { subject: string; act: (message: Message) => void }>();

  constructor(
    readonly name: string,
    readonly network: Network,
  ) {}

  publish(subject: string, data: Uint8Array, reply = ''): void {
    if (this.connected) this.network.carry({ subject, data, reply }, this);
  }

  subscribe(subject: string, act: (message: Message) => void): () => void {
    const key = Symbol(subject);
    this.subscriptions.set(key, { subject, act });
    return () => this.subscriptions.delete(key);
  }
}

class Network {
  now = 0n;
  carrier: Carrier = message => [{ message, delay: MS }];
  readonly #endpoints: Endpoint[] = [];
  #underway: Underway[] = [];
  /** On each path, messages arrive in the order in which they were sent, as with TCP. */
  inOrder = false;
  readonly #last = new Map<string, bigint>();
  /** Names of endpoints that do not read at the moment: their messages wait. */
  readonly held = new Set<string>();

  endpoint(name: string): Endpoint {
    const endpoint = new Endpoint(name, this);
    this.#endpoints.push(endpoint);
    return endpoint;
  }

  remove(name: string): void {
    const index = this.#endpoints.findIndex(endpoint => endpoint.name === name);
    if (index >= 0) this.#endpoints.splice(index, 1);
  }

  /** Nothing that this endpoint publishes is carried from now on. */
  disconnect(name: string): void {
    for (const endpoint of this.#endpoints) if (endpoint.name === name) endpoint.connected = false;
  }

  carry(message: Message, from: Endpoint): void {
    for (const to of this.#endpoints) {
      if (to === from) continue;
      if (this.held.has(to.name) && this.#underway.filter(({ to: of }) => of === to).length >= MOST_WAITING) continue;
      for (const { message: carried, delay } of this.carrier(message, from.name, to.name))
        this.#underway.push({ ...carried, due: this.#due(`${from.name} ${to.name}`, delay), to });
    }
  }

  #due(way: string, delay: bigint): bigint {
    const due = this.now + delay;
    const last = this.#last.get(way) ?? 0n;
    const settled = this.inOrder && last > due ? last : due;
    this.#last.set(way, settled);
    return settled;
  }

  /** Delivers a message that nobody has asked for. */
  inject(message: Message, to: string): void {
    for (const endpoint of this.#endpoints) if (endpoint.name === to) this.#give(endpoint, message);
  }

  #give(to: Endpoint, message: Message): void {
    const all = message.subject.replace(/[^.]*$/, '*');
    for (const { subject, act } of [...to.subscriptions.values()])
      if (subject === message.subject || subject === all) act(message);
  }

  deliver(): void {
    for (;;) {
      const due = this.#underway.filter(({ due, to }) => due <= this.now && !this.held.has(to.name));
      if (due.length === 0) return;
      this.#underway = this.#underway.filter(message => !due.includes(message));
      // In the order in which they were sent, as NATS does.
      for (const message of due) if (message.to.connected) this.#give(message.to, message);
    }
  }
}

/** A pair of keys, for a trusted or an untrusted master. */
export function keyPair(): { secret: KeyObject; shown: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { secret: privateKey, shown: publicKey };
}

export interface Node {
  readonly name: string;
  /** ms */
  readonly interval: number;
  dead: boolean;
  seq: number;
  nextNs: bigint;
  /** When each master last received a report from it, by the master's name. */
  readonly heard: Map<string, bigint>;
  /** Masters that its reports do not reach. */
  readonly cut: Set<string>;
}

/** A master: its board, and its relay. */
export class Master {
  readonly path: string;
  readonly keys = keyPair();
  readonly clock: Clock;
  writer: Writer;
  relay: Relay | undefined;
  /** The receiver neither reads reports nor writes heartbeats. */
  paused = false;
  /** The receiver has ended cleanly; the relay runs. */
  ended = false;
  #relayNs = 0n;

  constructor(
    readonly world: World,
    readonly name: string,
    clock: Clock,
    directory: string,
    public longestInterval = 0,
  ) {
    this.clock = clock;
    this.path = join(directory, name, 'board');
    this.writer = this.open();
    this.listen();
  }

  #options() {
    return writerOptions({
      path: this.path,
      cluster: CLUSTER,
      capacity: 64,
      uncertainAfter: Number(UNCERTAIN / MS),
      silentAfter: Number(SILENT / MS),
      longestInterval: this.longestInterval,
      nodes: [],
    });
  }

  open(): Writer {
    return new Writer(this.#options());
  }

  /** Its receiver reads its options again. */
  change(longestInterval: number): void {
    this.longestInterval = longestInterval;
    this.writer.change(this.#options());
  }

  get now(): bigint {
    return this.clock.at(this.world.now);
  }

  listen(): void {
    this.writer.listeningSince(this.now);
  }

  startRelay(): void {
    const bus = this.world.network.endpoint(`relay ${this.name}`);
    const subject = subjectOf(SITE, CLUSTER, this.name);
    const options = { path: this.path, owner: undefined, subject, cluster: CLUSTER, key: this.keys.secret, log: quiet };
    this.relay = new Relay(options, bus, () => this.now);
  }

  endRelay(): void {
    this.relay?.end();
    this.relay = undefined;
    this.world.network.remove(`relay ${this.name}`);
  }

  killRelay(): void {
    // What it says at its end is not heard.
    this.world.network.disconnect(`relay ${this.name}`);
    this.endRelay();
  }

  endReceiver(): void {
    this.writer.close();
    this.ended = true;
  }

  startReceiver(): void {
    this.writer = this.open();
    this.listen();
    this.ended = false;
  }

  step(): void {
    if (this.paused || this.clock.stopped) return;
    if (!this.ended) {
      this.writer.heartbeat(this.now);
      this.writer.survey();
    }
    if (this.relay === undefined || this.world.now - this.#relayNs < BigInt(SWEEP_MS) * MS) return;
    this.#relayNs = this.world.now;
    this.relay.step();
  }
}

/** A false state on the mirror, and when it was seen. */
interface Wrong {
  readonly node: string;
  readonly state: State;
  readonly atNs: bigint;
  readonly ageNs: bigint;
}

export class World {
  now = 1000n * S;
  readonly network = new Network();
  readonly nodes: Node[] = [];
  readonly masters: Master[] = [];
  readonly mirrorPath: string;
  mirrorClock = new Clock(500_000n * S);
  follower: RelayFollower | undefined;
  /** The mirror's process is stopped. */
  mirrorPaused = false;
  /** The key with which nodes sign their reports; undefined: they do not sign. */
  key: Key | undefined;
  readonly wrong: Wrong[] = [];
  /** How many states of nodes were looked at, by state. */
  readonly looks: Record<string, number> = {};
  #followedNs = 0n;
  #judgedNs = 0n;
  #clusterId = clusterId(CLUSTER);

  constructor(readonly directory: string) {
    this.network.now = this.now;
    this.mirrorPath = join(directory, 'mirror', 'board');
  }

  addNodes(count: number, interval = 1000): Node[] {
    const added = Array.from({ length: count }, (_, i) => ({
      name: `node${String(this.nodes.length + i + 1).padStart(2, '0')}`,
      interval,
      dead: false,
      seq: 0,
      nextNs: this.now + (BigInt(i + 1) * BigInt(interval) * MS) / BigInt(count + 1),
      heard: new Map<string, bigint>(),
      cut: new Set<string>(),
    }));
    this.nodes.push(...added);
    return added;
  }

  addMaster(name: string, clock = new Clock(2000n * S * BigInt(this.masters.length + 1)), longestInterval = 0): Master {
    const master = new Master(this, name, clock, this.directory, longestInterval);
    this.masters.push(master);
    return master;
  }

  get mirrorNow(): bigint {
    return this.mirrorClock.at(this.now);
  }

  startMirror(trusted: readonly Master[] = this.masters, capacity = 64, trust?: Trust): RelayFollower {
    const masters = trusted.map(({ name, keys }) => ({ name, key: keys.shown }));
    const settings = { path: this.mirrorPath, site: SITE, cluster: CLUSTER, masters, capacity, trust, log: quiet };
    this.follower = new RelayFollower(settings, this.network.endpoint('mirror'), 'm', () => this.mirrorNow);
    return this.follower;
  }

  #report(node: Node): void {
    node.seq++;
    const boot = this.now;
    const datagram = makeReport(
      {
        hostname: node.name,
        seq: node.seq,
        interval_ms: node.interval,
        boot_id: 77n,
        t_boot_ns: boot,
        t_real_ns: boot,
        start_boot_ns: 1n,
        cluster_id: this.#clusterId,
        ...(this.key && { auth_alg: enums.auth_alg.indexOf('cluster'), key_id: this.key.id }),
      },
      CLUSTER,
    );
    if (this.key !== undefined) sign(datagram, this.key);
    for (const master of this.masters) {
      if (master.paused || master.ended || master.clock.stopped || node.cut.has(master.name)) continue;
      if (master.writer.deliver(datagram, master.now, boot, 'eth0') === 0) node.heard.set(master.name, this.now);
    }
  }

  /** Runs the simulation for a time; calls `each` after every step, when the states have been checked. */
  run(ns: bigint, each: () => void = () => {}, tick = TICK): void {
    for (const end = this.now + ns; this.now < end; ) {
      this.now += tick;
      this.network.now = this.now;
      for (const node of this.nodes)
        for (; node.nextNs <= this.now; node.nextNs += BigInt(node.interval) * MS) if (!node.dead) this.#report(node);
      for (const master of this.masters) master.step();
      if (this.mirrorPaused || this.mirrorClock.stopped) this.network.held.add('mirror');
      else this.network.held.delete('mirror');
      this.network.deliver();
      if (!this.network.held.has('mirror') && this.now - this.#followedNs >= BigInt(STEP_MS) * MS) {
        this.#followedNs = this.now;
        this.follower?.step();
      }
      this.network.deliver();
      if (
        this.follower !== undefined &&
        !this.mirrorClock.stopped &&
        this.now - this.#judgedNs >= (tick === TICK ? LOOK : 20n * LOOK)
      ) {
        this.#judgedNs = this.now;
        this.#judge();
      }
      each();
    }
  }

  /** The mirror's board, as a reader on its machine sees it now. */
  mirror(): Snapshot {
    const bytes = readFileSync(this.mirrorPath);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const h = decode('board_header', view, 0);
    const count = h.count ?? 0;
    const column = bytes.subarray(Number(h.column_offset), Number(h.column_offset) + count * (h.column_stride ?? 0));
    const records = bytes.subarray(Number(h.records_offset), Number(h.records_offset) + count * (h.record_stride ?? 0));
    const copy = new Uint8Array(Buffer.concat([bytes.subarray(0, h.header_bytes), column, records]));
    return snapshotOf(this.mirrorPath, copy, { nowNs: this.mirrorNow, realNs: this.mirrorNow, nodes: count });
  }

  states(): Map<string, State> {
    const board = this.mirror();
    const unknown = board.stalled || board.retired;
    return new Map(Array.from(board.nodes(), node => [node.name, unknown ? 'unknown' : node.state]));
  }

  /** The number of nodes in each state. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const state of this.states().values()) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  }

  /**
   * `silent` is false if any master heard the node within the limit, and `live` if none did; the rates of clocks differ
   * by up to 0.1 %.
   */
  #judge(): void {
    for (const [name, state] of this.states()) {
      this.looks[state] = (this.looks[state] ?? 0) + 1;
      if (state !== 'silent' && state !== 'live') continue;
      const node = this.nodes.find(other => other.name === name) as Node;
      const heardNs = [...node.heard.values()].reduce((a, b) => (a > b ? a : b), 0n);
      const ageNs = this.now - heardNs;
      const scale = BigInt(Math.max(node.interval, 1000));
      const isWrong =
        state === 'silent'
          ? ageNs < (SILENT * scale * 998n) / 1_000_000n
          : ageNs > (UNCERTAIN * scale * 1002n) / 1_000_000n;
      if (isWrong) this.wrong.push({ node: name, state, atNs: this.now, ageNs });
    }
  }

  end(): void {
    this.follower?.end();
    for (const master of this.masters) {
      master.relay?.end();
      if (!master.ended) master.writer.close();
    }
  }
}
