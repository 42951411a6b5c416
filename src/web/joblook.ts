// What a scheduler's reader has left, for pages that may show it.

import { elapsedMs, jobLines, jobNotes, jobPageJson, MEMBER_COLUMNS, noJobText } from '../jobs/jobfacts.js';
import { jobNode, jobsNamed, listJobs, nodesOf } from '../jobs/joblist.js';
import { type JobMember, membersOf, toldOf } from '../jobs/jobmembers.js';
import { listUsers } from '../jobs/userlist.js';
import { Refusal } from '../net/requests.js';
import { lookMs } from '../presentation/summary.js';
import { survey } from '../query/survey.js';
import { SCALES } from '../readings/scales.js';
import { SchedulerViewFollower } from '../schedulerfile/schedulerview.js';
import { inSlices, type SlicedLook } from '../service/slices.js';
import { withReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold } from '../text/hostlists.js';
import { NOTHING } from '../text/layout.js';
import { disagreements } from '../trouble/disagreements.js';
import { withoutJob } from '../trouble/trouble.js';
import type { RiverHistory } from './history.js';
import type { StreamHeaders } from './streamheaders.js';
import type { Watcher } from './watcher.js';
import { NODE_PAGE, RIVER } from './wire.js';

interface JobPageSources {
  readonly watcher: Watcher;
  readonly river: RiverHistory;
  readonly heads: Pick<StreamHeaders, 'troubleAmong'>;
}

type JobsLook = ReturnType<JobLook['beside']>;

export class JobLook extends SchedulerViewFollower {
  /** All nodes of the board, and what the scheduler says about them. */
  beside(snapshot: Snapshot, names: readonly string[]) {
    const found = survey(snapshot, {}, names);
    return { found, view: this.view(names), nodeOf: nodesOf(found) };
  }

  /** All jobs, and where the scheduler and the board disagree. */
  async jobs({ found, view, nodeOf }: JobsLook, slices: SlicedLook) {
    return {
      slurm: view.head,
      sentences: disagreements(view, found).map(({ text, nodes }) => ({
        ...{ kind: 'slurm', text },
        ...(nodes.length > 0 && { nodes: fold(nodes.map(({ name }) => name)) }),
      })),
      switches: [...view.switches].map(([name, nodes]) => ({ name, nodes: fold(nodes) })),
      list: (await inSlices(listJobs(view, nodeOf), slices)).map(({ told }) => told),
    };
  }

  async users({ view, nodeOf }: JobsLook, slices: SlicedLook) {
    const jobs = await inSlices(listJobs(view, nodeOf), slices);
    return { slurm: view.head, list: (await inSlices(listUsers(jobs, view, nodeOf), slices)).map(({ told }) => told) };
  }

  /** One job, with the first of its nodes and their last 15 minutes; Throws a Refusal: there is none with that id. */
  async page(id: string, { found, view, nodeOf }: JobsLook, wall: JobPageSources, slices: SlicedLook): Promise<object> {
    const { reader } = wall.watcher;
    const parts = jobsNamed(id, view, nodeOf);
    const [known] = parts;
    if (known === undefined || parts.length > 1) throw new Refusal('unknown_job', noJobText(id, parts));
    return await withReader(reader.path, reader.owner, async single => {
      const names = known.names.slice(0, RIVER.mostNodes);
      const nodes = single.nodesNamed(names);
      // Its head counts what its members show.
      const now = (name: string) => {
        const node = nodes.get(name);
        return node === undefined ? nodeOf(name) : jobNode(node);
      };
      const [row = known] = jobsNamed(id, view, now);
      const members = membersOf({ names }, name => nodes.get(name));
      const shown = members.slice(0, NODE_PAGE);
      const nowMs = lookMs(found.snapshot);
      const ranMs = elapsedMs(row.job, nowMs);
      const trouble = wall.heads
        .troubleAmong(row.names, ranMs, found)
        .filter(line => line.nodes !== undefined)
        .map(line => withoutJob(line, row.job.id));
      const most = members[0] && toldOf(members[0]);
      const scale = SCALES.find(({ name }) => name === most?.reading.name) ?? (SCALES[0] as (typeof SCALES)[number]);
      return {
        slurm: view.head,
        job: jobPageJson(row, shown, trouble, view),
        page: {
          lines: jobLines(row, nowMs),
          notes: [
            ...(view.trouble === undefined ? [] : [view.trouble]),
            ...jobNotes(row, members, view),
            ...(names.length < row.names.length ? [`only the first ${names.length} nodes are compared here`] : []),
          ],
          ...tableOf(shown),
          more: row.names.length - shown.length,
        },
        history: await wall.river.nodesWith(
          shown.map(({ name }) => name),
          scale,
          slices,
        ),
      };
    });
  }
}

/** The texts of these nodes, without the columns of which nothing is known. */
function tableOf(members: readonly JobMember[]) {
  const columns = MEMBER_COLUMNS.map(column => ({ ...column, texts: members.map(column.text) })).filter(
    ({ leaves, texts }) => leaves === undefined || texts.some(text => text !== undefined),
  );
  return {
    columns: columns.map(({ title, isLeft = false }) => ({ title, left: isLeft })),
    rows: members.map((_, i) => columns.map(({ texts }) => texts[i] ?? NOTHING)),
  };
}
