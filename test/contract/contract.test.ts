// The contract: the generated files are fresh, every kind of mistake in a document is reported with its place, and C
// and TypeScript mean the same byte by every name.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { compile } from '../../proto/compile.js';
import { generate, NAMES, readContract } from '../../proto/contract.js';
import { emitC, emitDictionary, emitLayout, emitTerms } from '../../proto/emit.js';
import { ContractError } from '../../proto/model.js';
import { readWording } from '../../proto/wording.js';
import { REPORT_BYTES, unpackWord } from '../../src/layout/codec.js';
import { dictionary } from '../../src/layout/dictionary.gen.js';
import {
  bits,
  constants,
  enums,
  HASH_BOARD_V2,
  HASH_RELAY_V1,
  HASH_STAT_V1,
  sources,
  structs,
  words,
} from '../../src/layout/layout.gen.js';
import { ranked, terms } from '../../src/layout/terms.gen.js';
import { ROOT } from '../kit/places.js';
import { packWord } from '../kit/words.js';

interface Field {
  offset: number;
  type: string;
  count: number;
  kind: string;
  set?: string;
}
interface Source {
  sets: readonly string[];
  periodMs: number;
  mostMs?: number;
  rated?: boolean;
}
const STRUCTS: [name: string, struct: { bytes: number; fields: Record<string, Field> }][] = Object.entries(structs);
const SIZES: Record<string, number> = { u8: 1, u16: 2, u32: 4, u64: 8, i16: 2, i32: 4, i64: 8, char: 1 };
const sizeOf = (type: string) => SIZES[type] ?? structs[type as keyof typeof structs].bytes;

t.test('the generated files are fresh', async t => {
  for (const [path, text] of generate(ROOT))
    t.ok(readFileSync(join(ROOT, path), 'utf8') === text, `${path}; if not: npm run generate`);
});

t.test('sentences: what is not understood is refused, with its line', async t => {
  const read = (...lines: string[]) => readWording(lines.join('\n'), ['tag']);
  const { sentences, reasons } = read('## sentences', '| a_b | so {x}{y?, y:} |', '## reasons', '| tag | t | s | w |');
  t.strictSame(sentences, [{ name: 'a_b', pieces: ['so ', { slot: 'x' }, { slot: 'y', so: ', y', or: '' }] }]);
  t.strictSame(reasons, [{ reason: 'tag', meaning: 't', sends: 's', why: 'w' }]);
  for (const [lines, problem] of [
    [['| a | x {Y} |'], '2: {Y} is no {name} and no {name?so:or so}'],
    [['| a | x {y?z} |'], '2: {y?z} is no {name} and no {name?so:or so}'],
    [['| a | x } |'], '2: x } is no {name} and no {name?so:or so}'],
    [['| A | x |'], '2: A is not a name'],
    [['| a | x |', '| a | y |'], '3: a is there twice'],
    [['## reasons', '| late | x | | |'], '3: late is not a reason of the contract'],
    [['## titles', '| JOB | jobs | x |', '| JOB | users | y |', '| JOB | jobs | z |'], '5: JOB is there twice'],
    [['## titles', '| job | jobs | x |'], '3: job is not a name'],
  ] as const)
    t.throws(() => read('## sentences', ...lines), { message: `proto/wording.md:${problem}` });
});

t.test('sizes', async t => {
  t.equal(structs.report.bytes, 1216);
  t.equal(REPORT_BYTES, 1216);
  t.equal(1216, 19 * 64, 'cache lines');
  t.ok(1216 <= 1280 - 40 - 8, "fits IPv6's least MTU less the headers of IPv6 and UDP");
  t.equal(structs.board_header.bytes, 1536);
  t.equal(structs.record.bytes + 2 * structs.slot.bytes, 384 + 2 * 1280);
  t.same([structs.link.bytes, structs.sender.bytes, structs.event.bytes], [128, 128, 64]);
  for (const part of ['board_header', 'link', 'sender', 'event', 'record', 'slot'] as const)
    t.equal(structs[part].bytes % 64, 0, part);
});

const SLOW_SETS = Object.values(sources.slow).flatMap(({ sets }) => sets);

t.test('sets and fields agree both ways', async t => {
  const text = readFileSync(join(ROOT, 'proto/stat-v1.md'), 'utf8');
  const table = /^## sets valid$([\s\S]*?)^## /m.exec(text)?.[1] ?? '';
  const rows = [...table.matchAll(/^\| *(\d+) \| `(\w+)` *\| (fast|slow) *\|/gm)].map(([, bit, set, speed]) => ({
    bit: Number(bit),
    set: set ?? '',
    speed,
  }));
  t.equal(rows.length, 40, 'as many as stand in the document');
  t.strictSame(Object.fromEntries(rows.map(({ set, bit }) => [set, bit])), { ...bits.valid });
  t.strictSame(
    rows.filter(({ speed }) => speed === 'slow').map(({ set }) => set),
    SLOW_SETS,
  );
  const used = new Set(STRUCTS.flatMap(([, { fields }]) => Object.values(fields).flatMap(field => field.set ?? [])));
  t.strictSame([...used].sort(), Object.keys(bits.valid).sort(), 'a set without a field, or a field without its set');
  for (const entry of dictionary)
    t.equal(entry.speed, rows.find(({ set }) => set === entry.set)?.speed ?? '', `${entry.struct}.${entry.field}`);
});

