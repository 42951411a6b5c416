// The screen of `status --watch` as lines, made from what was seen and what is asked for. Pure.

import type { TroubleInfo } from '../acks/info.js';
import type { EventFeed } from '../events/eventfeed.js';
import { schedulerColumns, schedulerSection } from '../jobs/schedulernode.js';
import type { Grouping } from '../options/options.js';
import { nodeSheet } from '../presentation/nodesheet.js';
import type { KeptEvent } from '../presentation/shapes.js';
import { headline, lookMs } from '../presentation/summary.js';
import { inTimes, sharedTexts, timeText } from '../presentation/troublelines.js';
import { COLUMNS, type Column, type ExtraColumn, layOut, sortField } from '../query/columns.js';
import { groupLines, groups, labelOf, meansShown, type NodeGroup } from '../query/groups.js';
import { type Comparison, inOrder, worstFirst } from '../query/sorting.js';
import { isException, type Survey, type Surveyed } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { STATES } from '../shm/liveness.js';
import { wallTime } from '../shm/sentences.js';
import { clip, type Size } from '../terminal/screen.js';
import type { Painter } from '../terminal/style.js';
import { NameRanges } from '../text/hostlists.js';
import { widthOf } from '../text/layout.js';
import { type Repeats, repeatsOf, repeatsText } from '../text/repeats.js';
import { oneLine } from '../text/text.js';
import type { CommandOptions } from './commandline.js';
import {
  areFolded,
  type FoldedState,
  foldedLines,
  foldStates,
  totalsLines,
  unmatched,
  wrappedText,
} from './statustext.js';
import { troubleLines } from './troublelist.js';
import type { JobsSeen } from './watchjobs.js';
import { rackLines } from './watchracks.js';
import { type Prompt, placed, type ShownScreen, settled, type WatchRow, type WatchView, within } from './watchstate.js';
import { cutEnd, troublePage as linePage, troubleTable } from './watchtrouble.js';

/** A board that was seen, or the reason why there was none. */
export type BoardSeen =
  | { readonly absent: string; readonly atMs?: number }
  | {
      readonly found: Survey;
      readonly body: Body;
      readonly trouble: readonly TroubleInfo[];
      /** What happened, the newest last, and where that is known from. */
      readonly events: { readonly kept: readonly KeptEvent[]; readonly from: EventFeed['from'] };
      /** What all nodes have, use and move together, as parts of a sentence. */
      readonly totals: readonly string[];
      readonly jobs: JobsSeen;
      readonly slurm?: SchedulerView;
    };

/** The rows in their order; `none`: why there are none. */
type Body =
  | { readonly kind: 'nodes'; readonly nodes: readonly Surveyed[] }
  | { readonly kind: 'folded'; readonly states: readonly FoldedState[] }
  | { readonly kind: 'groups'; readonly groups: readonly NodeGroup[] }
  | { readonly kind: 'none'; readonly none: string };

export interface Appearance {
  readonly paint: Painter;
  readonly columns: readonly Column[] | undefined;
  /** The widest that each column has been, so that the table does not jump from second to second. */
  readonly widths: Map<string, number>;
  /** What the command line asks for, in the texts of its options; the view may ask for something else by now. */
  readonly asked?: CommandOptions | undefined;
  /** The address under which browsers see the same. */
  readonly page?: string | undefined;
  /** Whether jobs have columns of their own. */
  readonly jobs?: boolean;
}

interface WatchFrame {
  readonly lines: string[];
  /** The view, with the selection on the row of its node. */
  readonly view: WatchView;
  readonly shown: ShownScreen;
}

/** The groups in the order of their states, as in a table of nodes, or of their means. */
function grouped(found: Survey, grouping: Grouping, { sort, exceptions }: WatchView): Body {
  const byState = sort === 'state' || sort === '-state';
  const formed = groups(found, grouping, byState ? undefined : sort);
  if (formed.length > 0 && formed.every(({ name }) => name === undefined))
    return { kind: 'none', none: unmatched(grouping) };
  const all = exceptions ? formed.filter(({ nodes }) => nodes.some(isException)) : formed;
  return { kind: 'groups', groups: sort === '-state' ? all.reverse() : all };
}

