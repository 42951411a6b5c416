// The river on its canvas: an off-screen picture with one pixel per second, of which each tick paints one column,
// scaled to the width of the page with the newest at the right. Nothing is drawn while it is out of sight.

import { fill, make, oncePerFrame, set, surface, watchSight, write } from './dom.js';
import { clock, onAxis } from './formats.js';
import type { Inks } from './inks.js';
import { type River, type RiverInks, riverInks, SECONDS } from './riverrows.js';

/** Heights of a row, px; lower rows have no gap and no label. */
const ROW_MOST = 44;
const GAPPED_FROM = 5;
const LABELLED_FROM = 11;

interface RiverElements {
  readonly flow: HTMLCanvasElement;
  readonly rows: HTMLElement;
  readonly times: HTMLElement;
  readonly frame: HTMLElement;
}

export class RiverView {
  readonly #context: CanvasRenderingContext2D;
  readonly #picture = document.createElement('canvas');
  #river: River | undefined;
  #inks: RiverInks | undefined;
  #names: readonly string[] = [];
  #unit = 1;
  #high: number = ROW_MOST;
  #gap = 1;
  #room = 0;
  #most = ROW_MOST;
  /** The most rows with this choice. Their height stays: nodes that leave what the user chose move nothing below it. */
  #fullest = 0;
  /** The width of a letter of the time axis, px. */
  #letter = 1;
  #isInSight = false;
  #minute: number | undefined;
  /** The first second whose column is not in the picture yet. */
  #from = 0;
  readonly #request = oncePerFrame(() => this.#draw());

  constructor(private readonly elements: RiverElements) {
    this.#context = surface(elements.flow);
    watchSight(elements.frame, isInSight => {
      this.#isInSight = isInSight;
      this.#request();
    });
  }

  /** Sets the rows; `names`: of the rows; `isOther`: the user chose something else. */
  show(river: River, names: readonly string[], isOther: boolean): void {
    if (isOther) this.#fullest = 0;
    this.#river = river;
    this.#names = names;
    this.layOut();
  }

  setInks(inks: Inks): void {
    this.#inks = riverInks(inks.scale, part => (part === 'unhealthy' ? inks.unhealthy : inks.states[part]), inks.page);
    this.repaint();
  }