t.test('constants and states, as other programs know them', async t => {
  const bytes = (number: bigint, size: number) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigUInt64LE(number);
    return buffer.toString('latin1', 0, size);
  };
  t.equal(bytes(BigInt(constants.stat.magic), 4), 'BSR1');
  t.equal(bytes(constants.board.magic, 8), 'BEOBOARD');
  t.strictSame(
    terms.node_state,
    ['never', 'live', 'uncertain', 'silent', 'left', 'unknown'],
    'numbers of libbeoboard 1.0',
  );
  t.strictSame([...ranked.node_state].sort(), [...terms.node_state].sort());
});

t.test('slow counters with a rate are those that are read in every slow round', async t => {
  const slow: ReadonlySet<string> = new Set(SLOW_SETS);
  const counters = Object.entries<Field>(structs.report.fields)
    .filter(([, { kind, set }]) => kind === 'counter' && slow.has(set ?? ''))
    .map(([name]) => name);
  t.strictSame(counters, ['fabric', 'energy_cpu_mj', 'energy_dram_mj']);
});

const HASHES = { 'stat-v1': HASH_STAT_V1, 'board-v2': HASH_BOARD_V2, 'relay-v1': HASH_RELAY_V1 };

/**
 * Everything that both languages name, each as a line according to TypeScript and as a C statement that prints this
 * line.
 */
function agreed(): { line: string; print: string }[] {
  const upper = (name: string) => name.toUpperCase().replaceAll('-', '_');
  const out: { line: string; print: string }[] = [];
  const hex = (value: bigint) => value.toString(16).padStart(16, '0');
  for (const [document, hash] of Object.entries(HASHES))
    out.push({
      line: `hash ${document} ${hex(hash)}`,
      print: `printf("hash ${document} %016" PRIx64 "\\n", BB_HASH_${upper(document)});`,
    });
  for (const [name, { bytes, fields }] of STRUCTS) {
    out.push({
      line: `struct ${name} ${bytes} ${bytes}`,
      print: `printf("struct ${name} %zu %d\\n", sizeof(struct bb_${name}), BB_${upper(name)}_BYTES);`,
    });
    for (const [field, { offset, type, count }] of Object.entries(fields))
      out.push({
        line: `${name}.${field} at ${offset} size ${sizeOf(type) * Math.max(1, count)} element ${sizeOf(type)}`,
        print:
          `printf("${name}.${field} at %zu size %zu element %zu\\n", offsetof(struct bb_${name}, ${field}), ` +
          `sizeof(((struct bb_${name} *)0)->${field}), sizeof(((struct bb_${name} *)0)->${field}${count > 0 ? '[0]' : ''}));`,
      });
  }
  for (const [word, fields] of Object.entries<Record<string, { shift: number; bits: number }>>(words)) {
    // Each field with all its bits set and the others zero; bits beyond a field's width are cut off.
    for (const [field, { shift, bits }] of Object.entries(fields)) {
      const full = ((1n << BigInt(bits)) - 1n) << BigInt(shift);
      const macro = `BB_${upper(word)}_${upper(field)}`;
      const among = Object.keys(fields).map(other => (other === field ? '~UINT64_C(0)' : '0'));
      out.push({
        line: `word ${word}.${field} ${hex(full)} ${hex(full >> BigInt(shift))}`,
        print: `printf("word ${word}.${field} %016" PRIx64 " %016" PRIx64 "\\n", BB_${upper(word)}(${among.join(', ')}), ${macro}(~UINT64_C(0)));`,
      });
    }
  }
  for (const [table, names] of Object.entries<Record<string, number>>(bits)) {
    let known = 0n;
    for (const [name, bit] of Object.entries(names)) {
      known |= 1n << BigInt(bit);
      out.push({
        line: `bits ${table}.${name} ${hex(1n << BigInt(bit))}`,
        print: `printf("bits ${table}.${name} %016" PRIx64 "\\n", BB_${upper(table)}_${upper(name)});`,
      });
    }
    out.push({
      line: `bits ${table} ${hex(known)}`,
      print: `printf("bits ${table} %016" PRIx64 "\\n", BB_${upper(table)}_KNOWN);`,
    });
  }
  for (const [table, names] of Object.entries<readonly string[]>(enums)) {
    out.push({
      line: `enum ${table} ${names.length}`,
      print: `printf("enum ${table} %d\\n", BB_${upper(table)}_COUNT);`,
    });
    names.forEach((name, value) => {
      const constant = `BB_${upper(table)}_${upper(name)}`;
      out.push({
        line: `enum ${table}.${name} ${value} ${name}`,
        print: `printf("enum ${table}.${name} %d %s\\n", (int)${constant}, bb_${table}_names[${constant}]);`,
      });
    });
  }
  for (const [table, numbers] of Object.entries<Record<string, number | bigint>>(constants))
    for (const [name, value] of Object.entries(numbers))
      out.push({
        line: `constant ${table}.${name} ${value}`,
        print: `printf("constant ${table}.${name} %" PRIu64 "\\n", (uint64_t)BB_${upper(table)}_${upper(name)});`,
      });
  for (const [table, names] of Object.entries<readonly string[]>(terms)) {
    out.push({
      line: `terms ${table} ${names.length}`,
      print: `printf("terms ${table} %d\\n", BB_${upper(table)}_COUNT);`,
    });
    names.forEach((name, value) => {
      const constant = `BB_${upper(table)}_${upper(name)}`;
      out.push({
        line: `term ${table}.${name} ${value} ${name}`,
        print: `printf("term ${table}.${name} %d %s\\n", (int)${constant}, bb_${table}_names[${constant}]);`,
      });
    });
  }
  Object.entries<Source>(sources.slow).forEach(([name, { sets, periodMs, mostMs = 0, rated = false }], i) => {
    const bytes = new Set<number>();
    for (const { offset, type, count, set = '' } of Object.values<Field>(structs.report.fields))
      if (sets.includes(set))
        for (let at = offset; at < offset + sizeOf(type) * Math.max(1, count); at++) bytes.add(at);
    const own = [...bytes].sort((a, b) => a - b);
    out.push({
      line: `source ${name} ${periodMs} ${mostMs} ${Number(rated)} ${own.map(at => `${at},`).join('')}`,
      print:
        `printf("source %s %d %d %d ", bb_slow_sources[${i}].name, (int)bb_slow_sources[${i}].period_ms, (int)bb_slow_sources[${i}].most_ms, (int)bb_slow_sources[${i}].rated); ` +
        `for (const struct bb_slow_piece *p = bb_slow_sources[${i}].pieces; p->bytes > 0; p++) ` +
        'for (int at = p->offset; at < p->offset + p->bytes; at++) printf("%d,", at); printf("\\n");',
    });
  });
  for (const [name, { offset, type, count, kind }] of Object.entries<Field>(structs.report.fields))
    if (kind === 'reserved')
      out.push({ line: `zero ${name} ${offset} ${sizeOf(type) * Math.max(1, count)}`, print: '' });
  const zeros = out.filter(({ print }) => print === '');
  zeros.forEach((zero, i) => {
    const name = zero.line.split(' ')[1];
    zero.print = `printf("zero ${name} %d %d\\n", bb_report_reserved[${i}].offset, bb_report_reserved[${i}].bytes);`;
  });
  out.push({
    line: `zeros ${zeros.length}`,
    print: 'printf("zeros %zu\\n", sizeof bb_report_reserved / sizeof bb_report_reserved[0]);',
  });
  return out;
}

