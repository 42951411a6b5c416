// What `status --watch` shows, and how a key changes it. Pure, except that a host list may name a file.

import type { TroubleInfo } from '../acks/info.js';
import { type Condition, parseCondition } from '../query/conditions.js';
import type { Choice } from '../query/survey.js';
import { readingOf } from '../readings/readings.js';
import { STATES } from '../shm/liveness.js';
import type { Keystroke } from '../terminal/keystrokes.js';
import { fold, tryExpand } from '../text/hostlists.js';
import { OUT_OF_SERVICE } from '../text/jobnames.js';
import { readNodes } from '../text/nodefiles.js';
import { InputError, UNSEEN } from '../text/text.js';

/** Which nodes are chosen: both conditions have to hold. */
export interface WatchFilter {
  readonly where?: { readonly text: string; readonly holds: Condition } | undefined;
  readonly list?: { readonly text: string; readonly names: readonly string[] } | undefined;
}

/** The line in which a filter is written, or the number of a job. */
export interface Prompt {
  /** The jobs on the selected node, if a job is asked for. */
  readonly jobs?: readonly string[];
  readonly text: string;
  /** The number of characters before the cursor. */
  readonly at: number;
  readonly wrong?: string | undefined;
}

export interface WatchView {
  readonly page: 'table' | 'node' | 'job' | 'trouble' | 'line' | 'events' | 'help';
  readonly job?: string;
  /** As in --sort; undefined: the worst first. */
  readonly sort: string | undefined;
  readonly exceptions: boolean;
  /** Whether every node has a row, however many there are. */
  readonly long: boolean;
  /** Whether groups are shown in place of nodes; undefined: there is no rule that makes groups. */
  readonly grouped?: boolean | undefined;
  readonly filter: WatchFilter;
  /** What was asked for before a group, or the nodes of a line of trouble were opened. */
  readonly outer?: Pick<WatchView, 'filter' | 'long' | 'grouped'> | undefined;
  readonly prompt?: Prompt | undefined;
  /** The selected row. Once it was moved it stays with its node; before that it stays with the worst. */
  readonly selected: { readonly row: number; readonly name?: string | undefined };
  readonly top: number;
  /** The cursor in the list of trouble, which stays with its line, by its key; undefined: keys are the table's. */
  readonly cursor?: { readonly row: number; readonly name: string | undefined; readonly top: number } | undefined;
  /** The first visible line of a page that is none of the table. */
  readonly scrolled: number;
}

/** A row of the table: a node, or a group with its nodes. */
export interface WatchRow {
  readonly name: string;
  readonly nodes?: readonly { readonly name: string }[];
}

/** What is on the screen, which determines the meaning of a key. */
export interface ShownScreen {
  readonly rows: readonly WatchRow[];
  /** Whether the nodes are folded into host lists, without rows. */
  readonly folded?: boolean;
  readonly room: number;
  readonly columns: readonly string[];
  /** Those of the line with the cursor, or else on the selected node. */
  readonly jobs?: readonly string[] | undefined;
  /** The nodes of a job, of a user, or with names of which the text is a part. */
  readonly named?: (text: string) => readonly string[] | undefined;
  /** The whole list, of which so many lines are shown. */
  readonly trouble?: readonly TroubleInfo[];
  readonly troubleRoom?: number;
}

type Deed = 'quit' | 'suspend' | 'redraw';

interface Pressed {
  readonly view: WatchView;
  readonly deed?: Deed;
}

/** The filter's choice, for the survey. */
export function choiceOf({ where, list }: WatchFilter): Choice {
  return { among: list?.names, holds: where?.holds };
}

/**
 * The filter with this condition, state, host list, or what else `named` knows; an empty text removes all. Throws an
 * InputError with the column.
 */
