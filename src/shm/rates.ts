// Takes rates from two reports of one node. Pure; knows the contract's rules for counters and nothing of the board.

import type { Interface, Report } from '../layout/codec.js';
import { slowSets, structs } from '../layout/layout.gen.js';

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

interface CounterField {
  name: string;
  type: string;
  slow: boolean;
  /** Counted from the sender's start, not from the node's boot. */
  ofRun: boolean;
}

const OF_RUN = new Set(['agent_cpu_ms', 'missed_ticks']);
const SLOW: ReadonlySet<string> = new Set(slowSets);

function counters(fields: Record<string, { type: string; kind: string; set?: string }>): CounterField[] {
  return Object.entries(fields)
    .filter(([, field]) => field.kind === 'counter' && field.type.startsWith('u'))
    .map(([name, field]) => ({ name, type: field.type, slow: SLOW.has(field.set ?? ''), ofRun: OF_RUN.has(name) }));
}

const REPORT_COUNTERS = counters(structs.report.fields);
const INTERFACE_COUNTERS = counters(structs.net_if.fields);
const CPU_TIMES = REPORT_COUNTERS.map(field => field.name).filter(name => /^cpu_\w+_ms$/.test(name));

/** How far a counter moved; undefined where that is no evidence. */
function difference(type: string, before: unknown, after: unknown): number | undefined {
  if (typeof before !== 'number' || typeof after !== 'number') return undefined;
  if (type === 'u64') return after < before ? undefined : after - before;
  const modulo = (after - before + 2 ** 32) % 2 ** 32;
  return modulo < 2 ** 31 ? modulo : undefined;
}

function seconds(before: bigint, after: bigint): number | undefined {
  return after > before ? Number(after - before) / 1e9 : undefined;
}

function interfaceRates(before: Interface, after: Interface, span: number): InterfaceRates {
  const rates: Record<string, string | number> = { name: after.name };
  for (const { name, type } of INTERFACE_COUNTERS) {
    const moved = difference(type, before[name as keyof Interface], after[name as keyof Interface]);
    if (moved !== undefined) rates[name] = moved / span;
  }
  return rates as unknown as InterfaceRates;
}

/** Sums have a rate only when as many interfaces were added into them. */
function sumRates(before: Interface | undefined, after: Interface | undefined, span: number | undefined) {
  if (before === undefined || after === undefined || span === undefined) return undefined;
  return before.state >>> 16 === after.state >>> 16 ? interfaceRates(before, after, span) : undefined;
}

/**
 * Rates between two reports of a node, per second; a rate that the rules do not allow is absent.
 * Undefined when there is no earlier report of the same boot.
 */
export function rates(before: Report | undefined, after: Report | undefined): Rates | undefined {
  if (before === undefined || after === undefined || before.boot_id !== after.boot_id) return undefined;
  const fast = seconds(before.t_boot_ns, after.t_boot_ns);
  const slow = seconds(before.slow_boot_ns, after.slow_boot_ns);
  const sameRun = before.start_boot_ns === after.start_boot_ns;
  const out: Rates = {};
  const moved = new Map<string, number>();
  for (const field of REPORT_COUNTERS) {
    const { name } = field;
    const delta = difference(field.type, before[name as keyof Report], after[name as keyof Report]);
    if (delta === undefined || (field.ofRun && !sameRun)) continue;
    moved.set(name, delta);
    const span = field.slow ? slow : fast;
    if (span !== undefined) out[name] = delta / span;
  }
  // Shares are of the same CPUs: the times of one that came or went join or leave the sums, by hours.
  const [from, to] = [before.cpus_online, after.cpus_online];
  const others = from !== undefined && to !== undefined && from !== to;
  const cpuTime = CPU_TIMES.reduce((sum, name) => sum + (moved.get(name) ?? 0), 0);
  if (fast !== undefined && !others && moved.has('cpu_idle_ms') && cpuTime > 0)
    for (const name of CPU_TIMES) {
      const delta = moved.get(name);
      if (delta !== undefined) out[name.replace(/_ms$/, '_pct')] = (100 * delta) / cpuTime;
    }
  if (fast !== undefined && before.net !== undefined && after.net !== undefined) {
    const earlier = new Map(before.net.map(entry => [entry.name, entry]));
    out.net = after.net.flatMap(entry => {
      const same = earlier.get(entry.name);
      return same === undefined ? [] : [interfaceRates(same, entry, fast)];
    });
  }
  const rest = sumRates(before.net_rest, after.net_rest, fast);
  if (rest !== undefined) out.net_rest = rest;
  const fabric = sumRates(before.fabric, after.fabric, slow);
  if (fabric !== undefined) out.fabric = fabric;
  return out;
}
