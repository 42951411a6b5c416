# Generated from the documents in proto/. Do not edit: change these and run `npm run generate`.
"""What libbeoboard has: its functions, numbers, words and structures, as beoboard(3) says them."""

import ctypes
from typing import Any, Dict, List

from . import _record as field
from ._record import Bits, Record, Word, says

#: Of this module; the library has its own.
VERSION = "1.1.0"

API_VERSION = 1
NAME_MAX = 64
LINKS_MAX = 31
SENDERS_MAX = 256

#: Of each function its result, and its arguments; pointers to structures are addresses.
PROTOTYPES: Dict[str, List[Any]] = {
    "beoboard_open": [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32],
    "beoboard_open_owner": [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32],
    "beoboard_refresh": [ctypes.c_int, ctypes.c_void_p],
    "beoboard_close": [None, ctypes.c_void_p],
    "beoboard_receiver": [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t],
    "beoboard_links": [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int],
    "beoboard_count": [ctypes.c_int, ctypes.c_void_p],
    "beoboard_index": [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p],
    "beoboard_name": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t],
    "beoboard_state": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int],
    "beoboard_age": [ctypes.c_int64, ctypes.c_void_p, ctypes.c_int],
    "beoboard_check": [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p],
    "beoboard_tally": [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p],
    "beoboard_state_name": [ctypes.c_char_p, ctypes.c_int],
    "beoboard_read": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t],
    "beoboard_read_all": [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int],
    "beoboard_reason_name": [ctypes.c_char_p, ctypes.c_int],
    "beoboard_problems": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int],
    "beoboard_problem_name": [ctypes.c_char_p, ctypes.c_int],
    "beoboard_problem_text": [ctypes.c_char_p, ctypes.c_int],
    "beoboard_memory": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t],
    "beoboard_recent": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int],
    "beoboard_last_words_name": [ctypes.c_char_p, ctypes.c_int],
    "beoboard_last_words_text": [ctypes.c_char_p, ctypes.c_int],
    "beoboard_last_refusal": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t],
    "beoboard_senders": [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int],
    "beoboard_events": [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int],
    "beoboard_event_name": [ctypes.c_char_p, ctypes.c_int],
    "beoboard_reports": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t],
    "beoboard_rates": [ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t],
    "beoboard_rates_between": [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t],
    "beoboard_strerror": [ctypes.c_char_p, ctypes.c_int],
    "beoboard_version": [ctypes.c_uint32],
}


class State(Word):
    """What a node is, as far as the receiver has heard."""

    NEVER = 0, "in the node list, no report yet"
    LIVE = 1, "heard within uncertain_after"
    UNCERTAIN = 2, "place no new work, but do not drain"
    SILENT = 3, "not heard for silent_after, while the receiver listened"
    LEFT = 4, "said goodbye: shut down cleanly"
    UNKNOWN = 5, "the receiver is stalled: nothing is known about nodes"


@says(
    {
        0: "put on hold by its administrator",
        1: "its health check failed",
        2: "its root file system is read-only",
        3: "memory errors that were not corrected",
        4: "a GPU has fallen off the bus",
        5: "GPU errors",
        6: "its root file system is nearly full",
        7: "its scratch is nearly full",
        8: "its health check warns",
        9: "programs were killed, memory ran out",
        10: "tasks were stuck for over two minutes",
        11: "it is slowed down by heat or power supply",
        12: "memory errors that were corrected",
    }
)
class Problem(Bits):
    """What is wrong with a node, by its reports."""

    HELD = 1 << 0
    BAD_HEALTH = 1 << 1
    ROOT_READONLY = 1 << 2
    MEMORY_ERRORS = 1 << 3
    GPU_LOST = 1 << 4
    GPU_ERRORS = 1 << 5
    ROOT_FULL = 1 << 6
    SCRATCH_FULL = 1 << 7
    HEALTH_WARNING = 1 << 8
    OOM = 1 << 9
    HUNG_TASKS = 1 << 10
    THROTTLED = 1 << 11
    ECC = 1 << 12


@says(
    {
        0: "memory errors that were not corrected",
        1: "a fault of its kernel",
        2: "its root file system was read-only",
        3: "its root file system was nearly full",
        4: "hardly any memory was available",
        5: "programs were killed, memory ran out",
        6: "all its programs waited for memory",
        7: "all its programs waited for disks",
        8: "a network interface lost its carrier",
        9: "it was slowed down by heat or power supply",
        10: "its sender was late",
    }
)
class LastWords(Bits):
    """What a node said before it fell silent."""

    MEMORY_ERRORS = 1 << 0
    KERNEL_FAULT = 1 << 1
    ROOT_READONLY = 1 << 2
    ROOT_FULL = 1 << 3
    MEMORY_LOW = 1 << 4
    OOM = 1 << 5
    MEMORY_STALLED = 1 << 6
    IO_STALLED = 1 << 7
    NO_CARRIER = 1 << 8
    THROTTLED = 1 << 9
    LATE = 1 << 10


class Health(Word):
    """Values of health."""

    UNKNOWN = 0, ""
    OK = 1, ""
    WARNING = 2, ""
    BAD = 3, ""


class HealthSrc(Word):
    """Values of health_src."""

    NONE = 0, ""
    ADMIN = 1, ""
    CHECK = 2, "a node health check"


class Arch(Word):
    """Values of arch."""

    OTHER = 0, ""
    X86_64 = 1, ""
    AARCH64 = 2, ""
    PPC64LE = 3, ""
    RISCV64 = 4, ""
    S390X = 5, ""


class Virt(Word):
    """Values of virt."""

    METAL = 0, "or not known"
    VM = 1, "a virtual machine"
    CONTAINER = 2, ""


class PowerSrc(Word):
    """Values of power_src."""

    NONE = 0, ""
    HWMON = 1, ""
    BMC = 2, "the BMC file"


class GpuVendor(Word):
    """Values of gpu_vendor."""

    NONE = 0, ""
    NVIDIA = 1, ""
    AMD = 2, ""
    INTEL = 3, ""


class AuthAlg(Word):
    """Values of auth_alg."""

    NONE = 0, "no tag"
    CLUSTER = 1, "keyed with the cluster key"
    NODE = 2, "keyed with the node's own key, HMAC-SHA-256(cluster key, node name)"


