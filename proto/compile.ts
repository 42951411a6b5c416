// Compiles contracts: reads the tables of documents and checks them; emit.ts makes a C header and TypeScript objects from
// them. Knows Markdown tables and nothing of beoboard: the documents define the fields, and contract.ts the names.
// Pure: texts in, a contract out.

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

export const NUMBERS: Record<string, number> = { u8: 1, u16: 2, u32: 4, u64: 8, i16: 2, i32: 4, i64: 8, char: 1 };
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
    owners.set(document, new DocumentParser(contract, problems).parse(source));
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

/** A heading that says from where to where the fields under it reach. */
interface Group {
  first: number;
  last: number;
  at: string;
  fields: Field[];
}

/** Reads a document line by line, and adds what its tables say to the contract. */
class DocumentParser {
  readonly #contract: Contract;
  readonly #problems: string[];
  /** What the hash of the document is made from. */
  readonly #hashed: string[] = [];
  #section: Section = { what: '', name: '' };
  /** Undefined: the next row of a table names its columns. */
  #columns: string[] | undefined;
  #struct: Struct | undefined;
  readonly #groups: Group[] = [];
  #group: Group | undefined;

  constructor(contract: Contract, problems: string[]) {
    this.#contract = contract;
    this.#problems = problems;
  }

  parse({ path, text }: Source): string[] {
    for (const [index, line] of text.split('\n').entries()) {
      const at = `${path}:${index + 1}`;
      const heading = /^(#+) (.*)$/.exec(line);
      if (heading !== null || !line.startsWith('|')) this.#columns = undefined;
      else if (this.#section.what !== '') this.#tableLine(tableCells(line), at);
      if (heading !== null) this.#heading(heading[1]?.length ?? 0, heading[2] ?? '', at);
    }
    // A group may contain structs that are defined further down, so its bounds are checked last.
    for (const group of this.#groups) this.#checkGroup(group);
    return this.#hashed;
  }

  #heading(level: number, title: string, at: string): void {
    this.#group = undefined;
    if (level > 2) {
      const bytes = /\((\d+)–(\d+)\)/.exec(title);
      if (this.#struct === undefined || bytes === null) return;
      this.#group = { first: Number(bytes[1]), last: Number(bytes[2]), at, fields: [] };
      this.#groups.push(this.#group);
      return;
    }
    const { what, name } = parseHeading(title);
    this.#section = { what, name };
    this.#struct = what === 'struct' ? this.#newStruct(name, title, at) : undefined;
    if (this.#struct !== undefined) this.#hashed.push(`struct ${name} ${this.#struct.bytes}`);
    else if (what !== '' && !BESIDE.has(what)) this.#hashed.push(`${what} ${name}`);
  }

  #newStruct(name: string, title: string, at: string): Struct {
    const { structs } = this.#contract;
    const bytes = /, (\d+) bytes$/.exec(title);
    if (bytes === null) this.#problems.push(`${at}: write "struct NAME, N bytes"`);
    if (structs.has(name)) this.#problems.push(`${at}: there is a struct ${name} already`);
    const struct = { name, bytes: Number(bytes?.[1] ?? 0), fields: [], at };
    structs.set(name, struct);
    return struct;
  }

  #tableLine(cells: string[], at: string): void {
    const columns = this.#columns;
    if (columns === undefined) this.#columns = cells;
    else if (cells.every(cell => /^:?-+:?$/.test(cell))) return;
    else if (cells.length !== columns.length)
      this.#problems.push(`${at}: ${cells.length} cells under ${columns.length} columns`);
    else this.#row(new Map(columns.map((column, i) => [column, cells[i] ?? ''])), cells, at);
  }

  #row(row: Map<string, string>, cells: string[], at: string): void {
    const contract = this.#contract;
    const problems = this.#problems;
    const { what, name } = this.#section;
    if (what === 'struct') this.#fieldRow(row, at);
    else if (what === 'word') this.#wordRow(row, at);
    else if (what === 'ranges') {
      contract.ranges.push(parseRange(row, at));
      this.#hashed.push(cells.join(' '));
    } else if (what === 'constants') add(contract.constants, name, parseConstant(row, at, problems), problems);
    else if (what === 'terms') add(contract.terms, name, parseTerm(row, at, problems), problems);
    else if (what === 'sources') add(contract.sources, name, parseOrigin(row, at, problems), problems);
    else this.#entryRow(row, at);
  }

  #fieldRow(row: Map<string, string>, at: string): void {
    const field = parseField(row, at, this.#problems);
    if (field === undefined) return;
    this.#struct?.fields.push(field);
    this.#group?.fields.push(field);
    // Kind, set and its speed determine the meaning of a field in the message: whether it is valid, and the time base
    // of its rates.
    const { offset, name, unit, kind, set } = field;
    this.#hashed.push(`${offset} ${name} ${row.get('type')} ${unit} ${kind} ${set}`);
  }

  #wordRow(row: Map<string, string>, at: string): void {
    const { words } = this.#contract;
    const field = parseWordField(row, at, this.#problems);
    if (field === undefined) return;
    words.set(this.#section.name, [...(words.get(this.#section.name) ?? []), field]);
    this.#hashed.push(`${field.shift} ${field.bits} ${field.name} ${row.get('unit')}`);
  }

  #entryRow(row: Map<string, string>, at: string): void {
    const { what, name: tableName } = this.#section;
    const entry = parseEntry(row, this.#section, at, this.#problems);
    const { value, name } = entry;
    const table = what === 'enum' ? this.#contract.enums : this.#contract.bits;
    const entries = table.get(tableName) ?? [];
    if (entries.some(other => other.value === value || other.name === name))
      this.#problems.push(`${at}: ${value} ${name} stands in this table twice`);
    // The names of an enum are an array, so its values count from 0.
    else if (what === 'enum' && value !== entries.length)
      this.#problems.push(`${at}: ${value} ${name} stands where ${entries.length} should`);
    entries.push(entry);
    if (what === 'sets') this.#contract.sets.push(entry);
    table.set(tableName, entries);
    this.#hashed.push(`${value} ${name} ${entry.speed}`);
  }

  #checkGroup({ first, last, at, fields }: Group): void {
    const [begin, end] = [fields[0], fields.at(-1)];
    if (begin === undefined || end === undefined) {
      this.#problems.push(`${at}: the heading names bytes, but no table follows`);
      return;
    }
    const bytes = fieldBytes(end, this.#contract);
    if (begin.offset !== first) this.#problems.push(`${at}: begins at ${begin.offset}, not ${first}`);
    else if (bytes > 0 && end.offset + bytes - 1 !== last)
      this.#problems.push(`${at}: ends at ${end.offset + bytes - 1}, not ${last}`);
  }
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

export function bare(cell: string): string {
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

function parseRange(row: Map<string, string>, at: string): Range {
  const field = bare(row.get('field') ?? '');
  const [least, most] = [Number(row.get('least')), Number(row.get('most'))];
  return { field, least, most, reason: row.get('reason') ?? '', at };
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

export function fieldBytes(field: Field, contract: Contract): number {
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

export const messageFields = (contract: Contract) => contract.structs.get(contract.names.message)?.fields ?? [];
