// Several boards in one program: each needs its own name.

import { type NamedBoard, UsageError } from './options.js';

/** The boards of the options. Throws a UsageError if two would have the same name. */
export function distinct(verbName: string, boards: readonly NamedBoard[]): readonly NamedBoard[] {
  const names = boards.map(({ name }) => name);
  if (boards.length > 1 && names.includes(undefined))
    throw new UsageError(verbName, '--board: each of several boards needs a cluster name; write NAME=PATH');
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new UsageError(
      verbName,
      `--board: two clusters are called ${twice}, and one would hide the other; rename one`,
    );
  return boards;
}
