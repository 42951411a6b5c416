// The health file and the hold file: what the node's own check or admin says of it. Refuses to judge that, or its age.

import { enums } from '../../layout/layout.gen.js';
import { others, readOthers } from './others.js';
import { about, Reading, type SlowSource } from './source.js';

/** One line: a word for the health, a blank, and who says it. */
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
      // A clock that was set back must not make it an absurd age.
      now.put('health', { ...value, health_age_s: Math.max(0, Math.floor(ageSeconds)) });
    now.flag('held', others(world, 'hold', now));
    return now.done();
  },
};