t.test('C and TypeScript agree on every offset, size, bit, value and hash', async t => {
  const lines = agreed();
  const program = [
    '#include "format/layout.gen.h"',
    '#include <inttypes.h>',
    '#include <stdio.h>',
    'int main(void) {',
    ...lines.map(({ print }) => `  ${print}`),
    '  return 0;',
    '}',
    '',
  ].join('\n');
  const compilers: [what: string, compiler: string, source: string, standard: string][] = [
    ['C11', 'cc', 'agree.c', '-std=c11'],
    ['C++17', 'c++', 'agree.cc', '-std=c++17'],
  ];
  for (const [what, compiler, name, standard] of compilers)
    t.test(what, async t => {
      const folder = t.testdir({});
      const source = join(folder, name);
      const binary = join(folder, 'agree');
      writeFileSync(source, program);
      const strict = [standard, '-Wall', '-Wextra', '-Wpedantic', '-Werror'];
      execFileSync(compiler, [...strict, '-I', join(ROOT, 'c'), '-o', binary, source], { timeout: 60_000 });
      const printed = execFileSync(binary, { encoding: 'utf8', timeout: 10_000 }).trimEnd().split('\n');
      t.equal(printed.length, lines.length);
      lines.forEach(({ line }, i) => {
        if (printed[i] !== line) t.equal(printed[i], line); // only what differs: there are hundreds
      });
      t.pass(`${lines.length} lines compared`);
    });
});

t.test('a word is taken apart and put together again', async t => {
  const numbers = { stamp: 2n ** 38n - 1n, link: 31n, interval: 600_000n, goodbye: 1n };
  t.strictSame(unpackWord('column', packWord('column', numbers)), numbers);
  t.equal(packWord('column', { ...numbers, stamp: 0, link: 0, interval: 0 }), 1n);
  t.equal(packWord('column', { stamp: 1, link: 0, interval: 0, goodbye: 0 }), 1n << 26n);
  t.equal(packWord('column', { stamp: 2n ** 38n, link: 32, interval: 2 ** 20, goodbye: 2 }), 0n, 'what has no room');
  t.equal(
    packWord('column', { ...unpackWord('column', 2n ** 64n - 1n) }),
    2n ** 64n - 1n,
    'all of its bits are in use',
  );
});

