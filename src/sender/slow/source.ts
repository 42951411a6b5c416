// What a source of the slow side is, and how one reading of it is put together. Refuses to know any source, to keep
// time, and to throw: what could not be read is left out, and the first complaint is kept for whoever logs.

import { existsSync, readdirSync } from 'node:fs';
import type { Encodable, FieldsOf, SetName } from '../../layout/codec.js';
import { type bits, sources } from '../../layout/layout.gen.js';
import { type Count, u64 } from '../collect/kerneltext.js';
import { KernelFile, MOST_SMALL } from '../kernelfile.js';

/** What statvfs gives. */
export interface FileSystem {
  totalBytes: bigint;
  /** For an ordinary user. */
  availableBytes: bigint;
  /** 0 where the file system makes them as it needs them. */
  inodes: bigint;
  inodesFree: bigint;
}

/** Where the slow side looks, and what no tree of files holds. All of it answers undefined where it cannot answer. */
export interface SlowWorld {
  proc: string;
  sys: string;
  /** Of the files that others write for us: /run/beoboard. */
  run: string;
  /** Of os-release: /etc. */
  etc: string;
  /** The local scratch: /tmp. */
  scratch: string;
  statfs(path: string): FileSystem | undefined;
  /** Since a file was written, by its time; negative when that lies ahead. */
  ageSeconds(path: string): number | undefined;
  /** A path without symbolic links. */
  resolve(path: string): string | undefined;
}

export type FlagName = keyof typeof bits.flags;

/** What the slow side knows of things that fast sets tell of; what is not there is not known. */
export interface Details {
  /** Speeds of interfaces by name, Mbit/s; 0: not known. */
  mbps?: ReadonlyMap<string, number>;
  /** Of each CPU group, MHz; 0: not known. */
  mhz?: readonly number[];
  /** Of each CPU group, tenths of °C; TEMPERATURE_UNKNOWN: not known. */
  tempDc?: readonly number[];
  container?: boolean;
}

/** Plain data, for it comes from a child process. */
export interface SlowReading {
  fields: Encodable<'report'>;
  /** Those that were really measured. */
  sets: SetName[];
  /** Those of the source's flags that are on. */
  flags?: FlagName[];
  details?: Details;
  /** One line, always the same for the same trouble: something is there and was not understood or not to be read. */
  trouble?: string;
}

/** Those of the contract. */
export type SourceName = keyof typeof sources.slow;

/** What the contract says of a source. */
export const about = <N extends SourceName>(name: N) => ({ name, ...sources.slow[name] });

export interface SlowSource {
  name: string;
  /** How often it is read; 0: in every round. */
  periodMs: number;
  /**
   * Also read this often where rounds are rarer: a counter that wraps must not wrap twice unseen. What was not measured
   * in such a reading is not measured in the round that follows either.
   */
  mostMs?: number;
  /** Its counters have rates: what was read in another round may not stand in for a reading of this one. */
  rated?: true;
  sets: readonly SetName[];
  flags?: readonly FlagName[];
  read(world: SlowWorld): SlowReading;
}

/** One reading under way. */
export class Reading {
  readonly #fields: Encodable<'report'> = {};
  readonly #sets: SetName[] = [];
  readonly #flags: FlagName[] = [];
  #details: Details | undefined;
  #trouble: string | undefined;

  put<S extends SetName>(set: S, fields: FieldsOf<S> | undefined): void {
    if (fields === undefined) return;
    Object.assign(this.#fields, fields);
    this.#sets.push(set);
  }

  flag(name: FlagName, on: boolean): void {
    if (on) this.#flags.push(name);
  }

  detail(details: Details): void {
    this.#details = { ...this.#details, ...details };
  }

  /** Only the first complaint is kept: the others mostly follow from it. */
  complain(trouble: string): void {
    this.#trouble ??= trouble;
  }

  /** What `parser` makes of a file; undefined when it cannot be read or the parser refuses it. */
  parse<T>(path: string, parser: (text: string) => T | undefined, most = MOST_SMALL): T | undefined {
    return this.#parse(path, parser, false, most);
  }

  /** The same of a file that need not be there: its absence is not worth a line. */
  maybe<T>(path: string, parser: (text: string) => T | undefined, most = MOST_SMALL): T | undefined {
    return this.#parse(path, parser, true, most);
  }

  #parse<T>(path: string, parser: (text: string) => T | undefined, optional: boolean, most: number): T | undefined {
    const file = new KernelFile(path, message => this.complain(message), optional);
    const parsed = file.parse(parser, most);
    file.close();
    return parsed;
  }

  done(): SlowReading {
    return {
      fields: this.#fields,
      sets: this.#sets,
      ...(this.#flags.length > 0 && { flags: this.#flags }),
      ...(this.#details !== undefined && { details: this.#details }),
      ...(this.#trouble !== undefined && { trouble: this.#trouble }),
    };
  }
}

/** The names in a folder that match, those with numbers in them in the order of these; none when it cannot be read. */
export function names(dir: string, pattern: RegExp): string[] {
  let all: string[];
  if (!existsSync(dir)) return []; // an error would cost more
  try {
    all = readdirSync(dir);
  } catch {
    return [];
  }
  // By length first: card2 before card10. Locale has no say in it.
  return all.filter(name => pattern.test(name)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

/** The number on the only line of a kernel file; without its line end it was cut. */
export function parseCount(text: string): Count | undefined {
  return text.endsWith('\n') ? u64(text.slice(0, -1)) : undefined;
}

/** The like with a sign. */
export function parseInteger(text: string): number | undefined {
  return /^-?\d{1,15}\n$/.test(text) ? Number(text) : undefined;
}

/** All of them, or undefined when one is missing: a sum over the rest would be wrong. */
export function whole<T>(list: readonly (T | undefined)[]): T[] | undefined {
  return list.includes(undefined) ? undefined : (list as T[]);
}
