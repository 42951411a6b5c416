// What the verbs of all servers do: listen, tell the service manager and the log, serve until a signal, and end.

import type { Log } from '../service/log.js';
import { tellParent } from '../service/process.js';
import { beginDaemon } from '../service/service.js';
import { type Address, formatAddress, isLoopback } from '../text/addresses.js';
import { Failure } from '../text/failure.js';
import type { ClientConnection } from './clients.js';
import type { ClientCounts, TcpServer } from './tcpserver.js';

interface Serving<Counts> {
  /** Opens the ports; returns their addresses. */
  listen(): Promise<readonly Address[]>;
  /** An address as people write it. */
  url?(address: string): string;
  /** A warning if other machines can connect. */
  readonly exposed?: string;
  /** Words for clients that were turned away: see TcpServer.logCounts. */
  readonly counted?: Readonly<Partial<Record<keyof Counts, string>>>;
  /** What the boards are at the start; a Failure is one that is missing. */
  boards(): Iterable<unknown>;
  isAlive?(): boolean;
  close?(): void;
}

/** Listens on several addresses; returns those that were bound. Throws one line for people. */
export async function listenAll(
  server: { listen(address: Address): Promise<Address> },
  addresses: readonly Address[],
): Promise<Address[]> {
  const bound: Address[] = [];
  for (const address of addresses) bound.push(await server.listen(address));
  return bound;
}

/** Serves until a signal ends it; returns the exit code. Throws one line for people. */
export async function runServer<C extends ClientConnection, Counts extends ClientCounts>(
  log: Log,
  server: TcpServer<C, Counts>,
  { listen, url = address => address, exposed, counted, boards, isAlive = () => true, close }: Serving<Counts>,
): Promise<number> {
  // SIGHUP too: otherwise the system would close half of an answer as if it were a whole one.
  const { service, stopped } = beginDaemon('SIGHUP');
  if (counted !== undefined) server.logCounts(counted, log);
  try {
    const bound = await listen();
    const listening = bound.map(formatAddress);
    const open = listening.filter((_, i) => !isLoopback((bound[i] as Address).host));
    if (exposed !== undefined && open.length > 0) log.warn(`${open.join(', ')}: ${exposed}`);
    tellParent({ listening });
    const status = `serving on ${listening.map(url).join(', ')}`;
    log.info(`ready: ${status}`);
    for (const board of boards()) if (board instanceof Failure) log.warn(`nothing to serve yet: ${board.message}`);
    service.ready(status);
    service.watch(isAlive);
    await stopped;
    await server.end();
    log.info(`clean shutdown; ${server.summary}`);
    return 0;
  } finally {
    server.close();
    close?.();
  }
}
