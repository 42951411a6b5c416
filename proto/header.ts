// Makes the parts of the C library that come from the contract: two sections of c/beoboard.h (states; reports, rates,
// names of bits and values) and the tables with which c/lib computes rates. Pure: contract in, text out.

import type { Contract, Entry, Field, Struct } from './model.js';

/** What a program needs to read reports; the rest of the contract is internal to the library. */
const ENUMS = ['health', 'health_src', 'arch', 'virt', 'power_src', 'gpu_vendor', 'auth_alg', 'reason', 'event_kind'];
const BITS = ['valid', 'flags', 'net_state', 'gpu_flags'];
/** The sender's own counters, which begin again with it: rule 3 for readers in proto/stat-v1.md. */
const OF_RUN = new Set(['agent_cpu_ms', 'missed_ticks']);
/** Sums that each run of a sender begins anew. */
const SUMS_OF_RUN: ReadonlySet<string | undefined> = new Set(['disk', 'energy_cpu', 'energy_dram']);
/** Fields of a `net_if` that have rates under their own name. */
const SUMS = ['net_rest', 'fabric'];

/** A declaration with a comment, in a column. */
function line(code: string, comment = '', width = 38): string {
  return comment === '' ? code : `${code.padEnd(width)} /* ${comment} */`;
}

function cType(type: string): string {
  if (type === 'char') return 'char';
  const number = /^([ui])(\d+)$/.exec(type);
  return number === null ? `struct beoboard_${type}` : `${number[1] === 'u' ? 'u' : ''}int${number[2]}_t`;
}

function declare(field: Field): string {
  return `    ${cType(field.type).padEnd(8)} ${field.name}${field.array ? `[${field.count}]` : ''};`;
}

/** Unit and set: without them a number means nothing. The manual page explains the field. */
function note({ unit, set, kind }: Field): string {
  if (kind === 'reserved') return 'zero';
  const [what, table = ''] = unit.split(' ');
  const spelled =
    what === 'enum'
      ? `enum beoboard_${table}`
      : what === 'bits' && table !== 'of'
        ? `BEOBOARD_${table.toUpperCase()}_*`
        : unit;
  return [spelled, set && `set ${set}`].filter(Boolean).join(', ');
}

function emitStruct(struct: Struct, about: string): string[] {
  return [
    `/* ${about} */`,
    `struct beoboard_${struct.name} {`,
    ...struct.fields.map(field => line(declare(field), note(field))),
    '};',
    `typedef char beoboard_${struct.name}_has_${struct.bytes}_bytes[sizeof(struct beoboard_${struct.name}) == ${struct.bytes} ? 1 : -1];`,
    '',
  ];
}

const upper = (name: string) => name.toUpperCase();

function emitEnum(table: string, entries: Entry[]): string[] {
  const last = entries.length - 1;
  return [
    `enum beoboard_${table} {`,
    ...entries.map(({ name, value, meaning }, i) =>
      line(`    BEOBOARD_${upper(table)}_${upper(name)} = ${value}${i < last ? ',' : ''}`, meaning.replaceAll('`', '')),
    ),
    '};',
    '',
  ];
}

function emitBits(table: string, entries: Entry[]): string[] {
  return [
    ...entries.map(({ name, value, speed, meaning }) =>
      line(
        `${`#define BEOBOARD_${upper(table)}_${upper(name)}`.padEnd(38)} (UINT64_C(1) << ${value})`,
        // The meaning of sets is documented where they are read, and paths contain the end of a comment.
        speed || meaning.replaceAll('`', ''),
        58,
      ),
    ),
    '',
  ];
}

interface Counter {
  field: Field;
  slow: boolean;
  /** The bit of its set; undefined for a field that always exists. */
  set: number | undefined;
  /** Whether it is CPU time, for which there are also shares. */
  share: boolean;
}

function structOf(contract: Contract, name: string): Struct {
  const struct = contract.structs.get(name);
  if (struct === undefined) throw new Error(`the contract has no struct ${name}`);
  return struct;
}

