// Maps that are filled as they are asked. Pure.

/** The value of a key; if there is none, `make` makes it, and it is kept. */
export function getOrInsert<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** Adds to the list of a key. Most lists stay at one, and one that is made empty and filled has room for 17. */
export function addTo<K, T>(map: Map<K, T[]>, key: K, thing: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [thing]);
  else list.push(thing);
}

/** Things by their keys, in the order in which the keys occur. */
export function groupBy<T, K>(things: Iterable<T>, keyOf: (thing: T) => K): Map<K, T[]> {
  const found = new Map<K, T[]>();
  for (const thing of things) addTo(found, keyOf(thing), thing);
  return found;
}
