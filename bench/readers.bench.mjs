// The cost of reading the board: all states, one node by its name, and everything, in C with libbeoboard, in TypeScript
// and in Python, which takes ten columns of it; on boards of 1,000 to 100,000 nodes, without a writer and with one that writes reports in a loop,
// faster than any receiver could. Beside it a bare memcpy, and other sources: gmond's XML, our own XML of as many
// hosts, and a node_exporter. Runs in its own network namespace. Without the packages python3, ganglia-monitor and
// prometheus-node-exporter there are no rows for these.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { gmondConf } from './gmond.mjs';
import { at, end, folder, isInstalled, MAIN, make, sleep } from './processes.mjs';

const SIZES = [1000, 10_000, 100_000];
/** How much longer a snapshot may take than memcpy. */
export const MOST = 1.5;
/** The size with the most rows. */
const USUAL = 10_000;
/** A document of more hosts is more than a gigabyte. */
const XML_MOST = 10_000;

const PYTHON = 'Python with libbeoboard';
const READERS = ['C', 'TypeScript', PYTHON];
const WAYS = {
  scan: 'state of every node',
  one: 'a node by its name',
  whole: 'every report',
};

/** A program that reads lines and answers each with a line of JSON; it sends the first one by itself. */
export async function ask(program, argv, env = {}) {
  const child = spawn(program, argv, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${[program, ...argv].join(' ')} has ended`);
    return JSON.parse(value);
  };
  const first = await answer();
  return {
    child,
    first,
    tell(line) {
      child.stdin.write(`${line}\n`);
      return answer();
    },
  };
}

/** Waits until a port of this machine is open. */
async function listens(port) {
  for (let tries = 0; tries < 100; tries++) {
    const socket = connect({ port, host: '127.0.0.1' });
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (open) return;
    await sleep(0.1);
  }
  throw new Error(`nobody listens on ${port}`);
}

/** Other sources of the same data, each as cheap as possible; those that are installed here. */
async function others(own, open, serve, say) {
  const found = {};
  if (isInstalled('gmond', 'ganglia-monitor', say)) {
    // Every metric at once, so that its document is complete from the first second on.
    writeFileSync(join(own, 'gmond.conf'), gmondConf({ does: ['hears', 'sends'], everySecond: true }));
    await serve(8649, 'gmond', ['-c', join(own, 'gmond.conf')]);
    await sleep(5);
    found["gmond's port, one host: XML over TCP, parsed by expat"] = await open('python3', [
      at('reader.py'),
      'xml',
      '8649',
    ]);
  }
  if (isInstalled('prometheus-node-exporter', 'prometheus-node-exporter', say)) {
    // The collectors for the data of our report, and nothing about itself: its defaults have twice as many.
    const collectors = 'cpu diskstats filefd filesystem loadavg meminfo netdev netstat pressure stat time uname vmstat';
    const wanted = collectors.split(' ').map(name => `--collector.${name}`);
    const argv = [
      '--web.listen-address=127.0.0.1:9100',
      '--web.disable-exporter-metrics',
      '--collector.disable-defaults',
    ];
    await serve(9100, 'prometheus-node-exporter', [...argv, ...wanted]);
    const client = await open('python3', [at('reader.py'), 'http', '9100']);
    found['node_exporter, one host: text over HTTP, a kept connection, lines parsed'] = client;
  }
  return found;
}

/** Figures of one board: for `reader, way, quiet or busy` a list with one entry per lap. */
async function measureBoard(own, nodes, laps, say) {
  const children = [];
  const open = async (...argv) => {
    const peer = await ask(...argv);
    children.push(peer.child);
    return peer;
  };
  const serve = async (port, program, argv) => {
    children.push(spawn(program, argv, { stdio: 'ignore' }));
    await listens(port);
  };
  const samples = new Map();
  const note = (key, sample) => samples.set(key, [...(samples.get(key) ?? []), sample]);
  try {
    const board = join(own, `board${nodes}`);
    const bench = join(own, 'lib-bench');
    const writer = await open(bench, ['write', board, String(nodes)]);
    const readers = {
      C: await open(bench, ['read', board]),
      TypeScript: await open(process.execPath, [at('reader.mjs'), board]),
    };
    const peers = {};
    if (isInstalled('python3', 'python3', say)) {
      const library = { BEOBOARD_LIBRARY: join(own, 'libbeoboard.so') };
      readers[PYTHON] = await open('python3', [at('reader.py'), 'module', board], library);
      if (nodes <= XML_MOST) {
        const argv = [MAIN, 'ganglia', '--board', board, '--listen', '127.0.0.1:8650', '--metrics', 'gmond'];
        await serve(8650, process.execPath, argv);
        peers.xml = await open('python3', [at('reader.py'), 'xml', '8650']);
      }
      if (nodes === USUAL) Object.assign(peers, await others(own, open, serve, say));
    }
    const { bytes } = readers.C.first;
    say(`${nodes} nodes, ${laps} laps`);
    for (let lap = -1; lap < laps; lap++) {
      for (const how of ['quiet', 'busy']) {
        await writer.tell(how);
        const seen = new Map();
        for (const [reader, { tell }] of Object.entries(readers)) {
          for (const way of Object.keys(WAYS)) seen.set(`${reader}, ${way}, ${how}`, await tell(way));
          if (how === 'busy') continue;
          const more =
            { C: ['tally', 'memory', 'find', 'copy', 'every'], TypeScript: ['memory', 'object', 'copy'] }[reader] ?? [];
          for (const way of more) seen.set(`${reader}, ${way}, ${how}`, await tell(way));
        }
        if (how === 'quiet') for (const [peer, { tell }] of Object.entries(peers)) seen.set(peer, await tell('whole'));
        else seen.set('writer', await writer.tell('quiet'));
        // The first lap includes compilation.
        if (lap >= 0) for (const [key, sample] of seen) note(key, sample);
      }
    }
    return { samples, bytes };
  } finally {
    for (const child of children) await end(child);
    rmSync(join(own, `board${nodes}`), { force: true });
  }
}

/** Runs in its own network namespace. */
export const network = 'ip link set lo up';

export async function bench({ quick, say }) {
  const own = folder();
  const boards = new Map();
  try {
    make('.', own, 'lib-bench');
    const laps = quick ? 3 : 11;
    for (const nodes of SIZES) boards.set(nodes, await measureBoard(own, nodes, laps, say));
  } finally {
    rmSync(own, { recursive: true });
  }

  const grouped = number => number.toLocaleString('en');
  const row = (nodes, key, figure, unit, of, more = {}) => {
    const samples = boards.get(nodes).samples.get(key);
    return samples === undefined
      ? []
      : [{ figure: `${figure}, ${grouped(nodes)} nodes`, unit, samples: samples.map(of), ...more }];
  };
  const ns = ({ ns }) => ns;
  const us = ({ ns }) => ns / 1000;
  // Short times are bounded at their minimum, because other work on the machine can only add time.
  const least = ({ least }) => least;
  const each = (readers, way, rows) => readers.flatMap(reader => rows(reader, `${reader}: ${WAYS[way]}`));
  const grows = (way, reader, nodes) => ({ plot: { name: 'readers', series: `${WAYS[way]}, ${reader}`, x: nodes } });
  const all = (way, of = us) =>
    each(READERS, way, (reader, figure) =>
      SIZES.flatMap(nodes => row(nodes, `${reader}, ${way}, quiet`, figure, 'us', of, grows(way, reader, nodes))),
    );
  /** The ratio to the same on a quiet board, lap by lap. */
  const slowed = (reader, way, nodes) => {
    const { samples } = boards.get(nodes);
    const quiet = samples.get(`${reader}, ${way}, quiet`);
    return row(
      nodes,
      `${reader}, ${way}, busy`,
      `${reader}: ${WAYS[way]}, with a busy writer / without`,
      'ratio',
      ns,
    ).map(found => ({ ...found, samples: found.samples.map((busy, lap) => busy / quiet[lap].ns) }));
  };
  const megabytes = nodes => Math.round(boards.get(nodes).bytes / 1e6);
  const memcpy = SIZES.flatMap(nodes =>
    row(
      nodes,
      'C, whole, quiet',
      `memcpy of the same size, ${megabytes(nodes)} MB`,
      'us',
      ({ memcpy }) => memcpy / 1000,
      {
        plot: { name: 'readers', series: 'memcpy', x: nodes },
      },
    ),
  );
  const peers = [...boards.get(USUAL).samples].filter(([key]) => key.includes('one host'));
  return [
    ...all('scan'),
    ...row(USUAL, 'C, scan, quiet', 'C: state of a node, fastest run', 'ns', ({ least }) => least / USUAL, {
      bound: 25,
    }),
    ...['C', 'TypeScript'].flatMap(reader =>
      row(USUAL, `${reader}, memory, quiet`, `${reader}: what is remembered of every node`, 'us', us),
    ),
    ...row(
      10_000,
      'C, tally, quiet',
      'C: number of nodes in each state, fastest run',
      'us',
      ({ least }) => least / 1000,
      {
        bound: 10,
      },
    ),
    ...row(
      100_000,
      'C, tally, quiet',
      'C: number of nodes in each state, fastest run',
      'us',
      ({ least }) => least / 1000,
      {
        bound: 120,
      },
    ),
    ...row(USUAL, `${PYTHON}, scan, quiet`, `${PYTHON}: states, fastest run`, 'us', ({ least }) => least / 1000, {
      bound: 5000,
    }),
    ...each(READERS, 'one', (reader, figure) =>
      row(USUAL, `${reader}, one, quiet`, `${figure}, in random order`, 'ns', ns),
    ),
    ...row(100_000, 'C, one, quiet', `C: ${WAYS.one}, in random order`, 'ns', ns),
    ...row(USUAL, 'C, find, quiet', 'C: index of a name, one of 64, fastest run', 'ns', least, { bound: 30 }),
    ...row(USUAL, 'C, copy, quiet', 'C: copy of a node, one of 64, fastest run', 'ns', least, { bound: 80 }),
    ...row(USUAL, 'TypeScript, copy, quiet', 'TypeScript: copy of a record', 'ns', ns, { bound: 1000 }),
    ...row(USUAL, 'TypeScript, object, quiet', 'TypeScript: a report as an object, by its name', 'us', us),
    ...row(USUAL, 'C, every, quiet', 'C: summaries of all nodes', 'us', us),
    ...all('whole'),
    ...row(USUAL, `${PYTHON}, whole, quiet`, `${PYTHON}: ten columns, fastest run`, 'us', ({ least }) => least / 1000, {
      bound: 250_000,
    }),
    ...memcpy,
    ...row(
      USUAL,
      'TypeScript, whole, quiet',
      'TypeScript: snapshot / memcpy',
      'ratio',
      ({ ns, memcpy }) => ns / memcpy,
      { bound: MOST },
    ),
    ...row(USUAL, 'C, whole, quiet', 'C: every report / memcpy', 'ratio', ({ ns, memcpy }) => ns / memcpy),
    ...SIZES.flatMap(nodes => row(nodes, 'writer', 'a writer in a loop writes', 'reports/s', ({ reports }) => reports)),
    ...READERS.flatMap(reader => Object.keys(WAYS).flatMap(way => slowed(reader, way, USUAL))),
    ...[1000, 100_000].flatMap(nodes => ['scan', 'whole'].flatMap(way => slowed('C', way, nodes))),
    ...SIZES.flatMap(nodes =>
      row(nodes, 'xml', "gmond's XML (gmond's metrics only) from our server, parsed by expat", 'us', us, {
        plot: { name: 'readers', series: "gmond's XML from our server", x: nodes },
      }),
    ),
    ...peers.map(([figure, samples]) => ({ figure, unit: 'us', samples: samples.map(us) })),
  ];
}
