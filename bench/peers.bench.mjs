// The cost of monitoring for a node and its master: with our programs, with the bare minimum for that, and with our
// peers. Each kind has its own network namespace with a few real agents and a real master, and all run at once. The
// cost of a master of many nodes is measured with recorded agents, which are replayed as a thousand nodes. For a kind
// whose master polls, a report is an answer. Needs root, the packages musl-tools and strace, and those of the peers;
// there are no rows for missing ones.

import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArchive, textOf, unpack } from '../dist/test/kit/tree.js';
import {
  bare,
  collectd,
  gmond,
  gmondAtThresholds,
  nodeExporter,
  ours,
  oursInNode,
  oursSeldom,
  oursUnderSeccomp,
  pcp,
} from './peers.mjs';
import {
  callsOf,
  compileOne,
  cpuOf,
  end,
  folder,
  isInstalled,
  MAIN,
  make,
  openNamespace,
  pssOf,
  sleep,
  threadsOf,
  treeOf,
} from './processes.mjs';

const EVERYBODY = [
  ...[bare, ours, oursUnderSeccomp, oursSeldom, oursInNode],
  ...[gmond, gmondAtThresholds, collectd, nodeExporter, pcp],
];
/** Those of a quick look. */
const FEW = [bare, ours, oursInNode, gmond];
/** The bounds of our programs' memory, KiB. */
const MOST_KIB = new Map([
  [ours, 300],
  [oursInNode, 55_000],
]);
/** Nodes of each kind. */
const NODES = 4;
/**
 * The time from the start of one node to that of the next, s: nodes that report at the same moment warm the caches for
 * each other.
 */
const PHASE = 1.03 / NODES;
/** The number of simulated nodes of a master, one report a second each. */
const MANY = 1000;
/** For how long an agent's start, and then its regular traffic, are recorded, s. */
const RECORDED = 6;

/** Everything that is built for this, by name. */
export function build(out) {
  make('sender', out, 'CC=musl-gcc');
  // A copy of Node, because a process shares its memory with all processes of the same file, such as this one.
  const node = join(out, 'node');
  copyFileSync(process.execPath, node);
  return {
    sender: join(out, 'beoboard-send'),
    node,
    bareSender: compileOne(out, 'bare-sender', { compiler: 'musl-gcc', flags: ['-Os', '-static'] }),
    bareReceiver: compileOne(out, 'bare-receiver'),
    scraper: compileOne(out, 'scraper'),
    replay: compileOne(out, 'replay'),
  };
}

/**
 * A machine with 512 CPUs: the files of /proc and /sys about CPUs, to be mounted over this machine's. Reading a plain
 * file is cheaper than reading from a kernel that adds up 512 CPUs. That is equal for all programs, which all read it
 * to its end, but a program's own work has more weight than on a real machine. And the numbers never change.
 */
function manyCpus(root) {
  unpack(parseArchive(textOf('cpus-512', 'tree.txt')), root);
  const [one] = textOf('cpus-512', 'tree.txt').split('=== proc/cpuinfo\n')[1].split('\n\n');
  const cpus = Array.from({ length: 512 }, (_, i) => `${one.replace(/^(processor\s*: )\d+/, `$1${i}`)}\n\n`);
  writeFileSync(join(root, 'proc/cpuinfo'), cpus.join(''));
  const paths = ['/proc/stat', '/proc/cpuinfo', '/sys/devices/system/cpu', '/sys/devices/system/node'];
  return Object.fromEntries(paths.map(path => [path, join(root, path)]));
}

