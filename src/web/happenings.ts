// What has happened on the board, look by look, as far back as it is kept: nodes to which the same happened are together.

import type { Snapshot } from '../shm/reader.js';
import { NoBoard } from '../shm/reader.js';
import { Follower } from '../telling/changes.js';
import { foldedEvents } from '../telling/eventlines.js';
import { painter } from '../telling/style.js';
import type { Watcher } from './watcher.js';
import type { EventTold } from './wire.js';

/** Events that are kept. */
const MOST = 4096;
/** Of one look: more at once are told as so many. */
const MOST_AT_ONCE = 512;
/** Events of the board's ring that are told at the start. */
const FIRST = 100;

export class Happenings {
  /** The last ones; each has the number of its look. */
  readonly kept: EventTold[] = [];
  /** How many there have been. */
  count = 0;
  #follower: Follower | undefined;
  readonly #plain = painter('never');

  constructor(readonly watcher: Watcher) {}

  /** Takes what has happened since the look before; `digest`: what the last look has gathered. */
  follow(seq: number, digest: Snapshot | undefined): void {
    const { reader } = this.watcher;
    let happened: ReturnType<Follower['look']>;
    try {
      const isBeginning = this.#follower === undefined;
      this.#follower ??= new Follower(reader, { last: FIRST });
      const { ails, states } = digest?.overview ?? { ails: new Uint32Array(), states: new Uint8Array() };
      const realNs = digest?.realNs ?? 0n;
      happened = this.#follower.look({ opened: reader.opened, realNs, ails, states });
      // What was so before is no event.
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