class Reason(Word):
    """Values of reason."""

    NONE = 0, ""
    SIZE = 1, "not the size of a report"
    MAGIC = 2, "not one of ours"
    VERSION = 3, "another version of the report"
    LENGTH = 4, "its own length is wrong"
    CLUSTER = 5, "of another cluster"
    RESERVED = 6, "reserved bytes or unknown bits are set"
    NAME = 7, "not a name"
    INTERVAL = 8, "under 100 ms or over 600,000 ms"
    RANGE = 9, "a value that its table does not hold"
    AUTH_MISSING = 10, "no tag, or a weaker one than this name has proved"
    KEY_ID = 11, "a key that the receiver does not have"
    TAG = 12, "a tag that does not match"
    STRANGER = 13, "not in the node list"
    CLOCK = 14, "a wall clock outside the window"
    RIVAL = 15, "another boot or run of a node that is still live"
    REPLAY = 16, "older than what was accepted before"
    LATE = 17, "after a newer report of the same run"
    FULL = 18, "no record is free"


class EventKind(Word):
    """Values of event_kind."""

    NONE = 0, ""
    RESTART = 1, "of a record: its sender was started anew"
    REBOOT = 2, "of a record: the node was booted"
    RESET = 3, "of a record: accepted because nothing else came for the reset limit"
    GOODBYE = 4, "of a record: it was shut down cleanly"
    REFUSAL = 5, "of a record, or of none: rejected; detail: the reason"
    LINK_UP = 6, "of a link"
    LINK_DOWN = 7, "of a link; it may be up again by now"
    DARK = 8, "of a link: all its nodes fell together; detail: how many"
    LIT = 9, "of a link that was dark: a node of it is heard again"
    OVERFLOW = 10, "of none: a socket buffer was full; detail: how many datagrams were dropped"
    TAKEOVER = 11, "of none: a receiver began on this board; detail: its instance"
    FORGET = 12, "of none: records were taken from the board; detail: how many"
    FOLLOWED = 13, "of none: a mirror began to follow a master; detail: which of mirror_names"
    CLONE = 14, "of a record: two machines report as one"
    DEAF = 15, "of none: the receiver could not hear until now; detail: for how many ms"
    CLEAR = 16, "of a record: problems that nothing measures were cleared; detail: which"


@says(
    {
        0: "/sys/devices/system/cpu/online and present",
        1: "/sys/devices/system/cpu/cpu*/topology, again when the CPUs online change",
        2: "/proc/loadavg",
        3: "/proc/stat",
        4: "/proc/stat of two ticks: not in the first report, nor when the lines cpuN that are understood are of other CPUs than at the tick before",
        5: "/proc/meminfo",
        6: "/proc/vmstat",
        7: "/proc/pressure/cpu",
        8: "/proc/pressure/memory",
        9: "/proc/pressure/io",
        10: "/proc/pressure/irq",
        11: "/proc/net/snmp",
        12: "/proc/sys/fs/file-nr",
        13: "/proc/net/dev",
        14: "/proc/diskstats",
        15: "/proc/diskstats of two ticks: not in the first report",
        16: "/sys/devices/system/cpu/cpu*/topology",
        17: "/proc/stat of two ticks, CPU by CPU: not in the first report",
        18: "uname, once",
        19: "cpufreq or /proc/cpuinfo, once",
        20: "the sender itself",
        21: "adjtimex",
        22: "/proc/sys/kernel/tainted",
        23: "/proc/sys/kernel/hung_task_detect_count",
        24: "/sys/devices/system/edac",
        25: "thermal_throttle under /sys",
        26: "/sys/class/infiniband",
        27: "/sys/class/powercap",
        28: "/sys/class/powercap",
        29: "hwmon or the BMC file",
        30: "hwmon",
        31: "hwmon",
        32: "statvfs /",
        33: "statvfs of the scratch",
        34: "statvfs of the local file systems",
        35: "the health file",
        36: "/sys/class/drm or the GPU file",
        37: "/sys/class/drm or the GPU file",
        38: "see the field",
        39: "see the field",
    }
)
class Valid(Bits):
    """Bits of valid."""

    CPUS = 1 << 0
    TOPOLOGY = 1 << 1
    LOAD = 1 << 2
    STAT = 1 << 3
    CPU_SHARE = 1 << 4
    MEMORY = 1 << 5
    VMSTAT = 1 << 6
    PSI_CPU = 1 << 7
    PSI_MEM = 1 << 8
    PSI_IO = 1 << 9
    PSI_IRQ = 1 << 10
    TCP = 1 << 11
    FILES = 1 << 12
    NET = 1 << 13
    DISK = 1 << 14
    DISK_SHARE = 1 << 15
    GROUPS = 1 << 16
    GROUP_SHARE = 1 << 17
    SYSTEM = 1 << 18
    CPU_MHZ = 1 << 19
    SENDER = 1 << 20
    CLOCK = 1 << 21
    TAINT = 1 << 22
    HUNG_TASKS = 1 << 23
    EDAC = 1 << 24
    THROTTLE = 1 << 25
    FABRIC = 1 << 26
    ENERGY_CPU = 1 << 27
    ENERGY_DRAM = 1 << 28
    POWER = 1 << 29
    TEMP_INLET = 1 << 30
    TEMP_HOTTEST = 1 << 31
    ROOT = 1 << 32
    SCRATCH = 1 << 33
    FILESYSTEMS = 1 << 34
    HEALTH = 1 << 35
    GPU = 1 << 36
    GPU_ERRORS = 1 << 37
    HW_HASH = 1 << 38
    SW_HASH = 1 << 39


@says(
    {
        0: "the first report since the sender started",
        1: "the last one: the sender was shut down cleanly",
        2: "the kernel calls its clock unsynchronised",
        3: "the timer fired more than half an interval late",
        4: "at least one tick before this one brought no report",
        5: "the root file system is mounted read-only",
        6: "put on hold by the local admin (the hold file)",
        7: "the sender runs in a container",
        8: "a slow source did not answer in time",
    }
)
class Flags(Bits):
    """Bits of flags."""

    FIRST = 1 << 0
    GOODBYE = 1 << 1
    CLOCK_UNSYNC = 1 << 2
    LATE = 1 << 3
    SKIPPED = 1 << 4
    ROOT_READONLY = 1 << 5
    HELD = 1 << 6
    CONTAINER = 1 << 7
    SLOW_STALE = 1 << 8


@says(
    {
        0: "the interface is switched on",
        1: "it has a link",
    }
)
class NetState(Bits):
    """Bits of net_state."""

    UP = 1 << 0
    CARRIER = 1 << 1


@says(
    {
        0: "it is there",
        1: "a program holds it, or it is busy",
        2: "it has memory errors that were not corrected",
        3: "it runs slower for its temperature or its power supply",
        4: "it is lost to its driver, or wants a reset",
        5: "it is divided, as by MIG",
    }
)
class GpuFlags(Bits):
    """Bits of gpu_flags."""

    PRESENT = 1 << 0
    IN_USE = 1 << 1
    ECC_ERROR = 1 << 2
    THROTTLED = 1 << 3
    OFF_THE_BUS = 1 << 4
    PARTITIONED = 1 << 5


