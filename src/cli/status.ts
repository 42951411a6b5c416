// How the nodes are: a plain table, worst first, or JSON. Reads the board once (or every second) and judges nothing that
// the board does not say.

import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../common/durations.js';
import { defineVerb, parseVerb, UsageError } from '../common/options.js';
import { json, print } from '../common/output.js';
import { oneLine } from '../common/text.js';
import type { Report } from '../layout/codec.js';
import { STATES, type State } from '../shm/liveness.js';
import type { Rates } from '../shm/rates.js';
import { BoardReader, NO_BOARD, type Node, type Snapshot } from '../shm/reader.js';

export const verb = defineVerb({
  name: 'status',
  summary: 'how the nodes are: a table, worst first',
  options: ['board', 'owner', 'json', 'watch', 'config'],
  examples: [
    'beoboard status',
    'beoboard status --watch',
    'beoboard status --json | jq \'.nodes[] | select(.state != "live") | .name\'',
  ],
  notes: `States: live; uncertain (neither place work nor drain); silent (not heard while the receiver listened); left (said goodbye);
never (in the node list, no report yet); unknown (the receiver is stalled: nothing is known about nodes).
Readings in brackets are the last known ones of a node that is not live. Exit codes: 0 done, 2 usage, 4 no board, or stalled.`,
});

interface Column {
  title: string;
  /** Text columns stand left, numbers right. */
  left?: boolean;
  /** A reading, for which brackets say that it is old. */
  reading?: boolean;
  cell(node: Node, report: Report | undefined, rates: Rates | undefined): string;
}

const NOTHING = '-';

function show(value: number | undefined, text: (value: number) => string): string {
  return value === undefined ? NOTHING : text(value);
}

const SIZES = ['', 'K', 'M', 'G', 'T', 'P', 'E'];

/** At most five characters: 0, 12K, 1.5M. */
function short(value: number): string {
  let [rest, unit] = [value, 0];
  while (rest >= 999.5 && unit < SIZES.length - 1) [rest, unit] = [rest / 1000, unit + 1];
  return `${rest < 9.95 && unit > 0 ? rest.toFixed(1) : Math.round(rest)}${SIZES[unit]}`;
}

