// Conditions on the fields of nodes: what they mean, and the error line with the column for an invalid one.

import fc from 'fast-check';
import t from 'tap';
import type { Encodable } from '../../src/layout/codec.js';
import { bits } from '../../src/layout/layout.gen.js';
import { parseCondition } from '../../src/query/conditions.js';
import { readingNames, readingOf } from '../../src/readings/readings.js';
import { exampleOf } from '../../src/readings/units.js';
import { PROBLEMS } from '../../src/shm/problems.js';
import { InputError } from '../../src/text/text.js';
import { anyText } from '../kit/anytext.js';
import { busy, madeBoard, validOf } from '../kit/madeboard.js';

const SEED = Number(process.env.SEED ?? 8677);

const WITH_ID = BigInt(busy(1).report?.valid ?? 0) | validOf('sw_hash');
const snapshot = madeBoard([
  {
    name: 'node1',
    age: 0.5,
    ...busy(12, { valid: WITH_ID, sw_hash: 3117353957 }),
    record: { lost: 3, offset_us: -2500 },
  },
  {
    name: 'node2',
    age: 60,
    ...busy(0.25, { mem_avail_mib: 512, cpus_online: 8, valid: WITH_ID, sw_hash: 3117353958 }),
  },
  { name: 'node3', age: 1, report: { valid: validOf('load', 'health', 'gpu'), load1_c: 800, health: 2, gpu_count: 0 } },
  { name: 'node4' },
]);

/** Two nodes with several GPUs, groups of CPUs, and interfaces. */
const rich = madeBoard(
  [
    { name: 'rack1n1', gpus: [95, 40], flags: 1n << BigInt(bits.flags.held), mbps: 100_000, moved: 11e9 },
    { name: 'rack2n1', gpus: [255, 0], flags: 0n, mbps: 0, moved: 1e6 },
  ].map(({ name, gpus, flags, mbps, moved }) => {
    const net = (bytes: number) => [
      { name: 'eth0', rx_bytes: 10, state: 3 },
      { name: 'ib0.8001', rx_bytes: bytes, mbps, state: 1 },
    ];
    const report: Encodable<'report'> = {
      valid: validOf(
        ...(['gpu', 'groups', 'group_share', 'topology', 'net', 'system', 'memory', 'cpus', 'load'] as const),
        ...(['vmstat', 'power', 'psi_cpu', 'cpu_share', 'root', 'fabric', 'sender'] as const),
      ),
      flags: Number(flags),
      cpus_online: 4,
      load1_c: 300,
      gpu_count: 2,
      gpu_busy: 1,
      gpu: gpus.map(util_pct => ({
        util_pct,
        mem_used_mib: 900,
        mem_total_mib: util_pct === 0 ? 0 : 1000,
        temp_degc: 1,
      })),
      gpu_flags: [1, 1 | (1 << bits.gpu_flags.throttled)],
      groups: 1,
      group: [{ cpus: 4, busy_pm: 900, temp_dc: -32768 }],
      net: net(moved),
      fabric: { name: 'mlx5_0', rx_bytes: moved, mbps: 200_000 },
      mem_total_mib: 1000,
      mem_avail_mib: 100,
      cpu_busy_pm: 955,
      psi_cpu_some10: 2500,
      root_total_mib: 100,
      root_avail_mib: 50,
      arch: 1,
      power_node_w: 450,
      late_us: 5_800_000,
    };
    return { name, age: 0.5, report, before: { ...report, net: net(0), fabric: { name: 'mlx5_0' } } };
  }),
);

function matching(condition: string, of = snapshot): string {
  const holds = parseCondition(condition);
  return [...of.nodes()]
    .filter(holds)
    .map(({ name }) => name.slice(4, 5))
    .join('');
}

