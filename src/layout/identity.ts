// The id of a cluster in reports. Pure.

import { createHash } from 'node:crypto';

/** The number by which reports name their cluster: first 4 bytes of SHA-256(name), little-endian; 0 without a name. */
export function clusterId(name: string | undefined): number {
  if (name === undefined || name === '') return 0;
  // A sender calls this for each report.
  if (name !== known.name) known = { name, id: createHash('sha256').update(name).digest().readUInt32LE(0) };
  return known.id;
}

let known = { name: '', id: 0 };
