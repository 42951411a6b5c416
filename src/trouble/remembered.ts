// Trouble of nodes that the board remembers: problems and silences that last, or ended within the last hour. Each node
// has its own begin.

import { HOUR_MS } from '../changes/deafness.js';
import { afterwards, LastReports, type SaidWord, saidFacts, stoodStill } from '../changes/lastwords.js';
import { AT_ONCE_INTERVALS } from '../changes/silences.js';
import type { HourTimes } from '../journalfile/state.js';
import { enums } from '../layout/layout.gen.js';
import type { Survey, Surveyed } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { sinceMs } from '../shm/header.js';
import type { Episode, Memory } from '../shm/memory.js';
import { PROBLEM_TEXT, PROBLEMS, type Problem, problemBit, problemsOf } from '../shm/problems.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold } from '../text/hostlists.js';
import { getOrInsert, groupBy } from '../text/maps.js';
import { oneLine } from '../text/text.js';
import { type Finding, FLAPPING_FROM, ofSpells, type Spell } from './finding.js';
import type { TroubleKind } from './kinds.js';
import { explains, type Outage } from './outages.js';
import { causeText, switchOf } from './switches.js';
import { type Fall, groupsOf, racksOf, USUAL_INTERVAL_MS } from './together.js';

/** Problems are measured every ten seconds or more often: what begins at one moment is seen within this time, ms. */
const MEASURED_MS = 11_000;

/** Sources that a node may lose, and the problems that they show. */
const SOURCES = {
  health: { text: 'its health file is gone', shows: ['bad_health', 'health_warning'] },
  gpu: { text: 'what reads its GPUs has stopped', shows: ['gpu_lost', 'gpu_errors'] },
} as const;

/** Sources of a node that are gone, and since when, ms before the look; less those whose problems tell it. */
export function goneSources(snapshot: Snapshot, index: number, memory: Memory | undefined) {
  const told = problemsOf(snapshot.overview.unmeasured[index] as number);
  return (['health', 'gpu'] as const).flatMap(source => {
    const { text, shows } = SOURCES[source];
    const goneMs = memory?.goneMs(source);
    const isTold =
      goneMs === undefined || goneMs < snapshot.unmeasuredLimitMs(index) || shows.some(one => told.includes(one));
    return isTold ? [] : [{ source, text, goneMs }];
  });
}

/** How far apart two episodes may have begun or ended that are one, by the rule of nodes that fell together. */
const reach = (intervalMs: number) => AT_ONCE_INTERVALS * (intervalMs || USUAL_INTERVAL_MS);

/** The same of problems. */
const problemReach =
  (snapshot: Snapshot) =>
  ({ node }: Spell) =>
    Math.max(MEASURED_MS, reach(snapshot.intervalOf(node.index)));

export type NodeMemories = ReadonlyMap<Surveyed, Memory>;

/** What all lines of the board's memory are made with. */
export interface Telling {
  readonly hour: HourTimes;
  /** What was over for longer is left out, ms. */
  readonly withinMs: number;
  /** CLOCK_MONOTONIC of the look, ms. */
  readonly nowMs: number;
  /** These explain silences. */
  readonly outages: readonly Outage[];
}

/**
 * How often it began within the last hour, as far as a journal or a board that is younger tells; 0: nobody knows.
 * Silences that were those of a link are none of the node's.
 */
function timesInHour(kind: TroubleKind, { node, count, sinceMs }: Spell, { hour, outages }: Telling): number {
  const all = Math.max(hour.nodes.get(kind)?.get(node.name) ?? 0, sinceMs <= HOUR_MS ? count : 0);
  return kind === 'silent' ? all - outages.filter(({ isDown, nodes }) => !isDown && nodes.has(node)).length : all;
}

/** Parts of a list whose times lie no further apart than `limit`, the earliest first. */
function partsWithin<T>(list: readonly T[], timeOf: (one: T) => number, limit: (one: T) => number): T[][] {
  const parts: T[][] = [];
  let [most, far] = [0, 0];
  for (const one of [...list].sort((a, b) => timeOf(b) - timeOf(a))) {
    const part = parts.at(-1);
    if (part !== undefined && most - timeOf(one) <= far) part.push(one);
    else {
      parts.push([one]);
      [most, far] = [timeOf(one), limit(one)];
    }
  }
  return parts;
}

