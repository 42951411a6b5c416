// What the judge of jobs says, in words: the same for all who show it.

import { COMPARED } from '../outliers/readings.js';
import { readingOf } from '../readings/readings.js';
import { joined, writeValue } from '../readings/units.js';
import type { OddMark } from '../schedulerfile/statefile.js';
import { shownNames } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import { cut, oneLine } from '../text/text.js';

/** A reading that this version does not know is named in so many characters. */
const LABEL_MOST = 24;

/** The reading in which a node differs, in words. */
export function readingText(reading: string): string {
  return COMPARED.find(compared => compared.reading === reading)?.label ?? cut(oneLine(reading), LABEL_MOST);
}

/** `clock 1.9 GHz, others 2.9 to 3 GHz`. */
export function valuesText(mark: Pick<OddMark, 'reading' | 'value' | 'lowest' | 'highest'>): string {
  const { reading, value, lowest, highest } = mark;
  const unit = readingOf(reading)?.unit;
  const text = (number: number) => (unit === undefined ? String(number) : writeValue(number, unit));
  const [low, high] = [text(lowest), text(highest)];
  return `${readingText(reading)} ${text(value)}, others ${low === high ? low : joined(low, 'to', high)}`;
}

/** The marks of one job in words that follow the names of its nodes; a time is told by whoever shows them. */
export function marksText(marks: readonly OddMark[]): string {
  const [{ job = '', peers = 0 } = {}] = marks;
  const nodes = new Set(marks.map(({ node }) => node));
  if (nodes.size === 1)
    return `differs from the other ${peers} nodes of job ${oneLine(job)}: ${marks.map(valuesText).join('; ')}`;
  // Those that left the others together are told alike.
  const alike = groupBy(marks, mark => `${valuesText(mark)} ${mark.since_ms}`);
  const told = groupBy(alike.values(), some => shownNames([...new Set(some.map(({ node }) => node))]));
  const each = Array.from(
    told,
    ([names, all]) => `${names} ${all.map(([mark]) => valuesText(mark as OddMark)).join('; ')}`,
  );
  return `differ from the other nodes of job ${oneLine(job)}: ${each.join('; ')}`;
}
