// Reads the board: opens it, follows it when another one replaces it, and makes snapshots. Never writes, never waits.

import {
  type BoardMapping,
  type EventEntry,
  type LinkEntry,
  mapBoard,
  type SenderEntry,
  SNAPSHOT_HEAD,
} from '../native/index.js';
import { Failure } from '../text/failure.js';
import { NoBoard } from './noboard.js';
import { NodeStates } from './nodestates.js';
import { type Node, Snapshot, type Tables } from './snapshot.js';

export type { EventEntry } from '../native/index.js';

/** The words before a copy, and the copy. */
function takenFrom(bytes: Uint8Array) {
  const head = new DataView(bytes.buffer, bytes.byteOffset, SNAPSHOT_HEAD.bytes);
  const taken = {
    nowNs: head.getBigInt64(SNAPSHOT_HEAD.nowNs, true),
    realNs: head.getBigInt64(SNAPSHOT_HEAD.realNs, true),
    nodes: Number(head.getBigUint64(SNAPSHOT_HEAD.nodes, true)),
    stalled: head.getUint32(SNAPSHOT_HEAD.stalled, true) !== 0,
  };
  return { taken, rest: bytes.subarray(SNAPSHOT_HEAD.bytes) };
}

/** How often to try to open a board that is replaced meanwhile. */
const OPENINGS = 3;

/** Maps a board, whatever its state. Throws a Failure if no user has the owner's name. */
export function tryBoard(path: string, owner: number | string | undefined): ReturnType<typeof mapBoard> {
  try {
    return mapBoard(path, owner);
  } catch (error) {
    throw new Failure((error as Error).message, 2);
  }
}

/** A board to read from, by its path: it may be absent now, be replaced, and come back. */
export class BoardReader {
  #mapping: BoardMapping | undefined;
  #opened = 0;
  #buffer: Uint8Array | undefined;
  /** The buffer that the last mapping writes into, and that mapping. */
  #into: Uint8Array | undefined;
  #writing: BoardMapping | undefined;
  #small: Uint8Array | undefined;
  #statesBuffer: Uint8Array | undefined;
  /** Mappings that `pieces` still reads. */
  readonly #held = new Map<BoardMapping, number>();

  /** `owner`: a user to trust besides root, ourselves and the user `beoboard`, by name or id. */
  constructor(
    readonly path: string,
    readonly owner?: number | string,
  ) {}

  /** How often a board was opened so far: another number means another file, in which nodes may have other numbers. */
  get opened(): number {
    return this.#opened;
  }

  /**
   * A snapshot of the whole board. Throws NoBoard if none can be read. It replaces the last snapshot: both share a
   * buffer, so that another look costs no memory.
   */
  snapshot(): Snapshot {
    return this.#follow(mapping => this.#lookAtAll(mapping));
  }

  /** The names on the board and their states. Throws NoBoard. */
  nodeStates(): NodeStates {
    let nodeStates: NodeStates | undefined;
    this.#follow(mapping => {
      const bytes = mapping.columnBytes();
      if (this.#statesBuffer === undefined || this.#statesBuffer.length < bytes)
        this.#statesBuffer = this.#allocate(bytes);
      const into = this.#statesBuffer;
      this.#aim(mapping, into);
      if (!mapping.column()) return undefined;
      const { taken, rest } = takenFrom(into);
      const board = new Snapshot(this.path, rest, { ...taken, nodes: 0 }, this.#tablesOf(mapping));
      nodeStates = new NodeStates(board, rest, taken.nodes, mapping, () => this.#cut());
      return board;
    });
    return nodeStates as NodeStates;
  }

  /** The same for one node, at the cost of one node; without nodes if it has no record. */
  snapshotOf(name: string): Snapshot {
    return this.#follow(mapping => this.#lookAtOne(mapping, name));
  }

  /** The nodes of these names that have a record, each in a copy of its own, which stays. Throws NoBoard. */
  nodesNamed(names: Iterable<string>): Map<string, Node> {
    const found = new Map<string, Node>();
    for (const name of names) {
      this.#small = undefined;
      const [node] = [...this.snapshotOf(name).nodes()];
      if (node !== undefined) found.set(name, node);
    }
    return found;
  }

  /**
   * The whole board in snapshots of so many nodes each, which stay in the CPU's cache. Each piece is as fresh as the
   * moment when it is asked for, and is valid until the next piece of this walk; other walks may go on meanwhile, each
   * in its own buffer. All pieces are of one board: if another one replaces it meanwhile, the later pieces are retired.
   * Throws NoBoard.
   */
  *pieces(nodes = 256): Generator<Snapshot> {
    let into: Uint8Array | undefined;
    const look = (mapping: BoardMapping, from: number) => {
      const room = mapping.nodeBytes(nodes);
      if (into?.length !== room) into = new Uint8Array(room);
      return this.#look(mapping, into, from);
    };
    let first = 0;
    let piece = this.#follow(mapping => look(mapping, 0));
    const mapping = this.#mapping as BoardMapping;
    this.#held.set(mapping, (this.#held.get(mapping) ?? 0) + 1);
    try {
      yield piece;
      while (piece.count === nodes) {
        first += nodes;
        const next = look(mapping, first);
        if (next === undefined) throw this.#cut();
        piece = next;
        if (piece.count > 0) yield piece;
      }
    } finally {
      const holders = (this.#held.get(mapping) ?? 1) - 1;
      if (holders > 0) this.#held.set(mapping, holders);
      else this.#held.delete(mapping);
      if (mapping !== this.#mapping && holders === 0) mapping.unmap();
    }
  }

  /** The links of the board of the last look. Throws NoBoard. */
  links(): LinkEntry[] {
    return this.#ask(mapping => mapping.links());
  }

  /** The sources of rejected datagrams of that board. Throws NoBoard. */
  senders(): SenderEntry[] {
    return this.#ask(mapping => mapping.senders());
  }

  /** Events of that board from number `next` on, at most so many, and the number to continue with. Throws NoBoard. */
  events(next: number, most: number): { next: number; events: EventEntry[] } {
    return this.#ask(mapping => mapping.events(next, most));
  }

  /** The memories of trouble of that board that differ from `known`: see `BoardMapping.memories`. Throws NoBoard. */
  memories(known: Uint8Array, fresh: Uint8Array): Uint32Array | null {
    return this.#ask(mapping => mapping.memories(known, fresh));
  }

  #ask<T>(question: (mapping: BoardMapping) => T | undefined): T {
    this.#mapping ??= this.#open();
    return this.#whole(question(this.#mapping));
  }

  /** The answer of a mapping. Throws NoBoard if its file was cut short. */
  #whole<T>(answer: T | undefined): T {
    if (answer === undefined) throw this.#cut();
    return answer;
  }

  /** The tables of the board that a snapshot is of, which may have been replaced since. */
  #tablesOf(mapping: BoardMapping): Tables {
    return {
      links: () => this.#whole(mapping.links()),
      senders: () => this.#whole(mapping.senders()),
      events: (next, most) => this.#whole(mapping.events(next, most)),
    };
  }

