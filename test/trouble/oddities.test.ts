// Kernels and intervals that are not those of the family: all of them in sentences, and only news in the list of
// trouble.
//
// @seconds 3

import t from 'tap';
import { DigestBuilder } from '../../src/changes/digest.js';
import { survey } from '../../src/query/survey.js';
import type { BoardReader } from '../../src/shm/reader.js';
import { BOARD_MOST, expand } from '../../src/text/hostlists.js';
import { troubleOf } from '../../src/trouble/trouble.js';
import { marksText } from '../../src/words/marks.js';
import { anomalies } from '../kit/anomalies.js';
import { busy, type MadeNode, madeBoard, REAL, tenThousand } from '../kit/madeboard.js';

const many = (list: string, more: Partial<MadeNode> = {}): MadeNode[] =>
  expand(list, BOARD_MOST).map(name => ({ name, age: 0.5, ...busy(1), ...more }));
const running = (os_release: string) => busy(1, { os_release });
const every = (interval_ms: number) => busy(1, { interval_ms });

/** So many seconds before the look, as the list writes it. */
const at = (ago: number) =>
  new Date(Math.floor(Number(REAL / 1_000_000n) / 1000 - ago) * 1000).toISOString().replace('.000', '');

const looked = (nodes: MadeNode[], among?: string[]) => {
  const found = survey(madeBoard(nodes), { among });
  return {
    lines: troubleOf(found),
    sentences: anomalies(found).map(({ kind, text, nodes }) => [kind, nodes.map(({ name }) => name).join(), text]),
  };
};

const old = { ...running('6.1.0-18') };
const drifted: MadeNode[] = [
  ...many('rack11n[10-48]'),
  ...many('rack11n[01-06]', { ...old, heard: 90_000 }),
  ...many('rack11n07', { ...old, booted: 600 }),
  ...many('rack11n08', { ...running('5.10'), booted: 60 }),
  ...many('rack11n09', { ...old, booted: 3601 }),
];

t.test('a kernel is news for an hour since the boot', async t => {
  const { lines, sentences } = looked(drifted);
  t.same(lines, [
    {
      ...{ key: 'kernel:rack11n', kind: 'kernel', severity: 'notice', nodes: 'rack11n[07-08]', count: 2 },
      ...{ what: 'kernel 6.1.0-18 or 5.10, 39 others 6.1.0-25-amd64', since: at(600), since_last: at(60) },
    },
  ]);
  t.same(sentences, [
    [
      'kernel',
      expand('rack11n[01-09]', BOARD_MOST).join(),
      'rack11n[01-07,09]: kernel 6.1.0-18; rack11n08: kernel 5.10, 39 others 6.1.0-25-amd64',
    ],
  ]);
  t.match(looked(drifted, ['rack11n08']).lines, [
    { nodes: 'rack11n08', what: 'kernel 5.10, 39 others 6.1.0-25-amd64' },
  ]);
  t.same(looked(drifted, ['rack11n01']).lines, [], 'it has had its kernel for longer');
  t.equal(looked(drifted, ['rack11n01']).sentences.length, 1);
});

t.test('of a node whose boot is not remembered, and in a family without a minority, nothing is news', async t => {
  const unknown = looked([...many('n[1-9]'), ...many('n10', old)]);
  t.same(unknown.lines, []);
  t.match(unknown.sentences, [['kernel', 'n10', 'n10: kernel 6.1.0-18, 9 others 6.1.0-25-amd64']]);
  const even = looked([...many('n[1-4]'), ...many('n[5-7]', { ...old, booted: 60 })]);
  t.same([even.lines, even.sentences], [[], []]);
});

t.test('an interval has no line, whatever was booted', async t => {
  const { lines, sentences } = looked([
    ...many('a[1-9]'),
    ...many('a10', { ...every(10_000), booted: 60 }),
    ...['b', 'c', 'd', 'e'].flatMap(name => [...many(`${name}[1-9]`, every(2000)), ...many(`${name}10`, every(250))]),
  ]);
  t.same(lines, []);
  t.same(sentences, [
    ['interval', 'a10', 'a10: reports every 10s, 9 others 1s'],
    ['interval', 'b10', 'b10: reports every 250ms, 9 others 2s'],
    ['interval', 'c10', 'c10: reports every 250ms, 9 others 2s'],
    ['interval', 'd10,e10', '2 more nodes (d10,e10) report at other intervals than most of their families'],
  ]);
});

t.test('the same by a digest, which has no reports', async t => {
  const made = [...drifted, ...many('b[1-9]'), ...many('b10', every(250))];
  const snapshot = madeBoard(made);
  const names = snapshot.names();
  const reader = {
    events: () => ({ next: 1, events: [] }),
    snapshotOf: (name: string) => madeBoard(made.filter(node => node.name === name)),
  } as unknown as BoardReader;
  const builder = new DigestBuilder(reader, () => names);
  builder.begin(snapshot.count);
  builder.ask(snapshot, 0);
  const digest = survey(builder.digest as typeof snapshot, {}, names);
  t.same(troubleOf(digest), troubleOf(survey(snapshot)));
  t.same(
    anomalies(digest).map(({ text }) => text),
    anomalies(survey(snapshot)).map(({ text }) => text),
  );
  t.equal(anomalies(digest).length, 2);
});

t.test('10,000 nodes with odd kernels and intervals', async t => {
  const nodes = tenThousand().map((made, i) =>
    i % 50 !== 0 || made.report === undefined ? made : { ...made, ...busy(1, { os_release: 'x', interval_ms: 2000 }) },
  );
  const found = survey(madeBoard(nodes));
  const took = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    t.ok(anomalies(found).length > 100);
    return process.cpuUsage(before).user / 1000;
  });
  t.comment(`ms of CPU: ${took.map(ms => ms.toFixed(1)).join(', ')}`);
});

t.test('nodes that left the others of their job together are told once', async t => {
  const mark = (node: string, more: object = {}) => ({
    ...{ job: '7', node, reading: 'mhz', value: 2240, peers: 12, median: 2900, lowest: 2900, highest: 2900 },
    ...{ since_ms: 5, ...more },
  });
  const group = ['n1', 'n2', 'n3'].map(node => mark(node));
  const begin = 'differ from the other nodes of job 7: ';
  t.equal(marksText(group), `${begin}n[1-3] clock 2.24 GHz, others 2.9 GHz`);
  const single = mark('n9', { reading: 'gpu.1.power_w', value: 300, lowest: 400, highest: 410, since_ms: 9 });
  t.equal(
    marksText([...group, single]),
    `${begin}n[1-3] clock 2.24 GHz, others 2.9 GHz; n9 power of GPU 1 300 W, others 400 to 410 W`,
  );
});
