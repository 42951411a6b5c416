// The rules for each node: drain it, give it back, or leave it, according to the board, Slurm, and the journal. Pure,
// so that each rule is a row of a test. Without a rule, nothing is done.

import type { Matched } from '../../schedulerfile/matching.js';
import type { HoldOrder, OrderedNode } from '../../schedulerfile/scheduler.js';
import type { Problem } from '../../shm/problems.js';
import { getOrInsert } from '../../text/maps.js';
import { words } from '../../text/tables.js';
import { lowerCase, shellWord } from '../../text/text.js';
import type { BoardLook, SeenNode } from './boardlook.js';
import { type BrakeCount, limits } from './massbrake.js';
import { carries, isBeingGiven, type Ledger } from './ownership.js';
import type { Claim, Incident } from './records.js';

/** The administrator's settings. Times in ms. */
export interface Policy {
  readonly drainAfterMs: number;
  readonly resumeAfterMs: number;
  /** Problems for which a live node is drained; empty: none. */
  readonly drainUnhealthy: readonly Problem[];
  /** Whether unsigned reports are evidence. */
  readonly unsigned: boolean;
  /** Whether a node with jobs is drained only if Slurm does not hear it either. */
  readonly witness: boolean;
  /** The group of a node, by its name on the board. */
  readonly groupOf: (name: string) => string | undefined;
}

/** Problems so severe that no job should start there. */
export const FATAL: readonly Problem[] = words('held bad_health root_readonly memory_errors gpu_lost gpu_errors');

/** What the bridge keeps about a node from one look to the next; times of CLOCK_MONOTONIC, ms. */
export interface Watched {
  readonly incident?: Incident | undefined;
  readonly looks: number;
  /** Since when its condition is the same without a break: the incident, or that it is well. */
  readonly sinceMs: number;
  readonly isWell: boolean;
}

/** Everything that one decision depends on. */
export interface Situation {
  readonly policy: Policy;
  readonly board: BoardLook;
  readonly slurm: ReadonlyMap<string, OrderedNode>;
  readonly matched: Matched;
  readonly ledger: Ledger;
  readonly watched: ReadonlyMap<string, Watched>;
  /** Since when all looks were evidence, CLOCK_MONOTONIC. */
  readonly watchingSinceMs: number;
  readonly monoMs: number;
  readonly nowMs: number;
  /** NodeNames for whose silence the gate has just refused a job: they need not be silent for long. */
  readonly requested: ReadonlySet<string>;
}

/** One act. */
export interface BridgeOrder extends HoldOrder {
  readonly board: string;
  readonly id: string;
  readonly incident: Incident;
  readonly bootId: string;
  readonly why: string;
}

/** `not yet`: not worth a line. */
export interface Left {
  readonly why: string;
  readonly isEarly?: boolean;
  /** Somebody else has decided about it, for the whole incident. */
  readonly isTheirs?: boolean;
}

const early = (why: string): Left => ({ why, isEarly: true });

// ---- the incident ----

export const silenceOf = ({ bootId, reports }: SeenNode): Incident => `silent ${bootId} ${reports}`;

function problemOf({ problems }: SeenNode, { drainUnhealthy }: Policy): Problem | undefined {
  return problems.find(problem => drainUnhealthy.includes(problem));
}

/** The present incident of a node for which it may be drained. */
export function incidentOf(seen: SeenNode, policy: Policy): Incident | undefined {
  if (seen.state === 'silent') return silenceOf(seen);
  const problem = seen.state === 'live' ? problemOf(seen, policy) : undefined;
  return problem === undefined ? undefined : `unhealthy ${seen.bootId} ${problem}`;
}

/**
 * Why nothing says that it is without a problem for which it may be drained, or was: not its reports, nor the board's
 * memory. A boot alone mends nothing.
 */
function unmeasuredOf(claim: Claim | undefined, seen: SeenNode, { drainUnhealthy }: Policy): string | undefined {
  const was = claim?.incident.startsWith('unhealthy ') ? claim.incident.split(' ').at(-1) : undefined;
  const gone = seen.unsettled.find(problem => problem === was || drainUnhealthy.includes(problem));
  const problem = gone ?? seen.unknown.find(problem => problem === was);
  const byHand =
    gone === undefined
      ? `or resume it yourself: scontrol update ${shellWord(`nodename=${claim?.node}`)} state=resume`
      : `or after beoboard clear -w ${seen.name}`;
  return problem && `${problem} is not measured: it returns when that is measured as absent, ${byHand}`;
}

// ---- the next look ----

/**
 * What is kept after a look that is evidence. `claims`: our drains. A node that is neither in an incident nor well is
 * forgotten.
 */
