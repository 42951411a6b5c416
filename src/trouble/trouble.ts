// The list of trouble: what is wrong now or was within the last hour, the worst first. Made here for all who show it.

import type { Survey } from '../query/survey.js';
import type { SchedulerView } from '../schedulers/schedulerview.js';
import type { Ack } from './acks.js';
import type { TroubleInfo } from './info.js';

/** What the list is made from besides the board. */
export interface Besides {
  /** The view of a scheduler, if whoever asks may see its jobs. */
  readonly scheduler?: SchedulerView | undefined;
  /** The folder where journals say how they are. */
  readonly journals?: string | undefined;
  readonly acks?: readonly Ack[] | undefined;
  /** How often each line began in the last hour, by its key, if a journal can be read. */
  readonly timesInLastHour?: ReadonlyMap<string, number> | undefined;
}

/** All lines about the chosen nodes, in their order: bright ones by rank, then by since; dimmed ones behind them. */
export function troubleOf(_found: Survey, _besides: Besides): TroubleInfo[] {
  return [];
}
