// CPU time, because other processes may use the processor in between. No test of its own.

/** The least CPU time of so many runs, ms. */
export function leastCpuMs(run: () => unknown, tries = 5): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < tries; i++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