export function watch(
  before: ReadonlyMap<string, Watched>,
  { nodes }: BoardLook,
  policy: Policy,
  monoMs: number,
  claims: Iterable<Claim> = [],
): Map<string, Watched> {
  const next = new Map<string, Watched>();
  const drained = new Map(Array.from(claims, claim => [claim.board, claim]));
  for (const [name, seen] of nodes) {
    const incident = incidentOf(seen, policy);
    const isWell =
      seen.state === 'live' && incident === undefined && unmeasuredOf(drained.get(name), seen, policy) === undefined;
    if (incident === undefined && !isWell) continue;
    const was = before.get(name);
    const same = was !== undefined && was.incident === incident && was.isWell === isWell;
    next.set(name, same ? { ...was, looks: was.looks + 1 } : { incident, isWell, looks: 1, sinceMs: monoMs });
  }
  return next;
}

// ---- which nodes are meant ----

/**
 * Leaves out nodes whose name no order can mean, and those that the board has twice: by the NodeName and by the host's
 * name. Anybody who can send a datagram may have invented one of them, and nobody knows which.
 */
export function withoutDoubtful(
  matched: Matched,
  slurm: ReadonlyMap<string, OrderedNode>,
  board: ReadonlyMap<string, unknown>,
  exceptions: Readonly<Record<string, string>>,
): Matched {
  const hosts = new Map<string, number>();
  for (const { name, host = name } of slurm.values()) hosts.set(lowerCase(host), (hosts.get(lowerCase(host)) ?? 0) + 1);
  const isDoubtful = (nodeName: string, name: string) => {
    const { host: listed, unorderable } = slurm.get(nodeName) ?? {};
    if (unorderable !== undefined) return true;
    const host = listed === undefined ? undefined : lowerCase(listed);
    if (host === undefined || Object.hasOwn(exceptions, nodeName)) return false;
    return host !== name && hosts.get(host) === 1 && board.has(host) && !matched.nodeName.has(host);
  };
  return { ...matched, boardName: new Map([...matched.boardName].filter(([node, name]) => !isDoubtful(node, name))) };
}

// ---- what is counted ----

/** Whether a silent node counts for the brakes: not in power saving, nor if somebody took it out before that. */
function countsAsSilent(seen: SeenNode, node: OrderedNode, claim: Claim | undefined): boolean {
  if (seen.state !== 'silent' || node.asleep) return false;
  if (claim !== undefined && carries(node, claim)) return true;
  const isOut = node.held || node.failed || node.base === 'down';
  return !(isOut && node.reason_s !== undefined && node.reason_s * 1000 < seen.lastRealMs);
}

const MINUTE_MS = 60_000;

/** What may fall with it as one: its link's nodes, and its group's. */
function groupsOf({ link, name }: SeenNode, { policy, board }: Pick<Situation, 'policy' | 'board'>): string[] {
  const by = board.links.get(link);
  return [by && `link ${by.name}`, policy.groupOf(name)].filter(group => group !== undefined);
}

/** All counts for the brakes. Only nodes that board and Slurm know count, so that invented names have no effect. */
export function countsOf({ policy, board, slurm, matched, ledger }: Situation): BrakeCount[] {
  let [silent, fresh, unhealthy] = [0, 0, 0];
  const groups = new Map<string, { nodes: number; silent: number }>();
  for (const [nodeName, name] of matched.boardName) {
    const seen = board.nodes.get(name);
    const node = slurm.get(nodeName);
    if (seen === undefined || node === undefined) continue;
    const counts = countsAsSilent(seen, ledger.withoutLifted(node), ledger.claims.get(nodeName));
    if (counts) silent++;
    if (counts && seen.silentForMs < MINUTE_MS) fresh++;
    if (seen.state === 'live' && problemOf(seen, policy) !== undefined) unhealthy++;
    for (const group of groupsOf(seen, { policy, board })) {
      const so = getOrInsert(groups, group, () => ({ nodes: 0, silent: 0 }));
      so.nodes++;
      if (counts) so.silent++;
    }
  }
  const nodes = matched.boardName.size;
  return [
    { brake: 'silent', value: silent, limit: limits.silent(nodes) },
    { brake: 'new', value: fresh, limit: limits.new(nodes) },
    { brake: 'unhealthy', value: unhealthy, limit: limits.unhealthy(nodes) },
    ...[...groups].map(([name, so]) => ({ brake: `group ${name}`, value: so.silent, limit: limits.group(so.nodes) })),
  ];
}

/** The count of our own drains plus one: its brake goes on only when there would be another drain. */
export function ownCount({ matched, ledger }: Situation, more: number): BrakeCount {
  return { brake: 'own', value: ledger.claims.size + more, limit: limits.own(matched.boardName.size) };
}

