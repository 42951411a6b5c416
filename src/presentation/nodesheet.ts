// A node on one page, for people: its identity, how well it is heard, its problems, and its readings, each number with
// its unit and its share. What was not measured is left out. Judges nothing.

import { bitNames } from '../layout/codec.js';
import { cursorOf } from '../readings/cursor.js';
import { type EntryReading, entriesOf, entryReadings, entryValue, type List } from '../readings/entries.js';
import { COUNTERS, type Reading, readingOf, type Value } from '../readings/readings.js';
import { SECONDS, writeValue } from '../readings/units.js';
import { mayBeRefused } from '../shm/liveness.js';
import { PROBLEM_TEXT } from '../shm/problems.js';
import type { Node } from '../shm/reader.js';
import { reasonText, refusalText } from '../shm/sentences.js';
import { formatDuration } from '../text/durations.js';
import { oneLine } from '../text/text.js';
import type { Painter } from './style.js';

/** A known fact in a few words; undefined: unknown. */
type Fact = string | undefined;
/** Facts that share a line as far as there is room. */
type FactLine = readonly Fact[];

/** What a node reports, in words. */
class NodeFacts {
  constructor(readonly node: Node) {}

  value(name: string): Value {
    return (readingOf(name) as Reading).value(this.node);
  }

  number(name: string): number | undefined {
    const value = this.value(name);
    return typeof value === 'number' ? value : undefined;
  }

  /** The value with its unit, or as its word: `12.3 GiB`. */
  text(name: string): Fact {
    return shown(readingOf(name) as Reading, this.value(name));
  }

  /** The same with words around it, if it is known: `say('load1_c', 'load ')`. */
  say(name: string, before = '', after = ''): Fact {
    const text = this.text(name);
    return text === undefined ? undefined : `${before}${text}${after}`;
  }

  /** The same, unless it is 0. */
  some(name: string, before = '', after = ''): Fact {
    return this.number(name) ? this.say(name, before, after) : undefined;
  }

  /** A count with its noun, unless it is 0: `1 package`, `2 packages`. */
  count(name: string, one: string, after = ''): Fact {
    const count = this.number(name);
    return count ? `${count} ${one}${count === 1 ? '' : 's'}${after}` : undefined;
  }

  /** How much of a whole is in use, computed from what is free: `128 of 256 GiB used (50 %)`. */
  used(left: string, total: string, before = ''): Fact {
    const [rest, all] = [this.number(left), this.number(total)];
    if (rest === undefined || all === undefined || all === 0) return undefined;
    const { unit } = readingOf(total) as Reading;
    const inUse = Math.max(0, all - rest);
    return `${before}${of(writeValue(inUse, unit), writeValue(all, unit))} used (${Math.round((100 * inUse) / all)} %)`;
  }

  /** A number of one entry. */
  entry(name: string, entry: number): Value {
    return entryValue(entryReadings().get(name) as EntryReading, this.node, entry);
  }

  /** The same in words: `each('gpu.util_pct', 0, 'busy ')`. */
  each(name: string, entry: number, before = '', after = ''): Fact {
    const text = shown(entryReadings().get(name) as EntryReading, this.entry(name, entry));
    return text === undefined ? undefined : `${before}${text}${after}`;
  }

  /** A line for each entry that is used. */
  entries(list: List, line: (entry: number) => FactLine): FactLine[] {
    return Array.from({ length: entriesOf(cursorOf(this.node), list) }, (_, entry) => line(entry)).filter(
      facts => facts[0] !== undefined,
    );
  }
}

function shown({ unit, words }: Pick<Reading, 'unit' | 'words'>, value: Value): Fact {
  if (typeof value === 'number') return words?.[value] ?? writeValue(value, unit);
  return value === undefined || value === '' ? undefined : oneLine(value);
}

/** The unit once, if both numbers have it: `1.2 of 8 GiB`. */
function of(part: string, whole: string): string {
  const [, unit] = /( \S+)$/.exec(whole) ?? [];
  return unit !== undefined && part.endsWith(unit)
    ? `${part.slice(0, -unit.length)} of ${whole}`
    : `${part} of ${whole}`;
}

const hex = (value: Value) => (typeof value === 'number' ? value.toString(16).padStart(8, '0') : undefined);
const labelled = (label: string, value: Fact): Fact => (value === undefined ? undefined : `${label} ${value}`);

