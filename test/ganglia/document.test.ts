// Compares the Ganglia document with what a real gmond sends and with what gmetad survives. Needs no receiver and no
// gmetad.
//
// @whole
// @days 3

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { Documents } from '../../src/ganglia-xml/documents.js';
import { GMOND, METRICS, OURS } from '../../src/ganglia-xml/metrics.js';
import { EVERYTHING, parseQuery } from '../../src/ganglia-xml/query.js';
import { NAME_MAX, safe, VALUE_MAX } from '../../src/ganglia-xml/safe.js';
import type { Encodable, SetName } from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import { TEXT_GAP, template } from '../../src/native/index.js';
import { NoBoard } from '../../src/shm/noboard.js';
import type { Snapshot } from '../../src/shm/snapshot.js';
import { Page } from '../../src/text/buffer.js';
import {
  ALL,
  type Attributes,
  beating,
  board,
  bytesOf,
  clean,
  clustersOf,
  EXPECTED,
  FULL,
  HOSTILE,
  type Host,
  invalid,
  LOCALTIME,
  NOW,
  needsXmllint,
  node,
  parse,
  S,
  type TestBoard,
  type TestNode,
  writeBoard,
} from '../kit/ganglia.js';
import { snapshotOf } from '../kit/judged.js';
import { structs as ofC } from '../kit/layout.gen.js';
import { validOf } from '../kit/madeboard.js';
import { PROGRAM } from '../kit/program.js';
import { runsOf } from '../kit/whole.js';
import { writtenBoard } from '../kit/writtenboard.js';

// ---- the content of the document ------------------------------------------------------------------------------------

/** A board as a source of documents; a query for one node gets the first. */
const sourceOf = (snapshot: Snapshot, name?: string) => ({ name, pieces: () => [snapshot], one: () => snapshot });

/** All pieces joined; each piece is valid only until the next. */
function textOf(pieces: Iterable<Uint8Array>): string {
  let text = '';
  for (const piece of pieces) text += Buffer.from(piece).toString('latin1');
  return text;
}

function documentOf(snapshot: Snapshot, cluster?: string): string {
  return textOf(new Documents([sourceOf(snapshot, cluster)]).gmond(LOCALTIME));
}

function hostOf(snapshot: Snapshot, name = 'n1'): Host {
  return parse(documentOf(snapshot)).hosts[name]!;
}

function valuesOf(snapshot: Snapshot): Attributes {
  return Object.fromEntries(Object.entries(hostOf(snapshot).metrics).map(([name, { VAL }]) => [name, VAL!]));
}

// ---- the tests -------------------------------------------------------------------------------------------------------

t.test('every metric of a default gmond, with the same facts', async t => {
  const path = new URL('../../../test/vectors/gmond-metrics.json', import.meta.url);
  const { metrics } = JSON.parse(readFileSync(path, 'utf8')) as { metrics: string[] };
  const ours = new Set(OURS.map(({ name }) => name));
  const theirs = Object.values(hostOf(board([node('n1')])).metrics).filter(({ NAME }) => !ours.has(NAME!));
  const rows = theirs.map(({ NAME, VAL, TYPE, UNITS, TMAX, SLOPE, extras }) => {
    const digits = TYPE === 'string' ? 0 : (VAL!.split('.')[1]?.length ?? 0);
    return [NAME, TYPE, UNITS, TMAX, SLOPE, digits, extras.GROUP, extras.TITLE, extras.DESC].join('|');
  });
  t.same(rows.sort(), metrics);
  t.equal(new Set(METRICS.map(({ name }) => name)).size, METRICS.length, 'no name twice');
  const alone = textOf(new Documents([sourceOf(board([node('n1')]))], undefined, GMOND).gmond(LOCALTIME));
  t.same(
    Object.keys(parse(alone).hosts.n1!.metrics),
    GMOND.map(({ name }) => name),
    'and alone, in their order',
  );
});

t.test('the values when everything is measured', async t => {
  t.same(valuesOf(board([node('n1')])), EXPECTED);
});