const brakesFor = (seen: SeenNode, situation: Situation) => [
  ...['silent', 'new', 'own', 'unhealthy'],
  ...groupsOf(seen, situation).map(group => `group ${group}`),
];

// ---- whether to drain ----

/** For less time than this no other link may have been in trouble. */
const LINK_SETTLES_MS = 600_000;

/** Trouble with links that exculpates a silent node. */
function linkObjection(seen: SeenNode, { links }: BoardLook): string | undefined {
  const own = links.get(seen.link);
  if (own === undefined) return 'nothing is known about its link';
  if (own.trouble !== undefined) return `its link ${own.name} is ${own.trouble.what}`;
  for (const { name, trouble } of links.values())
    if (trouble !== undefined && trouble.forMs < LINK_SETTLES_MS)
      return `link ${name} is ${trouble.what}, for less than 10 minutes`;
  return undefined;
}

/** What in Slurm's own view speaks against a drain. */
function slurmObjection(seen: SeenNode, node: OrderedNode, policy: Policy): Left | undefined {
  const { base, state, reason } = node;
  if (base === undefined) return { why: `Slurm's state ${state} has an unknown word` };
  const isTheirs = (node.held ?? node.failed ?? false) || (reason !== undefined && !node.own_reason);
  if (!node.may_hold) return { why: `it is ${state} in Slurm`, isTheirs };
  if (reason !== undefined) return { why: 'it has a reason in Slurm', isTheirs };
  if (seen.state === 'silent' && (node.daemon_start_s ?? 0) * 1000 > seen.lastRealMs)
    return { why: 'its slurmd has started since its last report: Slurm has later news of it' };
  if (seen.state === 'silent' && policy.witness && base !== 'idle' && !node.unheard)
    return { why: 'it has jobs, and Slurm still hears from it' };
  return undefined;
}

/** What in the board's view speaks against any act on a node. */
function evidenceObjection(seen: SeenNode, { unsigned }: Policy): string | undefined {
  return unsigned || seen.isProved ? undefined : 'its reports are not signed; see --unsigned';
}

/** Why a node that is silent or unhealthy is not drained; undefined if it may be. The brakes are checked afterwards. */
export function objectionToDrain(
  seen: SeenNode,
  node: OrderedNode,
  situation: Pick<Situation, 'policy' | 'board' | 'ledger' | 'requested'>,
): Left | undefined {
  const { policy, board, ledger, requested } = situation;
  if (board.trouble !== undefined) return { why: board.trouble };
  const incident = incidentOf(seen, policy);
  if (incident === undefined) return early(`it is ${seen.state}`);
  if (ledger.claims.has(node.name)) return early('the bridge has drained it already');
  if (ledger.isSettled(node.name, incident)) return early('the bridge or somebody else has acted on it already');
  const slurm = slurmObjection(seen, ledger.withoutLifted(node), policy);
  if (slurm?.isTheirs) return slurm;
  if (seen.state === 'silent' && seen.silentForMs < policy.drainAfterMs && !requested.has(node.name))
    return early('it is not silent for long');
  const evidence =
    evidenceObjection(seen, policy) ?? (seen.state === 'silent' ? linkObjection(seen, board) : undefined);
  return evidence === undefined ? slurm : { why: evidence };
}

// ---- whether to give back ----

/** For how long a node has to be live before it is given back: twice as long for each time in the last 24 hours. */
export function waitToReturn({ resumeAfterMs }: Policy, returns: number): number {
  return Math.min(Math.max(3_600_000, resumeAfterMs), resumeAfterMs * 2 ** Math.min(returns, 30));
}

/** How a node of ours is given back, or why not yet. One that is DOWN stays DOWN: an administrator may have set it so. */
export function returnOf(
  claim: Claim,
  seen: SeenNode,
  node: OrderedNode,
  situation: Pick<Situation, 'policy' | 'board' | 'nowMs'>,
): { readonly act: 'undrain'; readonly why: string } | Left {
  const { policy, board, nowMs } = situation;
  if (board.trouble !== undefined) return { why: board.trouble };
  if (claim.phase !== 'held' || !carries(node, claim)) return early('its drain is not known to be ours');
  if (isBeingGiven(claim, nowMs)) return early('it is being resumed');
  if (seen.state !== 'live') return early(`it is ${seen.state}`);
  if (incidentOf(seen, policy) !== undefined) return early('it is unhealthy');
  const unmeasured = unmeasuredOf(claim, seen, policy);
  if (unmeasured !== undefined) return { why: unmeasured };
  const evidence = evidenceObjection(seen, policy);
  if (evidence !== undefined) return { why: evidence };
  if (node.unheard) return early('its slurmd does not respond');
  if (!node.may_release) return { why: `it is ${node.state} in Slurm` };
  if (node.base !== 'down') return { act: 'undrain', why: 'it is live' };
  return { act: 'undrain', why: 'it is live; it stays DOWN in Slurm: resume it yourself' };
}

