// The programs that this process has started, whoever started them: Node tells of each. No test of its own.

import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';

/** How a program ended: its exit code or signal; undefined while it runs, or while its output is still to come. */
type End = number | string | undefined;

export interface Started {
  readonly child: ChildProcess;
  end: End;
  /** The test has it run until the test ends, or tells it to end. */
  isLasting: boolean;
  /** What it has said so far, if that is kept. */
  said: () => string;
}

/** Of those that have ended, the last ones are remembered. */
const REMEMBERED = 5;

const known = new WeakMap<ChildProcess, Started>();
const running = new Set<Started>();
const ended: Started[] = [];
const listeners = new Set<(ended: Started) => void>();

subscribe('child_process', message => {
  const { process: child } = message as { process: ChildProcess };
  const started: Started = { child, end: undefined, isLasting: false, said: () => '' };
  known.set(child, started);
  running.add(started);
  child.once('close', (code, signal) => {
    started.end = code ?? signal ?? undefined;
    running.delete(started);
    if (ended.push(started) > REMEMBERED) ended.shift();
    for (const tell of listeners) tell(started);
  });
});

export const programs = (): { running: Started[]; ended: Started[] } => ({ running: [...running], ended: [...ended] });

export const startedAs = (child: ChildProcess): Started | undefined => known.get(child);

/** Calls a function whenever one has ended and all of its output has come, until what is returned is called. */
export function atEnd(tell: (ended: Started) => void): () => void {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** Signals by which a program is told to end; by others it ends because something is wrong with it. */
const TOLD = ['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGHUP', 'SIGQUIT', 'SIGPIPE'];

/** Whether it was to last, and ended on its own, and not well. */
export const hasFailed = ({ child, end, isLasting }: Started): boolean =>
  isLasting && !child.killed && end !== undefined && end !== 0 && !TOLD.includes(String(end));

/** Its command line and its end, in words, and the last that it said. */
export function describe({ child, end, said }: Started): string {
  const line = child.spawnargs.map(word => word.replace(/^.*\/(?=.)/, '')).join(' ');
  const state = end === undefined ? 'runs' : `ended with ${end}`;
  const words = said().trimEnd().split('\n').slice(-3).join(' | ');
  const short = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);
  return `${short(line, 120)} (${child.pid}) ${state}${words === '' ? '' : `, and said: ${short(words, 600)}`}`;
}
