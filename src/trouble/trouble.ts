// The list of trouble: what is wrong now or was within the last hour, the worst first. Made here for all who show it.

import { type Ack, type AckClocks, type AckedEpisode, acknowledged } from '../acks/acks.js';
import type { Dimmed, TroubleInfo, TroubleJob } from '../acks/info.js';
import { hourTimes } from '../journalfile/state.js';
import type { Survey, Surveyed } from '../query/survey.js';
import { BRIDGES, drainText } from '../schedulerfile/drains.js';
import { isProblem, problemBit } from '../shm/problems.js';
import { instantOf, timeIn } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { compareNames, fold } from '../text/hostlists.js';
import { few, oneLine } from '../text/text.js';
import { type Anomaly, type Finding, ofSpells } from './finding.js';
import { findingsOf, type OtherSources, sentencesIn } from './findings.js';
import { KINDS, rankOf, type TroubleKind } from './kinds.js';

/** What the list is made from besides the board. */
export interface Besides extends OtherSources {
  readonly acks?: readonly Ack[] | undefined;
}

const JOBS_MOST = 8;
const REASONS_MOST = 4;

/** Dimmed lines come behind the bright ones, in this order. */
const DIMMED: readonly (Dimmed | undefined)[] = [undefined, 'acknowledged', 'ended', 'aside'];

/** The time so many ms before the look, in whole seconds. */
const instant = ({ snapshot }: Survey, agoMs: number) => timeIn({ tellsUtc: true }, instantOf(snapshot, agoMs));

/** The jobs that run on these nodes; undefined: they are not shown, or what is known of them is old. */
function jobsOn(nodes: readonly Surveyed[], { scheduler }: Besides): TroubleJob[] | undefined {
  if (scheduler?.isKnown !== true || scheduler.trouble !== undefined) return undefined;
  const found = new Map<string, TroubleJob>();
  for (const { name } of nodes)
    for (const { id, user, state } of scheduler.of(name)?.jobs ?? [])
      if (state === 'RUNNING') found.set(id, { id: oneLine(id), user: oneLine(user) });
  return [...found.values()].sort((a, b) => compareNames(a.id, b.id));
}

/** What keeps jobs off this node because an administrator wants it so; undefined: nothing that is known. */
function asideOf({ name, problems }: Surveyed, { scheduler }: Besides, look: Snapshot): string | undefined {
  if ((problems & problemBit('held')) !== 0) return 'put on hold';
  const { node } = scheduler?.of(name) ?? {};
  // Drains by our own bridge are no administrator's.
  if (node?.aside === undefined || node.reason?.startsWith(BRIDGES)) return undefined;
  return drainText(node, look) ?? oneLine(node.aside);
}

function setAside(nodes: readonly Surveyed[], besides: Besides, look: Snapshot): TroubleInfo['aside'] {
  const reasons = nodes.map(node => asideOf(node, besides, look));
  const those = nodes.filter((_, i) => reasons[i] !== undefined);
  if (those.length === 0) return undefined;
  const why = few([...new Set(reasons.filter(reason => reason !== undefined))], REASONS_MOST);
  return { nodes: fold(those.map(({ name }) => name)), count: those.length, why };
}

interface RankedTrouble {
  readonly info: TroubleInfo;
  readonly rank: number;
  /** Infinity: not known. */
  readonly sinceMs: number;
}

/** The clocks by which acknowledgements hold for what is found. */
function clocksOf({ snapshot: { realNs, nowMs, header } }: Survey): AckClocks {
  return { realMs: Number(realNs / 1_000_000n), monoMs: nowMs, boot: String(header.master_boot_id) };
}

function episodesOf({ nodes, spells, sinceMs, lastMs, flapping }: Finding): AckedEpisode[] {
  const isFlapping = flapping !== undefined;
  if (spells === undefined) {
    const beganMs = lastMs ?? sinceMs;
    return (nodes.length === 0 ? [''] : nodes.map(({ name }) => name)).map(name => ({ name, beganMs, isFlapping }));
  }
  return spells.map(({ node: { name }, beganMs, isFirst, count, sinceMs }) => ({
    ...{ name, isFlapping, count, countedMs: sinceMs },
    beganMs: isFirst ? undefined : beganMs,
  }));
}

