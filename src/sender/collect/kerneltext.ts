// Finds lines and numbers in the text of kernel files, in linear time. Never throws; anything that is not an unsigned
// 64-bit decimal number, or is cut before its end, is undefined.

/** A 64-bit number: a bigint only beyond 2^53, which bytes on a fast link reach within days. */
export type KernelCount = number | bigint;

/** Hears that a parser leaves out a line which it does not understand, and takes the others. */
export type LeaveOut = () => void;
export const quietly: LeaveOut = () => undefined;

/** What was made of the lines of a text, without those that are not understood; undefined if none of them is. */
export function understood<T>(lines: readonly (T | undefined)[], leaveOut: LeaveOut): T[] | undefined {
  const all = lines.filter(line => line !== undefined);
  if (all.length < lines.length) leaveOut();
  return all.length > 0 || lines.length === 0 ? all : undefined;
}

/**
 * Parses the lines of a file that is read again and again. What was made of a line is kept for the next text: of
 * thousands of interfaces most are idle, and comparing a line takes a tenth of the time of parsing it.
 */
export class LineParser<T> {
  #before = { text: '', start: 0, made: [] as (T | undefined)[] };

  /**
   * @param line a sticky expression, for the beginning of a line
   * @param parse what to make of what it finds; what it returns must not hold parts of the text, which would keep all of
   *   it
   */
  constructor(
    private readonly line: RegExp,
    private readonly parse: (found: RegExpExecArray) => T | undefined,
  ) {}

  /** What is made of each line from `start` on; undefined where the expression finds nothing. */
  lines(text: string, start: number): readonly (T | undefined)[] {
    const { line, parse } = this;
    const before = this.#before;
    const made: (T | undefined)[] = [];
    let then = before.start;
    for (let at = start; at < text.length; ) {
      const end = text.indexOf('\n', at) + 1 || text.length;
      const thenEnd = then < before.text.length ? before.text.indexOf('\n', then) + 1 : then;
      if (end - at === thenEnd - then && text.slice(at, end) === before.text.slice(then, thenEnd))
        made.push(before.made[made.length]);
      else {
        line.lastIndex = at;
        const found = line.exec(text);
        made.push(found === null ? undefined : parse(found));
      }
      [at, then] = [end, thenEnd];
    }
    this.#before = { text, start, made };
    return made;
  }
}

/** The same text, without the longer one that it may be a part of. */
export const alone = (text: string): string => ` ${text}`.slice(1);

const U64_MOST = 0xffffffffffffffffn;