/** What the view asks of a survey. `byName`: the order of the names, if it was kept. */
export function bodyOf(found: Survey, view: WatchView, grouping: Grouping | undefined, byName?: Comparison): Body {
  const { sort, exceptions, long } = view;
  if (view.grouped && grouping !== undefined) return grouped(found, grouping, view);
  const nodes = exceptions ? found.nodes.filter(isException) : found.nodes;
  if (areFolded(nodes.length, { sort, long })) return { kind: 'folded', states: foldStates(found.snapshot, nodes) };
  const order = sort === undefined ? worstFirst(nodes, byName) : inOrder({ ...found, nodes }, sortField(sort), byName);
  return { kind: 'nodes', nodes: order };
}

/** The list of trouble has so many lines, or a quarter of the screen; and what changed so many, or a tenth. */
const TROUBLE_LINES = 6;
const CHANGED_LINES = 2;
/** If fewer rows than this fit, what changed is left out, then the totals, then lines of trouble. */
const ROWS_LEAST = 4;
/** Of so many events the last ones are told beside the table. */
const CHANGED_AMONG = 50;

const HELP = `Keys
  q, Ctrl-C          quit
  s, S               sort by the next column, by the previous one
  1 to 9             sort by that column; once more: the other way round
  r                  reverse the order
  f                  filter: a condition (load > 10 && state == live), a host list
                     (node[01-12]), a part of names, a job, a user, a state, a
                     problem; an empty one shows all nodes again
  x                  only exceptions: nodes that are not live
  j                  the job of the selected node, or of a number (beoboard jobs)
  Tab                from the table to the list of trouble, and back. There, Up and
                     Down choose a line: Enter shows its nodes, Esc all again; j its
                     job, e what changed until then, c its list, and how to
                     acknowledge it
  o                  the list of trouble alone
  e                  what changed, the newest first, of the nodes of the filter
  l                  rows, or host lists where there are more than 40 nodes
  g                  with --by: groups, or all nodes; Enter opens a group
  Up, Down, PageUp, PageDown, Home, End    select a node
  Enter              the selected node on a page of its own (beoboard show);
                     Esc or q goes back
  Ctrl-L, Ctrl-Z     redraw the screen; suspend, and fg resumes

The selection follows its node; on the first row it stays at the top, whichever
node is first. A new order begins at the top.
In the list, ! is critical, * a warning, . a notice.
Values in brackets are the last known ones of a node that is not live; - was
not measured. beoboard status --help explains the states, and beoboard describe
the fields.`.split('\n');

/** The beginning and the end of a line, as far apart as possible; if they do not fit, the end is left out. */
function ends(left: string, right: string, columns: number): string {
  const gap = columns - widthOf(left) - widthOf(right);
  return gap > 0 && right !== '' ? `${left}${' '.repeat(gap)}${right}` : left;
}

/** What Enter or another key does on this screen. */
const OPENS = { nodes: 'Enter node', folded: 'l rows', groups: 'Enter group', none: '' } as const;

/** The keys in the last line: as many as have room, ? always. */
function legend(kind: Body['kind'], { outer, cursor }: WatchView, right: string, columns: number): string {
  const keys =
    cursor === undefined
      ? [OPENS[kind], outer ? 'Esc back' : '', 'o all', 'e changed', 'j job', 'Tab trouble', 's sort', 'f filter']
      : ['Enter nodes', 'o all', 'e changed', 'j job', 'c list, ack', 'Tab table', 'f filter'];
  const more = cursor === undefined ? ['x exceptions', 'r reverse'] : [];
  let all = ['q quit', ...keys, ...more].filter(Boolean);
  const line = () => [...all, '? help'].join('  ');
  // Where words have no room, the keys are named alone.
  const isNarrow = ['q quit', ...keys.slice(0, 6), '? help'].join('  ').length > columns;
  if (isNarrow) all = all.map(key => key.slice(0, key.indexOf(' ')));
  while (all.length > 1 && line().length + right.length >= columns) all.pop();
  return ends(line(), right, columns);
}

const reversed = (text: string) => `\x1b[7m${text}\x1b[27m`;

