#!/bin/sh
# Every packaged daemon under a systemd that is process 1: each starts as soon as its option file exists, does its work
# within its unit, sends its status to systemd, and ends cleanly. /root/slurm has answers of Slurm's commands; a NATS
# server is installed.
. /root/common.sh
self=$(hostname -s)
etc=/etc/beoboard

# The relay's board needs the name of a cluster.
until_so systemctl is-active beoboard-receive.service
systemctl stop beoboard-receive.service
rm /dev/shm/beoboard/board
echo 'cluster = "alpha"' >>$etc/receive.toml
reports_here
sed -i 's/^#cluster = .*/cluster = "alpha"/' $etc/send.toml
systemctl start beoboard-receive.service beoboard-send.service
until_so heard "$self"
check 'the node is live' heard "$self"

# The kernel kills a program whose group has too little memory.
systemd-run --quiet --wait -p MemoryMax=16M -p MemorySwapMax=0 tail /dev/zero 2>/dev/null
until_so sh -c "beoboard nodes --where 'recent(oom)' | grep -q ."
is 'a program that the kernel killed is remembered' "$(beoboard nodes --where 'recent(oom) && oom_times == 1')" "$self"

# starts NAME: starts the daemon with its unit, which succeeds only if the daemon tells systemd that it is ready.
starts() {
  check "beoboard-$1 starts" systemctl restart "beoboard-$1.service"
  is "beoboard-$1 runs" "$(of "beoboard-$1.service" ActiveState) $(of "beoboard-$1.service" NRestarts)" 'active 0'
  tell "beoboard-$1: $(of "beoboard-$1.service" StatusText)"
}

for name in ganglia prometheus web supermon; do : >$etc/$name.toml; done
starts ganglia
check 'Ganglia is served' asks "new Promise(end => { let all = ''; require('net').connect(8649, '127.0.0.1').on('data', d => { all += d }).on('end', () => end(all.includes('<HOST NAME=\"$self\"') && all.includes('</GANGLIA_XML>'))) })"
starts prometheus
check 'Prometheus is served' asks "fetch('http://127.0.0.1:9678/metrics').then(r => r.text()).then(text => /^beoboard_node_state\{[^}]*state=\"live\"[^}]*\} 1$/m.test(text))"
starts web
check 'the wall has its page' asks "fetch('http://127.0.0.1:8678/').then(r => r.text()).then(text => /<title>/.test(text))"
check 'and its nodes' asks "fetch('http://127.0.0.1:8678/api/v1/nodes?fields=load').then(r => r.json()).then(all => all.nodes.some(({ state }) => state === 'live'))"
starts supermon
is 'the board is served to this machine alone' "$(ss -Htln 'sport = 2709' | awk '{print $4}')" 127.0.0.1:2709
check 'Supermon is served' asks "new Promise(end => { let all = ''; const to = require('net').connect(2709, '127.0.0.1', () => to.write('0x100S')).on('data', d => { all += d; if (all.includes('$self beostate live')) end(true) }) })"
starts mon
is 'the node answers this machine alone' "$(ss -Htln 'sport = 2710' | awk '{print $4}')" 127.0.0.1:2710
check 'and tells what it is doing' sh -c 'beoboard zoom --at 127.0.0.1:2710 --for 1s --csv | tail -n 1 | grep ,'
is 'beoboard-gpu waits where there is no driver' "$(of beoboard-gpu.service ActiveState) $(of beoboard-gpu.service NRestarts)" 'active 0'

# ---- Slurm: its commands give the recorded answers of real ones ----

