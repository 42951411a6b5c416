// What `drain` and `resume` do alike: which of a scheduler's nodes are meant, what it has to do with them, and its own
// commands for that. Where there is no scheduler, the nodes' hold file stands in its place.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Survey, survey } from '../query/survey.js';
import { drainText } from '../schedulerfile/drains.js';
import type { SchedulerNode } from '../schedulerfile/scheduler.js';
import { Pairing, SchedulerView } from '../schedulerfile/schedulerview.js';
import { readState } from '../schedulerfile/statefile.js';
import { NoBoard, orNoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { Failure } from '../text/failure.js';
import { fold, isNodeName } from '../text/hostlists.js';
import { addTo, groupBy } from '../text/maps.js';
import { json, print } from '../text/output.js';
import { lowerCase, oneLine } from '../text/text.js';
import { listsOf, type NodeCommand, remoteCommands, runCommands, scriptFor, typed } from './nodecommands.js';

interface ServiceOptions {
  readonly board: string;
  readonly owner: string | number | undefined;
  readonly slurmDir: string;
  readonly via: readonly string[];
  readonly do: boolean | undefined;
  readonly json: boolean | undefined;
}

/** Where a sender looks for it. */
export const HOLD_FILE = '/run/beoboard/hold';
const QMOD_MOST = 500;

/** Takes nodes out of service, with a reason, or gives them back, by a scheduler's own command. */
type Manager = (names: readonly string[], reason: string | undefined) => NodeCommand[];

const MANAGERS = new Map<string, Manager>([
  [
    'Slurm',
    (names, reason) =>
      listsOf(names).map(nodes => {
        // scontrol takes off a quote at the beginning.
        const how = reason === undefined ? [] : [`reason=${reason.startsWith('"') ? '"' : ''}${reason}`];
        const act = reason === undefined ? 'undrain' : 'drain';
        return { words: ['scontrol', 'update', `nodename=${fold(nodes)}`, `state=${act}`, ...how], nodes };
      }),
  ],
  [
    'Grid Engine',
    (names, reason) =>
      Array.from({ length: Math.ceil(names.length / QMOD_MOST) }, (_, i) => {
        const nodes = names.slice(i * QMOD_MOST, (i + 1) * QMOD_MOST);
        return { words: ['qmod', reason === undefined ? '-e' : '-d', ...nodes.map(node => `*@${node}`)], nodes };
      }),
  ],
]);

/** A hold file with that reason, in the letters that a script for any shell may have; undefined: none. */
const holdScript = (reason: string | undefined) =>
  scriptFor(HOLD_FILE, reason?.replace(/[^A-Za-z0-9 .,:_@()+-]/g, '?'));

/** What is known of the nodes that are meant, at one look. */
export interface ServiceLook {
  /** Undefined: the board cannot be read; only the scheduler's names are known then. */
  readonly found: Survey | undefined;
  readonly view: SchedulerView;
  /** Whether a scheduler is known; if not, the hold file of nodes stands in its place. */
  readonly hasScheduler: boolean;
  readonly nodes: readonly SchedulerNode[];
  /** What is not done, and why, in sentences; and what else there is to know. */
  readonly left: string[];
  readonly told: string[];
}

const isInstalled = (command: string) =>
  (process.env.PATH ?? '').split(':').some(folder => existsSync(join(folder, command)));

function surveyed({ board, owner }: ServiceOptions): Survey | undefined {
  const found = orNoBoard(() => {
    const reader = new BoardReader(board, owner);
    try {
      return survey(reader.snapshot());
    } finally {
      reader.close();
    }
  });
  return found instanceof NoBoard ? undefined : found;
}

/** What a scheduler's reader has left, beside the names on the board; without a board those that it would have. */
function viewOf(folder: string, found: Survey | undefined): SchedulerView {
  const answer = readState(folder);
  const { names = {}, nodes } = answer.state ?? {};
  const list = [...Object.values(names), ...(nodes?.list.map(({ name }) => lowerCase(name)) ?? [])];
  return new SchedulerView(new Pairing(answer, found?.all.map(({ name }) => name) ?? [...new Set(list)]));
}

/** Looks at the board and at the scheduler's answers. Throws a Failure if a scheduler is there, and nothing known of it. */
export function lookAt(options: ServiceOptions, names: readonly string[]): ServiceLook {
  const found = surveyed(options);
  const view = viewOf(options.slurmDir, found);
  const hasScheduler = view.isKnown;
  const isMissing = existsSync(options.slurmDir) || ['scontrol', 'qmod'].some(isInstalled);
  if (!hasScheduler && isMissing) throw new Failure(view.trouble ?? '', 1);
  const nodes = new Map<string, SchedulerNode>();
  const left = new Map<string, string[]>();
  for (const name of hasScheduler ? new Set(names) : []) {
    const [onBoard, own] = [view.of(name)?.node, view.nodeNamed(name)];
    const node = onBoard ?? own;
    let why = `not known to ${view.name}`;
    if (own !== undefined && own !== node)
      why = `the board and ${view.name} have two nodes of that name; use ${view.name}'s own command`;
    // In any spelling `nodename=all` is every node of the cluster.
    else if (node !== undefined && (!isNodeName(node.name) || lowerCase(node.name) === 'all'))
      why = `${view.name}'s commands do not take this name for one node`;
    else if (node !== undefined) {
      nodes.set(node.name, node);
      continue;
    }
    addTo(left, why, name);
  }
  return {
    ...{ found, view, hasScheduler, nodes: [...nodes.values()] },
    left: Array.from(left, ([why, those]) => `${fold(those)}: ${why}`),
    told: hasScheduler
      ? [view.trouble ?? [], view.partial, ofEach([...nodes.values()], node => drainText(node) ?? '')].flat()
      : [`no scheduler is known here, so this is about ${HOLD_FILE} on the nodes, which ends with their reboot`],
  };
}

/** A sentence for all nodes of which the same is true; none where it is empty. */
export function ofEach(nodes: readonly SchedulerNode[], text: (node: SchedulerNode) => string): string[] {
  const told = [...groupBy(nodes, text)].filter(([text]) => text !== '');
  return told.map(([text, those]) => `${fold(those.map(({ name }) => name))}: ${text}`);
}

/** What is to be done, and what is shown before it. */
interface Order {
  readonly commands: readonly NodeCommand[];
  readonly lines: readonly string[];
  /** Keys for programs. */
  readonly more: object;
  /** What is waited for when it is done. */
  readonly wait?: (() => Promise<void>) | undefined;
}

/** Drains these nodes for that reason, or without one gives them back. Throws a Failure. */
export function commandsFor(look: ServiceLook, nodes: readonly string[], via: readonly string[], reason?: string) {
  if (!look.hasScheduler) return remoteCommands(via, nodes, holdScript(reason));
  const manager = MANAGERS.get(look.view.name);
  if (manager === undefined)
    throw new Failure(`only Slurm's and Grid Engine's commands are known; use those of ${look.view.name}`, 1);
  return manager(nodes, reason);
}

/** Prints or runs the commands, and tells what is not done. Returns the exit code. */
export async function carryOut(
  verb: string,
  { do: isDone, json: asJson }: ServiceOptions,
  { view, hasScheduler, left, told }: ServiceLook,
  { commands, lines, more, wait }: Order,
): Promise<number> {
  if (isDone && hasScheduler && view.trouble !== undefined)
    throw new Failure(`what is true now is not known: ${view.trouble}; without --do the command is printed`, 1);
  const typedLines = commands.map(({ words }) => typed(words));
  const say = (texts: readonly string[]) => {
    for (const text of texts) process.stderr.write(`beoboard ${verb}: ${oneLine(text)}\n`);
  };
  say([...told, ...left]);
  const failed: string[] = [];
  // Before anything is printed: a reader of stdout that has gone ends the program.
  if (isDone)
    await runCommands(commands, 2).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      failed.push(error.message);
    });
  if (!asJson) await print([...lines, ...typedLines].map(line => `${line}\n`));
  if (!isDone && commands.length > 0) say(['not run; --do runs it as you']);
  say(failed);
  if (isDone && failed.length === 0) await wait?.();
  const all = [...left, ...failed];
  if (asJson)
    await print([`${json({ schema: 1, done: isDone === true, commands: typedLines, left: all, told, ...more })}\n`]);
  return all.length === 0 ? 0 : 1;
}
