// Host lists for scripts: expands, folds and counts them. Reads its command line, or stdin, and never a board.

import { text } from 'node:stream/consumers';
import { expandLines, fold, NodesetError, readNodes } from '../common/hostlists.js';
import { defineVerb, parseVerb, UsageError } from '../common/options.js';
import { print } from '../common/output.js';
import { InputError } from '../common/text.js';
import { VERBS } from '../common/verbs.js';

export const verb = defineVerb({
  name: 'nodeset',
  summary: VERBS.nodeset,
  options: ['expand', 'fold', 'count', 'exclude'],
  letters: { e: 'expand', f: 'fold', c: 'count', x: 'exclude' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard nodeset --expand node[001-128],login1',
    'beoboard nodeset --fold node1 node2 node3',
    'squeue -h -o %N | beoboard nodeset --fold',
    'beoboard nodeset --fold node[1-10] --exclude node[3-4]',
    'beoboard nodeset --count @rack17.txt',
  ],
  notes: `A list is what Slurm, pdsh and ClusterShell agree on: names separated by commas, ranges of numbers in brackets, leading zeros kept;
or @FILE, with a list on each line. Without any, they are read from stdin, separated by blanks or lines. What one of the three would
turn into names that nobody meant is refused: ! & ^ @ { }, open brackets, ranges that run backwards. Folded lists have brackets on the
last number of a name only, and nothing behind them. Exit codes: 0 done, 2 refused.`,
});

/** The names of everything that was written, each once. */
async function namesOf(lists: readonly string[]): Promise<string[]> {
  if (lists.length === 0) return expandLines(await text(process.stdin), 'stdin', { blanks: true, spelling: 'any' });
  const names = new Set<string>();
  for (const list of lists) for (const name of readNodes(list, 'any')) names.add(name);
  return [...names];
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  const ways = [values.expand, values.fold, values.count].filter(Boolean).length;
  if (ways !== 1) throw new UsageError(verb.name, 'write one of --expand, --fold and --count');
  try {
    const without = new Set(values.exclude);
    const names = (await namesOf(args)).filter(name => !without.has(name));
    if (values.count) await print([`${names.length}\n`]);
    else if (values.expand) await print(names.map(name => `${name}\n`));
    else if (names.length > 0) await print([`${fold(names)}\n`]);
    return 0;
  } catch (error) {
    if (error instanceof NodesetError || error instanceof InputError) throw new UsageError(verb.name, error.message);
    throw error;
  }
}
