// The slow sources of the sender on trees of files that this test writes: each source's table, traps, corrupt trees;
// and on this machine's own. Needs neither the hardware nor a clock.
//
// @seconds 8
// @whole

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32 as zlibCrc32 } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import {
  decodeReport,
  type Encodable,
  encode,
  REPORT_BYTES,
  type SetName,
  TEMPERATURE_UNKNOWN,
} from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import { type KernelCount, u64 } from '../../src/sender/collect/kerneltext.js';
import { meanMhz, spread } from '../../src/sender/slow/clockrates.js';
import { containerCgroup, containerRoot, foreignNamespace } from '../../src/sender/slow/container.js';
import { crc32 } from '../../src/sender/slow/crc32.js';
import { wholeJoules } from '../../src/sender/slow/energy.js';
import { makeFabric, parseActive, parseOptional, parseRate } from '../../src/sender/slow/fabric.js';
import { fullness, inodesFree, sane } from '../../src/sender/slow/filesystems.js';
import { errorFields, type GpuReading, gpuFields, memoryMib } from '../../src/sender/slow/gpu.js';
import { parseBusy, parseGpuTemperature, parseRas } from '../../src/sender/slow/gpuamd.js';
import { parseGpuFile } from '../../src/sender/slow/gpufile.js';
import {
  cpuModel,
  hardwareText,
  makeHwHash,
  parseBlockSize,
  parseOsRelease,
  softwareText,
} from '../../src/sender/slow/hashes.js';
import { parseHealth } from '../../src/sender/slow/health.js';
import { parsePower, parseTemperature } from '../../src/sender/slow/hwmon.js';
import { makeSources, sources } from '../../src/sender/slow/index.js';
import { parseHungTasks, parseTaint } from '../../src/sender/slow/kernelstate.js';
import { hasDisk, isLocal, type Mount, mountOf, parseMounts } from '../../src/sender/slow/mounts.js';
import { parseWatts } from '../../src/sender/slow/power.js';
import { machineWorld, PLACES } from '../../src/sender/slow/slowworld.js';
import {
  type FileSystem,
  names,
  parseCount,
  parseInteger,
  ReadingBuilder,
  type SlowReading,
  type SlowSource,
  type SlowWorld,
} from '../../src/sender/slow/source.js';
import { inletSensors, packageSensors, processorSensors } from '../../src/sender/slow/temperatures.js';
import { anyText } from '../kit/anytext.js';
import { memoryFolder } from '../kit/places.js';
import { runsOf } from '../kit/whole.js';

const temp = mkdtempSync(join(realpathSync(tmpdir()), 'beoboard-22-'));
// Thousands of files: on a disk they take five times the time. No more of them than one test needs.
const memory = memoryFolder(t);
t.afterEach(() => {
  for (const name of readdirSync(memory)) rmSync(join(memory, name), { recursive: true, force: true });
});
t.teardown(() => rmSync(temp, { recursive: true, force: true }));

type Files = Record<string, string>;
let trees = 0;

interface Tree extends SlowWorld {
  write(files: Files): void;
  path(name: string): string;
  /** The result of statvfs by path; a path that is not in it does not answer. */
  disks: Record<string, FileSystem>;
  /** The age that all files appear to have, if it is set. */
  age: number | undefined;
  /** The time since boot, s. */
  now: number;
}

const GIB = 1n << 30n;
/** 2^64, which is too large for 64 bits. */
const BEYOND = '18446744073709551616\n';
const disk = (total: bigint, available: bigint, inodes = 1000n, inodesFree = 500n): FileSystem => ({
  totalBytes: total,
  availableBytes: available,
  inodes,
  inodesFree,
});

/** Writes a tree of files, and makes a world in which nothing belongs to this machine. */
function tree(files: Files): Tree {
  const root = join(memory, `tree${trees++}`);
  const path = (name: string) => join(root, name);
  const write = (files: Files) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text, { mode: 0o644 });
      chmodSync(path(name), 0o644); // independent of the umask
    }
  };
  for (const dir of ['proc', 'sys', 'run', 'etc']) mkdirSync(path(dir), { recursive: true });
  write(files);
  const world: Tree = {
    proc: path('proc'),
    sys: path('sys'),
    run: path('run'),
    etc: path('etc'),
    scratch: '/tmp',
    statfs: at => world.disks[at],
    ageSeconds: () => world.age,
    bootNs: () => BigInt(world.now) * 1_000_000_000n,
    resolve: at => at,
    disks: { '/': disk(100n * GIB, 25n * GIB) },
    age: 1,
    now: 1000,
    write,
    path,
  };
  return world;
}

/** A new source with this name, without state. */
function source(name: string): SlowSource {
  const found = makeSources().find(source => source.name === name);
  if (found === undefined) throw new TypeError(`no source ${name}`);
  return found;
}

const read = (name: string, world: SlowWorld) => source(name).read(world);
/** An empty reading, without `trouble`. */
const { trouble: _, ...NOTHING }: SlowReading = new ReadingBuilder().done();
function silent({ trouble: _, ...reading }: SlowReading): SlowReading {
  return reading;
}

/** Makes a file so many seconds old. */
function backdate(path: string, seconds: number): void {
  const at = Date.now() / 1000 - seconds;
  utimesSync(path, at, at);
}

/** Things that hang or never end when they are read like files. */
const TRAPS: Record<string, (path: string) => void> = {
  fifo: path => execFileSync('mkfifo', [path]),
  device: path => symlinkSync('/dev/zero', path),
  folder: path => mkdirSync(path),
  loop: path => symlinkSync(path, path),
};

const MOUNTINFO = `22 27 0:21 / /proc rw,relatime - proc proc rw
24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,errors=remount-ro
31 27 254:16 / /scratch rw,noatime shared:2 - xfs /dev/vdb rw
32 27 254:16 /sub /home rw - xfs /dev/vdb rw
33 27 0:40 / /tmp rw - tmpfs tmpfs rw
34 27 0:41 / /net/home rw - nfs4 server:/home rw,vers=4.2
35 27 7:1 / /snap/core/1 ro - squashfs /dev/loop1 ro
36 27 0:42 / /data rw - btrfs /dev/sdc1 rw,subvol=/
`;

const port = (device: string, number: number, n: number, state = '4: ACTIVE', rate = '100 Gb/sec (4X EDR)'): Files => {
  const dir = `sys/class/infiniband/${device}/ports/${number}`;
  const counter = (name: string, value: number) => ({ [`${dir}/counters/${name}`]: `${value}\n` });
  return {
    [`${dir}/state`]: `${state}\n`,
    [`${dir}/rate`]: `${rate}\n`,
    ...counter('port_rcv_data', n),
    ...counter('port_xmit_data', n + 1),
    ...counter('port_rcv_packets', n + 2),
    ...counter('port_xmit_packets', n + 3),
    ...counter('unicast_rcv_packets', n + 2),
    ...counter('multicast_rcv_packets', 7),
    ...counter('symbol_error', 1),
    ...counter('link_error_recovery', 2),
    ...counter('link_downed', 4),
    ...counter('port_rcv_errors', 8),
    ...counter('local_link_integrity_errors', 16),
    ...counter('port_rcv_remote_physical_errors', 1000),
    ...counter('port_xmit_discards', 32),
  };
};

const zone = (name: string, kind: string, uj: number, range = 262_143_328_850): Files => ({
  [`sys/class/powercap/${name}/name`]: `${kind}\n`,
  [`sys/class/powercap/${name}/energy_uj`]: `${uj}\n`,
  [`sys/class/powercap/${name}/max_energy_range_uj`]: `${range}\n`,
});

const hwmon = (number: number, name: string, leaves: Record<string, string | number>): Files =>
  Object.fromEntries(
    Object.entries({ name, ...leaves }).map(([leaf, text]) => [`sys/class/hwmon/hwmon${number}/${leaf}`, `${text}\n`]),
  );

const card = (number: number, leaves: Record<string, string | number>): Files =>
  Object.fromEntries(
    Object.entries({ vendor: '0x1002', ...leaves }).map(([leaf, text]) => [
      `sys/class/drm/card${number}/device/${leaf}`,
      `${text}\n`,
    ]),
  );
const AMD_CARD = {
  gpu_busy_percent: 87,
  mem_info_vram_used: 3 * 2 ** 30,
  mem_info_vram_total: 64 * 2 ** 30,
  'hwmon/hwmon5/temp1_input': 61_900,
  'hwmon/hwmon5/power1_average': 299_999_999,
  current_compute_partition: 'SPX',
  'ras/umc_err_count': 'ue: 2\nce: 3',
  'ras/gfx_err_count': 'ue: 0\nce: 5\nde: 1',
};

const cpu = (n: number, packageId: number, throttled?: number): Files => ({
  [`sys/devices/system/cpu/cpu${n}/topology/physical_package_id`]: `${packageId}\n`,
  [`sys/devices/system/cpu/cpu${n}/topology/thread_siblings_list`]: `${n}\n`,
  ...(throttled !== undefined && {
    [`sys/devices/system/cpu/cpu${n}/thermal_throttle/package_throttle_count`]: `${throttled}\n`,
  }),
});

const nic = (name: string, speed: number): Files => ({
  [`sys/class/net/${name}/ifindex`]: '1\n',
  [`sys/class/net/${name}/flags`]: '0x1003\n',
  [`sys/class/net/${name}/operstate`]: 'up\n',
  [`sys/class/net/${name}/speed`]: `${speed}\n`,
  [`sys/class/net/${name}/device/vendor`]: '0x8086\n',
});

const CPUINFO = `processor	: 0
vendor_id	: GenuineIntel
cpu family	: 6
model name	: Intel(R) Xeon(R) Platinum 8360Y CPU @ 2.40GHz
microcode	: 0xd000389
cpu MHz		: 2400.000

processor	: 1
model name	: another
`;

const GPU_FILE = 'gpu 1 nvidia 2\n75 60 300 1024 81920 3 1 0\n- - - - - 17 4 2\n';

