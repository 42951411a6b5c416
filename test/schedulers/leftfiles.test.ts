// Files that other programs leave, by a table of all that are followed: one that has not changed is not parsed again, one
// that has is parsed once, in pieces that do not grow with it, and what is wrong with it is said.
// @seconds 4

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ackFile } from '../../src/acks/ackfile.js';
import { stateFile as journalFile } from '../../src/journalfile/state.js';
import { ordersFile, ordersText } from '../../src/schedulerfile/orderfile.js';
import { SCHEMA, stateFile, stateText } from '../../src/schedulerfile/statefile.js';
import { FileFollower, jsonByRows, jsonIn, type LeftFile, readLeft } from '../../src/service/leftfile.js';
import { replaceFile } from '../../src/service/replacefile.js';
import { atOnce } from '../../src/service/slices.js';
import { folder } from '../kit/places.js';

const row = (i: number) => ({ id: String(i), state: 'RUNNING', user: 'u', partition: 'p', name: `a"}]},${i}` });
const answer = { mono_ms: 1, list: [] };
const STATE = {
  ...{ schema: SCHEMA, pid: 1, mono_ms: 1, next_ms: 2, time_ms: 3, scheduler: 'S', daemon: 'd', cluster: 'c' },
  ...{ version: '1', user: 'u', names: {}, differences: [], nodes: answer, jobs: answer },
} as const;
const NOW = { at: '2026-11-27T03:00:00.000Z', until: '2026-11-28T03:00:00.000Z' };

/** All that are followed: the text with so many rows, and what is said of a wrong one. */
const KINDS: Record<string, (dir: string) => [LeftFile<unknown>, (rows: number) => string, RegExp]> = {
  state: dir => [
    stateFile(dir),
    rows => {
      const list = Array.from({ length: rows }, (_, i) => ({ ...row(i), cpus: 1, nodes: 'n1' }));
      const mark = { job: '1', node: 'n1', reading: 'mhz', value: 1, peers: 4, median: 2, lowest: 2, highest: 2 };
      const odd = { unjudged: { 7: 'few' }, marks: list.map(() => ({ ...mark, since_ms: 1 })) };
      const differences = list.map(() => ({ kind: 'live_down', node: 'n', node_name: 'N', jobs: ['1'], since_ms: 1 }));
      return stateText({ ...STATE, odd, differences, jobs: { mono_ms: 1, list } } as never);
    },
    /^nothing is known about jobs: /,
  ],
  orders: dir => [
    ordersFile(dir),
    rows => {
      const orders = Array.from({ length: rows }, (_, i) => ({ n: i + 1, time_ms: 1, act: 'drain', node: 'n1' }));
      return ordersText({ since_ms: 1, count: rows, orders });
    },
    /^the orders of the bridge are unknown: /,
  ],
  acks: dir => [
    ackFile(join(dir, 'board')),
    rows => {
      const acks = Array.from({ length: rows }, (_, i) => ({ key: `k${i}`, nodes: 'n1', by: 'eva', ...NOW }));
      return `{"schema":1,"acks":${jsonByRows(acks)}}\n`;
    },
    /no line is acknowledged/,
  ],
  journal: dir => [
    journalFile(join(dir, 'beoboard.json')),
    rows => {
      const times = Object.fromEntries(Array.from({ length: rows }, (_, i) => [`k${i}`, 1]));
      const who = { schema: 1, board: '/b', pid: 1, time_ms: 1, mono_ms: 1, next_ms: 2 };
      return `${JSON.stringify({ ...who, times_hour: times })}\n`;
    },
    /^$/,
  ],
};

