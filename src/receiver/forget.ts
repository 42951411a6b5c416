// Removes nodes: asks the receiver or, if none runs, opens the board for writing for a moment. The only verb that
// changes a board.

import { lstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapBoard } from '../native/index.js';
import { defineVerb, parseVerb } from '../options/options.js';
import { VERBS } from '../options/verbs.js';
import { asOwner } from '../service/asowner.js';
import { editBoard } from '../shm/writer.js';
import { Failure, usable } from '../text/failure.js';
import { foldParts } from '../text/hostlists.js';
import { readNodes } from '../text/nodefiles.js';
import { json, print } from '../text/output.js';
import { askToForget, type Forgotten, NobodyThere, sortOut } from './control.js';

export const verb = defineVerb({
  name: 'forget',
  summary: VERBS.forget,
  options: ['board', 'json', 'config'],
  arguments: ['<list>'],
  examples: ['beoboard forget node017', 'beoboard forget node[001-064],login2', 'beoboard forget @retired.txt'],
  notes:
    "A node that still reports comes back with its next report. A node of the receiver's --nodes stays, as one that never reported. Run it as the user of the receiver, or as root. Exit codes: 0 all forgotten, 1 some had no record, 4 no board.",
});

const NO_BOARD = 4;
/** A receiver that has lost its socket makes it again at its next check, within two seconds. */
const SOCKET_BACK_MS = 3000;
/** How many parts of a host list are shown. */
const SAID = 10;

/** Without a receiver we are the board's writer for a moment. */
function edit(board: string, names: readonly string[]): Forgotten {
  return asOwner(board, () => {
    const writer = editBoard(board);
    try {
      return sortOut(names, writer.forget(names));
    } finally {
      writer.close();
    }
  });
}

function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path).uid;
  } catch {
    return undefined;
  }
}

/** Throws a Failure for a board that its owner's readers would not accept, in their words. */
function refuseNone(board: string): void {
  const opened = mapBoard(board, ownerOf(board));
  if (opened.state === 'ready') opened.board.unmap();
  // A retired board is being replaced.
  if (opened.state === 'ready' || opened.state === 'retired') return;
  throw new Failure(
    `${board}: ${opened.why}${opened.state === 'absent' ? '; give the --board of beoboard receive' : ''}`,
    NO_BOARD,
  );
}

async function forget(board: string, names: readonly string[]): Promise<Forgotten> {
  for (const end = performance.now() + SOCKET_BACK_MS; ; await sleep(100)) {
    try {
      return await askToForget(board, names);
    } catch (error) {
      if (!(error instanceof NobodyThere)) throw error;
    }
    refuseNone(board);
    try {
      return edit(board, names);
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}

function readList(list: string): string[] {
  return [...new Set(usable(verb.name, () => readNodes(list)))];
}

/** A host list of names that cannot be folded is long. */
function nodes(names: readonly string[]): string {
  const parts = foldParts(names);
  const said = parts.slice(0, SAID).join(',');
  return parts.length > SAID ? `${said} and more, ${names.length} in all` : said;
}

export async function main(argv: string[]): Promise<number> {
  const { values: options, args } = parseVerb(verb, argv);
  const names = readList(args[0] ?? '');
  let result: Forgotten;
  try {
    result = await forget(options.board, names);
  } catch (error) {
    throw error instanceof Failure ? error : new Failure((error as Error).message, 1);
  }
  const { forgotten, unknown } = result;
  if (options.json) await print([json({ schema: 1, forgotten, unknown }), '\n']);
  else if (forgotten.length > 0) await print([`forgot ${nodes(forgotten)}\n`]);
  if (unknown.length > 0) process.stderr.write(`beoboard forget: no record of ${nodes(unknown)}\n`);
  return unknown.length > 0 ? 1 : 0;
}
