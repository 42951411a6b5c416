// What has happened, as lines for people and objects for programs. Pure.

import type { BoardChange } from '../changes/changes.js';
import { afterEvent, type SaidWord } from '../changes/lastwords.js';
import { unknownText } from '../shm/noboard.js';
import { PROBLEM_TEXT } from '../shm/problems.js';
import { CLOCK_UNMEASURED, plural, reasonText, wallTime } from '../shm/sentences.js';
import { type Standing, standingTexts } from '../shm/standing.js';
import type { Painter } from '../terminal/style.js';
import { formatDuration } from '../text/durations.js';
import { fold } from '../text/hostlists.js';
import { json } from '../text/output.js';
import { counted, oneLine } from '../text/text.js';
import type { FoldedEvent } from './shapes.js';

/** One object per line: see jsonschema.ts. */
export function* objectLines(happenings: readonly BoardChange[]): Generator<string> {
  for (const { at, ...rest } of happenings)
    yield `${json({ schema: 1, time: new Date(milliseconds(at)).toISOString(), ...rest })}\n`;
}

/** The names by which `beoboard events --kind` knows an event: of a change of state, what it begins or ends. */
export function kindsOf(happening: object): unknown[] {
  const { event, from, to, problem } = happening as Readonly<Record<string, unknown>>;
  if (event !== 'state') return [event === 'reboot' ? 'boot' : event, problem];
  const comes = from === undefined ? 'new' : to === undefined && 'removed';
  return [comes, to, from === 'silent' && 'heard_again'];
}

function standingText(standing: Standing): string {
  const counts = standingTexts(standing);
  return `${plural(standing.nodes)}${counts.length > 0 ? `: ${counts.join(', ')}` : ''}`;
}

/** The same after what happened; a journal does not always have it. */
const thenStanding = (standing: Standing) => (standing.states === undefined ? '' : `: ${standingText(standing)}`);

const refusedFor = (reason = '') => (reason === 'clock' ? CLOCK_UNMEASURED : reasonText({ reason, offsetUs: 0 }));

/** What happened to a node, worded so that it fits one node or several: events with the same text are merged. */
export function nodeText(
  happening: BoardChange & { node?: string | undefined },
  { state }: Painter,
): string | undefined {
  switch (happening.event) {
    case 'state': {
      const { from, to } = happening;
      if (to === undefined) return 'no longer on the board';
      return from === undefined ? `new: ${state(to, to)}` : `${state(from, from)} -> ${state(to, to)}`;
    }
    case 'problem':
      return `problem: ${PROBLEM_TEXT[happening.problem]}`;
    case 'problem_resolved':
      return `problem resolved: ${PROBLEM_TEXT[happening.problem]}`;
    case 'restart':
      return 'sender restarted';
    case 'reboot':
      return 'booted';
    case 'reset':
      return 'reset: accepted only because nothing else was heard';
    case 'goodbye':
      return 'said goodbye';
    case 'clear':
      return 'problems that are not measured any more were cleared by hand';
    case 'clone':
      return `two machines report as one${happening.addresses === undefined ? '' : `, from ${happening.addresses.join(' and ')}`}`;
    case 'refusal':
      return `rejected: ${refusedFor(happening.reason)}`;
    default:
      return undefined;
  }
}

/** An event that is not about a node. */
export function boardText(happening: BoardChange): string {
  switch (happening.event) {
    case 'begin':
      return `watching ${standingText(happening)}`;
    case 'board':
      return `another board has replaced this one${thenStanding(happening)}`;
    case 'resumed':
      return `${happening.master === undefined ? 'the receiver is running' : 'the mirror hears its master'} again${thenStanding(happening)}`;
    case 'no_board':
      return `no board: ${happening.why}`;
    case 'stalled':
      return unknownText({
        ...{ closed: happening.closed, isMirror: happening.master !== undefined },
        heartbeatAgeMs: happening.heartbeat_age_ms,
      });
    case 'lost':
      return `${counted(happening.count, 'event was', 'events were')} lost: there were more between two looks than the board keeps, or another board replaced it`;
    case 'link_up':
      return `${oneLine(happening.link ?? '')} is up`;
    case 'link_down':
      return `${oneLine(happening.link ?? '')} is down: nothing is heard from the nodes behind it`;
    case 'dark':
      return `${oneLine(happening.link ?? '')} is dark: all ${happening.count} nodes behind it fell silent together; a switch or this master is more likely at fault`;
    case 'lit':
      return `${oneLine(happening.link ?? '')} is no longer dark: a node behind it is heard again`;
    case 'overflow':
      return `a socket buffer was full: ${counted(happening.count, 'datagram was', 'datagrams were')} dropped; see net.core.rmem_max`;
    case 'takeover':
      return `a receiver started, the ${ordinal(happening.instance ?? 0)} of this board`;
    case 'deaf':
      return `this master did not listen for ${formatDuration(happening.deaf_ms ?? 0)} until now: nothing is known of nodes for that time`;
    case 'followed':
      return `the mirror follows ${oneLine(happening.master ?? 'a master')}`;
    case 'forget':
      return `${counted(happening.count, 'node was', 'nodes were')} removed from the board`;
    case 'refusal':
      return `a datagram was rejected: ${refusedFor(happening.reason)}`;
    case 'unknown':
      return `an event of a kind that this version does not know, number ${happening.number}`;
    default:
      // A record that the board does not have.
      return `${happening.event} of an unknown node`;
  }
}