/** The text that is being written, around its cursor, and what is wrong with it. */
function promptLine({ text, at, wrong, jobs }: Prompt, columns: number, paint: Painter): string {
  const label = jobs === undefined ? 'filter: ' : 'job: ';
  const room = Math.max(1, (wrong === undefined ? columns : Math.floor(columns / 3)) - label.length - 1);
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), text.length - room));
  const before = text.slice(from, at);
  const after = text.slice(at + 1, from + room);
  const line = `${label}${before}${reversed(text[at] ?? ' ')}${after}`;
  if (wrong !== undefined) return `${line}  ${paint.odd(wrong)}`;
  if (text !== '') return line;
  if (jobs === undefined) return `${line} nodes, a part of names, a job, user, state or condition; Esc cancels`;
  return `${line} its number${jobs.length > 0 ? `, as ${jobs.map(oneLine).join(', ')} here` : ''}; Esc cancels`;
}

function restrictions({ filter: { where, list }, exceptions }: WatchView): string[] {
  const parts = [
    ...(list ? [list.text] : []),
    ...(where ? [`where ${where.text}`] : []),
    ...(exceptions ? ['what is not live'] : []),
  ];
  return parts.length === 0 ? [] : [`only ${parts.join(', ')}`];
}

/** Exactly as many lines as the screen has, the last one at the bottom. */
function filled(lines: readonly string[], last: string, rows: number): string[] {
  const above = lines.slice(0, Math.max(0, rows - 1));
  return [...above, ...Array.from({ length: Math.max(0, rows - 1 - above.length) }, () => ''), last];
}

/** What the view asks for, in the texts of options. */
function askedBy(
  { filter: { where, list }, sort, exceptions, grouped }: WatchView,
  { asked = {} }: Appearance,
): CommandOptions {
  const by = grouped ? asked.by : undefined;
  return { ...asked, nodes: list?.text, where: where?.text, by, sort, exceptions };
}

/** The visible rows; the title of the column that they are sorted by is in reverse video. */
interface VisibleRows {
  readonly title: string;
  readonly lines: readonly string[];
  readonly columns: readonly string[];
}

const sortedBy = ({ sort }: WatchView) => (sort ?? 'state').replace(/^-/, '');

function nodeTable(
  { snapshot }: Survey,
  visible: readonly Surveyed[],
  view: WatchView,
  width: number,
  { columns, widths, paint }: Appearance,
  extra: readonly ExtraColumn[] = [],
): VisibleRows {
  const nodes = visible.map(one => ({ ...one, node: snapshot.node(one.index) }));
  const [titles = [], ...cells] = layOut(nodes, { columns, extra, width, widths });
  const sorted = sortedBy(view);
  return {
    title: titles.map(({ text, column }) => (column === sorted ? reversed(text) : text)).join('  '),
    lines: cells.map(row => row.map(({ text, state }) => (state ? paint.state(state, text) : text)).join('  ')),
    // Columns that do not come from the board cannot be sorted by.
    columns: titles.flatMap(({ column }) =>
      column === undefined || extra.some(({ name }) => name === column) ? [] : [column],
    ),
  };
}

function groupTable(
  { snapshot }: Survey,
  visible: readonly NodeGroup[],
  view: WatchView,
  width: number,
  { columns }: Appearance,
): VisibleRows {
  const [titles = '', ...lines] = groupLines(snapshot, visible, { columns, width });
  const means = meansShown(columns);
  const sorted = means.find(({ name }) => name === sortedBy(view))?.title;
  return {
    title: sorted === undefined ? titles : titles.replace(` ${sorted}`, ` ${reversed(sorted)}`),
    lines,
    columns: means.map(({ name }) => name),
  };
}

/** The width of a clock time; the present one stands at the right of the first line. */
const CLOCK = '14:03:21'.length;

/** Empty: nobody has looked yet. */
const clockAt = (ms: number | undefined) => (ms === undefined ? '' : wallTime(ms).slice(11));

/** The numbers of states in the line that sums up that are trouble. */
const COUNTED = new RegExp(`\\d+ (${[...STATES, 'unhealthy'].filter(state => state !== 'live').join('|')})\\b`, 'g');

