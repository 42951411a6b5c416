// Compiles contracts: reads the tables of documents, checks them, and makes a C header and TypeScript objects from
// them. Knows Markdown tables and nothing of beoboard: the documents define the fields, and contract.ts the names.
// Pure: texts in, texts out.

import { createHash } from 'node:crypto';

/** What the documents do not say. */
export interface Names {
  /** The prefix of everything in the C header: `bb` for `struct bb_report` and `BB_REPORT_BYTES`. */
  prefix: string;
  /** The first line of generated files, as text. */
  notice: string;
  /**
   * The struct that comes from outside: its reserved bytes and ranges are validated, and its fields are described for
   * people.
   */
  message: string;
  /** The enum of the reasons for rejecting it. */
  reasons: string;
  /** The reason for a value beyond its enum. */
  beyond: string;
}

/** One document: its path (for messages) and its text. */
export interface Source {
  path: string;
  text: string;
}

export interface Field {
  name: string;
  offset: number;
  /** A number type (`u8` … `i64`), `char`, or the name of a struct. */
  type: string;
  /** Elements of an array; 1 for a single one. */
  count: number;
  array: boolean;
  unit: string;
  kind: string;
  set: string;
  source: string;
  meaning: string;
  isNot: string;
  at: string;
}

export interface Struct {
  name: string;
  bytes: number;
  fields: Field[];
  at: string;
}

export interface Entry {
  value: number;
  name: string;
  meaning: string;
  /** Only for sets: `fast` or `slow`. */
  speed: string;
}

export interface Range {
  field: string;
  least: number;
  most: number;
  reason: string;
  at: string;
}

/** Some of the bits of a word. */
export interface WordField {
  name: string;
  /** The lowest of its bits, and their number. */
  shift: number;
  bits: number;
  meaning: string;
  at: string;
}

/** A number that a document names. */
export interface Constant {
  name: string;
  type: string;
  value: bigint;
  meaning: string;
  at: string;
}

/** A word that programs write, and its number; it is not stored in any byte. */
export interface Term {
  name: string;
  value: number;
  /** Its rank in lists. */
  rank: number;
  meaning: string;
  at: string;
}

/** Something that is read in one go, for some sets and bits of the message. */
export interface Origin {
  name: string;
  sets: string[];
  flags: string[];
  /** How often; 0: each time. */
  periodMs: number;
  /** It is also read this often if that is more frequent; 0: it is not. */
  mostMs: number;
  /** Its counters have rates. */
  rated: boolean;
  at: string;
}

/** The contract: the content of all documents together. */
export interface Contract {
  names: Names;
  structs: Map<string, Struct>;
  /** Words of 64 bits that hold several numbers, the highest bits first. */
  words: Map<string, WordField[]>;
  bits: Map<string, Entry[]>;
  enums: Map<string, Entry[]>;
  ranges: Range[];
  /** Which of the bits are sets. */
  sets: Entry[];
  constants: Map<string, Constant[]>;
  terms: Map<string, Term[]>;
  sources: Map<string, Origin[]>;
  /**
   * For each document (by its file name without `.md`): the hash of offset, name, type, unit, kind and set. Constants,
   * terms and sources are left out, because they change no byte.
   */
  hashes: Map<string, bigint>;
}

/** The mistakes in the documents, a line each: `file:line: message`. */
export class ContractError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
  }
}

const NUMBERS: Record<string, number> = { u8: 1, u16: 2, u32: 4, u64: 8, i16: 2, i32: 4, i64: 8, char: 1 };
const KINDS = new Set(['', 'counter', 'tally', 'gauge', 'share', 'state', 'text', 'time', 'reserved']);
const SPEEDS = new Set(['fast', 'slow']);

interface Section {
  what: 'struct' | 'word' | 'bits' | 'enum' | 'sets' | 'ranges' | 'constants' | 'terms' | 'sources' | '';
  name: string;
}
/** What is not in any byte of the message or of a file: changing it does not change the layout. */
const BESIDE: ReadonlySet<string> = new Set(['constants', 'terms', 'sources']);

