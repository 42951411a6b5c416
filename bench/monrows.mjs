// The cost of beoboard-mon, beside a bare program that reads the same files and answers over TCP, too: answers a second
// over one connection, CPU time per answer, and the cost on a node with ten, a hundred and a thousand requests a
// second.

import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { compileOne, cpuOf, end, folder, make, outputOf, pssOf, until } from './processes.mjs';

/** The commands. Supermon's six are cpuinfo, netinfo, paging, switch, time and avenrun. */
const ASKED = [
  ["Supermon's six", '0x5fS'],
  ['all', 'S'],
  ['CPU and load', '0x41S'],
];
/**
 * How much slower than the bare program it may be: 5,000 answers a second if that has 6,500, 20,000 if it has 26,000.
 */
const BOUND = 1.3;
const RATES = [10, 100, 1000];

function build(into) {
  make('mon', into);
  return { mon: join(into, 'beoboard-mon'), bare: compileOne(into, 'bare-mon'), ask: compileOne(into, 'ask-fast') };
}

/** Starts a program that listens and prints its port. */
async function listening(program, argv, pattern) {
  const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', data => {
      told += data;
    });
  await until(() => pattern.test(told), 'it listens');
  // Other processes of this machine must not slow down one with a low priority; root can restore it.
  setPriority(child.pid, 0);
  return { child, port: pattern.exec(told)[1] };
}

export async function monRows({ quick, say }) {
  const { mon, bare, ask } = build(folder());
  const ours = await listening(mon, ['--listen', '127.0.0.1:0', '--most', '100000'], / answers at 127\.0\.0\.1:(\d+)/);
  const theirs = await listening(bare, [], /^(\d+)\n/);
  /** Answers a second, and CPU time per answer, µs. */
  const measure = async ({ child, port }, command, seconds, ...rate) => {
    const before = cpuOf(child.pid);
    const answers = Number(await outputOf(ask, [port, command, String(seconds), ...rate]));
    const cpu = cpuOf(child.pid) - before;
    return { rate: answers, cpu: cpu / (answers * seconds), share: cpu / seconds / 1e4 };
  };
  const rows = [];
  try {
    const laps = quick ? 6 : 16;
    for (const [what, command] of ASKED) {
      say(`${what}: ${laps} laps`);
      const seen = [];
      for (let lap = -1; lap < laps; lap++) {
        // The order makes a difference, so it alternates.
        const pair = lap % 2 === 0 ? [ours, theirs] : [theirs, ours];
        const both = [await measure(pair[0], command, 0.5), await measure(pair[1], command, 0.5)];
        if (lap >= 0) seen.push(lap % 2 === 0 ? both : both.reverse());
      }
      const row = (figure, unit, of, bound) =>
        rows.push({ figure: `${what}: ${figure}`, unit, samples: seen.map(of), bound });
      row('beoboard-mon', 'answers a second', ([{ rate }]) => rate);
      row('bare program', 'answers a second', ([, { rate }]) => rate);
      row('bare / beoboard-mon', 'ratio', ([a, b]) => b.rate / a.rate, BOUND);
      row('beoboard-mon, CPU of an answer', 'us', ([{ cpu }]) => cpu);
      row('bare program, CPU of an answer', 'us', ([, { cpu }]) => cpu);
      row('CPU of an answer, beoboard-mon / bare', 'ratio', ([a, b]) => a.cpu / b.cpu, BOUND);
    }
    for (const rate of RATES) {
      say(`${rate} Hz`);
      const samples = [];
      for (let lap = 0; lap < (quick ? 3 : 6); lap++) samples.push((await measure(ours, 'S', 3, String(rate))).share);
      rows.push({ figure: `all, ${rate} times a second: CPU of the node`, unit: '% of one CPU', samples });
    }
    rows.push({ figure: 'beoboard-mon, memory (PSS)', unit: 'KiB', samples: [pssOf(ours.child.pid)], bound: 320 });
  } finally {
    for (const { child } of [ours, theirs]) await end(child);
  }
  return rows;
}
