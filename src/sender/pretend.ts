// Reads a file with what no tree of files contains (clocks, start, number, lateness, the machine), so that a report can
// be repeated exactly. For tests and for comparing senders; reads only files in the given trees.

import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { versionNumber } from '../options/version.js';
import { attempt } from '../text/failure.js';
import { InputError, oneLine, readText } from '../text/text.js';
import { archOf } from './collect/system.js';
import type { SlowWorld } from './slow/source.js';
import { type HostMachine, here } from './world.js';

type PretendedPlaces = Pick<SlowWorld, 'proc' | 'sys' | 'scratch' | 'healthMostMs'>;

/** A pretended run of the sender. */
export interface Pretence {
  world: HostMachine;
  /** What the slow sources read from some trees. */
  slowWorld(places: PretendedPlaces): SlowWorld;
  /** When the last slow round ended, CLOCK_BOOTTIME, ns. */
  slowBootNs: bigint;
  startBootNs: bigint;
  /** CLOCK_BOOTTIME of the tick before, ns. */
  beforeBootNs: bigint | undefined;
  seq: number;
  lateUs: number;
  missedTicks: number;
  /** major<<16 | minor<<8 | patch */
  agentVersion: number;
}

/** Checks the value of a key and converts it. Throws an InputError that begins with the key. */
type Validator<T> = (value: unknown, key: string) => T;

function wrong(key: string, why: string): InputError {
  return new InputError(`${oneLine(key)}: ${oneLine(why)}`);
}

function wrongKind(key: string, expected: string, value: unknown): InputError {
  if (value === undefined) return wrong(key, 'must be given');
  const kind = Array.isArray(value) ? 'array' : value instanceof Date ? 'TomlDate' : typeof value;
  const received = kind === 'number' && !Number.isFinite(value) ? String(value) : kind;
  return wrong(key, `Invalid input: expected ${expected}, received ${received}`);
}

/** A whole number from `least` to `most`. */
function whole(least: bigint, most: bigint): Validator<bigint> {
  return (value, key) => {
    if (typeof value !== 'bigint') throw wrongKind(key, 'bigint', value);
    if (value < least) throw wrong(key, `Too small: expected bigint to be >=${least}`);
    if (value > most) throw wrong(key, `Too big: expected bigint to be <=${most}`);
    return value;
  };
}

function small(least: bigint, most: bigint): Validator<number> {
  const check = whole(least, most);
  return (value, key) => Number(check(value, key));
}

const text: Validator<string> = (value, key) => {
  if (typeof value !== 'string') throw wrongKind(key, 'string', value);
  return value;
};

const version: Validator<string> = (value, key) => {
  const pattern = /^\d{1,3}\.\d{1,3}\.\d{1,3}$/;
  if (!pattern.test(text(value, key))) throw wrong(key, `Invalid string: must match pattern ${pattern}`);
  return text(value, key);
};

const path: Validator<string> = (value, key) => {
  if (text(value, key) === '') throw wrong(key, 'Too small: expected string to have >=1 characters');
  return text(value, key);
};

const truth: Validator<boolean> = (value, key) => {
  if (typeof value !== 'boolean') throw wrongKind(key, 'boolean', value);
  return value;
};

function or<T>(check: Validator<T>, otherwise: NoInfer<T>): Validator<T> {
  return (value, key) => (value === undefined ? otherwise : check(value, key));
}

const maybe = <T>(check: Validator<T>) => or<T | undefined>(check, undefined);

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && !Array.isArray(value);
}

/** A table of these keys and no others. */
function table<T extends object>(checks: { readonly [K in keyof T]: Validator<T[K]> }): Validator<T> {
  return (value, key) => {
    if (!isTable(value)) throw wrongKind(key, 'object', value);
    const taken = Object.entries<Validator<unknown>>(checks).map(([name, check]) => [
      name,
      check(value[name], key === '' ? name : `${key}.${name}`),
    ]);
    const unknown = Object.keys(value).filter(name => !Object.hasOwn(checks, name));
    if (unknown.length > 0) {
      const names = unknown.map(name => `"${name}"`).join(', ');
      throw wrong(key, `Unrecognized key${unknown.length > 1 ? 's' : ''}: ${names}`);
    }
    return Object.fromEntries(taken) as T;
  };
}

