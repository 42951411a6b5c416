// Every face over one frozen board, in two time zones: the same counts, states, moments and durations, of nodes, racks,
// jobs and links in each state. The board is a row for each way in which a node can stand.
//
// @seconds 6

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ChangeFollower } from '../../src/changes/changes.js';
import { showJob } from '../../src/cli/jobpage.js';
import { plainText, statusText } from '../../src/cli/statustext.js';
import { bodyOf, frame } from '../../src/cli/watchframe.js';
import { Documents } from '../../src/ganglia-xml/documents.js';
import { jobsNamed } from '../../src/jobs/joblist.js';
import type { Line } from '../../src/journalfile/format.js';
import type { Encodable } from '../../src/layout/codec.js';
import { bits, enums, structs } from '../../src/layout/layout.gen.js';
import { foldedEvents } from '../../src/presentation/eventlines.js';
import { journalEvent, journalLine } from '../../src/presentation/journallines.js';
import { nodeHead, nodeSections, nodeSheet } from '../../src/presentation/nodesheet.js';
import { jsonPieces } from '../../src/presentation/statusjson.js';
import { lookMs } from '../../src/presentation/summary.js';
import { inTimes, sharedTexts, troubleText } from '../../src/presentation/troublelines.js';
import { ScrapedBoard } from '../../src/prometheus/boards.js';
import { Exporter } from '../../src/prometheus/exporter.js';
import { COLUMNS } from '../../src/query/columns.js';
import { groups, groupsJson } from '../../src/query/groups.js';
import { type Survey, survey } from '../../src/query/survey.js';
import { stateText } from '../../src/schedulerfile/statefile.js';
import { SlicedLook } from '../../src/service/slices.js';
import { isProblem, PROBLEM_TEXT, PROBLEMS } from '../../src/shm/problems.js';
import { instantOf, wallTime } from '../../src/shm/sentences.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { painter } from '../../src/terminal/style.js';
import { NameRanges } from '../../src/text/hostlists.js';
import { troubleAndSentences, troubleOf } from '../../src/trouble/trouble.js';
import { Api } from '../../src/web/api.js';
import { inZone, setZone } from '../../src/web/page/formats.js';
import { columnsOf } from '../../src/web/page/troubletexts.js';
import { StreamHeaders } from '../../src/web/streamheaders.js';
import { Wall } from '../../src/web/wall.js';
import { Watcher } from '../../src/web/watcher.js';
import { monotonicNs } from '../kit/clocks.js';
import { INSTALLED, makeIn } from '../kit/compiling.js';
import { lacks } from '../kit/lacking.js';
import { poke } from '../kit/linkboard.js';
import { busy, EVERYTHING, type MadeNode, madeBoard, validOf } from '../kit/madeboard.js';
import { madeJob, madeLook, madeState } from '../kit/madejobs.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { verbChild } from '../kit/verbchild.js';
import { keptBoard, makeOlder } from '../kit/writtenboard.js';

const PLAIN = { width: 200, paint: painter('never') };
const RACK = { pattern: /^rack[0-9]+/.source };
const ZONES = ['America/New_York', 'Asia/Kolkata'];
const VIEW = { page: 'table', sort: 'name', exceptions: false, long: true, grouped: undefined } as const;
const START = { ...VIEW, filter: { where: undefined, list: undefined }, selected: { row: 0 }, top: 0, scrolled: 0 };

/** What a face tells of all nodes. */
type Told = Readonly<Record<string, number>>;

/** The numbers in a sentence: `3 silent`, `10 unhealthy now`, `12 more recently`. */
function toldIn(text: string): Told {
  const all = [...text.matchAll(/(\d+) (silent|uncertain|unknown|never|left|live|unhealthy now|\w+ recently)\b/g)];
  return Object.fromEntries(
    all.map(([, count, what = '']) => [
      what.replace('unhealthy now', 'unhealthy').replace(/.* recently/, 'recently'),
      Number(count),
    ]),
  );
}

const some = (counts: Told): Told => Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
const flat = ({ states, unhealthy, recently }: { states: Told; unhealthy: number; recently: number }) =>
  some({ ...states, unhealthy, recently });

/** The local time of an instant. */
function clockOf(iso: string): string {
  const at = new Date(iso);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(part => String(part).padStart(2, '0')).join(':');
}

