// Simulates a cluster: N nodes that report plausible, moving readings, evenly spread in time. For testing a master
// before a cluster is bought; reads nothing of this machine except its clocks.

import { lookup } from 'node:dns/promises';
import { basename, dirname } from 'node:path';
import { REPORT_BYTES } from '../layout/codec.js';
import { BulkSender, readClocks } from '../native/index.js';
import { nodeKey, readClusterKeys } from '../options/keys.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { versionNumber } from '../options/version.js';
import { createLog, type Log } from '../service/log.js';
import { pause } from '../service/pause.js';
import { tellParent } from '../service/process.js';
import { replaceFile } from '../service/replacefile.js';
import { type Address, formatAddress } from '../text/addresses.js';
import { Failure, usable } from '../text/failure.js';
import { json, print } from '../text/output.js';
import { words } from '../text/tables.js';
import { counted, oneLine } from '../text/text.js';
import { JobWork } from './jobnodes.js';
import { Cluster, random } from './simulatednode.js';

export const verb = defineVerb({
  name: 'load',
  options: words(
    'to size prefix nodes cluster key-file interval rate loss restart-every silent silent-from silent-for jobs',
    'jobs-file odd full seed for json config',
  ),
  examples: [
    'beoboard load --to 127.0.0.1 --size 1000',
    'beoboard load --to 127.0.0.1 --nodes rack[1-4]n[01-48],login1',
    'beoboard load --to 127.0.0.1 --size 100k --rate 100k --for 60s',
    'beoboard load --to 127.0.0.1 --size 512 --loss 2% --silent node[097-192] --silent-from 30s --silent-for 1m',
    'beoboard load --to 127.0.0.1 --size 480 --jobs 40 --jobs-file /tmp/jobs.jsonl --odd link',
  ],
  notes: `Every node reports once per --interval. With --rate, the interval follows from the total reports a second. Node names are PREFIX and a
number, padded to the digits of --size (node0001 of 1000); --nodes replaces --size and --prefix. Every eighth node has GPUs. When it ends,
all nodes fall silent, as if a switch had failed. The master counts dropped reports as lost. With --key-file, the cluster key, each node
signs with its own key, as --require node demands. With --jobs most nodes work at jobs of several kinds, and --jobs-file tells them to
beoboard scheduler (docs/jobs.md). Use it only against your own master, to see what a cluster of this size costs there.`,
});

type LoadOptions = ValuesOf<typeof verb>;

/** The shortest pause between two calls, ms: reports due meanwhile are sent together, and the kernel splits them. */
const TICK_MS = 1;
/** Of fewer reports a second those of a twentieth of the interval, or of so many ms, go together: calls are dear. */
const [FEW, FEW_TICK_MS] = [1000, 50];
/**
 * How many reports are made before they are sent. A small number, so that a late sender catches up evenly and not in a
 * burst that overflows socket buffers.
 */
const TOGETHER = 256;
const PROGRESS_MS = 10_000;

/** The nodes' interval in ms: as given, or computed from the rate. */
function intervalOf(options: LoadOptions, size: number): number {
  if (options.rate === undefined) return options.interval;
  const ms = Math.round((1000 * size) / options.rate);
  if (ms < 100 || ms > 600_000)
    throw new UsageError(
      `--rate ${options.rate} does not fit ${counted(size, 'node')}, which send ${Math.ceil(size / 600)} to ${size * 10} reports a second; change ${options.nodes === undefined ? '--size' : '--nodes'} or --rate`,
    );
  return ms;
}

/** Reads the command line and the file; refuses options that contradict each other. */
function readOptions(argv: string[]): { options: LoadOptions; to: Address } {
  const { values: options, given } = parseVerb(verb, argv);
  const [to, ...more] = options.to;
  if (to === undefined || to === '-' || more.length > 0)
    throw new UsageError('one master is needed; write --to ADDR once');
  const ofSilent = ['silent-from', 'silent-for'].find(name => given.has(name));
  if (ofSilent !== undefined && options.silent === undefined)
    throw new UsageError(`--${ofSilent} is only for the nodes of --silent; give these, too, or leave it out`);
  const ofJobs = ['jobs-file', 'odd'].find(name => given.has(name));
  if (ofJobs !== undefined && options.jobs === undefined)
    throw new UsageError(`--${ofJobs} is only for jobs; give --jobs, too, or leave it out`);
  const { odd = [], jobs = 0 } = options;
  if (odd.length > jobs)
    throw new UsageError(`--odd: ${odd.length} faults need as many jobs; give a higher --jobs, or fewer faults`);
  return { options, to };
}