/** Parses and checks the documents. Throws ContractError with every problem found. */
export function compile(documents: Source[], names: Names): Contract {
  const problems: string[] = [];
  const contract: Contract = {
    names,
    structs: new Map(),
    words: new Map(),
    bits: new Map(),
    enums: new Map(),
    ranges: [],
    sets: [],
    constants: new Map(),
    terms: new Map(),
    sources: new Map(),
    hashes: new Map(),
  };
  const owners = new Map<string, string[]>();
  for (const source of documents) {
    const document = source.path.replace(/^.*\//, '').replace(/\.md$/, '');
    owners.set(document, parseDocument(source, contract, problems));
  }
  for (const struct of contract.structs.values()) checkStruct(struct, contract, problems);
  for (const [name, fields] of contract.words) checkWord(name, fields, problems);
  checkRanges(contract, problems);
  for (const terms of contract.terms.values()) checkTerms(terms, problems);
  for (const origins of contract.sources.values()) checkOrigins(origins, contract, problems);
  if (problems.length > 0) throw new ContractError(problems);
  for (const [document, lines] of owners) {
    const digest = createHash('sha256').update(lines.join('\n')).digest();
    contract.hashes.set(document, digest.readBigUInt64LE(0));
  }
  return contract;
}

function parseDocument(source: Source, contract: Contract, problems: string[]): string[] {
  const hashed: string[] = [];
  let section: Section = { what: '', name: '' };
  let columns: string[] | undefined;
  let struct: Struct | undefined;
  let group: { first: number; last: number; at: string; fields: Field[] } | undefined;

  const closeGroup = () => {
    if (group === undefined) return;
    const first = group.fields[0];
    const last = group.fields.at(-1);
    const end = last === undefined ? 0 : last.offset + fieldBytes(last, contract) - 1;
    if (first === undefined) problems.push(`${group.at}: the heading names bytes, but no table follows`);
    else if (first.offset !== group.first) problems.push(`${group.at}: begins at ${first.offset}, not ${group.first}`);
    else if (fieldBytes(last as Field, contract) > 0 && end !== group.last)
      problems.push(`${group.at}: ends at ${end}, not ${group.last}`);
    group = undefined;
  };
  const groups: (() => void)[] = [];

  source.text.split('\n').forEach((line, index) => {
    const at = `${source.path}:${index + 1}`;
    const heading = /^(#+) (.*)$/.exec(line);
    if (heading !== null) {
      columns = undefined;
      if (group !== undefined) {
        const closing = group;
        groups.push(() => {
          group = closing;
          closeGroup();
        });
        group = undefined;
      }
      const [, marks = '', title = ''] = heading;
      if (marks.length <= 2) {
        section = parseHeading(title);
        struct = undefined;
        if (section.what === 'struct') {
          const bytes = /, (\d+) bytes$/.exec(title);
          if (bytes === null) problems.push(`${at}: write "struct NAME, N bytes"`);
          struct = { name: section.name, bytes: Number(bytes?.[1] ?? 0), fields: [], at };
          if (contract.structs.has(struct.name)) problems.push(`${at}: there is a struct ${struct.name} already`);
          contract.structs.set(struct.name, struct);
          hashed.push(`struct ${struct.name} ${struct.bytes}`);
        } else if (section.what !== '' && !BESIDE.has(section.what)) hashed.push(`${section.what} ${section.name}`);
      } else if (struct !== undefined) {
        const bytes = /\((\d+)–(\d+)\)/.exec(title);
        if (bytes !== null) group = { first: Number(bytes[1]), last: Number(bytes[2]), at, fields: [] };
      }
      return;
    }
    if (!line.startsWith('|')) {
      columns = undefined;
      return;
    }
    if (section.what === '') return;
    const cells = tableCells(line);
    if (columns === undefined) {
      columns = cells;
      return;
    }
    if (cells.every(cell => /^:?-+:?$/.test(cell))) return;
    if (cells.length !== columns.length) {
      problems.push(`${at}: ${cells.length} cells under ${columns.length} columns`);
      return;
    }
    const row = new Map(columns.map((column, i) => [column, cells[i] ?? '']));
    if (section.what === 'struct' && struct !== undefined) {
      const field = parseField(row, at, problems);
      if (field === undefined) return;
      struct.fields.push(field);
      group?.fields.push(field);
      // Kind, set and its speed determine the meaning of a field in the message: whether it is valid, and the time base
      // of its rates.
      hashed.push(`${field.offset} ${field.name} ${row.get('type')} ${field.unit} ${field.kind} ${field.set}`);
    } else if (section.what === 'word') {
      const field = parseWordField(row, at, problems);
      if (field === undefined) return;
      contract.words.set(section.name, [...(contract.words.get(section.name) ?? []), field]);
      hashed.push(`${field.shift} ${field.bits} ${field.name} ${row.get('unit')}`);
    } else if (section.what === 'ranges') {
      contract.ranges.push({
        field: bare(row.get('field') ?? ''),
        least: Number(row.get('least')),
        most: Number(row.get('most')),
        reason: row.get('reason') ?? '',
        at,
      });
      hashed.push(cells.join(' '));
    } else if (section.what === 'constants') {
      add(contract.constants, section.name, parseConstant(row, at, problems), problems);
    } else if (section.what === 'terms') {
      add(contract.terms, section.name, parseTerm(row, at, problems), problems);
    } else if (section.what === 'sources') {
      add(contract.sources, section.name, parseOrigin(row, at, problems), problems);
    } else {
      const entry = parseEntry(row, section, at, problems);
      const table = section.what === 'enum' ? contract.enums : contract.bits;
      const entries = table.get(section.name) ?? [];
      if (entries.some(other => other.value === entry.value || other.name === entry.name))
        problems.push(`${at}: ${entry.value} ${entry.name} stands in this table twice`);
      // The names of an enum are an array, so its values count from 0.
      else if (section.what === 'enum' && entry.value !== entries.length)
        problems.push(`${at}: ${entry.value} ${entry.name} stands where ${entries.length} should`);
      entries.push(entry);
      if (section.what === 'sets') contract.sets.push(entry);
      table.set(section.name, entries);
      hashed.push(`${entry.value} ${entry.name} ${entry.speed}`);
    }
  });
  // A group may contain structs that are defined further down, so its bounds are checked last.
  closeGroup();
  for (const check of groups) check();
  return hashed;
}

function parseHeading(title: string): Section {
  const match = /^(struct|word|bits|enum|sets|constants|terms|sources) ([a-z0-9_]+)/.exec(title);
  if (match !== null) return { what: match[1] as Section['what'], name: match[2] ?? '' };
  return { what: title === 'ranges' ? 'ranges' : '', name: '' };
}

/** The cells of a table's row; `\|` is a bar within a cell. */
function tableCells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll('\\|', '|'));
}