// A node that has everything.
const FULL: Files = {
  'proc/sys/kernel/tainted': '4097\n',
  'proc/sys/kernel/hung_task_detect_count': '3\n',
  'proc/sys/kernel/osrelease': '6.12.0-55.el10.x86_64\n',
  'proc/self/mountinfo': MOUNTINFO,
  'proc/self/cgroup': '0::/system.slice/beoboard.service\n',
  'proc/1/cgroup': '0::/init.scope\n',
  'proc/cpuinfo': CPUINFO,
  'etc/os-release': 'NAME="Rocky Linux"\nID="rocky"\nVERSION_ID="10.0"\nIMAGE_ID=compute\n',
  'sys/devices/system/edac/mc/mc0/ce_count': '5\n',
  'sys/devices/system/edac/mc/mc0/ue_count': '0\n',
  'sys/devices/system/edac/mc/mc1/ce_count': '7\n',
  'sys/devices/system/edac/mc/mc1/ue_count': '1\n',
  'sys/devices/system/cpu/online': '0-3\n',
  'sys/devices/system/cpu/present': '0-7\n',
  ...cpu(0, 0, 10),
  ...cpu(1, 1, 20),
  ...cpu(2, 0, 10),
  ...cpu(3, 1, 20),
  'sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq': '2400000\n',
  'sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq': '1201999\n',
  'sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq': '1201000\n',
  'sys/devices/system/node/online': '0-1\n',
  'sys/devices/system/memory/block_size_bytes': '80000000\n',
  'sys/devices/system/memory/memory0/state': 'online\n',
  'sys/devices/system/memory/memory1/state': 'online\n',
  'sys/devices/system/memory/memory10/state': 'online\n',
  ...nic('ens2', 25_000),
  ...nic('ib0', 100_000),
  'sys/class/net/lo/flags': '0x9\n',
  'sys/class/net/bonding_masters': 'bond0\n',
  'sys/bus/pci/devices/0000:01:00.0/class': '0x030200\n',
  'sys/bus/pci/devices/0000:01:00.0/vendor': '0x10de\n',
  'sys/bus/pci/devices/0000:02:00.0/class': '0x030000\n',
  'sys/bus/pci/devices/0000:02:00.0/vendor': '0x1a03\n',
  'sys/bus/pci/devices/0000:03:00.0/class': '0x020000\n',
  'sys/bus/pci/devices/0000:03:00.0/vendor': '0x8086\n',
  ...port('mlx5_0', 1, 1000),
  ...port('mlx5_1', 1, 3000, '1: DOWN', '10 Gb/sec (4X)'),
  ...zone('intel-rapl:0', 'package-0', 5_999_999),
  ...zone('intel-rapl:1', 'package-1', 6_000_001),
  ...zone('intel-rapl:2', 'psys', 999_000_000),
  ...zone('intel-rapl-mmio:0', 'package-0', 999_000_000),
  ...zone('intel-rapl:0:0', 'core', 999_000_000),
  ...zone('intel-rapl:0:1', 'dram', 1_000_000),
  ...zone('intel-rapl:1:0', 'dram', 1_999_999),
  ...hwmon(0, 'coretemp', {
    temp1_label: 'Package id 0',
    temp1_input: 60_100,
    temp2_label: 'Core 0',
    temp2_input: 99_000,
  }),
  ...hwmon(1, 'coretemp', { temp1_label: 'Package id 1', temp1_input: 71_999 }),
  ...hwmon(2, 'nvme', { temp1_label: 'Inlet', temp1_input: 99_000 }),
  ...hwmon(3, 'power_meter', { power1_average: 412_900_000, power1_input: 1 }),
  ...hwmon(4, 'acpitz', { temp1_input: 98_000 }),
  ...hwmon(5, 'board', { temp1_label: 'Ambient', temp1_input: 97_000, temp2_label: 'Inlet Temp', temp2_input: 22_500 }),
  ...card(0, AMD_CARD),
  'sys/class/drm/card0-DP-1/status': 'disconnected\n',
  'sys/class/drm/card1/device/vendor': '0x1a03\n',
  'run/health': 'warning check\n',
  'run/hold': '',
  'run/power': '555\n',
};

const HW_TEXT = `cpu model name: Intel(R) Xeon(R) Platinum 8360Y CPU @ 2.40GHz
cpu microcode: 0xd000389
packages: 2
cpus: 8
memory: 6442450944
nic ens2: 25000
nic ib0: 100000
gpus: 1
`;
const SW_TEXT = 'kernel: 6.12.0-55.el10.x86_64\nid: rocky\nversion_id: 10.0\nimage_id: compute\n';

function full(): Tree {
  const world = tree(FULL);
  world.disks = {
    '/': disk(100n * GIB, 25n * GIB, 1000n, 999n),
    '/tmp': disk(8n * GIB, 8n * GIB - 1n, 0n, 0n),
    '/scratch': disk(1000n * GIB, 10n * GIB),
    '/data': disk(10n * GIB, 9n * GIB, 0n, 0n),
    '/snap/core/1': disk(GIB, 0n),
    '/net/home': disk(GIB, 0n),
  };
  world.age = 61;
  return world;
}

const FULL_OUT: Record<string, SlowReading> = {
  taint: { fields: { taint: 4097 }, sets: ['taint'] },
  hung_tasks: { fields: { hung_tasks: 3 }, sets: ['hung_tasks'] },
  edac: { fields: { edac_ce: 12, edac_ue: 1 }, sets: ['edac'] },
  throttle: { fields: { throttle_events: 30 }, sets: ['throttle'] },
  fabric: {
    fields: {
      fabric: {
        name: 'fabric',
        rx_bytes: 16_000,
        tx_bytes: 16_008,
        rx_packets: 4004,
        tx_packets: 4006,
        errors: 62,
        drops: 64,
        mbps: 100_000,
        state: 0x20003,
      },
    },
    sets: ['fabric'],
  },
  energy: { fields: { energy_cpu_mj: 12_000, energy_dram_mj: 2000 }, sets: ['energy_cpu', 'energy_dram'] },
  power: { fields: { power_node_w: 412, power_src: 1 }, sets: ['power'] },
  temperatures: {
    fields: { temp_inlet_dc: 225, temp_hottest_dc: 719 },
    sets: ['temp_inlet', 'temp_hottest'],
    details: { tempDc: [601, 719] },
  },
  root: { fields: { root_total_mib: 102_400, root_avail_mib: 25_600, root_inodes_free_pm: 999 }, sets: ['root'] },
  scratch: {
    fields: { scratch_total_mib: 8192, scratch_avail_mib: 8191, scratch_inodes_free_pm: 1000 },
    sets: ['scratch'],
  },
  filesystems: {
    fields: { fs_total_mib: 1110 * 1024, fs_avail_mib: 44 * 1024, fs_fullest_pm: 990 },
    sets: ['filesystems'],
  },
  health: { fields: { health: 2, health_src: 2, health_age_s: 61 }, sets: ['health'], flags: ['held'] },
  gpu: {
    fields: {
      gpu_count: 1,
      gpu_busy: 1,
      gpu_vendor: 2,
      gpu_flags: [0b111],
      gpu: [{ util_pct: 87, temp_degc: 61, power_w: 299, mem_used_mib: 3072, mem_total_mib: 65_536 }],
      gpu_errors: 10,
      gpu_ecc_ue: 2,
    },
    sets: ['gpu', 'gpu_errors'],
  },
  hw_hash: { fields: { hw_hash: crc32(HW_TEXT) }, sets: ['hw_hash'] },
  sw_hash: { fields: { sw_hash: crc32(SW_TEXT) }, sets: ['sw_hash'] },
  container: { fields: {}, sets: [] },
  links: {
    fields: {},
    sets: [],
    details: {
      mbps: new Map([
        ['ens2', 25_000],
        ['ib0', 100_000],
      ]),
    },
  },
  clock_rates: { fields: {}, sets: [], details: { mhz: [1800, 1201] } },
};

/** Why a reading is invalid; undefined if it keeps the rules for all readings. */
function wrong(source: SlowSource, { fields, sets, flags = [], trouble }: SlowReading): string | undefined {
  const owner = (field: string) => structs.report.fields[field as 'taint'].set as SetName;
  const strange = Object.keys(fields).find(field => !sets.includes(owner(field)));
  if (strange !== undefined) return `${strange} without its set`;
  if (!sets.every(set => source.sets.includes(set))) return `sets ${sets} of a source of ${source.sets}`;
  if (!flags.every(flag => source.flags?.includes(flag))) return `flags ${flags} of a source of ${source.flags}`;
  for (const [name, field] of Object.entries(structs.report.fields))
    if ('set' in field && sets.includes(field.set) && !(name in fields)) return `${field.set} without ${name}`;
  if (trouble?.includes('\n')) return `trouble in several lines`;
  const view = new DataView(new ArrayBuffer(REPORT_BYTES));
  encode('report', view, 0, fields);
  encode('report', view, 0, { valid: sets.reduce((word, set) => word | (1n << BigInt(bits.valid[set])), 0n) });
  const report = decodeReport(view, 0);
  const hot = report.temp_hottest_dc ?? 0;
  if (hot < -400 || hot > 1500) return `${hot} tenths of a degree`;
  for (const pm of [report.root_inodes_free_pm, report.scratch_inodes_free_pm, report.fs_fullest_pm])
    if ((pm ?? 0) > 1000) return `${pm} thousandths`;
  if ((report.root_avail_mib ?? 0) > (report.root_total_mib ?? 0)) return 'more free than there is';
  for (const gpu of report.gpu ?? []) if ((gpu.util_pct ?? 0) > 100) return `a GPU busy for ${gpu.util_pct} %`;
  return undefined;
}

t.test('a node with everything in it, source by source', async t => {
  t.strictSame(
    makeSources().map(({ name }) => name),
    Object.keys(FULL_OUT),
  );
  for (const source of makeSources()) {
    const world = full();
    t.strictSame(source.read(world), FULL_OUT[source.name], source.name);
    t.equal(wrong(source, source.read(world)), undefined, `${source.name} again`);
  }
});

t.test('the sources cover the slow sets and nothing else, each once', async t => {
  const slow = Object.keys(bits.valid).slice(bits.valid.taint);
  t.strictSame(sources.flatMap(({ sets }) => sets).sort(), slow.sort());
  t.strictSame(sources.flatMap(({ flags = [] }) => flags).sort(), ['container', 'held', 'root_readonly']);
  for (const { name, sets, periodMs } of sources)
    if (sets.some(set => ['fabric', 'energy_cpu', 'energy_dram'].includes(set)))
      t.equal(periodMs, 0, `${name} has a rate: it is read in every round`);
});

t.test('an empty tree', async t => {
  for (const source of makeSources()) {
    const world = tree({});
    world.disks = {};
    t.strictSame(silent(source.read(world)), NOTHING, source.name);
  }
});

t.test('a missing file is no trouble, an invalid one is', async t => {
  const optional = ['hung_tasks', 'edac', 'fabric', 'energy', 'power', 'temperatures', 'health', 'gpu', 'container'];
  for (const name of optional) t.equal(read(name, tree({})).trouble, undefined, name);
  const broken: [string, Files, RegExp][] = [
    ['taint', { 'proc/sys/kernel/tainted': '-1\n' }, /^\S+tainted has unexpected content[^\n]*$/],
    ['taint', {}, /^cannot read \S+tainted: ENOENT$/],
    ['edac', { 'sys/devices/system/edac/mc/mc0/ce_count': '1\n' }, /^cannot read \S+ue_count: ENOENT$/],
    ['fabric', { ...port('a', 1, 1), 'sys/class/infiniband/a/ports/1/counters/symbol_error': '-\n' }, /error counter/],
    ['health', { 'run/hold/x': '' }, /hold is ignored: it is not a regular file$/],
    ['gpu', { 'run/gpu': '' }, /gpu is ignored: its format is wrong$/],
    ['hw_hash', {}, /cpuinfo names no model/],
  ];
  for (const [name, files, trouble] of broken) t.match(read(name, tree(files)).trouble, trouble, name);
});

