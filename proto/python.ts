// Makes python/beoboard/_abi.py from c/beoboard.h, whose structs, numbers and functions it parses, and from the contract,
// which knows what each field of a report means. Pure: header and contract in, text out.

import { bare, type Contract, type Entry, type Field } from './model.js';

interface Member {
  name: string;
  /** A key of SCALARS, `char`, or the name of a struct. */
  type: string;
  count: number;
  array: boolean;
  offset: number;
  comment: string;
}

interface Shape {
  name: string;
  about: string;
  bytes: number;
  align: number;
  members: Member[];
}

/** Types of C: their code in Python's `struct`, and their bytes. */
const SCALARS: Readonly<Record<string, [code: string, bytes: number]>> = {
  uint8_t: ['B', 1],
  uint16_t: ['H', 2],
  uint32_t: ['I', 4],
  uint64_t: ['Q', 8],
  int16_t: ['h', 2],
  int32_t: ['i', 4],
  int64_t: ['q', 8],
  float: ['f', 4],
  double: ['d', 8],
  char: ['s', 1],
};

const ENUMS = ['health', 'health_src', 'arch', 'virt', 'power_src', 'gpu_vendor', 'auth_alg', 'reason', 'event_kind'];
const BITS = ['valid', 'flags', 'net_state', 'gpu_flags'];
/** Terms that are numbers of bits: the table, and its class. */
const SETS_OF_BITS = { problem: 'Problem', last_words: 'LastWords' };
/** The bits that the header has by hand: what its names begin with, and their class. */
const HEADER_BITS: readonly [begin: string, name: string, about: string][] = [
  ['F_', 'ReceiverFlags', 'What holds of the receiver.'],
  ['LINK_F_', 'LinkFlags', 'What holds of a link.'],
];
/** Members whose comment names no class. */
const CLASSES: Readonly<Record<string, string>> = { 'memory.recent': 'Problem', 'memory.last_words': 'LastWords' };
/** Of which set of the report the fields of struct beoboard_node are; floats that were not measured are NaN. */
const NODE_SETS: Readonly<Record<string, string>> = { mem_total_kib: 'memory', mem_avail_kib: 'memory', cpus: 'cpus' };
/** The field of a report that counts the elements of an array in use, and the entries that are in use by their name. */
const COUNTED_BY: Readonly<Record<string, string>> = { group: 'groups', gpu: 'gpu_count', gpu_flags: 'gpu_count' };
const NAMED = ['net_if', 'net_rates'];
/** In an order in which each comes after those that it contains; the report is a part of its slot. */
const STRUCTS: readonly [struct: string, name: string][] = [
  ['receiver', 'Receiver'],
  ['link', 'Link'],
  ['node', 'Node'],
  ['episode', 'Episode'],
  ['memory', 'Memory'],
  ['refusal', 'Refusal'],
  ['sender', 'Sender'],
  ['event', 'Event'],
  ['cpu_group', 'CpuGroup'],
  ['net_if', 'NetIf'],
  ['gpu_slot', 'GpuSlot'],
  ['slot', 'Report'],
  ['net_rates', 'NetRates'],
  ['rates', 'Rates'],
];
const CLASS_OF = new Map(STRUCTS);

const camel = (name: string) => name.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
const literal = (text: string) => JSON.stringify(text);
const sentence = (text: string) => text.replace(/^./, letter => letter.toUpperCase()).replace(/\.?$/, '.');
const plain = (comment: string) => comment.replace(/\n \* ?/g, ' ').trim();

// ---- The header ----

