// Hosts of a small cluster on this machine: each is a Debian in a folder, entered with namespaces of its own (mounts,
// processes, network, name), an sshd, and a bridge to the others. No systemd: what stands for systemctl starts what a
// unit says, as its user. Whoever logs in has the umask 077. Nothing that a host writes outlives it, and nothing leads out
// of one. No test of its own.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Test } from 'tap';
import { must } from '../kit/children.js';
import { until } from '../kit/until.js';

/** What a system of `hosts` needs beside our packages. */
export const HOST_NEEDS = [
  ...['openssh-server', 'openssh-client', 'iproute2', 'libatomic1', 'libstdc++6'],
  ...['systemd-standalone-sysusers', 'systemd-standalone-tmpfiles'],
];

/** Enters the system in the folder $1, above which the folder $2 takes what is written; becomes its sshd. */
const ENTER = `
mkdir -p "$2/up" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=$1,upperdir=$2/up,workdir=$2/work" none "$2/root"
cd "$2/root"
mount -t proc proc proc
mount -o bind,ro proc/sys proc/sys
mount -t sysfs -o ro none sys
mount -t tmpfs -o mode=755 none dev
mkdir dev/pts dev/shm
for name in null zero full random urandom tty; do : >dev/$name; mount --bind /dev/$name dev/$name; done
mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s fd/0 dev/stdin
mount -t tmpfs -o mode=1777 none dev/shm
mount -t tmpfs -o mode=755 none run
mount -t tmpfs -o mode=1777 none tmp
hostname "$3"
mkdir -p run/sshd
sed -i 's/^UMASK.*/UMASK 077/' etc/login.defs
echo entered
read -r _
ip link set lo up
ip link set eth0 up
exec chroot . /usr/sbin/sshd -D`;

/** Stands for systemd: the commands of the documents on one unit. */
const SYSTEMCTL = String.raw`#!/bin/sh
verb=$1
shift
[ "$1" != --now ] || shift
[ "$verb" != show ] || exit 1
for unit; do
  name=$(basename "$unit" .service) file=/usr/lib/systemd/system/$(basename "$unit" .service).service
  pid=/run/$name.pid log=/var/log/$name.log
  setting() { cat "$file" "$file".d/*.conf 2>/dev/null | sed -n "s/^$1=//p" | tail -n 1; }
  runs() { [ -e "$pid" ] && kill -0 "$(cat "$pid")" 2>/dev/null; }
  [ -e "$file" ] || { echo "Failed to $verb $unit: no such unit" >&2; exit 5; }
  case $verb in
    reload) kill -HUP "$(cat "$pid")"; sleep 1; continue ;;
    status) runs && tail -n 5 "$log"; continue ;;
    restart | disable | stop)
      if runs; then kill "$(cat "$pid")"; while runs; do sleep 0.1; done; fi
      [ "$verb" = restart ] || continue ;;
  esac
  needs=$(setting ConditionPathExists)
  [ -z "$needs" ] || [ -e "$needs" ] || continue
  : >"$log"
  NOTIFY_SOCKET=/run/systemd.notify setsid setpriv --reuid "$(setting User)" --regid "$(setting User)" --init-groups \
    $(setting ExecStart) >>"$log" 2>&1 </dev/null &
  echo $! >"$pid"
  for i in $(seq 100); do grep -q ' ready: \| waits\|no report is taken' "$log" && break; runs || { cat "$log" >&2; exit 1; }; sleep 0.1; done
done
`;

export interface Host {
  readonly name: string;
  /** Runs a command there as root, in /root. */
  sh(command: string, env?: Record<string, string>): { status: number | null; stdout: string; stderr: string };
}

/**
 * The hosts of these names, each on top of the system in a folder. They reach each other, and root can log in from each
 * to each. `put` makes one, with files in /root, in place of an earlier one of that name.
 */
