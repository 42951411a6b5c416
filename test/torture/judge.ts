// What was promised, held against what was done: looks of readers against the reports that truly were passed on, and counters of
// the board against the datagrams that were. Pure: no clock, no I/O.

import type { State } from '../../src/shm/liveness.js';

/** Times are ns of CLOCK_MONOTONIC as numbers. */
const MS = 1e6;
const S = 1e9;
const STALLED_AFTER = 3 * S;
/** How long the kernel may take to put into a socket what was sent within this machine. */
export const ROAD = 50 * MS;
/** How far the clocks of two looks may lie apart: the C library's is good to a tick of the kernel. */
const EDGE = 20 * MS;
/** A reader that was kept from going on for longer has not looked at one moment: only what holds at any time is asked of it. */
const LONG_LOOK = 100 * MS;

/** What a reader saw of a node. */
export interface Seen {
  state: State;
  seq: number;
  /** Whether every report that it saw of it matches its own checksum. */
  whole: boolean;
  /** Of the link by which its newest report came; not given: the receiver's own. */
  link?: LinkSeen;
}

/** What a reader saw of a link: before it looked at the node, and since when it is listened to, after that once more. */
export interface LinkSeen {
  number: number;
  heartbeat: number;
  since: number;
  sinceAfter: number;
}

/** One look of a reader at a board that it could read. */
export interface Look {
  now: number;
  /** How long it took. */
  took: number;
  heartbeat: number;
  since: number;
  stalled: boolean;
  /** The wall clock may have stepped: stamps may be as old as the drain before, rather old than young. */
  stepped: boolean;
  nodes: ReadonlyMap<string, Seen>;
  /** What was done is no reason to call anybody silent: every node goes on reporting, or is sent to a link that is down. */
  blameless?: boolean;
}

export interface Limits {
  uncertainAfter: number;
  silentAfter: number;
  interval: number;
}

/** A report that was newer than all before it when it was passed on. */
interface Passed {
  seq: number;
  goodbye: boolean;
  /** It left after `from` and had left before `to`. */
  from: number;
  to: number;
  /** A heartbeat from before it left: no stamp of it is earlier, whatever the clocks do. */
  heartbeat: number;
  /** Nothing was done that may have kept it from the board. */
  sure: boolean;
}

/** What is true of a node: which of its reports were passed on, and when. */
export class Truth {
  readonly #passed: Passed[] = [];
  #highest = -1;

  /** Nobody can know whether what is added comes to the board and stays there. */
  mistrusted = false;

  /** `lasting`: its sender never starts again, so that its numbers tell which report is which. */
  constructor(readonly lasting = true) {}

