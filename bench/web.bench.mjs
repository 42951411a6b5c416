// The cost of the wall for its server: CPU for pages that show 10,000 and 100,000 nodes, each with one report a second,
// the time of a first picture, and memory besides the mapped board and the river. With BEOBOARD_OTHER another build serves
// as many pages in the same laps.

import { fork } from 'node:child_process';
import { RiverHistory } from '../dist/src/web/history.js';
import { at, cpuOf, end, MAIN, notes, OTHER, ownMiB, serveOf, sleep, until } from './processes.mjs';
import { openLoad, openReceiver } from './receiving.mjs';

/** For how long a new process is compiled, s. */
const WARM_S = 15;

/** The memory of the river for so many nodes, MiB, made by the same code. */
function riverMiB(nodes) {
  const river = new RiverHistory();
  const cells = Array.from({ length: 10 }, () => new Uint16Array(nodes));
  const names = Array.from({ length: nodes }, (_, i) => `node${i}`);
  river.take({ seq: 1, nowMs: 0, state: 'ok', roster: 1, count: nodes, cells }, names, 1);
  return river.bytes / 2 ** 20;
}

/** Runs in its own network namespace. */
export const network = 'ip link set lo up';

export async function bench({ quick, say }) {
  const [laps, seconds] = quick ? [3, 3] : [10, 10];
  const { note, row } = notes();
  const sizes = quick
    ? [
        [10_000, [10, 100]],
        [100_000, [10]],
      ]
    : [
        [10_000, [0, 10, 100]],
        [100_000, [0, 10]],
      ];
  for (const [nodes, pages] of sizes) {
    const receiver = await openReceiver();
    const load = openLoad(receiver.port, nodes, nodes);
    const children = [];
    try {
      await until(() => receiver.header().count >= nodes, `${nodes} nodes`);
      const webs = [];
      for (const program of OTHER === undefined ? [MAIN] : [MAIN, OTHER])
        webs.push(await serveOf(program, 'web', '--board', receiver.board, '--listen', '127.0.0.1:0'));
      children.push(...webs.map(({ child }) => child));
      const [web] = webs;
      await sleep(WARM_S);
      for (const count of pages) {
        say(`${nodes} nodes, ${count} pages`);
        const clients = webs.map(({ port }) => fork(at('./pages.mjs'), [port, count].map(String)));
        children.push(...clients);
        clients[0].on('message', ({ first }) => first !== undefined && note(`first ${nodes} ${count}`, first));
        await sleep(3);
        for (let lap = 0; lap < laps; lap++) {
          const [before, began] = [webs.map(({ pid }) => cpuOf(pid)), performance.now()];
          await sleep(seconds);
          const [own, other] = webs.map(({ pid }, i) => (cpuOf(pid) - before[i]) / (performance.now() - began) / 10);
          note(`cpu ${nodes} ${count}`, own);
          if (other !== undefined) note(`other ${nodes} ${count}`, own / other);
        }
        for (const client of clients) await end(client);
      }
      note(`memory ${nodes}`, ownMiB(web.pid) - riverMiB(nodes));
    } finally {
      for (const child of children) await end(child);
      await end(load);
      await receiver.close();
    }
  }
  return [
    ...sizes.flatMap(([nodes, pages]) =>
      pages.flatMap(count =>
        row(`${nodes} nodes, ${count} pages open: CPU / that of BEOBOARD_OTHER`, 'ratio', `other ${nodes} ${count}`),
      ),
    ),
    ...row('10000 nodes, no page open: CPU', '% of a core', 'cpu 10000 0'),
    ...row('10000 nodes, 10 pages open: CPU', '% of a core', 'cpu 10000 10', 5),
    ...row('10000 nodes, 100 pages open: CPU', '% of a core', 'cpu 10000 100', 20),
    ...row('100000 nodes, no page open: CPU', '% of a core', 'cpu 100000 0'),
    ...row('100000 nodes, 10 pages open: CPU', '% of a core', 'cpu 100000 10', 25),
    ...row('10000 nodes: time to the first picture', 'ms', 'first 10000 10', 300),
    ...row('100000 nodes: time to the first picture', 'ms', 'first 100000 10', 1000),
    ...row('10000 nodes: memory without board and history', 'MiB', 'memory 10000', 60),
    ...row('100000 nodes: memory without board and history', 'MiB', 'memory 100000', 120),
  ];
}
