# What the trials share that run in a virtual machine: what holds is told line by line, as `ok WHAT` or `not ok WHAT`, figures as `# …`.

tell() { printf '# %s\n' "$*"; }

# check WHAT COMMAND…: the command has to succeed; what it said is told where it does not.
check() {
  what=$1
  shift
  if said=$("$@" 2>&1); then
    printf 'ok %s\n' "$what"
  else
    printf 'not ok %s: %s\n' "$what" "$(printf '%s' "$said" | tail -n 20 | tr '\n' ' ')"
  fi
}
same() { [ "$1" = "$2" ] || { printf '%s, not %s\n' "$1" "$2"; return 1; }; }
# is WHAT FOUND WANTED
is() { check "$1" same "$2" "$3"; }

# until COMMAND…: waits for what comes by itself; the machine's own time is limited by who started it.
until_so() { until "$@" >/dev/null 2>&1; do sleep 0.5; done; }

of() { systemctl show -P "$2" "$1"; }
board() { beoboard status --json --board /dev/shm/beoboard/board | node -e "
  const all = JSON.parse(require('fs').readFileSync(0, 'utf8')), { board, nodes } = all;
  const sum = (of, some = nodes) => some.reduce((total, node) => total + node[of], 0);
  const loaded = nodes.filter(node => node.name.startsWith('load'));
  console.log(eval(process.argv[1]));" "$1"; }
inode() { stat -c %i /dev/shm/beoboard/board; }
heard() { beoboard check --nodes "$1" --fail closed; }
