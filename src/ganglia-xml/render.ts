// Writes HOSTs and sums of HOSTs in Ganglia's format: prepared forms, and values in their gaps. Pure: no clock, no I/O.
// Does not escape, and calls no node down without evidence.

import { Page } from '../common/page.js';
import { structs } from '../layout/layout.gen.js';
import { printForm, TEXT_GAP } from '../native/index.js';
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

// Hosts that pass a DMAX are deleted, and gmetad 3.7.2 crashes when it deletes one.
const UNCHANGING = attributes({ TMAX, DMAX: 0, LOCATION: UNSPECIFIED });
const NAMELESS = Buffer.from(UNSPECIFIED);
/** The length of the longest address. */
const ADDRESS_MAX = 46;
/** The values that each HOST has besides its metrics; their places follow those of the metrics. */
const OPENING = { name: 0, address: 1, reported: 2, tn: 3, started: 4 };
const OPENING_VALUES = Object.keys(OPENING).length;

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

/** A HOST with some metrics, without its values. */
interface Form {
  /** Those metrics that are texts. */
  readonly texts: readonly number[];
  readonly text: Uint8Array;
  readonly gaps: Uint32Array;
}

/** Writes hosts with these metrics. */
export class Renderer {
  readonly #host = new Host();
  /** What the metrics take from each host, each kind of value in one array: they are read 10,000 times a document. */
  readonly #take: readonly Metric['value']['take'][];
  readonly #put: readonly Metric['put'][];
  /** The values of a host, and its texts: the value of a text is its end there. */
  readonly #values: Float64Array;
  readonly #texts: Page;
  /** One bit per metric: whether the host has it. */
  readonly #present: Int32Array;
  readonly #kinds = new Map<number, Kind>();
  readonly #forms = new Map<string, Form>();
  /** That of a host without metrics. */
  readonly #bare: Form;
  /** The length of the longest HOST, bytes. */
  readonly hostMost: number;

  constructor(readonly metrics: readonly Metric[]) {
    this.#take = metrics.map(({ value }) => value.take);
    this.#put = metrics.map(({ put }) => put);
    this.#values = new Float64Array(metrics.length + OPENING_VALUES);
    this.#texts = new Page(NAME_MAX + ADDRESS_MAX + metrics.filter(({ put }) => put !== undefined).length * VALUE_MAX);
    this.#present = new Int32Array(Math.ceil(metrics.length / 32));
    const all = this.#makeForm(Number.MAX_SAFE_INTEGER, () => true);
    this.hostMost = all.text.length + this.#values.length * NUMBER_MAX + this.#texts.room;
    this.#bare = this.#makeForm(0, () => false);
  }

  /**
   * One HOST. What was not measured is left out, because it is not 0. Without `has`, or if it is false, the METRICs are
   * left out, too.
   */
  host(page: Page, snapshot: Snapshot, node: Node, localtime: number, has?: (metric: Metric) => boolean): void {
    const host = this.#host;
    host.layHost(snapshot, node);
    this.#open(node, localtime);
    const form = host.report === -1 || has === NO_METRICS ? this.#bare : this.#measured(has);
    const texts = this.#texts;
    for (const place of form.texts) {
      this.#put[place]?.(host, texts);
      this.#values[place] = texts.length;
    }
    page.length += printForm(page.bytes, page.length, form.text, form.gaps, this.#values, texts.bytes, texts.length);
  }

  /** Reads the values of the opening. */
  #open(node: Node, localtime: number): void {
    const { bytes, record, tn, report } = this.#host;
    const values = this.#values;
    const texts = this.#texts;
    const first = this.metrics.length;
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

  /** Reads the values of the metrics; returns the form for them. */
  #measured(has?: (metric: Metric) => boolean): Form {
    const kind = this.#kindOf(this.#host);
    this.#measure(kind, has);
    return this.#formOf(kind, Math.floor(this.#host.age));
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
    const first = this.metrics.length;
    const gaps: number[] = [];
    let text = '';
    const gap = (before: string, place: number, digits: number) => {
      gaps.push(Buffer.byteLength(before), place, digits);
      text += before;
    };
    gap('<HOST NAME="', first + OPENING.name, TEXT_GAP);
    gap('" IP="', first + OPENING.address, TEXT_GAP);
    gap('" TAGS="" REPORTED="', first + OPENING.reported, 0);
    gap('" TN="', first + OPENING.tn, 0);
    gap(`"${UNCHANGING} GMOND_STARTED="`, first + OPENING.started, 0);
    let before = '">\n';
    for (const place of places) {
      const metric = this.metrics[place] as Metric;
      const { name, type, units, tmax, slope, put, digits } = metric;
      gap(`${before}<METRIC NAME="${name}" VAL="`, place, put === undefined ? digits : TEXT_GAP);
      const rest = attributes({ TYPE: type, UNITS: units, TN: age, TMAX: tmax, DMAX: 0, SLOPE: slope });
      before = `"${rest}>\n${extrasOf(metric)}</METRIC>\n`;
    }
    return {
      texts: places.filter(place => this.#put[place] !== undefined),
      text: Buffer.from(`${text}${before}</HOST>\n`),
      gaps: Uint32Array.from(gaps),
    };
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
