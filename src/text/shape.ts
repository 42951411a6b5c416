// Whether a value that came as JSON is what a program takes it for: its writer may be broken, of another version, or
// broken into. Pure.

import { isTellable } from './moments.js';

/** Whether a value is one of a kind. */
export type Check = (value: unknown) => boolean;

/** An object that is no array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a text of JSON; undefined: it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const isText = (value: unknown): value is string => typeof value === 'string';
export const isFlag: Check = value => typeof value === 'boolean';
export const isNumber: Check = value => Number.isFinite(value);
export const isCount: Check = value => Number.isSafeInteger(value) && Number(value) >= 0;
export const isList: Check = Array.isArray;
export const isMs: Check = isTellable;

/** Lists whose entries, and objects whose values, are all of that kind. */
export const listOf = (check: Check) => (value: unknown) => Array.isArray(value) && value.every(check);
export const valuesOf = (check: Check) => (value: unknown) => isObject(value) && Object.values(value).every(check);

/** Objects that have the needed keys, and in which each known key is what it has to be. Others are of a later version. */
export function shapeOf<T>(
  keys: { readonly [K in keyof Required<T>]: Check },
  needed: readonly (keyof T)[] = Object.keys(keys) as (keyof T)[],
): (value: unknown) => value is T {
  const checks: Partial<Record<string, Check>> = Object.assign(Object.create(null), keys);
  return (value): value is T => {
    if (!isObject(value)) return false;
    for (const key of needed) if (value[key as string] === undefined) return false;
    for (const key in value) if (value[key] !== undefined && checks[key]?.(value[key]) === false) return false;
    return true;
  };
}

/** Whether all of them are; yields after each. */
export function* areAll(values: readonly unknown[], check: Check): Generator<undefined, boolean> {
  for (const value of values) {
    if (!check(value)) return false;
    yield;
  }
  return true;
}