t.test('what was not measured is left out', async t => {
  const lost: [set: SetName, names: string][] = [
    ['cpus', 'cpu_num'],
    ['cpu_mhz', 'cpu_speed'],
    ['psi_cpu', 'psi_cpu_some'],
    ['psi_mem', 'psi_mem_some psi_mem_full'],
    ['psi_io', 'psi_io_some psi_io_full'],
    ['vmstat', 'swap_in swap_out oom_kills'],
    ['disk', 'disk_read disk_write'],
    ['disk_share', 'disk_busiest'],
    ['gpu', 'gpu_num gpu_used gpu_util gpu_mem_used gpu_mem_total gpu_power gpu_temp'],
    ['gpu_errors', 'gpu_errors'],
    ['fabric', 'fabric_bytes_in fabric_bytes_out fabric_errors'],
    ['power', 'power_node'],
    ['energy_cpu', 'power_cpu'],
    ['energy_dram', 'power_dram'],
    ['temp_inlet', 'temp_inlet'],
    ['temp_hottest', 'temp_hottest'],
    ['health', 'health'],
    ['hung_tasks', 'hung_tasks'],
    ['edac', 'edac_ce edac_ue'],
    ['throttle', 'throttle_events'],
    ['sender', 'send_late'],
    ['stat', 'cpu_user cpu_nice cpu_system cpu_idle cpu_wio cpu_aidle cpu_steal proc_run'],
    ['load', 'load_one load_five load_fifteen proc_total'],
    [
      'memory',
      'mem_total mem_free mem_buffers mem_cached mem_shared mem_sreclaimable mem_available swap_total swap_free',
    ],
    ['net', 'bytes_in bytes_out pkts_in pkts_out'],
    ['filesystems', 'disk_total disk_free part_max_used'],
    ['system', 'machine_type os_name os_release'],
  ];
  const all = Object.keys(EXPECTED).sort();
  for (const [set, names] of lost) {
    const without = valuesOf(board([node('n1', 0, { valid: ALL & ~(1n << BigInt(bits.valid[set])) })]));
    const left = all.filter(name => !names.split(' ').includes(name));
    t.same(Object.keys(without).sort(), left, set);
  }
  const touched = lost.flatMap(([, names]) => names.split(' '));
  const always = ['boottime', 'gexec', 'held', 'root_readonly', 'report_age', 'clock_ahead', 'reports_lost'].sort();
  t.same([...touched, ...always].sort(), all, 'every metric but these hangs on a set');
  t.same(Object.keys(valuesOf(board([node('n1', 0, { valid: 0n })]))).sort(), always, 'nothing measured');
});

t.test('old readings are like young ones, but for their age', async t => {
  const text = (age: number, valid: bigint) =>
    documentOf(board([node('n1', age, { valid }), node('n2', 1, { valid })], { header: { listening_since_ns: 0n } }));
  const sets = [...Object.values(bits.valid).map(bit => ALL & ~(1n << BigInt(bit))), ALL, 0n];
  for (const [i, valid] of sets.entries()) {
    const [young, ...others] = [50, 127, 128, 129, 5000].map(age => {
      const whole = text(age, valid);
      const { metrics } = parse(whole).hosts.n1!;
      t.ok(
        Object.values(metrics).every(({ TN }) => TN === String(age)),
        `all are ${age} s old`,
      );
      return whole
        .replaceAll(`TN="${age}"`, 'TN="AGE"')
        .replaceAll(`TN="${age + 80}"`, 'TN="AGE"')
        .replaceAll(/REPORTED="\d+"/g, '')
        .replace(/NAME="report_age" VAL="[^"]+"/, '');
    });
    for (const old of others) t.ok(old === young, `valid ${i}`);
  }
});

t.test('no rate, no metric', async t => {
  const traffic = /^(bytes|pkts)_/;
  const rated =
    /^(bytes|pkts)_|^cpu_(user|nice|system|idle|wio|steal)$|^swap_(in|out)$|^disk_(read|write)$|^fabric_|^power_(cpu|dram)$/;
  const none = { net: [], net_rest: {} };
  const cases: [what: string, made: TestNode, lost: RegExp][] = [
    ['one report', { name: 'n1', reports: [[0, FULL]] }, rated],
    ['a reboot between the two', node('n1', 0, { boot_id: 8n }), rated],
    [
      'an interface that is new',
      node('n1', 0, { net: [...(FULL.net ?? []), { name: 'eth2', rx_bytes: 1e15 }] }),
      traffic,
    ],
    ['others in the rest', node('n1', 0, { net_rest: { ...FULL.net_rest, state: 3 << 16 } }), traffic],
    ['a counter beyond 2^53', node('n1', 0, { net_rest: { ...FULL.net_rest, rx_bytes: 2n ** 60n } }), /^bytes_in$/],
    ['a counter that went back', node('n1', 0, { cpu_user_ms: 1 }), /^cpu_user$/],
    ['no interface at all', node('n1', 0, none, none), traffic],
  ];
  for (const [what, made, lost] of cases) {
    const left = Object.keys(EXPECTED).filter(name => !lost.test(name));
    t.same(Object.keys(valuesOf(board([made]))).sort(), left.sort(), what);
  }
  // Such a host is in no sum of theirs either.
  const [, beyond] = cases[4] as (typeof cases)[number];
  const both = board([node('n2'), beyond]);
  const documents = new Documents([sourceOf(both)]);
  const sums = textOf(documents.gmetad({ ...EVERYTHING, summary: true }, LOCALTIME));
  const numbers = (metric: string) => new RegExp(`<METRICS NAME="${metric}"[^>]* NUM="(\\d)"`).exec(sums)?.[1];
  t.strictSame([numbers('bytes_in'), numbers('bytes_out')], ['1', '2']);
});

