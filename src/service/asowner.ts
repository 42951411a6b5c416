// Root acts as the owner of a board or its folder, whose programs must be able to open the files that it makes.

import { lstatSync } from 'node:fs';

/** Acts as the owner of that file or folder, if we are root. Throws what `act` and the file system throw. */
export function asOwner<T>(path: string, act: () => T): T {
  const { geteuid, getegid, seteuid, setegid } = process;
  const { uid, gid } = lstatSync(path);
  if (geteuid?.() !== 0 || uid === 0 || !getegid || !seteuid || !setegid) return act();
  const group = getegid();
  setegid(gid);
  seteuid(uid);
  try {
    return act();
  } finally {
    seteuid(0);
    setegid(group);
  }
}
