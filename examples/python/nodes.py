#!/usr/bin/env python3
"""A line for each node, by the module beoboard: what a scheduler wants to know before it places work.

    nodes.py [BOARD [HOSTS]]     NAME STATE AGE_MS SEQ LOAD1, for the nodes of a host list, or for all

What was not measured is -. Exit codes: 0; 1 no such node; 4 no board, or a stalled one. From a clone it runs with
PYTHONPATH=python BEOBOARD_LIBRARY=build/libbeoboard.so.1, after `make -C c lib`.
"""

import signal
import sys

import beoboard


def main() -> int:
    path, hosts, *_ = [*sys.argv[1:], None, None]
    try:
        with beoboard.open(path) as board:
            nodes = board.nodes(hosts)
            for node in nodes:
                report = node.report
                age = "-" if node.age_ns is None else node.age_ns // 1_000_000
                load = "-" if report.load1_c is None else f"{report.load1_c / 100:.2f}"
                print(node.name, node.state, age, report.seq if report.number else "-", load)
    except (beoboard.NoSuchNode, beoboard.HostListError) as error:
        print(f"nodes.py: {error}", file=sys.stderr)
        return 1
    except beoboard.Error as error:
        print(f"nodes.py: {error}", file=sys.stderr)
        return 4
    return 4 if any(node.state is beoboard.State.UNKNOWN for node in nodes) else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader of our output may leave early, as head does
    sys.exit(main())
