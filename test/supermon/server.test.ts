// `beoboard supermon`: # and S as Supermon's clients send them, numbers compared with the board, and answers that are
// read by the parser of Supermon's author, by Python and by Lisp.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { atom } from '../../src/net/expressions.js';
import { CATEGORIES, SERVER, STATE } from '../../src/supermon/categories.js';
import { commandOf, WHOLE, Words } from '../../src/supermon/server.js';
import { NO_IPV6 } from '../kit/ipv6.js';
import { lacks } from '../kit/lacking.js';
import { openReader } from '../kit/openreader.js';
import { folder, ROOT } from '../kit/places.js';
import { run } from '../kit/program.js';
import { Asker, type Element, elementsOf, LiveBoard, read, readByOthers, serve } from '../kit/supermon.js';
import { until } from '../kit/until.js';

t.test('words and commands', async t => {
  const sample = (mask: number) => ({ kind: 'sample', mask });
  const rows: [word: string, command: object][] = [
    ['#', { kind: 'schema' }],
    ['S', sample(WHOLE)],
    ['0x40S', sample(0x40)],
    ['0XffffffffS', sample(WHOLE)],
    ['Sn', sample(WHOLE)],
    ['S\\n', sample(WHOLE)],
    ['0x40Sn', sample(0x40)],
    ...['s', '#S', '0x', '40S', '0x100000000S', 'SS', 'GET', 'n', '()'].map(
      word => [word, { kind: 'bad', word }] as [string, object],
    ),
  ];
  for (const [word, command] of rows) t.same(commandOf(word), command, word);
  const said: [what: string, chunks: string[], words: string[] | undefined][] = [
    ['a line', ['S\n'], ['S']],
    ['white space and quotes', [' \r\n\t"S" \'#\'\n\n'], ['S', '#']],
    ["what Lisp's PRINT makes of it", ['\n"Sn" ', '\n"Sn" '], ['Sn', 'Sn']],
    ['the same in pieces', ['\n"S', 'n" \n"S', 'n" '], ['S', 'S']],
    ['without an end', ['0x40S'], ['0x40S']],
    ['in pieces', ['0x', '40', 'S', '\n'], ['0x40S']],
    ['several', ['S S #\n'], ['S', 'S', '#']],
    ['others', ['hello wor', 'ld\n'], ['hello', 'world']],
    ['too long', ['x'.repeat(65)], undefined],
  ];
  for (const [what, chunks, words] of said) {
    const taker = new Words();
    const taken = chunks.map(chunk => taker.take(chunk));
    t.same(taken.includes(undefined) ? undefined : taken.flat(), words, what);
  }
});

t.test('texts as atoms', async t => {
  for (const [text, as] of [
    ['node001', 'node001'],
    ['a-b_c', 'a-b_c'],
    ...['1e5', 'a.b', 'eth0:1', 'NIL', '', 'a b', '#', 'x|y'].map(text => [text, `"${text}"`]),
    ['a"\\b', '"a\\"\\\\b"'],
    ['a\n\x00é', '"a???"'],
    ['a😀', '"a?"'],
  ] as [string, string][])
    t.equal(atom(text), as, JSON.stringify(text));
});

const byCategory = (elements: readonly Element[], name: string) =>
  Object.fromEntries(elements.filter(([node]) => node === name).map(element => [element[1], element]));
const numbers = (data: Element[4]) => data.slice(1).map(Number);

