// Daemons under a service manager: their messages as in sd_notify(3), and that a hung receive thread stops the watchdog
// messages. A stand-in listens; every daemon is real.
//
// @seconds 9
// @whole
// @days 3

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Service } from '../../src/service/service.js';
import { compileSender } from '../kit/compiling.js';
import { Hearer, startIn as startOther } from '../kit/hanging.js';
import { lacks } from '../kit/lacking.js';
import { Manager } from '../kit/manager.js';
import { boardPath, folder } from '../kit/places.js';
import type { Running } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { now, StandIn, startIn, startMaster } from '../kit/sampler.js';
import { standIn, writeCommand } from '../kit/slurmstandin.js';
import { until } from '../kit/until.js';
import { partOf, SEED } from '../kit/whole.js';

t.setTimeout(600_000);
t.jobs = 4;
const skip = lacks('python3', 'python3');

const ENDED = [{ STOPPING: '1' }];
/** Long enough that a busy machine does not look like a hung daemon. */
const WATCHDOG_MS = 1000;

/** Ends a daemon cleanly, and checks that its last message says so. */
async function end(t: Test, manager: Manager, { child, exit }: Pick<Running, 'child' | 'exit'>): Promise<void> {
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  await until('it has told that it ends', () => manager.of(child.pid).at(-1)?.STOPPING === '1');
}

/** Sends SIGHUP, and checks the messages that follow. */
async function hangUp(t: Test, manager: Manager, { child }: Pick<Running, 'child'>, status: RegExp): Promise<void> {
  const from = manager.of(child.pid).length;
  const began = now();
  child.kill('SIGHUP');
  await until('it is ready again', () =>
    manager
      .of(child.pid)
      .slice(from)
      .some(lines => lines.READY === '1'),
  );
  const told = manager.of(child.pid).slice(from);
  const [reloading, ready] = [told.findIndex(l => l.RELOADING === '1'), told.findIndex(l => l.READY === '1')];
  t.ok(reloading >= 0 && reloading < ready, 'first that it reads its options, then that it is ready');
  const at = Number(told[reloading]?.MONOTONIC_USEC) * 1000;
  t.ok(at >= began - 1000 && at <= now(), 'when it began, on CLOCK_MONOTONIC');
  t.match(told[ready]?.STATUS, status);
}

t.test('a receiver that waits for its key file', { buffered: true, skip }, async t => {
  const manager = await Manager.start(t);
  const key = join(folder(t), 'key');
  const argv = ['receive', '--board', boardPath(t), '--capacity', '100', '--listen', '127.0.0.1:0', '--key-file', key];
  const receiver = startIn(t, { env: manager.env(WATCHDOG_MS) }, argv);
  const { pid } = receiver.child;
  await until('its start is over', () => manager.of(pid).length > 0);
  t.match(manager.of(pid), [
    { READY: '1', STATUS: /key: cannot be read: .*; no report is taken until it can be read$/ },
  ]);
  await manager.alive(pid, 2);
  writeFileSync(key, `1 cluster ${'ab'.repeat(32)}\n`, { mode: 0o600 });
  await until('it listens', () => /^listening on /.test(manager.of(pid).at(-1)?.STATUS ?? ''));
  await end(t, manager, receiver);
});

t.test('beoboard receive', { buffered: true, skip }, async t => {
  const manager = await Manager.start(t);
  const config = join(folder(t), 'receive.toml');
  writeFileSync(config, 'capacity = 100\n');
  const master = await startMaster(t, { env: manager.env(WATCHDOG_MS) }, ['--config', config]);
  const { pid } = master.child;
  await until('it has told that it is ready', () => manager.of(pid).length > 0);
  t.same(manager.of(pid)[0], { READY: '1', STATUS: `listening on 127.0.0.1:${master.port}, 0 nodes` });
  master.socket.send(makeReport(), makeReport().length, 0, 1);
  await until('it tells of the node', () => /, 1 node$/.test(manager.of(pid).at(-1)?.STATUS ?? ''));
  await manager.alive(pid, 2);
  await hangUp(t, manager, master, /^listening on .*, 1 node$/);
  writeFileSync(config, 'capacity = "many"\n');
  await hangUp(t, manager, master, /^listening on /);
  await end(t, manager, master);
  t.same(manager.of(pid).slice(-1), ENDED);
  t.ok(
    manager.told.every(message => message.pid === pid),
    'all of it came from the process itself',
  );
});

