// The bounds that are nearest to being broken, in ten short laps each, two with --quick, within twelve minutes: to be repeated on a quiet
// machine after each change of what they measure. Each is measured as in the benchmark of its own, which has all else.
// Needs root.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { NODES, RATE, RECEIVER_MOST, STATUS_MOST, timeOf } from './million.bench.mjs';
import { build, ofNodes } from './peers.bench.mjs';
import { bare, gmond, ours } from './peers.mjs';
import { at, compileOne, cpuOf, end, folder, isInstalled, MAIN, make, notes, serve, sleep } from './processes.mjs';
import { ask, MOST as SNAPSHOT_MOST } from './readers.bench.mjs';
import { BARE, bounded, cost, KEYED } from './receiver.bench.mjs';
import { compile, fill, openReceiver, openStorm } from './receiving.mjs';
import { thousands } from './sender.bench.mjs';
import { served, servePlain, MOST as XML_MOST } from './xml.bench.mjs';

const FEW = 10_000;

/** What the receiver takes, without keys and with them. */
async function receiving(programs, laps) {
  const rows = [];
  for (const [nodes, rate, who] of [
    [FEW, FEW, [...BARE, ...KEYED]],
    [100_000, 100_000, BARE],
  ]) {
    const setup = { nodes, rate, seconds: 1.5, laps, warm: 5, who: ['ours', ...who] };
    rows.push(...bounded(await cost(programs, setup), setup));
  }
  return rows;
}

/** A snapshot in TypeScript, beside memcpy. */
async function snapshots(own, laps, { note, row }) {
  make('.', own, 'lib-bench');
  const board = join(own, 'one.board');
  const writer = await ask(join(own, 'lib-bench'), ['write', board, String(FEW)]);
  const reader = await ask(process.execPath, [at('reader.mjs'), board]);
  await writer.tell('quiet');
  for (let lap = -1; lap < laps; lap++) {
    const { ns, memcpy } = await reader.tell('whole');
    if (lap >= 0) note('snapshot', ns / memcpy);
  }
  await end(reader.child);
  await end(writer.child);
  return row(`TypeScript: snapshot / memcpy, ${FEW} nodes`, 'ratio', 'snapshot', SNAPSHOT_MOST);
}

/** Ganglia's XML, beside the smallest program for Node. */
async function documents(own, laps, { note, row }) {
  const program = compileOne(own, 'bare-xml');
  const receiver = await openReceiver();
  await fill(receiver.port, FEW);
  const { child, pid, port } = await serve('ganglia', '--board', receiver.board, '--listen', '127.0.0.1:0');
  const plain = await servePlain(receiver.board, FEW);
  for (const one of [{ pid, port }, plain]) await served(program, one.pid, one.port, 20);
  for (let lap = 0; lap < laps; lap++)
    note('xml', (await served(program, pid, port, 5)) / (await served(program, plain.pid, plain.port, 5)));
  await end(child);
  await end(plain.child);
  await receiver.close();
  return row('beoboard ganglia / the smallest program for Node', 'ratio', 'xml', XML_MOST);
}

/** What a million nodes take of the receiver, and of `status`. */
async function million(programs, laps, { note, row }) {
  const receiver = await openReceiver('--capacity', String(NODES));
  const storm = await openStorm(programs.storm, receiver.port, NODES, RATE, RATE * 300);
  try {
    while (receiver.header().count < NODES) await sleep(0.5);
    for (let lap = 0; lap < laps; lap++) {
      const [before, began] = [cpuOf(receiver.pid), performance.now()];
      await sleep(2);
      note('receiver', (cpuOf(receiver.pid) - before) / (performance.now() - began) / 10);
    }
    for (let lap = 0; lap < laps; lap++) note('status', await timeOf(MAIN, 'status', '--board', receiver.board));
  } finally {
    await storm.close();
    await receiver.close();
  }
  return [
    ...row(`${NODES} nodes: receiver`, '% of a core', 'receiver', RECEIVER_MOST),
    ...row(`${NODES} nodes: beoboard status, as a whole process`, 'ms', 'status', STATUS_MOST),
  ];
}

/** What a master of four nodes takes, beside gmond. */
async function masters(say, laps) {
  if (![gmond, ours].every(({ needs }) => needs === undefined || isInstalled(...needs, say))) return [];
  const out = mkdtempSync(join(tmpdir(), 'beoboard-bench.'));
  const rows = await ofNodes([bare, ours, gmond], build(out), { say, few: laps });
  rmSync(out, { recursive: true });
  return rows
    .filter(({ unit, figure }) => unit === 'ratio' && figure.startsWith(gmond.name) && figure.includes('master'))
    .map(row => ({ ...row, atLeast: 1 }));
}

export async function bench({ quick, say }) {
  const laps = quick ? 2 : 10;
  const own = folder();
  const kept = notes();
  const rows = [];
  const parts = [
    ['snapshots', () => snapshots(own, laps, kept)],
    ['XML', () => documents(own, laps, kept)],
    ['the receiver', () => receiving(programs, laps)],
    ['thousands of interfaces', async () => (await thousands({ say, few: laps })).filter(row => row.unit === 'ratio')],
    ['gmond', () => masters(say, laps)],
    ...(totalmem() < 12e9 ? [] : [['a million nodes', () => million(programs, laps, kept)]]),
  ];
  const programs = compile(own);
  for (const [what, part] of parts) {
    say(`${what}, ${laps} laps`);
    try {
      rows.push(...(await part()));
    } catch (error) {
      // The others have taken minutes.
      say(`${what}: ${error.message}`);
    }
  }
  rmSync(own, { recursive: true });
  return rows.map(({ cell, ...row }) => row);
}
