// All parts on one machine: a receiver, a sender, a web page and a live status, as children of this process, on their
// own board, which is removed at the end. Does none of the work itself.

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
/** How many characters of the daemons' output are kept while the status has the screen, and shown afterwards. */
const KEPT_MOST = 4000;

/**
 * The children in the order of their start. They are ended in reverse order, so that the receiver still gets the
 * goodbye.
 */
class Family {
  readonly #children: ChildProcess[] = [];
  #ending = false;
  /** What children wrote while another one had the screen. */
  #kept = '';
  #isKeeping = false;

  /** `onEnd` is called when a child ends that was not asked to. */
  constructor(readonly onEnd: (verb: string, code: number | null) => void) {}

  /** Starts a daemon, and shows what it writes. */
  start(argv: string[]): ChildProcess {
    const child = this.#fork(argv, ['ignore', 'inherit', 'pipe', 'ipc']);
    child.stderr?.setEncoding('utf8').on('data', this.#tell);
    return child;
  }

  /**
   * Starts the program that has the keyboard, and the screen if there is one; the daemons' output is shown after it has
   * ended.
   */
  startOnTerminal(argv: string[], env: Record<string, string> = {}): void {
    this.#isKeeping = process.stdout.isTTY === true;
    this.#fork(argv, ['inherit', 'inherit', 'inherit', 'ipc'], env);
  }

  #fork(argv: string[], stdio: StdioOptions, env: Record<string, string> = {}): ChildProcess {
    const child = fork(PROGRAM, argv, { stdio, env: { ...process.env, ...env } });
    // By then all its output has been read.
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
      // When the receiver ends cleanly it says where its board stays, but this board is removed.
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

/** The address that a daemon reports when it is ready; undefined if it ended before. */
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
  ended.catch(() => undefined); // It may end before anybody waits for it.
  const directory = mkdtempSync(join(SHM, `beoboard-demo.${process.getuid?.() ?? 0}.`));
  const board = join(directory, 'board');
  const family = new Family((name, code) => {
    // The reader of the status has ended (head, less): this is not an error.
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
      // Shown beside the table, because the daemons' lines are not visible meanwhile.
      const shown = page === undefined ? {} : { BEOBOARD_PAGE: `http://${page}/` };
      family.startOnTerminal(['status', '--watch', '--board', board], shown);
      // The time counts from when there is something to see.
      if (values.for !== undefined) setTimeout(end, values.for).unref();
    }
    await ended;
    return 0;
  } finally {
    await family.end();
    rmSync(directory, { recursive: true, force: true });
  }
}