function counters(contract: Contract, struct: string): Counter[] {
  const sets = contract.bits.get('valid') ?? [];
  return structOf(contract, struct)
    .fields.filter(field => field.kind === 'counter' && /^u\d+$/.test(field.type))
    .map(field => {
      const set = sets.find(entry => entry.name === field.set);
      return { field, slow: set?.speed === 'slow', set: set?.value, share: /^cpu_\w+_ms$/.test(field.name) };
    });
}

const shareOf = ({ name }: Field) => name.replace(/_ms$/, '_pct');

function interfaces(contract: Contract): Field {
  const field = structOf(contract, 'report').fields.find(({ name }) => name === 'net');
  if (field === undefined) throw new Error('report has no field net');
  return field;
}

function emitRates(contract: Contract): string[] {
  const report = counters(contract, 'report');
  const shares = report.filter(({ share }) => share);
  return [
    '/* Rates of one network entry, per second; NaN: none. */',
    'struct beoboard_net_rates {',
    line('    char   name[16];', 'empty: no entry'),
    ...counters(contract, 'net_if').map(({ field }) => line(`    double ${field.name};`, note(field))),
    '};',
    '',
    '/* Counters of a report per second, under their names: cpu_user_ms is ms of CPU time a second. NaN: none. */',
    'struct beoboard_rates {',
    line('    double seconds;', 'from one report to the other: the base of the fast sets'),
    line('    double slow_seconds;', 'from one slow round to the other: the base of the slow sets'),
    ...shares.map(({ field }) => line(`    double ${shareOf(field)};`, '%, of the time of all CPUs')),
    ...report.map(({ field, slow }) => line(`    double ${field.name};`, `${note(field)}${slow ? ', slow' : ''}`)),
    line(`    struct beoboard_net_rates net[${interfaces(contract).count}];`, 'by name, up to an empty one; set net'),
    ...SUMS.map(sum =>
      line(
        `    struct beoboard_net_rates ${sum};`,
        `set ${structOf(contract, 'report').fields.find(({ name }) => name === sum)?.set}`,
      ),
    ),
    '};',
    '',
  ];
}

/** The first generated section of c/beoboard.h: the states of a node. */
export function emitStates(contract: Contract): string {
  return [
    ...emitTerms(contract, 'node_state', 'state', ''),
    `#define BEOBOARD_NSTATES ${count(contract, 'node_state')}`,
    '',
  ].join('\n');
}

/** And another one: problems. */
export function emitProblems(contract: Contract): string {
  return [
    ...emitTerms(contract, 'problem', 'problem', 'PROBLEM_'),
    `#define BEOBOARD_NPROBLEMS ${count(contract, 'problem')}`,
    '',
  ].join('\n');
}

/** And one more: what a node said last. */
export function emitLastWords(contract: Contract): string {
  return [
    ...emitTerms(contract, 'last_words', 'last_words', 'LAST_WORDS_'),
    `#define BEOBOARD_NLAST_WORDS ${count(contract, 'last_words')}`,
    '',
  ].join('\n');
}

const count = (contract: Contract, table: string) => contract.terms.get(table)?.length ?? 0;

function emitTerms(contract: Contract, table: string, name: string, prefix: string): string[] {
  const terms = [...(contract.terms.get(table) ?? [])].sort((a, b) => a.value - b.value);
  const names = terms.map(term => `BEOBOARD_${prefix}${upper(term.name)}`);
  const wide = Math.max(18, ...names.map(({ length }) => length));
  const last = terms.length - 1;
  return [
    `enum beoboard_${name} {`,
    ...terms.map(({ value, meaning }, i) =>
      line(`    ${(names[i] ?? '').padEnd(wide)} = ${value}${i < last ? ',' : ''}`, meaning.replaceAll('`', '')),
    ),
    '};',
  ];
}

