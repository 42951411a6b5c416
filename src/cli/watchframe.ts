// The screen of `status --watch` as lines, from what was seen and what is asked for. Pure.

import { type Column, layOut, sortField } from './columns.js';
import { nodePage } from './nodepage.js';
import { oddities } from './oddities.js';
import { clip, type Size, widthOf } from './screen.js';
import { type Comparison, inOrder, worstFirst } from './sorting.js';
import { headline, wrappedText } from './statustext.js';
import type { Painter } from './style.js';
import { isException, type Survey, type Surveyed } from './survey.js';
import { type Prompt, type Shown, settled, type View } from './watchstate.js';

/** A board that was seen, or why there was none. */
export type Seen =
  | { readonly absent: string }
  | {
      readonly found: Survey;
      /** Those that are to be shown, in their order. */
      readonly nodes: readonly Surveyed[];
      /** What is odd, in sentences. */
      readonly odd: readonly string[];
    };

export interface Appearance {
  readonly paint: Painter;
  readonly columns: readonly Column[] | undefined;
  /** What the columns have been as wide as: the table does not move from second to second. */
  readonly widths: Map<string, number>;
}

export interface Frame {
  readonly lines: string[];
  /** The view, with its selection where its node is. */
  readonly view: View;
  readonly shown: Shown;
}

export function oddTexts(found: Survey): string[] {
  return oddities(found).map(({ text }) => text);
}

/** A survey in the order, and of the nodes, that the view asks for. `odd`: what is odd, where that is known. */
export function seen(found: Survey, { sort, exceptions }: View, byName?: Comparison, odd = oddTexts(found)): Seen {
  const nodes = exceptions ? found.nodes.filter(isException) : found.nodes;
  const order = sort === undefined ? worstFirst(nodes, byName) : inOrder({ ...found, nodes }, sortField(sort), byName);
  return { found, nodes: order, odd };
}

const ODD_LINES = 3;
/** With less room than this for rows, what is odd is left out. */
const ROWS_LEAST = 4;

const HELP = `Keys
  q, Ctrl-C          quit
  s, S               sort by the next column, by the one before
  r                  reverse the order
  f                  filter: a condition (load > 10 && state == live) or a host
                     list (node[01-12]); an empty one shows all nodes again
  x                  only exceptions: nodes that are not live
  Up, Down, PageUp, PageDown, Home, End    select a node
  Enter              the selected node with all of its fields; Esc or q goes back
  Ctrl-L             draw everything again
  Ctrl-Z             stop; fg goes on

The selection stays with its node; on the first row it is whichever is first,
and another order begins there.
Readings in brackets are the last known ones of a node that is not live, and
- was not measured. beoboard status --help tells what the states mean, and
beoboard describe what the fields do.`.split('\n');

/** The beginning and the end of a line, as far apart as there is room; where there is none the end is left out. */
function ends(left: string, right: string, columns: number): string {
  const gap = columns - widthOf(left) - widthOf(right);
  return gap > 0 ? `${left}${' '.repeat(gap)}${right}` : left;
}

function legend(right: string, columns: number): string {
  const long = 'q quit  s/S sort  r reverse  f filter  x exceptions  Enter node  ? help';
  const short = 'q quit  s sort  f filter  ? help';
  return ends(long.length + right.length < columns ? long : short, right, columns);
}

const reversed = (text: string) => `\x1b[7m${text}\x1b[27m`;

/** What is being written, around its cursor, and what is wrong with it. */
function promptLine({ text, at, wrong }: Prompt, columns: number, paint: Painter): string {
  const label = 'filter: ';
  const room = Math.max(1, (wrong === undefined ? columns : Math.floor(columns / 3)) - label.length - 1);
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), text.length - room));
  const before = text.slice(from, at);
  const after = text.slice(at + 1, from + room);
  const line = `${label}${before}${reversed(text[at] ?? ' ')}${after}`;
  if (wrong !== undefined) return `${line}  ${paint.odd(wrong)}`;
  return text === '' ? `${line} a condition, a host list, or nothing for all nodes; Esc cancels` : line;
}

