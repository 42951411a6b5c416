// What a line of trouble says on the page: in a row of the box, and on a sheet. Knows no browser.

import type { TroubleInfo, TroubleJob } from '../../acks/info.js';
import { nowTexts, roughly } from '../../text/roughly.js';
import { fits } from '../../text/unseen.js';
import { count, inZone, moment, momentRoughly, plural } from './formats.js';

/** So many characters of jobs have room in a row. */
const JOBS_CHARS = 22;

/** So many characters of nodes have room in a row. */
const NODES_CHARS = 24;

/** A host list's parts, between the commas that are in no brackets. */
export const partsOf = (nodes: string) => nodes.split(/,(?![^[]*\])/);

/** As many parts of a host list as have room, at least one, and the number of the others: it ends at a comma of names. */
function nodesTexts(nodes: string, most: number): [nodes: string, others: string] {
  const parts = partsOf(nodes);
  let shown = 1;
  while (shown < parts.length && fits(parts.slice(0, shown + 1).join(), most)) shown++;
  return [parts.slice(0, shown).join(), shown < parts.length ? `,\u00a0+${count(parts.length - shown)}` : ''];
}

/** As many jobs as have room, and the number of the others. */
function jobsTexts(jobs: readonly TroubleJob[], more: number, most: number): [jobs: string, others: string] {
  const texts = jobs.map(({ id, user }) => `${id} (${user})`);
  let shown = texts.length > 0 ? 1 : 0;
  while (shown < texts.length && fits(texts.slice(0, shown + 1).join(', '), most)) shown++;
  const rest = texts.length - shown + more;
  return [texts.slice(0, shown).join(', '), rest > 0 ? `${shown > 0 ? ', ' : ''}+${count(rest)}` : ''];
}

/** For how long it lasts or lasted; empty: nobody knows. */
export function lastingText({ since, ended }: TroubleInfo, now: number): string {
  const endMs = ended === undefined ? Math.floor(now / 1000) * 1000 : Date.parse(ended);
  return since === undefined ? '' : roughly(endMs - Date.parse(since));
}

/** The columns of a row. `now`: the server's clock; `isWhole`: nothing is left out. */
export function columnsOf(line: TroubleInfo, now: number, isWhole: boolean) {
  const { severity, dim, nodes = '–', since, since_last, times, times_since, times_hour, flapping } = line;
  const { jobs = [], jobs_more = 0 } = line;
  const at = (time: string) => moment(Date.parse(time), now);
  const often = times === undefined ? [] : [plural(times, 'time')];
  if (times_since !== undefined) often.push(`since ${momentRoughly(Date.parse(times_since), now)}`);
  const why = whyOf(line, at);
  const inHour = flapping ?? times_hour;
  const hour =
    inHour === undefined ? [] : [`${flapping === undefined ? '' : 'flapping, '}${count(inHour)} in the last hour`];
  return {
    severity: dim === 'ended' ? dim : severity,
    nodes: nodesTexts(
      `${line.count > 1 ? `${count(line.count)}: ` : ''}${nodes}`,
      isWhole ? Number.POSITIVE_INFINITY : NODES_CHARS,
    ),
    what: inZone([line.what, ...nowTexts(line)].join('; '), now),
    why: why === '' ? '' : ` · ${inZone(why, now)}`,
    lasting: lastingText(line, now),
    since: `${since === undefined ? '' : at(since)}${since_last === undefined ? '' : `, the last ${at(since_last)}`}`,
    times: (isWhole ? [...hour, often.join(' ')] : [hour[0] ?? often.join(' ')]).join(', '),
    jobs: jobsTexts(jobs, jobs_more, isWhole ? Number.POSITIVE_INFINITY : JOBS_CHARS),
  };
}

/** Why it is dimmed, or would be if it were about some of its nodes only. */
function whyOf(
  { ended, ended_first, ack, ack_before, aside, dim, count: all }: TroubleInfo,
  at: (time: string) => string,
): string {
  const parts: string[] = [];
  if (dim === 'ended' && ended !== undefined)
    parts.push(
      ended_first === undefined ? `ended ${at(ended)}` : `the first ended ${at(ended_first)}, the last ${at(ended)}`,
    );
  if (ack !== undefined) {
    const reason = ack.reason === undefined ? '' : `: ${ack.reason}`;
    const some = dim === 'acknowledged' ? '' : ', for some of its nodes,';
    parts.push(`acknowledged by ${ack.by}${some} until ${at(ack.until)}${reason}`);
  }
  if (ack_before !== undefined)
    parts.push(`${ack_before.last ? 'the last one' : 'an earlier one'} was acknowledged by ${ack_before.by}`);
  if (aside !== undefined) parts.push(`${aside.count < all ? `${aside.nodes} ` : ''}${aside.why}`);
  return parts.join('; ');
}
