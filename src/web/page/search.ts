// What somebody means who types a text into the page's search: nodes, a group, a state, a job, a user, a line of trouble,
// or a condition, which the server judges. Pure.

import type { TroubleInfo } from '../../acks/info.js';
import type { JobInfo } from '../../presentation/shapes.js';
import { tryExpand } from '../../text/hostlists.js';
import { isJobId } from '../../text/jobnames.js';
import { shortened } from '../../text/unseen.js';
import type { Cells } from './cells.js';
import type { JobView } from './jobview.js';
import { isState } from './legend.js';
import { isCondition, type PageView } from './viewstate.js';

interface SearchSources {
  readonly cells: Cells;
  /** Absent: jobs are not shown here. */
  readonly jobs: Pick<JobView, 'numbered' | 'nodesOf'> | undefined;
  readonly trouble: readonly TroubleInfo[];
}

/** A change of the view, with the cell that the cursor goes to; or why nothing was found. */
export type SearchResult =
  | { readonly change: Pick<PageView, 'where' | 'select' | 'state' | 'group' | 'job' | 'node'>; readonly cell?: number }
  | { readonly refusal: string };

const NO_JOBS = 'jobs are not shown here; the administrator can start beoboard web with --show-jobs';

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
  const line = trouble.find(({ key }) => key === text);
  if (line?.nodes !== undefined) return { change: { select: line.nodes } };
  if (cells.layout.groups.some(({ name }) => name === text)) return { change: { group: text } };
  const names = tryExpand(text, 'any');
  const found = (names ?? []).map(name => cells.indexOf(name)).filter(cell => cell !== undefined);
  const [cell] = found;
  const [, what, owner = text] = /^(job|user)\s+(\S.*)$/.exec(text) ?? [];
  const job = what === 'user' || (cell !== undefined && !isJobId(text)) ? undefined : jobs?.numbered(owner);
  if (job !== undefined) return { change: jobChange(job) };
  const nodes = jobs?.nodesOf(owner);
  // The name of a node may be that of a user, too: the cursor goes to the one, and the nodes of the other are selected.
  if (cell !== undefined) return { change: found.length > 1 ? { select: text } : nodes ? { select: nodes } : {}, cell };
  if (nodes !== undefined) return { change: { select: nodes } };
  if (what !== undefined || isJobId(text))
    return {
      refusal: jobs === undefined ? `“${text}”: ${NO_JOBS}` : `There is no job of ${what ?? 'number'} ${owner}`,
    };
  // A word that is none of these may be a problem or a reading, which the server knows.
  if (WORD.test(text) && !/\d/.test(text)) return { change: { where: text } };
  return { refusal: names === undefined ? `“${text}” is not a host list` : `There is no node ${text}` };
}
