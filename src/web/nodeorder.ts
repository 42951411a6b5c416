// The nodes in an order, a page of them at a time, as beoboard status sorts them. All nodes are compared in slices, so
// that no look waits; what is told of the nodes of the page is read anew.

import { nodeTeller } from '../presentation/statusjson.js';
import { sortField } from '../query/columns.js';
import { comparisonBy, sortKey } from '../query/sorting.js';
import { Cursor } from '../readings/cursor.js';
import { taken } from '../readings/measures.js';
import type { Reading, Value } from '../readings/readings.js';
import { SCALES } from '../readings/scales.js';
import type { SchedulerColumn } from '../schedulers/schedulerview.js';
import { NUMBERED, type State } from '../shm/liveness.js';
import { NoBoard } from '../shm/noboard.js';
import type { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { compareNames } from '../text/hostlists.js';
import { json } from '../text/output.js';
import type { Wall } from './wall.js';
import { type NodeConsumer, SlicedLook, type Tick } from './watcher.js';
import { CELL, NODE_PAGE, NOT_MEASURED } from './wire.js';

/** How many nodes are compared at a time. */
const CHUNK = 1024;

/** The values of a field of all nodes at the last look, by their numbers. */
export class Values implements NodeConsumer {
  readonly of: Value[] = [];
  readonly isTooSlow = false;
  readonly #cursor = new Cursor();

  constructor(readonly field: Reading) {}

  begin(count: number, isAnother: boolean): void {
    if (isAnother) this.of.length = 0;
    this.of.length = count;
  }

  ask(piece: Snapshot, first: number): number {
    const { measure, value } = this.field;
    const end = Math.min(piece.count, this.of.length - first);
    for (let i = 0; i < end; i++) {
      if (measure === undefined) this.of[first + i] = value(piece.node(i));
      else {
        this.#cursor.moveTo(piece, i);
        const number = taken(measure, this.#cursor);
        this.of[first + i] = Number.isNaN(number) ? undefined : number;
      }
    }
    return piece.count;
  }
}

/** Which nodes are asked for, and in which order. */
export interface AskedPage {
  /** The name of a field or of a column of the scheduler; after a minus reversed. */
  readonly sort: string;
  /** From 1. */
  readonly page: number;
  readonly fields: readonly string[] | undefined;
  /** The columns of a scheduler, if they may be shown. */
  readonly columns: readonly SchedulerColumn[];
  /** Whether the node of that number and name is one of them. */
  readonly isChosen: (index: number, name: string) => boolean;
}

/** The first `most` of the nodes in an order. */
async function firstOf(
  nodes: readonly number[],
  most: number,
  by: (a: number, b: number) => number,
  slices: SlicedLook,
): Promise<number[]> {
  let found: number[] = [];
  const step = Math.max(CHUNK, most >> 3);
  for (let at = 0; at < nodes.length; at += step) {
    const last = found[most - 1];
    const some = nodes.slice(at, at + step).filter(node => last === undefined || by(node, last) < 0);
    if (some.length > 0) found = [...found, ...some.sort(by)].sort(by).slice(0, most);
    await slices.next();
  }
  return found;
}

interface Row {
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
function unmeasured(fields: readonly string[] | undefined, { cells, count }: Tick): string[] {
  return (fields ?? []).filter(field => {
    const scale = SCALES.findIndex(({ name }) => name === field);
    const column = cells[scale];
    if (column === undefined) return false;
    for (let i = 0; i < count; i++) if ((column[i] as number) >>> CELL.valueShift !== NOT_MEASURED) return false;
    return true;
  });
}

/** The page that is asked for, as JSON. Throws an InputError, TooMuch or NoBoard. */
export async function nodePage(wall: Wall, reader: BoardReader, head: object, asked: AskedPage): Promise<string> {
  const { order, field, column } = orderOf(asked);
  const names = asked.columns.map(one => one.name);
  const fields = asked.fields?.filter(name => !names.includes(name));
  const extra = asked.columns.filter(one => asked.fields?.includes(one.name));
  const teller = nodeTeller(fields, wall.digest);
  const isOverview = ['name', 'state', 'problems'].includes(order.field.name);
  const values = field === undefined || isOverview ? undefined : (await wall.queries.values(field)).of;
  const { digest, watcher } = wall;
  const tick = watcher.last;
  if (digest === undefined || tick === undefined) throw new NoBoard('absent', reader.path, 'was not looked at yet');
  const slices = new SlicedLook();
  const { states, problems } = digest.overview;
  const nodeNames = watcher.names;
  const keyOf = sortKey(order);
  const keys: Value[] = [];
  const chosen: number[] = [];
  for (let index = 0; index < tick.count; index++) {
    if (index % CHUNK === 0) await slices.next();
    const name = nodeNames[index] as string;
    if (!asked.isChosen(index, name)) continue;
    chosen.push(index);
    const node = {
      index,
      name,
      state: NUMBERED[states[index] as number] as State,
      problems: problems[index] as number,
    };
    keys[index] = keyOf(node, () => (column === undefined ? values?.[index] : column.text(node)));
  }
  const by = comparisonBy<number>(
    order,
    index => keys[index],
    (a, b) => compareNames(nodeNames[a] as string, nodeNames[b] as string),
  );
  const end = asked.page * NODE_PAGE;
  const rows: Row[] = [];
  for (const index of (await firstOf(chosen, end, by, slices)).slice(end - NODE_PAGE)) {
    await slices.next();
    const name = nodeNames[index] as string;
    const snapshot = reader.snapshotOf(name);
    const [node] = [...snapshot.nodes()];
    if (node === undefined) continue;
    const now = { index, name, state: node.state, problems: snapshot.overview.problems[0] as number };
    const key = keyOf(now, () => (column === undefined ? field?.value(node) : column.text(node)));
    const more = extra.length === 0 ? undefined : Object.fromEntries(extra.map(one => [one.name, one.text(node)]));
    rows.push({ name, key, text: teller(node, more) });
  }
  // Their values are newer than those by which they were chosen.
  rows.sort(
    comparisonBy<Row>(
      order,
      ({ key }) => key,
      (a, b) => compareNames(a.name, b.name),
    ),
  );
  const page = { ...head, total: chosen.length, page: asked.page, unmeasured: unmeasured(asked.fields, tick) };
  return `${json(page).slice(0, -1)},"nodes":[\n${rows.map(({ text }) => text).join(',\n')}\n]}\n`;
}
