// The page of the wall: receives the server's data, keeps the view in the URL, and passes both to the parts that draw.
// Judges nothing: states, ages and trouble come from the server.

import type { JobInfo, KeptEvent } from '../../presentation/shapes.js';
import { areInRacks, tryExpand } from '../../text/hostlists.js';
import { oneLine, shortened } from '../../text/unseen.js';
import { AUTO, FRAME, type Hello, type LayoutInfo, type ReadingInfo, type WallHead } from '../wire.js';
import { Cells, type Changed } from './cells.js';
import { ChangeList } from './changes.js';
import { choiceText, lacksOf, membersOf, namesOf, rowsOf, selectionOf, unwellOf } from './choice.js';
import { DarkLinks } from './darklinks.js';
import { button, byId, make, set, show, watchSight, write } from './dom.js';
import { clock, count, present, setZone, zone } from './formats.js';
import type { StreamFrame } from './framereader.js';
import { type Inks, readInks } from './inks.js';
import { COLOURINGS, isColouring, JobView } from './jobview.js';
import { Legend, listedOf } from './legend.js';
import { Live } from './live.js';
import { MapView } from './mapview.js';
import { Pace } from './pace.js';
import { answerTo } from './requests.js';
import { RiverPart } from './riverpart.js';
import { RiverView } from './riverview.js';
import { cellText, eventsOf, Headline, pastText, togetherText } from './sayings.js';
import { jobChange, meaningOf, refusalOf } from './search.js';
import { Sheet } from './sheet.js';
import { tellTab } from './tab.js';
import { TableView } from './tableview.js';
import { TroubleActs } from './troubleacts.js';
import { TroubleBox } from './troublebox.js';
import { listen } from './userinput.js';
import { type ClockZone, type PageView, parseView, streamQuery, WHOLE, writeView, ZONES, ZOOMS } from './viewstate.js';

/** How often the clocks are compared, ms. */
const CLOCK_MS = 20_000;

/** Changes without user input are announced to screen readers at most this often, ms. */
const SPOKEN_MS = 10_000;

const root = document.documentElement;
const text = new TextDecoder();
const json = (payload: Uint8Array): unknown => JSON.parse(text.decode(payload));

let { view, faults: unfollowed } = parseView(location.search);
let hello: Hello | undefined;
let head: WallHead | undefined;
let build: string | undefined;
let inks: Inks;
/** What they were read for. */
let inksOf = '';
/** Whether the view is still that of a link. */
let isLinked = true;
/** The last events of a line of trouble that is shown no more; undefined: not known yet. */
let past: { readonly key: string; readonly events?: readonly KeptEvent[] } = { key: '' };
/** What the server has last agreed to show. */
let accepted: Pick<PageView, 'reading' | 'by' | 'where'> | undefined;
const cells = new Cells();
const pace = new Pace();
/** A look, and the server's clock at it; those of the looks behind it follow. */
let known = { seq: 0, ms: 0 };
/** Whether the drawing is up to date. */
const NOTHING = new Uint32Array(0);
let changed: Changed = NOTHING;
/** Whether the drawing has the newest layout. */
let isLaidOut = false;
let isTableInSight = false;
let tableAt = 0;
let spokenAt = Number.NEGATIVE_INFINITY;
let spoken = '';

