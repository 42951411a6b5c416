// A child process for test/sender/slowside.test.ts, with sources that hang when the test decides. The source `pipe` opens a
// FIFO, which hangs in the kernel until somebody writes to it; `once` has a reading once and never again; `late` ends
// its process when it is read for the second time; the others return a number that grows.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { readArguments, serve } from '../../src/sender/slow/serve.js';
import type { SlowReading, SlowSource } from '../../src/sender/slow/source.js';

const { world, orders } = readArguments<{ fifo: string; sources: Pick<SlowSource, 'name' | 'periodMs'>[] }>();
let count = 0;
let late = 0;

function read(name: string): SlowReading {
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

const sources = world.sources.map(asked => ({ ...asked, sets: [], read: () => read(asked.name) }));
serve(sources, source => read(source.name), orders);
