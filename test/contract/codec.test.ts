// Fields to bytes and back: the values that a field accepts, their bytes, what is read from these, and what readers do
// not see because it was not measured.

import fc from 'fast-check';
import t from 'tap';
import {
  bitNames,
  decode,
  decodeReport,
  type Encodable,
  encode,
  getter,
  REPORT_BYTES,
  type SetName,
  type StructName,
} from '../../src/layout/codec.js';
import { bits, structs } from '../../src/layout/layout.gen.js';
import { anyText } from '../kit/anytext.js';

interface Field {
  offset: number;
  type: string;
  count: number;
  unit: string;
  kind: string;
}
const SIZES: Record<string, number> = { u8: 1, u16: 2, u32: 4, u64: 8, i16: 2, i32: 4, i64: 8, char: 1 };
const sizeOf = (type: string) => SIZES[type] ?? structs[type as StructName].bytes;
const fieldsOf = (struct: StructName) => Object.entries<Field>(structs[struct].fields);

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
/** Bytes before the struct, and others after it, so that a write outside of it is detected. */
const BEFORE = 5;

function write(struct: StructName, values: object, fill = 0): Uint8Array {
  const all = new Uint8Array(BEFORE + structs[struct].bytes + 3).fill(0xee);
  all.fill(fill, BEFORE, BEFORE + structs[struct].bytes);
  encode(struct, viewOf(all), BEFORE, values as Encodable<StructName>);
  const outside = [...all.subarray(0, BEFORE), ...all.subarray(-3)];
  if (outside.some(byte => byte !== 0xee)) throw new Error('written outside of the struct');
  return all.subarray(BEFORE, BEFORE + structs[struct].bytes);
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

t.test('one field: what is given, what lies on the wire, what is read', async t => {
  const BIG = 2 ** 53;
  type Row = [
    struct: StructName,
    field: string,
    given: number | bigint,
    wire: string,
    read: number | bigint | undefined,
  ];
  const table: Row[] = [
    // u8
    ['report', 'packages', 0, '00', 0],
    ['report', 'packages', 254, 'fe', 254],
    ['report', 'packages', 255, 'ff', 255],
    ['report', 'packages', 256, 'ff', 255],
    ['report', 'packages', -1, '00', 0],
    ['report', 'packages', 2.9, '02', 2],
    ['report', 'packages', -0.9, '00', 0],
    ['report', 'packages', Number.NaN, '00', 0],
    ['report', 'packages', Number.POSITIVE_INFINITY, 'ff', 255],
    ['report', 'packages', Number.NEGATIVE_INFINITY, '00', 0],
    ['report', 'packages', 300n, 'ff', 255],
    // u16
    ['report', 'cpus_online', 0x1234, '3412', 0x1234],
    ['report', 'cpus_online', 65535, 'ffff', 65535],
    ['report', 'cpus_online', 65536, 'ffff', 65535],
    ['report', 'cpus_online', -1, '0000', 0],
    ['report', 'cpus_online', Number.NaN, '0000', 0],
    ['report', 'cpus_online', Number.POSITIVE_INFINITY, 'ffff', 65535],
    // u32, a gauge: saturates
    ['report', 'runnable', 0x12345678, '78563412', 0x12345678],
    ['report', 'runnable', 2 ** 32 - 1, 'ffffffff', 2 ** 32 - 1],
    ['report', 'runnable', 2 ** 32, 'ffffffff', 2 ** 32 - 1],
    ['report', 'runnable', 2n ** 70n, 'ffffffff', 2 ** 32 - 1],
    ['report', 'runnable', -1, '00000000', 0],
    ['report', 'runnable', -(2n ** 70n), '00000000', 0],
    ['report', 'runnable', Number.NaN, '00000000', 0],
    ['report', 'runnable', Number.POSITIVE_INFINITY, 'ffffffff', 2 ** 32 - 1],
    // u32, a counter or a tally: modulo 2^32; a negative one is 0, as in any field without a sign
    ['report', 'oom_kills', 2 ** 32 - 1, 'ffffffff', 2 ** 32 - 1],
    ['report', 'oom_kills', 2 ** 32, '00000000', 0],
    ['report', 'oom_kills', 2 ** 32 + 7.5, '07000000', 7],
    ['report', 'oom_kills', 2n ** 64n + 5n, '05000000', 5],
    ['report', 'oom_kills', Number.NaN, '00000000', 0],
    ['report', 'oom_kills', -1, '00000000', 0],
    ['report', 'edac_ce', 2 ** 33 + 1, '01000000', 1],
    ['net_if', 'drops', 2 ** 32 + 3, '03000000', 3],
    // u64, a counter: a number; from 2^53 on undefined, because numbers are no longer exact
    ['report', 'ctxt', 0, '0000000000000000', 0],
    ['report', 'ctxt', 0x1_2345_6789, '8967452301000000', 0x1_2345_6789],
    ['report', 'ctxt', BIG - 1, 'ffffffffffff1f00', BIG - 1],
    ['report', 'ctxt', 2n ** 53n, '0000000000002000', undefined],
    ['report', 'ctxt', 2n ** 53n + 1n, '0100000000002000', undefined],
    ['report', 'ctxt', 2n ** 64n - 1n, 'ffffffffffffffff', undefined],
    ['report', 'ctxt', 2n ** 64n, 'ffffffffffffffff', undefined],
    ['report', 'ctxt', Number.POSITIVE_INFINITY, 'ffffffffffffffff', undefined],
    ['report', 'ctxt', Number.NaN, '0000000000000000', 0],
    ['report', 'ctxt', -1, '0000000000000000', 0],
    ['report', 'ctxt', -1n, '0000000000000000', 0],
    ['record', 'port', 8677, 'e521000000000000', 8677],
    ['record', 'refusal_reason', 17, '1100000000000000', 17],
    // u64, an id, a time, bits: a bigint, however large
    ['report', 'boot_id', 0x0123_4567_89ab_cdefn, 'efcdab8967452301', 0x0123_4567_89ab_cdefn],
    ['report', 'boot_id', 2n ** 64n - 1n, 'ffffffffffffffff', 2n ** 64n - 1n],
    ['report', 't_real_ns', 1_700_000_000_123_456_789n, '15cd853dfe9c9717', 1_700_000_000_123_456_789n],
    ['report', 't_real_ns', 2n ** 64n, 'ffffffffffffffff', 2n ** 64n - 1n],
    ['report', 't_real_ns', -1n, '0000000000000000', 0n],
    ['report', 't_boot_ns', 12.5, '0c00000000000000', 12n],
    ['report', 'valid', 1n << 63n, '0000000000000080', 1n << 63n],
    ['record', 'history', 2n ** 64n - 1n, 'ffffffffffffffff', 2n ** 64n - 1n],
    // i16
    ['report', 'temp_inlet_dc', 215, 'd700', 215],
    ['report', 'temp_inlet_dc', -1, 'ffff', -1],
    ['report', 'temp_inlet_dc', -1.9, 'ffff', -1],
    ['report', 'temp_inlet_dc', 32767, 'ff7f', 32767],
    ['report', 'temp_inlet_dc', 32768, 'ff7f', 32767],
    ['report', 'temp_inlet_dc', -32768, '0080', -32768],
    ['report', 'temp_inlet_dc', -32769, '0080', -32768],
    ['report', 'temp_inlet_dc', Number.NaN, '0000', 0],
    ['report', 'temp_inlet_dc', Number.NEGATIVE_INFINITY, '0080', -32768],
    // i32
    ['report', 'clock_offset_us', -2, 'feffffff', -2],
    ['report', 'clock_offset_us', 2 ** 31 - 1, 'ffffff7f', 2 ** 31 - 1],
    ['report', 'clock_offset_us', 2 ** 31, 'ffffff7f', 2 ** 31 - 1],
    ['report', 'clock_offset_us', -(2 ** 31), '00000080', -(2 ** 31)],
    ['report', 'clock_offset_us', -(2 ** 31) - 1, '00000080', -(2 ** 31)],
    ['report', 'clock_offset_us', Number.POSITIVE_INFINITY, 'ffffff7f', 2 ** 31 - 1],
    // i64
    ['record', 'offset_us', -1, 'ffffffffffffffff', -1],
    ['record', 'offset_us', BIG - 1, 'ffffffffffff1f00', BIG - 1],
    ['record', 'offset_us', 1 - BIG, '010000000000e0ff', 1 - BIG],
    ['record', 'offset_us', 2n ** 53n + 1n, '0100000000002000', undefined],
    ['record', 'offset_us', -(2n ** 53n) - 1n, 'ffffffffffffdfff', undefined],
    ['record', 'offset_us', 2n ** 63n, 'ffffffffffffff7f', undefined],
    ['record', 'offset_us', -(2n ** 63n) - 1n, '0000000000000080', undefined],
  ];
  for (const [struct, field, given, wire, read] of table) {
    const bytes = write(struct, { [field]: given }, 0xff);
    const { offset, type } = (structs[struct].fields as Record<string, Field>)[field]!;
    const what = `${struct}.${field}: ${String(given)}`;
    t.equal(hexOf(bytes.subarray(offset, offset + sizeOf(type))), wire, what);
    t.strictSame((decode(struct, viewOf(bytes), 0) as Record<string, unknown>)[field], read, `${what}, read again`);
    t.strictSame(getter(struct, field as never)(viewOf(bytes), 0), read, `${what}, read alone`);
    const rest = [...bytes.subarray(0, offset), ...bytes.subarray(offset + sizeOf(type))];
    t.ok(
      rest.every(byte => byte === 0xff),
      `${what}, other fields keep their bytes`,
    );
  }
  const types = new Set(table.map(([struct, field]) => (structs[struct].fields as Record<string, Field>)[field]!.type));
  t.strictSame(
    [...types].sort(),
    Object.keys(SIZES)
      .filter(type => type !== 'char')
      .sort(),
    'every type of number',
  );
});

t.test('text: cut at a character, padded with NUL', async t => {
  // Into the 16 bytes of net_if.name; the last stays NUL.
  const table: [given: string, wire: string, read: string][] = [
    ['', '00'.repeat(16), ''],
    ['eth0', `65746830${'00'.repeat(12)}`, 'eth0'],
    ['123456789012345', `31323334353637383930313233343500`, '123456789012345'],
    ['1234567890123456', `31323334353637383930313233343500`, '123456789012345'],
    ['1234567890123456789', `31323334353637383930313233343500`, '123456789012345'],
    ['1234567890123é', `31323334353637383930313233c3a900`, '1234567890123é'],
    ['12345678901234é', `31323334353637383930313233340000`, '12345678901234'],
    ['123456789012€', `313233343536373839303132e282ac00`, '123456789012€'],
    ['1234567890123€', `31323334353637383930313233000000`, '1234567890123'],
    ['12345678901😀', `3132333435363738393031f09f988000`, '12345678901😀'],
    ['1234567890123😀', `31323334353637383930313233000000`, '1234567890123'],
    ['\uFEFFeth0', `efbbbf65746830${'00'.repeat(9)}`, '\uFEFFeth0'],
    ['a\ud83d', `61efbfbd${'00'.repeat(12)}`, 'a\uFFFD'],
  ];
  for (const [given, wire, read] of table) {
    const bytes = write('net_if', { name: given }, 0xff);
    t.equal(hexOf(bytes.subarray(0, 16)), wire, JSON.stringify(given));
    t.equal(decode('net_if', viewOf(bytes), 0).name, read, `${JSON.stringify(given)}, read again`);
  }
});

t.test('text as others may write it', async t => {
  const table: [wire: string, read: string][] = [
    ['65746830'.repeat(4), 'eth0eth0eth0eth0'], // no NUL at all
    [`65746800${'41'.repeat(12)}`, 'eth'], // junk behind the NUL
    [`00${'41'.repeat(15)}`, ''],
    [`61ff62${'00'.repeat(13)}`, 'a\uFFFDb'],
    [`61c3${'00'.repeat(14)}`, 'a\uFFFD'], // half a character
    [`c0af${'00'.repeat(14)}`, '\uFFFD\uFFFD'], // an overlong slash
    [`eda080${'00'.repeat(13)}`, '\uFFFD\uFFFD\uFFFD'], // half a surrogate pair
    [`${'41'.repeat(15)}e2`, `${'A'.repeat(15)}\uFFFD`], // cut within a character
  ];
  for (const [wire, read] of table) {
    const bytes = new Uint8Array(64);
    bytes.set(Buffer.from(wire, 'hex'));
    t.equal(decode('net_if', viewOf(bytes), 0).name, read, wire);
  }
});

t.test('arrays and structs: as many as are given, the others keep their bytes', async t => {
  const bytes = write('report', { gpu_flags: [1, 300], net: [{ name: 'a', rx_bytes: 1 }, { tx_bytes: 2 }] }, 0xff);
  const at = structs.report.fields;
  t.equal(hexOf(bytes.subarray(at.gpu_flags.offset, at.gpu_flags.offset + 8)), '01ffffffffffffff');
  const nets = decode('report', viewOf(bytes), 0).net;
  t.equal(nets.length, 3);
  t.match(nets[0], { name: 'a', rx_bytes: 1, errors: 2 ** 32 - 1 });
  t.match(nets[1], { name: '\uFFFD'.repeat(16), tx_bytes: 2, errors: 2 ** 32 - 1 });
  const many = write('report', { gpu_flags: Array.from({ length: 20 }, () => 7) });
  t.equal(
    hexOf(many.subarray(at.gpu_flags.offset, at.gpu_flags.offset + 9)),
    '070707070707070700',
    'never more than fit',
  );
  t.throws(() => write('report', { colour: 1 }), { message: 'report has no field colour' });
  t.throws(() => getter('report', 'reserved7' as 'seq'), { message: 'report has no field reserved7' });
  t.strictSame(write('report', { seq: undefined }), new Uint8Array(REPORT_BYTES), 'undefined is not given');
});

t.test('bits by name', async t => {
  t.strictSame(bitNames('flags', 0), []);
  t.strictSame(bitNames('flags', 0b1_0000_0011), ['first', 'goodbye', 'slow_stale']);
  t.strictSame(bitNames('valid', (1n << 39n) | 1n), ['cpus', 'sw_hash']);
  t.strictSame(bitNames('gpu_flags', 0xc0), [], 'unknown bits have no name');
});

const EVERY = Object.values(bits.valid).reduce((all, bit) => all | (1n << BigInt(bit)), 0n);
const valid = (...sets: SetName[]) => sets.reduce((all, set) => all | (1n << BigInt(bits.valid[set])), 0n);

t.test('a report without what was not measured', async t => {
  const ALWAYS =
    'magic version length cluster_id boot_id seq interval_ms t_real_ns t_boot_ns valid flags key_id auth_alg hostname ' +
    'agent_version start_boot_ns slow_boot_ns tag';
  const full = write('report', { valid: EVERY, groups: 4, gpu_count: 8, net_rest: { name: 'rest' } });
  const names = fieldsOf('report').filter(([, { kind }]) => kind !== 'reserved');
  t.strictSame(Object.keys(decodeReport(viewOf(write('report', {})), 0)), ALWAYS.split(' '), 'no set');
  t.strictSame(Object.keys(decodeReport(viewOf(write('report', {}, 0xff).fill(0, 48, 56)), 0)), ALWAYS.split(' '));

  const table: [sets: SetName[], fields: string][] = [
    [['cpus'], 'cpus_online cpus_present'],
    [['topology'], 'packages groups threads_per_core numa_nodes'],
    [['load'], 'load1_c load5_c load15_c threads'],
    [['vmstat'], 'oom_kills majfaults swapin_pages swapout_pages'],
    [['psi_irq'], 'psi_irq_full_us psi_irq_full10'],
    [['sender'], 'late_us collect_us agent_cpu_ms missed_ticks'],
    [['system'], 'os_release arch virt page_kib'],
    [['net'], 'net'],
    [['fabric'], ''], // without a name it is no entry
    [['group_share'], ''],
    [['gpu'], 'gpu_count gpu_busy gpu_vendor gpu_flags gpu'],
    [['hw_hash', 'root'], 'hw_hash root_total_mib root_avail_mib root_inodes_free_pm'],
  ];
  for (const [sets, fields] of table) {
    const report = decodeReport(viewOf(write('report', { valid: valid(...sets) })), 0);
    const more = Object.keys(report).filter(name => !ALWAYS.split(' ').includes(name));
    t.strictSame(more, fields.split(' ').filter(Boolean), sets.join(' '));
  }
  encode('report', viewOf(full), 0, { fabric: { name: 'fabric' } });
  t.strictSame(
    Object.keys(decodeReport(viewOf(full), 0)),
    names.map(([name]) => name),
    'every set',
  );
});

t.test('a report without unused entries and unknown leaves', async t => {
  const group = { cpus: 8, busy_pm: 1, user_pm: 2, system_pm: 3, iowait_pm: 4, busiest_pm: 5, mhz: 2400, temp_dc: 415 };
  const gpu = { util_pct: 7, temp_degc: 41, power_w: 250, mem_used_mib: 5, mem_total_mib: 80_000 };
  const entry = (name: string) => ({
    name,
    rx_bytes: 1,
    tx_bytes: 2,
    rx_packets: 3,
    tx_packets: 4,
    errors: 5,
    drops: 6,
    mbps: 1000,
    state: 0x1_0003,
  });
  const without = (from: object, ...names: string[]) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
  const GROUPS = valid('topology', 'groups', 'group_share');
  const table: [
    what: string,
    given: Encodable<'report'>,
    field: 'net' | 'net_rest' | 'fabric' | 'group' | 'gpu' | 'gpu_flags',
    read: unknown,
  ][] = [
    [
      'three interfaces',
      { valid: valid('net'), net: [entry('a'), entry('b'), entry('c')] },
      'net',
      [entry('a'), entry('b'), entry('c')],
    ],
    ['none', { valid: valid('net') }, 'net', []],
    ['one', { valid: valid('net'), net: [entry('a')] }, 'net', [entry('a')]],
    ['one behind an empty entry', { valid: valid('net'), net: [entry(''), entry('b')] }, 'net', [entry('b')]],
    [
      'a link of unknown speed',
      { valid: valid('net'), net: [{ ...entry('a'), mbps: 0 }] },
      'net',
      [without(entry('a'), 'mbps')],
    ],
    ['no rest', { valid: valid('net') }, 'net_rest', undefined],
    ['a rest', { valid: valid('net'), net_rest: entry('rest') }, 'net_rest', entry('rest')],
    ['a fabric', { valid: valid('fabric'), fabric: entry('fabric') }, 'fabric', entry('fabric')],
    ['a fabric without a name is no entry', { valid: valid('fabric') }, 'fabric', undefined],
    ['a fabric that was not measured', { valid: valid('net'), fabric: entry('fabric') }, 'fabric', undefined],
    ['two groups of four', { valid: GROUPS, groups: 2, group: [group, group, group, group] }, 'group', [group, group]],
    [
      'all groups',
      { valid: GROUPS, groups: 4, group: [group, group, group, group] },
      'group',
      [group, group, group, group],
    ],
    ['no group', { valid: GROUPS, groups: 0, group: [group] }, 'group', []],
    ['groups whose number was not measured', { valid: valid('groups'), groups: 4, group: [group] }, 'group', []],
    [
      'groups that were not measured',
      { valid: valid('topology', 'group_share'), groups: 1, group: [group] },
      'group',
      undefined,
    ],
    [
      'groups without shares, as in a first report',
      { valid: valid('topology', 'groups'), groups: 1, group: [group] },
      'group',
      [{ cpus: 8, mhz: 2400, temp_dc: 415 }],
    ],
    [
      'a group of unknown clock rate',
      { valid: GROUPS, groups: 1, group: [{ ...group, mhz: 0 }] },
      'group',
      [without(group, 'mhz')],
    ],
    [
      'a group of unknown temperature',
      { valid: GROUPS, groups: 1, group: [{ ...group, temp_dc: -32768 }] },
      'group',
      [without(group, 'temp_dc')],
    ],
    [
      'a group at 0 °C',
      { valid: GROUPS, groups: 1, group: [{ ...group, temp_dc: 0 }] },
      'group',
      [{ ...group, temp_dc: 0 }],
    ],
    ['two GPUs', { valid: valid('gpu'), gpu_count: 2, gpu: [gpu, gpu, gpu] }, 'gpu', [gpu, gpu]],
    ['no GPU', { valid: valid('gpu'), gpu_count: 0, gpu: [gpu] }, 'gpu', []],
    [
      'ten GPUs in eight entries',
      { valid: valid('gpu'), gpu_count: 10, gpu: Array(8).fill(gpu) },
      'gpu',
      Array(8).fill(gpu),
    ],
    ['flags of two GPUs', { valid: valid('gpu'), gpu_count: 2, gpu_flags: [1, 3, 5] }, 'gpu_flags', [1, 3]],
    [
      'a GPU of which little is known',
      { valid: valid('gpu'), gpu_count: 1, gpu: [{ ...gpu, util_pct: 255, temp_degc: 255, power_w: 65_535 }] },
      'gpu',
      [{ mem_used_mib: 5, mem_total_mib: 80_000 }],
    ],
    [
      'a GPU with nothing to do',
      { valid: valid('gpu'), gpu_count: 1, gpu: [{ ...gpu, util_pct: 0, temp_degc: 0, power_w: 0 }] },
      'gpu',
      [{ ...gpu, util_pct: 0, temp_degc: 0, power_w: 0 }],
    ],
  ];
  for (const [what, given, field, read] of table)
    t.test(what, async t => {
      const report = decodeReport(viewOf(write('report', given)), 0);
      t.strictSame(report[field], read);
      t.equal(field in report, read !== undefined, 'absent, and not there as undefined');
    });
});

t.test('properties', async t => {
  const seed = Number(process.env.BEOBOARD_SEED ?? 8677);
  t.comment(`seed ${seed}; another by BEOBOARD_SEED`);
  const noise = fc.uint8Array({ minLength: REPORT_BYTES, maxLength: REPORT_BYTES, size: 'max' });

  fc.assert(
    fc.property(noise, fc.nat(9), (bytes, base) => {
      const shifted = new Uint8Array(base + REPORT_BYTES);
      shifted.set(bytes, base);
      const report = decodeReport(viewOf(shifted), base);
      if (Object.keys(report).length < 18) throw new Error('too little');
      decode('report', viewOf(shifted), base);
    }),
    { seed, numRuns: 500 },
  );
  t.pass('any 1,216 bytes are read without an exception');

  // Any bytes, but for what no encoder writes: reserved bytes are zero; texts are UTF-8 without NUL, shorter than their
  // field, and padded with NUL; counters of 64 bits are under 2^53, because a larger one is read as undefined.
  const characters = fc.array(anyText({ maxLength: 16 }), { minLength: 12, maxLength: 12 });
  const normal = (bytes: Uint8Array, texts: string[]) => {
    const out = Uint8Array.from(bytes);
    const view = viewOf(out);
    let text = 0;
    const walk = (struct: StructName, base: number) => {
      for (const [, { offset, type, count, kind, unit }] of fieldsOf(struct)) {
        const at = base + offset;
        const size = sizeOf(type);
        if (kind === 'reserved') out.fill(0, at, at + size * Math.max(1, count));
        else if (type === 'char') {
          out.fill(0, at, at + count);
          for (const character of (texts[text++ % texts.length] ?? '').replaceAll('\0', '')) {
            const end = out.subarray(at, at + count).indexOf(0);
            const utf8 = Buffer.from(character);
            if (end + utf8.length < count) out.set(utf8, at + end);
          }
        } else if (type in structs)
          for (let i = 0; i < Math.max(1, count); i++) walk(type as StructName, at + i * size);
        else if (type === 'u64' && !['ns', 'id'].includes(unit) && !unit.startsWith('bits '))
          view.setUint16(at + 6, view.getUint16(at + 6, true) & 0x1f, true);
      }
    };
    walk('report', 0);
    return out;
  };
  const again = (read: object) => write('report', read);
  const same = (bytes: Uint8Array, other: Uint8Array) => {
    const differs = bytes.findIndex((byte, i) => byte !== other[i]);
    if (differs >= 0) throw new Error(`byte ${differs}: ${bytes[differs]} became ${other[differs]}`);
  };
  fc.assert(
    fc.property(noise, characters, (bytes, texts) => {
      const report = normal(bytes, texts);
      same(report, again(decode('report', viewOf(report), 0)));
    }),
    { seed, numRuns: 500 },
  );
  t.pass('encode(decode(report)) is the report');

  // The same for the decoding that readers use: every set is measured, every entry is used, and no field is unknown.
  fc.assert(
    fc.property(noise, characters, (bytes, texts) => {
      const report = normal(bytes, texts);
      const known = decode('report', viewOf(report), 0);
      encode('report', viewOf(report), 0, {
        valid: known.valid | EVERY,
        groups: 4,
        gpu_count: 8,
        net: known.net.map(net => ({ name: net.name || 'eth0', mbps: net.mbps || 1 })),
        net_rest: { name: 'rest', mbps: known.net_rest.mbps || 1 },
        fabric: { name: 'fabric', mbps: known.fabric.mbps || 1 },
        group: known.group.map(({ mhz, temp_dc }) => ({ mhz: mhz || 1, temp_dc: Math.max(-32767, temp_dc) })),
        gpu: known.gpu.map(({ util_pct, temp_degc, power_w }) => ({
          util_pct: Math.min(254, util_pct),
          temp_degc: Math.min(254, temp_degc),
          power_w: Math.min(65_534, power_w),
        })),
      });
      same(report, again(decodeReport(viewOf(report), 0)));
    }),
    { seed, numRuns: 500 },
  );
  t.pass('encode(decodeReport(report)) is the report, when all of it was measured');
});
