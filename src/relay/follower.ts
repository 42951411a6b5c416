// A mirror: follows one of several masters by the messages of their relays, and writes them to its own board.
// proto/relay-v1.md has the rules; c/relay/mirror.c writes the board. Holds no socket.

import { type KeyObject, randomBytes } from 'node:crypto';
import { clusterId } from '../layout/identity.js';
import { bits } from '../layout/layout.gen.js';
import { Mirror, type MirrorCounts, type MirrorOptions, OUTCOME } from '../native/index.js';
import type { Log } from '../service/log.js';
import { type Trust, trustOptions } from '../shm/trust.js';
import type { Bus, Message } from './bus.js';
import { Pings } from './pings.js';
import { monotonicNs } from './publisher.js';
import {
  type Board,
  type Head,
  isSigned,
  MOST_ASKED,
  readBoard,
  readHead,
  readPong,
  subjectOf,
  unsigned,
  writeAsk,
  writePing,
} from './relaywire.js';

/** How often `step` must be called, ms. */
export const STEP_MS = 100;
const SECOND_NS = 1_000_000_000n;
const UNHEARD_NS = 3n * SECOND_NS;
/** A master whose heartbeat is older, by its own clock, is stalled. */
const STALLED_NS = 3n * SECOND_NS;
/** Another master must have had more nodes for so long before it is followed. */
const BETTER_NS = 10n * SECOND_NS;
/** A batch is accepted at most so much later than the relay made it: one that waited longer counts as a gap. */
const WAITED_NS = 6n * SECOND_NS;
const ASK_EVERY_NS = 150_000_000n;
const LOOK_NS = SECOND_NS;
/**
 * The number of unanswered pings of all masters: at one a second each, a ping stays until its answer would no longer
 * count.
 */
const MOST_UNDER_WAY = 128;

export interface MasterKey {
  readonly name: string;
  readonly key: KeyObject;
}

export interface MirrorSettings {
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

/** What is known about one master. */
interface Master {
  readonly index: number;
  readonly name: string;
  key: KeyObject;
  readonly subject: string;
  /** Whether its relay answers what is sent to subjects of our own; until then the ones of all are used as well. */
  ownSubjects: boolean;
  /** Undefined: it was never heard. */
  run: bigint | undefined;
  pings: Pings;
  /** The run that has said that it ends; it is not heard any more, whatever of it is still under way. */
  ended: bigint | undefined;
  /** The contents of its last pong. `closed`: its receiver has ended, which the followed master's batches tell, too. */
  said: { nodes: number; listenedNs: bigint; stalled: boolean; closed: boolean; board: bigint };
  /** When its index was last asked for. */
  indexAskedNs: bigint;
  /** Since when it has had more nodes than the followed master; 0n: it has not. */
  betterNs: bigint;
}

export interface FollowerCounts {
  /** Counters: batches that were written, gaps, and messages that were not trusted or invalid. */
  batches: number;
  gaps: number;
  refused: number;
  boards: number;
}

/** The receiver of this board has ended cleanly. */
const isClosed = (state: bigint) => ((state >> BigInt(bits.board_state.closed)) & 1n) === 1n;

/** Whether a master has a tenth more nodes than another: then it is worth another board. */
const hasMore = (one: Master, other: Master) =>
  one.said.nodes >= Math.max(other.said.nodes * 1.1, other.said.nodes + 2);

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
};

export class Follower {
  readonly counts: FollowerCounts = { batches: 0, gaps: 0, refused: 0, boards: 0 };
  #settings: MirrorSettings;
  readonly #bus: Bus;
  readonly #now: () => bigint;
  readonly #masters: Master[];
  readonly #name: string;
  readonly #inbox: string;
  readonly #mirror: Mirror;
  readonly #ends: (() => void)[] = [];
  /** Nonces that were sent and not answered yet: to which master, and when. */
  readonly #underWay = new Map<string, { master: Master; askedNs: bigint; subject: string }>();
  #followed: Master | undefined;
  #endFollowing: () => void = () => undefined;
  /** The master's board that is written now; undefined: none yet. */
  #board: bigint | undefined;
  /** What our board was made from. */
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
  #path = '';
  #taken = false;
  /** Bit n: master n was heard at the last check. */
  #heard = 0;

