// Loads the addon; the code is in c/.

import { createRequire } from 'node:module';
import type { BoardAddon } from './board.js';
import type { PrintingAddon } from './printing.js';
import type { ReceivingAddon } from './receiving.js';
import type { RelayingAddon } from './relaying.js';
import type { SystemAddon } from './system.js';

type Addon = BoardAddon & PrintingAddon & ReceivingAddon & RelayingAddon & SystemAddon;

const require = createRequire(import.meta.url);

/** The addon that was built on this machine; otherwise the one for its processor in the package. */
function load(): Addon {
  try {
    return require('../../../build/beoboard.node');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    if (process.arch === 'x64') return require('../../../prebuilds/linux-x64/beoboard.node');
    if (process.arch === 'arm64') return require('../../../prebuilds/linux-arm64/beoboard.node');
    throw error;
  }
}

export const addon = load();
