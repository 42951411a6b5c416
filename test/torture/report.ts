// Reports with a checksum of themselves, so that every reader can check whether one is whole. The checksum is in the
// place of the tag, which a receiver without keys ignores.

import { REPORT_BYTES } from '../../src/layout/codec.js';
import { enums, structs } from '../../src/layout/layout.gen.js';
import { makeReport } from '../kit/reports.js';

const { tag, auth_alg } = structs.report.fields;

/** FNV-1a, 32 bits. */
function checksum(report: Uint8Array): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < tag.offset; i++) h = Math.imul(h ^ (report[i] as number), 0x01000193);
  return h >>> 0;
}

const sumOf = (report: Uint8Array) => new DataView(report.buffer, report.byteOffset + tag.offset, 4);

/** A report as `makeReport` makes it, with its checksum. */
export function makeSummed(values: Parameters<typeof makeReport>[0]): Uint8Array {
  const report = makeReport({ ...values, auth_alg: enums.auth_alg.indexOf('cluster'), key_id: 1 });
  sumOf(report).setUint32(0, checksum(report), true);
  return report;
}

/** Whether a report matches its checksum; a report without one counts as whole. */
export function isWhole(report: Uint8Array): boolean {
  if (report.length !== REPORT_BYTES) return false;
  return report[auth_alg.offset] === 0 || sumOf(report).getUint32(0, true) === checksum(report);
}
