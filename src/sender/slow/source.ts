// The definition of a slow source, and how one reading of it is put together. Knows no source, does not schedule, and
// never throws: what could not be read is left out, and the first complaint is kept for the log.

import { existsSync, readdirSync } from 'node:fs';
import type { Encodable, FieldsOf, SetName } from '../../layout/codec.js';
import { type bits, constants, sources } from '../../layout/layout.gen.js';
import { attempt } from '../../text/failure.js';
import { type KernelCount, tooMany, u64 } from '../collect/kerneltext.js';
import type { MemberSum, SumMember } from '../collect/membersum.js';
import { KernelFile, MOST_SMALL } from '../kernelfile.js';

/** The result of statvfs. */
export interface FileSystem {
  totalBytes: bigint;
  /** For an ordinary user. */
  availableBytes: bigint;
  /** 0 if the file system makes inodes on demand. */
  inodes: bigint;
  inodesFree: bigint;
}

/** The roots of the slow side, and access to what no tree of files contains. All answer undefined if they have none. */
export interface SlowWorld {
  proc: string;
  sys: string;
  /** Of the files that others write for us: /run/beoboard. */
  run: string;
  /** Of os-release: /etc. */
  etc: string;
  /** The local scratch: /tmp. */
  scratch: string;
  /** An older ok in the health file is a warning; undefined: it never is. */
  healthMostMs?: number | undefined;
  statfs(path: string): FileSystem | undefined;
  /** The age of a file by its time; negative if that is in the future. */
  ageSeconds(path: string): number | undefined;
  /** CLOCK_BOOTTIME. */
  bootNs(): bigint;
  resolve(path: string): string | undefined;
}

type FlagName = keyof typeof bits.flags;

/** What the slow side knows for fast sets; an absent value is unknown. */
export interface Details {
  /** Speeds of interfaces that count by name, Mbit/s; 0: unknown. */
  mbps?: ReadonlyMap<string, number>;
  /** Interfaces whose traffic others count: parts of an adapter; where none has a device, those that stand on others. */
  leftOut?: ReadonlySet<string>;
  /** For each CPU group, MHz; 0: unknown. */
  mhz?: readonly number[];
  /** For each CPU group, tenths of °C; TEMPERATURE_UNKNOWN: unknown. */
  tempDc?: readonly number[];
  container?: boolean;
}

/** Plain data, because it comes from a child process. */
export interface SlowReading {
  fields: Encodable<'report'>;
  sets: SetName[];
  flags?: FlagName[];
  details?: Details;
  /** One line, always the same for the same trouble: something exists and is invalid or unreadable. */
  trouble?: string;
}

/** The sets of the contract. */
export type SourceName = keyof typeof sources.slow;

/** The contract's description of a source. */
export const about = <N extends SourceName>(name: N) => ({ name, ...sources.slow[name] });

export interface SlowSource {
  name: string;
  /** How often it is read; 0: in every round. */
  periodMs: number;
  /**
   * It is also read this often if rounds are rarer, because a counter must not wrap twice unnoticed. A value that was
   * not measured in such a reading counts as not measured in the following round, too.
   */
  mostMs?: number;
  /** Whether its counters have rates: then a reading of another round must not replace a missing one. */
  rated?: true;
  sets: readonly SetName[];
  flags?: readonly FlagName[];
  /** What it remembers from reading to reading: plain data, with which the next child goes on. */
  kept?: readonly object[];
  read(world: SlowWorld): SlowReading;
}

/** One reading in progress. */
export class ReadingBuilder {
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

  get isTroubled(): boolean {
    return this.#trouble !== undefined;
  }

  /** Complains that there are more than a sender takes. */
  tooMany(most: number, what: string): void {
    this.complain(tooMany(most, what));
  }

  /** The result of `parser` for a file; undefined if it cannot be read or the parser refuses it. */
  parse<T>(
    path: string,
    parser: (text: string) => T | undefined,
    most = MOST_SMALL,
    isOptional = false,
  ): T | undefined {
    const file = new KernelFile(path, message => this.complain(message), isOptional);
    const parsed = file.parse(parser, most);
    file.close();
    return parsed;
  }

  /** The same for an optional file: if it is missing, there is no complaint. */
  maybe<T>(path: string, parser: (text: string) => T | undefined, most?: number): T | undefined {
    return this.parse(path, parser, most, true);
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

/** A source whose readings are begun anew each time. */
export function source(name: SourceName, fill: (now: ReadingBuilder, world: SlowWorld) => void): SlowSource {
  return {
    ...about(name),
    read(world) {
      const now = new ReadingBuilder();
      fill(now, world);
      return now.done();
    },
  };
}

/** The same of one that remembers something; see `SlowSource.kept`. */
export const keeping = (name: SourceName, kept: readonly object[], fill: Parameters<typeof source>[1]): SlowSource => ({
  ...source(name, fill),
  kept,
});

/** The matching names in a folder, sorted by their numbers; empty if it cannot be read. */
export function names(dir: string, pattern: RegExp): string[] {
  if (!existsSync(dir)) return []; // An exception would cost more.
  const all = attempt(() => readdirSync(dir)) ?? [];
  // By length first: card2 before card10, in any locale.
  return all.filter(name => pattern.test(name)).sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

/** The number on the only line of a kernel file; without its line end it was cut. */
export function parseCount(text: string): KernelCount | undefined {
  return text.endsWith('\n') ? u64(text.slice(0, -1)) : undefined;
}

/** The same with a sign. */
export function parseInteger(text: string): number | undefined {
  return /^-?\d{1,15}\n$/.test(text) ? Number(text) : undefined;
}

/** The sum over members after this round; complains of more than have room. Undefined: none read, or not known. */
export function endMembers<K extends string>(
  now: ReadingBuilder,
  sum: MemberSum<K>,
  members: readonly SumMember<K>[],
  nowMs: number,
  what: string,
): Readonly<Record<K, KernelCount>> | undefined {
  const total = sum.add(members, nowMs);
  if (sum.isFull) now.tooMany(constants.most.members, what);
  return members.some(({ counts }) => counts !== undefined) ? total : undefined;
}

/** The time since boot, ms. */
export const bootMs = ({ bootNs }: SlowWorld) => Number(bootNs() / 1_000_000n);
