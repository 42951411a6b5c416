// A daemon's place among other processes: told to end, and telling its parent that it is ready.

/** Aborted by the first SIGTERM or SIGINT, or one of `more`. Later ones change nothing: the end is under way. */
export function onStop(...more: NodeJS.Signals[]): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', ...more] as const) process.on(signal, () => stop.abort());
  return stop.signal;
}

/** Exit code of a program that could not say what it had to say: a full disk, mostly. As EX_IOERR of sysexits.h. */
const WRITE_FAILED = 74;

/** Without this, SIGUSR1 has Node open a port for a debugger, by which anybody on this machine could have us do anything. */
export function refuseDebugger(): void {
  process.on('SIGUSR1', () => undefined);
}

let gone: () => void = () => process.exit(0);

/**
 * Whoever reads us may leave early (head, less): an end, not an error. A program ends at once then, unless it has said
 * what else to do.
 */
export function watchStdout(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A terminal that was hung up answers with EIO.
    if (error.code === 'EPIPE' || (error.code === 'EIO' && process.stdout.isTTY)) return gone();
    process.stderr.write(`beoboard: cannot write to stdout: ${error.message}\n`);
    process.exit(WRITE_FAILED);
  });
}

/** What to do when nobody reads stdout any more, instead of ending at once. */
export function onStdoutGone(act: () => void): void {
  gone = act;
}

/** How long the end waits for somebody who has stopped reading, where there is more to do than to be read, ms. */
const PATIENCE_MS = 1000;

/** Ends the process when stdout is written. Nothing else that hangs (a name service, the channel to a parent) delays it. */
export function exitWhenWritten(patient: boolean): void {
  if (process.stdout.destroyed) process.exit();
  // What could not be written is told of by the stream's error, which ends the process in its own way.
  process.stdout.write('', error => {
    if (!error) process.exit();
  });
  if (!patient) setTimeout(() => process.exit(), PATIENCE_MS);
}

/** Tells whoever started us by fork(), so that he need not read our lines; nobody there is fine. */
export function tellParent(message: object): void {
  // A parent that goes away just now is told of in the callback, and is no concern of ours.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
