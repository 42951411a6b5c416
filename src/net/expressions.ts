// Symbolic expressions on the wire: texts as atoms that every reader interprets in the same way, and the answer of
// another server, split into its elements while its bytes arrive. Knows nothing of their meaning.

/** How deep lists may be nested. Our own are four deep. */
const MOST_DEEP = 16;
const MOST_ATOM = 4096;
/** How many atoms and lists an element may have at any depth: parsing makes an object of each. */
const MOST_PARTS = 4096;
/** How many elements an answer may have by default. */
const MOST_ELEMENTS = 1 << 20;

const [OPEN, CLOSE, QUOTE, BACKSLASH] = [0x28, 0x29, 0x22, 0x5c];
const isSpace = (byte: number) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
/** Lisp's reader executes what follows `#.`, and takes `\)` for a letter. */
const SPECIAL = new Set(Buffer.from("';`,|#\\"));
/** An atom without quotes: only characters that every reader takes for letters. */
const isPlain = (byte: number) => byte > 0x20 && byte < 0x7f && !SPECIAL.has(byte);

/** Names that Lisp reads unchanged: no colon, which would name a package; not a number; and not NIL. */
const SYMBOL = /^(?!nil$)[a-z][a-z0-9_-]*$/i;

/** A text as an atom: plain if every reader takes it for a symbol, else in quotes; in ASCII, with `?` for others. */
export function atom(text: string): string {
  if (SYMBOL.test(text)) return text;
  return `"${text.replace(/[^ -~]/gu, '?').replace(/[\\"]/g, '\\$&')}"`;
}

/** An invalid expression, and why. */
export class BadExpression extends Error {}

/** A member of the outer list. */
export interface Element {
  readonly start: number;
  readonly end: number;
}

/** One answer: an outer list, and the lists in it. */
export interface Expression {
  readonly bytes: Buffer;
  readonly elements: readonly Element[];
}

/** Parses the bytes of one answer as they arrive. An error is found at the first wrong byte. */
export class Scanner {
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  readonly #elements: Element[] = [];
  #depth = 0;
  /** Within quotes, within an atom without quotes, or between atoms. */
  #within: 'quotes' | 'atom' | undefined;
  #isEscaped = false;
  #atom = 0;
  #start = 0;
  /** Members of the element so far, whether the last one is a list, and how many atoms and lists all of them have. */
  #members = 0;
  #endsInList = false;
  #parts = 0;

  /** `most`: the longest answer, bytes; `mostElements`: the largest number of elements. */
  constructor(
    readonly most: number,
    readonly mostElements = MOST_ELEMENTS,
  ) {}

