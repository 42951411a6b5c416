// Who has to go when a server has no room for all of its clients: of the address with the most of them the one that
// gets on least. What counts is what a client has read, not what the kernel keeps for it.

import { BlockList, isIPv6, type Socket } from 'node:net';
import { type Network, plainName } from '../text/addresses.js';

/** A client that has asked nothing for so long is silent; one that waits for a place replaces one that reads nothing, ms. */
const FRESH_MS = 1000;
/** Who has kept us waiting for half of an answer of so long is slow, ms. */
const SLOW_MS = 200;
/** A stream has little to read, and may read nothing for so long before it counts as slow, ms. */
const FED_MS = 3000;
/** Less says little about how a client reads, bytes. Prometheus reads 3 MB of 10,000 nodes, because it takes gzip. */
const MUCH_BYTES = 1 << 20;
/** How often clients that wait for a place look, ms. */
const WAIT_MS = 50;
/** So many that have not asked yet may wait beside those that fill all places, until they ask. */
const MOST_BESIDE = 32;

/** The class of those that read. */
const READS = 3;

/** How many bytes the kernel keeps for a socket because its peer has not taken them yet. */
export type Unread = (socket: Socket) => number;

/** A client of a server. */
export class Guest {
  /** When it came, was answered, or has last read something, ms of performance.now(). */
  lastMoved = performance.now();
  /** Since when it is being answered; undefined: it has not asked. */
  busySince: number | undefined;
  /** Whether its answer is a stream, which never ends. */
  isFed = false;
  /** Whether it has read its last answer as fast as it was sent. */
  readWell = false;
  /** Whether we have disconnected it. */
  isDropped = false;
  /** Whether there is something that it could read. */
  isBehind = false;
  #read = 0;
  #readBefore = 0;
  /** For how long we have waited for it during its answer, ms; since when we wait now. */
  #waited = 0;
  #waitsSince: number | undefined;

  constructor(
    readonly socket: Socket,
    /** Those that share it share their places. */
    readonly from: string,
    readonly unread: Unread = () => 0,
  ) {}

  /** Its answer begins. */
  begin(): void {
    this.look();
    this.#readBefore = this.#read;
    this.busySince = this.lastMoved = performance.now();
    this.#waited = 0;
  }

