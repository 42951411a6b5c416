// beoboard: one program, one verb per job. What belongs to the process, around the verb that runs in it.

import { runVerb } from './runverb.js';
import { exitWhenWritten, leaveTerminals, refuseDebugger, watchStdout } from './service/process.js';
import { NOT_BUILT } from './text/failure.js';

watchStdout();
refuseDebugger();
leaveTerminals();

// Started by fork(): if the parent is gone, even by kill -9, end cleanly.
if (process.send !== undefined) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));

/** Node's own exit code for a program that waits for something that will never happen. */
const NEVER_DONE = 13;

async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = NEVER_DONE;
  process.exitCode = await runVerb(argv);
  // The sender ends even if nobody reads its output any more; all other verbs wait until their output has been read.
  exitWhenWritten(argv[0] !== 'send');
}

/** As in package.json; the installer may have accepted another version. */
const OLDEST_NODE = 20;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  process.stderr.write(`beoboard: Node.js ${process.versions.node} is too old; install ${OLDEST_NODE} or later\n`);
  process.exitCode = NOT_BUILT;
} else void main(process.argv.slice(2));
