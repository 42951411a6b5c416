// One node of a snapshot.

import {
  type Decoded,
  decode,
  decodeReport,
  getter,
  type Report,
  type ReportField,
  reportField,
} from '../layout/codec.js';
import { enums, structs } from '../layout/layout.gen.js';
import { sinceMs } from './header.js';
import { linkName } from './links.js';
import type { State } from './liveness.js';
import type { Memory } from './memory.js';
import { type Problem, problemsOf } from './problems.js';
import { type Rates, rates } from './rates.js';
import type { Snapshot } from './snapshot.js';

/** A rejected report: the reason, its age, and the node's wall clock minus the master's in it. */
export interface Refusal {
  reason: string;
  ageMs: number;
  offsetUs: number;
}

/** A rejection younger than this describes the present. */
export const LATELY_MS = 60_000;

/** That two machines report as one node: from where, since when, and when that was last seen. */
export interface Clone {
  /** Both addresses, or the one that they share. */
  addresses: readonly string[];
  sinceMs: number;
  lastMs: number;
  /** Whether their reports are signed: then nobody without a key makes them. */
  isProved: boolean;
}

/** 16 bytes as an address: IPv4 if they hold one, else IPv6; empty if all are zero. */
export function formatBytes(bytes: readonly number[]): string {
  const first = bytes.findIndex(byte => byte !== 0);
  if (first === -1) return '';
  if (first === 10 && bytes[10] === 255 && bytes[11] === 255)
    return `${bytes[12]}.${bytes[13]}.${bytes[14]}.${bytes[15]}`;
  const groups = Array.from({ length: 8 }, (_, i) =>
    (((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0)).toString(16),
  );
  // The URL parser knows the short form (RFC 5952); the brackets are removed again.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

const nameOf = getter('record', 'name');
const addressOf = getter('record', 'address');
const addressBeforeOf = getter('record', 'address_before');
const addressSinceOf = getter('record', 'address_ns');
const refusalReasonOf = getter('record', 'refusal_reason');
const refusalOf = getter('record', 'refusal_ns');
const refusalOffsetOf = getter('record', 'refusal_offset_us');
const stampOf = getter('slot', 'stamp_ns');
const stampRealOf = getter('slot', 'stamp_real_ns');

/** In words of 32 bits, from the beginning of a slot. */
const STAMP = structs.slot.fields.stamp_ns.offset / 4;

/** One node of a snapshot. Whatever takes time is decoded when it is asked for. */
export class Node {
  /** The newest whole slot, and its offset; -1 and undefined if there is none. */
  readonly #slot: number;
  readonly #newest: number | undefined;

  constructor(
    readonly snapshot: Snapshot,
    readonly view: DataView,
    readonly index: number,
    readonly offset: number,
  ) {
    this.#slot = snapshot.newestSlot(offset / 4);
    this.#newest = this.#slot < 0 ? undefined : this.#slot * 4;
  }

  /** The offset of the newest report; undefined if there is none. */
  get reportAt(): number | undefined {
    return this.#newest === undefined ? undefined : this.#newest + this.snapshot.reportOffset;
  }

  /** The offset of the report before it. */
  get previousAt(): number | undefined {
    const slot = this.#slot < 0 ? -1 : this.snapshot.newestSlot(this.offset / 4, this.#slot);
    return slot < 0 ? undefined : slot * 4 + this.snapshot.reportOffset;
  }

  get name(): string {
    return nameOf(this.view, this.offset);
  }

  /** Counters, order state, last rejection: all of the record except its reports. */
  get record(): Decoded<'record'> {
    return decode('record', this.view, this.offset);
  }

  /** Why and when a report of this node was last rejected, and how far its clock was off. */
  get lastRefusal(): Refusal | undefined {
    const reason = enums.reason[refusalReasonOf(this.view, this.offset) ?? 0] ?? 'none';
    if (reason === 'none') return undefined;
    const ageMs = sinceMs(this.snapshot, refusalOf(this.view, this.offset));
    return { reason, ageMs, offsetUs: refusalOffsetOf(this.view, this.offset) ?? 0 };
  }

  /**
   * The same if that report came after the newest accepted one. No sign of life: it may be a recording.
   */
  get refusedSince(): Refusal | undefined {
    const refusal = this.lastRefusal;
    // A late report says nothing: a newer one of its run had been accepted before.
    if (refusal === undefined || refusal.reason === 'late') return undefined;
    return refusalOf(this.view, this.offset) <= (this.stampNs ?? -1n) ? undefined : refusal;
  }

  /** The address from which the last report came, IPv4 or IPv6; empty if there is none. */
  get address(): string {
    return formatBytes(addressOf(this.view, this.offset));
  }

  /**
   * The address from which reports came before, and for how long they have come from `address`, ms; undefined: from no
   * other.
   */
  get addressBefore(): { address: string; sinceMs: number } | undefined {
    const address = formatBytes(addressBeforeOf(this.view, this.offset));
    if (address === '') return undefined;
    return { address, sinceMs: sinceMs(this.snapshot, addressSinceOf(this.view, this.offset)) };
  }

  /** Whether two machines report as this node; undefined: no. */
  get clone(): Clone | undefined {
    return this.snapshot.cloneOf(this.index);
  }

  /** What is remembered of it; undefined: nothing. */
  get memory(): Memory | undefined {
    return this.snapshot.memoryOf(this.index);
  }

  /** Its problems, the worst first; empty if it is neither live nor uncertain. */
  get problems(): Problem[] {
    return problemsOf(this.snapshot.overview.problems[this.index] ?? 0);
  }

  /** The CLOCK_MONOTONIC stamp of the newest report, ns. */
  get stampNs(): bigint | undefined {
    return this.#newest === undefined ? undefined : stampOf(this.view, this.#newest);
  }

  /** The number of the link by which the newest report came; 0: unknown. */
  get link(): number {
    return this.snapshot.linkOf(this.index);
  }

  /** The name of that link for people; undefined: unknown, or it has no entry. */
  get linkName(): string | undefined {
    const number = this.link;
    const link = this.snapshot.links.find(other => other.number === number);
    return link && linkName(link);
  }

  /** The CLOCK_REALTIME stamp of the newest report, ns. */
  get lastRealNs(): bigint | undefined {
    return this.#newest === undefined ? undefined : stampRealOf(this.view, this.#newest);
  }

  get state(): State {
    return this.snapshot.stateOf(this.index);
  }

  /** The state at the receiver's last heartbeat. */
  get knownState(): State {
    return this.snapshot.stateOf(this.index, true);
  }

  /** Age of the newest report in ms. */
  get ageMs(): number | undefined {
    return this.#slot < 0 ? undefined : Math.max(0, this.snapshot.sinceStamp(this.#slot + STAMP)) / 1e6;
  }

  /** One field of the newest report; undefined when it was not measured. */
  field(name: ReportField): unknown {
    const slot = this.#newest;
    return slot === undefined ? undefined : reportField(name)(this.view, slot + this.snapshot.reportOffset);
  }

  get report(): Report | undefined {
    return this.#decode(this.reportAt);
  }

  get previous(): Report | undefined {
    return this.#decode(this.previousAt);
  }

  get rates(): Rates | undefined {
    return rates(this.view, this.previousAt, this.reportAt);
  }

  #decode(at: number | undefined): Report | undefined {
    return at === undefined ? undefined : decodeReport(this.view, at);
  }
}
