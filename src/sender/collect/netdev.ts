// /proc/net/dev: traffic of the network interfaces, and their places in the report. Leaves out lines that are not
// understood: the report tells how many interfaces are in it.

import {
  add,
  alone,
  digits,
  type KernelCount,
  type LeaveOut,
  LineParser,
  modulo32,
  quietly,
  understood,
  whole,
} from './kerneltext.js';
import { MemberSum } from './membersum.js';
import type { Links } from './netlinks.js';

/** Errors and drops of both directions. */
const COUNTS = ['rx_bytes', 'tx_bytes', 'rx_packets', 'tx_packets', 'errors', 'drops'] as const;
export type TrafficCount = (typeof COUNTS)[number];
type Traffic = Record<TrafficCount, KernelCount>;

export interface InterfaceCounts extends Traffic {
  name: string;
}

/** An interface as the report has it. */
export interface NetEntry extends InterfaceCounts {
  /** 0: unknown. */
  mbps: KernelCount;
  state: number;
}

/**
 * A line: a name that the kernel gives to an interface (no other text may become part of a path), and twelve numbers, of
 * which eight count. The name ends at the last colon, which no blank need follow; before 4.20 it can have colons, too.
 * One expression, because a host of containers has thousands of these lines, and the engine's own loop is ten times as
 * fast as one of ours.
 */
const LINE =
  /[^\S\n]*([^\s/]{1,15})[^\S\n]*:(?![^\n]*:) *(\d+) +(\d+) +(\d+) +(\d+) +[^ \n]+ +[^ \n]+ +[^ \n]+ +[^ \n]+ +(\d+) +(\d+) +(\d+) +(\d+)(?=[ \n])/uy;

function parseLine(found: RegExpExecArray): InterfaceCounts | undefined {
  const name = found[1] ?? '';
  if (name === '.' || name === '..') return undefined;
  const counts = whole(found.slice(2).map(digits));
  if (counts === undefined) return undefined;
  const [rx_bytes = 0, rx_packets = 0, rxErrors = 0, rxDrops = 0] = counts;
  const [tx_bytes = 0, tx_packets = 0, txErrors = 0, txDrops = 0] = counts.slice(4);
  const [errors, drops] = [add(rxErrors, txErrors), add(rxDrops, txDrops)];
  return { name: alone(name), rx_bytes, tx_bytes, rx_packets, tx_packets, errors, drops };
}

/** All interfaces in the kernel's order. The two heading lines are required; there may be no interfaces. For one file. */
export function netdevParser(lines = new LineParser(LINE, parseLine)) {
  return (text: string, leaveOut: LeaveOut = quietly): InterfaceCounts[] | undefined => {
    const heading = /^[^\n|]*\|[^\n]*\n[^\n|]*\|[^\n]*\n/.exec(text)?.[0];
    if (heading === undefined || !text.endsWith('\n')) return undefined;
    return understood(lines.lines(text, heading.length), leaveOut);
  };
}

/** The number of entries of `net` in the report; further interfaces are added to `net_rest`. */
const PLACES = 3;

/** The sum over ports. */
export const portSum = (room: number) => new MemberSum(COUNTS, { room });
/** The sum over further interfaces, from tick to tick. */
export const restSum = (room = Number.POSITIVE_INFINITY) => new MemberSum(COUNTS, { room, isOfNone: true });

/**
 * Puts the interfaces that count into their places, in the order of their index. Each entry says in bits 16–31 of its
 * state how many interfaces are in it.
 *
 * @param links those that count
 * @param mbps speeds by name, as far as they are known
 * @returns undefined if there are more than there is room for in `sum`
 */
export function arrange(
  interfaces: readonly InterfaceCounts[],
  links: Links,
  mbps: ReadonlyMap<string, number> = new Map(),
  sum = restSum(),
): { net: NetEntry[]; net_rest?: NetEntry } | undefined {
  const counted: CountedLine[] = [];
  for (const counts of interfaces) {
    const { name } = counts;
    const link = links.get(name);
    if (link !== undefined) counted.push({ id: name, ...link, counts, mbps: mbps.get(name) ?? 0 });
  }
  // Those without an index come last; these, and those with the same, as the kernel has them.
  counted.sort((a, b) => a.index - b.index);
  const [first, rest] = [counted.slice(0, PLACES), counted.slice(PLACES)];
  const net = first.map(({ counts, mbps, state }) => finish({ ...counts, mbps, state }, 1));
  const total = sum.add(rest, 0);
  if (total === undefined) return undefined;
  return rest.length === 0 ? { net } : { net, net_rest: totalOf('rest', total, rest) };
}

/** An interface that counts. */
interface CountedLine extends Pick<NetEntry, 'mbps' | 'state'> {
  readonly id: string;
  readonly counts: InterfaceCounts;
  readonly index: number;
}

/** The sum over interfaces or ports as one entry. */
export function totalOf(name: string, sum: Traffic, all: readonly Pick<NetEntry, 'mbps' | 'state'>[]): NetEntry {
  const mbps = all.reduce<KernelCount>((total, one) => add(total, one.mbps), 0);
  const state = all.reduce((bits, one) => bits | one.state, 0);
  return finish({ name, ...sum, mbps, state }, all.length);
}

function finish(entry: NetEntry, interfaces: number): NetEntry {
  return {
    ...entry,
    errors: modulo32(entry.errors),
    drops: modulo32(entry.drops),
    state: entry.state + Math.min(interfaces, 0xffff) * 0x10000,
  };
}
