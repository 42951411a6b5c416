// What history costs for 1,000 simulated nodes: Prometheus, which scrapes the exporter; the second store, which gets
// the series of recording.yml; and gmetad's RRDs (packages prometheus, victoria-metrics, gmetad; there are no rows for
// missing ones). Two hours of scrapes would take two hours, so time is simulated: each scrape is 15 s later for the
// nodes, and its samples have that time. Runs in its own network namespace, because gmetad listens on all addresses.

import { execFileSync, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { DEFAULT_COLLECTORS, MORE_COLLECTORS } from '../dist/src/prometheus/families.js';
import { cpuOf, end, inOwnNetwork, MAIN, printRows, sleep } from './processes.mjs';
import { fill, openFleet, openLoad, openReceiver } from './receiving.mjs';

const PACKAGING = fileURLToPath(new URL('../packaging/prometheus/', import.meta.url));
const NODES = 1000;
const SCRAPE_S = 15;
const DAY_S = 86_400;
const YEAR_S = 365 * DAY_S;
const MIB = 2 ** 20;
const GB = 1e9;
const PORT = { stub: 9600, plain: 9090, writing: 9091, store: 8428, ganglia: 8649, few: 8659, gmetad: 8651 };

const installed = program => spawnSync(program, ['--version']).error === undefined;
const lines = (...more) => `${more.join('\n')}\n`;

/** The private memory of a process, MiB: without the pages of files, which the kernel can drop. */
const ownOf = pid =>
  Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

/** Bytes of pages that a process has dirtied, which the kernel has to write. */
const writtenBy = pid => Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);

/** Bytes in a folder, by length and by blocks on the disk. */
function sizeOf(path) {
  const du = (...flags) =>
    Number(execFileSync('du', ['-s', '-B1', ...flags, path], { encoding: 'utf8' }).split('\t')[0]);
  return { bytes: du('--apparent-size'), onDisk: du() };
}

async function ask(port, path, options = {}) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, options);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text.slice(0, 200)}`);
  return text;
}

async function answers(port, path) {
  for (let tries = 0; tries < 300; tries++) {
    const text = await ask(port, path).catch(() => undefined);
    if (text !== undefined) return text;
    await sleep(0.1);
  }
  throw new Error(`nobody answers on ${port}`);
}

/** Starts one of our servers, and waits until it is ready. */
async function serve(children, ...argv) {
  const child = fork(MAIN, argv, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  children.push(child);
  const [{ listening }] = await once(child, 'message');
  return { pid: child.pid, port: Number(listening[0].split(':').at(-1)) };
}

/** Runs a program, which ends with us. */
function run(children, program, argv) {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...argv], { stdio: 'ignore' });
  children.push(child);
  return child;
}

// ---- what is scraped --------------------------------------------------------------------------------------------------

const seriesIn = text => text.split('\n').filter(line => line !== '' && !line.startsWith('#')).length;

/** Counts the series of each collector, and of all default ones, for 1,000 nodes of which every eighth has GPUs. */
async function countSeries(note, port) {
  for (const name of [...DEFAULT_COLLECTORS, ...MORE_COLLECTORS]) {
    const optional = MORE_COLLECTORS.includes(name) ? 'optional' : 'default';
    note(`series: ${name} (${optional})`, seriesIn(await ask(port, `/metrics?collect[]=${name}`)));
  }
  note('series', seriesIn(await ask(port, '/metrics')));
}

// ---- Prometheus -------------------------------------------------------------------------------------------------------

async function openPrometheus(children, own, port, more) {
  const dir = join(own, `prometheus-${port}`);
  mkdirSync(dir);
  const config = lines(
    'global:',
    `  scrape_interval: 600ms`,
    `  scrape_timeout: 600ms`,
    'scrape_configs:',
    '  - job_name: beoboard',
    '    honor_labels: true',
    '    static_configs:',
    `      - targets: ['127.0.0.1:${PORT.stub}']`,
    '        labels: { cluster: alpha }',
    `    params: { for: ['${port}'] }`,
  );
  writeFileSync(join(dir, 'prometheus.yml'), config + more);
  const child = run(children, 'prometheus', [
    `--config.file=${join(dir, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(dir, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--web.enable-admin-api',
    // The scraped samples have times of some hours ago, which are refused by default.
    '--storage.tsdb.min-block-duration=8h',
    '--storage.tsdb.max-block-duration=8h',
  ]);
  await answers(port, '/-/ready');
  return { pid: child.pid, data: join(dir, 'data') };
}

