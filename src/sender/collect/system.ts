// Data that do not change while the system runs: kernel release, architecture, page size, virtualisation, highest clock
// rate. Read only once: reading /proc/cpuinfo interrupts every CPU of the node.

import { readFileSync } from 'node:fs';
import { machine } from 'node:os';
import { enums } from '../../layout/layout.gen.js';
import { attempt } from '../../text/failure.js';
import { readOnce } from '../kernelfile.js';
import { lineAfter } from './kerneltext.js';

/** The release, as `uname -r`: one word that begins with a digit. */
export function parseRelease(text: string): string | undefined {
  return /^(\d[\x21-\x7e]{0,63})\n?$/.exec(text)?.[1];
}

/** The value of `arch` for the output of `uname -m`; 0 for others. */
export function archOf(name: string): number {
  return Math.max(0, (enums.arch as readonly string[]).indexOf(name));
}

/** The first CPU's part of /proc/cpuinfo; the text may be cut anywhere after it. */
export interface Cpuinfo {
  /** The flag of an x86 CPU that runs under a hypervisor. */
  hypervisor: boolean;
  mhz: number | undefined;
}

export function parseCpuinfo(text: string): Cpuinfo {
  const flags = `${lineAfter(text, 'flags') ?? ''} `;
  const mhz = /^\s{0,8}: (\d{1,7})(?:\.\d{1,6})?$/.exec(lineAfter(text, 'cpu MHz') ?? '')?.[1];
  return { hypervisor: flags.includes(' hypervisor '), mhz: mhz === undefined ? undefined : Number(mhz) };
}

/** The most that `cpu_group.mhz` can say; no CPU is as fast. */
export const MOST_MHZ = 65_534;

/** MHz from kHz, rounded down. */
export function parseMaxFreq(text: string): number | undefined {
  const mhz = Math.floor(Number(/^(\d{1,12})\n?$/.exec(text)?.[1] ?? 0) / 1000);
  return mhz === 0 || mhz > MOST_MHZ ? undefined : mhz;
}

/** AT_PAGESZ in the vector of 64-bit pairs that the kernel passes to each program, in KiB. */
export function parsePageKib(auxv: Uint8Array): number | undefined {
  const words = new BigUint64Array(auxv.length >> 3);
  new Uint8Array(words.buffer).set(auxv.subarray(0, words.byteLength));
  for (let i = 0; i + 1 < words.length; i += 2) if (words[i] === 6n) return Number(words[i + 1]) / 1024;
  return undefined;
}

/** The first CPU's text has about 2 KiB; the whole file for 512 CPUs would have a million bytes. */
const CPUINFO_HEAD = 16 << 10;

/** What /proc/cpuinfo says about the first CPU; empty if it cannot be read, because nothing in it is required. */
export function readCpuinfo(proc: string): Cpuinfo {
  return parseCpuinfo(readOnce(`${proc}/cpuinfo`, CPUINFO_HEAD) ?? '');
}

/** The highest clock rate in MHz: the limit that cpufreq has for any CPU, otherwise the first CPU's rate just now. */
export function readCpuMhz(
  sys: string,
  cpus: readonly number[],
  cpuinfo: Cpuinfo,
): { cpu_mhz_max: number } | undefined {
  const allowed = cpus.map(cpu => readOnce(`${sys}/devices/system/cpu/cpu${cpu}/cpufreq/cpuinfo_max_freq`) ?? '');
  const highest = Math.max(0, ...allowed.map(text => parseMaxFreq(text) ?? 0));
  const mhz = highest > 0 ? highest : (cpuinfo.mhz ?? 0);
  return mhz > 0 && mhz <= MOST_MHZ ? { cpu_mhz_max: mhz } : undefined;
}

/**
 * Architecture and page size in KiB of the machine that we run on, whatever the roots are: no tree of files contains
 * them. The page size is undefined if the kernel does not let us read our own vector.
 */
export function readMachine(): { arch: number; page_kib: number | undefined } {
  const page_kib = attempt(() => parsePageKib(readFileSync('/proc/self/auxv')));
  return { arch: archOf(machine()), page_kib };
}
