// Users of this machine, by /etc/passwd alone: a daemon's user is a local one. Asks no directory service.

import { readFileSync } from 'node:fs';
import { attempt } from '../text/failure.js';

/** The user whose daemons read keys, and to whom the board and the cluster's key belong. */
export const DAEMON = 'beoboard';

/** The user of a master's relay, to whom its key belongs. */
export const RELAY = 'beoboard-relay';

/** The user of the journals. */
export const JOURNAL = 'beoboard-journal';

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The users, in their order; none if the file cannot be read. */
function users(): User[] {
  const text = attempt(() => readFileSync('/etc/passwd', 'latin1')) ?? '';
  return text.split('\n').flatMap(line => {
    const [name = '', , uid = '', gid = ''] = line.split(':');
    return /^\d+$/.test(uid) && /^\d+$/.test(gid) ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

/** A user by name. */
export const findUser = (name: string): User | undefined => users().find(user => user.name === name);

/** The name of a user; without one the id. */
export function userName(uid: number): string {
  return users().find(user => user.uid === uid)?.name ?? String(uid);
}
