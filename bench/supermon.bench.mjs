// The cost of samples of Supermon's protocol: S for 10,000 nodes over TCP, only the load averages, and a server that
// passes on another's answers; and the cost of beoboard-mon on a node.

import { once } from 'node:events';
import { connect } from 'node:net';
import { Scanner } from '../dist/src/net/expressions.js';
import { monRows } from './monrows.mjs';
import { cpuOf, end, notes, serve, sleep } from './processes.mjs';
import { fill, openReceiver } from './receiving.mjs';

const NODES = 10_000;
/** How many answers are given before the measurement. */
const WARM = 10;
const MOST_BYTES = 1 << 30;

async function open(...argv) {
  const server = await serve('supermon', '--listen', '127.0.0.1:0', ...argv);
  return { ...server, socket: connect(server.port, '127.0.0.1') };
}

/** One answer. */
async function ask({ socket }, command) {
  const scanner = new Scanner(MOST_BYTES);
  socket.write(`${command}\n`);
  for (;;) {
    const [chunk] = await once(socket, 'data');
    const expression = scanner.push(chunk);
    if (expression !== undefined) return expression;
  }
}

/** Runs in its own network namespace. */
export const network = 'ip link set lo up';

export async function bench({ quick, say }) {
  const laps = quick ? 7 : 20;
  const { note, row } = notes();
  const children = [];
  const receiver = await openReceiver();
  try {
    await fill(receiver.port, NODES);
    const own = await open('--board', receiver.board);
    children.push(own.child);
    const parent = await open('--from', `127.0.0.1:${own.port}`);
    children.push(parent.child);
    const costOf = async (server, command) => {
      const before = cpuOf(server.pid);
      const expression = await ask(server, command);
      return { ms: (cpuOf(server.pid) - before) / 1000, expression };
    };
    while ((await ask(parent, '#')).elements.length === (await ask(own, '#')).elements.length) await sleep(0.1);
    const { elements, bytes } = (await costOf(own, 'S')).expression;
    say(`${NODES} nodes, ${elements.length} elements, ${laps} laps`);
    for (let lap = -WARM; lap < laps; lap++) {
      const [whole, part, passed] = [await costOf(own, 'S'), await costOf(own, '0x40S'), await costOf(parent, 'S')];
      if (lap < 0) continue;
      note('mb', bytes.length / 1e6);
      note('whole', whole.ms);
      note('part', part.ms);
      note('passed', passed.ms);
    }
  } finally {
    for (const child of children) await end(child);
    await receiver.close();
  }
  return [
    ...row(`answer to S, ${NODES} nodes`, 'MB', 'mb'),
    ...row('the same, CPU of the server', 'ms', 'whole', 200),
    ...row('answer to 0x40S, CPU of the server', 'ms', 'part'),
    ...row('answer to S passed on, CPU of the server that asks', 'ms', 'passed'),
    ...(await monRows({ quick, say })),
  ];
}
