// Bounds for another machine's CLOCK_MONOTONIC from pings, and whether one of the two clocks stood still. Pure;
// proto/relay-v1.md, Time, has the proof. All times in ns.

/** An answered ping: the times of request and answer by our clock, and the other clock's time between them. */
interface Answered {
  readonly askedNs: bigint;
  readonly relayNs: bigint;
  readonly answeredNs: bigint;
}

/** The rates of two clocks differ by less than one part in so many. */
const RATE = 1000n;
/** For how long a ping counts. */
export const PING_COUNTS_NS = 3_000_000_000n;
/** A ping whose answer took longer does not count at all. */
export const PING_MOST_NS = 500_000_000n;
/** The allowance for rounding and for slewing within a moment. */
const SLACK_NS = 10_000_000n;

const drift = (span: bigint) => (span < 0n ? -span : span) / RATE;

/** The other clock's time was not before this time of ours. */
export function lowerBound({ askedNs, relayNs }: Answered, timeNs: bigint): bigint {
  return askedNs - (relayNs - timeNs) - drift(relayNs - timeNs);
}

/** The other clock's time was not after this time of ours. */
export function upperBound({ answeredNs, relayNs }: Answered, timeNs: bigint): bigint {
  return answeredNs - (relayNs - timeNs) + drift(relayNs - timeNs);
}

const errorOf = ({ askedNs, answeredNs }: Answered) => answeredNs - askedNs;

/** The pings of one relay's run. */
export class Pings {
  #answered: Answered[] = [];

  /** Adds a ping. False if its bounds contradict those of the last one: a clock stood still; only this one counts. */
  add(ping: Answered): boolean {
    const last = this.#answered.at(-1);
    const agrees =
      last === undefined ||
      (lowerBound(last, ping.relayNs) <= ping.answeredNs + SLACK_NS &&
        ping.askedNs <= upperBound(last, ping.relayNs) + SLACK_NS);
    if (!agrees) this.#answered = [];
    this.#answered.push(ping);
    return agrees;
  }

  /** The ping with the closest bounds among those that count; undefined: there is none, and the relay is not heard. */
  best(nowNs: bigint): Answered | undefined {
    // The last one is kept in any case: it shows whether a clock stood still meanwhile.
    this.#answered = this.#answered.filter(
      (ping, i, { length }) => i === length - 1 || nowNs - ping.askedNs <= PING_COUNTS_NS,
    );
    let best: Answered | undefined;
    for (const ping of this.#answered)
      if (nowNs - ping.askedNs <= PING_COUNTS_NS && errorOf(ping) <= PING_MOST_NS)
        if (best === undefined || errorOf(ping) <= errorOf(best)) best = ping;
    return best;
  }

  /** A clock stood still: earlier pings do not count any more. */
  forget(): void {
    this.#answered = [];
  }
}
