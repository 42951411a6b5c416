// /sys/class/net: which interfaces are physical, and which of them count, their order, speed and link. Does not read
// speeds and the names of ports while a report waits: the kernel takes its lock for all interfaces, and often asks the
// driver.

import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { bits, constants } from '../../layout/layout.gen.js';
import { attempt } from '../../text/failure.js';
import { few } from '../../text/text.js';
import { readOnce, type Tell } from '../kernelfile.js';
import { u64 } from './kerneltext.js';
import { KnownNames, leaps, MOST_LOOKS } from './known.js';

export interface Link {
  /** Its place in the report's order; infinite if unknown. */
  index: number;
  /** Bits of `net_state`. */
  state: number;
  /** What tells it from another one of its name; absent: nothing does. */
  id?: string;
}

/** The interfaces that count, by name. */
export type Links = ReadonlyMap<string, Link>;

const UP = 1 << bits.net_state.up;
const CARRIER = 1 << bits.net_state.carrier;

/** Mbit/s; 0 for unknown, for which the kernel writes -1, some drivers 65535 or 2^32 - 1, and others return an error. */
export function parseSpeed(text: string | undefined): number {
  const speed = Number(u64(text?.trim()) ?? 0);
  return speed < 0xffffffff && speed !== 0xffff ? speed : 0;
}

/**
 * Bits of `net_state` from the texts of `flags` (hexadecimal, bit 0 is IFF_UP) and `operstate`, which some drivers
 * leave at unknown. Not from `carrier`, for which new kernels take the lock of all interfaces.
 */
export function parseState(flags: string | undefined, operstate: string | undefined): number {
  const up = /^0x[0-9a-f]{0,8}[13579bdf]\n?$/i.test(flags ?? '') ? UP : 0;
  return up | (up !== 0 && /^(?:up|unknown)\n?$/.test(operstate ?? '') ? CARRIER : 0);
}

export function parseIndex(text: string | undefined): number {
  return Number(u64(text?.trim()) ?? Number.POSITIVE_INFINITY);
}

/** A name that may have a device of its own: vifN.M is Xen's end of a guest's interface. */
const hasDevice = (sys: string, name: string) =>
  !/^vif\d+\.\d+$/.test(name) && existsSync(`${dirOf(sys, name)}/device`);

const dirOf = (sys: string, name: string) => `${sys}/class/net/${name}`;

interface LinkRow {
  /** It has its own; bridges, veth pairs, VLANs and bond masters have none. */
  device: boolean;
  /** Its master has a device, too, and counts its traffic. */
  behind: boolean;
  /** It stands for a part of an adapter that counts its traffic. */
  represents: boolean;
  /** Undefined: not looked at. `stacked`: on others of this namespace, which count its traffic. */
  details?: Link & { stacked: boolean };
}

/** Names in a message. */
const MOST_TOLD = 8;

/** The interfaces that count, from tick to tick. */
export class CountedLinks {
  readonly #known = new KnownNames<LinkRow>();
  #physical = 0;
  #isFirst = true;
  /** In the last tick. */
  #read: readonly { name: string }[] = [];
  isWhole = false;

  constructor(
    private readonly sys: string,
    /** Hears of interfaces that are left out. */
    private readonly leftOut: (names: readonly string[]) => void = () => undefined,
  ) {}

