#!/usr/bin/env python3
"""Reads beoboard's board from its layout alone: with mmap and struct, and with numpy if it is installed.

    board.py [BOARD [NAME]]      a line per node: NAME STATE AGE_MS SEQ LOAD1; with NAME only for that node

All numbers below are from beoboard(5) = proto/board-v2.md and beoboard-stat(5) = proto/stat-v1.md. For Linux,
little-endian. Exit codes: 0; 1 no such node; 4 no board, or a stalled one.

What Python can guarantee while the receiver writes:
  - A word: memoryview.cast('Q') reads an aligned word by a copy of 8 bytes, which every compiler makes one load. So
    header, column and heads are read through such a view. (bytes and slices are copied by memcpy in any order and in
    pieces.)
  - A report: its head is loaded before the copy and its tail after it, and neither is taken from the copy itself,
    because memcpy may copy the end first. On x86-64 loads happen in program order, and the interpreter keeps that
    order.
  - Elsewhere (aarch64) one load may overtake another, and Python has no fence. C11's fence is called in libatomic,
    between two steps of the interpreter; without that library only the column is read. Or use libbeoboard:
    with_library.py.
"""

import ctypes
import mmap
import os
import platform
import pwd
import signal
import stat
import struct
import sys
import time

MAGIC = 0x4452414F424F4542  # the bytes BEOBOARD
STAT_HASH = 0xF0B4D862878E67AC  # the datagram's layout, BB_HASH_STAT_V1: a board with another hash has other reports
HEADER_BYTES = 1536  # the part that we know; a newer minor version may have more
STALLED_NS, AHEAD_NS = 3_000_000_000, 1_000_000_000
OTHERS = 31  # the link for all interfaces without an entry; 0: not known
ACQUIRE = 2  # memory_order_acquire

if platform.machine() == "x86_64":
    def fence():
        pass
else:
    try:
        _fence = ctypes.CDLL("libatomic.so.1").atomic_thread_fence
    except (OSError, AttributeError):
        _fence = None

    def fence():
        if _fence is None:
            sys.exit("board.py: this processor needs libatomic.so.1 to read reports; use with_library.py")
        _fence(ACQUIRE)


class NoBoard(Exception):
    pass


