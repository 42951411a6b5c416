// All readings of a node, by name: what its report says, its counters and their rates, what the board knows about it,
// and a few sums that people want. Columns, conditions and everything else that shows numbers use them. Reads no more
// of a report than is asked for.

import { type Field, getter } from '../layout/codec.js';
import { bits, enums, structs } from '../layout/layout.gen.js';
import { meanings } from '../layout/terms.gen.js';
import { mayBeRefused, NUMBERED, type State } from '../shm/liveness.js';
import type { Memory } from '../shm/memory.js';
import { PROBLEMS, problemBit } from '../shm/problems.js';
import { type CounterName, CPU_TIMES, isMeasured, setBit } from '../shm/rates.js';
import { LATELY_MS } from '../shm/refusal.js';
import { reasonText } from '../shm/sentences.js';
import type { Node, Snapshot } from '../shm/snapshot.js';
import { formatDuration } from '../text/durations.js';
import { nearest } from '../text/text.js';
import { type CPU_KINDS, cursorOf } from './cursor.js';
import { type EntryList, entryOf, entryReadings, entryValue, LISTS, type SumReading, sumReadings } from './entries.js';
import {
  bit,
  field,
  gpus,
  gpusWith,
  highest,
  leaf,
  type Measure,
  map,
  mean,
  type NumberField,
  ofGroups,
  ofLinks,
  ofRecord,
  type Reading,
  rate,
  setOf,
  share,
  sum,
  sumRate,
  taken,
  times,
  traffic,
  used,
} from './measures.js';
import {
  BYTES_PER_SECOND,
  contractUnit,
  NUMBER,
  named,
  PERCENT,
  perSecond,
  SECONDS,
  UNIT_ENDING,
  type Unit,
} from './units.js';

function reading(name: string, about: string, unit: Unit, measure: Measure, more: Partial<Reading> = {}): Reading {
  const value = (node: Node) => {
    const number = taken(measure, cursorOf(node));
    return Number.isNaN(number) ? undefined : number;
  };
  return { name, about, unit, measure, value, ...more };
}

function text(name: string, about: string, value: Reading['value']): Reading {
  return { name, about, unit: NUMBER, value, isText: true };
}

const REPORT = Object.entries<Field>(structs.report.fields);

const PRESSURES = (['cpu', 'mem', 'io'] as const).map(
  what => [what, field(`psi_${what}_some10`, 0.01), setBit(`psi_${what}`)] as const,
);

/** Shares of the last 10 s in which tasks waited, in per cent, by the resource. */
export function pressures(node: Node): [what: string, percent: number][] {
  const cursor = cursorOf(node);
  return PRESSURES.flatMap(([what, measure]) => {
    const percent = taken(measure, cursor);
    return Number.isNaN(percent) ? [] : [[what, percent]];
  });
}

/** The largest of them. */
const pressure: Measure = {
  take: cursor => {
    let most = Number.NaN;
    for (const [, { take }, set] of PRESSURES)
      if (isMeasured(cursor.view, cursor.report, set)) most = most > take(cursor) ? most : take(cursor);
    return most;
  },
};

const gpuUtilisation = gpus('util_pct', mean);
const [gpuCount, gpuBusy] = [field('gpu_count'), field('gpu_busy')];

/** A part of the sum would look like the whole. */
const gpuSum = (name: 'mem_used_mib' | 'mem_total_mib' | 'power_w') => gpus(name, sum, true);

/** The mean utilisation of the GPUs in per cent, or the share of busy GPUs. */
const gpu: Measure = {
  ...gpuUtilisation,
  take: cursor => {
    const utilisation = gpuUtilisation.take(cursor);
    // 0 divided by 0 is NaN, too.
    return Number.isNaN(utilisation) ? (100 * gpuBusy.take(cursor)) / gpuCount.take(cursor) : utilisation;
  },
};

