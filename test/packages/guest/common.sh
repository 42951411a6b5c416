# Functions of the trials, which run in a virtual machine. They print a line `ok WHAT` or `not ok WHAT` for each check,
# and `# …` for figures.

tell() { printf '# %s\n' "$*"; }

# check WHAT COMMAND…: the command has to succeed; if it fails, its output is shown.
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

# until_so COMMAND…: repeats the command until it succeeds. After ten minutes of this slow machine that is reported, and
# the trial continues.
until_so() {
  waits=0
  until "$@" >/dev/null 2>&1; do
    waits=$((waits + 1))
    [ "$waits" -lt 1200 ] || { printf 'not ok waited in vain for: %s\n' "$*"; return 1; }
    sleep 0.5
  done
}

of() { systemctl show -P "$2" "$1"; }
board() { beoboard status --json --board /dev/shm/beoboard/board | node -e "
  const all = JSON.parse(require('fs').readFileSync(0, 'utf8')), { board, nodes } = all;
  const sum = (of, some = nodes) => some.reduce((total, node) => total + node[of], 0);
  const loaded = nodes.filter(node => node.name.startsWith('load'));
  console.log(eval(process.argv[1]));" "$1"; }
# Installs an option file with which the sender reports to this machine.
reports_here() {
  install -m 644 /usr/share/beoboard/send.toml /etc/beoboard/send.toml
  sed -i 's/^to = .*/to = ["127.0.0.1"]/' /etc/beoboard/send.toml
}
# asks JAVASCRIPT: exits with 0 if the expression, or its promise, gives true.
asks() { node -e "Promise.resolve($1).then(is => process.exit(is ? 0 : 1))"; }
inode() { stat -c %i /dev/shm/beoboard/board; }
heard() { beoboard check --nodes "$1" --fail closed; }
