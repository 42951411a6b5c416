// A Slurm of another Debian in a root of its own, and a folder with commands that run it there: they see the files of
// this machine's tests, and the machine sees nothing of the root. No test of its own.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mirror } from './debianmirror.js';

/** Which packages are unpacked with all that they need; nothing of them is configured or started. */
const PACKAGES = ['slurmctld', 'slurmd', 'slurm-client', 'munge', 'dash', 'coreutils', 'hostname', 'base-files'];

/** The folders of this machine that the root shows in place of its own: for tests, and for processes. */
const SHARED = ['/dev', '/proc', '/sys', '/tmp'];

/**
 * Unpacks the Slurm of that Debian into an empty folder, and returns the folder of its commands, to be put before PATH.
 * As root, with mmdebstrap and a mirror of Debian.
 */
export function slurmRoot(path: string, suite: string): string {
  const [root, commands] = [join(path, 'root'), join(path, 'commands')];
  const how = ['--quiet', '--variant=extract', `--include=${PACKAGES.join(',')}`];
  const made = spawnSync('nice', ['mmdebstrap', ...how, suite, root, mirror()], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`mmdebstrap: ${made.error ?? made.stderr}`);
  for (const name of ['passwd', 'group', 'hosts', 'nsswitch.conf'])
    if (existsSync(join('/etc', name))) copyFileSync(join('/etc', name), join(root, 'etc', name));
  // What the alternatives of Debian would make.
  const sbin = join(root, 'usr', 'sbin');
  for (const name of readdirSync(sbin)) {
    const [, plain] = /^(.*)-wlm$/.exec(name) ?? [];
    if (plain !== undefined) symlinkSync(name, join(sbin, plain));
  }
  mkdirSync(commands);
  // In a mount namespace of each command, which ends with it. The shell becomes the command: signals reach it.
  const enter = `for at in ${SHARED.join(' ')}; do mount --rbind $at "$0$at" || exit; done; PATH=/usr/sbin:/usr/bin; exec chroot "$0" "$@"`;
  const programs = [
    ...['munged', 'munge', 'slurmctld', 'slurmd', 'scontrol', 'srun', 'sbatch', 'squeue', 'sinfo', 'scancel'],
  ];
  for (const name of programs)
    writeFileSync(join(commands, name), `#!/bin/sh\nexec unshare --mount sh -c '${enter}' '${root}' ${name} "$@"\n`, {
      mode: 0o755,
    });
  return commands;
}
