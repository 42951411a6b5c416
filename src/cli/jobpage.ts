// One job on a page: what it is, the trouble of its nodes, and a row for each of them, who differs most from the others
// first.

import { readAcks } from '../acks/ackfile.js';
import type { TroubleInfo } from '../acks/info.js';
import { elapsedMs, jobLines, jobNotes, jobPageJson, MEMBER_COLUMNS, noJobText } from '../jobs/jobfacts.js';
import { jobsNamed, type ListedJob } from '../jobs/joblist.js';
import { membersOf } from '../jobs/jobmembers.js';
import { lookMs } from '../presentation/summary.js';
import { survey } from '../query/survey.js';
import type { Painter } from '../terminal/style.js';
import { tableLines, wrapped } from '../text/layout.js';
import { shellWord } from '../text/text.js';
import { troubleOf, withoutJob } from '../trouble/trouble.js';
import { showJobs } from './jobtable.js';
import { type LookResult, ROWS, type SchedulerLook } from './schedulerlook.js';
import { troubleLines } from './troublelist.js';

interface PageOptions {
  readonly board: string;
  /** The folder where journals say how they are. */
  readonly journalRun?: string | undefined;
  readonly long?: boolean | undefined;
  readonly width: number;
}

/** The lines of trouble about the nodes of a job while it ran on them; that it runs there itself is not said. */
function troubleAbout({ found, slurm }: SchedulerLook, { job, names }: ListedJob, options: PageOptions): TroubleInfo[] {
  const chosen = survey(found.snapshot, { among: names });
  const scheduler = slurm.isKnown ? slurm : undefined;
  const { board, journalRun: journals } = options;
  const withinMs = elapsedMs(job, lookMs(found.snapshot));
  const lines = troubleOf(chosen, { scheduler, journals, withinMs, ...readAcks(board) });
  return lines.filter(({ nodes }) => nodes !== undefined).map(line => withoutJob(line, job.id));
}

function membersIn({ found: { snapshot, all } }: SchedulerLook, row: ListedJob) {
  const indexes = new Map(all.map(({ name, index }) => [name, index]));
  return membersOf(row, name => {
    const index = indexes.get(name);
    return index === undefined ? undefined : snapshot.node(index);
  });
}

function pageLines(row: ListedJob, look: SchedulerLook, options: PageOptions, paint: Painter): string[] {
  const { width, long } = options;
  const members = membersIn(look, row);
  const shown = long ? members : members.slice(0, ROWS);
  const nowMs = lookMs(look.found.snapshot);
  const trouble = troubleLines(troubleAbout(look, row, options), { nowMs, width, paint }).flat();
  const [titles = '', ...rows] = tableLines(MEMBER_COLUMNS, shown, width);
  const more = members.length - shown.length;
  const head = jobLines(row, nowMs).flatMap(line => wrapped(line, width));
  return [
    ...(look.slurm.trouble === undefined ? head : head.map(line => paint.state('left', line))),
    ...(trouble.length === 0 ? [] : ['', ...trouble]),
    ...['', paint.title(titles), ...rows],
    ...(more > 0 ? [`… ${more} more; all: beoboard jobs ${shellWord(row.job.id)} --long`] : []),
    ...jobNotes(row, members, look.slurm).flatMap(note => ['', ...wrapped(note, width)]),
  ];
}

/** The job with that id; or a table of its parts, of which one has to be named. */
export function showJob(id: string, look: SchedulerLook, options: PageOptions): LookResult {
  const parts = jobsNamed(id, look.slurm, look.nodeOf);
  const [row] = parts;
  if (row === undefined)
    return {
      ...{ key: 'jobs', json: () => [], lines: () => [], about: [] },
      wrong: `${noJobText(id, parts)}; beoboard jobs lists those that have`,
    };
  if (parts.length > 1) {
    const table = showJobs(parts, look, options.long);
    const advice = `${parts.length} jobs have this number; name one of them: beoboard jobs ${shellWord(row.job.id)}`;
    return { ...table, about: [], lines: paint => [...table.lines(paint), '', ...wrapped(advice, options.width)] };
  }
  return {
    ...{ key: 'jobs', about: [] },
    json: () => [jobPageJson(row, membersIn(look, row), troubleAbout(look, row, options), look.slurm)],
    lines: paint => pageLines(row, look, options, paint),
  };
}
