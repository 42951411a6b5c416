// Command lines that show what was cut, with the same conditions, ready to paste into a shell. Pure.

import type { State } from '../shm/liveness.js';
import { fold } from '../text/hostlists.js';
import { shellWord } from '../text/text.js';

/** What the user asked for, in the texts of the options: a list or @FILE, a condition, a path … */
export interface CommandOptions {
  readonly nodes?: string | undefined;
  readonly where?: string | undefined;
  readonly by?: string | undefined;
  readonly sort?: string | undefined;
  readonly columns?: string | undefined;
  readonly exceptions?: boolean | undefined;
  readonly jobs?: boolean | undefined;
  readonly slurmDir?: string | undefined;
  readonly board?: string | undefined;
  readonly owner?: string | undefined;
}

/** As options and arguments of a command line. `names`: the union of all lists. */
export function commandOptions(
  given: ReadonlyMap<string, readonly string[]>,
  lists: readonly string[],
  names: readonly string[] | undefined,
): CommandOptions {
  const [list, ...more] = [...(given.get('nodes') ?? []), ...lists];
  const text = (name: string) => given.get(name)?.[0];
  const isSet = (name: string) => (given.get(name)?.length ?? 0) > 0;
  return {
    // Several lists are merged into one.
    nodes: more.length > 0 ? fold(names ?? []) : list,
    where: text('where'),
    by: text('by'),
    sort: text('sort'),
    columns: text('columns'),
    exceptions: isSet('exceptions'),
    jobs: isSet('jobs'),
    slurmDir: text('slurm-dir'),
    board: text('board'),
    owner: text('owner'),
  };
}

/** The given options with their values: each is one piece, which is not broken across lines. */
function options(values: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(values).flatMap(([name, text]) => (text === undefined ? [] : [`${name} ${shellWord(text)}`]));
}

/** The nodes of a state: with `only`, those that have a problem; otherwise all. */
export function nodesCommand(state: State, { nodes, where, board, owner }: CommandOptions, only: boolean): string[] {
  const condition = only ? (where === undefined ? 'unhealthy' : `(${where}) && unhealthy`) : where;
  return [
    'beoboard nodes',
    `--state ${state}`,
    ...options({ '-w': nodes, '--where': condition, '--board': board, '--owner': owner }),
  ];
}

/** The status of the same nodes with all anomalies. Options about the layout do not matter here. */
function statusCommand(
  { nodes, where, exceptions, jobs, slurmDir, board, owner }: CommandOptions,
  how: readonly string[] = [],
): string[] {
  return [
    'beoboard status',
    ...options({ '-w': nodes, '--where': where }),
    ...(exceptions ? ['-x'] : []),
    ...(jobs ? ['--jobs'] : []),
    ...how,
    ...options({ '--slurm-dir': slurmDir, '--board': board, '--owner': owner }),
  ];
}

/** The same table with all its rows. */
export function inFull(asked: CommandOptions): string[] {
  const { by, sort, columns } = asked;
  const how = options({ '--by': by, '--sort': sort, '-o': columns });
  return statusCommand(asked, [...how, '--long']);
}

/** Acknowledges the line of trouble of that key. */
export const ackCommand = (key: string, { board, owner }: CommandOptions): string[] => [
  'beoboard ack',
  shellWord(key),
  '--until +8h',
  ...options({ '--board': board, '--owner': owner }),
];

/** Lines of this width that begin with that; later ones are indented. A backslash ends a line that continues. */
export function commandLines(head: string, pieces: readonly string[], width: number): string[] {
  const indent = ' '.repeat(head.length - head.trimStart().length + 2);
  const lines: string[] = [];
  let line = head;
  for (const [i, piece] of pieces.entries()) {
    const room = width - (i === pieces.length - 1 ? 0 : 2);
    if (i > 0 && line.length + 1 + piece.length > room) {
      lines.push(`${line} \\`);
      line = `${indent}${piece}`;
    } else line = i === 0 ? `${line}${piece}` : `${line} ${piece}`;
  }
  return [...lines, line];
}
