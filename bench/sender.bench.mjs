// CPU time per report and memory of the TypeScript sender, against a bare Node program that reads the same files as often
// and sends.

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuOf, end, MAIN, pssOf, sleep, treeOf } from './processes.mjs';

const at = path => fileURLToPath(new URL(path, import.meta.url));
const BARE = at('./bare-sender.mjs');

/** A program for Node.js that reports to a socket of this process, which counts. */
async function open(argv, node = process.execPath) {
  const socket = createSocket('udp4');
  let heard = 0;
  socket.on('message', () => heard++);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const child = spawn(node, argv(socket.address().port), { stdio: 'ignore' });
  let before = { cpu: 0, tree: 0, heard: 0 };
  return {
    /** CPU us per report since the last call: of the process, and with its children. */
    lap() {
      const now = {
        cpu: cpuOf(child.pid),
        tree: treeOf(child.pid)
          .map(cpuOf)
          .reduce((a, b) => a + b, 0),
        heard,
      };
      const reports = now.heard - before.heard;
      const lap = { alone: (now.cpu - before.cpu) / reports, tree: (now.tree - before.tree) / reports, reports };
      before = now;
      return lap;
    },
    /** KiB, with its children. */
    memory: () =>
      treeOf(child.pid)
        .map(pssOf)
        .reduce((a, b) => a + b, 0),
    /** Goes over to one report a second. */
    slowDown: () => child.kill('SIGHUP'),
    async close() {
      await end(child);
      socket.close();
    },
  };
}

export async function bench({ quick, say }) {
  const own = mkdtempSync(join(tmpdir(), 'beoboard-bench.'));
  const config = join(own, 'config.toml');
  writeFileSync(config, 'interval = "100ms"\n');
  // From a copy: the memory of the sender's two processes must not be less because other programs share Node's text.
  const node = join(own, 'node');
  copyFileSync(process.execPath, node);
  const programs = await Promise.all([
    open(port => [MAIN, 'send', '--to', `127.0.0.1:${port}`, '--config', config], node),
    ...[[], ['slow'], ['six'], ['sync'], ['sync', 'slow'], ['lean']].map(how =>
      open(port => [BARE, String(port), '100', ...how]),
    ),
  ]);
  const rows = [];
  const measure = async (interval, laps, seconds) => {
    say(`every ${interval}: ${laps} times ${seconds} s`);
    for (const program of programs) program.lap();
    const seen = [];
    for (let i = 0; i < laps; i++) {
      await sleep(seconds);
      seen.push(programs.map(program => program.lap()));
    }
    const row = (figure, unit, of, bound) =>
      rows.push({ figure: `${figure}, every ${interval}`, unit, samples: seen.map(of), bound });
    row('sender, main loop only', 'us of CPU a report', ([sender]) => sender.alone);
    row('sender with its child process', 'us of CPU a report', ([sender]) => sender.tree);
    row('bare Node program', 'us of CPU a report', ([, bare]) => bare.alone);
    row('bare Node program, slow files too', 'us of CPU a report', ([, , slow]) => slow.alone);
    row('bare Node program, six files only', 'us of CPU a report', ([, , , six]) => six.alone);
    row('bare Node program with readFileSync', 'us of CPU a report', ([, , , , sync]) => sync.alone);
    row('bare Node program with readFileSync, slow files too', 'us of CPU a report', ([, , , , , sync]) => sync.alone);
    row('bare Node program that keeps files open', 'us of CPU a report', ([, , , , , , lean]) => lean.alone);
    const bound = interval === '1s' ? 1.5 : undefined;
    row('main loop / bare', 'ratio', ([sender, bare]) => sender.alone / bare.alone, bound);
    row('sender with its child / bare, slow files too', 'ratio', ([sender, , slow]) => sender.tree / slow.alone, bound);
    row('main loop / bare with readFileSync', 'ratio', ([sender, , , , sync]) => sender.alone / sync.alone);
    row(
      'sender with its child / bare with readFileSync, slow files too',
      'ratio',
      ([sender, , , , , sync]) => sender.tree / sync.alone,
    );
    row('main loop / bare that keeps files open', 'ratio', ([sender, , , , , , lean]) => sender.alone / lean.alone);
  };
  // A sender runs for years, so compilation in its first minutes is not part of its cost.
  const warm = quick ? 35 : 180;
  say(`${warm} s to warm up`);
  await sleep(warm);
  if (!quick) await measure('100ms', 5, 20);
  writeFileSync(config, 'interval = "1s"\n');
  for (const program of programs) program.slowDown();
  // For twelve seconds it announces the longer interval at the old one.
  await sleep(15);
  await measure('1s', quick ? 3 : 9, 20);
  const memory = programs[0].memory();
  rows.push({ figure: 'sender with its child process: memory (PSS)', unit: 'KiB', samples: [memory], bound: 55_000 });
  for (const program of programs) await program.close();
  rmSync(own, { recursive: true });
  return rows;
}
