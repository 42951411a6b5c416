// A file as a scheduler: which lines are understood, which files are no answer, and that no answer is a mixture of two
// files, whoever writes it and however.

import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { NoAnswer } from '../../src/schedulerfile/scheduler.js';
import { bounded } from '../../src/schedulerfile/statefile.js';
import { contentsOf, fileScheduler } from '../../src/schedulers/file.js';
import { atOnce } from '../../src/service/slices.js';
import { folder } from '../kit/places.js';

const HEAD = '{"schema":1,"scheduler":"LSF","cluster":"c","version":"10.1"}';
const END = '{"end":true}';
const fileOf = (...lines: (string | object)[]) =>
  `${[HEAD, ...lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))), END].join('\n')}\n`;
const read = (...lines: (string | object)[]) => atOnce(contentsOf(fileOf(...lines), 'f', 0));

t.test('its words for the state of a node', async t => {
  for (const [state, base, takes_jobs, asleep] of [
    ['idle', 'idle', true, undefined],
    ['allocated', 'allocated', true, undefined],
    ['drained', 'idle', undefined, undefined],
    ['draining', 'allocated', undefined, undefined],
    ['down', 'down', undefined, undefined],
    ['off', 'idle', undefined, true],
    ['closed_Adm', undefined, undefined, undefined],
    ['IDLE', undefined, undefined, undefined],
    ['constructor', undefined, undefined, undefined],
  ]) {
    const [node] = read({ node: 'n1', state, base: 'idle', takes_jobs: true }).nodes.list;
    t.strictSame([node?.base, node?.takes_jobs, node?.asleep], [base, takes_jobs, asleep], state as string);
  }
});

t.test('which lines are understood', async t => {
  const whole = { cpus: 64, cpus_used: 32, memory_mib: 9, memory_used_mib: 8, gpus: 4, gpus_used: 1, reason_s: 7 };
  const texts = { host: 'h1', reason: 'fan\n', reason_by: 'anna', switch: 'leaf07' };
  t.match(read({ node: 'n1', state: 'idle', ...whole, ...texts, more: 1 }).nodes, {
    list: [{ name: 'n1', ...whole, ...texts }],
    leftOut: { count: 0 },
  });
  const job = { cpus: 4, start_s: 9, end_s: 4000, state: 'PENDING', user: 'anna', partition: 'q', name: '\x1b[31m"x"' };
  t.strictSame(read({ job: '12[3]', nodes: 'n[1-2],b', ...job }).jobs.list, [
    { id: '12[3]', raw_id: undefined, nodes: 'n[1-2],b', ...job },
  ]);
  t.match(read({ job: 'ƒ2oTwLtJ', nodes: 'n1' }).jobs.list, [{ id: 'ƒ2oTwLtJ' }]);
  t.match(
    read(...[0, 1, null].map((cpus, i) => ({ node: `n${i}`, state: 'idle', cpus }))).nodes.list.map(one => one.no_jobs),
    [true, undefined, undefined],
    'without slots it never gets a job',
  );
  t.match(read({ job: 7, nodes: 'n1', user: null }).jobs.list, [{ id: '7', state: 'RUNNING', user: '', cpus: 0 }]);
  for (const line of [
    ...[{ node: 'n1' }, { node: '', state: 'idle' }, { node: 'a b', state: 'idle' }, { node: 'a\n', state: 'idle' }],
    ...[
      { node: 1, state: 'idle' },
      { node: 'n1', state: 'idle', cpus: -1 },
      { node: 'n1', state: 'idle', cpus: 1.5 },
    ],
    ...[
      { node: 'n1', state: 'idle', cpus: '4' },
      { node: 'n1', state: 'idle', host: 'a b' },
    ],
    ...[
      { node: 'n1', state: 'idle', reason: {} },
      { node: 'n1', state: 'idle', reason_s: 1e13 },
      { node: 'n'.repeat(256), state: 'idle' },
    ],
  ])
    t.match(read(line).nodes, { list: [], leftOut: { count: 1, first: JSON.stringify(line).slice(0, 20) } });
  for (const line of [
    ...[
      { job: '', nodes: 'n1' },
      { job: 'a b', nodes: 'n1' },
      { job: '1', nodes: 'n[1-' },
      { job: '1', nodes: ['n1'] },
    ],
    ...[
      { job: '1', nodes: 'n1, n2' },
      { job: '1', nodes: 'n1', cpus: 1e300 },
      { job: '1', nodes: 'n1', user: {} },
    ],
    ...[
      { job: { length: 1 }, nodes: 'n1' },
      { job: '1', nodes: 'n1', start_s: -5 },
      { job: '1', nodes: 'n1', start_s: 1e13 },
    ],
  ])
    t.match(read(line).jobs, { list: [], leftOut: { count: 1 } }, JSON.stringify(line));
  for (const line of [
    ...['x', '{"job":"1","nodes":"n', '[1]', 'null', '{"user":"anna"}', '{"__proto__":{"node":"n1"}}', '{}'],
  ]) {
    const { nodes, jobs } = read(line, '', ' ');
    t.same(
      [nodes.leftOut.count, jobs.leftOut.count, nodes.list, jobs.list],
      [1, 1, [], []],
      `a node or a job: ${line}`,
    );
  }
  t.same(read({ job: '1' }, { job: '2', nodes: '' }).jobs.leftOut.count, 0, 'they wait');
});

