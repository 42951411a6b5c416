// Takes nodes out of service by the scheduler's own command, with who wants it, why and until when in the reason, and
// says before which jobs are on them and when they are free.

import { setTimeout } from 'node:timers/promises';
import { elapsedText } from '../jobs/jobfacts.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { timeText } from '../presentation/troublelines.js';
import { BRIDGES, drainOf, markedReason, REASON_MOST, SLURMS_REASON } from '../schedulerfile/drains.js';
import type { SchedulerJob, SchedulerNode } from '../schedulerfile/scheduler.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { Failure } from '../text/failure.js';
import { fold } from '../text/hostlists.js';
import { print } from '../text/output.js';
import { fits, oneLine } from '../text/text.js';
import { ids } from '../trouble/disagreements.js';
import { asker, untilOf } from './asker.js';
import { carryOut, commandsFor, lookAt, ofEach } from './draining.js';

export const verb = defineVerb({
  name: 'drain',
  options: ['nodes', 'reason', 'until', 'do', 'wait', 'via', 'slurm-dir', 'json', 'board', 'owner', 'config'],
  letters: { w: 'nodes' },
  examples: [
    "beoboard drain -w 'node[017-018]' --reason 'PDU is replaced'",
    "beoboard drain -w node017 --reason 'PDU is replaced' --until 18:00 --do",
    "beoboard drain -w node017 --reason 'PDU is replaced' --do --wait",
  ],
  notes: `Prints the scheduler's own command (Slurm: scontrol, Grid Engine: qmod), ready to paste; --do runs it as you. Before it stand the jobs on these nodes, and when they are free. Jobs go on; new ones do not come. Your name and the time stand in the reason, which all see; nothing ends the drain but you (beoboard resume) or the scheduler's own command. Grid Engine keeps no reason. Who has drained a node otherwise keeps it: it is left as it is, and told; a drain by the bridge is taken over. Where there is no scheduler, the hold file of the nodes is written by --via: it ends with their reboot. A reason has at most 150 characters.
Exit codes: 0 done or printed, 1 not done for some nodes, 2 usage.`,
});

type DrainOptions = ValuesOf<typeof verb>;

const POLL_MS = 1000;
const JOBS_SHOWN = 40;

const jobsOn = (view: SchedulerView, nodes: readonly string[]) => [
  ...new Map(nodes.flatMap(name => view.jobsOn(name)).map(job => [job.id, job])).values(),
];

function jobLine(job: SchedulerJob, nowMs: number): string {
  const { id, user, nodes, end_s } = job;
  const elapsed = elapsedText(job, nowMs);
  const since = elapsed === undefined ? '' : `, for ${elapsed}`;
  const ends = end_s === undefined ? 'no end is known' : `ends by ${timeText(end_s * 1000, nowMs)}`;
  return `  job ${oneLine(id)} of ${oneLine(user)} on ${oneLine(nodes)}${since}, ${ends}`;
}

/** When no job is there any more, as far as is known. */
function freeText(view: SchedulerView, jobs: readonly SchedulerJob[], nowMs: number): string {
  if (!view.hasAnswered('jobs')) return 'which jobs are there is not known';
  const shown = view.state?.jobs.whole === true ? '' : ', as far as jobs are shown';
  const when = `${shown}${view.trouble === undefined ? '' : ', by an answer that is old'}`;
  if (jobs.length === 0) return `free now${when}`;
  const endless = jobs.filter(({ end_s = 0 }) => end_s * 1000 <= nowMs);
  if (endless.length > 0) return `free when ${ids(endless.map(({ id }) => id))} has ended: no end is known${when}`;
  return `free by ${timeText(1000 * Math.max(...jobs.map(({ end_s = 0 }) => end_s)), nowMs)} at the latest${when}`;
}

/** Whether somebody else has taken it out, drained, failed or down: no reason of others is replaced. */
function isOthers({ aside, base, state, reason }: SchedulerNode, keepsReasons: boolean): boolean {
  if (!keepsReasons) return aside !== undefined;
  if (reason === undefined || reason === SLURMS_REASON || reason.startsWith(BRIDGES)) return false;
  const isOut = aside !== undefined || base === 'down' || /\bFAIL/.test(state);
  return isOut && drainOf({ aside: 'drained', reason }) === undefined;
}

