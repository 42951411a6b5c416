// Has V8 compile the program ahead (cache.cjs), unless that was done: runs every verb for its help, and what is asked most often, of
// a board of its own. Exit code 1: it could not be done, and commands start a little later.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERBS } from '../dist/src/common/verbs.js';
import { REPORT_BYTES } from '../dist/src/layout/codec.js';
import { Cluster } from '../dist/src/load/simulatednode.js';
import { CLOCK, clocks } from '../dist/src/native/index.js';
import { deliver, openWriter } from '../dist/src/shm/writer.js';

const SECOND = 1_000_000_000n;
/** More than have a row each in `status`, and some of them silent. */
const NODES = 64;
const SILENT = 5;

/** The wall clock and the one of boards, ns. */
function time() {
  const found = new BigUint64Array(3);
  clocks(found);
  return { real: found[CLOCK.real], now: found[CLOCK.monotonic] };
}

/** A board as a receiver makes it, held. */
function makeBoard(path) {
  const writer = openWriter({
    path,
    cluster: '',
    capacity: NODES,
    uncertainAfter: 4500,
    silentAfter: 10_500,
    nodes: [],
  });
  const { real, now } = time();
  writer.listeningSince(now - 100n * SECOND);
  const about = i => ({ name: `node${i + 10}`, cluster: '', intervalMs: 1000, agentVersion: 0, bootNs: SECOND });
  const cluster = new Cluster(NODES, about, 1);
  for (let i = 0; i < NODES; i++) {
    const age = i < SILENT ? 60n * SECOND : 0n;
    cluster.move(i, real - age, 1000n * SECOND);
    deliver(writer, cluster.reports.subarray(i * REPORT_BYTES, (i + 1) * REPORT_BYTES), now - age, real - age);
  }
  return writer;
}

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), 'cache.cjs');

/** Whatever it says: all that counts is what it loads and calls. Without what else an environment may tell Node, and our own verbs. */
const run = (...argv) => spawnSync(process.execPath, [PROGRAM, ...argv], { env: {}, stdio: 'ignore' }).status;

if (run('--check') !== 0) {
  const folder = mkdtempSync(join(tmpdir(), 'beoboard-cache.'));
  try {
    const board = join(folder, 'board');
    const writer = makeBoard(board);
    for (const [verb, ...argv] of [['status'], ['nodes', '--state', 'silent'], ['check']]) {
      writer.heartbeat(time().now);
      run(verb, ...argv, '--board', board);
    }
    writer.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const verb of Object.keys(VERBS)) run(verb, '--help');
  run();
  if (run('--check') !== 0) {
    console.error('what V8 made of the program could not be kept');
    process.exitCode = 1;
  }
}
