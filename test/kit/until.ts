// Waits for what another process does. No test of its own.

/**
 * Waits until something that another process does is true: checks it every so many ms, and gives up only after five
 * minutes, because machines can be busy.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  everyMs = 10,
): Promise<T> {
  const end = performance.now() + 300_000;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`waited five minutes in vain until ${what}`);
    await new Promise(resolve => setTimeout(resolve, everyMs));
  }
}
