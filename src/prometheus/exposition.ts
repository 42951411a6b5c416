// Writes samples in Prometheus's formats: text 0.0.4 and OpenMetrics 1.0.0, family by family, a page at a time. Pure.
// Writes no timestamps: with them, a dead node would keep its values for five minutes.

import type { Page } from '../text/buffer.js';
import { escaped, type Format, headOf, type SampleLine, type ScrapePlan } from './plan.js';
import type { Sample } from './sample.js';

/** The length of the longest number, and of the characters around it, bytes. */
const NUMBER_MOST = 32;
const NEWLINE = 0x0a;

/** The size of a page: many times the longest line, which has a metric, node, cluster and kernel, each escaped. */
export const PAGE_BYTES = 1 << 18;

/** All blocks of the plan, each with the lines of all samples. */
export function* writeSamples(
  plan: ScrapePlan,
  samples: readonly Sample[],
  format: Format,
  page: Page,
): Generator<Uint8Array> {
  for (const { head, lines } of plan.blocks) {
    // A family without samples is left out.
    if (!lines.some(({ column }) => samples.some(sample => hasAny(sample, column)))) continue;
    if (page.room < head[format].length) yield* turn(page);
    page.part(head[format]);
    for (const line of lines)
      for (const sample of samples)
        for (let row = 0; row < sample.rows; ) {
          row = writeLines(page, line, sample, row);
          if (row < sample.rows) yield* turn(page);
        }
  }
}

function hasAny({ numbers, room, rows }: Sample, column: number): boolean {
  for (let i = column * room; i < column * room + rows; i++) if (!Number.isNaN(numbers[i])) return true;
  return false;
}

/** Returns what is written, so that there is room again. */
export function* turn(page: Page): Generator<Uint8Array> {
  yield page.written;
  page.length = 0;
}

/** Writes the lines of as many nodes as fit, from that row on; returns the row to continue with. */
function writeLines(page: Page, { before, column, digits, label }: SampleLine, sample: Sample, from: number): number {
  const { numbers, room, rows, names, starts, ends, labels, texts } = sample;
  const base = column * room;
  const view = new DataView(names.buffer);
  for (let row = from; row < rows; row++) {
    const value = numbers[base + row] as number;
    if (Number.isNaN(value)) continue;
    const [start, end] = [starts[row] as number, ends[row] as number];
    const more = label < 0 ? undefined : (texts[labels[label * room + row] as number] as Uint8Array);
    if (page.room < before.length + (end - start) + (more?.length ?? 0) + NUMBER_MOST) return row;
    page.prepared(before);
    if (more !== undefined) page.part(more);
    page.copy(view, start, end);
    page.short(value, digits);
    page.bytes[page.length++] = NEWLINE;
  }
  return rows;
}

/** A family that is not about nodes: a few numbers with their labels. */
export interface Small {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly (readonly [labels: Readonly<Record<string, string | undefined>>, value: number])[];
}

/** Such families as text. */
export function textOf(families: readonly Small[], format: Format): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, samples }) => {
      const lines = samples.map(([labels, value]) => {
        const pairs = Object.entries(labels).flatMap(([label, text]) =>
          text === undefined ? [] : [`${label}="${escaped(text)}"`],
        );
        return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`;
      });
      return headOf(name, help, format) + lines.join('');
    })
    .join('');
}

/** The end of a document. */
export const END: Readonly<Record<Format, string>> = { text: '', openmetrics: '# EOF\n' };
