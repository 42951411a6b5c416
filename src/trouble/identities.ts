// Names that are in doubt: reports that are rejected in the name of a node, and two machines with one name.

import { enums } from '../layout/layout.gen.js';
import { sentences } from '../layout/wording.gen.js';
import type { Surveyed } from '../query/survey.js';
import { sinceMs } from '../shm/header.js';
import { mayBeRefused } from '../shm/liveness.js';
import { LATELY_MS } from '../shm/refusal.js';
import { moment, reasonText } from '../shm/sentences.js';
import { type Clone, SENDERS_EACH, type SenderEntry, type Snapshot } from '../shm/snapshot.js';
import { formatDuration } from '../text/durations.js';
import { groupBy } from '../text/maps.js';
import { bySource, type RejectedSource } from '../text/rejectedsources.js';
import { counted, few, oneLine } from '../text/text.js';
import { type Anomaly, EACH_MOST, type Finding, sentencesOf, shown } from './finding.js';
import { isUnproved, oftenText, type RefusedNode, refusedTexts, sourceReason, sourceText } from './rejections.js';

/** That two machines report as that node. */
function cloneText(board: Snapshot, { name }: Surveyed, { addresses, sinceMs, isProved }: Clone): string {
  const [address = '', other] = addresses;
  const from =
    other === undefined ? sentences.cloneOneAddress({ address }) : sentences.cloneAddresses({ address, other });
  return sentences.clone({ name: oneLine(name), moment: moment(board, sinceMs), from, forged: !isProved });
}

/** Nodes that are not heard, in whose name reports are rejected. `rivals`: those with a sentence on duplicates. */
export function refused(snapshot: Snapshot, nodes: readonly Surveyed[], rivals: ReadonlySet<Surveyed>): Finding[] {
  if (Object.keys(snapshot.refused).length === 0) return [];
  const found: (RefusedNode & { node: Surveyed })[] = [];
  for (const node of nodes) {
    const { name, state, index } = node;
    const refusal = mayBeRefused(state) ? snapshot.refusedSinceOf(index) : undefined;
    if (refusal === undefined || (refusal.reason === 'rival' && rivals.has(node))) continue;
    found.push({ name, state, refusal, node });
  }
  const byReason = new Map<string, Finding>();
  for (const { text, nodes: some } of refusedTexts(found)) {
    const { refusal } = some[0] as (typeof found)[number];
    const why = refusal.reason === 'clock' ? 'its clock is off' : reasonText(refusal);
    const what = `reports in its name are rejected: ${why}`;
    const those = some.map(({ node }) => node);
    const { nodes: before = [], sentences = [] } = byReason.get(refusal.reason) ?? {};
    byReason.set(refusal.reason, {
      ...{ kind: 'refused', cause: refusal.reason, nodes: [...before, ...those], what },
      sentences: [...sentences, { kind: 'refused', nodes: those, text }],
    });
  }
  return [...byReason.values()];
}

export const RIVAL = enums.reason.indexOf('rival');

/** More than one machine uses a name: whose reports are accepted, and whose are rejected. */
function rivalText(snapshot: Snapshot, { name, index }: Surveyed, refused: readonly SenderEntry[]): string {
  // A half-written record has no address.
  const node = snapshot.node(index);
  const address = node.address || 'one';
  const others = refused.filter(entry => entry.address !== address).map(entry => entry.address);
  const before = node.addressBefore;
  const isBefore = before !== undefined && before.sinceMs <= LATELY_MS && !others.includes(before.address);
  const [all] = bySource(refused.map(entry => ({ ...entry, address: '' }))) as [RejectedSource];
  const often = `rival, ${oftenText(snapshot, all)}`;
  const advice = 'give each its own name';
  // The rejected sender owns the name by now: either both have the same address, or the other was last heard long ago.
  if (others.length === 0 && !isBefore)
    return (
      `${oneLine(name)}: two machines or senders have reported under this name, and ${address}, which holds it now, was itself ` +
      `rejected in between (${often}); ${advice}`
    );
  const isOver = isBefore || sinceMs(snapshot, all.lastNs) > Number(snapshot.evidence.silentAfterNs) / 1e6;
  const is = isOver ? (others.length === 1 ? 'was' : 'were') : others.length === 1 ? 'is' : 'are';
  const parts = [
    `${address} is trusted${others.length === 0 ? ` and was rejected before (${often})` : ''}`,
    ...(others.length === 0 ? [] : [`${others.join(' and ')} ${is} rejected (${often})`]),
    ...(isBefore ? [`${before.address} was trusted until ${formatDuration(before.sinceMs)} ago`] : []),
  ];
  const count = 1 + others.length + Number(isBefore);
  const report = isOver ? 'have reported' : 'report';
  return `${oneLine(name)}: ${count} machines ${report} under this name: ${parts.join(', ')}; ${advice}`;
}

