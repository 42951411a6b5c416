// What can be done about the line of trouble that is chosen, below its row: its nodes on the map, its jobs, what changed
// then, its list, and the command that acknowledges it. Each has a key in the list.

import type { TroubleInfo } from '../../acks/info.js';
import { shellWordAs } from '../../text/unseen.js';
import { button, byId, make, set, show, write } from './dom.js';
import { plural } from './formats.js';

/** So many of its jobs can be opened from here. */
const JOBS = 3;

interface ActsPage {
  openJob(id: string): void;
  named(): string;
  /** Shows what changed about that time. */
  changedAt(ms: number): void;
}

export class TroubleActs {
  readonly element = byId('troubleacts');
  #line: TroubleInfo | undefined;
  #written = '';
  readonly #text = make('input', { readonly: true, 'aria-label': 'To copy', spellcheck: 'false' });
  readonly #said = make('span');

  constructor(private readonly page: ActsPage) {
    this.#text.addEventListener('focus', () => this.#text.select());
  }

  /** For the line that is chosen; undefined: there is none. */
  show(line: TroubleInfo | undefined): void {
    const { key = '', nodes, count = 0, since, jobs = [], dim } = line ?? {};
    const written = JSON.stringify([key, nodes, since, jobs, dim]);
    if (written === this.#written) return;
    const isOther = key !== this.#line?.key;
    [this.#line, this.#written] = [line, written];
    show(this.element, line !== undefined);
    if (isOther) this.#tell(this.#command, '');
    const act = (letter: string, text: string, isThere: boolean) =>
      isThere
        ? [button(text, () => this.press(letter), { 'aria-keyshortcuts': letter, title: `${letter} in the list` })]
        : [];
    const others = jobs.slice(1, JOBS).map(({ id, user }) => button(`job ${id} ${user}`, () => this.page.openJob(id)));
    const [job] = jobs;
    const focused = [...this.element.children].indexOf(document.activeElement as Element);
    this.element.replaceChildren(
      ...act('m', `${plural(count)} on the map`, nodes !== undefined),
      ...act('j', `job ${job?.id} ${job?.user}`, job !== undefined),
      ...others,
      ...act('e', 'what changed then', since !== undefined),
      ...act('c', 'copy the list', nodes !== undefined),
      ...act('a', 'acknowledge', dim !== 'ended'),
      this.#text,
      this.#said,
    );
    if (focused >= 0) (this.element.children[focused] as HTMLElement | undefined)?.focus();
  }

  get #command(): string {
    const key = shellWordAs(this.#line?.key ?? '');
    return this.#line?.dim === 'ended' ? '' : `beoboard ack ${key} --until +8h${this.page.named()}`;
  }

  #tell(text: string, said: string): void {
    this.#text.value = text;
    set(this.#text, { title: text });
    write(this.#said, said);
    if (said !== '') write(byId('announced'), said);
  }

  /** From a text field: pages without TLS have no other clipboard. */
  #copy(text: string): void {
    const before = document.activeElement as HTMLElement | null;
    this.#tell(text, '');
    this.#text.focus({ preventScroll: true });
    this.#text.select();
    const isCopied = document.execCommand('copy');
    this.#tell(text, isCopied ? 'copied' : 'Ctrl+C copies it');
    if (isCopied) before?.focus({ preventScroll: true });
    else this.#text.select();
  }

  has(key: string): boolean {
    return /^[mjeca]$/.test(key);
  }

  /** Does what the key stands for, if the line has it. */
  press(letter: string): void {
    const { nodes, since, jobs = [], dim } = this.#line ?? {};
    const [job] = jobs;
    if (letter === 'm' && nodes !== undefined) byId('field').focus();
    else if (letter === 'j' && job !== undefined) this.page.openJob(job.id);
    else if (letter === 'e' && since !== undefined) this.page.changedAt(Date.parse(since));
    else if (letter === 'c' && nodes !== undefined) this.#copy(nodes);
    else if (letter === 'a' && this.#line !== undefined && dim !== 'ended') this.#copy(this.#command);
  }
}
