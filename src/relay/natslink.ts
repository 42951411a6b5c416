// One connection to one NATS server, from its first byte to its end. It ends by itself when the server does not answer,
// says what no server says, or takes nothing.

import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import { VERSION } from '../common/version.js';
import type { Access } from './natsaccess.js';
import { type Info, type Operation, Parser, ProtocolError } from './natswire.js';

/** A message as it arrived. */
export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The subject for the answer; empty: none is wanted. */
  readonly reply: string;
}

/** For how long a connection may take, from its first byte to the answer to the login. */
const PATIENCE_MS = 2000;
/** A frozen server is noticed by two pings that it does not answer. */
const PING_EVERY_MS = 1000;
const MOST_UNANSWERED = 2;
/** A server that takes nothing while so much waits is left: servers leave their clients at the same number. */
const MOST_UNSENT = 64 << 20;
const PORT = 4222;
const LINE_END = Buffer.from('\r\n');

/** Who is told about a connection that stands. */
export interface Told {
  message(sid: number, message: Message): void;
  /** The server reports an error; it may end the connection then. */
  error(why: string): void;
  /** It has ended. */
  ended(why: string): void;
}

/** Waits until `begin` calls what it is given; throws if the socket ends before. */
async function during<T>(socket: Socket, begin: (done: (result: T) => void) => void): Promise<T> {
  let onError: ((error: Error) => void) | undefined;
  let onClose: (() => void) | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      onError = reject;
      onClose = () => reject(new Error('the server closed the connection'));
      socket.on('error', onError).on('close', onClose);
      begin(resolve);
    });
  } finally {
    if (onError !== undefined) socket.off('error', onError);
    if (onClose !== undefined) socket.off('close', onClose);
  }
}

/**
 * What the server says first. Behind its INFO it waits for us: what somebody on the way put there, before TLS begins,
 * would be taken for the server's own.
 */
async function greeting(socket: Socket): Promise<Info> {
  const said: Operation[] = [];
  const parser = new Parser(operation => said.push(operation));
  let onData: ((chunk: Buffer) => void) | undefined;
  try {
    await during<void>(socket, done => {
      onData = chunk => {
        try {
          parser.push(chunk);
          if (said.length > 0) done();
        } catch (error) {
          socket.destroy(error as Error);
        }
      };
      socket.on('data', onData);
    });
  } finally {
    socket.pause();
    if (onData !== undefined) socket.off('data', onData);
  }
  const [first] = said;
  if (first?.op === '-ERR') throw new Error(first.why);
  if (first?.op !== 'INFO' || said.length > 1 || !parser.isBetween) throw new Error('this is not a server of NATS');
  return first.info;
}

/** A certificate must be for the host or the address that the user gave. */
async function encrypted(socket: Socket, host: string, access: Access): Promise<Socket> {
  const secure = connectTls({
    ...access.tls,
    socket,
    servername: isIP(host) === 0 ? host : '',
    checkServerIdentity: (_, certificate) => checkServerIdentity(host, certificate),
  });
  await during<void>(secure, done => secure.once('secureConnect', () => done()));
  return secure;
}

export class NatsLink {
  /** HOST:PORT. */
  readonly server: string;
  /** The longest message that the server accepts, bytes; 0: it does not say. */
  mostBytes: number;
  readonly #socket: Socket;
  readonly #told: Told;
  readonly #pings: NodeJS.Timeout;
  #unanswered = 0;
  #owesPong = false;
  /** Why it has ended; undefined: it has not. */
  #over: string | undefined;
  /** Set until the login is answered. */
  #onAnswer: (() => void) | undefined;

