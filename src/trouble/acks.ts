// Who has acknowledged which lines of the trouble list, for which nodes and until when: a file beside the board.

/** Somebody knows of a line, as far as it is about these nodes. Times are ISO 8601, UTC. */
export interface Ack {
  readonly key: string;
  /** The nodes that the line had then, as a host list; empty: it was about no node. */
  readonly nodes: string;
  readonly by: string;
  readonly at: string;
  readonly until: string;
  readonly reason?: string;
}
