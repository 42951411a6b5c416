// One node on a sheet: its trouble above all, its last minutes, its jobs, and the facts of `show`, section by section; or
// one job. It is beside the map, and closes with Escape.

import type { TroubleInfo } from '../../acks/info.js';
import type { JobInfo } from '../../presentation/shapes.js';
import { shortened } from '../../text/unseen.js';
import type { JobAnswer, NodeInfo } from '../answers.js';
import type { ReadingInfo } from '../wire.js';
import { button, byId, fill, make, set, write } from './dom.js';
import { count, plural } from './formats.js';
import { JobNodesView } from './jobnodes.js';
import { answerTo } from './requests.js';
import { Timelines } from './timelines.js';
import { columnsOf } from './troubletexts.js';

/** How often the sheet of a node is updated, and that of a job, which costs more, ms. */
const [EVERY_MS, JOB_MS] = [2000, 5000];

interface SheetPage {
  close(): void;
  /** Opens the sheet of another node. `isNew`: the Back button returns to this one. */
  open(name: string, isNew: boolean): void;
  readings(): readonly ReadingInfo[];
  jobsOf(name: string): readonly JobInfo[];
  openJob(job: JobInfo): void;
  /** The nodes that are not well, of the selection if there is one, in the order of the map. */
  unwell(): readonly string[];
  /** The server's clock, ms. */
  now(): number;
}

export class Sheet {
  readonly #element = byId('sheet');
  /** What is open: the part of the API that is asked; and its name if it is a node. */
  #path: string | undefined;
  #name: string | undefined;
  #timer: number | undefined;
  #shape = '';
  #timelines = new Timelines();
  readonly #nodes = new JobNodesView(name => this.page.open(name, true));

