// What the receiver costs per report, against a bare loop in C that drains a socket on the same tick and copies into slots;
// what verifying a tag adds, against a bare HMAC; and whether it loses anything: under readers, and when all nodes report at once.

import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeKey } from '../dist/src/common/keys.js';
import { REPORT_BYTES } from '../dist/src/layout/codec.js';
import { enums, structs } from '../dist/src/layout/layout.gen.js';
import { sign } from '../dist/src/layout/tag.js';
import { Cluster } from '../dist/src/load/node.js';
import { BulkSender, hmac } from '../dist/src/native/index.js';
import { BoardReader } from '../dist/src/shm/reader.js';
import { openWriter } from '../dist/src/shm/writer.js';
import { cpuOf, end, folder, sleep } from './processes.mjs';

const at = path => fileURLToPath(new URL(path, import.meta.url));
const MAIN = at('../dist/src/main.js');

/** Our receiver, on a board of its own. */
async function openReceiver(...more) {
  const own = folder();
  const board = join(own, 'board');
  const argv = ['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', '100000', ...more];
  const child = fork(MAIN, argv, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
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

function openLoad(port, nodes, rate, ...more) {
  const argv = [
    '--to',
    `127.0.0.1:${port}`,
    '--count',
    String(nodes),
    '--rate',
    String(rate),
    '--for',
    '500h',
    ...more,
  ];
  return spawn(process.execPath, [MAIN, 'load', ...argv], { stdio: 'ignore' });
}

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

/** Reports of 10,000 nodes that are lost, with so many readers at work; with a key file, all are signed by their nodes' own keys. */
async function loss(seconds, rate, { readers: count = 0, keyFile } = {}) {
  const keys = keyFile === undefined ? [] : ['--key-file', keyFile];
  const receiver = await openReceiver(...keys, ...(keyFile === undefined ? [] : ['--require', 'node']));
  const load = openLoad(receiver.port, 10_000, rate, ...keys);
  for (let seen = 0; seen < 20_000; seen = receiver.counters().accepted) await sleep(1);
  const readers = Array.from({ length: count }, () =>
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

/**
 * What a tag adds to laying a report on the board, us: the same reports with a tag and without, laid in turn on boards that know the key.
 * And a bare HMAC over as many bytes, with a kept context, in between.
 */
function verification(nodes, laps) {
  const own = folder();
  const secret = Buffer.alloc(32, 7);
  const key = { id: 1, node: undefined, secret };
  const bootNs = 1_000_000_000_000n;
  const realNs = 1_700_000_000_000_000_000n;
  const { tag, auth_alg, key_id } = structs.report.fields;
  const boards = ['none', 'cluster', 'node'].map(alg => {
    const name = i => `node${i}`;
    return {
      alg,
      cluster: new Cluster(
        nodes,
        i => ({ name: name(i), cluster: undefined, intervalMs: 1000, agentVersion: 1, bootNs }),
        1,
      ),
      keys: Array.from({ length: nodes }, (_, i) => (alg === 'node' ? nodeKey(key, name(i)) : key)),
      writer: openWriter({
        ...{ path: join(own, alg), cluster: '', capacity: nodes, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] },
        trust: { keys: [key], required: alg, clockWindow: 60_000 },
      }),
    };
  });
  const samples = [];
  for (let lap = -1; lap < laps; lap++) {
    const ns = BigInt(lap + 2) * 1_000_000_000n;
    const cost = {};
    for (const { alg, cluster, keys, writer } of boards) {
      const reports = keys.map((by, i) => {
        cluster.move(i, realNs + ns, bootNs + ns);
        const report = cluster.reports.subarray(i * REPORT_BYTES, (i + 1) * REPORT_BYTES);
        report[auth_alg.offset] = enums.auth_alg.indexOf(alg);
        report[key_id.offset] = alg === 'none' ? 0 : key.id;
        if (alg !== 'none') sign(report, by);
        return report;
      });
      const began = performance.now();
      for (const report of reports) if (writer.deliver(report, ns, realNs + ns) !== 0) throw new Error('not accepted');
      cost[alg] = ((performance.now() - began) * 1000) / nodes;
    }
    const message = boards[0].cluster.reports.subarray(0, tag.offset);
    const began = performance.now();
    hmac(secret, message, false, nodes);
    const bare = ((performance.now() - began) * 1000) / nodes;
    // The first lap makes records and keys.
    if (lap >= 0) samples.push({ bare, cluster: cost.cluster - cost.none, node: cost.node - cost.none });
  }
  for (const { writer } of boards) writer.close();
  rmSync(own, { recursive: true });
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
  say('10,000 reports with tags and without, laid on a board');
  const verified = verification(10_000, quick ? 15 : 51);
  const figure = (name, unit, of, bound) => rows.push({ figure: name, unit, samples: verified.map(of), bound });
  figure('bare HMAC over 1,200 bytes', 'us', ({ bare }) => bare);
  figure("verifying a tag, cluster's key", 'us a report', ({ cluster }) => cluster);
  figure("verifying a tag, nodes' own keys", 'us a report', ({ node }) => node);
  figure("verifying / bare HMAC, cluster's key", 'ratio', ({ cluster, bare }) => cluster / bare, 1.25);
  figure("verifying / bare HMAC, nodes' own keys", 'ratio', ({ node, bare }) => node / bare, 1.25);
  const seconds = quick ? 10 : 60;
  say(`10,000 reports a second under four readers, ${seconds} s`);
  const { lost, rate, scans } = await loss(seconds, 10_000, { readers: 4 });
  rows.push({ figure: `lost in ${seconds} s under four readers`, unit: 'reports', samples: [lost], bound: 0 });
  rows.push({ figure: 'accepted meanwhile', unit: 'reports/s', samples: [rate] });
  rows.push({ figure: 'scans of the whole board meanwhile', unit: '1/s', samples: [scans] });
  say(`100,000 signed reports a second, ${seconds} s`);
  const own = folder();
  const keyFile = join(own, 'cluster.key');
  writeFileSync(keyFile, `1 cluster ${'07'.repeat(32)}\n`, { mode: 0o600 });
  const signed = await loss(seconds, 100_000, { keyFile });
  rmSync(own, { recursive: true });
  rows.push({ figure: `lost of signed reports in ${seconds} s`, unit: 'reports', samples: [signed.lost], bound: 0 });
  rows.push({ figure: 'signed reports accepted meanwhile', unit: 'reports/s', samples: [signed.rate] });
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