@says(
    {
        0: "heartbeat too old: the states below mean nothing",
        1: "the receiver shut down cleanly",
        2: "a flood of junk is being dropped by the kernel, and counted in unfit_drops",
        3: "another board has taken its place: call beoboard_refresh()",
    }
)
class ReceiverFlags(Bits):
    """What holds of the receiver."""

    STALLED = 1 << 0
    CLOSED = 1 << 1
    FILTERING = 1 << 2
    RETIRED = 1 << 3


@says(
    {
        0: "what is sent to it can be heard; else it is down",
        1: "the master has no interface of that name",
        2: "what is sent to where its reports were sent does not reach the receiver",
        3: "all of its nodes, two or more, failed together: see dark_nodes",
        4: "number 31: not one interface, but all others",
        5: "the board is stalled or retired: this is the last known state",
        6: "reports that come by it in IP fragments; another link has the rest",
    }
)
class LinkFlags(Bits):
    """What holds of a link."""

    UP = 1 << 0
    GONE = 1 << 1
    NO_ADDRESS = 1 << 2
    DARK = 1 << 3
    OTHERS = 1 << 4
    STALE = 1 << 5
    IN_PIECES = 1 << 6


class Receiver(Record):
    """."""

    __slots__ = ()
    size = 432
    heartbeat_age_ns = field.maybe_number("q", 0, "Ns: since it had heard all; None: it never had; below 0: another clock.", none=-1)
    started_age_ns = field.maybe_number("q", 8, "Ns: started age ns.", none=-1)
    instance = field.number("Q", 16, "Changes at each start of a receiver.")
    listened_ns = field.number("q", 24, "Ns: for how long it has listened without a gap.")
    uncertain_after_ns = field.number("q", 32, "Ns: the limits in force.")
    silent_after_ns = field.number("q", 40, "Ns: the limits in force.")
    nodes = field.number("I", 48, "Nodes.")
    flags = field.word(ReceiverFlags, "I", 52, "BEOBOARD_F_*.")
    received = field.number("Q", 56, "Datagrams; reports written to the board.")
    accepted = field.number("Q", 64, "Datagrams; reports written to the board.")
    duplicate = field.number("Q", 72, "Reports that had already come by another path.")
    kernel_drops = field.number("Q", 80, "Datagrams lost only to a full socket buffer.")
    refused = field.numbers("32Q", 88, "By enum beoboard_reason.")
    capacity = field.number("I", 344, "How many records there is room for.")
    pid = field.number("I", 348, "As of its last start.")
    cluster = field.text(64, 352, "For display; empty: none.")
    unfit_drops = field.number("Q", 416, "Datagrams dropped by the kernel for a wrong checksum, or filtered as junk.")
    softnet_drops = field.number("Q", 424, "Packets of any kind that the machine dropped before it looked at them.")


class Link(Record):
    """An interface of the master by which nodes report."""

    __slots__ = ()
    size = 96
    name = field.text(16, 0, "Of the interface; of number 31 \"all others\".")
    number = field.number("I", 16, "As in struct beoboard_node.")
    flags = field.word(LinkFlags, "I", 20, "BEOBOARD_LINK_F_*.")
    changed_age_ns = field.maybe_number("q", 24, "Ns: since it is up, or down; None: not known.", none=-1)
    heartbeat_age_ns = field.maybe_number("q", 32, "Ns: since all that came by it was heard; None: not yet; below: another clock.", none=-1)
    listened_ns = field.number("q", 40, "Ns: for how long without a gap, up to its heartbeat.")
    nodes = field.number("Q", 48, "Whose last report came by it and was no goodbye; counted once a second.")
    dark_age_ns = field.maybe_number("q", 56, "Ns: since it is dark; None: it is not.", none=-1)
    dark_nodes = field.number("Q", 64, "Nodes that fell with it.")
    downs = field.number("Q", 72, "Times that it was found to be down, or to have been.")
    accepted = field.number("Q", 80, "Reports written to the board that came by it.")
    missed = field.number("Q", 88, "Packets of any kind that it dropped before they were looked at.")


class Node(Record):
    """What was not measured is 0, of the floats NaN (which is in no order to any number): see BEOBOARD_HAS."""

    __slots__ = ()
    size = 168
    valid_at = 104
    name = field.text(64, 0, "Name.")
    age_ns = field.maybe_number("q", 64, "Ns: since the last accepted report; None never.", none=-1)
    last_report_wall_ns = field.number("q", 72, "Ns: UTC, for display only.")
    reports = field.number("Q", 80, "Accepted; missing by sequence number.")
    lost = field.number("Q", 88, "Accepted; missing by sequence number.")
    boot_id = field.number("Q", 96, "Changes when the node was booted.")
    valid = field.word(Valid, "Q", 104, "BEOBOARD_VALID_*: which sets of the report's fields were measured.")
    mem_total_kib = field.maybe_number("Q", 112, "Kib: mem total kib.", sets=1 << 5)
    mem_avail_kib = field.maybe_number("Q", 120, "Kib: mem avail kib.", sets=1 << 5)
    refused = field.word(Reason, "I", 128, "Enum beoboard_reason of a rejection newer than the last report, 0 none.")
    skew_ms = field.number("i", 132, "Ms: the node's wall clock less the master's, as last seen, even if rejected.")
    state = field.word(State, "I", 136, "Enum beoboard_state at the time of the copy.")
    cpus = field.maybe_number("I", 140, "Cpus.", sets=1 << 0)
    load1 = field.real("f", 144, "Cpu_busy 0 to 1.")
    cpu_busy = field.real("f", 148, "Cpu_busy 0 to 1.")
    interval_ms = field.number("I", 152, "Ms: the node's own.")
    flags = field.word(Flags, "I", 156, "BEOBOARD_FLAGS_* of the report, such as HELD.")
    health = field.word(Health, "I", 160, "Enum beoboard_health: what the node's own health check says.")
    link = field.number("I", 164, "The number of the link by which it reported; see beoboard_links().")


class Episode(Record):
    """A time in which a node has had a problem again and again."""

    __slots__ = ()
    size = 24
    begin_age_ns = field.maybe_number("q", 0, "Ns: since it began; None: there was none, and so with all times here.", none=-1)
    seen_age_ns = field.maybe_number("q", 8, "Ns: since a report last showed it.", none=-1)
    count = field.number("Q", 16, "How many there were.")


