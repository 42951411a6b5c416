// The key that signs reports. Refuses files that others can read, and to show a key in any message.

import { createHmac } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { InputError, oneLine } from '../common/text.js';
import { structs } from '../layout/layout.gen.js';

/** What a line of a key file says. */
export interface Key {
  id: number;
  /** Whose: `cluster`, or the node of this name. */
  node: string | undefined;
  /** 32 bytes. */
  secret: Buffer;
}

const MOST_LINES = 2;
const MOST_BYTES = 4096;
const { tag } = structs.report.fields;
const TAG_BYTES = structs.report.bytes - tag.offset;

/** Its lines, one or two; throws an InputError. The first signs, all verify. */
export function parseKeys(text: string): Key[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (lines.length === 0)
    throw new InputError('holds no key; write "KEY_ID cluster HEX64" or "KEY_ID node NAME HEX64"');
  if (lines.length > MOST_LINES) throw new InputError(`holds more than ${MOST_LINES} keys`);
  return lines.map((line, i) => {
    const match = /^(\d{1,5}) (?:cluster|node ([a-z0-9][a-z0-9._-]{0,62})) ([0-9a-fA-F]{64})$/.exec(line);
    const id = Number(match?.[1]);
    // Written so that the NaN of a line that did not match is refused, too. The line itself may hold a secret.
    if (!(id < 65_536)) throw new InputError(`line ${i + 1} is not "KEY_ID cluster HEX64" or "KEY_ID node NAME HEX64"`);
    return { id, node: match?.[2], secret: Buffer.from(match?.[3] ?? '', 'hex') };
  });
}

/** The keys in a file that only its owner, root or ourselves, can read. Throws an InputError that begins with the path. */
export function readKeys(path: string): Key[] {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (error) {
    throw new InputError(`${oneLine(path)}: ${(error as NodeJS.ErrnoException).code}: cannot be read`);
  }
  try {
    const { mode, uid, size } = fstatSync(fd);
    if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > MOST_BYTES) throw new InputError('is no key file');
    if (uid !== 0 && uid !== process.geteuid?.()) throw new InputError(`belongs to user ${uid}; give it to this user`);
    if ((mode & 0o077) !== 0) throw new InputError('can be read by others; chmod 600 it, and make a new key');
    return parseKeys(readFileSync(fd, 'latin1'));
  } catch (error) {
    throw new InputError(`${oneLine(path)}: ${oneLine((error as Error).message)}`);
  } finally {
    closeSync(fd);
  }
}

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
