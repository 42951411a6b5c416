// Reads the fast sets of a report from /proc and /sys, once per tick. Never throws, waits or guesses: a set that could
// not be read stays invalid, and does not affect the others.

import { type Encodable, encode, type FieldsOf, getter, type SetName, TEMPERATURE_UNKNOWN } from '../layout/codec.js';
import { bits, constants, enums } from '../layout/layout.gen.js';
import { type CpuTimes, type GroupShare, groupShares, groupsOf, parseCpuTimes, sameCpus } from './collect/cpugroups.js';
import { parseCpuList, readTopology } from './collect/cpus.js';
import { WholeDisks } from './collect/diskparts.js';
import { busiestDisk, type Disk, diskSum, diskstatsParser, sumDisks } from './collect/diskstats.js';
import { parseFileNr } from './collect/filenr.js';
import { type LeaveOut, sameNames, tooMany } from './collect/kerneltext.js';
import { parseLoadavg } from './collect/loadavg.js';
import { UNREAD_MS } from './collect/membersum.js';
import { parseMeminfo } from './collect/meminfo.js';
import { arrange, netdevParser, restSum } from './collect/netdev.js';
import { CountedLinks, leftOutTeller } from './collect/netlinks.js';
import { parseCpuPressure, parseIoPressure, parseIrqPressure, parseMemoryPressure } from './collect/pressure.js';
import { parseSnmp } from './collect/snmp.js';
import { cpuShare, type ProcStat, parseStat } from './collect/stat.js';
import { type Cpuinfo, parseRelease, readCpuinfo, readCpuMhz } from './collect/system.js';
import { parseVmstat } from './collect/vmstat.js';
import { KernelFile, type Tell } from './kernelfile.js';
import type { Details } from './slow/source.js';
import { type HostMachine, here } from './world.js';

/** Where the kernel's trees are: /proc and /sys, or copies of them. */
export interface Roots {
  proc: string;
  sys: string;
}

const validOf = getter('report', 'valid');
const flagsOf = getter('report', 'flags');

const CONTAINER = enums.virt.indexOf('container');

/** The CPUs of a list, identified by the list's text. */
function parseOnline(text: string): { name: string; cpus: readonly number[] } | undefined {
  const cpus = parseCpuList(text);
  return cpus && { name: text, cpus };
}

/** /proc/stat: the times of all CPUs together, and of each CPU. */
function parseTimes(
  text: string,
  leaveOut: LeaveOut,
): { stat: ProcStat; cpus: Map<number, CpuTimes> | undefined } | undefined {
  const stat = parseStat(text, leaveOut);
  return stat && { stat, cpus: parseCpuTimes(text, leaveOut) };
}

const tooNew = (path: string) =>
  `${path} has more new names than can be looked at in one tick: its readings are left out until all were`;

/** What could not be read is tried again after so many ticks: it may take a thousand files to find out. */
const SELDOM = 10;

/** Data that depend on a list of names, and are read again when the list changes. */
class Seldom<T> {
  #names: readonly string[] = [];
  #left = 0;
  #value: T | undefined;

  get(things: readonly { name: string }[], read: (names: readonly string[]) => T | undefined): T | undefined {
    if (this.#left === 0 || !sameNames(things, this.#names)) {
      this.#names = things.map(({ name }) => name);
      this.#value = read(this.#names);
      this.#left = this.#value === undefined ? SELDOM : Number.POSITIVE_INFINITY;
    }
    this.#left--;
    return this.#value;
  }
}

function filesOf({ proc, sys }: Roots, tell: Tell | undefined) {
  const file = (path: string, optional = false) => new KernelFile(path, tell, optional);
  return {
    stat: file(`${proc}/stat`),
    loadavg: file(`${proc}/loadavg`),
    meminfo: file(`${proc}/meminfo`),
    vmstat: file(`${proc}/vmstat`),
    psiCpu: file(`${proc}/pressure/cpu`, true),
    psiMemory: file(`${proc}/pressure/memory`, true),
    psiIo: file(`${proc}/pressure/io`, true),
    psiIrq: file(`${proc}/pressure/irq`, true),
    snmp: file(`${proc}/net/snmp`),
    fileNr: file(`${proc}/sys/fs/file-nr`),
    netdev: file(`${proc}/net/dev`),
    diskstats: file(`${proc}/diskstats`),
    release: file(`${proc}/sys/kernel/osrelease`),
    online: file(`${sys}/devices/system/cpu/online`),
    present: file(`${sys}/devices/system/cpu/present`),
  };
}

