// Makes from a contract a C header and TypeScript objects. Pure: contract in, texts out.

import {
  bare,
  type Contract,
  type Field,
  fieldBytes,
  messageFields,
  NUMBERS,
  type Origin,
  type Struct,
  type Term,
} from './model.js';

/** Every range that a message must keep: those of the table, and for each enum field its highest value. */
function allRanges(contract: Contract): { field: Field; least: number; most: number; reason: string }[] {
  const fields = messageFields(contract);
  const stated = contract.ranges.map(({ field: name, least, most, reason }) => {
    return { field: fields.find(field => field.name === name) as Field, least, most, reason };
  });
  const enums = fields.flatMap(field => {
    const [what, table] = field.unit.split(' ');
    if (what !== 'enum') return [];
    const most = Math.max(...(contract.enums.get(table ?? '') ?? []).map(entry => entry.value));
    return [{ field, least: 0, most, reason: contract.names.beyond }];
  });
  return [...stated, ...enums];
}

/** The bytes of a message that belong to some sets, in as few pieces as possible. */
function pieces(sets: string[], contract: Contract): { offset: number; bytes: number }[] {
  const found: { offset: number; bytes: number }[] = [];
  for (const field of messageFields(contract).filter(({ set }) => sets.includes(set))) {
    const last = found.at(-1);
    const bytes = fieldBytes(field, contract);
    if (last !== undefined && last.offset + last.bytes === field.offset) last.bytes += bytes;
    else found.push({ offset: field.offset, bytes });
  }
  return found;
}

/** Structs in an order in which each comes after those that it contains. */
function inOrder(contract: Contract): Struct[] {
  const done: Struct[] = [];
  const visit = (struct: Struct) => {
    if (done.includes(struct)) return;
    for (const field of struct.fields) {
      const inner = contract.structs.get(field.type);
      if (inner !== undefined) visit(inner);
    }
    done.push(struct);
  };
  for (const struct of contract.structs.values()) visit(struct);
  return done;
}

/** The bytes of a message that must be zero, in pieces that fit into a register. */
function reservedRanges(contract: Contract): [offset: number, bytes: number][] {
  return messageFields(contract)
    .filter(field => field.kind === 'reserved')
    .flatMap(field => {
      const bytes = fieldBytes(field, contract);
      return Array.from({ length: Math.ceil(bytes / 8) }, (_, i): [number, number] => [
        field.offset + 8 * i,
        Math.min(8, bytes - 8 * i),
      ]);
    });
}

const byNumber = (terms: Term[]) => [...terms].sort((a, b) => a.value - b.value);
const ranked = (terms: Term[]) => [...terms].sort((a, b) => a.rank - b.rank);
const nameOf = ({ name }: { readonly name: string }) => name;
const meaningOf = ({ meaning }: Term) => bare(meaning);
const hex = (value: bigint, digits = 0) => `0x${value.toString(16).padStart(digits, '0')}`;

/** In the form for people: in hexadecimal digits if it is not a count. */
const literal = (value: bigint) => (value > 0xffffn ? hex(value) : value.toString());

const constant = (name: string) => name.replaceAll('-', '_').toUpperCase();

// ---- C ----

/** The names of macros: the prefix and these words. */
const macros =
  ({ names }: Contract) =>
  (...words: string[]) =>
    [names.prefix, ...words].map(constant).join('_');

function cType(type: string, prefix: string): string {
  if (type === 'char') return 'char';
  return type in NUMBERS ? `${type.startsWith('u') ? 'uint' : 'int'}${type.slice(1)}_t` : `struct ${prefix}_${type}`;
}

const indented = (rows: string[]) => rows.map(row => `  ${row}`);

function cArray(type: string, name: string, rows: string[]): string[] {
  return [`static const ${type} ${name}[] __attribute__((unused)) = {`, ...indented(rows), '};'];
}

function cTexts(name: string, texts: string[]): string[] {
  const rows = texts.map(text => `${JSON.stringify(text)},`);
  return cArray('char *const', name, rows);
}

/** An enum of C, and the names of its values. */
function cEnum(contract: Contract, table: string, entries: { name: string; value: number }[]): string[] {
  const macro = macros(contract);
  const name = `${contract.names.prefix}_${table}`;
  return [
    ...['', `enum ${name} {`],
    ...entries.map(entry => `  ${macro(table, entry.name)} = ${entry.value},`),
    ...['};', `#define ${macro(table, 'count')} ${entries.length}`],
    ...cTexts(`${name}_names`, entries.map(nameOf)),
  ];
}

