// What a daemon tells people while it runs: one line on stderr for one event, written before the call returns.
// Never throws and never waits: a line that nobody takes is dropped, the daemon goes on.

import { writeSync } from 'node:fs';
import { pino } from 'pino';
import { formatDuration } from './durations.js';
import { oneLine } from './text.js';

export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /**
   * A warning about something that goes on: told at most once a minute for each key, with how often it was kept back
   * since. `key` is a word of the program, never of the network: every key is remembered.
   */
  seldom(key: string, message: string): void;
}

/** What tests put in the place of the world. */
export interface LogWorld {
  /** Takes whole lines; by default they go to stderr. */
  write?: (line: string) => void;
  /** Milliseconds that never go back. */
  now?: () => number;
  env?: Readonly<Record<string, string | undefined>>;
}

const MINUTE = 60_000;

/** EPIPE, EAGAIN of a pipe that nobody empties, ENOSPC: no reason for a monitor to stop monitoring. */
function toStderr(line: string): void {
  try {
    writeSync(2, line);
  } catch {}
}

/**
 * The log of a verb: lines `beoboard VERB: message`, or pino's JSON with the key `verb` when BEOBOARD_LOG is `json`.
 */
export function createLog(
  verb: string,
  { write = toStderr, now = () => performance.now(), env = process.env }: LogWorld = {},
): Log {
  // pino gives a destination with this mark the bare message beside its JSON line.
  const plain = {
    [Symbol.for('pino.metadata')]: true,
    lastMsg: '',
    write(): void {
      write(`beoboard ${verb}: ${oneLine(this.lastMsg)}\n`);
    },
  };
  const logger = pino({ base: { pid: process.pid, verb } }, env.BEOBOARD_LOG === 'json' ? { write } : plain);
  const kept = new Map<string, { told: number; since: number }>();
  return {
    info: message => logger.info(message),
    warn: message => logger.warn(message),
    error: message => logger.error(message),
    seldom(key, message) {
      const last = kept.get(key);
      const elapsed = last ? now() - last.told : Number.POSITIVE_INFINITY;
      if (last && elapsed < MINUTE) {
        last.since++;
        return;
      }
      const span = elapsed < 2 * MINUTE ? 'minute' : formatDuration(elapsed);
      logger.warn(last?.since ? `${message} (and ${last.since} more in the last ${span})` : message);
      kept.set(key, { told: now(), since: 0 });
    },
  };
}
