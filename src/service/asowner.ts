// Root acts as the user in whose place a file lies, whose programs must be able to open what it makes there, and who
// could lay a link in its way. In a folder where each has files of its own, as /dev/shm, that is the file's owner: not
// even root can open another's to write (fs.protected_regular).

import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { actAs } from '../native/index.js';
import { failureAt } from './ownfolder.js';

const STICKY = 0o1000;

/**
 * Who can change what lies at the path of a file: the owner of its folder, or of the file where the folder is sticky;
 * where that is root, of the nearest folder above that is not root's.
 */
function ownerOf(file: string) {
  const folder = realpathSync(dirname(file));
  const isSticky = (lstatSync(folder).mode & STICKY) !== 0;
  for (let path = isSticky ? join(folder, basename(file)) : folder; ; path = dirname(path)) {
    const { uid, gid } = lstatSync(path);
    if (uid !== 0 || path === dirname(path)) return { uid, gid };
  }
}

/** Acts as that user, if we are root. Throws what `act` and the file system throw. */
export function asOwner<T>(file: string, act: () => T): T {
  if (process.geteuid?.() !== 0) return act();
  const { uid, gid } = ownerOf(file);
  if (uid === 0) return act();
  const group = process.getegid?.() ?? 0;
  try {
    const error = actAs(uid, gid);
    if (error !== 0) throw failureAt(file, `root cannot act as user ${uid}, in whose place it lies: error ${-error}`);
    return act();
  } finally {
    actAs(0, group);
  }
}