/** The line that sums up, with room for the time. */
const summaryLines = (found: Survey, columns: number, paint: Painter) =>
  wrappedText(headline(found), Math.max(CLOCK, columns - CLOCK - 2))
    .split('\n')
    .slice(0, 2)
    .map(line => line.replace(COUNTED, (text, state) => paint.state(state, text)));

/** If the screen has fewer rows than this, the address is left out. */
const ADDRESS_ROWS = 4;

/** The screen that the view asks for; whatever it shows, its first line is the address for browsers, if there is one. */
export function frame(view: WatchView, now: BoardSeen, size: Size, look: Appearance): WatchFrame {
  const { page } = look;
  if (page === undefined || size.rows < ADDRESS_ROWS) return screenful(view, now, size, look);
  const below = screenful(view, now, { ...size, rows: size.rows - 1 }, look);
  const words = `in a browser: ${page}`;
  return { ...below, lines: [words.length <= size.columns ? words : page, ...below.lines] };
}

type Framer = (lines: readonly string[], last: string, shown?: Partial<ShownScreen>, next?: WatchView) => WatchFrame;
type Present = Exclude<BoardSeen, { absent: string }>;

function screenful(view: WatchView, now: BoardSeen, size: Size, look: Appearance): WatchFrame {
  const { paint } = look;
  const { columns, rows } = size;
  const bottom = (line: string) => (view.prompt ? promptLine(view.prompt, columns, paint) : line);
  const time = clockAt('absent' in now ? now.atMs : lookMs(now.found.snapshot));
  const page: Framer = ([first = '', ...others], last, shown = {}, next = view) => ({
    lines: filled([ends(first, time, columns), ...others], bottom(last), rows),
    view: next,
    shown: { rows: [], room: Math.max(0, rows - 3), columns: [], ...shown },
  });
  if (view.page === 'help') return page(HELP, 'any key goes back');
  if ('absent' in now) return page([paint.odd(`no board: ${now.absent}`), 'waiting for it'], 'q quit  ? help');
  if (view.page === 'node') return nodePage(view, now, size, look, page);
  if (view.page === 'job')
    return scrolledPage(view, [], now.jobs.page(view.job ?? '', size.columns, look.paint), size, page);
  if (view.page === 'trouble') return troublePage(view, now, size, look, page);
  if (view.page === 'line') {
    const line = now.trouble.find(({ key }) => key === view.cursor?.name);
    const asked = { nowMs: lookMs(now.found.snapshot), width: size.columns, paint };
    const lines = line === undefined ? ['this trouble is over'] : linePage(line, asked, look.asked ?? {});
    return scrolledPage(view, [''], lines, size, page);
  }
  if (view.page === 'events') return eventsPage(view, now, size, page);
  const { body } = now;
  const folded =
    body.kind === 'folded'
      ? [...foldedLines(body.states, { width: columns, paint, asked: askedBy(view, look) })]
      : undefined;
  const above = linesAbove(view, now, size, look, folded?.length);
  const room = Math.max(0, rows - above.lines.length - 2);
  return folded !== undefined
    ? foldedPage(above, now, folded, room, columns, look.paint, page)
    : tablePage(above, now, room, columns, look, page);
}

const range = (first: number, last: number, all: number) => (all === 0 ? '' : `${first}-${last}/${all}`);

const BACK = 'q, Esc back';

function nodePage(
  view: WatchView,
  { found, slurm, trouble }: Present,
  size: Size,
  look: Appearance,
  page: Framer,
): WatchFrame {
  const surveyed = found.all.find(({ name }) => name === view.selected.name);
  if (surveyed === undefined) return page([`${view.selected.name} is not on the board`], BACK);
  const node = found.snapshot.node(surveyed.index);
  const nowMs = lookMs(found.snapshot);
  const besides = slurm && schedulerSection(slurm, surveyed.name, nowMs);
  const shared = sharedTexts(trouble, surveyed.name, nowMs);
  const { head, lines } = nodeSheet(node, look.paint, size.columns, besides, shared);
  return scrolledPage(view, head, lines, size, page);
}

