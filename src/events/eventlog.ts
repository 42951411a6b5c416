// The last events of one source, in bounded room.

import type { FoldedEvent, KeptEvent } from '../presentation/shapes.js';

/** The most events that are kept, and the most characters of their texts and nodes. */
const MOST = 4096;
const MOST_CHARACTERS = 16 << 20;
/** How many of one look: above that, only their number is shown. */
const MOST_AT_ONCE = 512;

const lengthOf = ({ text, nodes = '' }: FoldedEvent) => text.length + nodes.length;

export class EventLog {
  readonly kept: KeptEvent[] = [];
  count = 0;
  #characters = 0;

  /** Adds the events of a look; of more than `most` only the number is told. */
  add(seq: number, events: readonly FoldedEvent[], most = MOST_AT_ONCE): void {
    for (const event of events.slice(0, most)) this.#keep({ seq, ...event });
    const [first, more] = [events[most], events.length - most];
    if (first !== undefined)
      this.#keep({ seq, time: first.time, event: 'more', text: `${more} more events at once: see beoboard events` });
    const surplus = this.kept.length - MOST;
    let gone = 0;
    for (; gone < this.kept.length && (gone < surplus || this.#characters > MOST_CHARACTERS); gone++)
      this.#characters -= lengthOf(this.kept[gone] as KeptEvent);
    this.kept.splice(0, gone);
  }

  #keep(event: KeptEvent): void {
    this.kept.push(event);
    this.#characters += lengthOf(event);
    this.count++;
  }

  /** Puts what was added so far into the order of its times. */
  sort(): void {
    this.kept.sort((a, b) => Date.parse(a.time) - Date.parse(b.time));
  }
}
