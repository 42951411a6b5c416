// Two numbers that are equal on equal nodes: one for the hardware, one for the system software. The texts are exactly
// those of the contract ("Sources of the slow sets"); a text that lacks what every node has is not hashed.

import { parseCpuList } from '../collect/cpus.js';
import { lines } from '../collect/kerneltext.js';
import { readSpeed, withDevice } from '../collect/netlinks.js';
import { parseRelease } from '../collect/system.js';
import { readOnce } from '../kernelfile.js';
import { crc32 } from './crc32.js';
import { makePackages } from './packages.js';
import { names, type ReadingBuilder, type SlowSource, type SlowWorld, source } from './source.js';

/** The keys of /proc/cpuinfo that identify the model, in the order of the text. */
const MODEL = ['model name', 'cpu', 'uarch', 'CPU implementer', 'CPU variant', 'CPU part', 'CPU revision', 'microcode'];
/** The same where the first CPU has none of them: of s390x, MIPS, LoongArch and older kernels of RISC-V. */
const OTHER_MODEL = [
  ...['vendor_id', 'machine', 'system type', 'cpu model', 'CPU Family', 'Model Name', 'CPU Revision'],
  ...['isa', 'mmu', 'mvendorid', 'marchid', 'mimpid'],
];

/** The first CPU's text has about 2 KiB. */
const CPUINFO_HEAD = 16 << 10;

/** Printable ASCII: every program reads it in the same way. */
const PLAIN = /^[\x20-\x7e]*$/;

/** The lines `cpu KEY: VALUE` of the first CPU; undefined if there are none. */
export function cpuModel(text: string): string[] | undefined {
  const found = new Map<string, string>();
  const keep = (key: string, value: string) => found.has(key) || found.set(key, value.trim());
  let paragraph = 0;
  for (const line of lines(text)) {
    if (line === '' && (++paragraph === 2 || MODEL.some(key => found.has(key)))) break;
    const colon = line.indexOf(':');
    const key = line.slice(0, Math.max(0, colon)).trim();
    if (paragraph === 0 || !MODEL.includes(key)) keep(key, line.slice(colon + 1));
    // On s390x a line for each CPU; its identification is that of the machine, and no other has it.
    const at = /^processor \d+$/.test(key) ? line.indexOf('machine = ') : -1;
    if (at >= 0) keep('machine', line.slice(at + 10));
  }
  const keys = MODEL.some(key => found.has(key)) ? MODEL : OTHER_MODEL;
  const out = keys.filter(key => found.has(key)).map(key => `cpu ${key}: ${found.get(key)}`);
  return out.length === 0 || !out.every(line => PLAIN.test(line)) ? undefined : out;
}

/** The size of a memory block in bytes, which the kernel writes in hexadecimal without 0x. */
export function parseBlockSize(text: string): bigint | undefined {
  const hex = /^([0-9a-f]{1,16})\n$/.exec(text)?.[1];
  return hex === undefined ? undefined : BigInt(`0x${hex}`);
}

/** The bytes of installed memory, or `-` if the kernel has no blocks. MemTotal differs from boot to boot. */
function memory(sys: string, now: ReadingBuilder): string | undefined {
  const dir = `${sys}/devices/system/memory`;
  const blocks = names(dir, /^memory\d+$/).length;
  if (blocks === 0) return '-';
  const size = now.parse(`${dir}/block_size_bytes`, parseBlockSize);
  return size === undefined ? undefined : String(size * BigInt(blocks));
}

/** The lines `nic NAME: MBPS` of the interfaces that have a device, by name; a name that holds the MAC is its prefix. */
function nics(sys: string): string[] | undefined {
  const all = withDevice(sys, names(`${sys}/class/net`, /./));
  if (!all.every(name => PLAIN.test(name))) return undefined;
  return all
    .map(name => ({ name: name.replace(/^([a-z]{2}x)[0-9a-f]{12}$/, '$1'), mbps: readSpeed(sys, name) }))
    .sort((a, b) => (a.name === b.name ? a.mbps - b.mbps : a.name < b.name ? -1 : 1))
    .map(({ name, mbps }) => `nic ${name}: ${mbps}`);
}