function version(value: number | undefined): Fact {
  return value === undefined || value === 0 ? undefined : `${value >> 16}.${(value >> 8) & 255}.${value & 255}`;
}

function identity(told: NodeFacts): FactLine[] {
  return [
    [told.text('arch'), told.text('virt'), told.say('os_release', 'Linux '), labelled('up', told.text('up'))],
    [
      told.say('boot_id', 'boot '),
      labelled('hardware', hex(told.value('hw_hash'))),
      labelled('software', hex(told.value('sw_hash'))),
      labelled('sender', version(told.number('agent_version'))),
    ],
  ];
}

function reports(told: NodeFacts): FactLine[] {
  const { node } = told;
  const { lastRefusal } = node;
  const counted = COUNTERS.filter(name => name !== 'lost' && name !== 'refused').map(name =>
    name.endsWith('s') ? told.count(name, name.slice(0, -1)) : told.some(name, '', ` ${name}`),
  );
  const skew = told.number('skew');
  const flags = bitNames('flags', (node.field('flags') as number | undefined) ?? 0).filter(name => name !== 'first');
  return [
    [
      told.say('interval_ms', 'every '),
      told.say('reports', '', ' accepted'),
      labelled('from', node.address || undefined),
      labelled('by', node.linkName),
    ],
    [told.number('lost') ? told.say('lost', '', ' lost') : 'none lost', ...counted],
    [
      skew === undefined ? undefined : `clock ${writeValue(Math.abs(skew), SECONDS)} ${skew < 0 ? 'behind' : 'ahead'}`,
      told.say('late_us', 'report made ', ' late'),
      told.say('collect_us', 'collected in '),
      told.say('rates.agent_cpu_ms', 'sender at ', ' of a CPU'),
    ],
    [
      told.some('refused', '', ' rejected'),
      lastRefusal && `the last ${formatDuration(lastRefusal.ageMs)} ago: ${reasonText(lastRefusal)}`,
    ],
    [flags.length === 0 ? undefined : `flags ${flags.join(' ')}`],
  ];
}

/** What its health file says, and since when; why, only the node knows. */
function wordOfCheck(told: NodeFacts): FactLine {
  const word = told.text('health');
  return [
    word,
    told.say('health_src', 'said by '),
    told.number('health_age_s') === 0 ? 'less than 1s ago' : told.say('health_age_s', '', ' ago'),
    word === 'warning' || word === 'bad' ? 'the reason is in its /run/beoboard/health' : undefined,
  ];
}

function health(told: NodeFacts): FactLine[] {
  const { state, problems } = told.node;
  // Problems of a node that is not heard are not judged.
  const isWell = problems.length === 0 && (state === 'live' || state === 'uncertain');
  return [
    [isWell ? 'no problems' : undefined],
    ...problems.map(problem => [`problem: ${PROBLEM_TEXT[problem]}`]),
    wordOfCheck(told),
    [
      told.count('oom_kills', 'task', ' killed because memory ran out'),
      told.count('edac_ue', 'memory error', ' not corrected'),
      told.count('edac_ce', 'memory error', ' corrected'),
      told.some('mem_corrupted_kib', '', ' of memory lost'),
      told.count('hung_tasks', 'hung task'),
      told.count('throttle_events', 'slowdown', ' for temperature'),
      told.some('taint', 'taint '),
    ],
  ];
}

/** The large shares of CPU time by kind. Shares that round to 0 are left out. */
function cpuTimes(told: NodeFacts): Fact[] {
  return ['user', 'nice', 'system', 'iowait', 'irq', 'softirq', 'steal'].map(kind => {
    const share = told.number(`rates.cpu_${kind}_pct`);
    return share === undefined || share < 0.05 ? undefined : told.say(`rates.cpu_${kind}_pct`, `${kind} `);
  });
}

