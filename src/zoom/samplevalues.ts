// The values of a sample, from two answers: shares and rates, under their own names. Pure.

import { atomsOf, type Element, type Expression, type ExpressionTree, treeOf } from '../net/expressions.js';
import { BYTES_PER_SECOND, NUMBER, PERCENT, type Unit, unit } from '../readings/units.js';
import { Failure } from '../text/failure.js';
import { brief } from '../text/text.js';

const MIB = unit('size', 2 ** 20, 'MiB');

/** In the order in which they are shown. */
export const toldValues = [
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
] as const satisfies readonly { name: string; unit: Unit }[];

export type ToldName = (typeof toldValues)[number]['name'];

/** The categories to ask for: cpuinfo, netinfo, avenrun, pressure, memory, disk, procs; and now and then the server. */
export const ASKED_MASK = 0x1 | 0x2 | 0x40 | 0x200 | 0x1000 | 0x2000 | 0x4000;
export const SERVER_MASK = 0x8000;
/** These categories; others are ignored. */
const ASKED = new Set(['cpuinfo', 'netinfo', 'avenrun', 'pressure', 'memory', 'disk', 'procs', 'server']);

export interface ZoomSample {
  readonly ms: number;
  /** Absent: unknown. */
  readonly values: ReadonlyMap<ToldName, number>;
}

/** Categories about servers, which are not about nodes. */
const NO_NODES = new Set(['server', 'error']);
/** How many names are listed when the user has to choose one, and how many characters of each. */
const MOST_NAMES = 8;
const MOST_NAME = 80;

/** CPU time is counted in jiffies of 10 ms: a share needs a longer time than a few of them, ms. */
const CPU_WINDOW_MS = 100;
/** How many samples are kept for that: more than are taken in that time. */
const MOST_WINDOW = 200;
/** The fixed point of load averages. */
const LOAD_ONE = 2048;

/** The numbers of a list by their names in the schema; nil is left out. */
type SampleNumbers = ReadonlyMap<string, number>;

interface Raw {
  readonly ms: number;
  readonly one: ReadonlyMap<string, SampleNumbers>;
  /** Interfaces, by name. */
  readonly net: ReadonlyMap<string, SampleNumbers>;
}

interface CpuTime {
  readonly ms: number;
  readonly cpu: SampleNumbers | undefined;
}

const text = (tree: ExpressionTree | undefined) => (typeof tree === 'string' ? tree : '');
const list = (tree: ExpressionTree | undefined) => (typeof tree === 'object' ? tree : []);
const dataOf = (expression: Expression, element: Element) => list(treeOf(expression, element)[4]);

/** Numbers of this protocol; `nil`, and what a double cannot hold exactly (2^53 and beyond, 1e400), is unknown. */
const NUMBER_FORM = /^\d{1,16}(?:\.\d{1,9})?$/;

function numbers(names: readonly string[], values: readonly ExpressionTree[]): SampleNumbers {
  const found = new Map<string, number>();
  for (const [i, name] of names.entries()) {
    const written = text(values[i]);
    const number = NUMBER_FORM.test(written) ? Number(written) : Number.NaN;
    if (number < 2 ** 53) found.set(name, number);
  }
  return found;
}

/** A counter that went back, or that is unknown at one end, has no rate. */
const grown = (from: SampleNumbers | undefined, to: SampleNumbers | undefined, name: string): number => {
  const by = (to?.get(name) ?? Number.NaN) - (from?.get(name) ?? Number.NaN);
  return by >= 0 ? by : Number.NaN;
};

const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0);

/** Makes samples from answers, one after another. */
export class SampleReader {
  readonly #names = new Map<string, readonly string[]>();
  node: string | undefined;
  #before: Raw | undefined;
  /** Some of the last samples, for the shares of CPU time. */
  readonly #window: CpuTime[] = [];
  /** The CPU time of the only server, µs, and when it was asked first and last, ms. */
  #cpu: { first: number; firstMs: number; last: number; lastMs: number } | undefined;

