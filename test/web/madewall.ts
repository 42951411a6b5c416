// A server of the page whose nodes and trouble are made by the test: it says what it is told to, when it is told to. No
// test of its own.

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type { TroubleInfo } from '../../src/acks/info.js';
import type { KeptEvent } from '../../src/presentation/shapes.js';
import { BOARD_MOST, expand, fold } from '../../src/text/hostlists.js';
import { readPageFiles } from '../../src/web/pagefiles.js';
import {
  CELL,
  FRAME,
  FRAME_HEAD,
  type Hello,
  type LayoutInfo,
  NODE_PAGE,
  STATES,
  type WallHead,
} from '../../src/web/wire.js';
import type { Teardown } from '../kit/places.js';

function frame(kind: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUInt32LE(1 + payload.length);
  head[4] = kind;
  return Buffer.concat([head, payload]);
}

const json = (kind: number, value: unknown) => frame(kind, Buffer.from(JSON.stringify(value)));

/** A line of trouble about these nodes, a host list; what is not given is that of a warning since an hour ago. */
export const line = (key: string, nodes: string, count: number, more: Partial<TroubleInfo> = {}): TroubleInfo => ({
  key,
  kind: key,
  severity: 'warning',
  nodes,
  count,
  what: `has the trouble ${key}`,
  since: '2026-03-01T01:10:03Z',
  ...more,
});

const FROM = { journal: true, from: '2026-03-01T01:00:00Z' };

export class MadeWall {
  /** Nodes that are silent from the beginning, and whole cells of others. */
  readonly silent = new Set<string>();
  readonly cells = new Map<string, number>();
  /** What `api/v1/jobs` has. */
  jobs: readonly { readonly id: string; readonly nodes: string; readonly [key: string]: unknown }[] = [];
  switches: readonly { readonly name: string; readonly nodes: string }[] = [];
  /** What `api/v1/events` has, as from a journal; undefined: no answer. */
  events: KeptEvent[] | undefined;
  readonly #streams = new Set<ServerResponse>();
  readonly #names: readonly string[];
  /** The server's clock, ms since 1970. */
  readonly now = Date.parse('2026-03-01T02:10:03Z');
  url = '';
  hello: Hello;
  head: WallHead;

  /** Nodes of these groups, each a host list's names. */
  constructor(
    readonly groups: readonly { readonly name: string; readonly names: readonly string[] }[],
    hasJobs: boolean,
  ) {
    this.#names = groups.flatMap(({ names }) => names);
    const { length } = this.#names;
    this.hello = {
      schema: 1,
      build: 'made',
      cluster: 'alpha',
      boardId: 'made',
      named: " --board '/run/two words'",
      now_ms: this.now,
      interval_ms: 1000,
      zone: 'UTC',
      readings: [{ name: 'cpu', title: 'CPU', unit: '%', low: 0, high: 100, scale: 'linear', about: 'made' }],
      reading: 'cpu',
      by: 'rack',
      where: null,
      jobs: hasJobs,
    };
    this.head = {
      seq: 1,
      now_ms: this.now,
      state: 'ok',
      line: `alpha: ${length} nodes: ${length} live; listening without gaps for 3 h 20 min`,
      counts: { live: length },
      marks: {},
      unhealthy: 0,
      recently: 0,
      trouble: [],
      trouble_more: 0,
      dark: [],
      events: { journal: false, from: '2026-03-01T01:50:03Z', why: 'no journal of this board runs' },
    };
  }

