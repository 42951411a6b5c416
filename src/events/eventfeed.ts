// What happens to a board, look by look, for programs that go on: the lines of its journal if one can be read, else what
// they have seen themselves. Nodes with the same event are together.

import { ChangeFollower } from '../changes/changes.js';
import { foldedEvents, kindsOf } from '../presentation/eventlines.js';
import type { KeptEvent } from '../presentation/shapes.js';
import type { SlicedLook } from '../service/slices.js';
import { NoBoard } from '../shm/noboard.js';
import type { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { painter } from '../terminal/style.js';
import { NameRanges } from '../text/hostlists.js';
import { EventLog } from './eventlog.js';
import { JournalFeed } from './journalfeed.js';

/** How many events of the board's ring are shown at the start. */
const FIRST = 100;

export class EventFeed {
  readonly #seen = new EventLog();
  readonly #began = new Date().toISOString();
  readonly #journal: JournalFeed;
  #follower: ChangeFollower | undefined;
  readonly #plain = painter('never');

  /** `journals`: where journals say how they are; `areJobsShown`: also the jobs that this user may read there. */
  constructor(
    readonly reader: BoardReader,
    journals: string,
    areJobsShown: boolean,
  ) {
    this.#journal = new JournalFeed(reader, journals, areJobsShown);
  }

  /** The events; another object means that they come from elsewhere now. */
  get log(): EventLog {
    return this.#journal.followed?.log ?? this.#seen;
  }

  /** Whether they come from the journal, since when they are known, and why it is not the journal. */
  get from(): { readonly journal: boolean; readonly from: string; readonly why?: string } {
    const { followed, why } = this.#journal;
    if (followed !== undefined) return { journal: true, from: new Date(followed.sinceMs).toISOString() };
    return { journal: false, from: this.#began, why };
  }

  /** Whether something of the journal that they come from could not be read. */
  get isLacking(): boolean {
    return this.#journal.isLacking;
  }

  /** Adds the events since the last look, whose number is `seq`; `digest`: what it has gathered. */
  follow(seq: number, digest: Snapshot | undefined): void {
    this.#journal.look(seq);
    let happened: ReturnType<ChangeFollower['look']>;
    try {
      const isBeginning = this.#follower === undefined;
      this.#follower ??= new ChangeFollower(this.reader, { last: FIRST });
      happened = this.#follower.look(digest ?? false);
      // The states at the first look are not events.
      if (isBeginning) happened = happened.filter(({ event }) => event !== 'state' && event !== 'begin');
    } catch (error) {
      if (!(error instanceof NoBoard)) throw error;
      this.#follower = undefined;
      return;
    }
    this.#seen.add(seq, foldedEvents(happened, this.#plain));
  }

  close(): void {
    this.#journal.close();
  }
}

/** Which events are asked for. */
export interface AskedEvents {
  /** Of later looks than this, or no earlier than that, ms since 1970. */
  readonly since: { readonly seq: number } | { readonly ms: number };
  readonly nodes: ReadonlySet<string> | undefined;
  readonly kinds: ReadonlySet<unknown> | undefined;
}

/** The events that are asked for, the newest last, in slices: each may have thousands of nodes. */
export async function chosenEvents(
  kept: readonly KeptEvent[],
  { since, nodes, kinds }: AskedEvents,
  slices: SlicedLook,
): Promise<KeptEvent[]> {
  const found: KeptEvent[] = [];
  // What comes or goes meanwhile is not asked for.
  for (const event of [...kept]) {
    const isLater = 'seq' in since ? event.seq > since.seq : Date.parse(event.time) >= since.ms;
    if (!isLater || (kinds !== undefined && !kindsOf(event).some(kind => kinds.has(kind)))) continue;
    if (nodes === undefined || event.nodes === undefined || NameRanges.of(event.nodes)?.meets(nodes)) found.push(event);
    await slices.next();
  }
  return found;
}
