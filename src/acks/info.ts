// A line of the trouble list as programs get it: status --json, the API, and the stream of the page.

import { array, type Described, flag, integer, list, moment, object, text, word } from '../text/schema.js';

/** Times are in whole seconds, so that a line that stays the same is the same text. */
export const TROUBLE = object(
  {
    key: text('kind and cause, as root_full or link:eth0; of one of several, with more behind it'),
    kind: text(),
    severity: word(['critical', 'warning', 'notice']),
    'nodes?': list('those that have it, or had it if it has ended; absent: it is about no node'),
    count: integer('how many nodes'),
    'now?': integer('how many of them show the problem now; absent: all, or it is no problem of nodes'),
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

export type TroubleInfo = Described<typeof TROUBLE>;
/** From the worst. */
export type Severity = TroubleInfo['severity'];
/** Why a line is dimmed: it is over, somebody has acknowledged it, or an administrator has set all its nodes aside. */
export type Dimmed = NonNullable<TroubleInfo['dim']>;
/** A job that runs on nodes of a line. */
export type TroubleJob = NonNullable<TroubleInfo['jobs']>[number];
