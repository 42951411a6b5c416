// One connection to one NATS server, by the library with a transport of ours: what a server sends goes through a meter
// before it is kept, and a server that goes beyond a limit, takes nothing or does not answer is left at once.

import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import {
  type NatsConnection,
  NatsConnectionImpl,
  parseSemVer,
  type ServerInfo,
  setTransportFactory,
} from '@nats-io/transport-node';
import { NodeTransport } from '@nats-io/transport-node/lib/node_transport.js';
import type { Access } from './natsaccess.js';
import { Meter, ProtocolError } from './natsmeter.js';

/** For how long a connection may take, from its first byte to the answer to the login. */
const PATIENCE_MS = 2000;
/** A server that takes nothing while so much waits is left: servers leave their clients at the same number. */
const MOST_UNSENT = 64 << 20;
const PONG = Buffer.from('PONG\r\n');
const CLOSED = 'the server closed the connection';

/** Errors of servers that something is decided by: how they begin, which is all that the protocol has for a code. */
const SERVER_ERRORS = { permissions: 'permissions violation', slow: 'slow consumer' } as const;

/** Whether a server's error is of that kind. */
export const isServerError = (text: string, kind: keyof typeof SERVER_ERRORS): boolean =>
  text.toLowerCase().replace(/^'/, '').startsWith(SERVER_ERRORS[kind]);

/** What an error line says; undefined: it is another line. */
const errorOf = (line: string) => /^-ERR[ \t]+'?(.*?)'?$/is.exec(line)?.[1];

class MeteredTransport extends NodeTransport {
  #host = '';
  /** The last error that the server has sent: it ends the connection then. */
  #said: string | undefined;
  #hasPonged = false;

  override connect(server: { hostname: string; port: number; tlsName: string }, options: object): Promise<void> {
    this.#host = server.hostname;
    return super.connect(server, options);
  }

  /** Unlike the library's, it can be discarded before it is connected. */
  override async dial({ hostname, port }: { hostname: string; port: number }): Promise<Socket> {
    this.socket = connect({ host: hostname, port, noDelay: true });
    await once(this.socket, 'connect');
    return this.socket;
  }

  /**
   * What the server says first. Behind its INFO it waits for us: what somebody on the way put there, before TLS begins,
   * would be taken for the server's own.
   */
  override async peekInfo(): Promise<ServerInfo> {
    const { socket } = this;
    const lines: string[] = [];
    const meter = new Meter(line => lines.push(line));
    try {
      await new Promise<void>((resolve, reject) => {
        socket.on('data', frame => {
          try {
            meter.push(frame);
            this.yields.push(frame);
            if (lines.length > 0) resolve();
          } catch (error) {
            reject(error);
          }
        });
        socket.on('error', reject);
        socket.on('close', () => reject(new Error(CLOSED)));
      });
    } finally {
      socket.removeAllListeners();
    }
    const why = lines.map(errorOf).find(text => text !== undefined);
    if (why !== undefined) throw new Error(why);
    const [first = ''] = lines;
    if (!/^INFO/i.test(first) || lines.length > 1 || !meter.isBetween) throw new ProtocolError();
    const info = JSON.parse(first.slice('INFO'.length)) as ServerInfo;
    try {
      // The library would fail later.
      parseSemVer(info.version);
    } catch {
      throw new ProtocolError();
    }
    return info;
  }

  /**
   * A certificate must be for the host or the address that the user gave. The library gives TLS no name if that is an
   * address, and Node checks "localhost" then.
   */
  override startTLS() {
    const host = this.#host;
    const names = {
      servername: isIP(host) === 0 ? host : '',
      checkServerIdentity: (_: string, certificate: PeerCertificate) => checkServerIdentity(host, certificate),
    };
    this.options = { ...this.options, tls: { ...this.options.tls, ...names } };
    return super.startTLS();
  }

  override setupHandlers(): void {
    // Before the library's, which tells no reason.
    this.socket.on('end', () => this.#end(CLOSED));
    super.setupHandlers();
  }

  override async *iterate(): AsyncIterableIterator<Uint8Array> {
    const meter = new Meter(line => {
      const why = errorOf(line);
      // This error alone does not end the connection.
      if (why !== undefined && !isServerError(why, 'permissions')) this.#said = why;
    });
    try {
      for await (const frame of super.iterate()) {
        meter.push(frame as Buffer);
        this.#hasPonged = false;
        yield frame;
      }
    } catch (error) {
      this.socket?.destroy(error as Error);
    } finally {
      // The library reads no further.
      this.#end(CLOSED);
    }
  }

  override send(frame: Uint8Array): void {
    if (PONG.equals(frame)) {
      // One answer for all pings that come at once: a server that asks without reading must not fill our memory.
      if (this.#hasPonged) return;
      this.#hasPonged = true;
    }
    super.send(frame);
    if (this.socket?.writableLength > MOST_UNSENT) this.#end('the server takes nothing');
  }

  /** The library would wait until everything is sent, for a quarter of an hour if the server takes nothing. */
  override disconnect(): void {
    this.#end('the server does not answer');
  }

  /** The library's leaves alone what is not connected yet. */
  override async close(error?: Error): Promise<void> {
    await super.close(error);
    this.discard();
  }

  #end(why: string): void {
    this.socket?.destroy(new Error(this.#said ?? why));
  }
}

/**
 * Connects to a server, and logs in. Throws an Error that says why not.
 * @param url nats://HOST[:PORT] or tls://HOST[:PORT]
 */
export async function connectTo(url: string, name: string, access: Access): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new MeteredTransport() });
  try {
    return await NatsConnectionImpl.connect({
      ...access,
      name,
      servers: url,
      timeout: PATIENCE_MS,
      // A frozen server is noticed by two pings that it does not answer.
      pingInterval: 1000,
      maxPingOut: 2,
      // Who connects again reads the files again, and chooses the server.
      reconnect: false,
      ignoreClusterUpdates: true,
      resolve: false,
      noEcho: true,
    });
  } catch (error) {
    const { name: kind, message, code } = error as NodeJS.ErrnoException;
    // An error about all addresses of a name has a code alone.
    throw new Error(kind === 'TimeoutError' ? 'the server does not answer' : message || code);
  }
}
