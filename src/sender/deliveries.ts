// What one destination was told of the interval of this node, and whether it knows it by that. Sends nothing.

/**
 * A destination knows the next interval when so many reports have told it, over so long a time: receivers measure
 * silence in the last interval that they know, and a sender does not know their limits. Of twelve reports one arrives,
 * even at twice the loss at which anybody would still work. Losses also come in bursts that last seconds, whatever the
 * interval is.
 */
const ANNOUNCEMENTS = 12;
const ANNOUNCED_MS = 12_000;
/** For how long a destination that refuses reports holds up what the others are told. */
const AWAY_MS = 60_000;

/** All times are of one clock that never goes back, ms. */
export class Deliveries {
  /** Reports that were taken and said this interval, without another one between them; and since when. */
  #reports = 0;
  #intervalMs = 0;
  #sinceMs = 0;
  /** Since when it refuses reports. */
  #refusingMs: number | undefined;

  /** Notes whether a report that says this was taken; returns that. */
  note(taken: boolean, intervalMs: number, nowMs: number): boolean {
    this.#refusingMs = taken ? undefined : (this.#refusingMs ?? nowMs);
    if (!taken) return false;
    if (intervalMs !== this.#intervalMs) this.forget();
    this.#intervalMs = intervalMs;
    if (this.#reports === 0) this.#sinceMs = nowMs;
    this.#reports++;
    return true;
  }

  /** The last reports that were taken have told nobody anything. */
  takeBack(count: number): void {
    this.#reports = Math.max(0, this.#reports - count);
  }

  /** Another node reports now, of which nobody was told. */
  forget(): void {
    this.#reports = 0;
  }

  knows(intervalMs: number, nowMs: number): boolean {
    return this.#intervalMs === intervalMs && this.#reports >= ANNOUNCEMENTS && nowMs - this.#sinceMs >= ANNOUNCED_MS;
  }

  isAway(nowMs: number): boolean {
    return this.#refusingMs !== undefined && nowMs - this.#refusingMs >= AWAY_MS;
  }
}

/** Whether all know the interval; those that are away are not waited for, if there is another one. */
export function allKnow(deliveries: readonly Deliveries[], intervalMs: number, nowMs: number): boolean {
  const there = deliveries.filter(one => !one.isAway(nowMs));
  return there.length > 0 && there.every(one => one.knows(intervalMs, nowMs));
}