  /**
   * Those that count among all interfaces; undefined if there are more new names than can be looked at in one tick, or
   * more with a device than a sender takes.
   *
   * @param counted those of which the slow side knows that they count
   * @param others those of which it knows that others count their traffic
   */
  among(
    all: readonly { name: string }[],
    counted: ReadonlyMap<string, unknown> = new Map(),
    others: ReadonlySet<string> = new Set(),
  ): Links | undefined {
    this.#look(all);
    if (!this.isWhole || this.isTooMany) return undefined;
    const links = new Map<string, Link>();
    const leftOut: string[] = [];
    for (const { name } of all) {
      const row = this.#known.rows.get(name);
      if (row?.details === undefined || !this.#mayCount(name, row)) continue;
      if (counted.has(name) || others.has(name)) row.represents = others.has(name);
      if (this.#physical > 0 ? row.behind || row.represents : row.details.stacked) leftOut.push(name);
      else links.set(name, row.details);
    }
    this.leftOut(leftOut);
    return links;
  }

  /** Looks again at those of these names that may be other interfaces. */
  identify(all: readonly { name: string }[], names: ReadonlySet<string>): void {
    const read = this.#read;
    for (let i = 0; i < all.length; i++) {
      const one = all[i] as { name: string };
      // Of thousands most have not moved.
      if (one === read[i] || !names.has(one.name) || !leaps(read[i], one)) continue;
      const row = this.#known.rows.get(one.name);
      if (row?.details) row.details = { ...row.details, ...identityOf(this.sys, one.name) };
    }
    this.#read = all;
  }

  /** Whether more have a device than a sender takes. */
  get isTooMany(): boolean {
    return this.#physical > constants.most.links;
  }

  /** Whether none has a device, but one whose line is not understood: virtual ones do not replace it. */
  get lacksDevice(): boolean {
    return this.#physical === 0 && namesIn(`${this.sys}/class/net`).some(name => hasDevice(this.sys, name));
  }

  #look(all: readonly { name: string }[]): void {
    const { rows } = this.#known;
    const due = this.#known.meet(all);
    for (const name of due) {
      const device = hasDevice(this.sys, name);
      const behind = device && isBehind(this.sys, name, all);
      rows.set(name, { device, behind, represents: rows.get(name)?.represents ?? false });
    }
    if (due.size === 0 && this.isWhole) return;
    const [had, hadAll] = [this.#physical, this.isWhole];
    this.#physical = 0;
    for (const { device } of rows.values()) if (device) this.#physical++;
    this.isWhole = this.#known.isWhole;
    // Nearly always only these have nothing yet.
    const lacking = hadAll && had > 0 === this.#physical > 0 ? due : rows.keys();
    // All of them, when the last one with a device has gone: not in one tick.
    let room = this.#isFirst ? Number.POSITIVE_INFINITY : MOST_LOOKS;
    this.#isFirst = false;
    for (const name of this.#physical > 0 || this.isWhole ? lacking : []) {
      const row = rows.get(name);
      if (row === undefined || row.details !== undefined || !this.#mayCount(name, row)) continue;
      if (room-- <= 0) {
        this.isWhole = false;
        break;
      }
      row.details = readDetails(this.sys, name, row.device);
    }
  }

  /** Nothing else is read about the others, of which a node with containers can have thousands. */
  #mayCount(name: string, { device }: LinkRow): boolean {
    return this.#physical > 0 ? device : name !== 'lo';
  }
}

function identityOf(sys: string, name: string): Required<Pick<Link, 'index' | 'id'>> {
  const leaf = (leaf: string) => readOnce(`${dirOf(sys, name)}/${leaf}`);
  const index = parseIndex(leaf('ifindex'));
  return { index, id: `${name} ${index} ${leaf('address') ?? ''}` };
}

function readDetails(sys: string, name: string, device: boolean): NonNullable<LinkRow['details']> {
  const leaf = (leaf: string) => readOnce(`${dirOf(sys, name)}/${leaf}`);
  return {
    stacked: !device && isStacked(sys, name),
    ...identityOf(sys, name),
    state: parseState(leaf('flags'), leaf('operstate')),
  };
}

/**
 * Whether its master has a device, too. In a copy of /sys, links may be empty folders: then the master is the one that
 * has this interface below it.
 */
function isBehind(sys: string, name: string, all: readonly { name: string }[]): boolean {
  const master = `${dirOf(sys, name)}/master`;
  if (existsSync(`${master}/device`)) return true;
  if (!existsSync(master) || !attempt(() => lstatSync(master).isDirectory())) return false;
  return all.some(
    other => existsSync(`${dirOf(sys, other.name)}/lower_${name}`) && existsSync(`${dirOf(sys, other.name)}/device`),
  );
}

/** Whether it stands on others of the same namespace, as bridges, bonds and VLANs do. */
export function isStacked(sys: string, name: string): boolean {
  return namesIn(dirOf(sys, name)).some(name => name.startsWith('lower_'));
}

const namesIn = (path: string) => attempt(() => readdirSync(path)) ?? [];

/** Complains of interfaces that are left out, when they change. */
export function leftOutTeller(tell: Tell | undefined): (names: readonly string[]) => void {
  let logged = '';
  return names => {
    const all = names.join('\n');
    if (all !== logged && names.length > 0)
      tell?.(`interfaces whose traffic others count are left out: ${few(names, MOST_TOLD)}`);
    logged = all;
  };
}

/** Those of `names` with a device. Others are those in the folder of virtual ones: one look in place of thousands. */
export function withDevice(sys: string, names: readonly string[]): string[] {
  const virtual = new Set(namesIn(`${sys}/devices/virtual/net`));
  return names.filter(name => !virtual.has(name) && hasDevice(sys, name));
}

/** The speed of an interface in Mbit/s, 0 if unknown. May wait for the kernel. */
export function readSpeed(sys: string, name: string): number {
  return parseSpeed(readOnce(`${dirOf(sys, name)}/speed`));
}

/** The port of an adapter's virtual function (VF) or subfunction (SF), as the kernel and drivers write it. */
const PART = /^(?:[cp]\d+)?pf\d+(?:vf|sf)\d+\n?$/;

/**
 * The interfaces with a device that stand for a part of an adapter, and whose traffic the adapter's own interface
 * counts. May wait for the kernel.
 */
export function readRepresentors(sys: string, names: readonly string[]): string[] {
  const ports = names.flatMap(name => {
    const adapter = readOnce(`${dirOf(sys, name)}/phys_switch_id`)?.trim() ?? '';
    if (adapter === '') return [];
    const isPart = PART.test(readOnce(`${dirOf(sys, name)}/phys_port_name`) ?? '');
    return [{ name, adapter, isPart, behind: existsSync(`${dirOf(sys, name)}/master/device`) }];
  });
  const adapters = new Set(ports.filter(({ isPart, behind }) => !isPart && !behind).map(({ adapter }) => adapter));
  return ports.filter(({ isPart, adapter }) => isPart && adapters.has(adapter)).map(({ name }) => name);
}
