// The totals of a cluster: the sums in C compared with those of decoded reports and their rates on random boards, which
// nodes count, and how the totals are shown.

import fc from 'fast-check';
import t from 'tap';
import { plainText, statusText } from '../../src/cli/statustext.js';
import { totalsTexts } from '../../src/cli/totalstext.js';
import type { Encodable, SetName } from '../../src/layout/codec.js';
import { jsonPieces } from '../../src/presentation/statusjson.js';
import { type Choice, survey, totalsOf } from '../../src/query/survey.js';
import { readingOf } from '../../src/readings/readings.js';
import { NUMBERED } from '../../src/shm/liveness.js';
import type { InterfaceRates } from '../../src/shm/rates.js';
import type { Node, Snapshot, Totals } from '../../src/shm/snapshot.js';
import { painter } from '../../src/terminal/style.js';
import { busy, type MadeNode, madeBoard, S, validOf } from '../kit/madeboard.js';
import { SEED } from '../kit/whole.js';

t.comment(`seed ${SEED}`);

const MIB = 2 ** 20;
const SETS: SetName[] = ['cpus', 'cpu_share', 'memory', 'gpu', 'power', 'net', 'disk', 'fabric'];

// Few values, so that equal names, counters that go back and unchanged counters are frequent. Counters of 2^53 and more
// have no rates in JavaScript.
const bytes = fc.constantFrom(0n, 1n, 5_000_000_000n, 2n ** 53n - 1n);
const entry = (...names: string[]) =>
  fc.record({
    name: fc.constantFrom(...names),
    rx_bytes: bytes,
    tx_bytes: bytes,
    state: fc.constantFrom(3, 0x1_0003, 0x2_0003, 0xffff_0001),
  });
/** A report at one of these times since boot, s. */
const report = (...seconds: bigint[]): fc.Arbitrary<Encodable<'report'>> =>
  fc.record({
    valid: fc
      .array(fc.constantFrom(...SETS), { maxLength: 2 })
      .map(without => validOf(...SETS.filter(set => !without.includes(set)))),
    boot_id: fc.constantFrom(7n, 7n, 7n, 8n),
    t_boot_ns: fc.constantFrom(...seconds).map(second => second * S),
    slow_boot_ns: fc.constantFrom(...seconds).map(second => second * S),
    cpus_online: fc.constantFrom(0, 1, 128, 65_535),
    cpu_busy_pm: fc.nat(1000),
    mem_total_mib: fc.constantFrom(0, 1, 2 ** 32 - 1),
    mem_avail_mib: fc.constantFrom(0, 1, 2, 2 ** 32 - 1),
    gpu_count: fc.nat(3),
    gpu_busy: fc.nat(3),
    power_node_w: fc.constantFrom(0, 412, 65_534),
    disk_read_bytes: bytes,
    disk_write_bytes: bytes,
    net: fc.array(entry('', 'eth0', 'eth1', 'a-name-of-15-by'), { maxLength: 3 }),
    net_rest: entry('', 'rest'),
    fabric: entry('fabric', 'fabric', ''),
  });
const chosen = fc.constantFrom(true, true, false);
const age = fc.constantFrom(0.5, 60);
const last = report(1000n, 1001n, 1003n, 1003n);
const nodes: fc.Arbitrary<(Omit<MadeNode, 'name'> & { chosen: boolean })[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ chosen, age, before: report(1000n, 1001n), report: last }) },
    { weight: 1, arbitrary: fc.record({ chosen, age, report: last }) },
    { weight: 1, arbitrary: fc.record({ chosen }) },
  ),
  { maxLength: 10 },
);

/** Sums by part and name, and the number of nodes in them. */
type Sums = Record<string, Record<string, number>>;

function add(sums: Sums, part: string, values: Record<string, number | undefined>): void {
  if (Object.values(values).includes(undefined)) return;
  const all = sums[part] ?? { nodes: 0 };
  sums[part] = all;
  for (const [name, value] of Object.entries({ nodes: 1, ...values })) all[name] = (all[name] ?? 0) + Number(value);
}

