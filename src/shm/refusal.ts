// That a report of a node was rejected. Apart from the node, so that who tells of it does not load the addon.

/** A rejected report: the reason, its age, and the node's wall clock minus the master's in it. */
export interface Rejection {
  reason: string;
  ageMs: number;
  offsetUs: number;
}

/** A rejection younger than this describes the present. */
export const LATELY_MS = 60_000;
