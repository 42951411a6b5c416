// All that is known about one node, one line per field: name, value, unit, and the rate of counters. Judges nothing.

import type { Field } from '../layout/codec.js';
import { enums, structs } from '../layout/layout.gen.js';
import { COUNTERS } from '../readings/readings.js';
import { reasonText } from '../shm/sentences.js';
import type { Node } from '../shm/snapshot.js';
import type { Painter } from '../terminal/style.js';
import { formatDuration } from '../text/durations.js';
import { NOTHING, type TableColumn, tableLines } from '../text/layout.js';
import { oneLine } from '../text/text.js';

type ReadingLine = readonly [name: string, value: string, unit: string, rate: string];

function shownValue(value: unknown, { unit }: Field): string {
  if (value === undefined) return NOTHING;
  if (Array.isArray(value)) return value.join(' ') || NOTHING;
  if (typeof value === 'string') return oneLine(value) || NOTHING;
  if (unit.startsWith('enum ')) return enums[unit.slice(5) as keyof typeof enums][Number(value)] ?? String(value);
  if (unit.startsWith('bits ')) return `0x${(value as number | bigint).toString(16)}`;
  if (typeof value === 'bigint' && unit === 'id') return value.toString(16).padStart(16, '0');
  return String(value);
}

/** The word of an enum or bit mask needs no unit. */
const shownUnit = ({ unit }: Field) => (/^(enum|bits|id\b)/.test(unit) ? '' : unit);

const perSecond = (rate: unknown) =>
  typeof rate === 'number' ? `${Number.isInteger(rate) ? rate : rate.toFixed(2)}/s` : '';

type StructValues = Readonly<Record<string, unknown>>;

/** The lines of a struct's fields, and of the structs within it. */
function* linesOf(
  struct: keyof typeof structs,
  values: StructValues,
  rates: StructValues,
  prefix: string,
): Generator<ReadingLine> {
  for (const [field, described] of Object.entries<Field>(structs[struct].fields)) {
    if (described.kind === 'reserved') continue;
    const [name, value, rate] = [`${prefix}${field}`, values[field], rates[field]];
    if (!Object.hasOwn(structs, described.type)) {
      const share = field.endsWith('_ms') ? rates[field.replace(/_ms$/, '_pct')] : undefined;
      const shown = [perSecond(rate), ...(typeof share === 'number' ? [`${share.toFixed(1)}%`] : [])];
      yield [name, shownValue(value, described), shownUnit(described), shown.join('  ').trim()];
      continue;
    }
    const entries = (value === undefined ? [] : Array.isArray(value) ? value : [value]) as StructValues[];
    if (entries.length === 0) yield [name, NOTHING, '', ''];
    for (const [i, entry] of entries.entries()) {
      // Interfaces have names, by which their rates are found; GPUs and groups have numbers.
      const own = typeof entry.name === 'string' ? entry.name : undefined;
      const found = Array.isArray(rate) ? rate.find(other => other.name === own) : rate;
      const label = !Array.isArray(value) ? name : `${name}.${oneLine(own ?? String(i))}`;
      yield* linesOf(described.type as keyof typeof structs, entry, (found ?? {}) as StructValues, `${label}.`);
    }
  }
}

/** The fields of the record that are shown besides its reports. */
const COUNTED = [['reports', 'accepted'], ...COUNTERS.map(name => [name, name] as const)] as const;

function* recordLines(node: Node): Generator<ReadingLine> {
  const { record, lastRefusal } = node;
  for (const [name, field] of COUNTED) yield [name, String(record[field] ?? NOTHING), '', ''];
  yield ['offset_us', node.reportAt === undefined ? NOTHING : String(record.offset_us ?? NOTHING), 'us', ''];
  const refusal = lastRefusal && `${reasonText(lastRefusal)}, ${formatDuration(lastRefusal.ageMs)} ago`;
  yield ['link', oneLine(node.linkName ?? NOTHING), '', ''];
  yield ['last_refusal', refusal ?? NOTHING, '', ''];
}

const COLUMNS: readonly TableColumn<ReadingLine>[] = [
  { title: 'FIELD', isLeft: true, text: ([name]) => name, shrinks: 24 },
  { title: 'VALUE', text: ([, value]) => value, shrinks: 24 },
  { title: 'UNIT', isLeft: true, text: ([, , unit]) => unit, leaves: 2 },
  { title: 'RATE', isLeft: true, text: ([, , , rate]) => rate, leaves: 1 },
];

/** The titles, and a line for each field, in a width. */
export function nodePage(node: Node, paint: Painter, width: number): string[] {
  const values = (node.report ?? {}) as StructValues;
  const lines = [...recordLines(node), ...linesOf('report', values, (node.rates ?? {}) as StructValues, '')];
  const [titles = '', ...shown] = tableLines(COLUMNS, lines, width);
  return [paint.title(titles), ...shown];
}