for (const [name, make] of Object.entries(KINDS)) {
  t.test(`${name}: unchanged it costs no parse, changed one, and wrong it is told`, async t => {
    const dir = folder(t);
    const [file, text, said] = make(dir);
    const why = (found: unknown) => JSON.stringify(found ?? '') ?? '';
    let parses = 0;
    let steps = 0;
    const counted: LeftFile<unknown> = {
      ...file,
      *parse(value) {
        parses++;
        for (const one = file.parse(value); ; steps++) {
          const { done, value } = one.next();
          if (done) return value;
          yield;
        }
      },
    };
    const follower = new FileFollower(counted);
    const put = (what: string) => replaceFile(dir, file.path.slice(dir.length + 1), what, 0o644);
    const doubts: string[] = [];
    const doubt = async (what: string) => {
      const found = await follower.look();
      t.same(readLeft(file), found, `${what}: verbs find the same`);
      t.match(why(found).replace(/^\{"(why|trouble|acksWhy|acks)":("|\[\],"acksWhy":")?|"\}?$|^""$/g, ''), said, what);
      doubts.push(why(found));
      t.equal(await follower.look(), found, `${what}: the same object`);
      rmSync(file.path, { recursive: true, force: true });
    };

    const absent = await follower.look();
    t.equal(parses, 0);
    put(text(3));
    const [one, same] = await Promise.all([follower.look(), follower.look()]);
    t.not(one, absent);
    t.equal(one, same);
    t.same(readLeft(file), one);
    for (let i = 0; i < 3; i++) t.equal(await follower.look(), one);
    t.equal(follower.found, one);
    await follower.look();
    t.equal(parses, 1, 'once');
    put(text(4));
    t.equal(follower.last, one, 'nobody waits');
    const two = await follower.look();
    t.not(two, one);
    t.equal(parses, 2, 'once more');
    t.equal(follower.now(), two);
    t.equal(parses, 2, 'not by programs that look at once either');
    steps = 0;
    put(text(800));
    await follower.look();
    if (name !== 'journal') t.ok(steps >= 800, `${steps} pieces for 800 rows`);

    for (const wrong of [
      '',
      'null',
      '[]',
      '5',
      '"\\u00000"',
      text(3).slice(0, -4),
      `${text(3)}{`,
      '{}',
      '['.repeat(1e5),
    ]) {
      put(wrong);
      await doubt(wrong.slice(0, 20));
    }
    put(text(3).replace(/"(time_ms|act|key)":("\w+"|\d+)/, '"$1":{}'));
    await doubt('a wrong shape');
    put('');
    truncateSync(file.path, 2 ** 29);
    await doubt('too large');
    execFileSync('mkfifo', [file.path]);
    await doubt('a FIFO');
    mkdirSync(file.path);
    await doubt('a folder');
    if (name !== 'state') {
      put(text(3));
      chmodSync(file.path, 0o666);
      await doubt('open to others');
      symlinkSync('other', file.path);
      await doubt('a link');
    }
    t.same(await follower.look(), absent, 'it has vanished');
    put(text(3));
    t.same(await follower.look(), one, 'it is back');
  });
}

t.test('JSON by rows is the JSON of the whole', async t => {
  const value = (text: string) => atOnce(jsonIn(Buffer.from(text)));
  const plain = { a: 1, list: [row(1), { ...row(2), more: { x: [{}] } }], b: { list: [row(3)] }, c: ['x', [1]] };
  const { list, b, ...rest } = plain;
  const head = JSON.stringify(rest).slice(0, -1);
  const texts = [
    JSON.stringify(plain),
    JSON.stringify(plain, undefined, 1),
    `${head},\n"list":${jsonByRows(list)},\n"b":{"list":${jsonByRows(b.list)}}}\n`,
    `${head},"list":[\n${list.map(one => JSON.stringify(one)).join('\n,')}\n],"b":{"list":\n[\n${JSON.stringify(row(3))}\n]}}`,
  ];
  for (const text of texts) {
    t.same(value(text), plain, text);
    // Half-written at any place.
    for (let i = 0; i < text.trimEnd().length; i += 7) t.equal(value(text.slice(0, i)), undefined, `${i}`);
  }
  for (const wrong of ['{"a":[\n{"x":1},\n]}', '{"a":[\n{"x":1}\n{"x":2}\n]}', '{"a":[\n{"x":1},', '\n{"x":1},'])
    t.equal(value(wrong), undefined, wrong);
  t.equal(value(`["${'x'.repeat(9 << 20)}"]`), undefined, 'too much in one piece');
  t.same(value('{"a":["\\u00009","\\u0000"]}'), { a: ['\u00009', '\u0000'] });
});