t.test('an unreadable file affects its own sets and no others', async t => {
  const lost: [file: string, source: string, sets: SetName[], good?: string][] = [
    ['proc/sys/kernel/tainted', 'taint', ['taint']],
    ['proc/sys/kernel/hung_task_detect_count', 'hung_tasks', ['hung_tasks']],
    ['sys/devices/system/cpu/cpu2/topology/physical_package_id', 'throttle', ['throttle'], '-1\n'],
    ['sys/devices/system/cpu/online', 'throttle', ['throttle']],
    ['sys/class/powercap/intel-rapl:1/energy_uj', 'energy', ['energy_cpu']],
    ['sys/class/powercap/intel-rapl:1:0/max_energy_range_uj', 'energy', ['energy_dram']],
    ['sys/class/hwmon/hwmon5/temp2_input', 'temperatures', ['temp_inlet'], '-1\n'],
    ['sys/class/drm/card0/device/ras/gfx_err_count', 'gpu', ['gpu_errors']],
    ['proc/self/mountinfo', 'scratch', ['scratch']],
    ['proc/self/mountinfo', 'filesystems', ['filesystems']],
    ['proc/self/mountinfo', 'root', []],
    ['run/gpu', 'gpu', ['gpu', 'gpu_errors']],
    ['proc/cpuinfo', 'hw_hash', ['hw_hash']],
    ['sys/devices/system/memory/block_size_bytes', 'hw_hash', ['hw_hash']],
    ['proc/sys/kernel/osrelease', 'sw_hash', ['sw_hash'], BEYOND],
    ['etc/os-release', 'sw_hash', ['sw_hash']],
  ];
  for (const [file, name, sets, good] of lost) {
    const left = source(name).sets.filter(set => !sets.includes(set));
    const world = full();
    const texts = ['garbage', '', '-1\n', '9'.repeat(400), BEYOND, '\0\n', '1 2\n'.repeat(1_100_000)];
    for (const text of texts) {
      if (text === good) continue;
      world.write({ [file]: text });
      t.strictSame(read(name, world).sets, left, `${file}: ${JSON.stringify(text.slice(0, 12))}`);
    }
    for (const [trap, plant] of Object.entries(TRAPS)) {
      rmSync(world.path(file), { recursive: true });
      plant(world.path(file));
      t.strictSame(read(name, world).sets, left, `${file}: ${trap}`);
    }
  }
});

t.test('one item that cannot be read costs itself', async t => {
  const items: [file: string, source: string, fields: Encodable<'report'>, good?: string][] = [
    ['sys/devices/system/edac/mc/mc1/ue_count', 'edac', { edac_ce: 5, edac_ue: 0 }],
    ['sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count', 'throttle', { throttle_events: 10 }],
    ['sys/class/infiniband/mlx5_1/ports/1/counters/port_rcv_data', 'fabric', { fabric: { rx_bytes: 4000 } }],
    ['sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_data', 'fabric', { fabric: { rx_bytes: 4000 } }],
    ['sys/class/hwmon/hwmon1/temp1_input', 'temperatures', { temp_hottest_dc: 601, temp_inlet_dc: 225 }, '-1\n'],
  ];
  for (const [file, name, fields, good] of items) {
    const world = full();
    const lacks = (how: string) => {
      const { fields: found, trouble } = read(name, world);
      t.match(found, fields, `${file}: ${how}`);
      // A link that leads nowhere is a sensor that went away, of which nobody hears.
      if (name !== 'temperatures' || how !== 'loop') t.match(trouble, file, 'and that is said');
    };
    for (const text of ['garbage', '', '-1\n', '9'.repeat(400), BEYOND, '\0\n', '1 2\n'.repeat(1_100_000)]) {
      if (text === good) continue;
      world.write({ [file]: text });
      lacks(JSON.stringify(text.slice(0, 12)));
    }
    for (const [trap, plant] of Object.entries(TRAPS)) {
      rmSync(world.path(file), { recursive: true });
      plant(world.path(file));
      lacks(trap);
    }
  }
});

t.test('numbers', async t => {
  const counts: [string, KernelCount | undefined][] = [
    ['0\n', 0],
    ['18446744073709551615\n', 18446744073709551615n],
    ['18446744073709551616\n', undefined],
    ['12', undefined],
    ['12\n\n', undefined],
    [' 12\n', undefined],
    ['-1\n', undefined],
    ['0x1\n', undefined],
    ['\n', undefined],
    ['', undefined],
  ];
  for (const [text, count] of counts) t.equal(parseCount(text), count, JSON.stringify(text));
  const integers: [string, number | undefined][] = [
    ['-5000\n', -5000],
    ['5\n', 5],
    ['--5\n', undefined],
    ['5', undefined],
    ['9999999999999999\n', undefined],
  ];
  for (const [text, integer] of integers) t.equal(parseInteger(text), integer, JSON.stringify(text));
  t.strictSame(parseTaint('4294967295\n'), { taint: 4294967295 });
  t.equal(parseTaint('4294967296\n'), undefined, 'no bits of the report');
  t.strictSame(parseHungTasks('4294967297\n'), { hung_tasks: 1 }, 'counts modulo 2^32');
  const temperatures: [string, number | undefined][] = [
    ['45500\n', 455],
    ['45599\n', 455],
    ['-1999\n', -19],
    ['-99\n', 0],
    ['-40000\n', -400],
    ['-40001\n', undefined],
    ['150000\n', 1500],
    ['150001\n', undefined],
    ['-128000\n', undefined],
    ['', undefined],
  ];
  for (const [text, tenths] of temperatures) t.equal(parseTemperature(text), tenths, JSON.stringify(text));
  const powers: [string, number | undefined][] = [
    ['999999\n', undefined],
    ['1000000\n', 1],
    ['65534999999\n', 65_534],
    ['65535000000\n', undefined],
    ['4294967295000\n', undefined],
    ['-1000000\n', undefined],
  ];
  for (const [text, watts] of powers) t.equal(parsePower(text), watts, JSON.stringify(text));
  t.strictSame(names('/nowhere', /./), []);
});

t.test('CRC-32', async t => {
  t.equal(crc32(''), 0);
  t.equal(crc32('123456789'), 0xcbf43926, 'the check value of its standard');
  t.equal(crc32('é'), crc32('é'));
  if (typeof zlibCrc32 === 'function')
    fc.assert(
      fc.property(anyText(), text => crc32(text) === zlibCrc32(Buffer.from(text))),
      { seed: 22, numRuns: runsOf(300) },
    );
});

t.test('fabric: words of a port', async t => {
  const rates: [string | undefined, number][] = [
    ['100 Gb/sec (4X EDR)\n', 100_000],
    ['2.5 Gb/sec (1X SDR)\n', 2500],
    ['400 Gb/sec (4X NDR)\n', 400_000],
    ['10 Gb/sec\n', 10_000],
    ['-10 Gb/sec\n', 0],
    ['1e9 Gb/sec\n', 0],
    ['10 Gb/secs\n', 0],
    ['10', 0],
    ['', 0],
    [undefined, 0],
  ];
  for (const [text, mbps] of rates) t.equal(parseRate(text), mbps, JSON.stringify(text));
  for (const text of ['4: ACTIVE\n']) t.ok(parseActive(text));
  for (const text of ['1: DOWN\n', '2: INIT\n', '3: ARMED\n', '5: ACTIVE_DEFER\n', '44: ACTIVE\n', '4', '', undefined])
    t.notOk(parseActive(text), JSON.stringify(text));
  const counters: [string | undefined, KernelCount | undefined][] = [
    [undefined, 0],
    ['N/A (no PMA)\n', 0],
    ['7\n', 7],
    ['7', undefined],
    ['-7\n', undefined],
    ['', undefined],
  ];
  for (const [text, count] of counters) t.equal(parseOptional(text), count, JSON.stringify(text));
});

t.test('fabric: which ports count', async t => {
  const entry = (files: Files) => read('fabric', tree(files)).fields.fabric;
  const bare = port('a', 1, 1000);
  for (const name of Object.keys(bare)) if (/error|discards|downed/.test(name)) delete bare[name];
  t.match(entry(bare), { errors: 0, drops: 0, state: 0x10003 }, 'counters of errors are optional');

  const efa = {
    'sys/class/infiniband/efa_0/ports/1/state': '4: ACTIVE\n',
    'sys/class/infiniband/efa_0/ports/1/hw_counters/tx_bytes': '9\n',
  };
  t.equal(entry(efa), undefined, 'no counters folder: no port');
  t.match(entry({ ...efa, ...bare }), { state: 0x10003 });
  const soft = Object.fromEntries(Object.keys(port('rxe0', 1, 1)).map(name => [name, 'N/A (no PMA)\n']));
  t.strictSame(read('fabric', tree(soft)), NOTHING, 'an old kernel says so');

  t.match(entry({ ...port('a', 1, 0), ...port('a', 2, 0), ...port('b', 10, 0) }), { state: 0x30003, mbps: 300_000 });
  t.match(entry(port('a', 1, 0, '1: DOWN')), { state: 0x10000, mbps: 0 }, 'down: no speed either');
  t.match(entry(port('a', 1, 0, '4: ACTIVE', 'fast')), { state: 0x10003, mbps: 0 });

  const most = { ...port('a', 1, 0) };
  most['sys/class/infiniband/a/ports/1/counters/port_rcv_data'] = '18446744073709551615\n';
  most['sys/class/infiniband/a/ports/1/counters/symbol_error'] = '4294967295\n';
  const saturated = entry(most);
  t.equal(saturated?.rx_bytes, 4n * 18446744073709551615n, 'the field saturates it');
  t.equal(saturated?.errors, 29, 'modulo 2^32');
});

t.test('fabric: a port that cannot be read is asked again after a minute', async t => {
  let now = 5;
  const fabric = makeFabric(() => now);
  const bad = (device: string) => ({ [`sys/class/infiniband/${device}/ports/1/counters/port_rcv_data`]: 'x\n' });
  const world = tree({ ...port('a', 1, 0), ...port('b', 1, 0), ...port('c', 1, 0), ...bad('a'), ...bad('b') });
  const next = (atMs: number) => {
    now = atMs;
    const { fields, trouble } = fabric.read(world);
    return [Number(fields.fabric?.state ?? 0) >> 16, /infiniband\/(.)/.exec(trouble ?? '')?.[1]];
  };
  t.strictSame(next(5), [1, 'a']);
  t.strictSame(next(1005), [1, 'b'], 'each is said once');
  world.write({ ...port('a', 1, 0), ...port('b', 1, 0) });
  t.strictSame(next(2005), [1, undefined], 'neither is asked');
  t.strictSame(next(60_004), [1, undefined]);
  t.strictSame(next(60_005), [2, undefined], 'a minute after it failed');
  t.strictSame(next(61_005), [3, undefined]);
});

