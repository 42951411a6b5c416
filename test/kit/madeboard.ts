// Boards made in memory for the readers of snapshots: every age, clock and reading is exactly what the test says. No
// test of its own.

import { type Encodable, encode, type SetName } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { terms } from '../../src/layout/terms.gen.js';
import type { LinkEntry } from '../../src/shm/links.js';
import type { Problem } from '../../src/shm/problems.js';
import type { SenderEntry, Snapshot, Tables } from '../../src/shm/snapshot.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { snapshotOf } from './judged.js';
import { structs as ofC } from './layout.gen.js';
import { packWord } from './words.js';

export const S = 1_000_000_000n;
export const NOW = 500_000n * S;
/** A time by the wall clock. */
export const REAL = BigInt(Date.UTC(2026, 10, 22, 14, 3, 33)) * 1_000_000n;
const MEMORY = structs.record.bytes + 2 * structs.slot.bytes;
const RECORD = MEMORY + structs.memory.bytes;
const SETS = Object.keys(bits.valid) as SetName[];

/** The `valid` of a report in which these sets were measured. */
export function validOf(...sets: SetName[]): bigint {
  return sets.reduce((mask, set) => mask | (1n << BigInt(bits.valid[set])), 0n);
}
export const EVERYTHING = validOf(...SETS);

/** Seconds as a number, or to the ns as a bigint. */
type Span = number | bigint;

/** The last episode of a problem, and how many there were. */
interface MadeEpisode {
  began: Span;
  seen: Span;
  count?: number;
  /** Whether it lasts. */
  open?: boolean;
}

export interface MadeNode {
  name: string;
  /** The age of the last report; absent: there is no report. */
  age?: Span;
  /** The last report; the one before it came a second earlier. */
  report?: Encodable<'report'>;
  before?: Encodable<'report'>;
  record?: Encodable<'record'>;
  /** From where two machines report as this node, since an hour. */
  cloned?: readonly [number[], number[]];
  /** Problems that are remembered, and how long ago each was last seen: for a minute, once, unless more is said. */
  remembered?: Partial<Record<Problem, Span | MadeEpisode>>;
  /** The last silence that is remembered; without an end, it lasts. */
  silence?: { began: Span; ended?: Span; count?: number; stoodStillUs?: number };
  /** For how long anything is remembered; a day by default. */
  remembers?: Span;
  /** For how long it has been heard without a gap, as it is remembered. */
  heard?: Span;
  /** How long ago its boot was, as it is remembered. */
  booted?: Span;
  goodbye?: boolean;
  /** The number of the link by which it reports; 1 by default. */
  link?: number | bigint;
  refusal?: { reason: (typeof enums.reason)[number]; age: Span /** Its clock, s ahead. */; skew?: number };
}

/** The evidence of a link; by default that of the receiver, and a link that was always up. */
interface MadeLink {
  /** By default eth0 for link 1, and so on. */
  name?: string;
  state?: (keyof typeof bits.link_state)[];
  /** How long it has been up or down. */
  changed?: Span;
  /** How long it has been dark, and how many nodes fell silent with it. */
  dark?: { since: Span; nodes: number };
  /** By default, the nodes whose last report came by it. */
  nodes?: number;
  address?: string;
  port?: number;
  downs?: number;
  missed?: number;
  /** How long the receiver has listened to it, up to its heartbeat. */
  listened?: Span;
  /** The age of its heartbeat. */
  heartbeat?: Span;
}

/** A rejected sender: the time since the first and since the last rejection. */
interface MadeSender {
  reason: (typeof enums.reason)[number];
  address: string;
  name?: string;
  first?: Span;
  last: Span;
  count: number;
}

export interface MadeBoard {
  /** How long the receiver has listened, up to its heartbeat. */
  listened?: Span;
  /** The age of its heartbeat. */
  heartbeat?: Span;
  /** By number; link 1 by default. Link 31 always has evidence. */
  links?: Readonly<Record<number, MadeLink>>;
  senders?: readonly MadeSender[];
  state?: (keyof typeof bits.board_state)[];
  /** Events of its ring, and how long ago they were. */
  events?: readonly { kind: (typeof enums.event_kind)[number]; age: Span; subject?: number; detail?: number }[];
  header?: Encodable<'board_header'>;
}

const ns = (span: Span) => (typeof span === 'bigint' ? span : BigInt(Math.round(span * 1e9)));
/** The link that stands for all others. */
const OTHERS = 31;

/** The header's evidence of each link, by number; zeros for links without an entry. */
function evidenceOf({ heartbeat = 0.05, listened = 40_000, links = { 1: {} } }: MadeBoard) {
  return Array.from({ length: structs.board_header.fields.evidence.count }, (_, number) => {
    const link = links[number] ?? (number === OTHERS ? {} : undefined);
    if (link === undefined) return {};
    const heartbeat_ns = NOW - ns(link.heartbeat ?? heartbeat);
    return { heartbeat_ns, listening_since_ns: heartbeat_ns - ns(link.listened ?? listened) };
  });
}

