// The log of a daemon: one line on stderr for one event, written before the call returns. Never throws and never waits:
// if a line cannot be written, it is dropped and the daemon goes on.

import { writeSync } from 'node:fs';
import { spoken } from '../text/ascii.js';
import { formatDuration } from '../text/durations.js';
import { json } from '../text/output.js';
import { oneLine } from '../text/text.js';

export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
  /**
   * A warning about something that continues: logged at most once a minute for each key, with the number of warnings
   * left out since. `key` is a word of the program, never of the network, because every key is kept.
   */
  seldom(key: string, message: string): void;
}

/** Replacements for tests. */
export interface LogWorld {
  /** Takes whole lines; by default they go to stderr. */
  write?: (line: string) => void;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
  env?: Readonly<Record<string, string | undefined>>;
}

const MINUTE = 60_000;

/** EPIPE, EAGAIN of a full pipe, ENOSPC: none of these may stop a monitor. */
function toStderr(line: string): void {
  try {
    // The stream is used because Node makes it on first use, and only then sets a pipe or socket to non-blocking.
    writeSync(process.stderr.fd, line);
  } catch {}
}

type Lines = Pick<Log, 'info' | 'warn' | 'error'>;

/** Lines of JSON, with the keys and the numbers of levels that pino has. */
function jsonLines(verb: string, write: (line: string) => void): Lines {
  const line = (level: number) => (msg: string) =>
    write(`${json({ level, time: Date.now(), pid: process.pid, verb, msg })}\n`);
  return { info: line(30), warn: line(40), error: line(50) };
}

/** Lines `beoboard VERB: message`, all of one kind: people read what they say. */
function plainLines(verb: string, write: (line: string) => void): Lines {
  const line = (message: string) => write(`beoboard ${verb}: ${spoken(oneLine(message))}\n`);
  return { info: line, warn: line, error: line };
}

/** The log of a verb: lines for people, or JSON when BEOBOARD_LOG is `json`. */
export function createLog(
  verb: string,
  { write = toStderr, now = () => performance.now(), env = process.env }: LogWorld = {},
): Log {
  const lines = (env.BEOBOARD_LOG === 'json' ? jsonLines : plainLines)(verb, write);
  const kept = new Map<string, { loggedAt: number; since: number }>();
  return {
    ...lines,
    seldom(key, message) {
      const last = kept.get(key);
      const elapsed = last ? now() - last.loggedAt : Number.POSITIVE_INFINITY;
      if (last && elapsed < MINUTE) {
        last.since++;
        return;
      }
      const span = elapsed < 2 * MINUTE ? 'minute' : formatDuration(elapsed);
      lines.warn(last?.since ? `${message} (and ${last.since} more in the last ${span})` : message);
      kept.set(key, { loggedAt: now(), since: 0 });
    },
  };
}
