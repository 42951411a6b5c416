// /sys/class/infiniband: traffic of all RDMA ports, added up. Leaves out ports without counters (software on top of a
// network interface, or with counters elsewhere), and for a minute those whose counters cannot be read: asking a driver
// that refuses may cost its firmware's time.

import { existsSync } from 'node:fs';
import { bits, constants } from '../../layout/layout.gen.js';
import { add, type KernelCount, times, u64, whole } from '../collect/kerneltext.js';
import type { SumMember } from '../collect/membersum.js';
import { type NetEntry, portSum, type TrafficCount, totalOf } from '../collect/netdev.js';
import { readOnce } from '../kernelfile.js';
import {
  bootMs,
  endMembers,
  keeping,
  names,
  parseCount,
  type ReadingBuilder,
  type SlowSource,
  type SlowWorld,
} from './source.js';

type Port = Omit<NetEntry, 'name'>;

/** What old kernels write for a counter that a port does not have. */
const NO_COUNTER = 'N/A (no PMA)\n';

/** Each is a separate fault; counters that are part of another one (remote and overrun errors) would count twice. */
const ERRORS = ['symbol_error', 'link_error_recovery', 'link_downed', 'port_rcv_errors', 'local_link_integrity_errors'];
const DROPS = ['port_xmit_discards'];

const ACTIVE = 2 ** bits.net_state.up + 2 ** bits.net_state.carrier;

/** Mbit/s of a text like `100 Gb/sec (4X EDR)`; 0 if it is invalid. */
export function parseRate(text: string | undefined): number {
  const match = /^(\d{1,6})(?:\.(\d))? Gb\/sec(?: |\n)/.exec(text ?? '');
  return match === null ? 0 : Number(match[1]) * 1000 + Number(match[2] ?? 0) * 100;
}

/** Whether a text like `4: ACTIVE` says that the port carries traffic. */
export const parseActive = (text: string | undefined): boolean => /^4: /.test(text ?? '');

/** A counter that a port may lack, which then adds nothing. An existing one that is not a number is an error. */
export function parseOptional(text: string | undefined): KernelCount | undefined {
  if (text === undefined || text === NO_COUNTER) return 0;
  return text.endsWith('\n') ? u64(text.slice(0, -1)) : undefined;
}

function readPort(dir: string, now: ReadingBuilder): Port | undefined {
  const leaf = (name: string) => {
    const count = now.parse(`${dir}/counters/${name}`, parseCount);
    if (count !== 2 ** 32 - 1) return count;
    now.complain(`${dir}/counters/${name} is at its end`); // Where old adapters stop.
    return undefined;
  };
  const sum = (leaves: readonly string[]) => {
    const counts = whole(leaves.map(name => parseOptional(readOnce(`${dir}/counters/${name}`))));
    if (counts === undefined) now.complain(`an error counter in ${dir}/counters has unexpected content`);
    return counts?.reduce<KernelCount>(add, 0);
  };
  // The packet counters include unicast and multicast. Data are counted in words of four bytes.
  const traffic: KernelCount[] = [];
  for (const name of ['port_rcv_data', 'port_xmit_data', 'port_rcv_packets', 'port_xmit_packets']) {
    const count = leaf(name);
    if (count === undefined) return undefined;
    traffic.push(count);
  }
  const [rxWords = 0, txWords = 0, rx_packets = 0, tx_packets = 0] = traffic;
  const errors = sum(ERRORS);
  const drops = errors === undefined ? undefined : sum(DROPS);
  if (errors === undefined || drops === undefined) return undefined;
  const active = parseActive(readOnce(`${dir}/state`));
  // A port that is down reports the speed that it could have.
  const mbps = active ? parseRate(readOnce(`${dir}/rate`)) : 0;
  const state = active ? ACTIVE : 0;
  return {
    rx_bytes: times(rxWords, 4),
    tx_bytes: times(txWords, 4),
    rx_packets,
    tx_packets,
    errors,
    drops,
    mbps,
    state,
  };
}

function portsBelow(root: string): { device: string; port: string }[] {
  return names(root, /^[^.]/).flatMap(device =>
    names(`${root}/${device}/ports`, /^\d+$/).map(port => ({ device, port })),
  );
}

function counts(dir: string): boolean {
  return existsSync(`${dir}/counters`) && readOnce(`${dir}/counters/port_xmit_data`) !== NO_COUNTER;
}

/** For so long a port that cannot be read is not asked again, ms. */
const REST_MS = 60_000;

/** @param nowMs any clock */
export function makeFabric(nowMs: (world: SlowWorld) => number = bootMs): SlowSource {
  /** Until when a port is not asked. */
  const kept = { resting: new Map<string, number>() };
  const sum = portSum(constants.most.members);
  return keeping('fabric', [sum.kept, kept], (now, world) => {
    const ms = nowMs(world);
    const read: Port[] = [];
    const members: SumMember<TrafficCount>[] = [];
    const root = `${world.sys}/class/infiniband`;
    for (const { device, port } of portsBelow(root)) {
      const dir = `${root}/${device}/ports/${port}`;
      const isResting = (kept.resting.get(dir) ?? 0) > ms;
      if (!isResting && !counts(dir)) continue;
      const { isTroubled } = now;
      const counted = isResting ? undefined : readPort(dir, now);
      members.push({ id: `${device}/${port}`, counts: counted });
      if (counted !== undefined) read.push(counted);
      // Only the first complaint of a round is told. So a port that fails rests only if its complaint was that one;
      // another is asked again in the next round.
      else if (!isResting && !isTroubled) kept.resting.set(dir, ms + REST_MS);
    }
    const total = endMembers(now, sum, members, ms, 'RDMA ports');
    now.put('fabric', total && { fabric: totalOf('fabric', total, read) });
  });
}