/** The counters of the record besides the accepted reports, in the order in which they are shown. */
const COUNTED = {
  lost: 'Reports of the node that never reached the master',
  unheard: 'reports that were missing while the receiver or the link was down',
  duplicate: 'reports that had already come by another path',
  late: 'reports that came after a newer one',
  refused: 'reports of its name that were rejected',
  restarts: 'starts of its sender without a boot',
  reboots: 'boots of the node',
  resets: 'reports accepted only because nothing else was heard for a long time',
} as const;

export const COUNTERS = Object.keys(COUNTED) as (keyof typeof COUNTED)[];

const ifReported = ({ take }: Measure): Measure => ({ take });

/** A result of one look at all nodes. */
const overview = (take: (overview: Snapshot['overview'], index: number) => number): Measure => ({
  ofRecord: true,
  take: ({ snapshot, index }) => take((snapshot as Snapshot).overview, index),
});

const [diskRead, diskWritten] = [rate('disk_read_bytes'), rate('disk_write_bytes')];
const diskTraffic: Measure = { ...diskRead, take: cursor => diskRead.take(cursor) + diskWritten.take(cursor) };

const [loadOf, cpusOf] = [field('load1_c', 0.01), field('cpus_online')];
const perCpu: Measure = {
  take: cursor => {
    const cpus = taken(cpusOf, cursor);
    return cpus > 0 ? taken(loadOf, cursor) / cpus : Number.NaN;
  },
};

/** What is received and sent together. */
function both(of: (name: 'rx_bytes' | 'tx_bytes') => Measure): Measure {
  const [received, sent] = [of('rx_bytes'), of('tx_bytes')];
  return { ...received, take: cursor => received.take(cursor) + sent.take(cursor) };
}

const [gpuMemoryUsed, gpuMemoryTotal] = [gpus('mem_used_mib', sum), gpus('mem_total_mib', sum)];
const gpuMemory: Measure = {
  ...gpuMemoryUsed,
  take: cursor => {
    const total = gpuMemoryTotal.take(cursor);
    return total > 0 ? (100 * gpuMemoryUsed.take(cursor)) / total : Number.NaN;
  },
};

const [PRESENT, OFF_THE_BUS, THROTTLED] = (['present', 'off_the_bus', 'throttled'] as const).map(
  flag => 1 << bits.gpu_flags[flag],
) as [number, number, number];

const [swappedIn, swappedOut] = [rate('swapin_pages'), rate('swapout_pages')];
const swapping: Measure = { ...swappedIn, take: cursor => swappedIn.take(cursor) + swappedOut.take(cursor) };

const fabricMbps = leaf('net_if', 'mbps');
/** 0 is a speed that is not known. */
const fabricSpeed: Measure = {
  ...setOf('fabric'),
  take: ({ view, report }) => fabricMbps(view, report + structs.report.fields.fabric.offset) || Number.NaN,
};

const ageMs = overview(({ ages }, index) => ((ages[index] as number) < 0 ? Number.NaN : (ages[index] as number)));

const age = map(ageMs, ms => ms / 1000);

/** Why no newer report is accepted of a node that reports. */
function why(node: Node): string | undefined {
  const refusal = mayBeRefused(node.state) ? node.refusedSince : undefined;
  if (refusal === undefined) return undefined;
  const until = refusal.ageMs > LATELY_MS ? ` until ${formatDuration(refusal.ageMs)} ago` : '';
  return `rejected${until}, ${reasonText(refusal)}`;
}

const orderProvedOf = getter('record', 'order_proved');
const authProvedOf = getter('record', 'auth_proved');

/** Which key its newest report has proved: `node:2`, `cluster:1`; `none`: without a valid signature, or no report. */
function key(node: Node): string {
  const { view, offset, snapshot } = node;
  // A mirror does not have what the newest report proved on the master, where no weaker proof was accepted than once.
  const isMirror = Number(snapshot.header.mirror_masters) > 0;
  const proved = isMirror
    ? Math.min(authProvedOf(view, offset) ?? 0, Number(node.field('auth_alg') ?? 0))
    : (orderProvedOf(view, offset) ?? 0);
  const what = enums.auth_alg[proved] ?? 'none';
  return what === 'none' || node.reportAt === undefined ? 'none' : `${what}:${node.field('key_id')}`;
}

