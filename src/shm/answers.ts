// What check and nodes answer of a board. It is worked out, and worded, in C: beoboard-check and beoboard-nodes have the
// same code.

import { answerCheck, answerNodes } from '../native/index.js';
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

interface Limit {
  readonly nodes: number;
  readonly share: number;
}

/** What is asked of check; `fail`: 1 open, 2 closed. `warnings`: what else is warned of, each behind a semicolon. */
interface CheckQuestion extends AskedNodes {
  readonly fail: number;
  readonly warning: Limit;
  readonly critical: Limit;
  readonly health: 'on' | 'off';
  readonly ignore: readonly Problem[];
  readonly recent: readonly Problem[];
  readonly journalRun: string;
  readonly warnings: string;
  readonly condition: string;
}

interface NodesQuestion extends AskedNodes {
  readonly states: readonly State[];
  readonly forMs: number;
  readonly problems: readonly Problem[];
  readonly healthy: boolean;
}

/** What the receiver says of itself, if all nodes are asked for and none was ever heard; otherwise empty. */
const causeOf = ({ board, states }: NodeStates, { names }: AskedNodes) =>
  names !== undefined || board.stalled || board.retired || states.some(state => NUMBERED[state] !== 'never')
    ? ''
    : board.notice;

const failed = ({ code, text }: { readonly code: number; readonly text: string }) =>
  code === -2 ? new UsageError(text) : new Failure(text, -code);

const once = (names: readonly string[] | undefined) => names && [...new Set(names)];

/** The line of check, with its end, and the exit code. Throws a Failure if the board was cut meanwhile. */
export function checkLine(look: NodeStates, asked: CheckQuestion) {
  const { warning, critical, warnings, journalRun, condition, names, fulfils } = asked;
  const texts = [look.board.path, causeOf(look, asked), warnings, journalRun, condition];
  const limits = [warning, critical].flatMap(({ nodes, share }) => [nodes, share]);
  const problems = [asked.ignore, asked.recent].map(problemBits);
  const numbers = Float64Array.of(asked.fail, ...limits, Number(asked.health === 'off'), ...problems);
  const line = answerCheck(look.mapping, texts, numbers, once(names), fulfils);
  if (line.code < 0) throw failed(line);
  return line;
}

/** The nodes that are asked for. Throws a Failure, likewise, and if the board does not remember what is asked for. */
export function wantedNodes(look: NodeStates, asked: NodesQuestion) {
  const { states, forMs, problems, healthy, names, fulfils } = asked;
  const bits = states.reduce((bits, state) => bits | (1 << NUMBERED.indexOf(state)), 0);
  const numbers = Float64Array.of(bits, forMs, problemBits(problems), Number(healthy));
  const found = answerNodes(look.mapping, [look.board.path, causeOf(look, asked)], numbers, once(names), fulfils);
  if (found.code !== undefined) throw failed(found);
  return found;
}
