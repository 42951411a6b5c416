// A reader of a board for as long as a test. No test of its own.

import { BoardReader } from '../../src/shm/reader.js';
import type { Teardown } from './places.js';

export function openReader(t: Teardown, ...board: ConstructorParameters<typeof BoardReader>): BoardReader {
  const reader = new BoardReader(...board);
  t.teardown(() => reader.close());
  return reader;
}
