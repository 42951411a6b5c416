// What a node costs for being watched, in CPU, packets and bytes, on itself and on the master: real gmonds against our
// sender in C and our receiver, as many of each. Runs in a network namespace of its own; needs the packages
// ganglia-monitor and musl-tools.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gmondConf } from './gmond.mjs';
import { cpuOf, end, folder, inOwnNetwork, printRows, sleep } from './processes.mjs';

const at = path => fileURLToPath(new URL(path, import.meta.url));
const MAIN = at('../dist/src/main.js');
const NODES = 10;

/** Packets and bytes that went over loopback. Not from /sys, which shows the namespace in which it was mounted. */
function traffic() {
  const [, line = ''] = /^ *lo:(.*)$/m.exec(readFileSync('/proc/self/net/dev', 'utf8')) ?? [];
  const [bytes = 0, packets = 0] = line.trim().split(/ +/).map(Number);
  return { bytes, packets };
}

/** What one node costs in a minute, once all have said what they say at their start. */
async function costs({ master, nodes, seconds }) {
  await sleep(5);
  const cpu = () => ({ node: nodes.reduce((sum, { pid }) => sum + cpuOf(pid), 0), master: cpuOf(master.pid) });
  const before = { ...cpu(), ...traffic() };
  await sleep(seconds);
  const after = { ...cpu(), ...traffic() };
  const each = what => ((after[what] - before[what]) * 60) / seconds / NODES;
  return { node: each('node'), master: each('master'), packets: each('packets'), bytes: each('bytes') };
}

const names = Array.from({ length: NODES }, (_, i) => `node${i}`);

async function ofGmond(own, everySecond, seconds) {
  const children = [];
  const run = (file, options) => {
    const path = join(own, file);
    writeFileSync(path, gmondConf({ everySecond, ...options }));
    const child = spawn('gmond', ['-c', path], { stdio: 'ignore' });
    children.push(child);
    return child;
  };
  try {
    const master = run('master.conf', { does: ['hears'] });
    await sleep(1);
    const nodes = names.map(name => run(`${name}.conf`, { does: ['sends'], name }));
    return await costs({ master, nodes, seconds });
  } finally {
    for (const child of children) await end(child);
  }
}

async function ofOurs(own, sender, interval, seconds) {
  const children = [];
  const run = (program, argv) => {
    const child = spawn(program, argv, { stdio: 'ignore' });
    children.push(child);
    return child;
  };
  try {
    const board = join(own, 'board');
    const master = run(process.execPath, [MAIN, 'receive', '--board', board, '--listen', '127.0.0.1:8677']);
    for (let tries = 0; !existsSync(board) && tries < 100; tries++) await sleep(0.1);
    const nodes = names.map(name => run(sender, ['--to', '127.0.0.1', '--name', name, '--interval', interval]));
    return await costs({ master, nodes, seconds });
  } finally {
    for (const child of children) await end(child);
    rmSync(join(own, 'board'), { force: true });
  }
}

async function measure({ quick, say }) {
  const own = folder();
  try {
    const made = spawnSync('make', ['-s', '-j2', '-C', at('../c/sender'), `OUT=${own}`, 'CC=musl-gcc'], {
      encoding: 'utf8',
    });
    if (made.status !== 0) {
      say(`the sender in C does not build here: ${made.stderr}`);
      return [];
    }
    if (spawnSync('gmond', ['--version']).error !== undefined) {
      say('no gmond here: apt-get install ganglia-monitor');
      return [];
    }
    const sender = join(own, 'beoboard-send');
    const seconds = quick ? 30 : 120;
    const ways = [
      ['gmond, every second', () => ofGmond(own, true, seconds)],
      ['gmond, at its default thresholds', () => ofGmond(own, false, seconds)],
      ['ours, every second', () => ofOurs(own, sender, '1s', seconds)],
      ['ours, every 10 s', () => ofOurs(own, sender, '10s', seconds)],
    ];
    const rows = [];
    const laps = quick ? 1 : 3;
    say(`${NODES} nodes of each, ${laps * ways.length} times ${seconds} s`);
    const samples = ways.map(() => []);
    for (let lap = 0; lap < laps; lap++) for (const [i, [, run]] of ways.entries()) samples[i].push(await run());
    for (const [i, [who]] of ways.entries())
      for (const [what, unit, of] of [
        ['CPU on the node', 'ms/min', ({ node }) => node / 1000],
        ['CPU on the master', 'ms/min', ({ master }) => master / 1000],
        ['packets', '1/min', ({ packets }) => packets],
        ['bytes', 'KB/min', ({ bytes }) => bytes / 1000],
      ])
        rows.push({ figure: `${who}: ${what}, per node`, unit, samples: samples[i].map(of) });
    return rows;
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

export const bench = options => inOwnNetwork(import.meta.url, options);

if (process.argv[2] === 'inside') await printRows('gmond', measure);
