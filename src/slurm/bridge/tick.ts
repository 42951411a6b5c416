// One tick of the bridge: looks at the board and at Slurm, applies the rules, and acts on what is true at the moment of
// the act. rules.ts makes all decisions.

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../service/log.js';
import { oneLine } from '../../text/text.js';
import type { ListedNode } from '../answers.js';
import { NoAnswer } from '../calls.js';
import { type Matched, match } from '../matching.js';
import { nodeState } from '../nodestate.js';
import type { BoardLook, SeenNode } from './boardlook.js';
import type { Journal } from './journal.js';
import { type BrakeChange, brakeChanges, brakeText, type Count, released } from './massbrake.js';
import { lineOf, type Slurm } from './orders.js';
import { carries, type Entry, type Incident, observe, standingOf } from './ownership.js';
import {
  countsOf,
  decide,
  incidentOf,
  isNoName,
  type Left,
  type Order,
  objectionToDrain,
  ownCount,
  type Policy,
  returnOf,
  type Situation,
  SLURMS_REASON,
  type Watched,
  watch,
  withoutDoubtful,
} from './rules.js';

/** What the bridge works with. */
export interface BridgeContext {
  readonly slurm: Slurm;
  lookAtAll(): BoardLook;
  lookAtOne(name: string): BoardLook;
  /** Whether nobody else can act with our journal. */
  isOnly(): boolean;
  /** CLOCK_MONOTONIC, and since 1970, ms. */
  monoMs(): number;
  nowMs(): number;
}

export interface Settings {
  readonly policy: Policy;
  readonly exceptions: Readonly<Record<string, string>>;
  /** While this file exists nothing is done. */
  readonly killSwitch: string;
  /** Where an administrator leaves a request; undefined: requests are not possible. */
  readonly requests: string | undefined;
  /** Whether acts are only printed. */
  readonly isRehearsal: boolean;
}

/** The result of a tick, for people and for `--status`. */
export interface Outcome {
  /** Why nothing could be done: because of Slurm, the board, or the switch. */
  readonly trouble?: string | undefined;
  /** Whether Slurm did not answer. */
  readonly isSlurmSilent: boolean;
  readonly counts: readonly Count[];
  readonly nodes: number;
  /** Nodes that are left alone, and why. */
  readonly left: readonly { readonly node: string; readonly why: string }[];
}

/** The request to release the brakes. */
export const RELEASE = 'release';
/** The folder in which the gate leaves requests: files with the NodeNames for whose silence it has refused a job. */
export const REQUESTS = 'requests';
/** A request that is older is not taken, ms. */
const REQUEST_MS = 60_000;

/** Looks further apart than this do not count as continuous, ms. */
const GAP_MS = 15_000;
/** A larger change of the wall clock counts as a step, ms. */
const STEP_MS = 1000;
const JOURNAL_GONE =
  'the journal was moved away: move the same file back, or restart the bridge, which then knows nothing of its drains';
/** Nodes are UNKNOWN after a start of slurmctld until they have registered again; those that live have within this time, ms. */
const REGISTERED_MS = 15_000;
/** An order without a visible effect is repeated after this time, ms. */
const AGAIN_MS = 60_000;

export function incidentId(node: string, incident: Incident): string {
  return createHash('sha256').update(`${node} ${incident}`).digest('hex').slice(0, 6);
}

/** Whether a file exists; if that cannot be determined, yes. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/**
 * Removes a request; returns whether there was one. If it cannot be removed it does not count, because otherwise it
 * would come again with each tick.
 */
function wasThere(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

/** The requests in that folder: whose file is not ours or root's, or is old, does not count. */
function requestsIn(folder: string, nowMs: number): Set<string> {
  const found = new Set<string>();
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return found;
  }
  for (const name of names) {
    const file = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (file === undefined) continue;
    const isOurs = file.isFile() && (file.uid === process.getuid?.() || file.uid === 0);
    if (isOurs && Math.abs(nowMs - file.mtimeMs) <= REQUEST_MS) found.add(name);
    else wasThere(join(folder, name));
  }
  return found;
}

/** The evidence of an act that is kept. */
function evidenceOf(seen: SeenNode, { heartbeatAgeMs, links }: BoardLook) {
  const { state, unheardMs, silentForMs, reports, bootId, lost, lastRealMs, isProved, problems } = seen;
  return {
    ...{ state, unheard_ms: unheardMs, silent_for_ms: silentForMs, reports, boot_id: bootId, lost },
    ...{ last_report_ms: lastRealMs, proved: isProved, problems, link: links.get(seen.link)?.name },
    heartbeat_age_ms: heartbeatAgeMs === undefined ? undefined : Math.round(heartbeatAgeMs),
  };
}