const field = byId('field');
const map = new MapView({
  field,
  sizer: byId('sizer'),
  stage: byId('stage'),
  cells: byId<HTMLCanvasElement>('cells'),
  marks: byId<HTMLCanvasElement>('marks'),
  ring: byId('ring'),
});
const flow = new RiverView({
  flow: byId<HTMLCanvasElement>('flow'),
  rows: byId('rows'),
  times: byId('times'),
  frame: byId('river'),
});
const river = new RiverPart(flow, cells);
const dark = new DarkLinks();
const headline = new Headline();
const acts = new TroubleActs({
  openJob: id => openJob(jobs.numbered(id) ?? { id }),
  named: () => hello?.named ?? '',
  changedAt: ms => changes.showAbout(ms),
});
const choose = (key: string) => go({ ...WHOLE, trouble: view.trouble === key ? undefined : key });
const trouble = new TroubleBox(choose, acts);
const selectNodes = (nodes: string) => go({ ...WHOLE, select: nodes });
const legend = new Legend(
  state => go({ ...WHOLE, group: view.group, state: view.state === state ? undefined : state }),
  selectNodes,
);
const table = new TableView(byId<HTMLTableElement>('table'), {
  choose: (kind, index) => {
    if (kind === 'nodes') openNode(index);
    else go({ group: cells.layout.groups[index]?.name ?? 'others', page: undefined });
  },
  openJobOf: cell => {
    const [job, ...others] = jobs.of(cells.names[cell] ?? '');
    if (job !== undefined && others.length === 0) openJob(job);
    else openNode(cell);
  },
  sort: sort => go({ sort, page: undefined }, false),
  told: () => tellPages(),
  hello: () => hello,
  where: () => accepted?.where,
});
const sheet = new Sheet({
  close: () => closeSheet(),
  open: (name, isNew) => go({ node: name, at: name }, isNew),
  readings: () => hello?.readings ?? [],
  jobsOf: name => (hello?.jobs === true ? jobs.of(name) : []),
  openJob,
  unwell: () => unwellOf(cells, selection()),
  now: nowOf,
});

const jobs = new JobView({
  select: selectNodes,
  open: openJob,
  changed: () => colourOwn(),
  list: list => go({ list: list === 'jobs' ? undefined : list }, false),
});

const changes = new ChangeList(selectNodes, minute => flow.mark(minute));

const live = new Live({
  opened: () => pace.opened(),
  frame: takeFrame,
  settled,
  lost: why => {
    const shown = head ? `This is the state as of ${clock(nowOf())}.` : 'There is nothing to show yet.';
    setLife('lost', `No answer from the server: ${why}. ${shown}`);
  },
  refused: why => {
    const said = view.by === undefined ? refusalOf(view.where, why, hello?.jobs === true) : why;
    const isOther = accepted !== undefined && streamQuery(accepted) !== streamQuery(view);
    const isReading = why.startsWith('reading:') || (view.by ?? view.where) === undefined;
    const [wasLinked, known] = [isLinked, isOther ? [] : unfollowed];
    // What was shown before goes on; of a link what can be followed.
    go(
      isOther && accepted ? accepted : isReading ? { reading: undefined } : { by: undefined, where: undefined },
      false,
    );
    [unfollowed, isLinked] = [[...known, isReading ? why : said], wasLinked];
    tellChoice();
  },
});

// ---- data from the server ----

function takeFrame({ kind, payload }: StreamFrame): void {
  if (kind === FRAME.hello) greet(json(payload) as Hello);
  else if (kind === FRAME.layout) {
    const layout = json(payload) as LayoutInfo;
    if (groupByThemselves(layout)) return;
    cells.arrange(layout);
    isLaidOut = false;
  } else if (kind === FRAME.picture) {
    if (cells.picture(payload) === 'all') {
      // The layout may have come in another piece of the stream than its picture.
      if (!isLaidOut) arrange();
      isLaidOut = true;
      changed = 'all';
      river.tick();
    }
    if (known.seq === 0) known = { ...known, seq: cells.seq };
  } else if (kind === FRAME.changes) {
    const some = cells.changes(payload);
    if (some === 'none') return;
    // Two ticks at once: the changes of both are drawn together.
    changed = changed === NOTHING ? some : 'all';
    river.tick();
  } else if (kind === FRAME.head) {
    head = json(payload) as WallHead;
    known = { seq: head.seq, ms: head.now_ms };
    tellHead(head);
    river.head(head);
    changes.come(head.events);
  } else if (kind === FRAME.events) changes.take(json(payload) as KeptEvent[]);
  if (kind === FRAME.picture || kind === FRAME.changes || kind === FRAME.head) pace.looked(nowOf(), pace.now());
}

let ownRule: string | undefined;

/** Groups by names with two numbers, if there were none when the page was opened. */
function groupByThemselves({ groups }: LayoutInfo): boolean {
  if (view.by !== undefined || ownRule !== undefined || hello?.by !== null) return false;
  const names = tryExpand(groups[0]?.nodes ?? '', 'any') ?? [];
  if (!areInRacks(names)) return false;
  ownRule = AUTO.rule;
  ask();
  return true;
}

