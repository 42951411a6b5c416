// Key files: who may own them, and their contents. Refuses files that others can read. No message ever shows a key.

import { createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { InputError, inNamedFile, oneLine, whyUnreadable } from '../text/text.js';
import { DAEMON, findUser, RELAY, userName } from './users.js';

/** The contents of a line of a key file. */
export interface Key {
  id: number;
  /** The owner of the key: `cluster`, or the node of this name. */
  node: string | undefined;
  /** 32 bytes. */
  secret: Buffer;
}

const MOST_LINES = 2;
/** What a file may be: its size, what it is otherwise, and to whom it may be shown. */
interface KeyFileKind {
  readonly most: number;
  readonly wrong: string;
  /** The command that makes such a file, if one of ours does. */
  readonly maker?: string;
  /** A secret is for its owner alone, a key that is shown comes from one who is trusted, and the rest from anybody. */
  readonly is: 'secret' | 'shown' | 'open';
}
const madeBy = (maker: string): KeyFileKind => ({
  most: 4096,
  wrong: `is not a key file; ${maker} makes one`,
  maker,
  is: 'secret',
});
const KEY = madeBy('beoboard keygen');
const RELAY_KEY = madeBy('beoboard keygen --relay');
/** Creds hold a JWT, which may be long, and all authorities of a system have some 250 kB. */
const FOR_NATS: KeyFileKind = {
  most: 4 << 20,
  wrong: 'is not a file for NATS: it is not a plain file, or larger than 4 MiB',
  is: 'secret',
};

/** The lines of a key file, one or two; throws an InputError. The first key signs, all keys verify. */
export function parseKeys(text: string): Key[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  if (lines.length === 0)
    throw new InputError('holds no key; write "KEY_ID cluster HEX64" or "KEY_ID node NAME HEX64"');
  if (lines.length > MOST_LINES) throw new InputError(`holds more than ${MOST_LINES} keys; leave out the oldest`);
  const keys = lines.map((line, i) => {
    const match = /^(\d{1,5}) (?:cluster|node ([a-z0-9][a-z0-9._-]{0,62})) ([0-9a-fA-F]{64})$/.exec(line);
    const id = Number(match?.[1]);
    // Written so that a NaN from a line that did not match is refused, too. The message leaves out the line, which may
    // hold a secret.
    if (!(id < 65_536))
      throw new InputError(
        `line ${i + 1} is not "KEY_ID cluster HEX64" or "KEY_ID node NAME HEX64"; beoboard keygen makes such lines`,
      );
    return { id, node: match?.[2], secret: Buffer.from(match?.[3] ?? '', 'hex') };
  });
  if (keys[1]?.id === keys[0]?.id && keys.length > 1)
    throw new InputError('line 2 has the key id of line 1; give each key an id of its own');
  return keys;
}

/** The line of a key file with these contents. */
export function keyLine({ id, node, secret }: Key): string {
  return `${id} ${node === undefined ? 'cluster' : `node ${node}`} ${secret.toString('hex')}\n`;
}

/** A node's own key, derived from the cluster's key. */
export function nodeKey({ id, secret }: Key, node: string): Key {
  return { id, node, secret: createHmac('sha256', secret).update(node).digest() };
}

/** Whether a file of that user may be trusted: root's, our own, and for root, who starts daemons, theirs. */
function isTrusted(uid: number, also: number | undefined): boolean {
  const own = process.geteuid?.() ?? 0;
  return uid === 0 || uid === own || (own === 0 && (uid === also || uid === findUser(DAEMON)?.uid));
}

/** The command that lets us read the file. */
const chown = (path: string) => `run chown ${userName(process.geteuid?.() ?? 0)}: ${oneLine(path)}`;

const DENIED: readonly (string | undefined)[] = ['EACCES', 'EPERM'];

/** Opens a file, and returns what `parse` makes of its text. Throws an InputError that begins with the path. */
function readFile<T>(path: string, kind: KeyFileKind, parse: (text: string) => T, also?: number): T {
  const { most, wrong, maker, is } = kind;
  const read = () => {
    let fd: number;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch (error) {
      const isDenied = is !== 'open' && DENIED.includes((error as NodeJS.ErrnoException).code);
      const [key, made] = maker === undefined ? ['', ''] : ['key ', `; ${maker} makes one`];
      const advice = isDenied ? chown(path) : `name a ${key}file that this user can read${made}`;
      const wrong = new InputError(`${oneLine(path)}: cannot be read: ${whyUnreadable(error)}; ${advice}`);
      throw Object.assign(wrong, { isDenied });
    }
    try {
      const { mode, uid, size } = fstatSync(fd);
      if ((mode & constants.S_IFMT) !== constants.S_IFREG || size > most) throw new InputError(wrong);
      if (is !== 'open' && !isTrusted(uid, also)) {
        const error = new InputError(`belongs to user ${uid}; it must belong to this user or to root: ${chown(path)}`);
        throw Object.assign(error, { isDenied: true });
      }
      if (is === 'secret' && (mode & 0o077) !== 0)
        throw new InputError('can be read by others; run chmod 600, and replace the key if somebody may have read it');
      if (is === 'shown' && (mode & 0o022) !== 0)
        throw new InputError('can be written by others; run chmod 644, and check what is in it');
      return parse(readFileSync(fd, 'utf8'));
    } catch (error) {
      const isDenied = error instanceof InputError && error.isDenied;
      throw Object.assign(new InputError(`${oneLine(path)}: ${oneLine((error as Error).message)}`), { isDenied });
    } finally {
      closeSync(fd);
    }
  };
  return is === 'open' ? read() : inNamedFile('keys', read);
}

/**
 * The keys in a file that only its owner can read: root, ourselves, or as root the user of the daemons or `also`. Throws
 * an InputError that begins with the path.
 */
export const readKeys = (path: string, also?: number): Key[] => readFile(path, KEY, parseKeys, also);

/** What `parse` makes of a secret for NATS, which only its owner (root or ourselves) can read; throws likewise. */
export function readSecret<T>(path: string, parse: (text: string) => T): T {
  return readFile(path, FOR_NATS, parse, findUser(RELAY)?.uid);
}

/** Certificates, which may belong to anybody; throws likewise. */
export function readCertificates(path: string): string {
  return readFile(path, { ...FOR_NATS, is: 'open' }, text => text);
}

/** DER of an Ed25519 key before its 32 bytes: RFC 8410. */
const PRIVATE_DER = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_DER = Buffer.from('302a300506032b6570032100', 'hex');
const RELAY_LINE = /^(relay|relay-public) ([0-9a-fA-F]{64})\n?$/;

/** The lines of a relay's two key files, made from a seed of 32 random bytes: the secret one, and that for mirrors. */
export function relayKeyLines(seed: Buffer): { secret: string; shown: string } {
  const key = createPublicKey(
    createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: 'der', type: 'pkcs8' }),
  );
  const shown = key.export({ format: 'der', type: 'spki' }).subarray(PUBLIC_DER.length).toString('hex');
  return { secret: `relay ${seed.toString('hex')}\n`, shown: `relay-public ${shown}\n` };
}

