// What the wall tells of a journal: the last hour, then what is written; and of one that is killed, removed, unreadable,
// torn or followed by another segment.
//
// @seconds 9
// @waits
// @rest

import { chmodSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { JournalFeed } from '../../src/events/journalfeed.js';
import { type JournalState, writeState } from '../../src/journalfile/state.js';
import { BoardReader } from '../../src/shm/reader.js';
import type { NodeHistory } from '../../src/web/answers.js';
import { MadeJournal } from '../kit/journals.js';
import { boardPath, folder, type Teardown } from '../kit/places.js';
import { start, startReceiver } from '../kit/program.js';
import { until } from '../kit/until.js';
import { startLoad } from './browsing.js';

const monoMs = () => Number(process.hrtime.bigint() / 1_000_000n);
const BEGAN = Date.now();
const ago = (seconds: number) => new Date(BEGAN - seconds * 1000).toISOString();

/** A journal that runs, as far as its state says, and a feed that looks at it. */
function made(t: Teardown, areJobsShown = false) {
  const [dir, runs, board] = [join(folder(t), 'journal'), folder(t), boardPath(t)];
  const journal = new MadeJournal(dir);
  const state = (over: Partial<JournalState> = {}) =>
    writeState(runs, 'default', {
      ...{ schema: 1, board, journal_dir: dir, pid: process.pid, time_ms: Date.now(), mono_ms: monoMs() },
      ...{ next_ms: monoMs() + 600_000, ...over },
    });
  state();
  const feed = new JournalFeed(new BoardReader(board), runs, areJobsShown);
  t.teardown(() => feed.close());
  let seq = 0;
  const look = () => feed.look(++seq);
  const texts = () => feed.followed?.log.kept.map(({ text }) => text);
  const settles = async (what: string, wanted: readonly string[] | undefined) =>
    until(what, () => {
      look();
      return JSON.stringify(texts()) === JSON.stringify(wanted);
    });
  return { dir, runs, board, journal, state, feed, look, texts, settles };
}

t.test('the last hour in the order of its times, then what is written', async t => {
  const { journal, feed, settles } = made(t);
  journal.line(ago(7200), { event: 'boot', nodes: 'n1', from: ago(7200) });
  journal.line(ago(90), { event: 'silent', nodes: 'n1', from: ago(100) });
  journal.line(ago(80), { event: 'problem', problem: 'oom', nodes: 'n2', from: ago(200) });
  journal.raw('no line\n{"id":"torn');
  const both = ['n2 problem: programs were killed, memory ran out', 'n1 silent'];
  await settles('what was written before', both);
  t.equal(feed.isLacking, true, 'one of its lines is none');
  t.ok(Math.abs((feed.followed?.sinceMs ?? 0) - (Date.now() - 3_600_000)) < 60_000, 'an hour is known');
  journal.raw('\n');
  journal.line(ago(1), { event: 'heard_again', nodes: 'n1', from: ago(100), to: ago(2) });
  const values = { reading: 'mhz', value: 1200, lowest: 2900, highest: 2920 };
  const job = [{ id: '4711', user: 'anna', nodes: 'n3' }];
  journal.line(ago(1), { event: 'odd', nodes: 'n3', from: ago(1), ...values }, job);
  const odd = 'n3 differs from the other nodes of its job: clock 1.2 GHz, others 2.9 to 2.92 GHz';
  const three = [...both, 'n1 heard again after 1m38s', odd];
  await settles('and what comes', three);
  // The head of the next segment repeats what goes on.
  journal.next();
  journal.line(ago(0), { event: 'problem', problem: 'oom', nodes: 'n2', from: ago(200), repeated: true });
  journal.line(ago(0), { event: 'new', nodes: 'n3', from: ago(0) });
  await settles('of the next segment, too', [...three, 'n3 new on the board']);
  const kept = feed.followed?.log.kept ?? [];
  t.match(kept[1], { event: 'silent', nodes: 'n1', board: 'default' }, 'the keys of the journal');
  t.ok((kept.at(-1)?.seq ?? 0) > (kept[0]?.seq ?? 0), 'what comes has the number of its look');
});

t.test('a journal that is not written, removed, or may not be read', async t => {
  const { dir, journal, state, feed, settles } = made(t);
  await settles('one that has no line yet', undefined);
  t.match(feed.why, /there is no journal/);
  journal.line(ago(5), { event: 'new', nodes: 'n1', from: ago(5) });
  const one = ['n1 new on the board'];
  await settles('it is read', one);
  t.equal(feed.isLacking, false);
  state({ next_ms: monoMs() - 16_000 });
  await settles('its daemon was killed', undefined);
  t.match(feed.why, /^the journal default has stopped/);
  state({ error: 'the disk is full', error_since_ms: Date.now() });
  await settles('its disk is full', undefined);
  t.match(feed.why, /is not written: the disk is full/);
  state();
  await settles('it goes on', one);
  renameSync(dir, `${dir}.gone`);
  await settles('its folder is gone', undefined);
  mkdirSync(dir);
  await settles('another is empty', undefined);
  rmSync(dir, { recursive: true });
  renameSync(`${dir}.gone`, dir);
  await settles('it is back', one);
  if (process.geteuid?.() !== 0) {
    chmodSync(dir, 0o300);
    await settles('its folder may not be read', undefined);
    t.match(feed.why, /permission denied/);
    chmodSync(dir, 0o700);
  }
  rmSync(dir, { recursive: true });
  new MadeJournal(dir).line(ago(1), { event: 'new', nodes: 'n2', from: ago(1) });
  await settles('one that begins anew goes on', [...one, 'n2 new on the board']);
});

t.test('many lines, in bounded room, and jobs where they are shown', async t => {
  const silent = { event: 'silent', nodes: 'n1', from: ago(100) } as const;
  const jobs = [{ id: '4711', user: 'anna', nodes: 'n1' }];
  const [shown, hidden] = [made(t, true), made(t)];
  for (const { journal } of [shown, hidden]) journal.line(ago(90), silent, jobs);
  await shown.settles('with jobs', ['n1 silent; job 4711 (anna)']);
  await hidden.settles('without', ['n1 silent']);
  t.notMatch(JSON.stringify(hidden.feed.followed?.log.kept), /job 4711|"4711"|anna/);

  const many = made(t);
  const text = Array.from({ length: 20_000 }, (_, i) => `n${i}`);
  for (const nodes of text) many.journal.line(ago(60), { event: 'new', nodes, from: ago(60) });
  let turns = 0;
  const timer = setInterval(() => turns++);
  many.look();
  t.equal(many.feed.followed, undefined, 'they are not all read at once');
  await until('they are read', () => {
    many.look();
    return many.feed.followed !== undefined;
  });
  clearInterval(timer);
  t.ok(turns > 0, 'other work has its turn');
  const { count, kept } = many.feed.followed?.log ?? { count: 0, kept: [] };
  t.same([count, kept.length, kept.at(-1)?.nodes], [20_000, 4096, 'n19999']);
});

t.test('the API beside a real journal', async t => {
  const [board, dir, runs] = [boardPath(t), join(folder(t), 'journal'), folder(t)];
  const receiver = await startReceiver(t, board, ['--uncertain-after', '1s', '--silent-after', '2s']);
  const web = start(t, ['web', '--board', board, '--journal-run', runs, '--listen', '127.0.0.1:0']);
  const { listening } = await web.ready;
  const ask = async (query = '') =>
    (await (await fetch(`http://${listening?.[0]}/api/v1/events?${query}`)).json()) as {
      events: { event: string; nodes?: string; id?: string }[];
      journal: boolean;
      from: string;
      why?: string;
    };
  t.match(await ask(), { journal: false, why: /^no journal of this board runs: start beoboard journal/ });
  startLoad(t, { receiver }, ['--nodes', 'a1', '--interval', '200ms']);
  const falls = startLoad(t, { receiver }, ['--nodes', 'b1', '--interval', '200ms']);
  await until('it was seen', async () => (await ask('kind=new&nodes=b1')).events.length === 1);
  const journal = start(t, ['journal', '--board', board, '--journal-dir', dir, '--journal-run', runs]);
  await journal.ready;
  await until('it is read', async () => (await ask()).journal);
  t.notOk('why' in (await ask()));
  falls.child.kill('SIGKILL');
  const [silent] = await until('it says so', async () => {
    const { events } = await ask('kind=silent');
    return events.length > 0 ? events : undefined;
  });
  t.match(silent, { event: 'silent', nodes: 'b1', id: /-/ });
  t.equal((await ask('kind=silent&nodes=b1')).events.length, 1, 'once');
  rmSync(dir, { recursive: true });
  const without = await until('it is gone', async () => {
    const said = await ask('nodes=b1');
    return said.journal ? undefined : said;
  });
  t.match(without.why, /there is no journal/);
  t.ok(
    without.events.some(({ event }) => event === 'state'),
    'what the server saw itself is told',
  );
});

t.test(
  'a web server that is restarted beside a journal has the states of before, and its readings begin anew',
  async t => {
    const [board, dir, runs] = [boardPath(t), join(folder(t), 'journal'), folder(t)];
    const receiver = await startReceiver(t, board, ['--uncertain-after', '1s', '--silent-after', '2s']);
    const serve = async () => {
      const web = start(t, ['web', '--board', board, '--journal-run', runs, '--listen', '127.0.0.1:0']);
      const { listening } = await web.ready;
      // A node that has not reported yet is refused as JSON, too.
      const headers = { Accept: 'application/json' };
      const ask = async (path: string) => await fetch(`http://${listening?.[0]}/api/v1/${path}`, { headers });
      return { web, ask, get: async (path: string) => (await ask(path)).json() };
    };
    const journal = start(t, ['journal', '--board', board, '--journal-dir', dir, '--journal-run', runs]);
    await journal.ready;
    startLoad(t, { receiver }, ['--nodes', 'a1', '--interval', '200ms']);
    const falls = startLoad(t, { receiver }, ['--nodes', 'b1', '--interval', '200ms']);
    const first = await serve();
    /** The state of a node by seconds since 1970. */
    const statesOf = async ({ get }: typeof first, name: string) => {
      const { history } = (await get(`nodes/${name}`)) as { history?: NodeHistory };
      if (history === undefined) return undefined;
      const all = history.states.points.flatMap(([state, steps]) => Array.from({ length: steps }, () => state));
      return { history, at: new Map(all.map((state, i) => [Math.floor(history.since_ms / 1000) + i, state])) };
    };
    await until('it is live', async () => (await statesOf(first, 'b1'))?.history.states.points.at(-1)?.[0] === 'live');
    falls.child.kill('SIGKILL');
    await until('it is silent for a while', async () => {
      const [state, steps] = (await statesOf(first, 'b1'))?.history.states.points.at(-1) ?? ['live', 0];
      return state === 'silent' && steps >= 5;
    });
    startLoad(t, { receiver }, ['--nodes', 'b1', '--interval', '200ms']);
    const heard = async () => {
      const { events } = (await first.get('events?kind=heard_again')) as { events: unknown[] };
      return events.length > 0;
    };
    await until('the journal has its end', heard);
    const before = await statesOf(first, 'b1');
    first.web.child.kill('SIGTERM');
    await first.web.exit;
    const begunMs = Date.now();
    const second = await serve();
    const after = await statesOf(second, 'b1');
    // Of before its own first look the first server knows no more than the second.
    const ownMs = before?.history.readings.since_ms ?? 0;
    const compared = [...(before?.at ?? [])].filter(([second]) => second * 1000 > ownMs && after?.at.has(second));
    const others = compared.filter(([second, state]) => after?.at.get(second) !== state);
    t.ok(compared.length > 8, `${compared.length} seconds are known to both`);
    t.ok(others.length <= 3, `all but those where it changed: ${JSON.stringify(others)}`);
    t.ok([...(after?.at.values() ?? [])].filter(state => state === 'silent').length >= 4, 'it was silent then');
    t.notOk([...((await statesOf(second, 'a1'))?.at.values() ?? [])].includes('silent'), 'and the other was not');
    t.ok((after?.history.readings.since_ms ?? 0) >= begunMs - 1500, 'readings are those of this server');
    // So says the river, of each of whose rows nothing is measured before that.
    const bytes = Buffer.from(await (await second.ask('river?reading=cpu')).arrayBuffer());
    const head = JSON.parse(bytes.toString('utf8', 4, 4 + bytes.readUInt32LE(0)));
    t.ok(head.readings_since_ms >= begunMs - 1500 && head.since_ms < begunMs - 4000, JSON.stringify(head));
  },
);
