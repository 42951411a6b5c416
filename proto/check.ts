// The rules that a contract keeps across its tables.

import {
  type Contract,
  fieldBytes,
  messageFields,
  NUMBERS,
  type Origin,
  type Struct,
  type Term,
  type WordField,
} from './model.js';

/** The alignment of a type: its size, or for a struct the largest alignment of its fields. */
function alignment(type: string, contract: Contract, depth = 0): number {
  const fields = contract.structs.get(type)?.fields;
  if (fields === undefined || depth > 8) return NUMBERS[type] ?? 1;
  return Math.max(1, ...fields.map(field => alignment(field.type, contract, depth + 1)));
}

function checkStruct(struct: Struct, contract: Contract, problems: string[]): void {
  let end = 0;
  const names = new Set<string>();
  for (const field of struct.fields) {
    const bytes = fieldBytes(field, contract);
    if (bytes === 0) {
      problems.push(`${field.at}: unknown type "${field.type}" or an array of none`);
      end = field.offset;
      continue;
    }
    if (field.offset > end) problems.push(`${field.at}: a hole of ${field.offset - end} bytes before ${field.name}`);
    if (field.offset < end)
      problems.push(`${field.at}: ${field.name} begins within the field before it, which ends at ${end}`);
    const align = alignment(field.type, contract);
    if (field.offset % align !== 0) problems.push(`${field.at}: ${field.name} is not aligned to ${align} bytes`);
    if (names.has(field.name)) problems.push(`${field.at}: ${struct.name} has a field ${field.name} already`);
    names.add(field.name);
    end = field.offset + bytes;
    const [what, table] = field.unit.split(' ');
    if (what === 'enum' && !contract.enums.has(table ?? ''))
      problems.push(`${field.at}: there is no table "enum ${table}"`);
    if (what === 'word' && !contract.words.has(table ?? ''))
      problems.push(`${field.at}: there is no table "word ${table}"`);
    if (what === 'bits' && table !== 'of' && !contract.bits.has(table ?? ''))
      problems.push(`${field.at}: there is no table "bits ${table}"`);
    if (field.set !== '' && !contract.sets.some(entry => entry.name === field.set))
      problems.push(`${field.at}: there is no set "${field.set}"`);
  }
  if (end !== struct.bytes) problems.push(`${struct.at}: ${struct.name} ends at ${end}, not at ${struct.bytes}`);
  const align = Math.max(1, ...struct.fields.map(field => alignment(field.type, contract)));
  if (struct.bytes % align !== 0)
    problems.push(`${struct.at}: the size of ${struct.name} is not a multiple of ${align}`);
}

/** The fields of a word cover all its bits, the highest first, each bit once. */
function checkWord(name: string, fields: WordField[], problems: string[]): void {
  let free = 64;
  for (const field of fields) {
    if (field.bits < 1 || field.shift + field.bits !== free)
      problems.push(`${field.at}: ${field.name} has not the bits from ${free - 1} down`);
    if (fields.some(other => other !== field && other.name === field.name && other.shift > field.shift))
      problems.push(`${field.at}: word ${name} has a field ${field.name} already`);
    free = field.shift;
  }
  if (free !== 0) problems.push(`${fields.at(-1)?.at}: word ${name} ends at bit ${free}, not at 0`);
}

function checkRanges(contract: Contract, problems: string[]): void {
  const { message, reasons } = contract.names;
  const known = contract.enums.get(reasons) ?? [];
  for (const { field, least, most, reason, at } of contract.ranges) {
    const type = messageFields(contract).find(other => other.name === field)?.type;
    if (type === undefined) problems.push(`${at}: ${message} has no field "${field}"`);
    else if (!['u8', 'u16', 'u32'].includes(type)) problems.push(`${at}: ${field}: a range of ${type} is not checked`);
    if (!(least <= most)) problems.push(`${at}: ${field}: ${least} to ${most} is not a range`);
    if (!known.some(other => other.name === reason)) problems.push(`${at}: ${field}: there is no reason "${reason}"`);
  }
}

/** Their numbers and their ranks are indices of arrays. */
function checkTerms(terms: Term[], problems: string[]): void {
  for (const column of ['value', 'rank'] as const) {
    const sorted = [...terms].sort((a, b) => a[column] - b[column]);
    const wrong = sorted.find((term, i) => term[column] !== i);
    if (wrong !== undefined)
      problems.push(
        `${wrong.at}: ${wrong.name} has ${column} ${wrong[column]}, where ${sorted.indexOf(wrong)} should be`,
      );
  }
}

/** Every slow set has exactly one source. */
function checkOrigins(origins: Origin[], contract: Contract, problems: string[]): void {
  const covered = new Set<string>();
  for (const { sets, flags, at } of origins) {
    for (const set of sets) {
      if (!contract.sets.some(entry => entry.name === set && entry.speed === 'slow'))
        problems.push(`${at}: there is no slow set "${set}"`);
      if (covered.has(set)) problems.push(`${at}: ${set} has a source already`);
      covered.add(set);
    }
    for (const flag of flags)
      if (!contract.bits.get('flags')?.some(entry => entry.name === flag))
        problems.push(`${at}: "bits flags" has no ${flag}`);
  }
  for (const { name, speed } of contract.sets)
    if (speed === 'slow' && !covered.has(name)) problems.push(`${origins[0]?.at}: the slow set ${name} has no source`);
}

/** Adds what is wrong, a line each. */
export function check(contract: Contract, problems: string[]): void {
  for (const struct of contract.structs.values()) checkStruct(struct, contract, problems);
  for (const [name, fields] of contract.words) checkWord(name, fields, problems);
  checkRanges(contract, problems);
  for (const terms of contract.terms.values()) checkTerms(terms, problems);
  for (const origins of contract.sources.values()) checkOrigins(origins, contract, problems);
}
