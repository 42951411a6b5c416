// Serves documents, and streams without end, over HTTP to programs and browsers: only GET and HEAD, with limits on
// clients, headers and time, each client as fast as it reads. Knows nothing of the documents' contents. For TLS and
// passwords there are proxies.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { SlicedLook } from '../service/slices.js';
import { type Address, plainName } from '../text/addresses.js';
import { codeOfError, ERROR_CODES, type ErrorCode } from '../text/errorcodes.js';
import { lowerCase } from '../text/text.js';
import { wantsJson } from './accept.js';
import { ClientConnection } from './clients.js';
import { listenAt } from './listening.js';
import { MOST_HEAD, type ParserError, Refusal, refusalOf, targetOf } from './requests.js';
import { gzipped, type Pieces, send, takesGzip } from './sending.js';
import { type ClientCounts, type TcpOptions, TcpServer } from './tcpserver.js';

const MOST_CLIENTS = 256;
/** How many requests of a client may wait for the answer to the one before: with more, it is cut off. */
const MOST_PIPELINED = 16;
/** How long a connection is kept for the next request, ms: longer than a minute, for clients that ask every minute. */
const KEPT_MS = 75_000;
/** How long a client of a stream may take nothing, ms: its machine may be asleep. */
const STREAM_PATIENCE_MS = 60_000;

/** What is asked for. */
export interface HttpRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The host as the client knows it, with its port; empty: the client did not say. */
  readonly host: string;
  /** The interface of this machine by which the client came, where the addresses are link-local; else empty. */
  readonly zone: string;
  readonly accept: string;
  /** The header Sec-Fetch-Site, in which browsers say whose page makes the request; empty: there is none. */
  readonly site: string;
  /** Whether a page of another site may have caused the request; nothing that costs much is done for it. */
  readonly isForeign: boolean;
  /** Proves in a link (`?token=`) that it stands on a page of ours. */
  readonly token: string;
  /** How long work yields to that for other clients. */
  readonly slices: SlicedLook;
  /** Takes about so many bytes of memory until the answer is read: to be called before work that needs more than 1 MiB. */
  take(bytes: number): Promise<void>;
}

/** The header with which our own pages ask. A page of another site can send it only after a preflight, which fails. */
const PAGE_HEADER = 'x-beoboard-page';

/** The output of a stream: one client. */
export interface Sink {
  /** Whether everything that was written has been sent, so that the next write will not be outdated when it arrives. */
  readonly isFree: boolean;
  /** Bytes that nobody changes any more. */
  write(bytes: Uint8Array): void;
  end(): void;
  /** Called once, when the client is gone or the server ends. */
  onGone(act: () => void): void;
}

/** Begins a stream that never ends; the sink is written to from then on. */
export type StreamBody = (sink: Sink) => void;

export interface HttpResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array | Pieces | StreamBody;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes the answer. Throws an error with a code (of text/errorcodes.ts) for what is not served. */
export type Handler = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

export const PLAIN = 'text/plain; charset=utf-8';

/** A sentence as an answer. */
export function sentence(status: number, text: string): HttpResponse {
  return { status, type: PLAIN, body: `${text}\n` };
}

/** Why a request is not served: a sentence, or with its code for those who want JSON rather than text. */
function refused(code: ErrorCode, message: string, accept = ''): HttpResponse {
  const status = ERROR_CODES[code];
  if (!wantsJson(accept)) return sentence(status, message);
  return { status, type: 'application/json', body: `${JSON.stringify({ code, message })}\n` };
}

class HttpConnection extends ClientConnection {
  response: ServerResponse | undefined;
  /** Its requests that came before the answer to the one before, in order. */
  readonly pipelined: [IncomingMessage, ServerResponse][] = [];
  /** What to answer after those, because nothing behind them is a request. */
  refusal: Refusal | undefined;
  /** Whether the answer under way is the last. */
  isLast = false;
  /** Whether the first line has come of a head that has not come as a whole. */
  hasLine = false;
  /** Whether a head came to its end in this packet. */
  hasHead = false;

  /** A proxy whose client has gone closes its side and no more: who has done so goes before those that may read. */
  override isSlow(now: number): boolean {
    return (this.busySince !== undefined && this.socket.readableEnded) || super.isSlow(now);
  }

  follow(packet: Buffer): void {
    const end = packet.lastIndexOf('\n\r\n');
    if (this.hasHead) this.hasLine = end >= 0 && packet.includes('\n', end + 3);
    else this.hasLine ||= packet.includes('\n');
    this.hasHead = false;
  }
}

interface HttpCounts extends ClientCounts {
  /** Requests for a name that is not this server's. */
  misnamed: number;
}

