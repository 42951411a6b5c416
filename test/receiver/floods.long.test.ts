// Floods of untrusted datagrams, as fast as one process can send and at a rate that the receiver can process, while a
// thousand honest nodes report with their keys. Not part of `npm test`.
//   npm run test:long -- floods        SECONDS=n for each flood (30), SEED=n repeats a run

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { countStates } from '../../src/shm/liveness.js';
import { BoardReader } from '../../src/shm/reader.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { folder } from '../kit/places.js';
import { run, start, startReceiver } from '../kit/program.js';
import { now } from '../kit/sampler.js';
import { until } from '../kit/until.js';
import { flood, KINDS, type Kind } from './flooder.js';

const SECONDS = Number(process.env.SECONDS ?? 30);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const NODES = 1000;
/** Below the rate that switches the filter on, and a rate that any receiver can process. */
const MODEST = 20_000;

/** Private memory of a process, bytes: without shared memory, which is mainly the board. */
function privateBytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const sum = [...text.matchAll(/^Private_\w+: +(\d+) kB/gm)];
  const shared = /^Pss_Shmem: +(\d+) kB/m.exec(text);
  return 1024 * (sum.reduce((all, [, kb]) => all + Number(kb), 0) - Number(shared?.[1] ?? 0));
}

/** CPU of a process so far, s. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Datagrams that the kernel dropped before they reached a socket, on the whole machine. */
function softnetDrops(): number {
  const lines = readFileSync('/proc/net/softnet_stat', 'latin1').trim().split('\n');
  return lines.reduce((sum, line) => sum + Number.parseInt(line.split(' ')[1] ?? '0', 16), 0);
}

if (!INSIDE) inOwnNetwork(t, 'ip link set lo up', import.meta.url);
else {
  t.comment(`SEED=${SEED}, ${SECONDS} s each`);
  t.setTimeout(1e9);
  for (const rate of [MODEST, 0])
    for (const [kind, about] of Object.entries(KINDS) as [Kind, string][])
      t.test(`${about}, ${rate === 0 ? 'as fast as it goes' : `${rate}/s`}`, async t => {
        const own = folder(t);
        const [board, key] = [join(own, 'board'), join(own, 'cluster.key')];
        writeFileSync(key, `7 cluster ${'5a'.repeat(32)}\n`, { mode: 0o600 });
        const receiver = await startReceiver(t, board, ['--key-file', key, '--require', 'node']);
        const { pid = 0 } = receiver.child;
        const reader = new BoardReader(board);
        t.teardown(() => reader.close());
        const softnet = softnetDrops();
        const to = ['--to', `127.0.0.1:${receiver.port}`];
        const honest = start(t, ['load', ...to, '--size', String(NODES), '--key-file', key, '--json']);
        const states = () => countStates(reader.nodeStates().states);
        await until('all nodes are live', () => states().live === NODES);
        const memory = privateBytes(pid);
        const cpu = cpuOf(pid);
        const before = reader.snapshot().header;

        const seen = { looks: 0, leastLive: NODES, silent: 0, stalled: 0, filtering: 0, mostMemory: memory };
        const look = () => {
          const { live, silent } = states();
          const snapshot = reader.snapshot();
          seen.looks++;
          seen.leastLive = Math.min(seen.leastLive, live);
          seen.silent += silent;
          seen.stalled += Number(snapshot.stalled);
          seen.filtering += Number(snapshot.filtering);
          seen.mostMemory = Math.max(seen.mostMemory, privateBytes(pid));
        };
        const { port } = receiver;
        const { sent, seconds } = await flood(t, { kind, port, seconds: SECONDS, rate, seed: SEED }, look, 100);
        const used = cpuOf(pid) - cpu;
        const after = reader.snapshot().header;
        const received = Number(after.received) - Number(before.received);
        const overflows = Number(after.overflows) - Number(before.overflows);

        t.equal(seen.silent, 0, 'no node is called silent');
        t.equal(seen.stalled, 0, 'the receiver is never stalled');
        if (overflows === 0) t.equal(seen.leastLive, NODES, 'as long as it drains, every node is live at every look');
        t.ok(
          seen.mostMemory - memory < 8 << 20,
          `its memory stays what it was: ${(seen.mostMemory - memory) >> 10} KiB more`,
        );
        await until('all nodes are live again', () => states().live === NODES);
        honest.child.kill('SIGTERM');
        t.equal(await honest.exit, 0);
        const end = now();
        await until('all is heard', () => Number(reader.snapshot().evidence.heartbeatNs) > end);
        await until('the filter is off', () => !reader.snapshot().filtering);
        const { header, refused, count } = reader.snapshot();
        t.equal(count, NODES, 'no record for who proves nothing');
        const told = JSON.parse(honest.output().stdout).reports + sent;
        // Filtered junk is unfit.
        const counted = Number(header.received) + Number(header.kernel_drops) + Number(header.unfit_drops);
        const missing = told - counted;
        t.ok(missing >= 0 && missing <= softnetDrops() - softnet, `${told} were sent, ${counted} counted`);
        const sum = Object.values(refused).reduce((all, n) => all + n, 0);
        t.equal(
          Number(header.accepted) + Number(header.duplicate) + sum,
          Number(header.received),
          'each has its reason',
        );
        const status = await run(['status', '--board', board, '-x']);
        t.equal(status.code, 0, status.stderr);
        t.comment(
          [
            `${about}, ${rate === 0 ? 'as fast as it goes' : `${rate}/s`}: sent ${Math.round(sent / seconds)}/s`,
            `received ${Math.round(received / seconds)}/s, dropped by the kernel ${header.kernel_drops}, filtered ${header.unfit_drops}`,
            `${overflows} overflows, filter on in ${Math.round((100 * seen.filtering) / seen.looks)} % of ${seen.looks} looks`,
            `at least ${seen.leastLive} of ${NODES} live, CPU ${((1e6 * used) / Math.max(1, received)).toFixed(2)} us a datagram received`,
            `refused ${Object.entries(refused)
              .map(([reason, n]) => `${n} ${reason}`)
              .join(', ')}`,
            `memory +${(seen.mostMemory - memory) >> 10} KiB`,
          ].join('; '),
        );
        reader.close();
      });
}
