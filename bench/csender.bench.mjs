// CPU time per report of the sender in C, against a bare C program that reads the same files as often and sends; how many system
// calls it takes, and how much memory. Needs musl-gcc; strace, else there is no row of it.

import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuOf, pssOf, sleep } from './processes.mjs';

const at = path => fileURLToPath(new URL(path, import.meta.url));

function must(command, args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error ?? stderr}`);
}

/** A program that reports to a socket of ours, which counts. */
async function open(argv) {
  const socket = createSocket('udp4');
  let heard = 0;
  socket.on('message', () => heard++);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const [program, ...args] = argv(socket.address().port);
  const child = spawn(program, args, { stdio: 'ignore' });
  let before = { cpu: 0, heard: 0 };
  return {
    pid: child.pid,
    /** CPU us per report since it was asked last. */
    lap() {
      const now = { cpu: cpuOf(child.pid), heard };
      const lap = (now.cpu - before.cpu) / (now.heard - before.heard);
      before = now;
      return lap;
    },
    heard: () => heard,
    async close(pid = child.pid) {
      process.kill(pid, 'SIGTERM');
      await once(child, 'exit');
      socket.close();
    },
  };
}

/** System calls a report of a sender, over a while that is a whole number of its longest usual periods. */
async function callsOf(sender, out, seconds) {
  const file = join(out, 'calls');
  const traced = await open(port => [
    'strace',
    '-f',
    '-e',
    'signal=none',
    '-o',
    file,
    sender,
    '--to',
    `127.0.0.1:${port}`,
  ]);
  await sleep(seconds + 5);
  const pid = Number(readFileSync(`/proc/${traced.pid}/task/${traced.pid}/children`, 'utf8').split(' ')[0]);
  await traced.close(pid);
  const lines = readFileSync(file, 'utf8').split('\n');
  const begun = lines.filter(line => /^\d+ +\w+\(/.test(line));
  const sent = begun.flatMap((line, i) => (line.includes('sendto(') ? [i] : []));
  return (sent[3 + seconds] - sent[3]) / seconds;
}

export async function bench({ quick, say }) {
  const out = mkdtempSync(join(tmpdir(), 'beoboard-bench.'));
  const [sender, bare] = [join(out, 'beoboard-send'), join(out, 'bare-sender')];
  must('make', ['-s', '-j2', '-C', at('../c/sender'), `OUT=${out}`, 'CC=musl-gcc']);
  must('musl-gcc', [
    '-std=c11',
    '-D_GNU_SOURCE',
    '-Os',
    '-Wall',
    '-Wextra',
    '-Wpedantic',
    '-static',
    '-o',
    bare,
    at('./bare-sender.c'),
  ]);
  // A copy, for two that run the same file share its memory.
  const other = join(out, 'other');
  copyFileSync(sender, other);
  const programs = [
    await open(port => [sender, '--to', `127.0.0.1:${port}`]),
    await open(port => [other, '--to', `127.0.0.1:${port}`, '--seccomp']),
    await open(port => [bare, String(port)]),
  ];
  const [laps, seconds, warm] = quick ? [3, 20, 11] : [9, 30, 31];
  say(`${warm} s to warm up, then ${laps} times ${seconds} s`);
  await sleep(warm);
  for (const program of programs) program.lap();
  const seen = [];
  for (let i = 0; i < laps; i++) {
    await sleep(seconds);
    seen.push({ cpu: programs.map(program => program.lap()), pss: pssOf(programs[0].pid) });
  }
  for (const program of programs) await program.close();
  const row = (figure, unit, of, bound) => ({ figure, unit, samples: seen.map(of), bound });
  const rows = [
    row('sender in C, every second', 'us of CPU a report', ({ cpu }) => cpu[0]),
    row('the same under --seccomp', 'us of CPU a report', ({ cpu }) => cpu[1]),
    row('bare C program', 'us of CPU a report', ({ cpu }) => cpu[2]),
    row('sender / bare', 'ratio', ({ cpu }) => cpu[0] / cpu[2], 1.25),
    row('memory', 'KiB of PSS', ({ pss }) => pss, 160),
  ];
  const calls = existsSync('/usr/bin/strace') ? await callsOf(sender, out, 20) : undefined;
  if (calls === undefined) say('strace is missing: apt-get install strace');
  else
    rows.push({
      figure: 'system calls, what is read seldom included',
      unit: 'calls a report',
      samples: [calls],
      bound: 40,
    });
  rmSync(out, { recursive: true });
  return rows;
}
