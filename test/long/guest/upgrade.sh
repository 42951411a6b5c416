#!/bin/sh
# From version N, which is installed, to N+1 and back, in every order: masters before nodes, nodes before masters, mixed; each takes over
# the board that the other left. /root/now has the packages of N, /root/next those of N+1.
. /root/common.sh
self=$(hostname -s)

install -m 644 /usr/share/beoboard/send.toml /etc/beoboard/send.toml
sed -i 's/^to = .*/to = ["127.0.0.1"]/' /etc/beoboard/send.toml
printf '# of this site\n' >>/etc/beoboard/receive.toml
systemctl enable --now beoboard-receive.socket 2>/dev/null
systemctl restart beoboard-receive.service beoboard-send.service
until_so heard "$self"
now=$(dpkg-query -W -f '${Version}' beoboard)
is 'the receiver and the sender are of N' "$(beoboard --version) $(beoboard-send --version)" "$now $now"
beoboard load --to 127.0.0.1 --size 100 --prefix load --json >/tmp/load &
load=$!
until_so sh -c '[ "$(beoboard nodes --state live --count)" -gt 2 ]'
mine=$(inode)
count=$(board board.accepted)

# step WHAT FOLDER PACKAGE…
step() {
  stage=$1 folder=$2
  shift 2
  files=
  for package in "$@"; do files="$files /root/$folder/${package}_*.deb"; done
  check "$stage" sh -c "dpkg -i --force-downgrade --force-confold $files"
  until_so systemctl is-active beoboard-receive.service
  until_so systemctl is-active beoboard-send.service
  until_so heard "$self"
  is "$stage: the board is the same" "$(inode)" "$mine"
  check "$stage: its counters go on" test "$(board board.accepted)" -gt "$count"
  count=$(board board.accepted)
  is "$stage: no report is lost" "$(board "sum('lost')")" 0
  tell "$stage: receiver $(beoboard --version), sender $(beoboard-send --version), $count reports accepted"
}
step 'nodes before masters: the nodes' next beoboard-common beoboard-send
step 'nodes before masters: the master' next beoboard
step 'rollback of the master' now beoboard
step 'rollback of the nodes' now beoboard-send beoboard-common
step 'masters before nodes: the master' next beoboard-common beoboard
step 'masters before nodes: the nodes' next beoboard-send
check 'the configuration is that of this site' grep 'of this site' /etc/beoboard/receive.toml
kill -INT "$load"
wait "$load"
sent=$(node -p "JSON.parse(require('fs').readFileSync('/tmp/load', 'utf8')).reports")
sleep 3
tell "100 nodes meanwhile: sent $sent, accepted $(board "sum('reports', loaded)"), lost $(board "sum('lost', loaded)")"
is 'every report of all that time is accepted' "$(board "sum('reports', loaded)")" "$sent"
