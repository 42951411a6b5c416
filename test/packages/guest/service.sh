#!/bin/sh
# The packages under a systemd that is process 1: checks everything that the units promise.
. /root/common.sh
self=$(hostname -s)

# ---- as it was installed and booted, with nothing configured ----

check 'the machine is up without a failed unit' sh -c 'systemctl is-system-running --wait; test -z "$(systemctl --failed --quiet --plain)"'
until_so systemctl is-active beoboard-receive.service
is 'the receiver runs after the first boot' "$(of beoboard-receive.service ActiveState)" active
is 'its socket unit is not enabled' "$(systemctl is-enabled beoboard-receive.socket)" disabled
for unit in send ganglia prometheus slurm supermon web; do
  is "$unit does not run without its file" "$(of beoboard-$unit.service ActiveState) $(of beoboard-$unit.service ConditionResult)" 'inactive no'
done
until_so systemctl is-active beoboard-journal@default.service
is 'the journal runs, too' "$(of beoboard-journal@default.service ActiveState) $(of beoboard-journal@default.service NRestarts)" 'active 0'
is 'its folders are its own, for all to read' "$(stat -c '%U:%G %a' /var/log/beoboard/default /run/beoboard-journal | tr '\n' ' ')" 'beoboard-journal:beoboard-jobs 755 beoboard-journal:beoboard-jobs 755 '
is 'it listens on this machine alone' "$(ss -Hulnp 'sport = 8677' | awk '{print $4}')" 127.0.0.1:8677
is 'the board folder is of its user' "$(stat -c '%U:%G %a' /dev/shm/beoboard)" 'beoboard:beoboard 755'
is 'the folder of files for senders is of root' "$(stat -c '%U:%G %a' /run/beoboard)" 'root:root 755'
is 'the configuration is of root' "$(stat -c '%U:%G %a' /etc/beoboard /etc/beoboard/receive.toml | tr '\n' ' ')" 'root:root 755 root:root 644 '
is 'the user cannot log in' "$(getent passwd beoboard | cut -d: -f6-7)" /:/usr/sbin/nologin
is 'the kernel gives it the buffer' "$(cat /proc/sys/net/core/rmem_max)" 67108864
check 'its line of status tells where it listens' sh -c 'systemctl show -P StatusText beoboard-receive.service | grep "127.0.0.1:8677"'

for file in /usr/lib/systemd/system/beoboard-*.service; do
  unit=$(basename "$file" | sed 's/@\./@default./')
  figure=$(systemd-analyze security --no-pager "$unit" | sed -n 's/.*Overall exposure level.*: \([0-9.]*\) .*/\1/p')
  tell "exposure of $unit: $figure"
  # On a master the senders have no private users: see packaging/dropins/master.conf.
  case $unit in beoboard-send*) most=1.8 ;; *) most=1.6 ;; esac
  check "$unit is exposed by $most at most" awk "BEGIN { exit !($figure > 0 && $figure <= $most) }"
done

# ---- a node ----

reports_here
check 'the sender starts as soon as there is its file' systemctl restart beoboard-send.service
until_so heard "$self"
check 'the node is live' heard "$self"
check 'its line of status tells the interval' sh -c 'systemctl show -P StatusText beoboard-send.service | grep 1.0s'
printf 'interval 2s for 1h\n' >/run/beoboard/pace
until_so sh -c 'systemctl show -P StatusText beoboard-send.service | grep 2.0s'
check 'it goes by the pace file' true
rm /run/beoboard/pace

# ---- the board outlives whoever ends ----

mine=$(inode)
count=$(board board.accepted)
survives() {
  is "the board is the same after $1" "$(inode)" "$mine"
  check "its counters go on after $1" test "$(board board.accepted)" -ge "$count"
  count=$(board board.accepted)
}
check 'it restarts' systemctl restart beoboard-receive.service
survives 'a restart'
kill -KILL "$(of beoboard-receive.service MainPID)"
until_so sh -c '[ "$(systemctl show -P NRestarts beoboard-receive.service)" -ge 1 ]'
until_so systemctl is-active beoboard-receive.service
survives 'kill -9'
systemctl stop beoboard-send.service
survives "the sender's stop"
systemctl stop beoboard-receive.service
is 'the board is there when no unit of its user runs' "$(inode)" "$mine"
sleep 2 # systemd removes a user's files some time after the user's last unit
is 'and stays' "$(inode)" "$mine"
systemctl start beoboard-receive.service beoboard-send.service
survives 'a stop of all'
dpkg -i /root/next/beoboard-common_*.deb /root/next/beoboard_*.deb >/dev/null 2>&1
until_so systemctl is-active beoboard-receive.service
survives 'an installation over itself'
until_so heard "$self"
check 'the node is live after all that' heard "$self"

# ---- options are read again ----

printf 'capacity = 3000\n' >>/etc/beoboard/receive.toml
check 'the receiver is reloaded' systemctl reload beoboard-receive.service
until_so sh -c "beoboard status --json | grep -q '\"capacity\":3000'"
check 'a file that is changed is read at reload' true
mine=$(inode) # a board with another capacity is another file
count=$(board board.accepted)
sed -i 's/^#name = .*/name = "other"/' /etc/beoboard/send.toml
systemctl reload beoboard-send.service
until_so heard other
check 'the sender goes over to another name at reload' true
sed -i 's/^name = .*/#name = "node001"/' /etc/beoboard/send.toml
systemctl reload beoboard-send.service
until_so heard "$self"

# ---- the journal ----

check 'the journal has it as text' sh -c 'journalctl -u beoboard-receive.service -o cat | grep "ready: listening on 127.0.0.1:8677"'
mkdir -p /run/systemd/system/beoboard-receive.service.d
printf '[Service]\nEnvironment=BEOBOARD_LOG=json\n' >/run/systemd/system/beoboard-receive.service.d/json.conf
systemctl daemon-reload
systemctl restart beoboard-receive.service
check 'and as JSON where that is wanted' sh -c "journalctl -u beoboard-receive.service -o cat -n 20 | grep '^{' | node -e 'for (const line of require(\"fs\").readFileSync(0, \"utf8\").trim().split(\"\\n\")) JSON.parse(line).msg.length'"
rm -r /run/systemd/system/beoboard-receive.service.d
systemctl daemon-reload
systemctl restart beoboard-receive.service

# ---- the watchdog ----

before=$(of beoboard-receive.service NRestarts)
pid=$(of beoboard-receive.service MainPID)
kill -STOP "$pid"
until_so sh -c "[ \"\$(systemctl show -P MainPID beoboard-receive.service)\" != $pid ] && systemctl is-active beoboard-receive.service"
check 'a receiver that hangs is killed by the watchdog' sh -c 'journalctl -u beoboard-receive.service -o cat | grep -i "watchdog timeout"'
check 'and started again' test "$(of beoboard-receive.service NRestarts)" -ge 1
survives 'the watchdog'

# ---- what keeps the board ----

# The same board under units without RemoveIPC=no, to show that this line keeps it.
for unit in receive send; do
  mkdir -p /run/systemd/system/beoboard-$unit.service.d
  printf '[Service]\nRemoveIPC=yes\n' >/run/systemd/system/beoboard-$unit.service.d/ipc.conf
done
systemctl daemon-reload
systemctl restart beoboard-receive.service beoboard-send.service
systemctl stop beoboard-send.service beoboard-receive.service
until_so test ! -e /dev/shm/beoboard/board
check 'with RemoveIPC=yes systemd takes the board away when the last unit of its user stops' test ! -e /dev/shm/beoboard/board