  constructor(private readonly page: SheetPage) {
    this.#element.addEventListener('keydown', event => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || this.#name === undefined) return;
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      event.preventDefault();
      event.stopPropagation();
      this.#step(event.key === 'ArrowLeft' ? -1 : 1);
    });
  }

  get isOpen(): boolean {
    return this.#path !== undefined;
  }

  /** Opens the sheet of a node, or else of a job; closes it if there is neither. */
  open(name: string | undefined, job: string | undefined): void {
    const [kind, id] = name === undefined ? ['jobs', job] : ['nodes', name];
    const path = id === undefined ? undefined : `api/v1/${kind}/${encodeURIComponent(id)}`;
    if (path === this.#path) return;
    clearTimeout(this.#timer);
    [this.#path, this.#name, this.#shape] = [path, name, ''];
    this.#element.hidden = path === undefined;
    this.#element.className = name === undefined ? 'ofjob' : '';
    if (path === undefined) this.#element.replaceChildren();
    else {
      this.#frame(shortened(name ?? `Job ${job}`, 80));
      void this.#ask(path);
    }
  }

  #frame(heading: string): void {
    const isNode = this.#name !== undefined;
    const step = (id: string, label: string, text: string, by: 1 | -1) =>
      button(text, () => this.#step(by), { id, 'aria-label': label });
    const title = make('h2', { id: 'sheetname', tabindex: '-1' }, heading);
    const focused = document.activeElement?.id ?? '';
    this.#timelines = new Timelines();
    const steps = make(
      'div',
      { id: 'sheetsteps' },
      step('illbefore', 'The node before that is not well', '‹', -1),
      make('span', { id: 'sheetplace' }),
      step('illafter', 'The next node that is not well', '›', 1),
    );
    this.#element.replaceChildren(
      make(
        'div',
        { class: 'head' },
        title,
        button('×', () => this.page.close(), { id: 'close', 'aria-label': 'Close' }),
      ),
      ...(isNode ? [steps] : []),
      make('div', { id: 'sheettrouble', role: 'group', 'aria-label': 'Trouble', tabindex: '0' }),
      make('p', { id: 'sheetstate' }, ' '),
      ...(isNode
        ? [this.#timelines.element, make('div', { id: 'sheetjobs' }), make('div', { id: 'sections' })]
        : [this.#nodes.element]),
    );
    if (isNode) this.#place();
    // Somebody who steps with a button goes on with it.
    (isNode && (focused === 'illbefore' || focused === 'illafter') ? byId(focused) : title).focus();
  }

  /** To the next node that is not well, or the one before, and around. */
  #step(step: 1 | -1): void {
    const names = this.page.unwell();
    const at = names.indexOf(this.#name ?? '');
    const next = names.at(at < 0 ? (step === 1 ? 0 : -1) : (at + step) % names.length);
    if (next !== undefined && next !== this.#name) this.page.open(next, false);
  }

  /** Which of the nodes that are not well it is. */
  #place(): void {
    const names = this.page.unwell();
    const at = names.indexOf(this.#name ?? '');
    const all = `${count(names.length)} not well`;
    write(byId('sheetplace'), names.length > 0 && at >= 0 ? `${count(at + 1)} of ${all}` : all);
    for (const id of ['illbefore', 'illafter'])
      byId<HTMLButtonElement>(id).disabled = names.length === 0 || (names.length === 1 && at === 0);
  }

  /** The lines in place of those before, of which nothing but what has changed is written. */
  #tell(trouble: readonly TroubleInfo[]): void {
    const box = byId('sheettrouble');
    const rows = fill<HTMLElement>(box, Math.max(1, trouble.length), () => make('p'));
    if (trouble.length === 0) {
      set(rows[0] as Element, { class: undefined });
      write(rows[0] as Element, 'No trouble');
    }
    for (const [i, line] of trouble.entries()) {
      const { severity, nodes, what, why, lasting, since, times, jobs } = columnsOf(line, this.page.now(), true);
      const row = rows[i] as HTMLElement;
      row.className = line.dim === undefined ? line.severity : 'dim';
      const begun = since === '' ? '' : `${lasting}, since ${since}`;
      const whose = line.jobs === undefined ? '' : `jobs ${jobs.join('')}`;
      // Of a node they are all about it.
      const said = `${severity}: ${this.#name === undefined ? `${nodes.join('')} ` : ''}${what}${why}`;
      write(row, [said, begun, times, whose].filter(part => part !== '').join(' · '));
    }
  }

  #tellJobs(name: string): void {
    const jobs = this.page.jobsOf(name);
    const open = (place: number) => {
      const job = this.page.jobsOf(this.#name ?? '')[place];
      if (job !== undefined) this.page.openJob(job);
    };
    const buttons = fill(byId('sheetjobs'), jobs.length, place => button('', () => open(place)));
    for (const [i, { id, user, name: title, state, node_count }] of jobs.entries()) {
      const whose = user === '' ? '' : ` of ${user}`;
      const text = [`Job ${id}${whose}`, state, title, plural(node_count)].filter(Boolean).join(' · ');
      write(buttons[i] as Element, text);
    }
  }

  async #ask(path: string): Promise<void> {
    const answer = await answerTo<NodeInfo | JobAnswer>(path);
    if (this.#path !== path) return;
    if (typeof answer !== 'object') write(byId('sheetstate'), answer ?? 'The server does not answer.');
    else if ('job' in answer) this.#showJob(answer);
    else this.#show(answer);
    this.#timer = setTimeout(() => void this.#ask(path), this.#name === undefined ? JOB_MS : EVERY_MS);
  }

  #showJob(answer: JobAnswer): void {
    // Its number is above it.
    write(byId('sheetstate'), (answer.page.lines[0] ?? '').replace(/^job \S+ ?/, ''));
    this.#tell(answer.job.trouble);
    this.#nodes.show(answer, this.page.readings());
  }

  #show({ line, trouble, sections, node, history }: NodeInfo): void {
    const state = byId('sheetstate');
    // The name is above it.
    write(state, line.slice(node.name.length + 2));
    state.className = node.state;
    this.#tell(trouble);
    this.#place();
    this.#tellJobs(node.name);
    this.#timelines.show(history, this.page.readings());
    const shape = JSON.stringify(sections.map(({ title, facts }) => [title, facts.length]));
    if (shape !== this.#shape) {
      this.#shape = shape;
      byId('sections').replaceChildren(
        ...sections.map(({ title, facts }) =>
          make('section', {}, make('h3', {}, title), ...facts.map(() => make('p'))),
        ),
      );
    }
    for (const [i, { facts }] of sections.entries()) {
      const lines = (byId('sections').children[i] as HTMLElement).querySelectorAll('p');
      for (const [j, some] of facts.entries()) write(lines[j] as Element, some.join(' · '));
    }
  }
}
