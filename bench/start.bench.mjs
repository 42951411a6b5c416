// The time that daemons need to start: until the receiver listens, on a new board and on one that it takes over; until
// a reader sees a sender's first report on the board; both at once; and `npm start -- --alone` on a terminal, when all is
// built, until its screen shows this machine. Beside them a bare `node -e 0`. The sender in C, too, if there is musl-gcc.
// Commands are in `cli`.

import { execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { NoBoard } from '../dist/src/shm/noboard.js';
import { BoardReader } from '../dist/src/shm/reader.js';
import { at, end, folder, isInstalled, MAIN, make, notes, serve, start } from './processes.mjs';
import { fill } from './receiving.mjs';

const NODES = 10_000;
const START = 'npm start -- --alone on a terminal, all built, until its screen shows this machine';
/** What a user takes for at once, ms. */
const START_MOST = 1500;

const ms = since => Number(process.hrtime.bigint() - since) / 1e6;

/** A free port: a sender that is started together with the receiver must know it in advance. */
async function freePort() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

const receiving = (board, port = 0) => ['receive', '--board', board, '--listen', `127.0.0.1:${port}`];

/** Starts a receiver; returns the process, its port, and after how many ms it listened. */
async function startReceiver(board) {
  const began = process.hrtime.bigint();
  const { child, port } = await serve(...receiving(board));
  return { child, took: ms(began), port };
}

const nap = new Int32Array(new SharedArrayBuffer(4));

/** Looks ten times per millisecond until the node is on the board and live; returns after how many ms. */
function seen(board, name, began) {
  const reader = new BoardReader(board);
  try {
    for (;;) {
      try {
        const [node] = reader.snapshotOf(name).nodes();
        if (node?.state === 'live') return ms(began);
      } catch (error) {
        // There is no board yet.
        if (!(error instanceof NoBoard)) throw error;
      }
      if (ms(began) > 20_000) throw new Error(`${name} was not heard`);
      Atomics.wait(nap, 0, 0, 0.1);
    }
  } finally {
    reader.close();
  }
}

const startSender = ([program, ...argv], name, port) =>
  spawn(program, [...argv, '--to', `127.0.0.1:${port}`, '--name', name], { stdio: 'ignore' });

/** Runs `npm start -- --alone` on a terminal until its screen shows this machine; returns after how many ms. */
async function startAll() {
  const began = process.hrtime.bigint();
  const terminal = spawn('script', ['-qfec', 'npm start -- --alone', '/dev/null'], { cwd: at('..'), stdio: 'pipe' });
  const closed = once(terminal, 'close');
  let shown = '';
  const seen = new Promise(resolve => {
    terminal.stdout.setEncoding('utf8').on('data', text => {
      shown += text;
      if (shown.includes('1 live')) resolve(ms(began));
    });
  });
  const took = await Promise.race([seen, closed]);
  if (typeof took !== 'number') throw new Error(`npm start ended: ${shown}`);
  terminal.stdin.end('q');
  await closed;
  return took;
}

/** Leaves a board on which NODES nodes have reported, without a receiver. */
async function leave(board) {
  const { child, port } = await startReceiver(board);
  await fill(port, NODES);
  await end(child);
}

export async function bench({ quick, say }) {
  const own = folder();
  const children = [];
  const keep = child => {
    children.push(child);
    return child;
  };
  const { samples, note } = notes();
  try {
    const senders = { 'beoboard send': [process.execPath, MAIN, 'send'] };
    if (isInstalled('musl-gcc', 'musl-tools', say)) {
      make('sender', own, 'CC=musl-gcc');
      senders['beoboard-send'] = [join(own, 'beoboard-send')];
    }
    const full = join(own, 'full');
    await leave(full);
    const laps = quick ? 5 : 21;
    say(`${laps} laps`);
    for (let lap = 0; lap < laps; lap++) {
      const began = process.hrtime.bigint();
      execFileSync(process.execPath, ['-e', '0']);
      note('node -e 0, whole process', ms(began));
      note(START, await startAll());

      const board = join(own, `board${lap}`);
      const { child, took, port } = await startReceiver(board);
      keep(child);
      note('beoboard receive, until it listens', took);
      for (const [who, command] of Object.entries(senders)) {
        const before = process.hrtime.bigint();
        const sender = keep(startSender(command, `from-${command.length}`, port));
        note(`${who}, until its first report is on the board`, seen(board, `from-${command.length}`, before));
        await end(sender);
      }
      await end(child);
      rmSync(board);

      const again = await startReceiver(full);
      keep(again.child);
      note(`beoboard receive on a board of ${NODES} nodes, until it listens`, again.took);
      await end(again.child);

      for (const [who, command] of Object.entries(senders)) {
        const both = join(own, `both${lap}`);
        const free = await freePort();
        const before = process.hrtime.bigint();
        const receiver = keep(start(...receiving(both, free)));
        const sender = keep(startSender(command, `node${lap}`, free));
        note(
          `beoboard receive and ${who} started at once, until the first report is on the board`,
          seen(both, `node${lap}`, before),
        );
        await end(sender);
        await end(receiver);
        rmSync(both);
      }
    }
  } finally {
    for (const child of children) await end(child);
    rmSync(own, { recursive: true });
  }
  return Object.entries(samples).map(([figure, list]) => ({
    ...{ figure, unit: 'ms', samples: list },
    ...(figure === START && { bound: START_MOST }),
  }));
}