function ordinal(number: number): string {
  const ending = /1\d$/.test(String(number)) ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return `${number}${ending}`;
}

/** The range of the ages, from youngest to oldest; empty if none is known. */
function agesText(ages: readonly number[], verb: string): string {
  if (ages.length === 0) return '';
  const [least, most] = [formatDuration(Math.min(...ages)), formatDuration(Math.max(...ages))];
  return `, last ${verb} ${least === most ? least : `${least} to ${most}`} ago`;
}

/** Events of several nodes within so many ns become one line. A look covers a second, and the board's ring hours. */
const TOGETHER_NS = 1_000_000_000n;

/** One event, or the same event of several nodes within a second. */
interface Together {
  readonly happening: BoardChange;
  readonly what?: string;
  /** What the node had said last, as far as that is told. */
  readonly said?: readonly SaidWord[] | undefined;
  readonly nodes: string[];
  readonly ages: number[];
}

const stillOf = (happening: BoardChange) => (happening.event === 'state' ? happening.stood_still_ms : undefined);

function together(happenings: readonly BoardChange[], paint: Painter): Together[] {
  const found: Together[] = [];
  const byWhat = new Map<string, Together>();
  for (const happening of happenings) {
    const node = 'node' in happening ? happening.node : undefined;
    const what = node === undefined ? undefined : nodeText(happening, paint);
    if (node === undefined || what === undefined) {
      found.push({ happening, nodes: [], ages: [] });
      continue;
    }
    const said = 'last_words' in happening ? happening.last_words?.said : undefined;
    const key = `${what} ${said?.join()} ${stillOf(happening)}`;
    let one = byWhat.get(key);
    if (one === undefined || happening.at - one.happening.at > TOGETHER_NS) {
      one = { happening, what, said, nodes: [], ages: [] };
      byWhat.set(key, one);
      found.push(one);
    }
    one.nodes.push(node);
    if (happening.event === 'state' && happening.to !== 'live' && happening.age_ms !== undefined)
      one.ages.push(happening.age_ms);
    if (happening.event === 'problem_resolved' && happening.seen_ms !== undefined) one.ages.push(happening.seen_ms);
  }
  return found;
}

function textOf({ happening, what, said, nodes, ages }: Together): string {
  if (what === undefined) return boardText(happening);
  const several = nodes.length > 1 ? ` (${nodes.length} nodes)` : '';
  return `${oneLine(fold(nodes))}${several} ${what}${agesText(ages, happening.event === 'state' ? 'heard' : 'seen')}${afterEvent(stillOf(happening), said, nodes.length)}`;
}

const milliseconds = (ns: bigint) => Number(ns / 1_000_000n);

/** One line per event; nodes with the same event within a second share a line. */
export function textLines(happenings: readonly BoardChange[], paint: Painter): string[] {
  return together(happenings, paint).map(one => `${wallTime(milliseconds(one.happening.at))}  ${textOf(one)}\n`);
}

/** One object for each line that `textLines` has. */
export function foldedEvents(happenings: readonly BoardChange[], paint: Painter): FoldedEvent[] {
  return together(happenings, paint).map(one => {
    const { at, ...happening } = one.happening;
    // Several nodes have several ages and numbers, so these are left out.
    const { node: _, age_ms, seen_ms, number, last_words, ...rest } = happening as Record<string, unknown>;
    const single =
      one.nodes.length > 1
        ? {}
        : Object.fromEntries(Object.entries({ age_ms, seen_ms, number }).filter(([, value]) => value !== undefined));
    const words =
      last_words === undefined ? {} : { last_words: one.nodes.length > 1 ? { said: one.said } : last_words };
    const nodes = one.nodes.length === 0 ? {} : { nodes: fold(one.nodes), count: one.nodes.length };
    const time = new Date(milliseconds(at)).toISOString();
    return { time, ...(rest as { event: string }), ...single, ...words, text: textOf(one), ...nodes };
  });
}