t.test('single readings at their limits', async t => {
  const cases: [Encodable<'report'>, metric: string, value: string | undefined][] = [
    [{ runnable: 1 }, 'proc_run', '0'],
    [{ runnable: 0 }, 'proc_run', '0'],
    [{ arch: 0 }, 'machine_type', 'other'],
    [{ arch: 200 }, 'machine_type', undefined],
    [{ os_release: '' }, 'os_release', undefined],
    [{ mem_total_mib: 0xffffffff }, 'mem_total', '4398046510080'],
    [{ fs_total_mib: 0xffffffff }, 'disk_total', '4503599.626'],
    [{ load1_c: 0xffffffff }, 'load_one', '42949672.95'],
    [{ t_real_ns: 0n }, 'boottime', undefined],
    [{ t_real_ns: 2n ** 64n - 1n }, 'boottime', undefined],
    [{ cpu_idle_ms: 2n ** 60n }, 'cpu_aidle', '100.0'],
    [{ cpu_idle_ms: 2n ** 60n }, 'cpu_idle', '100.0'],
    [{ t_boot_ns: 1000n * S + 1n, net: [{ name: 'eth0', rx_bytes: 2n ** 53n - 1n }] }, 'bytes_in', undefined],
  ];
  for (const [changed, metric, value] of cases) {
    const found = valuesOf(board([node('n1', 0, changed)]));
    t.equal(found[metric], value, `${metric} of ${Object.keys(changed)}`);
  }
});

t.test('a host', async t => {
  const address = [...new Array(10).fill(0), 255, 255, 10, 1, 2, 3];
  t.same(hostOf(board([{ ...node('n1', 3.9), address }])).attributes, {
    NAME: 'n1',
    IP: '10.1.2.3',
    TAGS: '',
    REPORTED: String(LOCALTIME - 3),
    TN: '3',
    TMAX: '20',
    DMAX: '0',
    LOCATION: 'unspecified',
    GMOND_STARTED: '1700000500',
  });
  const unset = hostOf(board([node('n1', 0, { t_real_ns: 0n })])).attributes;
  t.equal(unset.GMOND_STARTED, '0', 'a clock that was never set');
  const v6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x2a];
  t.equal(hostOf(board([{ ...node('n1'), address: v6 }])).attributes.IP, '2001:db8::2a');
  t.equal(hostOf(board([node('n1')])).attributes.IP, 'unspecified');
  for (const { TN, TMAX, DMAX } of Object.values(hostOf(board([node('n1', 3.9)])).metrics)) {
    t.match({ TN, DMAX }, { TN: '3', DMAX: '0' });
    t.match(TMAX, /^\d+$/);
  }
});

t.test('TN says up, or down', async t => {
  const slow = { interval_ms: 600_000 };
  const goodbye = { flags: 1 << bits.flags.goodbye };
  const long = { header: { listening_since_ns: 0n } };
  const cases: [what: string, TestNode, TestBoard, tn: number, metricTn: number][] = [
    ['live', node('n1', 1.5), {}, 1, 1],
    ['live, stamped a little ahead of the reader', node('n1', -0.5), {}, 0, 0],
    ['uncertain: stamped far ahead', node('n1', -5), {}, 0, 0],
    ['uncertain is up', node('n1', 10.2), {}, 10, 10],
    ['silent', node('n1', 10.6), {}, 90, 10],
    ['silent for an hour', node('n1', 3600), long, 3680, 3600],
    ['nobody listened meanwhile', node('n1', 900), { header: { listening_since_ns: NOW - 2n * S } }, 60, 900],
    ['a long interval', node('n1', 1800, slow), long, 60, 1800],
    ['a long interval, silent', node('n1', 4990, { interval_ms: 400_000 }), long, 5070, 4990],
    ['left', node('n1', 2, goodbye), {}, 82, 2],
    ['left long ago', node('n1', 4000, goodbye), long, 4080, 4000],
  ];
  for (const [what, made, options, tn, metricTn] of cases) {
    const { attributes, metrics } = hostOf(board([made], options));
    t.same([attributes.TN, attributes.REPORTED], [String(tn), String(LOCALTIME - tn)], what);
    t.equal(tn < 80, /live|uncertain|nobody|interval$/.test(what), `${what}: by gmetad's rule`);
    t.equal(metrics.load_one?.TN, String(metricTn), `${what}: how old the reading is`);
    t.equal(Object.keys(metrics).length, METRICS.length, `${what}: the last readings stay`);
  }
  const never = hostOf(board([{ name: 'n1' }], { header: { listening_since_ns: NOW - 100n * S } }));
  t.match(never.attributes, { TN: '180', REPORTED: String(LOCALTIME - 180), GMOND_STARTED: '0', IP: 'unspecified' });
  t.same(never.metrics, {}, 'never: no metrics');
});

t.test('a failed monitor is not blamed on the nodes', async t => {
  // The times of 600 s ago, the last heartbeat.
  const heartbeat = { heartbeat_ns: NOW - 600n * S, listening_since_ns: NOW - 900n * S };
  const retired = { state: 1n << BigInt(bits.board_state.retired) };
  const nodes = [
    node('live', 602),
    node('uncertain', 608),
    node('silent', 630),
    node('left', 603, { flags: 1 << bits.flags.goodbye }),
    { name: 'never' },
  ];
  const tns = { live: '2', uncertain: '8', silent: '110', left: '83', never: '380' };
  for (const [what, options] of [
    ['stalled', { header: heartbeat }],
    ['retired', { header: { ...heartbeat, ...retired } }],
    [
      'another clock',
      { now: NOW + 7200n * S, header: { heartbeat_ns: NOW + 6600n * S, listening_since_ns: NOW + 6300n * S } },
    ],
  ] as [string, TestBoard][]) {
    const document = documentOf(board(nodes, options));
    const { cluster, hosts } = parse(document);
    t.same(Object.fromEntries(Object.entries(hosts).map(([name, { attributes }]) => [name, attributes.TN])), tns, what);
    t.equal(cluster.LOCALTIME, String(LOCALTIME), `${what}: time goes on`);
    t.equal(hosts.live?.metrics.load_one?.VAL, '12.34', `${what}: the last readings stay`);
    t.match(document, /<!-- The monitor has failed/, `${what}: and it says so`);
    t.equal(clean(document), undefined);
  }
  const { hosts } = parse(documentOf(board(nodes, { header: heartbeat })));
  t.equal(hosts.live?.metrics.load_one?.TN, '602', 'the age of the readings goes on');
  t.notMatch(documentOf(board([node('n1')])), /<!--/);
});

