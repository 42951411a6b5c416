/* Generated from proto/shorthelp.ts and a verb's options. Do not edit: change these and run `npm run generate`. */
#define CHECK_HELP \
  "Usage: beoboard-check [options]\n" \
  "\n" \
  "check whether nodes are well: beoboard check in C, for prologs, cron and loops\n" \
  "\n" \
  "Options:\n" \
  "  --nodes LIST          the nodes as a host list, node[001-128],login1, or @FILE\n" \
  "                        with a list on each line\n" \
  "  --fail WAY            open or closed: the answer if no state is known: no\n" \
  "                        board, a stalled one, a malformed list\n" \
  "  -w, --warning LIMIT   warn if more nodes than this are not live: 5, 2%, or the\n" \
  "                        larger of both, 2%,5 (default: 0)\n" \
  "  -c, --critical LIMIT  critical if more nodes than this are silent or left long\n" \
  "                        ago (default: 0)\n" \
  "  --health WHEN         on or off: whether unhealthy nodes count as down\n" \
  "                        (default: on)\n" \
  "  --ignore NAMES        problems to ignore: held, bad_health, root_readonly,\n" \
  "                        memory_errors, gpu_lost, gpu_errors, root_full,\n" \
  "                        scratch_full, health_warning, oom, hung_tasks,\n" \
  "                        throttled, ecc\n" \
  "  --recent NAMES        problems that warn also after they went, until their\n" \
  "                        quiet time is over; none: no problem does (default:\n" \
  "                        gpu_errors,hung_tasks,throttled)\n" \
  "  --journal-run DIR     where journals write their state (default:\n" \
  "                        /run/beoboard-journal)\n" \
  "  --board PATH          the board file (default: /dev/shm/beoboard/board)\n" \
  "  --owner USER          trust boards of this user too, by name or id (env:\n" \
  "                        BEOBOARD_OWNER)\n" \
  "  -h, --help            show this help\n" \
  "  -V, --version         show the version\n" \
  "\n" \
  "Its answers are those of beoboard check, which also says why no node has\n" \
  "reported, and warns when a scheduler's hosts are not on the board. For --where,\n" \
  "--setup, --slurm-dir and --config use it. Exit codes: 0 OK, 1 warning, 2\n" \
  "critical, 3 unknown, and wrong usage.\n" \
  "\n" \
  "Examples:\n" \
  "  beoboard-check --warning 0.1% --critical 1%,1\n" \
  "  beoboard-check --nodes \"$SLURM_JOB_NODELIST\" --fail open\n" \
  "  beoboard-check --ignore held,ecc\n" \
  "  beoboard-check --recent gpu_errors,oom\n"

#define NODES_HELP \
  "Usage: beoboard-nodes [options]\n" \
  "\n" \
  "print the names of nodes in given states: beoboard nodes in C, for prologs, cron\n" \
  "and loops\n" \
  "\n" \
  "Options:\n" \
  "  -s, --state STATES    nodes in these states: silent, unknown, uncertain,\n" \
  "                        never, left, live\n" \
  "  --for-at-least TIME   only nodes that have been in their state for so long, 1s\n" \
  "                        to 1000d\n" \
  "  --healthy             only live nodes without problems\n" \
  "  --with-problem NAMES  only nodes with one of these problems: held, bad_health,\n" \
  "                        root_readonly, memory_errors, gpu_lost, gpu_errors,\n" \
  "                        root_full, scratch_full, health_warning, oom,\n" \
  "                        hung_tasks, throttled, ecc\n" \
  "  --names FILE          names are a scheduler's: as on the board but for upper\n" \
  "                        case, or as in this file, NodeName boardname on each\n" \
  "                        line\n" \
  "  -w, --nodes LIST      the nodes as a host list, node[001-128],login1, or @FILE\n" \
  "                        with a list on each line\n" \
  "  -f, --fold            one host list, as in node[001-128],login1\n" \
  "  -e, --expand          one name per line\n" \
  "  -c, --count           only the number of names\n" \
  "  --with-state          one name per line, with the state of its node behind it\n" \
  "  --board PATH          the board file (default: /dev/shm/beoboard/board)\n" \
  "  --owner USER          trust boards of this user too, by name or id (env:\n" \
  "                        BEOBOARD_OWNER)\n" \
  "  -h, --help            show this help\n" \
  "  -V, --version         show the version\n" \
  "\n" \
  "Its answers are identical to those of beoboard nodes. For --where, --job-id,\n" \
  "--user, --for, --slurm-dir and --config use that. Exit codes: 0 done, 1 a name\n" \
  "is not on the board, 2 usage, 4 no board, or a stalled one: then nothing is\n" \
  "known about any node.\n" \
  "\n" \
  "Examples:\n" \
  "  beoboard-nodes --state live\n" \
  "  x=$(beoboard-nodes --state silent,uncertain) && sbatch --exclude=\"$x\" job.sh\n" \
  "  beoboard-nodes --state silent --for-at-least 5m\n" \
  "  beoboard-nodes --healthy --nodes rack17n[01-48] --count\n" \
  "  beoboard-nodes --with-problem root_full,scratch_full\n" \
  "  beoboard-nodes --with-state --names /etc/beoboard/slurm-names --nodes CN-7,Node008\n"