/** The same, or with its day if that is a day away or more: each face says a moment so. */
function momentOf(iso: string, nowMs: number): string {
  const days = (nowMs - Date.parse(iso)) / 86_400_000;
  if (days < 1) return clockOf(iso);
  const day = new Date(iso).toLocaleString('en-US', { month: 'short', day: '2-digit' });
  return `${day} ${clockOf(iso).slice(0, 5)}`;
}

function parsed(found: Survey) {
  const pieces = jsonPieces(found.snapshot, () => ({
    ...troubleAndSentences(found),
    nodes: found.nodes,
    standing: found.standing,
  }));
  return JSON.parse(Array.from(pieces, piece => Buffer.from(piece).toString()).join(''));
}

/** What Ganglia is told: which hosts are up, and by its comments which are unhealthy, now and recently. */
function gangliaOf(snapshot: Snapshot) {
  const board = { name: undefined, pieces: () => [snapshot], one: () => snapshot };
  const pieces = new Documents([board]).gmond(Math.floor(lookMs(snapshot) / 1000));
  const text = Array.from(pieces, piece => Buffer.from(piece).toString()).join('');
  const up = [...text.matchAll(/<HOST NAME="([^"]*)"[^>]* TN="(\d+)"/g)].filter(([, , age]) => Number(age) < 80);
  const ill = new Set([...text.matchAll(/<!-- (\S+): (?:.*; )?problems: /g)].map(([, name]) => name));
  const lately = [...text.matchAll(/<!-- (\S+): (?:.*; )?recent problems: /g)].filter(([, name]) => !ill.has(name));
  return { up: up.map(([, name]) => name).sort(), unhealthy: ill.size, recently: lately.length };
}

function gangliaSaid({ snapshot, all, standing }: Survey) {
  // Comments tell what the board remembers: of one without a memory, nothing.
  const isTold = all.some(({ index }) => snapshot.memoryOf(index) !== undefined);
  const { unhealthy, recently } = isTold ? standing : { unhealthy: 0, recently: 0 };
  const up = all.filter(({ state }) => state === 'live' || state === 'uncertain').map(({ name }) => name);
  return { up: up.sort(), unhealthy, recently };
}

