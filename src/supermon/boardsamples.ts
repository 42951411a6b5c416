// A board as elements of an answer: the state of each node, and the requested values of the nodes that are heard.

import { atom } from '../net/expressions.js';
import { Cursor } from '../readings/cursor.js';
import { map, ofRecord } from '../readings/measures.js';
import { NUMBERED } from '../shm/liveness.js';
import { type NoBoard, orNoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { Page } from '../text/buffer.js';
import { CATEGORIES, type Category, type Instances, MOST_VARIABLES, STATE, safe, takeOne } from './categories.js';

/** How many nodes are copied at a time: as many as stay in the CPU's cache. */
const PIECE_NODES = 256;
/** The size of a page, and of the longest element: a name of 64 bytes twice, in quotes, and 8 GPUs or interfaces. */
const PAGE_BYTES = 1 << 16;
const ELEMENT_BYTES = 4096;

const [OPEN, CLOSE, SPACE] = [0x28, 0x29, 0x20];
const bytes = (text: string) => Buffer.from(text, 'latin1');
const NIL = bytes('nil');
const ONE = bytes('((nr 1)');

/** The state of a node, as written in each of its elements. */
const STATES = NUMBERED.map(state => bytes(` ${state} `));
/** The states whose numbers are current. */
const HEARD = NUMBERED.map(state => state === 'live' || state === 'uncertain');

const REPORTS = map(ofRecord('accepted'), safe);
const LOST = map(ofRecord('lost'), safe);

const HEADS = new Map([...CATEGORIES, STATE].map(({ name }) => [name, bytes(` ${name}`)]));

function number(page: Page, value: number): void {
  page.bytes[page.length++] = SPACE;
  if (Number.isNaN(value)) page.part(NIL);
  else page.decimal(value, 0);
}

/** Writes the elements of one node after another. */
class SampleWriter {
  readonly page = new Page(PAGE_BYTES);
  readonly #cursor = new Cursor();
  readonly #numbers = new Float64Array(MOST_VARIABLES);
  /** Of the present node: its name, the number of its state, and its age, ms. */
  #called: Uint8Array = NIL;
  #state = 0;
  #age = 0;

  constructor(
    readonly mask: number,
    /** The prefix of its nodes' names. */
    readonly before: string,
  ) {}

  /** Writes the node of that number; returns whole pages as they fill. */
  *node(snapshot: Snapshot, index: number, name: string): Generator<Uint8Array> {
    const cursor = this.#cursor;
    const { states, ages } = snapshot.overview;
    const state = states[index] as number;
    const age = ages[index] as number;
    [this.#called, this.#state, this.#age] = [bytes(atom(this.before + name)), state, age];
    cursor.moveTo(snapshot, index);
    if ((this.mask & STATE.mask) !== 0) {
      this.#head(STATE.name);
      const { page } = this;
      page.part(ONE);
      page.part(STATES[state] as Uint8Array);
      page.length--;
      number(page, age < 0 ? Number.NaN : age);
      number(page, REPORTS.take(cursor));
      number(page, LOST.take(cursor));
      this.#end();
      if (page.room < ELEMENT_BYTES) yield* this.rest();
    }
    if (HEARD[state] !== true || cursor.report < 0) return;
    for (const category of CATEGORIES) {
      if ((this.mask & category.mask) === 0) continue;
      this.#category(category);
      if (this.page.room < ELEMENT_BYTES) yield* this.rest();
    }
  }

  *rest(): Generator<Uint8Array> {
    if (this.page.length === 0) return;
    yield this.page.written;
    this.page.length = 0;
  }

  #head(category: string): void {
    const { page } = this;
    page.bytes[page.length++] = OPEN;
    page.part(this.#called);
    page.part(HEADS.get(category) as Uint8Array);
    page.part(STATES[this.#state] as Uint8Array);
    page.decimal(this.#age, 0);
    page.bytes[page.length++] = SPACE;
  }

  #end(): void {
    const { page } = this;
    page.bytes[page.length++] = CLOSE;
    page.bytes[page.length++] = CLOSE;
    page.bytes[page.length++] = 0x0a;
  }

  #category({ name, one, each }: Category): void {
    const cursor = this.#cursor;
    if (one !== undefined) {
      // A value that was not measured is left out.
      if (takeOne(one, cursor, this.#numbers) === 0) return;
      this.#head(name);
      this.page.part(ONE);
      for (let i = 0; i < one.length; i++) number(this.page, this.#numbers[i] as number);
      this.#end();
    }
    if (each !== undefined) this.#each(name, each);
  }

  #each(category: string, { count, is, name, variables }: Instances): void {
    const cursor = this.#cursor;
    const entries: number[] = [];
    for (let entry = 0; entry < count(cursor); entry++) if (is(cursor, entry)) entries.push(entry);
    if (entries.length === 0) return;
    const { page } = this;
    this.#head(category);
    page.text(`((nr ${entries.length})`);
    for (const entry of entries) {
      page.text(' (');
      if (name === undefined) page.whole(entry);
      else page.text(atom(name(cursor, entry)));
      for (const [, take] of variables) number(page, take(cursor, entry));
      page.bytes[page.length++] = CLOSE;
    }
    this.#end();
  }
}

export class BoardSamples {
  readonly reader: BoardReader;

  /** `name`: the prefix of its nodes, if there are several boards. */
  constructor(
    readonly name: string | undefined,
    readonly path: string,
    owner: number | string | undefined,
  ) {
    this.reader = new BoardReader(path, owner);
  }

  /** Its elements, in pieces that are valid until the next is asked for. Throws NoBoard before the first. */
  *sample(mask: number): Generator<Uint8Array> {
    const writer = new SampleWriter(mask, this.name === undefined ? '' : `${this.name}/`);
    for (const snapshot of this.reader.pieces(PIECE_NODES)) {
      const names = snapshot.names();
      for (let i = 0; i < snapshot.count; i++) yield* writer.node(snapshot, i, names[i] as string);
      yield* writer.rest();
    }
  }

  /** How many nodes are on it; or why there is no board. */
  count(): number | NoBoard {
    return orNoBoard(() => this.reader.nodeStates().states.length);
  }
}
