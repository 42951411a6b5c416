// The pinger for OAR, called by the module of OAR that calls pingers, from Debian's packages: otherschedulers.test.ts has
// the same wherever that module is installed. With apt and a mirror of Debian; half a minute.
//   npm run test:long -- schedulers/oar

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lacks } from '../kit/lacking.js';
import { folder, ROOT } from '../kit/places.js';

t.setTimeout(600_000);
const PACKAGES = ['oar-server', 'liboar-perl', 'libdbi-perl'];

t.test("OAR's own module", { skip: lacks('apt dpkg perl', 'apt-get', 'dpkg-deb', 'perl') }, async t => {
  const place = folder(t);
  const run = (command: string, args: readonly string[], env = process.env) => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: place, encoding: 'utf8', env });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  run('apt-get', ['download', '--quiet', ...PACKAGES]);
  for (const file of readdirSync(place)) run('dpkg-deb', ['-x', file, 'root']);
  const folders = run('find', [
    ...['root/usr', '(', '-name', 'OAR', '-o', '-name', 'DBI.pm', ')', '-printf', '%h\n'],
  ]).trim();
  const PERL5LIB = folders
    .split('\n')
    .map(path => join(place, path))
    .join(':');
  const test = join(ROOT, 'dist', 'test', 'schedulers', 'otherschedulers.test.js');
  const said = run(process.execPath, [test], { ...process.env, PERL5LIB });
  t.match(said, /^ *ok \d+ - by its own module(?!.*# SKIP)/m);
});
