// Writes the fields of a struct as text directly from their bytes, one line each: offset, name, value, unit. Knows the
// contract, and nothing of boards.

import { type Field, getter, isBig, type StructName } from '../layout/codec.js';
import { structs } from '../layout/layout.gen.js';
import { spoken } from '../text/ascii.js';
import { type Page, PreparedText } from '../text/buffer.js';
import { getOrInsert } from '../text/maps.js';
import { oneLine } from '../text/text.js';

/** The columns of a field's offset and of its name. */
const [AT_WIDTH, NAME_WIDTH] = [10, 28];

/** Writes lines of the struct that begins at `base` of the view, and at `base + origin` of the file. */
type PutLines = (page: Page, view: DataView, base: number, origin: number) => void;

function textOf(value: unknown, isHex: boolean): string {
  if (typeof value === 'string') return spoken(oneLine(value));
  if (Array.isArray(value)) return value.map(one => textOf(one, isHex)).join(' ');
  return value === undefined ? 'beyond 2^53' : isHex ? `0x${(value as bigint).toString(16)}` : String(value);
}

/** One line; `at`: the offset of the struct with this field in the outermost struct. */
function linePut(struct: StructName, name: string, field: Field, at: number, label: string): PutLines {
  const { offset, type, unit } = field;
  const get: (view: DataView, base: number) => unknown = getter(struct, name as never);
  const isHex = type === 'u64' && isBig(field) && unit !== 'ns';
  const unitText = unit === '' || unit === 'id' || unit.includes(' ') ? '\n' : ` ${spoken(unit)}\n`;
  const nameText = `  ${label.padEnd(NAME_WIDTH)} `;
  const [before, behind] = [new PreparedText(nameText), new PreparedText(unitText)];
  // More than half of all numbers are 0.
  const zero = new PreparedText(`${nameText}${isHex ? '0x0' : '0'}${unitText}`);
  return (page, view, base, origin) => {
    const value = get(view, base + at);
    page.whole(base + origin + at + offset, AT_WIDTH);
    if (value === 0 || value === 0n) return page.prepared(zero);
    page.prepared(before);
    if (typeof value === 'number' && value > 0) page.whole(value);
    else page.text(textOf(value, isHex));
    page.prepared(behind);
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

export function isZero(view: DataView, from: number, bytes: number): boolean {
  for (let at = from; at < from + bytes; at += 4) if (view.getUint32(at, true) !== 0) return false;
  return true;
}

const ofStructs = new Map<StructName, PutLines[]>();

/**
 * Writes all fields of the struct except the reserved ones. It begins at `base` of the view, whose first byte is at
 * `origin` of the file. A struct takes at most 64 KiB.
 */
export function putLines(page: Page, struct: StructName, view: DataView, base: number, origin: number): void {
  const puts = getOrInsert(ofStructs, struct, () => linesOf(struct, 0, ''));
  for (let i = 0; i < puts.length; i++) (puts[i] as PutLines)(page, view, base, origin);
}
