// docs/json.schema.json: what verbs print with --json. A test checks their output against it. Pure.

import type { BoardChange } from '../src/changes/changes.js';
import { terms } from '../src/layout/terms.gen.js';
import { chosenNode, PARTS } from '../src/presentation/nodeshape.js';
import { JOB, JOB_PAGE, LAST_WORDS, ODD, STANDING, said, schema, state, USER } from '../src/presentation/shapes.js';
import {
  array,
  flag,
  integer,
  list,
  map,
  number,
  object,
  opened,
  partsOf,
  type Schema,
  text,
  word,
} from '../src/text/schema.js';

const problem = word(terms.problem);
const node = text();
const count = integer();
/** Of events that the receiver has recorded. */
const recorded = { number: integer('tells an event that you read twice') };
const followed = { 'master?': text('of a mirror: the master that it follows, empty: none yet') };
const ofNode = { 'node?': node, ...recorded };
const ofLink = { 'link?': text(), ...recorded };

/** What each event has besides `schema`, `time` and its name. */
const EVENTS: Readonly<Record<BoardChange['event'], readonly [about: string, keys: Readonly<Record<string, Schema>>]>> =
  {
    begin: ['the nodes at the start', STANDING],
    board: ['another board has replaced the one before, or there is one again', STANDING],
    resumed: ['the receiver continues; changes since the last known states follow', { ...STANDING, ...followed }],
    no_board: ['there is no board that can be read; the program waits for one', { why: text() }],
    stalled: [
      'nothing is known about nodes until resumed or board: no node changes its state',
      { closed: flag(), 'heartbeat_age_ms?': number(), ...followed },
    ],
    state: [
      'a node’s state has changed. Without from it is new, without to no longer on the board',
      {
        node,
        'from?': state,
        'to?': state,
        'age_ms?': number('the time since its last report'),
        'last_words?': LAST_WORDS,
        'stood_still_ms?': number(
          'heard again: for so long it or its sender had stood still; from 4294900 on or longer',
        ),
      },
    ],
    problem: ['a node that is heard has a problem', { node, problem }],
    problem_resolved: [
      'it is over: it was measured as absent for its quiet time (docs/health.md), or a boot ended it',
      { node, problem, 'seen_ms?': number('since it was last seen') },
    ],
    lost: ['events of the receiver were overwritten before they could be read, or lost with their board', { count }],
    restart: ['the sender was started again', ofNode],
    reboot: ['the node was booted; last_words if that was without a goodbye', { ...ofNode, 'last_words?': LAST_WORDS }],
    reset: ['a report was accepted only because nothing else was heard', ofNode],
    goodbye: ['the sender was shut down cleanly', ofNode],
    clear: ['somebody cleared its problems that are not measured any more', ofNode],
    refusal: [
      'the first rejection of its kind in a minute; node is absent if no record is concerned',
      { ...ofNode, 'reason?': text('a word of the enum reason in proto/board-v2.md') },
    ],
    clone: [
      'two machines report as this node',
      { ...ofNode, 'addresses?': array(text(), 'where they report from; absent: that is over') },
    ],
    link_up: ['an interface of the master is up', ofLink],
    link_down: ['it is down', ofLink],
    dark: ['all nodes behind it fell silent together', { ...ofLink, 'count?': count }],
    lit: ['one of these is heard again', ofLink],
    overflow: ['a socket buffer was full; so many datagrams were dropped', { 'count?': count, ...recorded }],
    takeover: ['a receiver started on this board', { 'instance?': integer(), ...recorded }],
    deaf: [
      'until then the receiver could not hear for so long: none ran, or it was stopped',
      { 'deaf_ms?': number(), ...recorded },
    ],
    followed: ['a mirror began to follow this master, with a new board', { 'master?': text(), ...recorded }],
    forget: ['so many nodes were removed from the board', { 'count?': count, ...recorded }],
    unknown: ['an event that this version does not know', recorded],
  };

const time = text('ISO 8601, UTC, by the master’s clock: when it was recorded, or else found');
const eventShapes = Object.entries(EVENTS).map(([event, [about, keys]]) =>
  object({ schema, time, event: { const: event }, ...keys }, about),
);

