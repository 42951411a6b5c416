// The cost of metrics: made in memory, and served over HTTP, plain and with gzip, beside a bare gzip of the same bytes.
// Also beside peers: prom-client, which holds a value for each series (if it is installed: npm install --no-save
// prom-client), and node_exporter, of which each node would have one (package prometheus-node-exporter).

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { gzipSync } from 'node:zlib';
import { ScrapedBoard } from '../dist/src/prometheus/boards.js';
import { Exporter } from '../dist/src/prometheus/exporter.js';
import { parseScrape } from '../dist/src/prometheus/request.js';
import { cpuOf, end, isInstalled, notes, ownMiB, serve, sleep } from './processes.mjs';
import { fill, openReceiver } from './receiving.mjs';

const NODES = 10_000;
/** The bound is for a document of so many samples. */
const SAMPLES = 630_000;
/** How many documents are made before the measurement. */
const WARM = 10;
const LARGE = 100_000;
const SHARDS = 16;

const ALL = parseScrape(new URLSearchParams());

/** How many samples a page has, and how many bytes. */
function countIn(page) {
  let [lines, comments] = [0, page.length > 0 && page[0] === 0x23 ? 1 : 0];
  for (let at = page.indexOf(10); at >= 0; at = page.indexOf(10, at + 1)) {
    lines++;
    if (page[at + 1] === 0x23) comments++;
  }
  return lines - comments;
}

/** One document in memory: CPU in us, and bytes. */
function rendered(exporter, scrape = ALL) {
  const before = process.cpuUsage();
  let bytes = 0;
  for (const page of exporter.metrics(scrape, 'text')) bytes += page?.length ?? 0;
  const { user, system } = process.cpuUsage(before);
  return { us: user + system, bytes };
}

/** One scrape: ms to its first byte, and the body if wanted. */
async function scrape(port, { path = '/metrics', headers = {}, keep = false } = {}) {
  const began = performance.now();
  const request = get({ port, path, headers, agent: false });
  const [response] = await once(request, 'response');
  const chunks = [];
  let first;
  response.on('data', chunk => {
    first ??= performance.now() - began;
    if (keep) chunks.push(chunk);
  });
  await once(response, 'end');
  return { first, body: Buffer.concat(chunks) };
}

/** CPU of a process over so many scrapes, us each. */
async function costOf(pid, port, times, options) {
  const before = cpuOf(pid);
  for (let i = 0; i < times; i++) await scrape(port, options);
  return (cpuOf(pid) - before) / times;
}

/** CPU of the program gzip, us. */
function bareGzip(body) {
  const script =
    'import os,subprocess,sys\nsubprocess.run(["gzip","-1"],stdin=sys.stdin,stdout=subprocess.DEVNULL)\nt=os.times()\nprint(t.children_user+t.children_system)';
  return Number(execFileSync('python3', ['-c', script], { input: body })) * 1e6;
}

const open = board => serve('prometheus', '--board', `alpha=${board}`, '--listen', '127.0.0.1:0');

/** As many series in prom-client, set and rendered once: CPU in us; undefined: it is not installed. */
async function promClient(laps) {
  const client = await import('prom-client').then(
    ({ default: whole, ...named }) => whole ?? named,
    () => undefined,
  );
  if (client === undefined) return undefined;
  const families = SAMPLES / NODES;
  const registry = new client.Registry();
  const names = Array.from({ length: NODES }, (_, i) => `node${String(i).padStart(5, '0')}`);
  const gauges = Array.from({ length: families }, (_, i) => {
    const labelNames = ['cluster', 'node'];
    return new client.Gauge({ name: `family_${i}`, help: 'A family.', labelNames, registers: [registry] });
  });
  const samples = [];
  for (let lap = -1; lap < laps; lap++) {
    const before = process.cpuUsage();
    for (const gauge of gauges) for (const node of names) gauge.set({ cluster: 'alpha', node }, Math.random() * 1e9);
    await registry.metrics();
    const { user, system } = process.cpuUsage(before);
    if (lap >= 0) samples.push(user + system);
  }
  return samples;
}

/** CPU of one scrape of a node_exporter on this machine, us. */
async function nodeExporter(laps) {
  const child = spawn('prometheus-node-exporter', ['--web.listen-address=127.0.0.1:9100'], { stdio: 'ignore' });
  try {
    for (let tries = 0; ; tries++) {
      const answer = await scrape(9100).catch(() => undefined);
      if (answer !== undefined) break;
      if (tries > 100) throw new Error('node_exporter does not answer');
      await sleep(0.1);
    }
    const samples = [];
    for (let lap = -1; lap < laps; lap++) {
      const us = await costOf(child.pid, 9100, 10);
      if (lap >= 0) samples.push(us);
    }
    return samples;
  } finally {
    await end(child);
  }
}