/** The jobs' file is written so often, s. */
const JOBS_EVERY_S = 10;

/** Tells the jobs again and again until it is stopped; throws a Failure if it cannot. */
function tellJobs(jobs: JobWork, path: string, nameOf: (i: number) => string, log: Log): () => void {
  const write = () => {
    const monoMs = Number(readClocks().bootNs / 1_000_000n);
    // The machine on which beoboard demo runs is no stranger to it.
    const text = jobs.text(nameOf, JOBS_EVERY_S, monoMs, Date.now(), process.env.BEOBOARD_BESIDE);
    replaceFile(dirname(path), basename(path), text, 0o644);
  };
  try {
    write();
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code;
    throw new UsageError(
      `--jobs-file: cannot write ${oneLine(path)}: ${why}; name a file in a folder that you may write`,
    );
  }
  const timer = setInterval(() => {
    try {
      write();
    } catch (error) {
      log.seldom('jobs', `cannot write ${oneLine(path)}: ${(error as NodeJS.ErrnoException).code}`);
    }
  }, JOBS_EVERY_S * 1000);
  return () => clearInterval(timer);
}

export async function main(argv: string[]): Promise<number> {
  const { options, to } = readOptions(argv);
  const { nodes } = options;
  const size = nodes?.length ?? options.size;
  const intervalMs = intervalOf(options, size);
  const rate = (1000 * size) / intervalMs;
  const log = createLog(verb.name);
  const { address } = await lookup(to.host).catch(() => {
    throw new Failure(`cannot find ${to.host}: the name is not known`, 1);
  });
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort()).once('SIGINT', () => stop.abort());
  const sender = new BulkSender(address, to.port);
  const digits = String(size).length;
  const nameOf = (i: number) => nodes?.[i] ?? `${options.prefix}${String(i + 1).padStart(digits, '0')}`;
  const { keyFile } = options;
  const [key] = keyFile === undefined ? [] : usable(() => readClusterKeys(keyFile));
  const bootMs = Number(readClocks().bootNs / 1_000_000n);
  const jobs = options.jobs && new JobWork(size, options.jobs, intervalMs, options.seed, options.odd ?? [], bootMs);
  const full = placesOf(options, 'full', size, nameOf);
  const cluster = new Cluster(
    size,
    i => ({
      name: nameOf(i),
      cluster: options.cluster,
      intervalMs,
      agentVersion: versionNumber(),
      bootNs: readClocks().bootNs,
      isFull: full.has(i),
      key: key && nodeKey(key, nameOf(i)),
    }),
    options.seed,
    jobs || undefined,
  );
  const endTelling = jobs && options.jobsFile ? tellJobs(jobs, options.jobsFile, nameOf, log) : () => undefined;
  const mishaps = new Mishaps(options, size, intervalMs, nameOf);
  const destination = formatAddress({ host: address, port: to.port });
  tellParent({ reporting: [destination] });
  log.info(
    `ready: ${counted(size, 'node')} ${size === 1 ? 'reports' : 'report'} to ${destination}, ${Math.round(rate)} reports/s`,
  );
  const { sent, leftOut, restarts, seconds } = await run(cluster, mishaps, sender, rate, options.for, stop.signal, log);
  sender.close();
  endTelling();
  const summary = {
    nodes: size,
    reports: sent,
    left_out: leftOut,
    restarts,
    seconds,
    reports_per_second: sent / seconds,
    bytes: sent * REPORT_BYTES,
  };
  if (options.json) await print([`${json({ schema: 1, ...summary })}\n`]);
  else {
    const mishaps = leftOut + restarts > 0 ? `; ${leftOut} left out, ${restarts} restarts` : '';
    log.info(`sent ${sent} reports in ${seconds.toFixed(1)} s, ${Math.round(sent / seconds)} reports/s${mishaps}`);
  }
  return 0;
}