mkdir /opt/slurm
cp /root/slurm/* /opt/slurm
cat >/opt/slurm/scontrol <<'END'
#!/bin/sh
here=$(dirname "$0")
case "$*" in
  *config*) cat "$here/config-22.05.txt" ;;
  *) cat "$here/nodes-22.05.txt" ;;
esac
END
cat >/opt/slurm/squeue <<'END'
#!/bin/sh
sed "s/^4d1f0c6b9ae27358f00d2b7c9e6a1d54/${SQUEUE_FORMAT%%|*}/" "$(dirname "$0")/jobs-22.05.txt"
END
chmod 755 /opt/slurm/scontrol /opt/slurm/squeue
useradd --system slurm
echo 'slurm-bin = "/opt/slurm"' | tee $etc/slurm.toml >$etc/bridge.toml
starts slurm
is 'what it reads of nodes is for all' "$(stat -c '%U %a' /run/beoboard-slurm)" 'beoboard-slurm 755'
is 'and of jobs for a group' "$(stat -c '%U:%G %a' /run/beoboard-slurm/state)" 'beoboard-slurm:beoboard-jobs 640'
check 'it has read the nodes' asks "JSON.parse(require('fs').readFileSync('/run/beoboard-slurm/state', 'utf8')).nodes.list.length === 8"
starts bridge
is 'its journal is its own' "$(stat -c '%U %a' /var/lib/beoboard-bridge)" 'slurm 700'

# ---- a journal for each board ----

printf 'name = "site2"\njournal-dir = "/var/log/beoboard/site2"\n' >$etc/journal-site2.toml
for name in default site2; do
  starts journal@$name
  check "journal@$name writes" until_so sh -c "ls /var/log/beoboard/$name/events-*.jsonl"
  is "journal@$name is a user of its own" "$(stat -c %U "/proc/$(of beoboard-journal@$name.service MainPID)")" beoboard-journal
done
systemctl stop beoboard-journal@site2.service
check 'the end of one leaves the others their files' test -e /run/beoboard-journal/default.json
systemctl stop beoboard-receive.service
sleep 3
is 'it goes on without a receiver' "$(of beoboard-journal@default.service ActiveState) $(of beoboard-journal@default.service NRestarts)" 'active 0'
systemctl start beoboard-receive.service beoboard-journal@site2.service

# ---- another board that is a mirror of this one ----

printf 'listen: "127.0.0.1:4222"\nping_interval: "1s"\nping_max: 2\n' >/root/nats.conf
systemctl stop nats-server.service 2>/dev/null
systemd-run --quiet --unit trial-nats nats-server -c /root/nats.conf
until_so sh -c "ss -Htln 'sport = 4222' | grep -q ."
beoboard keygen --relay $etc/relay.key >/dev/null
cat >$etc/relay.toml <<'END'
nats = ["nats://127.0.0.1:4222"]
site = "home"
master = "m1"
key-file = "/etc/beoboard/relay.key"
END
cat >$etc/mirror.toml <<'END'
board = "/dev/shm/beoboard/mirror"
nats = ["nats://127.0.0.1:4222"]
site = "home"
cluster = "alpha"
trust = ["m1=/etc/beoboard/relay.key.pub"]
END
starts relay
starts mirror
check 'the node is live on the mirror' until_so beoboard check --board /dev/shm/beoboard/mirror --nodes "$self" --fail closed

# ---- the sender on Node.js, which replaces the other ----

starts send-nodejs
is 'either ends the other' "$(of beoboard-send.service ActiveState)" inactive
until_so heard "$self"
check 'the node is live by the sender on Node.js' heard "$self"
starts send
for unit in slurm send relay; do
  is "beoboard-$unit is a user of its own" "$(stat -c %U "/proc/$(of beoboard-$unit.service MainPID)")" "beoboard-$unit"
  check "beoboard-$unit cannot write the board" sh -c "systemctl show -P ReadOnlyPaths beoboard-$unit.service | grep -x /dev/shm"
done
is 'and the other way round' "$(of beoboard-send-nodejs.service ActiveState)" inactive

# ---- the end ----

all='journal@default journal@site2 ganglia prometheus web supermon mon gpu slurm bridge relay mirror send receive'
for name in $all; do
  check "beoboard-$name stops" systemctl stop "beoboard-$name.service"
  is "beoboard-$name ended in good order" "$(of "beoboard-$name.service" Result)" success
done
is 'the boards are there when nobody runs' "$(ls /dev/shm/beoboard | grep -c -x -e board -e mirror)" 2
