// The plan of a collection, made once: the numbers to read from each node, and the lines to make of them.

import { structs } from '../layout/layout.gen.js';
import type { Measure } from '../readings/measures.js';
import { isMeasured } from '../shm/rates.js';
import { PreparedText } from '../text/buffer.js';
import type { Label, MetricColumn, MetricFamily, Monotonic, Whose } from './family.js';

/** A line of a family: the text before the node's labels, and the column of its number. */
export interface SampleLine {
  readonly before: PreparedText;
  readonly column: number;
  readonly digits: number;
  /** The column of its labels; -1: there is none. */
  readonly label: number;
}

interface FamilyBlock {
  /** The text before the lines, in each format. */
  readonly head: Readonly<Record<Format, Uint8Array>>;
  readonly lines: readonly SampleLine[];
}

export type Format = 'text' | 'openmetrics';

/** The media type of each format. */
export const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The text as a label value. */
export function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, character => (character === '\n' ? '\\n' : `\\${character}`));
}

/** The type of a metric by its name. Those that node_exporter takes from vmstat and netstat as they are have none. */
const typeOf = (name: string) =>
  name.endsWith('_total') ? 'counter' : /^node_(vmstat|netstat)_/.test(name) ? 'untyped' : 'gauge';

/** The comments before the samples of a family. In OpenMetrics only samples of a counter have the suffix _total. */
export function headOf(name: string, help: string, format: Format): string {
  const type = typeOf(name);
  const family = format === 'openmetrics' && type === 'counter' ? name.replace(/_total$/, '') : name;
  const text = help
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('"', format === 'openmetrics' ? '\\"' : '"');
  const word = format === 'openmetrics' && type === 'untyped' ? 'unknown' : type;
  return `# HELP ${family} ${text}\n# TYPE ${family} ${word}\n`;
}

/** Nodes with the same possible values: the same class of states, and reports with the same sets. */
interface NodeKind {
  readonly columns: readonly number[];
  readonly labels: readonly number[];
}

/** The kinds that are kept: one for all nodes that are alike. */
const KINDS = 128;

const { valid } = structs.report.fields;

/** Which nodes, by what is known about one: 0 nothing, 1 something, 2 it is heard, 3 it is live. */
const LEAST: Readonly<Record<Whose, number>> = { all: 0, known: 1, heard: 2, live: 3 };

export class ScrapePlan {
  readonly blocks: readonly FamilyBlock[];
  readonly takes: readonly Measure['take'][];
  readonly labels: readonly Label[];
  /** The columns that must not decrease, and under which number each is kept. */
  readonly kept: readonly (Monotonic | undefined)[];
  readonly per: readonly (Measure['take'] | undefined)[];
  readonly hasRates: boolean;
  readonly #columns: readonly MetricColumn[];
  readonly #labelled: readonly number[];
  readonly #kinds = new Map<number, NodeKind>();

  constructor(prefix: string, families: readonly MetricFamily[]) {
    const columns: MetricColumn[] = [];
    const labels: Label[] = [];
    const labelled: number[] = [];
    const place = (label: Label, column: number) => {
      // Columns with the same label share its column if they are for the same nodes.
      const same = labels.findIndex(
        (known, i) => known === label && (columns[labelled[i] as number] as MetricColumn).of === columns[column]?.of,
      );
      if (same >= 0) return same;
      labelled.push(column);
      return labels.push(label) - 1;
    };
    this.blocks = families.map(({ name, help, series }) => {
      const whole = `${prefix}${name}`;
      const head = (format: Format) => Buffer.from(headOf(whole, help, format));
      const lines = series.map(({ labels: text, column }): SampleLine => {
        const at = columns.push(column) - 1;
        const label = column.label === undefined ? -1 : place(column.label, at);
        return { before: new PreparedText(`${whole}{${text}`), column: at, digits: column.digits, label };
      });
      return { head: { text: head('text'), openmetrics: head('openmetrics') }, lines };
    });
    this.takes = columns.map(({ measure }) => measure.take);
    this.kept = columns.map(({ kept }) => kept);
    this.per = columns.map(({ per }) => per?.take);
    this.hasRates = columns.some(({ measure }) => measure.rate === true);
    this.labels = labels;
    this.#columns = columns;
    this.#labelled = labelled;
  }

  /**
   * Which values a node can have: `known` as in LEAST; its newest report is at `report` of the view, -1 for none;
   * `moving`: there are two reports that can have rates.
   */
  kindOf(known: number, view: DataView, report: number, moving: boolean): NodeKind {
    const low = report < 0 ? 0 : view.getUint32(report + valid.offset, true);
    const high = report < 0 ? 0 : view.getUint32(report + valid.offset + 4, true);
    // 40 sets, and four bits for the rest.
    const key = (high * 2 ** 32 + low) * 16 + known * 4 + Number(moving) * 2 + Number(report >= 0);
    let kind = this.#kinds.get(key);
    if (kind === undefined) {
      kind = this.#makeKind(known, view, report, moving);
      if (this.#kinds.size === KINDS) this.#kinds.clear();
      this.#kinds.set(key, kind);
    }
    return kind;
  }

  #makeKind(known: number, view: DataView, report: number, moving: boolean): NodeKind {
    const columns = [...this.#columns.keys()].filter(place => {
      const { of, measure } = this.#columns[place] as MetricColumn;
      if (known < LEAST[of]) return false;
      if (measure.ofRecord === true) return true;
      return (
        report >= 0 &&
        (measure.set === undefined || isMeasured(view, report, measure.set)) &&
        (measure.rate === undefined || moving)
      );
    });
    const labels = this.#labelled.flatMap((column, label) => (columns.includes(column) ? [label] : []));
    return { columns, labels };
  }
}
