// The events of the board, look by look, as long as they are kept: nodes with the same event are together.

import { Follower } from '../presentation/changes.js';
import { foldedEvents } from '../presentation/eventlines.js';
import { painter } from '../presentation/style.js';
import { NoBoard } from '../shm/noboard.js';
import type { Snapshot } from '../shm/snapshot.js';
import { expand } from '../text/hostlists.js';
import { SlicedLook, type Watcher } from './watcher.js';
import type { EventInfo } from './wire.js';

/** How many events are kept. */
const MOST = 4096;
/** How many of one look: above that, only their number is shown. */
const MOST_AT_ONCE = 512;
/** How many events of the board's ring are shown at the start. */
const FIRST = 100;

export class EventFeed {
  /** The last events; each has the number of its look. */
  readonly kept: EventInfo[] = [];
  /** How many events there have been. */
  count = 0;
  /** Since when they are kept: when this server began, ms since 1970. */
  readonly sinceMs = Date.now();
  #follower: Follower | undefined;
  readonly #plain = painter('never');

  constructor(readonly watcher: Watcher) {}

  /** Adds the events since the last look; `digest`: what the last look has gathered. */
  follow(seq: number, digest: Snapshot | undefined): void {
    const { reader } = this.watcher;
    let happened: ReturnType<Follower['look']>;
    try {
      const isBeginning = this.#follower === undefined;
      this.#follower ??= new Follower(reader, { last: FIRST });
      const { problems, states } = digest?.overview ?? { problems: new Uint32Array(), states: new Uint8Array() };
      const realNs = digest?.realNs ?? 0n;
      happened = this.#follower.look({ opened: reader.opened, realNs, problems, states });
      // The states at the first look are not events.
      if (isBeginning) happened = happened.filter(({ event }) => event !== 'state' && event !== 'begin');
    } catch (error) {
      if (!(error instanceof NoBoard)) throw error;
      this.#follower = undefined;
      return;
    }
    const events = foldedEvents(happened, this.#plain);
    const more = events.length - MOST_AT_ONCE;
    if (more > 0) {
      const { time } = events[MOST_AT_ONCE] as (typeof events)[number];
      events.length = MOST_AT_ONCE;
      events.push({ time, event: 'more', text: `${more} more events at once: see beoboard events` });
    }
    for (const event of events) this.kept.push({ seq, ...event });
    this.count += events.length;
    this.kept.splice(0, this.kept.length - MOST);
  }
}

/** Which events are asked for. */
export interface AskedEvents {
  /** Of later looks than this, or no earlier than that, ms since 1970. */
  readonly since: { readonly seq: number } | { readonly ms: number };
  readonly nodes: ReadonlySet<string> | undefined;
  readonly kinds: ReadonlySet<string> | undefined;
}

/** The names by which `beoboard events --kind` knows an event: of a change of state, what it begins or ends. */
function kindsOf({ event, from, to, problem }: EventInfo): unknown[] {
  if (event !== 'state') return [event === 'reboot' ? 'boot' : event, problem];
  return [
    from === undefined ? 'new' : to === undefined ? 'removed' : undefined,
    to,
    from === 'silent' && 'heard_again',
  ];
}

/** The events that are asked for, the newest last. Yields to the event loop: each may have thousands of nodes. */
export async function chosenEvents(kept: readonly EventInfo[], asked: AskedEvents): Promise<EventInfo[]> {
  const { since, nodes, kinds } = asked;
  const slices = new SlicedLook();
  const found: EventInfo[] = [];
  // What comes or goes meanwhile is not asked for.
  for (const event of [...kept]) {
    const isLater = 'seq' in since ? event.seq > since.seq : Date.parse(event.time) >= since.ms;
    if (!isLater || (kinds !== undefined && !kindsOf(event).some(kind => kinds.has(kind as string)))) continue;
    if (nodes === undefined || event.nodes === undefined || expand(event.nodes).some(name => nodes.has(name)))
      found.push(event);
    const pause = slices.next();
    if (pause !== undefined) await pause;
  }
  return found;
}
