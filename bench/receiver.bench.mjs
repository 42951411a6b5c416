// The receiver's cost per report, compared with a bare loop in C that drains a socket on the same tick and copies into
// slots, with a Node.js socket, and with the receiver of another build of beoboard (BEOBOARD_OTHER=DIR); how much of a
// board is memory; the extra cost of verifying a signature, compared with a bare HMAC; and whether reports are lost: with
// readers, and when all nodes report at once.

import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { structs } from '../dist/src/layout/layout.gen.js';
import { addon } from '../dist/src/native/addon.js';
import { at, cpuOf, end, folder, OTHER, sleep } from './processes.mjs';
import {
  compile,
  openBare,
  openFleet,
  openLoad,
  openNode,
  openReceiver,
  openReceiverOf,
  openStorm,
  SECRET,
  WARM_S,
  writeKeyFile,
} from './receiving.mjs';

/**
 * Receivers, each with its own nodes at a rate; reports go to one of them at a time, so that they do not compete for
 * caches and cores.
 */
async function openAll(programs, nodes, rate, seconds, warm, receivers) {
  const opened = [];
  for (const { open, key } of receivers) {
    const receiver = await open();
    const storm = await openStorm(programs.storm, receiver.port, nodes, rate, Math.round(rate * seconds), key);
    await sleep(Math.min(5, (1.2 * nodes) / rate)); // each node once: then its record exists
    storm.pause();
    opened.push({ receiver, storm });
  }
  await sleep(warm);
  return {
    /** CPU us per report of each, one after another; and its share of a core. */
    async lap(seconds) {
      const laps = [];
      for (const { receiver, storm } of opened) {
        storm.go();
        await sleep(0.5);
        const before = { cpu: cpuOf(receiver.pid), taken: receiver.taken() };
        await sleep(seconds);
        const cpu = cpuOf(receiver.pid) - before.cpu;
        laps.push({ us: cpu / (receiver.taken() - before.taken), core: cpu / (seconds * 1e6) });
        storm.pause();
      }
      return laps;
    },
    async close() {
      for (const { receiver, storm } of opened) {
        await storm.close();
        await receiver.close();
      }
    },
  };
}

/** The loops that ours is compared with. */
export const BARE = ['bare', 'stamped', 'keeping'];
/** Ours with keys: it verifies the signature of each report. */
export const KEYED = ['cluster', 'node'];

/** CPU per report at a rate, of each of `who`, a sample for each lap. */
export async function cost(programs, { nodes, rate, seconds, laps, warm, who }) {
  const own = folder();
  const keyFile = writeKeyFile(own);
  const keyed = kind => ({
    open: () => openReceiver('--key-file', keyFile, '--require', kind),
    key: { kind, secret: SECRET },
  });
  const all = {
    other: { open: () => openReceiverOf(OTHER) },
    ours: { open: () => openReceiver() },
    bare: { open: () => openBare(programs.bare, nodes) },
    stamped: { open: () => openBare(programs.bare, nodes, 'stamps') },
    keeping: { open: () => openBare(programs.bare, nodes, 'keeps') },
    socket: { open: () => openNode(nodes) },
    ...Object.fromEntries(KEYED.map(kind => [kind, keyed(kind)])),
  };
  const opened = await openAll(
    programs,
    nodes,
    rate,
    laps * (seconds + 1) + 10,
    warm,
    who.map(name => all[name]),
  );
  const samples = [];
  for (let lap = 0; lap < laps; lap++) {
    const costs = await opened.lap(seconds);
    const hmac = who.includes('node') ? bareHmac(100_000) : undefined;
    samples.push({ hmac, ...Object.fromEntries(who.map((name, i) => [name, costs[i]])) });
  }
  await opened.close();
  rmSync(own, { recursive: true });
  return samples;
}