/**
 * Nodes in simulated time, and the exporter's documents of them with that time. The next document is made when all
 * servers have read the last one; an earlier request gets an error. So on a busy machine no scrape runs into its
 * timeout, but happens later.
 */
function openStub(receiver, exporter, startMs, note) {
  const fleet = openFleet(receiver.port, NODES, () => 1000);
  let second = 0;
  let document;
  const waiting = new Set();
  /** The times of the documents that all have read, ms. */
  const scrapes = [];
  async function step() {
    for (let round = 0; round < SCRAPE_S; round++) {
      const before = receiver.taken();
      fleet.report(++second);
      for (let tries = 0; receiver.taken() < before + NODES && tries < 200; tries++) await sleep(0.002);
    }
    const before = cpuOf(exporter.pid);
    const text = await ask(exporter.port, '/metrics', { headers: { 'accept-encoding': 'gzip' } });
    note('exporter', (cpuOf(exporter.pid) - before) / 1000);
    const timed = text.replace(/^[^#\n].*$/gm, line => `${line} ${startMs + second * 1000}`);
    document = await promisify(gzip)(timed, { level: 1 });
    for (const port of [PORT.plain, PORT.writing]) waiting.add(port);
  }
  let working = step();
  const server = createServer((request, response) => {
    const port = Number(new URL(request.url, 'http://stub').searchParams.get('for'));
    if (!waiting.delete(port)) {
      response.statusCode = 503;
      return void response.end();
    }
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.setHeader('content-encoding', 'gzip');
    response.end(document);
    if (waiting.size > 0) return;
    scrapes.push(startMs + second * 1000);
    working = step();
  });
  server.listen(PORT.stub, '127.0.0.1');
  return {
    scrapes,
    async close() {
      server.closeAllConnections();
      server.close();
      await working;
      fleet.close();
    },
  };
}

/**
 * What the rules of a group take, ms of CPU, and the series that they record: each is evaluated once, on the last
 * scrape.
 */
async function evaluate(prometheus, rules, timeMs) {
  let series = 0;
  const before = cpuOf(prometheus.pid);
  for (const { query } of rules) {
    const body = new URLSearchParams({ query, time: String(timeMs / 1000) });
    const { data } = JSON.parse(await ask(PORT.plain, '/api/v1/query', { method: 'POST', body }));
    series += data.result.length;
  }
  return { series, ms: (cpuOf(prometheus.pid) - before) / 1000 };
}

async function measurePrometheus({ quick, say }, note, own, children, receiver) {
  const exporter = await serve(children, 'prometheus', '--board', receiver.board, '--listen', '127.0.0.1:0');
  await fill(receiver.port, NODES, () => 1000);
  await countSeries(note, exporter.port);
  if (!installed('prometheus')) return void say('no prometheus here: apt-get install prometheus');

  const wanted = quick ? 20 : 240;
  say(`${NODES} nodes, ${wanted} scrapes`);
  const stub = openStub(receiver, exporter, Date.now() - (wanted + 10) * SCRAPE_S * 1000, note);
  const plain = await openPrometheus(children, own, PORT.plain, '');
  // As with the second store: rules, and remote write, which looks at every sample.
  const shipped = readFileSync(join(PACKAGING, 'remote-write.yml'), 'utf8');
  const recording = lines('rule_files:', `  - ${join(PACKAGING, 'recording.yml')}`);
  const writing = await openPrometheus(children, own, PORT.writing, recording + shipped);
  if (installed('victoria-metrics')) await openStore(children, own, 'store-writing');
  // From the middle on: by then they have their memory.
  let last;
  for (let due = wanted / 2; due <= wanted; due += wanted / 20) {
    while (stub.scrapes.length < due) await sleep(0.1);
    const [bytes, scrapes] = [writtenBy(plain.pid), stub.scrapes.length];
    const now = { plain: cpuOf(plain.pid), writing: cpuOf(writing.pid), bytes, scrapes };
    if (last !== undefined) {
      const took = name => (now[name] - last[name]) / 1000 / (scrapes - last.scrapes);
      note('plain writes', (bytes - last.bytes) / 1e6 / (scrapes - last.scrapes));
      for (const name of ['plain', 'writing']) note(`${name} cpu`, took(name));
      note('writing / plain', took('writing') / took('plain'));
      note('plain memory', ownOf(plain.pid));
      note('writing memory', ownOf(writing.pid));
    }
    last = now;
  }
  const { groups } = JSON.parse(await ask(PORT.writing, '/api/v1/rules')).data;
  for (const { name, rules } of groups) {
    const { series, ms } = await evaluate(plain, rules, stub.scrapes.at(-1));
    note(`${name} series`, series);
    note(`${name} cpu`, ms);
  }
  await stub.close();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, ownOf(plain.pid));
  }, 20);
  const { name } = JSON.parse(await ask(PORT.plain, '/api/v1/admin/tsdb/snapshot', { method: 'POST' })).data;
  clearInterval(watch);
  note('plain memory, most', most);
  const blocks = join(plain.data, 'snapshots', name);
  for (const block of readdirSync(blocks)) {
    const { stats } = JSON.parse(readFileSync(join(blocks, block, 'meta.json'), 'utf8'));
    note('bytes a sample', sizeOf(join(blocks, block, 'chunks')).bytes / stats.numSamples);
    note('index bytes a series', sizeOf(join(blocks, block, 'index')).bytes / stats.numSeries);
  }
}

