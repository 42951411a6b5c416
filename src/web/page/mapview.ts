// The map on two canvases: below the colours, from an off-screen picture with one pixel per cell that is scaled; above
// it everything else: gaps, hatching, outlines, labels, values on large tiles. Each is drawn only when something on it
// changes.

import { CELL, NOT_MEASURED, type ReadingInfo } from '../wire.js';
import { type Cells, type Changed, LIVE } from './cells.js';
import { contour } from './contours.js';
import { oncePerFrame, surface } from './dom.js';
import { CellForms } from './forms.js';
import {
  blockAt,
  blockOf,
  cellAt,
  cellsAt,
  cornerOf,
  type GroupBlock,
  type MapPlan,
  type Member,
  placeOf,
  planSeen,
} from './geometry.js';
import { type CellInks, cellInks, type Inks } from './inks.js';
import { drawLabel, drawShare, drawTiles, NAMES_FROM } from './maptexts.js';
import { css, type Rgb } from './palette.js';

/**
 * The sides of cells, in CSS pixels, below which several stand together, with places of that size; from which on there
 * are values on them; and the largest side.
 */
const SEEN_FROM = 6;
const TOGETHER = 20;
const VALUES_FROM = 40;
const SIDE_MOST = 176;
/** The font size of a group's label, px, at a desk; and the number of groups above which a wall has no labels. */
const LETTERS = 12;
const CROWD = 60;
const CROWD_LETTERS = 10.5;
/** In font sizes: the room for a label, and the least width of a block with a label. */
const LABEL_ROOM = 1.65;
const LABELLED_FROM = 2.8;
/** The distance between blocks, px: with labels; among many blocks; without labels. */
const GAPS = { labelled: 12, crowded: 8, plain: 6 } as const;
/** A live cell without any measured value. */
const NOTHING = (NOT_MEASURED << CELL.valueShift) | LIVE;
/** The block of a cell that is not on the map. */
const NOWHERE = 0xffffffff;

/** Cells with an outline: 1 for each of these. */
export interface Outline {
  readonly cells: Uint8Array;
  readonly ink: 'text' | 'accent';
}

interface MapElements {
  readonly field: HTMLElement;
  readonly sizer: HTMLElement;
  /** The element that stays in the visible part. */
  readonly stage: HTMLElement;
  readonly cells: HTMLCanvasElement;
  readonly marks: HTMLCanvasElement;
  readonly ring: HTMLElement;
}

export class MapView {
  readonly #lower: CanvasRenderingContext2D;
  readonly #upper: CanvasRenderingContext2D;
  readonly #picture = document.createElement('canvas');
  #image = new ImageData(1, 1);
  #words = new Uint32Array(1);
  /** For each cell: its place in the picture; the index of its block; its form when the marks were last drawn. */
  #places = new Uint32Array(0);
  #blocks = new Uint32Array(0);
  #forms = new Uint16Array(0);
  #dirty = new Uint8Array(0);
  plan: MapPlan | undefined;
  #cells: Cells | undefined;
  #members: readonly Member[] = [];
  #selected: Uint8Array | undefined;
  /** Colours of live cells in place of a reading; 0: none. */
  #own: Uint32Array | undefined;
  #outlines: readonly Outline[] = [];
  #inks: Inks | undefined;
  #cellInks: CellInks | undefined;
  #painter: CellForms | undefined;
  #reading: ReadingInfo | undefined;
  #cursor: number | undefined;
  #unit = 1;
  #letters = LETTERS;
  #wallLetters: number | undefined;
  #label = 0;
  #least: number | undefined;
  #height = 0;
  #areMarksOld = true;
  #isAllOld = true;
  readonly #request = oncePerFrame(() => this.#draw());

