// What the program writes, in ASCII, for a locale that has nothing else (LANG=C): its own characters as similar ones, and
// those of nodes, users and jobs as escapes.

import { hexEscape } from './unseen.js';

/** Each is as wide as before: + marks a cut text, as in ps and top; blocks of a chart are as high as these look. */
const AS: Readonly<Record<string, string>> = {
  ...{ '…': '+', '×': 'x', '·': '-', '–': '-', '—': '-', '→': '>', '’': "'", '“': '"', '”': '"' },
  ...{ '▁': '.', '▂': ':', '▃': '-', '▄': '=', '▅': '+', '▆': '*', '▇': '%', '█': '#' },
};
const OURS = new RegExp(`°C( {2})?|[${Object.keys(AS).join('')}]`, 'g');

/** The characters of others. */
const OTHERS = new RegExp(`[^\\0-\\x7f°${Object.keys(AS).join('')}]`, 'gu');

/** One for the whole process: src/base.ts sees to that. */
let isSpoken = false;

/** Whether nothing but ASCII is written: JSON has escapes for the rest. */
export const speaksAscii = () => isSpoken;

/** The text with the characters of others as `\u{hex}`, if nothing but ASCII is written. */
export const othersSpoken = (text: string): string => (isSpoken ? text.replace(OTHERS, hexEscape) : text);

/** The text in ASCII; columns of a table stay below each other. */
export function asAscii(text: string): string {
  return text
    .replace(OURS, (found, blanks = '') => AS[found] ?? (blanks === '' ? 'C' : 'C   '))
    .replace(/[^\0-\x7f]/gu, hexEscape);
}

/** The text as it is written as bytes, which `speakAscii` leaves as they are. */
export const spoken = (text: string): string => (isSpoken ? asAscii(text) : text);

/**
 * Whether this environment asks for nothing but ASCII. One that says nothing does not: services, cron and containers
 * have it, and whoever reads them takes UTF-8.
 */
export function isAscii({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /^(C|POSIX|.*\.(ANSI_X3|US-?ASCII|646)\b.*)$/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

/** Has all texts for stdout and stderr written in ASCII until the returned function is called. Bytes stay as they are. */
export function speakAscii(): () => void {
  isSpoken = true;
  const undo = [process.stdout, process.stderr].map(stream => {
    const { write } = stream;
    const inAscii = (piece: string | Uint8Array, ...more: unknown[]) =>
      Reflect.apply(write, stream, [typeof piece === 'string' ? asAscii(piece) : piece, ...more]);
    stream.write = inAscii as typeof write;
    return () => {
      stream.write = write;
    };
  });
  return () => {
    isSpoken = false;
    for (const each of undo) each();
  };
}
