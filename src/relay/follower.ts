// A mirror: follows one of several masters by the messages of their relays, and writes them to its own board.
// proto/relay-v1.md has the rules; c/relay/mirror.c writes the board. Holds no socket.

import { clusterId } from '../layout/identity.js';
import { bits } from '../layout/layout.gen.js';
import { Mirror, type MirrorCounts, type MirrorOptions, OUTCOME } from '../native/index.js';
import type { Log } from '../service/log.js';
import { type Trust, trustOptions } from '../shm/trust.js';
import type { Bus, Message } from './bus.js';
import { isClosed, type Master, type MasterKey, Masters } from './masters.js';
import { monotonicNs } from './publisher.js';
import { isSigned, MOST_ASKED, type RelayBoard, type RelayHead, readBoard, readHead, unsigned } from './relaywire.js';

/** How often `step` must be called, ms. */
export const STEP_MS = 100;
const SECOND_NS = 1_000_000_000n;
/** A batch is accepted at most so much later than the relay made it: one that waited longer counts as a gap. */
const WAITED_NS = 6n * SECOND_NS;
const ASK_EVERY_NS = 150_000_000n;
const LOOK_NS = SECOND_NS;
interface MirrorSettings {
  readonly path: string;
  readonly site: string;
  readonly cluster: string;
  /** The masters by the names in their subjects, and the keys that verify them. */
  readonly masters: readonly MasterKey[];
  readonly capacity: number;
  /** Undefined: the relays are trusted, and signatures are not verified. */
  readonly trust?: Trust | undefined;
  readonly log: Log;
}

/** What differs if nodes are trusted otherwise. */
const trustSign = (trust: Trust | undefined) =>
  trust && [
    trust.keys.map(({ id, secret }) => [id, Buffer.from(secret).toString('hex')]),
    trust.required,
    trust.clockWindow,
  ];

/** The limits of a board on which nothing was written yet: the defaults of receivers. */
const NO_LIMITS = {
  uncertainAfterNs: 4_500_000_000n,
  silentAfterNs: 10_500_000_000n,
  longestIntervalMs: 0,
  instance: 0n,
  origin: 0n,
};

function limitsOf({
  uncertain_after_ns,
  silent_after_ns,
  longest_interval_ms,
  instance,
  origin,
}: RelayBoard): typeof NO_LIMITS {
  return {
    uncertainAfterNs: uncertain_after_ns,
    silentAfterNs: silent_after_ns,
    longestIntervalMs: Number(longest_interval_ms),
    instance: BigInt(instance ?? 0),
    origin: BigInt.asIntN(64, origin),
  };
}

export class RelayFollower {
  /** Of batches that were written, gaps, messages that were not trusted or invalid, and boards that were begun. */
  readonly counts = { batches: 0, gaps: 0, refused: 0, boards: 0 };
  readonly #masters: Masters;
  readonly #mirror: Mirror;
  readonly #ends: (() => void)[] = [];
  #followed: Master | undefined;
  #endFollowing: () => void = () => undefined;
  /** The master's board that is written now; undefined: none yet. */
  #board: bigint | undefined;
  #limits = NO_LIMITS;
  /** The sequence number that the next batch must have; undefined: any, and it counts as a gap. */
  #next: number | undefined;
  /** The first batch after the last gap. */
  #stretch = 0;
  /** Whether both clocks have kept running since the board was begun. */
  #steady = true;
  #pingedNs = 0n;
  #askedNs = 0n;
  #lookedNs = 0n;
  #failedNs = -LOOK_NS;
  #indexAt: bigint | undefined;
  /** What is wrong at the board's path; empty: nothing. `taken`: another process has it. */
  trouble = { why: '', taken: false };
  /** Bit n: master n was heard at the last check. */
  #heard = 0;

  /**
   * Makes the board, which says that nothing is known yet. `name`: the word for us in subjects. Throws an Error whose
   * message is one line for people.
   */
  constructor(
    private settings: MirrorSettings,
    private readonly bus: Bus,
    name: string,
    private readonly now: () => bigint = monotonicNs,
  ) {
    this.#mirror = new Mirror(this.#boardOptions());
    this.#masters = new Masters(settings, bus, name, now, {
      refused: why => (why === undefined ? this.counts.refused++ : this.#refuse('pong', why)),
      restarted: master => master === this.#followed && this.#gap(0n),
      stoodStill: master => master === this.#followed && this.#stoodStill(),
      answered: now => this.#followed === undefined && this.#choose(now),
    });
    this.#ends.push(this.#masters.end);
    for (const master of this.#masters.all)
      this.#ends.push(bus.subscribe(`${master.subject}.index`, message => this.#onIndex(master, message)));
  }

  /** The followed master; undefined: none. */
  get followed(): string | undefined {
    return this.#followed?.name;
  }

  get mirror(): MirrorCounts {
    return this.#mirror.counts();
  }

  get heard(): string[] {
    const now = this.now();
    return this.#masters.all.filter(master => this.#masters.isHeard(master, now)).map(({ name }) => name);
  }

