// A child for test/24.slowside.test.ts: sources of whose hanging the test decides. A source `pipe` opens a FIFO, which
// hangs in the kernel until somebody writes to it; the others answer with a number that grows.

import { readFileSync } from 'node:fs';
import type { Ask, Word } from '../src/sender/slow/rounds.js';

const { fifo } = JSON.parse(process.argv[2] ?? '{}') as { fifo: string };
const say = (word: Word) => process.send?.(word, undefined, undefined, () => undefined);
let count = 0;

process.on('message', ({ round, sources }: Ask) => {
  for (const source of sources) {
    say({ source, round });
    if (source === 'pipe') readFileSync(fifo);
    if (source === 'crash') process.exit(3);
    count++;
    const reading: Word['reading'] =
      source === 'pipe'
        ? { fields: { energy_cpu_mj: 7_000 }, sets: ['energy_cpu'] }
        : source === 'fast'
          ? { fields: { fabric: { name: 'fabric', rx_bytes: count } }, sets: ['fabric'] }
          : { fields: { edac_ce: count }, sets: ['edac'], flags: ['held'] };
    say({ source, round, ...(reading === undefined ? {} : { reading }) });
  }
});
process.once('disconnect', () => process.exit());
