// Lists of nodes that cost whoever makes their names, or believes their brackets. No test of its own.

export const LISTS = {
  'a million names': ['n[1-1000000]'],
  'more than anybody counts': ['n[1-999999999999999]', `n${'[1-99999999]'.repeat(6)}`],
  'a thousand lists of a thousand': Array.from({ length: 1000 }, (_, i) => `n[1-${1000 + i}]`),
  'a thousand lists of a million': Array.from({ length: 1000 }, (_, i) => `n[1-${999_000 + i}]`),
  'nested brackets': ['['.repeat(100_000), `n${'[1-9'.repeat(20_000)}${']'.repeat(20_000)}`],
  'ranges that overlap': [`n[${'1-9,'.repeat(20_000)}60-69]`],
  'many entries': [Array.from({ length: 4000 }, (_, i) => `r${i}n[1-240]`).join()],
  'many short ranges': [`n[${Array.from({ length: 100_000 }, (_, i) => 2 * i).join()}]`],
} as const;

/** How many numbers become parts of names while that runs: each goes through `padStart`. */
export async function numbersMade(run: () => unknown): Promise<number> {
  let made = 0;
  const { padStart } = String.prototype;
  String.prototype.padStart = function (...args) {
    made++;
    return padStart.apply(this, args);
  };
  try {
    await run();
  } finally {
    String.prototype.padStart = padStart;
  }
  return made;
}
