// Counts the nodes of a board by their state, and names those that are asked for: reads liveness and nothing else.

import { STATES, type State } from '../shm/liveness.js';
import type { BoardReader, Snapshot } from '../shm/reader.js';

/** A node of the census. */
export interface Counted {
  readonly name: string;
  readonly state: State;
  /** For how long it is gone, when it said goodbye. */
  readonly leftMs: number | undefined;
}

export interface Census {
  readonly counts: Readonly<Record<State, number>>;
  /** Those that were asked for, in the order of the board. */
  readonly kept: readonly Counted[];
  /** Names that were asked about and are not on the board. */
  readonly strangers: readonly string[];
  /** The monitor's own word at the end: nothing is known about nodes when it is stalled or retired. */
  readonly stalled: boolean;
  readonly closed: boolean;
  readonly heartbeatAgeMs: number;
}

/** What to keep, and of which nodes alone; all when undefined. */
export interface Question {
  readonly keep: (state: State) => boolean;
  readonly among?: readonly string[] | undefined;
}

const ATTEMPTS = 3;

/** Takes the census. A board that is replaced meanwhile is counted anew. Throws NoBoard. */
export function takeCensus(reader: BoardReader, { keep, among }: Question): Census {
  for (let attempt = 1; ; attempt++) {
    const counts = Object.fromEntries(STATES.map(state => [state, 0])) as Record<State, number>;
    const kept: Counted[] = [];
    const missing = among && new Set(among);
    let last: Snapshot | undefined;
    for (const part of reader.pieces()) {
      last = part;
      const states = part.states();
      const names = missing && part.names();
      for (const [i, state] of states.entries()) {
        if (names && !missing.delete(names[i] ?? '')) continue;
        counts[state]++;
        if (!keep(state)) continue;
        const leftMs = state === 'left' ? part.node(i).ageMs : undefined;
        kept.push({ name: names?.[i] ?? part.nameAt(i), state, leftMs });
      }
    }
    // The first part is of a board that stood at the path; only a later one tells that it has gone since.
    if (last?.retired && attempt < ATTEMPTS) continue;
    return {
      counts,
      kept,
      strangers: [...(missing ?? [])],
      stalled: last === undefined || last.stalled || last.retired,
      closed: last?.closed ?? false,
      heartbeatAgeMs: last?.heartbeatAgeMs ?? 0,
    };
  }
}
