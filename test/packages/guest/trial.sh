#!/bin/sh
# Runs a trial once, prints that it has ended, and switches the machine off.
. /root/environment
sh /root/trial.sh
echo done
sync
systemctl poweroff
