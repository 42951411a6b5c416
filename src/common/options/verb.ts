// What a verb is: what it is called, does and takes, as data. Its command line, its help, its manual page and its completions come from
// that. Reads nothing.

import type { Option } from './option.js';
import { argumentKinds, type Forms, OPTION_NAMES, type OptionName, options } from './table.js';
import type { Kind } from './values.js';

type ArgumentWord = keyof typeof argumentKinds;

/** `<list>`, `[field]`, `[lists...]`: needed, optional, any number of them. */
export type Argument = `<${ArgumentWord}>` | `[${ArgumentWord}]` | `[${ArgumentWord}...]`;

export interface Verb<K extends OptionName = OptionName, F extends Forms = Forms> {
  readonly name: string;
  /** One line, for the list of verbs as well. */
  readonly summary: string;
  readonly options: readonly K[];
  /** Options that have a form of this verb's own. */
  readonly forms?: F;
  /** Letters that stand for options: `-w LIST`. */
  readonly letters?: Readonly<Record<string, K>>;
  readonly arguments?: readonly Argument[];
  /** Whole command lines. */
  readonly examples: readonly string[];
  /** Said below the options. */
  readonly notes?: string;
}

/** No option has a form of its own. */
type AsInTable = Record<never, never>;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

type OptionOf<N extends OptionName, F> = N extends keyof F ? F[N] : (typeof options)[N];

/** The values of the options picked, under their names in camel case: `uncertain-after` is `uncertainAfter`. */
export type Values<K extends OptionName, F = AsInTable> = {
  readonly [N in K as Camel<N>]: OptionOf<N, F> extends Option<infer T> ? T : never;
};

/** What a verb's options give it. */
export type ValuesOf<V> = V extends Verb<infer K, infer F> ? Values<K, F> : never;

/** Says what a verb is called, does and takes; the options give its values their types. */
export function defineVerb<const K extends OptionName, const F extends Forms = AsInTable>(
  verb: Verb<K, F>,
): Verb<K, F> {
  return verb;
}

/** The option as this verb takes it. */
export function optionOf(verb: Verb, name: OptionName): Option<unknown> {
  return verb.forms?.[name] ?? options[name];
}

/** The option of this verb that is called so. */
export function named(verb: Verb, name: string): OptionName | undefined {
  return verb.options.find(known => known === name);
}

/** The option of this verb that somebody means who calls it so, as other programs or other verbs do. */
export function meantBy(verb: Verb, word: string): OptionName | undefined {
  return verb.options.find(name => optionOf(verb, name).mistaken?.includes(word));
}

/** Whether other verbs, at least, have such an option. */
export function isOption(name: string): boolean {
  return OPTION_NAMES.some(known => known === name);
}

/** The option as it is shown to people: `--to ADDR[:PORT]`. */
export function spelled(verb: Verb, name: OptionName): string {
  return `--${name} ${optionOf(verb, name).shown}`.trimEnd();
}

/** The letter that stands for an option. */
export function letterOf(verb: Verb, name: OptionName): string | undefined {
  return Object.entries(verb.letters ?? {}).find(([, meant]) => meant === name)?.[0];
}

/** What kind of thing the arguments are; undefined for a verb that takes none. */
export function argumentKind(verb: Verb): Kind | undefined {
  const word = verb.arguments?.[0]?.replace(/[^a-z]/g, '');
  return word === undefined ? undefined : argumentKinds[word as ArgumentWord];
}