  /** Its answer has ended. */
  end(): void {
    const now = performance.now();
    this.look();
    if (this.#read - this.#readBefore > MUCH_BYTES) this.readWell = !this.#keepsWaiting(now);
    this.busySince = undefined;
    this.isFed = false;
    this.lastMoved = now;
  }

  /** Looks at how far it has read. */
  look(): void {
    const { bytesWritten, writableLength } = this.socket;
    const kept = writableLength + this.unread(this.socket);
    const read = bytesWritten - kept;
    this.isBehind = kept > 0;
    // While there is nothing to read it does not keep us waiting.
    if (this.busySince !== undefined && (read > this.#read || !this.isBehind)) this.lastMoved = performance.now();
    this.#read = Math.max(this.#read, read);
  }

  /** Waits for it to take what was written for it. */
  async wait<T>(taken: Promise<T>): Promise<T> {
    const began = performance.now();
    this.#waitsSince = began;
    try {
      return await taken;
    } finally {
      this.#waitsSince = undefined;
      this.#waited += performance.now() - began;
    }
  }

  /** For how long it keeps us waiting now, ms; and has done so during its answer. */
  waiting(now: number): { now: number; inAll: number } {
    const waiting = this.#waitsSince === undefined ? 0 : now - this.#waitsSince;
    return { now: waiting, inAll: this.#waited + waiting };
  }

  /** The share of the time of its answer for which it has kept us waiting. */
  waits(now: number): number {
    return this.waiting(now).inAll / Math.max(1, now - (this.busySince ?? now));
  }

  /** How much of its answer it reads in a second, bytes. */
  rate(now: number): number {
    return ((this.#read - this.#readBefore) / Math.max(1, now - (this.busySince ?? now))) * 1000;
  }

  /** Whether it reads much more slowly than we could send. */
  isSlow(now: number): boolean {
    if (!this.isBehind || this.busySince === undefined) return false;
    if (this.isFed) return now - this.lastMoved > FED_MS;
    return this.#keepsWaiting(now);
  }

  #keepsWaiting(now: number): boolean {
    return now - (this.busySince ?? now) > SLOW_MS && this.waits(now) > 0.5;
  }

  /** Whether its connection may end cleanly now, because it has no part of an answer. */
  get mayEnd(): boolean {
    return this.busySince === undefined;
  }

  /**
   * How little would be lost with it, as a class and a number within it, the least first: silent ones, the longest
   * first; slow readers, the slowest first; those that have just come, and may be about to ask; all others, those that
   * keep us waiting first, streams last.
   */
  standing(now: number): readonly [number, number] {
    if (this.busySince === undefined) return [now - this.lastMoved > FRESH_MS ? 0 : 2, this.lastMoved];
    if (this.isSlow(now)) return [1, this.rate(now)];
    return [READS, this.isFed ? 1 : -this.waits(now)];
  }
}

/** How many there are from each address. */
export function countFrom(guests: Iterable<Guest>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { from } of guests) counts.set(from, (counts.get(from) ?? 0) + 1);
  return counts;
}

/** Of the address with the most of them the one that gets on least. */
function leastOfMost<G extends Guest>(guests: readonly G[], now: number): G {
  const counts = countFrom(guests);
  const most = Math.max(...counts.values());
  return guests
    .filter(({ from }) => counts.get(from) === most)
    .reduce((a, b) => {
      const [x, y] = [a.standing(now), b.standing(now)];
      return y[0] < x[0] || (y[0] === x[0] && y[1] < x[1]) ? b : a;
    });
}

/**
 * The one that has to go if there are more than `most`; undefined: none, or not yet. Only one that asks takes the place
 * of one that reads: until then it stays beside those that fill all places.
 */
export function loser<G extends Guest>(guests: Iterable<G>, most = 0): G | undefined {
  const all = [...guests];
  if (all.length <= most) return undefined;
  for (const guest of all) guest.look();
  const now = performance.now();
  const found = leastOfMost(all, now);
  if (found.standing(now)[0] < READS) return found;
  const asked = all.filter(guest => guest.busySince !== undefined);
  if (asked.length > most) return leastOfMost(asked, now);
  const silent = all.filter(guest => guest.busySince === undefined);
  return silent.length > MOST_BESIDE ? leastOfMost(silent, now) : undefined;
}

/** Places for clients whose answers keep or cost much until they are read; the others wait for one. */
export class Places<G extends Guest> {
  readonly #taken = new Set<G>();
  readonly #waiting = new Map<G, () => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly most: number,
    /** For how long an answer may take while others wait, ms. */
    readonly patience: number,
    /** Called with a client that has to go. It leaves its place then. */
    readonly drop: (guest: G) => void,
  ) {}

  isWaiting(guest: G): boolean {
    return this.#waiting.has(guest);
  }

  /** Waits for a place. Throws if the client is gone. */
  async enter(guest: G): Promise<void> {
    const gone = () => {
      this.#waiting.get(guest)?.();
      this.#waiting.delete(guest);
    };
    guest.socket.once('close', gone);
    await new Promise<void>(resolve => {
      this.#waiting.set(guest, resolve);
      this.#fill();
    });
    guest.socket.off('close', gone);
    if (!guest.socket.destroyed) return;
    this.leave(guest);
    throw new Error('the client is gone');
  }

  leave(guest: G): void {
    if (this.#taken.delete(guest)) this.#fill();
  }

  /** Gives free places to those that wait; for the first of the others a place is made, now or later. */
  #fill(): void {
    clearTimeout(this.#timer);
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (this.#taken.size >= this.most) {
        this.#timer = setTimeout(() => this.#fill(), WAIT_MS).unref();
        this.#makePlace(next);
        return;
      }
      const begin = this.#waiting.get(next);
      this.#waiting.delete(next);
      this.#taken.add(next);
      next.begin();
      begin?.();
    }
  }

  /** One of those whose address has the fewest places; first one that has read well before, then who came first. */
  #next(): G | undefined {
    const counts = countFrom(this.#taken);
    const rank = ({ from, readWell }: G) => (counts.get(from) ?? 0) * 2 - Number(readWell);
    const waiting = [...this.#waiting.keys()];
    return waiting.length === 0 ? undefined : waiting.reduce((a, b) => (rank(b) < rank(a) ? b : a));
  }

  /**
   * It replaces one of the address with the most places that reads nothing, or so slowly that its answer has taken
   * longer than the time limit; sooner if its own address has fewer places, or if it has read well before.
   */
  #makePlace({ from, readWell }: G): void {
    const now = performance.now();
    const counts = countFrom(this.#taken);
    const most = Math.max(...counts.values());
    const isUnfair = readWell || (counts.get(from) ?? 0) < most;
    const slow = [...this.#taken].filter(guest => {
      guest.look();
      const isLate = now - guest.lastMoved > FRESH_MS || now - (guest.busySince ?? now) > this.patience;
      return counts.get(guest.from) === most && ((guest.isBehind && isLate) || (isUnfair && guest.isSlow(now)));
    });
    if (slow.length > 0) this.drop(slow.reduce((a, b) => (b.rate(now) < a.rate(now) ? b : a)));
  }
}

/** The first 64 bits of an IPv6 address, which are one network; all of an IPv4 address. */
export function networkOf(address: string): string {
  const plain = plainName(address);
  if (!isIPv6(plain)) return plain;
  const [before = '', behind] = plain.split('::');
  const first = before === '' ? [] : before.split(':');
  const last = behind === undefined || behind === '' ? [] : behind.split(':');
  const zeros = behind === undefined ? [] : Array(8 - first.length - last.length).fill('0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}

/** Where clients come from; those of a proxy each count as one of their own. */
export function originOf(proxies: readonly Network[]): (socket: Socket) => string {
  const list = new BlockList();
  for (const { host, bits } of proxies) list.addSubnet(host, bits, isIPv6(host) ? 'ipv6' : 'ipv4');
  let number = 0;
  return ({ remoteAddress = '' }) => {
    const address = plainName(remoteAddress);
    const isProxy = proxies.length > 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
    return isProxy ? `proxy ${number++}` : networkOf(address);
  };
}
