// Shared by the tests of Ganglia's documents: boards made by hand, in memory and in files, and the content of
// documents. No test of its own.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Encodable, encode, type SetName } from '../../src/layout/codec.js';
import { bits, HASH_BOARD_V2, HASH_STAT_V1, structs } from '../../src/layout/layout.gen.js';
import { Snapshot } from '../../src/shm/snapshot.js';
import { BOOT_ID } from './brokenboards.js';
import { keepAlive } from './heart.js';
import { snapshotOf } from './judged.js';
import { lacks } from './lacking.js';
import { structs as ofC } from './layout.gen.js';
import { ROOT, type Teardown } from './places.js';
import { NOT_WHOLE } from './whole.js';

// ---- boards made here ------------------------------------------------------------------------------------------------

export const S = 1_000_000_000n;
export const NOW = 5000n * S;
export const LOCALTIME = 1_700_009_000;
const RECORD = structs.record.bytes + 2 * structs.slot.bytes;
const SETS = Object.keys(bits.valid) as SetName[];
export const ALL = SETS.reduce((mask, set) => mask | (1n << BigInt(bits.valid[set])), 0n);

export interface TestNode {
  name: string;
  address?: number[];
  /** How many seconds before now each report was received, and the report; oldest first. */
  reports?: [age: number, report: Encodable<'report'>][];
  /** The kernel's release, in bytes that our senders would not write. */
  release?: Uint8Array;
}

export interface TestBoard {
  now?: bigint;
  header?: Encodable<'board_header'>;
  /** The cluster's name, in bytes that `encode` would not write. */
  cluster?: Uint8Array;
}

/** Header, column words and records, in the form of a snapshot. */
export function bytesOf(
  nodes: readonly TestNode[],
  { now = NOW, header = {}, cluster }: TestBoard = {},
): Uint8Array<ArrayBuffer> {
  const { board_header, slot, report } = structs;
  const records = board_header.bytes + nodes.length * ofC.column_entry.bytes;
  const bytes = new Uint8Array(records + nodes.length * RECORD);
  const view = new DataView(bytes.buffer);
  const said = { heartbeat_ns: now, listening_since_ns: now - 1000n * S, ...header };
  const { heartbeat_ns = 0n, listening_since_ns = 0n } = said;
  encode('board_header', view, 0, {
    header_bytes: board_header.bytes,
    column_offset: board_header.bytes,
    column_stride: ofC.column_entry.bytes,
    records_offset: records,
    record_stride: RECORD,
    slots_offset: structs.record.bytes,
    slot_stride: slot.bytes,
    report_offset: slot.fields.report.offset,
    report_bytes: report.bytes,
    slots: 2,
    count: nodes.length,
    capacity: nodes.length,
    cluster_name: 'test',
    uncertain_after_ns: (9n * S) / 2n,
    silent_after_ns: (21n * S) / 2n,
    // Every link has the same evidence.
    evidence: Array.from({ length: board_header.fields.evidence.count }, () => ({ heartbeat_ns, listening_since_ns })),
    ...said,
  });
  if (cluster) bytes.set(cluster, board_header.fields.cluster_name.offset);
  nodes.forEach(({ name, address = [], reports = [], release }, i) => {
    const at = records + i * RECORD;
    encode('record', view, at, { name, address, order_head: 2, order_tail: 2, offset_us: -1_234_000, lost: 17 });
    reports.forEach(([age, values], j) => {
      const slotAt = at + structs.record.bytes + (j % 2) * slot.bytes;
      const head = 2 * (j + 1);
      const stamp_ns = now - BigInt(Math.round(age * 1e9));
      encode('slot', view, slotAt, { head, tail: head, stamp_ns, link: 1 });
      const reportAt = slotAt + slot.fields.report.offset;
      encode('report', view, reportAt, { interval_ms: 1000, ...values });
      if (release) bytes.set(release, reportAt + report.fields.os_release.offset);
    });
  });
  return bytes;
}

