// The limit of one master: reports as fast as one process can send them, to our receiver without keys and with keys, to
// a bare loop in C and to a Node socket; then increasing rates until reports are lost, and the cost of more readers.
// And alternatives for the receiver, tried with the bare loop: other batches and buffers, busy polling, UDP_GRO, more
// sockets.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cpuOf, end, folder, sleep } from './processes.mjs';
import { compile, openBare, openNode, openReceiver, openStorm, SECRET, WARM_S, writeKeyFile } from './receiving.mjs';

const SCAN = fileURLToPath(new URL('./scan.mjs', import.meta.url));
const PAUSES = fileURLToPath(new URL('./pauses.mjs', import.meta.url));
const round = Math.round;

/**
 * Sends so many reports; returns how many a second were accepted, and the CPU time. A receiver without a port gets as
 * many storms as it has sockets.
 */
async function send(storm, receiver, { nodes, rate, reports, key, senders = 1 }) {
  const before = { cpu: cpuOf(receiver.pid), taken: receiver.taken() };
  const storms = await Promise.all(
    Array.from({ length: senders }, () => openStorm(storm, receiver.port, nodes, rate, round(reports / senders), key)),
  );
  const seconds = Math.max(...(await Promise.all(storms.map(each => each.done()))));
  await sleep(0.3);
  const taken = receiver.taken() - before.taken;
  return {
    sent: reports / seconds,
    taken: taken / seconds,
    lost: Math.max(0, 1 - taken / reports) * 100,
    us: (cpuOf(receiver.pid) - before.cpu) / taken,
    core: (cpuOf(receiver.pid) - before.cpu) / (seconds * 1e6),
  };
}

/** Receivers whose nodes have all reported once, so that their records exist. */
async function openWarm(storm, nodes, warm, ways) {
  const opened = [];
  for (const { open, ...way } of ways) {
    const receiver = await open();
    await send(storm, receiver, { nodes, rate: 50_000, reports: nodes, key: way.key });
    opened.push({ receiver, ...way });
  }
  await sleep(warm);
  return opened;
}

/** As fast as possible, to each of them in turn. */
async function peaks(programs, own, nodes, laps, warm) {
  const keyFile = writeKeyFile(own);
  const signed = kind => ({
    open: () => openReceiver('--key-file', keyFile, '--require', kind),
    key: { kind, secret: SECRET },
    reports: 600_000,
  });
  const opened = await openWarm(programs.storm, nodes, warm, [
    { name: 'bare', open: () => openBare(programs.bare, nodes) },
    { name: 'ours', open: () => openReceiver() },
    { name: 'node', open: () => openNode(nodes) },
    { name: 'clusterKey', ...signed('cluster') },
    { name: 'nodeKeys', ...signed('node') },
  ]);
  const samples = [];
  for (let lap = 0; lap < laps; lap++) {
    const sample = {};
    for (const { name, receiver, key, reports = 1_500_000 } of opened)
      sample[name] = await send(programs.storm, receiver, { nodes, rate: 0, reports, key });
    samples.push(sample);
  }
  for (const { receiver } of opened) await receiver.close();
  return samples;
}

/**
 * Our receiver at increasing rates. Beside it a program watches the clock: a pause of the machine does not count as our
 * loss.
 */
async function climb(programs, rates, seconds, laps, warm) {
  const [{ receiver }] = await openWarm(programs.storm, 10_000, warm, [{ open: () => openReceiver() }]);
  const climbed = [];
  for (const rate of rates) {
    const samples = [];
    for (let lap = 0; lap < laps; lap++) {
      const watch = fork(PAUSES);
      const seen = await send(programs.storm, receiver, { nodes: 10_000, rate, reports: rate * seconds });
      watch.send('what?');
      const [pauses] = await once(watch, 'message');
      await end(watch);
      samples.push({ ...seen, pauses: pauses.length });
    }
    climbed.push({ rate, samples });
  }
  await receiver.close();
  return climbed;
}

