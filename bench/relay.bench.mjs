// The cost of carrying a board by NATS: relay, server and mirror for 10,000 nodes that report once a second, beside a
// plain TCP relay of the same board in the same run; how soon a report is visible at the mirror; how long a new mirror
// needs; and for 100,000 nodes the cost of recorded batches.

import { fork, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clusterId } from '../dist/src/layout/identity.js';
import { Mirror, OUTCOME, Sweep } from '../dist/src/native/index.js';
import { monotonicNs } from '../dist/src/relay/publisher.js';
import { boardOf, entriesOf, finishBatch, isSigned, scratch, unsigned } from '../dist/src/relay/relaywire.js';
import { BoardReader, tryBoard } from '../dist/src/shm/reader.js';
import { trustOptions } from '../dist/src/shm/trust.js';
import { freePorts } from '../dist/test/kit/network.js';
import { latencies, quantile } from './latency.bench.mjs';
import { at, cpuOf, end, folder, isInstalled, MAIN, notes, ownMiB, sleep, start, until } from './processes.mjs';
import { compile, fill, openReceiver, openStorm } from './receiving.mjs';

const NODES = 10_000;
const MANY = 100_000;
const CLUSTER = 'alpha';
const SUBJECT = `beoboard.v1.home.${CLUSTER}.m1.batch`;

/**
 * Batches of a board with many nodes, as one relay would send them after a second in which all have reported; and the
 * time of each step, us per report.
 */
async function recorded(nodes, laps, note) {
  const receiver = await openReceiver();
  await fill(receiver.port, nodes, () => 1000);
  const { board } = tryBoard(receiver.board);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const into = scratch();
  const path = join(folder(), 'board');
  const options = {
    path,
    site: 'home',
    masters: ['m1'],
    followed: 0,
    clusterName: '',
    clusterId: 0,
    capacity: nodes,
    ...trustOptions(undefined),
  };
  const limits = {
    uncertainAfterNs: 4_500_000_000n,
    silentAfterNs: 10_500_000_000n,
    longestIntervalMs: 0,
    instance: 1n,
  };
  const mirror = new Mirror({ ...options, ...limits, nowNs: monotonicNs() });
  for (let lap = 0; lap < laps; lap++) {
    const sweep = new Sweep(board);
    mirror.renew({ ...options, ...limits, nowNs: monotonicNs() });
    const spent = { 'copying out': 0, signing: 0, verifying: 0, laying: 0 };
    const timed = (what, act) => {
      const began = performance.now();
      const made = act();
      spent[what] += performance.now() - began;
      return made;
    };
    sweep.begin(false, 0, boardOf(into));
    for (let sequence = 1; ; sequence++) {
      const takenNs = monotonicNs();
      const { state, bytes, entries } = timed('copying out', () => sweep.take(entriesOf(into)));
      const form = { entries, entryBytes: bytes, complete: state === 1 };
      const about = { run: 1n, board: 1n, boot_id: 1n, sequence, taken_ns: takenNs };
      const message = timed('signing', () => finishBatch(into, SUBJECT, privateKey, about, form));
      if (!timed('verifying', () => isSigned(message, SUBJECT, publicKey))) throw new Error('not signed');
      const now = monotonicNs();
      const outcome = timed('laying', () => mirror.batch(unsigned(message), now, now, now, now));
      if (outcome !== OUTCOME.taken) throw new Error(`a batch was not taken: ${outcome}`);
      if (state !== 0) break;
    }
    const { laid } = mirror.counts();
    // With so many at once, some may not have reached the board.
    if (laid < nodes / 2) throw new Error(`${laid} of ${nodes} laid`);
    for (const [what, ms] of Object.entries(spent)) note(`${nodes} ${what}`, (1000 * ms) / laid);
  }
  mirror.close();
  board.unmap();
  await receiver.close();
}

/** Runs in its own network namespace. */
export const network = 'ip link set lo up';

