#!/usr/bin/env python3
"""Reads in Python what the bench `readers` asks for by lines, as often as there is time for.

    reader.py module BOARD      by the module beoboard; of the reports it takes ten columns
    reader.py xml PORT          gmond's XML on a port of this machine: one document, parsed by expat
    reader.py http PORT         /metrics of a node_exporter there: one connection that is kept

Takes scan, one or whole (the last two kinds: whole alone) and answers with a line of JSON: the median and the least, ns.
"""

import http.client
import json
import os
import socket
import sys
import time
import xml.parsers.expat

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python"))

CALLS = 500
ENOUGH_NS = 50_000_000
TEN = (
    "load1_c", "cpu_busy_pm", "cpus_online", "mem_total_mib", "mem_avail_mib", "swap_free_mib", "root_avail_mib",
    "health", "ctxt", "disk_read_bytes",
)


def must(holds, what):
    if not holds:
        sys.exit(f"reader.py: {what}")


def timed(calls, work):
    """Of as many rounds as there is time for, ns a call: the median, and the least."""
    rounds = []
    began = time.monotonic_ns()
    while len(rounds) < 3 or (len(rounds) < 1000 and time.monotonic_ns() - began < ENOUGH_NS):
        before = time.monotonic_ns()
        work()
        rounds.append((time.monotonic_ns() - before) / calls)
    return {"ns": sorted(rounds)[len(rounds) // 2], "least": min(rounds)}


def module(path):
    import beoboard

    board = beoboard.open(path)
    names = board.names()
    count = len(names)
    live = [beoboard.State.LIVE] * count

    def scan():
        must(board.states() == live, "not all nodes are live")

    def one():
        for i in range(CALLS):
            must(board.node(names[i * 7919 % count]).load1 == 1.5, "a node was not read")

    def whole():
        must(len(board.columns(*TEN)[0]) == count, "a node was not read")

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
    kinds = {"module": module, "xml": xml_port, "http": http_port}
    nodes, works = kinds[sys.argv[1]](sys.argv[2])
    print(json.dumps({"nodes": nodes}), flush=True)
    for line in sys.stdin:
        print(json.dumps(timed(*works[line.strip()])), flush=True)


main()
