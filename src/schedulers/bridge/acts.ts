// One act of the bridge: looks once more, writes down what it is about to do, gives the order, and reads the result
// back. Acts on what is true at the moment of the act.

import type { Controller, OrderedNode } from '../../schedulerfile/scheduler.js';
import type { Log } from '../../service/log.js';
import type { BoardLook, SeenNode } from './boardlook.js';
import { answerOf, type BridgeContext, type Settings } from './context.js';
import type { BridgeJournal } from './journal.js';
import { carries, standingOf } from './ownership.js';
import type { BridgeRecord } from './records.js';
import { type BridgeOrder, incidentOf, type Left, objectionToDrain, returnOf, type Situation } from './rules.js';

/** An order without a visible effect is repeated after this time, ms. */
const AGAIN_MS = 60_000;

/** The evidence of an act that is kept. */
function evidenceOf(seen: SeenNode, { heartbeatAgeMs, links }: BoardLook) {
  const { state, unheardMs, silentForMs, reports, bootId, lost, lastRealMs, isProved, problems } = seen;
  return {
    ...{ state, unheard_ms: unheardMs, silent_for_ms: silentForMs, reports, boot_id: bootId, lost },
    ...{ last_report_ms: lastRealMs, proved: isProved, problems, link: links.get(seen.link)?.name },
    heartbeat_age_ms: heartbeatAgeMs === undefined ? undefined : Math.round(heartbeatAgeMs),
  };
}

/** A node as if the printed act had been done: our drain on one that nobody else has touched. */
export function rehearsed(node: OrderedNode, reason: string, { asHeld }: Pick<Controller, 'asHeld'>): OrderedNode {
  // Slurm itself sets a silent node DOWN after some time, with its own reason; it would have left ours.
  const isFree = !node.held && (node.reason === undefined || node.own_reason);
  return isFree ? asHeld(node, reason) : node;
}

/** What a tick knows and an act depends on. */
interface TickState {
  /** How often a board was opened until the look that was decided by. */
  opened(): number | undefined;
  /** Why nobody can be acted upon now; undefined: nothing hinders. */
  hindrance(): string | undefined;
  /** Whether one more drain of our own would be one too many. */
  isOneTooMany(situation: Situation): boolean;
}

interface TickTrouble {
  readonly trouble: string;
  readonly isSlurmSilent: boolean;
}

export class Acts {
  /** When an order may be repeated. */
  readonly #again = new Map<string, number>();

  /** `print` takes the lines of a dry run. */
  constructor(
    private readonly context: BridgeContext,
    private readonly settings: Settings,
    private readonly journal: BridgeJournal,
    private readonly log: Log,
    private readonly print: (line: string) => void,
    private readonly tick: TickState,
  ) {}

