// A plain client of the wall, in place of a page: decodes the stream, and keeps the same state of the map as a page. No
// test of its own.

import { get, type IncomingHttpHeaders } from 'node:http';
import type { Sink } from '../../src/net/http.js';
import type { KeptEvent } from '../../src/presentation/shapes.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import {
  CELL,
  FRAME,
  FRAME_HEAD,
  type Hello,
  type LayoutInfo,
  STATES,
  type State,
  type WallHead,
} from '../../src/web/wire.js';
import { type Running, start } from '../kit/program.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/** The state from a stream so far. */
export class WallClient {
  hello: Hello | undefined;
  layout: LayoutInfo | undefined;
  names: string[] = [];
  cells = new Uint16Array();
  seq = 0;
  head: WallHead | undefined;
  readonly events: KeptEvent[] = [];
  /** The number of frames of each kind. */
  readonly frames: Record<string, number> = {};
  status = 0;
  headers: IncomingHttpHeaders = {};
  /** Errors in the frames, as sentences. */
  readonly wrong: string[] = [];
  /** The stream has ended. */
  hasEnded = false;
  #rest = Buffer.alloc(0);
  #close: () => void = () => undefined;

  /** Opens a stream; it is closed with the test. */
  static open(t: Teardown, url: string, query = '', headers: Record<string, string> = {}): WallClient {
    const client = new WallClient();
    const request = get(`${url}api/v1/stream${query}`, { agent: false, headers }, response => {
      client.status = response.statusCode ?? 0;
      client.headers = response.headers;
      response.on('data', (data: Buffer) => {
        if (client.status === 200) client.push(data);
      });
      response.on('close', () => {
        client.hasEnded = true;
      });
    });
    request.on('error', () => {
      client.hasEnded = true;
    });
    client.#close = () => request.destroy();
    t.teardown(client.#close);
    return client;
  }

  close(): void {
    this.#close();
  }

  push(data: Uint8Array): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    while (this.#rest.length >= FRAME_HEAD) {
      const length = this.#rest.readUInt32LE(0);
      if (this.#rest.length < 4 + length) return;
      this.#take(this.#rest[4] as number, this.#rest.subarray(FRAME_HEAD, 4 + length));
      this.#rest = this.#rest.subarray(4 + length);
    }
  }

  #take(kind: number, payload: Buffer): void {
    const name = Object.entries(FRAME).find(([, number]) => number === kind)?.[0] ?? `kind ${kind}`;
    this.frames[name] = (this.frames[name] ?? 0) + 1;
    const word = (at: number) => payload.readUInt32LE(at);
    switch (kind) {
      case FRAME.hello:
        this.hello = JSON.parse(payload.toString());
        break;
      case FRAME.layout:
        this.layout = JSON.parse(payload.toString()) as LayoutInfo;
        this.names = this.layout.groups.flatMap(({ nodes }) => expand(nodes, BOARD_MOST));
        if (this.names.length !== this.layout.count) this.wrong.push('the lists of a layout have other nodes');
        break;
      case FRAME.picture:
        if (word(0) !== this.layout?.layout) this.wrong.push(`a picture of layout ${word(0)}`);
        this.seq = word(4);
        this.cells = Uint16Array.from({ length: (payload.length - 8) / 2 }, (_, i) => payload.readUInt16LE(8 + 2 * i));
        if (this.cells.length !== this.names.length) this.wrong.push('a picture of so many other cells');
        break;
      case FRAME.changes: {
        const changed = word(12);
        if (word(0) !== this.layout?.layout || word(8) !== this.seq)
          this.wrong.push(`changes of layout ${word(0)} from ${word(8)}, which is not ${this.seq}`);
        this.seq = word(4);
        for (let i = 0; i < changed; i++) this.cells[word(16 + 4 * i)] = payload.readUInt16LE(16 + 4 * changed + 2 * i);
        if (payload.length !== 16 + 6 * changed) this.wrong.push('changes of another length');
        break;
      }
      case FRAME.head:
        this.head = JSON.parse(payload.toString());
        if (this.head?.seq !== this.seq) this.wrong.push(`a head of ${this.head?.seq} behind ${this.seq}`);
        break;
      case FRAME.events:
        this.events.push(...JSON.parse(payload.toString()));
        break;
      default:
        this.wrong.push(name);
    }
  }

  #cell(name: string): number {
    return this.cells[this.names.indexOf(name)] as number;
  }

  state(name: string): State | undefined {
    return STATES[this.#cell(name) & (2 ** CELL.stateBits - 1)];
  }

  /** The value in the node's cell: 0 to VALUE_MOST, or NOT_MEASURED. */
  value(name: string): number {
    return this.#cell(name) >>> CELL.valueShift;
  }

  /** The number of nodes in a state. */
  count(state: State): number {
    return this.cells.reduce((sum, cell) => sum + Number(STATES[cell & (2 ** CELL.stateBits - 1)] === state), 0);
  }
}

/** Starts `beoboard web` on a free port; its address ends in a slash. */
export async function startWeb(
  t: Teardown,
  board: string,
  more: string[] = [],
): Promise<Running & { url: string; port: number }> {
  const running = start(t, ['web', '--board', board, '--listen', '127.0.0.1:0', ...more]);
  const { listening } = await running.ready;
  const port = Number(listening?.[0]?.split(':').at(-1));
  return { ...running, port, url: `http://127.0.0.1:${port}/` };
}

interface Got {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
  readonly text: string;
  json(): unknown;
}

/** Sends one request. */
export function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, method, agent: false }, response => {
      const pieces: Buffer[] = [];
      response.on('data', piece => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(pieces);
        const text = body.toString();
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body, text, json: () => JSON.parse(text) });
      });
    });
    request.on('error', reject);
  });
}

/** A client in this process that reads when it is told to. */
export class Reader implements Sink {
  isFree = true;
  readonly got: Uint8Array[] = [];
  readonly client = new WallClient();
  readonly #gone: (() => void)[] = [];
  hasEnded = false;

  write(bytes: Uint8Array): void {
    this.got.push(bytes);
    this.client.push(bytes);
  }

  end(): void {
    this.hasEnded = true;
    this.leave();
  }

  onGone(act: () => void): void {
    this.#gone.push(act);
  }

  leave(): void {
    for (const act of this.#gone.splice(0)) act();
  }
}