t.test('energy: whole joules', async t => {
  const joules: [KernelCount, KernelCount][] = [
    [0, 0],
    [999_999, 0],
    [1_000_000, 1000],
    [12_345_678, 12_000],
    [2n ** 63n, 9_223_372_036_854_000n],
  ];
  for (const [uj, mj] of joules) t.equal(BigInt(wholeJoules(uj)), BigInt(mj), String(uj));
});

t.test('energy: over a tree that changes', async t => {
  const world = tree({ ...zone('intel-rapl:0', 'package-0', 9_000_000, 10_000_000) });
  const energy = source('energy');
  const cpu = () => energy.read(world).fields.energy_cpu_mj;
  t.equal(cpu(), 9000);
  world.write(zone('intel-rapl:0', 'package-0', 2_000_000, 10_000_000));
  t.equal(cpu(), 12_000, 'wrapped');
  world.write({ 'sys/class/powercap/intel-rapl:0/energy_uj': '11000000\n' });
  t.equal(cpu(), undefined, 'beyond its own range');
  world.write({ 'sys/class/powercap/intel-rapl:0/energy_uj': '3000000\n' });
  t.equal(cpu(), 13_000, 'and goes on');
  t.equal(source('energy').read(world).fields.energy_cpu_mj, 3000, 'a new process begins no higher');
  world.write(zone('intel-rapl:1', 'package-1', 1_000_000));
  t.equal(cpu(), 13_000, 'another package comes: nothing moves');
  world.write(zone('intel-rapl:1', 'package-1', 3_000_000));
  t.equal(cpu(), 15_000, 'then it counts');
  t.equal(read('energy', tree(zone('intel-rapl:0', 'package-0-die-1', 1_000_000))).fields.energy_cpu_mj, 1000);
});

t.test('power: the meter, else the file', async t => {
  const meter = (n: number, leaves: Record<string, string | number>) => hwmon(n, 'power_meter', leaves);
  const rows: [string, Files, number | undefined, Encodable<'report'>][] = [
    ['the average', meter(0, { power1_average: 350_999_999 }), 0, { power_node_w: 350, power_src: 1 }],
    ['else what it is now', meter(0, { power1_input: 70_000_000 }), 0, { power_node_w: 70, power_src: 1 }],
    [
      'on the device, as old drivers have it',
      {
        'sys/class/hwmon/hwmon0/device/name': 'power_meter\n',
        'sys/class/hwmon/hwmon0/device/power1_average': '80000000\n',
      },
      0,
      { power_node_w: 80, power_src: 1 },
    ],
    ['one that knows nothing', meter(0, { power1_average: 4_294_967_295_000 }), 0, {}],
    [
      'several: each measures a part',
      { ...meter(0, { power1_average: 1e8 }), ...meter(1, { power1_average: 2e8 }), 'run/power': '444\n' },
      0,
      { power_node_w: 444, power_src: 2 },
    ],
    ['another chip', hwmon(0, 'pmbus', { power1_input: 100_000_000 }), 0, {}],
    ['the file', { 'run/power': '65534' }, 60, { power_node_w: 65_534, power_src: 2 }],
    ['too old', { 'run/power': '100\n' }, 60.1, {}],
    ['from the future', { 'run/power': '100\n' }, -61, {}],
    ['gone meanwhile', { 'run/power': '100\n' }, undefined, {}],
  ];
  for (const [what, files, age, fields] of rows) {
    const world = tree(files);
    world.age = age;
    t.strictSame(read('power', world).fields, fields, what);
  }
  for (const text of ['0\n', '65535\n', '-5\n', '5.5\n', '5 W\n', ' 5\n', '5\n5\n', '', '1e3\n', '0x10\n', '5\r\n'])
    t.equal(parseWatts(text), undefined, JSON.stringify(text));
});

t.test('temperatures: which sensors', async t => {
  const sensors = (...labels: string[]) => labels.map(label => ({ path: label, label }));
  const processor: [string[], string[]][] = [
    [['Package id 0', 'Core 0', 'Core 1'], ['Package id 0']],
    [
      ['Core 0', 'Core 1'],
      ['Core 0', 'Core 1'],
    ],
    [
      ['Tctl', 'Tdie', 'Tccd1'],
      ['Tdie', 'Tccd1'],
    ],
    [
      ['Tctl', 'Tccd1'],
      ['Tctl', 'Tccd1'],
    ],
    [[''], ['']],
    [[], []],
  ];
  const labels = (list: { label: string }[]) => list.map(({ label }) => label);
  for (const [all, chosen] of processor) t.strictSame(labels(processorSensors(sensors(...all))), chosen, all.join());
  const inlet: [string[], string[]][] = [
    [['System Inlet', 'Ambient'], ['System Inlet']],
    [
      ['ambient', 'Ambient 2', 'CPU'],
      ['ambient', 'Ambient 2'],
    ],
    [['Outlet', 'Exhaust', 'Cinlets', ''], []],
  ];
  for (const [all, chosen] of inlet) t.strictSame(labels(inletSensors(sensors(...all))), chosen, all.join());
});

t.test('temperatures: chips', async t => {
  const rows: [string, Files, Encodable<'report'>][] = [
    ['AMD', hwmon(0, 'k10temp', { temp1_label: 'Tctl', temp1_input: 55_250 }), { temp_hottest_dc: 552 }],
    ['Arm', hwmon(0, 'cpu_thermal', { temp1_input: 40_000 }), { temp_hottest_dc: 400 }],
    ['drives', { ...hwmon(0, 'nvme', { temp1_input: 1 }), ...hwmon(1, 'drivetemp', { temp1_input: 1 }) }, {}],
    ['a board', hwmon(0, 'nct6775', { temp1_label: 'SYSTIN', temp1_input: 120_000 }), {}],
    [
      'one sensor that cannot be',
      hwmon(0, 'coretemp', { temp1_input: 50_000, temp2_input: 200_000 }),
      { temp_hottest_dc: 500 },
    ],
    ['none that can be', hwmon(0, 'coretemp', { temp1_input: 200_000 }), {}],
    [
      'two inlets: the warmer one',
      hwmon(0, 'x', { temp1_label: 'Inlet', temp1_input: 20_000, temp2_label: 'inlet 2', temp2_input: 21_000 }),
      { temp_inlet_dc: 210 },
    ],
    ['below zero', hwmon(0, 'x', { temp1_label: 'Inlet', temp1_input: -5050 }), { temp_inlet_dc: -50 }],
  ];
  for (const [what, files, fields] of rows) t.strictSame(read('temperatures', tree(files)).fields, fields, what);

  const world = tree(hwmon(0, 'nvme', { temp1_label: 'Inlet', temp1_input: 30_000 }));
  for (const leaf of ['temp1_label', 'temp1_input']) {
    rmSync(world.path(`sys/class/hwmon/hwmon0/${leaf}`));
    mkdirSync(world.path(`sys/class/hwmon/hwmon0/${leaf}`)); // opening it would give EISDIR, which would be reported
  }
  t.strictSame(read('temperatures', world), NOTHING, 'nothing of a drive is opened but its name');
});

t.test('temperatures: sensors come and go', async t => {
  const world = tree(hwmon(0, 'coretemp', { temp2_label: 'Core 0', temp2_input: 50_000 }));
  const temperatures = source('temperatures');
  const hottest = () => temperatures.read(world).fields.temp_hottest_dc;
  t.equal(hottest(), 500);
  world.write(hwmon(0, 'coretemp', { temp2_label: 'Core 0', temp2_input: 51_000 }));
  t.equal(hottest(), 510);
  world.write(hwmon(1, 'coretemp', { temp2_label: 'Core 0', temp2_input: 90_000 }));
  t.strictSame(
    Array.from({ length: 11 }, hottest).map(tenths => tenths === 900),
    [...Array(10).fill(false), true],
    'a new one is found with the twelfth reading after the last look',
  );
  rmSync(world.path('sys/class/hwmon/hwmon1'), { recursive: true });
  t.equal(hottest(), 510, 'one that went is not waited for');
  const other = tree(hwmon(0, 'coretemp', { temp1_input: 11_000 }));
  t.equal(temperatures.read(other).fields.temp_hottest_dc, 110, 'nor another tree');
});

t.test('temperatures: a sensor that does not answer is asked again at the next look', async t => {
  const world = tree(hwmon(0, 'coretemp', { temp1_input: 50_000, temp2_input: 'x' }));
  const temperatures = source('temperatures');
  const next = () => {
    const { fields, trouble } = temperatures.read(world);
    return [fields.temp_hottest_dc, trouble !== undefined];
  };
  t.strictSame(next(), [500, true], 'said');
  world.write(hwmon(0, 'coretemp', { temp2_input: 60_000 }));
  t.strictSame(
    Array.from({ length: 12 }, next),
    [...Array(11).fill([500, false]), [600, false]],
    'not asked in between',
  );
});

t.test('temperatures: whose they are', async t => {
  const sensor = (label: string, path: string) => ({ label, path });
  const chip = (device: string, ...sensors: ReturnType<typeof sensor>[]) => ({ device, sensors });
  const paths = (processors: ReturnType<typeof chip>[], ids: number[]) =>
    packageSensors(processors, ids).map(sensors => sensors.map(({ path }) => path).join(' '));
  const labelled = [chip('coretemp.1', sensor('Package id 1', 'b')), chip('coretemp.0', sensor('Package id 0', 'a'))];
  t.strictSame(paths(labelled, [0, 1]), ['a', 'b']);
  t.strictSame(paths(labelled, [0, 1, 36]), ['a', 'b', ''], 'one that no chip names');
  const amd = [chip('0000:00:19.3', sensor('Tdie', 'b')), chip('0000:00:18.3', sensor('', 'a'), sensor('', 'c'))];
  t.strictSame(paths(amd, [0, 1]), ['a c', 'b'], 'in the order of their devices');
  t.strictSame(paths([chip('coretemp.10', sensor('', 'b')), chip('coretemp.9', sensor('', 'a'))], [0, 1]), ['a', 'b']);
  t.strictSame(paths(amd, [0]), [''], 'two chips, one package: nobody knows');
  t.strictSame(paths([chip('thermal', sensor('', 'a'))], [-1]), ['a']);
  t.strictSame(paths([], [0, 1]), ['', '']);

  // On a tree: the device's link has the address; the fifth and later packages count in the fourth group.
  const world = tree({
    'sys/devices/system/cpu/online': '0-5\n',
    ...Object.assign({}, ...[0, 1, 2, 3, 4, 5].map(n => cpu(n, n, 0))),
    ...Object.assign(
      {},
      ...[5, 4, 3, 2, 1, 0].map((n, i) => ({
        ...hwmon(i, 'k10temp', { temp1_label: 'Tctl', temp1_input: 40_000 + n * 1000 }),
        [`sys/devices/pci/0000:00:1${n}.3/vendor`]: '0x1022\n',
      })),
    ),
  });
  for (const [i, n] of [5, 4, 3, 2, 1, 0].entries())
    symlinkSync(`../../../devices/pci/0000:00:1${n}.3`, world.path(`sys/class/hwmon/hwmon${i}/device`));
  world.resolve = path => realpathSync(path);
  t.strictSame(read('temperatures', world).details, { tempDc: [400, 410, 420, 450] });
  world.write({ 'sys/class/hwmon/hwmon5/temp1_input': 'x\n' });
  t.strictSame(read('temperatures', world).details, { tempDc: [TEMPERATURE_UNKNOWN, 410, 420, 450] });
});

