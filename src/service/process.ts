// A program among other processes and on its terminal: ending on signals, by signals, and telling its parent that it is
// ready.

import { closeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { isInForeground } from '../text/foreground.js';

/** Aborted by the first SIGTERM or SIGINT, or one of `more`. Later signals change nothing: the program is ending. */
export function onStop(...more: NodeJS.Signals[]): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', ...more] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

/** Ends at once by a signal, as a program does that does not handle it. Nothing runs any more, not even Node.js' own end. */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Whether there is a process of that number, whosever it is. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Those of stdin, stdout and stderr that are a terminal. */
const terminals = () => [0, 1, 2].filter(fd => isatty(fd));
const terminalsAtStart = terminals();

/** Whether the terminal with which this program was started is gone: its window was closed. */
export const isHungUp = (): boolean => terminals().length < terminalsAtStart.length;

/**
 * At its end Node.js sets the modes that its terminal had at the start: in the background, too, where it takes the echo
 * from a shell, and if the terminal is gone, where it aborts. What is closed it leaves alone.
 */
export function leaveTerminals(): void {
  process.on('exit', () => {
    if (isHungUp() || !isInForeground()) for (const fd of terminalsAtStart) closeSync(fd);
  });
}

/** The exit code of a program that could not write its output, mostly for a full disk. As EX_IOERR of sysexits.h. */
const WRITE_FAILED = 74;

/** Without this, SIGUSR1 makes Node open a debugger port, through which any local user could control the process. */
export function refuseDebugger(): void {
  process.on('SIGUSR1', () => undefined);
}

let gone: () => void = () => process.exit(0);

/** The reader of our output may end early (head, less), which is no error: the program ends, unless it reacts. */
export function watchStdout(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A terminal that was hung up returns EIO.
    if (error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY)) return gone();
    process.stderr.write(`beoboard: cannot write to stdout: ${error.message}\n`);
    process.exit(WRITE_FAILED);
  });
}

/** Sets what to do when nobody reads stdout any more, instead of ending at once. */
export function onStdoutGone(act: () => void): void {
  gone = act;
}

/** How long the end waits for a reader that has stopped reading, if other work remains, ms. */
const PATIENCE_MS = 1000;

/** Ends the process when stdout is written. Nothing else that hangs (a name service, a channel to a parent) delays. */
export function exitWhenWritten(patient: boolean): void {
  if (process.stdout.destroyed) process.exit();
  // A failed write is reported by the stream's error, which ends the process in its own way.
  process.stdout.write('', error => {
    if (!error) process.exit();
  });
  if (!patient) setTimeout(() => process.exit(), PATIENCE_MS);
}

/** Tells a parent that started us by fork() that we are ready: it need not read our lines. Else does nothing. */
export function tellParent(message: object): void {
  // An error because the parent ends at this moment is reported to the callback, and is ignored.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
