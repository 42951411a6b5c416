// Fuzzing of Slurm's output, parts of which users and administrators write, of the file that a site writes in its place,
// and of the file of names: the rules for each text. No test.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jobsByNode } from '../../src/schedulerfile/differences.js';
import { match, namesText, parseExceptions } from '../../src/schedulerfile/matching.js';
import { NoAnswer, type SchedulerNode } from '../../src/schedulerfile/scheduler.js';
import { SCHEMA, type SchedulerState, stateFile, stateText } from '../../src/schedulerfile/statefile.js';
import { contentsOf } from '../../src/schedulers/file.js';
import {
  parseBootTime,
  parseConfig,
  parseJobs,
  parseListedNodes,
  parseNodes,
  parsePrimary,
} from '../../src/schedulers/slurm/answers.js';
import { isSchedulable, nodeState, savesPower } from '../../src/schedulers/slurm/nodestate.js';
import { atOnce } from '../../src/service/slices.js';
import { isNodeName, NameRanges } from '../../src/text/hostlists.js';
import { jsonOf } from '../../src/text/shape.js';
import { checkRefusal, must, type TextTarget } from '../kit/fuzzing.js';
import { ROOT } from '../kit/places.js';

const CORPUS = join(ROOT, 'test', 'corpus', 'slurm');

/** The stored texts of a kind. */
function seeds(kind: string): string[] {
  const names = readdirSync(CORPUS).filter(name => name.startsWith(`${kind}-`));
  return names.sort().map(name => readFileSync(join(CORPUS, name), 'utf8'));
}

/** The nonce of the stored texts, and one that the author of a text cannot know. */
const [NONCE, SECRET] = ['4d1f0c6b9ae27358f00d2b7c9e6a1d54', '77e0a1b2c3d4e5f60718293a4b5c6d7e'];
const BOARD = ['n1', 'n2', 'node001', 'node003', 'vm', 'x'];

const isCount = (value: number | undefined) => value === undefined || (Number.isSafeInteger(value) && value >= 0);
const numbersOf = ({ cpus, cpus_used, memory_mib, memory_used_mib, gpus, gpus_used, reason_s }: SchedulerNode) => [
  ...[cpus, cpus_used, memory_mib, memory_used_mib, gpus, gpus_used, reason_s],
];
const isCut = (text: string | undefined) => Array.from(text ?? '').length <= 256;
const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function checkNodes(text: string): boolean {
  const nodes = parseNodes(text);
  const rows = text.split('\n');
  for (const node of nodes) {
    const { name, host = '', state, reason, reason_by, takes_jobs = false, asleep = false } = node;
    must(
      rows.some(row => row.startsWith(`NodeName=${name} `)),
      `nobody tells of ${name}`,
    );
    must(/^\S{1,120}$/u.test(state) && !/\s/.test(host) && isCut(reason) && isCut(reason_by), `${name}: ${state}`);
    must(numbersOf(node).every(isCount), `${name}: ${JSON.stringify(node)}`);
    const how = nodeState(state);
    must(!(isSchedulable(how) && (savesPower(how) || state === '?')), `jobs would start on ${name}: ${state}`);
    must(takes_jobs === isSchedulable(how) && asleep === savesPower(how), `${name}: ${state} means another thing`);
  }
  must(new Set(nodes.map(({ name }) => name)).size === nodes.length, 'a node twice');
  const listed = parseListedNodes(text).map(({ daemon_start_s, ...node }) => {
    must(isCount(daemon_start_s), `${node.name}: slurmd since ${daemon_start_s}`);
    return node;
  });
  must(same(listed, nodes), 'the bridge is told something else');
  const matched = match(nodes, BOARD, { node003: 'node001', n2: 'n1' });
  must(new Set(matched.boardName.values()).size === matched.boardName.size, 'two nodes are one');
  for (const [name, on] of matched.boardName)
    must(matched.nodeName.get(on) === name && BOARD.includes(on), `${name} is ${on}`);
  const others = [...matched.boardName].filter(([name, on]) => name.toLowerCase() !== on && isNodeName(name));
  must(same(parseExceptions(namesText(matched), 'file'), Object.fromEntries(others)), 'written, its names are others');

  // An operating system's name, unless it contains the fields of an administrator, does not change the state that Slurm
  // gives.
  const os = text.replaceAll(/\n|(?:Reason|Comment|Extra)=/g, ' ');
  const [own] = parseNodes(`NodeName=q OS=${os} CPUTot=4 State=MIXED Weight=1\n`);
  must(own === undefined || own.state === 'MIXED' || own.state === '?', `by its OS it is ${own?.state}`);

  // An administrator's reason or comment does not change the state of any other node.
  for (const key of ['Reason', 'Comment']) {
    const row = (name: string, more = '') => `NodeName=${name} CPUAlloc=1 CPUTot=4 State=MIXED Weight=1${more}\n`;
    const alone = parseNodes(row('node001') + row('q') + row('n1'));
    const told = parseNodes(row('node001') + row('q', ` ${key}=${text}`) + row('n1'));
    for (const node of alone) {
      const { state, ...rest } = told.find(({ name }) => name === node.name) ?? { state: 'gone' };
      const { state: _, reason, reason_by, reason_s, ...others } = { ...rest } as typeof node;
      const { state: before, ...wanted } = node;
      must(state === '?' || (state === before && same(others, wanted)), `by ${key} ${node.name} is ${state}`);
    }
  }
  return nodes.length > 0;
}

