// What the receiver costs per report, against a bare loop in C that drains a socket on the same tick and copies into slots;
// and whether it loses anything: under readers, and when all nodes report at once.

import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REPORT_BYTES } from '../dist/src/layout/codec.js';
import { Cluster } from '../dist/src/load/node.js';
import { BulkSender } from '../dist/src/native/index.js';
import { BoardReader } from '../dist/src/shm/reader.js';
import { cpuOf, sleep } from './processes.mjs';

const at = path => fileURLToPath(new URL(path, import.meta.url));
const MAIN = at('../dist/src/main.js');

function folder() {
  return mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'beoboard-bench.'));
}

async function end(child) {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Our receiver, on a board of its own. */
async function openReceiver() {
  const own = folder();
  const board = join(own, 'board');
  const child = fork(MAIN, ['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '100000'], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const [{ listening }] = await once(child, 'message');
  const reader = new BoardReader(board);
  return {
    child,
    board,
    port: Number(listening[0].split(':').at(-1)),
    counters: () => {
      const snapshot = reader.snapshot();
      const lost = [...snapshot.nodes()].reduce((sum, { record }) => sum + record.lost, 0);
      return { ...snapshot.header, lost };
    },
    async close() {
      reader.close();
      await end(child);
      rmSync(own, { recursive: true });
    },
  };
}

/** The bare loop. */
async function openBare(slots, ...how) {
  const own = folder();
  const program = join(own, 'bare-receiver');
  execFileSync('cc', ['-std=c11', '-D_GNU_SOURCE', '-O2', '-Wall', '-Wextra', '-o', program, at('./bare-receiver.c')]);
  const child = spawn(program, ['5', String(slots), ...how], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [port] = await once(child.stdout, 'data');
  return {
    child,
    port: Number(port),
    async close() {
      await end(child);
      rmSync(own, { recursive: true });
    },
  };
}

const openLoad = (port, nodes, rate) =>
  spawn(
    process.execPath,
    [MAIN, 'load', '--to', `127.0.0.1:${port}`, '--count', String(nodes), '--rate', String(rate), '--for', '500h'],
    { stdio: 'ignore' },
  );

/** CPU per report at a rate, of both. */
async function cost(nodes, rate, seconds, laps) {
  const receiver = await openReceiver();
  const bare = await openBare(nodes);
  const stamping = await openBare(nodes, 'stamps');
  const loads = [receiver, bare, stamping].map(({ port }) => openLoad(port, nodes, rate));
  await sleep(Math.max(3, (2 * nodes) / rate));
  const samples = [];
  for (let lap = 0; lap < laps; lap++) {
    const cpu = () => [receiver, bare, stamping].map(({ child }) => cpuOf(child.pid));
    const before = cpu();
    const from = receiver.counters().received;
    await sleep(seconds);
    const reports = receiver.counters().received - from;
    // All loads send at the same rate.
    const [ours, theirs, stamped] = cpu().map((us, i) => us - before[i]);
    const core = ours / (seconds * 1e6);
    samples.push({ ours: ours / reports, bare: theirs / reports, stamped: stamped / reports, core });
  }
  for (const load of loads) await end(load);
  await bare.close();
  await stamping.close();
  await receiver.close();
  return samples;
}

/** Reports lost, with four readers at work. */
async function loss(seconds) {
  const receiver = await openReceiver();
  const load = openLoad(receiver.port, 10_000, 10_000);
  await sleep(3);
  const readers = [0, 1, 2, 3].map(() =>
    fork(at('./scan.mjs'), [receiver.board], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
  );
  let scans = 0;
  for (const reader of readers) reader.on('message', () => scans++);
  await sleep(2);
  const before = receiver.counters();
  scans = 0;
  await sleep(seconds);
  const after = receiver.counters();
  const result = {
    lost: after.lost - before.lost + after.kernel_drops - before.kernel_drops,
    rate: (after.accepted - before.accepted) / seconds,
    scans: scans / seconds,
  };
  for (const reader of readers) await end(reader);
  await end(load);
  await receiver.close();
  return result;
}

/** All nodes at once, as fast as one process can send. */
async function burst(nodes) {
  const receiver = await openReceiver();
  const sender = new BulkSender('127.0.0.1', receiver.port);
  const bootNs = 1_000_000_000_000n;
  const cluster = new Cluster(
    nodes,
    i => ({ name: `node${i}`, cluster: undefined, intervalMs: 1000, agentVersion: 1, bootNs }),
    1,
  );
  const samples = [];
  for (let lap = 0; lap < 5; lap++) {
    const at = BigInt(lap + 1) * 1_000_000_000n;
    for (let i = 0; i < nodes; i++) cluster.move(i, 1_700_000_000_000_000_000n + at, bootNs + at);
    const before = receiver.counters();
    const began = performance.now();
    for (let sent = 0; sent < nodes; ) sent += sender.send(cluster.reports, REPORT_BYTES, sent, nodes - sent);
    const ms = performance.now() - began;
    await sleep(1);
    const after = receiver.counters();
    samples.push({ ms, missing: nodes - (after.accepted - before.accepted), buffer: after.receive_buffer });
  }
  sender.close();
  await receiver.close();
  return samples;
}

export async function bench({ quick, say }) {
  const rows = [];
  const laps = quick ? 3 : 7;
  for (const [nodes, rate, seconds] of [
    [12, 12, 20],
    [10_000, 10_000, 5],
    [10_000, 100_000, 3],
  ]) {
    say(`${rate} reports a second, ${laps} times ${seconds} s`);
    const samples = await cost(nodes, rate, seconds, laps);
    const row = (figure, unit, of, bound) =>
      rows.push({ figure: `${figure}, ${rate} reports/s`, unit, samples: samples.map(of), bound });
    if (rate === 12) {
      row('receiver', '% of a core', ({ core }) => core * 100, 0.1);
      continue;
    }
    row('receiver', 'us of CPU a report', ({ ours }) => ours);
    row('bare loop', 'us of CPU a report', ({ bare }) => bare);
    row('bare loop that takes stamps', 'us of CPU a report', ({ stamped }) => stamped);
    row('receiver / bare', 'ratio', ({ ours, bare }) => ours / bare, 1.2);
    row('receiver / bare that takes stamps', 'ratio', ({ ours, stamped }) => ours / stamped);
  }
  const seconds = quick ? 10 : 60;
  say(`10,000 reports a second under four readers, ${seconds} s`);
  const { lost, rate, scans } = await loss(seconds);
  rows.push({ figure: `lost in ${seconds} s under four readers`, unit: 'reports', samples: [lost], bound: 0 });
  rows.push({ figure: 'accepted meanwhile', unit: 'reports/s', samples: [rate] });
  rows.push({ figure: 'scans of the whole board meanwhile', unit: '1/s', samples: [scans] });
  say('10,000 reports at once');
  const bursts = await burst(10_000);
  rows.push({
    figure: 'lost of 10,000 sent at once',
    unit: 'reports',
    samples: bursts.map(({ missing }) => missing),
    bound: 0,
  });
  rows.push({ figure: 'time to send them', unit: 'ms', samples: bursts.map(({ ms }) => ms) });
  rows.push({ figure: 'receive buffer granted', unit: 'MB', samples: bursts.map(({ buffer }) => buffer / 1e6) });
  return rows;
}