// ---- the second store -------------------------------------------------------------------------------------------------

/** For each metric: its value at a busy share, the operation by which a window is recorded, and its rounding. */
const SHOWN = [
  ['cpu_busy', busy => Math.round(busy * 1000) / 1000, 'avg', 0.001],
  ['load1', busy => Math.round(busy * 6400) / 100, 'avg', 0.01],
  ['memory_used_bytes', busy => Math.round(209_715 * busy) * MIB, 'avg', 1e6],
  ['memory_used_bytes', busy => Math.round(209_715 * busy) * MIB, 'max', 1e6],
  ['network_receive_bytes', busy => busy * 125e6, 'avg', 1000],
  ['network_transmit_bytes', busy => busy * 100e6, 'avg', 1000],
  ['disk_read_bytes', busy => busy * 800e3, 'avg', 1000],
  ['disk_written_bytes', busy => busy * 1800e3, 'avg', 1000],
  ['cpu_power_watts', busy => 150 + 350 * busy, 'avg', 1],
  ['power_watts', busy => Math.round(220 + 480 * busy), 'avg', 1],
  ['power_watts', busy => Math.round(220 + 480 * busy), 'max', 1],
  ['cpu_temperature_celsius', busy => Math.round(380 + 400 * busy) / 10, 'max', 0.1],
  ['live', () => 1, 'avg', 0.001],
];

const rounded = (value, to) => (to >= 1 ? Math.round(value / to) * to : Math.round(value * (1 / to)) / (1 / to));