/** A table of durations, if the terms have any. */
function cQuiet(contract: Contract, table: string, terms: Term[]): string[] {
  const rows = byNumber(terms).flatMap(({ quietMs }) => (quietMs === undefined ? [] : [`${quietMs},`]));
  return rows.length === 0 ? [] : cArray('uint32_t', `${contract.names.prefix}_${table}_quiet_ms`, rows);
}

function cBits(contract: Contract): string[] {
  const macro = macros(contract);
  return [...contract.bits].flatMap(([table, entries]) => [
    '',
    ...entries.map(({ name, value }) => `#define ${macro(table, name)} (UINT64_C(1) << ${value})`),
    `#define ${macro(table, 'known')} UINT64_C(${hex(entries.reduce((all, { value }) => all | (1n << BigInt(value)), 0n))})`,
  ]);
}

/** For each word what takes it apart, and what puts it together. */
function cWords(contract: Contract): string[] {
  const macro = macros(contract);
  return [...contract.words].flatMap(([word, fields]) => {
    const parts = fields.map(
      ({ name }) => `((uint64_t)(${name}) & ${macro(word, name)}_MOST) << ${macro(word, name)}_SHIFT`,
    );
    return [
      ...['', `/* word ${word} */`],
      ...fields.flatMap(({ name, shift, bits }) => [
        `#define ${macro(word, name)}_SHIFT ${shift}`,
        `#define ${macro(word, name)}_MOST UINT64_C(${hex((1n << BigInt(bits)) - 1n)})`,
        `#define ${macro(word, name)}(word) ((uint64_t)(word) >> ${macro(word, name)}_SHIFT & ${macro(word, name)}_MOST)`,
      ]),
      `#define ${macro(word)}(${fields.map(nameOf).join(', ')}) (\\\n  ${parts.join(' | \\\n  ')})`,
    ];
  });
}

/** For each struct a struct, with an assert for each field. */
function cStructs(contract: Contract): string[] {
  const macro = macros(contract);
  const { prefix } = contract.names;
  const assert = macro('static-assert');
  return inOrder(contract).flatMap(({ name, bytes, fields }) => [
    ...['', `struct ${prefix}_${name} {`],
    ...fields.map(field => `  ${cType(field.type, prefix)} ${field.name}${field.array ? `[${field.count}]` : ''};`),
    ...['};', `#define ${macro(name, 'bytes')} ${bytes}`],
    `${assert}(sizeof(struct ${prefix}_${name}) == ${bytes}, "size of ${name}");`,
    ...fields.map(
      field =>
        `${assert}(offsetof(struct ${prefix}_${name}, ${field.name}) == ${field.offset}, "${name}.${field.name}");`,
    ),
  ]);
}

/** The tables that validation uses. */
function cRanges(contract: Contract): string[] {
  const macro = macros(contract);
  const { prefix, message, reasons } = contract.names;
  const reserved = reservedRanges(contract).map(([offset, bytes]) => `{${offset}, ${bytes}},`);
  const ranges = allRanges(contract).map(({ field: { offset, type, name }, least, most, reason }) => {
    const bounds = `${macro(reasons, reason)}, ${least}, ${most}`;
    return `{${offset}, ${NUMBERS[type]}, ${bounds}}, /* ${name} */`;
  });
  return [
    ...['', `/* Bytes of a ${message} that have to be zero; at most eight each. */`],
    `struct ${prefix}_reserved { uint16_t offset, bytes; };`,
    ...cArray(`struct ${prefix}_reserved`, `${prefix}_${message}_reserved`, reserved),
    ...['', `/* Values that a ${message} may hold, and the reason it is refused for otherwise. */`],
    `struct ${prefix}_range { uint16_t offset; uint8_t bytes; uint8_t reason; uint32_t least, most; };`,
    ...cArray(`struct ${prefix}_range`, `${prefix}_${message}_ranges`, ranges),
  ];
}

