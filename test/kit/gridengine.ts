// A real Grid Engine for a test: Debian's packages in a root of its own, a qmaster and three execds, each in its own
// network and with its own host name, on a bridge. It writes nothing of this machine's, and none of it outlives the
// script that uses it. No test of its own.

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { endWith } from './children.js';
import { mirror } from './debianmirror.js';
import { lacks } from './lacking.js';
import { noNamespaces } from './netns.js';

/** Unpacked with all that they need; nothing of them is configured or started. */
const PACKAGES =
  'gridengine-master,gridengine-exec,gridengine-client,dash,coreutils,hostname,base-files,util-linux,sed,grep,mawk';

/** Unpacks Debian 12's Grid Engine into this folder, as root, with mmdebstrap and a mirror of Debian. */
export function gridEngineRoot(path: string): void {
  const how = ['--quiet', '--variant=extract', `--include=${PACKAGES}`];
  const made = spawnSync('nice', ['mmdebstrap', ...how, 'bookworm', path, mirror()], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`mmdebstrap: ${made.error ?? made.stderr}`);
  // What the alternatives of Debian would make.
  symlinkSync('mawk', join(path, 'usr', 'bin', 'awk'));
}

/** Why there is no Grid Engine in the packages of this machine, or no namespaces for it. */
export function noGridEngine(): string | false {
  if (process.getuid?.() !== 0) return 'not root';
  const [master, exec, client] = ['/usr/sbin/sge_qmaster', '/usr/sbin/sge_execd', 'qhost'];
  return lacks('gridengine-master gridengine-exec gridengine-client', master, exec, client) || noNamespaces();
}

