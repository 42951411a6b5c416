// What changes on a board from one look to the next: states, problems, the events of its ring, a receiver that stalls,
// another board. Judges nothing. Says nothing about nodes while the board says nothing about them.

import { enums } from '../layout/layout.gen.js';
import { mirrorOf } from '../shm/header.js';
import { linkName } from '../shm/links.js';
import { countStates, HEARD, NUMBERED, type State } from '../shm/liveness.js';
import type { LastWords, Memory } from '../shm/memory.js';
import { type MemoryChange, MemoryWatch } from '../shm/memorywatch.js';
import { NoBoard, orNoBoard } from '../shm/noboard.js';
import type { NodeStates } from '../shm/nodestates.js';
import { PROBLEMS, type Problem, problemBit } from '../shm/problems.js';
import type { BoardReader, EventEntry } from '../shm/reader.js';
import type { Node, Snapshot } from '../shm/snapshot.js';
import type { Standing } from '../shm/standing.js';
import { groupBy } from '../text/maps.js';
import { DigestBuilder } from './digest.js';
import { LastReports, saidJson } from './lastwords.js';

/** The master that a mirror follows, empty: none yet; absent: the board is a receiver's. */
interface OfMirror {
  readonly master?: string;
}

/** Something that has happened. All keys except `at` are those of jsonschema.ts. */
export type BoardChange = {
  /** When it happened or was found out: ns since 1970, by the wall clock of this machine. */
  readonly at: bigint;
} & (
  | ({ readonly event: 'begin' | 'board' } & Standing)
  | ({ readonly event: 'resumed' } & Standing & OfMirror)
  | { readonly event: 'no_board'; readonly why: string }
  | ({ readonly event: 'stalled'; readonly closed: boolean; readonly heartbeat_age_ms: number | undefined } & OfMirror)
  /** Without `from` the node is new on the board; without `to` it was removed from the board. */
  | {
      readonly event: 'state';
      readonly node: string;
      readonly from?: State;
      readonly to?: State;
      readonly age_ms?: number;
      readonly last_words?: ReturnType<typeof saidJson>;
      readonly stood_still_ms?: number | undefined;
    }
  | {
      readonly event: 'problem' | 'problem_resolved';
      readonly node: string;
      readonly problem: Problem;
      /** Of one that is over: how long ago it was last seen. */
      readonly seen_ms?: number | undefined;
    }
  | { readonly event: 'lost'; readonly count: number }
  | RingEvent
);

type RingEventKind = Exclude<(typeof enums.event_kind)[number], 'none'>;

/** An event that the receiver has written. `unknown`: its kind belongs to a later version. */
interface RingEvent {
  readonly event: RingEventKind | 'unknown';
  readonly number: number;
  readonly node?: string | undefined;
  readonly link?: string;
  readonly reason?: string;
  readonly count?: number;
  /** For how long the receiver could not hear until then. */
  readonly deaf_ms?: number;
  readonly instance?: number;
  readonly master?: string;
  /** Where the reports of two machines come from, which report as one node. */
  readonly addresses?: readonly string[];
  /** Of a node that was booted without a goodbye, if that is known. */
  readonly last_words?: ReturnType<typeof saidJson>;
}

/** The meaning of an event's detail. */
type Detail = 'reason' | 'count' | 'deaf_ms' | 'instance' | 'master';

/** What each kind of event has besides its subject. */
const DETAIL: Readonly<Partial<Record<RingEventKind, Detail>>> = {
  refusal: 'reason',
  dark: 'count',
  overflow: 'count',
  forget: 'count',
  takeover: 'instance',
  followed: 'master',
  deaf: 'deaf_ms',
};
const OF_LINKS: readonly string[] = ['link_up', 'link_down', 'dark', 'lit'] satisfies RingEventKind[];

const TOGETHER = 1024;
/** The most events that the ring has. */
export const RING = 4096;
/** Stands in the place of a state when none was known. */
const NONE = 255;

function detailOf(what: Detail, detail: number, board: Snapshot): string | number {
  if (what === 'reason') return enums.reason[detail] ?? String(detail);
  return what === 'master' ? (board.header.mirror_names[detail]?.name ?? String(detail)) : detail;
}

