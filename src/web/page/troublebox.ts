// The box of trouble: the server's lines in the server's order, in rows of one height. A row belongs to its line's key:
// selection, the keyboard's place and the reader's follow it while others come and go. While somebody is in it or in the
// map, no row comes, goes or moves.

import type { TroubleInfo } from '../../acks/info.js';
import type { WallHead } from '../wire.js';
import { byId, isHeld, make, write } from './dom.js';
import { count, zone } from './formats.js';
import type { TroubleActs } from './troubleacts.js';
import { columnsOf, lastingText, partsOf } from './troubletexts.js';

interface TroubleRow {
  readonly element: HTMLElement;
  line: TroubleInfo;
  written: string;
  /** Its height, px. */
  high: number;
}

/** The list has so many lines; twelve only in a window that is so high. It has fewer when so long fewer were enough. */
const HEIGHTS = [1, 6, 12] as const;
const HIGH_PX = 1080;
const QUIET_MS = 600_000;

const wellText = ({ live = 0 }: WallHead['counts']) =>
  live > 0 ? `No trouble. ${count(live)} live.` : 'No node has reported: start beoboard send on one';

/** A host list that folds at the commas between names. */
const foldable = (nodes: string) =>
  partsOf(nodes).map((text, i, all) => make('span', {}, i < all.length - 1 ? `${text},` : text));

/** Writes a row, with new elements, which have not moved from anywhere. */
function fill(row: HTMLElement, columns: ReturnType<typeof columnsOf>): void {
  const { severity, nodes, what, why, lasting, since, times, jobs } = columns;
  const part = (name: string, ...children: (Node | string)[]) => make('span', { class: name }, ...children);
  row.replaceChildren(
    part('severity', severity),
    part('nodes', ...nodes.map(text => make('span', {}, ...foldable(text)))),
    part('what', what, make('i', {}, why)),
    part('since', `${lasting} `, ...since.split(/(?=,)/).map(text => make('i', {}, text))),
    part('times', times),
    part('jobs', ...jobs.map(text => make('span', {}, text))),
  );
}

export class TroubleBox {
  readonly #frame = byId('troubleframe');
  readonly #list = byId('trouble');
  readonly #more = byId('troublemore');
  readonly #rows = new Map<string, TroubleRow>();
  #keys: readonly string[] = [];
  #left = 0;
  #now = 0;
  /** The keys of the server's lines, shown or not. */
  #told: ReadonlySet<string> = new Set();
  #width = 0;
  #selected: string | undefined;
  #lastOf: readonly [key: string, nodes: string] = ['', ''];
  #here: string | undefined;
  #number = 0;
  /** Where each row begins, and the last ends, px: what can be done about the open one is below it. */
  #tops: readonly number[] = [];
  /** Its lines, and since when fewer would have been enough, by the server's clock. */
  #lines = 1;
  #quietSince: number | undefined;
  /** What is not shown yet, because somebody is in the list or the map. */
  #waiting: WallHead | undefined;

