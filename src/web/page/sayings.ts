// The head of the page: the line of status in large letters, and its sentences, each of which selects its nodes.

import { oneLine } from '../../text/unseen.js';
import { type Head, type SentenceInfo, STATES } from '../wire.js';
import { byId, make, show, write } from './dom.js';

/** A number and the word of a state, in the form of the line. */
const COUNTED = new RegExp(`\\d+ (?:${[...STATES, 'unhealthy'].join('|')})\\b`, 'g');

/** The part of the line in large letters, and the rest, except the text about a mirror, which has its own place. */
export function partsOf(line: string, mirror = ''): [large: string, rest: string] {
  const [large = '', ...rest] = line.split('; ');
  return [large, rest.filter(part => part !== mirror).join('; ')];
}

/** The text, with the numbers of states in their colours. */
function coloured(text: string): (Node | string)[] {
  const pieces: (Node | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(COUNTED)) {
    pieces.push(text.slice(end, match.index));
    pieces.push(make('b', { class: match[0].split(' ')[1] as string }, match[0]));
    end = match.index + match[0].length;
  }
  pieces.push(text.slice(end));
  return pieces;
}

export class Headline {
  readonly #line = byId('line');
  readonly #rest = byId('rest');
  readonly #mirror = byId('mirror');
  readonly #sentences = byId('sentences');
  readonly #select: (nodes: string) => void;
  #text = '';
  #written = '';

  /** `select`: called with the host list of a sentence that the user chooses. */
  constructor(select: (nodes: string) => void) {
    this.#select = select;
  }

  show({ line, mirror = '', sentences }: Pick<Head, 'line' | 'mirror' | 'sentences'>): void {
    const [large, rest] = partsOf(line, mirror);
    if (this.#text !== large) {
      this.#text = large;
      this.#line.replaceChildren(...coloured(oneLine(large)));
    }
    write(this.#rest, rest);
    show(this.#rest, rest !== '');
    write(this.#mirror, mirror.slice(0, 1).toUpperCase() + mirror.slice(1));
    show(this.#mirror, mirror !== '');
    const text = JSON.stringify(sentences);
    if (this.#written === text) return;
    this.#written = text;
    this.#update(sentences);
  }

  /** Updates the items in place: one with the keyboard's focus keeps it while its text changes. */
  #update(sentences: readonly SentenceInfo[]): void {
    const list = this.#sentences;
    while (list.children.length > sentences.length) list.lastElementChild?.remove();
    for (const [i, { kind, text, nodes }] of sentences.entries()) {
      const item = (list.children[i] as HTMLLIElement | undefined) ?? list.appendChild(make('li'));
      item.className = `kind-${kind}`;
      const tag = nodes === undefined ? 'span' : 'button';
      let inner = item.firstElementChild as HTMLElement | null;
      if (inner?.localName !== tag) {
        inner = make(tag, tag === 'button' ? { type: 'button' } : {});
        item.replaceChildren(inner);
        if (tag === 'button') inner.addEventListener('click', () => this.#select(item.dataset.nodes ?? ''));
      }
      item.dataset.nodes = nodes ?? '';
      write(inner, text);
    }
  }
}
