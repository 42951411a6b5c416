"""Answers ClusterShell's questions about groups: states and problems by beoboard-nodes, jobs and users by beoboard.

The name of a group or node is the only line of stdin. Exit codes: 0, and else nothing is known.
"""

import json
import os
import re
import subprocess
import sys

STATES = ("silent", "unknown", "uncertain", "never", "left", "live")
# What `beoboard-nodes --with-problem` takes; a test keeps them equal.
PROBLEMS = (
    "held", "bad_health", "root_readonly", "memory_errors", "gpu_lost", "gpu_errors", "root_full", "scratch_full",
    "health_warning", "oom", "hung_tasks", "throttled", "ecc",
)
NO_BOARD = 4
BOARD = [f"--board={path}" for path in [os.environ.get("BEOBOARD_BOARD")] if path]


def said(*command, accepted=(0,)):
    """The output of a command, which says itself what is wrong."""
    try:
        done = subprocess.run([*command, *BOARD], stdout=subprocess.PIPE, universal_newlines=True, check=False)
    except FileNotFoundError:
        package = "beoboard-tools" if command[0] == "beoboard-nodes" else "beoboard"
        sys.exit(f"{command[0]} is missing; install the package {package}")
    if done.returncode not in accepted:
        sys.exit(done.returncode)
    return done.stdout


def elsewhere(names):
    """These nodes without one called localhost, which would be the machine that runs clush."""
    parts = re.findall(r"(?:\[[^\]]*\]|[^,\s\[])+", names)
    kept = [one for one in parts if not re.fullmatch(r"localhost(?:[46]|\[[46,-]+\])?(?:\..*)?", one)]
    if len(kept) < len(parts):
        print("beoboard: a node called localhost is left out", file=sys.stderr)
    return ",".join(kept)


def named():
    """The name on stdin. One that could mean something else to a shell is refused."""
    name = sys.stdin.read(1000).strip()
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._@+\[\]\\-]*", name):
        sys.exit("a name of letters, digits and . _ - @ + [ ] \\ is needed")
    return name


def jobs(*options):
    """The jobs on the nodes that these options name, or all; none where nothing is known of them, as without beoboard scheduler."""
    command = ("beoboard", "jobs", "--json", *options, *BOARD)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    except FileNotFoundError:
        return []
    return json.loads(done.stdout)["jobs"] if done.returncode == 0 else []


def groups_of(found):
    """The names of the groups of jobs, those that nodeset can list. It expands brackets: 77[3].pbs01 is job-77_3.pbs01.
    One '@' in the list, and it shows no group at all."""
    ids = [re.sub(r"^(\d+)\[(\d+)\]", r"\1_\2", job["id"]) for job in found]
    names = [f"job-{name}" for name in ids] + [f"user-{job['user']}" for job in found]
    return sorted({name for name in names if re.fullmatch(r"[A-Za-z0-9._+\\-]+", name)})


def mapped(name):
    """The nodes of a group."""
    kind, _, value = name.partition("-")
    if name in STATES:
        return said("beoboard-nodes", "--state", name)
    if name in PROBLEMS:
        return said("beoboard-nodes", "--with-problem", name)
    if kind in ("job", "user") and value:
        return said("beoboard", "nodes", f"--{'job-id' if kind == 'job' else kind}={value}")
    sys.exit(f"there is no group {name}; nodeset -ll -s bb lists all")


def of_node(node):
    """The groups of a node."""
    state = said("beoboard-nodes", "--nodes", node, "--with-state").split()[-1:]
    return state + [one for one in PROBLEMS if said("beoboard-nodes", "--nodes", node, "--with-problem", one)]


def check():
    """Those nodes on stdin that the board does not have, as `nodeset -e @compute` prints them: no group has them."""
    known = set(said("beoboard-nodes", "--expand", accepted=(0, NO_BOARD)).split())
    with open(0, encoding="utf-8-sig", errors="surrogateescape") as stdin:
        missing = [name for name in stdin.read().replace(",", " ").split() if name not in known]
    # In ASCII, in which nothing controls a terminal.
    shown = ["".join(one if " " <= one <= "~" else f"\\u{{{ord(one):x}}}" for one in name) for name in missing]
    print("".join(f"{name}\n" for name in shown), end="")
    sys.exit(1 if missing else 0)


def main():
    question = sys.argv[1]
    if question == "map":
        print(elsewhere(mapped(named())))
    elif question == "all":
        # Which nodes there are is known also from a board whose receiver does not run.
        print(elsewhere(said("beoboard-nodes", accepted=(0, NO_BOARD))))
    elif question == "check":
        check()
    elif question == "list":
        print(*STATES, *PROBLEMS, *groups_of(jobs()), sep="\n")
    else:
        node = named()
        print(*of_node(node), *groups_of(jobs(f"--nodes={node}")), sep="\n")


main()
