// Writes HOSTs and sums of HOSTs in Ganglia's format: prepared parts, and numbers between them. Pure: no clock, no I/O.
// Does not escape, and calls no node down without evidence.

import type { Page } from '../common/page.js';
import { structs } from '../layout/layout.gen.js';
import { isMeasured } from '../shm/rates.js';
import type { Node, Snapshot } from '../shm/reader.js';
import { attributes } from './dtd.js';
import { Host, TMAX } from './host.js';
import type { Metric } from './metrics.js';
import { NAME_MAX, safeOn, UNSPECIFIED, VALUE_MAX } from './safe.js';

/** The length of the longest number. */
const NUMBER_MAX = 24;
/** How many forms are kept: one for all hosts that are alike. */
const FORMS = 128;

const HOST_NAME = Buffer.from('<HOST NAME="');
const HOST_IP = Buffer.from('" IP="');
const HOST_REPORTED = Buffer.from('" TAGS="" REPORTED="');
const HOST_TN = Buffer.from('" TN="');
// Hosts that pass a DMAX are deleted, and gmetad 3.7.2 crashes when it deletes one.
const HOST_STARTED = Buffer.from(`"${attributes({ TMAX, DMAX: 0, LOCATION: UNSPECIFIED })} GMOND_STARTED="`);
const HOST_OPEN = Buffer.from('">\n');
const HOST_END = Buffer.from('</HOST>\n');
const NAMELESS = Buffer.from(UNSPECIFIED);

const { name: NAME, address: ADDRESS } = structs.record.fields;
const { valid: VALID } = structs.report.fields;

/**
 * The texts of a metric are the same for every host, because gmetad 3.7.2 aborts on more than 32 different extras of a
 * metric.
 */
function extrasOf({ group, title, description }: Metric): string {
  const elements = Object.entries({ GROUP: group, DESC: description, TITLE: title })
    .map(([extra, text]) => `<EXTRA_ELEMENT${attributes({ NAME: extra, VAL: text })}/>\n`)
    .join('');
  return `<EXTRA_DATA>\n${elements}</EXTRA_DATA>\n`;
}

/** Hosts with the same measured sets: mostly all nodes of one type. */
interface Kind {
  /** The metrics that these hosts can have. */
  readonly places: readonly number[];
  /** The form of the last of these hosts, its age, and its metrics. */
  form: Form | undefined;
  age: number;
  readonly shape: Int32Array;
}

/** The metrics of a host, and the texts between their values: one text more than metrics. */
interface Form {
  readonly places: readonly number[];
  readonly pieces: readonly Uint8Array[];
}

/** Writes hosts with these metrics. */
export class Renderer {
  readonly #host = new Host();
  /** What the metrics take from each host, each kind of value in one array: they are read 10,000 times a document. */
  readonly #take: readonly Metric['value']['take'][];
  readonly #put: readonly Metric['put'][];
  readonly #digits: readonly number[];
  readonly #values: Float64Array;
  /** One bit per metric: whether the host has it. */
  readonly #present: Int32Array;
  readonly #kinds = new Map<number, Kind>();
  readonly #forms = new Map<string, Form>();
  /** The length of the longest HOST, bytes. */
  readonly hostMost: number;

  constructor(readonly metrics: readonly Metric[]) {
    this.#take = metrics.map(({ value }) => value.take);
    this.#put = metrics.map(({ put }) => put);
    this.#digits = metrics.map(({ digits }) => digits);
    this.#values = new Float64Array(metrics.length);
    this.#present = new Int32Array(Math.ceil(metrics.length / 32));
    const all = this.#makeForm(Number.MAX_SAFE_INTEGER, () => true);
    const bytes = all.pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.hostMost = 512 + NAME_MAX + bytes + metrics.length * NUMBER_MAX + VALUE_MAX;
  }

  /**
   * One HOST. What was not measured is left out, because it is not 0. Without `has`, or if it is false, the METRICs are
   * left out, too.
   */
  host(page: Page, snapshot: Snapshot, node: Node, localtime: number, has?: (metric: Metric) => boolean): void {
    const host = this.#host;
    host.layHost(snapshot, node);
    this.#open(page, node, localtime);
    if (host.report === -1 || has === NO_METRICS) {
      page.part(HOST_END);
      return;
    }
    const kind = this.#kindOf(host);
    this.#measure(kind, has);
    const { places, pieces } = this.#formOf(kind, Math.floor(host.age));
    for (let i = 0; i < places.length; i++) {
      page.part(pieces[i] as Uint8Array);
      const place = places[i] as number;
      const put = this.#put[place];
      if (put === undefined) page.decimal(this.#values[place] as number, this.#digits[place] as number);
      else put(host, page);
    }
    page.part(pieces[places.length] as Uint8Array);
  }

  #open(page: Page, node: Node, localtime: number): void {
    const { bytes, record, tn, report } = this.#host;
    page.part(HOST_NAME);
    if (safeOn(page, bytes, record + NAME.offset, NAME.count, 'name') === 0) page.part(NAMELESS);
    page.part(HOST_IP);
    this.#address(page, node);
    page.part(HOST_REPORTED);
    // Not the wall-clock time of the report: ganglia-web compares it with LOCALTIME if TN is 0.
    page.whole(Math.max(0, localtime - tn));
    page.part(HOST_TN);
    page.whole(tn);
    page.part(HOST_STARTED);
    const started = report === -1 ? 0 : this.#host.wallSeconds('start');
    page.whole(Number.isNaN(started) ? 0 : started);
    page.part(HOST_OPEN);
  }

