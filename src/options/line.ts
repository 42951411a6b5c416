// Splits a command line: `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, flags, `--`, arguments. Interprets no
// value.

import { didYouMean, InputError, nearest, quote } from '../text/text.js';
import type { OptionName } from './table.js';
import { isOption, meantBy, named, optionOf, spelled, type Verb } from './verb.js';

/** The contents of a command line: the texts of each option in order, and the arguments. */
export interface CommandLine {
  readonly texts: ReadonlyMap<OptionName, readonly string[]>;
  readonly args: readonly string[];
}

/** Why a word that looks like an option is not an option of this verb. */
function unknown(verb: Verb, given: string): string {
  const help = `see beoboard ${verb.name} --help`;
  const word = given.replace(/^-+/, '');
  const known = named(verb, word);
  if (known !== undefined) return `unknown option ${quote(given)}; write ${spelled(verb, known)}`;
  const meant = meantBy(verb, word);
  if (meant === undefined && isOption(word)) return `--${word} is an option of other verbs; ${help}`;
  const near = meant ?? nearest(word, [...verb.options, 'help']);
  return `unknown option ${quote(given)}; ${didYouMean(near && `--${near}`, help)}`;
}

/** Why letters after one - are refused: `-xl`, or a long name with one - too few. */
function joined(verb: Verb, word: string): string {
  if (named(verb, word.slice(1)) !== undefined) return unknown(verb, word);
  return `${quote(word)} is several letters in one; write -${[...word.slice(1)].join(' -')}`;
}

/** A word that begins with -, and the option of this verb that it means. */
interface GivenOption {
  readonly name: OptionName;
  /** The value in the same word, after = or after a letter. */
  readonly inline: string | undefined;
}

function parseWord(verb: Verb, word: string): GivenOption | undefined {
  const [, long, behind] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const name = long === undefined ? verb.letters?.[word[1] ?? ''] : named(verb, long);
  if (name === undefined) return undefined;
  return { name, inline: long === undefined && word.length > 2 ? word.slice(2) : behind };
}

/** Throws an InputError for the first mistake; returns undefined if help is asked for, whatever else is on the line. */
export function takeApart(verb: Verb, argv: readonly string[]): CommandLine | undefined {
  const texts = new Map<OptionName, string[]>();
  const args: string[] = [];
  // A mistake is kept until the whole line has been read: if --help follows, the user gets help.
  let wrong: string | undefined;
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (word === '--') {
      args.push(...argv.slice(i + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      args.push(word);
      continue;
    }
    if (word === '--help' || word === '-h') return undefined;
    const given = parseWord(verb, word);
    if (given === undefined) {
      wrong ??= unknown(verb, word.split('=', 1)[0] ?? '');
      continue;
    }
    const { name } = given;
    let text = given.inline;
    if (optionOf(verb, name).value === undefined) {
      if (text !== undefined)
        wrong ??= word.startsWith('--') ? `--${name} takes no value; write --${name}` : joined(verb, word);
      text = 'true';
    } else {
      text ??= argv[++i];
      const write = `write ${spelled(verb, name)}`;
      if (text === undefined) wrong ??= `--${name} has no value; ${write}`;
      else if (text.startsWith('--') && named(verb, text.slice(2)) !== undefined)
        wrong ??= `--${name} has no value, ${text} follows it; ${write}`;
    }
    texts.set(name, [...(texts.get(name) ?? []), text ?? '']);
  }
  if (wrong !== undefined) throw new InputError(wrong);
  checkArguments(verb, args);
  return { texts, args };
}

function checkArguments(verb: Verb, args: readonly string[]): void {
  const takes = verb.arguments ?? [];
  const help = `see beoboard ${verb.name} --help`;
  const missing = takes.find((name, i) => name.startsWith('<') && args[i] === undefined);
  if (missing !== undefined)
    throw new InputError(`the argument ${missing.replace(/[<>.]/g, '').toUpperCase()} is missing; ${help}`);
  const extra = takes.at(-1)?.includes('...') ? undefined : args[takes.length];
  if (extra !== undefined) throw new InputError(`${quote(extra)} is one argument too many; ${help}`);
}