export interface Following {
  /** The nodes whose changes are reported; undefined: all nodes. */
  readonly among?: ReadonlySet<string> | undefined;
  /** How many events of the ring are reported at the start. */
  readonly last: number;
  /** Or from which number on, also those that the ring has lost; beyond the last one, the ring is another's. */
  readonly next?: number | undefined;
  /** Which of those before it. */
  readonly again?: ReadonlySet<number>;
}

/** A node of which the board remembers something else than it did. */
export interface RememberedChange extends MemoryChange {
  readonly node: string;
  /** The boots that the ring has had since; on a board that was not looked at, all that it has. */
  readonly boots: readonly EventEntry[];
  /** Whether the board was not looked at before: what was remembered is that of another one, or nothing. */
  readonly isAnew: boolean;
}

/** Follows one board, and each board that replaces it: what happens to it, and to its nodes by what it remembers. */
export class ChangeFollower {
  #names: string[] = [];
  /** The states at the last moment when something was known, as numbers of NUMBERED. */
  #states = new Uint8Array();
  /** The bits of the problems that are not over. */
  #problems = new Uint32Array();
  /** Of each node whether it has a problem now, had one recently, or neither. */
  #ill = new Uint8Array();
  /** Whether states and problems were known at least once. Until then nothing counts as a change. */
  #isKnown = false;
  #isIllKnown = false;
  #opened = 0;
  #next = 0;
  #receiver = { instance: 0, startedNs: 0n, bootId: 0n, createdRealNs: 0n };
  #isStalled = false;
  #isAway = false;
  readonly #watch: MemoryWatch;
  /** The board of which `remembered` told last, and the next event of its ring for that. */
  #remembered = 0;
  #nextBoot = 1;
  /** What the caller has just read of all nodes, and of which board; see `BoardReader.opened`. */
  #all: Snapshot | undefined;
  #allOf = 0;

  constructor(
    readonly reader: BoardReader,
    readonly following: Following,
  ) {
    this.#watch = new MemoryWatch(reader);
  }

  /** The names of the nodes, in the order of the records. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** The boot of the master and the creation of the board, as its header has them. */
  get origin(): { readonly bootId: bigint; readonly createdRealNs: bigint } {
    return this.#receiver;
  }

