// The text above the map at each look: the line that sums up, and the sentences about anomalies, each with its nodes.
// The line is made at every look, the sentences as often as their CPU time allows.

import { DigestBuilder } from '../presentation/digest.js';
import { linkNews, mirrorText } from '../presentation/sentences.js';
import { headlineOf } from '../presentation/summary.js';
import { type Survey, survey } from '../query/survey.js';
import type { SchedulerView } from '../schedulers/schedulerview.js';
import { linkName } from '../shm/links.js';
import { countStates, STATES } from '../shm/liveness.js';
import { NoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold } from '../text/hostlists.js';
import { oneLine } from '../text/text.js';
import { findingsOf, sentencesIn } from '../trouble/findings.js';
import { linesOf } from '../trouble/trouble.js';
import type { NodeConsumer, Tick, Watcher } from './watcher.js';
import { type Head, type SentenceInfo, TROUBLE_MOST } from './wire.js';

/** The share of the time that may be used for sentences. */
const SHARE = 0.03;
/**
 * No sentence is older than this, ms: otherwise something slow on a busy machine would still be shown long after it is
 * over.
 */
const OLDEST_MS = 5000;

/** A sentence about nodes, or about none. */
interface Sentence {
  readonly kind: string;
  readonly text: string;
  readonly nodes: readonly { readonly name: string }[];
}

type Sentences = Pick<Head, 'sentences' | 'dark' | 'trouble' | 'trouble_more'>;
const NONE: Sentences = { sentences: [], dark: [], trouble: [], trouble_more: 0 };

export function sentenceInfo({ kind, text, nodes }: Sentence): SentenceInfo {
  return { kind, text, ...(nodes.length > 0 && { nodes: fold(nodes.map(({ name }) => name)) }) };
}

/** Links that are down or dark, and the nodes behind them. */
function darkOf(snapshot: Snapshot, { all }: Survey): Head['dark'] {
  return linkNews(snapshot).map(({ number, text }) => {
    const link = snapshot.links.find(other => other.number === number);
    const behind = all.filter(({ index, state }) => state !== 'left' && snapshot.linkOf(index) === number);
    return {
      name: link === undefined ? String(number) : oneLine(linkName(link)),
      text,
      nodes: fold(behind.map(({ name }) => name)),
    };
  });
}

export class StreamHeaders implements NodeConsumer {
  readonly #builder: DigestBuilder;
  readonly #single: BoardReader;
  #sentences = NONE;
  /** The earliest time to make them again, of performance.now(), unless the board's own state has changed. */
  #notBefore = 0;
  #state = '';

  constructor(
    readonly watcher: Watcher,
    /** What a scheduler says about these nodes, if the page may show it. */
    readonly scheduler: (found: Survey) => SchedulerView | undefined = () => undefined,
  ) {
    this.#single = new BoardReader(watcher.reader.path, watcher.reader.owner);
    this.#builder = new DigestBuilder(this.#single, () => watcher.names);
  }

  begin(count: number): void {
    this.#builder.begin(count);
  }

  ask(piece: Snapshot, first: number): number {
    this.#builder.ask(piece, first);
    return piece.count;
  }

  /** What the last look has gathered; undefined: there was none. */
  get digest(): Snapshot | undefined {
    return this.#builder.digest;
  }

  /** The text for the last look. */
  at({ seq, nowMs, state, count, roster }: Tick): Head {
    const { digest } = this;
    const base = { seq, now_ms: nowMs, state };
    if (this.watcher.trouble !== undefined || digest === undefined) {
      const line = this.watcher.trouble ?? 'there is no board';
      return { ...base, line, counts: {}, unhealthy: 0, ...NONE };
    }
    const { states, problems } = digest.overview;
    const counts = countStates(states);
    let unhealthy = 0;
    for (let i = 0; i < problems.length; i++) if (problems[i] !== 0) unhealthy++;
    const line = headlineOf(digest, count, counts, unhealthy);
    const now = performance.now();
    const key = `${roster} ${state}`;
    if (now >= this.#notBefore || key !== this.#state) {
      this.#sentences = this.#tell(digest);
      this.#state = key;
      const end = performance.now();
      this.#notBefore = end + Math.min(OLDEST_MS, (end - now) / SHARE);
    }
    const present = STATES.filter(name => counts[name] > 0).map(name => [name, counts[name]] as const);
    const mirror = mirrorText(digest);
    return {
      ...base,
      line,
      ...(mirror !== '' && { mirror }),
      counts: Object.fromEntries(present),
      unhealthy,
      ...this.#sentences,
    };
  }

  #tell(digest: Snapshot): Sentences {
    const found = survey(digest, {}, this.watcher.names);
    try {
      const besides = { scheduler: this.scheduler(found) };
      const findings = findingsOf(found, besides);
      const trouble = linesOf(found, findings, besides);
      return {
        sentences: sentencesIn(findings).map(sentenceInfo),
        trouble: trouble.slice(0, TROUBLE_MOST),
        trouble_more: Math.max(0, trouble.length - TROUBLE_MOST),
        dark: digest.stalled || digest.retired ? [] : darkOf(digest, found),
      };
    } catch (error) {
      // A single node had to be read, and its board has gone meanwhile.
      if (error instanceof NoBoard) return this.#sentences;
      throw error;
    }
  }

  close(): void {
    this.#single.close();
  }
}