function narrow(value: bigint): KernelCount {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

const ZERO = 48;
const NINE = 57;
const BLANK = 32;
const LINE_END = 10;
/** A number with so many digits is exact. */
const EXACT_DIGITS = 15;
/** A number with so many digits may still fit into 64 bits. */
const MOST_DIGITS = 20;

/** A comparison with NaN, which follows every text, is false. */
const isDigit = (code: number) => code >= ZERO && code <= NINE;

/**
 * Reads a text from left to right. If something unexpected follows, the result is undefined or false and the position
 * is arbitrary: the text is refused. It works on single characters, because a report is made once a second by a program
 * that is no longer in the processor's caches, and so little has to be loaded again.
 */
export class TextCursor {
  at = 0;

  constructor(readonly text: string) {}

  /** Moves after `key` on the first line that begins with it. */
  line(key: string): boolean {
    const start = lineStart(this.text, key);
    this.at = start + key.length;
    return start !== -1;
  }

  get isWhole(): boolean {
    return this.text.indexOf('\n', this.at) !== -1;
  }

  eat(text: string): boolean {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  /** The next number, with at most so many digits. */
  digits(most = MOST_DIGITS): KernelCount | undefined {
    const { text } = this;
    const from = this.at;
    if (!this.eatDigits(most)) return undefined;
    if (this.at - from <= EXACT_DIGITS) {
      let value = 0;
      for (let at = from; at < this.at; at++) value = value * 10 + text.charCodeAt(at) - ZERO;
      return value;
    }
    const exact = BigInt(text.slice(from, this.at));
    return exact <= U64_MOST ? narrow(exact) : undefined;
  }

  /** A number that some kernels write below zero, with its sign or, then beyond `most`, without: that is 0. */
  natural(most: number, leaveOut: LeaveOut): KernelCount | undefined {
    const isNegative = this.eat('-');
    const value = this.digits();
    if (value === undefined || !(isNegative || value > most)) return value;
    leaveOut();
    return 0;
  }

  /** Skips digits, whatever number they are. */
  eatDigits(most = MOST_DIGITS): boolean {
    const from = this.at;
    while (isDigit(this.text.charCodeAt(this.at))) this.at++;
    return this.at > from && this.at <= from + most;
  }

  /** A number with two decimals, as the kernel writes loads and pressures, in hundredths. */
  hundredths(): KernelCount | undefined {
    const whole = this.digits();
    if (whole === undefined || !this.eat('.')) return undefined;
    const from = this.at;
    const part = this.digits(2);
    return part === undefined || this.at !== from + 2 ? undefined : add(times(whole, 100), part);
  }

  blanks(): void {
    while (this.text.charCodeAt(this.at) === BLANK) this.at++;
  }

  /** Skips blanks and a word, which must be a number. */
  count(): KernelCount | undefined {
    this.blanks();
    const value = this.digits();
    return this.isBetweenWords() ? value : undefined;
  }

  isBetweenWords(): boolean {
    const next = this.text.charCodeAt(this.at);
    return next === BLANK || next === LINE_END;
  }

  isAtLineEnd(): boolean {
    return this.text.charCodeAt(this.at) === LINE_END;
  }
}

/** The number of decimal digits, and nothing else. */
export function digits(text: string): KernelCount | undefined {
  return text.length <= EXACT_DIGITS ? Number(text) : u64(text);
}

/** The number of a token, in decimal digits only. */
export function u64(token: string | undefined): KernelCount | undefined {
  if (token === undefined) return undefined;
  const cursor = new TextCursor(token);
  const value = cursor.digits();
  return cursor.at === token.length ? value : undefined;
}

/** The number after `key` on the first line that begins with it; nothing else may follow. */
export function countAfter(text: string, key: string): KernelCount | undefined {
  const cursor = new TextCursor(text);
  if (!cursor.line(key)) return undefined;
  const value = cursor.digits();
  return cursor.isAtLineEnd() ? value : undefined;
}

export function add(a: KernelCount, b: KernelCount): KernelCount {
  const sum = typeof a === 'number' && typeof b === 'number' ? a + b : Number.NaN;
  return Number.isSafeInteger(sum) ? sum : narrow(BigInt(a) + BigInt(b));
}

export function times(a: KernelCount, b: KernelCount): KernelCount {
  const product = typeof a === 'number' && typeof b === 'number' ? a * b : Number.NaN;
  return Number.isSafeInteger(product) ? product : narrow(BigInt(a) * BigInt(b));
}

/** a - b, or 0 where that would be negative. */
export function less(a: KernelCount, b: KernelCount): KernelCount {
  if (typeof a === 'number' && typeof b === 'number') return a > b ? a - b : 0;
  return a > b ? narrow(BigInt(a) - BigInt(b)) : 0;
}

/** a / b, rounded down. */
export function over(a: KernelCount, b: number): KernelCount {
  return typeof a === 'number' ? Math.floor(a / b) : narrow(a / BigInt(b));
}

/** A counter modulo 2^32, as in the report. */
export function modulo32(value: KernelCount): number {
  return typeof value === 'number' ? value % 2 ** 32 : Number(BigInt.asUintN(32, value));
}

/** Below this limit, a quotient of whole numbers is rounded down correctly. */
const MOST_DIVISOR = 2 ** 40;

/** A part of a whole in thousandths, rounded down, at most 1000. */
export function thousandths(part: KernelCount, whole: KernelCount): number {
  if (part >= whole) return 1000;
  if (typeof part === 'number' && typeof whole === 'number' && whole < MOST_DIVISOR)
    return Math.floor((part * 1000) / whole);
  return Number((BigInt(part) * 1000n) / BigInt(whole));
}

/** The beginning of the first line that begins with `key`; -1 if there is none. */
export function lineStart(text: string, key: string): number {
  let at = text.indexOf(key);
  while (at > 0 && text.charCodeAt(at - 1) !== LINE_END) at = text.indexOf(key, at + 1);
  return at;
}

/** The text after `key` on the first line that begins with it; undefined if there is none or it was cut. */
export function lineAfter(text: string, key: string): string | undefined {
  const start = lineStart(text, key);
  if (start === -1) return undefined;
  const end = text.indexOf('\n', start);
  return end === -1 ? undefined : text.slice(start + key.length, end);
}

/** The lines of a text; the part after the last line end does not count. */
export function* lines(text: string): Generator<string> {
  for (let start = 0; ; ) {
    const end = text.indexOf('\n', start);
    if (end === -1) return;
    yield text.slice(start, end);
    start = end + 1;
  }
}

/** All parts of something, or undefined if one of them is: a sum of the rest would be wrong. */
export function whole<const Parts extends object>(
  parts: Parts,
): { [Part in keyof Parts]: Exclude<Parts[Part], undefined> } | undefined {
  return Object.values(parts).includes(undefined) ? undefined : (parts as NonNullable<ReturnType<typeof whole<Parts>>>);
}

/** What is said where there are more than a sender takes. */
export const tooMany = (most: number, what: string) => `there are more than ${most} ${what}: they are left out`;

/** Whether two lists have the same names in the same order. */
export function sameNames(a: readonly { name: string }[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(({ name }, i) => name === b[i]);
}