/** The faces that one frozen look has. */
async function compare(t: Test, snapshot: Snapshot): Promise<void> {
  setZone(process.env.TZ);
  const found = survey(snapshot);
  const { trouble } = troubleAndSentences(found);
  const nowMs = lookMs(snapshot);
  const json = parsed(found);
  const expected = flat(json.counts);
  const names = found.all.map(({ name }) => name);
  // Counts.
  const text = (await statusText(found, { ...PLAIN, long: true })).join('');
  const spoken = (await plainText(found, { ...PLAIN, long: true })).join('');
  const [head = '', aloud = ''] = [text, spoken].map(all => all.split('\n', 1)[0]);
  t.same(toldIn(head), expected, 'status');
  t.same(toldIn(aloud), expected, '--plain');
  const events = { kept: [], from: { journal: false, from: new Date(nowMs).toISOString() } };
  const seen = {
    found,
    body: bodyOf(found, START, undefined),
    trouble,
    events,
    totals: [],
    jobs: { on: () => [], page: () => [], named: () => undefined },
  };
  const look = { ...PLAIN, columns: undefined, widths: new Map<string, number>() };
  const screen = frame(START, seen, { columns: 200, rows: 80 }, look).lines;
  t.same(toldIn(screen[0] ?? ''), expected, '--watch');
  t.equal(screen[0]?.trimEnd().slice(-8), clockOf(new Date(nowMs).toISOString()), 'with the present time');
  const formed = groupsJson(snapshot, groups(found, RACK, undefined), undefined);
  const sum: Record<string, number> = {};
  for (const group of formed)
    for (const [what, count] of Object.entries(flat(group))) sum[what] = (sum[what] ?? 0) + count;
  t.same(sum, expected, 'groups');
  const scheduled = madeState(
    names.map(name => ({ name, state: 'ALLOCATED', cpus: 4 })),
    [madeJob('7', names.join(), {})],
  );
  const jobs = madeLook(snapshot, scheduled);
  const [job] = jobsNamed('7', jobs.slurm, jobs.nodeOf);
  t.same(job && flat(job.told), expected, 'jobs --json');
  const jobPage = showJob('7', jobs, { board: '/nowhere', width: 400 }).lines(painter('never'));
  const ofJob = jobPage.find(line => line.startsWith(`${names.length} nodes`)) ?? '';
  t.same(toldIn(ofJob.replace('all live', `${names.length} live`)), expected, 'jobs ID');
  t.same(gangliaOf(snapshot), gangliaSaid(found), 'Ganglia: hosts that are up, and problems in comments');
  // Problems: each node's own, the counts, and the list.
  const ill = json.nodes.filter(({ problems }: { problems?: string[] }) => problems !== undefined);
  const lately = json.nodes.filter(
    ({ problems, recently }: Record<string, unknown>) => problems === undefined && recently !== undefined,
  );
  t.same([ill.length, lately.length], [json.counts.unhealthy, json.counts.recently], 'node by node');
  const listed = new Set<string>();
  for (const { kind, nodes = '', ended, count, now = count } of trouble) {
    if (!isProblem(kind) || ended !== undefined) continue;
    const those = names.filter(name => NameRanges.of(nodes)?.has(name));
    for (const name of those) listed.add(name);
    const showing = ill.filter(
      ({ name, problems }: { name: string; problems: string[] }) => those.includes(name) && problems.includes(kind),
    );
    t.equal(now, showing.length, `${kind} of ${nodes}: how many show it now`);
  }
  t.same(
    [...listed].sort(),
    [...ill, ...lately].map(({ name }: { name: string }) => name).sort(),
    'the list has just these',
  );
  // Moments and durations: of the list, on terminals and the page, and on the page of each node.
  for (const line of trouble) {
    const { key, since, ended, what, nodes = '', count, kind } = line;
    const told = troubleText(line, nowMs);
    const page = columnsOf(line, nowMs, true);
    t.equal(told.lasting, page.lasting, `${key}: for as long on the page`);
    t.equal(told.severity, page.severity, `${key}: as severe`);
    t.equal(told.severity === 'ended', ended !== undefined);
    t.notMatch(`${told.text} ${page.what} ${page.since}`, /\d \(?to \d/, `${key}: no span`);
    t.notMatch(what, /\d\d:\d\d/, `${key}: moments are data`);
    if (since === undefined) continue;
    const clock = momentOf(since, nowMs);
    t.equal(told.since, clock, `${key}: since`);
    t.equal(page.since.split(',')[0], clock, `${key}: on the page`);
    t.ok(text.includes(`${told.lasting}  ${told.since}`), `${key}: in status`);
    if (count !== 1 || ended !== undefined || nodes === '') continue;
    const node = found.all.find(({ name }) => name === nodes);
    const { head, lines } = nodeSheet(snapshot.node(node?.index ?? -1), painter('never'), 200);
    const sheet = [...head, ...lines].join('\n');
    if (kind === 'silent') t.match(sheet, `silent since ${clock} (`, `${key}: show`);
    const shown = isProblem(kind) ? PROBLEM_TEXT[kind] : undefined;
    if (shown !== undefined && line.now === undefined)
      t.match(sheet, `problem: ${shown}, since ${clock} (`, `${key}: show`);
    if (shown !== undefined && line.now === 0) {
      t.match(sheet, `recent: ${shown}`, `${key}: show`);
      t.notMatch(sheet, /no problems$/m);
    }
    if (kind === 'unmeasured') t.match(sheet, `not measured since ${clock} (`, `${key}: show`);
  }
  for (const { name, state, index } of found.all) {
    const about = json.nodes[index];
    t.same([about.name, about.state], [name, state]);
    const shared = trouble.filter(
      ({ kind, nodes = '' }) => /together|link/.test(kind) && NameRanges.of(nodes)?.has(name),
    );
    t.ok(sharedTexts(trouble, name, nowMs).length >= shared.length, `${name}: what it shares with others`);
  }
}

const PYTHON = `
import beoboard, json, os, struct, time
with open(os.environ["BOARD"], "r+b") as file: # The heartbeat of now, however long it took to start.
    file.seek(int(os.environ["HEARTBEAT"]))
    file.write(struct.pack("<q", time.monotonic_ns()))
board = beoboard.open(os.environ["BOARD"])
told = []
for node in board.nodes():
    memory = node.memory
    silence = memory and memory.silence_age_ns
    heard = node.state in (beoboard.State.LIVE, beoboard.State.UNCERTAIN)
    told.append({"name": node.name, "state": str(node.state), "problems": str(node.problems) if heard else "",
                 "recently": str(node.recently), "silent": silence and time.time() * 1000 - silence / 1e6})
print(json.dumps({"tally": {str(state): count for state, count in board.tally().items()}, "nodes": told}))
`;

/** The faces that look for themselves, in other processes or at other times: counts, who has what, and moments. */
async function outside(t: Test, snapshot: Snapshot, beat: () => void, [library, programs]: string[]): Promise<void> {
  const found = survey(snapshot);
  const { standing } = found;
  const expected = flat(standing);
  const { path } = snapshot;
  const bits = (node: ReturnType<Snapshot['node']>) => [node.problems.join(), node.recently.join()];
  const here = new Map([...snapshot.nodes()].map(node => [node.name, [node.state, ...bits(node)]]));
  const run = verbChild(t);
  const c = (name: string, argv: string[]) => {
    const { stdout, status } = spawnSync(join(programs ?? '', `beoboard-${name}`), argv, { encoding: 'utf8' });
    return { stdout, code: status };
  };
  const byState = (text: string) => {
    const counts: Record<string, number> = {};
    for (const [, state = ''] of text.matchAll(/ (\w+)\n/g)) counts[state] = (counts[state] ?? 0) + 1;
    return counts;
  };
  const asked = async (name: string, ...argv: string[]) => {
    beat();
    const own = await run([name, '--board', path, ...argv]);
    beat();
    return [own, c(name, ['--board', path, ...argv])];
  };
  for (const { stdout } of await asked('nodes', '--with-state'))
    t.same(byState(stdout), some(standing.states), 'nodes');
  beat();
  const ill = await run(['nodes', '--board', path, '--with-problem', PROBLEMS.join(), '--count']);
  t.equal(Number(ill.stdout), standing.unhealthy, 'nodes --with-problem');
  // What was shown less than a minute ago and is not measured warns, whatever --recent says.
  const named = 'rack3n4';
  for (const { code, stdout } of await asked('check', '--nodes', named, '--recent', 'none'))
    t.same([code, /unhealthy=(\d+)/.exec(stdout)?.[1]], [1, '0'], `check: ${stdout}`);
  for (const { code, stdout } of await asked('check')) {
    const figures = [...stdout.matchAll(/(\w+)=(\d+);/g)].map(([, what = '', count]) => [what, Number(count)] as const);
    const { missing, down, ...counts } = Object.fromEntries(figures);
    const { recently, ...rest } = expected;
    t.same([code, some(counts)], [2, rest], 'check');
    const [said = '', told = ''] = stdout.split('; recent: ');
    const [recent = ''] = told.split('; not measured');
    const groups = said.matchAll(new RegExp(`\\d (?:${PROBLEMS.join('|')}) (\\([^)]*)`, 'g'));
    const ill = names([...groups].map(([, list]) => list).join());
    t.equal(ill.size, standing.unhealthy, 'check: who has a problem');
    const those = [...here].filter(([name]) => names(recent).has(name) && !ill.has(name));
    t.equal(those.length, recently, `check: ${stdout}`);
    for (const name of names(recent)) t.ok(here.get(name)?.[2], `check: ${name} had one`);
  }
  beat();
  await t.test('Python', { skip: lacks('python3', 'python3') }, async t => {
    const env = { ...process.env, PYTHONPATH: join(ROOT, 'python'), PYTHONDONTWRITEBYTECODE: '1', BOARD: path };
    const HEARTBEAT = String(structs.board_header.fields.heartbeat_ns.offset);
    const more = { BEOBOARD_LIBRARY: join(library ?? '', 'libbeoboard.so.1'), HEARTBEAT };
    const python = spawnSync('python3', ['-c', PYTHON], { encoding: 'utf8', env: { ...env, ...more } });
    t.equal(python.stderr, '');
    const { tally, nodes } = JSON.parse(python.stdout) as { tally: Told; nodes: Record<string, string | number>[] };
    t.same(some(tally), some(standing.states), 'Python');
    const words = (text: unknown) => String(text).toLowerCase().split(/\W+/).filter(Boolean).sort().join();
    const sorted = (text = '') => text.split(',').filter(Boolean).sort().join();
    for (const { name = '', state, problems, recently, silent } of nodes) {
      const [, now, before] = here.get(String(name)) ?? [];
      t.same(
        [state, words(problems), words(recently)],
        [here.get(String(name))?.[0], sorted(now), sorted(before)],
        `Python: ${name}`,
      );
      const { beganMs } = snapshot.node(found.all.find(one => one.name === name)?.index ?? -1).memory?.silence ?? {};
      t.equal(silent === null, beganMs === undefined, `Python: ${name} was silent`);
      if (beganMs !== undefined)
        t.ok(Math.abs(Number(silent) - instantOf(snapshot, beganMs)) < 1000, `Python: ${name} since`);
    }
  });
  beat();
  const exporter = new Exporter([new ScrapedBoard(undefined, path, undefined)]);
  const selection = { names: undefined, shard: 1, shards: 1 };
  const pieces = [...exporter.metrics({ collectors: ['receiver', 'state'], selection }, 'text')];
  const metrics = Buffer.concat(pieces.filter(piece => piece !== undefined)).toString();
  const sum = (what: string, label = '') =>
    [...metrics.matchAll(new RegExp(`^beoboard_${what}\\{.*${label}.*\\} ([\\d.]+)$`, 'gm'))].reduce(
      (all, [, one]) => all + Number(one),
      0,
    );
  const states = Object.keys(standing.states);
  const counted = (what: string) => Object.fromEntries(states.map(state => [state, sum(what, `state="${state}"`)]));
  t.same(counted('nodes'), standing.states, 'Prometheus: nodes by state');
  t.same(counted('node_state'), standing.states, 'Prometheus: each');
  t.same(
    [sum('node_unhealthy'), sum('node_recently_unhealthy')],
    [standing.unhealthy, standing.recently],
    'Prometheus',
  );
  for (const { name, index } of found.all)
    for (const problem of snapshot.node(index).recently) {
      const at = sum('node_problem_last_seen_timestamp_seconds', `problem="${problem}",node="${name}"`) * 1000;
      const seen = snapshot.memoryOf(index)?.episode(problem)?.seenMs ?? Number.NaN;
      t.ok(Math.abs(at - instantOf(snapshot, seen)) < 1000, `Prometheus: ${problem} of ${name}, ${at}`);
    }
  beat();
  const slurmDir = folder(t);
  const list = found.all.map(({ name }) => ({ name, state: 'ALLOCATED', cpus: 4 }));
  const jobs = [madeJob('7', found.all.map(({ name }) => name).join(), {})];
  writeFileSync(join(slurmDir, 'state'), stateText(madeState(list, jobs)));
  const wall = new Wall({ board: path, build: 'x', journalRun: '/nowhere', slurmDir });
  await wall.begin();
  t.teardown(() => wall.close());
  const api = new Api(wall);
  const get = async (query: string, of = 'nodes') => {
    const request = { path: '', host: '', zone: '', accept: '', site: '', isForeign: false, token: '' };
    const sliced = { slices: new SlicedLook(), take: async () => undefined, query: new URLSearchParams(query) };
    beat();
    const { body } = (await api.answer(of, { ...request, ...sliced })) ?? {};
    const parts = Array.from(body instanceof Uint8Array ? [body] : (body as Iterable<Uint8Array | undefined>), piece =>
      piece === undefined ? '' : Buffer.from(piece).toString(),
    );
    return JSON.parse(parts.join(''));
  };
  const all = await get('');
  t.same(flat(all.counts), expected, 'API /nodes');
  t.equal(all.counts.nodes, standing.nodes);
  const few = await get('where=unhealthy');
  t.same(
    few.counts,
    { ...few.counts, nodes: standing.unhealthy, unhealthy: standing.unhealthy, recently: 0 },
    'of those that are asked for',
  );
  const page = await get('page=1');
  t.same([page.total, page.nodes.length], [standing.nodes, standing.nodes], 'a page of them');
  const [job] = (await get('', 'jobs')).jobs;
  t.same(flat(job), expected, 'API /jobs');
}

/** The names in a text, also in lists. */
const names = (text: string) =>
  new Set(
    [...text.matchAll(/rack\d+n(\[[^\]]*\]|\d+)/g)].flatMap(([list]) => [...(NameRanges.of(list)?.made() ?? [])]),
  );

