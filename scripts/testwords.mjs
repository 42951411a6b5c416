// What a word after `npm test --` chooses. Plain JavaScript without dependencies, because it runs before there are any.

/** Whether a word chooses the test ROOM/NAME: it is its room, or begins its name, with or without the room. */
export function chooses(word, test) {
  const [room, name = room] = test.split('/');
  return word === room || name.startsWith(word) || (word.includes('/') && test.startsWith(word));
}
