// The API's answers as an OpenAPI document: a test checks every answer against it. Pure.

import { structs } from '../layout/layout.gen.js';
import { terms } from '../layout/terms.gen.js';
import { VERSION } from '../options/version.js';
import { SCALES } from '../readings/scales.js';
import { NODE_PAGE, RIVER, STATES } from './wire.js';

type Schema = Readonly<Record<string, unknown>>;

const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
const text = (description?: string): Schema => ({ type: 'string', ...(description && { description }) });
const number = (description?: string): Schema => ({ type: 'number', ...(description && { description }) });
const integer = (description?: string): Schema => ({ type: 'integer', ...(description && { description }) });
const flag = (description?: string): Schema => ({ type: 'boolean', ...(description && { description }) });
const array = (items: Schema, description?: string): Schema => ({
  type: 'array',
  items,
  ...(description && { description }),
});
const map = (additionalProperties: Schema, description?: string): Schema => ({
  type: 'object',
  additionalProperties,
  ...(description && { description }),
});

/** An object with these and no other keys; those whose name ends in ? may be absent. */
function object(keys: Readonly<Record<string, Schema>>, description?: string): Schema {
  const names = Object.keys(keys);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map(name => [name.replace(/\?$/, ''), keys[name]])),
    required: names.filter(name => !name.endsWith('?')),
    additionalProperties: false,
    ...(description && { description }),
  };
}

const schema = { const: 1 } as const;
const seq = integer('the number of the newest look; one more each second');
const state: Schema = { enum: [...STATES] };
const list = text('a host list');

interface Described {
  readonly type: string;
  readonly count: number;
  readonly unit: string;
  readonly kind: string;
}

/** The fields of a struct of the contract as in JSON: a number that can exceed 2^53 is a decimal string. */
function fieldsOf(struct: keyof typeof structs): Schema {
  const fields = Object.entries<Described>(structs[struct].fields).filter(([, { kind }]) => kind !== 'reserved');
  return object(
    Object.fromEntries(
      fields.map(([name, { type, count, unit }]): [string, Schema] => {
        const one: Schema =
          type === 'char'
            ? text()
            : Object.hasOwn(structs, type)
              ? fieldsOf(type as keyof typeof structs)
              : type.endsWith('64')
                ? { type: ['number', 'string'] }
                : number(unit);
        return [`${name}?`, count > 0 && type !== 'char' ? array(one) : one];
      }),
    ),
  );
}

const NODE = object(
  {
    name: text(),
    state,
    'problems?': array({ enum: [...terms.problem] }, 'the worst first'),
    'why?': text('why reports in its name are rejected, which proves nothing about the node'),
    'age_ms?': number(),
    'link?': text(),
    'address?': text(),
    reports: integer(),
    lost: integer(),
    unheard: integer(),
    duplicate: integer(),
    late: integer(),
    refused: integer(),
    restarts: integer(),
    reboots: integer(),
    resets: integer(),
    'boot_id?': text('16 hexadecimal digits'),
    'offset_us?': number(),
    'last_refusal?': object({ reason: text(), age_ms: number(), offset_us: number() }),
    'memory?': object({
      since_ms: number('since when anything is remembered'),
      'heard_ms?': number(),
      'boot_ms?': number(),
      'recent?': array({ enum: [...terms.problem] }, 'the worst first'),
      'episodes?': object(
        Object.fromEntries(
          terms.problem.map(problem => [
            `${problem}?`,
            object({ count: integer(), began_ms: number(), seen_ms: number() }),
          ]),
        ),
      ),
      'silence?': object({ count: integer(), began_ms: number(), 'ended_ms?': number() }),
      'last_words?': object({ reported_ms: number(), said: array({ enum: [...terms.last_words, 'hottest'] }) }),
    }),
    'report?': ref('Report'),
    'names?': map({}, "the words for the report's numbers"),
    'rates?': map({}, 'counters per second, cpu_*_pct in per cent'),
  },
  'as beoboard status --json has it: docs/json.md',
);

const BOARD = map({}, 'the board and its receiver, as beoboard status --json has them: docs/json.md');

const TROUBLE = object(
  {
    key: text('kind and cause'),
    kind: text(),
    severity: { enum: ['critical', 'warning', 'notice'] },
    'nodes?': list,
    count: integer(),
    what: text(),
    ...Object.fromEntries(['since?', 'since_last?', 'ended?', 'times_since?'].map(name => [name, text()])),
    ...Object.fromEntries(['times?', 'times_hour?', 'jobs_more?'].map(name => [name, integer()])),
    'jobs?': array(object({ id: text(), user: text() })),
    'aside?': object({ nodes: list, count: integer(), why: text() }),
    'ack?': object({ by: text(), until: text(), 'reason?': text() }),
    'dim?': { enum: ['ended', 'acknowledged', 'aside'] },
  },
  'a line of the trouble list: docs/json.md',
);

