// One node on a sheet: its trouble above all, its last minutes, its jobs, and the facts of `show`, section by section.
// It is beside the map, and closes with Escape.

import type { TroubleInfo } from '../../trouble/info.js';
import type { ReadingInfo } from '../wire.js';
import { byId, make, write } from './dom.js';
import { count, plural } from './formats.js';
import type { JobInfo } from './jobview.js';
import { request } from './requests.js';
import { type NodeHistory, Timelines } from './timelines.js';
import { columnsOf } from './troublebox.js';

/** How often the sheet is updated, ms. */
const EVERY_MS = 2000;

/** The answer of `nodes/NAME`, as far as the sheet shows it. */
interface NodeInfo {
  /** Its state and evidence in one line. */
  readonly line: string;
  /** Absent: an older server. */
  readonly trouble?: readonly TroubleInfo[];
  /** Facts that belong together are in one list. */
  readonly sections: readonly { readonly title: string; readonly facts: readonly (readonly string[])[] }[];
  readonly node: { readonly name: string; readonly state: string };
  readonly history: NodeHistory;
}

/** What the sheet asks of the page. */
export interface SheetPage {
  close(): void;
  /** Opens the sheet of another node. */
  open(name: string): void;
  readings(): readonly ReadingInfo[];
  /** The jobs on a node, of which a click selects all nodes. */
  jobsOf(name: string): readonly JobInfo[];
  select(nodes: string): void;
  /** The nodes that are not well, of the selection if there is one, in the order of the map. */
  unwell(): readonly string[];
  /** The server's clock, ms. */
  now(): number;
}

export class Sheet {
  readonly #element = byId('sheet');
  readonly #page: SheetPage;
  #name: string | undefined;
  #timer: number | undefined;
  #shape = '';
  #timelines = new Timelines();

  constructor(page: SheetPage) {
    this.#page = page;
    this.#element.addEventListener('keydown', event => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      event.preventDefault();
      event.stopPropagation();
      this.#step(event.key === 'ArrowLeft' ? -1 : 1);
    });
  }

  get isOpen(): boolean {
    return this.#name !== undefined;
  }

  /** Opens the sheet of a node; undefined: closes it. */
  open(name: string | undefined): void {
    if (name === this.#name) return;
    clearTimeout(this.#timer);
    this.#name = name;
    this.#shape = '';
    this.#element.hidden = name === undefined;
    if (name === undefined) this.#element.replaceChildren();
    else {
      this.#frame(name);
      void this.#ask(name);
    }
  }

  #frame(name: string): void {
    const close = make('button', { type: 'button', id: 'close', 'aria-label': 'Close' }, '×');
    close.addEventListener('click', () => this.#page.close());
    const button = (id: string, label: string, text: string, step: 1 | -1) => {
      const element = make('button', { type: 'button', id, 'aria-label': label }, text);
      element.addEventListener('click', () => this.#step(step));
      return element;
    };
    const title = make('h2', { id: 'sheetname', tabindex: '-1' }, name);
    const focused = document.activeElement?.id ?? '';
    this.#timelines = new Timelines();
    this.#element.replaceChildren(
      make('div', { class: 'head' }, title, close),
      make(
        'div',
        { id: 'sheetsteps' },
        button('illbefore', 'The node before that is not well', '‹', -1),
        make('span', { id: 'sheetplace' }),
        button('illafter', 'The next node that is not well', '›', 1),
      ),
      make('div', { id: 'sheettrouble', role: 'group', 'aria-label': 'Trouble', tabindex: '0' }),
      make('p', { id: 'sheetstate' }, ' '),
      this.#timelines.element,
      make('div', { id: 'sheetjobs' }),
      make('div', { id: 'sections' }),
    );
    this.#place();
    // Somebody who steps with a button goes on with it.
    (focused === 'illbefore' || focused === 'illafter' ? byId(focused) : title).focus();
  }

  /** To the next node that is not well, or the one before, and around. */
  #step(step: 1 | -1): void {
    const names = this.#page.unwell();
    const at = names.indexOf(this.#name ?? '');
    const next = names.at(at < 0 ? (step === 1 ? 0 : -1) : (at + step) % names.length);
    if (next !== undefined && next !== this.#name) this.#page.open(next);
  }

  /** Which of the nodes that are not well it is. */
  #place(): void {
    const names = this.#page.unwell();
    const at = names.indexOf(this.#name ?? '');
    const all = `${count(names.length)} not well`;
    write(byId('sheetplace'), names.length > 0 && at >= 0 ? `${count(at + 1)} of ${all}` : all);
    for (const id of ['illbefore', 'illafter'])
      byId<HTMLButtonElement>(id).disabled = names.length === 0 || (names.length === 1 && at === 0);
  }

  /** The lines in place of those before, of which nothing but what has changed is written. */
  #tell(trouble: readonly TroubleInfo[]): void {
    const box = byId('sheettrouble');
    while (box.children.length > trouble.length) box.lastElementChild?.remove();
    while (box.children.length < trouble.length) box.append(make('p'));
    for (const [i, line] of trouble.entries()) {
      const { what, why, since, until, times, jobs } = columnsOf(line, this.#page.now(), true);
      const row = box.children[i] as HTMLElement;
      row.className = line.dim === undefined ? line.severity : 'dim';
      const begun = since === 'now' ? since : `since ${since}${until}`;
      const whose = line.jobs === undefined ? '' : `jobs ${jobs.join('')}`;
      write(row, [`${line.severity}: ${what}${why}`, begun, times, whose].filter(part => part !== '').join(' · '));
    }
    if (trouble.length === 0) box.append(make('p', {}, 'No trouble'));
  }

  /** Its jobs, each a button that selects the nodes of the job. */
  #tellJobs(name: string): void {
    const jobs = this.#page.jobsOf(name);
    const box = byId('sheetjobs');
    while (box.children.length > jobs.length) box.lastElementChild?.remove();
    for (const [i, { id, user, name: title, state, nodes, node_count }] of jobs.entries()) {
      if (box.children[i] === undefined) box.append(make('button', { type: 'button' }));
      const button = box.children[i] as HTMLButtonElement;
      const whose = user === undefined || user === '' ? '' : ` of ${user}`;
      write(button, [`Job ${id}${whose}`, state, title ?? '', plural(node_count)].filter(Boolean).join(' · '));
      button.onclick = () => this.#page.select(nodes);
    }
  }

  async #ask(name: string): Promise<void> {
    try {
      const response = await request(`api/v1/nodes/${encodeURIComponent(name)}`);
      if (this.#name !== name) return;
      if (response.ok) this.#show((await response.json()) as NodeInfo);
      else
        write(
          byId('sheetstate'),
          response.status === 404 ? 'This node is not on the board.' : (await response.text()).trim(),
        );
    } catch {
      if (this.#name === name) write(byId('sheetstate'), 'The server does not answer.');
    }
    if (this.#name === name) this.#timer = setTimeout(() => void this.#ask(name), EVERY_MS);
  }

  #show({ line, trouble = [], sections, node, history }: NodeInfo): void {
    if (this.#name !== node.name) return;
    const state = byId('sheetstate');
    // The name is above it.
    write(state, line.slice(node.name.length + 2));
    state.className = node.state;
    this.#tell(trouble);
    this.#place();
    this.#tellJobs(node.name);
    this.#timelines.show(history, this.#page.readings());
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
