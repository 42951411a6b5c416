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

/** CPU per report at a rate: ours, without keys and with keys, and the others that it is compared with. */
async function cost(programs, { nodes, rate, seconds, laps, warm, alone, keys }) {
  const own = folder();
  const keyFile = writeKeyFile(own);
  const others = [
    { open: () => openBare(programs.bare, nodes) },
    { open: () => openBare(programs.bare, nodes, 'stamps') },
    { open: () => openNode(nodes) },
  ];
  const compares = OTHER !== undefined && !alone;
  const receivers = [
    ...(compares ? [{ open: () => openReceiverOf(OTHER) }] : []),
    { open: () => openReceiver() },
    ...(alone ? [] : others),
    ...(keys ? ['cluster', 'node'] : []).map(kind => ({
      open: () => openReceiver('--key-file', keyFile, '--require', kind),
      key: { kind, secret: SECRET },
    })),
  ];
  const all = await openAll(programs, nodes, rate, laps * (seconds + 1) + 10, warm, receivers);
  const samples = [];
  for (let lap = 0; lap < laps; lap++) {
    const costs = await all.lap(seconds);
    const other = compares ? costs.shift() : undefined;
    samples.push(Object.assign(costs, { other, hmac: keys ? bareHmac(100_000) : undefined }));
  }
  await all.close();
  rmSync(own, { recursive: true });
  return samples;
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
    const samples = await cost(programs, { nodes, rate, seconds, laps, warm, alone, keys });
    const row = (figure, unit, of, more) =>
      rows.push({ figure: `${figure}, ${rate} reports/s of ${nodes} nodes`, unit, samples: samples.map(of), ...more });
    const plot = series => ({ plot: { name: 'receiver', series, x: rate } });
    const drawn = nodes === rate;
    row('receiver', '% of a core', ([ours]) => ours.core * 100, alone ? { bound: 0.1 } : {});
    if (alone) continue;
    row('receiver', 'us of CPU a report', ([ours]) => ours.us, drawn ? plot('receiver') : {});
    row('bare loop', 'us of CPU a report', ([, bare]) => bare.us, drawn ? plot('bare loop') : {});
    row('bare loop with stamps, addresses and packet info', 'us of CPU a report', ([, , stamped]) => stamped.us);
    row('Node.js socket', 'us of CPU a report', ([, , , node]) => node.us, drawn ? plot('Node.js socket') : {});
    row('receiver / bare', 'ratio', ([ours, bare]) => ours.us / bare.us);
    // The bound is for a loop that gets as much about each datagram: its time, its address, and its link.
    row(
      'receiver / bare with stamps, addresses and packet info',
      'ratio',
      ([ours, , stamped]) => ours.us / stamped.us,
      rate > 1000 ? { bound: 1.2 } : {},
    );
    if (OTHER !== undefined) {
      row('receiver of BEOBOARD_OTHER', 'us of CPU a report', ({ other }) => other.us);
      // Of the same bare loop, so that it can be added to the ratio above.
      row(
        'receiver less that of BEOBOARD_OTHER / bare with stamps, addresses and packet info',
        'ratio',
        ({ 0: ours, 2: stamped, other }) => (ours.us - other.us) / stamped.us,
        rate > 1000 ? { bound: 0.03 } : {},
      );
    }
    if (!keys) continue;
    row("receiver that checks the cluster's key", 'us of CPU a report', ([, , , , cluster]) => cluster.us);
    row("receiver that checks nodes' own keys", 'us of CPU a report', ([, , , , , node]) => node.us);
    const figure = (figure, unit, of, bound) => rows.push({ figure, unit, samples: samples.map(of), bound });
    figure('bare HMAC over 1,200 bytes', 'us', ({ hmac }) => hmac);
    figure("verifying a signature, cluster's key", 'us a report', ({ 0: ours, 4: cluster }) => cluster.us - ours.us);
    figure("verifying a signature, nodes' own keys", 'us a report', ({ 0: ours, 5: node }) => node.us - ours.us);
    figure(
      "verifying / bare HMAC, cluster's key",
      'ratio',
      ({ 0: ours, 4: cluster, hmac }) => (cluster.us - ours.us) / hmac,
      1.25,
    );
    figure(
      "verifying / bare HMAC, nodes' own keys",
      'ratio',
      ({ 0: ours, 5: node, hmac }) => (node.us - ours.us) / hmac,
      1.25,
    );
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
