// Parses what qhost and qstat of Grid Engine print with -xml: hosts with the states of their queues, and jobs. Pure
// functions over text from outside, parts of which users have written: names of jobs. None of them can forge an element.

import {
  cut,
  LeftOut,
  type SchedulerJob,
  type SchedulerNode,
  type StateMeaning,
} from '../../schedulerfile/scheduler.js';
import { fold, isNodeName } from '../../text/hostlists.js';
import { beginning } from '../../text/text.js';
import { readXml } from './xml.js';

/** What people see of a host's state at most. */
const STATE_MOST = 120;

interface QueueOnHost {
  readonly name: string;
  readonly letters: string;
  readonly used: number;
  readonly slots: number;
}

/**
 * All letters of a queue's state, as qstat(1) explains them: alarms (a A), by hand (d s) or by calendar (D C) disabled or
 * suspended, suspended for another queue (S), its host unheard (u), in error (E), its configuration ambiguous (c) or gone
 * (o). With any of them it gets no new jobs.
 */
const LETTERS = /^[aAcCdDEosSu]*$/;

/** What the states of all its queues mean for a host. */
export function meaningOf(queues: readonly QueueOnHost[]): StateMeaning {
  if (!queues.every(({ letters }) => LETTERS.test(letters))) return {};
  const every = (letters: RegExp) => queues.length > 0 && queues.every(queue => letters.test(queue.letters));
  const unheard = queues.filter(({ letters }) => letters.includes('u')).length;
  // qmaster gives the state to all queues of a host: if only some have it, it is being changed.
  if (unheard > 0) return unheard === queues.length ? { base: 'down' } : {};
  if (every(/E/)) return { base: 'error' };
  return {
    base: queues.some(({ used }) => used > 0) ? 'allocated' : 'idle',
    no_jobs: queues.every(({ slots }) => slots === 0) || undefined,
    takes_jobs: queues.some(({ letters, slots }) => letters === '' && slots > 0) || undefined,
    aside: every(/d/) ? 'disabled' : every(/[ds]/) ? 'suspended' : undefined,
  };
}

/** The state in words: `idle`, `allocated+d`, where queues differ `allocated+all.q:au`. */
function stateOf(queues: readonly QueueOnHost[]): string {
  if (queues.length === 0) return 'no-queue';
  const word = queues.some(({ used }) => used > 0) ? 'allocated' : 'idle';
  const [first = ''] = new Set(queues.map(({ letters }) => letters));
  const ill = queues.every(({ letters }) => letters === first)
    ? [first].filter(letters => letters !== '')
    : queues.flatMap(({ name, letters }) => (letters === '' ? [] : [`${name}:${letters}`]));
  return beginning([word, ...ill].join('+'), STATE_MOST);
}

const isName = (text: string) => /^[^\s\p{C},[\]]{1,255}$/u.test(text);
const countIn = (text: string | undefined) => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : undefined);

/** qhost's rows that are no hosts. */
const NO_HOSTS = ['global', 'template'];

type ElementValues = Map<string, string>;

function queueOf(name: string, values: ElementValues): QueueOnHost | undefined {
  const [used, slots, letters] = [
    countIn(values.get('slots_used')),
    countIn(values.get('slots')),
    values.get('state_string'),
  ];
  if (
    !isName(name) ||
    used === undefined ||
    slots === undefined ||
    letters === undefined ||
    !/^\S{0,20}$/.test(letters)
  )
    return undefined;
  return { name, letters, used, slots };
}

/** The hosts of `qhost -q -xml`, in its order. Throws a NoAnswer. */
export function parseHosts(text: string, leftOut = new LeftOut()): SchedulerNode[] {
  const nodes = new Map<string, SchedulerNode>();
  let [values, queue]: ElementValues[] = [];
  let queues: (QueueOnHost | undefined)[] = [];
  const add = (name: string, cpus: number) => {
    if (NO_HOSTS.includes(name)) return;
    const all = queues.filter(queue => queue !== undefined);
    if (!isName(name) || all.length < queues.length) return leftOut.add(`host ${name}`);
    const used = all.reduce((sum, { used }) => sum + used, 0);
    const node = { name, state: stateOf(all), ...meaningOf(all), cpus, cpus_used: used || undefined };
    // Which of two is true nobody can say.
    nodes.set(name, nodes.has(name) ? { name, state: '?', cpus: 0 } : node);
  };
  readXml(text, 'qhost', 'qhost', {
    begin: name => {
      if (name === 'host') [values, queues] = [new Map(), []];
      else if (name === 'queue') queue = new Map();
    },
    end: (name, text, attribute) => {
      if (name === 'hostvalue') values?.set(attribute('name'), text);
      else if (name === 'queuevalue') queue?.set(attribute('name'), text);
      else if (name === 'queue') queues.push(queueOf(attribute('name'), queue ?? new Map()));
      else if (name === 'host') add(attribute('name'), countIn(values?.get('num_proc')) ?? 0);
    },
  });
  return [...nodes.values()];
}

