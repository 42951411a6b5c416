// What journals tell, as lines for people and objects for programs. Pure. The words are those of `eventlines.ts`.

import type { BoardChange } from '../changes/changes.js';
import { afterEvent, stoodStill } from '../changes/lastwords.js';
import { BEGINS, EVENTS, type Line, lastWordsOf, TOGETHER_MS } from '../journalfile/format.js';
import type { LastEnd } from '../journalfile/lastends.js';
import type { Ending, ToldEvent } from '../journalfile/listing.js';
import { stalledText } from '../shm/noboard.js';
import { isProblem } from '../shm/problems.js';
import { ahead, plural, timeIn, wallTime } from '../shm/sentences.js';
import type { Painter } from '../terminal/style.js';
import { formatDuration } from '../text/durations.js';
import { fold } from '../text/hostlists.js';
import { json } from '../text/output.js';
import { own } from '../text/tables.js';
import { oneLine } from '../text/text.js';
import { readingText, valuesText } from '../words/marks.js';
import { boardText, nodeText } from './eventlines.js';
import type { FoldedEvent } from './shapes.js';

const ms = (time: string) => Date.parse(time);

/** `2026-11-27 03:04:58 to 03:07:12`; the date again if it is another. */
function spanText(fromMs: number, toMs: number | undefined): string {
  const from = wallTime(fromMs);
  if (toMs === undefined) return from;
  const to = wallTime(toMs);
  return `${from} to ${to.slice(0, 10) === from.slice(0, 10) ? to.slice(11) : to}`;
}

/** From a shortest to a longest time; one if they are much the same. */
function rangeText(leastMs: number, mostMs: number): string {
  const least = formatDuration(leastMs);
  return mostMs - leastMs <= TOGETHER_MS ? least : `${least} to ${formatDuration(mostMs)}`;
}

/** `rack11n[01-48] (48 nodes; first rack11n03)`; `of`: how many the event has, if not all of them are asked for. */
function nodesText(nodes: string, count: number, of: number, first: string | undefined): string {
  if (of === 1) return oneLine(nodes);
  const many = of === count ? plural(count) : `${count} of ${plural(of)}`;
  return `${oneLine(nodes)} (${many}${first === undefined ? '' : `; first ${oneLine(first)}`})`;
}

const MOST_JOBS = 10;

