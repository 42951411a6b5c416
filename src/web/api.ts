// The API: the data of the page, for programs; openapi.ts describes it. Each answer is made for one request, and piece
// by piece if it is long.

import { type AskedEvents, chosenEvents } from '../events/eventfeed.js';
import { schedulerColumns, schedulerSection } from '../jobs/schedulernode.js';
import { ranked } from '../layout/terms.gen.js';
import type { HttpRequest, HttpResponse, StreamBody } from '../net/http.js';
import { checked } from '../net/parameters.js';
import { Refusal } from '../net/requests.js';
import type { Pieces } from '../net/sending.js';
import { EVENTS } from '../options/journalevents.js';
import { someOf } from '../options/values.js';
import { oddOnesOf } from '../outliers/heat.js';
import { nodeHead, nodeSections } from '../presentation/nodesheet.js';
import { boardJson, nodeTeller } from '../presentation/statusjson.js';
import { lookMs } from '../presentation/summary.js';
import { type Condition, parseCondition } from '../query/conditions.js';
import { survey } from '../query/survey.js';
import { SCALES } from '../readings/scales.js';
import { inSlices, SLICE_MS, SlicedLook } from '../service/slices.js';
import { BoardReader, withReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { type Standing, standingOf, sumOf } from '../shm/standing.js';
import { painter } from '../terminal/style.js';
import { attempt } from '../text/failure.js';
import { fold, NameRanges } from '../text/hostlists.js';
import { parseMoment } from '../text/moments.js';
import { escaped, json } from '../text/output.js';
import { didYouMean, InputError, nearest, quote } from '../text/text.js';
import { oddJson, oddText } from '../words/odd.js';
import type { HistoryTable } from './history.js';
import type { JobLook } from './joblook.js';
import { type AskedPage, NodePages } from './nodeorder.js';
import { openApi } from './openapi.js';
import { READINGS, type Wall } from './wall.js';
import { CELL, EVERY_MOST, NO_JOBS, NOT_MEASURED, numberOf, RIVER, STATE_MASK, STATES } from './wire.js';

/** How many nodes one piece of a long answer has: other work gets its turn between two pieces. */
const PIECE_NODES = 32;
const MOST_FIELDS = 64;
const MOST_NAMED = 16;
const MOST_EVENTS = 1000;
/** The share of the time in which what is told of all nodes may be made, for whoever asks. */
const TOLD_SHARE = 0.03;
/** What a node takes, about, bytes: in a document, among names that are asked for, and to be put in an order. */
const NODE_BYTES = 2048;
const NAME_BYTES = 128;
const ORDER_BYTES = 64;
/** A node's row in the river, and how many times as much a group's is. */
const RIVER_BYTES = 540;
const GROUP_SHARE = 22;
const KINDS = someOf('kind of event', ...new Set([...EVENTS, ...ranked.problem, ...STATES]));
const PLAIN = painter('never');

const answer = (body: HttpResponse['body']): HttpResponse => ({ status: 200, type: 'application/json', body });
const whole = (value: object): HttpResponse => answer(`${json(value)}\n`);

/** The same with a long list, whose bytes all clients share. */
async function listed(head: object, name: string, list: Iterable<object>, slices: SlicedLook): Promise<HttpResponse> {
  const rows: string[] = [];
  for (const row of list) {
    rows.push(json(row));
    await slices.next();
  }
  return answer(Buffer.from(`${json(head).slice(0, -1)},"${name}":[${rows.join(',')}]}\n`));
}

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new InputError(`${name} is ${quote(text)}; write a whole number`);
}

/** A look's number, at most the present one, `1h` for so long ago, or a moment. Throws an InputError. */
function sinceOf(query: URLSearchParams, present: number): AskedEvents['since'] {
  const text = query.get('since') ?? '0';
  if (/^\d+$/.test(text)) {
    const s = text.length > 12 ? text.slice(0, -3) : text; // More digits are ms.
    if (Number(text) > present)
      throw new InputError(`since is ${text}, and the present look ${present}; write @${s} for seconds since 1970`);
    return { seq: Number(text) };
  }
  return { ms: parseMoment(/^[\d.]+[a-z]+$/.test(text) ? `${text} ago` : text, Date.now()).ms };
}

