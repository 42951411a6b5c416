// What the sentences need to know about all nodes of a board, gathered piece by piece: 63 bytes a node, and what
// is remembered of those in trouble, where a snapshot has 3,144. For programs that look again and again at boards of any size.

import { structs } from '../layout/layout.gen.js';
import { mayBeRefused, NUMBERED, type State } from '../shm/liveness.js';
import { type LastWords, Memory } from '../shm/memory.js';
import type { BoardReader } from '../shm/reader.js';
import type { Rejection } from '../shm/refusal.js';
import { type Node, type NodeHeat, type Overview, Snapshot } from '../shm/snapshot.js';
import { HOUR_MS } from './deafness.js';

/** No temperature: it was not measured. */
const NO_HEAT = -32768;

/** A board without the reports of its nodes. A node is read when it is asked for, and valid until the next is read. */
class Digest extends Snapshot {
  constructor(
    head: Snapshot,
    bytes: Uint8Array,
    count: number,
    readonly gathered: DigestBuilder,
  ) {
    const { links, senders } = head;
    const { nowNs } = head.evidence;
    super(
      head.path,
      bytes,
      { nowNs, realNs: head.realNs, nodes: count, stalled: head.stalled },
      { links: () => links, senders: () => senders, events: (next, most) => gathered.reader.events(next, most) },
    );
  }

  override get overview(): Overview {
    return this.gathered.overview;
  }

  override stateOf(index: number, known = false): State {
    const { states, known: before } = this.overview;
    return NUMBERED[(known ? before : states)[index] as number] as State;
  }

  override linkOf(index: number): number {
    return this.gathered.links[index] as number;
  }

  override agoOf(index: number, since: 'heard' | 'known'): number {
    return this.gathered[since][index] as number;
  }

  override silentWordsOf(index: number): LastWords | undefined {
    return this.gathered.words.get(index);
  }

  override troubleWithin(index: number): boolean {
    return this.gathered.memories.places.has(index);
  }

  protected override openOf(index: number): number {
    return this.overview.told[index] === 0 ? 0 : (this.memoryOf(index)?.recentBits ?? 0);
  }

  override memoryOf(index: number): Memory | undefined {
    return this.gathered.memories.get(index, this.nowMs);
  }

  override heatOf(index: number): NodeHeat | undefined {
    const dc = this.gathered.heats[index] as number;
    return dc === NO_HEAT ? undefined : { hardware: this.gathered.hardware[index] as number, dc };
  }

  override refusedSinceOf(index: number): Rejection | undefined {
    return this.gathered.refusals.get(index);
  }

  override names(): string[] {
    return [...this.gathered.names()];
  }

  override node(index: number): Node {
    return this.gathered.reader.snapshotOf(this.gathered.names()[index] as string).node(0);
  }
}

const MEMORY_BYTES = structs.memory.bytes;

/** Copies of the memories of some nodes. The room is kept for the next look. */
class CopiedMemories {
  /** Where they begin, by the number of the node. */
  readonly places = new Map<number, number>();
  #bytes = new Uint8Array();

  set(index: number, { view, at }: Memory): void {
    const place = this.places.size * MEMORY_BYTES;
    if (place + MEMORY_BYTES > this.#bytes.length) {
      const more = new Uint8Array(2 * this.#bytes.length + 64 * MEMORY_BYTES);
      more.set(this.#bytes);
      this.#bytes = more;
    }
    this.#bytes.set(new Uint8Array(view.buffer, view.byteOffset + at, MEMORY_BYTES), place);
    this.places.set(index, place);
  }

  get(index: number, nowMs: number): Memory | undefined {
    const place = this.places.get(index);
    return place === undefined ? undefined : new Memory(new DataView(this.#bytes.buffer), place, nowMs);
  }
}

/** What is gathered of each node; there is room for so many. */
export class DigestBuilder {
  links = new Uint8Array();
  /** See `agoOf` of Snapshot. */
  heard = new Float64Array();
  known = new Float64Array();
  hardware = new Uint32Array();
  heats = new Int16Array();
  readonly refusals = new Map<number, Rejection>();
  readonly words = new Map<number, LastWords>();
  /** What is remembered of nodes that were in trouble or booted within the last hour. */
  readonly memories = new CopiedMemories();
  #all: Overview | undefined;
  /** Restricted to the nodes that exist. No getter with a closure: many readers ask for it at each node. */
  overview!: Overview;
  /** The latest whole digest; undefined before the first piece. */
  digest: Snapshot | undefined;

  /** `reader` is used for single nodes only; `names`: those of all nodes, by their numbers. */
  constructor(
    readonly reader: BoardReader,
    readonly names: () => readonly string[],
  ) {}

  /** To be called before the first piece of a board of so many nodes. */
  begin(count: number): void {
    this.refusals.clear();
    this.words.clear();
    this.memories.places.clear();
    this.digest = undefined;
    const { length: room } = this.links;
    if (this.#all === undefined || count > room || count * 4 < room) this.#makeRoom(count + (count >> 4));
    const restricted = Object.entries(this.#all as Overview).map(([key, array]) => [key, array.subarray(0, count)]);
    this.overview = Object.fromEntries(restricted);
  }

  #makeRoom(room: number): void {
    this.links = new Uint8Array(room);
    this.heard = new Float64Array(room);
    this.known = new Float64Array(room);
    this.hardware = new Uint32Array(room);
    this.heats = new Int16Array(room);
    this.#all = {
      ages: new Float64Array(room),
      skews: new Float64Array(room),
      problems: new Uint32Array(room),
      kernels: new Uint32Array(room),
      unmeasured: new Uint32Array(room),
      unsettled: new Uint32Array(room),
      measured: new Uint32Array(room),
      intervals: new Uint32Array(room),
      lates: new Uint32Array(room),
      told: new Uint8Array(room),
      states: new Uint8Array(room),
      known: new Uint8Array(room),
    };
  }

  /** Takes a piece, whose nodes begin at number `first`; returns how many they are. */
  ask(piece: Snapshot, first: number): number {
    if (this.digest === undefined) {
      const { buffer, byteOffset } = piece.view;
      const bytes = new Uint8Array(buffer, byteOffset, piece.header.header_bytes).slice();
      this.digest = new Digest(piece, bytes, this.overview.states.length, this);
    }
    const all = this.#all as Overview;
    const nodes = Math.min(piece.count, this.digest.count - first);
    const { overview } = piece;
    for (const key of Object.keys(all) as (keyof Overview)[]) all[key].set(overview[key].subarray(0, nodes), first);
    const isRefusing = Object.keys(this.digest.refused).length > 0;
    for (let i = 0; i < nodes; i++) {
      this.links[first + i] = piece.linkOf(i);
      this.heard[first + i] = piece.agoOf(i, 'heard');
      this.known[first + i] = piece.agoOf(i, 'known');
      const heat = piece.heatOf(i);
      this.hardware[first + i] = heat?.hardware ?? 0;
      this.heats[first + i] = heat?.dc ?? NO_HEAT;
      const words = piece.silentWordsOf(i);
      if (words !== undefined) this.words.set(first + i, words);
      const isNews = piece.troubleWithin(i, HOUR_MS) || piece.bootedWithin(i, HOUR_MS);
      const memory = isNews ? piece.memoryOf(i) : undefined;
      if (memory !== undefined) this.memories.set(first + i, memory);
      // Somebody may ask why no newer report was heard.
      if (!isRefusing || !mayBeRefused(piece.stateOf(i))) continue;
      const refusal = piece.refusedSinceOf(i);
      if (refusal !== undefined) this.refusals.set(first + i, refusal);
    }
    return piece.count;
  }
}
