// The JSON of status: shapes.ts says what every key means, docs/json.md what may change.

import type { TroubleInfo } from '../acks/info.js';
import { LastReports, type Saying, saidJson } from '../changes/lastwords.js';
import { bitNames, decodeReport, getter, type Report, shownFields } from '../layout/codec.js';
import { enums, structs } from '../layout/layout.gen.js';
import { type Column, chosenColumns } from '../query/columns.js';
import type { Surveyed } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { keysOf, mirrorOf, reloadFailed, sinceMs } from '../shm/header.js';
import { isInPieces, type LinkEntry, linkName, linkState, listenedMs } from '../shm/links.js';
import { mayBeRefused } from '../shm/liveness.js';
import type { Memory } from '../shm/memory.js';
import type { Problem } from '../shm/problems.js';
import { visitRates } from '../shm/rates.js';
import { refusalText } from '../shm/sentences.js';
import type { Node, SenderEntry, Snapshot, Totals } from '../shm/snapshot.js';
import { type Standing, standingOf } from '../shm/standing.js';
import { Page, type PreparedText } from '../text/buffer.js';
import { fold } from '../text/hostlists.js';
import { json } from '../text/output.js';
import { closeObject, keyOf, keyPart, objectPut, putKeyed } from '../text/putjson.js';
import { words } from '../text/tables.js';

/** The buffer size from which a write is worthwhile. */
const PAGE_BYTES = 1 << 18;
/** More than any node takes: 200 keys of 30 bytes, numbers of 20 digits, six bytes for each character of a text. */
const NODE_MOST = 1 << 16;

type Enum = keyof typeof enums;
/** Fields of a report whose numbers have words, and the enum of each. */
const WORDED = Object.entries<{ unit: string }>(structs.report.fields).flatMap(([field, { unit }]) =>
  unit.startsWith('enum ') ? [[field as keyof Report, enums[unit.slice(5) as Enum]] as const] : [],
);

/** The words for the numbers of a report: for an enum its word, for a mask the names of its bits. */
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

const { fields } = structs.report;

/** The bytes of a report that determine these words: where they begin, and how many. */
const NAMED: readonly (readonly [offset: number, count: number])[] = [
  ...WORDED.map(([field]) => [fields[field as keyof typeof fields].offset, 1] as const),
  [fields.gpu_count.offset, 1],
  [fields.flags.offset, 4],
  [fields.valid.offset, 8],
  [fields.gpu_flags.offset, fields.gpu_flags.count],
  ...Array.from({ length: fields.net.count }, (_, i) => {
    const at = fields.net.offset + i * structs.net_if.bytes;
    return [
      [at + structs.net_if.fields.name.offset, 1],
      [at + structs.net_if.fields.state.offset, 4],
    ] as const;
  }).flat(),
];
const WORD = 4;
/** The words of 32 bits with these bytes, each once, and in each a mask of them: words are compared faster. */
const NAMED_WORDS = new Map<number, number>();
for (const [offset, count] of NAMED)
  for (let at = offset; at < offset + count; at++) {
    const word = at - (at % WORD);
    NAMED_WORDS.set(word, (NAMED_WORDS.get(word) ?? 0) | (0xff << (8 * (at % WORD))));
  }
const WORDS_AT = Uint32Array.from(NAMED_WORDS.keys());
const MASKS = Int32Array.from(NAMED_WORDS.values());

/** The words that were found, by those bytes: nearly all nodes have the same few. */
const foundNames = new Map<string, Uint8Array>();
/** The most entries of `foundNames`: forged reports could bring more different bytes than there is room for. */
const MOST_FOUND = 1024;

/** The bytes of the last node that `foundNames` is asked about, and the words that were found for them. */
const lastNamed = new Int32Array(WORDS_AT.length);
let lastPart: Uint8Array | undefined;

/** Whether the bytes are those of the last node; stores them. */
function takeNamed(view: DataView, report: number): boolean {
  let differing = 0;
  for (let i = 0; i < WORDS_AT.length; i++) {
    const word = view.getInt32(report + (WORDS_AT[i] as number), true) & (MASKS[i] as number);
    differing |= word ^ (lastNamed[i] as number);
    lastNamed[i] = word;
  }
  return differing === 0;
}