/** PCI devices that are GPUs: display controllers (03) and accelerators (12) of GPU vendors; `-` without PCI. */
function gpus(sys: string): string {
  const dir = `${sys}/bus/pci/devices`;
  const devices = names(dir, /^[0-9a-f:.]{1,20}$/);
  const ours = devices.filter(
    device =>
      /^0x(?:03|12)/.test(readOnce(`${dir}/${device}/class`) ?? '') &&
      /^0x(?:10de|1002|8086)\n$/.test(readOnce(`${dir}/${device}/vendor`) ?? ''),
  );
  return devices.length === 0 ? '-' : String(ours.length);
}

/** The text whose CRC is `hw_hash`; undefined if a part of it cannot be read. */
export function hardwareText(
  { proc, sys }: SlowWorld,
  now: ReadingBuilder,
  readPackages = makePackages(),
): string | undefined {
  const head = readOnce(`${proc}/cpuinfo`, CPUINFO_HEAD);
  const model = cpuModel(head ?? '');
  if (model === undefined) now.complain(`${proc}/cpuinfo names no model: hw_hash is left out`);
  const packages = readPackages(sys, now, 'parse');
  const present = now.parse(`${sys}/devices/system/cpu/present`, parseCpuList);
  const bytes = memory(sys, now);
  const links = nics(sys);
  if (links === undefined) now.complain(`an interface below ${sys} has no plain name: hw_hash is left out`);
  if (model === undefined || packages === undefined || present === undefined) return undefined;
  if (bytes === undefined || links === undefined) return undefined;
  return [
    ...model,
    `packages: ${packages.ids.length}`,
    `cpus: ${present.length}`,
    `memory: ${bytes}`,
    ...links,
    `gpus: ${gpus(sys)}`,
    '',
  ].join('\n');
}

export function makeHwHash(): SlowSource {
  const readPackages = makePackages();
  return source('hw_hash', (now, world) => {
    const text = hardwareText(world, now, readPackages);
    if (text !== undefined) now.put('hw_hash', { hw_hash: crc32(text) });
  });
}

/** A value of os-release without its quotes; undefined if a shell would not accept it, or not as plain text. */
function unquote(value: string): string | undefined {
  const plain = /^([A-Za-z0-9._+:,/@%~^-]*)$/.exec(value)?.[1] ?? /^'([^']*)'$/.exec(value)?.[1];
  const text = plain ?? /^"((?:[^"\\$`]|\\["\\$`])*)"$/.exec(value)?.[1]?.replace(/\\(.)/g, '$1');
  return text !== undefined && PLAIN.test(text) ? text : undefined;
}

const RELEASE = ['ID', 'VERSION_ID', 'IMAGE_ID'] as const;

/** The three values; every system has an ID, the others may be empty. The last line with a key counts. */
export function parseOsRelease(text: string): Record<(typeof RELEASE)[number], string> | undefined {
  if (!text.endsWith('\n')) return undefined;
  const out = { ID: '', VERSION_ID: '', IMAGE_ID: '' };
  for (const line of lines(text)) {
    const key = RELEASE.find(key => line.startsWith(`${key}=`));
    if (key === undefined) continue;
    const value = unquote(line.slice(key.length + 1).trimEnd());
    if (value === undefined) return undefined;
    out[key] = value;
  }
  return out.ID === '' ? undefined : out;
}

/** The text whose CRC is `sw_hash`; undefined if a part of it cannot be read. */
export function softwareText({ proc, etc }: SlowWorld, now: ReadingBuilder): string | undefined {
  const kernel = now.parse(`${proc}/sys/kernel/osrelease`, parseRelease);
  const os = now.parse(`${etc}/os-release`, parseOsRelease);
  if (kernel === undefined || os === undefined) return undefined;
  return `kernel: ${kernel}\nid: ${os.ID}\nversion_id: ${os.VERSION_ID}\nimage_id: ${os.IMAGE_ID}\n`;
}

export const swHash = source('sw_hash', (now, world) => {
  const text = softwareText(world, now);
  if (text !== undefined) now.put('sw_hash', { sw_hash: crc32(text) });
});