/** One tree: its files are opened at the first reading, and closed with it. */
class KernelTree {
  readonly files: ReturnType<typeof filesOf>;
  readonly parseNetdev = netdevParser();
  readonly parseDiskstats = diskstatsParser();

  readonly links: CountedLinks;
  readonly wholeDisks: WholeDisks;
  readonly topology = new Seldom<{ fields: FieldsOf<'topology'>; groups: number[][] }>();
  cpuinfo: Cpuinfo | undefined;
  system: FieldsOf<'system'> | undefined;
  /** Null: it was looked for and does not exist. */
  mhz: FieldsOf<'cpu_mhz'> | null | undefined;

  constructor(roots: Roots, tell: Tell | undefined, leftOut: (names: readonly string[]) => void) {
    this.files = filesOf(roots, tell);
    this.links = new CountedLinks(roots.sys, leftOut);
    this.wholeDisks = new WholeDisks(roots.sys);
  }

  close(): void {
    for (const file of Object.values(this.files)) file.close();
  }
}

/** The names of the members of a sum, whose lines may once not be understood. */
class Summed {
  names: ReadonlySet<string> = new Set();
  #sinceNs: bigint | undefined;

  /** Whether one of them may stand on a line that is not understood: then nothing of the set is known, for a minute. */
  lacks(file: KernelFile, all: readonly { name: string }[], nowNs: bigint): boolean {
    const names = file.isInPart ? new Set(all.map(({ name }) => name)) : undefined;
    const isMissing = names !== undefined && [...this.names].some(name => !names.has(name));
    this.#sinceNs = isMissing ? (this.#sinceNs ?? nowNs) : undefined;
    return this.#sinceNs !== undefined && nowNs - this.#sinceNs < BigInt(UNREAD_MS) * 1_000_000n;
  }

  are(names: Iterable<string>, others: readonly { name: string }[] = []): void {
    const all = new Set(names);
    for (const { name } of others) all.delete(name);
    this.names = all;
  }
}

/** Fills the fast sets of reports, tick by tick; keeps its files open in between. */
export class Collector {
  readonly #tell: Tell | undefined;
  readonly #world: HostMachine;
  /** About what was complained, and it still holds. */
  readonly #complaints = new Set<string>();
  readonly #leftOut: (names: readonly string[]) => void;
  #roots: Roots;
  #tree: KernelTree;
  /** The last tick; undefined if it could not be read, because a share is for one tick only. */
  #stat: ProcStat | undefined;
  #cpus: Map<number, CpuTimes> | undefined;
  /** Online CPUs by group, as of this tick. */
  #groups: number[][] | undefined;
  #disks: { at: bigint; whole: Disk[]; serials: readonly string[] } | undefined;
  #diskSum = diskSum(constants.most.devices);
  #restSum = restSum(constants.most.devices);
  readonly #summedDisks = new Summed();
  readonly #summedLinks = new Summed();

  /** @param tell is called with one line about something that cannot be read, once until it works again */
  constructor({ proc, sys, tell, world = here }: Roots & { tell?: Tell; world?: HostMachine }) {
    this.#tell = tell;
    this.#world = world;
    this.#leftOut = leftOutTeller(tell);
    this.#roots = { proc, sys };
    this.#tree = new KernelTree(this.#roots, tell, this.#leftOut);
  }

