// The folder of a demo's board in shared memory. It goes with its demo; what a demo left that was killed (kill -9) is
// removed by the next one.

import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../text/failure.js';

const SHM = '/dev/shm';

const uid = process.getuid?.() ?? 0;

/** Containers may share this memory, and what is the number of a process here is that of another one there. */
const pidNamespace = () => /\d+/.exec(attempt(() => readlinkSync('/proc/self/ns/pid')) ?? '')?.[0] ?? '';

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Removes the folders of this user whose demos have ended. Nobody else can replace them: the memory is sticky. */
function removeDead(named: string): void {
  for (const name of readdirSync(SHM)) {
    const pid = name.startsWith(named) ? Number.parseInt(name.slice(named.length), 10) : Number.NaN;
    // If another process has the number of a dead demo by now, its folder is removed once that has ended.
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    // Another demo may be faster.
    attempt(() => {
      const path = join(SHM, name);
      const status = lstatSync(path);
      if (status.isDirectory() && status.uid === uid) rmSync(path, { recursive: true, force: true });
    });
  }
}

/** Makes this demo's folder. However this process ends, except by kill -9, the folder is removed. */
export function demoFolder(): string {
  const named = `beoboard-demo.${uid}.${pidNamespace()}.`;
  removeDead(named);
  const path = mkdtempSync(join(SHM, `${named}${process.pid}.`));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}