function scrolledPage(
  view: WatchView,
  head: readonly string[],
  lines: readonly string[],
  { columns, rows }: Size,
  page: Framer,
): WatchFrame {
  const room = Math.max(0, rows - head.length - 1);
  const scrolled = Math.max(0, Math.min(view.scrolled, lines.length - room));
  const where = `${scrolled + 1}-${Math.min(lines.length, scrolled + room)} of ${lines.length}`;
  const last = ends(`${BACK}  Up, Down, PageUp, PageDown`, where, columns);
  return page([...head, ...lines.slice(scrolled, scrolled + room)], last, { room }, { ...view, scrolled });
}

function troublePage(
  view: WatchView,
  { found, trouble }: Present,
  size: Size,
  look: Appearance,
  page: Framer,
): WatchFrame {
  const head = summaryLines(found, size.columns, look.paint);
  const asked = { nowMs: lookMs(found.snapshot), width: size.columns, paint: look.paint, whole: true };
  const lines = troubleLines(trouble, asked).flat();
  return scrolledPage(view, head, lines.length === 0 ? ['no trouble'] : lines, size, page);
}

/** What changed, the newest first, of the nodes of the filter and of none. */
function changedTexts({ found, events: { kept } }: Present, untilMs = Number.POSITIVE_INFINITY): string[] {
  const nowMs = lookMs(found.snapshot);
  const time = (iso: string) => timeText(iso, nowMs);
  const chosen = found.nodes === found.all ? undefined : new Set(found.nodes.map(({ name }) => name));
  const isChosen = ({ nodes, time }: KeptEvent) =>
    Date.parse(time) <= untilMs &&
    (chosen === undefined || nodes === undefined || NameRanges.of(nodes)?.meets(chosen) === true);
  const told = (line: Repeats<KeptEvent>) => inTimes(oneLine(repeatsText(line, time)), nowMs);
  return repeatsOf(kept.filter(isChosen)).map(line => `${time(line.last.time)}  ${told(line)}`);
}

/** So long after a line of trouble began, what changed may still be its reason. */
const THEN_MS = 60_000;

/** What changed; with the cursor on a line of trouble, until a minute after that began. */
function eventsPage(view: WatchView, now: Present, size: Size, page: Framer): WatchFrame {
  const { from } = now.events;
  const time = (iso: string) => timeText(iso, lookMs(now.found.snapshot));
  const source = from.journal ? 'From the journal' : `Without a journal (${from.why})`;
  const { since } = now.trouble.find(({ key }) => key === view.cursor?.name) ?? {};
  const until = since === undefined ? '' : `, until a minute after ${time(since)}`;
  const texts = changedTexts(now, since === undefined ? undefined : Date.parse(since) + THEN_MS);
  const lines = texts.flatMap(text => wrappedText(text, size.columns).split('\n'));
  const head = wrappedText(`${source}, since ${time(from.from)}${until}`, size.columns).split('\n');
  return scrolledPage(view, head, lines.length === 0 ? ['nothing'] : lines, size, page);
}

/** The lines above the rows, and the view with the cursor at its line. */
interface LinesAbove {
  readonly lines: readonly string[];
  readonly view: WatchView;
  readonly shown: Pick<ShownScreen, 'trouble' | 'troubleRoom' | 'named'>;
}

/** A summary, totals, trouble, what changed, what restricts the view. `folded`: lines of folded nodes. */
function linesAbove(
  view: WatchView,
  now: Present,
  { columns, rows }: Size,
  look: Appearance,
  folded: number | undefined,
): LinesAbove {
  const { found, totals, trouble } = now;
  const summary = summaryLines(found, columns, look.paint);
  const only = restrictions(view);
  const needed = summary.length + only.length + 2;
  const sums = totalsLines(totals, columns);
  // These lines stay when lines of trouble come and go.
  const shownSums = rows - needed - sums.length - TROUBLE_LINES - 1 >= ROWS_LEAST ? sums : [];
  const free = rows - needed - shownSums.length - ROWS_LEAST;
  // Folded nodes leave room.
  const spare = folded === undefined ? 0 : free + ROWS_LEAST - Math.max(folded, ROWS_LEAST) - 1;
  const most = Math.max(TROUBLE_LINES, Math.floor(rows / 4), spare);
  const room = Math.min(trouble.length, most, Math.max(0, free - 1));
  const cursor =
    view.cursor &&
    placed(
      view.cursor,
      trouble.map(({ key }) => key),
      room,
    );
  const list = { top: cursor?.top ?? 0, rows: room, chosen: cursor?.name };
  const asked = { nowMs: lookMs(found.snapshot), width: columns, paint: look.paint };
  const lines = room === 0 ? [] : troubleTable(trouble, list, asked);
  const changes = Math.max(CHANGED_LINES, Math.floor(rows / 10));
  const hasRoom = free - lines.length - changes > TROUBLE_LINES - room;
  const last = { ...now, events: { ...now.events, kept: now.events.kept.slice(-CHANGED_AMONG) } };
  const changed = hasRoom ? changedTexts(last).slice(0, changes) : [];
  const told = changed.map((text, i) => cutEnd(`${i === 0 ? 'changed' : '       '}  ${text}`, columns));
  return {
    lines: [...summary, ...shownSums, ...lines, ...told, ...only],
    view: { ...view, cursor },
    shown: { trouble, troubleRoom: room, named: now.jobs.named },
  };
}

