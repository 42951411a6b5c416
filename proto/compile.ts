// Compiles contracts: reads the tables of documents, from which emit.ts makes a C header and TypeScript objects. Knows
// Markdown tables and nothing of beoboard: the documents define the fields, and contract.ts the names.
// Pure: texts in, a contract out.

import { createHash } from 'node:crypto';
import { check } from './check.js';
import {
  bare,
  type Constant,
  type Contract,
  ContractError,
  type Entry,
  type Field,
  fieldBytes,
  type Names,
  NUMBERS,
  type Origin,
  type Range,
  type Struct,
  type Term,
  type WordField,
} from './model.js';

/** One document: its path (for messages) and its text. */
export interface Source {
  path: string;
  text: string;
}

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
  check(contract, problems);
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
  /** What the hash of the document is made from. */
  readonly #hashed: string[] = [];
  #section: Section = { what: '', name: '' };
  /** Undefined: the next row of a table names its columns. */
  #columns: string[] | undefined;
  #struct: Struct | undefined;
  readonly #groups: Group[] = [];
  #group: Group | undefined;

  constructor(
    private readonly contract: Contract,
    private readonly problems: string[],
  ) {}

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
    const { structs } = this.contract;
    const bytes = /, (\d+) bytes$/.exec(title);
    if (bytes === null) this.problems.push(`${at}: write "struct NAME, N bytes"`);
    if (structs.has(name)) this.problems.push(`${at}: there is a struct ${name} already`);
    const struct = { name, bytes: Number(bytes?.[1] ?? 0), fields: [], at };
    structs.set(name, struct);
    return struct;
  }

  #tableLine(cells: string[], at: string): void {
    const columns = this.#columns;
    if (columns === undefined) this.#columns = cells;
    else if (cells.every(cell => /^:?-+:?$/.test(cell))) return;
    else if (cells.length !== columns.length)
      this.problems.push(`${at}: ${cells.length} cells under ${columns.length} columns`);
    else this.#row(new Map(columns.map((column, i) => [column, cells[i] ?? ''])), cells, at);
  }

  #row(row: Map<string, string>, cells: string[], at: string): void {
    const contract = this.contract;
    const problems = this.problems;
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
    const field = parseField(row, at, this.problems);
    if (field === undefined) return;
    this.#struct?.fields.push(field);
    this.#group?.fields.push(field);
    // Kind, set and its speed determine the meaning of a field in the message: whether it is valid, and the time base
    // of its rates.
    const { offset, name, unit, kind, set } = field;
    this.#hashed.push(`${offset} ${name} ${row.get('type')} ${unit} ${kind} ${set}`);
  }

  #wordRow(row: Map<string, string>, at: string): void {
    const { words } = this.contract;
    const field = parseWordField(row, at, this.problems);
    if (field === undefined) return;
    words.set(this.#section.name, [...(words.get(this.#section.name) ?? []), field]);
    this.#hashed.push(`${field.shift} ${field.bits} ${field.name} ${row.get('unit')}`);
  }

  #entryRow(row: Map<string, string>, at: string): void {
    const { what, name: tableName } = this.#section;
    const entry = parseEntry(row, this.#section, at, this.problems);
    const { value, name } = entry;
    const table = what === 'enum' ? this.contract.enums : this.contract.bits;
    const entries = table.get(tableName) ?? [];
    if (entries.some(other => other.value === value || other.name === name))
      this.problems.push(`${at}: ${value} ${name} stands in this table twice`);
    // The names of an enum are an array, so its values count from 0.
    else if (what === 'enum' && value !== entries.length)
      this.problems.push(`${at}: ${value} ${name} stands where ${entries.length} should`);
    entries.push(entry);
    if (what === 'sets') this.contract.sets.push(entry);
    table.set(tableName, entries);
    this.#hashed.push(`${value} ${name} ${entry.speed}`);
  }

  #checkGroup({ first, last, at, fields }: Group): void {
    const [begin, end] = [fields[0], fields.at(-1)];
    if (begin === undefined || end === undefined) {
      this.problems.push(`${at}: the heading names bytes, but no table follows`);
      return;
    }
    const bytes = fieldBytes(end, this.contract);
    if (begin.offset !== first) this.problems.push(`${at}: begins at ${begin.offset}, not ${first}`);
    else if (bytes > 0 && end.offset + bytes - 1 !== last)
      this.problems.push(`${at}: ends at ${end.offset + bytes - 1}, not ${last}`);
  }
}

function parseHeading(title: string): Section {
  const match = /^(struct|word|bits|enum|sets|constants|terms|sources) ([a-z0-9_]+)/.exec(title);
  if (match !== null) return { what: match[1] as Section['what'], name: match[2] ?? '' };
  return { what: title === 'ranges' ? 'ranges' : '', name: '' };
}

/** The cells of a table's row; `\|` is a bar within a cell. */
export function tableCells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll('\\|', '|'));
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

const UNITS: Record<string, number> = { s: 1000, min: 60_000, h: 3_600_000 };

/** NaN: it is none. */
function durationMs(cell: string): number {
  const [, count, unit] = /^([1-9]\d*) (s|min|h)$/.exec(cell) ?? [];
  return Number(count) * (UNITS[unit ?? ''] ?? Number.NaN);
}

function parseTerm(row: Map<string, string>, at: string, problems: string[]): Term {
  const number = (column: string) => {
    const cell = row.get(column) ?? '';
    if (!/^\d+$/.test(cell)) problems.push(`${at}: "${cell}" is not a valid ${column}`);
    return Number(cell);
  };
  const [value, rank] = [number('value'), number('rank')];
  const quiet = row.get('quiet');
  const quietMs = quiet === undefined ? undefined : durationMs(quiet);
  if (Number.isNaN(quietMs)) problems.push(`${at}: "${quiet}" is not a valid quiet; write 10 min`);
  return { name: bare(row.get('name') ?? ''), value, rank, quietMs, meaning: row.get('meaning') ?? '', at };
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
