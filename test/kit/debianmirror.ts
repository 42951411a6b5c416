// The mirror of Debian for tests that make systems of its packages. No test of its own.

import { spawnSync } from 'node:child_process';

/** The mirror from which this machine gets Debian's packages, as its apt is configured. */
export function mirror(): string {
  const targets = ['indextargets', '--format', '$(SITE)', 'Created-By: Packages', 'Origin: Debian'];
  const { stdout } = spawnSync('apt-get', targets, { encoding: 'utf8' });
  const [site] = (stdout ?? '').split('\n');
  if (site === undefined || site === '') throw new Error('apt of this machine knows no mirror of Debian');
  return site;
}