  /** The greatest height of the river, and of a row, px. */
  fit(height: number, most = ROW_MOST): void {
    if (this.#room === height && this.#most === most) return;
    [this.#room, this.#most] = [height, most];
    this.layOut();
  }

  layOut(): void {
    const river = this.#river;
    if (river === undefined) return;
    const { flow, rows, times, frame } = this.elements;
    this.#unit = window.devicePixelRatio || 1;
    this.#fullest = Math.max(this.#fullest, river.rows);
    const rowIn = (room: number, rows: number) =>
      Math.min(Math.floor(this.#most * this.#unit), Math.max(1, Math.floor(room / Math.max(1, rows))));
    const room = rowIn(this.#room * this.#unit, this.#fullest) * this.#fullest;
    this.#high = rowIn(room, river.rows);
    const wanted = this.#high / this.#unit;
    this.#gap = wanted >= GAPPED_FROM ? Math.max(1, Math.round(this.#unit)) : 0;
    const high = this.#high * river.rows;
    frame.style.height = `${high / this.#unit}px`;
    frame.style.marginBottom = `${(room - high) / this.#unit}px`;
    rows.style.lineHeight = `${wanted - 1}px`;
    this.#letter = 0.6 * Number.parseFloat(getComputedStyle(times).fontSize);
    rows.replaceChildren(
      ...(wanted < LABELLED_FROM
        ? []
        : this.#names.map((name, row) => {
            const label = make('span', { title: name }, name);
            label.style.top = `${(row * this.#high) / this.#unit}px`;
            label.style.height = `${wanted - 1}px`;
            return label;
          })),
    );
    flow.width = Math.max(1, Math.round(flow.clientWidth * this.#unit));
    flow.height = high;
    this.#picture.width = SECONDS;
    this.#picture.height = Math.max(1, high);
    this.repaint();
  }

  /** All columns again: history has arrived, or colours have changed. */
  repaint(): void {
    this.#from = 0;
    this.#request();
  }

  /** Marks a minute, since 1970, or none. */
  mark(minute: number | undefined): void {
    this.#minute = minute;
    this.#request();
  }

  update(second: number): void {
    if (this.#from > second) this.#from = second;
    if (this.#isInSight) this.#request();
  }

  #draw(): void {
    const [river, inks] = [this.#river, this.#inks];
    if (river === undefined || inks === undefined || !this.#isInSight || river.newest === 0 || river.rows === 0) return;
    const picture = surface(this.#picture);
    const oldest = river.newest - SECONDS + 1;
    const column = new ImageData(1, this.#picture.height);
    const words = new Uint32Array(column.data.buffer);
    for (let second = Math.max(oldest, this.#from); second <= river.newest; second++) {
      river.paint(second, words, this.#high, this.#gap, inks);
      picture.putImageData(column, second % SECONDS, 0);
    }
    this.#from = river.newest + 1;
    const { flow } = this.elements;
    const context = this.#context;
    context.imageSmoothingEnabled = false;
    context.clearRect(0, 0, flow.width, flow.height);
    // The picture is a ring: the oldest column follows the newest.
    const cut = (river.newest + 1) % SECONDS;
    const left = Math.round(((SECONDS - cut) * flow.width) / SECONDS);
    if (cut < SECONDS) context.drawImage(this.#picture, cut, 0, SECONDS - cut, flow.height, 0, 0, left, flow.height);
    if (cut > 0) context.drawImage(this.#picture, 0, 0, cut, flow.height, left, 0, flow.width - left, flow.height);
    if (this.#minute !== undefined) {
      const [x, wide] = [this.#minute * 60 - oldest, 60].map(seconds => (seconds * flow.width) / SECONDS);
      context.strokeStyle = getComputedStyle(flow).color;
      context.lineWidth = 2 * this.#unit;
      context.strokeRect(x as number, 0, wide as number, flow.height);
    }
    this.#tell(river);
  }

  /** The time axis: every five minutes, and the beginning of the data, without those that would lie over it. */
  #tell(river: River): void {
    const { times, flow } = this.elements;
    const oldest = river.newest - SECONDS + 1;
    const since = river.since();
    const marks: [second: number, text: string][] = [];
    // Before that only states are known, from the journal.
    const looked = river.readingsSince > (since ?? 0) ? river.readingsSince : undefined;
    if (looked !== undefined && looked > oldest + 20) marks.push([looked, `readings since ${clock(looked * 1000)}`]);
    else if (since !== undefined && since > oldest + 20) marks.push([since, `since ${clock(since * 1000)}`]);
    for (let second = Math.ceil(oldest / 300) * 300; second <= river.newest; second += 300)
      marks.push([second, onAxis(second * 1000)]);
    const width = flow.width / this.#unit;
    const places = marks.map(([second, text]) => {
      const x = ((second - oldest) * width) / SECONDS;
      const wide = this.#letter * (text.length + 2);
      const isLate = x + wide > width;
      return { text, x, isLate, from: isLate ? x - wide : x, to: isLate ? x : x + wide };
    });
    const [{ from = 0, to = 0 } = {}] = places;
    const shown = places.filter((place, i) => i === 0 || place.to < from || place.from > to);
    const labels = fill<HTMLElement>(times, shown.length, () => make('span'));
    for (const [i, { text, x, isLate }] of shown.entries()) {
      const mark = labels[i] as HTMLElement;
      write(mark, text);
      set(mark, { class: isLate ? 'late' : undefined });
      mark.style.transform = `translateX(${x.toFixed(1)}px)${isLate ? ' translateX(-100%)' : ''}`;
    }
  }

  /** The row and the second under a point of the page. */
  at(clientX: number, clientY: number): { row: number; second: number } | undefined {
    const river = this.#river;
    const box = this.elements.flow.getBoundingClientRect();
    if (river === undefined || box.width === 0) return undefined;
    const row = Math.floor(((clientY - box.top) * this.#unit) / this.#high);
    const second = river.newest - SECONDS + 1 + Math.floor(((clientX - box.left) * SECONDS) / box.width);
    return row >= 0 && row < river.rows && second <= river.newest ? { row, second } : undefined;
  }
}
