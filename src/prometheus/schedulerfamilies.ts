// Metrics about what the reader of Slurm has left: which nodes differ from the others of their jobs, how old Slurm's
// answers are, and how much of them was left out. Only where the exporter may read its file; no job and no user.

import { readingOf } from '../readings/readings.js';
import {
  ageOf,
  type OddJobs,
  type SchedulerAnswer,
  type SchedulerState,
  type StateResult,
  stateFile,
  stateTrouble,
} from '../schedulerfile/statefile.js';
import { FileFollower } from '../service/leftfile.js';
import { NoBoard } from '../shm/noboard.js';
import type { BoardScrape } from './boards.js';
import type { Small } from './exposition.js';

/** What is said of odd nodes; undefined: nothing is known of them now. */
function oddOf(state: SchedulerState | undefined): OddJobs | undefined {
  if (state === undefined || stateTrouble(state) !== undefined) return undefined;
  return state.odd?.unjudged_all === undefined ? state.odd : undefined;
}

/** The odd nodes of these boards, and whether any is looked for. `among`: the nodes that are asked for. */
function oddFamilies(
  odd: OddJobs | undefined,
  looks: readonly BoardScrape[],
  among?: Pick<ReadonlySet<string>, 'has'>,
): Small[] {
  const running = looks.filter(({ nodeStates }) => !(nodeStates instanceof NoBoard || nodeStates.board.stalled));
  const isJudged = odd !== undefined && running.length > 0;
  const marks = isJudged
    ? odd.marks.filter(({ node, reading }) => among?.has(node) !== false && readingOf(reading))
    : [];
  const known = running.map(({ cluster, names }) => ({ cluster, names: new Set(marks.length === 0 ? [] : names) }));
  const samples = new Map<string, Small['samples'][number]>();
  for (const { node, reading } of marks) {
    const [on, other] = known.filter(({ names }) => names.has(node));
    // Which of several boards with a node of that name is meant is not known.
    const cluster = other === undefined ? on?.cluster : undefined;
    if (on !== undefined) samples.set(`${node} ${reading}`, [{ cluster, node, reading }, 1]);
  }
  return [
    {
      name: 'beoboard_odd_judged',
      help: '1 while the nodes of jobs are compared, else 0: the file of beoboard scheduler is old or cannot be read, Slurm hides jobs, or the board is stalled, and nothing is known of odd nodes.',
      samples: [[{}, Number(isJudged)]],
    },
    {
      name: 'beoboard_node_odd',
      help: '1 for each reading in which the node differs from the other nodes of its job; absent for all others.',
      samples: [...samples.values()],
    },
  ];
}

/** The families by the file in a folder; if it cannot be read, only that nothing is known of odd nodes. */
export class SchedulerFamilies extends FileFollower<StateResult> {
  constructor(folder: string) {
    super(stateFile(folder));
  }

  of(looks: readonly BoardScrape[], among?: Pick<ReadonlySet<string>, 'has'>): Small[] {
    const { state } = this.last ?? {};
    const odd = oddFamilies(oddOf(state), looks, among);
    if (state === undefined) return odd;
    const { nodes, jobs } = state;
    const each = (value: (answer: SchedulerAnswer<object>) => number | undefined) =>
      Object.entries({ nodes, jobs }).flatMap(([about, answer]) => {
        const number = value(answer);
        return number === undefined ? [] : [[{ about }, number] as const];
      });
    return [
      ...odd,
      {
        name: 'beoboard_slurm_answer_age_seconds',
        help: "Age of Slurm's last answer, as beoboard scheduler has left it.",
        samples: each(answer => {
          const ms = ageOf(answer);
          return ms === undefined ? undefined : ms / 1000;
        }),
      },
      {
        name: 'beoboard_slurm_left_out',
        help: 'Lines of that answer that were not understood and are left out; see the log of beoboard scheduler.',
        samples: each(({ left_out = 0 }) => left_out),
      },
    ];
  }
}
