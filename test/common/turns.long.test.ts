// The real programs over 50,000 live nodes, in a network of their own: beside 250 connections that ask for what costs
// most, again and again, a small request of another origin is answered within half a second; through nginx, where all
// are one origin, in that time or before any other connection's second request; and no server takes much memory for
// them. Every path of every server is tried, those of the API as its own document lists them.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { BoardReader } from '../../src/shm/reader.js';
import { openApi } from '../../src/web/openapi.js';
import type { Answered, Asking } from '../kit/asking.js';
import { madeState } from '../kit/madejobs.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { boardPath, folder } from '../kit/places.js';
import { type Running, start, startReceiver } from '../kit/program.js';
import { LOGIN, PROXIES, startProxy } from '../kit/proxies.js';
import { until } from '../kit/until.js';

const NODES = 50_000;
const JOBS = 5000;
const CONNECTIONS = 250;
/** Small requests beside them, how many of these have to be answered in time, and the time, ms. */
const [SMALL, IN_TIME, MOST_MS] = [100, 95, 500];
/** The memory that a server may take of its own beside them, MiB: 250 connections that read nothing once took 2,086. */
const MOST_MIB = 1024;
const HERE = '127.0.0.1';
/** Where the servers are for another origin, and that. */
const [THERE, OTHER] = ['10.9.0.1', '10.9.0.2'];
const SETUP = `ip link set lo up && ip addr add ${THERE}/24 dev lo && ip addr add ${OTHER}/24 dev lo`;
const ALL = `n[1-${NODES}]`;
/** So much of a stream is its first frame, at least, bytes. */
const STREAM_BYTES = 20_000;

/**
 * The costliest requests for each path of the API; # is a number. `nodes` also of what is refused: it is read as a whole
 * before that.
 */
const API: Readonly<Record<string, readonly string[]>> = {
  '/nodes': [
    'nodes',
    `nodes?nodes=${ALL}&fields=load`,
    `nodes?nodes=${ALL.replace('n', 'x')}`,
    'nodes?sort=-load&page=#&where=load%3E-#',
    `nodes?where=name~%22(n%7Cm)*1%22&fields=load`,
    `nodes?seq=SEQ&fields=${Array(64).fill('cpu')}`,
  ],
  '/nodes/{name}': ['nodes/n#'],
  '/events': [`events?since=0&nodes=${ALL}`],
  '/jobs': ['jobs'],
  '/jobs/{id}': ['jobs/#', 'jobs/9#'],
  '/users': ['users'],
  '/odd': ['odd'],
  '/readings': ['readings'],
  '/river': ['river?by=/n.../', 'river?nodes=n[1-2000]'],
  '/stream': ['stream?by=/n../&where=load%3E0'],
  '/clock': ['clock'],
  '/openapi.json': ['openapi.json'],
};

interface Server {
  readonly name: string;
  readonly running: Running;
  readonly port: number;
  /** Where it takes small requests, if that is elsewhere. */
  readonly small?: { readonly port: number };
  readonly ends: 'http' | 'close';
  readonly request: string;
  readonly costly: readonly string[];
}

/** A request, as bytes. */
const http = (path: string, more = '') =>
  `GET ${path.replace(/[[\]"|()]/g, encodeURIComponent)} HTTP/1.1\r\nHost: ${HERE}\r\nAccept-Encoding: identity\r\n${more}\r\n`;

/** A program of test/kit/asking.ts; `stop` is needed for one that asks without end. */
function asking(order: Asking) {
  const child = fork(fileURLToPath(new URL('../kit/asking.js', import.meta.url)), { serialization: 'advanced' });
  const begun = once(child, 'message');
  const answers = begun.then(() => once(child, 'message')).then(([answers]) => answers as Answered[]);
  child.send(order);
  const stop = () => {
    child.send('stop');
    return answers;
  };
  return { begun, answers, stop };
}

const msOf = ({ sent, at, line }: Answered) => (line === '' ? Number.POSITIVE_INFINITY : at - sent);
const rank = (all: readonly Answered[], share: number) =>
  [...all]
    .map(msOf)
    .sort((a, b) => a - b)
    [Math.ceil(share * all.length) - 1]?.toFixed(0);

interface Beside {
  readonly small: Answered[];
  readonly costly: Answered[];
  /** Both in words. */
  readonly line: string;
}

