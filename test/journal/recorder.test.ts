// What a journal says of a board: with a board that a writer of ours fills by a made clock, a second at a time, so that
// hours take seconds. Whatever happens to the daemon meanwhile, each silence and each episode stands there once.
//
// @seconds 12
// @whole
// @days 3

import { rmSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { Ack } from '../../src/acks/acks.js';
import { JournalRecorder, type RecordedLine } from '../../src/journal/recorder.js';
import { type Line, monotonicOf } from '../../src/journalfile/format.js';
import type { Encodable } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { random as randomOf } from '../../src/load/simulatednode.js';
import type { Writer } from '../../src/native/index.js';
import type { OddJobs, OddMark, SchedulerState } from '../../src/schedulerfile/statefile.js';
import { BoardReader } from '../../src/shm/reader.js';
import { openWriter } from '../../src/shm/writer.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { monotonicNs } from '../kit/clocks.js';
import { silencesIn } from '../kit/journals.js';
import { validOf } from '../kit/madeboard.js';
import { boardPath } from '../kit/places.js';
import { makeReport } from '../kit/reports.js';
import { deliver } from '../kit/testwriter.js';
import { NOT_WHOLE, SEED } from '../kit/whole.js';

/** The wall clock less CLOCK_MONOTONIC, ms. */
const DISTANCE = 1_700_000_000_000;

type Values = Encodable<'report'>;

/** What most tests need of the past, s. */
const HALF_HOUR = 1800;
/** The made clock lies in the past of this machine, and no clock begins before it. */
const past = (seconds = HALF_HOUR) => ({
  skip: Number(monotonicNs()) / 1e9 < seconds + 100 && `this machine was booted less than ${seconds} s ago`,
});

/** A board, its nodes, and a daemon that looks at it once a second of a made clock. */
class World {
  readonly path: string;
  writer: Writer;
  readonly lines: Line[] = [];
  recorder: JournalRecorder | undefined;
  /** Called with each new line. */
  taken: (entry: RecordedLine) => void = () => undefined;
  /** The made clock, ms; all of it lies in the past. */
  ms: number;
  distance = DISTANCE;
  #reader: BoardReader;
  #seq = 0;
  #booted = new Map<string, number>();

  constructor(
    private readonly t: Test,
    readonly capacity = 256,
    seconds = HALF_HOUR,
  ) {
    this.path = boardPath(t);
    this.ms = Math.floor(Number(monotonicNs()) / 1e6) - seconds * 1000;
    this.writer = this.open(capacity);
    this.writer.listeningSince(BigInt(this.ms - 60_000) * 1_000_000n);
    this.#reader = new BoardReader(this.path);
    t.teardown(() => this.#reader.close());
  }

  open(capacity: number): Writer {
    const writer = openWriter({
      ...{ path: this.path, cluster: '', capacity, uncertainAfter: 4500, silentAfter: 10_500, nodes: [] },
    });
    this.t.teardown(() => writer.close());
    return writer;
  }

  /** A daemon starts; what it knows stands in the lines. */
  start(): void {
    this.#reader.close();
    this.#reader = new BoardReader(this.path);
    this.recorder = new JournalRecorder(this.#reader, 'default', '1.2.3', [...this.lines]);
  }

  /** What each segment says of all counts. */
  count(): void {
    for (const { line } of this.recorder?.counts(true) ?? []) this.lines.push(line);
  }

  report(name: string, values: Values = {}, offset = 0): void {
    const boot = this.#booted.get(name) ?? 0;
    const t_boot_ns = BigInt(this.ms + offset - boot) * 1_000_000n;
    const stamp = BigInt(this.ms + offset) * 1_000_000n;
    const id = { hostname: name, seq: ++this.#seq, t_boot_ns, boot_id: BigInt(boot + 1), start_boot_ns: 1n };
    const outcome = deliver(
      this.writer,
      makeReport({ ...id, ...values }),
      stamp,
      stamp + BigInt(this.distance) * 1_000_000n,
    );
    if (outcome !== 'accepted') throw new Error(`${name}: ${outcome}`);
  }

  boot(name: string): void {
    this.#booted.set(name, this.ms);
  }

  /** So many seconds pass; `each` says what reports in them. */
  pass(seconds: number, each: (second: number) => void): void {
    for (let i = 0; i < seconds; i++) {
      this.ms += 1000;
      each(i);
      this.writer.heartbeat(BigInt(this.ms) * 1_000_000n);
      this.writer.surveySilences(BigInt(this.ms) * 1_000_000n);
      this.look();
    }
  }

  look(): void {
    const clocks = { monoMs: this.ms, realMs: this.ms + this.distance };
    for (const entry of this.recorder?.look(clocks) ?? []) {
      this.lines.push(entry.line);
      this.taken(entry);
    }
  }

  end(): void {
    const clocks = { monoMs: this.ms, realMs: this.ms + this.distance };
    for (const { line } of this.recorder?.end(clocks) ?? []) this.lines.push(line);
    this.recorder = undefined;
  }

  /** The events that go on, by the recorder. */
  goesOn(): string[] {
    return [...(this.recorder?.repeated() ?? [])].map(({ event }) => event);
  }

  /** The lines of these events, each id once. */
  of(...events: string[]): Line[] {
    const seen = new Set<string>();
    return this.lines.filter(({ id, event }) => events.includes(event) && !seen.has(id) && seen.add(id));
  }
}

/** When it began, and ended, on the made clock. */
const spans = (lines: readonly Line[]) =>
  lines.map(line => [line.from, line.to].map(time => time && monotonicOf(line, time)));

t.test('a silence of 12 s, and one of 48 nodes', past(), async t => {
  const world = new World(t);
  const rack = expand('rack11n[01-48]', BOARD_MOST);
  const others = expand('n[1-3]', BOARD_MOST);
  const all = (names: readonly string[]) => () => {
    for (const [i, name] of names.entries()) world.report(name, {}, -i);
  };
  world.pass(3, all([...rack, ...others]));
  world.start();
  world.pass(3, all([...rack, ...others]));
  const last = world.ms;
  world.pass(12, all([...rack, 'n2', 'n3']));
  const back = world.ms + 1000;
  world.pass(4, all([...rack, 'n1', 'n2', 'n3'].reverse()));
  t.strictSame(
    world.of('silent').map(({ nodes, count, last_words }) => ({ nodes, count, last_words })),
    [{ nodes: 'n1', count: 1, last_words: [] }],
    'one node, and nothing in its last report explains it',
  );
  t.strictSame(spans(world.of('silent')), [[last - 48, undefined]], 'from its last report');
  t.strictSame(spans(world.of('heard_again')), [[last - 48, back - 2]], 'to the next');

  const fell = world.ms;
  world.pass(16, all(others));
  const [burst] = world.of('silent').slice(1);
  t.match(burst, { nodes: 'rack11n[01-48]', count: 48, first: 'rack11n01' }, 'a rack in one line, with its first');
  t.strictSame(
    [burst?.from, burst?.from_last].map(time => burst && monotonicOf(burst, time ?? '')),
    [fell - 50, fell - 3],
    'from the first to the last',
  );
  world.pass(4, all([...rack, ...others]));
  t.match(world.of('heard_again')[1], { nodes: 'rack11n[01-48]', count: 48 });
  t.equal(world.of('silent', 'heard_again').length, 4, 'and no other');
  const ids = world.lines.map(({ id }) => Number(id.split('-')[2]));
  t.strictSame(
    ids,
    ids.toSorted((a, b) => a - b),
    'numbers rise',
  );
});

t.test('a node that stood still says so when it is heard again', past(), async t => {
  const world = new World(t);
  const report = (more: object = {}) => world.report('n1', { valid: validOf('sender'), ...more });
  world.pass(3, () => report());
  world.start();
  world.pass(3, () => report());
  world.pass(13, () => world.report('n2', {}));
  world.pass(1, () => report({ flags: (1 << bits.flags.late) | (1 << bits.flags.skipped), late_us: 13_689_000 }));
  world.pass(3, () => report());
  const [again] = world.of('heard_again');
  t.match(again, { nodes: 'n1', stood_still_ms: 13_600 });
});

t.test('episodes, boots and what was said before them', past(), async t => {
  const world = new World(t);
  const vmstat = { valid: validOf('vmstat') };
  let kills = 7;
  const report = () => world.report('n1', { ...vmstat, oom_kills: kills });
  world.pass(3, report);
  world.start();
  world.pass(5, report);
  const killed = world.ms + 1000;
  world.pass(30, i => {
    if (i === 0 || i === 20) kills++;
    report();
  });
  t.strictSame(spans(world.of('problem')), [[killed, undefined]], 'two kills are one episode');
  t.match(world.of('problem')[0], { problem: 'oom', nodes: 'n1' });
  world.pass(620, report);
  t.strictSame(spans(world.of('problem_resolved')), [[killed, killed + 20_000]], 'until it was last seen');

  const last = world.ms;
  kills++;
  world.pass(1, report);
  world.boot('n1');
  world.pass(30, () => undefined);
  kills = 0;
  const booted = world.ms + 1000;
  world.pass(5, report);
  const [silent] = world.of('silent');
  const [boot] = world.of('boot');
  t.strictSame(silent?.last_words, ['oom'], 'its last words');
  t.match(boot, { nodes: 'n1', last_words: ['oom'], goodbye: undefined });
  t.strictSame(spans(world.of('boot')), [[booted, undefined]]);
  t.equal(boot && monotonicOf(boot, boot.words_from ?? ''), last + 1000, 'said before the boot');
  t.strictSame(spans(world.of('heard_again')), [[last + 1000, booted]]);

  world.pass(1, () => world.report('n1', { flags: 1 << bits.flags.goodbye }));
  world.pass(60, () => undefined);
  world.boot('n1');
  world.pass(5, report);
  t.match(world.of('boot')[1], { nodes: 'n1', goodbye: true, last_words: undefined }, 'a shutdown has no last words');
  t.equal(world.of('goodbye').length, 1);
  t.equal(world.of('silent').length, 1, 'and is no silence');
});

t.test('marks on odd nodes begin, stand while nobody knows, and end for a reason', past(), async t => {
  const world = new World(t);
  const names = expand('n[1-4]', BOARD_MOST);
  const report = () => names.forEach(name => void world.report(name));
  const jobs = { list: [{ id: '4711', state: 'RUNNING', user: 'anna', partition: 'p', nodes: 'n[1-4]', name: '' }] };
  /** What the scheduler's reader says each second; undefined: nobody knows. */
  let said: SchedulerState | undefined;
  const marked = (marks: readonly Partial<OddMark>[], over: Partial<OddJobs> = {}, list: unknown[] = jobs.list) => {
    const base = { job: '4711', reading: 'mhz', value: 1200, lowest: 2900, highest: 2920 };
    said = {
      jobs: { list },
      odd: { marks: marks.map(mark => ({ ...base, ...mark })), unjudged: {}, ...over },
    } as unknown as SchedulerState;
  };
  const told: RecordedLine['jobs'][] = [];
  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      world.pass(1, report);
      world.recorder?.tellMarks(said);
    }
  };
  const odd = () => world.of('odd', 'odd_ended');
  world.pass(2, report);
  world.start();
  marked([]);
  pass(3);
  const since_ms = world.ms - 15_000;
  marked([
    { node: 'n2', since_ms },
    { node: 'n2', reading: 'temp', value: 95, since_ms },
    { node: 'x1', since_ms },
  ]);
  world.taken = ({ jobs }) => told.push(jobs);
  pass(5);
  t.match(
    odd(),
    [
      { event: 'odd', nodes: 'n2', reading: 'mhz', value: 1200, lowest: 2900, highest: 2920, late: undefined },
      { event: 'odd', nodes: 'n2', reading: 'temp', value: 95 },
    ],
    'each reading has its mark, and a node that is not on the board has none',
  );
  t.equal(odd().length, 2);
  t.strictSame(spans(odd())[0], [since_ms, undefined]);
  const job = { id: '4711', user: 'anna', partition: 'p', nodes: 'n2' };
  t.strictSame(told, [[job], [job]], 'the job is told beside the line');
  t.notMatch(JSON.stringify(odd()), /"4711"|anna/, 'and not in it');

  for (const nothing of [undefined, { jobs, odd: { marks: [], unjudged: {}, unjudged_all: 'x' } } as never]) {
    said = nothing;
    pass(5);
  }
  t.equal(odd().length, 2, 'while nobody knows they stand');
  marked([{ node: 'n2', since_ms }]);
  pass(70);
  t.match(odd()[2], { event: 'odd_ended', reading: 'temp', nodes: 'n2', late: true, why: undefined });
  t.equal(odd().length, 3, 'one has ended meanwhile, the other goes on');

  world.start();
  pass(5);
  t.equal(odd().length, 3, 'a daemon that begins tells nothing twice');
  t.ok(world.goesOn().includes('odd'));
  const again = world.ms - 10_000;
  marked([{ node: 'n2', since_ms: again }]);
  pass(70);
  t.strictSame(
    spans(odd().slice(3)),
    [
      [since_ms, again - 1],
      [again, undefined],
    ],
    'the next mark of the reading ends the one before',
  );
  marked([], { unjudged: { 4711: 'few' } });
  pass(70);
  marked([{ node: 'n2', since_ms: world.ms }]);
  pass(70);
  marked([], {}, []);
  pass(70);
  t.strictSame(
    odd().map(({ event, why }) => (event === 'odd' ? '' : why)),
    ['', '', undefined, undefined, '', 'unjudged', '', 'job_over'],
  );
  t.notOk(world.goesOn().includes('odd'));
});

t.test('nodes that flap for an hour', { skip: NOT_WHOLE || past(4000).skip }, async t => {
  const world = new World(t, 64, 4000);
  const names = expand('n[01-40]', BOARD_MOST);
  t.comment(`SEED=${SEED}`);
  const random = randomOf(SEED);
  // Each is silent for 12 to 16 s, and heard for 3 to 8 s.
  const until = new Map(names.map(name => [name, Math.floor(random() * 20)]));
  const isHeard = new Map(names.map(name => [name, true]));
  const ups = () => 3 + Math.floor(random() * 6);
  const downs = () => 12 + Math.floor(random() * 5);
  world.pass(2, () => names.forEach(name => void world.report(name)));
  world.start();
  let fell = 0;
  const step = (second: number) => {
    for (const name of names) {
      // At the end they come back, and stay.
      if (second >= (until.get(name) ?? 0) && (second < 3600 || isHeard.get(name) !== true)) {
        const heard = isHeard.get(name) !== true;
        isHeard.set(name, heard);
        if (!heard) fell++;
        until.set(name, second + (heard ? ups() : downs()));
      }
      if (isHeard.get(name)) world.report(name);
    }
  };
  world.pass(3700, step);
  const counted = world.of('silent').reduce((sum, { count = 0, more = 0 }) => sum + count + more, 0);
  t.equal(counted, fell, 'each silence is written or counted');
  t.strictSame(silencesIn(world.lines).wrong, [], 'no end without its begin');
  const each = new Map<string, number>();
  for (const { nodes = '' } of world.of('silent'))
    for (const node of expand(nodes, BOARD_MOST)) each.set(node, (each.get(node) ?? 0) + 1);
  t.ok(Math.max(...each.values()) <= 80, 'one a minute of a node is written, and some more behind a quiet one');
  const bytes = world.lines.reduce((sum, line) => sum + JSON.stringify(line).length, 0);
  t.ok(bytes < 1.2 * (1 << 20), `an hour of 40 such nodes takes ${bytes} bytes`);
  t.strictSame(
    [...(world.recorder?.repeated() ?? [])].filter(({ nodes }) => nodes !== undefined),
    [],
    'nothing goes on at the end',
  );
});

t.test('a silence that began before the first daemon, and ends between two of its looks', past(), async t => {
  const world = new World(t);
  world.pass(2, () => ['n1', 'n2'].forEach(name => void world.report(name)));
  world.start();
  world.pass(1, () => world.report('n2'));
  const daemon = world.recorder;
  world.recorder = undefined;
  world.pass(20, () => world.report('n2'));
  world.pass(2, () => ['n1', 'n2'].forEach(name => void world.report(name)));
  world.recorder = daemon;
  world.pass(5, () => ['n1', 'n2'].forEach(name => void world.report(name)));
  const told = [...world.of('silent'), ...world.of('heard_again')];
  t.strictSame(
    told.map(({ event, nodes }) => [event, nodes]),
    [
      ['silent', 'n1'],
      ['heard_again', 'n1'],
    ],
  );
});

t.test('a daemon that is killed again and again', past(), async t => {
  const world = new World(t);
  const names = expand('n[01-12]', BOARD_MOST);
  t.comment(`SEED=${SEED}`);
  const random = randomOf(SEED);
  const down = new Map<string, number>();
  const truth: { node: string; from: number }[] = [];
  const heard = new Map<string, number>();
  world.pass(2, () => names.forEach(name => void world.report(name)));
  world.start();
  world.pass(3, () => names.forEach(name => void world.report(name)));
  // In the last seconds none falls silent any more, and those that are come back.
  for (let i = 0; i < 1500; i++) {
    world.pass(1, () => {
      for (const name of names) {
        const left = down.get(name) ?? 0;
        if (left > 0) down.set(name, left - 1);
        // Further apart than a minute, so that none is only counted.
        else if (i < 1470 && random() < 0.004 && world.ms - (heard.get(`${name} last`) ?? 0) > 150_000) {
          down.set(name, 15 + Math.floor(random() * 10));
          truth.push({ node: name, from: world.ms - 1000 });
          heard.set(`${name} last`, world.ms);
        } else world.report(name);
      }
    });
    if (random() < 0.02) world.recorder = undefined;
    else if (world.recorder === undefined && random() < 0.1) world.start();
  }
  if (world.recorder === undefined) world.start();
  world.pass(90, () => names.forEach(name => void world.report(name)));
  for (const event of ['silent', 'heard_again']) {
    const told = world.of(event).flatMap(line => {
      const [from = 0, last = from] = [line.from, line.from_last].flatMap(
        time => time && monotonicOf(line, time),
      ) as number[];
      return expand(line.nodes ?? '', BOARD_MOST).map(node => ({ node, from, last }));
    });
    const left = [...truth];
    const untold = told.filter(({ node, from, last }) => {
      const at = left.findIndex(one => one.node === node && one.from >= from && one.from <= last);
      return at < 0 || left.splice(at, 1).length === 0;
    });
    t.strictSame([left, untold], [[], []], `each once: ${event}`);
  }
  t.ok(
    world.of('silent').some(({ late }) => late),
    'some were found afterwards',
  );
  t.ok(truth.length > 20, `${truth.length} silences`);
  t.ok(world.of('begin').length > 10, 'many daemons');
});

t.test('another board, a step of the clock, a ring that was too short', past(), async t => {
  const world = new World(t, 16);
  world.pass(2, () => world.report('n1'));
  world.pass(2, () => world.report('n2'));
  world.start();
  world.pass(2, () => world.report('n1'));
  const last = world.ms - 2000;
  world.pass(12, () => world.report('n1'));
  world.writer.close();
  world.writer = world.open(64);
  world.writer.listeningSince(BigInt(world.ms - 60_000) * 1_000_000n);
  world.pass(3, () => world.report('n1'));
  t.strictSame(spans(world.of('silent')), [[last, undefined]], 'once');
  t.equal(world.of('board').length, 1);
  world.pass(3, () => world.report('n2'));
  t.match(world.of('heard_again'), [{ nodes: 'n2' }]);

  world.distance += 3600_000;
  world.pass(4, () => world.report('n1'));
  t.match(world.of('clock_step'), [{ by_ms: 3600_000 }]);

  world.recorder = undefined;
  world.pass(1, () => {
    for (let i = 0; i < 5000; i++) world.report('n1', { start_boot_ns: BigInt(i + 2), seq: 1 });
  });
  world.start();
  world.pass(4, () => world.report('n2'));
  const [lost] = world.of('lost');
  t.match(lost, { why: 'ring' });
  t.ok((lost?.count ?? 0) > 800, `${lost?.count} events of the ring are lost, and told`);
});

t.test('what happened while no daemon ran is told, or counted', past(), async t => {
  const world = new World(t, 16);
  const all = ['n1', 'n2', 'n3'];
  const report = (...names: string[]) => names.forEach(name => void world.report(name));
  const silence = (name: string) => {
    world.pass(14, () => report(...all.filter(one => one !== name)));
    world.pass(2, () => report(...all));
  };
  world.pass(70, () => report(...all));
  world.start();
  world.pass(3, () => report(...all));
  silence('n1');
  world.pass(4, () => report(...all));
  t.match(world.of('silent'), [{ nodes: 'n1', counts: { n1: 1 } }]);
  const began = world.of('silent')[0]?.from;
  world.recorder = undefined;
  for (const name of ['n1', 'n1', 'n1', 'n2', 'n2']) silence(name);
  const boots = [1, 2, 3].map(() => {
    world.pass(6, () => report('n1', 'n2'));
    world.boot('n3');
    world.pass(2, () => report(...all));
    return world.ms - 1000;
  });
  world.start();
  world.pass(4, () => report(...all));
  t.match(world.of('silent').slice(1), [
    { nodes: 'n1', counts: { n1: 4 }, missed: 2, missed_since: began, late: true },
    { nodes: 'n2', late: true },
  ]);
  t.strictSame(
    spans(world.of('boot')).flatMap(([from = 0]) => from),
    boots,
    'each boot, by the ring',
  );
  t.match(world.of('boot').at(-1), { last_words: [], late: true }, 'of the last one also what was said before it');
  world.recorder = undefined;
  world.start();
  world.pass(4, () => report(...all));
  t.equal(world.of('silent', 'boot').length, 6, 'and nothing twice');
  world.count();
  t.match(world.lines.at(-1), { event: 'counts', repeated: true, counts: { n1: 4, n2: 2 } });
  t.equal(world.of('board').length, 0);
  world.lines.splice(0, world.lines.length - 1);
  world.recorder = undefined;
  for (const name of ['n1', 'n1', 'n2']) silence(name);
  world.start();
  world.pass(4, () => report(...all));
  t.match(
    world.of('silent').map(({ nodes, counts, missed }) => ({ nodes, counts, missed })),
    [
      { nodes: 'n1', counts: { n1: 6 }, missed: 1 },
      { nodes: 'n2', counts: { n2: 3 }, missed: undefined },
    ],
    'also with that line alone',
  );
  silence('n1');
  world.pass(4, () => report(...all));
  // Version 1.0.0 writes none.
  Object.assign(world.lines.findLast(({ event }) => event === 'silent') ?? {}, { counts: undefined });
  world.recorder = undefined;
  world.start();
  silence('n1');
  world.pass(4, () => report(...all));
  t.match(
    world.of('silent').at(-1),
    { nodes: 'n1', counts: { n1: 8 }, missed: undefined },
    'a line without counts counts',
  );
  world.recorder = undefined;
  silence('n2');
  world.writer.close();
  rmSync(world.path);
  world.writer = world.open(16);
  world.writer.listeningSince(BigInt(world.ms) * 1_000_000n);
  world.pass(70, () => report(...all));
  silence('n2');
  silence('n2');
  world.start();
  world.pass(4, () => report(...all));
  t.match(world.of('silent').at(-1), { nodes: 'n2', counts: { n2: 2 }, missed: 1 }, 'another board counts anew');
  t.match(world.of('board'), [{ late: true, count: 3 }], 'and is told');
  for (const { event, from = '', to = from } of world.of('heard_again')) t.ok(from <= to, event);
});

t.test('a silence that shares the line of its end, but not that of its begin', past(), async t => {
  const world = new World(t);
  const report = (...names: string[]) => names.forEach(name => void world.report(name));
  world.pass(3, () => report('n1', 'n2', 'n3'));
  world.start();
  world.pass(3, () => report('n1', 'n2', 'n3'));
  world.recorder = undefined;
  world.pass(1, () => report('n1'));
  world.pass(1, () => world.report('n3', {}, 500));
  world.pass(20, () => undefined);
  world.pass(10, () => report('n1', 'n3'));
  world.pass(2, () => report('n1', 'n2', 'n3'));
  world.start();
  world.pass(4, () => report('n1', 'n2', 'n3'));
  const told = world.of('silent', 'heard_again').map(({ event, nodes, late }) => [event, nodes, late]);
  t.equal(told.length, 4, 'two lines of begins, two of ends');
  t.strictSame(
    told.filter(([, nodes]) => expand(String(nodes), BOARD_MOST).includes('n3')).map(([event]) => event),
    ['silent', 'heard_again'],
    'first its begin',
  );
  t.notOk(world.goesOn().includes('silent'), 'it does not go on');
});

t.test('a board that was made from nothing while a node was silent', past(), async t => {
  const world = new World(t, 16);
  world.pass(3, () => ['n1', 'n2'].forEach(name => void world.report(name)));
  world.start();
  world.pass(16, () => world.report('n1'));
  t.match(world.of('silent'), [{ nodes: 'n2' }]);
  world.writer.close();
  rmSync(world.path);
  world.writer = world.open(16);
  world.writer.listeningSince(BigInt(world.ms) * 1_000_000n);
  world.pass(2, () => world.report('n1'));
  world.pass(4, () => ['n1', 'n2'].forEach(name => void world.report(name)));
  t.match(world.of('heard_again'), [{ nodes: 'n2', late: true }], 'it is heard there');
  t.notOk(world.goesOn().includes('silent'), 'it does not go on');

  world.pass(70, i => world.report('n1', { start_boot_ns: BigInt(i + 100), seq: 1 }));
  const ring = world.lines.at(-1)?.ring ?? 0;
  world.writer.close();
  rmSync(world.path);
  world.writer = world.open(16);
  world.pass(2, () => world.report('n1'));
  world.pass(1, () => world.report('n1', { start_boot_ns: 9n, seq: 1 }));
  world.pass(70, () => world.report('n1', { start_boot_ns: 9n }));
  const told = world.of('restart').length;
  t.ok((world.lines.at(-1)?.ring ?? 0) < ring, 'the numbers of its ring are lower');
  world.start();
  world.pass(4, () => world.report('n1', { start_boot_ns: 9n }));
  t.equal(world.of('restart').length, told, 'and what was told of them is not told again');
});

t.test('an end that waits when the board is replaced is told once', past(), async t => {
  const world = new World(t, 16);
  const both = () => ['n1', 'n2'].forEach(name => void world.report(name));
  world.pass(3, both);
  world.start();
  world.pass(16, () => world.report('n1'));
  world.recorder = undefined;
  world.pass(2, both);
  world.start();
  world.pass(1, both);
  world.writer.close();
  rmSync(world.path);
  world.writer = world.open(16);
  world.writer.listeningSince(BigInt(world.ms) * 1_000_000n);
  world.pass(6, both);
  t.match(world.of('silent', 'heard_again'), [{ event: 'silent' }, { event: 'heard_again' }]);
  t.equal(world.of('silent', 'heard_again').length, 2);
});

t.test('after a boot of the master all is counted as the first daemon begins', past(), async t => {
  const world = new World(t, 16);
  const report = (...names: string[]) => names.forEach(name => void world.report(name));
  const silence = () => {
    world.pass(14, () => report('n1'));
    world.pass(4, () => report('n1', 'n2'));
  };
  world.pass(3, () => report('n1', 'n2'));
  world.start();
  world.pass(2, () => report('n1', 'n2'));
  t.match(world.of('counts'), [{ repeated: true }]);
  world.lines.splice(
    0,
    world.lines.length,
    ...world.lines.map(line => ({ ...line, id: `${'0'.repeat(16)}${line.id.slice(16)}` })),
  );
  world.start();
  world.pass(2, () => report('n1', 'n2'));
  t.match(world.of('counts').at(-1), { counts: {} }, 'that of another boot says nothing of this one');
  world.recorder = undefined;
  silence();
  silence();
  world.start();
  world.pass(4, () => report('n1', 'n2'));
  t.match(world.of('silent'), [{ nodes: 'n2', missed: 1 }]);
  t.equal(world.of('counts').length, 2, 'once for each boot');
});

t.test('a receiver that is stalled when the daemon starts, and one that runs again', past(), async t => {
  const world = new World(t, 16);
  world.pass(1, () => world.report('n1'));
  const runs = () => world.writer.heartbeat(monotonicNs());
  for (const _ of [1, 2]) {
    world.start();
    for (let i = 0; i < 4; i++, world.ms += 1000) world.look();
  }
  t.equal(world.of('stalled').length, 1, 'told once');
  t.strictSame(world.goesOn(), ['stalled']);
  world.writer.close();
  world.writer = world.open(64);
  runs();
  for (let i = 0; i < 4; i++, world.ms += 1000) world.look();
  t.equal(world.of('resumed').length, 1, 'on another board');
  t.strictSame(world.goesOn(), []);
  world.writer.heartbeat(1n);
  for (let i = 0; i < 4; i++, world.ms += 1000) world.look();
  t.strictSame(world.goesOn(), ['stalled']);
  runs();
  world.start();
  for (let i = 0; i < 4; i++, world.ms += 1000) world.look();
  t.strictSame(world.goesOn(), [], 'while no daemon ran');
});

t.test('what goes on as a daemon starts is repeated, and nothing that is over', past(), async t => {
  const world = new World(t, 16);
  const report = (...names: string[]) => names.forEach(name => void world.report(name));
  world.pass(2, () => report('n1', 'n2', 'n3'));
  world.start();
  world.pass(16, () => report('n1'));
  world.end();
  // Another silence of n2 has taken the place of the first in the memory.
  world.pass(3, () => report('n1', 'n2'));
  world.pass(14, () => report('n1'));
  world.pass(2, () => report('n1', 'n2'));
  const before = world.lines.length;
  world.start();
  world.pass(4, () => report('n1', 'n2'));
  const lines = world.lines.slice(before).map(({ event, nodes, repeated, late }) => [event, nodes, repeated ?? late]);
  t.strictSame(
    lines.filter(([, nodes]) => nodes !== undefined),
    [
      ['silent', 'n3', true],
      ['silent', 'n2', true],
      ['heard_again', 'n2', true],
    ],
  );
});

t.test('what is acknowledged under one key for other nodes, each told once, and withdrawn as one', past(), async t => {
  const world = new World(t, 16);
  const iso = (ms: number) => new Date(ms + world.distance).toISOString();
  const ack = (nodes: string, key = 'silent') => ({
    key,
    nodes,
    by: 'eva',
    at: iso(world.ms),
    until: iso(world.ms + 3.6e6),
  });
  const sinceMs = world.ms + world.distance;
  const pass = (acks: readonly Ack[]) =>
    world.pass(4, () => {
      world.report('n1');
      world.recorder?.tellAcks(acks, sinceMs);
    });
  const told = () => world.of('acknowledged', 'withdrawn').map(({ event, key, nodes }) => [event, key, nodes]);
  world.start();
  world.look();
  pass([]);
  const [first, second, other] = [ack('n[1-2]'), ack('n3', 'held'), ack('n5', 'oom')];
  pass([first, second, other]);
  world.ms += 1000;
  const later = ack('n4');
  // Some of the first one's nodes are now of another.
  pass([{ ...first, nodes: 'n1' }, second, other, later]);
  const all = [
    ['silent', 'n[1-2]'],
    ['held', 'n3'],
    ['oom', 'n5'],
    ['silent', 'n4'],
  ].map(is => ['acknowledged', ...is]);
  t.strictSame(told(), all);
  world.start();
  world.look();
  pass([first, second, later]);
  t.strictSame(told().slice(4), [['withdrawn', 'oom', undefined]], 'while no daemon ran');
  const unseen = ack('n6', 'held');
  world.ms += 500;
  world.end();
  world.start();
  world.look();
  pass([first, second, later, unseen]);
  t.strictSame(told().slice(5), [['acknowledged', 'held', 'n6']], 'just before the daemon ended');
  pass([first, unseen]);
  pass([unseen]);
  t.strictSame(told().slice(6), [['withdrawn', 'silent', undefined]]);
});
