// The way from the nodes to the receiver, which is a bad one as long as it is told to be: loses, doubles, swaps, delays and cuts
// datagrams, by a generator with a seed. It remembers what it really passed on: the truth that the board is held against.

import { createSocket, type Socket } from 'node:dgram';
import { getter, REPORT_BYTES } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import { random } from '../../src/load/simulatednode.js';
import { BulkSender } from '../../src/native/index.js';
import { now } from '../sampler.js';
import { type Account, Model, type NodeCounts, Truth } from './judge.js';

/** How bad the way is: shares from 0 to 1. */
export interface Weather {
  loss: number;
  duplicate: number;
  /** Comes after the next one of its node. */
  swap: number;
  /** Comes without its end. */
  cut: number;
  /** Something that is not a report comes before it. */
  junk: number;
  /** Comes up to so many ms later. */
  delayMs: number;
  /** Comes by the other line. */
  away: number;
  /** The nodes that this befalls; all others have a good way. */
  only?: ReadonlySet<string>;
}

export const FAIR: Weather = { loss: 0, duplicate: 0, swap: 0, cut: 0, junk: 0, delayMs: 0, away: 0 };

/** An address that datagrams are passed on to. */
export interface Road {
  host: string;
  port: number;
}

interface Datagram {
  bytes: Uint8Array;
  name?: string;
  seq?: number;
  goodbye?: boolean;
  /** It comes by the other line. */
  away?: boolean;
}

const seqOf = getter('report', 'seq');
const flagsAt = structs.report.fields.flags.offset;
const nameAt = structs.report.fields.hostname.offset;

