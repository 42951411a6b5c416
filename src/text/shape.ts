// Whether a value that came as JSON is what a program takes it for: its writer may be broken, of another version, or
// broken into. Pure.

import { isTellable } from './moments.js';
import type { DescribedKeys, Of } from './schema.js';

/** Whether a value is a T. */
export type Check<T = unknown> = ((value: unknown) => boolean) & Of<T>;
type Guard<T> = ((value: unknown) => value is T) & Of<T>;

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

export const isText: Guard<string> = value => typeof value === 'string';
export const isFlag: Check<boolean> = value => typeof value === 'boolean';
export const isNumber: Check<number> = value => Number.isFinite(value);
export const isCount: Guard<number> = (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
export const isList: Check<readonly unknown[]> = Array.isArray;
export const isMs: Check<number> = isTellable;

/** Lists whose entries, and objects whose values, are all of that kind. */
export const listOf =
  <T>(check: Check<T>): Guard<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(check);
export const valuesOf =
  <T>(check: Check<T>): Guard<Readonly<Record<string, T>>> =>
  (value): value is Readonly<Record<string, T>> =>
    isObject(value) && Object.values(value).every(check);

/** Objects in which each of these keys is what it has to be; those whose name ends in ? may be absent. Others are of a later version. */
export function shapeOf<K extends Readonly<Record<string, Check>>>(keys: K): Guard<DescribedKeys<K>> {
  const needed = Object.keys(keys).filter(key => !key.endsWith('?'));
  const checks = new Map(Object.entries(keys).map(([key, check]) => [key.replace(/\?$/, ''), check]));
  return (value): value is DescribedKeys<K> => {
    if (!isObject(value)) return false;
    for (const key of needed) if (value[key] === undefined) return false;
    for (const key in value) if (value[key] !== undefined && checks.get(key)?.(value[key]) === false) return false;
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
