// That a journal beside a real receiver is a whole ledger, whoever is killed: in each of RUNS runs (20) nodes fall silent
// and come back, and receiver and journal are killed by SIGKILL at any time and started again. What the board counts
// stands in the journal once, or is counted there, and nothing else does. SEED=n repeats the times.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { random } from '../../src/load/simulatednode.js';
import { BoardReader } from '../../src/shm/reader.js';
import { linesIn, silencesIn } from '../kit/journals.js';
import { folder } from '../kit/places.js';
import { start } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';
import { SEED } from '../kit/whole.js';

t.setTimeout(3_600_000);
const RUNS = Number(process.env.RUNS ?? 20);
const NODES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];
/** How long they run, ms, and how often they report. */
const [RUN_MS, EVERY_MS] = [40_000, 200];

/** A program that is started again, with the same words, whenever it is killed. */
class Immortal {
  #running: ReturnType<typeof start> | undefined;
  kills = -1;

  constructor(
    private readonly t: Test,
    private readonly argv: string[],
  ) {}

  async again(): Promise<void> {
    this.#running?.child.kill('SIGKILL');
    await this.#running?.exit;
    this.kills++;
    this.#running = start(this.t, this.argv);
    await this.#running.ready;
  }

  async end(): Promise<void> {
    this.#running?.child.kill('SIGTERM');
    this.t.equal(await this.#running?.exit, 0, this.argv[0] as string);
  }
}

async function oneRun(t: Test, seed: number): Promise<void> {
  const at = folder(t);
  const [board, dir, runs] = [join(at, 'board'), join(at, 'journal'), at];
  const free = createSocket('udp4').bind(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  free.close();
  const limits = ['--uncertain-after', '1s', '--silent-after', '2s', '--capacity', '100'];
  const receiver = new Immortal(t, ['receive', '--board', board, '--listen', `127.0.0.1:${port}`, ...limits]);
  const journal = new Immortal(t, ['journal', '--board', board, '--journal-dir', dir, '--journal-run', runs]);
  await receiver.again();
  await journal.again();

  const draw = random(seed);
  const heard = new Set(NODES);
  const socket = createSocket('udp4');
  let seq = 0;
  const timer = setInterval(() => {
    seq++;
    const t_boot_ns = BigInt(Math.round(performance.now() * 1e6));
    for (const hostname of heard)
      socket.send(makeReport({ hostname, seq, t_boot_ns, interval_ms: EVERY_MS }), port, '127.0.0.1');
  }, EVERY_MS);
  t.teardown(() => {
    clearInterval(timer);
    socket.close();
  });

  const end = performance.now() + RUN_MS;
  const node = async (name: string) => {
    while (performance.now() < end) {
      await pause(1000 + draw() * 6000);
      heard.delete(name);
      await pause(1000 + draw() * 6000);
      heard.add(name);
    }
  };
  const killer = async (program: Immortal) => {
    while (performance.now() < end) {
      await pause(2000 + draw() * 8000);
      await program.again();
    }
  };
  await Promise.all([...NODES.map(node), killer(receiver), killer(journal)]);

  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  const counts = () => {
    const nodes = [...reader.snapshot().nodes()];
    return nodes.reduce((sum, { memory }) => sum + (memory?.silence?.count ?? 0), 0);
  };
  const found = () => silencesIn(linesIn(dir));
  const sum = () => found().silences;
  const isCalm = () => [...reader.snapshot().nodes()].every(({ memory }) => memory?.silence?.endedMs !== undefined);
  await until('all are heard again', isCalm);
  await receiver.end();
  await until('it is told', () => sum() + found().more >= counts());
  await journal.end();
  t.equal(sum() + found().more, counts(), 'each silence once, or counted');
  t.strictSame(found().wrong, []);
  t.comment(
    `seed ${seed}: ${counts()} silences, ${sum()} have a line, ${found().more} are counted; ` +
      `${receiver.kills} kills of the receiver, ${journal.kills} of the journal`,
  );
}

t.jobs = 4;
for (let seed = SEED; seed < SEED + RUNS; seed++) t.test(`run ${seed}`, { buffered: true }, t => oneRun(t, seed));