t.test('what is there twice', async t => {
  const twice = read(
    { node: 'n1', state: 'idle', cpus: 4 },
    { node: 'n2', state: 'idle' },
    { node: 'n1', state: 'off' },
    { job: '1', user: 'anna', nodes: 'n1' },
    { job: '1', user: 'bert', nodes: 'n2' },
  );
  t.strictSame(twice.nodes.list[0], { name: 'n1', state: '?', cpus: 0 }, 'a node is in no known state');
  t.equal(twice.nodes.list.length, 2);
  t.match(twice.jobs, { list: [{ user: 'anna' }], leftOut: { count: 1 } });
  t.equal(twice.jobs.list.length, 1);
});

t.test('a range is short, and its names are many', async t => {
  const jobs = Array.from({ length: 3000 }, (_, i) => ({ job: i, nodes: i === 1 ? 'n[1-100000]' : 'n[1-950000]' }));
  const { list } = read({ job: 'a', nodes: 'n[1-60000]' }, ...jobs, { job: 'z', nodes: 'n1' }).jobs;
  const { jobs: told, mayName } = bounded({ list, whole: true }, 1000);
  t.match(told, { list: [{ id: 'a' }, { id: 'z' }], left_out: 3000, whole: undefined });
  t.equal(told.left_out_first, 'too many nodes: job 0 on n[1-950000]');
  t.same(
    ['n1', 'n950000', 'n950001', 'm1'].map(name => mayName?.(name)),
    [true, true, true, true],
    'a long text',
  );
  t.same(bounded(told, 1000).jobs, told, 'the same again');
  t.equal(bounded({ list }, 2_000_000).jobs.list.length, 213, 'of more nodes, more');
  const some = bounded({ list: list.slice(0, 4) }, 1000).mayName;
  t.same(
    ['n1', 'n950000', 'n950001', 'm1'].map(name => some?.(name)),
    [true, true, false, false],
    'whom they name',
  );
});

t.test('as other programs write it: a byte order mark, CRLF, empty lines, fractions, numbers as ids', async t => {
  const text = fileOf(
    { node: 'n7', state: 'idle', reason_s: 8.5, reason_by: 0, switch: 3 },
    { job: 8, nodes: 'n7', user: 1000, start_s: 9.75, raw_id: 9, name: 2026, partition: 1 },
  );
  const { nodes, jobs } = atOnce(contentsOf(`\uFEFF${text.replaceAll('\n', '\r\n')}\r\n \n`, 'f', 0));
  t.match(nodes, { list: [{ name: 'n7', reason_s: 8, reason_by: '0', switch: '3' }], leftOut: { count: 0 } });
  t.match(jobs, {
    list: [{ id: '8', nodes: 'n7', user: '1000', start_s: 9, raw_id: '9', name: '2026', partition: '1' }],
    leftOut: { count: 0 },
  });
});