function foldedPage(
  { view, lines: top, shown: above }: LinesAbove,
  { found }: Present,
  folded: readonly string[],
  room: number,
  columns: number,
  paint: Painter,
  page: Framer,
): WatchFrame {
  // Folded nodes have no row of titles, so one more line fits.
  const fitting = room + 1;
  const first = within(view.top, folded.length - fitting);
  const visible = folded.slice(first, first + fitting);
  const where = folded.length > fitting ? `lines ${range(first + 1, first + visible.length, folded.length)}` : '';
  const shown = { ...above, folded: true, room: fitting, columns: COLUMNS.map(({ name }) => name) };
  return page(
    [...top, ...visible, ...(view.exceptions ? [] : rackLines(found, columns, fitting - visible.length, paint))],
    legend('folded', view, where, columns),
    { ...shown, jobs: jobsOf(view, above) },
    {
      ...view,
      top: first,
    },
  );
}

/** Those of the line with the cursor; undefined: it is in the table. */
const jobsOf = ({ cursor }: WatchView, { trouble = [] }: LinesAbove['shown']) =>
  cursor && (trouble.find(({ key }) => key === cursor.name)?.jobs ?? []).map(({ id }) => id);

function tablePage(
  { view, lines: top, shown: above }: LinesAbove,
  { found, body, jobs, slurm }: Present,
  room: number,
  columns: number,
  look: Appearance,
  page: Framer,
): WatchFrame {
  const all: readonly WatchRow[] =
    body.kind === 'nodes'
      ? body.nodes
      : body.kind === 'groups'
        ? body.groups.map(group => ({ name: labelOf(group), nodes: group.nodes }))
        : [];
  const next = settled(view, { rows: all, room });
  const [from, to] = [next.top, next.top + room];
  const beside = look.jobs ? slurm && schedulerColumns(slurm) : undefined;
  const table =
    body.kind === 'groups'
      ? groupTable(found, body.groups.slice(from, to), view, columns, look)
      : nodeTable(found, body.kind === 'nodes' ? body.nodes.slice(from, to) : [], view, columns, look, beside);
  const drawn = table.lines.map((line, i) => {
    if (from + i !== next.selected.row || next.cursor !== undefined) return line;
    const fitting = clip(line, columns);
    return reversed(fitting + ' '.repeat(Math.max(0, columns - widthOf(fitting))));
  });
  const selected = body.kind === 'nodes' ? body.nodes[next.selected.row]?.name : undefined;
  const isWell = view.exceptions && found.nodes.length > 0;
  const none = isWell ? 'all is well: every node is live, without problems' : 'no node to show';
  const nothing = body.kind === 'none' ? wrappedText(body.none, columns).split('\n') : [none];
  return page(
    [...top, ...(all.length === 0 ? nothing : [look.paint.title(table.title), ...drawn])],
    legend(body.kind, view, range(from + 1, from + drawn.length, all.length), columns),
    {
      ...{ ...above, rows: all, room, columns: table.columns },
      jobs: jobsOf(view, above) ?? (selected === undefined ? [] : jobs.on(selected)),
    },
    next,
  );
}
