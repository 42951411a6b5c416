// The parameters of a request, behind the question mark of its address.

import { didYouMean, InputError, nearest, quote } from '../text/text.js';

/** Refuses unknown parameters, and those that are given twice unless they are among `lists`. Throws an InputError. */
export function checked(
  query: URLSearchParams,
  known: readonly string[],
  lists: readonly string[] = [],
): URLSearchParams {
  const those = known.length === 0 ? 'it has none' : `there are ${known.join(', ')}`;
  for (const name of query.keys()) {
    if (!known.includes(name))
      throw new InputError(`${quote(name)} is not a parameter of this; ${didYouMean(nearest(name, known), those)}`);
    if (query.getAll(name).length > 1 && !lists.includes(name))
      throw new InputError(`${name} is given twice; write it once`);
  }
  return query;
}