/** Those that go on have an interval by which they are still live when other programs have looked. */
const gone = (ago: number, from: number, report: Encodable<'report'> = {}) => {
  const interval_ms = from === 0 || from === UNSURE ? 13_000 : 1000;
  return ago < from ? undefined : { valid: EVERYTHING, interval_ms, health: enums.health.indexOf('ok'), ...report };
};
const UNSURE = 75;
const when = (is: boolean, report: Encodable<'report'>) => (is ? report : {});
const BAD = { health: enums.health.indexOf('bad') };
const HELD = { flags: 1 << bits.flags.held };
/** A counter that rose in each second until `until` s ago. */
const rising = (ago: number, until: number) => ({ throttle_events: 1000 - Math.max(ago, until) });

/** Each way in which a node can stand, by what it reported so many seconds ago. */
const PAST: Parameters<typeof keptBoard>[1] = {
  rack1n1: ago => gone(ago, 0),
  rack1n2: ago => gone(ago, 0, BAD),
  rack1n3: ago => gone(ago, 0, when(ago >= 30, BAD)),
  rack1n4: ago => gone(ago, 0, when(ago >= 90, BAD)),
  rack2n1: ago => gone(ago, 0, rising(ago, 0)),
  rack2n2: ago => gone(ago, 0, rising(ago, 40)),
  rack2n3: ago => gone(ago, 0, { ...rising(ago, 100), ...HELD }),
  rack2n4: ago => gone(ago, 0, { ...BAD, ...when(ago < 80, { valid: EVERYTHING & ~validOf('health') }) }),
  rack3n1: ago => gone(ago, UNSURE, rising(ago, 90)),
  rack3n2: ago => gone(ago, 110, BAD),
  rack3n3: ago => gone(ago, 50, ago === 50 ? { flags: 1 << bits.flags.goodbye } : {}),
  rack3n4: ago => gone(ago, 0, { ...BAD, ...when(ago < 20, { valid: EVERYTHING & ~validOf('health') }) }),
  ...Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`rack4n${i + 1}`, (ago: number) => gone(ago, 60)])),
};

