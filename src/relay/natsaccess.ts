// With which certificates and credentials a server is reached: from files, which are read for each connection, so that
// what is renewed counts from the next one on.

import { createPublicKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { keyOfSeed, publicBytes, readCertificates, readSecret } from '../common/keys.js';
import { InputError, oneLine } from '../common/text.js';

/** The options about servers and credentials. */
export interface AccessOptions {
  readonly nats: readonly string[];
  readonly natsCreds?: string | undefined;
  readonly natsNkey?: string | undefined;
  readonly natsLogin?: string | undefined;
  readonly natsCa?: string | undefined;
  readonly natsCert?: string | undefined;
  readonly natsCertKey?: string | undefined;
}

/** What the files say now. */
export interface Access {
  /** The fields about who we are in what we tell the server, which may have sent a nonce to sign. */
  readonly fields: (nonce: string | undefined) => Readonly<Record<string, string>>;
  readonly tls: SecureContextOptions;
  /** A user who asks for TLS never gets a connection without it: an impostor would get the password in plain text. */
  readonly wantsTls: boolean;
}

// ---- nkeys: Ed25519 keys, written in base 32 with two bytes before and a checksum behind them ----

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** The first byte of a seed, and of a user: its letter in base 32 is S, and U. */
const [SEED, USER] = [18 << 3, 20 << 3];

function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let [bits, held] = [0, 0];
  for (const letter of text) {
    const value = BASE32.indexOf(letter);
    if (value === -1) return Buffer.alloc(0);
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((held >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}

function toBase32(bytes: Buffer): string {
  let [text, bits, held] = ['', 0, 0];
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + BASE32[(held << (5 - bits)) & 31];
}

/** CRC-16/XMODEM. */
function checksum(bytes: Buffer): Buffer {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? (crc << 1) & 0xffff : ((crc << 1) & 0xffff) ^ 0x1021;
  }
  return Buffer.from([crc & 0xff, crc >> 8]);
}

/** The key of a user's seed, `SU…`. Throws an InputError. */
export function parseSeed(text: string): KeyObject {
  const whole = fromBase32(text);
  const [payload, sum] = [whole.subarray(0, -2), whole.subarray(-2)];
  const [first = 0, second = 0] = payload;
  const kind = ((first & 7) << 5) | (second >> 3);
  if (payload.length !== 34 || (first & 0xf8) !== SEED || kind !== USER || !checksum(payload).equals(sum))
    throw new InputError('holds no seed of an nkey for a user (SU…); nk -gen user makes one');
  return keyOfSeed(payload.subarray(2));
}

/** The public half of such a key, `U…`. */
export function publicNkey(key: KeyObject): string {
  const payload = Buffer.concat([Buffer.from([USER]), publicBytes(createPublicKey(key))]);
  return toBase32(Buffer.concat([payload, checksum(payload)]));
}

const signature = (key: KeyObject, nonce = '') => sign(null, Buffer.from(nonce), key).toString('base64url');

/** The two blocks of a creds file: a JWT, and a seed. Throws an InputError. */
export function parseCreds(text: string): { jwt: string; key: KeyObject } {
  const [jwt, seed] = [...text.matchAll(/^-{3,}[^\n]*-{3,}\s*\n([^\s-]\S*)\s*\n-{3,}/gm)].map(([, block]) => block);
  if (jwt === undefined || seed === undefined)
    throw new InputError('is not a creds file; nsc generate creds makes one');
  return { jwt, key: parseSeed(seed) };
}

/** What `parse` makes of a secret file; an InputError of it begins with the path. */
function ofSecret<T>(path: string, parse: (text: string) => T): T {
  const text = readSecret(path);
  try {
    return parse(text);
  } catch (error) {
    throw new InputError(`${oneLine(path)}: ${(error as Error).message}`);
  }
}

function parseLogin(text: string): { user: string; pass: string } {
  const [, user, pass] = /^([^:\n]*):(.*)$/.exec(text.trim()) ?? [];
  if (user === undefined || pass === undefined) throw new InputError('is not one line USER:PASSWORD; write it so');
  return { user, pass };
}

function fieldsOf({ natsCreds, natsNkey, natsLogin }: AccessOptions): Access['fields'] {
  if ([natsCreds, natsNkey, natsLogin].filter(path => path !== undefined).length > 1)
    throw new InputError('--nats-creds, --nats-nkey and --nats-login exclude each other; give one');
  if (natsCreds !== undefined) {
    const { jwt, key } = ofSecret(natsCreds, parseCreds);
    return nonce => ({ jwt, sig: signature(key, nonce) });
  }
  if (natsNkey !== undefined) {
    const key = ofSecret(natsNkey, text => parseSeed(text.trim()));
    return nonce => ({ nkey: publicNkey(key), sig: signature(key, nonce) });
  }
  const login = natsLogin === undefined ? {} : ofSecret(natsLogin, parseLogin);
  return () => login;
}

/** Reads the files. Throws an InputError. */
export function accessOf(options: AccessOptions): Access {
  const { nats, natsCa, natsCert, natsCertKey } = options;
  const fields = fieldsOf(options);
  if ((natsCert === undefined) !== (natsCertKey === undefined))
    throw new InputError('--nats-cert and --nats-cert-key belong together; give both');
  const tls = {
    ...(natsCa !== undefined && { ca: readCertificates(natsCa) }),
    ...(natsCert !== undefined && { cert: readCertificates(natsCert) }),
    ...(natsCertKey !== undefined && { key: readSecret(natsCertKey) }),
  };
  try {
    // An authority that cannot be read would only be left out.
    if (tls.ca !== undefined) new X509Certificate(tls.ca);
    createSecureContext(tls);
  } catch (error) {
    const names = [natsCa, natsCert, natsCertKey].filter(path => path !== undefined);
    throw new InputError(`${oneLine(names.join(', '))}: cannot be used: ${oneLine((error as Error).message)}`);
  }
  return {
    fields,
    tls,
    wantsTls: natsCa !== undefined || natsCert !== undefined || nats.some(url => url.startsWith('tls:')),
  };
}
