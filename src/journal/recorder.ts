// What a board goes through, as lines of a journal: the events of its ring and what its memories of trouble say. Both
// outlive the journal's daemon, so that what happened while it did not run is found afterwards. Writes nothing itself.

import type { Ack } from '../acks/acks.js';
import { type BoardChange, ChangeFollower, type RememberedChange, RING } from '../changes/changes.js';
import type { Happening, JournalJob, Line } from '../journalfile/format.js';
import { ENDS, isCountOfAll, LATER_MS, LINE_BYTES, lineId, SEGMENT_BYTES } from '../journalfile/format.js';
import type { PublishedOrder } from '../schedulerfile/orderfile.js';
import type { SchedulerState } from '../schedulerfile/statefile.js';
import type { Memory } from '../shm/memory.js';
import { PROBLEMS, type Problem } from '../shm/problems.js';
import type { BoardReader } from '../shm/reader.js';
import type { Standing } from '../shm/standing.js';
import { BOARD_MOST, expand, fold, NameRanges, tryExpand } from '../text/hostlists.js';
import { Going } from './going.js';
import { countsOf, EventGrouping, happeningOf, Limiter, type Occurrence } from './grouping.js';
import { byJob } from './jobs.js';
import { Marks } from './marks.js';

/** The two clocks of the master, read together: CLOCK_MONOTONIC and the wall clock, ms. */
export interface MasterClocks {
  readonly monoMs: number;
  readonly realMs: number;
}

/** A step of the wall clock that is told, ms; what it is slewed by between two looks is far less. */
const STEP_MS = 250;

/** Two times of a memory that are of one report: they are in whole ms, and some were ns before. */
const CLOSE_MS = 2;

/** The two clocks are read one after the other, in whole ms: only a distance that has grown by more than this is another. */
const DISTANCE_MS = 5;

/** The clocks, at the distance that they had before if nothing has moved it: the same time is the same text. */
function steadied(now: MasterClocks, before: MasterClocks = now): MasterClocks {
  const distance = before.realMs - before.monoMs;
  const isSame = Math.abs(now.realMs - now.monoMs - distance) <= DISTANCE_MS;
  return isSame ? { monoMs: now.monoMs, realMs: now.monoMs + distance } : now;
}

const msOf = (ns: bigint) => Number(ns / 1_000_000n);

/** When that was, CLOCK_MONOTONIC, ms. */
const timeOf = ({ nowMs }: Memory, agoMs: number) => nowMs - agoMs;
const sinceOf = (memory: Memory) => timeOf(memory, memory.sinceMs);

/** Something that lasts, as a memory has the last of its kind; times of CLOCK_MONOTONIC, ms. */
interface RememberedSpell {
  readonly count: number;
  readonly fromMs: number;
  /** Undefined: it lasts. */
  readonly toMs: number | undefined;
  /** When a problem was last seen. */
  readonly seenMs?: number;
  /** What was said before it, and how it ended. */
  readonly said?: Partial<Happening>;
  readonly how?: Partial<Happening>;
}

/** The last silence, or the last episode of that problem. */
function spellOf(memory: Memory, problem: Problem | undefined): RememberedSpell | undefined {
  if (problem !== undefined) {
    const episode = memory.episode(problem);
    if (episode === undefined) return undefined;
    const seenMs = timeOf(memory, episode.seenMs);
    const fromMs = timeOf(memory, episode.beganMs);
    return { count: episode.count, fromMs, toMs: episode.isOver ? seenMs : undefined, seenMs };
  }
  const { silence, lastWords } = memory;
  if (silence === undefined) return undefined;
  const isSaid = lastWords !== undefined && Math.abs(lastWords.reportedMs - silence.beganMs) <= CLOSE_MS;
  return {
    count: silence.count,
    fromMs: timeOf(memory, silence.beganMs),
    toMs: silence.endedMs === undefined ? undefined : timeOf(memory, silence.endedMs),
    ...(isSaid && { said: { last_words: lastWords.rows } }),
    ...(silence.stoodStillMs !== undefined && { how: { stood_still_ms: silence.stoodStillMs } }),
  };
}

const iso = (time: string) => new Date(Date.parse(time)).toISOString();

/** A new line, the nodes that it says have fallen silent, and the jobs that it is about. */
export interface RecordedLine {
  readonly line: Line;
  readonly silent: readonly string[];
  readonly jobs: readonly JournalJob[];
}