t.test('what conditions mean', async t => {
  const table: [condition: string, nodes: string][] = [
    ['load1_c > 100', '13'],
    ['load > 10', '1'],
    ['10 < load', '1'],
    ['load >= 8', '13'],
    ['load <= 8', '23'],
    ['load == 8', '3'],
    ['load != 8', '12'],
    ['mem_avail_mib < 1024 && state == silent', '2'],
    ['mem_avail_mib < 1024 && state == live', ''],
    ['state == live || state == never', '134'],
    ['state != live', '24'],
    ['!(state == live)', '24'],
    ['!state == live', '24'],
    ['state == "live"', '13'],
    ["name == 'node2'", '2'],
    ['name >= node3', '34'],
    ['age_ms > 900 && age < 2', '3'],
    ['lost > 0', '1'],
    ['lost', '1'],
    ['offset_us < -1e3', '1'],
    ['skew < 0', '1'],
    ['cpus < load', ''],
    ['load > cpus || mem_avail_mib < mem_total_mib', '12'],
    ['load1_c > 0 && (cpus == 8 || cpus == 64)', '12'],
    ['state == live && load < 9 || cpus == 8', '23'],
    ['state == live && (load < 9 || cpus == 8)', '3'],
    ['rates.ctxt > 1000', '12'],
    ['in > 1e6', '12'],
    ['mem > 99', '2'],
    ['os_release == "6.1.0-25-amd64"', '12'],
    ['boot_id == "0000000000000007"', '123'],
    ['boot_id', '123'],
    ['!boot_id', '4'],
    ['sw_hash == 3117353958', '2'],
    ['sw_hash == 0xb9cf0be6', '2'],
    ['sw_hash != 0XB9CF0BE6', '1'],
    ['cpus == 0x8', '2'],
    // A comparison with a value that was not measured is false, and so is that value alone.
    ['gpu > 0', ''],
    ['all(gpu.util >= 0%)', ''],
    ['power_node == power_node || power_node != power_node', ''],
    ['gpu <= 0', ''],
    ['swap != 0', ''],
    ['cpus', '12'],
    ['!cpus', '34'],
  ];
  for (const [condition, nodes] of table) {
    t.equal(matching(condition), nodes, condition);
  }
});

