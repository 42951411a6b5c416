// Computes rates from two reports of a node, in place. Pure; knows the contract's rules for counters and nothing of the
// board.

import { type Field, getter } from '../layout/codec.js';
import { bits, sources, structs } from '../layout/layout.gen.js';

/** Counters per second under their field names, CPU shares in per cent as `cpu_*_pct`, interfaces by name. */
export interface Rates {
  [counter: string]: number | InterfaceRates | InterfaceRates[] | undefined;
  net?: InterfaceRates[];
  net_rest?: InterfaceRates;
  fabric?: InterfaceRates;
}

/** Rates of one network entry per second, under its field names. */
export interface InterfaceRates {
  name: string;
  rx_bytes?: number;
  tx_bytes?: number;
  rx_packets?: number;
  tx_packets?: number;
  errors?: number;
  drops?: number;
}

const { fields } = structs.report;
const entry = structs.net_if.fields;

/** A set's bit in one of the two words of `valid`. */
export interface SetBit {
  readonly word: number;
  readonly mask: number;
}

/** Where `valid` says whether a set was measured; undefined for a field without a set, which always exists. */
export function setBit(set: keyof typeof bits.valid): SetBit {
  const bit = bits.valid[set];
  return { word: fields.valid.offset + (bit < 32 ? 0 : 4), mask: (1 << (bit % 32)) >>> 0 };
}

/** Whether the report at `at` has the set. */
export function isMeasured(view: DataView, at: number, { word, mask }: SetBit): boolean {
  return (view.getUint32(at + word, true) & mask) !== 0;
}

/** A counter of the contract that has a rate. */
export interface Counter {
  readonly name: string;
  readonly offset: number;
  readonly wide: boolean;
  readonly set: SetBit | undefined;
  readonly slow: boolean;
  /** Whether it has no rate across another run of the sender. */
  readonly ofRun: boolean;
}

const OF_RUN = new Set(['agent_cpu_ms', 'missed_ticks']);
/** Sums that each run of a sender begins anew. */
const SUMS_OF_RUN: ReadonlySet<string> = new Set(['disk', 'energy_cpu', 'energy_dram']);
const SLOW = new Set<string>(Object.values(sources.slow).flatMap(({ sets }) => sets));

function counters(of: Record<string, Field>): Counter[] {
  return Object.entries(of)
    .filter(([, field]) => field.kind === 'counter' && field.type.startsWith('u'))
    .map(([name, { offset, type, set }]) => ({
      name,
      offset,
      wide: type === 'u64',
      set: set && setBit(set),
      slow: SLOW.has(set ?? ''),
      ofRun: OF_RUN.has(name) || SUMS_OF_RUN.has(set ?? ''),
    }));
}

/** The counters of a report, and of a network entry, that have a rate. */
const REPORT_COUNTERS: readonly Counter[] = counters(fields);
const INTERFACE_COUNTERS: readonly Counter[] = counters(entry);
/** The kinds of CPU time, in the order of the contract: `Pair.shares` has one share for each. */
export const CPU_TIMES: readonly Counter[] = REPORT_COUNTERS.filter(({ name }) => /^cpu_\w+_ms$/.test(name));
const CPU_SHARES: readonly string[] = CPU_TIMES.map(({ name }) => name.replace(/_ms$/, '_pct'));
const CPU_OFFSETS = CPU_TIMES.map(({ offset }) => offset);
const IDLE = CPU_TIMES.findIndex(({ name }) => name === 'cpu_idle_ms');

export type CounterName = {
  [K in keyof typeof fields]: (typeof fields)[K] extends { kind: 'counter'; type: 'u32' | 'u64' } ? K : never;
}[keyof typeof fields];
export type InterfaceCounter = Exclude<keyof InterfaceRates, 'name'>;

/** The counter of that name, for code that takes its rate again and again. */
export function counterOf(name: CounterName): Counter {
  return REPORT_COUNTERS.find(counter => counter.name === name) as Counter;
}

/** The same of a network entry. */
export function interfaceCounterOf(name: InterfaceCounter): Counter {
  return INTERFACE_COUNTERS.find(counter => counter.name === name) as Counter;
}

const NET = setBit('net');
const FABRIC = setBit('fabric');
const CPUS = setBit('cpus');
const STAT = setBit('stat');
/** Network entries in `net`, and the bytes of one's name. */
const NET_COUNT = fields.net.count;
const NET_STRIDE = structs.net_if.bytes;
const NAME_BYTES = entry.name.count;
const TWO_TO_32 = 2 ** 32;

