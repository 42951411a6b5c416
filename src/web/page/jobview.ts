// Nodes that differ from their family, and jobs and users, if the server shows them: a table of either, and colours that
// show the nodes of a job or a user on the map. Asks every few seconds while the page is visible.

import type { JobInfo, UserInfo } from '../../presentation/shapes.js';
import { NameRanges, tryExpand } from '../../text/hostlists.js';
import { userFinder, withId } from '../../text/jobnames.js';
import type { JobsAnswer, OddInfo } from '../answers.js';
import { NO_JOBS } from '../wire.js';
import { byId, make, set, show, write, writeRows } from './dom.js';
import { count, NOTHING, quantity } from './formats.js';
import { colourOf, type Rgb, type Theme, word } from './palette.js';
import { answerTo } from './requests.js';

/** How often jobs are asked for, ms. */
const EVERY_MS = 5000;
/** Others have no row in the table. */
const ROWS = 200;

/** What can colour cells in place of a reading. */
type Colouring = 'job' | 'user';
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

/** The nodes that differ; of groups of which none is at fault, all. */
const oddOf = ({ minority, groups }: OddInfo) => (minority ? groups.slice(1) : groups);

const textsOf = <Row>(rows: readonly Row[], columns: Columns<Row>) =>
  rows.slice(0, ROWS).map(row => columns.map(([, text]) => text(row)));

const ownerOf = ({ id, user }: JobInfo, by: Colouring) => (by === 'job' ? id : user);

const share = (value: number | undefined) => (value === undefined ? NOTHING : quantity(value * 100, '%'));
const some = (value: number) => (value === 0 ? NOTHING : count(value));

type Columns<Row> = readonly (readonly [title: string, text: (row: Row) => string])[];

const JOBS: Columns<JobInfo> = [
  ['Job', ({ id }) => id],
  ['User', ({ user }) => user],
  ['Name', ({ name }) => name],
  ['State', ({ state }) => state],
  ['Nodes', ({ node_count }) => count(node_count)],
  ['CPUs in use', ({ efficiency }) => share(efficiency)],
];

/** Use of nodes that others share is that of all. */
const useOf = (value: number | undefined, { shared_count }: UserInfo) =>
  `${shared_count > 0 && value !== undefined ? '~' : ''}${share(value)}`;

const USERS: Columns<UserInfo> = [
  ['User', ({ user }) => user || NOTHING],
  ['Jobs', ({ job_count }) => count(job_count)],
  ['Nodes', ({ node_count }) => count(node_count)],
  ['CPUs', ({ cpus }) => some(cpus)],
  ['CPUs in use', user => useOf(user.cpu_use, user)],
  ['GPUs', ({ gpus }) => some(gpus)],
  ['GPUs in use', user => useOf(user.gpu_use, user)],
  ['Nodes in trouble', ({ trouble_count }) => some(trouble_count)],
];

const ODD: Columns<OddInfo> = [
  ['What', ({ trait }) => trait.replaceAll('_', ' ')],
  ['Nodes', odd => (odd.minority ? count(oddOf(odd).reduce((sum, group) => sum + group.count, 0)) : NOTHING)],
  ['Differ', ({ minority, text }) => `${minority ? '' : 'no minority: '}${text}`],
];
const COLUMNS = { jobs: JOBS, users: USERS, odd: ODD };

interface JobPage {
  select(nodes: string): void;
  open(job: JobInfo): void;
  changed(): void;
  list(list: JobListName): void;
}

const LISTS = ['jobs', 'users', 'odd'] as const;
type JobListName = (typeof LISTS)[number];

export class JobView {
  readonly #head = byId<HTMLTableElement>('jobs').createTHead().insertRow();
  readonly #body = byId<HTMLTableElement>('jobs').createTBody();
  #timer: number | undefined;
  #jobs: readonly JobInfo[] = [];
  #users: readonly UserInfo[] = [];
  #odd: readonly OddInfo[] = [];
  #list: JobListName | undefined;
  #switches: readonly { readonly name: string; readonly nodes: string }[] = [];
  #isServed = false;
  #asked: string | undefined;

  constructor(private readonly page: JobPage) {
    for (const list of LISTS) byId(`list${list}`).addEventListener('click', () => page.list(list));
  }

