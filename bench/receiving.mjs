// Shared by the benchmarks of the master: our receiver, the bare loop, and senders.

import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPORT_BYTES } from '../dist/src/layout/codec.js';
import { Cluster } from '../dist/src/load/simulatednode.js';
import { BulkSender } from '../dist/src/native/index.js';
import { countStates } from '../dist/src/shm/liveness.js';
import { BoardReader } from '../dist/src/shm/reader.js';
import { at, compileOne, end, folder, MAIN, make, serveOf, sleep } from './processes.mjs';

/** Compiles those that send, receive and measure latency; returns the paths. */
export function compile(into) {
  const cc = (name, ...more) => compileOne(into, name, { more });
  make('.', join(into, 'lib'), 'lib');
  return {
    bare: cc('bare-receiver'),
    storm: cc('storm', ...['addon/bulk_send', 'rules/mac', 'base/sha256'].map(file => at(`../c/${file}.c`)), '-ldl'),
    latency: cc('latency', at('../c/addon/bulk_send.c'), join(into, 'lib', 'libbeoboard.a'), '-lm'),
  };
}

/** Until V8 has collected garbage after the start, s; a receiver runs for months. */
export const WARM_S = 25;

/** The cluster's key in all benchmarks, in hexadecimal. */
export const SECRET = '07'.repeat(32);

/** A key file with it in a folder; its path. */
export function writeKeyFile(into) {
  const file = join(into, 'cluster.key');
  writeFileSync(file, `1 cluster ${SECRET}\n`, { mode: 0o600 });
  return file;
}

/** Our receiver, on its own board, with which the nodes of `fill` stay live until their next reports are due. */
export const openReceiver = (...more) => openReceiverOf(MAIN, '--longest-interval', '10m', ...more);

/** That of another build; with room for 100,001 nodes unless `more` says otherwise. */
export async function openReceiverOf(program, ...more) {
  const own = folder();
  const board = join(own, 'board');
  const capacity = more.includes('--capacity') ? [] : ['--capacity', '100001'];
  const argv = ['receive', '--board', board, ...capacity, ...more];
  const { child, pid, port } = await serveOf(program, ...argv, '--listen', '127.0.0.1:0');
  const reader = new BoardReader(board);
  return {
    ...{ pid, board, port },
    /** Its command line, but for where it listens. */
    argv,
    header: () => reader.snapshotOf('nobody').header,
    /** Reports that were accepted. */
    taken: () => reader.snapshotOf('nobody').header.accepted,
    /** The same, with the lost reports that the numbers of its nodes show. */
    counters() {
      const snapshot = reader.snapshot();
      const lost = [...snapshot.nodes()].reduce((sum, { record }) => sum + record.lost, 0);
      return { ...snapshot.header, lost };
    },
    /** How many nodes are in which state. */
    states: () => countStates(reader.snapshot().overview.states),
    async close() {
      reader.close();
      await end(child);
      rmSync(own, { recursive: true });
    },
  };
}

/** The bare loop; `how`: see bare-receiver.c. */
export async function openBare(program, slots, ...how) {
  const own = folder();
  const file = join(own, 'slots');
  const child = spawn(program, [file, String(slots), ...how], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = await once(child.stdout, 'data');
  const fd = openSync(file, 'r');
  const count = new BigUint64Array(1);
  return {
    pid: child.pid,
    board: file,
    port: Number(port),
    taken() {
      readSync(fd, count, 0, count.byteLength, 0);
      return Number(count[0]);
    },
    async close() {
      closeSync(fd);
      await end(child);
      rmSync(own, { recursive: true });
    },
  };
}

/** A Node UDP socket that copies what it receives into slots. */
export async function openNode(slots) {
  const child = fork(at('./node-receiver.mjs'), [String(slots)]);
  const [{ port }] = await once(child, 'message');
  let count = 0;
  child.on('message', message => {
    count = message.count;
  });
  return { pid: child.pid, port, taken: () => count, close: () => end(child) };
}

/**
 * Sends reports of so many nodes at a rate, 0 for as fast as possible; with `key` ({kind, secret}) they are signed
 * beforehand.
 */
export async function openStorm(program, port, nodes, rate, reports, key) {
  const signed = key === undefined ? [] : [key.kind, key.secret];
  const child = spawn(program, [...[port, nodes, rate, reports].map(String), ...signed], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  child.stdout.on('data', data => {
    told += data;
  });
  while (!told.startsWith('sending\n')) await once(child.stdout, 'data');
  return {
    pid: child.pid,
    pause: () => child.kill('SIGSTOP'),
    go: () => child.kill('SIGCONT'),
    /** How many seconds it took to send all. */
    async done() {
      if (child.exitCode === null) await once(child, 'close');
      if (child.exitCode !== 0) throw new Error(`storm ended with ${child.exitCode}`);
      return Number(told.split('\n')[1]);
    },
    close: () => end(child),
  };
}

const BOOT_NS = 1_000_000_000_000n;

/** Nodes, `node00001` and on, that all report on command, as fast as one process can send. */
export function openFleet(port, nodes, intervalMs) {
  const sender = new BulkSender('127.0.0.1', port);
  const name = i => `node${String(i + 1).padStart(5, '0')}`;
  const about = i => ({
    name: name(i),
    cluster: undefined,
    intervalMs: intervalMs(i),
    agentVersion: 1,
    bootNs: BOOT_NS,
  });
  const cluster = new Cluster(nodes, about, 1);
  return {
    /** Every node reports once, `second` seconds after its boot; returns how long sending took, ms. */
    report(second) {
      const at = BOOT_NS + BigInt(second) * 1_000_000_000n;
      // Correct clocks, because a receiver may check them.
      const real = BigInt(Date.now()) * 1_000_000n;
      for (let i = 0; i < nodes; i++) cluster.move(i, real, at);
      const began = performance.now();
      for (let sent = 0; sent < nodes; ) sent += sender.send(cluster.reports, REPORT_BYTES, sent, nodes - sent);
      return performance.now() - began;
    },
    close: () => sender.close(),
  };
}

/** Makes so many nodes report to a receiver, twice; by default the next reports are due in ten minutes. */
export async function fill(port, nodes, intervalMs = () => 600_000) {
  const fleet = openFleet(port, nodes, intervalMs);
  for (const second of [1, 2]) {
    fleet.report(second);
    await sleep(0.5);
  }
  fleet.close();
}

/** `beoboard load`. */
export function openLoad(port, nodes, rate, ...more) {
  const argv = ['--to', `127.0.0.1:${port}`, '--size', String(nodes), '--rate', String(rate), '--for', '500h'];
  return spawn(process.execPath, [MAIN, 'load', ...argv, ...more], { stdio: 'ignore' });
}
