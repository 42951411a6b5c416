// Which requests are valid HTTP (RFC 9112), and what for: the checks that the parser below does not make, and the
// statuses for those that it does.

import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '../text/errorcodes.js';

/** The longest target, and all headers together, bytes: RFC 9112, 3, asks for 8,000 for the request line. */
const MOST_TARGET = 8000;
const MOST_HEADERS = 8192;
/** The most that the parser takes. */
export const MOST_HEAD = MOST_TARGET + MOST_HEADERS;
const MOST_HEADER_LINES = 100;

const LONG_TARGET = 'the address is too long; ask for less at once';
const OTHER_VERSION = 'only HTTP/1.1 and HTTP/1.0 are served here';
const LONG_HEADERS = 'the headers are too long, or too many';

/** A request that is not served: the code, and a sentence that says why. */
export class Refusal extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    /** Whether nothing that follows on the connection can be trusted to be a request. */
    readonly closes = false,
  ) {
    super(message);
  }
}

interface Target {
  /** The host, perhaps with a port; empty: none. */
  readonly host: string;
  /** Begins with a slash. What need not be percent-encoded is not. */
  readonly path: string;
  readonly search: string;
}

/** A host and a port; a zone may stand behind an IPv6 address. */
const AUTHORITY = /^(?:\[[\w:.%~-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/;

/** Returns the target of a valid request. Throws a Refusal for others. */
export function targetOf({ method, url = '', httpVersion, headers, rawHeaders }: IncomingMessage): Target {
  if (!httpVersion.startsWith('1.')) throw new Refusal('other_version', OTHER_VERSION, true);
  const coding = headers['transfer-encoding']?.toLowerCase();
  // Where a body ends that has another coding is not known, nor what a proxy of HTTP/1.0, which knows none, took it for.
  if (coding !== undefined && (coding !== 'chunked' || httpVersion === '1.0'))
    throw new Refusal('invalid_request', 'no Transfer-Encoding is taken but chunked, and none with HTTP/1.0', true);
  if (url.length > MOST_TARGET) throw new Refusal('target_too_long', LONG_TARGET, true);
  if (rawHeaders.length > 2 * MOST_HEADER_LINES || rawHeaders.join('::').length > MOST_HEADERS)
    throw new Refusal('headers_too_large', LONG_HEADERS, true);
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    throw new Refusal('expectation_failed', 'nothing but 100-continue can be expected here', true);
  if (method !== 'GET' && method !== 'HEAD')
    throw new Refusal('method_not_allowed', `${method} is not served here; use GET or HEAD`);
  const hosts = rawHeaders.filter((_, i) => rawHeaders[i - (i % 2)]?.toLowerCase() === 'host' && i % 2 === 1);
  // Which of two a proxy has checked is not known.
  if (hosts.length > 1) throw new Refusal('invalid_request', 'the request has several Host headers; send one');
  if (hosts.length === 0 && httpVersion !== '1.0')
    throw new Refusal('invalid_request', 'the request has no Host header; send one');
  const [named = ''] = hosts;
  if (!AUTHORITY.test(named)) throw new Refusal('invalid_request', 'the Host header is no host and port');
  const [, authority, rest] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [undefined, undefined, url];
  if (authority !== undefined && (!AUTHORITY.test(authority) || /^(?::|$)/.test(authority)))
    throw new Refusal('invalid_request', 'the address has no host and port');
  const whole = authority === undefined || rest.startsWith('/') ? rest : `/${rest}`;
  const [, path, search = ''] = /^(\/[^?#]*)(?:\?([^#]*))?$/.exec(whole) ?? [];
  if (path === undefined) throw new Refusal('invalid_request', 'the request is for no path of this server');
  if (/%(?![0-9a-f]{2})/i.test(path))
    throw new Refusal('invalid_request', 'the path has a % that encodes nothing; write %25');
  const plain = path.replace(/%[0-9a-f]{2}/gi, code => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code;
  });
  return { host: authority ?? named, path: plain, search };
}

/** An error of the parser: what it read last, and how far it came. */
export type ParserError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer; readonly bytesParsed?: number };

/**
 * The answer to what the parser could not take; the connection cannot go on after it. `hasLine`: the packets before had the
 * first line of what was begun.
 */
export function refusalOf({ code, rawPacket, bytesParsed = 0 }: ParserError, hasLine: boolean): Refusal {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Refusal('request_timeout', 'the request did not come to its end in time', true);
    case 'HPE_HEADER_OVERFLOW': {
      const heads = rawPacket?.toString('latin1', 0, bytesParsed).split('\r\n\r\n') ?? [];
      return (hasLine && heads.length < 2) || heads.at(-1)?.includes('\n')
        ? new Refusal('headers_too_large', LONG_HEADERS, true)
        : new Refusal('target_too_long', LONG_TARGET, true);
    }
    case 'HPE_PAUSED_H2_UPGRADE':
      return new Refusal('other_version', OTHER_VERSION, true);
  }
  return new Refusal('invalid_request', 'this is not a valid HTTP request', true);
}
