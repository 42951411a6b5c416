// The cost of Ganglia's XML: rendered in memory, and served over TCP, compared with a program in C that only copies
// parts and writes numbers, with the smallest one for Node, and with a real gmond and a real gmetad (packages ganglia-monitor and gmetad; without them
// there are no rows for them). Runs in its own network namespace, because gmetad listens on all addresses.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Documents } from '../dist/src/ganglia-xml/documents.js';
import { GMOND, METRICS } from '../dist/src/ganglia-xml/metrics.js';
import { BoardReader } from '../dist/src/shm/reader.js';
import { gmondConf } from './gmond.mjs';
import { at, compileOne, cpuOf, end, folder, isInstalled, notes, outputOf, serve, sleep } from './processes.mjs';
import { fill, openReceiver } from './receiving.mjs';

const NODES = 10_000;
/** How many hosts a gmetad has while it is measured. */
const FEW = 500;

/** How many documents are made before the measurement. */
const WARM = 10;

/** The time and the length of one document in memory. */
function rendered(documents) {
  const before = process.cpuUsage();
  let bytes = 0;
  for (const piece of documents.gmond(Math.floor(Date.now() / 1000))) bytes += piece.length;
  const { user, system } = process.cpuUsage(before);
  return { us: user + system, bytes };
}

/** How much more than the smallest program for Node of the same parts one of 10,000 nodes may take. */
export const MOST = 1.3;

/** That program: its process, and its port. */
export async function servePlain(board, hosts) {
  const argv = [at('./plain-xml.mjs'), board, String(hosts)];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  return { child, pid: child.pid, port: Number((await once(child.stdout, 'data'))[0]) };
}

/** CPU of a server, us per MB that it sends, over so many documents. */
export async function served(drain, pid, port, times) {
  const before = cpuOf(pid);
  const bytes = await outputOf(drain, ['drain', String(port), String(times)]);
  return (cpuOf(pid) - before) / (Number(bytes) / 1e6);
}

async function answers(port) {
  for (let tries = 0; tries < 100; tries++) {
    const socket = connect({ port, host: '127.0.0.1' });
    let bytes = 0;
    socket.on('data', chunk => {
      bytes += chunk.length;
    });
    const open = await once(socket, 'end').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open && bytes > 5000) return bytes;
    await sleep(0.2);
  }
  throw new Error(`nobody serves on ${port}`);
}

/** A real gmond that receives its own metrics. */
async function openGmond(own, children) {
  const path = join(own, 'gmond.conf');
  // Every metric at once, so that its document is complete from the first second on.
  writeFileSync(path, gmondConf({ does: ['hears', 'sends'], everySecond: true }));
  const child = spawn('gmond', ['-c', path], { stdio: 'ignore' });
  children.push(child);
  await answers(8649);
  return child;
}