t.test('clock rates: a mean of a few CPUs', async t => {
  t.strictSame(spread([3, 5]), [3, 5]);
  t.strictSame(spread([...Array(8).keys()]), [0, 1, 2, 3, 4, 5, 6, 7]);
  t.strictSame(spread([...Array(9).keys()]), [0, 1, 2, 3, 4, 5, 6, 7]);
  t.strictSame(spread([...Array(20).keys()].map(n => n * 2)), [0, 4, 10, 14, 20, 24, 30, 34]);
  t.strictSame(
    [meanMhz([]), meanMhz([999]), meanMhz([1000, 2999]), meanMhz([2n ** 50n, 2n ** 50n])],
    [0, 0, 1, 1_125_899_906_842],
  );
  const clock = source('clock_rates');
  const freq = (n: number, khz: number) => ({
    [`sys/devices/system/cpu/cpu${n}/cpufreq/scaling_cur_freq`]: `${khz}\n`,
  });
  const world = tree({
    'sys/devices/system/cpu/online': '0-1\n',
    ...cpu(0, 0, 0),
    ...cpu(1, 0, 0),
    ...freq(0, 2_000_000),
    ...freq(1, 3_000_000),
    ...freq(2, 1_000_000),
  });
  t.strictSame(clock.read(world), { ...NOTHING, details: { mhz: [2500] } });
  world.write({ 'sys/devices/system/cpu/online': '0-2\n', ...cpu(2, 7, 0) });
  t.strictSame(clock.read(world), { ...NOTHING, details: { mhz: [2500, 1000] } }, 'a CPU came');
  world.write({ 'sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq': '<unknown>\n' });
  t.strictSame(silent(clock.read(world)), { ...NOTHING, details: { mhz: [2000, 1000] } }, 'one that cannot be read');
  world.write({ ...freq(0, 0), ...freq(2, 0) });
  t.strictSame(silent(clock.read(world)), { ...NOTHING, details: { mhz: [0, 0] } }, 'none that is known');
  world.write({ 'sys/devices/system/cpu/online': 'x\n' });
  t.strictSame(silent(clock.read(world)), NOTHING, 'which are online is not known');
});

t.test('throttle: one CPU of each package', async t => {
  const online = (list: string) => ({ 'sys/devices/system/cpu/online': `${list}\n` });
  const events = (files: Files) => read('throttle', tree(files)).fields.throttle_events;
  t.equal(events({ ...online('0-1'), ...cpu(0, 0, 3), ...cpu(1, 0, 3) }), 3);
  t.equal(events({ ...online('4-5'), ...cpu(4, 0, 3), ...cpu(5, 7, 4_294_967_295) }), 2, 'modulo 2^32');
  t.equal(events({ ...online('0-1'), ...cpu(0, 0), ...cpu(1, 1, 4) }), undefined, 'the first has none');
  t.equal(events({ ...online('0-1'), ...cpu(0, 0, 4), ...cpu(1, 1) }), 4, 'another package has none');

  const world = tree({ ...online('0-1'), ...cpu(0, 0, 3), ...cpu(1, 1, 5) });
  const throttle = source('throttle');
  const now = () => throttle.read(world).fields.throttle_events;
  t.equal(now(), 8);
  world.write(cpu(1, 0, 5));
  t.equal(now(), 8, 'packages are not looked for again');
  world.write({ ...online('0-2'), ...cpu(2, 2, 9) });
  t.equal(now(), 8, 'until the CPUs change: a package that comes moves nothing');
  world.write(cpu(2, 2, 10));
  t.equal(now(), 9, 'then it counts');
});

const mount = (over: Partial<Mount>): Mount => ({
  device: '8:1',
  point: '/',
  type: 'ext4',
  source: '/dev/sda1',
  readOnly: false,
  options: 'rw',
  ...over,
});

t.test('mounts', async t => {
  const one = (line: string) => parseMounts(`${line}\n`)?.[0];
  t.strictSame(one('36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:9 - ext3 /dev/root rw,errors=continue'), {
    device: '98:0',
    point: '/mnt2',
    type: 'ext3',
    source: '/dev/root',
    readOnly: false,
    options: 'rw,errors=continue',
  });
  t.equal(one('1 0 8:1 / /a\\040b\\011c\\134d rw - ext4 /dev/s\\040x rw')?.point, '/a b\tc\\d');
  t.equal(one('1 0 0:1 / /a rw - tmpfs  rw')?.source, '', 'mounted from nothing');
  for (const [line, readOnly] of [
    ['1 0 8:1 / / ro,noatime - ext4 /dev/sda1 rw', true],
    ['1 0 8:1 / / rw - ext4 /dev/sda1 ro,errors=remount-ro', true],
    ['1 0 8:1 / / rw - ext4 /dev/sda1 rw,emergency_ro', true],
    ['1 0 8:1 / / rw,ron - ext4 /dev/sda1 rw,errors=remount-ro', false],
  ] as const)
    t.equal(one(line)?.readOnly, readOnly, line);
  const refused = [
    '1 0 8:1 / / rw - ext4 /dev/sda1',
    '1 0 8:1 / / rw ext4 /dev/sda1 rw',
    '1 0 8:1 / nowhere rw - ext4 /dev/sda1 rw',
    '1 0 8 / / rw - ext4 /dev/sda1 rw',
    'x 0 8:1 / / rw - ext4 /dev/sda1 rw',
    '1 -1 8:1 / / rw - ext4 /dev/sda1 rw',
    '1 0 8:1 / / rw -  /dev/sda1 rw',
    '',
  ];
  for (const line of refused) t.equal(parseMounts(`${MOUNTINFO}${line}\n`), undefined, JSON.stringify(line));
  t.equal(parseMounts(''), undefined);
  t.equal(parseMounts(MOUNTINFO.slice(0, -1)), undefined, 'cut');

  const covered = `1 1 0:2 / / rw - rootfs rootfs rw
40 27 8:2 / /mnt rw - ext4 /dev/sdb rw
41 40 8:3 / /mnt rw - ext4 /dev/sdc rw
27 1 8:1 / / rw - ext4 /dev/sda rw
42 41 8:4 / /mnt/a rw - ext4 /dev/sdd rw
`;
  t.strictSame(
    parseMounts(covered)?.map(({ source }) => source),
    ['/dev/sdc', '/dev/sda', '/dev/sdd'],
    'only what lies on top',
  );
  t.equal(one('1 1 0:2 / / rw - rootfs rootfs rw')?.type, 'rootfs', 'a root that is its own parent covers nothing');

  const mounts = parseMounts(MOUNTINFO) as Mount[];
  for (const [path, point] of [
    ['/', '/'],
    ['/tmp', '/tmp'],
    ['/tmp/x', '/tmp'],
    ['/tmpx', '/'],
    ['/net/home/user', '/net/home'],
    ['/net', '/'],
  ] as const)
    t.equal(mountOf(mounts, path)?.point, point, path);
  t.equal(mountOf([], '/'), undefined);
});

t.test('which file systems are local, and which have a disk', async t => {
  const rows: [Partial<Mount>, local: boolean, disk: boolean][] = [
    [{}, true, true],
    [{ type: 'xfs', device: '254:3', source: '/dev/mapper/vg-home' }, true, true],
    [{ type: 'btrfs', device: '0:33' }, true, true],
    [{ type: 'tmpfs', device: '0:33', source: 'tmpfs' }, true, false],
    [{ type: 'overlay', device: '0:33', source: 'overlay' }, true, false],
    [{ type: 'zfs', device: '0:33', source: 'tank/home' }, true, false],
    [{ type: 'squashfs', device: '7:0', source: '/dev/loop0' }, true, false],
    [{ type: 'ext4', device: '7:0', source: '/dev/loop0' }, true, false],
    [{ type: 'ext4', device: '252:0', source: '/dev/zram0' }, true, false],
    [{ type: 'iso9660', device: '11:0', source: '/dev/sr0' }, true, false],
    [{ type: 'nfs4', device: '0:33', source: 'server:/home' }, false, false],
    [{ type: 'nfs', device: '0:33', source: '/dev/odd' }, false, false],
    [{ type: 'lustre', device: '0:33', source: '10.0.0.1@o2ib:/fs' }, false, false],
    [{ type: 'beegfs', device: '0:33', source: 'beegfs_nodev' }, false, false],
    [{ type: 'gpfs', device: '0:33', source: '/dev/gpfs0' }, false, false],
    [{ type: 'gpfs', device: '20:33', source: '/dev/gpfs0' }, false, false],
    [{ type: 'ceph', device: '0:33', source: 'mon:/' }, false, false],
    [{ type: 'cifs', device: '0:33', source: '//server/x' }, false, false],
    [{ type: '9p', device: '0:33', source: 'host' }, false, false],
    [{ type: 'autofs', device: '0:33', source: '/etc/auto.home' }, false, false],
    [{ type: 'fuse.sshfs', device: '0:33', source: 'server:' }, false, false],
    [{ type: 'fuseblk', device: '8:17', source: '/dev/sdb1' }, false, false],
    [{ type: 'fuse.portal', device: '0:33', source: '/dev/fuse' }, false, false],
    [{ type: 'gfs2', device: '253:1', source: '/dev/mapper/san' }, false, false],
    [{ type: 'newfangled', device: '0:33', source: 'x' }, false, false],
  ];
  for (const [over, local, disk] of rows) {
    t.equal(isLocal(mount(over)), local, `${JSON.stringify(over)} local`);
    t.equal(hasDisk(mount(over)), disk, `${JSON.stringify(over)} disk`);
  }
});

