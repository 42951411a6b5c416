// When to report: points of a grid over the clock, shifted by the node's name so that the reports of a cluster are
// spread over the interval. Pure.

import { createHash } from 'node:crypto';

/** The shift of a node within the interval, ns: a hash of its name, so that it is the same after every restart. */
export function phase(name: string, intervalNs: bigint): bigint {
  return createHash('sha256').update(name).digest().readBigUInt64LE(0) % intervalNs;
}

/** The first point of the grid after `nowNs`. */
export function nextTick(nowNs: bigint, intervalNs: bigint, phaseNs: bigint): bigint {
  const since = nowNs >= phaseNs ? (nowNs - phaseNs) / intervalNs : -1n;
  return phaseNs + (since + 1n) * intervalNs;
}