function cSources(contract: Contract): string[] {
  const macro = macros(contract);
  const { prefix, message } = contract.names;
  return [...contract.sources].flatMap(([table, origins]) => {
    const own = origins.map(({ sets }) => [...pieces(sets, contract), { offset: 0, bytes: 0 }]);
    const name = `${prefix}_${table}`;
    return [
      '',
      `/* Sources: how often each is read, 0: each time; which bytes of a ${message} are its own, up to one of 0. */`,
      `#define ${macro(table, 'count')} ${origins.length}`,
      `#define ${macro(table, 'each')}(each) \\\n  ${origins.map(({ name }) => `each(${name})`).join(' \\\n  ')}`,
      `struct ${name}_piece { uint16_t offset, bytes; };`,
      `struct ${name}_source {`,
      ...['  const char *name;', '  uint32_t period_ms, most_ms, rated;'],
      `  struct ${name}_piece pieces[${Math.max(...own.map(list => list.length))}];`,
      '};',
      ...cArray(
        `struct ${name}_source`,
        `${name}_sources`,
        origins.map(({ name, periodMs, mostMs, rated }, i) => {
          const list = own[i]?.map(({ offset, bytes }) => `{${offset}, ${bytes}}`);
          return `{"${name}", ${periodMs}, ${mostMs}, ${Number(rated)}, {${list?.join(', ')}}},`;
        }),
      ),
    ];
  });
}

/**
 * The C header: for each struct a struct, with an assert for each field; constants; and the tables that validation
 * uses.
 */
export function emitC(contract: Contract): string {
  const macro = macros(contract);
  const { prefix, notice } = contract.names;
  return [
    `/* ${notice} */`,
    ...[`#ifndef ${macro('layout-gen-h')}`, `#define ${macro('layout-gen-h')}`],
    ...['#include <stddef.h>', '#include <stdint.h>', '', '#ifdef __cplusplus'],
    ...[`#define ${macro('static-assert')} static_assert`, '#else'],
    ...[`#define ${macro('static-assert')} _Static_assert`, '#endif', ''],
    ...[...contract.hashes].map(([document, hash]) => `#define ${macro('hash', document)} UINT64_C(${hex(hash, 16)})`),
    ...[...contract.constants].flatMap(([table, constants]) => [
      '',
      ...constants.map(
        ({ name, type, value }) => `#define ${macro(table, name)} UINT${type.slice(1)}_C(${literal(value)})`,
      ),
    ]),
    ...[...contract.enums].flatMap(([table, entries]) => cEnum(contract, table, entries)),
    ...[...contract.terms].flatMap(([table, terms]) => [
      ...cEnum(contract, table, byNumber(terms)),
      ...cTexts(`${prefix}_${table}_meanings`, byNumber(terms).map(meaningOf)),
      ...cQuiet(contract, table, terms),
    ]),
    ...[...cBits(contract), ...cWords(contract), ...cStructs(contract), ...cRanges(contract), ...cSources(contract)],
    ...['', '#endif', ''],
  ].join('\n');
}

// ---- TypeScript ----

/** A constant from which TypeScript infers the types. */
function exported(about: string, name: string, rows: string[]): string[] {
  return ['', `/** ${about} */`, `export const ${name} = {`, ...indented(rows), '} as const;'];
}

/** For each of these tables an object with these rows. */
function objects<T>(tables: Iterable<[name: string, T]>, rowsOf: (table: T) => string[]): string[] {
  return [...tables].flatMap(([name, table]) => [`${name}: {`, ...indented(rowsOf(table)), '},']);
}

const quoted = (words: string[]) => `[${words.map(word => `'${word}'`).join(', ')}]`;

const namesOf = (entries: readonly { readonly name: string }[]) => quoted(entries.map(nameOf));

function sourceRow({ name, sets, flags, periodMs, mostMs, rated }: Origin): string {
  const facts = [`sets: ${quoted(sets)}`, `flags: ${quoted(flags)}`, `periodMs: ${periodMs}`];
  if (mostMs > 0) facts.push(`mostMs: ${mostMs}`);
  if (rated) facts.push('rated: true');
  return `${name}: { ${facts.join(', ')} },`;
}

/** The structs whose names are wanted. */
function structsOf({ structs }: Contract, isWanted: (name: string) => boolean): string[] {
  return exported(
    'Structs of the contract: the size and fields of each.',
    'structs',
    objects(
      [...structs].filter(([name]) => isWanted(name)),
      ({ bytes, fields }) => [
        ...[`bytes: ${bytes},`, 'fields: {'],
        ...fields.map(({ name, offset, type, array, count, unit, kind, set }) => {
          const ofSet = set === '' ? '' : `, set: '${set}'`;
          return `  ${name}: { offset: ${offset}, type: '${type}', count: ${array ? count : 0}, unit: '${unit}', kind: '${kind}'${ofSet} },`;
        }),
        '},',
      ],
    ),
  );
}

/** The structs of these names, which no program looks into but tests do. */
export const emitTestLayout = (contract: Contract, names: readonly string[]): string =>
  [`// ${contract.names.notice}`, ...structsOf(contract, name => names.includes(name)), ''].join('\n');