/** Those that are one episode: they began together, and are in the same phase; those that are over ended together. */
function episodesOf(spells: readonly Spell[], limit: (spell: Spell) => number): Spell[][] {
  const byLimit = groupBy(
    spells,
    spell => `${limit(spell)} ${spell.endedMs === undefined} ${spell.beganMs === undefined} ${spell.endedBy}`,
  );
  return [...byLimit.values()]
    .flatMap(alike => partsWithin(alike, ({ beganMs = 0 }) => beganMs, limit))
    .flatMap(part => partsWithin(part, ({ endedMs = 0 }) => endedMs, limit));
}

const isOver = ([spell]: readonly Spell[]) => spell?.endedMs !== undefined;

/** An episode of nodes, and why it has a key of its own. */
interface ToldEpisode {
  readonly spells: readonly Spell[];
  /** The node that flaps, or the rack. */
  readonly cause?: string | undefined;
  readonly flapping?: number | undefined;
  readonly what: (of: readonly Spell[]) => string;
}

/** So many lines of a kind last, and so many are over, at most; the older ones are one line, which tells from when to when. */
export const LINES_MOST = 32;

/** Those with lines of their own: the youngest; the others are one. */
function bounded(episodes: readonly ToldEpisode[]): ToldEpisode[] {
  return [false, true].flatMap(over => {
    const those = episodes.filter(({ spells }) => isOver(spells) === over);
    if (those.length <= LINES_MOST) return those;
    const begin = ({ spells: [spell] }: ToldEpisode) => spell?.beganMs ?? Number.POSITIVE_INFINITY;
    const sorted = those.sort((a, b) => begin(a) - begin(b));
    const [own, rest] = [sorted.slice(0, LINES_MOST - 1), sorted.slice(LINES_MOST - 1)];
    const { what } = rest[0] as ToldEpisode;
    return [...own, { what, spells: rest.flatMap(({ spells }) => spells) }];
  });
}

/**
 * The findings of episodes of one kind. The key of the one that has lasted longest, or if none lasts, of the one that
 * ended last, is the kind with its cause alone; the others have the time of their begin, and of their end, behind it.
 */
export function told(kind: TroubleKind, episodes: readonly ToldEpisode[], { nowMs }: Telling): Finding[] {
  const taken = new Set<string>();
  const rank = ({ endedMs }: Finding) => endedMs ?? -1;
  const begin = ({ sinceMs }: Finding) => sinceMs ?? Number.MAX_VALUE;
  return bounded(episodes)
    .map(({ spells, cause, flapping, what }) => ({
      ...{ kind, cause, what: what(spells), sentences: [], flapping },
      ...ofSpells(spells),
    }))
    .sort((a, b) => rank(a) - rank(b) || begin(b) - begin(a))
    .map(({ cause: own, ...finding }) => {
      const times = [finding.sinceMs ?? nowMs, ...(finding.endedMs === undefined ? [] : [finding.endedMs])];
      const moment = `at-${times.map(ms => Math.floor(nowMs - ms)).join('-')}`;
      let cause = own ?? '';
      for (let i = 0; taken.has(cause); i++) cause = [own, moment, ...(i > 0 ? [i] : [])].filter(Boolean).join(':');
      taken.add(cause);
      return { ...finding, cause: cause === '' ? undefined : cause };
    });
}

/** The lines of these: one for each node that flaps, and one for each episode of the others. */
function linesOf(
  kind: TroubleKind,
  spells: readonly Spell[],
  limit: (spell: Spell) => number,
  what: (of: readonly Spell[]) => string,
  telling: Telling,
): Finding[] {
  if (spells.length === 0) return [];
  const flaps = new Map(spells.map(spell => [spell, timesInHour(kind, spell, telling)]));
  const isFlapping = (spell: Spell) => (flaps.get(spell) ?? 0) >= FLAPPING_FROM;
  const episodes = episodesOf(
    spells.filter(spell => !isFlapping(spell)),
    limit,
  );
  return told(
    kind,
    [
      ...spells
        .filter(isFlapping)
        .map(spell => ({ spells: [spell], cause: oneLine(spell.node.name), flapping: flaps.get(spell), what })),
      ...episodes.map(those => ({ spells: those, what })),
    ],
    telling,
  );
}

