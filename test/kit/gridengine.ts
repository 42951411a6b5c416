// A real Grid Engine for a test: Debian's packages in a root of its own, a qmaster and three execds, each in its own
// network and with its own host name, on a bridge. Nothing of it is configured on this machine, and none of it outlives
// the script that uses it. No test of its own.

import { spawn, spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { mirror } from './debianmirror.js';

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
pe_list NONE
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

/**
 * A cluster of `master` (10.99.0.1), `n1` and `n2`; jobs are placed on n1 first, one on each. \`M\` runs a command in the
 * root, \`on HOST\` one on a host; EXECD is the master's, with the load
 * sensor of LOAD_SENSOR; links n1 and n2 are the hosts' cables.
 */
const SETUP = `
R=$ROOT_OF_GE
for d in proc sys dev; do mount --rbind /$d $R/$d; done
mount -t tmpfs none $R/tmp
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
sed -i "s/^load_report_time.*/load_report_time $T/; s/^min_[ug]id.*/# &/" $R/usr/share/gridengine/default-configuration
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
echo "$QUEUE" >$R/tmp/q && M qconf -Aq /tmp/q
M qconf -ssconf | sed 's/^schedule_interval.*/schedule_interval 0:0:2/; s/^queue_sort_method.*/queue_sort_method seqno/' >$R/tmp/s
M qconf -Msconf /tmp/s
[ -z "$LOAD_SENSOR" ] || { echo "load_sensor $LOAD_SENSOR" >$R/tmp/master && M qconf -Aconf /tmp/master; }
M sge_execd & EXECD=$!
for h in n1 n2; do on $h chroot $R sge_execd & done
state() { M qstat -f -q all.q@$1 | awk -v q=all.q@$1 '$1 == q { print $6 }'; }
`;

/**
 * Runs a script in such a cluster, in namespaces that end with it; calls `told` with each line that it writes to its
 * descriptor 3, and gives all else that it printed. `reportTime`: load_report_time, s.
 */
export async function withGridEngine(
  root: string,
  reportTime: number,
  env: Readonly<Record<string, string>>,
  script: string,
): Promise<{ told: string[]; rest: string }> {
  const how = ['-m', '-n', '-u', '-p', '--fork', '--kill-child', '--mount-proc', '--propagation', 'private'];
  const child = spawn('unshare', [...how, 'bash', '-c', `${SETUP}\n${script}\nexit 0`], {
    env: { ...process.env, ROOT_OF_GE: root, T: `${reportTime}`, QUEUE, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const texts = ['', '', ''];
  const ends = [child.stdout, child.stderr, child.stdio[3]].map(async (stream, i) => {
    for await (const data of stream as AsyncIterable<Buffer>) texts[i] += data.toString();
  });
  await Promise.all(ends);
  const [out = '', errors = '', told = ''] = texts;
  return { told: told.trim().split('\n'), rest: `${out}${errors}` };
}
