// /sys/class/net: which interfaces are physical, their order, speed and link. Refuses to be asked every second: the
// speed costs a lock and a question to the driver.

import { existsSync } from 'node:fs';
import { bits } from '../../layout/layout.gen.js';
import { readOnce } from '../kernelfile.js';
import { u64 } from './text.js';

export interface Link {
  /** The place in the report's order; infinite when not known. */
  index: number;
  /** Has a device of its own; bridges, veth pairs, VLANs and bond masters have none. */
  physical: boolean;
  /** Mbit/s; 0: not known. */
  mbps: number;
  /** Bits of `net_state`. */
  state: number;
}

export type Links = ReadonlyMap<string, Link>;

const UP = 1 << bits.net_state.up;
const CARRIER = 1 << bits.net_state.carrier;

/** Mbit/s; 0 for "not known", which the kernel writes as -1, some drivers as 2^32 - 1, others as an error. */
export function parseSpeed(text: string | undefined): number {
  const speed = Number(u64(text?.trim()) ?? 0);
  return speed < 0xffffffff ? speed : 0;
}

/** Bits of `net_state` from the texts of `flags` (hexadecimal, bit 0 is IFF_UP) and `carrier` (unreadable when down). */
export function parseState(flags: string | undefined, carrier: string | undefined): number {
  const up = /^0x[0-9a-f]{0,8}[13579bdf]\n?$/i.test(flags ?? '') ? UP : 0;
  return up | (carrier?.trim() === '1' ? CARRIER : 0);
}

export function parseIndex(text: string | undefined): number {
  return Number(u64(text?.trim()) ?? Number.POSITIVE_INFINITY);
}

function readLink(dir: string, physical: boolean): Link {
  const leaf = (name: string) => readOnce(`${dir}/${name}`);
  const state = parseState(leaf('flags'), leaf('carrier'));
  return { index: parseIndex(leaf('ifindex')), physical, mbps: parseSpeed(leaf('speed')), state };
}

/**
 * What /sys says of the interfaces that will be reported: the physical ones of `names`, or where there is none all but
 * lo. The others, of which a node with containers can have hundreds, are only asked whether they have a device.
 */
export function readLinks(sys: string, names: readonly string[]): Links {
  const dir = (name: string) => `${sys}/class/net/${name}`;
  const physical = names.filter(name => existsSync(`${dir(name)}/device`));
  const wanted = physical.length > 0 ? physical : names.filter(name => name !== 'lo');
  return new Map(wanted.map(name => [name, readLink(dir(name), physical.length > 0)]));
}
