#!/bin/sh
# examples/ansible, run by the system's own Ansible, with this machine as master and node. None of our packages is
# installed at the beginning.
. /root/common.sh
self=$(hostname -s)
cat >/root/inventory.ini <<END
[master]
master ansible_connection=local
[nodes]
$self ansible_connection=local
[all:vars]
cluster=alpha
listen=127.0.0.1
to=127.0.0.1
prometheus=127.0.0.1
END
export ANSIBLE_NOCOLOR=1 ANSIBLE_PYTHON_INTERPRETER=/usr/bin/python3
apt-get purge -qq -y 'beoboard*' >/dev/null 2>&1
check 'nothing is installed' sh -c '! dpkg-query -W "beoboard*" | grep .'
play() {
  ansible-playbook -i /root/inventory.ini -e packages=/root/next /root/ansible/site.yml "$@" >/tmp/play 2>&1
  ended=$?
  tee -a /tmp/told </tmp/play
  return $ended
}
unchanged() { play "$@" && grep -q 'changed=' /tmp/play && ! grep -q 'changed=[1-9]' /tmp/play; }
check 'the playbook makes the cluster' play
check 'the node is live, by its own key' heard "$self"
is 'what it proved is told' "$(board "board.refused.unsigned || 0") $(beoboard status --json | node -p "JSON.parse(require('fs').readFileSync(0, 'utf8')).board.cluster")" '0 alpha'
check 'Prometheus is served' node -e "fetch('http://127.0.0.1:9678/metrics').then(r => r.text()).then(text => process.exit(text.includes('beoboard_node_state') ? 0 : 1))"
is 'keys are for their readers alone' "$(stat -c '%U %a' /etc/beoboard/cluster.key /etc/beoboard/send.key | tr '\n' ' ')" 'beoboard 600 beoboard-send 600 '
check 'a second run changes nothing' unchanged
check 'nor does a dry run' unchanged --check --diff
check 'no key is told' sh -c 'keys=$(grep -hoE "[0-9a-f]{32,}" /etc/beoboard/*.key) && for key in $keys; do ! grep -q "$key" /tmp/told || exit 1; done'