function jobsText({ jobs = [], jobsLeftOut = 0 }: Pick<ToldEvent, 'jobs' | 'jobsLeftOut'>): string {
  if (jobs.length === 0) return '';
  const shown = jobs.slice(0, MOST_JOBS).map(({ id, user }) => oneLine(user === undefined ? id : `${id} (${user})`));
  const more = jobs.length - shown.length + jobsLeftOut;
  return `; ${jobs.length + jobsLeftOut === 1 ? 'job' : 'jobs'} ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const lastWordsText = (line: Line, stillMs = line.stood_still_ms) =>
  afterEvent(stillMs, line.last_words && lastWordsOf(line), line.count ?? 1);

/** Whether it was seen once: a problem that a single report has shown. */
const isMoment = ({ mostMs }: Ending) => mostMs === 0;

/** For how long it lasted, and that it goes on. */
function lastedText({ line, ending, unrecorded = 0, goesOn }: ToldEvent): string {
  const comma = line.event === 'silent' ? '' : ',';
  const lasted =
    ending === undefined || isMoment(ending) ? '' : `${comma} for ${rangeText(ending.leastMs, ending.mostMs)}`;
  const some = line.nodes !== undefined && unrecorded < (line.count ?? 1) ? ` for ${plural(unrecorded)}` : '';
  const lost = unrecorded > 0 ? `, its end was not recorded${some}` : '';
  const going = goesOn === undefined ? '' : ` (goes on${goesOn === true ? '' : ` for ${oneLine(fold(goesOn))}`})`;
  return `${lasted}${lost}${going}`;
}

function afterText({ event, from, to }: Line): string {
  if (!BEGINS.has(event) || from === undefined || to === undefined) return '';
  return `${event === 'heard_again' ? '' : ','} after ${formatDuration(ms(to) - ms(from))}`;
}

/** The same as an event of a board, whose words are used. */
function changeOf({ event, count, states, at: _at, nodes: _nodes, ...line }: Line): BoardChange {
  const standing = count !== undefined && states !== undefined && { nodes: count, states, unhealthy: 0, recently: 0 };
  const counted = count !== undefined && { count };
  return {
    ...line,
    at: 0n,
    event: event === 'boot' ? 'reboot' : event,
    ...counted,
    ...standing,
  } as unknown as BoardChange;
}

/** Why lines of the journal were lost. */
const LOST: Readonly<Record<string, string>> = {
  disk: 'the journal could not be written',
  orders: 'the bridge did more than its file holds',
};

/** Why a node differs no longer, if that is not because it is as the others again. */
const OVER: Readonly<Record<string, string>> = {
  job_over: ' (the job runs no more)',
  unjudged: ' (not judged now)',
};

/** That a node differs from the others of its job, or no longer does. The job is told apart, to whom may know it. */
function oddText({ event, reading = '', value = 0, lowest = 0, highest = 0, why = '' }: Line): string {
  const others = 'from the other nodes of its job';
  if (event === 'odd') return `differs ${others}: ${valuesText({ reading, value, lowest, highest })}`;
  return `no longer differs ${others}: ${readingText(reading)}${own(OVER, why) ?? ''}`;
}

/** How a moment stands in a sentence: in local time, or as data. */
type Told = (ms: number) => string;

function ackText({ event, key = '', by = '', until = '', why = '' }: Line, at: Told): string {
  if (event === 'withdrawn') return oneLine(`${key} is no longer acknowledged`);
  return `${oneLine(`${key} acknowledged by ${by}`)} until ${at(ms(until))}${why && `: ${oneLine(why)}`}`;
}

/** An event that a board does not tell, or tells otherwise. */
function ownText(line: Line, paint: Painter, at: Told): string | undefined {
  const { event, problem = '', act = '', outcome, why = '', by_ms = 0, closed, last_words, goodbye, count } = line;
  switch (event) {
    case 'silent':
      return paint.state(event, event);
    case 'heard_again':
      return 'heard again';
    case 'new':
      return 'new on the board';
    case 'removed':
      return 'no longer on the board';
    case 'boot':
      return goodbye ? 'booted after a goodbye' : last_words === undefined ? 'booted' : 'booted without goodbye';
    case 'begin':
      return `the journal begins${count === undefined || line.states === undefined ? '' : `, ${boardText(changeOf(line))}`}`;
    case 'end':
      return 'the journal ends';
    case 'deaf':
      return 'this master did not listen: nothing is known of nodes for that time';
    case 'problem':
    case 'problem_resolved':
      // A problem that only a later version knows is told by its name.
      return isProblem(problem) ? undefined : `${event.replace('_', ' ')}: ${oneLine(problem)}`;
    case 'stalled':
      return `${stalledText({ closed: closed === true, isMirror: line.master !== undefined })}: nothing is known about nodes`;
    case 'clock_step':
      return `the clock of this master was set ${ahead(by_ms / 1000)}`;
    case 'lost':
      return why === 'ring'
        ? undefined
        : `${count} ${count === 1 ? 'line was' : 'lines were'} lost: ${own(LOST, why) ?? oneLine(why)}`;
    case 'order': {
      const how = [outcome, why].filter(Boolean).join(': ');
      return oneLine(`the bridge: ${act.replaceAll('_', ' ')}${how && `, ${how}`}`);
    }
    case 'acknowledged':
    case 'withdrawn':
      return ackText(line, at);
    case 'odd':
    case 'odd_ended':
      return oddText(line);
    default:
      return (EVENTS as readonly string[]).includes(event)
        ? undefined
        : `an event that this version does not know: ${oneLine(event)}`;
  }
}

/** What happened, without when and to whom. */
function whatText(line: Line, paint: Painter, at: Told): string {
  const change = changeOf(line);
  const ofNodes = line.nodes === undefined ? undefined : nodeText(change, paint);
  return ownText(line, paint, at) ?? oneLine(ofNodes ?? boardText(change));
}

/** How many more there were than the journal has. */
function missedText({ event, missed = 0, missed_since: since, from = '' }: Line, at: Told): string {
  const when = since === undefined ? '' : ` between ${at(ms(since))} and ${at(ms(from))}`;
  return `${missed} ${event === 'silent' ? 'silence' : 'episode'}${missed === 1 ? '' : 's'} not recorded${when}`;
}

/** What is known of how the line came about. */
function remarksText(line: Line, at: Told): string {
  const { more = 0, missed = 0, late } = line;
  const remarks = [
    ...(more > 0 ? [`${more} more in the minute before`] : []),
    ...(late ? ['found afterwards'] : []),
    ...(missed > 0 ? [missedText(line, at)] : []),
  ];
  return remarks.map(remark => `; ${remark}`).join('');
}

/** What a line says after its time. */
function toldText(told: ToldEvent, paint: Painter, isNamed: boolean, at: Told): string {
  const { line, of = line.count ?? 1 } = told;
  const { nodes, count = 1, first, board } = line;
  const whose = `${isNamed ? `${oneLine(board)}: ` : ''}${nodes === undefined ? '' : `${nodesText(nodes, count, of, first)} `}`;
  const what = `${whatText(line, paint, at)}${lastedText(told)}${afterText(line)}`;
  const { still } = told.ending ?? {};
  const why = still && `; ${stoodStill([still.leastMs, still.mostMs], count, still.count)}`;
  return `${whose}${what}${why ?? lastWordsText(line)}${jobsText(told)}${remarksText(line, at)}`;
}

/** A line for people. `isNamed`: with the board's name, because there are several. */
export function journalLine(told: ToldEvent, paint: Painter, isNamed: boolean): string {
  const { line, ending, goesOn } = told;
  const { from = line.at, to } = line;
  const endMs = ending?.toLastMs ?? (to === undefined ? undefined : ms(to));
  const toMs = goesOn === undefined && !(ending && isMoment(ending)) ? endMs : undefined;
  return `${spanText(ms(from), toMs)}  ${toldText(told, paint, isNamed, wallTime)}\n`;
}

/**
 * A line as an event like those of a board: when it happened or ended, the journal's keys, and its text for people, whose
 * moments are data: who shows it has a zone, and knows what the time is.
 */
export function journalEvent(told: ToldEvent, paint: Painter): FoldedEvent {
  const { line } = told;
  const time = line.to ?? line.from ?? line.at;
  return { ...line, ...jobsOf(told), time, text: toldText(told, paint, false, at => timeIn({ tellsUtc: true }, at)) };
}

const iso = (at: number) => new Date(at).toISOString();

const jobsOf = ({ jobs = [], jobsLeftOut = 0 }: Pick<ToldEvent, 'jobs' | 'jobsLeftOut'>) => ({
  ...(jobs.length > 0 && { jobs }),
  ...(jobsLeftOut > 0 && { jobs_left_out: jobsLeftOut }),
});

function endingOf(told: ToldEvent) {
  const { line, of, ending, unrecorded = 0, goesOn } = told;
  return {
    ...(of !== undefined && { of }),
    ...(ending !== undefined && { to: iso(ending.toMs) }),
    ...(ending !== undefined && ending.toLastMs > ending.toMs && { to_last: iso(ending.toLastMs) }),
    ...(ending?.still && { stood_still_ms: ending.still.mostMs }),
    ...(unrecorded > 0 && { unrecorded }),
    ...(goesOn !== undefined && { goes_on: goesOn === true ? (line.nodes ?? true) : fold(goesOn) }),
    ...jobsOf(told),
  };
}

/** The same as a line of JSON: the journal's keys, with what its later lines and its jobs say of the event. */
export function journalObject(told: ToldEvent): string {
  const { repeated: _, ...line } = told.line;
  return `${json({ schema: 1, ...line, ...endingOf(told) })}\n`;
}

// ---- how nodes ended the last time ----

const wasSaid = ({ silent, boot }: LastEnd) => (boot?.last_words === undefined ? silent : boot);

/** A line for people. */
export function lastEndLine(end: LastEnd, paint: Painter, isNamed: boolean): string {
  const { silent, boot, nodes, count, heardMs, stillMs, board } = end;
  const line = (silent ?? boot) as Line;
  const first = count > 1 && line.count === count ? line.first : undefined;
  const fromMs = ms(line.from ?? line.at);
  const whose = `${isNamed ? `${oneLine(board)}: ` : ''}${nodesText(nodes, count, count, first)} `;
  const again =
    heardMs === undefined
      ? 'not heard since'
      : `heard again after ${rangeText(heardMs[0] - fromMs, heardMs[1] - fromMs)}`;
  const heard = boot?.words_from === undefined ? '' : `, last heard ${wallTime(ms(boot.words_from))}`;
  const what =
    silent === undefined
      ? `${whatText(line, paint, wallTime)}${heard}`
      : `fell ${paint.state('silent', 'silent')} without goodbye, ${boot === undefined ? again : `booted ${wallTime(ms(boot.from ?? boot.at))}`}`;
  const said = wasSaid(end);
  return `${wallTime(fromMs)}  ${whose}${what}${said === undefined ? '' : lastWordsText({ ...said, count }, stillMs)}${jobsText(end)}\n`;
}

/** The same as a line of JSON. */
export function lastEndObject(end: LastEnd): string {
  const { silent, boot, nodes, count, heardMs, stillMs, board } = end;
  const line = (silent ?? boot) as Line;
  const said = wasSaid(end);
  const goodbye = silent === undefined ? (boot?.goodbye ?? (boot?.last_words && false)) : false;
  return `${json({
    ...{ schema: 1, id: line.id, board, event: line.event, from: line.from, nodes, count },
    ...(count > 1 && line.count === count && { first: line.first }),
    ...{ goodbye, last_words: said?.last_words, words_from: boot?.words_from ?? silent?.from },
    ...(heardMs && { to: iso(heardMs[0]), to_last: iso(heardMs[1]), stood_still_ms: stillMs }),
    ...(silent && boot && { boot: boot.from }),
    ...jobsOf(end),
  })}\n`;
}