class Memory(Record):
    """What was concluded from the reports that are no longer on the board."""

    __slots__ = ()
    size = 592
    remembers_age_ns = field.maybe_number("q", 0, "Ns: since when: \"none\" and every count below are since then.", none=-1)
    heard_age_ns = field.maybe_number("q", 8, "Ns: since when it is heard without a gap of more than uncertain_after.", none=-1)
    boot_age_ns = field.maybe_number("q", 16, "Ns: since the first report of its boot.", none=-1)
    silence_age_ns = field.maybe_number("q", 24, "Ns: since the last silence began, with the last report before it.", none=-1)
    silence_end_age_ns = field.maybe_number("q", 32, "Ns: and ended, with the next; None: it is not over, or there was none.", none=-1)
    silences = field.number("Q", 40, "How many there were.")
    last_words_age_ns = field.maybe_number("q", 48, "Ns: since the last report before it fell silent or was booted.", none=-1)
    last_words = field.word(LastWords, "I", 56, "What that said: bit n for number n of enum beoboard_last_words.")
    recent = field.word(Problem, "I", 60, "As beoboard_recent().")
    episodes = field.parts(Episode, 16, 64, "By enum beoboard_problem.")
    unmeasured = field.number("I", 448, "Problems of `recent` that its newest report does not measure.")
    unsettled = field.number("I", 452, "Of these, those that the last report to measure them showed.")
    measured_age_ns = field.numbers("16q", 456, "Ns: of these, since when they are not measured.")
    stood_still_ns = field.number("q", 584, "Ns: for so long it or its sender stood still until the last silence ended; or 0.")


class Refusal(Record):
    """The last report of a node that was rejected."""

    __slots__ = ()
    size = 32
    age_ns = field.maybe_number("q", 0, "Ns: age ns.", none=-1)
    wall_ns = field.number("q", 8, "Ns: UTC, for display only.")
    skew_us = field.number("q", 16, "Us: the node's wall clock in it less the master's.")
    reason = field.word(Reason, "I", 24, "Enum beoboard_reason.")
    is_newer = field.number("I", 28, "1: no report was accepted since; 0: one was, or this one was only late.")


class Sender(Record):
    """From where datagrams came that were rejected for the same reason."""

    __slots__ = ()
    size = 120
    address = field.raw(16, 0, "An IPv6 address, IPv4 as ::ffff:a.b.c.d; as they say: anybody can forge it.")
    name = field.text(64, 16, "That they claim; empty: none that is a name.")
    first_age_ns = field.maybe_number("q", 80, "Ns: since the first of them.", none=-1)
    last_age_ns = field.maybe_number("q", 88, "Ns: and the last.", none=-1)
    last_wall_ns = field.number("q", 96, "Ns: UTC, for display only.")
    count = field.number("Q", 104, "Count.")
    reason = field.word(Reason, "I", 112, "Enum beoboard_reason.")


class Event(Record):
    """What the receiver wrote down. Changes of state are not among it: states are judged by readers."""

    __slots__ = ()
    size = 40
    number = field.number("Q", 0, "From 1 on, one after the other.")
    age_ns = field.maybe_number("q", 8, "Ns: age ns.", none=-1)
    wall_ns = field.number("q", 16, "Ns: UTC, for display only.")
    detail = field.number("Q", 24, "As the kind says.")
    kind = field.word(EventKind, "I", 32, "Enum beoboard_event_kind.")
    subject = field.number("i", 36, "As the kind says: index of a node, number of a link; BEOBOARD_NO_SUBJECT.")


class CpuGroup(Record):
    """The CPUs of a socket."""

    __slots__ = ()
    size = 16
    cpus = field.maybe_number("H", 0, "Set groups: online CPUs of the group.", sets=1 << 16)
    busy_pm = field.maybe_number("H", 2, "1/1000, set group_share: everything but idle and iowait.", sets=1 << 17)
    user_pm = field.maybe_number("H", 4, "1/1000, set group_share: user and nice.", sets=1 << 17)
    system_pm = field.maybe_number("H", 6, "1/1000, set group_share: system, irq and softirq.", sets=1 << 17)
    iowait_pm = field.maybe_number("H", 8, "1/1000, set group_share: iowait.", sets=1 << 17)
    busiest_pm = field.maybe_number("H", 10, "1/1000, set group_share: the busiest CPU of the group: what an average hides.", sets=1 << 17)
    mhz = field.maybe_number("H", 12, "MHz, set groups: mean clock rate of a few of its CPUs, seldom looked at; 0: not known.", sets=1 << 16, none=0)
    temp_dc = field.maybe_number("h", 14, "1/10 °C, set groups: temperature of the package, of several the highest; -32768: not known.", sets=1 << 16, none=-32768)


class NetIf(Record):
    """A network interface, or several added together."""

    __slots__ = ()
    size = 64
    named = True
    name = field.text(16, 0, "The interface; empty: no entry.")
    rx_bytes = field.number("Q", 16, "Bytes: bytes received.")
    tx_bytes = field.number("Q", 24, "Bytes: bytes sent.")
    rx_packets = field.number("Q", 32, "Count: packets received.")
    tx_packets = field.number("Q", 40, "Count: packets sent.")
    errors = field.number("I", 48, "Count: errors, both directions.")
    drops = field.number("I", 52, "Count: packets dropped, both directions. Not a fault as such: unwanted multicasts count too.")
    mbps = field.maybe_number("I", 56, "Mbit/s: link speed, seldom looked at; 0: not known.", none=0)
    state = field.word(NetState, "I", 60, "And, in bits 16–31, how many interfaces were added into this entry.")


class GpuSlot(Record):
    """A GPU."""

    __slots__ = ()
    size = 12
    util_pct = field.maybe_number("B", 0, "%: share of time in which a kernel ran; 255: not known. Not how much of the GPU was used: one small kernel makes 100 %.", none=255)
    temp_degc = field.maybe_number("B", 1, "°C: temperature; 255: not known.", none=255)
    power_w = field.maybe_number("H", 2, "W: power; 65535: not known.", none=65535)
    mem_used_mib = field.maybe_number("I", 4, "MiB: memory in use; nothing when mem_total_mib is 0.", beside=4)
    mem_total_mib = field.maybe_number("I", 8, "MiB: memory; 0: not known.", none=0)


