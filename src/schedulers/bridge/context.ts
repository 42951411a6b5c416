// What the bridge works with: Slurm, the board, clocks, and what it is allowed to do.

import { type Controller, NoAnswer } from '../../schedulerfile/scheduler.js';
import type { BoardLook } from './boardlook.js';
import type { Policy } from './rules.js';

/** What the bridge works with. */
export interface BridgeContext {
  readonly slurm: Controller;
  lookAtAll(): BoardLook;
  lookAtOne(name: string): BoardLook;
  /** Whether nobody else can act with our journal. */
  isOnly(): boolean;
  /** CLOCK_MONOTONIC, and since 1970, ms. */
  monoMs(): number;
  nowMs(): number;
}

export interface Settings {
  readonly policy: Policy;
  readonly exceptions: Readonly<Record<string, string>>;
  /** While this file exists nothing is done. */
  readonly killSwitch: string;
  /** Where an administrator leaves a request; undefined: requests are not possible. */
  readonly requests: string | undefined;
  /** Whether acts are only printed. */
  readonly isRehearsal: boolean;
}

/** What a query of Slurm finds; without an answer, the words for that. */
export async function answerOf<T>(query: () => Promise<T>): Promise<{ found?: T; silence?: string }> {
  try {
    return { found: await query() };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { silence: `Slurm does not answer: ${error.message}` };
  }
}
