// Changes a board by its receiver or, if none runs, opens it for writing for a moment: for the verbs that do.

import { lstatSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapBoard, type Writer } from '../native/index.js';
import { asOwner } from '../service/asowner.js';
import { editBoard } from '../shm/writer.js';
import { attempt, Failure } from '../text/failure.js';
import { foldParts } from '../text/hostlists.js';
import { type Answers, askReceiver, NobodyThere, type Request } from './control.js';

const NO_BOARD = 4;
/** A receiver that has lost its socket makes it again at its next check, within two seconds. */
const SOCKET_BACK_MS = 3000;
const SAID = 10;

/** Without a receiver we are the board's writer for a moment. */
function edit<T>(board: string, change: (writer: Writer) => T): T {
  return asOwner(board, () => {
    const writer = editBoard(board);
    try {
      return change(writer);
    } finally {
      writer.close();
    }
  });
}

/** Throws a Failure for a board that its owner's readers would not accept, in their words. */
function refuseNone(board: string): void {
  const owner = attempt(() => lstatSync(board).uid);
  const opened = mapBoard(board, owner);
  if (opened.state === 'ready') opened.board.unmap();
  // A retired board is being replaced.
  if (opened.state === 'ready' || opened.state === 'retired') return;
  throw new Failure(
    `${board}: ${opened.why}${opened.state === 'absent' ? '; give the --board of beoboard receive' : ''}`,
    NO_BOARD,
  );
}

/** `change`: what the receiver would do. Throws a Failure. */
export async function changeBoard<R extends Request>(
  board: string,
  request: R,
  names: readonly string[],
  change: (writer: Writer) => Answers[R],
): Promise<Answers[R]> {
  try {
    for (const end = performance.now() + SOCKET_BACK_MS; ; await sleep(100)) {
      try {
        return await askReceiver(board, request, names);
      } catch (error) {
        if (!(error instanceof NobodyThere)) throw error;
      }
      refuseNone(board);
      try {
        return edit(board, change);
      } catch (error) {
        if (performance.now() > end) throw error;
      }
    }
  } catch (error) {
    throw error instanceof Failure ? error : new Failure((error as Error).message, 1);
  }
}

/** A host list for people: of names that cannot be folded it is long. */
export function someNodes(names: readonly string[]): string {
  const parts = foldParts(names);
  const said = parts.slice(0, SAID).join(',');
  return parts.length > SAID ? `${said} and more, ${names.length} in all` : said;
}
