// 10,000 nodes that boot with an interval of 60 s behind a link of 10 Mbit/s, which carries a tenth of their first
// reports: the figures under "Steps" in docs/liveness.md. In its own network namespace, with the kernel's shaper.
//   npm run test:long -- thinlink        five minutes

import t from 'tap';
import { REPORT_BYTES } from '../../src/layout/codec.js';
import { structs } from '../../src/layout/layout.gen.js';
import { BulkSender } from '../../src/native/index.js';
import { here } from '../../src/sender/world.js';
import { BoardReader } from '../../src/shm/reader.js';
import { INSIDE, inOwnNetwork } from '../kit/network.js';
import { boardPath } from '../kit/places.js';
import { start } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';

const NODES = 10_000;
/** When 16 s are in force, and nodes send 625 reports a second, which the link carries; and when to end. */
const [FITS, END] = [180, 260];
const SETUP = 'ip link set lo up && tc qdisc add dev lo root tbf rate 10mbit burst 20000 latency 500ms';
/** So many sockets can fill that queue: then it drops reports, as on the way, and does not hold up the sender. */
const SOCKETS = 16;
const { seq, interval_ms, t_real_ns, t_boot_ns, flags } = structs.report.fields;

/** A node that follows the rule of steps; all times in s. */
interface Node {
  report: Uint8Array;
  /** Spreads the reports of all nodes over each interval. */
  phase: number;
  due: number;
  rate: number;
  said: number;
  told: number;
  since: number;
}

if (!INSIDE) inOwnNetwork(t, SETUP, import.meta.url);
else
  t.test('10,000 nodes at 10 Mbit/s', async t => {
    t.setTimeout(1e6);
    const board = boardPath(t);
    const argv = ['receive', '--board', board, '--listen', '127.0.0.1:0', '--capacity', String(NODES)];
    const { listening } = await start(t, argv).ready;
    const port = Number(listening?.[0]?.split(':').at(-1));
    const reader = new BoardReader(board);
    const senders = Array.from({ length: SOCKETS }, () => new BulkSender('127.0.0.1', port));
    t.teardown(() => {
      reader.close();
      for (const sender of senders) sender.close();
    });
    const nodes: Node[] = Array.from({ length: NODES }, (_, i) => ({
      report: makeReport({ hostname: `n${i}`, boot_id: BigInt(i + 1) }),
      phase: (i * 60) / NODES,
      due: i / NODES,
      rate: 1,
      said: 2,
      told: 0,
      since: i / NODES,
    }));
    const begun = here.clocks().bootNs;
    const batch = new Uint8Array(1000 * REPORT_BYTES);
    let sent = 0;
    const send = (node: Node, at: number) => {
      if (node.told >= 12 && at - node.since >= 12 && node.rate < node.said) {
        node.rate = node.said;
        node.said = Math.min(60, 2 * node.rate);
        Object.assign(node, { told: 0, since: at });
      }
      const { realNs, bootNs } = here.clocks();
      const view = new DataView(node.report.buffer);
      view.setUint32(seq.offset, node.told === 0 && node.rate === 1 ? 0 : view.getUint32(seq.offset, true) + 1, true);
      view.setUint32(interval_ms.offset, node.said * 1000, true);
      view.setBigUint64(t_real_ns.offset, realNs, true);
      view.setBigUint64(t_boot_ns.offset, bootNs, true);
      view.setUint32(flags.offset, 0, true);
      node.told++;
      const shift = node.phase % node.rate;
      // Somewhat late, by chance: the link is not to drop reports of the same nodes always.
      node.due = (Math.floor((at - shift) / node.rate) + 1) * node.rate + shift + Math.random() / 50;
      return node.report;
    };
    const silent = new Map<string, number>();
    let silentSeconds = 0;
    let counts: Record<string, number> = {};
    for (let look = 1; ; ) {
      const at = Number(here.clocks().bootNs - begun) / 1e9;
      if (at >= END) break;
      const due = nodes.filter(node => node.due <= at).slice(0, 1000);
      for (const [i, node] of due.entries()) batch.set(send(node, at), i * REPORT_BYTES);
      for (const [k, sender] of senders.entries()) {
        const [from = 0, to = 0] = [k, k + 1].map(part => Math.floor((part * due.length) / SOCKETS));
        if (to > from) sent += sender.send(batch, REPORT_BYTES, from, to - from);
      }
      if (at >= look) {
        const snapshot = reader.snapshot();
        counts = {};
        for (let i = 0; i < snapshot.count; i++) {
          const state = snapshot.stateOf(i);
          counts[state] = (counts[state] ?? 0) + 1;
          if (state !== 'silent') continue;
          silentSeconds++;
          silent.set(snapshot.node(i).name, at);
        }
        if (look % 12 === 0) t.comment(`${look} s: ${sent} sent, ${JSON.stringify(counts)}`);
        look++;
      }
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    const last = Math.max(0, ...silent.values());
    t.comment(
      `${silent.size} nodes were silent on the way, ${silentSeconds} node-seconds, the last after ${Math.round(last)} s`,
    );
    t.same(counts, { live: NODES }, 'in the end all are live');
    t.ok(last < FITS + 32, 'soon after the link carries all reports nobody is silent any more');
  });
