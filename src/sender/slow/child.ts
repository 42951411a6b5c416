// The process in which slow sources are read, one after the other. It says before each which one it begins, so that its
// parent knows which one hangs. Keeps no time and decides nothing.

import { sources } from './index.js';
import type { Ask, Word } from './rounds.js';
import { machineWorld } from './world.js';

const world = machineWorld(JSON.parse(process.argv[2] ?? '{}'));
const say = (word: Word) => process.send?.(word, undefined, undefined, () => undefined);

process.on('message', ({ round, sources: names }: Ask) => {
  for (const source of sources) {
    if (!names.includes(source.name)) continue;
    say({ source: source.name, round });
    say({ source: source.name, round, reading: source.read(world) });
  }
});
// The parent is gone: so are we, once no source holds us.
process.once('disconnect', () => process.exit());
