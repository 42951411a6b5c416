// The verb `journal`: a daemon that writes what a board goes through into files. Only reads the board.

import { ackFile, type FoundAcks } from '../acks/ackfile.js';
import type { Line } from '../journalfile/format.js';
import { removeState, writeState } from '../journalfile/state.js';
import { defineVerb, parseVerb, type ValuesOf } from '../options/options.js';
import { VERSION } from '../options/version.js';
import { OrdersFollower, type OrdersTaken } from '../schedulerfile/orderfile.js';
import { onHangup, tellLasting } from '../service/hangup.js';
import { FileFollower } from '../service/leftfile.js';
import { createLog, type Log } from '../service/log.js';
import { pause } from '../service/pause.js';
import { tellParent } from '../service/process.js';
import { beginDaemon } from '../service/service.js';
import { NoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { formatDuration } from '../text/durations.js';
import { words } from '../text/tables.js';
import { oneLine } from '../text/text.js';
import { HourCounts } from './hourcounts.js';
import { JournalJobs } from './jobs.js';
import { JournalRecorder, type MasterClocks, type RecordedLine } from './recorder.js';
import { Store, type WrittenLine } from './store.js';

export const verb = defineVerb({
  name: 'journal',
  options: words('journal-dir keep most name journal-run slurm-dir bridge-dir board owner config'),
  examples: ['beoboard journal', 'beoboard journal --journal-dir /var/log/beoboard/east --name east --keep 90d'],
  notes: `Writes JSON lines: when nodes fell silent and were heard again, problems with their begin and end, boots with what was said last, links,
rejected reports, the receiver's own faults, and, for those who may read them, the jobs on nodes that fell silent or differ from the others: docs/journal.md has
them all. beoboard events --since reads them. It looks once a second; what happened while it did not run it takes from the board. Lines
are on the disk within 4 s. Nodes to which the same happens within 2 s share a line; from the fourth time within a minute on it is counted. If
nothing can be written, as on a full disk, it waits, says so in its log and in --journal-run, and beoboard check warns.
SIGHUP reads --keep and --most again. SIGTERM and SIGINT stop it.`,
});

type JournalOptions = ValuesOf<typeof verb>;

const LOOK_MS = 1000;
/** The time from one state to the next. */
const STATE_MS = 10_000;
/** What it is bound to while it runs. */
const LASTING = ['board', 'owner', 'name', 'journalDir', 'journalRun', 'slurmDir', 'bridgeDir'] as const;

function clocksNow(): MasterClocks {
  return { monoMs: Number(process.hrtime.bigint()) / 1e6, realMs: Date.now() };
}

/** Leaves for others how the journal is, at each change and now and then. */
class StateKeeper {
  #next = 0;
  #told = '';

  constructor(
    private readonly options: JournalOptions,
    private readonly store: Store,
    private readonly hour: HourCounts,
    private readonly log: Log,
  ) {}

  look({ monoMs, realMs }: MasterClocks): void {
    const { trouble, dropped, lastId } = this.store;
    const told = `${trouble?.why} ${dropped}`;
    if (monoMs < this.#next && told === this.#told) return;
    this.#told = told;
    this.#next = monoMs + STATE_MS;
    const { journalRun, name, board, journalDir } = this.options;
    try {
      writeState(journalRun, name, {
        ...{ schema: 1, board, journal_dir: journalDir, pid: process.pid, last_id: lastId },
        ...{ time_ms: realMs, mono_ms: monoMs, next_ms: this.#next },
        ...{ times_hour: this.hour.most(realMs), often_hour: this.hour.often(realMs) },
        ...(trouble && { error: trouble.why, error_since_ms: trouble.sinceMs, dropped }),
      });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      this.log.seldom('state', `cannot write into ${oneLine(journalRun)}: ${code}; nobody learns there how it is`);
    }
  }
}

/** Logs when writing fails, and when it goes on. */
class TroubleLog {
  #sinceMs: number | undefined;

  constructor(private readonly log: Log) {}

  look({ trouble, dropped }: Store, nowMs: number): void {
    if (trouble !== undefined) {
      const lost = dropped > 0 ? `; ${dropped} lines are lost so far` : '';
      this.log.seldom('disk', `${trouble.why}; lines wait${lost}`);
      this.#sinceMs ??= trouble.sinceMs;
    } else if (this.#sinceMs !== undefined) {
      this.log.info(`writes again, after ${formatDuration(Math.max(0, nowMs - this.#sinceMs))}`);
      this.#sinceMs = undefined;
    }
  }
}

/** The last order of the bridge that these lines tell. */
function takenBy(lines: readonly Line[]): OrdersTaken | undefined {
  const last = lines.findLast(({ order }) => order !== undefined);
  return last === undefined ? undefined : { since_ms: last.order_since_ms ?? 0, n: last.order ?? 0 };
}

class RunningJournal {
  readonly #reader: BoardReader;
  readonly #jobs: JournalJobs;
  readonly #orders: OrdersFollower;
  /** Earlier orders and acknowledgements are told, or older than the journal. */
  readonly #pastFromMs: number;
  readonly #acks: FileFollower<FoundAcks>;
  readonly store: Store;
  readonly #recorder: JournalRecorder;
  readonly #hour = new HourCounts();
  readonly #states: StateKeeper;
  readonly #troubles: TroubleLog;
  #flushing: Promise<void> | undefined;
  looks = 0;

  /** Throws a Failure. */
  constructor(
    private readonly options: JournalOptions,
    private readonly log: Log,
  ) {
    const { board, owner, slurmDir, journalDir, name, keep, most } = options;
    this.#reader = new BoardReader(board, owner);
    this.#jobs = new JournalJobs(slurmDir);
    this.store = new Store(
      journalDir,
      { keepMs: keep, mostBytes: most },
      () => this.#recorder.repeated(),
      count => this.#recorder.lost(count, 'disk').line,
    );
    const past = this.store.readPast();
    for (const line of past) this.#hour.add(line);
    this.#recorder = new JournalRecorder(this.#reader, name, VERSION, past);
    this.#orders = new OrdersFollower(options.bridgeDir, takenBy(past));
    this.#pastFromMs = Date.parse(past.find(({ repeated }) => !repeated)?.at ?? '') || Date.now();
    this.#acks = new FileFollower(ackFile(board));
    this.#states = new StateKeeper(options, this.store, this.#hour, log);
    this.#troubles = new TroubleLog(log);
  }

  get status(): string {
    return this.store.trouble?.why ?? `writes ${oneLine(this.options.journalDir)}`;
  }

  #add(entries: readonly RecordedLine[]): void {
    const { names } = this.#recorder;
    for (const { line } of entries) this.#hour.add(line);
    this.store.add(
      entries.map(({ line, silent, jobs: told }): WrittenLine => {
        const jobs = silent.length === 0 ? told : this.#jobs.on(silent, names);
        return jobs.length === 0 ? { line } : { line, jobs: { id: line.id, jobs } };
      }),
    );
  }

  look(clocks: MasterClocks): void {
    void this.#jobs.look();
    try {
      this.#recorder.segmentBytes = this.store.segmentBytes;
      this.#add(this.#recorder.look(clocks));
      const orders = this.#orders.next().filter(({ time_ms }) => time_ms >= this.#pastFromMs);
      this.#recorder.tellOrders(orders, this.#orders.missed, this.#orders.taken?.since_ms ?? 0);
      this.#recorder.tellMarks(this.#jobs.current);
      const { acks, acksWhy } = this.#acks.found ?? {};
      if (acks !== undefined && acksWhy === undefined) this.#recorder.tellAcks(acks, this.#pastFromMs);
      if (this.#orders.trouble !== undefined) this.log.seldom('orders', this.#orders.trouble);
      if (this.looks++ === 0) tellParent({ writing: this.options.journalDir });
      if (this.#recorder.remembers === false)
        this.log.seldom('memory', 'this board remembers no trouble: restart beoboard receive, of this version');
    } catch (error) {
      if (!(error instanceof NoBoard)) throw error;
      this.log.seldom('board', `${error.message}; waits for it`);
    }
    // A disk that hangs must not keep us from looking.
    this.#flushing ??= this.store.flush(clocks.realMs, clocks.monoMs).finally(() => {
      this.#flushing = undefined;
    });
    this.#troubles.look(this.store, clocks.realMs);
    this.#states.look(clocks);
  }

  async end(clocks: MasterClocks): Promise<void> {
    await this.#flushing;
    if (this.looks > 0) this.#add(this.#recorder.end(clocks));
    await this.store.end(clocks.realMs, clocks.monoMs);
    if (this.store.waiting > 0) this.log.error(`${this.status}; ${this.store.waiting} lines are lost`);
    removeState(this.options.journalRun, this.options.name);
    this.#reader.close();
  }
}

export async function main(argv: string[]): Promise<number> {
  const log = createLog(verb.name);
  const { service, stop } = beginDaemon();
  const options: JournalOptions = parseVerb(verb, argv).values;
  const journal = new RunningJournal(options, log);
  onHangup(
    log,
    service,
    () => journal.status,
    () => {
      const now: JournalOptions = parseVerb(verb, argv).values;
      tellLasting(log, LASTING, options, now);
      journal.store.bounds = { keepMs: now.keep, mostBytes: now.most };
      log.info('read its options again');
    },
  );
  let isAlive = false;
  service.watch(() => {
    const wasAlive = isAlive;
    isAlive = false;
    return wasAlive;
  });
  service.ready(journal.status);
  log.info(journal.status);
  while (!stop.aborted) {
    const clocks = clocksNow();
    journal.store.keepLock();
    journal.look(clocks);
    isAlive = true;
    service.status(journal.status);
    await pause(Math.max(0, clocks.monoMs + LOOK_MS - clocksNow().monoMs), stop);
  }
  await journal.end(clocksNow());
  log.info('clean shutdown');
  return 0;
}
