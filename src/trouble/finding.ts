// What is found wrong on a board: what it is, on which nodes, and in sentences. The list of trouble and the anomalies of
// `status --json` are both made from these.

import type { Surveyed } from '../query/survey.js';
import { shownNames } from '../text/hostlists.js';
import type { TroubleKind } from './kinds.js';

/** A sentence by itself: with the names of its nodes, and with times that grow. */
export interface Anomaly {
  readonly kind:
    | 'receiver'
    | 'mirror'
    | 'drops'
    | 'link'
    | 'deaf'
    | 'together'
    | 'last_words'
    | 'unhealthy'
    | 'refused'
    | 'rival'
    | 'clone'
    | 'sender'
    | 'delay'
    | 'clock'
    | 'kernel'
    | 'interval'
    | 'slurm'
    | 'journal'
    | 'not_on_board';
  readonly text: string;
  /** The nodes it is about; empty: it is about the receiver or this master. */
  readonly nodes: readonly Surveyed[];
  /**
   * Names that a sender without proof claims. The sentence is not about these nodes, but whoever asks about one of them
   * has to see it.
   */
  readonly claims?: readonly string[];
}

/** Something that is wrong. Times are ms before the look. */
export interface Finding {
  readonly kind: TroubleKind;
  /** What distinguishes it from others of its kind; absent: nothing. */
  readonly cause?: string | undefined;
  readonly nodes: readonly Surveyed[];
  /** In words that follow the names of its nodes; without a time that grows. Absent: it has no line of its own. */
  readonly what?: string | undefined;
  /** Since when the first of its nodes has it, and since when the last one, if that is another time. */
  readonly sinceMs?: number | undefined;
  readonly lastMs?: number | undefined;
  /** When it was over. */
  readonly endedMs?: number | undefined;
  readonly times?: Times | undefined;
  readonly sentences: readonly Anomaly[];
}

/** How often, since so many ms before the look. */
interface Times {
  readonly count: number;
  readonly sinceMs: number;
}

/** So many nodes, or groups of them, get a sentence each, the worst first; the rest share one. */
export const EACH_MOST = 3;

/** A few parts of a host list, and the number of further nodes. */
export function shown(nodes: readonly Surveyed[]): string {
  return shownNames(nodes.map(({ name }) => name));
}
