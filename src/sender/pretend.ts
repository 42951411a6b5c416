// Reads a file with what no tree of files contains (clocks, start, number, lateness, the machine), so that a report can
// be repeated exactly. For tests and for comparing senders; reads only files in the given trees.

import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { versionNumber } from '../options/version.js';
import { attempt } from '../text/failure.js';
import { isObject, isText } from '../text/shape.js';
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

const wrong = (key: string, why: string) => new InputError(oneLine(`${key}: ${why}`));

/** A value that is what `what` says. */
function valueThat<T>(is: (value: unknown) => value is T, what: string): Validator<T> {
  return (value, key) => {
    if (is(value)) return value;
    throw wrong(key, value === undefined ? 'must be given' : `not ${what}`);
  };
}

const whole = (least: bigint, most: bigint) =>
  valueThat(
    (value): value is bigint => typeof value === 'bigint' && value >= least && value <= most,
    `a whole number of ${least} to ${most}`,
  );

function small(least: bigint, most: bigint): Validator<number> {
  const check = whole(least, most);
  return (value, key) => Number(check(value, key));
}

const isVersion = (value: unknown): value is string => isText(value) && /^\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(value);
const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isObject(value) && !(value instanceof Date);

const text = valueThat(isText, 'a text in quotes');
const version = valueThat(isVersion, 'like 1.2.3');
const path = valueThat((value): value is string => isText(value) && value !== '', 'the path of a folder');
const truth = valueThat(value => typeof value === 'boolean', 'true or false');
const anyTable = valueThat(isTable, 'a table');

function or<T>(check: Validator<T>, otherwise: NoInfer<T>): Validator<T> {
  return (value, key) => (value === undefined ? otherwise : check(value, key));
}

const maybe = <T>(check: Validator<T>) => or<T | undefined>(check, undefined);

const within = (key: string, name: string) => (key === '' ? name : `${key}.${name}`);

/** A table of these keys and no others. */
function table<T extends object>(checks: { readonly [K in keyof T]: Validator<T[K]> }): Validator<T> {
  return (value, key) => {
    const given = anyTable(value, key);
    const taken = Object.entries<Validator<unknown>>(checks).map(([name, check]) => [
      name,
      check(given[name], within(key, name)),
    ]);
    const unknown = Object.keys(given).find(name => !Object.hasOwn(checks, name));
    if (unknown !== undefined) throw wrong(within(key, unknown), 'unknown key');
    return Object.fromEntries(taken) as T;
  };
}

/** A table of any keys. */
function record<T>(check: Validator<T>): Validator<Record<string, T>> {
  return (value, key) => {
    const taken = Object.entries(anyTable(value, key)).map(([name, one]) => [name, check(one, within(key, name))]);
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
