// A relay: reads a master's board and publishes its changes, signed. proto/relay-v1.md has the rules. Holds no socket,
// and never writes to a board.

import { createHash, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { type Decoded, decode } from '../layout/codec.js';
import { bits, structs } from '../layout/layout.gen.js';
import { type BoardMapping, SNAPSHOT_HEAD, SWEEP, Sweep } from '../native/index.js';
import type { Log } from '../service/log.js';
import { tryBoard } from '../shm/reader.js';
import type { Bus, Message } from './bus.js';
import {
  boardOf,
  type Envelope,
  entriesOf,
  finishBatch,
  finishIndex,
  INDEX_PART,
  indexedOf,
  isSigned,
  MOST_ASKED,
  readAsk,
  readHead,
  readPing,
  readPong,
  scratch,
  viewOf,
  writePing,
  writePong,
} from './relaywire.js';
import { Queues, Shares } from './shares.js';

/** The time from one sweep to the next, ms: together with the time of a sweep, no batch waits for more than 50 ms. */
export const SWEEP_MS = 40;
const INDEX_EVERY_NS = 5_000_000_000n;
/** The shortest time between two indexes, however many mirrors ask. */
const INDEX_LEAST_NS = 1_000_000_000n;
const ASKED_RATE = 4_000_000;
/** The fewest bytes that a record takes when it is sent again. */
const RECORD_BYTES = 1256;
/** How often the relay checks that the board is still at its path. */
const LOOK_NS = 1_000_000_000n;
/** Another run with the same name must have been silent for so long before this one begins. */
const UNHEARD_NS = 3_000_000_000n;
const PING_EVERY_NS = 500_000_000n;
/** The name by which a relay asks whether another of its name is there; no other program may publish to its subjects. */
const RELAY = 'relay';

/** CLOCK_MONOTONIC, ns. */
export const monotonicNs = () => process.hrtime.bigint();

interface Carried {
  readonly mapping: BoardMapping;
  readonly sweep: Sweep;
  /** Of the file. */
  readonly id: bigint;
  /** The same for all copies of a board. */
  readonly origin: bigint;
  readonly bootId: bigint;
}

interface RelayOptions {
  readonly path: string;
  readonly owner: number | string | undefined;
  /** The beginning of the subjects. */
  readonly subject: string;
  readonly cluster: string;
  readonly key: KeyObject;
  readonly log: Log;
}

const randomId = () => randomBytes(8).readBigUInt64LE();

/** The board's header without a sweep; undefined: the file was cut short. */
export function headerOf(mapping: BoardMapping): Decoded<'board_header'> | undefined {
  const buffer = new Uint8Array(mapping.nodeBytes(0));
  mapping.into(buffer);
  return mapping.snapshot(0) ? decode('board_header', new DataView(buffer.buffer, SNAPSHOT_HEAD.bytes), 0) : undefined;
}

/** A number made of these, by which nobody learns them. */
const numberOf = (...parts: (bigint | number)[]): bigint =>
  createHash('sha256').update(parts.join(' ')).digest().readBigUInt64LE();

export class Relay {
  readonly counts = { batches: 0, bytes: 0, reports: 0, indexes: 0, pongs: 0, asked: 0, refused: 0 };
  #key: KeyObject;
  #public: KeyObject;
  readonly #scratch = scratch();
  /** The name by which mirrors know it. */
  run = randomId();
  #sequence = 0;
  #indexes = 0;
  #carried: Carried | undefined;
  #salt = 0;
  #lookedNs = 0n;
  /** Why there is nothing to publish; empty: there is something. */
  why = '';
  /** Undefined: not yet. */
  #indexNs: bigint | undefined;
  #indexWanted = true;
  #sweptNs = 0n;
  readonly #pings = new Shares();
  readonly #asks = new Shares();
  readonly #wanted = new Queues(20 * MOST_ASKED);
  /** Since when it waits for another run of our name to fall silent; undefined: this run publishes. */
  #waitingNs: bigint | undefined;
  #rivalNs = 0n;
  #pingedNs = 0n;
  #nonce: Uint8Array = new Uint8Array();
  readonly #ends: (() => void)[] = [];

  constructor(
    private readonly options: RelayOptions,
    private readonly bus: Bus,
    private readonly now: () => bigint = monotonicNs,
  ) {
    this.#key = options.key;
    this.#public = createPublicKey(options.key);
    this.#waitingNs = now();
    const { subject } = options;
    this.#ends.push(
      ...['ping', 'ping.*'].map(kind => bus.subscribe(`${subject}.${kind}`, message => this.#onPing(message))),
      ...['ask', 'ask.*'].map(kind => bus.subscribe(`${subject}.${kind}`, message => this.#onAsk(message))),
      bus.subscribe(`${subject}.wait`, message => this.#onRival(message)),
    );
  }

  /** Whether it publishes: no other run of its name is heard. */
  get runs(): boolean {
    return this.#waitingNs === undefined;
  }

  /** Signs with another key from now on. */
  change(key: KeyObject): void {
    this.#key = key;
    this.#public = createPublicKey(key);
  }

  /** One step: to be called every `SWEEP_MS`. */
  step(): void {
    const now = this.now();
    this.#lookForRivals(now);
    if (this.runs && this.bus.connected) this.#sweep(now);
  }

  /** Ends cleanly: mirrors need not wait until it is unheard. */
  end(): void {
    for (const end of this.#ends) end();
    if (this.runs && this.#carried !== undefined) {
      this.#sequence++;
      const form = { entries: 0, entryBytes: 0, complete: false, last: true };
      const envelope = this.#envelope(this.#carried, this.now());
      const subject = `${this.options.subject}.batch`;
      this.#publish('batch', finishBatch(this.#scratch, subject, this.#key, envelope, form));
    }
    this.#close();
  }

  // ---- another run of this name ----

  #lookForRivals(now: bigint): void {
    if (!this.bus.connected) {
      // While nothing can be heard, the silence of another run proves nothing.
      if (this.#waitingNs !== undefined) this.#waitingNs = now;
      return;
    }
    if (now - this.#pingedNs >= PING_EVERY_NS) {
      this.#pingedNs = now;
      this.#nonce = randomBytes(16);
      const { subject } = this.options;
      for (const to of [`${subject}.ping`, `${subject}.ping.${RELAY}`])
        this.bus.publish(to, writePing(this.#nonce), `${subject}.wait`);
    }
    if (this.#waitingNs === undefined || now - this.#waitingNs < UNHEARD_NS) return;
    this.#waitingNs = undefined;
    this.#begin();
    if (this.#rivalNs !== 0n) this.options.log.info('the other relay of this name has been silent for 3 s: starts');
  }

  /** Each run has its own number, also after it has given way to another one. */
  #begin(): void {
    this.run = randomId();
    this.#sequence = 0;
    this.#indexWanted = true;
    this.#indexNs = undefined;
    this.#close();
    this.#lookedNs = 0n;
  }

  /** An answer to our own ping comes from another relay: NATS does not send us what we publish. */
  #onRival({ data }: Message): void {
    const head = readHead(data, 'pong');
    if (head === undefined || head.run === this.run) return;
    if (!Buffer.from(this.#nonce).equals(Buffer.from(readPong(data).nonce))) return;
    const { subject } = this.options;
    if (![`${subject}.ping.${RELAY}`, `${subject}.ping`].some(to => isSigned(data, to, this.#public))) {
      this.counts.refused++;
      return;
    }
    const now = this.now();
    this.#rivalNs = now;
    if (this.#waitingNs !== undefined) {
      this.#waitingNs = now;
      this.options.log.seldom(
        'rival',
        `another relay publishes ${this.options.subject}: waits until it has been silent for 3 s`,
      );
    } else if (head.run < this.run) {
      // Both runs have begun without hearing each other: the rule makes one of them give way, and both know which.
      this.#waitingNs = now;
      this.options.log.warn(`another relay also publishes ${this.options.subject}: stops until that one is silent`);
    }
  }

  // ---- the board ----

  #open(now: bigint): Carried | undefined {
    this.#lookedNs = now;
    const opened = tryBoard(this.options.path, this.options.owner);
    if (opened.state !== 'ready') {
      this.#say(opened.why);
      return undefined;
    }
    const header = headerOf(opened.board);
    const objection = this.#objectionTo(header);
    this.#say(objection);
    if (header === undefined || objection !== '') {
      opened.board.unmap();
      return undefined;
    }
    const { master_boot_id: bootId, created_real_ns, index_seed, lock_inode } = header;
    // A board whose clock goes back counts as another file.
    const id = numberOf(bootId, created_real_ns, index_seed, lock_inode, this.#salt);
    const sweep = new Sweep(opened.board);
    sweep.prime();
    this.#carried = { mapping: opened.board, sweep, id, origin: numberOf(index_seed), bootId };
    this.#indexWanted = true;
    this.#indexNs = undefined;
    return this.#carried;
  }

  /** Why a board cannot be relayed; empty: it can. */
  #objectionTo(header: Decoded<'board_header'> | undefined): string {
    const { cluster } = this.options;
    if (header === undefined) return 'was cut short';
    if (header.mirror_masters !== 0) return 'is a mirror itself: a relay runs on the master, beside its receiver';
    return header.cluster_name === cluster
      ? ''
      : `is the board of cluster "${header.cluster_name}" now, not of "${cluster}"; restart beoboard relay`;
  }

  #say(why: string): void {
    if (why !== '' && why !== this.why) this.options.log.warn(`${this.options.path}: ${why}; looks again each second`);
    this.why = why;
  }

  #close(): void {
    this.#carried?.mapping.unmap();
    this.#carried = undefined;
    this.#wanted.clear();
  }

  #board(now: bigint): Carried | undefined {
    if (now - this.#lookedNs >= LOOK_NS) {
      this.#lookedNs = now;
      if (this.#carried !== undefined && !this.#carried.mapping.isAt(this.options.path)) this.#close();
      if (this.#carried === undefined) return this.#open(now);
    }
    return this.#carried;
  }

  // ---- publishing ----

  #envelope({ id, bootId }: Carried, takenNs: bigint): Envelope {
    return { run: this.run, board: id, boot_id: bootId, sequence: this.#sequence, taken_ns: takenNs };
  }

  #publish(kind: 'batch' | 'index', message: Uint8Array): void {
    this.counts.bytes += message.length;
    this.bus.publish(`${this.options.subject}.${kind}`, message);
  }

  #sweep(now: bigint): void {
    const carried = this.#board(now);
    if (carried === undefined) return;
    const sinceIndex = this.#indexNs === undefined ? INDEX_EVERY_NS : now - this.#indexNs;
    const thorough = sinceIndex >= INDEX_EVERY_NS || (this.#indexWanted && sinceIndex >= INDEX_LEAST_NS);
    const { sweep } = carried;
    const board = boardOf(this.#scratch);
    // This is read before anything else of the board.
    const taken = this.now();
    const allowed = this.#allow(now);
    sweep.ask(this.#wanted.take(Math.floor(allowed / RECORD_BYTES)));
    if (!sweep.begin(thorough, allowed, board)) {
      this.#close();
      return;
    }
    viewOf(board).setBigUint64(structs.relay_board.fields.origin.offset, carried.origin, true);
    for (;;) {
      const { state, bytes, entries } = sweep.next(entriesOf(this.#scratch));
      if (state === SWEEP.cut) {
        this.#close();
        return;
      }
      if (state === SWEEP.backward) {
        this.options.log.warn('a node has an older report than before: starts a new board');
        this.#salt++;
        this.#close();
        return;
      }
      this.#sequence++;
      this.counts.batches++;
      this.counts.reports += entries;
      const complete = state === SWEEP.complete;
      const form = { entries, entryBytes: bytes, complete };
      const subject = `${this.options.subject}.batch`;
      this.#publish('batch', finishBatch(this.#scratch, subject, this.#key, this.#envelope(carried, taken), form));
      if (state === SWEEP.more) continue;
      if (complete && thorough) this.#publishIndex(carried, taken, now);
      break;
    }
    const { state: flags } = decode('relay_board', viewOf(board), 0);
    // A retired board has its successor at the path already, so the path is looked at again at once.
    if (((flags >> BigInt(bits.board_state.retired)) & 1n) === 1n) {
      this.#close();
      this.#lookedNs = 0n;
    }
  }

  /** How many bytes may be sent again in this sweep, by the time since the last one. */
  #allow(now: bigint): number {
    const elapsed = Math.min(0.1, Number(now - this.#sweptNs) / 1e9);
    this.#sweptNs = now;
    return elapsed * ASKED_RATE;
  }

  #publishIndex(carried: Carried, takenNs: bigint, now: bigint): void {
    const { sweep } = carried;
    const records = sweep.records();
    const parts = Math.max(1, Math.ceil(records / INDEX_PART));
    const board = boardOf(this.#scratch).slice();
    this.#indexes = (this.#indexes + 1) % 2 ** 32;
    for (let part = 0; part < parts; part++) {
      const first = part * INDEX_PART;
      const count = sweep.index(first, Math.min(INDEX_PART, records - first), indexedOf(this.#scratch));
      const says = { number: this.#indexes, part, parts, first, count, records, links_well: sweep.linksWell() };
      const subject = `${this.options.subject}.index`;
      const envelope = this.#envelope(carried, takenNs);
      this.#publish('index', finishIndex(this.#scratch, subject, this.#key, envelope, says, board));
    }
    this.counts.indexes++;
    this.#indexNs = now;
    this.#indexWanted = false;
  }

  // ---- who asks ----

  /** The last word of a subject beyond that of all: who asks, as the server has checked; empty: nobody is named. */
  #whoOf(subject: string, kind: 'ping' | 'ask'): string {
    return subject.slice(this.options.subject.length + kind.length + 2);
  }

  #mayAsk(shares: Shares, who: string, claim: string, now: bigint): boolean {
    if (shares.take(now, who, claim)) return true;
    this.counts.refused++;
    const name = who === '' ? `those whose name no server checks (${claim})` : who;
    this.options.log.seldom('shares', `${name}: more requests than one mirror needs; ignores the rest`);
    return false;
  }

  #onPing({ subject, data, reply }: Message): void {
    if (!this.runs) return;
    const now = this.now();
    if (!this.#mayAsk(this.#pings, this.#whoOf(subject, 'ping'), reply.split('.', 1)[0] ?? '', now)) return;
    const nonce = readPing(data);
    if (nonce === undefined || reply === '') {
      this.counts.refused++;
      return;
    }
    this.counts.pongs++;
    this.bus.publish(reply, this.#pong(nonce, subject));
  }

  #pong(nonce: Uint8Array, subject: string): Uint8Array {
    const carried = this.#carried;
    const links = carried?.mapping.links() ?? [];
    const nodes = links
      .filter(({ name, state, darkSinceNs }) => name !== 'lo' && (state & 1) === 1 && darkSinceNs === 0n)
      .reduce((sum, link) => sum + link.nodes, 0);
    const header = carried && headerOf(carried.mapping);
    return writePong(
      nonce,
      subject,
      this.#key,
      {
        run: this.run,
        board: carried?.id ?? 0n,
        boot_id: carried?.bootId ?? 0n,
        sequence: this.#sequence,
        // The last request that is answered: the time for the look-up was counted before.
        taken_ns: this.now(),
      },
      {
        heartbeat_ns: header?.heartbeat_ns ?? 0n,
        listening_since_ns: header?.listening_since_ns ?? 0n,
        nodes,
        records: carried?.sweep.records() ?? 0,
        state: header?.state ?? 0n,
      },
    );
  }

  #onAsk({ subject, data }: Message): void {
    const who = this.#whoOf(subject, 'ask');
    if (!this.#mayAsk(this.#asks, who, '', this.now())) return;
    const ask = readAsk(data);
    if (ask === undefined) {
      this.counts.refused++;
      return;
    }
    const carried = this.#carried;
    if (carried === undefined || ask.run !== this.run) return;
    if (ask.numbers.length === 0) {
      this.#indexWanted = true;
      return;
    }
    if (ask.board !== carried.id) return;
    this.counts.asked += ask.numbers.length;
    this.#wanted.add(who, ask.numbers);
  }
}
