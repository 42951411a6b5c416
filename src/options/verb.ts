// The definition of a verb as data: its name, purpose, options and arguments. Its command line, help, manual page and
// completions are made from it. Reads nothing.

import type { Option } from './option.js';
import { type argumentKinds, forms, OPTION_NAMES, type OptionForms, type OptionName, options } from './table.js';
import { VERBS } from './verbs.js';

type ArgumentWord = keyof typeof argumentKinds;

/** `<list>`, `[field]`, `[lists...]`: needed, optional, any number of them. */
type Argument = `<${ArgumentWord}>` | `[${ArgumentWord}]` | `[${ArgumentWord}...]`;

export interface Verb<K extends OptionName = OptionName, F extends OptionForms = OptionForms> {
  readonly name: string;
  /** One line, also used in the list of verbs. */
  readonly summary: string;
  readonly options: readonly K[];
  /** Options with a variant for this verb. */
  readonly forms?: F;
  /** Letters that stand for options: `-w LIST`. */
  readonly letters?: Readonly<Record<string, K>>;
  readonly arguments?: readonly Argument[];
  readonly examples: readonly string[];
  readonly notes?: string;
}

/** No option has a variant. */
type AsInTable = Record<never, never>;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;

type OptionOf<N extends OptionName, F> = N extends keyof F ? F[N] : (typeof options)[N];

/** The values of the chosen options, under their names in camel case: `uncertain-after` is `uncertainAfter`. */
export type Values<K extends OptionName, F = AsInTable> = {
  readonly [N in K as Camel<N>]: OptionOf<N, F> extends Option<infer T> ? T : never;
};

/** What parsing a verb's command line returns. */
export type ValuesOf<V> = V extends Verb<infer K, infer F> ? Values<K, F> : never;

type VerbName = keyof typeof VERBS;
type FormsOf<N extends VerbName> = N extends keyof typeof forms ? (typeof forms)[N] : AsInTable;

/** Defines a verb. By its name it has its summary and its variants; its options determine the types of its values. */
export function defineVerb<N extends VerbName, const K extends OptionName>(
  verb: Omit<Verb<K>, 'summary' | 'forms'> & { readonly name: N },
): Verb<K, FormsOf<N>> {
  const { [verb.name]: own }: { readonly [M in VerbName]?: OptionForms } = forms;
  return { ...verb, summary: VERBS[verb.name], ...(own && { forms: own as FormsOf<N> }) };
}

/** The option in this verb's variant. */
export function optionOf(verb: Verb, name: OptionName): Option<unknown> {
  return verb.forms?.[name] ?? options[name];
}

/** The option of this verb with that name. */
export function named(verb: Verb, name: string): OptionName | undefined {
  return verb.options.find(known => known === name);
}

/** The option of this verb that a user means by that name, which other programs or verbs use. */
export function meantBy(verb: Verb, word: string): OptionName | undefined {
  return verb.options.find(name => optionOf(verb, name).mistaken?.includes(word));
}

/** Whether another verb has such an option. */
export const isOption = (name: string): boolean => OPTION_NAMES.some(known => known === name);

/** The option as it is shown to people: `--to ADDR[:PORT]`. */
export function spelled(verb: Verb, name: OptionName): string {
  return `--${name} ${optionOf(verb, name).shown}`.trimEnd();
}

/** The single letter for an option. */
export function letterOf(verb: Verb, name: OptionName): string | undefined {
  return Object.entries(verb.letters ?? {}).find(([, meant]) => meant === name)?.[0];
}