  private constructor(server: string, socket: Socket, info: Info, told: Told) {
    this.server = server;
    this.mostBytes = info.maxPayload;
    this.#socket = socket;
    this.#told = told;
    const parser = new Parser(operation => this.#onOperation(operation));
    socket.on('data', chunk => {
      try {
        if (this.#over === undefined) parser.push(chunk);
        // One answer for all: a server that asks without reading must not fill our memory.
        if (this.#owesPong) this.#send('PONG\r\n');
        this.#owesPong = false;
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        this.end(error.message);
      }
    });
    socket.on('error', error => this.end(error.message));
    socket.on('close', () => this.end('the server closed the connection'));
    this.#pings = setInterval(() => {
      if (this.#unanswered >= MOST_UNANSWERED) this.end('the server does not answer');
      else this.#ping();
    }, PING_EVERY_MS);
  }

  /**
   * Connects to a server, and logs in. Throws an Error that says why not.
   * @param url nats://HOST[:PORT] or tls://HOST[:PORT]
   */
  static async connect(url: string, name: string, access: Access, told: Told): Promise<NatsLink> {
    const { hostname, port } = new URL(url);
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const plain = connect({ host, port: Number(port || PORT), noDelay: true });
    let [socket, isLate]: [Socket, boolean] = [plain, false];
    // An error between two steps is found out in the next one.
    plain.on('error', () => undefined);
    const timer = setTimeout(() => {
      isLate = true;
      plain.destroy();
      socket.destroy();
    }, PATIENCE_MS);
    try {
      await during<void>(plain, done => plain.once('connect', () => done()));
      const info = await greeting(plain);
      if (access.wantsTls && !info.offersTls) throw new Error("the server does not offer 'tls'");
      if (info.offersTls) socket = await encrypted(plain, host, access);
      const link = new NatsLink(`${hostname}:${port || PORT}`, socket, info, told);
      await link.#logIn(name, access.fields(info.nonce), info.offersTls);
      return link;
    } catch (error) {
      plain.destroy();
      socket.destroy();
      throw isLate ? new Error('the server does not answer') : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #logIn(name: string, fields: object, tls: boolean): Promise<void> {
    const ours = { name, lang: 'node', version: VERSION, protocol: 1, tls_required: tls, echo: false };
    const off = { verbose: false, pedantic: false, headers: false, no_responders: false };
    await new Promise<void>(resolve => {
      this.#onAnswer = resolve;
      this.#send(`CONNECT ${JSON.stringify({ ...fields, ...ours, ...off })}\r\n`);
      this.#ping();
      this.#socket.resume();
    });
    this.#onAnswer = undefined;
    // It may have ended by what came behind the answer.
    if (this.#over !== undefined) throw new Error(this.#over);
  }

  publish(subject: string, data: Uint8Array, reply: string): void {
    const line = `PUB ${subject} ${reply === '' ? '' : `${reply} `}${data.length}\r\n`;
    this.#send(Buffer.concat([Buffer.from(line, 'latin1'), data, LINE_END]));
  }

  subscribe(subject: string, sid: number): void {
    this.#send(`SUB ${subject} ${sid}\r\n`);
  }

  unsubscribe(sid: number): void {
    this.#send(`UNSUB ${sid}\r\n`);
  }

  /** Ends it at once: what was not sent is not sent any more. */
  end(why: string): void {
    if (this.#over !== undefined) return;
    this.#over = why;
    clearInterval(this.#pings);
    this.#socket.destroy();
    if (this.#onAnswer === undefined) this.#told.ended(why);
    else this.#onAnswer();
  }

  #ping(): void {
    this.#unanswered++;
    this.#send('PING\r\n');
  }

  #send(data: string | Uint8Array): void {
    if (this.#over !== undefined) return;
    this.#socket.write(data);
    if (this.#socket.writableLength > MOST_UNSENT) this.end('the server takes nothing');
  }

  #onOperation(operation: Operation): void {
    if (operation.op === 'MSG') this.#told.message(operation.sid, operation);
    else if (operation.op === 'PING') this.#owesPong = true;
    else if (operation.op === 'INFO') this.mostBytes = operation.info.maxPayload;
    else if (operation.op === 'PONG') {
      this.#unanswered = 0;
      this.#onAnswer?.();
    } else if (operation.op === '-ERR') {
      if (this.#onAnswer === undefined) this.#told.error(operation.why);
      else this.end(operation.why);
    }
  }
}
