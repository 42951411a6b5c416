// The table below the map: the contents of the map in words and numbers. Groups first, of which the page knows all; for
// one group, or for selected nodes, the nodes as `beoboard status` shows them, of which the server sorts all and sends a
// page. A click on a title sorts, and again the other way round; so does the number of a column on the keyboard.

import { foldInOrder } from '../../text/hostlists.js';
import { type Hello, NODE_PAGE, numberOf, type ReadingInfo, STATES, type State } from '../wire.js';
import { type Cells, isMeasured, LIVE, type Tally, valueIn } from './cells.js';
import { button, make, set, writeRows } from './dom.js';
import { count, moment, NOTHING, quantity } from './formats.js';
import { answerTo, LIST_MOST } from './requests.js';

/** The rows of nodes are asked for again after so long, ms. */
const EVERY_MS = 3000;

export interface TableRows {
  readonly title: string;
  /** Groups by their indices, or nodes by the indices of their cells. */
  readonly kind: 'groups' | 'nodes';
  readonly indices: ArrayLike<number>;
}

/** A row: the texts of its cells, the first of which is a button, its class, and what the button chooses. */
interface TableLine {
  readonly texts: readonly string[];
  readonly look: string;
  readonly index: number | undefined;
}

interface SortColumn {
  readonly title: string;
  readonly sort: string;
  /** Its first order is from a to z, or from the smallest. */
  readonly isUpward?: boolean;
}

/** A row of `nodes?page=…`. */
interface NodeRow {
  readonly name: string;
  readonly state: State;
  /** s, at the time of the answer. */
  readonly since?: number;
  readonly problems?: string;
  readonly [field: string]: unknown;
}

/** The answer, as far as the table shows it. */
interface NodePage {
  readonly now_ms: number;
  readonly total: number;
  /** The fields that no node has. */
  readonly unmeasured: readonly string[];
  readonly nodes: readonly NodeRow[];
}

interface NodeColumn extends SortColumn {
  /** Undefined: there is nothing to show. */
  readonly text: (row: NodeRow, now: number) => string | undefined;
}

interface TablePage {
  choose(kind: TableRows['kind'], index: number): void;
  openJobOf(cell: number): void;
  /** Undefined: the first order. */
  sort(by: string | undefined): void;
  /** Rows have come: there may be more or fewer pages. */
  told(): void;
  hello(): Hello | undefined;
  /** The condition that all nodes of the page meet. */
  where(): string | undefined;
}

/** The states that have their own column; the others share one. */
const OWN: readonly State[] = ['live', 'silent', 'uncertain'];
const GROUP_COLUMNS: readonly SortColumn[] = [
  { title: 'Group', sort: 'group', isUpward: true },
  ...['Nodes', 'Live', 'Silent', 'Uncertain', 'Others', 'Unhealthy', 'mean', 'highest'].map(title => ({
    title,
    sort: title.toLowerCase(),
  })),
];

/** The readings of a node in the table. */
const FIELDS = ['cpu', 'load', 'mem', 'gpu', 'temp', 'power', 'net'];
const FIXED: readonly NodeColumn[] = [
  { title: 'Node', sort: 'name', isUpward: true, text: ({ name }) => name },
  { title: 'State', sort: 'state', text: ({ state }) => state },
  {
    ...{ title: 'Since', sort: 'since', isUpward: true },
    text: ({ since }, now) => (since === undefined ? undefined : moment(now - since * 1000, now)),
  },
  { title: 'Trouble', sort: 'problems', isUpward: true, text: ({ problems }) => problems?.replaceAll(',', ', ') },
];
const JOBS: readonly NodeColumn[] = [
  ['Job', 'jobs'],
  ['User', 'user'],
].map(([title = '', sort = '']) => ({ title, sort, isUpward: true, text: row => row[sort] as string | undefined }));

const JOB_AT = FIXED.length;

/** A column of a reading; in brackets: the last known value. */
function readingColumn(sort: string, readings: readonly ReadingInfo[]): NodeColumn {
  const { title = 'Load', unit = '' } = readings.find(({ name }) => name === sort) ?? {};
  return {
    ...{ title, sort },
    text: row => {
      const value = row[sort];
      if (typeof value !== 'number') return undefined;
      return row.state === 'live' ? quantity(value, unit) : `(${quantity(value, unit)})`;
    },
  };
}

export class TableView {
  #rows: TableRows = { title: '', kind: 'groups', indices: [] };
  #number = 1;
  /** By what it is sorted; undefined: as it is by itself. */
  sort: string | undefined;
  #cells: Cells | undefined;
  #reading: ReadingInfo | undefined;
  #body = make('tbody');
  #shape = '';
  #columns: readonly SortColumn[] = [];
  /** The last rows of nodes, and the last question for them. */
  #nodes: NodePage | undefined;
  #question = '';
  #lines: readonly TableLine[] = [];
  #asked = { query: '', at: Number.NEGATIVE_INFINITY };