/** What is remembered of those of these nodes that have trouble or had it within the last hour. */
export function troubled(snapshot: Snapshot, all: readonly Surveyed[]): NodeMemories {
  const memories = new Map<Surveyed, Memory>();
  for (const node of all) {
    const memory = snapshot.troubleWithin(node.index, HOUR_MS) ? snapshot.memoryOf(node.index) : undefined;
    if (memory !== undefined) memories.set(node, memory);
  }
  return memories;
}

/** What is not measured of these nodes any more: problems that they last had, and sources that are gone. */
function unmeasuredLines({ snapshot, nodes }: Survey, memories: NodeMemories, telling: Telling): Finding[] {
  const found = new Map<string, { text: string; spells: Spell[] }>();
  const add = (cause: string, text: string, spell: Spell) =>
    getOrInsert(found, cause, () => ({ text, spells: [] })).spells.push(spell);
  for (const node of nodes.filter(node => memories.has(node))) {
    const memory = memories.get(node) as Memory;
    if (node.state !== 'live' && node.state !== 'uncertain') continue;
    const spell = (beganMs: number | undefined): Spell => ({
      ...{ node, beganMs, endedMs: undefined, count: 1, sinceMs: memory.sinceMs },
    });
    for (const problem of problemsOf(snapshot.overview.unmeasured[node.index] as number))
      add(problem, PROBLEM_TEXT[problem], spell(memory.episode(problem)?.measuredMs));
    for (const { source, text, goneMs } of goneSources(snapshot, node.index, memory)) add(source, text, spell(goneMs));
  }
  return Array.from(found, ([cause, { text, spells }]) =>
    told(
      'unmeasured',
      episodesOf(spells, problemReach(snapshot)).map(those => ({
        spells: those,
        cause,
        what: () => `${text}: not measured any more`,
      })),
      telling,
    ),
  ).flat();
}

/** The events of each node in the last hour, the latest first. */
function eventsByNode(snapshot: Snapshot) {
  const events = snapshot.lateEvents(HOUR_MS).map(({ kind, stampNs, subject, detail }) => ({
    ...{ event: enums.event_kind[kind], ageMs: sinceMs(snapshot, stampNs), subject, detail },
  }));
  return groupBy(events.reverse(), ({ subject }) => subject);
}

type NodeEvents = readonly { readonly event: string | undefined; readonly ageMs: number; readonly detail: number }[];

/** What ended an episode that is over before it was measured as absent for long enough, and when; else nothing. */
function cutShort({ problem, seenMs, measuredMs }: Episode, memory: Memory, events: NodeEvents): Partial<Spell> {
  const late = events.filter(({ ageMs }) => ageMs < seenMs);
  const clear = late.findLast(({ event, detail }) => event === 'clear' && (detail & problemBit(problem)) !== 0);
  const { bootMs = 0, lastWords } = memory;
  const boot = late.findLast(({ event }) => event === 'reboot')?.ageMs ?? (bootMs < seenMs ? bootMs : 0);
  // The last report of the boot before, if it is known: until then it may have been measured.
  const goodbyes = events.flatMap(({ event, ageMs }) => (event === 'goodbye' ? [ageMs] : []));
  const lasts = [...goodbyes, lastWords?.reportedMs ?? 0].filter(ms => ms >= boot && ms <= seenMs + 1);
  if (boot > (clear?.ageMs ?? 0) && (lasts.length === 0 ? boot : Math.min(...lasts)) > measuredMs)
    return { endedMs: boot, endedBy: '; ended by a boot' };
  return clear === undefined ? {} : { endedMs: clear.ageMs, endedBy: '; ended by beoboard clear' };
}

