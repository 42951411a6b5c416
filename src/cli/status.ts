// The status of the nodes: a line that sums up, the list of trouble, and the nodes worst first. Reads the board
// once (or every second).

import { readAcks } from '../acks/ackfile.js';
import { meanings } from '../layout/terms.gen.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../options/options.js';
import { chosenColumns, sortField } from '../query/columns.js';
import { ordered } from '../query/sorting.js';
import { type Choice, isException, namesOf, type Survey, survey, totalsOf } from '../query/survey.js';
import { pause } from '../service/pause.js';
import { NO_BOARD, NoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import type { Snapshot } from '../shm/snapshot.js';
import { painter } from '../terminal/style.js';
import { usable } from '../text/failure.js';
import { fold } from '../text/hostlists.js';
import { hasScreen, json, print, terminalWidth } from '../text/output.js';
import { InputError } from '../text/text.js';
import { troubleAndSentences } from '../trouble/trouble.js';
import { type CommandOptions, commandOptions } from './commandline.js';
import { plainText, type StatusLayout, statusText } from './statustext.js';

export const verb = defineVerb({
  name: 'status',
  options: [
    ...(['nodes', 'where', 'by', 'sort', 'columns', 'exceptions', 'long', 'jobs', 'slurm-dir', 'journal-run'] as const),
    ...(['json', 'csv', 'csv-safe', 'plain', 'watch', 'color', 'board', 'owner', 'config'] as const),
  ],
  letters: { w: 'nodes', o: 'columns', x: 'exceptions', l: 'long' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard status',
    'beoboard status node017',
    'beoboard status -x',
    'beoboard status -w rack17n[01-48] -o load,mem,mem_avail_mib',
    "beoboard status --where 'mem_avail < 1GiB && state == live' --sort load",
    'beoboard status --where \'any(gpu.throttled) || name ~ "^rack1" && load > 150%\'',
    "beoboard status --by '/^rack[0-9]+/'",
    'beoboard status --jobs',
    'beoboard status --watch',
    'beoboard status --json -o load,mem_avail_mib',
    'beoboard status --json | jq \'.nodes[] | select(.state != "live") | .name\'',
  ],
  notes: `States:
${Object.entries(meanings.node_state)
  .map(([state, meaning]) => `  ${state.padEnd(11)}${meaning}`)
  .join('\n')}

Above the table are the totals of the live nodes selected by -w and --where: what they have, use and transfer, and on how many nodes it
was measured if not on all. Up to 40 nodes get a row each; more are folded into host lists, unless --long, --sort or --columns asks for
rows, and with --jobs all but the worst 40. Values in brackets are the last known ones of a node that is not live; - was not measured. SINCE is when the node
came into its state: live since its reports have come without a gap, else since the last one. WAIT is the largest share of the last 10 s in which tasks waited for CPU, memory or I/O (PSI), SKEW the node's clock minus the master's, DELAY how late the node's last report
was made, LINK the master's interface that receives its reports, WHY the reason why its reports are rejected. A ! after the state marks
a node with a problem, listed under PROBLEMS:
${Object.entries(meanings.problem)
  .map(([problem, meaning]) => `  ${problem.padEnd(16)}${meaning}`)
  .join('\n')}

--watch fills the terminal until q is pressed; ? lists its keys (order, filter, rows or host lists, a page for a node or a job). It folds as
status does; l or s asks for rows. With --by it shows the groups, and Enter opens one. With --plain, or if stdout is not a terminal, it
prints again every second; with --json one object per line.

With --json, -o limits each node to its name, its state and these fields. Numbers are numbers; values that were not measured are absent.

A condition compares names listed by beoboard describe (fields, columns, rates.ctxt) by == != < <= > >= with numbers, words and texts, or
a text by ~ and !~ with a regular expression (RE2), joined by && || ! and parentheses. A number may have a unit (1GiB, 5s, 90%), or be hexadecimal (0x1f). A
percentage of a part is relative to its whole: mem_avail < 10%. A flag stands alone: held, !root_readonly. GPUs, interfaces and CPU
groups: any(gpu.util > 90%), all(net.carrier), gpu.0.util_pct, net.eth0.mbps. Comparisons with values that were not measured are false, so that
!(…) is true. For nodes that are not live the last known values count: add state == live && for current values only.

--jobs adds to each node what beoboard scheduler last read: the state in Slurm and whose jobs run there, in brackets if it is old, and
sentences where Slurm and the board disagree.

--by counts the states of each group and shows the mean over its live nodes: of load, cpu, mem, in and out, or of --columns; of an id, the
value that all share. Nodes that belong to no group share the line -. --long lists the nodes of each group.

Host lists may be given without -w. NO_COLOR turns colours off. Exit codes: 0 done, 1 a name is not on the board, 2 usage, 4 no board, or stalled.`,
});

type StatusOptions = ValuesOf<typeof verb>;

/** Every second until a signal comes. Waits for a board that is absent for a moment. */
async function again(
  reader: BoardReader,
  show: (snapshot: Snapshot) => Promise<Iterable<string | Uint8Array>>,
  { json: asJson }: StatusOptions,
): Promise<number> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());
  for (let seen = false; !stop.signal.aborted; seen = true) {
    try {
      await print(await show(reader.snapshot()));
    } catch (error) {
      if (!seen || !(error instanceof NoBoard)) throw error;
      await print([asJson ? `${json({ schema: 1, no_board: error.message })}\n` : `no board: ${error.message}\n`]);
    }
    await pause(1000, stop.signal);
  }
  return 0;
}

