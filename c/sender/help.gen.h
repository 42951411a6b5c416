/* Generated from proto/shorthelp.ts and a verb's options. Do not edit: change these and run `npm run generate`. */
#define SEND_HELP \
  "Usage: beoboard-send [options]\n" \
  "\n" \
  "report the state of this machine, once per interval\n" \
  "\n" \
  "Options:\n" \
  "  --to ADDR[:PORT]       where to send reports: a name or address, [V6]:PORT,\n" \
  "                         default port 8677; - writes the datagram to stdout; may\n" \
  "                         be repeated\n" \
  "  --interface IF         the interface for multicasts, by name\n" \
  "  --ttl N                multicast TTL, 0 to 255; with 1 reports stay in the\n" \
  "                         local network (default: 1)\n" \
  "  --name NAME            the node's name (default: the host name up to its first\n" \
  "                         dot, in lower case)\n" \
  "  --cluster NAME         the cluster's name\n" \
  "  --key-file FILE        the key, in a file that only its owner can read\n" \
  "  --interval TIME        time between reports, 100ms to 600s (default: 1s)\n" \
  "  --pace-file PATH       a file in which root can set another interval for a\n" \
  "                         while: interval 10s for 1h\n" \
  "  --pace-min TIME        the shortest interval that this file may set (default:\n" \
  "                         250ms)\n" \
  "  --pace-max TIME        the longest interval that this file may set (default:\n" \
  "                         60s)\n" \
  "  --once                 send one report, flagged as the last, and exit\n" \
  "  --check                send for 6 s what no master takes, tell who objected,\n" \
  "                         and exit; is no report\n" \
  "  --aligned              send at the same wall-clock time as all nodes, instead\n" \
  "                         of spread over the interval\n" \
  "  --proc DIR             another /proc; given twice: for the tick before, then\n" \
  "                         for the report (default: /proc)\n" \
  "  --sys DIR              another /sys; given twice: for the tick before, then\n" \
  "                         for the report (default: /sys)\n" \
  "  --root DIR             where a container has the root of its machine, with its\n" \
  "                         /proc and /sys: reports the machine, not the container\n" \
  "  --scratch DIR          the local scratch file system whose space is reported;\n" \
  "                         never a network file system (default: /tmp)\n" \
  "  --health-max-age TIME  an older ok in the health file counts as a warning, 1s\n" \
  "                         to 1000d; default: never\n" \
  "  --pretend FILE         TOML with values that are not in /proc and /sys\n" \
  "                         (clocks, sequence number \342\200\246), to reproduce a report\n" \
  "                         exactly\n" \
  "  --user USER            switch to this user, by name or id, after opening what\n" \
  "                         needs another user\n" \
  "  --seccomp              block every system call that is not needed (seccomp)\n" \
  "  --config FILE          TOML with the same names; the command line takes\n" \
  "                         precedence\n" \
  "  -h, --help             show this help\n" \
  "  -V, --version          show the version\n" \
  "\n" \
  "SIGTERM and SIGINT stop it with a last report, flagged goodbye. A master that\n" \
  "cannot be reached is logged once and retried indefinitely. SIGHUP reads --config\n" \
  "again; destinations, name and interval can change without losing a report. An\n" \
  "interval of more than a second is reached in steps: it doubles when twelve\n" \
  "reports, over at least twelve seconds, have announced that; a shorter one holds\n" \
  "at once. When the name changes, the old one says goodbye. A pace file holds one\n" \
  "line, interval TIME for TIME. It is trusted if it belongs to root, beoboard or\n" \
  "the sender's user and nobody else can write it.\n" \
  "\n" \
  "Examples:\n" \
  "  beoboard-send --to master\n" \
  "  beoboard-send --to 10.0.0.1 --to 10.0.0.2:9000 --interval 5s --user nobody\n" \
  "  beoboard-send --to 239.255.86.77 --interface eth0\n" \
  "  beoboard-send --once --to - | xxd | head -4\n"
