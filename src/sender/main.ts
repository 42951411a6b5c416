// The sender: one report per tick to every master. Reads this machine, and listens to nobody.

// First, because of what it does when it is loaded.
import { type Key, readKeys } from '../options/keys.js';
import { InputError, inNamedFile, oneLine } from '../text/text.js';
import './v8flags.js';

import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { REPORT_BYTES } from '../layout/codec.js';
import { isNobodysName, shortHostName } from '../options/hostname.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { versionNumber } from '../options/version.js';
import { onHangup } from '../service/hangup.js';
import { createLog, type Log } from '../service/log.js';
import { pause } from '../service/pause.js';
import { onStdoutGone, onStop, tellParent } from '../service/process.js';
import { Service } from '../service/service.js';
import type { Address } from '../text/addresses.js';
import { formatDuration } from '../text/durations.js';
import { Failure, keysAtStart, usable } from '../text/failure.js';
import { words } from '../text/tables.js';
import { bootId } from './collect/bootid.js';
import { Collector, type Roots } from './collect.js';
import { Destinations } from './destinations.js';
import { type Course, type Helm, Loop, type Send } from './loop.js';
import { PaceFile } from './pacefile.js';
import type { Identity, ReportSource } from './pack.js';
import { type Pretence, readPretence } from './pretend.js';
import { detailsOf, fillSlow, type SlowPart } from './slow/fill.js';
import { makeSources, sources } from './slow/index.js';
import { SlowSide } from './slow/rounds.js';
import type { SlowReading } from './slow/source.js';
import { here } from './world.js';

/** The key with which a node of this name signs; throws an InputError if it belongs to another node. */
function readSigningKey(path: string, name: string): Key {
  return inNamedFile('keys', () => {
    const [key] = readKeys(path) as [Key];
    if (key.node !== undefined && key.node !== name)
      throw new InputError(`${oneLine(path)}: is the key of ${key.node}, and this node is ${name}; give it its own`);
    return key;
  });
}

export const verb = defineVerb({
  name: 'send',
  options: words(
    'to interface ttl name cluster key-file interval pace-file pace-min pace-max once check aligned proc sys',
    'scratch health-max-age pretend config',
  ),
  examples: [
    'beoboard send --to master',
    'beoboard send --to 10.0.0.1 --to 10.0.0.2:9000 --interval 5s',
    'beoboard send --to 239.255.86.77 --interface eth0',
    'beoboard send --once --to - | xxd | head -4',
  ],
  notes:
    "SIGTERM and SIGINT stop it with a last report, flagged goodbye. A master that cannot be reached is logged once and retried indefinitely. SIGHUP reads --config again; destinations, name and interval can change without losing a report. An interval of more than a second is reached in steps: it doubles when twelve reports, over at least twelve seconds, have announced that; a shorter one holds at once. When the name changes, the old one says goodbye. A pace file holds one line, interval TIME for TIME. It is trusted if it belongs to root, beoboard or the sender's user and nobody else can write it: see docs/operations.md.",
});

type SenderOptions = ValuesOf<typeof verb>;

/** The part of the course that follows from the options, and may change while the sender runs. */
function courseOf(options: SenderOptions, rest: Omit<Identity, 'name' | 'cluster' | 'intervalMs' | 'key'>): Course {
  const { name, cluster, interval, aligned, keyFile } = options;
  const key = keyFile === undefined ? undefined : usable(() => readSigningKey(keyFile, name));
  return { identity: { ...rest, name, cluster, intervalMs: interval, key }, aligned };
}

/** The trees to read: first that of the tick before, if there are two. An option that is given once counts for both. */
function treesOf({ proc, sys }: SenderOptions): Roots[] {
  const count = Math.max(proc.length, sys.length, 1);
  return Array.from({ length: count }, (_, i) => ({
    proc: proc[i] ?? proc.at(-1) ?? '/proc',
    sys: sys[i] ?? sys.at(-1) ?? '/sys',
  }));
}

