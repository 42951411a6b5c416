// The masters that a mirror knows: which of them are heard, and which one to follow. proto/relay-v1.md has the rules.
// Holds no socket and no board.

import { type KeyObject, randomBytes } from 'node:crypto';
import { bits } from '../layout/layout.gen.js';
import type { Bus, Message } from './bus.js';
import { Pings } from './pings.js';
import { isSigned, readHead, readPong, subjectOf, writeAsk, writePing } from './relaywire.js';

const SECOND_NS = 1_000_000_000n;
const UNHEARD_NS = 3n * SECOND_NS;
/** A master whose heartbeat is older, by its own clock, is stalled. */
const STALLED_NS = 3n * SECOND_NS;
/** Another master must have had more nodes for so long before it is followed. */
const BETTER_NS = 10n * SECOND_NS;
/** The number of unanswered pings of all masters: at one a second each, until an answer would no longer count. */
const MOST_UNDER_WAY = 128;

export interface MasterKey {
  readonly name: string;
  readonly key: KeyObject;
}

/** What is known about one master. */
export interface Master {
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
  indexAskedNs: bigint;
  /** Since when it has had more nodes than the followed master; 0n: it has not. */
  betterNs: bigint;
}

/** The receiver of this board has ended cleanly. */
export const isClosed = (state: bigint) => ((state >> BigInt(bits.board_state.closed)) & 1n) === 1n;

/** Whether a master has a tenth more nodes than another: then it is worth another board. */
const hasMore = (one: Master, other: Master) =>
  one.said.nodes >= Math.max(other.said.nodes * 1.1, other.said.nodes + 2);

/** Whether a master has more nodes than another, or as many and has listened for longer. */
const isBetter = ({ said }: Master, other: Master | undefined) =>
  other === undefined ||
  said.nodes > other.said.nodes ||
  (said.nodes === other.said.nodes && said.listenedNs > other.said.listenedNs);

/** What the follower does about an answer. */
interface PongObserver {
  /** An answer that cannot be trusted; without words: it is none. */
  refused(why?: string): void;
  restarted(master: Master): void;
  /** Between the last two pings a clock stood still, here or there. */
  stoodStill(master: Master): void;
  answered(now: bigint): void;
}

export class Masters {
  readonly all: readonly Master[];
  /** Each ping has a subject of its own below it: a server may allow one answer to a subject (`allow_responses`). */
  readonly #inbox: string;
  /** Nonces that were sent and not answered yet: to which master, and when. */
  readonly #underWay = new Map<string, { master: Master; askedNs: bigint; subject: string }>();
  readonly end: () => void;