/**
 * The layout for programs: offsets, types, units and kinds, as one constant from which TypeScript infers the types.
 * `without`: structs that they do not look into.
 */
export function emitLayout(contract: Contract, without: readonly string[] = []): string {
  const { hashes, constants, words, bits, sources, enums } = contract;
  return [
    ...[`// ${contract.names.notice}`, ''],
    ...[...hashes].map(([document, hash]) => `export const HASH_${constant(document)} = ${hex(hash, 16)}n;`),
    ...exported(
      'Numbers that the documents name.',
      'constants',
      [...constants].map(([table, rows]) => {
        const shown = rows.map(({ name, type, value }) => `${name}: ${literal(value)}${type === 'u64' ? 'n' : ''}`);
        return `${table}: { ${shown.join(', ')} },`;
      }),
    ),
    ...structsOf(contract, name => !without.includes(name)),
    ...exported(
      'Words that hold more than one number: name → field → its lowest bit, and how many it has.',
      'words',
      objects(words, fields => fields.map(({ name, shift, bits }) => `${name}: { shift: ${shift}, bits: ${bits} },`)),
    ),
    ...exported(
      'Names of bits: name → bit. Sets are among them.',
      'bits',
      objects(bits, entries => entries.map(({ name, value }) => `${name}: ${value},`)),
    ),
    ...exported(
      'What is read at once: source → its sets and flags, how often (0: each time), also at least how often, whether it has rates.',
      'sources',
      objects(sources, origins => origins.map(sourceRow)),
    ),
    ...exported(
      'Names of values: enum → names in the order of their values.',
      'enums',
      [...enums].map(([table, entries]) => `${table}: ${namesOf(entries)},`),
    ),
    '',
  ].join('\n');
}

/** The words that programs write, for programs that need nothing else of the contract. */
export function emitTerms(contract: Contract): string {
  const tables = [...contract.terms];
  const lists = (sort: (terms: Term[]) => Term[]) =>
    tables.map(([table, terms]) => `${table}: ${namesOf(sort(terms))},`);
  return [
    `// ${contract.names.notice}`,
    ...exported('Words, each at the place of its number.', 'terms', lists(byNumber)),
    ...exported('The same in the order in which they are listed.', 'ranked', lists(ranked)),
    ...exported(
      'What each means, in that order.',
      'meanings',
      objects(tables, terms => ranked(terms).map(term => `${term.name}: ${JSON.stringify(meaningOf(term))},`)),
    ),
    '',
  ].join('\n');
}

/** The dictionary for people: the meaning of each field of the message, and what it does not mean. */
export function emitDictionary(contract: Contract): string {
  const { notice, message } = contract.names;
  const out = [`// ${notice}`, '', 'export interface Entry {'];
  for (const key of ['struct', 'field', 'type', 'unit', 'kind', 'set', 'speed', 'source', 'meaning', 'isNot'])
    out.push(`  ${key}: string;`);
  out.push('  offset: number;', '}', '', 'export const dictionary: readonly Entry[] = [');
  const holders = new Set([message, ...messageFields(contract).map(field => field.type)]);
  for (const struct of contract.structs.values()) {
    if (!holders.has(struct.name)) continue;
    for (const field of struct.fields) {
      if (field.kind === 'reserved') continue;
      const speed = contract.sets.find(entry => entry.name === field.set)?.speed ?? '';
      out.push(
        `  ${JSON.stringify({
          struct: struct.name,
          field: field.name,
          type: `${field.type}${field.array ? `[${field.count}]` : ''}`,
          unit: field.unit,
          kind: field.kind,
          set: field.set,
          speed,
          source: bare(field.source),
          meaning: bare(field.meaning),
          isNot: bare(field.isNot),
          offset: field.offset,
        })},`,
      );
    }
  }
  out.push('];', '', '/** Meaning of every bit and enum value: table → entries. */');
  out.push(
    'export const tables: Readonly<Record<string, readonly { value: number; name: string; meaning: string }[]>> = {',
  );
  for (const [what, tables] of [
    ['bits', contract.bits],
    ['enum', contract.enums],
  ] as const)
    for (const [table, entries] of tables) {
      const plain = entries.map(({ value, name, meaning }) => ({ value, name, meaning: bare(meaning) }));
      out.push(`  ${JSON.stringify(`${what} ${table}`)}: ${JSON.stringify(plain)},`);
    }
  out.push('};', '');
  return out.join('\n');
}
