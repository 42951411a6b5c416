// Units of readings: those of the contract, those that people write, and conversions between them. Pure.

import { formatDuration } from '../text/durations.js';

interface QuantityInfo {
  /** The unit of numbers of which nothing else is said. */
  readonly base: string;
  /** A value, for messages. */
  readonly example: string;
  /** The units that people write after a number, in base units. */
  readonly written: Readonly<Record<string, number>>;
}

const QUANTITIES = {
  number: { base: '', example: '10', written: { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12 } },
  share: { base: '', example: '90%', written: { '%': 0.01 } },
  size: {
    ...{ base: 'B', example: '1GiB' },
    written: {
      ...{ B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15 },
      ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50 },
    },
  },
  time: {
    ...{ base: 's', example: '5s' },
    written: { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, m: 60, min: 60, h: 3600, d: 86_400 },
  },
  temperature: { base: '°C', example: '80C', written: { C: 1, '°C': 1 } },
  power: { base: 'W', example: '500W', written: { W: 1, kW: 1e3, MW: 1e6 } },
  energy: { base: 'J', example: '1kWh', written: { J: 1, kJ: 1e3, MJ: 1e6, Wh: 3600, kWh: 3.6e6 } },
  frequency: { base: 'Hz', example: '2GHz', written: { Hz: 1, kHz: 1e3, MHz: 1e6, GHz: 1e9 } },
  'data rate': {
    ...{ base: 'B/s', example: '1GB/s' },
    written: {
      ...{ 'B/s': 1, 'kB/s': 1e3, 'KB/s': 1e3, 'MB/s': 1e6, 'GB/s': 1e9, 'TB/s': 1e12 },
      ...{ 'KiB/s': 2 ** 10, 'MiB/s': 2 ** 20, 'GiB/s': 2 ** 30 },
      ...{ 'bit/s': 0.125, 'kbit/s': 125, 'Mbit/s': 125e3, 'Gbit/s': 125e6, 'Tbit/s': 125e9 },
    },
  },
} satisfies Record<string, QuantityInfo>;

/** Readings of the same quantity can be compared. */
export type Quantity = keyof typeof QUANTITIES;

export interface Unit {
  readonly quantity: Quantity;
  /** The size of the unit in base units: 1, 1 (a whole), bytes, seconds, °C, watts, joules, hertz, bytes per second. */
  readonly size: number;
  /** How it is written after a number; empty for a plain number. */
  readonly label: string;
}

/** A unit of that quantity with that size in base units. */
export function unit(quantity: Quantity, size: number, label: string): Unit {
  return { quantity, size, label };
}

export const NUMBER: Unit = unit('number', 1, '');
export const PERCENT: Unit = unit('share', 0.01, '%');
export const SECONDS: Unit = unit('time', 1, 's');
export const BYTES_PER_SECOND: Unit = unit('data rate', 1, 'B/s');

/** The units in the contract's unit column. Everything else (ids, enums, bits) is a plain number. */
const CONTRACT: Readonly<Record<string, Unit>> = {
  '1/100': unit('number', 0.01, '1/100'),
  '1/1000': unit('share', 0.001, '1/1000'),
  '1/100 %': unit('share', 0.0001, '1/100 %'),
  '%': PERCENT,
  bytes: unit('size', 1, 'B'),
  KiB: unit('size', 2 ** 10, 'KiB'),
  MiB: unit('size', 2 ** 20, 'MiB'),
  ns: unit('time', 1e-9, 'ns'),
  us: unit('time', 1e-6, 'us'),
  ms: unit('time', 1e-3, 'ms'),
  s: SECONDS,
  '1/10 °C': unit('temperature', 0.1, '1/10 °C'),
  '°C': unit('temperature', 1, '°C'),
  W: unit('power', 1, 'W'),
  mJ: unit('energy', 1e-3, 'mJ'),
  MHz: unit('frequency', 1e6, 'MHz'),
  'Mbit/s': unit('data rate', 125_000, 'Mbit/s'),
};

/** The unit that the contract calls so. */
export function contractUnit(name: string): Unit {
  return CONTRACT[name] ?? NUMBER;
}

/** What a quantity becomes per second: a time becomes a share, energy becomes power. */
const PER_SECOND: Partial<Record<Quantity, Quantity>> = { size: 'data rate', time: 'share', energy: 'power' };

/** The unit of the rate of a counter. */
export function perSecond({ quantity, size, label }: Unit): Unit {
  return unit(PER_SECOND[quantity] ?? 'number', size, `${label === '' ? '1' : label}/s`);
}

