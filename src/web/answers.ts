// What the API answers about jobs, users and nodes, as JSON Schema: the document has its shapes from here, and the page
// its types. Only types and numbers; knows neither Node nor a browser.

import { TROUBLE } from '../acks/info.js';
import { JOB, JOB_PAGE, MEMBER, ODD, SLURM, schema, USER } from '../presentation/shapes.js';
import {
  array,
  type Described,
  type DescribedKeys,
  flag,
  integer,
  type Keys,
  list,
  object,
  type Schema,
  schemaOf,
  text,
  word,
} from '../text/schema.js';
import { type GapKind, NODE_PAGE, STATES, type State } from './wire.js';

export const seq = integer('the number of the newest look; one more each second');

/** An answer with these keys. */
export const answer = <K extends Keys>(keys: K) => object({ schema, seq, ...keys });

/** Values in a row, each with for how many steps it holds. */
export type Runs<T> = readonly (readonly [value: T, steps: number])[];
const runs = <T>(items: object, description: string): Schema<Runs<T>> =>
  array(schemaOf({ type: 'array', items }), description);

/** The states of a node in runs. */
const RUNS = {
  points: runs<State | null>(
    { anyOf: [word(STATES), { type: 'null' }, integer()] },
    'a state, and for how many steps; null: nobody looked, or it was not there',
  ),
  unhealthy: runs<boolean>({ type: ['boolean', 'integer'] }, 'whether it was unhealthy, and for how many steps'),
};
export type StateRuns = DescribedKeys<typeof RUNS>;

const STEPS = {
  step_ms: integer(),
  gaps: array(
    schemaOf<readonly [first: number, count: number, kind: GapKind]>({
      ...{ type: 'array', items: { type: ['integer', 'string'] } },
    }),
    'why nobody looked: the first step, how many, and stalled, closed, retired, absent, or missed by this server',
  ),
};

const VALUES = array(schemaOf<number | null>({ type: ['number', 'null'] }));

const nodeHistory = (readings: readonly string[]) =>
  object(
    {
      since_ms: integer(),
      states: object({ ...STEPS, ...RUNS }),
      readings: object({
        since_ms: integer(),
        step_ms: integer(),
        points: object(Object.fromEntries(readings.map(name => [name, VALUES]))),
      }),
    },
    'of the last 15 minutes, as long as this server has looked; readings to 1/250 of their domain',
  );
export type NodeHistory = Described<ReturnType<typeof nodeHistory>>;

/** The answer about one node. */
export const nodePage = (node: Schema<{ readonly name: string; readonly state: State }>, readings: readonly string[]) =>
  answer({
    line: text('its state and evidence; moments here and in sections are UTC: 2026-11-27T02:03:04Z'),
    trouble: array(TROUBLE, 'the lines about this node, the worst first'),
    sections: array(object({ title: text(), facts: array(array(text()), 'what belongs together is in one list') })),
    node,
    history: nodeHistory(readings),
  });
export type NodeInfo = Described<ReturnType<typeof nodePage>>;

const SENTENCE = object({ kind: text(), text: text(), 'nodes?': list() });

export const JOBS = answer({
  slurm: SLURM,
  sentences: array(SENTENCE, 'where Slurm and the board disagree'),
  jobs: array(object(JOB), 'as beoboard jobs --json has them'),
  switches: array(object({ name: text(), nodes: list() }), 'that Slurm knows, with their nodes on the board'),
});
export type JobsAnswer = Described<typeof JOBS>;

export const JOB_ANSWER = answer({
  slurm: SLURM,
  job: object(
    {
      ...JOB,
      ...JOB_PAGE,
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
});
export type JobAnswer = Described<typeof JOB_ANSWER>;

export const USERS = answer({
  slurm: SLURM,
  users: array(USER, 'as beoboard users --json has them: docs/json.md'),
});

const ODD_ONE = object({ ...ODD, text: text('as beoboard odd says it') });
export type OddInfo = Described<typeof ODD_ONE>;

export const ODD_ONES = answer({ odd: array(ODD_ONE, 'as beoboard odd --json has them: docs/json.md') });
