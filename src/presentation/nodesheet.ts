// A node on one page, for people: its identity, how well it is heard, its problems, and its readings, each number with
// its unit and its share. What was not measured is left out. Judges nothing.

import { LastReports, type Saying, saidFacts, stoodStill } from '../changes/lastwords.js';
import { bitNames } from '../layout/codec.js';
import { cursorOf } from '../readings/cursor.js';
import { type EntryList, type EntryReading, entriesOf, entryReadings, entryValue } from '../readings/entries.js';
import type { Reading, Value } from '../readings/measures.js';
import { COUNTERS, readingOf } from '../readings/readings.js';
import { joined, SECONDS, writeId, writeValue, writeVersion } from '../readings/units.js';
import { mayBeRefused } from '../shm/liveness.js';
import { PROBLEM_TEXT, type Problem } from '../shm/problems.js';
import { lastingText, moment, reasonText, refusalText } from '../shm/sentences.js';
import type { Node, Snapshot } from '../shm/snapshot.js';
import type { Painter } from '../terminal/style.js';
import { formatDuration } from '../text/durations.js';
import { inLines, padded, separated, wrapped } from '../text/layout.js';
import { oneLine } from '../text/text.js';
import { goneSources } from '../trouble/remembered.js';

/** A known fact in a few words; undefined: unknown. */
type Fact = string | undefined;
/** Facts that share a line as far as there is room. */
type FactLine = readonly Fact[];

class NodeFacts {
  /** `saying`: its last words, if it is silent. */
  constructor(
    readonly node: Node,
    readonly saying: Saying | undefined,
  ) {}

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
    return `${before}${joined(writeValue(inUse, unit), 'of', writeValue(all, unit))} used (${Math.round((100 * inUse) / all)} %)`;
  }

  entry(name: string, entry: number): Value {
    return entryValue(entryReadings().get(name) as EntryReading, this.node, entry);
  }

  /** The same in words: `each('gpu.util_pct', 0, 'busy ')`. */
  each(name: string, entry: number, before = '', after = ''): Fact {
    const text = shown(entryReadings().get(name) as EntryReading, this.entry(name, entry));
    return text === undefined ? undefined : `${before}${text}${after}`;
  }

  entries(list: EntryList, line: (entry: number) => FactLine): FactLine[] {
    return Array.from({ length: entriesOf(cursorOf(this.node), list) }, (_, entry) => line(entry)).filter(
      facts => facts[0] !== undefined,
    );
  }
}

function shown({ unit, words }: Pick<Reading, 'unit' | 'words'>, value: Value): Fact {
  if (typeof value === 'number') return words?.[value] ?? writeValue(value, unit);
  return value === undefined || value === '' ? undefined : oneLine(value);
}

const hex = (value: Value) => (typeof value === 'number' ? writeId(value) : undefined);
const labelled = (label: string, value: Fact): Fact => (value === undefined ? undefined : `${label} ${value}`);

function version(value: number | undefined): Fact {
  return value === undefined || value === 0 ? undefined : writeVersion(value);
}

function identity(facts: NodeFacts): FactLine[] {
  return [
    [facts.text('arch'), facts.text('virt'), facts.say('os_release', 'Linux '), labelled('up', facts.text('up'))],
    [
      facts.say('boot_id', 'boot '),
      labelled('hardware', hex(facts.value('hw_hash'))),
      labelled('software', hex(facts.value('sw_hash'))),
      labelled('sender', version(facts.number('agent_version'))),
    ],
  ];
}