/** The answers to small requests beside costly ones of so many connections. */
async function beside(t: Test, name: string, order: Omit<Asking, 'connections'>, small: Omit<Asking, 'connections'>) {
  const flood = asking({ ...order, connections: CONNECTIONS });
  await flood.begun;
  const answers = await asking({ ...small, connections: 1, count: SMALL }).answers;
  const costly = await flood.stop();
  const lines = [...new Set(costly.map(({ line }) => line))].slice(0, 3).join(', ');
  const ms = `${rank(answers, 0.5)}, ${rank(answers, 0.95)}, ${rank(answers, 1)} ms`;
  const line = `${name}: ${ms} beside ${costly.length} answers (${lines}), load ${loadavg()[0]?.toFixed(1)}`;
  t.comment(line);
  return { small: answers, costly, line } satisfies Beside;
}

/** How many answers any one connection has had while a small request waited, and its program had a CPU. */
function mostMeanwhile({ sent, at, starved }: Answered, costly: readonly Answered[]): number {
  const counts = new Map<number, number>();
  for (const one of costly)
    if (one.at > sent && one.at < at - starved) counts.set(one.connection, (counts.get(one.connection) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}

/** What of a program's memory is its own, MiB. */
const ownMib = (pid: number) =>
  Math.round(Number(/RssAnon:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

const portOf = async ({ ready }: Running, which = 0): Promise<number> =>
  Number((await ready).listening?.[which]?.split(':').at(-1));

async function tryAll(t: Test): Promise<void> {
  const { paths } = openApi() as { paths: Record<string, unknown> };
  t.same(Object.keys(API), Object.keys(paths), 'every path of the document');

  const board = boardPath(t);
  const receiver = await startReceiver(t, board, ['--capacity', '60000']);
  start(t, ['load', '--to', `${HERE}:${receiver.port}`, '--nodes', ALL, '--rate', '1000']);
  const reader = new BoardReader(board);
  t.teardown(() => reader.close());
  const live = () => reader.nodeStates().states.reduce((sum, state) => sum + Number(state === 1), 0);
  await until('all are live', () => live() === NODES, 1000, { withinMs: 180_000 });

  const slurm = folder(t);
  const nodes = Array.from({ length: NODES }, (_, i) => ({
    ...{ name: `n${i + 1}`, state: 'ALLOCATED', base: 'allocated' as const, takes_jobs: true as const, cpus: 64 },
  }));
  const jobs = Array.from({ length: JOBS }, (_, i) => ({
    ...{ id: `${i + 1}`, nodes: `n[${10 * i + 1}-${10 * i + 10}]`, state: 'RUNNING', user: `u${i % 300}` },
    ...{ partition: 'batch', cpus: 640, name: 'job', start_s: Math.floor(Date.now() / 1000) - 600 },
  }));
  const state = madeState(nodes, jobs);
  writeFileSync(join(slurm, 'state'), JSON.stringify({ ...state, next_ms: state.next_ms + 3_600_000 }));

  const at = ['--board', board];
  const begin = async (argv: string[], which = 0) => {
    const running = start(t, [...argv, ...at]);
    return { running, port: await portOf(running, which) };
  };
  const jobsAt = ['--slurm-dir', slurm];
  const web = await begin(['web', '--base', '/cluster', '--show-jobs', ...jobsAt, '--listen', '0.0.0.0:0']);
  const prometheus = await begin(['prometheus', '--node-metrics', ...jobsAt, '--listen', '0.0.0.0:0']);
  const ganglia = start(t, [
    ...['ganglia', '--listen', '0.0.0.0:0', '--gmetad-listen', '0.0.0.0:0', '--trusted-hosts', '10.9.0.0/24', ...at],
  ]);
  const supermon = await begin(['supermon', '--listen', '0.0.0.0:0']);

  const api = '/cluster/api/v1/';
  const json = async (path: string) => {
    const answer = await fetch(`http://${HERE}:${web.port}${api}${path}`, { headers: { Connection: 'close' } });
    return answer.ok ? ((await answer.json()) as { seq: number }) : undefined;
  };
  const seq = async () => (await until('the number of the look', () => json('events?kind=boot')))?.seq;
  await until('its jobs are shown', () => json('jobs'));
  const select = '/metrics?collect[]=state&nodes=';
  const queries = { port: await portOf(ganglia, 2) };
  const servers: Server[] = [
    {
      ...{ name: 'web', ...web, ends: 'http', request: http(`${api}readings`) },
      costly: [...Object.values(API).flat(), '', 'nothing'].map(path => (path === '' ? '/cluster/' : `${api}${path}`)),
    },
    {
      ...{ name: 'prometheus', ...prometheus, ends: 'http', request: http('/-/healthy') },
      costly: ['/metrics', `${select}${ALL}`, `${select}x[1-99999]`, '/node-metrics', '/sd?of=1024', '/', '/-/healthy'],
    },
    {
      ...{ name: 'ganglia', running: ganglia, port: await portOf(ganglia), ends: 'close' },
      ...{ small: queries, request: '/status\n', costly: [''] },
    },
    {
      ...{ name: 'gmetad tree', running: ganglia, port: await portOf(ganglia, 1), ends: 'close' },
      ...{ small: queries, request: '/status\n', costly: [''] },
    },
    {
      ...{ name: 'gmetad queries', running: ganglia, ...queries, ends: 'close' },
      ...{ request: '/status\n', costly: ['/\n', '/?filter=summary\n', '/nothing\n'] },
    },
    { ...{ name: 'supermon', ...supermon, ends: 'close', request: '#\n' }, costly: ['S\n', 'S\nS\nS\n', '#\n', 'x\n'] },
  ];

  const many = Array.from({ length: CONNECTIONS }, (_, i) => `127.${i}.0.${(i % 200) + 2}`);
  /** For one who looks for what a single path costs. */
  const only = process.env.BEOBOARD_TEST_ONLY ?? '';
  for (const { name, running, port, ends, request, costly, small = { port } } of servers)
    for (const path of costly) {
      const title = `${name} ${path.slice(0, 60).trim()}`;
      if (!title.includes(only)) continue;
      const pid = running.child.pid as number;
      const isStream = path.includes('/stream');
      const bytes = ends === 'http' ? http(path.replace('SEQ', String(await seq()))) : path;
      const order = { host: HERE, port, requests: [bytes], ends: isStream ? STREAM_BYTES : ends, from: [HERE] };
      const asked = { host: THERE, ...small, from: [OTHER], requests: [request], ends, pid };
      const ways = {
        ...(ends === 'http' && !isStream && { 'keep-alive': {} }),
        direct: { isDirect: true },
        'many addresses': { from: many },
      };
      for (const [way, more] of Object.entries(ways)) {
        const found = await beside(t, `${title}, ${way}`, { ...order, ...more }, asked);
        const inTime = found.small.filter(one => msOf(one) - one.starved <= MOST_MS).length;
        t.ok(ownMib(pid) < MOST_MIB, `${ownMib(pid)} MiB`);
        t.ok(inTime >= IN_TIME, `${inTime} of ${SMALL} in time: ${found.line}`);
      }
    }

  const nginx = PROXIES.find(({ name }) => name === 'nginx') as (typeof PROXIES)[number];
  const proxy = Number(new URL(await startProxy(t, nginx, web.port)).port);
  const login = `Authorization: ${LOGIN.Authorization}\r\n`;
  for (const path of Object.values(API).flat()) {
    const title = `nginx ${path.slice(0, 60)}`;
    if (!title.includes(only)) continue;
    const bytes = http(`${api}${path.replace('SEQ', String(await seq()))}`, login);
    const ends = path.startsWith('stream') ? STREAM_BYTES : 'http';
    const pid = web.running.child.pid as number;
    const asked = { host: HERE, port: proxy, requests: [http(`${api}readings`, login)], ends: 'http' as const, pid };
    const found = await beside(t, title, { host: HERE, port: proxy, requests: [bytes], ends }, asked);
    // What costs as little as the small request itself may be answered twice meanwhile, in a time that nobody notices.
    const isLate = (one: Answered) => mostMeanwhile(one, found.costly) > 1 && msOf(one) - one.starved > MOST_MS;
    const late = found.small.filter(isLate).length;
    t.ok(ownMib(pid) < MOST_MIB, `${ownMib(pid)} MiB`);
    t.ok(late <= SMALL - IN_TIME, `${SMALL - late} of ${SMALL} before a second one: ${found.line}`);
    t.ok(found.small.every(({ line }) => line.startsWith('HTTP/1.1 200')));
  }
}

if (INSIDE) t.test('every path of every server', tryAll);
else inOwnNetwork(t, SETUP, import.meta.url);
