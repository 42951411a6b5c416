// Ends what `beoboard drain` began, and says what still keeps a node out.

import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { VERBS } from '../options/verbs.js';
import { BRIDGES, drainOf } from '../schedulerfile/drains.js';
import type { SchedulerNode } from '../schedulerfile/scheduler.js';
import { problemsOf } from '../shm/problems.js';
import { Failure } from '../text/failure.js';
import { fold, shownNames } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import { oneLine } from '../text/text.js';
import { carryOut, commandsFor, leftAs, lookAt, type ServiceLook } from './draining.js';

export const verb = defineVerb({
  name: 'resume',
  summary: VERBS.resume,
  options: ['nodes', 'do', 'via', 'slurm-dir', 'json', 'board', 'owner', 'config'],
  letters: { w: 'nodes' },
  examples: ["beoboard resume -w 'node[017-018]'", 'beoboard resume -w node017 --do'],
  notes: `Prints the scheduler's own command, ready to paste; --do runs it as you. A drain that others gave, or the bridge, is left as it is, and told. So is what still keeps a node out: its silence, its problems, its hold file. A node that is DOWN in Slurm stays so until slurmd answers. Where no beoboard scheduler has run, the hold file of the nodes is removed by --via.
Exit codes: 0 done or printed, 1 not done for some nodes, 2 usage.`,
});

/** Why a node's drain is not ours to end; undefined: it is. */
function whyLeft({ view }: ServiceLook, node: SchedulerNode): string | undefined {
  const { aside, name, reason, reason_by } = node;
  if (aside === undefined) return 'not drained';
  if (drainOf(node) !== undefined || view.name !== 'Slurm') return undefined;
  if (reason?.startsWith(BRIDGES))
    return `drained by the bridge (${oneLine(reason)}), which resumes it when it is well; beoboard bridge --undrain-own does so at once`;
  const by = reason_by === undefined ? '' : ` by ${oneLine(reason_by)}`;
  const why = reason === undefined ? '' : ` (${oneLine(reason)})`;
  return `${oneLine(aside)}${by}${why}, not by beoboard drain; scontrol update nodename=${name} state=undrain ends it`;
}

/** What else keeps these nodes out, as far as the board shows it. */
function alsoOut({ found }: ServiceLook, names: readonly string[]): string[] {
  const asked = new Set(names);
  const what = ({ state, problems }: { readonly state: string; readonly problems: number }) =>
    [...(state === 'live' ? [] : [state]), ...problemsOf(problems)].join(', ');
  const out = found?.nodes.filter(node => asked.has(node.name) && what(node) !== '') ?? [];
  return Array.from(
    groupBy(out, what),
    ([text, those]) =>
      `still ${text.replace(/\bheld\b/, 'on hold by its file /run/beoboard/hold')}: ${shownNames(those.map(({ name }) => name))}`,
  );
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  const { nodes: names } = values;
  if (names === undefined) throw new UsageError(verb.name, 'no nodes are given; write -w LIST');
  const look = lookAt(values, names);
  const { view, hasScheduler, left } = look;
  if (values.do && hasScheduler && view.trouble !== undefined)
    throw new Failure(`whose drains these are is not known now: ${view.trouble}`, 1);
  const kept = look.nodes.filter(node => whyLeft(look, node) !== undefined);
  left.push(...leftAs(kept, node => whyLeft(look, node) ?? ''));
  const ours = look.nodes.filter(node => !kept.includes(node)).map(({ name }) => name);
  const chosen = hasScheduler ? ours : names;
  const commands = chosen.length === 0 ? [] : commandsFor(look, chosen, values.via);
  return carryOut(verb.name, values, {
    ...{ commands, left },
    lines: alsoOut(look, names),
    more: () => ({ nodes: fold(chosen), also: alsoOut(look, names) }),
  });
}
