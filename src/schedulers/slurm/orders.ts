// The only orders that we give to Slurm: drain and undrain of one node, and the questions around them. No order here
// cancels a job, sets a node down, or takes it out of DOWN.

import { hostname } from 'node:os';
import { lowerCase } from '../../text/text.js';
import type { Order } from '../bridge/rules.js';
import { type ListedNode, parseBootTime, parseListedNodes, parsePrimary } from './answers.js';
import { type CallOptions, failureOf, NoAnswer, runCommand, type Said } from './command.js';

/** A command that is started, and waits for its order. */
export interface Prepared {
  /** Gives an order. An exit code proves nothing; the caller has to look at the node again. */
  order(order: Pick<Order, 'act' | 'node' | 'reason'>): Promise<{ rc: number | null; said: string }>;
  /** Ends it without an order. */
  drop(): Promise<void>;
}

/** The possible questions and orders. The questions reject with NoAnswer. */
export interface Slurm {
  nodes(): Promise<ReadonlyMap<string, ListedNode>>;
  /** One node, now; undefined: there is none of that name. */
  node(name: string): Promise<ListedNode | undefined>;
  /** The same after an order; the signal to end does not interrupt it either. */
  readBack(name: string): Promise<ListedNode | undefined>;
  /** Why this machine's slurmctld is not the one that decides; undefined: it is. */
  notPrimary(): Promise<string | undefined>;
  /** When slurmctld was started, s since 1970; undefined: it does not say so. */
  startedS(): Promise<number | undefined>;
  /**
   * Starts what an order needs, so that nothing but the order itself lies between a last look at a node and its effect:
   * Slurm has no order with a condition.
   */
  prepare(): Prepared;
}

/** The arguments of `scontrol`. */
function wordsOf({ act, node, reason }: Pick<Order, 'act' | 'node' | 'reason'>): string[] {
  const words = ['update', `nodename=${node}`, `state=${act}`];
  return act === 'drain' ? [...words, `reason=${reason}`] : words;
}

/** The same as a line for scontrol's own prompt. NodeNames have no blanks, and our reasons no quotes. */
function promptOf(order: Pick<Order, 'act' | 'node' | 'reason'>): string {
  return `${wordsOf(order)
    .map(word => word.replace(/=(.* .*)/, '="$1"'))
    .join(' ')}\n`;
}

/** The same as a line for a shell. */
export function lineOf(order: Pick<Order, 'act' | 'node' | 'reason'>): string {
  const quoted = wordsOf(order).map(word => (/^[A-Za-z0-9=._-]+$/.test(word) ? word : word.replace(/=(.*)/s, "='$1'")));
  return `scontrol ${quoted.join(' ')}`;
}

/** Whether two names mean the same host: they are equal, or one lacks only the domain. */
function isSameHost(one: string, other: string): boolean {
  const [a, b] = [lowerCase(one), lowerCase(other)];
  return a === b || (!a.includes('.') && b.startsWith(`${a}.`)) || (!b.includes('.') && a.startsWith(`${b}.`));
}

/**
 * Slurm by its own commands. `options.stop` interrupts questions, and no order: an order is always completed. `host`:
 * this machine.
 */
export function slurmOrders(options: CallOptions = {}, host = hostname()): Slurm {
  const { stop: _, ...unstopped } = options;
  const answer = async (argv: readonly string[], how = options) => {
    const said = await runCommand('scontrol', argv, how);
    if (said.code !== 0) throw new NoAnswer(failureOf('scontrol', said));
    return said.stdout;
  };
  const listed = async (names: readonly string[], how?: CallOptions) =>
    parseListedNodes(await answer(['-a', '-d', '-o', 'show', 'node', ...names], how));
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
    prepare: () => {
      let give: (text: string) => void = () => undefined;
      const input = new Promise<string>(resolve => {
        give = resolve;
      });
      const ended = runCommand('scontrol', [], unstopped, {}, input).then(
        (said: Said) => ({ rc: said.code, said: said.code === 0 ? '' : failureOf('scontrol', said) }),
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
