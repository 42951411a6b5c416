// A temporary interval from a file that root writes on the node. Trusts no file that anybody else could have written,
// and takes no order from the network.

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import type { Log } from '../service/log.js';
import { formatDuration, parseDuration } from '../text/durations.js';
import { attempt } from '../text/failure.js';
import { InputError, oneLine } from '../text/text.js';
import { isTrustedWriter } from './trusted.js';

interface PaceOptions {
  paceFile: string | undefined;
  paceMin: number;
  paceMax: number;
}

const MOST_BYTES = 4096;
const LEAST_FOR_MS = 1000;
const MOST_FOR_MS = 31 * 24 * 3_600_000;
/** Refuses to follow a link, or to open a FIFO, that was put there meanwhile. */
const MODE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

type Stat = ReturnType<typeof statOf>;

const statOf = (fd: number) => fstatSync(fd, { bigint: true });
const signOf = ({ dev, ino, size, mtimeNs, ctimeNs }: Stat) => `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;

const MALFORMED = "does not read as 'interval TIME for TIME'";

/** The contents of the text, in ms. Throws an InputError. */
export function parsePace(text: string): { intervalMs: number; forMs: number } {
  const lines = text.split('\n').filter(line => !line.startsWith('#') && /[^ \t]/.test(line));
  const [, interval, time] = /^[ \t]*interval[ \t]+(\S+)[ \t]+for[ \t]+(\S+)[ \t]*$/.exec(lines[0] ?? '') ?? [];
  if (lines.length !== 1 || interval === undefined || time === undefined) throw new InputError(MALFORMED);
  try {
    const [intervalMs, forMs] = [parseDuration(interval), parseDuration(time)];
    if (forMs >= LEAST_FOR_MS && forMs <= MOST_FOR_MS) return { intervalMs, forMs };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
  }
  throw new InputError(MALFORMED);
}

/** The file, which is checked before each report. */
export class PaceFile {
  /** The state of the file when it was read last; empty: there was none. */
  #sign = '';
  #held: { intervalMs: number; untilBootNs: bigint } | undefined;

  constructor(
    private options: PaceOptions,
    private readonly log: Pick<Log, 'info' | 'warn'>,
  ) {}

  /** Takes other options; if they change how the file is judged, it is read again. */
  change(options: PaceOptions): void {
    const { paceFile, paceMin, paceMax } = this.options;
    if (options.paceFile !== paceFile || options.paceMin !== paceMin || options.paceMax !== paceMax) this.#sign = '?';
    this.options = options;
  }

  /** The interval in force if the node's own is `ownMs`. */
  look(now: { realNs: bigint; bootNs: bigint }, ownMs: number): number {
    const before = this.#held;
    const { paceFile } = this.options;
    if (paceFile === undefined) this.#held = undefined;
    else this.#lookAt(paceFile, now);
    if (this.#held !== undefined && now.bootNs >= this.#held.untilBootNs) this.#held = undefined;
    if (before !== undefined && this.#held === undefined)
      this.log.info(`pace: over; reports every ${formatDuration(ownMs)} again`);
    return this.#held?.intervalMs ?? ownMs;
  }

  #lookAt(file: string, now: { realNs: bigint; bootNs: bigint }): void {
    // If we may not look into a folder of the path, there is no file for us.
    const stat = attempt(() => lstatSync(file, { bigint: true, throwIfNoEntry: false }));
    const sign = stat === undefined ? '' : signOf(stat);
    if (sign === this.#sign) return;
    this.#sign = sign;
    this.#held = undefined;
    if (stat === undefined) return;
    const shown = oneLine(file);
    try {
      const { intervalMs, forMs, mtimeNs } = this.#read(file, stat);
      // The time counts from when the file was written, so that a sender that is started meanwhile continues it; wall
      // clocks may be off.
      const restMs = Math.min(forMs, Math.max(0, forMs - Number((now.realNs - mtimeNs) / 1_000_000n)));
      if (restMs === 0) return;
      this.#held = { intervalMs, untilBootNs: now.bootNs + BigInt(restMs) * 1_000_000n };
      const times = [intervalMs, restMs].map(formatDuration);
      this.log.info(`pace: reports every ${times[0]} for ${times[1]} (${shown})`);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      // It was removed since the check: the next check finds that.
      if (code === 'ENOENT') return;
      const why = error instanceof InputError ? message : `cannot be read: ${code ?? message}`;
      this.log.warn(`pace: ${shown} ${why}; ignored`);
    }
  }

  /** The contents of the file, and when it was written. Throws an InputError for a file that is not trusted. */
  #read(file: string, seen: Stat): { intervalMs: number; forMs: number; mtimeNs: bigint } {
    if (seen.isSymbolicLink()) throw new InputError('is a link');
    if (!seen.isFile()) throw new InputError('is not a regular file');
    const fd = openSync(file, MODE);
    try {
      const stat = statOf(fd);
      // Another file may have replaced it since.
      this.#sign = signOf(stat);
      if (!stat.isFile()) throw new InputError('is not a regular file');
      if (!isTrustedWriter(Number(stat.uid)))
        throw new InputError(`belongs to user ${stat.uid}, who is neither root nor beoboard nor the sender's own`);
      if ((stat.mode & 0o022n) !== 0n) throw new InputError('can be written by others');
      const bytes = Buffer.alloc(MOST_BYTES + 1);
      const length = readSync(fd, bytes, 0, bytes.length, 0);
      if (length > MOST_BYTES) throw new InputError(`is larger than ${MOST_BYTES} bytes`);
      const said = parsePace(bytes.toString('latin1', 0, length));
      const { paceMin, paceMax } = this.options;
      if (said.intervalMs < paceMin || said.intervalMs > paceMax) {
        const [wanted, low, high] = [said.intervalMs, paceMin, paceMax].map(formatDuration);
        throw new InputError(`wants an interval of ${wanted}, which is not within ${low} and ${high}`);
      }
      return { ...said, mtimeNs: stat.mtimeNs };
    } finally {
      closeSync(fd);
    }
  }
}
