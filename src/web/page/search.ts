// What somebody means who types a text into the page's search: nodes, a group, a state, a job, a user, a line of trouble,
// or a condition, which the server judges. Pure.

import type { TroubleInfo } from '../../acks/info.js';
import type { JobInfo } from '../../presentation/shapes.js';
import { fold, tryExpand } from '../../text/hostlists.js';
import { isJobId } from '../../text/jobnames.js';
import { shortened } from '../../text/unseen.js';
import type { Cells } from './cells.js';
import { plural } from './formats.js';
import { type JobView, NO_JOBS } from './jobview.js';
import { isState } from './legend.js';
import { isCondition, type PageView } from './viewstate.js';

interface SearchSources {
  readonly cells: Cells;
  /** Absent: jobs are not shown here. */
  readonly jobs: Pick<JobView, 'numbered' | 'nodesOf'> | undefined;
  readonly trouble: readonly TroubleInfo[];
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
export function refusalOf(where: string | undefined, why: string): string {
  if (where === undefined) return why;
  const asked = shortened(where, 60);
  return WORD.test(where)
    ? `There is no node, group, job, user, problem or reading ${asked} (${why})`
    : `“${asked}”: ${why}`;
}

/** Opens the page of a job, and selects its nodes. */
export const jobChange = ({ id, nodes }: Partial<JobInfo> & Pick<JobInfo, 'id'>) => ({
  ...{ select: nodes, job: id, node: undefined },
});

/** The meaning of a text that is not empty. */
export function meaningOf(text: string, { cells, jobs, trouble }: SearchSources): SearchResult {
  if (isCondition(text)) return { change: { where: text } };
  if (isState(text)) return { change: { state: text } };
  // A line's key, or the switch that explains it.
  const line = trouble.find(({ key, what }) => key === text || what.includes(`switch ${text}, behind`));
  if (line?.nodes !== undefined) return { change: { select: line.nodes } };
  const [, what, owner = text] = /^(job|user|node)\s+(\S.*)$/.exec(text) ?? [];
  const nodes = what === 'node' ? undefined : jobs?.nodesOf(owner);
  const names = what === undefined || what === 'node' ? tryExpand(owner, 'any') : undefined;
  const found = (names ?? []).map(name => cells.indexOf(name)).filter(cell => cell !== undefined);
  const [cell] = found;
  if (cells.layout.groups.some(({ name }) => name === text)) {
    const others = [...(cell === undefined ? [] : [`node ${text}`]), ...(nodes === undefined ? [] : [`user ${text}`])];
    const said = `${text} is a group; write ${others.join(' and ')} for that`;
    return { change: { group: text }, ...(others.length > 0 && { said, others }) };
  }
  const job = what === 'user' || (cell !== undefined && !isJobId(text)) ? undefined : jobs?.numbered(owner);
  if (job !== undefined) return { change: jobChange(job) };
  // The name of a node may be that of a user, too: the cursor goes to the one, and the nodes of the other are selected.
  if (cell !== undefined && found.length === 1 && nodes !== undefined)
    return {
      change: { select: nodes },
      cell,
      said: `${text} is a node, under the cursor, and a user, whose nodes are selected`,
      others: [`node ${text}`],
    };
  if (cell !== undefined) return { change: found.length > 1 ? { select: owner } : {}, cell };
  if (nodes !== undefined) return { change: { select: nodes } };
  // A part of names: of a rack, of all login nodes.
  const partly = cells.names.filter(name => what === undefined && name.includes(text));
  if (partly.length > 0)
    return { change: { select: fold(partly) }, said: `${plural(partly.length)} whose names have “${text}” in them` };
  if (what !== 'node' && (what !== undefined || isJobId(text)))
    return {
      refusal: jobs === undefined ? `“${text}”: ${NO_JOBS}` : `There is no job of ${what ?? 'number'} ${owner}`,
    };
  // A word that is none of these may be a problem or a reading, which the server knows.
  if (WORD.test(text) && !/\d/.test(text)) return { change: { where: text } };
  return { refusal: names === undefined ? `“${text}” is not a host list` : `There is no node ${owner}` };
}
