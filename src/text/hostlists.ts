// Expands and folds host lists (node[001-128],login1) in the syntax that Slurm, pdsh and ClusterShell share. A text
// that any of them would expand to unintended names is refused, with the column. Has no set operations and no groups;
// steps in ranges only if asked for. Reads no file: the page uses it, too.

import { InputError, lowerCase, quote } from './inputerror.js';
import { addTo, getOrInsert, groupBy } from './maps.js';
import { oneLine, shortened } from './unseen.js';

/** The error of a host list. `column` counts from 1 and is the position of the mistake. */
export class NodesetError extends InputError {
  override readonly name = 'NodesetError';

  constructor(
    readonly column: number,
    readonly wrong: string,
    readonly hint: string,
    place = 'host list',
  ) {
    super(`${place}, column ${column}: ${wrong}; ${hint}`);
  }
}

/** As many names as a board can have: no list of our own has more. */
export const BOARD_MOST = 1_000_000;
/** No list of a scheduler's has as many characters: each short range of it takes memory. */
const LENGTH_MOST = 4 << 20;
/** Lists of so many characters together are kept parsed: whoever reads jobs needs that of each again and again. */
const KEPT_MOST = 1 << 17;
/** The name field of the report has 64 bytes with its NUL. */
const NAME_LENGTH = 63;
/** Up to here a number is exact; a longer range would be refused anyway. */
const DIGITS = 15;

interface NumberRange {
  readonly first: number;
  readonly last: number;
  /** The number of digits if there are leading zeros, otherwise 0. */
  readonly width: number;
  readonly step: number;
}

/** One entry of the list: its fixed texts and its brackets in order. */
type HostPattern = readonly (string | readonly NumberRange[])[];

const HINTS: Record<string, string> = {
  '!': 'set operations are not supported; write the names',
  '&': 'set operations are not supported; write the names',
  '^': 'set operations are not supported; write the names',
  '@': 'groups are not supported; write their names, or only @FILE with a list on each line',
  '{': 'write brackets, as in node[1,2]',
  '}': 'write brackets, as in node[1,2]',
  ']': 'there is no [ before it; write node[1-3]',
  '*': 'wildcards are not supported; write a range, as in node[1-3]',
  '?': 'wildcards are not supported; write a range, as in node[1-3]',
};

function badCharacter(list: string, at: number): NodesetError {
  const character = String.fromCodePoint(list.codePointAt(at) ?? 0);
  if (/\s/.test(character)) return new NodesetError(at + 1, 'a blank', 'separate names by a comma only');
  // Upper case is refused only for names of nodes.
  if (/[A-Z]/.test(character)) {
    return new NodesetError(
      at + 1,
      `upper-case ${quote(character)}`,
      `names are lower case; write ${quote(character.toLowerCase())}`,
    );
  }
  const hint = HINTS[character] ?? 'names are made of a-z 0-9 . _ -';
  return new NodesetError(at + 1, `${quote(character)} is not allowed here`, hint);
}

/** The content of one pair of brackets; `start` is its position in the list. */
function parseBrackets(list: string, start: number, end: number, spelling: Spelling): NumberRange[] {
  let at = start;
  return list
    .slice(start, end)
    .split(',')
    .map(text => {
      const column = at + 1;
      at += text.length + 1;
      // Only ClusterShell has steps.
      const pattern = spelling === 'any' ? /^(\d+)(?:-(\d+)(?:\/([1-9]\d{0,14}))?)?$/ : /^(\d+)(?:-(\d+))?$/;
      const [, low, high = low, step = '1'] = pattern.exec(text) ?? [];
      if (low === undefined || high === undefined) {
        if (text === '') throw new NodesetError(column, 'an empty range', 'write numbers, as in node[1-3,7]');
        const odd = text.search(/[^\d-]/);
        if (odd < 0)
          throw new NodesetError(column, `${quote(text)} is not a range`, 'write FIRST-LAST, as in node[1-3]');
        const letter = text[odd] ?? '';
        if (/\s/.test(letter)) throw badCharacter(list, column - 1 + odd);
        if (letter === '/' && spelling === 'any')
          throw new NodesetError(column, `${quote(text)} has no step`, 'write a whole number, as in node[0-10/2]');
        if (letter === '/') {
          throw new NodesetError(column + odd, 'a step in a range', 'list the numbers, as in node[0,2,4]');
        }
        throw new NodesetError(column, `${quote(text)} is not a range of numbers`, 'write digits, as in node[1-3]');
      }
      if (Math.max(low.length, high.length) > DIGITS) {
        throw new NodesetError(column, 'a number that is too long', `at most ${DIGITS} digits can be counted`);
      }
      const first = Number(low);
      const last = Number(high);
      const padded = [low, high].some(digits => digits.length > 1 && digits.startsWith('0'));
      if (padded && low.length !== high.length) {
        const wide = Math.max(low.length, high.length);
        const both = `${low.padStart(wide, '0')}-${high.padStart(wide, '0')}`;
        throw new NodesetError(column, `${quote(text)} is padded unevenly`, `write ${both} or ${first}-${last}`);
      }
      if (first > last) {
        throw new NodesetError(column, `${quote(text)} runs backwards`, `write ${high}-${low}`);
      }
      return { first, last, width: padded ? low.length : 0, step: Number(step) };
    });
}

