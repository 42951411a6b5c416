// The receiver: a thread in C receives, stamps and stores the datagrams; this code configures, watches and ends it.

import { lookup } from 'node:dns/promises';
import { clusterId } from '../layout/identity.js';
import { enums } from '../layout/layout.gen.js';
import { Receiver, type ReceiverStatus, type Writer } from '../native/index.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { onHangup, tellLasting } from '../service/hangup.js';
import { createLog, type Log } from '../service/log.js';
import { pause } from '../service/pause.js';
import { tellParent } from '../service/process.js';
import { beginDaemon, passedSockets, type Service } from '../service/service.js';
import { readTrust, tellTrust } from '../shm/trust.js';
import { type BoardOptions, openWriter, writerOptions } from '../shm/writer.js';
import { formatAddress } from '../text/addresses.js';
import { writeDuration } from '../text/durations.js';
import { Failure } from '../text/failure.js';
import { words } from '../text/tables.js';
import { counted } from '../text/text.js';
import { Absence } from './absence.js';
import { Control, controlPath, sortCleared, sortOut } from './control.js';
import { type NamedAt, tellBuffer, tellChanges, tellRoom } from './housekeeping.js';
import { leaveNotice, noticeText } from './notice.js';
import { isPortShared } from './sharedport.js';

export const verb = defineVerb({
  name: 'receive',
  options: words(
    'board listen group interface local cluster nodes capacity uncertain-after silent-after longest-interval',
    'forget-after drain key-file require clock-window config',
  ),
  examples: [
    'beoboard receive',
    'beoboard receive --listen 10.0.0.1 --cluster alpha --nodes node[001-128]',
    'beoboard receive --group 239.255.86.77 --interface eth0',
    'beoboard receive --key-file /etc/beoboard/cluster.key --require node',
    'beoboard receive --listen 127.0.0.1:0 --board /dev/shm/my/board',
  ],
  notes:
    'Sockets passed by systemd replace --listen. Without --nodes, every name that reports gets a record until the board is full. Without --key-file, signatures are not checked. Once a name has proved a key, reports with a weaker one are rejected; beoboard forget releases the name. With --forget-after, nodes that were silent or had left for so long are removed, once a day at most; with --nodes, none is. SIGHUP reads --config, the node list and the key file again; nodes, capacity, keys, limits and --local can change without losing a report. SIGTERM and SIGINT stop it; the board stays and can be read.',
});

type ReceiverOptions = ValuesOf<typeof verb>;

/** Code that runs so rarely is not optimised, and a millisecond of it each second is a twentieth of 10,000 reports. */
const LOOK_MS = 2000;

/** One line about us that a service manager shows. */
function statusLine(bound: readonly string[], { nodes, filtering, trouble }: ReceiverStatus): string {
  const troubles = [...(filtering ? ['a flood of junk is dropped by the kernel'] : []), ...(trouble ? [trouble] : [])];
  return [`listening on ${bound.join(', ')}, ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`, ...troubles].join('; ');
}

/** Whether the heartbeat has moved since the last call. */
function heartbeats(receiver: Receiver): () => boolean {
  let last = receiver.status().heartbeatNs;
  return () => {
    const { heartbeatNs } = receiver.status();
    const moved = heartbeatNs !== last;
    last = heartbeatNs;
    return moved;
  };
}

/** Takes a socket that was bound for us; returns its address. */
function adopt(receiver: Receiver, fd: number): string {
  const address = formatAddress(receiver.adopt(fd));
  // This check comes last, when nobody else can bind any more.
  if (isPortShared(fd))
    throw new Error(
      `another program also listens at ${address} too, and may take reports; see ss -uapn, end it, and restart the .socket unit`,
    );
  return address;
}

/** Takes or opens every socket, joins every group, and adds their addresses to `bound`. */
async function listen(receiver: Receiver, options: ReceiverOptions, bound: string[]): Promise<void> {
  const passed = passedSockets();
  for (const fd of passed) bound.push(adopt(receiver, fd));
  for (const { host, port } of passed.length > 0 ? [] : options.listen) {
    const { address } = await lookup(host).catch(() => {
      throw new Error(`cannot listen on ${host}: the name is not known`);
    });
    // An address that was given twice is opened once.
    if (port !== 0 && bound.includes(formatAddress({ host: address, port }))) continue;
    bound.push(formatAddress({ host: address, port: receiver.listen(address, port) }));
  }
  for (const { host, port } of options.group)
    bound.push(formatAddress({ host, port: receiver.join(host, port, options.interface) }));
}

