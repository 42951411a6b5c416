// The hour of local time that happens twice, and how it is told apart. The page uses it, too.

/** How far local time is behind UTC, ms. */
type OffsetOf = (ms: number) => number;
const ofHere: OffsetOf = ms => new Date(ms).getTimezoneOffset() * 60_000;

/** The other moment with the same local time, in the hour that happens twice; undefined: there is none. */
export function twinOf(ms: number, offsetOf = ofHere): number | undefined {
  const near = [-3, 3].map(hours => ms + offsetOf(ms + hours * 3_600_000) - offsetOf(ms));
  return near.find(other => other !== ms && other - offsetOf(other) === ms - offsetOf(ms));
}

/** ` +02:00` in the hour that happens twice; else empty. */
export function offsetText(ms: number, offsetOf = ofHere): string {
  if (twinOf(ms, offsetOf) === undefined) return '';
  const east = -offsetOf(ms) / 60_000;
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  return ` ${east < 0 ? '-' : '+'}${two(Math.abs(east) / 60)}:${two(east % 60)}`;
}