function reports(facts: NodeFacts): FactLine[] {
  const { node } = facts;
  const { lastRefusal } = node;
  const counted = COUNTERS.filter(name => name !== 'lost' && name !== 'refused').map(name =>
    name.endsWith('s') ? facts.count(name, name.slice(0, -1)) : facts.some(name, '', ` ${name}`),
  );
  const skew = facts.number('skew');
  const flags = bitNames('flags', (node.field('flags') as number | undefined) ?? 0).filter(name => name !== 'first');
  return [
    [
      facts.say('interval_ms', 'every '),
      facts.say('reports', '', ' accepted'),
      labelled('from', node.address || undefined),
      labelled('by', node.linkName),
    ],
    [facts.number('lost') ? facts.say('lost', '', ' lost') : 'none lost', ...counted],
    [
      skew === undefined ? undefined : `clock ${writeValue(Math.abs(skew), SECONDS)} ${skew < 0 ? 'behind' : 'ahead'}`,
      facts.say('late_us', 'report made ', ' late'),
      facts.say('collect_us', 'collected in '),
      facts.say('rates.agent_cpu_ms', 'sender at ', ' of a CPU'),
    ],
    [
      facts.some('refused', '', ' rejected'),
      lastRefusal && `the last ${formatDuration(lastRefusal.ageMs)} ago: ${reasonText(lastRefusal)}`,
    ],
    [flags.length === 0 ? undefined : `flags ${flags.join(' ')}`],
  ];
}

/** What its health file says, and how old that is by now, which was measured with the last report; why, only the node knows. */
function wordOfCheck(facts: NodeFacts): FactLine {
  const word = facts.text('health');
  const age = facts.number('health_age_s');
  const ms = age === undefined ? undefined : age * 1000 + (facts.node.ageMs ?? 0);
  return [
    word,
    facts.say('health_src', 'said by '),
    ms === undefined ? undefined : ms < 1000 ? 'less than 1s ago' : `${formatDuration(ms)} ago`,
    word === 'warning' || word === 'bad' ? 'the reason is in its /run/beoboard/health' : undefined,
  ];
}

/** Since when a node has a problem that it has now; undefined: nobody remembers. */
function beginText({ snapshot, memory }: Node, problem: Problem): Fact {
  const episode = memory?.episode(problem);
  if (memory === undefined || episode === undefined || episode.isOver) return undefined;
  // What the first report showed had begun before it.
  const earlier = episode.beganMs >= memory.sinceMs ? ' or earlier' : '';
  return `since ${moment(snapshot, episode.beganMs)}${earlier}`;
}

/** What the board remembers: problems that are over or come and go, silences, and the last words before the last one. */
function remembered(
  { snapshot, memory, problems, doubts, recently, state }: Node,
  saying: Saying | undefined,
): FactLine[] {
  if (memory === undefined) return lastReport(snapshot, saying, 'fell silent');
  const { silence, lastWords, sinceMs } = memory;
  const ago = (ms: number) => `${formatDuration(ms)} ago`;
  const times = (count: number) => (count === 1 ? 'once' : `${count} times in ${formatDuration(sinceMs)}`);
  const told = [...problems, ...doubts];
  const known = [...told, ...recently];
  const lines: FactLine[] = memory.episodes
    .filter(({ problem, count }) => count > 1 || !told.includes(problem))
    .map(({ problem, count, seenMs, isOver }) => [
      `${isOver ? 'earlier' : known.includes(problem) ? 'recent' : 'known until its last report'}: ${PROBLEM_TEXT[problem]}`,
      times(count),
      `last ${ago(seenMs)}`,
    ]);
  if (silence !== undefined) {
    const { count, beganMs, endedMs, stoodStillMs } = silence;
    const last =
      endedMs === undefined
        ? lastingText(state, beganMs)
        : `${count === 1 ? '' : 'last '}for ${formatDuration(beganMs - endedMs)} until ${ago(endedMs)}`;
    lines.push([`silent ${times(count)}`, last, stoodStill(stoodStillMs === undefined ? [] : [stoodStillMs], 1)]);
  }
  const isExplained = silence?.stoodStillMs !== undefined && saying === undefined && lastWords?.rows.length === 0;
  if (isExplained) return lines;
  const isBooted = saying === undefined && lastWords?.reportedMs !== silence?.beganMs;
  return [...lines, ...lastReport(snapshot, saying ?? lastWords, isBooted ? 'was booted' : 'fell silent')];
}

