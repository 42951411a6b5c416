// A reader that copies the whole board ten times a second, and looks at the state of every node.
//   node scan.mjs BOARD

import { BoardReader } from '../dist/src/shm/reader.js';

const reader = new BoardReader(process.argv[2]);
setInterval(() => {
  let live = 0;
  for (const { state } of reader.snapshot().nodes()) if (state === 'live') live++;
  process.send?.(live);
}, 100);
process.on('disconnect', () => process.exit());