/** Units as suffixes of names. */
export const UNIT_ENDING = /_(mib|kib|ms|us|s|pm|c|dc|pct|degc|w)$/;

/** Names that change their meaning without the unit: the name and the unit, which a number beside it must have. */
export function named({ name, unit: { quantity } }: { name: string; unit: Unit }) {
  return {
    name: name.replace(UNIT_ENDING, ''),
    unit: unit(quantity, 1, QUANTITIES[quantity].base),
    wantsUnit: quantity !== 'number',
  };
}

/** The divisor instead of multiplying by a factor, because division is exact: 321 hundredths are 3.21. 0: none. */
export function perOf(factor: number): number {
  const per = Math.round(1 / factor);
  return factor < 1 && Math.abs(per * factor - 1) < 1e-12 ? per : 0;
}

/** A number times a factor. */
export function scaled(value: number, factor: number): number {
  const per = perOf(factor);
  return per === 0 ? value * factor : value / per;
}

/** The factor from one unit to another; without a unit the value stays as it is. */
export function factorTo({ size }: Unit, other: Unit | undefined): number {
  return other === undefined || other.size === size ? 1 : size / other.size;
}

/** The size of the written unit in base units of the quantity; undefined: it is not a unit of that quantity. */
export function writtenUnit(quantity: Quantity, text: string): number | undefined {
  const table: QuantityInfo['written'] = QUANTITIES[quantity].written;
  if (Object.hasOwn(table, text)) return table[text];
  // A rate can be compared with an amount, too: in > 1GB means per second.
  return quantity === 'data rate' && !text.endsWith('/s') ? writtenUnit(quantity, `${text}/s`) : undefined;
}

/** Whether that is a unit of anything. */
export function isUnit(text: string): boolean {
  return Object.keys(QUANTITIES).some(quantity => writtenUnit(quantity as Quantity, text) !== undefined);
}

/** An example of a value for messages. */
export const exampleOf = (quantity: Quantity) => QUANTITIES[quantity].example;

/** Three figures: 1.23, 12.3, 123, 1234; less than a thousandth is 0. */
function figures(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return String(Number(value.toFixed(digits)));
}

/** The number in the largest of these units in which it is at least 1. */
function inLargest(value: number, step: number, units: readonly string[]): string {
  let [rest, at] = [value, 0];
  while (Math.abs(rest) >= step * 0.9995 && at < units.length - 1) [rest, at] = [rest / step, at + 1];
  return `${figures(rest)} ${units[at]}`;
}

/** A value in that unit, for people: `12.3 GiB`, `34.2 %`, `61 °C`, `10 Gbit/s`, `3m12s`. */
export function writeValue(value: number, of: Unit): string {
  const base = scaled(value, of.size);
  switch (of.quantity) {
    case 'share':
      return `${figures(base * 100)} %`;
    case 'size':
      return inLargest(base, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
    case 'data rate':
      // The speed of a link is shown in bits, its traffic in bytes.
      return of.label === 'Mbit/s'
        ? inLargest(base * 8, 1000, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'])
        : inLargest(base, 1000, ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s']);
    case 'temperature':
      return `${figures(base)} °C`;
    case 'power':
      return inLargest(base, 1000, ['W', 'kW', 'MW']);
    case 'energy':
      return inLargest(base, 1000, ['J', 'kJ', 'MJ', 'GJ']);
    case 'frequency':
      return inLargest(base, 1000, ['Hz', 'kHz', 'MHz', 'GHz']);
    case 'time':
      return base >= 1 ? formatDuration(base * 1000) : inLargest(base * 1e6, 1000, ['us', 'ms']);
    default:
      return `${figures(base)}${of.label.endsWith('/s') ? '/s' : ''}`;
  }
}

/** An identity of 32 bits, in which equal is all that a number tells: `0x0badcafe`. */
export const writeId = (id: number) => `0x${id.toString(16).padStart(8, '0')}`;

/** A version as reports have it: `0.2.0`. */
export const writeVersion = (version: number) => `${version >> 16}.${(version >> 8) & 255}.${version & 255}`;

/** Two written values with a word between them, and the unit once if both have it: `1.2 of 8 GiB`, `2.9 to 3 GHz`. */
export function joined(first: string, word: string, second: string): string {
  const [, unit] = /( \S+)$/.exec(second) ?? [];
  const part = unit !== undefined && first.endsWith(unit) ? first.slice(0, -unit.length) : first;
  return `${part} ${word} ${second}`;
}