/** What is wrong with a document called x.md, a line each. */
function problems(lines: Lines): string[] {
  try {
    compile([{ path: 'x.md', text: lines.flat().join('\n') }], NAMES);
    return [];
  } catch (error) {
    if (error instanceof ContractError) return error.problems.map(problem => problem.replace(/^x\.md:/, ''));
    throw error;
  }
}

type Lines = readonly (string | readonly string[])[];

// The columns of each kind of table.
const FIELDS = 'offset | field | type | unit | kind | set';
const BITS = 'bit | name | meaning';
const SETS = 'bit | set | speed | read';
const ENUM = 'value | name | meaning';
const WORD = 'bits | field | unit | meaning';
const RANGES = 'field | least | most | reason';
const CONSTANTS = 'name | type | value | meaning';
const TERMS = 'name | value | rank | meaning';
const QUIET = 'name | value | rank | quiet | meaning';
const SOURCES = 'source | sets | flags | period | at least every | rated';

/**
 * A table under its heading: two lines for its columns, and a line for each row, with as many cells. The first column, or
 * the one behind a number, has names.
 */
function table(heading: string, columns: string, ...rows: string[]): string[] {
  const titles = columns.split(' | ');
  const named = /^(field|name|source)/.test(columns) ? 0 : 1;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const row = (text: string) => {
    const cells = text.split(/(?<!\\)\|/).map(cell => cell.trim());
    return line(titles.map((_, i) => (i === named ? `\`${cells[i]}\`` : (cells[i] ?? ''))));
  };
  return [
    heading.startsWith('#') ? heading : `## ${heading}`,
    line(titles),
    line(titles.map(() => '-')),
    ...rows.map(row),
  ];
}
const struct = (bytes: number, ...fields: string[]) => table(`struct s, ${bytes} bytes`, FIELDS, ...fields);
const word = (...fields: string[]) => table('word w, 64 bits', WORD, ...fields);

/** Lines 1 to 11: the first row of a table of ranges directly after them is line 15. */
const REPORT = [
  ...table(
    'struct report, 16 bytes',
    FIELDS,
    '0 | big | u64 | | gauge',
    '8 | a | u32 | | gauge',
    '12 | b | u32 | | gauge',
  ),
  ...table('enum reason', ENUM, '0 | none'),
  '',
];

t.test('documents without a mistake', async t => {
  const documents: [what: string, lines: Lines][] = [
    ['none', []],
    ['prose', ['# title', 'text | with bars', '| a | table | of | nobody |', '| 1 |']],
    ['a struct', struct(8, '0 | a | u32 | | gauge', '4 | b | u8[4]')],
    [
      'a struct within a struct that is defined above it, in a group',
      [
        '## struct s, 12 bytes',
        table('### All (0–11)', FIELDS, '0 | a | inner[3]'),
        table('struct inner, 4 bytes', FIELDS, '0 | c | i32'),
      ],
    ],
    ['a bar within a cell', table('bits b', BITS, '0 | a | this \\| that')],
    ['a range', [REPORT, table('ranges', RANGES, 'a | 0 | 4 | none')]],
    [
      'a word, of one bit and of many, and what holds it',
      [struct(8, '0 | a | u64 | word w'), word('63–1 | b | ms', '0 | c')],
    ],
    ['a word of one number', word('63–0 | a')],
    ['constants', table('constants c', CONSTANTS, 'a | u8 | 255', 'b | u16 | `"ab"`')],
    ['terms, in any order', table('terms t', TERMS, 'a | 1 | 0', 'b | 0 | 1')],
    [
      'sources of all slow sets',
      [table('sets valid', SETS, '0 | a | slow'), table('sources s', SOURCES, 'x | `a` | | 10 s', 'y')],
    ],
  ];
  for (const [what, lines] of documents)
    t.test(what, async t => {
      t.strictSame(problems(lines), []);
    });
});