function lastReport(snapshot: Snapshot, saying: Saying | undefined, what: string): FactLine[] {
  if (saying === undefined) return [];
  const [first, ...more] = saidFacts(saying.rows);
  return [[`last report before it ${what}`, `${moment(snapshot, saying.reportedMs)}: ${first}`, ...more]];
}

function health(facts: NodeFacts): FactLine[] {
  const { snapshot, state, problems, recently, unmeasured, doubts, memory } = facts.node;
  // Problems of a node that is not heard are not judged.
  const isHeard = state === 'live' || state === 'uncertain';
  const gone = isHeard ? goneSources(snapshot, facts.node.index, memory) : [];
  const isWell = problems.length === 0 && doubts.length === 0 && gone.length === 0 && isHeard;
  return [
    [isWell ? `no problems${recently.length > 0 ? ' now' : ''}` : undefined],
    ...problems.map(problem => [`problem: ${PROBLEM_TEXT[problem]}`, beginText(facts.node, problem)]),
    ...doubts.map(problem => {
      const since = `not measured since ${moment(snapshot, memory?.episode(problem)?.measuredMs ?? 0)}`;
      // For a minute it is still taken for present.
      return unmeasured.includes(problem)
        ? [`${since}: ${PROBLEM_TEXT[problem]}`]
        : [`problem: ${PROBLEM_TEXT[problem]}`, beginText(facts.node, problem), since];
    }),
    ...gone.map(({ text, goneMs }) => [`not measured since ${moment(snapshot, goneMs)}: ${text}`]),
    ...remembered(facts.node, facts.saying),
    wordOfCheck(facts),
    [
      facts.count('oom_kills', 'task', ' killed because memory ran out'),
      facts.count('edac_ue', 'memory error', ' not corrected'),
      facts.count('edac_ce', 'memory error', ' corrected'),
      facts.some('mem_corrupted_kib', '', ' of memory lost'),
      facts.count('hung_tasks', 'hung task'),
      facts.count('throttle_events', 'slowdown', ' for temperature'),
      facts.some('taint', 'taint '),
    ],
  ];
}

/** The large shares of CPU time by kind. Shares that round to 0 are left out. */
function cpuTimes(facts: NodeFacts): Fact[] {
  return ['user', 'nice', 'system', 'iowait', 'irq', 'softirq', 'steal'].map(kind => {
    const share = facts.number(`rates.cpu_${kind}_pct`);
    return share === undefined || share < 0.05 ? undefined : facts.say(`rates.cpu_${kind}_pct`, `${kind} `);
  });
}

function cpus(facts: NodeFacts): FactLine[] {
  const { node } = facts;
  const [online, present] = [facts.number('cpus_online'), facts.number('cpus_present')];
  const isWhole = online === undefined || !present || online === present;
  const count = isWhole ? facts.text('cpus_online') : `${online} of ${present} online`;
  return [
    [
      count,
      facts.count('packages', 'package'),
      facts.count('threads_per_core', 'thread', ' a core'),
      facts.count('numa_nodes', 'NUMA node'),
      facts.some('cpu_mhz_max', 'up to '),
    ],
    [facts.say('cpu_busy_pm', 'busy '), ...cpuTimes(facts)],
    [
      facts.say('load1_c', 'load '),
      facts.text('load5_c'),
      facts.text('load15_c'),
      facts.say('runnable', '', ' runnable'),
      facts.say('blocked', '', ' blocked'),
      facts.say('threads', '', ' threads'),
    ],
    ['cpu', 'mem', 'io'].map(what => facts.say(`psi_${what}_some10`, `waited for ${what} `)),
    [
      facts.say('rates.ctxt', 'context switches '),
      facts.say('rates.intr', 'interrupts '),
      facts.say('rates.forks', 'forks '),
    ],
    ...facts.entries('group', group => [
      facts.each('group.cpus', group, `group ${group}: `, ' CPUs'),
      facts.each('group.busy_pm', group, 'busy '),
      facts.each('group.busiest_pm', group, 'busiest '),
      facts.each('group.mhz', group),
      facts.each('group.temp_dc', group),
    ]),
  ].map(line => (node.reportAt === undefined ? [] : line));
}

