// The key that signs this node's reports.

import { createHmac } from 'node:crypto';
import { type Key, readKeys } from '../common/keys.js';
import { InputError, oneLine } from '../common/text.js';
import { structs } from '../layout/layout.gen.js';

const { tag } = structs.report.fields;
const TAG_BYTES = structs.report.bytes - tag.offset;

/** The key with which a node of this name signs; throws an InputError when it is another node's. */
export function readSigningKey(path: string, name: string): Key {
  const [key] = readKeys(path) as [Key];
  if (key.node !== undefined && key.node !== name)
    throw new InputError(`${oneLine(path)}: is the key of ${key.node}, and this node is ${name}`);
  return key;
}

/** Writes the tag over all that stands before it. */
export function sign(report: Uint8Array, { secret }: Key): void {
  const mac = createHmac('sha256', secret).update(report.subarray(0, tag.offset)).digest();
  report.set(mac.subarray(0, TAG_BYTES), tag.offset);
}