function cpus(told: NodeFacts): FactLine[] {
  const { node } = told;
  const [online, present] = [told.number('cpus_online'), told.number('cpus_present')];
  const isWhole = online === undefined || !present || online === present;
  const count = isWhole ? told.text('cpus_online') : `${online} of ${present} online`;
  return [
    [
      count,
      told.count('packages', 'package'),
      told.count('threads_per_core', 'thread', ' a core'),
      told.count('numa_nodes', 'NUMA node'),
      told.some('cpu_mhz_max', 'up to '),
    ],
    [told.say('cpu_busy_pm', 'busy '), ...cpuTimes(told)],
    [
      told.say('load1_c', 'load '),
      told.text('load5_c'),
      told.text('load15_c'),
      told.say('runnable', '', ' runnable'),
      told.say('blocked', '', ' blocked'),
      told.say('threads', '', ' threads'),
    ],
    ['cpu', 'mem', 'io'].map(what => told.say(`psi_${what}_some10`, `waited for ${what} `)),
    [
      told.say('rates.ctxt', 'context switches '),
      told.say('rates.intr', 'interrupts '),
      told.say('rates.forks', 'forks '),
    ],
    ...told.entries('group', group => [
      told.each('group.cpus', group, `group ${group}: `, ' CPUs'),
      told.each('group.busy_pm', group, 'busy '),
      told.each('group.busiest_pm', group, 'busiest '),
      told.each('group.mhz', group),
      told.each('group.temp_dc', group),
    ]),
  ].map(line => (node.reportAt === undefined ? [] : line));
}

function memory(told: NodeFacts): FactLine[] {
  return [
    [told.used('mem_avail_mib', 'mem_total_mib')],
    [
      told.say('mem_anon_mib', 'programs '),
      told.say('mem_cached_mib', 'cached '),
      told.say('mem_shmem_mib', 'shared '),
      told.say('mem_free_mib', 'free '),
      told.some('mem_dirty_writeback_mib', 'to be written '),
      told.used('mem_huge_free_mib', 'mem_huge_total_mib', 'huge pages '),
    ],
    [
      told.used('swap_free_mib', 'swap_total_mib', 'swap '),
      told.some('rates.swapin_pages', 'pages in '),
      told.some('rates.swapout_pages', 'pages out '),
      told.some('rates.majfaults', 'major faults '),
    ],
  ];
}

function disks(told: NodeFacts): FactLine[] {
  return [
    [
      told.say('rates.disk_read_bytes', 'read ', told.say('rates.disk_reads', ' (', ')')),
      told.say('rates.disk_write_bytes', 'written ', told.say('rates.disk_writes', ' (', ')')),
      told.say('disk_busiest_pm', 'busiest '),
      told.say('disk_inflight', '', ' in flight'),
    ],
    [told.used('root_avail_mib', 'root_total_mib', 'root '), told.say('root_inodes_free_pm', 'inodes free ')],
    [
      told.used('scratch_avail_mib', 'scratch_total_mib', 'scratch '),
      told.say('scratch_inodes_free_pm', 'inodes free '),
    ],
    [told.used('fs_avail_mib', 'fs_total_mib', 'local file systems '), told.say('fs_fullest_pm', 'the fullest ')],
  ];
}

function network(told: NodeFacts): FactLine[] {
  const sum = (name: 'net_rest' | 'fabric', what: string): FactLine => {
    if (told.value(`${name}.name`) === undefined) return [];
    return [
      told.say(`${name}.name`, '', what),
      told.say(`${name}.mbps`),
      told.say(`rates.${name}.rx_bytes`, 'in '),
      told.say(`rates.${name}.tx_bytes`, 'out '),
      told.some(`rates.${name}.errors`, 'errors '),
      told.some(`rates.${name}.drops`, 'drops '),
    ];
  };
  return [
    ...told.entries('net', entry => {
      const name = told.each('net.name', entry);
      const carrier = told.entry('net.carrier', entry);
      const some = (rate: 'errors' | 'drops') =>
        told.entry(`rates.net.${rate}`, entry) ? told.each(`rates.net.${rate}`, entry, `${rate} `) : undefined;
      return [
        name,
        told.each('net.mbps', entry),
        carrier === 0 ? 'no link' : undefined,
        told.each('rates.net.rx_bytes', entry, 'in '),
        told.each('rates.net.tx_bytes', entry, 'out '),
        some('errors'),
        some('drops'),
      ];
    }),
    sum('net_rest', ' and others'),
    sum('fabric', ' (fabric)'),
    [told.some('rates.tcp_retrans', 'TCP sent again ')],
  ];
}

