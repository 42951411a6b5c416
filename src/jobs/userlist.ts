// Users and the nodes that their jobs hold: how much of what was given to them is in use, and which nodes are in
// trouble. Use is a node's: where jobs of others run beside theirs, it is that of all of them.

import type { UserInfo } from '../presentation/shapes.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { compareNames, expandNodeNames, fold } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import type { JobNode, ListedJob } from './joblist.js';

/** So many jobs of a user are told to programs by their numbers; `job_count` is of all. */
const JOBS_MOST = 1000;

export interface ListedUser {
  /** As programs get it. `user` is empty of jobs whose user the scheduler does not tell. */
  readonly told: UserInfo;
  /** The nodes that are not live, unhealthy, or not on the board. */
  readonly trouble: readonly string[];
}

const foldSome = (names: readonly string[]) => (names.length === 0 ? undefined : fold(names));

/** Parts of wholes, added. */
class Share {
  #part = 0;
  #whole = 0;

  /** An unknown part is left out with its whole. `percent`: how much of `all` is in use. */
  add(percent: number | undefined, all: number | undefined, given: number | undefined): void {
    if (percent === undefined || all === undefined || !given) return;
    this.#part += (percent / 100) * all;
    this.#whole += given;
  }

  get value(): number | undefined {
    return this.#whole === 0 ? undefined : this.#part / this.#whole;
  }
}

function listUser(
  user: string,
  jobs: readonly ListedJob[],
  slurm: SchedulerView,
  nodeOf: (name: string) => JobNode | undefined,
): ListedUser {
  const [cpus, gpus] = [new Share(), new Share()];
  const names = new Set<string>();
  const [shared, trouble]: [string[], string[]] = [[], []];
  let gpusGiven = 0;
  for (const nodeName of new Set(jobs.flatMap(({ job }) => expandNodeNames(job.nodes)))) {
    const boardName = slurm.pairing.matched.boardName.get(nodeName);
    const name = boardName ?? nodeName;
    const [told, node] = [slurm.nodeNamed(nodeName), nodeOf(boardName ?? '')];
    names.add(name);
    gpusGiven += told?.gpus_used ?? 0;
    if (slurm.jobsOn(nodeName).some(job => job.user !== user)) shared.push(name);
    if (node?.state !== 'live' || node.problems.length > 0) trouble.push(name);
    if (node?.state !== 'live') continue;
    cpus.add(node.cpu, node.cpus, told?.cpus_used || told?.cpus || node.cpus);
    gpus.add(node.gpu, node.gpuCount, told?.gpus_used);
  }
  const told: UserInfo = {
    user,
    job_count: jobs.length,
    jobs: jobs
      .map(({ job }) => job.id)
      .sort(compareNames)
      .slice(0, JOBS_MOST),
    node_count: names.size,
    get nodes() {
      return fold([...names]);
    },
    cpus: jobs.reduce((all, { job }) => all + job.cpus, 0),
    cpu_use: cpus.value,
    gpus: gpusGiven,
    gpu_use: gpus.value,
    shared_count: shared.length,
    get shared() {
      return foldSome(shared);
    },
    trouble_count: trouble.length,
    get trouble() {
      return foldSome(trouble);
    },
  };
  return { told, trouble };
}

/** The users of these jobs, who has the most nodes first. `nodeOf`: as for `nodesOf` of joblist.ts. */
export function* listUsers(
  jobs: readonly ListedJob[],
  slurm: SchedulerView,
  nodeOf: (name: string) => JobNode | undefined,
): Generator<undefined, ListedUser[]> {
  const users: ListedUser[] = [];
  for (const [user, theirs] of groupBy(jobs, ({ job }) => job.user)) {
    users.push(listUser(user, theirs, slurm, nodeOf));
    yield;
  }
  return users.sort(({ told: a }, { told: b }) => b.node_count - a.node_count || compareNames(a.user, b.user));
}