class Board:
    def __init__(self, path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise NoBoard(error.strerror)
        try:
            st = os.fstat(fd)
            if not stat.S_ISREG(st.st_mode):
                raise NoBoard("not a regular file")
            if not trusted(st.st_uid):
                raise NoBoard(f"belongs to user {st.st_uid}, who is not trusted")
            if st.st_size < HEADER_BYTES:
                raise NoBoard("not finished")
            self.map = mmap.mmap(fd, st.st_size // 8 * 8, prot=mmap.PROT_READ)
        finally:
            os.close(fd)
        self.words = memoryview(self.map).cast("Q")
        if self.words[1] & 0xFFFFFFFF == 0:  # the version is stored last
            raise NoBoard("not finished")
        fence()
        (magic, version, header_bytes, stat_hash, _, file_bytes, self.capacity, self.index_slots, self.index, self.column, self.records,
         self.index_stride, self.column_stride, self.record_stride, self.slots_offset, self.slot_stride, self.report_offset,
         report_bytes, slots, self.seed) = struct.unpack_from("<QIIQQQIIQQQIIIIIIIIQ", self.map[:112])
        if magic != MAGIC or version >> 16 != 2 or stat_hash != STAT_HASH:
            raise NoBoard("not a board, or one of another version")
        # Offsets and strides are taken from the header, because other versions may have others; none may lead out of
        # the file.
        parts = [(self.index, self.index_slots, self.index_stride), (self.column, self.capacity, self.column_stride),
                 (self.records, self.capacity, self.record_stride)]
        if (file_bytes > st.st_size or header_bytes < HEADER_BYTES or slots != 2 or report_bytes != 1216 or self.report_offset != 32 or self.slot_stride < 1280
                or self.slots_offset < 384 or self.record_stride < self.slots_offset + 2 * self.slot_stride
                or self.index_slots < 2 * self.capacity or self.index_slots & (self.index_slots - 1)
                or any(n % 8 for n in (self.slots_offset, self.slot_stride, *(x for a, _, s in parts for x in (a, s))))
                or any(a < header_bytes or s < 8 or a + n * s > file_bytes for a, n, s in parts)):
            raise NoBoard("its parts lead out of the file")

    def word(self, offset):
        return self.words[offset // 8]

    def count(self):
        return min(self.word(312), self.capacity)

    def look(self):
        """Loads the evidence. The order matters: first the clock, then the heartbeat (acquire), then for each link its
        heartbeat (acquire) and since when it has listened; and only then the column or the slots, so that these have
        all reports from before the link's heartbeat."""
        for _ in range(2):  # far ahead of our clock: perhaps we slept between the two loads, so try once more
            self.now = time.monotonic_ns()
            self.heartbeat = self.word(320)
            fence()
            if self.heartbeat - self.now <= AHEAD_NS:
                break
        used = self.word(352)
        # A number without an entry has no evidence, whatever the file has there: no node is silent by it.
        self.links = [(0, 0)] * 32
        for link in range(1, 32):
            if link <= used or link == OTHERS:
                heartbeat = self.word(1024 + 16 * link)
                fence()
                self.links[link] = heartbeat, self.word(1024 + 16 * link + 8)
        self.uncertain_after, self.silent_after, state = self.word(288), self.word(296), self.word(304)
        longest = self.word(376)  # a longer interval counts as this one, which is a minute at least; 0: there is none
        self.longest = max(longest, 60_000) if longest else 0xFFFFF
        self.stalled = not -AHEAD_NS <= self.now - self.heartbeat <= STALLED_NS
        self.retired = bool(state & 2)  # another board has replaced this one: open the path again

    def judge(self, stamp, interval_ms, goodbye, link):
        if self.stalled or self.retired:
            return "unknown"
        if stamp is None:
            return "never"
        if goodbye:
            return "left"
        if stamp - self.now > AHEAD_NS:
            return "uncertain"
        longer = max(min(interval_ms, self.longest), 1000)
        if self.now - stamp <= self.uncertain_after * longer // 1000:
            return "live"
        # Silence is judged by the evidence of its own link: up to that link's heartbeat, not to now, and only since it
        # listens.
        heartbeat, since = self.links[link] if link < 32 else (0, 0)
        return "silent" if heartbeat - max(stamp, since) > self.silent_after * longer // 1000 else "uncertain"

    def state(self, i):
        """One word is enough for the state: ms << 26 | link << 21 | interval in ms << 1 | goodbye."""
        word = self.word(self.column + i * self.column_stride)
        return self.judge((word >> 26) * 1_000_000 if word else None, word >> 1 & 0xFFFFF, word & 1, word >> 21 & 31)

    def live(self):
        """The number of live nodes; with numpy this takes a millisecond for 100,000 nodes."""
        try:
            import numpy
        except ImportError:
            return sum(self.state(i) == "live" for i in range(self.count()))
        if self.stalled or self.retired:
            return 0
        all_words = numpy.frombuffer(self.map, "<u8", len(self.words))
        column = all_words[self.column // 8:][: self.count() * self.column_stride // 8: self.column_stride // 8].copy()
        age = self.now - (column >> numpy.uint64(26)).astype("i8") * 1_000_000
        interval = (column >> numpy.uint64(1) & numpy.uint64(0xFFFFF)).astype("i8")
        limit = self.uncertain_after * numpy.clip(interval, 1000, self.longest) // 1000
        return int(((column != 0) & (column & numpy.uint64(1) == 0) & (age >= -AHEAD_NS) & (age <= limit)).sum())

    def name(self, i):
        at = self.records + i * self.record_stride
        return self.map[at:at + 64].split(b"\0", 1)[0].decode("utf-8", "replace")

    def find(self, name):
        """The record of a name: FNV-1a, linear probing."""
        h = 0xCBF29CE484222325 ^ self.seed
        for byte in name.encode():
            h = (h ^ byte) * 0x100000001B3 % 2**64
        h ^= h >> 32
        for i in range(self.count() + 2):  # bounded, because a corrupt index may have no end
            entry = self.word(self.index + ((h + i) & (self.index_slots - 1)) * self.index_stride)
            fence()
            if entry == 0:
                return None
            record = (entry & 0xFFFFFFFF) - 1
            if entry >> 32 == h >> 32 and record < self.count() and self.name(record) == name:
                return record
        return None

    def newest(self, i):
        """A node's newest complete report: (link, stamp in ns, bytes); None if there is none."""
        slots = [self.records + i * self.record_stride + self.slots_offset + k * self.slot_stride for k in (0, 1)]
        for _ in range(64):
            heads = [self.word(at) for at in slots]
            # If a head is odd, its slot is being written, and the other slot, whose head is loaded again, is the
            # newest. Otherwise the newest is the slot with the higher head.
            k = 1 if heads[0] & 1 else 0 if heads[1] & 1 else int(heads[1] > heads[0])
            head = self.word(slots[k])
            if head == 0:
                return None
            fence()
            copy = self.map[slots[k]:slots[k] + 1248]
            fence()
            if head & 1 == 0 and self.word(slots[k] + 1248) == head:
                stamp, _, link = struct.unpack_from("<QQQ", copy, 8)
                return link, stamp, copy[self.report_offset:self.report_offset + 1216]
        raise NoBoard("a record was overwritten again and again")


def trusted(uid):
    users = {0, os.geteuid()}
    for name in ("beoboard", os.environ.get("BEOBOARD_OWNER", "")):
        try:
            users.add(int(name) if name.isdigit() else pwd.getpwnam(name).pw_uid)
        except KeyError:
            pass
    return uid in users


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else "/dev/shm/beoboard/board"
    try:
        board = Board(path)
        board.look()
        nodes = range(board.count()) if len(sys.argv) < 3 else [board.find(sys.argv[2])]
        if nodes == [None]:
            return 1
        for i in nodes:
            found = board.newest(i)
            if found is None:
                print(board.name(i), board.judge(None, 0, False, 0), "-", "-", "-")
                continue
            link, stamp, report = found
            # offset 24 seq, 28 interval_ms, 48 valid, 56 flags, 72 load1_c
            seq, interval = struct.unpack_from("<II", report, 24)
            valid, flags = struct.unpack_from("<QI", report, 48)
            load = struct.unpack_from("<I", report, 72)[0] / 100 if valid >> 2 & 1 else None  # set load: bit 2
            state = board.judge(stamp, interval, flags >> 1 & 1, link)
            print(board.name(i), state, max(0, board.now - stamp) // 1_000_000, seq, "-" if load is None else f"{load:.2f}")
        if len(sys.argv) < 3:
            print(f"{board.live()} of {len(nodes)} live{', the receiver is stalled' if board.stalled else ''}", file=sys.stderr)
    except NoBoard as error:
        print(f"board.py: {path}: {error}", file=sys.stderr)
        return 4
    return 4 if board.stalled or board.retired else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader of our output may leave early, as head does
    sys.exit(main())
