// Compiles proto/wording.md: the sentences that two languages say to functions of TypeScript, and to macros of C that are
// the pieces of a sentence, one after another; the words that are explained to tables of TypeScript.

import { ContractError } from './model.js';

/** The document. */
export const WORDING = 'proto/wording.md';

/** A piece of a sentence: a text, or what is filled in. */
type Piece = string | { readonly slot: string; readonly so?: string; readonly or?: string };

interface Wording {
  readonly sentences: readonly { name: string; pieces: readonly Piece[] }[];
  readonly reasons: readonly { reason: string; meaning: string; sends: string; why: string }[];
  readonly troubles: readonly { kind: string; meaning: string }[];
  readonly titles: readonly { title: string; of: string; meaning: string }[];
}

const NAME = /^[a-z][a-z_]*$/;
const TITLE = /^[A-Z][A-Z° ]*(\/s)?$/;
const SLOT = /^\{([a-z]+)(?:\?([^{}:]*):([^{}:]*))?\}$/;

/** Throws ContractError. `knownReasons`: those of the contract. */
export function readWording(text: string, knownReasons: readonly string[]): Wording {
  const problems: string[] = [];
  const sentences: Wording['sentences'][number][] = [];
  const reasons: Wording['reasons'][number][] = [];
  const troubles: Wording['troubles'][number][] = [];
  const titles: Wording['titles'][number][] = [];
  const names = new Set<string>();
  let section = '';
  const objectTo = (row: number, what: string) => problems.push(`${WORDING}:${row + 1}: ${what}`);
  const pieceOf = (part: string, row: number): Piece => {
    if (!/[{}]/.test(part)) return part;
    const [, slot, so, or] = SLOT.exec(part) ?? [];
    if (slot === undefined) objectTo(row, `${part} is no {name} and no {name?so:or so}`);
    return so === undefined ? { slot: slot ?? '' } : { slot: slot ?? '', so, or: or ?? '' };
  };
  for (const [row, line] of text.split('\n').entries()) {
    section = /^## (.*)$/.exec(line)?.[1] ?? section;
    const cells = line.split('|').slice(1, -1);
    const [name = '', ...rest] = cells.map(cell => cell.trim());
    if (cells.length === 0 || /^-+$/.test(name) || ['name', 'reason', 'trouble', 'title'].includes(name)) continue;
    const [first = '', sends = '', why = ''] = rest;
    if (!(section === 'titles' ? TITLE : NAME).test(name)) objectTo(row, `${name} is not a name`);
    const key = section === 'titles' ? `${section} ${name} ${first}` : `${section} ${name}`;
    if (names.has(key)) objectTo(row, `${name} is there twice`);
    names.add(key);
    if (section === 'sentences') {
      const parts = first.split(/(\{[^{}]*\})/).filter(part => part !== '');
      sentences.push({ name, pieces: parts.map(part => pieceOf(part, row)) });
    } else if (section === 'troubles') troubles.push({ kind: name, meaning: first });
    else if (section === 'titles') titles.push({ title: name, of: first, meaning: sends });
    else if (knownReasons.includes(name)) reasons.push({ reason: name, meaning: first, sends, why });
    else objectTo(row, `${name} is not a reason of the contract`);
  }
  if (problems.length > 0) throw new ContractError(problems);
  return { sentences, reasons, troubles, titles };
}

/** What is filled in, each once: its name, and whether it is a condition. */
const slotsOf = (pieces: readonly Piece[]) =>
  new Map(pieces.flatMap(piece => (typeof piece === 'string' ? [] : [[piece.slot, piece.so !== undefined] as const])));

const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

