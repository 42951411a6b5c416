// The verb `xml`: prints the board once, as Ganglia's gmond would. Serves no clients, and does not wait for a board.

import { defineVerb, parseVerb } from '../options/options.js';
import { heartbeatText, NO_BOARD } from '../shm/noboard.js';
import { withReader } from '../shm/reader.js';
import { Failure } from '../text/failure.js';
import { print } from '../text/output.js';
import { Documents } from './documents.js';
import { METRIC_SETS } from './metrics.js';

export const verb = defineVerb({
  name: 'xml',
  options: ['board', 'owner', 'metrics', 'config'],
  examples: ['beoboard xml', 'beoboard xml | xmllint --valid --noout -'],
  notes: `Prints one document, for reading and for tools that take Ganglia's XML from a file or a pipe; beoboard ganglia serves it.
While the receiver is stalled, hosts keep their last values; TN of each METRIC is its real age.
TN of a HOST only says whether it is up (below 80) or down; its age is in report_age.
Exit codes: 0 done, 2 usage, 4 no board, or stalled.`,
});

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  return await withReader(values.board, values.owner, async reader => {
    const snapshot = reader.snapshot();
    const { stalled, retired, heartbeatAgeMs, realNs } = snapshot;
    const source = { pieces: () => [snapshot], one: () => snapshot };
    const documents = new Documents([source], undefined, METRIC_SETS[values.metrics]);
    await print(documents.gmond(Number(realNs / 1_000_000_000n)));
    if (!stalled && !retired) return 0;
    const why = stalled ? `stalled, ${heartbeatText(heartbeatAgeMs)}` : 'retired in between';
    throw new Failure(
      `${values.board}: ${why}; the hosts were shown as they were then, start beoboard receive`,
      NO_BOARD,
    );
  });
}