function ask(): void {
  live.ask(`api/v1/stream?${streamQuery({ ...view, by: view.by ?? ownRule ?? AUTO.by })}&every=${pace.every}`);
  river.every = pace.every;
}

function greet(said: Hello): void {
  if (build !== undefined && build !== said.build) {
    // Nobody would reload a screen on a wall.
    if (view.wall) {
      location.reload();
      return;
    }
    show(byId('newer'), true);
  }
  build ??= said.build;
  // Of this server the events are known up to the last look.
  const last = hello?.boardId === said.boardId ? cells.seq : undefined;
  known = { seq: 0, ms: said.now_ms };
  hello = said;
  useZone();
  river.greet(said);
  void changes.greet(last);
  accepted = { reading: view.reading, by: view.by, where: view.where };
  const select = byId<HTMLSelectElement>('reading');
  const options = [
    ...said.readings.map(({ name, title }) => [name, title] as const),
    ...(said.jobs ? COLOURINGS.map(by => [`:${by}`, by === 'job' ? 'Job' : 'User'] as const) : []),
  ];
  if (select.options.length !== options.length)
    select.replaceChildren(...options.map(([value, title]) => make('option', { value }, title)));
  jobs.isServed = said.jobs;
  const by = byId<HTMLInputElement>('by');
  if (document.activeElement !== by) by.value = view.by ?? '';
  by.placeholder = oneLine(said.by ?? 'no groups');
  write(byId('brand'), said.cluster ?? 'beoboard');
}

/** Colours cells by their job or user, if that is chosen and available. */
function colourOwn(): void {
  const by = view.colour;
  const isOwn = hello?.jobs === true && isColouring(by);
  root.classList.toggle('byjob', isOwn);
  map.own = isOwn ? jobs.colours(by, inks.theme, cells.layout.count, name => cells.indexOf(name)) : undefined;
  legend.owners = isOwn ? jobs.owners(by, inks.theme) : undefined;
  const reading = readingNow();
  if (reading !== undefined) legend.scale(reading, inks);
}

function readingNow(): ReadingInfo | undefined {
  return hello?.readings.find(({ name }) => name === hello?.reading);
}

/** The server's clock at the last tick, ms since 1970. */
function nowOf(): number {
  return known.ms + Math.max(0, cells.seq - (known.seq || cells.seq)) * (hello?.interval_ms ?? 0);
}

present.now = () => pace.serverMs(pace.now()) ?? nowOf();

/** All frames that arrived together have been processed. */
function settled(): void {
  if (isLaidOut && changed.length > 0) {
    map.update(changed);
    // A screen reader reads it even if it is out of sight.
    if (isTableInSight || performance.now() - tableAt > SPOKEN_MS) {
      table.update();
      tableAt = performance.now();
    }
  }
  changed = NOTHING;
  if (head !== undefined) setLife(head.state);
  trouble.tick(nowOf());
  tellPace();
  tellHere();
  river.update();
}

function setLife(state: string, why?: string): void {
  const behind = state === 'ok' ? pace.behind(pace.now()) : undefined;
  const life = behind === undefined ? state : 'behind';
  if (root.dataset.life !== life) root.dataset.life = life;
  tellTab(life, head, hello);
  const banner = byId('banner');
  const words: Record<string, string> = {
    stalled: 'Stalled: nothing is known about any node',
    closed: 'The receiver was stopped: nothing is known about any node',
    retired: 'Another board has replaced this one',
    absent: 'No board',
    lost: why ?? '',
    behind: `${behind} s behind: the line is slower than what is sent`,
  };
  write(banner, words[life] ?? '');
  show(banner, life !== 'ok');
}

function tellHead(said: WallHead): void {
  headline.show(said);
  const before = chosenNodes();
  trouble.show(said);
  const isOther = dark.take(said.dark);
  if (cells.mark(said.marks)) map.update('all');
  tellLegend();
  // The selection follows the nodes of its line.
  if (chosenNodes() !== before) arrange();
  else {
    if (isOther) map.outlines = dark.outlines(cells, selection());
    if (view.trouble !== undefined) tellChoice();
  }
  speakNow(said.line);
}

