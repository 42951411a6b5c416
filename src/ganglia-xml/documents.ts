// The documents: a gmond's, and answers to gmetad's queries. Each is made piece by piece while it is sent, straight
// from the boards. Pure except for reading the boards; uses no clock.

import { hostname } from 'node:os';
import { mayBeRefused } from '../shm/liveness.js';
import { NoBoard } from '../shm/noboard.js';
import { lastingText, linkNews, refusalText } from '../shm/sentences.js';
import type { Node, Snapshot } from '../shm/snapshot.js';
import { Page } from '../text/buffer.js';
import { formatDuration } from '../text/durations.js';
import { attributes, GANGLIA, PROLOGUE } from './dtd.js';
import { METRICS, type Metric } from './metrics.js';
import { EVERYTHING, type GangliaQuery } from './query.js';
import { NO_METRICS, Renderer, Summary } from './render.js';
import { safe, UNSPECIFIED, VALUE_MAX } from './safe.js';

/** A board that is shown as a cluster. */
export interface ClusterSource {
  /** The cluster's name; by default that of the board. */
  readonly name?: string | undefined;
  /** The board in snapshots of so many nodes; each is valid until the next one is asked for. Throws NoBoard. */
  pieces(nodes: number): Iterable<Snapshot>;
  /** A snapshot of the node of that name, or of no node. Throws NoBoard. */
  one(name: string): Snapshot;
}

/**
 * How many nodes are read and rendered at a time: some 400 KB in a tenth of a millisecond. They are sent before the next
 * ones are read, so that a slow client gets no old states; more of them would leave the processor's cache.
 */
const PIECE_NODES = 24;
const PAGES = 4;
const COMMENT_MOST = VALUE_MAX + 16;
/** The beginning of a document: the prologue, the tags around the first cluster, and a comment for each link. */
const OPENING_MOST = 8192 + 32 * COMMENT_MOST;

/** The sums over the hosts of a source, for one second of the board's clock. */
interface ClusterSums {
  readonly second: bigint;
  readonly name: string;
  readonly path: string;
  readonly summary: Summary;
}

/** Nothing to send yet, but some work was done: the caller may do something else in between. */
const NOTHING = new Uint8Array();

/** What Ganglia calls clusters, and who is told that two have one name. */
export interface Naming {
  /** By the names of clusters; by default they are called as they are. */
  readonly names?: ReadonlyMap<string, string> | undefined;
  /** This board is left out, because one before it has the same name. */
  readonly onDouble?: (name: string, path: string) => void;
}

/** The name of a source whose board is of this cluster. */
export function nameOf({ name }: Pick<ClusterSource, 'name'>, cluster: string, names?: Naming['names']): string {
  const found = safe(name ?? cluster, 'name');
  return names?.get(found) ?? found;
}

export class Documents {
  readonly #renderer: Renderer;
  readonly #pages: Page[] = [];
  readonly #pageBytes: number;
  /** The sums of each source, and their second: pages of ganglia-web ask for them again and again. */
  readonly #summaries = new Map<ClusterSource, ClusterSums>();

  constructor(
    readonly sources: readonly ClusterSource[],
    readonly grid: string = UNSPECIFIED,
    metrics: readonly Metric[] = METRICS,
    readonly naming: Naming = {},
  ) {
    this.#renderer = new Renderer(metrics);
    this.#pageBytes = OPENING_MOST + Math.max(PIECE_NODES * this.#hostMost, this.#renderer.summaryMost);
  }

