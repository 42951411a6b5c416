// What is known of another machine's CLOCK_MONOTONIC by pings: bounds, and whether one of both stood still. Pure; why it suffices stands in
// proto/relay-v1.md, Time. All times in ns.

/** A ping that was answered: asked and answered by our clock, and the other's between the two. */
export interface Answered {
  readonly askedNs: bigint;
  readonly relayNs: bigint;
  readonly answeredNs: bigint;
}

/** The rates of two clocks differ by less than one in so many. */
const RATE = 1000n;
/** A ping counts for so long. */
export const PING_COUNTS_NS = 3_000_000_000n;
/** And not at all if its answer took longer. */
export const PING_MOST_NS = 500_000_000n;
/** What rounding and a moment's slewing may make. */
const SLACK_NS = 10_000_000n;

const drift = (span: bigint) => (span < 0n ? -span : span) / RATE;

/** Not before it, by our clock, was that time of the other's. */
export function lowerBound({ askedNs, relayNs }: Answered, timeNs: bigint): bigint {
  return askedNs - (relayNs - timeNs) - drift(relayNs - timeNs);
}

/** And not after. */
export function upperBound({ answeredNs, relayNs }: Answered, timeNs: bigint): bigint {
  return answeredNs - (relayNs - timeNs) + drift(relayNs - timeNs);
}

const errorOf = ({ askedNs, answeredNs }: Answered) => answeredNs - askedNs;

/** The pings of one relay's run. */
export class Pings {
  #answered: Answered[] = [];
  #heardNs: bigint | undefined;

  /** When the newest that was answered was asked; undefined: none. */
  get heardNs(): bigint | undefined {
    return this.#heardNs;
  }

  /**
   * Takes one more. False: its bounds have nothing in common with those of the last, so that one of both clocks stood still; then
   * only this one counts.
   */
  add(ping: Answered): boolean {
    const last = this.#answered.at(-1);
    const agrees =
      last === undefined ||
      (lowerBound(last, ping.relayNs) <= ping.answeredNs + SLACK_NS &&
        ping.askedNs <= upperBound(last, ping.relayNs) + SLACK_NS);
    if (!agrees) this.#answered = [];
    this.#answered.push(ping);
    // Asked, not answered: what says that it lives is no older than the question.
    this.#heardNs = ping.askedNs;
    return agrees;
  }

  /** The one whose bounds are closest, of those that count; undefined: none does, and the relay is not heard. */
  best(nowNs: bigint): Answered | undefined {
    // The last is kept in any case: it tells whether a clock stood still meanwhile.
    this.#answered = this.#answered.filter(
      (ping, i, { length }) => i === length - 1 || nowNs - ping.askedNs <= PING_COUNTS_NS,
    );
    let best: Answered | undefined;
    for (const ping of this.#answered)
      if (nowNs - ping.askedNs <= PING_COUNTS_NS && errorOf(ping) <= PING_MOST_NS)
        if (best === undefined || errorOf(ping) <= errorOf(best)) best = ping;
    return best;
  }

  /** Nothing that was answered before counts any more: a clock stood still. */
  forget(): void {
    this.#answered = [];
    this.#heardNs = undefined;
  }
}