/** The problems of these nodes. */
export function problemLines(found: Survey, memories: NodeMemories, telling: Telling): Finding[] {
  const { snapshot, nodes } = found;
  const byProblem = new Map<Problem, Spell[]>(PROBLEMS.map(problem => [problem, []]));
  const events = memories.size === 0 ? undefined : eventsByNode(snapshot);
  for (const node of nodes) {
    const memory = memories.get(node);
    if (memory === undefined && node.problems === 0) continue;
    const isHeard = node.state === 'live' || node.state === 'uncertain';
    for (const problem of PROBLEMS) {
      const has = (node.problems & problemBit(problem)) !== 0;
      const episode = memory?.episode(problem);
      const { seenMs = 0, isOver = false } = episode ?? {};
      // What is not measured any more has a line of its own.
      if (!has && ((snapshot.overview.unmeasured[node.index] as number) & problemBit(problem)) !== 0) continue;
      const lasts = has || (node.recent & problemBit(problem)) !== 0;
      if (!lasts && (episode === undefined || seenMs >= HOUR_MS)) continue;
      // Of one that has just begun, the board notes the begin with the report that shows it.
      const isNew = lasts && isOver;
      const beganMs = isNew ? snapshot.ageMs(node.index) : episode?.beganMs;
      const count = (episode?.count ?? 1) + Number(isNew);
      const since = memory?.sinceMs ?? 0;
      const spell: Spell = {
        ...{ node, beganMs, isFirst: beganMs === since, count, sinceMs: since },
        ...{ endedMs: lasts ? undefined : seenMs },
      };
      // Of a node that is no longer heard, it is known until its last report.
      if (!lasts && !isOver && !isHeard) Object.assign(spell, { endedBy: '; known until the last report' });
      if (!lasts && isOver && memory && episode)
        Object.assign(spell, cutShort(episode, memory, events?.get(node.index) ?? []));
      if ((spell.endedMs ?? 0) <= telling.withinMs) byProblem.get(problem)?.push(spell);
    }
  }
  const lines = Array.from(byProblem, ([problem, spells]) =>
    linesOf(
      problem,
      spells,
      problemReach(snapshot),
      of =>
        `${PROBLEM_TEXT[problem]}${of.every(({ endedBy }) => endedBy === of[0]?.endedBy) ? (of[0]?.endedBy ?? '') : ''}`,
      telling,
    ),
  );
  return [...lines.flat(), ...unmeasuredLines(found, memories, telling)];
}

/** What the reports said that ended silences, in words that follow; empty: nothing. */
export function stillWords(spells: readonly Spell[]): string {
  const known = spells.flatMap(({ stoodStillMs = [] }) => stoodStillMs);
  const still = stoodStill(known, spells.length);
  return still === undefined ? '' : `; ${still}`;
}

/** What the last reports of silent nodes said, by what most of them said first. `isAll`: also that none said anything. */
function words(reports: LastReports, snapshot: Snapshot, spells: readonly Spell[], isAll: boolean): string {
  if (spells[0]?.endedMs !== undefined) return stillWords(spells);
  const said = new Map<string, { rows: readonly SaidWord[]; count: number }>();
  for (const { node } of spells) {
    const rows = reports.of({ snapshot, index: node.index })?.rows ?? [];
    const key = rows.join();
    said.set(key, { rows, count: (said.get(key)?.count ?? 0) + 1 });
  }
  const telling = [...said.values()].filter(({ rows }) => rows.length > 0).sort((a, b) => b.count - a.count);
  const [first] = telling;
  if (first === undefined) return isAll ? `; ${afterwards([], spells.length)}` : '';
  if (first.count === spells.length) return `; ${afterwards(first.rows, first.count)}`;
  const parts = telling.slice(0, 3).map(({ rows, count }) => `${count} last reported: ${saidFacts(rows).join(', ')}`);
  return `; ${parts.join('; ')}`;
}

type SilenceSpell = Spell & Fall & { readonly isNow: boolean };