/** A place with a master and nodes of one kind. */
async function open(kind, programs, mounts) {
  const own = folder();
  const place = { space: await openNamespace(mounts), own, programs };
  const startMaster = async () => [await kind.master(place, NODES)].flat();
  const close = async () => {
    await place.space.close();
    rmSync(own, { recursive: true });
  };
  try {
    let masters = kind.pulls ? [] : await startMaster();
    const nodes = [];
    for (let i = 0; i < NODES; i++) {
      nodes.push(await kind.node(place, `node${i}`, i));
      await sleep(PHASE);
    }
    if (kind.pulls) masters = await startMaster();
    return { kind, place, masters, nodes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const sum = (list, of) => list.reduce((total, item) => total + of(item), 0);
const total = (children, of) =>
  sum(
    children.flatMap(({ pid }) => treeOf(pid)),
    of,
  );

/** Everything that a place has used until now. */
function spent({ kind, place, masters, nodes }) {
  const gone = [...masters, ...nodes].find(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
  if (gone !== undefined) throw new Error(`${kind.name}: ${gone.spawnargs.slice(5).join(' ')} has ended`);
  return {
    at: performance.now(),
    cpu: total(nodes, cpuOf),
    master: total(masters, cpuOf),
    switches: total(nodes, pid => threadsOf(pid).switches),
    ...place.space.traffic(),
  };
}

/** The cost of a node for each kind: rows. With `mounts`, as on another machine; `few`: in so many short laps. */
export async function ofNodes(everybody, programs, { quick, say, machine, mounts, few }) {
  const places = [];
  const rows = [];
  const prefix = machine === undefined ? '' : `${machine}: `;
  try {
    for (const kind of everybody) places.push(await open(kind, programs, mounts));
    // Compilation in a program's first minute is not part of its cost.
    const [warm, laps, seconds, traced] =
      few !== undefined ? [20, few, 8, 1] : quick ? [20, 2, 6, 4] : [mounts ? 30 : 60, mounts ? 2 : 3, 60, 60];
    say(
      `${prefix}${NODES} nodes of each of ${places.length} kinds: ${warm} s to warm up, then ${laps} times ${seconds} s`,
    );
    await sleep(warm);
    const seen = new Map(places.map(place => [place.kind, []]));
    for (let lap = 0; lap < laps; lap++) {
      const before = places.map(spent);
      await sleep(seconds);
      for (const [i, place] of places.entries()) {
        const after = spent(place);
        const reports = ((after.at - before[i].at) / 1000) * NODES;
        const each = what => (after[what] - before[i][what]) / reports;
        const [cpu, master, switches, packets, bytes] = ['cpu', 'master', 'switches', 'packets', 'bytes'].map(each);
        seen.get(place.kind).push({ cpu, master, switches, packets, bytes });
      }
    }
    for (const { kind, place } of places) {
      const heard = (await kind.heard?.(place)) ?? NODES;
      if (heard !== NODES && kind.unit === undefined)
        throw new Error(`${kind.name}: ${heard} of ${NODES} nodes are heard`);
    }
    const row = (kind, what, unit, samples, more) => {
      const cell = {
        table: `On ${machine === undefined ? 'this machine' : `a machine of ${machine}`}, for each report`,
        row: kind.unit === undefined ? kind.name : `${kind.name} (${kind.unit.replace(/^a /, 'per ')})`,
        column: `${what.replace(` (${kind.hears})`, '')}${/^us|^KiB/.test(unit) ? `, ${unit.split(' ')[0]}` : ''}`,
      };
      rows.push({ figure: `${prefix}${kind.name}: ${what}`, unit, samples, cell, ...more });
    };
    const whole = places.filter(({ kind }) => !kind.partly);
    say(`${prefix}${traced} s of system calls`);
    const calls = await Promise.all(whole.map(({ nodes: [{ pid }] }) => callsOf(treeOf(pid), traced)));
    if (calls.includes(undefined)) say('system calls were not counted: apt-get install strace');
    // A node has one agent: its memory is measured while nobody else runs the same file.
    for (const { kind, masters, nodes } of places)
      for (const child of [...masters, ...(kind.partly ? nodes : nodes.slice(1))]) await end(child);
    for (const { kind } of places) {
      const unit = kind.unit ?? 'a report';
      const of = what => seen.get(kind).map(lap => lap[what]);
      const i = whole.findIndex(({ kind: other }) => other === kind);
      const most = mounts === undefined ? MOST_KIB.get(kind) : undefined;
      row(kind, 'CPU on the node', `us ${unit}`, of('cpu'));
      if (kind !== bare) row(kind, `CPU on its master (${kind.hears}) of ${NODES} nodes`, `us ${unit}`, of('master'));
      row(kind, 'packets', unit, of('packets'));
      row(kind, 'bytes', unit, of('bytes'));
      if (kind.partly) continue;
      const pids = treeOf(whole[i].nodes[0].pid);
      row(kind, 'memory (PSS)', 'KiB', [sum(pids, pssOf)], most === undefined ? {} : { bound: most });
      row(kind, 'threads', 'threads', [sum(pids, pid => threadsOf(pid).threads)]);
      row(kind, 'context switches', unit, of('switches'));
      const mostCalls = kind === ours ? { bound: mounts === undefined ? 40 : 50 } : {};
      if (calls[i] !== undefined) row(kind, 'system calls', unit, [calls[i] / traced], mostCalls);
    }
    const ratio = (kind, other, what, where, more) =>
      rows.push({
        figure: `${prefix}${kind.name} / ${other.name}: ${where}`,
        unit: 'ratio',
        samples: seen.get(kind).map((lap, i) => lap[what] / seen.get(other)[i][what]),
        ...more,
      });
    ratio(ours, bare, 'cpu', 'CPU on the node', { bound: mounts === undefined ? 1.25 : 1.35 });
    const peers = whole.map(({ kind }) => kind).filter(kind => kind !== ours && kind !== bare);
    for (const kind of peers)
      ratio(kind, ours, 'cpu', 'CPU on the node', kind === gmond && mounts !== undefined ? { atLeast: 1 } : {});
    for (const kind of peers) ratio(kind, ours, 'master', `CPU on a master of ${NODES} nodes`);
    return rows;
  } finally {
    for (const place of places) await place.close();
  }
}

/** The senders for a master: many of our nodes, simulated by `beoboard load`. `per` datagrams are a report. */
function simulated({ nodes }, { space }) {
  const argv = [MAIN, 'load', '--to', '127.0.0.1', '--size', String(nodes), '--rate', String(nodes)];
  return { per: 1, begin: () => space.run(process.execPath, argv) };
}

/** The same for a peer, of which one agent is recorded. */
async function recorded({ kind, nodes }, place) {
  const { space, own, programs } = place;
  const file = join(own, 'record');
  const run = (argv, stdout) => space.run(programs.replay, argv, { stdio: ['ignore', stdout, 'inherit'] });
  const recorder = run(['record', String(kind.port), file, String(RECORDED)], 'pipe');
  await once(recorder.stdout, 'data');
  const agent = await kind.node(place, 'nodezzzz', 0);
  const [per] = await once(recorder.stdout, 'data');
  await end(agent);
  const argv = ['play', file, String(nodes), String(kind.port), ...(kind === collectd ? ['collectd'] : [])];
  return { per: Number(per), begin: () => run(argv, 'ignore') };
}

/** The cost of a master per report, when it hears many nodes: rows. */
async function ofMasters(everybody, programs, { quick, say }) {
  const setups = [
    { kind: ours, nodes: MANY, feed: simulated },
    { kind: ours, nodes: 10 * MANY, feed: simulated },
    { kind: gmond, nodes: MANY, feed: recorded, least: 50 },
    { kind: collectd, nodes: MANY, feed: recorded, least: 100 },
  ].filter(({ kind }) => everybody.includes(kind));
  const [laps, seconds] = quick ? [1, 3] : [3, 15];
  say(`masters of ${MANY} nodes: ${laps} times ${seconds} s each, one after the other`);
  const opened = [];
  try {
    for (const setup of setups) {
      const place = { space: await openNamespace(), own: folder(), programs };
      const master = { ...setup, place, samples: [] };
      opened.push(master);
      master.fed = await setup.feed(setup, place);
      master.process = await setup.kind.master(place, 1);
    }
    for (let lap = 0; lap < laps; lap++)
      for (const { kind, nodes, place, fed, process, samples } of opened) {
        const player = fed.begin();
        await sleep(RECORDED);
        const before = { cpu: cpuOf(process.pid), ...place.space.datagrams() };
        await sleep(seconds);
        const after = { cpu: cpuOf(process.pid), ...place.space.datagrams() };
        const heard = await kind.heard(place);
        await end(player);
        if (heard !== nodes) throw new Error(`${kind.hears}: it has heard ${heard} of ${nodes} nodes`);
        const [cpu, taken, lost] = ['cpu', 'taken', 'lost'].map(what => after[what] - before[what]);
        if (lost > 0) say(`${kind.hears}: its socket had no room for ${lost} of ${taken + lost} datagrams`);
        samples.push(cpu / (taken / fed.per));
      }
  } finally {
    for (const { place } of opened) {
      await place.space.close();
      rmSync(place.own, { recursive: true });
    }
  }
  const title = ({ kind, nodes }) => `${kind.hears}, ${nodes} nodes`;
  const rows = opened.flatMap(master => [
    { figure: `${title(master)}: CPU on the master`, unit: 'us a report', samples: master.samples },
    { figure: `${title(master)}: packets`, unit: 'a report', samples: [master.fed.per] },
  ]);
  // With few nodes the cost of ours, and of the bare loop, is that of its ticks: 3.5 us a report at 1,000 a second. So
  // the bounds are for many nodes; gmond and collectd cannot receive that many reports.
  const [few, many, ...peers] = opened;
  for (const peer of peers)
    for (const own of [few, many])
      rows.push({
        figure: `${title(peer)} / ${title(own)}: CPU on the master`,
        unit: 'ratio',
        samples: peer.samples.map((us, lap) => us / own.samples[lap]),
        ...(own === many && { atLeast: peer.least }),
      });
  return rows;
}

export async function bench({ quick, say }) {
  if (!isInstalled('musl-gcc', 'musl-tools', say)) return [];
  try {
    await (await openNamespace()).close();
  } catch (error) {
    say(error.message);
    return [];
  }
  const wanted = quick ? FEW : EVERYBODY;
  const everybody = wanted.filter(({ needs }) => needs === undefined || isInstalled(...needs, say));
  const out = mkdtempSync(join(tmpdir(), 'beoboard-bench.'));
  const root = folder();
  try {
    const programs = build(out);
    const options = { quick, say };
    const plain = await ofNodes(everybody, programs, options);
    const whole = everybody.filter(({ partly }) => !partly);
    const machine = '512 CPUs';
    const large = await ofNodes(whole, programs, { ...options, machine, mounts: manyCpus(root) });
    return [...plain, ...large, ...(await ofMasters(everybody, programs, options))];
  } finally {
    rmSync(out, { recursive: true });
    rmSync(root, { recursive: true });
  }
}