t.test('mistakes are refused, with file and line', async t => {
  // A pattern is used where the exact text does not matter.
  const mistakes: [what: string, lines: Lines, problems: string | string[] | RegExp][] = [
    ['a hole', struct(8, '0 | a | u32', '6 | b | u16'), '5: a hole of 2 bytes before b'],
    ['a hole at the beginning', struct(8, '4 | a | u32'), '4: a hole of 4 bytes before a'],
    [
      'an overlap',
      struct(6, '0 | a | u32', '2 | b | u32'),
      [
        '5: b begins within the field before it, which ends at 4',
        '5: b is not aligned to 4 bytes',
        '1: the size of s is not a multiple of 4',
      ],
    ],
    [
      'misalignment of a number',
      struct(8, '0 | a | u8', '1 | b | u32', '5 | c | u8[3]'),
      '5: b is not aligned to 4 bytes',
    ],
    [
      'misalignment of a struct, which is aligned as its strictest field',
      [
        struct(16, '0 | a | u32', '4 | b | inner', '12 | c | u32'),
        table('struct inner, 8 bytes', FIELDS, '0 | d | u64'),
      ],
      '5: b is not aligned to 8 bytes',
    ],
    [
      'a size that is too small',
      struct(4, '0 | a | u64'),
      ['1: s ends at 8, not at 4', '1: the size of s is not a multiple of 8'],
    ],
    ['a size that is too large', struct(16, '0 | a | u64'), '1: s ends at 8, not at 16'],
    [
      'a size that is no multiple of the alignment',
      struct(5, '0 | a | u32', '4 | b | u8'),
      '1: the size of s is not a multiple of 4',
    ],
    [
      'no size',
      table('struct s', FIELDS, '0 | a | u8'),
      ['1: write "struct NAME, N bytes"', '1: s ends at 1, not at 0'],
    ],
    ['a name twice in a struct', struct(2, '0 | a | u8', '1 | a | u8'), '5: s has a field a already'],
    ['a name that is none', struct(1, '0 | A-b | u8'), '4: "A-b" is not a field name'],
    ['an offset that is none', struct(1, 'zero | a | u8'), /^4: "zero" is not a valid offset$/m],
    ['no offset', struct(1, ' | a | u8'), '4: "" is not a valid offset'],
    [
      'a type that nobody knows',
      struct(4, '0 | a | u24'),
      ['4: unknown type "u24" or an array of none', '1: s ends at 0, not at 4'],
    ],
    ['an array of none', struct(4, '0 | a | u32', '4 | b | u8[0]'), '5: unknown type "u8" or an array of none'],
    ['a type that is none', struct(4, '0 | a | u32[]'), ['4: "u32[]" is not a type', '1: s ends at 0, not at 4']],
    ['a unit without its table of bits', struct(4, '0 | a | u32 | bits colour'), '4: there is no table "bits colour"'],
    [
      'a unit without its table of values',
      [struct(4, '0 | a | u32 | enum colour'), table('bits colour', BITS, '0 | red')],
      '4: there is no table "enum colour"',
    ],
    ['a unit without its word', [struct(8, '0 | a | u64 | word w'), word()], '4: there is no table "word w"'],
    ['a word with a hole', word('63–32 | a', '30–0 | b'), '5: b has not the bits from 31 down'],
    ['a word whose highest bits are none', word('62–0 | a'), '4: a has not the bits from 63 down'],
    ['a word that has more bits than there are', word('64–0 | a'), '4: a has not the bits from 63 down'],
    ['a word that ends before its last bit', word('63–32 | a', '31–1 | b'), '5: word w ends at bit 1, not at 0'],
    [
      'bits of a word that are two numbers at once',
      word('63–32 | a', '32–0 | b'),
      '5: b has not the bits from 31 down',
    ],
    [
      'a word that begins with its lowest bits',
      word('31–0 | a', '63–32 | b'),
      [
        '4: a has not the bits from 63 down',
        '5: b has not the bits from -1 down',
        '5: word w ends at bit 32, not at 0',
      ],
    ],
    [
      'bits of a word that run backwards',
      word('0–63 | a'),
      ['4: a has not the bits from 63 down', '4: word w ends at bit 63, not at 0'],
    ],
    [
      'bits of a word that are none',
      word('63-0 | a'),
      '4: "63-0" are no bits; write the highest and the lowest, 63–26',
    ],
    ['a number of a word by the name of another', word('63–32 | a', '31–0 | a'), '5: word w has a field a already'],
    ['a number of a word by a name that is none', word('63–0 | A'), '4: "A" is not a field name'],
    [
      'a set that is not in the table of sets',
      [struct(4, '0 | a | u32 | | gauge | wind'), table('sets valid', SETS, '0 | rain | fast')],
      '4: there is no set "wind"',
    ],
    [
      'a kind that nobody knows',
      struct(4, '0 | a | u32 | | guage'),
      '4: "guage" is not a kind; write one of counter tally gauge share state text time reserved',
    ],
    [
      'a group that begins elsewhere',
      ['## struct s, 8 bytes', table('### All (4–7)', FIELDS, '0 | a | u64')],
      '2: begins at 0, not 4',
    ],
    [
      'a group that ends elsewhere',
      ['## struct s, 8 bytes', table('### All (0–8)', FIELDS, '0 | a | u64')],
      '2: ends at 7, not 8',
    ],
    [
      'a group that ends elsewhere, with another behind it',
      [
        '## struct s, 8 bytes',
        table('### One (0–7)', FIELDS, '0 | a | u32'),
        table('### Two (4–7)', FIELDS, '4 | b | u32'),
      ],
      '2: ends at 3, not 7',
    ],
    [
      'a group without a table',
      [struct(4, '0 | a | u32'), '### More (4–7)'],
      '5: the heading names bytes, but no table follows',
    ],
    [
      'a cell too many',
      [struct(4), '| 0 | `a` | u32 | | | | |'],
      ['4: 7 cells under 6 columns', '1: s ends at 0, not at 4'],
    ],
    ['a cell too few', [table('bits b', BITS), '| 0 | `a` |'], '4: 2 cells under 3 columns'],
    ['a bit twice', table('bits b', BITS, '0 | a', '0 | c'), '5: 0 c stands in this table twice'],
    ['a bit by the name of another', table('bits b', BITS, '0 | a', '1 | a'), '5: 1 a stands in this table twice'],
    ['a bit that is none', table('bits b', BITS, '64 | a'), '4: "64" is not a bit'],
    ['a bit by a name that is none', table('bits b', BITS, '0 | A'), '4: "A" is not a name'],
    [
      'a set that is neither fast nor slow',
      table('sets valid', SETS, '0 | a | often'),
      '4: "often" is neither fast nor slow',
    ],
    ['a value twice', table('enum e', ENUM, '0 | a', '0 | b'), '5: 0 b stands in this table twice'],
    ['a value that is none', table('enum e', ENUM, '-1 | a'), /^4: "-1" is not a value$/m],
    // The generated names are an array, and a name's index in it is its value.
    ['values with a hole', table('enum e', ENUM, '0 | a', '2 | b'), '5: 2 b stands where 1 should'],
    [
      'values out of order',
      table('enum e', ENUM, '1 | a', '0 | b'),
      ['4: 1 a stands where 0 should', '5: 0 b stands where 1 should'],
    ],
    ['a struct twice', [struct(1, '0 | a | u8'), struct(1, '0 | a | u8')], '5: there is a struct s already'],
    [
      'a range of a field that the report has not',
      [REPORT, table('ranges', RANGES, 'c | 0 | 4 | none')],
      '15: report has no field "c"',
    ],
    [
      'a range that runs backwards',
      [REPORT, table('ranges', RANGES, 'a | 0 | 4 | none', 'b | 5 | 4 | none')],
      '16: b: 5 to 4 is not a range',
    ],
    ['a range without a number', [REPORT, table('ranges', RANGES, 'a | few | 4 | none')], /^15: a: .* is not a range$/],
    [
      'a range with a reason that nobody knows',
      [REPORT, table('ranges', RANGES, 'a | 0 | 4 | taste')],
      '15: a: there is no reason "taste"',
    ],
    // The limits in the C table have 32 bits, and validation copies the field's bytes into a 32-bit variable.
    [
      'a range of a field of 64 bits',
      [REPORT, table('ranges', RANGES, 'big | 0 | 4 | none')],
      '15: big: a range of u64 is not checked',
    ],
    ['a constant that has no room', table('constants c', CONSTANTS, 'a | u8 | 256'), '4: 256 is not a valid u8'],
    ['text that has no room', table('constants c', CONSTANTS, 'a | u16 | `"abc"`'), '4: "abc" is not a valid u16'],
    ['a constant that is none', table('constants c', CONSTANTS, 'a | u8 | -1'), '4: "-1" is not a value'],
    ['a constant below zero', table('constants c', CONSTANTS, 'a | i8 | 1'), '4: "i8" is not a type of a constant'],
    [
      'a constant twice',
      table('constants c', CONSTANTS, 'a | u8 | 1', 'a | u8 | 1'),
      '5: a stands in this table twice',
    ],
    ['a term by a name that is none', table('terms t', TERMS, 'A | 0 | 0'), '4: "A" is not a name'],
    [
      'two terms of one number',
      table('terms t', TERMS, 'a | 0 | 0', 'b | 0 | 1'),
      '5: b has value 0, where 1 should be',
    ],
    [
      'terms of which none is listed first',
      table('terms t', TERMS, 'a | 0 | 1', 'b | 1 | 2'),
      '4: a has rank 1, where 0 should be',
    ],
    [
      'a term without how long it has to be absent, where others have it',
      table('terms t', QUIET, 'a | 0 | 0 | 2 h', 'b | 1 | 1', 'c | 2 | 2 | 0 s'),
      ['5: "" is not a valid quiet; write 10 min', '6: "0 s" is not a valid quiet; write 10 min'],
    ],
    ['a term without a number', table('terms t', TERMS, 'a | | 0'), '4: "" is not a valid value'],
    [
      'a source of a set that is not slow',
      [table('sets valid', SETS, '0 | a | fast'), table('sources s', SOURCES, 'x | `a`')],
      '8: there is no slow set "a"',
    ],
    [
      'a set of two sources, and one of none',
      [table('sets valid', SETS, '0 | a | slow', '1 | b | slow'), table('sources s', SOURCES, 'x | `a`', 'y | `a`')],
      ['10: a has a source already', '9: the slow set b has no source'],
    ],
    ['a source of a flag that is none', table('sources s', SOURCES, 'x | | `f`'), '4: "bits flags" has no f'],
    [
      'a period in another unit',
      table('sources s', SOURCES, 'x | | | 10'),
      '4: "10" is not a valid period; write 10 s, or nothing',
    ],
    [
      'a source that is perhaps rated',
      table('sources s', SOURCES, 'x | | | | | no'),
      '4: "no" is neither yes nor nothing',
    ],
  ];
  for (const [what, lines, expected] of mistakes)
    t.test(what, async t => {
      const found = problems(lines);
      if (expected instanceof RegExp) t.match(found.join('\n'), expected, `found: ${JSON.stringify(found)}`);
      else t.strictSame(found, [expected].flat());
    });
});