  /** The number of the last event of the ring that was read. */
  get ring(): number {
    return this.#next - 1;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  notOnBoard(): string[] {
    const known = new Set(this.#names);
    return [...(this.following.among ?? [])].filter(name => !known.has(name));
  }

  /**
   * What has happened since the last look. `reports`: reads the reports too, because problems are known by them, or takes
   * what the same reader has just read of all nodes. The first look throws NoBoard when there is no board; later looks
   * report it.
   */
  look(reports: boolean | Snapshot): BoardChange[] {
    const changes: BoardChange[] = [];
    this.#all = typeof reports === 'object' ? reports : undefined;
    this.#allOf = this.reader.opened;
    try {
      if (this.#opened === 0) this.#begin(changes);
      else this.#follow(changes, reports !== false);
    } catch (error) {
      if (!(error instanceof NoBoard) || this.#opened === 0) throw error;
      if (!this.#isAway) changes.push({ at: realNow(), event: 'no_board', why: error.message });
      this.#isAway = true;
    }
    return changes.filter(change => this.#concerns(change));
  }

  #begin(changes: BoardChange[]): void {
    const { event_last = 0 } = this.reader.nodeStates().board.header;
    const { last, next, again = new Set() } = this.following;
    this.#next = next ?? Math.max(1, event_last + 1 - last);
    // Nobody has asked for events before the first call, so none of those counts as lost.
    const entries = this.#read(next === undefined ? [] : changes);
    const found = again.size === 0 ? [] : this.reader.events(1, RING).events.filter(({ number }) => again.has(number));
    if (found.length < again.size) changes.push({ at: realNow(), event: 'lost', count: again.size - found.length });
    entries.unshift(...found);
    // Every node in these events has a record by now.
    const nodeStates = this.reader.nodeStates();
    this.#learn(nodeStates);
    this.#opened = this.reader.opened;
    this.#tellRing(entries, nodeStates, changes);
    this.#tellStates(nodeStates, changes);
    if (!this.#isStalled) this.#tellProblems(changes);
    changes.push({ at: nodeStates.board.realNs, event: 'begin', ...this.#standing(nodeStates) });
    if (this.#isStalled) changes.push(stalled(nodeStates));
  }

  #follow(changes: BoardChange[], readsReports: boolean): void {
    // This comes first, and is about the board of the last look: if another board has replaced it, this is its last
    // state.
    const isSame = !this.#isAway && this.reader.opened === this.#opened;
    const entries = isSame ? this.#read(changes) : [];
    const nodeStates = this.reader.nodeStates();
    const isAnother = this.reader.opened !== this.#opened;
    const { startedNs } = this.#receiver;
    if (isAnother) {
      this.#tellRing(entries, nodeStates, changes);
      this.#change(nodeStates, changes);
    } else {
      this.#learn(nodeStates);
      this.#tellRing(entries, nodeStates, changes);
    }
    const wasStalled = this.#isStalled;
    const states: BoardChange[] = [];
    this.#tellStates(nodeStates, states);
    const begins = isAnother || (wasStalled && !this.#isStalled);
    if ((readsReports || begins) && !this.#isStalled) this.#tellProblems(states);
    // One that the same receiver made anew, as when nodes are forgotten, is no other to whoever follows it.
    if (isAnother && this.#receiver.startedNs !== startedNs)
      changes.push({ at: nodeStates.board.realNs, event: 'board', ...this.#standing(nodeStates) });
    if (this.#isStalled && (!wasStalled || isAnother)) changes.push(stalled(nodeStates));
    if (wasStalled && !this.#isStalled && !isAnother)
      changes.push({
        ...{ at: nodeStates.board.realNs, event: 'resumed' },
        ...this.#standing(nodeStates),
        ...followedOf(nodeStates),
      });
    // Not as arguments: of a million, the stack would overflow.
    for (const state of states) changes.push(state);
    this.#isAway = false;
  }

  #concerns(change: BoardChange): boolean {
    const { among } = this.following;
    return among === undefined || !('node' in change) || change.node === undefined || among.has(change.node);
  }

  #standing(nodeStates: NodeStates): Standing {
    const { among } = this.following;
    const isAsked = (_: unknown, index: number) => among === undefined || among.has(this.#names[index] as string);
    const states = among === undefined ? nodeStates.states : nodeStates.states.filter(isAsked);
    const ill = this.#isStalled ? new Uint8Array() : this.#ill.filter(isAsked);
    const count = (of: number) => ill.filter(each => each === of).length;
    return { nodes: states.length, states: countStates(states), unhealthy: count(NOW), recently: count(RECENTLY) };
  }

  #learn(nodeStates: NodeStates): void {
    const before = this.#names.length;
    if (nodeStates.count > before) {
      const added = nodeStates.names(Array.from({ length: nodeStates.count - before }, (_, i) => before + i));
      this.#names = this.#names.concat(added);
      this.#states = grown(this.#states, nodeStates.count, NONE);
      this.#problems = grown(this.#problems, nodeStates.count, 0);
      this.#ill = grown(this.#ill, nodeStates.count, 0);
    }
    this.#receiver = receiverOf(nodeStates);
  }

  /** Switches to another board: what was known about a node is kept under its new number. */
  #change(nodeStates: NodeStates, changes: BoardChange[]): void {
    const before = new Map(this.#names.map((name, i) => [name, i]));
    const [states, problems] = [this.#states, this.#problems];
    const { instance, startedNs } = this.#receiver;
    [this.#names, this.#states, this.#problems] = [[], new Uint8Array(), new Uint32Array()];
    this.#ill = new Uint8Array();
    this.#learn(nodeStates);
    const numbers = this.#names.map(name => before.get(name) ?? -1);
    for (const [i, was] of numbers.entries()) {
      before.delete(this.#names[i]!);
      if (was >= 0) [this.#states[i], this.#problems[i]] = [states[was]!, problems[was]!];
    }
    if (this.#watch.count > 0) this.#watch.renumber(numbers);
    for (const [node, was] of before)
      changes.push({
        at: nodeStates.board.realNs,
        event: 'state',
        node,
        ...(states[was] === NONE ? {} : { from: stateOf(states[was]!) }),
      });
    // A board that takes over from another continues its numbers. A board that was made from nothing begins anew.
    const now = this.#receiver;
    if (now.startedNs !== startedNs && now.instance <= instance) this.#next = 1;
    this.#opened = this.reader.opened;
  }

  /**
   * What the memories of trouble say that they did not say before, which is true also of what came between two looks, or
   * before the first. Returns whether the board has memories. After a look that found a board.
   */
  *remembered(): Generator<RememberedChange, boolean> {
    const isAnew = this.#remembered !== this.#opened;
    const { next, events } = this.reader.events(isAnew ? 1 : this.#nextBoot, RING);
    [this.#remembered, this.#nextBoot] = [this.#opened, next];
    const boots = groupBy(
      events.filter(({ kind }) => enums.event_kind[kind] === 'reboot'),
      ({ subject }) => subject,
    );
    const changes = this.#watch.look(this.#names.length);
    for (let step = changes.next(); ; step = changes.next()) {
      if (step.done) return step.value;
      const { index } = step.value;
      yield { ...step.value, node: this.#names[index]!, boots: boots.get(index) ?? [], isAnew };
    }
  }

  /** What `remembered` has told of that node last. */
  memoryOf(index: number): Memory {
    return this.#watch.memoryOf(index);
  }

  /** The new events of the ring. Also reports how many events were overwritten before they could be read. */
  #read(changes: BoardChange[]): EventEntry[] {
    const entries: EventEntry[] = [];
    for (;;) {
      const { next, events } = this.reader.events(this.#next, TOGETHER);
      // A cursor beyond the end belongs to another board, so the ring is read from its beginning.
      const passed = next - (next < this.#next ? 1 : this.#next);
      this.#next = next;
      if (passed > events.length) changes.push({ at: realNow(), event: 'lost', count: passed - events.length });
      entries.push(...events);
      if (passed < TOGETHER) return entries;
    }
  }

  #tellRing(entries: readonly EventEntry[], { board }: NodeStates, changes: BoardChange[]): void {
    const links = entries.length === 0 ? [] : this.reader.links();
    for (const { number, stampNs, stampRealNs, kind, subject, detail } of entries) {
      const event = (enums.event_kind[kind] ?? 'none') as RingEventKind | 'none';
      if (event === 'none') {
        changes.push({ at: stampRealNs, event: 'unknown', number });
        continue;
      }
      const link = links.find(({ number }) => number === subject);
      const what = DETAIL[event];
      const isOfNone =
        what === 'instance' || what === 'master' || what === 'deaf_ms' || event === 'overflow' || event === 'forget';
      const words = event === 'reboot' ? this.bootWords(subject, stampNs) : undefined;
      changes.push({
        at: stampRealNs,
        event,
        number,
        ...(OF_LINKS.includes(event) ? { link: link === undefined ? String(subject) : linkName(link) } : {}),
        ...(OF_LINKS.includes(event) || isOfNone ? {} : { node: this.#names[subject] }),
        ...(what === undefined ? {} : { [what]: detailOf(what, detail, board) }),
        ...(event === 'clone' ? this.#addressesOf(subject) : {}),
        ...(words === undefined ? {} : { last_words: saidJson(words) }),
      });
    }
  }

  /** The node of that record as it is now; undefined: there is none. */
  #nodeOf(subject: number): Node | undefined {
    // Without a board the event is told all the same; the next look says what became of it.
    const seen = orNoBoard(() => this.reader.snapshotOf(this.#names[subject] ?? ''));
    return seen instanceof NoBoard ? undefined : [...seen.nodes()][0];
  }

  /** Where the reports of two machines come from now, or came from within the last minute. */
  #addressesOf(subject: number): { addresses?: readonly string[] } {
    const clone = this.#nodeOf(subject)?.clone;
    return clone === undefined ? {} : { addresses: clone.addresses };
  }

  /** What a node had said before its last boot, if the first report of that boot came at `stampNs`. */
  bootWords(subject: number, stampNs: bigint): LastWords | undefined {
    const node = this.#nodeOf(subject);
    const boot = node?.memory;
    if (node === undefined || boot?.bootNs !== stampNs) return undefined;
    const { silentAfterNs, longestIntervalMs } = node.snapshot.evidence;
    const intervals = Math.max(1, Math.min(node.snapshot.intervalOf(node.index), longestIntervalMs) / 1000);
    return boot.bootWords((Number(silentAfterNs) / 1e6) * intervals);
  }

  /** What nodes said last, and what is remembered of them. One look at all: a sensor is compared with all others. */
  #told(): LastReports {
    const builder = new DigestBuilder(this.reader, () => this.#names);
    let first = 0;
    for (const piece of this.reader.pieces()) {
      if (this.reader.opened !== this.#opened || piece.retired) return new LastReports(undefined);
      if (first === 0) builder.begin(piece.total);
      first += builder.ask(piece, first);
    }
    return new LastReports(builder.digest);
  }

  #tellStates(nodeStates: NodeStates, changes: BoardChange[]): void {
    const { states, board } = nodeStates;
    this.#isStalled = board.stalled || board.retired;
    // Nothing is known about nodes now. The last known states stay until there are new ones.
    if (this.#isStalled) return;
    let told: LastReports | undefined;
    for (let i = 0; i < states.length; i++) {
      const [from, to] = [this.#states[i]!, states[i]!];
      if (from === to) continue;
      this.#states[i] = to;
      if (!this.#isKnown) continue;
      const was = from === NONE ? {} : { from: stateOf(from) };
      const age = stateOf(to) === 'never' ? {} : { age_ms: nodeStates.ageMs(i) };
      if (to === SILENT || from === SILENT) told ??= this.#told();
      const saying = to === SILENT && told?.all ? told.of({ snapshot: told.all, index: i }) : undefined;
      const last = saying === undefined ? {} : { last_words: saidJson(saying) };
      const still = from === SILENT ? { stood_still_ms: told?.all?.memoryOf(i)?.silence?.stoodStillMs } : {};
      changes.push({
        at: board.realNs,
        event: 'state',
        node: this.#names[i]!,
        ...was,
        to: stateOf(to),
        ...age,
        ...last,
        ...still,
      });
    }
    this.#isKnown = true;
  }

  #tellProblems(changes: BoardChange[]): void {
    if (this.#all !== undefined && this.#allOf !== this.#opened) return;
    let first = 0;
    for (const piece of this.#all === undefined ? this.reader.pieces() : [this.#all]) {
      // Changes of another board are reported once its nodes are known.
      if (this.reader.opened !== this.#opened || piece.stalled || piece.retired) return;
      this.#compareProblems(changes, piece, first);
      first += piece.count;
    }
    this.#isIllKnown = true;
  }

  /** The nodes from number `first` on. */
  #compareProblems(changes: BoardChange[], piece: Snapshot, first: number): void {
    const { problems, unsettled, unmeasured, states } = piece.overview;
    const end = Math.min(problems.length, this.#names.length - first);
    for (let i = 0; i < end; i++) {
      const before = this.#problems[first + i]!;
      const recent = piece.recentOf(i);
      this.#ill[first + i] = problems[i] !== 0 ? NOW : recent !== 0 ? RECENTLY : 0;
      // One that is no longer measured is not resolved, and neither is one that may come again within its quiet time.
      const now = problems[i]! | recent | (before & (unsettled[i]! | unmeasured[i]!));
      // The problems of a node that is not heard are unknown, so the last known ones stay.
      if (before === now || !HEARD.has(states[i]!)) continue;
      this.#problems[first + i] = now;
      if (!this.#isIllKnown) continue;
      for (const problem of PROBLEMS) {
        const bit = problemBit(problem);
        if (((before ^ now) & bit) === 0) continue;
        const change = { at: piece.realNs, node: this.#names[first + i]!, problem };
        if ((now & bit) !== 0) changes.push({ ...change, event: 'problem' });
        else
          changes.push({ ...change, event: 'problem_resolved', seen_ms: piece.memoryOf(i)?.episode(problem)?.seenMs });
      }
    }
  }
}

const SILENT = NUMBERED.indexOf('silent');

const [NOW, RECENTLY] = [1, 2];

const stateOf = (number: number) => NUMBERED[number] as State;

const realNow = () => BigInt(Date.now()) * 1_000_000n;

function followedOf({ board }: NodeStates): OfMirror {
  return board.isMirror ? { master: mirrorOf(board)?.master ?? '' } : {};
}

function stalled(nodeStates: NodeStates): BoardChange {
  const { closed, heartbeatAgeMs, realNs } = nodeStates.board;
  return { at: realNs, event: 'stalled', closed, heartbeat_age_ms: heartbeatAgeMs, ...followedOf(nodeStates) };
}

function receiverOf({ board }: NodeStates) {
  const { instance = 0, started_ns, master_boot_id, created_real_ns } = board.header;
  return { instance, startedNs: started_ns, bootId: master_boot_id, createdRealNs: created_real_ns };
}

/** The array with room for so many values; new places get this value. */
function grown<A extends Uint8Array | Uint32Array>(array: A, length: number, value: number): A {
  const more = new (array.constructor as new (length: number) => A)(length);
  more.set(array);
  more.fill(value, array.length);
  return more;
}
