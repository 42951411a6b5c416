// What of the journal is published: what was done in Slurm, and the brakes, for those who keep a record. It is made from
// the journal alone, so that no order waits for it, and a kill loses none. Pure: no file, no clock.

import { MOST_ORDERS, ordersText, type PublishedOrder, publishable } from '../../schedulerfile/orderfile.js';
import { brakeText } from './massbrake.js';
import type { OrdersState, Timed } from './records.js';

/** What is known of an order from its beginning. */
type OrderStart = Pick<PublishedOrder, 'node' | 'scheduler_node' | 'reason' | 'why'>;
type UnnumberedOrder = Omit<PublishedOrder, 'n' | 'time_ms'>;

function begunOf(node: string, board: string, reason: string, why?: string): OrderStart {
  return { node: board, scheduler_node: node === board ? undefined : node, reason, why };
}

/** Whether a record is of something that has happened. */
function isTold(entry: Timed): boolean {
  if (entry.what === 'withdrawn') return entry.after !== undefined;
  return ['result', 'let_go', 'brake', 'switch'].includes(entry.what);
}

function told(entry: Timed, begun: OrderStart | undefined): UnnumberedOrder {
  // Its beginning may be in an older journal.
  const about = begun ?? ('node' in entry ? { node: entry.node } : {});
  switch (entry.what) {
    case 'result':
      return { act: entry.act === 'drain' ? 'drain' : 'resume', ...about, outcome: entry.outcome };
    case 'let_go':
    case 'withdrawn':
      return { act: 'let_go', ...about, why: entry.why };
    case 'brake':
      return { act: entry.on ? 'brake_on' : 'brake_off', why: brakeText(entry.brake, entry) };
    default:
      return { act: 'off' in entry && entry.off ? 'switched_off' : 'switched_on' };
  }
}

/** The newest orders of a journal. */
export class NewestOrders {
  readonly #newest: { readonly n: number; readonly entry: Timed; readonly begun: OrderStart | undefined }[] = [];
  /** The beginnings of orders, by node and id, while the drain is ours. */
  readonly #begun = new Map<string, OrderStart>();
  #sinceMs: number | undefined;
  #count = 0;

  /** Adds a record of the journal. */
  apply(entry: Timed): void {
    this.#sinceMs ??= entry.time_ms;
    if (entry.what === 'state') {
      const { orders = { since_ms: entry.time_ms, count: 0 }, claims } = entry.state;
      this.#sinceMs = orders.since_ms;
      this.#count = orders.count;
      for (const { id, node, board, reason } of claims) this.#begun.set(`${node} ${id}`, begunOf(node, board, reason));
      return;
    }
    const key = 'id' in entry ? `${entry.node} ${entry.id}` : '';
    if (entry.what === 'intent') this.#begun.set(key, begunOf(entry.node, entry.board, entry.reason, entry.why));
    if (isTold(entry)) {
      this.#newest.push({ n: ++this.#count, entry, begun: this.#begun.get(key) });
      if (this.#newest.length > MOST_ORDERS) this.#newest.shift();
    }
    const isOver = entry.what === 'result' && entry.act !== 'drain' && entry.outcome === 'done';
    if (isOver || entry.what === 'let_go' || (entry.what === 'withdrawn' && entry.act === 'drain'))
      this.#begun.delete(key);
  }

  /** What a journal that is begun anew has to know. */
  state(nowMs: number): OrdersState {
    return { since_ms: this.#sinceMs ?? nowMs, count: this.#count };
  }

  text(nowMs: number): string {
    const orders = this.#newest.map(({ n, entry, begun }): PublishedOrder => {
      const texts = Object.entries(told(entry, begun)).flatMap(([key, text]) =>
        text === undefined ? [] : [[key, publishable(text)]],
      );
      return { n, time_ms: entry.time_ms, ...(Object.fromEntries(texts) as UnnumberedOrder) };
    });
    return ordersText({ ...this.state(nowMs), orders });
  }
}