/** Silences, and times in which a node that is uncertain now was not heard. */
function silences(snapshot: Snapshot, all: readonly Surveyed[], memories: NodeMemories): SilenceSpell[] {
  const found: SilenceSpell[] = [];
  for (const node of all) {
    const { state, index } = node;
    const silence = memories.get(node)?.silence;
    const isUnheard = state === 'silent' || state === 'uncertain';
    if (!isUnheard && silence === undefined) continue;
    const sinceMs = snapshot.memoryOf(index)?.sinceMs ?? snapshot.ageMs(index);
    // The writer notes an end within a second.
    const endedMs = silence?.endedMs ?? (state === 'live' ? snapshot.ageMs(index) : undefined);
    if (silence !== undefined && endedMs !== undefined && endedMs < HOUR_MS && state !== 'silent')
      found.push({ ...silence, node, endedMs, sinceMs, isSilent: true, isNow: false });
    if (!isUnheard) continue;
    const isKnown = silence !== undefined && silence.endedMs === undefined;
    // Of a silence that is noted, the time is the same at every look; a new one is noted within a second.
    const { beganMs, count } = isKnown ? silence : { beganMs: snapshot.ageMs(index), count: (silence?.count ?? 0) + 1 };
    // One that lasted when the receiver was away goes on, although it is uncertain for a while; but for link 0 a mirror
    // does not vouch.
    const isNow = state === 'silent' || (isKnown && !(snapshot.isMirror && snapshot.linkOf(index) === 0));
    found.push({ node, beganMs, endedMs: undefined, count, sinceMs, isSilent: isNow, isNow });
  }
  return found;
}

/**
 * Those of the chosen nodes that are silent, or were: together, as is found among all nodes, or by themselves. `scheduler`: may
 * know the switch behind which they are.
 */
export function silenceLines(
  found: Survey,
  memories: NodeMemories,
  scheduler: SchedulerView | undefined,
  telling: Telling,
): Finding[] {
  const { snapshot, all, nodes } = found;
  const isUnexplained = (fall: SilenceSpell) =>
    !telling.outages.some(outage => explains(outage, fall, snapshot.intervalOf(fall.node.index)));
  const falls = silences(snapshot, all, memories).filter(isUnexplained);
  const reports = new LastReports(snapshot);
  const chosen = nodes === all ? undefined : new Set(nodes);
  const isChosen = ({ node, endedMs = 0 }: SilenceSpell) =>
    (chosen === undefined || chosen.has(node)) && endedMs <= telling.withinMs;
  const grouped = new Set<SilenceSpell>();
  const byCause = new Map<string, ToldEpisode[]>();
  for (const group of groupsOf(snapshot, falls)) {
    for (const fall of group) grouped.add(fall);
    const those = group.map(({ node }) => node);
    const began = group.reduce((most, { beganMs }) => Math.max(most, beganMs), 0);
    const racks = racksOf(those);
    // Of its racks, the first one: whichever of the others are well again, the line stays the same.
    const [cause = `at-${Math.floor((telling.nowMs - began) / 1000)}`] = racks ?? [];
    const why = causeText(switchOf(found, those, scheduler));
    // A group fell as often as the node of it that fell least.
    const [count, inHour] = [
      ({ count }: SilenceSpell) => count,
      (fall: SilenceSpell) => timesInHour('silent', fall, telling),
    ].map(often => group.reduce((least, fall) => Math.min(least, often(fall)), Number.POSITIVE_INFINITY)) as [
      number,
      number,
    ];
    const what = (of: readonly Spell[]) => {
      const who =
        of.length === group.length ? '' : ` (${group.length} nodes${racks === undefined ? '' : ` of ${fold(racks)}`})`;
      return `fell silent together${who}: ${why}${words(reports, snapshot, of, false)}`;
    };
    // Its nodes come back one after another: that is one incident still.
    for (const over of [false, true]) {
      const spells = group.filter(fall => isChosen(fall) && isOver([fall]) === over).map(fall => ({ ...fall, count }));
      const flapping = inHour >= FLAPPING_FROM ? inHour : undefined;
      if (spells.length > 0) byCause.set(cause, [...(byCause.get(cause) ?? []), { spells, cause, flapping, what }]);
    }
  }
  const together = [...byCause.values()].flatMap(episodes => told('together', episodes, telling));
  const rest = falls.filter(fall => !grouped.has(fall) && (fall.isNow || fall.endedMs !== undefined) && isChosen(fall));
  const silent = linesOf(
    'silent',
    rest,
    ({ node }) => reach(snapshot.intervalOf(node.index)),
    of => `silent${words(reports, snapshot, of, true)}`,
    telling,
  );
  return [...together, ...silent];
}
