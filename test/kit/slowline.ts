// A line of a given rate before a server: a TCP proxy that lets so many bytes a second pass to the client, all
// connections together, and holds the others back in a buffer as a modem does. No test of its own.

import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import type { Teardown } from './places.js';

const STEP_MS = 50;
/** What lies in its buffer for each connection, at most. */
const HELD = 1 << 20;

export class SlowLine {
  port = 0;
  /** Bytes a second. */
  rate: number;
  readonly #held = new Map<Socket, Buffer[]>();

  readonly #ending = new Set<Socket>();

  private constructor(rate: number) {
    this.rate = rate;
  }

  /** Opens it before that port; it is closed with the test. */
  static async before(t: Teardown, port: number, rate: number): Promise<SlowLine> {
    const line = new SlowLine(rate);
    const sockets = new Set<Socket>();
    const server = createServer(client => {
      const up = createConnection(port, '127.0.0.1');
      const pieces: Buffer[] = [];
      line.#held.set(client, pieces);
      const end = () => {
        line.#held.delete(client);
        line.#ending.delete(client);
        for (const socket of [client, up]) {
          socket.destroy();
          sockets.delete(socket);
        }
      };
      for (const socket of [client, up]) {
        sockets.add(socket);
        socket.on('error', end).setNoDelay();
      }
      client.on('close', end);
      // What is held still arrives.
      up.on('close', () => {
        if (pieces.length === 0) client.end();
        else line.#ending.add(client);
      });
      client.on('data', data => up.write(data));
      up.on('data', (data: Buffer) => {
        pieces.push(data);
        if (pieces.reduce((sum, { length }) => sum + length, 0) > HELD) up.pause();
      });
      client.on('drain', () => up.resume());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    line.port = (server.address() as AddressInfo).port;
    const timer = setInterval(() => line.#pass(), STEP_MS);
    t.teardown(() => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return line;
  }

  /** Each connection with something to send has the same share. */
  #pass(): void {
    const busy = [...this.#held].filter(([, pieces]) => pieces.length > 0);
    for (const [client, pieces] of busy) {
      let left = Math.max(1, Math.floor((this.rate * STEP_MS) / 1000 / busy.length));
      while (left > 0 && pieces[0] !== undefined) {
        const piece = pieces[0];
        client.write(piece.subarray(0, left));
        if (piece.length > left) pieces[0] = piece.subarray(left);
        else pieces.shift();
        left -= piece.length;
      }
      if (pieces.length > 0) continue;
      if (this.#ending.delete(client)) client.end();
      else client.emit('drain');
    }
  }
}
