// Trouble of nodes that the board remembers: problems and silences that last, or ended within the last hour. Each node
// has its own begin.

import { HOUR_MS } from '../changes/deafness.js';
import { afterwards, LastReports, type SaidWord, saidFacts } from '../changes/lastwords.js';
import type { Survey, Surveyed } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { mirrorOf } from '../shm/header.js';
import type { Memory } from '../shm/memory.js';
import { PROBLEM_TEXT, PROBLEMS, type Problem, problemBit } from '../shm/problems.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold } from '../text/hostlists.js';
import type { Finding } from './finding.js';
import type { TroubleKind } from './kinds.js';
import { causeText, switchOf } from './switches.js';
import { type Fall, groupsOf, racksOf } from './together.js';

/** Trouble that is back within this time is the same, ms. */
const REOPENED_MS = 600_000;
/** Reports that are no further apart may be the last ones of nodes that died at once, ms. */
const AT_ONCE_MS = 1000;
/** A node's last report may have come so long before its link failed, ms. */
const BEFORE_MS = 15_000;

/** One node's trouble; times in ms before the look. */
interface Spell {
  readonly node: Surveyed;
  /** Undefined: the board does not remember it. */
  readonly beganMs: number | undefined;
  /** Undefined: it lasts. */
  readonly endedMs: number | undefined;
  /** How often, since when that is remembered. */
  readonly count: number;
  readonly sinceMs: number;
}

type NodeMemories = ReadonlyMap<Surveyed, Memory>;

/** The trouble that ended last, and whatever had ended shortly before that began. */
function lastOnes(ended: readonly Spell[]): Spell[] {
  const found = new Set<Spell>();
  let began = 0;
  for (const spell of [...ended].sort((a, b) => (a.endedMs ?? 0) - (b.endedMs ?? 0))) {
    if (found.size > 0 && (spell.endedMs ?? 0) - began > REOPENED_MS) break;
    found.add(spell);
    began = Math.max(began, spell.beganMs ?? 0);
  }
  // In the order of the board.
  return ended.filter(spell => found.has(spell));
}

/** The line of these: of those that last, or if there are none, of those that ended last. Undefined: there are none. */
function lineOf(
  kind: TroubleKind,
  cause: string | undefined,
  spells: readonly Spell[],
  what: (of: readonly Spell[]) => string,
) {
  const lasting = spells.filter(({ endedMs }) => endedMs === undefined);
  const ofLine = lasting.length > 0 ? lasting : lastOnes(spells);
  if (ofLine.length === 0) return [];
  const begins = ofLine.flatMap(({ beganMs }) => beganMs ?? []);
  const first = begins.reduce((a, b) => Math.max(a, b), 0);
  const last = begins.reduce((a, b) => Math.min(a, b), first);
  let most: Spell = ofLine[0] as Spell;
  let ended = Number.POSITIVE_INFINITY;
  for (const spell of ofLine) {
    if (spell.count > most.count) most = spell;
    ended = Math.min(ended, spell.endedMs ?? ended);
  }
  return [
    {
      ...{ kind, cause, nodes: ofLine.map(({ node }) => node), what: what(ofLine), sentences: [] },
      sinceMs: begins.length === 0 ? undefined : first,
      lastMs: first - last <= AT_ONCE_MS || lasting.length === 0 ? undefined : last,
      endedMs: lasting.length > 0 ? undefined : ended,
      times: most.count > 1 ? { count: most.count, sinceMs: most.sinceMs } : undefined,
    } satisfies Finding,
  ];
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

/** The problems of these nodes. */
export function problemLines(memories: NodeMemories, nodes: readonly Surveyed[]): Finding[] {
  const byProblem = new Map<Problem, Spell[]>(PROBLEMS.map(problem => [problem, []]));
  for (const node of nodes) {
    const memory = memories.get(node);
    if (memory === undefined && node.problems === 0) continue;
    const isHeard = node.state === 'live' || node.state === 'uncertain';
    for (const [problem, spells] of byProblem) {
      const has = (node.problems & problemBit(problem)) !== 0;
      const episode = memory?.episode(problem);
      const { seenMs = 0, isOver = false } = episode ?? {};
      // A node that is not heard has another trouble, and its problems are unknown.
      const lasts = has || (isHeard && episode !== undefined && !isOver);
      // Of a node that is no longer heard, it is known until its last report.
      const wasLately = !lasts && episode !== undefined && seenMs < HOUR_MS;
      if (!lasts && !wasLately) continue;
      // Of one that has just begun, the board notes the begin with the report that shows it.
      const { count = 1, beganMs } = lasts && isOver ? {} : (episode ?? {});
      spells.push({ node, beganMs, endedMs: lasts ? undefined : seenMs, count, sinceMs: memory?.sinceMs ?? 0 });
    }
  }
  return Array.from(byProblem, ([problem, spells]) =>
    lineOf(problem, undefined, spells, () => PROBLEM_TEXT[problem]),
  ).flat();
}

/** What the last reports of silent nodes said, by what most of them said first. `isAll`: also that none said anything. */
function words(reports: LastReports, snapshot: Snapshot, spells: readonly Spell[], isAll: boolean): string {
  if (spells[0]?.endedMs !== undefined) return '';
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
  const isMirror = mirrorOf(snapshot) !== undefined;
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
    // One that lasted when the receiver was away goes on, although it is uncertain for a while.
    const isNow = state === 'silent' || (isKnown && !isMirror);
    found.push({ node, beganMs, endedMs: undefined, count, sinceMs, isSilent: isNow, isNow });
  }
  return found;
}

