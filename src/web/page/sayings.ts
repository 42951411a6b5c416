// What the page says of all nodes, and of one: the line of status, its beginning in large letters; the line about a cell.

import { oneLine } from '../../text/unseen.js';
import { numberOf, type ReadingInfo, STATES, type WallHead } from '../wire.js';
import { type Cells, isMeasured, isUnhealthy, stateOf, valueIn } from './cells.js';
import { byId, make, show, write } from './dom.js';
import { quantity } from './formats.js';

/** A number and what is counted, in the form of the line: a state, or all nodes. They are never on two lines. */
const COUNTED = new RegExp(`\\d+ (?:${[...STATES, 'unhealthy now', 'unhealthy', 'nodes?'].join('|')})\\b`, 'g');

/** The part of the line in large letters, and the rest, except the text about a mirror, which has its own place. */
function partsOf(line: string, mirror = ''): [large: string, rest: string] {
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

/** A line about a node, in whose cell is this reading. `link`: the one behind which it is, if nothing is heard on it. */
export function cellText(
  cells: Cells,
  cell: number,
  reading: ReadingInfo | undefined,
  link: string | undefined,
): string {
  const bits = cells.values[cell] as number;
  const state = stateOf(bits);
  const value =
    reading === undefined || !isMeasured(bits)
      ? `${reading?.title ?? 'reading'} not measured`
      : `${reading.title} ${quantity(numberOf(reading, valueIn(bits)), reading.unit)}${state === 'live' ? '' : ' when last heard'}`;
  const behind = link === undefined ? [] : [`behind ${link}, on which nothing is heard`];
  return [cells.names[cell] ?? '?', state, ...(isUnhealthy(bits) ? ['unhealthy'] : []), value, ...behind].join(' · ');
}

export class Headline {
  readonly #line = byId('line');
  readonly #rest = byId('rest');
  readonly #mirror = byId('mirror');
  #text = '';

  show({ line, mirror = '' }: Pick<WallHead, 'line' | 'mirror'>): void {
    const [large, rest] = partsOf(line, mirror);
    if (this.#text !== large) {
      this.#text = large;
      this.#line.replaceChildren(...coloured(oneLine(large)));
      this.fit();
    }
    write(this.#rest, rest);
    write(this.#mirror, mirror.slice(0, 1).toUpperCase() + mirror.slice(1));
    show(this.#mirror, mirror !== '');
  }

  /** Its room is the same whatever it says: a longer text is smaller. */
  fit(): void {
    this.#line.className = '';
    if (this.#line.scrollHeight > this.#line.clientHeight + 1) this.#line.className = 'long';
  }
}
