#!/usr/bin/env python3
"""Reads the board through libbeoboard with ctypes. The library does all memory ordering, so this is correct everywhere.

    with_library.py [BOARD]      a line per node: NAME STATE AGE_MS LOAD1

BEOBOARD_LIBRARY is the path of the library if the linker does not find it. The struct is the beginning of that in
beoboard.h: the library gets its size, and writes no more. Exit codes: 0; 4 no board, or a stalled one.
"""

import ctypes
import os
import signal
import sys


class Node(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char * 64),
        ("age_ns", ctypes.c_int64),
        ("last_report_wall_ns", ctypes.c_int64),
        ("reports", ctypes.c_uint64),
        ("lost", ctypes.c_uint64),
        ("boot_id", ctypes.c_uint64),
        ("valid", ctypes.c_uint64),
        ("mem_total_kib", ctypes.c_uint64),
        ("mem_avail_kib", ctypes.c_uint64),
        ("refused", ctypes.c_uint32),
        ("skew_ms", ctypes.c_int32),
        ("state", ctypes.c_uint32),
        ("cpus", ctypes.c_uint32),
        ("load1", ctypes.c_float),
        ("cpu_busy", ctypes.c_float),
    ]


lib = ctypes.CDLL(os.environ.get("BEOBOARD_LIBRARY", "libbeoboard.so.1"))
lib.beoboard_strerror.restype = ctypes.c_char_p
lib.beoboard_state_name.restype = ctypes.c_char_p
lib.beoboard_open.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_uint32]
lib.beoboard_close.argtypes = [ctypes.c_void_p]
lib.beoboard_count.argtypes = [ctypes.c_void_p]
lib.beoboard_tally.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
lib.beoboard_read_all.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
UNKNOWN = 5


def main():
    board = ctypes.c_void_p()
    path = sys.argv[1].encode() if len(sys.argv) > 1 else None
    err = lib.beoboard_open(ctypes.byref(board), path, 0)
    if err < 0:
        print(f"with_library.py: {lib.beoboard_strerror(err).decode()}", file=sys.stderr)
        return 4
    nodes = (Node * lib.beoboard_count(board))()
    n = lib.beoboard_read_all(board, nodes, ctypes.sizeof(Node), 0, len(nodes))
    for node in nodes[:n]:
        print(node.name.decode(), lib.beoboard_state_name(node.state).decode(), node.age_ns // 1_000_000, f"{node.load1:.2f}")
    counts = (ctypes.c_int * 6)()
    lib.beoboard_tally(board, counts)
    lib.beoboard_close(board)
    return 4 if counts[UNKNOWN] > 0 else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader of our output may leave early, as head does
    sys.exit(main())
