// Status as CSV (RFC 4180): numbers without units, and no brackets.

import { COLUMNS, type Column, chosenColumns } from '../query/columns.js';
import type { Survey, Surveyed } from '../query/survey.js';
import { spoken } from '../text/ascii.js';
import { Page } from '../text/buffer.js';
import { putNumber } from '../text/putjson.js';
import { oneLine } from '../text/text.js';

/** The buffer size from which a write is worthwhile. */
const PAGE_BYTES = 1 << 16;
/** More than any cell takes: a text has at most a hundred characters, of which each takes up to ten bytes. */
const CELL_MOST = 1 << 12;

/** A text as a field of RFC 4180. Nearly every text is printable ASCII without quotes and commas, which stays as it is. */
function cellOf(text: string): string {
  if (/^[ !#-+\--~]*$/.test(text)) return text;
  const line = spoken(oneLine(text));
  return /[",]/.test(line) ? `"${line.replaceAll('"', '""')}"` : line;
}

/** The age tells a program the same as the time of day. */
const USUAL = COLUMNS.filter(({ name }) => name !== 'since');

/**
 * A line of names, then a line for each node: values without brackets and units, empty where there is none. `shown` is
 * called after the first piece; each piece is valid until the next one is asked for. Throws an InputError for a column
 * that does not exist. `isSafe`: no text is a formula of a spreadsheet.
 */
export function csvPieces(
  found: Survey,
  shown: () => readonly Surveyed[],
  names: readonly string[] | undefined,
  isSafe = false,
): Iterable<Uint8Array> {
  return pieces(found, shown, names ? chosenColumns(names) : USUAL, isSafe);
}

function* pieces(
  { snapshot }: Survey,
  shown: () => readonly Surveyed[],
  columns: readonly Column[],
  isSafe: boolean,
): Generator<Uint8Array> {
  yield Buffer.from(`${columns.map(({ name }) => name).join(',')}\r\n`);
  const most = columns.length * CELL_MOST;
  const page = new Page(PAGE_BYTES + most);
  for (const { index, state } of shown()) {
    const node = snapshot.node(index);
    for (let i = 0; i < columns.length; i++) {
      const { name, field } = columns[i] as Column;
      if (i > 0) page.text(',');
      const value = name === 'state' ? state : field.value(node);
      if (typeof value === 'number') putNumber(page, value);
      else if (value !== undefined) page.text(cellOf(isSafe && /^[=+@-]/.test(spoken(value)) ? `'${value}` : value));
    }
    page.text('\r\n');
    if (page.room > most) continue;
    yield page.written;
    page.length = 0;
  }
  yield page.written;
}
