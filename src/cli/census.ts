// Counts the nodes of a board by their state, and names those that are asked for: reads liveness and nothing else.

import { countStates, mayBeRefused, NUMBERED, type State } from '../shm/liveness.js';
import type { BoardReader, Roll } from '../shm/reader.js';
import { linkNews } from '../shm/sentences.js';
import { type RefusedNode, unheardTexts } from '../telling/refusals.js';

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
  /** Sentences about what is likelier at fault than the nodes that were asked about, and why some of the kept are not heard. */
  readonly remarks: readonly string[];
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
  const { states } = roll;
  const strangers = new Set<string>();
  const asked = among && found(roll, among, strangers);
  const wanted = NUMBERED.map(keep);
  const kept: number[] = [];
  for (let i = 0; i < states.length; i++) if (wanted[states[i]!] && (asked === undefined || asked.has(i))) kept.push(i);
  const names = roll.names(kept);
  const { stalled, retired, closed, heartbeatAgeMs } = roll.board;
  const remarks = linkRemarks(roll, asked);
  if (!stalled && !retired && Object.keys(roll.board.refused).length > 0) {
    const unheard = kept.flatMap((index, i) => (mayBeRefused(NUMBERED[states[index]!]!) ? names[i]! : []));
    // The roll is good no longer once the reader is asked for more.
    const { board } = roll;
    const refused = refusedNodes(reader, unheard);
    remarks.push(...unheardTexts(board, refused, [...unheard, ...strangers]));
  }
  return {
    counts: countStates(asked === undefined ? states : Uint8Array.from(asked, index => states[index]!)),
    kept: kept.map((index, i) => {
      const state = NUMBERED[states[index]!]!;
      return { name: names[i]!, state, leftMs: state === 'left' ? roll.ageMs(index) : undefined };
    }),
    strangers: [...strangers],
    remarks,
    stalled: stalled || retired,
    closed,
    heartbeatAgeMs,
  };
}

/** What there is to say of links, where a node that was asked about is behind them. */
function linkRemarks(roll: Roll, asked: ReadonlySet<number> | undefined): string[] {
  const news = linkNews(roll.board, roll);
  if (news.length === 0 || asked === undefined) return news.map(({ text }) => text);
  const behind = new Set([...asked].map(index => roll.linkOf(index)));
  return news.filter(({ number }) => behind.has(number)).map(({ text }) => text);
}

/** Those of these nodes whose reports are rejected. */
function refusedNodes(reader: BoardReader, names: readonly string[]): RefusedNode[] {
  const found: RefusedNode[] = [];
  for (const name of names)
    for (const { state, refusedSince: refusal } of reader.snapshotOf(name).nodes())
      if (refusal !== undefined) found.push({ name, state, refusal });
  return found;
}

/** The numbers of the nodes of these names; names that the board has not go to `strangers`. */
function found(roll: Roll, names: readonly string[], strangers: Set<string>): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const name of names) {
    const index = roll.find(name);
    if (index < 0) strangers.add(name);
    else indexes.add(index);
  }
  return indexes;
}
