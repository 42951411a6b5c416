// check and nodes, as monitors, prologs and scripts use them: one line, exit codes, host lists.
//
// @seconds 13
// @waits
// @shared 6

import { createSocket } from 'node:dgram';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { bits } from '../../src/layout/layout.gen.js';
import { lookOn } from '../../src/schedulers/bridge/boardlook.js';
import { countStates } from '../../src/shm/liveness.js';
import { beat } from '../kit/linkboard.js';
import { validOf } from '../kit/madeboard.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder } from '../kit/places.js';
import { run, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { makeBoard, numbered } from '../kit/stateboard.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';
import { writtenBoard } from '../kit/writtenboard.js';

t.setTimeout(600_000);
const runHere = verbChild(t);

t.test('the verdict', async t => {
  const silent = (...numbers: number[]) => ({ silent: numbers.map(number => `n${number}`) });
  const live = (count: number) => ({ live: numbered(count, 1, 'l') });
  type Row = [about: string, of: Parameters<typeof makeBoard>[1], argv: string[], code: number, text: string];
  const table: Row[] = [
    ['all well', live(3), [], 0, '3 nodes, 3 live'],
    ['one silent', { ...live(3), ...silent(4) }, [], 2, 'of 4 nodes 1 silent (n4)'],
    ['as many as may be', { ...live(3), ...silent(4, 5) }, ['-w2', '-c2'], 0, 'of 5 nodes 2 silent (n[4-5])'],
    ['a warning', { ...live(3), ...silent(4, 5) }, ['-w1', '-c2'], 1, 'of 5 nodes 2 silent (n[4-5])'],
    ['in per cent', { ...live(98), ...silent(1, 2) }, ['-w1%', '-c2%'], 1, 'of 100 nodes 2 silent (n[1-2])'],
    ['more than these', { ...live(97), ...silent(1, 2, 3) }, ['-w1%', '-c2%'], 2, 'of 100 nodes 3 silent (n[1-3])'],
    ['uncertain', { ...live(1), uncertain: ['a'] }, [], 1, 'of 2 nodes 1 uncertain (a)'],
    ['never', { ...live(1), never: ['a'] }, [], 1, 'of 2 nodes 1 never reported (a)'],
    ['left just now', { ...live(1), left: ['a'] }, [], 0, '2 nodes, 1 live'],
    ['a stranger', live(1), ['--nodes', 'l001,x'], 2, 'of 2 nodes 1 not on the board (x)'],
    ['an empty board', {}, [], 3, 'no node is on the board: nothing is known about nodes'],
    [
      'several, the worst first',
      { ...live(1), uncertain: ['a'], silent: ['b'], never: ['c'] },
      [],
      2,
      'of 4 nodes 1 silent (b), 1 uncertain (a), 1 never reported (c)',
    ],
    [
      'names that cannot be folded are cut',
      { silent: ['a', 'b', 'c', 'd', 'e', 'f'] },
      [],
      2,
      'of 6 nodes 6 silent (a,b,c,d,e and more)',
    ],
  ];
  const ask = async (path: string, argv: string[]) => {
    const asked = () => {
      beat(path);
      return runHere(['check', '--board', path, ...argv]);
    };
    // A busy machine may take so long from the heartbeat to the look that there is a pause in between.
    let answer = await asked();
    for (let tries = 0; tries < 9 && answer.stdout.includes('the receiver is stalled'); tries++) answer = await asked();
    const { code, stdout } = answer;
    const [, text = '', figures = ''] = /^BEOBOARD [A-Z]+: (.*) \| (.*)\n$/.exec(stdout) ?? [];
    return { code, text: text.replace(/; fails (open|closed)$/, ''), figures };
  };
  for (const [about, of, argv, code, text] of table) {
    const answer = await ask(makeBoard(t, of).path, argv);
    t.same([answer.code, answer.text], [code, text], about);
    for (const figure of answer.figures.split(' '))
      t.match(figure, /^[a-z]+=\d+;[\d.]*;[\d.]*;0;\d+$/, 'as the guidelines have performance data');
  }
  const goodbye = { flags: 1 << bits.flags.goodbye };
  for (const [ago, code, text] of [
    [595, 0, '2 nodes, 1 live'],
    [601, 2, 'of 2 nodes 1 left longer than 10 minutes ago (a)'],
  ] as const) {
    const board = makeBoard(t, { ...live(1), never: ['a'] });
    board.lay('a', ago, goodbye);
    t.match(await ask(board.path, []), { code, text }, `left ${ago} s ago`);
  }
  // [limit, nodes, as a number]: the share and the number are both lower bounds.
  for (const [text, total, limit] of [
    ['0.1%,1', 12, 1],
    ['0.1%,1', 1000, 1],
    ['0.1%,1', 10_000, 10],
    ['12.345%', 7, 0.86415],
    ['0.001%,0', 9, 0.00009],
    ['100%,3', 2, 3],
    ['5', 100_000, 5],
  ] as const) {
    const names = `x[1-${total}]`;
    const { figures } = await ask(makeBoard(t, live(1)).path, ['--nodes', names, '-w', text, '--fail', 'open']);
    const limited = String(limit === 0.00009 ? '0.00009' : limit);
    t.match(figures, `missing=0;${limited};;0;${total} `, `${text} of ${total}`);
  }
  const { figures } = await ask(makeBoard(t, { ...live(97), ...silent(1, 2, 3) }).path, ['-c', '2%']);
  t.match(figures, /^live=97;;;0;100 .*silent=3;;;0;100 .*missing=3;0;;0;100 down=3;;2;0;100$/);
});

t.test('check: an empty board tells nothing, with or without a condition', async t => {
  const { path } = makeBoard(t, {});
  for (const where of [[], ['--where', 'load > 1']])
    for (const [fail, code, ending] of [
      [['--fail', 'open'], 0, '; fails open'],
      [['--fail', 'closed'], 2, '; fails closed'],
      [[], 3, ''],
    ] as const) {
      beat(path);
      const answer = await runHere(['check', '--board', path, ...where, ...fail]);
      t.equal(answer.code, code);
      t.ok(
        answer.stdout.includes(`: no node is on the board: nothing is known about nodes${ending} | `),
        answer.stdout,
      );
    }
});

/** A board with nodes in every state but unknown: long intervals keep their nodes live, short ones do not. */
async function everyState(t: Test) {
  const board = boardPath(t);
  const limits = ['--uncertain-after', '1s', '--silent-after', '2s'];
  const receiver = await startReceiver(t, board, [...limits, '--nodes', 'n[1-5],gone[1-2],quiet,fresh']);
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  const flags = 1 << bits.flags.goodbye;
  const reports = [
    ...['n1', 'n2', 'n3', 'n4', 'n5'].map(hostname => makeReport({ hostname, interval_ms: 600_000 })),
    ...['gone1', 'gone2'].map(hostname => makeReport({ hostname, interval_ms: 600_000, flags })),
    makeReport({ hostname: 'quiet', interval_ms: 1000 }),
  ];
  for (const report of reports) socket.send(report, receiver.port, '127.0.0.1');
  const reader = openReader(t, board);
  await until('quiet is silent', () => countStates(reader.nodeStates().states).silent === 1);
  return { board, receiver };
}

t.test('nodes', async t => {
  const { board, receiver } = await everyState(t);
  const rows: [argv: string[], code: number, stdout: string, stderr?: RegExp][] = [
    [[], 0, 'fresh,gone[1-2],n[1-5],quiet\n'],
    [['--state', 'live'], 0, 'n[1-5]\n'],
    [['--state', 'silent,never'], 0, 'fresh,quiet\n'],
    [['-s', 'left', '--expand'], 0, 'gone1\ngone2\n'],
    [['--state', 'live', '--count'], 0, '5\n'],
    [['--state', 'uncertain'], 0, ''],
    [['--state', 'uncertain', '--expand'], 0, ''],
    [['--state', 'uncertain', '--count'], 0, '0\n'],
    [['--state', 'live', '-w', 'n[4-5],quiet', '--fold'], 0, 'n[4-5]\n'],
    [['-w', 'n5,xyz[1-3]'], 1, 'n5\n', /^beoboard nodes: not on the board: xyz\[1-3\]\n$/],
    [['--where', 'interval_ms == 1000'], 0, 'quiet\n'],
    [['--where', 'interval_ms > 1000', '--state', 'live', '-w', 'n2,gone1'], 0, 'n2\n'],
    [['--state', 'dead'], 2, '', /--state: 'dead' is not a state; write silent, unknown, /],
    [['--state', 'slient'], 2, '', /did you mean silent\?/],
    [['--where', 'state == slient'], 2, '', /--where: column 10: 'slient' is not a state; did you mean silent\?/],
    [['--fold', '--expand'], 2, '', /do not go together/],
  ];
  for (const [argv, code, stdout, stderr = /^$/] of rows) {
    const answer = await runHere(['nodes', '--board', board, ...argv]);
    t.same([answer.code, answer.stdout], [code, stdout], argv.join(' '));
    t.match(answer.stderr, stderr);
  }
  t.same(await run(['nodes', '--board', board]), await runHere(['nodes', '--board', board]), 'the real program');
  receiver.child.kill('SIGSTOP');
  const reader = openReader(t, board);
  await until('the receiver is stalled', () => reader.snapshot().stalled);
  for (const [argv, stdout] of [
    [['--state', 'silent'], ''],
    [['--state', 'unknown', '--count'], '9\n'],
    [['--where', 'state == live'], ''],
  ] as const) {
    const answer = await runHere(['nodes', '--board', board, ...argv]);
    t.same([answer.code, answer.stdout], [4, stdout], argv.join(' '));
    t.match(answer.stderr, /^beoboard nodes: the receiver is stalled: nothing is known about nodes; .*\n$/);
  }
  receiver.child.kill('SIGCONT');
});

t.test('check', async t => {
  const { board, receiver } = await everyState(t);
  const check = (...argv: string[]) => runHere(['check', '--board', board, ...argv]);
  const rows: [argv: string[], code: number, line: RegExp][] = [
    [[], 2, /^BEOBOARD CRITICAL: of 9 nodes 1 silent \(quiet\), 1 never reported \(fresh\) \| live=5;/],
    [['-c', '1'], 1, /^BEOBOARD WARNING: /],
    [['-c', '1', '-w', '25%'], 0, /^BEOBOARD OK: /],
    [['--nodes', 'n[1-5],gone1'], 0, /^BEOBOARD OK: 6 nodes, 5 live \| live=5;;;0;6 /],
    [['--nodes', 'n[1-6]'], 2, /^BEOBOARD CRITICAL: of 6 nodes 1 not on the board \(n6\)/],
    [['--nodes', 'n[3-1]'], 3, /^BEOBOARD UNKNOWN: beoboard check: --nodes: host list, column 3: /],
    [['--fail', 'safe'], 3, /^BEOBOARD UNKNOWN: .*'safe' is not a valid value; use open or closed\n$/],
    [['--warning', 'many'], 3, /^BEOBOARD UNKNOWN: .*write it as 5, 2% or 0\.1%,1\n$/],
    [['--critical', '200%'], 3, /^BEOBOARD UNKNOWN: .*'200%' is more than all nodes; write 0% to 100%\n$/],
    [['--critical', '100%', '--warning', '100%'], 0, /^BEOBOARD OK: /],
    [
      ['--where', 'interval_ms == 1000'],
      2,
      /^BEOBOARD CRITICAL: of 9 nodes 1 with interval_ms == 1000 \(quiet\) \| matching=1;0;0;0;9\n$/,
    ],
    [
      ['--where', 'state == live || state == left', '-w', '5', '-c', '70%'],
      2,
      /^BEOBOARD CRITICAL: of 9 nodes 7 with state == live \/\/ state == left \(gone\[1-2\],n\[1-5\]\) \| matching=7;5;6\.3;0;9\n$/,
    ],
    [['--where', 'state == live', '--warning', '4', '--critical', '5'], 1, /^BEOBOARD WARNING: of 9 nodes 5 with /],
    [['--where', 'state == live', '--warning', '5', '--critical', '5'], 0, /^BEOBOARD OK: of 9 nodes 5 with /],
    [
      ['--where', 'state == silent', '--nodes', 'n[1-3]'],
      0,
      /^BEOBOARD OK: 3 nodes, none with state == silent \| matching=0;/,
    ],
    [
      ['--where', 'state == silent', '--nodes', 'n1,x1'],
      2,
      /^BEOBOARD CRITICAL: of 2 nodes 1 not on the board \(x1\) \| matching=1;/,
    ],
    [
      ['--where', 'lod > 1'],
      3,
      /^BEOBOARD UNKNOWN: .*--where: column 1: there is no field 'lod'; did you mean load\?\n$/,
    ],
    [['--owner', 'nobody-of-that-name'], 3, /^BEOBOARD UNKNOWN: there is no user /],
  ];
  const ask = async (argv: string[], code: number, line: RegExp) => {
    const answer = await check(...argv);
    t.equal(answer.code, code, argv.join(' '));
    t.match(answer.stdout, line);
    t.match(answer.stdout, /^[^\n|]*(\|[^\n|]*)?\n$/, 'one line, with one bar at most');
    t.equal(answer.stderr, '');
  };
  for (const [argv, code, line] of rows) await ask(argv, code, line);
  t.same(await run(['check', '--board', board]), await check(), 'the real program');

  const none = join(folder(t), 'none');
  const config = `${none}.toml`;
  writeFileSync(config, 'fail = "open"\nnodes = "N1"\n');
  writeFileSync(`${none}.bad`, 'n[3-1]\n');
  // Every case in which the states of the nodes are not known: with --fail open, with --fail closed, and without.
  const ways: [argv: string[], said: RegExp, otherwise: 2 | 3][] = [
    [['--nodes', `@${none}`], /cannot read /, 3],
    [['--nodes', `@${none}.bad`], /runs backwards/, 3],
    [['--nodes', ''], /it is empty/, 3],
    [['--nodes', 'N1'], /upper-case 'N'/, 3],
    [['--nodes', 'n1,N2'], /upper-case 'N'/, 3],
    [['--nodes', 'n 1'], /a blank/, 3],
    [['--nodes'], /--nodes has no value/, 3],
    [['--nodes', 'n1,stranger'], /of 2 nodes 1 not on the board \(stranger\)/, 2],
    [['--nodes', 'stranger', '--where', 'state == silent'], /of 1 node 1 not on the board \(stranger\)/, 2],
    [['--nodes', 'n1', '--where', 'state == nothing'], /is not a state/, 3],
    [['--nodes', 'n1', '--board', none], /there is no board/, 3],
    [['--nodes', 'n1', '--board', `${none}.bad`], /none\.bad: /, 3],
    [['--nodes', 'n1', '--where', 'load', '--board', none], /there is no board/, 3],
    [['--nodes', 'n1', '--owner', 'nobody-of-that-name'], /there is no user/, 3],
    [['--nodes', 'n1', '--config', none], /cannot read /, 3],
    [['--nodes', 'n1', '--warning', 'many'], /is not a number of nodes/, 3],
    [['--nodes', 'n1', '--wherever', 'x'], /unknown option/, 3],
  ];
  for (const [argv, said, otherwise] of ways)
    for (const [fail, code] of [
      [['--fail', 'open'], 0],
      [['--fail=closed'], 2],
      [[], otherwise],
    ] as const) {
      const { code: got, stdout } = argv.includes('--board')
        ? await runHere(['check', ...fail, ...argv])
        : await check(...fail, ...argv);
      t.equal(got, code, [...fail, ...argv].join(' '));
      t.match(stdout, said);
      t.match(stdout, new RegExp(`^BEOBOARD ${['OK', '', 'CRITICAL', 'UNKNOWN'][code]}: [^\n]*\n$`));
      if (code === 0) t.match(stdout, /; fails open( \| .*)?\n$/);
    }
  await ask(['--config', config], 0, /upper-case 'N'.*; fails open\n$/);
  await ask(
    ['--nodes', 'quiet,stranger', '--fail', 'open'],
    2,
    /1 silent \(quiet\), 1 not on the board \(stranger\); fails open/,
  );

  const ignorant = async (why: string) => {
    await ask([], 3, new RegExp(`^BEOBOARD UNKNOWN: .*${why}.*\n$`));
    await ask(['--fail', 'open', '--nodes', 'n1'], 0, new RegExp(`^BEOBOARD OK: .*${why}.*; fails open\n$`));
    await ask(['--fail', 'closed', '--nodes', 'n1'], 2, new RegExp(`^BEOBOARD CRITICAL: .*${why}.*; fails closed\n$`));
  };
  const reader = openReader(t, board);
  receiver.child.kill('SIGKILL');
  await receiver.exit;
  await until('the receiver is stalled', () => reader.snapshot().stalled);
  await ignorant('the receiver is stalled, its heartbeat is .* old: nothing is known about nodes');
  rmSync(board);
  await ignorant('there is no board');
});

t.test('an OOM kill and an Xid are told for ten minutes, and are no problems that the nodes have now', async t => {
  const lasting = { interval_ms: 600_000, valid: validOf('vmstat', 'gpu_errors', 'gpu') };
  const killed = (when: number) => (ago: number) => ({ ...lasting, oom_kills: ago > when ? 7 : 8 });
  const reader = writtenBoard(
    t,
    {
      killed: killed(300),
      xid: ago => ({ ...lasting, gpu_errors: ago > 300 ? 0 : 1 }),
      over: killed(640),
      still: killed(590),
      well: () => lasting,
    },
    660,
  );
  const { path } = reader;
  const ask = async (verb: string, ...argv: string[]) => {
    beat(path);
    const { code, stdout } = await runHere([verb, '--board', path, ...argv]);
    return [code, stdout.replaceAll(/\b[\d.]+m?s\b|\b\d+m\d\ds\b/g, 'AGE')] as const;
  };
  const oom = '2 oom (killed,still; last AGE ago)';
  const xid = '1 gpu_errors (xid; last AGE ago)';
  for (const [argv, code, text, missing] of [
    [[], 1, `5 nodes, 5 live; recent: ${xid}, ${oom}`, 1],
    [['--recent', 'none'], 0, `5 nodes, 5 live; recent: ${xid}, ${oom}`, 0],
    [['--recent', 'oom,gpu_errors'], 1, `5 nodes, 5 live; recent: ${xid}, ${oom}`, 3],
    [['--recent', 'oom', '--warning', '2'], 0, `5 nodes, 5 live; recent: ${xid}, ${oom}`, 2],
    [['--ignore', 'gpu_errors'], 0, `5 nodes, 5 live; recent: ${oom}`, 0],
    [['--ignore', 'gpu_errors,oom'], 0, '5 nodes, 5 live', 0],
    [['--health', 'off'], 0, '5 nodes, 5 live', 0],
    [['--nodes', 'over,still'], 0, '2 nodes, 2 live; recent: 1 oom (still; last AGE ago)', 0],
    [['--nodes', 'over,well,x', '--fail', 'open'], 0, 'of 3 nodes 1 not on the board (x)', 0],
  ] as const) {
    const [got, line] = await ask('check', ...argv);
    t.equal(got, code, argv.join(' '));
    const shown = /: (.*?)(; fails open)? \|.* unhealthy=(\d+);.* missing=(\d+);/.exec(line) ?? [];
    t.same([shown[1], shown[3], shown[4]], [text, '0', String(missing)], argv.join(' '));
  }
  t.match(await ask('check', '--recent', 'omm'), [3, /'omm' is not a problem; did you mean oom\?, or none/]);
  t.match(await ask('check', '--recent', 'oom', '--where', 'load > 1'), [3, /--recent and --where do not go together/]);

  t.same(await ask('nodes', '--where', 'recent(oom) || recent(gpu_errors)'), [0, 'killed,still,xid\n']);
  t.match(await ask('show', 'killed'), [0, /recent: programs were killed, memory ran out/]);
  t.match(await ask('status', '--json', '--nodes', 'xid'), [0, /"recent":\["gpu_errors"\]/]);
  t.notMatch(await ask('show', 'over'), [0, /recent/]);
  // What acts on problems, and what alerts of them, knows of none.
  t.same(await ask('nodes', '--healthy', '--count'), [0, '5\n']);
  t.same([...reader.snapshot().overview.problems], [0, 0, 0, 0, 0]);
  for (const { problems } of lookOn(reader).nodes.values()) t.same(problems, [], 'for the bridge');
  const [, metrics] = await ask('metrics');
  t.match(metrics, /^beoboard_node_problem_last_seen_timestamp_seconds\{problem="oom",node="killed"\}/m);
  t.notMatch(metrics, /^beoboard_node_problem\{/m);
});

t.test('a node that is throttled every ten seconds for one report, whenever one checks', async t => {
  let now = 0;
  for (let moment = 0; moment < 12; moment++) {
    const counted = (ago: number) => ({
      interval_ms: 600_000,
      valid: validOf('throttle'),
      throttle_events: Math.floor((600 - ago + moment) / 10),
    });
    const { path } = writtenBoard(t, { n1: counted }, 30);
    const said: unknown[] = [];
    for (const recent of ['throttled', 'none']) {
      beat(path);
      const { code, stdout } = await runHere(['check', '--board', path, '--recent', recent]);
      said.push(code);
      t.match(stdout, /1 throttled \(n1(; last \d+\.\ds ago)?\)/);
    }
    const isNow = moment % 10 === 0;
    t.same(said, [1, isNow ? 1 : 0], `${moment} s later`);
    now += Number(isNow);
  }
  t.equal(now, 2, 'of 12 checks these see it by its two last reports');
});

t.test('a census in parts of any size gives the same as one of the whole board', async t => {
  const board = boardPath(t);
  const { port } = await startReceiver(t, board, ['--capacity', '1500']);
  await run(['load', '--to', `127.0.0.1:${port}`, '--size', '1500', '--interval', '200ms', '--for', '300ms']);
  const reader = openReader(t, board);
  await until('all have reported', () => reader.snapshot().count === 1500);
  const whole = [...reader.snapshot().nodes()].map(({ name }) => name);
  for (const nodes of [1, 7, 256, 1500, 5000]) {
    const names: string[] = [];
    for (const part of reader.pieces(nodes)) for (const { name } of part.nodes()) names.push(name);
    t.same(names, whole, `${nodes} at a time`);
  }
  const nodeStates = reader.nodeStates();
  t.same(nodeStates.states, reader.snapshot().overview.states, 'one look gives the same states, from the column words');
  t.same(nodeStates.names([...nodeStates.states.keys()]), whole);
});
