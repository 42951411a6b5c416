// The door to a scheduler: what it is asked, what it answers, and what it is told to do. Everything behind it knows one
// scheduler; nothing before it knows which. An answer is whole or partial: what was not understood is left out and
// counted. What is unknown is doubt, in which nothing is concluded and nothing done. Texts of users are data.

import { NameRanges } from '../text/hostlists.js';
import type { Described, DescribedKeys } from '../text/schema.js';
import { type Check, isFlag, isNumber, isText, shapeOf } from '../text/shape.js';
import { shortened } from '../text/text.js';

/** It was not asked, or did not answer; the message is shown to people. */
export class NoAnswer extends Error {}

/** The longest text that is kept of a free text; the rest is cut. */
export const TEXT_MOST = 256;

/** No time in seconds since 1970 is larger: a Date can tell it. */
export const SECONDS_MOST = 10 ** 12;

export const cut = (text: string) => shortened(text, TEXT_MOST);

/** What a state is at its base. `future`: the node is not there yet. `unknown`: the scheduler itself does not know. */
export const BASES = ['idle', 'allocated', 'down', 'future', 'error', 'unknown'] as const;

type BaseState = (typeof BASES)[number];
const isSet = isFlag as Check<true>;
const isSeconds: Check<number> = value => isNumber(value) && Math.abs(Number(value)) <= SECONDS_MOST;

const MEANING = {
  /** Absent: a word is not known, so nothing is concluded. */
  'base?': isText as Check<BaseState>,
  /** Whether it would start a job there now. */
  'takes_jobs?': isSet,
  /** Whether it never starts a job there: no queue, partition or slot has the node. */
  'no_jobs?': isSet,
  /** Whether a job is about to leave the node. */
  'ending?': isSet,
  /** Whether it has, or may have, switched the node off: the board does not expect to hear it. */
  'asleep?': isSet,
  /** What an administrator has done to keep jobs off it, in words: `drained`. */
  'aside?': isText,
};
/** What the words of a scheduler for a node mean. */
export type StateMeaning = DescribedKeys<typeof MEANING>;

/** A node; 0, false and unknown values are left out. */
export const isNode = shapeOf({
  ...MEANING,
  name: isText,
  /** The name of its host, if it differs. */
  'host?': isText,
  /** As the scheduler writes it, `IDLE+DRAIN`; `?` if there are two. */
  state: isText,
  cpus: isNumber,
  ...{ 'cpus_used?': isNumber, 'gpus?': isNumber, 'gpus_used?': isNumber },
  ...{ 'memory_mib?': isNumber, 'memory_used_mib?': isNumber },
  ...{ 'reason?': isText, 'reason_by?': isText, 'reason_s?': isSeconds },
  /** The switch that it is behind, where the scheduler says so. */
  'switch?': isText,
});
export type SchedulerNode = Described<typeof isNode>;

/** A job that holds nodes. */
export const isJob = shapeOf({
  /** As people write it: `4_1` of a job array. */
  id: isText,
  /** The job's own number, if it is another one: SLURM_JOB_ID of a task of an array. */
  'raw_id?': isText,
  /** `RUNNING` in the words of any scheduler; about a job in any other state nothing is concluded. */
  state: isText,
  ...{ user: isText, partition: isText, name: isText, cpus: isNumber },
  /** Seconds since 1970. */
  'start_s?': isSeconds,
  /** When it ends at the latest, by its limit; absent: the scheduler does not say. */
  'end_s?': isSeconds,
  /** A host list of the scheduler's names. */
  nodes: (value => isText(value) && value !== '' && NameRanges.ofNodeNames(value) !== undefined) as Check<string>,
});
export type SchedulerJob = Described<typeof isJob>;

/** The lines and rows of an answer that were not understood, so that none is left out in silence. */
export class LeftOut {
  count = 0;
  first: string | undefined;

  add(line: string): void {
    this.first ??= cut(line.slice(0, TEXT_MOST));
    this.count++;
  }
}

/** What it answers to one question. */
export interface ListAnswer<T> {
  readonly list: readonly T[];
  readonly leftOut: LeftOut;
  /** When it was true, ms since 1970; absent: now. */
  readonly atMs?: number;
}