  constructor(
    private readonly table: HTMLTableElement,
    private readonly view: TablePage,
  ) {
    table.parentElement?.addEventListener('keydown', event => {
      const column = /^[1-9]$/.test(event.key) ? this.#columns[Number(event.key) - 1] : undefined;
      if (column === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.#sortBy(column);
    });
  }

  get pages(): number {
    const { kind, indices } = this.#rows;
    const { total } = (kind === 'nodes' && this.#nodes) || { total: indices.length };
    return Math.max(1, Math.ceil(total / NODE_PAGE));
  }

  get page(): number {
    return Math.min(this.#number, this.pages);
  }

  show(cells: Cells, reading: ReadingInfo, rows: TableRows, page: number, sort: string | undefined): void {
    // Rows of other nodes do not stand below this title.
    if (rows.title !== this.#rows.title) this.#nodes = undefined;
    [this.#cells, this.#reading, this.#rows, this.#number] = [cells, reading, rows, page];
    this.sort = this.#isColumn(sort?.replace(/^-/, '')) ? sort : undefined;
    // To fold many names at each look would take long, and they are the same.
    this.#question = rows.kind === 'nodes' ? this.#query(cells) : '';
    this.update();
  }

  /** Whether this table sorts by it: that of groups has other columns than that of nodes, and a URL may have any. */
  #isColumn(sort: string | undefined): boolean {
    const ofNodes = [...FIXED, ...(this.view.hello()?.jobs ? JOBS : []), ...FIELDS.map(field => ({ sort: field }))];
    return (this.#rows.kind === 'groups' ? GROUP_COLUMNS : ofNodes).some(column => column.sort === sort);
  }

  #sortBy({ sort }: SortColumn): void {
    const [{ sort: first = '' } = {}] = this.#rows.kind === 'groups' ? GROUP_COLUMNS : FIXED.slice(1);
    const now = this.sort ?? first;
    const next = now === sort ? `-${sort}` : sort;
    this.view.sort(next === first ? undefined : next);
  }

  /** Writes the titles anew if they are others. */
  #titles(columns: readonly SortColumn[]): void {
    const { kind, title } = this.#rows;
    const sort = this.sort ?? (kind === 'groups' ? 'group' : 'state');
    const shape = `${kind} ${title} ${sort} ${columns.map(column => column.title).join()}`;
    if (shape === this.#shape) return;
    const focused = [...this.table.querySelectorAll('thead button')].indexOf(document.activeElement as Element);
    this.#shape = shape;
    this.#columns = columns;
    if (this.table.className !== kind) this.#body = make('tbody');
    set(this.table, { class: kind });
    const cells = columns.map(column => {
      const isUp = (column.isUpward === true) !== sort.startsWith('-');
      const isSorted = sort.replace(/^-/, '') === column.sort;
      return make(
        'th',
        { scope: 'col', 'data-sort': column.sort, 'aria-sort': isSorted && (isUp ? 'ascending' : 'descending') },
        button(column.title, () => this.#sortBy(column)),
      );
    });
    this.table.replaceChildren(
      make('caption', { class: 'unseen' }, title),
      make('thead', {}, make('tr', {}, ...cells)),
      this.#body,
    );
    if (focused >= 0) this.table.querySelectorAll<HTMLElement>('thead button')[focused]?.focus();
  }

  update(): void {
    const [cells, reading] = [this.#cells, this.#reading];
    if (cells === undefined || reading === undefined) return;
    if (this.#rows.kind === 'groups') {
      const columns = GROUP_COLUMNS.map(column =>
        column.sort === 'mean' ? { ...column, title: `${reading.title}, mean` } : column,
      );
      this.#titles(columns);
      const first = (this.page - 1) * NODE_PAGE;
      const lines = groupLines(cells, reading, this.#rows.indices, this.sort);
      this.#write(lines.slice(first, first + NODE_PAGE));
    } else this.#updateNodes(cells);
  }

  #write(lines: readonly TableLine[]): void {
    this.#lines = lines;
    const choose = (row: number, cell: number) => {
      const { index } = this.#lines[row] ?? {};
      if (index !== undefined && cell === JOB_AT) this.view.openJobOf(index);
      else if (index !== undefined) this.view.choose(this.#rows.kind, index);
    };
    const hasJobs = this.#rows.kind === 'nodes' && this.view.hello()?.jobs === true;
    const texts = lines.map(line => line.texts);
    for (const [i, row] of writeRows(this.#body, texts, choose, hasJobs ? [JOB_AT] : []).entries()) {
      const { look = '' } = lines[i] ?? {};
      if (row.className !== look) row.className = look;
      // Where a text may be cut.
      for (const cell of [...row.cells].slice(3, 6))
        if (cell.title !== cell.textContent) cell.title = cell.textContent ?? '';
    }
  }

  #updateNodes(cells: Cells): void {
    const query = this.#question;
    const now = performance.now();
    const isDue = query !== this.#asked.query || now - this.#asked.at >= EVERY_MS;
    const isEmpty = this.#rows.indices.length === 0;
    if (isEmpty) this.#nodes = undefined;
    else if (isDue && document.visibilityState !== 'hidden') {
      // Not before the answer: a slow line would be filled with them.
      this.#asked = { query, at: Number.POSITIVE_INFINITY };
      void this.#ask(query);
    }
    // Until the answer is there, the rows of the last question stay.
    const { nodes: rows = [], unmeasured = [], now_ms = 0 } = this.#nodes ?? {};
    const { jobs = false, readings = [] } = this.view.hello() ?? {};
    const measured = FIELDS.filter(field => !unmeasured.includes(field));
    const columns = [...FIXED, ...(jobs ? JOBS : []), ...measured.map(field => readingColumn(field, readings))];
    this.#titles(columns);
    this.#write(
      rows.map(row => ({
        texts: columns.map(({ text }) => text(row, now_ms) ?? NOTHING),
        look: row.state !== 'live' ? row.state : row.problems === undefined ? '' : 'unhealthy',
        index: cells.indexOf(row.name),
      })),
    );
  }

  #query(cells: Cells): string {
    const { indices } = this.#rows;
    const fields = ['since', 'problems', ...(this.view.hello()?.jobs ? ['jobs', 'user'] : []), ...FIELDS];
    const query = new URLSearchParams({ fields: fields.join(), page: String(this.#number) });
    if (this.sort !== undefined) query.set('sort', this.sort);
    const where = this.view.where();
    if (indices.length < cells.layout.count) {
      let names = Array.from(indices, index => cells.names[index] ?? '');
      let list = foldInOrder(names);
      // The first ones, as many as a request can name.
      for (; list.length > LIST_MOST; list = foldInOrder(names)) names = names.slice(0, Math.floor(0.8 * names.length));
      query.set('nodes', list);
    } else if (where !== undefined) query.set('where', where);
    return String(query);
  }

  async #ask(query: string): Promise<void> {
    const answer = await answerTo<NodePage>(`api/v1/nodes?${query}`);
    if (query === this.#asked.query) this.#asked.at = performance.now();
    if (typeof answer !== 'object' || query !== this.#asked.query || this.#rows.indices.length === 0) return;
    this.#nodes = answer;
    if (this.#rows.kind !== 'nodes') return;
    this.update();
    this.view.told();
  }
}

/** The mean of the measured values of live nodes from `first` on, in the reading's numbers; undefined: not measured. */
function meanOf(cells: Cells, { measured, sum }: Tally, reading: ReadingInfo, first: number, count: number) {
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

/** The groups, in the order of the map or sorted by a column. */
function groupLines(cells: Cells, reading: ReadingInfo, indices: ArrayLike<number>, sort: string | undefined) {
  const found = Array.from(indices, index => ({ index, values: groupValues(cells, reading, index) }));
  const at = GROUP_COLUMNS.findIndex(column => column.sort === sort?.replace(/^-/, ''));
  if (at > 0) {
    const sign = sort?.startsWith('-') ? 1 : -1;
    found.sort(
      (a, b) => sign * ((a.values[at] ?? Number.NEGATIVE_INFINITY) - (b.values[at] ?? Number.NEGATIVE_INFINITY)),
    );
  } else if (at === 0 && sort?.startsWith('-')) found.reverse();
  return found.map(({ index, values }) => {
    const [, , , silent = 0, uncertain = 0, others = 0] = values;
    const texts = values.map((value, i) =>
      value === undefined ? NOTHING : i < 7 ? count(value) : quantity(value, reading.unit),
    );
    return {
      texts: [cells.layout.groups[index]?.name ?? 'others', ...texts.slice(1)],
      look: silent > 0 ? 'silent' : uncertain > 0 ? 'uncertain' : others > 0 ? 'left' : '',
      index,
    };
  });
}

/** The numbers of a group, in the order of the columns; its name has none. */
function groupValues(cells: Cells, reading: ReadingInfo, index: number): (number | undefined)[] {
  const group = cells.layout.groups[index];
  if (group === undefined) return [];
  const tally = cells.tally(group.first, group.count);
  const of = (state: State) => tally.states[STATES.indexOf(state)] as number;
  const others = STATES.filter(state => !OWN.includes(state)).reduce((sum, state) => sum + of(state), 0);
  return [
    ...[undefined, group.count, of('live'), of('silent'), of('uncertain'), others, tally.unhealthy],
    meanOf(cells, tally, reading, group.first, group.count),
    tally.measured === 0 ? undefined : numberOf(reading, tally.most),
  ];
}