function tellLegend(): void {
  if (head === undefined) return;
  const listed = listedOf(cells, head.marks);
  legend.show(head, dark.behind === undefined ? listed : [...listed, dark.behind], inks, view.state);
}

/** Announces changes to screen readers now and then. */
function speakNow(line: string): void {
  const news = line.split('; ')[0] as string;
  if (news === spoken || performance.now() - spokenAt < SPOKEN_MS) return;
  [spoken, spokenAt] = [news, performance.now()];
  write(byId('announced'), news);
}

/** The present time, how far what is shown is behind it, and at which interval that comes. */
function tellPace(): void {
  if (head !== undefined && root.dataset.life !== 'lost') setLife(head.state);
  if (hello === undefined) return;
  const now = present.now();
  write(byId('clock'), `${clock(now)} ${zone(now)}`);
  const isLive = root.dataset.life === 'ok' && pace.serverMs(0) !== undefined;
  write(byId('pace'), `${isLive ? '· live' : ''}${pace.inForce > 1 ? ` · every ${pace.inForce} s` : ''}`);
}

let comparedAt = Number.NEGATIVE_INFINITY;
/** Compares the clocks by a small request. */
async function compareClocks(asked: number): Promise<void> {
  comparedAt = asked;
  const said = await answerTo<{ now_ms: number }>('api/v1/clock');
  if (typeof said === 'object') pace.measured(asked, pace.now(), said.now_ms);
}

/** Once a second, whatever arrives. */
function watchPace(): void {
  const now = pace.now();
  // At once if this machine has slept, or its clock was set.
  if (Math.abs(now - comparedAt) > CLOCK_MS) void compareClocks(now);
  const every = document.visibilityState === 'visible' ? pace.wanted(now) : undefined;
  if (every !== undefined) {
    pace.opened(every);
    ask();
  }
  tellPace();
  trouble.tick(nowOf());
}

// ---- the view ----

const members = () => membersOf(view, cells);

/** The nodes that are selected, as a host list: of a line of trouble that is over the last ones. */
const chosenNodes = () => {
  if (view.trouble === undefined) return view.select;
  const last = past.key === view.trouble ? past.events?.at(-1)?.nodes : undefined;
  return trouble.nodesOf(view.trouble) || (trouble.isOver(view.trouble) ? last : '');
};
const selection = () => selectionOf(view, chosenNodes(), cells);

/** Which part is shown, and the button that shows all again. */
function tellChoice(): void {
  // What is on the page, and not what the server has not answered yet.
  const parts = choiceText({ ...view, where: accepted?.where }, chosenNodes(), selection()?.length, cells);
  if (view.trouble !== undefined && trouble.isOver(view.trouble)) {
    if (past.key !== view.trouble) void askPast(view.trouble);
    parts.push(pastText(past.events, head?.trouble_more ?? 0, trouble.nodesOf(view.trouble) !== ''));
  }
  const lacks = isLinked ? lacksOf(view, cells, table, hello?.jobs === true) : [];
  const said = shortened([...unfollowed, ...lacks].join('; '), 400);
  if (said !== '') parts.unshift(`${said.slice(0, 1).toUpperCase()}${said.slice(1)}`);
  byId('choice').classList.toggle('unfollowed', said !== '');
  write(byId('chosen'), parts.join(' · '));
  show(byId('choice'), parts.length > 0);
}

/** What a line of trouble was that is over, or is too far down the list for the page. */
async function askPast(key: string): Promise<void> {
  past = { key };
  const events = await eventsOf(key);
  if (past.key === key) past = { key, events };
  arrange();
}

/** Lays everything out again: nodes, groups, the reading or the view have changed. */
function arrange(): void {
  const reading = readingNow();
  if (reading === undefined || cells.layout.layout === 0) return;
  const chosen = selection();
  map.select(chosen && cells.mask(chosen));
  map.outlines = dark.outlines(cells, chosen);
  trouble.select(view.trouble);
  colourOwn();
  byId<HTMLSelectElement>('reading').value = hello?.jobs && isColouring(view.colour) ? `:${view.colour}` : reading.name;
  map.show(cells, members(), reading, view.zoom);
  map.cursor = view.at === undefined ? undefined : cells.indexOf(view.at);
  measure();
  tellLegend();
  table.show(cells, reading, rowsOf(view, cells, chosen), view.page ?? 1, view.sort);
  tellPages();
  tellChoice();
  tellHere();
  river.arrange(view, members(), chosen);
  changes.choose(namesOf(view, members(), cells, chosen));
  jobs.choose(view.list);
  sheet.open(view.node, view.job);
}

