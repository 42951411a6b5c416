// The health file and the hold file: what the node's own check or administrator says about it. Judges neither the
// contents nor the age.

import { enums } from '../../layout/layout.gen.js';
import { others, readOthers } from './others.js';
import { about, Reading, type SlowSource } from './source.js';

/** One line: a word for the health, a blank, and the author. */
export function parseHealth(text: string): { health: number; health_src: number } | undefined {
  const [, health, source] = /^(ok|warning|bad) (admin|check)\n?$/.exec(text) ?? [];
  if (health === undefined || source === undefined) return undefined;
  return {
    health: (enums.health as readonly string[]).indexOf(health),
    health_src: (enums.health_src as readonly string[]).indexOf(source),
  };
}

export const health: SlowSource = {
  ...about('health'),
  read(world) {
    const now = new Reading();
    const { value, ageSeconds } = readOthers(world, 'health', now, parseHealth);
    if (value !== undefined && ageSeconds !== undefined)
      // If the clock was set back, the age must not become impossible.
      now.put('health', { ...value, health_age_s: Math.max(0, Math.floor(ageSeconds)) });
    now.flag('held', others(world, 'hold', now));
    return now.done();
  },
};