/** The expected sums, from each node's decoded report and its rates. */
function summed(nodes: readonly Node[]): Sums {
  const sums: Sums = {};
  for (const { report, rates } of nodes) {
    if (report === undefined) continue;
    const {
      cpus_online: cpus,
      cpu_busy_pm: busy,
      mem_total_mib: mem,
      mem_avail_mib: free,
      gpu_count,
      gpu_busy,
    } = report;
    if (cpus !== undefined && busy !== undefined) add(sums, 'cpus', { used: (busy / 1000) * cpus, total: cpus });
    if (mem && free !== undefined && free <= mem) add(sums, 'memory', { used: (mem - free) * MIB, total: mem * MIB });
    if (gpu_count) add(sums, 'gpus', { used: gpu_busy, total: gpu_count });
    add(sums, 'power', { watts: report.power_node_w });
    // An interface that is in the report and has no rate makes the sum unknown.
    const present = (report.net?.length ?? 0) + Number(report.net_rest !== undefined);
    const entries = [...(rates?.net ?? []), ...(rates?.net_rest ? [rates.net_rest] : [])];
    const over = (name: 'rx_bytes' | 'tx_bytes') => {
      const known = entries.map((one: InterfaceRates) => one[name]).filter(rate => rate !== undefined);
      return known.length === 0 || known.length < present ? undefined : known.reduce((a, b) => a + b, 0);
    };
    add(sums, 'network', { in: over('rx_bytes'), out: over('tx_bytes') });
    add(sums, 'fabric', { in: rates?.fabric?.rx_bytes, out: rates?.fabric?.tx_bytes });
    const rate = (name: string) => rates?.[name] as number | undefined;
    add(sums, 'disks', { read: rate('disk_read_bytes'), written: rate('disk_write_bytes') });
  }
  return sums;
}

/** The first value that differs by more than rounding. */
function difference(is: Totals | undefined, wanted: Sums): string | undefined {
  const flat = (of: object) =>
    new Map(
      Object.entries(of).flatMap(([part, sums]) =>
        Object.entries(sums).map(([name, sum]) => [`${part}.${name}`, Number(sum)]),
      ),
    );
  const [a, b] = [flat(is ?? {}), flat(wanted)];
  for (const name of new Set([...a.keys(), ...b.keys()])) {
    const [x, y] = [a.get(name) ?? Number.NaN, b.get(name) ?? Number.NaN];
    if (!(Math.abs(x - y) <= 1e-9 * Math.max(1, Math.abs(y)))) return `${name} is ${x}, and should be ${y}`;
  }
  return undefined;
}

t.test('the sums are those of reports and their rates', async t => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(nodes, made => {
      const snapshot = madeBoard(made.map((node, i) => ({ ...node, name: `n${i}` })));
      const wanted = summed([...snapshot.nodes()].filter((_, i) => made[i]?.chosen));
      for (const part of Object.keys(wanted)) seen.set(part, (seen.get(part) ?? 0) + 1);
      const live = Uint8Array.from(made, ({ chosen }) =>
        chosen ? NUMBERED.indexOf('live') : NUMBERED.indexOf('silent'),
      );
      const wrong = difference(snapshot.totals(live), wanted);
      if (wrong !== undefined) throw new Error(wrong);
    }),
    { seed: SEED, numRuns: 1000 },
  );
  t.equal(seen.size, 7);
  for (const [part, boards] of seen) t.ok(boards > 20, `${part}: of ${boards} boards`);
});

/** Only some of these nodes have GPUs and report watts. */
const some: MadeNode[] = Array.from({ length: 6 }, (_, i) => ({
  name: `node${i + 1}`,
  age: 0.5,
  ...busy(32, i < 4 ? {} : { valid: validOf(...SETS), gpu_count: 4, gpu_busy: 3, power_node_w: 412 + i }),
}));
some[1] = { name: 'node2', age: 60, ...busy(32) };
some[2] = { name: 'node3', age: 0.5, report: busy(32).report ?? {} };

const look = { width: 80, paint: painter('never') };
const lines = async (snapshot: Snapshot, choice: Choice = {}, more: object = {}) =>
  (await statusText(survey(snapshot, choice), { ...look, ...more })).join('').split('\n');

t.test('who is in them: live nodes among those that were chosen, and -x changes nothing', async t => {
  const all = totalsOf(survey(madeBoard(some)));
  t.match(all, { cpus: { nodes: 5, total: 320 }, network: { nodes: 4 }, gpus: { nodes: 2, used: 6, total: 8 } });
  t.same(all?.power, { nodes: 2, watts: 416 + 417 });
  t.notOk('fabric' in (all ?? {}), 'what is measured of none is absent');
  const among = totalsOf(survey(madeBoard(some), { among: ['node1', 'node2', 'node6'] }));
  t.match(among, { cpus: { nodes: 2, total: 128 }, power: { nodes: 1, watts: 417 } });
  const holds = totalsOf(survey(madeBoard(some), { holds: ({ name }) => name > 'node4' }));
  t.match(holds, { cpus: { nodes: 2, total: 128 }, power: { nodes: 2 } });
  const told = [
    'CPUs 160 of 320 busy; memory 625 GiB of 1.22 TiB used;',
    '  network 10 MB/s in, 3.2 MB/s out on 4 nodes;',
    '  disks 4 MB/s read, 936 kB/s written on 4 nodes; GPUs 6 of 8 busy on 2 nodes;',
    '  power 833 W on 2 nodes',
  ];
  t.same((await lines(madeBoard(some))).slice(1, 5), told);
  t.same((await lines(madeBoard(some), {}, { exceptions: true })).slice(1, 5), told);
  t.same((await lines(madeBoard(some), {}, { grouping: { pattern: 'node' } })).slice(1, 5), told);
  const plain = (await plainText(survey(madeBoard(some)), look)).join('').split('\n');
  t.equal(plain[1], `${told.map(line => line.trim()).join(' ')}.`);
});