/**
 * Slurm's nodes that are missing on the board, or whose names are ambiguous: they are never drained, and somebody
 * should know.
 */
function unmatched({ slurm, matched }: Situation): { node: string; why: string }[] {
  const alone = new Set(matched.slurmAlone);
  return [...slurm.keys()].flatMap(node => {
    if (matched.boardName.has(node)) return [];
    if (isNoName(node)) return [{ node, why: 'scontrol does not take this name for one node' }];
    const why = alone.has(node) ? 'the board has no node of that name' : 'two nodes on the board may be this one';
    return [{ node, why: `${why}; see slurm-names` }];
  });
}

/** Slurm's state as if the printed acts had been done: our drains on nodes that nobody else has touched. */
function rehearsed(node: ListedNode, reason: string): ListedNode {
  const { flags } = nodeState(node.state);
  // Slurm itself sets a silent node DOWN after some time, with its own reason; it would have left ours.
  const isFree = !flags.has('DRAIN') && (node.reason === undefined || node.reason === SLURMS_REASON);
  return isFree ? { ...node, state: `${node.state}+DRAIN`, reason } : node;
}

export class Bridge {
  readonly #world: BridgeContext;
  readonly #settings: Settings;
  readonly #journal: Journal;
  readonly #log: Log;
  /** Takes the lines of a dry run. */
  readonly #print: (line: string) => void;
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
  /** When an order may be repeated. */
  readonly #again = new Map<string, number>();

  constructor(world: BridgeContext, settings: Settings, journal: Journal, log: Log, print: (line: string) => void) {
    this.#world = world;
    this.#settings = settings;
    this.#journal = journal;
    this.#log = log;
    this.#print = print;
  }