const part = (...keys: readonly string[]) =>
  object({ nodes: integer(), ...Object.fromEntries(keys.map(key => [key, number()])) });
const TOTALS = object(
  {
    'cpus?': part('used', 'total'),
    'memory?': part('used', 'total'),
    'network?': part('in', 'out'),
    'fabric?': part('in', 'out'),
    'disks?': part('read', 'written'),
    'gpus?': part('used', 'total'),
    'power?': part('watts'),
  },
  'sums over live nodes, in bytes, bytes per second, watts; nodes: how many are in the sum',
);

const GROUP = object({
  'group?': { type: ['string', 'number'], description: 'what its nodes have in common; absent: not known' },
  nodes: list(),
  ...{ states: STANDING.states, unhealthy: STANDING.unhealthy, recently: STANDING.recently },
  means: map({ type: ['number', 'string'] }, 'over its live nodes; of a text: what all of them have'),
});

const ANOMALY = object({
  kind: text('receiver, link, clock …; later versions may have more'),
  'nodes?': list('absent: the receiver, this master, or senders whose names prove nothing'),
  text: text('for people; its words may change'),
});

const CHOSEN = chosenNode('number', 'string', 'object');

const STATUS = object(
  {
    schema,
    board: PARTS.Board,
    counts: object(STANDING, 'of the chosen nodes'),
    anomalies: array(ANOMALY, 'as with --long'),
    trouble: array(PARTS.Trouble, 'in the order of the text'),
    'slurm?': PARTS.Slurm,
    'totals?': TOTALS,
    'groups?': array(GROUP, 'with --by, in the order of the text'),
    'of_user?': array(text(), 'of a user who has the name of a node that show was asked for: the nodes'),
    nodes: array({ anyOf: [PARTS.Node, CHOSEN] }, 'the worst first, or as --sort says'),
  },
  'beoboard status, beoboard show; with --watch one in each line',
);

/** What the scheduler's verbs have in common. */
const ofScheduler = (key: string, items: Schema, description: string) =>
  object(
    {
      ...{ schema, slurm: PARTS.Slurm, anomalies: array(text(), 'sentences'), [key]: array(items) },
      'of_user?': array(items, 'of a user who has the name of a node that was asked for'),
    },
    description,
  );

/** What one job has besides. */
const ofOne = Object.fromEntries(Object.entries(JOB_PAGE).map(([key, of]) => [`${key.replace('?', '')}?`, of]));

const JOURNAL_JOB = object({
  id: text(),
  'user?': text(),
  'partition?': text(),
  'name?': text(),
  'nodes?': list(),
});
/** What an event of the journal and the last end of nodes have in common. */
const ofJournal = {
  schema,
  id: text('the master’s boot, the board’s creation, and a number that rises'),
  board: text('its name'),
  event: text(),
  'from?': text('when it began, ISO 8601, UTC'),
  'to?': text('when it ended, or the nodes were heard again'),
  'to_last?': text('the latest of several nodes'),
  'nodes?': list(),
  'count?': count,
  'first?': text('which was first'),
  'last_words?': said(),
  'words_from?': text('the stamp of that report'),
  'goodbye?': flag(),
  'stood_still_ms?': number('for so long, at most, they or their senders had stood still when they were heard again'),
  'jobs?': array(JOURNAL_JOB, 'those on its nodes'),
  'jobs_left_out?': integer('how many more, for which its line had no room'),
};

const JOURNAL = object(
  {
    ...ofJournal,
    at: text('when it was written'),
    mono_ms: number('likewise, CLOCK_MONOTONIC'),
    ring: integer('the last event of the board by then'),
    'ring_waits?': text('those before it that no line tells of yet'),
    ...Object.fromEntries(
      ['from_last', 'problem', 'reason', 'link', 'master', 'why', 'act', 'outcome', 'key', 'by', 'until', 'reading']
        .concat('version', 'missed_since')
        .map(key => [`${key}?`, text()]),
    ),
    ...Object.fromEntries(
      ['more', 'missed', 'instance', 'by_ms', 'order', 'order_since_ms', 'value', 'lowest', 'highest'].map(key => [
        `${key}?`,
        number(),
      ]),
    ),
    'late?': flag('found in the memory of the board afterwards'),
    'closed?': flag(),
    'addresses?': array(text()),
    'states?': map(integer()),
    'counts?': map(integer(), 'how many silences, or episodes of the problem, its nodes had: host lists'),
    'of?': integer('how many nodes it has, if not all are asked for'),
    'goes_on?': { type: ['string', 'boolean'], description: 'for which nodes it goes on; true: it is about none' },
    'unrecorded?': integer('for how many the end is not known'),
  },
  'beoboard events with --since, --last TIME and so on: an event of the journal, docs/journal.md',
);

