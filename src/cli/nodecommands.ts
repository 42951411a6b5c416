// Commands that a verb runs for nodes, as the caller: on the nodes, by the command with which the site does that, or a
// scheduler's own. They are printed as they would be typed; no shell here interprets a name.

import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { Failure } from '../text/failure.js';
import { fold } from '../text/hostlists.js';
import { shellWord } from '../text/text.js';

/** A command, and the nodes that it is for. */
export interface NodeCommand {
  readonly words: readonly string[];
  readonly nodes: readonly string[];
}

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
export function scriptFor(path: string, line: string | undefined): string {
  if (line === undefined) return `sh -c 'rm -f ${path}'`;
  const write = `umask 022 && t=${path}.$$ && rm -f "$t" && set -C && echo "${line}" > "$t" && mv -fT "$t" ${path}`;
  return `sh -c '${write} || { rm -f "$t"; exit 1; }'`;
}

/** A command as it would be typed into a shell. */
export const typed = (words: readonly string[]): string => words.map(shellWord).join(' ');

/** How a command ended: its exit code, or what is said in its place; and whether it was run at all. */
interface CommandEnd {
  end: number | string;
  ran: boolean;
}

function run([program = '', ...args]: readonly string[], stdout: 1 | 2): Promise<CommandEnd> {
  return new Promise(resolve => {
    const fail = (error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      const why = code === 'ENOENT' ? 'there is no such program in PATH' : (code ?? message);
      resolve({ end: `cannot be run: ${why}`, ran: false });
    };
    try {
      const child = spawn(program, args, { stdio: ['ignore', stdout, 2] });
      child.once('error', fail);
      child.once('close', (code, signal) => resolve({ end: code ?? `was ended by ${signal}`, ran: true }));
    } catch (error) {
      fail(error); // some reasons are thrown (ENOTDIR), others told of later (ENOENT)
    }
  });
}

/** Nodes as host lists, of which each can be one argument. */
export function listsOf(nodes: readonly string[]): string[][] {
  if (nodes.length < 2 || fold(nodes).length <= MOST_LIST) return [[...nodes]];
  const half = nodes.length >> 1;
  return [...listsOf(nodes.slice(0, half)), ...listsOf(nodes.slice(half))];
}

/** Whether the command is called for each node: ssh knows no lists. What calls it (sudo, timeout) changes nothing, and `pdsh -R ssh` is pdsh. */
function takesOne(via: readonly string[]): boolean {
  return via.map(word => basename(word)).find(name => RUNNERS.includes(name)) === 'ssh';
}

async function endsOf(commands: readonly NodeCommand[], stdout: 1 | 2): Promise<CommandEnd[]> {
  const ends: CommandEnd[] = [];
  const next = commands.entries();
  const work = async () => {
    for (const [i, { words }] of next) ends[i] = await run(words, stdout);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ends;
}

/** The commands that run a script on these nodes, each of them once. */
export function remoteCommands(via: readonly string[], nodes: readonly string[], script: string): NodeCommand[] {
  const once = [...new Set(nodes)];
  const groups = takesOne(via) ? once.map(node => [node]) : listsOf(once);
  return groups.map(group => ({ words: [...via, fold(group), script], nodes: group }));
}

/** Runs them; they have nothing to read, and write where we do, or to stderr alone. Throws a Failure that says for which
 * nodes a command failed. */
export async function runCommands(commands: readonly NodeCommand[], stdout: 1 | 2 = 1): Promise<void> {
  const ends = await endsOf(commands, stdout);
  const failed = commands.flatMap(({ nodes }, i) => (ends[i]?.end === 0 ? [] : nodes));
  if (failed.length === 0) return;
  const i = ends.findIndex(({ end }) => end !== 0);
  const { end, ran } = ends[i] as CommandEnd;
  const how = typeof end === 'number' ? `ended with ${end}` : end;
  const all = commands.reduce((sum, { nodes }) => sum + nodes.length, 0);
  const where = commands.length === 1 ? '' : ` for ${failed.length} of ${all} nodes (${fold(failed)})`;
  const reached = ran || ends.some(({ ran }) => ran) ? 'some nodes may have been reached' : 'no node was reached';
  throw new Failure(`${commands[i]?.words[0]} ${how}${where}; ${reached}`, 1);
}
