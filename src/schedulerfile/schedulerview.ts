// What the scheduler says beside what the board says: the state and jobs of each node, and a sentence wherever the two
// disagree. Uses the files that the reader has left, never asks the scheduler itself, and concludes nothing from an old
// answer.

import type { Section } from '../presentation/nodesheet.js';
import type { ExtraColumn } from '../query/columns.js';
import type { Survey, Surveyed } from '../query/survey.js';
import type { Snapshot } from '../shm/snapshot.js';
import { formatDuration } from '../text/durations.js';
import { expandNodeNames } from '../text/hostlists.js';
import { oneLine } from '../text/text.js';
import { unjudgedText } from '../trouble/marks.js';
import { shownNames } from '../trouble/rejections.js';
import { jobsByNode } from './differences.js';
import { type Matched, match } from './matching.js';
import type { Job, SchedulerNode } from './scheduler.js';
import {
  ageOf,
  type Difference,
  type Found,
  type Kind,
  monotonicMs,
  type OddMark,
  partialText,
  readState,
  type State,
  StateFollower,
  stateTrouble,
} from './statefile.js';

/** What the scheduler says about a node of the board. */
export interface SchedulerNodeInfo {
  readonly node: SchedulerNode;
  readonly jobs: readonly Job[];
}

/** Where the scheduler and the board disagree, or what is wrong with the scheduler's answer. */
export interface Disagreement {
  /** A kind of difference, `alone`, `missing`, `partial` or `trouble`. */
  readonly cause: Kind | 'alone' | 'missing' | 'partial' | 'trouble';
  readonly nodes: readonly Surveyed[];
  /** In a sentence. */
  readonly text: string;
  /** In words that follow the names of the nodes; undefined: the sentence is about none. */
  readonly what?: string;
}

/** A column that needs nothing but a node's name. */
export interface SchedulerColumn extends ExtraColumn {
  readonly text: (node: { readonly name: string }) => string | undefined;
}

/** How many jobs one sentence names. */
const JOBS_SHOWN = 4;

