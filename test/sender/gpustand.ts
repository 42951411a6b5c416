// Shared by the tests of the GPU helper: its program, the stand-ins for NVML and for the PCI bus, and ways to run it. No
// test of its own.

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { follow } from '../kit/children.js';
import { DYNAMIC, type Make, makeIn, preloadable } from '../kit/compiling.js';
import { memoryFolder } from '../kit/places.js';
import { until } from '../kit/until.js';

/** Makes a target of c/gpu, and returns its path. */
export const made = (target: string, how: Make = DYNAMIC) => join(makeIn('gpu', how, `OUT/${target}`), target);

export const HELPER = made('beoboard-gpu');
export const NVML = made('standin_nvml.so');
export const HURRY = preloadable(made('hurry.so'));
export const MIB = 2 ** 20;
export const GOOD = [
  'Init * 0',
  'DeviceGetCount * 0 1',
  'DeviceGetHandleByIndex * 0',
  'DeviceGetUtilizationRates * 0 50 20',
  'DeviceGetTemperature * 0 61',
  'DeviceGetTemperatureV * 0 61',
  'DeviceGetPowerUsage * 0 300999',
  `DeviceGetMemoryInfo * 0 ${81_920 * MIB} ${1024 * MIB + 5}`,
  'SlowedBy * 0 0',
  'Programs * 0 0',
  'DeviceGetMigMode * 0 0 0',
  'DeviceGetEccMode * 0 1 1',
  'DeviceGetTotalEccErrors * 0 0',
  'EventSetCreate * 0',
  'DeviceRegisterEvents * 0',
  'EventSetWait * 0',
];
export const FINE = '50 61 300 1024 81920 3 0 0\n';
export const TWO = [...GOOD, 'DeviceGetCount * 0 2', 'DeviceGetUUID 0 0 10', 'DeviceGetUUID 1 0 11'];
export const PLACED = [...TWO, 'DeviceGetPciInfo 0 0 1', 'DeviceGetPciInfo 1 0 2'];
export const BUS = { '0000:01:00.0': 'nvidia', '0000:02:00.0': 'nvidia' };

/** A GPU of AMD: the driver that has it, and the files of its device; null is one that cannot be read. */
export type Amd = { driver: string; files: Record<string, string | null> };
export const AMD_FILES = {
  gpu_busy_percent: '50\n',
  mem_info_vram_total: `${64 * 1024 * MIB}\n`,
  mem_info_vram_used: `${1024 * MIB + 5}\n`,
  'hwmon/hwmon4/temp1_input': '61999\n',
  'hwmon/hwmon4/power1_average': '300999000\n',
  'ras/umc_err_count': 'ue: 0\nce: 3\n',
  'ras/gfx_err_count': 'ue: 0\nce: 1\n',
};
export const amd = (files: Record<string, string | null> = {}, driver = 'amdgpu'): Amd => ({
  driver,
  files: { ...AMD_FILES, ...files },
});
export const AMD_FINE = '50 61 300 1024 65536 3 4 0\n';
export const AMD_LOST = '- - - - - 17 4 0\n';
/** None of what the GPU itself is asked for. */
export const MUTE = { gpu_busy_percent: null, 'hwmon/hwmon4/temp1_input': null, 'hwmon/hwmon4/power1_average': null };

export const [FIRST, SECOND, THIRD] = ['0000:03:00.0', '0000:43:00.0', '0000:c3:00.0'];

/** Writes a file that a running helper reads: by a rename, so that it is never seen empty or half-written. */
export function rewrite(path: string, text: string): void {
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
}

/** Sets the answers of the stand-in from now on. */
export function answer(path: string, lines: readonly string[]): void {
  rewrite(path, lines.map(line => `${line}\n`).join(''));
}

interface Place {
  root: string;
  script: string;
  file: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** The GPU file as it is now. */
  text(): string;
  log(): string[];
}

/** A folder with a script for the stand-in, and the path of a GPU file whose folder does not exist yet. */
export function place(t: Test, lines: readonly string[], library = NVML): Place {
  const root = memoryFolder(t);
  const script = join(root, 'script');
  const file = join(root, 'run', 'gpu');
  answer(script, lines);
  return {
    root,
    script,
    file,
    args: ['--file', file, '--library', library, '--sys', join(root, 'sys')],
    env: { ...process.env, STANDIN_NVML: script },
    text: () => readFileSync(file, 'utf8'),
    log: () => (existsSync(`${script}.log`) ? readFileSync(`${script}.log`, 'utf8').trimEnd().split('\n') : []),
  };
}

