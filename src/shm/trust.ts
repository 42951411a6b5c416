// What a writer of boards trusts: its keys, the proof that a report needs, and how far a clock may be off. Verifies
// nothing itself; c/ does that.

import { enums } from '../layout/layout.gen.js';
import { NO_WINDOW, type TrustOptions } from '../native/index.js';
import { readClusterKeys } from '../options/keys.js';
import { UsageError, type Values } from '../options/options.js';
import type { Log } from '../service/log.js';
import { usable } from '../text/failure.js';

/** What makes a report trusted. */
export interface Trust {
  /** Cluster keys: at most two, with different ids. */
  keys: readonly { readonly id: number; readonly secret: Uint8Array }[];
  /** The least proof that a report needs. */
  required: (typeof enums.auth_alg)[number];
  /** How far a node's wall clock may be from ours where the clock decides, ms; `off`: any distance. */
  clockWindow: number | 'off';
}

/** The same in the addon's units. Without trust nothing is verified, and a signature has no meaning. */
export function trustOptions(trust: Trust | undefined): TrustOptions {
  const window = trust?.clockWindow;
  return {
    keys: trust?.keys ?? [],
    required: enums.auth_alg.indexOf(trust?.required ?? 'none'),
    clockWindowNs: window === undefined || window === 'off' ? NO_WINDOW : BigInt(Math.round(window * 1e6)),
  };
}

type KeyOptions = Values<'key-file' | 'require' | 'clock-window'>;

/** Reads the key file; undefined if there is none. Throws a UsageError. */
export function readTrust({ keyFile, require, clockWindow }: KeyOptions): Trust | undefined {
  if (keyFile === undefined) {
    if (require === undefined || require === 'none') return undefined;
    throw new UsageError(`--require ${require} needs a key to verify with; give --key-file`);
  }
  return { keys: usable(() => readClusterKeys(keyFile)), required: require ?? 'cluster', clockWindow };
}

/** Says which reports are trusted; says nothing if reports are not verified and were not verified before. */
export function tellTrust(trust: Trust | undefined, before: Trust | undefined, log: Log): void {
  if (trust === undefined) {
    if (before !== undefined)
      log.warn('without --key-file from now on: reports are not verified, and any sender is trusted');
    return;
  }
  const ids = trust.keys.map(({ id }) => id).join(' and ');
  const least =
    trust.required === 'none'
      ? 'also accepts reports without a signature'
      : `a report needs a signature with a ${trust.required} key`;
  log.info(`verifies with ${trust.keys.length > 1 ? 'keys' : 'key'} ${ids}: ${least}`);
}
