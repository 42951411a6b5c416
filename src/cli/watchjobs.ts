// The jobs that `status --watch` can open: which are on a node, and the page of one, as `beoboard jobs 4711` shows it.

import { meaningOf, nodesOf, nodesOfJobs } from '../jobs/joblist.js';
import type { Survey } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { problemBit } from '../shm/problems.js';
import type { Painter } from '../terminal/style.js';
import { OUT_OF_SERVICE, withId } from '../text/jobnames.js';
import { wrapped } from '../text/layout.js';
import { showJob } from './jobpage.js';

export interface JobsSeen {
  /** The ids of the jobs on the node of that name. */
  readonly on: (node: string) => readonly string[];
  /** The nodes of a job, user or switch of that name, those out of service, or with names of which it is a part; undefined: it is a host list. Throws an InputError. */
  readonly named: (text: string) => readonly string[] | undefined;
  /** The lines of a job's page, of so many columns; a sentence if there is none of that number. */
  readonly page: (id: string, width: number, paint: Painter) => readonly string[];
}

/** The jobs beside a board that was seen. `where`: its path, and where journals say how they are. Nothing is computed until it is asked for, and then once. */
export function jobsSeen(
  found: Survey,
  slurm: SchedulerView,
  where: { readonly board: string; readonly journalRun: string },
): JobsSeen {
  let last: { readonly key: string; readonly lines: readonly string[] } | undefined;
  const page: JobsSeen['page'] = (id, width, paint) => {
    const look = { found, slurm, nodeOf: nodesOf(found), among: undefined };
    const shown = slurm.isKnown ? showJob(id, look, { ...where, width, long: true }) : undefined;
    // That what is known is old is said above it.
    const sentences = [slurm.trouble, shown?.wrong].filter(text => text !== undefined);
    return [...sentences.flatMap(text => wrapped(text, width)).map(paint.odd), ...(shown?.lines(paint) ?? [])];
  };
  const named: JobsSeen['named'] = text => {
    if (OUT_OF_SERVICE.test(text))
      return found.all.flatMap(({ name, problems }) =>
        (problems & problemBit('held')) !== 0 || slurm.of(name)?.node.aside !== undefined ? [name] : [],
      );
    const known = new Set(found.all.map(({ name }) => name));
    const isNode = (name: string) => known.has(name);
    const { jobs, users, nodes } = meaningOf([text], slurm, isNode);
    const theirs = jobs
      .flatMap(id => withId(slurm.jobs, id))
      .concat(slurm.jobs.filter(({ user }) => users.includes(user)));
    if (theirs.length > 0) return [...nodesOfJobs(slurm, theirs)];
    const behind = slurm.switches.get(text);
    if (behind !== undefined) return behind;
    const partly = nodes.some(isNode) ? [] : [...known].filter(name => name.includes(text));
    return partly.length > 0 ? partly : undefined;
  };
  return {
    named,
    on: node => (slurm.of(node)?.jobs ?? []).map(({ id }) => id),
    page: (id, width, paint) => {
      const key = `${width} ${id}`;
      if (last?.key !== key) last = { key, lines: page(id, width, paint) };
      return last.lines;
    },
  };
}
