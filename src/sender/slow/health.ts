// The health file and the hold file: what the node's own check or administrator says about it. Judges neither the
// contents nor, unless it is told to, the age.

import type { FieldsOf } from '../../layout/codec.js';
import { enums } from '../../layout/layout.gen.js';
import { hasExternalFile, lookAtExternalFile, refuse } from './externalfile.js';
import { keeping, type SlowSource } from './source.js';

/** For so long the file may be half written: few who write it know how to replace a file atomically. */
const HALF_WRITTEN_S = 5;

type HealthWord = Pick<FieldsOf<'health'>, 'health' | 'health_src'>;

function wordOf(health: (typeof enums.health)[number], source: (typeof enums.health_src)[number]): HealthWord {
  return { health: enums.health.indexOf(health), health_src: enums.health_src.indexOf(source) };
}

const OK = enums.health.indexOf('ok');
const WARNING = wordOf('warning', 'check');

/** One line: a word for the health, then perhaps its author, then perhaps a reason. */
export function parseHealth(text: string): HealthWord | undefined {
  const [, health, author] = /^(ok|warning|bad)(?:[ \t]+([^ \t\n]*)[^\n]*)?\n?$/.exec(text) ?? [];
  if (health === undefined) return undefined;
  return wordOf(health as 'ok' | 'warning' | 'bad', author === 'admin' ? 'admin' : 'check');
}

/** What was said last, how old it was then, and when that was. */
interface SaidHealth {
  word: HealthWord | undefined;
  ageSeconds: number;
  bootNs: bigint;
  /** For how long the file had been unintelligible; undefined: it is not. */
  brokenSeconds: number | undefined;
}

const NOTHING: SaidHealth = { word: undefined, ageSeconds: 0, bootNs: 0n, brokenSeconds: undefined };

/** A file that cannot be understood: the last word holds for a while, and if there is none, while the file is new. */
function sayOfBroken(last: SaidHealth, ageSeconds: number, bootNs: bigint): SaidHealth {
  const passed = Number(bootNs - last.bootNs) / 1e9;
  const first = last.word !== undefined ? 0 : Math.max(0, ageSeconds);
  const brokenSeconds = last.brokenSeconds === undefined ? first : last.brokenSeconds + passed;
  return brokenSeconds >= HALF_WRITTEN_S
    ? { word: WARNING, ageSeconds, bootNs, brokenSeconds }
    : { word: last.word, ageSeconds: last.ageSeconds + passed, bootNs, brokenSeconds };
}

export function makeHealth(): SlowSource {
  const kept = { last: NOTHING };
  return keeping('health', [kept], (now, world) => {
    const bootNs = world.bootNs();
    const path = `${world.run}/health`;
    const found = lookAtExternalFile(world, 'health', parseHealth);
    const { state, ageSeconds = 0 } = found;
    if (state === 'broken') {
      kept.last = sayOfBroken(kept.last, ageSeconds, bootNs);
      if ((kept.last.brokenSeconds ?? 0) >= HALF_WRITTEN_S) now.complain(`${path} counts as a warning: ${found.why}`);
    } else kept.last = NOTHING;
    if (state === 'bad') refuse(path, now, found.why);
    if (state === 'good') {
      const isOld =
        found.value.health === OK && Math.abs(ageSeconds) * 1000 > (world.healthMostMs ?? Number.POSITIVE_INFINITY);
      if (isOld) now.complain(`${path} counts as a warning: it is older than --health-max-age`);
      kept.last = { word: isOld ? WARNING : found.value, ageSeconds, bootNs, brokenSeconds: undefined };
    }
    // If the clock was set back, the age must not become impossible.
    if (kept.last.word !== undefined)
      now.put('health', { ...kept.last.word, health_age_s: Math.max(0, Math.floor(kept.last.ageSeconds)) });
    now.flag('held', hasExternalFile(world, 'hold', now));
  });
}
