// The only orders that we give to Slurm: drain and undrain of one node, and the questions around them. No order here
// cancels a job, sets a node down, or takes it out of DOWN.

import { hostname } from 'node:os';
import { SLURMS_REASON } from '../../schedulerfile/drains.js';
import { type Controller, type HoldOrder, NoAnswer, type OrderedNode } from '../../schedulerfile/scheduler.js';
import { isNodeName } from '../../text/hostlists.js';
import { lowerCase } from '../../text/text.js';
import { type CallOptions, type CommandOutput, failureOf, outputOf, runCommand } from '../command.js';
import { type ListedNode, parseBootTime, parseListedNodes, parsePrimary } from './answers.js';
import { meaningOf, nodeState } from './nodestate.js';

const WORKING = ['IDLE', 'MIXED', 'ALLOCATED'];
/** The flags that a node may have besides that and still be drained. With any other flag the bridge does nothing. */
const NO_HINDRANCE = ['NOT_RESPONDING', 'COMPLETING', 'PLANNED', 'RESERVED', 'CLOUD', 'DYNAMIC_NORM'];
/** Flags that may stand beside our own drain when it is lifted. */
const NO_HINDRANCE_TO_RETURN = ['DRAIN', 'COMPLETING', 'PLANNED', 'RESERVED', 'CLOUD', 'DYNAMIC_NORM'];

const ifSo = (is: boolean) => (is ? true : undefined);

/** What Slurm's state of a node means for orders. */
export function orderedNode(node: ListedNode): OrderedNode {
  const { base = '', flags } = nodeState(node.state);
  const hasOnly = (allowed: readonly string[]) => [...flags].every(flag => allowed.includes(flag));
  // In any spelling `nodename=all` is every node of the cluster, and scontrol takes other names apart.
  const isNoName = lowerCase(node.name) === 'all' || !isNodeName(node.name);
  return {
    ...node,
    held: ifSo(flags.has('DRAIN')),
    failed: ifSo(flags.has('FAIL')),
    unheard: ifSo(flags.has('NOT_RESPONDING')),
    may_hold: ifSo(WORKING.includes(base) && hasOnly(NO_HINDRANCE)),
    may_release: ifSo([...WORKING, 'DOWN'].includes(base) && hasOnly(NO_HINDRANCE_TO_RETURN)),
    own_reason: ifSo(node.reason === SLURMS_REASON),
    unorderable: isNoName ? 'scontrol does not take this name for one node' : undefined,
  };
}

function wordsOf({ act, node, reason }: HoldOrder): string[] {
  const words = ['update', `nodename=${node}`, `state=${act}`];
  return act === 'drain' ? [...words, `reason=${reason}`] : words;
}

/** The same as a line for scontrol's own prompt. NodeNames have no blanks, and our reasons no quotes. */
function promptOf(order: HoldOrder): string {
  return `${wordsOf(order)
    .map(word => word.replace(/=(.* .*)/, '="$1"'))
    .join(' ')}\n`;
}

/** The same as a line for a shell. */
export function lineOf(order: HoldOrder): string {
  const quoted = wordsOf(order).map(word => (/^[A-Za-z0-9=._-]+$/.test(word) ? word : word.replace(/=(.*)/s, "='$1'")));
  return `scontrol ${quoted.join(' ')}`;
}

/** Whether two names mean the same host: they are equal, or one lacks only the domain. */
function isSameHost(one: string, other: string): boolean {
  const [a, b] = [lowerCase(one), lowerCase(other)];
  return a === b || (!a.includes('.') && b.startsWith(`${a}.`)) || (!b.includes('.') && a.startsWith(`${b}.`));
}

/** Slurm by its own commands. `options.stop` interrupts questions; an order is completed. `host`: this machine. */
export function slurmOrders(options: CallOptions = {}, host = hostname()): Controller {
  const { stop: _, ...unstopped } = options;
  const answer = (argv: readonly string[], how = options) => outputOf('scontrol', argv, how);
  const listed = async (names: readonly string[], how?: CallOptions) =>
    parseListedNodes(await answer(['-a', '-d', '-o', 'show', 'node', ...names], how)).map(orderedNode);
  const one = async (name: string, how?: CallOptions) => (await listed([name], how)).find(node => node.name === name);
  return {
    nodes: async () => new Map((await listed([])).map(node => [node.name, node] as const)),
    node: name => one(name),
    readBack: name => one(name, unstopped),
    notPrimary: async () => {
      // It fails if one of several controllers is down, and still reports all of them.
      const { stdout } = await runCommand('scontrol', ['ping'], options);
      const primary = parsePrimary(stdout);
      if (primary === undefined) return "Slurm's primary controller is not up";
      return isSameHost(primary, host) ? undefined : `Slurm's primary controller is ${primary}, and this is ${host}`;
    },
    startedS: async () => parseBootTime(await answer(['show', 'config'])),
    lineOf,
    asHeld: (node, reason) => {
      const state = `${node.state}+DRAIN`;
      return orderedNode({ ...node, state, ...meaningOf(state), reason });
    },
    prepare: () => {
      let give: (text: string) => void = () => undefined;
      const input = new Promise<string>(resolve => {
        give = resolve;
      });
      const ended = runCommand('scontrol', [], unstopped, {}, input).then(
        (said: CommandOutput) => ({ rc: said.code, said: said.code === 0 ? '' : failureOf('scontrol', said) }),
        (error: unknown) => {
          if (!(error instanceof NoAnswer)) throw error;
          return { rc: null, said: error.message };
        },
      );
      return {
        order: order => {
          give(promptOf(order));
          return ended;
        },
        drop: async () => {
          give('');
          await ended;
        },
      };
    },
  };
}
