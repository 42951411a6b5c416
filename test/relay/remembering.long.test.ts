// What a mirror remembers, by real programs: two masters with their relays, a mirror and a journal on its board, with
// keys. Mirror and journal are killed, the lock of the board is removed, version 1.0.0's mirror is upgraded, the master
// fails over, keys are changed, nodes forgotten. Each silence that a node had stands on the board and in the journal
// once, and no other does. 1.0.0 is built from the history of the repository; BEOBOARD_OLD/COMMIT may have it built.

import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { enums } from '../../src/layout/layout.gen.js';
import { sign } from '../../src/layout/tag.js';
import { type Key, keyLine } from '../../src/options/keys.js';
import { NoBoard } from '../../src/shm/noboard.js';
import { BoardReader } from '../../src/shm/reader.js';
import { must } from '../kit/children.js';
import { monotonicNs } from '../kit/clocks.js';
import { isInHistory, unpackCommit } from '../kit/history.js';
import { linesIn, silencesIn } from '../kit/journals.js';
import { isServing, noServers, serve } from '../kit/natsservers.js';
import { freePorts } from '../kit/network.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { PROGRAM, type Running, run, runningOf } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { until } from '../kit/until.js';

t.setTimeout(900_000);
const OLD = 'b993d937';
const CLUSTER = 'alpha';
const EVERY_MS = 200;
/** Longer than the limit after which a node is silent, with all that is between it and the mirror. */
const SILENT_MS = 5000;
const LIMITS = ['--uncertain-after', '1s', '--silent-after', '2s', '--capacity', '100'];

/** The bundle of version 1.0.0. */
function oldProgram(t: Test): string {
  const kept = process.env.BEOBOARD_OLD;
  const root = kept === undefined ? folder(t) : join(kept, OLD);
  const program = join(root, 'dist', 'bin', 'beoboard.cjs');
  if (existsSync(program)) return program;
  unpackCommit(OLD, root);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  must(process.execPath, ['scripts/build.mjs'], { cwd: root });
  return program;
}

/** A program that can be killed, and started again with the same words, also of another version. */
class Part {
  #running: Running | undefined;

  constructor(
    private readonly t: Test,
    private readonly argv: string[],
  ) {}

