// What is wrong with the monitor itself: its receiver, its lists, what it drops, and when it could not hear.

import { deafText, gapsOf } from '../changes/deafness.js';
import type { Survey } from '../query/survey.js';
import { earlyDrops, reloadFailed, sinceMs } from '../shm/header.js';
import { doubtMs } from '../shm/links.js';
import { stalledText } from '../shm/noboard.js';
import type { Snapshot } from '../shm/snapshot.js';
import { formatDuration } from '../text/durations.js';
import { foldParts } from '../text/hostlists.js';
import type { Anomaly, Finding } from './finding.js';
import type { TroubleKind } from './kinds.js';
import { receiverTexts } from './rejections.js';

/** Something about no node, with one sentence. */
function say(kind: TroubleKind, of: Anomaly['kind'], text: string, what: string, more: Partial<Finding> = {}): Finding {
  return { kind, nodes: [], what, ...more, sentences: [{ kind: of, nodes: [], text }] };
}

/** That the receiver has not listened for long enough, on a link or at all. */
export function listenedText(
  where: string,
  listened: number,
  doubt: number,
  silentAfter: number,
  which: string,
): string {
  if (doubt > 0)
    return (
      `the receiver could not hear${where}, and intervals may have grown in that time: ` +
      `no node${which} counts as silent for another ${formatDuration(doubt + silentAfter)}`
    );
  return (
    `the receiver has been listening${where} for only ${formatDuration(listened)}: ` +
    `no node${which} counts as silent before ${formatDuration(silentAfter)}`
  );
}

/**
 * Since when it listens, ms before the look: since the end of its last pause, also while intervals are in doubt, or
 * since its start. Undefined: not known.
 */
function listensSince(snapshot: Snapshot): number | undefined {
  const { evidence, listenedMs, heartbeatAgeMs = 0 } = snapshot;
  const listens = listenedMs + heartbeatAgeMs;
  const pause = gapsOf(snapshot).find(({ link, isWhole }) => link === undefined && isWhole);
  if (pause !== undefined && pause.to >= listens && pause.to - listens <= evidence.longestIntervalMs) return pause.to;
  return doubtMs(evidence) > 0 ? undefined : listens;
}

/** What the receiver says of itself, and if no node has a report, why. That IP fragments are not joined is said of their link. */
export function receiverFindings(snapshot: Snapshot, hasReport: boolean): Finding[] {
  const unknown = (text: string, since?: number) =>
    say('receiver', 'receiver', `${text}: the state of nodes is unknown`, `${text}: the state of nodes is unknown`, {
      sinceMs: since,
    });
  if (snapshot.retired) return [unknown('another board has replaced this one')];
  if (snapshot.stalled) return [unknown(stalledText(snapshot), snapshot.heartbeatAgeMs)];
  const notice = hasReport ? '' : snapshot.notice;
  const found = notice === '' ? [] : [say('receiver', 'receiver', notice, notice, { cause: 'empty' })];
  const part = reloadFailed(snapshot);
  for (const text of receiverTexts(snapshot))
    found.push(
      part !== undefined && !found.some(({ kind }) => kind !== 'receiver')
        ? say(
            'reload',
            'receiver',
            text,
            `the receiver goes on with its old ${part}, because it could not read the new ones`,
            {
              ...{ cause: part, sinceMs: sinceMs(snapshot, snapshot.header.reload_failed_ns ?? 0n) },
            },
          )
        : say('full', 'receiver', text, 'the board is full, and other nodes report: raise --capacity, or forget nodes'),
    );
  const listened = snapshot.listenedMs;
  const silentAfter = Number(snapshot.evidence.silentAfterNs) / 1e6;
  if (listened >= silentAfter) return found;
  const text = listenedText('', listened, doubtMs(snapshot.evidence), silentAfter, '');
  const what = 'the receiver has been listening for a short time only: no node counts as silent yet';
  return [...found, say('starting', 'receiver', text, what, { sinceMs: listensSince(snapshot) })];
}

/** Names that were asked for. */
export function notOnBoardFinding({ notOnBoard }: Survey): Finding[] {
  if (notOnBoard.length === 0) return [];
  const text = `not on the board: ${foldParts(notOnBoard).slice(0, 8).join(',')}`;
  return [say('not_on_board', 'not_on_board', text, text)];
}

/** A smaller share of drops appears in the headline only, because a drop is counted for as long as the board lives. */
const DROPS_SHARE = 10_000;

/** What the kernel dropped, grouped by the remedy. */
export function drops(snapshot: Snapshot): Finding[] {
  const { kernel_drops = 0, unfit_drops = 0, received = 0 } = snapshot.header;
  const found: Finding[] = [];
  const tell = (cause: string, count: number, who: string, why: string) => {
    if (count > 0 && count * DROPS_SHARE > received)
      found.push(
        say('drops', 'drops', who.replace('{}', String(count)) + why, who.replace('{} ', '') + why, { cause }),
      );
  };
  tell(
    'buffer',
    kernel_drops,
    'the kernel dropped {} datagrams',
    ' because a socket buffer was full: see net.core.rmem_max',
  );
  if (snapshot.filtering) {
    const text = 'a flood of junk is being filtered: it counts among the datagrams that the kernel dropped as unfit';
    found.push(say('drops', 'drops', text, text, { cause: 'junk' }));
  } else
    tell(
      'unfit',
      unfit_drops,
      'the kernel dropped {} datagrams',
      ' as unfit, which had a wrong UDP checksum or were filtered as junk: ' +
        'look for a node or a switch whose checksum offload is broken',
    );
  tell(
    'early',
    earlyDrops(snapshot),
    '{} packets',
    ' were dropped before they reached any socket: see net.core.netdev_max_backlog, ' +
      'and the rings of the interfaces (ethtool -g)',
  );
  return found;
}

/** When this master could not hear lately; links have findings of their own. It comes last, because it is over. */
export function deafness(snapshot: Snapshot): Finding[] {
  const text = deafText(snapshot);
  if (text === undefined) return [];
  const found: Finding[] = [{ kind: 'deaf', nodes: [], sentences: [{ kind: 'deaf', nodes: [], text }] }];
  const gaps = gapsOf(snapshot).filter(({ link }) => link === undefined);
  for (const cause of ['deaf', 'overflow'] as const) {
    const some = gaps.filter(({ isWhole }) => isWhole === (cause === 'deaf'));
    const [last] = some;
    if (last === undefined) continue;
    const times =
      some.length > 1 ? { count: some.length, sinceMs: Math.max(...some.map(({ from }) => from)) } : undefined;
    const what = `the receiver ${last.what}`;
    found.push({ kind: 'deaf', cause, nodes: [], what, sinceMs: last.from, endedMs: last.to, times, sentences: [] });
  }
  return found;
}
