// Every kind of trouble: how severe it is, its place in the list, and where its times come from. A kind without a row
// does not compile.

import type { Severity } from '../acks/info.js';
import type { Problem } from '../shm/problems.js';

/** A kind of trouble that is none of a node's problems. */
type Other =
  | 'receiver'
  | 'reload'
  | 'starting'
  | 'link'
  | 'together'
  | 'silent'
  | 'mirror'
  | 'rival'
  | 'clone'
  | 'refused'
  | 'full'
  | 'fragments'
  | 'drops'
  | 'deaf'
  | 'journal'
  | 'acks'
  | 'unguarded'
  | 'scheduler'
  | 'odd'
  | 'late'
  | 'clock'
  | 'interval'
  | 'kernel'
  | 'sender'
  | 'unmeasured'
  | 'not_on_board';

export type TroubleKind = Problem | Other;

/**
 * Where since, end and how often come from. `memory`: what the board remembers of each node; `board`: its header and its
 * table of links, and its ring for what is over; `scheduler`: the judge of jobs; `none`: it is true now, and nobody
 * knows since when.
 */
type TimesFrom = 'memory' | 'board' | 'scheduler' | 'none';

interface KindTraits {
  readonly severity: Severity;
  readonly times: TimesFrom;
}

const row = (severity: Severity, times: TimesFrom): KindTraits => ({ severity, times });

/** In the order of the list, except that silent nodes with jobs come before those without. */
export const KINDS = {
  receiver: row('critical', 'board'),
  reload: row('critical', 'board'),
  link: row('critical', 'board'),
  together: row('critical', 'memory'),
  silent: row('critical', 'memory'),
  gpu_lost: row('critical', 'memory'),
  memory_errors: row('critical', 'memory'),
  root_readonly: row('critical', 'memory'),
  clone: row('warning', 'board'),
  rival: row('warning', 'board'),
  full: row('warning', 'none'),
  refused: row('warning', 'none'),
  mirror: row('warning', 'none'),
  fragments: row('warning', 'board'),
  bad_health: row('warning', 'memory'),
  root_full: row('warning', 'memory'),
  scratch_full: row('warning', 'memory'),
  gpu_errors: row('warning', 'memory'),
  oom: row('warning', 'memory'),
  hung_tasks: row('warning', 'memory'),
  health_warning: row('warning', 'memory'),
  throttled: row('warning', 'memory'),
  ecc: row('warning', 'memory'),
  drops: row('warning', 'none'),
  journal: row('warning', 'none'),
  unguarded: row('warning', 'none'),
  starting: row('notice', 'board'),
  deaf: row('notice', 'board'),
  odd: row('notice', 'scheduler'),
  scheduler: row('notice', 'none'),
  late: row('notice', 'none'),
  clock: row('notice', 'none'),
  kernel: row('notice', 'memory'),
  interval: row('notice', 'none'),
  sender: row('notice', 'board'),
  unmeasured: row('notice', 'memory'),
  acks: row('notice', 'none'),
  not_on_board: row('notice', 'none'),
  held: row('notice', 'memory'),
} as const satisfies Readonly<Record<TroubleKind, KindTraits>>;

const RANKS = new Map(Object.keys(KINDS).map((kind, rank) => [kind, rank]));

/** The place in the list: less is worse. */
export function rankOf(kind: TroubleKind): number {
  return RANKS.get(kind) as number;
}
