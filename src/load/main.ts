// Simulates a cluster: N nodes that report with plausible, moving readings, evenly spread at a rate. For trying out a
// master before a cluster is bought; reads nothing of this machine but its clocks.

import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatAddress } from '../common/addresses.js';
import { Failure } from '../common/failure.js';
import { createLog } from '../common/log.js';
import { defineVerb, parseVerb, UsageError, type Values } from '../common/options.js';
import { json, print } from '../common/output.js';
import { versionNumber } from '../common/version.js';
import { REPORT_BYTES } from '../layout/codec.js';
import { BulkSender, CLOCK, clocks } from '../native/index.js';
import { Cluster } from './node.js';

export const verb = defineVerb({
  name: 'load',
  summary: 'simulate a cluster: many nodes that report to a master',
  options: ['to', 'count', 'prefix', 'cluster', 'interval', 'rate', 'for', 'json', 'config'],
  examples: [
    'beoboard load --to 127.0.0.1 --count 1000',
    'beoboard load --to 127.0.0.1 --count 100k --rate 100k --for 60s',
  ],
  notes: `Every node reports once per --interval; with --rate, reports a second in all, the interval follows from it. The nodes are called
PREFIX0001 and so on. When it ends they fall silent, as if a switch had failed. Send it only to a master of your own.`,
});

type Options = Values<(typeof verb.options)[number]>;

/** The shortest pause between two calls, ms: what falls due meanwhile goes out together, cut apart by the kernel. */
const TICK_MS = 1;
const PROGRESS_MS = 10_000;

/** The nodes' interval in ms: what is asked for, or what the rate leaves. */
function intervalOf(options: Options): number {
  if (options.rate === undefined) return options.interval;
  const ms = Math.round((1000 * options.count) / options.rate);
  if (ms < 100 || ms > 600_000)
    throw new UsageError(
      verb.name,
      `${options.rate} reports a second of ${options.count} nodes are one per node every ${ms} ms, which must be 100 to 600000; change --count or --rate`,
    );
  return ms;
}

function readClocks(into: BigUint64Array): { realNs: bigint; bootNs: bigint } {
  clocks(into);
  return { realNs: into[CLOCK.real] ?? 0n, bootNs: into[CLOCK.boot] ?? 0n };
}

export async function main(argv: string[]): Promise<number> {
  const { values: options } = parseVerb(verb, argv);
  const [to, ...more] = options.to;
  if (to === undefined || to === '-' || more.length > 0)
    throw new UsageError(verb.name, 'one master is needed; write --to ADDR once');
  const intervalMs = intervalOf(options);
  const rate = (1000 * options.count) / intervalMs;
  const log = createLog(verb.name);
  const { address } = await lookup(to.host).catch(() => {
    throw new Failure(`cannot find ${to.host}: the name is not known`, 1);
  });
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort()).once('SIGINT', () => stop.abort());
  const sender = new BulkSender(address, to.port);
  const time = new BigUint64Array(3);
  const digits = String(options.count).length;
  const cluster = new Cluster(
    options.count,
    i => ({
      name: `${options.prefix}${String(i + 1).padStart(digits, '0')}`,
      cluster: options.cluster,
      intervalMs,
      agentVersion: versionNumber(),
      bootNs: readClocks(time).bootNs,
    }),
    1,
  );
  log.info(
    `ready: ${options.count} nodes report to ${formatAddress({ host: address, port: to.port })}, ${Math.round(rate)} reports/s`,
  );
  const { sent, seconds } = await run(cluster, sender, rate, options.for, stop.signal, time, log);
  sender.close();
  const summary = {
    nodes: options.count,
    reports: sent,
    seconds,
    reports_per_second: sent / seconds,
    bytes: sent * REPORT_BYTES,
  };
  if (options.json) await print([`${json({ schema: 1, ...summary })}\n`]);
  else log.info(`sent ${sent} reports in ${seconds.toFixed(1)} s, ${Math.round(sent / seconds)} reports/s`);
  return 0;
}

/** Sends what falls due, node after node in turn, until the time is over or it is stopped. */
async function run(
  cluster: Cluster,
  sender: BulkSender,
  rate: number,
  forMs: number | undefined,
  stop: AbortSignal,
  time: BigUint64Array,
  log: ReturnType<typeof createLog>,
): Promise<{ sent: number; seconds: number }> {
  const began = performance.now();
  const most = forMs === undefined ? Number.POSITIVE_INFINITY : Math.round((rate * forMs) / 1000);
  let sent = 0;
  let told = began;
  while (!stop.aborted && sent < most) {
    const now = performance.now();
    const due = Math.min(Math.floor(((now - began) * rate) / 1000) + 1, most) - sent;
    // Never more than a round at once: a machine that cannot keep up sends later, not twice.
    const count = Math.min(due, cluster.count);
    const { realNs, bootNs } = readClocks(time);
    for (let done = 0; done < count; ) {
      const first = (sent + done) % cluster.count;
      const run = Math.min(count - done, cluster.count - first);
      for (let i = first; i < first + run; i++) cluster.move(i, realNs, bootNs);
      sender.send(cluster.reports, REPORT_BYTES, first, run);
      done += run;
    }
    sent += count;
    if (now - told > PROGRESS_MS) {
      log.info(`sent ${sent} reports in ${Math.round((now - began) / 1000)} s`);
      told = now;
    }
    if (sent < most) await sleep(TICK_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  return { sent, seconds: (performance.now() - began) / 1000 };
}