t.test('sizes of file systems', async t => {
  const rows: [string, FileSystem | undefined, boolean][] = [
    ['whole', disk(10n, 5n), true],
    ['full', disk(10n, 0n, 10n, 0n), true],
    ['without a count of inodes', disk(10n, 5n, 0n, 0n), true],
    ['none', undefined, false],
    ['of no size', disk(0n, 0n), false],
    ['negative', disk(-10n, -20n), false],
    ['more free than there is', disk(10n, 11n), false],
    ['more than free: a negative number in disguise', disk(10n, 2n ** 64n - 1n), false],
    ['more free inodes than there are', disk(10n, 5n, 10n, 11n), false],
    ['negative inodes', disk(10n, 5n, 10n, -1n), false],
  ];
  for (const [what, fs, good] of rows) t.equal(sane(fs) !== undefined, good, what);
  t.strictSame([disk(3n, 1n, 3n, 2n), disk(1n, 1n, 0n, 0n), disk(1000n, 1n, 5n, 0n)].map(inodesFree), [666, 1000, 0]);
  t.strictSame([disk(3n, 1n), disk(1n, 1n), disk(1000n, 1n), disk(2n ** 63n, 0n)].map(fullness), [666, 0, 999, 1000]);

  const world = full();
  world.disks['/'] = disk(2n ** 63n, 2n ** 62n);
  const view = new DataView(new ArrayBuffer(REPORT_BYTES));
  encode('report', view, 0, read('root', world).fields);
  t.equal(view.getUint32(structs.report.fields.root_total_mib.offset, true), 2 ** 32 - 1, 'beyond 4 PiB');
  world.disks['/'] = disk(10n, 11n);
  t.match(read('root', world), { sets: [], trouble: 'the file system at / reports an impossible size' });
});

t.test('the root, read-only or not', async t => {
  for (const [options, readOnly] of [
    ['rw,relatime shared:1 - ext4 /dev/vda1 ro', true],
    ['ro,relatime shared:1 - ext4 /dev/vda1 rw', true],
    ['rw shared:1 - ext4 /dev/vda1 rw', false],
  ] as const) {
    const world = full();
    world.write({ 'proc/self/mountinfo': `27 1 254:0 / / ${options}\n` });
    t.strictSame(read('root', world).flags, readOnly ? ['root_readonly'] : undefined, options);
    world.disks = {};
    t.strictSame(read('root', world).flags, readOnly ? ['root_readonly'] : undefined, `${options}, no answer`);
  }
});

t.test('the scratch is asked only where it is local', async t => {
  const asked: string[] = [];
  const look = (scratch: string, links: Record<string, string> = {}) => {
    const world = full();
    world.scratch = scratch;
    world.resolve = path => {
      asked.push(`resolve ${path}`);
      return path in links ? links[path] : path;
    };
    const { statfs } = world;
    world.statfs = path => {
      asked.push(`statfs ${path}`);
      return statfs(path);
    };
    asked.length = 0;
    const { sets, trouble } = read('scratch', world);
    return { sets, trouble, asked: asked.join() };
  };
  t.match(look('/scratch'), { sets: ['scratch'], trouble: undefined, asked: 'resolve /scratch,statfs /scratch' });
  t.match(look('/net/home/me'), { sets: [], trouble: /on nfs4, which may not be local/, asked: '' });
  t.match(look('/tmp', { '/tmp': '/net/home/tmp' }), { sets: [], trouble: /nfs4/, asked: 'resolve /tmp' }, 'a link');
  t.match(look('/tmp', { '/tmp': '/scratch' }), { sets: ['scratch'], asked: 'resolve /tmp,statfs /scratch' });
  t.match(look('/opt/gone'), {
    sets: [],
    trouble: 'the scratch /opt/gone does not exist or cannot be measured: it is left out',
    asked: 'resolve /opt/gone,statfs /opt/gone',
  });
  t.match(look('nowhere'), { sets: [], asked: '' }, 'no path of this machine');
});

t.test('each disk is asked once, by the first mount that answers', async t => {
  const world = full();
  const asked: string[] = [];
  const { statfs } = world;
  world.statfs = path => {
    asked.push(path);
    return statfs(path);
  };
  const { '/scratch': data, ...rest } = world.disks as Record<string, FileSystem>;
  world.disks = { ...rest, '/home': data as FileSystem };
  t.strictSame(read('filesystems', world).fields, FULL_OUT.filesystems?.fields);
  t.strictSame(asked, ['/', '/scratch', '/home', '/data']);
  asked.length = 0;
  world.disks = { ...world.disks, '/scratch': data as FileSystem };
  read('filesystems', world);
  t.strictSame(asked, ['/', '/scratch', '/data']);

  world.disks = { '/': disk(4n * GIB, 3n * GIB) };
  t.strictSame(read('filesystems', world).fields, { fs_total_mib: 4096, fs_avail_mib: 3072, fs_fullest_pm: 250 });
  world.write({ 'proc/self/mountinfo': '27 1 0:5 / / rw - nfs server:/root rw\n' });
  t.strictSame(read('filesystems', world), NOTHING, 'a node without disks');
});

t.test('health and hold', async t => {
  const rows: [string, ReturnType<typeof parseHealth>][] = [
    ['ok admin\n', { health: 1, health_src: 1 }],
    ['ok check', { health: 1, health_src: 2 }],
    ['warning check\n', { health: 2, health_src: 2 }],
    ['bad admin\n', { health: 3, health_src: 1 }],
    ['ok\n', { health: 1, health_src: 2 }],
    ['bad', { health: 3, health_src: 2 }],
    ['bad check scratch is not mounted\n', { health: 3, health_src: 2 }],
    ['bad admin: scratch is not mounted\n', { health: 3, health_src: 2 }],
    ['bad scratch is not mounted\n', { health: 3, health_src: 2 }],
    ['bad administrators are away\n', { health: 3, health_src: 2 }],
    ['warning admin the caf\u00e9 is in\x00it\r\n', { health: 2, health_src: 1 }],
    ['ok none\n', { health: 1, health_src: 2 }],
    ['ok \t admin \n', { health: 1, health_src: 1 }],
    ['unknown admin\n', undefined],
    ['OK admin\n', undefined],
    ['okay\n', undefined],
    ['ok\r\n', undefined],
    [' ok\n', undefined],
    ['ba', undefined],
    ['ok admin\n\n', undefined],
    ['ok admin\nbad admin\n', undefined],
    ['ERROR:  nhc:  Health check failed:  check_fs_mount:  /scratch not mounted\n', undefined],
    ['\n', undefined],
    ['', undefined],
  ];
  for (const [text, out] of rows) t.strictSame(parseHealth(text), out, JSON.stringify(text));

  const world = tree({ 'run/health': 'ok admin\n' });
  for (const [age, seconds] of [
    [0, 0],
    [3.9, 3],
    [1e9, 1e9],
    [-5, 0],
    [undefined, undefined],
    [Number.NaN, undefined],
  ] as const) {
    world.age = age;
    t.equal(read('health', world).fields.health_age_s, seconds, `age ${age}`);
  }
  t.equal(read('health', world).flags, undefined);
  world.write({ 'run/hold': 'for a new disk, Joe\n' });
  t.strictSame(read('health', world).flags, ['held']);
});

t.test('a health file that cannot be understood', async t => {
  const world = tree({ 'run/health': 'bad admin broken fan\n' });
  const health = source('health');
  const at = (now: number, text?: string, age = 0) => {
    if (text !== undefined) world.write({ 'run/health': text });
    Object.assign(world, { now, age });
    return health.read(world);
  };
  const fields = (health: number, health_src: number, health_age_s: number) => ({ health, health_src, health_age_s });
  const WARNS = /\/health counts as a warning: its format is wrong$/;
  t.strictSame(at(1000, undefined, 60).fields, fields(3, 1, 60));
  t.match(at(1001, '', 0), { fields: fields(3, 1, 61), trouble: undefined }, 'the last word holds');
  t.match(at(1005, 'ok', 0), { fields: fields(1, 2, 0), trouble: undefined }, 'it was half written');
  t.match(at(1010, '', 0), { fields: fields(1, 2, 5), trouble: undefined }, 'again');
  t.match(at(1014, 'ERROR: nhc\n', 0), { fields: fields(1, 2, 9), trouble: undefined });
  t.match(at(1015, undefined, 1), { fields: fields(2, 2, 1), trouble: WARNS }, 'after 5 s it is a warning');
  t.match(at(1016, 'ERROR: nhc\n', 0), { fields: fields(2, 2, 0), trouble: WARNS }, 'which holds');
  t.match(at(1017, 'ok check\n', 0), { fields: fields(1, 2, 0), trouble: undefined });

  rmSync(world.path('run/health'));
  t.strictSame(at(1018), NOTHING, 'a file that is gone says nothing');
  t.strictSame(silent(at(1019, 'E', 0)), NOTHING, 'no word is known, and the file is new');
  t.match(at(1024), { fields: fields(2, 2, 0), trouble: WARNS });
  chmodSync(world.path('run/health'), 0o666);
  t.match(
    at(1025),
    { sets: [], trouble: /\/health is ignored: others may write it/ },
    'one not to be trusted is ignored',
  );
  t.match(at(1026, 'E', 7), { fields: fields(2, 2, 7), trouble: WARNS }, 'an old one cannot be half written');
});

t.test('a health file that is too old', async t => {
  const world = tree({ 'run/health': 'ok admin\n' });
  world.healthMostMs = 60_000;
  const look = (age: number, text = 'ok check\n') => {
    world.write({ 'run/health': text });
    world.age = age;
    return read('health', world);
  };
  t.match(look(60), { fields: { health: 1, health_src: 2, health_age_s: 60 }, trouble: undefined });
  t.match(look(60.1, 'ok admin\n'), {
    fields: { health: 2, health_src: 2, health_age_s: 60 },
    trouble: /health counts as a warning: it is older than --health-max-age$/,
  });
  t.match(look(1e6, 'bad admin\n'), { fields: { health: 3, health_src: 1 }, trouble: undefined }, 'no better for that');
  world.healthMostMs = undefined;
  t.match(look(1e9), { fields: { health: 1, health_age_s: 1e9 }, trouble: undefined });
});

t.test('files of other programs are trusted only if nobody else can have written them', async t => {
  const world = tree({});
  const path = world.path('run/health');
  const hold = world.path('run/hold');
  const look = () => read('health', world);
  const plant = (text = 'ok admin\n') => world.write({ 'run/health': text, 'run/hold': text });
  plant();
  t.match(look(), { sets: ['health'], flags: ['held'] });

  for (const mode of [0o664, 0o646, 0o602, 0o777]) {
    plant();
    for (const file of [path, hold]) chmodSync(file, mode);
    t.match(
      look(),
      { sets: [], flags: undefined, trouble: /health is ignored: others may write it/ },
      mode.toString(8),
    );
  }
  plant();
  chmodSync(path, 0o600);
  t.strictSame(look().sets, ['health'], 'who may read it is no matter');

  plant(`ok admin\n${' '.repeat(65_528)}`);
  t.match(look(), { sets: [], flags: undefined, trouble: /hold is ignored: it is larger than 65536 bytes/ });
  plant(' '.repeat(65_536));
  t.match(look(), { sets: [], flags: ['held'] }, 'just fits');

  for (const [trap, make] of Object.entries(TRAPS)) {
    for (const file of [path, hold]) {
      rmSync(file, { recursive: true, force: true });
      make(file);
    }
    const { sets, flags, trouble } = look();
    t.strictSame([sets, flags], [[], undefined], trap);
    t.match(trouble, /health is ignored: /, trap);
  }
  if (process.geteuid?.() === 0) {
    for (const file of [path, hold]) rmSync(file, { recursive: true, force: true });
    plant();
    execFileSync('chown', ['65534', path, hold]);
    t.match(look(), { sets: [], flags: undefined, trouble: /belongs neither to root nor/ });
  } else t.comment('not root: cannot give files away');
});

