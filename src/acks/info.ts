// A line of the trouble list as programs get it: status --json, the API, and the stream of the page.

/** From the worst. */
export type Severity = 'critical' | 'warning' | 'notice';

/** Why a line is dimmed: it is over, somebody has acknowledged it, or an administrator has set all its nodes aside. */
export type Dimmed = 'ended' | 'acknowledged' | 'aside';

/** A job that runs on nodes of a line. */
export interface TroubleJob {
  readonly id: string;
  readonly user: string;
}

/** Times are ISO 8601, UTC, in whole seconds, so that a line that stays the same is the same text. */
export interface TroubleInfo {
  /** Kind and cause, as `root_full` or `link:eth0`: the same line has the same key at every look, whatever its nodes are. */
  readonly key: string;
  readonly kind: string;
  readonly severity: Severity;
  /** As a host list: the nodes that have it now, or had it if it has ended; absent: it is about no node. */
  readonly nodes?: string;
  /** How many nodes these are. */
  readonly count: number;
  /** In words that follow the names of the nodes; without a time that grows. */
  readonly what: string;
  /** Since when the first of its nodes has it, and since when the last one, if that is another time; absent: not known. */
  readonly since?: string;
  readonly since_last?: string;
  /** When it was over for its last node, or that was heard for the last time; and for the first one, if earlier. */
  readonly ended?: string;
  readonly ended_first?: string;
  /** How often one of its nodes had it, the most of any, since that time. */
  readonly times?: number;
  readonly times_since?: string;
  /** It flaps: how often it began in the last hour, from the third time on. */
  readonly flapping?: number;
  /** How often it began in the last hour by the journal, for the node of the board that had it most. */
  readonly times_hour?: number;
  /** The jobs on its nodes; absent: they are not shown here. */
  readonly jobs?: readonly TroubleJob[];
  /** How many more jobs there are. */
  readonly jobs_more?: number;
  /** Those of its nodes that are put on hold, drained or in maintenance. */
  readonly aside?: { readonly nodes: string; readonly count: number; readonly why: string };
  readonly ack?: { readonly by: string; readonly until: string; readonly reason?: string };
  /** Who acknowledged an earlier episode of one of its nodes, and when; `last`: the one just before this. */
  readonly ack_before?: { readonly by: string; readonly at: string; readonly last: boolean };
  /** Absent: it is bright. */
  readonly dim?: Dimmed;
}