  /** `choose`: called with the key of a line that the user chooses. */
  constructor(
    private readonly choose: (key: string) => void,
    private readonly acts: TroubleActs,
  ) {
    const list = this.#list;
    const keyAt = ({ target }: Event) => (target as Element).closest<HTMLElement>('[role="option"]')?.dataset.key;
    // Before it gets the focus, which shows the whole text of the keyboard's row.
    list.addEventListener('pointerdown', event => {
      this.#here = keyAt(event) ?? this.#here;
    });
    list.addEventListener('click', event => {
      const key = keyAt(event);
      if (key !== undefined) choose(key);
    });
    list.addEventListener('keydown', event => this.#press(event));
    list.addEventListener('focus', () => {
      this.#here ??= this.#keys[0];
      this.#write();
    });
    list.addEventListener('blur', () => this.#write());
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#keys.indexOf(this.#here ?? '');
    const last = this.#keys.length - 1;
    const to = { ArrowUp: Math.max(0, at - 1), ArrowDown: Math.min(last, at + 1), Home: 0, End: last }[event.key];
    if (to !== undefined) this.#goTo(this.#keys[to]);
    else if ((event.key === 'Enter' || event.key === ' ') && at >= 0) this.choose(this.#here as string);
    else if (at < 0 || !this.acts.has(event.key)) return;
    else {
      if (this.#selected !== this.#here) this.choose(this.#here as string);
      this.acts.press(event.key);
      // Elsewhere on the page a key means something else.
      event.stopPropagation();
    }
    event.preventDefault();
  }

  #goTo(key: string | undefined): void {
    this.#here = key;
    this.#write();
    this.#reveal(key);
  }

  /** Scrolls the box, and never the page. */
  #reveal(key: string | undefined): void {
    const row = this.#rows.get(key ?? '')?.element.getBoundingClientRect();
    if (row === undefined) return;
    const frame = this.#frame.getBoundingClientRect();
    const bottom = row.bottom + (key === this.#selected ? this.acts.element.offsetHeight : 0);
    if (row.top < frame.top || bottom - row.top > frame.height) this.#frame.scrollTop += row.top - frame.top;
    else if (bottom > frame.bottom) this.#frame.scrollTop += bottom - frame.bottom;
  }

  /** The nodes of a line that is there, as a host list, or was when it was selected; otherwise none. */
  nodesOf(key: string): string {
    const line = this.#rows.get(key)?.line;
    if (line !== undefined || this.#lastOf[0] !== key) this.#lastOf = [key, line?.nodes ?? ''];
    return this.#lastOf[1];
  }

  isOver(key: string | undefined): boolean {
    return this.#now > 0 && key !== undefined && !this.#told.has(key);
  }

  select(key: string | undefined): void {
    if (this.#selected === key) return;
    this.#selected = key;
    const hadFocus = this.acts.element.contains(document.activeElement);
    this.#write();
    this.layOut();
    this.#goTo(key ?? this.#here);
    if (hadFocus && key === undefined) this.#list.focus();
  }

  get #isHeld(): boolean {
    if (this.#keys.length === 0 || document.documentElement.dataset.view === 'wall') return false;
    return isHeld('troublepart', 'map');
  }

  /** A list whose rows stay: lines that have gone are dimmed, and those that have come are counted. */
  #held(head: WallHead): WallHead {
    const { trouble } = head;
    const now = new Map(trouble.map(line => [line.key, line]));
    const lines = this.#keys.map(key => this.#rows.get(key)?.line as TroubleInfo);
    const kept = lines.map(line => now.get(line.key) ?? { ...line, dim: 'ended' });
    const come = trouble.filter(({ key, dim }) => dim === undefined && !this.#rows.has(key));
    const worst = come.filter(({ severity }) => severity === 'critical').length;
    const critical = worst > 0 ? `, ${count(worst)} critical` : '';
    write(byId('troublenew'), come.length > 0 ? `${count(come.length)} new${critical}` : '');
    return { ...head, trouble: kept };
  }

  show(head: WallHead): void {
    this.#told = new Set(head.trouble.map(({ key }) => key));
    this.#waiting = this.#isHeld ? head : undefined;
    if (this.#waiting === undefined) write(byId('troublenew'), '');
    this.#show(this.#waiting === undefined ? head : this.#held(head));
  }

  #show({ trouble, trouble_more, now_ms, state, counts, unhealthy }: WallHead): void {
    const before = this.#keys;
    const keys = new Set(trouble.map(({ key }) => key));
    /** The line itself, or the one that took its place. */
    const successor = (key: string | undefined) => {
      if (key === undefined || keys.has(key)) return key;
      const at = before.indexOf(key);
      return [...before.slice(at), ...before.slice(0, at).reverse()].find(other => keys.has(other));
    };
    // Who has scrolled goes on reading the same line at the same place.
    const top = this.#frame.scrollTop;
    const read = top > 0 ? successor(before.findLast((_, i) => this.#offset(i) <= top)) : undefined;
    const offset = read === undefined ? 0 : this.#offset(before.indexOf(read)) - top;
    this.#here = successor(this.#here);
    this.#keys = trouble.map(({ key }) => key);
    [this.#left, this.#now] = [trouble_more, now_ms];
    for (const [key, { element }] of this.#rows)
      if (!keys.has(key)) {
        element.remove();
        this.#rows.delete(key);
      }
    for (const [i, line] of trouble.entries()) {
      const row = this.#rows.get(line.key) ?? this.#add(line);
      row.line = line;
      if (this.#list.children[i] !== row.element) this.#list.insertBefore(row.element, this.#list.children[i] ?? null);
    }
    this.layOut();
    if (read !== undefined) this.#frame.scrollTop = this.#offset(this.#keys.indexOf(read)) - offset;
    else if (before.length === 0) this.#reveal(this.#selected);
    // The counts may be newer than the lines.
    const isWell = state === 'ok' && unhealthy === 0 && (counts.silent ?? 0) === 0;
    if (trouble.length === 0 && trouble_more === 0) write(this.#more, isWell ? wellText(counts) : '');
  }

  /** The server's clock goes on. */
  tick(now: number): void {
    this.#now = now;
    if (this.#waiting !== undefined && !this.#isHeld) this.show(this.#waiting);
    else this.#write();
  }

  #offset(place: number): number {
    return this.#tops[place] ?? 0;
  }

  get mostLines(): number {
    return innerHeight >= HIGH_PX ? 12 : 6;
  }

  /** The list grows at once, and shrinks when fewer lines were enough for long; neither while somebody is in it. */
  #fit(): void {
    if (this.#now === 0 || this.#waiting !== undefined) return;
    const most = this.mostLines;
    const needed = Math.min(most, HEIGHTS.find(lines => lines >= this.#keys.length) ?? most);
    if (needed >= this.#lines) this.#quietSince = undefined;
    else this.#quietSince ??= this.#now;
    const isQuiet = this.#quietSince !== undefined && this.#now - this.#quietSince >= QUIET_MS;
    if (needed > this.#lines || isQuiet) this.#lines = needed;
    this.#frame.style.setProperty('--lines', String(this.#lines));
  }

  #add(line: TroubleInfo): TroubleRow {
    const element = make('div', { role: 'option', id: `trouble${this.#number++}` });
    element.dataset.key = line.key;
    const row = { element, line, written: '', high: 0 };
    this.#rows.set(line.key, row);
    return row;
  }

  /** Writes the rows whose text is another one. */
  #write(): void {
    const hasFocus = document.activeElement === this.#list;
    const isWall = document.documentElement.dataset.view === 'wall';
    for (const [key, row] of this.#rows) {
      const [isSelected, isHere] = [key === this.#selected, hasFocus && key === this.#here];
      const isWhole = (isSelected || isHere) && !isWall;
      const written = `${isSelected} ${isHere} ${isWhole} ${zone(this.#now)} ${lastingText(row.line, this.#now)} ${JSON.stringify(row.line)}`;
      if (written === row.written) continue;
      row.written = written;
      const { element, line } = row;
      element.className = `${line.severity}${line.dim ? ' dim' : ''}${isHere ? ' here' : ''}${isWhole ? ' whole' : ''}`;
      element.setAttribute('aria-selected', String(isSelected));
      fill(element, columnsOf(line, this.#now, isWhole));
      // While rows stay, a sentence that gets longer does not push them.
      element.style.height = this.#waiting === undefined || isWhole ? '' : `${row.high}px`;
      // It covers whole rows. To ask for the height of each would lay out the page as often.
      if (isWhole) element.style.height = this.#wholeRows(element.offsetHeight);
    }
    const row = hasFocus ? this.#rows.get(this.#here ?? '') : undefined;
    if (row === undefined) this.#list.removeAttribute('aria-activedescendant');
    else this.#list.setAttribute('aria-activedescendant', row.element.id);
  }

  #wholeRows(height: number): string {
    return `${Math.ceil(height / this.#height - 0.01) * this.#height}px`;
  }

  /** Of a row, px. */
  get #height(): number {
    return this.#more.getBoundingClientRect().height || 1;
  }

  /**
   * Gives each row its place, by transforms, which move nothing else. On a wall two columns of whole rows, and as the last
   * one the number of those that have no room.
   */
  layOut(): void {
    const height = this.#height;
    const isWall = document.documentElement.dataset.view === 'wall';
    this.#fit();
    this.acts.show(isWall ? undefined : this.#rows.get(this.#selected ?? '')?.line);
    const { clientWidth } = this.#frame;
    // What was cut, or covered rows, was so in that width.
    if (this.#width !== clientWidth) for (const row of this.#rows.values()) row.written = '';
    this.#width = clientWidth;
    this.#write();
    const actsHeight = this.acts.element.offsetHeight;
    const open = isWall ? -1 : this.#keys.indexOf(this.#selected ?? '');
    let top = 0;
    const tops = this.#keys.map((key, i) => {
      const row = this.#rows.get(key) as TroubleRow;
      const isWhole = row.element.classList.contains('whole');
      if (row.high === 0 || !(isWhole || this.#waiting !== undefined)) row.high = row.element.offsetHeight;
      top += i === open ? row.element.offsetHeight + actsHeight : row.high;
      return top;
    });
    this.#tops = [0, ...tops];
    const each = isWall ? Math.max(1, Math.floor(this.#frame.clientHeight / height)) : Number.POSITIVE_INFINITY;
    const all = this.#keys.length + this.#left;
    const shown = all <= 2 * each ? this.#keys.length : Math.min(this.#keys.length, 2 * each - 1);
    const place = (i: number) => {
      const column = Math.floor(i / each);
      const top = isWall ? (i - column * each) * height : this.#offset(i);
      return `translate(calc(${column} * (100% + var(--gap))), ${top}px)`;
    };
    for (const [i, key] of this.#keys.entries()) {
      const { element } = this.#rows.get(key) as TroubleRow;
      element.style.transform = place(i);
      element.style.visibility = i < shown ? '' : 'hidden';
    }
    this.#list.style.height = isWall ? '' : `${this.#offset(shown)}px`;
    this.acts.element.style.transform = `translateY(${this.#offset(open + 1) - actsHeight}px)`;
    this.#more.style.transform = place(shown);
    if (all > 0) write(this.#more, all > shown ? `+${count(all - shown)} more` : '');
  }
}
