// Status as CSV (RFC 4180): numbers without units, and no brackets.

import { oneLine } from '../common/text.js';
import { COLUMNS, chosenColumns } from '../telling/columns.js';
import type { Survey, Surveyed } from '../telling/survey.js';

/** A field of RFC 4180. */
function csvCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  const text = typeof value === 'number' ? String(Math.round(value * 1000) / 1000) : oneLine(value);
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line of names, then a line for each node: values without brackets and units, empty where there is none. */
export function* csvLines(
  { snapshot }: Survey,
  nodes: readonly Surveyed[],
  names: readonly string[] | undefined,
): Generator<string> {
  const columns = names ? chosenColumns(names) : COLUMNS;
  yield `${columns.map(({ name }) => name).join(',')}\r\n`;
  for (const { index, state } of nodes) {
    const node = snapshot.node(index);
    const cells = columns.map(({ name, field }) => csvCell(name === 'state' ? state : field.value(node)));
    yield `${cells.join(',')}\r\n`;
  }
}
