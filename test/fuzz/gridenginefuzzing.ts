// Fuzzing of what Grid Engine's commands print, parts of which users write: the rules for each text. No test.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LeftOut, NoAnswer } from '../../src/schedulerfile/scheduler.js';
import { parseHosts, parseJobs } from '../../src/schedulers/gridengine/answers.js';
import { expandNodeNames } from '../../src/text/hostlists.js';
import { oneLine } from '../../src/text/text.js';
import { must, type TextTarget } from '../kit/fuzzing.js';
import { ROOT } from '../kit/places.js';

const FIXTURES = join(ROOT, 'test', 'fixtures', 'gridengine');

/** Real answers of a kind, and one with all that may stand in an element. */
function seeds(kind: string, odd: string): string[] {
  const names = readdirSync(FIXTURES).filter(name => name.startsWith(kind));
  return [odd, ...names.sort().map(name => readFileSync(join(FIXTURES, name), 'utf8'))];
}

const isCount = (value: number | undefined) => value === undefined || (Number.isSafeInteger(value) && value >= 0);
const isCut = (text: string) => Array.from(text).length <= 256;
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** What is read; undefined: it is no answer, which is said in one line. */
function read<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    must(error instanceof NoAnswer && oneLine(error.message) === error.message, `${error}`);
    return undefined;
  }
}

function checkHosts(text: string): boolean {
  const leftOut = new LeftOut();
  const nodes = read(() => parseHosts(text, leftOut));
  if (nodes === undefined) return false;
  must(new Set(nodes.map(({ name }) => name)).size === nodes.length, 'a host twice');
  must(nodes.length + leftOut.count <= text.split('<host').length - 1, 'more hosts than elements');
  for (const { name, state, base, takes_jobs, aside, cpus, cpus_used } of nodes) {
    must(!/[\s\p{C},]/u.test(name) && isCut(name) && state.length <= 120, `${name}: ${state}`);
    must(isCount(cpus) && isCount(cpus_used), `${name}: ${cpus} and ${cpus_used}`);
    must(!takes_jobs || (/^(idle|allocated)$/.test(base ?? '') && aside === undefined), `${name} takes jobs: ${state}`);
    must(base !== 'down' || /[+:]\w*u/.test(state), `${name} is down: ${state}`);
    must(state !== '?' || base === undefined, `${name} is ${base}, and nothing is known`);
  }
  return nodes.length > 0;
}

const escaped = (text: string) =>
  text.replace(/[<>&'"]/g, sign => ({ '<': '%lt;', '>': '&gt;', '&': '&amp;', "'": '&apos;' })[sign] ?? '&quot;');
const row = (number: number, name: string) =>
  `<job_list state="running"><JB_job_number>${number}</JB_job_number><JB_name>${escaped(name)}</JB_name><JB_owner>u</JB_owner><state>r</state><slots>1</slots></job_list>`;
const answer = (rows: string) =>
  `<job_info><queue_info><Queue-List><name>q@n1</name>${rows}</Queue-List></queue_info></job_info>`;

function checkJobs(text: string): boolean {
  // A job's name changes nothing else.
  const told = parseJobs(answer(row(1, text) + row(2, 'plain')));
  const plain = parseJobs(answer(row(1, '') + row(2, 'plain')));
  must(same([{ ...told[0], name: '' }, told[1]], plain), `by its name there are ${JSON.stringify(told)}`);

  const leftOut = new LeftOut();
  const jobs = read(() => parseJobs(text, leftOut));
  if (jobs === undefined) return false;
  must(new Set(jobs.map(({ id }) => id)).size === jobs.length, 'a job twice');
  must(jobs.length + leftOut.count <= text.split('<job_list').length - 1, 'more jobs than elements');
  for (const { id, state, nodes, cpus, start_s, user, partition, name } of jobs) {
    must(/^\d{1,12}(\.\d{1,12})?$/.test(id) && /^(\?|[A-Za-z]{1,20})$/.test(state), `${id} is ${state}`);
    must(isCount(cpus) && isCount(start_s) && [user, partition, name].every(isCut), `${id}: ${cpus} since ${start_s}`);
    must(expandNodeNames(nodes).length > 0, `${id} is on no host`);
  }
  return jobs.length > 0;
}

/** The targets of the fuzzing. */
export function gridEngineTargets(): TextTarget[] {
  const hosts = `<qhost a='b'><host name='n1'><hostvalue name="num_proc">4</hostvalue><queue name='q'><queuevalue name='slots_used'>1</queuevalue><queuevalue name='slots'>2</queuevalue><queuevalue name='state_string'>au</queuevalue></queue></host><host name='n2'/></qhost>`;
  return [
    { name: 'hosts as Grid Engine tells them', seeds: seeds('hosts', hosts), check: checkHosts },
    { name: 'jobs as Grid Engine tells them', seeds: seeds('jobs', answer(row(7, 'a<b'))), check: checkJobs },
  ];
}
