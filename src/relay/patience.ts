// How soon a NATS server disconnects a silent client, measured by a connection of our own that never answers: a server
// that does not notice a frozen client does not notice a frozen server either. Speaks the necessary part of NATS'
// protocol, and none of our messages.

import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import type { Authenticator } from '@nats-io/transport-node';

/**
 * With `ping_interval: "1s"` and `ping_max: 2` a server disconnects a silent client after 4 s; more time is allowed for
 * a busy machine.
 */
const PATIENT_MS = 7000;
/** Afterwards it has so long to show that it was not frozen itself. */
const ANSWER_MS = 3000;
const MOST_BYTES = 65_536;

export interface Way {
  /** HOST:PORT */
  readonly server: string;
  readonly tls: ConnectionOptions;
  readonly authenticator: Authenticator | undefined;
}

/** What has arrived on a connection so far, and whether it has ended. */
class Heard {
  text = '';
  ended = false;
  readonly #waiting = new Set<() => void>();

  constructor(socket: Socket | TLSSocket) {
    const tell = () => {
      for (const act of this.#waiting) act();
    };
    socket.on('data', (data: Buffer) => {
      this.text = (this.text + data.toString('latin1')).slice(-MOST_BYTES);
      tell();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.ended = true;
      tell();
    });
  }

  /** Waits until that has arrived, the connection has ended, or so many ms have passed. */
  async until(wanted: RegExp, ms: number, stop: AbortSignal): Promise<RegExpExecArray | undefined> {
    let act = () => {};
    const woken = new Promise<void>(resolve => {
      act = () => {
        if (this.ended || wanted.test(this.text)) resolve();
      };
      this.#waiting.add(act);
      act();
    });
    await Promise.race([woken, sleep(ms, undefined, { ref: false, signal: stop }).catch(() => undefined)]);
    this.#waiting.delete(act);
    return wanted.exec(this.text) ?? undefined;
  }
}

/**
 * Whether the server ends a silent connection within seconds. Undefined: unknown, because the server was not reached,
 * refused the login, or was frozen itself. Takes up to ten seconds, and never throws.
 */
export async function endsTheSilent(
  { server, tls, authenticator }: Way,
  stop: AbortSignal,
): Promise<boolean | undefined> {
  const { hostname, port } = new URL(`nats://${server}`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  let socket: Socket | TLSSocket = connect(Number(port), host);
  const end = () => socket.destroy();
  stop.addEventListener('abort', end, { once: true });
  try {
    let heard = new Heard(socket);
    const [, told] = (await heard.until(/^INFO (.*?)\r\n/, ANSWER_MS, stop)) ?? [];
    if (told === undefined || heard.ended) return undefined;
    const info = JSON.parse(told) as { nonce?: string; tls_required?: boolean; tls_available?: boolean };
    const secured = info.tls_required === true || info.tls_available === true;
    if (secured) {
      socket.removeAllListeners('data');
      const upgraded = connectTls({ socket, ...tls, ...(isIP(host) === 0 && { servername: host }) });
      heard = new Heard(upgraded);
      await Promise.race([once(upgraded, 'secureConnect'), heard.until(/^$/, ANSWER_MS, stop)]);
      if (!upgraded.authorized) return undefined;
      socket = upgraded;
    }
    const who = authenticator?.(info.nonce) ?? {};
    const about = { name: 'beoboard: does it notice who is silent?', lang: 'node', version: '1', protocol: 1 };
    socket.write(
      `CONNECT ${JSON.stringify({ verbose: false, pedantic: false, tls_required: secured, ...about, ...who })}\r\n`,
    );
    if ((await heard.until(/-ERR '[^\r\n]*/i, PATIENT_MS, stop)) !== undefined)
      return /stale connection/i.test(heard.text) ? true : undefined;
    if (heard.ended || stop.aborted) return undefined;
    heard.text = '';
    socket.write('PING\r\n');
    return (await heard.until(/PONG\r\n/, ANSWER_MS, stop)) === undefined ? undefined : false;
  } catch {
    return undefined;
  } finally {
    stop.removeEventListener('abort', end);
    socket.destroy();
  }
}
