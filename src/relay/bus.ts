// The connection to the NATS servers: connects and stays connected, with the necessary credentials. Knows none of our
// messages.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { Authenticator, ConnectionOptions, NodeConnectionOptions } from '@nats-io/transport-node';
import { readSecret } from '../common/keys.js';
import type { Log } from '../common/log.js';
import { InputError, oneLine, whyUnreadable } from '../common/text.js';

/** A message as it arrived. */
export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** The subject for the answer; empty: none is wanted. */
  readonly reply: string;
}

/** What relays and mirrors need of NATS, and no more. */
export interface Bus {
  /** While this is false, whatever is published is lost. */
  readonly connected: boolean;
  publish(subject: string, data: Uint8Array, reply?: string): void;
  /** Calls `act` for each message of the subject; returns a function that ends the subscription. */
  subscribe(subject: string, act: (message: Message) => void): () => void;
}

/** The options about servers and credentials. */
export interface BusOptions {
  readonly nats: readonly string[];
  readonly natsCreds?: string | undefined;
  readonly natsNkey?: string | undefined;
  readonly natsLogin?: string | undefined;
  readonly natsCa?: string | undefined;
  readonly natsCert?: string | undefined;
  readonly natsCertKey?: string | undefined;
}

/** The options of a verb about access to the servers. */
export const NATS_OPTIONS = ['nats-creds', 'nats-nkey', 'nats-login', 'nats-ca', 'nats-cert', 'nats-cert-key'] as const;

/** A frozen server is noticed after two pings; then another one is tried four times a second, indefinitely. */
const STAYING: ConnectionOptions = {
  pingInterval: 1000,
  maxPingOut: 2,
  timeout: 1000,
  maxReconnectAttempts: -1,
  reconnectTimeWait: 250,
  reconnectJitter: 100,
  // We try the first connection ourselves, because the library would not report why it fails.
  waitOnFirstConnect: false,
  noEcho: true,
};

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InputError(`${oneLine(path)}: cannot be read: ${whyUnreadable(error)}`);
  }
}

/** The credentials: at most one kind. Files are read again for each connection. */
async function authenticatorOf(options: BusOptions): Promise<Authenticator | undefined> {
  const { credsAuthenticator, nkeyAuthenticator, usernamePasswordAuthenticator } = await import(
    '@nats-io/transport-node'
  );
  const { natsCreds, natsNkey, natsLogin } = options;
  if ([natsCreds, natsNkey, natsLogin].filter(path => path !== undefined).length > 1)
    throw new InputError('--nats-creds, --nats-nkey and --nats-login exclude each other; give one');
  const encoded = (text: string) => new TextEncoder().encode(text);
  // Its last line must end with a newline.
  if (natsCreds !== undefined) return credsAuthenticator(encoded(`${readSecret(natsCreds)}\n`));
  if (natsNkey !== undefined) return nkeyAuthenticator(encoded(readSecret(natsNkey).trim()));
  if (natsLogin === undefined) return undefined;
  const [user = '', password] = readSecret(natsLogin).trim().split(/:(.*)/s);
  if (password === undefined) throw new InputError(`${oneLine(natsLogin)}: is not one line USER:PASSWORD`);
  return usernamePasswordAuthenticator(user, password);
}

/**
 * Whether a certificate is valid for a server that was asked for. For a server that is given by its address, the
 * library passes no name to TLS, and Node checks "localhost" then; any of the given addresses is accepted, because each
 * belongs to us.
 */
