// The shapes of what programs get about a board, its nodes and jobs, as JSON Schema: of `--json`, in
// docs/json.schema.json, and of the API. Pure.

import { TROUBLE } from '../acks/info.js';
import { terms } from '../layout/terms.gen.js';
import {
  array,
  type Described,
  type DescribedKeys,
  flag,
  integer,
  list,
  map,
  number,
  object,
  schemaOf,
  text,
  word,
} from '../text/schema.js';

/** The number of all these shapes. */
export const schema = schemaOf<1>({ const: 1 });
export const state = word(terms.node_state);
export const reason = text('a word of the enum reason in proto/board-v2.md');
export const problems = (description: string) => array(word(terms.problem), description);

/** The words that tell what a last report said. */
export const said = (description?: string) => array(word([...terms.last_words, 'hottest']), description);

/** Words of a last report; see `saidJson`. */
export const LAST_WORDS = object(
  {
    reported_ms: number('the age of that report'),
    said: said('empty if nothing explains it; hottest: 5 °C above its like'),
  },
  'what its last report before it fell silent or was booted said',
);

const LINK = object(
  {
    number: integer(),
    name: text('of the interface; other interfaces: of all that have no entry (31)'),
    up: flag('datagrams sent to it can be received'),
    gone: flag('the master has no interface of that name'),
    no_address: flag('what is sent to address does not reach the receiver'),
    'in_pieces?': flag('of what came as IP fragments'),
    'unjoined_ms?': number('for how long the kernel has failed to join fragments'),
    'since_ms?': number('for how long it has been up or down'),
    nodes: integer('those whose last report came through it and was no goodbye'),
    'heartbeat_age_ms?': number('as of the board, for this link'),
    listened_ms: number('likewise'),
    'dark?': object(
      { since_ms: number('since the last of them passed its first limit'), nodes: integer('so many fell') },
      'all of its nodes fell together: the network or this master is more likely at fault than they',
    ),
    'address?': text('to which its reports were last sent'),
    downs: integer('how often it was found down'),
    accepted: integer('accepted reports that came through it'),
    missed: integer('packets of any kind that it dropped because its ring was full (ethtool -g)'),
  },
  'an interface of the master through which reports arrive',
);

const SENDER = object({
  reason,
  address: text('its source address, as the datagram says'),
  'name?': text('the name that it claims'),
  count: integer(),
  first_ms: number('since the first one'),
  last_ms: number('since the last one'),
});

const MIRROR = object({
  site: text(),
  'master?': text('the master that is followed'),
  heard: flag('whether its relay is heard'),
  others: array(text(), 'masters whose relays are heard'),
  'behind_ms?': number('how far its heartbeat is behind'),
  vetoed: integer('nodes that another master hears and this one does not'),
});

/** The board and its receiver; see `boardJson`. */
export const BOARD = object(
  {
    path: text(),
    cluster: text('empty if it has no name'),
    instance: integer('one more at each start of a receiver on this board'),
    pid: integer('of the receiver'),
    'heartbeat_age_ms?': number('since the moment up to which everything was received; absent: there was none yet'),
    listened_ms: number('for how long everything was received; 0 also while a long gap leaves a doubt'),
    stalled: flag('nothing is known about nodes: the heartbeat is older than 3 s'),
    closed: flag('the receiver was shut down cleanly'),
    retired: flag('another board has replaced this one'),
    filtering: flag('a flood is being filtered: unfit_drops includes junk'),
    kernel_drops: integer('datagrams dropped because a socket buffer was full: raise net.core.rmem_max'),
    unfit_drops: integer('datagrams with a wrong UDP checksum, or filtered as junk'),
    softnet_drops: integer('packets of any kind dropped before a socket: raise net.core.netdev_max_backlog'),
    received: integer('datagrams'),
    accepted: integer('reports'),
    duplicate: integer('reports that had already arrived by another path'),
    nodes: integer('records in use'),
    capacity: integer('records in total'),
    uncertain_after_ms: number('the limit in force'),
    silent_after_ms: number('the limit in force'),
    longest_interval_ms: number('a longer interval of a node is judged as this one; 0: there is none'),
    refused: map(integer(), 'rejected datagrams by reason; what never was is absent'),
    refused_senders: array(SENDER, 'their sources, the most recent first, at most eight for each reason'),
    links: array(LINK),
    event_last: integer('the number of the newest event on the board'),
    keys: array(integer(), 'the numbers of the keys with which reports are verified'),
    'reload_failed?': object(
      { what: word(['options', 'nodes', 'keys']), age_ms: number() },
      'it goes on with what it had, because it could not read this again',
    ),
    'mirror?': MIRROR,
  },
  'the receiver and its board: look here before you blame nodes',
);

