// The files of a journal: segments and their bounds, what a kill leaves, what becomes of lines that cannot be written.

import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Retention, Store } from '../../src/journal/store.js';
import {
  LINE_BYTES,
  type Line,
  lineId,
  parseJobsLine,
  parseLine,
  SEGMENT_BYTES,
} from '../../src/journalfile/format.js';
import { folder } from '../kit/places.js';

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 27, 12);

/** A store in a folder of its own, whose clock the test moves. */
function opened(t: Test, within: string, bounds: Partial<Retention> = {}) {
  let number = 0;
  let now = NOON;
  let mono = 0;
  const repeated: Line[] = [];
  const line = (more: Partial<Line> = {}): Line => ({
    ...{ id: lineId(5n, 7n, ++number), at: new Date(now).toISOString(), mono_ms: 1, board: 'default', ring: 0 },
    ...{ event: 'restart', nodes: 'n1', count: 1, from: new Date(now).toISOString(), ...more },
  });
  const lost = (count: number) => line({ event: 'lost', count, why: 'disk' });
  const store = new Store(within, { keepMs: 30 * DAY, mostBytes: 256 << 20, ...bounds }, () => repeated, lost);
  number = Number(store.readPast().at(-1)?.id.split('-')[2] ?? 0);
  const write = async (...lines: Line[]) => {
    store.add(lines.map(line => ({ line })));
    await store.flush(now, mono);
  };
  let ended: Promise<void> | undefined;
  const end = async () => {
    ended ??= store.end(now, mono);
    await ended;
  };
  t.teardown(end);
  const pass = (ms: number) => {
    now += ms;
    mono += ms;
  };
  const step = (ms: number) => {
    now += ms;
  };
  return { store, step, repeated, line, write, end, pass, flush: async () => await store.flush(now, mono) };
}

const names = (within: string) => readdirSync(within).filter(name => name !== 'lock');

function linesIn(within: string): Line[] {
  return names(within)
    .filter(name => name.startsWith('events'))
    .flatMap(name => readFileSync(join(within, name), 'utf8').split('\n').slice(0, -1))
    .map(text => parseLine(text) as Line);
}

t.test('segments: a day, a size, and what goes on at the head of each', async t => {
  const within = join(folder(t), 'journal');
  const { store, repeated, line, write, pass } = opened(t, within, { mostBytes: 256 << 10 });
  await write(line());
  t.strictSame(names(within), ['events-2026-11-27-0000001.jsonl'], 'the folder is made');
  t.equal(statSync(join(within, names(within)[0] as string)).mode & 0o777, 0o644, 'everybody may read it');
  const silent = line({ event: 'silent', nodes: 'n7' });
  repeated.push({ ...silent, repeated: true });
  await write(silent);
  pass(DAY);
  await write(line());
  t.strictSame(names(within), ['events-2026-11-27-0000001.jsonl', 'events-2026-11-28-0000002.jsonl']);
  t.match(
    linesIn(within).map(({ event, repeated }) => [event, repeated]),
    [
      ['restart', undefined],
      ['silent', undefined],
      ['silent', true],
      ['restart', undefined],
    ],
  );
  pass(-3 * DAY);
  await write(line());
  t.ok(existsSync(join(within, 'events-2026-11-25-0000003.jsonl')), 'the clock steps back: the number tells the order');
  for (let i = 0; i < 40; i++) {
    pass(1000);
    await write(...Array.from({ length: 100 }, () => line()));
  }
  const sizes = names(within).map(name => statSync(join(within, name)).size);
  t.ok(Math.max(...sizes) <= (256 << 10) / 4, 'a segment has its bound');
  const sum = sizes.reduce((a, b) => a + b, 0);
  t.ok(sum <= 256 << 10 && sum > 128 << 10, `and all of them have: ${sum}`);
  t.ok(Math.max(...sizes) <= SEGMENT_BYTES);
  t.equal(store.trouble, undefined);
  t.equal(
    linesIn(within).filter(({ repeated }) => repeated).length,
    names(within).length,
    'each begins with what goes on',
  );
  const ids = linesIn(within)
    .filter(({ repeated }) => !repeated)
    .map(({ id }) => Number(id.split('-')[2]));
  t.strictSame(
    ids,
    Array.from({ length: ids.length }, (_, i) => (ids[0] ?? 0) + i),
    'the oldest went, and no other',
  );

  const before = names(within).length;
  pass(32 * DAY);
  await write(line());
  t.equal(names(within).length, 1, `after 30 days all ${before} are gone`);
});