t.test('units, shares, flags, words, patterns, entries', async t => {
  const table: [condition: string, racks: string][] = [
    // A number may have any unit, not only the unit of the reading.
    ['mem_avail_mib < 0.1GiB', '12'],
    ['mem_avail < 101MiB', '12'],
    ['mem_avail > 100MB', '12'],
    ['mem_avail < 100MB', ''],
    ['mem_avail == 104857600B', '12'],
    ['age < 1s && age > 400ms', '12'],
    ['age_ms < 1s', '12'],
    ['late_us > 5s', '12'],
    ['delay > 2s', '12'],
    ['delay > 5.7 && delay < 5900ms', '12'],
    ['delay < 5s', ''],
    ['power_node_w > 0.4kW && power_node < 451W', '12'],
    ['1GiB > mem_avail', '12'],
    ['mem_avail < mem_total_mib', '12'],
    ['mem_total_mib == mem_total', '12'],
    ['load1 == 3', '12'],
    ['load < 0.004K', '12'],
    // Per cent, for a share, and for a reading that is a part of another one.
    ['cpu_busy_pm > 95%', '12'],
    ['cpu_busy > 95.4% && cpu > 95', '12'],
    ['cpu_busy > 96%', ''],
    ['psi_cpu_some10 == 25%', '12'],
    ['mem_avail_mib <= 10% && mem_avail > 9.9%', '12'],
    ['load >= 75%', '12'],
    ['load > 75%', ''],
    ['gpu_busy == 50%', '12'],
    ['root_avail < 51%', '12'],
    // Flags and enums by their names.
    ['held', '1'],
    ['!held', '2'],
    ['flags.held', '1'],
    ['!root_readonly', '12'],
    ['valid.gpu && !valid.edac', '12'],
    ['problem.held', '1'],
    ['unhealthy', '12'],
    ['arch == x86_64', '12'],
    ['arch != x86_64', ''],
    // Patterns.
    ['name ~ "^rack1"', '1'],
    ['name !~ "^rack1"', '2'],
    ['name ~ "rack[12]n"', '12'],
    ['state ~ "liv|sil" && arch ~ x86', '12'],
    ['address ~ "."', ''],
    ['address !~ "."', ''],
    // Entries: by number, by the name of an interface, any of them, or all.
    ['gpu.0.util_pct > 90', '1'],
    ['gpu.0.util > 90%', '1'],
    ['gpu.1.util == 0%', '2'],
    ['gpu.2.util >= 0%', ''],
    ['any(gpu.util > 90%)', '1'],
    ['all(gpu.util >= 40%)', '1'],
    ['any(gpu.util < 1%)', '2'],
    ['any(gpu.mem_used > 50%)', '12'],
    ['all(gpu.mem_used > 50%)', '1'],
    // Of all GPUs together: a sum only where each of them is known.
    ['gpu_temp == 1C', '12'],
    ['gpu_mem == 90%', '12'],
    ['gpu_mem_total > 0 && gpu_mem_used > 0', '1'],
    ['any(gpu.throttled)', '12'],
    ['all(gpu.throttled)', ''],
    ['any(gpu.throttled && gpu.util > 30%)', '1'],
    ['!any(gpu.util > 90%) && gpu_count == 2', '2'],
    ['any(group.busy > 89%)', '12'],
    ['any(group.temp > 1C)', ''],
    // There are three places for interfaces, and only the two in use count.
    ['all(net.up)', '12'],
    ['any(!net.up)', ''],
    ['all(net.name ~ "0")', '12'],
    ['arch == "x86_64"', '12'],
    ['net.0.carrier && !net.ib0.8001.carrier', '12'],
    ['links_up == 1', '12'],
    ['net.ib0.8001.mbps > 50Gbit/s', '1'],
    ['rates.net.ib0.8001.rx_bytes > 80%', '1'],
    ['any(rates.net.rx_bytes > 1GB)', '1'],
    ['any(net.name ~ "^ib" && !net.carrier)', '12'],
    ['fabric.mbps == 200Gbit/s && rates.fabric.rx_bytes > 1GB/s', '1'],
    ['net_rest.rx_bytes >= 0', ''],
  ];
  for (const [condition, racks] of table) t.equal(matching(condition, rich), racks, condition);
});

t.test('no pattern takes long', async t => {
  // A backtracking matcher would need 2^60 steps for this.
  const long = madeBoard([{ name: `${'a'.repeat(62)}b`, age: 1, report: {} }]);
  const holds = parseCondition('name ~ "^(a+)+$" || name ~ "(.*)*(.*)*(.*)*c"');
  t.same([...long.nodes()].map(holds), [false]);
  // A program is as large as what it repeats: these would have up to a million instructions.
  const refused = [`(${'.?'.repeat(100)}){1000}`, '((.?){30}){30}', '(.?){200}', `${'x'.repeat(600)}`, '[](]{1000}'];
  for (const pattern of [...refused, '(\\Q(\\E.?){400}', '(?i)a{9}(?i){99}'])
    t.throws(() => parseCondition(`name ~ "${pattern}"`), { message: /: '.+' is too large a regular expression; / });
  for (const pattern of ['^(node|rack)[0-9]{1,4}$', '([a-z0-9-]{1,16}[.]){1,3}x{2,63}', '\\x{1000}', '\\Qa{1000}\\E'])
    t.ok(parseCondition(`name ~ "${pattern}"`), pattern);
  // All patterns of a condition together, too.
  const some = Array.from({ length: 3 }, () => 'name ~ ".{90}"').join(' || ');
  t.throws(() => parseCondition(some), { message: /^column 44: .* is too large a regular expression/ });
});

t.test('the words that screens show for problems are fields', async t => {
  for (const problem of PROBLEMS) t.equal(matching(problem), matching(`problem.${problem}`), problem);
  t.equal(matching('health_warning'), '3');
  t.equal(matching('!health_warning && health_warning == 0'), '124');
});

t.test('words of enums are numbers', async t => {
  const health = readingOf('health')?.words ?? [];
  t.ok(health.length > 2);
  t.equal(matching(`health == ${health[2]}`), '3');
  t.equal(matching('health == 2'), '3');
});

