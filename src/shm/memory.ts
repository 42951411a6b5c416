// What a board remembers of a node: see "Memory of trouble" in proto/board-v2.md. Times are ago, in ms.

import { getter, unpackWord } from '../layout/codec.js';
import { structs } from '../layout/layout.gen.js';
import { ranked, terms } from '../layout/terms.gen.js';
import { PROBLEMS, type Problem, problemsOf } from './problems.js';

/** A row of "terms last_words". */
export type LastWord = (typeof terms.last_words)[number];

/** The last episode of a problem, and how many there were. */
export interface Episode {
  readonly problem: Problem;
  readonly count: number;
  readonly beganMs: number;
  readonly seenMs: number;
  /** When it was last measured, as far as is known: not before, and of one that the last measured report showed then. */
  readonly measuredMs: number;
  /** Whether it was measured as absent for the problem's quiet time since. */
  readonly isOver: boolean;
}

/** The last silence, and how many there were; `endedMs` is undefined while it lasts. */
interface Silence {
  readonly count: number;
  readonly beganMs: number;
  readonly endedMs: number | undefined;
  /** For so long the node or its sender stood still before it ended; STILL_MOST_MS: or longer. Undefined: it did not. */
  readonly stoodStillMs: number | undefined;
}

/** Nearly the longest that a report can tell. */
export const STILL_MOST_MS = 4_294_900;

/** What the last report before a silence or a boot said; no rows: nothing in it explains it. */
export interface LastWords {
  readonly reportedMs: number;
  readonly rows: readonly LastWord[];
}

const RECENT = getter('memory', 'recent');
const SILENCE = getter('memory', 'silence');
const SILENCE_END = getter('memory', 'silence_end_ms');
const STOOD_STILL = getter('memory', 'stood_still_us');
const HEARD_SINCE = getter('memory', 'heard_since_ns');
const BOOT = getter('memory', 'boot_ns');
const REMEMBERS_SINCE = getter('memory', 'remembers_since_ns');
const [HEALTH_GONE, GPU_GONE] = [getter('memory', 'health_gone_ns'), getter('memory', 'gpu_gone_ns')];
const LAST_WORDS = getter('memory', 'last_words');
const [BEGUN, SEEN] = [getter('episode', 'begun'), getter('episode', 'seen')];
const EPISODES = structs.memory.fields.episodes.offset;

/** The rows of a set of bits, in the contract's order. */
export function lastWordsOf(bits: number): LastWord[] {
  return bits === 0 ? [] : ranked.last_words.filter(row => ((bits >> terms.last_words.indexOf(row)) & 1) !== 0);
}

const msOf = (ns: bigint) => Number(ns / 1_000_000n);

/** The memory of one record, in which something is remembered. */
export class Memory {
  /** @param at where it begins in `view`, bytes; @param nowMs CLOCK_MONOTONIC of the look */
  constructor(
    readonly view: DataView,
    readonly at: number,
    readonly nowMs: number,
  ) {}

  #ago(ms: number | bigint): number {
    return Math.max(0, this.nowMs - Number(ms));
  }

  #agoOfNs(ns: bigint): number | undefined {
    return ns === 0n ? undefined : this.#ago(msOf(ns));
  }

  /** Since when it is remembered: whatever never was, was not since then. */
  get sinceMs(): number {
    return this.#ago(msOf(REMEMBERS_SINCE(this.view, this.at)));
  }

  /** Since when it is heard without a gap beyond its first limit; undefined: not known. */
  get heardMs(): number | undefined {
    return this.#agoOfNs(HEARD_SINCE(this.view, this.at));
  }

  /** CLOCK_MONOTONIC of the first report of its present boot; 0n: there was no boot since anything is remembered. */
  get bootNs(): bigint {
    return BOOT(this.view, this.at);
  }

  /** The same, ago; undefined: there was no boot since anything is remembered. */
  get bootMs(): number | undefined {
    return this.#agoOfNs(this.bootNs);
  }

  /** Since when a source that its boot had is gone, the health file or the GPUs'; undefined: it is not. */
  goneMs(source: 'health' | 'gpu'): number | undefined {
    return this.#agoOfNs((source === 'health' ? HEALTH_GONE : GPU_GONE)(this.view, this.at));
  }

  /** The bits of the problems of which the episode is not over. */
  get recentBits(): number {
    return Number(RECENT(this.view, this.at));
  }

  get recent(): Problem[] {
    return problemsOf(this.recentBits);
  }

  /** The last episode of a problem; undefined: there was none. */
  episode(problem: Problem): Episode | undefined {
    const number = terms.problem.indexOf(problem);
    const at = this.at + EPISODES + number * structs.episode.bytes;
    // Nearly always the problem never occurred. Two u32 tell that without a BigInt, which saves time for
    // whoever reads all problems of all nodes.
    if ((this.view.getUint32(at, true) | this.view.getUint32(at + 4, true)) === 0) return undefined;
    const { begin, count } = unpackWord('spell', BEGUN(this.view, at));
    const { seen, quiet } = unpackWord('sighting', SEEN(this.view, at));
    return {
      problem,
      count: Number(count),
      beganMs: this.#ago(begin),
      seenMs: this.#ago(seen > begin ? seen : begin),
      measuredMs: this.#ago((seen > begin ? seen : begin) + quiet),
      isOver: ((this.recentBits >> number) & 1) === 0,
    };
  }

  /** The last episode of each problem that there was, the worst first. */
  get episodes(): Episode[] {
    return PROBLEMS.flatMap(problem => this.episode(problem) ?? []);
  }

  /** Undefined: it was never silent. */
  get silence(): Silence | undefined {
    const { begin, count } = unpackWord('spell', SILENCE(this.view, this.at));
    if (begin === 0n) return undefined;
    const end = SILENCE_END(this.view, this.at);
    const isOpen = end === undefined || BigInt(end) <= begin;
    const endedMs = isOpen ? undefined : this.#ago(end);
    // In tenths of a second: nodes of one host that stood still together share a line.
    const stillUs = isOpen ? 0 : Number(STOOD_STILL(this.view, this.at) ?? 0);
    const stoodStillMs = Math.floor(stillUs / 100_000) * 100 || undefined;
    return { count: Number(count), beganMs: this.#ago(begin), endedMs, stoodStillMs };
  }

  /** Undefined: it has neither fallen silent nor been booted without a goodbye. */
  get lastWords(): LastWords | undefined {
    const { stamp, rows } = unpackWord('said', LAST_WORDS(this.view, this.at));
    if (stamp === 0n) return undefined;
    return { reportedMs: this.#ago(stamp), rows: lastWordsOf(Number(rows)) };
  }

  /**
   * The same of the boot before the present one; undefined: that ended with a goodbye, or it is not known how.
   * `silentAfterMs`: the second limit.
   */
  bootWords(silentAfterMs: number): LastWords | undefined {
    const { bootMs, lastWords, silence } = this;
    if (bootMs === undefined || lastWords === undefined || lastWords.reportedMs < bootMs) return undefined;
    // Words of an earlier silence are followed by its end, and that by the report with the goodbye.
    const wasSilent = silence?.beganMs === lastWords.reportedMs && silence.endedMs === bootMs;
    return wasSilent || lastWords.reportedMs - bootMs <= silentAfterMs ? lastWords : undefined;
  }
}
