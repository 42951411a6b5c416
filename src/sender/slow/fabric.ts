// /sys/class/infiniband: traffic of all RDMA ports, added up. Leaves out ports without counters (software on top of a
// network interface, or with counters elsewhere), and for a minute those whose counters cannot be read: asking a driver
// that refuses may cost its firmware's time.

import { existsSync } from 'node:fs';
import type { FieldsOf } from '../../layout/codec.js';
import { bits } from '../../layout/layout.gen.js';
import { add, type KernelCount, times, u64 } from '../collect/kerneltext.js';
import { type NetEntry, totalOf } from '../collect/netdev.js';
import { readOnce } from '../kernelfile.js';
import { names, parseCount, type ReadingBuilder, type SlowSource, source, whole } from './source.js';

interface Port extends Omit<NetEntry, 'name' | 'state'> {
  active: boolean;
}

/** What old kernels write for a counter that a port does not have. */
const NO_COUNTER = 'N/A (no PMA)\n';

/** Each is a separate fault; counters that are part of another one (remote and overrun errors) would count twice. */
const ERRORS = ['symbol_error', 'link_error_recovery', 'link_downed', 'port_rcv_errors', 'local_link_integrity_errors'];
const DROPS = ['port_xmit_discards'];

/** Mbit/s of a text like `100 Gb/sec (4X EDR)`; 0 if it is invalid. */
export function parseRate(text: string | undefined): number {
  const match = /^(\d{1,6})(?:\.(\d))? Gb\/sec(?: |\n)/.exec(text ?? '');
  return match === null ? 0 : Number(match[1]) * 1000 + Number(match[2] ?? 0) * 100;
}

/** Whether a text like `4: ACTIVE` says that the port carries traffic. */
export function parseActive(text: string | undefined): boolean {
  return /^4: /.test(text ?? '');
}

/** A counter that a port may lack, which then adds nothing. An existing one that is not a number is an error. */
export function parseOptional(text: string | undefined): KernelCount | undefined {
  if (text === undefined || text === NO_COUNTER) return 0;
  return text.endsWith('\n') ? u64(text.slice(0, -1)) : undefined;
}

function readPort(dir: string, now: ReadingBuilder): Port | undefined {
  const leaf = (name: string) => now.parse(`${dir}/counters/${name}`, parseCount);
  const sum = (leaves: readonly string[]) => {
    const counts = whole(leaves.map(name => parseOptional(readOnce(`${dir}/counters/${name}`))));
    if (counts === undefined) now.complain(`an error counter in ${dir}/counters has unexpected content`);
    return counts?.reduce<KernelCount>(add, 0);
  };
  // The packet counters include unicast and multicast. Data are counted in words of four bytes.
  const rxWords = leaf('port_rcv_data');
  if (rxWords === undefined) return undefined;
  const txWords = leaf('port_xmit_data');
  if (txWords === undefined) return undefined;
  const rx_packets = leaf('port_rcv_packets');
  if (rx_packets === undefined) return undefined;
  const tx_packets = leaf('port_xmit_packets');
  if (tx_packets === undefined) return undefined;
  const errors = sum(ERRORS);
  const drops = errors === undefined ? undefined : sum(DROPS);
  if (errors === undefined || drops === undefined) return undefined;
  const active = parseActive(readOnce(`${dir}/state`));
  // A port that is down reports the speed that it could have.
  const mbps = active ? parseRate(readOnce(`${dir}/rate`)) : 0;
  return {
    rx_bytes: times(rxWords, 4),
    tx_bytes: times(txWords, 4),
    rx_packets,
    tx_packets,
    errors,
    drops,
    mbps,
    active,
  };
}

/** The ports as one entry; undefined if there are none. */
function sumPorts(ports: readonly Port[]): FieldsOf<'fabric'> | undefined {
  if (ports.length === 0) return undefined;
  const { up, carrier } = bits.net_state;
  const state = ports.some(port => port.active) ? 2 ** up + 2 ** carrier : 0;
  return { fabric: totalOf('fabric', ports, state) };
}

/** The folders of all ports. */
function portsBelow(sys: string): string[] {
  const root = `${sys}/class/infiniband`;
  return names(root, /^[^.]/).flatMap(device =>
    names(`${root}/${device}/ports`, /^\d+$/).map(port => `${root}/${device}/ports/${port}`),
  );
}

function counts(dir: string): boolean {
  return existsSync(`${dir}/counters`) && readOnce(`${dir}/counters/port_xmit_data`) !== NO_COUNTER;
}

/** For so long a port that cannot be read is not asked again, ms. */
const REST_MS = 60_000;

/** @param nowMs any clock */
export function makeFabric(nowMs: () => number = () => performance.now()): SlowSource {
  /** Until when a port is not asked. */
  const resting = new Map<string, number>();
  return source('fabric', (now, { sys }) => {
    const ports: Port[] = [];
    for (const dir of portsBelow(sys)) {
      if ((resting.get(dir) ?? 0) > nowMs() || !counts(dir)) continue;
      const { isTroubled } = now;
      const port = readPort(dir, now);
      if (port !== undefined) ports.push(port);
      // Only the first complaint of a round is told. So a port that fails rests only if its complaint was that one;
      // another is asked again in the next round.
      else if (!isTroubled) resting.set(dir, nowMs() + REST_MS);
    }
    now.put('fabric', sumPorts(ports));
  });
}
