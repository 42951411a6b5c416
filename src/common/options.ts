// How a verb's command line, config file and environment are read, and the one place from which verbs have what options are made of
// (options/). Does nothing with the values and never ends the process.

import { readConfig, type Setting, type Shape } from './config.js';
import { HelpShown, UsageError, usable } from './failure.js';
import { helpOf } from './options/help.js';
import { type Line, takeApart } from './options/line.js';
import type { Option } from './options/option.js';
import { type Forms, forms, OPTION_NAMES, type OptionName, options } from './options/table.js';
import type { Grouping, NamedBoard, Portion } from './options/values.js';
import { defineVerb, optionOf, type Values, type ValuesOf, type Verb } from './options/verb.js';
import { InputError } from './text.js';

export {
  defineVerb,
  forms,
  type Grouping,
  HelpShown,
  type NamedBoard,
  type Portion,
  UsageError,
  type Values,
  type ValuesOf,
  type Verb,
};

/**
 * Reads what follows the verb's name. The command line goes before the config file, that before the environment, that
 * before the default. `given`: the texts of the options that the command line or the file sets. Throws a UsageError for what cannot be taken, and HelpShown for `--help`.
 */
export function parseVerb<K extends OptionName, F extends Forms>(
  verb: Verb<K, F>,
  argv: readonly string[],
): { values: Values<K, F>; args: readonly string[]; given: ReadonlyMap<string, readonly string[]> } {
  return usable(verb.name, () => {
    const line = takeApart(verb, argv);
    if (line === undefined) throw new HelpShown(helpOf(verb, process.stdout.columns ?? 80));
    const config = line.texts.get('config');
    const file = config === undefined ? undefined : fromFile(verb, config);
    const given = new Map<string, readonly string[]>(line.texts);
    for (const [name, { texts }] of file ?? []) if (!given.has(name)) given.set(name, texts);
    return { values: readValues(verb, line, file) as Values<K, F>, args: line.args, given };
  });
}

/**
 * What one option is given as, whatever else is wrong with the command line or the file; undefined where it cannot be
 * taken itself. For verbs that have to answer in a certain way also when they are called wrongly.
 */
export function readAlone<K extends OptionName, N extends K>(
  verb: Verb<K>,
  argv: readonly string[],
  name: N,
): ReturnType<(typeof options)[N]['read']> | undefined {
  const words = (wanted: string) =>
    argv.flatMap((word, i) => {
      if (word === `--${wanted}`) return [`${word}=${argv[i + 1] ?? ''}`];
      return word.startsWith(`--${wanted}=`) ? [word] : [];
    });
  // A file that cannot be read says nothing, and the command line takes precedence.
  for (const line of [words(name), words('config')])
    try {
      const taken = takeApart(verb, line);
      if (taken === undefined || taken.texts.size === 0) continue;
      const file = taken.texts.get('config');
      const option = optionOf(verb, name);
      const value = option.read(settingOf(name, option, taken, file && fromFile(verb, file)));
      if (value !== undefined) return value as ReturnType<(typeof options)[N]['read']>;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
    }
  return undefined;
}

function shapeOf({ value, most }: Option<unknown>): Shape {
  if (value === undefined) return 'flag';
  return most === 1 ? 'one' : 'many';
}

/** What a config file says, by option. */
function fromFile(verb: Verb, texts: readonly string[]): Map<string, Setting> {
  const keys = verb.options.filter(name => name !== 'config');
  const shapes = Object.fromEntries(keys.map(name => [name, shapeOf(optionOf(verb, name))] as const));
  const mistaken = keys.flatMap(name => (optionOf(verb, name).mistaken ?? []).map(word => [word, name] as const));
  const file = options.config.read({ where: '--config', texts }) ?? '';
  return readConfig(file, shapes, OPTION_NAMES, new Map(mistaken));
}

function camel(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Where an option's value is from. */
function settingOf(name: OptionName, option: Option<unknown>, line: Line, file?: Map<string, Setting>): Setting {
  const given = line.texts.get(name);
  if (given !== undefined) return { where: `--${name}`, texts: given };
  const written = file?.get(name);
  if (written !== undefined) return written;
  const { env, fallback } = option;
  const variable = env === undefined ? undefined : process.env[env];
  // The shell's way to take a variable back is to leave it empty.
  if (env !== undefined && variable) return { where: env, texts: [variable] };
  return { where: `the default of --${name}`, texts: fallback.texts() };
}

function readValues(verb: Verb, line: Line, file: Map<string, Setting> | undefined): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of verb.options) {
    const option = optionOf(verb, name);
    const setting = settingOf(name, option, line, file);
    const { most } = option;
    if (setting.texts.length > most) {
      throw new InputError(
        `${setting.where} is given ${setting.texts.length} times; give it ${most === 1 ? 'once' : `at most ${most} times`}`,
      );
    }
    values[camel(name)] = option.read(setting);
  }
  return values;
}
