// Runs command lines one after another in one child process: what a verb prints, and its exit code, without the time
// for starting Node. It runs the verbs through the same function as src/main.ts. What only a process of its own shows
// takes `run` of program.ts instead: signals, stdin, a stdout that is closed, and the lines of the log
// (service/log.ts), which go past process.stderr and are in no answer here. No test of its own.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Teardown } from './places.js';
import { awaited } from './until.js';

const HERE = fileURLToPath(import.meta.url);

/** The whole environment of a command line. */
type Environment = Readonly<Record<string, string | undefined>>;

interface Question {
  readonly argv: readonly string[];
  readonly env: Environment;
}

/** As `run` of program.ts returns it. */
export interface Answer {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** A function that runs `beoboard argv` in a process that is ended with the test; lines that come at once queue. */
export function verbChild(t: Teardown): (argv: readonly string[], env?: Environment) => Promise<Answer> {
  let child: ChildProcess | undefined;
  let said = '';

  function begin(): ChildProcess {
    const begun = fork(HERE, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], execArgv: [] });
    said = '';
    begun.stderr?.setEncoding('utf8').on('data', text => {
      said += text;
    });
    return begun;
  }

  async function ask(question: Question): Promise<Answer> {
    child ??= begin();
    const asked = child;
    const over = new AbortController();
    const answer = once(asked, 'message', over).then(([told]) => told as Answer);
    // A verb that ends the process itself, or that breaks it, is told of as a program that ended so.
    const end = once(asked, 'close', over).then(([code, signal]): Answer => {
      child = undefined;
      return { code: code ?? signal, stdout: '', stderr: said };
    });
    asked.send(question);
    // A verb that goes on by mistake is killed with its process; the next line gets another one.
    const first = Promise.race([answer, end]);
    try {
      return await awaited(`beoboard ${question.argv.join(' ')} has ended`, first);
    } catch (error) {
      asked.kill('SIGKILL');
      await end;
      throw error;
    } finally {
      over.abort();
    }
  }

  let last: Promise<unknown> = Promise.resolve();
  t.teardown(async () => {
    if (child === undefined) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  });
  return (argv, env = process.env) => {
    const answer = last.then(() => ask({ argv, env }));
    last = answer.catch(() => undefined);
    return answer;
  };
}

/** The same as `run` of program.ts, without the time for starting Node. */
export function verbRun(t: Teardown): (argv: readonly string[], env?: Environment) => Promise<Answer> {
  const ask = verbChild(t);
  return (argv, env = {}) => ask(argv, { ...process.env, ...env });
}

// ---- in the child ----

/** Runs each command line that the parent sends, and answers it. */
async function serve(): Promise<void> {
  const { runVerb } = await import('../../src/runverb.js');
  const send = process.send?.bind(process);
  // A daemon tells a parent by this that it is ready, and is to find none.
  delete process.send;
  const said: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (piece: string | Uint8Array, ...more: unknown[]) => {
      // A copy, because the verb may overwrite bytes once they are written.
      said[name].push(Buffer.from(piece as string));
      const done = more.at(-1);
      if (typeof done === 'function') done();
      return true;
    };
  // Verbs listen for signals until their process ends, and here many share one.
  process.setMaxListeners(0);
  process.on('message', async ({ argv, env }: Question) => {
    for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
    Object.assign(process.env, env);
    said.stdout = [];
    said.stderr = [];
    const code = await runVerb(argv);
    const [stdout, stderr] = [said.stdout, said.stderr].map(pieces => Buffer.concat(pieces).toString());
    send?.({ code, stdout, stderr });
  });
  process.on('disconnect', () => process.exit());
}

if (process.argv[1] === HERE) await serve();
