// Parses the documents for Prometheus, and refuses whatever Prometheus or promtool might refuse, and a little more: the
// oracle of the exporter's tests. No test of its own.

import type { Format } from '../../src/prometheus/plan.js';

interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Exposed {
  readonly type: string;
  readonly help: string;
  readonly series: readonly Series[];
}

/** A document, by the names of its families. */
export type Exposition = ReadonlyMap<string, Exposed>;

const TYPES: Readonly<Record<Format, RegExp>> = {
  text: /^(gauge|counter|untyped)$/,
  openmetrics: /^(gauge|counter|unknown)$/,
};
const METRIC = /^[a-z][a-z0-9_]*$/;
/** Words that promtool refuses in names: units that are not base units, and types. */
const NO_WORDS =
  /^(milliseconds?|microseconds?|nanoseconds?|minutes?|hours?|days?|(kilo|mega|giga|kibi|mebi|gibi)(bytes?|bits?)|bits?|percent|fahrenheit|kelvin|calories?|gauge|counter|untyped|summary|histogram|metric)$/;
const NO_ENDING = /_(s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d|mib|kib|pct|pm|bucket|count|sum|created)$/;
const BASE_UNIT = /_(seconds|bytes|celsius|watts|ratio|volts|joules)_/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;

/** What is wrong with a name, by promtool's rules and by ours. */
function lint(name: string, type: string): string | undefined {
  if (!METRIC.test(name)) return 'no name';
  if (type === 'counter' && !name.endsWith('_total')) return 'a counter without _total';
  if (type !== 'counter' && name.endsWith('_total')) return 'a _total that is no counter';
  const plain = name.replace(/_total$/, '');
  if (NO_ENDING.test(plain)) return 'a short unit, or an ending of a histogram';
  if (plain.split('_').some(word => NO_WORDS.test(word))) return 'no base unit, or a type';
  if (BASE_UNIT.test(`${plain}`)) return 'a unit that is not at the end';
  return undefined;
}

/** The labels of a sample between its braces. */
function labelsOf(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const pair = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
  while (pair.lastIndex < text.length) {
    const [, name = '', value = '', comma] = pair.exec(text) ?? [];
    if (name === '' || (comma === ',' && pair.lastIndex === text.length)) throw new Error(`labels: ${line}`);
    if (name.startsWith('__') || name in labels) throw new Error(`label ${name}: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

/** A series as one text, independent of the order of its labels. */
export function keyOf({ name, labels }: Pick<Series, 'name' | 'labels'>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${pairs.sort().join()}}`;
}

/** Parses a document. Throws if a line is invalid, or if Prometheus would read it differently. */
export function parse(bytes: Uint8Array | string, format: Format): Exposition {
  const text = typeof bytes === 'string' ? bytes : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (text !== '' && !text.endsWith('\n')) throw new Error(`no newline at the end: ${text.slice(-100)}`);
  const lines = text.split('\n').slice(0, -1);
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('no # EOF at the end');
  const families = new Map<string, { type: string; help: string; series: Series[] }>();
  const seen = new Set<string>();
  let current = '';
  let help: string | undefined;
  for (const line of lines) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/s.exec(line) ?? [];
    if (word === 'HELP') {
      if (help !== undefined || families.get(current)?.series.length === 0)
        throw new Error(`a head without samples: ${line}`);
      if (families.has(name)) throw new Error(`a family twice: ${line}`);
      if (!(format === 'text' ? /^([^\\]|\\[\\n])+$/ : /^([^\\"]|\\[\\n"])+$/).test(rest))
        throw new Error(`help: ${line}`);
      [current, help] = [name, rest];
    } else if (word === 'TYPE') {
      if (help === undefined || name !== current || !TYPES[format].test(rest)) throw new Error(`type: ${line}`);
      families.set(name, { type: rest, help, series: [] });
      help = undefined;
    } else {
      // No timestamp after the value: Prometheus would show the last value of a dead node for five minutes more.
      const [, of = '', labels = '', value = ''] = /^([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})? (\S+)$/s.exec(line) ?? [];
      const family = families.get(current);
      const suffix = format === 'openmetrics' && family?.type === 'counter' ? '_total' : '';
      if (family === undefined || help !== undefined || of !== current + suffix) throw new Error(`sample: ${line}`);
      if (!NUMBER.test(value)) throw new Error(`value: ${line}`);
      const series = { name: of, labels: labelsOf(labels, line), value: Number(value) };
      const key = keyOf(series);
      if (seen.has(key)) throw new Error(`a series twice: ${line}`);
      seen.add(key);
      family.series.push(series);
    }
  }
  if (help !== undefined || families.get(current)?.series.length === 0)
    throw new Error(`a head without samples: ${current}`);
  for (const [name, { type }] of families) {
    const wrong = lint(format === 'openmetrics' && type === 'counter' ? `${name}_total` : name, type);
    if (wrong !== undefined && name.startsWith('beoboard_')) throw new Error(`${name}: ${wrong}`);
  }
  return families;
}

/** All series of a document, by name and labels. */
export function seriesOf(document: Exposition): Map<string, number> {
  return new Map([...document.values()].flatMap(({ series }) => series.map(one => [keyOf(one), one.value] as const)));
}