export function hosts(t: Test, own: string, systems: Readonly<Record<string, string>>) {
  const names = Object.keys(systems);
  const running = new Map<string, ChildProcess>();
  const child = (argv: string[]) => {
    const started = spawn('unshare', ['--kill-child', '--fork', ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
    t.teardown(() => started.kill('SIGKILL'));
    let said = '';
    started.stdout.on('data', chunk => {
      said += chunk;
    });
    return { started, said: () => said };
  };
  /** The process behind unshare, which has the namespaces. */
  const inside = ({ pid }: ChildProcess) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0] ?? '';
  const middle = child(['--net', 'sh', '-c', 'echo entered; exec sleep infinity']);

  const key = join(own, 'ssh');
  must('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  const known = names.map((name, i) => `10.87.0.${i + 1} ${name}\n`).join('');
  let bridged = false;

  async function put(name: string, files: readonly string[] = []): Promise<Host> {
    const system = systems[name] as string;
    const over = join(own, name);
    const earlier = running.get(name);
    if (earlier !== undefined) {
      earlier.kill('SIGKILL');
      await until(`${name} is gone`, () => earlier.exitCode !== null || earlier.signalCode !== null);
    }
    rmSync(over, { recursive: true, force: true, maxRetries: 3 });
    const write = (path: string, text: string, mode = 0o644) => {
      mkdirSync(join(over, 'up', path, '..'), { recursive: true });
      writeFileSync(join(over, 'up', path), text, { mode });
    };
    mkdirSync(join(over, 'up'), { recursive: true });
    for (const folder of ['root', 'root/.ssh']) mkdirSync(join(over, 'up', folder), { mode: 0o700 });
    for (const file of files) cpSync(file, join(over, 'up', 'root', basename(file)));
    write('etc/hosts', `127.0.0.1 localhost\n${known}`);
    write('etc/hostname', `${name}\n`);
    write('root/.ssh/authorized_keys', readFileSync(`${key}.pub`, 'utf8'), 0o600);
    write('root/.ssh/id_ed25519', readFileSync(key, 'utf8'), 0o600);
    write('root/.ssh/config', 'StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n');
    write('usr/local/bin/systemctl', SYSTEMCTL, 0o755);
    await until('the bridge has a process', () => middle.said().includes('entered'));
    const net = inside(middle.started);
    const ip = (...argv: string[]) => must('nsenter', ['-t', net, '-n', 'ip', ...argv]);
    if (!bridged) {
      ip('link', 'add', 'br0', 'type', 'bridge');
      ip('link', 'set', 'br0', 'up');
      bridged = true;
    }
    const host = child([
      ...['--mount', '--propagation', 'private', '--pid', '--ipc', '--uts', '--net', 'sh', '-ec', ENTER, 'sh'],
      ...[system, over, name],
    ]);
    running.set(name, host.started);
    await until(`${name} is entered`, () => host.said().includes('entered'));
    const pid = inside(host.started);
    const port = `p-${name}`;
    const mac = `02:00:0a:57:00:0${names.indexOf(name) + 1}`;
    const add = ['-t', net, '-n', 'ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0'];
    await until(`${name} has a port`, () => spawnSync('nsenter', [...add, 'address', mac, 'netns', pid]).status === 0);
    ip('link', 'set', port, 'master', 'br0', 'up');
    must('nsenter', ['-t', pid, '-n', 'ip', 'address', 'add', `10.87.0.${names.indexOf(name) + 1}/24`, 'dev', 'eth0']);
    host.started.stdin.write('\n');
    const sh = (command: string, env: Record<string, string> = {}) => {
      const { status, stdout, stderr } = spawnSync(
        'nsenter',
        ['-t', pid, '-m', '-u', '-i', '-n', '-p', 'chroot', join(over, 'root'), 'bash', '-c', `cd /root; ${command}`],
        {
          encoding: 'utf8',
          maxBuffer: 1 << 26,
          env: {
            PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
            HOME: '/root',
            DEBIAN_FRONTEND: 'noninteractive',
            ...env,
          },
        },
      );
      return { status, stdout, stderr };
    };
    const it = { name, sh };
    await until(`${name} answers`, () => it.sh(`ssh ${name} true`).status === 0);
    return it;
  }
  return { put };
}