function bare(cell: string): string {
  return cell.replaceAll('`', '');
}

function parseField(row: Map<string, string>, at: string, problems: string[]): Field | undefined {
  const type = /^([a-z][a-z0-9_]*)(?:\[(\d+)\])?$/.exec(row.get('type') ?? '');
  const name = bare(row.get('field') ?? '');
  const offset = Number(row.get('offset'));
  if (type === null) {
    problems.push(`${at}: "${row.get('type')}" is not a type`);
    return undefined;
  }
  if (!/^[a-z][a-z0-9_]*$/.test(name)) problems.push(`${at}: "${name}" is not a field name`);
  if (!Number.isInteger(offset) || row.get('offset') === '')
    problems.push(`${at}: "${row.get('offset')}" is not a valid offset`);
  const kind = row.get('kind') ?? '';
  if (!KINDS.has(kind)) problems.push(`${at}: "${kind}" is not a kind; write one of ${[...KINDS].join(' ').trim()}`);
  return {
    name,
    offset,
    type: type[1] ?? '',
    count: Number(type[2] ?? 1),
    array: type[2] !== undefined,
    unit: row.get('unit') ?? '',
    kind: kind === '' && name.startsWith('reserved') ? 'reserved' : kind,
    set: row.get('set') ?? '',
    source: row.get('source') ?? '',
    meaning: row.get('meaning') ?? '',
    isNot: row.get('is not') ?? '',
    at,
  };
}

/** A row of a word: `63–26`, or `0` for a single bit. */
function parseWordField(row: Map<string, string>, at: string, problems: string[]): WordField | undefined {
  const range = /^(\d+)(?:–(\d+))?$/.exec(row.get('bits') ?? '');
  const name = bare(row.get('field') ?? '');
  if (range === null) {
    problems.push(`${at}: "${row.get('bits')}" are no bits; write the highest and the lowest, 63–26`);
    return undefined;
  }
  if (!/^[a-z][a-z0-9_]*$/.test(name)) problems.push(`${at}: "${name}" is not a field name`);
  const high = Number(range[1]);
  const shift = Number(range[2] ?? range[1]);
  return { name, shift, bits: high - shift + 1, meaning: row.get('meaning') ?? '', at };
}

