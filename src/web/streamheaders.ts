// The text above the map at each look: the line that sums up, and the list of trouble. The line is made at every look,
// the list as often as its CPU time allows.

import { ackFile, type FoundAcks } from '../acks/ackfile.js';
import type { TroubleInfo } from '../acks/info.js';
import { DigestBuilder } from '../changes/digest.js';
import { headline } from '../presentation/summary.js';
import { chosenOf, type Survey, survey } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { FileFollower } from '../service/leftfile.js';
import { linkName } from '../shm/links.js';
import { STATES } from '../shm/liveness.js';
import { NoBoard, orNoBoard } from '../shm/noboard.js';
import { isProblem } from '../shm/problems.js';
import { BoardReader } from '../shm/reader.js';
import { linkNews, mirrorText } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { standingOf } from '../shm/standing.js';
import { fold, NameRanges } from '../text/hostlists.js';
import { oneLine } from '../text/text.js';
import { troubleOf } from '../trouble/trouble.js';
import type { Watcher, WatcherTick } from './watcher.js';
import { MARKS, type NodeMarks, TROUBLE_MOST, type WallHead } from './wire.js';

/** The share of the time that may be used for the list. */
const SHARE = 0.03;
/** The list is never older than this, ms: else what is slow on a busy machine would be shown when it is long over. */
const OLDEST_MS = 5000;

type HeadLists = Pick<WallHead, 'dark' | 'marks' | 'trouble' | 'trouble_more'>;
const NONE: HeadLists = { dark: [], marks: {}, trouble: [], trouble_more: 0 };

/** Links that are down or dark, and the nodes behind them. */
function darkOf(snapshot: Snapshot, { all }: Survey): WallHead['dark'] {
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

/** The nodes that the map marks, by the list of trouble, and by what a scheduler says of those out of service. */
function marksOf({ all }: Survey, lines: readonly TroubleInfo[], scheduler: SchedulerView | undefined): NodeMarks {
  const named = (is: (line: TroubleInfo) => boolean) => lines.flatMap(line => (is(line) ? (line.nodes ?? []) : []));
  const lists: Record<(typeof MARKS)[number], readonly string[]> = {
    critical: named(({ kind, severity, ended }) => severity === 'critical' && ended === undefined && isProblem(kind)),
    recent: [fold(all.filter(({ problems, recent }) => problems === 0 && recent !== 0).map(({ name }) => name))],
    held: [...named(({ kind, ended }) => kind === 'held' && ended === undefined), fold(scheduler?.aside ?? [])],
    odd: named(({ kind }) => kind === 'odd'),
  };
  return Object.fromEntries(
    MARKS.flatMap(mark => {
      const list = lists[mark].filter(each => each !== '').join();
      return list === '' ? [] : [[mark, list]];
    }),
  );
}

export class StreamHeaders {
  readonly #builder: DigestBuilder;
  readonly #single: BoardReader;
  readonly acks: FileFollower<FoundAcks>;
  #told = NONE;
  /** The whole list, of which the page gets the first lines. */
  #lines: readonly TroubleInfo[] = [];
  /** The earliest time to make them again, of performance.now(), unless the board's own state has changed. */
  #notBefore = 0;
  #state = '';

  constructor(
    readonly watcher: Watcher,
    /** The folder where journals say how they are. */
    readonly journals: string,
    /** What a scheduler says about these nodes, if the page may show it. */
    readonly scheduler: () => SchedulerView | undefined = () => undefined,
  ) {
    this.acks = new FileFollower(ackFile(watcher.reader.path));
    this.#single = new BoardReader(watcher.reader.path, watcher.reader.owner);
    this.#builder = new DigestBuilder(this.#single, () => watcher.names);
    watcher.consumers.add(this.#builder);
  }

  /** What the last look has gathered; undefined: there was none. */
  get digest(): Snapshot | undefined {
    const { digest } = this.#builder;
    if (digest !== undefined) digest.tellsUtc = true;
    return digest;
  }

  /** The text for the last look. */
  at({ seq, nowMs, state, roster }: WatcherTick): Omit<WallHead, 'events'> {
    const { digest } = this;
    const base = { seq, now_ms: nowMs, state };
    if (this.watcher.trouble !== undefined || digest === undefined) {
      const line = this.watcher.trouble ?? 'there is no board';
      return { ...base, line, counts: {}, unhealthy: 0, recently: 0, ...NONE };
    }
    const standing = standingOf(digest);
    const { states: counts, unhealthy, recently } = standing;
    const now = performance.now();
    const key = `${roster} ${state}`;
    if (now >= this.#notBefore || key !== this.#state) {
      this.#told = this.#tell(digest);
      this.#state = key;
      const end = performance.now();
      this.#notBefore = end + Math.min(OLDEST_MS, (end - now) / SHARE);
    }
    const present = STATES.filter(name => counts[name] > 0).map(name => [name, counts[name]] as const);
    const mirror = mirrorText(digest);
    return {
      ...base,
      line: headline({ snapshot: digest, standing }),
      ...(mirror !== '' && { mirror }),
      counts: Object.fromEntries(present),
      unhealthy,
      recently,
      ...this.#told,
    };
  }

  /** The lines of the last list that are about this node. */
  troubleWith(name: string): readonly TroubleInfo[] {
    return this.#lines.filter(({ nodes }) => nodes !== undefined && NameRanges.of(nodes)?.has(name));
  }

  /** The trouble of these nodes, without what was over for longer than `withinMs`. Throws NoBoard. */
  troubleAmong(among: readonly string[], withinMs: number | undefined, found: Survey): TroubleInfo[] {
    return this.#troubleOf(chosenOf(found, { among }), withinMs);
  }

  #troubleOf(found: Survey, withinMs?: number): TroubleInfo[] {
    return troubleOf(found, { scheduler: this.scheduler(), journals: this.journals, withinMs, ...this.acks.found });
  }

  #tell(digest: Snapshot): HeadLists {
    const found = survey(digest, {}, this.watcher.names);
    const told = orNoBoard((): HeadLists => {
      const trouble = this.#troubleOf(found);
      this.#lines = trouble;
      return {
        trouble: trouble.slice(0, TROUBLE_MOST),
        trouble_more: Math.max(0, trouble.length - TROUBLE_MOST),
        marks: marksOf(found, trouble, this.scheduler()),
        dark: digest.stalled || digest.retired ? [] : darkOf(digest, found),
      };
    });
    // A single node had to be read, and its board has gone meanwhile.
    return told instanceof NoBoard ? this.#told : told;
  }

  close(): void {
    this.#single.close();
  }
}