  /** `name`: the word for us in subjects. */
  constructor(
    { site, cluster, masters }: { site: string; cluster: string; masters: readonly MasterKey[] },
    private readonly bus: Bus,
    private readonly name: string,
    private readonly now: () => bigint,
    private readonly observer: PongObserver,
  ) {
    this.#inbox = `_INBOX_${name}.${randomBytes(8).toString('hex')}`;
    this.all = masters.map(({ name, key }, index) => ({
      index,
      name,
      key,
      subject: subjectOf(site, cluster, name),
      ownSubjects: false,
      run: undefined,
      ended: undefined,
      pings: new Pings(),
      said: { nodes: 0, listenedNs: 0n, stalled: true, closed: false, board: 0n },
      indexAskedNs: -SECOND_NS,
      betterNs: 0n,
    }));
    this.end = bus.subscribe(`${this.#inbox}.*`, message => this.#onPong(message));
  }

  /** Takes other keys of the same masters. Returns false if these are other masters: then the old keys stay. */
  change(masters: readonly MasterKey[]): boolean {
    if (masters.map(({ name }) => name).join() !== this.all.map(({ name }) => name).join()) return false;
    for (const [i, { key }] of masters.entries()) (this.all[i] as Master).key = key;
    return true;
  }

  isHeard(master: Master, now: bigint): boolean {
    return master.run !== undefined && master.run !== master.ended && master.pings.best(now) !== undefined;
  }

  mayFollow(master: Master, now: bigint): boolean {
    return this.isHeard(master, now) && !master.said.stalled && !master.said.closed;
  }

  /** The master to follow instead of `current`, and why; undefined: no other. See proto/relay-v1.md, Several masters. */
  better(current: Master | undefined, now: bigint): { master: Master; why: string } | undefined {
    const may = this.all.filter(master => this.mayFollow(master, now));
    const best = may.reduce<Master | undefined>((best, one) => (isBetter(one, best) ? one : best), undefined);
    const isGone = current !== undefined && !may.includes(current);
    for (const master of this.all) {
      if (!may.includes(master)) master.betterNs = 0n;
      else if (current === undefined || isGone) continue;
      else if (master === current || !hasMore(master, current)) master.betterNs = 0n;
      else if (master.betterNs === 0n) master.betterNs = now;
    }
    if (best === undefined) return undefined;
    if (current === undefined) return { master: best, why: '' };
    if (isGone) {
      // It has ended cleanly less than 3 s ago, as for a restart.
      const maySoonBeBack = current.pings.best(now) !== undefined && !current.said.stalled;
      if (maySoonBeBack && hasMore(current, best)) return undefined;
      return { master: best, why: maySoonBeBack ? 'has ended' : 'is unheard or stalled' };
    }
    if (best.betterNs === 0n || now - best.betterNs < BETTER_NS) return undefined;
    return { master: best, why: `has had ${best.said.nodes - current.said.nodes} fewer nodes for 10 s` };
  }

  ping(now: bigint): void {
    for (const [nonce, { askedNs }] of this.#underWay)
      if (now - askedNs > UNHEARD_NS || this.#underWay.size > MOST_UNDER_WAY) this.#underWay.delete(nonce);
    for (const master of this.all) {
      if (!this.isHeard(master, now)) master.ownSubjects = false;
      for (const subject of this.#subjects(master, 'ping')) {
        const nonce = randomBytes(16);
        const nonceText = nonce.toString('hex');
        const askedNs = this.now();
        this.#underWay.set(nonceText, { master, askedNs, subject });
        this.bus.publish(subject, writePing(nonce), `${this.#inbox}.${nonceText}`);
      }
    }
  }

  ask(master: Master, run: bigint, board: bigint, numbers: Uint32Array): void {
    for (const subject of this.#subjects(master, 'ask')) this.bus.publish(subject, writeAsk(run, board, numbers));
  }

  /**
   * The subjects to ask at. A mirror's own subject has a share of its own; older relays know only the common one, so a
   * relay that has not shown that it knows ours is asked on both.
   */
  #subjects(master: Master, kind: 'ping' | 'ask'): string[] {
    const own = `${master.subject}.${kind}.${this.name}`;
    return master.ownSubjects ? [own] : [own, `${master.subject}.${kind}`];
  }

  #onPong({ data }: Message): void {
    const answeredNs = this.now();
    const head = readHead(data, 'pong');
    const pong = head && readPong(data);
    const asked = pong && this.#underWay.get(pong.nonceText);
    if (head === undefined || pong === undefined || asked === undefined) {
      this.observer.refused();
      return;
    }
    const { master, askedNs, subject } = asked;
    if (!isSigned(data, subject, master.key)) {
      this.observer.refused(`an answer for ${master.name} is not signed with its key`);
      return;
    }
    // Two runs may answer the same nonce, once each; so it is kept until it is too old.
    if (head.run !== master.run) {
      if (this.isHeard(master, answeredNs)) return;
      master.run = head.run;
      master.pings = new Pings();
      this.observer.restarted(master);
    }
    if (subject !== `${master.subject}.ping`) master.ownSubjects = true;
    const steady = master.pings.add({ askedNs, relayNs: head.taken_ns, answeredNs });
    if (!steady) this.observer.stoodStill(master);
    const heartbeatAge = head.taken_ns - pong.heartbeat_ns;
    master.said = {
      nodes: pong.nodes ?? 0,
      listenedNs: head.taken_ns - pong.listening_since_ns,
      stalled: heartbeatAge > STALLED_NS || heartbeatAge < -SECOND_NS,
      closed: isClosed(pong.state),
      board: head.board,
    };
    this.observer.answered(answeredNs);
  }
}
