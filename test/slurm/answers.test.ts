// Parsing Slurm's output: real answers of 22.05, and names of jobs, reasons and comments that imitate something else.
// Which node of the board is which of Slurm's, and when the two disagree.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { Differences, LOOKS, type SeenOnBoard } from '../../src/schedulerfile/differences.js';
import { match, namesText, parseExceptions } from '../../src/schedulerfile/matching.js';
import { LeftOut, NoAnswer, type SchedulerJob, type SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { Poll } from '../../src/schedulers/poll.js';
import { PowerSaving } from '../../src/schedulers/powersaving.js';
import { gpusIn, parseConfig, parseJobs, parseNodes, parseTopology } from '../../src/schedulers/slurm/answers.js';
import type { Calls } from '../../src/schedulers/slurm/calls.js';
import {
  FLAGS,
  INSTEAD,
  isSchedulable,
  meaningOf,
  nodeState,
  SIGNS,
  savesPower,
} from '../../src/schedulers/slurm/nodestate.js';
import { slurm as slurmOf } from '../../src/schedulers/slurm/slurm.js';
import type { BoardReader } from '../../src/shm/reader.js';
import { expandNodeNames } from '../../src/text/hostlists.js';
import { characters, InputError } from '../../src/text/text.js';
import { anyText } from '../kit/anytext.js';
import { leastCpuMs } from '../kit/cputime.js';
import { ROOT } from '../kit/places.js';

const fixture = (name: string) => readFileSync(join(ROOT, 'test', 'fixtures', 'slurm', name), 'utf8');
const NODES = fixture('nodes-22.05.txt');
const JOBS = fixture('jobs-22.05.txt');
/** The nonce with which the two were recorded. */
const NONCE = '4d1f0c6b9ae27358f00d2b7c9e6a1d54';

/** The versions of Slurm whose words are in the tables. */
const VERSIONS = [
  ...['20.02', '20.11', '21.08', '22.05', '23.02', '23.11', '24.05', '24.11', '25.05', '25.11', '26.05'],
] as const;

t.test('real answers', async t => {
  const nodes = parseNodes(NODES);
  t.strictSame(
    nodes.map(({ name, state, cpus, cpus_used = 0, gpus = 0, gpus_used = 0 }) =>
      [name, state, cpus, cpus_used, gpus, gpus_used].join(' '),
    ),
    [
      ...['node001 ALLOCATED 8 8 2 2', 'node002 ALLOCATED 8 8 2 2', 'node003 MIXED+DRAIN 8 6 2 1'],
      ...['node004 IDLE+DRAIN 8 0 2 0', 'node005 DOWN 8 0 2 0', 'node006 IDLE+POWERED_DOWN 8 0 2 0'],
      ...['node007 IDLE 8 0 2 0', 'node008 DOWN+NOT_RESPONDING 8 0 2 0'],
    ],
    'comments with rows in them make none, and change none',
  );
  const reasons = Object.fromEntries(nodes.map(({ name, reason }) => [name, reason]));
  t.match(reasons, {
    node003: 'bad DIMM slot "A1" = worn [slot@7] ask Anna',
    node004: 'odd "quotes" State=IDLE NodeName=node001 State=DOWN CPUAlloc=7 x=y',
    node005: 'fan; [not@here]',
    node008: /^long long .*…$/,
  });
  t.equal(reasons.node007, undefined, 'of a comment nothing is told');
  t.ok(nodes.every(({ no_jobs }) => no_jobs === undefined));
  const [, row = ''] = /^(NodeName=node007.*)$/m.exec(NODES) ?? [];
  t.match(parseNodes(row.replace(' Partitions=batch', '')), [{ no_jobs: true }], 'a node of no partition');
  t.match(nodes[3], { host: 'vm', reason_by: 'root', reason_s: 1_795_420_944, memory_mib: 1000 });
  t.strictSame(parseJobs(JOBS, NONCE), [
    {
      id: '1',
      raw_id: undefined,
      state: 'RUNNING',
      user: 'root',
      partition: 'batch',
      cpus: 16,
      start_s: 1_795_420_947,
      end_s: undefined,
      nodes: 'node[001-002]',
      name: 'plain',
    },
    ...[
      ['2', 1, 'b\n5|root|RUNNING|4|1|node002|fake'],
      ['3', 3, 'x JobState=COMPLETED Nodes=\ufffd\ufffd \t "quote" \'q\' |||'],
      ['4_1', 1, 'arr', '6'],
      ['4_2', 1, 'arr', '4'],
    ].map(([id, cpus, name, raw_id]) => ({
      id,
      raw_id,
      state: 'RUNNING',
      user: 'root',
      partition: 'batch',
      cpus,
      start_s: 1_795_420_947,
      end_s: undefined,
      nodes: 'node003',
      name,
    })),
  ]);
  const timed = (times: string) => parseJobs(`${NONCE}|7|7|RUNNING|a|b|1|${times}|n1|x`, NONCE)[0];
  t.match(timed('5,3605'), { start_s: 5, end_s: 3605 });
  t.match(timed('5,NONE'), { start_s: 5, end_s: undefined }, 'without a limit');
  t.strictSame(parseConfig(fixture('config-22.05.txt')), {
    cluster: 'test',
    version: '22.05.8',
    private_data: 'none',
    power_saving: true,
    resume_timeout_s: 60,
    hasTopology: false,
  });
  t.strictSame(
    parseConfig(''),
    {
      ...{ cluster: '', version: '', private_data: 'unknown', power_saving: undefined, resume_timeout_s: undefined },
      hasTopology: false,
    },
    'and what is no answer',
  );
  t.match(parseConfig('SuspendProgram          = (null)\nResumeTimeout = INFINITE\n'), { power_saving: false });
});

const ROW = NODES.split('\n').find(row => row.startsWith('NodeName=node007')) as string;
const HEAD = ROW.replace(/ Comment=.*/, '');
const nodeRow = (name: string, state: string, tail = '') =>
  `${HEAD.replace('node007', name).replace(/ State=\S+/, ` State=${state}`)}${tail}`;
/** Texts of users who wanted to imitate something else. */
const hostile = fc.oneof(
  fc.constantFrom(
    'State=IDLE',
    ' State=DOWN ',
    '\nNodeName=node001 State=DOWN',
    '\nNodeName=ghost CPUAlloc=0 State=IDLE ',
    ' Reason=x [root@1]',
    ' [root@1700000000]',
    ' [root@1700000000]        ',
    ' [root@1700000000] Comment=',
    ' Comment=',
    '"',
    "'",
    '=',
    '|',
    '\n',
    '\r\n',
    '\0',
    '\u202e',
    'a'.repeat(3000),
    '1|1|RUNNING|root|batch|4|1|node002|fake',
    '\n1|1|RUNNING|root|batch|4|1|node002|fake',
  ),
  fc.string(),
  anyText(),
);
const words = fc.array(hostile, { maxLength: 6 }).map(parts => parts.join(''));

t.test('no reason and no comment changes what is told of nodes', async t => {
  const states = fc.constantFrom('IDLE', 'MIXED+DRAIN', 'DOWN+NOT_RESPONDING', 'ALLOCATED', 'NEVER_HEARD_OF');
  fc.assert(
    fc.property(states, states, words, words, (first, second, reason, comment) => {
      const text = `${nodeRow('node001', first, ` Reason=${reason} [root@1700000000] Comment=${comment}`)}\n${nodeRow('node002', second)}\n`;
      const told = parseNodes(text);
      const states = told.map(({ name, state, cpus }) => `${name} ${state} ${cpus}`).join();
      return (
        states === `node001 ${first} 8,node002 ${second} 8` &&
        told.every(({ reason = '' }) => characters(reason) <= 256)
      );
    }),
    { numRuns: 200 },
  );
  const forged = parseNodes(`${nodeRow('node001', 'DOWN', ` Comment=\n${nodeRow('node001', 'IDLE')}`)}\n`);
  t.match(forged, [{ name: 'node001', state: '?' }], 'a whole row in a comment: told twice, so nothing is known');
  t.match(parseNodes(nodeRow('node001', 'DOWN', '').replace('OS=Linux', 'OS=x State=IDLE')), [{ state: '?' }]);
});

t.test('what is not understood is counted, and the first of it told', async t => {
  const leftOut = (text: string) => {
    const left = new LeftOut();
    const names = parseNodes(text, left).map(({ name }) => name);
    return [names.join(), left.count, left.first];
  };
  const row = nodeRow('node001', 'IDLE');
  const more = nodeRow('node002', 'IDLE', ' Comment=one\ntwo\nNodeName=x State=IDLE');
  t.strictSame(leftOut(`${row}\n`), ['node001', 0, undefined]);
  t.strictSame(leftOut('No nodes in the system\n'), ['', 0, undefined]);
  t.strictSame(leftOut(''), ['', 0, undefined]);
  t.strictSame(leftOut(`${more}\n${row}\n`), ['node002,node001', 1, 'NodeName=x State=IDLE'], 'a comment of two lines');
  t.strictSame(leftOut(`${row}\nNode=node003 CPUTot=1\n`), ['node001', 1, 'Node=node003 CPUTot=1'], 'another form');
  t.strictSame(leftOut(`NodeName=n1 Arch=x\n${'y'.repeat(300)}`), ['', 2, 'NodeName=n1 Arch=x']);
  for (const name of ['_under', 'n+1', '-dash', 'a@b', 'c:d', 'e/f', 'l'.repeat(71)])
    t.strictSame(leftOut(nodeRow(name, 'IDLE')), [name, 0, undefined], 'Slurm takes such names');

  const jobs = (list: string, number = '7') => `${NONCE}|${number}|7|RUNNING|anna|batch|4|1700000000|${list}|x\n`;
  const jobsLeftOut = (text: string) => {
    const left = new LeftOut();
    const nodes = parseJobs(text, NONCE, left).map(({ nodes }) => expandNodeNames(nodes).join());
    return [nodes.join(' '), left.count, left.first];
  };
  t.strictSame(jobsLeftOut(jobs('')), ['', 0, undefined], 'a job without nodes is none of those that hold nodes');
  t.strictSame(jobsLeftOut(jobs('_n[1-2],n+1,a@b')), ['_n1,_n2,n+1,a@b', 0, undefined]);
  t.strictSame(jobsLeftOut(jobs('n[1-')), ['', 1, '7|7|RUNNING|anna|batch|4|1700000000|n[1-|x']);
  t.strictSame(jobsLeftOut(`${jobs('n1', 'x')}${jobs('n2')}`), ['n2', 1, 'x|7|RUNNING|anna|batch|4|1700000000|n1|x']);
  t.strictSame(jobsLeftOut(`error: new\n${jobs('n2')}`), ['n2', 1, 'error: new']);
});

t.test('the author of a reason, whatever his name, and no text that looks like one', async t => {
  const at = 1_795_640_000;
  const read = (tail: string) => {
    const [{ reason, reason_by, reason_s } = {} as SchedulerNode] = parseNodes(nodeRow('node001', 'IDLE+DRAIN', tail));
    return [reason, reason_by, reason_s];
  };
  const tails = [
    '',
    ' Comment=x',
    ' Extra=y [z]',
    ' Comment=(null)',
    ' InstanceId=a InstanceType=b',
    ' ReservationName=c',
  ];
  for (const user of [
    ...['root', 'jdoe@ad.example.com', 'AD\\jdoe', 'AD\\john doe', 'x]y', '(null)', '1500', "o'neil", 'é'],
  ])
    for (const tail of tails) {
      t.strictSame(read(` Reason=bad dimm [B2] [${user}@${at}]${tail}`), ['bad dimm [B2]', user, at], user + tail);
      t.strictSame(
        read(` Reason=a [${user}@${at}]        b [7]        c${tail}`),
        ['a b [7] c', user, at],
        user + tail,
      );
    }
  t.strictSame(read(' Reason=nobody says who Comment=x'), ['nobody says who', undefined, undefined]);
  t.strictSame(read(` Comment=no Reason=x [root@${at}]`), [undefined, undefined, undefined]);
  const forged = [
    ['a reason', ` Reason=x [root@1] Comment=y [anna@${at}]`, ['x [root@1] Comment=y', 'anna', at]],
    ['a time', ` Reason=x [root@1700000000] Comment=y [anna@${at}]`, ['x [root@1700000000] Comment=y']],
    ['a line', ` Reason=x [root@1700000000]        y [anna@${at}]`, ['x [root@1700000000] y']],
    ['the next line', ` Reason=x [anna@${at}]        y [root@1700000000]`, [`x [anna@${at}] y`]],
    ['a comment', ` Reason=x [anna@${at}] Comment=y [root@1700000000]`, [`x [anna@${at}] Comment=y`]],
  ] as const;
  for (const [what, tail, [reason, by, s]] of forged)
    t.strictSame(read(tail), [reason, by, s], `${what} that looks like an author`);
  fc.assert(
    fc.property(words, words, (reason, comment) => {
      const oneRow = (text: string) => text.replaceAll('\n', ' ');
      const [, by, s] = read(` Reason=${oneRow(reason)} [AD\\john doe@${at}] Comment=${oneRow(comment)}`);
      return (by === 'AD\\john doe' && s === at) || (by === undefined && s === undefined);
    }),
    { numRuns: 300 },
  );
});

t.test('no name of a job makes a further row', async t => {
  const row = (id: number, name: string, nonce = NONCE) =>
    `${nonce}|${id}|${id}|RUNNING|anna|batch|4|1700000000|node00${id}|${name}\n`;
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 5 }), names => {
      const jobs = parseJobs(names.map((name, i) => row(i + 1, name)).join(''), NONCE);
      return (
        jobs.length === names.length &&
        jobs.every(({ id, nodes, name }, i) => {
          const cut = characters(names[i] as string) > 256;
          return (
            id === String(i + 1) && nodes === `node00${i + 1}` && (cut ? characters(name) === 256 : name === names[i])
          );
        })
      );
    }),
    { numRuns: 300 },
  );
  const nameOf = (name: string) => parseJobs(row(1, name), NONCE)[0]?.name;
  t.equal(nameOf(`${'x'.repeat(255)}😀😀`), `${'x'.repeat(255)}…`, 'no half of a character');
  t.equal(nameOf(`${'x'.repeat(254)}😀😀`), `${'x'.repeat(254)}😀😀`, '256 characters fit');
  const other = 'f'.repeat(32);
  t.equal(parseJobs(row(1, `x\n${row(2, 'forged', other)}`), NONCE).length, 1, 'nor that of an earlier call');
  t.throws(() => parseJobs('', 'short'), /guessed/);
  for (const spoilt of [
    '',
    'x',
    '\n\n',
    `${NONCE}|`,
    row(1, 'a').replace('node001', 'node[1-'),
    row(1, 'a').replace('|1|', '|x|'),
  ])
    t.strictSame(parseJobs(spoilt, NONCE), [], JSON.stringify(spoilt));
});

