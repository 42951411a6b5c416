// A child process for test/sender/slowside.test.ts, with sources that hang when the test decides. The source `pipe` opens a
// FIFO, which hangs in the kernel until somebody writes to it; `once` has a reading once and never again; `late` ends
// its process when it is read for the second time; `sum` and `pipesum` add up members whose counts stand in a file, of
// `pipesum` at the FIFO's place; the others return a number that grows.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { MemberSum } from '../../src/sender/collect/membersum.js';
import { readArguments, serve } from '../../src/sender/slow/serve.js';
import type { SlowReading, SlowSource } from '../../src/sender/slow/source.js';

const { world, orders } = readArguments<{ fifo: string; sources: Pick<SlowSource, 'name' | 'periodMs'>[] }>();
const sums = {
  sum: new MemberSum(['n'], { room: 9, isTally: true }),
  pipesum: new MemberSum(['n'], { room: 9, isTally: true }),
};
let count = 0;
let late = 0;

/** The sum over `{member: count}` in a file; the text `end` ends the process. */
function addUp(sum: MemberSum<'n'>, path: string): number | undefined {
  const text = readFileSync(path, 'utf8');
  if (text === 'end') process.exit(3);
  const members = Object.entries(JSON.parse(text) as Record<string, number>);
  return Number(
    sum.add(
      members.map(([id, n]) => ({ id, counts: { n } })),
      0,
    )?.n,
  );
}

function read(name: string): SlowReading {
  if (name === 'sum') return { fields: { edac_ce: addUp(sums.sum, `${world.fifo}.sum`) }, sets: ['edac'] };
  if (name === 'pipesum') return { fields: { throttle_events: addUp(sums.pipesum, world.fifo) }, sets: ['throttle'] };
  if (name === 'pipe') readFileSync(world.fifo);
  if (name === 'crash') process.exit(3);
  if (name === 'late' && ++late === 2) process.exit(3);
  if (name === 'late' || (name === 'once' && existsSync(`${world.fifo}.said`))) return { fields: {}, sets: [] };
  if (name === 'once') writeFileSync(`${world.fifo}.said`, '');
  count++;
  if (name === 'pipe') return { fields: { energy_cpu_mj: 7_000 }, sets: ['energy_cpu'] };
  if (name === 'fast') return { fields: { fabric: { name: 'fabric', rx_bytes: count } }, sets: ['fabric'] };
  return { fields: { edac_ce: count }, sets: ['edac'], flags: ['held'], details: { mhz: [count] } };
}

const sources = world.sources.map(asked => ({
  ...asked,
  sets: [],
  kept: Object.entries(sums).flatMap(([name, { kept }]) => (name === asked.name ? [kept] : [])),
  read: () => read(asked.name),
}));
serve(sources, source => read(source.name), orders);
