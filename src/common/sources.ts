// From where datagrams were rejected: entries of the table of rejected senders, folded by address and reason. Pure.

/** As the board has them: an entry for each reason, address and claimed name. */
interface Entry {
  readonly reason: number;
  readonly address: string;
  /** As it claims; empty: it is none. */
  readonly name: string;
  readonly count: number;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
}

/** What came from one address and was refused for one reason, under however many names. */
export interface Source extends Omit<Entry, 'name'> {
  readonly names: readonly string[];
}

/** Folds entries, in the order of the first of each source. */
export function bySource(entries: readonly Entry[]): Source[] {
  const sources = new Map<string, Source & { names: string[] }>();
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
