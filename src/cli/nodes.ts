// Names of nodes for scripts: those in some states, as one host list. Reads liveness alone, unless it is asked for more.

import { compareNames, fold } from '../common/hostlists.js';
import { defineVerb, parseVerb, UsageError, type ValuesOf } from '../common/options.js';
import { print } from '../common/output.js';
import { VERBS } from '../common/verbs.js';
import { mayBeRefused } from '../shm/liveness.js';
import { BoardReader, NO_BOARD, type Node, stalledText } from '../shm/reader.js';
import { linkNews } from '../shm/sentences.js';
import { type Census, type Question, takeCensus } from './census.js';
import { type RefusedNode, refusedTexts } from './refusals.js';

export const verb = defineVerb({
  name: 'nodes',
  summary: VERBS.nodes,
  options: ['state', 'healthy', 'nodes', 'where', 'fold', 'expand', 'count', 'board', 'owner', 'config'],
  letters: { s: 'state', w: 'nodes', f: 'fold', e: 'expand', c: 'count' },
  examples: [
    'beoboard nodes --state live',
    'beoboard nodes --healthy',
    'sbatch --exclude=$(beoboard nodes --state silent,uncertain) job.sh',
    'beoboard nodes --state silent --expand',
    'beoboard nodes --state live --nodes rack17n[01-48] --count',
    "beoboard nodes --where 'state == live && load < 1'",
  ],
  notes: `One host list, as Slurm and pdsh take it; nothing at all when there is no such node. --expand writes one name in each line. Names given
with --nodes that are not on the board are told on stderr, and so is what is likelier at fault than the nodes: an interface of this
master that is down, or by which none is heard any more, and why reports are refused. Exit codes: 0 done, 1 a name is not on the board, 2 usage, 4 no board, or
a stalled one: then nothing is known about any node, all of them are unknown, and none is silent.`,
});

type Options = ValuesOf<typeof verb>;

/** Whether a node is chosen by more than its state. */
async function chosenBy({ where, healthy }: Options): Promise<((node: Node) => boolean) | undefined> {
  const holds = where === undefined ? undefined : (await import('./where.js')).filter(verb.name, where);
  if (!healthy) return holds;
  return node => node.state === 'live' && node.ailments.length === 0 && (holds?.(node) ?? true);
}

/** Those of which more holds than their state: needs the whole board. */
function selected(reader: BoardReader, holds: (node: Node) => boolean, { keep, among }: Question) {
  const snapshot = reader.snapshot();
  const missing = among && new Set(among);
  const kept: string[] = [];
  const refused: RefusedNode[] = [];
  const news = linkNews(snapshot);
  const behind = new Set<number>();
  for (const node of snapshot.nodes()) {
    const { name, state } = node;
    if (missing && !missing.delete(name)) continue;
    if (news.length > 0) behind.add(node.link);
    if (!keep(state) || !holds(node)) continue;
    kept.push(name);
    const refusal = mayBeRefused(state) ? node.refusedSince : undefined;
    if (refusal !== undefined) refused.push({ name, state, refusal });
  }
  const { stalled, retired, closed } = snapshot;
  const remarks = [...news.filter(({ number }) => behind.has(number)), ...refusedTexts(refused)].map(
    ({ text }) => text,
  );
  return { names: kept, strangers: [...(missing ?? [])], remarks, stalled: stalled || retired, closed };
}

/** Those in the states alone: reads liveness. */
function counted(reader: BoardReader, question: Question) {
  const census = takeCensus(reader, question);
  return { ...census, names: census.kept.map(({ name }) => name) };
}

/** Why nothing is known, in one line. */
function stalledLine({ closed }: Pick<Census, 'closed'>): string {
  return `${stalledText(closed)}: nothing is known about nodes; see beoboard status`;
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  if (values.expand && values.fold)
    throw new UsageError(verb.name, '--expand and --fold do not go together; leave one out');
  const states = values.state && new Set<string>(values.state);
  const question = { keep: (state: string) => states === undefined || states.has(state), among: values.nodes };
  const reader = new BoardReader(values.board, values.owner);
  try {
    const holds = await chosenBy(values);
    const found = holds === undefined ? counted(reader, question) : selected(reader, holds, question);
    const { names, strangers } = found;
    if (values.count) await print([`${names.length}\n`]);
    else if (values.expand) await print(names.sort(compareNames).map(name => `${name}\n`));
    else if (names.length > 0) await print([`${fold(names)}\n`]);
    if (found.stalled) {
      process.stderr.write(`beoboard nodes: ${stalledLine(found)}\n`);
      return NO_BOARD;
    }
    for (const remark of found.remarks) process.stderr.write(`beoboard nodes: ${remark}\n`);
    if (strangers.length === 0) return 0;
    process.stderr.write(`beoboard nodes: not on the board: ${fold(strangers)}\n`);
    return 1;
  } finally {
    reader.close();
  }
}
