// The path from the nodes to the receiver, which loses, duplicates, swaps, delays and cuts datagrams on demand, by a
// generator with a seed. It remembers what it really passed on: the truth with which the board is compared.

import { createSocket, type Socket } from 'node:dgram';
import { getter, REPORT_BYTES } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import { random } from '../../src/load/simulatednode.js';
import { BulkSender } from '../../src/native/index.js';
import { now } from '../kit/sampler.js';
import { type Account, Model, type NodeCounts, Truth } from './judge.js';

/** How bad the path is: shares from 0 to 1. */
export interface Weather {
  loss: number;
  duplicate: number;
  /** It arrives after the next one of its node. */
  swap: number;
  /** It arrives without its end. */
  cut: number;
  /** A datagram that is not a report arrives before it. */
  junk: number;
  /** It arrives up to so many ms later. */
  delayMs: number;
  /** It arrives by the other line. */
  away: number;
  /** The affected nodes; for all others the path is good. */
  only?: ReadonlySet<string>;
}

export const FAIR: Weather = { loss: 0, duplicate: 0, swap: 0, cut: 0, junk: 0, delayMs: 0, away: 0 };

/** An address that datagrams are passed on to. */
interface Road {
  host: string;
  port: number;
}

interface Datagram {
  bytes: Uint8Array;
  name?: string;
  seq?: number;
  goodbye?: boolean;
  /** It is sent by the other line. */
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
  /** For each node the datagram that is held until after its next one. */
  readonly #held = new Map<string, Datagram>();
  readonly #delayed = new Set<{ datagram: Datagram; timer: NodeJS.Timeout }>();
  /** Datagrams that arrive while nothing is passed on. */
  #waiting: Datagram[] | undefined;
  /** `deaf`: no receiver, or no road to it, so datagrams may not arrive; `full`: the kernel may drop and count them. */
  #state: 'hearing' | 'full' | 'deaf' = 'hearing';
  // Since the last account:
  #all = 0;
  #doubtful = 0;
  /** When the datagrams that are not in doubt were passed on. */
  #times: number[] = [];
  readonly #byNode = new Map<string, number>();
  readonly #models = new Map<string, Model>();
  /** The last heartbeat that any reader has seen. */
  heartbeat = 0;
  /** Totals for the report: what was done to datagrams. */
  readonly done = { passed: 0, lost: 0, doubled: 0, swapped: 0, delayed: 0, cut: 0, junk: 0 };

  private constructor(roads: readonly Road[], other: Road, relay: Socket, mortal: readonly string[]) {
    this.#mortal = new Set(mortal);
    this.#roads = roads.map(({ host, port }) => new BulkSender(host, port));
    this.#other = new BulkSender(other.host, other.port);
    this.#relay = relay;
    relay.on('message', bytes => this.take(bytes));
  }

  /** `other`: the road by the other line. `mortal`: nodes whose sender may start again. */
  static async open(roads: readonly Road[], other: Road, mortal: readonly string[]): Promise<Path> {
    const relay = createSocket('udp4');
    await new Promise<void>(resolve => relay.bind(0, '127.0.0.1', resolve));
    return new Path(roads, other, relay, mortal);
  }

  /** The port to which senders in their own processes report. */
  get port(): number {
    return this.#relay.address().port;
  }

  close(): void {
    for (const { timer } of this.#delayed) clearTimeout(timer);
    for (const road of [...this.#roads, this.#other]) road.close();
    this.#relay.close();
  }

  /** Changes the weather; `seed` decides what happens to which report. Datagrams that are on their way arrive first. */
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

  /** Takes a report from its sender. */
  take(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = bytes.indexOf(0, nameAt);
    const name = Buffer.from(bytes.subarray(nameAt, end)).toString();
    const seq = seqOf(view, 0);
    const goodbye = ((view.getUint32(flagsAt, true) >> bits.flags.goodbye) & 1) === 1;
    const datagram: Datagram = { bytes: Uint8Array.from(bytes), name, seq, goodbye };
    const weather = this.#weather.only?.has(name) === false ? FAIR : this.#weather;
    // Seeded by name and number, so that the result does not depend on the speed of this machine.
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

  /** Sends a datagram, and returns whether that succeeded. */
  #send(road: BulkSender, bytes: Uint8Array): boolean {
    try {
      road.send(bytes, bytes.length, 0, 1);
    } catch {
      // The road's interface does not exist.
      this.done.lost++;
      return false;
    }
    this.done.passed++;
    this.#all++;
    if (this.#state === 'deaf') this.#doubtful++;
    else this.#times.push(now());
    return true;
  }

  /** Another sender reports in the name of a live node, by the other line. */
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

  /** From now on datagrams may not arrive; those since that time may not have arrived either. */
  deafen(since: number): void {
    this.#state = 'deaf';
    this.doubt(since);
  }

  /** From now on the kernel may drop datagrams. */
  overfill(): void {
    this.#state = 'full';
  }

  /** There is a receiver again, with a road to it, and room in its buffer. */
  hear(): void {
    this.#state = 'hearing';
  }

  /** Datagrams that were passed on after this time may not have arrived. */
  doubt(since: number): void {
    const sure = this.#times.filter(time => time <= since);
    this.#doubtful += this.#times.length - sure.length;
    this.#times = sure;
    for (const truth of this.truths.values()) truth.doubt(since);
  }

  /** From now on nothing is passed on; datagrams wait. */
  freeze(): void {
    this.#waiting = [];
  }

  /** Passes on the waiting datagrams. */
  thaw(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const datagram of waiting) this.#pass(datagram);
  }

  /** The datagrams that were passed on since the last `begin`. */
  get account(): Pick<Account, 'all' | 'doubtful' | 'byNode' | 'models'> {
    return { all: this.#all, doubtful: this.#doubtful, byNode: this.#byNode, models: this.#models };
  }

  /** Starts counting again, with what the board knows of the nodes whose sender never starts again. */
  begin(nodes: ReadonlyMap<string, NodeCounts>): void {
    this.#all = this.#doubtful = 0;
    this.#times = [];
    this.#byNode.clear();
    this.#models.clear();
    for (const [name, counts] of nodes) this.#models.set(name, new Model(counts));
  }
}