/** The numbers that the header names. */
function definesOf(header: string): Map<string, number> {
  const rows = header.matchAll(/^#define BEOBOARD_(\w+) +(0x)?([0-9a-f]+)u?(?=\s)/gim);
  return new Map([...rows].map(([, name = '', hex, digits = '']) => [name, Number.parseInt(digits, hex ? 16 : 10)]));
}

/** Every struct that the header defines, with the offsets that a compiler gives its members. */
function shapesOf(header: string): Map<string, Shape> {
  const defines = definesOf(header);
  const found = new Map<string, Shape>();
  for (const [, about = '', name = '', body = ''] of header.matchAll(
    /(?:\/\* ((?:[^*]|\*(?!\/))*?) \*\/\n)?^struct beoboard_(\w+) \{\n([\s\S]*?)\n\};/gm,
  )) {
    const shape: Shape = { name, about: plain(about), bytes: 0, align: 1, members: [] };
    for (const [, type = '', declared = '', comment = ''] of body.matchAll(
      /^ +(?:struct beoboard_)?(\w+) +([^;]+);(?: +\/\* (.*) \*\/)?$/gm,
    ))
      for (const one of declared.split(', ')) {
        const [, member = '', size] = /^(\w+)(?:\[(\w+)\])?$/.exec(one) ?? [];
        const count = Number(size ?? 1) || defines.get(size?.replace('BEOBOARD_', '') ?? '') || 0;
        const inner = found.get(type);
        const bytes = SCALARS[type]?.[1] ?? inner?.bytes ?? 0;
        const align = inner?.align ?? bytes;
        if (member === '' || count * bytes === 0) throw new Error(`c/beoboard.h: ${name}: ${one} is not understood`);
        const offset = Math.ceil(shape.bytes / align) * align;
        shape.members.push({ name: member, type, count, array: size !== undefined, offset, comment });
        shape.bytes = offset + count * bytes;
        shape.align = Math.max(shape.align, align);
      }
    shape.bytes = Math.ceil(shape.bytes / shape.align) * shape.align;
    found.set(name, shape);
  }
  return found;
}

const ARGUMENTS: Readonly<Record<string, string>> = {
  int: 'ctypes.c_int',
  size_t: 'ctypes.c_size_t',
  uint32_t: 'ctypes.c_uint32',
  int64_t: 'ctypes.c_int64',
  void: 'None',
  'const char *': 'ctypes.c_char_p',
};

/** A row of PROTOTYPES for each function; earlier names of functions are left out. */
function prototypesOf(header: string): string[] {
  const typeOf = (text: string) => ARGUMENTS[text.trim()] ?? 'ctypes.c_void_p';
  return [...header.matchAll(/^((?:const )?[a-z]\w*[ *]+)(beoboard_[a-z_]+)\(([^)]*)\);/gm)].flatMap(
    ([, result = '', name = '', list = '']) => {
      if (name.includes('ailment')) return [];
      const types =
        list === 'void'
          ? []
          : list
              .split(',')
              .map(one => typeOf(one.replace(/(?<=[ *])\w+(\[\w+\])?$/, '*'.repeat(Number(one.endsWith(']'))))));
      return [`    ${literal(name)}: [${[typeOf(result), ...types].join(', ')}],`];
    },
  );
}

// ---- Enums and bits ----

/** Numbers with a word and a sentence each. */
function enumOf(name: string, about: string, entries: readonly { name: string; value: number; meaning: string }[]) {
  const rows = entries.map(
    entry => `    ${entry.name.toUpperCase()} = ${entry.value}, ${literal(bare(entry.meaning))}`,
  );
  return ['', '', `class ${name}(Word):`, `    """${about}"""`, '', ...rows];
}

/** Bits with a word and a sentence each, those that nobody knows of included. */
function bitsOf(name: string, about: string, entries: readonly { name: string; value: number; meaning: string }[]) {
  return [
    ...['', '', '@says(', '    {'],
    ...entries.map(({ value, meaning }) => `        ${value}: ${literal(bare(meaning))},`),
    ...['    }', ')', `class ${name}(Bits):`, `    """${about}"""`, ''],
    ...entries.map(entry => `    ${entry.name.toUpperCase()} = 1 << ${entry.value}`),
  ];
}

/** The bits that the header itself names. */
function headerBits(header: string, begin: string) {
  const rows = header.matchAll(new RegExp(`^#define BEOBOARD_${begin}(\\w+) +0x([0-9a-f]+)u +/\\* (.*) \\*/$`, 'gm'));
  return [...rows].map(([, name = '', digits = '', meaning = '']) => {
    return { name, value: Math.log2(Number.parseInt(digits, 16)), meaning };
  });
}

