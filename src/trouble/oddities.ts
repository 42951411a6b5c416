// Nodes whose kernel or interval is not that of their family, by the rule of `beoboard odd`. In the list of trouble such
// a difference is only as news: a node that was booted with it within the last hour. An interval may change at any
// time, the board does not know when it did, and who has set it knows: it has no line of its own.

import { HOUR_MS } from '../changes/deafness.js';
import { type Odd, oddOnes, TRAITS, usualFamily } from '../outliers/odd.js';
import type { Survey, Surveyed } from '../query/survey.js';
import { counted } from '../text/text.js';
import { differenceText, oddText } from '../words/odd.js';
import { type Anomaly, type Finding, sentencesOf, shown } from './finding.js';

function minorities(found: Survey, name: 'kernel' | 'interval'): Odd[] {
  const traits = TRAITS.filter(trait => trait.name === name);
  const steps = oddOnes([found], usualFamily(), traits);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.filter(({ isMinority }) => isMinority);
  }
}

function nodesOf({ all }: Survey, { groups }: Odd): Surveyed[] {
  const members = groups.slice(1).flatMap(({ members }) => members);
  return members.sort((a, b) => a - b).map(index => all[index] as Surveyed);
}

const namesOf = ({ all }: Survey) => all.map(({ name }) => name);

/** Nodes that run another kernel than most of their family. */
export function kernels(found: Survey): Finding[] {
  const { snapshot } = found;
  const { kernels: running } = snapshot.overview;
  const known = running.find(kernel => kernel !== 0);
  // Nearly always all nodes run the same kernel: then there is nothing to compare.
  if (running.every(kernel => kernel === 0 || kernel === known)) return [];
  const odd = minorities(found, 'kernel');
  const names = odd.length === 0 ? [] : namesOf(found);
  const chosen = found.nodes === found.all ? undefined : new Set(found.nodes);
  return odd.map((odd): Finding => {
    const nodes = nodesOf(found, odd);
    const sentences: Anomaly[] = [{ kind: 'kernel', nodes, text: oddText(snapshot, names, odd, 'kernel ') }];
    // A node has its kernel since its boot. Of one whose boot is not remembered, nobody knows that it ever had another.
    const booted = nodes.flatMap(node => {
      const ms = chosen?.has(node) === false ? undefined : snapshot.memoryOf(node.index)?.bootMs;
      return ms === undefined || ms > HOUR_MS ? [] : [{ node, ms }];
    });
    const cause = odd.family;
    if (booted.length === 0) return { kind: 'kernel', cause, nodes, sentences };
    const since = booted.map(({ ms }) => ms);
    const [sinceMs, lastMs] = [Math.max(...since), Math.min(...since)];
    const news = booted.map(({ node }) => node);
    const what = `kernel ${differenceText(snapshot, odd, new Set(news.map(({ index }) => index)))}`;
    return { ...{ kind: 'kernel', cause, nodes: news, what, sentences, sinceMs }, ...(lastMs < sinceMs && { lastMs }) };
  });
}

/** Nodes that report at another interval than most of their family: somebody has set it, for a while or for good. */
export function intervals(found: Survey): Finding[] {
  const { snapshot, all } = found;
  let usual = 0;
  const isSame = ({ state, index }: Surveyed) => {
    if (state !== 'live') return true;
    const ms = snapshot.intervalOf(index);
    usual ||= ms;
    return ms === 0 || ms === usual;
  };
  if (all.every(isSame)) return [];
  const odd = minorities(found, 'interval').map(one => ({ one, nodes: nodesOf(found, one) }));
  if (odd.length === 0) return [];
  const names = namesOf(found);
  const sentences = sentencesOf(
    'interval',
    odd,
    ({ one }) => oddText(snapshot, names, one, 'reports every '),
    more =>
      `${counted(more.length, 'more node')} (${shown(more)}) ${more.length === 1 ? 'reports' : 'report'} at other intervals than most of their families`,
  );
  return [{ kind: 'interval', nodes: odd.flatMap(({ nodes }) => nodes), sentences }];
}
