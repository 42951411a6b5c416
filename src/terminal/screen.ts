// The terminal as a full screen: entered, updated where something changed, and left as it was. In the background it is
// left alone. Knows nothing of what is shown.

import { writeSync } from 'node:fs';
import type { ReadStream, WriteStream } from 'node:tty';
import { endBySignal } from '../service/process.js';
import { isInForeground } from '../text/foreground.js';
import { widthOf } from '../text/layout.js';

const ALTERNATE = '\x1b[?1049h';
const PRIMARY = '\x1b[?1049l';
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const CLEAR = '\x1b[H\x1b[2J';
const ERASE_REST = '\x1b[K';

/** The line up to the terminal's edge, with its colours and without a part of an escape (unseen.ts): a line that wraps would push others off the screen. */
export function clip(line: string, columns: number): string {
  let room = columns;
  return line.replace(/\x1b\[[\d;]*m|\\u\{[0-9a-f]{1,6}\}|[^\x1b]\ufe0f?/gu, part => {
    if (part.startsWith('\x1b')) return part;
    room -= widthOf(part);
    return room >= 0 ? part : '';
  });
}

/** The output that turns one screen of lines into another; no line is wider than the screen. */
export function difference(before: readonly string[], after: readonly string[], columns: number): string {
  let out = '';
  for (let row = 0; row < Math.max(before.length, after.length); row++) {
    const line = after[row] ?? '';
    if (line === (before[row] ?? '')) continue;
    // In a full line the cursor stands on the last character, which would be erased.
    out += `\x1b[${row + 1};1H${line}${widthOf(line) < columns ? ERASE_REST : ''}`;
  }
  return out;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A terminal that is in use between `enter` and `leave`, while we are in its foreground. */
export class Screen {
  #shown: readonly string[] = [];
  #entered = false;
  #wasRaw = false;

  /** `input`: where keys come from, if it is a terminal. It flows while the screen is entered. */
  constructor(
    readonly output: WriteStream & { readonly fd: number },
    readonly input: ReadStream | undefined,
  ) {
    input?.pause();
    // Whatever ends the process, and before what others do then.
    process.prependListener('exit', () => {
      this.leave();
      // Node.js itself restores the modes of a terminal that was raw, from the background, too, and would be stopped.
      if (this.#wasRaw && !isInForeground()) endBySignal('SIGTERM');
    });
  }

  get size(): Size {
    // A terminal that does not know its size says 0.
    return { columns: Math.min(this.output.columns || 80, 1000), rows: Math.min(this.output.rows || 24, 1000) };
  }

  /** Takes the terminal, also again after another program had it. In the background gives up what it has of it. */
  enter(): void {
    if (!isInForeground()) {
      this.leave();
      return;
    }
    // Node does not set the raw mode again if it thinks that it is already set, so it is turned off first.
    this.input?.setRawMode(false);
    this.input?.setRawMode(true).resume();
    this.#wasRaw = this.input !== undefined;
    this.output.write(`${this.#entered ? '' : ALTERNATE}${HIDE_CURSOR}`);
    this.#entered = true;
    this.clear();
  }

  clear(): void {
    this.#shown = [];
    if (this.#entered) this.output.write(CLEAR);
  }

  /** A shell may take the terminal, and give it (`fg`), without a word to us. */
  draw(lines: readonly string[]): void {
    if (this.#entered !== isInForeground()) this.enter();
    if (!this.#entered) return;
    const { columns, rows } = this.size;
    const fitting = lines.slice(0, rows).map(line => clip(line, columns));
    const changes = difference(this.#shown, fitting, columns);
    this.#shown = fitting;
    if (changes !== '') this.output.write(changes);
  }

  leave(): void {
    if (!this.#entered) return;
    this.#entered = false;
    this.input?.pause();
    try {
      writeSync(this.output.fd, `${SHOW_CURSOR}${PRIMARY}`);
      // A program that lost the foreground may write, but not change the modes, and the shell has restored these.
      if (isInForeground()) this.input?.setRawMode(false);
    } catch {
      // The terminal is gone: there is nothing to restore.
    }
  }
}

/**
 * Stops and goes on as programs do that know nothing of terminals, and then calls `draw`, until `end` is called.
 * `suspend` stops this process, or with 0 all processes in the foreground.
 */
export function followStops(screen: Screen, draw: () => void): { suspend: (whom: number) => void; end: () => void } {
  const resume = () => {
    screen.enter();
    draw();
  };
  const suspend = (whom: number) => {
    screen.leave();
    process.off('SIGTSTP', stopped);
    // The process stops here. If nobody could make it go on (there is no shell), the kernel does not stop it.
    process.kill(whom, 'SIGTSTP');
    process.on('SIGTSTP', stopped);
    resume();
  };
  const stopped = () => suspend(process.pid);
  process.on('SIGTSTP', stopped).on('SIGCONT', resume);
  return { suspend, end: () => process.off('SIGTSTP', stopped).off('SIGCONT', resume) };
}
