// Parses the commands of clients word by word, and sends answers as fast as they read, with limits on clients, words
// and times. Connections stay open for further commands.

import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Admission } from '../net/admission.js';
import { Guest, originOf, Places, type Unread } from '../net/clients.js';
import type { Address } from '../text/addresses.js';

/** Clients at once. */
const MOST_CLIENTS = 256;
/** How many large answers are made at once: made for all at once, each would take as long as all of them. */
const MOST_AT_WORK = 4;
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

  /** The beginning of a word that has not ended. */
  get begun(): string {
    return this.#word;
  }

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
class Client extends Guest {
  readonly #words = new Words();

  constructor(
    socket: Socket,
    from: string,
    readonly server: Pick<Conversations, 'answer' | 'counts' | 'isSmall' | 'limit' | 'places' | 'unread'>,
  ) {
    super(socket, from, server.unread);
  }

  /**
   * Answers until the client has no more commands. While it has an answer to read, nothing more is read from it.
   * Returns false if it sends without ever asking.
   */
  async serve(): Promise<boolean> {
    let idle = 0;
    for await (const chunk of this.socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      const words = this.#words.take(chunk.toString('latin1'));
      idle = words?.length === 0 ? idle + chunk.length : 0;
      if (idle > MOST_IDLE) return false;
      for (const word of words ?? []) {
        await this.#reply(commandOf(word));
        if (HTTP.test(word)) return true;
      }
      if (words !== undefined) continue;
      this.server.counts.bad++;
      await this.#reply({ kind: 'bad', word: this.#words.begun });
      return true;
    }
    // The end of the input ends a word, too.
    for (const word of this.#words.take('\n') ?? []) await this.#reply(commandOf(word));
    return true;
  }

  async #reply(command: Command): Promise<void> {
    const { answer, counts, isSmall, places } = this.server;
    this.begin();
    this.server.limit();
    if (command.kind === 'bad') counts.bad++;
    const isLarge = !isSmall(command);
    if (isLarge) await places.enter(this);
    try {
      for await (const bytes of answer(command)) {
        await this.wait(this.#send(bytes));
        // Other clients get their turn, even if this one takes everything at once.
        await turn();
      }
    } finally {
      if (isLarge) places.leave(this);
    }
    this.end();
    if (command.kind !== 'bad') counts.served++;
  }

  #send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.write(bytes, error => {
        if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Whether it reads its answer too slowly, or not at all. */
  isStuck(now: number, patience: number): boolean {
    const waiting = this.waiting(now);
    return waiting.now > patience || waiting.inAll > MOST_PATIENCE * patience;
  }
}

/** Listens, and serves all clients. */
export class Conversations {
  readonly counts: Counts = { served: 0, stuck: 0, bad: 0 };
  readonly #clients: Admission<Client>;
  readonly places: Places<Client>;
  readonly #originOf = originOf([]);

  constructor(
    readonly answer: (command: Command) => Reply,
    readonly patience = PATIENCE_MS,
    /** Whether the answer keeps and costs little, so that it waits for no other. */
    readonly isSmall: (command: Command) => boolean = () => true,
    readonly unread?: Unread,
  ) {
    this.places = new Places(MOST_AT_WORK, patience, client => this.#clients.drop(client));
    const isStuck = (client: Client, now: number) => client.isStuck(now, patience);
    this.#clients = new Admission({ most: MOST_CLIENTS, patience, isStuck, counts: this.counts });
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Returns the address that was bound. Throws one line for people. */
  async listen(address: Address): Promise<Address> {
    const server = createServer({ noDelay: true, allowHalfOpen: true }, socket => void this.#meet(socket));
    return await this.#clients.listen(server, address);
  }

  async #meet(socket: Socket): Promise<void> {
    socket.on('error', () => undefined);
    const client = new Client(socket, this.#originOf(socket), this);
    this.#clients.admit(client);
    try {
      if (!(await client.serve())) {
        this.counts.stuck++;
        return this.#clients.drop(client);
      }
      socket.end();
      socket.setTimeout(this.patience, () => socket.destroy());
    } catch {
      // The client has left, or can only get half of an answer: this ends with a reset.
      if (!socket.destroyed) socket.resetAndDestroy();
    }
  }

  /** Disconnects one if there are too many: somebody has come, or asks. */
  limit(): void {
    this.#clients.makeRoom();
  }

  /** Disconnects one of those that are being answered; a client that is alone may use all the room. */
  makeRoom(): void {
    const answering = [...this.#clients].filter(({ busySince }) => busySince !== undefined);
    this.#clients.dropOneOf(answering, 1);
  }

  /** Stops listening, and disconnects all clients. */
  close(): void {
    this.#clients.close();
  }
}
