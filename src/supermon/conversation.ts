// Parses the commands of clients word by word, and sends answers as fast as they read, with limits on clients, words
// and times. Connections stay open for further commands.

import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Address } from '../common/addresses.js';
import { listenAt } from '../common/listening.js';

/** Clients at once. With one more, the client that has been quiet for longest is disconnected. */
const MOST_CLIENTS = 256;
/** For how long a client may read nothing of its answer, ms. */
const PATIENCE_MS = 10_000;
/** In how many times that time it must have read the whole answer, because the unread rest is kept for it. */
const MOST_PATIENCE = 10;
/** How many bytes may come between two commands: white space and quotes take time, too. */
const MOST_IDLE = 4096;
/** The longest word, bytes. */
const MOST_WORD = 64;

/** The request of a client: the schema, a sample of the mask's values, or something unknown. */
export type Command =
  | { readonly kind: 'schema' }
  | { readonly kind: 'sample'; readonly mask: number }
  | { readonly kind: 'bad'; readonly word: string };

/** The mask for everything. */
export const WHOLE = 0xffff_ffff;

const WORD = /^(?:#|(0x[0-9a-f]{1,8})?S)(?:\\?n)?$/i;
/**
 * How a browser begins. A page of another site can make one send any text here, but only behind this: nothing of it is
 * a command.
 */
const HTTP = /^(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH)$/;
const END = /^\\?n$/;

/** The command of a word. Lisp's reader makes "Sn" of "S\n", and its printer puts that in quotes. */
export function commandOf(word: string): Command {
  const match = WORD.exec(word);
  if (match === null || word.startsWith('s')) return { kind: 'bad', word };
  if (word.startsWith('#')) return { kind: 'schema' };
  return { kind: 'sample', mask: match[1] === undefined ? WHOLE : Number(match[1]) >>> 0 };
}

/** Splits a client's input into words: white space and quotes separate them, and have no other meaning. */
export class Words {
  #word = '';
  /** Whether a command was accepted before its word ended: clients need not send a newline. */
  #taken = false;

  /** The words in the input; undefined: a word is too long, and the client cannot be served any more. */
  take(text: string): string[] | undefined {
    const words: string[] = [];
    const end = () => {
      if (this.#word !== '' && !(this.#taken && END.test(this.#word))) words.push(this.#word);
      if (this.#word !== '') this.#taken = false;
      this.#word = '';
    };
    for (const character of text) {
      if (/[\s"']/.test(character)) end();
      else this.#word += character;
      if (this.#word.length > MOST_WORD) return undefined;
    }
    // Nothing more may come: a command is accepted as soon as it is complete.
    if (this.#word !== '' && commandOf(this.#word).kind !== 'bad') {
      end();
      this.#taken = true;
    }
    return words;
  }
}

/** The bytes of an answer, in pieces that are each valid until the next is asked for. */
export type Reply = AsyncIterable<Uint8Array>;

/** Counters of clients. */
export interface Counts {
  /** Answers that were sent completely. */
  served: number;
  /** Disconnected because they stopped reading, sent too much without a command, or to make room. */
  stuck: number;
  /** Commands for something unknown, and invalid words. */
  bad: number;
}

/** A client. */
class Client {
  /** When bytes were last sent or received, ms of performance.now(). */
  lastMoved = performance.now();
  /** Since when an answer is being sent; undefined: none is. */
  answeringSince: number | undefined;
  /** For how long it has been waited for while it read its answer, ms; and since when it is being waited for. */
  #waited = 0;
  #waiting: number | undefined;
  readonly #words = new Words();

  constructor(
    readonly socket: Socket,
    readonly counts: Counts,
    readonly answer: (command: Command) => Reply,
  ) {}

  /**
   * Answers until the client has no more commands. While it has an answer to read, nothing more is read from it.
   * Returns false if it sends without ever asking.
   */
  async serve(): Promise<boolean> {
    let idle = 0;
    for await (const chunk of this.socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      this.lastMoved = performance.now();
      const words = this.#words.take(chunk.toString('latin1'));
      idle = words?.length === 0 ? idle + chunk.length : 0;
      if (idle > MOST_IDLE) return false;
      for (const word of words ?? []) {
        await this.#reply(commandOf(word));
        if (HTTP.test(word)) return true;
      }
      if (words !== undefined) continue;
      this.counts.bad++;
      await this.#reply({ kind: 'bad', word: '' });
      return true;
    }
    return true;
  }

  async #reply(command: Command): Promise<void> {
    this.answeringSince = performance.now();
    this.#waited = 0;
    if (command.kind === 'bad') this.counts.bad++;
    for await (const bytes of this.answer(command)) {
      await this.#send(bytes);
      // Other clients get their turn, even if this one takes everything at once.
      await turn();
    }
    this.answeringSince = undefined;
    if (command.kind !== 'bad') this.counts.served++;
  }

  #send(bytes: Uint8Array): Promise<void> {
    const begun = performance.now();
    this.#waiting = begun;
    return new Promise((resolve, reject) => {
      this.socket.write(bytes, error => {
        this.lastMoved = performance.now();
        this.#waited += this.lastMoved - begun;
        this.#waiting = undefined;
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Whether it reads its answer too slowly, or not at all. */
  isStuck(now: number, patience: number): boolean {
    if (this.#waiting === undefined) return false;
    const waiting = now - this.#waiting;
    return waiting > patience || this.#waited + waiting > MOST_PATIENCE * patience;
  }
}

/** Listens, and serves all clients. */
export class Conversations {
  readonly counts: Counts = { served: 0, stuck: 0, bad: 0 };
  readonly #clients = new Set<Client>();
  readonly #servers: Server[] = [];
  readonly #guard: NodeJS.Timeout;

  constructor(
    readonly answer: (command: Command) => Reply,
    readonly patience = PATIENCE_MS,
  ) {
    this.#guard = setInterval(() => this.#dropStuck(), Math.min(1000, patience)).unref();
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Returns the address that was bound. Throws one line for people. */
  async listen(address: Address): Promise<Address> {
    const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => void this.#meet(socket));
    const bound = await listenAt(server, address);
    this.#servers.push(server);
    return bound;
  }

  async #meet(socket: Socket): Promise<void> {
    socket.on('error', () => undefined);
    if (this.#clients.size >= MOST_CLIENTS) this.#drop(this.#quietest());
    const client = new Client(socket, this.counts, this.answer);
    this.#clients.add(client);
    socket.once('close', () => this.#clients.delete(client));
    try {
      if (!(await client.serve())) return this.#drop(client);
      socket.end();
      socket.setTimeout(this.patience, () => socket.destroy());
    } catch {
      // The client has left, or can only get half of an answer: this ends with a reset.
      if (!socket.destroyed) socket.resetAndDestroy();
    }
  }

  /** Clients with an unfinished answer come last. */
  #quietest(): Client {
    const rank = ({ answeringSince, lastMoved }: Client) => (answeringSince === undefined ? 0 : 1e15) + lastMoved;
    return [...this.#clients].reduce((a, b) => (rank(b) < rank(a) ? b : a));
  }

  #dropStuck(): void {
    const now = performance.now();
    for (const client of this.#clients) if (client.isStuck(now, this.patience)) this.#drop(client);
  }

  /** Disconnects the client whose answer has taken longest; a client that is alone may use all the room. */
  makeRoom(): void {
    const since = ({ answeringSince }: Client) => answeringSince ?? Number.POSITIVE_INFINITY;
    const answering = [...this.#clients].filter(({ answeringSince }) => answeringSince !== undefined);
    if (answering.length > 1) this.#drop(answering.reduce((a, b) => (since(b) < since(a) ? b : a)));
  }

  #drop(client: Client): void {
    this.counts.stuck++;
    this.#clients.delete(client);
    client.socket.resetAndDestroy();
  }

  /** Stops listening, and disconnects all clients. */
  close(): void {
    clearInterval(this.#guard);
    for (const server of this.#servers) server.close();
    for (const { socket, answeringSince } of this.#clients)
      if (answeringSince === undefined) socket.destroy();
      else socket.resetAndDestroy();
  }
}