/** Ratios that have bounds, of such samples. */
export function bounded(samples, { nodes, rate }) {
  const row = (figure, of, bound) => ({ figure, unit: 'ratio', samples: samples.map(of), bound });
  const at = `${rate} reports/s of ${nodes} nodes`;
  const [most, mostOfKeeping] = rate > 1000 ? [nodes > 10_000 ? 1.25 : 1.2, 1.2] : [];
  return [
    // For a loop that gets as much about each datagram: its time, its address, and its link. Where a board does not fit
    // into caches, the least that a board promises takes 1.06 to 1.15 times as much as that loop.
    row(`receiver / bare with stamps, addresses and packet info, ${at}`, s => s.ours.us / s.stamped.us, most),
    row(`receiver / bare that keeps a board's promises, ${at}`, s => s.ours.us / s.keeping.us, mostOfKeeping),
    ...(samples[0].node === undefined
      ? []
      : [
          row("verifying / bare HMAC, cluster's key", s => (s.cluster.us - s.ours.us) / s.hmac, 1.25),
          row("verifying / bare HMAC, nodes' own keys", s => (s.node.us - s.ours.us) / s.hmac, 1.25),
        ]),
  ];
}

/** Lost reports of 10,000 nodes, with so many readers; with a key file, nodes sign with their own keys. */
async function loss(seconds, rate, { readers: count = 0, keyFile } = {}) {
  const keys = keyFile === undefined ? [] : ['--key-file', keyFile];
  const receiver = await openReceiver(...keys, ...(keyFile === undefined ? [] : ['--require', 'node']));
  const load = openLoad(receiver.port, 10_000, rate, ...keys);
  while (receiver.header().accepted < 20_000) await sleep(1);
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

/** How much of the usual board is what it remembers of nodes, the digests included, %. */
async function memoryShare() {
  const receiver = await openReceiver('--capacity', '10240');
  const { capacity, memory_bytes, file_bytes } = receiver.header();
  await receiver.close();
  return (100 * capacity * memory_bytes) / Number(file_bytes);
}

/** All nodes at once, as fast as one process can send. */
async function burst(nodes) {
  const receiver = await openReceiver();
  const fleet = openFleet(receiver.port, nodes, () => 1000);
  const samples = [];
  for (let lap = 1; lap <= 5; lap++) {
    const before = receiver.counters();
    const ms = fleet.report(lap);
    await sleep(1);
    const after = receiver.counters();
    samples.push({ ms, missing: nodes - (after.accepted - before.accepted), buffer: after.receive_buffer });
  }
  fleet.close();
  await receiver.close();
  return samples;
}

/** A bare HMAC over as many bytes as a tag covers, with a kept key, us of CPU. */
function bareHmac(rounds) {
  const message = new Uint8Array(structs.report.fields.tag.offset);
  const began = process.cpuUsage();
  addon.hmac(Buffer.alloc(32, 7), message, false, rounds);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / rounds;
}

export async function bench({ quick, say }) {
  const rows = [];
  const [laps, warm] = quick ? [2, 5] : [7, WARM_S];
  const made = folder();
  const programs = compile(made);
  const setups = [
    { nodes: 12, rate: 12, seconds: 10, alone: true },
    { nodes: 1000, rate: 1000, seconds: 5 },
    { nodes: 10_000, rate: 10_000, seconds: 4, keys: true },
    { nodes: 10_000, rate: 100_000, seconds: 3 },
    { nodes: 100_000, rate: 100_000, seconds: 3 },
  ];
  const few = setups
    .filter(({ nodes, rate }) => rate > 1000 && nodes === rate)
    .map(setup => ({ ...setup, seconds: 1.5 }));
  for (const { nodes, rate, seconds, alone = false, keys = false } of quick ? few : setups) {
    say(`${rate} reports a second of ${nodes} nodes, ${laps} times ${seconds} s`);
    const who = [
      ...(OTHER !== undefined && !alone ? ['other'] : []),
      'ours',
      ...(alone ? [] : [...BARE, 'socket']),
      ...(keys ? KEYED : []),
    ];
    const samples = await cost(programs, { nodes, rate, seconds, laps, warm, who });
    const row = (figure, unit, of, more) =>
      rows.push({ figure: `${figure}, ${rate} reports/s of ${nodes} nodes`, unit, samples: samples.map(of), ...more });
    const plot = series => ({ plot: { name: 'receiver', series, x: rate } });
    const drawn = nodes === rate;
    row('receiver', '% of a core', ({ ours }) => ours.core * 100, alone ? { bound: 0.1 } : {});
    if (alone) continue;
    row('receiver', 'us of CPU a report', ({ ours }) => ours.us, drawn ? plot('receiver') : {});
    row('bare loop', 'us of CPU a report', ({ bare }) => bare.us, drawn ? plot('bare loop') : {});
    row('bare loop with stamps, addresses and packet info', 'us of CPU a report', ({ stamped }) => stamped.us);
    row("bare loop that keeps a board's promises", 'us of CPU a report', ({ keeping }) => keeping.us);
    row('Node.js socket', 'us of CPU a report', ({ socket }) => socket.us, drawn ? plot('Node.js socket') : {});
    row('receiver / bare', 'ratio', ({ ours, bare }) => ours.us / bare.us);
    rows.push(...bounded(samples, { nodes, rate }));
    if (OTHER !== undefined) {
      row('receiver of BEOBOARD_OTHER', 'us of CPU a report', ({ other }) => other.us);
      // Of the same bare loop, so that it can be added to the ratio above.
      row(
        'receiver less that of BEOBOARD_OTHER / bare with stamps, addresses and packet info',
        'ratio',
        ({ ours, stamped, other }) => (ours.us - other.us) / stamped.us,
        rate > 1000 ? { bound: 0.03 } : {},
      );
    }
    if (!keys) continue;
    row("receiver that checks the cluster's key", 'us of CPU a report', ({ cluster }) => cluster.us);
    row("receiver that checks nodes' own keys", 'us of CPU a report', ({ node }) => node.us);
    const figure = (figure, unit, of) => rows.push({ figure, unit, samples: samples.map(of) });
    figure('bare HMAC over 1,200 bytes', 'us', ({ hmac }) => hmac);
    figure("verifying a signature, cluster's key", 'us a report', ({ ours, cluster }) => cluster.us - ours.us);
    figure("verifying a signature, nodes' own keys", 'us a report', ({ ours, node }) => node.us - ours.us);
  }
  rmSync(made, { recursive: true });
  rows.push({ figure: 'memory of a board', unit: '%', samples: [await memoryShare()], bound: 25 });
  const seconds = quick ? 5 : 60;
  say(`10,000 reports a second under four readers, ${seconds} s`);
  const { lost, rate, scans } = await loss(seconds, 10_000, { readers: 4 });
  rows.push({ figure: `lost in ${seconds} s with four readers`, unit: 'reports', samples: [lost], bound: 0 });
  rows.push({ figure: 'accepted in that time', unit: 'reports/s', samples: [rate] });
  rows.push({ figure: 'scans of the whole board in that time', unit: '1/s', samples: [scans] });
  say(`100,000 signed reports a second, ${seconds} s`);
  const own = folder();
  const signed = await loss(seconds, 100_000, { keyFile: writeKeyFile(own) });
  rmSync(own, { recursive: true });
  rows.push({ figure: `signed reports lost in ${seconds} s`, unit: 'reports', samples: [signed.lost], bound: 0 });
  rows.push({ figure: 'signed reports accepted in that time', unit: 'reports/s', samples: [signed.rate] });
  say('10,000 reports at once');
  const bursts = await burst(10_000);
  rows.push({
    figure: 'lost out of 10,000 sent at once',
    unit: 'reports',
    samples: bursts.map(({ missing }) => missing),
    bound: 0,
  });
  rows.push({ figure: 'time to send them', unit: 'ms', samples: bursts.map(({ ms }) => ms) });
  rows.push({ figure: 'receive buffer granted', unit: 'MB', samples: bursts.map(({ buffer }) => buffer / 1e6) });
  return rows;
}
