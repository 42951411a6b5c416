// The view, as stored in the URL, so that it can be sent to somebody and the Back button works. Pure.

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
  /** A screen on a wall, without controls. */
  readonly wall?: boolean | undefined;
}

const TEXTS = [
  ...(['reading', 'by', 'colour', 'where', 'group', 'select', 'state', 'trouble', 'node', 'at'] as const),
  ...(['job', 'list', 'sort'] as const),
];
/** Nothing is selected, and all groups are shown, of which the table has its first page. */
export const WHOLE = { group: undefined, select: undefined, state: undefined, trouble: undefined, page: undefined };
/** The zoom sizes of cells. */
export const ZOOMS: readonly number[] = [8, 16, 32, 64, 128];

/** The view of a query, `?reading=cpu&wall`; unknown and invalid parts are left out. */
export function parseView(search: string): PageView {
  const query = new URLSearchParams(search);
  const view: { -readonly [K in keyof PageView]: PageView[K] } = {};
  for (const key of TEXTS) {
    const text = query.get(key);
    if (text !== null && text !== '') view[key] = text;
  }
  const page = Number(query.get('page') ?? '');
  if (Number.isInteger(page) && page > 1) view.page = page;
  const zoom = Number(query.get('zoom') ?? '');
  if (ZOOMS.includes(zoom)) view.zoom = zoom;
  const theme = query.get('theme');
  if (theme === 'dark' || theme === 'light') view.theme = theme;
  if (query.get('scale') === 'hue') view.scale = 'hue';
  if (query.has('wall')) view.wall = true;
  return view;
}

/** The query of a view, `?` for the plain one: relative, so that the page can have any path. */
export function writeView(view: PageView): string {
  const query = new URLSearchParams();
  for (const key of [...TEXTS, 'page', 'zoom', 'theme', 'scale'] as const)
    if (view[key] !== undefined) query.set(key, String(view[key]));
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