export function run(program: string, args: string[], env: NodeJS.ProcessEnv = process.env) {
  const { status, signal, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env, timeout: 60_000 });
  return { code: status ?? signal, stdout, stderr };
}

/** Starts the loop; it is ended with the test. */
export function start(t: Test, at: Place, more: string[] = [], env: NodeJS.ProcessEnv = {}, program = HELPER) {
  const child = spawn(program, [...at.args, ...more], {
    env: { ...at.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = follow(child, t);
  const end = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return said.exit;
  };
  return {
    child,
    exit: said.exit,
    end,
    said: () =>
      said.stderr
        .replaceAll(/^beoboard-gpu: /gm, '')
        .trimEnd()
        .split('\n'),
  };
}

/** A /sys with these GPUs: of NVIDIA the driver that has each, of AMD the files, too. AMD's cards are numbered backwards
 * from `first` on. Replaced as a whole. */
export function bus(at: Place, devices: Record<string, string | Amd>, first = 9): void {
  const made = mkdtempSync(join(at.root, 'sys-'));
  const drm = join(made, 'class', 'drm');
  mkdirSync(drm, { recursive: true });
  for (const [i, [address, what]] of Object.entries(devices).entries()) {
    const device = join(made, 'bus', 'pci', 'devices', address);
    const { driver, files } = typeof what === 'string' ? { driver: what, files: {} } : what;
    // AMD's are displays or accelerators.
    const amd = ['0x1002\n', i % 2 === 0 ? '0x038000\n' : '0x120000\n'] as const;
    const [vendor, kind] = typeof what === 'string' ? ['0x10de\n', '0x030200\n'] : amd;
    for (const [name, text] of Object.entries({ vendor, class: kind, ...files })) {
      const path = join(device, name);
      mkdirSync(text === null ? path : dirname(path), { recursive: true });
      if (text !== null) writeFileSync(path, text);
    }
    if (driver !== '') symlinkSync(`../../../../bus/pci/drivers/${driver}`, join(device, 'driver'));
    if (typeof what === 'string') continue;
    mkdirSync(join(drm, `card${first - i}`));
    symlinkSync(device, join(drm, `card${first - i}`, 'device'));
  }
  symlinkSync(made, `${made}.next`);
  renameSync(`${made}.next`, join(at.root, 'sys'));
}

/** The same, without NVML, as on such a node. */
export function amdPlace(t: Test) {
  const at = place(t, []);
  return { ...at, args: at.args.map(word => (word === NVML ? '/nowhere/libnvidia-ml.so.1' : word)) };
}

/** A helper whose minutes pass at once; `rounds` waits until so many more waits of it were over, and `between` does
 * something between two of its rounds, neither of which sees half of it. */
export function hurried(t: Test, at: Place, more: string[] = [], env: NodeJS.ProcessEnv = {}, vendor = 'nvidia') {
  const log = `${at.root}/waits`;
  writeFileSync(log, '');
  const helper = start(t, at, more, { LD_PRELOAD: HURRY, HURRY_LOG: log, ...env });
  const waits = () => readFileSync(log, 'utf8').split('\n').length - 1;
  const rounds = async (count: number) => {
    const before = waits();
    await until(`${count} more rounds`, () => waits() >= before + count);
  };
  const between = async (change: () => void) => {
    writeFileSync(`${log}.hold`, '');
    await until('a round is over', () => existsSync(`${log}.held`));
    change();
    unlinkSync(`${log}.held`);
  };
  // AMD's files go one after another: a GPU that goes while it is read may be left without its counters.
  const alike = (text: string) => (vendor === 'amd' ? text.replace(/^(- - - - - \d+) 4 0$/gm, '$1 - -') : text);
  const shows = (what: string, file: string) => {
    const whole = alike(`gpu 1 ${vendor} ${file.split('\n').length - 1}\n${file}`);
    return until(what, () => existsSync(at.file) && alike(at.text()) === whole);
  };
  return { ...helper, rounds, between, shows };
}

/** Every return code of nvml.h that is an error. */
export const CODES = [...Array.from({ length: 30 }, (_, i) => i + 1), 999];
export const OF_DRIVER = [1, 9, 18];
export const GAPS = [3, 4, 13, 21, 22, 25, 26];
/** All but what this library does not have, or what a busy GPU is not asked. */
export const READINGS = GOOD.slice(3, 13)
  .map(line => line.split(' ')[0] ?? '')
  .filter(name => name !== 'DeviceGetTemperatureV' && name !== 'Programs');