t.test(
  'no watchdog message while the receive thread hangs, though the rest goes on',
  { buffered: true, skip },
  async t => {
    const manager = await Manager.start(t);
    const standIn = new StandIn(t);
    const { child } = await startMaster(t, { env: { ...standIn.env, ...manager.env(WATCHDOG_MS) } });
    await manager.alive(child.pid, 2);
    await standIn.hold('before receive');
    // Time is measured by another daemon with the same watchdog interval, because the machine may be busy.
    const other = startIn(t, { env: manager.env(WATCHDOG_MS) }, [
      'ganglia',
      '--board',
      boardPath(t),
      '--listen',
      '127.0.0.1:0',
    ]);
    await other.ready;
    const before = manager.lives(child.pid);
    await manager.alive(other.child.pid, 8);
    const during = manager.lives(child.pid) - before;
    t.ok(during <= 1, `${during} times, for the heartbeat before it hung, where the other was 8 times`);
    standIn.release();
    await manager.alive(child.pid, 2);
    await end(t, manager, { child, exit: until('it is gone', () => child.exitCode ?? undefined) });
  },
);

const SERVERS = [
  ['ganglia', /^serving on 127\.0\.0\.1:\d+$/],
  ['prometheus', /^serving on http:\/\/127\.0\.0\.1:\d+\/metrics$/],
  ['web', /^serving on http:\/\/127\.0\.0\.1:\d+\/$/],
] as const;
for (const [verb, status] of partOf(SERVERS, 3, SEED))
  t.test(`beoboard ${verb}`, { buffered: true, skip }, async t => {
    const manager = await Manager.start(t, `@beoboard-test.${verb}.${process.pid}`);
    const argv = [verb, '--board', boardPath(t), '--listen', '127.0.0.1:0'];
    const running = startIn(t, { env: manager.env(WATCHDOG_MS) }, argv);
    const { pid } = running.child;
    await running.ready;
    await manager.alive(pid, 2);
    t.match(manager.of(pid), [{ READY: '1', STATUS: status }], 'at an abstract name, too');
    await end(t, manager, running);
  });

t.test('beoboard scheduler', { buffered: true, skip }, async t => {
  const manager = await Manager.start(t);
  const [slurm, path] = [standIn(t), folder(t)];
  const argv = ['slurm', '--board', boardPath(t), '--slurm-dir', path, '--slurm-bin', slurm, '--interval', '100ms'];
  const running = startIn(t, { env: manager.env(WATCHDOG_MS) }, argv);
  const { pid } = running.child;
  await running.ready;
  const all = '8 nodes and 5 jobs of test, Slurm 22.05.8';
  await until('it has told that it is ready', () => manager.of(pid).length > 0);
  t.same(manager.of(pid)[0], { READY: '1', STATUS: all });
  await hangUp(t, manager, running, /^8 nodes and 5 jobs /);
  // Its own time limit for Slurm's answer is longer than the watchdog's.
  writeCommand(join(slurm, 'scontrol'), '#!/bin/sh\n: >"$0.asked"\nexec sleep 1000\n');
  await until('Slurm hangs', () => existsSync(join(slurm, 'scontrol.asked')));
  await manager.alive(pid, 3);
  await until('it has told of that', () =>
    /^Slurm does not answer: scontrol took longer than 5\.0s$/.test(manager.of(pid).at(-1)?.STATUS ?? ''),
  );
  await end(t, manager, running);
});