  /** Messages may have been lost; `slow`: because we did not keep up: a request at once would only make it worse. */
  lost(slow: boolean): void {
    this.#gap(slow ? BigInt(Math.round(1e9 + Math.random() * 4e9)) : 0n);
  }

  /**
   * Takes other keys of the same masters, and another trust in nodes, by which a new board is made. Returns false if
   * these are other masters: then the old ones stay.
   */
  change(masters: readonly MasterKey[], trust: Trust | undefined): boolean {
    if (JSON.stringify(trustSign(trust)) !== JSON.stringify(trustSign(this.settings.trust))) {
      this.settings = { ...this.settings, trust };
      this.#board = undefined;
    }
    return this.#masters.change(masters);
  }

  /** One step: to be called every `STEP_MS`. */
  step(): void {
    const now = this.now();
    if (now - this.#pingedNs >= SECOND_NS) {
      this.#pingedNs = now;
      this.#masters.ping(now);
    }
    if (now - this.#lookedNs >= LOOK_NS) {
      this.#lookedNs = now;
      this.#choose(now);
      this.#review(now);
      this.#keepPath();
    }
    if (now - this.#askedNs >= ASK_EVERY_NS) this.#ask(now);
  }

  end(): void {
    for (const end of this.#ends) end();
    this.#endFollowing();
    this.#mirror.close();
  }

  // ---- masters ----

  #choose(now: bigint): void {
    const better = this.#masters.better(this.#followed, now);
    if (better !== undefined) this.#follow(better.master, better.why);
  }

  #follow(master: Master, why: string): void {
    const { log } = this.settings;
    if (this.#followed === undefined) log.info(`follows ${master.name}`);
    else log.warn(`follows ${master.name}: ${this.#followed.name} ${why}`);
    for (const other of this.#masters.all) other.betterNs = 0n;
    this.#endFollowing();
    this.#followed = master;
    // The old master's board stays, marked as unknown, until there are data for a new one.
    this.#board = undefined;
    this.#next = undefined;
    this.#endFollowing = this.bus.subscribe(`${master.subject}.batch`, message => this.#onBatch(master, message));
    this.#indexAt = undefined;
    this.#askIndex(master, this.now());
  }

  // ---- the board ----

  #boardOptions(): MirrorOptions {
    const { path, site, cluster, masters, capacity } = this.settings;
    return {
      path,
      site,
      masters: masters.map(({ name }) => name),
      followed: this.#followed?.index ?? masters.length,
      clusterName: cluster,
      clusterId: clusterId(cluster),
      capacity,
      ...this.#limits,
      ...trustOptions(this.settings.trust),
      nowNs: this.now(),
    };
  }

  /** Begins another board. Returns false if that is not possible now; then nothing is written. */
  #renew(limits: typeof NO_LIMITS): boolean {
    const now = this.now();
    this.#next = undefined;
    this.#indexAt = now;
    if (now - this.#failedNs < LOOK_NS) return false;
    this.#limits = limits;
    try {
      this.#mirror.renew(this.#boardOptions());
    } catch (error) {
      this.#failedNs = now;
      this.trouble.why = (error as Error).message;
      this.settings.log.seldom('board', this.trouble.why);
      return false;
    }
    this.counts.boards++;
    this.trouble.why = '';
    this.#steady = true;
    // Before the first verdict: a node that is silent for this master may be heard by another.
    this.#heard = 0;
    this.#review(now);
    return true;
  }

  #keepPath(): void {
    const { state, why } = this.#mirror.checkPath();
    this.trouble = { why, taken: state === -2 };
    if (state !== 1) return;
    this.settings.log.warn('the board was deleted, replaced, cut or its mode changed: starts a new one');
    if (!this.#renew(this.#limits)) this.#board = undefined;
  }

  /** Notes which relays are heard; a node that one of them reports as heard is not silent. */
  #review(now: bigint): void {
    let heard = 0;
    for (const master of this.#masters.all) {
      if (!this.#masters.isHeard(master, now)) continue;
      heard |= 1 << master.index;
      if (master !== this.#followed && (this.#heard & (1 << master.index)) === 0) this.#askIndex(master, now);
    }
    this.#heard = heard;
    this.#mirror.review(heard, now);
  }

  #gap(waitNs: bigint): void {
    const now = this.now();
    this.counts.gaps++;
    this.#next = undefined;
    this.#mirror.gap(now);
    this.#indexAt = now + waitNs;
  }

  /** Places in time of earlier pings are wrong: the board begins again with the first batch after a ping. */
  #stoodStill(): void {
    if (!this.#steady) return;
    this.#steady = false;
    this.#next = undefined;
    this.#mirror.distrust();
    this.settings.log.warn('a clock stood still, here or at the master: starts a new board');
  }

  #refuse(key: string, why: string): void {
    this.counts.refused++;
    this.settings.log.seldom(key, `${why}: not trusted`);
  }

  // ---- batches ----

