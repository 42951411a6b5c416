// For how long trouble lasts, and how much of it there is now, in a few words. The page uses them, too.

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** Two figures or three: `45 s`, `16 min`, `47 h`, `12 d`. Cut off and not rounded. */
export function roughly(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= 2 * size) ?? ['s', 1000];
  return `${Math.floor(Math.max(0, ms) / size)} ${unit}`;
}

/** How many of a line's nodes show the problem now, if not all of them do. */
export function nowTexts({ count, now }: { readonly count: number; readonly now?: number | undefined }): string[] {
  if (now === undefined) return [];
  return [count === 1 ? 'not now' : `${now === 0 ? 'none' : now} of them now`];
}
