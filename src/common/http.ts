// Serves documents over HTTP, and feeds that never end, to programs and browsers: GET and HEAD alone, bounded in clients, headers and
// patience, each client as fast as it reads. Knows nothing of what is in a document. What people want beside it (TLS, passwords) is a proxy's.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { constants, createGzip } from 'node:zlib';
import type { Address } from './addresses.js';
import { listenAt } from './listening.js';
import { InputError } from './text.js';

/** Clients at once, unless it is said. One more, and the one goes that has done nothing for the longest. */
const MOST_CLIENTS = 64;
/** Documents that are made at once: each holds what it is made of until it is read. */
const MOST_AT_WORK = 4;
/** One that waits for its turn has the place of another that has taken nothing for so long, ms; see `#makePlace`. */
const SLOW_MS = 1000;
/** Bytes of all headers of a request. */
const HEADER_MOST = 8192;
/** How long a client has for a request, and how long one is borne that takes nothing of its answer, ms. */
const PATIENCE_MS = 10_000;
/** How long a connection is kept for the next request, ms: longer than what is asked for every minute. */
const KEPT_MS = 75_000;
/** How long a client of a feed may take nothing of it, ms: it may be a machine that sleeps. */
const FEED_PATIENCE_MS = 60_000;
/** Big enough to be worth a write. */
const GZIP_CHUNK = 1 << 18;

/** What is asked for. */
export interface Question {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The host as the client knows it, with its port; empty: it did not say. */
  readonly host: string;
  /** The header Accept; empty: there is none. */
  readonly accept: string;
  /** The header Sec-Fetch-Site, by which browsers say whose page asks; empty: there is none. */
  readonly site: string;
}

/** Bytes to send, one piece after the other, each valid until the next is asked for; undefined: still at work. */
export type Pieces = Iterable<Uint8Array | undefined>;

/** Where a feed goes: one client. */
export interface Sink {
  /** Whether all that was written has been taken: what comes next is as fresh as when it is written. */
  readonly isFree: boolean;
  /** Bytes that nobody changes any more. */
  write(bytes: Uint8Array): void;
  /** Nothing more will come. */
  end(): void;
  /** Called once, when the client is gone or the server ends. */
  onGone(act: () => void): void;
}

/** Begins what never ends; the sink is written to from then on. */
export type Feed = (sink: Sink) => void;

export interface Answer {
  readonly status: number;
  /** The media type. */
  readonly type: string;
  readonly body: string | Uint8Array | Pieces | Feed;
  /** More headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Gives the answer. What it throws is an InputError where the question cannot be taken. */
export type Respond = (question: Question) => Answer | Promise<Answer>;

export const PLAIN = 'text/plain; charset=utf-8';

/** A sentence as an answer. */
export function sentence(status: number, text: string): Answer {
  return { status, type: PLAIN, body: `${text}\n` };
}

/** What a client is doing. */
interface Client {
  /** When it last did anything, ms of performance.now(). */
  lastMoved: number;
  response: ServerResponse | undefined;
  /** It takes a feed. */
  isFed: boolean;
}

/** What became of clients so far. */
export interface HttpCounts {
  served: number;
  /** Cut off because they stopped reading, or had to make room. */
  stuck: number;
  /** Asked under a name that is not this server's. */
  misnamed: number;
}

export interface HttpOptions {
  /** Names by which clients may call this server, besides its own and all addresses. */
  readonly names?: readonly string[];
  /**
   * Whether its own names are those of `names`, localhost and the address alone at which the client has reached it: the host's name and
   * other addresses are strangers then, and so is who says none.
   */
  readonly strict?: boolean;
  /** Headers of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Clients at once. */
  readonly most?: number;
  /** See PATIENCE_MS, and FEED_PATIENCE_MS. */
  readonly patience?: number;
  readonly feedPatience?: number;
}

/** Whether the client takes gzip; what it says of all codings counts where it does not say. */
function takesGzip(header: string): boolean {
  const parts = header.split(',').map(part => part.split(';').map(text => text.trim().toLowerCase()));
  const [, ...parameters] = parts.find(([coding]) => coding === 'gzip') ??
    parts.find(([coding]) => coding === '*') ?? ['', 'q=0'];
  return !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter));
}

/** The name of a Host header without its port. */
function nameOf(host: string): string {
  return host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();
}

export class HttpServer {
  readonly counts: HttpCounts = { served: 0, stuck: 0, misnamed: 0 };
  readonly #respond: Respond;
  readonly #names: ReadonlySet<string>;
  readonly #strict: boolean;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #most: number;
  readonly #patience: number;
  readonly #feedPatience: number;
  readonly #clients = new Map<Socket, Client>();
  readonly #servers: Server[] = [];
  /** Who is given a document now, and who waits for that. */
  readonly #atWork = new Map<Client, { socket: Socket; since: number }>();
  readonly #waiting = new Map<Client, () => void>();
  readonly #guard: NodeJS.Timeout;

