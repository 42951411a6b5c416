// What schedulers see of a thousand nodes, at one report a second and with the default limits: the figures of
// docs/internals/liveness.md. Reports are dropped by nftables on a path between two networks.
//   npm run test:long -- liveness          about ten minutes; SEED=n repeats a run, LENGTH=0.1 makes long parts shorter

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { compileSender } from '../kit/compiling.js';
import type { Heard, Surroundings as SenderSurroundings } from '../kit/hanging.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { MS, now, pass, S, type Surroundings } from '../kit/sampler.js';
import {
  comingUp,
  crashing,
  dying,
  expectedSilences,
  lonely,
  losing,
  type Outcome,
  pausing,
  poissonBounds,
  runToSilence,
  type Setting,
  starving,
  stepping,
  USUAL,
} from './watching.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const LENGTH = Number(process.env.LENGTH ?? 1);
/** For how long a process is stopped. */
const PAUSE = 60 * S * LENGTH;
const NODES = 1000;
const DEAD = 100;
const MASTER = '10.77.0.1';
const NODES_AT = '10.77.0.2';

let port = 9000;
const setting = (more: Partial<Setting> = {}): Setting => ({
  limits: USUAL,
  count: NODES,
  address: `127.0.0.1:${port++}`,
  ...more,
});

const inMs = (ns: number) => `${(ns / MS).toFixed(0)} ms`;
const thousands = (n: number) => Math.round(n).toLocaleString('en');

/** A row of the table, once all is over. */
const rows: string[] = [];
function row(what: string, { watched, falsely, truly, nodeIntervals }: Outcome, more = ''): void {
  const words = [what, `${thousands(nodeIntervals)} node-seconds`, `${falsely.length} falsely silent`];
  if (truly > 0) words.push(`${truly} whose sender was late`);
  words.push(`${thousands(watched.looks)} looks, ${inMs(watched.longest)} at most between two`);
  if (more !== '') words.push(more);
  rows.push(words.join(' | '));
}

// ---- nodes that die, a master that stands still, clocks ----

for (const [what, dead] of [
  ['100 of 1,000 nodes die', DEAD],
  ['all of 1,000 nodes die: nothing comes any more', NODES],
] as const)
  scene(what, async t => {
    const outcome = await dying(t, setting({ dying: dead, everyMs: 2 }));
    const { uncertainLate, silentLate, watched } = outcome;
    // A change is seen at the next look, so the longest gap between looks is allowed, too.
    const allowed = 100 * MS + watched.longest;
    t.ok(uncertainLate <= allowed, `uncertain at the latest ${inMs(uncertainLate)} after the limit`);
    t.ok(silentLate <= allowed, `silent at the latest ${inMs(silentLate)} after the limit`);
    row(what, outcome, `seen uncertain ${inMs(uncertainLate)}, silent ${inMs(silentLate)} after the limits at most`);
  });

scene('befallen', async t => {
  t.jobs = 5;
  const outcomes: [what: string, scene: (t: Test) => Promise<Outcome>][] = [
    ['the receiver is stopped for a minute', t => pausing(t, setting({ dying: DEAD }), 'receiver', PAUSE)],
    ['the whole master is stopped for a minute', t => pausing(t, setting({ dying: DEAD }), 'master', PAUSE)],
    ['the receiver is killed, and started after a minute', t => pausing(t, setting({ dying: DEAD }), 'killed', PAUSE)],
    ['the receiver is killed 10 times', t => crashing(t, setting({ dying: DEAD }), 10, SEED)],
    ['the wall clock of the master, of half the nodes, of both steps', t => stepping(t, setting({ dying: DEAD / 2 }))],
  ];
  for (const [what, scene] of outcomes)
    t.test(what, { buffered: true }, async t => {
      row(what, await scene(t));
    });
});

// ---- loss ----

