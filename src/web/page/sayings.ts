// What the page says of all nodes, and of one: the line of status, its beginning in large letters; the line about a cell.

import type { KeptEvent } from '../../presentation/shapes.js';
import { fold, NameRanges } from '../../text/hostlists.js';
import { numberOf, type ReadingInfo, STATES, type WallHead } from '../wire.js';
import { type Cells, isMeasured, isUnhealthy, stateOf, valueIn } from './cells.js';
import { byId, make, oneLine, show, write } from './dom.js';
import { count, moment, plural, quantity } from './formats.js';
import { answerTo } from './requests.js';

/** So many events are told of a line of trouble that is over. */
const PAST_TOLD = 3;

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

/** A value of a reading, undefined where nothing was measured, and what is said behind it. */
function valueText(reading: ReadingInfo | undefined, value: number | undefined, behind: string): string {
  if (reading === undefined || value === undefined) return `${reading?.title ?? 'reading'} not measured`;
  return `${reading.title} ${quantity(numberOf(reading, value), reading.unit)}${behind}`;
}

/** A line about a node, in whose cell is this reading. `link`: the one behind which it is, if nothing is heard on it. */
export function cellText(cells: Cells, cell: number, reading: ReadingInfo | undefined, link: string | undefined) {
  const bits = cells.values[cell] as number;
  const state = stateOf(bits);
  const measured = isMeasured(bits) ? valueIn(bits) : undefined;
  const value = valueText(reading, measured, state === 'live' ? '' : ' when last heard');
  const behind = link === undefined ? [] : [`behind ${link}, on which nothing is heard`];
  return [cells.names[cell] ?? '?', state, ...(isUnhealthy(bits) ? ['unhealthy'] : []), value, ...behind].join(' · ');
}

/** A line about nodes that stand together on the map. */
export function togetherText(
  cells: Cells,
  { first, count: size }: { readonly first: number; readonly count: number },
  reading: ReadingInfo | undefined,
): string {
  const { states, unhealthy, measured, sum } = cells.tally(first, size);
  const name = cells.layout.groups.find(group => group.first === first && group.count === size)?.name;
  const told = [...STATES.entries()].flatMap(([i, state]) => (states[i] ? [`${count(states[i])} ${state}`] : []));
  const mean = valueText(reading, measured === 0 ? undefined : sum / measured, ' on average');
  const parts = [name ?? fold(cells.names.slice(first, first + size)), plural(size), ...told];
  return [...parts, ...(unhealthy > 0 ? [`${count(unhealthy)} unhealthy`] : []), mean].join(' · ');
}

/** The events of kinds of trouble that have other names. */
const EVENTS_OF = new Map(
  Object.entries({
    ...{ silent: 'silent,heard_again', together: 'silent,heard_again,dark,lit', link: 'link_down,link_up,dark,lit' },
    ...{ odd: 'odd,odd_ended', receiver: 'stalled,resumed', journal: 'begin,end', drops: 'overflow' },
    ...{ refused: 'refusal', starting: 'takeover', kernel: 'boot' },
  }),
);

/** The last events of a line of trouble that is over, by its key. */
export async function eventsOf(key: string): Promise<KeptEvent[]> {
  const [kind = '', ...causes] = key.split(':');
  const cause = causes.join(':').replace(/:?at-[\d-]+(:\d+)?$/, '');
  const query = new URLSearchParams({ last: '100', kind: EVENTS_OF.get(kind) ?? kind });
  const said = await answerTo<{ events: KeptEvent[] }>(`api/v1/events?${query}`);
  const isAbout = ({ nodes = '', text }: KeptEvent) => text.includes(cause) || NameRanges.of(nodes)?.has(cause);
  return typeof said === 'object' ? said.events.filter(isAbout).slice(-PAST_TOLD) : [];
}

/** What a line of trouble was that is shown no more, as its events have it; `wasSeen`: this page has shown it. */
export function pastText(events: readonly KeptEvent[] | undefined, more: number, wasSeen: boolean): string {
  const over = `this trouble is over${more > 0 ? ', or further down the list' : ''}`;
  if (events === undefined || (events.length === 0 && wasSeen)) return over;
  if (events.length === 0) return 'there is no such trouble, and nothing is known of it';
  return `${over}; the last of its kind: ${events.map(({ time, text }) => `${moment(Date.parse(time))} ${text}`).join('; ')}`;
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
