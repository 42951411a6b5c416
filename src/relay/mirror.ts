// The verb `mirror`: a local board that mirrors a master's board, wherever NATS reaches.

import { readRelayPublicKey } from '../options/keys.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { onHangup, tellLasting } from '../service/hangup.js';
import { createLog, type Log } from '../service/log.js';
import { tellParent } from '../service/process.js';
import { beginDaemon } from '../service/service.js';
import { readTrust, tellTrust } from '../shm/trust.js';
import { Failure, keysAtStart, usable } from '../text/failure.js';
import { words } from '../text/tables.js';
import { NATS_OPTIONS, NatsBus } from './bus.js';
import { RelayFollower, STEP_MS } from './follower.js';
import { accessOf } from './natsaccess.js';

export const verb = defineVerb({
  name: 'mirror',
  options: [
    ...words('board nats site cluster trust key-file require clock-window capacity name'),
    ...NATS_OPTIONS,
    'config',
  ],
  examples: [
    'beoboard mirror --nats nats://10.0.0.1:4222 --site home --cluster alpha --trust m1=/etc/beoboard/m1.pub --trust m2=/etc/beoboard/m2.pub',
    'beoboard status',
  ],
  notes:
    'Every command that reads a board can read the mirror. It follows one of the masters in --trust at a time, and takes states from it: a node is silent if that master says so, and uncertain if another master hears it. It changes masters, and starts a new board, when the receiver or the relay of the master has ended, when it has been unheard for 3 s or is stalled, or when another has had a tenth more nodes for 10 s. beoboard receive and forget do not accept its board. Answers are sent to _INBOX_NAME, where NAME is --name. With --key-file, the cluster key, each report must carry a valid signature of its node and be newer than the last; whoever has this file can send reports for every node. At SIGHUP it reads its options and files again; the board, its size, site, cluster, name and the names of the masters need a restart. SIGTERM and SIGINT stop it; the board stays, and its nodes are unknown.',
});

/** As many as the board's mirror fields can hold. */
const MOST_MASTERS = 6;
/** The time from one report of the status to the next. */
const REPORT_MS = 1000;

/** One line that says what is wrong, or which master it follows. */
function statusLine(follower: RelayFollower, bus: NatsBus, cluster: string): string {
  if (!bus.connected) return `mirror of ${cluster}: no server is reached`;
  const { followed, heard, trouble, mirror } = follower;
  if (trouble.why !== '') return trouble.why;
  if (followed === undefined) return `mirror of ${cluster}: no master is heard`;
  const others = heard.filter(name => name !== followed);
  const also = others.length > 0 ? ` (${others.join(', ')} heard)` : '';
  const missing = mirror.missing > 0 ? `, ${mirror.missing} nodes missing` : '';
  return `mirror of ${cluster} by ${followed}${heard.includes(followed) ? '' : ', which is unheard'}${also}${missing}`;
}

const LASTING = ['board', 'site', 'cluster', 'capacity', 'name'] as const;

type MirrorConfig = ReturnType<typeof read>;

/** Reads the options, and the files that they name. Throws a UsageError. */
function read(argv: string[]) {
  const options: ValuesOf<typeof verb> = parseVerb(verb, argv).values;
  const wrong = (what: string) => new UsageError(what);
  const { nats, site, cluster, trust } = options;
  if (nats.length === 0) throw wrong('--nats is needed; see beoboard mirror --help');
  if (site === undefined) throw wrong('--site is needed; see beoboard mirror --help');
  if (cluster === undefined) throw wrong('--cluster is needed; see beoboard mirror --help');
  if (trust.length === 0)
    throw wrong('--trust is needed: a mirror trusts nothing without the public key of a relay; give MASTER=FILE');
  if (trust.length > MOST_MASTERS) throw wrong(`--trust: a mirror knows at most ${MOST_MASTERS} masters`);
  const twice = trust.find(({ name }, i) => trust.findIndex(other => other.name === name) < i);
  if (twice !== undefined) throw wrong(`--trust names ${twice.name} twice; leave one out`);
  const masters = trust.map(({ name, path }) => ({ name, key: usable(() => readRelayPublicKey(path)) }));
  usable(() => accessOf(options));
  return { options, site, cluster, masters, trust: readTrust(options) };
}

function follow(
  { options, site, cluster, masters, trust }: MirrorConfig,
  log: Log,
): { follower: RelayFollower; bus: NatsBus } {
  const { board: path, capacity } = options;
  let follower: RelayFollower | undefined;
  const lost = (why: string, slow: boolean) => {
    log.seldom('lost', `${why}: a gap`);
    follower?.lost(slow);
  };
  const bus = usable(() => new NatsBus(`beoboard mirror ${cluster}`, options, log, lost));
  // A word of subjects has no dot.
  const name = options.name.replaceAll('.', '_');
  try {
    follower = new RelayFollower({ path, site, cluster, masters, capacity, trust, log }, bus, name);
  } catch (error) {
    void bus.close();
    throw new Failure((error as Error).message, 1);
  }
  return { follower, bus };
}

function reporter(follower: RelayFollower, log: Log): () => void {
  let [full, unproved] = [0, 0];
  return () => {
    const { mirror, trouble } = follower;
    if (trouble.why !== '') log.seldom('path', trouble.why);
    if (mirror.full > full)
      log.seldom('full', 'the master has more nodes than there is room for; give a higher --capacity');
    // The counters of a new board begin at 0.
    if (mirror.unproved > unproved)
      log.seldom(
        'unproved',
        `${mirror.unproved - unproved} reports had no valid signature with a key of --key-file, or were repeated: not accepted, their nodes are uncertain`,
      );
    ({ full, unproved } = mirror);
  };
}

export async function main(argv: string[]): Promise<number> {
  const log = createLog(verb.name);
  const { service, stop, stopped } = beginDaemon();
  let inForce = keysAtStart(service.isManaged, () => read(argv));
  const { options, cluster } = inForce;
  const { follower, bus } = follow(inForce, log);
  const status = () => statusLine(follower, bus, cluster);
  service.ready(status());
  service.watch(() => true);
  onHangup(log, service, status, () => {
    const { trust: before } = inForce;
    inForce = read(argv);
    tellLasting(log, LASTING, options, inForce.options);
    if (!follower.change(inForce.masters, inForce.trust))
      log.warn('--trust names other masters, which needs a restart: the old ones stay');
    bus.change(inForce.options);
    log.info('read its options again');
    tellTrust(inForce.trust, before, log);
  });
  tellTrust(inForce.trust, undefined, log);
  log.info(`ready: board ${options.board}, a mirror of ${cluster}`);
  tellParent({ board: options.board });
  let displace = () => {};
  const displaced = new Promise<void>(resolve => {
    displace = resolve;
  });
  const step = setInterval(() => {
    follower.step();
    if (follower.trouble.taken) displace();
  }, STEP_MS);
  const report = reporter(follower, log);
  const watch = setInterval(() => {
    service.status(status());
    report();
  }, REPORT_MS);
  await Promise.race([stopped, displaced]);
  clearInterval(step);
  clearInterval(watch);
  const { why, taken } = follower.trouble;
  follower.end();
  await bus.close();
  if (taken && !stop.aborted)
    throw new Failure(`${why}; it took the board when the lock was gone, so this one ended`, 1);
  log.info(`clean shutdown; the board stays at ${options.board}`);
  return 0;
}