/** The table of links, in the addon's form. */
function linksOf(nodes: readonly MadeNode[], made: MadeBoard): LinkEntry[] {
  return evidenceOf(made).flatMap(({ heartbeat_ns, listening_since_ns }, number) => {
    if (heartbeat_ns === undefined || listening_since_ns === undefined) return [];
    const link = (made.links ?? { 1: {} })[number] ?? {};
    const by = nodes.filter(node => node.age !== undefined && Number(node.link ?? 1) === number);
    const { dark, state = ['up'] } = link;
    return {
      number,
      name: link.name ?? (number === OTHERS ? '' : `eth${number - 1}`),
      state: state.reduce((mask, bit) => mask | (1 << bits.link_state[bit]), 0),
      changedNs: NOW - ns(link.changed ?? 40_000),
      downs: link.downs ?? 0,
      nodes: link.nodes ?? by.filter(({ goodbye }) => !goodbye).length,
      darkSinceNs: dark === undefined ? 0n : NOW - ns(dark.since),
      darkNodes: dark?.nodes ?? 0,
      unjoinedSinceNs: 0n,
      accepted: 1000 * by.length,
      missed: link.missed ?? 0,
      address: link.address ?? '',
      port: link.port ?? 0,
      heartbeatNs: heartbeat_ns,
      listeningSinceNs: listening_since_ns,
    };
  });
}

/** The table of rejected senders, likewise. */
function sendersOf({ senders = [] }: MadeBoard): SenderEntry[] {
  return senders.map(({ reason, address, name = '', first, last, count }) => ({
    reason: enums.reason.indexOf(reason),
    address,
    name,
    firstNs: NOW - ns(first ?? last),
    lastNs: NOW - ns(last),
    lastRealNs: REAL - ns(last),
    count,
  }));
}

/** The ring of events, likewise. */
function eventsOf({ events = [] }: MadeBoard): Tables['events'] {
  const all = events.map(({ kind, age, subject = 0xffffffff, detail = 0 }, i) => ({
    number: i + 1,
    stampNs: NOW - ns(age),
    stampRealNs: REAL - ns(age),
    kind: enums.event_kind.indexOf(kind),
    subject,
    detail,
  }));
  return (next, most) => ({
    next: Math.min(next + most, all.length + 1),
    events: all.slice(next - 1, next - 1 + most),
  });
}

/** A snapshot of a board with these nodes. */
export function madeBoard(nodes: readonly MadeNode[], made: MadeBoard = {}): Snapshot {
  const { board_header, slot, report, record } = structs;
  const records = board_header.bytes + nodes.length * ofC.column_entry.bytes;
  const bytes = new Uint8Array(records + nodes.length * RECORD);
  const view = new DataView(bytes.buffer);
  const heartbeat = NOW - ns(made.heartbeat ?? 0.05);
  encode('board_header', view, 0, {
    header_bytes: board_header.bytes,
    column_offset: board_header.bytes,
    column_stride: ofC.column_entry.bytes,
    records_offset: records,
    record_stride: RECORD,
    slots_offset: record.bytes,
    memory_offset: MEMORY,
    memory_bytes: structs.memory.bytes,
    clone_ns: nodes.some(({ cloned }) => cloned !== undefined) ? NOW : 0n,
    slot_stride: slot.bytes,
    report_offset: slot.fields.report.offset,
    report_bytes: report.bytes,
    slots: 2,
    count: nodes.length,
    event_last: made.events?.length ?? 0,
    capacity: nodes.length,
    cluster_name: 'alpha',
    uncertain_after_ns: (9n * S) / 2n,
    silent_after_ns: (21n * S) / 2n,
    heartbeat_ns: heartbeat,
    listening_since_ns: heartbeat - ns(made.listened ?? 40_000),
    evidence: evidenceOf(made),
    state: (made.state ?? []).reduce((mask, bit) => mask | (1n << BigInt(bits.board_state[bit])), 0n),
    ...made.header,
  });
  nodes.forEach(
    (
      {
        name,
        age,
        report: values = {},
        before,
        record: counters = {},
        cloned,
        remembered,
        remembers: remembersFor = 86_400,
        silence,
        heard,
        booted,
        goodbye = false,
        link = 1,
        refusal,
      },
      i,
    ) => {
      const at = records + i * RECORD;
      encode('record', view, at, {
        name,
        accepted: 1000,
        order_head: 2,
        order_tail: 2,
        ...(refusal && {
          refusal_reason: enums.reason.indexOf(refusal.reason),
          refusal_ns: NOW - ns(refusal.age),
          refusal_offset_us: (refusal.skew ?? 0) * 1e6,
        }),
        ...counters,
      });
      const clone = cloned && {
        ...{ clone_head: 2n, clone_since_ns: NOW - 3600n * S, clone_ns: NOW, clone_tail: 2n },
        ...{ clone_address: cloned[0], clone_other: cloned[1] },
      };
      const remembers = remembered !== undefined || [heard, booted, silence].some(it => it !== undefined);
      const episodes = Object.entries(remembered ?? {}).map(([problem, made]) => {
        const episode: MadeEpisode = typeof made === 'object' ? made : { began: Number(made) + 60, seen: made };
        return { number: terms.problem.indexOf(problem as Problem), ...episode };
      });
      const msOf = (span: Span) => (NOW - ns(span)) / 1_000_000n;
      encode('memory', view, at + MEMORY, {
        ...clone,
        ...(remembers && { remembers_since_ns: NOW - ns(remembersFor) }),
        ...(heard !== undefined && { heard_since_ns: NOW - ns(heard) }),
        ...(booted !== undefined && { boot_ns: NOW - ns(booted) }),
        ...(silence && {
          silence: packWord('spell', { begin: msOf(silence.began), count: silence.count ?? 1 }),
          silence_end_ms: silence.ended === undefined ? 0 : Number(msOf(silence.ended)),
          stood_still_us: silence.stoodStillUs ?? 0,
        }),
        recent: episodes.reduce((mask, { number, open }) => (open ? mask | (1n << BigInt(number)) : mask), 0n),
      });
      for (const { number, began, seen, count = 1 } of episodes) {
        const words = {
          begun: packWord('spell', { begin: msOf(began), count }),
          seen: packWord('sighting', { seen: msOf(seen), quiet: 0 }),
        };
        const { offset } = structs.memory.fields.episodes;
        encode('episode', view, at + MEMORY + offset + number * structs.episode.bytes, words);
      }
      if (age === undefined) return;
      for (const [j, report] of [before, values].entries()) {
        if (report === undefined) continue;
        const slotAt = at + record.bytes + j * slot.bytes;
        const head = 2 * (j + 1);
        encode('slot', view, slotAt, { head, tail: head, stamp_ns: NOW - ns(age) - BigInt(1 - j) * S, link });
        encode('report', view, slotAt + slot.fields.report.offset, {
          interval_ms: 1000,
          boot_id: 7n,
          start_boot_ns: 5n * S,
          t_boot_ns: (1000n + BigInt(j)) * S,
          slow_boot_ns: (1000n + BigInt(j)) * S,
          hostname: name,
          flags: j === 1 && goodbye ? 1 << bits.flags.goodbye : 0,
          ...report,
        });
      }
    },
  );
  const tables = { links: () => linksOf(nodes, made), senders: () => sendersOf(made), events: eventsOf(made) };
  return snapshotOf('test', bytes, { nowNs: NOW, realNs: REAL, nodes: nodes.length }, tables);
}

