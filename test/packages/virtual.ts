// Separate systems for the tests of packages: Debian systems made by mmdebstrap, and such a system booted in a virtual
// machine with systemd as process 1. No test of its own.
// The machine is emulated (qemu -accel tcg), has no network, writes to a copy of its disk that is deleted with it, and
// is ended by its pid.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { must } from '../kit/children.js';
import { mirror } from '../kit/debianmirror.js';
import { ROOT } from '../kit/places.js';

/** A folder on disk for gigabytes of files; removed at the end of the test. */
export function diskFolder(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  t.teardown(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

/** Installs a Debian with these packages into a folder. A system for `arm64` is only unpacked, and never runs. */
export function debian(into: string, suite: string, packages: string[], how: string[] = ['--variant=minbase']): string {
  const include = packages.length > 0 ? [`--include=${packages.join(',')}`] : [];
  must('nice', ['mmdebstrap', '--quiet', ...how, ...include, suite, into, mirror()]);
  return into;
}

/** Runs a command in the system in a folder. */
export function within(root: string, ...argv: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync('chroot', [root, ...argv], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/root',
      DEBIAN_FRONTEND: 'noninteractive',
    },
  });
  return { status, stdout, stderr };
}

/** A Node.js of this major version from npm, only for tests: the program's path, below a folder. */
export function nodeFrom(folder: string, processor: 'x64' | 'arm64', major: number): string {
  const into = join(folder, `node-${processor}-${major}`);
  if (!existsSync(into)) {
    mkdirSync(into);
    const packed = must('npm', ['pack', '--silent', `node-linux-${processor}@${major}`], { cwd: into });
    must('tar', ['-C', into, '-xf', join(into, packed.trim().split('\n').at(-1) ?? '')]);
  }
  return join(into, 'package', 'bin', 'node');
}

/**
 * Makes a package `nodejs` for amd64 with this program, only for tests: on Debian 12 it replaces Debian's, which is too
 * old.
 */
export function debOfNode(program: string, deb: string): void {
  const into = mkdtempSync(join(tmpdir(), 'beoboard-test.'));
  mkdirSync(join(into, 'DEBIAN'), { recursive: true });
  mkdirSync(join(into, 'usr', 'bin'), { recursive: true });
  cpSync(program, join(into, 'usr', 'bin', 'node'));
  const control = [
    'Package: nodejs',
    `Version: ${must(program, ['--version']).trim().slice(1)}`,
    'Architecture: amd64',
    'Maintainer: nobody <nobody@localhost>',
    'Depends: libstdc++6, libatomic1',
    'Description: for a test',
  ];
  writeFileSync(join(into, 'DEBIAN', 'control'), `${control.join('\n')}\n`);
  chmodSync(into, 0o755);
  must('dpkg-deb', ['--root-owner-group', '-Znone', '--build', into, deb]);
  rmSync(into, { recursive: true });
}

/** The packages that a system needs to boot in the machine. */
export const BOOTS = [
  ...['systemd', 'systemd-sysv', 'udev', 'dbus', 'linux-image-cloud-amd64', 'initramfs-tools', 'iproute2', 'procps'],
  ...['kmod', 'passwd'],
];

const GUEST = join(ROOT, 'test', 'packages', 'guest');

/** The results of a trial: what held, what failed, and figures. */
interface Trial {
  held: string[];
  failed: string[];
  figures: string[];
  /** Whether it ran to its end. */
  ended: boolean;
  seconds: number;
}

/**
 * Boots the system in a folder, runs a trial of test/packages/guest in it, and returns the results. The trial is copied
 * into the folder; everything that the machine writes is lost. It has so many minutes.
 */
export async function boot(
  t: Test,
  root: string,
  trial: string,
  env: Record<string, string> = {},
  minutes = 90,
): Promise<Trial> {
  const own = diskFolder(t);
  copyFileSync(join(GUEST, 'common.sh'), join(root, 'root', 'common.sh'));
  copyFileSync(join(GUEST, `${trial}.sh`), join(root, 'root', 'trial.sh'));
  copyFileSync(join(GUEST, 'trial.sh'), join(root, 'root', 'run'));
  chmodSync(join(root, 'root', 'run'), 0o755);
  const settings = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', ...env };
  writeFileSync(
    join(root, 'root', 'environment'),
    Object.entries(settings)
      .map(([name, value]) => `export ${name}=${value}\n`)
      .join(''),
  );
  const units = join(root, 'etc', 'systemd', 'system');
  copyFileSync(join(GUEST, 'trial.service'), join(units, 'trial.service'));
  mkdirSync(join(units, 'multi-user.target.wants'), { recursive: true });
  const wanted = join(units, 'multi-user.target.wants', 'trial.service');
  if (!existsSync(wanted)) symlinkSync('../trial.service', wanted);
  writeFileSync(join(root, 'etc', 'hostname'), 'trial\n');

  const image = join(own, 'image');
  must('mke2fs', ['-q', '-t', 'ext4', '-d', root, image, '4G']);
  const began = performance.now();
  const machine = spawn(
    'nice',
    [
      ...[
        'qemu-system-x86_64',
        '-accel',
        'tcg,thread=multi',
        '-smp',
        '2',
        '-m',
        '1536',
        '-net',
        'none',
        '-display',
        'none',
      ],
      ...['-no-reboot', '-drive', `file=${image},format=raw,if=virtio,snapshot=on`],
      ...['-kernel', join(root, 'vmlinuz'), '-initrd', join(root, 'initrd.img')],
      ...[
        '-append',
        // On a busy host the timer may be too late for the kernel's check of it. After a panic the machine ends instead
        // of hanging.
        'root=/dev/vda rw console=ttyS0 quiet no_timer_check panic=-1',
        '-serial',
        `file:${own}/console`,
        '-serial',
        `file:${own}/told`,
      ],
    ],
    { stdio: 'ignore', env: { ...process.env, TMPDIR: own } },
  );
  t.teardown(() => machine.kill('SIGKILL'));
  const late = setTimeout(() => machine.kill('SIGTERM'), minutes * 60_000);
  await once(machine, 'exit');
  clearTimeout(late);
  rmSync(image);
  const lines = readFileSync(join(own, 'told'), 'utf8').split(/\r?\n/);
  const those = (start: string) => lines.filter(line => line.startsWith(start)).map(line => line.slice(start.length));
  return {
    held: those('ok '),
    failed: those('not ok '),
    figures: those('# '),
    ended: lines.includes('done'),
    seconds: (performance.now() - began) / 1000,
  };
}
