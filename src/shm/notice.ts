// What a receiver says of itself, while no node has a report: the file BOARD.notice beside its board, which it replaces.

import { isOurs, type LeftFile, readLeft } from '../service/leftfile.js';
import type { Described } from '../text/schema.js';
import { isCount, isText, shapeOf } from '../text/shape.js';
import { brief } from '../text/text.js';

export const noticePath = (board: string) => `${board}.notice`;

const [MOST_BYTES, LONGEST] = [65_536, 1000];

const isNotice = shapeOf({ schema: value => value === 1, pid: isCount, text: isText });

const noticeFile = (board: string): LeftFile<Described<typeof isNotice> | undefined> => ({
  path: noticePath(board),
  beside: board,
  judge: (beside, stats) =>
    stats && !(stats.isFile() && stats.size <= MOST_BYTES && isOurs(stats, [beside?.uid])) ? 'is not ours' : undefined,
  // biome-ignore lint/correctness/useYield: it is small.
  *parse(value) {
    return isNotice(value) ? value : undefined;
  },
  without: () => undefined,
});

/** In one line; empty: this process, which is to be the board's receiver, says nothing. */
export function noticeOf(board: string, receiver: number): string {
  const { pid, text = '' } = readLeft(noticeFile(board)) ?? {};
  return pid === receiver ? brief(text, LONGEST) : '';
}
