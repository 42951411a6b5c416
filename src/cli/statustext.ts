// The text of status: a line that sums up, rows or folded host lists, sentences. Knows no terminal and no command line.

import { schedulerColumns } from '../jobs/schedulernode.js';
import type { Grouping } from '../options/options.js';
import { headline, lookMs } from '../presentation/summary.js';
import { troubleText } from '../presentation/troublelines.js';
import type { NodeGroup } from '../query/groups.js';
import { ordered } from '../query/sorting.js';
import { isException, type Survey, type Surveyed } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { isHeard, linkName } from '../shm/links.js';
import { STATES, type State } from '../shm/liveness.js';
import { PROBLEM_TEXT, problemsOf } from '../shm/problems.js';
import { lastingMs, plural, timeOf } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import type { Painter } from '../terminal/style.js';
import { foldParts } from '../text/hostlists.js';
import { inLines, separated, wrapped } from '../text/layout.js';
import { roughly } from '../text/roughly.js';
import { oneLine } from '../text/text.js';
import type { Anomaly } from '../trouble/findings.js';
import { type Besides, troubleAndSentences } from '../trouble/trouble.js';
import { type CommandOptions, commandLines, inFull, nodesCommand } from './commandline.js';
import { totalsTexts } from './totalstext.js';
import { troubleLines } from './troublelist.js';

/** Up to so many nodes have a row each. */
const ROWS = 40;

/** Whether so many nodes are folded into host lists. Who sorts, or asks for all nodes or for columns, wants rows. */
export function areFolded(
  count: number,
  { sort, columns, long }: Partial<Pick<StatusLayout, 'sort' | 'columns' | 'long'>>,
): boolean {
  return count > ROWS && !long && sort === undefined && columns === undefined;
}

/** The nodes that have a row each, and those that are folded into host lists; with Slurm's columns the worst have rows. */
function divided(
  found: Survey,
  nodes: readonly Surveyed[],
  look: StatusLayout,
): { inRows: Surveyed[]; folded: Surveyed[] } {
  const areMany = areFolded(nodes.length, look);
  if (areMany && look.slurm === undefined) return { inRows: [], folded: [...nodes] };
  const inOrder = ordered({ ...found, nodes }, look.sort);
  return areMany ? { inRows: inOrder.slice(0, ROWS), folded: inOrder.slice(ROWS) } : { inRows: inOrder, folded: [] };
}

/** What is asked for, and the layout. */
export interface StatusLayout {
  readonly width: number;
  /** In which the line that sums up is broken; undefined: never, because programs read it from a pipe. */
  readonly headWidth?: number;
  readonly paint: Painter;
  /** Names of columns; undefined: as many as fit. */
  readonly columns?: readonly string[] | undefined;
  readonly sort?: string | undefined;
  /** The rule by which nodes are grouped into one line per group. */
  readonly grouping?: Grouping | undefined;
  /** Only nodes that are not live, or that have a problem. */
  readonly exceptions?: boolean;
  /** Everything, however long it is. */
  readonly long?: boolean;
  /** What Slurm says about the nodes, if that was asked for. */
  readonly slurm?: SchedulerView | undefined;
  /** What the list of trouble is made from besides the board. */
  readonly besides?: Besides | undefined;
  /** The same in the texts of the options, for command lines that show what was cut. */
  readonly asked?: CommandOptions | undefined;
}

/** Live nodes get few lines: a user can ask for more. */
const LINES_LIVE = 3;
const LINES_OTHERS = 12;

/** A host list in lines of this width. */
const listLines = (parts: readonly string[], width: number) => inLines(separated(parts, ','), width);

/** The nodes in each state that occurs, in the order of the states. */
function* byState(nodes: readonly Surveyed[]): Generator<[State, Surveyed[]]> {
  const groups = new Map<State, Surveyed[]>(STATES.map(state => [state, []]));
  // Neighbours are nearly always in the same state, so it is looked up once.
  let [last, same]: [State | undefined, Surveyed[] | undefined] = [undefined, undefined];
  for (const node of nodes) {
    if (node.state !== last) [last, same] = [node.state, groups.get(node.state)];
    same?.push(node);
  }
  for (const [state, all] of groups) if (all.length > 0) yield [state, all];
}

