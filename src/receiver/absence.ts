// Forgets by itself, for --forget-after, nodes that were away for so long while this receiver listened. Only looks at the
// board; the receiver's thread changes it.

import type { Log } from '../service/log.js';
import { NUMBERED, type State } from '../shm/liveness.js';
import { orNoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { formatDuration } from '../text/durations.js';
import { foldParts } from '../text/hostlists.js';
import { counted } from '../text/text.js';

/** The time between two looks, ms: what passes between them counts at most twice, however long it took. */
const EVERY_MS = 60_000;
/** At least so long after the nodes before others are forgotten, ms, because each time the board is built anew. */
const REST_MS = 86_400_000;
/** How many parts of a host list are logged in one line. */
const SAID = 20;

/** A link with an older heartbeat is not heard, ns. */
const STALE_NS = 3_000_000_000n;

const AWAY: readonly State[] = ['silent', 'left'];

export class Absence {
  readonly #reader: BoardReader;
  readonly #forget: (names: string[]) => unknown;
  readonly #log: Log;
  /** For how long each node was seen to be away since its last report, ms. It begins anew with each receiver. */
  #away = new Map<string, { readonly stampMs: number; readonly ms: number }>();
  #lookedAt: number | undefined;
  #forgotAt = Number.NEGATIVE_INFINITY;

  /** @param forget removes nodes from the board; throws one line for people */
  constructor(board: string, forget: (names: string[]) => unknown, log: Log) {
    this.#reader = new BoardReader(board);
    this.#forget = forget;
    this.#log = log;
  }

  /**
   * Counts, once a minute, who is away, and forgets once a day who was away for `after` ms; undefined: nobody. `now`:
   * milliseconds of a clock that never goes back.
   */
  look(after: number | undefined, now = performance.now()): void {
    if (after === undefined) {
      this.#away.clear();
      this.#lookedAt = undefined;
      return;
    }
    this.#lookedAt ??= now;
    if (now - this.#lookedAt < EVERY_MS) return;
    const passed = Math.min(now - this.#lookedAt, 2 * EVERY_MS);
    this.#lookedAt = now;
    if (orNoBoard(() => this.#count(passed)) !== true) return;
    const gone = [...this.#away].filter(([, { ms }]) => ms >= after).map(([name]) => name);
    if (gone.length === 0 || now - this.#forgotAt < REST_MS) return;
    this.#forgotAt = now;
    const parts = foldParts(gone);
    try {
      this.#forget(gone);
    } catch (error) {
      this.#log.warn(`could not forget ${counted(gone.length, 'node')}: ${(error as Error).message}`);
      return;
    }
    const why = `forgot ${gone.length}, which were silent or had left for ${formatDuration(after)}`;
    for (let i = 0; i < parts.length; i += SAID) this.#log.info(`${why}: ${parts.slice(i, i + SAID).join(',')}`);
  }

  /** Counts who is away; returns whether anything is known about nodes. */
  #count(passed: number): boolean {
    const nodeStates = this.#reader.nodeStates();
    if (nodeStates.board.stalled || nodeStates.board.retired) return false;
    // A node that left may have come back while its link could not be heard, so such time does not count.
    const { nowNs } = nodeStates.board.evidence;
    const heard = new Set(
      nodeStates.board.links.filter(({ heartbeatNs }) => nowNs - heartbeatNs < STALE_NS).map(({ number }) => number),
    );
    const unheard = [...nodeStates.states.keys()].filter(index => {
      const state = NUMBERED[nodeStates.states[index]!]!;
      return state === 'uncertain' || AWAY.includes(state);
    });
    const before = this.#away;
    this.#away = new Map();
    const { nowMs } = nodeStates.board;
    for (const [i, name] of nodeStates.names(unheard).entries()) {
      const index = unheard[i]!;
      const stampMs = nowMs - nodeStates.ageMs(index);
      const known = before.get(name);
      const ms = known?.stampMs === stampMs ? known.ms : 0;
      // Of an uncertain node nothing was learnt meanwhile.
      const isAway = AWAY.includes(NUMBERED[nodeStates.states[index]!]!) && heard.has(nodeStates.linkOf(index));
      const more = known !== undefined && isAway ? passed : 0;
      this.#away.set(name, { stampMs, ms: ms + more });
    }
    return true;
  }

  close(): void {
    this.#reader.close();
  }
}