/**
 * How names may be written: as nodes call themselves; as other tools accept them, with upper case and steps in ranges;
 * or as slurm.conf may have them, in either case, with `+ : / % = ~` as well, and with any of these first.
 */
export type Spelling = 'node' | 'any' | 'slurm';

const LETTERS: Readonly<Record<Spelling, RegExp>> = {
  node: /^[a-z0-9._-]*/,
  any: /^[A-Za-z0-9._-]*/,
  slurm: /^[A-Za-z0-9._+:/%=~-]*/,
};

const withZeros = (number: number, width: number) => String(number).padStart(width, '0');

/** How many numbers they have. */
const sizeOf = (ranges: readonly NumberRange[]) =>
  ranges.reduce((sum, { first, last, step }) => sum + Math.floor((last - first) / step) + 1, 0);

/** Parses the whole list before a single name is made, so that an error costs no more than the text. */
function parse(list: string, limit: number, already: number, spelling: Spelling): HostPattern[] {
  const letters = LETTERS[spelling];
  if (list === '') throw new NodesetError(1, 'it is empty', 'write names, as in node[1-3],login1');
  const patterns: HostPattern[] = [];
  let total = already;
  let at = 0;
  do {
    const start = at;
    const pattern: (string | NumberRange[])[] = [];
    let names = 1;
    let longest = 0;
    while (at < list.length && list[at] !== ',') {
      if (list[at] === '[') {
        const close = list.indexOf(']', at);
        const content = list.slice(at + 1, close < 0 ? undefined : close);
        if (close < 0 || content.includes('[')) {
          throw new NodesetError(at + 1, 'a [ without its ]', 'write node[1-3]');
        }
        const ranges = parseBrackets(list, at + 1, close, spelling);
        names *= sizeOf(ranges);
        longest += ranges.reduce((most, { last, width }) => Math.max(most, width, String(last).length), 0);
        pattern.push(ranges);
        at = close + 1;
      } else {
        const text = letters.exec(list.slice(at, at + NAME_LENGTH + 1))?.[0] ?? '';
        if (text === '') throw badCharacter(list, at);
        longest += text.length;
        pattern.push(text);
        at += text.length;
      }
      if (longest > NAME_LENGTH) {
        throw new NodesetError(start + 1, 'a name that is too long', `names have at most ${NAME_LENGTH} characters`);
      }
    }
    const [first] = pattern;
    if (first === undefined) throw new NodesetError(start + 1, 'an empty name', 'leave out the extra comma');
    if (spelling !== 'slurm' && typeof first === 'string' && !/^[a-z0-9]/i.test(first)) {
      throw new NodesetError(
        start + 1,
        `a name that begins with ${quote(first[0] ?? '')}`,
        'begin with a letter or digit',
      );
    }
    total += names;
    if (total > limit) {
      throw new NodesetError(start + 1, 'too many names', `at most ${limit} are allowed; shorten the range`);
    }
    patterns.push(pattern);
  } while (list[at++] === ',');
  return patterns;
}

/** Adds every name of the pattern from part `index` on; the last bracket varies fastest. */
function addNames(names: Set<string>, pattern: HostPattern, index = 0, begun = ''): void {
  const part = pattern[index];
  if (part === undefined) {
    names.add(begun);
  } else if (typeof part === 'string') {
    addNames(names, pattern, index + 1, begun + part);
  } else {
    for (const { first, last, width, step } of part) {
      for (let number = first; number <= last; number += step) {
        addNames(names, pattern, index + 1, begun + withZeros(number, width));
      }
    }
  }
}

