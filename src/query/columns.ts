// The columns of the table: their titles, how a value is shown, and which columns fit into a terminal.

import { entryReadings } from '../readings/entries.js';
import type { Reading } from '../readings/measures.js';
import { meantReading, pressures, readingOf } from '../readings/readings.js';
import { timeOf } from '../shm/sentences.js';
import type { Node } from '../shm/snapshot.js';
import { formatDuration } from '../text/durations.js';
import { cutTo, fitting, inColumn, NOTHING, widest } from '../text/layout.js';
import { didYouMean, InputError, oneLine, quote } from '../text/text.js';

export interface Column {
  readonly name: string;
  readonly title: string;
  readonly spoken: string;
  /** Texts are aligned left, numbers right. */
  readonly left?: boolean;
  /** Whether it is a reading, which is shown in brackets when it is old. */
  readonly reading?: boolean;
  readonly field: Reading;
  readonly show: (value: number) => string;
  /** What is shown for a node; undefined when there is nothing to show. */
  readonly text: (node: Node) => string | undefined;
}

const SIZES = ['', 'K', 'M', 'G', 'T', 'P', 'E'];

/** At most five characters: 0, 12K, 1.5M. */
export function short(value: number): string {
  let [rest, unit] = [value, 0];
  while (rest >= 999.5 && unit < SIZES.length - 1) [rest, unit] = [rest / 1000, unit + 1];
  return `${rest < 9.95 && unit > 0 ? rest.toFixed(1) : Math.round(rest)}${SIZES[unit]}`;
}

const percent = (value: number) => `${Math.round(value)}%`;
const time = (seconds: number) => formatDuration(seconds * 1000);

/** A time that is nearly always some milliseconds, and may be hours. */
function fine(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  return ms < 10_000 ? `${ms}ms` : formatDuration(ms);
}

/** The difference of a clock, always with its sign. */
function signed(seconds: number): string {
  return `${Math.round(seconds * 1000) < 0 ? '-' : '+'}${fine(Math.abs(seconds))}`;
}

function column(
  name: string,
  title: string,
  spoken: string,
  show: (value: number) => string,
  more: Partial<Column> = { reading: true },
): Column {
  const field = readingOf(name) as Reading;
  const text = (node: Node) => {
    const value = field.value(node);
    return value === undefined ? undefined : typeof value === 'string' ? oneLine(value) : show(value);
  };
  return { name, title, spoken, field, show, text, ...more };
}

/** The largest pressure and its resource: `34%io`. */
function pressure(node: Node): string | undefined {
  const [most] = pressures(node).sort((a, b) => b[1] - a[1]);
  return most === undefined ? undefined : most[1] < 0.5 ? '0%' : `${percent(most[1])}${most[0]}`;
}

/** Where nobody proves a key, the column is left out. */
function provedKey(node: Node): string | undefined {
  const key = readingOf('key')?.value(node);
  return key === 'none' ? undefined : (key as string);
}

/** Since when it is in its state, as a time of day. */
function since(node: Node): string | undefined {
  const seconds = readingOf('since')?.value(node);
  return seconds === undefined ? undefined : timeOf(node.snapshot, Number(seconds) * 1000);
}

/** In the order in which they are shown. */
export const COLUMNS: readonly Column[] = [
  column('name', 'NODE', 'node', String, { left: true }),
  column('state', 'STATE', 'state', String, { left: true }),
  { ...column('since', 'SINCE', 'since', time, {}), text: since },
  column('age', 'AGE', 'last heard', time, {}),
  column('load', 'LOAD', 'load', load => (load < 999.5 ? load.toFixed(load < 99.995 ? 2 : 0) : short(load))),
  column('cpus', 'CPUS', 'CPUs', String),
  column('cpu', 'CPU', 'CPU', percent),
  column('mem', 'MEM', 'memory', percent),
  column('swap', 'SWAP', 'swap', percent),
  column('in', 'IN/s', 'network in per second', short),
  column('out', 'OUT/s', 'network out per second', short),
  column('disk', 'DISK/s', 'disk per second', short),
  { ...column('pressure', 'WAIT', 'waiting', percent), text: pressure },
  column('gpu', 'GPU', 'GPU', percent),
  column('up', 'UP', 'up for', time),
  column('skew', 'SKEW', 'clock off by', signed),
  column('delay', 'DELAY', 'reports late by', fine),
  column('lost', 'LOST', 'reports lost', short, {}),
  column('link', 'LINK', 'by', String, { left: true }),
  column('problems', 'PROBLEMS', 'problems', String, { left: true }),
  column('why', 'WHY', 'its reports are', String, { left: true }),
  { ...column('key', 'KEY', 'key', String, { left: true }), text: provedKey },
];

/** The columns that are left out first when there is no room for all. */
const PRIORITY =
  'name state since problems why key load cpu mem in out up disk pressure gpu swap age skew delay lost cpus link'.split(
    ' ',
  );
/** The same where nobody knows since when: nothing is known of nodes, or the board remembers nothing. */
const WITHOUT_SINCE = PRIORITY.filter(name => name !== 'age').map(name => (name === 'since' ? 'age' : name));

