// Runs a command line: loads the main function of the chosen verb, and turns the errors that it throws into one line
// and an exit code.

import { ABOUT, EARLIER, EXIT_CODES, VERBS } from './options/verbs.js';
import { parts, type VerbPart } from './parts.js';
import { isAscii, speakAscii } from './text/ascii.js';
import { Failure, HelpShown, NOT_BUILT, UsageError } from './text/failure.js';
import { own } from './text/tables.js';
import { didYouMean, nearest, oneLine, quote } from './text/text.js';

async function help(): Promise<string> {
  const { wrapped } = await import('./text/layout.js');
  const filled = (text: string, indent = 0) =>
    wrapped(text, Math.max(40, (process.stdout.columns ?? 80) - indent)).join(`\n${' '.repeat(indent)}`);
  return [
    'Usage: beoboard VERB [options]',
    '',
    filled(ABOUT),
    '',
    'Verbs:',
    ...Object.entries(VERBS).map(([name, summary]) => `  ${name.padEnd(12)}${filled(summary, 14)}`),
    '',
    'Examples:',
    '  beoboard demo                        everything on this machine, in one terminal',
    '  beoboard receive                     on the master',
    '  beoboard send --to MASTER            on every node',
    '  beoboard status                      the state of all nodes',
    '',
    filled(`See beoboard help VERB. Exit codes: ${EXIT_CODES}`),
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

/** Verbs whose files are in another package of the system than the program, as packaging/packages.mjs says. */
const APART = ['supermon', 'zoom'];

/** The present name of the verb that somebody writes. */
const currentName = (word: string | undefined) => own(EARLIER, word ?? '') ?? word;

/** Loads a part of the program. Throws a Failure if its file is not there. */
async function loaded(name: keyof typeof parts): Promise<VerbPart> {
  try {
    return await parts[name]();
  } catch (error) {
    if (!APART.includes(name) || (error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    const { VERSION } = await import('./options/version.js');
    const what = `it is in another package; install beoboard-supermon ${VERSION}`;
    throw new Failure(what, NOT_BUILT, 'not_installed');
  }
}

/** Gives a command line to the main function of its verb. */
async function give(name: string | undefined, argv: string[]): Promise<number> {
  if (name === 'help' && argv[0] !== undefined) return await give(currentName(argv[0]), ['--help']);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(await help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-V') {
    const { VERSION } = await import('./options/version.js');
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  if (!Object.hasOwn(parts, name)) {
    process.stderr.write(`beoboard: ${unknown(name)}\n`);
    return 2;
  }
  const part = await loaded(name as keyof typeof parts);
  return part.main(argv);
}

/** Runs `beoboard argv`; returns the exit code. An error that no part of the program has foreseen is thrown. */
export async function runVerb([word, ...argv]: readonly string[]): Promise<number> {
  const name = currentName(word);
  const undo = isAscii(process.env) ? speakAscii() : undefined;
  try {
    return await give(name, argv);
  } catch (error) {
    if (error instanceof HelpShown) {
      process.stdout.write(error.text);
      return 0;
    }
    if (error instanceof UsageError) {
      process.stderr.write(`beoboard ${name}: ${error.message}\n`);
      return error.exitCode;
    }
    if (error instanceof Failure) {
      // The message may quote a file, which could have several lines.
      process.stderr.write(`beoboard ${name}: ${oneLine(error.message)}\n`);
      return error.exitCode;
    }
    throw error;
  } finally {
    undo?.();
  }
}
