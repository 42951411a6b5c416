// A file as a scheduler, for sites whose own is not known here: a job of theirs writes it, JSON on each line, as
// docs/schedulers.md says. It takes no orders. A file that is not complete is no answer; a line that is not understood
// is left out and counted.

import { type BigIntStats, constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import {
  type About,
  cut,
  LeftOut,
  type ListAnswer,
  NoAnswer,
  type Scheduler,
  type SchedulerJob,
  type SchedulerNode,
  SECONDS_MOST,
  type StateMeaning,
} from '../schedulerfile/scheduler.js';
import { inSlices, type Steps } from '../service/slices.js';
import { formatDuration } from '../text/durations.js';
import { NameRanges } from '../text/hostlists.js';
import { isObject, jsonOf } from '../text/shape.js';
import { oneLine, whyUnreadable } from '../text/text.js';

/** Its words for the state of a node. Any other is shown, and nothing is concluded from it. */
const MEANINGS: ReadonlyMap<string, StateMeaning> = new Map<string, StateMeaning>([
  ['idle', { base: 'idle', takes_jobs: true }],
  ['allocated', { base: 'allocated', takes_jobs: true }],
  ['drained', { base: 'idle', aside: 'drained' }],
  ['draining', { base: 'allocated', aside: 'draining' }],
  ['down', { base: 'down' }],
  ['off', { base: 'idle', asleep: true }],
]);

/** Opens it without waiting: if it is a FIFO, nobody may ever write into it. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
/** A hundred thousand nodes and as many jobs have less. */
const MOST_BYTES = 32 << 20;
/** A file system of others may hang, ms. */
const LIMIT_MS = 5000;
/** How often it is written if it does not say it, s; it is old after three times as long. */
const EVERY_S = 60;
/** Two writes within a tick of the kernel's clock give a file the same time, ms. */
const TICK_MS = 20;
/** The clocks of two machines may differ by this, ms. */
const CLOCKS_MS = 60_000;

type FileRow = Readonly<Record<string, unknown>>;

interface Contents {
  readonly about: Pick<About, 'name' | 'daemon' | 'cluster' | 'version'>;
  readonly everyMs: number;
  readonly nodes: ListAnswer<SchedulerNode>;
  readonly jobs: ListAnswer<SchedulerJob>;
}

/** A row as other programs write it: times may have a fraction, and ids and names may be numbers. */
function tidied(row: Record<string, unknown>): FileRow {
  for (const key of ['start_s', 'end_s', 'reason_s']) if (typeof row[key] === 'number') row[key] = Math.floor(row[key]);
  for (const key of ['job', ...JOB_TEXTS, ...NODE_TEXTS])
    if (Number.isSafeInteger(row[key])) row[key] = String(row[key]);
  return row;
}

/** The object of a line; undefined if there is none. */
function objectIn(line = ''): FileRow | undefined {
  const row = jsonOf(line);
  return isObject(row) ? tidied(row) : undefined;
}

/** Whether a time, if there is one, can be told. */
const canTell = (seconds: number | null | undefined) => (seconds ?? 0) <= SECONDS_MOST;

/** A row in which each of these keys, if it is there, has a value of its type. */
type Having<C extends string, T extends string> = FileRow & { readonly [K in C]?: number | null } & {
  readonly [K in T]?: string | null;
};

/** Whether the values of these keys, as far as they are there, are counts and texts. */
function has<C extends string, T extends string>(
  row: FileRow,
  counts: readonly C[],
  texts: readonly T[],
): row is Having<C, T> {
  return (
    counts.every(key => row[key] == null || (Number.isSafeInteger(row[key]) && (row[key] as number) >= 0)) &&
    texts.every(key => row[key] == null || typeof row[key] === 'string')
  );
}

const textOf = (value: string | null | undefined) => (value == null ? undefined : cut(value));

/** A name without blanks and without what cannot be seen. */
const isName = (value: unknown): value is string => typeof value === 'string' && /^[^\s\p{C}]{1,255}$/u.test(value);

const NODE_COUNTS = ['cpus', 'cpus_used', 'memory_mib', 'memory_used_mib', 'gpus', 'gpus_used', 'reason_s'] as const;
const NODE_TEXTS = ['host', 'reason', 'reason_by', 'switch'] as const;
const NOTHING: StateMeaning = {};

// Each with all keys, in one order: objects of one shape take half the time, here and where they are shown.
function nodeIn(row: FileRow): SchedulerNode | undefined {
  const { node: name, state } = row;
  if (!isName(name) || !isName(state) || !has(row, NODE_COUNTS, NODE_TEXTS)) return undefined;
  if (!canTell(row.reason_s)) return undefined;
  const host = row.host ?? undefined;
  if (host !== undefined && !isName(host)) return undefined;
  const { base, takes_jobs, asleep, aside } = MEANINGS.get(state) ?? NOTHING;
  return {
    name,
    host: host === name ? undefined : host,
    state: cut(state),
    base,
    takes_jobs,
    no_jobs: row.cpus === 0 || undefined,
    asleep,
    aside,
    cpus: row.cpus ?? 0,
    cpus_used: row.cpus_used ?? undefined,
    memory_mib: row.memory_mib ?? undefined,
    memory_used_mib: row.memory_used_mib ?? undefined,
    gpus: row.gpus ?? undefined,
    gpus_used: row.gpus_used ?? undefined,
    reason: textOf(row.reason),
    reason_by: textOf(row.reason_by),
    reason_s: row.reason_s ?? undefined,
    switch: textOf(row.switch),
  };
}

const JOB_COUNTS = ['cpus', 'start_s', 'end_s'] as const;
const JOB_TEXTS = ['raw_id', 'state', 'user', 'partition', 'name', 'nodes'] as const;

function jobIn(row: FileRow): SchedulerJob | undefined {
  const id = row.job;
  if (typeof id !== 'string' || !/^[^\s\p{C}]{1,64}$/u.test(id) || !has(row, JOB_COUNTS, JOB_TEXTS)) return undefined;
  const nodes = row.nodes ?? '';
  if (!canTell(row.start_s) || !canTell(row.end_s) || !/^[^\s\p{C}]*$/u.test(nodes)) return undefined;
  return {
    id,
    raw_id: textOf(row.raw_id),
    state: textOf(row.state) ?? 'RUNNING',
    user: textOf(row.user) ?? '',
    partition: textOf(row.partition) ?? '',
    cpus: row.cpus ?? 0,
    start_s: row.start_s ?? undefined,
    end_s: row.end_s ?? undefined,
    nodes,
    name: textOf(row.name) ?? '',
  };
}

/** The contents of a text, line by line. Throws a NoAnswer if it is not complete. */
export function* contentsOf(text: string, place: string, atMs: number): Steps<Contents> {
  const lines = text
    .replace(/^\uFEFF/, '')
    .trimEnd()
    .split(/\r?\n/);
  const head = objectIn(lines.shift()) ?? {};
  const isHead = has(head, ['schema', 'every_s'], ['scheduler', 'daemon', 'cluster', 'version']);
  if (!isHead || head.schema !== 1 || !/^[\w .+-]{1,20}$/.test(head.scheduler ?? ''))
    throw new NoAnswer(`${place} does not begin with {"schema":1,"scheduler":"NAME"}; see docs/schedulers.md`);
  if (objectIn(lines.pop())?.end !== true)
    throw new NoAnswer(`${place} does not end with {"end":true}: it is not complete; write another and rename it`);
  const nodes = new Map<string, SchedulerNode>();
  const jobs = new Map<string, SchedulerJob>();
  const leftOut = { nodes: new LeftOut(), jobs: new LeftOut() };
  for (const [i, line] of lines.entries()) {
    if (i % 16 === 0) yield;
    if (line.trim() === '') continue;
    // JSON.parse takes ten times as long for what is not JSON.
    const row = line.startsWith('{') ? objectIn(line) : undefined;
    if (row !== undefined && Object.hasOwn(row, 'node')) {
      const node = nodeIn(row);
      if (node === undefined) leftOut.nodes.add(line);
      // Which of two is true nobody can say.
      else nodes.set(node.name, nodes.has(node.name) ? { name: node.name, state: '?', cpus: 0 } : node);
    } else if (row !== undefined && Object.hasOwn(row, 'job')) {
      const job = jobIn(row);
      const isLeftOut = job === undefined || jobs.has(job.id) || NameRanges.ofNodeNames(job.nodes) === undefined;
      if (isLeftOut) leftOut.jobs.add(line);
      // A job that has no nodes yet, or none any more, is not shown.
      else if (job.nodes !== '') jobs.set(job.id, job);
    } else for (const left of Object.values(leftOut)) left.add(line);
  }
  return {
    about: {
      name: head.scheduler ?? '',
      daemon: textOf(head.daemon) ?? 'daemon',
      cluster: textOf(head.cluster) ?? '',
      version: textOf(head.version) ?? '',
    },
    everyMs: (head.every_s ?? EVERY_S) * 1000,
    nodes: { list: [...nodes.values()], leftOut: leftOut.nodes, atMs },
    jobs: { list: [...jobs.values()], leftOut: leftOut.jobs, atMs },
  };
}

const whichOf = ({ dev, ino, size, mtimeNs }: BigIntStats) => [dev, ino, size, mtimeNs].join();

/** Whether another writing of it could have the same time. */
const isFresh = ({ mtimeMs }: BigIntStats) => Math.abs(Date.now() - Number(mtimeMs)) < TICK_MS;

export function fileScheduler(path: string): Scheduler {
  const place = oneLine(path);
  let last: (Contents & { readonly which: string; readonly isOpen: boolean }) | undefined;
  let reading: Promise<typeof last> | undefined;

  async function read(): Promise<typeof last> {
    const file = await open(path, AT_ONCE);
    try {
      let stats = await file.stat({ bigint: true });
      if (isFresh(stats)) {
        await setTimeout(TICK_MS);
        stats = await file.stat({ bigint: true });
      }
      if (!stats.isFile()) throw new NoAnswer(`${place} is no plain file`);
      if (stats.size > MOST_BYTES) throw new NoAnswer(`${place} has more than ${MOST_BYTES >> 20} MiB`);
      const which = whichOf(stats);
      if (which === last?.which) return last;
      const isBeingWritten = isFresh(stats);
      const bytes = await file.readFile();
      if (isBeingWritten || whichOf(await file.stat({ bigint: true })) !== which)
        throw new NoAnswer(`${place} was written while it was read; write another and rename it`);
      const contents = await inSlices(contentsOf(bytes.toString('utf8'), place, Number(stats.mtimeNs / 1_000_000n)));
      last = { ...contents, which, isOpen: (stats.mode & 0o004n) !== 0n };
      return last;
    } finally {
      await file.close();
    }
  }

  /** The present contents: one reading for all questions of a round. Rejects with NoAnswer. */
  async function contents() {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    const stop = new AbortController();
    const late = setTimeout(LIMIT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    try {
      const found = await Promise.race([reading, late]);
      if (found === undefined) throw new NoAnswer(`reading ${place} took longer than ${formatDuration(LIMIT_MS)}`);
      const ageMs = Date.now() - (found.nodes.atMs ?? 0);
      if (ageMs > 3 * found.everyMs)
        throw new NoAnswer(
          `${place} was written ${formatDuration(ageMs)} ago, and should be every ${formatDuration(found.everyMs)}`,
        );
      if (ageMs < -CLOCKS_MS) throw new NoAnswer(`${place} was written in the future; see the clock`);
      return found;
    } catch (error) {
      throw error instanceof NoAnswer ? error : new NoAnswer(`cannot read ${place}: ${whyUnreadable(error)}`);
    } finally {
      stop.abort();
    }
  }

  const about = (found: Pick<Contents, 'about'>, closed: string | undefined): About => ({
    ...found.about,
    hides: [],
    hidden: () => undefined,
    closed,
    power_saving: false,
  });
  const unasked = { about: { name: 'the scheduler', daemon: 'daemon', cluster: '', version: '' } };
  return {
    nodes: async () => (await contents()).nodes,
    jobs: async () => (await contents()).jobs,
    about: async () => {
      const found = await contents();
      return about(found, found.isOpen ? undefined : `${place} is not readable by everybody`);
    },
    unasked: { ...about(unasked, `nothing is known of ${place} yet`), hides: undefined },
  };
}
