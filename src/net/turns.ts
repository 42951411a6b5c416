// CPU time by turns: of the origins whose work waits, the one that has had the least goes on, and of its connections
// that which has had the least. Work waits before it begins, and again after each slice; what it takes is measured.

import { getOrInsert } from '../text/maps.js';

/** The least that a turn counts, ms: the clock may not have moved. */
const LEAST_MS = 0.01;

/** One that takes turns: a connection. */
interface TurnTaker {
  readonly origin: string;
  readonly isGone?: boolean;
}

/** What an origin has had, ms of CPU time, and its connections; who comes later begins with what the last one had. */
interface OriginTurns {
  had: number;
  readonly hadBy: WeakMap<TurnTaker, number>;
  lastHad: number;
}

interface WaitingTurn {
  readonly taker: TurnTaker;
  readonly origin: OriginTurns;
  readonly had: number; // by its connection
  readonly go: () => void;
}

export class Turns {
  readonly #origins = new Map<string, OriginTurns>();
  readonly #waiting = new Set<WaitingTurn>();
  #lastHad = 0;
  #isGiving = false;
  /** How many turns were given so far. */
  given = 0;

  /** Resolved when it is that one's turn. What follows at once is charged to it; the next turn is given after that. */
  wait(taker: TurnTaker): Promise<void> {
    const origin = getOrInsert(this.#origins, taker.origin, () => ({ had: 0, hadBy: new WeakMap(), lastHad: 0 }));
    // Nobody saves up turns by asking for nothing.
    origin.had = Math.max(origin.had, this.#lastHad);
    const had = Math.max(origin.hadBy.get(taker) ?? 0, origin.lastHad);
    return new Promise(go => {
      this.#waiting.add({ taker, origin, had, go });
      if (!this.#isGiving) this.#give();
    });
  }

  /** Who is gone, and lets go then of what it has; else, of several that have had as much, who came first. */
  #next(): WaitingTurn {
    const all = [...this.#waiting];
    const less = (a: WaitingTurn, b: WaitingTurn) =>
      b.origin.had < a.origin.had || (b.origin === a.origin && b.had < a.had) ? b : a;
    return all.find(({ taker }) => taker.isGone) ?? all.reduce(less);
  }

  #give(): void {
    this.#isGiving = true;
    let [turn, began] = [undefined as WaitingTurn | undefined, 0];
    setImmediate(() => {
      turn = this.#next();
      this.#waiting.delete(turn);
      this.#lastHad = turn.origin.had;
      turn.origin.lastHad = turn.had;
      this.given++;
      began = performance.now();
      turn.go();
    });
    // It runs when all that follows at once from that has run, and before anything else does.
    setImmediate(() => {
      const { taker, origin, had } = turn as WaitingTurn;
      const took = Math.max(LEAST_MS, performance.now() - began);
      origin.had += took;
      origin.hadBy.set(taker, had + took);
      if (this.#waiting.size > 0) return this.#give();
      this.#isGiving = false;
      this.#origins.clear();
      this.#lastHad = 0;
    });
  }
}