t.test('the cluster', async t => {
  const { cluster } = parse(documentOf(board([], { header: { cluster_name: '' } })));
  const unspecified = 'unspecified';
  t.same(cluster, {
    NAME: unspecified,
    LOCALTIME: String(LOCALTIME),
    OWNER: unspecified,
    LATLONG: unspecified,
    URL: unspecified,
  });
  t.equal(parse(documentOf(board([]))).cluster.NAME, 'test');
  t.equal(parse(documentOf(board([]), 'other')).cluster.NAME, 'other');
});

t.test('safe names', async t => {
  const cases: [from: string, to: string][] = [
    ['node-1.example_x', 'node-1.example_x'],
    ['', 'unspecified'],
    ['..', 'unspecified'],
    ['.hidden', 'hidden'],
    ['__SummaryInfo__', 'SummaryInfo__'],
    ['../../etc', 'etc'],
    ['a/b c$d', 'a_b_c_d'],
    ['a&amp;<b>"\'', 'a_amp__b___'],
    ['Grüße \u{1f600}', 'Gr__e__'],
    ['a\0\n\x7fb', 'a___b'],
    ['x'.repeat(400), 'x'.repeat(NAME_MAX)],
  ];
  for (const [from, to] of cases) t.equal(safe(from, 'name'), to, JSON.stringify(from.slice(0, 20)));
});

t.test('safe values', async t => {
  const cases: [from: string, to: string][] = [
    ['6.1.0-25-amd64', '6.1.0-25-amd64'],
    ['', ''],
    ['a & b < c > d " e \' f', 'a _ b _ c _ d _ e _ f'],
    ['&amp;', '_amp;'],
    ['/usr/lib #1 (x)', '/usr/lib #1 (x)'],
    ['a\0\t\r\n\x1b[31m\x7f\x85b', 'a_____[31m__b'],
    ['Grüße \u{1f600}\ufffd\ud800', 'Gr__e ___'],
    ['x'.repeat(4000), 'x'.repeat(VALUE_MAX)],
  ];
  for (const [from, to] of cases) t.equal(safe(from, 'value'), to, JSON.stringify(from.slice(0, 20)));
  const longest = Math.max(...METRICS.map(m => JSON.stringify(Object.values(m)).length));
  t.ok(3 * VALUE_MAX < 1572 && VALUE_MAX + longest + 100 < 1572, 'gmetad has room for all of it');
});

t.test('decimals', async t => {
  const page = new Page(64);
  const decimal = (value: number, digits: number) => {
    page.length = 0;
    page.decimal(value, digits);
    return Buffer.from(page.written).toString('latin1');
  };
  const cases: [value: number, digits: number, text: string][] = [
    [0, 0, '0'],
    [-0.001, 2, '0.00'],
    [-0, 1, '0.0'],
    [-1.25, 1, '-1.3'],
    [1e-9, 3, '0.000'],
    [0.05, 1, '0.1'],
    [9.999, 2, '10.00'],
    [999_999_999, 0, '999999999'],
    [1e9, 0, '1000000000'],
    [2 ** 31 - 0.5, 1, '2147483647.5'],
    [12_345_678_901.005, 3, '12345678901.005'],
    [2 ** 53 - 1, 0, '9007199254740991'],
    [2 ** 53 - 1, 3, '9007199254740991.000'],
    [1 - 2 ** 53, 1, '-9007199254740991.0'],
  ];
  for (const [value, digits, text] of cases) t.equal(decimal(value, digits), text, `${value}`);
  const most = Number.MAX_SAFE_INTEGER;
  const plain = fc.property(fc.double({ min: -most, max: most, noNaN: true }), fc.nat(3), (value, digits) => {
    const text = decimal(value, digits);
    // The nearest decimal, or its neighbour if rounding the product decides.
    const far = Math.abs(Number(text) - value);
    const pattern = digits === 0 ? /^-?\d+$/ : new RegExp(`^-?\\d+\\.\\d{${digits}}$`);
    return pattern.test(text) && text.length < 24 && far <= 0.5 / 10 ** digits + Math.abs(value) * 2 ** -51;
  });
  fc.assert(plain, { seed: 50, numRuns: runsOf(20_000) });
  const small = fc.property(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.nat(3), (value, digits) => {
    return Math.abs(Number(decimal(value, digits)) - Number(value.toFixed(digits))) <= 1.001 / 10 ** digits;
  });
  fc.assert(small, { seed: 51, numRuns: runsOf(20_000) });
});

