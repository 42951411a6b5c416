// The CPU time of `beoboard demo` on a terminal: of all its processes, and how much of it is for the simulated nodes, by
// what `--alone` takes in the same lap. No page is open.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpuOf, MAIN, notes, sleep, treeOf } from './processes.mjs';

const ALONE = 'demo --alone';
/** What the simulated nodes may take, % of a core. */
const MOST = 5;

/** Runs one until it shows that so many nodes are live, and for so many seconds more; returns % of a core in these. */
async function share(command, live, seconds) {
  const terminal = spawn('script', ['-qfec', `${process.execPath} ${MAIN} ${command}`, '/dev/null'], { stdio: 'pipe' });
  const closed = once(terminal, 'close');
  const isShown = new Promise(resolve => {
    let shown = '';
    terminal.stdout.setEncoding('utf8').on('data', text => {
      shown = (shown + text).slice(-100_000);
      if (shown.includes(live)) resolve(true);
    });
  });
  if ((await Promise.race([isShown, closed])) !== true) throw new Error(`${command} ended`);
  const spent = () => treeOf(terminal.pid).reduce((sum, pid) => sum + cpuOf(pid), 0);
  const [before, began] = [spent(), performance.now()];
  await sleep(seconds);
  const used = (spent() - before) / (performance.now() - began) / 10;
  terminal.stdin.end('q');
  await closed;
  return used;
}

export async function bench({ quick, say }) {
  const [laps, seconds] = quick ? [1, 20] : [5, 150];
  say(`${laps} laps of ${seconds} s`);
  const { note, row } = notes();
  for (let lap = 0; lap < laps; lap++) {
    const alone = await share(ALONE, '1 live', seconds);
    const all = await share('demo', '481 live', seconds);
    note(ALONE, alone);
    note('demo', all);
    note('simulated', all - alone);
  }
  return [
    ...row('beoboard demo --alone, all its processes: CPU', '% of a core', ALONE),
    ...row('beoboard demo, all its processes: CPU', '% of a core', 'demo'),
    ...row('of it for 480 simulated nodes', '% of a core', 'simulated', MOST),
  ];
}
