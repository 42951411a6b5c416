// Reports made by hand, and the rates between two of them. No test of its own.

import { type Encodable, encode, REPORT_BYTES } from '../../src/layout/codec.js';
import { clusterId } from '../../src/layout/identity.js';
import { constants } from '../../src/layout/layout.gen.js';
import { type Rates, rates } from '../../src/shm/rates.js';

/** A report that a receiver accepts, with the given values. */
export function makeReport(values: Encodable<'report'> = {}, cluster = ''): Uint8Array {
  const bytes = new Uint8Array(REPORT_BYTES);
  encode('report', new DataView(bytes.buffer), 0, {
    magic: constants.stat.magic,
    version: constants.stat.version,
    length: REPORT_BYTES,
    cluster_id: clusterId(cluster),
    boot_id: 1n,
    interval_ms: 1000,
    t_real_ns: 1_700_000_000_000_000_000n,
    t_boot_ns: 100_000_000_000n,
    start_boot_ns: 50_000_000_000n,
    hostname: 'node1',
    ...values,
  });
  return bytes;
}

/** The rates between two reports, each in its own bytes. */
export function ratesOf(before: Uint8Array | undefined, after: Uint8Array | undefined): Rates | undefined {
  const both = new Uint8Array(2 * REPORT_BYTES);
  if (before !== undefined) both.set(before);
  if (after !== undefined) both.set(after, REPORT_BYTES);
  return rates(new DataView(both.buffer), before && 0, after && REPORT_BYTES);
}