  constructor(private readonly elements: MapElements) {
    this.#lower = surface(elements.cells);
    this.#upper = surface(elements.marks);
    elements.field.addEventListener('scroll', () => this.#redrawAll(), { passive: true });
  }

  /** Sets nodes, groups and the view; `least`: the smallest side of a cell, px. */
  show(cells: Cells, members: readonly Member[], reading: ReadingInfo, least: number | undefined): void {
    this.#cells = cells;
    this.#members = members;
    this.#reading = reading;
    this.#least = least;
    this.layOut();
  }

  setInks(inks: Inks): void {
    this.#inks = inks;
    this.#repaint();
  }

  /** Only these have their colours; undefined: all. */
  select(selected: Uint8Array | undefined): void {
    this.#selected = selected;
    this.#redrawAll();
  }

  /** Colours of live cells in place of a reading, as words, 0 for none; undefined: the reading's. */
  set own(own: Uint32Array | undefined) {
    if (this.#own === undefined && own === undefined) return;
    this.#own = own;
    this.#redrawAll();
  }

  /** Outlines around cells; later ones are drawn over earlier ones. */
  set outlines(outlines: readonly Outline[]) {
    if (this.#outlines.length === 0 && outlines.length === 0) return;
    this.#outlines = outlines;
    this.#areMarksOld = true;
    this.#request();
  }

  /** The font size of labels on a wall, px; undefined: this is a desk. */
  set letters(letters: number | undefined) {
    if (this.#wallLetters === letters) return;
    this.#wallLetters = letters;
    this.layOut();
  }

  /** How high the map may be, px. */
  set height(height: number) {
    if (this.#height === height) return;
    this.#height = height;
    this.layOut();
  }

  /** Lays everything out: the room, the nodes or the pixel size have changed. */
  layOut(): void {
    const { field, sizer, stage, cells, marks } = this.elements;
    const data = this.#cells;
    const width = field.clientWidth;
    if (data === undefined || width === 0 || this.#height === 0) return;
    const unit = window.devicePixelRatio || 1;
    const px = (length: number) => Math.round(length * unit);
    const isOne = this.#members.length === 1 && this.#members[0]?.group === -1;
    const room = (label: number, gap: number) => ({
      width: px(width),
      height: px(this.#height),
      least: this.#least === undefined ? 1 : px(this.#least),
      most: px(SIDE_MOST),
      label: px(label),
      gap: px(gap),
      tile: px(NAMES_FROM),
    });
    const isCrowd = this.#members.length > CROWD;
    this.#letters = isCrowd ? CROWD_LETTERS : (this.#wallLetters ?? LETTERS);
    this.#label = isOne || (isCrowd && this.#wallLetters !== undefined) ? 0 : Math.round(this.#letters * LABEL_ROOM);
    const gap = this.#label === 0 ? GAPS.plain : isCrowd ? GAPS.crowded : GAPS.labelled;
    const planned = (label: number, gap: number) =>
      planSeen(this.#members, room(label, gap), Math.ceil(SEEN_FROM * unit), px(TOGETHER));
    let made = planned(this.#label, gap);
    const narrow = made.blocks.filter(({ columns }) => columns * made.wide < px(this.#letters * LABELLED_FROM)).length;
    const areGroups = made.isGrained && made.blocks.every(({ places }) => places === 1);
    if (this.#label > 0 && (areGroups || narrow > made.blocks.length / 2)) {
      this.#label = 0;
      made = planned(0, GAPS.plain);
    }
    this.plan = made;
    this.#unit = unit;
    const high = Math.min(this.#height, Math.ceil(made.height / unit));
    field.style.height = `${high}px`;
    sizer.style.height = `${Math.ceil(made.height / unit)}px`;
    stage.style.height = `${high}px`;
    for (const canvas of [cells, marks]) {
      canvas.width = px(width);
      canvas.height = px(high);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${high}px`;
    }
    this.#place(made, data.layout.count);
    this.#repaint();
    this.#moveRing();
  }

  #place(made: MapPlan, count: number): void {
    this.#picture.width = made.pictureWidth;
    this.#picture.height = made.pictureHeight;
    this.#image = new ImageData(made.pictureWidth, made.pictureHeight);
    this.#words = new Uint32Array(this.#image.data.buffer);
    this.#places = new Uint32Array(count);
    this.#blocks = new Uint32Array(count).fill(NOWHERE);
    this.#forms = new Uint16Array(count);
    this.#dirty = new Uint8Array(made.blocks.length);
    for (const [index, block] of made.blocks.entries()) {
      const { first, count: size, columns, column, row } = block;
      for (let cell = first; cell < first + size; cell++) {
        const k = placeOf(block, cell);
        this.#places[cell] = (row + Math.floor(k / columns)) * made.pictureWidth + column + (k % columns);
        this.#blocks[cell] = index;
      }
    }
  }

  #repaint(): void {
    if (this.#inks === undefined || this.plan === undefined) return;
    this.#cellInks = cellInks(this.#inks);
    this.#painter = new CellForms(this.#inks, this.#unit, this.plan.side);
    this.#redrawAll();
  }

  #redrawAll(): void {
    this.#isAllOld = true;
    this.#areMarksOld = true;
    this.#request();
  }

  /** Takes the changes of a tick; they are drawn with the next frame of the screen. */
  update(changed: Changed): void {
    const [plan, inks, data] = [this.plan, this.#cellInks, this.#cells];
    if (plan === undefined || inks === undefined || data === undefined) return;
    if (changed === 'all' || this.#isAllOld) this.#redrawAll();
    else {
      const { values } = data;
      let areMarksOld = plan.side >= VALUES_FROM * this.#unit;
      const paint = this.#painterOf(plan, inks, values);
      for (const cell of changed) {
        if (!paint(cell)) continue;
        this.#dirty[this.#blocks[cell] as number] = 1;
        if (this.#forms[cell] !== data.formOf(cell)) areMarksOld = true;
      }
      this.#areMarksOld ||= areMarksOld;
      this.#request();
    }
  }

  /**
   * Writes the colour of a cell into the picture; returns false for one that is not on the map. Cells that stand together
   * are painted together, before they are drawn.
   */
  #painterOf({ isGrained }: MapPlan, words: CellInks, values: Uint16Array): (cell: number) => boolean {
    const [places, blocks, picture, selected, own] = [
      ...([this.#places, this.#blocks, this.#words] as const),
      ...([this.#selected, this.#own] as const),
    ];
    return cell => {
      if (blocks[cell] === NOWHERE) return false;
      if (isGrained) return true;
      const value = values[cell] as number;
      const isOwn = own !== undefined && selected?.[cell] !== 0 && (value & 15) === LIVE;
      picture[places[cell] as number] = (isOwn ? own[cell] || words[NOTHING] : words[value]) as number;
      return true;
    };
  }

  /** Where cells stand together: the mean of the readings, or the colour of the one in the middle. */
  #paintPlaces(block: GroupBlock, words: CellInks, data: Cells): void {
    for (let place = 0; place < block.places; place++) {
      const { first, count } = cellsAt(block, place);
      const { measured, sum } = data.tally(first, count);
      const mean = measured === 0 ? NOTHING : (Math.round(sum / measured) << CELL.valueShift) | LIVE;
      this.#words[this.#places[first] as number] = this.#own?.[first + (count >> 1)] || (words[mean] as number);
    }
  }

  #draw(): void {
    const [plan, inks, data] = [this.plan, this.#cellInks, this.#cells];
    if (plan === undefined || inks === undefined || data === undefined || this.#inks === undefined) return;
    if (this.#isAllOld) {
      const paint = this.#painterOf(plan, inks, data.values);
      for (let cell = 0; cell < data.values.length; cell++) paint(cell);
      this.#lower.clearRect(0, 0, this.elements.cells.width, this.elements.cells.height);
      this.#dirty.fill(1);
      this.#isAllOld = false;
    }
    if (this.#dirty.includes(1)) {
      if (plan.isGrained)
        for (const [i, block] of plan.blocks.entries()) if (this.#dirty[i] === 1) this.#paintPlaces(block, inks, data);
      surface(this.#picture).putImageData(this.#image, 0, 0);
      this.#lower.imageSmoothingEnabled = false;
      for (const block of this.#inSight(plan)) {
        const { columns, rows, column, row, x, y } = block;
        if (this.#dirty[this.#blocks[block.first] as number] !== 1) continue;
        const [wide, high] = [columns * plan.wide, rows * plan.side];
        this.#lower.drawImage(this.#picture, column, row, columns, rows, x, y - this.#top, wide, high);
      }
      this.#dirty.fill(0);
    }
    if (this.#areMarksOld) this.#drawMarks(plan, data, this.#inks);
    // The tick of the colours, for tests that compare them with the server's answer for that tick.
    this.elements.cells.dataset.seq = String(data.seq);
  }

  get #top(): number {
    return Math.round(this.elements.field.scrollTop * this.#unit);
  }

  #inSight({ blocks, side }: MapPlan): GroupBlock[] {
    const [top, high] = [this.#top, this.elements.cells.height];
    return blocks.filter(({ y, rows }) => y + rows * side > top && y - this.#label * this.#unit < top + high);
  }

  #drawMarks(plan: MapPlan, data: Cells, inks: Inks): void {
    this.#areMarksOld = false;
    const context = this.#upper;
    const { side, wide } = plan;
    const unit = this.#unit;
    const gap = Math.max(1, Math.round(side * 0.06));
    context.clearRect(0, 0, this.elements.marks.width, this.elements.marks.height);
    context.save();
    context.translate(0, -this.#top);
    const pen = { context, inks, unit, data };
    const tiles = {
      reading: this.#reading,
      fillOf: (cell: number) => {
        const place = 4 * (this.#places[cell] as number);
        return [...this.#image.data.subarray(place, place + 3)] as unknown as Rgb;
      },
      isAside: (cell: number) => this.#isAside(cell, 1),
    };
    for (const block of this.#inSight(plan)) {
      const { columns, places } = block;
      for (let place = 0; place < places; place++) {
        const { first, count } = cellsAt(block, place);
        for (let cell = first; cell < first + count; cell++) this.#forms[cell] = data.formOf(cell);
        const isAside = this.#isAside(first, count);
        if (count === 1 && this.#forms[first] === LIVE && !isAside) continue;
        const at = cornerOf(plan, block, first);
        const box = [at.x, at.y, wide - gap, side - gap] as const;
        if (isAside) this.#painter?.shrink(context, box);
        else if (plan.isGrained) drawShare(pen, { first, count }, box);
        else this.#painter?.draw(context, data.values[first] as number, data.marks[first] as number, box);
      }
      this.#drawGaps(context, block, plan, gap, inks.page);
      if (side >= VALUES_FROM * unit && !plan.isGrained) drawTiles(pen, plan, block, gap, tiles);
      for (const outline of this.#outlines) this.#drawOutline(context, plan, block, gap, outline);
      if (this.#label > 0) drawLabel(pen, block, this.#letters * unit, columns * wide - gap);
    }
    context.restore();
  }

  #isAside(first: number, count: number): boolean {
    return this.#selected?.subarray(first, first + count).includes(1) === false;
  }

  /** Lines between cells, in the colour of the page. */
  #drawGaps(context: CanvasRenderingContext2D, block: GroupBlock, { side, wide }: MapPlan, gap: number, page: Rgb) {
    const { x, y, columns, rows, places } = block;
    context.fillStyle = css(page);
    for (let column = 1; column <= columns; column++) context.fillRect(x + column * wide - gap, y, gap, rows * side);
    for (let row = 1; row <= rows; row++) context.fillRect(x, y + row * side - gap, columns * wide, gap);
    if (side < 24 * this.#unit) return;
    // Round corners on cells that are large enough.
    const round = Math.min(side * 0.09, 8 * this.#unit);
    context.beginPath();
    for (let k = 0; k < places; k++) {
      const [left, top] = [x + (k % columns) * wide, y + Math.floor(k / columns) * side];
      context.rect(left, top, wide - gap, side - gap);
      context.roundRect(left, top, wide - gap, side - gap, round);
    }
    context.fill('evenodd');
  }

  /** An outline around some cells, on a broader line in the page's colour, so that it is visible on any colour. */
  #drawOutline(
    context: CanvasRenderingContext2D,
    plan: MapPlan,
    block: GroupBlock,
    gap: number,
    { cells, ink }: Outline,
  ): void {
    const inks = this.#inks as Inks;
    const line = Math.max(1, Math.round(2 * this.#unit));
    // At the edge of the map there is no room beside a cell.
    const right = this.elements.marks.width - line / 2;
    const bottom = Math.max(this.elements.marks.height, plan.height) - line / 2;
    // On whole pixels, otherwise it is blurred.
    const snap = (length: number) => (line % 2 === 0 ? Math.round(length) : Math.floor(length) + 0.5);
    const at = (x: number, y: number) =>
      [Math.min(right, Math.max(line / 2, snap(x))), Math.min(bottom, Math.max(line / 2, snap(y)))] as const;
    const pen = {
      moveTo: (x: number, y: number) => context.moveTo(...at(x, y)),
      lineTo: (x: number, y: number) => context.lineTo(...at(x, y)),
    };
    context.beginPath();
    const has = (place: number) => {
      const { first, count } = cellsAt(block, place);
      return cells.subarray(first, first + count).includes(1);
    };
    contour(pen, block, plan, has, gap, line);
    context.lineCap = 'square';
    for (const [colour, width] of [
      [inks.page, line + 2 * this.#unit],
      [inks[ink], line],
    ] as const) {
      context.strokeStyle = css(colour);
      context.lineWidth = width;
      context.stroke();
    }
  }

  /** The cell under a point of the page; undefined where there is none. */
  cellAt(clientX: number, clientY: number): number | undefined {
    const at = this.#inside(clientX, clientY);
    return this.plan === undefined ? undefined : cellAt(this.plan, at.x, at.y);
  }

  /** The cells that stand together with this one. */
  cellsWith(cell: number): { readonly first: number; readonly count: number } {
    const block = this.plan && blockOf(this.plan, cell);
    return block === undefined ? { first: cell, count: 1 } : cellsAt(block, placeOf(block, cell));
  }

  /** The group whose label or block is under a point of the page. */
  groupAt(clientX: number, clientY: number): number | undefined {
    const at = this.#inside(clientX, clientY);
    return this.plan && blockAt(this.plan, at.x, at.y, this.#label * this.#unit)?.group;
  }

  #inside(clientX: number, clientY: number): { x: number; y: number } {
    const box = this.elements.stage.getBoundingClientRect();
    return { x: (clientX - box.left) * this.#unit, y: (clientY - box.top) * this.#unit + this.#top };
  }

  get cursor(): number | undefined {
    return this.#cursor;
  }

  /** Puts the ring around a cell; undefined: removes it. */
  set cursor(cell: number | undefined) {
    this.#cursor = cell;
    this.#moveRing();
  }

  #moveRing(): void {
    const { ring, field } = this.elements;
    const [plan, cell] = [this.plan, this.#cursor];
    const block = plan && cell !== undefined ? blockOf(plan, cell) : undefined;
    ring.hidden = block === undefined;
    if (plan === undefined || cell === undefined || block === undefined) return;
    const { x, y } = cornerOf(plan, block, cell);
    const [left, top, wide, side] = [x / this.#unit, y / this.#unit, plan.wide / this.#unit, plan.side / this.#unit];
    const [width, size] = [Math.max(wide, 6), Math.max(side, 6)];
    ring.style.transform = `translate(${left - (width - wide) / 2}px, ${top - (size - side) / 2}px)`;
    ring.style.width = `${width}px`;
    ring.style.height = `${size}px`;
    if (top < field.scrollTop) field.scrollTop = top - this.#label;
    else if (top + side > field.scrollTop + field.clientHeight) field.scrollTop = top + side - field.clientHeight;
  }
}
