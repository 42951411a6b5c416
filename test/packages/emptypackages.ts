// Packages with nothing but their scripts, units and configuration, so that nothing has to be compiled; Debians without
// our packages to install them into; and a systemctl that writes down what the scripts ask. No test of its own.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import root, { type Test } from 'tap';
import { freshRoot, noFreshRoot } from '../kit/freshroot.js';
import { folder, ROOT } from '../kit/places.js';

/** A package of packaging/packages.mjs. */
export interface Package {
  depends?: { ours?: string[] };
  recommends?: string[];
  units?: Record<string, { enabled?: boolean; instance?: string }>;
  files: [from: string | null, to: string][];
  purges?: string[];
  next?: string;
}
interface Scripts {
  debScripts(pack: Package): Record<string, string>;
  rpmScripts(pack: Package): Record<string, string>;
}

const packaging = (name: string) => import(join(ROOT, 'packaging', name)) as Promise<unknown>;
/** A module of scripts/packaging. */
export const making = <T>(name: string) => import(join(ROOT, 'scripts', 'packaging', name)) as Promise<T>;

export const { PACKAGES } = (await packaging('packages.mjs')) as { PACKAGES: Record<string, Package> };
export const { debScripts, rpmScripts } = (await packaging('scriptlets.mjs')) as Scripts;
const { relationsOf } = await making<{
  relationsOf(name: string, version: string): Record<string, string | undefined>;
}>('deb.mjs');

export const missing = noFreshRoot('musl-tools', 'musl-gcc');

/** On disk, because shared memory may forbid programs. */
const diskFolder = (t: Test) => folder(t);

let made: string | undefined;

/** Makes a Debian without our packages: its folder, what runs a command in it, and its paths as they are here. */
export function freshSystem(t: Test) {
  if (made === undefined) {
    made = diskFolder(root);
    freshRoot(made);
  }
  const system = join(diskFolder(t), 'system');
  // The same files in /usr, because nothing is written into one: dpkg and these tests put others in their places.
  spawnSync('cp', ['-a', '--link', made, system]);
  for (const name of readdirSync(made).filter(name => name !== 'usr')) {
    rmSync(join(system, name), { recursive: true });
    spawnSync('cp', ['-a', join(made, name), join(system, name)]);
  }
  const within = (...argv: string[]) => {
    const { status, stdout, stderr } = spawnSync('chroot', [system, ...argv], {
      encoding: 'utf8',
      env: { PATH: '/usr/sbin:/usr/bin' },
    });
    return { status, stdout, stderr };
  };
  return { system, within, at: (path: string) => join(system, path) };
}

/** Those units of a package with which is tried what its scripts do. Version 1 has no journal, as 0.2.0. */
const tried = (pack: Package, version: number): Package => ({
  ...pack,
  units: Object.fromEntries(
    Object.entries(pack.units ?? {}).filter(
      ([unit]) =>
        /-(receive|ganglia|web|mirror|send|send-nodejs|supermon|mon)\./.test(unit) ||
        (version > 1 && unit.includes('-journal@')),
    ),
  ),
});

/** The files of a package that its scripts ask for, by path. */
function filesOf({ units = {}, files }: Package): Map<string, string> {
  const found = new Map<string, string>();
  for (const [from, to] of files) {
    const file = from?.split('/').at(-1) ?? '';
    if (
      Object.hasOwn(units, file) ||
      file === 'beoboard-relay.service' ||
      /^packaging\/(dropins|sysusers\.d|tmpfiles\.d)\//.test(from ?? '')
    )
      found.set(join(to, file), readFileSync(join(ROOT, from ?? ''), 'utf8'));
  }
  return found;
}

/** A deb with only scripts, configuration and some of the units, in `system`. `of`: another package than the table's. */
export function emptyDeb(t: Test, system: string, name: string, version: number, of?: Package): string {
  const own = diskFolder(t);
  const lay = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(own, path)), { recursive: true });
    writeFileSync(join(own, path), text, { mode });
  };
  chmodSync(own, 0o755);
  const pack = tried(of ?? (PACKAGES[name] as Package), version);
  for (const [from, to] of pack.files) if (from === null) mkdirSync(join(own, to), { recursive: true });
  for (const [path, text] of filesOf(pack)) lay(path, text);
  for (const [script, text] of Object.entries(debScripts(pack))) lay(`DEBIAN/${script}`, text, 0o755);
  const { Depends: _, ...relations } = of === undefined ? relationsOf(name, String(version)) : {};
  const fields = {
    ...{ Package: name, Version: String(version), Architecture: 'all', Maintainer: 'nobody', Description: 'a test' },
    ...relations,
  };
  const lines = Object.entries(fields).map(([field, value]) => (value === undefined ? '' : `${field}: ${value}\n`));
  lay('DEBIAN/control', lines.join(''));
  if (name === 'beoboard') {
    const files = version > 1 ? ['receive', 'journal-default'] : ['receive'];
    for (const file of files) lay(`etc/beoboard/${file}.toml`, `# of version ${version}\n`);
    lay('DEBIAN/conffiles', files.map(file => `/etc/beoboard/${file}.toml\n`).join(''));
  }
  const built = spawnSync('dpkg-deb', ['-Znone', '--root-owner-group', '--build', own, join(system, `${name}.deb`)]);
  t.equal(built.status, 0, `${built.stderr}`);
  return `/${name}.deb`;
}

