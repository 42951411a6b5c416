// What the scheduler says about the nodes of a board: their states and jobs. Uses the files that the reader has left, and
// never asks the scheduler itself.

import { FileFollower } from '../service/leftfile.js';
import type { Snapshot } from '../shm/snapshot.js';
import { addTo } from '../text/maps.js';
import { own } from '../text/tables.js';
import { oneLine } from '../text/text.js';
import { jobsByNode } from './differences.js';
import { drainOf } from './drains.js';
import { type Matched, match } from './matching.js';
import type { SchedulerJob, SchedulerNode } from './scheduler.js';
import {
  ageOf,
  BEING_READ,
  monotonicMs,
  type OddMark,
  partialText,
  readState,
  type SchedulerState,
  type StateResult,
  stateFile,
  stateTrouble,
} from './statefile.js';

/** What the scheduler says about a node of the board. */
export interface SchedulerNodeInfo {
  readonly node: SchedulerNode;
  readonly jobs: readonly SchedulerJob[];
}

const WHY: Readonly<Record<string, string>> = {
  young: 'it runs for less than two minutes',
  changed: 'most of its nodes have just changed their use',
  few: 'fewer than four of its nodes can be compared',
  shared: 'other jobs are on its nodes',
};

/** Why a job is not judged, by the word of the judge. */
export function unjudgedText(why: string): string {
  return own(WHY, why) ?? oneLine(why);
}

/** Whether the names in two answers are the same. */
const areAlike = ({ nodes, names }: SchedulerState, { nodes: { list }, names: others }: SchedulerState) =>
  list.length === nodes.list.length &&
  list.every(({ name, host }, i) => name === nodes.list[i]?.name && host === nodes.list[i]?.host) &&
  JSON.stringify(names) === JSON.stringify(others);

/** The reader's files and the mapping of their names to the board: dear to make, and valid until either changes. */
export class Pairing {
  readonly matched: Matched;
  readonly nodes: ReadonlyMap<string, SchedulerNode>;
  readonly jobs: ReadonlyMap<string, readonly SchedulerJob[]>;
  readonly #count: number;

  /** `names`: the names on the board; `before`: the mapping is the same if nothing else is told of names. */
  constructor(
    readonly found: StateResult,
    readonly names: readonly string[],
    before?: Pairing,
  ) {
    const { state } = found;
    const last = before?.isOf(before.found, names) ? before : undefined;
    const isSame = state !== undefined && last?.found.state !== undefined && areAlike(state, last.found.state);
    this.matched = isSame ? last.matched : match(state?.nodes.list ?? [], names, state?.names ?? {});
    this.nodes = new Map(state?.nodes.list.map(node => [node.name, node]));
    this.jobs = jobsByNode(state?.jobs.list ?? []);
    this.#count = names.length;
  }

  /** Whether it is still of these: the names of a board that has got more are in the same array. */
  isOf(found: StateResult, names: readonly string[]): boolean {
    return this.found === found && this.names === names && this.#count === names.length;
  }
}

export class SchedulerView {
  /** What the reader has left; undefined: nothing. */
  readonly state: SchedulerState | undefined;
  readonly #now = monotonicMs();
  /** A sentence that says why nothing is known, or that what is known is old. */
  readonly trouble: string | undefined;

