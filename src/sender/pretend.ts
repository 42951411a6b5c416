// Reads a file with what no tree of files contains (clocks, start, number, lateness, the machine), so that a report can
// be repeated exactly. For tests and for comparing senders; reads only files in the given trees.

import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, resolve } from 'node:path';
import { InputError, oneLine, readText } from '../common/text.js';
import { versionNumber } from '../common/version.js';
import { archOf } from './collect/system.js';
import type { SlowWorld } from './slow/source.js';
import { here, type World } from './world.js';

/** A pretended run of the sender. */
export interface Pretence {
  world: World;
  /** What the slow sources read from some trees. */
  slowWorld(places: Pick<SlowWorld, 'proc' | 'sys' | 'scratch'>): SlowWorld;
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

// Loading these takes longer than everything else in a report, and only tests need them.
const require = createRequire(import.meta.url);

function schema() {
  const { z } = require('zod') as typeof import('zod');
  const ns = z
    .bigint()
    .min(0n)
    .max(2n ** 63n - 1n);
  const signed = z
    .bigint()
    .min(-(2n ** 63n))
    .max(2n ** 63n - 1n);
  const whole = z
    .bigint()
    .min(0n)
    .max(2n ** 32n - 1n)
    .transform(Number);
  return z.strictObject({
    t_real_ns: ns,
    t_boot_ns: ns,
    before_boot_ns: ns.optional(),
    slow_boot_ns: ns.optional(),
    start_boot_ns: ns,
    seq: whole.default(0),
    late_us: whole.default(0),
    collect_us: whole.default(0),
    agent_cpu_ms: whole.default(0),
    missed_ticks: whole.default(0),
    version: z
      .string()
      .regex(/^\d{1,3}\.\d{1,3}\.\d{1,3}$/)
      .default('0.0.0'),
    machine: z.string().default('x86_64'),
    page_kib: whole.default(4),
    adjtimex: z
      .strictObject({
        offset_us: signed.transform(Number),
        maxerror_us: signed.transform(Number),
        unsynchronised: z.boolean().default(false),
      })
      .optional(),
    run: z.string().min(1).optional(),
    etc: z.string().min(1).optional(),
    age_s: z
      .record(
        z.string(),
        z
          .bigint()
          .min(-(2n ** 31n))
          .max(2n ** 31n - 1n)
          .transform(Number),
      )
      .default({}),
    statvfs: z
      .record(z.string(), z.strictObject({ frsize: ns, blocks: ns, bavail: ns, files: ns, ffree: ns }))
      .default({}),
    links: z.record(z.string(), z.string()).default({}),
  });
}

/** An empty folder. */
const NOWHERE = '/dev/null';

type Given = ReturnType<ReturnType<typeof schema>['parse']>;

function slowWorld(given: Given, folder: string, places: Pick<SlowWorld, 'proc' | 'sys' | 'scratch'>): SlowWorld {
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
    ageSeconds: path => (existsSync(path) ? (given.age_s[basename(path)] ?? 0) : undefined),
    resolve(path) {
      if (!ours.some(tree => path.startsWith(tree))) return given.links[path] ?? path;
      try {
        return realpathSync(path);
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * The contents of the file; docs/pretend.md lists its keys. Throws an InputError in one line that begins with the file.
 */
export function readPretence(file: string): Pretence {
  const { parse } = require('smol-toml') as typeof import('smol-toml');
  let table: unknown;
  try {
    table = parse(readText(file), { integersAsBigInt: true });
  } catch (error) {
    throw error instanceof InputError
      ? error
      : new InputError(
          `${oneLine(file)}: ${oneLine((error as Error).message.split('\n')[0] ?? '')}; see docs/pretend.md`,
        );
  }
  const result = schema().safeParse(table);
  if (!result.success) {
    const [issue] = result.error.issues;
    const why = /received undefined$/.test(issue?.message ?? '') ? 'must be given' : (issue?.message ?? '');
    throw new InputError(
      `${oneLine(file)}: ${oneLine(issue?.path.join('.') ?? '')}: ${oneLine(why)}; see docs/pretend.md`,
    );
  }
  const given = result.data;
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
