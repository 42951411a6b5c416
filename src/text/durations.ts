// Reads and writes durations as people do: 250ms, 4.5s, 2m, 1h. Never guesses a unit.

import { InputError, quote } from './text.js';

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The whole milliseconds of `250ms`, `1.5s`, `2m`, `1h` or `30d`. Throws an InputError for all else, also `5`. */
export function parseDuration(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  if (number === '')
    throw new InputError(`${quote(text)} is not a time; write a number and ms, s, m, h or d, as in 250ms or 1.5s`);
  const scale = UNITS[unit];
  if (scale === undefined) throw new InputError(`${quote(text)} has no unit; write ${number}s or ${number}ms`);
  const exact = Number(number) * scale;
  const rounded = Math.round(exact);
  if (rounded > Number.MAX_SAFE_INTEGER) throw new InputError(`${quote(text)} is too long; write a shorter time`);
  // Binary fractions: 1.1 s is 1100.0000000000002 ms and means 1100; 0.4 ms is refused.
  if (Math.abs(exact - rounded) > 1e-6) {
    throw new InputError(`${quote(text)} is not a whole number of ms; write ${Math.max(rounded, 1)}ms`);
  }
  return rounded;
}

/**
 * Milliseconds for people, in two units: `350ms`, `4.2s`, `3m12s`, `5h02m`, `12d3h`. Smaller units are cut off and not
 * rounded: an age is never shown as more than it is.
 */
export function formatDuration(ms: number): string {
  if (ms < 0) return `-${formatDuration(-ms)}`;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  if (ms < 1_000) return `${Math.floor(ms)}ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h${two((seconds % 3_600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3_600)}h`;
}

/** Whole milliseconds as options have them, in the largest unit in which they are whole: `90m`, `10s`, `250ms`. */
export function writeDuration(ms: number): string {
  const unit = ['h', 'm', 's'].find(unit => ms % (UNITS[unit] ?? 1) === 0) ?? 'ms';
  return `${ms / (UNITS[unit] ?? 1)}${unit}`;
}
