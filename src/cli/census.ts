// Counts the nodes of a board by state, and names those that are asked for. Reads liveness and nothing else.

import { countStates, mayBeRefused, NUMBERED, type State } from '../shm/liveness.js';
import type { NodeStates } from '../shm/nodestates.js';
import type { BoardReader } from '../shm/reader.js';
import { linkNews } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { type Cloned, cloneTexts } from '../trouble/clones.js';
import { monitorWarnings, type RefusedNode, unheardTexts } from '../trouble/rejections.js';

export interface CensusNode {
  readonly name: string;
  readonly state: State;
  /** How long ago it left, if it said goodbye. */
  readonly leftMs: number | undefined;
}

export interface Census {
  readonly counts: Readonly<Record<State, number>>;
  readonly kept: readonly CensusNode[];
  readonly notOnBoard: readonly string[];
  /** Sentences about causes more likely than the nodes themselves, and why some of the kept nodes are not heard. */
  readonly remarks: readonly string[];
  /** The last sentence: nothing is known about nodes, because the monitor is stalled or retired. */
  readonly stalled: boolean;
  readonly closed: boolean;
  readonly isMirror: boolean;
  /** What the receiver says of itself. */
  readonly notice?: string;
  /** Wanted nodes as which two machines report, and what is wrong with the monitor itself. */
  readonly warnings: readonly string[];
  /** Undefined: there was no heartbeat yet. */
  readonly heartbeatAgeMs: number | undefined;
}

/** What to keep, and among which nodes; undefined: all. */
export interface NodeFilter {
  readonly keep: (state: State) => boolean;
  readonly among?: readonly string[] | undefined;
  /** What else may be wrong with the monitor, for who wants to know; it is given the board and the names on it. */
  readonly besides?: ((board: Snapshot, names: () => string[]) => readonly string[]) | undefined;
}

/** Takes the census. Throws NoBoard. */
export function takeCensus(reader: BoardReader, { keep, among, besides }: NodeFilter): Census {
  const nodeStates = reader.nodeStates();
  const { states } = nodeStates;
  const notOnBoard = new Set<string>();
  const asked = among && found(nodeStates, among, notOnBoard);
  const wanted = NUMBERED.map(keep);
  const kept: number[] = [];
  for (let i = 0; i < states.length; i++) if (wanted[states[i]!] && (asked === undefined || asked.has(i))) kept.push(i);
  const names = nodeStates.names(kept);
  const { stalled, retired, closed, isMirror, heartbeatAgeMs } = nodeStates.board;
  const allNames = () => nodeStates.names([...states.keys()]);
  const warnings = [...monitorWarnings(nodeStates.board), ...(besides?.(nodeStates.board, allNames) ?? [])];
  const isHeard = stalled || retired || among !== undefined || states.some(state => NUMBERED[state] !== 'never');
  const remarks = [isHeard ? '' : nodeStates.board.notice].filter(text => text !== '');
  remarks.push(...linkRemarks(nodeStates, asked));
  if (!stalled && !retired && Object.keys(nodeStates.board.refused).length > 0) {
    const unheard = kept.flatMap((index, i) => (mayBeRefused(NUMBERED[states[index]!]!) ? names[i]! : []));
    // The states are valid only until the reader is asked for something else.
    const { board } = nodeStates;
    const refused = refusedNodes(reader, unheard);
    remarks.push(...unheardTexts(board, refused, [...unheard, ...notOnBoard]));
  }
  // Nearly always there has never been one.
  const isCloned = !stalled && !retired && nodeStates.board.header.clone_ns !== 0n;
  const { board } = nodeStates;
  const cloned = isCloned ? clonesOf(reader, among && new Set(among)) : [];
  const clones = cloneTexts(board, cloned).map(({ text }) => text);
  return {
    counts: countStates(asked === undefined ? states : Uint8Array.from(asked, index => states[index]!)),
    kept: kept.map((index, i) => {
      const state = NUMBERED[states[index]!]!;
      return { name: names[i]!, state, leftMs: state === 'left' ? nodeStates.ageMs(index) : undefined };
    }),
    notOnBoard: [...notOnBoard],
    remarks,
    stalled: stalled || retired,
    closed,
    isMirror,
    notice: stalled ? nodeStates.board.notice : '',
    heartbeatAgeMs,
    warnings: [...clones, ...warnings],
  };
}

/** The nodes of these names as which two machines report, of all if there are no names. */
function clonesOf(reader: BoardReader, among: ReadonlySet<string> | undefined): Cloned[] {
  const found: Cloned[] = [];
  for (const piece of reader.pieces())
    for (let i = 0; i < piece.count; i++) {
      const clone = piece.cloneOf(i);
      if (clone === undefined) continue;
      const { name } = piece.node(i);
      if (among?.has(name) ?? true) found.push({ name, clone });
    }
  return found;
}

/** Sentences about links that have a wanted node behind them. */
function linkRemarks(nodeStates: NodeStates, asked: ReadonlySet<number> | undefined): string[] {
  const news = linkNews(nodeStates.board, nodeStates);
  if (news.length === 0 || asked === undefined) return news.map(({ text }) => text);
  const behind = new Set([...asked].map(index => nodeStates.linkOf(index)));
  return news.filter(({ number }) => behind.has(number)).map(({ text }) => text);
}

/** The nodes among these whose reports are rejected. */
function refusedNodes(reader: BoardReader, names: readonly string[]): RefusedNode[] {
  const found: RefusedNode[] = [];
  for (const name of names)
    for (const { state, refusedSince: refusal } of reader.snapshotOf(name).nodes())
      if (refusal !== undefined) found.push({ name, state, refusal });
  return found;
}

/** The numbers of the nodes of these names; names that are not on the board go to `notOnBoard`. */
function found(nodeStates: NodeStates, names: readonly string[], notOnBoard: Set<string>): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const name of names) {
    const index = nodeStates.find(name);
    if (index < 0) notOnBoard.add(name);
    else indexes.add(index);
  }
  return indexes;
}
