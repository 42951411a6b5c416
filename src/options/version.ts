// The version of this program, as its package says.

import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** `major.minor.patch` */
export const VERSION = version;

/** major<<16 | minor<<8 | patch, as a report has it. */
export function versionNumber(text = VERSION): number {
  const [major = 0, minor = 0, patch = 0] = text.split(/[.-]/).map(Number);
  return (major << 16) | (minor << 8) | patch;
}
