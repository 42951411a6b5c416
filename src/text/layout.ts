// Text in a width: how many columns of a terminal a text takes, where lines are broken, and tables. Every width of a
// terminal is measured here.

import { othersSpoken } from './ascii.js';
import { beginning, cut } from './unseen.js';

/** Colours on and off. */
const PAINT = /\x1b\[[\d;]*m/g;
const PLAIN = /^[ -~]*$/;

/**
 * Two columns wide are East Asian letters, ideographs and full-width forms by block, as in wcwidth(), and emoji: by
 * themselves or by the selector behind them. No column of their own have combining characters.
 */
const WIDE =
  /(?!\p{Mn})[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji}\ufe0f|(?!\p{RI})\p{Emoji_Presentation}/gu;
const NONE = /[\p{Mn}\p{Me}\u1160-\u11ff\ud7b0-\ud7ff]/gu;

/** How many columns of a terminal a line takes; colours take none. */
export function widthOf(line: string): number {
  if (PLAIN.test(line)) return line.length;
  const bare = othersSpoken(line.replace(PAINT, '')).replace(WIDE, '--').replace(NONE, '');
  return Array.from(bare).length;
}

/** The widest of these, columns. */
export const widest = (lines: Iterable<string>): number => {
  let most = 0;
  for (const line of lines) most = Math.max(most, widthOf(line));
  return most;
};

/** The text in at most so many columns, cut in its middle, because names differ at their ends. */
export const cutTo = (text: string, columns: number): string => cut(text, columns, widthOf);

/** The text with blanks behind it, up to so many columns. */
export const padded = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - widthOf(text)));

/** A piece that is wider than a line, in parts: broken at its blanks, else behind commas, else anywhere. */
function broken(piece: string, columns: number): string[] {
  const room = columns + (piece.startsWith(' ') ? 1 : 0);
  if (widthOf(piece) <= room) return [piece];
  const parts = [/(?<=.)(?= )/u, /(?<=,)(?=.)/u].map(at => piece.split(at)).find(({ length }) => length > 1);
  if (parts !== undefined) return parts.flatMap(part => broken(part, columns));
  const first = beginning(piece, room, widthOf) || piece;
  return [first, ...(first === piece ? [] : broken(piece.slice(first.length), columns))];
}

/**
 * Pieces one behind the other in lines of so many columns; one that is wider is broken. The blank at the beginning of a
 * piece is left out at the beginning of a line; lines but the first begin with `hanging`.
 */
export function inLines(pieces: readonly string[], columns: number, hanging = ''): string[] {
  const lines: string[] = [];
  let [line, taken] = ['', 0];
  for (const piece of pieces.flatMap(piece => broken(piece, columns - hanging.length))) {
    const wide = widthOf(piece);
    if (line !== '' && taken + wide > columns) {
      lines.push(line);
      line = '';
    }
    if (line !== '') [line, taken] = [line + piece, taken + wide];
    else {
      line = `${lines.length === 0 ? '' : hanging}${piece.replace(/^ /, '')}`;
      taken = widthOf(line);
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** Each but the last followed by this. */
export const separated = (parts: readonly string[], by: string): string[] =>
  parts.map((part, i) => (i < parts.length - 1 ? `${part}${by}` : part));

/** Words in lines of so many columns. */
export const wrapped = (text: string, columns: number, hanging = ''): string[] =>
  inLines([` ${text}`], columns, hanging);

/** What stands where nothing is known. */
export const NOTHING = '-';

/** Between two columns of a table. */
export const GAP = 2;

/** A column of a table: what its cells are. */
export interface TableColumn<Row> {
  readonly title: string;
  /** Texts are aligned left, numbers right. */
  readonly isLeft?: boolean;
  /** undefined: nothing is known. */
  readonly text: (row: Row) => string | undefined;
  /** Where there is no room, the column with the highest number is left out first; absent: it always stays. */
  readonly leaves?: number;
  /** Before another column leaves, its cells are cut to so many columns of the terminal. */
  readonly shrinks?: number;
}

interface LaidColumn {
  readonly isLeft?: boolean | undefined;
  readonly leaves?: number | undefined;
  /** Of the widest cell, columns. */
  readonly wide: number;
}

/** The width of a table of these columns. */
export const tableWidth = (laid: readonly Pick<LaidColumn, 'wide'>[]): number =>
  laid.reduce((sum, { wide }) => sum + wide + GAP, -GAP);

/**
 * The columns for which a table of this width has room, in their order. Those that may leave are taken in the order of
 * their numbers, up to the first for which there is no room; `goesOn`: and each behind it for which there is.
 */
export function fitting<C extends Pick<LaidColumn, 'wide' | 'leaves'>>(
  laid: readonly C[],
  width: number,
  goesOn = false,
): C[] {
  const taken = new Set(laid.filter(({ leaves }) => leaves === undefined));
  let room = width - tableWidth([...taken]);
  const others = laid.filter(column => !taken.has(column));
  for (const column of others.sort((a, b) => (a.leaves ?? 0) - (b.leaves ?? 0))) {
    if (column.wide + GAP <= room) {
      taken.add(column);
      room -= column.wide + GAP;
    } else if (!goesOn) break;
  }
  return laid.filter(column => taken.has(column));
}

/** A cell as wide as its column. */
export function inColumn(text: string, { isLeft, wide }: Pick<LaidColumn, 'isLeft' | 'wide'>): string {
  return isLeft ? padded(text, wide) : ' '.repeat(Math.max(0, wide - widthOf(text))) + text;
}

/** A cell is not cut to fewer columns of the terminal, however narrow that is: most numbers stay whole. */
const TEXT_LEAST = 8;

/** The columns as narrow as a table of this width needs: the widest give first, and none more than down to its least. */
function narrowed<C extends LaidColumn>(laid: readonly C[], width: number, least: (column: C) => number): C[] {
  let over = tableWidth(laid) - width;
  const narrow = new Map<C, number>();
  for (const column of laid.toSorted((a, b) => b.wide - a.wide)) {
    const wide = Math.max(column.wide - Math.max(over, 0), Math.min(column.wide, least(column)));
    narrow.set(column, wide);
    over -= column.wide - wide;
  }
  return laid.map(column => ({ ...column, wide: narrow.get(column) ?? column.wide }));
}

/** The titles, and a line for each row. In a width: in the columns that fit, without empty ones that may leave. */
export function tableLines<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  const isNarrow = width < Number.POSITIVE_INFINITY;
  const laid = columns
    .map(column => ({ ...column, cells: rows.map(row => column.text(row) ?? NOTHING) }))
    .filter(({ leaves, cells }) => leaves === undefined || !isNarrow || cells.some(cell => cell !== NOTHING))
    .map(column => ({ ...column, wide: widest([column.title, ...column.cells]) }));
  const shrunk = (column: (typeof laid)[number]) => Math.max(column.shrinks ?? column.wide, widthOf(column.title));
  const staying = new Set(fitting(narrowed(laid, 0, shrunk), width).map(({ title }) => title));
  const kept = narrowed(
    laid.filter(({ title }) => staying.has(title)),
    width,
    shrunk,
  );
  const shown = narrowed(kept, width, () => TEXT_LEAST);
  const line = (text: (of: (typeof shown)[number]) => string) =>
    shown
      .map(of => inColumn(cutTo(text(of), of.wide), of))
      .join(' '.repeat(GAP))
      .trimEnd();
  return [line(({ title }) => title), ...rows.map((_, i) => line(({ cells }) => cells[i] as string))];
}
