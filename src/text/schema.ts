// Builds JSON Schema, and the TypeScript type of what it describes. Pure.

declare const OF: unique symbol;

/** What says what a T is. */
export interface Of<T = unknown> {
  readonly [OF]?: T;
}

/** A JSON Schema of a T. */
export type Schema<T = unknown> = Readonly<Record<string, unknown>> & Of<T>;

/** What a schema or a check describes. */
export type Described<S> = S extends Of<infer T> ? T : never;

export type Keys = Readonly<Record<string, Schema>>;

/** What an object with these keys is; those whose name ends in ? may be absent. */
export type DescribedKeys<K extends Readonly<Record<string, Of>>> = {
  readonly [N in keyof K as N extends `${string}?` ? never : N]: Described<K[N]>;
} & { readonly [N in keyof K as N extends `${infer Name}?` ? Name : never]?: Described<K[N]> | undefined };

/** A schema as it is written. */
export const schemaOf = <T>(schema: object, description?: string): Schema<T> => ({
  ...schema,
  ...(description !== undefined && { description }),
});

export const text = (description?: string) => schemaOf<string>({ type: 'string' }, description);
export const number = (description?: string) => schemaOf<number>({ type: 'number' }, description);
export const integer = (description?: string) => schemaOf<number>({ type: 'integer' }, description);
export const flag = (description?: string) => schemaOf<boolean>({ type: 'boolean' }, description);
export const list = (description?: string) => text(description ?? 'a host list');
export const moment = (description?: string) =>
  text(`ISO 8601, UTC${description === undefined ? '' : `: ${description}`}`);
export const word = <W extends string>(words: readonly W[], description?: string) =>
  schemaOf<W>({ enum: [...words] }, description);
export const array = <T>(items: Schema<T>, description?: string) =>
  schemaOf<readonly T[]>({ type: 'array', items }, description);
export const map = <T>(additionalProperties: Schema<T>, description?: string) =>
  schemaOf<Readonly<Record<string, T>>>({ type: 'object', additionalProperties }, description);

/** An object with these and no other keys; those whose name ends in ? may be absent. */
export function object<K extends Keys>(keys: K, description?: string): Schema<DescribedKeys<K>> {
  const names = Object.keys(keys);
  const properties = Object.fromEntries(names.map(name => [name.replace(/\?$/, ''), keys[name]]));
  const required = names.filter(name => !name.endsWith('?'));
  return schemaOf({ type: 'object', properties, required, additionalProperties: false }, description);
}

/** The parts of a document: where one is in another, a reference stands, which begins with `at`. */
export function partsOf(parts: Keys, at: string): Keys {
  const names = new Map(Object.entries(parts).map(([name, schema]): [unknown, string] => [schema, name]));
  const within = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(referred);
    if (typeof schema !== 'object' || schema === null) return schema;
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, referred(value)]));
  };
  const referred = (schema: unknown) => (names.has(schema) ? { $ref: `${at}${names.get(schema)}` } : within(schema));
  return Object.fromEntries(Object.entries(parts).map(([name, schema]) => [name, within(schema) as Schema]));
}

/** The same schema, in which every object may have more keys, as a later version's do. */
export function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.entries(schema).filter(([key, value]) => !(key === 'additionalProperties' && value === false));
  return Object.fromEntries(parts.map(([key, value]) => [key, opened(value)]));
}
