// The nodes of a board that fulfil a condition: needs the whole board.

import type { BoardReader } from '../shm/reader.js';

/**
 * Of each record, 1 if the condition holds for its node. Throws NoBoard, and a UsageError of the verb for an invalid
 * condition.
 */
export async function fulfilling(reader: BoardReader, condition: string): Promise<Uint8Array> {
  const { filter } = await import('../query/conditions.js');
  const meets = filter(condition);
  return Uint8Array.from(reader.snapshot().nodes(), node => (meets(node) ? 1 : 0));
}