function isSameId(view: DataView, a: number, b: number): boolean {
  return (
    view.getUint32(a, true) === view.getUint32(b, true) && view.getUint32(a + 4, true) === view.getUint32(b + 4, true)
  );
}

/** How far a u64 moved, exact up to 2^53; may be negative. */
function distance(view: DataView, from: number, to: number): number {
  const high = view.getUint32(to + 4, true) - view.getUint32(from + 4, true);
  return high * TWO_TO_32 + (view.getUint32(to, true) - view.getUint32(from, true));
}

/** Seconds between two times; NaN if the second one is not later. */
function span(view: DataView, from: number, to: number): number {
  const ns = distance(view, from, to);
  return ns > 0 ? ns / 1e9 : Number.NaN;
}

/** How far a counter moved; NaN if that proves nothing. */
function difference(view: DataView, wide: boolean, from: number, to: number): number {
  if (wide) {
    const moved = distance(view, from, to);
    return moved < 0 ? Number.NaN : moved;
  }
  const moved = (view.getUint32(to, true) - view.getUint32(from, true)) >>> 0;
  return moved < 2 ** 31 ? moved : Number.NaN;
}

/**
 * Two reports of a node in one view, the earlier and the later, by their offsets. One object is moved from pair to
 * pair, because 10,000 nodes are read at once. A value without a rate is NaN.
 */
export class Pair {
  view: DataView = new DataView(new ArrayBuffer(0));
  before = 0;
  after = 0;
  /** Seconds between the two ticks, and between the two slow rounds. */
  #fast = Number.NaN;
  #slow = Number.NaN;
  #sameRun = false;
  /** The result of `matchNet`: offsets of the same entry in both reports. */
  readonly #earlier = new Int32Array(NET_COUNT);
  readonly #later = new Int32Array(NET_COUNT);
  readonly #net = { found: 0, unknown: 0 };

  /** Whether the two reports can have rates: they are of the same boot. */
  set(view: DataView, before: number | undefined, after: number | undefined): boolean {
    if (before === undefined || after === undefined) return false;
    const { boot_id, t_boot_ns, slow_boot_ns, start_boot_ns } = fields;
    if (!isSameId(view, before + boot_id.offset, after + boot_id.offset)) return false;
    this.view = view;
    this.before = before;
    this.after = after;
    this.#fast = span(view, before + t_boot_ns.offset, after + t_boot_ns.offset);
    this.#slow = span(view, before + slow_boot_ns.offset, after + slow_boot_ns.offset);
    this.#sameRun = isSameId(view, before + start_boot_ns.offset, after + start_boot_ns.offset);
    return true;
  }

  has(set: SetBit): boolean {
    return isMeasured(this.view, this.before, set) && isMeasured(this.view, this.after, set);
  }

