// `status --watch` on a terminal: looks at the board once a second, takes keys, and draws. watchframe.ts makes the
// screens, and watchstate.ts says what keys do.

import { ackFile, type FoundAcks } from '../acks/ackfile.js';
import type { TroubleInfo } from '../acks/info.js';
import { EventFeed } from '../events/eventfeed.js';
import type { Grouping } from '../options/options.js';
import { chosenColumns, sortField } from '../query/columns.js';
import { Roster } from '../query/sorting.js';
import { type Surveyed, survey } from '../query/survey.js';
import { SchedulerViewFollower } from '../schedulerfile/schedulerview.js';
import { FileFollower } from '../service/leftfile.js';
import { endBySignal } from '../service/process.js';
import { NoBoard } from '../shm/noboard.js';
import type { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { ESCAPE_MS, flushed, type Keystroke, readKeys } from '../terminal/keystrokes.js';
import { followStops, Screen } from '../terminal/screen.js';
import type { Painter } from '../terminal/style.js';
import { fold } from '../text/hostlists.js';
import { oneLine } from '../text/text.js';
import { troubleOf } from '../trouble/trouble.js';
import type { CommandOptions } from './commandline.js';
import { totalsTexts } from './totalstext.js';
import { type Appearance, type BoardSeen, bodyOf, frame } from './watchframe.js';
import { jobsSeen } from './watchjobs.js';
import { choiceOf, press, type ShownScreen, type WatchFilter, type WatchView } from './watchstate.js';

interface Start {
  readonly nodes: readonly string[] | undefined;
  readonly where: WatchFilter['where'];
  readonly sort: string | undefined;
  readonly columns: readonly string[] | undefined;
  readonly exceptions: boolean;
  readonly long: boolean;
  readonly by: Grouping | undefined;
  /** The same in the texts of the options. */
  readonly asked: CommandOptions;
  /** The folder with a scheduler's answers. */
  readonly slurmDir: string;
  /** Whether they have columns of their own; otherwise only the jobs of nodes in trouble are told. */
  readonly jobs: boolean;
  /** The folder where journals say how they are. */
  readonly journals: string;
  readonly paint: Painter;
}

const PERIOD_MS = 1000;
/** For how long the trouble of the last look stays on the screen while no node or link changes its state. */
const TROUBLE_FOR_MS = 4500;
/** Another number means that another node has a problem, or had one recently. */
const illness = (all: readonly Surveyed[]) =>
  all.reduce((sum, { problems, recent }) => (Math.imul(sum, 31) + Math.imul(problems, 65_537) + recent) | 0, 0);
/** The parts of a view that determine which rows there are, and their order. */
const ASKED = ['sort', 'exceptions', 'long', 'grouped', 'filter'] as const;
const ENDS = ['SIGINT', 'SIGTERM', 'SIGQUIT'] as const;

/** What was seen, what is asked for, and the screen that shows it. */
class Session {
  readonly #roster = new Roster();
  readonly #look: Appearance;
  readonly #grouping: Grouping | undefined;
  readonly #journals: string;
  readonly #slurm: SchedulerViewFollower;
  readonly #acks: FileFollower<FoundAcks>;
  readonly #events: EventFeed;
  #looks = 0;
  #view: WatchView;
  #trouble: { at: number; states: string; filter?: WatchFilter; known: unknown[]; lines: readonly TroubleInfo[] } = {
    ...{ at: 0, states: '', known: [], lines: [] },
  };
  #seen: BoardSeen = { absent: 'not looked at yet' };
  #shown: ShownScreen = { rows: [], room: 0, columns: [] };
  /** Called when another program has left something new. */
  learned = (): void => {};

  /** Throws an InputError for an unknown column or field. */
  constructor(
    readonly reader: BoardReader,
    readonly screen: Screen,
    { nodes, where, sort, columns, exceptions, long, by, asked, slurmDir, jobs, journals, paint }: Start,
  ) {
    if (sort !== undefined) sortField(sort);
    if (by !== undefined && 'field' in by) sortField(by.field);
    this.#grouping = by;
    this.#journals = journals;
    this.#acks = new FileFollower(ackFile(reader.path), () => this.learned());
    this.#events = new EventFeed(reader, journals, true);
    this.#slurm = new SchedulerViewFollower(slurmDir, () => this.learned());
    const list = nodes && { text: asked.nodes ?? fold(nodes), names: nodes };
    // The same words as in beoboard demo.
    const page = process.env.BEOBOARD_PAGE ? oneLine(process.env.BEOBOARD_PAGE) : undefined;
    this.#look = { paint, columns: columns && chosenColumns(columns), widths: new Map(), asked, page, jobs };
    this.#view = {
      page: 'table',
      sort,
      exceptions,
      // A user who chooses columns wants to see them.
      long: long || columns !== undefined || jobs,
      grouped: by && true,
      filter: { where, list },
      selected: { row: 0 },
      top: 0,
      scrolled: 0,
    };
  }

  look(): void {
    try {
      const snapshot = this.reader.snapshot();
      this.#events.follow(++this.#looks, snapshot);
      this.#survey(snapshot);
    } catch (error) {
      if (!(error instanceof NoBoard)) throw error;
      this.#events.follow(++this.#looks, undefined);
      this.#seen = { absent: error.message, atMs: Date.now() };
    }
  }

  close(): void {
    this.#events.close();
  }

  #survey(snapshot: Snapshot): void {
    const names = this.#roster.names(snapshot);
    const found = survey(snapshot, choiceOf(this.#view.filter), names);
    const slurm = this.#slurm.view(names);
    const { filter } = this.#view;
    const links = snapshot.links.map(({ state, darkSinceNs }) => `${state} ${darkSinceNs}`);
    const states = [snapshot.filtering, ...Object.values(found.standing.states), ...links, illness(found.all)].join();
    const now = performance.now();
    // Comparing all nodes takes as long as everything else, and trouble among unchanged nodes changes slowly.
    const acks = this.#acks.found;
    const known = [slurm.pairing, acks];
    const last = this.#trouble;
    const isSame = states === last.states && filter === last.filter && known.every((one, n) => one === last.known[n]);
    if (!isSame || now - last.at > TROUBLE_FOR_MS) {
      const lines = troubleOf(found, {
        scheduler: this.#look.jobs || slurm.isKnown ? slurm : undefined,
        journals: this.#journals,
        ...acks,
      });
      this.#trouble = { at: now, states, filter, known, lines };
    }
    const body = bodyOf(found, this.#view, this.#grouping, this.#roster.byName);
    const events = { kept: this.#events.log.kept, from: this.#events.from };
    const jobs = jobsSeen(found, slurm, { board: this.reader.path, journalRun: this.#journals });
    this.#seen = { found, body, trouble: this.#trouble.lines, events, totals: totalsTexts(found, 10), jobs, slurm };
  }

  draw(): void {
    const { lines, view, shown } = frame(this.#view, this.#seen, this.screen.size, this.#look);
    [this.#view, this.#shown] = [view, shown];
    this.screen.draw(lines);
  }

  /** Draws the same on another screen: its size has changed, or another program has written on it. */
  redraw(): void {
    this.#look.widths.clear();
    this.screen.clear();
    this.draw();
  }

  /** Takes a key; returns what else the key asks for. */
  press(key: Keystroke): 'quit' | 'suspend' | undefined {
    const before = this.#view;
    const { view, deed } = press(before, key, this.#shown);
    this.#view = view;
    if (ASKED.some(what => view[what] !== before[what])) {
      this.#look.widths.clear();
      // The snapshot is valid until the next one.
      if ('found' in this.#seen) this.#survey(this.#seen.found.snapshot);
    }
    if (deed === 'redraw') this.redraw();
    else this.draw();
    return deed === 'redraw' ? undefined : deed;
  }
}

/** Calls `act` now and once a second, on a grid that does not shift when a call is late; returns what ends it. */
function everySecond(act: () => void): () => void {
  let due = performance.now();
  let timer: NodeJS.Timeout;
  const tick = () => {
    act();
    const now = performance.now();
    // Ticks that were slept through are skipped.
    due += PERIOD_MS * Math.max(1, Math.ceil((now - due) / PERIOD_MS));
    timer = setTimeout(tick, due - now);
  };
  tick();
  return () => clearTimeout(timer);
}

/** A run that ends, or fails by an error in a function that the event loop calls; and what is undone then. */
class Run {
  readonly over: Promise<void>;
  end!: () => void;
  #fail!: (error: unknown) => void;
  readonly #undo: (() => void)[] = [];

  constructor() {
    this.over = new Promise((end, fail) => {
      this.end = end;
      this.#fail = fail;
    });
  }

  /** The same function, whose errors end the run. */
  guarded<A extends unknown[]>(act: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      try {
        act(...args);
      } catch (error) {
        this.#fail(error);
      }
    };
  }

  on<A extends unknown[]>(emitter: NodeJS.EventEmitter, event: string, act: (...args: A) => void): void {
    const listener = this.guarded(act) as () => void;
    emitter.on(event, listener);
    this.atEnd(() => emitter.off(event, listener));
  }

  /** The last one is called first. */
  atEnd(act: () => void): void {
    this.#undo.push(act);
  }

  close(): void {
    for (const act of this.#undo.reverse()) act();
  }
}

/** Calls `take` with the keys that are pressed. An Escape is one as soon as nothing has followed it for a while. */
function readKeysFrom(input: NodeJS.ReadStream, run: Run, take: (keys: readonly Keystroke[]) => void): void {
  let rest = '';
  let patience: NodeJS.Timeout | undefined;
  const flush = run.guarded(() => {
    const keys = flushed(rest);
    rest = '';
    take(keys);
  });
  input.setEncoding('utf8');
  run.on(input, 'data', (text: string) => {
    clearTimeout(patience);
    const read = readKeys(rest + text);
    rest = read.rest;
    if (rest !== '') patience = setTimeout(flush, ESCAPE_MS);
    take(read.keys);
  });
  // A terminal that was hung up has no more keys; SIGHUP ends the program.
  run.on(input, 'error', () => input.pause());
  run.atEnd(() => clearTimeout(patience));
}

/**
 * Shows the board on the terminal until a key or a signal ends it, and returns the exit code. However it ends, the
 * terminal is restored. Waits for a board that is absent. Throws an InputError before anything is shown.
 */
export async function watch(reader: BoardReader, start: Start): Promise<number> {
  const input = process.stdin.isTTY ? process.stdin : undefined;
  const screen = new Screen(process.stdout, input);
  const session = new Session(reader, screen, start);
  const run = new Run();
  run.atEnd(() => session.close());
  run.atEnd(() => screen.leave());
  try {
    const stops = followStops(
      screen,
      run.guarded(() => session.draw()),
    );
    run.atEnd(stops.end);
    for (const signal of ENDS) run.on(process, signal, run.end);
    run.on(process, 'SIGHUP', () => {
      screen.leave();
      endBySignal('SIGHUP');
    });
    run.on(process.stdout, 'resize', () => session.redraw());
    if (input !== undefined)
      readKeysFrom(input, run, keys => {
        for (const key of keys) {
          const deed = session.press(key);
          if (deed === 'quit') run.end();
          if (deed === 'suspend') stops.suspend(0);
        }
      });
    const show = run.guarded(() => {
      session.look();
      session.draw();
    });
    session.learned = show;
    run.atEnd(() => {
      session.learned = () => {};
    });
    screen.enter();
    run.atEnd(everySecond(show));
    await run.over;
  } finally {
    run.close();
  }
  return 0;
}