t.test('every mistake is reported, in all documents at once', async t => {
  const first = table('struct one, 4 bytes', FIELDS, '0 | a | u32', '4 | a | u8');
  const second = ['', ...table('struct two, 4 bytes', FIELDS, '0 | b | three')];
  try {
    compile(
      [
        { path: 'proto/first.md', text: first.join('\n') },
        { path: 'proto/second.md', text: second.join('\n') },
      ],
      NAMES,
    );
    t.fail('taken');
  } catch (error) {
    t.ok(error instanceof ContractError);
    t.strictSame((error as Error).message.split('\n'), [
      'proto/first.md:5: one has a field a already',
      'proto/first.md:1: one ends at 5, not at 4',
      'proto/second.md:5: unknown type "three" or an array of none',
      'proto/second.md:2: two ends at 0, not at 4',
    ]);
  }
});

t.test('the compiler knows no product: it compiles a document of another product with other names', async t => {
  const document = [
    table(
      'struct letter, 8 bytes',
      FIELDS,
      ...[
        '0 | weight | u16 | g | gauge | scales',
        '2 | colour | u8 | enum paint | state',
        '3 | spare | u8 | | reserved',
      ],
      '4 | stamps | u32 | | counter | purse',
    ),
    table('sets known', SETS, '0 | scales | slow', '1 | purse | slow'),
    table('enum paint', ENUM, '0 | red', '1 | blue'),
    table('enum grounds', ENUM, '0 | fine', '1 | heavy', '2 | odd'),
    table('ranges', RANGES, 'weight | 1 | 50 | heavy'),
    table('constants post', CONSTANTS, 'horn | u32 | `"POST"`'),
    table('terms mood', QUIET, 'glad | 0 | 1 | 2 min | well \\| good', 'sad | 1 | 0 | 1 h'),
    table('sources desk', SOURCES, 'office | `scales`, `purse` | | 3 s | | yes'),
  ]
    .flat()
    .join('\n');
  const notice = 'Made of post.md.';
  const names = { prefix: 'mail', notice, message: 'letter', reasons: 'grounds', beyond: 'odd' };
  const contract = compile([{ path: 'post.md', text: document }], names);
  const made = [emitC(contract), emitLayout(contract), emitDictionary(contract), emitTerms(contract)];
  for (const text of made) {
    t.match(text.split('\n')[0], notice);
    t.notMatch(text, /beoboard|\bbb_|\bBB_|\breport|\bvalid\b|\breason_/i);
  }
  const [c = '', layout = '', dictionary = '', words = ''] = made;
  for (const line of [
    '#define MAIL_POST_HORN UINT32_C(0x54534f50)',
    '  {0, 2, MAIL_GROUNDS_HEAVY, 1, 50}, /* weight */',
    '  {2, 1, MAIL_GROUNDS_ODD, 0, 1}, /* colour */',
    'static const struct mail_reserved mail_letter_reserved[] __attribute__((unused)) = {\n  {3, 1},',
    '#define MAIL_DESK_EACH(each) \\\n  each(office)',
    '  {"office", 3000, 0, 1, {{0, 2}, {4, 4}, {0, 0}}},',
    '  MAIL_MOOD_SAD = 1,',
    'static const uint32_t mail_mood_quiet_ms[] __attribute__((unused)) = {\n  120000,\n  3600000,\n};',
  ])
    t.ok(c.includes(`${line}\n`), line);
  t.match(layout, '  post: { horn: 0x54534f50 },\n');
  t.match(layout, "    office: { sets: ['scales', 'purse'], flags: [], periodMs: 3000, rated: true },\n");
  t.match(layout, '  known: {\n    scales: 0,\n');
  t.match(dictionary, '"struct":"letter","field":"weight"');
  t.match(words, "  mood: ['sad', 'glad'],\n");
  t.match(words, '    glad: "well | good",\n');
  const source = join(t.testdir({ 'letter.c': c }), 'letter.c');
  execFileSync('cc', ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', source], {
    timeout: 60_000,
  });
});