  #follow(look: (mapping: BoardMapping) => Snapshot | undefined): Snapshot {
    this.#mapping ??= this.#open();
    let snapshot = look(this.#mapping);
    // A retired or stalled board may have a successor under the same path.
    if (snapshot === undefined || snapshot.retired || (snapshot.stalled && !this.#mapping.isAt(this.path))) {
      this.close();
      this.#mapping = this.#open();
      snapshot = look(this.#mapping);
    }
    if (snapshot === undefined) throw this.#cut();
    return snapshot;
  }

  #cut(): NoBoard {
    return new NoBoard('truncated', this.path, 'was cut while it was read; restart beoboard receive: it makes another');
  }

  #lookAtAll(mapping: BoardMapping): Snapshot | undefined {
    const bytes = mapping.snapshotBytes();
    if (this.#buffer === undefined || this.#buffer.length < bytes || this.#buffer.length > 4 * bytes)
      this.#buffer = this.#allocate(bytes);
    return this.#look(mapping, this.#buffer, 0);
  }

  #allocate(bytes: number): Uint8Array {
    try {
      return new Uint8Array(bytes);
    } catch {
      const need = `a copy of it needs ${Math.ceil(bytes / 2 ** 30)} GiB of memory`;
      throw new NoBoard('foreign', this.path, `${need}; give beoboard receive a lower --capacity`);
    }
  }

  #lookAtOne(mapping: BoardMapping, name: string): Snapshot | undefined {
    const record = mapping.find(name);
    const room = mapping.nodeBytes(1);
    if (this.#small === undefined || this.#small.length !== room) this.#small = new Uint8Array(room);
    // After the last node there is none.
    return this.#look(mapping, this.#small, record === -1 ? 2 ** 32 - 1 : record);
  }

  #look(mapping: BoardMapping, into: Uint8Array, first: number): Snapshot | undefined {
    this.#aim(mapping, into);
    if (!mapping.snapshot(first)) return undefined;
    const { taken, rest } = takenFrom(into);
    return new Snapshot(this.path, rest, taken, this.#tablesOf(mapping));
  }

  #aim(mapping: BoardMapping, into: Uint8Array): void {
    if (into !== this.#into || mapping !== this.#writing) mapping.into(into);
    this.#into = into;
    this.#writing = mapping;
  }

  #open(): BoardMapping {
    for (let attempt = 1; ; attempt++) {
      const opened = tryBoard(this.path, this.owner);
      if (opened.state === 'ready') {
        this.#opened++;
        return opened.board;
      }
      // A board is marked as retired after its successor stands at the path, so the board that we opened was replaced
      // meanwhile.
      if (opened.state !== 'retired' || attempt === OPENINGS) throw new NoBoard(opened.state, this.path, opened.why);
    }
  }

  close(): void {
    if (this.#mapping !== undefined && !this.#held.has(this.#mapping)) this.#mapping.unmap();
    this.#mapping = undefined;
    this.#writing = undefined;
  }
}

/** What is made of a board by a reader of its own, which is closed behind it. */
export async function withReader<T>(
  path: string,
  owner: number | string | undefined,
  look: (reader: BoardReader) => Promise<T>,
): Promise<T> {
  const reader = new BoardReader(path, owner);
  try {
    return await look(reader);
  } finally {
    reader.close();
  }
}
