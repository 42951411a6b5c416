// Finds lines and numbers in the text of kernel files, in linear time. Never throws; what is no unsigned 64-bit
// decimal number, or was cut before its end, is undefined.

/** A 64-bit number: a bigint only beyond 2^53, which bytes on a fast link reach within days. */
export type Count = number | bigint;

const U64_MOST = 0xffffffffffffffffn;

function narrow(value: bigint): Count {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/** The number that a token is, in decimal digits alone. */
export function u64(token: string | undefined): Count | undefined {
  if (token === undefined || !/^\d{1,20}$/.test(token)) return undefined;
  if (token.length < 16) return Number(token);
  const value = BigInt(token);
  return value <= U64_MOST ? narrow(value) : undefined;
}

export function add(a: Count, b: Count): Count {
  const sum = typeof a === 'number' && typeof b === 'number' ? a + b : Number.NaN;
  return Number.isSafeInteger(sum) ? sum : narrow(BigInt(a) + BigInt(b));
}

export function times(a: Count, b: Count): Count {
  const product = typeof a === 'number' && typeof b === 'number' ? a * b : Number.NaN;
  return Number.isSafeInteger(product) ? product : narrow(BigInt(a) * BigInt(b));
}

/** a - b, or 0 where that would be negative. */
export function less(a: Count, b: Count): Count {
  return a > b ? narrow(BigInt(a) - BigInt(b)) : 0;
}

/** a / b, rounded down. */
export function over(a: Count, b: number): Count {
  return typeof a === 'number' ? Math.floor(a / b) : narrow(a / BigInt(b));
}

/** A counter that the report counts modulo 2^32. */
export function modulo32(value: Count): number {
  return Number(BigInt.asUintN(32, BigInt(value)));
}

/** A part of a whole in thousandths, rounded down: 1000 at most, whatever the part. */
export function thousandths(part: Count, whole: Count): number {
  return Math.min(1000, Number((BigInt(part) * 1000n) / BigInt(whole)));
}

/** A number with two decimals, as the kernel writes loads and pressures, in hundredths. */
export function hundredths(token: string | undefined): Count | undefined {
  const match = /^(\d{1,20})\.(\d\d)$/.exec(token ?? '');
  const whole = u64(match?.[1]);
  return whole === undefined ? undefined : add(times(whole, 100), Number(match?.[2]));
}

/** Where the first line that begins with `key` begins; -1 when there is none. */
export function lineStart(text: string, key: string): number {
  if (text.startsWith(key)) return 0;
  const at = text.indexOf(`\n${key}`);
  return at === -1 ? -1 : at + 1;
}

/** What follows `key` on the first line that begins with it; undefined when there is none or it was cut. */
export function lineAfter(text: string, key: string): string | undefined {
  const start = lineStart(text, key);
  if (start === -1) return undefined;
  const end = text.indexOf('\n', start);
  return end === -1 ? undefined : text.slice(start + key.length, end);
}

/** The lines of a text; what follows the last line end is none. */
export function* lines(text: string): Generator<string> {
  for (let start = 0; ; ) {
    const end = text.indexOf('\n', start);
    if (end === -1) return;
    yield text.slice(start, end);
    start = end + 1;
  }
}

/** The words of a line. */
export function words(line: string): string[] {
  return line.split(' ').filter(word => word !== '');
}

/** The first word of a line whose rest may be long. */
export function firstWord(line: string | undefined): string | undefined {
  const end = line?.indexOf(' ') ?? -1;
  return end === -1 ? line : line?.slice(0, end);
}

/** Whether two lists of things name the same things in the same order. */
export function sameNames(a: readonly { name: string }[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(({ name }, i) => name === b[i]);
}
