// What every name means that can be asked for (fields of a report, columns, flags, entries), its unit, its source, and
// what it does not mean; and what the words of lists and tables mean.

import { dictionary, type Entry, tables } from '../layout/dictionary.gen.js';
import { meanings } from '../layout/terms.gen.js';
import { titleWords, troubleWords } from '../layout/wording.gen.js';
import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { COLUMNS } from '../query/columns.js';
import { type EntryReading, entryReadings } from '../readings/entries.js';
import type { Reading } from '../readings/measures.js';
import { allReadings, meantReading, readingOf } from '../readings/readings.js';
import type { Problem } from '../shm/problems.js';
import { json, print } from '../text/output.js';
import { didYouMean, quote } from '../text/text.js';
import type { TroubleKind } from '../trouble/kinds.js';

export const verb = defineVerb({
  name: 'describe',
  options: ['json'],
  arguments: ['[field]'],
  examples: [
    'beoboard describe',
    'beoboard describe load',
    'beoboard describe cpu_iowait_pm',
    'beoboard describe net.rx_bytes',
    'beoboard describe held',
    'beoboard describe PROBLEMS',
    'beoboard describe --json',
  ],
  notes: `Without a name, it lists all fields that conditions, --columns, --sort and --by accept. A counter NAME has a rate, rates.NAME. The unit
at the end of a field's name may be left out; then write it with the value: mem_avail < 1GiB, mem_avail < 10%. The descriptions are those
of proto/stat-v1.md. It also explains states, problems, kinds of trouble, last words, and titles of columns.`,
});

type AnyReading = Reading | EntryReading;