for (const [name, program] of [
  ['beoboard send', undefined],
  ['beoboard-send', compileSender(t)],
] as const)
  t.test(name, { buffered: true, skip }, async t => {
    const manager = await Manager.start(t);
    const hearer = await Hearer.open(t);
    const config = join(folder(t), 'send.toml');
    writeFileSync(config, 'interval = "60s"\n');
    const argv = ['send', '--to', hearer.address, '--config', config];
    const strict = program === undefined ? [] : ['--seccomp'];
    const begin = (env: Record<string, string>, node = 'node1') =>
      startOther(t, { env, sender: program }, [...argv, '--name', node, ...strict]);
    const running = begin(manager.env(WATCHDOG_MS));
    await until('it has told that it is ready', () => manager.of(running.pid).length > 0);
    t.same(manager.of(running.pid), [
      { READY: '1', STATUS: `node1 reports every 1.0s, in steps up to 1m00s, to ${hearer.address}` },
    ]);
    await manager.alive(running.pid, 3);
    writeFileSync(config, 'interval = "30s"\n');
    await hangUp(t, manager, running, /^node1 reports every [12]\.0s, in steps up to 30\.0s, to /);
    writeFileSync(config, 'interval = 7\n');
    await hangUp(t, manager, running, /^node1 reports every [12]\.0s, in steps up to 30\.0s, to /);
    await end(t, manager, running);
    t.same(manager.of(running.pid).slice(-1), ENDED);
    t.ok(
      manager.told.every(message => message.pid === running.pid),
      'all of it came from the process itself',
    );

    writeFileSync(config, 'interval = "60s"\n');
    const stranger = begin({ ...manager.env(WATCHDOG_MS), WATCHDOG_PID: '1' });
    await until('it is ready', () => manager.of(stranger.pid).length > 0);
    const watched = begin(manager.env(WATCHDOG_MS));
    await manager.alive(watched.pid, 4);
    t.equal(manager.lives(stranger.pid), 0, 'the watchdog of another process is not ours');

    for (const [i, nowhere] of ['/nonexistent/notify', 'relative', '@', `/${'x'.repeat(300)}`].entries()) {
      // Each sender has its own name, because the last one's goodbye may arrive only now, and those above still report.
      const node = `alone${i}`;
      const alone = begin({ NOTIFY_SOCKET: nowhere, WATCHDOG_USEC: '200000' }, node);
      await hearer.next('it reports all the same', report => report.hostname === node);
      alone.child.kill('SIGTERM');
      t.equal(await alone.exit, 0, `nobody at ${nowhere.slice(0, 30)}`);
    }
  });

t.test('the variables of systemd are removed from the environment, so that no child uses them', async t => {
  const env: Record<string, string | undefined> = {
    NOTIFY_SOCKET: '/x',
    WATCHDOG_USEC: '1',
    WATCHDOG_PID: '2',
    PATH: '/bin',
  };
  new Service(env, () => 0).ready('');
  t.same(env, { PATH: '/bin' });
});

t.test('a manager that does not read: important messages wait in order, and the rest is dropped', async t => {
  const [EAGAIN, taken] = [11, [] as string[]];
  let room = 0;
  const service = new Service({ NOTIFY_SOCKET: '/x' }, (_, message) => {
    if (room === 0) return -EAGAIN;
    room--;
    taken.push(message);
    return 0;
  });
  service.ready('a');
  service.status('b');
  service.reloading();
  service.ready('c');
  t.same(taken, []);
  room = 100;
  // The timer of Service does not keep a process alive, so this wait must.
  await until('all was taken', () => taken.length === 3);
  t.same(
    taken.map(message => message.split('\n')[0]),
    ['READY=1', 'RELOADING=1', 'READY=1'],
  );
  service.status('d');
  service.status('d');
  t.same(taken.slice(3), ['STATUS=d'], 'the same line is told once');
});