function memory(facts: NodeFacts): FactLine[] {
  return [
    [facts.used('mem_avail_mib', 'mem_total_mib')],
    [
      facts.say('mem_anon_mib', 'programs '),
      facts.say('mem_cached_mib', 'cached '),
      facts.say('mem_shmem_mib', 'shared '),
      facts.say('mem_free_mib', 'free '),
      facts.some('mem_dirty_writeback_mib', 'to be written '),
      facts.used('mem_huge_free_mib', 'mem_huge_total_mib', 'huge pages '),
    ],
    [
      facts.used('swap_free_mib', 'swap_total_mib', 'swap '),
      facts.some('rates.swapin_pages', 'pages in '),
      facts.some('rates.swapout_pages', 'pages out '),
      facts.some('rates.majfaults', 'major faults '),
    ],
  ];
}

function disks(facts: NodeFacts): FactLine[] {
  return [
    [
      facts.say('rates.disk_read_bytes', 'read ', facts.say('rates.disk_reads', ' (', ')')),
      facts.say('rates.disk_write_bytes', 'written ', facts.say('rates.disk_writes', ' (', ')')),
      facts.say('disk_busiest_pm', 'busiest '),
      facts.say('disk_inflight', '', ' in flight'),
    ],
    [facts.used('root_avail_mib', 'root_total_mib', 'root '), facts.say('root_inodes_free_pm', 'inodes free ')],
    [
      facts.used('scratch_avail_mib', 'scratch_total_mib', 'scratch '),
      facts.say('scratch_inodes_free_pm', 'inodes free '),
    ],
    [facts.used('fs_avail_mib', 'fs_total_mib', 'local file systems '), facts.say('fs_fullest_pm', 'the fullest ')],
  ];
}

function network(facts: NodeFacts): FactLine[] {
  const sum = (name: 'net_rest' | 'fabric', what: string): FactLine => {
    if (facts.value(`${name}.name`) === undefined) return [];
    return [
      facts.say(`${name}.name`, '', what),
      facts.say(`${name}.mbps`),
      facts.say(`rates.${name}.rx_bytes`, 'in '),
      facts.say(`rates.${name}.tx_bytes`, 'out '),
      facts.some(`rates.${name}.errors`, 'errors '),
      facts.some(`rates.${name}.drops`, 'drops '),
    ];
  };
  return [
    ...facts.entries('net', entry => {
      const name = facts.each('net.name', entry);
      const carrier = facts.entry('net.carrier', entry);
      const some = (rate: 'errors' | 'drops') =>
        facts.entry(`rates.net.${rate}`, entry) ? facts.each(`rates.net.${rate}`, entry, `${rate} `) : undefined;
      return [
        name,
        facts.each('net.mbps', entry),
        carrier === 0 ? 'no link' : undefined,
        facts.each('rates.net.rx_bytes', entry, 'in '),
        facts.each('rates.net.tx_bytes', entry, 'out '),
        some('errors'),
        some('drops'),
      ];
    }),
    sum('net_rest', ' and others'),
    sum('fabric', ' (fabric)'),
    [facts.some('rates.tcp_retrans', 'TCP sent again ')],
  ];
}

function gpus(facts: NodeFacts): FactLine[] {
  const count = facts.number('gpu_count');
  if (!count) return [];
  return [
    [
      `${count}${facts.number('gpu_vendor') ? facts.say('gpu_vendor', ' ') : ''}`,
      facts.say('gpu_busy', '', ' in use'),
      facts.count('gpu_ecc_ue', 'memory error', ' not corrected'),
      facts.count('gpu_errors', 'error'),
    ],
    ...facts.entries('gpu', gpu => {
      const memory = [facts.each('gpu.mem_used_mib', gpu), facts.each('gpu.mem_total_mib', gpu)] as const;
      const names = bitNames('gpu_flags', Number(facts.entry('gpu.flags', gpu) ?? 0));
      return [
        `GPU ${gpu}${facts.each('gpu.util_pct', gpu, ': busy ') ?? ''}`,
        memory[0] && memory[1] ? joined(memory[0], 'of', memory[1]) : undefined,
        facts.each('gpu.temp_degc', gpu),
        facts.each('gpu.power_w', gpu),
        names.filter(name => name !== 'present' && name !== 'in_use').join(' ') || undefined,
      ];
    }),
  ];
}