/** Windows of one node, as lines of /api/v1/import: the walk of `beoboard load`, second by second, seen every 15 s. */
function* windows(node, fromS, toS, stepS, round) {
  let busy = Math.random();
  const times = [];
  const columns = SHOWN.map(() => []);
  const flush = () => {
    const text = SHOWN.map(([name, , operation], i) => {
      const metric = { __name__: `cluster_node:${name}:${operation}${stepS}`, cluster: 'alpha', node };
      return JSON.stringify({ metric, values: columns[i].splice(0), timestamps: times });
    }).join('\n');
    times.splice(0);
    return text;
  };
  for (let time = fromS; time < toS; time += stepS) {
    const sums = SHOWN.map(() => 0);
    const most = SHOWN.map(() => 0);
    for (let scrape = 0; scrape < stepS / SCRAPE_S; scrape++) {
      for (let second = 0; second < SCRAPE_S; second++)
        busy = Math.min(1, Math.max(0, busy + (Math.random() - 0.5) * 0.05));
      for (const [i, [, shown]] of SHOWN.entries()) {
        const value = shown(busy);
        sums[i] += value;
        most[i] = Math.max(most[i], value);
      }
    }
    times.push(time * 1000);
    for (const [i, [, , operation, to]] of SHOWN.entries()) {
      const value = operation === 'max' ? most[i] : sums[i] / (stepS / SCRAPE_S);
      columns[i].push(round ? rounded(value, to) : value);
    }
    if (times.length === 5000) yield flush();
  }
  if (times.length > 0) yield flush();
}

async function openStore(children, own, name) {
  const dir = join(own, name);
  // The flags of victoria-metrics.default.
  const [, flags] = /^ARGS="(.*)"$/m.exec(readFileSync(join(PACKAGING, 'victoria-metrics.default'), 'utf8'));
  const argv = flags.replace('/var/lib/victoria-metrics', dir).split(' ');
  const child = run(children, 'victoria-metrics', argv);
  await answers(PORT.store, '/health');
  /** The sum of a metric of its own, over all labels or those with this beginning. */
  const count = async (name, type = '') => {
    const text = await ask(PORT.store, '/metrics');
    const values = text.matchAll(new RegExp(`^${name}(?:\\{type="${type}[^"]*"\\})? (\\S+)$`, 'gm'));
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  };
  return {
    pid: child.pid,
    count,
    put: body => ask(PORT.store, '/api/v1/import', { method: 'POST', body }),
    /** After merging, as it will be after a while. */
    async settle() {
      await ask(PORT.store, '/internal/force_flush');
      await ask(PORT.store, '/internal/force_merge');
      do await sleep(1);
      while ((await count('vm_active_force_merges')) > 0);
    },
    close: () => end(child),
  };
}

async function measureStore({ quick, say }, note, own, children) {
  if (!installed('victoria-metrics')) return void say('no victoria-metrics here: apt-get install victoria-metrics');
  const nodes = quick ? 2 : 5;
  const days = quick ? 30 : 365;
  const now = Math.floor(Date.now() / 1000 / 3600) * 3600;
  for (const round of [true, false]) {
    say(`${days} days of ${nodes} nodes in the second store, ${round ? 'rounded' : 'not rounded'}`);
    const store = await openStore(children, own, `store-${round}`);
    for (let node = 0; node < nodes; node++)
      for (const step of [300, 3600])
        for (const text of windows(`node${node}`, now - days * DAY_S, now, step, round)) await store.put(text);
    await store.settle();
    const rows = await store.count('vm_rows', 'storage');
    note(
      round ? 'store bytes' : 'store bytes as they are',
      (await store.count('vm_data_size_bytes', 'storage')) / rows,
    );
    if (round) {
      note('store index', (await store.count('vm_data_size_bytes', 'indexdb')) / (nodes * SHOWN.length * 2 * days));
      for (let node = 0; node < NODES; node++)
        for (const step of [300, 3600])
          for (const text of windows(`node${node}`, now - 6 * 3600, now, step, round)) await store.put(text);
      note('store memory', ownOf(store.pid));
    }
    await store.close();
  }
}

// ---- gmetad -----------------------------------------------------------------------------------------------------------

async function openGmetad(children, own, name, port, pollS, more) {
  const rrds = join(own, name);
  mkdirSync(rrds);
  const conf = join(own, `${name}.conf`);
  const fixed = ['setuid off', `rrd_rootdir "${rrds}"`, `data_source "alpha" ${pollS} 127.0.0.1:${port}`];
  writeFileSync(conf, lines(...fixed, ...more));
  const child = run(children, 'gmetad', ['-d', '1', '-c', conf]);
  const count = () => Number(execFileSync('sh', ['-c', `find "$0" -name '*.rrd' | wc -l`, rrds], { encoding: 'utf8' }));
  /** When all RRDs have been made. */
  let [before, now] = [-1, 0];
  while (now === 0 || now !== before) {
    await sleep(pollS + 1);
    [before, now] = [now, count()];
  }
  return { pid: child.pid, rrds, count: now, close: () => end(child) };
}

