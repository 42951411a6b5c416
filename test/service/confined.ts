// Runs a program like one of the units in packaging/systemd, with those of its lines that work without systemd as
// process 1, read from the unit itself: an ordinary user without capabilities, filtered system calls, address families
// and mappings, read-only file systems, and its own /dev. No test of its own.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../kit/places.js';

const UNITS = join(ROOT, 'packaging', 'systemd');
/** Debian's Python, which has the module of libseccomp; PATH may have another one first. */
export const PYTHON = '/usr/bin/python3';

/** The drop-in for senders where the package of the master is installed. */
export const ON_MASTER = join(ROOT, 'packaging', 'dropins', 'master.conf');

/** The lines of a unit by name; a name may occur several times. Those of a drop-in replace them. */
export function readUnit(name: string, dropIn?: string): Map<string, string[]> {
  const lines = (file: string) => {
    const found = new Map<string, string[]>();
    for (const [, key = '', value = ''] of readFileSync(file, 'utf8').matchAll(/^(\w+)=(.*)$/gm))
      found.set(key, [...(found.get(key) ?? []), value]);
    return found;
  };
  return new Map([...lines(join(UNITS, name)), ...(dropIn === undefined ? [] : lines(dropIn))]);
}

/** What each set has, calls and other sets, according to this systemd; asked once for all. */
let sets: Map<string, string[]> | undefined;
function setsOfSystemd(): Map<string, string[]> {
  const { stdout } = spawnSync('systemd-analyze', ['--no-pager', 'syscall-filter'], { encoding: 'utf8' });
  const blocks = stdout.matchAll(/^(@[\w-]+)\n((?: .*\n)*)/gm);
  return new Map(
    [...blocks].map(([, set = '', lines = '']) => [
      set,
      [...lines.matchAll(/^ {4}([@\w-]+)$/gm)].map(([, name = '']) => name),
    ]),
  );
}

/** The system calls of a set. */
function callsOf(set: string): string[] {
  if (!set.startsWith('@')) return [set];
  sets ??= setsOfSystemd();
  const names = sets.get(set) ?? [];
  if (names.length === 0) throw new Error(`systemd-analyze knows no ${set}`);
  return names.flatMap(callsOf);
}

/** The allowed system calls: each list adds to them, or removes from them if it begins with ~. */
function allowedCalls(lists: readonly string[]): string[] {
  const calls = new Set(callsOf('@default'));
  for (const list of lists)
    for (const call of list.replace(/^~/, '').split(' ').flatMap(callsOf))
      if (list.startsWith('~')) calls.delete(call);
      else calls.add(call);
  return [...calls];
}

/** Loads a filter and then runs the program in its place. */
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

/** A /dev as PrivateDevices= makes it: read-only, with a few devices, and with the common /dev/shm. */
const PRIVATE_DEV = [
  ...['d=$(mktemp -d)', 'mount -t tmpfs -o mode=755 none $d', 'mkdir $d/shm', 'mount --bind /dev/shm $d/shm'],
  ...['for n in null zero full random urandom; do touch $d/$n && mount --bind /dev/$n $d/$n; done'],
  ...['ln -s /proc/self/fd $d/fd', 'mount --rbind $d /dev', 'mount -o remount,bind,ro /dev'],
];

/**
 * The words before a program so that it runs as the unit would, as user `uid`; they end with exec. `writable`: a folder
 * in place of the unit's RuntimeDirectory= or StateDirectory=. `dropIn`: as for readUnit.
 */
export function confinedBy(name: string, uid: number, writable?: string, dropIn?: string): string[] {
  const unit = readUnit(name, dropIn);
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
      ...(path === '/' ? [] : [`mount --rbind ${path} ${path}`]),
      `mount -o remount,bind,ro ${path}`,
    ]),
    // Each path needs its own bind mount, because the flag belongs to a mount.
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
    ...['unshare', ...(unit.get('PrivateNetwork')?.[0] === 'yes' ? ['--net'] : [])],
    ...['--mount', '--propagation', 'private', 'sh', '-c', mounts, 'sh'],
    ...['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs'],
    ...['--bounding-set=-all', '--inh-caps=-all'],
    ...[PYTHON, '-c', FILTER, JSON.stringify(limits)],
  ];
}

/** Why nothing can be confined here; false if it can. */
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