function power(facts: NodeFacts): FactLine[] {
  return [
    [
      facts.say('power_node_w', '', facts.number('power_src') ? ` by ${facts.text('power_src')}` : ''),
      facts.say('rates.energy_cpu_mj', 'CPUs '),
      facts.say('rates.energy_dram_mj', 'memory '),
      facts.say('temp_inlet_dc', 'inlet '),
      facts.say('temp_hottest_dc', 'hottest '),
    ],
  ];
}

const SECTIONS: readonly [title: string, lines: (facts: NodeFacts) => FactLine[]][] = [
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

/** State and evidence of a node in one line. */
export function nodeHead(node: Node, paint: Painter): string {
  const { snapshot, state, ageMs, address, refusedSince } = node;
  const isFallen = state !== 'live' && state !== 'unknown' && ageMs !== undefined;
  const from = address && `${isFallen ? ', last heard' : ''} from ${address}`;
  const heard = ageMs === undefined ? ', no report yet' : `, last heard ${formatDuration(ageMs)} ago`;
  const since = isFallen ? ` since ${moment(snapshot, ageMs)}` : heard;
  const old = state === 'live' || ageMs === undefined ? '' : '; below is the last known';
  const why = refusedSince && mayBeRefused(state) ? `; ${refusalText(refusedSince)}` : '';
  return `${oneLine(node.name)}: ${paint.state(state, state)}${since}${from}${why}${old}`;
}

/** A part of what is known of a node. */
export interface Section {
  readonly title: string;
  readonly facts: readonly FactLine[];
}

/**
 * The parts of a node of which anything is known, in their order: for each part its title and its facts. Facts that
 * belong together are in one list. `all`: a look at all nodes of its board, with whose sensors its own are compared.
 */
export function nodeSections(
  node: Node,
  besides?: Section,
  all: Snapshot = node.snapshot,
): { title: string; facts: string[][] }[] {
  const facts = new NodeFacts(node, new LastReports(all).of(node));
  return [...SECTIONS, ...(besides === undefined ? [] : [[besides.title, () => besides.facts] as const])]
    .map(([title, make]) => ({
      title,
      facts: make(facts)
        .map(facts => facts.filter(fact => fact !== undefined))
        .filter(facts => facts.length > 0),
    }))
    .filter(({ facts }) => facts.length > 0);
}

/**
 * The page in lines: the head first, then at least one line for each part of the node of which anything is known.
 * `besides`: what the scheduler says about the node; `trouble`: what it shares with others, in sentences.
 */
export function nodeSheet(
  node: Node,
  paint: Painter,
  width: number,
  besides?: Section,
  trouble: readonly string[] = [],
): { head: string[]; lines: string[] } {
  const lines: string[] = [];
  const inRoom = (some: readonly string[]) =>
    inLines(
      separated(some, ',').map(fact => ` ${fact}`),
      width - INDENT,
      '  ',
    );
  const parts = nodeSections(node, besides).map(({ title, facts }) => [title, facts.flatMap(inRoom)] as const);
  const sentences = trouble.flatMap(text => wrapped(text, width - INDENT, '  '));
  for (const [title, part] of [['Trouble', sentences] as const, ...parts]) {
    let label = title;
    for (const line of part) {
      lines.push(`${paint.title(padded(label, INDENT - 1))} ${line}`.trimEnd());
      label = '';
    }
  }
  return { head: inLines([nodeHead(node, paint)], width, '  '), lines };
}
