// A journal of a made cluster, second by second of a made clock: nodes fall silent, boot and fill their disks, while the
// receiver, the daemon and its disk fail and the wall clock is set. What really happened is known from the rules of the
// contract alone, and compared with the files that are left. No test of its own.

import { cpSync, readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { JournalRecorder } from '../../src/journal/recorder.js';
import { Store } from '../../src/journal/store.js';
import { BEGINS, ENDS, type Line, monotonicOf, TOGETHER_MS } from '../../src/journalfile/format.js';
import { Journal } from '../../src/journalfile/journal.js';
import { Listing, merged } from '../../src/journalfile/listing.js';
import { believedUsers, JournalFolder } from '../../src/journalfile/segments.js';
import { bits } from '../../src/layout/layout.gen.js';
import { random as randomOf } from '../../src/load/simulatednode.js';
import type { Writer } from '../../src/native/index.js';
import { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { monotonicNs } from './clocks.js';
import { validOf } from './madeboard.js';
import { folder } from './places.js';
import { makeReport } from './reports.js';
import { deliver } from './testwriter.js';

/** The limits of the board, and how long a full disk has to be seen well until its episode is over, ms. */
const [FIRST, SECOND, QUIET] = [4500, 10_500, 60_000];
/** So long a run takes, s, and how long before now on the clock of this machine it begins. */
const [RUN_S, CALM_S] = [900, 140];
/** So long a line may wait, ms. */
const HELD_MS = 70_000;
/** So long all boots of a master take, s: the made clock stays behind that of this machine. */
const BOOTS_S = 50;
const LEDGER_S = RUN_S + CALM_S + BOOTS_S + 10;

/** Begins a segment after a few lines. */
class SmallSegments extends Store {
  override get segmentBytes(): number {
    return 4000;
  }
}

/** Something that happened to a node, by the rules; times of the made clock, ms. */
interface TrueEvent {
  readonly kind: 'silent' | 'root_full' | 'boot' | 'goodbye';
  readonly node: string;
  readonly fromMs: number;
  /** Undefined: it goes on, or was forgotten. */
  toMs?: number;
  /** When it was forgotten, or its board was removed. */
  forgottenMs?: number;
  /** Whether a daemon has looked at it since. */
  isSeen?: boolean;
}

interface TrueNode {
  readonly name: string;
  boot: number;
  downMs: number;
  isLow: boolean;
  /** What the board has of it; undefined: no record. */
  known:
    | {
        readonly lastMs: number;
        readonly boot: number;
        readonly goodbye: boolean;
        readonly quietMs: number;
        readonly full: TrueEvent | undefined;
        silence?: TrueEvent;
      }
    | undefined;
}

/** One run. */
class LedgerRun {
  readonly truth: TrueEvent[] = [];
  readonly faults: string[] = [];
  readonly #random: () => number;
  readonly #nodes: TrueNode[];
  readonly #board: string;
  #ms = Math.floor(Number(monotonicNs()) / 1e6) - LEDGER_S * 1000;
  #distance = Date.UTC(2026, 1, 3, 12) - this.#ms;
  #seq = 0;
  #writer: Writer | undefined;
  #capacity = 16;
  #listenMs = 0;
  #reader: BoardReader;
  #recorder: JournalRecorder | undefined;
  #store: Store | undefined;
  #folder = 0;
  #boots = 0;
  #bootsS = BOOTS_S;
  #isBroken = false;
  #isLooked = false;
  #brokenMs = 0;
  /** When the daemon was killed, and since when its lines waited for the disk. */
  readonly #kills: { readonly ms: number; readonly brokenMs: number }[] = [];
  /** The size of each file before the last flush: what follows may be cut by a kill. */
  #sizes = new Map<string, number>();

  constructor(
    readonly at: string,
    readonly seed: number,
    readonly kindOfStore: typeof Store,
  ) {
    this.#random = randomOf(seed);
    this.#board = join(at, 'board');
    const names = expand(`n[1-${3 + (seed % 6)}]`, BOARD_MOST);
    this.#nodes = names.map(name => ({ name, boot: this.#ms - 3_600_000, downMs: 0, isLow: false, known: undefined }));
    this.#open();
    this.#reader = new BoardReader(this.#board);
  }

  get folder(): string {
    return join(this.at, `journal${this.#folder}`);
  }

  /** Whether something with that chance happens now. */
  #happens(chance: number): boolean {
    return this.#random() < chance;
  }

  #between(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  #ns = () => BigInt(this.#ms) * 1_000_000n;

  // ---- the receiver ----

  #open(): void {
    const limits = { uncertainAfter: FIRST, silentAfter: SECOND };
    this.#writer = openWriter({ path: this.#board, cluster: '', capacity: this.#capacity, ...limits, nodes: [] });
    this.#listenMs = this.#ms;
    this.#writer.listeningSince(this.#ns());
  }

  /** What nodes went through is forgotten, with what no daemon has looked at. */
  #forget(nodes: readonly TrueNode[]): void {
    for (const node of nodes) {
      node.known = undefined;
      for (const event of this.truth) if (event.node === node.name) event.forgottenMs ??= this.#ms;
    }
  }

  #silent(node: TrueNode, nowMs: number): void {
    const { known } = node;
    if (known === undefined || known.goodbye || known.silence !== undefined) return;
    if (nowMs - Math.max(known.lastMs, this.#listenMs) <= SECOND) return;
    known.silence = this.#tell({ kind: 'silent', node: node.name, fromMs: known.lastMs });
  }

  #tell(event: TrueEvent): TrueEvent {
    this.truth.push(event);
    return event;
  }

  /** A report arrives. */
  #report(node: TrueNode, goodbye: boolean): void {
    if (this.#writer === undefined) return;
    const { name, boot, isLow } = node;
    const stamp = this.#ms - this.#nodes.indexOf(node);
    const values = {
      ...{ hostname: name, seq: ++this.#seq, boot_id: BigInt(boot), start_boot_ns: 1n },
      ...{ t_boot_ns: BigInt(stamp - boot) * 1_000_000n, flags: goodbye ? 1 << bits.flags.goodbye : 0 },
      ...{ valid: validOf('root'), root_total_mib: 1000, root_avail_mib: isLow ? 1 : 900 },
      root_inodes_free_pm: 900,
    };
    const stampNs = BigInt(stamp) * 1_000_000n;
    const outcome = deliver(this.#writer, makeReport(values), stampNs, stampNs + BigInt(this.#distance) * 1_000_000n);
    if (outcome !== 'accepted') throw new Error(`${name}: ${outcome}`);
    const at = { node: name, fromMs: stamp, toMs: stamp };
    const before = node.known;
    const isBoot = before !== undefined && before.boot !== boot;
    if (before?.silence !== undefined) before.silence.toMs = stamp;
    if (isBoot) this.#tell({ kind: 'boot', ...at });
    else if (goodbye && before?.goodbye !== true) this.#tell({ kind: 'goodbye', ...at });
    let { full, quietMs = 0 } = before ?? {};
    if (isBoot) full = undefined;
    if (isLow) {
      full ??= this.#tell({ kind: 'root_full', node: name, fromMs: stamp });
      [full.toMs, quietMs] = [stamp, 0];
    } else if (full !== undefined && before !== undefined && stamp - before.lastMs <= FIRST) {
      quietMs += stamp - before.lastMs;
      if (quietMs >= QUIET) full = undefined;
    }
    node.known = { lastMs: stamp, boot, goodbye, quietMs, full };
  }

  // ---- the daemon ----

  #start(): void {
    const lost = (count: number) => (this.#recorder as JournalRecorder).lost(count, 'disk').line;
    const repeated = () => (this.#recorder as JournalRecorder).repeated();
    this.#store = new this.kindOfStore(this.folder, { keepMs: 1e12, mostBytes: 512 << 10 }, repeated, lost);
    const past = this.#store.readPast();
    this.#reader.close();
    this.#reader = new BoardReader(this.#board);
    this.#recorder = new JournalRecorder(this.#reader, 'default', '1.2.3', past);
    this.#isLooked = false;
  }

  #clocks = () => ({ monoMs: this.#ms, realMs: this.#ms + this.#distance });

  /** A look, as the daemon has it; `isKilled`: nothing of it is written. */
  async #look(isKilled: boolean): Promise<void> {
    const [recorder, store] = [this.#recorder, this.#store];
    if (recorder === undefined || store === undefined) return;
    this.#writer?.heartbeat(monotonicNs());
    recorder.segmentBytes = store.segmentBytes;
    const lines = recorder.look(this.#clocks());
    this.#isLooked = true;
    this.#writer?.heartbeat(this.#ns());
    if (isKilled) return;
    store.add(lines.map(({ line }) => ({ line })));
    if (!this.#isBroken) this.#sizes = new Map(this.#files().map(path => [path, statSync(path).size]));
    await store.flush(this.#clocks().realMs, this.#ms);
    for (const event of this.truth) if (event.forgottenMs === undefined) event.isSeen = true;
  }

  #files(): string[] {
    return readdirSync(this.folder)
      .filter(name => name.startsWith('events'))
      .sort()
      .map(name => join(this.folder, name));
  }

  #break(isBroken: boolean): void {
    if (isBroken && !this.#isBroken) {
      this.#brokenMs = this.#ms;
      this.#sizes = new Map(this.#files().map(path => [path, statSync(path).size]));
    }
    if (this.#isBroken !== isBroken)
      renameSync(
        ...((isBroken ? [this.folder, `${this.folder}x`] : [`${this.folder}x`, this.folder]) as [string, string]),
      );
    this.#isBroken = isBroken;
  }

  /** SIGKILL: what was being written is cut somewhere. */
  async #kill(): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    this.#kills.push({ ms: this.#ms, brokenMs: this.#isBroken ? this.#brokenMs : Number.POSITIVE_INFINITY });
    await this.#look(this.#happens(0.5));
    this.#break(false);
    const from = this.folder;
    const cut = this.#happens(0.5);
    const last = this.#files().at(-1);
    this.#folder++;
    cpSync(from, this.folder, { recursive: true });
    if (cut && last !== undefined) {
      const size = statSync(last).size;
      const least = this.#sizes.get(last) ?? 0;
      truncateSync(join(this.folder, last.slice(from.length + 1)), this.#between(Math.min(least, size), size));
    }
    [this.#store, this.#recorder] = [undefined, undefined];
    await store.end(this.#clocks().realMs, this.#ms);
    rmSync(from, { recursive: true });
  }

  /** SIGTERM. */
  async end(): Promise<void> {
    if (this.#store === undefined) return;
    this.#break(false);
    if (this.#isLooked) this.#store.add((this.#recorder?.end(this.#clocks()) ?? []).map(({ line }) => ({ line })));
    await this.#store.end(this.#clocks().realMs, this.#ms);
    [this.#store, this.#recorder] = [undefined, undefined];
  }

  // ---- what happens ----

  /** A second in the life of a node: it falls, boots, says goodbye, or its disk fills. `often`: how likely that is. */
  #live(node: TrueNode, often: number): void {
    if (node.downMs > this.#ms) return;
    if (this.#happens(0.01 * often)) {
      node.downMs = this.#ms + 1000 * this.#between(2, 40);
      const goodbye = this.#happens(0.2) && this.#writer !== undefined;
      if (goodbye && node.known !== undefined) this.#report(node, true);
      // A node that was booted is taken for another machine while the one before is live.
      if (goodbye || (node.downMs - this.#ms > 6000 && this.#happens(0.4))) node.boot = node.downMs - 1000;
      return;
    }
    if (this.#happens((node.isLow ? 0.1 : 0.01) * often)) node.isLow = !node.isLow;
    this.#report(node, false);
  }

  async #fault(): Promise<void> {
    const what = this.#between(0, 8);
    const name = ['daemon', 'daemon', 'kill', 'kill', 'receiver', 'disk', 'clock', 'board', 'boot'][what] as string;
    this.faults.push(`${this.#ms} ${name}`);
    if (what <= 1) await (this.#store === undefined ? this.#start() : this.end());
    else if (what <= 3) await (this.#store === undefined ? this.#start() : this.#kill());
    else if (what === 4) {
      if (this.#writer === undefined) {
        this.#capacity = this.#happens(0.3) ? this.#between(16, 40) : this.#capacity;
        this.#open();
      } else {
        this.#writer.close();
        this.#writer = undefined;
      }
    } else if (what === 5 && this.#store !== undefined) this.#break(!this.#isBroken);
    else if (what === 6) this.#distance += 1000 * this.#between(-100_000, 100_000);
    else if (what === 7) {
      if (this.#writer !== undefined && this.#happens(0.5)) {
        const some = this.#nodes.filter(({ known }) => known !== undefined && this.#happens(0.4));
        this.#writer.forget(some.map(({ name }) => name));
        this.#forget(some);
      } else {
        this.#writer?.close();
        rmSync(this.#board, { force: true });
        this.#forget(this.#nodes);
        this.#open();
      }
    } else if (what === 8) await this.#boot();
  }

  /** The master is booted: its board is gone, and what the journal has is of another boot. */
  async #boot(): Promise<void> {
    await (this.#happens(0.5) ? this.#kill() : this.end());
    this.#boots++;
    for (const path of this.#files()) {
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, text.replace(/"id":"(?!0{8})[0-9a-f]+-/g, `"id":"${`${this.#boots}`.padStart(16, '0')}-`));
    }
    this.#writer?.close();
    rmSync(this.#board, { force: true });
    this.#forget(this.#nodes);
    const seconds = Math.min(this.#between(0, 40), this.#bootsS);
    this.#bootsS -= seconds;
    this.#ms += 1000 * seconds;
    this.#open();
    if (this.#happens(0.8)) this.#start();
  }

  /** All of it. */
  async run(): Promise<void> {
    const often = [1, 3, 8][this.seed % 3] as number;
    this.#start();
    for (let second = 0; second < RUN_S + CALM_S; second++) {
      this.#ms += 1000;
      const isCalm = second >= RUN_S;
      if (second === RUN_S) {
        if (this.#writer === undefined) this.#open();
        this.#break(false);
        if (this.#store === undefined) this.#start();
        for (const node of this.#nodes) node.isLow = false;
      }
      for (const node of this.#nodes) this.#live(node, isCalm ? 0 : often);
      this.#writer?.heartbeat(this.#ns());
      this.#writer?.surveySilences(this.#ns());
      if (this.#writer !== undefined) for (const node of this.#nodes) this.#silent(node, this.#ms);
      if (second > 3 && !isCalm && this.#happens(0.02)) await this.#fault();
      await this.#look(false);
    }
    await this.end();
  }

  close(): void {
    this.#writer?.close();
    this.#reader.close();
  }

  // ---- what is left ----

  /** Whether no daemon had written it, or its count, when it was forgotten, for all we know. */
  #isForgotten({ fromMs, isSeen, forgottenMs }: TrueEvent): boolean {
    if (forgottenMs === undefined) return false;
    const mayWait = (ms: number, brokenMs: number) => ms <= forgottenMs + HELD_MS || brokenMs <= fromMs + HELD_MS;
    return !isSeen || this.#kills.some(({ ms, brokenMs }) => fromMs <= ms && mayWait(ms, brokenMs));
  }

  /** What the files say that did not happen, or do not say that did, as sentences. */
  *wrong(): Generator<string> {
    const lines = new Map<string, Line>();
    const journal = new Journal(new JournalFolder(this.folder, believedUsers(undefined)));
    journal.read(Number.NEGATIVE_INFINITY, line => lines.has(line.id) || lines.set(line.id, line));
    journal.close();
    if (journal.unreadable > 0) yield `${journal.unreadable} lines are none`;
    const left = new Map<string, TrueEvent[]>();
    for (const event of this.truth) {
      const key = `${event.kind} ${event.node}`;
      left.set(key, [...(left.get(key) ?? []), event]);
    }
    const ends = new Map([...left].map(([key, events]) => [key, [...events]]));
    let counted = 0;
    for (const line of lines.values()) {
      const { event, problem, nodes = '', id, from = '', from_last = from, to, more = 0, missed = 0 } = line;
      const begin = BEGINS.get(event) ?? event;
      // Of a node that was forgotten, the ring has no name.
      if (!['silent', 'problem', 'boot', 'goodbye'].includes(begin) || nodes === '') continue;
      const isEnd = BEGINS.has(event);
      if (!isEnd) counted += more + missed;
      if (missed > 0 && !((line.missed_since ?? 'x') <= from))
        yield `${id}: missed since ${line.missed_since}, from ${from}`;
      // A daemon that begins knows the begins of nodes which share a line only together.
      const about = isEnd && line.late ? TOGETHER_MS : 10;
      const [first, last] = [monotonicOf(line, from) - about, monotonicOf(line, from_last) + about];
      for (const node of expand(nodes, BOARD_MOST)) {
        const key = `${problem ?? begin} ${node}`;
        const events = (isEnd ? ends : left).get(key) ?? [];
        const near = events.filter(({ fromMs }) => fromMs >= first && fromMs <= last);
        // Of two at once, one was forgotten before anybody looked.
        const seen = near.filter(({ isSeen }) => isSeen);
        const at = events.indexOf((seen.length > 0 ? seen : near).at(isEnd && line.late ? -1 : 0) as TrueEvent);
        if (at < 0) yield `${id}: ${event} ${key} from ${from} did not happen, or stands there twice`;
        const [found] = at < 0 ? [] : events.splice(at, 1);
        if (isEnd && to !== undefined && found !== undefined) {
          if (to < from) yield `${id}: ${event} ${key} ends before it begins`;
          if (left.get(key)?.includes(found) && counted === 0) yield `${id}: ${event} ${key} before its begin`;
          const over = monotonicOf(line, line.to_last ?? to);
          if (
            !line.late &&
            found.toMs !== undefined &&
            (over < found.toMs - 10 || monotonicOf(line, to) > found.toMs + 10)
          )
            yield `${id}: ${event} ${key} ended at ${found.toMs}, told ${over}`;
        }
      }
    }
    const untold = [...left.values()].flat();
    const known = untold.filter(event => !this.#isForgotten(event));
    if (counted < known.length || counted > untold.length)
      yield `${known.length} to ${untold.length} have no line, ${counted} are counted: ${JSON.stringify(known)}`;
    const again = new Journal(new JournalFolder(this.folder, believedUsers(undefined)));
    const listing = new Listing(again, { ...{ sinceMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY } });
    for (const { line, ending, goesOn } of merged([listing])) {
      if (goesOn !== undefined && line.event in ENDS && line.nodes !== undefined)
        yield `${line.id}: ${line.event} of ${line.nodes} goes on`;
      if (ending !== undefined && line.nodes !== undefined && ending.leastMs < -10)
        yield `${line.id}: ${line.event} lasted ${ending.leastMs} ms`;
    }
    again.close();
  }
}

/** Runs so many seeds from that one on, every second one with segments that are smaller than options allow. */
export function eachOnce(t: Test, from: number, seeds: number): void {
  t.setTimeout(seeds * 60_000);
  const skip = Number(monotonicNs()) / 1e9 < LEDGER_S + 100 && 'this machine was booted a moment ago';
  t.test('each event once, or counted', { skip }, async t => {
    for (let seed = from; seed < from + seeds; seed++) {
      const run = new LedgerRun(folder(t), seed, seed % 2 === 0 ? SmallSegments : Store);
      await run.run();
      const wrong = [...run.wrong()];
      t.strictSame(wrong, [], `SEED=${seed} SEEDS=1: ${run.truth.length} events`);
      if (wrong.length > 0) t.comment(run.faults.join('; '));
      run.close();
      rmSync(run.at, { recursive: true });
    }
  });
}
