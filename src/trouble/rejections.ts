// Sentences about rejections: what came in the name of a node that is not heard, and sources whose reports prove nothing.
// Pure.

import { enums } from '../layout/layout.gen.js';
import { reasonWords, sentences } from '../layout/wording.gen.js';
import { sinceMs } from '../shm/header.js';
import type { State } from '../shm/liveness.js';
import { LATELY_MS, type Rejection } from '../shm/refusal.js';
import { CLOCK_UNMEASURED, distanceText, plural, reasonText, refusalText, reloadText } from '../shm/sentences.js';
import { SENDERS_EACH, type SenderEntry, type Snapshot } from '../shm/snapshot.js';
import { formatDuration } from '../text/durations.js';
import { shownNames } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import type { RejectedSource } from '../text/rejectedsources.js';
import { oneLine } from '../text/text.js';

/** A node in whose name a report was rejected after its newest one. */
export interface RefusedNode {
  readonly name: string;
  readonly state: State;
  readonly refusal: Rejection;
}

function textOf(nodes: readonly RefusedNode[]): string {
  const [first] = nodes as [RefusedNode];
  const { state, refusal } = first;
  if (nodes.length === 1) {
    const one = { name: oneLine(first.name), state, refusal: refusalText(refusal) };
    return state === 'never' ? sentences.refusedNever(one) : sentences.refused(one);
  }
  let [farUs, youngMs] = [0, LATELY_MS];
  for (const { refusal } of nodes)
    [farUs, youngMs] = [Math.max(farUs, Math.abs(refusal.offsetUs)), Math.min(youngMs, refusal.ageMs)];
  const distance = distanceText(farUs / 1e6);
  const all = {
    names: shownNames(nodes.map(({ name }) => name)),
    state,
    why: refusal.reason === 'clock' ? sentences.clocksOff({ distance }) : reasonText(refusal),
    age: formatDuration(youngMs),
  };
  return state === 'never' ? sentences.refusedAllNever(all) : sentences.refusedAll(all);
}

/** One sentence for each state and reason, about nodes that were rejected within the last minute. */
export function refusedTexts<N extends RefusedNode>(nodes: readonly N[]): { text: string; nodes: N[] }[] {
  const lately = nodes.filter(({ refusal }) => refusal.ageMs <= LATELY_MS);
  const kinds = groupBy(lately, ({ state, refusal }) => `${state} ${refusal.reason}`);
  return [...kinds.values()].map(some => ({ text: textOf(some), nodes: some }));
}

/** The senders that were rejected recently, the most recent first. A late report is not the sender's fault. */
export function lateSenders(snapshot: Snapshot): SenderEntry[] {
  const late = enums.reason.indexOf('late');
  return snapshot.senders.filter(({ reason, lastNs }) => reason !== late && sinceMs(snapshot, lastNs) <= LATELY_MS);
}

export const FULL = enums.reason.indexOf('full');

/** That more nodes report than the board has room for; undefined: it has room, or none of them reported lately. */
function fullText(board: Snapshot): string | undefined {
  const { count = 0, capacity = 0 } = board.header;
  const entries = count < capacity ? [] : lateSenders(board).filter(({ reason }) => reason === FULL);
  const names = [...new Set(entries.map(({ name }) => name))];
  if (names.length === 0) return undefined;
  return sentences.full({
    nodes: plural(capacity),
    count: names.length,
    more: entries.length >= SENDERS_EACH, // the board has no room for more entries of one reason
    one: names.length === 1,
    names: shownNames(names),
  });
}

/** What an administrator has to mend in the receiver. */
export const receiverTexts = (board: Snapshot): string[] =>
  [reloadText(board), fullText(board)].filter(text => text !== undefined);

/** How often, and since when, something was rejected. */
export function oftenText(snapshot: Snapshot, { count, firstNs, lastNs }: Omit<RejectedSource, 'names'>): string {
  const age = formatDuration(sinceMs(snapshot, lastNs));
  if (count === 1) return sentences.once({ age });
  return sentences.often({ count, time: formatDuration(Math.max(0, Number(lastNs - firstNs) / 1e6)), age });
}

/** What a source with a missing or false signature sends, and the possible reason. */
const signatureOf = ({ reason }: Pick<RejectedSource, 'reason'>) => {
  const words = reasonWords[enums.reason[reason] ?? ''];
  return words === undefined || words.sends === '' ? undefined : words;
};

/** Whether the name in a rejected report proves nothing, because its signature is missing or false. */
export function isUnproved(source: Pick<RejectedSource, 'reason'>): boolean {
  return signatureOf(source) !== undefined;
}

/** The claimed name: a single one whole, of several names a few. */
const claimed = (names: readonly string[]) => (names.length === 1 ? oneLine(names[0] ?? '') : shownNames(names));

/** The names under which a source sends. They are claims; nothing is known about them. */
function claimText(snapshot: Snapshot, { reason, names }: RejectedSource): string {
  if (names.length === 0) return '';
  if (names.length === 1) return ` ${sentences.claimName({ name: claimed(names) })}`;
  // The board has no room for more entries of one reason.
  const least = snapshot.senders.filter(entry => entry.reason === reason).length >= SENDERS_EACH;
  return ` ${sentences.claimNames({ least, count: names.length, names: shownNames(names) })}`;
}

export function sourceReason(source: Pick<RejectedSource, 'reason'>): string {
  const reason = enums.reason[source.reason] ?? String(source.reason);
  return reason === 'clock' ? CLOCK_UNMEASURED : reasonText({ reason, offsetUs: 0 });
}

/** What came from a source and was rejected. With a false signature the source is named: the name proves nothing. */
export function sourceText(snapshot: Snapshot, source: RejectedSource): string {
  const often = oftenText(snapshot, source);
  const signature = signatureOf(source);
  if (signature !== undefined) {
    const { sends: what, why } = signature;
    return sentences.claim({ address: source.address, what, names: claimText(snapshot, source), often, why });
  }
  const who = source.names.length === 0 ? '' : ` (${claimed(source.names)})`;
  return `reports of ${source.address}${who} are rejected: ${sourceReason(source)}, ${often}`;
}