export function board(nodes: readonly TestNode[], options: TestBoard = {}): Snapshot {
  return snapshotOf('test', bytesOf(nodes, options), { nowNs: NOW, realNs: 0n, nodes: nodes.length });
}

const EARLIER: Encodable<'report'> = {
  valid: ALL,
  boot_id: 7n,
  start_boot_ns: 500n * S,
  t_boot_ns: 1000n * S,
  t_real_ns: 1_700_001_000n * S,
  cpus_online: 128,
  cpu_user_ms: 10_000,
  cpu_idle_ms: 80_000,
  net: [
    { name: 'eth0', rx_bytes: 1e12, tx_bytes: 2e12, rx_packets: 3e9, tx_packets: 4e9 },
    { name: 'eth1', rx_bytes: 500, tx_bytes: 600, rx_packets: 7, tx_packets: 8 },
  ],
  net_rest: { name: 'rest', state: 2 << 16 },
  slow_boot_ns: 999n * S,
  swapin_pages: 100,
  disk_read_bytes: 1e12,
  energy_cpu_mj: 1e9,
  fabric: { name: 'fabric', rx_bytes: 8e9, tx_bytes: 7e9 },
};

/** One second later, of a node on which everything was measured. */
export const FULL: Encodable<'report'> = {
  ...EARLIER,
  t_boot_ns: 1001n * S,
  t_real_ns: 1_700_001_001n * S,
  // 10 s of CPU time in total between the two, and 100 s since boot.
  cpu_user_ms: 15_000,
  cpu_nice_ms: 100,
  cpu_system_ms: 1000,
  cpu_idle_ms: 83_000,
  cpu_iowait_ms: 400,
  cpu_irq_ms: 120,
  cpu_softirq_ms: 80,
  cpu_steal_ms: 300,
  cpu_mhz_max: 2596,
  load1_c: 1234,
  load5_c: 567,
  load15_c: 8,
  runnable: 5,
  threads: 1400,
  mem_total_mib: 515_000,
  mem_free_mib: 400_000,
  mem_buffers_mib: 10,
  mem_cached_mib: 90_000,
  mem_shmem_mib: 77,
  swap_total_mib: 8192,
  swap_free_mib: 8000,
  fs_total_mib: 258_000,
  fs_avail_mib: 79_341,
  fs_fullest_pm: 693,
  arch: 1,
  os_release: '6.1.0-25-amd64',
  // The order of the interfaces differs from EARLIER; the fabric is not among them.
  net: [
    { name: 'eth1', rx_bytes: 1500, tx_bytes: 2600, rx_packets: 17, tx_packets: 28 },
    { name: 'eth0', rx_bytes: 1e12 + 1e6, tx_bytes: 2e12 + 2e6, rx_packets: 3e9 + 1e3, tx_packets: 4e9 + 2e3 },
  ],
  net_rest: { name: 'rest', state: 2 << 16, rx_bytes: 0.5e6, tx_bytes: 0, rx_packets: 5, tx_packets: 0 },
  fabric: { name: 'fabric', rx_bytes: 9e9, tx_bytes: 9e9, errors: 5 },
  slow_boot_ns: 1000n * S,
  mem_sreclaimable_mib: 300,
  mem_avail_mib: 480_000,
  psi_cpu_some10: 1234,
  psi_mem_some10: 5,
  psi_io_some10: 250,
  psi_io_full10: 100,
  swapin_pages: 110,
  swapout_pages: 5,
  disk_read_bytes: 1e12 + 4096,
  disk_write_bytes: 8192,
  disk_busiest_pm: 333,
  gpu_count: 3,
  gpu_busy: 1,
  gpu: [
    { util_pct: 50, temp_degc: 70, power_w: 300, mem_used_mib: 1024, mem_total_mib: 81_920 },
    { util_pct: 99, temp_degc: 60, power_w: 250, mem_used_mib: 0, mem_total_mib: 81_920 },
    { util_pct: 255, temp_degc: 255, power_w: 200, mem_used_mib: 0, mem_total_mib: 81_920 },
  ],
  gpu_errors: 3,
  energy_cpu_mj: 1e9 + 200_000,
  energy_dram_mj: 30_000,
  power_node_w: 450,
  temp_inlet_dc: 215,
  temp_hottest_dc: -671,
  health: 1,
  flags: (1 << bits.flags.held) | (1 << bits.flags.root_readonly),
  oom_kills: 2,
  hung_tasks: 1,
  edac_ce: 12,
  edac_ue: 4,
  throttle_events: 7,
  late_us: 4000,
  collect_us: 234_000,
};

