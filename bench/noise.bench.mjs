// What an agent with one report a second costs a bulk-synchronous job: barrier.c computes on all CPUs with a barrier
// every millisecond, without an agent and beside each agent in turn, in blocks of 20 s, in a new random order for each
// lap. An agent's slowdown is the mean step in its block, divided by that in the blocks without an agent in the same
// lap. Takes an hour, or MINUTES of the environment. Only agents run beside the job: their datagrams go to a socket
// that nobody reads; node_exporter is scraped once a second by a bare C program. The other agents are stopped
// meanwhile. Needs root, musl-tools, and the packages of the peers; there are no rows for missing ones.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { collectd, gmond, nodeExporter, ours } from './peers.mjs';
import { end, folder, openNamespace, sleep } from './processes.mjs';

const at = path => fileURLToPath(new URL(path, import.meta.url));
/** The destination of agents that push. */
const PORTS = ['8677', '8649', '25826'];
const oursAligned = {
  ...ours,
  name: 'beoboard-send --aligned',
  node: ({ space, programs }, name) => space.run(programs.sender, ['--to', '127.0.0.1', '--name', name, '--aligned']),
};
const AGENTS = [ours, oursAligned, gmond, nodeExporter, collectd];

/** Pseudorandom numbers of 0 to 1 from a seed: mulberry32, which is in the public domain. */
function random(seed) {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function shuffled(list, next) {
  const all = [...list];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(next() * (i + 1));
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all;
}

const mean = list => list.reduce((a, b) => a + b, 0) / list.length;
function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The 95 % interval of the median, by bootstrap. */
function intervalOf(list, next) {
  const medians = Array.from({ length: 10_000 }, () =>
    median(list.map(() => list[Math.floor(next() * list.length)])),
  ).sort((a, b) => a - b);
  return [medians[250], medians[9749]];
}

export async function bench({ quick, say }) {
  const installed = program => spawnSync('sh', ['-c', 'command -v "$0"', program]).status === 0;
  if (!installed('musl-gcc')) {
    say('no musl-gcc here: apt-get install musl-tools');
    return [];
  }
  const everybody = AGENTS.filter(({ name, needs }) => {
    const there = needs === undefined || installed(needs[0]);
    if (!there) say(`no ${name} here: apt-get install ${needs[1]}`);
    return there;
  });
  const own = folder();
  const seed = Date.now() % 2 ** 32;
  const next = random(seed);
  const programs = { sender: join(own, 'beoboard-send'), scraper: join(own, 'scraper'), barrier: join(own, 'barrier') };
  execFileSync('make', ['-s', '-j2', '-C', at('../c/sender'), `OUT=${own}`, 'CC=musl-gcc']);
  for (const [name, ...how] of [['scraper'], ['barrier', '-pthread']])
    execFileSync('cc', ['-std=c11', '-D_GNU_SOURCE', '-O2', '-Wall', '-o', programs[name], at(`./${name}.c`), ...how]);

  let space;
  try {
    space = await openNamespace();
  } catch (error) {
    say(error.message);
    rmSync(own, { recursive: true });
    return [];
  }
  let job;
  try {
    for (const port of PORTS) space.run(programs.barrier, ['sink', port]);
    const place = { space, own, programs };
    const running = new Map();
    for (const [i, kind] of everybody.entries()) {
      const children = [await kind.node(place, `node${i}`, 0)];
      if (kind.pulls) children.push(await kind.master(place, 1));
      running.set(kind, children);
    }
    await sleep(quick ? 2 : 20); // until they have started, and have sent everything once
    const signal = (kind, name) => {
      for (const child of running.get(kind) ?? []) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${kind.name} has ended`);
        child.kill(name);
      }
    };
    for (const kind of everybody) signal(kind, 'SIGSTOP');

    job = spawn(programs.barrier, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: job.stdout })[Symbol.asyncIterator]();
    /** A block with an agent or without one: mean, median, p99 and p99.9 of a step, us. */
    const block = async (kind, seconds) => {
      if (kind !== undefined) {
        signal(kind, 'SIGCONT');
        await sleep(1);
      }
      job.stdin.write(`${seconds}\n`);
      const { value } = await lines.next();
      if (kind !== undefined) signal(kind, 'SIGSTOP');
      const [, mean, median, p99, p999] = value.split(' ').map(Number);
      return { mean, median, p99, p999 };
    };
    const seconds = quick ? 4 : 20;
    const lap = (everybody.length + 2) * (seconds + 1);
    const minutes = Number(process.env.MINUTES ?? 60);
    const laps = quick ? 3 : Math.max(3, Math.floor((minutes * 60) / lap));
    say(`${laps} laps of ${lap} s; SEED=${seed}`);
    const slowdowns = new Map(everybody.map(kind => [kind, []]));
    const blocks = new Map([undefined, ...everybody].map(kind => [kind, []]));
    await block(undefined, seconds);
    for (let i = 1; i <= laps; i++) {
      const those = [];
      for (const kind of shuffled([undefined, undefined, ...everybody], next)) {
        const one = await block(kind, seconds);
        those.push([kind, one]);
        blocks.get(kind).push(one);
      }
      const alone = mean(those.filter(([kind]) => kind === undefined).map(([, one]) => one.mean));
      for (const [kind, one] of those) if (kind !== undefined) slowdowns.get(kind).push((one.mean / alone - 1) * 100);
      const told = everybody.map(kind => `${kind.name} ${median(slowdowns.get(kind)).toFixed(3)} %`);
      say(`lap ${i} of ${laps}: median slowdown until now: ${told.join(', ')}`);
    }
    // Two blocks without an agent in each lap show the machine's own variation.
    const alone = blocks.get(undefined);
    const noise = alone.flatMap((one, i) => (i % 2 === 1 ? [Math.abs(one.mean / alone[i - 1].mean - 1) * 100] : []));
    const row = (figure, unit, samples, bound) => ({ figure, unit, samples: [samples].flat(), bound });
    return [
      row('laps', '', laps),
      row('two blocks without an agent in one lap differ by', '%', noise),
      row(
        'no agent: a step, p99.9',
        'us',
        blocks.get(undefined).map(({ p999 }) => p999),
      ),
      ...everybody.flatMap(kind => {
        const { name } = kind;
        const [low, high] = intervalOf(slowdowns.get(kind), next);
        const isOurs = kind === ours || kind === oursAligned;
        return [
          row(`${name}: slowdown of the job`, '%', slowdowns.get(kind)),
          row(`${name}: the same, lower end of the median's 95 % interval`, '%', low, isOurs ? 0.2 : undefined),
          row(`${name}: the same, upper end of it`, '%', high),
          row(
            `${name}: a step, p99.9`,
            'us',
            blocks.get(kind).map(({ p999 }) => p999),
          ),
        ];
      }),
    ];
  } finally {
    if (job !== undefined) await end(job);
    await space.close();
    rmSync(own, { recursive: true });
  }
}
