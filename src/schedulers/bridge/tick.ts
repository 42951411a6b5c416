// One tick of the bridge: looks at the board and at Slurm, applies the rules, and has the orders given. rules.ts makes
// all decisions.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { type Matched, match } from '../../schedulerfile/matching.js';
import { NoAnswer, type OrderedNode } from '../../schedulerfile/scheduler.js';
import type { Log } from '../../service/log.js';
import { groupBy } from '../../text/maps.js';
import { few, oneLine } from '../../text/text.js';
import { Acts, rehearsed } from './acts.js';
import type { BoardLook } from './boardlook.js';
import { answerOf, type BridgeContext, type Settings } from './context.js';
import type { BridgeJournal } from './journal.js';
import { type BrakeChange, type BrakeCount, brakeChanges, brakeText, released } from './massbrake.js';
import { carries, observe, standingOf } from './ownership.js';
import type { BridgeRecord, Incident } from './records.js';
import { isThere, RELEASE, REQUESTS, requestsIn, takeRequest } from './requests.js';
import { countsOf, decide, ownCount, type Situation, type Watched, watch, withoutDoubtful } from './rules.js';

/** The result of a tick, for people and for `--status`. */
export interface TickOutcome {
  /** Why nothing could be done: because of Slurm, the board, or the switch. */
  readonly trouble?: string | undefined;
  readonly isSlurmSilent: boolean;
  readonly counts: readonly BrakeCount[];
  readonly nodes: number;
  readonly left: readonly { readonly node: string; readonly why: string }[];
}

/** Looks further apart than this do not count as continuous, ms. */
const GAP_MS = 15_000;
/** A larger change of the wall clock counts as a step, ms. */
const STEP_MS = 1000;
const JOURNAL_GONE =
  'the journal was moved away: move the same file back, or restart the bridge, which then knows nothing of its drains';
/** Nodes are UNKNOWN after a start of slurmctld until they have registered again; those that live have within this time, ms. */
const REGISTERED_MS = 15_000;
export function incidentId(node: string, incident: Incident): string {
  return createHash('sha256').update(`${node} ${incident}`).digest('hex').slice(0, 6);
}

/** Slurm's nodes that are missing on the board, or whose names are ambiguous: never drained, and to be told. */
function unmatched({ slurm, matched }: Situation): { node: string; why: string }[] {
  const alone = new Set(matched.schedulerAlone);
  return [...slurm].flatMap(([node, { unorderable }]) => {
    if (matched.boardName.has(node)) return [];
    if (unorderable !== undefined) return [{ node, why: unorderable }];
    const why = alone.has(node) ? 'the board has no node of that name' : 'two nodes on the board may be this one';
    return [{ node, why: `${why}; see slurm-names` }];
  });
}

export class Bridge {
  readonly #acts: Acts;
  #watched = new Map<string, Watched>();
  #watchingSinceMs: number | undefined;
  #lastLookMs = Number.NEGATIVE_INFINITY;
  #opened: number | undefined;
  #clockOffsetMs: number | undefined;
  /** The slurmctld of the last tick: when it was started, s since 1970, and whether it had jobs on nodes. */
  #controller: { readonly startedS: number; readonly hasJobs: boolean } | undefined;
  /** Our drains that it has forgotten with its state, by their ids, and for how long that is why one is gone. */
  readonly #forgotten = new Set<string>();
  #forgottenUntilMs = 0;
  #isOff = false;
  /** Reasons that were logged about nodes that are left alone, so that each is logged once. */
  #said = new Map<string, string>();

