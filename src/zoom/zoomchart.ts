// The chart of a node as lines: the present and the seconds before, in columns of equal times. Pure.

import { PERCENT, type Unit, writeValue } from '../readings/units.js';
import type { Painter } from '../terminal/style.js';
import { formatDuration } from '../text/durations.js';
import { offsetText } from '../text/offsets.js';
import { brief } from '../text/text.js';
import type { ToldName, ZoomSample } from './samplevalues.js';

/** The time of one column, ms. */
export const COLUMN_MS = 100;
/** How many columns are kept: those of the widest screen. */
const MOST_COLUMNS = 1000;

const BLOCKS = ' ▁▂▃▄▅▆▇█';
const MOST_NAME = 80;
const LABEL_WIDTH = 13;
const VALUE_WIDTH = 12; // `of 95.2 kB/s`

/** The rows of the chart, the most important first. `top`: the value that fills a column; undefined: the largest. */
const ROWS: readonly { readonly label: string; readonly name: ToldName; readonly top?: number }[] = [
  { label: 'CPU', name: 'cpu_pct', top: 100 },
  { label: 'run queue', name: 'running' },
  { label: 'memory', name: 'mem_used_mib' },
  { label: 'network in', name: 'rx_bytes_s' },
  { label: 'network out', name: 'tx_bytes_s' },
  { label: 'disk read', name: 'disk_read_bytes_s' },
  { label: 'disk write', name: 'disk_write_bytes_s' },
  { label: 'wait for CPU', name: 'psi_cpu_pct', top: 100 },
  { label: 'for memory', name: 'psi_mem_pct', top: 100 },
  { label: 'for disks', name: 'psi_io_pct', top: 100 },
];

/** Means of the samples in each column, the newest last. */
export class History {
  readonly #columns = new Map<ToldName, number[]>(ROWS.map(({ name }) => [name, []]));
  #sums = new Map<ToldName, { sum: number; count: number }>();
  #column: number | undefined;
  last: ZoomSample | undefined;

  add(sample: ZoomSample): void {
    const column = Math.floor(sample.ms / COLUMN_MS);
    if (this.#column !== undefined && column !== this.#column) this.#close(column - this.#column);
    this.#column = column;
    for (const { name } of ROWS) {
      const value = sample.values.get(name);
      if (value === undefined) continue;
      const { sum, count } = this.#sums.get(name) ?? { sum: 0, count: 0 };
      this.#sums.set(name, { sum: sum + value, count: count + 1 });
    }
    this.last = sample;
  }

  /** Columns without a sample are empty. */
  #close(columns: number): void {
    for (const [name, means] of this.#columns) {
      const { sum, count } = this.#sums.get(name) ?? { sum: 0, count: 0 };
      means.push(count === 0 ? Number.NaN : sum / count);
      for (let i = 1; i < Math.min(columns, MOST_COLUMNS); i++) means.push(Number.NaN);
      means.splice(0, means.length - MOST_COLUMNS);
    }
    this.#sums = new Map();
  }

  /** The newest columns, at most so many; NaN: unknown. */
  columns(name: ToldName, most: number): readonly number[] {
    return most <= 0 ? [] : (this.#columns.get(name) ?? []).slice(-most);
  }
}

/** Columns as lines of block characters, the upper line first; any value above nothing is visible. */
export function plot(values: readonly number[], top: number, height: number, width: number): string[] {
  const eighths = values.map(value => {
    if (Number.isNaN(value)) return 0;
    const filled = Math.round((Math.min(value, top) / top) * 8 * height);
    return Math.max(1, filled);
  });
  return Array.from({ length: height }, (_, line) => {
    const below = 8 * (height - 1 - line);
    const drawn = eighths.map(filled => BLOCKS[Math.max(0, Math.min(8, filled - below))]).join('');
    return drawn.padStart(width);
  });
}

export interface Heading {
  readonly node: string;
  readonly rate: number;
  /** The number of samples so far, and of questions that were left out because the last one was not answered yet. */
  readonly samples: number;
  /** Of the last one. */
  readonly ms: number;
  readonly leftOut: number;
  /** %, of one CPU. */
  readonly cost: number | undefined;
  readonly isPlayed: boolean;
  /** The present time of a live screen, ms since 1970. */
  readonly atMs?: number | undefined;
}

export function headingText({ node, rate, samples, ms, leftOut, cost, isPlayed }: Heading): string {
  const price =
    cost === undefined ? 'its cost on the node is unknown' : `it costs the node ${cost.toFixed(1)}% of a CPU`;
  const how = isPlayed ? 'recorded' : `${rate} a second`;
  const late = leftOut > 0 ? `; ${leftOut} left out, because earlier answers came late` : '';
  return `${brief(node, MOST_NAME)}: ${samples} ${samples === 1 ? 'sample' : 'samples'} in ${formatDuration(ms)}, ${how}${late}; ${price}`;
}

const shown = (value: number | undefined, unit: Unit) => (value === undefined ? '-' : writeValue(value, unit));

export function chart(
  history: History,
  units: ReadonlyMap<ToldName, Unit>,
  heading: Heading,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  paint: Painter,
): string[] {
  const width = Math.max(0, columns - LABEL_WIDTH - VALUE_WIDTH - 1);
  const height = Math.max(1, Math.min(4, Math.floor((rows - 2) / ROWS.length)));
  const lines = [paint.title(headingText(heading))];
  for (const { label, name, top } of ROWS) {
    const unit = units.get(name) ?? PERCENT;
    const values = history.columns(name, width);
    const most = Math.max(...values.filter(value => !Number.isNaN(value)), Number.MIN_VALUE);
    // For memory the top is all of it; for others the largest visible value.
    const total = name === 'mem_used_mib' ? (history.last?.values.get('mem_total_mib') ?? 0) : 0;
    const full = top ?? (total > 0 ? total : most);
    const drawn = plot(values, full, height, width);
    const value = shown(history.last?.values.get(name), unit);
    for (const [i, line] of drawn.entries()) {
      const last = i === drawn.length - 1;
      const scale =
        i === 0 && height > 1 && top === undefined && full > Number.MIN_VALUE ? `of ${writeValue(full, unit)}` : '';
      const left = last
        ? label.padEnd(LABEL_WIDTH) + value.padStart(VALUE_WIDTH)
        : ''.padEnd(LABEL_WIDTH) + scale.padStart(VALUE_WIDTH);
      lines.push(`${left} ${line}`);
    }
  }
  const fitting = lines.slice(0, Math.max(1, rows - 1));
  const { atMs } = heading;
  const time = atMs === undefined ? '' : `   ${new Date(atMs).toTimeString().slice(0, 8)}${offsetText(atMs)}`;
  return [...fitting, `q quit   a column is ${COLUMN_MS} ms${time}`];
}
