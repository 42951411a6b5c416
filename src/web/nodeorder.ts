// The nodes in an order, a page of them at a time, as beoboard status sorts them. All nodes are compared in slices, so
// that no look waits; what is told of the nodes of the page is read anew.

import type { SchedulerColumn } from '../jobs/schedulernode.js';
import { boardJson, nodeTeller } from '../presentation/statusjson.js';
import { sortField } from '../query/columns.js';
import { comparisonBy, sortKey } from '../query/sorting.js';
import type { Value } from '../readings/measures.js';
import { SCALES } from '../readings/scales.js';
import type { SlicedLook } from '../service/slices.js';
import { NoBoard } from '../shm/noboard.js';
import { withReader } from '../shm/reader.js';
import type { Node, Snapshot } from '../shm/snapshot.js';
import { compareNames } from '../text/hostlists.js';
import { json } from '../text/output.js';
import type { Wall } from './wall.js';
import type { WatcherTick } from './watcher.js';
import { CELL, NODE_PAGE, NOT_MEASURED, STATE_MASK, STATES, type State } from './wire.js';

/** So many answers are kept until the next look. */
const MOST_SHARED = 16;
/** How many nodes are compared at a time. */
const CHUNK = 1024;

export interface AskedPage {
  /** The name of a field or of a column of the scheduler; after a minus reversed. */
  readonly sort: string;
  /** From 1. */
  readonly page: number;
  readonly fields: readonly string[] | undefined;
  /** The columns of a scheduler, if they may be shown. */
  readonly columns: readonly SchedulerColumn[];
  readonly isChosen: (index: number, name: string) => boolean;
  readonly slices: SlicedLook;
}

type Comparator = (a: number, b: number) => number;

/** Two lists in an order as one, of which only the first `most` are wanted. */
async function merged(a: number[], b: number[], most: number, by: Comparator, slices: SlicedLook): Promise<number[]> {
  const all: number[] = [];
  const length = Math.min(most, a.length + b.length);
  for (let i = 0, j = 0; all.length < length; ) {
    const isFirst = j === b.length || (i < a.length && by(a[i] as number, b[j] as number) <= 0);
    all.push((isFirst ? a[i++] : b[j++]) as number);
    if (all.length % CHUNK === 0) await slices.next();
  }
  return all;
}

