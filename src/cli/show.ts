// All that is known about a node on one page: for people, field by field, or as JSON. Reads the board once.

import { readAcks } from '../acks/ackfile.js';
import { noJobText } from '../jobs/jobfacts.js';
import { checkLists, meaningOf, nodesOfJobs } from '../jobs/joblist.js';
import { schedulerSection } from '../jobs/schedulernode.js';
import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { nodeSheet } from '../presentation/nodesheet.js';
import { jsonPieces } from '../presentation/statusjson.js';
import { lookMs } from '../presentation/summary.js';
import { sharedTexts } from '../presentation/troublelines.js';
import { chosenOf, type Surveyed, survey } from '../query/survey.js';
import { schedulerViewOf } from '../schedulerfile/schedulerview.js';
import { NO_BOARD, unknownText } from '../shm/noboard.js';
import { withReader } from '../shm/reader.js';
import { painter } from '../terminal/style.js';
import { usable } from '../text/failure.js';
import { fold } from '../text/hostlists.js';
import { withId } from '../text/jobnames.js';
import { wrapped } from '../text/layout.js';
import { print, terminalWidth } from '../text/output.js';
import { oneLine } from '../text/text.js';
import { troubleAndSentences, troubleOf } from '../trouble/trouble.js';
import { nodePage } from './nodepage.js';

export const verb = defineVerb({
  name: 'show',
  options: ['nodes', 'raw', 'json', 'slurm-dir', 'journal-run', 'color', 'board', 'owner', 'config'],
  letters: { w: 'nodes' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard show node017',
    'beoboard show --raw node017',
    "beoboard show 'rack17n[01-04]'",
    'beoboard show --json node017',
  ],
  notes: `Host lists may be given without -w; a job's id or a user, as in beoboard jobs, means their nodes. For a node that is not live, the last known values are shown; values that were not measured are left
out. --raw shows every field of the report under its name in proto/stat-v1.md, with rates for counters; beoboard describe explains each.
--json is that of beoboard status, for these nodes. If beoboard scheduler runs, its data is at the end.
Exit codes: 0 done, 1 a name is not on the board, 2 usage, 4 no board, or stalled.`,
});

/** Longer lines are hard to read. */
const LONGEST_LINE = 120;

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  if (values.nodes === undefined && args.length === 0) throw new UsageError('no node given; write beoboard show NODE');
  if (values.raw && values.json) throw new UsageError('--raw and --json do not go together; leave one out');
  usable(() => checkLists(args));
  return await withReader(values.board, values.owner, async reader => {
    const snapshot = reader.snapshot();
    const slurm = schedulerViewOf(values.slurmDir, snapshot);
    const names = new Set(snapshot.names());
    const asked = usable(() => meaningOf(args, slurm, name => names.has(name)));
    const jobs = asked.jobs.map(id => withId(slurm.jobs, id));
    const of = (users: readonly string[]) => slurm.jobs.filter(({ user }) => users.includes(user));
    const chosen = nodesOfJobs(slurm, [...jobs.flat(), ...of(asked.users)]);
    const among = [...(values.nodes ?? []), ...asked.nodes, ...chosen];
    const noJobs = asked.jobs.filter((_, i) => jobs[i]?.length === 0).map(id => noJobText(id, []));
    const whole = survey(snapshot);
    const found = chosenOf(whole, { among });
    const nowMs = lookMs(snapshot);
    const scheduler = slurm.isKnown ? slurm : undefined;
    const besides = { scheduler, journals: values.journalRun, ...readAcks(values.board) };
    // Of one of many it is told what has happened to all of them.
    const trouble = values.json ? [] : troubleOf(whole, besides);
    const paint = painter(values.color);
    const width = Math.min(terminalWidth(), LONGEST_LINE);
    const page = ({ index }: Surveyed) => {
      const node = snapshot.node(index);
      const { head, lines } = nodeSheet(
        node,
        paint,
        width,
        schedulerSection(slurm, node.name, nowMs),
        sharedTexts(trouble, node.name, nowMs),
      );
      const every = values.raw && nodePage(node, paint, terminalWidth(Number.POSITIVE_INFINITY));
      return [...head, ...(every || lines)];
    };
    // In the order of the command line, and not of the board.
    const byName = new Map(found.nodes.map(node => [node.name, node]));
    const nodes = [...new Set(among)].flatMap(name => byName.get(name) ?? []);
    if (values.json) {
      const of_user = asked.both.length === 0 ? undefined : [...nodesOfJobs(slurm, of(asked.both))];
      const contents = () => ({ nodes, standing: found.standing, ...troubleAndSentences(found, besides), of_user });
      await print(jsonPieces(snapshot, contents, { slurm: scheduler }));
    } else {
      await print(nodes.map((node, i) => `${i > 0 ? '\n' : ''}${page(node).join('\n')}\n`));
      for (const user of asked.both) {
        const text = `${oneLine(user)} is a user, too, with jobs on ${fold([...nodesOfJobs(slurm, of([user]))])}`;
        await print(['', ...wrapped(text, terminalWidth(Number.POSITIVE_INFINITY), '  ')].map(line => `${line}\n`));
      }
    }
    if (snapshot.stalled || snapshot.retired) {
      process.stderr.write(`beoboard show: ${unknownText(snapshot)}\n`);
      return NO_BOARD;
    }
    const missing = found.notOnBoard.length === 0 ? [] : [`not on the board: ${fold(found.notOnBoard)}`];
    for (const wrong of [...noJobs, ...missing]) process.stderr.write(`beoboard show: ${wrong}\n`);
    return noJobs.length + missing.length === 0 ? 0 : 1;
  });
}
