// What a NATS server sends, measured before the library keeps it: the library keeps what a server announces, however
// long it is. Only what servers of NATS send is let through, as strictly as it is needed for the library's parser to see
// the same beginnings and ends, and never to fail: then it would print what was sent, and read no further. Pure.

import type { Buffer } from 'node:buffer';
import { isObject, jsonOf } from '../text/shape.js';

/** The longest line. The longest that servers send is INFO, with the addresses of all servers of a cluster. */
export const MOST_LINE = 64 << 10;
/** The longest message. NATS advises to let no server have a max_payload of more. */
export const MOST_MESSAGE = 8 << 20;

/** No server of NATS sends that, or it is too long. */
export class ProtocolError extends Error {
  constructor(why = 'this is not a server of NATS') {
    super(why);
  }
}

const MSG = /^MSG[ \t]+[^ \t\r]+[ \t]+\d{1,9}[ \t]+(?:[^ \t\r]+[ \t]+)?(\d{1,12})$/i;
/** With headers, whose size comes before that of all. */
const HMSG = /^HMSG[ \t]+[^ \t\r]+[ \t]+\d{1,9}[ \t]+(?:[^ \t\r]+[ \t]+)?(\d{1,12})[ \t]+(\d{1,12})$/i;
const OTHER = /^(?:INFO[ \t]+([^ \t\r][^\r]*)|-ERR[ \t]+[^ \t\r][^\r]*|\+OK|PING|PONG)$/i;
/** With what a line begins: the parser fails at the first wrong letter. */
const BEGINNINGS = ['MSG ', 'HMSG ', 'INFO ', '-ERR ', '+OK', 'PING', 'PONG'];
const [CR, LF] = [13, 10];

/** The stream of one connection. */
export class Meter {
  readonly #act: (line: string) => void;
  /** The beginning of a line whose end has not come. */
  #line = '';
  /** How many bytes of a message are to come, with its line end. */
  #coming = 0;

  /** `act` is called with each line; messages follow theirs. */
  constructor(act: (line: string) => void = () => undefined) {
    this.#act = act;
  }

  /** Whether all that has come is whole. */
  get isBetween(): boolean {
    return this.#line === '' && this.#coming === 0;
  }

  /** Measures what has come. Throws a ProtocolError. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#coming > 2) {
        const taken = Math.min(this.#coming - 2, chunk.length - at);
        this.#coming -= taken;
        at += taken;
      } else if (this.#coming > 0) {
        if (chunk[at++] !== (this.#coming-- === 2 ? CR : LF)) throw new ProtocolError('a message without an end');
      } else {
        const end = chunk.indexOf(LF, at);
        const piece = chunk.toString('latin1', at, end === -1 ? chunk.length : end);
        if (this.#line.length + piece.length > MOST_LINE)
          throw new ProtocolError(`a line of more than ${MOST_LINE} bytes`);
        this.#line += piece;
        if (end === -1) {
          const start = this.#line.slice(0, 5).toUpperCase().replace('\t', ' ');
          if (!BEGINNINGS.some(known => known.startsWith(start) || start.startsWith(known))) throw new ProtocolError();
          return;
        }
        at = end + 1;
        const line = this.#line.replace(/\r$/, '');
        this.#line = '';
        this.#onLine(line);
      }
    }
  }

  #onLine(line: string): void {
    const [, headers = '0', all] = HMSG.exec(line) ?? [];
    const size = all ?? MSG.exec(line)?.[1];
    if (size !== undefined) {
      if (Number(size) > MOST_MESSAGE)
        throw new ProtocolError(`a message of ${size} bytes was announced; at most ${MOST_MESSAGE} are taken`);
      if (Number(headers) > Number(size)) throw new ProtocolError();
      this.#coming = Number(size) + 2;
    } else {
      const other = OTHER.exec(line);
      if (other === null) throw new ProtocolError();
      if (other[1] !== undefined && !isObject(jsonOf(other[1])))
        throw new ProtocolError('INFO is not an object in JSON');
    }
    this.#act(line);
  }
}
