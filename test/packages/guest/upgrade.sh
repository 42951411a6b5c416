#!/bin/sh
# From version N, which is installed, to N+1 and back, in every order: masters before nodes, nodes before masters;
# meanwhile a sender of N and one of N+1 report side by side. A receiver of N+1 takes over the board that N left, and
# copies it, because its own has more in it; one of N does not know that, and begins a board anew.
# /root/now has the packages of N, /root/next those of N+1.
. /root/common.sh
self=$(hostname -s)

reports_here
: >/etc/beoboard/supermon.toml
systemctl enable --now beoboard-mon.service 2>/dev/null
systemctl restart beoboard-supermon.service
printf '# of this site\n' >>/etc/beoboard/receive.toml
# systemd does not bind the socket while its service runs.
systemctl stop beoboard-receive.service
systemctl enable --now beoboard-receive.socket 2>/dev/null
systemctl restart beoboard-receive.service beoboard-send.service
is 'systemd holds the port' "$(of beoboard-receive.socket ActiveState)" active
until_so heard "$self"
# Senders of both versions run at once, whichever is installed.
for version in now next; do
  dpkg-deb -x /root/$version/beoboard-send_*.deb /root/of-$version
  systemd-run --quiet --unit "of-$version" "/root/of-$version/usr/sbin/beoboard-send" --to 127.0.0.1 --name "of-$version"
done
everybody="$self,of-now,of-next"
until_so heard "$everybody"
tell "senders beside each other: $(/root/of-now/usr/sbin/beoboard-send --version) and $(/root/of-next/usr/sbin/beoboard-send --version)"
now=$(dpkg-query -W -f '${Version}' beoboard)
is 'the receiver and the sender are of N' "$(beoboard --version) $(beoboard-send --version)" "$now $now"

# load_begins; load_ends WHAT: all that it has sent is accepted.
load_begins() {
  beoboard load --to 127.0.0.1 --size 100 --prefix load --json >/tmp/load 2>/dev/null &
  load=$!
  until_so sh -c '[ "$(beoboard nodes --state live --count)" -gt 50 ]'
  count=$(board board.accepted)
}
load_ends() {
  kill -INT "$load"
  wait "$load"
  sent=$(node -p "JSON.parse(require('fs').readFileSync('/tmp/load', 'utf8')).reports")
  sleep 3
  tell "$1: 100 nodes sent $sent, accepted $(board "sum('reports', loaded)"), lost $(board "sum('lost', loaded)"), missed over restarts $(board "sum('unheard', loaded)")"
  is "$1: every report is accepted" "$(board "sum('reports', loaded)")" "$sent"
}

# step WHAT BOARD FOLDER PACKAGE…: the board is the `same` file as before, `copied`, or begun `anew`.
step() {
  stage=$1 kind=$2 folder=$3 file=$(inode)
  shift 3
  files=
  for package in "$@"; do files="$files /root/$folder/${package}_*.deb"; done
  check "$stage" sh -c "dpkg -i --force-downgrade --force-confold $files"
  until_so systemctl is-active beoboard-receive.service
  until_so systemctl is-active beoboard-send.service
  until_so heard "$everybody"
  check "$stage: nodes of both versions are live" heard "$everybody"
  case $kind in
  same) is "$stage: the board is the same" "$(inode)" "$file" ;;
  *) check "$stage: the board is another file" test "$(inode)" != "$file" ;;
  esac
  [ "$kind" = anew ] || check "$stage: its counters go on" test "$(board board.accepted)" -gt "$count"
  count=$(board board.accepted)
  is "$stage: no report is lost" "$(board "sum('lost')")" 0
  tell "$stage: receiver $(beoboard --version), sender $(beoboard-send --version), $count reports accepted, of the 100 nodes $(board "JSON.stringify({ accepted: sum('reports', loaded), unheard: sum('unheard', loaded), refused: board.refused, drops: board.kernel_drops })")"
}
# What is a package of its own in N+1 runs on.
supermon_runs() {
  for name in supermon mon; do
    is "$1: beoboard-$name runs, and will after a boot" "$(systemctl is-active beoboard-$name.service) $(systemctl is-enabled beoboard-$name.service)" 'active enabled'
  done
}

load_begins
step 'nodes before masters: the nodes' same next beoboard-common beoboard-send
step 'nodes before masters: the master' copied next beoboard beoboard-supermon
supermon_runs 'nodes before masters'
until_so systemctl is-active beoboard-journal@default.service
check 'a journal, which N does not have, is begun' systemctl is-active beoboard-journal@default.service
load_ends 'nodes before masters'
check 'what N does not have goes first' dpkg -r beoboard-supermon
step 'rollback of the master' anew now beoboard beoboard-mon
supermon_runs 'rollback of the master'
step 'rollback of the nodes' same now beoboard-send beoboard-common
load_begins
step 'masters before nodes: the master' copied next beoboard-common beoboard beoboard-supermon
supermon_runs 'masters before nodes'
step 'masters before nodes: the nodes' same next beoboard-send
load_ends 'masters before nodes'
check 'the configuration is that of this site' grep 'of this site' /etc/beoboard/receive.toml
