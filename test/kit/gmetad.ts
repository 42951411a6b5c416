// Starts a real gmetad with its own RRDs, waits for its polls, queries it and reads its files; and starts what it
// polls: nodes, a receiver, our server. gmetad listens on all addresses, so it must run in a test's own network. No
// test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Encodable } from '../../src/layout/codec.js';
import { BulkSender } from '../../src/native/index.js';
import { BoardReader } from '../../src/shm/reader.js';
import { type Cluster, clustersOf, FULL, S } from './ganglia.js';
import { boardPath, folder } from './places.js';
import { type Running, start, startReceiver } from './program.js';
import { makeReport } from './reports.js';
import { until } from './until.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

/**
 * Why a test that needs these programs is skipped; false if they are installed, and in CI, where a missing one is a
 * failure.
 */
export function missing(programs: Record<string, string>): string | false {
  if (process.env.CI === 'true') return false;
  const lacking = Object.keys(programs).filter(program => !existsSync(program));
  return lacking.length > 0 && `missing: apt-get install ${lacking.map(program => programs[program]).join(' ')}`;
}

/** Options of setpriv: the program ends when its parent has ended, even if the parent was killed. */
export const ORPHANED = ['--pdeathsig', 'KILL', '--'];

export const GMETAD = '/usr/sbin/gmetad';
export const RRDTOOL = '/usr/bin/rrdtool';

/**
 * The whole answer of a port of 127.0.0.1, after the request `line` if there is one. An answer that breaks off is an
 * error.
 */
export async function ask(port: number, line?: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const pieces: Buffer[] = [];
  socket.on('data', piece => pieces.push(piece));
  if (line !== undefined) socket.write(`${line}\n`);
  await once(socket, 'end');
  return Buffer.concat(pieces).toString('latin1');
}

/**
 * A point of an RRD: its time in s, and the value of each data source: `sum`, and for clusters and grids also `num`.
 */
interface Point {
  time: number;
  values: Record<string, number>;
}