export function emitWordingLayout(wording: Wording, notice: string): string {
  const functions = wording.sentences.map(({ name, pieces }) => {
    const slots = slotsOf(pieces);
    const text = pieces
      .map(piece => {
        if (typeof piece === 'string') return piece.replaceAll(/[\\`$]/g, '\\$&');
        if (piece.so === undefined) return `\${s.${piece.slot}}`;
        return `\${s.${piece.slot} ? ${JSON.stringify(piece.so)} : ${JSON.stringify(piece.or)}}`;
      })
      .join('');
    const types = [...slots].map(([slot, isCondition]) => `${slot}: ${isCondition ? 'boolean' : 'string | number'}`);
    return `  ${camel(name)}: (${slots.size > 0 ? `s: { ${types.join('; ')} }` : ''}) => \`${text}\`,`;
  });
  const reasons = wording.reasons.map(
    ({ reason, meaning, sends, why }) => `  ${reason}: ${JSON.stringify({ meaning, sends, why })},`,
  );
  return [
    `// ${notice}`,
    '',
    'export const sentences = {',
    ...functions,
    '};',
    '',
    '/** What a reason means; `sends`: of a missing or false signature, otherwise empty. */',
    'export const reasonWords: Readonly<Record<string, { meaning: string; sends: string; why: string }>> = {',
    ...reasons,
    '};',
    '',
    '/** What a kind of trouble is. */',
    'export const troubleWords = {',
    ...wording.troubles.map(({ kind, meaning }) => `  ${kind}: ${JSON.stringify(meaning)},`),
    '} as const;',
    '',
    '/** Titles of columns, and the verb whose table has them. */',
    'export const titleWords: readonly { title: string; of: string; meaning: string }[] = [',
    ...wording.titles.map(each => `  ${JSON.stringify(each)},`),
    '];',
    '',
  ].join('\n');
}

/** Lines of at most 120 columns, joined by backslashes. */
function macro(head: string, parts: readonly string[]): string {
  const lines = [head];
  for (const part of parts) {
    const last = lines.at(-1) ?? '';
    if (last !== head && last.length + part.length + 3 <= 118) lines[lines.length - 1] = `${last} ${part}`;
    else lines.push(`  ${part}`);
  }
  return lines.map((line, i) => (i + 1 < lines.length ? `${line} \\` : line)).join('\n');
}

/** A long text as several literals, which C joins. */
const literals = (text: string) => (text.match(/.{1,100}(?: |$)|.+/g) ?? ['']).map(part => JSON.stringify(part));

export function emitWordingC(wording: Wording, notice: string): string {
  const macros = wording.sentences.map(({ name, pieces }) => {
    const parts = pieces.flatMap((piece, i) => {
      const end = i + 1 < pieces.length ? ',' : '';
      if (typeof piece === 'string')
        return literals(piece).map((part, k, all) => (k + 1 < all.length ? part : part + end));
      if (piece.so === undefined) return [`(${piece.slot})${end}`];
      return [`(${piece.slot}) ? ${JSON.stringify(piece.so)} : ${JSON.stringify(piece.or)}${end}`];
    });
    const slots = [...slotsOf(pieces).keys()];
    return macro(`#define SAY_${name.toUpperCase()}${slots.length > 0 ? `(${slots.join(', ')})` : ''}`, parts);
  });
  const reasons = wording.reasons.map(({ reason, meaning, sends, why }) => {
    const more = sends === '' ? '' : `,\n    .sends = ${JSON.stringify(sends)},\n    .why = ${JSON.stringify(why)}`;
    return `  [BB_REASON_${reason.toUpperCase()}] = {.meaning = ${JSON.stringify(meaning)}${more}},`;
  });
  return [
    `/* ${notice} */`,
    '#ifndef BB_WORDING_GEN_H',
    '#define BB_WORDING_GEN_H',
    '#include "../format/layout.gen.h"',
    '',
    '/* The pieces of each sentence. Of what is filled in, conditions are numbers, and the others texts. */',
    ...macros,
    '',
    '/* What a reason means; `sends`: of a missing or false signature, otherwise NULL. */',
    'static const struct {',
    '  const char *meaning, *sends, *why;',
    '} reason_words[BB_REASON_COUNT] = {',
    ...reasons,
    '};',
    '',
    '#endif',
    '',
  ].join('\n');
}
