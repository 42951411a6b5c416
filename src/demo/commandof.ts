// How to call this program in any shell.

import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { shellWord } from '../text/text.js';

/** Folders of the path that only npm's own children have; and those that depend on where a shell is. */
const NOT_OF_SHELLS = /\/node_modules\/\.bin$|^[^/]|^$/;

function isFound(name: string, file: string): boolean {
  const folders = (process.env.PATH ?? '').split(':').filter(folder => !NOT_OF_SHELLS.test(folder));
  const found = folders.map(folder => join(folder, name)).find(existsSync);
  return found !== undefined && realpathSync(found) === realpathSync(file);
}

/** The command that runs this program: its name if it is installed, else its file, which says that Node.js runs it. */
export function commandOf(program: string): string {
  if (isFound('beoboard', program)) return 'beoboard';
  const { execPath } = process;
  return [...(isFound('node', execPath) ? [] : [execPath]), program].map(shellWord).join(' ');
}