function parseEntry(row: Map<string, string>, section: Section, at: string, problems: string[]): Entry {
  const value = Number(row.get(section.what === 'enum' ? 'value' : 'bit'));
  const name = bare(row.get(section.what === 'sets' ? 'set' : 'name') ?? '');
  const speed = row.get('speed') ?? '';
  if (!Number.isInteger(value) || value < 0 || (section.what !== 'enum' && value > 63))
    problems.push(`${at}: "${value}" is not a ${section.what === 'enum' ? 'value' : 'bit'}`);
  if (!/^[a-z][a-z0-9_]*$/.test(name)) problems.push(`${at}: "${name}" is not a name`);
  if (section.what === 'sets' && !SPEEDS.has(speed)) problems.push(`${at}: "${speed}" is neither fast nor slow`);
  return { value, name, meaning: row.get('meaning') ?? row.get('read') ?? '', speed };
}

/** Adds a row to the others of its table. */
function add<R extends { name: string; at: string }>(
  tables: Map<string, R[]>,
  table: string,
  row: R,
  problems: string[],
): void {
  const rows = tables.get(table) ?? [];
  if (!/^[a-z][a-z0-9_]*$/.test(row.name)) problems.push(`${row.at}: "${row.name}" is not a name`);
  if (rows.some(({ name }) => name === row.name)) problems.push(`${row.at}: ${row.name} stands in this table twice`);
  tables.set(table, [...rows, row]);
}

/** A number; or in quotes the characters that are its bytes, the lowest first. */
function parseConstant(row: Map<string, string>, at: string, problems: string[]): Constant {
  const type = row.get('type') ?? '';
  const written = bare(row.get('value') ?? '');
  const bits = /^u\d+$/.test(type) ? 8 * (NUMBERS[type] ?? 0) : 0;
  const text = /^"([ -~]+)"$/.exec(written)?.[1];
  const isNumber = /^(0x[0-9a-f]+|\d+)$/.test(written);
  if (bits === 0) problems.push(`${at}: "${type}" is not a type of a constant`);
  if (text === undefined && !isNumber) problems.push(`${at}: "${written}" is not a value`);
  const value =
    text !== undefined
      ? [...text].reduce((all, character, i) => all | (BigInt(character.charCodeAt(0)) << BigInt(8 * i)), 0n)
      : BigInt(isNumber ? written : 0);
  if (bits > 0 && value >> BigInt(bits) !== 0n) problems.push(`${at}: ${written} is not a valid ${type}`);
  return { name: bare(row.get('name') ?? ''), type, value, meaning: row.get('meaning') ?? '', at };
}

function parseTerm(row: Map<string, string>, at: string, problems: string[]): Term {
  const number = (column: string) => {
    const cell = row.get(column) ?? '';
    if (!/^\d+$/.test(cell)) problems.push(`${at}: "${cell}" is not a valid ${column}`);
    return Number(cell);
  };
  const [value, rank] = [number('value'), number('rank')];
  return { name: bare(row.get('name') ?? ''), value, rank, meaning: row.get('meaning') ?? '', at };
}

function parseOrigin(row: Map<string, string>, at: string, problems: string[]): Origin {
  const words = (column: string) => bare(row.get(column) ?? '').match(/[^\s,]+/g) ?? [];
  const seconds = (column: string) => {
    const cell = row.get(column) ?? '';
    const [, whole] = /^(\d+) s$/.exec(cell) ?? [];
    if (whole === undefined && cell !== '')
      problems.push(`${at}: "${cell}" is not a valid ${column}; write 10 s, or nothing`);
    return 1000 * Number(whole ?? 0);
  };
  const rated = row.get('rated') ?? '';
  if (rated !== '' && rated !== 'yes') problems.push(`${at}: "${rated}" is neither yes nor nothing`);
  return {
    name: bare(row.get('source') ?? ''),
    sets: words('sets'),
    flags: words('flags'),
    periodMs: seconds('period'),
    mostMs: seconds('at least every'),
    rated: rated === 'yes',
    at,
  };
}

/** The size of one element; 0 if its type is unknown. */
function elementBytes(type: string, contract: Contract): number {
  return NUMBERS[type] ?? contract.structs.get(type)?.bytes ?? 0;
}

function fieldBytes(field: Field, contract: Contract): number {
  return elementBytes(field.type, contract) * field.count;
}

/** The alignment of a type: its size, or for a struct the largest alignment of its fields. */
function alignment(type: string, contract: Contract, depth = 0): number {
  const fields = contract.structs.get(type)?.fields;
  if (fields === undefined || depth > 8) return NUMBERS[type] ?? 1;
  return Math.max(1, ...fields.map(field => alignment(field.type, contract, depth + 1)));
}