/** Reads the trees of the earlier ticks, if there are any, and then the last one. */
function openCollector(options: SenderOptions, tell: (message: string) => void, pretence?: Pretence): Collector {
  const world = pretence?.world ?? here;
  const [first = { proc: '/proc', sys: '/sys' }, ...later] = treesOf(options);
  const collector = new Collector({ ...first, tell, world });
  for (const roots of later) {
    const before = pretence?.beforeBootNs ?? world.clocks().bootNs - BigInt(options.interval) * 1_000_000n;
    collector.collect(new DataView(new ArrayBuffer(REPORT_BYTES)), before);
    collector.restart();
    collector.moveTo(roots);
  }
  return collector;
}

/** What the slow side takes from the options, besides the trees. */
const placesOf = ({ scratch, healthMaxAge }: SenderOptions) => ({ scratch, healthMostMs: healthMaxAge });

/** The slow sources of a pretended run: one round over each tree, in this process. */
function pretendSlow(options: SenderOptions, pretence: Pretence, tell: (message: string) => void): SlowPart {
  const sources = makeSources();
  let readings: SlowReading[] = [];
  for (const roots of treesOf(options)) {
    const world = pretence.slowWorld({ ...roots, ...placesOf(options) });
    readings = sources.map(source => source.read(world));
  }
  for (const trouble of new Set(readings.map(({ trouble }) => trouble))) if (trouble !== undefined) tell(trouble);
  return {
    look: () => detailsOf(readings.map(({ details }) => details)),
    fill: view => fillSlow(view, readings, pretence.slowBootNs),
  };
}

/** The process that can hang, for the trees of the report. */
function openSlow(options: SenderOptions, tell: (message: string) => void): SlowSide {
  const world = { proc: options.proc.at(-1), sys: options.sys.at(-1), ...placesOf(options) };
  return new SlowSide({ sources, world, intervalMs: options.interval, tell });
}

/** What a report is made of: what the collector reads, and beside it the slow side. */
function openSource(options: SenderOptions, pretence: Pretence | undefined, log: Log) {
  const tell = (message: string) => log.warn(message);
  const collector = openCollector(options, tell, pretence);
  const slow = pretence === undefined ? openSlow(options, tell) : undefined;
  const slowPart = slow ?? pretendSlow(options, pretence as Pretence, tell);
  const source: ReportSource = {
    collect(view, nowNs) {
      collector.collect(view, nowNs, slowPart.look());
      slowPart.fill(view);
    },
  };
  const close = () => {
    collector.close();
    slow?.stop();
  };
  return { source, slow, close };
}

/** Which sender this is, on which boot. */
function runOf(options: SenderOptions, pretence: Pretence | undefined, log: Log) {
  const id = bootId(options.proc.at(-1) ?? '/proc');
  if (id === undefined) log.warn('cannot read the boot id: reboots of this node will not be seen');
  return {
    agentVersion: pretence?.agentVersion ?? versionNumber(),
    bootId: id ?? 0n,
    startBootNs: pretence?.startBootNs ?? here.clocks().bootNs,
  };
}

function goodbyeText({ count, failed }: Destinations, reports: number, goodbyes: number): string {
  const to = goodbyes === count ? '' : ` to ${goodbyes} of ${count}`;
  return `said goodbye${to} after ${reports} reports${failed > 0 ? `, ${failed} could not be delivered` : ''}`;
}

/** Reads the command line and the file; refuses options that contradict each other. */
function readOptions(argv: string[]): SenderOptions {
  const { values, given } = parseVerb(verb, argv);
  const { check } = values;
  const options = check ? { ...values, once: true, to: values.to.filter(to => to !== '-') } : values;
  if (options.to.length === 0) throw new UsageError('nowhere to report to; write --to ADDR, or --to - for stdout');
  if (options.pretend !== undefined && !options.once) throw new UsageError('--pretend makes one report; add --once');
  if (options.paceMin > options.paceMax)
    throw new UsageError('--pace-min is longer than --pace-max; give a shorter --pace-min or a longer --pace-max');
  if (!given.has('name') && isNobodysName(shortHostName('name')) && !options.to.every(isHere))
    throw options.once ? new Failure(UNNAMED, 1) : new UsageError(UNNAMED);
  return options;
}