const secondsAgo = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);

/** For how long a node is in its state, ms; undefined: unknown, as before its first report. */
function sinceOf(snapshot: Snapshot, index: number): number | undefined {
  const state = snapshot.stateOf(index);
  if (state === 'unknown' || state === 'never') return undefined;
  // The begin of a silence is the stamp of the last report.
  return state === 'live' ? snapshot.memoryOf(index)?.heardMs : Math.max(0, snapshot.ageMs(index));
}

const OWN: Reading[] = [
  text('name', 'its name', node => node.name),
  text('state', 'silent, uncertain, live …: beoboard status --help explains them', node => node.state),
  text('problems', 'its problems, the worst first, separated by commas', node => node.problems.join(',') || undefined),
  text('address', 'where its last report came from', node => node.address || undefined),
  text('link', "the master's interface by which it reports", node => node.linkName),
  reading('age_ms', 'age of its last report', contractUnit('ms'), ageMs),
  reading('age', 'Time since the last report of the node reached the master', SECONDS, age, { title: 'Report Age' }),
  reading(
    'since',
    'for how long it is in its state: live since its reports have come without a gap, else since the last one',
    SECONDS,
    { ofRecord: true, take: ({ snapshot, index }) => secondsAgo(sinceOf(snapshot as Snapshot, index)) ?? Number.NaN },
  ),
  reading('reports', 'reports accepted', NUMBER, ofRecord('accepted')),
  ...COUNTERS.map(name =>
    reading(name, COUNTED[name], NUMBER, ofRecord(name), name === 'lost' ? { title: 'Reports Lost' } : {}),
  ),
  reading(
    'offset_us',
    "its clock less the master's, collecting and transit included",
    contractUnit('us'),
    ifReported(ofRecord('offset_us')),
  ),
  reading(
    'skew',
    'The clock of the node less the clock of the master',
    SECONDS,
    ifReported(overview(({ skews }, index) => skews[index] as number)),
    { title: 'Clock Ahead' },
  ),
  reading('delay', 'how late its last report was made', SECONDS, field('late_us', 1e-6)),
  reading('load', 'load average of the last minute', NUMBER, field('load1_c', 0.01), { total: 'cpus_online' }),
  reading('load_per_cpu', 'Load average of the last minute for each CPU online', NUMBER, perCpu),
  reading('cpus', 'CPUs online', NUMBER, field('cpus_online')),
  reading('cpu', 'CPU in use', PERCENT, field('cpu_busy_pm', 0.1)),
  reading('mem', 'memory in use', PERCENT, used('mem_total_mib', 'mem_avail_mib')),
  reading('swap', 'swap in use', PERCENT, used('swap_total_mib', 'swap_free_mib')),
  reading('in', 'network in', BYTES_PER_SECOND, traffic('rx_bytes')),
  reading('out', 'network out', BYTES_PER_SECOND, traffic('tx_bytes')),
  reading('net', 'Bytes received and sent by all interfaces', BYTES_PER_SECOND, both(traffic)),
  reading(
    'fabric',
    'Bytes received and sent by all ports of InfiniBand and its like',
    BYTES_PER_SECOND,
    both(name => ({ ...sumRate('fabric', name), rate: true })),
  ),
  reading('packets_in', 'network packets in per second', NUMBER, traffic('rx_packets')),
  reading('packets_out', 'network packets out per second', NUMBER, traffic('tx_packets')),
  reading('disk', 'disk read and written', BYTES_PER_SECOND, diskTraffic),
  reading('pressure', 'tasks waited for CPU, memory or I/O, the largest share', PERCENT, pressure),
  ...PRESSURES.map(([what, measure]) =>
    reading(`pressure_${what}`, `tasks waited for ${{ cpu: 'CPU', mem: 'memory', io: 'I/O' }[what]}`, PERCENT, measure),
  ),
  reading(
    'gpu',
    'GPUs: how busy they are in the mean, or where that is not known how many of them are in use',
    PERCENT,
    gpu,
  ),
  reading('gpu_util', 'Share of time in which a kernel ran, mean of all GPUs', PERCENT, gpuUtilisation, {
    title: 'GPU Utilization',
  }),
  reading('gpu_mem_used', 'Memory in use on all GPUs', contractUnit('MiB'), gpuSum('mem_used_mib'), {
    title: 'GPU Memory Used',
    total: 'gpu_mem_total',
  }),
  reading('gpu_mem_total', 'Memory of all GPUs', contractUnit('MiB'), gpuSum('mem_total_mib'), {
    title: 'GPU Memory Total',
  }),
  reading('gpu_mem', 'Share of the memory of all GPUs in use', PERCENT, gpuMemory),
  reading('gpu_power', 'Power of all GPUs', contractUnit('W'), gpuSum('power_w'), { title: 'GPU Power' }),
  reading('gpu_temp', 'Temperature of the hottest GPU', contractUnit('°C'), gpus('temp_degc', highest), {
    title: 'GPU Temperature',
  }),
  reading('gpus_up', 'GPUs that are there and work', NUMBER, gpusWith(PRESENT, OFF_THE_BUS), { total: 'gpu_count' }),
  reading('gpus_throttled', 'GPUs that run slower for heat or supply', NUMBER, gpusWith(THROTTLED, 0), {
    total: 'gpu_count',
  }),
  reading('mhz', 'clock rate of the CPUs, mean', contractUnit('MHz'), ofGroups('mhz')),
  reading('links_up', 'network interfaces with carrier', NUMBER, ofLinks('count')),
  reading('link_speed', 'speed of all network interfaces with carrier', contractUnit('Mbit/s'), ofLinks('speed')),
  reading('fabric_speed', 'speed of all ports of InfiniBand and its like', contractUnit('Mbit/s'), fabricSpeed),
  reading('swapping', 'pages read from swap and written to it per second', NUMBER, swapping),
  reading('temp', 'The hottest CPU sensor', contractUnit('°C'), field('temp_hottest_dc', 0.1)),
  reading('power', 'Power of the whole node', contractUnit('W'), field('power_node_w')),
  text('key', 'which key its newest report has proved: node:2, cluster:1, or none', key),
  text('why', 'why reports in its name are rejected', why),
  reading('up', 'time since it booted', SECONDS, field('t_boot_ns', 1e-9)),
  reading(
    'unhealthy',
    'whether it has a problem',
    NUMBER,
    overview(({ problems }, index) => Number(problems[index] !== 0)),
  ),
  ...PROBLEMS.map(problem =>
    reading(
      `problem.${problem}`,
      `a problem: ${meanings.problem[problem]}`,
      NUMBER,
      overview(({ problems }, index) => Number(((problems[index] as number) & problemBit(problem)) !== 0)),
    ),
  ),
];

