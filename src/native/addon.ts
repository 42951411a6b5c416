// Loads the addon; the code is in c/.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The addon that was built on this machine; otherwise the one for its processor in the package. */
function load(): unknown {
  try {
    return require('../../../build/beoboard.node');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    if (process.arch === 'x64') return require('../../../prebuilds/linux-x64/beoboard.node');
    if (process.arch === 'arm64') return require('../../../prebuilds/linux-arm64/beoboard.node');
    throw error;
  }
}

/** What is in it, the other files say, each of its part. */
export const addon = load();
