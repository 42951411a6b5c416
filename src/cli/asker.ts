// Who wants something of the whole team, and until when: what `ack` and `drain` write down for others to read.

import { userInfo } from 'node:os';
import { UsageError } from '../options/options.js';
import { wallTime } from '../shm/sentences.js';
import { attempt } from '../text/failure.js';
import { dayLater, type Moment } from '../text/moments.js';
import { oneLine, shortened } from '../text/text.js';

/** Who asks, for people: with sudo, the user who called it. */
export function asker(): string {
  const { SUDO_USER = '' } = process.env;
  // In a container a user may have no name.
  const name = SUDO_USER || (attempt(() => userInfo().username) ?? `user ${process.getuid?.()}`);
  return shortened(oneLine(name), 64);
}

/** The end of what it holds for, ms since 1970; a time of day is the next one. Throws a UsageError if that is over. */
export function untilOf(until: Moment, nowMs: number): number {
  const ms = until.isTimeOfDay && until.lastMs <= nowMs ? dayLater(until.ms, 1) : until.lastMs;
  if (ms <= nowMs) throw new UsageError(`--until: ${wallTime(ms)} is over; write 18:00 or +8h`);
  return ms;
}