/**
 * The node names of a host list, each once, in the order of their first appearance. Throws a NodesetError, before
 * anything is expanded, for a list that is malformed or has more than `limit` names (counted before duplicates are
 * removed).
 */
export function expand(list: string, limit: number, spelling: Spelling = 'node'): string[] {
  return [...NameRanges.parse(list, limit, spelling).made()];
}

/** The names of a host list of our own, of an empty text none; undefined if it is invalid. */
export function tryExpand(list: string, spelling: Spelling): string[] | undefined {
  const ranges = NameRanges.of(list, spelling);
  return ranges && [...ranges.made()];
}

/** Ranges of one width in order, none of which meets another. */
type RangesInOrder = readonly NumberRange[];
/** A pattern with the ranges of each width. */
type SearchedPattern = readonly (string | readonly RangesInOrder[])[];

/** Those that meet become one; a range with a step stays by itself. */
function inOrder(ranges: readonly NumberRange[]): RangesInOrder[] {
  const groups = groupBy(ranges, range => (range.step === 1 ? range.width : range));
  return Array.from(groups.values(), some => {
    const found: NumberRange[] = [];
    for (const range of some.toSorted((a, b) => a.first - b.first)) {
      const before = found.at(-1);
      if (before === undefined || before.last + 1 < range.first) found.push(range);
      else found[found.length - 1] = { ...before, last: Math.max(before.last, range.last) };
    }
    return found;
  });
}

/** Whether one of them has the number, written with so many digits. */
function hasNumber(ranges: RangesInOrder, number: number, digits: number): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((ranges[middle] as NumberRange).first <= number) low = middle;
    else high = middle - 1;
  }
  const { first, last, width, step } = ranges[low] as NumberRange;
  const isIn = first <= number && number <= last && (number - first) % step === 0;
  return isIn && withZeros(number, width).length === digits;
}

/** Where in a name numbers of these ranges end that begin at `at`. */
function endsOf(groups: readonly RangesInOrder[], name: string, at: number): number[] {
  const ends: number[] = [];
  for (let end = at + 1; end <= name.length && end - at <= DIGITS && isDigit(name.charCodeAt(end - 1)); end++) {
    const number = Number(name.slice(at, end));
    if (groups.some(ranges => hasNumber(ranges, number, end - at))) ends.push(end);
  }
  return ends;
}

function hasName(pattern: SearchedPattern, name: string): boolean {
  let ends = [0];
  for (const part of pattern)
    ends =
      typeof part === 'string'
        ? ends.flatMap(at => (name.startsWith(part, at) ? [at + part.length] : []))
        : [...new Set(ends.flatMap(at => endsOf(part, name, at)))];
  return ends.includes(name.length);
}

/** A host list of others, or a long one, none of whose names need be made. */
export class NameRanges {
  /** How many names it has; what is there twice counts twice. */
  readonly size: number;
  /** By what their names begin with. */
  #searched: ReadonlyMap<string, readonly SearchedPattern[]> | undefined;
  static #kept = new Map<string, NameRanges>();
  static #keptLength = 0;

  private constructor(private readonly patterns: readonly HostPattern[]) {
    const size = (pattern: HostPattern) =>
      pattern.reduce((product, part) => product * (typeof part === 'string' ? 1 : sizeOf(part)), 1);
    this.size = patterns.reduce((sum, pattern) => sum + size(pattern), 0);
  }

  /** Throws a NodesetError for a list that is malformed or has, with those before it, more than `limit` names. */
  static parse(list: string, limit: number, spelling: Spelling = 'node', already = 0): NameRanges {
    return new NameRanges(parse(list, limit, already, spelling));
  }

  /** Of a list of our own, which may be empty; undefined: it is invalid, or longer than any of a board. */
  static of(list: string, spelling: Spelling = 'node'): NameRanges | undefined {
    try {
      return list === '' ? new NameRanges([]) : NameRanges.parse(list, BOARD_MOST, spelling);
    } catch {
      return undefined;
    }
  }

