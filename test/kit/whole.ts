// How much a test of `// @whole` takes. No test of its own.

/** Whether it takes all cases, as `npm run test:all` does; `npm test` takes some of them, enough for most mistakes. */
export const WHOLE = process.env.BEOBOARD_TEST_WHOLE !== undefined;

/** Which part it takes: the same one each time in `npm test`, another one each day in the rest. */
export const SEED = Number(process.env.SEED ?? 1);

/** Whether it takes, too, what the rest takes by days; `npm run test:long -- everyday` does. */
const EVERY_DAY = process.env.BEOBOARD_TEST_EVERY_DAY !== undefined;

/** One in so many of these cases today, by the seed, and others tomorrow. */
export const todayOf = <T>(cases: readonly T[], oneIn: number): readonly T[] =>
  EVERY_DAY ? cases : cases.filter((_, i) => (i + SEED) % oneIn === 0);

/** Why `npm test` leaves out a test that is too large for it. */
export const NOT_WHOLE = !WHOLE && 'too large for npm test; npm run test:all runs it';

/** In `npm test` one in so many of these cases, by the seed; in the rest all, or one in `oneInRest` each day. */
export const partOf = <T>(cases: readonly T[], oneIn: number, seed: number, oneInRest = 1): readonly T[] =>
  WHOLE ? todayOf(cases, oneInRest) : cases.filter((_, i) => (i + seed) % oneIn === 0);

/** So many runs of a property, or a fifth of them. */
export const runsOf = (runs: number): number => (WHOLE ? runs : Math.ceil(runs / 5));