  moved({ offset, wide, set, ofRun }: Counter): number {
    if ((set !== undefined && !this.has(set)) || (ofRun && !this.#sameRun)) return Number.NaN;
    return difference(this.view, wide, this.before + offset, this.after + offset);
  }

  rate(counter: Counter): number {
    return this.moved(counter) / (counter.slow ? this.#slow : this.#fast);
  }

  /** Shares of CPU time in per cent, in the order of the contract's `cpu_*_ms`. */
  shares(into: Float64Array): void {
    const { view, before, after } = this;
    // The shares must be of the same CPUs: a CPU that was added or removed changes the sums by hours.
    const { offset } = fields.cpus_online;
    const others = this.has(CPUS) && view.getUint16(before + offset, true) !== view.getUint16(after + offset, true);
    if (!(this.#fast > 0) || others || !this.has(STAT)) {
      into.fill(Number.NaN);
      return;
    }
    let total = 0;
    for (let i = 0; i < CPU_OFFSETS.length; i++) {
      const at = CPU_OFFSETS[i] as number;
      const moved = difference(view, true, before + at, after + at);
      into[i] = moved;
      if (moved > 0) total += moved;
    }
    if (!((into[IDLE] as number) >= 0)) total = Number.NaN;
    for (let i = 0; i < CPU_OFFSETS.length; i++) into[i] = (100 * (into[i] as number)) / total;
  }

  /** Whether time has passed between the two, and both have `net`; otherwise no interface has a rate. */
  get hasNet(): boolean {
    return this.#fast > 0 && this.has(NET);
  }

  /**
   * Finds each network entry of the later report in the earlier one by its name, wherever it is there: `found` is their
   * number, and `entryRate` returns their rates. `unknown`: how many are in the later one only.
   */
  matchNet(): { found: number; unknown: number } {
    const net = this.#net;
    net.found = 0;
    net.unknown = 0;
    for (let i = 0; i < NET_COUNT; i++) {
      const later = this.after + fields.net.offset + i * NET_STRIDE;
      if (this.view.getUint8(later) === 0) continue;
      const earlier = this.#earlierEntry(later);
      if (earlier === -1) net.unknown++;
      else {
        this.#earlier[net.found] = earlier;
        this.#later[net.found++] = later;
      }
    }
    return net;
  }

  /** The offset in the later report of the matched network entry number `i`. */
  laterEntry(i: number): number {
    return this.#later[i] as number;
  }

  #earlierEntry(later: number): number {
    for (let i = NET_COUNT - 1; i >= 0; i--) {
      const at = this.before + fields.net.offset + i * NET_STRIDE;
      if (this.#isSameName(at, later)) return at;
    }
    return -1;
  }

  #isSameName(a: number, b: number): boolean {
    for (let i = 0; i < NAME_BYTES; i++) {
      const byte = this.view.getUint8(a + i);
      if (byte !== this.view.getUint8(b + i)) return false;
      if (byte === 0) return true;
    }
    return true;
  }

  /** The rate per second of a counter of the matched network entry number `i`. */
  entryRate({ offset, wide }: Counter, i: number): number {
    const [earlier, later] = [this.#earlier[i] as number, this.#later[i] as number];
    return difference(this.view, wide, earlier + offset, later + offset) / this.#fast;
  }

  /**
   * Whether the sum over several interfaces (`net_rest`, `fabric`) has rates: both reports are of one run of the sender
   * and have it, with the same number of interfaces.
   */
  hasSum(sum: 'net_rest' | 'fabric'): boolean {
    const { before, after, view } = this;
    if (!this.#sameRun || !(sum === 'fabric' ? this.#slow > 0 && this.has(FABRIC) : this.hasNet)) return false;
    const at = fields[sum].offset;
    const count = at + entry.state.offset + 2;
    return (
      view.getUint8(before + at) !== 0 &&
      view.getUint8(after + at) !== 0 &&
      view.getUint16(before + count, true) === view.getUint16(after + count, true)
    );
  }

  /** The rate of a counter of such a sum, per second. */
  sumRate(sum: 'net_rest' | 'fabric', { offset, wide }: Counter): number {
    const at = fields[sum].offset + offset;
    return (
      difference(this.view, wide, this.before + at, this.after + at) / (sum === 'fabric' ? this.#slow : this.#fast)
    );
  }
}

const nameOf = getter('net_if', 'name');
const pair = new Pair();
const shares = new Float64Array(CPU_TIMES.length);

function interfaceRates(name: string, rate: (counter: Counter) => number): InterfaceRates {
  const rates: Record<string, string | number> = { name };
  for (const counter of INTERFACE_COUNTERS) {
    const found = rate(counter);
    if (!Number.isNaN(found)) rates[counter.name] = found;
  }
  return rates as unknown as InterfaceRates;
}

/**
 * Visits the rates between two reports of a node, given by their offsets, per second; a rate that the rules do not allow
 * is left out. False: there is no earlier report of the same boot.
 */
export function visitRates(
  view: DataView,
  before: number | undefined,
  after: number | undefined,
  visit: (name: string, rate: number | InterfaceRates | InterfaceRates[]) => void,
): boolean {
  if (!pair.set(view, before, after)) return false;
  for (const counter of REPORT_COUNTERS) {
    const rate = pair.rate(counter);
    if (!Number.isNaN(rate)) visit(counter.name, rate);
  }
  pair.shares(shares);
  CPU_SHARES.forEach((name, i) => {
    const share = shares[i] as number;
    if (!Number.isNaN(share)) visit(name, share);
  });
  if (pair.hasNet) {
    const { found } = pair.matchNet();
    const entries = Array.from({ length: found }, (_, i) =>
      interfaceRates(nameOf(view, pair.laterEntry(i)), counter => pair.entryRate(counter, i)),
    );
    visit('net', entries);
  }
  for (const sum of ['net_rest', 'fabric'] as const)
    if (pair.hasSum(sum)) {
      const name = nameOf(view, pair.after + fields[sum].offset);
      visit(
        sum,
        interfaceRates(name, counter => pair.sumRate(sum, counter)),
      );
    }
  return true;
}

/** The same as an object; undefined: there is none. */
export function rates(view: DataView, before: number | undefined, after: number | undefined): Rates | undefined {
  const out: Rates = {};
  const add = (name: string, rate: Rates[string]) => {
    out[name] = rate;
  };
  return visitRates(view, before, after, add) ? out : undefined;
}
