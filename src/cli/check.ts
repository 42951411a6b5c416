// Whether the nodes are well, in one line and a Nagios exit code: for monitors, and for prologs of jobs. Blames no node
// when the receiver is stalled.

import { defineVerb, parseVerb, readAlone, UsageError, type ValuesOf } from '../options/options.js';
import { schedulerViewOf } from '../schedulerfile/schedulerview.js';
import { answerIgnorance, checkLine } from '../shm/answers.js';
import { NO_BOARD, unknownText } from '../shm/noboard.js';
import type { Problem } from '../shm/problems.js';
import { withReader } from '../shm/reader.js';
import { Failure } from '../text/failure.js';
import { print } from '../text/output.js';
import { words } from '../text/tables.js';
import { brief } from '../text/text.js';
import { unguardedText } from '../trouble/disagreements.js';
import { fulfilling } from './selection.js';

export const verb = defineVerb({
  name: 'check',
  options: words(
    'nodes where fail warning critical health ignore recent setup journal-run slurm-dir board owner config',
  ),
  letters: { w: 'warning', c: 'critical' },
  examples: [
    'beoboard check',
    'beoboard check --warning 0.1% --critical 1%,1',
    "beoboard check --where 'state == live && mem_avail < 1GiB' --warning 0 --critical 5%",
    'beoboard check --nodes "$SLURM_JOB_NODELIST" --fail open',
    'beoboard check --nodes node[001-064] --fail closed',
    'beoboard check --ignore held,ecc',
    'beoboard check --recent gpu_errors,oom',
    'beoboard check --setup',
  ],
  notes: `Prints one line of at most 1,023 bytes, with performance data after the bar |; if there is too little room, fewer names. Critical: nodes that are silent, that left longer than 10 minutes ago, or that are
named with --nodes and not on the board. Warning: these, and nodes that are uncertain, never reported, or unhealthy. beoboard status --help lists
problems; --ignore leaves some out, --health off all. A problem that went is recent for its quiet time: ten minutes if a
counter shows it, for ecc an hour, else a minute. It is told, and warns if --recent names it, and so is one that is not measured any more. A node that left less than 10 minutes ago is not an error. After the nodes come more
likely causes: an interface of this master that is down or through which no node is heard any more, and why reports are rejected. It warns of
two machines that report as one node, with both addresses, of a receiver that could not read its options again, of a full board, of IP
fragments that are not joined, of a journal of the board that does not write, and of a scheduler of whose hosts none is on the board. With
--where, nodes for which the condition holds are counted instead, and nodes named but not on the board.
The result is 3 if there is no board, it is stalled or no node is on it, so that no state is known, or if the node list cannot be read. --fail open makes
that 0, --fail closed makes it 2. With --fail open, names that are not on the board are reported but do not count.
For Slurm's PrologSlurmctld use beoboard-gate: it waits for nodes that may come back, and answers with 0 or 1 only.
--setup is for people who set up a master: of each part (board, receiver, links, list, keys, senders, clocks, journal,
scheduler, units) a line says what is right (ok), what may be so on purpose (--), or what is wrong (!!), and what to type.
Exit codes: 0 OK, 1 warning, 2 critical, 3 unknown, and wrong usage; with --setup 0 nothing is wrong, 1 something is, 2 wrong usage.`,
});

/** The problems that warn also when they are recent, unless --recent says otherwise. */
const RECENT: readonly Problem[] = ['gpu_errors', 'hung_tasks', 'throttled'];

const WAYS: readonly unknown[] = [undefined, 'open', 'closed'];

/** The line about a board. Throws a Failure if nothing is known, and a UsageError for an invalid condition. */
async function lineOf(values: ValuesOf<typeof verb>): Promise<ReturnType<typeof checkLine>> {
  const { where, nodes: names, ignore = [], recent = RECENT } = values;
  for (const option of ['ignore', 'recent'] as const)
    if (where !== undefined && values[option] !== undefined)
      throw new UsageError(`--${option} and --where do not go together; leave one out`);
  return await withReader(values.board, values.owner, async reader => {
    const fulfils = where === undefined ? undefined : await fulfilling(reader, where);
    const look = reader.nodeStates();
    const { board } = look;
    if (board.stalled || board.retired) throw new Failure(unknownText(board), NO_BOARD);
    const allNames = () => look.names([...look.states.keys()]);
    const unguarded = unguardedText(schedulerViewOf(values.slurmDir, { names: allNames }), board);
    return checkLine(look, {
      ...{ ...values, names, fulfils, fail: WAYS.indexOf(values.fail), ignore, recent },
      ...{ warnings: unguarded === undefined ? '' : `; ${unguarded}`, condition: brief(where ?? '', 200) },
    });
  });
}

/** What --setup looks at. */
const OF_SETUP = ['setup', 'board', 'owner', 'journal-run', 'slurm-dir', 'config'];

async function checkSetup(values: ValuesOf<typeof verb>, given: Iterable<string>): Promise<number> {
  const other = [...given].find(name => !OF_SETUP.includes(name));
  if (other !== undefined) throw new UsageError(`--setup and --${other} do not go together; leave one out`);
  const { setupReport } = await import('./setup.js');
  return await withReader(values.board, values.owner, async reader => {
    const { text, isRight } = setupReport(reader, values);
    await print([text]);
    return isRight ? 0 : 1;
  });
}

export async function main(argv: string[]): Promise<number> {
  if (argv.includes('--setup')) {
    const { values, given } = parseVerb(verb, argv);
    if (values.setup) return await checkSetup(values, given.keys());
  }
  let told: ReturnType<typeof checkLine>;
  try {
    told = await lineOf(parseVerb(verb, argv).values);
  } catch (error) {
    // A monitor takes 2 as critical and reads stdout only.
    if (!(error instanceof UsageError || error instanceof Failure)) throw error;
    const message = error instanceof UsageError ? `beoboard ${verb.name}: ${error.message}` : error.message;
    told = answerIgnorance(WAYS.indexOf(readAlone(verb, argv, 'fail')), message);
  }
  await print([told.text]);
  return told.code;
}
