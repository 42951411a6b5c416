// A program that asks a server again and again on many connections, until it is stopped, or so often on one: a test
// forks it, so that what one of them does is not measured by another. No test of its own.

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What it is to ask; the message that starts it. */
export interface Asking {
  readonly host: string;
  readonly port: number;
  /** The addresses that its connections come from, one after the other; absent: any. */
  readonly from?: readonly string[];
  readonly connections: number;
  /** The bytes of each request, one after the other; # becomes a number of at most 5,000. */
  readonly requests: readonly string[];
  /** How an answer ends: as HTTP says; with the connection; or never, and then so many bytes are enough. */
  readonly ends: 'http' | 'close' | number;
  /** Asks on a connection only once. */
  readonly isDirect?: boolean;
  /** How often to ask; absent: until it is stopped. */
  readonly count?: number;
  /** Who answers: for how long it waited for a CPU meanwhile is counted. */
  readonly pid?: number;
}

/** When a request was sent, and answered, ms of CLOCK_MONOTONIC; `starved`: for how long no CPU was free meanwhile. */
export interface Answered {
  readonly connection: number;
  readonly sent: number;
  readonly at: number;
  readonly starved: number;
  /** The first line; empty: the connection was cut off. */
  readonly line: string;
}

const NUMBERS = 5000;
const AGAIN_MS = 20;
const now = () => Number(process.hrtime.bigint()) / 1e6;

/** For how long the main threads of these processes waited for a CPU so far, ms. */
function starvedMs(pids: readonly number[]): number {
  let sum = 0;
  for (const pid of pids) {
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
    } catch {
      // It has ended, or the kernel does not count it.
    }
  }
  return sum;
}

/** Reads one answer; gives its first line, empty if it is cut off. */
class Answer {
  #head = '';
  #length: number | undefined;
  #isChunked = false;
  #bytes = 0;
  #tail = '';

  constructor(readonly ends: Asking['ends']) {}

  get line(): string {
    return this.#head.slice(0, this.#head.search(/[\r\n]|$/)).slice(0, 80);
  }

  /** Whether it has come as a whole. */
  take(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (typeof this.ends === 'number') {
      this.#head ||= chunk.toString('latin1', 0, 80);
      return this.#bytes >= this.ends;
    }
    if (this.ends === 'close') {
      this.#head ||= chunk.toString('latin1', 0, 80);
      return false;
    }
    let body = chunk;
    if (this.#length === undefined && !this.#isChunked) {
      this.#head += chunk.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return false;
      this.#isChunked = /^transfer-encoding: *chunked/im.test(this.#head.slice(0, end));
      this.#length = Number(
        /^content-length: *(\d+)/im.exec(this.#head.slice(0, end))?.[1] ?? Number.POSITIVE_INFINITY,
      );
      this.#bytes = this.#head.length - end - 4;
      // The head's own end is that of the line before the first chunk.
      body = Buffer.from(this.#head.slice(end + 2), 'latin1');
      this.#head = this.#head.slice(0, end);
    }
    if (!this.#isChunked) return this.#bytes >= (this.#length as number);
    this.#tail = (this.#tail + body.subarray(-7).toString('latin1')).slice(-7);
    return this.#tail === '\r\n0\r\n\r\n';
  }
}

const answers: Answered[] = [];
const sockets = new Set<Socket>();
let isStopped = false;
let asked = 0;
/** How many connections have not sent a request yet. */
let quiet = 0;

function opened({ host, port, from }: Asking, number: number): Socket {
  const localAddress = from?.[number % from.length];
  const socket = connect({ host, port, noDelay: true, ...(localAddress !== undefined && { localAddress }) });
  sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
  return socket;
}

/** Says once that each connection has sent a request. */
function sent(): void {
  if (--quiet === 0) process.send?.('begun');
}

/** One request and its answer on a connection; gives the first line. */
function answered(socket: Socket, { ends }: Asking, request: string): Promise<string> {
  const answer = new Answer(ends);
  return new Promise(resolve => {
    const done = (line: string) => {
      socket.off('data', take).off('end', end).off('close', cut);
      resolve(line);
    };
    const take = (chunk: Buffer) => {
      if (answer.take(chunk)) done(answer.line);
    };
    const end = () => done(ends === 'close' ? answer.line : '');
    const cut = () => done('');
    socket.on('data', take).on('end', end).on('close', cut);
    if (ends === 'close') socket.end(request, sent);
    else socket.write(request, sent);
  });
}

async function askOn(connection: number, asking: Asking): Promise<void> {
  const { count = Number.POSITIVE_INFINITY, requests, pid, ends, isDirect = ends !== 'http' } = asking;
  const pids = [process.pid, ...(pid === undefined ? [] : [pid])];
  const isTimed = asking.count !== undefined;
  let socket: Socket | undefined;
  for (let i = 0; i < count && !isStopped; i++) {
    const request = requests[asked % requests.length] as string;
    const starved = isTimed ? starvedMs(pids) : 0;
    const sent = now();
    if (socket === undefined) socket = opened(asking, connection);
    const line = await answered(socket, asking, request.replaceAll('#', String((asked++ % NUMBERS) + 1)));
    const at = now();
    answers.push({ connection, sent, at, starved: isTimed ? starvedMs(pids) - starved : 0, line });
    if (isDirect || line === '') {
      socket.destroy();
      socket = undefined;
    }
    if (isTimed || line === '') await sleep(AGAIN_MS);
  }
  socket?.destroy();
}

process.on('message', (asking: Asking | 'stop') => {
  if (asking === 'stop') {
    isStopped = true;
    const told = [...answers];
    // By its end alone a server would not know that nobody waits for the answer any more.
    for (const socket of sockets) socket.resetAndDestroy();
    process.send?.(told, () => process.exit(0));
    return;
  }
  quiet = asking.connections;
  const all = Array.from({ length: asking.connections }, (_, i) => askOn(i, asking));
  if (asking.count !== undefined) void Promise.all(all).then(() => process.send?.(answers, () => process.exit(0)));
});