const SLURM = object({
  'cluster?': text(),
  'version?': text(),
  'nodes_age_ms?': number(),
  'nodes_left_out?': number(),
  'jobs_left_out?': number(),
  'jobs_age_ms?': number(),
  'trouble?': text('why nothing is known, or what is known is old'),
});

const JOB = {
  id: text(),
  state: text(),
  user: text(),
  partition: text(),
  name: text(),
  'start_s?': number(),
  nodes: list,
  node_count: integer(),
  states: map(integer()),
  alone: flag('no other job is on any of its nodes'),
  cpus: integer(),
  'cpus_busy?': number(),
  'efficiency?': number(),
  'mem_used_mib?': number(),
  'mem_total_mib?': number(),
  'gpus?': integer(),
  'gpus_busy?': number(),
  worst: object({ node: text(), 'why?': text() }),
};

const MARK = object({
  ...{ job: text(), node: text(), reading: text(), value: number(), peers: integer() },
  ...{ median: number(), lowest: number(), highest: number(), since_ms: number() },
});

const MEMBER = object({
  name: text(),
  state: { enum: [...STATES, 'absent'] },
  problems: array({ enum: [...terms.problem] }),
  'hardware?': { enum: ['same', 'other', 'unknown'] },
  readings: map(number()),
  compared: map(object({ median: number(), 'deviation?': number() })),
});

/** The states of a node in runs. */
const RUNS = {
  points: array(
    { type: 'array', items: { anyOf: [state, { type: 'null' }, integer()] } },
    'a state, and for how many steps; null: nobody looked, or it was not there',
  ),
  unhealthy: array(
    { type: 'array', items: { type: ['boolean', 'integer'] } },
    'whether it was unhealthy, and for how many steps',
  ),
};

const STEPS = {
  step_ms: integer(),
  gaps: array(
    { type: 'array', items: { type: ['integer', 'string'] } },
    'why nobody looked: the first step, how many, and stalled, closed, retired, absent, or missed by this server',
  ),
};

const VALUES = array({ type: ['number', 'null'] });

const SENTENCE = object({ kind: text(), text: text(), 'nodes?': list });

