// The verb `scheduler`, once `slurm`: asks a scheduler about nodes and jobs every few seconds, and leaves the answers in
// a folder for programs that show them beside the board. Only reads: it gives no orders, and nobody waits for it.

import { mkdirSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { defineVerb, parseVerb, type ValuesOf } from '../options/options.js';
import { readExceptions } from '../schedulerfile/matching.js';
import { nextMs } from '../schedulerfile/scheduler.js';
import { marksIn, type OddMark, partialText, stateText } from '../schedulerfile/statefile.js';
import { onHangup, tellLasting } from '../service/hangup.js';
import { createLog, type Log } from '../service/log.js';
import { pause } from '../service/pause.js';
import { tellParent } from '../service/process.js';
import { replaceFile } from '../service/replacefile.js';
import { beginDaemon } from '../service/service.js';
import { BoardReader } from '../shm/reader.js';
import { formatDuration } from '../text/durations.js';
import { attempt, Failure, usable } from '../text/failure.js';
import { words } from '../text/tables.js';
import { counted, lowerCase, oneLine, readText } from '../text/text.js';
import { schedulerOf } from './chosen.js';
import { LOOK_MS, OddNodes } from './oddnodes.js';
import { type Asked, Poll, type Round } from './poll.js';

/** Makes the folder if it does not exist. Throws a Failure. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, 0o755);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
    throw new Failure(
      `cannot make the folder ${oneLine(folder)}: ${code}; let systemd make it (RuntimeDirectory=), or give another by --slurm-dir`,
      1,
    );
  }
}

export const verb = defineVerb({
  name: 'scheduler',
  options: words('scheduler slurm-dir slurm-bin slurm-names domain public-jobs interval board owner config'),
  examples: [
    'beoboard scheduler',
    'beoboard scheduler --slurm-bin /opt/slurm/bin --slurm-names /etc/beoboard/slurm-names',
    'beoboard scheduler --scheduler gridengine',
    'beoboard scheduler --scheduler file:/var/lib/site/scheduler.jsonl',
  ],
  notes: `It calls scontrol show node and squeue, each for at most 5 s. It writes into its folder: state (jobs are readable by its own group only),
skip (NodeNames in power saving) and names (NodeNames that differ from the board by more than case). beoboard jobs, show, status --jobs and
the gate read these files. It only needs permission to read from Slurm: see docs/slurm.md. With --scheduler gridengine it calls qhost and
qstat, and with file:PATH it reads that file: see docs/schedulers.md. SIGHUP reads --config and --slurm-names again and asks at once;
another scheduler, folder or board needs a restart. SIGTERM and SIGINT stop it.`,
});

class RoundLog {
  #silentSince: number | undefined;
  #partial: readonly string[] = [];

  constructor(private readonly log: Log) {}

  /** Returns the status after a round: one line. */
  statusAfter(round: Round, publicJobs: boolean): string {
    const { state, answered, closed } = round;
    if (publicJobs && closed !== undefined) this.log.seldom('private', `--public-jobs is ignored: ${closed}`);
    const partial = partialText(state);
    for (const line of partial) if (!this.#partial.includes(line)) this.log.warn(line);
    this.#partial = partial;
    const { nodes, jobs, scheduler, cluster, version, mono_ms } = state;
    const silentSince = this.#silentSince;
    if (answered) {
      if (silentSince !== undefined)
        this.log.info(`${scheduler} answers again after ${formatDuration(mono_ms - silentSince)}`);
      this.#silentSince = undefined;
      return `${counted(nodes.list.length, 'node')} and ${counted(jobs.list.length, 'job')} of ${cluster || 'a cluster without a name'}, ${scheduler} ${version || 'of an unknown version'}`;
    }
    const line = `${scheduler} does not answer: ${nodes.error ?? jobs.error}`;
    const isFirst = nodes.mono_ms === undefined && jobs.mono_ms === undefined;
    const stays = isFirst ? 'nothing is known about it yet' : 'its last answer stays, with its age';
    if (silentSince === undefined) this.log.warn(`${line}; ${stays}`);
    this.#silentSince ??= mono_ms;
    return line;
  }
}

/** The user's name; without one, as in a container, its number. */
const ourName = () => attempt(() => userInfo().username) ?? String(process.geteuid?.());

/** Writes the files for others; returns what is wrong if that fails. */
function leave(folder: string, { state, skip, names }: Round, isPublic: boolean): string | undefined {
  try {
    replaceFile(folder, 'state', stateText(state), isPublic ? 0o644 : 0o640);
    if (skip !== undefined) replaceFile(folder, 'skip', skip, 0o644);
    if (names !== undefined) replaceFile(folder, 'names', names, 0o644);
    return undefined;
  } catch (error) {
    return `cannot write into ${oneLine(folder)}: ${(error as NodeJS.ErrnoException).code}`;
  }
}

/** A file of an earlier reader; empty: there is none. */
const leftBefore = (folder: string, name: string) => attempt(() => readText(join(folder, name))) ?? '';

/**
 * Looks for odd nodes of jobs between rounds, and writes at once when they change: a scheduler that is slow, or asked
 * seldom, is no reason to say nothing.
 */
class Looks {
  readonly #odd: OddNodes;
  readonly #timer: NodeJS.Timeout;
  #round: Round | undefined;

  constructor(
    board: BoardReader,
    stood: readonly OddMark[],
    private readonly leaveAgain: (round: Round) => void,
  ) {
    this.#odd = new OddNodes(board, stood);
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  #look(): void {
    const hasChanged = this.#odd.look();
    if (this.#round !== undefined && hasChanged) this.leaveAgain(this.#with(this.#round));
  }

  #with(round: Round): Round {
    return { ...round, state: { ...round.state, odd: this.#odd.told } };
  }

  /** The round with what was found. */
  after(round: Round): Round {
    this.#odd.learn(round);
    this.#round = { ...round, skip: undefined, names: undefined };
    return this.#with(round);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

const LASTING = ['scheduler', 'slurmDir', 'board', 'owner'] as const;

interface SchedulerConfig extends Asked {
  readonly options: ValuesOf<typeof verb>;
}

/** Reads the command line and both files. `name`: of the scheduler, if it is chosen already. Throws a UsageError. */
function read(argv: string[], stop: AbortSignal, name?: string): SchedulerConfig {
  const { values: options } = parseVerb(verb, argv);
  const { slurmNames, slurmBin } = options;
  const exceptions = slurmNames === undefined ? {} : usable(() => readExceptions(slurmNames));
  return {
    options,
    exceptions,
    domain: lowerCase(options.domain ?? hostname().replace(/^[^.]*\.?/, '')) || undefined,
    scheduler: schedulerOf(name ?? options.scheduler, { folder: slurmBin, stop }),
  };
}

export async function main(argv: string[]): Promise<number> {
  const { service, stop } = beginDaemon();
  let inForce = read(argv, stop);
  const { scheduler: name, slurmDir: folder, board, owner } = inForce.options;
  makeFolder(folder);
  const log = createLog(verb.name);
  const roundLog = new RoundLog(log);
  const user = ourName();
  const left = { skip: leftBefore(folder, 'skip'), names: leftBefore(folder, 'names') };
  const reader = new BoardReader(board, owner);
  const poll = new Poll(reader, inForce, user, left);
  let [status, isAsked, failures] = ['asks for the first time', false, 0];
  let awake = new AbortController();
  stop.addEventListener('abort', () => awake.abort());
  onHangup(
    log,
    service,
    () => status,
    () => {
      const changed = read(argv, stop, name);
      tellLasting(log, LASTING, inForce.options, changed.options);
      inForce = changed;
      poll.change(changed);
      log.info('read its options again');
      isAsked = true;
      awake.abort();
    },
  );
  const write = (round: Round) => leave(folder, round, inForce.options.publicJobs && round.closed === undefined);
  const looks = new Looks(reader, marksIn(leftBefore(folder, 'state')), round => {
    const wrong = write(round);
    if (wrong !== undefined) log.seldom('write', wrong);
  });
  const next = (answered: boolean) => nextMs(inForce.options.interval, answered ? 0 : failures + 1);
  for (let isFirst = true; !stop.aborted; isFirst = false) {
    const begin = performance.now();
    isAsked = false;
    const round = looks.after(await poll.round(next));
    if (stop.aborted) break;
    const { publicJobs, interval } = inForce.options;
    const wrong = write(round);
    if (wrong !== undefined && isFirst)
      throw new Failure(`${wrong}; let this user write there, or give another folder by --slurm-dir`, 1);
    if (wrong !== undefined) log.seldom('write', wrong);
    status = roundLog.statusAfter(round, publicJobs);
    if (isFirst) {
      tellParent({ listening: [folder] });
      log.info(`ready: ${status}`);
      service.ready(status);
      service.watch(() => true);
    } else service.status(status);
    const wait = next(round.answered) - (round.answered ? performance.now() - begin : 0);
    failures = round.answered ? 0 : failures + 1;
    // If other options came meanwhile, they apply at once.
    if (isAsked) continue;
    awake = new AbortController();
    if (stop.aborted) break;
    await pause(Math.max(wait, interval / 2), awake.signal);
  }
  looks.end();
  log.info('ended');
  return 0;
}