/** A result of the board's memory; NaN: nothing is remembered, or there was none. */
const remembered = (take: (memory: Memory, state: State | undefined) => number | undefined): Measure => ({
  ofRecord: true,
  take: ({ snapshot, index }) => {
    const { overview } = snapshot as Snapshot;
    const memory = (snapshot as Snapshot).memoryOf(index);
    return (memory && take(memory, NUMBERED[overview.states[index] as number])) ?? Number.NaN;
  },
});

const ofMemory = (name: string, about: string, unit: Unit, take: Parameters<typeof remembered>[0]) =>
  reading(name, about, unit, remembered(take));

/** What the board remembers of a node: beside what its reports say now. */
const REMEMBERED: Reading[] = [
  text(
    'recent',
    'problems that it has or had lately, the worst first',
    node => node.memory?.recent.join(',') || undefined,
  ),
  ...PROBLEMS.flatMap(problem => [
    ofMemory(
      `${problem}_recent`,
      `whether it has or lately had the problem: ${meanings.problem[problem]}`,
      NUMBER,
      ({ recentBits }) => Number((recentBits & problemBit(problem)) !== 0),
    ),
    ofMemory(`${problem}_ago`, `time since it last had the problem: ${meanings.problem[problem]}`, SECONDS, memory =>
      secondsAgo(memory.episode(problem)?.seenMs),
    ),
    ofMemory(
      `${problem}_times`,
      `how often the problem has begun: ${meanings.problem[problem]}`,
      NUMBER,
      memory => memory.episode(problem)?.count ?? 0,
    ),
  ]),
  ofMemory('silences', 'how often it was silent', NUMBER, ({ silence }) => silence?.count ?? 0),
  ofMemory(
    'heard_for',
    'time since its reports have come without a gap; 0 for a node that is silent or has left',
    SECONDS,
    ({ heardMs }, state) => (state === 'silent' || state === 'left' ? 0 : secondsAgo(heardMs)),
  ),
  ofMemory('remembered_for', 'for how long the board has remembered its problems and silences', SECONDS, memory =>
    secondsAgo(memory.sinceMs),
  ),
];

