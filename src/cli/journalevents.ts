// The events of journals, for `beoboard events`: those of a span, what is written next, and how nodes ended.

import { once } from 'node:events';
import { news } from '../journalfile/following.js';
import { JOBS_GROUP } from '../journalfile/format.js';
import { Journal } from '../journalfile/journal.js';
import { lastEnds } from '../journalfile/lastends.js';
import { type EventQuery, Listing, merged } from '../journalfile/listing.js';
import { believedUsers, JournalFolder, NoJournal } from '../journalfile/segments.js';
import { UsageError, type Values } from '../options/options.js';
import type { forms } from '../options/table.js';
import { journalLine, journalObject, lastEndLine, lastEndObject } from '../presentation/journallines.js';
import { pause } from '../service/pause.js';
import { wallTime } from '../shm/sentences.js';
import { painter } from '../terminal/style.js';
import { dayLater } from '../text/moments.js';
import { print } from '../text/output.js';
import { oneLine } from '../text/text.js';

export { NoJournal };

/** The options of `beoboard events` that ask journals. */
type JournalEventsOptions = Values<
  | ('since' | 'until' | 'last' | 'last-end' | 'follow' | 'for' | 'nodes' | 'kind')
  | ('journal-dir' | 'owner' | 'json' | 'color'),
  typeof forms.events
>;

/** The time between two looks for what is written next. */
const LOOK_MS = 250;

const wrong = (what: string) => new UsageError(what);

/** The span, and which events of it. Throws a UsageError. */
function askedOf(values: JournalEventsOptions, isLast: boolean, nowMs: number): EventQuery & { last: number } {
  const { since, last, nodes, kind, follow, lastEnd } = values;
  let until = values.until?.lastMs;
  const isLong = 'ms' in last;
  if (isLong && since !== undefined) throw wrong('--since and --last TIME both say when to begin; give one of them');
  if (follow && until !== undefined) throw wrong('--follow has no end; give no --until');
  if (lastEnd && (follow || kind !== undefined))
    throw wrong('--last-end lists nodes; give neither --follow nor --kind');
  if (!follow && values.for) throw wrong('--for says how long to follow; give --follow, too');
  if (since !== undefined && since.ms > nowMs) throw wrong('--since lies in the future; give a moment of the past');
  const sinceMs = since?.ms ?? (isLong ? nowMs - last.ms : follow && !isLast ? nowMs : Number.NEGATIVE_INFINITY);
  // From 23:00 to 01:00, and at 9 o'clock from 03:00 to 12:00.
  if (until !== undefined && values.until?.isTimeOfDay && until < sinceMs) until = dayLater(until, 1);
  if (until !== undefined && until < sinceMs) throw wrong('--until lies before the begin; give a later moment');
  return {
    sinceMs,
    untilMs: until ?? Number.POSITIVE_INFINITY,
    nodes: nodes && new Set(nodes),
    kinds: kind && new Set(kind),
    last: isLast && !isLong ? last.count : Number.POSITIVE_INFINITY,
  };
}

const tell = (text: string) => process.stderr.write(`beoboard events: ${text}\n`);

/** Tells what was left out of journals, once. */
class JournalOmissions {
  readonly #told = new Set<string>();

  constructor(
    readonly journals: readonly Journal[],
    readonly asked: EventQuery,
  ) {}

  tell(): void {
    const { sinceMs, untilMs } = this.asked;
    for (const { folder, unreadable, beginsMs = Number.NEGATIVE_INFINITY } of this.journals) {
      const where = oneLine(folder.path);
      // Else nobody could tell a quiet night from one of which nothing is known.
      if (beginsMs > (Number.isFinite(sinceMs) ? sinceMs : untilMs))
        this.#once(`${where}:`, `begins only at ${wallTime(beginsMs)}`);
      for (const [name, why] of folder.refused) this.#once(`${where}/${oneLine(name)}`, `is left out: ${why}`);
      const lines = unreadable === 1 ? 'line is' : 'lines are';
      if (unreadable > 0) this.#once(`${where}:`, `${unreadable} ${lines} left out: no line of a journal`);
      if (folder.areJobsDenied) this.#once('jobs', `are left out: you may not read them (group ${JOBS_GROUP})`);
    }
  }

  #once(what: string, text: string): void {
    if (this.#told.has(`${what} ${text}`)) return;
    this.#told.add(`${what} ${text}`);
    tell(`${what} ${text}`);
  }
}

/** Opens the journals that are there; throws if none is. */
function openAll<T>(folders: readonly string[], open: (folder: string) => T): { opened: T[]; areAll: boolean } {
  const opened: T[] = [];
  const missing: NoJournal[] = [];
  for (const folder of new Set(folders)) {
    try {
      opened.push(open(folder));
    } catch (error) {
      if (!(error instanceof NoJournal)) throw error;
      missing.push(error);
    }
  }
  const [first] = missing;
  if (opened.length === 0 && first !== undefined) throw first;
  for (const { message } of missing) tell(message);
  return { opened, areAll: missing.length === 0 };
}

/** Shows what journals have. Returns the exit code. */
export async function journalEvents(
  values: JournalEventsOptions,
  isLast: boolean,
  signal: AbortSignal,
): Promise<number> {
  const asked = askedOf(values, isLast, Date.now());
  const believed = believedUsers(values.owner);
  const paint = painter(values.color);
  const journalOf = (path: string) => new Journal(new JournalFolder(path, believed));
  const areSeveral = (boards: readonly string[]) => new Set(boards).size > 1;

  if (values.lastEnd) {
    const { opened, areAll } = openAll(values.journalDir, path => {
      const journal = journalOf(path);
      return { journal, ends: lastEnds(journal, asked) };
    });
    const ends = opened.flatMap(({ ends }) => ends).sort((a, b) => a.fromMs - b.fromMs || (a.board < b.board ? -1 : 1));
    const isNamed = areSeveral(ends.map(({ board }) => board));
    const shown = ends.slice(Math.max(0, ends.length - asked.last));
    await print(shown.map(end => (values.json ? lastEndObject(end) : lastEndLine(end, paint, isNamed))));
    new JournalOmissions(
      opened.map(({ journal }) => journal),
      asked,
    ).tell();
    return areAll ? 0 : 1;
  }

  const { opened, areAll } = openAll(values.journalDir, path => new Listing(journalOf(path), asked));
  const journals = opened.map(({ journal }) => journal);
  const isNamed = areSeveral(journals.map(({ board }) => board));
  const lineOf = values.json
    ? journalObject
    : (told: Parameters<typeof journalLine>[0]) => journalLine(told, paint, isNamed);
  function* lines() {
    for (const told of merged(opened, asked.last)) yield lineOf(told);
  }
  await print(lines());
  const leftOut = new JournalOmissions(journals, asked);
  leftOut.tell();
  while (values.follow && !signal.aborted) {
    await pause(LOOK_MS, signal);
    const text = news(journals, asked).map(lineOf).join('');
    leftOut.tell();
    if (text !== '' && !process.stdout.write(text))
      await once(process.stdout, 'drain', { signal }).catch(() => undefined);
  }
  return areAll ? 0 : 1;
}