function sum(values: (number | undefined)[]): number | undefined {
  const known = values.filter(value => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((a, b) => a + b, 0);
}

/** Bytes per second over all network entries; never the fabric, whose traffic may be in them, too. */
function network(rates: Rates | undefined, field: 'rx_bytes' | 'tx_bytes'): number | undefined {
  return sum([...(rates?.net ?? []), ...(rates?.net_rest ? [rates.net_rest] : [])].map(entry => entry[field]));
}

function used(total: number | undefined, free: number | undefined): number | undefined {
  if (total === undefined || free === undefined || total === 0 || free > total) return undefined;
  return (100 * (total - free)) / total;
}

function rate(rates: Rates | undefined, field: string): number | undefined {
  const value = rates?.[field];
  return typeof value === 'number' ? value : undefined;
}

const percent = (value: number) => `${Math.round(value)}%`;

const COLUMNS: Column[] = [
  { title: 'NODE', left: true, cell: node => oneLine(node.name) },
  { title: 'STATE', left: true, cell: node => node.state },
  { title: 'AGE', cell: node => show(node.ageMs, formatDuration) },
  { title: 'LOAD', reading: true, cell: (_, report) => show(report?.load1_c, load => (load / 100).toFixed(2)) },
  { title: 'CPUS', reading: true, cell: (_, report) => show(report?.cpus_online, String) },
  { title: 'CPU', reading: true, cell: (_, report) => show(report?.cpu_busy_pm, busy => percent(busy / 10)) },
  {
    title: 'MEM',
    reading: true,
    cell: (_, report) => show(used(report?.mem_total_mib, report?.mem_avail_mib), percent),
  },
  {
    title: 'SWAP',
    reading: true,
    cell: (_, report) => show(used(report?.swap_total_mib, report?.swap_free_mib), percent),
  },
  { title: 'NET IN B/s', reading: true, cell: (_, __, rates) => show(network(rates, 'rx_bytes'), short) },
  { title: 'OUT B/s', reading: true, cell: (_, __, rates) => show(network(rates, 'tx_bytes'), short) },
  {
    title: 'DISK B/s',
    reading: true,
    cell: (_, __, rates) => show(sum([rate(rates, 'disk_read_bytes'), rate(rates, 'disk_write_bytes')]), short),
  },
  { title: 'UP', reading: true, cell: (_, report) => show(report && Number(report.t_boot_ns) / 1e6, formatDuration) },
  { title: 'LOST', cell: node => show(node.record.lost, String) },
];

/** All nodes, the worst first, then by name. */
function worstFirst(snapshot: Snapshot): { node: Node; state: State }[] {
  const rank = new Map(STATES.map((state, i) => [state, i]));
  const natural = new Intl.Collator('en', { numeric: true });
  return [...snapshot.nodes()]
    .map(node => ({ node, state: node.state, name: node.name }))
    .sort((a, b) => (rank.get(a.state) ?? 0) - (rank.get(b.state) ?? 0) || natural.compare(a.name, b.name));
}

/** What the receiver says of itself, in one line. */
function headline(snapshot: Snapshot, states: State[]): string {
  const cluster = snapshot.header.cluster_name === '' ? '' : `${oneLine(snapshot.header.cluster_name)}: `;
  const nodes = `${states.length} ${states.length === 1 ? 'node' : 'nodes'}`;
  if (snapshot.stalled) {
    const end = snapshot.closed ? 'the receiver was ended' : 'the receiver is stalled';
    const { heartbeatAgeMs } = snapshot;
    const since =
      heartbeatAgeMs < 0
        ? 'its heartbeat is of another clock'
        : `its heartbeat is ${formatDuration(heartbeatAgeMs)} old`;
    return `${cluster}${nodes}; STALLED: ${end}, ${since}: nothing is known about nodes`;
  }
  const counts = STATES.map(state => [state, states.filter(other => other === state).length] as const)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`);
  const refusals = Object.entries(snapshot.refused).map(([reason, count]) => `${count} ${reason}`);
  return [
    `${cluster}${nodes}${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`,
    `heard everything for ${formatDuration(snapshot.listenedMs)}`,
    ...(refusals.length > 0 ? [`refused ${refusals.join(', ')}`] : []),
    ...(snapshot.header.kernel_drops ? [`the kernel dropped ${snapshot.header.kernel_drops}`] : []),
  ].join('; ');
}

function* table(snapshot: Snapshot): Generator<string> {
  const nodes = worstFirst(snapshot);
  yield `${headline(
    snapshot,
    nodes.map(({ state }) => state),
  )}\n`;
  if (nodes.length === 0) return;
  const rows = nodes.map(({ node, state }) => {
    const { report, rates } = node;
    return COLUMNS.map(({ reading, cell }) => {
      const text = cell(node, report, rates);
      return reading && state !== 'live' && text !== NOTHING ? `[${text}]` : text;
    });
  });
  const titles = COLUMNS.map(column => column.title);
  const widths = titles.map((title, i) =>
    rows.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), title.length),
  );
  for (const row of [titles, ...rows]) {
    const cells = row.map((cell, i) =>
      COLUMNS[i]?.left ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
    );
    yield `${cells.join('  ').trimEnd()}\n`;
  }
}

function nodeJson(node: Node) {
  const { record, report, lastRefusal } = node;
  const hex = (id: bigint) => id.toString(16).padStart(16, '0');
  return {
    name: node.name,
    state: node.state,
    age_ms: node.ageMs,
    address: node.address === '' ? undefined : node.address,
    reports: record.accepted,
    lost: record.lost,
    unheard: record.unheard,
    duplicate: record.duplicate,
    late: record.late,
    refused: record.refused,
    restarts: record.restarts,
    reboots: record.reboots,
    resets: record.resets,
    boot_id: report && hex(report.boot_id),
    offset_us: report && record.offset_us,
    last_refusal: lastRefusal && {
      reason: lastRefusal.reason,
      age_ms: lastRefusal.ageMs,
      offset_us: lastRefusal.offsetUs,
    },
    report: report && { ...report, boot_id: hex(report.boot_id) },
    rates: node.rates,
  };
}

/** One object, piece by piece: a board of 10,000 nodes is 60 MB of JSON. */
function* jsonPieces(snapshot: Snapshot): Generator<string> {
  const { header } = snapshot;
  const board = {
    path: snapshot.path,
    cluster: header.cluster_name,
    instance: header.instance,
    pid: Number(header.pid),
    heartbeat_age_ms: snapshot.heartbeatAgeMs,
    listened_ms: snapshot.listenedMs,
    stalled: snapshot.stalled,
    closed: snapshot.closed,
    retired: snapshot.retired,
    filtering: snapshot.filtering,
    kernel_drops: header.kernel_drops,
    received: header.received,
    accepted: header.accepted,
    duplicate: header.duplicate,
    nodes: snapshot.count,
    capacity: header.capacity,
    uncertain_after_ms: Number(header.uncertain_after_ns) / 1e6,
    silent_after_ms: Number(header.silent_after_ns) / 1e6,
    refused: snapshot.refused,
  };
  yield `{"schema":1,"board":${json(board)},"nodes":[`;
  let separator = '\n';
  for (const { node } of worstFirst(snapshot)) {
    yield `${separator}${json(nodeJson(node))}`;
    separator = ',\n';
  }
  yield '\n]}\n';
}

const HOME = '\x1b[H';
const CLEAR_REST = '\x1b[J';
const ERASE_LINE = '\x1b[K';

/** As many lines as the terminal has, each erased to its end, so that nothing flickers. */
function screen(lines: string[]): string {
  const { rows = 24, columns = 80 } = process.stdout;
  const shown = lines.slice(0, rows - 1).map(line => `${line.slice(0, columns)}${ERASE_LINE}`);
  if (lines.length > rows - 1) shown[rows - 2] = `… ${lines.length - rows + 2} more${ERASE_LINE}`;
  return `${HOME}${shown.join('\n')}\n${CLEAR_REST}`;
}

/** Again every second, until a signal comes. */
async function watch(reader: BoardReader): Promise<number> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  const tty = process.stdout.isTTY === true;
  if (tty) process.stdout.write(`${HOME}\x1b[2J`);
  while (!stop.signal.aborted) {
    const snapshot = reader.snapshot();
    if (tty) process.stdout.write(screen([...table(snapshot)].join('').trimEnd().split('\n')));
    else await print(table(snapshot));
    await sleep(1000, undefined, { signal: stop.signal }).catch(() => undefined);
  }
  return 0;
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  if (values.watch && values.json)
    throw new UsageError(verb.name, '--watch and --json do not go together; leave one out');
  const reader = new BoardReader(values.board, values.owner);
  try {
    if (values.watch) return await watch(reader);
    const snapshot = reader.snapshot();
    await print(values.json ? jsonPieces(snapshot) : table(snapshot));
    return snapshot.stalled || snapshot.retired ? NO_BOARD : 0;
  } finally {
    reader.close();
  }
}