t.test('what is no answer', async t => {
  for (const [text, why] of [
    ['', /^f does not begin with \{"schema":1,/],
    [`${HEAD}\n`, /^f does not end with \{"end":true\}/],
    [`${END}\n`, /does not begin/],
    [fileOf({ node: 'n1', state: 'idle' }).slice(0, -14), /does not end/],
    [`${fileOf()}{"node":"n1","state":"idle"}\n`, /does not end/],
    [fileOf().replace('"schema":1', '"schema":2'), /does not begin/],
    [fileOf().replace('LSF', '\\u001b[31m'), /does not begin/],
    [fileOf().replace(',"scheduler":"LSF"', ''), /does not begin/],
    [`\0\xff${fileOf()}`, /does not begin/],
  ] as const)
    t.throws(() => atOnce(contentsOf(text, 'f', 0)), { constructor: NoAnswer, message: why }, JSON.stringify(text));
  const path = join(folder(t), 'f');
  const asked = async () => fileScheduler(path).nodes();
  await t.rejects(asked(), { message: /^cannot read .*: no such file or directory$/ });
  writeFileSync(path, fileOf({ node: 'n1', state: 'idle' }), { mode: 0o640 });
  t.match(await fileScheduler(path).about(), { name: 'LSF', closed: /is not readable by everybody$/ });
  const seconds = Date.now() / 1000;
  utimesSync(path, seconds, seconds - 170);
  t.match((await asked()).list, [{ name: 'n1' }], 'it is written by cron, perhaps each minute');
  utimesSync(path, seconds, seconds - 181);
  await t.rejects(asked(), { message: /^\S+ was written 3m0\ds ago, and should be every 1m00s$/ });
  utimesSync(path, seconds, seconds + 120);
  await t.rejects(asked(), { message: /was written in the future/ });
  truncateSync(path, (32 << 20) + 1);
  await t.rejects(asked(), { message: /has more than 32 MiB$/ });
  execFileSync('mkfifo', [`${path}.fifo`]);
  await t.rejects(fileScheduler(`${path}.fifo`).nodes(), { message: /is no plain file$/ });
  mkdirSync(`${path}.d`);
  await t.rejects(fileScheduler(`${path}.d`).nodes(), { message: /is no plain file$/ });
});

t.test('written while it is read, it is never a mixture; renamed, it is always an answer', async t => {
  const path = join(folder(t), 'f');
  const version = (n: number) =>
    fileOf(...Array.from({ length: 2000 }, (_, i) => ({ node: `n${i}`, state: 'idle', reason: `v${n % 10}` })));
  for (const isRenamed of [false, true]) {
    let isOver = false;
    writeFileSync(path, version(0));
    const writing = (async () => {
      for (let n = 1; !isOver; n++) {
        const name = isRenamed ? `${path}.new` : path;
        const handle = await open(name, isRenamed ? 'w' : 'r+');
        for (const piece of version(n).match(/.{1,30000}/gs) ?? []) await handle.write(piece);
        await handle.close();
        if (isRenamed) renameSync(name, path);
      }
    })();
    const scheduler = fileScheduler(path);
    let refused = 0;
    for (let i = 0; i < 12; i++) {
      try {
        const { list } = await scheduler.nodes();
        t.equal(list.length, 2000);
        t.equal(new Set(list.map(({ reason }) => reason)).size, 1);
      } catch (error) {
        if (!(error instanceof NoAnswer) || isRenamed) throw error;
        refused++;
        if (refused > 1) break;
      }
    }
    isOver = true;
    await writing;
    t.equal((await scheduler.nodes()).list.length, 2000, 'and when nobody writes any more, it is read');
  }
});