export const EXPECTED: Record<string, string> = {
  cpu_num: '128',
  cpu_speed: '2596',
  cpu_user: '50.0',
  cpu_nice: '1.0',
  cpu_system: '12.0',
  cpu_idle: '30.0',
  cpu_wio: '4.0',
  cpu_aidle: '83.0',
  cpu_steal: '3.0',
  load_one: '12.34',
  load_five: '5.67',
  load_fifteen: '0.08',
  proc_run: '4',
  proc_total: '1400',
  mem_total: '527360000',
  mem_free: '409600000',
  mem_buffers: '10240',
  mem_cached: '92160000',
  mem_shared: '0',
  swap_total: '8388608',
  swap_free: '8192000',
  bytes_in: '1501000.00',
  bytes_out: '2002000.00',
  pkts_in: '1015.00',
  pkts_out: '2020.00',
  disk_total: '270.533',
  disk_free: '83.195',
  part_max_used: '69.3',
  boottime: '1700000000',
  machine_type: 'x86_64',
  os_name: 'Linux',
  os_release: '6.1.0-25-amd64',
  gexec: 'OFF',
  mem_sreclaimable: '307200',
  mem_available: '491520000',
  psi_cpu_some: '12.34',
  psi_mem_some: '0.05',
  psi_mem_full: '0.00',
  psi_io_some: '2.50',
  psi_io_full: '1.00',
  swap_in: '10.0',
  swap_out: '5.0',
  disk_read: '4096',
  disk_write: '8192',
  disk_busiest: '33.3',
  gpu_num: '3',
  gpu_used: '1',
  gpu_util: '74.5',
  gpu_mem_used: '1048576',
  gpu_mem_total: '251658240',
  gpu_power: '750',
  gpu_temp: '70',
  gpu_errors: '3',
  fabric_bytes_in: '1000000000',
  fabric_bytes_out: '2000000000',
  fabric_errors: '5.00',
  power_node: '450.0',
  power_cpu: '200.0',
  power_dram: '30.0',
  temp_inlet: '21.5',
  temp_hottest: '-67.1',
  health: '1',
  held: '1',
  root_readonly: '1',
  oom_kills: '2',
  hung_tasks: '1',
  edac_ce: '12',
  edac_ue: '4',
  throttle_events: '7',
  report_age: '0.000',
  send_late: '0.004',
  clock_ahead: '-1.000',
  reports_lost: '17',
};

/**
 * A node on which everything was measured; `changed` replaces values in its newest report, `before` in the one before.
 */
export function node(
  name: string,
  age = 0,
  changed: Encodable<'report'> = {},
  before: Encodable<'report'> = {},
): TestNode {
  const reports: NonNullable<TestNode['reports']> = [
    [age + 1, { ...EARLIER, ...before }],
    [age, { ...FULL, ...changed }],
  ];
  return { name, reports };
}