function parseRelayKey(text: string, wanted: 'relay' | 'relay-public'): Buffer {
  const [, kind, hex = ''] = RELAY_LINE.exec(text) ?? [];
  if (kind === wanted) return Buffer.from(hex, 'hex');
  if (kind === undefined)
    throw new InputError(`is not one line "${wanted} HEX64"; beoboard keygen --relay makes such files`);
  throw new InputError(
    wanted === 'relay'
      ? 'is the public half; give the file without .pub'
      : 'is the secret half, which no mirror needs; give the file with .pub',
  );
}

/** The key with which a relay signs, in a file only its owner can read. Throws an InputError that names the path. */
export function readRelayKey(path: string): KeyObject {
  const seed = readFile(path, RELAY_KEY, text => parseRelayKey(text, 'relay'), findUser(RELAY)?.uid);
  return createPrivateKey({ key: Buffer.concat([PRIVATE_DER, seed]), format: 'der', type: 'pkcs8' });
}

/** The key by which a relay is verified; likewise, and nobody else may be able to write the file. */
export function readRelayPublicKey(path: string): KeyObject {
  const bytes = readFile(path, { ...RELAY_KEY, is: 'shown' }, text => parseRelayKey(text, 'relay-public'));
  return createPublicKey({ key: Buffer.concat([PUBLIC_DER, bytes]), format: 'der', type: 'spki' });
}

/** The cluster keys in a file; throws an InputError that begins with the path, also if the file holds a node's key. */
export function readClusterKeys(path: string, also?: number): Key[] {
  return inNamedFile('keys', () => {
    const keys = readKeys(path, also);
    const node = keys.findIndex(key => key.node !== undefined);
    if (node === -1) return keys;
    throw new InputError(
      `${oneLine(path)}: line ${node + 1} is the key of ${keys[node]?.node}; give the cluster key, from which the nodes' own are derived`,
    );
  });
}