export async function bench({ quick, say }) {
  if (!isInstalled('nats-server', 'nats-server', say)) return [];
  const [laps, seconds, probes] = quick ? [3, 5, 500] : [5, 8, 2000];
  process.env.CLUSTER_ID = String(clusterId(CLUSTER));
  const { samples, note, row } = notes();
  const own = folder();
  const programs = compile(own);
  const children = [];
  const started = child => {
    children.push(child);
    return child;
  };
  const receiver = await openReceiver('--cluster', CLUSTER);
  const readers = [];
  const ends = [];
  try {
    const [port] = await freePorts(1);
    writeFileSync(join(own, 'nats.conf'), `listen: "127.0.0.1:${port}"\nping_interval: "1s"\nping_max: 2\n`);
    const server = started(spawn('nats-server', ['--config', join(own, 'nats.conf')], { stdio: 'ignore' }));
    const key = join(own, 'relay.key');
    spawnSync(process.execPath, [MAIN, 'keygen', '--relay', key]);
    const storm = await openStorm(programs.storm, receiver.port, NODES, NODES, NODES * 36_000);
    ends.push(() => storm.close());
    await until(() => receiver.header().count >= NODES, 'all nodes');
    const nats = ['--nats', `nats://127.0.0.1:${port}`, '--site', 'home'];
    const relay = started(start('relay', '--board', receiver.board, ...nats, '--master', 'm1', '--key-file', key));
    await once(relay, 'message');
    const openMirror = name => {
      const board = join(own, name, 'board');
      const argv = ['--board', board, ...nats, '--cluster', CLUSTER, '--trust', `m1=${key}.pub`, '--name', name];
      return { board, child: started(start('mirror', ...argv, '--capacity', '16384')) };
    };
    /** The time from the start of a mirror until it has all nodes, with both reports of each, s. */
    const become = async name => {
      const began = performance.now();
      const mirror = openMirror(name);
      await once(mirror.child, 'message');
      const reader = new BoardReader(mirror.board);
      readers.push(reader);
      const look = () => {
        const snapshot = reader.snapshot();
        if (snapshot.stalled || snapshot.header.count < NODES) return { states: 0, rates: 0 };
        let [states, rates] = [0, 0];
        for (const node of snapshot.nodes()) {
          if (node.state === 'live') states++;
          if (node.previous !== undefined) rates++;
        }
        return { states, rates };
      };
      const reached = async what => {
        while (look()[what] < NODES) await sleep(0.05);
        return (performance.now() - began) / 1000;
      };
      return { ...mirror, states: await reached('states'), rates: await reached('rates') };
    };
    const mirror = await become('m');
    note('states', mirror.states);
    note('rates', mirror.rates);
    const sink = started(fork(at('./plain-relay.mjs'), ['sink']));
    const [{ port: sinkPort }] = await once(sink, 'message');
    const source = started(fork(at('./plain-relay.mjs'), ['source', receiver.board, String(sinkPort)]));
    say(`${NODES} nodes, ${laps} times ${seconds} s`);
    await sleep(quick ? 8 : 15);
    const who = { relay, server, mirror: mirror.child, source, sink };
    for (let lap = 0; lap < laps; lap++) {
      const before = Object.entries(who).map(([name, { pid }]) => [name, pid, cpuOf(pid)]);
      const began = performance.now();
      await sleep(seconds);
      const ms = performance.now() - began;
      for (const [name, pid, cpu] of before) note(name, (cpuOf(pid) - cpu) / ms / 10);
      note('times', samples.relay.at(-1) / samples.source.at(-1));
    }
    for (const child of [source, sink]) await end(child);
    const direct = await latencies(programs.latency, receiver, probes);
    // The second probe has the same node name, and would be rejected as a rival until the first one is silent.
    await sleep(5);
    const seen = await latencies(programs.latency, { port: receiver.port, board: mirror.board }, probes);
    note('receiver p99', quantile(direct, 0.99));
    note('p50', quantile(seen, 0.5));
    note('p99', quantile(seen, 0.99));
    note('memory', ownMiB(mirror.child.pid));
    note('relay memory', ownMiB(relay.pid));
    note('board', statSync(mirror.board).size / 2 ** 20);
    for (let lap = 1; lap < laps; lap++) {
      const fresh = await become(`m${lap}`);
      note('states', fresh.states);
      note('rates', fresh.rates);
      await end(fresh.child);
    }
  } finally {
    for (const reader of readers) reader.close();
    for (const child of children) await end(child);
    for (const act of ends) await act();
    await receiver.close();
  }
  delete process.env.CLUSTER_ID;
  await recorded(NODES, laps, note);
  if (!quick) await recorded(MANY, 3, note);
  return [
    ...row(`${NODES} nodes at 1 Hz: relay`, '% of a core', 'relay'),
    ...row('a plain relay over TCP, its sending end', '% of a core', 'source'),
    ...row('relay / plain relay', 'times', 'times', 3),
    ...row('nats-server', '% of a core', 'server'),
    ...row('mirror, signatures checked', '% of a core', 'mirror', 6),
    ...row('the plain relay, its receiving end', '% of a core', 'sink'),
    ...row('from sending until visible at the mirror, p50', 'ms', 'p50'),
    ...row('from sending until visible at the mirror, p99', 'ms', 'p99', 100),
    ...row("from sending until visible on the master's board, p99", 'ms', 'receiver p99'),
    ...row('memory of the mirror without its board', 'MiB', 'memory', 64),
    ...row('its board', 'MiB', 'board'),
    ...row('memory of the relay', 'MiB', 'relay memory'),
    ...row('a new mirror has all states after', 's', 'states', 2),
    ...row('a new mirror has two reports of every node after', 's', 'rates', 10),
    ...[NODES, MANY].flatMap(nodes =>
      ['copying out', 'signing', 'verifying', 'laying'].flatMap(what =>
        row(`recorded batches of ${nodes} nodes: ${what}`, 'us a report', `${nodes} ${what}`),
      ),
    ),
  ];
}
