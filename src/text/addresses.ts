// Reads and writes ADDR[:PORT]. Does not resolve names: a name stays a name.

import { isIPv4, isIPv6 } from 'node:net';
import { InputError, lowerCase, quote } from './text.js';

const DEFAULT_PORT = 8677;

/** `host` is an IPv4 address, an IPv6 address without brackets, or a name; `port` is 0 to 65535. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

const FORMS = 'write ADDR, ADDR:PORT or [V6]:PORT';

function parsePort(digits: string, text: string): number {
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InputError(`port ${quote(digits)} of ${quote(text)} is not a port; write 0 to 65535`);
}

function checkHost(host: string, text: string): string {
  // Resolvers read 9000 as 0.0.35.40 and 10.1 as 10.0.0.1, which nobody means.
  if (/^\d+$/.test(host)) {
    throw new InputError(`${quote(text)} has no address; write ADDR:${host.slice(0, 5)}`);
  }
  if (/^[\d.]+$/.test(host) && !isIPv4(host)) {
    throw new InputError(`${quote(host)} is not an IPv4 address; write four numbers of 0 to 255, as in 10.0.0.1`);
  }
  if (host.length > 253 || !/^\w[\w-]{0,62}(\.\w[\w-]{0,62})*\.?$/.test(host)) {
    throw new InputError(`${quote(text)} is not an address; ${FORMS}`);
  }
  return host;
}

/**
 * Reads `10.0.0.1`, `10.0.0.1:9000`, `name:9000`, `[v6]:port`, `[v6]` or an IPv6 address without brackets, which cannot
 * have a port. Throws an InputError.
 */
export function parseAddress(text: string, defaultPort = DEFAULT_PORT): Address {
  if (isIPv6(text)) return { host: text, port: defaultPort };
  if (text.includes(',')) throw new InputError(`${quote(text)} are several; write the option once for each`);
  const bracketed = /^\[(.*)\](?::(.*))?$/s.exec(text);
  if (bracketed) {
    const [, host = '', port] = bracketed;
    if (!isIPv6(host)) throw new InputError(`${quote(host)} in brackets is not an IPv6 address; ${FORMS}`);
    return { host, port: port === undefined ? defaultPort : parsePort(port, text) };
  }
  const [host = '', port, ...more] = text.split(':');
  if (text === '' || more.length > 0 || port?.startsWith('//'))
    throw new InputError(`${quote(text)} is not an address; ${FORMS}`);
  if (host === '')
    throw new InputError(
      `${quote(text)} has no address before the port; write ADDR:PORT; 0.0.0.0:PORT listens on every interface`,
    );
  return { host: checkHost(host, text), port: port === undefined ? defaultPort : parsePort(port, text) };
}

/** Whether a peer with this address, as a socket reports it, is on this machine for certain. */
export const isLoopback = (host: string) => /^(127\.|::1$|::ffff:127\.)/.test(host);

/**
 * A host's name or address in the one form in which it is compared: lower case, IPv6 in its shortest form and without
 * its zone, which names an interface of the machine that says it; IPv4 also where it comes to an IPv6 socket.
 */
export function plainName(host: string): string {
  const name = lowerCase(host).replace(/^([\da-f:.]+)%.*$/, '$1');
  const old = /^::ffff:([\d.]+)$/.exec(name)?.[1];
  if (old !== undefined && isIPv4(old)) return old;
  return isIPv6(name) ? new URL(`http://[${name}]/`).hostname.slice(1, -1) : name;
}

/** The address in the form that parseAddress reads, always with its port, IPv6 in brackets. */
export function formatAddress({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The eight groups of an IPv6 address in its shortest form. */
export function groupsOf(plain: string): string[] {
  const [first = [], last] = plain.split('::').map(part => (part === '' ? [] : part.split(':')));
  return last === undefined ? first : [...first, ...Array(8 - first.length - last.length).fill('0'), ...last];
}

/** All addresses with the same leading bits; for a single address all bits count. */
export interface Network {
  readonly host: string;
  readonly bits: number;
}

/** Reads `10.0.0.1`, `10.0.0.0/8`, `fd00::1` or `fd00::/8`. Throws an InputError. */
export function parseNetwork(text: string): Network {
  const [host = '', digits, ...more] = text.split('/');
  const most = isIPv4(host) ? 32 : isIPv6(host) ? 128 : undefined;
  if (most === undefined || more.length > 0)
    throw new InputError(`${quote(text)} is not an address; write one as 10.0.0.1 or fd00::1, a network as 10.0.0.0/8`);
  const bits = digits === undefined ? most : /^\d{1,3}$/.test(digits) ? Number(digits) : Number.NaN;
  if (bits <= most) return { host, bits };
  throw new InputError(`${quote(text)} is not a network; write 0 to ${most} bits after the /`);
}

/** The same, of some hosts, and without a bit behind its last: whoever mistypes one would mean all of them. */
export function parseHosts(text: string): Network {
  const { host, bits } = parseNetwork(text);
  const plain = plainName(host);
  if (isIPv6(plain) !== isIPv6(host) || host.includes('%'))
    throw new InputError(`${quote(text)} is not in its plain form; write ${plain}`);
  if (bits < 8) throw new InputError(`${quote(text)} is nearly every address; write 8 bits or more after the /`);
  const [parts, base, width] = isIPv4(host) ? [host.split('.'), 10, 8] : [groupsOf(plain), 16, 16];
  const digits = parts.map(part => Number.parseInt(part, base).toString(2).padStart(width, '0')).join('');
  if (!digits.includes('1', bits)) return { host, bits };
  throw new InputError(`${quote(text)} has bits behind its first ${bits}; write the network's first address`);
}
