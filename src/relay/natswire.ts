// What a NATS server sends to a client: bytes in, operations out. Pure. Keeps no more of what a server sends than the
// two limits here, whatever the server announces.

import { Buffer } from 'node:buffer';

/** The longest line. The longest that servers send is INFO, with the addresses of all servers of a cluster. */
export const MOST_LINE = 64 << 10;
/** The longest message. NATS advises to let no server have a max_payload of more. */
export const MOST_MESSAGE = 8 << 20;

/** What a server says about itself, as far as it matters. */
export interface Info {
  readonly nonce?: string | undefined;
  readonly maxPayload: number;
  readonly offersTls: boolean;
}

export type Operation =
  | { readonly op: 'INFO'; readonly info: Info }
  | {
      readonly op: 'MSG';
      readonly sid: number;
      readonly subject: string;
      readonly reply: string;
      readonly data: Buffer;
    }
  | { readonly op: '-ERR'; readonly why: string }
  | { readonly op: 'PING' | 'PONG' | '+OK' };

/** No server of NATS sends that, or it is too long. */
export class ProtocolError extends Error {}

function parseInfo(text: string): Info {
  let said: Record<string, unknown> | null = null;
  try {
    said = JSON.parse(text) as Record<string, unknown> | null;
  } catch {}
  if (typeof said !== 'object' || said === null) throw new ProtocolError('INFO is not an object in JSON');
  const { nonce, max_payload, tls_required, tls_available } = said;
  return {
    nonce: typeof nonce === 'string' ? nonce : undefined,
    maxPayload: typeof max_payload === 'number' ? max_payload : 0,
    offersTls: tls_required === true || tls_available === true,
  };
}

const MSG = /^MSG[ \t]+(\S+)[ \t]+(\d{1,9})[ \t]+(?:(\S+)[ \t]+)?(\d{1,12})$/i;
const OTHER = /^(INFO|-ERR|\+OK|PING|PONG)(?:[ \t]+(.*))?$/i;
const LF = 10;

/** A message whose bytes, with its line end, are coming. */
interface Coming {
  readonly sid: number;
  readonly subject: string;
  readonly reply: string;
  readonly bytes: Buffer;
  /** How many of the bytes are there. */
  has: number;
}

/** The stream of one connection. */
export class Parser {
  readonly #act: (operation: Operation) => void;
  /** The beginning of a line whose end has not come. */
  #line = Buffer.alloc(0);
  #coming: Coming | undefined;

  constructor(act: (operation: Operation) => void) {
    this.#act = act;
  }

  /** Whether nothing has come but whole operations. */
  get isBetween(): boolean {
    return this.#line.length === 0 && this.#coming === undefined;
  }

  /** Takes what has come. Throws a ProtocolError. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; )
      at = this.#coming === undefined ? this.#takeLine(chunk, at) : this.#takeBytes(this.#coming, chunk, at);
  }

  #takeLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(LF, at);
    const piece = chunk.subarray(at, end === -1 ? chunk.length : end);
    if (this.#line.length + piece.length > MOST_LINE) throw new ProtocolError(`a line of more than ${MOST_LINE} bytes`);
    const line = this.#line.length === 0 ? piece : Buffer.concat([this.#line, piece]);
    if (end === -1) {
      // A copy: what a socket reads into is used again.
      this.#line = Buffer.from(line);
      return chunk.length;
    }
    this.#line = Buffer.alloc(0);
    this.#onLine(line.toString('latin1').replace(/\r$/, ''));
    return end + 1;
  }

  #onLine(line: string): void {
    const [, subject, sid, reply = '', size] = MSG.exec(line) ?? [];
    if (subject !== undefined) {
      if (Number(size) > MOST_MESSAGE)
        throw new ProtocolError(`a message of ${size} bytes was announced; at most ${MOST_MESSAGE} are taken`);
      const bytes = Buffer.allocUnsafeSlow(Number(size) + 2);
      this.#coming = { sid: Number(sid), subject, reply, bytes, has: 0 };
      return;
    }
    const [, name = '', rest = ''] = OTHER.exec(line) ?? [];
    const op = name.toUpperCase();
    if (op === 'INFO') this.#act({ op, info: parseInfo(rest) });
    else if (op === '-ERR') this.#act({ op, why: rest.replace(/^'(.*)'$/, '$1') });
    else if (op === 'PING' || op === 'PONG' || op === '+OK') this.#act({ op });
    else throw new ProtocolError('this is not a server of NATS');
  }

  #takeBytes(coming: Coming, chunk: Buffer, at: number): number {
    const { bytes, has, ...message } = coming;
    const taken = chunk.copy(bytes, has, at);
    coming.has += taken;
    if (coming.has < bytes.length) return at + taken;
    this.#coming = undefined;
    if (bytes.at(-2) !== 13 || bytes.at(-1) !== LF) throw new ProtocolError('a message without an end');
    this.#act({ op: 'MSG', ...message, data: bytes.subarray(0, -2) });
    return at + taken;
  }
}
