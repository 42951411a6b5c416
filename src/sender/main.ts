// The sender: one report per tick, to every master. Reads this machine and listens to nobody.

import { setTimeout as sleep } from 'node:timers/promises';
import { formatAddress } from '../common/addresses.js';
import { formatDuration } from '../common/durations.js';
import { createLog, type Log } from '../common/log.js';
import { defineVerb, parseVerb, UsageError, type Values } from '../common/options.js';
import { onStdoutGone, onStop, tellParent } from '../common/process.js';
import { InputError } from '../common/text.js';
import { versionNumber } from '../common/version.js';
import { REPORT_BYTES } from '../layout/codec.js';
import { bootId } from './collect/bootid.js';
import { Collector } from './collect.js';
import { type Identity, pack, type Source, type Tick } from './pack.js';
import { type Pretence, readPretence } from './pretend.js';
import { nextTick, phase } from './schedule.js';
import { Destination } from './send.js';
import { sources } from './slow/index.js';
import { SlowSide } from './slow/rounds.js';
import { here, type World } from './world.js';

export const verb = defineVerb({
  name: 'send',
  summary: 'report how this machine is, once per interval',
  options: [
    'to',
    'interface',
    'ttl',
    'name',
    'cluster',
    'interval',
    'once',
    'aligned',
    'proc',
    'sys',
    'scratch',
    'pretend',
    'config',
  ],
  examples: [
    'beoboard send --to master',
    'beoboard send --to 10.0.0.1 --to 10.0.0.2:9000 --interval 5s',
    'beoboard send --to 239.255.86.77 --interface eth0',
    'beoboard send --once --to - | xxd | head -4',
  ],
  notes:
    'SIGTERM and SIGINT end it with a last report flagged goodbye. A master that cannot be reached is told of once and tried for ever. SIGHUP reads --config again: destinations, name and interval may change without a report lost.',
});

type Options = Values<(typeof verb.options)[number]>;

/** Where a report goes: masters, groups, and stdout. */
class Outlets {
  readonly #log: Log;
  #destinations = new Map<string, Destination>();
  #stdout = false;

  constructor(options: Options, log: Log) {
    this.#log = log;
    this.change(options);
  }

