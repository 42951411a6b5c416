// Whether this process is in the foreground of its terminal; Node.js does not tell.

import { readFileSync } from 'node:fs';

/**
 * Whether the terminal, if there is one, is ours. In the background it is somebody else's, and what changes its modes or
 * reads from it is stopped, with all processes of its group.
 */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    // proc(5): the name may have blanks and parentheses; then state, parent, group, session, terminal, and its group.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return foreground === '-1' || foreground === group;
  } catch {
    // Where nobody tells, it is as mostly.
    return true;
  }
}