t.test('hashes', async t => {
  t.strictSame(Object.fromEntries(readContract(ROOT).hashes), HASHES, 'of the documents as they are');

  const document = [
    '# A title',
    'Some prose.',
    '## struct report, 16 bytes',
    '### Numbers (0–15), and their prose',
    '| offset | field | type | unit | kind | set | source | meaning | is not |',
    '| -----: | ----- | ---- | ---- | ---- | --- | ------ | ------- | ------ |',
    '| 0 | `alpha` | u32 | ms | gauge | rain | /proc/alpha | meant | unmeant |',
    '| 4 | `beta` | u32 | | gauge | | | | |',
    '| 8 | `gamma` | u8[8] | bits colour | state | | | | |',
    ...table('sets valid', SETS, '0 | rain | fast | a gauge'),
    ...table('bits colour', BITS, '3 | red | like a rose'),
    ...table('enum reason', ENUM, '0 | none | no reason'),
    ...table('ranges\nWhat is refused.', RANGES, 'beta | 1 | 4 | none'),
    ...table('word pair, 64 bits', WORD, '63–20 | upper | ms | the time', '19–0 | lower | id | the rest'),
    ...table('constants numbers', CONSTANTS, 'one | u8 | 1'),
    ...table('terms mood', TERMS, 'glad | 0 | 0'),
  ].join('\n');
  const hash = (text: string) => compile([{ path: 'proto/x.md', text }], NAMES).hashes.get('x');
  const changes: [what: string, from: string, to: string, hash: 'same' | 'another'][] = [
    ['the title', 'A title', 'Another title', 'same'],
    ['prose', 'Some prose.', 'Some other prose,\nwith a line more.', 'same'],
    ['a heading', 'and their prose', 'and words', 'same'],
    ['the source', '/proc/alpha', '/sys/alpha', 'same'],
    ['the meaning', '| meant |', '| understood |', 'same'],
    ['what it is not', 'unmeant', 'misunderstood', 'same'],
    ['the meaning of a bit', 'like a rose', 'like blood', 'same'],
    ['the meaning of a value', 'no reason', 'without any', 'same'],
    ['the width of a column', '| 0 | `alpha` |', '|  0  |   `alpha`   |', 'same'],
    ['the kind', '| gauge | rain |', '| counter | rain |', 'another'],
    ['the set', '| gauge | rain |', '| gauge | |', 'another'],
    ['the speed of a set', '| fast |', '| slow |', 'another'],
    ['a name', '`alpha`', '`aleph`', 'another'],
    ['a unit', '| u32 | ms |', '| u32 | us |', 'another'],
    ['a type', 'u8[8]', 'u64', 'another'],
    ['the sign of a type', '`alpha` | u32', '`alpha` | i32', 'another'],
    ['two fields that change places', '| 0 | `alpha` | u32 | ms |', '| 0 | `beta` | u32 | |', 'another'],
    ['the number of a bit', '| 3 | `red` |', '| 4 | `red` |', 'another'],
    ['the name of a bit', '`red`', '`green`', 'another'],
    ['the number of a set', '| 0 | `rain` |', '| 1 | `rain` |', 'another'],
    ['the name of a value', '| 0 | `none` |', '| 0 | `no` |', 'another'],
    ['a range', '| 1 | 4 | none |', '| 1 | 5 | none |', 'another'],
    ['the meaning of a number of a word', 'the time', 'the moment', 'same'],
    ['the bits of a word', '| 63–20 |', '| 63–21 |', 'another'],
    ['the name of a number of a word', '`upper`', '`higher`', 'another'],
    ['the unit of a number of a word', '| ms | the time |', '| us | the time |', 'another'],
    ['the name of a word', '## word pair', '## word couple', 'another'],
    ['a constant', '| `one` | u8 | 1 |', '| `first` | u16 | 2 |', 'same'],
    ['a term', '`glad`', '`sad`', 'same'],
  ];
  const before = hash(document);
  t.type(before, 'bigint');
  for (const [what, from, to, expected] of changes) {
    t.equal(document.split(from).length, 2, `${what}: the text to change is there once`);
    let changed = document.replace(from, to);
    // Another row then has to change as well, so that the document stays valid.
    if (what.startsWith('two fields'))
      changed = changed.replace('| 4 | `beta` | u32 | |', '| 4 | `alpha` | u32 | ms |');
    if (what === 'the bits of a word') changed = changed.replace('| 19–0 |', '| 20–0 |');
    if (what === 'the name of a value') changed = changed.replace('| 4 | none |', '| 4 | no |');
    t.equal(hash(changed) === before ? 'same' : 'another', expected, what);
  }
  const longer = document
    .replace('16 bytes', '24 bytes')
    .replace('(0–15)', '(0–23)')
    .replace('## sets', '| 16 | `delta` | u64 | | gauge | | | | |\n## sets');
  t.not(hash(longer), before, 'a field more');
  const moved = document
    .replace('| 0 | `alpha` | u32 | ms |', '| 0 | `beta` | u32 | |')
    .replace('| 4 | `beta` | u32 | |', '| 4 | `alpha` | u32 | ms |');
  t.not(hash(moved), before, 'an offset');
});