  /** `node`: which of several nodes to show. Throws a Failure for an invalid schema. */
  constructor(
    schema: Expression,
    readonly wanted: string | undefined,
  ) {
    for (const element of schema.elements) {
      const [, category = ''] = atomsOf(schema, element, 2);
      if (ASKED.has(category) && !this.#names.has(category))
        this.#names.set(category, dataOf(schema, element).slice(1).map(text));
    }
    if (!this.#names.has('cpuinfo'))
      throw new Failure('the server there reports no CPU time: it does not serve nodes', 1);
  }

  /** The server's share of one CPU, %; undefined: unknown. */
  get cost(): number | undefined {
    if (this.#cpu === undefined) return undefined;
    const { first, firstMs, last, lastMs } = this.#cpu;
    const share = (last - first) / (lastMs - firstMs) / 10;
    return Number.isFinite(share) && share >= 0 ? share : undefined;
  }

  #choose(names: ReadonlySet<string>): string {
    if (this.wanted !== undefined && names.has(this.wanted)) return this.wanted;
    const [first, ...more] = names;
    if (first === undefined) throw new Failure('it has no node', 1);
    // Over its own link a node may have another name than the one in our command.
    if (more.length === 0) return first;
    const some = [first, ...more.slice(0, MOST_NAMES - 1)].map(name => brief(name, MOST_NAME)).join(', ');
    const rest = names.size > MOST_NAMES ? ' …' : '';
    throw new Failure(`it has ${names.size} nodes; name one of them: ${some}${rest}`, 1);
  }

  #raw(answer: Expression, ms: number): Raw {
    const heads = answer.elements.map(element => atomsOf(answer, element, 2));
    this.node ??= this.#choose(
      new Set(heads.filter(([, category = '']) => !NO_NODES.has(category)).map(([node = '']) => node)),
    );
    const servers: Element[] = [];
    const one = new Map<string, SampleNumbers>();
    const net = new Map<string, SampleNumbers>();
    const seen = new Set<string>();
    for (const [i, element] of answer.elements.entries()) {
      const [node, category = ''] = heads[i] as string[];
      if (category === 'server') servers.push(element);
      // If two nodes have the same name, the first one is taken.
      if (node !== this.node || !ASKED.has(category) || seen.has(category) || NO_NODES.has(category)) continue;
      seen.add(category);
      const [, ...values] = dataOf(answer, element);
      const names = this.#names.get(category) ?? [];
      if (category !== 'netinfo') one.set(category, numbers(names, values));
      else for (const entry of values) net.set(text(list(entry)[0]), numbers(names, list(entry).slice(1)));
    }
    // The CPU time of several servers says nothing about this node's.
    if (servers.length === 1) this.#note(dataOf(answer, servers[0] as Element), ms);
    return { ms, one, net };
  }

  #note(data: readonly ExpressionTree[], ms: number): void {
    const us = numbers(this.#names.get('server') ?? [], data.slice(1)).get('cpu_us');
    if (us === undefined) return;
    this.#cpu ??= { first: us, firstMs: ms, last: us, lastMs: ms };
    this.#cpu = { ...this.#cpu, last: us, lastMs: ms };
  }

  /** The sample from an answer and the one before; `ms`: when it came. Undefined: it is the first. */
  take(answer: Expression, ms: number): ZoomSample | undefined {
    const now = this.#raw(answer, ms);
    const before = this.#before;
    this.#before = now;
    this.#window.push({ ms, cpu: now.one.get('cpuinfo') });
    const isFull = () => ms - (this.#window[1] as CpuTime).ms >= CPU_WINDOW_MS || this.#window.length > MOST_WINDOW;
    while (this.#window.length > 2 && isFull()) this.#window.shift();
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
    // The kernel updates its counters now and then, and then by more than the time that has passed.
    for (const what of ['cpu', 'mem', 'io'] as const)
      put(`psi_${what}_pct`, Math.min(100, grown(psiBefore, psi, `${what}_some_us`) / seconds / 1e4));
    return { ms, values };
  }

  #putCpu(put: (name: ToldName, value: number) => void, now: Raw): void {
    const { cpu: from } = this.#window[0] as CpuTime;
    const to = now.one.get('cpuinfo');
    // The kernel lets idle and iowait decrease a little: then there is no time to divide by.
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