t.test('a board with a past', async t => {
  // What is compiled is there before the board.
  const [library, programs] = [makeIn('', {}, 'lib'), makeIn('verbs', INSTALLED)];
  const { reader, writer } = keptBoard(t, PAST, 150, 1, ['rack5n1', 'rack5n2']);
  const snapshot = reader.snapshot();
  const { standing } = survey(snapshot);
  t.match(standing, { nodes: 22, states: { silent: 9, uncertain: 1, left: 1, live: 9, never: 2 } });
  t.match(standing, { unhealthy: 3, recently: 4 });
  // Those that look for themselves, at once: while nobody is heard, states go on.
  writer.heartbeat(monotonicNs());
  const follower = new ChangeFollower(reader, { last: 0 });
  const [begin] = foldedEvents(follower.look(true), painter('never')).slice(-1);
  t.same(toldIn(begin?.text ?? ''), flat(standing), 'events');
  t.same(flat(begin as never), flat(standing), 'events --json');
  t.same(
    follower.look(true).map(({ event }) => event),
    [],
    'a second later nothing is resolved that is not over',
  );
  writer.heartbeat(monotonicNs());
  const watcher = new Watcher(reader.path);
  t.teardown(() => watcher.reader.close());
  const heads = new StreamHeaders(watcher, '/nowhere');
  t.teardown(() => heads.close());
  const head = heads.at(await watcher.look());
  const { counts, unhealthy, recently, line, marks } = head;
  t.same(flat({ states: counts as Told, unhealthy, recently }), flat(standing), 'the page');
  t.same(toldIn(line), flat(standing), "the page's line");
  t.equal(NameRanges.of(marks.recent ?? '')?.size, recently, 'the marks on its map');
  const bare = ({ trouble }: Pick<typeof head, 'trouble'>) =>
    trouble.map(({ key, since, ended, now }) => [key, since, ended, now]);
  t.same(bare(head), bare(troubleAndSentences(survey(snapshot))), 'the same lines, by the same times');
  await t.test('other programs', async t =>
    outside(t, snapshot, () => writer.heartbeat(monotonicNs()), [library, programs]),
  );
  for (const zone of ZONES) {
    process.env.TZ = zone;
    await t.test(zone, async t => compare(t, snapshot));
  }
});

