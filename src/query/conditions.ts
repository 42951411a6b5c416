// Conditions on the readings of a node: mem_avail < 1GiB && state == live. Parses and evaluates; knows nothing of
// boards.

import { cursorOf } from '../readings/cursor.js';
import {
  type EntryList,
  type EntryReading,
  entriesOf,
  entryReadings,
  entryValue,
  isEntry,
} from '../readings/entries.js';
import type { Reading, Value } from '../readings/measures.js';
import { meantReading, readingOf } from '../readings/readings.js';
import { exampleOf, isUnit, type Quantity, writtenUnit } from '../readings/units.js';
import { STATES } from '../shm/liveness.js';
import { PROBLEMS } from '../shm/problems.js';
import type { Node } from '../shm/snapshot.js';
import { usable } from '../text/failure.js';
import { compilePattern, MOST_INSTRUCTIONS } from '../text/patterns.js';
import { didYouMean, InputError, lowerCase, nearest, quote } from '../text/text.js';

/** Whether the condition is true for a node. */
export type Condition = (node: Node) => boolean;

/** The same for one entry of a node, if the condition is about each of them, for example each GPU. */
type Holds = (node: Node, entry: number) => boolean;

type TokenKind = 'word' | 'number' | 'text' | 'sign' | 'end';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly unit?: string;
  /** The column where the token begins, counted from 1. */
  readonly column: number;
}

const TOKEN =
  /\s*(?:(?<number>0[xX][\dA-Fa-f]{1,16}(?![\w.])|-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:%|°?[A-Za-z]+(?:\/s)?)?(?![\w.]))|(?<word>[A-Za-z_][\w.-]*)|(?<text>"[^"]*"|'[^']*')|(?<sign>&&|\|\||==|!=|!~|<=|>=|[<>!~()]))/y;
/** A number, which may be hexadecimal, and the unit after it. An e is part of the number only before digits. */
const NUMBER = /^(0[xX][\dA-Fa-f]+|-?[\d.]+(?:[eE][-+]?\d+)?)(.*)$/s;
const numberIn = (text: string) => (/^0x[\da-f]+$/i.test(text) ? Number(text) : Number.parseFloat(text));
/** Deeper than people write. A text of a million brackets is refused and cannot exhaust the stack. */
const DEEPEST = 100;