  /** Goes over to other destinations between two reports: one that stays keeps its socket. */
  change({ to, interface: name, ttl }: Options): void {
    const before = this.#destinations;
    const next = new Map<string, Destination>();
    for (const address of to) {
      if (address === '-') continue;
      const key = `${formatAddress(address)} ${name ?? ''} ${ttl}`;
      next.set(key, before.get(key) ?? new Destination(address, { interface: name, ttl }, this.#log));
    }
    this.#stdout = to.includes('-');
    this.#destinations = next;
    for (const [key, destination] of before) if (!next.has(key)) void destination.close();
  }

  /** Every destination gets the same bytes, and none waits for another. How many took them. */
  async send(report: Uint8Array): Promise<number> {
    const sending = [...this.#destinations.values()].map(destination => destination.send(report));
    if (this.#stdout) sending.push(Promise.resolve(this.#print(report)));
    const sent = await Promise.all(sending);
    return sent.filter(done => done).length;
  }

  /** To stdout; while nobody reads that, reports are dropped, not gathered. */
  #print(report: Uint8Array): boolean {
    if (process.stdout.writableNeedDrain) return false;
    process.stdout.write(report);
    return true;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#destinations.values()].map(destination => destination.close()));
  }

  get failed(): number {
    return [...this.#destinations.values()].reduce((sum, destination) => sum + destination.failed, 0);
  }

  get count(): number {
    return this.#destinations.size + (this.#stdout ? 1 : 0);
  }

  get names(): string {
    return [...[...this.#destinations.values()].map(({ label }) => label), ...(this.#stdout ? ['stdout'] : [])].join(
      ', ',
    );
  }
}

/** What of the identity and the grid follows from the options, and may change while the sender runs. */
function named(options: Options): Pick<Identity, 'name' | 'cluster' | 'intervalMs'> {
  return { name: options.name, cluster: options.cluster, intervalMs: options.interval };
}

/** The loop: reports at once, then at the points of its grid, until `stop` is aborted; then says goodbye. */
class Sender {
  #identity: Identity;
  readonly #source: Source;
  readonly #outlets: Outlets;
  #aligned: boolean;
  readonly #world: World;
  #wake = new AbortController();
  #seq: number;
  #missed: number;
  readonly #onceLateUs: number;

  constructor(options: Options, identity: Identity, source: Source, outlets: Outlets, pretence?: Pretence) {
    this.#identity = identity;
    this.#source = source;
    this.#outlets = outlets;
    this.#aligned = options.aligned;
    this.#world = pretence?.world ?? here;
    this.#seq = pretence?.seq ?? 0;
    this.#missed = pretence?.missedTicks ?? 0;
    this.#onceLateUs = pretence?.lateUs ?? 0;
  }

  /** Takes other options from the next report on, which comes at once when the interval has changed. */
  change(options: Options): void {
    const faster = options.interval !== this.#identity.intervalMs || options.aligned !== this.#aligned;
    this.#identity = { ...this.#identity, ...named(options) };
    this.#aligned = options.aligned;
    if (faster) this.#wake.abort();
  }

  /** `tell` is called when the first report is out. Gives how many reports were made, and who took the goodbye. */
  async run(stop: AbortSignal, tell: () => void): Promise<{ reports: number; goodbyes: number }> {
    void this.#report({ lateUs: 0, skipped: false, goodbye: false }).then(() => {
      if (!stop.aborted) tell();
    });
    stop.addEventListener('abort', () => this.#wake.abort());
    while (!stop.aborted) {
      const intervalNs = BigInt(this.#identity.intervalMs) * 1_000_000n;
      const due = this.#nextDue(intervalNs);
      const waited = await this.#waitUntil(due);
      if (stop.aborted) break;
      const lateNs = this.#world.clocks().bootNs - due;
      // Woken more than an interval late: the ticks between brought no report. Before its time: the interval changed.
      const skipped = waited && lateNs > 0n ? lateNs / intervalNs : 0n;
      this.#missed += Number(skipped);
      void this.#report({ lateUs: waited ? Number(lateNs) / 1000 : 0, skipped: skipped > 0n, goodbye: false });
    }
    const goodbyes = await this.#report({ lateUs: 0, skipped: false, goodbye: true });
    return { reports: this.#seq, goodbyes };
  }

  /** The only report of this run. */
  once(): Promise<number> {
    return this.#report({ lateUs: this.#onceLateUs, skipped: false, goodbye: true });
  }

  /**
   * The next point of the grid, on CLOCK_BOOTTIME. An aligned grid lies on the wall clock, but it is waited for on the
   * other: a step of the wall clock moves the grid, and neither makes a report late nor skips one.
   */
  #nextDue(intervalNs: bigint): bigint {
    const { realNs, bootNs } = this.#world.clocks();
    if (this.#aligned) return bootNs + nextTick(realNs, intervalNs, 0n) - realNs;
    return nextTick(bootNs, intervalNs, phase(this.#identity.name, intervalNs));
  }

  /** Whether the time has come; false when it was woken before. */
  async #waitUntil(due: bigint): Promise<boolean> {
    // A timer may fire a little early: look again until it is time.
    for (;;) {
      const leftMs = Number(due - this.#world.clocks().bootNs) / 1e6;
      if (leftMs <= 0) return true;
      const { signal } = this.#wake;
      await sleep(Math.ceil(leftMs), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        this.#wake = new AbortController();
        return false;
      }
    }
  }

  /** How many destinations took it. */
  #report(tick: Pick<Tick, 'lateUs' | 'skipped' | 'goodbye'>): Promise<number> {
    const report = pack(
      this.#identity,
      { ...tick, ...this.#world.clocks(), seq: this.#seq++, missed: this.#missed },
      this.#source,
      this.#world,
    );
    return this.#outlets.send(report);
  }
}

/** The trees to read; where two are given, the first is what the tick before has read. */
function openCollector(options: Options, tell: (message: string) => void, pretence?: Pretence): Collector {
  const at = (i: number) => ({
    proc: options.proc[Math.min(i, options.proc.length - 1)] ?? '/proc',
    sys: options.sys[Math.min(i, options.sys.length - 1)] ?? '/sys',
  });
  const world = pretence?.world ?? here;
  const collector = new Collector({ ...at(0), tell, world });
  if (options.proc.length === 2 || options.sys.length === 2) {
    const before = pretence?.beforeBootNs ?? world.clocks().bootNs - BigInt(options.interval) * 1_000_000n;
    collector.collect(new DataView(new ArrayBuffer(REPORT_BYTES)), before);
    collector.moveTo(at(1));
  }
  return collector;
}

/** The side that can hang, over the trees of the report. */
function openSlow(options: Options, tell: (message: string) => void): SlowSide {
  const places = { proc: options.proc.at(-1), sys: options.sys.at(-1), scratch: options.scratch };
  return new SlowSide({
    sources,
    world: JSON.stringify(places),
    intervalMs: options.interval,
    bootNs: () => here.clocks().bootNs,
    tell,
  });
}

/** Reads the command line and the file; refuses what makes no sense together. */
function readOptions(argv: string[]): Options {
  const { values: options } = parseVerb(verb, argv);
  if (options.to.length === 0)
    throw new UsageError(verb.name, 'nowhere to report to; write --to ADDR, or --to - for stdout');
  if (options.pretend !== undefined && !options.once)
    throw new UsageError(verb.name, '--pretend makes one report; add --once');
  return options;
}

/** A file that cannot be taken is told like an option that cannot. */
function pretend(file: string | undefined): Pretence | undefined {
  try {
    return file === undefined ? undefined : readPretence(file);
  } catch (error) {
    throw error instanceof InputError ? new UsageError(verb.name, error.message) : error;
  }
}

export async function main(argv: string[]): Promise<number> {
  const options = readOptions(argv);
  const pretence = pretend(options.pretend);
  const log = createLog(verb.name);
  const id = bootId(options.proc.at(-1) ?? '/proc');
  if (id === undefined) log.warn('cannot read the boot id: reboots of this node will not be seen');
  const identity: Identity = {
    ...named(options),
    agentVersion: pretence?.agentVersion ?? versionNumber(),
    bootId: id ?? 0n,
    startBootNs: pretence?.startBootNs ?? here.clocks().bootNs,
  };
  const outlets = new Outlets(options, log);
  const collector = openCollector(options, message => log.warn(message), pretence);
  const slow = pretence === undefined ? openSlow(options, message => log.warn(message)) : undefined;
  const source: Source = {
    collect(view, nowNs) {
      collector.collect(view, nowNs);
      slow?.fill(view);
    },
  };
  const sender = new Sender(options, identity, source, outlets, pretence);
  try {
    slow?.start();
    if (options.once) {
      await slow?.closed();
      return (await sender.once()) === outlets.count ? 0 : 1;
    }
    const stop = new AbortController();
    onStop().addEventListener('abort', () => stop.abort());
    onStdoutGone(() => stop.abort()); // and says goodbye to the others
    const describe = ({ name, interval }: Options) =>
      `${name} reports every ${formatDuration(interval)} to ${outlets.names}`;
    process.on('SIGHUP', () => {
      try {
        const changed = readOptions(argv);
        outlets.change(changed);
        sender.change(changed);
        log.info(`read its options again: ${describe(changed)}`);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        log.error(`SIGHUP: ${error.message.replace(/^beoboard send: /, '')}; goes on as before`);
      }
    });
    const { reports, goodbyes } = await sender.run(stop.signal, () => {
      tellParent({ reporting: outlets.names });
      log.info(`ready: ${describe(options)}`);
    });
    const to = goodbyes === outlets.count ? '' : ` to ${goodbyes} of ${outlets.count}`;
    const failed = outlets.failed > 0 ? `, ${outlets.failed} could not be delivered` : '';
    log.info(`said goodbye${to} after ${reports} reports${failed}`);
    return 0;
  } finally {
    collector.close();
    slow?.stop();
    await outlets.close();
  }
}
