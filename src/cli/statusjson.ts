// The JSON of status: see docs/json.md, which says what every key means and what may change.

import { fold } from '../common/hostlists.js';
import { json } from '../common/output.js';
import { bitNames, type Report } from '../layout/codec.js';
import { enums, structs } from '../layout/layout.gen.js';
import { mayBeRefused } from '../shm/liveness.js';
import { type LinkEntry, linkName, type Node, type SenderEntry, type Snapshot, type Totals } from '../shm/reader.js';
import { linkState, listenedMs, refusalText, sinceMs } from '../shm/sentences.js';
import { type Column, chosenColumns } from './columns.js';
import type { Oddity } from './oddities.js';
import type { Beside } from './slurmbeside.js';
import type { Surveyed } from './survey.js';

type Enum = keyof typeof enums;
/** Fields of a report whose numbers have words, and of which enum these are. */
const WORDED = Object.entries<{ unit: string }>(structs.report.fields).flatMap(([field, { unit }]) =>
  unit.startsWith('enum ') ? [[field as keyof Report, enums[unit.slice(5) as Enum]] as const] : [],
);

/** The words for the numbers of a report: of each enum its word, of each mask the names of its bits. */
function namesOf(report: Report) {
  const words = WORDED.flatMap(([field, of]) => {
    const word = of[Number(report[field] ?? -1)];
    return word === undefined ? [] : [[field, word] as const];
  });
  return {
    ...Object.fromEntries(words),
    flags: bitNames('flags', report.flags),
    valid: bitNames('valid', report.valid),
    net: report.net?.map(({ state }) => bitNames('net_state', state)),
    gpu_flags: report.gpu_flags?.map(flags => bitNames('gpu_flags', flags)),
  };
}

function nodeJson(node: Node) {
  const { record, report, lastRefusal } = node;
  const bootId = report?.boot_id.toString(16).padStart(16, '0');
  const { state, refusedSince, ailments } = node;
  return {
    name: node.name,
    state,
    ails: ailments.length === 0 ? undefined : ailments,
    why: refusedSince && mayBeRefused(state) ? refusalText(refusedSince) : undefined,
    age_ms: node.ageMs,
    link: node.linkName,
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
    boot_id: bootId,
    offset_us: report && record.offset_us,
    last_refusal: lastRefusal && {
      reason: lastRefusal.reason,
      age_ms: lastRefusal.ageMs,
      offset_us: lastRefusal.offsetUs,
    },
    // In place: it is decoded for us alone, and to copy two hundred keys took a tenth of the time.
    report: report && Object.assign(report, { boot_id: bootId }),
    names: report && namesOf(report),
    rates: node.rates,
  };
}

/** A chosen column as JSON has it: a field of the report as it is there, so that what passes 2^53 is a decimal string. */
function chosenValue(node: Node, { name, field }: Column): unknown {
  if (name === 'boot_id' || field.source !== name || !Object.hasOwn(structs.report.fields, name))
    return field.value(node);
  return node.field(name as Parameters<Node['field']>[0]);
}

/** The columns that were chosen alone, numbers without units; what was not measured is absent. */
function chosenJson(node: Node, columns: readonly Column[]) {
  const values = columns.map(column => [column.name, chosenValue(node, column)] as const);
  return { name: node.name, state: node.state, ...Object.fromEntries(values) };
}

function linkJson(snapshot: Snapshot, link: LinkEntry) {
  const { number, changedNs, nodes, heartbeatNs, darkSinceNs, darkNodes, downs, accepted, missed, address } = link;
  return {
    number,
    name: linkName(link),
    ...linkState(link),
    since_ms: changedNs === 0n ? undefined : sinceMs(snapshot, changedNs),
    nodes,
    heartbeat_age_ms: sinceMs(snapshot, heartbeatNs),
    listened_ms: listenedMs(link),
    dark: darkSinceNs === 0n ? undefined : { since_ms: sinceMs(snapshot, darkSinceNs), nodes: darkNodes },
    address: address === '' ? undefined : address,
    downs,
    accepted,
    missed,
  };
}

function senderJson(snapshot: Snapshot, { reason, address, name, count, firstNs, lastNs }: SenderEntry) {
  return {
    reason: enums.reason[reason] ?? String(reason),
    address,
    name: name === '' ? undefined : name,
    count,
    first_ms: sinceMs(snapshot, firstNs),
    last_ms: sinceMs(snapshot, lastNs),
  };
}

function oddityJson({ kind, nodes, text }: Oddity) {
  return { kind, nodes: nodes.length === 0 ? undefined : fold(nodes.map(({ name }) => name)), text };
}

/** What is told besides the nodes and what is odd, and how. */
export interface Form {
  readonly totals?: Totals | undefined;
  readonly groups?: readonly object[] | undefined;
  /** Of nodes: these alone. */
  readonly columns?: readonly string[] | undefined;
  /** What Slurm says of each node. */
  readonly beside?: Beside | undefined;
  /** All in one line, as NDJSON has it. */
  readonly inOneLine?: boolean;
}

/**
 * One object, piece by piece: a board of 10,000 nodes is 60 MB of JSON. Throws an InputError for a column that there is not.
 */
export function jsonPieces(
  snapshot: Snapshot,
  nodes: readonly Surveyed[],
  odd: readonly Oddity[],
  { totals, groups, columns, beside, inOneLine = false }: Form = {},
): Iterable<string> {
  const chosen = columns && chosenColumns(columns);
  const ofBoard = chosen === undefined ? nodeJson : (node: Node) => chosenJson(node, chosen);
  const of = beside === undefined ? ofBoard : (node: Node) => ({ ...ofBoard(node), slurm: beside.json(node.name) });
  return pieces(
    snapshot,
    nodes.map(({ index }) => index),
    odd,
    totals,
    groups,
    beside,
    of,
    inOneLine ? '' : '\n',
  );
}

function* pieces(
  snapshot: Snapshot,
  nodes: readonly number[],
  odd: readonly Oddity[],
  totals: Totals | undefined,
  groups: readonly object[] | undefined,
  beside: Beside | undefined,
  of: (node: Node) => object,
  end: string,
): Generator<string> {
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
    unfit_drops: header.unfit_drops,
    softnet_drops: header.softnet_drops,
    received: header.received,
    accepted: header.accepted,
    duplicate: header.duplicate,
    nodes: snapshot.count,
    capacity: header.capacity,
    uncertain_after_ms: Number(header.uncertain_after_ns) / 1e6,
    silent_after_ms: Number(header.silent_after_ns) / 1e6,
    refused: snapshot.refused,
    refused_senders: snapshot.senders.map(sender => senderJson(snapshot, sender)),
    links: snapshot.links.map(link => linkJson(snapshot, link)),
    event_last: header.event_last,
  };
  yield `{"schema":1,"board":${json(board)},"oddities":${json(odd.map(oddityJson))},`;
  if (beside !== undefined) yield `"slurm":${json(beside.head)},`;
  if (totals !== undefined) yield `"totals":${json(totals)},`;
  if (groups !== undefined) yield `"groups":${json(groups)},`;
  yield '"nodes":[';
  let separator = end;
  for (const index of nodes) {
    yield `${separator}${json(of(snapshot.node(index)))}`;
    separator = `,${end}`;
  }
  yield `${end}]}\n`;
}