  constructor(respond: Respond, options: HttpOptions = {}) {
    const { names = [], strict = false, headers = {}, most = MOST_CLIENTS, patience = PATIENCE_MS } = options;
    this.#respond = respond;
    const host = hostname().toLowerCase();
    const own = strict ? [] : [host, host.split('.')[0] as string];
    this.#names = new Set(['localhost', ...own, ...names.map(name => name.toLowerCase())]);
    this.#strict = strict;
    this.#headers = headers;
    this.#most = most;
    this.#patience = patience;
    this.#feedPatience = options.feedPatience ?? FEED_PATIENCE_MS;
    this.#guard = setInterval(() => this.#dropStuck(), Math.min(1000, patience)).unref();
  }

  /** Listens; the address that was bound. Throws one line for people. */
  async listen(address: Address): Promise<Address> {
    const server = createServer(
      {
        maxHeaderSize: HEADER_MOST,
        headersTimeout: this.#patience,
        requestTimeout: this.#patience,
        keepAliveTimeout: KEPT_MS,
        connectionsCheckingInterval: Math.min(1000, this.#patience),
        noDelay: true,
      },
      (request, response) => void this.#meet(request, response),
    );
    server.on('connection', (socket: Socket) => this.#admit(socket));
    const bound = await listenAt(server, address);
    this.#servers.push(server);
    return bound;
  }

  get clients(): number {
    return this.#clients.size;
  }

  #admit(socket: Socket): void {
    if (this.#clients.size >= this.#most) {
      const [stalest] = [...this.#clients].reduce((a, b) => (b[1].lastMoved < a[1].lastMoved ? b : a));
      this.#drop(stalest);
    }
    this.#clients.set(socket, { lastMoved: performance.now(), response: undefined, isFed: false });
    socket.once('close', () => this.#clients.delete(socket));
  }

  async #meet(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // What a client does in the middle of its answer is told by what write() gives.
    response.on('error', () => undefined);
    const { socket } = request;
    const client = this.#clients.get(socket);
    // Requests without waiting for answers would be a way to have more answers than clients.
    if (client === undefined || client.response !== undefined) {
      socket.resetAndDestroy();
      return;
    }
    client.response = response;
    client.lastMoved = performance.now();
    response.once('close', () => {
      client.response = undefined;
      client.isFed = false;
      client.lastMoved = performance.now();
    });
    try {
      await this.#send(request, response, client, await this.#answer(request));
      this.counts.served++;
    } catch {
      // Half a document must not pass for a whole one: where its length is not said (HTTP/1.0, as proxies speak it), its end would be one.
      socket.resetAndDestroy();
    }
  }

  /** Whether that is a name of this server. */
  #isOurs(name: string, { localAddress = '' }: Socket): boolean {
    if (this.#names.has(name)) return true;
    if (!this.#strict) return name === '' || isIP(name) !== 0;
    return name !== '' && name === localAddress.replace(/^::ffff:/, '').toLowerCase();
  }

  async #answer({ method, url = '/', headers, socket }: IncomingMessage): Promise<Answer> {
    if (method !== 'GET' && method !== 'HEAD') return sentence(405, `${method} is not served here; use GET or HEAD`);
    const host = headers.host ?? '';
    // A page of somebody else's, whose name leads here by its owner's will, is not to read what is served here.
    if (!this.#isOurs(nameOf(host), socket)) {
      this.counts.misnamed++;
      return sentence(
        421,
        'this server does not accept that host name; use its address, or start it with --allow-host NAME',
      );
    }
    if (!url.startsWith('/')) return sentence(400, 'the request is for no path of this server');
    const cut = url.indexOf('?');
    const [path, search] = cut < 0 ? [url, ''] : [url.slice(0, cut), url.slice(cut + 1)];
    try {
      const site = String(headers['sec-fetch-site'] ?? '');
      const query = new URLSearchParams(search);
      return await this.#respond({ path, query, host, accept: headers.accept ?? '', site });
    } catch (error) {
      if (error instanceof InputError) return sentence(400, error.message);
      throw error;
    }
  }

  async #send(request: IncomingMessage, response: ServerResponse, client: Client, answer: Answer): Promise<void> {
    const { status, type, body } = answer;
    const isWhole = typeof body === 'string' || body instanceof Uint8Array;
    const isFeed = typeof body === 'function';
    const isPacked = !isWhole && !isFeed && takesGzip(String(request.headers['accept-encoding'] ?? ''));
    response.writeHead(status, {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(status === 405 && { Allow: 'GET, HEAD' }),
      ...(isWhole && { 'Content-Length': Buffer.byteLength(body) }),
      ...(!isWhole && !isFeed && { Vary: 'Accept-Encoding' }),
      ...(isPacked && { 'Content-Encoding': 'gzip' }),
      ...this.#headers,
      ...answer.headers,
    });
    if (request.method === 'HEAD') response.end();
    else if (isWhole) response.end(body);
    else if (isFeed) return await this.#feed(response, client, body);
    else {
      await this.#enter(client, request.socket);
      try {
        await (isPacked ? sendPacked : sendPlain)(response, client, body);
      } finally {
        this.#leave(client);
      }
    }
    if (!response.writableFinished) await once(response, 'finish');
  }

  /** Feeds a client until it is gone. */
  async #feed(response: ServerResponse, client: Client, feed: Feed): Promise<void> {
    // It may have left while its question was answered, and is told of no more.
    if (response.closed || response.destroyed) throw new Error('the client is gone');
    client.isFed = true;
    response.flushHeaders();
    const gone = once(response, 'close');
    feed({
      get isFree() {
        return response.writableLength === 0;
      },
      write(bytes) {
        response.write(bytes, () => {
          client.lastMoved = performance.now();
        });
      },
      end() {
        response.end();
      },
      onGone(act) {
        response.once('close', act);
      },
    });
    await gone;
  }

