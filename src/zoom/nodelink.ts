// The connection to the program that answers for a node: a program on the node, by its stdin and stdout, or a server
// over TCP. One question at a time. Does not know what is asked.

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { whyNotReached } from '../net/connecting.js';
import { BadExpression, type Expression, Scanner } from '../net/expressions.js';
import { type Address, formatAddress } from '../text/addresses.js';
import { Failure } from '../text/failure.js';
import { brief, ending, quote } from '../text/text.js';

/** The longest answer, bytes, and its largest number of elements: those of a server of 30,000 nodes. */
export const MOST_ANSWER = 16 << 20;
export const MOST_ELEMENTS = 1 << 18;
/** How long an answer may take, ms. The first answer of a program has no limit, because it may ask for a password. */
const PATIENCE_MS = 10_000;
/** How long a program may take to end after its stdin was closed, ms. */
const ENDING_MS = 1000;
/** How much of the program's stderr is kept, and how much is shown, characters. */
const MOST_SAID = 2000;
const MOST_TOLD = 200;
/** How much of an invalid answer is kept for the message, bytes. */
const MOST_HEAD = 240;
/** The exit codes by which a shell says that a program does not exist or cannot be run. */
const NOT_FOUND = 127;
const NOT_RUN = 126;

/** Why a program cannot be run, in words for people. */
const CANNOT_RUN: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program; install it, or name another one with --via',
  EACCES: 'it cannot be run; make it executable, or name another one with --via',
};

/** System folders that may be missing from PATH in a login by ssh. */
const SYSTEM_PATHS = '/usr/local/sbin:/usr/sbin:/sbin';

/** The command on the node for so many samples a second. Its quotes also work in csh. */
export function monCommand(rate: number): string[] {
  // The schema counts as a question, and so do late questions that are asked at once.
  const most = Math.max(200, rate + Math.ceil(rate / 5));
  return ['env', `PATH="$PATH":${SYSTEM_PATHS}`, 'beoboard-mon', '--stdio', '--most', String(most)];
}

export class NodeLink {
  #asked: { scanner: Scanner; resolve(answer: Expression): void; reject(error: unknown): void } | undefined;
  #head = Buffer.alloc(0);
  #isMet = false;
  #broken: Failure | undefined;

  private constructor(
    readonly name: string,
    readonly to: Writable,
    from: Readable,
    readonly end: () => Promise<void> | void,
    /** The advice if its first output is not an answer. */
    readonly advice: string,
    /** Whether the user may have to type something before the first answer. */
    public isPatient: boolean,
  ) {
    to.on('error', () => undefined);
    from.on('error', () => undefined);
    from.on('data', (chunk: Buffer) => this.#hear(chunk));
  }

  static run(name: string, [program = '', ...argv]: readonly string[], env = process.env): NodeLink {
    const child = spawn(program, argv, { stdio: ['pipe', 'pipe', 'pipe'], env });
    // Also if we do not end cleanly.
    const kill = () => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('close', () => process.off('exit', kill)).once('error', () => process.off('exit', kill));
    let said = '';
    child.stderr.on('data', (data: Buffer) => {
      said = ending(said + data.toString(), MOST_SAID);
    });
    // A process that ssh leaves in the background may keep stderr open, and we would wait for it.
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
      'a shell on the way must not print anything on stdout; look into .bashrc and similar files',
      true,
    );
    const because = () => {
      const last = brief(said.trim().split('\n').at(-1) ?? '', MOST_TOLD);
      return last === '' ? '' : `: ${last}`;
    };
    const advice = (code: number | null) => {
      if (!link.isPatient || (code !== NOT_FOUND && code !== NOT_RUN)) return '';
      const wrong = code === NOT_FOUND ? 'is not installed' : 'may not be run';
      return `; if beoboard-mon ${wrong} there, install it (docs/supermon.md)`;
    };
    child.once('error', ({ code = '', message }: NodeJS.ErrnoException) =>
      link.#break(`cannot run ${program}: ${CANNOT_RUN[code] ?? message}`),
    );
    child.once('close', (code, signal) =>
      link.#break(`${program} ended ${code === null ? `by ${signal}` : `with ${code}`}${because()}${advice(code)}`),
    );
    return link;
  }

  static connect(address: Address): NodeLink {
    const socket = connect(address).setNoDelay();
    const end = () => void socket.destroy();
    const advice = 'give the address of a beoboard-mon or a beoboard supermon';
    const link = new NodeLink(formatAddress(address), socket, socket, end, advice, false);
    socket.once('error', error => link.#break(whyNotReached(error)));
    socket.once('close', () => link.#break('it closed the connection'));
    return link;
  }

  #break(why: string): void {
    this.#broken ??= new Failure(`${this.name}: ${why}`, 1);
    this.#asked?.reject(this.#broken);
    this.#asked = undefined;
  }

  #hear(chunk: Buffer): void {
    // Output that nobody asked for: another program, such as a shell's start file, prints something before ours does.
    if (this.#asked === undefined) return;
    if (this.#head.length < MOST_HEAD) this.#head = Buffer.concat([this.#head, chunk]).subarray(0, MOST_HEAD);
    try {
      const answer = this.#asked.scanner.push(chunk);
      if (answer === undefined) return;
      const { resolve } = this.#asked;
      this.#asked = undefined;
      this.#isMet = true;
      resolve(answer);
    } catch (error) {
      if (!(error instanceof BadExpression)) throw error;
      const head = quote(this.#head.toString().trim());
      this.#break(`what it answers ${error.message}: ${head}${this.#isMet ? '' : `; ${this.advice}`}`);
    }
  }

  /** The answer to a question. Throws a Failure that says why there is none; the link cannot be used any more then. */
  ask(question: string): Promise<Expression> {
    return new Promise((resolve, reject) => {
      if (this.#broken !== undefined) return reject(this.#broken);
      const late = this.isPatient ? undefined : setTimeout(() => this.#break('it does not answer'), PATIENCE_MS);
      this.#head = Buffer.alloc(0);
      this.#asked = {
        scanner: new Scanner(MOST_ANSWER, MOST_ELEMENTS),
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

  /** Ends the link cleanly; a caller that waits for an answer gets an error. */
  async close(): Promise<void> {
    this.#break('the link was closed');
    await this.end();
  }
}
