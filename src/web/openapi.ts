// The API's answers as an OpenAPI document: a test checks every answer against it. Pure.

import { VERSION } from '../options/version.js';
import { chosenNode, PARTS } from '../presentation/nodeshape.js';
import { STANDING, schema } from '../presentation/shapes.js';
import { SCALES } from '../readings/scales.js';
import { ERROR_CODES } from '../text/errorcodes.js';
import {
  array,
  flag,
  integer,
  type Keys,
  list,
  number,
  object,
  partsOf,
  type Schema,
  text,
  word,
} from '../text/schema.js';
import { answer, JOB_ANSWER, JOBS, nodePage, ODD_ONES, seq, USERS } from './answers.js';
import { EVERY_MOST, NODE_PAGE, RIVER, STATES } from './wire.js';

const AT = '#/components/schemas/';
const ref = (name: string) => ({ $ref: `${AT}${name}` });
const READING_NAMES = SCALES.map(({ name }) => name);
const CHOSEN = chosenNode('number', 'string');
const EVENT: Schema = {
  type: 'object',
  properties: {
    seq,
    time: text('ISO 8601, UTC'),
    event: text(),
    text: text('moments in it are UTC'),
    nodes: list(),
    count: integer(),
  },
  required: ['seq', 'time', 'event', 'text'],
  description: 'event and its other keys are those of beoboard events --json, docs/json.md, or of the journal',
};

const SCHEMAS = {
  Refusal: object({
    code: word(Object.keys(ERROR_CODES)),
    message: text(
      'the sentence that is answered to those who do not ask for JSON by the header Accept, and to what is no HTTP',
    ),
  }),
  ...PARTS,
  Chosen: CHOSEN,
  Nodes: answer({
    board: PARTS.Board,
    'now_ms?': integer("with sort or page: when the nodes were read, by the server's clock, ms since 1970"),
    'total?': integer('with sort or page: how many nodes there are on all pages'),
    'page?': integer(),
    'counts?': object(STANDING, 'of these nodes, by the looks that read them; without sort and page'),
    'unmeasured?': array(text(), 'those of the fields that no node of the board has, as far as the map has them'),
    nodes: array({ anyOf: [PARTS.Node, CHOSEN] }, 'in the order of the board, or as sort says'),
  }),
  NodesAt: answer({
    now_ms: integer("the time of the look by the server's clock, ms since 1970"),
    state: word(['ok', 'stalled', 'closed', 'retired', 'absent']),
    nodes: array(
      object({
        name: text(),
        state: word(STATES),
        unhealthy: flag(),
        ...Object.fromEntries(
          SCALES.map(({ name, about, unit }) => [`${name}?`, number(`${about}${unit && `, ${unit}`}`)]),
        ),
      }),
    ),
  }),
  NodePage: nodePage(PARTS.Node, READING_NAMES),
  Event: EVENT,
  Events: answer({
    journal: flag('they come from the journal; otherwise this server has seen them itself'),
    from: text('since when they are known here'),
    'why?': text('why they do not come from the journal'),
    whole: flag('false: some of what happened since then is not here'),
    more: integer('so many of the older ones are left out of the answer'),
    events: array(EVENT, 'the newest last'),
  }),
  Jobs: JOBS,
  JobPage: JOB_ANSWER,
  Users: USERS,
  OddOnes: ODD_ONES,
  Clock: answer({ now_ms: integer('ms since 1970') }),
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
        scale: word(['linear', 'log']),
      }),
    ),
  }),
};

type SchemaName = keyof typeof SCHEMAS;

interface Path {
  readonly summary: string;
  readonly parameters?: Keys;
  /** The schema of its JSON; a list: one of several. */
  readonly answers?: SchemaName | readonly SchemaName[];
  /** The possible status codes besides 200 and 400. */
  readonly refuses?: Readonly<Record<number, string>>;
}

const where = text(
  'a condition of at most 256 bytes, as --where of beoboard status has it: mem_avail < 1GiB && state == live',
);
const by = text(
  'a field, or a part of the name between slashes, as --by of beoboard status has it: /^rack[0-9]+/; auto: what most names have before their second number, where they have two',
);
const reading = word(READING_NAMES, 'what fills the cells');
const ABSENT = 'there is no board';

const PATHS: Readonly<Record<string, Path>> = {
  '/nodes': {
    summary: 'Nodes as beoboard status --json has them, or with seq the readings of one of the last ten looks.',
    parameters: {
      nodes: text('a host list: only these'),
      where,
      fields: text(
        'only these, separated by commas: columns and fields as beoboard describe lists them; of a page also slurm, user and jobs, where jobs are shown',
      ),
      sort: text(
        'a page of them as --sort of beoboard status has them: a field, or slurm, user or jobs; behind a minus reversed; state: the worst first',
      ),
      page: integer(`which page of ${NODE_PAGE} nodes, from 1; without sort the worst first`),
      seq: integer('the number of a look; fields are readings of the map then, to 1/4000 of their domain'),
    },
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
    parameters: {
      since: text('a look’s number: only events of later looks; or 1h, or a time as in 2026-11-27T03:00Z'),
      nodes: text('a host list: only events of these nodes, and of no node'),
      kind: text('names as in silent,boot,oom: only these'),
      last: integer('only the last so many'),
    },
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
    parameters: { by, reading, nodes: text('a host list, in place of groups') },
    refuses: { 503: 'too many rules are asked for at once' },
  },
  '/stream': {
    summary: 'The map, live: frames without end; src/web/wire.ts says how they are packed.',
    parameters: { reading, by, where, every: integer(`one of so many looks: 1 to ${EVERY_MOST}`) },
    refuses: { 503: 'the condition takes too long, or too many are asked for at once' },
  },
  '/clock': { summary: 'The wall clock of the server, for those who ask how old a look is.', answers: 'Clock' },
  '/openapi.json': { summary: 'This document.', answers: [] },
};

function operation({ summary, parameters = {}, answers, refuses = {} }: Path, path: string): Schema {
  const names = typeof answers === 'string' ? [answers] : (answers ?? []);
  const [first = {}] = names.map(ref);
  const ofJson = names.length > 1 ? { anyOf: names.map(ref) } : first;
  const content =
    answers === undefined
      ? { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } }
      : { 'application/json': { schema: ofJson } };
  const inPath = /\{(\w+)\}/.exec(path)?.[1];
  const sentence = (description: string) => ({
    description,
    content: { 'text/plain': { schema: text() }, 'application/json': { schema: ref('Refusal') } },
  });
  return {
    get: {
      summary,
      parameters: [
        ...(inPath === undefined ? [] : [{ name: inPath, in: 'path', required: true, schema: text() }]),
        ...Object.entries(parameters).map(([name, { description, ...schema }]) => ({
          name,
          in: 'query',
          description,
          schema,
        })),
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
    components: { schemas: partsOf(SCHEMAS, AT) },
  };
}
