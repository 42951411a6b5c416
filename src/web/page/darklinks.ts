// The links that are dark: all of them for the legend, and each node's for a line about it.

import { tryExpand } from '../../text/hostlists.js';
import type { WallHead } from '../wire.js';
import type { Cells } from './cells.js';
import type { Listed } from './legend.js';
import type { Outline } from './mapview.js';

export class DarkLinks {
  #key = '[]';
  #linkOf: ReadonlyMap<string, string> = new Map();
  /** What is behind them; undefined: no node. */
  behind: Listed | undefined;

  /** Stores the links of a head; returns whether they, or their nodes, have changed. */
  take(links: WallHead['dark']): boolean {
    const key = JSON.stringify(links.map(({ name, nodes }) => [name, nodes]));
    if (key === this.#key) return false;
    this.#key = key;
    this.#linkOf = new Map(
      links.flatMap(({ name, nodes }) => (tryExpand(nodes, 'any') ?? []).map(node => [node, name] as const)),
    );
    const name = links.length === 1 ? (links[0]?.name ?? '') : `${links.length} links`;
    const nodes = links.map(link => link.nodes).join();
    this.behind =
      this.#linkOf.size > 0 ? { key: 'dark', text: `behind ${name}`, nodes, count: this.#linkOf.size } : undefined;
    return true;
  }

  of(node: string): string | undefined {
    return this.#linkOf.get(node);
  }

  /** Outlines around the nodes behind dark links, and around selected ones. */
  outlines(cells: Cells, chosen: Uint32Array | undefined): Outline[] {
    const behind = cells.cellsOf(this.#linkOf.keys());
    return [
      ...(behind.length > 0 ? [{ cells: cells.mask(behind), ink: 'text' } as const] : []),
      ...(chosen !== undefined ? [{ cells: cells.mask(chosen), ink: 'accent' } as const] : []),
    ];
  }
}
