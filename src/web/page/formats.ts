// Numbers, ages and times for people: formatted by the browser's Intl, with English words. The caller passes the
// server's clock.

import { offsetText } from '../../text/offsets.js';

const LOCALE = (globalThis as { navigator?: { language?: string } }).navigator?.language ?? 'en';

/** There is none; a number, even 0, was measured. */
export const NOTHING = '–';

const digits = (most: number) => new Intl.NumberFormat(LOCALE, { maximumFractionDigits: most });
const [WHOLE, TENTHS, HUNDREDTHS] = [digits(0), digits(1), digits(2)];

/** Two or three figures: 43, 4.3, 0.43. */
function short(value: number): string {
  const size = Math.abs(value);
  return (size >= 9.95 ? WHOLE : size >= 0.995 ? TENTHS : HUNDREDTHS).format(value);
}

/** A count: 12,345. */
export function count(value: number): string {
  return WHOLE.format(value);
}

const THOUSANDS = ['', 'k', 'M', 'G', 'T', 'P'];

/** A value with its unit: `43 %`, `1.2 GB/s`, `21 °C`. Seconds are shown as a duration. */
export function quantity(value: number, unit: string): string {
  if (unit === 's') return age(value * 1000);
  if (/^(B|b)/.test(unit)) {
    const power =
      Math.abs(value) < 1000 ? 0 : Math.min(THOUSANDS.length - 1, Math.floor(Math.log10(Math.abs(value)) / 3));
    return `${short(value / 1000 ** power)} ${THOUSANDS[power]}${unit}`;
  }
  return unit === '' ? short(value) : `${short(value)} ${unit}`;
}

/** Milliseconds as a few words: `4.2 s`, `3 min 20 s`, `11 h 06 min`, `3 d 4 h`. */
export function age(ms: number): string {
  if (ms < 9_950) return `${TENTHS.format(Math.max(0, ms / 1000))} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const two = (value: number) => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

const TIME = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;

/** How times are written in a zone; undefined: the browser's. Throws a RangeError if the browser does not know it. */
function writersOf(timeZone: string | undefined) {
  const writer = (options: Intl.DateTimeFormatOptions, locale = LOCALE) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone });
  return {
    clock: writer({ ...TIME, second: '2-digit' }),
    minute: writer(TIME),
    day: writer({ day: 'numeric', month: 'short' }),
    date: writer({ year: 'numeric', month: '2-digit', day: '2-digit' }, 'sv'),
    name: writer({ timeZoneName: 'short' }, 'en'),
    offset: writer({ timeZoneName: 'longOffset' }, 'en'),
  };
}

let writers = writersOf(undefined);

/** From now on all times are in that zone; undefined: the browser's. */
export function setZone(timeZone: string | undefined): void {
  try {
    writers = writersOf(timeZone);
  } catch {
    writers = writersOf('UTC'); // The server may have a name that this browser does not know.
  }
}

/** How far the zone is behind UTC, ms. */
function offsetIn(ms: number): number {
  const [, sign, hours, minutes] = /GMT([+-])(\d+):(\d+)/.exec(writers.offset.format(ms)) ?? ['', '-', '0', '0'];
  return (sign === '-' ? 1 : -1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** A time: 14:03:21, with its offset if it happens twice. `ms`: since 1970, by the server's clock. */
export const clock = (ms: number): string => `${writers.clock.format(ms)}${offsetText(ms, offsetIn)}`;

/** The same to the minute: 14:03. */
export const minute = (ms: number): string => `${onAxis(ms)}${offsetText(ms, offsetIn)}`;

/** Without its offset, for an axis. */
export const onAxis = (ms: number): string => writers.minute.format(ms);

/** The present, ms since 1970: by the server's clock as soon as that is known. */
export const present = { now: () => Date.now() };

/** How many days away: within one the time of day says which one it is, beyond half a year the year matters. */
const daysAway = (ms: number, now: number) => Math.abs(now - ms) / 86_400_000;

/** A time that may be long ago: 14:03:21, a day away or more Nov 24 14:03, or 2025-11-24. */
export function moment(ms: number, now = present.now()): string {
  const days = daysAway(ms, now);
  return days < 1 ? clock(ms) : days < 183 ? `${writers.day.format(ms)} ${minute(ms)}` : writers.date.format(ms);
}

/** A sentence of the server, whose moments stand in it as 2026-11-27T02:03:04Z, with the times of this page's zone. */
export const inZone = (text: string, now = present.now()): string =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, iso => {
    const ms = Date.parse(iso);
    return Number.isNaN(ms) ? iso : moment(ms, now);
  });

/** The same in fewer words: 14:03, or Nov 24. */
export function momentRoughly(ms: number, now = present.now()): string {
  return daysAway(ms, now) < 1 ? minute(ms) : writers.day.format(ms);
}

/** The name of the zone at that moment: CET. */
export function zone(ms: number): string {
  return writers.name.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}

/** `1 node`, `2 nodes`. */
export function plural(number: number, one = 'node'): string {
  return `${count(number)} ${number === 1 ? one : `${one}s`}`;
}