function wordsOf(header: string, contract: Contract): string[] {
  const terms = (table: string) => [...(contract.terms.get(table) ?? [])].sort((a, b) => a.value - b.value);
  return [
    ...enumOf('State', 'What a node is, as far as the receiver has heard.', terms('node_state')),
    ...bitsOf(SETS_OF_BITS.problem, 'What is wrong with a node, by its reports.', terms('problem')),
    ...bitsOf(SETS_OF_BITS.last_words, 'What a node said before it fell silent.', terms('last_words')),
    ...ENUMS.flatMap(table => enumOf(camel(table), `Values of ${table}.`, contract.enums.get(table) ?? [])),
    ...BITS.flatMap(table => {
      const set = (entry: Entry) => ({ ...entry, meaning: entry.meaning || entry.speed });
      return bitsOf(camel(table), `Bits of ${table}.`, (contract.bits.get(table) ?? []).map(set));
    }),
    ...HEADER_BITS.flatMap(([begin, name, about]) => bitsOf(name, about, headerBits(header, begin))),
  ];
}

// ---- Records ----

/** What is known of a member: the field of the contract, if it is one of a report. */
interface Known {
  struct: string;
  shape: Shape;
  member: Member;
  field: Field | undefined;
  contract: Contract;
}

/** The bit of its set; undefined if it is always there. */
function bitOf({ struct, member, field, contract }: Known): number | undefined {
  const set = field?.set || (struct === 'node' ? NODE_SETS[member.name] : '');
  return contract.bits.get('valid')?.find(({ name }) => set !== '' && name === set)?.value;
}

/** Unit, set and meaning. */
function docOf({ field, member, struct }: Known): string {
  if (field === undefined) {
    const [, unit] = /_(ns|us|ms|kib)$/.exec(member.name) ?? [];
    const comment = member.comment.replace(/(?:-1|INT64_MAX)(?=:? )/g, 'None') || member.name.replaceAll('_', ' ');
    return sentence(`${unit ? `${unit}: ` : ''}${comment}${struct.endsWith('rates') ? '; a second' : ''}`);
  }
  const [what] = field.unit.split(' ');
  const unit = what === 'enum' || what === 'bits' ? '' : field.unit;
  const facts = [unit, field.set && `set ${field.set}`].filter(Boolean).join(', ');
  const not = bare(field.isNot);
  return sentence(`${facts}${facts && ': '}${bare(field.meaning)}${not && `. Not ${not}`}`);
}

/** The class of a member whose values have words. */
function classOf({ struct, member, field }: Known): string | undefined {
  const given = CLASSES[`${struct}.${member.name}`];
  if (given !== undefined) return given;
  const [what, table = ''] = field?.unit.split(' ') ?? [];
  if (what === 'enum' || (what === 'bits' && BITS.includes(table))) return camel(table);
  if (field !== undefined) return undefined;
  const [, words] = /^enum beoboard_(\w+)/.exec(member.comment) ?? [];
  if (words !== undefined) return camel(words);
  const [, begin = ''] = /^BEOBOARD_(\w+)\*/.exec(member.comment) ?? [];
  return (
    HEADER_BITS.find(([its]) => its === begin)?.[1] ??
    BITS.filter(bits => `${bits.toUpperCase()}_` === begin).map(camel)[0]
  );
}

/** By what else it is known how much of a member is: a counter of elements, or of a GPU whether its memory is known. */
function besides({ struct, shape, member }: Known): string {
  const otherOf = (name: string) => shape.members.find(other => other.name === name);
  const counter = otherOf(COUNTED_BY[member.name] ?? '');
  if (counter !== undefined) return `, counted=("${SCALARS[counter.type]?.[0]}", ${counter.offset - member.offset})`;
  const total = otherOf('mem_total_mib');
  return struct === 'gpu_slot' && member.name === 'mem_used_mib' && total !== undefined
    ? `, beside=${total.offset - member.offset}`
    : '';
}