/** See `SchedulerView.head`. */
export const SLURM = object(
  {
    'cluster?': text(),
    'version?': text(),
    'nodes_age_ms?': number(),
    'nodes_left_out?': number('lines of its answer that were not understood'),
    'jobs_left_out?': number('likewise'),
    'jobs_age_ms?': number(),
    'trouble?': text('why nothing is known, or what is known is old'),
  },
  'the scheduler’s answers',
);

const ILL = {
  unhealthy: integer('how many have a problem now'),
  recently: integer('how many others had one within its quiet time: docs/health.md'),
};
/** See `Standing`. */
export const STANDING = { nodes: integer(), states: map(integer(), 'how many in each state'), ...ILL };

/** The keys of a job; see `ListedJob`. */
export const JOB = {
  id: text(),
  'raw_id?': text('the number by which Slurm’s logs, cgroups and environment know it, if it is another one'),
  state: text(),
  user: text(),
  partition: text(),
  name: text(),
  'start_s?': number('since 1970'),
  'end_s?': number('since 1970: when it ends at the latest, by its limit'),
  nodes: list('the names on the board'),
  node_count: integer(),
  states: map(integer(), 'how many nodes in each state; absent: not on the board'),
  ...ILL,
  alone: flag('no other job is on any of its nodes'),
  cpus: integer(),
  'cpus_busy?': number(),
  'efficiency?': number('busy CPUs of those that it was given'),
  'mem_used_mib?': number(),
  'mem_total_mib?': number(),
  'gpus?': integer(),
  'gpus_busy?': number(),
  worst: object({ node: text(), 'why?': text() }),
};
export type JobInfo = DescribedKeys<typeof JOB>;

/** A node that differs from its job's others. */
const MARK = object({
  ...{ job: text(), node: text(), reading: text(), value: number(), peers: integer('so many it is compared with') },
  ...{ median: number('of these'), lowest: number(), highest: number(), since_ms: number('CLOCK_MONOTONIC') },
  'own?': number('by how much it differed before: a factor, or so much more'),
});

/** A node of a job; see `memberJson`. */
export const MEMBER = object({
  name: text(),
  state: word([...terms.node_state, 'absent']),
  problems: problems('the worst first'),
  recently: problems('those that it had within their quiet times'),
  'hardware?': word(['same', 'other', 'unknown'], 'beside its peers; absent: not compared'),
  readings: map(number()),
  compared: map(
    object({
      median: number('of its peers'),
      'deviation?': number('from that in units of their spread, above 0 on the bad side'),
    }),
    'by reading',
  ),
});

/** The further keys of a job that is shown alone; see `jobPageJson`. */
export const JOB_PAGE = {
  'unjudged?': text('why none of its nodes can be marked'),
  marks: array(MARK),
  trouble: array(TROUBLE, 'the lines about its nodes, the worst first'),
  members: array(MEMBER, 'who differs most from the others first'),
};

/** A user whose jobs have nodes. */
export const USER = object({
  user: text(),
  job_count: integer(),
  jobs: array(text(), 'up to 1,000'),
  node_count: integer(),
  nodes: list(),
  cpus: integer('given to their jobs'),
  'cpu_use?': number('the busy part of these on live nodes'),
  gpus: integer(),
  'gpu_use?': number('likewise'),
  shared_count: integer(),
  'shared?': list('nodes where jobs of others run, too: their use is that of all'),
  trouble_count: integer(),
  'trouble?': list('nodes that are not live, unhealthy, or not on the board'),
});

export type UserInfo = Described<typeof USER>;

/** The keys of a family's difference; see `oddJson`. */
export const ODD = {
  family: text('nodes whose names differ in their numbers, or as --by says'),
  trait: text('kernel, software, cpus, temp_idle …; later versions may have more'),
  minority: flag('all groups but the first are the odd ones'),
  groups: array(
    object({ value: text('as the text has it'), nodes: list(), count: integer() }),
    'the largest first; of temperatures first the one with the median',
  ),
};

/** An event of one node, or of several within a second; `event` and its keys are those of `beoboard events --json`. */
export interface FoldedEvent {
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly event: string;
  /** The same as a line for people, without the time. */
  readonly text: string;
  /** A host list and the number of nodes in it. */
  readonly nodes?: string | undefined;
  readonly count?: number | undefined;
  readonly [key: string]: unknown;
}
/** An event, and the number of its look. */
export type KeptEvent = FoldedEvent & { readonly seq: number };