/** Makes this folder a root with this machine's /usr, read-only, and places of its own for what Grid Engine writes. */
export function machineRoot(path: string): void {
  chmodSync(path, 0o755);
  for (const name of ['usr', 'etc/alternatives', 'proc', 'sys', 'dev', 'tmp', 'opt', 'var/spool'])
    mkdirSync(join(path, name), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(join('usr', name), join(path, name));
  symlinkSync(realpathSync('/usr/bin/awk'), join(path, 'etc', 'alternatives', 'awk'));
  // The packages put links to /usr there, and their configuration a cell.
  const from = '/var/lib/gridengine';
  const filter = (name: string) => name !== join(from, 'default');
  cpSync(from, join(path, from), { recursive: true, verbatimSymlinks: true, filter });
}

/** The queue, of which an attribute that is not named here has its default. */
const QUEUE = `qname all.q
hostlist n1 n2
seq_no 0,[n2=1]
load_thresholds NONE
suspend_thresholds NONE
nsuspend 1
suspend_interval 00:05:00
priority 0
min_cpu_interval 00:05:00
processors UNDEFINED
qtype BATCH
ckpt_list NONE
pe_list mpi
rerun FALSE
slots 1
tmpdir /tmp
shell /bin/sh
prolog NONE
epilog NONE
shell_start_mode posix_compliant
starter_method NONE
suspend_method NONE
resume_method NONE
terminate_method NONE
notify 00:00:60
owner_list NONE
user_lists NONE
xuser_lists NONE
subordinate_list NONE
complex_values NONE
projects NONE
xprojects NONE
calendar NONE
initial_state default
${['rt', 'cpu', 'fsize', 'data', 'stack', 'core', 'rss', 'vmem'].map(name => `s_${name} INFINITY\nh_${name} INFINITY`).join('\n')}`;

/** How jobs get slots on several hosts. */
const PARALLEL = `pe_name mpi
slots 99
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule $round_robin
control_slaves FALSE
job_is_first_task FALSE
urgency_slots min
accounting_summary FALSE
qsort_args NONE`;

/**
 * A cluster of `master` (10.99.0.1), `n1` and `n2`; jobs are placed on n1 first, one on each. \`M\` runs a command in the
 * root, \`on HOST\` one on a host; BIN has qhost and qstat for programs outside of it. EXECD is the master's, with the load
 * sensor of LOAD_SENSOR; links n1 and n2 are the hosts' cables.
 */
const SETUP = `
R=$ROOT_OF_GE
[ -e $R/usr/bin ] || { mount --bind /usr $R/usr && mount -o remount,bind,ro $R/usr; } || exit 1
for d in proc sys dev; do mount --rbind /$d $R/$d; done
mount -t tmpfs none $R/tmp
BIN=$R/tmp/bin
mkdir $BIN
for c in qhost qstat; do printf '#!/bin/sh\\nexec chroot %s %s "$@"\\n' $R $c >$BIN/$c && chmod 755 $BIN/$c; done
hostname master
ip link set lo up
ip link add br0 type bridge && ip address add 10.99.0.1/24 dev br0 && ip link set br0 up
printf '127.0.0.1 localhost\\n10.99.0.1 master\\n10.99.0.2 n1\\n10.99.0.3 n2\\n' >$R/etc/hosts
printf 'hosts: files\\npasswd: files\\ngroup: files\\n' >$R/etc/nsswitch.conf
printf 'root:x:0:0::/:/bin/sh\\nsgeadmin:x:2000:2000::/:/bin/sh\\nanna:x:2001:2001::/tmp:/bin/sh\\n' >$R/etc/passwd
printf 'root:x:0:\\nsgeadmin:x:2000:\\nanna:x:2001:\\n' >$R/etc/group
G=$R/var/lib/gridengine/default/common S=$R/var/spool/gridengine
mkdir -p $G $S/qmaster/job_scripts $S/spooldb $S/execd
sed 's/^ignore_fqdn.*/ignore_fqdn true/' $R/usr/share/gridengine/default-bootstrap >$G/bootstrap
echo master >$G/act_qmaster
D=$R/usr/share/gridengine/default-configuration
sed "s/^load_report_time.*/load_report_time $T/; s/^min_[ug]id.*/# &/" $D >$R/tmp/conf && mount --bind $R/tmp/conf $D || exit 1
chown -R 2000:2000 $R/var/lib/gridengine/default $S
export SGE_ROOT=/var/lib/gridengine SGE_CELL=default SGE_QMASTER_PORT=6444 SGE_EXECD_PORT=6445 SGE_ND=1
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
M() { chroot $R "$@"; }
as() { u=$1; shift; M setpriv --reuid $u --regid $u --clear-groups "$@"; }
as 2000 sh /usr/share/gridengine/scripts/init_cluster $SGE_ROOT default /var/spool/gridengine/spooldb sgeadmin || exit 1
as 2000 /usr/lib/gridengine/spooldefaults managers root
M sge_qmaster & 
until M qconf -sh >/dev/null 2>&1; do sleep 0.2; done
M qconf -as master
i=1
for h in n1 n2; do
  i=$((i + 1))
  M qconf -ah $h
  unshare -n -u sh -c "hostname $h; echo; exec sleep 100000" >$R/tmp/$h & eval P_$h=$!
  until [ -s $R/tmp/$h ]; do sleep 0.1; done
  eval p=\\$P_$h
  ip link add $h type veth peer name eth0 netns $p && ip link set $h master br0 up
  nsenter -t $p -n sh -c "ip link set lo up && ip address add 10.99.0.$i/24 dev eth0 && ip link set eth0 up"
done
on() { eval p=\\$P_$1; shift; nsenter -t $p -n -u "$@"; }
echo "$PARALLEL" >$R/tmp/pe && M qconf -Ap /tmp/pe
echo "$QUEUE" >$R/tmp/q && M qconf -Aq /tmp/q
M qconf -ssconf | sed 's/^schedule_interval.*/schedule_interval 0:0:2/; s/^queue_sort_method.*/queue_sort_method seqno/' >$R/tmp/s
M qconf -Msconf /tmp/s
[ -z "$LOAD_SENSOR" ] || { echo "load_sensor $LOAD_SENSOR" >$R/tmp/master && M qconf -Aconf /tmp/master; }
M sge_execd & EXECD=$!
for h in n1 n2; do on $h chroot $R sge_execd & done
state() { M qstat -f -q all.q@$1 | awk -v q=all.q@$1 '$1 == q { print $6 }'; }
`;

/**
 * A job of anna's on both hosts, as `beoboard jobs` shows it: \`jobs JSON\`. Wants NODE, PROGRAM and BOARD; the hosts
 * have no alarm.
 */
export const TWO_HOSTS = `
as 2001 qsub -b y -o /dev/null -e /dev/null -pe mpi 2 -N '<pair>' /bin/sleep 1000
"$NODE" "$PROGRAM" slurm --scheduler gridengine --slurm-bin $BIN --slurm-dir $R/tmp/jobs --interval 500ms --board $BOARD &
READER=$!
until grep -q '<pair>' $R/tmp/jobs/state; do sleep 0.2; done 2>/dev/null
echo "jobs $("$NODE" "$PROGRAM" jobs --json --slurm-dir $R/tmp/jobs --board $BOARD | tr -d '\\n')" >&3
kill $READER
M qdel -u anna
until [ -z "$(M qstat -u '*')" ]; do sleep 0.2; done
`;

/**
 * Runs a script in such a cluster, in namespaces that end with it; gives each line that it writes to its descriptor 3, and
 * all else that it printed. `reportTime`: load_report_time, s.
 */
export async function withGridEngine(
  t: Parameters<typeof endWith>[0],
  root: string,
  reportTime: number,
  env: Readonly<Record<string, string>>,
  script: string,
): Promise<{ told: string[]; rest: string }> {
  const how = ['-m', '-n', '-u', '-p', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
  const child = spawn('unshare', [...how, 'bash', '-c', `${SETUP}\n${script}\nexit 0`], {
    env: { ...process.env, ROOT_OF_GE: root, T: `${reportTime}`, QUEUE, PARALLEL, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  void endWith(t, child);
  const texts = ['', '', ''];
  const ends = [child.stdout, child.stderr, child.stdio[3]].map(async (stream, i) => {
    for await (const data of stream as AsyncIterable<Buffer>) texts[i] += data.toString();
  });
  await Promise.all(ends);
  const [out = '', errors = '', told = ''] = texts;
  return { told: told.trim().split('\n'), rest: `${out}${errors}` };
}