  /** The whole answer, once its last byte has arrived. Throws BadExpression. */
  push(chunk: Buffer): Expression | undefined {
    const from = this.#length;
    if (from + chunk.length > this.most) throw new BadExpression(`is longer than ${this.most} bytes`);
    this.#keep(chunk);
    for (let i = 0; i < chunk.length; i++) {
      if (!this.#take(chunk[i] as number, from + i)) continue;
      for (let rest = i + 1; rest < chunk.length; rest++)
        if (!isSpace(chunk[rest] as number)) throw new BadExpression('continues after its end');
      return { bytes: this.#bytes.subarray(0, this.#length), elements: this.#elements };
    }
    return undefined;
  }

  /** An answer that arrives at once is not copied; one in many pieces takes no more room than one in few. */
  #keep(chunk: Buffer): void {
    const from = this.#length;
    this.#length += chunk.length;
    if (from === 0) {
      this.#bytes = chunk;
      return;
    }
    if (this.#length > this.#bytes.length) {
      const room = Math.max(this.#length, Math.min(this.most, 2 * this.#bytes.length));
      const larger = Buffer.allocUnsafe(room);
      this.#bytes.copy(larger, 0, 0, from);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, from);
  }

  /** Whether this byte, at that place, is the last one. */
  #take(byte: number, at: number): boolean {
    if (this.#within === 'quotes') this.#inQuotes(byte);
    else if (byte === OPEN) this.#open(at);
    else if (byte === CLOSE) return this.#close(at);
    else if (byte === QUOTE) this.#begin('quotes');
    else if (isSpace(byte)) this.#within = undefined;
    else if (!isPlain(byte)) throw new BadExpression(`has the byte ${byte}, which is not allowed in this protocol`);
    else if (this.#within === undefined) this.#begin('atom');
    else this.#grow();
    return false;
  }

  #begin(what: 'quotes' | 'atom'): void {
    if (this.#depth < 2)
      throw new BadExpression(this.#depth === 0 ? 'is not a list' : 'has an element that is not a list');
    this.#part();
    if (this.#depth === 2) this.#member(false);
    this.#within = what;
    this.#atom = 1;
  }

  #member(isList: boolean): void {
    this.#members++;
    this.#endsInList = isList;
  }

  #part(): void {
    if (++this.#parts > MOST_PARTS)
      throw new BadExpression(`has an element of more than ${MOST_PARTS} atoms and lists`);
  }

  #grow(): void {
    if (++this.#atom > MOST_ATOM) throw new BadExpression(`has an atom of more than ${MOST_ATOM} bytes`);
  }

  #inQuotes(byte: number): void {
    this.#grow();
    if (byte < 0x20) throw new BadExpression('has a control character in quotes');
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) this.#within = undefined;
  }

  #open(at: number): void {
    this.#within = undefined;
    if (this.#depth >= MOST_DEEP) throw new BadExpression(`has lists more than ${MOST_DEEP} deep`);
    if (this.#depth >= 2) this.#part();
    if (this.#depth === 2) this.#member(true);
    if (this.#depth === 1) this.#begun(at);
    this.#depth++;
  }

  #begun(at: number): void {
    if (this.#elements.length >= this.mostElements)
      throw new BadExpression(`has more than ${this.mostElements} elements`);
    [this.#start, this.#members, this.#endsInList, this.#parts] = [at, 0, false, 0];
  }

  #close(at: number): boolean {
    this.#within = undefined;
    if (this.#depth === 0) throw new BadExpression('is not a list');
    this.#depth--;
    if (this.#depth === 1) {
      if (this.#members < 3 || !this.#endsInList)
        throw new BadExpression('has an element without a name, a category and a list of data');
      this.#elements.push({ start: this.#start, end: at + 1 });
    }
    return this.#depth === 0;
  }
}

/** An expression as objects: atoms as texts, lists as arrays. */
export type ExpressionTree = string | readonly ExpressionTree[];

/** Parses an element: it becomes as many objects as it has atoms and lists. */
export function treeOf(expression: Expression, { start, end }: Element): readonly ExpressionTree[] {
  const text = expression.bytes.toString('latin1', start, end);
  const stack: ExpressionTree[][] = [[]];
  for (const [token, quoted] of text.matchAll(/[()]|"((?:[^"\\]|\\.)*)"|[^\s()"]+/gs)) {
    const list = stack.at(-1) as ExpressionTree[];
    if (token === '(') stack.push([]);
    else if (token === ')') (stack[stack.length - 2] as ExpressionTree[]).push(stack.pop() as ExpressionTree[]);
    else list.push(quoted === undefined ? token : quoted.replace(/\\(.)/gs, '$1'));
  }
  return (stack[0] as ExpressionTree[])[0] as readonly ExpressionTree[];
}

/** The first atoms of an element, as texts, up to the first list. */
export function atomsOf({ bytes }: Expression, { start, end }: Element, most: number): string[] {
  const atoms: string[] = [];
  for (let i = start + 1; i < end && atoms.length < most; ) {
    const byte = bytes[i] as number;
    if (byte === OPEN || byte === CLOSE) break;
    if (isSpace(byte)) {
      i++;
      continue;
    }
    const from = i++;
    if (byte === QUOTE) {
      for (; bytes[i] !== QUOTE; i++) if (bytes[i] === BACKSLASH) i++;
      atoms.push(bytes.toString('utf8', from + 1, i++).replace(/\\(.)/gs, '$1'));
    } else {
      while (!isSpace(bytes[i] as number) && bytes[i] !== OPEN && bytes[i] !== CLOSE && bytes[i] !== QUOTE) i++;
      atoms.push(bytes.toString('latin1', from, i));
    }
  }
  return atoms;
}
