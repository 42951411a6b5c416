// The readings that a picture of all nodes can be coloured by, each with a fixed range, so that a colour means the same
// on every cluster and at every time.

import type { Cursor } from './cursor.js';
import { field, type Measure, taken } from './measures.js';
import { type Reading, readingOf } from './readings.js';

/** A reading, and the range that is shown. */
export interface Scale {
  readonly name: string;
  /** In a few words. */
  readonly title: string;
  readonly about: string;
  /** As it is written behind a number. */
  readonly unit: string;
  readonly low: number;
  readonly high: number;
  /** `log`: equal ratios are equal distances; values below `low` are shown at `low`. */
  readonly scale: 'linear' | 'log';
  /** The number of the node at the cursor; NaN: unknown. */
  readonly take: (cursor: Cursor) => number;
}

const measureOf = (name: string) => (readingOf(name) as Reading).measure as Measure;
const numberOf = (name: string): Scale['take'] => {
  const measure = measureOf(name);
  return cursor => taken(measure, cursor);
};

const [loadOf, cpusOf] = [numberOf('load'), field('cpus_online')];
const [inOf, outOf] = [numberOf('in'), numberOf('out')];

function perCpu(cursor: Cursor): number {
  const cpus = taken(cpusOf, cursor);
  return cpus > 0 ? loadOf(cursor) / cpus : Number.NaN;
}

function scale(
  name: string,
  title: string,
  about: string,
  [low, high, unit]: readonly [low: number, high: number, unit: string],
  take = numberOf(name),
  kind: Scale['scale'] = 'linear',
): Scale {
  return { name, title, about, unit, low, high, scale: kind, take };
}

const PERCENT = [0, 100, '%'] as const;
const BYTES = [1e4, 1e11, 'B/s'] as const;

/** In the order in which they are offered; the first one is the default. */
export const SCALES: readonly Scale[] = [
  scale('cpu', 'CPU', 'Share of CPU time in use', PERCENT),
  scale('load_per_cpu', 'Load per CPU', 'Load average of the last minute for each CPU online', [0, 2, ''], perCpu),
  scale('mem', 'Memory', 'Share of memory in use', PERCENT),
  scale('gpu', 'GPU', 'How busy the GPUs are in the mean, or how many of them are in use', PERCENT),
  scale('net', 'Network', 'Bytes received and sent by all interfaces', BYTES, c => inOf(c) + outOf(c), 'log'),
  scale('disk', 'Disks', 'Bytes read from and written to all disks', BYTES, numberOf('disk'), 'log'),
  scale('pressure', 'Pressure', 'Largest share of the last 10 s in which tasks waited for CPU, memory or I/O', PERCENT),
  scale('temp', 'Temperature', 'The hottest CPU sensor', [20, 100, '°C'], numberOf('temp_hottest')),
  scale('power', 'Power', 'Power of the whole node', [50, 20_000, 'W'], numberOf('power_node'), 'log'),
  scale('age', 'Age', 'Time since the last report reached the master', [0, 15, 's']),
];
