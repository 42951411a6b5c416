// Reads a board in TypeScript, as often as time allows, for the bench `readers`, which sends it commands as lines.
//   node reader.mjs BOARD      reads scan, memory, one, object, copy or whole; answers with a line of JSON: the median, ns

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { mapBoard } from '../dist/src/native/index.js';
import { countStates } from '../dist/src/shm/liveness.js';
import { BoardReader } from '../dist/src/shm/reader.js';

const [, , path] = process.argv;
const reader = new BoardReader(path);
const { board: mapping } = mapBoard(path);
const names = reader.snapshot().names();
const nodes = names.length;
const other = new Uint8Array(mapping.snapshotBytes()).fill(1);
const into = new Uint8Array(other.length).fill(1);
const one = new Uint8Array(mapping.nodeBytes(1));
const CALLS = 2000;
const ENOUGH_MS = 50;

function must(holds, what) {
  if (!holds) throw new Error(`reader.mjs: ${what}`);
}

function time(calls, work) {
  const before = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) work(i);
  return Number(process.hrtime.bigint() - before) / calls;
}

/**
 * The median of as many rounds as time allows, ns per call. `beside` runs alternately with it, so that neither finds
 * its own data in a cache.
 */
function measure(calls, work, beside) {
  const [rounds, others] = [[], []];
  const began = performance.now();
  while (rounds.length < 3 || (rounds.length < 1000 && performance.now() - began < ENOUGH_MS)) {
    rounds.push(time(calls, work));
    if (beside !== undefined) others.push(time(1, beside));
  }
  const median = list => list.sort((a, b) => a - b)[list.length >> 1];
  return { ns: median(rounds), memcpy: median(others) };
}

const nameAt = i => names[(i * 7919) % nodes];

const works = {
  /** The state of every node. */
  scan() {
    let states = [];
    const figures = measure(1, () => {
      ({ states } = reader.nodeStates());
    });
    must(states.length === nodes && countStates(states).live === nodes, 'not all nodes are live');
    return figures;
  },
  /** What is remembered of every node, from a snapshot: its recent problems, and its last silence. */
  memory() {
    const snapshot = reader.snapshot();
    return measure(1, () => {
      let known = 0;
      for (const { memory } of snapshot.nodes())
        known += memory.recentBits === 0 && memory.silence === undefined && memory.sinceMs >= 0 ? 1 : 0;
      must(known === nodes, 'a memory was not read');
    });
  },
  /** State and load of a node, by its name. */
  one() {
    return measure(CALLS, i => {
      const [node] = reader.snapshotOf(nameAt(i)).nodes();
      must(node?.state === 'live' && node.field('load1_c') === 150, 'a node was not read');
    });
  },
  /** Its whole report as an object. */
  object() {
    return measure(CALLS / 10, i => {
      const [node] = reader.snapshotOf(nameAt(i)).nodes();
      must(node?.report?.load1_c === 150, 'a node was not read');
    });
  },
  /** The bytes of a record. */
  copy() {
    mapping.into(one);
    return measure(CALLS, i => mapping.snapshot((i * 7919) % nodes));
  },
  /** The bytes of the board, in turn with a copy of as many private bytes. */
  whole() {
    let snapshot;
    const figures = measure(
      1,
      () => {
        snapshot = reader.snapshot();
      },
      () => into.set(other),
    );
    must(snapshot.count === nodes && countStates(snapshot.overview.states).live === nodes, 'not all nodes were read');
    return figures;
  },
};

process.stdout.write(`${JSON.stringify({ nodes, bytes: other.length })}\n`);
const lines = createInterface({ input: process.stdin });
lines.on('line', line => process.stdout.write(`${JSON.stringify(works[line]())}\n`));
await once(lines, 'close');
