// Conditions over the fields of a node: mem_avail_mib < 1024 && state == live. Parses and evaluates; knows no board.

import { UsageError } from '../common/failure.js';
import { InputError, nearest, quote } from '../common/text.js';
import { STATES } from '../shm/liveness.js';
import type { Node } from '../shm/reader.js';
import { type Field, fieldNames, fieldOf, type Value } from './fields.js';

/** Whether it holds for a node. */
export type Condition = (node: Node) => boolean;

type Kind = 'word' | 'number' | 'text' | 'sign' | 'end';

interface Token {
  readonly kind: Kind;
  readonly text: string;
  /** Where it begins, counted from 1. */
  readonly column: number;
}

const TOKEN =
  /\s*(?:(?<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.]))|(?<word>[A-Za-z_][\w.-]*)|(?<text>"[^"]*"|'[^']*')|(?<sign>&&|\|\||==|!=|<=|>=|[<>!()]))/y;
/** Deeper than people write; a text of a million brackets is refused, not a crash. */
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
      const rest = text.slice(column - 1);
      const hints: [begins: RegExp, what: string, hint: string][] = [
        [/^=/, "a single '='", 'write == to compare'],
        [/^&/, "a single '&'", 'write && for and'],
        [/^\|/, "a single '|'", 'write || for or'],
        [/^["']/, 'a text that is not closed', 'write "text"'],
        [/^-?\d/, `${quote(/^\S*/.exec(rest)?.[0] ?? '')} is no number`, 'write digits, as in 1024 or 0.5'],
      ];
      const [, what, hint] = hints.find(([begins]) => begins.test(rest)) ?? [
        /./,
        `${quote([...rest][0] ?? '')} cannot stand here`,
        'write FIELD < VALUE, as in load > 10',
      ];
      throw wrong(column, what, hint);
    }
    const [kind, content] = Object.entries(match.groups ?? {}).find(([, part]) => part !== undefined) ?? ['end', ''];
    const column = TOKEN.lastIndex - content.length + 1;
    found.push({ kind: kind as Kind, text: kind === 'text' ? content.slice(1, -1) : content, column });
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
  readonly field?: Field;
  readonly isText: boolean;
  readonly value: (node: Node) => Value;
}

/** What is not measured compares with nothing, neither as equal nor as different. */
function comparison(left: Operand, sign: Token, right: Operand): Condition {
  const compare = COMPARE[sign.text] ?? COMPARE['=='];
  return node => {
    const [a, b] = [left.value(node), right.value(node)];
    return a !== undefined && b !== undefined && typeof a === typeof b && compare?.(a, b) === true;
  };
}

class Parser {
  #at = 0;
  #depth = 0;

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
    const condition = this.#either();
    const { kind, text, column } = this.#next;
    if (kind === 'end') return condition;
    if (text === ')') throw wrong(column, "a ')' without its '('", 'leave it out');
    throw wrong(column, `${quote(text)} after a whole condition`, 'join conditions by && or ||');
  }

  #either(): Condition {
    const parts = [this.#both()];
    while (this.#take('||')) parts.push(this.#both());
    return parts.length === 1 ? (parts[0] as Condition) : node => parts.some(part => part(node));
  }

  #both(): Condition {
    const parts = [this.#not()];
    while (this.#take('&&')) parts.push(this.#not());
    return parts.length === 1 ? (parts[0] as Condition) : node => parts.every(part => part(node));
  }

  #not(): Condition {
    const { column } = this.#next;
    if (++this.#depth > DEEPEST) throw wrong(column, 'too deep', `nest at most ${DEEPEST} times`);
    try {
      if (this.#take('!')) {
        const inner = this.#not();
        return node => !inner(node);
      }
      if (!this.#take('(')) return this.#compared();
      const inner = this.#either();
      if (!this.#take(')')) throw wrong(column, "a '(' that is not closed", "write ')'");
      return inner;
    } finally {
      this.#depth--;
    }
  }

  #compared(): Condition {
    const left = this.#operand(undefined);
    const sign = this.#next;
    if (sign.kind !== 'sign' || COMPARE[sign.text] === undefined) {
      // A field alone: it was measured, and is neither 0 nor empty.
      if (left.field !== undefined) return node => Boolean(left.value(node));
      throw wrong(left.token.column, `${quote(left.token.text)} alone`, 'compare it with a field, as in load > 10');
    }
    this.#at++;
    const right = this.#operand(left.field);
    if (left.field === undefined && right.field === undefined)
      throw wrong(left.token.column, 'no field is compared', 'write FIELD < VALUE, as in load > 10');
    this.#agree(left, right);
    return comparison(left, sign, right);
  }

  /** Refuses a text that is held against a number, which would never hold. */
  #agree(left: Operand, right: Operand): void {
    for (const [one, other] of [
      [left, right],
      [right, left],
    ] as const) {
      if (one.field === undefined || other.field !== undefined) continue;
      const isText = one.field.isText === true;
      if (isText === other.isText) continue;
      const { text, column } = other.token;
      if (isText) throw wrong(column, `${one.field.name} is a text, ${quote(text)} is a number`, `write "${text}"`);
      throw wrong(column, `${one.field.name} is a number, ${quote(text)} is a text`, 'write a number');
    }
  }

  /** A field, a number, or a text; `beside`: the field that it is compared with, whose words it may be. */
  #operand(beside: Field | undefined): Operand {
    const token = this.#next;
    const { kind, text, column } = token;
    if (kind === 'end') throw wrong(column, 'it ends where a value is missing', 'write FIELD < VALUE, as in load > 10');
    if (kind === 'sign')
      throw wrong(column, `${quote(text)} where a value is missing`, 'write FIELD < VALUE, as in load > 10');
    this.#at++;
    if (kind === 'number') return { token, isText: false, value: () => Number(text) };
    if (kind === 'text') return { token, isText: true, value: () => text };
    const field = fieldOf(text);
    if (beside?.name === 'state') {
      if ((STATES as readonly string[]).includes(text)) return { token, isText: true, value: () => text };
      const meant = nearest(text, STATES);
      throw wrong(
        column,
        `${quote(text)} is no state`,
        meant ? `did you mean ${meant}?` : `write ${STATES.join(', ')}`,
      );
    }
    const index = beside?.words?.indexOf(text) ?? -1;
    if (index >= 0) return { token, isText: false, value: () => index };
    if (field !== undefined) return { token, field, isText: field.isText === true, value: field.value };
    if (beside?.isText) return { token, isText: true, value: () => text };
    const meant = nearest(text, beside?.words ? [...beside.words, ...fieldNames()] : fieldNames());
    throw wrong(
      column,
      `there is no field ${quote(text)}`,
      meant ? `did you mean ${meant}?` : 'beoboard describe lists them',
    );
  }
}

/** Reads a condition. Throws an InputError of one line, with the column and the nearest name. */
export function parseCondition(text: string): Condition {
  return new Parser(tokens(text)).whole();
}

/** The same for a command line: a UsageError of the verb. */
export function filter(verb: string, text: string): Condition {
  try {
    return parseCondition(text);
  } catch (error) {
    if (error instanceof InputError) throw new UsageError(verb, `--where: ${error.message}`);
    throw error;
  }
}
