// A daemon under a service manager: what systemd, or whatever takes its place, is told of it as sd_notify(3) has it. Refuses
// to wait for the manager, and does nothing where there is none.

import { constants } from 'node:os';
import { CLOCK, clocks, notify } from '../native/index.js';

type Environment = Record<string, string | undefined>;

/** How long a message waits when the manager has not read the ones before, ms. */
const RETRY_MS = 100;

const words = new BigUint64Array(3);

/** CLOCK_MONOTONIC, us. */
function monotonicUs(): bigint {
  clocks(words);
  return (words[CLOCK.monotonic] ?? 0n) / 1000n;
}

/** Takes a variable out of the environment: it is meant for us, and not for our children. */
function take(env: Environment, name: string): string | undefined {
  const value = env[name];
  delete env[name];
  return value;
}

/** More would be a mistake. */
const MOST_SOCKETS = 16;

/**
 * The sockets that the manager has bound for us, as sd_listen_fds(3) has it: descriptors from 3 on. What it said is taken
 * out of the environment.
 */
export function passedSockets(env: Environment = process.env): number[] {
  const [pid, count] = [take(env, 'LISTEN_PID'), Number(take(env, 'LISTEN_FDS') ?? 0)];
  take(env, 'LISTEN_FDNAMES');
  if (pid !== String(process.pid) || !Number.isInteger(count) || count < 0 || count > MOST_SOCKETS) return [];
  return Array.from({ length: count }, (_, i) => 3 + i);
}

export class Service {
  readonly #path: string | undefined;
  /** Undefined: nobody watches us. */
  readonly #watchdogMs: number | undefined;
  readonly #send: typeof notify;
  /** What the manager has to be told yet, in order. */
  readonly #waiting: string[] = [];
  #retry: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #status = '';

  /** @param env what the manager said is taken out of it */
  constructor(env: Environment = process.env, send = notify) {
    this.#path = take(env, 'NOTIFY_SOCKET');
    this.#send = send;
    const us = Number(take(env, 'WATCHDOG_USEC'));
    const pid = take(env, 'WATCHDOG_PID') ?? String(process.pid);
    const isWatched = this.#path !== undefined && us > 0 && pid === String(process.pid);
    this.#watchdogMs = isWatched ? us / 1000 : undefined;
  }

  /** The daemon does its work: at its start, and again when it has read its options again. */
  ready(status: string): void {
    this.#status = status;
    this.#tell('READY=1', `STATUS=${status}`);
  }

  /** One line for people. */
  status(line: string): void {
    if (line === this.#status) return;
    this.#status = line;
    this.#tellOrDrop(`STATUS=${line}`);
  }

  /** It reads its options again; followed by `ready`. */
  reloading(): void {
    this.#tell('RELOADING=1', `MONOTONIC_USEC=${monotonicUs()}`);
  }

  /** It ends. */
  stopping(): void {
    clearInterval(this.#watch);
    this.#tell('STOPPING=1');
  }

  /**
   * Keeps the manager's watchdog quiet, twice in its time, as long as `isAlive` says so each time; a daemon that does not
   * come round to it is not alive.
   */
  watch(isAlive: () => boolean): void {
    if (this.#watchdogMs === undefined) return;
    this.#watch = setInterval(() => {
      if (isAlive()) this.#tellOrDrop('WATCHDOG=1');
    }, this.#watchdogMs / 2).unref();
  }

  #tell(...lines: string[]): void {
    this.#waiting.push(lines.join('\n'));
    this.#flush();
  }

  /** What is told again soon, or is no longer true then, waits for nobody. */
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