export const HOSTILE: [what: string, bytes: Uint8Array][] = [
  ['markup', Buffer.from('5.<b>&amp;</b>"\'/>')],
  ['an attribute', Buffer.from('"/></METRIC><HOST NAME="x')],
  ['slashes', Buffer.from('../../../etc/passwd')],
  ['control bytes', Buffer.from([1, 10, 13, 27, 127, 9, 65])],
  ['broken UTF-8', Buffer.from([0xff, 0xc3, 0x28, 0xe2, 0x82, 65, 0xf0])],
  ['Latin-1', Buffer.from('Gr\xfc\xdfe', 'latin1')],
  ['no NUL anywhere', Buffer.alloc(48, 0x22)],
  ['query characters', Buffer.from('!@#$%`;|\\?*')],
  ['a comment', Buffer.from('--> <!-- ]]>')],
];

/**
 * The same as a file that can be mapped, without links, and with an empty name index, because nobody searches for a
 * name here.
 */
export function writeBoard(path: string, nodes: readonly TestNode[], options: TestBoard): void {
  const { board_header, link, sender, event } = structs;
  const [links, senders, events, index_slots] = [32, 256, 16, 64];
  const links_offset = board_header.bytes;
  const senders_offset = links_offset + links * link.bytes;
  const events_offset = senders_offset + senders * sender.bytes;
  const index_offset = events_offset + events * event.bytes;
  /** Tables and index, all empty. */
  const tables = Buffer.alloc(index_offset + index_slots * ofC.index_entry.bytes - board_header.bytes);
  const bytes = bytesOf(nodes, options);
  const view = new DataView(bytes.buffer);
  const { column_offset, records_offset } = new Snapshot(path, bytes, {
    nowNs: 0n,
    realNs: 0n,
    nodes: 0,
    stalled: false,
  }).header;
  encode('board_header', view, 0, {
    magic: Buffer.from('BEOBOARD').readBigUInt64LE(),
    version: 0x00020000,
    stat_hash: HASH_STAT_V1,
    board_hash: HASH_BOARD_V2,
    master_boot_id: BOOT_ID,
    file_bytes: bytes.length + tables.length,
    links,
    links_offset,
    links_stride: link.bytes,
    senders,
    senders_offset,
    senders_stride: sender.bytes,
    events,
    events_offset,
    events_stride: event.bytes,
    index_slots,
    index_offset,
    index_stride: ofC.index_entry.bytes,
    column_offset: (column_offset ?? 0) + tables.length,
    records_offset: (records_offset ?? 0) + tables.length,
  });
  const header = bytes.subarray(0, board_header.bytes);
  writeFileSync(path, Buffer.concat([header, tables, bytes.subarray(board_header.bytes)]));
}

/**
 * A receiver's heartbeat that stays valid while a program starts: as far in the future as a reader accepts. Its times
 * are late enough for a machine that has just booted.
 */
export function beating(): TestBoard {
  const now = process.hrtime.bigint() + (9n * S) / 10n;
  return { now, header: { listening_since_ns: now - 20n * S } };
}

/**
 * Writes a board whose heartbeat goes on until the test ends, for programs of a busy machine. Its nodes stay live as
 * long: they report once in ten minutes unless their reports say otherwise.
 */
export function writeLiveBoard(t: Teardown, path: string, nodes: readonly TestNode[]): void {
  const seldom = nodes.map(({ reports = [], ...node }) => ({
    ...node,
    reports: reports.map(([age, report]): [number, Encodable<'report'>] => [age, { interval_ms: 600_000, ...report }]),
  }));
  writeBoard(path, seldom, beating());
  keepAlive(t, path);
}

// ---- what a document says --------------------------------------------------------------------------------------------

export type Attributes = Record<string, string>;
export interface Host {
  attributes: Attributes;
  metrics: Record<string, Attributes & { extras: Attributes }>;
}

function attributesOf(text: string): Attributes {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
}

function extrasOf(text: string): Attributes {
  return Object.fromEntries(
    [...text.matchAll(/<EXTRA_ELEMENT ([^>]*)\/>/g)]
      .map(([, extra]) => attributesOf(extra!))
      .map(({ NAME, VAL }) => [NAME, VAL]),
  );
}