const SCHEMAS: Readonly<Record<string, Schema>> = {
  Report: fieldsOf('report'),
  Node: NODE,
  Chosen: {
    type: 'object',
    properties: { name: text(), state },
    required: ['name', 'state'],
    additionalProperties: { type: ['number', 'string'] },
    description: 'its name, its state and the fields that were asked for; what was not measured is absent',
  },
  Nodes: object({
    schema,
    seq,
    board: BOARD,
    'now_ms?': integer("with sort or page: when the nodes were read, by the server's clock, ms since 1970"),
    'total?': integer('with sort or page: how many nodes there are on all pages'),
    'page?': integer(),
    'unmeasured?': array(text(), 'those of the fields that no node of the board has, as far as the map has them'),
    nodes: array({ anyOf: [ref('Node'), ref('Chosen')] }, 'in the order of the board, or as sort says'),
  }),
  NodesAt: object({
    schema,
    seq,
    now_ms: integer("the time of the look by the server's clock, ms since 1970"),
    state: { enum: ['ok', 'stalled', 'closed', 'retired', 'absent'] },
    nodes: array(
      object({
        name: text(),
        state,
        unhealthy: flag(),
        ...Object.fromEntries(
          SCALES.map(({ name, about, unit }) => [`${name}?`, number(`${about}${unit && `, ${unit}`}`)]),
        ),
      }),
    ),
  }),
  NodePage: object({
    schema,
    seq,
    line: text('its state and evidence'),
    trouble: array(TROUBLE, 'the lines about this node, the worst first'),
    sections: array(object({ title: text(), facts: array(array(text()), 'what belongs together is in one list') })),
    node: ref('Node'),
    history: object(
      {
        since_ms: integer(),
        states: object({ ...STEPS, ...RUNS }),
        readings: object({
          since_ms: integer(),
          step_ms: integer(),
          points: object(Object.fromEntries(SCALES.map(({ name }) => [name, VALUES]))),
        }),
      },
      'of the last 15 minutes, as long as this server has looked; readings to 1/250 of their domain',
    ),
  }),
  Event: {
    type: 'object',
    properties: { seq, time: text('ISO 8601, UTC'), event: text(), text: text(), nodes: list, count: integer() },
    required: ['seq', 'time', 'event', 'text'],
    description: 'event and its other keys are those of beoboard events --json, docs/json.md, or of the journal',
  },
  Events: object({
    schema,
    seq,
    journal: flag('they come from the journal; otherwise this server has seen them itself'),
    from: text('since when they are known here'),
    'why?': text('why they do not come from the journal'),
    whole: flag('false: of what happened since then, the older part is not here'),
    more: integer('so many of the older ones are left out of the answer'),
    events: array(ref('Event'), 'the newest last'),
  }),
  Jobs: object({
    schema,
    seq,
    slurm: SLURM,
    sentences: array(SENTENCE, 'where Slurm and the board disagree'),
    jobs: array(object(JOB), 'as beoboard jobs --json has them'),
  }),
  JobPage: object({
    schema,
    seq,
    slurm: SLURM,
    job: object(
      {
        ...JOB,
        'unjudged?': text('why none of its nodes can be marked'),
        marks: array(MARK),
        trouble: array(TROUBLE, 'the lines about its nodes, the worst first'),
        members: array(MEMBER, `the first ${NODE_PAGE} of its nodes, who differs most from the others first`),
      },
      'as beoboard jobs NUMBER --json has it: docs/json.md',
    ),
    page: object(
      {
        lines: array(text(), 'what the job is'),
        notes: array(text(), 'what is old, not compared or not judged'),
        columns: array(object({ title: text(), left: flag('its texts begin at the left') })),
        rows: array(array(text()), 'of each of members'),
        more: integer('how many nodes are left out'),
      },
      'as beoboard jobs NUMBER shows it',
    ),
    history: object(
      {
        since_ms: integer(),
        states: object(STEPS),
        readings: object({ since_ms: integer(), step_ms: integer(), name: text() }),
        nodes: array(object({ ...RUNS, values: VALUES }), 'of each of members'),
      },
      'the last 15 minutes: states, and the reading in which the first node differs if it is kept',
    ),
  }),
  Users: object({
    schema,
    seq,
    slurm: SLURM,
    users: array(
      object({
        ...{ user: text(), job_count: integer(), jobs: array(text()), node_count: integer(), nodes: list },
        ...{ cpus: integer(), 'cpu_use?': number(), gpus: integer(), 'gpu_use?': number() },
        ...{ shared_count: integer(), 'shared?': list, trouble_count: integer(), 'trouble?': list },
      }),
      'as beoboard users --json has them: docs/json.md',
    ),
  }),
  OddOnes: object({
    schema,
    seq,
    odd: array(
      object({
        ...{ family: text(), trait: text(), minority: flag('whether all groups but the first are the odd ones') },
        groups: array(object({ value: text(), nodes: list, count: integer() }), 'the largest first'),
        text: text('as beoboard odd says it'),
      }),
      'as beoboard odd --json has them: docs/json.md',
    ),
  }),
  Readings: object({
    schema,
    readings: array(
      object({
        name: text(),
        title: text(),
        about: text(),
        unit: text(),
        low: number(),
        high: number(),
        scale: { enum: ['linear', 'log'] },
      }),
    ),
  }),
};

interface Parameter {
  readonly name: string;
  readonly about: string;
  readonly schema?: Schema;
}

interface Path {
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  /** The schema of its JSON; a list: one of several. */
  readonly answers?: string | readonly string[];
  /** The possible status codes besides 200 and 400. */
  readonly refuses?: Readonly<Record<number, string>>;
}

const WHERE =
  'a condition of at most 256 bytes, as --where of beoboard status has it: mem_avail < 1GiB && state == live';
const BY =
  'a field, or a part of the name between slashes, as --by of beoboard status has it: /^rack[0-9]+/; auto: what most names have before their second number, where they have two';
const READING: Parameter = {
  name: 'reading',
  about: 'what fills the cells',
  schema: { enum: SCALES.map(({ name }) => name) },
};
const ABSENT = 'there is no board';

