// Reads moments as people write them: 03:00, yesterday, 2026-11-27 03:00, @1795915200, 1h ago, +8h. Times without a zone
// are local ones; in the hour that happens twice they mean both.

import { parseDuration } from './durations.js';
import { twinOf } from './offsets.js';
import { InputError, quote } from './text.js';

/** A moment, ms since 1970. */
export interface Moment {
  readonly ms: number;
  /** The second one of the hour that happens twice, for the end of a span; else the same. */
  readonly lastMs: number;
  /** Whether only a time of day was given, so that the day was chosen. */
  readonly isTimeOfDay: boolean;
}

const WRITE = 'write 03:00, yesterday, 2026-11-27 03:00, @1795915200, 1h ago or +8h';

/** Of a Date that is written with four digits of its year, and as far before 1970. */
const MOST_MS = Date.UTC(9999, 11, 31);

/** Local time; undefined if there is no such day or time. */
function local(year: number, month: number, day: number, [hour = 0, minute = 0, second = 0]: readonly number[]) {
  const at = new Date(year, month, day, hour, minute, second);
  const isThere = at.getFullYear() === year && at.getMonth() === month && at.getDate() === day;
  return isThere && hour < 24 && minute < 60 && second < 60 ? at.getTime() : undefined;
}

/** Whether others may mean that as a time, ms since 1970: it can be told with four digits of its year. */
export function isTellable(ms: unknown): ms is number {
  return typeof ms === 'number' && ms >= 0 && ms < Date.UTC(10_000, 0);
}

const LONG = /^(\d+(?:\.\d+)?) ?(s|m|h|d)(?:(?:ec|econd|in|inute|r|our|ay)s?)?$/;

/** A duration as words have it, too: `1 hour`. */
const parseLong = (text: string) => parseDuration(text.replace(LONG, '$1$2'));

/**
 * `now`; `today` and `yesterday` when they began, or with a time of day; `@1795915200` in s since 1970; `03:00[:30]` is
 * the last such time, today or yesterday; `2026-11-27[ 03:00[:30]]` local time, with a zone (`2026-11-27T03:00:30Z`,
 * `+01:00`) that of the zone; `1h ago`, `1 hour ago` or `-1h` so long before now, `in 1h` or `+1h` so long after it.
 * Throws an InputError.
 */
export function parseMoment(text: string, nowMs: number): Moment {
  const away = (ms: number): Moment => {
    if (Math.abs(ms) > MOST_MS) throw new InputError(`${quote(text)} is too far away; write a shorter time`);
    return { ms, lastMs: ms, isTimeOfDay: false };
  };
  const [, seconds] = /^@(\d+(?:\.\d{1,9})?)$/.exec(text) ?? [];
  if (seconds !== undefined) return away(Math.floor(Number(seconds) * 1000));
  if (text === 'now') return away(nowMs);
  const ago = (/^-(\S.*)$/.exec(text) ?? /^(.*\S) ago$/.exec(text))?.[1];
  if (ago !== undefined) return away(nowMs - parseLong(ago));
  const ahead = (/^\+(\S.*)$/.exec(text) ?? /^in (\S.*)$/.exec(text))?.[1];
  if (ahead !== undefined) return away(nowMs + parseLong(ahead));
  const [, clock] = /^(\d{1,2}:\d\d(?::\d\d)?)$/.exec(text) ?? [];
  const now = new Date(nowMs);
  const today = [now.getFullYear(), now.getMonth(), now.getDate()] as const;
  if (clock !== undefined) {
    const ms = local(...today, clock.split(':').map(Number));
    if (ms === undefined) throw new InputError(`${quote(text)} is no time of day; write 00:00 to 23:59:59`);
    return both(ms > nowMs ? dayLater(ms, -1) : ms, true);
  }
  const [, year, month, day, time = '', fraction = '', zone] =
    /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d{1,9})?(?: ?(Z|[+-]\d\d:?\d\d))?)?$/.exec(
      text.replace(/^(today|yesterday)\b/, word => dayOf(word === 'today' ? nowMs : dayLater(nowMs, -1))),
    ) ?? [];
  if (year === undefined) throw new InputError(`${quote(text)} is no moment; ${WRITE}`);
  const parts = [Number(year), Number(month) - 1, Number(day)] as const;
  const times = time === '' ? [] : time.split(':').map(Number);
  let ms = local(...parts, times);
  if (ms !== undefined && zone !== undefined) {
    const [hour = 0, minute = 0, second = 0] = times;
    const [, sign = '+', hours = '0', minutes = '0'] = /^([+-])(\d\d):?(\d\d)$/.exec(zone) ?? [];
    ms =
      Date.UTC(...parts, hour, minute, second) - Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  }
  if (ms === undefined) throw new InputError(`${quote(text)} is no day or time that there is; ${WRITE}`);
  ms += Math.floor(Number(`0${fraction}`) * 1000);
  return zone === undefined ? both(ms, false) : away(ms);
}

/** `2026-11-27`, local. */
export function dayOf(ms: number): string {
  const at = new Date(ms);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** A local time, that of both if it happens twice. */
function both(ms: number, isTimeOfDay: boolean): Moment {
  const twin = twinOf(ms) ?? ms;
  return { ms: Math.min(ms, twin), lastMs: Math.max(ms, twin), isTimeOfDay };
}

/** The same local time so many days later. */
export function dayLater(ms: number, days: number): number {
  const at = new Date(ms);
  at.setDate(at.getDate() + days);
  return at.getTime();
}
