// A contract as data: what its documents define.

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
  /** After so long without it, it is over; undefined: its table has no such column. */
  quietMs: number | undefined;
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

/** The size of a field; 0 if its type is unknown. */
export function fieldBytes({ type, count }: Field, contract: Contract): number {
  return (NUMBERS[type] ?? contract.structs.get(type)?.bytes ?? 0) * count;
}

/** The fields of the message. */
export const messageFields = (contract: Contract) => contract.structs.get(contract.names.message)?.fields ?? [];

/** A text without the marks of code. */
export function bare(cell: string): string {
  return cell.replaceAll('`', '');
}
