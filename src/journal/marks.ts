// The odd nodes of jobs, from look to look at what the reader of a scheduler says of them: which marks have begun, and
// which are over. While nobody knows, they stand as they did.

import { LATER_MS, monotonicOf } from '../journalfile/format.js';
import type { OddMark, SchedulerState } from '../schedulerfile/statefile.js';
import { BOARD_MOST, expand } from '../text/hostlists.js';
import type { Going } from './going.js';
import type { Occurrence } from './grouping.js';

/** A mark; of one that only the journal knows, the job is not known. */
type StandingMark = Pick<OddMark, 'node' | 'reading' | 'since_ms'> & { readonly job?: string };

/** What the reader of a scheduler says of marks. */
type KnownMarks = Pick<SchedulerState, 'odd' | 'jobs'>;

/** Whether it is a mark that stood before: another one of the same node and reading begins later. */
const isSame = (before: StandingMark | undefined, now: StandingMark | undefined) =>
  before !== undefined && now !== undefined && now.since_ms <= before.since_ms + LATER_MS;

/** Why a mark is over; absent: the node is as the others again, or nobody knows. */
function whyOver({ job }: StandingMark, { odd, jobs }: KnownMarks): { why?: string } {
  if (job === undefined) return {};
  if (!jobs.list.some(({ id, state }) => id === job && state === 'RUNNING')) return { why: 'job_over' };
  return Object.hasOwn(odd?.unjudged ?? {}, job) ? { why: 'unjudged' } : {};
}

/** The job with that id, as a journal tells it. */
function jobOf(wanted: string, { jobs }: KnownMarks): Occurrence['job'] {
  const { user, partition, name } = jobs.list.find(({ id }) => id === wanted) ?? {};
  return { id: wanted, ...(user && { user }), ...(partition && { partition }), ...(name && { name }) };
}

export class Marks {
  /** By node and reading; undefined until they are known for the first time. */
  #standing: ReadonlyMap<string, StandingMark> | undefined;
  /** Whether the last look knew them: else what it finds was not seen when it happened. */
  #wasKnown = false;

  /** `going`: what goes on by the journal. */
  constructor(private readonly going: Going) {}

  /**
   * What has happened since the last look. `said`: undefined while nobody knows which nodes are marked; `names`: the
   * nodes of the board; `nowMs`: CLOCK_MONOTONIC.
   */
  *look(said: KnownMarks | undefined, names: readonly string[], nowMs: number): Generator<Occurrence> {
    if (said?.odd === undefined || said.odd.unjudged_all !== undefined) {
      this.#wasKnown = false;
      return;
    }
    const { marks } = said.odd;
    const known = new Set(marks.length === 0 ? [] : names);
    const now = new Map<string, OddMark>();
    for (const mark of marks) if (known.has(mark.node)) now.set(`${mark.node} ${mark.reading}`, mark);
    const before = this.#standing ?? this.#told();
    const late = this.#wasKnown ? {} : { late: true };
    this.#standing = now;
    this.#wasKnown = true;
    for (const [key, was] of before) {
      const is = now.get(key);
      if (isSame(was, is)) continue;
      const what = { event: 'odd_ended', reading: was.reading, ...whyOver(was, said), ...late };
      // The next one begins behind it.
      const toMs = is === undefined ? nowMs : is.since_ms - 1;
      yield { what, node: was.node, fromMs: was.since_ms, toMs };
    }
    for (const [key, mark] of now) {
      if (isSame(before.get(key), mark)) continue;
      const { node, reading, value, lowest, highest, since_ms: fromMs, job } = mark;
      yield { what: { event: 'odd', reading, value, lowest, highest, ...late }, node, fromMs, job: jobOf(job, said) };
    }
  }

  /** What stood by the journal's last lines. */
  #told(): ReadonlyMap<string, StandingMark> {
    const found = new Map<string, StandingMark>();
    for (const line of this.going.repeated()) {
      const { event, reading = '', nodes = '', at, from = at, from_last = from } = line;
      if (event !== 'odd') continue;
      for (const node of expand(nodes, BOARD_MOST))
        found.set(`${node} ${reading}`, { node, reading, since_ms: monotonicOf(line, from_last) });
    }
    return found;
  }
}
