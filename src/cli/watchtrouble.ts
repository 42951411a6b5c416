// The list of trouble of `status --watch`: a line each in fixed columns, of which a cursor chooses one by its key; and
// all that is told of one. How severe a line is, a character says beside the colour.

import type { TroubleInfo } from '../acks/info.js';
import { troubleText } from '../presentation/troublelines.js';
import { clip } from '../terminal/screen.js';
import type { Painter } from '../terminal/style.js';
import { partsOfList } from '../text/hostlists.js';
import { cutTo, inLines, padded, separated, widthOf, wrapped } from '../text/layout.js';
import { beginning, fits, oneLine } from '../text/text.js';
import { ackCommand, type CommandOptions, commandLines } from './commandline.js';

const MARKS: Readonly<Record<string, string>> = { critical: '!', warning: '*', notice: '.' };
/** The width of the columns: of the first two also where the sentence would have no room. */
const [LASTING, SINCE, JOBS, NARROW] = [5, 12, 18, 60];
const widthsIn = (width: number) => (width < NARROW ? { count: 3, nodes: 14 } : { count: 5, nodes: 20 });
/** The least width of a terminal with a column of jobs, and of the time. */
const WIDE = 100;
/** Of a list that has room for a few names, so many characters are looked at. */
const LOOKED_AT = 200;

/** The look at a list, and where it is shown. */
interface TroubleLook {
  readonly nowMs: number;
  readonly width: number;
  readonly paint: Painter;
}

/** A part of a host list that is too wide: up to a comma within its brackets, if there is one. */
function folded(part: string, columns: number): string {
  const end = part.lastIndexOf(',', columns - ',…]'.length);
  return end < 0 || widthOf(part) <= columns ? cutTo(part, columns) : `${part.slice(0, end)},…]`;
}

/** A sentence that does not fit, up to where it does. */
export const cutEnd = (text: string, columns: number): string =>
  fits(text, columns, widthOf) ? text : `${beginning(text, columns - 1, widthOf)}…`;

/** As many texts as fit, whole, and how many more there are: `n[1-4],n9 +3`. */
function few(texts: readonly string[], by: string, columns: number, left = 0): string {
  for (let shown = texts.length; shown > 0; shown--) {
    const more = texts.length - shown + left;
    const text = `${texts.slice(0, shown).join(by)}${more > 0 ? ` +${more}` : ''}`;
    if (widthOf(text) <= columns) return text;
    if (shown === 1) return folded(text, columns);
  }
  return '';
}

const cells = (texts: readonly (readonly [text: string, columns: number])[]) =>
  texts.map(([text, columns]) => padded(cutTo(text, columns), columns)).join(' ');

/** A row of the list; `what` has the room that is left. */
function row([mark, count, nodes, what, lasting, since, jobs]: readonly string[], width: number): string {
  const wide = widthsIn(width);
  const left = `${mark} ${cells([
    [(count ?? '').padStart(wide.count), wide.count],
    [nodes ?? '', wide.nodes],
  ])}`;
  const time = (lasting ?? '').padStart(LASTING);
  const right =
    width < WIDE
      ? time
      : cells([
          [time, LASTING],
          [since ?? '', SINCE],
          [jobs ?? '', JOBS],
        ]);
  const room = Math.max(0, width - widthOf(left) - widthOf(right) - 2);
  return clip(`${left} ${padded(cutEnd(what ?? '', room), room)} ${right}`, width);
}

function rowOf(line: TroubleInfo, { nowMs, width }: TroubleLook): string {
  const { severity, nodes = '', count, jobs = [], jobs_more } = line;
  const { lasting, since, said } = troubleText(line, nowMs);
  const names = few(partsOfList(oneLine(nodes.slice(0, LOOKED_AT))), ',', widthsIn(width).nodes);
  const whose = jobs.map(({ id, user }) => `${oneLine(id)} ${oneLine(user)}`.trim());
  const brief = lasting.replace(' min', 'm').replace(' ', '');
  return row(
    [
      MARKS[severity] ?? '.',
      count > 1 ? String(count) : '',
      names,
      said,
      brief,
      since,
      few(whose, ', ', JOBS, jobs_more),
    ],
    width,
  );
}

/** The titles, and the lines from `top` on that fit into so many rows. `chosen`: the key of the line with the cursor. */
export function troubleTable(
  trouble: readonly TroubleInfo[],
  { top, rows, chosen }: { readonly top: number; readonly rows: number; readonly chosen: string | undefined },
  look: TroubleLook,
): string[] {
  const shown = trouble.slice(top, top + rows);
  const place = `TROUBLE ${top + 1}-${top + shown.length} of ${trouble.length}`;
  return [
    look.paint.title(row([' ', '', 'NODES', place, 'FOR', 'SINCE', 'JOBS'], look.width)),
    ...shown.map(line => {
      const text = rowOf(line, look);
      if (line.key === chosen) return `\x1b[7m${text}\x1b[27m`;
      return look.paint.trouble(line.dim === undefined ? line.severity : 'dim', text);
    }),
  ];
}

/** All that is known of a line: its text, its nodes, each name whole, and the command that acknowledges it. */
export function troublePage(line: TroubleInfo, { nowMs, width }: TroubleLook, asked: CommandOptions): string[] {
  const { severity, lasting, since, text } = troubleText({ ...line, nodes: undefined }, nowMs);
  const begun = since === '' ? '' : `, ${lasting}, since ${since}`;
  const acknowledge = commandLines('', ackCommand(line.key, asked), width);
  const names = inLines(separated(partsOfList(oneLine(line.nodes ?? '')), ','), width);
  return [
    ...wrapped(`${severity}${begun}: ${text}`, width),
    ...(names.length === 0 ? [] : ['', `Nodes (${line.count}):`, ...names]),
    ...(line.dim === 'ended' ? [] : ['', 'Acknowledge it until then:', ...acknowledge]),
  ];
}
