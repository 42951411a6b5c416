// Nodes that are heard and yet differ from the others: late reports, clocks, kernels, intervals. Knows no thresholds of
// hardware.

import type { Survey, Surveyed } from '../query/survey.js';
import { ahead } from '../shm/sentences.js';
import type { Snapshot } from '../shm/snapshot.js';
import { formatDuration, writeDuration } from '../text/durations.js';
import { groupBy } from '../text/maps.js';
import { counted, oneLine } from '../text/text.js';
import { type Finding, sentencesOf, shown } from './finding.js';
import { intervals, kernels } from './oddities.js';

/** A report that is later than this, and than half of its interval, is late. The flag `late` also uses half of it. */
const DELAY_LEAST_US = 1e6;

/** Nodes that are heard and make their reports late. */
function delays(snapshot: Snapshot, nodes: readonly Surveyed[]): Finding[] {
  const late: { nodes: [Surveyed]; us: number }[] = [];
  for (const node of nodes) {
    // A late node may be uncertain for this very reason.
    if (node.state !== 'live' && node.state !== 'uncertain') continue;
    const us = snapshot.lateOf(node.index);
    if (us > DELAY_LEAST_US && us > 500 * snapshot.intervalOf(node.index)) late.push({ nodes: [node], us });
  }
  if (late.length === 0) return [];
  late.sort((a, b) => b.us - a.us);
  const sentences = sentencesOf(
    'delay',
    late,
    ({ nodes: [node], us }) =>
      `reports of ${oneLine(node.name)} are made ${formatDuration(us / 1000)} late: its sender gets too little CPU, or was stopped`,
    (more, { us }) =>
      `reports of ${counted(more.length, 'more node')} (${shown(more)}) are made late, by up to ${formatDuration(us / 1000)}`,
  );
  const what = 'reports are made late: the sender gets too little CPU, or was stopped';
  return [{ kind: 'late', nodes: late.flatMap(({ nodes }) => nodes), what, sentences }];
}

const isOrAre = ({ length }: readonly unknown[]) => (length === 1 ? 'is' : 'are');

/** Transit and scheduling take milliseconds. */
const SKEW_LEAST_S = 0.5;

function clocks(snapshot: Snapshot, nodes: readonly Surveyed[]): Finding[] {
  const { skews: all } = snapshot.overview;
  const isFar = ({ state, index }: Surveyed) => state === 'live' && Math.abs(all[index] as number) > SKEW_LEAST_S;
  // Nearly always no clock is far off, and then the median is not far off either.
  if (!nodes.some(isFar)) return [];
  const known = nodes.filter(({ state }) => state === 'live');
  const skews = Float64Array.from(known, ({ index }) => all[index] as number);
  const median = skews.slice().sort()[skews.length >> 1] ?? 0;
  const findings: Finding[] = [];
  // Either one clock is behind or all the others are ahead. With three nodes this can be decided.
  const master = known.length >= 3 && Math.abs(median) > SKEW_LEAST_S ? median : 0;
  if (master !== 0) {
    const text = `most clocks are ${ahead(master, "this master's")}: probably the master's clock is wrong`;
    findings.push({
      kind: 'clock',
      cause: 'master',
      nodes: [],
      what: text,
      sentences: [{ kind: 'clock', nodes: [], text }],
    });
  }
  const odd = known
    .filter((_, i) => Math.abs((skews[i] ?? 0) - master) > SKEW_LEAST_S)
    .map(node => ({ node, skew: (all[node.index] as number) - master }))
    .sort((a, b) => Math.abs(b.skew) - Math.abs(a.skew));
  // A rack with a wrong time server is one anomaly: clocks that are equally far off, to the shown figure, share a
  // sentence.
  const byDistance = groupBy(odd, ({ skew }) => ahead(skew, master === 0 ? '' : 'the others'));
  const kinds = Array.from(byDistance, ([far, same]) => ({ far, nodes: same.map(({ node }) => node) }));
  const [worst] = kinds;
  if (worst === undefined) return findings;
  const sentences = sentencesOf(
    'clock',
    kinds,
    ({ far, nodes }) => `${nodes.length === 1 ? 'clock' : 'clocks'} of ${shown(nodes)} ${isOrAre(nodes)} ${far}`,
    more => {
      const whose = more.length === 1 ? 'the clock of one more node' : `the clocks of ${more.length} more nodes`;
      return `${whose} (${shown(more)}) ${isOrAre(more)} more than ${SKEW_LEAST_S} s off`;
    },
  );
  const what = kinds.length === 1 ? `clock ${worst.far}` : `clocks are off, the worst ${worst.far}`;
  return [...findings, { kind: 'clock', nodes: odd.map(({ node }) => node), what, sentences }];
}

/** Nodes that report more rarely than the receiver allows for: they are uncertain between two reports. */
function rare(snapshot: Snapshot, nodes: readonly Surveyed[]): Finding[] {
  const { uncertainAfterNs, silentAfterNs, longestIntervalMs: longest } = snapshot.evidence;
  const those = nodes.filter(
    ({ state, index }) => state !== 'left' && state !== 'never' && snapshot.intervalOf(index) > longest,
  );
  if (those.length === 0) return [];
  const often = writeDuration(those.reduce((most, { index }) => Math.max(most, snapshot.intervalOf(index)), 0));
  const [uncertain, silent] = [uncertainAfterNs, silentAfterNs].map(ns => formatDuration((Number(ns) / 1e9) * longest));
  const [who, report, are] =
    those.length === 1 ? [shown(those), 'reports', 'is'] : [`${those.length} nodes (${shown(those)})`, 'report', 'are'];
  const what = `${report} every ${often}, and ${are} judged as if every ${writeDuration(longest)}: uncertain ${uncertain} after each report, silent after ${silent}; give the receiver --longest-interval ${often}, or let ${those.length === 1 ? 'it' : 'them'} report more often`;
  return [
    {
      ...{ kind: 'interval', cause: 'rare', nodes: those, what },
      sentences: [{ kind: 'interval', nodes: those, text: `${who} ${what}` }],
    },
  ];
}

/** All of these among all nodes. */
export function reportFindings(found: Survey): Finding[] {
  const { snapshot, all } = found;
  return [
    ...delays(snapshot, all),
    ...clocks(snapshot, all),
    ...kernels(found),
    ...rare(snapshot, all),
    ...intervals(found),
  ];
}
