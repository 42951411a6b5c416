// The list of trouble in lines for terminals, and aloud.

import type { TroubleInfo } from '../acks/info.js';
import { PROBLEMS } from '../shm/problems.js';
import { plural, timeOf } from '../shm/sentences.js';
import { NameRanges, partsOfList } from '../text/hostlists.js';
import { nowTexts, roughly } from '../text/roughly.js';
import { oneLine, shortened } from '../text/text.js';

/** A time as people of this time zone read it, with the day if it is a day away or more. */
export const timeText = (time: string | number, nowMs: number): string =>
  timeOf({ realNs: BigInt(nowMs) * 1_000_000n }, nowMs - new Date(time).getTime());

/** A sentence whose moments are data, with these as people of this time zone read them. */
export const inTimes = (text: string, nowMs: number): string =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, iso =>
    Number.isNaN(Date.parse(iso)) ? iso : timeText(iso, nowMs),
  );

/** As whoever reads the clock beside a time of whole seconds. */
const wholeSecond = (ms: number) => Math.floor(ms / 1000) * 1000;

/** Who acknowledged an earlier episode. `at`: when, in words. */
function beforeText({ by, last }: NonNullable<TroubleInfo['ack_before']>, at: string): string {
  return `${last ? 'the last one' : 'an earlier one'} was acknowledged by ${oneLine(by)} at ${at}`;
}

/** Why the line is dimmed, or is not any more. */
function dimText({ kind, dim, ended, ended_first, ack, ack_before, aside }: TroubleInfo, nowMs: number): string[] {
  if (dim === 'ended') {
    if (ended === undefined) return [];
    const last = `${roughly(wholeSecond(nowMs) - Date.parse(ended))} ago, ${timeText(ended, nowMs)}`;
    return [
      ended_first === undefined ? `ended ${last}` : `the first ended ${timeText(ended_first, nowMs)}, the last ${last}`,
    ];
  }
  if (ack !== undefined) {
    const reason = ack.reason === undefined ? '' : `: ${oneLine(ack.reason)}`;
    return [`acknowledged by ${oneLine(ack.by)} until ${timeText(ack.until, nowMs)}${reason}`];
  }
  const before = ack_before === undefined ? [] : [beforeText(ack_before, timeText(ack_before.at, nowMs))];
  // A line that says just this does not say it twice.
  if (aside === undefined || kind === 'held') return before;
  return [...before, dim === 'aside' ? aside.why : `${aside.count} of them ${aside.why} (${oneLine(aside.nodes)})`];
}

function jobsText({ jobs = [], jobs_more: more = 0 }: TroubleInfo): string[] {
  if (jobs.length === 0) return [];
  const named = jobs.map(({ id, user }) => `${oneLine(id)}${user === '' ? '' : ` (${oneLine(user)})`}`);
  return [`${jobs.length + more === 1 ? 'job' : 'jobs'} ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
}

/** How often, and the time of the last node's begin. */
function timesText(
  { since_last, dim, flapping, times, times_since, times_hour }: TroubleInfo,
  nowMs: number,
): string[] {
  const began = dim === 'ended' ? 'the last began' : 'the last since';
  const last = since_last === undefined ? [] : [`${began} ${timeText(since_last, nowMs)}`];
  if (flapping !== undefined) return [...last, `flapping, ${flapping} times in the last hour`];
  const since = times_since === undefined ? '' : ` since ${timeText(times_since, nowMs)}`;
  const often = times === undefined ? [] : [`${times} times${since}`];
  return [...last, ...often, ...(times_hour === undefined ? [] : [`${times_hour} in the last hour`])];
}

/** Lines about one node that its own page tells anyway. */
const ITS_OWN: ReadonlySet<string> = new Set(['silent', 'unmeasured', ...PROBLEMS]);

/** What a node shares with others, or has beside what its page tells: lines about it, aloud. */
export function sharedTexts(trouble: readonly TroubleInfo[], name: string, nowMs: number): string[] {
  const about = trouble.filter(
    ({ kind, nodes }) => !ITS_OWN.has(kind) && nodes !== undefined && NameRanges.of(nodes)?.has(name),
  );
  return about.map(line => {
    const { severity, lasting, since, text } = troubleText(line, nowMs);
    return `${severity}${lasting === '' ? '' : `, ${lasting}, since ${since}`}: ${text}`;
  });
}

/** So many parts of a host list are shown, and of each so many characters. */
const PARTS = { most: 6, length: 60 };
/** That many parts are in so many characters of it, unless one is far longer. */
const LOOKED_AT = 4096;

function shortList(list: string): string {
  const parts = partsOfList(oneLine(list.slice(0, LOOKED_AT)));
  const shown = parts.slice(0, PARTS.most).map(part => shortened(part, PARTS.length));
  return `${shown.join(',')}${parts.length > PARTS.most ? ',…' : ''}`;
}

/** A line in pieces: how severe, or that it has ended; for how long it lasts or lasted, since when, and the rest. */
interface TroubleText {
  readonly severity: string;
  readonly lasting: string;
  readonly since: string;
  readonly text: string;
  /** The same without its nodes and jobs. */
  readonly said: string;
}

/** `nowMs`: the time of the look, ms since 1970; `whole`: with all nodes, however many there are. */
export function troubleText(line: TroubleInfo, nowMs: number, whole = false): TroubleText {
  const { severity, dim, nodes, count, what, since, ended } = line;
  const list = nodes && (whole ? oneLine(nodes) : shortList(nodes));
  const who = list === undefined ? '' : `${list}${count > 1 ? ` (${plural(count)})` : ''}: `;
  const parts = [what, ...nowTexts(line), ...timesText(line, nowMs)];
  const why = dimText(line, nowMs);
  const endMs = ended === undefined ? wholeSecond(nowMs) : Date.parse(ended);
  return {
    severity: dim === 'ended' ? dim : severity,
    lasting: since === undefined ? '' : roughly(endMs - Date.parse(since)),
    since: since === undefined ? '' : timeText(since, nowMs),
    text: `${who}${[...parts, ...jobsText(line), ...why].join('; ')}`,
    said: [...parts, ...why].join('; '),
  };
}
