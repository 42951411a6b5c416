// Texts for people: the nearest known word, numbers, and files that a user named. Prints nothing.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';
import { othersSpoken } from './ascii.js';
import { InputError, lowerCase, type NamedFile, quote } from './inputerror.js';
import { oneLine, shellWordAs } from './unseen.js';

export { brief, InputError, lowerCase, quote } from './inputerror.js';
export { beginning, characters, cut, ending, fits, oneLine, shortened, UNSEEN } from './unseen.js';

/** Runs a function that reads such a file: its InputErrors are about that file. */
export function inNamedFile<T>(about: NamedFile, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof InputError) error.about = about;
    throw error;
  }
}

/** How many letters must be changed, removed, added or swapped with a neighbour to turn one word into the other. */
function distance(from: readonly string[], to: readonly string[]): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1;
      let best = Math.min(last[column]! + 1, line[column - 1]! + 1, last[column - 1]! + same);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) best = Math.min(best, beforeLast[column - 2]! + 1);
      line.push(best);
    }
    beforeLast = last;
    last = line;
  }
  return last[to.length]!;
}

/**
 * The known word that was most likely meant: the same one in lower case, the only one with this beginning, else the
 * nearest, else the only one that this abbreviates.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const lower = lowerCase(word);
  if (known.includes(lower)) return lower;
  const begun = known.filter(candidate => word.length > 1 && candidate.startsWith(word));
  if (begun.length === 1) return begun[0];
  let best: string | undefined;
  // No known word is nearly as long as this.
  const letters = Array.from(word.slice(0, 256));
  let least = Math.floor(Math.min(letters.length, 12) / 3) + 1;
  for (const candidate of known) {
    // A difference in length is a lower bound.
    if (Math.abs(candidate.length - letters.length) >= least) continue;
    const far = distance(letters, Array.from(candidate));
    if (far < least) [best, least] = [candidate, far];
  }
  return best ?? unabbreviated(word, known);
}

/**
 * The only known word that has these letters in this order, beginning with the same letter, or the one with which all
 * others of these begin: root_ro is root_readonly, and not root_readonly_ago.
 */
function unabbreviated(word: string, known: readonly string[]): string | undefined {
  if (word.length < 4) return undefined;
  const found = known.filter(candidate => {
    if (candidate[0] !== word[0] || candidate.length < word.length) return false;
    let taken = 0;
    for (const letter of candidate) if (letter === word[taken]) taken++;
    return taken === word.length;
  });
  return found.find(candidate => found.every(other => other.startsWith(candidate)));
}

/** The advice about an unknown word: the word that was probably meant, if there is one. */
export function didYouMean(meant: string | undefined, otherwise: string): string {
  return meant === undefined ? otherwise : `did you mean ${meant}?`;
}

/** More than a million of the longest names. */
const MOST_BYTES = 80 << 20;

/** All of a regular file. Never waits, also if a FIFO or a device has taken its place: a daemon has to hear SIGTERM. */
function readWhole(file: string, isGuarded: boolean): Buffer {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() && !stats.isDirectory()) throw new InputError('it is not a regular file');
    if (isGuarded && (stats.mode & 0o022) !== 0) throw new InputError('others than its owner can write it');
    const chunks: Buffer[] = [];
    for (let bytes = 0; bytes <= MOST_BYTES; ) {
      const chunk = Buffer.allocUnsafe(1 << 16);
      const read = readSync(fd, chunk);
      if (read === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, read));
      bytes += read;
    }
    throw new InputError('it is too large');
  } finally {
    closeSync(fd);
  }
}

/** Why a file cannot be read, in words. */
export function whyUnreadable(error: unknown): string {
  if (error instanceof InputError) return error.message;
  const { code, errno = 0 } = error as NodeJS.ErrnoException;
  return code === 'EISDIR' ? 'it is a directory' : (getSystemErrorMap().get(errno)?.[1] ?? 'it cannot be opened');
}

/** The text of a file that the user named. `isGuarded`: only its owner may be able to write. Throws an InputError. */
export function readText(file: string, isGuarded = false): string {
  let whole: Buffer;
  try {
    whole = readWhole(file, isGuarded);
  } catch (error) {
    throw new InputError(`cannot read ${quote(file)}: ${whyUnreadable(error)}; name a file that this user can read`);
  }
  return whole.toString('utf8').replace(/^\uFEFF/, '');
}

/** A word as a shell reads it, on one line, also where nothing but ASCII is written. */
export const shellWord = (text: string): string => shellWordAs(text, word => othersSpoken(oneLine(word)));

/** A whole number in groups of three digits: `58,228`. Node.js' own way loads tables for 11 ms, at each start. */
export const thousands = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** The first of these words, and how many more there are. */
export function few(words: readonly string[], most: number, by = ', '): string {
  const more = words.length - most;
  return `${words.slice(0, most).join(by)}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `1 node`, `2 nodes`; `several`: where an s is not all. */
export const counted = (count = 0, one = '', several = `${one}s`): string => `${count} ${count === 1 ? one : several}`;
