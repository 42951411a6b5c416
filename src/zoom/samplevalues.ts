// What a node does, out of two samples: shares and rates, under names of their own. Pure.

import { Failure } from '../common/failure.js';
import { BYTES_PER_SECOND, NUMBER, PERCENT, type Unit, unit } from '../readings/units.js';
import { type Expression, type Tree, treeOf } from '../supermon/expressions.js';

const MIB = unit('size', 2 ** 20, 'MiB');

/** One thing that is told of a sample. */
export interface Told {
  readonly name: string;
  readonly unit: Unit;
}

const TOLD = [
  { name: 'cpu_pct', unit: PERCENT },
  { name: 'user_pct', unit: PERCENT },
  { name: 'system_pct', unit: PERCENT },
  { name: 'iowait_pct', unit: PERCENT },
  { name: 'steal_pct', unit: PERCENT },
  { name: 'running', unit: NUMBER },
  { name: 'blocked', unit: NUMBER },
  { name: 'load1', unit: NUMBER },
  { name: 'mem_used_mib', unit: MIB },
  { name: 'mem_total_mib', unit: MIB },
  { name: 'rx_bytes_s', unit: BYTES_PER_SECOND },
  { name: 'tx_bytes_s', unit: BYTES_PER_SECOND },
  { name: 'disk_read_bytes_s', unit: BYTES_PER_SECOND },
  { name: 'disk_write_bytes_s', unit: BYTES_PER_SECOND },
  { name: 'disk_inflight', unit: NUMBER },
  { name: 'psi_cpu_pct', unit: PERCENT },
  { name: 'psi_mem_pct', unit: PERCENT },
  { name: 'psi_io_pct', unit: PERCENT },
] as const satisfies readonly Told[];

export type ToldName = (typeof TOLD)[number]['name'];

/** In the order in which they are told. */
export const toldValues: readonly { readonly name: ToldName; readonly unit: Unit }[] = TOLD;

/** What of the protocol is asked for: cpuinfo, netinfo, avenrun, pressure, memory, disk, procs; and now and then the server. */
export const ASKED_MASK = 0x1 | 0x2 | 0x40 | 0x200 | 0x1000 | 0x2000 | 0x4000;
export const SERVER_MASK = 0x8000;

export interface ZoomSample {
  /** Since the first one, ms. */
  readonly ms: number;
  /** Not there: not known. */
  readonly values: ReadonlyMap<ToldName, number>;
}

/** CPU time is told in jiffies of 10 ms: a share of less time than some of them would be none, ms. */
const CPU_WINDOW_MS = 100;
/** What load averages are told in. */
const LOAD_ONE = 2048;

/** The numbers of a list by the names that the schema has for them; what is nil is not there. */
type Numbers = ReadonlyMap<string, number>;

/** What one answer has of one node. */
interface Raw {
  readonly ms: number;
  readonly one: ReadonlyMap<string, Numbers>;
  /** Interfaces, by name. */
  readonly net: ReadonlyMap<string, Numbers>;
}

const text = (tree: Tree | undefined) => (typeof tree === 'string' ? tree : '');
const list = (tree: Tree | undefined) => (typeof tree === 'object' ? tree : []);

function numbers(names: readonly string[], values: readonly Tree[]): Numbers {
  const found = new Map<string, number>();
  for (const [i, name] of names.entries()) {
    const number = Number(text(values[i]) || Number.NaN);
    if (!Number.isNaN(number)) found.set(name, number);
  }
  return found;
}

/** Rates of counters that went back, or that are not known at both ends, are none. */
const grown = (from: Numbers | undefined, to: Numbers | undefined, name: string): number => {
  const by = (to?.get(name) ?? Number.NaN) - (from?.get(name) ?? Number.NaN);
  return by >= 0 ? by : Number.NaN;
};

const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0);

/** Makes samples of answers, one after the other. */
export class SampleReader {
  /** The names of the numbers, by category. */
  readonly #names = new Map<string, readonly string[]>();
  /** The node that is told of, once it is known. */
  node: string | undefined;
  #before: Raw | undefined;
  /** Some of the last samples, for the shares of CPU time. */
  readonly #window: Raw[] = [];
  /** CPU time of the only server there is, µs, and when it was asked first and last, ms. */
  #cpu: { first: number; firstMs: number; last: number; lastMs: number } | undefined;

