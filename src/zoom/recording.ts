// Recordings of a node's answers in a file: a line of JSON each, so that other programs can read it. Knows nothing of
// the answers' meaning.

import { constants } from 'node:fs';
import { access, type FileHandle, lstat, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BadExpression, type Expression, Scanner } from '../net/expressions.js';
import { Failure, UsageError } from '../text/failure.js';
import { isObject, jsonOf } from '../text/shape.js';
import { oneLine } from '../text/text.js';
import { MOST_ANSWER, MOST_ELEMENTS } from './nodelink.js';

const FORM = 'beoboard zoom 1';
/** The longest line, characters: JSON needs two for some characters of an answer. */
const MOST_LINE = 2 * MOST_ANSWER;
/** How much of a line may be outside of its strings, characters: nested values would take many times that in memory. */
const MOST_OUTSIDE = 256;
/** The longest gap, ms: a day. Whoever plays the recording waits for as long. */
const MOST_GAP_MS = 86_400_000;
/** How much is gathered before it is written, and how much is read at a time, characters. */
const PIECE = 1 << 16;

/** An answer, and when it came: ms since the schema. */
export interface Heard {
  readonly ms: number;
  readonly answer: Expression;
}

interface RecordingHead {
  /** The node that was asked for; undefined: none was named. */
  readonly node: string | undefined;
  readonly schema: Expression;
}

/** Writes a recording into a file that is made with its first answer. */
export class SampleRecorder {
  #text = '';
  #handle: FileHandle | undefined;

  private constructor(readonly file: string) {}

  /** Throws a UsageError if the file cannot be made: an existing file is not overwritten. */
  static async prepare(file: string): Promise<SampleRecorder> {
    const isThere = await lstat(file).then(
      () => true,
      () => false,
    );
    if (isThere) throw SampleRecorder.#refusal(file, Object.assign(new Error('EEXIST'), { code: 'EEXIST' }));
    await access(dirname(file), constants.W_OK | constants.X_OK).catch(error => {
      throw SampleRecorder.#refusal(file, error as NodeJS.ErrnoException);
    });
    return new SampleRecorder(file);
  }

  static #refusal(file: string, { code, message }: NodeJS.ErrnoException): UsageError {
    return new UsageError(
      `--record: ${oneLine(code === 'EEXIST' ? `${file} is there already; name a new file` : message)}`,
    );
  }

  begin({ node, schema }: RecordingHead): void {
    this.#gather({ form: FORM, node, schema: schema.bytes.toString('latin1') });
  }

  async add({ ms, answer }: Heard): Promise<void> {
    this.#gather({ ms, answer: answer.bytes.toString('latin1') });
    if (this.#handle === undefined || this.#text.length >= PIECE) await this.#write();
  }

  #gather(line: object): void {
    this.#text += `${JSON.stringify(line)}\n`;
  }

  async #write(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    this.#handle ??= await open(this.file, 'wx').catch(error => {
      throw SampleRecorder.#refusal(this.file, error as NodeJS.ErrnoException);
    });
    try {
      await this.#handle.writeFile(text);
    } catch (error) {
      throw new Failure(`--record: ${(error as Error).message}`, 1);
    }
  }

  async close(): Promise<void> {
    try {
      if (this.#handle !== undefined) await this.#write();
    } finally {
      await this.#handle?.close();
    }
  }
}

/** Whether a line of JSON consists mostly of strings. */
function isFlat(line: string): boolean {
  let outside = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '"') at = endOfText(line, at);
    else if (++outside > MOST_OUTSIDE) return false;
  }
  return true;
}

/** The end of the string that begins there. */
function endOfText(line: string, from: number): number {
  let at = from + 1;
  for (; at < line.length && line[at] !== '"'; at++) if (line[at] === '\\') at++;
  return at;
}

/** Parses lines into answers; their bytes are given as Latin-1. Throws a Failure that names the line. Pure. */
export class RecordingParser {
  #number = 0;
  #ms = 0;