/** A table of any keys, and of nothing else. */
function record<T>(check: Validator<T>): Validator<Record<string, T>> {
  return (value, key) => {
    if (!isTable(value) || value instanceof Date) throw wrongKind(key, 'record', value);
    const taken = Object.entries(value).map(([name, one]) => [name, check(one, `${key}.${name}`)]);
    return Object.assign(Object.create(null), Object.fromEntries(taken));
  };
}

const ns = whole(0n, 2n ** 63n - 1n);
const us = small(-(2n ** 63n), 2n ** 63n - 1n);
const count = small(0n, 2n ** 32n - 1n);
const seconds = small(-(2n ** 31n), 2n ** 31n - 1n);

const FILE = table({
  t_real_ns: ns,
  t_boot_ns: ns,
  before_boot_ns: maybe(ns),
  slow_boot_ns: maybe(ns),
  start_boot_ns: ns,
  seq: or(count, 0),
  late_us: or(count, 0),
  collect_us: or(count, 0),
  agent_cpu_ms: or(count, 0),
  missed_ticks: or(count, 0),
  version: or(version, '0.0.0'),
  machine: or(text, 'x86_64'),
  page_kib: or(count, 4),
  adjtimex: maybe(table({ offset_us: us, maxerror_us: us, unsynchronised: or(truth, false) })),
  run: maybe(path),
  etc: maybe(path),
  age_s: or(record(seconds), {}),
  statvfs: or(record(table({ frsize: ns, blocks: ns, bavail: ns, files: ns, ffree: ns })), {}),
  links: or(record(text), {}),
});

type PretenceValues = ReturnType<typeof FILE>;

// Loading it takes longer than everything else in a report, and only tests need it.
const require = createRequire(import.meta.url);

const NOWHERE = '/dev/null';

function slowWorld(given: PretenceValues, folder: string, places: PretendedPlaces): SlowWorld {
  const at = (path: string | undefined) => (path === undefined ? NOWHERE : resolve(folder, path));
  const ours = [places.proc, places.sys].map(tree => `${tree}/`);
  return {
    ...places,
    run: at(given.run),
    etc: at(given.etc),
    statfs(path) {
      const fs = given.statvfs[path];
      return (
        fs && {
          totalBytes: fs.blocks * fs.frsize,
          availableBytes: fs.bavail * fs.frsize,
          inodes: fs.files,
          inodesFree: fs.ffree,
        }
      );
    },
    bootNs: () => given.t_boot_ns,
    ageSeconds: path => (existsSync(path) ? (given.age_s[basename(path)] ?? 0) : undefined),
    resolve(path) {
      if (!ours.some(tree => path.startsWith(tree))) return given.links[path] ?? path;
      return attempt(() => realpathSync(path));
    },
  };
}

/** The contents of the file; docs/senders.md lists its keys. Throws an InputError of one line that names the file. */
export function readPretence(file: string): Pretence {
  const { parse } = require('smol-toml') as typeof import('smol-toml');
  const toml = readText(file);
  let given: PretenceValues;
  try {
    given = FILE(parse(toml, { integersAsBigInt: true }), '');
  } catch (error) {
    const [why = ''] = (error as Error).message.split('\n');
    throw new InputError(`${oneLine(file)}: ${oneLine(why)}; see docs/senders.md`);
  }
  return {
    startBootNs: given.start_boot_ns,
    slowBootNs: given.slow_boot_ns ?? given.t_boot_ns,
    slowWorld: places => slowWorld(given, dirname(resolve(file)), places),
    beforeBootNs: given.before_boot_ns,
    seq: given.seq,
    lateUs: given.late_us,
    missedTicks: given.missed_ticks,
    agentVersion: versionNumber(given.version),
    world: {
      after: here.after,
      clocks: () => ({ realNs: given.t_real_ns, bootNs: given.t_boot_ns }),
      adjtimex: () =>
        given.adjtimex && {
          offsetUs: given.adjtimex.offset_us,
          maxErrorUs: given.adjtimex.maxerror_us,
          unsynchronised: given.adjtimex.unsynchronised,
        },
      cpuMs: () => given.agent_cpu_ms,
      time(work) {
        work();
        return given.collect_us;
      },
      machine: () => ({ arch: archOf(given.machine), page_kib: given.page_kib }),
    },
  };
}
