// The name that a machine gives itself, where an option needs one.

import { hostname } from 'node:os';
import { InputError, lowerCase, quote } from '../text/text.js';

/**
 * The host name up to its first dot, in lower case, as the default of an option. Throws an InputError if it is an
 * address, of which that would be the first number.
 */
export function shortHostName(option: string, host = hostname()): string {
  if (/^\.*[0-9][0-9.]*$/.test(host) && host.includes('.'))
    throw new InputError(
      `the default of --${option}: the host name ${quote(host)} is an address; give this machine a name, or write --${option} NAME`,
    );
  return lowerCase(host.split('.', 1)[0] ?? '');
}

/** What the kernel calls a machine that has no name yet. */
export const isNobodysName = (name: string): boolean => /^(localhost[46]?|\(none\)|)$/.test(name);

/** The same for a node; without a name it is localhost, which other machines must not be told. */
export function defaultNodeName(): string {
  const name = shortHostName('name');
  return isNobodysName(name) ? 'localhost' : name;
}