  /** Waits for a place among those who are given a document. */
  async #enter(client: Client, socket: Socket): Promise<void> {
    while (this.#atWork.size >= MOST_AT_WORK) {
      this.#makePlace();
      await new Promise<void>(resolve => this.#waiting.set(client, resolve));
      if (socket.destroyed) throw new Error('the client is gone');
    }
    client.lastMoved = performance.now();
    this.#atWork.set(client, { socket, since: client.lastMoved });
  }

  /** Who waits has the place of one that takes nothing, or so little that it has been at it for longer than anybody's patience. */
  #makePlace(): void {
    const now = performance.now();
    const slow = [...this.#atWork].find(
      ([{ lastMoved }, { since }]) => lastMoved < now - SLOW_MS || since < now - this.#patience,
    );
    if (slow !== undefined) this.#drop(slow[1].socket);
  }

  #leave(client: Client): void {
    this.#atWork.delete(client);
    this.#wake();
  }

  #wake(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }

  #dropStuck(): void {
    const now = performance.now();
    for (const [socket, client] of this.#clients) {
      const late = now - (client.isFed ? this.#feedPatience : this.#patience);
      if (client.response !== undefined && client.lastMoved < late && !this.#waiting.has(client)) this.#drop(socket);
    }
    this.#wake();
  }

  #drop(socket: Socket): void {
    const isAnswered = this.#clients.get(socket)?.response === undefined;
    this.#clients.delete(socket);
    // What was answered may still be on its way, and arrives.
    if (isAnswered) socket.destroy();
    else {
      this.counts.stuck++;
      socket.resetAndDestroy();
    }
  }

  /** Listens no longer, and ends whom it serves. */
  close(): void {
    clearInterval(this.#guard);
    for (const server of this.#servers) server.close();
    for (const [socket] of this.#clients) this.#drop(socket);
  }
}

/** Hands bytes over and waits until they are on their way: they may be overwritten then. Throws when the client is gone. */
function write(response: ServerResponse, client: Client, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the client is gone'));
    response.once('close', gone);
    response.write(bytes, error => {
      response.off('close', gone);
      client.lastMoved = performance.now();
      if (error) reject(error);
      else resolve();
    });
  });
}

async function sendPlain(response: ServerResponse, client: Client, pieces: Pieces): Promise<void> {
  for (const bytes of pieces) {
    if (response.destroyed) throw new Error('the client is gone');
    if (bytes !== undefined && bytes.length > 0) await write(response, client, bytes);
    else client.lastMoved = performance.now();
    // Others have their turn, and signals theirs, also when the client takes all at once.
    await turn();
  }
  response.end();
}

async function sendPacked(response: ServerResponse, client: Client, pieces: Pieces): Promise<void> {
  // The fastest: it makes a twentieth of what is served here, and the better ones a thirtieth for several times the time.
  const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: GZIP_CHUNK });
  const gone = new Promise<never>((_, reject) => {
    const tell = () => reject(new Error('the client is gone'));
    response.once('close', tell);
    gzip.once('error', tell);
  });
  // It is waited for only while there is something to wait for.
  gone.catch(() => undefined);
  gzip.on('data', (chunk: Buffer) => {
    const goesOn = response.write(chunk, () => {
      client.lastMoved = performance.now();
    });
    if (goesOn) return;
    gzip.pause();
    response.once('drain', () => gzip.resume());
  });
  try {
    for (const bytes of pieces) {
      if (response.destroyed) throw new Error('the client is gone');
      if (bytes === undefined || bytes.length === 0) {
        client.lastMoved = performance.now();
        await turn();
      } else await Promise.race([gone, new Promise<void>(done => gzip.write(bytes, () => done()))]);
    }
    gzip.end();
    await Promise.race([gone, once(gzip, 'end')]);
    response.end();
  } finally {
    gzip.destroy();
  }
}