function disagreement(options: StatusOptions): string | undefined {
  const forms = (['json', 'csv', 'plain'] as const).filter(name => options[name]);
  if (forms.length > 1) return `--${forms[0]} and --${forms[1]} do not go together; leave one out`;
  if (options.watch && options.csv) return '--watch and --csv do not go together; leave one out';
  const alone = (['csv', 'plain'] as const).find(name => options[name]);
  if (options.jobs && options.csv) return '--jobs and --csv do not go together; leave one out';
  return options.by && alone ? `--by and --${alone} do not go together; leave one out` : undefined;
}

/** Throws a UsageError for an unknown field even without a board, so that nobody waits to learn of a typing error. */
async function checkFields({ columns, sort, by }: StatusOptions): Promise<void> {
  const groups = by && (await import('../query/groups.js'));
  usable(() => {
    if (columns !== undefined) chosenColumns(columns);
    if (sort !== undefined) sortField(sort);
    if (by !== undefined) groups?.ruleOf(by);
  });
}

/** The nodes that `-x` leaves. */
function exceptions(found: Survey, only: boolean): Survey {
  return only ? { ...found, nodes: found.nodes.filter(isException) } : found;
}

async function answer(
  found: Survey,
  options: StatusOptions,
  asked: CommandOptions,
): Promise<Iterable<string | Uint8Array>> {
  const { snapshot } = found;
  if (options.csv) {
    const { csvPieces } = await import('./csv.js');
    return csvPieces(
      found,
      () => ordered(exceptions(found, options.exceptions), options.sort),
      options.columns,
      options.csvSafe,
    );
  }
  const { schedulerViewOf } = await import('../schedulerfile/schedulerview.js');
  const scheduler = schedulerViewOf(options.slurmDir, snapshot);
  const slurm = options.jobs ? scheduler : undefined;
  // Whoever can read its file is told whose jobs are in trouble; that there is none is said if it was asked for.
  const besides = {
    scheduler: slurm ?? (scheduler.isKnown ? scheduler : undefined),
    journals: options.journalRun,
    ...readAcks(options.board),
  };
  if (options.json) {
    const { jsonPieces } = await import('../presentation/statusjson.js');
    const { by, sort, columns, watch: inOneLine } = options;
    const grouping = by && (await import('../query/groups.js'));
    const contents = () => ({
      ...troubleAndSentences(found, besides),
      standing: found.standing,
      nodes: ordered(exceptions(found, options.exceptions), by ? undefined : sort),
      totals: totalsOf(found),
      groups: by && grouping?.groupsJson(snapshot, grouping.groups(found, by, sort), columns),
    });
    return jsonPieces(snapshot, contents, { columns, slurm, inOneLine });
  }
  const { columns, sort, long, by, exceptions: only } = options;
  const [width, headWidth] = [terminalWidth(), terminalWidth(Number.POSITIVE_INFINITY)];
  const how = { width, headWidth, paint: painter(options.color), columns, sort, grouping: by, long };
  const look: StatusLayout = { ...how, exceptions: only, asked, slurm, besides };
  return options.plain ? plainText(found, look) : statusText(found, look);
}

export async function main(argv: string[]): Promise<number> {
  const { values: told, args, given } = parseVerb(verb, argv);
  const values = { ...told, csv: told.csv || told.csvSafe };
  const wrong = disagreement(values);
  if (wrong !== undefined) throw new UsageError(wrong);
  await checkFields(values);
  const { where: text } = values;
  const where = text === undefined ? undefined : { text, holds: (await import('../query/conditions.js')).filter(text) };
  const nodes = namesOf(values.nodes, args);
  const choice: Choice = { among: nodes, holds: where?.holds };
  const asked = commandOptions(given, args, nodes);
  const reader = new BoardReader(values.board, values.owner);
  try {
    // For people who listen, and for programs, one answer comes after another.
    if (values.watch && hasScreen() && !values.plain && !values.json) {
      const { watch } = await import('./watch.js');
      return await watch(reader, {
        ...values,
        nodes,
        where,
        asked,
        journals: values.journalRun,
        paint: painter(values.color),
      });
    }
    if (values.watch)
      return await again(reader, async snapshot => await answer(survey(snapshot, choice), values, asked), values);
    const snapshot = reader.snapshot();
    const found = survey(snapshot, choice);
    await print(await answer(found, values, asked));
    if (snapshot.stalled || snapshot.retired) return NO_BOARD;
    if (found.notOnBoard.length === 0) return 0;
    // All other forms list these names among the anomalies.
    if (values.csv) process.stderr.write(`beoboard status: not on the board: ${fold(found.notOnBoard)}\n`);
    return 1;
  } catch (error) {
    if (error instanceof InputError) throw new UsageError(error.message);
    throw error;
  } finally {
    reader.close();
  }
}
