// Checks JSON against a schema, of an OpenAPI document or of what verbs print: supports the part of JSON Schema that ours
// use, and rejects everything else. No test of its own.

import { jsonSchema } from '../../proto/jsonschema.js';

type Schema = Readonly<Record<string, unknown>>;

const KNOWN = new Set([
  ...['$ref', 'type', 'const', 'enum', 'items', 'properties', 'required', 'additionalProperties', 'anyOf'],
  ...['description', 'format'],
]);

const typeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const isOf = (type: string, value: unknown) => (type === 'integer' ? Number.isInteger(value) : type === typeOf(value));

/** The deviations of a value from the schema, one line each, with the place. */
export function objections(document: object, schema: Schema, value: unknown, at = '$'): string[] {
  const again = (other: unknown, part: unknown, place: string) => objections(document, other as Schema, part, place);
  const unknown = Object.keys(schema).filter(key => !KNOWN.has(key));
  if (unknown.length > 0) return [`${at}: the schema says ${unknown.join()}, which is not known here`];
  const { $ref, type, enum: words, items, properties = {}, required = [], additionalProperties, anyOf } = schema;
  if (typeof $ref === 'string') {
    const found = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
    return found === undefined ? [`${at}: there is no ${$ref}`] : again(found, value, at);
  }
  if ('const' in schema && value !== schema.const) return [`${at}: ${JSON.stringify(value)} is not ${schema.const}`];
  if (Array.isArray(words) && !words.includes(value)) return [`${at}: ${JSON.stringify(value)} is none of ${words}`];
  if (Array.isArray(anyOf)) {
    const all = anyOf.map(one => again(one, value, at));
    return all.some(found => found.length === 0) ? [] : (all[0] ?? []);
  }
  const types = type === undefined ? [] : [type].flat();
  if (types.length > 0 && !types.some(one => isOf(one as string, value)))
    return [`${at}: ${JSON.stringify(value)?.slice(0, 60)} is no ${types.join(' or ')}`];
  if (Array.isArray(value)) return value.flatMap((part, i) => again(items ?? {}, part, `${at}[${i}]`));
  if (typeOf(value) !== 'object') return [];
  const parts = value as Record<string, unknown>;
  const missing = (required as string[]).filter(key => !Object.hasOwn(parts, key)).map(key => `${at}: no ${key}`);
  const wrong = Object.entries(parts).flatMap(([key, part]) => {
    const own = (properties as Record<string, unknown>)[key];
    if (own !== undefined) return again(own, part, `${at}.${key}`);
    if (additionalProperties === false) return [`${at}.${key} is not in the schema`];
    return again(additionalProperties ?? {}, part, `${at}.${key}`);
  });
  return [...missing, ...wrong];
}

const SHAPES = jsonSchema(true);

/** The deviations of what a verb printed from this part of docs/json.schema.json; keys that it does not name are some. */
export const unlike = (part: string, value: unknown) => objections(SHAPES, { $ref: `#/$defs/${part}` }, value);
