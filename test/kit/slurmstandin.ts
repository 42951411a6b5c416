// A stand-in for Slurm: its commands, which answer with recorded answers of real ones. No test of its own.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, ROOT } from './places.js';

interface Teardown {
  teardown(end: () => void | Promise<void>): void;
}

const FIXTURES = join(ROOT, 'test', 'fixtures', 'slurm');

/**
 * The commands print files beside them; with a file `failing` all of them fail; and they record how they were called.
 */
const STAND_IN = `#!/bin/sh
here=$(dirname "$0")
{ echo "$(basename "$0") $*"; env; } >>"$here/asked"
if [ -e "$here/failing" ]; then echo "error: first"; echo "slurm_load: Unable to contact slurm controller" >&2; exit 1; fi
case "$*" in
  *config*) cat "$here/config" ;;
  *node*) cat "$here/nodes" ;;
  *) sed "s/^4d1f0c6b9ae27358f00d2b7c9e6a1d54/\${SQUEUE_FORMAT%%|*}/" "$here/jobs" ;;
esac
`;

/** The folder of the commands. */
export function standIn(t: Teardown): string {
  const path = folder(t);
  for (const name of ['scontrol', 'squeue']) writeCommand(join(path, name), STAND_IN);
  for (const name of ['nodes', 'jobs', 'config'])
    writeFileSync(join(path, name), readFileSync(join(FIXTURES, `${name}-22.05.txt`)));
  return path;
}

/** Makes a command, or takes one's place: that may be running, and then nobody may write to its file. */
export function writeCommand(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o755 });
  renameSync(`${path}.new`, path);
}
