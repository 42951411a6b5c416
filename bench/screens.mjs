// Makes docs/pictures/status.svg: the output of `beoboard status` on a terminal, for a cluster that `beoboard load`
// simulates. Look at it.
//   node bench/screens.mjs

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { at, folder, MAIN, serve, sleep, start } from './processes.mjs';

const into = process.env.PICTURES ?? at('../docs/pictures');

const SIZE = 14;
const CELL = SIZE * 0.602;
const LINE = 19;
const MARGIN = 14;
/** The colours of SGR numbers on a dark terminal. */
const COLOURS = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 34: '#79c0ff', 35: '#d2a8ff', 36: '#76e3ea' };
const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** The pieces of a line, each with the colour and the weight that it has on a terminal. */
function* pieces(line) {
  let style = {};
  let column = 0;
  for (const [, codes, text] of line.matchAll(/(?:\x1b\[([\d;]*)m)?([^\x1b]*)/g)) {
    for (const code of (codes ?? '').split(';').map(Number)) {
      if (codes === undefined) break;
      if (code === 0) style = {};
      else if (code === 1) style = { ...style, bold: true };
      else if (code === 2) style = { ...style, dim: true };
      else if (code === 22) style = { ...style, bold: false, dim: false };
      else if (code === 39) style = { ...style, colour: undefined };
      else if (COLOURS[code]) style = { ...style, colour: COLOURS[code] };
    }
    const blanks = text.length - text.trimStart().length;
    if (text.trim() !== '') yield { text: text.trim(), column: column + blanks, ...style };
    column += [...text].length;
  }
}

/** A terminal's text as a picture: every piece is at its column, whatever the font is. */
function svgOf(text) {
  const lines = text.replace(/\n$/, '').split('\n');
  const columns = Math.max(...lines.map(line => [...line.replace(/\x1b\[[\d;]*m/g, '')].length));
  const [width, height] = [Math.ceil(columns * CELL + 2 * MARGIN), lines.length * LINE + 2 * MARGIN];
  const spans = lines.flatMap((line, row) =>
    [...pieces(line)].map(({ text, column, colour, bold, dim }) => {
      const at = `x="${(MARGIN + column * CELL).toFixed(1)}" y="${MARGIN + row * LINE + SIZE}"`;
      const look = `${colour ? ` fill="${colour}"` : ''}${bold ? ' font-weight="bold"' : ''}${dim ? ' opacity="0.65"' : ''}`;
      const length = ` textLength="${([...text].length * CELL).toFixed(1)}"`;
      return `<text ${at}${look}${length}>${text.replace(/[&<>]/g, one => ESCAPES[one])}</text>`;
    }),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="beoboard status">
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${SIZE}" fill="#e6edf3" style="white-space: pre">
${spans.join('\n')}
</g>
</svg>
`;
}

const board = join(folder(), 'board');
const { child, port } = await serve('receive', '--board', board, '--listen', '127.0.0.1:0', '--cluster', 'alpha');
const nodes = ['--nodes', 'rack[11-20]n[01-48]', '--silent', 'rack17n[01-48]', '--silent-from', '4s'];
const load = start('load', '--to', `127.0.0.1:${port}`, '--cluster', 'alpha', ...nodes);
let text = '';
while (!text.includes('48 silent')) {
  await sleep(0.5);
  text = execFileSync(MAIN, ['status', '--board', board, '--color', 'always'], { encoding: 'utf8' });
}
writeFileSync(join(into, 'status.svg'), svgOf(`$ beoboard status\n${text}`));
console.log(text);
for (const one of [child, load]) one.kill('SIGKILL');
