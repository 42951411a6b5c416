// /sys/class/net: which interfaces are physical, their order, speed and link. Refuses to ask for speeds where a report
// waits: the answer takes the kernel's lock of all interfaces, and often a question to the driver.

import { existsSync } from 'node:fs';
import { bits } from '../../layout/layout.gen.js';
import { readOnce } from '../kernelfile.js';
import { u64 } from './kerneltext.js';

export interface Link {
  /** The place in the report's order; infinite when not known. */
  index: number;
  /** Has a device of its own; bridges, veth pairs, VLANs and bond masters have none. */
  physical: boolean;
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

/**
 * Bits of `net_state` from the texts of `flags` (hexadecimal, bit 0 is IFF_UP) and `operstate`, which drivers that do not
 * tell leave at unknown. Not `carrier`: new kernels take the lock of all interfaces for it.
 */
export function parseState(flags: string | undefined, operstate: string | undefined): number {
  const up = /^0x[0-9a-f]{0,8}[13579bdf]\n?$/i.test(flags ?? '') ? UP : 0;
  return up | (up !== 0 && /^(?:up|unknown)\n?$/.test(operstate ?? '') ? CARRIER : 0);
}

export function parseIndex(text: string | undefined): number {
  return Number(u64(text?.trim()) ?? Number.POSITIVE_INFINITY);
}

const dirOf = (sys: string, name: string) => `${sys}/class/net/${name}`;

/**
 * Those of `names` that will be reported: the physical ones, or where there is none all but lo. Of the others, of which
 * a node with containers can have hundreds, nothing else is asked.
 */
function reported(sys: string, names: readonly string[]): { names: readonly string[]; physical: boolean } {
  const physical = names.filter(name => existsSync(`${dirOf(sys, name)}/device`));
  return physical.length > 0
    ? { names: physical, physical: true }
    : { names: names.filter(name => name !== 'lo'), physical: false };
}

/** What /sys says of those of `names` that will be reported. */
export function readLinks(sys: string, names: readonly string[]): Links {
  const { names: wanted, physical } = reported(sys, names);
  return new Map(
    wanted.map(name => {
      const leaf = (leaf: string) => readOnce(`${dirOf(sys, name)}/${leaf}`);
      return [
        name,
        { index: parseIndex(leaf('ifindex')), physical, state: parseState(leaf('flags'), leaf('operstate')) },
      ];
    }),
  );
}

/** Speeds of those of `names` that would be reported, in Mbit/s, 0 where it is not known. May wait for the kernel. */
export function readSpeeds(sys: string, names: readonly string[]): { mbps: Map<string, number>; physical: boolean } {
  const { names: wanted, physical } = reported(sys, names);
  return {
    mbps: new Map(wanted.map(name => [name, parseSpeed(readOnce(`${dirOf(sys, name)}/speed`))])),
    physical,
  };
}