t.test('jobs stand apart, and go with their events', async t => {
  const within = folder(t);
  const { store, line, flush, pass, write } = opened(t, within, { keepMs: DAY });
  const silent = line({ event: 'silent', nodes: 'n1' });
  store.add([{ line: silent, jobs: { id: silent.id, jobs: [{ id: '4711', user: 'anna', nodes: 'n1' }] } }]);
  await flush();
  t.strictSame(names(within), ['events-2026-11-27-0000001.jsonl', 'jobs-2026-11-27-0000001.jsonl']);
  t.equal(statSync(join(within, 'jobs-2026-11-27-0000001.jsonl')).mode & 0o777, 0o640, 'not everybody may read them');
  t.notMatch(readFileSync(join(within, 'events-2026-11-27-0000001.jsonl'), 'utf8'), /anna|"4711"/);
  rmSync(join(within, 'jobs-2026-11-27-0000001.jsonl'));
  const next = line({ event: 'silent', nodes: 'n1' });
  store.add([{ line: next, jobs: { id: next.id, jobs: [{ id: '4712', nodes: 'n1' }] } }]);
  await flush();
  t.match(readFileSync(join(within, 'jobs-2026-11-27-0000002.jsonl'), 'utf8'), /4712/, 'also if somebody removes them');
  const many = line({ event: 'silent', nodes: 'n1' });
  const name = 'x'.repeat(200);
  const jobs = Array.from({ length: 10_000 }, (_, i) => ({ id: String(i), name, nodes: 'n1' }));
  store.add([{ line: many, jobs: { id: many.id, jobs } }]);
  await flush();
  const last = readFileSync(join(within, 'jobs-2026-11-27-0000002.jsonl'), 'utf8').split('\n').at(-2) ?? '';
  const { jobs: kept = [], left_out = 0 } = parseJobsLine(last) ?? {};
  t.ok(last.length < LINE_BYTES && kept.length > 1000, `a line has room for ${kept.length} of them`);
  t.equal(kept.length + left_out, 10_000, 'and counts the others');
  pass(3 * DAY);
  await write(line());
  t.strictSame(names(within), ['events-2026-11-30-0000003.jsonl']);
});

t.test('what goes on leaves room for what is new', async t => {
  const within = folder(t);
  const { repeated, line, write } = opened(t, within, { mostBytes: 64 << 10 });
  for (let i = 0; i < 200; i++) repeated.push(line({ event: 'silent', nodes: `n${i}`, repeated: true }));
  const fresh = Array.from({ length: 20 }, () => line());
  for (const one of fresh) await write(one);
  const ids = new Set(linesIn(within).map(({ id }) => id));
  t.ok(
    fresh.every(({ id }) => ids.has(id)),
    'a head above its share does not end each segment after a line',
  );
});

t.test('a clock that is set into a year to come removes nothing', async t => {
  const within = folder(t);
  const { line, write, pass, step } = opened(t, within);
  await write(line());
  pass(DAY);
  await write(line());
  step(3650 * DAY);
  for (let i = 0; i < 5; i++) {
    pass(11 * 60_000);
    await write(line());
  }
  step(-3650 * DAY);
  pass(11 * 60_000);
  await write(line());
  t.equal(names(within).length, 4);
  pass(31 * DAY);
  await write(line());
  t.strictSame(
    names(within).map(name => name.slice(7, 11)),
    ['2026', '2036'],
    'what is older than a month goes by the clock that stands',
  );
});

t.test('what a kill leaves, and what somebody else does', async t => {
  const within = folder(t);
  const first = opened(t, within);
  await first.write(first.line(), first.line());
  t.throws(() => opened(t, within), { message: /another beoboard journal writes there; end it first/ });
  await first.end();
  const [name = ''] = names(within);
  const path = join(within, name);
  appendFileSync(path, `{"id":"0000000000000005-7-3","at":"2026-`);
  const second = opened(t, within);
  t.equal(second.store.readPast().length, 2, 'half a line is none');
  await second.write(second.line());
  t.strictSame(
    linesIn(within).map(({ id }) => id),
    ['0000000000000005-7-1', '0000000000000005-7-2', '0000000000000005-7-3'],
    'and is written anew',
  );
  rmSync(path);
  await second.write(second.line());
  t.strictSame(names(within), ['events-2026-11-27-0000002.jsonl'], 'who removes a segment gets another');
  writeFileSync(join(within, 'events-mine.jsonl'), 'x');
  second.pass(100 * DAY);
  await second.write(second.line());
  t.ok(existsSync(join(within, 'events-mine.jsonl')), 'files of others stay');
  await second.end();
  appendFileSync(join(within, names(within).at(-2) as string), 'noise\n{"id":5}\n');
  const spoilt = `${JSON.stringify(second.line({ nodes: 'n[1-' }))}\n\0\0\0`;
  appendFileSync(join(within, names(within).at(-2) as string), spoilt);
  const third = opened(t, within);
  t.equal(third.store.readPast().at(-1)?.id, '0000000000000005-7-5', 'lines that are none of ours are passed over');
  await third.end();
  mkdirSync(join(within, 'events-2027-03-07-0000008.jsonl'));
  const fourth = opened(t, within);
  await fourth.write(fourth.line());
  t.equal(fourth.store.trouble, undefined, 'a folder with the name of a segment is followed by another');
  await fourth.end();

  chmodSync(within, 0o777);
  t.throws(() => opened(t, within), { message: /is open to others/ });
  const file = join(folder(t), 'file');
  writeFileSync(file, '');
  t.throws(() => opened(t, file), { message: /is not a folder/ });
  t.throws(() => opened(t, join(within, 'a', 'b')), { message: /cannot be made: ENOENT/ });
});