  /** A report has been passed on. One that is not newer than all before it is no sign of life, and is left out. */
  add(passed: Passed): void {
    if (passed.seq <= this.#highest) return;
    this.#highest = passed.seq;
    this.#passed.push({ ...passed, sure: passed.sure && !this.mistrusted });
  }

  /** Its sender numbers its reports from 0 again. */
  restart(): void {
    this.#highest = -1;
  }

  /** Nobody knows any more whether what left after that time has come to the board, or is still there. */
  doubt(after: number): void {
    for (let i = this.#passed.length - 1; i >= 0 && (this.#passed[i] as Passed).to > after; i--)
      (this.#passed[i] as Passed).sure = false;
  }

  get highest(): number {
    return this.#highest;
  }

  /** The number of the first that left after that time. */
  firstAfter(time: number): number | undefined {
    let found: number | undefined;
    for (let i = this.#passed.length - 1; i >= 0 && (this.#passed[i] as Passed).from > time; i--)
      found = (this.#passed[i] as Passed).seq;
    return found;
  }

  /** The newest of which this holds. */
  latest(holds: (passed: Passed) => boolean): Passed | undefined {
    return this.#passed.findLast(holds);
  }
}

/** What the reader says of the receiver that cannot be. */
export function* faultsOfLook(look: Look): Generator<string> {
  const age = look.now - look.heartbeat;
  const edge = EDGE + look.took;
  if (look.stalled && age > -S + edge && age < STALLED_AFTER - edge)
    yield `says stalled, but the heartbeat is ${Math.round(age / MS)} ms old`;
  if (!look.stalled && age > STALLED_AFTER + edge)
    yield `says nothing of a heartbeat that is ${Math.round(age / MS)} ms old`;
}

/** Everything that one look shows of a node, and that was promised otherwise. `before`: the highest number that this reader has shown. */
export function* faultsOfNode(
  look: Look,
  seen: Seen | undefined,
  truth: Truth,
  before: number,
  { uncertainAfter, silentAfter, interval }: Limits,
): Generator<string> {
  const { now, took, heartbeat } = look;
  const there = truth.latest(({ sure, to }) => sure && to + ROAD <= heartbeat);
  /** When it was stamped at the earliest. */
  const stamped = there && (look.stepped ? there.heartbeat : there.from);
  if (seen === undefined || seen.state === 'never') {
    if (there !== undefined) yield `vanished: number ${there.seq} was there at its heartbeat`;
    return;
  }
  if (!seen.whole) yield `torn: number ${seen.seq} does not match its checksum`;
  if (truth.lasting) {
    if (seen.seq > truth.highest) yield `shows number ${seen.seq}, which was never passed on`;
    if (seen.seq < before) yield `went back from number ${before} to ${seen.seq}`;
    if (there !== undefined && seen.seq < there.seq)
      yield `shows number ${seen.seq}, but ${there.seq} was there at its heartbeat`;
  }

  if (look.stalled || seen.state === 'unknown') {
    const atEdge = Math.abs(now - heartbeat - STALLED_AFTER) <= EDGE + took;
    if (look.stalled !== (seen.state === 'unknown') && !atEdge) yield `is ${seen.state} on a stalled or a sound board`;
    return;
  }
  // Never, however slow the reader: a sign of life for what is live, and none for what is silent.
  if (seen.state === 'live' && truth.latest(({ from }) => from >= now - uncertainAfter - interval) === undefined)
    yield 'is live, but nothing of it was passed on in time';
  if (seen.state === 'left' && truth.latest(({ goodbye }) => goodbye) === undefined) yield 'left without a goodbye';
  // By what is known of its link: one that is down, or is listened to anew, tells of nobody's silence.
  const link = seen.link ?? { number: 0, heartbeat, since: look.since, sinceAfter: look.since };
  if (
    seen.state === 'silent' &&
    (link.since > link.heartbeat + took - silentAfter + interval ||
      (stamped !== undefined && stamped >= link.heartbeat + took - silentAfter + interval))
  )
    yield 'is silent, but it was heard, or nobody listened';
  if (seen.state === 'silent' && look.blameless === true) yield 'is silent, though no node has fallen silent';
  if (took > LONG_LOOK) return;
  // And what it must be called, from one interval after on.
  if (there !== undefined && stamped !== undefined && stamped >= now + took - uncertainAfter + interval) {
    const gone = truth.latest(({ goodbye, from }) => goodbye && from >= there.from) !== undefined;
    if (seen.state !== 'live' && !gone) yield `is ${seen.state}, but number ${there.seq} was there at its heartbeat`;
  }
  const last = truth.latest(() => true);
  const silentFrom = link.heartbeat - silentAfter - interval;
  if (
    last !== undefined &&
    !last.goodbye &&
    last.to < silentFrom &&
    link.sinceAfter < silentFrom &&
    seen.state !== 'silent'
  )
    yield `is ${seen.state}, but nothing of it was passed on for ${Math.round((link.heartbeat - last.to) / MS)} ms`;
}

// ---- counters ----

/** What the board counts of one node, and what it knows of the order of its reports. */
export interface NodeCounts {
  accepted: number;
  lost: number;
  unheard: number;
  duplicate: number;
  late: number;
  refused: number;
  historySeq: number;
  /** Bit k: number historySeq - k has come; was counted as lost. */
  history: bigint;
  historyLost: bigint;
}

/** What the board counts. */
export interface Counts {
  received: number;
  drops: number;
  accepted: number;
  duplicate: number;
  refused: number;
  since: number;
  nodes: ReadonlyMap<string, NodeCounts>;
}

const HISTORY = 64n;
const MASK = (1n << HISTORY) - 1n;

/** What becomes of the reports of one run of a sender, in the order in which they come, by proto/board-v2.md: an own count to hold the board's against. */
export class Model {
  accepted = 0;
  duplicate = 0;
  late = 0;
  replay = 0;
  /** Of somebody else in its name, while it is live. */
  rival = 0;
  /** Missing, and of these what came late. */
  missing = 0;
  found = 0;
  #seq: number;
  #history: bigint;
  #lost: bigint;

  /** Goes on from what the board knows. */
  constructor({ historySeq, history, historyLost }: Pick<NodeCounts, 'historySeq' | 'history' | 'historyLost'>) {
    this.#seq = historySeq;
    this.#history = history;
    this.#lost = historyLost;
  }

  take(seq: number): void {
    const ahead = seq - this.#seq;
    if (ahead > 0) {
      const gap = BigInt(ahead - 1);
      this.accepted++;
      this.missing += ahead - 1;
      this.#history = ((this.#history << BigInt(ahead)) | 1n) & MASK;
      this.#lost = ((this.#lost << BigInt(ahead)) | (((1n << gap) - 1n) << 1n)) & MASK;
      this.#seq = seq;
      return;
    }
    const bit = 1n << BigInt(-ahead);
    if (-ahead >= Number(HISTORY)) this.replay++;
    else if ((this.#history & bit) !== 0n) this.duplicate++;
    else {
      this.late++;
      if ((this.#lost & bit) !== 0n) this.found++;
      this.#history |= bit;
      this.#lost &= ~bit;
    }
  }
}

/** What was passed on between two counts. */
export interface Account {
  /** Datagrams of any kind; of them such as may have come to nothing, since there was no receiver or no road. */
  all: number;
  doubtful: number;
  /** Reports of each node, whole. */
  byNode: ReadonlyMap<string, number>;
  /** Of nodes whose sender numbers without a break, in the order in which they were passed on. */
  models: ReadonlyMap<string, Model>;
  /** How often the receiver was killed: each time it may have been about to count one report. */
  kills: number;
  /** What was done loses reports: else nothing may be called lost, but unheard. */
  lossy: boolean;
}

/** Which of the promises about counters are broken between two counts; nothing goes on while these are taken. */
export function* faultsOfCounts(before: Counts, after: Counts, account: Account): Generator<string> {
  const { all, doubtful, byNode, models, kills, lossy } = account;
  const received = after.received - before.received;
  const drops = after.drops - before.drops;
  if (received + drops > all || received + drops < all - doubtful)
    yield `of ${all} datagrams passed on${doubtful > 0 ? `, ${doubtful} of them in doubt` : ''}, ${received} were received and ${drops} dropped`;
  const told =
    after.accepted - before.accepted + (after.duplicate - before.duplicate) + (after.refused - before.refused);
  if (told > received || told < received - kills) yield `of ${received} datagrams received ${told} were counted`;
  /** Nodes of which a receiver that was killed has not counted its last report. */
  let uncounted = 0;
  for (const [name, now] of after.nodes) {
    const then = before.nodes.get(name);
    if (then === undefined) continue;
    const more = (counter: keyof NodeCounts) => Number(now[counter]) - Number(then[counter]);
    const heard = more('accepted') + more('duplicate') + more('refused');
    const passed = byNode.get(name) ?? 0;
    if (heard > passed || heard < passed - doubtful - drops - kills)
      yield `${name}: of ${passed} reports passed on ${heard} were counted`;
    if (!lossy && more('lost') > 0) yield `${name}: ${more('lost')} lost, though none was; they were unheard`;
    const model = models.get(name);
    if (model === undefined) continue;
    // Each number up to the last has become something. A late one may have been counted as missing before.
    const span = now.historySeq - then.historySeq;
    const accounted = more('accepted') + more('lost') + more('unheard');
    if (accounted > span || accounted + more('late') < span) {
      if (accounted < span) uncounted++;
      if (accounted > span || uncounted > kills)
        yield `${name}: of ${span} numbers ${more('accepted')} were accepted, ${more('lost')} lost, ${more('unheard')} unheard, ${more('late')} late`;
    }
    if (doubtful > 0 || drops > 0) continue;
    for (const counter of ['accepted', 'duplicate', 'late'] as const)
      if (more(counter) !== model[counter]) yield `${name}: ${more(counter)} ${counter}, but truly ${model[counter]}`;
    const refused = model.late + model.replay + model.rival;
    if (more('refused') !== refused) yield `${name}: ${more('refused')} refused, but truly ${refused}`;
    const missing = more('lost') + more('unheard');
    // What was unheard, since the receiver itself was kept from going on, is not taken back by a late one.
    const most = model.missing - (after.since === before.since ? model.found : 0);
    if (missing < model.missing - model.found || missing > most)
      yield `${name}: ${missing} lost or unheard, but truly ${model.missing - model.found}`;
  }
}
