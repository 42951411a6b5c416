// Removes nodes from a board, and says what may bring them back.

import { lstatSync } from 'node:fs';
import { defineVerb, parseVerb } from '../options/options.js';
import { NUMBERED, type State } from '../shm/liveness.js';
import { BoardReader } from '../shm/reader.js';
import { usable } from '../text/failure.js';
import { readNodes } from '../text/nodefiles.js';
import { json, print } from '../text/output.js';
import { shellWord } from '../text/text.js';
import { sortOut } from './control.js';
import { changeBoard, someNodes } from './editing.js';

export const verb = defineVerb({
  name: 'forget',
  options: ['board', 'json', 'config'],
  arguments: ['<list>'],
  examples: ['beoboard forget node017', 'beoboard forget node[001-064],login2', 'beoboard forget @retired.txt'],
  notes:
    "A node that still reports comes back with its next report. A node of the receiver's --nodes stays, as one that never reported. It says so, and what to type. Run it as the user of the receiver, or as root. Exit codes: 0 all forgotten, 1 some had no record, 4 no board.",
});

/** The states of these nodes on a board; of none if it cannot be read: the change itself says why. */
function statesOf(board: string, names: readonly string[]): Map<string, State | undefined> {
  try {
    const reader = new BoardReader(board, lstatSync(board).uid);
    try {
      const nodeStates = reader.nodeStates();
      return new Map(names.map(name => [name, NUMBERED[nodeStates.states[nodeStates.find(name)] ?? -1]]));
    } finally {
      reader.close();
    }
  } catch {
    return new Map();
  }
}

/** What may bring forgotten nodes back, and what to type against it. `before`: their states until then. */
function returnsOf(board: string, names: readonly string[], before: ReadonlyMap<string, State | undefined>): string[] {
  const after = statesOf(board, names);
  const isHeard = (state: State | undefined) => state === 'live' || state === 'uncertain';
  const heard = names.filter(name => isHeard(before.get(name)) || isHeard(after.get(name)));
  const listed = names.filter(name => after.get(name) === 'never');
  const lines: readonly [readonly string[], string][] = [
    [heard, 'may still report, and come back by that: there, systemctl disable --now beoboard-send'],
    [listed, 'stay as never reported: take them off the list of --nodes, then systemctl reload beoboard-receive'],
  ];
  return lines.filter(([of]) => of.length > 0).map(([of, what]) => `${someNodes(of)} ${what}`);
}

export async function main(argv: string[]): Promise<number> {
  const { values: options, args } = parseVerb(verb, argv);
  const names = [...new Set(usable(() => readNodes(args[0] ?? '')))];
  const before = statesOf(options.board, names);
  const { forgotten, unknown } = await changeBoard(options.board, 'forget', names, writer =>
    sortOut(names, writer.forget(names)),
  );
  if (options.json) await print([json({ schema: 1, forgotten, unknown }), '\n']);
  else if (forgotten.length > 0) {
    await print([`forgot ${someNodes(forgotten)}\n`]);
    const more = `another master, or a mirror of one, keeps a record of its own: there, beoboard forget ${shellWord(args[0] ?? '')}`;
    for (const line of [...returnsOf(options.board, forgotten, before), more])
      process.stderr.write(`beoboard forget: ${line}\n`);
  }
  if (unknown.length > 0) process.stderr.write(`beoboard forget: no record of ${someNodes(unknown)}\n`);
  return unknown.length > 0 ? 1 : 0;
}
