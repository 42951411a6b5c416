// Parses the commands of clients word by word, and sends answers as fast as they read, with limits on clients, words
// and times. Connections stay open for further commands.

import { ClientConnection } from '../net/clients.js';
import { send } from '../net/sending.js';
import { type ClientCounts, PATIENCE_MS, TcpServer } from '../net/tcpserver.js';
import type { Address } from '../text/addresses.js';

/** Clients at once. */
const MOST_CLIENTS = 256;
/** How many times as long a client may keep us waiting during a whole answer, because the rest is kept for it. */
const MOST_PATIENCE = 10;
/** How many bytes may come between two commands: white space and quotes take time, too. */
const MOST_IDLE = 4096;
const MOST_WORD = 64;

/** The request of a client: the schema, a sample of the mask's values, or something unknown. */
export type Command =
  | { readonly kind: 'schema' }
  | { readonly kind: 'sample'; readonly mask: number }
  | { readonly kind: 'bad'; readonly word: string };

/** The mask for everything. */
export const WHOLE = 0xffff_ffff;

const WORD = /^(?:#|(0x[0-9a-f]{1,8})?S)(?:\\?n)?$/i;
/** How a browser begins. A page of another site can make one send any text, but only behind this: none is a command. */
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
  begun = '';
  /** Whether a command was accepted before its word ended: clients need not send a newline. */
  #taken = false;

  /** The words in the input; undefined: a word is too long, and the client cannot be served any more. */
  take(text: string): string[] | undefined {
    const words: string[] = [];
    const end = () => {
      if (this.begun !== '' && !(this.#taken && END.test(this.begun))) words.push(this.begun);
      if (this.begun !== '') this.#taken = false;
      this.begun = '';
    };
    for (const character of text) {
      if (/[\s"']/.test(character)) end();
      else this.begun += character;
      if (this.begun.length > MOST_WORD) return undefined;
    }
    // Nothing more may come: a command is accepted as soon as it is complete.
    if (this.begun !== '' && commandOf(this.begun).kind !== 'bad') {
      end();
      this.#taken = true;
    }
    return words;
  }
}

/**
 * The bytes of an answer, in pieces that are each valid until the next is asked for. `keep` is told how much is kept in
 * memory for it.
 */
export type Answering = (command: Command, keep: (bytes: number) => void) => AsyncIterable<Uint8Array>;

/** What happened to clients so far; `stuck`: also those that sent too much without a command. */
interface SupermonCounts extends ClientCounts {
  /** Commands for something unknown, and invalid words. */
  bad: number;
}

/** Listens, and serves all clients. */
export class SupermonServer extends TcpServer<ClientConnection, SupermonCounts> {
  constructor(
    readonly answer: Answering,
    patience = PATIENCE_MS,
    /** About how long the answer is, bytes. */
    readonly sizeOf: (command: Command) => number = () => 0,
    memory?: number,
  ) {
    const counts = { served: 0, stuck: 0, refused: 0, bad: 0 };
    const answerPatience = MOST_PATIENCE * patience;
    super(counts, ClientConnection, { most: MOST_CLIENTS, patience, answerPatience, ...(memory && { memory }) });
  }

  /** Returns the address that was bound. Throws one line for people. */
  async listen(address: Address): Promise<Address> {
    return await this.accept(address, client => this.#serve(client));
  }

  /** Answers until a client has no more commands. While it has an answer to read, nothing more is read from it. */
  async #serve(client: ClientConnection): Promise<void> {
    const words = new Words();
    let idle = 0;
    for await (const chunk of client.socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      const taken = words.take(chunk.toString('latin1'));
      idle = taken?.length === 0 ? idle + chunk.length : 0;
      if (idle > MOST_IDLE) {
        this.counts.stuck++;
        return this.drop(client);
      }
      for (const word of taken ?? []) {
        await this.#reply(client, commandOf(word));
        if (HTTP.test(word) || this.isEnding) return;
      }
      if (taken === undefined) return await this.#reply(client, { kind: 'bad', word: words.begun });
    }
    // The end of the input ends a word, too.
    for (const word of words.take('\n') ?? []) await this.#reply(client, commandOf(word));
  }

  async #reply(client: ClientConnection, command: Command): Promise<void> {
    if (command.kind === 'bad') this.counts.bad++;
    const slices = await this.begin(client);
    await this.memory.take(client, this.sizeOf(command));
    try {
      await send(
        client,
        this.answer(command, bytes => this.memory.keep(client, bytes)),
        slices,
      );
    } finally {
      this.memory.give(client);
    }
    client.end();
    if (command.kind !== 'bad') this.counts.served++;
  }
}