/** The second: reports and their fields. */
export function emitPublic(contract: Contract): string {
  const out = [
    '',
    '/* ---- The report, as the datagram has it: see beoboard-stat(5), or `beoboard describe FIELD` ---- */',
    '',
    '/* Whether a set of fields was measured: BEOBOARD_HAS(&report, MEMORY). A field whose set was not means nothing. */',
    '#define BEOBOARD_HAS(report, SET) (((report)->valid & BEOBOARD_VALID_##SET) != 0)',
    '',
  ];
  for (const table of BITS) out.push(...emitBits(table, contract.bits.get(table) ?? []));
  for (const table of ENUMS) out.push(...emitEnum(table, contract.enums.get(table) ?? []));
  out.push(...emitStruct(structOf(contract, 'cpu_group'), 'The CPUs of a socket.'));
  out.push(...emitStruct(structOf(contract, 'net_if'), 'A network interface, or several added together.'));
  out.push(...emitStruct(structOf(contract, 'gpu_slot'), 'A GPU.'));
  out.push(...emitStruct(structOf(contract, 'report'), 'What a node says of itself, once per interval.'));
  out.push(...emitRates(contract));
  return out.join('\n');
}

/**
 * c/format/header.gen.h: checks that the public structs agree with the contract, and the tables for beoboard_rates().
 */
export function emitTables(contract: Contract): string {
  const out = [
    `/* ${contract.names.notice} */`,
    '#ifndef BB_HEADER_GEN_H',
    '#define BB_HEADER_GEN_H',
    '#include <stdbool.h>',
    '',
    '#include "../beoboard.h"',
    '#include "layout.gen.h"',
    '',
    '/* What programs see is what the board holds. */',
    '#define BB_SAME(of, field) \\',
    '  _Static_assert(offsetof(struct beoboard_##of, field) == offsetof(struct bb_##of, field), #of "." #field);',
  ];
  for (const name of ['cpu_group', 'net_if', 'gpu_slot', 'report'])
    for (const { name: field } of structOf(contract, name).fields) out.push(`BB_SAME(${name}, ${field})`);
  const row = ({ field, slow, set, share }: Counter, of: string, rates: string) => {
    const at = `offsetof(struct bb_${of}, ${field.name})`;
    const pct = share ? `offsetof(struct ${rates}, ${shareOf(field)})` : '0';
    const rules = `${Number(field.type.slice(1)) / 8}, ${set ?? -1}, ${slow}, ${OF_RUN.has(field.name) || SUMS_OF_RUN.has(field.set)}`;
    return `  {"${field.name}", ${at}, ${rules},\n   offsetof(struct ${rates}, ${field.name}), ${pct}},`;
  };
  out.push(
    '',
    '/* A counter: where it lies in a report and in the rates, and by which rules it has a rate. */',
    'struct bb_counter {',
    '  const char *name;',
    '  uint16_t at, bytes;',
    '  int16_t set; /* its bit of `valid`; -1: always there */',
    '  bool slow, of_run;',
    '  uint16_t rate, share; /* share 0: none */',
    '};',
    'static const struct bb_counter bb_report_counters[] = {',
    ...counters(contract, 'report').map(counter => row(counter, 'report', 'beoboard_rates')),
    '};',
    'static const struct bb_counter bb_net_counters[] = {',
    ...counters(contract, 'net_if').map(counter => row(counter, 'net_if', 'beoboard_net_rates')),
    '};',
    '',
    '#endif',
    '',
  );
  return out.join('\n');
}

const SECTION = /^(\/\* >>>> generated .*\*\/\n)[\s\S]*?(^\/\* <<<< generated \*\/$)/gm;

/** The header with new generated sections. */
export function renew(header: string, sections: string[]): string {
  let found = 0;
  const renewed = header.replace(SECTION, (_, begin, end) => `${begin}${sections[found++] ?? ''}${end}`);
  if (found !== sections.length)
    throw new Error(`c/beoboard.h: ${found} generated sections have a beginning and an end, not ${sections.length}`);
  return renewed;
}
