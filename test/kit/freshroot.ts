// A fresh Debian in a folder, made in seconds from the packages that this machine has installed: their files, and their
// entries in dpkg's database. Nothing is downloaded, and an installation into it changes nothing else. No test of its
// own.

import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { must } from './children.js';
import { lacks } from './lacking.js';

/** The packages of every Debian, and systemd, whose programs create the users and folders that our packages need. */
const BASE = [
  ...['base-files', 'base-passwd', 'bash', 'coreutils', 'dash', 'debianutils', 'diffutils', 'dpkg', 'findutils'],
  ...['grep', 'gzip', 'init-system-helpers', 'libc-bin', 'perl-base', 'sed', 'systemd', 'tar'],
];

/** These packages and all their dependencies; of alternatives the first that is installed. */
function closure(names: readonly string[]): string[] {
  const needs = new Map<string, string>();
  const providers = new Map<string, string>();
  const format = ['Package', 'Pre-Depends', 'Depends', 'Provides', 'Architecture', 'db:Status-Status']
    .map(name => `$\{${name}}`)
    .join('\\t');
  const own = must('dpkg', ['--print-architecture']).trim();
  for (const line of must('dpkg-query', ['-W', '-f', `${format}\\n`]).split('\n')) {
    const [name = '', before = '', depends = '', provides = '', architecture = '', status] = line.split('\t');
    if (status !== 'installed' || ![own, 'all'].includes(architecture)) continue;
    needs.set(name, `${before}, ${depends}`);
    for (const word of provides.split(', ')) providers.set(word.replace(/ .*/, ''), name);
  }
  const found = new Set(names.filter(name => needs.has(name)));
  for (const name of found)
    for (const group of needs.get(name)?.split(', ') ?? []) {
      const wanted = group
        .split(' | ')
        .map(word => word.replace(/[ :].*/, ''))
        .map(word => (needs.has(word) ? word : providers.get(word)))
        .find(word => word !== undefined);
      if (wanted !== undefined) found.add(wanted);
    }
  return [...found];
}

/** Why there can be none here, for a test that needs other programs, too; in CI they are required. */
export const noFreshRoot = (packages: string, ...programs: string[]): string | false =>
  lacks(`dpkg systemd ${packages}`, 'dpkg-deb', 'systemd-sysusers', ...programs) ||
  (process.getuid?.() !== 0 && 'needs root, to chroot');

/** Makes it in an empty folder, with `more` packages. Throws if this machine is not a Debian with systemd. */
export function freshRoot(root: string, more: readonly string[] = []): void {
  const names = closure([...BASE, ...more]);
  if (!names.includes('systemd')) throw new Error('systemd is not installed');
  const database = 'var/lib/dpkg';
  for (const name of [
    'usr/bin',
    'usr/sbin',
    'usr/lib',
    'usr/lib64',
    'dev/shm',
    'proc',
    'run',
    'etc',
    `${database}/info`,
  ])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
  writeFileSync(join(root, 'dev', 'null'), '');

  const paths = must('dpkg-query', ['-L', ...names]).split('\n');
  const infos = must('sh', ['-c', 'cd /var/lib/dpkg/info && ls']).split('\n');
  const wanted = new Set(names);
  const files = [
    ...paths.filter(
      path => /^\/./.test(path) && !/^\/(dev|proc|run|tmp)\b|^\/usr\/share\/(doc|man|locale)\//.test(path),
    ),
    ...infos.filter(name => wanted.has(name.replace(/(:\w+)?\.\w+$/, ''))).map(name => `/${database}/info/${name}`),
  ].filter(path => existsSync(path));
  must(
    'sh',
    ['-c', 'tar -C / --no-recursion --null -T - -cf - | tar -C "$1" --keep-directory-symlink -xf -', 'sh', root],
    { input: [...new Set(files)].map(path => `.${path}\0`).join('') },
  );
  writeFileSync(join(root, database, 'status'), must('dpkg-query', ['-s', ...names]));
  for (const name of ['passwd', 'group'])
    must('cp', [join(root, 'usr', 'share', 'base-passwd', `${name}.master`), join(root, 'etc', name)]);
  must('chroot', [root, '/usr/sbin/ldconfig']);
}
