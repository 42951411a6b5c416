// The shape of a node as programs get it, with its report, as JSON Schema; and the parts that documents share. Pure.

import { TROUBLE } from '../acks/info.js';
import { type Field, isBig } from '../layout/codec.js';
import { dictionary } from '../layout/dictionary.gen.js';
import { structs } from '../layout/layout.gen.js';
import { array, integer, map, number, object, type Schema, schemaOf, text } from '../text/schema.js';
import { BOARD, LAST_WORDS, problems, reason, SLURM, state } from './shapes.js';

/** What the contract says of a field, with its unit. */
function aboutField(struct: string, field: string): string | undefined {
  const { meaning = '', unit = '' } = dictionary.find(entry => entry.struct === struct && entry.field === field) ?? {};
  return [meaning, unit].filter(part => part !== '').join('; ') || undefined;
}

/** The fields of a struct of the contract as in JSON: a number that can exceed 2^53 is a decimal string. */
function structShape(struct: keyof typeof structs, description?: string): Schema {
  const fields = Object.entries<Field>(structs[struct].fields).filter(([, { kind }]) => kind !== 'reserved');
  const shapes = fields.map(([name, { type, count, unit }]): [string, Schema] => {
    const about = aboutField(struct, name);
    if (type === 'char') return [`${name}?`, text(about)];
    const one: Schema = Object.hasOwn(structs, type)
      ? structShape(type as keyof typeof structs)
      : { type: type.endsWith('64') && isBig({ unit }) ? 'string' : 'integer' };
    return [`${name}?`, schemaOf(count > 0 ? array(one) : one, about)];
  });
  return object(Object.fromEntries(shapes), description);
}

const REPORT = structShape(
  'report',
  'the last report: what was not measured is absent; beoboard describe FIELD explains it',
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
    'unmeasured?': map(number(), 'problems that are not over and not measured any more: since when'),
    'silence?': object({
      count: integer(),
      began_ms: number('the last began'),
      'ended_ms?': number('it ended; absent: not heard since'),
      'stood_still_ms?': number('for so long the node or its sender had stood still then; from 4294900 on or longer'),
    }),
    'last_words?': LAST_WORDS,
  },
  'what the board remembers of it, in ms up to now',
);

const JOB_OF_NODE = object({ id: text(), state: text(), user: text(), partition: text() });

/** A node without a choice of fields. */
const NODE = object({
  name: text(),
  state,
  'problems?': problems('the worst first; absent if it has none or is not heard'),
  'recently?': problems('those that it does not have now, but had within their quiet times'),
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
  'report?': REPORT,
  'names?': map({}, 'the words for its numbers: a word for an enum, a list of the bits that are set for a mask'),
  'rates?': map({}, 'counters per second, net by interface; cpu_*_pct in per cent'),
  'slurm?': object(
    {
      node_name: text(),
      'host?': text(),
      state: text(),
      'reason?': text(),
      'drain?': object(
        { reason: text(), by: text(), 'until_ms?': number('since 1970') },
        'who drained it by beoboard drain',
      ),
      'cpus?': integer(),
      'cpus_used?': integer(),
      'gpus?': integer(),
      'gpus_used?': integer(),
      jobs: array(JOB_OF_NODE),
    },
    'its side in the scheduler, if that is asked for',
  ),
});

/** A node of which `values` were asked for. */
export const chosenNode = (...values: readonly string[]) =>
  schemaOf({
    type: 'object',
    properties: { name: text(), state },
    required: ['name', 'state'],
    additionalProperties: { type: values },
    description: 'its name, its state and the fields that were asked for; what was not measured is absent',
  });

/** What documents have in common, by its name in each. */
export const PARTS = { Board: BOARD, Trouble: TROUBLE, Slurm: SLURM, Node: NODE, Report: REPORT };
