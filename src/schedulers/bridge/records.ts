// What the bridge's journal holds. Only types.

import type { HoldOrder } from '../../schedulerfile/scheduler.js';
import type { BrakeChange, BrakeState } from './massbrake.js';

/** Journals of older versions also have `resume`. */
type Act = HoldOrder['act'];

/** An incident of a node, so named that every look finds the same: `silent BOOT REPORTS`, `unhealthy BOOT PROBLEM`. */
export type Incident = string;

/** The part of Slurm's state of a node that is kept. */
export interface SlurmStanding {
  readonly state: string;
  readonly reason?: string | undefined;
}

/** A record about an order; `node` is a NodeName. */
type OrderRecord<What extends string, More> = Readonly<{ what: What; id: string; node: string } & More>;

interface Intent {
  readonly act: Act;
  readonly board: string;
  readonly incident: Incident;
  readonly boot_id: string;
  readonly reason: string;
  readonly why: string;
  readonly command: string;
  readonly evidence: object;
  readonly before: SlurmStanding;
}

/** As Slurm shows it. `unsure`: Slurm does not show it, and it may still come. */
interface Outcome {
  readonly act: Act;
  readonly outcome: 'done' | 'unsure';
  readonly rc?: number | null | undefined;
  readonly said?: string | undefined;
  readonly after?: SlurmStanding | undefined;
}

/** All records that the journal may hold. `node` is a NodeName; times are milliseconds since 1970. */
export type BridgeRecord =
  | { readonly what: 'start'; readonly pid: number; readonly version: string; readonly options: object }
  | { readonly what: 'end' }
  /** Written to disk before the act. */
  | OrderRecord<'intent', Intent>
  | OrderRecord<'result', Outcome>
  /** The drain is not ours any more, permanently. */
  | OrderRecord<'let_go', { why: string; after: SlurmStanding }>
  /**
   * An intent that was not carried out after a last look; or a drain that Slurm has forgotten with its whole state. The
   * incident is as open as before.
   */
  | OrderRecord<'withdrawn', { act: Act; why: string; after?: SlurmStanding | undefined }>
  /** Another administrator has decided about this node during this silence or problem, which is left to him. */
  | { readonly what: 'theirs'; readonly node: string; readonly incident: Incident; readonly after: SlurmStanding }
  /** The node is not unhealthy any more: the next time counts as another incident. */
  | { readonly what: 'well'; readonly node: string }
  | Readonly<{ what: 'brake' } & BrakeChange>
  | { readonly what: 'switch'; readonly off: boolean }
  /** All of the above in one record, when a journal is begun anew. */
  | { readonly what: 'state'; readonly state: LedgerState };

export type Timed = BridgeRecord & { readonly time_ms: number };

/** A drain that we have given, or are about to give. */
export interface Claim {
  readonly id: string;
  readonly node: string;
  readonly board: string;
  readonly incident: Incident;
  readonly bootId: string;
  readonly reason: string;
  /** `meant`: written before the act; Slurm has not shown it yet. */
  readonly phase: 'meant' | 'held';
  readonly sinceMs: number;
  /** Since when it is being given back. */
  readonly giving?: { readonly act: Act; readonly sinceMs: number } | undefined;
}

/** How many orders there have been, and since when the journal is kept. */
export interface OrdersState {
  readonly since_ms: number;
  readonly count: number;
}

export interface LedgerState {
  readonly claims: readonly Claim[];
  /** By node: incidents on which nothing more is done. */
  readonly settled: Readonly<Record<string, { readonly silent?: Incident; readonly unhealthy?: Incident }>>;
  /** By node: the times when it was given back. */
  readonly returns: Readonly<Record<string, readonly number[]>>;
  readonly brakes: Readonly<Record<string, BrakeState>>;
  /** By node: our reason of a drain that was lifted. Absent in journals of earlier versions. */
  readonly lifted?: Readonly<Record<string, string>>;
  /** Absent likewise. */
  readonly orders?: OrdersState;
}
