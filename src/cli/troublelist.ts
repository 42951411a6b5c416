// The list of trouble as a table for terminals: how severe, since when, and the rest with its own indent.

import type { TroubleInfo } from '../acks/info.js';
import { troubleText } from '../presentation/troublelines.js';
import type { Painter } from '../terminal/style.js';

/** Words in lines of this width, at least one word in each; a host list is broken at its commas if it is longer. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  const words = text.split(' ').flatMap(word => (word.length <= width ? [` ${word}`] : ` ${word}`.split(/(?<=,)/)));
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > width) lines.push(word.trimStart());
    else lines[lines.length - 1] = `${last}${word}`;
  }
  return lines;
}

/** The lines of each, painted. `nowMs`: the time of the look; `width`: of the terminal, columns. */
export function troubleLines(
  trouble: readonly TroubleInfo[],
  { nowMs, width, paint, whole }: { nowMs: number; width: number; paint: Painter; whole?: boolean | undefined },
): string[][] {
  const texts = trouble.map(line => ({ dim: line.dim, ...troubleText(line, nowMs, whole) }));
  const [severe, long] = [Math.max(...texts.map(t => t.severity.length)), Math.max(...texts.map(t => t.since.length))];
  return texts.map(({ severity, since, text, dim }) => {
    const head = `${severity.padEnd(severe)}  ${since.padEnd(long)}  `;
    return wrapped(text, Math.max(20, width - head.length)).map((part, i) =>
      paint.trouble(dim === undefined ? severity : 'dim', `${i === 0 ? head : ' '.repeat(head.length)}${part}`),
    );
  });
}