/** FNV-1a: a number for a text. */
export function hashOf(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

export class Path {
  readonly truths = new Map<string, Truth>();
  readonly #roads: BulkSender[];
  readonly #other: BulkSender;
  readonly #relay: Socket;
  readonly #mortal: ReadonlySet<string>;
  #weather = FAIR;
  #seed = 0;
  /** Of each node the datagram that comes after its next one. */
  readonly #held = new Map<string, Datagram>();
  readonly #delayed = new Set<{ datagram: Datagram; timer: NodeJS.Timeout }>();
  /** What comes while nothing is passed on. */
  #waiting: Datagram[] | undefined;
  /** `deaf`: no receiver, or no road to it, so that what is passed on may come to nothing; `full`: it may be dropped, and counted. */
  #state: 'hearing' | 'full' | 'deaf' = 'hearing';
  // Since the last account:
  #all = 0;
  #doubtful = 0;
  /** When what is not in doubt was passed on. */
  #times: number[] = [];
  readonly #byNode = new Map<string, number>();
  readonly #models = new Map<string, Model>();
  /** The last one that any reader has seen. */
  heartbeat = 0;
  /** In all, for the report: what was done to datagrams. */
  readonly done = { passed: 0, lost: 0, doubled: 0, swapped: 0, delayed: 0, cut: 0, junk: 0 };

  private constructor(roads: readonly Road[], other: Road, relay: Socket, mortal: readonly string[]) {
    this.#mortal = new Set(mortal);
    this.#roads = roads.map(({ host, port }) => new BulkSender(host, port));
    this.#other = new BulkSender(other.host, other.port);
    this.#relay = relay;
    relay.on('message', bytes => this.take(bytes));
  }

  /** `other`: by another line. `mortal`: nodes whose sender may start again. */
  static async open(roads: readonly Road[], other: Road, mortal: readonly string[]): Promise<Path> {
    const relay = createSocket('udp4');
    await new Promise<void>(resolve => relay.bind(0, '127.0.0.1', resolve));
    return new Path(roads, other, relay, mortal);
  }

  /** Where senders in processes of their own report to. */
  get port(): number {
    return this.#relay.address().port;
  }

  close(): void {
    for (const { timer } of this.#delayed) clearTimeout(timer);
    for (const road of [...this.#roads, this.#other]) road.close();
    this.#relay.close();
  }

  /** Changes the weather; `seed` decides what befalls which report. What was on its way arrives first. */
  turn(weather: Weather, seed: number): void {
    this.flush();
    this.#weather = weather;
    this.#seed = seed;
  }

  /** Everything that is on its way arrives now. */
  flush(): void {
    for (const { datagram, timer } of this.#delayed) {
      clearTimeout(timer);
      this.#pass(datagram);
    }
    this.#delayed.clear();
    for (const datagram of this.#held.values()) this.#pass(datagram);
    this.#held.clear();
  }

  /** A report sets out. */
  take(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = bytes.indexOf(0, nameAt);
    const name = Buffer.from(bytes.subarray(nameAt, end)).toString();
    const seq = seqOf(view, 0);
    const goodbye = ((view.getUint32(flagsAt, true) >> bits.flags.goodbye) & 1) === 1;
    const datagram: Datagram = { bytes: Uint8Array.from(bytes), name, seq, goodbye };
    const weather = this.#weather.only?.has(name) === false ? FAIR : this.#weather;
    // By name and number: what befalls it does not depend on how fast this machine is.
    const chance = random(this.#seed ^ hashOf(name) ^ Math.imul(seq + 1, 0x9e3779b1));
    const befalls = (share: number) => chance() < share;
    if (befalls(weather.junk)) {
      this.done.junk++;
      this.#pass({
        bytes: Uint8Array.from({ length: 1 + Math.floor(chance() * 1500) }, () => Math.floor(chance() * 256)),
      });
    }
    if (befalls(weather.loss)) {
      this.done.lost++;
      return;
    }
    if (befalls(weather.cut)) {
      this.done.cut++;
      this.#pass({ bytes: datagram.bytes.subarray(0, 1 + Math.floor(chance() * (REPORT_BYTES - 1))) });
      return;
    }
    const twice = befalls(weather.duplicate);
    datagram.away = weather.away > 0 && befalls(weather.away);
    if (twice) this.done.doubled++;
    const copies = twice ? [datagram, datagram] : [datagram];
    const before = this.#held.get(name);
    if (before === undefined && befalls(weather.swap)) {
      this.done.swapped++;
      this.#held.set(name, datagram);
      return;
    }
    for (const copy of copies) {
      const delay = chance() * weather.delayMs;
      if (delay < 1) this.#pass(copy);
      else this.#delay(copy, delay);
    }
    if (before === undefined) return;
    this.#held.delete(name);
    this.#pass(before);
  }

  #delay(datagram: Datagram, ms: number): void {
    this.done.delayed++;
    const entry = {
      datagram,
      timer: setTimeout(() => {
        this.#delayed.delete(entry);
        this.#pass(datagram);
      }, ms),
    };
    this.#delayed.add(entry);
  }

  #pass(datagram: Datagram): void {
    if (this.#waiting !== undefined) {
      this.#waiting.push(datagram);
      return;
    }
    const { bytes, name, seq, goodbye = false, away = false } = datagram;
    const own = this.#roads[name === undefined ? 0 : hashOf(name) % this.#roads.length] as BulkSender;
    const from = now();
    if (!this.#send(away ? this.#other : own, bytes)) return;
    const to = now();
    if (name === undefined || seq === undefined) return;
    this.#byNode.set(name, (this.#byNode.get(name) ?? 0) + 1);
    const truth = this.truthOf(name);
    if (seq === 0 && truth.highest > 0) truth.restart();
    truth.add({ seq, goodbye, from, to, heartbeat: this.heartbeat, sure: this.#state === 'hearing' });
    this.#models.get(name)?.take(seq);
  }

  /** Whether it was passed on. */
  #send(road: BulkSender, bytes: Uint8Array): boolean {
    try {
      road.send(bytes, bytes.length, 0, 1);
    } catch {
      // There is no road at all.
      this.done.lost++;
      return false;
    }
    this.done.passed++;
    this.#all++;
    if (this.#state === 'deaf') this.#doubtful++;
    else this.#times.push(now());
    return true;
  }

  /** Somebody else reports in the name of a node, which is live, by the other line. */
  stray(name: string, bytes: Uint8Array): void {
    if (!this.#send(this.#other, bytes)) return;
    this.#byNode.set(name, (this.#byNode.get(name) ?? 0) + 1);
    const model = this.#models.get(name);
    if (model !== undefined) model.rival++;
  }

  truthOf(name: string): Truth {
    let truth = this.truths.get(name);
    if (truth === undefined) {
      truth = new Truth(!this.#mortal.has(name));
      this.truths.set(name, truth);
    }
    return truth;
  }

  /** From now on what is passed on may come to nothing, and from that time on it may have. */
  deafen(since: number): void {
    this.#state = 'deaf';
    this.doubt(since);
  }

  /** From now on the kernel may have to drop what is passed on. */
  overfill(): void {
    this.#state = 'full';
  }

  /** There is a receiver again, a road to it, and room. */
  hear(): void {
    this.#state = 'hearing';
  }

  /** What was passed on after that time may have come to nothing. */
  doubt(since: number): void {
    const sure = this.#times.filter(time => time <= since);
    this.#doubtful += this.#times.length - sure.length;
    this.#times = sure;
    for (const truth of this.truths.values()) truth.doubt(since);
  }

  /** Nothing is passed on from now on; what comes waits. */
  freeze(): void {
    this.#waiting = [];
  }

  /** What has waited is passed on. */
  thaw(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const datagram of waiting) this.#pass(datagram);
  }

  /** What was passed on since the last `begin`. */
  get account(): Pick<Account, 'all' | 'doubtful' | 'byNode' | 'models'> {
    return { all: this.#all, doubtful: this.#doubtful, byNode: this.#byNode, models: this.#models };
  }

  /** Counts anew, from what the board knows of the nodes whose sender never starts again. */
  begin(nodes: ReadonlyMap<string, NodeCounts>): void {
    this.#all = this.#doubtful = 0;
    this.#times = [];
    this.#byNode.clear();
    this.#models.clear();
    for (const [name, counts] of nodes) this.#models.set(name, new Model(counts));
  }
}