/** The nodes of one state: their number, since when they are in it, and their names as parts of a host list. */
export interface FoldedState {
  readonly state: State;
  readonly count: number;
  /** Undefined: they are live, or it is not known. */
  readonly since: string | undefined;
  readonly parts: readonly string[];
}

/** Reports that are no further apart may be the last ones of nodes that died at once, ms. */
const AT_ONCE_MS = 1000;

/** Since when these nodes of one state are in it: `16 min, since 14:02:32`; if not all at once, `16 min, since 14:02:20, the last since 14:02:33`. */
function sinceText(snapshot: Snapshot, state: State, nodes: readonly Surveyed[]): string | undefined {
  if (state === 'live' || state === 'unknown' || state === 'never') return undefined;
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (const { index } of nodes) {
    const age = snapshot.ageMs(index);
    [least, most] = [Math.min(least, age), Math.max(most, age)];
  }
  const [first, last] = [timeOf(snapshot, most), timeOf(snapshot, least)];
  const since = `${roughly(lastingMs(snapshot, most))}, since ${first}`;
  return most - least <= AT_ONCE_MS || first === last ? since : `${since}, the last since ${last}`;
}

export function foldStates(snapshot: Snapshot, nodes: readonly Surveyed[]): FoldedState[] {
  return Array.from(byState(nodes), ([state, some]) => ({
    state,
    count: some.length,
    since: sinceText(snapshot, state, some),
    parts: foldParts(some.map(({ name }) => name)).map(oneLine),
  }));
}

/** At least one line for each state. */
export function* foldedLines(
  states: readonly FoldedState[],
  { width, paint, asked = {} }: Pick<StatusLayout, 'width' | 'paint' | 'asked'>,
): Generator<string> {
  const digits = String(states.reduce((sum, { count }) => sum + count, 0)).length;
  for (const { state, count, since, parts } of states) {
    const head = `${state.padEnd(9)}  ${String(count).padStart(digits)}  `;
    const [first = '', ...rest] = parts;
    const all = since === undefined ? parts : [`${since}: ${first}`, ...rest];
    const lines = listLines(all, width - head.length);
    const most = state === 'live' ? LINES_LIVE : LINES_OTHERS;
    for (const [i, line] of lines.slice(0, most).entries())
      yield `${i === 0 ? `${paint.state(state, state.padEnd(9))}${head.slice(9)}` : ' '.repeat(head.length)}${line}`;
    if (lines.length <= most) continue;
    // All nodes in other states are exceptions, so all are listed.
    const onlyUnhealthy = asked.exceptions === true && state === 'live';
    yield* commandLines(`${' '.repeat(head.length)}… all: `, nodesCommand(state, asked, onlyUnhealthy), width);
  }
}

async function rows(
  snapshot: Snapshot,
  nodes: readonly Surveyed[],
  { width, paint, columns, slurm }: StatusLayout,
): Promise<string[]> {
  const { chosenColumns, layOut } = await import('../query/columns.js');
  const shown = nodes.map(one => ({ ...one, node: snapshot.node(one.index) }));
  const [titles = [], ...cells] = layOut(shown, {
    columns: columns && chosenColumns(columns),
    extra: slurm && schedulerColumns(slurm),
    width,
  });
  const line = (parts: string[]) => parts.join('  ').trimEnd();
  return [
    `${paint.title(line(titles.map(({ text }) => text)))}\n`,
    ...cells.map(row => `${line(row.map(({ text, state }) => (state ? paint.state(state, text) : text)))}\n`),
  ];
}

/** Why a rule makes no groups. */
export function unmatched(grouping: Grouping): string {
  if ('field' in grouping) return `no groups: none of these nodes has ${grouping.field}`;
  return `no groups: none of these names matches /${oneLine(grouping.pattern)}/; beoboard nodes lists them`;
}

/** How many more there are, and the command that shows all; empty if there are no more. */
function moreLines(more: number, { asked = {}, width }: Pick<StatusLayout, 'asked' | 'width'>): string[] {
  return more > 0 ? commandLines(`… ${more} more; all: `, inFull(asked), width).map(line => `${line}\n`) : [];
}

function* memberLines({ nodes }: NodeGroup, width: number): Generator<string> {
  for (const [state, some] of byState(nodes)) {
    const label = `  ${state}: `;
    let lead = label;
    for (const line of listLines(foldParts(some.map(({ name }) => name)).map(oneLine), width - label.length)) {
      yield `${lead}${line}\n`;
      lead = ' '.repeat(label.length);
    }
  }
}

