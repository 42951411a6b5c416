// Reads a TOML file that sets options by their long names. Refuses tables, and keys that its reader does not know.

import { createRequire } from 'node:module';
import { attempt } from '../text/failure.js';
import { didYouMean, InputError, nearest, oneLine, quote, readText } from '../text/text.js';

/** What may follow a key: true or false, one value, or an array of values. */
export type ConfigShape = 'flag' | 'one' | 'many';

const INSTEAD: Record<ConfigShape, string> = {
  flag: 'write true or false',
  one: 'write one text in quotes, or a number',
  many: 'write an array of one or more texts in quotes',
};

/** What a file says about one option: its values as on the command line, and where they are in the file. */
export interface Setting {
  readonly where: string;
  readonly texts: readonly string[];
}

// Few calls name a file.
const require = createRequire(import.meta.url);

/** The lines at which top-level keys begin, from the text of a file that is known to parse. */
function keyLines(text: string, parse: (toml: string) => object): Map<string, number> {
  const lines = new Map<string, number>();
  let statement = '';
  let start = 1;
  for (const [index, line] of text.split('\n').entries()) {
    statement += `${line}\n`;
    const keys = attempt(() => Object.keys(parse(statement)));
    if (keys === undefined) continue; // The continuation of an array or of a text that began on an earlier line.
    for (const key of keys) if (!lines.has(key)) lines.set(key, start);
    statement = '';
    start = index + 2;
  }
  return lines;
}

/**
 * A value as texts; undefined if it has another shape. Numbers are converted back to text: then the file and the command
 * line have the same parsers, bounds and errors.
 */
function textsOf(value: unknown, shape: ConfigShape): string[] | undefined {
  if (shape === 'flag') return typeof value === 'boolean' ? (value ? ['true'] : []) : undefined;
  const values: unknown[] = shape === 'many' && Array.isArray(value) ? value : [value];
  const isText = (one: unknown) => typeof one === 'string' || Number.isFinite(one);
  return values.length > 0 && values.every(isText) ? values.map(String) : undefined;
}

/**
 * The settings of a TOML file, by key. A flag that is true has the text 'true'; a flag that is false has none. Throws
 * an InputError that begins with `file:line`.
 * @param shapes the known keys, and what each may hold
 * @param elsewhere keys that exist in other files only, for the message
 * @param mistaken wrong names that people may write for known keys
 */
export function readConfig(
  file: string,
  shapes: Readonly<Record<string, ConfigShape>>,
  elsewhere: readonly string[] = [],
  mistaken: ReadonlyMap<string, string> = new Map(),
): Map<string, Setting> {
  const { parse, TomlError } = require('smol-toml') as typeof import('smol-toml');
  const text = readText(file);
  const place = oneLine(file);

  let table: Readonly<Record<string, unknown>>;
  try {
    table = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const why = error.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '') ?? '';
    throw new InputError(
      `${place}:${error.line}: not TOML at column ${error.column}: ${oneLine(why)}; ` +
        'write NAME = VALUE, texts in quotes',
    );
  }

  const lines = keyLines(text, parse);
  const at = (key: string) => `${place}:${lines.get(key) ?? 1}`;
  const where = (key: string) => `${at(key)}: ${oneLine(key)}`;
  const settings = new Map<string, Setting>();
  for (const [key, shape] of Object.entries(shapes)) {
    if (!Object.hasOwn(table, key)) continue;
    const texts = textsOf(table[key], shape);
    if (texts === undefined) throw new InputError(`${where(key)}: not a value for it; ${INSTEAD[shape]}`);
    settings.set(key, { where: where(key), texts });
  }
  for (const key of Object.keys(table)) {
    if (Object.hasOwn(shapes, key)) continue;
    if (elsewhere.includes(key) && !mistaken.has(key))
      throw new InputError(`${where(key)} cannot be set in a file for this verb; remove it`);
    const meant = mistaken.get(key) ?? nearest(key, Object.keys(shapes));
    const advice = didYouMean(meant, `known are ${Object.keys(shapes).join(', ')}`);
    throw new InputError(`${at(key)}: unknown name ${quote(key)}; ${advice}`);
  }
  return settings;
}
