// The text of --help, and the rows that it shares with the manual page and the completions. Prints nothing.

import { padded, widest, wrapped } from '../text/layout.js';
import type { Option } from './option.js';
import { letterOf, optionOf, spelled, type Verb } from './verb.js';

/** What every verb takes besides its options. */
export const HELP = { letter: 'h', long: 'help', about: 'show this help' } as const;

/** What an option is about, without its default. */
export function aboutOf({ about, most, value }: Option<unknown>): string {
  return value !== undefined && most > 2 ? `${about}; may be repeated` : about;
}

function describe(option: Option<unknown>): string {
  const { fallback, env } = option;
  return `${aboutOf(option)}${fallback.shown && ` (default: ${fallback.shown})`}${env ? ` (env: ${env})` : ''}`;
}

/** The command line in general. */
export function usageOf(verb: Verb): string {
  return ['beoboard', verb.name, '[options]', ...(verb.arguments ?? [])].join(' ');
}

/** The options, `-w, --nodes LIST`, and the description of each. */
export function termsOf(verb: Verb): (readonly [term: string, about: string])[] {
  const terms = verb.options.map(name => {
    const letter = letterOf(verb, name);
    const long = spelled(verb, name);
    return [letter === undefined ? long : `-${letter}, ${long}`, describe(optionOf(verb, name))] as const;
  });
  return [...terms, [`-${HELP.letter}, --${HELP.long}`, HELP.about]];
}

/** The parts of a help. */
interface Help {
  readonly usage: string;
  readonly summary: string;
  readonly rows: ReturnType<typeof termsOf>;
  readonly notes?: string | undefined;
  readonly examples: readonly string[];
}

/** Sentences, filled to a width; lines that begin with a blank are tables, and stay as they are. */
const filled = (notes: string, columns: number): string =>
  notes.trim().replaceAll(/^\S.*(?:\n\S.*)*/gm, lines => wrapped(lines.replaceAll('\n', ' '), columns).join('\n'));

export function helpText({ usage, summary, rows, notes, examples }: Help, columns: number): string {
  const indent = widest(rows.map(([term]) => term)) + 4;
  const width = Math.max(40, columns - indent);
  const whole = Math.max(40, columns);
  return [
    `Usage: ${usage}`,
    `\n${filled(summary, whole)}`,
    '\nOptions:',
    ...rows.map(
      ([term, about]) => `  ${padded(term, indent - 2)}${wrapped(about, width).join(`\n${' '.repeat(indent)}`)}`,
    ),
    ...(notes ? [`\n${filled(notes, whole)}`] : []),
    '\nExamples:',
    ...examples.map(line => `  ${line}`),
    '',
  ].join('\n');
}

/** The help, for a terminal of so many columns. */
export const helpOf = (verb: Verb, columns: number): string =>
  helpText({ ...verb, usage: usageOf(verb), rows: termsOf(verb) }, columns);
