// The table below the map: the contents of the map in words and numbers. Groups first; for one group, or for selected
// nodes, the nodes, 200 rows a page.

import { numberOf, type ReadingInfo, STATES, type State } from '../wire.js';
import { type Cells, isMeasured, isUnhealthy, LIVE, stateOf, type Tally, valueIn } from './cells.js';
import { make, set, write } from './dom.js';
import { count, quantity } from './formats.js';

/** Rows of a page. */
export const PAGE = 200;

export interface Rows {
  readonly title: string;
  /** Groups by their indices, or nodes by the indices of their cells. */
  readonly kind: 'groups' | 'nodes';
  readonly indices: ArrayLike<number>;
}

/** A row: the texts of its cells, the first of which is a button, and a class name. */
interface TableLine {
  readonly texts: readonly string[];
  readonly look: string;
}

/** The states that have their own column; the others share one. */
const OWN: readonly State[] = ['live', 'silent', 'uncertain'];

export class TableView {
  readonly #table: HTMLTableElement;
  readonly #choose: (kind: Rows['kind'], index: number) => void;
  #rows: Rows = { title: '', kind: 'groups', indices: [] };
  #page = 1;
  #cells: Cells | undefined;
  #reading: ReadingInfo | undefined;
  #body = make('tbody');
  #shape = '';

  constructor(table: HTMLTableElement, choose: (kind: Rows['kind'], index: number) => void) {
    this.#table = table;
    this.#choose = choose;
  }

  get pages(): number {
    return Math.max(1, Math.ceil(this.#rows.indices.length / PAGE));
  }

  /** The number of the visible page, from 1. */
  get page(): number {
    return Math.min(this.#page, this.pages);
  }

  show(cells: Cells, reading: ReadingInfo, rows: Rows, page: number): void {
    [this.#cells, this.#reading, this.#rows, this.#page] = [cells, reading, rows, page];
    const shape = `${rows.kind} ${rows.title} ${reading.name} ${this.page}`;
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.#begin(rows, reading);
    }
    this.update();
  }

  #begin({ kind, title }: Rows, { title: reading }: ReadingInfo): void {
    const titles =
      kind === 'groups'
        ? ['Group', 'Nodes', 'Live', 'Silent', 'Uncertain', 'Others', 'Unhealthy', `${reading}, mean`, 'highest']
        : ['Node', 'State', 'Unhealthy', reading];
    this.#body = make('tbody');
    set(this.#table, { class: kind });
    this.#table.replaceChildren(
      make('caption', { class: 'unseen' }, title),
      make('thead', {}, make('tr', {}, ...titles.map(text => make('th', { scope: 'col' }, text)))),
      this.#body,
    );
  }

  /** Updates the visible rows. */
  update(): void {
    const [cells, reading] = [this.#cells, this.#reading];
    if (cells === undefined || reading === undefined) return;
    const { kind, indices } = this.#rows;
    const first = (this.page - 1) * PAGE;
    const shown = Math.min(PAGE, indices.length - first);
    while (this.#body.rows.length > shown) this.#body.lastElementChild?.remove();
    for (let i = 0; i < shown; i++) {
      const index = indices[first + i] as number;
      const line = kind === 'groups' ? groupLine(cells, reading, index) : nodeLine(cells, reading, index);
      const row = this.#body.rows[i] ?? this.#add(kind, line.texts.length);
      if (row.className !== line.look) row.className = line.look;
      if (row.dataset.index !== String(index)) row.dataset.index = String(index);
      for (const [at, text] of line.texts.entries()) {
        const cell = row.cells[at] as HTMLElement;
        write(at === 0 ? (cell.firstElementChild as Element) : cell, text);
      }
    }
  }

  #add(kind: Rows['kind'], width: number): HTMLTableRowElement {
    const button = make('button', { type: 'button' });
    const row = make('tr', {}, make('th', { scope: 'row' }, button));
    for (let i = 1; i < width; i++) row.append(make('td'));
    button.addEventListener('click', () => this.#choose(kind, Number(row.dataset.index)));
    this.#body.append(row);
    return row;
  }
}

/** A dash means that there is none; a number, even 0, that it was measured. */
const NOTHING = '–';

/**
 * The mean of the measured values of live nodes from `first` on, in the reading's own numbers; undefined: none was
 * measured.
 */
export function meanOf(
  cells: Cells,
  { measured, sum }: Tally,
  reading: ReadingInfo,
  first: number,
  count: number,
): number | undefined {
  if (measured === 0) return undefined;
  if (reading.scale === 'linear') return numberOf(reading, sum / measured);
  // On a logarithmic scale, cells are even in ratios, but a mean is one of numbers.
  let whole = 0;
  for (let i = first; i < first + count; i++) {
    const bits = cells.values[i] as number;
    if ((bits & 7) === LIVE && isMeasured(bits) && valueIn(bits) > 0) whole += numberOf(reading, valueIn(bits));
  }
  return whole / measured;
}

function groupLine(cells: Cells, reading: ReadingInfo, index: number): TableLine {
  const group = cells.layout.groups[index];
  if (group === undefined) return { texts: [], look: '' };
  const tally = cells.tally(group.first, group.count);
  const of = (state: State) => tally.states[STATES.indexOf(state)] as number;
  const others = STATES.filter(state => !OWN.includes(state)).reduce((sum, state) => sum + of(state), 0);
  const look = of('silent') > 0 ? 'silent' : of('uncertain') > 0 ? 'uncertain' : others > 0 ? 'left' : '';
  const mean = meanOf(cells, tally, reading, group.first, group.count);
  const highest = tally.measured === 0 ? NOTHING : quantity(numberOf(reading, tally.most), reading.unit);
  const numbers = [group.count, of('live'), of('silent'), of('uncertain'), others, tally.unhealthy];
  return {
    texts: [
      group.name ?? 'others',
      ...numbers.map(count),
      mean === undefined ? NOTHING : quantity(mean, reading.unit),
      highest,
    ],
    look,
  };
}

function nodeLine(cells: Cells, reading: ReadingInfo, index: number): TableLine {
  const bits = cells.values[index] as number;
  const state = stateOf(bits);
  const value = isMeasured(bits) ? quantity(numberOf(reading, valueIn(bits)), reading.unit) : NOTHING;
  return {
    texts: [
      cells.names[index] ?? '',
      state,
      isUnhealthy(bits) ? 'yes' : '',
      // In brackets: the last known value.
      state === 'live' || value === NOTHING ? value : `(${value})`,
    ],
    look: state === 'live' ? (isUnhealthy(bits) ? 'unhealthy' : '') : state,
  };
}