export class JournalRecorder {
  #follower: ChangeFollower | undefined;
  readonly #going = new Going();
  readonly #limiter = new Limiter();
  readonly #grouping = new EventGrouping();
  readonly #marks = new Marks(this.#going);
  #number = 0;
  /** The largest segment. */
  segmentBytes = SEGMENT_BYTES;
  /** How many bytes of lines came after the last counts of all. */
  #uncounted = Number.POSITIVE_INFINITY;
  /** Whether the journal's last lines are of another board than the daemon begins with. */
  #isOther = false;
  /** From which time on the journal is known, CLOCK_MONOTONIC, ms; what happened before it was told or is forgotten. */
  #knownFromMs = Number.POSITIVE_INFINITY;
  /** The last event of the ring that an earlier daemon had read; those that no line tells of yet: of its, and of our own. */
  #readTo = 0;
  #lacks = new Set<number>();
  readonly #waits = new Set<number>();
  /** Whether the memories were not looked at yet, so that what they tell may be old. */
  #isFirst = true;
  /** Since when the receiver is stalled. */
  #stalledMs: number | undefined;
  #now: MasterClocks | undefined;
  /** What was acknowledged at the last look, each by key and time, or before it by the journal's last lines. */
  #acks = new Map<string, Pick<Ack, 'key' | 'until'>>();
  #isFirstAcks = true;

