// What it costs to read the board in TypeScript: one record, and all of 10,000 against a memcpy of as many bytes.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REPORT_BYTES } from '../dist/src/layout/codec.js';
import { Cluster } from '../dist/src/load/node.js';
import { BulkSender, mapBoard } from '../dist/src/native/index.js';
import { BoardReader } from '../dist/src/shm/reader.js';
import { end, folder } from './processes.mjs';

const MAIN = fileURLToPath(new URL('../dist/src/main.js', import.meta.url));
const NODES = 10_000;

/** ns that one call takes, over so many. */
function time(calls, work) {
  const began = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) work(i);
  return Number(process.hrtime.bigint() - began) / calls;
}

export async function bench({ quick, say }) {
  const own = folder();
  const board = join(own, 'board');
  const child = fork(MAIN, ['receive', '--board', board, '--listen', '127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [{ listening }] = await once(child, 'message');
  const sender = new BulkSender('127.0.0.1', Number(listening[0].split(':').at(-1)));
  const bootNs = 1_000_000_000_000n;
  const name = i => `node${i}`;
  const cluster = new Cluster(
    NODES,
    i => ({ name: name(i), cluster: undefined, intervalMs: 1000, agentVersion: 1, bootNs }),
    1,
  );
  for (const second of [1n, 2n]) {
    for (let i = 0; i < NODES; i++) cluster.move(i, second * 1_000_000_000n, bootNs + second * 1_000_000_000n);
    for (let sent = 0; sent < NODES; ) sent += sender.send(cluster.reports, REPORT_BYTES, sent, NODES - sent);
    await new Promise(resolve => setTimeout(resolve, 500));
  }
  sender.close();

  const { board: mapping } = mapBoard(board);
  const reader = new BoardReader(board);
  const all = new Uint8Array(mapping.snapshotBytes());
  const one = new Uint8Array(mapping.nodeBytes(1));
  const other = new Uint8Array(all.length).fill(1);
  const copy = new Uint8Array(all.length);
  const laps = quick ? 5 : 15;
  const samples = [];
  say(`${NODES} nodes, ${laps} laps`);
  for (let lap = -1; lap < laps; lap++) {
    mapping.into(one);
    const record = time(50_000, i => mapping.snapshot((i * 7919) % NODES));
    const found = time(20_000, i => mapping.find(name((i * 7919) % NODES)));
    const report = time(5000, i => [...reader.snapshotOf(name((i * 7919) % NODES)).nodes()][0]?.report);
    mapping.into(all);
    // In turn, and of bytes that nobody else touches: neither finds in a cache what it left there itself.
    let [whole, memcpy] = [0, 0];
    for (let i = 0; i < 10; i++) {
      whole += time(1, () => mapping.snapshot(0)) / 10;
      memcpy += time(1, () => copy.set(other)) / 10;
    }
    // The first lap is the compiler's.
    if (lap >= 0) samples.push({ record, found, report, whole, memcpy });
  }
  mapping.unmap();
  reader.close();
  await end(child);
  rmSync(own, { recursive: true });
  const row = (figure, unit, of, bound) => ({ figure, unit, samples: samples.map(of), bound });
  return [
    row('copy of one record', 'ns', ({ record }) => record, 1000),
    row('its place by its name', 'ns', ({ found }) => found),
    row('a node as an object, by its name', 'us', ({ report }) => report / 1000),
    row(`snapshot of ${NODES} records, ${Math.round(all.length / 1e6)} MB`, 'ms', ({ whole }) => whole / 1e6),
    row('memcpy of as many bytes', 'ms', ({ memcpy }) => memcpy / 1e6),
    row('snapshot / memcpy', 'ratio', ({ whole, memcpy }) => whole / memcpy, 1.5),
  ];
}