  /**
   * Looks, decides and acts. `isEarly`: a request is why it is now, so it is about those nodes alone. Throws a Failure if
   * the journal cannot be written.
   */
  async tick(stop?: AbortSignal, isEarly = false): Promise<Outcome> {
    this.#lookAtSwitch();
    let slurm: ReadonlyMap<string, ListedNode>;
    try {
      slurm = this.#rehearse(await this.#world.slurm.nodes());
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return {
        trouble: `Slurm does not answer: ${error.message}`,
        isSlurmSilent: true,
        counts: [],
        nodes: 0,
        left: [],
      };
    }
    await this.#lookForLoss(slurm);
    const found = observe(this.#journal.ledger, slurm, this.#world.nowMs(), ({ id }) => this.#forgotten.has(id));
    this.#journal.write(found);
    for (const entry of found) {
      this.#tell(entry);
      if ('id' in entry) this.#forgotten.delete(entry.id);
    }

    const board = this.#look(this.#world.lookAtAll());
    const situation = this.#situation(board, slurm);
    const counts = [...countsOf(situation), ownCount(situation, 0)];
    const nodes = situation.matched.boardName.size;
    if (board.trouble !== undefined) return { trouble: board.trouble, isSlurmSilent: false, counts, nodes, left: [] };
    this.#brake(counts);
    const decision = decide(situation, incidentId, brake => this.#isOn(brake), isEarly);
    const settled = decision.left.flatMap(({ node, incident, left }): Entry[] => {
      const standing = slurm.get(node);
      return left.isTheirs && standing ? [{ what: 'theirs', node, incident, after: standingOf(standing) }] : [];
    });
    this.#journal.write([...settled, ...decision.well.map((node): Entry => ({ what: 'well', node }))]);
    const left = this.#tellLeft([
      ...decision.left.map(({ node, left }) => ({ node, why: left.why })),
      ...unmatched(situation),
    ]);
    const outcome = { isSlurmSilent: false, counts, nodes, left };
    for (const order of [...decision.returns, ...decision.drains]) {
      if (stop?.aborted) break;
      if (this.#isOff) return { ...outcome, trouble: `${this.#settings.killSwitch} exists: nothing is done` };
      const trouble = await this.#act(order, situation, stop);
      if (trouble !== undefined) return { ...outcome, ...trouble };
    }
    return { ...outcome, trouble: this.#isOff ? `${this.#settings.killSwitch} exists: nothing is done` : undefined };
  }

  /**
   * Lifts all our drains, whatever the board says about the nodes: an administrator's command. Returns those that
   * remain.
   */
  async giveAllBack(): Promise<string[]> {
    const { slurm } = this.#world;
    const { ledger } = this.#journal;
    const notPrimary = await slurm.notPrimary();
    if (notPrimary !== undefined) throw new NoAnswer(notPrimary);
    const listed = await slurm.nodes();
    const found = observe(ledger, listed, this.#world.nowMs());
    this.#journal.write(found);
    for (const entry of found) this.#tell(entry);
    for (const claim of [...ledger.claims.values()]) {
      // A node that Slurm does not know any more, or does not list, does not hold up the others.
      if (!listed.has(claim.node)) continue;
      const before = await slurm.node(claim.node);
      if (before === undefined || !carries(before, claim)) continue;
      await this.#give({ ...claim, act: 'undrain', why: 'by command' }, before, {}, now =>
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
  async #lookForLoss(slurm: ReadonlyMap<string, ListedNode>): Promise<void> {
    const { claims } = this.#journal.ledger;
    const before = this.#controller;
    this.#controller = undefined;
    if (this.#world.monoMs() > this.#forgottenUntilMs) this.#forgotten.clear();
    if (claims.size === 0 || this.#settings.isRehearsal) return;
    let startedS: number | undefined;
    try {
      startedS = await this.#world.slurm.startedS();
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
    if (startedS === undefined) return;
    const now = { startedS, hasJobs: [...slurm.values()].some(({ cpus_used = 0 }) => cpus_used > 0) };
    this.#controller = now;
    if (before === undefined || now.startedS === before.startedS || (before.hasJobs && now.hasJobs)) return;
    if ([...slurm.values()].some(({ reason, reason_s = 0 }) => reason !== undefined && reason_s < now.startedS)) return;
    for (const { id } of claims.values()) this.#forgotten.add(id);
    this.#forgottenUntilMs = this.#world.monoMs() + REGISTERED_MS;
  }

  #lookAtSwitch(): void {
    const off = isThere(this.#settings.killSwitch);
    if (off === this.#isOff) return;
    this.#isOff = off;
    this.#journal.write([{ what: 'switch', off }]);
    const file = oneLine(this.#settings.killSwitch);
    this.#log.warn(off ? `switched off: ${file} exists; nothing is done` : `switched on again: ${file} is gone`);
  }

  #rehearse(slurm: ReadonlyMap<string, ListedNode>): ReadonlyMap<string, ListedNode> {
    if (!this.#settings.isRehearsal) return slurm;
    const { claims } = this.#journal.ledger;
    return new Map(
      [...slurm].map(([name, node]) => {
        const claim = claims.get(name);
        return [name, claim === undefined ? node : rehearsed(node, claim.reason)] as const;
      }),
    );
  }

  /** Whether a look continues the ones before; and what is kept of it. */
  #look(board: BoardLook): BoardLook {
    const { policy } = this.#settings;
    const [monoMs, nowMs] = [this.#world.monoMs(), this.#world.nowMs()];
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
    this.#watched = watch(this.#watched, board, policy, monoMs);
    return board;
  }

  #matched(board: BoardLook, slurm: ReadonlyMap<string, ListedNode>): Matched {
    const { exceptions } = this.#settings;
    const matched = match([...slurm.values()], [...board.nodes.keys()], exceptions);
    return withoutDoubtful(matched, slurm, board.nodes, exceptions);
  }

  #situation(board: BoardLook, slurm: ReadonlyMap<string, ListedNode>): Situation {
    const [monoMs, nowMs] = [this.#world.monoMs(), this.#world.nowMs()];
    return {
      ...{ policy: this.#settings.policy, board, slurm, matched: this.#matched(board, slurm), monoMs, nowMs },
      ...{ ledger: this.#journal.ledger, watched: this.#watched, requested: this.#requested() },
      watchingSinceMs: this.#watchingSinceMs ?? monoMs,
    };
  }

  /** NodeNames for which the gate has left a request; one that has been dealt with is removed. */
  #requested(): ReadonlySet<string> {
    const { requests } = this.#settings;
    if (requests === undefined) return new Set();
    const folder = join(requests, REQUESTS);
    const found = requestsIn(folder, this.#world.nowMs());
    for (const name of found) if (this.#journal.ledger.claims.has(name)) wasThere(join(folder, name));
    return found;
  }

  // ---- brakes ----

  #isOn(brake: string): boolean {
    return this.#journal.ledger.brakes.get(brake)?.on ?? false;
  }

  #brake(counts: readonly Count[]): void {
    const { brakes } = this.#journal.ledger;
    const { requests } = this.#settings;
    if (requests !== undefined && wasThere(join(requests, RELEASE)))
      this.#change(released(counts, brakes), 'released by an administrator');
    this.#change(brakeChanges(counts, brakes));
  }

  #change(changes: readonly BrakeChange[], how = 'released'): void {
    this.#journal.write(changes.map((change): Entry => ({ what: 'brake', ...change })));
    // One event may put several brakes on, and takes them off together.
    const several = (texts: readonly string[], by: string) =>
      `${texts.slice(0, 4).join(by)}${texts.length > 4 ? `${by}and ${texts.length - 4} more` : ''}`;
    const on = changes.filter(change => change.on).map(change => brakeText(change.brake, change));
    const off = changes.filter(({ on, value, limit }) => !on && (how !== 'released' || value < limit / 2));
    if (on.length > 0) this.#log.warn(`BRAKE: no more drains: ${several(on, '; ')}; see beoboard bridge --status`);
    if (off.length > 0)
      this.#log.warn(
        `brake ${how}: ${several(
          off.map(({ brake }) => brake),
          ', ',
        )}`,
      );
  }

  /** Whether one more drain of our own would be one too many; puts the brake on. */
  #isOneTooMany(situation: Situation): boolean {
    const { brakes } = this.#journal.ledger;
    const own = brakes.get('own');
    this.#change(brakeChanges([ownCount(situation, 1)], own === undefined ? new Map() : new Map([['own', own]])));
    return this.#isOn('own');
  }

  // ---- acting ----

  /** Why an order is not valid any more, by the present state; undefined: it is. */
  #objection(order: Order, situation: Situation, node: ListedNode | undefined, board: BoardLook): Left | undefined {
    const seen = board.nodes.get(order.board);
    if (node === undefined || seen === undefined) return { why: 'it is gone' };
    if (board.opened !== this.#opened) return { why: 'the board was replaced by another' };
    const now = { ...situation, board };
    if (order.act === 'drain') {
      if (incidentOf(seen, situation.policy) !== order.incident) return { why: `it is ${seen.state} now` };
      return objectionToDrain(seen, node, now);
    }
    const claim = situation.ledger.claims.get(order.node);
    if (claim === undefined) return { why: 'it is not ours' };
    const way = returnOf(claim, seen, node, now);
    return 'act' in way ? undefined : way;
  }

  /** Says why an order is not given; whether an administrator has decided may be seen only now. */
  #leave(
    { node, incident }: Pick<Order, 'node' | 'incident'>,
    { why, isTheirs }: Left,
    now: ListedNode | undefined,
    withdrawn: readonly Entry[] = [],
  ): void {
    const theirs: Entry[] = isTheirs && now ? [{ what: 'theirs', node, incident, after: standingOf(now) }] : [];
    this.#journal.write([...withdrawn, ...theirs]);
    this.#log.info(`${node} is left alone: ${why}`);
  }

  /** Looks at both sides again, and gives the order. Returns a reason that ends this tick. */
  async #act(
    order: Order,
    situation: Situation,
    stop?: AbortSignal,
  ): Promise<{ trouble: string; isSlurmSilent: boolean } | undefined> {
    const { slurm } = this.#world;
    const { node, act } = order;
    if (this.#world.monoMs() < (this.#again.get(`${act} ${node}`) ?? 0)) return undefined;
    let before: ListedNode | undefined;
    try {
      const notPrimary = await slurm.notPrimary();
      if (notPrimary !== undefined) return { trouble: notPrimary, isSlurmSilent: false };
      before = await slurm.node(node);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return { trouble: `Slurm does not answer: ${error.message}`, isSlurmSilent: true };
    }
    const claim = situation.ledger.claims.get(node);
    if (before !== undefined && this.#settings.isRehearsal && claim !== undefined)
      before = rehearsed(before, claim.reason);
    if (stop?.aborted) return { trouble: 'it is ending', isSlurmSilent: false };
    this.#lookAtSwitch();
    if (this.#isOff) return { trouble: `${this.#settings.killSwitch} exists: nothing is done`, isSlurmSilent: false };
    if (!this.#world.isOnly())
      return { trouble: 'the lock beside the journal is gone: restart the bridge', isSlurmSilent: false };
    if (!this.#journal.isThere()) return { trouble: JOURNAL_GONE, isSlurmSilent: false };
    const board = this.#world.lookAtOne(order.board);
    const seen = board.nodes.get(order.board);
    const objection = this.#objection(order, situation, before, board);
    if (objection !== undefined || seen === undefined || before === undefined) {
      this.#leave(order, objection ?? { why: 'it is gone' }, before);
      return undefined;
    }
    if (act === 'drain' && this.#isOneTooMany(situation)) return undefined;
    // As before the order is written down, which alone would be an objection.
    const asNow = { ...situation, ledger: situation.ledger.copy(this.#world.nowMs()) };
    await this.#give(order, before, evidenceOf(seen, board), node =>
      this.#objection(order, asNow, node, this.#world.lookAtOne(order.board)),
    );
    return undefined;
  }

  /**
   * Writes to the journal what is about to be done, looks once more, does it, reads it back, and writes the result. The
   * disk may be slow: the last look comes after it, immediately before the order. `objection`: to the order, by that
   * look.
   */
  async #give(
    order: Order,
    before: ListedNode,
    evidence: object,
    objection: (node: ListedNode | undefined) => Left | undefined,
  ): Promise<void> {
    const { slurm } = this.#world;
    const { act, node, id, board, incident, reason, why } = order;
    const command = lineOf(order);
    const intent: Entry = {
      ...{ what: 'intent', act, id, node, board, incident, boot_id: order.bootId, reason, why, command, evidence },
      before: standingOf(before),
    };
    if (this.#settings.isRehearsal) {
      this.#print(command);
      this.#log.info(`would ${act} ${node}: ${why}`);
      this.#journal.write([intent, { what: 'result', act, id, node, outcome: 'done' }]);
      return;
    }
    this.#journal.write([intent]);
    const prepared = slurm.prepare();
    let now: ListedNode | undefined;
    let refusal: Left | undefined;
    try {
      now = await slurm.readBack(node);
      refusal = objection(now);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      refusal = { why: `Slurm does not answer: ${error.message}` };
    }
    if (refusal !== undefined) {
      await prepared.drop();
      this.#leave(order, refusal, now, [{ what: 'withdrawn', act, id, node, why: refusal.why }]);
      return;
    }
    const { rc, said } = await prepared.order(order);
    let after: ListedNode | undefined;
    try {
      after = await slurm.readBack(node);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
    }
    const claim = this.#journal.ledger.claims.get(node);
    const isDone =
      after !== undefined &&
      claim !== undefined &&
      (act === 'drain'
        ? carries(after, claim)
        : nodeState(after.state).base !== undefined && !nodeState(after.state).flags.has('DRAIN'));
    const outcome = isDone ? 'done' : 'unsure';
    this.#journal.write([
      { what: 'result', act, id, node, outcome, rc, said: said || undefined, after: after && standingOf(after) },
    ]);
    if (!isDone) this.#again.set(`${act} ${node}`, this.#world.monoMs() + AGAIN_MS);
    const line = `${command}: ${why}`;
    if (isDone) this.#log.warn(line);
    else
      this.#log.warn(
        `${line}; it may not have been done (${after?.state ?? 'Slurm does not answer'}${said && `; ${said}`})`,
      );
  }

  // ---- reporting ----

  #tell(entry: Entry): void {
    if (entry.what === 'let_go')
      this.#log.warn(
        `${entry.node} is no longer ours: ${entry.why} (${entry.after.state}${entry.after.reason ? `, ${entry.after.reason}` : ''}); the bridge leaves it alone`,
      );
    else if (entry.what === 'withdrawn') this.#log.warn(`${entry.node} is no longer drained: ${entry.why}`);
    else if (entry.what === 'result') this.#log.warn(`${entry.node}: ${entry.act} turns out to have been done`);
  }

  /** Logs why nodes are left alone, once for each reason. */
  #tellLeft(left: readonly { node: string; why: string }[]) {
    const next = new Map(left.map(({ node, why }) => [node, why] as const));
    const fresh = left.filter(({ node, why }) => this.#said.get(node) !== why);
    this.#said = next;
    const byWhy = new Map<string, string[]>();
    for (const { node, why } of fresh) byWhy.set(why, [...(byWhy.get(why) ?? []), node]);
    for (const [why, nodes] of byWhy) {
      const some = nodes.slice(0, 8).join(', ');
      this.#log.info(`left alone: ${some}${nodes.length > 8 ? ` and ${nodes.length - 8} more` : ''}: ${why}`);
    }
    return left;
  }
}