/** Names that more than one machine uses, as recent rejections show. */
export function rivals(snapshot: Snapshot, lately: readonly SenderEntry[], nodes: readonly Surveyed[]): Finding[] {
  const byName = groupBy(
    lately.filter(({ reason }) => reason === RIVAL),
    ({ name }) => name,
  );
  const named = byName.size === 0 ? [] : nodes.filter(({ name }) => byName.has(name));
  if (named.length === 0) return [];
  const sentences = sentencesOf(
    'rival',
    named.map(node => ({ nodes: [node] as const })),
    ({ nodes: [node] }) => rivalText(snapshot, node, byName.get(node.name) ?? []),
    more =>
      `two machines each report under ${counted(more.length, 'more name')} (${shown(more)}): see refused_senders in status --json`,
  );
  const what = 'more than one machine reports under this name: give each its own name';
  return [{ kind: 'rival', nodes: named, what, sentences }];
}

/** Nodes as which two machines report. */
export function clones(snapshot: Snapshot, nodes: readonly Surveyed[]): Finding[] {
  // Nearly always there has never been one.
  if (snapshot.header.clone_ns === 0n) return [];
  const cloned = nodes.flatMap(node => {
    const clone = snapshot.cloneOf(node.index);
    return clone === undefined ? [] : [{ nodes: [node] as const, clone }];
  });
  if (cloned.length === 0) return [];
  const found = sentencesOf(
    'clone',
    cloned,
    ({ nodes: [node], clone }) => cloneText(snapshot, node, clone),
    more => sentences.clonesMore({ count: more.length, names: shown(more) }),
  );
  const what = 'two machines report as one: one is a copy of the other; stop one, or give it its own name';
  const sinceMs = cloned.reduce((most, { clone }) => Math.max(most, clone.sinceMs), 0);
  return [{ kind: 'clone', nodes: cloned.flatMap(({ nodes }) => nodes), what, sinceMs, sentences: found }];
}

/** From where reports came that were rejected, as whom if all of them claim one name, and why. */
function senderText(sources: readonly RejectedSource[]): string {
  // The most recent one comes first, and that is another at each look.
  const addresses = [...new Set(sources.map(({ address }) => address))].sort();
  const reasons = [...new Set(sources.map(sourceReason))].join(', ');
  // The commonest mistake with new nodes.
  const hint = reasons.includes('cluster (') ? '; compare --cluster here and there' : '';
  const [name, other] = new Set(sources.flatMap(({ names }) => (names.length > 0 ? names : [''])));
  const as = !name || other !== undefined ? '' : ` as ${oneLine(name)}`;
  return `reports from ${few(addresses, EACH_MOST)}${as} are rejected: ${reasons}${hint}`;
}

/** The sources of recent rejections, the most recent first. */
export function senders(snapshot: Snapshot, lately: readonly SenderEntry[], nodes: readonly Surveyed[]): Finding[] {
  const sources = bySource(lately);
  if (sources.length === 0) return [];
  const found = sources.slice(0, EACH_MOST).map((source): Anomaly => {
    const text = sourceText(snapshot, source);
    const names = new Set(source.names);
    if (isUnproved(source)) return { kind: 'sender', nodes: [], claims: source.names, text };
    return { kind: 'sender', nodes: names.size === 0 ? [] : nodes.filter(({ name }) => names.has(name)), text };
  });
  const finding: Finding = {
    ...{ kind: 'sender', nodes: [], what: senderText(sources), sentences: found },
    sinceMs: Math.max(...sources.map(({ firstNs }) => sinceMs(snapshot, firstNs))),
  };
  const more = sources.length - found.length;
  if (more === 0) return [finding];
  // Where there is no room for more entries of a reason, nobody knows how many senders there are.
  const full = enums.reason.filter((_, i) => lately.filter(({ reason }) => reason === i).length >= SENDERS_EACH);
  const text =
    full.length === 0
      ? `${more} more ${more === 1 ? 'sender was' : 'senders were'} rejected within the last minute: see refused_senders in status --json`
      : `${SENDERS_EACH} senders or more were rejected within the last minute as ${full.join(', and as many as ')}, and the board has room for no more of them: see refused_senders in status --json`;
  found.push({ kind: 'sender', nodes: [], text });
  return [finding];
}