t.test('what is wrong, where, and what to write', async t => {
  const table: [condition: string, says: string][] = [
    ['mem_avial_mib < 1', "column 1: there is no field 'mem_avial_mib'; did you mean mem_avail_mib?"],
    ['load > 1 && xyzzy', "column 13: there is no field 'xyzzy'; beoboard describe lists them"],
    ['ailing', "column 1: there is no field 'ailing'; did you mean unhealthy?"],
    ['ails ~ "oom"', "column 1: there is no field 'ails'; did you mean problems?"],
    ['ails.oom', "column 1: there is no field 'ails.oom'; did you mean problem.oom?"],
    ['state == slient', "column 10: 'slient' is not a state; did you mean silent?"],
    ['load = 1', "column 6: a single '='; write == to compare"],
    ['load > 1 & cpus', "column 10: a single '&'; write && for and"],
    ['load > 1 | cpus', "column 10: a single '|'; write || for or"],
    ['load >', 'column 7: the condition ends where a value is expected; write FIELD < VALUE, as in load > 10'],
    ['(load > 1', "column 1: a '(' without its ')'; write ')'"],
    ['load > 1)', "column 9: a ')' without its '('; leave it out"],
    ['load > 1 cpus', "column 10: 'cpus' after a whole condition; join conditions by && or ||"],
    ['1 < 2', 'column 1: no field is compared; write FIELD < VALUE, as in load > 10'],
    ['5', "column 1: '5' alone; compare it with a field, as in load > 10"],
    ['load > "x"', "column 8: load is a number, 'x' is a text; write a number"],
    ['name == 5', 'column 9: name is a text, \'5\' is a number; write "5"'],
    ['name == "x', 'column 9: a text without its closing quote; write "text"'],
    ['sw_hash == 0xzz', "column 12: 'xzz' in '0xzz' is not a unit; write 10, say"],
    ['load > 1.2.3', "column 8: '1.2.3' is not a number; write digits, as in 1024 or 0.5, and a text in quotes"],
    ['mem_avail > 4 GiB', "column 15: a blank before the unit 'GiB'; write 4GiB"],
    ['load > 1e400', "column 8: '1e400' is too large; write a smaller one"],
    ['name ~ "abc', 'column 8: a text without its closing quote; write "text"'],
    [
      'address == 127.0.0.1',
      "column 12: '127.0.0.1' is not a number; write digits, as in 1024 or 0.5, and a text in quotes",
    ],
    ['psi_cpu_some10 > 10', "column 18: psi_cpu_some10 is a share, and '10' has no unit; write 90%, say"],
    ['health == "grand"', "column 11: health is never 'grand'; write unknown, ok, warning, bad"],
    ['load > 5GiB', "column 8: load is a number, '5GiB' is not; write 10 or 10%, say"],
    ['age > 5GiB', "column 7: age is a time, '5GiB' is not; write 5s, say"],
    ['age > 50%', "column 7: age is a time, '50%' is not; write 5s, say"],
    ['age > 5fortnights', "column 7: 'fortnights' in '5fortnights' is not a unit; write 5s, say"],
    ['mem_avail < 10', "column 13: mem_avail is a size, and '10' has no unit; write 1GiB or 10%, say"],
    ['in > 10G', "column 6: in is a data rate, '10G' is not; write 1GB/s, say"],
    ['load > age', 'column 8: load is a number, age a time; compare fields of the same kind'],
    ['!root_ro', "column 2: there is no field 'root_ro'; did you mean root_readonly?"],
    ['arch == x86_65', "column 9: arch is never 'x86_65'; did you mean x86_64?"],
    ['health == grand', "column 11: health is never 'grand'; write unknown, ok, warning, bad"],
    [
      'load ~ 1',
      'column 6: load is a number, which cannot be matched with a pattern; write TEXT ~ "PATTERN", as in name ~ "^rack1"',
    ],
    ['name ~ rack[12]', 'column 12: a pattern without quotes; write it in quotes, as in name ~ "^rack[12]"'],
    ['name ~ ^x', 'column 8: a pattern without quotes; write it in quotes, as in name ~ "^rack[12]"'],
    ['name ~ "["', "column 8: '[' is not a regular expression; write one of RE2, as in ^rack[0-9]+"],
    ['name ~ "(?=a)"', "column 8: '(?=a)' is not a regular expression; write one of RE2, as in ^rack[0-9]+"],
    ['name ~', 'column 7: a pattern is missing; write it in quotes, as in name ~ "^rack1"'],
    [
      'gpu.util > 90%',
      'column 1: gpu.util belongs to each GPU, not to the node; write any(gpu.util …), all(gpu.util …), or gpu.0.util of the first',
    ],
    [
      'any(gpu.util > 9% && net.up)',
      'column 22: net.up belongs to each network interface, and not to each GPU; write an any(…) for each',
    ],
    ['any(load > 1)', 'column 1: any(…) names no GPU, group or interface; write any(gpu.util > 90%), say'],
    ['any(gpu.util > 1%', "column 4: a '(' without its ')'; write ')'"],
    ['any(all(gpu.util > 1%))', 'column 5: all(…) within another; write them one after the other, joined by &&'],
    ['some(gpu.util > 1%)', "column 1: 'some' before a bracket; write any(CONDITION) or all(CONDITION)"],
    ['gpu[0].util > 1', 'column 4: a bracket; write the number of an entry after a point: gpu.0.util_pct'],
    ['load > 1 ; rm', "column 10: ';' is not allowed here; write FIELD < VALUE, as in load > 10"],
    ['load > \u001b', "column 8: '\\u{1b}' is not allowed here; write FIELD < VALUE, as in load > 10"],
    ['&& load', "column 1: '&&' where a value is expected; write FIELD < VALUE, as in load > 10"],
    [`${'!'.repeat(200)}load`, 'column 101: nested too deeply; nest at most 100 times'],
    [`${'('.repeat(100_000)}load`, 'column 101: nested too deeply; nest at most 100 times'],
  ];
  for (const [condition, says] of table) {
    try {
      parseCondition(condition);
      t.fail(`taken: ${condition}`);
    } catch (error) {
      t.type(error, InputError);
      t.equal((error as Error).message, says);
    }
  }
});

