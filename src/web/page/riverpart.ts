// Which rows the river has, and what is known of them: each tick of the stream, and for the time that the page was not
// there (before it was opened, hidden, asleep, without a connection) the server's history.

import { foldInOrder } from '../../text/hostlists.js';
import { type Hello, numberOf, RIVER, STATES, type WallHead } from '../wire.js';
import type { Cells } from './cells.js';
import { byId } from './dom.js';
import { clock, quantity } from './formats.js';
import type { Member } from './geometry.js';
import { LIST_MOST, request } from './requests.js';
import { River, WHY } from './riverrows.js';
import type { RiverView } from './riverview.js';
import type { PageView } from './viewstate.js';

/** It shows nodes one by one only up to this number. */
const MOST_NODES = 2000;
/** The most of a wall's height that rows of groups may need; of more, all nodes are one row. */
const WALL_MOST = 0.28;
/** The time from one question to the next, ms. */
const ASK_MS = 10_000;

export class RiverPart {
  #hello: Hello | undefined;
  #head: WallHead | undefined;
  #river = new River([]);
  #rows: readonly Member[] = [];
  #key = '';
  #choice = '';
  /** The question for the server's history of these rows; undefined: it has none. */
  #question: string | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;
  /** The interval of the stream, s. */
  every = 1;
  /** A look and its second: those of other looks follow from it. */
  #anchor = { seq: 0, second: 0 };

  constructor(
    private readonly view: RiverView,
    private readonly cells: Cells,
  ) {}

  greet(hello: Hello): void {
    if (this.#hello?.boardId !== hello.boardId) {
      this.#anchor = { seq: 0, second: 0 };
      this.#head = undefined;
    }
    this.#hello = hello;
  }

  /** Comes behind the cells of its look. */
  head(head: WallHead): void {
    const before = this.#head?.state ?? 'ok';
    this.#head = head;
    if (before !== head.state) this.tick();
  }

  /** The second of a look: each has its own, however irregularly they arrive. */
  #secondOf(seq: number): number {
    const interval = this.#hello?.interval_ms ?? 1000;
    const { seq: known, now_ms: now } = this.#head ?? { seq: this.cells.seq, now_ms: this.#hello?.now_ms ?? 0 };
    const byClock = Math.floor((now + (seq - known) * interval) / 1000);
    const bySeq = this.#anchor.second + Math.round(((seq - this.#anchor.seq) * interval) / 1000);
    if (this.#anchor.second !== 0 && Math.abs(bySeq - byClock) <= 2) return bySeq;
    this.#anchor = { seq, second: byClock };
    return byClock;
  }

  /** Adds the look of the cells. */
  tick(): void {
    const cells = this.cells;
    if (this.#hello === undefined || cells.seq === 0) return;
    const second = this.#secondOf(cells.seq);
    // A look stands for the seconds since the one before that the server has left out.
    const from = Math.max(this.#river.newest + 1, second - this.every + 1);
    const kind = this.#head?.state ?? 'ok';
    for (let each = Math.min(from, second); each <= second && this.#river.advance(each); each++) {
      if (kind !== 'ok') this.#river.note(each, kind);
      else
        for (const [row, { first, count }] of this.#rows.entries())
          this.#river.fill(each, row, cells.tally(first, count), count);
    }
  }

  /** Draws what is new, and asks for what is missing. */
  update(): void {
    if (this.#river.rows === 0 || this.#river.newest === 0) return;
    this.view.update(this.#river.newest);
    if (this.#question !== undefined && this.#river.isUnasked && performance.now() - this.#askedAt >= ASK_MS)
      void this.#recall(this.#question);
  }

  async #recall(question: string): Promise<void> {
    const into = this.#river;
    // Not before the answer: a slow line would be filled with them.
    this.#askedAt = Number.POSITIVE_INFINITY;
    try {
      const response = await request(question);
      if (!response.ok) return;
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (into !== this.#river) return;
      into.remember(bytes, seq => this.#secondOf(seq));
      this.view.repaint();
    } catch {
      // It is asked again later.
    } finally {
      this.#askedAt = performance.now();
    }
  }

  /** Sets the rows: the groups on the map, which are `shown`, or the selected nodes. */
  arrange(view: PageView, shown: readonly Member[], chosen: Uint32Array | undefined): void {
    const { layout, names: nodes } = this.cells;
    const inGroup = view.group !== undefined && shown.length === 1 ? (shown[0] as Member) : undefined;
    const some = chosen ?? (inGroup && Uint32Array.from({ length: inGroup.count }, (_, i) => inGroup.first + i));
    const byNode = some !== undefined && some.length > 0 && some.length <= MOST_NODES;
    const isCrowded = view.wall === true && shown.length > innerHeight * WALL_MOST;
    this.#rows = byNode
      ? [...some].map(first => ({ group: -1, first, count: 1 }))
      : isCrowded
        ? [{ group: -1, first: 0, count: layout.count }]
        : shown.slice(0, RIVER.mostRows);
    const names = this.#rows.map(({ group, first }) =>
      byNode ? (nodes[first] ?? '') : (layout.groups[group]?.name ?? null),
    );
    const { boardId, reading, by } = this.#hello ?? {};
    // A node is the same row wherever it is.
    const key = `${boardId} ${reading} ${byNode} ${isCrowded} ${by} ${view.where} ${names.length} ${names.join()}`;
    if (key === this.#key) return;
    this.#key = key;
    this.#river = new River(names);
    const labels = names.map((name, i) => name ?? (this.#rows[i]?.group === -1 ? 'all' : 'others'));
    const choice = JSON.stringify([by, view.where, view.group, view.select, view.state, view.trouble, view.wall]);
    this.view.show(this.#river, labels, choice !== this.#choice);
    this.#choice = choice;
    const query = new URLSearchParams({ reading: reading ?? '' });
    const list = byNode ? foldInOrder(names as string[]) : '';
    if (byNode) query.set('nodes', list);
    else if (!isCrowded && by != null) query.set('by', by);
    // The server keeps no history of the nodes that a condition leaves.
    const isKept = byNode ? list.length <= LIST_MOST : view.where === undefined;
    this.#question = isKept ? `api/v1/river?${query}` : undefined;
    this.#askedAt = Number.NEGATIVE_INFINITY;
    this.tick();
    this.update();
  }

  /** A line about a place in it. */
  textAt({ second, row }: { second: number; row: number }): string {
    const column = this.#river.at(second, row);
    const { group = -1, count = 1 } = this.#rows[row] ?? {};
    const name = byId('rows').children[row]?.textContent ?? this.cells.layout.groups[group]?.name ?? '';
    const time = clock(second * 1000);
    if (column === undefined) return `${name} · ${time} · ${WHY[this.#river.kindAt(second)]}`;
    const bad = [...STATES.filter(state => state !== 'live'), 'unhealthy']
      .map(part => [part, Math.round((column.parts[part] as number) * count)] as const)
      .filter(([, number]) => number > 0)
      .map(([part, number]) => `${number} ${part}`);
    const reading = this.#hello?.readings.find(each => each.name === this.#hello?.reading);
    const mean =
      column.mean === undefined || reading === undefined
        ? []
        : [`${reading.title} ${quantity(numberOf(reading, column.mean), reading.unit)}`];
    return [name, time, ...mean, ...bad].join(' · ');
  }
}