/** Those that no link explains: neither one that is down or dark now, nor one that was when the node fell silent. */
function unexplained(falls: readonly SilenceSpell[], links: readonly Finding[]): SilenceSpell[] {
  const causes = links.map(({ nodes, sinceMs = 0, endedMs }) => ({ nodes: new Set(nodes), sinceMs, endedMs }));
  const explains = ({ node, beganMs, endedMs }: SilenceSpell) =>
    causes.some(({ nodes, sinceMs, endedMs: over }) => {
      const isThen = over === undefined ? endedMs === undefined : beganMs <= sinceMs + BEFORE_MS && beganMs >= over;
      return isThen && nodes.has(node);
    });
  return causes.length === 0 ? [...falls] : falls.filter(fall => !explains(fall));
}

/**
 * Those of the chosen nodes that are silent, or were: together, as is found among all nodes, or by themselves. `links`:
 * those that failed, which explain silences. `scheduler`: may know the switch behind which they are.
 */
export function silenceLines(
  found: Survey,
  memories: NodeMemories,
  links: readonly Finding[],
  scheduler: SchedulerView | undefined,
): Finding[] {
  const { snapshot, all, nodes } = found;
  const falls = unexplained(silences(snapshot, all, memories), links);
  const reports = new LastReports(snapshot);
  const chosen = nodes === all ? undefined : new Set(nodes);
  const isChosen = ({ node }: SilenceSpell) => chosen === undefined || chosen.has(node);
  const nowMs = Number(snapshot.evidence.nowNs / 1_000_000n);
  const groups = new Map<string, SilenceSpell[]>();
  for (const group of groupsOf(snapshot, falls)) {
    const began = group.reduce((most, { beganMs }) => Math.max(most, beganMs), 0);
    // Of its racks, the first one: whichever of the others are well again, the line stays the same.
    const [cause = `at-${Math.floor((nowMs - began) / 1000)}`] = racksOf(group.map(({ node }) => node)) ?? [];
    groups.set(cause, [...(groups.get(cause) ?? []), ...group]);
  }
  const grouped = new Set([...groups.values()].flat());
  // A group fell as often as the node of it that fell least.
  const together = [...groups].flatMap(([cause, group]) => {
    const those = group.map(({ node }) => node);
    const racks = racksOf(those);
    const why = causeText(switchOf(found, those, scheduler));
    const count = group.reduce((least, fall) => Math.min(least, fall.count), Number.POSITIVE_INFINITY);
    const fell = group.filter(isChosen).map(fall => ({ ...fall, count }));
    return lineOf('together', cause, fell, of => {
      const who =
        of.length === group.length ? '' : ` (${group.length} nodes${racks === undefined ? '' : ` of ${fold(racks)}`})`;
      return `fell silent together${who}: ${why}${words(reports, snapshot, of, false)}`;
    });
  });
  const rest = falls.filter(fall => !grouped.has(fall) && (fall.isNow || fall.endedMs !== undefined) && isChosen(fall));
  const silent = lineOf('silent', undefined, rest, of => `silent${words(reports, snapshot, of, true)}`);
  return [...together, ...silent];
}
