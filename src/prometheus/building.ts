// Makes families of metrics from readings. src/readings is the only place that says how each number is computed.

import { getter } from '../layout/codec.js';
import { dictionary } from '../layout/dictionary.gen.js';
import { structs } from '../layout/layout.gen.js';
import type { Cursor } from '../readings/cursor.js';
import { type EntryList, entryReadings } from '../readings/entries.js';
import { type Measure, type Reading, times } from '../readings/measures.js';
import { readingOf } from '../readings/readings.js';
import type { Label, MetricColumn, MetricFamily, Monotonic, Series, Whose } from './family.js';
import { SUMS } from './names.js';
import { escaped } from './plan.js';

const { fields } = structs.report;

/** The description of it in the contract or the table of readings, as a sentence. */
function helpOf({ about, source, name }: Pick<Reading, 'about' | 'source' | 'name'>): string {
  const [struct, inner] = source?.includes('.') ? source.split('.') : ['report', source];
  const meaning = dictionary.find(entry => entry.struct === struct && entry.field === inner)?.meaning;
  const text = about || meaning || name;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

export function known(name: string): Reading & { measure: Measure } {
  const reading = readingOf(name);
  if (reading?.measure === undefined) throw new Error(`no reading is called ${name}`);
  return reading as Reading & { measure: Measure };
}

/** The number of digits after the point that show a number of that unit exactly, in its base unit. */
function digitsOf(size: number): number {
  return size >= 1 ? 0 : Math.round(-Math.log10(size));
}

/** The digits of a value computed from several numbers. */
const MADE_DIGITS = 3;

/** A column from a reading, in the base unit of its quantity: bytes, seconds, fractions of 1. */
export function columnOf({ measure, unit, name, source }: Reading & { measure: Measure }, of: Whose): MetricColumn {
  const isField = source !== undefined && !name.startsWith('rates.');
  return { measure: times(measure, unit.size), of, digits: isField ? digitsOf(unit.size) : MADE_DIGITS };
}

/** A column of whole numbers that does not come from the table of readings. */
export function column(measure: Measure, of: Whose, more: Partial<MetricColumn> = {}): MetricColumn {
  return { measure, of, digits: 0, ...more };
}

/** Of a family made from a reading: what does not follow from that. */
interface More extends Partial<Pick<MetricColumn, 'digits' | 'label' | 'kept'>> {
  readonly help?: string;
  readonly of?: Whose;
}

/** A family of one series. */
export function one(name: string, help: string, column: MetricColumn, labels = ''): MetricFamily {
  return { name, help, series: [{ labels, column }] };
}

/** A value of live nodes, by the name of its reading. */
export function gauge(name: string, reading: string, { help, of = 'live', ...more }: More = {}): MetricFamily {
  const found = known(reading);
  return one(name, help ?? helpOf(found), { ...columnOf(found, of), ...more });
}

/** The same of one that only increases until the node boots. */
export function counter(name: string, reading: string, more: More = {}): MetricFamily {
  return gauge(`${name}_total`, reading, more);
}

/** Several series with different values of a label. */
export function several<Value extends string>(
  name: string,
  help: string,
  label: string,
  values: readonly Value[],
  columnOf: (value: Value, which: number) => MetricColumn,
): MetricFamily {
  const series = values.map(
    (value, which): Series => ({
      labels: `${label}="${value}",`,
      column: columnOf(value, which),
    }),
  );
  return { name, help, series };
}

/** A value of each entry of a list, with a series each. */
export function each(
  name: string,
  help: string,
  list: EntryList,
  reading: string,
  labelled: (entry: number) => Pick<Series, 'labels'> & { label?: Label },
  isLeftOut: (cursor: Cursor, entry: number) => boolean = () => false,
): MetricFamily {
  const found = entryReadings().get(reading);
  if (found === undefined) throw new Error(`no reading is called ${reading}`);
  const { take, unit } = found;
  const series = Array.from({ length: fields[list].count }, (_, entry): Series => {
    const { labels, label } = labelled(entry);
    const measure: Measure = {
      take: cursor => (isLeftOut(cursor, entry) ? Number.NaN : take(cursor, entry)),
    };
    const scaled = times(measure, unit.size);
    return { labels, column: { measure: scaled, of: 'live', digits: digitsOf(unit.size), ...(label && { label }) } };
  });
  return { name, help, series };
}

/** What tells the run of a sender from the others of one boot: when it started, in ms. */
const runOf = (cursor: Cursor) => Math.floor(nanoseconds(cursor, cursor.report + fields.start_boot_ns.offset) / 1e6);

/** A sum that each run of a sender begins anew. `of`: another number of 32 bits begins it anew as well. */
export function keptSum(sum: (typeof SUMS)[number], of: Measure['take'] = () => 0): { kept: Monotonic } {
  const epoch = { take: (cursor: Cursor) => (runOf(cursor) % 2 ** 20) * 2 ** 32 + of(cursor) };
  return { kept: { ...keptTally(sum).kept, epoch } };
}

/** One that goes on in the next run, for what it counts is seldom and must not be missed. */
export const keptTally = (sum: (typeof SUMS)[number]) => ({ kept: { which: SUMS.indexOf(sum), how: 'sum' } as const });

const DEVICES: string[] = [];

/** The number of devices in the sum: another number makes another series, because the sum jumps. */
export function devices(measure: Measure): Label {
  return cursor => {
    const count = measure.take(cursor);
    DEVICES[count] ??= `devices="${count}",`;
    return DEVICES[count];
  };
}

export function nanoseconds({ view }: Cursor, at: number): number {
  return view.getUint32(at + 4, true) * 2 ** 32 + view.getUint32(at, true);
}

const interfaceName = getter('net_if', 'name');

export const ofInterface = (entry: number) => ({
  labels: '',
  label: (({ view, report }) =>
    `device="${escaped(interfaceName(view, report + fields.net.offset + entry * structs.net_if.bytes))}",`) as Label,
});

/** Two series with the same labels would make a scrape fail: of interfaces of one name the first is exported. */
export function isRepeated({ view, report }: Cursor, entry: number): boolean {
  const nameAt = (i: number) => interfaceName(view, report + fields.net.offset + i * structs.net_if.bytes);
  for (let i = 0; i < entry; i++) if (nameAt(i) === nameAt(entry)) return true;
  return false;
}
