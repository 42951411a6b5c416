// The status of boards made by hand, as text that can be read from top to bottom. To write it again, after looking at
// why: node dist/test/cli/status.test.js --write
//
// @seconds 25
// @whole
// @days 3

import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { csvPieces } from '../../src/cli/csv.js';
import { plainText, type StatusLayout, statusText } from '../../src/cli/statustext.js';
import { writeState } from '../../src/journalfile/state.js';
import { bits, enums } from '../../src/layout/layout.gen.js';
import { OVERVIEW } from '../../src/native/index.js';
import { jsonPieces } from '../../src/presentation/statusjson.js';
import { COLUMNS, chosenColumns, short } from '../../src/query/columns.js';
import { parseCondition } from '../../src/query/conditions.js';
import { ordered } from '../../src/query/sorting.js';
import { type Choice, type Survey, survey } from '../../src/query/survey.js';
import { Pairing, SchedulerView } from '../../src/schedulerfile/schedulerview.js';
import { monotonicMs, type SchedulerState } from '../../src/schedulerfile/statefile.js';
import { countStates } from '../../src/shm/liveness.js';
import { distanceText } from '../../src/shm/sentences.js';
import { Snapshot } from '../../src/shm/snapshot.js';
import { painter } from '../../src/terminal/style.js';
import { speakAscii } from '../../src/text/ascii.js';
import { BOARD_MOST, expand, fold } from '../../src/text/hostlists.js';
import { cut } from '../../src/text/text.js';
import { anomalies } from '../kit/anomalies.js';
import { bytesOf, NOW, node as reporting } from '../kit/ganglia.js';
import { snapshotOf } from '../kit/judged.js';
import { busy, EVERYTHING, type MadeNode, madeBoard, tenThousand, validOf } from '../kit/madeboard.js';
import { openReader } from '../kit/openreader.js';
import { boardPath, folder, ROOT } from '../kit/places.js';
import { PROGRAM, start, startReceiver } from '../kit/program.js';
import { makeReport } from '../kit/reports.js';
import { unlike } from '../kit/schemacheck.js';
import { until } from '../kit/until.js';
import { verbChild } from '../kit/verbchild.js';
import { NOT_WHOLE, WHOLE } from '../kit/whole.js';

const GOLDEN = join(ROOT, 'test', 'golden', 'status.txt');
// Times of day are shown in this time zone.
process.env.TZ = 'UTC';
t.setTimeout(600_000);
const runHere = verbChild(t);
const PLAIN: StatusLayout = { width: 80, paint: painter('never') };

const dozen: MadeNode[] = expand('node[01-12]', BOARD_MOST).map((name, i) => ({
  name,
  age: 0.4 + i / 100,
  heard: 3600 * i,
  ...busy(4 * i),
}));
dozen[2] = { name: 'node03', age: 190, ...busy(63.5) };
dozen[4] = { name: 'node05', age: 6, ...busy(12) };
dozen[6] = { name: 'node07', age: 86_400 * 3, goodbye: true, ...busy(0) };
dozen[8] = { name: 'node09' };
dozen[9] = { ...dozen[9], name: 'node10', record: { offset_us: 2_100_000, lost: 1234 } };
dozen[10] = {
  name: 'node11',
  age: 0.9,
  report: {
    valid: EVERYTHING,
    load1_c: 512,
    cpus_online: 128,
    gpu_count: 2,
    gpu_busy: 1,
    gpu: [{ util_pct: 90 }, { util_pct: 20 }],
    mem_total_mib: 1000,
    mem_avail_mib: 250,
    swap_total_mib: 1000,
    swap_free_mib: 900,
    psi_cpu_some10: 8000,
  },
};

/** A cluster of racks with 48 nodes, all healthy; `change` modifies some. */
function cluster(racks: string, change: (node: MadeNode) => Partial<MadeNode> = () => ({})): MadeNode[] {
  return expand(`rack[${racks}]n[01-48]`, BOARD_MOST).map((name, i) => {
    const node = { name, age: 0.1 + (i % 10) / 20, ...busy(i % 64) };
    return { ...node, ...change(node) };
  });
}

const big = tenThousand();
const dead = cluster('11-20', node => (/rack1[78]/.test(node.name) ? { age: 60 + Number(node.age) } : {}));
const kernel = (os_release: string) => busy(1, { os_release });
const mixed = cluster('01-10', ({ name }) => {
  if (name === 'rack03n07') return { ...kernel('6.1.0-18-amd64'), booted: 300 };
  if (name === 'rack04n01') return { record: { offset_us: -3_725_000_000 } };
  if (/rack05n0[1-5]/.test(name)) return { record: { offset_us: 700_000 } };
  if (name === 'rack06n48') return { age: 700, refusal: { reason: 'clock', age: 2, skew: 3600 } };
  return {};
});
const WITH_ID = BigInt(busy(1).report?.valid ?? 0) | validOf('sw_hash');
/** Two images whose ids differ in the last figures, on machines whose memory differs in the last figures. */
const identical = cluster('01-02', ({ name }) => {
  const isOdd = name.startsWith('rack02');
  const memory = { mem_total_mib: isOdd ? 1031873 : 1031872 };
  return {
    ...busy(1, { valid: WITH_ID, sw_hash: isOdd ? 3117353958 : 3117353957, ...memory }),
    ...(name.endsWith('48') && { age: 60 }),
  };
});
const REFUSED = { header: { refused: enums.reason.map(reason => (reason === 'clock' ? 12 : 0)) } };
mixed.push({ name: 'login1', age: 0.1, ...kernel('5.14.0') });

/** Silent, uncertain, unhealthy and live ones, in no order. */
const ill: MadeNode[] = [
  { name: 'n8', age: 0.5, ...busy(3) },
  { name: 'n7', age: 0.5, ...busy(9, { flags: 1 << bits.flags.held }) },
  {
    name: 'n6',
    age: 0.5,
    ...busy(5, { valid: EVERYTHING, health: enums.health.indexOf('warning'), flags: 1 << bits.flags.held }),
  },
  { name: 'n5', age: 0.5, ...busy(7, { flags: 1 << bits.flags.root_readonly, root_total_mib: 9, valid: EVERYTHING }) },
  { name: 'n4', age: 0.5, ...busy(2, { valid: EVERYTHING, health: enums.health.indexOf('bad') }) },
  { name: 'n3', age: 6, ...busy(4) },
  { name: 'n2', age: 7, ...busy(4, { valid: EVERYTHING, health: enums.health.indexOf('bad') }) },
  { name: 'n10', age: 190, ...busy(60) },
  { name: 'n9', age: 190, ...busy(61) },
  { name: 'n1', age: 0.5, ...busy(8) },
];