t.test('forms', async t => {
  const into = Buffer.alloc(256, '?');
  /** What is printed at byte 3 of so many. */
  const printed = (text: string, gaps: number[], values: number[], texts = '', room = into.length) => {
    const bytes = Buffer.from(texts);
    const to = into.subarray(0, room);
    const print = template(Buffer.from(text), Uint32Array.from(gaps), Float64Array.from(values), bytes);
    const length = print(to, 3, bytes.length);
    return to.toString('latin1', 3, 3 + length);
  };
  t.equal(printed('', [], []), '');
  t.equal(printed('nothing else', [], []), 'nothing else');
  t.equal(printed('a=b=.', [2, 0, 1, 1, 2, 0, 0, 3], [-0.25, 7]), 'a=7.0b=-0.250.', 'values by their places');
  t.equal(
    printed('<><>', [1, 0, 0, TEXT_GAP, 1, 0, 1, 0, 1, 0, 2, TEXT_GAP, 0, 0, 3, TEXT_GAP], [3, 12, 3, 5], 'onexy'),
    '<one>12<xy>',
    'texts one after another, also an empty one',
  );
  // Parts (a), (b), (c) and (d), and something around them; the value of (c) is a text.
  const parts = [2, 1, 0, 0, 1, 1, 1, 0, 1, 1, 2, TEXT_GAP, 1, 1, 3, 0];
  const left = (...values: (number | undefined)[]) =>
    printed(
      '.()()()().',
      parts,
      values.map(value => value ?? Number.NaN),
      'xy',
    );
  t.equal(left(1, 2, 2, 4), '.(1)(2)(xy)(4).');
  t.equal(left(undefined, 2, 2, undefined), '(2)(xy).', 'what is before a part goes with it');
  t.equal(left(1, undefined, undefined, 4), '.(1)(4).');
  t.equal(left(1, undefined, 2, undefined), '.(1)(xy).');
  t.equal(left(undefined, undefined, undefined, undefined), '.');
  t.equal(left(1, 2 ** 53, Number.POSITIVE_INFINITY, -(2 ** 53)), '.(1).', 'too large');
  t.equal(into.toString('latin1', 0, 3), '???');

  const page = new Page(64);
  const asPage = (value: number, digits: number) => {
    page.length = 0;
    page.decimal(value, digits);
    return printed('', [0, 0, 0, digits], [value]) === Buffer.from(page.written).toString('latin1');
  };
  const most = Number.MAX_SAFE_INTEGER;
  for (let digits = 0; digits <= 6; digits++)
    for (const about of [0, 1, 5, 10, 100, 1e9, 2 ** 31, 2 ** 33, most / 1e6, most / 1000, most / 10, 2 ** 52, most])
      for (const off of [0, 0.005, 0.05, 0.25, 0.49999999999999994, 0.5, 0.75, 0.95, 0.9999999, 1])
        for (const value of [about + off, about - off, -about - off])
          if (Math.abs(value) <= most) t.ok(asPage(value, digits), `${value} with ${digits} digits`);
  const same = (numbers: fc.Arbitrary<number>) => fc.property(numbers, fc.nat(6), asPage);
  fc.assert(same(fc.double({ min: -most, max: most, noNaN: true })), { seed: 52, numRuns: runsOf(20_000) });
  fc.assert(same(fc.double({ min: -1e6, max: 1e6, noNaN: true })), { seed: 53, numRuns: runsOf(20_000) });
  fc.assert(same(fc.integer({ min: -1e9, max: 1e9 }).map(n => n / 1000)), { seed: 54, numRuns: runsOf(20_000) });
  fc.assert(same(fc.maxSafeInteger().map(n => n / 2 ** 12)), { seed: 55, numRuns: runsOf(20_000) });

  for (const [what, error, ...parts] of [
    ['no room', RangeError, 'text', [], [], '', 6],
    ['no room for a number', RangeError, '', [0, 0, 0, 0], [1], '', 3 + 23],
    ['a gap behind the end', TypeError, 'text', [5, 0, 0, 0], [1]],
    ['a part that ends behind the end', TypeError, 'text', [2, 3, 0, 0], [1]],
    ['a number of bytes that is too large', TypeError, 'text', [2, 2 ** 32 - 1, 0, 0], [1]],
    ['no such place', TypeError, '', [0, 0, 1, 0], [1]],
    ['too many digits', TypeError, '', [0, 0, 0, 8], [1]],
    ['a text that ends before it begins', RangeError, '', [0, 0, 0, TEXT_GAP, 0, 0, 1, TEXT_GAP], [2, 1], 'ab'],
    ['a text behind the end', RangeError, '', [0, 0, 0, TEXT_GAP], [3], 'ab'],
  ] as [what: string, error: typeof RangeError, ...Parameters<typeof printed>][])
    t.throws(() => printed(...parts), error, what);
  const empty = template(into, new Uint32Array(), new Float64Array(), into);
  t.throws(() => empty(into, 257, 0), RangeError, 'no such byte');
});

function hostile(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1');
  const nodes = [{ ...node('n1'), release: bytes }, node('n2', 99), node(text)];
  return documentOf(board(nodes, { cluster: bytes }));
}

