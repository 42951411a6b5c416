// Reports what happens in the receive thread: rejections, drops, and trouble. Changes nothing.

import { constants, enums } from '../layout/layout.gen.js';
import type { ReceiverStatus, SenderEntry } from '../native/index.js';
import type { Log } from '../service/log.js';
import type { BoardOptions } from '../shm/writer.js';
import { formatDuration } from '../text/durations.js';
import { fold } from '../text/hostlists.js';
import { bySource, type RejectedSource } from '../text/rejectedsources.js';
import { thousands } from '../text/text.js';

const WANTED_BUFFER = 64 * 1024 * 1024;

/** Logs the buffer size that the kernel granted, and what to do if it is less than requested. */
export function tellBuffer(granted: number, log: Log): void {
  const reports = thousands(Math.floor(granted / constants.stat.buffer_bytes));
  const granting = `the kernel granted a socket buffer for ${reports} reports at once`;
  // The kernel doubles the requested size for its own overhead.
  if (granted >= 2 * WANTED_BUFFER) log.info(granting);
  else log.warn(`${granting}; for more set net.core.rmem_max=${WANTED_BUFFER}`);
}

/** Of the room on a board, what is left when it has to be said. */
const LAST_PART = 10;

/** Logs when the last tenth of the board begins to fill, unless its nodes are those of a list. */
export function tellRoom(before: number, after: number, { capacity, nodes }: BoardOptions, log: Log): void {
  const isLast = (count: number) => (capacity - count) * LAST_PART < capacity;
  if (nodes.length > 0 || isLast(before) || !isLast(after)) return;
  log.warn(
    `the board has room for ${capacity} nodes and has ${after}: give a higher --capacity, or remove nodes that are gone with beoboard forget or --forget-after`,
  );
}

/** A sender is named at most once in this time. */
const NAMED_EVERY_MS = 60_000;
/** At most so many senders are named, so that invented addresses cannot fill the log. */
const NAMED_MOST = 20;

/** Late reports are not the sender's fault: newer ones had arrived. */
const LATE = enums.reason.indexOf('late');

/** Reasons for which the name in a report proves nothing: such a source is named once, whatever names it claims. */
const UNPROVED = (['auth_missing', 'key_id', 'tag'] as const).map(reason => enums.reason.indexOf(reason));

/** When each sender was named, by what identifies it. */
export type NamedAt = Map<string, number>;

const identityOf = ({ reason, address, name }: SenderEntry) => `${reason} ${address} ${name}`;

/** Lines that are logged at most once a minute. */
const newsOf = (sender: SenderEntry) =>
  UNPROVED.includes(sender.reason) ? `${sender.reason} ${sender.address}` : identityOf(sender);

/** A rejected sender: its address, and the name that it claims. */
function whoIs({ reason, address, names }: RejectedSource): string {
  if (names.length === 0) return address;
  const claimed = fold(names);
  if (!UNPROVED.includes(reason)) return `${address} (${claimed})`;
  return `${address}, which claims ${names.length === 1 ? 'the name' : `${names.length} names,`} ${claimed}`;
}

/** Names the senders that were rejected since the last look. `now`: milliseconds of a clock that never goes back. */
function tellSenders(before: ReceiverStatus, after: ReceiverStatus, log: Log, named: NamedAt, now: number): void {
  for (const [news, at] of named) if (now - at >= NAMED_EVERY_MS) named.delete(news);
  const known = new Map(before.senders.map(sender => [identityOf(sender), sender.lastNs]));
  const fresh = after.senders.filter(
    sender => sender.reason !== LATE && known.get(identityOf(sender)) !== sender.lastNs && !named.has(newsOf(sender)),
  );
  const reported: SenderEntry[] = [];
  for (const sender of fresh) {
    const news = newsOf(sender);
    if (named.size >= NAMED_MOST && !named.has(news)) continue;
    named.set(news, now);
    reported.push(sender);
  }
  for (const source of bySource(reported)) {
    const { reason, count, firstNs, lastNs } = source;
    const span = formatDuration(Math.max(0, Number(lastNs - firstNs) / 1e6));
    const often = count === 1 ? 'once' : `${count} times in ${span}`;
    log.warn(`rejected ${whoIs(source)}: ${enums.reason[reason] ?? reason}, ${often}`);
  }
}

/** Compares two looks at the thread and logs what is new: each kind of line at most once a minute, as each sender. */
export function tellChanges(
  before: ReceiverStatus,
  after: ReceiverStatus,
  log: Log,
  named: NamedAt,
  now = performance.now(),
): void {
  if (after.trouble !== '') log.seldom('trouble', after.trouble);
  if (after.publications > before.publications)
    log.warn(
      'the board was deleted, replaced, cut or its mode changed, and was published again; find out who does that',
    );
  const stoodStillMs = (after.stoodStillNs - before.stoodStillNs) / 1e6;
  if (stoodStillMs > 0)
    log.warn(
      `stood still for ${formatDuration(stoodStillMs)}: nothing was heard in that time; find out what stops it, or whether the machine was suspended`,
    );
  tellDrops(before, after, log);
  enums.reason.forEach((reason, i) => {
    const more = (after.refused[i] ?? 0) - (before.refused[i] ?? 0);
    if (more > 0)
      log.seldom(reason, `rejected ${more} ${more === 1 ? 'datagram' : 'datagrams'}: ${reason}${HINTS[reason] ?? ''}`);
  });
  tellSenders(before, after, log, named, now);
}

/** What was dropped, grouped by the remedy. */
function tellDrops(before: ReceiverStatus, after: ReceiverStatus, log: Log): void {
  const full = after.kernelDrops - before.kernelDrops;
  if (full > 0)
    log.seldom('drops', `the kernel dropped ${full} datagrams: the socket buffer was full; see net.core.rmem_max`);
  const unfit = after.unfitDrops - before.unfitDrops;
  if (after.filtering)
    log.seldom(
      'flood',
      `a flood: the kernel drops datagrams that are not reports, and counts them as unfit (${unfit} more)`,
    );
  else if (unfit > 0)
    log.seldom(
      'unfit',
      `the kernel dropped ${unfit} datagrams as unfit: their UDP checksum was wrong, or they were filtered as junk; ` +
        'look for a node or a switch whose checksum offload is broken',
    );
  const early = after.softnetDrops + after.missed - before.softnetDrops - before.missed;
  if (early > 0)
    log.seldom(
      'early',
      `${early} packets were dropped before they reached any socket; see net.core.netdev_max_backlog, ` +
        'and the rings of the interfaces (ethtool -g)',
    );
}

const HINTS: Partial<Record<(typeof enums.reason)[number], string>> = {
  cluster: ' (reports of another cluster; compare --cluster here and there)',
  auth_missing:
    ' (no signature, or a weaker one than --require or an earlier report of the name; see --key-file on the nodes)',
  key_id: ' (signed with a key that is not in --key-file)',
  tag: ' (signed with another key under the same number, or forged)',
  clock: ' (the wall clock of a node is off by more than --clock-window, or somebody sends recordings)',
  stranger: ' (not in --nodes)',
  full: ' (give a higher --capacity)',
  rival: ' (two senders with one name?)',
};