/** The longest path of a Unix socket, bytes: unix(7), without the zero at its end. */
const MOST_SOCKET_PATH = 107;

/** The shortest value of either limit. */
const LEAST_LIMIT_MS = 100;

/** The advice if --silent-after is not above --uncertain-after: less than half of it leaves time for uncertain. */
function limitsAdvice(silentAfter: number): string {
  const fitting = Math.max(LEAST_LIMIT_MS, Math.floor((silentAfter * 0.4) / 100) * 100);
  return fitting < silentAfter
    ? `give both, as in --uncertain-after ${writeDuration(fitting)} --silent-after ${writeDuration(silentAfter)}`
    : 'give a longer --silent-after';
}

/** Reads the command line and the file; refuses options that contradict each other. */
function readOptions(argv: string[]): ReceiverOptions {
  const { values: options } = parseVerb(verb, argv);
  if (Buffer.byteLength(controlPath(options.board)) > MOST_SOCKET_PATH)
    throw new UsageError(
      `--board is too long for a socket beside it (${controlPath('PATH')}); choose a path of at most ${MOST_SOCKET_PATH - controlPath('').length} bytes`,
    );
  const { uncertainAfter, silentAfter } = options;
  if (uncertainAfter >= silentAfter)
    throw new UsageError(
      `--uncertain-after ${writeDuration(uncertainAfter)} is not below --silent-after ${writeDuration(silentAfter)}; ${limitsAdvice(silentAfter)}`,
    );
  const { nodes, capacity } = options;
  if (nodes !== undefined && nodes.length > capacity)
    throw new UsageError(`${nodes.length} nodes do not fit; give --capacity ${nodes.length}`);
  if (options.interface !== undefined && options.group.length === 0)
    throw new UsageError('--interface is only for multicast groups; add --group, or leave it out');
  if (options.forgetAfter !== undefined && options.require === 'none')
    throw new UsageError(
      '--forget-after and --require none do not go together: whoever is forgotten could be forged without a signature; leave one out',
    );
  return options;
}

/** The longest interval by which a node is judged: where reports without a signature count, and where none does. */
const [LONGEST_MS, LONGEST_PROVED_MS] = [60_000, 600_000];

/** Reads the key file, too. */
function boardOptions(options: ReceiverOptions, trust: BoardOptions['trust']): BoardOptions {
  const { board, cluster, capacity, uncertainAfter, silentAfter, nodes } = options;
  // Where anybody can send a report that counts, one that says ten minutes must not hold for 45.
  const isProved = options.keyFile !== undefined && options.require !== 'none';
  const longestInterval = options.longestInterval ?? (isProved ? LONGEST_PROVED_MS : LONGEST_MS);
  const limits = { uncertainAfter, silentAfter, longestInterval };
  return { path: board, cluster: cluster ?? '', capacity, ...limits, nodes: nodes ?? [], trust };
}

/** The time between two tries to read the key file at the start, ms. */
const AGAIN_MS = 1000;

/**
 * The same at the start; a UsageError: the key file has to be tried again. A receiver without its keys must not run,
 * and a service manager would not start one again that ended for wrong usage.
 */
function firstOptions(options: ReceiverOptions, service: Service): BoardOptions | UsageError {
  try {
    return boardOptions(options, readTrust(options));
  } catch (error) {
    const cause = error instanceof UsageError ? error.cause : undefined;
    if (cause?.about === 'keys' && (cause.isDenied || service.isManaged)) return error as UsageError;
    throw error;
  }
}

/** The number of what could not be read again. */
const partOf = ({ cause }: UsageError) => enums.reload_part.indexOf(cause?.about ?? 'options');

const LASTING = ['board', 'listen', 'group', 'interface', 'cluster', 'drain'] as const;

