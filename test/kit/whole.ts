// How much a test of `// @whole` takes. No test of its own.

/** Whether it takes all cases, as `npm run test:all` does; `npm test` takes some of them, enough for most mistakes. */
export const WHOLE = process.env.BEOBOARD_TEST_WHOLE !== undefined;

/** Which part it takes: the same one each time in `npm test`, another one each day in the rest. */
export const SEED = Number(process.env.SEED ?? 1);

/** Why `npm test` leaves out a test that is too large for it. */
export const NOT_WHOLE = !WHOLE && 'too large for npm test; npm run test:all runs it';

/** All of these cases, or one in so many of them: which, is by the seed. */
export const partOf = <T>(cases: readonly T[], oneIn: number, seed: number): readonly T[] =>
  WHOLE ? cases : cases.filter((_, i) => (i + seed) % oneIn === 0);

/** So many runs of a property, or a fifth of them. */
export const runsOf = (runs: number): number => (WHOLE ? runs : Math.ceil(runs / 5));
