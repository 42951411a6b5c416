// Loads the addon; the code is in c/.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Failure, NOT_BUILT } from '../text/failure.js';
import { oneLine } from '../text/text.js';

const require = createRequire(import.meta.url);

/** The addon that was built on this machine; otherwise the one for its processor in the package. */
function find(): unknown {
  try {
    return require('../../../build/beoboard.node');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    if (process.arch === 'x64') return require('../../../prebuilds/linux-x64/beoboard.node');
    if (process.arch === 'arm64') return require('../../../prebuilds/linux-arm64/beoboard.node');
    throw error;
  }
}

/**
 * Throws a Failure. Installing the package does not compile the addon, because it runs no install script: if no
 * prebuilt one fits this processor, it is built by a command; but a distribution's package cannot build anything.
 */
function load(): unknown {
  try {
    return find();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const build = fileURLToPath(new URL('../../../scripts/build.mjs', import.meta.url));
    const what =
      code === 'MODULE_NOT_FOUND'
        ? 'the addon is not built'
        : `the addon cannot be loaded (${oneLine(message.split('\n')[0] ?? '')})`;
    const next = existsSync(build) ? `run node ${build}` : 'install it again';
    throw new Failure(`${what}; ${next}`, NOT_BUILT, 'not_installed');
  }
}

/** What is in it, the other files say, each of its part. */
export const addon = load();
