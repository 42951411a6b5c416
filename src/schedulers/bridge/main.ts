// The verb `bridge`: drains in Slurm the nodes that the board calls silent, and gives back those that are live again.
// Changes nothing without --enforce, and nothing in case of doubt.

import { closeSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../../options/options.js';
import { VERSION } from '../../options/version.js';
import { readExceptions } from '../../schedulerfile/matching.js';
import { ORDERS } from '../../schedulerfile/orderfile.js';
import { NoAnswer, nextMs } from '../../schedulerfile/scheduler.js';
import { createLog, type Log } from '../../service/log.js';
import { onStop, tellParent } from '../../service/process.js';
import { replaceFile } from '../../service/replacefile.js';
import { beginDaemon } from '../../service/service.js';
import { BoardReader } from '../../shm/reader.js';
import { Failure, usable } from '../../text/failure.js';
import { json, print } from '../../text/output.js';
import { compilePattern } from '../../text/patterns.js';
import { words } from '../../text/tables.js';
import { oneLine, quote } from '../../text/text.js';
import { controllerOf } from '../chosen.js';
import { Awaking } from './awaking.js';
import { lookOn } from './boardlook.js';
import { lastTick, STATUS, statusLines, statusOf } from './bridgestatus.js';
import type { BridgeContext, Settings } from './context.js';
import { type BridgeJournal, checkFolder, JournalFile, Only, openFolder, Rehearsal, readJournal } from './journal.js';
import { Ledger } from './ownership.js';
import { RELEASE, REQUESTS } from './requests.js';
import { FATAL, type Policy } from './rules.js';
import { Bridge, type TickOutcome } from './tick.js';

export const verb = defineVerb({
  name: 'bridge',
  options: words(
    'enforce dry-run drain-after resume-after drain-unhealthy ignore unsigned witness by journal bridge-dir',
    'kill-switch status json release undrain-own scheduler slurm-bin slurm-names interval board owner config',
  ),
  examples: [
    'beoboard bridge',
    'beoboard bridge --config /etc/beoboard/bridge.toml',
    'beoboard bridge --status',
    'beoboard bridge --release',
  ],
  notes: `Without enforce it is a dry run: it prints the exact command lines, one for each silence, and runs none that changes Slurm. --dry-run
takes precedence over enforce in the file.
It drains a node that has been silent for --drain-after, that is IDLE, MIXED or ALLOCATED in Slurm, and that nobody else has drained or
given a reason. It resumes only nodes that it drained itself, when they have been live for --resume-after. Jobs on a drained node go on.
It never sets a node down and never cancels a job. When many nodes are silent it stops (brakes) and says so. When it ends, drains stay.
docs/slurm.md has the rules, and the way from a dry run to enforcing. SIGTERM, SIGINT and SIGHUP stop it.
With --status the exit code is 0 if an enforcing bridge runs, else 1.`,
});

type BridgeOptions = ValuesOf<typeof verb>;

/** Twelve acts of five calls each, which all take their 5 s: more than any tick. */
const TICK_MOST_MS = 300_000;

/** CLOCK_MONOTONIC. */
const monoMs = () => Number(process.hrtime.bigint() / 1_000_000n);

function settingsOf(values: BridgeOptions, isRehearsal: boolean): Settings {
  const {
    drainAfter,
    resumeAfter,
    drainUnhealthy,
    ignore = [],
    unsigned,
    witness,
    by,
    slurmNames,
    killSwitch,
    journal,
  } = values;
  return usable(() => {
    if (by !== undefined && 'field' in by)
      throw new UsageError(
        `--by: ${quote(by.field)} is not a pattern between slashes; write one as in '/^rack[0-9]+/'`,
      );
    const groupOf = by === undefined ? () => undefined : compilePattern(by.pattern, '--by');
    const policy: Policy = {
      ...{ drainAfterMs: drainAfter, resumeAfterMs: resumeAfter, unsigned, witness: witness === 'slurm', groupOf },
      drainUnhealthy: drainUnhealthy ? FATAL.filter(problem => !ignore.includes(problem)) : [],
    };
    const exceptions = slurmNames === undefined ? {} : readExceptions(slurmNames);
    return { policy, exceptions, killSwitch, requests: isRehearsal ? undefined : journal, isRehearsal };
  });
}

function contextOf(
  { board, owner, scheduler, slurmBin }: BridgeOptions,
  stop: AbortSignal,
  isOnly: () => boolean,
): BridgeContext {
  const reader = new BoardReader(board, owner);
  return {
    slurm: controllerOf(scheduler, { folder: slurmBin, stop }),
    lookAtAll: () => lookOn(reader),
    lookAtOne: name => lookOn(reader, name),
    isOnly,
    monoMs,
    nowMs: () => Date.now(),
  };
}

function lineOf({ trouble, nodes }: TickOutcome, { ledger }: BridgeJournal, isRehearsal: boolean): string {
  const brakes = [...ledger.brakes].filter(([, { on }]) => on).map(([brake]) => brake);
  return [
    isRehearsal ? 'dry run: Slurm is not changed' : 'enforcing',
    ...(trouble === undefined ? [`${nodes} nodes known to both`] : [`waiting: ${trouble}`]),
    ...(ledger.claims.size === 0 ? [] : [`${ledger.claims.size} drained by us`]),
    ...(brakes.length === 0 ? [] : [`BRAKES ON: ${brakes.join(', ')}`]),
  ].join('; ');
}

/** A bridge and its journal. Nobody else may act with that journal, unless it is a rehearsal. */
function openBridge(values: BridgeOptions, settings: Settings, stop: AbortSignal, log: Log) {
  const { journal: folder } = values;
  const only = settings.isRehearsal ? undefined : new Only(folder);
  const journal = settings.isRehearsal
    ? new Rehearsal(readJournal(folder)?.ledger ?? new Ledger())
    : new JournalFile(folder);
  const context = contextOf(values, stop, () => only?.holds() ?? true);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  return { journal, bridge: new Bridge(context, settings, journal, log, say) };
}

function leaveStatus(folder: string, outcome: TickOutcome, next: number, log: Log): void {
  const left = { pid: process.pid, mono_ms: monoMs(), next_ms: monoMs() + next, ...outcome };
  try {
    replaceFile(folder, STATUS, `${JSON.stringify(left)}\n`, 0o600);
  } catch (error) {
    // It is only for people: no decision depends on it.
    const { code } = error as NodeJS.ErrnoException;
    log.seldom('status', `cannot write ${oneLine(join(folder, STATUS))}: ${code}; --status will not show this`);
  }
}

/** Leaves the orders for `beoboard journal`, whenever there are new ones. */
class Publisher {
  #published = -1;

  constructor(
    private readonly folder: string,
    private readonly ledger: Ledger,
    private readonly log: Log,
  ) {}

  publish(): void {
    const { count } = this.ledger.orders.state(0);
    if (count === this.#published) return;
    try {
      replaceFile(this.folder, ORDERS, this.ledger.orders.text(Date.now()), 0o644);
      this.#published = count;
    } catch (error) {
      // It is only for a record: no decision depends on it.
      const why = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
      this.log.seldom(
        'orders',
        `cannot write ${oneLine(join(this.folder, ORDERS))}: ${why}; beoboard journal does not learn what the bridge does; let systemd make the folder (RuntimeDirectory=), or give another by --bridge-dir`,
      );
    }
  }
}

/** Ticks until the program ends. */
async function run(values: BridgeOptions, isRehearsal: boolean): Promise<number> {
  const { journal: folder, interval, config, ...rest } = values;
  const settings = settingsOf(values, isRehearsal);
  if (!isRehearsal) {
    openFolder(folder);
    openFolder(join(folder, REQUESTS));
  }
  const log = createLog(verb.name);
  const { service, stop } = beginDaemon('SIGHUP');
  const { bridge, journal } = openBridge(values, settings, stop, log);
  journal.write([{ what: 'start', pid: process.pid, version: VERSION, options: { ...rest, interval, config } }]);
  const publisher = isRehearsal ? undefined : new Publisher(values.bridgeDir, journal.ledger, log);
  // Publishes also the orders that an earlier bridge was killed before it could publish.
  publisher?.publish();
  const awake = new Awaking(isRehearsal ? undefined : join(folder, REQUESTS), stop, log);
  let [isEarly, failures, dueMs] = [false, 0, 0];
  let trouble: string | undefined;
  for (let isFirst = true; !stop.aborted; isFirst = false) {
    const begin = monoMs();
    const outcome = await bridge.tick(stop, isEarly);
    publisher?.publish();
    if (stop.aborted) break;
    failures = outcome.isSlurmSilent ? failures + 1 : 0;
    const next = Math.max(interval / 2, nextMs(interval, failures) - (monoMs() - begin));
    dueMs = monoMs() + next + TICK_MOST_MS;
    if (!isRehearsal) leaveStatus(folder, outcome, next, log);
    const line = lineOf(outcome, journal, isRehearsal);
    if (isFirst) {
      tellParent({ listening: [folder] });
      log.info(`ready: ${line}`);
      service.ready(line);
      // A tick takes at most some calls of 5 s. If one never ends, the watchdog is not fed any more, and the manager
      // acts.
      service.watch(() => monoMs() < dueMs);
    } else {
      service.status(line);
      // While Slurm does not answer it may say why in several ways.
      if (outcome.trouble !== trouble && !(outcome.isSlurmSilent && failures > 1))
        log.warn(outcome.trouble === undefined ? 'all is well again' : `does nothing: ${outcome.trouble}`);
    }
    trouble = outcome.trouble;
    isEarly = await awake.sleep(next);
  }
  awake.close();
  journal.write([{ what: 'end' }]);
  if (!isRehearsal) rmSync(join(folder, STATUS), { force: true });
  log.info('ended: drains stay');
  return 0;
}

/** Leaves a request, and waits until the bridge has taken it. */
async function release(folder: string): Promise<number> {
  checkFolder(folder);
  try {
    closeSync(openSync(join(folder, RELEASE), 'wx', 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new Failure(`cannot write into ${oneLine(folder)}: ${code}`, 1);
  }
  const runs = lastTick(folder, monoMs()) !== undefined;
  await print([
    runs
      ? 'The bridge releases its brakes in its next tick.\n'
      : 'No bridge runs: its brakes are released when it is started.\n',
  ]);
  return 0;
}

async function undrainOwn(values: BridgeOptions): Promise<number> {
  checkFolder(values.journal);
  const log = createLog(verb.name);
  const { bridge, journal } = openBridge(values, settingsOf(values, values.dryRun), onStop(), log);
  let still: readonly string[];
  try {
    still = await bridge.giveAllBack();
  } catch (error) {
    if (error instanceof NoAnswer) throw new Failure(`nothing more is done: ${error.message}`, 1);
    throw error;
  } finally {
    if (!values.dryRun) new Publisher(values.bridgeDir, journal.ledger, log).publish();
  }
  if (still.length > 0) throw new Failure(`still drained: ${still.join(', ')}; see beoboard bridge --status`, 1);
  return 0;
}

async function status({ journal: folder, json: asJson }: BridgeOptions): Promise<number> {
  const found = readJournal(folder);
  const last = lastTick(folder, monoMs());
  const status = statusOf(last, found?.ledger ?? new Ledger(), found?.entries ?? []);
  await print(
    asJson ? [`${json({ schema: 1, ...status })}\n`] : statusLines(status, Date.now()).map(line => `${line}\n`),
  );
  return status.running ? 0 : 1;
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  const asked = (['status', 'release', 'undrainOwn'] as const).filter(word => values[word]);
  if (asked.length > 1) throw new UsageError('--status, --release and --undrain-own exclude each other; give one');
  if (values.json && !values.status) throw new UsageError('--json needs --status; add it, or leave --json out');
  if (values.ignore !== undefined && !values.drainUnhealthy)
    throw new UsageError('--ignore needs --drain-unhealthy; add it, or leave --ignore out');
  if (values.status) return status(values);
  if (values.release) return release(values.journal);
  if (values.undrainOwn) return undrainOwn(values);
  return run(values, !values.enforce || values.dryRun);
}
