// What belongs to the bridge, from its journal alone: the drains that it gave, the silences on which it has acted once,
// when it gave nodes back, and the brakes that are on. Folds records, and compares the result with what Slurm says.
// Pure: no file, no clock.

import type { OrderedNode } from '../../schedulerfile/scheduler.js';
import type { BrakeState } from './massbrake.js';
import { NewestOrders } from './published.js';
import type { BridgeRecord, Claim, Incident, LedgerState, SlurmStanding, Timed } from './records.js';

const isProblem = (incident: Incident): boolean => incident.startsWith('unhealthy ');

const DAY_MS = 86_400_000;
/** A command that was running when its bridge was killed has ended by then: Slurm's own timeout is 10 s. */
const UNDER_WAY_MS = 15_000;

export class Ledger {
  readonly claims = new Map<string, Claim>();
  readonly brakes = new Map<string, BrakeState>();
  readonly orders = new NewestOrders();
  readonly #settled = new Map<string, { silent?: Incident; unhealthy?: Incident }>();
  readonly #returns = new Map<string, number[]>();
  readonly #lifted = new Map<string, string>();

  apply(entry: Timed): void {
    const { time_ms } = entry;
    this.orders.apply(entry);
    switch (entry.what) {
      case 'intent':
        if (entry.act === 'drain') {
          const { id, node, board, incident, reason } = entry;
          const claim = { id, node, board, incident, bootId: entry.boot_id, reason, sinceMs: time_ms };
          this.claims.set(node, { ...claim, phase: 'meant' });
          this.#settle(node, incident);
        } else this.#change(entry, { giving: { act: entry.act, sinceMs: time_ms } });
        break;
      case 'result':
        if (entry.act === 'drain') {
          if (entry.outcome === 'done') this.#change(entry, { phase: 'held' });
        } else if (entry.outcome === 'done' && this.claims.get(entry.node)?.id === entry.id) {
          this.#lift(entry.node);
          const recent = (this.#returns.get(entry.node) ?? []).filter(at => time_ms - at < DAY_MS);
          this.#returns.set(entry.node, [...recent, time_ms]);
        }
        break;
      case 'let_go':
        if (this.claims.get(entry.node)?.id === entry.id) this.#lift(entry.node);
        break;
      case 'withdrawn': {
        const claim = this.claims.get(entry.node);
        if (claim?.id !== entry.id) break;
        if (entry.act === 'drain') {
          this.claims.delete(entry.node);
          delete this.#settled.get(entry.node)?.[isProblem(claim.incident) ? 'unhealthy' : 'silent'];
        } else this.#change(entry, { giving: undefined });
        break;
      }
      case 'theirs':
        this.#settle(entry.node, entry.incident);
        break;
      case 'well':
        delete this.#settled.get(entry.node)?.unhealthy;
        break;
      case 'brake': {
        const { on, value, limit, accepted } = entry;
        this.brakes.set(entry.brake, { on, value, limit, accepted, sinceMs: time_ms });
        break;
      }
      case 'state':
        for (const claim of entry.state.claims) this.claims.set(claim.node, claim);
        for (const [node, incidents] of Object.entries(entry.state.settled)) this.#settled.set(node, { ...incidents });
        for (const [node, times] of Object.entries(entry.state.returns)) this.#returns.set(node, [...times]);
        for (const [brake, state] of Object.entries(entry.state.brakes)) this.brakes.set(brake, state);
        for (const [node, reason] of Object.entries(entry.state.lifted ?? {})) this.#lifted.set(node, reason);
        break;
    }
  }

  #change({ node, id }: { node: string; id: string }, change: Partial<Claim>): void {
    const claim = this.claims.get(node);
    if (claim?.id === id) this.claims.set(node, { ...claim, ...change });
  }