/** A list may have more names than any board: it is counted, and left out where nodes are asked for. */
const hasNodes = (list: string) => (NameRanges.ofNodeNames(list)?.size ?? 0) > 0;

function checkJobs(text: string): boolean {
  const jobs = parseJobs(text, NONCE);
  must(jobs.length <= `\n${text}`.split(`\n${NONCE}|`).length - 1, 'more jobs than rows');
  for (const { id, nodes, cpus, start_s, name, user, partition, state } of jobs) {
    must(/^[\d_+[\]%,-]{1,64}$/.test(id), id);
    must(isCount(cpus) && isCount(start_s), `${id}: ${cpus} CPUs since ${start_s}`);
    must([name, user, partition, state].every(isCut), `${id}: too long`);
    must(hasNodes(nodes), `${id} is on no node`);
  }
  must(jobsByNode(jobs) instanceof Map, 'jobs of each node');

  // A job's name does not change the number of jobs.
  const row = (number: number, name: string) => `${SECRET}|${number}|${number}|RUNNING|u|p|4|17|n${number}|${name}\n`;
  const told = parseJobs(row(1, text) + row(2, 'plain'), SECRET);
  const [first, second] = parseJobs(row(1, 'plain') + row(2, 'plain'), SECRET);
  const letters = Array.from(text);
  const name = letters.length <= 256 ? text : `${letters.slice(0, 255).join('')}…`;
  must(same(told, [{ ...first, name }, second]), `by its name there are ${JSON.stringify(told)}`);
  return jobs.length > 0;
}

const STATES = ['idle', 'allocated', 'drained', 'draining', 'down', 'off'];