const gpu = (over: Partial<GpuReading> = {}): GpuReading => ({
  utilPct: 50,
  tempC: 60,
  powerW: 300,
  memUsedMib: 1000,
  memTotalMib: 80_000,
  flags: 3,
  errors: 1,
  eccUe: 2,
  ...over,
});

t.test('GPUs: the ninth and later are added into the eighth', async t => {
  const list = (count: number, over: (i: number) => Partial<GpuReading> = () => ({})) =>
    Array.from({ length: count }, (_, i) => gpu(over(i)));
  const eighth = (gpus: GpuReading[]) => {
    const { gpu, gpu_flags, gpu_count, gpu_busy } = gpuFields('nvidia', gpus);
    return [gpu_count, gpu_busy, gpu_flags.length, gpu_flags[7], Object.values(gpu[7] ?? {})];
  };
  const rows: [string, GpuReading[], unknown][] = [
    ['eight', list(8), [8, 8, 8, 3, [50, 60, 300, 1000, 80_000]]],
    ['nine', list(9), [9, 9, 8, 3, [50, 60, 600, 2000, 160_000]]],
    [
      'averages, the highest, flags or-ed',
      list(10, i => ({ utilPct: i * 10, tempC: 100 - i, flags: i === 9 ? 0b1001 : 1 })),
      [10, 0, 8, 0b1001, [80, 93, 900, 3000, 240_000]],
    ],
    [
      'what is not known of one',
      list(9, i => (i === 8 ? { utilPct: undefined, tempC: undefined, powerW: undefined, memUsedMib: undefined } : {})),
      [9, 9, 8, 3, [50, 60, 65_535, 0, 0]],
    ],
    [
      'of none',
      list(9, () => ({ utilPct: undefined, tempC: undefined, powerW: undefined, memTotalMib: undefined })),
      [9, 9, 8, 3, [255, 255, 65_535, 0, 0]],
    ],
    [
      'no sentinel by adding up',
      list(255, () => ({ powerW: 65_534 })),
      [255, 255, 8, 3, [50, 60, 65_534, 248_000, 19_840_000]],
    ],
  ];
  for (const [what, gpus, out] of rows) t.strictSame(eighth(gpus), out, what);
  t.strictSame(errorFields(list(9)), { gpu_errors: 9, gpu_ecc_ue: 18 });
  t.strictSame(errorFields(list(2, () => ({ errors: 2 ** 31 }))), { gpu_errors: 0, gpu_ecc_ue: 4 }, 'modulo 2^32');
  t.equal(errorFields(list(9, i => (i === 8 ? { errors: undefined } : {}))), undefined, 'one that does not tell');
  t.equal(errorFields(list(1, () => ({ eccUe: undefined }))), undefined);
  const memories: [KernelCount | undefined, KernelCount | undefined, unknown[]][] = [
    [2 ** 20, 2 ** 21 + 1, [1, 2]],
    [0, 2 ** 21, [0, 2]],
    [2, 1, [undefined, undefined]],
    [0, 0, [undefined, undefined]],
    [undefined, 1, [undefined, undefined]],
    [1, undefined, [undefined, undefined]],
  ];
  for (const [used, total, out] of memories)
    t.strictSame(Object.values(memoryMib(used, total)), out, `${used} of ${total}`);
});

t.test('the GPU file', async t => {
  t.strictSame(parseGpuFile(GPU_FILE), {
    vendor: 'nvidia',
    gpus: [
      gpu({ utilPct: 75, memUsedMib: 1024, memTotalMib: 81_920, eccUe: 0 }),
      {
        utilPct: undefined,
        tempC: undefined,
        powerW: undefined,
        memUsedMib: undefined,
        memTotalMib: undefined,
        flags: 17,
        errors: 4,
        eccUe: 2,
      },
    ],
  });
  const good = '0 0 0 0 0 0 0 0\n';
  const accepted: Record<string, string> = {
    none: 'gpu 1 intel 0\n',
    'at its limits': `gpu 1 amd 1\n100 150 65534 4294967295 4294967295 63 4294967295 4294967295\n`,
    'as many as there may be': `gpu 1 nvidia 255\n${good.repeat(255)}`,
  };
  for (const [what, text] of Object.entries(accepted)) t.ok(parseGpuFile(text), what);
  const refused: Record<string, string> = {
    empty: '',
    'no line end': 'gpu 1 nvidia 0',
    'another version': 'gpu 2 nvidia 0\n',
    'no vendor': 'gpu 1 none 0\n',
    'an unknown vendor': 'gpu 1 voodoo 0\n',
    'a prototype': 'gpu 1 constructor 0\n',
    'a negative count': 'gpu 1 nvidia -1\n',
    'too many': `gpu 1 nvidia 256\n${good.repeat(256)}`,
    'fewer lines than told': `gpu 1 nvidia 2\n${good}`,
    'more lines than told': `gpu 1 nvidia 1\n${good}${good}`,
    'an empty line': `gpu 1 nvidia 1\n${good}\n`,
    'cut in its last number': `gpu 1 nvidia 1\n${good.slice(0, -1)}`,
    'a word too few': 'gpu 1 nvidia 1\n0 0 0 0 0 0 0\n',
    'a word too many': 'gpu 1 nvidia 1\n0 0 0 0 0 0 0 0 0\n',
    'two blanks': 'gpu 1 nvidia 1\n0  0 0 0 0 0 0 0\n',
    'over 100 %': 'gpu 1 nvidia 1\n101 0 0 0 0 0 0 0\n',
    'too hot': 'gpu 1 nvidia 1\n0 151 0 0 0 0 0 0\n',
    negative: 'gpu 1 nvidia 1\n0 -1 0 0 0 0 0 0\n',
    'too much power': 'gpu 1 nvidia 1\n0 0 65535 0 0 0 0 0\n',
    'more memory in use than there is': 'gpu 1 nvidia 1\n0 0 0 2 1 0 0 0\n',
    'unknown flags': 'gpu 1 nvidia 1\n0 0 0 0 0 64 0 0\n',
    'no flags': 'gpu 1 nvidia 1\n0 0 0 0 0 - 0 0\n',
    'a fraction': 'gpu 1 nvidia 1\n0.5 0 0 0 0 0 0 0\n',
    'carriage returns': 'gpu 1 nvidia 0\r\n',
    'a million lines': `gpu 1 nvidia 1\n${good.repeat(1_000_000)}`,
  };
  for (const [what, text] of Object.entries(refused)) t.equal(parseGpuFile(text), undefined, what);
});

t.test('GPUs: where they come from', async t => {
  const world = full();
  world.age = 10;
  world.write({ 'run/gpu': GPU_FILE });
  t.match(read('gpu', world), {
    sets: ['gpu', 'gpu_errors'],
    fields: { gpu_vendor: 1, gpu_count: 2, gpu_busy: 1, gpu_flags: [3, 17], gpu_errors: 5, gpu_ecc_ue: 2 },
  });
  world.age = 10.5;
  t.match(read('gpu', world), { sets: [], trouble: /gpu is ignored: it was not written within the last 10 s/ });
  world.age = 1;
  world.write({ 'run/gpu': 'gpu 1 nvidia 1\n' });
  t.match(
    read('gpu', world),
    { sets: [], trouble: /its format is wrong/ },
    'a broken file is no reason to tell of others',
  );
  world.write({ 'run/gpu': 'gpu 1 nvidia 1\n- - - - - 1 - -\n' });
  t.match(read('gpu', world), { sets: ['gpu'], fields: { gpu: [{ util_pct: 255, temp_degc: 255, power_w: 65_535 }] } });
  world.write({ 'run/gpu': 'gpu 1 nvidia 0\n' });
  t.match(read('gpu', world), { fields: { gpu_count: 0, gpu_busy: 0, gpu: [], gpu_flags: [] } });
  rmSync(world.path('run/gpu'));
  t.match(read('gpu', world), FULL_OUT.gpu as SlowReading, 'without it, what the driver tells');
});

t.test('GPUs of AMD', async t => {
  const fields = (files: Files) => read('gpu', tree(files)).fields;
  t.match(
    fields({ ...card(0, {}) }),
    {
      gpu_count: 1,
      gpu_busy: 0,
      gpu_flags: [1],
      gpu: [{ util_pct: 255, temp_degc: 255, power_w: 65_535, mem_total_mib: 0 }],
    },
    'a card that tells nothing',
  );
  t.notOk('gpu_errors' in fields(card(0, {})), 'without RAS');
  t.match(fields({ ...card(0, { ...AMD_CARD, current_compute_partition: 'CPX' }) }).gpu_flags, [0b100111]);
  t.match(
    fields(card(0, { 'hwmon/hwmon1/temp2_input': 50_000, 'hwmon/hwmon1/power1_input': 90_000_000 })).gpu,
    [{ temp_degc: 50, power_w: 90 }],
    'the junction, and the power now',
  );
  const order = fields({ ...card(10, { gpu_busy_percent: 10 }), ...card(2, { gpu_busy_percent: 2 }) });
  t.strictSame(
    order.gpu?.map(({ util_pct }) => util_pct),
    [2, 10],
    'in the order of their numbers',
  );
  t.notOk('gpu_errors' in fields({ ...card(0, AMD_CARD), ...card(1, {}) }), 'one of two has no RAS');
  t.strictSame(
    read('gpu', tree({ 'sys/class/drm/card0/device/vendor': '0x10de\n' })),
    NOTHING,
    'others are not counted',
  );
  const absurd = { gpu_busy_percent: 101, mem_info_vram_used: 2, mem_info_vram_total: 1 };
  t.match(
    fields(card(0, { ...absurd, 'hwmon/hwmon1/temp1_input': -1, 'hwmon/hwmon1/power1_average': -1 })).gpu,
    [{ util_pct: 255, temp_degc: 255, power_w: 65_535, mem_used_mib: 0, mem_total_mib: 0 }],
    'absurd leaves are not known',
  );
  for (const [text, busy] of [
    ['0\n', 0],
    ['100\n', 100],
    ['101\n', undefined],
    ['-1\n', undefined],
  ] as const)
    t.equal(parseBusy(text), busy, JSON.stringify(text));
  for (const [text, celsius] of [
    ['999\n', 0],
    ['150000\n', 150],
    ['150001\n', undefined],
    ['-1\n', undefined],
  ] as const)
    t.equal(parseGpuTemperature(text), celsius, JSON.stringify(text));
  for (const [text, ras] of [
    ['ue: 1\nce: 2\n', { ue: 1, ce: 2 }],
    ['ue: 1\nce: 2\nde: 3\n', { ue: 1, ce: 2 }],
    ['ue: 1\nce: 2', undefined],
    ['Query currently inaccessible\n', undefined],
    ['ue: -1\nce: 2\n', undefined],
  ] as const)
    t.strictSame(parseRas(text), ras, JSON.stringify(text));
});