class Report(Record):
    """A report, and when it came."""

    __slots__ = ()
    size = 1248
    valid_at = 80
    number = field.number("Q", 0, "This is the n-th report that the board took of this node.")
    age_ns = field.maybe_number("q", 8, "Ns: since it came.", none=-1)
    stamp_ns = field.number("q", 16, "Ns: when it came: CLOCK_MONOTONIC of the master.")
    stamp_wall_ns = field.number("q", 24, "Ns: the same, UTC, for display only.")
    magic = field.number("I", 32, "Id: rejects strays.")
    version = field.number("H", 36, "Id: version of this document. Not the version of the sender: that is agent_version.")
    length = field.number("H", 38, "Bytes: size of the whole report.")
    cluster_id = field.number("I", 40, "Id: keeps two clusters on one network apart. Not a secret: it protects against mistakes, not against attackers.")
    boot_id = field.number("Q", 48, "Id: changes with every boot of the node. Not unique: the containers of one machine share it.")
    seq = field.number("I", 56, "Id: +1 per report since the sender started: a gap is a lost report. Not a count over restarts: each sender begins at 0.")
    interval_ms = field.number("I", 60, "Ms: the sender's period: the age of a report is given in these. Not the time since the report before: that is the difference of t_boot_ns.")
    t_real_ns = field.number("Q", 64, "Ns: the node's wall clock. Not trusted for age: the master stamps with its own clock.")
    t_boot_ns = field.number("Q", 72, "Ns: time since the node booted, suspend included: the uptime, and the base of the rates of the fast sets. Not comparable between nodes.")
    valid = field.word(Valid, "Q", 80, "One bit per set of fields that one read yields: they were measured.")
    flags = field.word(Flags, "I", 88, ".")
    key_id = field.number("H", 92, "Id: which key made the tag.")
    auth_alg = field.word(AuthAlg, "B", 94, "How the tag was made. Not a proof: only a verified tag is one.")
    cpus_online = field.maybe_number("H", 96, "Set cpus: logical CPUs (hardware threads) in use by the kernel. Not physical cores: divide by threads_per_core.", sets=1 << 0)
    cpus_present = field.maybe_number("H", 98, "Set cpus: logical CPUs that the machine has; more than online when some are switched off.", sets=1 << 0)
    packages = field.maybe_number("B", 100, "Set topology: sockets.", sets=1 << 1)
    groups = field.maybe_number("B", 101, "Set topology: entries of group in use, at most 4. Not the number of sockets when there are more than four.", sets=1 << 1)
    threads_per_core = field.maybe_number("B", 102, "Set topology: hardware threads of one core, the highest seen.", sets=1 << 1)
    numa_nodes = field.maybe_number("B", 103, "Set topology: NUMA nodes. Not sockets: one socket can hold several.", sets=1 << 1)
    load1_c = field.maybe_number("I", 104, "1/100, set load: load average over one minute. Not the number of busy CPUs: tasks that wait for a disk count too.", sets=1 << 2)
    load5_c = field.maybe_number("I", 108, "1/100, set load: load average over five minutes. Not the same as of load1_c.", sets=1 << 2)
    load15_c = field.maybe_number("I", 112, "1/100, set load: load average over fifteen minutes. Not the same as of load1_c.", sets=1 << 2)
    runnable = field.maybe_number("I", 116, "Set stat: tasks that run or wait for a CPU right now, the sender included. Not an average: it is one look.", sets=1 << 3)
    blocked = field.maybe_number("I", 120, "Set stat: tasks that wait for I/O right now. Not all tasks in state D.", sets=1 << 3)
    cpu_busy_pm = field.maybe_number("H", 124, "1/1000, set cpu_share: of all CPUs: everything but idle and iowait, steal included. Not work done: a CPU that waits for memory is busy too.", sets=1 << 4)
    cpu_iowait_pm = field.maybe_number("H", 126, "1/1000, set cpu_share: of all CPUs: idle while a task of theirs waited for a disk. Not a measure of disk load: any other work on the CPU hides it.", sets=1 << 4)
    mem_total_mib = field.maybe_number("I", 128, "MiB, set memory: memory that the kernel manages. Not what is plugged in: the kernel and the firmware keep some, and it differs between boots.", sets=1 << 5)
    mem_avail_mib = field.maybe_number("I", 132, "MiB, set memory: what a new job could use without swapping, as the kernel estimates it. Not free memory: that is mem_free_mib.", sets=1 << 5)
    swap_total_mib = field.maybe_number("I", 136, "MiB, set memory: swap space.", sets=1 << 5)
    swap_free_mib = field.maybe_number("I", 140, "MiB, set memory: swap space not in use. Not swapping: used swap may rest untouched for weeks, see swapin_pages.", sets=1 << 5)
    psi_cpu_some10 = field.maybe_number("H", 144, "1/100 %, set psi_cpu: share of the last 10 s in which some task waited for a CPU. Not the load of the CPUs.", sets=1 << 7)
    psi_mem_some10 = field.maybe_number("H", 146, "1/100 %, set psi_mem: share of the last 10 s in which some task waited for memory. Not how full the memory is.", sets=1 << 8)
    psi_mem_full10 = field.maybe_number("H", 148, "1/100 %, set psi_mem: share of the last 10 s in which all tasks at once waited for memory. Not how full the memory is.", sets=1 << 8)
    psi_io_some10 = field.maybe_number("H", 150, "1/100 %, set psi_io: share of the last 10 s in which some task waited for I/O. Not how busy the disks are: disk_busiest_pm.", sets=1 << 9)
    psi_io_full10 = field.maybe_number("H", 152, "1/100 %, set psi_io: share of the last 10 s in which all tasks at once waited for I/O. Not how busy the disks are: disk_busiest_pm.", sets=1 << 9)
    gpu_count = field.maybe_number("B", 154, "Set gpu: GPUs present. Not GPUs that work: see gpu_flags.", sets=1 << 36)
    gpu_busy = field.maybe_number("B", 155, "Set gpu: of them in use.", sets=1 << 36)
    scratch_avail_mib = field.maybe_number("I", 156, "MiB, set scratch: space left there for an ordinary user. Not ever that of a network file system.", sets=1 << 33)
    health = field.maybe_word(Health, "B", 160, "Set health: what the node's own health check says. Not a judgement of beoboard's.", sets=1 << 35)
    health_src = field.maybe_word(HealthSrc, "B", 161, "Set health: who wrote it.", sets=1 << 35)
    health_age_s = field.maybe_number("I", 164, "S, set health: how old that word is: a stale ok is not an ok.", sets=1 << 35)
    taint = field.maybe_number("I", 168, "Set taint: why the kernel calls itself tainted, since boot. Not a fault as such: a foreign module is enough.", sets=1 << 22)
    oom_kills = field.maybe_number("I", 172, "Count, set vmstat: tasks that the kernel killed because memory ran out, cgroup limits included. Not only kills because the whole node's memory ran out.", sets=1 << 6)
    hung_tasks = field.maybe_number("I", 176, "Count, set hung_tasks: tasks found stuck in state D for over two minutes. Not tasks that are stuck now.", sets=1 << 23)
    edac_ce = field.maybe_number("I", 180, "Count, set edac: corrected memory errors since boot. Not a fault as such: a few are normal, a growing number is not.", sets=1 << 24)
    edac_ue = field.maybe_number("I", 184, "Count, set edac: uncorrected memory errors since boot.", sets=1 << 24)
    throttle_events = field.maybe_number("I", 188, "Count, set throttle: times that a package slowed down for its temperature. Not power capping.", sets=1 << 25)
    clock_offset_us = field.maybe_number("i", 192, "Us, set clock: how far the kernel's clock discipline still has to steer. Not the clock's error: clock_maxerr_us bounds it.", sets=1 << 21)
    clock_maxerr_us = field.maybe_number("I", 196, "Us, set clock: the most that the clock may be wrong, as the kernel knows.", sets=1 << 21)
    late_us = field.maybe_number("I", 200, "Us, set sender: how late its timer fired: a node that wakes late is sick though it answers ping. Not network delay.", sets=1 << 20)
    collect_us = field.maybe_number("I", 204, "Us, set sender: how long collecting the fast sets took, by the clock on the wall. Not CPU time: that is agent_cpu_ms.", sets=1 << 20)
    agent_cpu_ms = field.maybe_number("I", 208, "Ms, set sender: the sender's own CPU time since it started.", sets=1 << 20)
    missed_ticks = field.maybe_number("I", 212, "Count, set sender: intervals for which it could send no report, since it started. Not reports lost on the way: the receiver counts these.", sets=1 << 20)
    hw_hash = field.maybe_number("I", 216, "Id, set hw_hash: equal on nodes of equal hardware: lists the odd node out. Not a fingerprint that proves anything.", sets=1 << 38)
    sw_hash = field.maybe_number("I", 220, "Id, set sw_hash: equal on nodes of equal system software. Not a hash of the installed packages.", sets=1 << 39)
    hostname = field.text(64, 224, "The node's name and identity on the board: 1 to 63 of a–z 0–9 . _ - beginning with a letter or digit, then zeros to the end. Not an address: nobody resolves it.")
    os_release = field.maybe_text(48, 288, "Set system: the kernel's release, as uname -r. Not the distribution.", sets=1 << 18)
    arch = field.maybe_word(Arch, "B", 336, "Set system: processor architecture.", sets=1 << 18)
    virt = field.maybe_word(Virt, "B", 337, "Set system: what the node runs in. Not certain: 0 is also \"unknown\".", sets=1 << 18)
    page_kib = field.maybe_number("H", 338, "KiB, set system: size of a memory page.", sets=1 << 18)
    cpu_mhz_max = field.maybe_number("I", 340, "MHz, set cpu_mhz: highest clock rate. Not the clock rate now.", sets=1 << 19)
    agent_version = field.number("I", 344, "Id: its version: major<<16, minor<<8, patch. Not the version of this document.")
    cpu_user_ms = field.maybe_number("Q", 352, "Ms, set stat: time in user programs, guests included; all CPUs added, so it grows by up to 1,000 ms a second and CPU. Not time since boot for one CPU.", sets=1 << 3)
    cpu_nice_ms = field.maybe_number("Q", 360, "Ms, set stat: time in user programs of lowered priority.", sets=1 << 3)
    cpu_system_ms = field.maybe_number("Q", 368, "Ms, set stat: time in the kernel, without interrupts. Not what Ganglia calls cpu_system: that has the interrupts in it.", sets=1 << 3)
    cpu_idle_ms = field.maybe_number("Q", 376, "Ms, set stat: time with nothing to do. Not free capacity when the node is a virtual machine.", sets=1 << 3)
    cpu_iowait_ms = field.maybe_number("Q", 384, "Ms, set stat: idle time while a task waited for a disk. Not see cpu_iowait_pm; it may even go back a little.", sets=1 << 3)
    cpu_irq_ms = field.maybe_number("Q", 392, "Ms, set stat: time in hard interrupts.", sets=1 << 3)
    cpu_softirq_ms = field.maybe_number("Q", 400, "Ms, set stat: time in soft interrupts, network mostly.", sets=1 << 3)
    cpu_steal_ms = field.maybe_number("Q", 408, "Ms, set stat: time that the hypervisor gave to others.", sets=1 << 3)
    group = field.maybe_parts(CpuGroup, 4, 416, "Set groups: one entry per package.", sets=1 << 16, counted=("B", -315))
    ctxt = field.maybe_number("Q", 480, "Count, set stat: context switches of all CPUs.", sets=1 << 3)
    intr = field.maybe_number("Q", 488, "Count, set stat: interrupts served.", sets=1 << 3)
    forks = field.maybe_number("Q", 496, "Count, set stat: processes and threads created. Not processes that exist.", sets=1 << 3)
    majfaults = field.maybe_number("Q", 504, "Count, set vmstat: page faults that needed a disk. Not swapping only: mapped files count too.", sets=1 << 6)
    swapin_pages = field.maybe_number("Q", 512, "Count, set vmstat: pages read from swap. Not bytes: multiply by page_kib.", sets=1 << 6)
    swapout_pages = field.maybe_number("Q", 520, "Count, set vmstat: pages written to swap. Not bytes: multiply by page_kib.", sets=1 << 6)
    tcp_retrans = field.maybe_number("Q", 528, "Count, set tcp: TCP segments sent again. Not packets lost: some are sent again for nothing.", sets=1 << 11)
    threads = field.maybe_number("I", 536, "Set load: threads that exist. Not processes.", sets=1 << 2)
    files_open = field.maybe_number("I", 540, "Set files: open files of the whole node.", sets=1 << 12)
    mem_free_mib = field.maybe_number("I", 544, "MiB, set memory: memory that holds nothing. Not what a job can get: mem_avail_mib.", sets=1 << 5)
    mem_buffers_mib = field.maybe_number("I", 548, "MiB, set memory: cache of block devices.", sets=1 << 5)
    mem_cached_mib = field.maybe_number("I", 552, "MiB, set memory: cache of files, tmpfs and shared memory included. Not reclaimable as a whole: mem_shmem_mib of it is not.", sets=1 << 5)
    mem_shmem_mib = field.maybe_number("I", 556, "MiB, set memory: tmpfs and shared memory.", sets=1 << 5)
    mem_sreclaimable_mib = field.maybe_number("I", 560, "MiB, set memory: kernel caches that can be given back.", sets=1 << 5)
    mem_sunreclaim_mib = field.maybe_number("I", 564, "MiB, set memory: kernel objects that cannot: one that grows forever is a leak.", sets=1 << 5)
    mem_anon_mib = field.maybe_number("I", 568, "MiB, set memory: memory of programs that no file backs.", sets=1 << 5)
    mem_dirty_writeback_mib = field.maybe_number("I", 572, "MiB, set memory: data that still has to go to a disk.", sets=1 << 5)
    mem_committed_mib = field.maybe_number("I", 576, "MiB, set memory: memory promised to programs. Not memory in use.", sets=1 << 5)
    mem_commit_limit_mib = field.maybe_number("I", 580, "MiB, set memory: the most that may be promised, where overcommit is forbidden. Not a limit where overcommit is allowed, as it is by default.", sets=1 << 5)
    mem_huge_total_mib = field.maybe_number("I", 584, "MiB, set memory: reserved huge pages of the default size. Not transparent huge pages.", sets=1 << 5)
    mem_huge_free_mib = field.maybe_number("I", 588, "MiB, set memory: of them not in use.", sets=1 << 5)
    mem_unevictable_mib = field.maybe_number("I", 592, "MiB, set memory: locked memory.", sets=1 << 5)
    mem_pagetables_mib = field.maybe_number("I", 596, "MiB, set memory: page tables.", sets=1 << 5)
    mem_corrupted_kib = field.maybe_number("I", 600, "KiB, set memory: memory that the kernel took out of use as faulty.", sets=1 << 5)
    psi_cpu_some_us = field.maybe_number("Q", 608, "Us, set psi_cpu: time in which some task waited for a CPU. Not CPU time: it grows by at most 1,000,000 us a second whatever the number of CPUs.", sets=1 << 7)
    psi_mem_some_us = field.maybe_number("Q", 616, "Us, set psi_mem: time in which some task waited for memory.", sets=1 << 8)
    psi_mem_full_us = field.maybe_number("Q", 624, "Us, set psi_mem: time in which all tasks at once waited for memory.", sets=1 << 8)
    psi_io_some_us = field.maybe_number("Q", 632, "Us, set psi_io: time in which some task waited for I/O.", sets=1 << 9)
    psi_io_full_us = field.maybe_number("Q", 640, "Us, set psi_io: time in which all tasks at once waited for I/O.", sets=1 << 9)
    psi_irq_full_us = field.maybe_number("Q", 648, "Us, set psi_irq: time that interrupts took from tasks.", sets=1 << 10)
    psi_cpu_some60 = field.maybe_number("H", 656, "1/100 %, set psi_cpu: like psi_cpu_some10, over 60 s.", sets=1 << 7)
    psi_mem_some60 = field.maybe_number("H", 658, "1/100 %, set psi_mem: like psi_mem_some10, over 60 s.", sets=1 << 8)
    psi_mem_full60 = field.maybe_number("H", 660, "1/100 %, set psi_mem: like psi_mem_full10, over 60 s.", sets=1 << 8)
    psi_io_some60 = field.maybe_number("H", 662, "1/100 %, set psi_io: like psi_io_some10, over 60 s.", sets=1 << 9)
    psi_io_full60 = field.maybe_number("H", 664, "1/100 %, set psi_io: like psi_io_full10, over 60 s.", sets=1 << 9)
    psi_irq_full10 = field.maybe_number("H", 666, "1/100 %, set psi_irq: share of the last 10 s that interrupts took from tasks.", sets=1 << 10)
    net = field.maybe_parts(NetIf, 3, 672, "Set net: the first three interfaces. Not in a fixed order: match by name.", sets=1 << 13)
    net_rest = field.maybe_part(NetIf, 864, "Set net: the fourth and later added together, name rest.", sets=1 << 13)
    fabric = field.maybe_part(NetIf, 928, "Set fabric: all RDMA ports added together, name fabric. Not part of net: MPI traffic never shows there; IP over it shows in both, so the two are never added.", sets=1 << 26)
    disk_read_bytes = field.maybe_number("Q", 992, "Bytes, set disk: bytes read from disks. Not bytes read by programs: the cache serves many.", sets=1 << 14)
    disk_write_bytes = field.maybe_number("Q", 1000, "Bytes, set disk: bytes written to disks. Not bytes written by programs.", sets=1 << 14)
    disk_reads = field.maybe_number("Q", 1008, "Count, set disk: reads completed.", sets=1 << 14)
    disk_writes = field.maybe_number("Q", 1016, "Count, set disk: writes completed.", sets=1 << 14)
    disk_busy_ms = field.maybe_number("Q", 1024, "Ms, set disk: time that disks were busy, added over the disks. Not a share of the node: two busy disks make 2,000 ms a second.", sets=1 << 14)
    disk_weighted_ms = field.maybe_number("Q", 1032, "Ms, set disk: requests under way × time: its rate over 1,000 is the mean queue length.", sets=1 << 14)
    disk_inflight = field.maybe_number("I", 1040, "Set disk: requests under way right now.", sets=1 << 14)
    disks = field.maybe_number("H", 1044, "Set disk: whole disks that were added.", sets=1 << 14)
    disk_busiest_pm = field.maybe_number("H", 1046, "1/1000, set disk_share: how busy the busiest disk was. Not how near a disk is to its limit: SSDs serve many requests at once.", sets=1 << 15)
    root_total_mib = field.maybe_number("I", 1048, "MiB, set root: size of the root file system.", sets=1 << 32)
    root_avail_mib = field.maybe_number("I", 1052, "MiB, set root: space left on it for an ordinary user.", sets=1 << 32)
    energy_cpu_mj = field.maybe_number("Q", 1056, "MJ, set energy_cpu: energy that the packages used. Not the node's energy.", sets=1 << 27)
    energy_dram_mj = field.maybe_number("Q", 1064, "MJ, set energy_dram: energy that the memory used.", sets=1 << 28)
    power_node_w = field.maybe_number("H", 1072, "W, set power: the node's power. Not the power of the CPUs.", sets=1 << 29)
    power_src = field.maybe_word(PowerSrc, "B", 1074, "Set power: where that number comes from.", sets=1 << 29)
    gpu_vendor = field.maybe_word(GpuVendor, "B", 1075, "Set gpu: who made the GPUs.", sets=1 << 36)
    temp_inlet_dc = field.maybe_number("h", 1076, "1/10 °C, set temp_inlet: air at the inlet.", sets=1 << 30)
    temp_hottest_dc = field.maybe_number("h", 1078, "1/10 °C, set temp_hottest: the hottest of the processor's sensors. Not ever that of an NVMe: reading these stalls for seconds.", sets=1 << 31)
    scratch_total_mib = field.maybe_number("I", 1080, "MiB, set scratch: its size.", sets=1 << 33)
    root_inodes_free_pm = field.maybe_number("H", 1084, "1/1000, set root: inodes left.", sets=1 << 32)
    scratch_inodes_free_pm = field.maybe_number("H", 1086, "1/1000, set scratch: inodes left.", sets=1 << 33)
    gpu_errors = field.maybe_number("I", 1088, "Count, set gpu_errors: errors that the GPU drivers reported.", sets=1 << 37)
    gpu_ecc_ue = field.maybe_number("I", 1092, "Count, set gpu_errors: uncorrected memory errors of the GPUs.", sets=1 << 37)
    gpu_flags = field.maybe_words(GpuFlags, "8B", 1096, "Set gpu: one byte per GPU.", sets=1 << 36, counted=("B", -942))
    fs_total_mib = field.maybe_number("I", 1104, "MiB, set filesystems: their sizes added together. Not ever that of a network file system.", sets=1 << 34)
    fs_avail_mib = field.maybe_number("I", 1108, "MiB, set filesystems: space left on them for an ordinary user, added together.", sets=1 << 34)
    fs_fullest_pm = field.maybe_number("H", 1112, "1/1000, set filesystems: how full the fullest of them is.", sets=1 << 34)
    gpu = field.maybe_parts(GpuSlot, 8, 1120, "Set gpu: one entry per GPU.", sets=1 << 36, counted=("B", -966))
    start_boot_ns = field.number("Q", 1216, "Ns: tells one run of the sender from the next, and two at once.")
    slow_boot_ns = field.number("Q", 1224, "Ns: the base of the rates of the slow sets.")
    tag = field.raw(16, 1232, "Proves who sent the report.")


