// Which nodes the scheduler may have powered down, so that their silence means nothing: those that it calls so, those
// that it does not show, and for a while those that it has just powered up. For the gate's --skip: c/gate/skip.h has the format.

import type { SchedulerNode } from '../schedulerfile/scheduler.js';
import { BOARD_MOST, foldParts, isNodeName, NameRanges } from '../text/hostlists.js';

interface PowerLook {
  readonly nodes: readonly SchedulerNode[];
  /** Whether it powers nodes down; undefined: unknown. */
  readonly isUsed: boolean | undefined;
  /** How long a node that it powers up may be silent, ms. */
  readonly resumeMs: number;
  /** NodeNames of nodes that are on the board and that it does not show; undefined: nothing is known of the board. */
  readonly unseen: ReadonlySet<string> | undefined;
  readonly nowMs: number;
}

const ON = '# power saving: on';
const OFF = '# power saving: off';
const BEEN = '# has been in it: ';

/** The names of these lines, as many as a board can have; of one that is invalid, as of somebody else's file, none. */
function namesIn(lists: readonly string[]): string[] {
  let left = BOARD_MOST;
  return lists.flatMap(list => {
    const ranges = NameRanges.ofNodeNames(list);
    if (ranges === undefined || ranges.size > left) return [];
    left -= ranges.size;
    return [...ranges.made()].filter(isNodeName);
  });
}

/** Keeps what earlier looks have shown. */
export class PowerSaving {
  /** Until when each node that has ever been in power saving may be silent, ms of CLOCK_MONOTONIC. */
  readonly #until = new Map<string, number>();
  #isUsed: boolean | undefined;
  #nowMs = 0;

  /** `text`: the last file, of a reader that has ended: nobody has looked since, so its nodes may be powered up only now. */
  constructor(text = '') {
    const lines = text.split('\n');
    const been = lines.flatMap(line => (line.startsWith(BEEN) ? line.slice(BEEN.length) : []));
    for (const name of namesIn(been)) this.#until.set(name, 0);
    for (const name of namesIn(lines.map(line => line.replace(/#.*/, '').trim()))) this.#until.set(name, Infinity);
  }

  look({ nodes, isUsed, resumeMs, unseen, nowMs }: PowerLook): void {
    this.#nowMs = nowMs;
    this.#isUsed = isUsed;
    const shown = new Map(nodes.map(node => [node.name, node.asleep === true]));
    for (const [name, until] of this.#until) {
      // It is powered up, or gone for good.
      if (shown.get(name) === false && until === Infinity) this.#until.set(name, nowMs + resumeMs);
      else if (!shown.has(name) && unseen !== undefined && (isUsed === false || !unseen.has(name)))
        this.#until.delete(name);
    }
    for (const [name, saves] of shown) if (saves && isNodeName(name)) this.#until.set(name, Infinity);
    if (isUsed) for (const name of unseen ?? []) if (isNodeName(name)) this.#until.set(name, Infinity);
  }

  /** NodeNames of the nodes that may be silent now. */
  get names(): string[] {
    return [...this.#until].flatMap(([name, until]) => (until > this.#nowMs ? [name] : []));
  }

  /** The file: also what an old one still says, about nodes that have never been in power saving. */
  get text(): string {
    const been = foldParts(this.#until.keys());
    const about =
      this.#isUsed === undefined
        ? []
        : this.#isUsed || been.length > 0
          ? [ON, ...been.map(list => `${BEEN}${list}`)]
          : [OFF];
    return [...about, ...foldParts(this.names)].map(line => `${line}\n`).join('');
  }
}
