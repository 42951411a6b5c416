#!/usr/bin/env python3
"""Reads in Python what the bench `readers` asks for by lines, as often as there is time for.

    reader.py library BOARD     by libbeoboard and ctypes, as examples/python/with_library.py
    reader.py alone BOARD       by the layout alone, as examples/python/board.py
    reader.py xml PORT          gmond's XML on a port of this machine: one document, parsed by expat
    reader.py http PORT         /metrics of a node_exporter there: one connection that is kept

Takes scan, one or whole (the last two: whole alone) and answers with a line of JSON: the median, ns.
"""

import ctypes
import http.client
import json
import os
import socket
import sys
import time
import xml.parsers.expat

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../examples/python"))

CALLS = 500
ENOUGH_NS = 50_000_000


def must(holds, what):
    if not holds:
        sys.exit(f"reader.py: {what}")


def median(calls, work):
    """Of as many rounds as there is time for, ns a call."""
    rounds = []
    began = time.monotonic_ns()
    while len(rounds) < 3 or (len(rounds) < 1000 and time.monotonic_ns() - began < ENOUGH_NS):
        before = time.monotonic_ns()
        work()
        rounds.append((time.monotonic_ns() - before) / calls)
    return sorted(rounds)[len(rounds) // 2]


def library(path):
    from with_library import Node, lib

    LIVE, SLOT_BYTES = 1, 1248
    lib.beoboard_state.argtypes = [ctypes.c_void_p, ctypes.c_int]
    lib.beoboard_index.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    lib.beoboard_name.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    lib.beoboard_read.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    lib.beoboard_reports.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    board = ctypes.c_void_p()
    must(lib.beoboard_open(ctypes.byref(board), path.encode(), 0) == 0, "there is no board")
    count = lib.beoboard_count(board)
    names = []
    for i in range(count):
        name = ctypes.create_string_buffer(64)
        lib.beoboard_name(board, i, name, 64)
        names.append(name.value)
    reports = ctypes.create_string_buffer(2 * SLOT_BYTES * count)
    node, size = Node(), ctypes.sizeof(Node)

    def scan():
        state = lib.beoboard_state
        must([state(board, i) for i in range(count)] == [LIVE] * count, "not all nodes are live")

    def one():
        for i in range(CALLS):
            index = lib.beoboard_index(board, names[i * 7919 % count])
            must(lib.beoboard_read(board, index, ctypes.byref(node), size) == 0 and node.load1 == 1.5, "a node was not read")

    def whole():
        at, read = ctypes.addressof(reports), lib.beoboard_reports
        for i in range(count):
            must(read(board, i, at, at + SLOT_BYTES, SLOT_BYTES) >= 1, "a node was not read")
            at += 2 * SLOT_BYTES

    return count, {"scan": (1, scan), "one": (CALLS, one), "whole": (1, whole)}


def alone(path):
    from board import Board

    board = Board(path)
    count = board.count()
    names = [board.name(i) for i in range(count)]

    def scan():
        board.look()
        must([board.state(i) for i in range(count)] == ["live"] * count, "not all nodes are live")

    def one():
        for i in range(CALLS):
            must(board.newest(board.find(names[i * 7919 % count])) is not None, "a node was not read")

    def whole():
        must(None not in [board.newest(i) for i in range(count)], "a node was not read")

    return count, {"scan": (1, scan), "one": (CALLS, one), "whole": (1, whole)}


def xml_port(port):
    """Of every host when it was heard last, of every metric its value: what a scheduler would keep."""

    def document():
        hosts, values = {}, {}

        def start(element, attributes):
            nonlocal values
            # NAME and VAL come first in what gmond writes, and attributes come as one list: no search, no dictionary.
            if element == "METRIC":
                values[attributes[1]] = attributes[3]
            elif element == "HOST":
                values = {}
                hosts[attributes[1]] = (attributes, values)

        parser = xml.parsers.expat.ParserCreate()
        parser.ordered_attributes = True
        parser.StartElementHandler = start
        with socket.create_connection(("127.0.0.1", int(port))) as connection:
            while piece := connection.recv(1 << 18):
                parser.Parse(piece)
        parser.Parse(b"", True)
        return hosts

    def whole():
        hosts = document()
        must(len(hosts) == count and all(len(values) > 20 for _, values in hosts.values()), "hosts or metrics are missing")

    count = len(document())
    return count, {"whole": (1, whole)}


def http_port(port):
    connection = http.client.HTTPConnection("127.0.0.1", int(port))

    def whole():
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().split(b"\n")
        values = {}
        for line in lines:
            if not line.startswith(b"#"):
                name, _, value = line.rpartition(b" ")
                values[name] = value
        must(b"node_load1" in values and len(values) > 100, "metrics are missing")

    return 1, {"whole": (1, whole)}


def main():
    kinds = {"library": library, "alone": alone, "xml": xml_port, "http": http_port}
    nodes, works = kinds[sys.argv[1]](sys.argv[2])
    print(json.dumps({"nodes": nodes}), flush=True)
    for line in sys.stdin:
        print(json.dumps({"ns": median(*works[line.strip()])}), flush=True)


main()