t.test('a node of which an interface has no rate yet is not in the sum, as it has none in the columns', async t => {
  const eth0 = { name: 'eth0', rx_bytes: 2_500_000, tx_bytes: 800_000 };
  const rest = (count: number, rx_bytes: number) => ({ name: 'rest', rx_bytes, state: 3 | (count << 16) });
  const made = (name: string, more: Encodable<'report'>, earlier: Encodable<'report'> = {}): MadeNode => {
    const { before, report = {} } = busy(1, more);
    return { name, age: 0.5, report, before: { ...before, ...earlier } };
  };
  const snapshot = madeBoard([
    made('plain', {}),
    made('gone', { net: [eth0] }, { net: [{ name: 'eth0' }, { name: 'eth1' }] }),
    made('plugged', { net: [eth0, { name: 'eth1', rx_bytes: 9_000_000 }] }),
    made('reset', { net: [eth0, { name: 'eth1' }] }, { net: [{ name: 'eth0' }, { name: 'eth1', rx_bytes: 1 }] }),
    made('rest', { net_rest: rest(2, 1_000_000) }, { net_rest: rest(2, 0) }),
    made('newrest', { net_rest: rest(2, 1_000_000) }, { net_rest: {} }),
    made('onemore', { net_rest: rest(3, 1_000_000) }, { net_rest: rest(2, 0) }),
  ]);
  const counted = (name: string) => totalsOf(survey(snapshot, { among: [name] }))?.network;
  const column = (name: string, node: Node) => readingOf(name)?.value(node);
  for (const node of snapshot.nodes()) {
    const [into, out] = [column('in', node), column('out', node)];
    const isKnown = into !== undefined && out !== undefined;
    t.same(counted(node.name), isKnown ? { nodes: 1, in: into, out } : undefined, node.name);
  }
  const sum = { nodes: 3, in: 2_500_000 + 2_500_000 + 3_500_000, out: 3 * 800_000 };
  t.same(totalsOf(survey(snapshot))?.network, sum, 'plain, gone and rest');
});

t.test('nothing is told where there is nothing to add up, or nothing is known', async t => {
  const texts = (snapshot: Snapshot, choice?: Choice) => totalsTexts(survey(snapshot, choice));
  t.same(texts(madeBoard(some), { among: ['node1'] }), [], 'one node');
  t.same(texts(madeBoard(some), { among: ['node1', 'node2'] }), [], 'one that is live');
  t.same(texts(madeBoard([])), []);
  t.same(texts(madeBoard([...'ab'].map(name => ({ name, age: 1 })))), [], 'nothing is measured');
  t.same(texts(madeBoard(some, { heartbeat: 12 })), [], 'stalled');
  t.equal(totalsOf(survey(madeBoard(some, { heartbeat: 12 }))), undefined);
  t.equal(totalsOf(survey(madeBoard(some, { state: ['retired'] }))), undefined);
  const live = some.filter(({ name }) => name !== 'node2');
  t.equal((await lines(madeBoard(live), {}, { exceptions: true })).length, 2, 'one line when all is well');
});

t.test('JSON has them, of one node, too', async t => {
  const parsed = (snapshot: Snapshot, choice?: Choice) => {
    const found = survey(snapshot, choice);
    const pieces = jsonPieces(snapshot, () => ({ nodes: found.nodes, odd: [], trouble: [], totals: totalsOf(found) }));
    // A piece is valid only until the next one is requested, so each is copied.
    return JSON.parse(Array.from(pieces, piece => Buffer.from(piece).toString()).join(''));
  };
  t.same(parsed(madeBoard(some), { among: ['node6'] }).totals, {
    cpus: { nodes: 1, used: 31.936, total: 64 },
    memory: { nodes: 1, used: 128_000 * MIB, total: 256_000 * MIB },
    network: { nodes: 1, in: 2_500_000, out: 800_000 },
    disks: { nodes: 1, read: 1_000_000, written: 234_000 },
    gpus: { nodes: 1, used: 3, total: 4 },
    power: { nodes: 1, watts: 417 },
  });
  t.same(parsed(madeBoard(some), { among: ['node2'] }).totals, {}, 'no node is live');
  t.notOk('totals' in parsed(madeBoard(some, { heartbeat: 12 })));
});
