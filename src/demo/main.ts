// The whole road on one machine: a receiver, a sender, a page and a live status, as children of this process, on a board of their
// own that is removed at the end. Does nothing of the work itself.

import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../common/failure.js';
import { defineVerb, parseVerb } from '../common/options.js';
import { VERBS } from '../common/verbs.js';

export const verb = defineVerb({
  name: 'demo',
  summary: VERBS.demo,
  options: ['for', 'interval'],
  examples: ['beoboard demo', 'beoboard demo --for 10s'],
  notes:
    'q, Ctrl-C and --for stop it; ? lists all keys. It uses its own board under /dev/shm and removes it at the end.',
});

/** This program. */
const PROGRAM = process.argv[1] as string;
const SHM = '/dev/shm';
/** How long a child may take to end cleanly. */
const PATIENCE_MS = 5000;
/** Of what the daemons said while the status had the screen, so many characters are told afterwards. */
const KEPT_MOST = 4000;

/** Children in the order of their start; ended in the opposite one, so that the receiver still hears the goodbye. */
class Family {
  readonly #children: ChildProcess[] = [];
  #ending = false;
  /** What children said while another had the screen. */
  #kept = '';
  #isKeeping = false;

  /** `onEnd` is told when a child ends that was not asked to. */
  constructor(readonly onEnd: (verb: string, code: number | null) => void) {}

  /** Starts a daemon; what it says is told. */
  start(argv: string[]): ChildProcess {
    const child = this.#fork(argv, ['ignore', 'inherit', 'pipe', 'ipc']);
    child.stderr?.setEncoding('utf8').on('data', this.#tell);
    return child;
  }

  /** Starts what has the keyboard, and the screen where there is one: the daemons are told of when it has ended. */
  startOnTerminal(argv: string[], env: Record<string, string> = {}): void {
    this.#isKeeping = process.stdout.isTTY === true;
    this.#fork(argv, ['inherit', 'inherit', 'inherit', 'ipc'], env);
  }

  #fork(argv: string[], stdio: StdioOptions, env: Record<string, string> = {}): ChildProcess {
    const child = fork(PROGRAM, argv, { stdio, env: { ...process.env, ...env } });
    // By then all that it said has been read.
    child.once('close', code => {
      if (!this.#ending) this.onEnd(argv[0] ?? '', code);
    });
    this.#children.push(child);
    return child;
  }

  readonly #tell = (text: string): void => {
    if (this.#isKeeping) this.#kept = `${this.#kept}${text}`.slice(-KEPT_MOST);
    else process.stderr.write(text);
  };

  async end(): Promise<void> {
    this.#ending = true;
    const [receiver] = this.#children;
    for (const child of [...this.#children].reverse()) {
      let last = '';
      // When it ends cleanly it says where its board stays, and this one does not.
      if (child === receiver)
        child.stderr?.off('data', this.#tell).on('data', (text: string) => {
          last += text;
        });
      if (child.exitCode === null && child.signalCode === null) {
        const closed = once(child, 'close');
        child.kill('SIGTERM');
        const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
        await closed;
        clearTimeout(patience);
      }
      this.#isKeeping = false;
      this.#tell(this.#kept + (child.exitCode === 0 ? '' : last));
      this.#kept = '';
    }
  }
}

/** Where a daemon listens, as it tells when it is ready; undefined when it ended before. */
async function listening(daemon: ChildProcess): Promise<string | undefined> {
  const message = once(daemon, 'message').then(([ready]) => (ready as { listening: string[] }).listening[0]);
  return Promise.race([message, once(daemon, 'exit').then(() => undefined)]);
}

export async function main(argv: string[]): Promise<number> {
  const { values } = parseVerb(verb, argv);
  let end: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    [end, fail] = [resolve, reject];
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  ended.catch(() => undefined); // it may be lost before anybody waits for it
  const directory = mkdtempSync(join(SHM, `beoboard-demo.${process.getuid?.() ?? 0}.`));
  const board = join(directory, 'board');
  const family = new Family((name, code) => {
    // Whoever read the status has gone (head, less): that is an end, not an error.
    if (name === 'status' && code === 0) end();
    else fail(new Failure(`beoboard ${name} has ended by itself; see above`, 1));
  });
  try {
    const receiver = family.start(['receive', '--listen', '127.0.0.1:0', '--board', board, '--capacity', '16']);
    const address = await Promise.race([listening(receiver), ended.then(() => undefined)]);
    if (address !== undefined) {
      const sender = family.start(['send', '--to', address, '--interval', `${values.interval}ms`]);
      const web = family.start(['web', '--listen', '127.0.0.1:0', '--board', board]);
      await Promise.race([once(sender, 'message'), ended]);
      const page = await Promise.race([listening(web), ended.then(() => undefined)]);
      // Beside the table, since what the daemons say is not seen while that has the screen.
      const shown = page === undefined ? {} : { BEOBOARD_PAGE: `http://${page}/` };
      family.startOnTerminal(['status', '--watch', '--board', board], shown);
      // Counted from when there is something to see.
      if (values.for !== undefined) setTimeout(end, values.for).unref();
    }
    await ended;
    return 0;
  } finally {
    await family.end();
    rmSync(directory, { recursive: true, force: true });
  }
}