  /**
   * Of NodeNames, as Slurm lists them. It takes nearly any name: an entry without brackets that is invalid otherwise is
   * itself a name. Undefined: the list is invalid, or longer than any real one, written out.
   */
  static ofNodeNames(list: string): NameRanges | undefined {
    const kept = NameRanges.#kept.get(list);
    if (kept !== undefined || list.length > LENGTH_MOST) return kept;
    const patterns: HostPattern[] = [];
    // A copy: a part of what a scheduler has printed would keep all of that.
    const text: string = JSON.parse(JSON.stringify(list));
    // The commas outside brackets.
    for (const entry of text.match(/(?:\[[^\]]*(?:\]|$)|[^,[])+/g) ?? (text === '' ? [] : [text]))
      try {
        for (const pattern of parse(entry, Number.POSITIVE_INFINITY, 0, 'slurm')) patterns.push(pattern);
      } catch {
        if (entry.includes('[')) return undefined;
        patterns.push([entry]);
      }
    const found = new NameRanges(patterns);
    NameRanges.#kept.set(text, found);
    NameRanges.#keptLength += list.length;
    if (NameRanges.#keptLength > KEPT_MOST) [NameRanges.#kept, NameRanges.#keptLength] = [new Map(), 0];
    return found;
  }

  has(name: string): boolean {
    this.#searched ??= groupBy(
      this.patterns.map(pattern => pattern.map(part => (typeof part === 'string' ? part : inOrder(part)))),
      ([first]) => (typeof first === 'string' ? first : ''),
    );
    for (let end = 0; end <= name.length; end++)
      if (this.#searched.get(name.slice(0, end))?.some(pattern => hasName(pattern, name))) return true;
    return false;
  }

  /** How many looks it takes, at most, to find out which of so many names it has. */
  looksFor(names: number): number {
    return Math.min(this.size, names * this.patterns.length);
  }

  /** Those of these names that it has. */
  among(names: ReadonlySet<string>): string[] {
    return this.size > this.looksFor(names.size)
      ? [...names].filter(name => this.has(name))
      : [...this.made()].filter(name => names.has(name));
  }

  /** Whether it has one of these names. */
  meets(names: ReadonlySet<string>): boolean {
    return this.among(names).length > 0;
  }

  /** All of its names, in the order of their first appearance. */
  made(): ReadonlySet<string> {
    const names = new Set<string>();
    for (const pattern of this.patterns) addNames(names, pattern);
    return names;
  }
}

/** The NodeNames of a list of Slurm's, each once; of one that is invalid or longer than any of a board, none. */
export function expandNodeNames(list: string): string[] {
  const ranges = NameRanges.ofNodeNames(list);
  return ranges === undefined || ranges.size > BOARD_MOST ? [] : [...ranges.made()];
}

/** Whether a host list of Slurm's can have that NodeName, and a node of the board can be given to it. */
export const isNodeName = (text: string): boolean => /^[A-Za-z0-9._+:/%=~-]{1,63}$/.test(text);

/**
 * The names of a text with lists on its lines, `#` comments and blank lines; `blanks`: several lists may be on one
 * line. Throws a NodesetError that begins with `place` and the line. There is one limit for all of them.
 */
export function expandLines(
  text: string,
  place: string,
  { blanks = false, spelling = 'node' as Spelling } = {},
): string[] {
  const names = new Set<string>();
  let counted = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const written = line.replace(/#.*/s, '').trimEnd();
    for (const { 0: list, index: start } of written.matchAll(blanks ? /\S+/g : /\S.*/g)) {
      try {
        const ranges = NameRanges.parse(list, BOARD_MOST, spelling, counted);
        counted += ranges.size;
        for (const name of ranges.made()) names.add(name);
      } catch (error) {
        if (!(error instanceof NodesetError)) throw error;
        throw new NodesetError(error.column + start, error.wrong, error.hint, `${place}:${index + 1}`);
      }
    }
  }
  return [...names];
}

const ZERO = 48;
const isDigit = (code: number) => code >= ZERO && code <= 57;

const LAST_NUMBER = new RegExp(`\\d{1,${DIGITS}}$`);

/** The position of the number at the end of a name; without one the name's length. Siblings are the same before it. */
export function lastDigits(name: string): number {
  // A pattern instead of a loop: in a short process only patterns are compiled.
  const at = name.search(LAST_NUMBER);
  return at < 0 ? name.length : at;
}

/** Orders names as people do: digits by their value, everything else by its characters. */
export function compareNames(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const c = a.charCodeAt(i);
    const d = b.charCodeAt(j);
    if (!isDigit(c) || !isDigit(d)) {
      if (c !== d) return c - d;
      i++;
      j++;
      continue;
    }
    const from = i;
    const start = j;
    while (a.charCodeAt(i) === ZERO) i++;
    while (b.charCodeAt(j) === ZERO) j++;
    // The first digit that differs decides, unless one number has more digits. There is no digit behind the end.
    let by = 0;
    for (; isDigit(a.charCodeAt(i)) && isDigit(b.charCodeAt(j)); i++, j++) by ||= a.charCodeAt(i) - b.charCodeAt(j);
    if (isDigit(a.charCodeAt(i))) return 1;
    if (isDigit(b.charCodeAt(j))) return -1;
    by ||= i - from - (j - start);
    if (by !== 0) return by;
  }
  return a.length - i - (b.length - j);
}