/** What is known of a job while its rows are read: it has one for each queue in which it has slots. */
interface Gathered {
  readonly job: Omit<SchedulerJob, 'nodes'>;
  state: string;
  cpus: number;
  readonly hosts: Set<string>;
}

/** One that runs, perhaps not for the first time, or with a hold that counts for its next start. */
const RUNNING = /^h?R?r$/;
/** As it is written with TZ=UTC. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?$/;

function jobOf(queue: string, values: ElementValues): Omit<SchedulerJob, 'nodes'> | undefined {
  const of = (key: string) => values.get(key) ?? '';
  const [number, task, start] = [of('JB_job_number'), of('tasks'), of('JAT_start_time')];
  const [slots, seconds] = [countIn(of('slots')), TIME.test(start) ? Date.parse(`${start}Z`) / 1000 : Number.NaN];
  if (
    !/^\d{1,12}$/.test(number) ||
    !/^\d{0,12}$/.test(task) ||
    slots === undefined ||
    !/^[A-Za-z]{1,20}$/.test(of('state'))
  )
    return undefined;
  return {
    id: task === '' ? number : `${number}.${task}`,
    state: RUNNING.test(of('state')) ? 'RUNNING' : of('state'),
    user: cut(of('JB_owner')),
    partition: cut(queue),
    cpus: slots,
    start_s: seconds >= 0 ? Math.floor(seconds) : undefined,
    name: cut(of('JB_name')),
  };
}

/** The jobs that hold slots, of `qstat -f -s rs -xml`, by numbers and tasks of arrays: `4711.2`. Throws a NoAnswer. */
export function parseJobs(text: string, leftOut = new LeftOut()): SchedulerJob[] {
  const found = new Map<string, Gathered>();
  let [queue, host] = ['', ''];
  let values: ElementValues | undefined;
  const add = (row: ElementValues) => {
    const job = isName(host) ? jobOf(queue, row) : undefined;
    if (job === undefined) return leftOut.add(`job ${JSON.stringify([queue, host, ...row.values()])}`);
    const same = found.get(job.id);
    if (same === undefined) found.set(job.id, { job, state: job.state, cpus: job.cpus, hosts: new Set([host]) });
    else {
      same.hosts.add(host);
      same.cpus += job.cpus;
      // The rows disagree: the job is just changing its state, or one of the rows is of another job.
      if (same.state !== job.state || same.job.user !== job.user) same.state = '?';
    }
  };
  readXml(text, 'job_info', 'qstat', {
    begin: name => {
      if (name === 'Queue-List') [queue, host] = ['', ''];
      else if (name === 'job_list') values = new Map();
    },
    end: (name, text) => {
      if (name === 'name' && values === undefined) {
        const at = text.lastIndexOf('@');
        [queue, host] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
      } else if (name === 'job_list') {
        // Outside of a queue are those that wait.
        if (values !== undefined && host !== '') add(values);
        values = undefined;
      } else if (name === 'Queue-List') [queue, host] = ['', ''];
      // The first text of a name counts: an inner element of the same name does not replace the job's own.
      else if (values?.has(name) === false) values.set(name, text);
    },
  });
  return [...found.values()].map(({ job, state, cpus, hosts }) => ({ ...job, state, cpus, nodes: listOf([...hosts]) }));
}

/** A host list of these names; of names that no range can have, one without ranges. */
const listOf = (names: readonly string[]) => (names.every(isNodeName) ? fold(names) : names.join(','));

/** The line with which `qhost -help` begins: `SGE 8.1.9`. */
export function parseProduct(text: string): string {
  return cut(/^\s*(\S.*?)\s*$/m.exec(text)?.[1] ?? '');
}