/** How a member is read: the call that makes its descriptor. */
function readerOf(known: Known, at: number): string {
  const { member, field } = known;
  const { type, count, array } = member;
  const bit = bitOf(known);
  const [, unknown] = /; (-?\d+): not known/.exec(field?.meaning ?? '') ?? [];
  const none = unknown ?? (type === 'int64_t' && member.name.endsWith('age_ns') ? '-1' : undefined);
  const doc = literal(docOf(known));
  const beside = besides(known);
  const sets = `${bit === undefined ? '' : `, sets=1 << ${bit}`}${beside}`;
  const maybe = (name: string) => (bit === undefined ? name : `maybe_${name}`);
  const inner = CLASS_OF.get(type);
  if (inner !== undefined)
    return array
      ? `${maybe('parts')}(${inner}, ${count}, ${at}, ${doc}${sets})`
      : `${maybe('part')}(${inner}, ${at}, ${doc}${sets})`;
  const [code = ''] = SCALARS[type] ?? [];
  if (type === 'char') return `${maybe('text')}(${count}, ${at}, ${doc}${sets})`;
  if (code === 'f' || code === 'd') return `real("${code}", ${at}, ${doc})`;
  const words = classOf(known);
  if (words !== undefined)
    return array
      ? `${maybe('words')}(${words}, "${count}${code}", ${at}, ${doc}${sets})`
      : `${maybe('word')}(${words}, "${code}", ${at}, ${doc}${sets})`;
  if (array && type === 'uint8_t') return `raw(${count}, ${at}, ${doc})`;
  if (array) return `numbers("${count}${code}", ${at}, ${doc})`;
  if (bit === undefined && none === undefined && beside === '') return `number("${code}", ${at}, ${doc})`;
  return `maybe_number("${code}", ${at}, ${doc}${sets}${none === undefined ? '' : `, none=${none}`})`;
}

function fieldsOf(shape: Shape, contract: Contract, shapes: Map<string, Shape>, base = 0): string[] {
  return shape.members.flatMap(member => {
    const inner = shapes.get(member.type);
    if (shape.name === 'slot' && inner !== undefined) return fieldsOf(inner, contract, shapes, member.offset);
    const own = ['report', 'cpu_group', 'net_if', 'gpu_slot'].includes(shape.name);
    const field = own ? contract.structs.get(shape.name)?.fields.find(({ name }) => name === member.name) : undefined;
    if (own && field?.offset !== member.offset) throw new Error(`${shape.name}.${member.name} lies elsewhere`);
    if (member.name.startsWith('reserved')) return [];
    const known = { struct: shape.name, shape, member, field, contract };
    return [`    ${member.name} = field.${readerOf(known, base + member.offset)}`];
  });
}

function records(header: string, contract: Contract): string[] {
  const shapes = shapesOf(header);
  return STRUCTS.flatMap(([struct, name]) => {
    const shape = shapes.get(struct);
    if (shape === undefined) throw new Error(`c/beoboard.h has no struct beoboard_${struct}`);
    const report = struct === 'slot' ? shape.members.find(({ type }) => type === 'report') : undefined;
    const valid = (report ? shapes.get('report') : shape)?.members.find(member => member.name === 'valid');
    const at = valid && (report?.offset ?? 0) + valid.offset;
    return [
      ...['', '', `class ${name}(Record):`, `    """${sentence(shape.about)}"""`, ''],
      '    __slots__ = ()',
      `    size = ${shape.bytes}`,
      ...(at === undefined ? [] : [`    valid_at = ${at}`]),
      ...(NAMED.includes(struct) ? ['    named = True'] : []),
      ...fieldsOf(shape, contract, shapes),
    ];
  });
}

/** python/beoboard/_abi.py; `version`: of this project. */
export function emitPython(header: string, contract: Contract, version: string): string {
  const body = [...wordsOf(header, contract), ...records(header, contract)];
  const defines = definesOf(header);
  return [
    `# ${contract.names.notice}`,
    '"""What libbeoboard has: its functions, numbers, words and structures, as beoboard(3) says them."""',
    ...['', 'import ctypes', 'from typing import Any, Dict, List', ''],
    'from . import _record as field',
    'from ._record import Bits, Record, Word, says',
    '',
    '#: Of this module; the library has its own.',
    `VERSION = ${literal(version)}`,
    '',
    ...['API_VERSION', 'NAME_MAX', 'LINKS_MAX', 'SENDERS_MAX'].map(name => `${name} = ${defines.get(name)}`),
    '',
    '#: Of each function its result, and its arguments; pointers to structures are addresses.',
    'PROTOTYPES: Dict[str, List[Any]] = {',
    ...prototypesOf(header),
    '}',
    ...body,
    '',
  ].join('\n');
}
