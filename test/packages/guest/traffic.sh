#!/bin/sh
# The packages under a systemd that is process 1: reports while the receiver is restarted and upgraded; removal, purge.
. /root/common.sh

until_so systemctl is-active beoboard-receive.service
until_so inode
mine=$(inode)

# ---- no report is lost while the socket unit holds the port ----

systemctl stop beoboard-receive.service
systemctl enable --now beoboard-receive.socket 2>/dev/null
systemctl start beoboard-receive.service
socket=$(of beoboard-receive.socket InvocationID)
is 'systemd holds the port' "$(of beoboard-receive.socket ActiveState)" active
began=$(date +%s)
beoboard load --to 127.0.0.1 --size "$NODES" --prefix load --json >/tmp/load 2>/dev/null &
load=$!
cpu() { awk '/^cpu / { print $2 + $3 + $4 + $6 + $7 + $8 + $9, $5 }' /proc/stat; }
until_so sh -c '[ "$(beoboard nodes --state live --count)" -gt 2 ]'
set -- $(cpu)
sleep 8
set -- "$@" $(cpu)
tell "CPU with $NODES nodes at one report a second each: $(awk "BEGIN { printf \"%.0f\", 100 * ($3 - $1) / ($3 - $1 + $4 - $2) }") % of both processors"
systemctl restart beoboard-receive.service
dpkg -i /root/next/beoboard-common_*.deb /root/next/beoboard_*.deb >/dev/null 2>&1
until_so systemctl is-active beoboard-receive.service
until_so sh -c '[ "$(beoboard nodes --state live --count)" -gt 2 ]'
is 'an upgrade never stops the socket' "$(of beoboard-receive.socket InvocationID)" "$socket"
missed="sum('lost', loaded) + sum('unheard', loaded)"
is 'over a restart and an upgrade none is missed' "$(board "$missed")" 0
# A receiver that is killed may have read reports that are not on the board yet.
kill -KILL "$(of beoboard-receive.service MainPID)"
until_so sh -c '[ "$(systemctl show -P NRestarts beoboard-receive.service)" -ge 1 ]'
until_so systemctl is-active beoboard-receive.service
sleep 5
kill -INT "$load"
wait "$load"
sent=$(node -p "JSON.parse(require('fs').readFileSync('/tmp/load', 'utf8')).reports")
until_so sh -c ". /root/common.sh; same \"\$(board \"sum('reports', loaded) + $missed\")\" $sent"
accepted=$(board "sum('reports', loaded)")
tell "over a restart, an upgrade and kill -9: sent $sent, accepted $accepted, refused $(board "JSON.stringify(board.refused)"), in $(($(date +%s) - began)) s"
tell "kill -9 took $((sent - accepted)) with it"
is 'every other report that was sent is accepted' "$((accepted + $(board "$missed")))" "$sent"
check 'kill -9 takes no more than one of each node' test "$((sent - accepted))" -le "$NODES"
is 'the board is the same' "$(inode)" "$mine"

# ---- the end ----

cp /etc/beoboard/receive.toml /tmp/receive.toml
apt-get remove -qq -y beoboard >/dev/null 2>&1
is 'nothing runs when it is removed' "$(systemctl list-units --plain --no-legend 'beoboard-receive*' 'beoboard-journal*' 'beoboard-prometheus*' | wc -l)" 0
check 'configuration survives the removal' cmp /tmp/receive.toml /etc/beoboard/receive.toml
dpkg -i /root/next/beoboard_*.deb >/dev/null 2>&1
until_so systemctl is-active beoboard-receive.service
check 'it runs again when it is installed again, by that configuration' cmp /tmp/receive.toml /etc/beoboard/receive.toml
apt-get purge -qq -y 'beoboard*' >/dev/null 2>&1
is 'a purge leaves nothing' "$(ls -d /etc/beoboard /usr/lib/beoboard /dev/shm/beoboard /run/beoboard /var/log/beoboard /etc/systemd/system/*/beoboard* /usr/lib/systemd/system/beoboard* 2>/dev/null)" ''
is 'but the users' "$(getent passwd beoboard beoboard-journal beoboard-relay beoboard-send beoboard-slurm | cut -d: -f1 | tr '\n' ' ')" 'beoboard beoboard-journal beoboard-relay beoboard-send beoboard-slurm '
