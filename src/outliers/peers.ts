// Which nodes of a job are compared with each other: those of the same hardware, as they were when the job began, so
// that a node that loses a GPU stays among its peers. Pure.

import { getOrInsert } from '../text/maps.js';

/** Fewer nodes have no middle: one of them would be as odd as another. */
export const FEWEST = 4;

/** The nodes of a job by their hardware: numbers within the job. */
export class Peers {
  readonly #hardware: Float64Array;
  readonly #gpus: Float64Array;
  #groups: readonly Int32Array[] | undefined;
  #unknown: number;

  constructor(readonly count: number) {
    this.#hardware = new Float64Array(count).fill(Number.NaN);
    this.#gpus = new Float64Array(count).fill(Number.NaN);
    this.#unknown = count;
  }

  take(node: number, from: Peers, as: number): void {
    this.learn(node, from.#hardware[as] as number, from.#gpus[as] as number);
  }

  /** What a node tells of its hardware; only the first time counts. NaN: nothing. GPUs that it does not tell are none. */
  learn(node: number, hardware: number, gpus: number): void {
    if (Number.isNaN(hardware) || !Number.isNaN(this.#hardware[node] as number)) return;
    this.#hardware[node] = hardware;
    this.#gpus[node] = Number.isNaN(gpus) ? 0 : gpus;
    this.#unknown--;
    this.#groups = undefined;
  }

  get isLearning(): boolean {
    return this.#unknown > 0;
  }

  hasGpus(node: number): boolean {
    return (this.#gpus[node] as number) > 0;
  }

  /** Nodes of the same hardware that are enough to be compared. */
  get groups(): readonly Int32Array[] {
    this.#groups ??= this.#grouped();
    return this.#groups;
  }

  #grouped(): Int32Array[] {
    const groups = new Map<string, number[]>();
    for (let node = 0; node < this.count; node++) {
      if (Number.isNaN(this.#hardware[node] as number)) continue;
      getOrInsert(groups, `${this.#hardware[node]} ${this.#gpus[node]}`, () => []).push(node);
    }
    return [...groups.values()].filter(({ length }) => length >= FEWEST).map(group => Int32Array.from(group));
  }
}
