// The readings that a picture of all nodes can be coloured by, each with a fixed range, so that a colour means the same
// on every cluster and at every time. Conditions know each by the same name.

import type { Cursor } from './cursor.js';
import { type Measure, type Reading, taken } from './measures.js';
import { readingOf } from './readings.js';

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

type ScaleRange = readonly [low: number, high: number, scale?: Scale['scale']];

const PERCENT: ScaleRange = [0, 100];
const BYTES: ScaleRange = [1e4, 1e11, 'log'];

/** What `about` adds where the sentence of the reading is not one for a legend. */
function scale(name: string, title: string, [low, high, kind = 'linear']: ScaleRange, about?: string): Scale {
  const reading = readingOf(name) as Reading;
  const measure = reading.measure as Measure;
  return {
    name,
    title,
    about: about ?? reading.about,
    unit: reading.unit.label,
    low,
    high,
    scale: kind,
    take: cursor => taken(measure, cursor),
  };
}

/** In the order in which they are offered; the first one is the default. */
export const SCALES: readonly Scale[] = [
  scale('cpu', 'CPU', PERCENT, 'Share of CPU time in use'),
  scale('load_per_cpu', 'Load per CPU', [0, 2]),
  scale('mem', 'Memory', PERCENT, 'Share of memory in use'),
  scale('gpu', 'GPU', PERCENT, 'How busy the GPUs are in the mean, or how many of them are in use'),
  scale('gpu_mem', 'GPU memory', PERCENT),
  scale('gpu_temp', 'GPU temperature', [20, 100]),
  scale('gpu_power', 'GPU power', [50, 20_000, 'log']),
  scale('net', 'Network', BYTES),
  scale('fabric', 'Fabric', BYTES),
  scale('disk', 'Disks', BYTES, 'Bytes read from and written to all disks'),
  scale('pressure', 'Pressure', PERCENT, 'Largest share of the last 10 s in which tasks waited for CPU, memory or I/O'),
  scale('temp', 'Temperature', [20, 100]),
  scale('power', 'Power', [50, 20_000, 'log']),
  scale('age', 'Age', [0, 15], 'Time since the last report reached the master'),
];
