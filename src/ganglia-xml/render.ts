// Writes HOSTs and sums of HOSTs in Ganglia's format: prepared forms, and values in their gaps. Pure: no clock, no I/O.
// Does not escape, and calls no node down without evidence.

import { structs } from '../layout/layout.gen.js';
import { type PrintTemplate, TEXT_GAP, template } from '../native/index.js';
import { MeasureReader } from '../readings/measurereader.js';
import type { Node, Snapshot } from '../shm/snapshot.js';
import { Page } from '../text/buffer.js';
import { attributes } from './dtd.js';
import { Host, TMAX } from './host.js';
import type { Metric } from './metrics.js';
import { NAME_MAX, safeOn, UNSPECIFIED, VALUE_MAX } from './safe.js';

const NUMBER_MAX = 24;
/** Hosts whose readings are younger have a form with their age in it, one for each second: nearly all hosts. */
const OLD = 128;

// Hosts that pass a DMAX are deleted, and gmetad 3.7.2 crashes when it deletes one.
const UNCHANGING = attributes({ TMAX, DMAX: 0, LOCATION: UNSPECIFIED });
const NAMELESS = Buffer.from(UNSPECIFIED);
const ADDRESS_MAX = 46;
/** The values that each HOST has besides its metrics; their places follow those of the metrics and of their ages. */
const OPENING = { name: 0, address: 1, reported: 2, tn: 3, started: 4 };
const OPENING_VALUES = Object.keys(OPENING).length;

const { name: NAME, address: ADDRESS } = structs.record.fields;

/** The texts of a metric are those of every host: gmetad 3.7.2 aborts on more than 32 different extras of a metric. */
function extrasOf({ group, title, description }: Metric): string {
  const elements = Object.entries({ GROUP: group, DESC: description, TITLE: title })
    .map(([extra, text]) => `<EXTRA_ELEMENT${attributes({ NAME: extra, VAL: text })}/>\n`)
    .join('');
  return `<EXTRA_DATA>\n${elements}</EXTRA_DATA>\n`;
}

/** A comparison with NaN is false. A number beyond the exact range is not a reading. */
const isReading = (value: number) => Math.abs(value) <= Number.MAX_SAFE_INTEGER;

/** Writes hosts with these metrics. */
export class Renderer {
  readonly #host = new Host();
  readonly #measures: MeasureReader<Host>;
  readonly #textual: readonly [place: number, put: NonNullable<Metric['put']>][];
  /** The values of a host, NaN if it has none, their ages, those of the opening; and its texts, each up to its end. */
  readonly #values: Float64Array;
  readonly #texts: Page;
  /** Forms of a host with metrics, by the age of its readings in seconds; that of one with old readings. */
  readonly #forms: PrintTemplate[] = [];
  readonly #old: PrintTemplate;
  readonly #bare: PrintTemplate;
  /** The length of the longest HOST, bytes. */
  readonly hostMost: number;

  constructor(readonly metrics: readonly Metric[]) {
    this.#textual = metrics.flatMap(({ put }, place) => (put === undefined ? [] : [[place, put] as const]));
    this.#values = new Float64Array(2 * metrics.length + OPENING_VALUES);
    const measures = metrics.map(({ value }) => value);
    this.#measures = new MeasureReader(measures, this.#values);
    this.#texts = new Page(NAME_MAX + ADDRESS_MAX + this.#textual.length * VALUE_MAX);
    const { text } = this.#parts(undefined, metrics);
    this.hostMost = text.length + this.#values.length * NUMBER_MAX + this.#texts.room;
    this.#old = this.#makeForm(undefined, metrics);
    this.#bare = this.#makeForm(undefined, []);
  }

  /** One HOST. What was not measured is left out: it is not 0. Without `has`, or if it is false, METRICs are, too. */
  host(page: Page, snapshot: Snapshot, node: Node, localtime: number, has?: (metric: Metric) => boolean): void {
    const host = this.#host;
    host.layHost(snapshot, node);
    this.#open(node, localtime);
    const isBare = host.report === -1 || has === NO_METRICS;
    if (!isBare) this.#measure(has);
    const print = isBare ? this.#bare : this.#formOf(Math.floor(host.age));
    page.length += print(page.bytes, page.length, this.#texts.length);
  }

  #open(node: Node, localtime: number): void {
    const { bytes, record, tn, report } = this.#host;
    const values = this.#values;
    const texts = this.#texts;
    const first = values.length - OPENING_VALUES;
    texts.length = 0;
    if (safeOn(texts, bytes, record + NAME.offset, NAME.count, 'name') === 0) texts.part(NAMELESS);
    values[first + OPENING.name] = texts.length;
    this.#address(node);
    values[first + OPENING.address] = texts.length;
    // Not the wall-clock time of the report: ganglia-web compares it with LOCALTIME if TN is 0.
    values[first + OPENING.reported] = Math.max(0, localtime - tn);
    values[first + OPENING.tn] = tn;
    const started = report === -1 ? 0 : this.#host.wallSeconds('start');
    values[first + OPENING.started] = Number.isNaN(started) ? 0 : started;
  }