function gpus(told: NodeFacts): FactLine[] {
  const count = told.number('gpu_count');
  if (!count) return [];
  return [
    [
      `${count}${told.number('gpu_vendor') ? told.say('gpu_vendor', ' ') : ''}`,
      told.say('gpu_busy', '', ' in use'),
      told.count('gpu_ecc_ue', 'memory error', ' not corrected'),
      told.count('gpu_errors', 'error'),
    ],
    ...told.entries('gpu', gpu => {
      const memory = [told.each('gpu.mem_used_mib', gpu), told.each('gpu.mem_total_mib', gpu)] as const;
      const names = bitNames('gpu_flags', Number(told.entry('gpu.flags', gpu) ?? 0));
      return [
        `GPU ${gpu}${told.each('gpu.util_pct', gpu, ': busy ') ?? ''}`,
        memory[0] && memory[1] ? of(memory[0], memory[1]) : undefined,
        told.each('gpu.temp_degc', gpu),
        told.each('gpu.power_w', gpu),
        names.filter(name => name !== 'present' && name !== 'in_use').join(' ') || undefined,
      ];
    }),
  ];
}

function power(told: NodeFacts): FactLine[] {
  return [
    [
      told.say('power_node_w', '', told.number('power_src') ? ` by ${told.text('power_src')}` : ''),
      told.say('rates.energy_cpu_mj', 'CPUs '),
      told.say('rates.energy_dram_mj', 'memory '),
      told.say('temp_inlet_dc', 'inlet '),
      told.say('temp_hottest_dc', 'hottest '),
    ],
  ];
}

const SECTIONS: readonly [title: string, lines: (told: NodeFacts) => FactLine[]][] = [
  ['Identity', identity],
  ['Reports', reports],
  ['Health', health],
  ['CPUs', cpus],
  ['Memory', memory],
  ['Disks', disks],
  ['Network', network],
  ['GPUs', gpus],
  ['Power', power],
];

const INDENT = 10;

/** Facts joined by commas, in lines of this width. */
function* wrapped(facts: readonly string[], width: number): Generator<string> {
  let line = '';
  for (const [i, fact] of facts.entries()) {
    const piece = i === facts.length - 1 ? fact : `${fact},`;
    if (line !== '' && line.length + 1 + piece.length > width) {
      yield line;
      line = `  ${piece}`;
    } else line = line === '' ? piece : `${line} ${piece}`;
  }
  if (line !== '') yield line;
}

/** State and evidence of a node in one line. */
export function nodeHead(node: Node, paint: Painter): string {
  const { state, ageMs, address, refusedSince } = node;
  const since = ageMs === undefined ? 'no report yet' : `last heard ${formatDuration(ageMs)} ago`;
  const old = state === 'live' || ageMs === undefined ? '' : '; below is the last known';
  const why = refusedSince && mayBeRefused(state) ? `; ${refusalText(refusedSince)}` : '';
  return `${oneLine(node.name)}: ${paint.state(state, state)}, ${since}${address && ` from ${address}`}${why}${old}`;
}

/**
 * The parts of a node of which anything is known, in their order: for each part its title and its facts. Facts that
 * belong together are in one list.
 */
export function nodeSections(node: Node, slurm: readonly FactLine[] = []): { title: string; facts: string[][] }[] {
  const told = new NodeFacts(node);
  return [...SECTIONS, ['Slurm', () => slurm] as const]
    .map(([title, make]) => ({
      title,
      facts: make(told)
        .map(facts => facts.filter(fact => fact !== undefined))
        .filter(facts => facts.length > 0),
    }))
    .filter(({ facts }) => facts.length > 0);
}

/**
 * The page in lines: the head first, then at least one line for each part of the node of which anything is known.
 * `slurm`: what Slurm says about the node.
 */
export function nodeSheet(
  node: Node,
  paint: Painter,
  width: number,
  slurm: readonly FactLine[] = [],
): { head: string[]; lines: string[] } {
  const lines: string[] = [];
  for (const { title, facts } of nodeSections(node, slurm)) {
    let label = title;
    for (const line of facts.flatMap(some => [...wrapped(some, width - INDENT)])) {
      lines.push(`${paint.title(label.padEnd(INDENT - 1))} ${line}`.trimEnd());
      label = '';
    }
  }
  return { head: [nodeHead(node, paint)], lines };
}
