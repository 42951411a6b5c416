// The bridge's rules, each as a row: what it drains, what it gives back, and what it leaves, depending on the
// administrator's settings, Slurm and the board. Then the same over time, in a cluster in memory: restarts, kills in
// the middle of an act, and an administrator who intervenes.
//
// @seconds 15
// @whole
// @days 3

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { markedReason } from '../../src/schedulerfile/drains.js';
import { match } from '../../src/schedulerfile/matching.js';
import { ORDERS, OrdersFollower, ordersText } from '../../src/schedulerfile/orderfile.js';
import type { OrderedNode, SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { Awaking } from '../../src/schedulers/bridge/awaking.js';
import { lookAt, type SeenLink, type SeenNode } from '../../src/schedulers/bridge/boardlook.js';
import { statusLines, statusOf } from '../../src/schedulers/bridge/bridgestatus.js';
import type { Settings } from '../../src/schedulers/bridge/context.js';
import { JournalFile, Only, openFolder, readJournal, readLines } from '../../src/schedulers/bridge/journal.js';
import { type BrakeCount, brakeChanges, brakeText, limits, released } from '../../src/schedulers/bridge/massbrake.js';
import { Ledger } from '../../src/schedulers/bridge/ownership.js';
import type { Claim, Timed } from '../../src/schedulers/bridge/records.js';
import {
  countsOf,
  FATAL,
  objectionToDrain,
  type Policy,
  returnOf,
  silenceOf,
  waitToReturn,
  withoutDoubtful,
} from '../../src/schedulers/bridge/rules.js';
import { incidentId } from '../../src/schedulers/bridge/tick.js';
import { parseBootTime, parseListedNodes, parsePrimary } from '../../src/schedulers/slurm/answers.js';
import { lineOf, orderedNode, slurmOrders } from '../../src/schedulers/slurm/orders.js';
import { replaceFile } from '../../src/service/replacefile.js';
import { openWriter } from '../../src/shm/writer.js';
import { monotonicNs } from '../kit/clocks.js';
import { type MadeBoard, madeBoard } from '../kit/madeboard.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { run, start } from '../kit/program.js';
import { writeCommand } from '../kit/slurmstandin.js';
import { until } from '../kit/until.js';
import { SEED, WHOLE } from '../kit/whole.js';
import { Cluster, ETH0, POLICY, seenNode, silentNode, situationOf, slurmNode } from './bridgemodel.js';

t.comment(`SEED=${SEED}`);

t.setTimeout(600_000);

const DRAINED = 'drained';

// ---- whether to drain ----

interface Row {
  seen?: Partial<SeenNode>;
  state?: string;
  slurm?: Partial<OrderedNode>;
  policy?: Partial<Policy>;
  links?: [number, SeenLink][];
  trouble?: string;
  /** In seconds. */
  silent?: number;
}

const trouble = (what: 'dark' | 'down', minutes: number) => ({ what, forMs: minutes * 60_000 });

const TO_DRAIN: [what: string, row: Row, answer: typeof DRAINED | 'early' | 'theirs' | RegExp][] = [
  // Who is it?
  ['silent for long enough', {}, DRAINED],
  ['not for long enough', { silent: 29 }, 'early'],
  ['live', { seen: { state: 'live' } }, 'early'],
  ['uncertain', { seen: { state: 'uncertain' } }, 'early'],
  ['left', { seen: { state: 'left' } }, 'early'],
  ['never', { seen: { state: 'never' } }, 'early'],
  ['unknown', { seen: { state: 'unknown' } }, 'early'],
  ['the board is no evidence', { trouble: 'it is stalled' }, /^it is stalled$/],
  // Slurm's state.
  ...['IDLE', 'MIXED', 'ALLOCATED'].map((state): [string, Row, typeof DRAINED] => [state, { state }, DRAINED]),
  ...['NOT_RESPONDING', 'COMPLETING', 'PLANNED', 'RESERVED', 'CLOUD', 'DYNAMIC_NORM'].map(
    (flag): [string, Row, typeof DRAINED] => [`${flag} is no hindrance`, { state: `IDLE+${flag}` }, DRAINED],
  ),
  ['as sinfo writes it', { state: 'MIXED*' }, DRAINED],
  ...['DRAIN', 'FAIL'].map((flag): [string, Row, 'theirs'] => [
    `an administrator's ${flag}`,
    { state: `IDLE+${flag}`, slurm: { reason: 'disk' } },
    'theirs',
  ]),
  [
    'an administrator who copies our reason',
    { state: 'IDLE+DRAIN', slurm: { reason: 'beoboard: silent since 1 #a' } },
    'theirs',
  ],
  ['an administrator has set it DOWN', { state: 'DOWN', slurm: { reason: 'fan' } }, 'theirs'],
  [
    'Slurm has set it DOWN',
    { state: 'DOWN+NOT_RESPONDING', slurm: { reason: 'Not responding' } },
    /^it is DOWN\+NOT_RESPONDING/,
  ],
  ['a reason alone', { slurm: { reason: 'watch this one' } }, 'theirs'],
  ...'MAINTENANCE REBOOT_REQUESTED REBOOT_ISSUED REBOOT_CANCEL POWERED_DOWN POWERING_UP POWERING_DOWN POWER_DOWN'
    .split(' ')
    .map((flag): [string, Row, RegExp] => [
      flag,
      { state: `IDLE+${flag}` },
      new RegExp(`^it is IDLE\\+${flag} in Slurm$`),
    ]),
  ...['INVALID_REG', 'BLOCKED', 'UNDRAIN', 'PERFCTRS', 'DYNAMIC_FUTURE'].map((flag): [string, Row, RegExp] => [
    `${flag}: hands off`,
    { state: `IDLE+${flag}` },
    /^it is /,
  ]),
  ...['FUTURE', 'UNKNOWN', 'ERROR'].map((state): [string, Row, RegExp] => [state, { state }, /^it is /]),
  ...['LAZY', 'IDLE+NEW_IN_27', 'idle', '', '?'].map((state): [string, Row, RegExp] => [
    `a word that is not known: '${state}'`,
    { state },
    /has an unknown word$/,
  ]),
  [
    'its slurmd has started since',
    { slurm: { daemon_start_s: Date.UTC(2026, 10, 20, 12) / 1000 } },
    /^its slurmd has started since its last report/,
  ],
  // The board's state.
  ['reports that prove nothing', { seen: { isProved: false } }, /^its reports are not signed/],
  ['the same, taken all the same', { seen: { isProved: false }, policy: { unsigned: true } }, DRAINED],
  // Links.
  ['its link is dark', { links: [[1, { name: 'eth0', trouble: trouble('dark', 60) }]] }, /^its link eth0 is dark$/],
  ['its link is down', { links: [[1, { name: 'eth0', trouble: trouble('down', 60) }]] }, /^its link eth0 is down$/],
  ['nothing is known about its link', { links: [[2, { name: 'eth1' }]] }, /^nothing is known about its link$/],
  [
    'another link is down',
    {
      links: [
        [1, ETH0],
        [2, { name: 'ib0', trouble: trouble('down', 9.9) }],
      ],
    },
    /^link ib0 is down, for less/,
  ],
  [
    'another link is dark',
    {
      links: [
        [1, ETH0],
        [2, { name: 'ib0', trouble: trouble('dark', 1) }],
      ],
    },
    /^link ib0 is dark, for less/,
  ],
  [
    'another one has been for long',
    {
      links: [
        [1, ETH0],
        [2, { name: 'ib0', trouble: trouble('down', 10) }],
      ],
    },
    DRAINED,
  ],
  // Slurm as a second witness.
  [
    'Slurm still hears it',
    { state: 'MIXED', policy: { witness: true } },
    /^it has jobs, and Slurm still hears from it$/,
  ],
  ['Slurm does not hear it either', { state: 'MIXED+NOT_RESPONDING', policy: { witness: true } }, DRAINED],
  ['it has no jobs', { state: 'IDLE', policy: { witness: true } }, DRAINED],
  // Problems.
  ['unhealthy, and nobody asked', { seen: { state: 'live', problems: ['bad_health'] } }, 'early'],
  ['unhealthy', { seen: { state: 'live', problems: ['bad_health'] }, policy: { drainUnhealthy: FATAL } }, DRAINED],
  [
    'a minor problem',
    { seen: { state: 'live', problems: ['root_full', 'ecc'] }, policy: { drainUnhealthy: FATAL } },
    'early',
  ],
  [
    'unhealthy, and drained by others',
    { seen: { state: 'live', problems: ['held'] }, state: 'IDLE+DRAIN', policy: { drainUnhealthy: FATAL } },
    'theirs',
  ],
  [
    'unhealthy, and not proved',
    { seen: { state: 'live', problems: ['held'], isProved: false }, policy: { drainUnhealthy: FATAL } },
    /are not signed/,
  ],
  [
    'unhealthy, behind a dark link',
    {
      seen: { state: 'live', problems: ['held'] },
      policy: { drainUnhealthy: FATAL },
      links: [[1, { name: 'eth0', trouble: trouble('dark', 1) }]],
    },
    DRAINED,
  ],
];

t.test('whether a node is drained', async t => {
  for (const [what, row, answer] of TO_DRAIN) {
    const seen = silentNode('n1', row.silent ?? 30, row.seen);
    const node = slurmNode('n1', row.state, row.slurm);
    const situation = situationOf([seen], [node], {
      policy: { ...POLICY, ...row.policy },
      board: { trouble: row.trouble, ...(row.links && { links: new Map(row.links) }) },
    });
    const left = objectionToDrain(seen, node, situation);
    if (answer === DRAINED) t.equal(left, undefined, `${what}: ${left?.why}`);
    else if (answer === 'early') t.ok(left?.isEarly, `${what}: ${left?.why}`);
    else if (answer === 'theirs') t.ok(left?.isTheirs, `${what}: ${left?.why}`);
    else {
      t.match(left?.why, answer, what);
      t.notOk(left?.isTheirs || left?.isEarly, `${what}: and it is told`);
    }
  }
});

// ---- whether to give back ----

interface ReturnRow {
  seen?: Partial<SeenNode>;
  state?: string;
  slurm?: Partial<OrderedNode>;
  claim?: Partial<Claim>;
  policy?: Partial<Policy>;
  trouble?: string;
}

const OURS = 'beoboard: silent since 11:59:00Z #abcdef';
const LOST = { incident: 'unhealthy 00000000000000aa gpu_lost' } as const;
const BOOTED = { bootId: '00000000000000bb' };

const TO_RETURN: [what: string, row: ReturnRow, answer: string | RegExp][] = [
  ['live', {}, 'undrain'],
  ['live, with jobs', { state: 'MIXED+DRAIN' }, 'undrain'],
  ['live, booted', { seen: BOOTED }, 'undrain'],
  ['silent', { seen: { state: 'silent' } }, 'early'],
  ['uncertain', { seen: { state: 'uncertain' } }, 'early'],
  ['left', { seen: { state: 'left' } }, 'early'],
  ['the board is no evidence', { trouble: 'it is stalled' }, /stalled/],
  ['its slurmd does not respond', { state: 'IDLE+DRAIN+NOT_RESPONDING' }, 'early'],
  ["an administrator's reason", { slurm: { reason: 'disk' } }, 'early'],
  ['a reason longer than ours', { slurm: { reason: `${OURS} and a disk` } }, 'early'],
  ['no drain', { state: 'IDLE' }, 'early'],
  ['may not have been done', { claim: { phase: 'meant' } }, 'early'],
  [
    'it is being resumed',
    { claim: { giving: { act: 'undrain', sinceMs: Date.UTC(2026, 10, 20, 11, 59, 50) } } },
    'early',
  ],
  ['that was long ago', { claim: { giving: { act: 'undrain', sinceMs: Date.UTC(2026, 10, 20, 11, 59) } } }, 'undrain'],
  ['reports that prove nothing', { seen: { isProved: false } }, /are not signed/],
  ['unhealthy', { seen: { problems: ['held'] }, policy: { drainUnhealthy: FATAL } }, 'early'],
  [
    'a problem that is not measured any more',
    { seen: { unsettled: ['gpu_lost'] }, policy: { drainUnhealthy: FATAL } },
    /^gpu_lost is not measured: .*, or after beoboard clear -w n1$/,
  ],
  ['that is no reason to drain', { seen: { unsettled: ['gpu_lost'] } }, 'undrain'],
  ['that was why it was drained', { seen: { unsettled: ['gpu_lost'] }, claim: LOST }, /^gpu_lost is not measured/],
  [
    'which nobody remembers, and nothing measures',
    { seen: { unknown: ['gpu_lost'] }, claim: LOST },
    /^gpu_lost is not measured: .* scontrol update nodename=n1 state=resume$/,
  ],
  ['which was measured as absent', { claim: LOST }, 'undrain'],
  ['booted, and nothing measures it', { seen: { ...BOOTED, unknown: ['gpu_lost'] }, claim: LOST }, /^gpu_lost is not/],
  ['booted, and it is measured as absent', { seen: BOOTED, claim: LOST }, 'undrain'],
  ['booted, and another one is not measured', { seen: { ...BOOTED, unknown: ['gpu_errors'] }, claim: LOST }, 'undrain'],
  ...['FAIL', 'MAINTENANCE', 'REBOOT_ISSUED', 'POWERED_DOWN', 'INVALID_REG'].map(
    (flag): [string, ReturnRow, RegExp] => [
      flag,
      { state: `IDLE+DRAIN+${flag}` },
      new RegExp(`^it is IDLE\\+DRAIN\\+${flag}`),
    ],
  ),
  ['a word that is not known', { state: 'IDLE+DRAIN+NEW_IN_27' }, /^it is IDLE\+DRAIN\+NEW_IN_27/],
  ['FUTURE', { state: 'FUTURE+DRAIN' }, /^it is FUTURE/],
  ['DOWN', { state: 'DOWN+DRAIN' }, 'undrain: it stays DOWN in Slurm: resume it yourself'],
  ['DOWN, booted', { state: 'DOWN+DRAIN', seen: BOOTED }, 'undrain: it stays DOWN'],
  ['DOWN, its slurmd does not respond', { state: 'DOWN+DRAIN+NOT_RESPONDING' }, 'early'],
];

t.test('whether a node is given back, and how', async t => {
  for (const [what, row, answer] of TO_RETURN) {
    const seen = seenNode('n1', row.seen);
    const node = slurmNode('n1', row.state ?? 'IDLE+DRAIN', { reason: OURS, ...row.slurm });
    const claim: Claim = {
      ...{ id: 'abcdef', node: 'n1', board: 'n1', incident: 'silent 00000000000000aa 5', bootId: '00000000000000aa' },
      ...{ reason: OURS, phase: 'held', sinceMs: 0, ...row.claim },
    };
    const more = { policy: { ...POLICY, ...row.policy }, board: { trouble: row.trouble } };
    const way = returnOf(claim, seen, node, situationOf([seen], [node], more));
    if (answer instanceof RegExp) t.match(way.why, answer, what);
    else if (answer === 'early') t.ok('isEarly' in way && way.isEarly, `${what}: ${way.why}`);
    else {
      const [act, why = ''] = answer.split(': ');
      t.match(way, { act }, what);
      t.ok(way.why.includes(why), `${what}: ${way.why}`);
    }
  }
  t.same(
    [0, 1, 2, 3, 4, 5, 6, 50].map(returns => waitToReturn(POLICY, returns) / 60_000),
    [2, 4, 8, 16, 32, 60, 60, 60],
    'twice as long for each time, an hour at most',
  );
  t.equal(waitToReturn({ ...POLICY, resumeAfterMs: 7_200_000 }, 3), 7_200_000);
});

// ---- brakes ----

t.test('what counts as silent', async t => {
  const rows: [what: string, seen: SeenNode, node: OrderedNode, silent: number][] = [
    ['silent', silentNode('n1', 5), slurmNode('n1'), 1],
    ['live', seenNode('n1'), slurmNode('n1'), 0],
    ['uncertain', seenNode('n1', { state: 'uncertain' }), slurmNode('n1'), 0],
    ['in power saving', silentNode('n1', 5), slurmNode('n1', 'IDLE+POWERED_DOWN'), 0],
    ['drained before', silentNode('n1', 5), slurmNode('n1', 'IDLE+DRAIN', { reason: 'x', reason_s: 1 }), 0],
    [
      'drained since',
      silentNode('n1', 5),
      slurmNode('n1', 'IDLE+DRAIN', { reason: 'x', reason_s: Date.UTC(2026, 10, 20, 12) / 1000 }),
      1,
    ],
    ['set DOWN before', silentNode('n1', 5), slurmNode('n1', 'DOWN', { reason: 'x', reason_s: 1 }), 0],
    ['nobody says when', silentNode('n1', 5), slurmNode('n1', 'DOWN'), 1],
    ['Slurm does not know it', silentNode('n1', 5), slurmNode('other'), 0],
  ];
  const ordered = (row: string) => orderedNode(parseListedNodes(row)[0] as SchedulerNode);
  for (const user of ['root', 'jdoe@ad.example.com', 'AD\\jdoe', 'AD\\john doe', 'x]y', '(null)', '1500']) {
    const row = `NodeName=n1 Arch=x86_64 CPUTot=4 State=IDLE+DRAIN Reason=bad dimm [${user}@1000000000]`;
    rows.push([`drained before by ${user}`, silentNode('n1', 5), ordered(row), 0]);
    t.match(
      objectionToDrain(silentNode('n1', 5), ordered(row.replace('+DRAIN', '')), situationOf([], [])),
      { why: 'it has a reason in Slurm', isTheirs: true },
      `a reason of ${user} alone`,
    );
  }
  for (const [what, seen, node, silent] of rows)
    t.equal(countsOf(situationOf([seen], [node])).find(({ brake }) => brake === 'silent')?.value, silent, what);
  const many = Array.from({ length: 20 }, (_, i) => `r${i < 10 ? 1 : 2}n${i}`);
  const forged = Array.from({ length: 900 }, (_, i) => silentNode(`forged${i}`, 20));
  const seen = many.map((name, i) => (i < 4 ? silentNode(name, i < 3 ? 100 : 20) : seenNode(name)));
  const policy = { ...POLICY, groupOf: (name: string) => /^r\d/.exec(name)?.[0] };
  const slurm = many.map(name => slurmNode(name));
  const counts = countsOf(situationOf([...seen, ...forged], slurm, { policy }));
  t.same(
    counts.map(({ brake, value, limit }) => `${brake} ${value} ${limit}`),
    ['silent 4 3', 'new 1 3', 'unhealthy 0 3', 'group link eth0 4 10', 'group r1 4 5', 'group r2 0 5'],
    'names that nobody knows in Slurm count for nothing',
  );
  t.same([10, 31, 100, 10_000].map(limits.silent), [3, 3.1, 10, 1000]);
  t.same([10, 1000, 10_000].map(limits.new), [3, 10, 50]);
  t.same([8, 40, 100, 10_000].map(limits.own), [2, 2, 5, 500]);
  t.same([2, 4, 40].map(limits.group), [2, 2, 20]);
});

t.test('a brake is on until what it counts is below half', async t => {
  const ledger = new Ledger();
  const count = (value: number): BrakeCount[] => [{ brake: 'silent', value, limit: 10 }];
  const steps: [value: number, on: boolean, release?: boolean][] = [
    ...([
      [10, false],
      [11, true],
      [10, true],
      [5, true],
      [4, false],
      [10, false],
    ] as [number, boolean][]),
    ...([
      [15, true],
      [15, false, true],
      [25, false],
      [26, true],
      [20, true],
      [19, false],
    ] as [number, boolean, boolean?][]),
    // The release took the 15 of that moment for granted, which made the limit 25. Once the count has fallen, it is 10
    // again.
    ...([
      [4, false],
      [11, true],
      [0, false],
    ] as [number, boolean][]),
  ];
  for (const [value, on, release] of steps) {
    const changes = release ? released(count(value), ledger.brakes) : brakeChanges(count(value), ledger.brakes);
    for (const change of changes) ledger.apply({ what: 'brake', ...change, time_ms: 1 });
    t.equal(ledger.brakes.get('silent')?.on ?? false, on, `${value}`);
  }
  ledger.apply({ what: 'brake', brake: 'group r1', on: true, value: 9, limit: 5, accepted: 0, time_ms: 1 });
  t.match(brakeChanges(count(0), ledger.brakes), [{ brake: 'group r1', on: false }], 'a group that is gone');
  t.equal(brakeText('silent', { value: 12, limit: 10, accepted: 0 }), '12 nodes are silent, more than 10');
  t.match(
    brakeText('group r1', { value: 30, limit: 10, accepted: 15 }),
    /^30 nodes of r1 are silent, more than 10 beyond the 15/,
  );
});

t.test('two nodes of the board that may be the same node of Slurm', async t => {
  const slurm = [
    slurmNode('Gpu1', 'IDLE', { host: 'r1n7' }),
    slurmNode('a', 'IDLE', { host: 'vm' }),
    slurmNode('b', 'IDLE', { host: 'vm' }),
  ];
  const map = new Map(slurm.map(node => [node.name, node] as const));
  const pairs = (board: string[], exceptions: Record<string, string> = {}) => {
    const matched = match(slurm, board, exceptions);
    return [
      ...withoutDoubtful(matched, map, new Map(board.map(name => [name, 1])), exceptions).boardName.keys(),
    ].join();
  };
  t.equal(pairs(['r1n7', 'a', 'b', 'vm']), 'a,b,Gpu1');
  t.equal(pairs(['r1n7', 'gpu1', 'a']), 'a', 'one of them was invented: it is neither');
  t.equal(pairs(['r1n7', 'gpu1', 'a'], { Gpu1: 'r1n7' }), 'Gpu1,a', 'the administrator knows');
});

t.test('a node of Slurm without a unique counterpart on the board is logged once', async t => {
  const cluster = new Cluster(8);
  const { slurm } = cluster;
  const nodes = async () => {
    const { n6: _, n7: __, n8: ___, ...rest } = Object.fromEntries(await slurm.nodes());
    const odd = [slurmNode('N7', 'IDLE', { host: 'n8' }), slurmNode('CN-7'), slurmNode('All', 'IDLE', { host: 'n6' })];
    return new Map([...Object.values(rest), ...odd].map(node => [node.name, node] as const));
  };
  Object.defineProperty(cluster, 'slurm', { value: { ...slurm, nodes } });
  for (const name of ['n6', 'n7']) cluster.kill(name);
  await cluster.pass(120);
  t.same(cluster.orders, []);
  const told = cluster.log.filter(line => line.startsWith('left alone: '));
  t.same(told.sort(), [
    'left alone: All: scontrol does not take this name for one node',
    'left alone: CN-7: the board has no node of that name; see slurm-names',
    'left alone: N7: two nodes on the board may be this one; see slurm-names',
  ]);
});

// ---- orders to Slurm, and its answers ----

t.test('orders, and answers', async t => {
  t.equal(
    lineOf({ act: 'drain', node: 'n1', reason: OURS }),
    `scontrol update nodename=n1 state=drain reason='${OURS}'`,
  );
  t.equal(parsePrimary('Slurmctld(primary) at vm is UP\n'), 'vm');
  t.equal(parsePrimary('Slurmctld(primary) at a is UP\nSlurmctld(backup) at b is DOWN\n'), 'a');
  for (const text of [
    '',
    'Slurmctld(primary) at a is DOWN\nSlurmctld(backup) at b is UP\n',
    'x Slurmctld(primary) at a is UP',
    // Lines end with \n only.
    'Slurmctld(primary) at a is UP\r\n',
  ])
    t.equal(parsePrimary(text), undefined, text);
  t.equal(parseBootTime(readFileSync(join(ROOT, 'test/fixtures/slurm/config-22.05.txt'), 'utf8')), 1_795_420_944);
  for (const text of ['', 'BOOT_TIME = Unknown', 'x BOOT_TIME = 1']) t.equal(parseBootTime(text), undefined);
  const [first] = parseListedNodes(
    'NodeName=a Arch=x CPUTot=4 State=IDLE SlurmdStartTime=1795434864 Comment=SlurmdStartTime=9\n',
  );
  t.match(first, { name: 'a', daemon_start_s: 1_795_434_864 });

  const own = folder(t);
  const scontrol = join(own, 'scontrol');
  writeCommand(scontrol, '#!/bin/sh\necho "Slurmctld(primary) at Ctl.site is UP"; exit 1\n');
  for (const [host, said] of [
    ['ctl', undefined],
    ['CTL.site', undefined],
    ['ctl.other', /^Slurm's primary controller is Ctl\.site, and this is ctl\.other$/],
    ['ctl2', /^Slurm's primary controller is Ctl\.site/],
  ] as const) {
    const why = await slurmOrders({ folder: own }, host).notPrimary();
    if (said === undefined) t.equal(why, undefined, host);
    else t.match(why, said, host);
  }
  const undrain = { act: 'undrain', node: 'n1', reason: '' } as const;
  t.match(await slurmOrders({ folder: own }).prepare().order(undrain), { rc: 1 }, 'it ended without reading its order');
  t.match(
    await slurmOrders({ folder: folder(t) })
      .prepare()
      .order(undrain),
    { rc: null, said: /^scontrol was not found/ },
  );
  for (const [row, cpus] of [
    ['NodeName=n1 Arch=x CPUTot=4 State=IDLE+DRAIN\\n', 4],
    ['NodeName=n1 Arch=x CPUTot=4 State=IDLE', undefined],
    ['NodeName=n2 Arch=x CPUTot=4 State=IDLE\\nNodeName=n1 Arch=x CPUTot=4', undefined],
  ] as const) {
    writeCommand(scontrol, `#!/bin/sh\nprintf '${row}'\n`);
    const asked = slurmOrders({ folder: own }).node('n1');
    if (cpus === undefined) await t.rejects(asked, { message: 'scontrol ended in the middle of a line' });
    else t.match(await asked, { cpus, held: true });
  }
  const heard = join(own, 'heard');
  writeCommand(scontrol, `#!/bin/sh\necho "$# words" >>${heard}\ncat >>${heard}\n`);
  const prepared = slurmOrders({ folder: own }).prepare();
  t.same(await prepared.order({ act: 'drain', node: 'n1', reason: OURS }), { rc: 0, said: '' });
  await slurmOrders({ folder: own }).prepare().drop();
  t.equal(
    readFileSync(heard, 'utf8'),
    `0 words\nupdate nodename=n1 state=drain reason="${OURS}"\n0 words\n`,
    'an order is read by a command that has started before, and one that is dropped is none',
  );
});

t.test('the board as the bridge sees it', async t => {
  const record = { accepted: 77, order_proved: 1 };
  const nodes = [
    { name: 'live', age: 0.3, record },
    { name: 'dead', age: 60, record },
    { name: 'slow', age: 60, record, report: { interval_ms: 5000 } },
    { name: 'rare', age: 700, record, report: { interval_ms: 600_000 } },
    { name: 'dark', age: 60, link: 2 },
    { name: 'never' },
  ];
  const links = { 1: {}, 2: { dark: { since: 50, nodes: 2 } }, 3: { state: [], changed: 700 } };
  const header = { longest_interval_ms: 60_000n };
  const look = lookAt([madeBoard(nodes, { links, header })], () => 3);
  t.equal(look.trouble, undefined);
  t.match(look.nodes.get('dead'), {
    state: 'silent',
    reports: 77,
    isProved: true,
    bootId: '0000000000000007',
    link: 1,
  });
  t.equal(Math.floor((look.nodes.get('dead')?.silentForMs ?? 0) / 100), 494, 'as far as its link was heard');
  t.equal(Math.floor((look.nodes.get('slow')?.silentForMs ?? 0) / 100), 74, 'its limits are five times as long');
  t.equal(Math.floor((look.nodes.get('rare')?.silentForMs ?? 0) / 100), 699, 'its limits are those of a minute');
  t.match(look.nodes.get('dark'), { isProved: false, link: 2 });
  t.match(look.nodes.get('never'), { state: 'never', bootId: '' });
  t.match(look.links.get(2), { trouble: { what: 'dark', forMs: 50_000 } });
  t.match(look.links.get(3), { trouble: { what: 'down', forMs: 700_000 } });
  t.equal(look.links.get(1)?.trouble, undefined);
  for (const [made, why] of [
    [{ heartbeat: 10 }, /the receiver is stalled/],
    [{ heartbeat: -10 }, /another clock/],
    [{ state: ['retired'] }, /retired/],
    [{ listened: 10 }, /not listened for long enough/],
    [{ header: { mirror_masters: 1 } }, /^the board is a mirror of another master's: run the bridge on that master$/],
  ] as [MadeBoard, RegExp][])
    t.match(lookAt([madeBoard(nodes, made)], () => 1).trouble, why);
  t.match(lookAt([], () => 1).trouble, /no board/);
});

// ---- over time ----

t.test('a node dies, is drained, and is given back', async t => {
  const cluster = new Cluster(30);
  await cluster.pass(60);
  cluster.kill('n1');
  await cluster.pass(40);
  t.same(cluster.orders, [], 'silent for 29.5 s');
  await cluster.pass(5);
  t.same(cluster.orders, ['drain n1']);
  const { reason, state } = cluster.node('n1');
  t.equal(state, 'IDLE+DRAIN');
  t.match(reason, /^beoboard: silent since 12:01:00Z #[0-9a-f]{6}$/);
  await cluster.pass(600);
  t.same(cluster.orders, ['drain n1'], 'once');
  cluster.revive('n1');
  await cluster.pass(115);
  t.equal(cluster.orders.length, 1);
  await cluster.pass(10);
  t.same(cluster.orders, ['drain n1', 'undrain n1']);
  t.match(cluster.node('n1'), { state: 'IDLE', reason: undefined });
  const told = cluster.entries('intent').concat(cluster.entries('result'));
  t.match(told, [
    {
      act: 'drain',
      node: 'n1',
      command: lineOf({ act: 'drain', node: 'n1', reason: reason as string }),
      before: { state: 'IDLE' },
      evidence: { state: 'silent' },
    },
    { act: 'undrain', before: { state: 'IDLE+DRAIN', reason } },
    { act: 'drain', outcome: 'done', rc: 0, after: { state: 'IDLE+DRAIN', reason } },
    { act: 'undrain', outcome: 'done', after: { state: 'IDLE' } },
  ]);

  cluster.kill('n1');
  await cluster.pass(60);
  t.equal(cluster.orders.length, 3, 'the next silence is another one');
  cluster.revive('n1');
  await cluster.pass(200);
  t.equal(cluster.orders.length, 3, 'the second time takes twice as long');
  await cluster.pass(45);
  t.equal(cluster.orders.length, 4);
});

t.test('Slurm keeps the reason of a drain that was lifted', async t => {
  const cluster = new Cluster(8);
  cluster.keepsReasons = true;
  for (const round of [1, 2]) {
    cluster.kill('n1');
    await cluster.pass(60);
    t.match(cluster.node('n1'), { state: 'IDLE+DRAIN', reason: /^beoboard: silent since/ }, `${round}: drained`);
    cluster.revive('n1');
    await cluster.pass(400);
    t.match(cluster.node('n1'), { state: 'IDLE', reason: /^beoboard: silent since/ }, `${round}: given back`);
    cluster.begin();
  }
  t.same(cluster.orders, ['drain n1', 'undrain n1', 'drain n1', 'undrain n1'], 'the reason that is left is of nobody');
  cluster.kill('n1');
  await cluster.pass(60);
  cluster.admin('n1', 'IDLE', cluster.node('n1').reason);
  await cluster.pass(60);
  t.equal(cluster.node('n1').state, 'IDLE', 'an administrator who lifts the drain is obeyed in this silence');
  cluster.revive('n1');
  await cluster.pass(60);
  cluster.kill('n1');
  await cluster.pass(60);
  t.equal(cluster.node('n1').state, 'IDLE+DRAIN', 'and in the next one it is a node as any other');
  cluster.revive('n1');
  await cluster.pass(800);
  cluster.admin('n1', 'IDLE+DRAIN', cluster.node('n1').reason);
  const orders = cluster.orders.length;
  await cluster.pass(4000);
  t.equal(cluster.orders.length, orders, 'a drain with our reason, which we did not give, is theirs');
});

t.test('live without a break', async t => {
  const cluster = new Cluster(30);
  cluster.kill('n1');
  await cluster.pass(60);
  cluster.revive('n1');
  await cluster.pass(100);
  cluster.kill('n1');
  await cluster.pass(10);
  cluster.revive('n1', false);
  await cluster.pass(100);
  t.same(cluster.orders, ['drain n1']);
  cluster.board.trouble = 'the receiver is stalled';
  await cluster.pass(5);
  cluster.board.trouble = undefined;
  await cluster.pass(100);
  t.same(cluster.orders, ['drain n1'], 'nobody knows what it did while the receiver was stalled');
  await cluster.pass(30);
  t.same(cluster.orders, ['drain n1', 'undrain n1']);
});

t.test('a problem is over when it was measured as absent, or by hand', async t => {
  const cluster = new Cluster(30);
  cluster.policy = { ...POLICY, drainUnhealthy: FATAL };
  const n1 = cluster.node('n1');
  const orders = ['drain n1'];
  const says = async (what: string, says: (typeof n1)['says'], seconds = 600) => {
    Object.assign(n1, { says });
    await cluster.pass(seconds);
    t.same(cluster.orders, orders, what);
  };
  await says('it is drained', { problems: ['gpu_lost'] });
  await says('not measured', { unsettled: ['gpu_lost'] });
  t.match(cluster.log.at(-1), /^left alone: n1: gpu_lost is not measured: .*, or after beoboard clear -w n1$/);
  cluster.kill('n1');
  await cluster.pass(60);
  cluster.revive('n1');
  await says('booted', { unknown: ['gpu_lost', 'bad_health'] });
  t.match(cluster.log.at(-1), /^left alone: n1: gpu_lost is not .*: scontrol update nodename=n1 state=resume$/);
  await says('for a moment only', {}, 60);
  await says('and not any more', { unknown: ['gpu_lost'] });
  await says('measured', { unknown: ['bad_health'] }, 60);
  orders.push('undrain n1');
  await says('for long enough', { unknown: ['bad_health'] });
  orders.push('drain n1');
  await says('again', { problems: ['gpu_lost'] });
  cluster.admin('n1', 'IDLE');
  await says('by hand', { unknown: ['gpu_lost'] });
  t.equal(n1.state, 'IDLE');
});

const ADMIN: [what: string, act: (cluster: Cluster, ours: string) => void, lets: RegExp][] = [
  ['lifts our drain', cluster => cluster.admin('n1', 'IDLE'), /its drain was undone/],
  ['drains it himself', cluster => cluster.admin('n1', 'IDLE+DRAIN', 'disk'), /it has another reason now/],
  [
    'takes it over by beoboard drain',
    cluster => cluster.admin('n1', 'IDLE+DRAIN', markedReason({ reason: 'disk', by: 'anna' })),
    /it has another reason now/,
  ],
  [
    'writes behind our reason',
    (cluster, ours) => cluster.admin('n1', 'IDLE+DRAIN', `${ours}, and a disk`),
    /another reason/,
  ],
  ['sets it DOWN', cluster => cluster.admin('n1', 'DOWN', 'fan'), /its drain was undone/],
  ['sets it DOWN, and leaves it drained', cluster => cluster.admin('n1', 'DOWN+DRAIN', 'fan'), /another reason/],
  [
    'has it booted as soon as it is free',
    cluster => cluster.admin('n1', 'IDLE+DRAIN+REBOOT_ISSUED', 'Reboot ASAP'),
    /another reason/,
  ],
];

t.test('what an administrator does with our drain', async t => {
  for (const [what, act, lets] of ADMIN) {
    const cluster = new Cluster(30);
    cluster.kill('n1');
    await cluster.pass(60);
    const ours = cluster.node('n1').reason as string;
    act(cluster, ours);
    const { state, reason } = cluster.node('n1');
    await cluster.pass(120);
    cluster.begin();
    await cluster.pass(600);
    t.same(cluster.orders, ['drain n1'], `${what}: it is not drained again in this silence`);
    t.match(cluster.entries('let_go'), [{ why: lets }], what);
    // The administrator writes exactly our reason: a node that was let go does not become ours again.
    cluster.admin('n1', 'IDLE+DRAIN', ours);
    cluster.revive('n1');
    await cluster.pass(1200);
    t.same(cluster.orders, ['drain n1'], `${what}: it is his to give back`);
    cluster.admin('n1', state, reason);
  }
});

t.test('an administrator was there first', async t => {
  for (const [state, reason] of [
    ['IDLE+DRAIN', 'disk'],
    ['DOWN', 'fan'],
    ['IDLE', 'look at this one'],
  ] as const) {
    const cluster = new Cluster(30);
    await cluster.pass(10);
    cluster.admin('n1', state, reason);
    cluster.kill('n1');
    await cluster.pass(120);
    t.match(cluster.entries('theirs'), [
      { node: 'n1', after: { state: new RegExp(`^${state.replace('+', '\\+')}`), reason } },
    ]);
    cluster.admin('n1', 'IDLE');
    cluster.begin();
    await cluster.pass(300);
    t.same(cluster.orders, [], 'he has resumed it, silent as it is');
    cluster.revive('n1');
    await cluster.pass(30);
    cluster.kill('n1');
    await cluster.pass(60);
    t.same(cluster.orders, ['drain n1'], 'the next silence is another one');
  }
});

t.test('a node of ours that is DOWN stays so', async t => {
  for (const boots of [false, true]) {
    const cluster = new Cluster(30);
    cluster.kill('n1');
    await cluster.pass(60);
    // By Slurm, or by an administrator who has copied our reason.
    cluster.node('n1').state = 'DOWN+DRAIN';
    await cluster.pass(60);
    cluster.revive('n1', boots);
    await cluster.pass(200);
    t.same(cluster.orders, ['drain n1', 'undrain n1'], boots ? 'booted' : 'not booted');
    t.equal(cluster.node('n1').state, 'DOWN');
    t.match(cluster.log.join('\n'), /it stays DOWN in Slurm: resume it yourself/);
  }
});

t.test('a slurmctld that has lost its state has not lifted anything', async t => {
  const cluster = new Cluster(30);
  cluster.kill('n1');
  cluster.admin('n3', 'MIXED');
  await cluster.pass(60);
  cluster.forget();
  cluster.admin('n1', 'UNKNOWN');
  await cluster.pass(5);
  cluster.admin('n1', 'IDLE');
  await cluster.pass(10);
  t.match(cluster.entries('withdrawn'), [{ node: 'n1', why: 'slurmctld has started without its state' }]);
  t.match(cluster.log.join('\n'), /n1 is no longer drained: slurmctld has started without its state/);
  await cluster.pass(10);
  t.same(cluster.orders, ['drain n1', 'drain n1'], 'it is as silent as before');
  cluster.admin('n1', 'IDLE');
  await cluster.pass(60);
  t.match(cluster.entries('let_go'), [{ node: 'n1', why: 'its drain was undone' }]);
  t.same(cluster.orders, ['drain n1', 'drain n1'], 'but this time somebody has lifted it');

  const idle = new Cluster(30);
  idle.kill('n1');
  await idle.pass(60);
  idle.forget();
  await idle.pass(30);
  t.same(idle.orders, ['drain n1', 'drain n1'], 'also where there was no job');

  const busy = new Cluster(30);
  busy.kill('n1');
  busy.admin('n3', 'MIXED');
  await busy.pass(60);
  busy.startedS = busy.nowMs / 1000;
  busy.admin('n1', 'IDLE');
  await busy.pass(120);
  t.match(busy.entries('let_go'), [{ node: 'n1', why: 'its drain was undone' }]);
  t.same(busy.orders, ['drain n1'], 'its jobs go on, so an administrator has lifted it');

  const restarted = new Cluster(30);
  restarted.kill('n1');
  restarted.admin('n3', 'MIXED');
  restarted.admin('n2', 'IDLE+DRAIN', 'disk');
  await restarted.pass(60);
  restarted.startedS = restarted.nowMs / 1000;
  restarted.admin('n1', 'IDLE');
  restarted.admin('n3', 'IDLE');
  // The time of n2's reason in the model is always now; Slurm's is that of the reason.
  const { listed } = restarted;
  restarted.listed = name => ({ ...listed.call(restarted, name), ...(name === 'n2' && { reason_s: 1_700_000_000 }) });
  await restarted.pass(120);
  t.match(restarted.entries('let_go'), [{ node: 'n1', why: 'its drain was undone' }], 'n2 has kept its reason');
  t.same(restarted.orders, ['drain n1'], 'so an administrator has lifted it');
});

t.test('a job was refused because of a silent node', async t => {
  const begin = (more: Partial<Settings> = {}) => {
    const cluster = new Cluster(30);
    const journal = folder(t);
    const requests = join(journal, 'requests');
    mkdirSync(requests);
    const request = (name: string, agoMs = 0) => {
      writeFileSync(join(requests, name), '');
      utimesSync(join(requests, name), 1, (cluster.nowMs - agoMs) / 1000);
    };
    cluster.begin({ requests: journal, ...more });
    return { cluster, request, left: () => readdirSync(requests) };
  };
  const { cluster, request, left } = begin();
  await cluster.pass(5);
  cluster.kill('n1');
  cluster.kill('n2');
  await cluster.pass(15);
  t.same(cluster.orders, [], 'it is silent, and not for long');
  request('n1');
  await cluster.pass(5);
  t.same(cluster.orders, ['drain n1'], 'it is drained at once, and only that node');
  t.match(cluster.entries('intent'), [{ why: 'silent for 20 s, and a job was refused because of it' }]);
  await cluster.pass(5);
  t.same(left(), [], 'the request has been dealt with');

  for (const [what, change] of [
    ['live again', ({ cluster }) => cluster.revive('n1', false)],
    ['somebody has it', ({ cluster }) => cluster.admin('n1', 'IDLE+DRAIN', 'disk')],
    ['the board is no evidence', ({ cluster }) => Object.assign(cluster.board, { trouble: 'stalled' })],
    ['its link is dark', ({ cluster }) => cluster.board.links.set(1, { name: 'eth0', trouble: trouble('dark', 0) })],
    ['a brake is on', ({ cluster }) => void ['n2', 'n3', 'n4', 'n5'].map(name => cluster.kill(name))],
    ['it is switched off', ({ cluster }) => writeFileSync(cluster.killSwitch, '')],
  ] as [string, (begun: ReturnType<typeof begin>) => void][]) {
    const killSwitch = join(folder(t), 'off');
    const begun = begin({ killSwitch });
    const { cluster } = begun;
    cluster.killSwitch = killSwitch;
    await cluster.pass(5);
    cluster.kill('n1');
    await cluster.pass(15);
    change(begun);
    if (what === 'a brake is on') await cluster.pass(10);
    begun.request('n1');
    await cluster.pass(5);
    t.same(cluster.orders, [], what);
  }
  const early = begin();
  early.cluster.isEarly = true;
  await early.cluster.pass(5);
  early.cluster.kill('n1');
  early.cluster.kill('n2');
  await early.cluster.pass(60);
  t.same(early.cluster.orders, [], 'what a request has waked does not drain others sooner');
  early.request('n2');
  await early.cluster.pass(5);
  t.same(early.cluster.orders, ['drain n2']);
  early.cluster.isEarly = false;
  await early.cluster.pass(5);
  t.same(early.cluster.orders, ['drain n2', 'drain n1'], 'they wait for their own tick');

  const old = begin();
  await old.cluster.pass(5);
  old.cluster.kill('n1');
  await old.cluster.pass(10);
  old.request('n1', 70_000);
  old.request('n9');
  await old.cluster.pass(10);
  t.same(old.cluster.orders, [], 'a request that is old does not count');
  t.same(old.left(), ['n9'], 'and is removed; one about a live node changes nothing');
  t.equal(old.cluster.node('n9').state, 'IDLE');
});

t.test('the pause between ticks', async t => {
  const said: string[] = [];
  const log = { warn: (line: string) => void said.push(line) };
  const requests = folder(t);
  const stop = new AbortController();
  const awaking = new Awaking(requests, stop.signal, log);
  const pause = awaking.sleep(3_600_000);
  writeFileSync(join(requests, 'n1'), '');
  await pause;
  t.pass('a request ends it');
  awaking.close();

  const none = new Awaking(join(requests, 'none'), stop.signal, log);
  t.match(said, [/^cannot watch .*\/none: ENOENT; requests are taken with the next tick$/], 'it cannot be watched');
  const whole = none.sleep(3_600_000);
  stop.abort();
  await whole;
  t.pass('the end of the program does');
  none.close();
});

t.test('what happens at the last moment', async t => {
  const before: [what: string, act: (cluster: Cluster) => void][] = [
    [
      'another controller has taken over',
      cluster => {
        cluster.primary = "Slurm's primary controller is b, and this is a";
      },
    ],
    [
      'the lock is gone',
      cluster => {
        cluster.isOnly = false;
      },
    ],
    [
      'the journal is gone',
      cluster => {
        cluster.hasJournal = false;
      },
    ],
    [
      'the switch',
      cluster => {
        cluster.killSwitch = ROOT;
        cluster.begin();
      },
    ],
    [
      'Slurm is silent',
      cluster => {
        cluster.isSlurmSilent = true;
      },
    ],
    [
      'the receiver is stalled',
      cluster => {
        cluster.board.trouble = 'the receiver is stalled';
      },
    ],
    [
      'a link goes down',
      cluster => {
        cluster.board.links = new Map([
          [1, ETH0],
          [2, { name: 'ib0', trouble: trouble('down', 0) }],
        ]);
      },
    ],
  ];
  for (const [what, act] of before) {
    const cluster = new Cluster(30);
    cluster.kill('n1');
    await cluster.pass(40);
    act(cluster);
    await cluster.pass(300);
    t.same(cluster.orders, [], what);
    t.equal(cluster.node('n1').state, 'IDLE', what);
  }
  const replaced = new Cluster(30);
  replaced.kill('n1');
  await replaced.pass(40);
  replaced.board.opened++;
  await replaced.pass(30);
  t.same(replaced.orders, [], 'another board: it is watched anew');
  await replaced.pass(15);
  t.same(replaced.orders, ['drain n1']);
});

t.test('between the list and the order', async t => {
  const stop = new AbortController();
  const rows: [change: (cluster: Cluster) => void, said?: RegExp][] = [
    [cluster => cluster.revive('n1', false)],
    [cluster => cluster.admin('n1', 'IDLE+DRAIN', 'disk')],
    [cluster => cluster.admin('n1', 'IDLE+MAINTENANCE')],
    [cluster => cluster.admin('n1', 'IDLE', 'look')],
    [cluster => void cluster.board.opened++, /n1 is left alone: the board was replaced/],
    [
      cluster => Object.assign(cluster.board, { trouble: 'the receiver is stalled' }),
      /n1 is left alone: the receiver is/,
    ],
    [
      cluster => cluster.board.links.set(2, { name: 'ib0', trouble: trouble('dark', 0) }),
      /n1 is left alone: link ib0 is dark/,
    ],
    [cluster => writeFileSync(cluster.killSwitch, ''), /^switched off: /m],
    [cluster => Object.assign(cluster, { isOnly: false }), /^$/],
    [() => stop.abort(), /^$/],
  ];
  for (const [change, said = /n1 is left alone: /] of rows) {
    const cluster = new Cluster(30);
    cluster.killSwitch = join(folder(t), 'off');
    cluster.stop = stop.signal;
    await cluster.pass(5);
    cluster.kill('n1');
    await cluster.pass(40);
    // The bridge asks notPrimary between reading Slurm's list and giving an order: at this moment the test changes
    // something.
    const { slurm } = cluster;
    Object.defineProperty(cluster, 'slurm', {
      value: {
        ...slurm,
        notPrimary: async () => {
          change(cluster);
          return undefined;
        },
      },
    });
    cluster.begin();
    await cluster.pass(40);
    t.same(cluster.orders, []);
    t.same(cluster.entries('intent'), []);
    t.match(cluster.log.join('\n'), said);
  }
});

t.test('between what is written down and the order', async t => {
  for (const [what, change] of [
    ['live', (cluster: Cluster) => cluster.revive('n1', false)],
    ["an administrator's drain", (cluster: Cluster) => cluster.admin('n1', 'IDLE+DRAIN', 'disk')],
    ['DOWN', (cluster: Cluster) => cluster.admin('n1', 'DOWN', 'fan')],
    ['Slurm is silent', (cluster: Cluster) => Object.assign(cluster, { isSlurmSilent: true })],
    ['the board is no evidence', (cluster: Cluster) => Object.assign(cluster.board, { trouble: 'stalled' })],
  ] as const) {
    const cluster = new Cluster(30);
    cluster.kill('n1');
    cluster.beforeLastLook = () => change(cluster);
    await cluster.pass(60);
    t.same(cluster.orders, [], what);
    t.match(cluster.entries('withdrawn'), [{ node: 'n1', act: 'drain' }], what);
    t.same(cluster.entries('let_go'), [], what);
    cluster.beforeLastLook = () => undefined;
    Object.assign(cluster, { isSlurmSilent: false });
    cluster.board.trouble = undefined;
    cluster.begin();
    await cluster.pass(60);
    t.same(cluster.orders, what === 'live' || /drain|DOWN/.test(what) ? [] : ['drain n1'], `${what}: it is still open`);
  }
  const given = new Cluster(30);
  given.kill('n1');
  await given.pass(60);
  given.revive('n1');
  given.beforeLastLook = () => given.admin('n1', 'IDLE+DRAIN', 'disk');
  await given.pass(200);
  t.same(given.orders, ['drain n1'], 'what an administrator has drained meanwhile is not lifted');
  t.match(given.node('n1'), { state: 'IDLE+DRAIN', reason: 'disk' });
  t.match(given.entries('let_go'), [{ node: 'n1', why: 'it has another reason now' }]);
});

t.test('an administrator decides between two looks, and is obeyed in this silence', async t => {
  for (const look of ['node', 'readBack'] as const) {
    const cluster = new Cluster(30);
    cluster.kill('n1');
    const { slurm } = cluster;
    const fan = async (name: string) => {
      cluster.admin(name, 'IDLE+DRAIN', 'fan');
      const seen = await slurm.node(name);
      // He has lifted it before the next tick.
      cluster.admin(name, 'IDLE');
      return seen;
    };
    Object.defineProperty(cluster, 'slurm', { configurable: true, value: { ...slurm, [look]: fan } });
    await cluster.pass(60);
    t.match(cluster.entries('theirs'), [{ node: 'n1', after: { state: 'IDLE+DRAIN', reason: 'fan' } }], look);
    t.equal(cluster.entries('withdrawn').length, look === 'node' ? 0 : 1);
    Object.defineProperty(cluster, 'slurm', { value: slurm });
    cluster.begin();
    await cluster.pass(120);
    t.same(cluster.orders, []);
  }
});

t.test('an order that has begun is finished and recorded when the bridge is stopped', async t => {
  const cluster = new Cluster(30);
  const stop = new AbortController();
  cluster.stop = stop.signal;
  cluster.kill('n1');
  cluster.kill('n2');
  cluster.beforeOrder = () => stop.abort();
  await cluster.pass(60);
  t.same(cluster.orders, ['drain n1'], 'and nothing more is begun');
  t.match(cluster.entries('result'), [{ node: 'n1', outcome: 'done', after: { state: 'IDLE+DRAIN' } }]);
});

t.test('exit codes are no proof', async t => {
  const lost = new Cluster(30);
  lost.kill('n1');
  lost.next = 'lost';
  await lost.pass(600);
  t.same(lost.orders, ['drain n1'], 'said to be done, and was not: nobody knows why, and it is not given again');
  t.match(lost.entries('result'), [{ outcome: 'unsure', rc: 0 }]);
  t.match(lost.entries('let_go'), [{ why: /not carried out/ }]);
  const unsaid = new Cluster(30);
  unsaid.kill('n1');
  unsaid.next = 'unsaid';
  await unsaid.pass(60);
  t.match(unsaid.entries('result'), [{ outcome: 'done', rc: null, said: /took longer/ }]);
  unsaid.revive('n1');
  unsaid.next = 'lost';
  await unsaid.pass(135);
  t.same(unsaid.orders, ['drain n1', 'undrain n1']);
  await unsaid.pass(60);
  t.same(unsaid.orders, ['drain n1', 'undrain n1', 'undrain n1'], 'it is ours, and is given back a minute later');
  t.equal(unsaid.node('n1').state, 'IDLE');
});

t.test('two at a time, and no more than the brakes let', async t => {
  const cluster = new Cluster(100);
  for (let i = 1; i <= 8; i++) cluster.kill(`n${i}`);
  await cluster.pass(45);
  t.same(cluster.orders, [], 'eight in a minute are more than three');
  await cluster.pass(30);
  t.equal(cluster.orders.length, 2, 'that was a minute ago');
  await cluster.pass(5);
  t.equal(cluster.orders.length, 4);
  await cluster.pass(600);
  t.equal(cluster.orders.length, 5, '5 % are as many as are ours');
  t.match(cluster.entries('brake'), [
    { brake: 'new', on: true, value: 8 },
    { brake: 'new', on: false, value: 0 },
    { brake: 'own', on: true, value: 6, limit: 5 },
  ]);
  cluster.revive('n1');
  await cluster.pass(200);
  t.equal(cluster.orders.filter(order => order.startsWith('undrain')).length, 1, 'giving back goes on');
  t.equal(cluster.orders.filter(order => order.startsWith('drain')).length, 5, 'and the brake is on until it is half');
  cluster.begin();
  await cluster.pass(60);
  t.equal(cluster.orders.filter(order => order.startsWith('drain')).length, 5, 'over a restart, too');
  const requests = folder(t);
  writeFileSync(join(requests, 'release'), '');
  cluster.begin({ requests });
  await cluster.pass(60);
  t.equal(cluster.orders.filter(order => order.startsWith('drain')).length, 8, 'released by command');
  t.notOk(existsSync(join(requests, 'release')));

  const odd = new Cluster(100);
  for (let i = 1; i <= 40; i++) odd.kill(`n${i}`);
  mkdirSync(join(requests, 'release'));
  odd.begin({ requests });
  await odd.pass(300);
  t.same(odd.orders, [], 'what cannot be taken away is not a request');

  const all = new Cluster(100);
  for (let i = 1; i <= 40; i++) all.kill(`n${i}`);
  await all.pass(1200);
  t.same(all.orders, [], 'a dead switch drains nobody');
  t.match(all.log.join('\n'), /BRAKE: no more drains: 40 nodes are silent, more than 10/);
  for (let i = 1; i <= 40; i++) all.revive(`n${i}`);
  await all.pass(60);
  for (let i = 1; i <= 60; i++) all.kill(`n${i}`);
  await all.pass(60);
  t.same(
    all.log.filter(line => /brake/i.test(line)),
    [
      'BRAKE: no more drains: 40 nodes are silent, more than 10; 40 nodes fell silent in the last minute, more than 3; see beoboard bridge --status',
      'brake released: new',
      'brake released: silent',
      'BRAKE: no more drains: 60 nodes are silent, more than 10; 60 nodes fell silent in the last minute, more than 3; 60 nodes of link eth0 are silent, more than 50; see beoboard bridge --status',
    ],
    'one line for one event',
  );
});

t.test('groups', async t => {
  const cluster = new Cluster(100);
  cluster.policy = { ...POLICY, groupOf: name => (/^n[1-5]$/.test(name) ? 'rack1' : 'rack2') };
  for (const name of ['n1', 'n2', 'n3']) cluster.kill(name);
  await cluster.pass(5);
  cluster.kill('n50');
  await cluster.pass(300);
  t.same(cluster.orders, ['drain n50'], 'half of a rack: its switch, maybe');
});

t.test('it is killed at any point of an act', async t => {
  // Kills it at every point of a drain and of a return: while it writes each line, at each query, before and after the
  // order.
  let points = 0;
  for (let killAt = WHOLE ? 0 : SEED % 18; ; killAt += WHOLE ? 1 : 18) {
    const cluster = new Cluster(8);
    cluster.killAt = killAt;
    cluster.kill('n1');
    await cluster.pass(120);
    cluster.revive('n1');
    await cluster.pass(400);
    const drains = cluster.orders.filter(order => order === 'drain n1').length;
    t.ok(drains <= 1, `${killAt}: drained once at most: ${cluster.orders.join()}`);
    t.match(cluster.node('n1'), { state: 'IDLE', reason: undefined }, `${killAt}: and nothing is left of it`);
    const published = readLines(cluster.journal, '').ledger.orders.text(cluster.nowMs);
    t.equal(published.split('"act":"drain"').length - 1, drains, `${killAt}: each drain is published`);
    points = Math.max(points, cluster.points);
    if (cluster.killAt !== -1) break;
  }
  t.ok(points > 100, `${points} points`);
});

t.test('a dry run prints the very lines, and does nothing', async t => {
  const cluster = new Cluster(30);
  cluster.begin({ isRehearsal: true });
  cluster.kill('n1');
  await cluster.pass(300);
  // A dry run has not drained it, so Slurm sets it DOWN after SlurmdTimeout, and IDLE again when it hears from it.
  cluster.admin('n1', 'DOWN', 'Not responding');
  await cluster.pass(300);
  cluster.revive('n1');
  cluster.admin('n1', 'IDLE');
  await cluster.pass(300);
  t.same(cluster.orders, []);
  t.equal(cluster.node('n1').state, 'IDLE');
  t.notMatch(cluster.log.join('\n'), /not ours any more/, 'as it would have been if the drain had been there');
  const [id] = /#\w+/.exec(cluster.printed[0] ?? '') ?? [];
  t.same(cluster.printed, [
    `scontrol update nodename=n1 state=drain reason='beoboard: silent since 12:00:00Z ${id}'`,
    'scontrol update nodename=n1 state=undrain',
  ]);
});

t.test('a command lifts all our own drains, and no others', async t => {
  const cluster = new Cluster(100);
  for (const name of ['n1', 'n2', 'n3']) cluster.kill(name);
  await cluster.pass(120);
  t.equal(cluster.orders.length, 3);
  cluster.admin('n2', 'IDLE+DRAIN', 'disk');
  cluster.next = 'lost';
  t.same(await cluster.giveAllBack(), ['n1'], 'what is still there is told');
  t.same(cluster.orders.slice(3), ['undrain n1', 'undrain n3']);
  t.equal(cluster.node('n2').state, 'IDLE+DRAIN');
  cluster.nowMs += 60_000;
  t.same(await cluster.giveAllBack(), []);

  const smaller = new Cluster(100);
  for (const name of ['n1', 'n2']) smaller.kill(name);
  await smaller.pass(120);
  smaller.nodes.delete('n1');
  t.same(await smaller.giveAllBack(), ['n1'], 'Slurm does not know one of them any more');
  t.same(smaller.orders.slice(2), ['undrain n2'], 'and the others are lifted all the same');
  await cluster.pass(300);
  t.equal(
    cluster.orders.filter(order => order.startsWith('drain')).length,
    3,
    'and not drained again for this silence',
  );
});

t.test('whatever happens, in whatever order', async () => {
  const name = fc.constantFrom('n1', 'n2', 'n3');
  const event = fc.oneof(
    fc.record({
      what: fc.constantFrom('kill', 'boot', 'revive', 'resume', 'drain', 'reason', 'down', 'slurm down', 'maintenance'),
      name,
    }),
    fc.record({ what: fc.constantFrom('stall', 'restart', 'lost', 'unsaid', 'silent', 'die'), name, at: fc.nat(30) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(event, fc.nat(30)), { maxLength: 12 }), async steps => {
      const cluster = new Cluster(40);
      const drained = new Set<string>();
      const lifted = new Set<string>();
      const faults: string[] = [];
      const silence = (name: string) => `${name} ${cluster.node(name).boot} ${cluster.node(name).reports}`;
      cluster.beforeOrder = () => {
        const last = readLines(cluster.journal, '').entries.at(-1) as Timed;
        if (last.what !== 'intent') return void faults.push('an order that is not written down');
        const { state, reason } = cluster.node(last.node);
        if (last.act === 'drain') {
          if (state.includes('DRAIN') || state.startsWith('DOWN') || reason !== undefined)
            faults.push(`drained over ${state} ${reason}`);
          if (cluster.node(last.node).silentSince === undefined) faults.push('drained a live node');
          if (drained.has(silence(last.node))) faults.push('drained twice for one silence');
          if (lifted.has(silence(last.node))) faults.push('drained against an administrator');
          if (cluster.board.trouble !== undefined) faults.push('drained without evidence');
          drained.add(silence(last.node));
        } else {
          if (!state.includes('DRAIN') || reason !== last.reason) faults.push(`lifted ${state} ${reason}`);
          if (cluster.node(last.node).silentSince !== undefined) faults.push('gave back a dead node');
        }
      };
      for (const [{ what, name, ...rest }, ticks] of steps) {
        const { state, reason } = cluster.node(name);
        cluster.board.trouble = undefined;
        cluster.isSlurmSilent = false;
        if (what === 'kill') cluster.kill(name);
        else if (what === 'boot' || what === 'revive') cluster.revive(name, what === 'boot');
        else if (what === 'resume') {
          if (reason?.startsWith('beoboard')) lifted.add(silence(name));
          cluster.admin(name, 'IDLE');
        } else if (what === 'drain') cluster.admin(name, 'IDLE+DRAIN', 'disk');
        else if (what === 'reason') cluster.admin(name, state, reason && `${reason}!`);
        else if (what === 'down') cluster.admin(name, 'DOWN', 'fan');
        else if (what === 'slurm down' && !state.startsWith('DOWN'))
          cluster.admin(name, state.replace(/^\w+/, 'DOWN'), reason ?? 'Not responding');
        else if (what === 'maintenance') cluster.admin(name, 'IDLE+MAINTENANCE');
        else if (what === 'stall') cluster.board.trouble = 'stalled';
        else if (what === 'restart') cluster.begin();
        else if (what === 'lost' || what === 'unsaid') cluster.next = what;
        else if (what === 'silent') cluster.isSlurmSilent = true;
        else if (what === 'die' && 'at' in rest) cluster.killAt = cluster.points + (rest.at as number);
        // At least one tick of the bridge sees each act; an act that is undone within a tick is invisible to it.
        await cluster.pass(5 + 5 * ticks);
      }
      if (faults.length > 0) throw new Error(`${faults.join('; ')}\n${cluster.orders.join()}\n${cluster.journal}`);
    }),
    { numRuns: WHOLE ? 100 : 6 },
  );
});

// ---- the journal as a file ----

t.test('the journal: on the disk, in a folder of its own, of one process', async t => {
  const path = join(folder(t), 'bridge');
  openFolder(path);
  t.equal(statSync(path).mode & 0o777, 0o700);
  const only = new Only(path);
  t.throws(() => new Only(path), /lock: another bridge runs with this folder; end it first/);
  t.ok(only.holds());
  const first = new JournalFile(path);
  const intent = (node: string) => ({
    ...{
      what: 'intent' as const,
      act: 'drain' as const,
      id: 'a',
      node,
      board: node,
      incident: `silent b ${node}`,
      boot_id: 'b',
    },
    ...{ reason: 'r "x" \n\u2028', why: '', command: '', evidence: {}, before: { state: 'IDLE' } },
  });
  first.write([{ what: 'start', pid: 1, version: 'v', options: {} }, intent('n1')]);
  first.write([]);
  first.close();
  const file = join(path, 'journal');
  t.equal(statSync(file).mode & 0o777, 0o600);
  const whole = readFileSync(file, 'utf8');
  t.equal(whole.split('\n').length, 3, 'a line each');
  t.match(JSON.parse(whole.split('\n')[1] as string), { time: /^20.*Z$/, what: 'intent', node: 'n1' });

  writeFileSync(file, `${whole}{"what":"result","act":"dr`);
  const second = new JournalFile(path);
  t.match(second.ledger.claims.get('n1'), { phase: 'meant', reason: 'r "x" \n\u2028' }, 'half a line says nothing');
  second.write([{ what: 'result', act: 'drain', id: 'a', node: 'n1', outcome: 'done' }]);
  second.close();
  t.equal(readJournal(path)?.ledger.claims.get('n1')?.phase, 'held');
  const watched = new JournalFile(path);
  t.ok(watched.isThere());
  renameSync(file, `${file}.away`);
  t.notOk(watched.isThere());
  writeFileSync(file, whole);
  t.notOk(watched.isThere(), 'another one in its place');
  renameSync(`${file}.away`, file);
  t.ok(watched.isThere());
  watched.close();

  for (const wrong of ['{}', 'x', '[1]', 'null', '{"what":5,"time_ms":1}', '{"what":"end"}']) {
    writeFileSync(file, `${whole}${wrong}\n${whole}`);
    t.throws(() => new JournalFile(path), { message: /journal:3: is not a line of a journal; / }, wrong);
  }
  // A journal of an earlier version, which wrote "ill".
  const former = [
    { what: 'brake', brake: 'ill', on: true, value: 5, limit: 3, accepted: 0 },
    { what: 'theirs', node: 'n4', incident: 'ill b oom', after: { state: 'IDLE+DRAIN', reason: 'ill since May' } },
  ];
  writeFileSync(file, former.map(entry => `${JSON.stringify({ ...entry, time_ms: 1 })}\n`).join(''));
  const { ledger, entries } = readJournal(path) as NonNullable<ReturnType<typeof readJournal>>;
  t.ok(ledger.isSettled('n4', 'unhealthy b oom'), 'what is left to an administrator stays so');
  t.ok(ledger.hasSettledProblem('n4'));
  t.equal(ledger.brakes.get('unhealthy')?.on, true);
  t.match(entries.at(-1), { after: { reason: 'ill since May' } });
  const begun = JSON.stringify({ what: 'state', time_ms: 1, state: ledger.state(1) });
  const old = begun.replace('"unhealthy":"unhealthy b oom"', '"ill":"ill b oom"');
  t.not(old, begun);
  t.ok(readLines(`${old}\n`, '').ledger.isSettled('n4', 'unhealthy b oom'));

  writeFileSync(
    file,
    `${whole}${`${JSON.stringify({ what: 'end', time_ms: 1, x: 'x'.repeat(1 << 20) })}\n`.repeat(17)}`,
  );
  const third = new JournalFile(path);
  third.write([intent('n2')]);
  third.close();
  t.ok(statSync(file).size < 10_000, 'a long one is begun anew');
  t.equal(readdirSync(path).filter(name => name.startsWith('journal.')).length, 1, 'and the old one is kept');
  const { claims } = readJournal(path)?.ledger ?? new Ledger();
  t.same([...claims.keys()], ['n1', 'n2']);
  t.ok(readJournal(path)?.ledger.isSettled('n1', 'silent b n1'));
  only.close();
  t.equal(readJournal(folder(t)), undefined);

  for (const [what, make, why] of [
    ['open to others', (place: string) => mkdirSync(place, { mode: 0o750 }), /is open to others.*chmod 700 it$/],
    ['a file', (place: string) => writeFileSync(place, ''), /is not a folder/],
    ['a link', (place: string) => symlinkSync(path, place), /is not a folder/],
  ] as const) {
    const place = join(folder(t), 'x');
    make(place);
    t.throws(() => openFolder(place), why, what);
  }
  t.throws(() => openFolder(join(folder(t), 'x', 'y')), /cannot be made: ENOENT; let systemd make it/);

  // Commands that only ask or rehearse write nothing.
  const nowhere = join(folder(t), 'nowhere');
  for (const words of [['--release'], ['--undrain-own'], ['--undrain-own', '--dry-run']])
    t.match(
      await run(['bridge', ...words, '--journal', nowhere]),
      { code: 1, stderr: /nowhere: is not there: no bridge has enforced with it; give the folder of one by --journal/ },
      words.join(' '),
    );
  t.notOk(existsSync(nowhere));
  const bare = folder(t);
  chmodSync(bare, 0o700);
  const commands = folder(t);
  writeCommand(join(commands, 'scontrol'), `#!/bin/sh\necho "Slurmctld(primary) at $(uname -n) is UP"\n`);
  const dry = ['bridge', '--undrain-own', '--dry-run', '--slurm-bin', commands, '--journal', bare];
  t.match(await run(dry), { code: 0, stdout: '' });
  t.same(readdirSync(bare), [], 'no lock either');
});

// ---- what is published ----

/** The orders that a follower has not told. */
async function newsOf(follower: OrdersFollower) {
  await follower.look();
  return follower.next();
}

t.test('what the bridge did is published, and can be followed', async t => {
  const place = folder(t);
  const follower = new OrdersFollower(place);
  const told = (text: string) => {
    replaceFile(place, ORDERS, text, 0o644);
    return newsOf(follower);
  };
  const cluster = new Cluster(100);
  const news = () => told(readLines(cluster.journal, '').ledger.orders.text(cluster.nowMs));
  t.same(await newsOf(follower), []);
  t.equal(follower.trouble, undefined, 'no bridge is no trouble');
  t.same(await news(), []);
  cluster.kill('n1');
  await cluster.pass(60);
  t.match(await news(), [
    {
      ...{ n: 1, act: 'drain', node: 'n1', scheduler_node: undefined, outcome: 'done', why: /^silent for \d+ s$/ },
      ...{ time_ms: cluster.nowMs - 15_000, reason: /^beoboard: silent since 12:00:00Z #/ },
    },
  ]);
  t.same(await news(), [], 'once');
  cluster.begin();
  cluster.revive('n1');
  await cluster.pass(300);
  t.match(await news(), [
    { n: 2, act: 'resume', node: 'n1', outcome: 'done', reason: /^beoboard: /, why: 'it is live' },
  ]);
  cluster.next = 'lost';
  cluster.kill('n2');
  await cluster.pass(60);
  t.match(await news(), [
    { n: 3, act: 'drain', outcome: 'unsure' },
    { n: 4, act: 'let_go', node: 'n2', why: 'it was not carried out, or was undone at once' },
  ]);
  for (let i = 3; i < 15; i++) cluster.kill(`n${i}`);
  await cluster.pass(60);
  for (let i = 2; i < 15; i++) cluster.revive(`n${i}`);
  await cluster.pass(60);
  const brakes = await news();
  t.match(brakes[0], { n: 5, act: 'brake_on', node: undefined, why: /^\d+ nodes (are|fell) silent/ });
  t.match(brakes.at(-1), { act: 'brake_off' });
  const count = brakes.at(-1)?.n as number;

  const again = new OrdersFollower(place, follower.taken);
  t.same(await newsOf(again), [], 'where another follower ended');
  t.equal((await newsOf(new OrdersFollower(place))).length, count, 'from the beginning');
  // A journal that was begun anew has the number, and no order.
  const { ledger } = readLines(cluster.journal, '');
  const anew = new Ledger();
  anew.apply({ what: 'state', state: JSON.parse(JSON.stringify(ledger.state(1))), time_ms: 1 });
  t.same(await told(anew.orders.text(1)), []);
  const off = { what: 'switch', off: true, time_ms: 2 } as const;
  anew.apply(off);
  t.match(await told(anew.orders.text(2)), [{ n: count + 1, act: 'switched_off', time_ms: 2 }]);
  for (let i = 0; i < 1005; i++) anew.apply(off);
  t.equal((await told(anew.orders.text(2))).length, 1000);
  t.equal(follower.missed, 5);
  for (let i = 0; i < 1000; i++)
    anew.apply({
      what: 'let_go',
      id: 'x',
      node: 'n1',
      why: `${'é'.repeat(9999)}`,
      after: { state: 'IDLE' },
      time_ms: 2,
    });
  const some = await told(anew.orders.text(2));
  t.ok(some.length > 100 && some.length < 400, `${some.length}: in 256 KiB`);
  t.equal(follower.missed, 1000 - some.length);
  t.ok(statSync(join(place, ORDERS)).size <= 257 << 10);
  const state = { ...anew.state(1), orders: { since_ms: ledger.orders.state(1).since_ms, count: 7 } };
  const backup = new Ledger();
  backup.apply({ what: 'state', state, time_ms: 1 });
  backup.apply(off);
  t.same(await told(backup.orders.text(2)), [], 'what a journal from a backup has was seen');
  backup.apply(off);
  t.match(await told(backup.orders.text(2)), [{ n: 9 }]);
  const other = new Ledger();
  for (const time_ms of [5, 6]) other.apply({ ...off, time_ms });
  t.match(await told(other.orders.text(6)), [{ n: 1 }, { n: 2 }], 'another journal');
  t.equal(follower.missed, 0);
});

t.test('orders are believed from root and the user of the bridge, if a bridge has written them', async t => {
  const place = folder(t);
  const path = join(place, ORDERS);
  const order = { n: 1, time_ms: 1, act: 'drain', node: 'n1' };
  const file = (orders: unknown, more = {}) => JSON.stringify({ schema: 1, since_ms: 1, count: 1, orders, ...more });
  const good = ordersText({ since_ms: 1, count: 1, orders: [order] });
  const doubt = async (why: RegExp, what: string) => {
    const follower = new OrdersFollower(place);
    t.same(await newsOf(follower), [], what);
    t.match(follower.trouble, why, what);
    t.ok(follower.trouble?.startsWith('the orders of the bridge are unknown: '), what);
    rmSync(path, { recursive: true, force: true });
    replaceFile(place, ORDERS, good, 0o644);
    t.same(await newsOf(follower), [order], `${what}, and after it`);
    t.equal(follower.trouble, undefined);
  };
  for (const text of [
    ...['', '{', 'null', '[]', '5', '['.repeat(200_000), good.slice(0, -5), file([order], { schema: 2 })],
    ...[file({}), file([null]), file([order, order]), file([{ ...order, n: 2 }])],
    ...[file([order], { count: 2 ** 60 }), file([order], { since_ms: -1 }), file([{ ...order, time_ms: 1e300 }])],
    ...['n1\n', 'n\u001b[2J', 'n\u202e', '\ud800', 'x'.repeat(600), 5, null, ['n1']].map(node =>
      file([{ ...order, node }]),
    ),
  ]) {
    writeFileSync(path, text);
    await doubt(/holds what no bridge of this version writes$/, text.slice(0, 80));
  }
  writeFileSync(path, ' '.repeat(1 << 20));
  await doubt(/is too large$/, 'a megabyte');
  rmSync(path);
  execFileSync('mkfifo', [path]);
  await doubt(/is no plain file$/, 'a FIFO');
  rmSync(path);
  mkdirSync(path);
  await doubt(/is no plain file$/, 'a folder');
  renameSync(path, join(place, 'aside'));
  symlinkSync('aside', path);
  await doubt(/cannot be read: ELOOP$/, 'a link');
  chmodSync(path, 0o664);
  await doubt(/may be written by others/, 'open to a group');
  chmodSync(place, 0o777);
  const open = new OrdersFollower(place);
  t.same(await newsOf(open), []);
  t.match(open.trouble, /is in a folder that others can write to$/);
  chmodSync(place, 0o755);
  if (process.getuid?.() !== 0) return;
  chownSync(path, 65_534, 65_534);
  await doubt(/may be written by others/, "another user's");
  chownSync(place, 65_534, 65_534);
  t.same(await newsOf(new OrdersFollower(place)), [order], 'of root');
  chownSync(path, 65_534, 65_534);
  t.same(await newsOf(new OrdersFollower(place)), [order], 'of the user of the bridge');
});

t.test('what --status tells', async t => {
  const cluster = new Cluster(100);
  for (let i = 1; i <= 2; i++) cluster.kill(`n${i}`);
  await cluster.pass(60);
  const { ledger, entries } = readLines(cluster.journal, '');
  const last = {
    pid: 7,
    mono_ms: 1,
    next_ms: 2,
    isSlurmSilent: false,
    counts: [],
    nodes: 100,
    left: [{ node: 'n9', why: 'x' }],
  };
  const lines = statusLines(statusOf({ ...last, trouble: 'x\ny' }, ledger, entries), cluster.nowMs).join('\n');
  t.match(lines, /^The bridge is running \(pid 7\): 100 nodes/);
  t.match(lines, /It does nothing now: x\\u\{a\}y\./);
  t.match(lines, / {2}n1 {2}beoboard: silent since 12:00:00Z #[0-9a-f]{6} {2}15\.0s ago/);
  t.match(lines, /Left alone:\n {2}n9 {2}x/);
  t.match(lines, /Last actions:\n {2}15\.0s ago {2}drain n1\n/);
  const hung = statusOf({ ...last, isSlurmSilent: true, nodes: 0, trouble: 'Slurm does not answer: x' }, ledger, []);
  t.match(statusLines(hung, 0).slice(0, 2), [
    'The bridge is running (pid 7).',
    'It does nothing now: Slurm does not answer: x.',
  ]);
  t.equal(hung.nodes, undefined, 'how many both know is not known');
  t.match(
    statusLines(statusOf(undefined, new Ledger(), []), 0).join('\n'),
    /^No enforcing bridge is running.*\nIt has drained no nodes\.$/,
  );
});

t.test('what goes on is one line, in whatever words', async t => {
  const board = boardPath(t);
  const writer = openWriter({
    path: board,
    cluster: '',
    capacity: 4,
    uncertainAfter: 4500,
    silentAfter: 10_500,
    nodes: [],
  });
  t.teardown(() => writer.close());
  writer.heartbeat(monotonicNs() - 20_000_000_000n);
  for (const [how, why, path] of [
    ['echo "error $(wc -l <"$0.asked")" >&2; exit 1', 'Slurm does not answer: error 1', join(folder(t), 'none')],
    ['echo No nodes in the system', 'the receiver is stalled', board],
  ] as const) {
    const [commands, journal] = [folder(t), join(folder(t), 'journal')];
    mkdirSync(journal, { mode: 0o700 });
    const scontrol = join(commands, 'scontrol');
    writeCommand(scontrol, `#!/bin/sh\necho x >>"$0.asked"\n${how}\n`);
    const places = ['--kill-switch', join(commands, 'off'), '--bridge-dir', commands, '--slurm-bin', commands];
    const argv = ['bridge', '--enforce', '--journal', journal, '--board', path, '--interval', '1s', ...places];
    const bridge = start(t, argv);
    await bridge.ready;
    t.equal(statSync(join(commands, ORDERS)).mode & 0o777, 0o644);
    await until('it has asked three times', () => readFileSync(`${scontrol}.asked`, 'utf8').length >= 6);
    bridge.child.kill('SIGTERM');
    t.equal(await bridge.exit, 0);
    const said = `beoboard bridge: ready: enforcing; waiting: ${why}\nbeoboard bridge: ended: drains stay\n`;
    t.equal(bridge.output().stderr, said);
  }
});

t.test('--status waits for nobody', async t => {
  const path = folder(t);
  for (const name of ['status', 'journal']) {
    execFileSync('mkfifo', [join(path, name)]);
    const answer = await run(['bridge', '--status', '--journal', path]);
    if (name === 'status') t.match(answer, { code: 1, stdout: /^No enforcing bridge is running/ });
    else t.match(answer, { code: 1, stderr: /journal: is no plain file; move it away\n$/ });
  }
});

t.test('an incident has one number, wherever it is shown', async t => {
  t.equal(incidentId('n1', silenceOf(seenNode('n1'))), incidentId('n1', 'silent 00000000000000aa 1000'));
  t.not(incidentId('n1', 'silent a 1'), incidentId('n2', 'silent a 1'));
});