  /** @param board the board's name in the lines; @param past the last lines of the journal, in their order, until the board is seen */
  constructor(
    private readonly reader: BoardReader,
    readonly board: string,
    readonly version: string,
    private past: readonly Line[],
  ) {
    for (const line of past) {
      this.#number = Math.max(this.#number, Number(line.id.split('-')[2]));
      this.#uncounted = isCountOfAll(line) ? 0 : this.#uncounted + JSON.stringify(line).length;
      const { event, key = '', from, until = '' } = line;
      if (event === 'acknowledged') this.#acks.set(`${key} ${from}`, { key, until });
      if (event === 'withdrawn') for (const [name, ack] of this.#acks) if (ack.key === key) this.#acks.delete(name);
    }
  }

  get names(): readonly string[] {
    return this.#follower?.names ?? [];
  }

  /** Whether the board remembers trouble; undefined: it was not seen yet. */
  remembers: boolean | undefined;

  /** Looks at the board; the lines that are due: some wait for others like them. Throws NoBoard until there was one. */
  look(clocks: MasterClocks): RecordedLine[] {
    const before = this.#now;
    this.#now = steadied(clocks, before);
    const ring = this.#follower?.ring ?? 0;
    const changes = this.#changes();
    if (before !== undefined) this.#tellStep(before, clocks);
    for (const change of changes) this.#tell(change);
    if (!changes.some(({ event }) => event === 'stalled')) this.#tellRunning(changes);
    // What is remembered holds whether the receiver runs or not.
    if (!this.#follows.isAway) this.#remember();
    const begin = changes.find(({ event }) => event === 'begin');
    // Whoever knows that a daemon began knows what had happened by then.
    const begun = [...this.counts(), ...(begin?.event === 'begin' ? this.#begin(begin) : [])];
    // A ring that was made from nothing counts anew: what waits is not found there again.
    return [...begun, ...this.#due(this.#follows.ring < ring)];
  }

  /** The daemon starts: what was going on when it ended goes on, unless the board says otherwise. */
  #begin({ nodes: count, states }: Standing): RecordedLine[] {
    const repeated = [...this.#going.repeated()];
    const begin = this.#entry({ event: 'begin', version: this.version, count, states });
    return [begin, ...repeated.map(line => this.#recorded(line))];
  }

  /** The last lines. */
  end(clocks: MasterClocks): RecordedLine[] {
    this.#now = steadied(clocks, this.#now);
    return [...this.#due(true), this.#entry({ event: 'end' })];
  }

  /** Lines that were lost before they were written. */
  lost(count: number, why: string): RecordedLine {
    return this.#entry({ event: 'lost', count, why });
  }

  /** What the bridge did, and how many orders of it are lost. After the first look. */
  tellOrders(orders: readonly PublishedOrder[], missed: number, sinceMs: number): void {
    if (missed > 0) this.#note({ event: 'lost', count: missed, why: 'orders' }, this.#clocks.monoMs);
    for (const { n: order, time_ms, act, node, outcome, why } of orders) {
      const how = { ...(outcome && { outcome }), ...(why && { why }) };
      const what = { event: 'order', act, ...how, order, order_since_ms: sinceMs };
      this.#grouping.add({ what, node, fromMs: this.#monotonic(time_ms) }, this.#clocks.monoMs);
    }
  }

  /** What is acknowledged now. That of before `sinceMs`, of the wall clock, is older than all known lines. After the first look. */
  tellAcks(acks: readonly Ack[], sinceMs: number): void {
    const before = this.#acks;
    this.#acks = new Map(acks.map(ack => [`${ack.key} ${ack.at}`, ack]));
    for (const { key, nodes, by, at, until, reason } of acks) {
      if (before.has(`${key} ${at}`) || (this.#isFirstAcks && Date.parse(at) < sinceMs)) continue;
      const whose = nodes === '' ? {} : { nodes, count: NameRanges.of(nodes)?.size ?? 0 };
      const what = { event: 'acknowledged', ...whose, key, by, until: iso(until), ...(reason && { why: reason }) };
      this.#note(what, this.#monotonic(Date.parse(at)));
    }
    this.#isFirstAcks = false;
    const withdrawn = [...before.values()].filter(({ until }) => Date.parse(until) > this.#clocks.realMs);
    for (const key of new Set(withdrawn.map(({ key }) => key)))
      if (acks.every(ack => ack.key !== key)) this.#note({ event: 'withdrawn', key }, this.#clocks.monoMs);
  }

  /** What the reader of a scheduler says of odd nodes; undefined: nobody knows now. After the first look. */
  tellMarks(said: SchedulerState | undefined): void {
    for (const one of this.#marks.look(said, this.names, this.#clocks.monoMs)) this.#add(one);
  }

  /** What goes on, for the head of a segment. */
  repeated(): Generator<Line> {
    return this.#going.repeated();
  }

  /**
   * How often everything has happened by the lines before: so often that a segment of full size has it, also if lines fill
   * several at once, and where a daemon begins if its lines tell it of another boot alone; none if that takes too much.
   */
  counts(isDue = this.#uncounted >= this.segmentBytes / 4): RecordedLine[] {
    if (!isDue || !this.remembers) return [];
    const since = this.names.map((_, i) => sinceOf(this.#follows.memoryOf(i)));
    const lines = [...PROBLEMS, undefined].flatMap(problem => {
      const found = this.names.flatMap((node, i) => {
        const times = this.#going.counted(node, problem, since[i] as number)?.times;
        return times === undefined ? [] : [[node, times] as const];
      });
      // That of silences also stands there if there were none: then all are counted.
      if (found.length === 0 && problem !== undefined) return [];
      return { event: 'counts', repeated: true, ...(problem && { problem }), counts: countsOf(found) };
    });
    this.#uncounted = 0;
    const isLong = JSON.stringify(lines).length > Math.min(this.segmentBytes / 8, LINE_BYTES);
    return isLong ? [] : lines.map(line => this.#entry(line));
  }

  get #follows(): ChangeFollower {
    return this.#follower as ChangeFollower;
  }

  #changes(): BoardChange[] {
    if (this.#follower === undefined) {
      const { header } = this.reader.nodeStates().board;
      this.#readTo = this.#resume(header.master_boot_id, header.created_real_ns, header.event_last ?? 0);
      this.#follower = new ChangeFollower(this.reader, { last: 0, next: this.#readTo + 1, again: this.#lacks });
    }
    return this.#follower.look(false);
  }

  /** Takes up the journal's last lines where they are of this boot. Returns the last event of the ring that was read. */
  #resume(boot: bigint, createdNs: bigint, lastEvent: number): number {
    const id = lineId(boot, createdNs, 0);
    const { past } = this;
    this.past = [];
    const ours = past.filter(line => line.id.startsWith(id.slice(0, 17)));
    for (const line of ours) this.#going.apply(line);
    if (!this.#going.isCounted) this.#uncounted = Number.POSITIVE_INFINITY;
    // What else is repeated was written when it began.
    const whole = ours.filter(({ event, repeated }) => !repeated || event === 'counts');
    // A journal that begins now tells nothing of before; one that goes on after a boot tells all of that boot.
    if (past.every(line => line.event === 'counts' && !isCountOfAll(line))) return lastEvent;
    this.#isOther = !past.at(-1)?.id.startsWith(id.slice(0, -1));
    this.#knownFromMs = ours.length < past.length ? 0 : (whole[0]?.mono_ms ?? 0);
    // That of lost lines is written before those that wait.
    const last = whole.findLast(({ event }) => event !== 'lost');
    if (last === undefined || last.ring > lastEvent) return 0;
    // A board that was made from nothing counts anew: all that has those numbers there came after the line.
    const read = this.reader.events(1, RING).events.filter(({ number }) => number <= last.ring);
    const isAnew = read.length > 0 && read.every(({ stampNs }) => msOf(stampNs) > last.mono_ms + LATER_MS);
    if (this.#isOther && isAnew) return 0;
    this.#lacks = new Set(tryExpand(last.ring_waits ?? '', 'any')?.map(Number));
    return last.ring;
  }

  #tellStep(before: MasterClocks, now: MasterClocks): void {
    const by_ms = Math.round(now.realMs - now.monoMs - (before.realMs - before.monoMs));
    if (Math.abs(by_ms) >= STEP_MS) this.#note({ event: 'clock_step', by_ms }, now.monoMs);
  }

  /** A time of the wall clock, ms, as one of CLOCK_MONOTONIC. */
  #monotonic(realMs: number): number {
    return realMs - this.#clocks.realMs + this.#clocks.monoMs;
  }

  #add(one: Occurrence): void {
    for (const number of one.ring ?? []) this.#waits.add(number);
    if (this.#limiter.admits(one, this.#clocks.monoMs)) this.#grouping.add(one, this.#clocks.monoMs);
  }

  #tell(change: BoardChange): void {
    const fromMs = this.#monotonic(msOf(change.at));
    switch (change.event) {
      case 'begin':
      case 'board': {
        const { event, nodes: count, states } = change;
        if (event === 'board' || this.#isOther) this.#note({ event: 'board', count, states, ...this.#late }, fromMs);
        break;
      }
      case 'no_board':
        this.#note({ event: 'no_board', why: change.why }, fromMs);
        break;
      case 'stalled':
        // This stall was noted before: it goes on, on another board or as the daemon starts.
        if (this.#stalledMs !== undefined) break;
        this.#stalledMs = fromMs - (change.heartbeat_age_ms ?? 0);
        if (this.#isFirst && this.#going.isTold('stalled', undefined, '', this.#stalledMs)) break;
        this.#note({ event: 'stalled', closed: change.closed, master: change.master }, this.#stalledMs);
        break;
      case 'resumed':
        this.#note({ event: 'resumed', master: change.master }, this.#stalledMs ?? fromMs, fromMs);
        this.#stalledMs = undefined;
        break;
      case 'lost':
        this.#note({ event: 'lost', count: change.count, why: 'ring' }, fromMs);
        break;
      case 'state':
        // All other changes of state are told by the memory, with their times.
        if (change.to === undefined) this.#add({ what: { event: 'removed' }, node: change.node, fromMs });
        else if (change.from === undefined) this.#add({ what: { event: 'new' }, node: change.node, fromMs });
        break;
      case 'problem':
      case 'problem_resolved':
        break;
      default:
        this.#tellRing(change, fromMs);
    }
  }

  /** A receiver that runs ends the stall of one before it, also on another board and if the daemon was away. */
  #tellRunning(changes: readonly BoardChange[]): void {
    if (this.#isFirst) this.#going.drop('stalled', undefined, '');
    const board = changes.find(({ event }) => event === 'board');
    if (board === undefined || this.#stalledMs === undefined) return;
    this.#note({ event: 'resumed' }, this.#stalledMs, this.#monotonic(msOf(board.at)));
    this.#stalledMs = undefined;
  }

  /** Of the board itself: never only counted. */
  #note(what: Happening, fromMs: number, toMs?: number): void {
    this.#grouping.add({ what, fromMs, toMs }, this.#clocks.monoMs);
  }

  #tellRing(change: Extract<BoardChange, { readonly number: number }>, aboutMs: number): void {
    const { at: _, number, node, event, last_words: __, deaf_ms, ...rest } = change;
    // The wall clock may have been set since.
    const [entry] = this.reader.events(number, 1).events;
    const fromMs = entry?.number === number ? msOf(entry.stampNs) : aboutMs;
    if (deaf_ms !== undefined)
      this.#add({ what: { event: 'deaf' }, fromMs: fromMs - deaf_ms, toMs: fromMs, ring: [number] });
    // A boot is told by the memory, with what was said before it.
    else if (event !== 'reboot' || this.remembers === false)
      this.#add({ what: { event: event === 'reboot' ? 'boot' : event, ...rest }, node, fromMs, ring: [number] });
  }

  /** What the memories of trouble say that they did not say at the last look. */
  #remember(): void {
    const changes = this.#follows.remembered();
    let step = changes.next();
    for (; step.done !== true; step = changes.next()) {
      const { before, now, isAnew } = step.value;
      this.#tellBoot(step.value);
      this.#tellSpell(step.value, undefined);
      if (isAnew || before.recentBits !== now.recentBits || before.bootMs !== now.bootMs)
        for (const problem of PROBLEMS) this.#tellSpell(step.value, problem);
    }
    this.remembers = step.value;
    if (this.#isFirst) this.#confirm();
    if (this.#isFirst && this.#knownFromMs === Number.POSITIVE_INFINITY) this.#knownFromMs = this.#clocks.monoMs;
    this.#isFirst = false;
  }

  /** What the journal's last lines say of nodes that are not on this board, or not remembered, goes on no longer. */
  #confirm(): void {
    const numbers = new Map(this.names.map((name, i) => [name, i]));
    for (const { event, problem, nodes } of this.#going.repeated()) {
      // The scheduler's reader says which marks stand.
      if (event === 'odd') continue;
      for (const node of nodes === undefined ? [] : expand(nodes, BOARD_MOST)) {
        const number = numbers.get(node);
        const memory = number === undefined || !this.remembers ? undefined : this.#follows.memoryOf(number);
        const isOn = event === 'silent' ? memory?.silence : memory?.episode(problem as Problem);
        if (isOn === undefined) this.#going.drop(event, problem, node);
      }
    }
  }

  #tellBoot({ index, node, before, now, boots }: RememberedChange): void {
    const lastMs = now.bootMs === undefined ? undefined : timeOf(now, now.bootMs);
    // The memory has the last one, with what was said before it; the ring those before.
    const last = boots.find(({ stampNs }) => msOf(stampNs) >= (lastMs ?? Number.POSITIVE_INFINITY) - CLOSE_MS)?.number;
    const isOld = (fromMs: number, number = 0) => {
      const isLacking = this.#isFirst && (number > this.#readTo || this.#lacks.has(number));
      return this.#isOld('boot', undefined, node, fromMs, isLacking);
    };
    for (const { number, stampNs } of boots)
      if (number !== last && !isOld(msOf(stampNs), number))
        this.#add({ what: { event: 'boot', ...this.#late }, node, fromMs: msOf(stampNs), ring: [number] });
    if (lastMs === undefined || isOld(lastMs, last)) return;
    const { lastWords } = now;
    const wordsMs = lastWords && timeOf(now, lastWords.reportedMs);
    const was = before.lastWords && timeOf(before, before.lastWords.reportedMs);
    // New words are of this boot, however long it took.
    const isNews = !this.#isFirst && wordsMs !== was;
    const isSaid = lastWords !== undefined && (isNews || this.#follows.bootWords(index, now.bootNs) !== undefined);
    const how = isSaid ? { last_words: lastWords.rows } : this.#isFirst ? {} : { goodbye: true };
    const what = { event: 'boot', ...how, ...this.#late };
    this.#add({ what, node, fromMs: lastMs, wordsMs: isSaid ? wordsMs : undefined, ring: last ? [last] : [] });
  }

  /** A silence, or the episode of a problem. */
  #tellSpell({ node, before, now, isAnew }: RememberedChange, problem: Problem | undefined): void {
    const begin = problem === undefined ? 'silent' : 'problem';
    const end = ENDS[begin];
    const which = problem === undefined ? {} : { problem };
    const [was, is] = [spellOf(before, problem), spellOf(now, problem)];
    // The same on another board may have been written by another clock.
    const likeMs = isAnew ? LATER_MS : 0;
    // And of a node that is silent another master may have heard more.
    const lasts = isAnew && was?.toMs === undefined && was?.count === is?.count && sinceOf(before) === sinceOf(now);
    const isSame = was !== undefined && is !== undefined && (lasts || Math.abs(was.fromMs - is.fromMs) <= likeMs);
    if (isSame && (was.toMs === undefined) === (is.toMs === undefined)) return;
    const ends = (beganMs: number, toMs: number, how: Partial<Happening>) => {
      // As its begin was told, though it may have moved since.
      const toldMs = this.#going.goesOn(begin, problem, node) ? this.#going.toldMs(begin, problem, node) : undefined;
      const fromMs = Math.min(beganMs, toldMs ?? beganMs);
      this.#going.end(begin, problem, node);
      this.#add({ what: { event: end, ...which, ...how }, node, fromMs, toMs: Math.max(fromMs, toMs) });
    };
    // It has ended unseen: at the latest when the next one began, or as it was last seen, or when a board that was made
    // from nothing heard the node.
    if (!isSame && was !== undefined && was.toMs === undefined) {
      const overMs = was.seenMs ?? is?.fromMs;
      if (overMs !== undefined) ends(was.fromMs, overMs, { late: true });
    }
    if (is === undefined) {
      const fromMs = problem === undefined ? this.#going.toldMs(begin, undefined, node) : undefined;
      if (fromMs === undefined || now.heardMs === undefined) return;
      const heardMs = timeOf(now, now.heardMs);
      if (heardMs <= fromMs + LATER_MS) return;
      if (this.#going.goesOn(begin, undefined, node)) ends(fromMs, heardMs, { late: true });
      return;
    }
    const goesOn = this.#going.goesOn(begin, problem, node);
    if (!isSame) {
      const { count: times, fromMs } = is;
      const sinceMs = sinceOf(now);
      const isCounted = this.#isFirst && this.#going.counted(node, problem, sinceMs)?.times === times;
      const isOver = (is.toMs ?? Number.POSITIVE_INFINITY) < this.#knownFromMs;
      const isOld = isCounted || this.#isOld(begin, problem, node, fromMs, !isOver);
      // Where nobody knows of how many the journal tells, it tells of all.
      const isKnown = this.#going.isCounted || sinceMs >= this.#knownFromMs;
      if (this.#isFirst && (isOld || !isKnown) && this.#going.counted(node, problem, sinceMs) === undefined)
        this.#going.count(node, problem, { times: times - Number(!isOld), atMs: fromMs, allMs: fromMs });
      const what = { event: begin, ...which, ...is.said, ...this.#late };
      // What was told before it is over, nobody knows since when.
      if (!isOld && goesOn) this.#going.drop(begin, problem, node);
      if (!isOld) this.#add({ what, node, fromMs, counted: { times, sinceMs } });
      else if (!goesOn) return;
    }
    if (is.toMs !== undefined) ends(is.fromMs, is.toMs, { ...is.how, ...this.#late });
  }

  /** What the first look finds was not seen when it happened. */
  get #late(): { late?: true } {
    return this.#isFirst ? { late: true } : {};
  }

  /** Whether that is told already, or was over before the journal began; `isLacking`: that is not so. */
  #isOld(event: string, problem: string | undefined, node: string, fromMs: number, isLacking: boolean): boolean {
    if (this.#going.isTold(event, problem, node, fromMs)) return true;
    if (!isLacking && fromMs < this.#knownFromMs) return true;
    this.#going.tell(event, problem, node, fromMs);
    return false;
  }

  get #clocks(): MasterClocks {
    return this.#now as MasterClocks;
  }

  #due(all: boolean): RecordedLine[] {
    const { monoMs, realMs } = this.#clocks;
    // While the ring still has what waits, and a line has room for its numbers.
    for (const one of this.#limiter.due(monoMs, all || this.#waits.size > 1024)) this.#grouping.add(one, monoMs);
    const wall = (ms: number) => new Date(Math.round(ms - monoMs + realMs)).toISOString();
    return this.#grouping.take(monoMs, all).flatMap(group => {
      for (const number of group.ring) this.#waits.delete(number);
      const silent = group.what.event === 'silent' ? [...group.nodes] : [];
      const { missed, sinceMs } = this.#going.missed(group);
      const counted = missed > 0 ? { missed, missed_since: wall(sinceMs) } : {};
      const recorded = this.#entry({ ...happeningOf(group, wall), ...counted });
      return [{ ...recorded, silent, jobs: byJob(group.jobs) }, ...this.counts()];
    });
  }

  /** The next line. */
  #entry(happening: Happening): RecordedLine {
    const { monoMs, realMs } = this.#clocks;
    const { bootId, createdRealNs } = this.#follows.origin;
    return this.#recorded({
      id: lineId(bootId, createdRealNs, ++this.#number),
      at: new Date(Math.round(realMs)).toISOString(),
      mono_ms: Math.round(monoMs),
      board: this.board,
      ring: this.#follows.ring,
      // What still waits is read again if this daemon is killed.
      ...(this.#waits.size > 0 && { ring_waits: fold(Array.from(this.#waits, number => `e${number}`)).slice(1) }),
      ...happening,
    });
  }

  #recorded(line: Line): RecordedLine {
    this.#going.apply(line);
    this.#uncounted += JSON.stringify(line).length;
    return { line, silent: [], jobs: [] };
  }
}
