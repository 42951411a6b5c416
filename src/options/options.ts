// Reads a verb's command line, config file and environment, and re-exports the parts of options/ for verbs. Does
// nothing with the values and never ends the process.

import { HelpShown, UsageError, usable } from '../text/failure.js';
import { InputError } from '../text/text.js';
import { type ConfigShape, readConfig, type Setting } from './config.js';
import { helpOf } from './help.js';
import { type CommandLine, takeApart } from './line.js';
import type { Option } from './option.js';
import { OPTION_NAMES, type OptionForms, type OptionName, options } from './table.js';
import type { GroupingRule } from './values.js';
import { defineVerb, optionOf, type Values, type ValuesOf, type Verb } from './verb.js';

export { defineVerb, type GroupingRule as Grouping, HelpShown, UsageError, type Values, type ValuesOf, type Verb };

/**
 * Reads what follows the verb's name. The command line takes precedence over the config file, that over the
 * environment, and that over the default. `given`: the texts of the options on the command line or in the file. Throws
 * a UsageError for invalid input, and HelpShown for `--help`.
 */
export function parseVerb<K extends OptionName, F extends OptionForms>(
  verb: Verb<K, F>,
  argv: readonly string[],
): { values: Values<K, F>; args: readonly string[]; given: ReadonlyMap<string, readonly string[]> } {
  return usable(() => {
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
 * The value of one option, whatever else is wrong with the command line or the file; undefined if the option itself is
 * invalid. For verbs that must answer in a certain form even when they are called wrongly.
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
  // An unreadable file sets nothing, and the command line takes precedence.
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

function shapeOf({ value, most }: Option<unknown>): ConfigShape {
  if (value === undefined) return 'flag';
  return most === 1 ? 'one' : 'many';
}

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

function settingOf(name: OptionName, option: Option<unknown>, line: CommandLine, file?: Map<string, Setting>): Setting {
  const given = line.texts.get(name);
  if (given !== undefined) return { where: `--${name}`, texts: given };
  const written = file?.get(name);
  if (written !== undefined) return written;
  const { env, fallback } = option;
  const variable = env === undefined ? undefined : process.env[env];
  // In a shell, leaving a variable empty is the usual way to unset it.
  if (env !== undefined && variable) return { where: env, texts: [variable] };
  return { where: `the default of --${name}`, texts: fallback.texts() };
}

function readValues(verb: Verb, line: CommandLine, file: Map<string, Setting> | undefined): Record<string, unknown> {
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