const LAST_END = object(
  { ...ofJournal, 'boot?': text('when they were booted') },
  'beoboard events --last-end: how nodes ended the last time',
);

const ACKS = object(
  {
    schema,
    acks: array(
      object({
        ...{ key: text(), nodes: list(), 'flapping?': list('those that flapped'), by: text(), at: text() },
        ...{ 'mono_ms?': integer('CLOCK_MONOTONIC then'), 'boot?': text('of the master'), 'times?': integer() },
        ...{ until: text(), 'reason?': text() },
      }),
      'of lines of the trouble list',
    ),
  },
  'beoboard ack',
);

const READING = object({
  name: text(),
  'about?': text(),
  unit: text(),
  'quantity?': text(),
  'words?': array(text()),
  'total?': text(),
  'source?': text(),
});
const DESCRIBED = object(
  {
    schema,
    fields: array(
      object({
        ...Object.fromEntries(
          ['struct', 'field', 'type', 'unit', 'kind', 'set', 'speed', 'source', 'meaning', 'isNot'].map(key => [
            key,
            text(),
          ]),
        ),
        offset: integer(),
      }),
      'of the contract',
    ),
    readings: array(READING),
    'words?': array(object({ of: text(), means: text() }), 'of lists and tables, with a name'),
  },
  'beoboard describe',
);

/** What the top level may be. */
const TOP: Readonly<Record<string, Schema>> = {
  Status: STATUS,
  NoBoard: object({ schema, no_board: text('why') }, 'beoboard status --watch while there is no board'),
  Jobs: ofScheduler(
    'jobs',
    object({ ...JOB, ...ofOne }),
    'beoboard jobs; one job has its marks, trouble and members, too',
  ),
  Users: ofScheduler('users', USER, 'beoboard users'),
  OddNodes: object({ schema, odd: array(object(ODD)) }, 'beoboard odd'),
  Acks: ACKS,
  Drained: object(
    {
      schema,
      done: flag('the commands were run'),
      commands: array(text(), 'as they would be typed'),
      left: array(text(), 'what is not done, and why'),
      told: array(text(), 'what else there is to know: an old answer, hidden jobs, who had drained a node'),
      nodes: list("in the scheduler's names, or without one on the board"),
      'scheduler?': text('absent: none is known, so it is the hold file of the nodes'),
      'free?': text('when no job is there any more'),
      'jobs?': array(
        object({
          id: text(),
          user: text(),
          nodes: list("the scheduler's names"),
          'start_s?': number(),
          'end_s?': number(),
        }),
      ),
      'also?': array(text(), 'what else keeps nodes out'),
    },
    'beoboard drain and resume',
  ),
  Forgotten: object(
    { schema, forgotten: array(text()), unknown: array(text(), 'those without a record') },
    'beoboard forget',
  ),
  Cleared: object(
    {
      ...{ schema, cleared: array(text()) },
      nothing: array(text(), 'those of which all that is remembered is measured'),
      unknown: array(text(), 'those without a record'),
    },
    'beoboard clear',
  ),
  Event: { anyOf: eventShapes, description: 'a line of beoboard events' },
  JournalEvent: JOURNAL,
  LastEnd: LAST_END,
  Described: DESCRIBED,
};

const AT = '#/$defs/';

/** The schema. `isClosed`: of exactly this version, in which no object has other keys than those that it names. */
export function jsonSchema(isClosed = false): object {
  const document = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'beoboard --json',
    description: 'What verbs print with --json: docs/json.md. Later versions may add keys and words.',
    anyOf: Object.keys(TOP).map(name => ({ $ref: `${AT}${name}` })),
    $defs: partsOf({ ...TOP, ...PARTS, Chosen: CHOSEN }, AT),
  };
  return isClosed ? document : (opened(document) as object);
}
