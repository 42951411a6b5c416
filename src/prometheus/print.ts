// The verb `metrics`: prints once what `beoboard prometheus` serves. Serves no clients, and does not wait for a board.

import { defineVerb, parseVerb } from '../options/options.js';
import { NO_BOARD, NoBoard } from '../shm/noboard.js';
import { Failure, UsageError, usable } from '../text/failure.js';
import { fold } from '../text/hostlists.js';
import { print } from '../text/output.js';
import { Exporter } from './exporter.js';
import { boardsOf } from './main.js';
import { collectorsOf } from './request.js';

export const verb = defineVerb({
  name: 'metrics',
  options: ['board', 'owner', 'collect', 'nodes', 'openmetrics', 'node-metrics', 'config'],
  examples: ['beoboard metrics', 'beoboard metrics | promtool check metrics', 'beoboard metrics --collect state,gpus'],
  notes: `For reading, and for promtool. Do not use it with node_exporter's textfile collector: a file that is no longer updated keeps dead nodes
alive. Exit codes: 0 done, 1 some of --nodes are not on the board, 2 usage, 4 no board, or stalled.`,
});

function* written(pieces: Iterable<Uint8Array | undefined>): Generator<Uint8Array> {
  for (const piece of pieces) if (piece !== undefined) yield piece;
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  if (values.nodeMetrics && values.collect !== undefined)
    throw new UsageError('--collect chooses what to tell under our own names; leave it out, or --node-metrics');
  const collectors = usable(() => collectorsOf(values.collect ?? []));
  const exporter = new Exporter(boardsOf(values));
  const looks = exporter.boards.map(board => board.look());
  const missing = looks.find(look => look instanceof NoBoard);
  if (missing !== undefined && looks.every(look => look instanceof NoBoard)) throw missing;
  const names = values.nodes && new Set(values.nodes);
  const scrape = { collectors, selection: { names, shard: 1, shards: 1 } };
  const format = values.openmetrics ? 'openmetrics' : 'text';
  await print(written(values.nodeMetrics ? exporter.nodeMetrics(scrape, format) : exporter.metrics(scrape, format)));
  if (missing !== undefined) throw missing;
  for (const [i, look] of looks.entries()) {
    if (look instanceof NoBoard || !look.board.stalled) continue;
    const { path } = (exporter.boards[i] as (typeof exporter.boards)[number]).reader;
    throw new Failure(
      `${path}: the receiver is stalled: nothing is known about nodes; start beoboard receive`,
      NO_BOARD,
    );
  }
  const known = new Set(exporter.boards.flatMap(({ names }) => names.node.names));
  const notOnBoard = (values.nodes ?? []).filter(name => !known.has(name));
  if (notOnBoard.length > 0) throw new Failure(`not on the board: ${fold(notOnBoard)}`, 1);
  return 0;
}