/** pdsh takes at most so many in one range; Slurm takes four times as many. */
const RANGE_MOST = 16_384;

/**
 * The numbers after one prefix as ranges: `1-3`, `001-002`, `010`. `numbers`: by the digits that they were written
 * with, negative if the first one is not a padding 0.
 */
function ranges(numbers: ReadonlyMap<number, readonly number[]>): string[] {
  // After 09, 10 belongs to the numbers of two digits; without such a number, 9 and 10 are in one range.
  const widths = new Map<number, readonly number[]>([[0, []]]);
  for (const [digits, some] of numbers) {
    const width = digits > 0 ? digits : numbers.has(-digits) ? -digits : 0;
    const before = widths.get(width) ?? [];
    widths.set(width, before.length === 0 ? some : before.concat(some));
  }
  const found: { first: number; width: number; text: string }[] = [];
  for (const [width, some] of widths) {
    const sorted = new Float64Array(some).sort();
    for (let i = 0; i < sorted.length; ) {
      const first = sorted[i] ?? 0;
      let last = first;
      for (; i < sorted.length; i++) {
        const next = sorted[i] ?? 0;
        if (next > last + 1 || next - first >= RANGE_MOST) break;
        last = next;
      }
      const [low, high] = [first, last].map(number => withZeros(number, width));
      found.push({ first, width, text: first === last ? (low ?? '') : `${low}-${high}` });
    }
  }
  return found.sort((a, b) => a.first - b.first || a.width - b.width).map(({ text }) => text);
}

/**
 * The host lists of these names, one for each prefix, in natural order: `login1`, `node[001-128]`. Brackets are on the
 * last digits only and nothing follows them, because Slurm expands anything else to nothing. Joined by commas they are
 * one list. The names are not checked.
 */
export function foldParts(names: Iterable<string>): string[] {
  const alone = new Set<string>();
  const groups = new Map<string, Map<number, number[]>>();
  // Neighbours nearly always have the same prefix and as many digits, so these are looked up once.
  let prefix = '';
  let group = new Map<number, number[]>();
  let [width, same]: [number, number[]] = [0, []];
  for (const name of names) {
    const at = lastDigits(name);
    if (at === 0 || at === name.length) {
      alone.add(name);
      continue;
    }
    if (at !== prefix.length || !name.startsWith(prefix)) {
      prefix = name.slice(0, at);
      group = groups.get(prefix) ?? new Map();
      groups.set(prefix, group);
      width = 0;
    }
    const digits = name.length - at;
    const now = digits > 1 && name.charCodeAt(at) === ZERO ? digits : -digits;
    if (now !== width) [width, same] = [now, getOrInsert(group, now, () => [])];
    let number = 0; // Without a text of its own for each of a million.
    for (let i = at; i < name.length; i++) number = number * 10 + name.charCodeAt(i) - ZERO;
    same.push(number);
  }
  const parts = [...alone].map(text => [text, text] as const);
  for (const [beginning, numbers] of groups) {
    const found = ranges(numbers);
    const [first = ''] = found;
    const single = found.length === 1 && !first.includes('-');
    parts.push([beginning, single ? `${beginning}${first}` : `${beginning}[${found.join(',')}]`]);
  }
  return parts.sort(([a], [b]) => compareNames(a, b)).map(([, text]) => text);
}

/** A few parts of a host list, shortened. */
export function shownNames(names: readonly string[], most = 4): string {
  const parts = foldParts(names.map(oneLine));
  const cut = parts.slice(0, most).map(part => shortened(part, 60));
  return parts.length > most ? `${cut.join(',')},…` : cut.join(',');
}

