// Where the scheduler and the board disagree, in sentences.

import type { Survey, Surveyed } from '../query/survey.js';
import { drainOf } from '../schedulerfile/drains.js';
import { likelyPair } from '../schedulerfile/matching.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import type { DifferenceKind, SchedulerDifference, SchedulerState } from '../schedulerfile/statefile.js';
import { timeIn } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { shownNames } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import { few, oneLine } from '../text/text.js';

/** Where the scheduler and the board disagree, or what is wrong with the scheduler's answer. */
interface Disagreement {
  /** A kind of difference, a drain that was to end (`overdue`), `alone`, `missing`, `unguarded`, `partial` or `trouble`. */
  readonly cause: DifferenceKind | 'overdue' | 'alone' | 'missing' | 'unguarded' | 'partial' | 'trouble';
  readonly nodes: readonly Surveyed[];
  /** In a sentence. */
  readonly text: string;
  /** In words that follow the names of the nodes; undefined: the sentence is about none. */
  readonly what?: string;
}

const JOBS_SHOWN = 4;

/** The ids of jobs, a few of them. */
export const ids = (jobs: readonly string[]) => few(jobs.map(oneLine), JOBS_SHOWN);

const oneOr = (count: number, one: string, several: string) => (count === 1 ? one : several);

type SchedulerNames = Pick<SchedulerState, 'scheduler' | 'daemon'>;

/** What is true of these nodes, in words that follow their names. */
const WORDS: Readonly<
  Record<
    DifferenceKind,
    (all: readonly SchedulerDifference[], jobs: readonly string[], named: SchedulerNames) => string
  >
> = {
  silent_schedulable: (all, _, { scheduler }) =>
    `silent, yet ${scheduler} would start jobs there; drain ${oneOr(all.length, 'it', 'them')}, or look at the sender`,
  job_on_silent: (all, jobs) =>
    `silent, and ${oneOr(jobs.length, 'job', 'jobs')} ${ids(jobs)} ${oneOr(jobs.length, 'runs', 'run')} on ${oneOr(all.length, 'it', 'them')}`,
  live_down: (all, _, { scheduler, daemon }) =>
    `live on the board, and DOWN in ${scheduler}: the fault is ${oneOr(all.length, 'its', 'their')} ${daemon} rather than the ${oneOr(all.length, 'node', 'nodes')}`,
  idle_in_job: (all, jobs) =>
    `idle, though ${oneOr(jobs.length, 'job', 'jobs')} ${ids(jobs)} ${oneOr(jobs.length, 'has', 'have')} ${oneOr(all.length, 'it', 'them')}`,
  busy_without_job: () => 'busy without a job: processes that a job left, or somebody who is logged in',
};

/** That the board has none of the hosts that the scheduler expects to be on; undefined: it has one, or it is not known. */
export function unguardedText(view: SchedulerView, board: Snapshot): string | undefined {
  const { trouble, state, pairing } = view;
  // Before a minute, nodes may be about to be heard for the first time.
  if (trouble !== undefined || board.stalled || board.retired || board.listenedMs < 60_000) return undefined;
  const { list = [] } = state?.nodes ?? {};
  const on = list.filter(({ asleep, base }) => !asleep && base !== 'future' && base !== 'down').map(({ name }) => name);
  const { names, matched } = pairing;
  if (on.length === 0 || names.length === 0 || on.some(name => matched.boardName.has(name))) return undefined;
  const [first = ''] = on;
  const pair = likelyPair(on, names) ?? `${first} BOARDNAME`;
  const domain = /^[^.]+\.(\S+) [^.]+$/.exec(pair)?.[1];
  const or = domain === undefined ? '' : `, or give --domain ${domain}`;
  const hosts = on.length === 1 ? 'host' : 'hosts';
  return oneLine(
    `of ${on.length} ${hosts} that ${view.name} expects to be on, none is on the board, so nothing guards them: ` +
      `write lines like "${pair}" into the file of --slurm-names, and of --names for beoboard-gate and beoboard-sensor${or}`,
  );
}

/** Where the scheduler and the board disagree about these nodes, or only one knows them; nothing from an old answer. */
export function disagreements(scheduler: SchedulerView, { snapshot, all, nodes }: Survey): Disagreement[] {
  const { state, pairing } = scheduler;
  if (scheduler.trouble !== undefined) return [{ cause: 'trouble', nodes: [], text: scheduler.trouble }];
  const found = scheduler.partial.map((text): Disagreement => ({ cause: 'partial', nodes: [], text }));
  if (snapshot.stalled || snapshot.retired || state === undefined) return found;
  const named = { scheduler: scheduler.name, daemon: oneLine(state.daemon) };
  const { boardAlone, boardName } = pairing.matched;
  const toldOf = new Set([...state.differences.map(({ node }) => node), ...scheduler.aside, ...boardAlone]);
  const chosen = new Map(nodes.filter(({ name }) => toldOf.has(name)).map(node => [node.name, node]));
  const told = state.differences.filter(({ node, kind }) => chosen.has(node) && Object.hasOwn(WORDS, kind));
  for (const [cause, some] of groupBy(told, ({ kind }) => kind)) {
    const jobs = [...new Set(some.flatMap(({ jobs = [] }) => jobs))];
    const what = WORDS[cause](some, jobs, named);
    const text = `${shownNames(some.map(({ node }) => node))}: ${what}`;
    found.push({ cause, nodes: some.flatMap(({ node }) => chosen.get(node) ?? []), text, what });
  }
  const nowMs = Number(snapshot.realNs / 1_000_000n);
  const overdue = state.nodes.list.flatMap(side => {
    const { by = '', until_ms = Number.POSITIVE_INFINITY } = drainOf(side) ?? {};
    const node = until_ms > nowMs ? undefined : chosen.get(boardName.get(side.name) ?? '');
    return node === undefined ? [] : [{ node, by, until_ms }];
  });
  for (const some of groupBy(overdue, ({ by, until_ms }) => `${until_ms} ${by}`).values()) {
    const [{ by, until_ms }] = some as [(typeof overdue)[number]];
    const what = `still drained: ${oneLine(by)}'s drain was to end at ${timeIn(snapshot, until_ms)}; beoboard resume ends it`;
    const text = `${shownNames(some.map(({ node }) => node.name))}: ${what}`;
    found.push({ cause: 'overdue', nodes: some.map(({ node }) => node), text, what });
  }
  const unguarded = unguardedText(scheduler, snapshot);
  if (unguarded !== undefined) return [...found, { cause: 'unguarded', nodes: [], text: unguarded }];
  const alone = boardAlone.flatMap(name => chosen.get(name) ?? []).filter(({ state }) => state !== 'left');
  const { unshown } = state;
  const unless = unshown === undefined ? '' : `, or ${oneLine(unshown)}`;
  if (alone.length > 0 && pairing.nodes.size > 0) {
    const what = `on the board, and not known to ${named.scheduler}${unless}`;
    found.push({ cause: 'alone', nodes: alone, text: `${what}: ${shownNames(alone.map(({ name }) => name))}`, what });
  }
  // A node that is powered down has no reason to report.
  const on = [...pairing.nodes.values()].filter(({ asleep, base }) => !asleep && base !== 'future');
  const missing = on.map(({ name }) => name).filter(name => !boardName.has(name));
  if (missing.length > 0 && nodes.length === all.length) {
    const what = `known to ${named.scheduler}, and not on the board`;
    const text = `${what}: ${shownNames(missing)} (${missing.length} of ${on.length})`;
    found.push({ cause: 'missing', nodes: [], text });
  }
  return found;
}