  /** The length of the longest HOST with its comments, bytes. */
  get #hostMost(): number {
    return this.#renderer.hostMost + 2 * COMMENT_MOST;
  }

  /** A gmond's document: every cluster with all its hosts. To be sent whole: gmetad takes half of one for whole. */
  gmond(localtime: number): Generator<Uint8Array> {
    return this.#document(EVERYTHING, localtime, undefined);
  }

  /** gmetad's answer to a query: the requested part of the grid; if it does not exist, the grid without it. */
  gmetad(query: GangliaQuery, localtime: number): Generator<Uint8Array> {
    return this.#document(query, localtime, this.grid);
  }

  *#document(query: GangliaQuery, localtime: number, grid: string | undefined): Generator<Uint8Array> {
    const page = this.#pages.pop() ?? new Page(this.#pageBytes);
    const shown = new Set<string>();
    try {
      page.length = 0;
      page.text(PROLOGUE);
      page.text(`<GANGLIA_XML${attributes({ VERSION: GANGLIA, SOURCE: grid === undefined ? 'gmond' : 'gmetad' })}>\n`);
      if (grid !== undefined) {
        const authority = `http://${safe(hostname(), 'name')}/ganglia/`;
        page.text(`<GRID${attributes({ NAME: safe(grid, 'name'), AUTHORITY: authority, LOCALTIME: localtime })}>\n`);
      }
      if (query.summary && query.cluster === undefined) yield* this.#sumOfAll(page, localtime, shown);
      else yield* this.#eachThere(source => this.#cluster(page, source, query, localtime, shown));
      if (grid !== undefined) page.text('</GRID>\n');
      page.text('</GANGLIA_XML>\n');
      yield page.written;
    } finally {
      if (this.#pages.length < PAGES) this.#pages.push(page);
    }
  }

  /** The same for each source that has a board now; throws NoBoard if none has. */
  *#eachThere(work: (source: ClusterSource) => Generator<Uint8Array>): Generator<Uint8Array> {
    let missing = 0;
    for (const source of this.sources) {
      let begun = false;
      try {
        for (const bytes of work(source)) {
          begun ||= bytes.length > 0;
          yield bytes;
        }
      } catch (error) {
        // In the middle of a document the only way to report an error is to break off.
        if (begun || !(error instanceof NoBoard) || ++missing === this.sources.length) throw error;
      }
    }
  }

  /** Returns what is written, so that there is room again. */
  *#turn(page: Page): Generator<Uint8Array> {
    yield page.written;
    page.length = 0;
  }

  /**
   * Whether a cluster is not in the document yet. gmetad counts only one of two with one name, and takes every second
   * value of a host that is in both for an illegal one; at the start they are refused, but a board can become another.
   */
  #isFirst(shown: Set<string>, { name, path }: { name: string; path: string }): boolean {
    if (shown.has(name)) this.naming.onDouble?.(name, path);
    return shown.size < shown.add(name).size;
  }

  *#sumOfAll(page: Page, localtime: number, shown: Set<string>): Generator<Uint8Array> {
    const all = new Summary(this.#renderer.metrics.length);
    const found: ClusterSums[] = [];
    const sumUp = (source: ClusterSource) => this.#sum(source);
    const isFirst = (sums: ClusterSums) => this.#isFirst(shown, sums);
    yield* this.#eachThere(function* (source) {
      const sums = yield* sumUp(source);
      if (!isFirst(sums)) return;
      all.add(sums.summary);
      found.push(sums);
    });
    this.#renderer.summary(page, all);
    yield* this.#turn(page);
    for (const sums of found) yield* this.#sumOfOne(page, sums, localtime);
  }

  *#sumOfOne(page: Page, { name, summary }: ClusterSums, localtime: number): Generator<Uint8Array> {
    page.text(clusterOpen(name, localtime));
    this.#renderer.summary(page, summary);
    page.text('</CLUSTER>\n');
    yield* this.#turn(page);
  }

  /** The sums of the source for this second. */
  *#sum(source: ClusterSource): Generator<Uint8Array, ClusterSums> {
    const last = this.#summaries.get(source);
    let sums: ClusterSums | undefined;
    for (const snapshot of source.pieces(PIECE_NODES)) {
      // Not the second of LOCALTIME: that one stops while a wall clock that was set back catches up.
      const second = snapshot.evidence.nowNs / 1_000_000_000n;
      if (sums === undefined && last?.second === second) return last;
      sums ??= { second, ...this.#named(source, snapshot), summary: new Summary(this.#renderer.metrics.length) };
      for (const node of snapshot.nodes()) this.#renderer.add(sums.summary, snapshot, node);
      yield NOTHING;
    }
    // A board has at least one piece, possibly an empty one.
    this.#summaries.set(source, sums as ClusterSums);
    return sums as ClusterSums;
  }

  #named(source: ClusterSource, { header, path }: Snapshot): { name: string; path: string } {
    return { name: nameOf(source, header.cluster_name, this.naming.names), path };
  }

  *#cluster(
    page: Page,
    source: ClusterSource,
    query: GangliaQuery,
    localtime: number,
    shown: Set<string>,
  ): Generator<Uint8Array> {
    // A query is read byte by byte. A page asks for what it has read as ISO-8859-1, in UTF-8.
    const bytesOf = (text: string) => Buffer.from(text).toString('latin1');
    const wanted = (name: string) =>
      query.cluster === undefined || [bytesOf(name), bytesOf(bytesOf(name))].includes(query.cluster);
    const { host } = query;
    if (query.summary && host === undefined) {
      const sums = yield* this.#sum(source);
      if (wanted(sums.name) && this.#isFirst(shown, sums)) yield* this.#sumOfOne(page, sums, localtime);
      return;
    }
    let opened = false;
    for (const snapshot of host === undefined ? source.pieces(PIECE_NODES) : [source.one(host)]) {
      if (!opened) {
        const named = this.#named(source, snapshot);
        if (!wanted(named.name) || !this.#isFirst(shown, named)) return;
        page.text(`${noticeOf(snapshot)}${clusterOpen(named.name, localtime)}`);
        opened = true;
      }
      for (const node of snapshot.nodes()) {
        // Our own pieces fit into a page; a snapshot of a whole board does not.
        if (page.room < this.#hostMost) yield* this.#turn(page);
        this.#host(page, snapshot, node, query, localtime);
      }
      yield* this.#turn(page);
    }
    page.text('</CLUSTER>\n');
    yield* this.#turn(page);
  }

  #host(page: Page, snapshot: Snapshot, node: Node, { metric, summary }: GangliaQuery, localtime: number): void {
    const refusal = mayBeRefused(node.state) ? node.refusedSince : undefined;
    if (refusal !== undefined) page.text(comment(`${node.name} is ${node.state}; ${refusalText(refusal)}`));
    const remembered = snapshot.remembersTrouble(node.index) ? rememberedText(node) : '';
    if (remembered !== '') page.text(comment(`${node.name}: ${remembered}`));
    const has = summary ? NO_METRICS : metric === undefined ? undefined : ({ name }: Metric) => name === metric;
    this.#renderer.host(page, snapshot, node, localtime, has);
  }
}

/** The silences that the board remembers of a node, and its problems, now and recently, in a few words. */
function rememberedText({ memory, state, problems, recently, unmeasured }: Node): string {
  if (memory === undefined) return '';
  const { silence, sinceMs } = memory;
  const parts: string[] = [];
  if (silence !== undefined) {
    const { count, beganMs, endedMs } = silence;
    const often = count === 1 ? 'once' : `${count} times`;
    const last =
      endedMs === undefined
        ? lastingText(state, beganMs)
        : `last for ${formatDuration(beganMs - endedMs)} until ${formatDuration(endedMs)} ago`;
    parts.push(`silent ${often} in ${formatDuration(sinceMs)}, ${last}`);
  }
  const lost = unmeasured.map(
    problem => `${problem} since ${formatDuration(memory.episode(problem)?.measuredMs ?? 0)}`,
  );
  const seen = recently.map(problem => `${problem} ${formatDuration(memory.episode(problem)?.seenMs ?? 0)} ago`);
  if (problems.length > 0) parts.push(`problems: ${problems.join(', ')}`);
  if (seen.length > 0) parts.push(`recent problems: ${seen.join(', ')}`);
  if (lost.length > 0) parts.push(`problems not measured: ${lost.join(', ')}`);
  return parts.join('; ');
}

function clusterOpen(name: string, localtime: number): string {
  const unset = { OWNER: UNSPECIFIED, LATLONG: UNSPECIFIED, URL: UNSPECIFIED };
  return `<CLUSTER${attributes({ NAME: name, LOCALTIME: localtime, ...unset })}>\n`;
}

/** A text between hosts, without what would end a comment, and without what gmetad does not survive. */
function comment(text: string): string {
  return `<!-- ${safe(text, 'value').replaceAll('--', '__')}. -->\n`;
}

/**
 * What a reader has to know before the hosts of a cluster: that the monitor has failed, or that something else is more
 * likely at fault than they are.
 */
function noticeOf(snapshot: Snapshot): string {
  if (snapshot.stalled || snapshot.retired) return comment('The monitor has failed: hosts are shown as they last were');
  return linkNews(snapshot)
    .map(({ text }) => comment(text))
    .join('');
}
