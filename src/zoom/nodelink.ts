// The way to what answers for a node: a program on it, over its stdin and stdout, or a server over TCP. One question at a time. Knows nothing
// of what is asked.

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { type Address, formatAddress } from '../common/addresses.js';
import { Failure } from '../common/failure.js';
import { oneLine } from '../common/text.js';
import { BadExpression, type Expression, Scanner } from '../supermon/expressions.js';

/** How long an answer may be, bytes: that of a server of many nodes. */
const MOST_BYTES = 16 << 20;
/** How long an answer may take, ms; the first over a program as long as it likes: it may ask for a password. */
const PATIENCE_MS = 10_000;
/** How long a program may take to end whose stdin is closed, ms. */
const ENDING_MS = 1000;
/** What is kept of what the program says, characters. */
const MOST_SAID = 2000;

/** Where programs of the system lie that a login by ssh need not look at. */
const SYSTEM_PATHS = '/usr/local/sbin:/usr/sbin:/sbin';

/** What is run on a node for so many samples a second. As it is quoted, csh takes it, too. */
export function monCommand(rate: number): string[] {
  // The schema, and what is late and comes at once, count, too.
  const most = Math.max(200, rate + Math.ceil(rate / 5));
  return ['env', `PATH="$PATH":${SYSTEM_PATHS}`, 'beoboard-mon', '--stdio', '--most', String(most)];
}

export class NodeLink {
  #asked: { scanner: Scanner; resolve(answer: Expression): void; reject(error: unknown): void } | undefined;
  /** Why there is no link any more. */
  #broken: Failure | undefined;

  private constructor(
    /** Whom it leads to, for people. */
    readonly name: string,
    readonly to: Writable,
    from: Readable,
    readonly end: () => Promise<void> | void,
    /** Whether somebody may have to type something before the first answer. */
    public isPatient: boolean,
  ) {
    to.on('error', () => undefined);
    from.on('error', () => undefined);
    from.on('data', (chunk: Buffer) => this.#hear(chunk));
  }

  /** Runs a program that answers on its stdout. */
  static run(name: string, [program = '', ...argv]: readonly string[], env = process.env): NodeLink {
    const child = spawn(program, argv, { stdio: ['pipe', 'pipe', 'pipe'], env });
    let said = '';
    child.stderr.on('data', (data: Buffer) => {
      said = (said + data.toString()).slice(-MOST_SAID);
    });
    // What ssh leaves in the background may keep its stderr, and would be waited for.
    child.once('exit', () => {
      const late = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, ENDING_MS);
      child.once('close', () => clearTimeout(late));
    });
    const over = new Promise<void>(resolve => {
      child.once('close', () => resolve()).once('error', () => resolve());
    });
    const link = new NodeLink(
      name,
      child.stdin,
      child.stdout,
      async () => {
        child.stdin.end();
        let late = setTimeout(() => {
          child.kill();
          late = setTimeout(() => child.kill('SIGKILL'), ENDING_MS);
        }, ENDING_MS);
        await over;
        clearTimeout(late);
      },
      true,
    );
    const because = () => {
      const last = oneLine(said.trim().split('\n').at(-1) ?? '');
      return last === '' ? '' : `: ${last}`;
    };
    child.once('error', ({ message }) => link.#break(`cannot run ${program}: ${message}`));
    child.once('close', (code, signal) =>
      link.#break(`${program} ended ${code === null ? `by ${signal}` : `with ${code}`}${because()}`),
    );
    return link;
  }

  /** Asks a server. */
  static connect(address: Address): NodeLink {
    const socket = connect(address).setNoDelay();
    const link = new NodeLink(formatAddress(address), socket, socket, () => void socket.destroy(), false);
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      link.#break(code === 'ECONNREFUSED' ? 'nobody listens there' : message),
    );
    socket.once('close', () => link.#break('it closed the connection'));
    return link;
  }

  #break(why: string): void {
    this.#broken ??= new Failure(`${this.name}: ${why}`, 1);
    this.#asked?.reject(this.#broken);
    this.#asked = undefined;
  }

  #hear(chunk: Buffer): void {
    // What nobody has asked for: a program on the way says something before ours does.
    if (this.#asked === undefined) return;
    try {
      const answer = this.#asked.scanner.push(chunk);
      if (answer === undefined) return;
      const { resolve } = this.#asked;
      this.#asked = undefined;
      resolve(answer);
    } catch (error) {
      if (!(error instanceof BadExpression)) throw error;
      this.#break(`what it answers ${error.message}`);
    }
  }

  /** The answer to a question. Throws a Failure that says why there is none; there is no other one then. */
  ask(question: string): Promise<Expression> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken);
      const late = this.isPatient ? undefined : setTimeout(() => this.#break('it does not answer'), PATIENCE_MS);
      this.#asked = {
        scanner: new Scanner(MOST_BYTES),
        resolve: answer => {
          clearTimeout(late);
          this.isPatient = false;
          resolve(answer);
        },
        reject: error => {
          clearTimeout(late);
          reject(error);
        },
      };
      this.to.write(`${question}\n`);
    });
  }

  /** Ends it in good order; whoever waits for an answer is told. */
  async close(): Promise<void> {
    this.#break('the link was closed');
    await this.end();
  }
}
