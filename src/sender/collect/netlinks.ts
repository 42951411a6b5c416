// /sys/class/net: which interfaces are physical, their order, speed and link. Does not read speeds while a report
// waits: the kernel takes its lock for all interfaces, and often asks the driver.

import { existsSync } from 'node:fs';
import { bits } from '../../layout/layout.gen.js';
import { readOnce } from '../kernelfile.js';
import { u64 } from './kerneltext.js';

export interface Link {
  /** Its place in the report's order; infinite if unknown. */
  index: number;
  /** Whether it has its own device; bridges, veth pairs, VLANs and bond masters have none. */
  physical: boolean;
  /** Bits of `net_state`. */
  state: number;
}

export type Links = ReadonlyMap<string, Link>;

const UP = 1 << bits.net_state.up;
const CARRIER = 1 << bits.net_state.carrier;

/** Mbit/s; 0 for unknown, for which the kernel writes -1, some drivers 2^32 - 1, and others return an error. */
export function parseSpeed(text: string | undefined): number {
  const speed = Number(u64(text?.trim()) ?? 0);
  return speed < 0xffffffff ? speed : 0;
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

const dirOf = (sys: string, name: string) => `${sys}/class/net/${name}`;

/**
 * The interfaces to report among `names`: the physical ones, or all except lo if none is physical. Nothing else is read
 * about the others, of which a node with containers can have hundreds.
 */
function reported(sys: string, names: readonly string[]): { names: readonly string[]; physical: boolean } {
  const physical = names.filter(name => existsSync(`${dirOf(sys, name)}/device`));
  return physical.length > 0
    ? { names: physical, physical: true }
    : { names: names.filter(name => name !== 'lo'), physical: false };
}

/** What /sys says about the interfaces to report among `names`. */
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

/** The speeds of the interfaces to report among `names`, in Mbit/s, 0 if unknown. May wait for the kernel. */
export function readSpeeds(sys: string, names: readonly string[]): { mbps: Map<string, number>; physical: boolean } {
  const { names: wanted, physical } = reported(sys, names);
  return {
    mbps: new Map(wanted.map(name => [name, parseSpeed(readOnce(`${dirOf(sys, name)}/speed`))])),
    physical,
  };
}
