// The view, as stored in the URL, so that it can be sent to somebody and the Back button works. Pure.

import { shortened } from '../../text/unseen.js';
import { STATES } from '../wire.js';

export interface PageView {
  /** The reading that colours the cells, and the grouping rule; undefined: the server's choice. */
  readonly reading?: string | undefined;
  readonly by?: string | undefined;
  /** What else colours the cells: `job` or `user`. */
  readonly colour?: string | undefined;
  /** A condition: other nodes are not shown. */
  readonly where?: string | undefined;
  /** The group that fills the map; undefined: all groups. */
  readonly group?: string | undefined;
  /** The selection: a host list, the word of a state, or the key of a line of trouble. */
  readonly select?: string | undefined;
  readonly state?: string | undefined;
  readonly trouble?: string | undefined;
  /** The node whose sheet is open, or that only is under the cursor. */
  readonly node?: string | undefined;
  readonly at?: string | undefined;
  /** The job whose page is open, below that of a node. */
  readonly job?: string | undefined;
  /** `users`, `odd`: they are listed in place of jobs. */
  readonly list?: string | undefined;
  /** The page of the table, from 1. */
  readonly page?: number | undefined;
  /** By what the table is sorted; behind a minus, the other way round. */
  readonly sort?: string | undefined;
  /** The smallest size of a cell, px; undefined: as large as fits. */
  readonly zoom?: number | undefined;
  readonly theme?: 'dark' | 'light' | undefined;
  /** Readings have hues in place of greys. */
  readonly scale?: 'hue' | undefined;
  /** Whose zone times are in; undefined: on a wall the master's, else the browser's. */
  readonly zone?: ClockZone | undefined;
  /** A screen on a wall, without controls. */
  readonly wall?: boolean | undefined;
}

export const ZONES = ['browser', 'master', 'utc'] as const;
export type ClockZone = (typeof ZONES)[number];

const PARTS = [
  ...(['reading', 'by', 'colour', 'where', 'group', 'select', 'state', 'trouble', 'node', 'at'] as const),
  ...(['job', 'list', 'sort', 'page', 'zoom', 'theme', 'scale', 'zone'] as const),
];
/** So many characters of what is not followed are told. */
export const TOLD = 60;
/** Nothing is selected, and all groups are shown, of which the table has its first page. */
export const WHOLE = { group: undefined, select: undefined, state: undefined, trouble: undefined, page: undefined };
/** The zoom sizes of cells. */
export const ZOOMS: readonly number[] = [8, 16, 32, 64, 128];

const PAGE = /^[1-9]\d{0,8}$/;
/** The words that a part can be, of those that can be nothing else. */
const WORDS = new Map<string, readonly string[]>(
  Object.entries({
    ...{ zoom: ZOOMS.map(String), theme: ['dark', 'light'], scale: ['hue'], zone: ZONES, colour: ['job', 'user'] },
    ...{ list: ['jobs', 'users', 'odd'], state: [...STATES, 'unhealthy'] },
  }),
);

/** The view of a query, `?reading=cpu&wall`; and what of it is left out, in parts of a sentence. */
export function parseView(search: string): { view: PageView; faults: string[] } {
  const view = new Map<string, string | number | boolean>();
  const faults: string[] = [];
  for (const [name, text] of new URLSearchParams(search)) {
    const words = WORDS.get(name);
    if (name === 'wall') view.set(name, true);
    else if (words?.includes(text) === false)
      faults.push(`${shortened(`${name}=${text}`, TOLD)} is none of ${words.join(', ')}`);
    else if (!PARTS.some(part => part === name) || view.has(name) || !(name === 'page' ? PAGE : /./s).test(text))
      faults.push(`${shortened(`${name}=${text}`, TOLD)} means nothing here`);
    else view.set(name, name === 'page' || name === 'zoom' ? Number(text) : text);
  }
  return { view: Object.fromEntries(view), faults };
}

/** The query of a view, `?` for the plain one: relative, so that the page can have any path. */
export function writeView(view: PageView): string {
  const query = new URLSearchParams();
  for (const key of PARTS) if (view[key] !== undefined) query.set(key, String(view[key]));
  const text = query.toString();
  return `?${[...(view.wall ? ['wall'] : []), ...(text === '' ? [] : [text])].join('&')}`;
}

/** The request for a view: the part of the view that determines the stream. */
export function streamQuery({ reading, by, where }: PageView): string {
  const query = new URLSearchParams();
  for (const [key, text] of Object.entries({ reading, by, where })) if (text !== undefined) query.set(key, text);
  return query.toString();
}

/** Whether a typed text is a condition and not a host list: only conditions have comparisons. */
export function isCondition(text: string): boolean {
  return /[<>=!~&|()]/.test(text);
}
