// Tables of words that are asked with words from outside. Pure.

/** The entry of a word; undefined: there is none. What every object inherits, as `constructor`, is no entry. */
export const own = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;

type WordsIn<S extends string> = S extends `${infer Head} ${infer Tail}` ? Head | WordsIn<Tail> : S;

/** The words of lines that have a blank between each two: a long list of names that can be read. */
export const words = <const S extends readonly string[]>(...lines: S): WordsIn<S[number]>[] =>
  lines.flatMap(line => line.split(' ') as WordsIn<S[number]>[]);
