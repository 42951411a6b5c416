// Tables of what a scheduler says, for terminals: a line of titles, and one for each row.

import { NOTHING } from '../query/columns.js';

export interface TableColumn<Row> {
  readonly title: string;
  /** Texts are aligned left, numbers right. */
  readonly isLeft?: boolean;
  /** undefined: nothing is known. */
  readonly text: (row: Row) => string | undefined;
  /** Where there is no room, the column with the highest number is left out first; absent: it always stays. */
  readonly leaves?: number;
}

const GAP = 2;

/** The titles, and a line for each row, in the columns that fit; without those of which nothing is known and that may leave. */
export function tableLines<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  let laid = columns
    .map(column => ({ column, cells: rows.map(row => column.text(row) ?? NOTHING) }))
    .filter(({ column, cells }) => column.leaves === undefined || cells.some(cell => cell !== NOTHING))
    .map(({ column, cells }) => ({
      column,
      cells,
      wide: cells.reduce((most, { length }) => Math.max(most, length), column.title.length),
    }));
  for (;;) {
    const needed = laid.reduce((all, { wide }) => all + wide + GAP, -GAP);
    const [first] = laid
      .filter(({ column }) => column.leaves !== undefined)
      .sort((a, b) => (b.column.leaves ?? 0) - (a.column.leaves ?? 0));
    if (needed <= width || first === undefined) break;
    laid = laid.filter(one => one !== first);
  }
  const line = (text: (of: (typeof laid)[number]) => string) =>
    laid
      .map(of => (of.column.isLeft ? text(of).padEnd(of.wide) : text(of).padStart(of.wide)))
      .join(' '.repeat(GAP))
      .trimEnd();
  return [line(({ column }) => column.title), ...rows.map((_, i) => line(({ cells }) => cells[i] as string))];
}
