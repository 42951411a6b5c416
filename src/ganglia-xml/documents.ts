// The documents: a gmond's, and whatever may be asked of gmetad. Each is made piece by piece as it is taken, straight
// from the boards. Pure but for the reading of those; asks no clock.

import { hostname } from 'node:os';
import { Page } from '../common/page.js';
import { mayBeRefused } from '../shm/liveness.js';
import { NoBoard, type Node, type Snapshot } from '../shm/reader.js';
import { linkNews, refusalText } from '../shm/sentences.js';
import { attributes, GANGLIA, PROLOGUE } from './dtd.js';
import { METRICS, type Metric } from './metrics.js';
import { EVERYTHING, type Query } from './query.js';
import { NO_METRICS, Renderer, Summary } from './render.js';
import { safe, UNSPECIFIED, VALUE_MAX } from './safe.js';

/** A board that is shown as a cluster. */
export interface Source {
  /** The cluster's name; by default the board's. */
  readonly name?: string | undefined;
  /** The board in snapshots of so many nodes; each is used up before the next is asked for. Throws NoBoard. */
  pieces(nodes: number): Iterable<Snapshot>;
  /** A snapshot of the node of that name, or of none. Throws NoBoard. */
  one(name: string): Snapshot;
}

/** How many nodes are rendered at a time: some 200 KB, and less than a tenth of a millisecond. */
const PIECE_NODES = 16;
/** Pages kept for the next document. */
const PAGES = 4;
/** What a comment takes at most. */
const COMMENT_MOST = VALUE_MAX + 16;
/** What opens a document: the prologue and the tags around the first cluster, and a comment for each of its links. */
const OPENING_MOST = 8192 + 32 * COMMENT_MOST;

/** The hosts of a source added together, as of a second of the board's clock. */
interface Sums {
  readonly second: bigint;
  readonly name: string;
  readonly summary: Summary;
}

/** Nothing to send yet, but a moment's work done: the caller may see to others. */
const NOTHING = new Uint8Array();

export class Documents {
  readonly #renderer: Renderer;
  readonly #pages: Page[] = [];
  readonly #pageBytes: number;
  /** Sums of each source, and of which second they are: pages of ganglia-web ask for them again and again. */
  readonly #summaries = new Map<Source, Sums>();

  constructor(
    readonly sources: readonly Source[],
    readonly grid: string = UNSPECIFIED,
    metrics: readonly Metric[] = METRICS,
  ) {
    this.#renderer = new Renderer(metrics);
    this.#pageBytes = OPENING_MOST + Math.max(PIECE_NODES * this.#hostMost, this.#renderer.summaryMost);
  }

