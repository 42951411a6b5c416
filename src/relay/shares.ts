// Who may ask a relay for how much. Names that a server checks (the last word of a subject, which permissions give to
// one login) have shares of their own; those who only claim a name have one share together. Pure.

const SECOND_NS = 1_000_000_000n;
/** What one name may ask in a second: a mirror sends one ping, and seven requests for records. */
const EACH = 10;
/** The most questions in a second from all who use names that no server checks, together. */
const CLAIMED = 200;
/** More names than that are not told apart: their words would cost memory. */
const MOST_NAMES = 1000;

/** How often somebody has asked in this second. */
export class Shares {
  readonly #asked = new Map<string, number>();
  #claimed = 0;
  #sinceNs = 0n;

  /**
   * Whether somebody may ask once more.
   * @param checked the last word of its own subject; empty: it has none
   * @param claim otherwise a name that no server has checked; empty: none
   */
  take(now: bigint, checked: string, claim = ''): boolean {
    if (now - this.#sinceNs >= SECOND_NS) {
      this.#asked.clear();
      this.#claimed = 0;
      this.#sinceNs = now;
    }
    if (checked === '' && this.#claimed >= CLAIMED) return false;
    const who = checked === '' ? `?${claim}` : checked;
    const asked = this.#asked.get(who) ?? 0;
    if (who !== '?' && asked >= EACH) return false;
    if (asked === 0 && this.#asked.size >= MOST_NAMES) return false;
    if (checked === '') this.#claimed++;
    this.#asked.set(who, asked + 1);
    return true;
  }
}

/** Records that were asked for, by who asks: each gets as many at a time as the others. */
export class Queues {
  readonly #of = new Map<string, Set<number>>();

  constructor(
    /** How many one name may wait for: whoever asks again asks for the rest. */
    private readonly most: number,
  ) {}

  add(who: string, numbers: Iterable<number>): void {
    const queue = this.#of.get(who) ?? new Set();
    for (const number of numbers) if (queue.size < this.most) queue.add(number);
    if (queue.size > 0) this.#of.set(who, queue);
  }

  /** Takes at most so many, from each in turn. */
  take(most: number): Uint32Array {
    const taken = new Set<number>();
    while (this.#of.size > 0 && taken.size < most)
      for (const [who, queue] of this.#of) {
        if (taken.size >= most) break;
        // Who was served goes to the end of the line.
        this.#of.delete(who);
        const [number] = queue;
        if (number === undefined) continue;
        taken.add(number);
        queue.delete(number);
        if (queue.size > 0) this.#of.set(who, queue);
      }
    return Uint32Array.from(taken);
  }

  clear(): void {
    this.#of.clear();
  }
}
