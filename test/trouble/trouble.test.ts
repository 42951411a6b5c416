// The list of trouble: its lines, their order, their times, and what dims them.
//
// @whole
// @days 3

import t from 'tap';
import type { Ack } from '../../src/acks/acks.js';
import type { TroubleInfo } from '../../src/acks/info.js';
import { DigestBuilder } from '../../src/changes/digest.js';
import { writeState } from '../../src/journalfile/state.js';
import { bits } from '../../src/layout/layout.gen.js';
import { troubleText } from '../../src/presentation/troublelines.js';
import { type Choice, survey } from '../../src/query/survey.js';
import type { SchedulerJob, SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { Pairing, SchedulerView } from '../../src/schedulerfile/schedulerview.js';
import { monotonicMs, type SchedulerState } from '../../src/schedulerfile/statefile.js';
import type { BoardReader } from '../../src/shm/reader.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { KINDS } from '../../src/trouble/kinds.js';
import { LINES_MOST } from '../../src/trouble/remembered.js';
import { type Besides, troubleOf } from '../../src/trouble/trouble.js';
import { anomalies } from '../kit/anomalies.js';
import { random } from '../kit/brokenboards.js';
import { busy, type MadeBoard, type MadeNode, madeBoard, NOW, REAL } from '../kit/madeboard.js';
import { folder } from '../kit/places.js';
import { NOT_WHOLE } from '../kit/whole.js';

const MINUTE = 60;
const readonly = busy(1, { flags: 1 << bits.flags.root_readonly });

const many = (list: string, more: Partial<MadeNode> = {}): MadeNode[] =>
  expand(list, BOARD_MOST).map(name => ({ name, age: 0.5, ...busy(1), ...more }));

const lines = (nodes: MadeNode[], made: MadeBoard = {}, besides: Besides = {}, choice: Choice = {}) =>
  troubleOf(survey(madeBoard(nodes, made), choice), besides);
const keys = (...args: Parameters<typeof lines>) => lines(...args).map(({ key, dim }) => (dim ? `(${key})` : key));

/** So many seconds before the look, as the list writes it. */
const at = (ago: number) =>
  new Date(Math.floor(Number(REAL / 1_000_000n) / 1000 - ago) * 1000).toISOString().replace('.000', '');

t.test('nothing is wrong', async t => t.same(lines(many('n[1-9]')), []));

t.test('nodes share a line if their problem began together, and lasts for all of them', async t => {
  const nodes = [
    ...many('n[1-4]'),
    { ...many('n5')[0], ...readonly, remembered: { root_readonly: { began: 600, seen: 0.5, count: 4, open: true } } },
    { ...many('n6')[0], ...readonly, remembered: { root_readonly: { began: 100, seen: 0.5, open: true } } },
    // It has not been absent for long enough: its episode lasts.
    { ...many('n7')[0], remembered: { root_readonly: { began: 200, seen: 20, open: true } } },
    { ...many('n8')[0], ...readonly, remembered: { root_readonly: { began: 594, seen: 0.5, count: 2, open: true } } },
    // It is over there, and this says nothing of the others.
    { ...many('n9')[0], remembered: { root_readonly: { began: 600, seen: 580, count: 9 } } },
  ] as MadeNode[];
  const line = { kind: 'root_readonly', severity: 'critical', what: 'its root file system is read-only' };
  t.same(lines(nodes), [
    {
      ...{ ...line, key: 'root_readonly', nodes: 'n[5,8]', count: 2, since: at(600), since_last: at(594) },
      ...{ times: 4, times_since: at(86_400) },
    },
    { ...line, key: 'root_readonly:at-499800000', nodes: 'n7', count: 1, now: 0, since: at(200) },
    { ...line, key: 'root_readonly:at-499900000', nodes: 'n6', count: 1, since: at(100) },
    {
      ...{ ...line, key: 'root_readonly:at-499400000-499420000', nodes: 'n9', count: 1, since: at(600) },
      ...{ ended: at(580), times: 9, times_since: at(86_400), dim: 'ended' },
    },
  ]);
  t.same(lines(nodes, {}, {}, { among: ['n6'] }), [
    {
      ...{ key: 'root_readonly', kind: 'root_readonly', severity: 'critical', nodes: 'n6', count: 1 },
      ...{ what: 'its root file system is read-only', since: at(100) },
    },
  ]);
});

t.test('a line stays for an hour behind its end, and two episodes are two lines', async t => {
  const ended = (name: string, began: number, seen: number): MadeNode => ({
    ...(many(name)[0] as MadeNode),
    remembered: { oom: { began, seen } },
  });
  const nodes = [ended('n1', 700, 300), ended('n2', 705, 300), ended('n3', 702, 200), ended('n4', 4000, 3700)];
  t.match(lines(nodes), [
    { key: 'oom:at', nodes: 'n[1-2]', since: at(705), since_last: at(700), ended: at(300), dim: 'ended' },
    { key: 'oom', nodes: 'n3', since: at(702), ended: at(200), dim: 'ended' },
  ]);
  t.same(lines([ended('n4', 4000, 3601)]), []);
  t.equal(lines([ended('n4', 4000, 3599)]).length, 1);
  const again = { ...(many('n5')[0] as MadeNode), remembered: { oom: { began: 30, seen: 3, open: true } } };
  const [open, ...before] = lines([...nodes, again]);
  t.match(open, { key: 'oom', nodes: 'n5', since: at(30), ended: undefined, dim: undefined });
  t.equal(before.length, 2);
  t.equal(lines([...nodes, again], {}, { withinMs: 250_000 }).length, 2, 'for whoever was not there before');
});

/** Seconds before the look, of a time of a line. */
const ago = (time: string) => Number(REAL / 1_000_000_000n) - Date.parse(time) / 1000;

t.test('the times of a line are true of each of its nodes, and each silence is on one line', async t => {
  const seed = Number(process.env.SEED ?? 74);
  const next = random(seed);
  for (let trial = 0; trial < 60; trial++) {
    const begins = Array.from({ length: 1 + next(6) }, () => 60 + next(3000));
    const nodes = Array.from({ length: 1 + next(40) }, (_, i): MadeNode => {
      const began = (begins[next(begins.length)] ?? 0) + next(3);
      const isOver = next(2) === 0;
      const silence = { began, ...(isOver && { ended: Math.max(1, began - 20 - next(2) * next(400)) }) };
      return { ...(many(`n${i}`)[0] as MadeNode), age: isOver ? 0.5 : began, silence };
    });
    const found = lines([...nodes, ...many('z[1-200]')]);
    const told = found.flatMap(({ nodes = '' }) => expand(nodes, BOARD_MOST));
    const what = `SEED=${seed}, trial ${trial}`;
    t.same(told.sort(), nodes.map(({ name }) => name).sort(), what);
    t.equal(new Set(found.map(({ key }) => key)).size, found.length, what);
    const untrue = found.flatMap(({ nodes: list = '', since = '', since_last = since, ended, ended_first = ended }) =>
      expand(list, BOARD_MOST).filter(name => {
        const { began = 0, ended: over } = nodes.find(node => node.name === name)?.silence ?? {};
        const beganThen = Number(began) <= ago(since) && Number(began) > ago(since_last) - 2.6;
        if (over === undefined || ended === undefined || ended_first === undefined) return !beganThen || over !== ended;
        return !beganThen || Number(over) > ago(ended_first) || Number(over) <= ago(ended) - 1.1;
      }),
    );
    t.same(untrue, [], what);
  }
});

t.test('of very many episodes, the oldest share a line, which tells from when to when', async t => {
  const nodes = Array.from({ length: 100 }, (_, i) => ({ began: 100 + 100 * i, name: `n${i}` }));
  const found = lines(nodes.flatMap(({ name, began }) => many(name, { age: began, silence: { began } })));
  t.equal(found.length, LINES_MOST);
  t.match(found[0], { key: 'silent', count: 101 - LINES_MOST, since: at(10_000), since_last: at(100 * LINES_MOST) });
});

t.test('a node that flaps has one line', async t => {
  const young = (count: number, more: Partial<MadeNode> = {}) =>
    many('n1', { age: 60, silence: { began: 60, count }, remembers: 3000, ...more });
  const rest = many('n[2-9]');
  t.match(lines([...young(2), ...rest]), [{ key: 'silent', flapping: undefined, times: 2 }]);
  const [line] = lines([...young(5), ...rest]);
  t.match(line, { key: 'silent:n1', kind: 'silent', flapping: 5, since: at(60) });
  t.match(troubleText(line as TroubleInfo, Number(REAL / 1_000_000n)).text, /; flapping, 5 times in the last hour$/);
  t.match(lines([...young(5, { remembers: 4000 }), ...rest]), [{ key: 'silent', flapping: undefined }], 'unknown');
  const journals = folder(t);
  writeState(journals, 'default', {
    ...{ schema: 1, board: 'test', journal_dir: '/journal', pid: 1, time_ms: 0, mono_ms: 0 },
    ...{ next_ms: Number.MAX_SAFE_INTEGER, often_hour: { silent: { n1: 4 } } },
  });
  t.match(lines([...young(9, { remembers: 4000 }), ...rest], {}, { journals }), [{ key: 'silent:n1', flapping: 4 }]);
  const ack: Ack = { key: 'silent:n1', nodes: 'n1', flapping: 'n1', by: 'eva', at: at(900), until: at(-60) };
  t.match(lines([...young(5), ...rest], {}, { acks: [ack] }), [{ dim: 'acknowledged' }], 'as one');
  t.match(lines([...young(2), ...rest], {}, { acks: [ack] }), [{ dim: undefined }], 'while it does');
});

t.test('an acknowledgement holds for what had begun', async t => {
  const boot = String(madeBoard([]).header.master_boot_id);
  const nodes = [...many('n1', { age: 60, silence: { began: 60, count: 2 } }), ...many('n[2-9]')];
  const ack: Ack = { key: 'silent', nodes: 'n[1-2]', times: 1, by: 'eva', at: at(700), until: at(-600) };
  const told = (acks: readonly Ack[]) => {
    const [line] = lines(nodes, {}, { acks });
    return line?.dim ?? line?.ack_before;
  };
  t.same(told([ack]), { by: 'eva', at: at(700), last: true }, 'its next death is bright');
  t.same(told([{ ...ack, times: 5 }]), { by: 'eva', at: at(700), last: false });
  // It was the last one of one of its nodes only, or of another board.
  const died = (name: string, count: number, remembers = 4000) =>
    many(name, { age: 60, remembers, silence: { began: 60, count } });
  for (const [those, last] of [
    [[...died('n1', 2), ...died('n2', 2)], true],
    [[...died('n1', 2), ...died('n2', 3)], false],
    [[...died('n1', 2), ...died('n3', 2)], false],
    [died('n1', 2, 600), false],
  ] as const) {
    const [line] = lines([...those, ...many('n[4-9]')], {}, { acks: [ack] });
    t.match(line, { count: those.length, ack_before: { last } });
  }
  const [line] = lines(nodes, {}, { acks: [ack] });
  t.match(
    troubleText(line as TroubleInfo, Number(REAL / 1_000_000n)).text,
    /; the last one was acknowledged by eva at /,
  );
  t.equal(told([{ ...ack, at: at(50) }]), 'acknowledged');
  t.equal(told([{ ...ack, until: at(1) }]), undefined, 'it is over');
  // The wall clock was set meanwhile: the monotonic one of the same boot decides.
  const monoMs = Number(NOW / 1_000_000n);
  t.equal(told([{ ...ack, at: at(7000), boot, mono_ms: monoMs - 50_000 }]), 'acknowledged');
  t.match(told([{ ...ack, at: at(-7000), boot, mono_ms: monoMs - 70_000 }]), { by: 'eva' });
  t.equal(told([{ ...ack, at: at(50), boot: '7', mono_ms: 1 }]), 'acknowledged', 'of another boot the wall clock');
  const fell = [...many('n[1-2]', { age: 60, silence: { began: 60 } }), ...many('n[3-9]')];
  const each = [
    { ...ack, nodes: 'n1', at: at(50) },
    { ...ack, key: 'silent:at-1', nodes: 'n2', at: at(40), until: at(-30), by: 'bert' },
  ];
  t.match(lines(fell, {}, { acks: each }), [{ dim: 'acknowledged', ack: { by: 'bert' } }], 'node by node');
  t.match(lines(fell, {}, { acks: each.slice(1) }), [{ dim: undefined }]);
  // On a new board it lasts since the first report that is remembered, and may have begun before.
  const root_readonly = { began: 30, seen: 0.5, open: true };
  const problem = many('n1', { ...readonly, remembers: 30, remembered: { root_readonly } });
  const known = { ...ack, key: 'root_readonly', nodes: 'n1' };
  t.match(lines(problem, {}, { acks: [known] }), [{ key: 'root_readonly', dim: 'acknowledged' }]);
});

t.test('a board that remembers nothing: now', async t => {
  const header = { memory_bytes: 0 };
  t.match(lines([{ ...(many('n1')[0] as MadeNode), ...readonly }, ...many('n2', { age: 60 })], { header }), [
    { key: 'silent', nodes: 'n2', since: at(60), times: undefined },
    { key: 'root_readonly', nodes: 'n1', since: undefined, times: undefined },
  ]);
});

t.test('one silent node of 2,400 is named', async t => {
  const nodes = [...many('n[0001-2399]'), ...many('n2400', { age: 700, silence: { began: 700, count: 3 } })];
  t.match(lines(nodes), [
    {
      key: 'silent',
      nodes: 'n2400',
      count: 1,
      since: at(700),
      times: 3,
      times_since: at(86_400),
      severity: 'critical',
    },
  ]);
});

t.test('whoever asks about some nodes is told of these', async t => {
  const nodes = [...many('n[1-3]', { age: 60 }), ...many('n[4-9]')];
  t.match(lines(nodes, {}, {}, { among: ['n2', 'n5'] }), [{ key: 'silent', nodes: 'n2', count: 1 }]);
  t.same(lines(nodes, {}, {}, { among: ['n5'] }), []);
  const rack = [...many('rack1n[1-20]', { age: 60 }), ...many('rack2n[1-40]')];
  t.match(
    lines(rack, {}, {}, { among: ['rack1n7', 'rack2n1'] }),
    [{ key: 'together:rack1', nodes: 'rack1n7', count: 1, what: /^fell silent together \(20 nodes of rack1\): / }],
    'the cause is told whole',
  );
  t.same(lines(rack, {}, {}, { among: ['rack2n1'] }), []);
  const some = { among: ['n2', 'n9'] };
  const behind = [...many('n[1-9]', { age: 40, link: 1 }), ...many('m[1-9]', { link: 2 })];
  t.match(lines(behind, { links: { 1: { state: [], changed: 39 }, 2: {} } }, {}, some), [
    { key: 'link:eth0', nodes: 'n[2,9]' },
  ]);
  const tag = many('n[1-5]', { age: 60, refusal: { reason: 'tag', age: 3 } });
  const rejected = lines([...tag, ...many('n[6-9]')], { header: { refused: [1, 1, 1] } }, {}, some);
  t.match(
    rejected.map(({ key, nodes }) => [key, nodes]),
    [
      ['silent', 'n2'],
      ['refused:tag', 'n2'],
    ],
  );
});

t.test('what is over hides no rack that is down', async t => {
  const over = ['rack4', 'rack5', 'rack6', 'rack7', 'rack8'].flatMap((rack, i) =>
    many(`${rack}n[01-40]`, { silence: { began: 900 + 300 * i, ended: 700 } }),
  );
  const down = many('rack3n[01-20]', { age: 60, silence: { began: 60 } });
  const found = keys([...over, ...down, ...many('z[1-40]')]);
  t.equal(found[0], 'together:rack3');
  t.equal(found.filter(key => key.startsWith('(together:')).length, 3);
  const beside = many('rack4n[01-40]', { silence: { began: 60.5, ended: 30 } });
  const one = many('z1', { age: 62, silence: { began: 62 } });
  t.same(
    keys([...beside, ...one, ...many('z[2-40]')]),
    ['silent', '(together:rack4)'],
    'a node that fell a moment before is none of them',
  );
});

t.test('a silence that is over says that the node or its sender stood still', async t => {
  const still = (list: string, stoodStillUs: number) =>
    many(list, { silence: { began: 130, ended: 60, stoodStillUs } });
  const rest = many('z[1-40]');
  const [one] = lines([...still('n1', 13_689_000), ...rest]);
  t.match(one?.what, /; the node or its sender stood still for 13\.6s$/);
  const [longest] = lines([...still('n1', 2 ** 32 - 1), ...rest]);
  t.match(longest?.what, /; the node or its sender stood still for over 71 min$/);
  const [rack] = lines([...still('a', 13_600_000), ...many('b', { silence: { began: 130, ended: 60 } }), ...rest]);
  t.match(rack?.what, /; 1 of them stood still for 13\.6s$/);
});

t.test('a node of another rack that falls at the same moment has a line of its own', async t => {
  const fell = (list: string) => many(list, { age: 60, silence: { began: 60 } });
  const rest = many('z[1-40]');
  const found = lines([...fell('rack12n07'), ...fell('rack17n[01-48]'), ...fell('login1'), ...rest]);
  t.match(found, [
    { key: 'together:rack17', nodes: 'rack17n[01-48]' },
    { key: 'silent', nodes: 'login1,rack12n07' },
  ]);
  const [row] = lines([...fell('rack11n[01-02],rack12n[01-02],rack13n[01-02],rack14n[01-02],rack15n[01-02]'), ...rest]);
  t.match(row, { key: 'together:rack11', count: 10 }, 'two of each rack fell with each other');
});

t.test('an acknowledged rack stays so when the nodes of the other one have been well for long', async t => {
  const down = (list: string) => many(list, { age: 4000, silence: { began: 4000 } });
  const well = (list: string, ended: number) => many(list, { silence: { began: 4000, ended } });
  const rest = many('z[1-40]');
  const [before] = lines([...well('rack17n[01-20]', 3500), ...down('rack18n[01-20]'), ...rest]);
  t.match(before, { key: 'together:rack17', nodes: 'rack18n[01-20]', what: /40 nodes of rack\[17-18\]/ });
  const ack = { by: 'eva', at: at(3900), until: at(-60), key: 'together:rack17', nodes: 'rack[17-18]n[01-20]' };
  const later = [...well('rack17n[01-20]', 3700), ...down('rack18n[01-20]'), ...rest];
  t.match(lines(later, {}, { acks: [ack] }), [{ key: 'together:rack18', dim: 'acknowledged' }]);
  const few = [...well('rack17n[01-20],rack18n[04-20]', 3700), ...down('rack18n[01-03]'), ...rest];
  t.match(lines(few, {}, { acks: [ack] }), [{ key: 'silent', dim: 'acknowledged' }]);
  t.match(lines([...few, ...many('y', { age: 20 })], {}, { acks: [ack] }), [{ key: 'silent', dim: undefined }]);
  const first = [...down('rack17n[01-20]'), ...well('rack18n[01-20]', 3700), ...rest];
  t.match(lines(first, {}, { acks: [ack] }), [{ key: 'together:rack17', dim: 'acknowledged' }]);
});

t.test('no line is lost for a look while the writer has not noted what changed', async t => {
  const back = many('n1', { age: 0.2, silence: { began: 100 } });
  t.match(lines([...back, ...many('n[2-9]')]), [{ key: 'silent', nodes: 'n1', dim: 'ended', since: at(100) }]);
  const full = { remembered: { root_full: { began: 900, seen: 60, open: true } } };
  const silent = { age: 60, silence: { began: 60 }, ...full };
  t.match(
    lines([...many('n1', silent), ...many('n[2-9]')]),
    [
      { key: 'silent', nodes: 'n1' },
      { key: 'root_full', nodes: 'n1', dim: 'ended', since: at(900), ended: at(60) },
    ],
    'whether a node that is not heard still has a problem is not known',
  );
});

t.test('a receiver that stands, and one that has just begun, change nothing of what is known', async t => {
  const down = many('rack3n[01-20]', { age: 18, silence: { began: 18, count: 2 } });
  const others = (age: number) => many('rack[4-9]n[01-80]', { age });
  const line = { key: 'together:rack3', nodes: 'rack3n[01-20]', since: at(18), times: 2 };
  t.match(lines([...down, ...others(0.5)]), [line]);
  t.match(lines([...down, ...others(5)], { heartbeat: 2 }), [line], 'all are uncertain, because it stands');
  const again: MadeBoard = { listened: 2, events: [{ kind: 'deaf', age: 3, detail: 9000 }] };
  const starting = { key: 'starting', since: at(3) };
  t.match(lines([...down, ...others(14)], again), [line, starting, { key: 'deaf:deaf' }], 'before all report again');
  t.match(lines([...down, ...others(0.5)], again), [line, starting, { key: 'deaf:deaf' }]);
  t.match(
    lines([...down, ...others(0.5)], { ...again, listened: -4 }),
    [line, starting, { key: 'deaf:deaf' }],
    'while intervals are in doubt, it listens since the same time',
  );
  const flapping = many('n1', { age: 6, silence: { began: 100, ended: 50 } });
  t.match(lines([...flapping, ...many('n[2-9]')]), [{ key: 'silent', dim: 'ended', since: at(100), ended: at(50) }]);
});

t.test('a hundred thousand nodes behind one link', { skip: NOT_WHOLE }, async t => {
  const nodes = many('n[000001-100000]', { age: 60, silence: { began: 60 } });
  t.match(lines(nodes, { links: { 1: { state: [], changed: 59 } } }), [{ key: 'link:eth0', count: 100_000 }]);
  t.match(lines(nodes), [{ key: /^together:at-/, count: 100_000 }]);
});

t.test('a rack that fell has one line for those that are silent, and keeps it while its nodes come back', async t => {
  const rack = many('rack1n[01-20],rack2n[01-20]');
  const fallen = many('rack3n[01-20]', { age: 300, silence: { began: 300 } });
  const refused = { ...(fallen[0] as MadeNode), refusal: { reason: 'clock', age: 3 } as const };
  const [line, ...more] = lines([...rack, refused, ...fallen.slice(1)], { header: { refused: [1, 1, 1] } });
  t.same(more, [], 'no other, whatever else is said of them');
  t.match(line, { key: 'together:rack3', nodes: 'rack3n[01-20]', count: 20, since: at(300) });
  const rejected = fallen.map(node => ({ ...node, refusal: { reason: 'tag', age: 3 } as const }));
  t.match(
    lines([...rack, ...rejected], { header: { refused: [1, 1, 1] } }),
    [{ key: 'refused:tag', count: 20 }],
    'a rack whose reports are rejected',
  );
  const back = many('rack3n[01-15]', { age: 0.5, silence: { began: 300, ended: 20 } });
  const [same, ...others] = lines([...rack, ...back, ...fallen.slice(15)]);
  t.match(others, [{ nodes: 'rack3n[01-15]', count: 15, since: at(300), ended: at(20), dim: 'ended' }]);
  t.equal(others.length, 1);
  t.match(same, { key: 'together:rack3', nodes: 'rack3n[16-20]', count: 5, what: /\(20 nodes of rack3\)/ });
  const slowly = fallen.map((node, i) => ({ ...node, age: 0.5, silence: { began: 300, ended: 20 + i } }));
  t.match(lines([...rack, ...slowly]), [{ key: 'together:rack3', count: 20, ended_first: at(39), ended: at(20) }]);
  const all = many('rack3n[01-20]', { age: 0.5, silence: { began: 300, ended: 20 } });
  t.match(lines([...rack, ...all]), [{ key: 'together:rack3', count: 20, dim: 'ended', ended: at(20) }]);
  const another = many('rack2n20', { age: 900, silence: { began: 900 } });
  t.same(keys([...rack.slice(0, -1), ...another, ...all]), ['silent', '(together:rack3)']);
  // Names without racks.
  const [odd] = lines([...many('a,b,c,d,e,f,g,h,i,j,k,l', { age: 300, silence: { began: 300 } }), ...many('z[1-40]')]);
  t.match(odd?.key, /^together:at-\d+$/);
});

t.test('a link that is down has one line, also when it is up again', async t => {
  const nodes = [...many('n[1-20]', { age: 40, link: 1 }), ...many('m[1-20]', { link: 2 })];
  const down = { links: { 1: { state: [], changed: 39 }, 2: {} } };
  const link = (kind: 'link_down' | 'link_up', age: number) => ({ kind, subject: 1, age });
  const before = [link('link_down', 900), link('link_up', 880), link('link_down', 500), link('link_up', 480)];
  const events = [...before, link('link_down', 39)];
  t.match(lines(nodes, { ...down, events }), [
    { key: 'link:eth0', nodes: 'n[1-20]', count: 20, since: at(39), times: 3, times_since: at(900) },
  ]);
  const two = [link('link_down', 900), link('link_up', 880), link('link_down', 39)];
  t.match(
    lines(nodes, { ...down, events: two }),
    [
      { key: 'link:eth0', since: at(39), times: 2 },
      { key: 'link:eth0:at-499100000-499120000', since: at(900), ended: at(880), dim: 'ended' },
    ],
    'two failures are two lines',
  );
  const long = many('n21', { age: 9000, link: 1, silence: { began: 9000 } });
  t.match(
    lines([...nodes, ...long], { ...down, events: two.slice(2) }),
    [
      { key: 'link:eth0', nodes: 'n[1-20]' },
      { key: 'silent', nodes: 'n21', since: at(9000) },
    ],
    'whoever was silent before has a line of its own',
  );
  const up = [...events, link('link_up', 12)];
  const back = many('n[1-20]', { link: 1, silence: { began: 39.5, ended: 11 } });
  t.match(lines([...back, ...many('m[1-20]', { link: 2 })], { links: { 1: {}, 2: {} }, events: up }), [
    { key: 'link:eth0', nodes: 'n[1-20]', dim: 'ended', since: at(39), ended: at(11) },
  ]);
});

/** What a scheduler says: that these nodes are so, and that these jobs run; the board may have other names. */
function schedulerOf(
  names: readonly string[],
  states: Record<string, Partial<SchedulerNode>>,
  jobs: Partial<SchedulerJob>[],
  onBoard = names,
) {
  const time = monotonicMs();
  const answer = { time_ms: Date.now(), mono_ms: time };
  const state: SchedulerState = {
    ...{ schema: 2, pid: 1, mono_ms: time, next_ms: time + 600_000, time_ms: Date.now() },
    ...{ cluster: 'c', version: '1', scheduler: 'Slurm', daemon: 'slurmd', user: 'root', names: {}, differences: [] },
    nodes: {
      ...answer,
      list: names.map(name => ({ name, state: 'IDLE', base: 'idle' as const, cpus: 4, ...states[name] })),
    },
    jobs: {
      ...answer,
      list: jobs.map((job, i) => ({
        ...{ id: String(40 + i), state: 'RUNNING', user: 'bert', partition: 'p', cpus: 1, nodes: '', name: 'j' },
        ...job,
      })),
    },
  };
  return new SchedulerView(new Pairing({ state }, onBoard));
}

t.test('that nothing guards what a scheduler has is told once all had a minute to report', async t => {
  const nodes = many('n[1-3]');
  const scheduler = schedulerOf(['a1', 'a2'], {}, [], ['n1', 'n2', 'n3']);
  t.same(keys(nodes, { listened: 59.9 }, { scheduler }), ['scheduler:alone', 'scheduler:missing']);
  t.same(keys(nodes, { listened: 60.1 }, { scheduler }), ['unguarded']);
});

t.test('jobs on its nodes, and silent nodes with jobs before others', async t => {
  const nodes = [
    ...many('n[1-3]', { age: 60 }),
    ...many('n4', { ...busy(1, { flags: 1 << bits.flags.root_readonly }) }),
    ...many('n[5-9]'),
  ];
  const names = nodes.map(({ name }) => name);
  const jobs = [{ nodes: 'n[3-5]' }, { id: '7', user: 'a\nb', nodes: 'n1' }, { state: 'SUSPENDED', nodes: 'n2' }];
  const scheduler = schedulerOf(names, {}, jobs);
  const [silent, root] = lines(nodes, {}, { scheduler });
  t.match(silent, {
    key: 'silent',
    jobs: [
      { id: '7', user: 'a\\u{a}b' },
      { id: '40', user: 'bert' },
    ],
  });
  t.match(root, { key: 'root_readonly', jobs: [{ id: '40', user: 'bert' }] });
  t.equal(lines(nodes)[0]?.jobs, undefined, 'they are not shown');
  const none = schedulerOf(names, {}, []);
  t.same(lines(nodes, {}, { scheduler: none })[0]?.jobs, [], 'there are none');
  const often = schedulerOf(
    names,
    {},
    Array.from({ length: 12 }, () => ({ nodes: 'n1' })),
  );
  t.match(lines(nodes, {}, { scheduler: often })[0], { jobs: { length: 8 }, jobs_more: 4 });
});

t.test(
  'nodes that fell together are behind a switch, where a scheduler says so of all and no other is heard',
  async t => {
    const silent = many('rack17n[01-48]', { age: 60 });
    const nodes = [...silent, ...many('rack17n49', { age: 9000 }), ...many('rack18n[01-48]')];
    const names = nodes.map(({ name }) => name);
    const of = (change: (name: string) => string | undefined) =>
      schedulerOf(names, Object.fromEntries(names.map(name => [name, { switch: change(name) }])), []);
    const told = (scheduler?: SchedulerView, among?: string[]) => {
      const found = survey(madeBoard(nodes), { among });
      const [line] = troubleOf(found, { scheduler });
      const [sentence] = anomalies(found, { scheduler }).filter(({ kind }) => kind === 'together');
      t.match(line, { key: 'together:rack17' });
      return [line?.what.replace(/;.*/, ''), sentence?.text];
    };
    const behind = 'probably switch leaf17, behind which all of them are';
    const rack = (name: string) => `leaf${name.slice(4, 6)}`;
    const ours = ['fell silent together: X', '48 nodes of rack17 fell silent together: X, not 48 nodes'];
    const withCause = (why: string) => ours.map(text => text.replace('X', why));
    t.same(told(of(rack)), withCause(behind), 'one that was silent before does not matter');
    const unknown = withCause('probably a switch or rack');
    t.same(told(), unknown, 'without a scheduler');
    t.same(told(of(() => undefined)), unknown);
    t.same(
      told(of(name => (name === 'rack18n01' ? 'leaf17' : rack(name)))),
      unknown,
      'another node behind it is heard',
    );
    t.same(told(of(name => (name === 'rack17n01' ? 'leaf18' : rack(name)))), unknown, 'one of them is behind another');
    const [hostile] = told(of(name => `\u001b[2J${rack(name)}${'x'.repeat(300)}`));
    t.ok((hostile?.length ?? 1000) < 140 && !hostile?.includes('\u001b'), String(hostile));
  },
);

t.test('what an administrator has set aside stands dimmed at the end', async t => {
  const held = busy(1, { flags: (1 << bits.flags.held) | (1 << bits.flags.root_readonly) });
  const nodes = [...many('n[1-2]', held), ...many('n[3-4]', { age: 60 }), ...many('n[5-9]')];
  t.same(keys(nodes), ['silent', '(root_readonly)', '(held)']);
  const names = nodes.map(({ name }) => name);
  const drained = { state: 'IDLE+DRAIN', aside: 'drained', reason: 'bad DIMM' };
  const one = lines(nodes, {}, { scheduler: schedulerOf(names, { n3: drained }, []) })[0];
  t.match(one, { key: 'silent', dim: undefined, aside: { nodes: 'n3', count: 1, why: 'drained' } });
  const both = schedulerOf(names, { n3: drained, n4: { ...drained, aside: 'in maintenance' } }, []);
  t.same(keys(nodes, {}, { scheduler: both }), ['(silent)', '(root_readonly)', '(held)']);
  const ours = { ...drained, reason: 'beoboard: silent since 02:10Z #4' };
  const bridge = schedulerOf(names, { n3: ours, n4: ours }, []);
  t.same(keys(nodes, {}, { scheduler: bridge })[0], 'silent', 'what the bridge has drained is trouble');
});

t.test('an acknowledged line is bright again when a node joins it, and when its time is over', async t => {
  const nodes = [...many('n[1-2]', { age: 60 }), ...many('n[3-9]')];
  const ack: Ack = { ...{ key: 'silent', nodes: 'n[1-3]', by: 'eva', at: at(9), until: at(-60), reason: 'PSU' } };
  t.match(lines(nodes, {}, { acks: [ack] }), [
    { key: 'silent', dim: 'acknowledged', ack: { by: 'eva', until: at(-60), reason: 'PSU' } },
  ]);
  t.same(keys(nodes, {}, { acks: [{ ...ack, nodes: 'n1' }] }), ['silent']);
  t.same(keys(nodes, {}, { acks: [{ ...ack, until: at(1) }] }), ['silent']);
  t.same(keys(nodes, {}, { acks: [{ ...ack, key: 'oom' }] }), ['silent']);
});

t.test('a receiver that is stalled, one that was paused', async t => {
  t.match(lines(many('n[1-3]', { age: 60 }), { heartbeat: 12 }), [
    { key: 'receiver', severity: 'critical', since: at(12) },
  ]);
  t.match(lines(many('n[1-3]'), { events: [{ kind: 'deaf', age: 100, detail: 5000 }] }), [
    { key: 'deaf:deaf', dim: 'ended', since: at(105), ended: at(100) },
  ]);
  // A pause is one, however often it is noted until all is read that waited.
  const noted = [
    [200, 9000],
    [101, 4600],
    [100, 3900],
    [99, 3000],
  ].map(([age = 0, detail = 0]) => ({ age, detail }));
  t.match(lines(many('n[1-3]'), { events: noted.map(one => ({ kind: 'deaf', ...one })) }), [
    { key: 'deaf:deaf', dim: 'ended', since: at(105.6), ended: at(99), times: 2, times_since: at(209) },
  ]);
});

t.test('the order is that of the table, then of the begin, whatever the counts are', async t => {
  const episode = (began: number) => ({ began, seen: 0.5, open: true });
  const nodes = [
    ...many('n[1-9]', { remembered: { ecc: episode(9 * MINUTE), throttled: episode(MINUTE) } }),
    ...many('n[10-11]', { remembered: { root_full: episode(5) } }),
    ...many('n12', { age: 20 }),
    ...many('n13', { remembered: { gpu_lost: episode(3) } }),
    ...many('n[14-40]'),
  ];
  t.same(keys(nodes), ['silent', 'gpu_lost', 'root_full', 'throttled', 'ecc']);
  const order = Object.keys(KINDS);
  const found = lines(nodes).map(({ kind }) => order.indexOf(kind));
  t.same(
    found,
    [...found].sort((a, b) => a - b),
  );
  t.equal(new Set(keys(nodes)).size, 5, 'no key twice');
});

t.test('a digest, as the page has it, makes the same list', async t => {
  const nodes = [
    ...many('rack1n[01-20]', { age: 300, silence: { began: 300 } }),
    ...many('rack2n[01-10]', { silence: { began: 900, ended: 700, count: 2 } }),
    ...many('rack2n[11-20]', { remembered: { oom: { began: 1500, seen: 1300, count: 3 } } }),
    ...many('rack3n[01-19]', { remembered: { ecc: { began: 9000, seen: 7300 } } }),
    { ...(many('rack3n20')[0] as MadeNode), ...readonly },
  ];
  const board: Snapshot = madeBoard(nodes);
  const names = board.names();
  const builder = new DigestBuilder({} as BoardReader, () => names);
  for (const _ of [1, 2]) {
    builder.begin(board.count);
    builder.ask(board, 0);
    const digest = builder.digest as Snapshot;
    t.same(troubleOf(survey(digest, {}, names)), troubleOf(survey(board)));
    t.notOk(digest.troubleWithin(45, 0), 'what was over for more than an hour is not kept');
  }
  t.equal(troubleOf(survey(board)).length, 4);
});

t.test('in words', async t => {
  const text = (nodes: MadeNode[], besides: Besides = {}) =>
    lines(nodes, {}, besides).map(line => troubleText(line, Number(REAL / 1_000_000n)).text);
  const nodes = [...many('n[1-2]', { age: 60, silence: { began: 60, count: 3 } }), ...many('n[3-9]')];
  const scheduler = schedulerOf(
    nodes.map(({ name }) => name),
    { n1: { aside: 'drained' } },
    [{ nodes: 'n[1-2]' }],
  );
  const journals = folder(t);
  const written = { mono_ms: 0, next_ms: Number.MAX_SAFE_INTEGER, times_hour: { silent: 2, oom: 1 } };
  writeState(journals, 'default', {
    ...{ schema: 1, board: 'test', journal_dir: '/journal', pid: 1, time_ms: 0, ...written },
  });
  const [silent = ''] = text(nodes, { scheduler, journals });
  t.match(
    silent,
    /^n\[1-2\] \(2 nodes\): silent; their last reports: nothing that explains it; 3 times since .*; 2 in the last hour; job 40 \(bert\); 1 of them drained \(n1\)$/,
  );
  const killed = { ...(many('n1')[0] as MadeNode), remembered: { oom: { began: 30, seen: 3, open: true } } };
  t.notMatch(text([killed], { journals }), /in the last hour/, 'its since says so');
  t.match(lines(nodes, {}, { journals }, { among: ['n2'] })[0], { times: 3, times_hour: 2 });
  writeState(journals, 'default', {
    ...{ schema: 1, board: 'test', journal_dir: '/journal', pid: 1, time_ms: 0, ...written, next_ms: 0 },
  });
  t.same(
    lines(nodes, {}, { journals }).map(({ key, times_hour }) => [key, times_hour]),
    [
      ['silent', undefined],
      ['journal:default', undefined],
    ],
    'one that has stopped says nothing of the last hour',
  );
});
