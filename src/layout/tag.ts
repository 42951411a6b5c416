// The signature (`tag`) of a report: HMAC-SHA-256, truncated, over all bytes before it.

import { createHmac } from 'node:crypto';
import { structs } from './layout.gen.js';

const { tag } = structs.report.fields;
const TAG_BYTES = structs.report.bytes - tag.offset;

/** Writes the signature of a report that is otherwise complete, including `auth_alg` and `key_id`. */
export function sign(report: Uint8Array, { secret }: { secret: Uint8Array }): void {
  const mac = createHmac('sha256', secret).update(report.subarray(0, tag.offset)).digest();
  report.set(mac.subarray(0, TAG_BYTES), tag.offset);
}