function identityCheck(servers: readonly string[]): typeof checkServerIdentity {
  const hosts = servers.map(url => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1'));
  const addresses = hosts.filter(host => isIP(host) !== 0);
  return (host, certificate) => {
    const [address] = addresses;
    if (host !== 'localhost' || hosts.includes(host) || address === undefined)
      return checkServerIdentity(host, certificate);
    if (addresses.some(other => checkServerIdentity(other, certificate) === undefined)) return undefined;
    return checkServerIdentity(address, certificate);
  };
}

/** A bus that is connected sooner or later. */
export interface Connection extends Bus {
  /** The server that it is connected to now; empty: none. */
  readonly server: string;
  /** The longest message that this server accepts, bytes; 0: unknown. */
  readonly mostBytes: number;
  close(): Promise<void>;
}

/**
 * Connects in the background: relay, mirror and server may start in any order. Throws an InputError about files and
 * options. `lost` is called, with a reason, when messages may have been lost.
 */
export async function connectBus(
  name: string,
  options: BusOptions,
  log: Log,
  lost: (why: string, slow: boolean) => void,
): Promise<Connection> {
  const { connect } = await import('@nats-io/transport-node');
  const authenticator = await authenticatorOf(options);
  const { natsCa, natsCert, natsCertKey } = options;
  if ((natsCert === undefined) !== (natsCertKey === undefined))
    throw new InputError('--nats-cert and --nats-cert-key belong together; give both');
  const tls = {
    checkServerIdentity: identityCheck(options.nats),
    ...(natsCa !== undefined && { ca: textOf(natsCa) }),
    ...(natsCert !== undefined && { cert: textOf(natsCert) }),
    ...(natsCertKey !== undefined && { key: readSecret(natsCertKey) }),
  };
  // A user who asks for TLS never gets a connection without it: an impostor would get the password in plain text.
  const wantsTls = natsCa !== undefined || natsCert !== undefined || options.nats.some(url => url.startsWith('tls:'));
  const how: NodeConnectionOptions = {
    ...STAYING,
    name,
    servers: [...options.nats],
    ...(authenticator !== undefined && { authenticator }),
    ...(wantsTls && { tls }),
  };
  type Nats = Awaited<ReturnType<typeof connect>>;
  let nats: Nats | undefined;
  let connected = false;
  let closed = false;
  const subscriptions = new Map<symbol, { subject: string; act: (message: Message) => void; end?: () => void }>();

  const begin = (to: Nats, wanted: { subject: string; act: (message: Message) => void; end?: () => void }) => {
    const subscription = to.subscribe(wanted.subject, {
      callback: (error, { subject, data, reply = '' }) => {
        if (to !== nats) return;
        if (error === null) wanted.act({ subject, data, reply });
        else log.seldom('subscription', `${wanted.subject}: ${error.message}`);
      },
    });
    wanted.end = () => subscription.unsubscribe();
  };

  /**
   * A server is frozen or unreachable. The library would first wait until everything is sent, for a quarter of an hour
   * if the server takes nothing; so another connection is made, and the old one ends when it can.
   */
  const abandon = (to: Nats) => {
    nats = undefined;
    connected = false;
    lost(`the server ${to.getServer()} does not answer`, false);
    void to.close().catch(() => undefined);
    // Unsent data stay in memory until then, unless the socket can be destroyed.
    (to as unknown as { protocol?: { transport?: { discard?(): void } } }).protocol?.transport?.discard?.();
    void first();
  };

  const watch = async (to: Nats) => {
    for await (const status of to.status()) {
      if (to !== nats) return;
      if (status.type === 'staleConnection') {
        abandon(to);
        return;
      }
      if (status.type === 'disconnect') {
        connected = false;
        lost(`lost the server ${status.server}`, false);
      } else if (status.type === 'reconnect') {
        connected = true;
        log.info(`connected to ${status.server}`);
      } else if (status.type === 'slowConsumer') lost('could not keep up with the messages', true);
      else if (status.type === 'error') {
        log.seldom('server', `the server says: ${status.error.message}`);
        // The server ends the connection of a slow consumer, and says why.
        if (/slow consumer/i.test(status.error.message)) lost('the server closed the connection: too slow', true);
      }
    }
  };

  const first = async () => {
    while (!closed) {
      try {
        const to = await connect(how);
        if (closed) {
          await to.close();
          return;
        }
        nats = to;
        connected = true;
        log.info(`connected to ${to.getServer()}`);
        for (const wanted of subscriptions.values()) begin(to, wanted);
        void watch(to);
        // After two refused logins the library gives up; but the login may be corrected on the server or in our file.
        void to.closed().then(error => {
          if (to !== nats) return;
          connected = false;
          if (closed) return;
          lost(`the connection was closed: ${error?.message ?? 'no reason given'}`, false);
          setTimeout(() => void first(), 1000);
        });
        return;
      } catch (error) {
        log.seldom('connect', `cannot connect to ${options.nats.join(', ')}: ${(error as Error).message}; tries on`);
        await new Promise(resolve => setTimeout(resolve, 1000));
      }
    }
  };
  void first();

  return {
    get connected() {
      return connected;
    },
    get server() {
      return connected ? (nats?.getServer() ?? '') : '';
    },
    get mostBytes() {
      return nats?.info?.max_payload ?? 0;
    },
    publish(subject, data, reply) {
      // Nothing is kept for a server that is away: it would be outdated by then.
      if (!connected || nats === undefined) return;
      try {
        nats.publish(subject, data, reply === undefined ? {} : { reply });
      } catch (error) {
        log.seldom('publish', `cannot publish: ${(error as Error).message}`);
      }
    },
    subscribe(subject, act) {
      const key = Symbol(subject);
      const wanted = { subject, act };
      subscriptions.set(key, wanted);
      if (nats !== undefined && !nats.isClosed()) begin(nats, wanted);
      return () => {
        subscriptions.get(key)?.end?.();
        subscriptions.delete(key);
      };
    },
    async close() {
      closed = true;
      connected = false;
      await nats?.close();
    },
  };
}
