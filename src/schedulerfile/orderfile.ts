// The file in which an enforcing bridge leaves what it has done, for whoever keeps a record: its format, and
// how it is followed. The bridge's own journal is private. Never waits.

import { join } from 'node:path';
import { Doubt, FileFollower, isOpen, type LeftFile } from '../service/leftfile.js';
import type { Steps } from '../service/slices.js';
import { isTellable } from '../text/moments.js';
import type { Described, DescribedKeys } from '../text/schema.js';
import { areAll, type Check, isCount, isList, shapeOf } from '../text/shape.js';
import { fits, oneLine, shortened } from '../text/text.js';

/** The name of the file in the bridge's folder. */
export const ORDERS = 'orders';
const SCHEMA = 1;
/** So many are in the file, the newest, in so many bytes. */
export const MOST_ORDERS = 1000;
const MOST_BYTES = 256 << 10;
/** Longer than any NodeName or reason of the bridge, in characters. */
const LONGEST = 512;

const isText: Check<string> = value => typeof value === 'string' && fits(value, LONGEST) && value === oneLine(value);

/** What the bridge did. No job and no user is named here, and no reason that somebody else wrote. */
const isOrder = shapeOf({
  /** Rises by one with each, also over restarts and boots. */
  n: isCount,
  /** Since 1970. */
  time_ms: (value => isCount(value) && isTellable(value)) as Check<number>,
  /**
   * `drain`, `resume`; `let_go`: a drain is no longer the bridge's; `brake_on`, `brake_off`; `switched_off`,
   * `switched_on`: by the kill switch. A later version may know more.
   */
  act: isText,
  /** The name on the board; absent: it is about no node. */
  'node?': isText,
  /** The scheduler's name for it, if it differs. */
  'scheduler_node?': isText,
  /** `done`, or `unsure`: the scheduler does not show it, and it may still come. */
  'outcome?': isText,
  ...{ 'reason?': isText, 'why?': isText },
});
export type PublishedOrder = Described<typeof isOrder>;

/** What is in the file. */
const FILE = {
  /** The beginning of the bridge's journal, by which it is told from another one. */
  since_ms: isCount,
  /** The number of the newest order there has been. */
  count: isCount,
  orders: isList as Check<readonly PublishedOrder[]>,
};
type OrderFile = DescribedKeys<typeof FILE>;
const isFile = shapeOf({ ...FILE, schema: value => value === SCHEMA });

/** A text that may be in the file. */
export function publishable(text: string): string {
  return shortened(oneLine(text), LONGEST);
}

/** The contents of the file: the newest of the orders, each on its own line. */
export function ordersText({ since_ms, count, orders }: OrderFile): string {
  const rows: string[] = [];
  let bytes = 0;
  for (const order of orders.slice(-MOST_ORDERS).reverse()) {
    const row = `\n${JSON.stringify(order)}`;
    bytes += Buffer.byteLength(row) + 1;
    if (bytes > MOST_BYTES) break;
    rows.push(row);
  }
  return `{"schema":${SCHEMA},"since_ms":${since_ms},"count":${count},"orders":[${rows.reverse().join(',')}]}\n`;
}

/** What is in the file; or why that is not known, in a sentence, and undefined if no bridge enforces. */
type FoundOrders = OrderFile | { readonly trouble: string | undefined };

function* parseOrders(file: unknown): Steps<OrderFile | undefined> {
  if (!isFile(file) || !(yield* areAll(file.orders, isOrder))) return undefined;
  const first = file.count - file.orders.length + 1;
  return file.orders.every(({ n }, i) => n === first + i) ? file : undefined;
}

/**
 * The orders of a folder. Root is trusted, and the user to whom the folder belongs, which systemd makes for the
 * bridge (RuntimeDirectory=). A folder or a file that is not there is no trouble: no bridge enforces then.
 */
export function ordersFile(folder: string): LeftFile<FoundOrders> {
  const path = join(folder, ORDERS);
  const unknown = (why: string) => ({ trouble: `the orders of the bridge are unknown: ${oneLine(path)} ${why}` });
  return {
    path,
    beside: folder,
    judge: (place, stats) => {
      if (place === undefined) return undefined;
      if (!place.isDirectory()) return 'is in no folder';
      if (isOpen(place)) return 'is in a folder that others can write to';
      if (stats === undefined) return undefined;
      if (!stats.isFile()) return 'is no plain file';
      if ((stats.uid !== 0 && stats.uid !== place.uid) || isOpen(stats))
        return 'may be written by others than root and the user of the bridge';
      return stats.size > 2 * MOST_BYTES ? 'is too large' : undefined;
    },
    *parse(value) {
      return (yield* parseOrders(value)) ?? unknown('holds what no bridge of this version writes');
    },
    without: error => {
      if (error.code === 'ENOENT') return { trouble: undefined };
      return unknown(error instanceof Doubt ? error.message : `cannot be read: ${error.code}`);
    },
  };
}

/** How far somebody has followed: the last order taken, and of which journal. */
export interface OrdersTaken {
  readonly since_ms: number;
  readonly n: number;
}

/** Follows the orders of a folder. */
export class OrdersFollower extends FileFollower<FoundOrders> {
  /** What was taken last. */
  #told: FoundOrders | undefined;
  #taken: OrdersTaken | undefined;
  /** How many orders the last call did not find any more, because newer ones had replaced them. */
  missed = 0;
  /** Why the last call found nothing, in a sentence; undefined: all is well. */
  trouble: string | undefined;

  /** `after`: how far an earlier follower came; without it, the first call returns all that there are. */
  constructor(folder: string, after?: OrdersTaken) {
    super(ordersFile(folder));
    this.#taken = after;
  }

  /** How far it has come; undefined: there has been nothing. */
  get taken(): OrdersTaken | undefined {
    return this.#taken;
  }

  /** The orders that were read since the last call, in their order; reads on in the background. Never throws. */
  next(): PublishedOrder[] {
    this.missed = 0;
    const { found } = this;
    if (found === undefined || found === this.#told) return [];
    this.#told = found;
    this.trouble = 'trouble' in found ? found.trouble : undefined;
    return 'trouble' in found ? [] : this.#newOf(found);
  }

  #newOf({ since_ms, count, orders }: OrderFile): PublishedOrder[] {
    const before = this.#taken;
    this.#taken = { since_ms, n: count };
    if (before === undefined) return [...orders];
    // If `since_ms` differs, it is another journal, of which nothing has been seen. One restored from a backup uses the
    // same numbers again, hence the smaller one.
    const after = before.since_ms === since_ms ? Math.min(before.n, count) : 0;
    const fresh = orders.filter(({ n }) => n > after);
    this.missed = count - after - fresh.length;
    return fresh;
  }
}
