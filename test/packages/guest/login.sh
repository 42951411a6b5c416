#!/bin/sh
# A login node, booted with receiver and mirror enabled, and options of a mirror that name no board: the mirror has the
# board, and no receiver starts. /root/other.toml has options that name another one, as on a master: both run.
. /root/common.sh
etc=/etc/beoboard

until_so systemctl is-active beoboard-mirror.service
tell "at boot: receiver $(of beoboard-receive.service ActiveState), $(of beoboard-receive.service Result)"
apart() {
  is "$1: no receiver runs, or has failed" "$(of beoboard-receive.service ActiveState) $(of beoboard-receive.service NRestarts)" 'inactive 0'
  is "$1: the mirror runs" "$(of beoboard-mirror.service ActiveState) $(of beoboard-mirror.service NRestarts)" 'active 0'
  check "$1: the board is the mirror's" sh -c 'beoboard status --plain | grep "mirror of alpha"'
}
apart 'after the boot'
is 'both are enabled' "$(systemctl is-enabled beoboard-receive.service beoboard-mirror.service | tr '\n' ' ')" 'enabled enabled '
check 'the boot is without a failed unit' sh -c 'systemctl is-system-running --wait; test -z "$(systemctl --failed --quiet --plain)"'
check 'an order to start a receiver is no error' systemctl restart beoboard-receive.service
apart 'after that order'
dpkg -i /root/next/beoboard-common_*.deb /root/next/beoboard_*.deb >/dev/null 2>&1
until_so systemctl is-active beoboard-mirror.service
apart 'after an upgrade'

systemctl stop beoboard-mirror.service
rm /dev/shm/beoboard/board # a receiver takes no board of a mirror
mv $etc/mirror.toml /root/mirror.toml
cp /root/other.toml $etc/mirror.toml
systemctl restart beoboard-mirror.service beoboard-receive.service
is 'with a board of its own beside it both run' "$(systemctl is-active beoboard-mirror.service beoboard-receive.service | tr '\n' ' ')" 'active active '
check 'the receiver has its board' sh -c '! beoboard status --plain | grep mirror'
check 'the mirror the other' sh -c 'beoboard status --plain --board /dev/shm/beoboard/other | grep "mirror of alpha"'

# As docs/sites.md says, where the receiver has run until now.
mv /root/mirror.toml $etc/mirror.toml
systemctl stop beoboard-receive.service && rm /dev/shm/beoboard/board
systemctl restart beoboard-mirror.service
apart 'after a receiver'