/** Reads node list, capacity, keys and limits again, and returns those in force; logs which changes need a restart. */
function change(
  receiver: Receiver,
  options: ReceiverOptions,
  changed: ReceiverOptions,
  before: BoardOptions,
  log: Log,
): BoardOptions {
  tellLasting(log, LASTING, options, changed);
  const board = boardOptions(changed, readTrust(changed));
  try {
    receiver.change({ ...writerOptions(board), path: options.board });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  receiver.setLocal(changed.local.flat());
  const { nodes, capacity } = changed;
  log.info(
    `read its options again: ${nodes === undefined ? 'any node' : counted(nodes.length, 'node')}, room for ${capacity}`,
  );
  tellTrust(board.trust, before.trust, log);
  return board;
}

/** The same, as soon as the key file can be read; undefined: the program has to end before. */
async function readableOptions(options: ReceiverOptions, service: Service, stop: AbortSignal, log: Log) {
  let writer: Writer | undefined;
  let control: Control | undefined;
  try {
    for (;;) {
      const board = firstOptions(options, service);
      if (!(board instanceof UsageError)) return board;
      const why = `${board.message}; no report is taken until it can be read`;
      log.seldom('keys', why);
      if (writer === undefined) {
        // Readers learn from it what is missing. Nothing is delivered to it, so that it needs no keys.
        writer = opened(() => openWriter(boardOptions(options, undefined)));
        control = controlOf(options, writer, log);
        control.open();
        // It has started: a manager would end a start that lasts, after a minute in which nobody sees why.
        service.ready(why);
        service.watch(() => true);
      } else service.status(why);
      leaveNotice(options.board, `waits for its key file: ${board.message}`);
      await pause(AGAIN_MS, stop);
      if (stop.aborted) return undefined;
    }
  } finally {
    control?.close();
    writer?.close();
  }
}

/** Throws a Failure for an Error. */
function opened<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw new Failure((error as Error).message, 1);
  }
}

const controlOf = ({ board }: ReceiverOptions, of: Pick<Writer, 'forget' | 'clear'>, log: Log) =>
  new Control(
    board,
    { forget: names => sortOut(names, of.forget(names)), clear: names => sortCleared(names, of.clear(names)) },
    log,
  );

/** Opens the sockets and the board, and begins to receive; undefined: the program has to end before. */
async function start(
  receiver: Receiver,
  options: ReceiverOptions,
  board: BoardOptions,
  stop: AbortSignal,
  stopped: Promise<unknown>,
) {
  const bound: string[] = [];
  let displace = () => {};
  const displaced = new Promise<void>(resolve => {
    displace = resolve;
  });
  try {
    receiver.setLocal(options.local.flat());
    await Promise.race([listen(receiver, options, bound), stopped]);
    if (stop.aborted) return undefined;
    receiver.start(openWriter(board), displace);
  } catch (error) {
    receiver.stop();
    throw new Failure((error as Error).message, 1);
  }
  return { bound, displaced };
}

export async function main(argv: string[]): Promise<number> {
  const options = readOptions(argv);
  const log = createLog(verb.name);
  const { service, stop, stopped } = beginDaemon();
  const first = await readableOptions(options, service, stop, log);
  if (first === undefined) return 0;
  let [inForce, board] = [options, first];
  const receiver = new Receiver(BigInt(Math.round(options.drain * 1e6)));
  const started = await start(receiver, options, board, stop, stopped);
  if (started === undefined) return 0;
  const { bound, displaced } = started;
  let last = receiver.status();
  const named: NamedAt = new Map();
  tellBuffer(last.receiveBuffer, log);
  tellRoom(0, last.nodes, board, log);
  const absence = new Absence(options.board, names => receiver.forget(names), log);
  const control = controlOf(options, receiver, log);
  control.open();
  const status = () => statusLine(bound, receiver.status());
  let noticed = '';
  const notice = () => {
    const text = last.accepted > 0 ? '' : noticeText(bound, last, clusterId(inForce.cluster));
    if (text !== noticed) leaveNotice(options.board, text);
    noticed = text;
  };
  notice();
  onHangup(
    log,
    service,
    status,
    () => {
      const changed = readOptions(argv);
      board = change(receiver, options, changed, board, log);
      inForce = changed;
    },
    error => receiver.reloadFailed(partOf(error)),
  );
  if (board.trust === undefined) log.warn('without --key-file: reports are not verified, and any sender is trusted');
  tellTrust(board.trust, undefined, log);
  tellParent({ listening: bound });
  log.info(`ready: listening on ${bound.join(', ')}, board ${options.board}`);
  service.ready(status());
  service.watch(heartbeats(receiver));
  const watch = setInterval(() => {
    const now = receiver.status();
    tellChanges(last, now, log, named);
    tellRoom(last.nodes, now.nodes, board, log);
    // With a list, all nodes of the board are in it.
    absence.look(inForce.nodes === undefined ? inForce.forgetAfter : undefined);
    service.status(statusLine(bound, now));
    control.keep();
    last = now;
    notice();
  }, LOOK_MS);
  await Promise.race([stopped, displaced]);
  clearInterval(watch);
  absence.close();
  control.close();
  const { displaced: isDisplaced, trouble } = receiver.status();
  receiver.stop();
  if (isDisplaced) throw new Failure(`${trouble}; it took the board when the lock was gone, so this one ended`, 1);
  log.info(`clean shutdown; the board stays at ${options.board}`);
  return 0;
}
