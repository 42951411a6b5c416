// The shapes of what programs get about a board, its nodes and jobs, as JSON Schema: of `--json`, in
// docs/json.schema.json, and of the API. Pure.

import { type Field, isBig } from '../layout/codec.js';
import { dictionary } from '../layout/dictionary.gen.js';
import { structs } from '../layout/layout.gen.js';
import { terms } from '../layout/terms.gen.js';
import { array, flag, integer, list, map, number, object, type Schema, text, word } from './schema.js';

const state = word(terms.node_state);
const reason = text('a word of the enum reason in proto/board-v2.md');
const problems = (description: string) => array(word(terms.problem), description);

/** What the contract says of a field, with its unit. */
function aboutField(struct: string, field: string): string | undefined {
  const { meaning = '', unit = '' } = dictionary.find(entry => entry.struct === struct && entry.field === field) ?? {};
  return [meaning, unit].filter(part => part !== '').join('; ') || undefined;
}

/** The fields of a struct of the contract as in JSON: a number that can exceed 2^53 is a decimal string. */
export function structShape(struct: keyof typeof structs, description?: string): Schema {
  const fields = Object.entries<Field>(structs[struct].fields).filter(([, { kind }]) => kind !== 'reserved');
  const shapes = fields.map(([name, { type, count, unit }]): [string, Schema] => {
    const about = aboutField(struct, name);
    if (type === 'char') return [`${name}?`, text(about)];
    const one: Schema = Object.hasOwn(structs, type)
      ? structShape(type as keyof typeof structs)
      : { type: type.endsWith('64') && isBig({ unit }) ? 'string' : 'integer' };
    return [`${name}?`, { ...(count > 0 ? array(one) : one), ...(about !== undefined && { description: about }) }];
  });
  return object(Object.fromEntries(shapes), description);
}

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

const MEMORY = object(
  {
    since_ms: number('since when the board remembers it; what never was since then is absent'),
    'heard_ms?': number('since when it is heard without a gap'),
    'boot_ms?': number('since the first report of its boot'),
    'recent?': problems('those that are not over'),
    'episodes?': map(
      object({ count: integer(), began_ms: number('the last began'), seen_ms: number('the last was last seen') }),
      'by problem',
    ),
    'silence?': object({
      count: integer(),
      began_ms: number('the last began'),
      'ended_ms?': number('it ended; absent: not heard since'),
    }),
    'last_words?': LAST_WORDS,
  },
  'what the board remembers of it, in ms up to now',
);

const JOB_OF_NODE = object({ id: text(), state: text(), user: text(), partition: text() });

/** A node without a choice of fields; `report`: the shape of its report. */
export const nodeShape = (report: Schema): Schema =>
  object({
    name: text(),
    state,
    'problems?': problems('the worst first; absent if it has none or is not heard'),
    'why?': text('that reports in its name are rejected, and why: it proves nothing about the node'),
    'age_ms?': number("time since the stamp of its last report, by the master's monotonic clock"),
    'link?': text('the name of the link through which that came'),
    'address?': text('where that came from'),
    reports: integer('accepted'),
    lost: integer('missing by sequence number while the receiver listened; falls by one when such a report comes late'),
    unheard: integer('missing while it did not listen, or the link was down'),
    duplicate: integer('had already arrived by another path'),
    late: integer('arrived after a newer one'),
    refused: integer('rejected for any reason'),
    restarts: integer('starts of its sender'),
    reboots: integer(),
    resets: integer('reports accepted only because nothing else was heard'),
    'boot_id?': text('16 hexadecimal digits; changes when it reboots'),
    'offset_us?': number("its wall clock minus the master's, with the time for collecting and transit"),
    'last_refusal?': object(
      { reason, age_ms: number(), offset_us: number() },
      'the last rejected report that it made itself, perhaps long ago: it may be a recording',
    ),
    'memory?': MEMORY,
    'report?': report,
    'names?': map({}, 'the words for its numbers: a word for an enum, a list of the bits that are set for a mask'),
    'rates?': map({}, 'counters per second, net by interface; cpu_*_pct in per cent'),
    'slurm?': object(
      {
        node_name: text(),
        'host?': text(),
        state: text(),
        'reason?': text(),
        'cpus?': integer(),
        'cpus_used?': integer(),
        'gpus?': integer(),
        'gpus_used?': integer(),
        jobs: array(JOB_OF_NODE),
      },
      'its side in the scheduler, if that is asked for',
    ),
  });

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

const moment = (description?: string) => text(`ISO 8601, UTC${description === undefined ? '' : `: ${description}`}`);

/** A line of the trouble list; see `TroubleInfo`. */
export const TROUBLE = object(
  {
    key: text('kind and cause, as root_full or link:eth0; of one of several, with more behind it'),
    kind: text(),
    severity: word(['critical', 'warning', 'notice']),
    'nodes?': list('those that have it, or had it if it has ended; absent: it is about no node'),
    count: integer('how many nodes'),
    what: text('in words that follow these names'),
    'since?': moment('since when its first node has it'),
    'since_last?': moment('since when the last one has it, if more than a second later'),
    'ended?': moment('when its last node was well, or not heard any more'),
    'ended_first?': moment('when its first one was, if more than a second earlier'),
    'times?': integer('how often the node that had it most had it'),
    'times_since?': moment('since when these are counted'),
    'flapping?': integer('it flaps: how often in the last hour, from the third time on'),
    'times_hour?': integer('how often in the last hour, by the journal'),
    'jobs?': array(
      object({ id: text(), user: text() }),
      'the first eight on its nodes; absent: not shown to you, or old',
    ),
    'jobs_more?': integer('how many more'),
    'aside?': object({ nodes: list(), count: integer(), why: text() }, 'those on hold, drained or in maintenance'),
    'ack?': object({ by: text(), until: moment(), 'reason?': text() }, 'who acknowledged it'),
    'ack_before?': object(
      { by: text(), at: moment(), last: flag('the one just before this') },
      'who acknowledged an earlier one of one of its nodes',
    ),
    'dim?': word(['ended', 'acknowledged', 'aside'], 'why it is dimmed; aside: all its nodes'),
  },
  'a line of the trouble list',
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

/** The keys of a job; see `jobJson`. */
export const JOB = {
  id: text(),
  state: text(),
  user: text(),
  partition: text(),
  name: text(),
  'start_s?': number('since 1970'),
  nodes: list('the names on the board'),
  node_count: integer(),
  states: map(integer(), 'how many nodes in each state; absent: not on the board'),
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

/** A node that differs from its job's others. */
export const MARK = object({
  ...{ job: text(), node: text(), reading: text(), value: number(), peers: integer('so many it is compared with') },
  ...{ median: number('of these'), lowest: number(), highest: number(), since_ms: number('CLOCK_MONOTONIC') },
});

/** A node of a job; see `memberJson`. */
export const MEMBER = object({
  name: text(),
  state: word([...terms.node_state, 'absent']),
  problems: problems('the worst first'),
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

/** See `userJson`. */
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