  async listen(t: Teardown): Promise<void> {
    const { files } = readPageFiles();
    const server = createServer((request, response) => {
      const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://wall');
      const file = files.get(path);
      if (file !== undefined) response.writeHead(200, { 'Content-Type': file.type }).end(file.body);
      else if (path === '/api/v1/stream') {
        response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
        response.write(Buffer.concat([this.#begin(), json(FRAME.head, this.head)]));
        this.#streams.add(response);
        response.on('close', () => this.#streams.delete(response));
      } else if (path === '/api/v1/jobs') {
        response
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end(JSON.stringify({ jobs: this.jobs, switches: this.switches }));
      } else if (path === '/api/v1/events' && this.events !== undefined) {
        const told = { ...FROM, whole: true, more: 0, events: this.events };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(told));
      } else if (path === '/api/v1/nodes') {
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(this.#rows(searchParams)));
      } else response.writeHead(204).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  /** A page of nodes, in their order. */
  #rows(query: URLSearchParams): object {
    const list = query.get('nodes');
    const names = list === null ? this.#names : expand(list, BOARD_MOST);
    const page = Number(query.get('page'));
    const jobsOn = (name: string) =>
      this.jobs.filter(({ nodes }) => expand(nodes, BOARD_MOST).includes(name)).map(({ id }) => id);
    const nodes = names.slice((page - 1) * NODE_PAGE, page * NODE_PAGE).map(name => ({
      name,
      state: this.silent.has(name) ? 'silent' : 'live',
      cpu: 43,
      jobs: jobsOn(name).join(', '),
    }));
    return { now_ms: this.head.now_ms, total: names.length, unmeasured: ['gpu', 'temp', 'power', 'net'], nodes };
  }

  #begin(): Buffer {
    let first = 0;
    const groups = this.groups.map(({ name, names }) => {
      const group = { name, nodes: fold(names), first, count: names.length };
      first += names.length;
      return group;
    });
    const layout: LayoutInfo = { layout: 1, count: first, groups };
    const picture = Buffer.alloc(8 + 2 * first);
    picture.writeUInt32LE(1, 0);
    picture.writeUInt32LE(this.head.seq, 4);
    for (const [cell, name] of this.groups.flatMap(({ names }) => names).entries()) {
      const state = STATES.indexOf(this.silent.has(name) ? 'silent' : 'live');
      const load = ((cell % 40) * 100 * 2 ** CELL.valueShift) | state;
      picture.writeUInt16LE(this.cells.get(name) ?? load, 8 + 2 * cell);
    }
    return Buffer.concat([json(FRAME.hello, this.hello), json(FRAME.layout, layout), frame(FRAME.picture, picture)]);
  }

  /** An event now, of which the stream tells. */
  happen(text: string): void {
    const time = new Date(this.head.now_ms).toISOString();
    const event = { seq: this.head.seq, time, event: 'made', nodes: 'rack10n01', text } as KeptEvent;
    this.events = [...(this.events ?? []), event];
    this.head = { ...this.head, events: FROM };
    for (const stream of this.#streams) stream.write(json(FRAME.events, [event]));
  }

  /** The next look, in which the head says this besides what it said. */
  say(change: Partial<WallHead>): void {
    const before = this.head.seq;
    this.head = { ...this.head, ...change, seq: before + 1, now_ms: change.now_ms ?? this.head.now_ms + 1000 };
    // The first cell, without which nothing is drawn anew.
    const changes = Buffer.alloc(22);
    for (const [i, word] of [1, before + 1, before, 1, 0].entries()) changes.writeUInt32LE(word, 4 * i);
    changes.writeUInt16LE(((before % 100) << CELL.valueShift) | STATES.indexOf('live'), 20);
    const frames = Buffer.concat([frame(FRAME.changes, changes), json(FRAME.head, this.head)]);
    for (const stream of this.#streams) stream.write(frames);
  }
}

/** A phone, a tablet, desks at twice their size (720 and 640 px), desks, and large screens. */
export const SIZES = [
  ...[[390, 844] as const, [768, 1024] as const, [640, 360] as const, [720, 450] as const, [1280, 720] as const],
  ...[[1440, 900] as const, [1920, 1080] as const, [2560, 1440] as const, [3840, 2160] as const],
];

/** From now on `window.shifts` of the page has what moved without the user, by Chromium's own measure. */
export const watchShifts = (page: Page): Promise<void> =>
  page.evaluate<undefined>(`new Promise(done => {
    window.shifts = [];
    const name = node => node?.id || node?.parentElement?.id || node?.className || node?.nodeName;
    const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ');
    new PerformanceObserver(list => {
      for (const { value, sources } of list.getEntries())
        window.shifts.push([value, ...sources.map(({ node, previousRect, currentRect }) =>
          name(node) + ': ' + place(previousRect) + ' to ' + place(currentRect))]);
    }).observe({ type: 'layout-shift' });
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
  })`);

/** Forgets them, once the frame is shown that is being made now. */
export const forgetShifts = (page: Page): Promise<void> =>
  page.evaluate<undefined>(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => {
    window.shifts = [];
    done();
  })))`);
