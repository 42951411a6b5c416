// What a report needs from the machine and no tree of files contains: clocks, the sender's own usage, the type of the
// machine. All differences between two runs on the same trees come from here, so that a report can be repeated.

import { adjtimex, type ClockState, readClocks } from '../native/index.js';
import { readMachine } from './collect/system.js';

export interface HostMachine {
  /** CLOCK_REALTIME and CLOCK_BOOTTIME, taken together, ns. */
  clocks(): { realNs: bigint; bootNs: bigint };
  /** Undefined if the kernel does not report it. */
  adjtimex(): ClockState | undefined;
  /** CPU time of this process since its start, ms. */
  cpuMs(): number;
  /** How long some work takes, us. */
  time(work: () => void): number;
  /** Calls a function after so many ms; returns a function that cancels it. */
  after(ms: number, work: () => void): () => void;
  /** `arch` of the contract, and the page size in KiB. */
  machine(): { arch: number; page_kib: number | undefined };
}

export const here: HostMachine = {
  clocks: readClocks,
  adjtimex,
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  time(work) {
    const began = performance.now();
    work();
    return (performance.now() - began) * 1000;
  },
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
  machine: readMachine,
};