function ofField(field: Reading): Column {
  const { name, isText = false, words } = field;
  const show = (value: number) => words?.[value] ?? (Number.isInteger(value) ? String(value) : value.toFixed(2));
  return { ...column(name, name, name, show), left: isText };
}

/** The columns of `-o load,cpu,mem_avail_mib`; the name is always the first. Throws an InputError. */
export function chosenColumns(names: readonly string[]): Column[] {
  const chosen = names.map(name => {
    const known = COLUMNS.find(other => other.name === name);
    if (known !== undefined) return known;
    const field = readingOf(name);
    if (field !== undefined) return ofField(field);
    refuseEach(name);
    const some = `write some of ${COLUMNS.map(other => other.name).join(',')}`;
    const hint = didYouMean(meantReading(name), some);
    throw new InputError(`there is no column ${quote(name)}; ${hint}`);
  });
  return [COLUMNS[0] as Column, ...chosen.filter(({ name }) => name !== 'name')];
}

/** Refuses a field that a report has several of: one entry has to be named. Throws an InputError. */
function refuseEach(name: string): void {
  const each = entryReadings().get(name);
  if (each === undefined) return;
  const first = name.replace(each.list, `${each.list}.0`);
  const byName = each.list === 'net' ? ` or ${name.replace('net', 'net.eth0')}` : '';
  throw new InputError(`${name} belongs to each of several; write ${first}${byName}`);
}

/** What to sort by: the largest first unless `upward`. */
export interface Sorting {
  readonly field: Reading;
  readonly upward: boolean;
}

/** The field to sort by; a minus before it reverses the order. Throws an InputError. */
export function sortField(text: string): Sorting {
  const name = text.replace(/^-/, '');
  const field = readingOf(name);
  if (field === undefined) {
    refuseEach(name);
    const hint = didYouMean(meantReading(name), 'beoboard describe lists them');
    throw new InputError(`there is no field ${quote(name)}; ${hint}`);
  }
  // Numbers from the largest, texts from a to z.
  return { field, upward: (field.isText === true) !== text.startsWith('-') };
}

/** A long name, of a node, or of users and jobs on it, is rare and must not push everything else off the screen. */
const NAME_LEAST = 16;
const NAME_SHARE = 0.3;

/** A column that does not come from the board: what another program says about a node. */
export type ExtraColumn = Pick<Column, 'name' | 'title' | 'left' | 'reading' | 'text'>;

interface TableLayout {
  /** Columns that are placed after the state, or after the names if the state was not asked for. */
  readonly extra?: readonly ExtraColumn[] | undefined;
  /** The width of the table; undefined: as wide as it needs. */
  readonly columns?: readonly Column[] | undefined;
  readonly width: number;
  /** The widest that each column has been, by name. A table that is shown again and again keeps these widths. */
  readonly widths?: Map<string, number>;
}

interface Cell {
  readonly text: string;
  /** The state that the cell names; `unhealthy`: the cell belongs to a node with a problem. */
  readonly state?: string;
  readonly column?: string;
}

/** The cells of a table in the columns that fit, each padded to its column's width; the first row holds the titles. */
export function layOut(
  nodes: readonly { node: Node; state: string; problems?: boolean | number }[],
  { columns, extra = [], width, widths }: TableLayout,
): Cell[][] {
  const all: ExtraColumn[] = [...(columns ?? COLUMNS)];
  all.splice(Math.max(1, all.findIndex(({ name }) => name === 'state') + 1), 0, ...extra);
  const texts = all.map(column => {
    const cells = nodes.map(({ node, state, problems }) => {
      const text = column.name === 'state' ? `${state}${problems ? '!' : ''}` : column.text(node);
      if (text === undefined) return NOTHING;
      return column.reading && state !== 'live' ? `[${text}]` : text;
    });
    const isName = column.name === 'name' || extra.includes(column);
    const most = isName ? Math.max(NAME_LEAST, Math.floor(width * NAME_SHARE)) : width;
    const shown = cells.map(text => cutTo(text, most));
    const before = widths?.get(column.name) ?? 0;
    const wide = Math.max(before, widest([column.title, ...shown]));
    widths?.set(column.name, wide);
    return { column, cells: shown, isLeft: column.left, wide };
  });
  const isSince = texts.some(({ column, cells }) => column.name === 'since' && cells.some(cell => cell !== NOTHING));
  const [name = '', state = '', ...rest] = isSince ? PRIORITY : WITHOUT_SINCE;
  const inOrder = [name, state, ...extra.map(column => column.name), ...rest];
  // A column that no node has a value for is left out, and so is one for which there is no room, unless it was asked for.
  const known = texts
    .map(of => ({ ...of, leaves: inOrder.indexOf(of.column.name) }))
    .filter(({ leaves, cells }) => leaves >= 0 && cells.some(cell => cell !== NOTHING));
  const shown = columns === undefined ? fitting(known, width, true) : texts;
  return [
    shown.map(of => ({ text: inColumn(of.column.title, of), column: of.column.name })),
    ...nodes.map(({ state, problems }, row) =>
      shown.map(of => ({
        text: inColumn(of.cells[row] ?? NOTHING, of),
        ...(of.column.name === 'state' ? { state: problems ? 'unhealthy' : state } : {}),
      })),
    ),
  ];
}
