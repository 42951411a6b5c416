// Waits for what another process does. No test of its own but test/project/until.test.ts.

import type { ChildProcess } from 'node:child_process';
import { inspect } from 'node:util';
import { atEnd, describe, hasFailed, programs, type Started, startedAs } from './started.js';
import { familyOf, Starving } from './starving.js';

/** What a wait needs of the machine, which a test of it can make up. */
export interface Machine {
  /** ms */
  now(): number;
  sleep(ms: number): Promise<void>;
  /** Calls a function every so many ms until what is returned is called. */
  every(ms: number, call: () => void): () => void;
  /** For how long this process and all that it started waited for a CPU so far, ms; undefined: nobody counts it. */
  starved(): number | undefined;
}

const starving = new Starving();

const THIS: Machine = {
  now: () => performance.now(),
  sleep: ms => new Promise(resolve => setTimeout(resolve, ms)),
  every: (ms, call) => {
    const timer = setInterval(call, ms);
    return () => clearInterval(timer);
  },
  starved: () => {
    const ns = starving.look(familyOf(process.pid));
    return ns === undefined ? undefined : ns / 1e6;
  },
};

/** So long nothing happens in a test of ours although all that takes part has the CPU that it wants. */
const PATIENCE_MS = 15_000;
const TICK_MS = 500;
/** A timer is on time if it is late by no more. */
const LATE_MS = 50;
/** A look may take so long after that. */
const LOOK_MS = 5000;

interface Terms {
  /** The program that it is about, if its end, good or bad, is the end of the wait, also one before it. */
  of?: ChildProcess;
  /** For longer than 15 s, what the program does at this time of its own. */
  withinMs?: number;
}

/** Why a wait is in vain; begins at once, until it is ended. */
class Patience {
  readonly #stops: (() => void)[];
  readonly #before = new Set(programs().running);
  #last: { at: number; starved: number | undefined } | undefined;
  #counted = 0;
  #until = Number.POSITIVE_INFINITY;
  /** Why there is nothing more to wait for. */
  why: string | undefined;

  constructor(
    readonly machine: Machine,
    readonly terms: Terms,
    readonly exhausted: () => void,
  ) {
    const { of } = terms;
    const own = of && startedAs(of);
    const hasEnded = (program: Started) =>
      program === own ? program.end !== undefined : this.#before.has(program) && hasFailed(program);
    const look = (program: Started) => {
      if (hasEnded(program)) this.#close(describe(program));
    };
    if (own !== undefined) look(own);
    this.#stops = [atEnd(look), machine.every(TICK_MS, () => this.#tick())];
  }

  end(): void {
    for (const stop of this.#stops) stop();
  }

  #close(why: string): void {
    this.why ??= why;
    this.#until = Math.min(this.#until, this.#counted + LOOK_MS);
  }

  /** Counts the time in which nobody waited for a CPU; where nobody knows that, the time of ticks that were on time. */
  #tick(): void {
    const { machine, terms } = this;
    const [at, starved] = [machine.now(), machine.starved()];
    if (this.#last !== undefined) {
      // A machine that stood still has not run what it is waited for.
      const took = Math.min(at - this.#last.at, 2 * TICK_MS);
      const waited = starved === undefined ? undefined : Math.max(0, starved - (this.#last.starved ?? 0));
      if (waited !== undefined) this.#counted += Math.max(0, took - waited);
      else if (took <= TICK_MS + LATE_MS) this.#counted += took;
    }
    this.#last = { at, starved };
    const withinMs = terms.withinMs ?? PATIENCE_MS;
    if (this.#counted >= withinMs)
      this.#close(`for ${withinMs / 1000} s neither this test nor what it started waited for a CPU`);
    if (this.#counted >= this.#until) this.exhausted();
  }
}

/**
 * Waits until something that another process does is true: checks it every so many ms. A look that sees the contrary
 * throws. Gives up when a program that the test started to last fails, and what it did was looked at once more;
 * or when there were 15 s in which neither this process nor any that it started, or they, waited for a CPU.
 */
export const until = <T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  everyMs = 10,
  terms: Terms = {},
): Promise<T> => untilOn(THIS, what, look, everyMs, terms);

/** The same on a machine that may be made up. */
export async function untilOn<T>(
  machine: Machine,
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  everyMs: number,
  terms: Terms,
): Promise<T> {
  let [looks, saw]: [number, unknown] = [0, undefined];
  const inVain = (why: string | undefined) => {
    const seen = looks === 0 ? 'the look has no end' : `${looks} looks, at last ${inspect(saw)}`;
    const { running, ended } = programs();
    const others = [...running, ...ended].map(program => `\n  ${describe(program)}`);
    return new Error(`waited in vain until ${what}: ${why}; ${seen} by ${sourceOf(look)}${others.join('')}`);
  };
  let giveUp: (error: Error) => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  givenUp.catch(() => undefined);
  const patience = new Patience(machine, terms, () => giveUp(inVain(patience.why)));
  try {
    for (;;) {
      // Before the look: what was to be seen at the end of a program is there.
      const { why } = patience;
      const found = await Promise.race([look(), givenUp]);
      if (found !== undefined && found !== false) return found;
      looks++;
      saw = found;
      if (why !== undefined) throw inVain(why);
      await machine.sleep(everyMs);
    }
  } finally {
    patience.end();
  }
}

/** Waits for a promise about another process, no longer than `until` does. */
export function awaited<T>(what: string, promised: Promise<T>, terms?: Terms): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promised.then(settle, settle);
  return Promise.race([promised, until(what, () => isSettled, 10, terms).then(() => promised)]);
}

/** A function as a line that is not long. */
const sourceOf = (look: () => unknown) => {
  const source = String(look).replace(/\s+/g, ' ');
  return source.length > 200 ? `${source.slice(0, 200)}…` : source;
};