const UNNAMED = "this machine has no host name yet, and localhost is every machine's; set one, or write --name NAME";

/** Whether a destination is this machine; of names only localhost is. */
function isHere(to: Address | '-'): boolean {
  if (to === '-') return true;
  const host = to.host.replace(/^::ffff:(?=\d+\.)/i, '');
  if (/^127\.|^::1$/.test(host) && isIP(host) !== 0) return true;
  const own = Object.values(networkInterfaces()).some(all => all?.some(({ address }) => address === host));
  return own || /\.localhost$/.test(host) || isNobodysName(host.split('.', 1)[0] ?? '');
}

/** The options, once this machine has a name; undefined if it is to end before. */
async function optionsWhenNamed(argv: string[], service: Service, log: Log): Promise<SenderOptions | undefined> {
  let stop: AbortSignal | undefined;
  for (;;)
    try {
      return readOptions(argv);
    } catch (error) {
      if (!(error instanceof UsageError) || error.message !== UNNAMED) throw error;
      if (stop === undefined) {
        stop = onStop();
        process.on('SIGHUP', () => undefined); // Asked again each second.
        log.warn(`${UNNAMED}; waits for that`);
        service.ready('waits for a host name');
        service.watch(() => true);
      }
      await pause(1000, stop);
      if (stop.aborted) return undefined;
    }
}

export async function main(argv: string[]): Promise<number> {
  const log = createLog(verb.name);
  const service = new Service();
  const options = await optionsWhenNamed(argv, service, log);
  if (options === undefined) return 0;
  const { pretend } = options;
  const pretence = pretend === undefined ? undefined : usable(() => readPretence(pretend));
  const identity = runOf(options, pretence, log);
  const course = keysAtStart(service.isManaged, () => courseOf(options, identity));
  const destinations = new Destinations(options, log);
  const { source, slow, close } = openSource(options, pretence, log);
  const send: Send = (report, intervalMs, done) => destinations.send(report, intervalMs, done);
  const pace = new PaceFile(options, log);
  let inForce = options;
  const helm: Helm = {
    pace: (now, ownMs) => pace.look(now, ownMs),
    know: intervalMs => destinations.know(intervalMs),
    onInterval: () => service.status(describe()),
    onGrid: intervalMs => slow?.change(intervalMs),
  };
  const loop = new Loop(course, source, send, pretence?.world ?? here, helm, pretence);
  const describe = () => {
    const { rateMs, goalMs } = loop;
    const steps = rateMs === goalMs ? '' : `, in steps up to ${formatDuration(goalMs)},`;
    return `${inForce.name} reports every ${formatDuration(rateMs)}${steps} to ${destinations.names}`;
  };
  try {
    if (options.check) return (await destinations.check(options.name)) ? 0 : 1;
    slow?.start();
    if (options.once) {
      await slow?.closed();
      return (await loop.once()) === destinations.count ? 0 : 1;
    }
    const stop = new AbortController();
    onStop().addEventListener('abort', () => {
      service.stopping();
      stop.abort();
    });
    onStdoutGone(() => stop.abort()); // It says goodbye to the others.
    onHangup(log, service, describe, () => {
      const changed = readOptions(argv);
      const course = courseOf(changed, identity);
      inForce = changed;
      pace.change(changed);
      loop.change(course, { forget: () => destinations.forget(), swap: () => destinations.change(changed) });
      log.info(`read its options again: ${describe()}`);
    });
    const { reports, goodbyes } = await loop.run(stop.signal, () => {
      tellParent({ reporting: destinations.names });
      log.info(`ready: ${describe()}`);
      service.ready(describe());
      // This runs in the main loop: if it is called, the loop does not hang.
      service.watch(() => true);
    });
    log.info(goodbyeText(destinations, reports, goodbyes));
    return 0;
  } finally {
    close();
    await destinations.close();
  }
}
