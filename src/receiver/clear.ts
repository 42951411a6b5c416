// Clears what a board remembers of problems that are not measured any more. What is measured stays.

import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { json, print } from '../text/output.js';
import { sortCleared } from './control.js';
import { changeBoard, someNodes } from './editing.js';

export const verb = defineVerb({
  name: 'clear',
  options: ['nodes', 'board', 'json', 'config'],
  letters: { w: 'nodes' },
  examples: ['beoboard clear -w node017', 'beoboard clear -w node[001-064],login2'],
  notes:
    'For a problem that nothing measures any more, because its health file was removed on purpose or what reads its GPUs is gone: it is over then, as after a boot, for beoboard-gate and the bridge, too, and the node is not expected to have that source until it has it again. A problem that its reports show stays. The keys and counters of the node stay (beoboard forget would release them). A mirror follows within seconds. Run it as the user of the receiver, or as root. Exit codes: 0 all cleared, 1 some had no record or nothing to clear, 2 usage, 4 no board.',
});

export async function main(argv: string[]): Promise<number> {
  const { board, nodes, json: isJson } = parseVerb(verb, argv).values;
  if (nodes === undefined) throw new UsageError('--nodes is needed; write -w node017');
  const names = [...new Set(nodes)];
  const result = await changeBoard(board, 'clear', names, writer => sortCleared(names, writer.clear(names)));
  const { cleared, nothing, unknown } = result;
  if (isJson) await print([json({ schema: 1, ...result }), '\n']);
  else if (cleared.length > 0) await print([`cleared ${someNodes(cleared)}\n`]);
  if (nothing.length > 0)
    process.stderr.write(
      `beoboard clear: nothing to clear of ${someNodes(nothing)}: every problem that is not over is measured\n`,
    );
  if (unknown.length > 0) process.stderr.write(`beoboard clear: no record of ${someNodes(unknown)}\n`);
  return nothing.length + unknown.length > 0 ? 1 : 0;
}