function putNames(page: Page, view: DataView, report: number): void {
  if (!takeNamed(view, report) || lastPart === undefined) {
    const key = String.fromCharCode(...new Uint16Array(lastNamed.buffer));
    lastPart = foundNames.get(key) ?? Buffer.from(json(namesOf(decodeReport(view, report))));
    if (foundNames.size === MOST_FOUND) foundNames.clear();
    foundNames.set(key, lastPart);
  }
  page.part(lastPart);
}

const COUNTS = (
  [
    ['reports', 'accepted'],
    ...(['lost', 'unheard', 'duplicate', 'late', 'refused', 'restarts', 'reboots', 'resets'] as const).map(
      name => [name, name] as const,
    ),
  ] as const
).map(([name, field]) => ({ key: keyPart(name), get: getter('record', field) }));
const offsetOf = getter('record', 'offset_us');

const idText = (id: bigint) => id.toString(16).padStart(16, '0');
const bootIdOf = getter('report', 'boot_id');
/** Writes a report as `decodeReport` returns it, with `boot_id` in the form of ids in JSON. */
const putReport = objectPut(
  shownFields().map(({ name, get }) => ({
    name,
    get: name === 'boot_id' ? (view, base) => idText(bootIdOf(view, base)) : get,
  })),
);

const NAMES = words(
  'name state problems recently why age_ms link address boot_id offset_us last_refusal memory report names rates',
);
const KEYS = Object.fromEntries(NAMES.map(name => [name, keyPart(name)])) as Record<
  (typeof NAMES)[number],
  PreparedText
>;

/** What is remembered of a node; what never was since then is absent. */
function memoryJson(memory: Memory, unmeasured: readonly Problem[], saying: Saying | undefined = memory.lastWords) {
  const { sinceMs, heardMs, bootMs, recent, episodes, silence } = memory;
  const { count, beganMs, endedMs, stoodStillMs } = silence ?? {};
  return {
    since_ms: sinceMs,
    heard_ms: heardMs,
    boot_ms: bootMs,
    recent: recent.length > 0 ? recent : undefined,
    episodes:
      episodes.length > 0
        ? Object.fromEntries(
            episodes.map(({ problem, count, beganMs, seenMs }) => [
              problem,
              { count, began_ms: beganMs, seen_ms: seenMs },
            ]),
          )
        : undefined,
    unmeasured:
      unmeasured.length > 0
        ? Object.fromEntries(unmeasured.map(problem => [problem, memory.episode(problem)?.measuredMs]))
        : undefined,
    silence: silence && { count, began_ms: beganMs, ended_ms: endedMs, stood_still_ms: stoodStillMs },
    last_words: saying && saidJson(saying),
  };
}

/** Nothing if there are none. */
function putRates(page: Page, view: DataView, before: number | undefined, after: number | undefined): void {
  const begin = page.length;
  page.prepared(KEYS.rates);
  const behind = page.length;
  if (visitRates(view, before, after, (name, rate) => putKeyed(page, keyOf(name), rate))) closeObject(page, behind);
  else page.length = begin;
}

function putNode(page: Page, node: Node, reports: LastReports): void {
  const { view, state, reportAt: report, refusedSince, problems, recently, lastRefusal, memory } = node;
  const begin = page.length;
  putKeyed(page, KEYS.name, node.name);
  putKeyed(page, KEYS.state, state);
  putKeyed(page, KEYS.problems, problems.length > 0 ? problems : undefined);
  putKeyed(page, KEYS.recently, recently.length > 0 ? recently : undefined);
  putKeyed(page, KEYS.why, refusedSince && mayBeRefused(state) ? refusalText(refusedSince) : undefined);
  putKeyed(page, KEYS.age_ms, node.ageMs);
  putKeyed(page, KEYS.link, node.linkName);
  putKeyed(page, KEYS.address, node.address);
  for (const { key, get } of COUNTS) putKeyed(page, key, get(view, node.offset));
  if (report !== undefined) {
    putKeyed(page, KEYS.boot_id, idText(bootIdOf(view, report)));
    putKeyed(page, KEYS.offset_us, offsetOf(view, node.offset));
  }
  if (lastRefusal !== undefined) {
    const { reason, ageMs, offsetUs } = lastRefusal;
    putKeyed(page, KEYS.last_refusal, { reason, age_ms: ageMs, offset_us: offsetUs });
  }
  putKeyed(page, KEYS.memory, memory && memoryJson(memory, node.unmeasured, reports.of(node)));
  if (report !== undefined) {
    page.prepared(KEYS.report);
    putReport(page, view, report);
    page.prepared(KEYS.names);
    putNames(page, view, report);
  }
  putRates(page, view, node.previousAt, report);
  closeObject(page, begin);
}