  /** `node`: of which of several it is to tell. Throws a Failure for what is no schema. */
  constructor(
    schema: Expression,
    readonly wanted: string | undefined,
  ) {
    for (const element of schema.elements) {
      const [, category, , , data] = treeOf(schema, element);
      if (!this.#names.has(text(category))) this.#names.set(text(category), list(data).slice(1).map(text));
    }
    if (!this.#names.has('cpuinfo'))
      throw new Failure('what answers there tells of no CPU time: it is no server of nodes', 1);
  }

  /** The share of one CPU that the server took, %; undefined: not known. */
  get cost(): number | undefined {
    if (this.#cpu === undefined) return undefined;
    const { first, firstMs, last, lastMs } = this.#cpu;
    return lastMs > firstMs ? (last - first) / (lastMs - firstMs) / 10 : undefined;
  }

  #choose(elements: readonly (readonly Tree[])[]): string {
    const names = [...new Set(elements.map(([node]) => text(node)))];
    if (this.wanted !== undefined && names.includes(this.wanted)) return this.wanted;
    // Over a link of its own a node may go by another name than the one that leads to it.
    if (names.length === 1) return names[0] as string;
    const some = names.length > 8 ? `${names.slice(0, 8).join(', ')} …` : names.join(', ');
    if (names.length === 0) throw new Failure('it tells of no node', 1);
    throw new Failure(`it tells of ${names.length} nodes; name one of them: ${some}`, 1);
  }

  #raw(answer: Expression, ms: number): Raw {
    const all = answer.elements.map(element => treeOf(answer, element));
    const servers = all.filter(([, category]) => category === 'server');
    const told = all.filter(([, category]) => category !== 'server' && category !== 'error');
    this.node ??= this.#choose(told);
    this.#note(servers, ms);
    const one = new Map<string, Numbers>();
    const net = new Map<string, Numbers>();
    for (const [node, category, , , data] of told) {
      if (node !== this.node) continue;
      const [, ...values] = list(data);
      const names = this.#names.get(text(category)) ?? [];
      if (category !== 'netinfo') one.set(text(category), numbers(names, values));
      else for (const entry of values) net.set(text(list(entry)[0]), numbers(names, list(entry).slice(1)));
    }
    return { ms, one, net };
  }

  /** What several servers take does not tell what this node's takes. */
  #note(servers: readonly (readonly Tree[])[], ms: number): void {
    if (servers.length !== 1) return;
    const [, , , , data] = servers[0] as readonly Tree[];
    const us = numbers(this.#names.get('server') ?? [], list(data).slice(1)).get('cpu_us');
    if (us === undefined) return;
    this.#cpu ??= { first: us, firstMs: ms, last: us, lastMs: ms };
    this.#cpu = { ...this.#cpu, last: us, lastMs: ms };
  }

  /** The sample that an answer makes, with the one before; `ms`: when it came. Undefined: it is the first. */
  take(answer: Expression, ms: number): ZoomSample | undefined {
    const now = this.#raw(answer, ms);
    const before = this.#before;
    this.#before = now;
    this.#window.push(now);
    while (this.#window.length > 2 && ms - (this.#window[1] as Raw).ms >= CPU_WINDOW_MS) this.#window.shift();
    if (before === undefined) return undefined;
    const values = new Map<ToldName, number>();
    const put = (name: ToldName, value: number | undefined) => {
      if (value !== undefined && Number.isFinite(value)) values.set(name, value);
    };
    this.#putCpu(put, now);
    const seconds = (now.ms - before.ms) / 1000;
    const procs = now.one.get('procs');
    put('running', procs?.get('running'));
    put('blocked', procs?.get('blocked'));
    put('load1', (now.one.get('avenrun')?.get('avg1') ?? Number.NaN) / LOAD_ONE);
    const memory = now.one.get('memory');
    put('mem_used_mib', (memory?.get('total_mib') ?? Number.NaN) - (memory?.get('avail_mib') ?? Number.NaN));
    put('mem_total_mib', memory?.get('total_mib'));
    const both = [...now.net.keys()].filter(name => before.net.has(name));
    const net = (counter: string) => sum(both.map(name => grown(before.net.get(name), now.net.get(name), counter)));
    if (both.length > 0) {
      put('rx_bytes_s', net('rxbytes') / seconds);
      put('tx_bytes_s', net('txbytes') / seconds);
    }
    const [diskBefore, disk] = [before.one.get('disk'), now.one.get('disk')];
    put('disk_read_bytes_s', grown(diskBefore, disk, 'rdbytes') / seconds);
    put('disk_write_bytes_s', grown(diskBefore, disk, 'wrbytes') / seconds);
    put('disk_inflight', disk?.get('inflight'));
    const [psiBefore, psi] = [before.one.get('pressure'), now.one.get('pressure')];
    // The kernel brings its counts up to date now and then, and then by more than has passed.
    for (const what of ['cpu', 'mem', 'io'] as const)
      put(`psi_${what}_pct`, Math.min(100, grown(psiBefore, psi, `${what}_some_us`) / seconds / 1e4));
    return { ms, values };
  }

  #putCpu(put: (name: ToldName, value: number) => void, now: Raw): void {
    const from = (this.#window[0] as Raw).one.get('cpuinfo');
    const to = now.one.get('cpuinfo');
    // The kernel lets idle and iowait go back a little: that is no time.
    const by = (name: string) => {
      const jiffies = grown(from, to, name);
      return Number.isNaN(jiffies) && to?.has(name) ? 0 : jiffies;
    };
    const kinds = (this.#names.get('cpuinfo') ?? []).map(by);
    const total = sum(kinds);
    if (!(total > 0)) return;
    const share = (...names: string[]) => (sum(names.map(by)) / total) * 100;
    put('user_pct', share('user', 'nice'));
    put('system_pct', share('system', 'irq', 'softirq'));
    put('iowait_pct', share('iowait'));
    put('steal_pct', share('steal'));
    put('cpu_pct', 100 - share('idle', 'iowait'));
  }
}
