// A daemon under a service manager: reports to systemd or a replacement as in sd_notify(3). Never waits for the
// manager, and does nothing if there is none.

import { once } from 'node:events';
import { constants } from 'node:os';
import { notify } from '../native/index.js';
import { onStop } from './process.js';

type Environment = Record<string, string | undefined>;

/** How long a message waits if the manager has not read the earlier ones, ms. */
const RETRY_MS = 100;

/** Takes a variable out of the environment: it is meant for us and not for our children. */
function take(env: Environment, name: string): string | undefined {
  const value = env[name];
  delete env[name];
  return value;
}

const MOST_SOCKETS = 16;

/** The sockets that the manager has bound for us, as in sd_listen_fds(3). Their variables leave the environment. */
export function passedSockets(env: Environment = process.env): number[] {
  const [pid, count] = [take(env, 'LISTEN_PID'), Number(take(env, 'LISTEN_FDS') ?? 0)];
  take(env, 'LISTEN_FDNAMES');
  if (pid !== String(process.pid) || !Number.isInteger(count) || count < 0 || count > MOST_SOCKETS) return [];
  return Array.from({ length: count }, (_, i) => 3 + i);
}

export class Service {
  readonly #path: string | undefined;
  /** Undefined: there is no watchdog. */
  readonly #watchdogMs: number | undefined;
  readonly #send: typeof notify;
  /** Messages for the manager that are still to be sent, in order. */
  readonly #waiting: string[] = [];
  #retry: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #status = '';

  /** @param env the manager's variables are taken out of it */
  constructor(env: Environment = process.env, send = notify) {
    this.#path = take(env, 'NOTIFY_SOCKET');
    this.#send = send;
    const us = Number(take(env, 'WATCHDOG_USEC'));
    const pid = take(env, 'WATCHDOG_PID') ?? String(process.pid);
    const isWatched = this.#path !== undefined && us > 0 && pid === String(process.pid);
    this.#watchdogMs = isWatched ? us / 1000 : undefined;
  }

  /** The daemon is ready: after its start, and again after it has read its options again. */
  ready(status: string): void {
    this.#status = status;
    this.#tell('READY=1', `STATUS=${status}`);
  }

  /** Whether somebody starts us again when we end, and gives up if that is for wrong usage. */
  get isManaged(): boolean {
    return this.#path !== undefined;
  }

  status(line: string): void {
    if (line === this.#status) return;
    this.#status = line;
    this.#tellOrDrop(`STATUS=${line}`);
  }

  /** The daemon reads its options again; `ready` follows. */
  reloading(): void {
    this.#tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`);
  }

  stopping(): void {
    clearInterval(this.#watch);
    this.#tell('STOPPING=1');
  }

  /**
   * Feeds the manager's watchdog twice in its interval, as long as `isAlive` returns true, in place of the one before. A
   * daemon that does not get round to it is not alive.
   */
  watch(isAlive: () => boolean): void {
    clearInterval(this.#watch);
    if (this.#watchdogMs === undefined) return;
    this.#watch = setInterval(() => {
      if (isAlive()) this.#tellOrDrop('WATCHDOG=1');
    }, this.#watchdogMs / 2).unref();
  }

  #tell(...lines: string[]): void {
    this.#waiting.push(lines.join('\n'));
    this.#flush();
  }

  /** A message that is repeated soon, or soon outdated, is not kept for later. */
  #tellOrDrop(line: string): void {
    if (this.#path !== undefined && this.#waiting.length === 0) this.#send(this.#path, line);
  }

  readonly #flush = (): void => {
    clearTimeout(this.#retry);
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (this.#path !== undefined && this.#send(this.#path, first) === -constants.errno.EAGAIN) {
        this.#retry = setTimeout(this.#flush, RETRY_MS).unref();
        return;
      }
      this.#waiting.shift();
    }
  };
}

/** A daemon begins: its service manager, which knows at once, and what SIGTERM, SIGINT or one of `more` aborts. */
export function beginDaemon(...more: NodeJS.Signals[]): {
  service: Service;
  stop: AbortSignal;
  stopped: Promise<unknown>;
} {
  const service = new Service();
  const stop = onStop(...more);
  stop.addEventListener('abort', () => service.stopping());
  return { service, stop, stopped: once(stop, 'abort') };
}