/** The nodes in an order: at least the first `most` of them. */
async function firstOf(nodes: readonly number[], most: number, by: Comparator, slices: SlicedLook): Promise<number[]> {
  let runs: number[][] = [];
  for (let at = 0; at < nodes.length; at += CHUNK) {
    const [best] = runs;
    const last = best?.[most - 1];
    const some = nodes.slice(at, at + CHUNK).filter(node => last === undefined || by(node, last) < 0);
    some.sort(by);
    // For a few of them, most nodes are compared only once.
    if (best === undefined || most > CHUNK) runs.push(some);
    else runs = [await merged(best, some, most, by, slices)];
    await slices.next();
  }
  while (runs.length > 1) {
    const longer: number[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      longer.push(await merged(runs[i] as number[], runs[i + 1] ?? [], most, by, slices));
    runs = longer;
  }
  return runs[0] ?? [];
}

/** By what nodes are sorted: of the last look, and of a node as it is now. */
interface Ordering {
  readonly order: Parameters<typeof sortKey>[0];
  readonly of: (index: number, name: string) => Value;
  readonly now: (node: Node) => Value;
}

/** What is told of a node. Throws an InputError for a column that does not exist. */
function rowTeller({ fields, columns }: Pick<AskedPage, 'fields' | 'columns'>, digest: Snapshot | undefined) {
  const extra = columns.filter(one => fields?.includes(one.name));
  const ofBoard = fields?.filter(name => !extra.some(one => one.name === name));
  const teller = nodeTeller(ofBoard, digest);
  return (node: Node): string =>
    teller(node, extra.length === 0 ? undefined : Object.fromEntries(extra.map(one => [one.name, one.text(node)])));
}

interface SortRow {
  readonly name: string;
  readonly key: Value;
  readonly text: string;
}

/** The order that is asked for. Throws an InputError if there is no such field. */
function orderOf({ sort, columns }: AskedPage) {
  const name = sort.replace(/^-/, '');
  const column = columns.find(one => one.name === name);
  const { field, upward } = column === undefined ? sortField(sort) : { upward: !sort.startsWith('-') };
  return { order: { field: { name }, upward }, field, column };
}

/** Of these fields those that no node has, as far as the readings of the map tell. */
function unmeasured(fields: readonly string[] | undefined, { cells, count }: WatcherTick): string[] {
  return (fields ?? []).filter(field => {
    const scale = SCALES.findIndex(({ name }) => name === field);
    const column = cells[scale];
    if (column === undefined) return false;
    for (let i = 0; i < count; i++) if ((column[i] as number) >>> CELL.valueShift !== NOT_MEASURED) return false;
    return true;
  });
}

/** The nodes in all orders that are asked for. */
export class NodePages {
  /** Those of the last look, by what was asked, because many clients ask for the same. */
  #told = { seq: 0, pages: new Map<string, Promise<string>>() };

  constructor(private readonly wall: Wall) {}

  /** The page that is asked for, as JSON; `key` means the same question. Throws an InputError, TooMuch or NoBoard. */
  async page(key: string, asked: AskedPage): Promise<string> {
    const { order, field, column } = orderOf(asked);
    rowTeller(asked, undefined);
    const isOverview = ['name', 'state', 'problems'].includes(order.field.name);
    const values = field === undefined || isOverview ? undefined : await this.wall.queries.values(field);
    const seq = this.wall.watcher.last?.seq ?? 0;
    if (this.#told.seq !== seq) this.#told = { seq, pages: new Map() };
    const { pages } = this.#told;
    for (let known = pages.get(key); known !== undefined; known = pages.get(key)) {
      const page = await known.catch(() => undefined);
      if (page !== undefined) return page;
      // The client for whom it was made has gone.
      if (pages.get(key) === known) pages.delete(key);
    }
    const of = (index: number, name: string) => (column === undefined ? values?.of[index] : column.text({ name }));
    const now = (node: Node) => (column === undefined ? field?.value(node) : column.text(node));
    const page = this.#make(asked, { order, of, now });
    if (pages.size < MOST_SHARED) pages.set(key, page);
    return await page;
  }

  async #make(asked: AskedPage, { order, of, now }: Ordering): Promise<string> {
    const { heads, watcher } = this.wall;
    const { digest } = heads;
    const tick = watcher.last;
    const { path, owner } = watcher.reader;
    if (digest === undefined || tick === undefined || watcher.trouble !== undefined)
      throw new NoBoard('absent', path, watcher.trouble ?? 'was not looked at yet');
    const { slices } = asked;
    const { names } = watcher;
    const { problems } = digest.overview;
    const [cells] = tick.cells as [Uint16Array];
    const keyOf = sortKey(order);
    const keys: Value[] = [];
    const chosen: number[] = [];
    for (let index = 0; index < tick.count; index++) {
      if (index % CHUNK === 0) await slices.next();
      const name = names[index] as string;
      if (!asked.isChosen(index, name)) continue;
      chosen.push(index);
      const state = STATES[(cells[index] as number) & STATE_MASK] as State;
      keys[index] = keyOf({ index, name, state, problems: problems[index] as number }, () => of(index, name));
    }
    const byName = (a: number, b: number) => compareNames(names[a] as string, names[b] as string);
    const by = comparisonBy<number>(order, index => keys[index], byName);
    const [first, end] = [(asked.page - 1) * NODE_PAGE, asked.page * NODE_PAGE];
    const shown = first < chosen.length ? (await firstOf(chosen, end, by, slices)).slice(first, end) : [];
    const nowMs = Date.now();
    return await withReader(path, owner, async reader => {
      const rows: SortRow[] = [];
      const teller = rowTeller(asked, digest);
      for (const index of shown) {
        await slices.next();
        const snapshot = reader.snapshotOf(names[index] as string);
        const [node] = [...snapshot.nodes()];
        if (node === undefined) continue;
        const { name, state } = node;
        const key = keyOf({ index, name, state, problems: snapshot.overview.problems[0] as number }, () => now(node));
        rows.push({ name, key, text: teller(node) });
      }
      // Their values are newer than those by which they were chosen.
      const byRow = (a: SortRow, b: SortRow) => compareNames(a.name, b.name);
      rows.sort(comparisonBy<SortRow>(order, ({ key }) => key, byRow));
      const head = { schema: 1, seq: tick.seq, now_ms: nowMs, board: boardJson(digest) };
      const about = { total: chosen.length, page: asked.page, unmeasured: unmeasured(asked.fields, tick) };
      const text = json({ ...head, ...about });
      return `${text.slice(0, -1)},"nodes":[\n${rows.map(row => row.text).join(',\n')}\n]}\n`;
    });
  }
}