/** Runs a command that has to succeed. */
function must(...[command = '', ...args]: string[]): string {
  const { status, stderr, stdout, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error ?? stderr}`);
  return stdout;
}

/** Another network for the nodes, and the path from there; undefined: there is no nftables to drop reports on it. */
async function makePath(t: Test): Promise<Surroundings | undefined> {
  if (spawnSync('nft', ['--version']).status !== 0) return undefined;
  const there = spawn('unshare', ['-n', 'sh', '-c', 'echo; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => there.stdin.end());
  await once(there.stdout, 'data');
  const pid = String(there.pid);
  const enter = ['nsenter', '-t', pid, '-n', '--'];
  must('ip', 'link', 'add', 'here', 'type', 'veth', 'peer', 'name', 'there', 'netns', pid);
  must('ip', 'address', 'add', `${MASTER}/24`, 'dev', 'here');
  must('ip', 'link', 'set', 'here', 'up');
  must(...enter, 'ip', 'address', 'add', `${NODES_AT}/24`, 'dev', 'there');
  // Each report is a separate packet on the path, as on a wire; otherwise 64 of them would be dropped together.
  must(...enter, 'ip', 'link', 'set', 'there', 'gso_max_segs', '1', 'up');
  must('nft', 'add', 'table', 'inet', 'path');
  must('nft', 'add', 'chain', 'inet', 'path', 'loss', '{ type filter hook prerouting priority raw; }');
  return { prefix: enter };
}

const losses = [
  { percent: 5, count: 4000, seconds: 260 },
  { percent: 20, count: 1000, seconds: 110 },
  { percent: 30, count: 10_000, seconds: 300 },
  { percent: 40, count: 4000, seconds: 260 },
];

scene('losses', async t => {
  t.jobs = losses.length;
  const nodes = await makePath(t);
  if (nodes === undefined) t.comment('no nft here: reports are lost before they are sent, by load --loss');
  for (const { percent, count, seconds } of losses)
    t.test(`${percent} % of the reports are lost`, { buffered: true }, async t => {
      const at = port++;
      const load = ['--seed', String(SEED)];
      if (nodes === undefined) load.push('--loss', `${percent}%`);
      else
        must(
          ...['nft', 'add', 'rule', 'inet', 'path', 'loss', 'udp', 'dport', String(at)],
          ...['numgen', 'random', 'mod', '100', '<', String(percent), 'drop'],
        );
      const address = nodes === undefined ? `127.0.0.1:${at}` : `${MASTER}:${at}`;
      const outcome = await losing(
        t,
        setting({ address, count, load, nodes: [nodes ?? {}], everyMs: 10 }),
        seconds * S * LENGTH,
      );
      const { falsely, nodeIntervals, watched, drops } = outcome;
      const arrived = (watched.reports + watched.unseen) / nodeIntervals;
      const expected = expectedSilences(nodeIntervals, percent / 100, runToSilence(USUAL));
      const [least, most] = poissonBounds(expected);
      const spread = 4 * Math.sqrt((percent * (100 - percent)) / 1e4 / nodeIntervals);
      t.ok(Math.abs(1 - arrived - percent / 100) < spread, `${(100 * (1 - arrived)).toFixed(2)} % were lost`);
      t.equal(drops, 0, 'and none of them by the master');
      t.ok(
        falsely.length >= least && falsely.length <= most,
        `${falsely.length} falsely silent, ${expected.toPrecision(2)} were to be expected, ${least} to ${most} by chance`,
      );
      if (percent <= 20) t.equal(falsely.length, 0, 'none');
      row(
        `${percent} % of the reports are lost${nodes ? ' on the path' : ''}, ${thousands(count)} nodes`,
        outcome,
        `${(100 * (1 - arrived)).toFixed(2)} % lost, ${expected.toPrecision(2)} silences to be expected`,
      );
    });
});

// ---- all at once ----

scene('ten thousand nodes come up at once', async t => {
  const { tookNs, drops } = await comingUp(t, 10_000, `127.0.0.1:${port++}`);
  rows.push(
    `10,000 nodes come up at once | all live to a scheduler ${inMs(tookNs)} after the first left | ${drops} drops`,
  );
});

// ---- starved senders ----

scene('starved senders', async t => {
  const senders: [name: string, surroundings: SenderSurroundings][] = [
    ['beoboard send', {}],
    ['beoboard-send', { sender: compileSender(t) }],
  ];
  for (const [name, surroundings] of senders) {
    t.test(`${name}, stopped again and again`, { buffered: true }, async t => {
      const { within, lateUs, skipped } = await starving(t, surroundings, { times: 30, intervalMs: 250, seed: SEED });
      const [least, most] = lateUs.map(us => inMs(us * 1000));
      rows.push(
        `${name}, 250 ms, stopped 30 times for 1.2 to 2.2 intervals | told within ${within} reports, ${least} to ${most} late | ${skipped} times as skipped`,
      );
    });
    t.test(`${name}, on a busy CPU`, { buffered: true }, async t => {
      // The lowest priority: it runs only if no other process wants this CPU, and three always do.
      const cpu = String(/\d+/.exec(must('taskset', '-cp', String(process.pid)).split(':')[1] ?? '')?.[0]);
      const prefix = ['taskset', '-c', cpu, 'chrt', '-i', '0'];
      const { hearer } = await lonely(t, 250, { prefix, ...surroundings });
      const lateOf = (reports: Heard[]) => reports.map(({ late_us = 0 }) => late_us);
      const quiet = lateOf(await hearer.more(10));
      const spinners = Array.from({ length: 3 }, () =>
        spawn('taskset', ['-c', cpu, 'sh', '-c', 'while :; do :; done'], { stdio: 'ignore' }),
      );
      t.teardown(() => {
        for (const spinner of spinners) spinner.kill('SIGKILL');
      });
      await pass(now() + 0.1 * S);
      const busy = lateOf(await hearer.more(3));
      for (const spinner of spinners) spinner.kill('SIGKILL');
      const usual = quiet.sort((a, b) => a - b)[5] ?? 0;
      t.ok(Math.max(...busy) > 10 * usual, `${busy.join(', ')} us, ${usual} us before`);
      rows.push(
        `${name}, 250 ms, on a busy CPU | first three reports ${busy.map(us => inMs(us * 1000)).join(', ')} late | ${(usual / 1000).toFixed(1)} ms before`,
      );
    });
  }
});

/** A test that runs in our own network, one after the other. */
function scene(what: string, body: (t: Test) => Promise<void>): void {
  if (INSIDE) t.test(what, body);
}

t.setTimeout(3_600_000);
if (INSIDE)
  scene('figures', async t => {
    for (const line of rows) t.comment(line);
  });
else {
  t.comment(`SEED=${SEED}`);
  process.env.SEED = String(SEED);
  inOwnNetwork(t, 'ip link set lo up', import.meta.url, 'scenes');
}
