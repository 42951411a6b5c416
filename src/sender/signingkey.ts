// The key that signs this node's reports.

import { type Key, readKeys } from '../options/keys.js';
import { InputError, inNamedFile, oneLine } from '../text/text.js';

/** The key with which a node of this name signs; throws an InputError if it belongs to another node. */
export function readSigningKey(path: string, name: string): Key {
  return inNamedFile('keys', () => {
    const [key] = readKeys(path) as [Key];
    if (key.node !== undefined && key.node !== name)
      throw new InputError(`${oneLine(path)}: is the key of ${key.node}, and this node is ${name}; give it its own`);
    return key;
  });
}