t.test('an unknown word leads to no conclusion', async t => {
  for (const text of ['IDLE', 'MIXED', 'ALLOCATED', 'IDLE+PLANNED', 'IDLE-', 'MIXED+CLOUD'])
    t.ok(isSchedulable(nodeState(text)), text);
  for (const text of [
    ...['IDLE+DRAIN', 'IDLE*', 'IDLE+NOT_RESPONDING', 'DOWN', 'DOWN*', 'IDLE+POWERED_DOWN', 'IDLE~', 'IDLE#'],
    ...['IDLE%', 'MIXED+MAINTENANCE', 'IDLE+REBOOT_REQUESTED', 'IDLE@', 'UNKNOWN', 'FUTURE', 'ERROR'],
    ...['IDLE+NEW_IN_27', 'LAZY', '', '?', 'idle', 'IDLE+', '+IDLE', 'IDLE DRAIN'],
  ])
    t.notOk(isSchedulable(nodeState(text)), text);
  for (const text of ['IDLE+NEW_IN_27', 'LAZY', '', '?', 'idle']) t.equal(nodeState(text).base, undefined, text);
  for (const text of ['IDLE+POWERED_DOWN', 'IDLE~', 'MIXED+CLOUD+POWERING_UP', 'IDLE%'])
    t.ok(savesPower(nodeState(text)));
  for (const text of ['IDLE', 'IDLE+DRAIN', 'WHAT+NEW_IN_27', 'LAZY', '?', ''])
    t.notOk(savesPower(nodeState(text)), text);
  for (const text of ['IDLE+NEW_IN_27+POWERED_DOWN', 'WHAT+POWERED_DOWN', 'WHAT~', 'IDLE+POWER_NEW', 'POWERED_DOWN']) {
    t.equal(nodeState(text).base, undefined, text);
    t.ok(savesPower(nodeState(text)), `${text}: doubt, in which the gate lets jobs start`);
  }
  fc.assert(fc.property(fc.string(), text => nodeState(text).text === text));
});