function checkStruct(struct: Struct, contract: Contract, problems: string[]): void {
  let end = 0;
  const names = new Set<string>();
  for (const field of struct.fields) {
    const bytes = fieldBytes(field, contract);
    if (bytes === 0) {
      problems.push(`${field.at}: unknown type "${field.type}" or an array of none`);
      end = field.offset;
      continue;
    }
    if (field.offset > end) problems.push(`${field.at}: a hole of ${field.offset - end} bytes before ${field.name}`);
    if (field.offset < end)
      problems.push(`${field.at}: ${field.name} begins within the field before it, which ends at ${end}`);
    const align = alignment(field.type, contract);
    if (field.offset % align !== 0) problems.push(`${field.at}: ${field.name} is not aligned to ${align} bytes`);
    if (names.has(field.name)) problems.push(`${field.at}: ${struct.name} has a field ${field.name} already`);
    names.add(field.name);
    end = field.offset + bytes;
    const [what, table] = field.unit.split(' ');
    if (what === 'enum' && !contract.enums.has(table ?? ''))
      problems.push(`${field.at}: there is no table "enum ${table}"`);
    if (what === 'word' && !contract.words.has(table ?? ''))
      problems.push(`${field.at}: there is no table "word ${table}"`);
    if (what === 'bits' && table !== 'of' && !contract.bits.has(table ?? ''))
      problems.push(`${field.at}: there is no table "bits ${table}"`);
    if (field.set !== '' && !contract.sets.some(entry => entry.name === field.set))
      problems.push(`${field.at}: there is no set "${field.set}"`);
  }
  if (end !== struct.bytes) problems.push(`${struct.at}: ${struct.name} ends at ${end}, not at ${struct.bytes}`);
  const align = Math.max(1, ...struct.fields.map(field => alignment(field.type, contract)));
  if (struct.bytes % align !== 0)
    problems.push(`${struct.at}: the size of ${struct.name} is not a multiple of ${align}`);
}

/** The fields of a word cover all its bits, the highest first, each bit once. */
function checkWord(name: string, fields: WordField[], problems: string[]): void {
  let free = 64;
  for (const field of fields) {
    if (field.bits < 1 || field.shift + field.bits !== free)
      problems.push(`${field.at}: ${field.name} has not the bits from ${free - 1} down`);
    if (fields.some(other => other !== field && other.name === field.name && other.shift > field.shift))
      problems.push(`${field.at}: word ${name} has a field ${field.name} already`);
    free = field.shift;
  }
  if (free !== 0) problems.push(`${fields.at(-1)?.at}: word ${name} ends at bit ${free}, not at 0`);
}

function checkRanges(contract: Contract, problems: string[]): void {
  const { message, reasons } = contract.names;
  const known = contract.enums.get(reasons) ?? [];
  for (const { field, least, most, reason, at } of contract.ranges) {
    const type = messageFields(contract).find(other => other.name === field)?.type;
    if (type === undefined) problems.push(`${at}: ${message} has no field "${field}"`);
    else if (!['u8', 'u16', 'u32'].includes(type)) problems.push(`${at}: ${field}: a range of ${type} is not checked`);
    if (!(least <= most)) problems.push(`${at}: ${field}: ${least} to ${most} is not a range`);
    if (!known.some(other => other.name === reason)) problems.push(`${at}: ${field}: there is no reason "${reason}"`);
  }
}

/** Their numbers and their ranks are indices of arrays. */
function checkTerms(terms: Term[], problems: string[]): void {
  for (const column of ['value', 'rank'] as const) {
    const sorted = [...terms].sort((a, b) => a[column] - b[column]);
    const wrong = sorted.find((term, i) => term[column] !== i);
    if (wrong !== undefined)
      problems.push(
        `${wrong.at}: ${wrong.name} has ${column} ${wrong[column]}, where ${sorted.indexOf(wrong)} should be`,
      );
  }
}

/** Every slow set has exactly one source. */
function checkOrigins(origins: Origin[], contract: Contract, problems: string[]): void {
  const told = new Set<string>();
  for (const { sets, flags, at } of origins) {
    for (const set of sets) {
      if (!contract.sets.some(entry => entry.name === set && entry.speed === 'slow'))
        problems.push(`${at}: there is no slow set "${set}"`);
      if (told.has(set)) problems.push(`${at}: ${set} has a source already`);
      told.add(set);
    }
    for (const flag of flags)
      if (!contract.bits.get('flags')?.some(entry => entry.name === flag))
        problems.push(`${at}: "bits flags" has no ${flag}`);
  }
  for (const { name, speed } of contract.sets)
    if (speed === 'slow' && !told.has(name)) problems.push(`${origins[0]?.at}: the slow set ${name} has no source`);
}

