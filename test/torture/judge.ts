// Checks the promises: looks of readers are compared with the reports that were really passed on, and the counters of
// the board with the datagrams that were. Pure: no clock, no I/O.

import type { State } from '../../src/shm/liveness.js';

/** Times are ns of CLOCK_MONOTONIC as numbers. */
const MS = 1e6;
const S = 1e9;
const STALLED_AFTER = 3 * S;
/** How long the kernel may take to deliver a datagram within this machine. */
export const ROAD = 50 * MS;
/** How much the clocks of two looks may differ: the C library's clock has the resolution of a kernel tick. */
const EDGE = 20 * MS;
/** A look that took longer does not show a single moment, so only promises that hold at any time are checked. */
const LONG_LOOK = 100 * MS;

/** What a reader saw of a node. */
export interface Seen {
  state: State;
  seq: number;
  /** Whether every report of the node that the reader saw matches its checksum. */
  whole: boolean;
  /** The link by which its newest report came; undefined: the receiver's own evidence counts. */
  link?: LinkSeen;
}

/** What a reader saw of a link before it looked at the node; `sinceAfter` was read once more after that. */
interface LinkSeen {
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
  /** The wall clock may have stepped: stamps may be too old, up to the drain before, but never too young. */
  stepped: boolean;
  nodes: ReadonlyMap<string, Seen>;
  /** No node may be called silent: all nodes continue to report, or their link is down. */
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
  /** It was sent between `from` and `to`. */
  from: number;
  to: number;
  /** A heartbeat from before it was sent: its stamp cannot be earlier, whatever the clocks do. */
  heartbeat: number;
  /** No fault can have kept it from the board. */
  sure: boolean;
}

/** The truth about a node: which of its reports were passed on, and when. */
export class Truth {
  readonly #passed: Passed[] = [];
  #highest = -1;

  /** It cannot be known whether the next reports reach the board and stay there. */
  mistrusted = false;

  /** `lasting`: its sender never starts again, so that a number identifies a report. */
  constructor(readonly lasting = true) {}