t.test('the text of the hardware hash', async t => {
  const text = (files: Files) => hardwareText(tree(files), new ReadingBuilder());
  t.equal(text(FULL), HW_TEXT);
  const without = (pattern: RegExp) => Object.fromEntries(Object.entries(FULL).filter(([name]) => !pattern.test(name)));
  t.equal(text(without(/system\/memory/)), HW_TEXT.replace('6442450944', '-'), 'no blocks of memory');
  t.equal(text(without(/bus\/pci/)), HW_TEXT.replace('gpus: 1', 'gpus: -'), 'no PCI');
  t.equal(text(without(/class\/net\/(ens2|ib0)/)), HW_TEXT.replace(/nic .*\n/g, ''), 'no interface with a device');
  t.equal(text({ ...FULL, ...nic('eno1', -1) }), HW_TEXT.replace('nic ens2', 'nic eno1: 0\nnic ens2'), 'no speed');
  t.equal(text(without(/cpu2\/topology/)), undefined);
  t.equal(text(without(/cpu\/present/)), undefined);

  const world = tree(FULL);
  const source = makeHwHash();
  const hash = (hardware: string) => ({ ...NOTHING, fields: { hw_hash: crc32(hardware) }, sets: ['hw_hash'] });
  t.strictSame(source.read(world), hash(HW_TEXT));
  world.write(cpu(2, 7));
  t.strictSame(source.read(world), hash(HW_TEXT), 'packages are not looked for again');
  world.write({ 'sys/devices/system/cpu/online': '0-2\n' });
  t.strictSame(source.read(world), hash(HW_TEXT.replace('packages: 2', 'packages: 3')), 'until the CPUs change');

  const models: [string, string[] | undefined][] = [
    [CPUINFO, HW_TEXT.split('\n').slice(0, 2)],
    [
      'processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n',
      ['cpu CPU implementer: 0x41', 'cpu CPU variant: 0x3', 'cpu CPU part: 0xd0c', 'cpu CPU revision: 1'],
    ],
    [
      'processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2300.000000MHz\n\n',
      ['cpu cpu: POWER9, altivec supported'],
    ],
    ['processor\t: 0\n\nmodel name\t: of the second\n', undefined],
    ['model name\t: ü\n', undefined],
    ['model name\t: cut', undefined],
    ['', undefined],
  ];
  for (const [text, model] of models) t.strictSame(cpuModel(text), model, JSON.stringify(text.slice(0, 40)));
  t.equal(text({ ...FULL, 'proc/cpuinfo': CPUINFO.replace('\n\n', '\n\n').repeat(100_000) }), HW_TEXT, 'only its head');
  for (const [text, size] of [
    ['8000000\n', 0x8000000n],
    ['ffffffffffffffff\n', 2n ** 64n - 1n],
    ['0x8000000\n', undefined],
    ['8000000', undefined],
    ['-1\n', undefined],
  ] as const)
    t.equal(parseBlockSize(text), size, JSON.stringify(text));
});

t.test('the text of the software hash', async t => {
  t.equal(softwareText(tree(FULL), new ReadingBuilder()), SW_TEXT);
  const rows: [string, string | undefined][] = [
    ['ID=debian\nVERSION_ID="12"\n', 'debian|12|'],
    ["ID='x y'\n", 'x y||'],
    ['ID="a\\"b\\$c\\\\d"\n', 'a"b$c\\d||'],
    ['ID=one\nID=two\n', 'two||'],
    ['# ID=no\nXID=no\nID =no\n', undefined],
    ['ID=x\nIMAGE_ID=\n', 'x||'],
    ['ID=""\n', undefined],
    ['ID=rolling \t\n', 'rolling||'],
    ['\n', undefined],
    ['ID="unended\n', undefined],
    ['ID=two words\n', undefined],
    ['ID="$(reboot)"\n', undefined],
    ['ID=ünder\n', undefined],
    ['ID=cut', undefined],
    ['', undefined],
  ];
  for (const [text, out] of rows)
    t.equal(Object.values(parseOsRelease(text) ?? [undefined]).join('|') || undefined, out, JSON.stringify(text));
});

t.test('containers', async t => {
  for (const [link, foreign] of [
    ['pid:[4026531836]', false],
    ['pid:[4026532198]', true],
    ['pid:[]', false],
    ['', false],
    [undefined, false],
  ] as const)
    t.equal(foreignNamespace(link), foreign, String(link));
  const id = '0123456789abcdef'.repeat(4);
  const cgroups: [string, boolean][] = [
    [`0::/system.slice/docker-${id}.scope\n`, true],
    [`12:memory:/docker/${id}\n`, true],
    ['0::/kubepods.slice/kubepods-burstable.slice/x\n', true],
    ['11:cpu:/kubepods/burstable/pod1/x\n', true],
    [`0::/machine.slice/libpod-${id}.scope/container\n`, true],
    ['0::/lxc.payload.web/init.scope\n', true],
    ['0::/\n', false],
    ['0::/init.scope\n', false],
    ['0::/system.slice/docker.service\n', false],
    ['0::/system.slice/containerd.service\n', false],
    ['0::/user.slice/docker-users.scope\n', false],
    ['', false],
  ];
  for (const [text, inside] of cgroups) t.equal(containerCgroup(text), inside, text);
  const overlay = (lower: string) => `9 1 0:50 / / rw - overlay overlay rw,lowerdir=${lower},workdir=/w\n`;
  const roots: [string, boolean | undefined][] = [
    [overlay('/var/lib/docker/overlay2/l/AB'), true],
    [overlay('/var/lib/containers/storage/overlay/l/AB'), true],
    [overlay('/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/1/fs'), true],
    [overlay('/run/rootfsbase'), false],
    [MOUNTINFO, false],
    ['', undefined],
  ];
  for (const [text, inside] of roots) t.equal(containerRoot(text), inside, text.slice(0, 80));

  const flags = (files: Files) => read('container', tree({ ...FULL, ...files })).flags;
  t.equal(flags({}), undefined);
  t.equal(flags({ 'proc/self/root/.dockerenv': '' }), undefined, 'metal, from an image that was a container once');
  t.strictSame(flags({ 'proc/1/cgroup': `0::/docker/${id}\n` }), ['container']);
  t.strictSame(flags({ 'proc/self/cgroup': `0::/docker/${id}\n` }), ['container']);
  t.strictSame(flags({ 'proc/self/mountinfo': overlay('/var/lib/docker/overlay2/l/AB') }), ['container']);
  const world = tree(FULL);
  mkdirSync(world.path('proc/self/ns'), { recursive: true });
  symlinkSync('pid:[4026532198]', world.path('proc/self/ns/pid'));
  t.strictSame(read('container', world).flags, ['container']);
});

t.test('no corrupt tree makes a source throw, or write a field that it did not measure', async t => {
  const seed = Number(process.env.SEED ?? 22);
  t.comment(`seed ${seed}, another one by SEED=n`);
  const files: Files = { ...FULL, 'run/gpu': GPU_FILE };
  const texts = Object.entries(files);
  const world = tree(files);
  const { disks } = full();
  const size = fc.oneof(fc.bigInt({ min: -(2n ** 64n), max: 2n ** 65n }), fc.constantFrom(0n, 1n, GIB));
  const spoiled = fc.record({
    which: fc.nat({ max: texts.length - 1 }),
    from: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat({ max: 30 }),
    insert: fc.oneof(fc.string(), fc.constantFrom('-', '\n', ' ', '9'.repeat(19), '9'.repeat(20), '9'.repeat(99))),
  });
  fc.assert(
    fc.property(
      fc.array(spoiled, { minLength: 1, maxLength: 12 }),
      fc.record({ totalBytes: size, availableBytes: size, inodes: size, inodesFree: size }),
      fc.oneof(fc.double(), fc.constant(undefined), fc.constant(1)),
      (changes, root, age) => {
        const broken: Files = {};
        for (const { which, from, length, insert } of changes) {
          const [name, text] = texts[which] as [string, string];
          const at = Math.floor(from * text.length);
          broken[name] = text.slice(0, at) + insert + text.slice(at + length);
        }
        const sources = makeSources();
        world.disks = disks;
        world.age = 1;
        for (const source of sources) source.read(world);
        world.write(broken);
        world.disks = { ...disks, '/': root };
        world.age = age;
        const why = sources.map(source => wrong(source, source.read(world))).find(why => why !== undefined);
        world.write(Object.fromEntries(Object.keys(broken).map(name => [name, files[name] as string])));
        if (why !== undefined) throw new Error(why);
      },
    ),
    { seed, numRuns: runsOf(150) },
  );
  t.pass('none did');
});

t.test('this machine', async t => {
  t.strictSame(PLACES, { proc: '/proc', sys: '/sys', run: '/run/beoboard', etc: '/etc', scratch: '/tmp' });
  const here = machineWorld({ scratch: temp });
  for (const source of makeSources())
    for (const round of ['once', 'again'])
      t.equal(wrong(source, source.read(here)), undefined, `${source.name} ${round}`);
  const fs = here.statfs('/');
  t.ok(fs !== undefined && fs.totalBytes > 0n && fs.availableBytes <= fs.totalBytes);
  const [kib] = execFileSync('df', ['-k', '--output=size', temp], { encoding: 'utf8' }).match(/\d+(?=\s*$)/) ?? [];
  t.equal(here.statfs(temp)?.totalBytes, BigInt(u64(kib) ?? 0) * 1024n, 'as df has it');
  t.equal(here.statfs('/nowhere'), undefined);
  writeFileSync(join(temp, 'old'), '');
  backdate(join(temp, 'old'), 100);
  const age = here.ageSeconds(join(temp, 'old')) ?? 0;
  t.ok(age > 99 && age < 400, `${age} s`);
  t.equal(here.ageSeconds('/nowhere'), undefined);
  symlinkSync(temp, join(temp, 'link'));
  t.equal(here.resolve(join(temp, 'link')), temp);
  t.equal(here.resolve('/nowhere'), undefined);
  t.strictSame(machineWorld({ proc: '/p' }).proc, '/p');
});
