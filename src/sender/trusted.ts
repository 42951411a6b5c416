// Whose files a sender trusts. Looks only into /etc/passwd, as the sender in C does: a daemon's user is a local one, and
// nobody waits for a directory service.

import { readFileSync } from 'node:fs';

/** The user beoboard; undefined if there is none. */
function beoboard(): number | undefined {
  try {
    const [, uid] = /^beoboard:[^:]*:(\d+):/m.exec(readFileSync('/etc/passwd', 'latin1')) ?? [];
    return uid === undefined ? undefined : Number(uid);
  } catch {
    return undefined;
  }
}

let found: { uid: number | undefined } | undefined;

/**
 * Whether files of this user may tell the sender something: of root, of the sender's own user, and of beoboard, whom
 * readers trust with the board itself. On a master the sender has a user of its own.
 */
export function isTrustedWriter(uid: number): boolean {
  if (uid === 0 || uid === process.geteuid?.()) return true;
  found ??= { uid: beoboard() };
  return uid === found.uid;
}
