"""How are the nodes of a cluster? Reads the board that `beoboard receive` keeps in shared memory, by libbeoboard.

    import beoboard

    with beoboard.open() as board:
        for node in board.nodes("node[001-128]"):
            if node.state is beoboard.State.LIVE and not node.problems:
                print(node.name, node.report.mem_avail_mib, node.rates.disk_read_bytes)

It never writes and never waits. None is what was not measured; names end with their unit, and `help(beoboard.Report)`
says what each field is and is not. Words have a sentence: `State.SILENT.text`. A board is for one thread at a time.
"""

from ._abi import VERSION as __version__
from ._abi import (
    Arch,
    AuthAlg,
    CpuGroup,
    Episode,
    EventKind,
    Flags,
    GpuFlags,
    GpuSlot,
    GpuVendor,
    Health,
    HealthSrc,
    LastWords,
    Link,
    LinkFlags,
    NetIf,
    NetRates,
    NetState,
    PowerSrc,
    Problem,
    Rates,
    Reason,
    Receiver,
    ReceiverFlags,
    Refusal,
    Report,
    Sender,
    State,
    Valid,
    Virt,
)
from ._board import Board, Event, Memory, Node, open
from ._hosts import HostListError, expand, fold
from ._library import Error, LibraryError, NoSuchNode

__all__ = [
    "Arch",
    "AuthAlg",
    "Board",
    "CpuGroup",
    "Episode",
    "Error",
    "Event",
    "EventKind",
    "Flags",
    "GpuFlags",
    "GpuSlot",
    "GpuVendor",
    "Health",
    "HealthSrc",
    "HostListError",
    "LastWords",
    "LibraryError",
    "Link",
    "LinkFlags",
    "Memory",
    "NetIf",
    "NetRates",
    "NetState",
    "NoSuchNode",
    "Node",
    "PowerSrc",
    "Problem",
    "Rates",
    "Reason",
    "Receiver",
    "ReceiverFlags",
    "Refusal",
    "Report",
    "Sender",
    "State",
    "Valid",
    "Virt",
    "__version__",
    "expand",
    "fold",
    "open",
]