function checkFile(text: string): boolean {
  let contents: ReturnType<
    typeof atOnce<ReturnType<typeof contentsOf> extends Generator<undefined, infer T> ? T : never>
  >;
  try {
    contents = atOnce(contentsOf(text, 'file', 0));
  } catch (error) {
    must(error instanceof NoAnswer && !/\n/.test(error.message), `${error}`);
    return false;
  }
  const { about, nodes, jobs } = contents;
  must(/^[\w .+-]{1,20}$/.test(about.name) && isCut(about.cluster) && isCut(about.version), about.name);
  const lines = text.split('\n').length;
  must(nodes.list.length + jobs.list.length <= lines - 2, 'more than its lines');
  must(nodes.leftOut.count <= lines && jobs.leftOut.count <= lines && isCut(nodes.leftOut.first), 'left out');
  const names = nodes.list.map(({ name }) => name);
  must(new Set(names).size === names.length, 'a node twice');
  must(new Set(jobs.list.map(({ id }) => id)).size === jobs.list.length, 'a job twice');
  for (const node of nodes.list) {
    const { name, host = '', state, base, reason, reason_by, switch: behind, asleep, takes_jobs } = node;
    must(!/[\s\p{C}]/u.test(`${name}${host}${state}`), name);
    must((base === undefined) === !STATES.includes(state), `${name}: ${state} is ${base}`);
    must(!takes_jobs || (!asleep && /^(idle|allocated)$/.test(state)), `jobs would start on ${name}: ${state}`);
    must(numbersOf(node).every(isCount), `${name}: ${JSON.stringify(node)}`);
    must([reason, reason_by, behind].every(isCut), `${name}: too long`);
  }
  for (const { id, nodes: list, cpus, start_s, end_s, ...texts } of jobs.list) {
    must(/^[^\s\p{C}]{1,64}$/u.test(id) && isCount(cpus) && isCount(start_s) && isCount(end_s), id);
    must(Object.values(texts).every(isCut) && hasNodes(list), `${id}: ${list}`);
  }
  // Who shows them takes them.
  const told = ({ list }: typeof nodes | typeof jobs) => ({ mono_ms: 0, list });
  const state = {
    ...{ schema: SCHEMA, pid: 1, mono_ms: 0, next_ms: 0, time_ms: 0, scheduler: about.name, daemon: about.daemon },
    ...{ cluster: about.cluster, version: about.version, user: 'u', names: {}, differences: [] },
    ...{ nodes: told(nodes), jobs: told(jobs) },
  } as SchedulerState;
  const found = atOnce(stateFile('f').parse(jsonOf(stateText(state))));
  must(found.why === undefined, `nobody takes them: ${found.why}`);
  // Neither the name of a job nor a reason changes anything else.
  const row = (name: string) =>
    `{"schema":1,"scheduler":"x"}\n${JSON.stringify({ job: 1, nodes: 'n1', name })}\n${JSON.stringify({ node: 'n1', state: 'down', reason: name })}\n{"end":true}`;
  const [plain, other] = ['', text].map(name => atOnce(contentsOf(row(name), 'f', 0)));
  must(same({ ...plain?.jobs.list[0], name: '' }, { ...other?.jobs.list[0], name: '' }), 'by its name');
  must(same({ ...plain?.nodes.list[0], reason: '' }, { ...other?.nodes.list[0], reason: '' }), 'by its reason');
  return nodes.list.length > 0;
}

/** The targets of the fuzzing. */
export function slurmTargets(): TextTarget[] {
  return [
    { name: 'nodes as Slurm tells them', seeds: seeds('nodes'), check: checkNodes },
    { name: 'jobs as Slurm tells them', seeds: seeds('jobs'), check: checkJobs },
    { name: 'a file as a scheduler', seeds: seeds('file'), check: checkFile },
    {
      name: "Slurm's configuration",
      seeds: seeds('config'),
      check(text) {
        const { cluster, version, private_data } = parseConfig(text);
        for (const value of [cluster, version, private_data])
          must(isCut(value) && !value.includes('\n') && value.trim() === value, JSON.stringify(value));
        const started = parseBootTime(text);
        must(
          started === undefined || new RegExp(`^BOOT_TIME\\s*=\\s*0*${started}\\s*$`, 'm').test(text),
          `nobody said BOOT_TIME=${started}`,
        );
        const primary = parsePrimary(text);
        must(
          primary === undefined || `\n${text}\n`.includes(`\nSlurmctld(primary) at ${primary} is UP\n`),
          `nobody said that ${primary} is up`,
        );
        must(private_data !== '', 'nothing is known, and it is not said so');
        must(
          private_data !== 'none' || /^PrivateData\s*=\s*none\s*$/m.test(text),
          'it hides nothing, and nobody said so',
        );
        return cluster !== '';
      },
    },
    {
      name: "names of Slurm's nodes",
      seeds: seeds('names'),
      check(text) {
        try {
          const names = Object.entries(parseExceptions(text, 'file'));
          must(new Set(names.map(([, on]) => on)).size === names.length, 'two nodes are one');
          const written = names.map(([name, on]) => `${name} ${on}\n`).join('');
          must(same(Object.entries(parseExceptions(written, 'file')), names), 'written again they are others');
          return names.length > 0;
        } catch (error) {
          checkRefusal(error);
          const line = Number(/^file:(\d+): /.exec(error.message)?.[1]);
          must(line >= 1 && line <= text.split('\n').length, `no line: ${error.message}`);
          return false;
        }
      },
    },
  ];
}
