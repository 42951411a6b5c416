// Keeps a file of /proc or /sys open and reads it again from its beginning. Refuses what is not a regular file and what
// is larger than 4 MiB, and never waits: after any error the reading is absent, and the next one tries again.

import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { readText } from '../native/index.js';
import { attempt } from '../text/failure.js';

export type Tell = (message: string) => void;

/** No kernel file that we read is nearly as large; a larger one is a mistake or an attack. */
export const MOST_BYTES = 4 << 20;
/** No file that is read rarely is nearly as large: a file below /sys has at most a page. */
export const MOST_SMALL = 64 << 10;
/** A planted FIFO must not hang us (NONBLOCK), and a terminal must not become our controlling one (NOCTTY). */
const MODE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** The errors for a file that the kernel does not have: it was never made, or is switched off (pressure by psi=0). */
const ABSENT = ['ENOENT', 'ENOTDIR', 'EOPNOTSUPP', 'ENOTSUP'];

/** For so many readings an optional file that is missing is not looked for again: looking costs more than reading. */
const ABSENT_FOR = 10;

/** Passes on a complaint once, until its subject works again. */
class Once {
  #isReported = false;

  constructor(private readonly tell: Tell | undefined) {}

  failed(message: string): void {
    if (!this.#isReported) this.tell?.(message);
    this.#isReported = true;
  }

  works(): void {
    this.#isReported = false;
  }
}

/** One kernel file, opened at the first reading. */
export class KernelFile {
  readonly #once: Once;
  readonly #inPart: Once;
  #fd = -1;
  #absentFor = 0;
  /** The result of the last parsing, and its text. */
  #last: { text: string; parser: unknown; parsed: unknown; isWhole: boolean } | undefined;

  /**
   * @param tell hears once, in one line, that the file cannot be read or is not understood, until it works again
   * @param optional not every kernel has this file: its absence is not worth a line, and looked into only now and then
   */
  constructor(
    readonly path: string,
    tell?: Tell,
    private readonly optional = false,
  ) {
    this.#once = new Once(tell);
    this.#inPart = new Once(tell);
  }

  /**
   * The result of `parser` for the whole text. It must depend only on the text, because an unchanged text is not parsed
   * again. Undefined if the file cannot be read or the parser refuses it. It may leave out lines, and says so.
   */
  parse<T>(parser: (text: string, leaveOut: () => void) => T | undefined, most = MOST_BYTES): Readonly<T> | undefined {
    const text = this.#text(most);
    if (text === undefined) return undefined;
    if (this.#last?.text !== text || this.#last.parser !== parser) {
      let isWhole = true;
      const parsed = parser(text, () => {
        isWhole = false;
      });
      this.#last = { text, parser, parsed, isWhole };
    }
    const parsed = this.#last.parsed as T | undefined;
    if (parsed === undefined) {
      this.#once.failed(`${this.path} has unexpected content: its readings are left out`);
      return undefined;
    }
    this.#once.works();
    if (this.#last.isWhole) this.#inPart.works();
    else this.#inPart.failed(`${this.path} has a line that is not understood: it is left out`);
    return parsed;
  }

  /** Whether the parser left out lines of the last text. */
  get isInPart(): boolean {
    return this.#last?.isWhole === false;
  }

  close(): void {
    if (this.#fd === -1) return;
    // Whatever close returns, the descriptor is gone.
    attempt(() => closeSync(this.#fd));
    this.#fd = -1;
  }

  #text(most: number): string | undefined {
    if (this.#absentFor > 0) {
      this.#absentFor--;
      return undefined;
    }
    if (this.optional && this.#fd === -1 && !existsSync(this.path)) {
      // Not by an exception: making one costs more than reading a file.
      this.#absentFor = ABSENT_FOR - 1;
      return undefined;
    }
    try {
      if (this.#fd === -1) this.#open();
      // UTF-8, because names in the file go into the report with the bytes that the kernel gave.
      const text = readText(this.#fd, most, false);
      if (typeof text === 'string') return text;
      const name = getSystemErrorName(text);
      throw new Error(name === 'EFBIG' ? `larger than ${most} bytes` : name);
    } catch (error) {
      this.close();
      const code = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
      if (this.optional && ABSENT.includes(code)) this.#absentFor = ABSENT_FOR - 1;
      else this.#once.failed(`cannot read ${this.path}: ${code}`);
      return undefined;
    }
  }

  #open(): void {
    this.#fd = openSync(this.path, MODE);
    if (!fstatSync(this.#fd).isFile()) throw new Error('not a regular file');
  }
}

/** The text, or its first `most` bytes, of a regular file that is read rarely. Undefined after any error. */
export function readOnce(path: string, most?: number): string | undefined {
  const text = readText(path, most ?? MOST_SMALL, most !== undefined);
  return typeof text === 'string' ? text : undefined;
}
