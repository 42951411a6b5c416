// Removes nodes from a board.

import { defineVerb, parseVerb } from '../options/options.js';
import { usable } from '../text/failure.js';
import { readNodes } from '../text/nodefiles.js';
import { json, print } from '../text/output.js';
import { sortOut } from './control.js';
import { changeBoard, someNodes } from './editing.js';

export const verb = defineVerb({
  name: 'forget',
  options: ['board', 'json', 'config'],
  arguments: ['<list>'],
  examples: ['beoboard forget node017', 'beoboard forget node[001-064],login2', 'beoboard forget @retired.txt'],
  notes:
    "A node that still reports comes back with its next report. A node of the receiver's --nodes stays, as one that never reported. Run it as the user of the receiver, or as root. Exit codes: 0 all forgotten, 1 some had no record, 4 no board.",
});

export async function main(argv: string[]): Promise<number> {
  const { values: options, args } = parseVerb(verb, argv);
  const names = [...new Set(usable(() => readNodes(args[0] ?? '')))];
  const { forgotten, unknown } = await changeBoard(options.board, 'forget', names, writer =>
    sortOut(names, writer.forget(names)),
  );
  if (options.json) await print([json({ schema: 1, forgotten, unknown }), '\n']);
  else if (forgotten.length > 0) await print([`forgot ${someNodes(forgotten)}\n`]);
  if (unknown.length > 0) process.stderr.write(`beoboard forget: no record of ${someNodes(unknown)}\n`);
  return unknown.length > 0 ? 1 : 0;
}
