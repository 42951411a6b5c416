// CPU time per report and memory of the TypeScript sender, against a bare Node program that reads the same files as often
// and sends. And of both senders on machines with thousands of devices, against a bare C program: needs root.

import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  at,
  compileOne,
  cpuOf,
  end,
  folder,
  MAIN,
  make,
  OTHER,
  openNamespace,
  pssOf,
  sleep,
  treeOf,
} from './processes.mjs';

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

const range = count => Array.from({ length: count }, (_, i) => i);
const total = list => list.reduce((a, b) => a + b, 0);

/** Names as the kernel gives them: sda to sdz, sdaa and on. */
function diskName(i) {
  const letter = String.fromCharCode(97 + (i % 26));
  return i < 26 ? letter : diskName(Math.floor(i / 26) - 1) + letter;
}

/** The files of so many disks, to be mounted over this machine's. */
function disks(root, count) {
  const names = range(count).map(i => `sd${diskName(i)}`);
  for (const name of names) {
    for (const part of ['device', 'slaves']) mkdirSync(join(root, 'block', name, part), { recursive: true });
    writeFileSync(join(root, 'block', name, 'size'), '1000000\n');
  }
  const line = (name, i) =>
    `${8 + (i >> 4)} ${(i & 15) * 16} ${name} 9000 12 720000 4000 8000 30 640000 5000 0 6000 9000\n`;
  writeFileSync(join(root, 'diskstats'), names.map(line).join(''));
  return { '/proc/diskstats': join(root, 'diskstats'), '/sys/block': join(root, 'block') };
}

/** Makes so many pairs of interfaces without a device. */
const PAIRS = count =>
  `mount -t sysfs none /sys && seq ${count} | sed 's/.*/link add v& type veth peer name w&/' | ip -batch - && echo made && exec cat`;

/**
 * Both senders on a machine with thousands of devices, once a second, beside a bare program that reads the same files:
 * rows. Disks are plain files, which cost less to read than the kernel's: so their ratio is the higher one. `few`: so
 * many short laps of the interfaces only.
 */
export async function thousands({ quick, say, few }) {
  const rows = [];
  const own = folder();
  const out = mkdtempSync(join(tmpdir(), 'beoboard-bench.'));
  make('sender', out);
  const [bare, receiver] = [compileOne(out, 'bare-sender'), compileOne(out, 'bare-receiver')];
  for (const [machine, mounts, script] of [
    ['4,000 interfaces', {}, PAIRS(2000)],
    ...(few !== undefined ? [] : [['8,000 disks', disks(own, 8000), 'echo made && exec cat']]),
  ]) {
    const space = await openNamespace(mounts);
    const holder = space.run('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
    const [told] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')]);
    if (String(told) !== 'made\n') throw new Error(`${machine} cannot be made here`);
    const open = async argv => {
      const slots = join(own, `slots${Math.random()}`);
      const master = space.run(receiver, [slots, '1'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [port] = await once(master.stdout, 'data');
      const [program, ...rest] = argv(Number(port));
      return { child: space.run(program, rest), master, taken: () => Number(readFileSync(slots).readBigUInt64LE()) };
    };
    const to = port => ['--to', `127.0.0.1:${port}`, '--name', 'node1'];
    const programs = [];
    for (const argv of [
      port => [bare, String(port)],
      port => [join(out, 'beoboard-send'), ...to(port)],
      port => [process.execPath, BARE, String(port), '1000', 'sync', 'slow'],
      port => [process.execPath, MAIN, 'send', ...to(port)],
      port => [process.execPath, BARE, String(port), '1000', 'sync'],
      ...(OTHER === undefined ? [] : [port => [process.execPath, OTHER, 'send', ...to(port)]]),
    ])
      programs.push(await open(argv));
    const [warm, laps, seconds] = few !== undefined ? [30, few, 6] : quick ? [30, 2, 10] : [60, 5, 20];
    say(`${machine}: ${warm} s to warm up, then ${laps} times ${seconds} s`);
    await sleep(warm);
    const spent = () => [
      ...programs.slice(0, 5).map(({ child }) => total(treeOf(child.pid).map(cpuOf))),
      // Without its child, which has the slow side.
      cpuOf(programs[3].child.pid),
      ...programs.slice(5).map(({ child }) => total(treeOf(child.pid).map(cpuOf))),
    ];
    const [since, had] = [performance.now(), programs.map(({ taken }) => taken())];
    const seen = [];
    for (let lap = 0; lap < laps; lap++) {
      const before = spent();
      await sleep(seconds);
      seen.push(spent().map((cpu, i) => (cpu - before[i]) / seconds));
    }
    // At most one more was due than whole seconds have passed.
    const due = Math.floor((performance.now() - since) / 1000);
    const missed = programs.map(({ taken }, i) => Math.max(0, due - (taken() - had[i])));
    const row = (figure, unit, samples, bound) => {
      const cell = { table: 'Thousands of devices, every second', row: `${figure}, ${unit}`, column: machine };
      rows.push({ figure: `${machine}: ${figure}`, unit, samples, bound, cell });
    };
    for (const [i, figure] of [
      [1, 'beoboard-send / bare C program'],
      [3, 'sender with its child / bare with readFileSync, slow files too'],
      [5, 'main loop / bare with readFileSync'],
    ])
      row(
        figure,
        'ratio',
        seen.map(lap => lap[i] / lap[i - 1]),
        3,
      );
    if (OTHER !== undefined)
      row(
        'sender with its child / that of BEOBOARD_OTHER',
        'ratio',
        seen.map(lap => lap[3] / lap[6]),
      );
    row('missed by beoboard-send', 'reports', [missed[1]], 0);
    row('missed by the sender', 'reports', [missed[3]], 0);
    for (const { child, master } of programs) {
      await end(child);
      await end(master);
    }
    await end(holder);
    await space.close();
  }
  rmSync(out, { recursive: true });
  rmSync(own, { recursive: true });
  return rows;
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
  if (process.getuid() !== 0) say('thousands of devices: needs root');
  else rows.push(...(await thousands({ quick, say })));
  return rows;
}