  /** Adds a report that was passed on. Only a report that is newer than all before it is a sign of life. */
  add(passed: Passed): void {
    if (passed.seq <= this.#highest) return;
    this.#highest = passed.seq;
    this.#passed.push({ ...passed, sure: passed.sure && !this.mistrusted });
  }

  /** The sender's numbers begin at 0 again. */
  restart(): void {
    this.#highest = -1;
  }

  /** It is no longer known whether reports that were sent after this time are on the board. */
  doubt(after: number): void {
    for (let i = this.#passed.length - 1; i >= 0 && (this.#passed[i] as Passed).to > after; i--)
      (this.#passed[i] as Passed).sure = false;
  }

  get highest(): number {
    return this.#highest;
  }

  /** The number of the first report that was sent after this time. */
  firstAfter(time: number): number | undefined {
    let found: number | undefined;
    for (let i = this.#passed.length - 1; i >= 0 && (this.#passed[i] as Passed).from > time; i--)
      found = (this.#passed[i] as Passed).seq;
    return found;
  }

  /** The newest report for which this holds. */
  latest(holds: (passed: Passed) => boolean): Passed | undefined {
    return this.#passed.findLast(holds);
  }
}

/** Wrong statements of a reader about the receiver. */
export function* faultsOfLook(look: Look): Generator<string> {
  const age = look.now - look.heartbeat;
  const edge = EDGE + look.took;
  if (look.stalled && age > -S + edge && age < STALLED_AFTER - edge)
    yield `says stalled, but the heartbeat is ${Math.round(age / MS)} ms old`;
  if (!look.stalled && age > STALLED_AFTER + edge)
    yield `says nothing of a heartbeat that is ${Math.round(age / MS)} ms old`;
}

/** Broken promises in one look at a node. `before`: the highest number that this reader has shown before. */
export function* faultsOfNode(
  look: Look,
  seen: Seen | undefined,
  truth: Truth,
  before: number,
  { uncertainAfter, silentAfter, interval }: Limits,
): Generator<string> {
  const { now, took, heartbeat } = look;
  const there = truth.latest(({ sure, to }) => sure && to + ROAD <= heartbeat);
  /** The earliest time that its stamp can have. */
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
  // These must hold however slow the reader is: a live node has sent something in time, and a silent one has not.
  if (seen.state === 'live' && truth.latest(({ from }) => from >= now - uncertainAfter - interval) === undefined)
    yield 'is live, but nothing of it was passed on in time';
  if (seen.state === 'left' && truth.latest(({ goodbye }) => goodbye) === undefined) yield 'left without a goodbye';
  // Judged by the evidence of its link: if that is down, or has begun to listen only now, no node is silent.
  const link = seen.link ?? { number: 0, heartbeat, since: look.since, sinceAfter: look.since };
  if (
    seen.state === 'silent' &&
    (link.since > link.heartbeat + took - silentAfter + interval ||
      (stamped !== undefined && stamped >= link.heartbeat + took - silentAfter + interval))
  )
    yield 'is silent, but it was heard, or nobody listened';
  if (seen.state === 'silent' && look.blameless === true) yield 'is silent, though no node has fallen silent';
  if (took > LONG_LOOK) return;
  // From one interval after the limits on, the state must have changed.
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

/** The counters of one node, and what the board knows of the order of its reports. */
export interface NodeCounts {
  accepted: number;
  lost: number;
  unheard: number;
  duplicate: number;
  late: number;
  refused: number;
  historySeq: number;
  /** Two bits for each number historySeq - k: 1 0 has arrived, x 1 was counted as missing. */
  history: bigint;
  historyLost: bigint;
}

/** The counters of the board. */
export interface Counts {
  received: number;
  drops: number;
  accepted: number;
  duplicate: number;
  refused: number;
  nodes: ReadonlyMap<string, NodeCounts>;
}

const HISTORY = 64n;
const MASK = (1n << HISTORY) - 1n;

/**
 * Counts the reports of one run of a sender in the order of their arrival, as proto/board-v2.md says, for comparison
 * with the board.
 */
export class Model {
  accepted = 0;
  duplicate = 0;
  late = 0;
  replay = 0;
  /** Reports of another sender in its name, while it is live. */
  rival = 0;
  /** Missing reports, and how many of these came late. */
  missing = 0;
  found = 0;
  #seq: number;
  #history: bigint;
  #lost: bigint;

  /** Begins with what the board knows. */
  constructor({ historySeq, history, historyLost }: Pick<NodeCounts, 'historySeq' | 'history' | 'historyLost'>) {
    this.#seq = historySeq;
    this.#history = history & ~historyLost;
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
  /** Datagrams of any kind, and how many of them may not have arrived, because there was no receiver or no road. */
  all: number;
  doubtful: number;
  /** Complete reports by node. */
  byNode: ReadonlyMap<string, number>;
  /** For nodes whose sender never starts again: their reports in the order in which they were passed on. */
  models: ReadonlyMap<string, Model>;
  /** How often the receiver was killed; each time one report may not have been counted. */
  kills: number;
  /** The fault loses reports; otherwise no report may be counted as lost, only as unheard. */
  lossy: boolean;
}

/** Broken promises about counters between two counts; nothing is passed on while the counts are taken. */
export function* faultsOfCounts(before: Counts, after: Counts, account: Account): Generator<string> {
  const { all, doubtful, byNode, models, kills, lossy } = account;
  const received = after.received - before.received;
  const drops = after.drops - before.drops;
  if (received + drops > all || received + drops < all - doubtful)
    yield `of ${all} datagrams passed on${doubtful > 0 ? `, ${doubtful} of them in doubt` : ''}, ${received} were received and ${drops} dropped`;
  const told =
    after.accepted - before.accepted + (after.duplicate - before.duplicate) + (after.refused - before.refused);
  if (told > received || told < received - kills) yield `of ${received} datagrams received ${told} were counted`;
  /** How many nodes have a last report that the killed receiver did not count. */
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
    // Each number up to the last is counted. A late report may have been counted as missing before.
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
    if (missing !== model.missing - model.found)
      yield `${name}: ${missing} lost or unheard, but truly ${model.missing - model.found}`;
  }
}