t.test('boards of earlier versions, which remember less or nothing, and of a mirror', async t => {
  const programs = makeIn('verbs', INSTALLED);
  const { board_hash, mirror_masters } = structs.board_header.fields;
  const { reader, writer } = keptBoard(t, PAST, 150, 1, ['rack5n1']);
  const { states, unhealthy } = survey(reader.snapshot()).standing;
  writer.heartbeat(monotonicNs());
  const [ours, bytes] = [readFileSync(reader.path).readBigUInt64LE(board_hash.offset), readFileSync(reader.path)];
  for (const [hash, memory] of [
    [0x41b546ae8c5eb7d1n, 0],
    [0x6a1ff5d3f02fcb17n, 192],
    [ours, 64],
    [ours, undefined],
  ] as const) {
    const path = boardPath(t);
    writeFileSync(path, bytes);
    if (memory !== undefined) makeOlder(path, hash, memory);
    else poke(path, [[mirror_masters.offset, 1n]]);
    poke(path, [[structs.board_header.fields.heartbeat_ns.offset, monotonicNs()]]);
    const older = openReader(t, path);
    const snapshot = older.snapshot();
    const { standing } = survey(snapshot);
    const recently = memory === undefined ? 4 : 0;
    t.match(standing, { states, unhealthy, recently }, `with ${memory ?? 'a mirror’s memory'}`);
    const { stdout } = spawnSync(join(programs, 'beoboard-check'), ['--board', path], { encoding: 'utf8' });
    t.match(stdout, `unhealthy=${unhealthy};`, stdout);
    t.equal(/; recent: /.test(stdout), recently > 0);
    await t.test(`${memory}`, async t => compare(t, snapshot));
  }
});