const scenes: [
  title: string,
  nodes: MadeNode[],
  made?: Parameters<typeof madeBoard>[1],
  look?: Partial<StatusLayout>,
  choice?: Choice,
][] = [
  ['a dozen nodes', dozen],
  ['a dozen nodes, 200 columns', dozen, {}, { width: 200 }],
  ['in colour', dozen.slice(0, 5), {}, { paint: painter('always') }],
  ['what is not live', dozen, {}, { exceptions: true }],
  ['by load', dozen, {}, { sort: 'load' }],
  ...[80, 120, 200].flatMap((width): typeof scenes => [
    [`the ill first, ${width} columns`, ill, {}, { long: true, width }],
    [`only the ill, ${width} columns`, ill, {}, { exceptions: true, width }],
  ]),
  ['by state, reversed: the ill first in each', ill, {}, { sort: '-state' }],
  ['by the worst problem', ill, {}, { sort: 'problems' }],
  ['some columns, one of them a field', dozen, {}, { columns: ['state', 'gpu', 'pressure', 'mem_avail_mib', 'skew'] }],
  ['some nodes', dozen, {}, {}, { among: ['node03', 'node04', 'node99'] }],
  ['a condition', dozen, {}, {}, { holds: parseCondition('load > 30 && state == live') }],
  [
    'a long name does not widen the table',
    [{ name: `very-long-name-of-a-node-${'x'.repeat(30)}-017`, age: 0.5, ...busy(1) }, ...dozen.slice(0, 2)],
  ],
  ['480 nodes, all well', cluster('01-10')],
  ['480 nodes, all well: one line', cluster('01-10'), {}, { exceptions: true }],
  ['two racks fell silent', dead],
  ['two racks fell silent, 200 columns', dead, {}, { width: 200 }],
  ['10,000 nodes', big],
  ['10,000 nodes: what is not well', big, {}, { exceptions: true }],
  ['10,000 nodes: a rack', big, {}, {}, { among: expand('rack100n[01-48]', BOARD_MOST) }],
  ['10,000 nodes: the busiest', big, {}, { sort: 'load', width: 120 }],
  ['10,000 nodes: by rack, what is not well', big, {}, { grouping: { pattern: '^[a-z]+[0-9]+' }, exceptions: true }],
  [
    'half a rack that died one by one, within 16 s',
    cluster('01', ({ name }) => {
      const number = Number(name.slice(-2));
      return number % 2 === 0 ? { age: 60 + 16 * ((number * 0.618) % 1) } : {};
    }),
    {},
    { exceptions: true },
  ],
  ['by rack', dead, {}, { grouping: { pattern: '^rack[0-9]+' }, width: 100 }],
  [
    'by rack, what is not well',
    dead,
    {},
    { grouping: { pattern: '^rack[0-9]+' }, exceptions: true, columns: ['cpu', 'os_release'] },
  ],
  ['by rack, the busiest first', dozen, {}, { grouping: { pattern: '^node[01]' }, sort: 'load', columns: ['load'] }],
  [
    'by kernel; one tells none',
    [...mixed, { name: 'new' }],
    {},
    { grouping: { field: 'os_release' }, columns: ['mem', 'skew'] },
  ],
  [
    'by what software they have, with their names',
    identical,
    {},
    { grouping: { field: 'sw_hash' }, columns: ['sw_hash', 'mem_total_mib'], long: true },
  ],
  [
    'by memory: two sizes that differ little',
    identical,
    {},
    { grouping: { field: 'mem_total' }, columns: ['mem_total'] },
  ],
  ['all fell silent', cluster('01-02', () => ({ age: 60 }))],
  [
    'a link is down, from the first second',
    cluster('01-10'),
    { links: { 1: { state: [], changed: 1.2, heartbeat: 1.3, downs: 1 } } },
  ],
  [
    'one of two links is down, and some of its nodes have been dead for long',
    cluster('01-10', ({ name }) => {
      if (/rack0[1-4]/.test(name)) return { age: 12, link: 2 };
      return name.endsWith('48') ? { age: 86_400 } : {};
    }),
    { links: { 1: {}, 2: { name: 'enp129s0f0np0', state: [], changed: 12.3, heartbeat: 12.4 } } },
  ],
  [
    'a link is gone, another has lost its address, and the third its only node',
    [
      ...cluster('01', () => ({ age: 30, link: 1 })),
      ...cluster('02', () => ({ age: 40, link: 2 })),
      { name: 'login1', age: 50, link: 3 },
    ],
    {
      links: {
        1: { state: ['gone'], changed: 29, heartbeat: 29.1 },
        2: { state: ['no_address'], changed: 86_400 * 3, heartbeat: 39.1, address: '10.0.0.1' },
        3: { state: [], changed: 49, heartbeat: 49.1 },
        4: { state: [], changed: 49, heartbeat: 49.1 },
      },
    },
  ],
  [
    'a link has just gone dark',
    cluster('01-10', () => ({ age: 4.6 })),
    { links: { 1: { dark: { since: 0.1, nodes: 480 } } } },
  ],
  [
    'a link is dark, a few of its nodes were dead before, and others never came or left',
    cluster('01-10', ({ name }) => {
      if (name.endsWith('47')) return { age: 900, goodbye: true };
      return name.endsWith('48') ? { age: 86_400 } : { age: 30 };
    }),
    { links: { 1: { dark: { since: 25.5, nodes: 460 } } } },
  ],
  [
    'a dark link of which a node is heard again',
    cluster('01', ({ name }) => ({ age: name.endsWith('07') ? 0.2 : 30 })),
    { links: { 1: { dark: { since: 25.5, nodes: 48 } } } },
  ],
  [
    'all that came by other interfaces is dark',
    cluster('01', () => ({ age: 30, link: 31 })),
    { links: { 31: { dark: { since: 25.5, nodes: 48 } } } },
  ],
  [
    'a link began anew',
    cluster('01', ({ name }) => ({ link: name.endsWith('07') ? 2 : 1, ...(name.endsWith('07') ? { age: 60 } : {}) })),
    { links: { 1: {}, 2: { listened: 3.2 } } },
  ],
  ['a link is new', cluster('01', () => ({ link: 2 })), { links: { 1: {}, 2: { listened: 3.2, changed: 3.2 } } }],
  [
    'a name of an interface that steers the terminal',
    cluster('01'),
    { links: { 1: { name: '\u001b[2Jeth', state: [], changed: 1 } } },
  ],
  [
    'refused, each for its own reason',
    [
      { name: 'n1', age: 700, refusal: { reason: 'clock', age: 0.4, skew: 3600 } },
      { name: 'n2', age: 6, refusal: { reason: 'rival', age: 0.5 } },
      { name: 'n3', refusal: { reason: 'clock', age: 0.6, skew: -86_400 } },
      { name: 'n4', age: 700, refusal: { reason: 'clock', age: 900, skew: 5 } },
      { name: 'n5', age: 0.5, refusal: { reason: 'clock', age: 0.1, skew: 5 } },
      { name: 'n6', age: 50, refusal: { reason: 'late', age: 50.1 } },
      { name: 'n7', age: 60, refusal: { reason: 'replay', age: 1 } },
      { name: 'n8', age: 60, refusal: { reason: 'replay', age: 2 } },
      { name: 'n9', age: 700, refusal: { reason: 'clock', age: 600, skew: 61 } },
    ],
    REFUSED,
    { width: 120 },
  ],
  [
    'who was refused',
    dozen.slice(0, 2).map(node => ({ ...node, record: { address: [...Array(10).fill(0), 255, 255, 10, 0, 0, 5] } })),
    {
      senders: [
        { reason: 'tag', address: '10.0.0.9', last: 3600, count: 4711 },
        { reason: 'late', address: '10.0.0.1', name: 'node01', last: 0.1, count: 3 },
        { reason: 'cluster', address: '2001:db8::9', last: 12, count: 1 },
        { reason: 'rival', address: '10.0.0.7', name: 'node01', first: 40, last: 0.3, count: 40 },
        { reason: 'stranger', address: '10.0.0.8', name: 'nobody', first: 4000, last: 5, count: 12_345 },
        { reason: 'size', address: '10.0.0.10', last: 50, count: 1 },
        { reason: 'magic', address: '10.0.0.11', last: 51, count: 1 },
      ],
    },
  ],
  [
    'more senders were refused than the board has room for',
    dozen.slice(0, 2),
    {
      senders: [
        ...Array.from({ length: 8 }, (_, i) => ({
          reason: 'stranger' as const,
          address: `10.0.0.${8 + i}`,
          name: `nobody${i}`,
          last: 5 + i,
          count: 7,
        })),
        { reason: 'size', address: '10.0.0.10', last: 50, count: 1 },
      ],
    },
  ],
  [
    'who was refused, of some nodes',
    dozen.slice(0, 3),
    {
      senders: [
        { reason: 'rival', address: '10.0.0.7', name: 'node01', first: 40, last: 0.3, count: 40 },
        { reason: 'rival', address: '10.0.0.7', name: 'node02', first: 40, last: 0.3, count: 40 },
        { reason: 'size', address: '10.0.0.10', last: 50, count: 1 },
      ],
    },
    {},
    { among: ['node02'] },
  ],
  [
    'sources of reports that prove nothing, and names that several machines have',
    dozen.map(node => ({ ...node, record: { address: [...Array(10).fill(0), 255, 255, 10, 0, 0, 5] } })),
    {
      senders: [
        ...expand('node[01-08]', BOARD_MOST).map((name, i) => ({
          reason: 'tag' as const,
          address: '10.0.0.9',
          name,
          first: 40,
          last: 0.3 + i / 10,
          count: 40,
        })),
        ...expand('node[04-08]', BOARD_MOST).map(name => ({
          reason: 'rival' as const,
          address: '10.0.0.8',
          name,
          first: 40,
          last: 3,
          count: 40,
        })),
        { reason: 'rival', address: '10.0.0.7', name: 'node04', first: 40, last: 4, count: 20 },
        { reason: 'auth_missing', address: '10.0.0.11', name: 'node11', last: 5, count: 1 },
        { reason: 'key_id', address: '10.0.0.12', name: 'node12', first: 9, last: 6, count: 3 },
        { reason: 'key_id', address: '10.0.0.12', name: 'node13', first: 9, last: 7, count: 2 },
      ],
    },
  ],
  [
    'a silent node behind a link by which others are heard',
    dozen.slice(0, 3).map(node => ({ ...node, record: { address: [...Array(10).fill(0), 255, 255, 10, 0, 0, 5] } })),
    { links: { 1: { port: 8677 } } },
  ],
  [
    'drops of every kind',
    dozen.slice(0, 1),
    { header: { kernel_drops: 12, unfit_drops: 3, softnet_drops: 4, received: 10_000 }, links: { 1: { missed: 5 } } },
  ],
  [
    'as few drops as one in 10,000',
    dozen.slice(0, 1),
    { header: { kernel_drops: 1, unfit_drops: 1, softnet_drops: 1, received: 10_000 } },
  ],
  [
    'reports that are made late: five nodes, one of which reports every ten seconds; another does too, and is late by less than half of that',
    cluster('01', ({ name }) => {
      const late = (seconds: number, interval_ms = 1000) =>
        busy(1, { valid: EVERYTHING, late_us: 1e6 * seconds, interval_ms });
      if (name === 'rack01n02') return late(1.5);
      if (name === 'rack01n03') return { ...late(5.8), age: 6 };
      if (name === 'rack01n04') return late(1);
      if (/n1[0-1]/.test(name)) return late(name === 'rack01n10' ? 4.9 : 6.2, 10_000);
      if (/n2[0-1]/.test(name)) return late(2.5);
      return name === 'rack01n30' ? { ...late(7), age: 700 } : {};
    }),
    {},
    { exceptions: true },
  ],
  ['one clock, five clocks, a kernel, a refusal', mixed, REFUSED],
  [
    "the master's clock",
    cluster('01-02', ({ name }) => ({ record: { offset_us: name === 'rack01n01' ? 0 : -5_000_000 } })),
  ],
  [
    'names without order',
    expand(
      'c[1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39,41,43,45,47,49,51,53,55,57,59,61,63,65,67,69,71,73,75,77,79,81,83,85,87,89,91,93,95,97,99,101,103,105,107,109,111,113,115,117,119,121,123,125]',
      BOARD_MOST,
    ).map(name => ({ name, age: 60 * Number(name.slice(1)) })),
  ],
  [
    'a list that is cut, of what was asked for',
    expand('rack[1-2]n[001-399]', BOARD_MOST)
      .filter(name => /[13579]$/.test(name))
      .map(name => ({ name, age: 0.5 })),
    {},
    { asked: { nodes: 'rack[1-2]n[001-399]', where: 'name ~ "n" && state == live', board: "/srv/it's" } },
  ],
  [
    'a list of live nodes with problems, cut',
    expand('rack1n[001-399]', BOARD_MOST)
      .filter(name => /[13579]$/.test(name))
      .map(name => ({ name, age: 0.5, report: { flags: 1 << bits.flags.held } })),
    {},
    { asked: { where: 'load > 3 || held', exceptions: true }, exceptions: true },
  ],
  [
    'what silent nodes said last',
    expand('n[01-16]', BOARD_MOST).map((name, i): MadeNode => {
      const heat = (temp_hottest_dc: number) => ({ hw_hash: 7, temp_hottest_dc });
      const low = { mem_avail_mib: 1000 };
      const stalled = { psi_mem_full10: 9900, psi_io_full10: 9100 };
      const said = [low, low, stalled, { taint: 1 << 7 }, { late_us: 5_000_000 }, heat(951), heat(949), {}, {}][i];
      const valid = EVERYTHING;
      if (said === undefined) return { name, age: 0.5, ...busy(1, { valid, ...heat(900 + (i === 9 ? 1 : 0)) }) };
      return { name, age: 86_400 - 3600 * i, ...busy(1, { valid, ...said }), before: { ...busy(1).report, valid } };
    }),
  ],
  [
    'what many silent nodes said last, and one that fell before midnight',
    expand('n[1-5]', BOARD_MOST).map((name, i) => ({
      name,
      age: 50_700 - i,
      ...busy(1, { valid: EVERYTHING, ...(i > 0 && { taint: 1 << 4, late_us: 2_000_000 * i }) }),
    })),
  ],
  [
    'this master did not listen for a while',
    [dozen[0] as MadeNode],
    {
      events: [
        { kind: 'takeover', age: 3000, detail: 7 },
        { kind: 'deaf', age: 3000, detail: 52_000 },
      ],
    },
  ],
  [
    'a link was down, and another one for a moment; a third still is',
    [dozen[0] as MadeNode],
    {
      links: { 1: {}, 2: {}, 3: { state: [] } },
      events: [
        { kind: 'link_up', age: 3500, subject: 1 },
        { kind: 'link_down', age: 610, subject: 2 },
        { kind: 'link_up', age: 600, subject: 2 },
        { kind: 'link_down', age: 500, subject: 1 },
        { kind: 'link_up', age: 500, subject: 1 },
        { kind: 'link_down', age: 400, subject: 3 },
      ],
    },
  ],
  [
    'a flood at a full socket buffer',
    [dozen[0] as MadeNode],
    { events: [102, 101, 100, 90].map(age => ({ kind: 'overflow' as const, age, detail: 40 })) },
  ],
  [
    'deaf many times, some of them more than an hour ago, among many events',
    [dozen[0] as MadeNode],
    {
      events: Array.from({ length: 1000 }, (_, i) => ({
        kind: i % 100 === 99 ? ('deaf' as const) : ('refusal' as const),
        age: 5000 - 5 * i,
        detail: i % 100 === 99 ? 2000 : 1,
      })),
    },
  ],
  ['an empty board', []],
  ['the receiver has just begun', dozen.slice(0, 3), { listened: 3 }],
  ['the receiver is stalled', dozen.slice(0, 3), { heartbeat: 12 }],
  ['the receiver was stopped', dozen.slice(0, 3), { heartbeat: 3600, state: ['closed'] }],
  ['a flood', dozen.slice(0, 1), { state: ['filtering'], header: { unfit_drops: 77 } }],
  [
    'a name that steers the terminal',
    [
      { name: '\u001b[2Jnode', age: 1, ...busy(1) },
      { name: 'b', age: 99 },
    ],
  ],
];