  /**
   * Writes the fields of all fast sets that could be read, and their bits in `valid`, into a zeroed report. `nowNs`:
   * the report's `t_boot_ns`, because shares of disks are for the time since the last call. `details`: what the slow
   * side knows about these things.
   */
  collect(view: DataView, nowNs: bigint, details: Details = {}): void {
    let valid = validOf(view, 0);
    const put = <S extends SetName>(set: S, fields: FieldsOf<S> | undefined) => {
      if (fields === undefined) return;
      encode('report', view, 0, fields as Encodable<'report'>);
      valid |= 1n << BigInt(bits.valid[set]);
    };
    const { files } = this.#tree;

    this.#collectCpus(put, details);
    put('load', files.loadavg.parse(parseLoadavg));
    const read = files.stat.parse(parseTimes);
    const stat = read?.stat;
    put('stat', stat);
    // The times of CPUs that were added or removed change the sums by hours.
    const same = sameCpus(this.#cpus, read?.cpus);
    put('cpu_share', stat && this.#stat && same ? cpuShare(this.#stat, stat) : undefined);
    this.#stat = stat;
    const shares = this.#groupShares(read?.cpus);
    if (shares !== undefined) {
      // Fields of entries whose other fields belong to the set `groups`.
      encode('report', view, 0, shares);
      valid |= 1n << BigInt(bits.valid.group_share);
    }
    put('memory', files.meminfo.parse(parseMeminfo));
    put('vmstat', files.vmstat.parse(parseVmstat));
    put('psi_cpu', files.psiCpu.parse(parseCpuPressure));
    put('psi_mem', files.psiMemory.parse(parseMemoryPressure));
    put('psi_io', files.psiIo.parse(parseIoPressure));
    put('psi_irq', files.psiIrq.parse(parseIrqPressure));
    put('tcp', files.snmp.parse(parseSnmp));
    put('files', files.fileNr.parse(parseFileNr));
    put('net', this.#net(details, nowNs));
    this.#collectDisks(put, nowNs);
    put('system', this.#system(details));
    put('cpu_mhz', this.#mhz());
    const clock = this.#world.adjtimex();
    put('clock', clock && { clock_offset_us: clock.offsetUs, clock_maxerr_us: clock.maxErrorUs });
    const flags = flagsOf(view, 0) | (clock?.unsynchronised ? 1 << bits.flags.clock_unsync : 0);

    encode('report', view, 0, { valid, flags });
  }

  /** Complains once, until it is well again. */
  #check(what: string, isWell: boolean, complaint: string): void {
    if (isWell) this.#complaints.delete(what);
    else if (!this.#complaints.has(what)) this.#tell?.(complaint);
    if (!isWell) this.#complaints.add(what);
  }

  /** The next report begins the sums: what was read before was no report. */
  restart(): void {
    this.#diskSum = diskSum(constants.most.devices);
    this.#restSum = restSum(constants.most.devices);
  }

  /** Reads from other roots from the next tick on, with the last reading as the tick before it. */
  moveTo(roots: Roots): void {
    this.#tree.close();
    this.#roots = roots;
    this.#tree = new KernelTree(roots, this.#tell, this.#leftOut);
  }

  /** Closes all files; a later `collect` would open them again. */
  close(): void {
    this.#tree.close();
  }

  #collectCpus(put: PutSet, { mhz, tempDc }: Details): void {
    const online = this.#tree.files.online.parse(parseOnline);
    const present = this.#tree.files.present.parse(parseCpuList);
    if (online === undefined) return;
    if (present !== undefined) put('cpus', { cpus_online: online.cpus.length, cpus_present: present.length });
    const topology = this.#tree.topology.get([online], () => {
      const read = readTopology(this.#roots.sys, online.cpus);
      return read && { fields: read.fields, groups: groupsOf(read.packageOf) };
    });
    this.#groups = topology?.groups;
    const { sys } = this.#roots;
    this.#check('topology', topology !== undefined, `cannot read the topology of the CPUs below ${sys}/devices/system`);
    put('topology', topology?.fields);
    put(
      'groups',
      topology && {
        group: topology.groups.map(({ length: cpus }, i) => ({
          cpus,
          mhz: mhz?.[i] ?? 0,
          temp_dc: tempDc?.[i] ?? TEMPERATURE_UNKNOWN,
        })),
      },
    );
  }

  /** Shares of the groups since the last tick, CPU by CPU. */
  #groupShares(now: Map<number, CpuTimes> | undefined): { group: GroupShare[] } | undefined {
    const before = this.#cpus;
    this.#cpus = now;
    if (before === undefined || now === undefined || this.#groups === undefined) return undefined;
    const shares = groupShares(before, now, this.#groups);
    return shares && { group: shares };
  }

  #net({ mbps, leftOut }: Details, nowNs: bigint): FieldsOf<'net'> | undefined {
    const { netdev } = this.#tree.files;
    const interfaces = netdev.parse(this.#tree.parseNetdev);
    if (interfaces === undefined || this.#summedLinks.lacks(netdev, interfaces, nowNs)) return undefined;
    const { links: known } = this.#tree;
    known.identify(interfaces, this.#summedLinks.names);
    const links = known.among(interfaces, mbps, leftOut);
    this.#check('links', known.isWhole, tooNew(`${this.#roots.proc}/net/dev`));
    const { links: most, devices } = constants.most;
    this.#check('many links', !known.isTooMany, tooMany(most, 'network interfaces with a device'));
    if (links === undefined || (netdev.isInPart && known.lacksDevice)) return undefined;
    const entries = arrange(interfaces, links, mbps, this.#restSum);
    this.#check('many others', entries !== undefined, tooMany(devices, 'network interfaces'));
    if (entries === undefined) return undefined;
    const { net, net_rest } = entries;
    this.#summedLinks.are(links.keys(), net);
    return { net, net_rest: net_rest ?? {} };
  }

  #collectDisks(put: PutSet, nowNs: bigint): void {
    const before = this.#disks;
    this.#disks = undefined;
    const { diskstats } = this.#tree.files;
    const all = diskstats.parse(this.#tree.parseDiskstats);
    if (all === undefined || this.#summedDisks.lacks(diskstats, all, nowNs)) return;
    const { wholeDisks } = this.#tree;
    const names = wholeDisks.among(all);
    const { proc, sys } = this.#roots;
    this.#check('block', wholeDisks.hasBlock, `cannot read ${sys}/block: whole disks are recognized by their names`);
    this.#check('disks', names !== undefined, tooNew(`${proc}/diskstats`));
    if (names === undefined) return;
    const whole = all.filter(({ name }) => names.has(name));
    this.#disks = { at: nowNs, whole, serials: whole.map(({ name }) => wholeDisks.serial(name)) };
    this.#summedDisks.are(names);
    const sum = sumDisks(whole, this.#diskSum, name => wholeDisks.serial(name));
    this.#check('many disks', sum !== undefined, tooMany(constants.most.devices, 'whole disks'));
    put('disk', sum);
    const same = before?.whole.filter(({ name }, i) => before.serials[i] === wholeDisks.serial(name));
    put('disk_share', before && busiestDisk(same ?? [], whole, nowNs - before.at));
  }

  #system({ container }: Details): FieldsOf<'system'> | undefined {
    const tree = this.#tree;
    if (tree.system === undefined) {
      const os_release = tree.files.release.parse(parseRelease);
      tree.files.release.close();
      const { arch, page_kib } = this.#world.machine();
      if (os_release === undefined || page_kib === undefined) return undefined;
      const virt = enums.virt.indexOf(this.#cpuinfo().hypervisor ? 'vm' : 'metal');
      tree.system = { os_release, arch, virt, page_kib };
    }
    return container === true ? { ...tree.system, virt: CONTAINER } : tree.system;
  }

  #mhz(): FieldsOf<'cpu_mhz'> | undefined {
    if (this.#tree.mhz === undefined) {
      const cpus = this.#groups?.flat() ?? [0];
      this.#tree.mhz = readCpuMhz(this.#roots.sys, cpus, this.#cpuinfo()) ?? null;
    }
    return this.#tree.mhz ?? undefined;
  }

  #cpuinfo(): Cpuinfo {
    this.#tree.cpuinfo ??= readCpuinfo(this.#roots.proc);
    return this.#tree.cpuinfo;
  }
}

type PutSet = <S extends SetName>(set: S, fields: FieldsOf<S> | undefined) => void;
