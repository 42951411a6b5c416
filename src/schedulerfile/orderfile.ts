// The file in which an enforcing bridge leaves what it has done, for whoever keeps a record: its format, and
// how it is followed. The bridge's own journal is private. Never waits.

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { isTellable } from '../text/moments.js';
import { fits, oneLine, shortened } from '../text/text.js';

/** The name of the file in the bridge's folder. */
export const ORDERS = 'orders';
const SCHEMA = 1;
/** So many are in the file, the newest, in so many bytes. */
export const MOST_ORDERS = 1000;
const MOST_BYTES = 256 << 10;
/** Longer than any NodeName or reason of the bridge, in characters. */
const LONGEST = 512;

/** What the bridge did. No job and no user is named here, and no reason that somebody else wrote. */
export interface PublishedOrder {
  /** Rises by one with each, also over restarts and boots. */
  readonly n: number;
  /** Since 1970. */
  readonly time_ms: number;
  /**
   * `drain`, `resume`; `let_go`: a drain is no longer the bridge's; `brake_on`, `brake_off`; `switched_off`,
   * `switched_on`: by the kill switch. A later version may know more.
   */
  readonly act: string;
  /** The name on the board; absent: it is about no node. */
  readonly node?: string | undefined;
  /** The scheduler's name for it, if it differs. */
  readonly scheduler_node?: string | undefined;
  /** `done`, or `unsure`: the scheduler does not show it, and it may still come. */
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
  readonly why?: string | undefined;
}

/** What is in the file. `since_ms`: the beginning of the bridge's journal, by which it is told from another one. */
interface OrderFile {
  readonly since_ms: number;
  /** The number of the newest order there has been. */
  readonly count: number;
  readonly orders: readonly PublishedOrder[];
}

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

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isText = (value: unknown) => typeof value === 'string' && fits(value, LONGEST) && value === oneLine(value);

function isOrder(value: unknown): value is PublishedOrder {
  if (typeof value !== 'object' || value === null) return false;
  const { n, time_ms, act, ...rest } = value as PublishedOrder;
  const { node, scheduler_node, outcome, reason, why } = rest;
  return (
    isCount(n) &&
    isCount(time_ms) &&
    isTellable(time_ms) &&
    isText(act) &&
    [node, scheduler_node, outcome, reason, why].every(text => text === undefined || isText(text))
  );
}

/** What a bridge writes; undefined: this is something else. */
function parseOrders(text: string): OrderFile | undefined {
  let file: (OrderFile & { schema: number }) | undefined;
  try {
    file = JSON.parse(text);
  } catch {}
  if (typeof file !== 'object' || file === null || file.schema !== SCHEMA) return undefined;
  const { since_ms, count, orders } = file;
  if (!isCount(since_ms) || !isCount(count) || !Array.isArray(orders) || !orders.every(isOrder)) return undefined;
  const first = count - orders.length + 1;
  return orders.every(({ n }, i) => n === first + i) ? { since_ms, count, orders } : undefined;
}

/** How far somebody has followed: the last order taken, and of which journal. */
export interface OrdersTaken {
  readonly since_ms: number;
  readonly n: number;
}

/** Why a file of orders is not to be trusted, in a sentence. */
class Doubt extends Error {}

/**
 * Follows the orders of a folder. It believes only root and the user to whom the folder belongs, which systemd makes for
 * the bridge (RuntimeDirectory=). A folder or a file that is not there is no trouble: no bridge enforces then.
 */
export class OrdersFollower {
  readonly #path: string;
  /** Identifies the file that was read: the bridge replaces it. */
  #which = '';
  #taken: OrdersTaken | undefined;
  /** How many orders the last call did not find any more, because newer ones had replaced them. */
  missed = 0;
  /** Why the last call found nothing, in a sentence; undefined: all is well. */
  trouble: string | undefined;

  /** `after`: how far an earlier follower came; without it, the first call returns all that there are. */
  constructor(
    private readonly folder: string,
    after?: OrdersTaken,
  ) {
    this.#path = join(folder, ORDERS);
    this.#taken = after;
  }

  /** How far it has come; undefined: there has been nothing. */
  get taken(): OrdersTaken | undefined {
    return this.#taken;
  }

  /** The orders since the last call, in their order. Never throws. */
  next(): PublishedOrder[] {
    this.missed = 0;
    let found: OrderFile | undefined;
    try {
      found = this.#read();
      this.trouble = undefined;
    } catch (error) {
      this.#which = '';
      const { code } = error as NodeJS.ErrnoException;
      this.trouble =
        code === 'ENOENT'
          ? undefined
          : `the orders of the bridge are unknown: ${oneLine(this.#path)} ${error instanceof Doubt ? error.message : `cannot be read: ${code}`}`;
    }
    return found === undefined ? [] : this.#newOf(found);
  }

  /** The file; undefined: it is the one that was read last. */
  #read(): OrderFile | undefined {
    const folder = lstatSync(this.folder);
    if (!folder.isDirectory()) throw new Doubt('is in no folder');
    if (isOpen(folder)) throw new Doubt('is in a folder that others can write to');
    const fd = openSync(
      this.#path,
      constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | constants.O_NOFOLLOW,
    );
    try {
      const stats = fstatSync(fd);
      const which = `${stats.dev} ${stats.ino} ${stats.mtimeMs} ${stats.size}`;
      if (which === this.#which) return undefined;
      if (!stats.isFile()) throw new Doubt('is no plain file');
      if ((stats.uid !== 0 && stats.uid !== folder.uid) || isOpen(stats))
        throw new Doubt('may be written by others than root and the user of the bridge');
      if (stats.size > 2 * MOST_BYTES) throw new Doubt('is too large');
      const found = parseOrders(readFileSync(fd, 'utf8'));
      if (found === undefined) throw new Doubt('holds what no bridge of this version writes');
      this.#which = which;
      return found;
    } finally {
      closeSync(fd);
    }
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

function isOpen({ mode }: Stats): boolean {
  return (mode & 0o022) !== 0;
}
