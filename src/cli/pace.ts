// Makes nodes report at another interval for a time: writes their pace file with the command by which the site runs
// commands on nodes. Sends nothing to senders, and lets no shell interpret a node name.

import { defineVerb, parseVerb, UsageError } from '../options/options.js';
import { formatDuration, writeDuration } from '../text/durations.js';
import { print } from '../text/output.js';
import { remoteCommands, runCommands, scriptFor, typed } from './nodecommands.js';

export const verb = defineVerb({
  name: 'pace',
  options: ['nodes', 'interval', 'for', 'off', 'via', 'pace-file', 'dry-run'],
  letters: { w: 'nodes' },
  examples: [
    "beoboard pace -w 'node[001-128]' --interval 10s --for 1h",
    "beoboard pace -w 'node[001-128]' --interval 10s --for 1h --via 'pdsh -S -w' --dry-run",
    'beoboard pace -w node017 --interval 250ms --for 10m --via ssh',
    "beoboard pace -w 'node[001-128]' --off",
  ],
  notes:
    'Nodes take no orders from the network. A node reaches a longer interval in steps; what a time will reach, from a report a second on, is printed on stderr. This runs a command on them that writes the pace file, as a user who may do that. Senders with --pace-file trust it if it belongs to root or beoboard, within their --pace-min and --pace-max. When the time is over or the file is removed, they return to their own interval. The command line is printed before it runs. clush and pdsh need -S, or they do not report that a node failed. Exit codes: 0 done, 1 the command failed, 2 usage.',
});

/**
 * What a node reaches in a time, from a report a second on: its interval doubles after twelve reports that announced it.
 * Empty if there are no steps.
 */
function reachLine(forMs: number, wantedMs: number): string {
  if (wantedMs <= 1000) return '';
  let [reachedMs, afterMs] = [1000, 0];
  while (reachedMs < wantedMs && afterMs + 12 * reachedMs <= forMs) {
    afterMs += 12 * reachedMs;
    reachedMs = Math.min(2 * reachedMs, wantedMs);
  }
  const [wanted, reached] = [wantedMs, reachedMs].map(ms => `${ms / 1000} s`);
  const after = formatDuration(afterMs);
  const less = afterMs === 0 ? '' : `, ${reached} are reached after ${after}`;
  const how = reachedMs === wantedMs ? `are reached after ${after}` : `is never reached${less}`;
  return `beoboard pace: ${writeDuration(forMs)}: ${wanted} ${how}\n`;
}

export async function main(argv: string[]): Promise<number> {
  const { nodes, interval, for: duration, off, via, paceFile, dryRun } = parseVerb(verb, argv).values;
  const usage = (wrong: string) => new UsageError(wrong);
  if (nodes === undefined) throw usage('no nodes are given; write -w LIST');
  if (off && (interval !== undefined || duration !== undefined))
    throw usage('--off removes the file; leave --interval and --for out');
  if (!off && interval === undefined) throw usage('no interval; write --interval TIME, or --off');
  if (!off && duration === undefined) throw usage('for how long? write --for TIME');
  const line = off ? undefined : `interval ${writeDuration(interval ?? 0)} for ${writeDuration(duration ?? 0)}`;
  const commands = remoteCommands(via, nodes, scriptFor(paceFile, line));
  await print(commands.map(({ words }) => `${typed(words)}\n`));
  if (line !== undefined) process.stderr.write(reachLine(duration ?? 0, interval ?? 0));
  if (!dryRun) await runCommands(commands);
  return 0;
}