/** The names as one host list; empty for none. */
export const fold = (names: Iterable<string>): string => foldParts(names).join(',');

/** The parts of a host list: what its commas separate, except within brackets. */
export const partsOfList = (list: string): string[] => list.match(/(?:[^,[]|\[[^\]]*\]?)+/g) ?? [];

/** The names as one host list in their order: those after one prefix whose numbers rise are folded together. */
export function foldInOrder(names: readonly string[]): string {
  const parts: string[] = [];
  let run: string[] = [];
  let [prefix, number] = ['', Number.NaN];
  for (const name of names) {
    const at = lastDigits(name);
    const next = at === name.length ? Number.NaN : Number(name.slice(at));
    if (!(next > number) || name.slice(0, at) !== prefix) {
      parts.push(...foldParts(run));
      run = [];
    }
    run.push(name);
    [prefix, number] = [name.slice(0, at), next];
  }
  return [...parts, ...foldParts(run)].join(',');
}

/** A name in parts: its texts, and between them its numbers as they are written. */
function takeNameApart(name: string): { texts: string[]; numbers: string[] } {
  const parts = name.split(DIGITS_IN_NAME);
  return { texts: parts.filter((_, i) => i % 2 === 0), numbers: parts.filter((_, i) => i % 2 === 1) };
}

const DIGITS_IN_NAME = new RegExp(`(\\d{1,${DIGITS}})`);

/** Numbers as they are written in one pair of brackets; without brackets for a single number. */
function bracket(written: readonly string[]): string {
  const numbers = new Map<number, number[]>();
  for (const digits of written) {
    const width = digits.length > 1 && digits.startsWith('0') ? digits.length : -digits.length;
    addTo(numbers, width, Number(digits));
  }
  const found = ranges(numbers);
  return written.length === 1 ? (written[0] ?? '') : `[${found.join(',')}]`;
}

/** Merges rows of numbers into few rows of brackets: first by the last number, then by the one before it. */
function foldRows(rows: readonly (readonly string[])[]): string[][] {
  const [first] = rows;
  if (first === undefined || first.length === 0) return [[]];
  const byBeginning = groupBy(rows, row => row.slice(0, -1).join());
  const byLast = groupBy(byBeginning.values(), same => bracket(same.map(row => row.at(-1) ?? '')));
  return [...byLast].flatMap(([text, alike]) => {
    const beginnings = alike.map(([row = []]) => row.slice(0, -1));
    return foldRows(beginnings).map(row => [...row, text]);
  });
}

/**
 * The names as one host list with brackets on any of their numbers, and with text after them: `r[1-2]n[01-48].cluster`.
 * ClusterShell and pdsh read that; Slurm does only if nothing follows the last bracket.
 */
export function foldAll(names: Iterable<string>): string {
  const shapes = new Map<string, { texts: string[]; rows: string[][] }>();
  for (const name of new Set(names)) {
    const { texts, numbers } = takeNameApart(name);
    getOrInsert(shapes, texts.join('0'), () => ({ texts, rows: [] })).rows.push(numbers);
  }
  const parts = [...shapes.values()].flatMap(({ texts, rows }) =>
    foldRows(rows).map(row => texts.map((text, i) => `${text}${row[i] ?? ''}`).join('')),
  );
  return parts.sort(compareNames).join(',');
}

/** The text, if it is a node name: 1 to 63 of a-z 0-9 . _ -, a letter or digit first. Else throws an InputError. */
export function parseNodeName(text: string): string {
  if (/^[a-z0-9][a-z0-9._-]*$/.test(text) && text.length <= NAME_LENGTH) return text;
  const lower = lowerCase(text);
  const instead =
    lower !== text && /^[a-z0-9][a-z0-9._-]{0,62}$/.test(lower)
      ? lower
      : `1 to ${NAME_LENGTH} of a-z 0-9 . _ - that begin with a letter or digit`;
  throw new InputError(`${quote(text)} is not a node name; write ${instead}`);
}

/** The rack of rack11n01 is what stands before its second number. */
export const RACK_PATTERN = '^[^0-9]*[0-9]+';
const IN_RACK = new RegExp(`${RACK_PATTERN}[^0-9]+[0-9]`);

/** Whether most of these names say a rack. */
export const areInRacks = (names: readonly string[]): boolean =>
  2 * names.filter(name => IN_RACK.test(name)).length > names.length;
