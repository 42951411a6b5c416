// A process that runs `beoboard VERB` as often as it is asked, and answers with the output and the exit code, without
// the time for starting Node. No test of its own.

import { main as check } from '../../src/cli/check.js';
import { main as nodes } from '../../src/cli/nodes.js';
import { Failure, HelpShown, UsageError } from '../../src/common/failure.js';
import { oneLine } from '../../src/common/text.js';

export const MAINS = { check, nodes };
export type VerbName = keyof typeof MAINS;

/** A request. */
export interface Question {
  readonly verb: VerbName;
  readonly argv: readonly string[];
  readonly owner?: string | undefined;
}

/** Its answer. */
export interface Answer {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Handles what a verb throws as main.ts does. */
async function run({ verb, argv }: Question, said: { stdout: string; stderr: string }): Promise<number> {
  try {
    return await MAINS[verb]([...argv]);
  } catch (error) {
    if (error instanceof HelpShown) {
      said.stdout += error.text;
      return 0;
    }
    if (error instanceof UsageError) {
      said.stderr += `${error.message}\n`;
      return error.exitCode;
    }
    if (!(error instanceof Failure)) throw error;
    said.stderr += `beoboard ${verb}: ${oneLine(error.message)}\n`;
    return error.exitCode;
  }
}

async function answer(question: Question): Promise<Answer> {
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = ((text: string, done?: () => void) => {
      said[name] += text;
      done?.();
      return true;
    }) as typeof process.stdout.write;
  delete process.env.BEOBOARD_OWNER;
  if (question.owner !== undefined) process.env.BEOBOARD_OWNER = question.owner;
  return { code: await run(question, said), ...said };
}

if (process.send !== undefined) {
  process.on('message', (question: Question) => {
    void answer(question).then(told => process.send?.(told));
  });
  process.on('disconnect', () => process.exit());
}