  #lift(node: string): void {
    const claim = this.claims.get(node);
    if (claim !== undefined) this.#lifted.set(node, claim.reason);
    this.claims.delete(node);
  }

  /**
   * The node without a reason of ours whose drain was lifted: from 23.11 on, without slurmdbd, Slurm keeps it, and no
   * order removes it. Nobody means anything by it.
   */
  withoutLifted(node: OrderedNode): OrderedNode {
    const isLeft = node.reason !== undefined && node.reason === this.#lifted.get(node.name);
    if (!isLeft || node.held) return node;
    return { ...node, reason: undefined, reason_by: undefined, reason_s: undefined };
  }

  #settle(node: string, incident: Incident): void {
    const before = this.#settled.get(node) ?? {};
    this.#settled.set(node, isProblem(incident) ? { ...before, unhealthy: incident } : { ...before, silent: incident });
  }

  /** Whether nothing more is to be done about that incident: we have acted once, or somebody else has decided. */
  isSettled(node: string, incident: Incident): boolean {
    const { silent, unhealthy } = this.#settled.get(node) ?? {};
    return incident === silent || incident === unhealthy;
  }

  hasSettledProblem(node: string): boolean {
    return this.#settled.get(node)?.unhealthy !== undefined;
  }

  /** How often it was given back within the last 24 hours. */
  returnsOf(node: string, nowMs: number): number {
    return (this.#returns.get(node) ?? []).filter(at => nowMs - at < DAY_MS && at <= nowMs).length;
  }

  /** The same in another ledger, which does not follow this one. */
  copy(nowMs: number): Ledger {
    const copy = new Ledger();
    copy.apply({ what: 'state', state: this.state(nowMs), time_ms: nowMs });
    return copy;
  }

  /** Everything, as the beginning of a new journal. What is older than a day and what is over is left out. */
  state(nowMs: number): LedgerState {
    const recent = [...this.#returns].map(([node, times]) => [node, times.filter(at => nowMs - at < DAY_MS)] as const);
    return {
      claims: [...this.claims.values()],
      settled: Object.fromEntries(this.#settled),
      returns: Object.fromEntries(recent.filter(([, times]) => times.length > 0)),
      brakes: Object.fromEntries([...this.brakes].filter(([, { on, accepted }]) => on || accepted > 0)),
      lifted: Object.fromEntries(this.#lifted),
      orders: this.orders.state(nowMs),
    };
  }
}

export function standingOf({ state, reason }: OrderedNode): SlurmStanding {
  return { state, reason };
}

/** Whether that node has the drain of that claim: the flag, and exactly the reason in the journal. */
export function carries(node: OrderedNode, claim: Claim): boolean {
  return node.held === true && node.reason === claim.reason;
}

/**
 * What has happened to our drains, according to Slurm's state of all nodes: records to be written. Nothing is concluded
 * about a node that Slurm does not list, or whose state is unknown, as for a moment after a start of slurmctld.
 * `hasForgotten`: whether slurmctld has lost its state, so that nobody has lifted what is gone.
 */
export function observe(
  ledger: Ledger,
  slurm: ReadonlyMap<string, OrderedNode>,
  nowMs: number,
  hasForgotten: (claim: Claim) => boolean = () => false,
): BridgeRecord[] {
  return [...ledger.claims.values()].flatMap((claim): BridgeRecord[] => {
    const { id, node, giving } = claim;
    const now = slurm.get(node);
    if (now === undefined) return [];
    const { base, held } = now;
    if (base === undefined || base === 'unknown') return [];
    const after = standingOf(now);
    if (carries(now, claim))
      return claim.phase === 'meant' ? [{ what: 'result', act: 'drain', id, node, outcome: 'done', after }] : [];
    // An act of ours whose end nobody saw.
    if (giving !== undefined && !held) return [{ what: 'result', act: giving.act, id, node, outcome: 'done', after }];
    if (!held && now.reason === undefined && hasForgotten(claim))
      return [{ what: 'withdrawn', act: 'drain', id, node, why: 'slurmctld has started without its state', after }];
    if (claim.phase === 'meant' && nowMs - claim.sinceMs < UNDER_WAY_MS && nowMs >= claim.sinceMs) return [];
    const why =
      claim.phase === 'meant'
        ? 'it was not carried out, or was undone at once'
        : held
          ? 'it has another reason now'
          : 'its drain was undone';
    return [{ what: 'let_go', id, node, why, after }];
  });
}

/** Whether an undrain or resume may still be running. */
export function isBeingGiven({ giving }: Claim, nowMs: number): boolean {
  return giving !== undefined && nowMs - giving.sinceMs < UNDER_WAY_MS && nowMs >= giving.sinceMs;
}