  #address(page: Page, node: Node): void {
    const { bytes, view, record } = this.#host;
    const at = record + ADDRESS.offset;
    // ::ffff:0:0/96, the board's form of an IPv4 address.
    const isV4 =
      view.getUint32(at, true) === 0 && view.getUint32(at + 4, true) === 0 && view.getUint32(at + 8) === 0xffff;
    if (!isV4) {
      page.text(node.address || UNSPECIFIED);
      return;
    }
    for (let i = 12; i < 16; i++) {
      if (i > 12) page.text('.');
      page.whole(bytes[at + i] as number);
    }
  }

  /** Reads the values, and notes which of them are known. */
  #measure({ places }: Kind, has?: (metric: Metric) => boolean): void {
    const values = this.#values;
    const present = this.#present;
    const host = this.#host;
    for (let i = 0; i < present.length; i++) present[i] = 0;
    for (const place of places) {
      const value = (this.#take[place] as Metric['value']['take'])(host);
      values[place] = value;
      // A comparison with NaN is false. A number beyond the exact range is not a reading.
      if (Math.abs(value) <= Number.MAX_SAFE_INTEGER && (has === undefined || has(this.metrics[place] as Metric)))
        present[place >>> 5] = (present[place >>> 5] as number) | (1 << (place & 31));
    }
  }

  #kindOf({ view, report, moving }: Host): Kind {
    const low = view.getUint32(report + VALID.offset, true);
    const high = view.getUint32(report + VALID.offset + 4, true);
    // 40 sets, and whether there are rates.
    const key = (high * 2 ** 32 + low) * 2 + Number(moving);
    let kind = this.#kinds.get(key);
    if (kind === undefined) {
      const places = [...this.metrics.keys()].filter(place => {
        const { set, rate } = (this.metrics[place] as Metric).value;
        return (set === undefined || isMeasured(view, report, set)) && (rate === undefined || moving);
      });
      kind = { places, form: undefined, age: -1, shape: new Int32Array(this.#present.length) };
      if (this.#kinds.size === FORMS) this.#kinds.clear();
      this.#kinds.set(key, kind);
    }
    return kind;
  }

  #formOf(kind: Kind, age: number): Form {
    const present = this.#present;
    if (kind.form !== undefined && kind.age === age && this.#isPresent(kind.shape)) return kind.form;
    const key = `${age} ${present.join(' ')}`;
    let form = this.#forms.get(key);
    if (form === undefined) {
      if (this.#forms.size === FORMS) this.#forms.clear();
      form = this.#makeForm(age, i => (((present[i >>> 5] as number) >>> (i & 31)) & 1) === 1);
      this.#forms.set(key, form);
    }
    kind.shape.set(present);
    kind.age = age;
    kind.form = form;
    return form;
  }

  #isPresent(shape: Int32Array): boolean {
    for (let i = 0; i < shape.length; i++) if (this.#present[i] !== shape[i]) return false;
    return true;
  }

  #makeForm(age: number, has: (place: number) => boolean): Form {
    const places = [...this.metrics.keys()].filter(has);
    const pieces: string[] = [];
    let before = '';
    for (const place of places) {
      const metric = this.metrics[place] as Metric;
      const { name, type, units, tmax, slope } = metric;
      pieces.push(`${before}<METRIC NAME="${name}" VAL="`);
      const rest = attributes({ TYPE: type, UNITS: units, TN: age, TMAX: tmax, DMAX: 0, SLOPE: slope });
      before = `"${rest}>\n${extrasOf(metric)}</METRIC>\n`;
    }
    return { places, pieces: [...pieces, `${before}</HOST>\n`].map(piece => Buffer.from(piece)) };
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
    this.#measure(this.#kindOf(host));
    for (let i = 0; i < this.metrics.length; i++) {
      if ((((this.#present[i >>> 5] as number) >>> (i & 31)) & 1) === 0) continue;
      summary.sums[i] = (summary.sums[i] as number) + (this.#values[i] as number);
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
