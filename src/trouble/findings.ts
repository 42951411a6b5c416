// What is wrong on a board, found once: the sentences of `anomalies` and the list of trouble are made from this.

import { LastReports, lastWordsTexts } from '../changes/lastwords.js';
import { hourTimes, journalTroubles } from '../journalfile/state.js';
import type { Survey, Surveyed } from '../query/survey.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { byProblem, PROBLEM_TEXT } from '../shm/problems.js';
import type { Snapshot } from '../shm/snapshot.js';
import { fold } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import { oneLine } from '../text/text.js';
import { marksText } from '../words/marks.js';
import { disagreements } from './disagreements.js';
import { type Anomaly, type Finding, shown } from './finding.js';
import { clones, RIVAL, refused, rivals, senders } from './identities.js';
import { failedLinks, linkSentences, newLinks, pieces, unvouched } from './links.js';
import { outagesOf } from './outages.js';
import { deafness, drops, notOnBoardFinding, receiverFindings } from './receiver.js';
import { FULL, lateSenders } from './rejections.js';
import { problemLines, silenceLines, type Telling, troubled } from './remembered.js';
import { reportFindings } from './reports.js';
import { causeText, switchOf } from './switches.js';
import { groupsOf, racksOf } from './together.js';

export type { Anomaly } from './finding.js';

/** Unheard nodes that fell together and whose silence has no other explanation yet, in sentences. */
function together(found: Survey, nodes: readonly Surveyed[], scheduler: SchedulerView | undefined): Anomaly[] {
  const { snapshot } = found;
  const falls = nodes.map(node => ({ node, beganMs: snapshot.ageMs(node.index), isSilent: node.state === 'silent' }));
  return groupsOf(snapshot, falls).map(group => {
    const fell = group.map(({ node }) => node);
    const racks = racksOf(fell);
    const who = `${fell.length} nodes${racks === undefined ? ` (${shown(fell)})` : ` of ${fold(racks)}`}`;
    const cause = causeText(switchOf(found, fell, scheduler));
    const text = `${who} fell silent together: ${cause}, not ${fell.length} nodes`;
    return { kind: 'together', nodes: fell, text };
  });
}

/** What silent nodes said last; that it explains nothing is said of nodes whose silence nothing else explains. */
function lastWords(snapshot: Snapshot, nodes: readonly Surveyed[], explained: ReadonlySet<Surveyed>): Anomaly[] {
  const reports = new LastReports(snapshot);
  const silent = nodes.filter(({ state }) => state === 'silent');
  const silenced = silent.flatMap(node => {
    const saying = reports.of({ snapshot, index: node.index });
    if (saying === undefined || (saying.rows.length === 0 && explained.has(node))) return [];
    return [{ name: node.name, saying, node }];
  });
  return lastWordsTexts(snapshot, silenced).map(({ text, nodes }) => ({
    kind: 'last_words',
    nodes: nodes.map(({ node }) => node),
    text,
  }));
}

function unhealthy(nodes: readonly Surveyed[]): Anomaly[] {
  return byProblem(nodes).map(([problem, those]) => ({
    kind: 'unhealthy',
    nodes: those,
    text: `${shown(those)}: ${PROBLEM_TEXT[problem]}`,
  }));
}

/** Sentences of which the lines of the list are found apart, because the board remembers more than is true now. */
const sentencesOf = (sentences: readonly Anomaly[]): Finding[] =>
  sentences.length === 0 ? [] : [{ kind: 'silent', nodes: [], sentences }];

/** All that is found wrong; the sentences are in their order. If the receiver is stalled, nothing else is known. */
function findings(found: Survey, scheduler: SchedulerView | undefined, before: Omit<Telling, 'outages'>): Finding[] {
  const { snapshot, all, nodes } = found;
  const general = [
    ...receiverFindings(
      snapshot,
      all.some(({ state }) => state !== 'never'),
    ),
    ...notOnBoardFinding(found),
  ];
  if (snapshot.stalled || snapshot.retired) return general;
  general.push(...drops(snapshot));
  const memories = troubled(snapshot, all);
  const telling = { ...before, outages: outagesOf(snapshot, all, memories) };
  const links = failedLinks(telling, memories);
  // Nodes behind a failed link already have an explanation for their silence. A rejected report explains none.
  const fallen = new Set(links.flatMap(({ nodes, endedMs }) => (endedMs === undefined ? nodes : [])));
  const lately = lateSenders(snapshot);
  const twice = rivals(snapshot, lately, all);
  const withRival = new Set(twice.flatMap(({ nodes }) => nodes));
  const namedTwice = new Set(Array.from(withRival, ({ name }) => name));
  // One sentence says of all that the board is full.
  const others = lately.filter(({ reason, name }) => reason !== FULL && (reason !== RIVAL || !namedTwice.has(name)));
  const unexplained = all.filter(node => (node.state === 'silent' || node.state === 'uncertain') && !fallen.has(node));
  const explaining = [
    ...links,
    ...sentencesOf(linkSentences(snapshot, all)),
    ...newLinks(snapshot, all),
    ...pieces(snapshot, all),
    ...unvouched(found),
    ...sentencesOf(together(found, unexplained, scheduler)),
    ...refused(snapshot, all, withRival),
    ...twice,
    ...clones(snapshot, all),
  ];
  const explained = new Set(explaining.flatMap(({ sentences }) => sentences.flatMap(({ nodes }) => nodes)));
  return [
    ...general,
    ...explaining,
    ...silenceLines(found, memories, scheduler, telling),
    ...sentencesOf(lastWords(snapshot, all, explained)),
    // Problems of other nodes do not matter to a user who asks about these.
    ...sentencesOf(unhealthy(nodes)),
    ...problemLines(found, memories, telling),
    ...senders(snapshot, others, all),
    ...reportFindings(found),
    ...deafness(snapshot),
  ];
}