/**
 * A chosen column in JSON: a field keeps its raw value, so an id, a mask or a time beyond 2^53 is a decimal string. A
 * whole number beyond it is absent, as in the report: readers would take it for exact.
 */
function chosenValue(node: Node, { name, field }: Column): unknown {
  if (name !== 'boot_id' && field.source === name && Object.hasOwn(structs.report.fields, name))
    return node.field(name as Parameters<Node['field']>[0]);
  const value = field.value(node);
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? undefined : value;
}

/** Only the chosen columns, with numbers without units. A value that was not measured is absent. */
function chosenJson(node: Node, columns: readonly Column[]) {
  const values = columns.map(column => [column.name, chosenValue(node, column)] as const);
  return { name: node.name, state: node.state, ...Object.fromEntries(values) };
}

/** Writes a node as an object of at most NODE_MOST bytes. */
type NodePut = (page: Page, node: Node) => void;

/**
 * Chooses what is written about a node: all that is known, or its name, its state and those columns. `all`: a look at
 * all nodes. Throws an InputError for a column that does not exist.
 */
function nodePut(columns: readonly string[] | undefined, all: Snapshot | undefined): NodePut {
  const reports = new LastReports(all);
  if (columns === undefined) return (page, node) => putNode(page, node, reports);
  const chosen = chosenColumns(columns);
  return (page, node) => page.part(Buffer.from(json(chosenJson(node, chosen))));
}

/** The rest of an object behind its first keys: the keys of `more`, however long their values are, and the bracket. */
function rest(more: object): string {
  const text = json(more).slice(1);
  return text === '}' ? text : `,${text}`;
}

/** The same as text with `more` at its end, for programs that write about few nodes at a time. */
export function nodeTeller(columns?: readonly string[], all?: Snapshot): (node: Node, more?: object) => string {
  const put = nodePut(columns, all);
  const page = new Page(NODE_MOST);
  return (node, more) => {
    page.length = 0;
    put(page, node);
    const text = Buffer.from(page.written).toString();
    return more === undefined ? text : text.slice(0, -1) + rest(more);
  };
}

function linkJson(snapshot: Snapshot, link: LinkEntry) {
  const { number, changedNs, nodes, heartbeatNs, darkSinceNs, darkNodes, downs, accepted, missed, address } = link;
  return {
    number,
    name: linkName(link),
    ...linkState(link),
    in_pieces: isInPieces(link) || undefined,
    unjoined_ms: link.unjoinedSinceNs === 0n ? undefined : sinceMs(snapshot, link.unjoinedSinceNs),
    since_ms: changedNs === 0n ? undefined : sinceMs(snapshot, changedNs),
    nodes,
    heartbeat_age_ms: heartbeatNs === 0n ? undefined : sinceMs(snapshot, heartbeatNs),
    listened_ms: listenedMs(link),
    dark: darkSinceNs === 0n ? undefined : { since_ms: sinceMs(snapshot, darkSinceNs), nodes: darkNodes },
    address: address === '' ? undefined : address,
    downs,
    accepted,
    missed,
  };
}