/** What is shown of a scene fits terminals of every width. */
async function fits(t: Test, title: string, found: Survey, look: StatusLayout): Promise<void> {
  for (const width of WHOLE ? [80, 81, 100, 133, 200] : [80]) {
    const text = (await statusText(found, { ...look, paint: PLAIN.paint, width })).join('');
    const [headline = '', ...lines] = text.split('\n');
    t.ok(headline.length > 0);
    // Fields and nodes that were requested by name are shown even if they are too wide.
    const widest = Math.max(0, ...lines.map(({ length }) => length));
    t.ok(widest <= width, `${title}: ${widest} of ${width}`);
  }
}

async function golden(t: Test): Promise<string> {
  const out: string[] = [];
  for (const [title, nodes, made, look, choice] of scenes) {
    const found = survey(madeBoard(nodes, made), choice);
    await fits(t, title, found, { ...PLAIN, ...look });
    const lines = (await statusText(found, { ...PLAIN, ...look })).join('').replaceAll('\u001b', '␛');
    out.push(`=== ${title}\n${lines}\n`);
  }
  const found = survey(madeBoard(dozen));
  out.push(`=== for who listens\n${(await plainText(found, PLAIN)).join('')}\n`);
  const more = survey(madeBoard(dead));
  out.push(`=== for who listens, of 480\n${(await plainText(more, PLAIN)).join('')}\n`);
  // Each piece is valid until the next is asked for.
  const rows = Array.from(
    csvPieces(found, () => ordered(found, undefined), undefined),
    piece => Buffer.from(piece).toString(),
  );
  out.push(`=== as CSV\n${rows.join('').replaceAll('\r', '')}`);
  return out.join('');
}

