// The verb `relay`: publishes a master's board through NATS.

import { readRelayKey } from '../options/keys.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { onHangup, tellLasting } from '../service/hangup.js';
import { createLog, type Log } from '../service/log.js';
import { pause } from '../service/pause.js';
import { tellParent } from '../service/process.js';
import { beginDaemon, type Service } from '../service/service.js';
import { tryBoard } from '../shm/reader.js';
import { Failure, keysAtStart, usable } from '../text/failure.js';
import { NATS_OPTIONS, NatsBus } from './bus.js';
import { accessOf } from './natsaccess.js';
import { headerOf, Relay, SWEEP_MS } from './publisher.js';
import { isRelayName, MOST_BYTES, subjectOf } from './relaywire.js';

export const verb = defineVerb({
  name: 'relay',
  options: ['board', 'owner', 'nats', 'site', 'master', 'key-file', ...NATS_OPTIONS, 'config'],
  examples: [
    'beoboard keygen --relay /etc/beoboard/relay.key',
    'beoboard relay --nats nats://10.0.0.1:4222 --nats nats://10.0.0.2:4222 --site home --key-file /etc/beoboard/relay.key',
  ],
  notes:
    'Run it on the master, beside the receiver. It only reads the board. The cluster name is that of the board: a-z 0-9 _ -. Subjects begin with beoboard.v1.SITE.CLUSTER.MASTER. Every message is signed with --key-file; mirrors have the public key. Whoever has the secret key can publish for this master. A second relay of the same name waits until the first has been silent for 3 s. At SIGHUP it reads its options and files again; the board, the site and the name need a restart. SIGTERM and SIGINT stop it.',
});

const LOOK_MS = 1000;
/** The time from one report of the status to the next. */
const REPORT_MS = 100;

/** The cluster of the board, as soon as there is a board; undefined: the program was told to end before. */
async function clusterOf(path: string, owner: number | string | undefined, log: Log, stop: AbortSignal) {
  for (;;) {
    const opened = tryBoard(path, owner);
    if (opened.state === 'ready') {
      const header = headerOf(opened.board);
      opened.board.unmap();
      if (header !== undefined && header.mirror_masters !== 0)
        throw new Failure(`${path}: is a mirror itself; run beoboard relay on the master, beside its receiver`, 1);
      if (header !== undefined) return header.cluster_name;
    } else log.seldom('board', `${path}: ${opened.why}; waits for it`);
    if (stop.aborted) return undefined;
    await pause(LOOK_MS, stop);
    if (stop.aborted) return undefined;
  }
}

/** One line that says what is wrong, or where it publishes. */
function statusLine(relay: Relay, bus: NatsBus, subject: string): string {
  if (!bus.connected) return `${subject}: no server is reached`;
  if (!relay.runs) return `${subject}: waits until no other relay of this name is heard`;
  if (relay.why !== '') return `${subject}: ${relay.why}`;
  return `${subject} by ${bus.server}, ${relay.counts.batches} batches, ${relay.counts.pongs} pings answered`;
}

/** Whether the relay has published since the last call, or cannot. */
function progress(relay: Relay, bus: NatsBus): () => boolean {
  let last = relay.counts.batches;
  return () => {
    const moved = relay.counts.batches !== last || !bus.connected || !relay.runs || relay.why !== '';
    last = relay.counts.batches;
    return moved;
  };
}

/** Says what is wrong, and once that the relay publishes. */
function reporter(relay: Relay, bus: NatsBus, subject: string, service: Service, log: Log): () => void {
  let isReady = false;
  return () => {
    service.status(statusLine(relay, bus, subject));
    if (bus.connected && bus.mostBytes > 0 && bus.mostBytes < MOST_BYTES)
      log.seldom('payload', `max_payload of ${bus.server} is ${bus.mostBytes}: batches need ${MOST_BYTES}`);
    if (isReady || relay.counts.batches === 0) return;
    isReady = true;
    log.info(`ready: publishes ${subject}`);
    tellParent({ publishing: subject });
  };
}

const LASTING = ['board', 'owner', 'site', 'master'] as const;

/** Reads the options, and the files that they name. Throws a UsageError. */
function read(argv: string[]) {
  const options: ValuesOf<typeof verb> = parseVerb(verb, argv).values;
  const need = (name: string) => new UsageError(`--${name} is needed; see beoboard relay --help`);
  const { nats, site, keyFile } = options;
  if (nats.length === 0) throw need('nats');
  if (site === undefined) throw need('site');
  if (keyFile === undefined) throw need('key-file');
  usable(() => accessOf(options));
  return { options, site, key: usable(() => readRelayKey(keyFile)) };
}

export async function main(argv: string[]): Promise<number> {
  const log = createLog(verb.name);
  const { service, stop, stopped } = beginDaemon();
  let inForce = keysAtStart(service.isManaged, () => read(argv));
  const { options, site } = inForce;
  let running: { relay: Relay; bus: NatsBus; status(): string } | undefined;
  onHangup(
    log,
    service,
    () => running?.status() ?? 'waits for the board',
    () => {
      inForce = read(argv);
      tellLasting(log, LASTING, options, inForce.options);
      running?.bus.change(inForce.options);
      running?.relay.change(inForce.key);
      log.info('read its options again');
    },
  );
  const cluster = await clusterOf(options.board, options.owner, log, stop);
  if (cluster === undefined) return 0;
  if (!isRelayName(cluster))
    throw new Failure(
      `${options.board}: the board's cluster "${cluster}" is not a name for a subject; give beoboard receive a --cluster of a-z 0-9 _ -`,
      1,
    );
  const subject = subjectOf(site, cluster, options.master);
  const { key } = inForce;
  const lost = (why: string) => log.seldom('lost', why);
  const bus = usable(() => new NatsBus(`beoboard relay ${subject}`, inForce.options, log, lost));
  const relay = new Relay({ path: options.board, owner: options.owner, subject, cluster, key, log }, bus);
  const status = () => statusLine(relay, bus, subject);
  running = { relay, bus, status };
  const sweep = setInterval(() => relay.step(), SWEEP_MS);
  service.watch(progress(relay, bus));
  service.ready(status());
  log.info(`relays ${options.board} as ${subject}`);
  const watch = setInterval(reporter(relay, bus, subject, service, log), REPORT_MS);
  await stopped;
  clearInterval(sweep);
  clearInterval(watch);
  relay.end();
  await bus.close();
  log.info(`clean shutdown; ${relay.counts.batches} batches, ${relay.counts.bytes} bytes`);
  return 0;
}