t.test('the words of each version of Slurm', async t => {
  const base = 'UNKNOWN DOWN IDLE ALLOCATED MIXED FUTURE';
  const of21 = [
    'CLOUD COMPLETING DRAIN FAIL INVALID_REG MAINTENANCE NOT_RESPONDING PERFCTRS PLANNED POWERED_DOWN POWERING_DOWN',
    'POWERING_UP POWER_DOWN POWER_UP REBOOT_ISSUED REBOOT_REQUESTED RESERVED RESUME',
  ].join(' ');
  const of22 = `${of21} DYNAMIC_FUTURE DYNAMIC_NORM`;
  const of24 = `BLOCKED ${of22.replace('PERFCTRS ', '')}`;
  const instead = 'CANCEL_REBOOT MAINT PERFCTRS POWER_UP REBOOT RESERVED RESUME';
  /** As the sources of each version have them: base states, flags, what stands in place of both, signs. */
  const written: [versions: string, bases: string, flags: string, instead: string, signs: string][] = [
    ['20.02 20.11', base, 'CLOUD COMPLETING DRAIN FAIL POWER POWERING_DOWN', instead, '# $ % * @ ~'],
    ['21.08', `${base} ERROR`, `${of21} DYNAMIC`, '', '! # $ % * - @ ^ ~'],
    ['22.05 23.02 23.11', `${base} ERROR`, of22, '', '! # $ % * - @ ^ ~'],
    ['24.05 24.11', `${base} ERROR`, of24, '', '! # $ % * - @ ^ ~'],
    ['25.05 25.11 26.05', `${base} ERROR`, `EXTERNAL ${of24}`, '', '! # $ % * - @ ^ ~'],
  ];
  const away = [
    'BLOCKED COMPLETING DRAIN FAIL INVALID_REG MAINTENANCE NOT_RESPONDING PERFCTRS REBOOT_ISSUED REBOOT_REQUESTED',
    'POWER POWERED_DOWN POWERING_DOWN POWERING_UP POWER_DOWN POWER_UP',
  ].flatMap(words => words.split(' '));
  const words = (text: string) => (text === '' ? [] : text.split(' ').sort());
  t.strictSame(
    written.flatMap(([versions]) => versions.split(' ')),
    [...VERSIONS],
  );
  const docs = readFileSync(join(ROOT, 'docs', 'slurm.md'), 'utf8');
  for (const [versions, bases, flags, hiding, signs] of written)
    for (const version of versions.split(' ')) {
      const inTable = (table: Readonly<Record<string, { from?: string; to?: string; isRequest?: true }>>) =>
        Object.entries(table)
          .filter(([, { from = '', to = '99', isRequest }]) => !isRequest && from <= version && version <= to)
          .map(([word]) => word)
          .sort();
      t.strictSame(inTable(FLAGS), words(flags), `${version}: flags`);
      t.strictSame(inTable(INSTEAD), words(hiding), `${version}: in place of a base state`);
      t.strictSame(inTable(SIGNS), words(signs), `${version}: signs`);
      for (const word of words(bases)) {
        t.equal(nodeState(word).base, word, `${version} ${word}`);
        t.equal(isSchedulable(nodeState(word)), ['IDLE', 'MIXED', 'ALLOCATED'].includes(word), `${version} ${word}`);
        t.notOk(savesPower(nodeState(word)), `${version} ${word}`);
      }
      for (const flag of words(flags)) {
        const state = nodeState(`IDLE+${flag}`);
        t.equal(state.base, 'IDLE', `${version} ${flag} is known`);
        t.equal(isSchedulable(state), !away.includes(flag), `${version} ${flag}: whether it gets jobs`);
        t.equal(savesPower(state), /^POWER/.test(flag), `${version} ${flag}: whether it saves power`);
      }
      for (const word of words(hiding)) {
        const state = nodeState(`${word}+CLOUD`);
        t.ok(state.base, `${version} ${word} is known`);
        t.equal(isSchedulable(state), word === 'RESERVED', `${version} ${word}: whether it gets jobs`);
        t.equal(savesPower(state), word === 'POWER_UP', `${version} ${word}: whether it saves power`);
      }
      for (const sign of words(signs)) {
        const state = nodeState(`IDLE${sign}+CLOUD`);
        t.equal(state.base, 'IDLE', `${version} ${sign} is known`);
        t.equal(isSchedulable(state), sign === '-', `${version} ${sign}: whether it gets jobs`);
        t.equal(savesPower(state), '!#%~'.includes(sign), `${version} ${sign}: whether it saves power`);
      }
      for (const word of words(`${bases} ${flags} ${hiding}`.trim()))
        t.ok(docs.includes(`\`${word}\``), `docs/slurm.md explains ${word}`);
    }
});