  async start(program = PROGRAM): Promise<void> {
    const child = fork(program, this.argv, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#running = runningOf(this.t, child, this.argv);
    await this.#running.ready;
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#running?.child.kill(signal);
    await this.#running?.exit;
  }

  async again(program?: string): Promise<void> {
    await this.end();
    await this.start(program);
  }

  hangUp(): void {
    this.#running?.child.kill('SIGHUP');
  }

  get said(): string {
    return this.#running?.output().stderr ?? '';
  }
}

const skip = noServers() || (isInHistory(OLD) ? false : `the history is not here: ${OLD}`);

t.test('a mirror remembers each silence once, whatever is done to it', { skip }, async t => {
  const old = oldProgram(t);
  const at = folder(t);
  const path = (name: string) => join(at, name);
  const board = boardPath(t);
  const [nats = 0, ...ports] = await freePorts(3);
  await isServing(serve(t, at, 'nats', nats, `listen: "127.0.0.1:${nats}"\n`));

  // ---- nodes ----
  const keys: Key[] = [1, 2].map(id => ({ id, node: undefined, secret: randomBytes(32) }));
  const write = (of: readonly Key[]) => writeFileSync(path('keys'), of.map(keyLine).join(''), { mode: 0o600 });
  write(keys.slice(0, 1));
  let key = keys[0] as Key;
  const nodes = new Map<string, { heard: boolean; to: readonly number[]; seq: number }>();
  for (let i = 1; i <= 12; i++) nodes.set(`n${i}`, { heard: true, to: [0, 1], seq: 0 });
  const only = nodes.get('n12')!;
  only.to = [0];
  const socket = createSocket('udp4');
  const timer = setInterval(() => {
    const times = { t_boot_ns: monotonicNs(), t_real_ns: BigInt(Date.now()) * 1_000_000n, interval_ms: EVERY_MS };
    for (const [hostname, node] of nodes) {
      if (!node.heard) continue;
      const proof = { auth_alg: enums.auth_alg.indexOf('cluster'), key_id: key.id };
      const report = makeReport({ hostname, seq: ++node.seq, start_boot_ns: 1n, ...times, ...proof }, CLUSTER);
      sign(report, key);
      for (const master of node.to) socket.send(report, ports[master] as number, '127.0.0.1');
    }
  }, EVERY_MS);
  t.teardown(() => {
    clearInterval(timer);
    socket.close();
  });

  // ---- programs ----
  const common = ['--nats', `nats://127.0.0.1:${nats}`, '--site', 'home'];
  const receivers: Part[] = [];
  const relays: Part[] = [];
  const boards = [boardPath(t), boardPath(t)];
  for (const [i, master] of ['m1', 'm2'].entries()) {
    const listen = ['--listen', `127.0.0.1:${ports[i]}`, '--cluster', CLUSTER, '--key-file', path('keys')];
    receivers.push(new Part(t, ['receive', '--board', boards[i]!, ...listen, ...LIMITS]));
    t.match(await run(['keygen', '--relay', path(master)]), { code: 0 });
    const as = ['--master', master, '--key-file', path(master)];
    relays.push(new Part(t, ['relay', '--board', boards[i]!, ...common, ...as]));
  }
  const trust = ['m1', 'm2'].flatMap(name => ['--trust', `${name}=${path(name)}.pub`]);
  const more = ['--cluster', CLUSTER, ...trust, '--key-file', path('keys'), '--capacity', '100', '--name', 'login'];
  const mirror = new Part(t, ['mirror', '--board', board, ...common, ...more]);
  const dir = path('journal');
  const journal = new Part(t, ['journal', '--board', board, '--journal-dir', dir, '--journal-run', at]);
  for (const part of [...receivers, relays[0]!]) await part.start();

  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  /** The state of each node, and how many silences the board remembers of it; undefined: it says nothing now. */
  const look = () => {
    try {
      const snapshot = reader.snapshot();
      if (snapshot.stalled || snapshot.retired) return undefined;
      return new Map(
        [...snapshot.nodes()].map(({ name, state, memory }) => [name, { state, count: memory?.silence?.count ?? 0 }]),
      );
    } catch (error) {
      if (error instanceof NoBoard) return undefined;
      throw error;
    }
  };
  const states = (names: readonly string[], state: string | undefined) =>
    until(`${names} are ${state}`, () => {
      const seen = look();
      return seen !== undefined && names.every(name => seen.get(name)?.state === state);
    }).catch(error => {
      const now = [...(look() ?? [])].map(([name, { state }]) => `${name} ${state}`);
      throw new Error(`${error.message}: ${now.join(', ')}\n${mirror.said}`);
    });
  const all = () => [...nodes.keys()];
  /** The silences that each node had: what the board and the journal have to say. */
  const truth = new Map<string, number>();
  const fall = async (...names: string[]) => {
    for (const name of names) nodes.get(name)!.heard = false;
    await states(names, 'silent');
    for (const name of names) truth.set(name, (truth.get(name) ?? 0) + 1);
  };
  const rise = async (...names: string[]) => {
    for (const name of names) nodes.get(name)!.heard = true;
    await states(names, 'live');
  };
  /** Who falls silent is noted once a second. */
  const counted = async (what: string) => {
    const known = all()
      .map(name => `${name} ${truth.get(name) ?? 0}`)
      .join(', ');
    const told = () => {
      const seen = look();
      return (
        seen &&
        all()
          .map(name => `${name} ${seen.get(name)?.count}`)
          .join(', ')
      );
    };
    await until(what, () => told() === known).catch(() => undefined);
    t.equal(told(), known, what);
  };
  const following = (master: string) =>
    until(
      `it follows ${master}`,
      () =>
        look() &&
        reader.snapshot().header.mirror_names[Number(reader.snapshot().header.mirror_followed)]?.name === master,
    );

  // ---- an upgrade ----
  await mirror.start(old);
  await states(all(), 'live');
  await following('m1');
  await journal.start();
  await fall('n1', 'n2', 'n12');
  await rise('n1', 'n12');
  await counted("1.0.0's mirror");
  await mirror.end('SIGTERM');
  await pause(1000);
  await mirror.start();
  await states(['n2'], 'silent');
  await counted('after the upgrade');
  await rise('n2');

  // ---- a restart, while one is silent, one falls and one comes back ----
  await fall('n3', 'n4');
  await mirror.end();
  nodes.get('n4')!.heard = true;
  nodes.get('n5')!.heard = false;
  await pause(SILENT_MS);
  await mirror.start();
  await states(['n3', 'n5'], 'silent');
  truth.set('n5', 1);
  await states(['n4'], 'live');
  await counted('after a restart');
  await journal.again();

  // ---- the lock is removed while nothing runs ----
  await mirror.end();
  rmSync(`${board}.lock`);
  await mirror.start();
  await states(['n3', 'n5'], 'silent');
  await counted('with another lock');
  await rise('n3', 'n5');

  // ---- and under a running mirror: nobody else writes the board ----
  rmSync(`${board}.lock`);
  const second = await run(['mirror', '--board', board, ...common, ...more]);
  t.equal(second.code, 1);
  t.match(second.stderr, /though its lock was removed|a mirror \(pid \d+\) writes/);
  await until('the lock is there again', () => existsSync(`${board}.lock`));
  await counted('with a lock that was made anew');

  // ---- a failover, to a master that does not know n12, and back ----
  await fall('n6', 'n12');
  await relays[1]!.start();
  await until('both are heard', () => look() && reader.snapshot().header.mirror_heard === 3n);
  await relays[0]!.end();
  await following('m2');
  await states(['n6'], 'silent');
  await mirror.again();
  await following('m2');
  await states(['n6'], 'silent');
  t.notOk(look()?.has('n12'), 'of which m2 knows nothing');
  nodes.get('n6')!.heard = true;
  await states(['n6'], 'live');
  await relays[0]!.start();
  await pause(5000);
  await relays[1]!.end();
  await following('m1');
  await states(['n12'], 'silent');
  await counted('after both failovers');
  await rise('n12');

  // ---- other keys ----
  await fall('n7');
  const followers = [...receivers, mirror];
  for (const [i, of] of [keys, keys.slice(1)].entries()) {
    write(of);
    for (const part of followers) part.hangUp();
    const times = ({ said }: Part) => said.match(/read its options again/g)?.length ?? 0;
    await until('all have read them', () => followers.every(part => times(part) === i + 1));
    key = keys[1] as Key;
    await pause(SILENT_MS);
  }
  await states(['n7'], 'silent');
  await rise('n7');
  await counted('with other keys');

  // ---- forgotten while no mirror runs, and while one runs ----
  await fall('n8', 'n9');
  await counted('before they are forgotten');
  const told = () => {
    const { silences, more } = silencesIn(linesIn(dir));
    return silences + more === [...truth.values()].reduce((sum, n) => sum + n, 0);
  };
  await until('it is told', told).catch(error => {
    for (const line of linesIn(dir)) t.comment(JSON.stringify(line));
    throw error;
  });
  await mirror.end();
  for (const source of boards) t.match(await run(['forget', '--board', source, 'n8']), { code: 0 });
  await mirror.start();
  nodes.delete('n8');
  await states(
    [...all()].filter(name => name !== 'n9'),
    'live',
  );
  // The board of the run before stands there until the next one is whole.
  await until('it was forgotten meanwhile', () => look()?.has('n8') === false);
  for (const source of boards) t.match(await run(['forget', '--board', source, 'n9']), { code: 0 });
  nodes.delete('n9');
  await until('it is forgotten there, too', () => look()?.has('n9') === false);
  await counted('those that are left');
  const forgotten = (truth.get('n8') ?? 0) + (truth.get('n9') ?? 0);
  truth.delete('n8');
  truth.delete('n9');
  nodes.set('n8', { heard: true, to: [0, 1], seq: 0 });
  await states(['n8'], 'live');
  t.equal(look()?.get('n8')?.count, 0, 'it begins anew');

  // ---- a master that was booted knows no node at first ----
  for (const what of ['a fresh board', 'another one']) {
    await receivers[0]!.end();
    rmSync(boards[0]!);
    await receivers[0]!.start();
    await states(all(), 'live');
    await counted(what);
  }

  await pause(5000);
  await journal.end('SIGTERM');
  await mirror.end('SIGTERM');
  const lines = linesIn(dir);
  const { silences, more: others, wrong } = silencesIn(lines);
  t.strictSame(wrong, []);
  t.equal(
    silences + others,
    [...truth.values()].reduce((sum, n) => sum + n, forgotten),
    'each once',
  );
});