  /** Bytes that the longest HOST takes with what is said of it. */
  get #hostMost(): number {
    return this.#renderer.hostMost + COMMENT_MOST;
  }

  /** A gmond's document: every cluster with all its hosts. It must be sent to its end: gmetad takes half of one for a whole. */
  gmond(localtime: number): Generator<Uint8Array> {
    return this.#document(EVERYTHING, localtime, undefined);
  }

  /** gmetad's answer to a query: what was asked for within the grid; where that is not there, the grid without it. */
  gmetad(query: Query, localtime: number): Generator<Uint8Array> {
    return this.#document(query, localtime, this.grid);
  }

  *#document(query: Query, localtime: number, grid: string | undefined): Generator<Uint8Array> {
    const page = this.#pages.pop() ?? new Page(this.#pageBytes);
    try {
      page.length = 0;
      page.text(PROLOGUE);
      page.text(`<GANGLIA_XML${attributes({ VERSION: GANGLIA, SOURCE: grid === undefined ? 'gmond' : 'gmetad' })}>\n`);
      if (grid !== undefined) {
        const authority = `http://${safe(hostname(), 'name')}/ganglia/`;
        page.text(`<GRID${attributes({ NAME: safe(grid, 'name'), AUTHORITY: authority, LOCALTIME: localtime })}>\n`);
      }
      if (query.summary && query.cluster === undefined) yield* this.#sumOfAll(page, localtime);
      else yield* this.#eachThere(source => this.#cluster(page, source, query, localtime));
      if (grid !== undefined) page.text('</GRID>\n');
      page.text('</GANGLIA_XML>\n');
      yield page.written;
    } finally {
      if (this.#pages.length < PAGES) this.#pages.push(page);
    }
  }

  /** The same for each source, but those that have no board now; throws NoBoard when none has. */
  *#eachThere(work: (source: Source) => Generator<Uint8Array>): Generator<Uint8Array> {
    let missing = 0;
    for (const source of this.sources) {
      let begun = false;
      try {
        for (const bytes of work(source)) {
          begun ||= bytes.length > 0;
          yield bytes;
        }
      } catch (error) {
        // In the midst of it there is no way but to break off.
        if (begun || !(error instanceof NoBoard) || ++missing === this.sources.length) throw error;
      }
    }
  }

  /** Gives what is written, so that there is room again. */
  *#turn(page: Page): Generator<Uint8Array> {
    yield page.written;
    page.length = 0;
  }

  *#sumOfAll(page: Page, localtime: number): Generator<Uint8Array> {
    const all = new Summary(this.#renderer.metrics.length);
    const found: Sums[] = [];
    const sumUp = (source: Source) => this.#sum(source);
    yield* this.#eachThere(function* (source) {
      const sums = yield* sumUp(source);
      all.add(sums.summary);
      found.push(sums);
    });
    this.#renderer.summary(page, all);
    yield* this.#turn(page);
    for (const sums of found) yield* this.#sumOfOne(page, sums, localtime);
  }

  *#sumOfOne(page: Page, { name, summary }: Sums, localtime: number): Generator<Uint8Array> {
    page.text(clusterOpen(name, localtime));
    this.#renderer.summary(page, summary);
    page.text('</CLUSTER>\n');
    yield* this.#turn(page);
  }

  /** The sums of the source, of this second. */
  *#sum(source: Source): Generator<Uint8Array, Sums> {
    const last = this.#summaries.get(source);
    let sums: Sums | undefined;
    for (const snapshot of source.pieces(PIECE_NODES)) {
      // Not LOCALTIME's second: that one stands while a wall clock that was set back catches up.
      const second = snapshot.evidence.nowNs / 1_000_000_000n;
      if (sums === undefined && last?.second === second) return last;
      sums ??= { second, name: nameOf(source, snapshot), summary: new Summary(this.#renderer.metrics.length) };
      for (const node of snapshot.nodes()) this.#renderer.add(sums.summary, snapshot, node);
      yield NOTHING;
    }
    // A board has at least one piece, be it empty.
    this.#summaries.set(source, sums as Sums);
    return sums as Sums;
  }

  *#cluster(page: Page, source: Source, query: Query, localtime: number): Generator<Uint8Array> {
    const wanted = (name: string) => query.cluster === undefined || query.cluster === name;
    const { host } = query;
    if (query.summary && host === undefined) {
      const sums = yield* this.#sum(source);
      if (wanted(sums.name)) yield* this.#sumOfOne(page, sums, localtime);
      return;
    }
    let opened = false;
    for (const snapshot of host === undefined ? source.pieces(PIECE_NODES) : [source.one(host)]) {
      if (!opened) {
        const name = nameOf(source, snapshot);
        if (!wanted(name)) return;
        page.text(`${noticeOf(snapshot)}${clusterOpen(name, localtime)}`);
        opened = true;
      }
      for (const node of snapshot.nodes()) {
        // Pieces that are ours fit; a snapshot of a whole board does not.
        if (page.room < this.#hostMost) yield* this.#turn(page);
        this.#host(page, snapshot, node, query, localtime);
      }
      yield* this.#turn(page);
    }
    page.text('</CLUSTER>\n');
    yield* this.#turn(page);
  }

  #host(page: Page, snapshot: Snapshot, node: Node, { metric, summary }: Query, localtime: number): void {
    const refusal = mayBeRefused(node.state) ? node.refusedSince : undefined;
    if (refusal !== undefined) page.text(comment(`${node.name} is ${node.state}: ${refusalText(refusal)}`));
    const has = summary ? NO_METRICS : metric === undefined ? undefined : ({ name }: Metric) => name === metric;
    this.#renderer.host(page, snapshot, node, localtime, has);
  }
}

function nameOf({ name }: Source, { header }: Snapshot): string {
  return safe(name ?? header.cluster_name, 'name');
}

function clusterOpen(name: string, localtime: number): string {
  const unset = { OWNER: UNSPECIFIED, LATLONG: UNSPECIFIED, URL: UNSPECIFIED };
  return `<CLUSTER${attributes({ NAME: name, LOCALTIME: localtime, ...unset })}>\n`;
}

/** A text between hosts, without what would end a comment, and what gmetad does not survive. */
function comment(text: string): string {
  return `<!-- ${safe(text, 'value').replaceAll('--', '__')}. -->\n`;
}

/** What is to be known of a cluster before its hosts: that the monitor has failed, or what is likelier at fault than they. */
function noticeOf(snapshot: Snapshot): string {
  if (snapshot.stalled || snapshot.retired) return comment('The monitor has failed: hosts are shown as they last were');
  return linkNews(snapshot)
    .map(({ text }) => comment(text))
    .join('');
}