/** CPU per report under so many readers, at 10,000 reports a second. */
async function crowded(programs, readers, seconds, laps, warm) {
  const receiver = await openReceiver();
  const storm = await openStorm(programs.storm, receiver.port, 10_000, 10_000, 10_000_000);
  const children = Array.from({ length: readers }, () =>
    fork(SCAN, [receiver.board], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
  );
  await sleep(warm);
  const samples = [];
  for (let lap = 0; lap < laps; lap++) {
    const before = { cpu: cpuOf(receiver.pid), taken: receiver.taken() };
    await sleep(seconds);
    samples.push((cpuOf(receiver.pid) - before.cpu) / (receiver.taken() - before.taken));
  }
  for (const child of children) await end(child);
  await storm.close();
  await receiver.close();
  return samples;
}

/** Variants of the bare loop, in turn with the plain bare loop. */
const VARIANTS = [
  { figure: 'default: drain interval of 5 ms, batches of 64, buffer of 64 MiB', how: [] },
  { figure: 'batches of 16', how: ['batch=16'] },
  { figure: 'batches of 256', how: ['batch=256'] },
  { figure: 'drain interval of 1 ms', how: ['tick=1'] },
  { figure: 'drain interval of 20 ms', how: ['tick=20'] },
  { figure: 'no drain interval: waits for each report', how: ['tick=0'] },
  { figure: 'no drain interval, SO_BUSY_POLL of 50 us', how: ['tick=0', 'poll=50'] },
  { figure: 'UDP_GRO', how: ['gro', 'batch=16'] },
  { figure: 'two threads and sockets (SO_REUSEPORT), two senders', how: ['threads=2'], senders: 2 },
  { figure: 'default buffer of 208 KiB', how: ['buffer=212992'] },
];

export async function bench({ quick, say }) {
  const own = folder();
  const programs = compile(own);
  const rows = [];
  const [laps, warm] = quick ? [2, 5] : [3, WARM_S];
  const row = (figure, unit, samples, more) => rows.push({ figure, unit, samples, ...more });
  try {
    for (const nodes of quick ? [10_000] : [1000, 10_000, 100_000]) {
      say(`${nodes} nodes as fast as they can be sent, ${laps} laps`);
      const samples = await peaks(programs, own, nodes, laps, warm);
      const of = (what, from) => samples.map(sample => from(sample[what], sample));
      const at = `${nodes} nodes at full speed`;
      row(
        `${at}: sent`,
        'reports/s',
        of('ours', ({ sent }) => sent),
      );
      row(
        `${at}: accepted by the bare loop`,
        'reports/s',
        of('bare', ({ taken }) => taken),
      );
      row(
        `${at}: accepted by the receiver`,
        'reports/s',
        of('ours', ({ taken }) => taken),
      );
      row(
        `${at}: accepted by a Node.js socket`,
        'reports/s',
        of('node', ({ taken }) => taken),
      );
      row(
        `${at}: accepted by the receiver with the cluster's key`,
        'reports/s',
        of('clusterKey', ({ taken }) => taken),
      );
      row(
        `${at}: accepted by the receiver with nodes' own keys`,
        'reports/s',
        of('nodeKeys', ({ taken }) => taken),
      );
      const ratio = (what, least) => [of(what, (ours, { bare }) => ours.taken / bare.taken), { atLeast: least }];
      row(`${at}: receiver / bare`, 'ratio', ...ratio('ours', 0.85));
      row(`${at}: receiver with nodes' own keys / bare`, 'ratio', ...ratio('nodeKeys', 0.5));
    }

    const rates = quick
      ? [10_000, 100_000, 800_000]
      : [10_000, 20_000, 50_000, 100_000, 200_000, 400_000, 600_000, 700_000, 800_000];
    const seconds = quick ? 2 : 4;
    say(`${rates.length} rates up to ${rates.at(-1)} reports a second, ${laps} times ${seconds} s each`);
    const climbed = await climb(programs, rates, seconds, laps, warm);
    for (const { rate, samples } of climbed) {
      const of = (what, unit, from, more) => {
        const cell = { table: 'Receiver, 10,000 nodes', row: `${rate} reports/s`, column: `${what}, ${unit}` };
        row(`10,000 nodes, ${rate} reports/s: ${what}`, unit, samples.map(from), { cell, ...more });
      };
      of('receiver', 'us of CPU a report', ({ us }) => us, { plot: { name: 'knee', series: 'receiver', x: rate } });
      of('part of a core', '%', ({ core }) => core * 100);
      of('sent', 'reports/s', ({ sent }) => sent);
      of('lost', '%', ({ lost }) => lost);
      of('pauses of the machine', 'pauses', ({ pauses }) => pauses);
    }

    for (const readers of quick ? [1, 8] : [1, 2, 4, 8]) {
      say(`${readers} readers`);
      row(
        `receiver at 10,000 reports/s; readers with ten scans a second: ${readers}`,
        'us of CPU a report',
        await crowded(programs, readers, seconds, laps, warm),
        { plot: { name: 'crowd', series: 'receiver', x: readers } },
      );
    }

    const rate = 100_000;
    const times = quick ? 1 : laps;
    say(`${VARIANTS.length} ways of the bare loop at ${rate} reports a second, ${times} times ${seconds} s`);
    const tried = VARIANTS.map(() => []);
    for (let lap = 0; lap < times; lap++)
      for (const [i, { how, senders }] of VARIANTS.entries()) {
        const what = { nodes: 10_000, rate: rate / (senders ?? 1), reports: rate * seconds, senders };
        const bare = await openBare(programs.bare, 10_000, ...how);
        await send(programs.storm, bare, { ...what, reports: rate });
        tried[i].push(await send(programs.storm, bare, what));
        await bare.close();
      }
    for (const [i, { figure }] of VARIANTS.entries()) {
      row(
        `bare loop at ${rate} reports/s, ${figure}`,
        'us of CPU a report',
        tried[i].map(({ us }) => us),
      );
      row(
        `the same: lost`,
        '%',
        tried[i].map(({ lost }) => lost),
      );
    }
  } finally {
    rmSync(own, { recursive: true });
  }
  return rows;
}
