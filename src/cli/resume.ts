// Ends what `beoboard drain` began, and says what still keeps a node out.

import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { BRIDGES, drainOf } from '../schedulerfile/drains.js';
import type { SchedulerNode } from '../schedulerfile/scheduler.js';
import { problemsOf } from '../shm/problems.js';
import { fold } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
import { oneLine, shellWord } from '../text/text.js';
import { carryOut, commandsFor, HOLD_FILE, lookAt, ofEach, type ServiceLook } from './draining.js';

export const verb = defineVerb({
  name: 'resume',
  options: ['nodes', 'do', 'via', 'slurm-dir', 'json', 'board', 'owner', 'config'],
  letters: { w: 'nodes' },
  examples: ["beoboard resume -w 'node[017-018]'", 'beoboard resume -w node017 --do'],
  notes: `Prints the scheduler's own command, ready to paste; --do runs it as you. A drain that others gave, or the bridge, is left as it is, and told. So is what still keeps a node out: its silence, its problems, its hold file. A node that is DOWN in Slurm stays so until slurmd answers. Who had drained a node by beoboard drain is told. Where there is no scheduler, the hold file of the nodes is removed by --via.
Exit codes: 0 done or printed, 1 not done for some nodes, 2 usage.`,
});

/** Why a node's drain is not ours to end; empty: it is, or the scheduler does not say whose it is. */
function whyLeft({ view }: ServiceLook, node: SchedulerNode): string {
  const { aside, name, reason, reason_by } = node;
  if (view.name !== 'Slurm' || drainOf(node) !== undefined) return '';
  if (aside === undefined) return 'not drained';
  if (reason === undefined) return `${oneLine(aside)}, not by beoboard drain`;
  if (reason.startsWith(BRIDGES))
    return `drained by the bridge (${oneLine(reason)}), which resumes it when it is well; beoboard bridge --undrain-own does so at once`;
  const by = reason_by === undefined ? '' : ` by ${oneLine(reason_by)}`;
  return `${oneLine(aside)}${by} (${oneLine(reason)}), not by beoboard drain; scontrol update ${shellWord(`nodename=${name}`)} state=undrain ends it`;
}

/** What else keeps these nodes out, as far as the board shows it. */
function alsoOut({ found, view, nodes }: ServiceLook, names: readonly string[]): string[] {
  const asked = new Set([...names, ...nodes.map(({ name }) => view.pairing.matched.boardName.get(name))]);
  const what = ({ state, problems }: { readonly state: string; readonly problems: number }) =>
    [...(state === 'live' ? [] : [state]), ...problemsOf(problems)].join(', ');
  const out = found?.nodes.filter(node => asked.has(node.name) && what(node) !== '') ?? [];
  return Array.from(
    groupBy(out, what),
    ([text, those]) =>
      `still ${text.replace(/\bheld\b/, `on hold by its file ${HOLD_FILE}`)}: ${fold(those.map(({ name }) => name))}`,
  );
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  const { nodes: names } = values;
  if (names === undefined) throw new UsageError('no nodes are given; write -w LIST');
  const look = lookAt(values, names);
  look.left.push(...ofEach(look.nodes, node => whyLeft(look, node)));
  const ours = look.nodes.filter(node => whyLeft(look, node) === '').map(({ name }) => name);
  const chosen = look.hasScheduler ? ours : names;
  const commands = chosen.length === 0 ? [] : commandsFor(look, chosen, values.via);
  const also = alsoOut(look, names);
  return carryOut(verb.name, values, look, { commands, lines: also, more: { nodes: fold(chosen), also } });
}