/** A CLUSTER, with hosts; in gmetad's document also as a summary. */
export interface Cluster {
  attributes: Attributes;
  hosts: Record<string, Host>;
  /** The METRICS elements, by name. */
  sums: Record<string, Attributes>;
  /** The HOSTS element. */
  counts: Attributes;
}

function hostsOf(text: string): Record<string, Host> {
  const hosts = [...text.matchAll(/<HOST ([^>]*)>(.*?)<\/HOST>/gs)].map(([, open, body]) => {
    const metrics = [...body!.matchAll(/<METRIC ([^>]*)>(.*?)<\/METRIC>/gs)].map(([, metric, inner]) => {
      const found = attributesOf(metric!);
      return [found.NAME, { ...found, extras: extrasOf(inner!) }];
    });
    const attributes = attributesOf(open!);
    return [attributes.NAME, { attributes, metrics: Object.fromEntries(metrics) }];
  });
  return Object.fromEntries(hosts);
}

function summaryOf(text: string): Pick<Cluster, 'sums' | 'counts'> {
  const sums = [...text.matchAll(/<METRICS ([^>]*)>/g)].map(([, sum]) => attributesOf(sum!));
  return {
    counts: attributesOf(/<HOSTS ([^>]*)>/.exec(text)?.[1] ?? ''),
    sums: Object.fromEntries(sums.map(sum => [sum.NAME, sum])),
  };
}

/** The clusters of a document, by name, parsed line by line; xmllint checks whether it is valid XML. */
export function clustersOf(document: string): Record<string, Cluster> {
  const clusters = [...document.matchAll(/<CLUSTER ([^>]*)>(.*?)<\/CLUSTER>/gs)].map(([, open, body]) => {
    const attributes = attributesOf(open!);
    return [attributes.NAME, { attributes, hosts: hostsOf(body!), ...summaryOf(body!) }];
  });
  return Object.fromEntries(clusters);
}

/** The only cluster of a document. */
export function parse(document: string): { cluster: Attributes; hosts: Record<string, Host> } {
  const { attributes = {}, hosts = {} } = Object.values(clustersOf(document))[0] ?? {};
  return { cluster: attributes, hosts };
}

/** Checks the rules for every document, whatever strings it was made from; returns the violation. */
export function clean(document: string): string | undefined {
  const body = document.slice(document.indexOf(']>') + 2);
  if (!/^[\n -~]*$/.test(document)) return 'a byte that is no printable ASCII';
  if (/[&']/.test(body)) return 'an entity or an apostrophe';
  const rest = body.replace(/<!--[^<>]*-->|<\/?[A-Z_]+( [A-Z_]+="[^"<>]*")*\/?>/g, '');
  return rest.trim() === '' ? undefined : `not markup: ${rest.trim().slice(0, 60)}`;
}

export const needsXmllint = { skip: NOT_WHOLE || lacks('libxml2-utils', 'xmllint') };

/** xmllint's errors; empty if the document is valid according to its own DTD. */
export function invalid(document: string): string {
  const { status, stderr, error } = spawnSync('xmllint', ['--valid', '--noout', '-'], { input: document });
  return status === 0 ? '' : `${error?.message ?? ''}${stderr}`;
}

/** What a default gmond 3.7.2 sends about one of its metrics on every host. */
interface Fact {
  name: string;
  type: string;
  units: string;
  tmax: string;
  slope: string;
  /** The number of digits after the point. */
  digits: number;
  group: string;
  title: string;
  description: string;
}

/** The metrics of a default gmond, as recorded from a real one. */
export function gmondFacts(): Fact[] {
  const path = join(ROOT, 'test', 'vectors', 'gmond-metrics.json');
  const { metrics } = JSON.parse(readFileSync(path, 'utf8')) as { metrics: string[] };
  return metrics.map(row => {
    const [name = '', type = '', units = '', tmax = '', slope = '', digits, group = '', title = '', description = ''] =
      row.split('|');
    return { name, type, units, tmax, slope, digits: Number(digits), group, title, description };
  });
}