t.test('hostile strings', async t => {
  for (const [what, bytes] of HOSTILE) {
    const document = hostile(bytes);
    t.equal(clean(document), undefined, what);
    const { cluster, hosts } = parse(document);
    t.equal(Object.keys(hosts).length, 3, `${what}: the hosts are there`);
    t.equal(Object.keys(hosts.n1!.metrics).length, METRICS.length, `${what}: the metrics are there`);
    t.match(cluster.NAME, /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, `${what}: the cluster has a name`);
  }
});

t.test('any bytes at all in a report', async () => {
  const bytes = fc.uint8Array({ minLength: structs.report.bytes, maxLength: structs.report.bytes });
  const property = fc.property(bytes, bytes, (before, after) => {
    const raw = bytesOf([node('n1')]);
    const at = structs.board_header.bytes + ofC.column_entry.bytes + structs.record.bytes;
    raw.set(before, at + structs.slot.fields.report.offset);
    raw.set(after, at + structs.slot.bytes + structs.slot.fields.report.offset);
    const document = documentOf(snapshotOf('test', raw, { nowNs: NOW, realNs: 0n, nodes: 1 }));
    const numeric = METRICS.filter(({ type }) => type !== 'string').map(({ name }) => name);
    const { metrics } = parse(document).hosts.n1!;
    const plain = numeric.every(name => /^-?\d{1,16}(\.\d{1,3})?$/.test(metrics[name]?.VAL ?? '0'));
    return clean(document) === undefined && plain;
  });
  fc.assert(property, { seed: 50, numRuns: runsOf(300) });
});

t.test('xmllint finds the documents valid', needsXmllint, async t => {
  const cases: [what: string, document: string][] = [
    ['an empty board', documentOf(board([]))],
    [
      'a full host, a silent one, one that was never heard',
      documentOf(board([node('a'), node('b', 99), { name: 'c' }])),
    ],
    ['nothing measured', documentOf(board([node('a', 0, { valid: 0n })]))],
    ['stalled', documentOf(board([node('a')], { header: { heartbeat_ns: 0n } }))],
    ...HOSTILE.map(([what, bytes]): [string, string] => [what, hostile(bytes)]),
  ];
  for (const [what, document] of cases) t.equal(invalid(document), '', what);
  t.not(
    invalid(documentOf(board([node('a')])).replace('SLOPE="both"', 'SLOPE="up"')),
    '',
    'and could find one invalid',
  );
});

t.test('a document is made piece by piece, and half of one leaves nothing behind', async t => {
  const nodes = Array.from({ length: 50 }, (_, i) => node(`n${i}`));
  let taken = 0;
  const pieces = function* () {
    for (let i = 0; i < 50; i += 16) {
      taken++;
      yield board(nodes.slice(i, i + 16));
    }
  };
  const documents = new Documents([{ pieces, one: () => board([]) }]);
  const first = documents.gmond(LOCALTIME);
  t.match(textOf([first.next().value as Uint8Array]), /^<\?xml.*NAME="n0".*NAME="n15"/s);
  t.equal(taken, 1, 'no more is read than is asked for');
  const second = documents.gmond(LOCALTIME + 1);
  t.match(textOf([second.next().value as Uint8Array]), /NAME="n15"/, 'two at once');
  first.return(undefined);
  const rest = textOf(second);
  t.match(rest, /^<HOST NAME="n16"/);
  t.equal(rest.match(/<HOST /g)?.length, 34);
  t.equal(textOf(documents.gmond(LOCALTIME)), documentOf(board(nodes)), 'the same of one large piece');
});

t.test('what is sent late was read late: a piece is sent before the next one is read', async t => {
  // The longest hosts: every metric, with its longest value.
  const longest = (i: number) => {
    const release = Buffer.alloc(64, 'r');
    return { ...node(`${'n'.repeat(58)}${i}`, 2000, { valid: ALL }), release };
  };
  const nodes = Array.from({ length: 200 }, (_, i) => longest(i));
  const asked: number[] = [];
  let sent = 0;
  const pieces = function* (count: number) {
    for (let i = 0; i < nodes.length; i += count) {
      t.equal(sent, i, 'all that was read has been sent');
      asked.push(count);
      yield board(nodes.slice(i, i + count));
    }
  };
  const documents = new Documents([{ pieces, one: () => board([]) }]);
  for (const page of documents.gmond(LOCALTIME)) sent += textOf([page]).match(/<HOST /g)?.length ?? 0;
  t.equal(sent, nodes.length);
  t.ok(asked.length > 4 && asked.every(count => count < 100), `in pieces of ${asked[0]}`);
});

