// Reads a TOML file that sets options by their long names. Refuses tables, and keys that its reader does not know.

import { createRequire } from 'node:module';
import { didYouMean, InputError, nearest, oneLine, quote, readText } from './text.js';

/** What may follow a key: true or false, one value, or an array of values. */
export type Shape = 'flag' | 'one' | 'many';

const INSTEAD: Record<Shape, string> = {
  flag: 'write true or false',
  one: 'write one text in quotes, or a number',
  many: 'write an array of one or more texts in quotes',
};

/**
 * What a file says about one option: its values as text, as they would be on the command line, and where they are in
 * the file.
 */
export interface Setting {
  readonly where: string;
  readonly texts: readonly string[];
}

// Loading these two takes longer than most verbs run, and few calls name a file.
const require = createRequire(import.meta.url);

/** The lines at which top-level keys begin, from the text of a file that is known to parse. */
function keyLines(text: string, parse: (toml: string) => object): Map<string, number> {
  const lines = new Map<string, number>();
  let statement = '';
  let start = 1;
  for (const [index, line] of text.split('\n').entries()) {
    statement += `${line}\n`;
    let keys: string[];
    try {
      keys = Object.keys(parse(statement));
    } catch {
      continue; // The continuation of an array or of a text that began on an earlier line.
    }
    for (const key of keys) if (!lines.has(key)) lines.set(key, start);
    statement = '';
    start = index + 2;
  }
  return lines;
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
  shapes: Readonly<Record<string, Shape>>,
  elsewhere: readonly string[] = [],
  mistaken: ReadonlyMap<string, string> = new Map(),
): Map<string, Setting> {
  const { parse, TomlError } = require('smol-toml') as typeof import('smol-toml');
  const { z } = require('zod') as typeof import('zod');
  const text = readText(file);
  const place = oneLine(file);

  let table: object;
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

  // Numbers are converted back to text: then the file and the command line have the same parsers, bounds and errors.
  const value = z.union([z.string(), z.number().transform(String)]);
  const single = value.transform(only => [only]);
  const schemas = {
    flag: z.boolean().transform(on => (on ? ['true'] : [])),
    one: single,
    many: z.union([z.array(value).min(1), single]),
  };
  const known = Object.entries(shapes).map(([key, shape]) => [key, schemas[shape].optional()] as const);
  const checked = z.strictObject(Object.fromEntries(known)).safeParse(table);

  const lines = keyLines(text, parse);
  const at = (key: string) => `${place}:${lines.get(key) ?? 1}`;
  const where = (key: string) => `${at(key)}: ${oneLine(key)}`;
  if (!checked.success) {
    const [issue] = checked.error.issues;
    if (issue?.code !== 'unrecognized_keys') {
      const key = String(issue?.path[0]);
      throw new InputError(`${where(key)}: not a value for it; ${INSTEAD[shapes[key] ?? 'one']}`);
    }
    const key = String(issue.keys[0]);
    if (elsewhere.includes(key) && !mistaken.has(key))
      throw new InputError(`${where(key)} cannot be set in a file for this verb; remove it`);
    const meant = mistaken.get(key) ?? nearest(key, Object.keys(shapes));
    const advice = didYouMean(meant, `known are ${Object.keys(shapes).join(', ')}`);
    throw new InputError(`${at(key)}: unknown name ${quote(key)}; ${advice}`);
  }
  return new Map(
    Object.entries(checked.data).flatMap(([key, texts]) => (texts ? [[key, { where: where(key), texts }]] : [])),
  );
}
