#!/bin/sh
# A boot at which the network comes late: the address on which the receiver should listen, and to which the sender
# reports, does not exist yet.
. /root/common.sh
self=$(hostname -s)

until_so sh -c '[ "$(systemctl show -P NRestarts beoboard-receive.service)" -ge 1 ]'
check 'without its address the receiver is tried again' true
check 'and says what is missing' sh -c 'journalctl -b -u beoboard-receive.service -o cat | grep 10.9.9.9'
modprobe dummy
ip link add late type dummy
ip link set late up
ip address add 10.9.9.9/24 dev late
until_so systemctl is-active beoboard-receive.service
check 'with it the receiver runs' true
until_so heard "$self"
check 'and the node is heard, whose sender was started before' heard "$self"
for unit in receive send ganglia prometheus slurm supermon web relay bridge mirror; do
  check "beoboard-$unit ends before the network does" sh -c "systemctl show -P After beoboard-$unit.service | grep -w network.target"
done
for unit in ganglia prometheus slurm supermon web relay bridge; do
  check "beoboard-$unit comes after the receiver" sh -c "systemctl show -P After beoboard-$unit.service | grep -w beoboard-receive.service"
done
# When the sender is stopped, its goodbye reaches the receiver.
systemctl stop beoboard-send.service
until_so beoboard check --nodes "$self" --fail open
is 'a sender that is stopped has left' "$(beoboard nodes --state left)" "$self"