  /**
   * Makes the board, which says that nothing is known yet. `name`: the word for us in subjects. Throws an Error whose
   * message is one line for people.
   */
  constructor(settings: MirrorSettings, bus: Bus, name: string, now: () => bigint = monotonicNs) {
    this.#settings = settings;
    this.#bus = bus;
    this.#now = now;
    this.#name = name;
    this.#inbox = `_INBOX_${name}.${randomBytes(8).toString('hex')}`;
    this.#masters = settings.masters.map(({ name, key }, index) => ({
      index,
      name,
      key,
      subject: subjectOf(settings.site, settings.cluster, name),
      ownSubjects: false,
      run: undefined,
      ended: undefined,
      pings: new Pings(),
      said: { nodes: 0, listenedNs: 0n, stalled: true, closed: false, board: 0n },
      indexAskedNs: -SECOND_NS,
      betterNs: 0n,
    }));
    this.#mirror = new Mirror(this.#boardOptions());
    this.#ends.push(bus.subscribe(this.#inbox, message => this.#onPong(message)));
    for (const master of this.#masters)
      this.#ends.push(bus.subscribe(`${master.subject}.index`, message => this.#onIndex(master, message)));
  }

  /** The followed master; undefined: none. */
  get followed(): string | undefined {
    return this.#followed?.name;
  }

  get mirror(): MirrorCounts {
    return this.#mirror.counts();
  }

  /** Masters whose relays are heard. */
  get heard(): string[] {
    const now = this.#now();
    return this.#masters.filter(master => this.#isHeard(master, now)).map(({ name }) => name);
  }

  /** What is wrong at the board's path; empty: nothing. `taken`: another process has it. */
  get trouble(): { why: string; taken: boolean } {
    return { why: this.#path, taken: this.#taken };
  }

  /**
   * Messages may have been lost; `slow`: because we did not keep up, so that a request at once would only make it
   * worse.
   */
  lost(slow: boolean): void {
    this.#gap(slow ? BigInt(Math.round(1e9 + Math.random() * 4e9)) : 0n);
  }

  /**
   * Takes other keys of the same masters, and another trust in nodes, by which a new board is made. Returns false if
   * these are other masters: then the old ones stay.
   */
  change(masters: readonly MasterKey[], trust: Trust | undefined): boolean {
    const isSame = masters.map(({ name }) => name).join() === this.#masters.map(({ name }) => name).join();
    if (isSame) for (const [i, { key }] of masters.entries()) (this.#masters[i] as Master).key = key;
    if (JSON.stringify(trustSign(trust)) !== JSON.stringify(trustSign(this.#settings.trust))) {
      this.#settings = { ...this.#settings, trust };
      this.#board = undefined;
    }
    return isSame;
  }

  /** One step: to be called every `STEP_MS`. */
  step(): void {
    const now = this.#now();
    if (now - this.#pingedNs >= SECOND_NS) this.#ping(now);
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

  // ---- who is heard ----

  #ping(now: bigint): void {
    this.#pingedNs = now;
    for (const [nonce, { askedNs }] of this.#underWay)
      if (now - askedNs > UNHEARD_NS || this.#underWay.size > MOST_UNDER_WAY) this.#underWay.delete(nonce);
    for (const master of this.#masters) {
      if (!this.#isHeard(master, now)) master.ownSubjects = false;
      for (const subject of this.#subjects(master, 'ping')) {
        const nonce = randomBytes(16);
        const askedNs = this.#now();
        this.#underWay.set(nonce.toString('hex'), { master, askedNs, subject });
        this.#bus.publish(subject, writePing(nonce), this.#inbox);
      }
    }
  }

  /** Where to ask: what goes to a subject of our own has a share of its own. Relays before that know one for all. */
  #subjects(master: Master, kind: 'ping' | 'ask'): string[] {
    const own = `${master.subject}.${kind}.${this.#name}`;
    return master.ownSubjects ? [own] : [own, `${master.subject}.${kind}`];
  }

  #publishAsk(master: Master, run: bigint, board: bigint, numbers: Uint32Array): void {
    for (const subject of this.#subjects(master, 'ask')) this.#bus.publish(subject, writeAsk(run, board, numbers));
  }

  #onPong({ data }: Message): void {
    const answeredNs = this.#now();
    const head = readHead(data, 'pong');
    const pong = head && readPong(data);
    const asked = pong && this.#underWay.get(pong.nonceText);
    if (head === undefined || pong === undefined || asked === undefined) {
      this.counts.refused++;
      return;
    }
    const { master, askedNs, subject } = asked;
    if (!isSigned(data, subject, master.key)) {
      this.#refuse('pong', `an answer for ${master.name} is not signed with its key`);
      return;
    }
    // Two runs may answer the same nonce, once each; so it is kept until it is too old.
    if (head.run !== master.run) {
      if (this.#isHeard(master, answeredNs)) return;
      master.run = head.run;
      master.pings = new Pings();
      if (master === this.#followed) this.#gap(0n);
    }
    if (subject !== `${master.subject}.ping`) master.ownSubjects = true;
    const steady = master.pings.add({ askedNs, relayNs: head.taken_ns, answeredNs });
    if (!steady && master === this.#followed) this.#stoodStill();
    const heartbeatAge = head.taken_ns - pong.heartbeat_ns;
    master.said = {
      nodes: pong.nodes ?? 0,
      listenedNs: head.taken_ns - pong.listening_since_ns,
      stalled: heartbeatAge > STALLED_NS || heartbeatAge < -SECOND_NS,
      closed: isClosed(pong.state),
      board: head.board,
    };
    if (this.#followed === undefined) this.#choose(answeredNs);
  }

  #isHeard(master: Master, now: bigint): boolean {
    return master.run !== undefined && master.run !== master.ended && master.pings.best(now) !== undefined;
  }

  #mayFollow(master: Master, now: bigint): boolean {
    return this.#isHeard(master, now) && !master.said.stalled && !master.said.closed;
  }

  /** It has ended cleanly less than 3 s ago, as for a restart. */
  #maySoonBeBack({ pings, said }: Master, now: bigint): boolean {
    return pings.best(now) !== undefined && !said.stalled;
  }

  /** Switches to another master if it is better: see proto/relay-v1.md, Several masters. */
  #choose(now: bigint): void {
    const current = this.#followed;
    let best: Master | undefined;
    for (const master of this.#masters) {
      if (!this.#mayFollow(master, now)) {
        master.betterNs = 0n;
        continue;
      }
      const { nodes, listenedNs } = master.said;
      if (
        best === undefined ||
        nodes > best.said.nodes ||
        (nodes === best.said.nodes && listenedNs > best.said.listenedNs)
      )
        best = master;
    }
    if (current === undefined) {
      if (best !== undefined) this.#follow(best, '');
      return;
    }
    if (!this.#mayFollow(current, now)) {
      const maySoonBeBack = this.#maySoonBeBack(current, now);
      if (best !== undefined && !(maySoonBeBack && hasMore(current, best)))
        this.#follow(best, maySoonBeBack ? 'has ended' : 'is unheard or stalled');
      return;
    }
    for (const master of this.#masters) {
      if (master === current || !this.#mayFollow(master, now) || !hasMore(master, current)) master.betterNs = 0n;
      else if (master.betterNs === 0n) master.betterNs = now;
    }
    if (best !== undefined && best.betterNs !== 0n && now - best.betterNs >= BETTER_NS)
      this.#follow(best, `has had ${best.said.nodes - current.said.nodes} fewer nodes for 10 s`);
  }

  #follow(master: Master, why: string): void {
    const { log } = this.#settings;
    if (this.#followed === undefined) log.info(`follows ${master.name}`);
    else log.warn(`follows ${master.name}: ${this.#followed.name} ${why}`);
    for (const other of this.#masters) other.betterNs = 0n;
    this.#endFollowing();
    this.#followed = master;
    // The old master's board stays, marked as unknown, until there are data for a new one.
    this.#board = undefined;
    this.#next = undefined;
    this.#endFollowing = this.#bus.subscribe(`${master.subject}.batch`, message => this.#onBatch(master, message));
    this.#indexAt = undefined;
    this.#askIndex(master, this.#now());
  }

  // ---- the board ----

  #boardOptions(): MirrorOptions {
    const { path, site, cluster, masters, capacity } = this.#settings;
    return {
      path,
      site,
      masters: masters.map(({ name }) => name),
      followed: this.#followed?.index ?? masters.length,
      clusterName: cluster,
      clusterId: clusterId(cluster),
      capacity,
      ...this.#limits,
      ...trustOptions(this.#settings.trust),
      nowNs: this.#now(),
    };
  }

  /** Begins another board. Returns false if that is not possible now; then nothing is written. */
  #renew(limits: typeof NO_LIMITS, keepAges = false): boolean {
    const now = this.#now();
    this.#next = undefined;
    this.#indexAt = now;
    if (now - this.#failedNs < LOOK_NS) return false;
    this.#limits = limits;
    try {
      this.#mirror.renew({ ...this.#boardOptions(), keepAges });
    } catch (error) {
      this.#failedNs = now;
      this.#path = (error as Error).message;
      this.#settings.log.seldom('board', this.#path);
      return false;
    }
    this.counts.boards++;
    this.#path = '';
    this.#steady = true;
    // Before the first verdict: a node that is silent for this master may be heard by another.
    this.#heard = 0;
    this.#review(now);
    return true;
  }

  #keepPath(): void {
    const { state, why } = this.#mirror.checkPath();
    this.#taken = state === -2;
    this.#path = why;
    if (state !== 1) return;
    this.#settings.log.warn('the board was deleted, replaced, cut or its mode changed: starts a new one');
    if (!this.#renew(this.#limits)) this.#board = undefined;
  }

  /** Notes which relays are heard; a node that one of them reports as heard is not silent. */
  #review(now: bigint): void {
    let heard = 0;
    for (const master of this.#masters) {
      if (!this.#isHeard(master, now)) continue;
      heard |= 1 << master.index;
      if (master !== this.#followed && (this.#heard & (1 << master.index)) === 0) this.#askIndex(master, now);
    }
    this.#heard = heard;
    this.#mirror.review(heard, now);
  }

  #gap(waitNs: bigint): void {
    const now = this.#now();
    this.counts.gaps++;
    this.#next = undefined;
    this.#mirror.gap(now);
    this.#indexAt = now + waitNs;
  }

  /**
   * The places in time that came from earlier pings are wrong: the board is begun again with the first batch after the
   * next ping.
   */
  #stoodStill(): void {
    if (!this.#steady) return;
    this.#steady = false;
    this.#next = undefined;
    this.#mirror.distrust();
    this.#settings.log.warn('a clock stood still, here or at the master: starts a new board');
  }

  #refuse(key: string, why: string): void {
    this.counts.refused++;
    this.#settings.log.seldom(key, `${why}: not trusted`);
  }

  // ---- batches ----

  /** The head of a valid message: from the run that was heard, and signed. Undefined: it is not valid. */
  #believe(master: Master, kind: 'batch' | 'index', { subject, data }: Message, now: bigint): Head | undefined {
    const head = readHead(data, kind);
    if (head === undefined) {
      this.#refuse(kind, `what came as ${kind} of ${master.name} is none`);
      return undefined;
    }
    if (head.run !== master.run || !this.#isHeard(master, now)) return undefined;
    if (isSigned(data, subject, master.key)) return head;
    this.#refuse(kind, `a ${kind} of ${master.name} is not signed with its key`);
    return undefined;
  }

  #onBatch(master: Master, message: Message): void {
    const now = this.#now();
    if (master !== this.#followed) return;
    const { data } = message;
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
    const board = readBoard(data);
    if (((board.flags ?? 0) >> bits.relay_flags.last) & 1) master.ended = head.run;
    master.said.closed = isClosed(board.state);
    if (!this.#mayFollow(master, now)) this.#choose(now);
    if (master !== this.#followed || master.ended === head.run) return;
    const isAnother = head.board !== this.#board || !this.#steady || this.#haveChanged(board);
    if (isAnother) {
      if (board.cluster_name !== this.#settings.cluster) {
        this.#refuse('cluster', `${master.name} has the board of cluster "${board.cluster_name}"`);
        return;
      }
      const keepAges = !this.#steady && head.board === this.#board;
      this.#board = undefined;
      const limits = {
        uncertainAfterNs: board.uncertain_after_ns,
        silentAfterNs: board.silent_after_ns,
        longestIntervalMs: Number(board.longest_interval_ms),
        instance: BigInt(board.instance ?? 0),
      };
      if (!this.#renew(limits, keepAges)) return;
      this.#board = head.board;
    }
    if (head.sequence !== this.#next) {
      if (!isAnother) this.#gap(0n);
      this.#stretch = head.sequence;
    }
    const outcome = this.#mirror.batch(unsigned(data), ping.askedNs, ping.relayNs, ping.answeredNs, this.#now());
    if (outcome === OUTCOME.ahead) {
      master.pings.forget();
      this.#stoodStill();
      return;
    }
    if (outcome === OUTCOME.unplaced) {
      this.#settings.log.seldom('board', `${this.#settings.path}: cannot be replaced; tries again`);
      this.#failedNs = now;
      this.#board = undefined;
      return;
    }
    if (outcome === OUTCOME.malformed) {
      this.#refuse('malformed', `a batch of ${master.name} cannot be read; is it of another version?`);
      this.#gap(0n);
      return;
    }
    this.counts.batches++;
    this.#next = head.sequence + 1;
  }

  /** Whether the master's limits differ from those that the board was made with. */
  #haveChanged({ uncertain_after_ns, silent_after_ns, longest_interval_ms }: Board): boolean {
    const { uncertainAfterNs, silentAfterNs, longestIntervalMs } = this.#limits;
    return (
      uncertain_after_ns !== uncertainAfterNs ||
      silent_after_ns !== silentAfterNs ||
      Number(longest_interval_ms) !== longestIntervalMs
    );
  }

  // ---- indexes ----

  #onIndex(master: Master, message: Message): void {
    const now = this.#now();
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
    if (master.run !== undefined) this.#publishAsk(master, master.run, 0n, new Uint32Array());
  }

  #ask(now: bigint): void {
    this.#askedNs = now;
    const master = this.#followed;
    if (master?.run === undefined || this.#board === undefined || !this.#bus.connected) return;
    const numbers = this.#mirror.missing(MOST_ASKED);
    if (numbers.length > 0) this.#publishAsk(master, master.run, this.#board, numbers);
    const isDue = this.#indexAt !== undefined && now >= this.#indexAt;
    if (isDue && now - master.indexAskedNs >= SECOND_NS) {
      this.#indexAt = undefined;
      this.#askIndex(master, now);
    }
  }
}
