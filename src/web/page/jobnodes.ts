// The page of a job on the sheet: what it is, and a row for each of its nodes as the server writes it, who differs most
// from the others first, with the last 15 minutes of each.

import type { JobAnswer } from '../answers.js';
import type { ReadingInfo } from '../wire.js';
import { draw, fill, make, set, write, writeRows } from './dom.js';
import { plural } from './formats.js';
import { axisOf, bandOf, HEIGHT, pathOf, picture } from './timelines.js';

export class JobNodesView {
  readonly #lines = make('div', { id: 'joblines', role: 'group', 'aria-label': 'The job', tabindex: '0' });
  readonly #head = make('tr');
  readonly #body = make('tbody');
  readonly element = make(
    'div',
    {},
    this.#lines,
    make(
      'div',
      { id: 'jobnodes', role: 'region', 'aria-label': 'Nodes of the job', tabindex: '0' },
      make('table', { class: 'members' }, make('thead', {}, this.#head), this.#body),
    ),
  );
  #members: JobAnswer['job']['members'] = [];

  /** `open`: called with the name of a node that is clicked. */
  constructor(private readonly open: (name: string) => void) {}

  show({ job, page, history }: JobAnswer, readings: readonly ReadingInfo[]): void {
    const { notes, columns, rows, more } = page;
    const reading = readings.find(({ name }) => name === history.readings.name);
    const lines = [...page.lines.slice(1), ...notes, ...(more > 0 ? [`${plural(more)} more`] : [])];
    for (const [i, line] of fill(this.#lines, lines.length, () => make('p')).entries()) write(line, lines[i] ?? '');
    const titles = [...columns.map(({ title }) => title), `15 min: ${reading?.title}`];
    for (const [i, title] of fill(this.#head, titles.length, () => make('th', { scope: 'col' })).entries())
      write(title, titles[i] ?? '');
    this.#members = job.members;
    this.element.style.setProperty('--longest', String(Math.max(0, ...rows.map(([name = '']) => name.length))));
    const texts = rows.map(row => [...row, '']);
    const written = writeRows(this.#body, texts, row => this.open(this.#members[row]?.name ?? ''));
    for (const [i, row] of [this.#head, ...written].entries()) {
      for (const [at, { left }] of columns.entries()) set(row.cells[at] as Element, { class: left && 'left' });
      const [member, past] = [this.#members[i - 1], history.nodes[i - 1]];
      if (member === undefined || past === undefined || reading === undefined) continue;
      row.className = member.state !== 'live' ? member.state : member.problems.length > 0 ? 'unhealthy' : '';
      const [strip] = fill(row.lastElementChild as Element, 1, () => picture(HEIGHT));
      strip?.replaceChildren(...this.#strip(past, history, reading));
    }
  }

  /** Where a node was not live, and the curve of the reading. */
  #strip(
    node: JobAnswer['history']['nodes'][number],
    { since_ms, states, readings }: JobAnswer['history'],
    reading: ReadingInfo,
  ) {
    const begin = axisOf(since_ms, states.step_ms, node);
    const path = pathOf(node.values, reading, (readings.since_ms - begin) / 1000, readings.step_ms / 1000);
    return [
      ...bandOf(node, (since_ms - begin) / 1000, states.step_ms / 1000, HEIGHT),
      draw('path', { class: 'line', d: path }),
    ];
  }
}