/** What is about the chosen nodes, or about none: lines are about these only, sentences tell the whole. */
function aboutChosen({ all, nodes, notOnBoard }: Survey, found: Finding[]): Finding[] {
  if (nodes === all) return found;
  const chosen = new Set(nodes);
  const names = new Set([...nodes.map(({ name }) => name), ...notOnBoard]);
  const isOf = ({ kind, nodes, claims = [] }: Anomaly) => {
    if (claims.some(name => names.has(name))) return true;
    return nodes.length === 0 ? kind !== 'sender' : nodes.some(node => chosen.has(node));
  };
  return found.flatMap(finding => {
    const sentences = finding.sentences.filter(isOf);
    const those = finding.nodes.filter(node => chosen.has(node));
    const isAbout = finding.nodes.length === 0 ? finding.kind !== 'sender' : those.length > 0;
    if (!isAbout && sentences.length === 0) return [];
    const isOthers = finding.nodes.length > 0 && !isAbout;
    return [{ ...finding, nodes: those, ...(isOthers && { what: undefined }), sentences }];
  });
}

/** Where a scheduler and the board disagree. That jobs run on silent nodes is told by the jobs of their line. */
function disagreementFindings(found: Survey, scheduler: SchedulerView): Finding[] {
  return disagreements(scheduler, found).map(({ cause, nodes, text, what }) => ({
    ...(cause === 'unguarded' ? { kind: cause } : { kind: 'scheduler', cause }),
    ...{ nodes, what: cause === 'job_on_silent' ? undefined : (what ?? text) },
    sentences: [{ kind: 'slurm', nodes, text }],
  }));
}

/** The chosen nodes that differ from the others of their jobs: a line for each job. */
function marks({ nodes, snapshot }: Survey, scheduler: SchedulerView): Finding[] {
  const marked = new Set(scheduler.marks.map(({ node }) => node));
  const chosen = new Map(nodes.filter(({ name }) => marked.has(name)).map(node => [node.name, node]));
  const told = scheduler.marks.filter(({ node }) => chosen.has(node));
  return Array.from(
    groupBy(told, mark => mark.job),
    ([job, those]) => {
      // By the clock of the look, so that it is the same at every look.
      const since = those.map(({ since_ms }) => Math.max(0, snapshot.nowMs - since_ms));
      return {
        ...{ kind: 'odd', cause: oneLine(job), what: marksText(those), sentences: [] },
        nodes: [...new Set(those.map(({ node }) => chosen.get(node) as Surveyed))],
        ...{ sinceMs: Math.max(...since), lastMs: Math.min(...since) },
      };
    },
  );
}

/** What is asked besides the board. */
export interface OtherSources {
  /** The view of a scheduler, if whoever asks may see its jobs. */
  readonly scheduler?: SchedulerView | undefined;
  /** The folder where journals say how they are. */
  readonly journals?: string | undefined;
  readonly acksWhy?: string | undefined;
  /** What was over for longer than this is left out, ms. */
  readonly withinMs?: number | undefined;
}

/** All that is wrong with a board and what belongs to it, about the chosen nodes. */
export function findingsOf(found: Survey, besides: OtherSources = {}): Finding[] {
  const { scheduler, journals, acksWhy, withinMs = Number.POSITIVE_INFINITY } = besides;
  const { snapshot } = found;
  const ofJournals = journals === undefined ? [] : journalTroubles(journals, snapshot);
  // With its fraction, so that a moment has the same key at every look.
  const nowMs = Number(snapshot.evidence.nowNs) / 1e6;
  const telling = { hour: hourTimes(journals, snapshot), nowMs, withinMs };
  const isWithin = ({ endedMs = 0 }: Finding) => endedMs <= withinMs;
  return [
    ...aboutChosen(found, findings(found, scheduler, telling)).filter(isWithin),
    ...(scheduler === undefined ? [] : [...disagreementFindings(found, scheduler), ...marks(found, scheduler)]),
    ...ofJournals.map(
      ({ name: cause, text, what, sinceMs }): Finding => ({
        ...{ kind: 'journal', cause, nodes: [], what, sinceMs },
        sentences: [{ kind: 'journal', nodes: [], text }],
      }),
    ),
    ...(acksWhy === undefined ? [] : [{ kind: 'acks', nodes: [], what: acksWhy, sentences: [] } satisfies Finding]),
  ];
}

/** The sentences of these, the receiver's first. */
export function sentencesIn(findings: readonly Finding[]): Anomaly[] {
  return findings.flatMap(({ sentences }) => sentences);
}