t.test('GPUs of a node', async t => {
  for (const [list, count] of [
    ['gpu:2', 2],
    ['gpu:a100:4(S:0-1),gpu:t4:1,craynetwork:4', 5],
    ['gpu:tesla:0(IDX:N/A)', 0],
    ['(null)', 0],
    ['mygpu:3', 0],
    [undefined, 0],
  ] as const)
    t.equal(gpusIn(list), count, String(list));
});

t.test('ten times the nodes take some ten times as long', async t => {
  const text = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      nodeRow(`node${i}`, 'IDLE', ` Reason=${'State=IDLE '.repeat(20)} [root@1]`),
    ).join('\n');
  const jobs = (count: number) =>
    Array.from(
      { length: count },
      (_, i) => `${NONCE}|${i}|${i}|RUNNING|anna|batch|4|1700000000|node[1-4]|${'x|\n'.repeat(20)}`,
    ).join('\n');
  const least = (run: () => unknown) => Math.max(1, leastCpuMs(run));
  for (const [what, make, read] of [
    ['nodes', text, parseNodes],
    ['jobs', jobs, (rows: string) => parseJobs(rows, NONCE)],
  ] as const) {
    const [small, large] = [make(400), make(4000)];
    t.equal(read(large).length, 4000);
    const [one, ten] = [least(() => read(small)), least(() => read(large))];
    t.ok(ten / one < 40, `${what}: ${ten.toFixed(0)} ms for 4,000, ${one.toFixed(1)} ms for 400`);
  }
  const evil = nodeRow('node1', 'IDLE', ` Reason=${' [a@1]'.repeat(50_000)}`);
  const honest = nodeRow('node1', 'IDLE', ` Reason=${' a@1 a'.repeat(50_000)} [root@1]`);
  t.ok(
    least(() => parseNodes(evil)) / least(() => parseNodes(honest)) < 100,
    'nor is there a text that takes for ever',
  );
});

