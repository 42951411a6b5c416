// Tables of words that are asked with words from outside. Pure.

/** The entry of a word; undefined: there is none. What every object inherits, as `constructor`, is no entry. */
export const own = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