// ---- all nodes ----

/** Two at a time, so that somebody can still intervene. */
const DRAINS_A_TICK = 2;
/** Each act takes some calls of scontrol. */
const RETURNS_A_TICK = 10;
const LOOKS = 2;

interface Decision {
  readonly drains: readonly BridgeOrder[];
  readonly returns: readonly BridgeOrder[];
  readonly wanted: readonly BridgeOrder[];
  readonly left: readonly { readonly node: string; readonly incident: Incident; readonly left: Left }[];
  readonly well: readonly string[];
}

/** Six digits that are always the same for the same incident of the same node. */
type MakeId = (node: string, incident: Incident) => string;

const clock = (ms: number) => new Date(ms).toISOString().slice(11, 19);

/** The reason in Slurm beside the drain: one line of printable ASCII, under 80 characters. */
function reasonOf(seen: SeenNode, incident: Incident, id: string, sinceMs: number): string {
  if (seen.state === 'silent') return `beoboard: silent since ${clock(seen.lastRealMs)}Z #${id}`;
  return `beoboard: unhealthy (${incident.split(' ').at(-1)}) since ${clock(sinceMs)}Z #${id}`;
}

/** What to do now. `isOn`: whether a brake is on. `isEarly`: only requested nodes may be drained. */
export function decide(
  situation: Situation,
  makeId: MakeId,
  isOn: (brake: string) => boolean,
  isEarly = false,
): Decision {
  const { policy, board, slurm, matched, ledger, watched, watchingSinceMs, monoMs, nowMs, requested } = situation;
  const wanted: (BridgeOrder & { seen: SeenNode })[] = [];
  const left: { node: string; incident: Incident; left: Left }[] = [];
  const returns: BridgeOrder[] = [];
  const well: string[] = [];
  if (board.trouble !== undefined) return { drains: [], returns, wanted, left, well };
  for (const [nodeName, name] of matched.boardName) {
    const seen = board.nodes.get(name);
    const node = slurm.get(nodeName);
    const was = watched.get(name);
    if (seen === undefined || node === undefined) continue;
    if (was?.isWell && ledger.hasSettledProblem(nodeName) && !ledger.claims.has(nodeName)) well.push(nodeName);
    const claim = ledger.claims.get(nodeName);
    if (claim !== undefined && claim.board === name) {
      const way = returnOf(claim, seen, node, situation);
      const { id, incident, bootId, reason } = claim;
      if (!('act' in way)) {
        if (!way.isEarly) left.push({ node: nodeName, incident, left: way });
      } else if (was?.isWell && monoMs - was.sinceMs >= waitToReturn(policy, ledger.returnsOf(nodeName, nowMs)))
        returns.push({ ...way, node: nodeName, board: name, id, incident, bootId, reason });
      continue;
    }
    const incident = was?.incident;
    if (claim !== undefined || incident === undefined || was === undefined) continue;
    const objection = objectionToDrain(seen, node, situation);
    if (objection !== undefined) {
      if (!objection.isEarly) left.push({ node: nodeName, incident, left: objection });
      continue;
    }
    // The duration of a silence is known from the board. A problem, or an incident that a new bridge finds, counts
    // from when it was watched.
    const watchedMs = monoMs - (seen.state === 'silent' ? watchingSinceMs : was.sinceMs);
    const isRequested = seen.state === 'silent' && requested.has(nodeName);
    if (!isRequested && (was.looks < LOOKS || watchedMs < policy.drainAfterMs)) continue;
    const id = makeId(nodeName, incident);
    const reason = reasonOf(seen, incident, id, nowMs - (monoMs - was.sinceMs));
    const because = isRequested ? ', and a job was refused because of it' : '';
    const why =
      seen.state === 'silent'
        ? `silent for ${Math.round(seen.unheardMs / 1000)} s${because}`
        : `unhealthy: ${incident.split(' ').at(-1)}`;
    wanted.push({ act: 'drain', node: nodeName, board: name, id, incident, bootId: seen.bootId, reason, why, seen });
  }
  wanted.sort((a, b) => b.seen.unheardMs - a.seen.unheardMs || (a.node < b.node ? -1 : 1));
  const isDue = ({ node }: BridgeOrder) => !isEarly || requested.has(node);
  const allowed = wanted.filter(order => isDue(order) && !brakesFor(order.seen, situation).some(isOn));
  return { drains: allowed.slice(0, DRAINS_A_TICK), returns: returns.slice(0, RETURNS_A_TICK), wanted, left, well };
}
