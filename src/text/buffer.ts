// A buffer for the bytes of a document: prepared parts and numbers are written into it one after another. Knows nothing
// of the contents.

const BLANK = 0x20;
const ZERO = 0x30;
const POINT = 0x2e;
const MINUS = 0x2d;
const BILLION = 1e9;
/** Digits after the decimal point, at most six. */
const POWERS = [1, 10, 100, 1000, 1e4, 1e5, 1e6];
/** The digits of 0 to 99: tens in the high byte, ones in the low. */
const PAIRS = Uint16Array.from({ length: 100 }, (_, i) => ((ZERO + Math.floor(i / 10)) << 8) | (ZERO + (i % 10)));

/** The number of digits of a whole number below 2^31. */
function digitsOf(value: number): number {
  let digits = 1;
  for (let limit = 10; limit <= value && digits < 10; limit *= 10) digits++;
  return digits;
}

/** The bytes of a double, by which prepared texts are written. No text has the bytes of a NaN, which might be changed. */
export const WORD = 8;

/** A short text that is written often: written by words, which takes an eighth of the time. */
export class PreparedText {
  readonly words: Float64Array;
  readonly length: number;

  constructor(text: string) {
    const bytes = Buffer.from(text);
    this.length = bytes.length;
    this.words = new Float64Array(Math.ceil(bytes.length / WORD));
    new Uint8Array(this.words.buffer).set(bytes);
  }
}

/**
 * A buffer that is filled and emptied again and again. The writer makes sure that there is room: a typed array forgets what
 * is written beyond its end, so a length beyond it throws a RangeError.
 */
export class Page {
  readonly bytes: Uint8Array;
  readonly #words: DataView;
  #length = 0;

  constructor(room: number) {
    // The last word of a prepared text reaches beyond its end.
    const buffer = new ArrayBuffer(room + WORD - 1);
    this.bytes = new Uint8Array(buffer, 0, room);
    this.#words = new DataView(buffer);
  }

  get length(): number {
    return this.#length;
  }

  set length(length: number) {
    if (length > this.bytes.length)
      throw new RangeError(`a page of ${this.bytes.length} bytes has no room for ${length}`);
    this.#length = length;
  }

  get room(): number {
    return this.bytes.length - this.length;
  }

  /** The filled part, to be used before more is written. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  part(part: Uint8Array): void {
    const { length } = this;
    this.bytes.set(part, length);
    this.length = length + part.length;
  }

  prepared({ words, length }: PreparedText): void {
    const at = this.length;
    // In the byte order of this machine, in which the prepared words were made. All machines that we support are
    // little-endian.
    for (let i = 0; i < words.length; i++) this.#words.setFloat64(at + WORD * i, words[i] as number, true);
    this.length = at + length;
  }

  /** As UTF-8. A lone surrogate, which has no bytes in it, becomes U+FFFD. */
  text(text: string): void {
    const { bytes, length } = this;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        this.part(Buffer.from(text));
        return;
      }
      bytes[length + i] = code;
    }
    this.length = length + text.length;
  }

  /** A short text from among others, behind which `from` has seven bytes more: by words, likewise. */
  copy(from: DataView, start: number, end: number): void {
    const to = this.length - start;
    for (let at = start; at < end; at += WORD) this.#words.setFloat64(to + at, from.getFloat64(at, true), true);
    this.length = to + end;
  }

  /** The `digits` lowest digits of a whole number below 2^31: two at a time, the first alone if their number is odd. */
  digits(value: number, digits: number): void {
    const { bytes, length } = this;
    let rest = value | 0;
    let at = length + digits;
    while (at - length >= 2) {
      const hundredth = (rest / 100) | 0;
      const pair = PAIRS[rest - hundredth * 100] as number;
      bytes[--at] = pair & 0xff;
      bytes[--at] = pair >> 8;
      rest = hundredth;
    }
    if (at > length) bytes[at - 1] = ZERO + (rest % 10);
    this.length = length + digits;
  }

  /** A whole number of 0 to 2^53 - 1, aligned right in a column of this width. */
  whole(value: number, width = 0): void {
    // Most numbers are small.
    if (value < 10 && width === 0) {
      this.bytes[this.length++] = ZERO + value;
      return;
    }
    if (value < BILLION) {
      const digits = digitsOf(value);
      for (let blanks = width - digits; blanks > 0; blanks--) this.bytes[this.length++] = BLANK;
      this.digits(value, digits);
      return;
    }
    const billions = Math.floor(value / BILLION);
    const digits = digitsOf(billions);
    for (let blanks = width - digits - 9; blanks > 0; blanks--) this.bytes[this.length++] = BLANK;
    this.digits(billions, digits);
    this.digits(value - billions * BILLION, 9);
  }

  /** A number of at most ±(2^53 - 1) in plain decimal notation, with so many digits after the point, at most six. */
  decimal(value: number, digits: number): void {
    const scaled = Math.round(Math.abs(value) * (POWERS[digits] as number));
    // Beyond 2^53 the product has lost digits that the number itself has.
    if (scaled > Number.MAX_SAFE_INTEGER) this.text(value.toFixed(digits));
    else this.#scaled(value < 0, scaled, digits);
  }

  /** The same without zeros at its end: 1.5, 12; up to 10^21, the nearest double. */
  short(value: number, digits: number): void {
    let scaled = Math.round(Math.abs(value) * (POWERS[digits] as number));
    if (value >= 0 && Number.isSafeInteger(value)) this.whole(value);
    else if (scaled > Number.MAX_SAFE_INTEGER) this.text(String(value));
    else {
      let left = digits;
      // The remainder of a large number would be a call of the C library's.
      for (let tenth = Math.floor(scaled / 10); left > 0 && tenth * 10 === scaled; tenth = Math.floor(scaled / 10)) {
        scaled = tenth;
        left--;
      }
      this.#scaled(value < 0, scaled, left);
    }
  }

  /** A whole number with a decimal point before so many of its digits. */
  #scaled(isNegative: boolean, scaled: number, digits: number): void {
    if (isNegative && scaled > 0) this.bytes[this.length++] = MINUS;
    if (digits === 0) {
      this.whole(scaled);
      return;
    }
    const power = POWERS[digits] as number;
    const whole = Math.floor(scaled / power);
    this.whole(whole);
    this.bytes[this.length++] = POINT;
    this.digits(scaled - whole * power, digits);
  }
}
