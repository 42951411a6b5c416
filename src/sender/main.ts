// The sender: one report per tick, to every master. Reads this machine and listens to nobody.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatAddress } from '../common/addresses.js';
import { formatDuration } from '../common/durations.js';
import { createLog, type Log } from '../common/log.js';
import { defineVerb, parseVerb, UsageError, type Values } from '../common/options.js';
import { versionNumber } from '../common/version.js';
import { REPORT_BYTES } from '../layout/codec.js';
import { bootId } from './collect/bootid.js';
import { Collector } from './collect.js';
import { type Identity, pack, type Tick } from './pack.js';
import { nextTick, phase } from './schedule.js';
import { Destination } from './send.js';
import { here } from './world.js';

export const verb = defineVerb({
  name: 'send',
  summary: 'report how this machine is, once per interval',
  options: ['to', 'name', 'cluster', 'interval', 'once', 'aligned', 'proc', 'sys', 'config'],
  examples: [
    'beoboard send --to master',
    'beoboard send --to 10.0.0.1 --to 10.0.0.2:9000 --interval 5s',
    'beoboard send --once --to - | xxd | head -4',
  ],
  notes:
    'SIGTERM and SIGINT end it with a last report flagged goodbye. A master that cannot be reached is told of once and tried for ever.',
});

type Options = Values<(typeof verb.options)[number]>;

/** Where a report goes: masters, and stdout. */
class Outlets {
  readonly #destinations: Destination[];
  readonly #stdout: boolean;

  constructor(to: Options['to'], log: Log) {
    this.#stdout = to.includes('-');
    this.#destinations = to.flatMap(address => (address === '-' ? [] : [new Destination(address, log)]));
  }

  /** Every destination gets the same bytes, and none waits for another. */
  async send(report: Uint8Array): Promise<void> {
    const sending = this.#destinations.map(destination => destination.send(report));
    if (this.#stdout && !process.stdout.write(report))
      sending.push(once(process.stdout, 'drain').then(() => undefined));
    await Promise.all(sending);
  }

  async close(): Promise<void> {
    await Promise.all(this.#destinations.map(destination => destination.close()));
  }

  get failed(): number {
    return this.#destinations.reduce((sum, destination) => sum + destination.failed, 0);
  }
}

/** The loop: reports at once, then at the points of its grid, until `stop` is aborted; then says goodbye. */
class Sender {
  readonly #identity: Identity;
  readonly #collector: Collector;
  readonly #outlets: Outlets;
  readonly #intervalNs: bigint;
  readonly #phaseNs: bigint;
  readonly #aligned: boolean;
  #seq = 0;
  #missed = 0;

  constructor(options: Options, identity: Identity, collector: Collector, outlets: Outlets) {
    this.#identity = identity;
    this.#collector = collector;
    this.#outlets = outlets;
    this.#intervalNs = BigInt(identity.intervalMs) * 1_000_000n;
    this.#aligned = options.aligned;
    this.#phaseNs = options.aligned ? 0n : phase(identity.name, this.#intervalNs);
  }

  async run(stop: AbortSignal, tell: () => void): Promise<number> {
    void this.#report({ lateUs: 0, skipped: false, goodbye: false }).then(tell);
    while (!stop.aborted) {
      const due = nextTick(this.#clock(), this.#intervalNs, this.#phaseNs);
      if (!(await this.#waitUntil(due, stop))) break;
      const lateNs = this.#clock() - due;
      // Woken more than an interval late: the ticks between brought no report.
      const skipped = lateNs / this.#intervalNs;
      this.#missed += Number(skipped);
      void this.#report({ lateUs: Number(lateNs) / 1000, skipped: skipped > 0n, goodbye: false });
    }
    await this.#report({ lateUs: 0, skipped: false, goodbye: true });
    return this.#seq;
  }

  /** The only report of this run. */
  async once(): Promise<void> {
    await this.#report({ lateUs: 0, skipped: false, goodbye: true });
  }

  /** On the wall clock for all nodes at once; else on the time since boot, which no clock step moves. */
  #clock(): bigint {
    const { realNs, bootNs } = here.clocks();
    return this.#aligned ? realNs : bootNs;
  }

  /** Whether the time has come; false when it was stopped before. */
  async #waitUntil(due: bigint, stop: AbortSignal): Promise<boolean> {
    // A timer may fire a little early, and a wall clock may step: look again until it is time.
    for (;;) {
      const leftMs = Number(due - this.#clock()) / 1e6;
      if (leftMs <= 0) return true;
      const stopped = await sleep(Math.min(Math.ceil(leftMs), this.#identity.intervalMs), false, {
        signal: stop,
      }).catch(() => true);
      if (stopped) return false;
      if (leftMs > this.#identity.intervalMs) return true; // the wall clock went back: never silent for it
    }
  }

  async #report(tick: Pick<Tick, 'lateUs' | 'skipped' | 'goodbye'>): Promise<void> {
    const report = pack(
      this.#identity,
      { ...tick, ...here.clocks(), seq: this.#seq++, missed: this.#missed },
      this.#collector,
      here,
    );
    await this.#outlets.send(report);
  }
}

/** The trees to read; where two are given, the first is what the tick before has read. */
function openCollector(options: Options, tell: (message: string) => void): Collector {
  const at = (i: number) => ({
    proc: options.proc[Math.min(i, options.proc.length - 1)] ?? '/proc',
    sys: options.sys[Math.min(i, options.sys.length - 1)] ?? '/sys',
  });
  const collector = new Collector({ ...at(0), tell });
  if (options.proc.length === 2 || options.sys.length === 2) {
    const before = here.clocks().bootNs - BigInt(options.interval) * 1_000_000n;
    collector.collect(new DataView(new ArrayBuffer(REPORT_BYTES)), before);
    collector.moveTo(at(1));
  }
  return collector;
}

export async function main(argv: string[]): Promise<number> {
  const { values: options } = parseVerb(verb, argv);
  if (options.to.length === 0)
    throw new UsageError(verb.name, 'nowhere to report to; write --to ADDR, or --to - for stdout');
  const log = createLog(verb.name);
  const id = bootId(options.proc.at(-1) ?? '/proc');
  if (id === undefined) log.warn('cannot read the boot id: reboots of this node will not be seen');
  const identity: Identity = {
    name: options.name,
    cluster: options.cluster,
    intervalMs: options.interval,
    agentVersion: versionNumber(),
    bootId: id ?? 0n,
    startBootNs: here.clocks().bootNs,
  };
  const outlets = new Outlets(options.to, log);
  const collector = openCollector(options, message => log.warn(message));
  const sender = new Sender(options, identity, collector, outlets);
  try {
    if (options.once) {
      await sender.once();
      return outlets.failed > 0 ? 1 : 0;
    }
    const stop = new AbortController();
    const end = () => stop.abort();
    process.once('SIGTERM', end).once('SIGINT', end);
    process.stdout.on('error', end);
    const names = options.to.map(address => (address === '-' ? 'stdout' : formatAddress(address))).join(', ');
    const reports = await sender.run(stop.signal, () => {
      process.send?.({ reporting: names });
      log.info(`ready: ${identity.name} reports every ${formatDuration(identity.intervalMs)} to ${names}`);
    });
    log.info(
      `said goodbye after ${reports} reports${outlets.failed > 0 ? `, ${outlets.failed} could not be delivered` : ''}`,
    );
    return 0;
  } finally {
    collector.close();
    await outlets.close();
  }
}