/** The parameter nodes; undefined: it is not there. Throws an InputError. */
function rangesOf(query: URLSearchParams, limit: number): NameRanges | undefined {
  const list = query.get('nodes');
  return list === null ? undefined : NameRanges.parse(list, limit);
}

/** A part of a path, decoded; undefined: it is not there, or is no UTF-8. */
const plainOf = (part: string | undefined) => attempt(() => part && decodeURIComponent(part));

/** Names of events, as `events --kind` takes them, and the states of nodes. Throws an InputError. */
const kindsOf = (text: string): ReadonlySet<string> => new Set(KINDS.parse(text));

/** Encodes texts as bytes. */
function* bytesOf(texts: Iterable<string | undefined>): Generator<Uint8Array | undefined> {
  for (const text of texts) yield text === undefined ? undefined : Buffer.from(text);
}

type ToldKind = 'job' | 'jobs' | 'users' | 'odd';

export class Api {
  readonly #pages: NodePages;
  readonly #document = whole(openApi());
  /** What is told again, on which roster, and until when, of performance.now(). */
  readonly #told = new Map<ToldKind, { readonly told: Promise<unknown>; readonly roster: number; until: number }>();

  constructor(readonly wall: Wall) {
    this.#pages = new NodePages(wall);
  }

  /** Answers a request for `path`, which is the part after api/v1/; undefined: there is no such path. */
  async answer(path: string, request: HttpRequest): Promise<HttpResponse | undefined> {
    const { query } = request;
    const name = plainOf(/^nodes\/([^/]+)$/.exec(path)?.[1]);
    if (name !== undefined) return await this.#node(name, checked(query, []));
    const id = plainOf(/^jobs\/([^/]+)$/.exec(path)?.[1]);
    if (id !== undefined) {
      const [jobs, digest] = this.#jobsAnd(query);
      const look = await this.#toldAgain('job', async () => jobs.beside(digest, this.wall.watcher.names));
      // All who have waited for that would go on at once.
      await request.slices.wait();
      return whole({ schema: 1, seq: this.#seq, ...(await jobs.page(id, look, this.wall, request.slices)) });
    }
    switch (path) {
      case 'nodes':
        return await this.#nodes(checked(query, ['nodes', 'where', 'fields', 'sort', 'page', 'seq']), request);
      case 'events':
        return await this.#events(checked(query, ['since', 'nodes', 'kind', 'last']), request);
      case 'jobs':
      case 'users': {
        const [jobs, digest] = this.#jobsAnd(query);
        return await this.#toldAgain(path, async slices => {
          const { list, ...head } = await jobs[path](jobs.beside(digest, this.wall.watcher.names), slices);
          return await listed({ schema: 1, seq: this.#seq, ...head }, path, list, slices);
        });
      }
      case 'odd':
        checked(query, []);
        return await this.#toldAgain(path, async slices => this.#odd(slices));
      case 'readings':
        checked(query, []);
        return whole({ schema: 1, readings: READINGS });
      case 'river':
        return await this.#river(checked(query, ['by', 'reading', 'nodes']), request);
      case 'stream': {
        const view = await this.wall.view(checked(query, ['reading', 'by', 'where', 'every']));
        const every = wholeNumber(query, 'every') ?? 1;
        if (every < 1 || every > EVERY_MOST) throw new InputError(`every is ${every}; write 1 to ${EVERY_MOST}`);
        const body: StreamBody = sink => this.wall.streams.add(view, sink, every);
        // Otherwise nginx would buffer the stream.
        const headers = { 'X-Accel-Buffering': 'no' };
        return { status: 200, type: 'application/octet-stream', body, headers };
      }
      case 'clock':
        checked(query, []);
        return whole({ schema: 1, seq: this.#seq, now_ms: Date.now() });
      case 'openapi.json':
        checked(query, []);
        return this.#document;
      default:
        return undefined;
    }
  }

  get #seq(): number {
    return this.wall.watcher.last?.seq ?? 0;
  }

  /** Throws a Refusal if there was no board at the last look. */
  #checkBoard(): void {
    const { trouble } = this.wall.watcher;
    if (trouble !== undefined) throw new Refusal('no_board', trouble);
  }

  async #nodes(query: URLSearchParams, request: HttpRequest): Promise<HttpResponse> {
    const named = query.get('fields')?.split(',');
    if (named !== undefined && named.length > MOST_FIELDS)
      throw new InputError(`fields: there are ${named.length}; write at most ${MOST_FIELDS}`);
    const fields = named && [...new Set(named)];
    const seq = wholeNumber(query, 'seq');
    const where = query.get('where');
    if (seq !== undefined) {
      const other = ['where', 'nodes', 'sort', 'page'].find(name => query.has(name));
      if (other !== undefined)
        throw new InputError(`${other} and seq do not go together: ${other} is about now; leave one out`);
      await request.take(this.wall.watcher.names.length * NODE_BYTES);
      return this.#nodesAt(seq, fields);
    }
    const page = wholeNumber(query, 'page');
    if (page === 0) throw new InputError('page is 0; the first one is 1');
    const sort = query.get('sort') ?? (page === undefined ? undefined : 'state');
    const { length } = this.wall.watcher.names;
    const ranges = rangesOf(query, this.#namesMost);
    const about = Math.min(length, ranges?.size ?? length);
    await request.take(sort === undefined ? about * NODE_BYTES : length * ORDER_BYTES + about * NAME_BYTES);
    const among = await this.#namesOn(ranges, request.slices);
    // Here an invalid request throws.
    const chosen = where === null ? undefined : await this.wall.queries.chosen(where);
    if (sort !== undefined) {
      const isChosen: AskedPage['isChosen'] = (index, name) =>
        (among === undefined || among.has(name)) && (chosen === undefined || chosen.holds[index] === 1);
      return await this.#nodePage(`${query}`, { sort, page: page ?? 1, fields, isChosen, slices: request.slices });
    }
    const teller = nodeTeller(fields, this.wall.heads.digest);
    const condition = where === null ? undefined : parseCondition(where);
    // Trouble with the board is reported before the first byte.
    this.#checkBoard();
    const isShown: Condition = node =>
      (among === undefined || among.has(node.name)) && (condition === undefined || condition(node));
    return answer(bytesOf(this.#nodePieces(teller, isShown)));
  }

  /** More names than nodes are of no use. */
  get #namesMost(): number {
    return Math.max(RIVER.mostNodes, this.wall.watcher.names.length);
  }

  /** The names that are asked for; undefined: all. Throws an InputError for those that are not on the board. */
  async #namesOn(ranges: NameRanges | undefined, slices: SlicedLook): Promise<ReadonlySet<string> | undefined> {
    const asked = ranges?.made();
    if (asked === undefined) return undefined;
    await slices.next();
    const notOnBoard = new Set(asked);
    for (const [i, name] of this.wall.watcher.names.entries()) {
      notOnBoard.delete(name);
      if (i % PIECE_NODES === 0) await slices.next();
    }
    const some = [...notOnBoard].slice(0, MOST_NAMED);
    const more = notOnBoard.size - some.length;
    if (some.length > 0)
      throw new InputError(`nodes: not on the board: ${quote(fold(some))}${more > 0 ? ` and ${more} more` : ''}`);
    return asked;
  }

  async #nodePage(key: string, asked: Omit<AskedPage, 'columns'>): Promise<HttpResponse> {
    const { jobs, watcher } = this.wall;
    const hidden = [...(asked.fields ?? []), asked.sort].find(name => /^-?(slurm|user|jobs)$/.test(name));
    if (jobs === undefined && hidden !== undefined) throw new InputError(`${quote(hidden)}: ${NO_JOBS}`);
    this.#checkBoard();
    return answer(
      await this.#pages.page(key, {
        ...asked,
        columns: jobs === undefined ? [] : schedulerColumns(jobs.view(watcher.names), true),
      }),
    );
  }

  *#nodePieces(teller: (node: Parameters<Condition>[0]) => string, isShown: Condition): Generator<string | undefined> {
    const { path, owner } = this.wall.watcher.reader;
    const reader = new BoardReader(path, owner);
    try {
      let separator = '';
      let counts: Standing | undefined;
      let began = performance.now();
      for (const piece of reader.pieces(PIECE_NODES)) {
        if (separator === '') {
          const board = { ...boardJson(piece), nodes: piece.total };
          yield `{"schema":1,"seq":${this.#seq},"board":${json(board)},"nodes":[`;
          separator = '\n';
        }
        let text = '';
        const some: { index: number }[] = [];
        for (const node of piece.nodes()) {
          if (performance.now() - began > SLICE_MS) {
            yield text === '' ? undefined : text;
            text = '';
            began = performance.now();
          }
          if (!isShown(node)) continue;
          some.push({ index: node.index });
          text += `${separator}${teller(node)}`;
          separator = ',\n';
        }
        const standing = standingOf(piece, some);
        counts = counts === undefined ? standing : sumOf(counts, standing);
        yield text === '' ? undefined : text;
        began = performance.now();
      }
      yield `\n],"counts":${json(counts ?? {})}}\n`;
    } finally {
      reader.close();
    }
  }

  /** The cells of a look as numbers. */
  #nodesAt(seq: number, fields: readonly string[] | undefined): HttpResponse {
    const tick = this.wall.watcher.tick(seq);
    if (tick === undefined) {
      const { ticks } = this.wall.watcher;
      throw new Refusal(
        'not_kept',
        `seq ${seq} is not kept; there are ${ticks.at(-1)?.seq ?? 0} to ${ticks[0]?.seq ?? 0}`,
      );
    }
    const names = SCALES.map(({ name }) => name);
    const chosen = (fields ?? names).map(name => {
      const index = names.indexOf(name);
      if (index >= 0) return index;
      throw new InputError(
        `fields: only the readings of the map are kept for each look, and ${quote(name)} is not one; ${didYouMean(nearest(name, names), `there are ${names.join(', ')}`)}`,
      );
    });
    const nodes = this.wall.watcher.names.slice(0, tick.count);
    // The buffers of a look are used again, so the cells are copied at once and written piece by piece.
    const copyOf = (index: number) => (tick.cells[index] as Uint16Array).slice(0, tick.count);
    const [stateCells, copies] = [copyOf(0), chosen.map(copyOf)];
    const head = { schema: 1, seq, now_ms: tick.nowMs, state: tick.state };
    function* texts(): Generator<string> {
      yield `${JSON.stringify(head).slice(0, -1)},"nodes":[`;
      for (let i = 0; i < nodes.length; ) {
        let text = '';
        for (const end = Math.min(nodes.length, i + 1024); i < end; i++) {
          const cell = stateCells[i] as number;
          const node: Record<string, unknown> = {
            name: nodes[i],
            state: STATES[cell & STATE_MASK],
            unhealthy: (cell & CELL.unhealthy) !== 0,
          };
          for (const [j, index] of chosen.entries()) {
            const value = ((copies[j] as Uint16Array)[i] as number) >>> CELL.valueShift;
            // As many figures as a cell can distinguish.
            if (value !== NOT_MEASURED)
              node[names[index] as string] = Number(
                numberOf(SCALES[index] as (typeof SCALES)[number], value).toPrecision(5),
              );
          }
          text += `${i > 0 ? ',' : ''}\n${escaped(JSON.stringify(node))}`;
        }
        yield text;
      }
      yield '\n]}\n';
    }
    return answer(bytesOf(texts()));
  }

  async #node(name: string, _: URLSearchParams): Promise<HttpResponse> {
    const { path, owner } = this.wall.watcher.reader;
    return await withReader(path, owner, async reader => {
      const snapshot = reader.snapshotOf(name);
      snapshot.tellsUtc = true;
      const [node] = [...snapshot.nodes()];
      if (node === undefined) throw new Refusal('unknown_node', `${quote(name)} is not on the board`);
      const { jobs, watcher } = this.wall;
      const slurm = jobs && schedulerSection(jobs.view(watcher.names), name, lookMs(snapshot));
      const sheet = {
        schema: 1,
        seq: this.#seq,
        line: nodeHead(node, PLAIN),
        trouble: this.wall.heads.troubleWith(name),
        sections: nodeSections(node, slurm, this.wall.heads.digest),
        history: this.wall.river.node(name),
      };
      return answer(`${json(sheet).slice(0, -1)},"node":${nodeTeller(undefined, this.wall.heads.digest)(node)}}\n`);
    });
  }

  async #events(query: URLSearchParams, { slices, take }: HttpRequest): Promise<HttpResponse> {
    const since = sinceOf(query, this.#seq);
    const [ranges, kinds] = [rangesOf(query, this.#namesMost), query.get('kind')];
    await take((ranges?.size ?? 0) * NAME_BYTES);
    const nodes = ranges?.made();
    await slices.next();
    const { from, log, isLacking } = this.wall.events;
    const { kept, count } = log;
    const [seq, oldest] = [this.#seq, kept[0]];
    // No events are known from before `from`; of those since then, the last ones are kept.
    const areAll = 'seq' in since || since.ms >= Date.parse(from.from);
    const isBefore = 'seq' in since ? (oldest?.seq ?? 0) <= since.seq : Date.parse(oldest?.time ?? '') < since.ms;
    const asked = { since, nodes, kinds: kinds === null ? undefined : kindsOf(kinds) };
    const found = await chosenEvents(kept, asked, slices);
    const last = wholeNumber(query, 'last') ?? MOST_EVENTS;
    const more = Math.max(0, found.length - Math.min(last, MOST_EVENTS));
    const isWhole = !isLacking && ((areAll && count === kept.length) || isBefore);
    const head = { schema: 1, seq, ...from, whole: isWhole && more === 0, more };
    return await listed(head, 'events', found.slice(more), slices);
  }

  /** The jobs, and the board beside them. Throws a Refusal if there is none, or they are not shown. */
  #jobsAnd(query: URLSearchParams): [JobLook, Snapshot] {
    checked(query, []);
    const { jobs, watcher } = this.wall;
    const { digest } = this.wall.heads;
    if (jobs === undefined) throw new Refusal('jobs_hidden', NO_JOBS);
    if (digest === undefined) throw new Refusal('no_board', watcher.trouble ?? 'the board was not looked at yet');
    return [jobs, digest];
  }

  /** In what nodes differ from their families. */
  async #odd(slices: SlicedLook): Promise<HttpResponse> {
    const { path, owner } = this.wall.watcher.reader;
    return await withReader(path, owner, async reader => {
      const names: string[] = [];
      const parts = function* () {
        names.length = 0;
        for (const piece of reader.pieces()) {
          names.push(...piece.names());
          yield survey(piece);
        }
      };
      const nodes = { node: (number: number) => reader.snapshotOf(names[number] as string).node(0) };
      const odd = await inSlices(oddOnesOf(parts), slices);
      const rows = function* () {
        for (const one of odd) yield { ...oddJson(nodes, names, one), text: oddText(nodes, names, one) };
      };
      return await listed({ schema: 1, seq: this.#seq }, 'odd', rows(), slices);
    });
  }

  /** What is made for nobody in particular, and in nobody's turns. What took long is told again. */
  async #toldAgain<T>(kind: ToldKind, tell: (slices: SlicedLook) => Promise<T>): Promise<T> {
    this.#checkBoard();
    const began = performance.now();
    const { roster } = this.wall.watcher;
    const known = this.#told.get(kind);
    if (known !== undefined && known.roster === roster && began < known.until) return (await known.told) as T;
    const told = tell(new SlicedLook());
    const kept = { told, roster, until: Number.POSITIVE_INFINITY };
    this.#told.set(kind, kept);
    try {
      const found = await told;
      const end = performance.now();
      kept.until = end + (end - began) / TOLD_SHARE;
      return found;
    } catch (error) {
      kept.until = 0; // Nobody else is told of it.
      throw error;
    }
  }

  async #river(query: URLSearchParams, request: HttpRequest): Promise<HttpResponse> {
    const { scale, by } = await this.wall.view(query);
    const groups = Math.min(by?.grouped.names.length ?? 1, RIVER.mostRows);
    const ranges = rangesOf(query, RIVER.mostNodes);
    await request.take((ranges?.size ?? groups * GROUP_SHARE) * RIVER_BYTES);
    const { river, watcher } = this.wall;
    const reading = (SCALES[scale] as (typeof SCALES)[number]).name;
    const common = { schema: 1, reading };
    if (ranges === undefined) {
      const table = await river.groups(by?.text ?? '', by?.grouped, watcher.last?.count ?? 0, scale, request.slices);
      return this.#packed({ ...common, by: by?.text ?? null }, table);
    }
    if (by !== undefined) throw new InputError('by and nodes do not go together; leave one out');
    const names = (await this.#namesOn(ranges, request.slices)) ?? [];
    return this.#packed(common, await river.nodes([...names], scale, request.slices));
  }

  #packed(common: object, { head, columns }: HistoryTable): HttpResponse {
    const text = Buffer.from(escaped(JSON.stringify({ ...common, ...head })));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(text.length);
    const body: Pieces = [Buffer.concat([length, text]), ...columns];
    return { status: 200, type: 'application/octet-stream', body };
  }
}