const PATHS: Readonly<Record<string, Path>> = {
  '/nodes': {
    summary: 'Nodes as beoboard status --json has them, or with seq the readings of one of the last ten looks.',
    parameters: [
      { name: 'nodes', about: 'a host list: only these' },
      { name: 'where', about: WHERE },
      {
        name: 'fields',
        about:
          'only these, separated by commas: columns and fields as beoboard describe lists them; of a page also slurm, user and jobs, where jobs are shown',
      },
      {
        name: 'sort',
        about:
          'a page of them as --sort of beoboard status has them: a field, or slurm, user or jobs; behind a minus reversed; state: the worst first',
      },
      {
        name: 'page',
        about: `which page of ${NODE_PAGE} nodes, from 1; without sort the worst first`,
        schema: integer(),
      },
      {
        name: 'seq',
        about: 'the number of a look; fields are readings of the map then, to 1/4000 of their domain',
        schema: integer(),
      },
    ],
    answers: ['Nodes', 'NodesAt'],
    refuses: { 404: 'the look is not kept', 503: `${ABSENT}, or the condition takes too long` },
  },
  '/nodes/{name}': {
    summary: 'One node: all that is known, the sections of beoboard show, and its last 15 minutes.',
    answers: 'NodePage',
    refuses: { 404: 'it is not on the board', 503: ABSENT },
  },
  '/events': {
    summary: 'What has happened, as long as it is kept; nodes to which the same happened are together.',
    parameters: [
      { name: 'since', about: 'a look’s number: only events of later looks; or 1h, or a time as in 2026-11-27T03:00Z' },
      { name: 'nodes', about: 'a host list: only events of these nodes, and of no node' },
      { name: 'kind', about: 'names as in silent,boot,oom: only these' },
    ],
    answers: 'Events',
  },
  '/jobs': {
    summary: 'Jobs of Slurm beside their nodes.',
    answers: 'Jobs',
    refuses: { 404: 'jobs are not shown here', 503: ABSENT },
  },
  '/jobs/{id}': {
    summary: 'One job: what it is, its trouble, a row for each of its nodes, and their last 15 minutes.',
    answers: 'JobPage',
    refuses: { 404: 'no job, or several parts, have that number, or jobs are not shown here', 503: ABSENT },
  },
  '/users': {
    summary: 'Users, what their jobs hold, and how much of it is in use.',
    answers: 'Users',
    refuses: { 404: 'jobs are not shown here', 503: ABSENT },
  },
  '/odd': {
    summary: 'In what a few nodes of a family differ from its others.',
    answers: 'OddOnes',
    refuses: { 503: ABSENT },
  },
  '/readings': { summary: 'The readings that can fill the map, each with its domain.', answers: 'Readings' },
  '/river': {
    summary: `The last 15 minutes of groups, or of at most ${RIVER.mostNodes} nodes, packed: src/web/wire.ts says how.`,
    parameters: [{ name: 'by', about: BY }, READING, { name: 'nodes', about: 'a host list, in place of groups' }],
    refuses: { 503: 'too many rules are asked for at once' },
  },
  '/stream': {
    summary: 'The map, live: frames without end; src/web/wire.ts says how they are packed.',
    parameters: [READING, { name: 'by', about: BY }, { name: 'where', about: WHERE }],
    refuses: { 503: 'the condition takes too long, or too many are asked for at once' },
  },
  '/openapi.json': { summary: 'This document.', answers: [] },
};

function operation({ summary, parameters = [], answers, refuses = {} }: Path, path: string): Schema {
  const names = typeof answers === 'string' ? [answers] : (answers ?? []);
  const [first = {}] = names.map(ref);
  const ofJson = names.length > 1 ? { anyOf: names.map(ref) } : first;
  const content =
    answers === undefined
      ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
      : { 'application/json': { schema: ofJson } };
  const inPath = /\{(\w+)\}/.exec(path)?.[1];
  const sentence = (description: string) => ({ description, content: { 'text/plain': { schema: text() } } });
  return {
    get: {
      summary,
      parameters: [
        ...(inPath === undefined ? [] : [{ name: inPath, in: 'path', required: true, schema: text() }]),
        ...parameters.map(({ name, about, schema = text() }) => ({ name, in: 'query', description: about, schema })),
      ],
      responses: {
        200: { description: summary, content },
        400: sentence('what is wrong with the question, and what to write'),
        ...Object.fromEntries(Object.entries(refuses).map(([status, why]) => [status, sentence(why)])),
      },
    },
  };
}

/** The document. */
export function openApi(): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'beoboard web',
      version: VERSION,
      description:
        'What the page of beoboard web is made of. schema is 1: it grows by new keys, and a key that changes its meaning changes the number.',
    },
    servers: [{ url: '.' }],
    paths: Object.fromEntries(Object.entries(PATHS).map(([path, of]) => [path, operation(of, path)])),
    components: { schemas: SCHEMAS },
  };
}