const othersText = ({ state, reason, reason_by }: SchedulerNode) =>
  `${oneLine(state)} already${reason_by === undefined ? '' : ` by ${oneLine(reason_by)}`}${reason === undefined ? '' : ` (${oneLine(reason)})`}; left as it is`;

/** Waits until the scheduler shows no job there any more. */
async function untilFree(values: DrainOptions, nodes: readonly string[]): Promise<void> {
  const sinceMs = Date.now();
  for (let before = ''; ; await setTimeout(POLL_MS)) {
    const { view } = lookAt(values, []);
    const jobs = jobsOn(view, nodes);
    const isNew = view.trouble === undefined && (view.state?.jobs.time_ms ?? 0) > sinceMs;
    if (isNew && jobs.length === 0) {
      if (!values.json) await print([`${fold(nodes)}: ${freeText(view, jobs, Date.now())}\n`]);
      return;
    }
    const what = view.trouble ?? (isNew ? `waiting for ${ids(jobs.map(({ id }) => id))}` : before);
    if (what !== before) process.stderr.write(`beoboard drain: ${what}\n`);
    before = what;
  }
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  const { nodes: names, reason, until } = values;
  const usage = (wrong: string) => new UsageError(wrong);
  if (names === undefined) throw usage('no nodes are given; write -w LIST');
  if (reason === undefined) throw usage("why? write --reason 'PDU is replaced'");
  // What a list of Slurm's takes for the author of a reason, and what we take for the bridge's.
  if (!fits(reason, REASON_MOST) || /@\d{9,}\]/.test(reason) || reason.startsWith(BRIDGES))
    throw usage(`--reason: write at most ${REASON_MOST} characters, no [name@seconds], and no beoboard: in front`);
  if (values.wait && !values.do) throw usage('--wait waits for a drain; add --do');
  const nowMs = Date.now();
  const drain = { reason, by: asker(), ...(until !== undefined && { until_ms: untilOf(until, nowMs) }) };
  const look = lookAt(values, names);
  const { view, left, told, hasScheduler } = look;
  if (values.wait && !hasScheduler)
    throw new Failure('--wait asks what beoboard scheduler has left, and it has not', 1);
  const keeps = view.name === 'Slurm';
  const others = look.nodes.filter(node => isOthers(node, keeps));
  left.push(...ofEach(others, othersText));
  const those = look.nodes.filter(node => !others.includes(node));
  if (hasScheduler && !keeps) told.push(`${view.name} keeps no reason, no name and no time`);
  const isBridges = ({ aside, reason }: SchedulerNode) => aside !== undefined && reason?.startsWith(BRIDGES);
  told.push(...ofEach(those, node => (isBridges(node) ? 'drained by the bridge, which lets go of it' : '')));
  const chosen = hasScheduler ? those.map(({ name }) => name) : names;
  const commands = chosen.length === 0 ? [] : commandsFor(look, chosen, values.via, markedReason(drain));
  if (!hasScheduler || chosen.length === 0)
    return carryOut(verb.name, values, look, { commands, lines: [], more: { nodes: fold(chosen) } });
  const jobs = jobsOn(view, chosen);
  const more = jobs.length > JOBS_SHOWN ? [`  … ${jobs.length - JOBS_SHOWN} more`] : [];
  const free = freeText(view, jobs, nowMs);
  return carryOut(verb.name, values, look, {
    commands,
    lines: [...jobs.slice(0, JOBS_SHOWN).map(job => jobLine(job, nowMs)), ...more, free],
    more: {
      ...{ nodes: fold(chosen), scheduler: view.name, free },
      jobs: jobs.map(({ id, user, nodes, start_s, end_s }) => ({ id, user, nodes, start_s, end_s })),
    },
    wait: values.wait ? () => untilFree(values, chosen) : undefined,
  });
}