/** `hourly`: how often each line began in the last hour, by its key, as far as a journal tells. */
function lineOf(
  found: Survey,
  finding: Finding,
  what: string,
  besides: Besides,
  hourly: ReadonlyMap<string, number> | undefined,
): RankedTrouble {
  const { kind, cause, nodes, sinceMs, lastMs, endedMs, endedFirstMs, times, flapping } = finding;
  const key = cause === undefined ? kind : `${kind}:${cause}`;
  const since = sinceMs === undefined ? undefined : instant(found, sinceMs);
  const last = lastMs === undefined ? undefined : instant(found, lastMs);
  const hasEnded = endedMs !== undefined;
  const jobs = hasEnded || nodes.length === 0 ? undefined : jobsOn(nodes, besides);
  // A drain that was to end is no reason to dim the line that says so.
  const aside = hasEnded || finding.cause === 'overdue' ? undefined : setAside(nodes, besides, found.snapshot);
  const { ack, before } = hasEnded ? {} : acknowledged(key, episodesOf(finding), besides.acks ?? [], clocksOf(found));
  const dim: Dimmed | undefined = hasEnded
    ? 'ended'
    : kind === 'held' || (aside !== undefined && aside.count === nodes.length)
      ? 'aside'
      : ack && 'acknowledged';
  // A silent node with jobs is worse than one without.
  const rank = rankOf(kind) + (kind === 'silent' && (jobs?.length ?? 0) === 0 ? 0.5 : 0);
  const inHour = hourly?.get(key);
  const bit = isProblem(kind) && !hasEnded ? problemBit(kind) : 0;
  const showing = nodes.filter(({ problems }) => (problems & bit) === bit).length;
  const info: TroubleInfo = {
    ...{ key, kind, severity: KINDS[kind].severity },
    ...(nodes.length > 0 && { nodes: fold(nodes.map(({ name }) => name)) }),
    ...{ count: nodes.length, what },
    ...(showing < nodes.length && { now: showing }),
    ...(since !== undefined && { since }),
    ...(last !== undefined && last !== since && { since_last: last }),
    ...(hasEnded && { ended: instant(found, endedMs) }),
    ...(endedFirstMs !== undefined && { ended_first: instant(found, endedFirstMs) }),
    ...(times !== undefined && { times: times.count, times_since: instant(found, times.sinceMs) }),
    // That something began once its since says.
    ...(flapping !== undefined && { flapping }),
    ...(inHour !== undefined && (times !== undefined || inHour > 1) && { times_hour: inHour }),
    ...(jobs !== undefined && { jobs: jobs.slice(0, JOBS_MOST) }),
    ...(jobs !== undefined && jobs.length > JOBS_MOST && { jobs_more: jobs.length - JOBS_MOST }),
    ...(aside !== undefined && { aside }),
    ...(ack !== undefined && {
      ack: { by: ack.by, until: ack.until, ...(ack.reason !== undefined && { reason: ack.reason }) },
    }),
    ...(before !== undefined && { ack_before: { by: before.ack.by, at: before.ack.at, last: before.isLast } }),
    ...(dim !== undefined && { dim }),
  };
  return { info, rank, sinceMs: sinceMs ?? Number.NEGATIVE_INFINITY };
}

/** Bright ones by rank, then those that began first; dimmed ones behind them. */
function compare(a: RankedTrouble, b: RankedTrouble): number {
  return (
    DIMMED.indexOf(a.info.dim) - DIMMED.indexOf(b.info.dim) ||
    a.rank - b.rank ||
    (a.sinceMs === b.sinceMs ? 0 : b.sinceMs - a.sinceMs) ||
    compareNames(a.info.key, b.info.key)
  );
}

/** What explains why nodes are not heard. */
const EXPLAINING: ReadonlySet<TroubleKind> = new Set(['refused', 'rival', 'clone', 'mirror']);

/** Without the groups that fell together because of something else, as a rack whose reports are all rejected. */
function withoutExplained(findings: readonly Finding[]): readonly Finding[] {
  const causes = findings.filter(({ kind }) => EXPLAINING.has(kind)).map(({ nodes }) => new Set(nodes));
  const isExplained = ({ kind, nodes, endedMs }: Finding) =>
    kind === 'together' && endedMs === undefined && causes.some(those => nodes.every(node => those.has(node)));
  return causes.length === 0 ? findings : findings.filter(finding => !isExplained(finding));
}

/** Nodes that are not heard because their link failed, or because they fell together: that line is their only one. */
function fallen(findings: readonly Finding[]): ReadonlySet<Surveyed> {
  const causes = findings.filter(
    ({ kind, endedMs }) => (kind === 'link' || kind === 'together') && endedMs === undefined,
  );
  return new Set(causes.flatMap(({ nodes }) => nodes.filter(({ state }) => state !== 'live')));
}

function linesOf(found: Survey, all: readonly Finding[], besides: Besides): TroubleInfo[] {
  const findings = withoutExplained(all);
  const fell = fallen(findings);
  const kinds = new Map<TroubleKind, number>();
  for (const { kind, what } of findings) if (what !== undefined) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  // A number for all nodes is true of a line's nodes if there is no other line. Those of a link the board counts.
  const { most } = hourTimes(besides.journals, found.snapshot);
  const lines = findings.flatMap(finding => {
    const { kind, what, nodes: all, spells } = finding;
    // Silences that something else explains are not among those of the kind.
    const isCause = kind === 'link' || kind === 'together' || kind === 'silent' || fell.size === 0;
    const nodes = isCause ? all : all.filter(node => !fell.has(node));
    if (what === undefined || nodes.length < Math.min(1, all.length)) return [];
    const left = spells?.filter(({ node }) => isCause || !fell.has(node));
    const those = { ...finding, nodes, ...(left !== undefined && nodes.length < all.length && ofSpells(left)) };
    return [lineOf(found, those, what, besides, kinds.get(kind) === 1 && kind !== 'link' ? most : undefined)];
  });
  // Two links may have had one name: the worse line is shown.
  const keys = new Set<string>();
  return lines
    .sort(compare)
    .map(({ info }) => info)
    .filter(({ key }) => !keys.has(key) && keys.add(key));
}

/** All that is said of the chosen nodes: in lines, and in sentences. */
export function troubleAndSentences(found: Survey, besides: Besides = {}): { trouble: TroubleInfo[]; odd: Anomaly[] } {
  const findings = findingsOf(found, besides);
  return { trouble: linesOf(found, findings, besides), odd: sentencesIn(findings) };
}

/** All lines about the chosen nodes. */
export function troubleOf(found: Survey, besides: Besides = {}): TroubleInfo[] {
  return linesOf(found, findingsOf(found, besides), besides);
}

/** The line for those who look at that job: that it runs there itself is not said. */
export function withoutJob({ jobs = [], ...line }: TroubleInfo, id: string): TroubleInfo {
  const others = jobs.filter(job => job.id !== oneLine(id));
  return others.length === 0 ? line : { ...line, jobs: others };
}