t.test('every field has a value or none, and can be compared', async t => {
  t.ok(readingNames().length > 150, `${readingNames().length} fields`);
  for (const name of readingNames()) {
    const field = readingOf(name);
    for (const node of snapshot.nodes()) {
      const value = field?.value(node);
      const type = field?.isText ? 'string' : 'number';
      if (value !== undefined && typeof value !== type) t.fail(`${name} of ${node.name} is a ${typeof value}`);
    }
    const unit = field?.wantsUnit
      ? field.unit.quantity === 'share'
        ? '%'
        : exampleOf(field.unit.quantity).slice(1)
      : '';
    parseCondition(field?.isText ? `${name} == ${name === 'state' ? 'live' : 'x'}` : `${name} < 1${unit}`);
  }
});

t.test('any text is a condition or rejected in one line', async t => {
  t.comment(`SEED=${SEED}`);
  const words = 'load state live cpus 1 -2.5 "x" && || ! ~ "^x" any( gpu.util net.eth0.mbps held 5GiB 10% ( ) == < = é'
    .split(' ')
    .concat(' ', '\n');
  const soup = fc.array(fc.constantFrom(...words), { maxLength: 12 }).map(parts => parts.join(''));
  fc.assert(
    fc.property(fc.oneof(soup, anyText({ maxLength: 20 })), text => {
      try {
        for (const node of snapshot.nodes()) parseCondition(text)(node);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        const column = Number(/^column (\d+): .+; .+$/.exec(error.message)?.[1]);
        if (!(column >= 1 && column <= text.length + 1)) throw new Error(`${error.message} of ${JSON.stringify(text)}`);
      }
    }),
    { seed: SEED, numRuns: 3000 },
  );
  t.pass('3000 texts');
});
