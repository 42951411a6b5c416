// The sources of rejected datagrams: entries of the table of rejected senders, merged by address and reason. Pure.

/** The board's entries: one for each reason, address and claimed name. */
interface RejectedSender {
  readonly reason: number;
  readonly address: string;
  /** The claimed name; empty: no valid name. */
  readonly name: string;
  readonly count: number;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
}

/** What came from one address and was rejected for one reason, under any number of names. */
export interface RejectedSource extends Omit<RejectedSender, 'name'> {
  readonly names: readonly string[];
}

/** Merges entries; the sources are in the order of their first entries. */
export function bySource(entries: readonly RejectedSender[]): RejectedSource[] {
  const sources = new Map<string, RejectedSource & { names: string[] }>();
  for (const { name, ...entry } of entries) {
    const { reason, address, count, firstNs, lastNs } = entry;
    const identity = `${reason} ${address}`;
    const names = name === '' ? [] : [name];
    const known = sources.get(identity) ?? { ...entry, count: 0, names: [] };
    sources.set(identity, {
      reason,
      address,
      names: [...known.names, ...names],
      count: known.count + count,
      firstNs: firstNs < known.firstNs ? firstNs : known.firstNs,
      lastNs: lastNs > known.lastNs ? lastNs : known.lastNs,
    });
  }
  return [...sources.values()];
}