/** The whole of which a field of the report is a part. */
const TOTALS: [part: RegExp, total: string][] = [
  [/^mem_committed_mib$/, 'mem_commit_limit_mib'],
  [/^mem_huge_free_mib$/, 'mem_huge_total_mib'],
  [/^mem_(?!total|commit|huge).*_mib$/, 'mem_total_mib'],
  [/^swap_free_mib$/, 'swap_total_mib'],
  [/^root_avail_mib$/, 'root_total_mib'],
  [/^scratch_avail_mib$/, 'scratch_total_mib'],
  [/^fs_avail_mib$/, 'fs_total_mib'],
  [/^gpu_busy$/, 'gpu_count'],
  [/^(load\d+_c|runnable)$/, 'cpus_online'],
  [/^cpus_online$/, 'cpus_present'],
];

const OF_PRESSURE = 'Share of the last 10 s in which';

/** Title and text of graphs, for the fields of the report and their rates. */
const TITLES: Readonly<Record<string, readonly [title: string, about: string]>> = {
  psi_cpu_some10: ['CPU Pressure', `${OF_PRESSURE} some task waited for a CPU`],
  psi_mem_some10: ['Memory Pressure, Some', `${OF_PRESSURE} some task waited for memory`],
  psi_mem_full10: ['Memory Pressure, Full', `${OF_PRESSURE} all tasks at once waited for memory`],
  psi_io_some10: ['I/O Pressure, Some', `${OF_PRESSURE} some task waited for I/O`],
  psi_io_full10: ['I/O Pressure, Full', `${OF_PRESSURE} all tasks at once waited for I/O`],
  'rates.swapin_pages': ['Pages Swapped In', 'Pages read from swap'],
  'rates.swapout_pages': ['Pages Swapped Out', 'Pages written to swap'],
  'rates.disk_read_bytes': ['Disk Bytes Read', 'Bytes read from disks'],
  'rates.disk_write_bytes': ['Disk Bytes Written', 'Bytes written to disks'],
  disk_busiest_pm: ['Busiest Disk', 'Share of time in which the busiest disk was at work'],
  gpu_count: ['GPU Count', 'GPUs present'],
  gpu_busy: ['GPUs in Use', 'GPUs that are in use'],
  gpu_errors: ['GPU Errors', 'Errors that the GPUs reported since boot'],
  power_node_w: ['Node Power', 'Power of the whole node'],
  'rates.energy_cpu_mj': ['CPU Power', 'Power of all CPU packages'],
  'rates.energy_dram_mj': ['Memory Power', 'Power of all memory'],
  temp_inlet_dc: ['Inlet Temperature', 'Temperature of the inlet air'],
  temp_hottest_dc: ['Hottest CPU', 'Temperature of the hottest CPU sensor'],
  health: ['Health', 'Result of the health check: 0 unknown, 1 ok, 2 warning, 3 bad'],
  'flags.held': ['Held', '1 while the node is on hold'],
  'flags.root_readonly': ['Root Read-Only', '1 while the root file system is read-only'],
  oom_kills: ['OOM Kills', 'Processes killed because memory ran out since boot'],
  hung_tasks: ['Hung Tasks', 'Tasks that the kernel found hung since boot'],
  edac_ce: ['Memory Errors, Corrected', 'Memory errors that were corrected since boot'],
  edac_ue: ['Memory Errors, Uncorrected', 'Memory errors that could not be corrected since boot'],
  throttle_events: ['Throttling', 'Times that CPUs were throttled because of heat, since boot'],
  late_us: ['Sender Lateness', 'How late the last report was made: a starved node is late'],
};

