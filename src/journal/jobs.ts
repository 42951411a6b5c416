// The jobs on nodes that fall silent, by the file that the reader of a scheduler leaves.

import { Pairing } from '../schedulers/schedulerview.js';
import { StateFollower, stateTrouble } from '../schedulers/statefile.js';
import { fold } from '../text/hostlists.js';
import type { Job } from './format.js';

export class Jobs {
  readonly #follower: StateFollower;
  #pairing: Pairing | undefined;

  /** @param folder of the reader of a scheduler */
  constructor(folder: string) {
    this.#follower = new StateFollower(folder, () => undefined);
  }

  /** Reads the file again if there is a newer one, in the background. */
  look(): void {
    void this.#follower.found;
  }

  /** The jobs on these nodes of the board; none if nobody knows them now. `names`: all of the board. */
  on(nodes: readonly string[], names: readonly string[]): Job[] {
    const { found } = this.#follower;
    if (!('state' in found) || found.state === undefined || stateTrouble(found.state) !== undefined) return [];
    if (this.#pairing?.found !== found || this.#pairing.names !== names) this.#pairing = new Pairing(found, names);
    const { matched, jobs } = this.#pairing;
    const on = new Map<string, { job: Omit<Job, 'nodes'>; nodes: string[] }>();
    for (const node of nodes)
      for (const { id, user, partition, name } of jobs.get(matched.nodeName.get(node) ?? '') ?? []) {
        const one = on.get(id);
        if (one === undefined) on.set(id, { job: { id, user, partition, name }, nodes: [node] });
        else one.nodes.push(node);
      }
    return [...on.values()].map(({ job, nodes }) => ({ ...job, nodes: fold(nodes) }));
  }
}
