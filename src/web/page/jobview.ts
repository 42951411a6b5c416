// Jobs, if the server shows them: a table in which each job selects its nodes, and colours that show the nodes
// of a job or a user on the map. Asks every few seconds while the page is visible.

import { tryExpand } from '../../text/hostlists.js';
import { byId, make, show, write } from './dom.js';
import { count, quantity } from './formats.js';
import { colourOf, type Rgb, type Theme, word } from './palette.js';
import { request } from './requests.js';

/** How often jobs are asked for, ms. */
const EVERY_MS = 5000;
/** Jobs beyond this number have no row in the table. */
const ROWS = 200;

/** The answer of `jobs`, as far as it is shown. */
export interface JobInfo {
  readonly id: string | number;
  readonly state: string;
  readonly user?: string;
  readonly name?: string;
  readonly nodes: string;
  readonly node_count: number;
  /** The busy share of its CPUs, 0 to 1; absent: unknown. */
  readonly efficiency?: number;
}

/** What can colour cells in place of a reading. */
export type Colouring = 'job' | 'user';
export const COLOURINGS: readonly Colouring[] = ['job', 'user'];
export const isColouring = (text: string | undefined): text is Colouring => COLOURINGS.some(by => by === text);

/** A job or user whose nodes have a colour of their own. */
export interface Owner {
  readonly name: string;
  readonly nodes: number;
  /** Undefined: it stands for all that are not among the largest. */
  readonly colour: Rgb | undefined;
}

/** So many owners are named in the legend. */
const OWNERS = 10;

const ownerOf = ({ id, user }: JobInfo, by: Colouring) => (by === 'job' ? String(id) : (user ?? ''));

export class JobView {
  readonly #part = byId('jobspart');
  readonly #body = byId<HTMLTableElement>('jobs').createTBody();
  readonly #select: (nodes: string) => void;
  readonly #changed: () => void;
  #timer: number | undefined;
  #jobs: readonly JobInfo[] = [];

  /** `changed`: called when the jobs have changed. */
  constructor(select: (nodes: string) => void, changed: () => void) {
    this.#select = select;
    this.#changed = changed;
  }

  /** Whether the server has jobs. */
  set isServed(isServed: boolean) {
    show(this.#part, isServed);
    if (isServed && this.#timer === undefined) void this.#ask();
    else if (!isServed) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
  }

  async #ask(): Promise<void> {
    this.#timer = setTimeout(() => void this.#ask(), EVERY_MS);
    if (document.visibilityState === 'hidden') return;
    try {
      const response = await request('api/v1/jobs');
      if (!response.ok) return write(byId('jobsage'), (await response.text()).trim());
      const { jobs } = (await response.json()) as { jobs: readonly JobInfo[] };
      write(byId('jobsage'), jobs.length > ROWS ? `${count(jobs.length)} jobs; the first ${ROWS}` : '');
      if (JSON.stringify(jobs) === JSON.stringify(this.#jobs)) return;
      this.#jobs = jobs;
      this.#show();
      this.#changed();
    } catch {
      // That the server is away is shown elsewhere.
    }
  }

  #show(): void {
    const shown = this.#jobs.slice(0, ROWS);
    while (this.#body.rows.length > shown.length) this.#body.lastElementChild?.remove();
    for (const [i, job] of shown.entries()) {
      const row = this.#body.rows[i] ?? this.#add();
      const efficiency = job.efficiency === undefined ? '–' : quantity(job.efficiency * 100, '%');
      row.dataset.nodes = job.nodes;
      write(row.querySelector('button') as Element, String(job.id));
      for (const [at, text] of [job.user ?? '', job.name ?? '', job.state, count(job.node_count), efficiency].entries())
        write(row.cells[at + 1] as Element, text);
    }
  }

  #add(): HTMLTableRowElement {
    const button = make('button', { type: 'button' });
    const row = make('tr', {}, make('th', { scope: 'row' }, button));
    for (let i = 0; i < 5; i++) row.append(make('td'));
    button.addEventListener('click', () => this.#select(row.dataset.nodes ?? ''));
    this.#body.append(row);
    return row;
  }

  /** The jobs that run on a node. */
  of(name: string): readonly JobInfo[] {
    return this.#jobs.filter(({ nodes }) => tryExpand(nodes, 'any')?.includes(name));
  }

  /** The nodes of a job, by its number or name, or of a user's jobs, as a host list; undefined: there are none. */
  nodesOf(asked: string): string | undefined {
    const of = this.#jobs.filter(job => [String(job.id), job.user, job.name].includes(asked) && job.nodes !== '');
    return of.length === 0 ? undefined : of.map(({ nodes }) => nodes).join();
  }

  /** Those with the most nodes, and one for all others. */
  owners(by: Colouring, theme: Theme): Owner[] {
    const nodes = new Map<string, number>();
    for (const job of this.#jobs) {
      const owner = ownerOf(job, by);
      if (job.node_count > 0) nodes.set(owner, (nodes.get(owner) ?? 0) + job.node_count);
    }
    const all = [...nodes].sort(([a, most], [b, other]) => other - most || (a < b ? -1 : 1));
    const others = all.splice(OWNERS);
    const owners: Owner[] = all.map(([name, nodes]) => ({ name, nodes, colour: colourOf(name, theme) }));
    const left = others.reduce((sum, [, more]) => sum + more, 0);
    if (left > 0) owners.push({ name: `${others.length} others`, nodes: left, colour: undefined });
    return owners;
  }

  /** The colour of each cell by its job or user, as words; 0: no job. */
  colours(by: Colouring, theme: Theme, size: number, indexOf: (name: string) => number | undefined): Uint32Array {
    const words = new Uint32Array(size);
    for (const job of this.#jobs) {
      const colour = word(colourOf(ownerOf(job, by), theme));
      for (const name of tryExpand(job.nodes, 'any') ?? []) {
        const cell = indexOf(name);
        if (cell !== undefined) words[cell] = colour;
      }
    }
    return words;
  }
}
