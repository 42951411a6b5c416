// The dictionary: what each field of a report means, in what unit, from where, and what it does not mean.

import { defineVerb, parseVerb, UsageError } from '../common/options.js';
import { json, print } from '../common/output.js';
import { nearest, quote } from '../common/text.js';
import { VERBS } from '../common/verbs.js';
import { dictionary, type Entry, tables } from '../layout/dictionary.gen.js';

export const verb = defineVerb({
  name: 'describe',
  summary: VERBS.describe,
  options: ['json'],
  arguments: ['[field]'],
  examples: [
    'beoboard describe',
    'beoboard describe cpu_iowait_pm',
    'beoboard describe net.rx_bytes',
    'beoboard describe --json',
  ],
  notes: 'The text is that of proto/stat-v1.md. Without a field it lists them all.',
});

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

function* list(): Generator<string> {
  const width = Math.max(...dictionary.map(entry => fullName(entry).length));
  for (const entry of dictionary)
    yield `${fullName(entry).padEnd(width)}  ${entry.unit.padEnd(16)}  ${entry.meaning || entry.source}\n`;
}

function* explain(entry: Entry): Generator<string> {
  const row = (label: string, text: string) => (text === '' ? '' : `  ${label.padEnd(12)}${text}\n`);
  yield `${fullName(entry)}\n`;
  yield row('means', entry.meaning);
  yield row('is not', entry.isNot);
  yield row('unit', entry.unit);
  yield row('kind', entry.kind);
  yield row('source', entry.source);
  yield row('valid bit', entry.set === '' ? '' : `${entry.set} (${entry.speed})`);
  yield row('place', `byte ${entry.offset} of ${entry.struct}, ${entry.type}`);
  const values = tables[entry.field === 'valid' ? 'bits valid' : entry.unit] ?? [];
  const what = entry.unit.startsWith('enum') ? 'value' : 'bit';
  for (const { value, name, meaning } of values)
    yield row(`${what} ${value}`, meaning === '' ? name : `${name}: ${meaning}`);
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  const [name] = args;
  const entries = name === undefined ? [...dictionary] : find(name);
  if (entries.length === 0) {
    const known = dictionary.flatMap(entry => [entry.field, fullName(entry)]);
    const meant = nearest(name ?? '', known);
    throw new UsageError(
      verb.name,
      `there is no field ${quote(name ?? '')}; ${meant ? `did you mean ${meant}?` : 'beoboard describe lists them'}`,
    );
  }
  if (values.json) await print([`${json({ schema: 1, fields: entries })}\n`]);
  else if (name === undefined) await print(list());
  else await print(entries.flatMap(entry => [...explain(entry)]));
  return 0;
}
