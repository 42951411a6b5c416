// Builds JSON Schema. Pure.

export type Schema = Readonly<Record<string, unknown>>;

const described = (description?: string) => description !== undefined && { description };

export const text = (description?: string): Schema => ({ type: 'string', ...described(description) });
export const number = (description?: string): Schema => ({ type: 'number', ...described(description) });
export const integer = (description?: string): Schema => ({ type: 'integer', ...described(description) });
export const flag = (description?: string): Schema => ({ type: 'boolean', ...described(description) });
export const list = (description?: string): Schema => text(description ?? 'a host list');
export const word = (words: readonly string[], description?: string): Schema => ({
  enum: [...words],
  ...described(description),
});
export const array = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...described(description),
});
export const map = (additionalProperties: Schema, description?: string): Schema => ({
  type: 'object',
  additionalProperties,
  ...described(description),
});

/** An object with these and no other keys; those whose name ends in ? may be absent. */
export function object(keys: Readonly<Record<string, Schema>>, description?: string): Schema {
  const names = Object.keys(keys);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map(name => [name.replace(/\?$/, ''), keys[name]])),
    required: names.filter(name => !name.endsWith('?')),
    additionalProperties: false,
    ...described(description),
  };
}

/** The same schema, in which every object may have more keys, as a later version's do. */
export function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.entries(schema).filter(([key, value]) => !(key === 'additionalProperties' && value === false));
  return Object.fromEntries(parts.map(([key, value]) => [key, opened(value)]));
}