/** The numbers of the nodes that an option names. Throws a UsageError. */
function placesOf(
  options: LoadOptions,
  option: 'silent' | 'full',
  size: number,
  nameOf: (i: number) => string,
): ReadonlySet<number> {
  const names = options[option];
  if (names === undefined) return new Set();
  const places = new Map(Array.from({ length: size }, (_, i) => [nameOf(i), i]));
  return new Set(
    names.map(name => {
      const place = places.get(name);
      if (place !== undefined) return place;
      throw new UsageError(
        `--${option}: ${name} is not one of the nodes; name some of ${nameOf(0)} to ${nameOf(size - 1)}`,
      );
    }),
  );
}

/** Events of the nodes, random or as options ask for. */
class Mishaps {
  readonly #random: () => number;
  readonly #silent: ReadonlySet<number>;
  /** The probability that a node restarts before its next report. */
  readonly #restarting: number;
  readonly #none: boolean;

  constructor(
    readonly options: LoadOptions,
    size: number,
    intervalMs: number,
    nameOf: (i: number) => string,
  ) {
    const { seed, loss, restartEvery } = options;
    this.#silent = placesOf(options, 'silent', size, nameOf);
    this.#restarting = restartEvery === undefined ? 0 : Math.min(1, intervalMs / restartEvery);
    this.#random = random(seed + 1);
    this.#none = loss === 0 && this.#silent.size === 0;
  }

  restarts(): boolean {
    return this.#restarting > 0 && this.#random() < this.#restarting;
  }

  /** Whether a report of node number `i` is lost, so many ms after the start. */
  leavesOut(i: number, afterMs: number): boolean {
    if (this.#none) return false;
    const { loss, silentFrom, silentFor = Number.POSITIVE_INFINITY } = this.options;
    if (this.#silent.has(i) && afterMs >= silentFrom && afterMs < silentFrom + silentFor) return true;
    return loss > 0 && this.#random() < loss;
  }
}

/** Sends reports that are due, one node after another, until the time is over or it is stopped. */
async function run(
  cluster: Cluster,
  mishaps: Mishaps,
  sender: BulkSender,
  rate: number,
  forMs: number | undefined,
  stop: AbortSignal,
  log: Log,
): Promise<{ sent: number; leftOut: number; restarts: number; seconds: number }> {
  const began = performance.now();
  const tick = Math.max(TICK_MS, rate < FEW ? Math.min(FEW_TICK_MS, (50 * cluster.count) / rate) : 0);
  const most = forMs === undefined ? Number.POSITIVE_INFINITY : Math.round((rate * forMs) / 1000);
  /** Reports that are done: sent or left out. */
  let made = 0;
  let leftOut = 0;
  let restarts = 0;
  let printed = began;
  let isRound = false;
  while (!stop.aborted && made < most) {
    const now = performance.now();
    const due = Math.min(Math.floor(((now - began) * rate) / 1000) + 1, most) - made;
    // At most one round at once: a machine that cannot keep up sends later, and not twice.
    const count = Math.min(due, cluster.count);
    for (let done = 0; done < count; ) {
      const { realNs, bootNs } = readClocks();
      const first = (made + done) % cluster.count;
      const end = first + Math.min(count - done, cluster.count - first, TOGETHER);
      let from = first;
      for (let i = first; i < end; i++) {
        if (mishaps.restarts()) {
          cluster.restart(i, bootNs);
          restarts++;
        }
        cluster.move(i, realNs, bootNs);
        if (!mishaps.leavesOut(i, now - began)) continue;
        leftOut++;
        if (i > from) sender.send(cluster.reports, REPORT_BYTES, from, i - from);
        from = i + 1;
      }
      if (end > from) sender.send(cluster.reports, REPORT_BYTES, from, end - from);
      done += end - first;
    }
    made += count;
    if (!isRound && made >= cluster.count) {
      isRound = true;
      tellParent({ reported: cluster.count });
    }
    if (now - printed > PROGRESS_MS && process.stderr.isTTY) {
      log.info(`sent ${made - leftOut} reports in ${Math.round((now - began) / 1000)} s`);
      printed = now;
    }
    if (made === most) break;
    const nextMs = began + (1000 * made) / rate - performance.now();
    await pause(Math.max(tick, nextMs), stop);
  }
  return { sent: made - leftOut, leftOut, restarts, seconds: (performance.now() - began) / 1000 };
}