const messageFields = (contract: Contract) => contract.structs.get(contract.names.message)?.fields ?? [];

/** Every range that a message must keep: those of the table, and for each enum field its highest value. */
function allRanges(contract: Contract): { field: Field; least: number; most: number; reason: string }[] {
  const fields = messageFields(contract);
  const stated = contract.ranges.map(range => ({
    field: fields.find(field => field.name === range.field) as Field,
    least: range.least,
    most: range.most,
    reason: range.reason,
  }));
  const enums = fields.flatMap(field => {
    const [what, table] = field.unit.split(' ');
    if (what !== 'enum') return [];
    const most = Math.max(...(contract.enums.get(table ?? '') ?? []).map(entry => entry.value));
    return [{ field, least: 0, most, reason: contract.names.beyond }];
  });
  return [...stated, ...enums];
}

function mask(entries: Entry[]): bigint {
  return entries.reduce((all, entry) => all | (1n << BigInt(entry.value)), 0n);
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

const byNumber = (terms: Term[]) => [...terms].sort((a, b) => a.value - b.value);

/**
 * The C header: for each struct a struct, with an assert for each field; constants; and the tables that validation
 * uses.
 */
export function emitC(contract: Contract): string {
  const { prefix: p, notice, message, reasons } = contract.names;
  const P = constant(p);
  const cType = (type: string) => {
    if (type === 'char') return 'char';
    return type in NUMBERS ? `${type.startsWith('u') ? 'uint' : 'int'}${type.slice(1)}_t` : `struct ${p}_${type}`;
  };
  const out = [
    `/* ${notice} */`,
    `#ifndef ${P}_LAYOUT_GEN_H`,
    `#define ${P}_LAYOUT_GEN_H`,
    '#include <stddef.h>',
    '#include <stdint.h>',
    '',
    '#ifdef __cplusplus',
    `#define ${P}_STATIC_ASSERT static_assert`,
    '#else',
    `#define ${P}_STATIC_ASSERT _Static_assert`,
    '#endif',
    '',
  ];
  for (const [document, hash] of contract.hashes)
    out.push(`#define ${P}_HASH_${constant(document)} UINT64_C(0x${hash.toString(16).padStart(16, '0')})`);
  for (const [table, constants] of contract.constants) {
    out.push('');
    for (const { name, type, value } of constants)
      out.push(`#define ${P}_${constant(table)}_${constant(name)} UINT${type.slice(1)}_C(${literal(value)})`);
  }
  const words = (table: string, entries: { name: string; value: number }[]) => {
    out.push('', `enum ${p}_${table} {`);
    for (const entry of entries) out.push(`  ${P}_${constant(table)}_${constant(entry.name)} = ${entry.value},`);
    out.push('};', `#define ${P}_${constant(table)}_COUNT ${entries.length}`);
    out.push(`static const char *const ${p}_${table}_names[] __attribute__((unused)) = {`);
    for (const entry of entries) out.push(`  "${entry.name}",`);
    out.push('};');
  };
  for (const [table, entries] of contract.enums) words(table, entries);
  for (const [table, terms] of contract.terms) {
    words(table, byNumber(terms));
    out.push(`static const char *const ${p}_${table}_meanings[] __attribute__((unused)) = {`);
    for (const { meaning } of byNumber(terms)) out.push(`  ${JSON.stringify(bare(meaning))},`);
    out.push('};');
  }
  for (const [table, entries] of contract.bits) {
    out.push('');
    for (const entry of entries)
      out.push(`#define ${P}_${constant(table)}_${constant(entry.name)} (UINT64_C(1) << ${entry.value})`);
    out.push(`#define ${P}_${constant(table)}_KNOWN UINT64_C(0x${mask(entries).toString(16)})`);
  }
  for (const [name, fields] of contract.words) {
    out.push('', `/* word ${name} */`);
    for (const field of fields) {
      const macro = `${P}_${constant(name)}_${constant(field.name)}`;
      out.push(`#define ${macro}_SHIFT ${field.shift}`);
      out.push(`#define ${macro}_MOST UINT64_C(0x${((1n << BigInt(field.bits)) - 1n).toString(16)})`);
      out.push(`#define ${macro}(word) ((uint64_t)(word) >> ${macro}_SHIFT & ${macro}_MOST)`);
    }
    const names = fields.map(field => field.name);
    const parts = names.map(
      field =>
        `((uint64_t)(${field}) & ${P}_${constant(name)}_${constant(field)}_MOST) << ${P}_${constant(name)}_${constant(field)}_SHIFT`,
    );
    out.push(`#define ${P}_${constant(name)}(${names.join(', ')}) (\\\n  ${parts.join(' | \\\n  ')})`);
  }
  for (const struct of inOrder(contract)) {
    out.push('', `struct ${p}_${struct.name} {`);
    for (const field of struct.fields)
      out.push(`  ${cType(field.type)} ${field.name}${field.array ? `[${field.count}]` : ''};`);
    out.push('};', `#define ${P}_${constant(struct.name)}_BYTES ${struct.bytes}`);
    out.push(`${P}_STATIC_ASSERT(sizeof(struct ${p}_${struct.name}) == ${struct.bytes}, "size of ${struct.name}");`);
    for (const field of struct.fields)
      out.push(
        `${P}_STATIC_ASSERT(offsetof(struct ${p}_${struct.name}, ${field.name}) == ${field.offset}, "${struct.name}.${field.name}");`,
      );
  }
  out.push('', `/* Bytes of a ${message} that have to be zero; at most eight each. */`);
  out.push(`struct ${p}_reserved { uint16_t offset, bytes; };`);
  out.push(`static const struct ${p}_reserved ${p}_${message}_reserved[] __attribute__((unused)) = {`);
  for (const [offset, bytes] of reservedRanges(contract)) out.push(`  {${offset}, ${bytes}},`);
  out.push('};', '', `/* Values that a ${message} may hold, and the reason it is refused for otherwise. */`);
  out.push(`struct ${p}_range { uint16_t offset; uint8_t bytes; uint8_t reason; uint32_t least, most; };`);
  out.push(`static const struct ${p}_range ${p}_${message}_ranges[] __attribute__((unused)) = {`);
  for (const { field, least, most, reason } of allRanges(contract))
    out.push(
      `  {${field.offset}, ${NUMBERS[field.type]}, ${P}_${constant(reasons)}_${constant(reason)}, ${least}, ${most}}, /* ${field.name} */`,
    );
  out.push('};');
  for (const [table, origins] of contract.sources) {
    const own = origins.map(({ sets }) => pieces(sets, contract));
    const macro = `${P}_${constant(table)}`;
    out.push(
      '',
      `/* Sources: how often each is read, 0: each time; which bytes of a ${message} are its own, up to one of 0. */`,
    );
    out.push(`#define ${macro}_COUNT ${origins.length}`);
    out.push(`#define ${macro}_EACH(each) \\\n  ${origins.map(({ name }) => `each(${name})`).join(' \\\n  ')}`);
    out.push(`struct ${p}_${table}_piece { uint16_t offset, bytes; };`);
    out.push(
      `struct ${p}_${table}_source {`,
      '  const char *name;',
      '  uint32_t period_ms, most_ms, rated;',
      `  struct ${p}_${table}_piece pieces[${Math.max(...own.map(list => list.length)) + 1}];`,
      '};',
    );
    out.push(`static const struct ${p}_${table}_source ${p}_${table}_sources[] __attribute__((unused)) = {`);
    origins.forEach(({ name, periodMs, mostMs, rated }, i) => {
      const list = [...(own[i] ?? []), { offset: 0, bytes: 0 }].map(({ offset, bytes }) => `{${offset}, ${bytes}}`);
      out.push(`  {"${name}", ${periodMs}, ${mostMs}, ${Number(rated)}, {${list.join(', ')}}},`);
    });
    out.push('};');
  }
  out.push('', '#endif', '');
  return out.join('\n');
}

/** In the form for people: in hexadecimal digits if it is not a count. */
function literal(value: bigint): string {
  return value > 0xffffn ? `0x${value.toString(16)}` : value.toString();
}

function constant(name: string): string {
  return name.replaceAll('-', '_').toUpperCase();
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
function reservedRanges(contract: Contract): [number, number][] {
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

/** The layout for programs: offsets, types, units and kinds, as one constant from which TypeScript infers the types. */
export function emitLayout(contract: Contract): string {
  const out = [`// ${contract.names.notice}`, ''];
  for (const [document, hash] of contract.hashes)
    out.push(`export const HASH_${constant(document)} = 0x${hash.toString(16).padStart(16, '0')}n;`);
  out.push('', '/** Numbers that the documents name. */', 'export const constants = {');
  for (const [table, constants] of contract.constants) {
    const shown = constants.map(({ name, type, value }) => `${name}: ${literal(value)}${type === 'u64' ? 'n' : ''}`);
    out.push(`  ${table}: { ${shown.join(', ')} },`);
  }
  out.push('} as const;');
  out.push('', '/** Every struct of the contract: its size and fields. */', 'export const structs = {');
  for (const struct of contract.structs.values()) {
    out.push(`  ${struct.name}: {`, `    bytes: ${struct.bytes},`, '    fields: {');
    for (const field of struct.fields) {
      const set = field.set === '' ? '' : `, set: '${field.set}'`;
      out.push(
        `      ${field.name}: { offset: ${field.offset}, type: '${field.type}', count: ${field.array ? field.count : 0}, unit: '${field.unit}', kind: '${field.kind}'${set} },`,
      );
    }
    out.push('    },', '  },');
  }
  out.push(
    '} as const;',
    '',
    '/** Words that hold more than one number: name → field → its lowest bit, and how many it has. */',
  );
  out.push('export const words = {');
  for (const [name, fields] of contract.words) {
    out.push(`  ${name}: {`);
    for (const field of fields) out.push(`    ${field.name}: { shift: ${field.shift}, bits: ${field.bits} },`);
    out.push('  },');
  }
  out.push('} as const;', '', '/** Names of bits: name → bit. Sets are among them. */', 'export const bits = {');
  for (const [table, entries] of contract.bits) {
    out.push(`  ${table}: {`);
    for (const entry of entries) out.push(`    ${entry.name}: ${entry.value},`);
    out.push('  },');
  }
  out.push('} as const;', '', '/** Sets that are slow. */', 'export const slowSets = [');
  for (const entry of contract.sets) if (entry.speed === 'slow') out.push(`  '${entry.name}',`);
  out.push(
    '] as const;',
    '',
    '/** What is read at once: source → its sets and flags, how often (0: each time), also at least how often, whether it has rates. */',
    'export const sources = {',
  );
  for (const [table, origins] of contract.sources) {
    out.push(`  ${table}: {`);
    for (const { name, sets, flags, periodMs, mostMs, rated } of origins) {
      const facts = [
        `sets: [${sets.map(set => `'${set}'`).join(', ')}]`,
        `flags: [${flags.map(flag => `'${flag}'`).join(', ')}]`,
        `periodMs: ${periodMs}`,
        ...(mostMs > 0 ? [`mostMs: ${mostMs}`] : []),
        ...(rated ? ['rated: true'] : []),
      ];
      out.push(`    ${name}: { ${facts.join(', ')} },`);
    }
    out.push('  },');
  }
  out.push(
    '} as const;',
    '',
    '/** Names of values: enum → names in the order of their values. */',
    'export const enums = {',
  );
  for (const [table, entries] of contract.enums)
    out.push(`  ${table}: [${entries.map(entry => `'${entry.name}'`).join(', ')}],`);
  out.push('} as const;', '');
  return out.join('\n');
}

/** The words that programs write, for programs that need nothing else of the contract. */
export function emitTerms(contract: Contract): string {
  const out = [
    `// ${contract.names.notice}`,
    '',
    '/** Words, each at the place of its number. */',
    'export const terms = {',
  ];
  const quoted = (terms: Term[]) => terms.map(({ name }) => `'${name}'`).join(', ');
  const ranked = (terms: Term[]) => [...terms].sort((a, b) => a.rank - b.rank);
  for (const [table, terms] of contract.terms) out.push(`  ${table}: [${quoted(byNumber(terms))}],`);
  out.push('} as const;', '', '/** The same in the order in which they are listed. */', 'export const ranked = {');
  for (const [table, terms] of contract.terms) out.push(`  ${table}: [${quoted(ranked(terms))}],`);
  out.push('} as const;', '', '/** What each means, in that order. */', 'export const meanings = {');
  for (const [table, terms] of contract.terms) {
    out.push(`  ${table}: {`);
    for (const { name, meaning } of ranked(terms)) out.push(`    ${name}: ${JSON.stringify(bare(meaning))},`);
    out.push('  },');
  }
  out.push('} as const;', '');
  return out.join('\n');
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