export interface HttpOptions extends Partial<TcpOptions> {
  /** Names by which clients may call this server, besides its own and all addresses. */
  readonly names?: readonly string[];
  /**
   * Whether only `names`, localhost and the address that the client has connected to are valid names of this server.
   * Then its host name and other addresses are rejected, and so is a request without a name.
   */
  readonly strict?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export class HttpServer extends TcpServer<HttpConnection, HttpCounts> {
  readonly #handle: Handler;
  readonly #names: ReadonlySet<string>;
  readonly #strict: boolean;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #token = randomBytes(12).toString('hex');

  constructor(handle: Handler, options: HttpOptions = {}) {
    const { names = [], strict = false, headers = {} } = options;
    const counts = { served: 0, stuck: 0, refused: 0, misnamed: 0 };
    super(counts, HttpConnection, { most: MOST_CLIENTS, streamPatience: STREAM_PATIENCE_MS, ...options });
    this.#handle = handle;
    const host = lowerCase(hostname());
    const own = strict ? [] : [host, host.split('.')[0] as string];
    this.#names = new Set(['localhost', ...own, ...names.map(plainName)]);
    this.#strict = strict;
    this.#headers = headers;
  }

  /** Listens; returns the address that was bound. Throws one line for people. */
  async listen(address: Address): Promise<Address> {
    const { patience } = this.options;
    const meet = (request: IncomingMessage, response: ServerResponse) => this.#meet(request, response);
    const server = createServer(
      {
        maxHeaderSize: MOST_HEAD,
        requireHostHeader: false,
        headersTimeout: patience,
        requestTimeout: patience,
        keepAliveTimeout: KEPT_MS,
        connectionsCheckingInterval: Math.min(1000, patience),
        noDelay: true,
      },
      meet,
    );
    // All are counted: the parser would ignore those beyond a limit, and a second Host among them.
    server.maxHeadersCount = 0;
    // Some clients (nc -N) close their side when they have asked; they still get their answers.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket: Socket) => {
      const client = this.admit(socket);
      if (client === undefined) return;
      // Node calls this after the last answer; the end of a connection is ours to decide (`finish`).
      socket.destroySoon = () => this.finish(client);
      // The parser's own listener comes before this one.
      socket.on('data', packet => client.follow(packet));
    });
    // The final answer comes in place of a 100: nobody needs the body.
    server.on('checkContinue', meet).on('checkExpectation', meet);
    server.on('clientError', (error: ParserError, socket) =>
      this.#refuse(socket as Socket, refusalOf(error, this.of(socket as Socket)?.hasLine === true)),
    );
    server.on('connect', (_, socket) =>
      this.#refuse(socket as Socket, new Refusal('method_not_allowed', 'CONNECT is not served here; use GET or HEAD')),
    );
    this.servers.push(server);
    return await listenAt(server, address);
  }

  /** Answers a request, after those of the same client that came before it: one client has one answer at a time. */
  #meet(request: IncomingMessage, response: ServerResponse): void {
    // Errors of a client during its answer are reported by write().
    response.on('error', () => undefined);
    const client = this.of(request.socket);
    if (client === undefined || client.leftAt !== undefined) return;
    client.hasHead = true;
    if (client.response === undefined) void this.#serve(request, response, client);
    else if (client.pipelined.length < MOST_PIPELINED) client.pipelined.push([request, response]);
    else this.drop(client);
  }

  async #serve(request: IncomingMessage, response: ServerResponse, client: HttpConnection): Promise<void> {
    client.response = response;
    response.once('close', () => {
      client.response = undefined;
      this.memory.give(client);
      client.end();
      this.#goOn(client);
    });
    try {
      const slices = await this.begin(client);
      await this.#send(request, response, client, await this.#answer(request, client, slices), slices);
      this.counts.served++;
    } catch {
      // Half a document must not look like a whole one: if its length is not given (HTTP/1.0, as proxies speak it),
      // closing the connection would end it regularly.
      client.cut();
    }
  }

  #goOn(client: HttpConnection): void {
    if (!client.socket.writable || client.isLast) return;
    const next = client.pipelined.shift();
    if (this.isEnding) this.finish(client);
    else if (next !== undefined) void this.#serve(...next, client);
    else if (client.refusal !== undefined) this.#refuse(client.socket, client.refusal);
  }

  /** Answers what is no request, after the requests before it, and closes the connection. */
  #refuse(socket: Socket, refusal: Refusal): void {
    const client = this.of(socket);
    if (client === undefined || !socket.writable || client.isLast || client.leftAt !== undefined) return;
    if (client.response !== undefined) {
      client.refusal ??= refusal;
      return;
    }
    const response = refused(refusal.code, refusal.message);
    const headers = Object.entries({
      Date: new Date().toUTCString(),
      Connection: 'close',
      ...this.#headersOf(response),
    });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    const { status, body } = response;
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`);
    this.finish(client);
  }

  #isOurs(name: string, { localAddress = '' }: Socket): boolean {
    if (this.#names.has(name)) return true;
    if (!this.#strict) return name === '' || isIP(name) !== 0;
    return name !== '' && name === plainName(localAddress);
  }

  /**
   * Whether a page of another site may have caused the request. Browsers say so in Sec-Fetch-Site, but not to a server
   * that has a name and no TLS, and there a request for an image may say nothing at all: then it needs what only our
   * own pages have. So it does from a page of the same site, which another port or another machine of the domain serves.
   */
  #isForeign(headers: IncomingMessage['headers'], query: URLSearchParams): boolean {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-site') return site === 'cross-site';
    const isBrowser = headers['user-agent']?.startsWith('Mozilla/') === true;
    return isBrowser && headers[PAGE_HEADER] === undefined && query.get('token') !== this.#token;
  }

  async #answer(request: IncomingMessage, client: HttpConnection, slices: SlicedLook): Promise<HttpResponse> {
    const { headers, socket } = request;
    // Whether the body still comes, which it was not asked for, is not known.
    if (headers.expect !== undefined) client.isLast = true;
    try {
      const { host, path, search } = targetOf(request);
      // A page of another site, whose owner made its name resolve to this address, must not read what is served here.
      const name = plainName(host.replace(/^\[(.*)\](?::\d*)?$|:\d*$/, '$1').replace(/\.$/, '')); // without its port
      if (!this.#isOurs(name, socket)) {
        this.counts.misnamed++;
        throw new Refusal(
          'other_host',
          'this server does not accept that host name; use its address, or start it with --allow-host NAME',
        );
      }
      const query = new URLSearchParams(search);
      const site = String(headers['sec-fetch-site'] ?? '');
      const isForeign = this.#isForeign(headers, query);
      const token = this.#token;
      if (query.get('token') === token) query.delete('token');
      const accept = headers.accept ?? '';
      const [, zone = ''] = socket.localAddress?.split('%') ?? [];
      const take = async (bytes: number) => {
        await this.memory.take(client, bytes);
        // What costs much is no part of its first turn: whoever asks for little is answered before.
        await slices.wait();
      };
      return await this.#handle({ path, query, host, zone, accept, site, isForeign, token, slices, take });
    } catch (error) {
      const code = codeOfError(error);
      if (code === undefined) throw error;
      client.isLast ||= error instanceof Refusal && error.closes;
      return refused(code, (error as Error).message, headers.accept);
    }
  }

  #headersOf({ status, type, body, headers }: HttpResponse): Record<string, string | number> {
    const isWhole = typeof body === 'string' || body instanceof Uint8Array;
    return {
      'Content-Type': type,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(status === 405 && { Allow: 'GET, HEAD' }),
      ...(isWhole && { 'Content-Length': Buffer.byteLength(body) }),
      ...(!isWhole && typeof body !== 'function' && { Vary: 'Accept-Encoding' }),
      ...this.#headers,
      ...headers,
    };
  }

  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    client: HttpConnection,
    answer: HttpResponse,
    slices: SlicedLook,
  ): Promise<void> {
    const { status, body } = answer;
    const isWhole = typeof body === 'string' || body instanceof Uint8Array;
    const isStream = typeof body === 'function';
    const isPacked = !isWhole && !isStream && takesGzip(String(request.headers['accept-encoding'] ?? ''));
    response.writeHead(status, {
      ...this.#headersOf(answer),
      ...(isPacked && { 'Content-Encoding': 'gzip' }),
      ...((client.isLast || this.isEnding) && { Connection: 'close' }),
    });
    if (request.method === 'HEAD') response.end();
    else if (isWhole) {
      this.memory.keep(client, Buffer.byteLength(body));
      response.end(body);
    } else if (isStream) return await this.#stream(response, client, body);
    else {
      const plus = (sum: number, { length }: Uint8Array) => sum + length;
      if (Array.isArray(body)) this.memory.keep(client, body.reduce(plus, 0));
      await send(client, isPacked ? gzipped(body, slices) : body, slices, response);
      response.end();
    }
    if (!response.writableFinished) await once(response, 'finish');
  }

  async #stream(response: ServerResponse, client: HttpConnection, begin: StreamBody): Promise<void> {
    // The client may have left while its answer was made; it gets nothing more.
    if (response.closed || response.destroyed) throw new Error('the client is gone');
    client.stream = response;
    response.flushHeaders();
    const gone = once(response, 'close');
    // Where nothing is written, nothing else would show that the client is gone.
    const { socket } = client;
    if (socket.readableEnded) socket.destroy();
    else socket.once('end', () => socket.destroy());
    begin({
      get isFree() {
        return response.writableLength === 0;
      },
      write(bytes) {
        if (!response.writableEnded) response.write(bytes);
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
}