  /** The head of a valid message: from the run that was heard, and signed. Undefined: it is not valid. */
  #believe(master: Master, kind: 'batch' | 'index', { subject, data }: Message, now: bigint): RelayHead | undefined {
    const head = readHead(data, kind);
    if (head === undefined) {
      this.#refuse(kind, `what came as ${kind} of ${master.name} is none`);
      return undefined;
    }
    if (head.run !== master.run || !this.#masters.isHeard(master, now)) return undefined;
    if (isSigned(data, subject, master.key)) return head;
    this.#refuse(kind, `a ${kind} of ${master.name} is not signed with its key`);
    return undefined;
  }

  #onBatch(master: Master, message: Message): void {
    const now = this.now();
    if (master !== this.#followed) return;
    const head = this.#believe(master, 'batch', message, now);
    const ping = master.pings.best(now);
    if (head?.sequence === undefined || ping === undefined) return;
    // A repeated or late batch: its contents were written already, or counted as a gap.
    if (this.#next !== undefined && head.sequence < this.#next) return;
    // A batch that waited for long was in a queue: its heartbeats are as old, and its stamps would be too inaccurate.
    const span = head.taken_ns - ping.relayNs;
    if (span < -WAITED_NS || span > WAITED_NS) {
      this.#gap(0n);
      return;
    }
    const board = readBoard(message.data);
    if (((board.flags ?? 0) >> bits.relay_flags.last) & 1) master.ended = head.run;
    master.said.closed = isClosed(board.state);
    if (!this.#masters.mayFollow(master, now)) this.#choose(now);
    if (master !== this.#followed || master.ended === head.run) return;
    const isAnother = head.board !== this.#board || !this.#steady || this.#haveChanged(board);
    if (isAnother && !this.#beginBoard(master, head, board)) return;
    if (head.sequence !== this.#next) {
      if (!isAnother) this.#gap(0n);
      this.#stretch = head.sequence;
    }
    const { askedNs, relayNs, answeredNs } = ping;
    const outcome = this.#mirror.batch(unsigned(message.data), askedNs, relayNs, answeredNs, this.now());
    if (outcome === OUTCOME.taken) {
      this.counts.batches++;
      this.#next = head.sequence + 1;
    } else this.#notTaken(master, outcome, now);
  }

  /** Begins our board anew for a board of the master. Returns false if that is not possible. */
  #beginBoard(master: Master, head: RelayHead, board: RelayBoard): boolean {
    if (board.cluster_name !== this.settings.cluster) {
      this.#refuse('cluster', `${master.name} has the board of cluster "${board.cluster_name}"`);
      return false;
    }
    this.#board = undefined;
    if (!this.#renew(limitsOf(board))) return false;
    this.#board = head.board;
    return true;
  }

  #notTaken(master: Master, outcome: number, now: bigint): void {
    if (outcome === OUTCOME.ahead) {
      master.pings.forget();
      this.#stoodStill();
    } else if (outcome === OUTCOME.unplaced) {
      this.settings.log.seldom('board', `${this.settings.path}: cannot be replaced; tries again`);
      this.#failedNs = now;
      this.#board = undefined;
    } else {
      this.#refuse('malformed', `a batch of ${master.name} cannot be read; is it of another version?`);
      this.#gap(0n);
    }
  }

  /** Whether the master's limits differ from those that the board was made with. */
  #haveChanged(board: RelayBoard): boolean {
    const { uncertainAfterNs, silentAfterNs, longestIntervalMs } = limitsOf(board);
    const { uncertainAfterNs: uncertain, silentAfterNs: silent, longestIntervalMs: longest } = this.#limits;
    return uncertainAfterNs !== uncertain || silentAfterNs !== silent || longestIntervalMs !== longest;
  }

  // ---- indexes ----

  #onIndex(master: Master, message: Message): void {
    const now = this.now();
    const head = this.#believe(master, 'index', message, now);
    if (head?.sequence === undefined) return;
    if (master !== this.#followed) {
      this.#mirror.claims(master.index, unsigned(message.data), now);
      return;
    }
    if (head.board !== this.#board || !this.#steady || this.#next === undefined) return;
    // Batches that the index counts on have not arrived, although they were sent before it.
    if (head.sequence >= this.#next) {
      this.#gap(0n);
      return;
    }
    // The index is from before the gap: it may lack what was missed.
    if (head.sequence < this.#stretch - 1) return;
    if (this.#mirror.index(unsigned(message.data), now) !== OUTCOME.taken)
      this.#refuse('malformed', `an index of ${master.name} cannot be read`);
  }

  #askIndex(master: Master, now: bigint): void {
    master.indexAskedNs = now;
    if (master.run !== undefined) this.#masters.ask(master, master.run, 0n, new Uint32Array());
  }

  #ask(now: bigint): void {
    this.#askedNs = now;
    const master = this.#followed;
    if (master?.run === undefined || this.#board === undefined || !this.bus.connected) return;
    const numbers = this.#mirror.missing(MOST_ASKED);
    if (numbers.length > 0) this.#masters.ask(master, master.run, this.#board, numbers);
    const isDue = this.#indexAt !== undefined && now >= this.#indexAt;
    if (isDue && now - master.indexAskedNs >= SECOND_NS) {
      this.#indexAt = undefined;
      this.#askIndex(master, now);
    }
  }
}