/** A real gmetad that polls us and writes no RRDs. */
async function openGmetad(own, port, children) {
  const path = join(own, 'gmetad.conf');
  const lines = [
    `data_source "bench" 15 127.0.0.1:${port}`,
    'setuid off',
    'write_rrds "off"',
    `rrd_rootdir "${own}"`,
    'trusted_hosts 127.0.0.1',
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  const child = spawn('gmetad', ['-d', '1', '-c', path], { stdio: 'ignore' });
  children.push(child);
  for (let tries = 0; (await answers(8651)) < 1e6; tries++) {
    if (tries > 100) throw new Error('gmetad has not polled');
    await sleep(0.2);
  }
  return child;
}

/** Runs in its own network namespace. */
export const network = 'ip link set lo up';

export async function bench({ quick, say }) {
  const own = folder();
  const children = [];
  const receivers = [];
  const { note, row } = notes();
  try {
    const program = compileOne(own, 'bare-xml');
    for (const nodes of [NODES, FEW]) {
      const receiver = await openReceiver();
      receivers.push(receiver);
      await fill(receiver.port, nodes);
    }
    const [large, small] = receivers;

    const reader = new BoardReader(large.board);
    const source = { pieces: nodes => reader.pieces(nodes), one: name => reader.snapshotOf(name) };
    // The board is mapped and was read: it costs the same for every reader. The rest is the memory of rendering.
    for (const _ of source.pieces(16));
    const laps = quick ? 7 : 40;
    say(`${NODES} nodes, ${laps} laps`);
    const resident = process.memoryUsage.rss();
    for (const [which, metrics] of [
      ['all', METRICS],
      ['gmond', GMOND],
    ]) {
      const documents = new Documents([source], undefined, metrics);
      for (let lap = -WARM; lap < laps; lap++) {
        const { us, bytes } = rendered(documents);
        if (lap >= 0) note(which, { ms: us / 1000, nsPerByte: (us * 1000) / bytes, mb: bytes / 1e6 });
      }
    }
    note('resident', (process.memoryUsage.rss() - resident) / 2 ** 20);
    reader.close();

    const open = async board => {
      const server = await serve('ganglia', '--board', board, '--listen', '127.0.0.1:0');
      children.push(server.child);
      return server;
    };
    const ours = await open(large.board);
    const few = await open(small.board);
    const bare = spawn(program, ['serve', String(NODES)], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(bare);
    const barePort = Number((await once(bare.stdout, 'data'))[0]);
    const plain = await servePlain(large.board, NODES);
    children.push(plain.child);
    const gmond = isInstalled('gmond', 'ganglia-monitor', say) ? await openGmond(own, children) : undefined;
    const gmetad = isInstalled('gmetad', 'gmetad', say) ? await openGmetad(own, few.port, children) : undefined;
    // A server runs for months, so it is measured after compilation.
    for (const { pid, port } of [ours, plain]) await served(program, pid, port, WARM);
    for (let lap = -1; lap < laps; lap++) {
      const us = await served(program, ours.pid, ours.port, 3);
      const c = await served(program, bare.pid, barePort, 3);
      const p = await served(program, plain.pid, plain.port, 3);
      const m = gmond && (await served(program, gmond.pid, 8649, 100));
      const g = gmetad && (await served(program, gmetad.pid, 8651, 1));
      if (lap < 0) continue;
      note('socket', us);
      note('bare', c);
      note('ratio', us / c);
      note('plain', p / c);
      note('to plain', us / p);
      if (m !== undefined) note('gmond port', m);
      if (g !== undefined) note('gmetad port', g);
      if (m !== undefined) note('to gmond', us / m);
      if (g !== undefined) note('to gmetad', us / g);
    }
  } finally {
    for (const child of children) await end(child);
    for (const receiver of receivers) await receiver.close();
    rmSync(own, { recursive: true });
  }
  return [
    ...row(`a document of ${NODES} nodes, board and rates included`, 'MB', 'all', undefined, ({ mb }) => mb),
    ...row('the same, CPU', 'ms', 'all', 150, ({ ms }) => ms),
    ...row('the same, CPU', 'ns/byte', 'all', 1, ({ nsPerByte }) => nsPerByte),
    ...row("a document with gmond's metrics only, CPU", 'ms', 'gmond', 150, ({ ms }) => ms),
    ...row("a document with gmond's metrics only, CPU", 'ns/byte', 'gmond', 1, ({ nsPerByte }) => nsPerByte),
    ...row('growth of resident memory during the run', 'MiB', 'resident', 32),
    ...row('served over TCP, CPU of the server', 'us/MB', 'socket'),
    ...row('a C program that copies, writes numbers and sends', 'us/MB', 'bare'),
    ...row('beoboard ganglia / the C program', 'ratio', 'ratio'),
    ...row('the smallest program for Node / the C program', 'ratio', 'plain'),
    ...row('beoboard ganglia / the smallest program for Node', 'ratio', 'to plain', MOST),
    ...row("gmond's port, one host", 'us/MB', 'gmond port'),
    ...row("beoboard ganglia / gmond's port", 'ratio', 'to gmond', 1 / 25),
    ...row(`gmetad's dump port, ${FEW} hosts`, 'us/MB', 'gmetad port'),
    ...row("beoboard ganglia / gmetad's port", 'ratio', 'to gmetad', 1 / 20),
  ];
}