t.test('queries', async t => {
  const cases: [line: string, query: ReturnType<typeof parseQuery>][] = [
    ['/', EVERYTHING],
    ['//', EVERYTHING],
    ['/?filter=summary', { ...EVERYTHING, summary: true }],
    ['/?filter=nonsense', EVERYTHING],
    ['/alpha', { ...EVERYTHING, cluster: 'alpha' }],
    ['/alpha/', { ...EVERYTHING, cluster: 'alpha' }],
    ['/alpha?filter=summary', { ...EVERYTHING, cluster: 'alpha', summary: true }],
    ['/alpha/n1', { ...EVERYTHING, cluster: 'alpha', host: 'n1' }],
    ['/alpha/n1/load_one', { ...EVERYTHING, cluster: 'alpha', host: 'n1', metric: 'load_one' }],
    ['/status', { ...EVERYTHING, cluster: 'status', status: true }],
    ['GET / HTTP/1.0', { ...EVERYTHING, http: true }],
    ['/my alpha', { ...EVERYTHING, cluster: 'my alpha' }],
    ['GET /my%20alpha HTTP/1.1', { ...EVERYTHING, cluster: 'my alpha', http: true }],
    ['GET /a%c3%a4 HTTP/1.1', { ...EVERYTHING, cluster: 'a\u00c3\u00a4', http: true }],
    ['GET /a%24b HTTP/1.1', undefined],
    ['GET /alpha?filter=summary HTTP/1.1', { ...EVERYTHING, cluster: 'alpha', summary: true, http: true }],
    ['', undefined],
    ['alpha', undefined],
    ['/a/b/c/d', undefined],
    ['POST / HTTP/1.1', undefined],
    ['GET  / HTTP/1.1', undefined],
    ['GET / HTTP/2', undefined],
    ...[...'>!@#$%`;|"\\\'<'].map((bad): [string, undefined] => [`/al${bad}pha`, undefined]),
    [`/${'x'.repeat(2048)}`, undefined],
  ];
  for (const [line, query] of cases) t.same(parseQuery(line), query, JSON.stringify(line.slice(0, 40)));
});

t.test("gmetad's answers", needsXmllint, async t => {
  const alpha = board([node('a1'), node('a2', 0, { load1_c: 66 }), node('a3', 99)], {
    header: { cluster_name: 'alpha' },
  });
  const beta = board([node('b1'), { name: 'b2' }], { header: { cluster_name: 'beta' } });
  const one = (snapshot: Snapshot, cluster_name: string) => ({
    pieces: () => [snapshot],
    // The source's answer for one node: only this node, or nothing.
    one: (name: string) =>
      board(name === 'a1' && cluster_name === 'alpha' ? [node(name)] : [], { header: { cluster_name } }),
  });
  const documents = new Documents([one(alpha, 'alpha'), one(beta, 'beta')], 'campus');
  const answer = (line: string) => {
    const document = textOf(documents.gmetad(parseQuery(line)!, LOCALTIME));
    t.equal(invalid(document), '', `${line}: valid`);
    t.equal(clean(document), undefined, `${line}: clean`);
    t.match(
      document,
      /<GANGLIA_XML VERSION="3.7.2" SOURCE="gmetad">\n<GRID NAME="campus" AUTHORITY="http:\S+" LOCALTIME="\d+">/,
    );
    return { document, clusters: clustersOf(document), grid: document.split('<CLUSTER')[0]! };
  };
  const names = (clusters: ReturnType<typeof clustersOf>) =>
    Object.fromEntries(Object.entries(clusters).map(([name, { hosts }]) => [name, Object.keys(hosts)]));

  const whole = answer('/');
  t.same(names(whole.clusters), { alpha: ['a1', 'a2', 'a3'], beta: ['b1', 'b2'] });
  t.equal(Object.keys(whole.clusters.alpha!.hosts.a1!.metrics).length, METRICS.length);
  t.same(names(answer('/alpha').clusters), { alpha: ['a1', 'a2', 'a3'] });
  t.same(names(answer('/alpha/a1').clusters), { alpha: ['a1'] });
  const metric = answer('/alpha/a1/load_one').clusters.alpha!.hosts.a1!;
  t.same([Object.keys(metric.metrics), metric.metrics.load_one!.VAL], [['load_one'], '12.34']);
  t.same(
    Object.keys(answer('/alpha/a1?filter=summary').clusters.alpha!.hosts.a1!.metrics),
    [],
    'a host without metrics',
  );
  t.same(names(answer('/alpha/nobody').clusters), { alpha: [] }, 'no such host: not everything, as gmetad has it');
  t.same(names(answer('/nobody').clusters), {}, 'no such cluster');
  t.same(names(answer('/nobody?filter=summary').clusters), {});

  const sums = answer('/?filter=summary');
  t.match(sums.grid, /<HOSTS UP="3" DOWN="2" SOURCE="gmetad"\/>/, 'the grid: silent and never heard are down');
  t.match(
    sums.grid,
    /<METRICS NAME="load_one" SUM="25.34" NUM="3" TYPE="double" UNITS=" " SLOPE="both" SOURCE="gmond">/,
  );
  t.notMatch(sums.document, /<METRICS NAME="(os_name|gexec)"/, 'texts have no sum');
  t.match(sums.clusters.alpha!.counts, { UP: '2', DOWN: '1' });
  t.match(sums.clusters.alpha!.sums.load_one, { SUM: '13.00', NUM: '2' }, 'who is down counts for nothing');
  t.match(sums.clusters.beta!.counts, { UP: '1', DOWN: '1' });
  t.same(names(sums.clusters), { alpha: [], beta: [] });
  const ofOne = answer('/beta?filter=summary');
  t.same([Object.keys(ofOne.clusters), ofOne.clusters.beta!.sums.load_one!.SUM], [['beta'], '12.34']);
  t.notMatch(ofOne.grid, /<HOSTS/, 'the grid has no sums of its own then');
});