function tellPages(): void {
  const { page, pages } = table;
  show(byId('pages'), pages > 1);
  write(byId('pageof'), `Page ${count(page)} of ${count(pages)}`);
  byId<HTMLButtonElement>('before').disabled = page === 1;
  byId<HTMLButtonElement>('after').disabled = page === pages;
  write(byId('tabletitle'), byId('table').querySelector('caption')?.textContent ?? 'Groups');
}

function nodeText(cell: number): string {
  const together = map.cellsWith(cell);
  if (together.count > 1) return togetherText(cells, together, readingNow());
  return cellText(cells, cell, readingNow(), dark.of(cells.names[cell] ?? ''));
}

function tellHere(): void {
  const { cursor } = map;
  write(byId('here'), cursor === undefined || cells.seq === 0 ? '' : nodeText(cursor));
}

// ---- user input ----

/** Changes the view. `isNew`: the Back button returns to the last one. */
function go(change: Partial<{ -readonly [K in keyof PageView]: PageView[K] | undefined }>, isNew = true): void {
  const before = view;
  [unfollowed, isLinked] = [[], false];
  byId('offered').replaceChildren();
  view = { ...view, ...change };
  const url = writeView(view);
  if (isNew && url !== writeView(before)) history.pushState({ isOurs: true }, '', url);
  else replaceSoon();
  apply(before);
}

let replacing: number | undefined;
/** Browsers allow only a few changes of the URL per second, and a held arrow key makes many. */
function replaceSoon(): void {
  clearTimeout(replacing);
  replacing = setTimeout(() => history.replaceState(history.state, '', writeView(view)), 250);
}

function apply(before: PageView): void {
  setTheme();
  if (before.zone !== view.zone) useZone();
  if (streamQuery(before) !== streamQuery(view)) ask();
  arrange();
}

addEventListener('popstate', () => {
  clearTimeout(replacing);
  const before = view;
  ({ view, faults: unfollowed } = parseView(location.search));
  isLinked = true;
  apply(before);
});

function openNode(cell: number): void {
  const name = cells.names[cell];
  if (name !== undefined) go({ node: name, at: name });
}

/** Opens what is at a place of the map: a node, a group, or of other nodes that stand together each, the worst in sight. */
function openAt(cell: number): void {
  const { first, count } = map.cellsWith(cell);
  const group = cells.layout.groups.find(each => each.first === first && each.count === count);
  if (count === 1) openNode(cell);
  else if (group !== undefined && members().length > 1) go({ group: group.name ?? 'others', page: undefined });
  else {
    const all = Uint32Array.from({ length: count }, (_, i) => first + i);
    const [worst = cells.names[first]] = unwellOf(cells, all);
    go({ zoom: ZOOMS[0], at: worst });
  }
}

function openJob(job: Partial<JobInfo> & Pick<JobInfo, 'id'>): void {
  go({ ...WHOLE, ...jobChange(job) });
}

function closeSheet(): void {
  if (!sheet.isOpen) return;
  // The nodes of a job stay selected.
  if (view.node === undefined) go({ job: undefined });
  else if ((history.state as { isOurs?: boolean } | null)?.isOurs) history.back();
  else go({ node: undefined }, false);
  field.focus();
}

function moveTo(cell: number, isAlone = false): void {
  const name = cells.names[cell];
  if (name === undefined) return;
  while (isAlone && map.cellsWith(cell).count > 1) openAt(cell);
  view = { ...view, at: name };
  replaceSoon();
  map.cursor = cell;
  tellHere();
  spokenAt = performance.now();
  write(byId('announced'), nodeText(cell));
}