  constructor(readonly file: string) {}

  #refuse(why: string): Failure {
    return new Failure(`${this.file}:${this.#number}: ${why}; give a file that --record has written`, 1);
  }

  #parse(line: string): Record<string, unknown> {
    const value = isFlat(line) ? jsonOf(Buffer.from(line, 'latin1').toString()) : undefined;
    if (isObject(value)) return value;
    throw this.#refuse('no object of JSON');
  }

  #expression(text: unknown): Expression {
    if (typeof text !== 'string') throw this.#refuse('no answer of a server');
    let why = 'is not whole';
    try {
      const found = new Scanner(MOST_ANSWER, MOST_ELEMENTS).push(Buffer.from(text, 'latin1'));
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof BadExpression)) throw error;
      why = error.message;
    }
    throw this.#refuse(`no answer of a server, since it ${why}`);
  }

  /** The first line. */
  head(line: string | undefined): RecordingHead {
    this.#number = 1;
    const { form, node, schema } = line === undefined ? {} : this.#parse(line);
    if (form !== FORM) throw this.#refuse('no recording');
    return { node: typeof node === 'string' ? node : undefined, schema: this.#expression(schema) };
  }

  /** Each line after it. */
  next(line: string): Heard {
    this.#number++;
    const { ms, answer } = this.#parse(line);
    if (typeof ms !== 'number' || !Number.isFinite(ms)) throw this.#refuse('no time');
    if (ms < this.#ms) throw this.#refuse(`the time ${ms} ms is before that of the line before, ${this.#ms} ms`);
    if (ms - this.#ms > MOST_GAP_MS) throw this.#refuse(`the time ${ms} ms is more than a day after ${this.#ms} ms`);
    this.#ms = ms;
    return { ms, answer: this.#expression(answer) };
  }

  /** The message if the file ends within the line after the last valid one. */
  tooLong(): Failure {
    this.#number++;
    return this.#refuse('a line that is too long');
  }
}

/** Complete lines. The part of a last line that a killed writer has left is ignored. */
async function* lines(handle: FileHandle, parser: RecordingParser): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  const pieces = handle.createReadStream({ encoding: 'latin1', highWaterMark: PIECE });
  try {
    for await (const piece of pieces as AsyncIterable<string>) {
      const [first = '', ...more] = piece.split('\n');
      parts.push(first);
      length += first.length;
      for (const part of more) {
        yield parts.join('');
        [parts, length] = [[part], part.length];
      }
      if (length > MOST_LINE) throw parser.tooLong();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new Failure(`cannot read ${parser.file}: ${code}`, 1);
  }
}

/** Opens the file; it must be readable without waiting for a writer. Throws a UsageError. */
async function openFile(file: string): Promise<FileHandle> {
  const refuse = (why: string) =>
    new UsageError(`--play: cannot read ${oneLine(file)}: ${why}; give a file that --record has written`);
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(error => {
    throw refuse((error as NodeJS.ErrnoException).code ?? 'it cannot be opened');
  });
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw refuse('it is not a plain file');
}

interface Recording extends RecordingHead {
  /** The answers in the file; their times never go back. Throws a Failure. */
  readonly heard: AsyncGenerator<Heard>;
  close(): Promise<void>;
}

/** Throws a UsageError for a file that cannot be read, and a Failure for a file that is not a recording. */
export async function openRecording(file: string): Promise<Recording> {
  const handle = await openFile(file);
  const close = () => handle.close();
  const parser = new RecordingParser(file);
  const all = lines(handle, parser);
  async function* heard(): AsyncGenerator<Heard> {
    for await (const line of all) yield parser.next(line);
  }
  try {
    const first = await all.next();
    return { ...parser.head(first.done ? undefined : first.value), heard: heard(), close };
  } catch (error) {
    await close();
    throw error;
  }
}
