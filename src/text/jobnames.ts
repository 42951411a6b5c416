// The names of jobs and users, as people and programs write them: of an array's task 4711_3, 4711.3 (Grid Engine) or
// 4711[3].pbs01 (PBS), with or without the server; of a part of a heterogeneous job 4711+1; Slurm's raw number of these;
// their steps 4711_3.0, 4711.batch; anna, anna@example.org, AD\anna. Reads no file: the page uses it, too.

import { groupBy } from './maps.js';

/** The words for nodes that an administrator keeps out of service, by the scheduler or by a hold file. */
export const OUT_OF_SERVICE = /^(held|drain(ed|ing)?)$/i;

const TASKS = String.raw`(?:[_.](?<task>\d+)|_?\[(?<tasks>[\d,:-]*)(?:%\d+)?\])`;
const END = String.raw`\.(?:\d+|(?<server>[a-z][\w.-]*))(?:\+\d+)?`;
const ID = new RegExp(String.raw`^(?<number>\d+)(?:${TASKS}|\+(?<part>\d+))?(?:${END})?$`, 'i');

/** What of a job is known by name. */
interface NamedJob {
  readonly id: string;
  /** Its number alone, where that is another one. */
  readonly raw_id?: string | undefined;
}

/** From the first to the last number. */
type Span = readonly [first: number, last: number];

/** `1-3,7`, `1-9:2`. */
const spansOf = (list: string) =>
  list.split(',').map((text): Span => {
    const [first = 0, last = first] = text.split(/[-:]/).map(Number);
    return [first, last];
  });

/** An id in its parts; `parts`: tasks or parts of the job, undefined: all. */
function partsOf(id: string) {
  const { number, task, tasks = task, part, server = '' } = ID.exec(id)?.groups ?? {};
  if (number === undefined) return undefined;
  const list = part ?? (tasks === '' ? '0-Infinity' : tasks);
  return { number, isPart: part !== undefined, parts: list ? spansOf(list) : undefined, server: server.toLowerCase() };
}

const meet = (some: readonly Span[], others: readonly Span[]) =>
  some.some(([first, last]) => others.some(other => first <= other[1] && other[0] <= last));

const isOneServer = (a: string, b: string) =>
  a === '' || b === '' || `${a}.`.startsWith(`${b}.`) || `${b}.`.startsWith(`${a}.`);

/**
 * The job with that id as it is listed; or else the parts of the array or heterogeneous job; or else the job with that
 * raw number. What could be a task, 4711.0, is a step where no job has such tasks.
 */
export function withId<Job extends NamedJob>(jobs: readonly Job[], text: string): readonly Job[] {
  const listed = jobs.filter(({ id }) => id === text);
  const asked = partsOf(text);
  if (listed.length > 0 || asked === undefined) return listed;
  const found = jobs.filter(({ id }) => {
    // Most ids begin otherwise, and are not parsed.
    const job = id.startsWith(asked.number) ? partsOf(id) : undefined;
    if (job?.number !== asked.number || !isOneServer(job.server, asked.server)) return false;
    const { parts } = asked;
    return parts === undefined || (job.isPart === asked.isPart && job.parts !== undefined && meet(job.parts, parts));
  });
  if (found.length > 0) return found;
  if (asked.parts === undefined) return jobs.filter(({ raw_id }) => raw_id === asked.number);
  const isStep = /^\d+\.\d+$/.test(text) && !jobs.some(({ id }) => id.startsWith(`${asked.number}.`));
  return isStep ? withId(jobs, asked.number) : [];
}

/** Whether a text is written like a job's id. */
export const isJobId = (text: string): boolean => ID.test(text);

/** Which users of these jobs a name means: the one as listed, or else those of that name in any domain; '' nobody. */
export function userFinder(jobs: readonly { readonly user: string }[]): (name: string) => readonly string[] {
  const users = new Set(jobs.map(({ user }) => user));
  const byName = groupBy(users, user => user.replace(/^[^\\]+\\|@[^@]+$/g, ''));
  return name => (users.has(name) ? [name] : (byName.get(name) ?? [])).filter(() => name !== '');
}
