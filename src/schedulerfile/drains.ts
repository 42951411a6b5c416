// Who wants a drain, and until when: `beoboard drain` writes both behind its reason, so that the scheduler keeps them with
// it, and whoever reads the reason, also in the scheduler's own lists, sees them.

import { timeIn } from '../shm/sentences.js';
import { oneLine, shortened } from '../text/text.js';
import type { SchedulerNode } from './scheduler.js';

/** What is known of a drain by its reason. */
interface Drain {
  /** What its author wrote. */
  readonly reason: string;
  readonly by: string;
  /** When it is to end, ms since 1970; absent: nobody said so. */
  readonly until_ms?: number;
}

/** The most characters of a reason, so that all of it is kept with what follows it. */
export const REASON_MOST = 150;

/** Slurm's own reason for a node that does not answer. */
export const SLURMS_REASON = 'Not responding';
/** Reasons of drains by our own bridge. */
export const BRIDGES = 'beoboard:';

/** An author in the letters that a mark may have. */
const authorOf = (by: string) => by.replace(/[^\p{L}\p{N}_.@\\ -]/gu, '?');

const MINUTE_MS = 60_000;

const MARK = /^(.*) \(drained by ([^()]{1,64}?)(?:, until (\d{4}-\d\d-\d\d \d\d:\d\d) UTC)?\)$/su;

/** The reason as the scheduler gets it, with the mark that `drainOf` reads. */
export function markedReason({ reason, by, until_ms }: Drain): string {
  const until =
    until_ms === undefined
      ? ''
      : `, until ${new Date(Math.ceil(until_ms / MINUTE_MS) * MINUTE_MS).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `${reason} (drained by ${shortened(authorOf(by), 60)}${until})`;
}

/** Who drained a node by `beoboard drain`; undefined: it is not drained, or otherwise. */
export function drainOf({ aside, reason = '' }: Pick<SchedulerNode, 'aside' | 'reason'>): Drain | undefined {
  const [, text, by, until] = (aside === undefined ? null : MARK.exec(reason)) ?? [];
  const until_ms = until === undefined ? undefined : Date.parse(`${until.replace(' ', 'T')}Z`);
  if (text === undefined || by === undefined || Number.isNaN(until_ms)) return undefined;
  return { reason: text, by, ...(until_ms !== undefined && { until_ms }) };
}

/** The same in words: `drained by anna until 2026-11-30 18:00:00: PDU swap`. */
export function drainText(
  node: Pick<SchedulerNode, 'aside' | 'reason'>,
  look: Parameters<typeof timeIn>[0] = {},
): string | undefined {
  const { by, reason, until_ms } = drainOf(node) ?? {};
  if (by === undefined || reason === undefined) return undefined;
  return `drained by ${oneLine(by)}${until_ms === undefined ? '' : ` until ${timeIn(look, until_ms)}`}: ${oneLine(reason)}`;
}