t.test('sums while the wall clock stands still', async t => {
  let now = NOW;
  let nodes = [node('n1')];
  const look = () => snapshotOf('test', bytesOf(nodes, { now }), { nowNs: now, realNs: 0n, nodes: nodes.length });
  const documents = new Documents([{ pieces: () => [look()], one: look }]);
  const up = () => /HOSTS UP="(\d+)"/.exec(textOf(documents.gmetad({ ...EVERYTHING, summary: true }, LOCALTIME)))?.[1];
  t.equal(up(), '1');
  nodes = [node('n1'), node('n2')];
  t.equal(up(), '1', 'made once in a second');
  now += S;
  t.equal(up(), '2', 'and anew in the next, though LOCALTIME is the same');
});

t.test('a cluster without a board is left out, and without any there is no document', async t => {
  const there = sourceOf(board([node('n1')]));
  const gone = () => {
    throw new NoBoard('absent', '/nowhere', 'no board');
  };
  const missing = { pieces: gone, one: gone };
  for (const line of ['/', '/?filter=summary', '/test', '/test/n1']) {
    const query = parseQuery(line)!;
    for (const sources of [
      [there, missing],
      [missing, there],
    ])
      t.same(Object.keys(clustersOf(textOf(new Documents(sources).gmetad(query, LOCALTIME)))), ['test'], line);
    t.throws(() => textOf(new Documents([missing, missing]).gmetad(query, LOCALTIME)), /no board/, line);
  }
  t.throws(() => [...new Documents([missing]).gmond(LOCALTIME)].length, /no board/);
});

// ---- the verb, on boards in files ------------------------------------------------------------------------------------

function run(...argv: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, 'xml', ...argv], { encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
}

t.test('the verb prints a board', async t => {
  const path = join(t.testdir(), 'board');
  writeBoard(path, [node('n1'), { name: 'n2' }], beating());
  const { code, out, err } = run('--board', path, '--owner', 'root');
  t.same([code, err], [0, '']);
  const { cluster, hosts } = parse(out);
  t.equal(cluster.NAME, 'test');
  t.ok(Math.abs(Number(cluster.LOCALTIME) - Date.now() / 1000) < 60, 'LOCALTIME is the time of day');
  t.match([hosts.n1?.attributes.TN, hosts.n2?.attributes.TN], [/^[0-3]$/, '100']);
  t.equal(Object.keys(hosts.n1?.metrics ?? {}).length, METRICS.length);
});

t.test('the verb and a stalled board', async t => {
  const path = join(t.testdir(), 'board');
  const now = process.hrtime.bigint();
  writeBoard(path, [node('n1', 21)], {
    now,
    header: { heartbeat_ns: now - 20n * S, listening_since_ns: now - 25n * S },
  });
  const { code, out, err } = run('--board', path);
  t.equal(code, 4);
  t.equal(parse(out).hosts.n1?.attributes.TN, '1', 'printed all the same');
  t.match(err, /^beoboard xml: \/.+\/board: stalled, its heartbeat is 2\d\.\ds old; [^\n]+\n$/);
});

t.test('the verb without a board', async t => {
  const dir = t.testdir({ board: 'x'.repeat(2000) });
  for (const path of ['/nonexistent/board', join(dir, 'board')])
    t.match(run('--board', path), { code: 4, out: '', err: /^beoboard xml: \/.+: [^\n]+\n$/ }, path);
});

t.test('the verb and a reader that closes the pipe', async t => {
  const path = join(t.testdir(), 'board');
  // More than a pipe can hold.
  writeBoard(
    path,
    Array.from({ length: 30 }, (_, i) => node(`n${i}`)),
    beating(),
  );
  const script = 'set -o pipefail; "$0" "$1" xml --board "$2" | head -c 5';
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, process.execPath, PROGRAM, path], {
    encoding: 'utf8',
  });
  t.same([status, stdout, stderr], [0, '<?xml', '']);
});

t.test('what the board remembers of a node stands in a comment before it', needsXmllint, async t => {
  const counted = (when: number) => (ago: number) => ({ valid: validOf('vmstat'), oom_kills: ago > when ? 7 : 8 });
  const both = (ago: number) => (ago > 60 || ago < 20 ? counted(5)(ago) : undefined);
  const snapshot = writtenBoard(t, { killed: counted(40), both, well: counted(200) }).snapshot();
  const document = documentOf(snapshot);
  t.equal(invalid(document), '', 'the DTD knows it as a comment');
  const said = [...document.matchAll(/<!-- (.*?) -->\n<HOST NAME="(\w+)"/g)].map(([, text, name]) => [name, text]);
  t.match(said, [
    ['killed', /^killed: recent problems: oom 40\.\ds ago\.$/],
    ['both', /^both: silent once in 1m40s, last for 42\.0s until 19\.\ds ago; recent problems: oom 5\.\ds ago\.$/],
  ]);
  t.equal(said.length, 2, 'of others nothing is said');
});

t.test('the verb refuses what it does not know', async t => {
  for (const argv of [['--owner', 'no-such-user-here'], ['--json']])
    t.match(run(...argv), { code: 2, out: '', err: /^beoboard xml: [^\n]+\n$/ }, argv.join(' '));
});