/** Two reports, a second apart, of a node that is half busy and on which everything usual was measured. */
export function busy(load: number, more: Encodable<'report'> = {}): Pick<MadeNode, 'report' | 'before'> {
  const report: Encodable<'report'> = {
    valid: validOf(
      'cpus',
      'load',
      'stat',
      'cpu_share',
      'memory',
      'net',
      'disk',
      'psi_cpu',
      'psi_mem',
      'psi_io',
      'system',
    ),
    cpus_online: 64,
    load1_c: Math.round(load * 100),
    cpu_busy_pm: Math.min(1000, Math.round(load * 15.6)),
    mem_total_mib: 256_000,
    mem_avail_mib: 128_000,
    swap_total_mib: 8000,
    swap_free_mib: 8000,
    psi_io_some10: 1234,
    net: [{ name: 'eth0', rx_bytes: 2_500_000, tx_bytes: 800_000 }],
    disk_read_bytes: 1_000_000,
    disk_write_bytes: 234_000,
    os_release: '6.1.0-25-amd64',
    ...more,
  };
  const before = { ...report, net: [{ name: 'eth0' }], disk_read_bytes: 0, disk_write_bytes: 0, ctxt: 0 };
  return { report: { ctxt: 5000, ...report }, before };
}

/**
 * A cluster of 10,000 nodes with the usual exceptions of a large one: a dead rack, a node that has just been started,
 * unhealthy nodes, wrong clocks, a node that has left, and one that never reported.
 */
export function tenThousand(): MadeNode[] {
  const held = { flags: 1 << bits.flags.held };
  const readonly = { flags: 1 << bits.flags.root_readonly };
  return expand('rack[001-208]n[01-48],login[01-16]', BOARD_MOST).map((name, i) => {
    const node: MadeNode = { name, age: 0.1 + (i % 10) / 20, ...busy(i % 64) };
    if (name.startsWith('rack017')) return { ...node, age: 60 + (i % 10) / 20 };
    if (/^rack10[01]n0[1-5]$/.test(name)) return { ...node, ...busy(0, held) };
    if (name === 'rack200n07') return { ...node, ...busy(30, readonly) };
    if (name === 'rack033n11') return { ...node, age: 7 };
    if (/^rack150n4[0-3]$/.test(name)) return { ...node, record: { offset_us: -1_250_000 } };
    if (name === 'login15') return { ...node, age: 86_400, goodbye: true };
    return name === 'login16' ? { name } : node;
  });
}