/** What it says of itself. */
export interface About {
  /** Its name, for people: `Slurm`. */
  readonly name: string;
  /** What it runs on each node: `slurmd`. */
  readonly daemon: string;
  readonly cluster: string;
  readonly version: string;
  /** What it hides from users who are not its administrators: `jobs`, `nodes`; undefined: unknown. */
  readonly hides?: readonly string[] | undefined;
  /** What it hides from that user, in a sentence; undefined: nothing that is known. */
  readonly hidden: (user: string) => string | undefined;
  /** Why not everybody may see all jobs, in a sentence; undefined: everybody may. */
  readonly closed?: string | undefined;
  /** What a node that it does not show may be, besides unknown to it. */
  readonly unshown?: string | undefined;
  /** Whether it switches nodes off; undefined: it does not say so. */
  readonly power_saving?: boolean | undefined;
  /** How long a node may take from being switched on until it is heard, s. */
  readonly resume_timeout_s?: number | undefined;
}

/** The questions of the reader, which change nothing. Each rejects with NoAnswer. */
export interface Scheduler {
  nodes(): Promise<ListAnswer<SchedulerNode>>;
  jobs(): Promise<ListAnswer<SchedulerJob>>;
  about(): Promise<About>;
  /** What is known of it before it has answered. */
  readonly unasked: About;
}

/** A node as the bridge needs it: what its state means for orders. */
export interface OrderedNode extends SchedulerNode {
  /** A hold is on it, whoever gave it: jobs on it go on, and no new ones come. Whose it is, its reason says. */
  readonly held?: true | undefined;
  /** Somebody has declared it faulty. */
  readonly failed?: true | undefined;
  /** It does not answer the scheduler. */
  readonly unheard?: true | undefined;
  /** By its state it may get a hold; in doubt it may not. */
  readonly may_hold?: true | undefined;
  /** By its state a hold of ours may be lifted, unless it is DOWN. */
  readonly may_release?: true | undefined;
  /** Its reason is the scheduler's own, and no administrator's. */
  readonly own_reason?: true | undefined;
  /** Why no order can mean this node alone; absent: one can. */
  readonly unorderable?: string | undefined;
  /** When its daemon started, as it said when it registered: seconds since 1970. */
  readonly daemon_start_s?: number | undefined;
}

/** Hold a node, or release it. The reason is our mark: a hold with exactly this reason is ours. */
export interface HoldOrder {
  readonly act: 'drain' | 'undrain';
  /** The scheduler's name. */
  readonly node: string;
  readonly reason: string;
}

/** A command that is started, and waits for its order. */
interface PreparedCommand {
  /** Gives an order. An exit code proves nothing; the caller has to look at the node again. */
  order(order: HoldOrder): Promise<{ rc: number | null; said: string }>;
  /** Ends it without an order. */
  drop(): Promise<void>;
}

/** The questions and orders of the bridge. The questions reject with NoAnswer. */
export interface Controller {
  nodes(): Promise<ReadonlyMap<string, OrderedNode>>;
  /** One node, now; undefined: there is none of that name. */
  node(name: string): Promise<OrderedNode | undefined>;
  /** The same after an order; the signal to end does not interrupt it either. */
  readBack(name: string): Promise<OrderedNode | undefined>;
  /** Why this machine's controller is not the one that decides; undefined: it is. */
  notPrimary(): Promise<string | undefined>;
  /** When the controller was started, s since 1970; undefined: it does not say so. */
  startedS(): Promise<number | undefined>;
  /**
   * Starts what an order needs, so that nothing but the order itself lies between a last look at a node and its effect:
   * there is no order with a condition.
   */
  prepare(): PreparedCommand;
  /** An order as a line for a shell. */
  lineOf(order: HoldOrder): string;
  /** The node as it would be with that hold. */
  asHeld(node: OrderedNode, reason: string): OrderedNode;
}

/** While it does not answer, it is asked again within this time, ms. */
const LONGEST_MS = 60_000;

/** The time to the next question, ms, after so many without an answer. */
export function nextMs(interval: number, failures: number): number {
  return failures === 0 ? interval : Math.min(Math.max(LONGEST_MS, interval), interval * 2 ** failures);
}