class NetRates(Record):
    """Rates of one network entry, per second; NaN: none."""

    __slots__ = ()
    size = 64
    named = True
    name = field.text(16, 0, "Empty: no entry; a second.")
    rx_bytes = field.real("d", 16, "Bytes; a second.")
    tx_bytes = field.real("d", 24, "Bytes; a second.")
    rx_packets = field.real("d", 32, "Count; a second.")
    tx_packets = field.real("d", 40, "Count; a second.")
    errors = field.real("d", 48, "Count; a second.")
    drops = field.real("d", 56, "Count; a second.")


class Rates(Record):
    """Counters of a report per second, under their names: cpu_user_ms is ms of CPU time a second. NaN: none."""

    __slots__ = ()
    size = 656
    seconds = field.real("d", 0, "From one report to the other: the base of the fast sets; a second.")
    slow_seconds = field.real("d", 8, "From one slow round to the other: the base of the slow sets; a second.")
    cpu_user_pct = field.real("d", 16, "%, of the time of all CPUs; a second.")
    cpu_nice_pct = field.real("d", 24, "%, of the time of all CPUs; a second.")
    cpu_system_pct = field.real("d", 32, "%, of the time of all CPUs; a second.")
    cpu_idle_pct = field.real("d", 40, "%, of the time of all CPUs; a second.")
    cpu_iowait_pct = field.real("d", 48, "%, of the time of all CPUs; a second.")
    cpu_irq_pct = field.real("d", 56, "%, of the time of all CPUs; a second.")
    cpu_softirq_pct = field.real("d", 64, "%, of the time of all CPUs; a second.")
    cpu_steal_pct = field.real("d", 72, "%, of the time of all CPUs; a second.")
    oom_kills = field.real("d", 80, "Count, set vmstat; a second.")
    agent_cpu_ms = field.real("d", 88, "Ms: ms, set sender; a second.")
    missed_ticks = field.real("d", 96, "Count, set sender; a second.")
    cpu_user_ms = field.real("d", 104, "Ms: ms, set stat; a second.")
    cpu_nice_ms = field.real("d", 112, "Ms: ms, set stat; a second.")
    cpu_system_ms = field.real("d", 120, "Ms: ms, set stat; a second.")
    cpu_idle_ms = field.real("d", 128, "Ms: ms, set stat; a second.")
    cpu_iowait_ms = field.real("d", 136, "Ms: ms, set stat; a second.")
    cpu_irq_ms = field.real("d", 144, "Ms: ms, set stat; a second.")
    cpu_softirq_ms = field.real("d", 152, "Ms: ms, set stat; a second.")
    cpu_steal_ms = field.real("d", 160, "Ms: ms, set stat; a second.")
    ctxt = field.real("d", 168, "Count, set stat; a second.")
    intr = field.real("d", 176, "Count, set stat; a second.")
    forks = field.real("d", 184, "Count, set stat; a second.")
    majfaults = field.real("d", 192, "Count, set vmstat; a second.")
    swapin_pages = field.real("d", 200, "Count, set vmstat; a second.")
    swapout_pages = field.real("d", 208, "Count, set vmstat; a second.")
    tcp_retrans = field.real("d", 216, "Count, set tcp; a second.")
    psi_cpu_some_us = field.real("d", 224, "Us: us, set psi_cpu; a second.")
    psi_mem_some_us = field.real("d", 232, "Us: us, set psi_mem; a second.")
    psi_mem_full_us = field.real("d", 240, "Us: us, set psi_mem; a second.")
    psi_io_some_us = field.real("d", 248, "Us: us, set psi_io; a second.")
    psi_io_full_us = field.real("d", 256, "Us: us, set psi_io; a second.")
    psi_irq_full_us = field.real("d", 264, "Us: us, set psi_irq; a second.")
    disk_read_bytes = field.real("d", 272, "Bytes, set disk; a second.")
    disk_write_bytes = field.real("d", 280, "Bytes, set disk; a second.")
    disk_reads = field.real("d", 288, "Count, set disk; a second.")
    disk_writes = field.real("d", 296, "Count, set disk; a second.")
    disk_busy_ms = field.real("d", 304, "Ms: ms, set disk; a second.")
    disk_weighted_ms = field.real("d", 312, "Ms: ms, set disk; a second.")
    energy_cpu_mj = field.real("d", 320, "MJ, set energy_cpu, slow; a second.")
    energy_dram_mj = field.real("d", 328, "MJ, set energy_dram, slow; a second.")
    net = field.parts(NetRates, 3, 336, "By name, up to an empty one; set net; a second.")
    net_rest = field.part(NetRates, 528, "Set net; a second.")
    fabric = field.part(NetRates, 592, "Set fabric; a second.")