/** Likewise rpms, of one version; returns their paths. */
export function emptyRpms(t: Test, version: number, packages: Record<string, Package>): string[] {
  const own = diskFolder(t);
  const sections = Object.entries(packages).flatMap(([name, of]) => {
    const pack = tried(of, version);
    const files = [...filesOf(pack)].filter(([path]) => path.startsWith('usr/lib/systemd/system/beoboard-'));
    for (const [path, text] of files) {
      mkdirSync(dirname(join(own, 'files', path)), { recursive: true });
      writeFileSync(join(own, 'files', path), text);
    }
    return [
      `%package -n ${name}`,
      ...['Summary: a test', 'BuildArch: noarch', ...rpmRelationsOf(pack), `%description -n ${name}`, 'A test.'],
      ...Object.entries(rpmScripts(pack)).flatMap(([when, text]) => [`%${when} -n ${name}`, text]),
      `%files -n ${name}`,
      ...files.map(([path]) => `/${path}`),
    ];
  });
  const spec = join(own, 'spec');
  writeFileSync(
    spec,
    [
      ...[
        'Name: tests',
        `Version: ${version}`,
        'Release: 1',
        'License: MIT',
        'Summary: tests',
        '%description',
        'Tests.',
      ],
      ...['%install', `mkdir -p %{buildroot}`, `cp -a ${own}/files/. %{buildroot}/`, ...sections, ''],
    ].join('\n'),
  );
  const settings = [`_topdir ${own}/top`, `_rpmdir ${own}/made`, '__os_install_post %{nil}', 'debug_package %{nil}'];
  const { status, stderr } = spawnSync(
    'rpmbuild',
    ['-bb', '--quiet', ...settings.flatMap(setting => ['--define', setting]), spec],
    { encoding: 'utf8' },
  );
  t.equal(status, 0, stderr);
  return Object.keys(packages).map(name => join(own, 'made', 'noarch', `${name}-${version}-1.noarch.rpm`));
}
const { relationsOf: rpmRelationsOf } = await making<{ relationsOf(pack: Package): string[] }>('rpm.mjs');

// A systemctl that writes down what it is asked of a systemd that runs, and fails while there is a file /fails. Links are
// the real one's work.
const SYSTEMCTL = `#!/bin/sh
for unit; do :; done
case "$*" in
  *list-units*) cat /active 2>/dev/null; exit ;;
  *is-active*) grep -qsxF "$unit" /active && exit 0 || exit 3 ;;
  *is-enabled*) exec systemctl.real --root=/ is-enabled "$unit" ;;
  *--root=*) exec systemctl.real "$@" ;;
  *" enable "* | *" disable "* | *" preset "*) exec systemctl.real --root=/ "$@" ;;
esac
echo "$*" >>/asked
[ ! -e /fails ]
`;

/** Such a Debian whose systemctl is that one. */
export function managed(t: Test) {
  const fresh = freshSystem(t);
  const { system, within, at } = fresh;
  const put = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text, { mode });
  };
  renameSync(at('usr/bin/systemctl'), at('usr/bin/systemctl.real'));
  put('usr/bin/systemctl', SYSTEMCTL, 0o755);
  /** Runs dpkg; what it said. */
  const dpkg = (...argv: string[]) => {
    rmSync(at('asked'), { force: true });
    const { status, stdout, stderr } = within('dpkg', '--force-confold,unsafe-io', ...argv);
    t.equal(status, 0, `${argv.join(' ')}: ${stderr}`);
    return stdout;
  };
  /** What the scripts asked of systemd since then, beside looking. */
  const asked = () =>
    existsSync(at('asked'))
      ? readFileSync(at('asked'), 'utf8')
          .split('\n')
          .map(line => line.replace(/ ?--(quiet|system) ?/g, '').replace(/beoboard-|\.service/g, ''))
          .filter(line => line !== '')
      : [];
  const enabled = (unit: string) => within('systemctl.real', '--root=/', 'is-enabled', unit).stdout.trim();
  /** What an administrator does. */
  const decide = (what: string, unit: string) =>
    t.equal(within('systemctl.real', '--root=/', what, unit).status, 0, `${what} ${unit}`);
  const deb = (name: string, version: number, of?: Package) => emptyDeb(t, system, name, version, of);
  return { ...fresh, put, dpkg, asked, enabled, decide, deb };
}