t.test('what the board has', async t => {
  const board = new LiveBoard(t, ['n1', 'n2']);
  // A node without swap, network and GPUs.
  board.lay('bare', { valid: 0n });
  const { port, child, exit } = await serve(t, ['--board', board.path]);
  const client = await Asker.open(t, port);
  const schema = elementsOf(await client.ask('#\n'));
  t.same(schema.map(([, category, mask]) => [category, Number(mask)]).slice(0, 2), [
    [SERVER.name, SERVER.mask],
    [STATE.name, STATE.mask],
  ]);
  const sample = elementsOf(await client.ask('S\n'));
  const reader = openReader(t, board.path);
  const nodes = [...reader.snapshot().nodes()];
  for (const node of nodes) {
    const told = byCategory(sample, node.name);
    const { report } = node;
    if (report === undefined) throw new Error('no report');
    t.same(told.beostate?.[4][1], node.state);
    if (node.name === 'bare') {
      t.same(Object.keys(told).sort(), ['beostate', 'time'], 'what was not measured is not told');
      continue;
    }
    const jiffies = (['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'] as const).map(kind =>
      Math.floor((report[`cpu_${kind}_ms`] ?? 0) / 10),
    );
    t.same(numbers(told.cpuinfo?.[4] ?? []), jiffies, 'jiffies');
    const loads = [report.load1_c, report.load5_c, report.load15_c].map(load => Math.round(((load ?? 0) * 2048) / 100));
    t.same(numbers(told.avenrun?.[4] ?? []), loads, 'a load of 1 is 2048');
    t.same(numbers(told.paging?.[4] ?? []), [report.majfaults, report.swapin_pages, report.swapout_pages]);
    t.same(numbers(told.switch?.[4] ?? []), [report.ctxt]);
    t.same(numbers(told.time?.[4] ?? []), [
      Number(report.t_real_ns / 1_000_000_000n),
      Number(report.t_boot_ns / 10_000_000n),
    ]);
    const used = (report.net ?? []).filter(({ name }) => name !== '');
    t.same(told.netinfo?.[4], [
      ['nr', String(used.length)],
      ...used.map(({ name, rx_bytes, rx_packets, tx_bytes, tx_packets, errors, drops }) =>
        [name, rx_bytes, rx_packets, tx_bytes, tx_packets, errors, drops].map(String),
      ),
    ]);
    t.equal(told.gpu?.[4].length, 1 + (report.gpu_count ?? 0));
    for (const [, category, , , data] of Object.values(told)) {
      const row = schema.find(([, name]) => name === category);
      const [[, nr] = []] = (row?.[4] ?? []) as string[][];
      const values = nr === 'n' ? (data[1] as string[]).slice(1) : data.slice(1);
      t.equal(values.length, (row?.[4].length ?? 0) - 1, `${category}: as many as the schema says`);
    }
  }
  t.same(byCategory(sample, schema[0]?.[0] ?? '').server?.[4].slice(0, 2), [['nr', '1'], '3'], 'it names itself');

  await t.test('masks', async t => {
    for (const { name, mask } of CATEGORIES) {
      const part = elementsOf(await client.ask(`0x${mask.toString(16)}S\n`));
      t.same([...new Set(part.map(([, category]) => category))], [name], name);
    }
    t.same(elementsOf(await client.ask('0x0S\n')), []);
    // As in the Ruby client that comes with the author's parser: the mean of the three load averages over all nodes.
    const samples = read(await client.ask('0x40S\n')) as string[][][];
    t.same(
      samples.map(sample => sample[4]?.slice(1).map(Number)),
      nodes.filter(({ name }) => name !== 'bare').map(() => [25272, 11612, 164]),
    );
  });

  await t.test('one connection, many commands', async t => {
    client.socket.write('# 0x40S\nS "S" 0x8S');
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(elementsOf(await client.next()).length);
    t.same(answers, [schema.length, 2, sample.length, sample.length, 2]);
    const [[, category, , , [why = '']] = ['', '', '', '', []]] = elementsOf(await client.ask('STATUS\n'));
    t.equal(category, 'error');
    t.match(why, /^there is no command STATUS; write #/);
    t.equal(elementsOf(await client.ask('S\n')).length, sample.length, 'and goes on');
  });

  await t.test('states', async t => {
    await board.stall();
    await until('it is stalled', async () =>
      elementsOf(await client.ask('0x100S')).every(([, , state]) => state === 'unknown'),
    );
    const all = elementsOf(await client.ask('S\n'));
    t.same([...new Set(all.map(([, category]) => category))].sort(), ['beostate', 'server'], 'no numbers of old');
    rmSync(board.path);
    await until('it is gone', async () =>
      elementsOf(await client.ask('S\n')).some(([, , state]) => state === 'no-board'),
    );
    t.match(
      elementsOf(await client.ask('0x40S\n')),
      [[schema[0]?.[0], SERVER.name, 'no-board']],
      'whatever is asked for',
    );
  });
  await t.test('the last word needs no newline, and a long one is named as well', async t => {
    for (const [said, named] of [
      ['STATUS', 'STATUS'],
      ['0x4', '0x4'],
      ['y'.repeat(400), 'y'.repeat(64)],
    ] as const) {
      const last = await Asker.open(t, port);
      last.socket.end(said);
      const [[, category, , , [why]] = ['', '', '', '', []]] = elementsOf(await last.next());
      t.equal(category, 'error');
      t.match(why, new RegExp(`^there is no command ${named}; write #`));
    }
  });
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('it logs that others can connect', async t => {
  const board = new LiveBoard(t, ['n1']);
  const { output } = await serve(t, [
    '--board',
    board.path,
    '--listen',
    '0.0.0.0:0',
    ...(NO_IPV6 ? [] : ['--listen', '[::1]:0']),
  ]);
  await until('it is said', () => output().stderr.includes('ready'));
  t.match(
    output().stderr,
    /0\.0\.0\.0:\d+: there are no passwords: everybody who reaches it can read the names and values of all nodes/,
  );
  t.notMatch(output().stderr, /127\.0\.0\.1:\d+[^\n]*no passwords|::1[^\n]*no passwords/, 'not of loopback');
});

t.test('a server and a beoboard-mon of one machine have ports of their own', async t => {
  const portOf = (text: string) => /port (\d+)/.exec(text)?.[1];
  const [own, zoom] = await Promise.all([run(['supermon', '--help']), run(['zoom', '--help'])]);
  const mon = readFileSync(join(ROOT, 'c', 'mon', 'beoboard-mon.8'), 'utf8');
  t.same([portOf(own.stdout), portOf(mon), portOf(zoom.stdout)], ['2709', '2710', '2710']);
});

t.test('several boards, and names that Lisp would misread', async t => {
  const [one, two] = [new LiveBoard(t, ['1e5', 'nil', 'a.b']), new LiveBoard(t, ['a.b'])];
  const { port } = await serve(t, ['--board', `x=${one.path}`, '--board', `y=${two.path}`]);
  const client = await Asker.open(t, port);
  const names = new Set(elementsOf(await client.ask('0x100S\n')).map(([name]) => name));
  t.same([...names], ['x/1e5', 'x/nil', 'x/a.b', 'y/a.b']);
  const wrong = await run(['supermon', '--board', one.path, '--board', `y=${two.path}`]);
  t.match(wrong, { code: 2, stderr: /each of several boards needs a cluster name/ });
});

// ---- other people's parsers ----

/**
 * Does once what the published client does in a loop: two samples over one connection, requested with PRINT, and the
 * difference.
 */
const BY_LISP = (port: number) => `
(defun data-of (category sample)
  (cond ((null sample) 'unknown)
        ((equal category (cadar sample)) (car (last (car sample))))
        (t (data-of category (cdr sample)))))
(setq sock (socket:socket-connect ${port} "127.0.0.1"))
(print "S\\n" sock)
(setq before (data-of 'cpuinfo (read sock)))
(print "S\\n" sock)
(setq after (data-of 'cpuinfo (read sock)))
(format t "~a ~a ~a~%" (cadr before) (- (cadr after) (cadr before)) (length after))
(print "#\\n" sock)
(format t "~a~%" (length (read sock)))
`;

t.test('read by others', async t => {
  const board = new LiveBoard(t, ['n1', 'a.b', '1e5']);
  const { port } = await serve(t, ['--board', board.path]);
  const client = await Asker.open(t, port);
  const schema = elementsOf(await client.ask('#\n'));
  const text = await client.ask('S\n');
  const own = folder(t);

  await readByOthers(t, text);

  await t.test('by Lisp', { skip: lacks('clisp', 'clisp') }, async t => {
    writeFileSync(join(own, 'client.lisp'), BY_LISP(port));
    const { status, stdout, stderr } = spawnSync('clisp', ['-q', '-norc', join(own, 'client.lisp')], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    t.same([status, stderr], [0, '']);
    t.equal(stdout, `1500 0 9\n${schema.length}\n`);
  });
});