  constructor(readonly pairing: Pairing) {
    const { state, why } = pairing.found;
    this.state = state;
    this.trouble = state === undefined ? why : stateTrouble(state, this.#now);
  }

  /** Whether anything is known about the scheduler, however old. */
  get isKnown(): boolean {
    return this.state !== undefined;
  }

  /** Whether it has ever answered that question; if not, the list is empty and `trouble` says why. */
  hasAnswered(about: 'nodes' | 'jobs'): boolean {
    return this.state?.[about].mono_ms !== undefined;
  }

  /** Its name, for people. */
  get name(): string {
    return oneLine(this.state?.scheduler ?? 'Slurm');
  }

  /** Sentences about what it hides, and about what was left out of its answers. */
  get partial(): string[] {
    return this.state === undefined ? [] : partialText(this.state);
  }

  /** The nodes that an administrator keeps out of service, by their names on the board. */
  get aside(): string[] {
    const out = this.state?.nodes.list.filter(({ aside }) => aside !== undefined) ?? [];
    return out.flatMap(({ name }) => this.pairing.matched.boardName.get(name) ?? []);
  }

  /** The nodes that differ from the others of their jobs; none while what is known is old. */
  get marks(): readonly OddMark[] {
    return this.trouble === undefined ? (this.state?.odd?.marks ?? []) : [];
  }

  /** Why the judge says nothing about that job, in words; undefined: it is judged, or is no job for it. */
  unjudged(id: string): string | undefined {
    const { unjudged_all: all, unjudged = {} } = this.state?.odd ?? {};
    if (all !== undefined) return oneLine(all);
    return Object.hasOwn(unjudged, id) ? unjudgedText(unjudged[id] as string) : undefined;
  }

  get jobs(): readonly SchedulerJob[] {
    return this.state?.jobs.list ?? [];
  }

  jobsOn(name: string): readonly SchedulerJob[] {
    return this.pairing.jobs.get(name) ?? [];
  }

  /** The switches that it knows, each with its nodes on the board. */
  get switches(): ReadonlyMap<string, readonly string[]> {
    const { boardName } = this.pairing.matched;
    const found = new Map<string, string[]>();
    for (const { name, switch: behind } of this.pairing.nodes.values()) {
      const on = boardName.get(name);
      if (behind !== undefined && on !== undefined) addTo(found, behind, on);
    }
    return found;
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
    return this.state?.jobs.whole;
  }

  /** The node by its name on the board; undefined: the scheduler does not know it. */
  of(name: string): SchedulerNodeInfo | undefined {
    const node = this.pairing.nodes.get(this.pairing.matched.nodeName.get(name) ?? '');
    return node && { node, jobs: this.jobsOn(node.name) };
  }

  /** One node, for programs. */
  json(name: string): object | undefined {
    const side = this.of(name);
    if (side === undefined) return undefined;
    const { name: node_name, host, state, reason, cpus, cpus_used = 0, gpus, gpus_used } = side.node;
    const jobs = side.jobs.map(({ id, state, user, partition }) => ({ id, state, user, partition }));
    const drain = drainOf(side.node);
    return { node_name, host, state, reason, drain, cpus, cpus_used, gpus, gpus_used, jobs };
  }

  /** The age of the answer and what is wrong with it, for programs. */
  get head(): object {
    const { cluster, version, nodes, jobs } = this.state ?? {};
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
}

/** The reader's files in that folder, beside that snapshot. */
export function schedulerViewOf(folder: string, snapshot: Pick<Snapshot, 'names'>): SchedulerView {
  const found = readState(folder);
  // Nothing is matched with what is not known.
  return new SchedulerView(new Pairing(found, 'state' in found ? snapshot.names() : []));
}

/** The same for a program that looks again and again and must not wait for a file. */
export class SchedulerViewFollower extends FileFollower<StateResult> {
  #pairing: Pairing | undefined;

  /** `changed` is called when the reader has left a new file. */
  constructor(folder: string, changed?: () => void) {
    super(stateFile(folder), changed);
  }

  /** What was read, beside the board; reads it again in the background if it has changed. `names`: those of the board, the same array as long as they are the same. */
  pairing(names: readonly string[]): Pairing {
    const { found = BEING_READ } = this;
    if (this.#pairing?.isOf(found, names) !== true) this.#pairing = new Pairing(found, names, this.#pairing);
    return this.#pairing;
  }

  view(names: readonly string[]): SchedulerView {
    return new SchedulerView(this.pairing(names));
  }
}