  /** `print` takes the lines of a dry run. */
  constructor(
    private readonly context: BridgeContext,
    private readonly settings: Settings,
    private readonly journal: BridgeJournal,
    private readonly log: Log,
    print: (line: string) => void,
  ) {
    this.#acts = new Acts(context, settings, journal, log, print, {
      opened: () => this.#opened,
      hindrance: () => this.#hindrance(),
      isOneTooMany: situation => this.#isOneTooMany(situation),
    });
  }

  /**
   * Looks, decides and acts. `isEarly`: a request is why it is now, so it is about those nodes alone. Throws a Failure if
   * the journal cannot be written.
   */
  async tick(stop?: AbortSignal, isEarly = false): Promise<TickOutcome> {
    this.#lookAtSwitch();
    const { found: listed, silence } = await answerOf(() => this.context.slurm.nodes());
    if (listed === undefined) return { trouble: silence, isSlurmSilent: true, counts: [], nodes: 0, left: [] };
    const slurm = this.#rehearse(listed);
    await this.#lookForLoss(slurm);
    const found = observe(this.journal.ledger, slurm, this.context.nowMs(), ({ id }) => this.#forgotten.has(id));
    this.journal.write(found);
    for (const entry of found) {
      this.#tell(entry);
      if ('id' in entry) this.#forgotten.delete(entry.id);
    }

    const board = this.#look(this.context.lookAtAll());
    const situation = this.#situation(board, slurm);
    const counts = [...countsOf(situation), ownCount(situation, 0)];
    const nodes = situation.matched.boardName.size;
    if (board.trouble !== undefined) return { trouble: board.trouble, isSlurmSilent: false, counts, nodes, left: [] };
    this.#brake(counts);
    const decision = decide(situation, incidentId, brake => this.#isOn(brake), isEarly);
    const settled = decision.left.flatMap(({ node, incident, left }): BridgeRecord[] => {
      const standing = slurm.get(node);
      return left.isTheirs && standing ? [{ what: 'theirs', node, incident, after: standingOf(standing) }] : [];
    });
    this.journal.write([...settled, ...decision.well.map((node): BridgeRecord => ({ what: 'well', node }))]);
    const left = this.#tellLeft([
      ...decision.left.map(({ node, left }) => ({ node, why: left.why })),
      ...unmatched(situation),
    ]);
    const outcome = { isSlurmSilent: false, counts, nodes, left };
    for (const order of [...decision.returns, ...decision.drains]) {
      if (stop?.aborted) break;
      if (this.#isOff) return { ...outcome, trouble: this.#offText };
      const trouble = await this.#acts.act(order, situation, stop);
      if (trouble !== undefined) return { ...outcome, ...trouble };
    }
    return { ...outcome, trouble: this.#isOff ? this.#offText : undefined };
  }

  /** Lifts all our drains, whatever the board says about the nodes: by an administrator. Returns those that remain. */
  async giveAllBack(): Promise<string[]> {
    const { slurm } = this.context;
    const { ledger } = this.journal;
    const notPrimary = await slurm.notPrimary();
    if (notPrimary !== undefined) throw new NoAnswer(notPrimary);
    const listed = await slurm.nodes();
    const found = observe(ledger, listed, this.context.nowMs());
    this.journal.write(found);
    for (const entry of found) this.#tell(entry);
    for (const claim of [...ledger.claims.values()]) {
      // A node that Slurm does not know any more, or does not list, does not hold up the others.
      if (!listed.has(claim.node)) continue;
      const before = await slurm.node(claim.node);
      if (before === undefined || !carries(before, claim)) continue;
      await this.#acts.give({ ...claim, act: 'undrain', why: 'by command' }, before, {}, now =>
        now !== undefined && carries(now, claim) ? undefined : { why: 'it has another reason now' },
      );
    }
    return [...ledger.claims.keys()];
  }

  // ---- looking ----

  /**
   * Finds out whether slurmctld has started since the last tick without the state that it had: then none of its jobs is
   * left, and no node has a reason from before. Without jobs and other reasons this is a guess: but who lifts a drain
   * within seconds of a restart can lift it again. Asked only if there is something to forget.
   */
  async #lookForLoss(slurm: ReadonlyMap<string, OrderedNode>): Promise<void> {
    const { claims } = this.journal.ledger;
    const before = this.#controller;
    this.#controller = undefined;
    if (this.context.monoMs() > this.#forgottenUntilMs) this.#forgotten.clear();
    if (claims.size === 0 || this.settings.isRehearsal) return;
    const { found: startedS } = await answerOf(() => this.context.slurm.startedS());
    if (startedS === undefined) return;
    const now = { startedS, hasJobs: [...slurm.values()].some(({ cpus_used = 0 }) => cpus_used > 0) };
    this.#controller = now;
    if (before === undefined || now.startedS === before.startedS || (before.hasJobs && now.hasJobs)) return;
    if ([...slurm.values()].some(({ reason, reason_s = 0 }) => reason !== undefined && reason_s < now.startedS)) return;
    for (const { id } of claims.values()) this.#forgotten.add(id);
    this.#forgottenUntilMs = this.context.monoMs() + REGISTERED_MS;
  }

  #lookAtSwitch(): void {
    const off = isThere(this.settings.killSwitch);
    if (off === this.#isOff) return;
    this.#isOff = off;
    this.journal.write([{ what: 'switch', off }]);
    const file = oneLine(this.settings.killSwitch);
    this.log.warn(off ? `switched off: ${file} exists; nothing is done` : `switched on again: ${file} is gone`);
  }

  get #offText(): string {
    return `${this.settings.killSwitch} exists: nothing is done`;
  }

  /** Why nobody can be acted upon now; undefined: nothing hinders. */
  #hindrance(): string | undefined {
    this.#lookAtSwitch();
    if (this.#isOff) return this.#offText;
    if (!this.context.isOnly()) return 'the lock beside the journal is gone: restart the bridge';
    return this.journal.isThere() ? undefined : JOURNAL_GONE;
  }

  #rehearse(slurm: ReadonlyMap<string, OrderedNode>): ReadonlyMap<string, OrderedNode> {
    if (!this.settings.isRehearsal) return slurm;
    const { claims } = this.journal.ledger;
    return new Map(
      [...slurm].map(([name, node]) => {
        const claim = claims.get(name);
        return [name, claim === undefined ? node : rehearsed(node, claim.reason, this.context.slurm)] as const;
      }),
    );
  }

  /** Whether a look continues the ones before; and what is kept of it. */
  #look(board: BoardLook): BoardLook {
    const { policy } = this.settings;
    const [monoMs, nowMs] = [this.context.monoMs(), this.context.nowMs()];
    const offset = nowMs - monoMs;
    const stepped = this.#clockOffsetMs !== undefined && Math.abs(offset - this.#clockOffsetMs) > STEP_MS;
    const replaced = this.#opened !== undefined && board.opened !== this.#opened;
    const isLate = monoMs - this.#lastLookMs > GAP_MS;
    this.#clockOffsetMs = offset;
    if (board.trouble === undefined) this.#opened = board.opened;
    this.#lastLookMs = monoMs;
    const trouble =
      board.trouble ??
      (stepped ? "this machine's wall clock was set" : replaced ? 'the board was replaced by another' : undefined);
    if (trouble !== undefined || isLate) {
      this.#watched = new Map();
      this.#watchingSinceMs = undefined;
    }
    if (trouble !== undefined) return { ...board, trouble };
    this.#watchingSinceMs ??= monoMs;
    this.#watched = watch(this.#watched, board, policy, monoMs, this.journal.ledger.claims.values());
    return board;
  }

  #matched(board: BoardLook, slurm: ReadonlyMap<string, OrderedNode>): Matched {
    const { exceptions } = this.settings;
    const matched = match([...slurm.values()], [...board.nodes.keys()], exceptions);
    return withoutDoubtful(matched, slurm, board.nodes, exceptions);
  }

  #situation(board: BoardLook, slurm: ReadonlyMap<string, OrderedNode>): Situation {
    const [monoMs, nowMs] = [this.context.monoMs(), this.context.nowMs()];
    return {
      ...{ policy: this.settings.policy, board, slurm, matched: this.#matched(board, slurm), monoMs, nowMs },
      ...{ ledger: this.journal.ledger, watched: this.#watched, requested: this.#requested() },
      watchingSinceMs: this.#watchingSinceMs ?? monoMs,
    };
  }

  /** NodeNames for which the gate has left a request; one that has been dealt with is removed. */
  #requested(): ReadonlySet<string> {
    const { requests } = this.settings;
    if (requests === undefined) return new Set();
    const folder = join(requests, REQUESTS);
    const found = requestsIn(folder, this.context.nowMs());
    for (const name of found) if (this.journal.ledger.claims.has(name)) takeRequest(join(folder, name));
    return found;
  }

  // ---- brakes ----

  #isOn(brake: string): boolean {
    return this.journal.ledger.brakes.get(brake)?.on ?? false;
  }

  #brake(counts: readonly BrakeCount[]): void {
    const { brakes } = this.journal.ledger;
    const { requests } = this.settings;
    if (requests !== undefined && takeRequest(join(requests, RELEASE)))
      this.#change(released(counts, brakes), 'released by an administrator');
    this.#change(brakeChanges(counts, brakes));
  }

  #change(changes: readonly BrakeChange[], how = 'released'): void {
    this.journal.write(changes.map((change): BridgeRecord => ({ what: 'brake', ...change })));
    // One event may put several brakes on, and takes them off together.
    const on = changes.filter(change => change.on).map(change => brakeText(change.brake, change));
    const off = changes.filter(({ on, value, limit }) => !on && (how !== 'released' || value < limit / 2));
    const names = off.map(({ brake }) => brake);
    if (on.length > 0) this.log.warn(`BRAKE: no more drains: ${few(on, 4, '; ')}; see beoboard bridge --status`);
    if (off.length > 0) this.log.warn(`brake ${how}: ${few(names, 4)}`);
  }

  /** Whether one more drain of our own would be one too many; puts the brake on. */
  #isOneTooMany(situation: Situation): boolean {
    const { brakes } = this.journal.ledger;
    const own = brakes.get('own');
    this.#change(brakeChanges([ownCount(situation, 1)], own === undefined ? new Map() : new Map([['own', own]])));
    return this.#isOn('own');
  }

  // ---- reporting ----

  #tell(entry: BridgeRecord): void {
    if (entry.what === 'let_go')
      this.log.warn(
        `${entry.node} is no longer ours: ${entry.why} (${entry.after.state}${entry.after.reason ? `, ${entry.after.reason}` : ''}); the bridge leaves it alone`,
      );
    else if (entry.what === 'withdrawn') this.log.warn(`${entry.node} is no longer drained: ${entry.why}`);
    else if (entry.what === 'result') this.log.warn(`${entry.node}: ${entry.act} turns out to have been done`);
  }

  /** Logs why nodes are left alone, once for each reason. */
  #tellLeft(left: readonly { node: string; why: string }[]) {
    const next = new Map(left.map(({ node, why }) => [node, why] as const));
    const fresh = left.filter(({ node, why }) => this.#said.get(node) !== why);
    this.#said = next;
    for (const [why, those] of groupBy(fresh, ({ why }) => why)) {
      const names = those.map(({ node }) => node);
      this.log.info(`left alone: ${few(names, 8)}: ${why}`);
    }
    return left;
  }
}