/** Structs that a report holds, under the names of the fields that hold them: `net.rx_bytes` is `net_if.rx_bytes`. */
const holders = new Map(
  dictionary.filter(entry => entry.struct === 'report').map(entry => [entry.field, entry.type.replace(/\[.*/, '')]),
);

function find(name: string): Entry[] {
  const [holder, inner] = name.split('.');
  if (inner === undefined) return dictionary.filter(entry => entry.field === name);
  const struct = holders.get(holder ?? '') ?? holder;
  return dictionary.filter(entry => entry.struct === struct && entry.field === inner);
}

function fullName(entry: Entry): string {
  return entry.struct === 'report' ? entry.field : `${entry.struct}.${entry.field}`;
}

/** Readings that are not plain fields of the report: those of the board, sums, flags. */
function ownReadings(): Reading[] {
  return allReadings().filter(({ source }) => source === undefined);
}

/** The bit of the report that a reading stands for, by the name in its table; undefined: it is not a bit. */
function bitOf({ name, source }: AnyReading) {
  const [field] = source === undefined ? [] : find(source);
  const table = field && tables[tableOf(field)];
  const bit = table?.find(bit => bit.name === name.split('.').at(-1));
  return bit && field && { ...bit, of: fullName(field) };
}

/** The table that names the values or bits of a field. */
function tableOf({ field, unit }: Entry): string {
  return field === 'valid' ? 'bits valid' : unit;
}

/** A name as users write it: the fields of entries under the name of their list. */
function askedName(entry: Entry): string {
  const holder = [...holders].find(([, struct]) => struct === entry.struct && entry.struct !== 'report')?.[0];
  return entry.struct === 'report' ? entry.field : `${holder}.${entry.field}`;
}

/** A sentence as a part of a list: its first letter is small, unless the word is a name such as CPU. */
const asPart = (text: string) => text.replace(/^[A-Z](?=[a-z]|\s)/, letter => letter.toLowerCase());

type FieldRow = readonly [name: string, unit: string, meaning: string];

function* list(): Generator<string> {
  const ofReport = (entry: Entry): FieldRow => [askedName(entry), entry.unit, entry.meaning || entry.source];
  const ofReading = (reading: AnyReading): FieldRow => [
    reading.name,
    reading.unit.label,
    bitOf(reading)?.meaning || reading.about || reading.name,
  ];
  const flags = allReadings().filter(({ name }) => /^flags\./.test(name));
  const bits = [...entryReadings().values()].filter(reading => bitOf(reading) !== undefined);
  const parts: [title: string, rows: FieldRow[]][] = [
    ['Of a node, as the board knows it', ownReadings().map(ofReading)],
    [
      'Of its last report',
      dictionary.filter(({ struct, field }) => struct === 'report' && readingOf(field) !== undefined).map(ofReport),
    ],
    ['Flags of it: held, or flags.held', flags.map(ofReading)],
    [
      'Of each CPU group, network interface, GPU: any(gpu.util > 90%), all(…), gpu.0.util_pct, net.eth0.mbps; of all other interfaces and of the RDMA ports: net_rest.rx_bytes, fabric.rx_bytes',
      [...dictionary.filter(({ struct }) => struct !== 'report').map(ofReport), ...bits.map(ofReading)],
    ],
  ];
  const width = Math.max(...parts.flatMap(([, rows]) => rows.map(([name]) => name.length)));
  for (const [i, [title, rows]] of parts.entries()) {
    yield `${i > 0 ? '\n' : ''}${title}\n`;
    for (const [name, unit, meaning] of rows) yield `${name.padEnd(width)}  ${unit.padEnd(16)}  ${asPart(meaning)}\n`;
  }
}

const row = (label: string, text: string) => (text === '' ? '' : `  ${label.padEnd(11)} ${text}\n`);

/** Other names by which a field can be asked for. */
function otherNames(entry: Entry): string {
  const source = entry.struct === 'report' ? entry.field : `${entry.struct}.${entry.field}`;
  const all: AnyReading[] = [...allReadings(), ...entryReadings().values()];
  const others = all.filter(
    reading => reading.source === source && bitOf(reading) === undefined && reading.name !== fullName(entry),
  );
  // The name without its unit is another name.
  return others
    .map(({ name, unit, wantsUnit }) =>
      wantsUnit && name !== source ? `${name} (in ${unit.label || 'parts of 1'})` : name,
    )
    .join(', ');
}

/** The reading that the condition recent(oom) asks for, and the condition. */
const RECENT = /^(.+)_recent$/;
const ASKED_RECENT = /^recent\((.*)\)$/;

/** What is neither a field of the report nor a bit of one. */
function* explainReading(reading: AnyReading): Generator<string> {
  const bit = bitOf(reading);
  const column = COLUMNS.find(({ name }) => name === reading.name);
  yield `${reading.name}\n`;
  yield row('means', bit?.meaning || reading.about);
  yield row('unit', reading.unit.label);
  yield row('100 % is', reading.total ?? '');
  yield row('column', column?.title ?? '');
  yield row('also', RECENT.test(reading.name) ? reading.name.replace(RECENT, 'recent($1)') : '');
  if (bit !== undefined) yield row('place', `bit ${bit.value} of ${bit.of}`);
}

function* explain(entry: Entry): Generator<string> {
  yield `${fullName(entry)}\n`;
  yield row('means', entry.meaning);
  yield row('is not', entry.isNot);
  yield row('unit', entry.unit);
  yield row('kind', entry.kind);
  yield row('source', entry.source);
  yield row('valid bit', entry.set === '' ? '' : `${entry.set} (${entry.speed})`);
  yield row('100 % is', readingOf(entry.field)?.total ?? '');
  yield row('also', otherNames(entry));
  yield row('place', `byte ${entry.offset} of ${entry.struct}, ${entry.type}`);
  const values = tables[tableOf(entry)] ?? [];
  const what = entry.unit.startsWith('enum') ? 'value' : 'bit';
  for (const { value, name, meaning } of values)
    yield row(`${what} ${value}`, meaning === '' ? name : `${name}: ${meaning}`);
}

/** What a user may mean by a name: a reading that is not a field, or fields. */
function meant(asked: string): { reading: AnyReading | undefined; entries: Entry[] } {
  const name = asked.replace(ASKED_RECENT, '$1_recent');
  const reading = readingOf(name) ?? entryReadings().get(name);
  const isOwn = reading !== undefined && (reading.source === undefined || bitOf(reading) !== undefined);
  const entries = find(name);
  // Another name of a field, its rate, or a field of one entry.
  if (entries.length === 0 && !isOwn && reading?.source !== undefined) entries.push(...find(reading.source));
  return { reading: isOwn ? reading : undefined, entries };
}

const troubles: Readonly<Record<Exclude<TroubleKind, Problem>, string>> = troubleWords;
const TABLES = {
  state: meanings.node_state,
  problem: meanings.problem,
  trouble: troubles,
  'last words': meanings.last_words,
};

interface Word {
  /** A table, or a verb whose output has that title. */
  readonly of: string;
  readonly means: string;
}

/** What a word of lists and tables means, in each place where it stands; empty for another word. */
function wordsOf(name: string): Word[] {
  return [
    ...Object.entries(TABLES).flatMap(([of, table]) =>
      Object.entries(table).flatMap(([word, means]) =>
        word === name || (of === 'state' && word.toUpperCase() === name) ? [{ of, means }] : [],
      ),
    ),
    ...COLUMNS.filter(({ title }) => title === name).map(column => {
      const means = column.field.about || dictionary.find(({ field }) => field === column.field.source)?.meaning;
      return { of: 'status', means: `${column.name}: ${means || column.spoken}` };
    }),
    ...titleWords.filter(({ title }) => title === name).map(({ of, meaning: means }) => ({ of, means })),
  ];
}

/** The meaning of a name, in lines; empty for an unknown name. */
export function explained(name: string): string[] {
  const { reading, entries } = meant(name);
  const words = wordsOf(name);
  return [
    ...(reading === undefined ? [] : explainReading(reading)),
    ...entries.flatMap(entry => [...explain(entry)]),
    ...(words.length > 0 ? [`${name}\n`] : []),
    ...words.map(({ of, means }) => row(of, means)),
  ];
}

function readingJson({ name, about, unit, words, total, source }: AnyReading) {
  return { name, about: about || undefined, unit: unit.label, quantity: unit.quantity, words, total, source };
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  const [name] = args;
  if (name === undefined) {
    const readings = [...allReadings(), ...entryReadings().values()];
    if (values.json) await print([`${json({ schema: 1, fields: dictionary, readings: readings.map(readingJson) })}\n`]);
    else await print(list());
    return 0;
  }
  const { reading, entries } = meant(name);
  const words = wordsOf(name);
  if (reading === undefined && entries.length === 0 && words.length === 0) {
    const others = [
      ...[...entryReadings().keys(), ...dictionary.flatMap(entry => [entry.field, fullName(entry)])],
      ...Object.values(TABLES).flatMap(Object.keys),
    ];
    throw new UsageError(
      `there is no field ${quote(name)}; ${didYouMean(meantReading(name.replace(ASKED_RECENT, '$1_recent'), others), 'beoboard describe lists them')}`,
    );
  }
  const own = reading === undefined ? [] : [reading];
  if (values.json) await print([`${json({ schema: 1, fields: entries, readings: own.map(readingJson), words })}\n`]);
  else await print(explained(name));
  return 0;
}
