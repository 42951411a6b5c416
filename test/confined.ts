// Runs a program as one of the units in packaging/systemd would: their lines that can be had without systemd as process 1, read
// from the unit itself. An ordinary user without capabilities, its system calls, address families and mappings filtered, its
// file systems read-only, a /dev of its own. No test of its own.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './lib.js';

const UNITS = join(ROOT, 'packaging', 'systemd');
/** Debian's, which has the module of libseccomp; another may come first in PATH. */
const PYTHON = '/usr/bin/python3';

/** The lines of a unit by name; a name may come more than once. */
export function readUnit(name: string): Map<string, string[]> {
  const lines = new Map<string, string[]>();
  for (const [, key = '', value = ''] of readFileSync(join(UNITS, name), 'utf8').matchAll(/^(\w+)=(.*)$/gm))
    lines.set(key, [...(lines.get(key) ?? []), value]);
  return lines;
}

/** The system calls of a set, as this systemd has it. */
function callsOf(set: string): string[] {
  if (!set.startsWith('@')) return [set];
  const { stdout } = spawnSync('systemd-analyze', ['--no-pager', 'syscall-filter', set], { encoding: 'utf8' });
  const names = [...stdout.matchAll(/^ {4}([@\w-]+)$/gm)].map(([, name = '']) => name);
  if (names.length === 0) throw new Error(`systemd-analyze knows no ${set}`);
  return names.flatMap(callsOf);
}

/** What is left of the lists: words are added, and with a ~ taken away. */
function allowedCalls(lists: readonly string[]): string[] {
  const calls = new Set(callsOf('@default'));
  for (const list of lists)
    for (const call of list.replace(/^~/, '').split(' ').flatMap(callsOf))
      if (list.startsWith('~')) calls.delete(call);
      else calls.add(call);
  return [...calls];
}

/** Loads a filter and becomes the program. */
const FILTER = `
import json, os, socket, sys, seccomp
from seccomp import Arg, EQ, MASKED_EQ, NE
unit, command = json.loads(sys.argv[1]), sys.argv[2:]
f = seccomp.SyscallFilter(seccomp.ERRNO(1))
READ_ALSO = {'socket', 'mmap', 'mprotect', 'pkey_mprotect'}
for name in unit['calls'] + ['execve']:
    try:
        if name not in READ_ALSO: f.add_rule(seccomp.ALLOW, name)
    except Exception: pass  # of another architecture
for family in unit['families']: f.add_rule(seccomp.ALLOW, 'socket', Arg(0, EQ, getattr(socket, family)))
if unit['jit']:
    for name in READ_ALSO - {'socket'}: f.add_rule(seccomp.ALLOW, name)
else:
    f.add_rule(seccomp.ALLOW, 'mprotect', Arg(2, MASKED_EQ, 4, 0))
    f.add_rule(seccomp.ALLOW, 'pkey_mprotect', Arg(2, MASKED_EQ, 4, 0))
    for prot in (0, 2, 4): f.add_rule(seccomp.ALLOW, 'mmap', Arg(2, MASKED_EQ, 6, prot))
f.load()
os.execvp(command[0], command)
`;

/** A /dev as PrivateDevices= makes it: that of all for shared memory, else a few devices, and read-only. */
const PRIVATE_DEV = [
  'd=$(mktemp -d)',
  'mount -t tmpfs -o mode=755 none $d',
  'mkdir $d/shm',
  'mount --bind /dev/shm $d/shm',
  'for n in null zero full random urandom; do touch $d/$n && mount --bind /dev/$n $d/$n; done',
  'ln -s /proc/self/fd $d/fd',
  'mount --rbind $d /dev',
  'mount -o remount,bind,ro /dev',
];

/**
 * What stands before a program so that it runs as a unit would, as user `uid`. It becomes the program. `writable`: a folder that stands
 * for the unit's RuntimeDirectory= or StateDirectory=.
 */
export function confinedBy(name: string, uid: number, writable?: string): string[] {
  const unit = readUnit(name);
  const [protect] = unit.get('ProtectSystem') ?? [];
  const readOnly = protect === 'strict' ? ['/'] : protect === 'full' ? ['/usr', '/etc'] : [];
  if (writable !== undefined && !unit.has('RuntimeDirectory') && !unit.has('StateDirectory'))
    throw new Error(`${name} has no folder of its own`);
  const mounts = [
    'set -e',
    `umask ${unit.get('UMask')?.[0] ?? '0022'}`,
    ...(unit.get('PrivateDevices')?.[0] === 'yes' ? PRIVATE_DEV : []),
    ...(writable === undefined ? [] : [`mount --bind ${writable} ${writable}`]),
    ...readOnly.flatMap(path => [
      ...(path === '/' ? [] : [`mount --bind ${path} ${path}`]),
      `mount -o remount,bind,ro ${path}`,
    ]),
    // A bind of its own, since the flag belongs to a mount.
    ...(unit.get('ReadOnlyPaths') ?? []).flatMap(path => [
      `mount --bind ${path} ${path}`,
      `mount -o remount,bind,ro ${path}`,
    ]),
    'exec "$@"',
  ].join('\n');
  const limits = {
    calls: allowedCalls(unit.get('SystemCallFilter') ?? []),
    families: (unit.get('RestrictAddressFamilies') ?? []).flatMap(list => list.split(' ')),
    jit: unit.get('MemoryDenyWriteExecute')?.[0] !== 'yes',
  };
  return [
    ...['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mounts, 'sh'],
    ...['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs'],
    ...['--bounding-set=-all', '--inh-caps=-all'],
    // What tap has each process load would write where that user may not.
    ...['env', '-u', 'NODE_OPTIONS', PYTHON, '-c', FILTER, JSON.stringify(limits)],
  ];
}

/** Why nothing can be confined here; false when it can. */
export function obstacle(): string | false {
  if (process.getuid?.() !== 0) return 'needs root, to become others';
  const missing = [
    ['systemd-analyze', 'systemd', '--version'],
    [PYTHON, 'python3-seccomp', '-c', 'import seccomp'],
  ].find(([program = '', , ...argv]) => spawnSync(program, argv).status !== 0);
  if (missing === undefined) return false;
  if (process.env.CI === 'true') throw new Error(`${missing[1]} is not installed`);
  return `needs the package ${missing[1]}`;
}