function wrong(column: number, what: string, hint: string): InputError {
  return new InputError(`column ${column}: ${what}; ${hint}`);
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; ; at = TOKEN.lastIndex) {
    const match = TOKEN.exec(text);
    if (match === null) {
      const column = at + (/^\s*/.exec(text.slice(at))?.[0].length ?? 0) + 1;
      if (column > text.length) return [...found, { kind: 'end', text: '', column }];
      if (
        found.slice(-2).some(({ kind, text }) => kind === 'sign' && text.endsWith('~')) &&
        !/["']/.test(text[column - 1] ?? '')
      )
        throw wrong(column, 'a pattern without quotes', 'write it in quotes, as in name ~ "^rack[12]"');
      const rest = text.slice(column - 1);
      const hints: [begins: RegExp, what: string, hint: string][] = [
        [/^=~/, "'=~'", 'write ~ to match a pattern'],
        [/^=/, "a single '='", 'write == to compare'],
        [/^&/, "a single '&'", 'write && for and'],
        [/^\|/, "a single '|'", 'write || for or'],
        [/^["']/, 'a text without its closing quote', 'write "text"'],
        [/^,/, 'a comma', 'compare with one value at a time, as in state == live || state == silent'],
        [/^\[/, 'a bracket', 'write the number of an entry after a point: gpu.0.util_pct'],
        [
          /^-?\d/,
          `${quote(/^\S*/.exec(rest)?.[0] ?? '')} is not a number`,
          'write digits, as in 1024 or 0.5, and a text in quotes',
        ],
      ];
      const [, what, hint] = hints.find(([begins]) => begins.test(rest)) ?? [
        /./,
        `${quote([...rest][0] ?? '')} is not allowed here`,
        'write FIELD < VALUE, as in load > 10',
      ];
      throw wrong(column, what, hint);
    }
    const [kind, content] = Object.entries(match.groups ?? {}).find(([, part]) => part !== undefined) ?? ['end', ''];
    const column = TOKEN.lastIndex - content.length + 1;
    const unit = kind === 'number' ? NUMBER.exec(content)?.[2] : undefined;
    found.push({
      kind: kind as TokenKind,
      text: kind === 'text' ? content.slice(1, -1) : content,
      column,
      ...(unit ? { unit } : {}),
    });
  }
}

const COMPARE: Record<string, (a: number | string, b: number | string) => boolean> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

interface Operand {
  readonly token: Token;
  /** The reading; undefined: a number or a text was written. */
  readonly reading?: Reading | EntryReading;
  readonly isText: boolean;
  readonly value: (node: Node, entry: number) => Value;
}

function valuesOf(reading: Reading | EntryReading): Operand['value'] {
  return 'list' in reading ? (node, entry) => entryValue(reading, node, entry) : node => reading.value(node);
}

const article = (quantity: Quantity) => `${/^[aeio]/.test(quantity) ? 'an' : 'a'} ${quantity}`;

/** Rounds off the last figures, where binary fractions are wrong: 0.1 s is 100 ms. */
function scaled(value: number, by: number): number {
  return by === 1 ? value : Number((value * by).toPrecision(12));
}

/** The number compared a reading, as a value of it: in its unit, or as a share of its whole. Throws an InputError. */
function writtenValue({ token }: Operand, reading: Reading | EntryReading): Operand['value'] {
  const { text, unit = '', column } = token;
  const { name, total, wantsUnit } = reading;
  const { quantity, size } = reading.unit;
  const number = numberIn(text);
  const example = `write ${exampleOf(quantity)}${total && quantity !== 'share' ? ' or 10%' : ''}, say`;
  if (unit === '') {
    if (wantsUnit) throw wrong(column, `${name} is ${article(quantity)}, and ${quote(text)} has no unit`, example);
    return () => number;
  }
  const base = writtenUnit(quantity, unit);
  if (base !== undefined) {
    const value = scaled(number, base / size);
    return () => value;
  }
  if (unit === '%' && total !== undefined) {
    const whole = 'list' in reading ? entryReadings().get(total) : readingOf(total);
    const share = scaled(number, ((whole?.unit.size ?? 1) * 0.01) / size);
    const of = whole && valuesOf(whole);
    return (node, entry) => {
      const value = of?.(node, entry);
      return typeof value === 'number' ? value * share : undefined;
    };
  }
  if (!isUnit(unit)) throw wrong(column, `${quote(unit)} in ${quote(text)} is not a unit`, example);
  throw wrong(column, `${name} is ${article(quantity)}, ${quote(text)} is not`, example);
}

/** A value that was not measured is neither equal to nor different from anything. */
function comparison(left: Operand, sign: Token, right: Operand): Holds {
  const compare = COMPARE[sign.text] ?? COMPARE['=='];
  let { value: a } = left;
  let { value: b } = right;
  if (left.reading !== undefined && right.reading !== undefined && !left.isText && !right.isText) {
    const [one, other] = [left.reading, right.reading];
    if (one.unit.quantity !== other.unit.quantity)
      throw wrong(
        right.token.column,
        `${one.name} is ${article(one.unit.quantity)}, ${other.name} ${article(other.unit.quantity)}`,
        'compare fields of the same kind',
      );
    const factor = other.unit.size / one.unit.size;
    if (factor !== 1) {
      const unscaled = b;
      b = (node, entry) => {
        const value = unscaled(node, entry);
        return typeof value === 'number' ? value * factor : value;
      };
    }
  } else if (left.reading !== undefined && right.token.kind === 'number') b = writtenValue(right, left.reading);
  else if (right.reading !== undefined && left.token.kind === 'number') a = writtenValue(left, right.reading);
  return (node, entry) => {
    const [one, other] = [a(node, entry), b(node, entry)];
    return one !== undefined && other !== undefined && typeof one === typeof other && compare?.(one, other) === true;
  };
}

/** Whether a text, or the word of a number that has words, matches a pattern. An unknown value does neither. */
function match(left: Operand, sign: Token, right: Token, compile: typeof compilePattern): Holds {
  const { reading } = left;
  const { words } = reading ?? {};
  if (reading === undefined || (!left.isText && words === undefined)) {
    const what = reading === undefined ? quote(left.token.text) : `${reading.name} is a number, which`;
    throw wrong(
      sign.column,
      `${what} cannot be matched with a pattern`,
      `write TEXT ${sign.text} "PATTERN", as in name ~ "^rack1"`,
    );
  }
  if (right.kind !== 'text' && right.kind !== 'word')
    throw wrong(
      right.column,
      'a pattern is missing',
      `write it in quotes, as in ${reading.name} ${sign.text} "^rack1"`,
    );
  const find = compile(right.text, `column ${right.column}`);
  const wanted = sign.text === '~';
  return (node, entry) => {
    const value = left.value(node, entry);
    const subject = typeof value === 'number' ? words?.[value] : value;
    return subject !== undefined && (find(subject) !== undefined) === wanted;
  };
}

/** True if it holds for at least one entry, or for all of them. Without entries neither is true. */
function ofEntries(all: boolean, list: EntryList, holds: Holds): Holds {
  return node => {
    const slots = entriesOf(cursorOf(node), list);
    let [count, some] = [0, 0];
    for (let entry = 0; entry < slots; entry++) {
      // Not all places for interfaces are in use.
      if (!isEntry(cursorOf(node), list, entry)) continue;
      count++;
      if (holds(node, entry)) some++;
    }
    return all ? some > 0 && some === count : some > 0;
  };
}

class Parser {
  #at = 0;
  #depth = 0;
  #room = MOST_INSTRUCTIONS;
  /** Within any(…) or all(…): the list whose entries are meant, once it is known. */
  #each: { list?: EntryList } | undefined;

  constructor(readonly tokens: readonly Token[]) {}

  get #next(): Token {
    return this.tokens[this.#at] ?? { kind: 'end', text: '', column: 1 };
  }

  #take(sign: string): boolean {
    if (this.#next.kind !== 'sign' || this.#next.text !== sign) return false;
    this.#at++;
    return true;
  }

  whole(): Condition {
    const holds = this.#either();
    const { kind, text, column } = this.#next;
    if (kind === 'end') return node => holds(node, -1);
    if (text === ')') throw wrong(column, "a ')' without its '('", 'leave it out');
    throw wrong(column, `${quote(text)} after a whole condition`, 'join conditions by && or ||');
  }

  #either(): Holds {
    const parts = [this.#both()];
    while (this.#take('||')) parts.push(this.#both());
    return parts.length === 1 ? (parts[0] as Holds) : (node, entry) => parts.some(part => part(node, entry));
  }

  #both(): Holds {
    const parts = [this.#not()];
    while (this.#take('&&')) parts.push(this.#not());
    return parts.length === 1 ? (parts[0] as Holds) : (node, entry) => parts.every(part => part(node, entry));
  }

  #not(): Holds {
    const { column } = this.#next;
    if (++this.#depth > DEEPEST) throw wrong(column, 'nested too deeply', `nest at most ${DEEPEST} times`);
    try {
      if (this.#take('!')) {
        const inner = this.#not();
        return (node, entry) => !inner(node, entry);
      }
      if (this.#take('(')) return this.#inBrackets(column);
      const { kind, text } = this.#next;
      const isCall = this.tokens[this.#at + 1]?.text === '(' && this.tokens[this.#at + 1]?.kind === 'sign';
      if (kind !== 'word' || !isCall) return this.#compared();
      if (text === 'recent') return this.#recent();
      if (text !== 'any' && text !== 'all')
        throw wrong(column, `${quote(text)} before a bracket`, 'write any(CONDITION) or all(CONDITION)');
      return this.#quantified(text);
    } finally {
      this.#depth--;
    }
  }

  #inBrackets(column: number): Holds {
    const inner = this.#either();
    if (!this.#take(')')) throw wrong(column, "a '(' without its ')'", "write ')'");
    return inner;
  }

  /** recent(oom): the reading `oom_recent`. */
  #recent(): Holds {
    this.#at += 2;
    const { column, text } = this.#next;
    const known: readonly string[] = PROBLEMS;
    if (!known.includes(text))
      throw wrong(
        column,
        `${quote(text)} is not a problem`,
        didYouMean(nearest(text, known), `write ${known.join(', ')}`),
      );
    this.#at++;
    if (!this.#take(')')) throw wrong(column, `recent(${text} without its ')'`, "write ')'");
    const value = valuesOf(readingOf(`${text}_recent`) as Reading);
    return (node, entry) => value(node, entry) === 1;
  }

  /** any(gpu.util > 90%), all(net.carrier). */
  #quantified(text: 'any' | 'all'): Holds {
    const { column } = this.#next;
    if (this.#each !== undefined)
      throw wrong(column, `${text}(…) within another`, 'write them one after the other, joined by &&');
    this.#at += 2;
    this.#each = {};
    try {
      const inner = this.#inBrackets(column + text.length);
      const { list } = this.#each;
      if (list === undefined)
        throw wrong(column, `${text}(…) names no GPU, group or interface`, `write ${text}(gpu.util > 90%), say`);
      return ofEntries(text === 'all', list, inner);
    } finally {
      this.#each = undefined;
    }
  }

  /** All patterns of a condition have the room of one, because a node may be matched with each. */
  readonly #compile: typeof compilePattern = (text, where) => {
    const find = compilePattern(text, where, this.#room);
    this.#room -= find.size;
    return find;
  };

  #compared(): Holds {
    const left = this.#operand(undefined);
    const sign = this.#next;
    if (sign.kind === 'sign' && /^!?~$/.test(sign.text)) {
      const pattern = this.tokens[this.#at + 1] ?? sign;
      this.#at += 2;
      return match(left, sign, pattern, this.#compile);
    }
    if (sign.kind !== 'sign' || COMPARE[sign.text] === undefined) {
      // A field alone is true if it was measured and is neither 0 nor empty.
      if (left.reading !== undefined) return (node, entry) => Boolean(left.value(node, entry));
      throw wrong(left.token.column, `${quote(left.token.text)} alone`, 'compare it with a field, as in load > 10');
    }
    this.#at++;
    const right = this.#operand(left.reading);
    if (left.reading === undefined && right.reading === undefined)
      throw wrong(left.token.column, 'no field is compared', 'write FIELD < VALUE, as in load > 10');
    this.#agree(left, right);
    return comparison(left, sign, right);
  }

  /** Refuses to compare a text with a number, which would never be true. */
  #agree(left: Operand, right: Operand): void {
    for (const [one, other] of [
      [left, right],
      [right, left],
    ] as const) {
      if (one.reading === undefined || other.reading !== undefined) continue;
      const isText = one.reading.isText === true;
      if (isText === other.isText) continue;
      const { text, column } = other.token;
      if (isText) throw wrong(column, `${one.reading.name} is a text, ${quote(text)} is a number`, `write "${text}"`);
      throw wrong(column, `${one.reading.name} is a number, ${quote(text)} is a text`, 'write a number');
    }
  }

  /** A reading, a number, or a text. `compared`: the reading it is compared with; the text may be one of its words. */
  #operand(compared: Operand['reading']): Operand {
    const token = this.#next;
    const { kind, text, column } = token;
    if (kind === 'end')
      throw wrong(column, 'the condition ends where a value is expected', 'write FIELD < VALUE, as in load > 10');
    if (kind === 'sign')
      throw wrong(column, `${quote(text)} where a value is expected`, 'write FIELD < VALUE, as in load > 10');
    this.#at++;
    if (kind === 'number') {
      const next = this.#next;
      if (token.unit === undefined && next.kind === 'word' && isUnit(next.text))
        throw wrong(next.column, `a blank before the unit ${quote(next.text)}`, `write ${text}${next.text}`);
      if (!Number.isFinite(numberIn(text))) throw wrong(column, `${quote(text)} is too large`, 'write a smaller one');
      return { token, isText: false, value: () => numberIn(text) };
    }
    const { words } = compared ?? {};
    if (kind === 'text' && words === undefined) return { token, isText: true, value: () => text };
    const known = compared?.name === 'state' ? STATES : words;
    const index = known?.indexOf(text) ?? -1;
    if (index >= 0)
      return words ? { token, isText: false, value: () => index } : { token, isText: true, value: () => text };
    const reading = compared?.name === 'state' || kind === 'text' ? undefined : this.#reading(token);
    if (reading !== undefined) return { token, reading, isText: reading.isText === true, value: valuesOf(reading) };
    if (known !== undefined) {
      const what = words ? `${compared?.name} is never ${quote(text)}` : `${quote(text)} is not a state`;
      throw wrong(column, what, didYouMean(nearest(text, known), `write ${known.join(', ')}`));
    }
    if (compared?.isText) return { token, isText: true, value: () => text };
    if (Object.hasOwn(ENTRY, text))
      throw wrong(
        column,
        `${text} stands for each ${ENTRY[text as EntryList]}`,
        `write any(${EACH[text as EntryList]}), say`,
      );
    const meantBy = MISTAKEN.get(lowerCase(text));
    if (meantBy !== undefined) throw wrong(column, ...meantBy);
    const advice = didYouMean(meantReading(text, entryReadings().keys()), 'beoboard describe lists them');
    throw wrong(column, `there is no field ${quote(text)}`, advice);
  }

  /** The reading of that name: of each entry within any(…) and all(…), otherwise of the node. */
  #reading({ text, column }: Token): Reading | EntryReading | undefined {
    const each = entryReadings().get(text);
    if (each === undefined) return readingOf(text);
    if (this.#each === undefined)
      throw wrong(
        column,
        `${text} belongs to each ${ENTRY[each.list]}, not to the node`,
        `write any(${text} …), all(${text} …), or ${text.replace(each.list, `${each.list}.0`)} of the first`,
      );
    const { list = each.list } = this.#each;
    if (list !== each.list)
      throw wrong(
        column,
        `${text} belongs to each ${ENTRY[each.list]}, and not to each ${ENTRY[list]}`,
        'write an any(…) for each',
      );
    this.#each.list = list;
    return each;
  }
}

/** Words of other languages, and how to write them here. */
const MISTAKEN: ReadonlyMap<string, readonly [what: string, hint: string]> = new Map([
  ['not', ["'not'", 'write ! for not, as in !held']],
  ['any', ['any without brackets', 'write any(CONDITION)']],
  ['all', ['all without brackets', 'write all(CONDITION)']],
]);

/** An example of a condition on the entries of each list. */
const EACH: Readonly<Record<EntryList, string>> = {
  group: 'group.temp > 90C',
  net: '!net.carrier',
  gpu: 'gpu.util < 5%',
};
const ENTRY: Readonly<Record<EntryList, string>> = { group: 'group of CPUs', net: 'network interface', gpu: 'GPU' };

/** Parses a condition. Throws an InputError of one line, with the column and the nearest name. */
export function parseCondition(text: string): Condition {
  return new Parser(tokens(text)).whole();
}

/** The same for a command line: throws a UsageError. */
export const filter = (text: string): Condition => usable(() => parseCondition(text), '--where: ');
