// A million nodes on one master: 1,000,000 names that report every ten seconds, 100,000 reports a second, made by
// storm.c. Lost reports in ten minutes, the receiver's CPU and memory, the time of commands on that board, and the time
// until a killed receiver has a successor on the same board. Needs 6 GB of memory. Another program watches the clock,
// so that pauses of the machine are known.

import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { cpuOf, end, folder, MAIN, outputOf, pssOf, sleep, start, watchClock } from './processes.mjs';
import { compile, openReceiver, openStorm } from './receiving.mjs';

export const NODES = 1_000_000;
export const RATE = 100_000;
const EVERY_S = 10;
/** What `status` may take, ms; the receiver, % of a core. */
export const STATUS_MOST = 3000;
export const RECEIVER_MOST = 25;
/** The board, the sender, and the readers. */
const NEEDS_BYTES = 6e9;

/** The time of a program until it has ended and its output has been read, ms. */
export async function timeOf(...argv) {
  const began = performance.now();
  await outputOf(process.execPath, argv);
  return performance.now() - began;
}

/**
 * Kills the receiver and starts another one at once, on the same board and port: the time until it listens, and until
 * it has accepted a report, s.
 */
async function succeed(receiver) {
  const { accepted } = receiver.header();
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  process.kill(receiver.pid, 'SIGKILL');
  let child;
  // The first one may not have ended yet: then its lock and its port are not free.
  for (let listening = false; !listening; ) {
    child = start(...receiver.argv, '--listen', `127.0.0.1:${receiver.port}`);
    listening = await Promise.race([once(child, 'message').then(() => true), once(child, 'exit').then(() => false)]);
    if (seconds() > 60) throw new Error('no receiver takes over');
  }
  const listening = seconds();
  // The kernel has discarded what came meanwhile; the count continues.
  while (receiver.header().accepted <= accepted) await sleep(0.005);
  return { child, listening, taking: seconds() };
}

export async function bench({ quick, say }) {
  if (totalmem() < NEEDS_BYTES) {
    say(`not enough memory: it needs ${NEEDS_BYTES / 1e9} GB`);
    return [];
  }
  const own = folder();
  const programs = compile(own);
  const seconds = quick ? 20 : 600;
  const runs = quick ? 3 : 7;
  const receiver = await openReceiver('--capacity', String(NODES));
  const children = [];
  try {
    const storm = await openStorm(programs.storm, receiver.port, NODES, RATE, RATE * (seconds + 600));
    children.push(storm);
    while (receiver.header().count < NODES) await sleep(0.5);
    say(`${NODES} nodes have reported`);
    const watch = watchClock();
    await sleep(quick ? 2 : 20);
    const look = () => ({ ...receiver.header(), cpu: cpuOf(receiver.pid), atMs: performance.now() });
    const lostBefore = receiver.counters().lost;
    const before = look();
    for (let at = EVERY_S; at <= seconds; at += EVERY_S) {
      await sleep(Math.max(0, before.atMs + at * 1000 - performance.now()) / 1000);
      const { accepted, kernel_drops } = receiver.header();
      say(
        `${at} of ${seconds} s: ${accepted - before.accepted} accepted, ${kernel_drops - before.kernel_drops} dropped`,
      );
    }
    const after = look();
    const lost = receiver.counters().lost - lostBefore;
    const took = (after.atMs - before.atMs) / 1000;
    const pauses = await watch.pauses();
    const pss = pssOf(receiver.pid) / 2 ** 20;

    const commands = [
      ['nodes --state silent', 500, 'nodes', '--state', 'silent'],
      ['status', STATUS_MOST, 'status'],
    ];
    const times = new Map(commands.map(([name]) => [name, []]));
    const bare = [];
    for (let run = -1; run < runs; run++) {
      const nothing = await timeOf('-e', '0');
      if (run >= 0) bare.push(nothing);
      for (const [name, , ...argv] of commands) {
        const ms = await timeOf(MAIN, ...argv, '--board', receiver.board);
        if (run >= 0) times.get(name).push(ms);
      }
    }
    say('commands are done');

    const successions = [];
    for (let run = 0; run < (quick ? 2 : 5); run++) {
      await sleep(2);
      const next = await succeed(receiver);
      receiver.pid = next.child.pid;
      children.push({ close: () => end(next.child) });
      successions.push(next);
    }
    const states = receiver.states();
    say(`after the last succession: ${JSON.stringify(states)}`);

    const row = (figure, unit, samples, bound) => ({ figure, unit, samples: [samples].flat(), bound });
    const of = `${NODES} nodes for ${seconds} s`;
    return [
      row('the board', 'GB', statSync(receiver.board).size / 1e9),
      row(`${of}: accepted`, 'reports/s', (after.accepted - before.accepted) / took),
      row(`${of}: lost by sequence number`, 'reports', lost, 0),
      row(`${of}: dropped by the kernel for lack of buffer`, 'datagrams', after.kernel_drops - before.kernel_drops, 0),
      row(`${of}: receiver`, '% of a core', (after.cpu - before.cpu) / took / 1e4, RECEIVER_MOST),
      row(`${of}: memory of the receiver with its part of the board, which a reader maps`, 'GiB of PSS', pss),
      row('pauses of the machine of more than 0.2 s meanwhile', 'pauses', pauses.length),
      row('node -e 0', 'ms', bare),
      ...commands.map(([name, bound]) => row(`beoboard ${name}, as a whole process`, 'ms', times.get(name), bound)),
      row(
        'after kill -9, until another receiver listens',
        's',
        successions.map(({ listening }) => listening),
        6,
      ),
      row(
        'after kill -9, until it has accepted a report',
        's',
        successions.map(({ taking }) => taking),
        6,
      ),
    ];
  } finally {
    for (const child of children) await child.close();
    await receiver.close();
    rmSync(own, { recursive: true });
  }
}
