// Serves documents over TCP, to each client as fast as it reads; none waits for another. Knows nothing of the contents.

import { ClientConnection } from '../net/clients.js';
import { type Pieces, send } from '../net/sending.js';
import { type ClientCounts, PATIENCE_MS, TcpServer } from '../net/tcpserver.js';
import type { Address, Network } from '../text/addresses.js';

/** Clients at once. */
const MOST_CLIENTS = 64;

/** What happened to clients so far. */
interface GangliaCounts extends ClientCounts {
  /** Gone before the end. */
  left: number;
  /** Invalid or too long queries. */
  bad: number;
  /** Clients that came while there was nothing to send. */
  empty: number;
}

/** Returns the answer to a query, or to a client that sends none; undefined: there is none. */
export type Serve = (query: string | undefined) => Promise<Pieces | undefined>;

/** The first line, without its end; undefined if there is no line of at most so many bytes. */
export function lineOf({ socket }: Pick<ClientConnection, 'socket'>, most: number): Promise<string | undefined> {
  return new Promise(resolve => {
    let text = '';
    const done = (line?: string) => {
      socket.off('data', hear).off('end', none).off('close', none).pause();
      resolve(line);
    };
    const none = () => done();
    const hear = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.search(/[\r\n]/);
      if (end === -1 ? text.length > most : end > most) done();
      else if (end !== -1) done(text.slice(0, end));
    };
    socket.on('data', hear).on('end', none).on('close', none);
  });
}

class GangliaConnection extends ClientConnection {
  /** No answer at all must not look like a whole one either. */
  override get mayEnd(): boolean {
    return this.leftAt !== undefined;
  }
}

export class GangliaServer extends TcpServer<GangliaConnection, GangliaCounts> {
  /** `patience`: for how long a client may ask nothing, too, ms. gmetad itself gives up after as long a silence. */
  constructor(trusted: readonly Network[], patience = PATIENCE_MS) {
    const counts = { served: 0, stuck: 0, left: 0, refused: 0, bad: 0, empty: 0 };
    super(counts, GangliaConnection, { most: MOST_CLIENTS, patience, silence: patience, trusted });
  }

  override get summary(): string {
    return `${super.summary}, ${this.counts.left} gone before their end`;
  }

  /**
   * Listens, and answers each client; `longestQuery`: they send a query first, of at most so many bytes. Returns the
   * address that was bound. Throws one line for people.
   */
  async listen(address: Address, serve: Serve, longestQuery?: number): Promise<Address> {
    return await this.accept(address, async client => {
      const query = longestQuery === undefined ? undefined : await lineOf(client, longestQuery);
      try {
        const slices = await this.begin(client);
        const answer = await serve(query);
        if (answer === undefined) return;
        await send(client, answer, slices);
        this.counts.served++;
      } catch (error) {
        // Half a document is worse than none, and half a gzip stream hangs gmetad forever: only that ends with a reset.
        const isHalf = client.socket.bytesWritten > 0 || client.socket.destroyed;
        if (!isHalf) this.counts.empty++;
        else if (!client.isDropped) this.counts.left++;
        if (isHalf) throw error;
      }
    });
  }
}
