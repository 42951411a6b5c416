// The links that are dark: all of them for the legend, and each node's for a line about it.

import { tryExpand } from '../../text/hostlists.js';
import type { Head } from '../wire.js';
import type { Behind } from './legend.js';

export class DarkLinks {
  #key = '[]';
  #linkOf: ReadonlyMap<string, string> = new Map();
  /** What is behind them; undefined: no node. */
  behind: Behind | undefined;

  /** Stores the links of a head; returns whether they, or their nodes, have changed. */
  take(links: Head['dark']): boolean {
    const key = JSON.stringify(links.map(({ name, nodes }) => [name, nodes]));
    if (key === this.#key) return false;
    this.#key = key;
    this.#linkOf = new Map(
      links.flatMap(({ name, nodes }) => (tryExpand(nodes, 'any') ?? []).map(node => [node, name] as const)),
    );
    const name = links.length === 1 ? (links[0]?.name ?? '') : `${links.length} links`;
    const nodes = links.map(link => link.nodes).join();
    this.behind = this.#linkOf.size > 0 ? { name, nodes, count: this.#linkOf.size } : undefined;
    return true;
  }

  /** The dark link of a node. */
  of(node: string): string | undefined {
    return this.#linkOf.get(node);
  }

  /** The nodes behind dark links. */
  names(): string[] {
    return [...this.#linkOf.keys()];
  }
}
