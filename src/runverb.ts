// Runs a command line: loads the main function of the chosen verb, and turns the errors that it throws into one line
// and an exit code.

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ABOUT, EXIT_CODES, VERBS } from './options/verbs.js';
import { parts } from './parts.js';
import { isAscii, speakAscii } from './text/ascii.js';
import { Failure, HelpShown, UsageError } from './text/failure.js';
import { didYouMean, nearest, oneLine, quote } from './text/text.js';

function help(): string {
  return [
    'Usage: beoboard VERB [options]',
    '',
    ABOUT,
    '',
    'Verbs:',
    ...Object.entries(VERBS).map(([name, summary]) => `  ${name.padEnd(12)}${summary}`),
    '',
    'Examples:',
    '  beoboard demo                        everything on this machine, in one terminal',
    '  beoboard receive                     on the master',
    '  beoboard send --to MASTER            on every node',
    '  beoboard status                      the state of all nodes',
    '',
    `See beoboard help VERB. Exit codes: ${EXIT_CODES}`,
    '',
  ].join('\n');
}

/** Why a word is not a verb, and what to write instead. */
function unknown(name: string): string {
  const meant = nearest(name, Object.keys(parts));
  const see = 'see beoboard --help';
  if (meant === undefined && name.startsWith('-'))
    return `${quote(name)} before the verb; write the verb first, ${see}`;
  return `unknown verb ${quote(name)}; ${didYouMean(meant, see)}`;
}

/** Gives a command line to the main function of its verb. */
async function give(name: string | undefined, argv: string[]): Promise<number> {
  if (name === 'help' && argv[0] !== undefined) return await give(argv[0], ['--help']);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-V') {
    const { VERSION } = await import('./options/version.js');
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const load = Object.hasOwn(parts, name) ? parts[name as keyof typeof parts] : undefined;
  if (load === undefined) {
    process.stderr.write(`beoboard: ${unknown(name)}\n`);
    return 2;
  }
  const part = await load();
  return part.main(argv);
}

/**
 * The addon, a suitable Node.js, or a verb's file is missing: EX_OSFILE of sysexits.h. Monitoring systems know only 0 to
 * 3, and take any other code for "unknown".
 */
export const NOT_BUILT = 72;

/** Why the addon cannot be loaded; undefined: the error is another one. */
function withoutAddon({ code, message }: NodeJS.ErrnoException): string | undefined {
  if (!message.includes('beoboard.node')) return undefined;
  // Installing the package does not compile the addon, because it runs no install script. If no prebuilt addon fits
  // this processor, it is built now.
  if (code === 'MODULE_NOT_FOUND') return 'the addon is not built';
  return code === 'ERR_DLOPEN_FAILED'
    ? `the addon cannot be loaded (${oneLine(message.split('\n')[0] ?? '')})`
    : undefined;
}

/** Verbs whose files are in another package of the system than the program, as packaging/packages.mjs says. */
const APART = /'\.\/(supermon|zoom)-\w+\.cjs'/;

/** What is missing of this program, and what to do; undefined: the error is another one. */
async function missing(error: unknown): Promise<string | undefined> {
  if (!(error instanceof Error)) return undefined;
  if (APART.test(error.message)) {
    const { VERSION } = await import('./options/version.js');
    return `it is in another package; install beoboard-supermon ${VERSION}`;
  }
  const addon = withoutAddon(error);
  if (addon === undefined) return undefined;
  const build = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url));
  // A distribution's package cannot build anything.
  return `${addon}; ${existsSync(build) ? `run node ${build}` : 'install it again'}`;
}

/** Runs `beoboard argv`; returns the exit code. An error that no part of the program has foreseen is thrown. */
export async function runVerb([name, ...argv]: readonly string[]): Promise<number> {
  const undo = isAscii(process.env) ? speakAscii() : undefined;
  try {
    return await give(name, argv);
  } catch (error) {
    if (error instanceof HelpShown) {
      process.stdout.write(error.text);
      return 0;
    }
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n`);
      return error.exitCode;
    }
    if (error instanceof Failure) {
      // The message may quote a file, which could have several lines.
      process.stderr.write(`beoboard ${name}: ${oneLine(error.message)}\n`);
      return error.exitCode;
    }
    const what = await missing(error);
    if (what === undefined) throw error;
    process.stderr.write(`beoboard ${name}: ${what}\n`);
    return NOT_BUILT;
  } finally {
    undo?.();
  }
}