t.test('lines that cannot be written wait, and are counted if they are too many', async t => {
  const at = folder(t);
  const within = join(at, 'journal');
  const { store, repeated, line, write, flush } = opened(t, within);
  await write(line());
  repeated.push(line({ event: 'silent', nodes: 'n7', repeated: true }));
  renameSync(within, join(at, 'away'));
  await write(line());
  t.match(store.trouble, { why: /^cannot write .*: ENOENT$/, sinceMs: NOON });
  t.equal(store.waiting, 1);
  const large = { nodes: `n[${Array.from({ length: 20_000 }, (_, i) => i * 2).join(',')}]` };
  for (let i = 0; i < 100; i++) await write(line(large));
  t.ok(store.dropped > 20 && store.waiting < 100, `${store.dropped} are lost, ${store.waiting} wait`);
  const { dropped } = store;
  mkdirSync(within, { mode: 0o755 });
  await flush();
  t.equal(store.trouble, undefined, 'it goes on');
  const [head, lost, ...rest] = linesIn(within);
  t.match(head, { event: 'silent', repeated: true }, 'the head of the segment that could not be made is not lost');
  t.match(lost, { event: 'lost', count: dropped, why: 'disk' }, 'what was lost is told first');
  t.equal(rest.length + dropped, 101, 'and nothing else is');
  t.equal(store.dropped, 0);
});

t.test('a disk that neither syncs nor truncates: no line stands there often, and no older segment goes', async t => {
  const within = join(folder(t), 'journal');
  const { store, line, write, pass, flush } = opened(t, within, { mostBytes: 64 << 10 });
  for (let i = 0; i < 10; i++) {
    pass(DAY / 4);
    await write(...Array.from({ length: 20 }, () => line()));
  }
  const before = names(within);
  const handle = await open(join(within, before[0] as string));
  const proto = Object.getPrototypeOf(handle) as Record<'datasync' | 'truncate', () => Promise<void>>;
  await handle.close();
  const { datasync, truncate } = proto;
  const ill = async () => {
    throw Object.assign(new Error('EIO'), { code: 'EIO' });
  };
  t.teardown(() => Object.assign(proto, { datasync, truncate }));
  Object.assign(proto, { datasync: ill, truncate: ill });
  const last = line();
  await write(last);
  t.match(store.trouble?.why, /EIO/);
  for (let i = 0; i < 50; i++) {
    pass(DAY);
    await flush();
  }
  t.same(
    before.filter(name => !names(within).includes(name)),
    [],
    'older history stays',
  );
  Object.assign(proto, { datasync, truncate });
  await write(line());
  t.equal(store.trouble, undefined);
  t.ok(linesIn(within).filter(({ id }) => id === last.id).length <= 2, 'where the disk fell ill, and where it is well');
  t.ok(names(within).length <= before.length + 1, 'one more segment');
});

t.test('jobs that fit where their event does not stand there once', async t => {
  const within = folder(t);
  const { store, line, flush } = opened(t, within);
  const handle = await open(within);
  const proto = Object.getPrototypeOf(handle) as Record<'write', (bytes: Buffer, at: number) => Promise<object>>;
  await handle.close();
  const { write } = proto;
  t.teardown(() => Object.assign(proto, { write }));
  proto.write = async function (bytes, at) {
    if (!bytes.includes('"event"')) return await Reflect.apply(write, this, [bytes, at]);
    // A disk that is nearly full takes half of it.
    await Reflect.apply(write, this, [bytes.subarray(0, bytes.length >> 1), at]);
    throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
  };
  const silent = line({ event: 'silent', nodes: 'n1' });
  store.add([{ line: silent, jobs: { id: silent.id, jobs: [{ id: '4711', nodes: 'n1' }] } }]);
  for (let i = 0; i < 5; i++) await flush();
  t.match(store.trouble?.why, /ENOSPC/);
  proto.write = write;
  await flush();
  t.equal(store.trouble, undefined);
  const jobs = readFileSync(join(within, 'jobs-2026-11-27-0000001.jsonl'), 'utf8');
  t.same([linesIn(within).length, jobs.split('\n').length - 1], [1, 1]);
});

t.test('a lock that is removed is made anew, and who finds another journal there ends', async t => {
  const within = folder(t);
  const { store } = opened(t, within);
  const other = () => opened(t, within).store;
  const held = { code: 'lock_held', message: /another beoboard journal writes there; end it first/ };
  for (const removed of [false, true]) {
    if (removed) rmSync(join(within, 'lock'));
    store.keepLock();
    t.throws(other, held, 'it has it');
  }
  rmSync(join(within, 'lock'));
  t.doesNotThrow(other, 'before it looks');
  t.throws(() => store.keepLock(), held, 'now another has it');
  const gone = opened(t, join(within, 'in')).store;
  rmSync(join(within, 'in'), { recursive: true });
  t.doesNotThrow(() => gone.keepLock(), 'no folder, no other journal');
});
