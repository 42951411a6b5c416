// With which certificates and credentials a server is reached: from files, which are read for each connection, so that
// what is renewed counts from the next one on.

import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { type ConnectionOptions, checkServerIdentity, createSecureContext } from 'node:tls';
import {
  type Authenticator,
  jwtAuthenticator,
  nkeyAuthenticator,
  nkeys,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { readCertificates, readSecret } from '../options/keys.js';
import { attempt } from '../text/failure.js';
import { InputError, oneLine } from '../text/text.js';

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

/** What the files say now, as options of the library. */
interface Access {
  readonly authenticator?: Authenticator;
  /** With it there is no connection without TLS: an impostor would get the password in plain text. */
  readonly tls?: object;
}

const encoder = new TextEncoder();

/** A user's seed. Throws an InputError. */
function seedOf(text: string): Uint8Array {
  const seed = encoder.encode(text);
  if (/^SU[A-Z2-7]{56}$/.test(text) && attempt(() => nkeys.fromSeed(seed))) return seed;
  throw new InputError('holds no seed of an nkey for a user (SU…); nk -gen user makes one');
}

/** The text of an nkey's file. Throws an InputError. */
export function parseNkey(text: string): Authenticator {
  return nkeyAuthenticator(seedOf(text.trim()));
}

/** The two blocks of a creds file: a JWT, and a seed. Throws an InputError. The library's takes forever for dashes. */
export function parseCreds(text: string): Authenticator {
  const [jwt, seed] = [...text.matchAll(/^---.*\n(\S+)\s*\n---/gm)].map(([, block]) => block);
  if (jwt === undefined || seed === undefined)
    throw new InputError('is not a creds file; nsc generate creds makes one');
  return jwtAuthenticator(jwt, seedOf(seed));
}

/** The line of a login's file: a password is all up to its end, blanks as well. Throws an InputError. */
export function parseLogin(text: string): Authenticator {
  const [, user, password] = /^\ufeff?([^:\r\n]*):([^\r\n]*)[\r\n]*$/.exec(text) ?? [];
  if (user === undefined || password === undefined) throw new InputError('is not one line USER:PASSWORD; write it so');
  if (text.includes('\ufffd')) throw new InputError('is not text in UTF-8, as NATS has passwords; write it so');
  return usernamePasswordAuthenticator(user, password);
}

function tlsOf({ nats, natsCa, natsCert, natsCertKey }: AccessOptions): ConnectionOptions | undefined {
  if ((natsCert === undefined) !== (natsCertKey === undefined))
    throw new InputError('--nats-cert and --nats-cert-key belong together; give both');
  if (natsCa === undefined && natsCert === undefined && !nats.some(url => url.startsWith('tls:'))) return undefined;
  const tls = {
    ...(natsCa !== undefined && { ca: readCertificates(natsCa) }),
    ...(natsCert !== undefined && { cert: readCertificates(natsCert) }),
    ...(natsCertKey !== undefined && { key: readSecret(natsCertKey, text => text) }),
  };
  try {
    // An authority that cannot be read would only be left out.
    if (tls.ca !== undefined) new X509Certificate(tls.ca);
    createSecureContext(tls);
  } catch (error) {
    const names = [natsCa, natsCert, natsCertKey].filter(path => path !== undefined);
    throw new InputError(`${oneLine(names.join(', '))}: cannot be used: ${oneLine((error as Error).message)}`);
  }
  return tls;
}

/** Reads the files, for the server with this URL. Throws an InputError. */
export function accessOf(options: AccessOptions, url = ''): Access {
  const { natsCreds, natsNkey, natsLogin } = options;
  const kinds = [
    { path: natsCreds, parse: parseCreds },
    { path: natsNkey, parse: parseNkey },
    { path: natsLogin, parse: parseLogin },
  ].filter(({ path }) => path !== undefined);
  if (kinds.length > 1) throw new InputError('--nats-creds, --nats-nkey and --nats-login exclude each other; give one');
  const tls = tlsOf(options);
  const [kind] = kinds;
  // The library gives TLS no name for an address, and Node would check "localhost" then.
  const host = url.replace(/^\w+:\/\/|:\d+$|[[\]]/g, '');
  if (tls !== undefined && isIP(host) !== 0) tls.checkServerIdentity = (_, shown) => checkServerIdentity(host, shown);
  return {
    ...(kind?.path !== undefined && { authenticator: readSecret(kind.path, kind.parse) }),
    ...(tls !== undefined && { tls }),
  };
}
