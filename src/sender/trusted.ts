// Whose files a sender trusts; the same as the sender in C.

import { DAEMON, findUser } from '../options/users.js';

let found: { uid: number | undefined } | undefined;

/**
 * Whether files of this user may tell the sender something: of root, of the sender's own user, and of beoboard, whom
 * readers trust with the board itself. On a master the sender has a user of its own.
 */
export function isTrustedWriter(uid: number): boolean {
  if (uid === 0 || uid === process.geteuid?.()) return true;
  found ??= { uid: findUser(DAEMON)?.uid };
  return uid === found.uid;
}
