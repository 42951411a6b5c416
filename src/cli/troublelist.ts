// The list of trouble as a table for terminals: how severe, for how long, since when, and the rest with its own indent.

import type { TroubleInfo } from '../acks/info.js';
import { troubleText } from '../presentation/troublelines.js';
import type { Painter } from '../terminal/style.js';
import { padded, widest, wrapped } from '../text/layout.js';

/** The lines of each, painted. `nowMs`: the time of the look; `width`: of the terminal, columns. */
export function troubleLines(
  trouble: readonly TroubleInfo[],
  { nowMs, width, paint, whole }: { nowMs: number; width: number; paint: Painter; whole?: boolean | undefined },
): string[][] {
  const texts = trouble.map(line => ({ dim: line.dim, ...troubleText(line, nowMs, whole) }));
  const wide = (['severity', 'lasting', 'since'] as const).map(part => widest(texts.map(text => text[part])));
  return texts.map(({ severity, lasting, since, text, dim }) => {
    const [severe = 0, long = 0, at = 0] = wide;
    const head = `${padded(severity, severe)}  ${lasting.padStart(long)}  ${padded(since, at)}  `;
    return wrapped(text, Math.max(8, width - head.length)).map((part, i) =>
      paint.trouble(dim === undefined ? severity : 'dim', `${i === 0 ? head : ' '.repeat(head.length)}${part}`),
    );
  });
}