async function measureGmetad({ quick, say }, note, own, children, receiver) {
  if (!installed('gmetad')) return void say('no gmetad here: apt-get install gmetad');
  // One node, in the way of Debian's gmetad. Its files are there after a poll, however often it polls.
  const few = await openReceiver();
  await fill(few.port, 1);
  const one = await serve(children, 'ganglia', '--board', few.board, '--listen', `127.0.0.1:${PORT.few}`);
  const default_ = await openGmetad(children, own, 'default', one.port, 5, []);
  const [cluster] = readdirSync(default_.rrds).filter(name => !name.startsWith('__'));
  const [host] = readdirSync(join(default_.rrds, cluster)).filter(name => !name.startsWith('__'));
  const folder = join(default_.rrds, cluster, host);
  const files = readdirSync(folder);
  note('rrds of a node', files.length);
  note('bytes of an rrd', sizeOf(join(folder, files[0])).bytes);
  note('disk of a node', sizeOf(folder).onDisk / 1e6);
  await default_.close();
  await few.close();

  const load = openLoad(receiver.port, NODES, NODES, '--prefix', 'node');
  children.push(load);
  const all = await serve(children, 'ganglia', '--board', receiver.board, '--listen', `127.0.0.1:${PORT.ganglia}`);
  say(`gmetad makes RRDs of ${NODES} nodes`);
  // As many archives as by default, each long enough to have its own pages, as in practice: a write touches as many
  // pages.
  const archives = [1, 4, 40].map(step => `"RRA:AVERAGE:0.5:${step}:600"`).join(' ');
  const gmetad = await openGmetad(children, own, 'many', all.port, SCRAPE_S, [`RRAs ${archives}`]);
  const polls = quick ? 1 : 8;
  const look = () => ({ gmetad: cpuOf(gmetad.pid), ours: cpuOf(all.pid), bytes: writtenBy(gmetad.pid) });
  const first = look();
  let last = first;
  for (let poll = 0; poll < polls; poll++) {
    await sleep(SCRAPE_S);
    const now = look();
    note('gmetad cpu', (now.gmetad - last.gmetad) / 1000);
    note('ganglia cpu', (now.ours - last.ours) / 1000);
    note('gmetad memory', ownOf(gmetad.pid));
    last = now;
  }
  // A page that is still dirty is not counted again, so polls differ much, and the mean is taken.
  note('gmetad writes', (last.bytes - first.bytes) / 1e6 / polls);
}

// ---- all of it --------------------------------------------------------------------------------------------------------

