// Which node of the board is which node of the scheduler: first the administrator's exceptions, then NodeName, then
// NodeHostName if no two share it, then either without the one stated domain. Ignores case, because names on the board
// are in lower case. Guesses nothing: an ambiguous name matches nobody.

import { isNodeName, parseNodeName } from '../text/hostlists.js';
import { InputError, lowerCase, oneLine, quote, readText } from '../text/text.js';
import type { SchedulerNode } from './scheduler.js';

export interface Matched {
  /** By NodeName: the name on the board. */
  readonly boardName: ReadonlyMap<string, string>;
  /** By name on the board: the NodeName. */
  readonly nodeName: ReadonlyMap<string, string>;
  /** NodeNames that the board does not have, and names on the board that it does not have. */
  readonly schedulerAlone: readonly string[];
  readonly boardAlone: readonly string[];
}

function countEach(texts: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

const hostOf = ({ name, host }: Pick<SchedulerNode, 'name' | 'host'>) => lowerCase(host ?? name);

/** Matches a scheduler's nodes with the board's. `exceptions`: by NodeName. `domain`: the stated one, never for orders. */
export function match(
  nodes: readonly Pick<SchedulerNode, 'name' | 'host'>[],
  board: readonly string[],
  exceptions: Readonly<Record<string, string>> = {},
  domain?: string,
): Matched {
  const known = new Set(board);
  const boardName = new Map<string, string>();
  const nodeName = new Map<string, string>();
  const take = (name: string, on: string) => {
    if (!known.has(on) || nodeName.has(on) || boardName.has(name)) return;
    boardName.set(name, on);
    nodeName.set(on, name);
  };
  const given = nodes.filter(({ name }) => Object.hasOwn(exceptions, name));
  for (const { name } of given) take(name, exceptions[name] as string);
  const rest = nodes.filter(({ name }) => !Object.hasOwn(exceptions, name));
  const names = countEach(nodes.map(({ name }) => lowerCase(name)));
  for (const { name } of rest) if (names.get(lowerCase(name)) === 1) take(name, lowerCase(name));
  const hosts = countEach(nodes.map(hostOf));
  // If a host has the name of another node there, the name means that node.
  for (const node of rest) if (hosts.get(hostOf(node)) === 1 && !names.has(hostOf(node))) take(node.name, hostOf(node));
  if (domain !== undefined && !board.some(name => name.includes('.')))
    for (const node of rest) {
      const [short = '', ...behind] = hostOf(node).split('.');
      if (behind.join('.') === domain && !names.has(short) && hosts.get(hostOf(node)) === 1) take(node.name, short);
    }
  return {
    boardName,
    nodeName,
    schedulerAlone: nodes.flatMap(({ name }) => (boardName.has(name) ? [] : [name])),
    boardAlone: board.filter(name => !nodeName.has(name)),
  };
}

/** A line for a file of exceptions, of two names that are the same up to a domain; undefined: there is none. */
export function likelyPair(names: readonly string[], board: readonly string[]): string | undefined {
  const short = (name: string) => lowerCase(name).split('.', 1)[0];
  const known = new Map(board.map(name => [short(name), name]));
  const name = names.find(name => known.has(short(name)));
  return name && `${name} ${known.get(short(name))}`;
}

/** Parses exceptions: `NodeName boardname` on each line, `#` comments. Throws an InputError with file and line. */
export function parseExceptions(text: string, place: string): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  const taken = new Set<string>();
  for (const [i, line] of text.split('\n').entries()) {
    const words = line.replace(/#.*/s, '').trim();
    if (words === '') continue;
    const refuse = (why: string) => new InputError(`${oneLine(place)}:${i + 1}: ${why}`);
    const [node = '', board = '', ...more] = words.split(/\s+/);
    if (board === '' || more.length > 0 || !isNodeName(node))
      throw refuse(`${quote(words)} is not a pair; write NodeName boardname`);
    try {
      parseNodeName(board);
    } catch (error) {
      throw refuse((error as Error).message);
    }
    if (Object.hasOwn(found, node)) throw refuse(`${node} is there twice; remove one`);
    if (taken.has(board)) throw refuse(`${board} is given to two nodes; remove one`);
    found[node] = board;
    taken.add(board);
  }
  return found;
}

/** Reads them from a file. Throws an InputError. */
export function readExceptions(file: string): Record<string, string> {
  return parseExceptions(readText(file), file);
}

/** Names on the board of a scheduler's, and the other way. */
interface BoardNames {
  /** A name that is not in the file is in lower case on the board. */
  readonly toBoard: (name: string) => string;
  readonly toScheduler: (name: string) => string;
}

/**
 * The same for programs that only show names: a node may have several NodeNames, of which the first in their order is
 * shown. As c/base/nodenames.c reads them. Throws an InputError.
 */
export function readBoardNames(file: string): BoardNames {
  const found = new Map<string, string>();
  for (const [i, line] of readText(file, true).split('\n').entries()) {
    const [node, board, ...more] = line.replace(/#.*/s, '').match(/[^ \t\v\f\r]+/g) ?? [];
    if (node === undefined) continue;
    const refuse = (why: string) => new InputError(`${oneLine(file)}:${i + 1}: ${why}`);
    if (board === undefined || more.length > 0)
      throw refuse('two names are wanted; write a NodeName, a blank, and what the board calls it');
    const wrong = isNodeName(node) ? (/^[a-z0-9][\w.-]{0,62}$/i.test(board) ? undefined : board) : node;
    if (wrong !== undefined)
      throw refuse(`${quote(wrong)} is not a name; write letters, digits and . _ -, at most 63 of them`);
    const before = found.get(node) ?? lowerCase(board);
    if (before !== lowerCase(board))
      throw new InputError(
        `${oneLine(file)}: ${node} is there twice, as ${before} and ${lowerCase(board)}; remove one`,
      );
    found.set(node, before);
  }
  const shown = new Map([...found].sort(([a], [b]) => (a < b ? 1 : -1)).map(([node, board]) => [board, node]));
  return { toBoard: name => found.get(name) ?? lowerCase(name), toScheduler: name => shown.get(name) ?? name };
}

/** NodeNames and names on the board that differ by more than case. */
export function differing(boardName: ReadonlyMap<string, string>): [name: string, on: string][] {
  const found: [string, string][] = [];
  for (const [name, on] of boardName) if (lowerCase(name) !== on) found.push([name, on]);
  return found;
}

/** The first line of the file that is written again and again: c/base/nodenames.h. */
const FOLLOWED = '# beoboard slurm writes this file again and again\n';

/**
 * Such a file for the nodes whose two names differ by more than case. `unseen`: NodeNames, by the name on the board, of
 * nodes that the scheduler does not show now.
 */
export function namesText({ boardName }: Matched, unseen: ReadonlyMap<string, string> = new Map()): string {
  const all = [...differing(boardName), ...differing(new Map(Array.from(unseen, ([on, name]) => [name, on])))];
  const lines = all.flatMap(([name, on]) => (isNodeName(name) ? [`${name} ${on}\n`] : []));
  return `${FOLLOWED}${lines.join('')}`;
}