const isIdUnit = (unit: string) => unit === 'id' || unit.startsWith('bits ');
/** Ids and masks beyond 2^53 are shown in hexadecimal. */
const isWideId = (type: string, unit: string) => type.endsWith('64') && isIdUnit(unit);

function textOf(name: string, type: string): Reading['value'] {
  const key = name as Parameters<Node['field']>[0];
  return node => {
    const value = node.field(key);
    return value === undefined || type === 'char'
      ? (value as string | undefined)
      : (value as bigint).toString(16).padStart(16, '0');
  };
}

function ofReport(name: string, { type, unit, kind }: Field): Reading[] {
  const words = unit.startsWith('enum ') ? enums[unit.slice(5) as keyof typeof enums] : undefined;
  const total = TOTALS.find(([part]) => part.test(name))?.[1];
  const [title, about = ''] = TITLES[name] ?? [];
  // Hundredths of a per cent, under a name that does not say so.
  const wantsUnit = /^psi_.*\d0$/.test(name);
  const more = {
    source: name,
    ...(wantsUnit && { wantsUnit }),
    ...(isIdUnit(unit) && { isId: true }),
    ...(words && { words }),
    ...(total && { total }),
    ...(title && { title }),
  };
  if (type === 'char' || isWideId(type, unit)) return [{ ...text(name, about, textOf(name, type)), source: name }];
  const own = reading(name, about, contractUnit(unit), field(name as NumberField), more);
  if (kind !== 'counter') return [own];
  const [ofRate, aboutRate = `${name} per second`] = TITLES[`rates.${name}`] ?? [];
  const counted = { source: name, ...(ofRate && { title: ofRate }) };
  const rates = [reading(`rates.${name}`, aboutRate, perSecond(own.unit), rate(name as CounterName), counted)];
  if (CPU_TIMES.some(time => time.name === name)) {
    const cpuKind = name.replace(/^cpu_|_ms$/g, '') as (typeof CPU_KINDS)[number];
    rates.push(
      reading(`rates.cpu_${cpuKind}_pct`, `share of ${name} in all CPU time`, PERCENT, share(cpuKind), {
        source: name,
      }),
    );
  }
  return [own, ...rates];
}

/** A reading without the unit in its name, in the base unit: only for levels: counters are asked for by rates. */
function withoutUnit(whole: Reading): Reading {
  const { name, unit, wantsUnit } = named(whole);
  const { about, words, total, source } = whole;
  const more = { wantsUnit, ...(words && { words }), ...(total && { total }), ...(source && { source }) };
  return reading(name, about, unit, times(whole.measure as Measure, whole.unit.size), more);
}

/** A bit of a field of the report as a number: 1 or 0. */
function ofBits(mask: 'flags' | 'valid'): Reading[] {
  return Object.keys(bits[mask]).map(name => {
    const [title, about = ''] = TITLES[`${mask}.${name}`] ?? [];
    return reading(`${mask}.${name}`, about, NUMBER, bit(mask, name), { source: mask, ...(title && { title }) });
  });
}

/** A reading of an entry that exists only once. */
function ofSum({ text: textOf, measure, ...common }: SumReading): Reading {
  if (measure === undefined) return { ...common, value: node => textOf?.(cursorOf(node)) };
  const { name, about, unit, ...more } = common;
  return reading(name, about, unit, measure, more);
}

