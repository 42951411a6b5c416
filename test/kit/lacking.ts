// What a test needs and may not find. No test of its own.

import { spawnSync } from 'node:child_process';

/** Why a test cannot run here; in CI it is required. */
export function lacks(packages: string, ...programs: string[]): string | false {
  const missing = programs.filter(program => spawnSync(program, ['--version']).error !== undefined);
  return missing.length > 0 && !process.env.CI && `${missing.join(', ')} missing: apt-get install ${packages}`;
}
