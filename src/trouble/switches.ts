// The switch that explains why nodes fell silent together, where a scheduler knows which node is behind which.

import type { Survey, Surveyed } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { oneLine, shortened } from '../text/text.js';

/** A switch's name may be as long as an administrator likes. */
const NAME_MOST = 60;

/** The switch behind which all of these nodes are, if none of its other nodes is heard; undefined: there is none known. */
export function switchOf(
  { all }: Pick<Survey, 'all'>,
  fell: readonly Surveyed[],
  scheduler: SchedulerView | undefined,
): string | undefined {
  if (scheduler?.isKnown !== true) return undefined;
  const behind = ({ name }: Surveyed) => scheduler.of(name)?.node.switch;
  const [first] = fell;
  const found = first && behind(first);
  if (found === undefined || !fell.every(node => behind(node) === found)) return undefined;
  const those = new Set(fell);
  const isAlive = (node: Surveyed) =>
    (node.state === 'live' || node.state === 'uncertain') && !those.has(node) && behind(node) === found;
  return all.some(isAlive) ? undefined : shortened(oneLine(found), NAME_MOST);
}

/** Why nodes fell silent together, in words. */
export const causeText = (name: string | undefined) =>
  `probably ${name === undefined ? 'a switch or rack' : `switch ${name}, behind which all of them are`}`;