// ---- names ----

const node = (name: string, host?: string, state = 'IDLE'): SchedulerNode => ({
  ...{ name, host, state, cpus: 4 },
  ...meaningOf(state),
});

t.test('NodeName, NodeHostName where it is one node, and what the administrator says', async t => {
  const cases: [
    what: string,
    nodes: SchedulerNode[],
    board: string[],
    exceptions: Record<string, string>,
    pairs: string,
  ][] = [
    ['the same', [node('n1'), node('n2')], ['n1', 'n2'], {}, 'n1=n1 n2=n2'],
    ['case', [node('N1')], ['n1'], {}, 'N1=n1'],
    ['two that differ in case alone', [node('N1'), node('n1')], ['n1'], {}, ''],
    ['by its host', [node('gpu-a', 'r1n7')], ['r1n7'], {}, 'gpu-a=r1n7'],
    ['a host that two share', [node('a', 'vm'), node('b', 'vm')], ['vm'], {}, ''],
    ['NodeName first', [node('a', 'b'), node('b', 'c')], ['a', 'b'], {}, 'a=a b=b'],
    ['names that are crossed', [node('a', 'b'), node('b', 'a')], ['b'], {}, 'b=b'],
    ['an exception', [node('a'), node('b')], ['a', 'x'], { b: 'x' }, 'a=a b=x'],
    ['one that the board does not know', [node('a')], ['a'], { a: 'x' }, ''],
    ['one that takes a name away', [node('a'), node('b')], ['a'], { b: 'a' }, 'b=a'],
    ['a name of every object', [node('constructor')], ['constructor'], {}, 'constructor=constructor'],
  ];
  for (const [what, nodes, board, exceptions, pairs] of cases) {
    const { boardName, nodeName, schedulerAlone, boardAlone } = match(nodes, board, exceptions);
    t.equal(
      [...boardName]
        .map(pair => pair.join('='))
        .sort()
        .join(' '),
      pairs,
      what,
    );
    t.equal(nodeName.size, boardName.size, 'both ways');
    t.equal(schedulerAlone.length, nodes.length - boardName.size, 'who is left is told');
    t.equal(boardAlone.length, board.length - boardName.size);
  }
  t.equal(
    namesText(match([node('N1'), node('b', 'x9')], ['n1', 'x9'])).replace(/^#.*\n/, ''),
    'b x9\n',
    'for the gate: more than case',
  );
});

t.test('the file of exceptions', async t => {
  t.strictSame({ ...parseExceptions('# ours\nGpu1 r1n7 # the first\n\n b\tx.y \n', 'f') }, { Gpu1: 'r1n7', b: 'x.y' });
  for (const [text, said] of [
    ['a', /^f:1: 'a' is not a pair; write NodeName boardname$/],
    ['a b c', /is not a pair/],
    ['\na B', /^f:2: 'B' is not a node name; write b$/],
    ['a b\na c', /^f:2: a is there twice/],
    ['a b\nc b', /^f:2: b is given to two nodes/],
    ['a[1-2] b', /is not a pair/],
  ] as const)
    t.throws(() => parseExceptions(text, 'f'), { message: said }, text);
  t.throws(() => parseExceptions('a', 'f'), InputError);
  fc.assert(
    fc.property(fc.string(), text => {
      try {
        parseExceptions(text, 'f');
      } catch (error) {
        return error instanceof InputError && !error.message.includes('\n');
      }
      return true;
    }),
  );
});

// ---- power saving ----

t.test('who may be silent because Slurm has powered it down', async t => {
  const node = (name: string, state: string) => ({ name, state, cpus: 1, ...meaningOf(state) });
  const saving = new PowerSaving();
  const look = (
    nowMs: number,
    nodes: SchedulerNode[],
    unseen: string[] | null = [],
    isUsed: boolean | null = true,
    power = saving,
  ) => {
    power.look({
      nodes,
      isUsed: isUsed ?? undefined,
      resumeMs: 60_000,
      unseen: unseen ? new Set(unseen) : undefined,
      nowMs,
    });
    return power.names.join();
  };
  t.equal(look(0, [node('n1', 'IDLE'), node('n2', 'IDLE+POWERED_DOWN')]), 'n2');
  t.equal(saving.text, '# power saving: on\n# has been in it: n2\nn2\n');
  t.equal(look(1000, [node('n1', 'IDLE')], ['n2']), 'n2', 'what is not shown at all is powered down');
  t.equal(look(2000, [node('n1', 'IDLE')], ['n2', 'c7']), 'n2,c7', 'also what was never shown');
  t.equal(look(3000, [node('n1', 'IDLE')], null), 'n2,c7', 'nothing is known of the board: as before');
  t.equal(look(4000, [node('n2', 'IDLE+POWERING_UP')], ['c7']), 'n2,c7');
  t.equal(look(5000, [node('n2', 'ALLOCATED')], ['c7']), 'n2,c7', 'it is up, and its sender not yet');
  t.equal(look(64_999, [node('n2', 'ALLOCATED')], ['c7']), 'n2,c7');
  t.equal(look(65_000, [node('n2', 'ALLOCATED')], ['c7']), 'c7', 'for ResumeTimeout');
  t.equal(saving.text, '# power saving: on\n# has been in it: c7\n# has been in it: n2\nc7\n');
  t.equal(look(66_000, [node('n2', 'ALLOCATED')], []), '', 'what is gone from board and Slurm is forgotten');
  t.equal(saving.text, '# power saving: on\n# has been in it: n2\n');

  const again = new PowerSaving('# power saving: on\n# has been in it: c[7-8],n2\nc7\n');
  t.equal(
    look(0, [node('n2', 'IDLE'), node('c7', 'IDLE')], ['c8'], true, again),
    'c7,c8',
    'a reader that starts again',
  );
  t.equal(look(60_000, [node('n2', 'IDLE'), node('c7', 'IDLE')], ['c8'], null, again), 'c8');
  t.equal(again.text, 'c8\n', 'whether there is power saving is unknown: an old file says nothing');

  const none = new PowerSaving();
  t.equal(look(0, [node('n1', 'IDLE')], ['login'], false, none), '', 'without power saving nothing is hidden');
  t.equal(none.text, '# power saving: off\n');
  look(0, [node('n1', 'DOWN+POWERED_DOWN')], [], false, none);
  t.equal(none.text, '# power saving: on\n# has been in it: n1\nn1\n', 'by hand');
  look(0, [node('a@b', 'IDLE+POWERED_DOWN')], ['n1'], true, none);
  t.notMatch(none.text, '@', 'the gate does not read such a name');
});

t.test('names on the board that Slurm does not show', async t => {
  const shown = (name: string, host = name) => `NodeName=${name} NodeHostName=${host} State=IDLE CPUTot=2\n`;
  let [slurm, board] = [shown('CN7', 'cn007'), ['cn007']];
  const calls: Calls = {
    nodes: async () => slurm,
    jobs: async () => '',
    config: async () => 'SuspendProgram = /bin/true\nResumeTimeout = 0 sec\n',
    topology: async () => '',
  };
  const reader = { pieces: () => [{ names: () => board, stateOf: () => 'silent' }] } as unknown as BoardReader;
  const asked = { scheduler: slurmOf(calls), exceptions: {}, domain: undefined };
  const begin = (left = {}) => new Poll(reader, asked, 'root', left);
  const lines = (text = '') => text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
  const round = async (poll: Poll) => {
    const { skip, names } = await poll.round(() => 0);
    return { skip: lines(skip), names: lines(names) };
  };
  const poll = begin();
  t.same(await round(poll), { skip: [], names: ['CN7 cn007'] });

  board = ['cn007', 'cn7'];
  t.same(await round(poll), { skip: ['cn007'], names: [] }, 'its sender has another name now: the old one is nobody');
  poll.change({ ...asked, exceptions: { CN7: 'b7' } });
  board = ['cn007', 'b7'];
  t.same(await round(poll), { skip: ['cn007'], names: ['CN7 b7'] }, 'so has the file of exceptions');
  slurm = shown('n1');
  t.same(await round(poll), { skip: ['CN7', 'cn007'], names: ['CN7 b7'] }, 'and Slurm shows it no more');

  slurm = shown('CN7', 'cn007');
  board = ['cn007'];
  const asleep = begin();
  await round(asleep);
  slurm = shown('n1');
  const left = await asleep.round(() => 0);
  const hidden = { skip: ['CN7'], names: ['CN7 cn007'] };
  t.same({ skip: lines(left.skip), names: lines(left.names) }, hidden);
  t.same(await round(begin(left)), hidden, 'a reader that starts again knows what it was called');
  t.same(
    await round(begin({ skip: 'n[1-\nCN7', names: 'n1 a\nn1 b\n' })),
    { skip: ['cn007'], names: [] },
    'files of others',
  );
});

t.test('switches: the lowest ones, whole rows, and no node behind two', async t => {
  const told = (...rows: string[]) =>
    Object.fromEntries(parseTopology(rows.join('\n'), new Set(['n1', 'n2', 'n3', 'CN7'])) ?? []);
  const leaf = (name: string, nodes: string) => `SwitchName=${name} Level=0 LinkSpeed=1 Nodes=${nodes} `;
  t.same(
    told(
      'SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-3],CN7 Switches=leaf[1-2]',
      leaf('leaf1', 'n[1-2]'),
      leaf('leaf2', 'n3,CN7'),
    ),
    { n1: 'leaf1', n2: 'leaf1', n3: 'leaf2', CN7: 'leaf2' },
  );
  t.same(told(leaf('a', 'n[1-2]'), leaf('b', 'n[2-3]')), { n1: 'a', n3: 'b' });
  t.same(told(leaf('a', 'n[1-'), leaf('b', 'n2')), { n2: 'b' }, 'half a row');
  t.same(told(leaf('a', 'n[1-9999999]'), leaf('b', 'n[1-2]')), { n1: 'b', n2: 'b' }, 'more than a cluster has');
  t.same(told(leaf('a', 'a[1-600000]'), leaf('b', 'b[1-600000]')), {});
  t.same(told('No topology information available', 'SwitchName=x Level=0', ''), {});
  const calls: Calls = {
    nodes: async () => 'NodeName=n1 State=IDLE CPUTot=2\nNodeName=n2 State=IDLE CPUTot=2\n',
    jobs: async () => '',
    config: async () => config,
    topology: async () => {
      if (answer === undefined) throw new NoAnswer('no');
      return answer;
    },
  };
  let config = 'TopologyPlugin = topology/tree\n';
  let answer: string | undefined = leaf('leaf1', 'n1');
  const scheduler = slurmOf(calls);
  const switches = async () => (await scheduler.nodes()).list.map(node => node.switch);
  t.same(await switches(), [undefined, undefined], 'it has not been asked');
  await scheduler.about();
  t.same(await switches(), ['leaf1', undefined]);
  answer = undefined;
  await scheduler.about();
  t.same(await switches(), ['leaf1', undefined], 'without an answer, those of before');
  config = 'TopologyPlugin = topology/none\n';
  await scheduler.about();
  t.same(await switches(), [undefined, undefined]);
});

// ---- where the two disagree ----

const NOW_S = 1_700_000_100;
const running = (nodes: string, more: Partial<SchedulerJob> = {}): SchedulerJob => ({
  id: '7',
  state: 'RUNNING',
  user: 'anna',
  partition: 'batch',
  cpus: 4,
  start_s: NOW_S - 60,
  nodes,
  name: 'x',
  ...more,
});

t.test('when Slurm and the board disagree', async t => {
  const cases: [what: string, state: string, used: number, jobs: SchedulerJob[], seen: SeenOnBoard, kinds: string][] = [
    ['silent, and it would get jobs', 'IDLE', 0, [], { state: 'silent' }, 'silent_schedulable'],
    ['silent, and drained', 'IDLE+DRAIN', 0, [], { state: 'silent' }, ''],
    ['silent, in a word that is not known', 'IDLE+NEW', 0, [], { state: 'silent' }, ''],
    ['silent, switched off', 'IDLE+POWERED_DOWN', 0, [], { state: 'silent' }, ''],
    ['silent, in a job', 'ALLOCATED', 4, [running('n1')], { state: 'silent' }, 'silent_schedulable job_on_silent'],
    ['silent, in a job, drained', 'ALLOCATED+DRAIN', 4, [running('n1')], { state: 'silent' }, 'job_on_silent'],
    ['a young job', 'ALLOCATED+DRAIN', 4, [running('n1', { start_s: NOW_S - 29 })], { state: 'silent' }, ''],
    ['one that ends', 'ALLOCATED+DRAIN', 4, [running('n1', { state: 'COMPLETING' })], { state: 'silent' }, ''],
    ['a node that ends one', 'IDLE+COMPLETING', 4, [], { state: 'silent' }, ''],
    ['live, and down', 'DOWN', 0, [], { state: 'live' }, 'live_down'],
    ['uncertain', 'DOWN', 0, [], { state: 'uncertain' }, ''],
    ['never', 'IDLE', 0, [], { state: 'never' }, ''],
    ['unknown', 'IDLE', 0, [], { state: 'unknown' }, ''],
    ['idle in a job', 'ALLOCATED', 4, [running('n1')], { state: 'live', cpus: 8, cpusBusy: 0.1 }, 'idle_in_job'],
    ['its GPUs are not', 'ALLOCATED', 4, [running('n1')], { state: 'live', cpus: 8, cpusBusy: 0.1, gpusBusy: 1 }, ''],
    ['busy in a job', 'ALLOCATED', 4, [running('n1')], { state: 'live', cpus: 8, cpusBusy: 3 }, ''],
    ['suspended', 'ALLOCATED', 4, [running('n1', { state: 'SUSPENDED' })], { state: 'live', cpus: 8, cpusBusy: 0 }, ''],
    ['not measured', 'ALLOCATED', 4, [running('n1')], { state: 'live' }, ''],
    ['busy without one', 'IDLE', 0, [], { state: 'live', cpus: 8, cpusBusy: 1.2 }, 'busy_without_job'],
    ['where none starts', 'IDLE', 0, [], { state: 'live', cpus: 8, cpusBusy: 1.2 }, ''],
    ['a little', 'IDLE', 0, [], { state: 'live', cpus: 8, cpusBusy: 0.7 }, ''],
    ['a little of much', 'IDLE', 0, [], { state: 'live', cpus: 128, cpusBusy: 8 }, ''],
  ];
  for (const [what, state, cpus_used, jobs, seen, kinds] of cases) {
    const differences = new Differences();
    const nodes = [{ ...node('N1', undefined, state), cpus_used, no_jobs: what === 'where none starts' || undefined }];
    const look = {
      nodes,
      jobs: jobs.map(job => ({ ...job, nodes: 'N1' })),
      matched: match(nodes, ['n1']),
      seen: () => seen,
      nowS: NOW_S,
    };
    for (let i = 1; i < LOOKS; i++) t.strictSame(differences.look(look, 1000 * i), [], `${what}: one look is none`);
    const found = differences.look(look, 9000);
    t.equal(found.map(({ kind }) => kind).join(' '), kinds, what);
    for (const difference of found) t.match(difference, { node: 'n1', node_name: 'N1', since_ms: 1000 });
    differences.look({ ...look, seen: () => undefined }, 10_000);
    t.strictSame(differences.look(look, 11_000), [], 'and it begins anew');
  }
});