t.test('sentences for a page have their moments as data, and it writes them in its zone', async t => {
  const { reader } = keptBoard(t, PAST, 150);
  const [local, utc] = [reader.snapshot(), reader.snapshot()];
  const told = (snapshot: Snapshot) =>
    [...snapshot.nodes()].flatMap(node => [
      nodeHead(node, painter('never')),
      ...nodeSections(node).flatMap(({ facts }) => facts.map(some => some.join())),
    ]);
  const before = told(local).join('\n');
  const tells = (snapshot: Snapshot) => {
    snapshot.tellsUtc = true;
    return told(snapshot).join('\n');
  };
  const after = tells(local);
  t.ok(after.split('\n').filter(line => /\dZ \(/.test(line)).length > 10, 'there are many');
  t.notMatch(after.replace(/T[\d:]{8}Z/g, ''), /\d\d:\d\d:\d\d/, 'and no others');
  t.equal(after.replace(/\d{4}-\d\d-\d\dT[\d:]{8}Z/g, clockOf), before, 'of the same moments');
  const nowMs = lookMs(utc);
  t.notMatch(inZone(after, nowMs), /\dZ/);
  t.equal(inZone('of 9999-99-99T99:99:99Z', nowMs), 'of 9999-99-99T99:99:99Z', 'what is none stays');
});

t.test('a moment is its time of day until it is a day away, also beyond midnight', async t => {
  process.env.TZ = 'UTC';
  setZone('UTC');
  // The look is at 14:03:33.
  const ages = [110, 50_700, 86_399, 86_401, 3 * 86_400];
  const snapshot = madeBoard(ages.map((age, i) => ({ name: `n${i}`, age, ...busy(1) })));
  const found = survey(snapshot);
  const nowMs = lookMs(snapshot);
  const since = COLUMNS.find(({ name }) => name === 'since');
  for (const [i, age] of ages.entries()) {
    const iso = new Date(Math.floor(nowMs / 1000 - age) * 1000).toISOString();
    const expected = momentOf(iso, nowMs);
    const node = snapshot.node(i);
    const line = troubleOf(found, {}).find(({ nodes = '' }) => NameRanges.of(nodes)?.has(node.name));
    const { lines, head } = nodeSheet(node, painter('never'), 200);
    t.match([...head, ...lines].join('\n'), `since ${expected} (`, 'show');
    t.equal(since?.text(node), expected, 'a column');
    t.equal(line && troubleText(line, nowMs).since, expected, 'the list');
    t.equal(line && columnsOf(line, nowMs, true).since, expected, 'the page');
    t.equal(inTimes(`x ${iso.slice(0, 19)}Z`, nowMs), `x ${expected}`, 'a sentence of the journal');
  }
  for (const tell of [inTimes, inZone])
    t.equal(tell('2025-10-18T03:04:05Z to 2026-11-23T01:02:03Z', nowMs), '2025-10-18 to 01:02:03', 'with the year');
});

t.test('so have those of a journal', async t => {
  const at = '2026-11-27T02:03:04.000Z';
  const common = { id: 'a.1', at, board: 'alpha', from: at };
  const lines = [
    { ...common, event: 'acknowledged', key: 'silent:n1', by: 'anna', until: '2026-11-28T01:00:00.000Z', why: 'moved' },
    { ...common, event: 'silent', nodes: 'n1', missed: 3, missed_since: '2026-11-27T01:02:03.000Z' },
  ] as unknown as Line[];
  for (const zone of ZONES) {
    process.env.TZ = zone;
    for (const line of lines) {
      const told = journalEvent({ line }, painter('never')).text;
      const here = told.replace(/\S+T[\d:]{8}Z/g, iso => wallTime(Date.parse(iso)));
      t.match(told, /\dZ\b/, told);
      t.notMatch(told.replace(/\S+T[\d:]{8}Z/g, ''), /\d\d:\d\d/, 'and no other moments');
      t.ok(journalLine({ line }, painter('never'), false).includes(here), 'as events says it');
    }
  }
});

t.test('a health check is as old as it is now, not as it was when it was last heard', async t => {
  const report = {
    valid: EVERYTHING,
    health: enums.health.indexOf('ok'),
    health_src: enums.health_src.indexOf('check'),
  };
  const snapshot = madeBoard([480, 0.2].map((age, i) => ({ name: `n${i}`, age, report })));
  const sheets = [...snapshot.nodes()].map(node => nodeSheet(node, painter('never'), 200).lines.join('\n'));
  t.match(sheets[0], /ok, said by check, 8m00s ago/);
  t.match(sheets[1], /ok, said by check, less than 1s ago/);
});

t.test('a rack behind a switch, and links in each state', async t => {
  const rack: MadeNode[] = Array.from({ length: 48 }, (_, i) => ({
    name: `rack7n${String(i + 1).padStart(2, '0')}`,
    age: 90,
    ...busy(1),
  }));
  const others: MadeNode[] = Array.from({ length: 60 }, (_, i) => ({
    name: `rack8n${String(i + 1).padStart(2, '0')}`,
    age: 0.4,
    ...busy(1),
  }));
  const dark: MadeNode[] = Array.from({ length: 4 }, (_, i) => ({
    name: `rack9n${i + 1}`,
    age: 33,
    ...busy(1),
    link: 2,
  }));
  const down: MadeNode[] = Array.from({ length: 4 }, (_, i) => ({
    name: `rack6n${i + 1}`,
    age: 200,
    ...busy(1),
    link: 3,
  }));
  const links = { 1: {}, 2: { dark: { since: 28, nodes: 4 } }, 3: { state: ['down' as never], changed: 199 } };
  const snapshot = madeBoard([...rack, ...others, ...dark, ...down], { links } as never);
  for (const zone of ZONES) {
    process.env.TZ = zone;
    await t.test(zone, async t => compare(t, snapshot));
  }
  const found = survey(snapshot);
  const { trouble } = troubleAndSentences(found);
  t.match(sharedTexts(trouble, 'rack7n03', lookMs(snapshot)), [
    /^critical, 90 s, since \S+: rack7n\[01-48\] \(48 nodes\): fell silent together/,
  ]);
  t.same(sharedTexts(trouble, 'rack8n03', lookMs(snapshot)), []);
  // A scheduler that knows the switches tells behind which one they are.
  const scheduler = madeState(
    found.all.map(({ name }) => ({ name, state: 'IDLE', cpus: 4, switch: `leaf-${name.slice(0, 5)}` })),
    [],
  );
  const { slurm } = madeLook(snapshot, scheduler);
  const behind = troubleAndSentences(found, { scheduler: slurm }).trouble;
  t.match(
    sharedTexts(behind, 'rack7n03', lookMs(snapshot)),
    [/^critical, 90 s, since \S+: rack7n\[01-48\] \(48 nodes\): fell silent together.*switch leaf-rack7/],
    'behind which switch',
  );
});