/** Runs in its own network namespace. */
export const network = 'ip link set lo up';

export async function bench({ quick, say }) {
  const laps = quick ? 7 : 20;
  const { note, row } = notes();
  const receivers = [];
  const children = [];
  try {
    const receiver = await openReceiver();
    receivers.push(receiver);
    await fill(receiver.port, NODES);
    const board = new ScrapedBoard('alpha', receiver.board, undefined);
    const exporter = new Exporter([board]);
    // The board is mapped and was read: it costs the same for every reader. The rest is the memory of the metrics.
    for (const _ of board.reader.pieces());
    const before = process.memoryUsage.rss();
    let count = 0;
    for (const page of exporter.metrics(ALL, 'text')) count += page === undefined ? 0 : countIn(page);
    say(`${NODES} nodes, ${count} samples, ${laps} laps`);
    for (let lap = -WARM; lap < laps; lap++) {
      const { us, bytes } = rendered(exporter);
      if (lap < 0) continue;
      note('samples', count);
      note('mb', bytes / 1e6);
      note('rendered', (us / 1000) * (SAMPLES / count));
    }
    note('growth', (process.memoryUsage.rss() - before) / 2 ** 20);

    const { child, pid, port } = await open(receiver.board);
    children.push(child);
    const { body } = await scrape(port, { keep: true });
    await costOf(pid, port, WARM);
    const gzip = { headers: { 'accept-encoding': 'gzip' } };
    await costOf(pid, port, 2, gzip);
    for (let lap = 0; lap < laps; lap++) {
      note('served', ((await costOf(pid, port, 1)) / 1000) * (SAMPLES / count));
      const packed = await costOf(pid, port, 1, gzip);
      const before = process.cpuUsage();
      gzipSync(body, { level: 1 });
      const { user, system } = process.cpuUsage(before);
      const program = bareGzip(body);
      note('packed', (packed / 1000) * (SAMPLES / count));
      note('to gzip', packed / program);
      note('to zlib', packed / (user + system));
      note('first', (await scrape(port)).first);
    }
    note('memory', ownMiB(pid));

    if (!quick) {
      say(`${LARGE} nodes in ${SHARDS} shards`);
      const large = await openReceiver();
      receivers.push(large);
      await fill(large.port, LARGE);
      const all = await open(large.board);
      children.push(all.child);
      for (let lap = -1; lap < 3; lap++) {
        let us = 0;
        for (let k = 1; k <= SHARDS; k++)
          us += await costOf(all.child.pid, all.port, 1, { path: `/metrics?k=${k}&of=${SHARDS}`, ...gzip });
        if (lap >= 0) note('shards', us / SHARDS / 1000);
      }
    }
    const promclient = await promClient(quick ? 2 : 5);
    if (promclient === undefined) say('no prom-client here: npm install --no-save prom-client');
    for (const us of promclient ?? []) note('prom-client', us / 1000);
    if (isInstalled('prometheus-node-exporter', 'prometheus-node-exporter', say))
      for (const us of await nodeExporter(quick ? 3 : 10)) note('node_exporter', us / 1000);
  } finally {
    for (const child of children) await end(child);
    for (const receiver of receivers) await receiver.close();
  }
  const per = `of ${SAMPLES} samples`;
  return [
    ...row(`a document of ${NODES} nodes`, 'samples', 'samples'),
    ...row('the same', 'MB', 'mb'),
    ...row(`a document ${per}, in memory, CPU`, 'ms', 'rendered', 150),
    ...row(`the same over HTTP, CPU of the exporter`, 'ms', 'served'),
    ...row('the same with gzip', 'ms', 'packed'),
    ...row('exporter with gzip / the program gzip -1 on the same bytes', 'ratio', 'to gzip', 1.4),
    ...row("exporter with gzip / Node's own zlib on the same bytes", 'ratio', 'to zlib'),
    ...row('time to the first byte', 'ms', 'first', 50),
    ...row('growth of resident memory', 'MiB', 'growth', 32),
    ...row('total anonymous memory of the exporter', 'MiB', 'memory'),
    ...row(`one of ${SHARDS} shards of ${LARGE} nodes, with gzip, CPU`, 'ms', 'shards'),
    ...row(`prom-client, ${SAMPLES} gauges set and written as a document, CPU`, 'ms', 'prom-client'),
    ...row('node_exporter, one scrape of one node, CPU', 'ms', 'node_exporter'),
    ...row(
      `node_exporter, one scrape of each of ${NODES} nodes (computed), CPU`,
      's',
      'node_exporter',
      undefined,
      ms => (ms * NODES) / 1000,
    ),
  ];
}
