// The cost of spreading the reports of one port over several receive threads, with all reports of a node in the same
// thread: the bare loop with one thread, and with several sockets (SO_REUSEPORT), of which a program in the kernel
// chooses one by the node's name. And how even that is. The design for which this was measured is in
// docs/internals/receivethreads.md.

import { rmSync } from 'node:fs';
import { cpuOf, folder, sleep } from './processes.mjs';
import { compile, openBare, openStorm } from './receiving.mjs';

const NODES = 10_000;
const RATE = 100_000;
const THREADS = [2, 4, 8];

/** Sends for so many seconds: CPU per report, lost reports, and by how much the busiest thread was above its share. */
async function send(storm, receiver, threads, seconds) {
  const reports = RATE * seconds;
  const before = { cpu: cpuOf(receiver.pid), taken: receiver.taken(), each: receiver.takenByEach(threads) };
  const sender = await openStorm(storm, receiver.port, NODES, RATE, reports);
  await sender.done();
  await sleep(0.3);
  const taken = receiver.taken() - before.taken;
  const each = receiver.takenByEach(threads).map((count, i) => count - before.each[i]);
  return {
    us: (cpuOf(receiver.pid) - before.cpu) / taken,
    lost: Math.max(0, 1 - taken / reports) * 100,
    busiest: (Math.max(...each) / (taken / threads) - 1) * 100,
  };
}

export async function bench({ quick, say }) {
  const own = folder();
  try {
    const { bare, storm } = compile(own);
    const [laps, seconds] = quick ? [3, 3] : [9, 5];
    const ways = [1, ...THREADS].map(threads => ({
      ...{ threads, samples: [] },
      how: threads === 1 ? [] : [`threads=${threads}`, 'names'],
    }));
    say(`${ways.length} ways at ${RATE} reports a second, ${laps} laps of ${seconds} s each`);
    for (let lap = -1; lap < laps; lap++)
      for (const { threads, how, samples } of ways) {
        const receiver = await openBare(bare, NODES, ...how);
        const sample = await send(storm, receiver, threads, seconds);
        await receiver.close();
        if (lap >= 0) samples.push(sample);
      }
    const [{ samples: alone }] = ways;
    return ways.flatMap(({ threads, samples }) => {
      const what = threads === 1 ? 'one thread' : `${threads} threads by the name's hash`;
      const row = (figure, unit, of, bound) => ({
        figure: `${what}: ${figure}`,
        unit,
        samples: samples.map(of),
        bound,
      });
      const more = [
        row('the same / one thread', 'ratio', ({ us }, i) => us / alone[i].us),
        row('the busiest thread takes more than its share by', '%', ({ busiest }) => busiest),
      ];
      return [
        row('CPU of the receiver', 'us a report', ({ us }) => us),
        row('lost', '%', ({ lost }) => lost, 0),
        ...(threads === 1 ? [] : more),
      ];
    });
  } finally {
    rmSync(own, { recursive: true });
  }
}