export function refined(filter: WatchFilter, written: string, named?: ShownScreen['named']): WatchFilter {
  const text = written.trim();
  if (text === '') return {};
  // A field alone is a condition; any other single word is a name.
  if (/[\s<>=!&|()"']/.test(text) || (readingOf(text) !== undefined && !OUT_OF_SERVICE.test(text)))
    return { ...filter, where: { text, holds: parseCondition(text) } };
  if (STATES.some(state => state === text)) return refined(filter, `state == ${text}`);
  return { ...filter, list: { text, names: named?.(text) ?? readNodes(text) } };
}

const MOVES: Readonly<Record<string, (from: number, page: number, last: number) => number>> = {
  up: from => from - 1,
  down: from => from + 1,
  pageup: (from, page) => from - page,
  pagedown: (from, page) => from + page,
  home: () => 0,
  end: (_from, _page, last) => last,
};

/** The value, limited to 0 … last; 0 if there is nothing. */
export const within = (value: number, last: number) => Math.max(0, Math.min(value, last));

/** A choice at the place of its row, and from where on rows are shown, so that it is visible. */
export function placed(
  { row: last, name, top: above }: NonNullable<WatchView['cursor']>,
  names: readonly string[],
  room: number,
): NonNullable<WatchView['cursor']> {
  const found = name === undefined ? -1 : names.indexOf(name);
  const row = found >= 0 ? found : within(last, names.length - 1);
  const lowest = Math.max(0, names.length - room);
  const top = within(Math.min(Math.max(above, row - Math.max(room, 1) + 1), row), lowest);
  return { row, name, top };
}

/** Moves the selection to the place of its node, and scrolls so that it is visible. */
export function settled(view: WatchView, { rows, room }: Pick<ShownScreen, 'rows' | 'room'>): WatchView {
  const { selected, top: above } = view;
  const names = selected.name === undefined ? rows.map(() => '') : rows.map(({ name }) => name);
  const { row, name, top } = placed({ ...selected, name: selected.name, top: above }, names, room);
  return { ...view, selected: { row, name }, top };
}

/** What is asked for by the prompt. Throws an InputError. */
function entered(view: WatchView, { text, jobs }: Prompt, { named }: ShownScreen): WatchView {
  const next = { ...view, prompt: undefined };
  if (jobs === undefined) return { ...next, filter: refined(view.filter, text, named), selected: { row: 0 }, top: 0 };
  const job = text.trim();
  return job === '' ? next : { ...next, page: 'job', job, scrolled: 0 };
}

function inPrompt(view: WatchView, prompt: Prompt, key: Keystroke, shown: ShownScreen): WatchView {
  const { text, at, wrong: _, ...rest } = prompt;
  const edited = (text: string, at: number): WatchView => ({ ...view, prompt: { ...rest, text, at } });
  switch (key) {
    case 'escape':
    case 'ctrl-c':
      return { ...view, prompt: undefined };
    case 'enter':
      try {
        return entered(view, prompt, shown);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        return { ...view, prompt: { ...prompt, wrong: error.message } };
      }
    case 'backspace':
      return at === 0 ? edited(text, 0) : edited(text.slice(0, at - 1) + text.slice(at), at - 1);
    case 'delete':
      return edited(text.slice(0, at) + text.slice(at + 1), at);
    case 'ctrl-u':
      return edited(text.slice(at), 0);
    case 'left':
    case 'right':
      return edited(text, within(at + (key === 'left' ? -1 : 1), text.length));
    case 'home':
      return edited(text, 0);
    case 'end':
      return edited(text, text.length);
  }
  // Other keys do not write, and neither do characters that cannot be seen.
  if (key.length > 1 || key.search(UNSEEN) >= 0) return view;
  return edited(text.slice(0, at) + key + text.slice(at), at + key.length);
}

/** The column after or before the sorting column; the state stands for the worst first. */
function resorted(sort: string | undefined, columns: readonly string[], by: number): string | undefined {
  const names = ['state', ...columns.filter(name => name !== 'state')];
  const now = names.indexOf((sort ?? 'state').replace(/^-/, ''));
  const next = now < 0 ? (by > 0 ? 0 : names.length - 1) : (now + by + names.length) % names.length;
  return next === 0 ? undefined : names[next];
}

/** The n-th column that is shown, or the other way round if that is the order already. */
function sortedBy(sort: string | undefined, columns: readonly string[], n: number): string | undefined {
  const column = columns[n - 1];
  if (column === undefined) return sort;
  if (column === (sort ?? 'state')) return `-${column}`;
  return column === 'state' ? undefined : column;
}

/** What Enter opens: the rows of folded nodes, those of a group, or a node's page. */
function opened(view: WatchView, { rows, folded }: ShownScreen): WatchView {
  if (folded) return { ...view, long: true };
  const { row } = view.selected;
  const { name, nodes } = rows[row] ?? {};
  if (name === undefined) return view;
  if (nodes === undefined) return { ...view, page: 'node', selected: { row, name }, scrolled: 0 };
  const names = nodes.map(node => node.name);
  const { filter, long, grouped } = view;
  const list = { text: fold(names), names };
  const outer = { filter, long, grouped };
  return { ...view, grouped: false, long: true, filter: { ...filter, list }, outer, selected: { row: 0 }, top: 0 };
}

function inTable(view: WatchView, key: Keystroke, shown: ShownScreen): Pressed {
  const { rows, folded, room, columns } = shown;
  // After a change of the order or the choice, the user wants to see what comes first.
  const fresh = { selected: { row: 0 }, top: 0 };
  const move = MOVES[key];
  if (move !== undefined && folded)
    return { view: { ...view, top: Math.max(0, move(view.top, Math.max(room, 1), Number.MAX_SAFE_INTEGER)) } };
  if (move !== undefined) {
    const row = within(move(view.selected.row, Math.max(room, 1), rows.length - 1), rows.length - 1);
    // At the top, the selection follows the worst node again.
    return { view: { ...view, selected: { row, name: row === 0 ? undefined : rows[row]?.name } } };
  }
  if (/^[1-9]$/.test(key)) return { view: { ...view, sort: sortedBy(view.sort, columns, Number(key)), ...fresh } };
  switch (key) {
    case 'q':
      return { view, deed: 'quit' };
    case 's':
    case 'S':
      return { view: { ...view, sort: resorted(view.sort, columns, key === 's' ? 1 : -1), ...fresh } };
    case 'r': {
      const sort = view.sort ?? 'state';
      return { view: { ...view, sort: sort.startsWith('-') ? sort.slice(1) : `-${sort}`, ...fresh } };
    }
    case 'x':
      return { view: { ...view, exceptions: !view.exceptions, ...fresh } };
    case 'l': {
      // What is sorted is shown in rows, too.
      const long = !view.long && view.sort === undefined;
      return { view: { ...view, long, sort: undefined, ...fresh } };
    }
    case 'g': {
      const { grouped, outer } = view;
      if (grouped === undefined) return { view };
      return { view: { ...view, ...outer, grouped: !grouped, outer: undefined, ...fresh } };
    }
    case 'escape':
      if (view.outer === undefined) return { view };
      return { view: { ...view, ...view.outer, outer: undefined, ...fresh } };
    case 'tab': {
      const [line] = shown.trouble ?? [];
      return { view: { ...view, cursor: line && { row: 0, name: line.key, top: 0 } } };
    }
    case 'f':
      return { view: { ...view, prompt: { text: '', at: 0 } } };
    case 'j': {
      const { jobs = [] } = shown;
      const [job] = jobs;
      if (job !== undefined && jobs.length === 1) return { view: { ...view, page: 'job', job, scrolled: 0 } };
      return { view: { ...view, prompt: { text: '', at: 0, jobs } } };
    }
    case 'o':
      return { view: { ...view, page: 'trouble', scrolled: 0 } };
    case 'e':
      return { view: { ...view, page: 'events', scrolled: 0 } };
    case '?':
      return { view: { ...view, page: 'help' } };
    case 'enter':
      return { view: opened(view, shown) };
  }
  return { view };
}

/** With the cursor in the list of trouble: from a line to its nodes, or to all that is known of it. Others are the table's. */
function inTrouble(view: WatchView, key: Keystroke, shown: ShownScreen): Pressed {
  const { trouble = [], troubleRoom = 1 } = shown;
  const { row = 0, name, top = 0 } = view.cursor ?? {};
  const to = MOVES[key]?.(row, troubleRoom, trouble.length - 1);
  const line = trouble.find(line => line.key === name);
  if (to !== undefined) {
    const next = within(to, trouble.length - 1);
    return { view: { ...view, cursor: { row: next, name: trouble[next]?.key, top } } };
  }
  if (key === 'tab' || key === 'escape') return { view: { ...view, cursor: undefined } };
  if (key === 'c') return { view: line === undefined ? view : { ...view, page: 'line', scrolled: 0 } };
  if (key !== 'enter') return inTable(view, key, shown);
  const names = tryExpand(line?.nodes ?? '', 'any');
  if (line?.nodes === undefined || names === undefined) return { view };
  const { filter, long, grouped, outer = { filter, long, grouped } } = view;
  const chosen = { filter: { list: { text: line.nodes, names } }, grouped: grouped && false, outer };
  return { view: { ...view, ...chosen, cursor: undefined, selected: { row: 0 }, top: 0 } };
}

/** The key that opened a page goes back, too. */
const OPENED_BY: Partial<Record<WatchView['page'], Keystroke>> = { job: 'j', trouble: 'o', line: 'c', events: 'e' };

/** The view after a key. */
export function press(view: WatchView, key: Keystroke, shown: ShownScreen): Pressed {
  if (key === 'ctrl-z') return { view, deed: 'suspend' };
  if (key === 'ctrl-l') return { view, deed: 'redraw' };
  if (view.prompt !== undefined) return { view: inPrompt(view, view.prompt, key, shown) };
  if (key === 'ctrl-c') return { view, deed: 'quit' };
  if (view.page === 'help') return { view: { ...view, page: 'table' } };
  if (view.page === 'table') return (view.cursor === undefined ? inTable : inTrouble)(view, key, shown);
  if (key === 'escape' || key === 'q' || key === OPENED_BY[view.page]) return { view: { ...view, page: 'table' } };
  // The code that makes the page knows how far it can scroll.
  const scrolled = MOVES[key]?.(view.scrolled, Math.max(shown.room, 1), Number.MAX_SAFE_INTEGER);
  return { view: scrolled === undefined ? view : { ...view, scrolled: Math.max(0, scrolled) } };
}
