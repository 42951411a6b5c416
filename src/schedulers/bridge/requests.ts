// What others leave for the bridge as files: the kill switch, the release of the brakes, and requests of the gate.

import { lstatSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../../text/failure.js';

/** The request to release the brakes. */
export const RELEASE = 'release';
/** The folder in which the gate leaves requests: files with the NodeNames for whose silence it has refused a job. */
export const REQUESTS = 'requests';
/** A request that is older is not taken, ms. */
const REQUEST_MS = 60_000;

/** Whether a file exists; if that cannot be determined, yes. */
export const isThere = (path: string): boolean =>
  attempt(() => statSync(path, { throwIfNoEntry: false }) !== undefined) ?? true;

/**
 * Removes a request; returns whether there was one. If it cannot be removed it does not count, because otherwise it
 * would come again with each tick.
 */
export function takeRequest(path: string): boolean {
  const isTaken = attempt(() => unlinkSync(path) === undefined);
  return isTaken === true;
}

/** The requests in that folder: whose file is not ours or root's, or is old, does not count. */
export function requestsIn(folder: string, nowMs: number): Set<string> {
  const found = new Set<string>();
  for (const name of attempt(() => readdirSync(folder)) ?? []) {
    const file = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (file === undefined) continue;
    const isOurs = file.isFile() && (file.uid === process.getuid?.() || file.uid === 0);
    if (isOurs && Math.abs(nowMs - file.mtimeMs) <= REQUEST_MS) found.add(name);
    else takeRequest(join(folder, name));
  }
  return found;
}
