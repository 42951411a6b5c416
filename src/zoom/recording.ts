// Answers of a node in a file, and back: a line of JSON each, so that what was recorded can be read without us. Knows nothing of what they mean.

import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Failure, UsageError } from '../common/failure.js';
import { type Expression, Scanner } from '../supermon/expressions.js';

const FORM = 'beoboard zoom 1';
/** How long a line may be, characters. */
const MOST_LINE = 32 << 20;
const MOST_ANSWER = 16 << 20;
/** What is gathered before it is written, characters. */
const PIECE = 1 << 16;

/** An answer, and when it came: ms since the schema did. */
export interface Heard {
  readonly ms: number;
  readonly answer: Expression;
}

/** Writes a recording. */
export class Recorder {
  #text = '';

  private constructor(
    readonly file: string,
    readonly handle: FileHandle,
  ) {}

  /** Throws a UsageError when the file cannot be made: one that is there is not written over. */
  static async create(file: string): Promise<Recorder> {
    try {
      return new Recorder(file, await open(file, 'wx'));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new UsageError(
        'zoom',
        code === 'EEXIST' ? `--record: ${file} is there already; name a new file` : `--record: ${message}`,
      );
    }
  }

  begin(node: string | undefined, schema: Expression): Promise<void> {
    return this.#add({ form: FORM, node, schema: schema.bytes.toString('latin1') });
  }

  add({ ms, answer }: Heard): Promise<void> {
    return this.#add({ ms, answer: answer.bytes.toString('latin1') });
  }

  async #add(line: object): Promise<void> {
    this.#text += `${JSON.stringify(line)}\n`;
    if (this.#text.length >= PIECE) await this.#write();
  }

  async #write(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    try {
      await this.handle.writeFile(text);
    } catch (error) {
      throw new Failure(`--record: ${(error as Error).message}`, 1);
    }
  }

  async close(): Promise<void> {
    try {
      await this.#write();
    } finally {
      await this.handle.close();
    }
  }
}

/** Lines that are whole; what a writer that was killed has left of the last one is not. */
async function* lines(file: string, refuse: (line: number, why: string) => Error): AsyncGenerator<string> {
  let text = '';
  let line = 1;
  for await (const chunk of createReadStream(file, { encoding: 'latin1', highWaterMark: PIECE })) {
    const parts = (text + (chunk as string)).split('\n');
    text = parts.pop() ?? '';
    yield* parts;
    line += parts.length;
    if (text.length > MOST_LINE) throw refuse(line, 'a line that is too long');
  }
}

/** A recording: its schema, the node that was asked for, and its answers as they are in the file. Throws a UsageError. */
export async function openRecording(
  file: string,
): Promise<{ schema: Expression; node: string | undefined; heard: AsyncGenerator<Heard> }> {
  const refuse = (line: number, why: string) =>
    new UsageError('zoom', `--play: ${file}:${line}: ${why}; give a file that --record has written`);
  const all = lines(file, refuse);
  const parse = (line: string, number: number): Record<string, unknown> => {
    try {
      const value: unknown = JSON.parse(Buffer.from(line, 'latin1').toString());
      if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
    } catch {
      // Told below.
    }
    throw refuse(number, 'no object of JSON');
  };
  const expression = (text: unknown, number: number): Expression => {
    try {
      const found = typeof text === 'string' ? new Scanner(MOST_ANSWER).push(Buffer.from(text, 'latin1')) : undefined;
      if (found !== undefined) return found;
    } catch {
      // Told below.
    }
    throw refuse(number, 'no answer of a server');
  };
  let head: IteratorResult<string>;
  try {
    head = await all.next();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      'zoom',
      `--play: cannot read ${file}: ${(error as NodeJS.ErrnoException).code}; give a file that --record has written`,
    );
  }
  const { form, node, schema } = head.done ? {} : parse(head.value, 1);
  if (form !== FORM) throw refuse(1, 'no recording');
  async function* answers(): AsyncGenerator<Heard> {
    let number = 1;
    for await (const line of all) {
      const { ms, answer } = parse(line, ++number);
      if (typeof ms !== 'number') throw refuse(number, 'no time');
      yield { ms, answer: expression(answer, number) };
    }
  }
  return { schema: expression(schema, 1), node: typeof node === 'string' ? node : undefined, heard: answers() };
}