/** One line per group: all groups, or those that `-x` leaves. */
async function grouped(found: Survey, grouping: Grouping, look: StatusLayout): Promise<string[]> {
  const { sort, exceptions, long, width, columns, paint, asked } = look;
  const [{ groups, groupLines }, { chosenColumns }] = await Promise.all([
    import('../query/groups.js'),
    import('../query/columns.js'),
  ]);
  const formed = groups(found, grouping, sort);
  if (formed.length > 0 && formed.every(({ name }) => name === undefined)) return [`${unmatched(grouping)}\n`];
  const all = formed.filter(({ nodes }) => !exceptions || nodes.some(isException));
  if (all.length === 0) return [];
  const [titles = '', ...lines] = groupLines(found.snapshot, all.slice(0, long ? all.length : ROWS), {
    columns: columns && chosenColumns(columns),
    width,
  });
  const more = all.length - lines.length;
  return [
    `${paint.title(titles)}\n`,
    ...lines.flatMap((line, i) => [`${line}\n`, ...(long ? memberLines(all[i] as NodeGroup, width) : [])]),
    ...moreLines(more, { asked, width }),
  ];
}

/** Sentences of words, in lines of this width. */
export const wrappedText = (text: string, width: number): string => wrapped(text, width, '  ').join('\n');

/** The parts of the totals in lines of this width, broken between parts; empty if there are none. */
export const totalsLines = (parts: readonly string[], width: number): string[] =>
  inLines(
    separated(parts, ';').map(part => ` ${part}`),
    width,
    '  ',
  );

/** The list of trouble, and the sentences. What is over is no exception. */
function shownTrouble(found: Survey, { besides, exceptions }: StatusLayout) {
  const { trouble, odd } = troubleAndSentences(found, besides);
  return { trouble: exceptions ? trouble.filter(({ dim }) => dim !== 'ended') : trouble, odd };
}

/** Anomalies that are a reason for a silence. */
const EXPLAINING: ReadonlySet<Anomaly['kind']> = new Set(['link', 'together', 'refused', 'rival', 'clone']);

/** What may stand in a command line as it is. */
const PLAIN = /^[\w.:-]+$/;

/**
 * About a silent node that no anomaly explains, behind a link by which others are heard: a sentence, and the commands that
 * tell whether it is gone, or its reports arrive and a filter of this master drops them, of which the receiver cannot
 * know. Nothing on a mirror.
 */
function closerLook({ snapshot, nodes }: Survey, odd: readonly Anomaly[]): string[] {
  if (snapshot.stalled || snapshot.retired || snapshot.isMirror) return [];
  const explained = new Set(odd.flatMap(({ kind, nodes }) => (EXPLAINING.has(kind) ? nodes : [])));
  for (const node of nodes) {
    const { index, name, state } = node;
    if (state !== 'silent' || explained.has(node)) continue;
    const link = snapshot.links.find(({ number }) => number === snapshot.linkOf(index));
    const { address } = snapshot.node(index);
    if (link === undefined || address === '' || !isHeard(snapshot, link.number)) continue;
    // What is local may have come by a bridge, too.
    const on = PLAIN.test(link.name) && link.name !== 'lo' ? link.name : 'any';
    const port = link.port > 0 ? ` dst port ${link.port}` : '';
    return [
      `${oneLine(name)} is silent, and others behind ${oneLine(linkName(link))} are heard. On this master, the first command ` +
        'tells whether it answers, the second whether its reports arrive: then a packet filter or rp_filter here drops them',
      `ping ${address.startsWith('fe80:') ? `${address}%${on}` : address}`,
      `tcpdump -ni ${on} 'udp${port} and src host ${address}'`,
    ];
  }
  return [];
}

