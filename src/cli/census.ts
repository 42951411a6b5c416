// Counts the nodes of a board by their state, and names those that are asked for: reads liveness and nothing else.

import { noneOfEach, type State } from '../shm/liveness.js';
import type { BoardReader } from '../shm/reader.js';

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

/** Takes the census. Throws NoBoard. */
export function takeCensus(reader: BoardReader, { keep, among }: Question): Census {
  const roll = reader.roll();
  const counts = noneOfEach();
  const kept: Counted[] = [];
  const missing = among && new Set(among);
  const [states, names] = [roll.states(), roll.names()];
  // By number, not by entries(): thousands of nodes are counted in a short process, before anything is compiled.
  for (let i = 0; i < states.length; i++) {
    const [state, name] = [states[i]!, names[i]!];
    if (missing && !missing.delete(name)) continue;
    counts[state]++;
    if (keep(state)) kept.push({ name, state, leftMs: state === 'left' ? roll.ageMs(i) : undefined });
  }
  const { stalled, retired, closed, heartbeatAgeMs } = roll.board;
  return {
    counts,
    kept,
    strangers: [...(missing ?? [])],
    stalled: stalled || retired,
    closed,
    heartbeatAgeMs,
  };
}
