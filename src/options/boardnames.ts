// Several boards in one program: each needs its own name.

import { oneLine } from '../text/text.js';
import { UsageError } from './options.js';

/** The boards of the options. Throws a UsageError if two would have the same name. */
export function distinct<Board extends { path: string; name?: string | undefined }>(boards: Board[]): Board[] {
  const names = boards.map(({ name }) => name);
  const nameless = boards.find(({ name }) => name === undefined);
  if (boards.length > 1 && nameless !== undefined)
    throw new UsageError(`--board: each of several boards needs a cluster name; write NAME=${oneLine(nameless.path)}`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new UsageError(
      `--board: two clusters are called ${twice}, and one would hide the other; give one another by NAME=PATH`,
    );
  return boards;
}
