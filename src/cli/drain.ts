// Takes nodes out of service by the scheduler's own command, with who wants it, why and until when in the reason, and
// says before which jobs are on them and when they are free.

import { setTimeout } from 'node:timers/promises';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { forms } from '../options/table.js';
import { VERBS } from '../options/verbs.js';
import { BRIDGES, drainOf, drainText, markedReason, REASON_MOST } from '../schedulerfile/drains.js';
import type { SchedulerJob, SchedulerNode } from '../schedulerfile/scheduler.js';
import type { SchedulerView } from '../schedulerfile/schedulerview.js';
import { wallTime } from '../shm/sentences.js';
import { formatDuration } from '../text/durations.js';
import { fold, shownNames } from '../text/hostlists.js';
import { print } from '../text/output.js';
import { few, fits, oneLine } from '../text/text.js';
import { ids } from '../trouble/disagreements.js';
import { asker, untilOf } from './asker.js';
import { carryOut, commandsFor, leftAs, lookAt, type ServiceLook } from './draining.js';

export const verb = defineVerb({
  name: 'drain',
  summary: VERBS.drain,
  options: ['nodes', 'reason', 'until', 'do', 'wait', 'via', 'slurm-dir', 'json', 'board', 'owner', 'config'],
  forms: forms.drain,
  letters: { w: 'nodes' },
  examples: [
    "beoboard drain -w 'node[017-018]' --reason 'PDU is replaced'",
    "beoboard drain -w node017 --reason 'PDU is replaced' --until 18:00 --do",
    "beoboard drain -w node017 --reason 'PDU is replaced' --do --wait",
  ],
  notes: `Prints the scheduler's own command (Slurm: scontrol, Grid Engine: qmod), ready to paste; --do runs it as you. Before it stand the jobs on these nodes, and when they are free. Jobs go on; new ones do not come. Your name and the time stand in the reason, which all see; nothing ends the drain but you (beoboard resume) or the scheduler's own command. Grid Engine keeps no reason. Who has drained a node otherwise keeps it: it is left as it is, and told; a drain by the bridge is taken over. Where no beoboard scheduler has run, the hold file of the nodes is written by --via: it ends with their reboot.
Exit codes: 0 done or printed, 1 not done for some nodes, 2 usage.`,
});

type DrainOptions = ValuesOf<typeof verb>;

const POLL_MS = 1000;
const JOBS_SHOWN = 40;

const jobsOn = ({ view, nodes }: ServiceLook) => [
  ...new Map(nodes.flatMap(({ name }) => view.jobsOn(name)).map(job => [job.id, job])).values(),
];

const timeText = (seconds: number, nowMs: number) => {
  const at = wallTime(seconds * 1000);
  return at.slice(0, 10) === wallTime(nowMs).slice(0, 10) ? at.slice(11) : at;
};

function jobLine({ id, user, nodes, start_s, end_s }: SchedulerJob, nowMs: number): string {
  const since = start_s === undefined ? '' : `, for ${formatDuration(Math.max(0, nowMs - start_s * 1000))}`;
  const ends = end_s === undefined ? 'no end is known' : `ends by ${timeText(end_s, nowMs)}`;
  return `  job ${oneLine(id)} of ${oneLine(user)} on ${oneLine(nodes)}${since}, ${ends}`;
}

/** When no job is there any more, as far as is known. */
function freeText(view: SchedulerView, jobs: readonly SchedulerJob[], nowMs: number): string {
  if (!view.hasAnswered('jobs')) return 'which jobs are there is not known';
  const shown = view.state?.jobs.whole === true ? '' : ', as far as jobs are shown';
  if (jobs.length === 0) return `free now${shown}`;
  const endless = jobs.filter(({ end_s }) => end_s === undefined);
  if (endless.length > 0) return `free when ${ids(endless.map(({ id }) => id))} has ended: no end is known${shown}`;
  return `free by ${timeText(Math.max(...jobs.map(({ end_s = 0 }) => end_s)), nowMs)} at the latest${shown}`;
}

