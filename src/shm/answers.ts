// What check and nodes answer of a board. It is worked out, and worded, in C: beoboard-check and beoboard-nodes have the
// same code.

import { answerCheck, answerNodes } from '../native/index.js';
import type { Values } from '../options/options.js';
import { Failure, UsageError } from '../text/failure.js';
import { NUMBERED, type State } from './liveness.js';
import type { NodeStates } from './nodestates.js';
import { type Problem, problemBits } from './problems.js';

export { answerIgnorance } from '../native/index.js';

/** Which nodes: of these names, and for which a condition holds, a byte for each record. */
interface AskedNodes {
  readonly names: readonly string[] | undefined;
  readonly fulfils: Uint8Array | undefined;
}

/** `fail`: 1 open, 2 closed. `warnings`: what else is warned of, each behind a semicolon. */
interface CheckQuestion extends AskedNodes, Values<'warning' | 'critical' | 'health' | 'journal-run'> {
  readonly fail: number;
  readonly ignore: readonly Problem[];
  readonly recent: readonly Problem[];
  readonly warnings: string;
  readonly condition: string;
}

interface NodesQuestion extends AskedNodes {
  readonly states: readonly State[];
  readonly forMs: number;
  readonly problems: readonly Problem[];
  readonly healthy: boolean;
}

/**
 * Asks with these texts and numbers; the cause is what the receiver says of itself, if all nodes are asked for and none
 * was ever heard. Throws a Failure if there is no answer.
 */
function asked<A>(
  ask: (...question: Parameters<typeof answerCheck>) => A,
  { board, states, mapping }: NodeStates,
  { names, fulfils }: AskedNodes,
  texts: readonly string[],
  numbers: readonly number[],
): A {
  const isHeard = names !== undefined || states.some(state => NUMBERED[state] !== 'never');
  const cause = isHeard || board.stalled || board.retired ? '' : board.notice;
  const once = names && [...new Set(names)];
  const answer = ask(mapping, [board.path, cause, ...texts], Float64Array.from(numbers), once, fulfils);
  const { code = 0, text = '' } = answer as { readonly code?: number; readonly text?: string };
  if (code < 0) throw code === -2 ? new UsageError(text) : new Failure(text, -code);
  return answer;
}

/** The line of check, with its end, and the exit code. */
export function checkLine(look: NodeStates, question: CheckQuestion) {
  const { fail, warning, critical, health, ignore, recent, journalRun, warnings, condition } = question;
  const limits = [warning, critical].flatMap(({ nodes, share }) => [nodes, share]);
  const numbers = [fail, ...limits, Number(health === 'off'), problemBits(ignore), problemBits(recent)];
  return asked(answerCheck, look, question, [warnings, journalRun, condition], numbers);
}

/** The nodes that are asked for. */
export function wantedNodes(look: NodeStates, question: NodesQuestion) {
  const { states, forMs, problems, healthy } = question;
  const bits = states.reduce((bits, state) => bits | (1 << NUMBERED.indexOf(state)), 0);
  return asked(answerNodes, look, question, [], [bits, forMs, problemBits(problems), Number(healthy)]);
}
