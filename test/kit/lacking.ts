// What a test needs and may not find. No test of its own.

import { accessSync, constants } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** Whether this program is in the PATH. It is not run: a compiler takes longer to say its version than some tests. */
function isThere(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some(folder => {
    try {
      accessSync(resolve(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Why a test cannot run here; in CI it is required. */
export function lacks(packages: string, ...programs: string[]): string | false {
  const missing = programs.filter(program => !isThere(program));
  return missing.length > 0 && !process.env.CI && `${missing.join(', ')} missing: apt-get install ${packages}`;
}