function mirrorJson(snapshot: Snapshot) {
  const of = mirrorOf(snapshot);
  if (of === undefined) return undefined;
  const { site, master, heard, others, behindMs, vetoed } = of;
  return { site, master, heard, others, behind_ms: behindMs, vetoed };
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

/** A sentence about nodes, or about none. */
interface Sentence {
  readonly kind: string;
  readonly text: string;
  readonly nodes: readonly Surveyed[];
}

function anomalyJson({ kind, nodes, text }: Sentence) {
  return { kind, nodes: nodes.length === 0 ? undefined : fold(nodes.map(({ name }) => name)), text };
}

/** What the receiver could not read again; undefined: it could. */
function reloadJson(snapshot: Snapshot): object | undefined {
  const what = reloadFailed(snapshot);
  if (what === undefined) return undefined;
  return { what, age_ms: sinceMs(snapshot, snapshot.header.reload_failed_ns ?? 0n) };
}

/** What is written about the board and its receiver. */
export function boardJson(snapshot: Snapshot) {
  const { header, path, stalled, closed, retired, filtering } = snapshot;
  const { kernel_drops, unfit_drops, softnet_drops, received, accepted, duplicate } = header;
  return {
    path,
    cluster: header.cluster_name,
    instance: header.instance,
    pid: Number(header.pid),
    heartbeat_age_ms: snapshot.heartbeatAgeMs,
    listened_ms: snapshot.listenedMs,
    ...{ stalled, closed, retired, filtering },
    ...{ kernel_drops, unfit_drops, softnet_drops, received, accepted, duplicate },
    nodes: snapshot.count,
    capacity: header.capacity,
    uncertain_after_ms: Number(header.uncertain_after_ns) / 1e6,
    silent_after_ms: Number(header.silent_after_ns) / 1e6,
    longest_interval_ms: Number(header.longest_interval_ms),
    refused: snapshot.refused,
    refused_senders: snapshot.senders.map(sender => senderJson(snapshot, sender)),
    links: snapshot.links.map(link => linkJson(snapshot, link)),
    event_last: header.event_last,
    keys: keysOf(snapshot),
    reload_failed: reloadJson(snapshot),
    mirror: mirrorJson(snapshot),
  };
}

interface StatusContents {
  /** By default that of `nodes`. */
  readonly standing?: Standing;
  readonly nodes: readonly Surveyed[];
  readonly odd: readonly Sentence[];
  readonly trouble: readonly TroubleInfo[];
  readonly totals?: Totals | undefined;
  readonly groups?: readonly object[] | undefined;
  /** The nodes of a user who has the name of a node that is asked for. */
  readonly of_user?: readonly string[] | undefined;
}

interface Form {
  /** Only these nodes. */
  readonly columns?: readonly string[] | undefined;
  /** What Slurm says about each node. */
  readonly slurm?: SchedulerView | undefined;
  readonly inOneLine?: boolean;
}

/**
 * One object, piece by piece; each piece is valid until the next one is asked for, because a board of 10,000 nodes is
 * 40 MB of JSON. `contents` is called after the first piece. Throws an InputError for a column that does not exist.
 */
export function jsonPieces(
  snapshot: Snapshot,
  contents: () => StatusContents,
  { columns, slurm, inOneLine = false }: Form = {},
): Iterable<string | Uint8Array> {
  return pieces(snapshot, contents, slurm, nodePut(columns, snapshot), inOneLine ? '' : '\n');
}

function* pieces(
  snapshot: Snapshot,
  contents: () => StatusContents,
  slurm: SchedulerView | undefined,
  put: NodePut,
  end: string,
): Generator<string | Uint8Array> {
  // As bytes, which are sent at once: the reader has something to read while the nodes are compared and sorted.
  yield Buffer.from(`{"schema":1,"board":${json(boardJson(snapshot))}`);
  const { standing, nodes, odd, trouble, totals, groups, of_user } = contents();
  yield `,"counts":${json(standing ?? standingOf(snapshot, nodes))},"anomalies":${json(odd.map(anomalyJson))},"trouble":${json(trouble)},`;
  if (slurm !== undefined) yield `"slurm":${json(slurm.head)},`;
  if (totals !== undefined) yield `"totals":${json(totals)},`;
  if (groups !== undefined) yield `"groups":${json(groups)},`;
  if (of_user !== undefined) yield `"of_user":${json(of_user)},`;
  yield '"nodes":[';
  const page = new Page(PAGE_BYTES);
  let separator = end;
  for (const { index } of nodes) {
    const node = snapshot.node(index);
    page.text(separator);
    put(page, node);
    separator = `,${end}`;
    const slurmNode = slurm?.json(node.name);
    if (slurmNode !== undefined) {
      // A node may have so many jobs that no page has room for them.
      page.length--;
      const behind = Buffer.from(rest({ slurm: slurmNode }));
      if (behind.length > page.room) {
        yield page.written;
        page.length = 0;
        yield behind;
      } else page.part(behind);
    }
    if (page.room > NODE_MOST) continue;
    yield page.written;
    page.length = 0;
  }
  page.text(`${end}]}\n`);
  yield page.written;
}