  #address(node: Node): void {
    const { bytes, view, record } = this.#host;
    const texts = this.#texts;
    const at = record + ADDRESS.offset;
    // ::ffff:0:0/96, the board's form of an IPv4 address.
    const isV4 =
      view.getUint32(at, true) === 0 && view.getUint32(at + 4, true) === 0 && view.getUint32(at + 8) === 0xffff;
    if (!isV4) {
      texts.text(node.address || UNSPECIFIED);
      return;
    }
    for (let i = 12; i < 16; i++) {
      if (i > 12) texts.text('.');
      texts.whole(bytes[at + i] as number);
    }
  }

  /** Reads the values of the metrics, and writes those that are texts. */
  #measure(has?: (metric: Metric) => boolean): void {
    const host = this.#host;
    const values = this.#values;
    const texts = this.#texts;
    this.#measures.read(host, host.bytes);
    if (has !== undefined)
      this.metrics.forEach((metric, place) => {
        if (!has(metric)) values[place] = Number.NaN;
      });
    for (const [place, put] of this.#textual) {
      if (Number.isNaN(values[place])) continue;
      put(host, texts);
      values[place] = texts.length;
    }
  }

  #formOf(age: number): PrintTemplate {
    if (age < OLD) {
      this.#forms[age] ??= this.#makeForm(age, this.metrics);
      return this.#forms[age] as PrintTemplate;
    }
    const values = this.#values;
    const { length } = this.metrics;
    // What is left out has no age.
    for (let i = 0; i < length; i++) values[length + i] = isReading(values[i] as number) ? age : Number.NaN;
    return this.#old;
  }

  #makeForm(age: number | undefined, metrics: readonly Metric[]): PrintTemplate {
    const { text, gaps } = this.#parts(age, metrics);
    return template(text, gaps, this.#values, this.#texts.bytes);
  }

  /** A HOST with metrics of that age or, without one, with a gap for each age. What has no value is left out. */
  #parts(age: number | undefined, metrics: readonly Metric[]): { text: Uint8Array; gaps: Uint32Array } {
    const first = this.#values.length - OPENING_VALUES;
    const gaps: number[] = [];
    let text = '';
    const gap = (before: string, place: number, digits: number, after = '') => {
      gaps.push(Buffer.byteLength(before), Buffer.byteLength(after), place, digits);
      text += before + after;
    };
    gap('<HOST NAME="', first + OPENING.name, TEXT_GAP);
    gap('" IP="', first + OPENING.address, TEXT_GAP);
    gap('" TAGS="" REPORTED="', first + OPENING.reported, 0);
    gap('" TN="', first + OPENING.tn, 0);
    gap(`"${UNCHANGING} GMOND_STARTED="`, first + OPENING.started, 0, '">\n');
    metrics.forEach((metric, place) => {
      const { name, type, units, tmax, slope, put, digits } = metric;
      const before = `"${attributes({ TYPE: type, UNITS: units })} TN="`;
      const after = `"${attributes({ TMAX: tmax, DMAX: 0, SLOPE: slope })}>\n${extrasOf(metric)}</METRIC>\n`;
      const value = (rest: string) =>
        gap(`<METRIC NAME="${name}" VAL="`, place, put === undefined ? digits : TEXT_GAP, rest);
      if (age !== undefined) value(`${before}${age}${after}`);
      else {
        value(before);
        gap('', this.metrics.length + place, 0, after);
      }
    });
    return { text: Buffer.from(`${text}</HOST>\n`), gaps: Uint32Array.from(gaps) };
  }

  /** Adds the node to a summary: a host that is down is counted as down and adds nothing else. */
  add(summary: Summary, snapshot: Snapshot, node: Node): void {
    const host = this.#host;
    host.layHost(snapshot, node);
    if (!host.isUp) {
      summary.down++;
      return;
    }
    summary.up++;
    this.#measures.read(host, host.bytes);
    for (let i = 0; i < this.metrics.length; i++) {
      const value = this.#values[i] as number;
      if (!isReading(value)) continue;
      summary.sums[i] = (summary.sums[i] as number) + value;
      summary.counts[i] = (summary.counts[i] as number) + 1;
    }
  }

  /** HOSTS, and METRICS for each metric that has numbers. */
  summary(page: Page, { up, down, sums, counts }: Summary): void {
    page.text(`<HOSTS${attributes({ UP: up, DOWN: down, SOURCE: 'gmetad' })}/>\n`);
    this.metrics.forEach((metric, i) => {
      const count = counts[i] as number;
      const sum = sums[i] as number;
      if (metric.type === 'string' || count === 0 || Math.abs(sum) > Number.MAX_SAFE_INTEGER) return;
      page.text(`<METRICS NAME="${metric.name}" SUM="`);
      page.decimal(sum, metric.digits);
      const rest = { NUM: count, TYPE: 'double', UNITS: metric.units, SLOPE: metric.slope, SOURCE: 'gmond' };
      page.text(`"${attributes(rest)}>\n${extrasOf(metric)}</METRICS>\n`);
    });
  }

  /** The greatest length of a summary, bytes. */
  get summaryMost(): number {
    return this.hostMost + this.metrics.length * 64;
  }
}

/** Whether METRICs are left out. */
export const NO_METRICS = (): boolean => false;

/** The sums over some hosts. */
export class Summary {
  up = 0;
  down = 0;
  readonly sums: Float64Array;
  readonly counts: Float64Array;

  constructor(metrics: number) {
    this.sums = new Float64Array(metrics);
    this.counts = new Float64Array(metrics);
  }

  add(other: Summary): void {
    this.up += other.up;
    this.down += other.down;
    other.sums.forEach((sum, i) => {
      this.sums[i] = (this.sums[i] as number) + sum;
    });
    other.counts.forEach((count, i) => {
      this.counts[i] = (this.counts[i] as number) + count;
    });
  }
}
