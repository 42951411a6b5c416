// The files of a scheduler's reader, for pages that may show them: read again when they change, at most every few seconds.

import type { TroubleInfo } from '../acks/info.js';
import { jobLines, jobNotes, jobPageJson, MEMBER_COLUMNS, noJobText } from '../jobs/jobfacts.js';
import { jobJson, jobsNumbered, listJobs, nodesOf } from '../jobs/joblist.js';
import { type JobMember, membersOf, toldOf } from '../jobs/jobmembers.js';
import { listUsers, userJson } from '../jobs/userlist.js';
import { Refusal } from '../net/requests.js';
import { NOTHING } from '../query/columns.js';
import { survey } from '../query/survey.js';
import { SCALES } from '../readings/scales.js';
import { Pairing, SchedulerView } from '../schedulerfile/schedulerview.js';
import { readState } from '../schedulerfile/statefile.js';
import { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold } from '../text/hostlists.js';
import { disagreements } from '../trouble/disagreements.js';
import { withoutJob } from '../trouble/trouble.js';
import type { RiverHistory } from './history.js';
import type { Watcher } from './watcher.js';
import { NODE_PAGE, RIVER } from './wire.js';

/** What else of the wall a job's page shows. */
interface JobPageSources {
  readonly watcher: Watcher;
  readonly river: RiverHistory;
  troubleAmong(names: readonly string[]): readonly TroubleInfo[];
}

/** It is looked at again after so long, ms, whether it has changed or not, because it gets older. */
const LOOK_MS = 2000;

export class JobLook {
  #view: SchedulerView | undefined;
  #names: readonly string[] = [];
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(readonly folder: string) {}

  /** What the scheduler says about the nodes of these names. */
  view(names: readonly string[]): SchedulerView {
    const now = performance.now();
    const isFresh = now - this.#lookedAt < LOOK_MS && names.length === this.#names.length;
    if (this.#view === undefined || !isFresh) {
      this.#view = new SchedulerView(new Pairing(readState(this.folder), names));
      this.#names = [...names];
      this.#lookedAt = now;
    }
    return this.#view;
  }

  /** All nodes of the board, and what the scheduler says about them. */
  #look(snapshot: Snapshot, names: readonly string[]) {
    const found = survey(snapshot, {}, names);
    return { found, view: this.view(found.all.map(({ name }) => name)), nodeOf: nodesOf(found) };
  }

  /** All jobs, and where the scheduler and the board disagree. */
  json(snapshot: Snapshot, names: readonly string[]) {
    const { found, view, nodeOf } = this.#look(snapshot, names);
    return {
      slurm: view.head,
      sentences: disagreements(view, found).map(({ text, nodes }) => ({
        ...{ kind: 'slurm', text },
        ...(nodes.length > 0 && { nodes: fold(nodes.map(({ name }) => name)) }),
      })),
      jobs: listJobs(view, nodeOf).map(jobJson),
    };
  }

  /** All users. */
  users(snapshot: Snapshot, names: readonly string[]) {
    const { view, nodeOf } = this.#look(snapshot, names);
    return { slurm: view.head, users: listUsers(listJobs(view, nodeOf), view, nodeOf).map(userJson) };
  }

  /** One job, with the first of its nodes and their last 15 minutes; Throws a Refusal: there is none of that number. */
  page(number: string, snapshot: Snapshot, wall: JobPageSources): object {
    const { reader, names: all } = wall.watcher;
    const { view, nodeOf } = this.#look(snapshot, all);
    const parts = jobsNumbered(number, view, nodeOf);
    const [row] = parts;
    if (row === undefined || parts.length > 1) throw new Refusal('unknown_job', noJobText(number, parts));
    const single = new BoardReader(reader.path, reader.owner);
    try {
      const names = row.names.slice(0, RIVER.mostNodes);
      const nodes = single.nodesNamed(names);
      const members = membersOf({ names }, name => nodes.get(name));
      const shown = members.slice(0, NODE_PAGE);
      const trouble = wall.troubleAmong(row.names).filter(line => line.nodes !== undefined);
      const most = members[0] && toldOf(members[0]);
      const scale = SCALES.find(({ name }) => name === most?.reading.name) ?? (SCALES[0] as (typeof SCALES)[number]);
      return {
        slurm: view.head,
        job: jobPageJson(
          row,
          shown,
          trouble.map(line => withoutJob(line, row.job.id)),
          view,
        ),
        page: {
          lines: jobLines(row),
          notes: [
            ...(view.trouble === undefined ? [] : [view.trouble]),
            ...jobNotes(row, members, view),
            ...(names.length < row.names.length ? [`only the first ${names.length} nodes are compared here`] : []),
          ],
          ...tableOf(shown),
          more: row.names.length - shown.length,
        },
        history: wall.river.nodesWith(
          shown.map(({ name }) => name),
          scale,
        ),
      };
    } finally {
      single.close();
    }
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