  set isServed(isServed: boolean) {
    this.#isServed = isServed;
    for (const list of ['jobs', 'users']) show(byId(`list${list}`), isServed);
    this.choose(this.#asked);
  }

  /** Shows that list; odd nodes only if they are asked for. */
  choose(asked: string | undefined): void {
    this.#asked = asked;
    const served = LISTS.filter(list => this.#isServed || list === 'odd');
    const list = served.find(each => each === asked) ?? (this.#isServed ? 'jobs' : undefined);
    if (list === this.#list && list !== undefined) return;
    this.#list = list;
    clearTimeout(this.#timer);
    show(byId('jobsframe'), list !== undefined);
    for (const each of LISTS) set(byId(`list${each}`), { 'aria-pressed': String(each === list) });
    write(byId('jobsage'), list === undefined ? NO_JOBS : '');
    if (list === undefined) return;
    set(byId('jobs'), { class: list });
    this.#head.replaceChildren(...COLUMNS[list].map(([title]) => make('th', { scope: 'col' }, title)));
    this.#show();
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const list = this.#list;
    if (document.visibilityState !== 'hidden') await this.#take(list);
    // Not before the answer: a slow line would be filled with them.
    clearTimeout(this.#timer);
    if (list === this.#list) this.#timer = setTimeout(() => void this.#ask(), EVERY_MS);
  }

  async #take(list: JobListName | undefined): Promise<void> {
    const answer = this.#isServed ? await answerTo<JobsAnswer>('api/v1/jobs') : undefined;
    const users = list === 'users' ? await answerTo<{ users: readonly UserInfo[] }>('api/v1/users') : undefined;
    const odd = list === 'odd' ? await answerTo<{ odd: readonly OddInfo[] }>('api/v1/odd') : undefined;
    if (typeof answer === 'string') return write(byId('jobsage'), answer);
    if (typeof users === 'object') this.#users = users.users;
    if (typeof odd === 'object') this.#odd = odd.odd;
    const isOther = answer !== undefined && JSON.stringify(answer.jobs) !== JSON.stringify(this.#jobs);
    if (answer !== undefined) ({ jobs: this.#jobs, switches: this.#switches } = answer);
    this.#show();
    if (isOther) this.page.changed();
  }

  #show(): void {
    const list = this.#list ?? 'odd';
    const rows = {
      jobs: () => textsOf(this.#jobs, JOBS),
      users: () => textsOf(this.#users, USERS),
      odd: () => textsOf(this.#odd, ODD),
    }[list]();
    const all = { jobs: this.#jobs, users: this.#users, odd: this.#odd }[list];
    writeRows(this.#body, rows, row => {
      const [job, user, odd] = [this.#jobs[row], this.#users[row], this.#odd[row]];
      const differing = odd && oddOf(odd).map(({ nodes }) => nodes);
      if (list === 'jobs' && job !== undefined) this.page.open(job);
      else this.page.select((list === 'users' ? user?.nodes : differing?.join()) ?? '');
    });
    const isShared = list === 'users' && this.#users.some(({ shared_count }) => shared_count > 0);
    const notes = [
      ...(all.length > ROWS ? [`${count(all.length)}; the first ${ROWS}`] : []),
      ...(isShared ? ['~ with the use of others who share nodes'] : []),
      ...(all.length === 0
        ? [{ jobs: 'no jobs', users: 'no jobs', odd: 'no node differs from its family' }[list]]
        : []),
    ];
    write(byId('jobsage'), notes.join('; '));
  }

  of(name: string): readonly JobInfo[] {
    return this.#jobs.filter(({ nodes }) => NameRanges.of(nodes, 'any')?.has(name));
  }

  /** A job by its id, which parts of an array may have together. */
  numbered(id: string): Pick<JobInfo, 'id' | 'nodes'> | undefined {
    const nodes = withId(this.#jobs, id).flatMap(({ nodes }) => (nodes === '' ? [] : [nodes]));
    return nodes.length === 0 ? undefined : { id, nodes: nodes.join() };
  }

  /** The nodes of jobs of that name, or of that user, as a host list; undefined: there are none. */
  nodesOf(asked: string): string | undefined {
    const users = userFinder(this.#jobs)(asked);
    const of = this.#jobs.filter(({ user, name, nodes }) => (users.includes(user) || name === asked) && nodes !== '');
    return of.length === 0 ? undefined : of.map(({ nodes }) => nodes).join();
  }

  /** The nodes behind a switch, as a host list; undefined: the scheduler knows none of that name. */
  behind = (asked: string) => this.#switches.find(({ name }) => name === asked)?.nodes;

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