/** Whether somebody else has it aside: no reason of others is replaced. */
const isOthers = (node: SchedulerNode) =>
  node.aside !== undefined && drainOf(node) === undefined && node.reason?.startsWith(BRIDGES) !== true;

const othersText = ({ aside = '', reason, reason_by }: SchedulerNode) =>
  `${oneLine(aside)} already${reason_by === undefined ? '' : ` by ${oneLine(reason_by)}`}${reason === undefined ? '' : ` (${oneLine(reason)})`}; left as it is`;

/** Waits until the scheduler shows no job there any more. */
async function untilFree(values: DrainOptions, nodes: readonly string[]): Promise<void> {
  const sinceMs = Date.now();
  for (let before = ''; ; await setTimeout(POLL_MS)) {
    const look = lookAt(values, nodes);
    const jobs = jobsOn(look);
    const isNew = look.view.trouble === undefined && (look.view.state?.jobs.time_ms ?? 0) > sinceMs;
    if (isNew && jobs.length === 0) break;
    const what =
      look.view.trouble ??
      (isNew
        ? `waiting for ${few(
            jobs.map(({ id }) => `job ${oneLine(id)}`),
            8,
          )}`
        : '');
    if (what !== before && what !== '') process.stderr.write(`beoboard drain: ${what}\n`);
    if (what !== '') before = what;
  }
  if (!values.json) await print([`${shownNames(nodes)}: free\n`]);
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  const { nodes: names, reason, until } = values;
  const usage = (wrong: string) => new UsageError(verb.name, wrong);
  if (names === undefined) throw usage('no nodes are given; write -w LIST');
  if (reason === undefined) throw usage("why? write --reason 'PDU is replaced'");
  // What a list of Slurm's takes for the author of a reason.
  if (!fits(reason, REASON_MOST) || /@\d{9,}\]/.test(reason))
    throw usage(`--reason: write at most ${REASON_MOST} characters, and no [name@seconds]`);
  if (values.wait && !values.do) throw usage('--wait waits for a drain; add --do');
  const nowMs = Date.now();
  const drain = { reason, by: asker(), ...(until !== undefined && { until_ms: untilOf(verb.name, until, nowMs) }) };
  const look = lookAt(values, names);
  const { view, left } = look;
  const those = look.nodes.filter(node => !isOthers(node));
  left.push(...leftAs(look.nodes.filter(isOthers), othersText));
  const chosen = look.hasScheduler ? those.map(({ name }) => name) : names;
  const commands = chosen.length === 0 ? [] : commandsFor(look, chosen, values.via, markedReason(drain));
  const jobs = look.hasScheduler ? jobsOn(look) : [];
  const more = jobs.length > JOBS_SHOWN ? [`  … ${jobs.length - JOBS_SHOWN} more`] : [];
  const free = look.hasScheduler ? freeText(view, jobs, nowMs) : undefined;
  const told = [
    ...(look.hasScheduler
      ? [view.trouble, ...view.partial]
      : [`nothing is known of a scheduler here, so this is the nodes' hold file: it ends with their reboot`]),
    ...(view.name === 'Grid Engine' && look.hasScheduler ? ['Grid Engine keeps no reason, no name and no time'] : []),
    ...leftAs(
      those.filter(({ aside }) => aside !== undefined),
      node => {
        const earlier = drainOf(node);
        return `was drained by ${earlier === undefined ? 'the bridge, which lets go of it' : drainText(earlier)}`;
      },
    ),
  ];
  for (const text of told) if (text !== undefined) process.stderr.write(`beoboard drain: ${text}\n`);
  return carryOut(verb.name, values, {
    ...{ commands, left },
    lines: [
      ...jobs.slice(0, JOBS_SHOWN).map(job => jobLine(job, nowMs)),
      ...more,
      ...(free === undefined ? [] : [free]),
    ],
    more: () => ({
      nodes: fold(chosen),
      ...(look.hasScheduler && {
        scheduler: view.name,
        free,
        jobs: jobs.map(({ id, user, nodes, start_s, end_s }) => ({ id, user, nodes, start_s, end_s })),
      }),
    }),
    wait: values.wait && look.hasScheduler ? () => untilFree(values, chosen) : undefined,
  });
}