/** The whole answer for people. */
export async function statusText(found: Survey, look: StatusLayout): Promise<string[]> {
  const { snapshot } = found;
  const { grouping, exceptions, width, headWidth = Number.POSITIVE_INFINITY } = look;
  const { trouble, odd } = shownTrouble(found, look);
  const table = grouping === undefined ? [] : await grouped(found, grouping, look);
  const shown = exceptions ? found.nodes.filter(isException) : found.nodes;
  const nodes = grouping === undefined ? shown : [];
  // With -x everything that is well takes one line.
  const isWell = exceptions && table.length === 0 && nodes.length === 0;
  const totals = isWell ? [] : totalsLines(totalsTexts(found), width);
  const lines = troubleLines(trouble, { nowMs: lookMs(snapshot), width, paint: look.paint, whole: look.long }).flat();
  const out = [...[wrappedText(headline(found), headWidth), ...totals, ...lines].map(line => `${line}\n`)];
  const isMore = table.length > 0 || nodes.length > 0;
  if (lines.length > 0 && isMore) out.push('\n');
  out.push(...table);
  const { inRows, folded } = divided(found, nodes, look);
  if (inRows.length > 0) {
    const most = look.long ? inRows.length : ROWS;
    out.push(...(await rows(snapshot, inRows.slice(0, most), look)));
    out.push(...moreLines(inRows.length + folded.length - most, look));
  }
  out.push(...Array.from(foldedLines(foldStates(snapshot, folded), look), line => `${line}\n`));
  // Each in a sentence of its own, with its figures.
  if (look.long && odd.length > 0)
    out.push('\n', ...odd.map(({ text }) => `${look.paint.odd(wrappedText(text, width))}\n`));
  const [sentence, ...commands] = closerLook(found, odd);
  if (sentence !== undefined) out.push('\n', `${wrappedText(sentence, width)}\n`);
  return [...out, ...commands.map(command => `  ${command}\n`)];
}

/** States in the order and words of a verb. */
const SPOKEN: Partial<Record<State, string>> = {
  never: 'has never reported',
  left: 'has left',
  unknown: 'is in an unknown state',
};

/** The status in sentences, one line per node: for people who have it read aloud, and for grep. */
export async function plainText(found: Survey, look: StatusLayout): Promise<string[]> {
  const { chosenColumns, COLUMNS } = await import('../query/columns.js');
  const { snapshot } = found;
  const columns = (look.columns ? chosenColumns(look.columns) : COLUMNS).filter(
    ({ name }) => name !== 'name' && name !== 'state' && name !== 'problems',
  );
  const nodes = look.exceptions ? found.nodes.filter(isException) : found.nodes;
  const totals = look.exceptions && nodes.length === 0 ? [] : totalsTexts(found);
  const out = [`${headline(found)}.\n`, ...(totals.length === 0 ? [] : [`${totals.join('; ')}.\n`])];
  const { inRows, folded } = divided(found, nodes, look);
  for (const { index, name, state, problems } of inRows) {
    const node = snapshot.node(index);
    const described = (reading: boolean) =>
      columns
        .filter(column => (column.reading === true) === reading)
        .flatMap(column => {
          const value = column.text(node);
          return value === undefined ? [] : [`${column.spoken} ${value}${column.name === 'age' ? ' ago' : ''}`];
        });
    const readings = described(true);
    const besides = (look.slurm === undefined ? [] : schedulerColumns(look.slurm)).flatMap(({ name, title, text }) => {
      const value = text(node);
      return value === undefined
        ? []
        : [`${name === 'slurm' ? `in ${look.slurm?.name}` : title.toLowerCase()} ${value}`];
    });
    const known = readings.length === 0 ? [] : [`${state === 'live' ? '' : 'last known: '}${readings.join(', ')}`];
    out.push(
      `${oneLine(name)} ${[[SPOKEN[state] ?? `is ${state}`, ...problemsOf(problems).map(problem => PROBLEM_TEXT[problem]), ...described(false)].join(', '), ...(besides.length === 0 ? [] : [besides.join(', ')]), ...known].join('; ')}.\n`,
    );
  }
  for (const { state, count, since, parts } of foldStates(snapshot, folded))
    out.push(`${state}${since === undefined ? '' : ` for ${since}`}, ${plural(count)}: ${parts.join(', ')}.\n`);
  const { trouble, odd } = shownTrouble(found, look);
  for (const line of trouble) {
    const { severity, lasting, since, text } = troubleText(line, lookMs(snapshot), look.long);
    const when =
      since === '' ? '' : `, ${line.dim === 'ended' ? `for ${lasting} from` : `for ${lasting}, since`} ${since}`;
    out.push(`${severity[0]?.toUpperCase()}${severity.slice(1)}${when}: ${text}.\n`);
  }
  if (look.long) out.push(...odd.map(({ text }) => `In detail: ${text}.\n`));
  return [...out, ...closerLook(found, odd).map(text => `${text}\n`)];
}
