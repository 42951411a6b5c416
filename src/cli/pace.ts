// Makes nodes report at another interval for a time: writes their pace file with the command by which the site runs
// commands on nodes. Sends nothing to senders, and lets no shell interpret a node name.

import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { defineVerb, forms, parseVerb, UsageError } from '../options/options.js';
import { VERBS } from '../options/verbs.js';
import { formatDuration, writeDuration } from '../text/durations.js';
import { Failure } from '../text/failure.js';
import { fold } from '../text/hostlists.js';
import { print } from '../text/output.js';
import { oneLine } from '../text/text.js';

export const verb = defineVerb({
  name: 'pace',
  summary: VERBS.pace,
  options: ['nodes', 'interval', 'for', 'off', 'via', 'pace-file', 'dry-run'],
  forms: forms.pace,
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

const AT_ONCE = 16;
/** The longest host list in one argument, bytes: the kernel takes 128 KiB. */
const MOST_LIST = 120_000;
/** Known programs that run commands on nodes. */
const RUNNERS = ['clush', 'pdsh', 'ssh'];

/**
 * What runs on a node, as one argument. The user's shell on the node interprets it once more, so all of it except `sh
 * -c` is in quotes, and inside them are neither quotes nor % (which clush and pdsh replace). The file is complete
 * whenever somebody reads it.
 */
function scriptFor(path: string, line: string | undefined): string {
  if (line === undefined) return `sh -c 'rm -f ${path}'`;
  const write = `umask 022 && t=${path}.$$ && rm -f "$t" && set -C && echo "${line}" > "$t" && mv -fT "$t" ${path}`;
  return `sh -c '${write} || { rm -f "$t"; exit 1; }'`;
}

function typed(words: readonly string[]): string {
  const quoted = (word: string) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  return oneLine(words.map(quoted).join(' '));
}

/** How a command ended: its exit code, or what is said in its place; and whether it was run at all. */
interface CommandEnd {
  end: number | string;
  ran: boolean;
}

function run([program = '', ...args]: readonly string[]): Promise<CommandEnd> {
  return new Promise(resolve => {
    const fail = (error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      const why =
        code === 'ENOENT' ? 'there is no such program; install it, or name another one with --via' : (code ?? message);
      resolve({ end: `cannot be run: ${why}`, ran: false });
    };
    try {
      // The command writes to the same stdout and stderr as we do, and has nothing to read.
      const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
      child.once('error', fail);
      child.once('close', (code, signal) => resolve({ end: code ?? `was ended by ${signal}`, ran: true }));
    } catch (error) {
      fail(error); // some reasons are thrown (ENOTDIR), others told of later (ENOENT)
    }
  });
}

/** Nodes as host lists, of which each can be one argument. */
function listsOf(nodes: readonly string[]): string[][] {
  if (nodes.length < 2 || fold(nodes).length <= MOST_LIST) return [[...nodes]];
  const half = nodes.length >> 1;
  return [...listsOf(nodes.slice(0, half)), ...listsOf(nodes.slice(half))];
}

/** Whether the command is called for each node: ssh knows no lists. What calls it (sudo, timeout) changes nothing, and `pdsh -R ssh` is pdsh. */
function takesOne(via: readonly string[]): boolean {
  return via.map(word => basename(word)).find(name => RUNNERS.includes(name)) === 'ssh';
}

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

async function runAll(lines: readonly (readonly string[])[]): Promise<CommandEnd[]> {
  const ends: CommandEnd[] = [];
  const next = lines.entries();
  const work = async () => {
    for (const [i, words] of next) ends[i] = await run(words);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ends;
}

export async function main(argv: string[]): Promise<number> {
  const { nodes, interval, for: duration, off, via, paceFile, dryRun } = parseVerb(verb, argv).values;
  const usage = (wrong: string) => new UsageError(verb.name, wrong);
  if (nodes === undefined) throw usage('no nodes are given; write -w LIST');
  if (off && (interval !== undefined || duration !== undefined))
    throw usage('--off removes the file; leave --interval and --for out');
  if (!off && interval === undefined) throw usage('no interval; write --interval TIME, or --off');
  if (!off && duration === undefined) throw usage('for how long? write --for TIME');
  const line = off ? undefined : `interval ${writeDuration(interval ?? 0)} for ${writeDuration(duration ?? 0)}`;
  const script = scriptFor(paceFile, line);
  const once = [...new Set(nodes)];
  const groups = takesOne(via) ? once.map(node => [node]) : listsOf(once);
  const lines = groups.map(group => [...via, fold(group), script]);
  await print(lines.map(words => `${typed(words)}\n`));
  if (line !== undefined) process.stderr.write(reachLine(duration ?? 0, interval ?? 0));
  if (dryRun) return 0;
  const ends = await runAll(lines);
  const failed = groups.filter((_, i) => ends[i]?.end !== 0).flat();
  if (failed.length === 0) return 0;
  const first = ends.find(({ end }) => end !== 0)?.end;
  const how = typeof first === 'number' ? `ended with ${first}` : first;
  const where = groups.length === 1 ? '' : ` for ${failed.length} of ${once.length} nodes (${fold(failed)})`;
  const reached = ends.some(({ ran }) => ran) ? 'some nodes may have been reached' : 'no node was reached';
  throw new Failure(`${via[0]} ${how}${where}; ${reached}`, 1);
}