/** The ids of jobs, a few of them. */
function ids(jobs: readonly string[]): string {
  const more = jobs.length - JOBS_SHOWN;
  return `${jobs.slice(0, JOBS_SHOWN).map(oneLine).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const oneOr = (count: number, one: string, several: string) => (count === 1 ? one : several);

function nodesIn({ nodes }: Job): string {
  const count = expandNodeNames(nodes).length;
  return `${count} ${oneOr(count, 'node', 'nodes')}`;
}

/** The names of the scheduler and of its daemon. */
type Named = Pick<State, 'scheduler' | 'daemon'>;

/** What is true of these nodes, in words that follow their names. */
const WORDS: Readonly<Record<Kind, (all: readonly Difference[], jobs: readonly string[], named: Named) => string>> = {
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

/**
 * The reader's files and the mapping of their names to the board: this takes long to make, and is valid until either of
 * them changes.
 */
export class Pairing {
  readonly matched: Matched;
  readonly nodes: ReadonlyMap<string, SchedulerNode>;
  readonly jobs: ReadonlyMap<string, readonly Job[]>;

  /** `names`: the names on the board. */
  constructor(
    readonly found: Found,
    readonly names: readonly string[],
  ) {
    const { state } = found as { state?: State };
    this.matched = match(state?.nodes.list ?? [], names, state?.names ?? {});
    this.nodes = new Map(state?.nodes.list.map(node => [node.name, node]));
    this.jobs = jobsByNode(state?.jobs.list ?? []);
  }
}

export class SchedulerView {
  readonly #state: State | undefined;
  readonly #now = monotonicMs();
  /** A sentence that says why nothing is known, or that what is known is old. */
  readonly trouble: string | undefined;

  constructor(readonly pairing: Pairing) {
    const { state, why } = pairing.found as { state?: State; why?: string };
    this.#state = state;
    this.trouble = state === undefined ? why : stateTrouble(state, this.#now);
  }

  /** Whether anything is known about the scheduler, however old. */
  get isKnown(): boolean {
    return this.#state !== undefined;
  }

  /** Whether it has ever answered that question; if not, the list is empty and `trouble` says why. */
  hasAnswered(about: 'nodes' | 'jobs'): boolean {
    return this.#state?.[about].mono_ms !== undefined;
  }

  /** Its name, for people. */
  get name(): string {
    return oneLine(this.#state?.scheduler ?? 'Slurm');
  }

  /** Sentences about what it hides, and about what was left out of its answers. */
  get partial(): string[] {
    return this.#state === undefined ? [] : partialText(this.#state);
  }

  /** The nodes that differ from the others of their jobs; none while what is known is old. */
  get marks(): readonly OddMark[] {
    return this.trouble === undefined ? (this.#state?.odd?.marks ?? []) : [];
  }

  /** Why the judge says nothing about that job, in words; undefined: it is judged, or is no job for it. */
  unjudged(id: string): string | undefined {
    const { unjudged_all: all, unjudged = {} } = this.#state?.odd ?? {};
    if (all !== undefined) return oneLine(all);
    return Object.hasOwn(unjudged, id) ? unjudgedText(unjudged[id] as string) : undefined;
  }

  get jobs(): readonly Job[] {
    return this.#state?.jobs.list ?? [];
  }

  /** The jobs on the node with that NodeName. */
  jobsOn(name: string): readonly Job[] {
    return this.pairing.jobs.get(name) ?? [];
  }

  nodeNamed(name: string): SchedulerNode | undefined {
    return this.pairing.nodes.get(name);
  }

  /**
   * Whether the jobs that are shown leave the node with that NodeName to one of them; undefined: as far as is shown, and
   * others may be hidden or left out.
   */
  isAlone(name: string): boolean | undefined {
    if (this.jobsOn(name).length !== 1) return false;
    return this.#state?.jobs.whole;
  }

  /** The node by its name on the board; undefined: the scheduler does not know it. */
  of(name: string): SchedulerNodeInfo | undefined {
    const node = this.pairing.nodes.get(this.pairing.matched.nodeName.get(name) ?? '');
    return node && { node, jobs: this.jobsOn(node.name) };
  }

  /** Columns for the table; in brackets if the answer is old. */
  get columns(): SchedulerColumn[] {
    const cell = (text: string | undefined) =>
      text === undefined || text === '' || this.trouble === undefined ? text || undefined : `[${text}]`;
    const column = (name: string, title: string, of: (side: SchedulerNodeInfo) => string): SchedulerColumn => ({
      name,
      title,
      left: true,
      text: node => {
        const side = this.of(node.name);
        return side && cell(of(side));
      },
    });
    return [
      column('slurm', this.name.toUpperCase(), ({ node }) => oneLine(node.state)),
      column('user', 'USER', ({ jobs }) => [...new Set(jobs.map(({ user }) => oneLine(user)))].join(',')),
      column('jobs', 'JOBS', ({ jobs }) => ids(jobs.map(({ id }) => id))),
    ];
  }

  /** One node, for programs. */
  json(name: string): object | undefined {
    const side = this.of(name);
    if (side === undefined) return undefined;
    const { name: node_name, host, state, reason, cpus, cpus_used = 0, gpus, gpus_used } = side.node;
    const jobs = side.jobs.map(({ id, state, user, partition }) => ({ id, state, user, partition }));
    return { node_name, host, state, reason, cpus, cpus_used, gpus, gpus_used, jobs };
  }

  /** The age of the answer and what is wrong with it, for programs. */
  get head(): object {
    const { cluster, version, nodes, jobs } = this.#state ?? {};
    return {
      cluster,
      version,
      nodes_age_ms: nodes && ageOf(nodes, this.#now),
      jobs_age_ms: jobs && ageOf(jobs, this.#now),
      trouble: this.trouble,
      nodes_left_out: nodes?.left_out,
      jobs_left_out: jobs?.left_out,
    };
  }

  /** Where the scheduler and the board disagree about these nodes, and which nodes only one of them knows. */
  disagreements({ snapshot, all, nodes }: Survey): Disagreement[] {
    if (this.trouble !== undefined) return [{ cause: 'trouble', nodes: [], text: this.trouble }];
    const found = this.partial.map((text): Disagreement => ({ cause: 'partial', nodes: [], text }));
    if (snapshot.stalled || snapshot.retired || this.#state === undefined) return found;
    const named = { scheduler: this.name, daemon: oneLine(this.#state.daemon) };
    const chosen = new Map(nodes.map(node => [node.name, node]));
    const byKind = new Map<Kind, Difference[]>();
    for (const difference of this.#state.differences)
      if (chosen.has(difference.node) && Object.hasOwn(WORDS, difference.kind))
        byKind.set(difference.kind, [...(byKind.get(difference.kind) ?? []), difference]);
    for (const [cause, some] of byKind) {
      const jobs = [...new Set(some.flatMap(({ jobs = [] }) => jobs))];
      const what = WORDS[cause](some, jobs, named);
      const text = `${shownNames(some.map(({ node }) => node))}: ${what}`;
      found.push({ cause, nodes: some.flatMap(({ node }) => chosen.get(node) ?? []), text, what });
    }
    const { boardAlone, schedulerAlone } = this.pairing.matched;
    const alone = boardAlone.flatMap(name => chosen.get(name) ?? []).filter(({ state }) => state !== 'left');
    const { unshown } = this.#state;
    const unless = unshown === undefined ? '' : `, or ${oneLine(unshown)}`;
    if (alone.length > 0 && this.pairing.nodes.size > 0) {
      const what = `on the board, and not known to ${named.scheduler}${unless}`;
      found.push({ cause: 'alone', nodes: alone, text: `${what}: ${shownNames(alone.map(({ name }) => name))}`, what });
    }
    // A node that is powered down has no reason to report.
    const missing = schedulerAlone.filter(name => {
      const { asleep, base } = this.pairing.nodes.get(name) ?? {};
      return !asleep && base !== 'future';
    });
    if (missing.length > 0 && nodes.length === all.length) {
      const text = `known to ${named.scheduler}, and not on the board: ${shownNames(missing)}`;
      found.push({ cause: 'missing', nodes: [], text });
    }
    return found;
  }

  /** One node as a part of its page. */
  section(name: string): Section {
    return { title: this.name, facts: this.#facts(name) };
  }

  #facts(name: string): string[][] {
    const side = this.of(name);
    const partial = this.partial.map(text => [text]);
    // What was left out may be about this one.
    if (side === undefined) return this.#state?.nodes.left_out ? partial : [];
    const { node, jobs } = side;
    const since = (s: number | undefined) =>
      s === undefined ? '' : ` for ${formatDuration(Math.max(0, Date.now() - s * 1000))}`;
    const gpus = node.gpus ? [`${node.gpus_used ?? 0} of ${node.gpus} GPUs given to jobs`] : [];
    return [
      [
        ...(this.trouble === undefined ? [] : [`(old: ${this.trouble})`]),
        `${oneLine(node.state)}${node.name === name ? '' : ` as ${oneLine(node.name)}`}`,
        ...(node.cpus === 0 ? [] : [`${node.cpus_used ?? 0} of ${node.cpus} CPUs given to jobs`]),
        ...gpus,
        ...(node.switch === undefined ? [] : [`behind ${oneLine(node.switch)}`]),
      ],
      ...(node.reason === undefined
        ? []
        : [
            [
              `reason: ${oneLine(node.reason)}${node.reason_by ? ` (${oneLine(node.reason_by)}${since(node.reason_s)})` : ''}`,
            ],
          ]),
      ...jobs.map(job => [
        `job ${oneLine(job.id)}${job.user === '' ? '' : ` of ${oneLine(job.user)}`}`,
        `${oneLine(job.state)}${since(job.start_s)}`,
        `${job.cpus === 0 ? '' : `${job.cpus} ${job.cpus === 1 ? 'CPU' : 'CPUs'} `}on ${nodesIn(job)}`,
        ...(job.partition === '' ? [] : [`partition ${oneLine(job.partition)}`]),
        ...(job.name === '' ? [] : [oneLine(job.name)]),
      ]),
      ...partial,
    ];
  }
}

/** The reader's files in that folder, beside that snapshot. */
export function schedulerViewOf(folder: string, snapshot: Snapshot): SchedulerView {
  const found = readState(folder);
  // Nothing is matched with what is not known.
  return new SchedulerView(new Pairing(found, 'state' in found ? snapshot.names() : []));
}

/** The same for a program that looks again and again and must not wait for a file. */
export class SchedulerViewFollower {
  readonly #file: StateFollower;
  #pairing: Pairing | undefined;

  /** `changed` is called when the reader has left a new file. */
  constructor(folder: string, changed: () => void) {
    this.#file = new StateFollower(folder, changed);
  }

  /** What is known now. `names`: those of the board; the same array as long as they are the same. */
  view(names: readonly string[]): SchedulerView {
    const { found } = this.#file;
    if (this.#pairing?.found !== found || this.#pairing.names !== names) this.#pairing = new Pairing(found, names);
    return new SchedulerView(this.#pairing);
  }
}
