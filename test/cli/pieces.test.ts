// Verbs that write much write it in pieces: the first one before the last node is read, no faster than their reader
// takes them, no further than it reads, and in the same memory however much it is.
//
// @rest

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, truncateSync } from 'node:fs';
import t from 'tap';
import { csvPieces } from '../../src/cli/csv.js';
import { structs } from '../../src/layout/layout.gen.js';
import { jsonPieces } from '../../src/presentation/statusjson.js';
import { survey } from '../../src/query/survey.js';
import { busy, madeBoard } from '../kit/madeboard.js';
import { boardPath } from '../kit/places.js';
import { PROGRAM, run, startReceiver } from '../kit/program.js';

const FEW = 100;
const MANY = 2000;

/** A board with so many nodes, whose receiver still runs. */
async function boardOf(nodes: number): Promise<string> {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--capacity', `${MANY}`]);
  const load = ['--to', `127.0.0.1:${port}`, '--size', String(nodes), '--for', '3s'];
  await run(['load', ...load]);
  return board;
}

/** Starts a verb whose output is only read when it is asked for. */
function begin(...argv: string[]) {
  // With little room for what is young: how much of it there is at once depends on how busy the machine is.
  const child = spawn(process.execPath, ['--max-semi-space-size=1', PROGRAM, ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { stdout } = child;
  const exit = once(child, 'close').then(([code, signal]) => code ?? signal);
  const first = async () => {
    await once(stdout, 'readable');
    return String(stdout.read());
  };
  const rest = async (look: () => void = () => undefined) => {
    const chunks: Buffer[] = [];
    for await (const chunk of stdout) {
      chunks.push(chunk);
      look();
    }
    return Buffer.concat(chunks);
  };
  return { child, stdout, exit, first, rest };
}

let few = '';
let many = '';
t.before(async () => {
  [few, many] = await Promise.all([boardOf(FEW), boardOf(MANY)]);
});

t.test('status: the first piece comes before the nodes are compared and sorted', async t => {
  const found = survey(madeBoard([{ name: 'node1', age: 1, ...busy(1) }]));
  let isTold = false;
  const nodes = () => {
    isTold = true;
    return found.nodes;
  };
  const text = (piece: IteratorResult<string | Uint8Array>) => Buffer.from(piece.value).toString();
  const csv = csvPieces(found, nodes, ['load'])[Symbol.iterator]();
  t.equal(text(csv.next()), 'name,load\r\n');
  t.notOk(isTold);
  t.match(text(csv.next()), /^node1,/);
  t.ok(isTold);
  isTold = false;
  const json = jsonPieces(found.snapshot, () => ({ nodes: nodes(), odd: [], trouble: [] }))[Symbol.iterator]();
  const head = json.next();
  t.match(text(head), /^\{"schema":1,"board":\{.*\}$/);
  t.ok(head.value instanceof Uint8Array, 'bytes, which print sends at once');
  t.notOk(isTold);
  json.next();
  t.ok(isTold);
});

t.test('dump: records are read while their reader reads', async t => {
  for (const form of [[], ['--json']]) {
    // A copy, because its receiver would not survive what follows.
    const copy = boardPath(t);
    copyFileSync(many, copy);
    const whole = await run(['dump', ...form, '--board', copy]);
    t.equal(whole.code, 0);
    const { first, rest, exit } = begin('dump', ...form, '--board', copy);
    const head = await first();
    t.ok(whole.stdout.startsWith(head));
    // It cannot have read the last record yet: the pipe is full, and holds a small part of the output.
    truncateSync(copy, structs.board_header.bytes);
    t.match(String(await rest()).slice(-100), /it changed while it was read; look again/, form.join());
    t.equal(await exit, 1);
  }
});

t.test('dump: it reads no further when nobody reads it', async t => {
  for (const form of [[], ['--json']]) {
    const copy = boardPath(t);
    copyFileSync(many, copy);
    const { first, stdout, exit } = begin('dump', ...form, '--board', copy);
    await first();
    truncateSync(copy, structs.board_header.bytes);
    stdout.destroy();
    t.equal(await exit, 0, 'not 1, as if it had come to the records that are gone');
  }
});

t.test('memory does not grow with the output', async t => {
  /** The most anonymous memory while the verb wrote, and how much it wrote, bytes. */
  const cost = async (board: string, ...argv: string[]) => {
    const { child, rest, exit } = begin(...argv, '--board', board);
    let most = 0;
    const output = await rest(() => {
      try {
        const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
        most = Math.max(most, 1024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0));
      } catch {} // it has ended
    });
    t.equal(await exit, 0);
    return { most, bytes: output.length };
  };
  for (const verb of ['dump', 'dump --json', 'xml']) {
    const [small, large] = [await cost(few, ...verb.split(' ')), await cost(many, ...verb.split(' '))];
    const growth = large.most - small.most;
    const more = large.bytes - small.bytes;
    t.ok(growth < more / 2, `${verb}: ${growth} bytes of memory for ${more} bytes more`);
  }
});