t.test('the text is that of test/golden/status.txt, and no line is wider than the terminal', async t => {
  const text = await golden(t);
  if (process.argv.includes('--write')) writeFileSync(GOLDEN, text);
  const sections = (all: string) => new Map(all.split(/^(?==== )/m).map(part => [part.split('\n', 1)[0] ?? '', part]));
  const expected = sections(readFileSync(GOLDEN, 'utf8'));
  for (const [title, part] of sections(text)) t.equal(part, expected.get(title), title);
  t.equal(sections(text).size, expected.size);
});

t.test('--csv-safe: no text is a formula, and numbers stay numbers', async t => {
  const found = survey(
    madeBoard(
      [
        ['=1+1', 1],
        ['-x', 1],
        ['n1', 1],
        ['–1', 1],
      ].map(([name, age]) => ({ name, age }) as never),
    ),
  );
  const names = () =>
    Array.from(
      csvPieces(found, () => found.nodes, ['name', 'age'], true),
      piece => Buffer.from(piece).toString(),
    )
      .join('')
      .match(/^.*?(?=,)/gm);
  t.same(names(), ['name', "'=1+1", "'-x", 'n1', '–1']);
  const undo = speakAscii();
  const inAscii = names();
  undo();
  t.same(inAscii, ['name', "'=1+1", "'-x", 'n1', "'-1"]);
});

