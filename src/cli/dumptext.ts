// The fields of a struct as text, one line each: offset, name, value, unit. Knows the contract, and nothing of boards.

import { type Field, getter, type StructName } from '../layout/codec.js';
import { structs } from '../layout/layout.gen.js';
import { spoken } from '../text/ascii.js';
import type { Page } from '../text/buffer.js';
import { getOrInsert } from '../text/maps.js';
import { oneLine } from '../text/text.js';

/** The columns of a field's offset and of its name. */
const [AT_WIDTH, NAME_WIDTH] = [10, 28];

/** Writes lines of the struct that begins at `base` of the view, and at `base + origin` of the file. */
type PutLines = (page: Page, view: DataView, base: number, origin: number) => void;

/** A value as its getter reads it. What may be beyond 2^53 and is no number to count with is hexadecimal. */
function shown(value: unknown, { type, unit }: Field): string {
  if (value === undefined) return 'beyond 2^53';
  if (Array.isArray(value)) return value.map(one => shown(one, { type, unit } as Field)).join(' ');
  if (typeof value === 'bigint' && type === 'u64' && unit !== 'ns') return `0x${value.toString(16)}`;
  return typeof value === 'string' ? spoken(oneLine(value)) : String(value);
}

/** One line; `at`: the offset of the struct with this field in the outermost struct. */
function linePut(struct: StructName, name: string, field: Field, at: number, label: string): PutLines {
  const { offset, unit } = field;
  const get = getter(struct, name as never);
  const before = `  ${label.padEnd(NAME_WIDTH)} `;
  const behind = unit === '' || unit === 'id' || unit.includes(' ') ? '\n' : ` ${spoken(unit)}\n`;
  return (page, view, base, origin) => {
    page.whole(base + origin + at + offset, AT_WIDTH);
    page.text(`${before}${shown(get(view, base + at), field)}${behind}`);
  };
}

/** The lines of a struct that lies at `at` within the outermost one. */
function linesOf(struct: StructName, at: number, prefix: string): PutLines[] {
  return Object.entries<Field>(structs[struct].fields)
    .filter(([, { kind }]) => kind !== 'reserved')
    .flatMap(([name, field]): PutLines[] => {
      const { offset, type, count } = field;
      const label = `${prefix}${name}`;
      if (!Object.hasOwn(structs, type)) return [linePut(struct, name, field, at, label)];
      const inner = type as StructName;
      const { bytes } = structs[inner];
      return Array.from({ length: Math.max(1, count) }, (_, i): PutLines => {
        const place = at + offset + i * bytes;
        const puts = linesOf(inner, place, count > 0 ? `${label}[${i}].` : `${label}.`);
        return (page, view, base, origin) => {
          // Nothing is known about links without an entry.
          if (inner === 'link_evidence' && isZero(view, base + place, bytes)) return;
          for (const put of puts) put(page, view, base, origin);
        };
      });
    });
}

function isZero(view: DataView, from: number, bytes: number): boolean {
  for (let at = from; at < from + bytes; at += 4) if (view.getUint32(at, true) !== 0) return false;
  return true;
}

const ofStructs = new Map<StructName, PutLines[]>();

/**
 * Writes all fields of the struct except the reserved ones. It begins at `base` of the view, whose first byte is at
 * `origin` of the file. A struct takes at most 64 KiB.
 */
export function putLines(page: Page, struct: StructName, view: DataView, base: number, origin: number): void {
  for (const put of getOrInsert(ofStructs, struct, () => linesOf(struct, 0, ''))) put(page, view, base, origin);
}
