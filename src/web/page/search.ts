// What somebody means who types a text into the page's search: nodes, a group, a state, a job, a user, a switch, a line of
// trouble, or a condition, which the server judges. Pure.

import type { JobInfo } from '../../presentation/shapes.js';
import { fold, tryExpand } from '../../text/hostlists.js';
import { isJobId, OUT_OF_SERVICE } from '../../text/jobnames.js';
import { shortened } from '../../text/unseen.js';
import { NO_JOBS, type WallHead } from '../wire.js';
import type { Cells } from './cells.js';
import { plural } from './formats.js';
import type { JobView } from './jobview.js';
import { isState } from './legend.js';
import { isCondition, type PageView } from './viewstate.js';

interface SearchSources extends Partial<Pick<WallHead, 'marks' | 'trouble'>> {
  readonly cells: Cells;
  /** Absent: jobs are not shown here. */
  readonly jobs: Pick<JobView, 'numbered' | 'nodesOf' | 'behind'> | undefined;
}

/** A change of the view, with the cell that the cursor goes to, and what else was meant perhaps; or why nothing was found. */
export type SearchResult =
  | {
      readonly change: Pick<PageView, 'where' | 'select' | 'state' | 'group' | 'job' | 'node'>;
      readonly cell?: number;
      readonly said?: string;
      /** Searches for what else was meant perhaps. */
      readonly others?: readonly string[];
    }
  | { readonly refusal: string };

const WORD = /^[a-z_][\w.]*$/i;

/** Why the server did not take a condition, or a word that might be one. */
export function refusalOf(where: string | undefined, why: string, hasJobs: boolean): string {
  if (where === undefined) return why;
  const asked = shortened(where, 60);
  if (!WORD.test(where)) return `“${asked}”: ${why}`;
  return `There is no node, group, job, user, problem or reading ${asked} (${why})${hasJobs ? '' : `; ${NO_JOBS}`}`;
}

/** Opens the page of a job, and selects its nodes. */
export const jobChange = ({ id, nodes }: Partial<JobInfo> & Pick<JobInfo, 'id'>) => ({
  ...{ select: nodes, job: id, node: undefined },
});

/** The meaning of a text that is not empty. */
export function meaningOf(text: string, { cells, jobs, trouble = [], marks = {} }: SearchSources): SearchResult {
  if (isCondition(text)) return { change: { where: text } };
  if (isState(text)) return { change: { state: text } };
  if (OUT_OF_SERVICE.test(text))
    return { change: marks.held === undefined ? { where: 'held' } : { select: marks.held } };
  const line = trouble.find(({ key }) => key === text);
  if (line?.nodes !== undefined) return { change: { select: line.nodes } };
  const [, what, owner = text] = /^(job|user|node|switch)\s+(\S.*)$/.exec(text) ?? [];
  const isAsked = (word: string) => what === undefined || what === word;
  const names = isAsked('node') ? tryExpand(owner, 'any') : undefined;
  const found = cells.cellsOf(names ?? []);
  const meant = {
    group: cells.layout.groups.find(({ name }) => name === text)?.name ?? undefined,
    job: isAsked('job') ? jobs?.numbered(owner) : undefined,
    user: isAsked('user') || what === 'job' ? jobs?.nodesOf(owner) : undefined,
    switch: isAsked('switch') ? jobs?.behind(owner) : undefined,
    node: found[0],
  };
  const [first, ...rest] = Object.entries(meant).flatMap(([word, meaning]) => (meaning === undefined ? [] : [word]));
  if (first !== undefined) {
    const { group, job, user, switch: behind, node: cell } = meant;
    const others = rest.map(word => `${word} ${owner}`);
    const said = others.length > 0 && {
      said: `${owner} is a ${first}; write ${others.join(' and ')} for that`,
      others,
    };
    if (group !== undefined) return { change: { group }, ...said };
    if (job !== undefined) return { change: jobChange(job), ...said };
    // The cursor goes to a node of that name, too.
    const select = user ?? behind ?? (found.length > 1 ? owner : undefined);
    return { change: select === undefined ? {} : { select }, ...(cell !== undefined && { cell }), ...said };
  }
  // A part of names: of a rack, of all login nodes.
  const partly = cells.names.filter(name => what === undefined && name.includes(text));
  if (partly.length > 0)
    return { change: { select: fold(partly) }, said: `${plural(partly.length)} whose names have “${text}” in them` };
  if (isJobId(owner) && isAsked('job'))
    return { refusal: jobs ? `There is no job of number ${owner}` : `“${text}”: ${NO_JOBS}` };
  // A word that is none of these may be a problem or a reading, which the server knows.
  if (WORD.test(text) && !/\d/.test(text)) return { change: { where: text } };
  if (isAsked('node') && names === undefined) return { refusal: `“${text}” is not a host list` };
  const why = jobs === undefined && what !== 'node' ? `; ${NO_JOBS}` : '';
  return { refusal: `There is no ${what ?? 'node'} ${owner}${why}` };
}