t.test('colours only accompany words', async t => {
  const found = () => survey(madeBoard(dozen));
  const coloured = (await statusText(found(), { ...PLAIN, paint: painter('always') })).join('');
  t.equal(coloured.replace(/\u001b\[\d+m/g, ''), (await statusText(found(), PLAIN)).join(''));
  t.match(coloured, /\u001b\[31m/);
  const tty = (isTTY: boolean, env: NodeJS.ProcessEnv) =>
    painter('auto', { isTTY } as NodeJS.WriteStream & { fd: 1 }, env).title('x') !== 'x';
  t.equal(tty(true, {}), true);
  t.equal(tty(true, { NO_COLOR: '' }), true, 'an empty variable is none');
  t.equal(tty(true, { NO_COLOR: '1' }), false);
  t.equal(tty(true, { TERM: 'dumb' }), false);
  t.equal(tty(false, {}), false);
});

t.test('numbers and names in few characters', async t => {
  for (const [value, text] of [
    [0, '0'],
    [999, '999'],
    [999.6, '1.0K'],
    [9_949, '9.9K'],
    [9_950, '10K'],
    [1e9, '1.0G'],
    [1e21, '1000E'],
  ] as const)
    t.equal(short(value), text);
  t.equal(cut('abcdefghij', 10), 'abcdefghij');
  t.equal(cut('abcdefghijk', 10), 'abc…fghijk');
  t.equal(new Set(COLUMNS.map(({ name }) => name)).size, COLUMNS.length);
});

t.test('tenths of a second are rounded half away from zero, as in C', async t => {
  for (const [seconds, text] of [
    [0.049999, '0.0 s'],
    [0.05, '0.1 s'],
    [0.35, '0.4 s'],
    [-2.25, '2.3 s'],
    [-59.949999, '59.9 s'],
    [59.95, '60.0 s'],
    [60, '1m00s'],
  ] as const)
    t.equal(distanceText(seconds), text);
});

t.test('the time that collecting took does not count as a wrong clock', async t => {
  const behind = (name: string, valid: bigint, collect_us: number): MadeNode => ({
    name,
    age: 0.5,
    ...busy(1, { valid, collect_us }),
    record: { offset_us: -2_100_000 },
  });
  const nodes = [
    behind('starved', EVERYTHING, 2_050_000),
    behind('wrong', EVERYTHING, 950),
    behind('untold', EVERYTHING & ~validOf('sender'), 2_050_000),
    { ...behind('gone', EVERYTHING, 2_050_000), age: 700 },
    { name: 'never' },
    ...dozen.slice(0, 2),
  ];
  const skews = chosenColumns(['skew', 'offset_us']);
  const snapshot = madeBoard(nodes);
  t.strictSame(
    [...snapshot.nodes()].map(node => skews.map(({ text }) => text(node))),
    [
      ['starved', '-50ms', '-2100000'],
      ['wrong', '-2099ms', '-2100000'],
      ['untold', '-2100ms', '-2100000'],
      ['gone', '-50ms', '-2100000'],
      ['never', undefined, undefined],
      ['node01', '+0ms', '0'],
      ['node02', '+0ms', '0'],
    ],
  );
  t.strictSame(
    anomalies(survey(snapshot)).flatMap(({ kind, text }) => (kind === 'clock' ? text : [])),
    ['clocks of untold,wrong are 2.1 s behind'],
  );
  t.equal(parsed(snapshot).nodes.find(({ name }: { name: string }) => name === 'starved').offset_us, -2_100_000);
});

function parsed(snapshot: Snapshot, choice?: Choice) {
  const found = survey(snapshot, choice);
  // A piece is valid only until the next one is requested, so each is copied.
  const pieces = Array.from(
    jsonPieces(snapshot, () => ({ nodes: found.nodes, odd: anomalies(found), trouble: [] })),
    piece => Buffer.from(piece).toString(),
  );
  return JSON.parse(pieces.join(''));
}

t.test('a counter beyond 2^53 is absent in JSON, and rounded for people', async t => {
  const rx_bytes = 2n ** 53n;
  const snapshot = madeBoard([
    {
      name: 'n1',
      age: 1,
      ...busy(1, { valid: EVERYTHING, disk_read_bytes: rx_bytes, fabric: { name: 'ib0', rx_bytes } }),
      record: { lost: rx_bytes },
    },
  ]);
  const columns = ['disk_read_bytes', 'fabric.rx_bytes', 'lost', 'load'];
  const pieces = jsonPieces(snapshot, () => ({ nodes: survey(snapshot).nodes, odd: [], trouble: [] }), { columns });
  const text = Array.from(pieces, piece => Buffer.from(piece).toString()).join('');
  t.same(Object.keys(JSON.parse(text).nodes[0]), ['name', 'state', 'load']);
  const told = chosenColumns(columns).map(({ field }) => field.value(snapshot.node(0)));
  t.same(told.slice(1, 4), [Number(rx_bytes), Number(rx_bytes), Number(rx_bytes)]);
});

t.test('JSON: what is odd, and the nodes that were chosen', async t => {
  const all = parsed(madeBoard(dead));
  t.equal(all.schema, 1);
  t.equal(all.nodes.length, 480);
  t.same(all.anomalies, [
    {
      kind: 'together',
      nodes: 'rack17n[01-48],rack18n[01-48]',
      text: '96 nodes of rack[17-18] fell silent together: probably a switch or rack, not 96 nodes',
    },
  ]);
  const one = parsed(madeBoard(dead), { among: ['rack11n01', 'nobody'] });
  t.same(
    one.nodes.map(({ name }: { name: string }) => name),
    ['rack11n01'],
  );
  t.same(one.anomalies, [{ kind: 'not_on_board', text: 'not on the board: nobody' }], 'nothing of others');
  t.same(
    parsed(madeBoard(mixed, REFUSED)).anomalies.map(
      ({ kind, nodes }: { kind: string; nodes: string }) => `${kind} ${nodes}`,
    ),
    ['refused rack06n48', 'clock rack04n01', 'clock rack05n[01-05]', 'kernel rack03n07'],
  );
});

/** A receiver, and sixty nodes that reported once and stay live, because their interval is ten minutes. */
async function sixty(t: Test, board: string): Promise<void> {
  const { port } = await startReceiver(t, board);
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  for (const [i, hostname] of expand('node[01-60]', BOARD_MOST).entries()) {
    const values = { hostname, interval_ms: 600_000, ...busy(i).report };
    socket.send(makeReport(values), port, '127.0.0.1');
  }
  const reader = openReader(t, board);
  await until('all have reported', () => countStates(reader.snapshot().overview.states).live === 60);
}

t.test('what is cut names the command that shows the rest under the same conditions', { skip: NOT_WHOLE }, async t => {
  // A path that a shell would split.
  const board = join(folder(t), "it's a board");
  const { port } = await startReceiver(t, board);
  const socket = createSocket('udp4');
  t.teardown(() => socket.close());
  // Only odd numbers, so that the folded list is long.
  const names = expand('rack1n[001-699],rack2n[001-099]', BOARD_MOST).filter(name => /[13579]$/.test(name));
  for (const [i, hostname] of names.entries()) {
    const flags = i % 3 === 0 ? 0 : 1 << bits.flags.held;
    const values = { hostname, interval_ms: 600_000, flags, ...busy(i % 64).report };
    socket.send(makeReport(values), port, '127.0.0.1');
  }
  const reader = openReader(t, board);
  await until('all have reported', () => reader.snapshot().count === names.length);
  const list = join(folder(t), 'list');
  writeFileSync(list, `${names.filter(name => name < 'rack1n651').join('\n')}\n`);
  const config = join(folder(t), 'config');
  writeFileSync(config, 'where = "load > 3"\n');
  /** Runs the command after `… all: ` in a shell. */
  const pasted = (text: string) => {
    const [, command = ''] = /… (?:\d+ more; )?all: ((?:.*\\\n)*.*)\n/.exec(text) ?? [];
    t.match(command, /^beoboard /);
    const program = `beoboard() { '${process.execPath}' '${PROGRAM}' "$@"; }\n${command}`;
    return spawnSync('sh', ['-c', program], { encoding: 'utf8' });
  };
  const status = async (...argv: string[]) => (await runHere(['status', '--board', board, ...argv])).stdout;
  const chosen = async (...argv: string[]) =>
    JSON.parse(await status('--json', ...argv)).nodes.map(({ name }: { name: string }) => name);
  for (const conditions of [
    [],
    ['-w', fold(names.slice(100))],
    ['--where', `name ~ "^rack1" && load > 10`],
    ['-x'],
    ['-x', '--where', `load > 10 || name == "rack2n001"`],
    ['-w', `@${list}`, '--where', 'load > 3'],
    ['--config', config],
    ['-w', `@${list}`, 'rack2n001'],
  ]) {
    const { stdout, status: code } = pasted(await status(...conditions));
    t.equal(code, 0, conditions.join(' '));
    t.same(expand(stdout.trim(), BOARD_MOST).sort(), (await chosen(...conditions)).sort(), 'exactly these');
  }
  const rows = (text: string) => text.split('\n').filter(line => /^rack\S+ +live/.test(line)).length;
  const sorted = ['--where', 'load > 10', '--sort', '-load', '-o', 'name,state,load'];
  const cutRows = await status(...sorted);
  t.equal(rows(cutRows), 40);
  // Without the lines before and after the table, which have times.
  const table = (text: string) => text.split('\n\n')[1]?.split('\n');
  t.same(table(pasted(cutRows).stdout), table(await status(...sorted, '--long')), 'rows');
  const byLoad = ['--by', '/n[0-9]+$/', '--where', 'load > 10', '-x'];
  const cutGroups = await status(...byLoad);
  t.match(cutGroups, /\n… \d+ more; all: /);
  t.same(table(pasted(cutGroups).stdout), table(await status(...byLoad, '--long')), 'groups');
});

t.test('Slurm beside many nodes: the worst have rows with its columns, the others are folded', async t => {
  const nodes = expand('node[01-60]', BOARD_MOST).map(
    (name, i): MadeNode => ({ name, age: i % 2 === 1 ? 190 : 0.4, ...busy(i) }),
  );
  const time = monotonicMs();
  const answer = { time_ms: Date.now(), mono_ms: time };
  const job = {
    id: '47',
    state: 'RUNNING',
    user: 'anna',
    partition: 'batch',
    cpus: 2,
    nodes: 'node[01-60]',
    name: 'j',
  };
  const state: SchedulerState = {
    ...{ schema: 2, pid: 1, mono_ms: time, next_ms: time + 600_000, time_ms: Date.now() },
    ...{
      cluster: 'c',
      version: '22.05.8',
      scheduler: 'Slurm',
      daemon: 'slurmd',
      user: 'root',
      names: {},
      differences: [],
    },
    nodes: { ...answer, list: nodes.map(({ name }) => ({ name, state: 'MIXED', cpus: 4 })) },
    jobs: { ...answer, list: [job] },
  };
  const found = survey(madeBoard(nodes));
  const slurm = new SchedulerView(new Pairing({ state }, found.snapshot.names()));
  const look: StatusLayout = { ...PLAIN, width: 120, slurm, asked: { jobs: true } };
  const text = (await statusText(found, look)).join('');
  const rows = text.split('\n').filter(line => /^node\d\d +(silent|live) +MIXED +anna +47 /.test(line));
  t.match(text, /\nNODE +STATE +SLURM +USER +JOBS +/);
  t.equal(rows.length, 40);
  t.equal(rows.filter(row => row.includes('silent')).length, 30, 'first the worst');
  t.match(text, /\n… 20 more; all: .*\nlive +20 {2}node\[21,23,/, 'the others are told as well');
  t.equal((await statusText(found, { ...look, long: true })).filter(line => line.includes('anna')).length, 60);
  const plain = (await plainText(found, look)).join('');
  t.equal(plain.match(/in Slurm MIXED, user anna, jobs 47/g)?.length, 40);
  t.match(plain, /\nlive, 20 nodes: node\[21,23,/);
  t.notMatch((await statusText(found, PLAIN)).join(''), /NODE +STATE/, 'without Slurm all are folded');
});

t.test('the command: forms, choices, errors', async t => {
  const board = boardPath(t);
  await sixty(t, board);
  const status = (...argv: string[]) => runHere(['status', '--board', board, ...argv]);
  const lines = (text: string) => text.trimEnd().split('\n');
  t.match(
    (await status()).stdout,
    /^60 nodes: 60 live; listening without gaps for .*\nCPUs .* used\n(?:notice .*\n(?: .*\n)*)*\nlive +60 {2}node\[01-60\]\n$/,
  );
  const table = async (...argv: string[]) => lines((await status(...argv)).stdout.split('\n\n')[1] ?? '').length;
  t.same([await table('-x'), await table('-w', 'node[01-07]'), await table('--long')], [1, 8, 61]);
  t.match(
    (await status('--sort', '-load')).stdout,
    /\n… 20 more; all: beoboard status --sort -load --long \\\n {2}--board \S+\n/,
  );
  t.equal(lines((await status('--csv', '-w', 'node[03-05]', '-o', 'state,load1_c')).stdout)[0], 'name,state,load1_c\r');
  const loads = lines((await status('--csv', '--sort', 'load', '-o', 'load')).stdout)
    .slice(1)
    .map(line => Number(line.split(',')[1]));
  t.same(
    loads,
    [...loads].sort((a, b) => b - a),
  );
  t.equal(loads.length, 60);
  const chosen = JSON.parse((await status('--json', '--where', 'load > 20 && state == live')).stdout);
  t.ok(chosen.nodes.length > 0 && chosen.nodes.length < 60);
  t.equal(chosen.totals.cpus.nodes, chosen.nodes.length);
  t.ok(chosen.nodes.every(({ report }: { report: { load1_c: number } }) => report.load1_c > 2000));
  const few = JSON.parse((await status('--json', '-w', 'node01', '-o', 'load,arch,power_node_w')).stdout);
  const whole = JSON.parse((await status('--json', '-w', 'node01')).stdout).nodes[0];
  t.same(Object.keys(few.nodes[0]), ['name', 'state', 'load', 'arch'], 'and what was not measured is absent');
  t.match(few, {
    schema: 1,
    board: { nodes: 60 },
    nodes: [{ name: 'node01', state: 'live', arch: whole.report.arch }],
  });
  t.type(few.nodes[0].load, 'number');
  const grouped = JSON.parse((await status('--json', '--by', 'cpus', '-o', 'load,arch,cpus')).stdout);
  t.strictSame(unlike('Status', grouped), []);
  const { groups, nodes } = grouped;
  const each = new Map<number, number[]>();
  for (const { load, cpus } of nodes) each.set(cpus, [...(each.get(cpus) ?? []), load]);
  t.equal(groups.length, each.size);
  for (const { group, states, means, nodes: list } of groups) {
    const loads = each.get(Number(group)) ?? [];
    t.equal(states.live, loads.length);
    t.equal(expand(list, BOARD_MOST).length, loads.length);
    t.ok(Math.abs(means.load - loads.reduce((a, b) => a + b, 0) / loads.length) < 1, `${means.load}, ${loads}`);
    t.equal(means.arch, enums.arch[nodes[0].arch]);
  }
  t.match(
    (await status('--plain', '-w', 'node01')).stdout,
    /\nnode01 is live, since \S+, last heard \S+ ago, reports lost 0, by lo; load /,
  );
  const only = await status('node01');
  t.same([only.code, only.stdout.split('\n').filter(line => /^node\d/.test(line)).length], [0, 1], 'an argument is -w');
  const both = JSON.parse((await status('--json', 'node[02-03]', '-w', 'node01', 'node04')).stdout);
  t.same(both.nodes.map(({ name }: { name: string }) => name).sort(), ['node01', 'node02', 'node03', 'node04']);
  for (const form of [[], ['--json'], ['--csv'], ['--plain'], ['--by', 'cpus']]) {
    const { code, stdout, stderr } = await status(...form, '-w', 'node01,nobody');
    t.equal(code, 1, `a name that is not on the board ${form.join(' ')}`);
    t.match(form[0] === '--csv' ? stderr : stdout, /not on the board: nobody/);
  }
  const journals = folder(t);
  const state = { board, journal_dir: '/x', pid: 1, time_ms: 1, mono_ms: 1, next_ms: 1, schema: 1 } as const;
  writeState(journals, 'default', state);
  const stopped =
    /the journal default has stopped: see\s+systemctl|the journal of this board has stopped: it last ran at /;
  for (const form of [[], ['--plain'], ['--json']])
    t.match((await status(...form, '--journal-run', journals)).stdout, stopped);
  t.notMatch((await status('--journal-run', `${journals}/none`)).stdout, stopped);
  t.match(
    (await status('--by', '/^rack/')).stdout,
    /\nno groups: none of these names matches \/\^rack\/; beoboard nodes lists them\n/,
  );
  t.match(
    (await status('--by', 'power_node_w', '--where', 'load > 1e9')).stdout,
    /^.*\n/,
    'nobody: no rule is to blame',
  );
  const refused: [argv: string[], says: RegExp][] = [
    [['node[3-1]'], /: host list, column 6: '3-1' runs backwards/],
    [['--where', 'lod > 1'], /--where: column 1: there is no field 'lod'; did you mean load\?/],
    [['--sort', 'lod'], /there is no field 'lod'; did you mean load\?/],
    [['-o', 'lod'], /there is no column 'lod'; did you mean load\?/],
    [['--csv', '--json'], /--json and --csv do not go together/],
    [['--csv', '--watch'], /--watch and --csv do not go together/],
    [['--by', 'lod'], /there is no field 'lod'; did you mean load\?/],
    [['--by', '/(/'], /--by: '\(' is not a regular expression; write /],
    [['--by', 'load', '--csv'], /--by and --csv do not go together/],
    [['--watch', '--json', '-o', 'lod'], /there is no column 'lod'; did you mean load\?/],
    [['--color', 'blue'], /use auto, always or never/],
    [['-w', 'n[3-1]'], /--nodes: host list, column 3/],
    [['-q'], /unknown option '-q'/],
  ];
  for (const [argv, says] of refused) {
    const { code, stderr, stdout } = await status(...argv);
    t.equal(code, 2, argv.join(' '));
    t.match(stderr, says);
    t.match(stderr, /^beoboard status: .*\n$/);
    t.equal(stdout, '');
  }
});

t.test(
  'as wide as the terminal, and in colour, where there is one',
  { skip: spawnSync('script', ['--version']).error !== undefined && 'script is not installed' },
  async t => {
    const board = boardPath(t);
    await sixty(t, board);
    const seen = (columns: number, env: Record<string, string> = {}) =>
      spawnSync(
        'script',
        [
          '-qec',
          `stty cols ${columns}; '${process.execPath}' '${PROGRAM}' status --board ${board} -w node[01-03]`,
          '/dev/null',
        ],
        { encoding: 'utf8', env: { ...process.env, TERM: 'xterm', NO_COLOR: '', ...env } },
      ).stdout;
    const widest = (text: string) =>
      Math.max(
        ...text
          .replace(/\u001b\[\d+m/g, '')
          .split('\r\n')
          .slice(1)
          .map(({ length }) => length),
      );
    t.ok(widest(seen(80)) <= 80);
    t.ok(widest(seen(200)) > widest(seen(80)), 'more columns where there is room');
    t.match(seen(80), /\u001b\[32mlive/);
    t.notMatch(seen(80, { NO_COLOR: '1' }), /\u001b/);
  },
);

t.test('watch continues while the board is missing for a moment', { skip: NOT_WHOLE }, async t => {
  const board = boardPath(t);
  const receiver = await startReceiver(t, board, ['--nodes', 'node1']);
  const watching = start(t, ['status', '--watch', '--board', board]);
  const shown = (what: RegExp) => watching.output().stdout.match(what)?.length ?? 0;
  const STATE = /^1 node: 1 never;/gm;
  await until('it shows the node', () => shown(STATE) > 0);
  receiver.child.kill('SIGTERM');
  await receiver.exit;
  rmSync(board);
  await until('it says that there is none', () => shown(/^no board: .*there is no board.*$/gm) > 0);
  const before = shown(STATE);
  await startReceiver(t, board, ['--nodes', 'node1']);
  await until('it shows the node again', () => shown(STATE) > before);
  watching.child.kill('SIGTERM');
  t.equal(await watching.exit, 0);
  const none = await runHere(['status', '--watch', '--board', `${board}.none`]);
  t.equal(none.code, 4, 'what was never there is not waited for');
});

t.test('watch as NDJSON: one object a line, every second, also of a board that is away', async t => {
  const board = boardPath(t);
  const receiver = await startReceiver(t, board, ['--nodes', 'node1']);
  const watching = start(t, ['status', '--watch', '--json', '-o', 'load', '--board', board]);
  const objects = () =>
    watching
      .output()
      .stdout.split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line) as Record<string, unknown>);
  await until('there are two', () => objects().length > 1);
  for (const object of objects()) t.match(object, { schema: 1, board: { nodes: 1 }, nodes: [{ name: 'node1' }] });
  receiver.child.kill('SIGTERM');
  await receiver.exit;
  rmSync(board);
  const last = await until('there is none', () => objects().find(object => 'no_board' in object));
  t.match(last, { schema: 1, no_board: /there is no board/ });
  t.strictSame(unlike('NoBoard', last), []);
  watching.child.kill('SIGTERM');
  t.equal(await watching.exit, 0);
});

t.test('a board of 800,000 nodes: the last one is beyond 2 GiB', { skip: NOT_WHOLE }, t => {
  const count = 800_000;
  const small = bytesOf([reporting('last')]);
  const { header_bytes, column_stride, record_stride } = new Snapshot('', small, {
    nowNs: NOW,
    realNs: 0n,
    nodes: 1,
    stalled: false,
  }).header;
  // It is written only at its ends, so it takes hardly any memory.
  let large: Uint8Array;
  try {
    large = new Uint8Array(header_bytes + count * (column_stride + record_stride + OVERVIEW.bytes));
  } catch {
    t.pass('skipped', { skip: 'this machine promises no 2.4 GB' });
    t.end();
    return;
  }
  large.set(small.subarray(0, header_bytes));
  large.set(small.subarray(header_bytes + column_stride), large.length - count * OVERVIEW.bytes - record_stride);
  const snapshot = snapshotOf('', large, { nowNs: NOW, realNs: 0n, nodes: count });
  const found = survey(snapshot);
  t.same([found.standing.states.live, found.standing.states.never], [1, count - 1]);
  t.match(found.all.at(-1), { name: 'last', state: 'live' });
  t.equal(snapshot.node(count - 1).name, 'last');
  t.equal(snapshot.node(count - 1).field('load1_c'), snapshot.node(count - 1).report?.load1_c);
  t.ok(snapshot.node(count - 1).report, 'its report is found');
  t.match(
    anomalies(found)
      .filter(({ kind }) => kind !== 'unhealthy')
      .map(({ text }) => text),
    ['clock of last is 1.0 s behind'],
  );
  t.ok(
    anomalies(found).some(({ text }) => text === 'last: put on hold by its administrator'),
    'and so is the one before it',
  );
  t.end();
});