/** What gmetad prints at its start; every other line is a complaint. */
const STARTING = /^(Sources are \.\.\.|Source: \[.*|\t127\.0\.0\.1|Data thread \d+ is monitoring \[.*)$/;

/**
 * gmetad adds up its whole grid every half of its shortest step, here every 0.9 to 1.1 s, independent of its polls. It
 * makes sure that the second has changed, but by the fine clock, while its timestamps come from time(2), which lags by
 * up to a tick. So two sums sometimes have the same timestamp.
 */
const SUMMED_TWICE =
  /^RRD_update \(\S+\/rrds\/__SummaryInfo__\/\S+\): .*using time (\d+) when last update time is \1 \(minimum/;

const refused = (error: NodeJS.ErrnoException): false => {
  if (error.code !== 'ECONNREFUSED') throw error;
  return false;
};

/** How often a test looks whether gmetad has polled, which it does every two seconds. */
const LOOKS_MS = 200;

let nextPort = 18_651;

export class Gmetad {
  /** Its RRDs, `CLUSTER/HOST/METRIC.rrd`. */
  readonly rrds: string;
  readonly #copies: string;
  /** gmetad's port 8651. */
  readonly treePort: number;
  /** gmetad's port 8652. */
  readonly queryPort: number;
  readonly #child: ChildProcess;
  #said = '';

  /**
   * Starts a gmetad that polls `sources`, ports of 127.0.0.1, every two seconds, and waits until it listens. Ended with
   * the test. A poll may be a twentieth early: with an interval of one second, two could have the same LOCALTIME.
   * Without `records` it writes no RRDs.
   */
  static async start(t: Teardown, sources: readonly number[], { records = true } = {}): Promise<Gmetad> {
    const gmetad = new Gmetad(t, sources, records);
    await until('gmetad listens', () => gmetad.ask('/status').catch(refused), 50);
    return gmetad;
  }

  private constructor(t: Teardown, sources: readonly number[], records: boolean) {
    const dir = folder(t);
    this.rrds = join(dir, 'rrds');
    this.#copies = join(dir, 'copies');
    for (const path of [this.rrds, this.#copies]) mkdirSync(path);
    [this.treePort, this.queryPort] = [nextPort, nextPort + 1];
    nextPort += 2;
    const conf = join(dir, 'gmetad.conf');
    const lines = [
      ...sources.map((port, i) => `data_source "source${i + 1}" 2 127.0.0.1:${port}`),
      'gridname "testgrid"',
      `rrd_rootdir "${this.rrds}"`,
      `xml_port ${this.treePort}`,
      `interactive_port ${this.queryPort}`,
      'setuid off',
      `write_rrds ${records ? 'on' : 'off'}`,
      // The default archives take 18 MB for each host.
      'RRAs "RRA:AVERAGE:0.5:1:120"',
    ];
    writeFileSync(conf, `${lines.join('\n')}\n`);
    // -d: it stays in the foreground and logs to stderr instead of syslog.
    const child = spawn('setpriv', [...ORPHANED, GMETAD, '-c', conf, '-d', '1'], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data: Buffer) => {
        this.#said += data.toString('latin1');
      });
    child.on('error', error => {
      this.#said += `${error}\n`;
    });
    child.on('exit', (code, signal) => {
      this.#said += `ended with ${code ?? signal}\n`;
    });
    t.teardown(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    this.#child = child;
  }

  /** Its complaints so far, including its end, except for those that have nothing to do with its input. */
  complaints(): string[] {
    return this.#said.split('\n').filter(line => line !== '' && !STARTING.test(line) && !SUMMED_TWICE.test(line));
  }

  /** The answer to a query; an error when gmetad has ended. */
  async ask(query: string): Promise<string> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(`gmetad: ${this.#said}`);
    return ask(this.queryPort, query);
  }

  /** The time of its last successful poll, ms. */
  async #lastPoll(): Promise<number> {
    const status = await this.ask('/status');
    return Number(/"polls":\{"ok":\{[^}]*"lastTime":(\d+)/.exec(status)?.[1] ?? 0);
  }

  /** Waits for so many successful polls that begin after this call. */
  async polls(count = 1): Promise<void> {
    let last = await this.#lastPoll();
    // The next poll to end may have begun before this call.
    for (let seen = 0; seen <= count; seen++)
      last = await until(
        'gmetad has polled',
        async () => {
          const found = await this.#lastPoll();
          return found > last && found;
        },
        LOOKS_MS,
      );
  }

  /** Its clusters in its own document, with all hosts or as a summary. */
  async clusters(summary = false): Promise<Record<string, Cluster>> {
    return clustersOf(await this.ask(summary ? '/?filter=summary' : '/'));
  }

  /** Hosts up and down in the whole grid, which gmetad adds up only now and then: `2 up, 1 down`. */
  async gridHeads(): Promise<string> {
    const [, up, down] = /^<HOSTS UP="(\d+)" DOWN="(\d+)"/m.exec(await this.ask('/?filter=summary')) ?? [];
    return `${up} up, ${down} down`;
  }

  /** Hosts up and down in a cluster's summary: `2 up, 1 down`. */
  async heads(cluster: string): Promise<string> {
    const summary = await this.ask(`/${cluster}?filter=summary`);
    const [, up, down] = /<CLUSTER [^>]*>\s*<HOSTS UP="(\d+)" DOWN="(\d+)"/.exec(summary) ?? [];
    return `${up} up, ${down} down`;
  }

  /** Waits until its summary of a cluster has these counts. */
  async counts(cluster: string, heads: string): Promise<void> {
    await until(`gmetad counts ${heads} in ${cluster}`, async () => (await this.heads(cluster)) === heads, LOOKS_MS);
  }

  /** The paths of the RRDs below a folder of `rrds`, without `.rrd`, sorted. */
  written(below = ''): string[] {
    const dir = join(this.rrds, below);
    if (!existsSync(dir)) return [];
    return readdirSync(dir, { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.rrd'))
      .map(path => path.slice(0, -'.rrd'.length))
      .sort();
  }

  /**
   * Copies an RRD for rrdtool; no copy if there is no RRD. rrdtool locks the file that it reads, and a gmetad that
   * finds a lock complains and loses a point.
   */
  #copyOf(path: string): string {
    const file = join(this.rrds, `${path}.rrd`);
    // rrdtool splits its commands at blanks.
    const copy = join(this.#copies, `${Buffer.from(path).toString('base64url')}.rrd`);
    rmSync(copy, { force: true });
    if (!existsSync(file)) return copy;
    // gmetad writes through a mapping, so it may be in the middle of a point: read until two reads agree.
    let [bytes, again] = [readFileSync(file), readFileSync(file)];
    while (!again.equals(bytes)) [bytes, again] = [again, readFileSync(file)];
    writeFileSync(copy, again);
    return copy;
  }

  /** The newest points of RRDs, by path. */
  newestOf(paths: readonly string[]): Record<string, Point> {
    const input = paths.map(path => `lastupdate ${this.#copyOf(path)}\n`).join('');
    const { stdout } = spawnSync(RRDTOOL, ['-'], { encoding: 'utf8', input });
    // Each answer is a line of names, an empty one, the point, and OK with times, or ERROR.
    const answers = stdout.split(/^OK .*\n/m);
    const points = paths.map((path, i) => {
      const [, names, time, texts] = /^ *(.*)\n\n(\d+): (.*)\n$/.exec(answers[i] ?? '') ?? [];
      if (names === undefined) throw new Error(`no point in ${path}: ${answers[i]}`);
      const values = (texts ?? '').split(' ').map(Number);
      const byName = names.split(/ +/).map((name, j) => [name, values[j] ?? Number.NaN]);
      return [path, { time: Number(time), values: Object.fromEntries(byName) }];
    });
    return Object.fromEntries(points);
  }

  /** The newest point of one RRD. */
  newest(path: string): Point {
    return this.newestOf([path])[path] as Point;
  }

  /** All points of an RRD's data source in the last `seconds`: the averages of its steps, NaN for a gap. */
  points(path: string, seconds = 120): number[] {
    const args = ['fetch', this.#copyOf(path), 'AVERAGE', '-s', `-${seconds}`];
    const { stdout } = spawnSync(RRDTOOL, args, { encoding: 'utf8' });
    return [...stdout.matchAll(/^\d+: (\S+)/gm)].map(([, value]) => (/nan/i.test(value!) ? Number.NaN : Number(value)));
  }

  /**
   * The mean of the last hour in a summary, as ganglia-web computes it: NaN before rrdtool has a whole pixel of points.
   */
  mean(path: string): number {
    const drawn = [`DEF:mean=${this.#copyOf(path)}:sum:AVERAGE`, 'PRINT:mean:AVERAGE:%lf'];
    const { stdout } = spawnSync(RRDTOOL, ['graph', '/dev/null', '--start', '-3600s', ...drawn], { encoding: 'utf8' });
    return Number(stdout.split('\n')[1] || Number.NaN);
  }
}

// ---- what it polls ----------------------------------------------------------------------------------------------------

/** Limits that are short, so that tests do not wait long for a silence, but long enough for a busy machine. */
export const LIMITS = ['--uncertain-after', '2s', '--silent-after', '4s'];

/**
 * Nodes on which everything was measured. Their own clock advances one second per report, however long that really
 * takes.
 */
export class Nodes {
  readonly #socket: BulkSender;
  readonly #changed = new Map<string, Encodable<'report'>>();
  #second = 0;

  constructor(
    t: Teardown,
    port: number,
    readonly cluster: string,
  ) {
    this.#socket = new BulkSender('127.0.0.1', port);
    const timer = setInterval(() => this.#report(), 500);
    t.teardown(() => {
      clearInterval(timer);
      this.#socket.close();
    });
  }

  /** Changes what this node reports from now on. */
  reports(name: string, changed: Encodable<'report'> = {}): void {
    this.#changed.set(name, changed);
  }

  silence(name: string): void {
    this.#changed.delete(name);
  }

  #report(): void {
    const k = ++this.#second;
    // The rates of test/kit/ganglia.ts, one second later each time.
    const moving: Encodable<'report'> = {
      seq: k,
      t_boot_ns: BigInt(1000 + k) * S,
      t_real_ns: BigInt(1_700_001_000 + k) * S,
      cpu_user_ms: 10_000 + 5000 * k,
      cpu_nice_ms: 100 * k,
      cpu_system_ms: 1000 * k,
      cpu_idle_ms: 80_000 + 3000 * k,
      cpu_iowait_ms: 400 * k,
      cpu_irq_ms: 120 * k,
      cpu_softirq_ms: 80 * k,
      cpu_steal_ms: 300 * k,
      net: [
        { name: 'eth0', rx_bytes: 1_501_000 * k, tx_bytes: 2_002_000 * k, rx_packets: 1015 * k, tx_packets: 2020 * k },
      ],
      net_rest: {},
    };
    for (const [hostname, changed] of this.#changed) {
      const report = makeReport({ ...FULL, ...moving, interval_ms: 100, hostname, ...changed }, this.cluster);
      this.#socket.send(report, report.length, 0, 1);
    }
  }
}

/** `beoboard ganglia` on free ports: that of a gmond, and those of a gmetad. */
export async function serve(
  t: Teardown,
  boards: readonly string[],
  more: readonly string[] = [],
): Promise<Running & { port: number; treePort: number; queryPort: number }> {
  const running = start(t, [
    'ganglia',
    ...boards.flatMap(board => ['--board', board]),
    ...['--listen', '127.0.0.1:0', '--gmetad-listen', '127.0.0.1:0', '--grid', 'testgrid'],
    ...more,
  ]);
  const { listening = [] } = await running.ready;
  const [port = 0, treePort = 0, queryPort = 0] = listening.map(address => Number(address.split(':').at(-1)));
  return { ...running, port, treePort, queryPort };
}

/** A receiver, its nodes, our server and a gmetad that polls it; the nodes `gone` are silent before the first poll. */
export async function chain(t: Teardown, cluster: string, hosts: readonly string[], gone: readonly string[] = []) {
  const board = boardPath(t);
  const receiver = await startReceiver(t, board, ['--cluster', cluster, ...LIMITS]);
  const nodes = new Nodes(t, receiver.port, cluster);
  for (const host of hosts) nodes.reports(host);
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  await until('all have reported twice', () => {
    const snapshot = reader.snapshot();
    return snapshot.count === hosts.length && [...snapshot.nodes()].every(({ previous }) => previous !== undefined);
  });
  for (const host of gone) nodes.silence(host);
  await until(
    'they are silent',
    () => [...reader.snapshot().nodes()].filter(({ state }) => state === 'silent').length === gone.length,
  );
  const server = await serve(t, [board]);
  const gmetad = await Gmetad.start(t, [server.port]);
  return { receiver, nodes, reader, server, gmetad };
}
