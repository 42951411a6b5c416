// Host lists for scripts: expands, folds and counts them. Reads its command line or stdin, and never a board.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { expandLines, fold, foldAll, NodesetError } from '../text/hostlists.js';
import { readNodes } from '../text/nodefiles.js';
import { print } from '../text/output.js';
import { InputError, oneLine, quote } from '../text/text.js';

export const verb = defineVerb({
  name: 'nodeset',
  options: ['expand', 'fold', 'nd', 'count', 'exclude', 'intersection'],
  letters: { e: 'expand', f: 'fold', c: 'count', x: 'exclude', i: 'intersection' },
  arguments: ['[lists...]'],
  examples: [
    'beoboard nodeset --expand node[001-128],login1',
    'beoboard nodeset --fold node1 node2 node3',
    'squeue -h -o %N | beoboard nodeset --fold',
    'beoboard nodeset --fold node[1-10] --exclude node[3-4]',
    'beoboard nodeset --fold node[1-100/2] --intersection node[40-50]',
    'beoboard nodeset --fold --nd r1n1.cluster r1n2.cluster r2n1.cluster r2n2.cluster',
    'beoboard nodeset --count @rack17.txt',
    'beoboard nodeset --expand @gpu',
  ],
  notes: `A list is what Slurm, pdsh and ClusterShell agree on: names separated by commas, ranges of numbers in brackets, leading zeros kept.
@FILE reads a list from each line. @GROUP is a ClusterShell group; nodeset is asked if there is no such file. Steps are read as in
ClusterShell, node[0-10/2]. Without any list, it reads stdin, separated by blanks or lines. Input that one of the three tools would turn
into unintended names is an error: ! & ^ { }, open brackets, ranges that run backwards. Folded lists have brackets on the last number of
a name only, with nothing behind them, since Slurm accepts nothing else. --nd folds all numbers, for ClusterShell and pdsh (and for
Slurm where nothing follows the last bracket). Exit codes: 0 done, 2 wrong input.`,
});

/** ClusterShell's own syntax for a group and its source: neither a path nor an operator. */
const GROUP = /^@[\w.-]+(?::[\w.-]+)?$/;
const LONGEST_ANSWER = 64 << 20;

/** The nodes of a group, from ClusterShell itself, which knows where sites keep their groups. Throws an InputError. */
function namesOfGroup(group: string): string[] {
  const { status, stdout, stderr, error } = spawnSync('nodeset', ['-e', '-S', '\n', group], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: LONGEST_ANSWER,
  });
  if (error !== undefined)
    throw new InputError(
      `${quote(group)} is not a file, and groups need ClusterShell's nodeset; name a file, or install clustershell`,
    );
  if (status !== 0) throw new InputError(`${quote(group)} is not a file, and no group: ${oneLine(stderr.trim())}`);
  const names = expandLines(stdout, group, { spelling: 'any' });
  if (names.length === 0)
    throw new InputError(`${quote(group)} is not a file, and a group without nodes; nodeset -l lists groups`);
  return names;
}

function namesIn(list: string): string[] {
  return GROUP.test(list) && !existsSync(list.slice(1)) ? namesOfGroup(list) : readNodes(list, 'any');
}

async function namesOf(lists: readonly string[]): Promise<string[]> {
  if (lists.length === 0) return expandLines(await text(process.stdin), 'stdin', { blanks: true, spelling: 'any' });
  const names = new Set<string>();
  for (const list of lists) for (const name of namesIn(list)) names.add(name);
  return [...names];
}

export async function main(argv: string[]): Promise<number> {
  const { values, args } = parseVerb(verb, argv);
  const ways = (['expand', 'fold', 'count'] as const).filter(way => values[way]);
  if (ways.length > 1) throw new UsageError(`--${ways[0]} and --${ways[1]} do not go together; leave one out`);
  if (ways.length === 0) throw new UsageError('no action is given; write one of --expand, --fold and --count');
  if (values.nd && !values.fold) throw new UsageError('--nd is a way to fold; write --fold --nd');
  try {
    const without = new Set(values.exclude);
    const within = values.intersection.map(names => new Set(names));
    const names = (await namesOf(args)).filter(name => !without.has(name) && within.every(among => among.has(name)));
    if (values.count) await print([`${names.length}\n`]);
    else if (values.expand) await print(names.map(name => `${name}\n`));
    else if (names.length > 0) await print([`${values.nd ? foldAll(names) : fold(names)}\n`]);
    return 0;
  } catch (error) {
    if (error instanceof NodesetError || error instanceof InputError) throw new UsageError(error.message);
    throw error;
  }
}
