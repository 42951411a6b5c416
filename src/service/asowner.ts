// Root acts as the owner of a board or its folder, whose programs must be able to open the files that it makes: in a
// folder where each has files of its own, as /dev/shm, not even root can open another's to write (fs.protected_regular).

import { lstatSync } from 'node:fs';
import { actAs } from '../native/index.js';
import { failureAt } from './ownfolder.js';

/** Acts as the owner of that file or folder, if we are root. Throws what `act` and the file system throw. */
export function asOwner<T>(path: string, act: () => T): T {
  const { geteuid, getegid } = process;
  const { uid, gid } = lstatSync(path);
  if (geteuid?.() !== 0 || uid === 0) return act();
  const group = getegid?.() ?? 0;
  try {
    const error = actAs(uid, gid);
    if (error !== 0) throw failureAt(path, `root cannot act as its owner, user ${uid}: error ${-error}`);
    return act();
  } finally {
    actAs(0, group);
  }
}