async function measure(options) {
  // On a disk, because writes to memory are not counted.
  const own = mkdtempSync(join(tmpdir(), 'beoboard-bench.'));
  const children = [];
  const samples = {};
  const note = (figure, sample) => {
    samples[figure] ??= [];
    samples[figure].push(sample);
  };
  const ending = async () => {
    for (const child of children.splice(0).reverse()) await end(child);
  };
  const receiver = await openReceiver();
  try {
    for (const part of [measureStore, measurePrometheus, measureGmetad]) {
      await part(options, note, own, children, receiver);
      await ending();
    }
  } finally {
    await ending();
    await receiver.close();
    rmSync(own, { recursive: true, force: true });
  }
  const row = (figure, unit, from, of = sample => sample) =>
    samples[from] === undefined ? [] : [{ figure, unit, samples: samples[from].map(of) }];
  const mean = name => samples[name] && samples[name].reduce((a, b) => a + b, 0) / samples[name].length;
  const made = (figure, unit, value) => (Number.isFinite(value) ? [{ figure, unit, samples: [value] }] : []);
  const series = mean('series');
  const scrapes = DAY_S / SCRAPE_S;
  // A block of two hours has one index for 480 samples of each series.
  const sample = mean('bytes a sample') + mean('index bytes a series') / 480;
  const [five, hour] = [mean('beoboard_5m series'), mean('beoboard_1h series')];
  const year =
    ((five * YEAR_S) / 300 + (hour * YEAR_S) / 3600) * mean('store bytes') + (five + hour) * 365 * mean('store index');
  const disk = mean('rrds of a node') * mean('bytes of an rrd');
  return [
    ...Object.keys(samples)
      .filter(name => name.startsWith('series: '))
      .flatMap(name => row(`${NODES} nodes, ${name}`, 'series', name)),
    ...row(`${NODES} nodes, series: all defaults together`, 'series', 'series'),
    ...row(`exporter: CPU of a scrape of ${NODES} nodes, gzip included`, 'ms', 'exporter'),
    ...row(`Prometheus, ${NODES} nodes: own memory`, 'MiB', 'plain memory'),
    ...row('the same with recording.yml and remote-write.yml', 'MiB', 'writing memory'),
    ...row(`Prometheus, ${NODES} nodes: highest own memory while it writes a block`, 'MiB', 'plain memory, most'),
    ...row(`Prometheus, ${NODES} nodes: CPU a scrape`, 'ms', 'plain cpu'),
    ...row('the same with recording.yml and remote-write.yml, without its rules', 'ms', 'writing cpu'),
    ...row('with / without recording.yml and remote-write.yml', 'ratio', 'writing / plain'),
    ...row(`recording.yml, ${NODES} nodes: CPU of one run of its 5-minute rules`, 'ms', 'beoboard_5m cpu'),
    ...row(`recording.yml, ${NODES} nodes: CPU of one run of its hourly rules`, 'ms', 'beoboard_1h cpu'),
    ...row(`Prometheus, ${NODES} nodes: pages written a scrape`, 'MB', 'plain writes'),
    ...row('Prometheus: chunks of a block', 'bytes a sample', 'bytes a sample'),
    ...row('Prometheus: index of a block', 'bytes a series', 'index bytes a series'),
    ...made(`Prometheus, every ${SCRAPE_S} s, ${NODES} nodes: a day, computed`, 'GB', (series * scrapes * sample) / GB),
    ...made('the same: 30 days, computed', 'GB', (30 * series * scrapes * sample) / GB),
    ...row(`recording.yml, ${NODES} nodes: series recorded every 5 minutes`, 'series', 'beoboard_5m series'),
    ...row('victoria-metrics: recorded samples', 'bytes a sample', 'store bytes'),
    ...row('the same without rounding', 'bytes a sample', 'store bytes as they are'),
    ...row('victoria-metrics: its index', 'bytes a series and day', 'store index'),
    ...made(`victoria-metrics, ${NODES} nodes: a year, computed`, 'GB', year / GB),
    ...made(`victoria-metrics, ${10 * NODES} nodes: a year, computed`, 'GB', (10 * year) / GB),
    ...row(`victoria-metrics, series of ${NODES} nodes: own memory`, 'MiB', 'store memory'),
    ...row('gmetad: RRDs of a node', '', 'rrds of a node'),
    ...row('gmetad, its own archives: an RRD', 'bytes', 'bytes of an rrd'),
    ...row('gmetad, its own archives: disk of a node', 'MB', 'disk of a node'),
    ...made(`gmetad, its own archives: ${NODES} nodes, computed`, 'GB', (NODES * disk) / GB),
    ...row(`gmetad, ${NODES} nodes: CPU a poll`, 'ms', 'gmetad cpu'),
    ...row('beoboard ganglia in that time: CPU a poll', 'ms', 'ganglia cpu'),
    ...row(`gmetad, ${NODES} nodes: pages written a poll, on average`, 'MB', 'gmetad writes'),
    ...row(`gmetad, ${NODES} nodes: own memory`, 'MiB', 'gmetad memory'),
  ];
}

export const bench = options => inOwnNetwork(import.meta.url, options);

if (process.argv[2] === 'inside') await printRows('history', measure);
