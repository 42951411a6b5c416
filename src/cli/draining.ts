// What `drain` and `resume` do alike: which of a scheduler's nodes are meant, what it has to do with them, and its own
// commands for that. Where there is no scheduler, the nodes' hold file stands in its place.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Survey, survey } from '../query/survey.js';
import type { SchedulerNode } from '../schedulerfile/scheduler.js';
import { type SchedulerView, schedulerViewOf } from '../schedulerfile/schedulerview.js';
import { NoBoard } from '../shm/noboard.js';
import { BoardReader } from '../shm/reader.js';
import { Failure } from '../text/failure.js';
import { fold, isNodeName, shownNames } from '../text/hostlists.js';
import { groupBy } from '../text/maps.js';
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
const HOLD_FILE = '/run/beoboard/hold';
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
  /** Whether a scheduler's reader has ever run here. */
  readonly hasScheduler: boolean;
  readonly nodes: readonly SchedulerNode[];
  /** What is not done, and why, in sentences. */
  readonly left: string[];
}

function isThere(path: string): boolean {
  try {
    return statSync(path) !== undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

function surveyed({ board, owner }: ServiceOptions): Survey | undefined {
  try {
    const reader = new BoardReader(board, owner);
    try {
      return survey(reader.snapshot());
    } finally {
      reader.close();
    }
  } catch (error) {
    if (error instanceof NoBoard) return undefined;
    throw error;
  }
}

/** Looks at the board and at the scheduler's answers. Throws a Failure if there are answers that cannot be read. */
export function lookAt(options: ServiceOptions, names: readonly string[]): ServiceLook {
  const found = surveyed(options);
  const view = schedulerViewOf(options.slurmDir, { names: () => found?.all.map(({ name }) => name) ?? [] });
  const hasScheduler = view.isKnown || isThere(join(options.slurmDir, 'state'));
  if (hasScheduler && !view.isKnown) throw new Failure(view.trouble ?? '', 1);
  const nodes = new Map<string, SchedulerNode>();
  const [unknown, twice, wrong]: [string[], string[], string[]] = [[], [], []];
  for (const name of hasScheduler ? new Set(names) : []) {
    const [onBoard, own] = [view.of(name)?.node, view.nodeNamed(name)];
    const node = onBoard ?? own;
    if (node === undefined) unknown.push(name);
    else if (own !== undefined && own !== node) twice.push(name);
    // In any spelling `nodename=all` is every node of the cluster.
    else if (!isNodeName(node.name) || lowerCase(node.name) === 'all') wrong.push(name);
    else nodes.set(node.name, node);
  }
  const left = [
    [unknown, `not known to ${view.name}`],
    [twice, `two nodes may be meant; write its name in ${view.name}`],
    [wrong, `${view.name}'s commands do not take this name for one node`],
  ] as const;
  return {
    ...{ found, view, hasScheduler, nodes: [...nodes.values()] },
    left: left.flatMap(([those, why]) => (those.length === 0 ? [] : [`${shownNames(those)}: ${why}`])),
  };
}

/** Why these are left as they are: a sentence for all nodes of which the same is true. */
export function leftAs(nodes: readonly SchedulerNode[], why: (node: SchedulerNode) => string): string[] {
  return Array.from(groupBy(nodes, why), ([text, those]) => `${shownNames(those.map(({ name }) => name))}: ${text}`);
}

/** Drains these nodes for that reason, or without one gives them back. Throws a Failure. */
export function commandsFor(look: ServiceLook, nodes: readonly string[], via: readonly string[], reason?: string) {
  if (!look.hasScheduler) return remoteCommands(via, nodes, holdScript(reason));
  const manager = MANAGERS.get(look.view.name);
  if (manager === undefined)
    throw new Failure(`only Slurm's and Grid Engine's commands are known; use those of ${look.view.name}`, 1);
  return manager(nodes, reason);
}

/** Prints or runs the commands, and tells what is not done. Returns the exit code. `more`: keys for programs. */
export async function carryOut(
  verb: string,
  { do: isDone, json: asJson }: ServiceOptions,
  {
    commands,
    lines,
    left,
    more,
    wait,
  }: {
    readonly commands: readonly NodeCommand[];
    readonly lines: readonly string[];
    readonly left: readonly string[];
    readonly more: () => object;
    /** What is waited for when they are done. */
    readonly wait?: (() => Promise<void>) | undefined;
  },
): Promise<number> {
  const typedLines = commands.map(({ words }) => typed(words));
  if (!asJson) await print([...lines, ...typedLines].map(line => `${line}\n`));
  for (const text of left) process.stderr.write(`beoboard ${verb}: ${oneLine(text)}\n`);
  if (isDone) {
    await runCommands(commands);
    await wait?.();
  } else if (commands.length > 0) process.stderr.write(`beoboard ${verb}: not run; --do runs it as you\n`);
  if (asJson) await print([`${json({ schema: 1, done: isDone === true, commands: typedLines, left, ...more() })}\n`]);
  return left.length === 0 ? 0 : 1;
}
