// Who has to go when a server has no room for all of its clients: of the address with the most of them the one that
// gets on least. What counts is what a client has taken, not what the kernel keeps for it.

import { BlockList, isIPv6, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { takenFrom } from '../service/taken.js';
import { groupsOf, type Network, plainName } from '../text/addresses.js';

/** A client that has asked nothing for so long is silent; one that takes nothing for so long is slow, ms. */
const FRESH_MS = 1000;
/** Who has kept us waiting for half of an answer of so long is slow, ms. */
const SLOW_MS = 200;
/** A stream has little to take, and may take nothing for so long before it counts as slow, ms. */
const STREAM_MS = 3000;
/** Less says little about how a client reads, bytes. Prometheus reads 3 MB of 10,000 nodes, because it takes gzip. */
const MUCH_BYTES = 1 << 20;
/** So many large answers are made at once. */
const MOST_AT_WORK = 4;
/** The networks 127.0.0.0/8 and ::1. */
const LOOPBACK = /^(?:127\.|0:0:0:0::\/64$)/;
/** How often clients that wait for memory look, ms. */
const WAIT_MS = 50;
/** So many that have not asked yet may wait beside those that fill all places, until they ask. */
const MOST_BESIDE = 32;

/** The class of those that read. */
const READS = 3;

/** The connection of a client to a server. */
export class ClientConnection {
  /**
   * With whom it shares CPU time: its address, also if that is a proxy's. All of this machine's own are one, because each
   * of its users has all of them.
   */
  readonly origin: string;
  /** With whom it shares connections before all others of its address do: the same, but each client of a proxy alone. */
  readonly host: string;
  /** When it came, was answered, or has last taken something, ms of performance.now(). */
  lastMoved = performance.now();
  /** Since when it is being answered; undefined: it has not asked. */
  busySince: number | undefined;
  /** Since when it has its last answer, and is expected to close the connection. */
  leftAt: number | undefined;
  /** Its answer, if that is a stream, which never ends by itself. */
  stream: { end(): void } | undefined;
  /** Whether it has read its last answer as fast as it was sent. */
  readWell = false;
  isDropped = false;
  /** Whether there is something that it could take. */
  isBehind = false;
  #taken = 0;
  #takenBefore = 0;
  /** For how long we have waited for it during its answer, ms; since when we wait now. */
  #waited = 0;
  #waitsSince: number | undefined;

  constructor(
    readonly socket: Socket,
    /** The address that the client comes from: clients of one address share connections and memory. */
    readonly from: string,
    readonly taken: (socket: Socket) => number = takenFrom,
  ) {
    const network = networkOf(socket.remoteAddress ?? '');
    this.origin = LOOPBACK.test(network) ? 'loopback' : network;
    this.host = from === network ? this.origin : from;
  }

  begin(): void {
    this.look();
    this.#takenBefore = this.#taken;
    this.busySince = this.lastMoved = performance.now();
    this.#waited = 0;
  }

  end(): void {
    const now = performance.now();
    this.look();
    if (this.#taken - this.#takenBefore > MUCH_BYTES) this.readWell = !this.#keepsWaiting(now);
    this.busySince = this.stream = undefined;
    this.lastMoved = now;
  }

  get isGone(): boolean {
    return this.socket.destroyed;
  }

  /** Whether its connection may end cleanly now, because it has no part of an answer. */
  get mayEnd(): boolean {
    return this.busySince === undefined;
  }

  /** Cuts it off: by a reset if it has a part of an answer, which must not look like a whole one. */
  cut(): void {
    // The last answer may still be on its way, and will arrive.
    if (this.mayEnd) this.socket.destroy();
    else this.socket.resetAndDestroy();
  }

  look(): void {
    const taken = this.taken(this.socket);
    const wasBehind = this.isBehind;
    this.isBehind = this.socket.bytesWritten > taken;
    // While there is nothing to take it does not keep us waiting.
    const hasMoved = taken > this.#taken || !(wasBehind && this.isBehind);
    if (this.busySince !== undefined && hasMoved) this.lastMoved = performance.now();
    this.#taken = Math.max(this.#taken, taken);
  }

  /** Writes bytes; they may be overwritten when it returns. Throws if the client is gone. */
  async write(bytes: Uint8Array, to: Writable = this.socket): Promise<void> {
    const sent = new Promise<void>((resolve, reject) => {
      const gone = () => reject(new Error('the client is gone'));
      this.socket.once('close', gone);
      to.write(bytes, error => {
        this.socket.off('close', gone);
        if (error) reject(error);
        else resolve();
      });
    });
    await this.wait(sent);
  }

  async wait(sent: Promise<void>): Promise<void> {
    const began = performance.now();
    this.#waitsSince = began;
    try {
      await sent;
    } finally {
      this.#waitsSince = undefined;
      this.#waited += performance.now() - began;
    }
  }

  /** For how long it has taken nothing although there is something, ms. */
  stalledFor(now: number): number {
    return this.isBehind ? now - this.lastMoved : 0;
  }

  /** For how long it has kept us waiting during its answer, ms. */
  waited(now: number): number {
    return this.#waited + (this.#waitsSince === undefined ? 0 : now - this.#waitsSince);
  }

  /** For how long it is being answered, ms. */
  #busyFor(now: number): number {
    return now - (this.busySince ?? now);
  }

  /** How much of its answer it takes in a second, bytes. */
  rate(now: number): number {
    return ((this.#taken - this.#takenBefore) / Math.max(1, this.#busyFor(now))) * 1000;
  }

  /** Whether it takes nothing, and has done so for longer than its machine needs. */
  isStalled(now: number): boolean {
    return this.stalledFor(now) > (this.stream === undefined ? FRESH_MS : STREAM_MS);
  }

  /** Whether it reads much more slowly than we could send. */
  isSlow(now: number): boolean {
    if (!this.isBehind || this.busySince === undefined) return false;
    return this.isStalled(now) || (this.stream === undefined && this.#keepsWaiting(now));
  }

  #keepsWaiting(now: number): boolean {
    return this.#busyFor(now) > SLOW_MS && this.waited(now) > this.#busyFor(now) / 2;
  }

  /**
   * How little would be lost with it, as a class and a number within it, the least first: those that have their last
   * answer, and silent ones, the longest first; slow readers, the slowest first; those that have just come, and may be
   * about to ask; all others, those for which we wait now first, streams last.
   */
  standing(now: number): readonly [number, number] {
    if (this.leftAt !== undefined) return [0, this.leftAt];
    if (this.busySince === undefined) return [now - this.lastMoved > FRESH_MS ? 0 : 2, this.lastMoved];
    if (this.isSlow(now)) return [1, this.rate(now)];
    if (this.stream !== undefined) return [READS, 1];
    return [READS, (this.#waitsSince ?? now) - now];
  }
}

function countBy(clients: Iterable<ClientConnection>, what: 'from' | 'origin' | 'host'): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { [what]: where } of clients) counts.set(where, (counts.get(where) ?? 0) + 1);
  return counts;
}

/** Of the host with the most of them, and of its address with the most, the one that gets on least. */
function leastOfMost<C extends ClientConnection>(clients: readonly C[], now: number): C {
  const [ofHost, ofAddress] = [countBy(clients, 'host'), countBy(clients, 'from')];
  const share = ({ host, from }: C) => (ofHost.get(host) ?? 0) * clients.length + (ofAddress.get(from) ?? 0);
  const most = Math.max(...clients.map(share));
  return clients
    .filter(client => share(client) === most)
    .reduce((a, b) => {
      const [x, y] = [a.standing(now), b.standing(now)];
      return y[0] < x[0] || (y[0] === x[0] && y[1] < x[1]) ? b : a;
    });
}

/**
 * The one that has to go if there are more than `most`; undefined: none, or not yet. Only one that asks takes the place
 * of one that reads: until then it stays beside those that fill all places.
 */
export function victim<C extends ClientConnection>(clients: Iterable<C>, most = 0): C | undefined {
  const all = [...clients];
  if (all.length <= most) return undefined;
  for (const client of all) client.look();
  const now = performance.now();
  const found = leastOfMost(all, now);
  if (found.standing(now)[0] < READS) return found;
  const asked = all.filter(client => client.busySince !== undefined);
  if (asked.length > most) return leastOfMost(asked, now);
  const silent = all.filter(client => client.busySince === undefined);
  return silent.length > MOST_BESIDE ? leastOfMost(silent, now) : undefined;
}

/**
 * Memory for what is made and kept for clients: who needs much of it takes it before the work begins, and gives it back
 * when the answer has been read. The others wait for it.
 */
export class AnswerMemory<C extends ClientConnection> {
  readonly #taken = new Map<C, number>();
  readonly #waiting = new Map<C, { readonly bytes: number; readonly begin: () => void }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    /** For work that waits, bytes; as much again is for answers whose size is known only when they are made. */
    readonly most: number,
    /** For how long an answer may take while others wait, ms. */
    readonly patience: number,
    /** Called with a client that has to go. It gives back what it has then. */
    readonly drop: (client: C) => void,
  ) {}

  /** What is taken now, bytes. */
  get taken(): number {
    return [...this.#taken.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * Takes about so many bytes, as soon as there are so many; little is there at once. A long answer never is in memory as
   * a whole. Throws if the client is gone by then.
   */
  async take(client: C, about: number): Promise<void> {
    const bytes = Math.min(about, this.most / MOST_AT_WORK);
    if (bytes <= MUCH_BYTES || this.#taken.has(client)) return;
    const gone = () => {
      this.#waiting.get(client)?.begin();
      this.#waiting.delete(client);
    };
    client.socket.once('close', gone);
    await new Promise<void>(begin => {
      this.#waiting.set(client, { bytes, begin });
      this.#fill();
    });
    client.socket.off('close', gone);
    if (!client.isGone) return;
    this.give(client);
    throw new Error('the client is gone');
  }

  /** An answer of so many bytes is kept from now on: if all together are too many, the one that gets on least goes. */
  keep(client: C, bytes: number): void {
    if (client.isGone) return;
    this.#taken.set(client, bytes);
    const gone = this.taken > 2 * this.most ? victim(this.#taken.keys(), 1) : undefined;
    if (gone !== undefined) this.drop(gone);
    else this.#fill();
  }

  give(client: C): void {
    if (this.#taken.delete(client)) this.#fill();
  }

  /** Gives what is free to those that wait; for the first of the others room is made, now or later. */
  #fill(): void {
    clearTimeout(this.#timer);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const { bytes, begin } = this.#waiting.get(next) as { bytes: number; begin: () => void };
      if (this.taken + bytes > this.most) {
        this.#timer = setTimeout(() => this.#fill(), WAIT_MS).unref();
        this.#makeRoom(next);
        return;
      }
      this.#waiting.delete(next);
      this.#taken.set(next, bytes);
      next.begin();
      begin();
    }
  }

  /**
   * One of the origin that has the fewest of those that have taken some, and of its address that has the fewest; first one
   * that has read well before, then who came first.
   */
  #next(): C | undefined {
    const [ofOrigin, ofAddress] = [countBy(this.#taken.keys(), 'origin'), countBy(this.#taken.keys(), 'from')];
    const rank = ({ from, origin, readWell }: C) =>
      ((ofOrigin.get(origin) ?? 0) * MOST_AT_WORK + (ofAddress.get(from) ?? 0)) * 2 - Number(readWell);
    const waiting = [...this.#waiting.keys()];
    return waiting.length === 0 ? undefined : waiting.reduce((a, b) => (rank(b) < rank(a) ? b : a));
  }

  /**
   * It replaces one of the address with the most of them that reads nothing, or so slowly that its answer has taken
   * longer than the time limit; sooner if its own address has fewer, or if it has read well before.
   */
  #makeRoom({ from, readWell }: C): void {
    const now = performance.now();
    const counts = countBy(this.#taken.keys(), 'from');
    const most = Math.max(...counts.values());
    const isUnfair = readWell || (counts.get(from) ?? 0) < most;
    const slow = [...this.#taken.keys()].filter(client => {
      client.look();
      const isLate = client.isStalled(now) || now - (client.busySince ?? now) > this.patience;
      return counts.get(client.from) === most && ((client.isBehind && isLate) || (isUnfair && client.isSlow(now)));
    });
    if (slow.length > 0) this.drop(slow.reduce((a, b) => (b.rate(now) < a.rate(now) ? b : a)));
  }
}

/** The first 64 bits of an IPv6 address, which are one network; all of an IPv4 address. */
export function networkOf(address: string): string {
  const plain = plainName(address);
  if (!isIPv6(plain)) return plain;
  return `${groupsOf(plain).slice(0, 4).join(':')}::/64`;
}

/** Whether the other end of a connection has an address of these networks. */
export function isFrom(networks: readonly Network[]): (socket: Socket) => boolean {
  const list = new BlockList();
  for (const { host, bits } of networks) list.addSubnet(host, bits, isIPv6(host) ? 'ipv6' : 'ipv4');
  return ({ remoteAddress = '' }) => {
    const address = plainName(remoteAddress);
    return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
}

/** Where clients come from; those of a proxy each count as one of their own. */
export function originOf(proxies: readonly Network[]): (socket: Socket) => string {
  const isProxy = isFrom(proxies);
  let number = 0;
  return socket => (isProxy(socket) ? `proxy ${number++}` : networkOf(socket.remoteAddress ?? ''));
}