  /** Looks at both sides again, and gives the order. Returns a reason that ends this tick. */
  async act(order: BridgeOrder, situation: Situation, stop?: AbortSignal): Promise<TickTrouble | undefined> {
    const { slurm } = this.context;
    const { node, act } = order;
    if (this.context.monoMs() < (this.#again.get(`${act} ${node}`) ?? 0)) return undefined;
    const { found, silence } = await answerOf(async () => {
      const notPrimary = await slurm.notPrimary();
      return notPrimary === undefined ? { listed: await slurm.node(node) } : { notPrimary };
    });
    if (silence !== undefined) return { trouble: silence, isSlurmSilent: true };
    if (found?.notPrimary !== undefined) return { trouble: found.notPrimary, isSlurmSilent: false };
    const claim = situation.ledger.claims.get(node);
    const listed = found?.listed;
    const before = listed && this.settings.isRehearsal && claim ? rehearsed(listed, claim.reason, slurm) : listed;
    const hindrance = stop?.aborted ? 'it is ending' : this.tick.hindrance();
    if (hindrance !== undefined) return { trouble: hindrance, isSlurmSilent: false };
    const board = this.context.lookAtOne(order.board);
    const seen = board.nodes.get(order.board);
    const objection = this.#objection(order, situation, before, board);
    if (objection !== undefined || seen === undefined || before === undefined) {
      this.#leave(order, objection ?? { why: 'it is gone' }, before);
      return undefined;
    }
    if (act === 'drain' && this.tick.isOneTooMany(situation)) return undefined;
    // The situation without this order: once it is in the ledger, the rules would object to it because of itself.
    const asNow = { ...situation, ledger: situation.ledger.copy(this.context.nowMs()) };
    await this.give(order, before, evidenceOf(seen, board), node =>
      this.#objection(order, asNow, node, this.context.lookAtOne(order.board)),
    );
    return undefined;
  }

  /**
   * Writes to the journal what is about to be done, looks once more, does it, reads it back, and writes the result. The
   * disk may be slow: the last look comes after it, immediately before the order. `objection`: to the order, by that
   * look.
   */
  async give(
    order: BridgeOrder,
    before: OrderedNode,
    evidence: object,
    objection: (node: OrderedNode | undefined) => Left | undefined,
  ): Promise<void> {
    const { slurm } = this.context;
    const { act, node, id, board, incident, reason, why } = order;
    const command = slurm.lineOf(order);
    const intent: BridgeRecord = {
      ...{ what: 'intent', act, id, node, board, incident, boot_id: order.bootId, reason, why, command, evidence },
      before: standingOf(before),
    };
    if (this.settings.isRehearsal) {
      this.print(command);
      this.log.info(`would ${act} ${node}: ${why}`);
      this.journal.write([intent, { what: 'result', act, id, node, outcome: 'done' }]);
      return;
    }
    this.journal.write([intent]);
    const prepared = slurm.prepare();
    const last = await answerOf(() => slurm.readBack(node));
    const refusal = last.silence === undefined ? objection(last.found) : { why: last.silence };
    if (refusal !== undefined) {
      await prepared.drop();
      this.#leave(order, refusal, last.found, [{ what: 'withdrawn', act, id, node, why: refusal.why }]);
      return;
    }
    const { rc, said } = await prepared.order(order);
    const { found: after } = await answerOf(() => slurm.readBack(node));
    this.#given(order, rc, said, after);
  }

  /** Writes the result of an order. `after`: the node then; undefined: Slurm does not answer. */
  #given(order: BridgeOrder, rc: number | null, said: string, after: OrderedNode | undefined): void {
    const { act, node, id, why } = order;
    const outcome = this.#isDone(order, after) ? 'done' : 'unsure';
    this.journal.write([
      { what: 'result', act, id, node, outcome, rc, said: said || undefined, after: after && standingOf(after) },
    ]);
    const line = `${this.context.slurm.lineOf(order)}: ${why}`;
    if (outcome === 'done') {
      this.log.warn(line);
      return;
    }
    this.#again.set(`${act} ${node}`, this.context.monoMs() + AGAIN_MS);
    this.log.warn(
      `${line}; it may not have been done (${after?.state ?? 'Slurm does not answer'}${said && `; ${said}`})`,
    );
  }

  #isDone({ act, node }: BridgeOrder, after: OrderedNode | undefined): boolean {
    const claim = this.journal.ledger.claims.get(node);
    if (after === undefined || claim === undefined) return false;
    if (act === 'drain') return carries(after, claim);
    return after.base !== undefined && !after.held;
  }

  /** Why an order is not valid any more, by the present state; undefined: it is. */
  #objection(
    order: BridgeOrder,
    situation: Situation,
    node: OrderedNode | undefined,
    board: BoardLook,
  ): Left | undefined {
    const seen = board.nodes.get(order.board);
    if (node === undefined || seen === undefined) return { why: 'it is gone' };
    if (board.opened !== this.tick.opened()) return { why: 'the board was replaced by another' };
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
    { node, incident }: Pick<BridgeOrder, 'node' | 'incident'>,
    { why, isTheirs }: Left,
    now: OrderedNode | undefined,
    withdrawn: readonly BridgeRecord[] = [],
  ): void {
    const theirs: BridgeRecord[] = isTheirs && now ? [{ what: 'theirs', node, incident, after: standingOf(now) }] : [];
    this.journal.write([...withdrawn, ...theirs]);
    this.log.info(`${node} is left alone: ${why}`);
  }
}