/** What is not shown, in words. */
function restrictions({ filter: { where, list }, exceptions }: View): string[] {
  const parts = [
    ...(list ? [list.text] : []),
    ...(where ? [`where ${where.text}`] : []),
    ...(exceptions ? ['what is not live'] : []),
  ];
  return parts.length === 0 ? [] : [`only ${parts.join(', ')}`];
}

/** Lines in exactly as many as there are, the last one at the bottom. */
function filled(lines: readonly string[], last: string, rows: number): string[] {
  const above = lines.slice(0, Math.max(0, rows - 1));
  return [...above, ...Array.from({ length: Math.max(0, rows - 1 - above.length) }, () => ''), last];
}

const cutTo = (lines: readonly string[], most: number) =>
  lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more lines; beoboard status shows all`];

/** The page that the view asks for. */
export function frame(view: View, now: Seen, { columns, rows }: Size, look: Appearance): Frame {
  const { paint } = look;
  const bottom = (line: string) => (view.prompt ? promptLine(view.prompt, columns, paint) : line);
  const page = (lines: readonly string[], last: string, shown: Partial<Shown> = {}, next = view): Frame => ({
    lines: filled(lines, bottom(last), rows),
    view: next,
    shown: { nodes: [], room: Math.max(0, rows - 3), columns: [], ...shown },
  });
  if (view.page === 'help') return page(HELP, 'any key goes back');
  if ('absent' in now) return page([paint.odd(`no board: ${now.absent}`), 'waiting for it'], 'q quit  ? help');
  const { found, nodes } = now;
  if (view.page === 'node') {
    const surveyed = found.all.find(({ name }) => name === view.selected.name);
    const back = 'q, Esc back';
    if (surveyed === undefined) return page([`${view.selected.name} is not on the board`], back);
    const { head, lines } = nodePage(found.snapshot.node(surveyed.index), paint);
    const room = Math.max(0, rows - head.length - 1);
    const scrolled = Math.max(0, Math.min(view.scrolled, lines.length - room));
    const where = `${scrolled + 1}-${Math.min(lines.length, scrolled + room)} of ${lines.length}`;
    const last = ends(`${back}  Up, Down, PageUp, PageDown`, where, columns);
    return page([...head, ...lines.slice(scrolled, scrolled + room)], last, { room }, { ...view, scrolled });
  }

  const summary = wrappedText(headline(found), columns).split('\n').slice(0, 2);
  const odd = cutTo(
    now.odd.flatMap(text => wrappedText(text, columns).split('\n')),
    ODD_LINES,
  ).map(line => paint.odd(line));
  const only = restrictions(view);
  const around = summary.length + only.length + 2;
  const top = [...summary, ...(rows - around - odd.length >= ROWS_LEAST ? odd : []), ...only];
  const room = Math.max(0, rows - top.length - 2);
  const next = settled(view, { nodes, room });
  const visible = nodes.slice(next.top, next.top + room);
  const cells = layOut(
    visible.map(({ index, state, ails }) => ({ node: found.snapshot.node(index), state, ails: ails !== 0 })),
    { columns: look.columns, width: columns, widths: look.widths },
  );
  const [titles = [], ...body] = cells;
  const sorted = (view.sort ?? 'state').replace(/^-/, '');
  const title = titles.map(({ text, column }) => (column === sorted ? reversed(text) : text)).join('  ');
  const drawn = body.map((row, i) => {
    const line = row.map(({ text, state }) => (state ? paint.state(state, text) : text)).join('  ');
    if (next.top + i !== next.selected.row) return line;
    const fitting = clip(line, columns);
    return reversed(fitting + ' '.repeat(Math.max(0, columns - widthOf(fitting))));
  });
  const none =
    view.exceptions && found.nodes.length > 0
      ? 'all is well: every node is live, and nothing ails any'
      : 'no node to show';
  const where = nodes.length === 0 ? '' : `${next.top + 1}-${next.top + visible.length}/${nodes.length}`;
  return page(
    [...top, ...(nodes.length === 0 ? [none] : [paint.title(title), ...drawn])],
    legend(where, columns),
    { nodes, room, columns: titles.flatMap(({ column }) => (column === undefined ? [] : [column])) },
    next,
  );
}