/** Readings by name; of two with the same name, the first one. */
function byName(...lists: readonly (readonly Reading[])[]): Map<string, Reading> {
  const found = new Map<string, Reading>();
  for (const one of lists.flat()) if (!found.has(one.name)) found.set(one.name, one);
  return found;
}

// Most commands need few readings, and making all of them takes longer than using them: each kind is made when it is
// asked for.
const own = byName(OWN, REMEMBERED);
let others: Map<string, Reading> | undefined;

const isAlone = ({ type, count, kind }: Field) =>
  kind !== 'reserved' && (count === 0 || type === 'char') && !Object.hasOwn(structs, type);

function reported(name: string): Reading | undefined {
  const field = name.replace(/^rates\./, '').replace(/^(cpu_\w+)_pct$/, '$1_ms');
  const described =
    Object.hasOwn(structs.report.fields, field) && (structs.report.fields as Record<string, Field>)[field];
  if (!described || !isAlone(described)) return undefined;
  return ofReport(field, described).find(reading => reading.name === name);
}

/** Bits, entries that exist only once, and levels without their unit. */
function makeOthers(): Map<string, Reading> {
  const flags = ofBits('flags');
  // The words that screens show.
  const problems = PROBLEMS.map(problem => own.get(`problem.${problem}`) as Reading);
  const short = [...flags, ...problems].map(one => ({ ...one, name: one.name.replace(/^\w+\./, '') }));
  const levels = REPORT.filter(([name, { kind }]) => /^(gauge|share)$/.test(kind) && UNIT_ENDING.test(name));
  return byName(
    flags,
    ofBits('valid'),
    sumReadings().map(ofSum),
    short,
    levels.map(([name]) => withoutUnit(reported(name) as Reading)),
  );
}

/**
 * The reading that people call so: first our own names, then those of the report, then names without their unit. An
 * entry is chosen by its number or by an interface's name: `gpu.0.util_pct`, `net.ib0.mbps`.
 */
export function readingOf(name: string): Reading | undefined {
  const found = own.get(name) ?? reported(name);
  if (found !== undefined) return found;
  others ??= makeOthers();
  return others.get(name) ?? ofEntry(name);
}

/** All readings except those of entries. */
export function allReadings(): Reading[] {
  others ??= makeOthers();
  const ofReports = REPORT.filter(([, described]) => isAlone(described)).flatMap(([name, described]) =>
    ofReport(name, described),
  );
  return [...byName([...own.values()], ofReports, [...others.values()]).values()];
}

/** Their names. */
export function readingNames(): string[] {
  return allReadings().map(({ name }) => name);
}

/** What readings are called now, by the names that they had before. */
const FORMER = new Map([
  ['ails', 'problems'],
  ['ailing', 'unhealthy'],
  ...PROBLEMS.map(problem => [`ails.${problem}`, `problem.${problem}`] as const),
]);

/** What somebody meant who wrote a name that no reading has: its present name, or the nearest, also of `others`. */
export function meantReading(name: string, others: Iterable<string> = []): string | undefined {
  return FORMER.get(name) ?? nearest(name, [...readingNames(), ...others]);
}

const ENTRY = new RegExp(`^(rates\\.)?(${Object.keys(LISTS).join('|')})\\.(.+)\\.(\\w+)$`);

function ofEntry(name: string): Reading | undefined {
  const [, rates = '', list = '', key = '', leaf = ''] = ENTRY.exec(name) ?? [];
  const each = entryReadings().get(`${rates}${list}.${leaf}`);
  if (each === undefined) return undefined;
  if (/^\d+$/.test(key) && Number(key) >= structs.report.fields[list as EntryList].count) return undefined;
  const { take: _, text: __, list: ___, total, ...common } = each;
  const ofSame = total === undefined ? {} : { total: total.replace(list, `${list}.${key}`) };
  return {
    ...common,
    ...ofSame,
    name,
    value: node => entryValue(each, node, entryOf(cursorOf(node), list as EntryList, key)),
  };
}