/** One step of zoom: +1 larger, -1 smaller cells, down to those that fit. */
function zoom(step: 1 | -1): void {
  const side = () => (map.plan?.isGrained ? 1 : (map.plan?.side ?? 1) / (window.devicePixelRatio || 1));
  const larger = ZOOMS.filter(size => size > side());
  const smaller = ZOOMS.filter(size => size < (view.zoom ?? 0));
  go({ zoom: step === 1 ? (larger[0] ?? view.zoom) : smaller.at(-1) }, false);
  if (view.zoom !== undefined && side() > view.zoom) go({ zoom: undefined }, false);
}

listen({
  ...{ field, map, flow, table, sheet, cells, changes },
  ...{ view: () => view, go, moveTo, openAt, closeSheet, zoom, nodeText, flowText: at => river.textAt(at) },
  toggleTheme: () => go({ theme: themeNow() === 'dark' ? 'light' : 'dark' }, false),
  tell: (what, others = []) => {
    unfollowed = [what];
    tellChoice();
    // The other meaning is a search of its own.
    const seek = (text: string) => {
      byId<HTMLInputElement>('asked').value = text;
      byId<HTMLFormElement>('find').requestSubmit();
    };
    byId('offered').replaceChildren(...others.map(text => button(text, () => seek(text))));
  },
  find: asked => meaningOf(asked, { ...head, cells, jobs: hello?.jobs === true ? jobs : undefined }),
});

// ---- layout of the page ----

const darkness = matchMedia('(prefers-color-scheme: dark)');
const themeNow = (): 'dark' | 'light' => view.theme ?? (darkness.matches ? 'dark' : 'light');

/** The zone of the page. */
const zoneNow = (): ClockZone => view.zone ?? (view.wall ? 'master' : 'browser');
const nextZone = () => ZONES[(ZONES.indexOf(zoneNow()) + 1) % ZONES.length];

function useZone(): void {
  setZone({ browser: undefined, master: hello?.zone ?? 'UTC', utc: 'UTC' }[zoneNow()]);
  set(byId('clock'), { title: `Time zone: ${zoneNow()}; a click: ${nextZone()}` });
  flow.repaint();
  tellPace();
}

byId('clock').addEventListener('click', () => go({ zone: nextZone() }, false));

function setTheme(): void {
  root.dataset.theme = themeNow();
  root.dataset.view = view.wall ? 'wall' : 'desk';
  const key = `${themeNow()} ${view.scale}`;
  if (inksOf === key) return;
  inksOf = key;
  inks = readInks(themeNow(), view.scale === 'hue');
  write(byId('theme'), themeNow() === 'dark' ? 'Light' : 'Dark');
  map.setInks(inks);
  flow.setInks(inks);
  colourOwn();
  tellLegend();
}
darkness.addEventListener('change', setTheme);

/** The river's share of a wall's height. */
const WALL_RIVER = 0.14;
/** The heights at a desk of all but map and list, and of a line of the list, px. */
const DESK = { head: 264, line: 39 } as const;
/** The room for map and river depends on the window and the number of nodes only, so that no words move a cell. */
function measure(): void {
  map.letters = view.wall ? Math.max(12, Math.round(innerHeight / 56)) : undefined;
  // At a desk it ends where the window does, below the highest list, which is beside it if there are three columns.
  const [isDesk, hasThree] = [innerWidth >= 1280, innerWidth >= 2400];
  const above = hasThree ? DESK.head : DESK.head + trouble.mostLines * DESK.line;
  const atDesk = Math.max(innerHeight * 0.3, isDesk ? innerHeight - above : innerHeight * 0.54);
  map.height = view.wall ? byId('map').clientHeight : Math.round(atDesk);
  if (view.wall) flow.fit(Math.round(innerHeight * WALL_RIVER), innerHeight);
  else flow.fit(Math.round(innerHeight * (isDesk ? 0.3 : 0.42)));
  headline.fit();
  trouble.layOut();
}
let width = 0;
new ResizeObserver(() => {
  measure();
  if (byId('mappart').clientWidth === width) return;
  width = byId('mappart').clientWidth;
  map.layOut();
  flow.layOut();
}).observe(byId('mappart'));
addEventListener('resize', measure);
watchSight(byId('tablepart'), isInSight => {
  isTableInSight = isInSight;
  if (isInSight) table.update();
});

// The clocks are compared while the line is empty.
watchPace();
ask();
// While the answer is on its way.
setTheme();
measure();
setInterval(watchPace, 1000);
