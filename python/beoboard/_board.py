"""The board and its nodes."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import time
from typing import Any, Dict, Iterable, Iterator, List, NoReturn, Optional, Tuple, Type, TypeVar, Union

from . import _abi
from ._abi import (
    EventKind,
    LastWords,
    Link,
    LinkFlags,
    Problem,
    Rates,
    Reason,
    Receiver,
    ReceiverFlags,
    Refusal,
    Report,
    Sender,
    State,
)
from ._hosts import each
from ._library import Error, NoSuchNode, library
from ._record import Data, Record

R = TypeVar("R", bound=Record)
Hosts = Union[str, Iterable[str]]

#: A newer library may know more states.
_STATES_MOST = 64
#: Events that are copied at once.
_EVENTS = 256
_FROM_NOW = 2**64 - 1
#: With these no job should start; others are temporary, or no reason not to use the node. beoboard-gate has the same.
_NO_JOB = int(
    Problem.HELD
    | Problem.BAD_HEALTH
    | Problem.ROOT_READONLY
    | Problem.MEMORY_ERRORS
    | Problem.GPU_LOST
    | Problem.GPU_ERRORS
)
_NAN = struct.pack("<d", float("nan"))


def _c_text(text: bytes, what: str) -> bytes:
    """The same, for a call in C, which would take a NUL for its end."""
    if b"\0" in text:
        raise ValueError(f"a NUL in {what}")
    return text


def _numbers(data: Data, size: int, at: int) -> Iterator[int]:
    """A number of 32 bits of each record of an array."""
    return (number for number, in struct.iter_unpack(f"<{at}xI{size - at - 4}x", data))


def _names(data: Data, size: int) -> List[str]:
    """The name of each, with which it begins."""
    rows = struct.iter_unpack(f"{_abi.NAME_MAX}s{size - _abi.NAME_MAX}x", data)
    return [name.split(b"\0", 1)[0].decode("utf-8", "replace") for name, in rows]


def _address(data: bytearray, at: int = 0) -> int:
    """Where the bytes lie, for a call that fills them."""
    return ctypes.addressof(ctypes.c_char.from_buffer(data, at))


class Memory(_abi.Memory):
    """What the board remembers of a node's trouble, besides its reports; ages in ns, None: there was none."""

    __slots__ = ()

    @property
    def trouble(self) -> Dict[Problem, _abi.Episode]:
        """The last time of each problem that the node has had."""
        return {Problem(1 << n): episode for n, episode in enumerate(self.episodes) if episode.count > 0}


class Event(_abi.Event):
    """What the receiver wrote down. Numbers that are left out are events that were missed."""

    __slots__ = ("node",)

    def __init__(self, data: bytes, at: int, board: Board) -> None:
        super().__init__(data, at)
        #: The name of the node that it is about, or None.
        self.node: Optional[str] = board._name(self.subject) if self.kind.text.startswith("of a record") else None

    @property
    def reason(self) -> Optional[Reason]:
        """Why a report was rejected; None of any other kind."""
        return Reason(self.detail) if self.kind == EventKind.REFUSAL else None


class Node(_abi.Node):
    """A node as it was when the board was asked. Its reports, rates and memory are copied when they are first asked
    for, as they are then; each is asked for once. None is what was not measured."""

    __slots__ = ("_board", "_index", "_made", "_reports", "_rates")

    def __init__(self, board: Board, data: bytes, at: int, index: int) -> None:
        super().__init__(data, at)
        self._board = board
        self._index = index
        self._made = board._made
        self._reports: Optional[Tuple[Report, Report]] = None
        self._rates: Optional[Rates] = None

    def _at_now(self) -> int:
        """Its index on the board that is open now."""
        if self._made != self._board._made:
            self._index = self._board._find(self.name)
            self._made = self._board._made
        return self._index

    def _both(self) -> Tuple[Report, Report]:
        if self._reports is None:
            size = Report.size
            data = bytearray(2 * size)
            at = _address(data)
            self._board._call("beoboard_reports", self._at_now(), at, at + size, size)
            self._reports = Report(data), Report(data, size)
        return self._reports

    @property
    def report(self) -> Report:
        """Its newest report; `number` 0, and nothing measured: there is none."""
        return self._both()[0]

    @property
    def before(self) -> Report:
        """The report before that one."""
        return self._both()[1]

    @property
    def rates(self) -> Rates:
        """Counters per second and CPU shares in per cent, between the last two reports of one boot."""
        if self._rates is None:
            data = bytearray(_NAN * (Rates.size // 8))
            self._board._maybe("beoboard_rates", self._at_now(), _address(data), Rates.size)
            self._rates = Rates(data)
        return self._rates

    @property
    def problems(self) -> Problem:
        """The problems that its last reports show; none is false."""
        return Problem(self._board._maybe("beoboard_problems", self._at_now()) or 0)

    @property
    def recent(self) -> Problem:
        """The problems that are not over: a program that was killed for memory is recent for ten minutes."""
        return Problem(self._board._maybe("beoboard_recent", self._at_now()) or 0)

    @property
    def recently(self) -> Problem:
        """Those of them that it does not have now and that are measured, as `beoboard status` counts them: none of a node
        that is not heard."""
        memory = self.memory if self.state in (State.LIVE, State.UNCERTAIN) else None
        if memory is None:
            return Problem(0)
        limit = max(60_000, 3 * self.interval_ms if self.interval_ms > 20_000 else 0) * 1_000_000
        lost = (n for n, age in enumerate(memory.measured_age_ns) if memory.unmeasured >> n & 1 and age >= limit)
        return memory.recent & ~(self.problems | Problem(sum(1 << n for n in lost)))

    @property
    def memory(self) -> Optional[Memory]:
        """What the board remembers of its trouble, last words included; None: nothing."""
        data = bytearray(Memory.size)
        found = self._board._maybe("beoboard_memory", self._at_now(), _address(data), Memory.size)
        return None if found is None else Memory(data)

    @property
    def last_words(self) -> LastWords:
        """What its last report before a silence or a boot said; false: nothing, or there was none."""
        memory = self.memory
        return LastWords(0) if memory is None or memory.last_words_age_ns is None else memory.last_words

    @property
    def last_refusal(self) -> Optional[Refusal]:
        """The last report of it that was rejected; None: there was none."""
        data = bytearray(Refusal.size)
        found = self._board._maybe("beoboard_last_refusal", self._at_now(), _address(data), Refusal.size)
        return None if found is None else Refusal(data)


class Board:
    """An open board, for one thread at a time. Close it, or use it in `with`."""

    def __init__(self, path: Union[str, os.PathLike[str], None] = None, *, owner: Optional[str] = None) -> None:
        self._handle: Optional[int] = None
        self._library = library()
        #: Where the board lies, as it was given; None: the usual place.
        self.path = None if path is None else os.fspath(path)
        #: Goes up when another board takes the place of this one: indexes from before mean nothing.
        self._made = 0
        handle = ctypes.c_void_p()
        given = None if self.path is None else _c_text(os.fsencode(self.path), "the path of a board")
        user = None if owner is None else _c_text(owner.encode(), "the name of a user")
        self._library.call("beoboard_open_owner", ctypes.addressof(handle), given, user, 0, about=self.path)
        self._handle = handle.value

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a board cannot be copied or pickled: open it again")

    def __repr__(self) -> str:
        return f"<beoboard.Board {self.path or ''}{'' if self._handle else ' closed'}>"

    def close(self) -> None:
        """Nodes and reports that were taken stay good; one that is closed may be closed again."""
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            self._library.function("beoboard_close")(handle)

    # ---- Calls ----

    def _call(self, name: str, *args: Any, about: Optional[str] = None) -> int:
        if self._handle is None:
            raise ValueError("the board is closed")
        return self._library.call(name, self._handle, *args, about=about)

    def _maybe(self, name: str, *args: Any) -> Optional[int]:
        """The same; None when there is nothing to answer from."""
        try:
            return self._call(name, *args)
        except Error as error:
            if error.errno == errno.ENODATA:
                return None
            raise

    def _find(self, name: str) -> int:
        # What no node can be called is not found either.
        text = name.encode("utf-8", "surrogatepass").replace(b"\0", b"?")
        try:
            return self._call("beoboard_index", text, about=name)
        except Error as error:
            raise NoSuchNode(error.errno, error.strerror, name) from None

    def _name(self, index: int) -> Optional[str]:
        if not 0 <= index < len(self):
            return None
        data = bytearray(_abi.NAME_MAX)
        length = self._call("beoboard_name", index, _address(data), len(data))
        return data[:length].decode("utf-8", "replace")

    def _prefixes(self, size: int) -> bytearray:
        """The first bytes of each node's structure, all at one time."""
        count = len(self)
        data = bytearray(max(1, count) * size)
        found = self._call("beoboard_read_all", _address(data), size, 0, count)
        del data[found * size :]
        return data

    def _array(self, name: str, kind: Type[R], most: int) -> List[R]:
        data = bytearray(most * kind.size)
        found = self._call(name, _address(data), kind.size, most)
        return [kind(data, n * kind.size) for n in range(found)]

    # ---- Nodes ----

    def __len__(self) -> int:
        """How many nodes there are."""
        return self._call("beoboard_count")

    def __contains__(self, name: str) -> bool:
        try:
            return self._find(name) >= 0
        except NoSuchNode:
            return False

    def node(self, name: str) -> Node:
        """The node of that name; NoSuchNode if there is none."""
        index = self._find(name)
        data = bytearray(Node.size)
        self._call("beoboard_read", index, _address(data), Node.size)
        return Node(self, data, 0, index)

    def nodes(self, hosts: Optional[Hosts] = None) -> List[Node]:
        """All nodes, or those of a host list (`node[001-128]`) or of these names, all as of one time. NoSuchNode for
        a name that is not on the board, HostListError for what is no host list."""
        wanted = None
        if hosts is not None:
            names = each(hosts) if isinstance(hosts, str) else hosts
            found = (self._find(name) for name in names)
            wanted = list(dict.fromkeys(found) if isinstance(hosts, str) else found)
        data = self._prefixes(Node.size)
        indexes = range(len(data) // Node.size) if wanted is None else wanted
        return [Node(self, data, index * Node.size, index) for index in indexes]

    def names(self) -> List[str]:
        """The names of all nodes, in the order of states() and column()."""
        return _names(self._prefixes(_abi.NAME_MAX), _abi.NAME_MAX)

    def states(self) -> List[State]:
        """The state of every node, all as of one time; UNKNOWN while the receiver is stalled."""
        at = _abi.Node.state.at
        known = {int(state): state for state in State}
        return [known.get(number) or State(number) for number in _numbers(self._prefixes(at + 4), at + 4, at)]

    def tally(self) -> Dict[State, int]:
        """How many nodes are in each state."""
        data = bytearray(4 * _STATES_MOST)
        self._call("beoboard_tally", _address(data))
        counts = {state: 0 for state in State}
        counts.update({State(n): count for n, (count,) in enumerate(struct.iter_unpack("<i", data)) if count > 0})
        return counts

    def fitness(self, brake: Optional[float] = None) -> Dict[str, str]:
        """For whoever places work, by the rules of beoboard-gate(8): of each node an empty text, or why no job should
        start there. In doubt a node is left out: it is uncertain, was never heard, or is silent behind a link that is
        down or dark. Error if nothing may be concluded: the receiver is stalled, or more nodes are silent or uncertain
        than `brake` (None: the larger of 3 and 10 %). Then change nothing."""
        data, size = self._prefixes(Node.size), Node.size
        states = list(_numbers(data, size, _abi.Node.state.at))
        # After the states: a link is found to be dark before the first of its nodes is silent.
        trusted = LinkFlags.UP | LinkFlags.DARK
        at_fault = {link.number for link in self.links() if link.flags & trusted != LinkFlags.UP}
        if self.receiver().flags & (ReceiverFlags.STALLED | ReceiverFlags.RETIRED):
            raise Error(errno.ESTALE, self._library.sentence(-errno.ESTALE), self.path)
        unheard = states.count(State.SILENT) + states.count(State.UNCERTAIN)
        limit = max(3, len(states) / 10) if brake is None else brake
        if not unheard <= limit:
            why = f"{unheard} of {len(states)} nodes are silent or uncertain, more than the brake of {limit:g}"
            raise Error(errno.EAGAIN, why, self.path)
        rows = zip(_names(data, size), states, _numbers(data, size, _abi.Node.link.at))
        told: Dict[str, str] = {}
        problems_of = self._library.function("beoboard_problems")
        live, uncertain = int(State.LIVE), int(State.UNCERTAIN)
        for index, (name, state, link) in enumerate(rows):
            # Less than 0: they cannot be read now.
            problems = problems_of(self._handle, index) if state == live or state == uncertain else 0
            if problems > 0 and problems & _NO_JOB:
                told[name] = f"unhealthy: {Problem(problems & _NO_JOB).texts[0]}"
            elif state == live:
                if problems >= 0:
                    told[name] = ""
            elif state == State.LEFT:
                told[name] = "left"
            elif state == State.SILENT and link not in at_fault:
                told[name] = "silent"
        return told

    def columns(self, *fields: str) -> List[List[Any]]:
        """Several fields of the newest report of every node, each in the order of names(): of one report each. None is
        what was not measured. The fields are those of Report: `mem_avail_mib`."""
        found = [vars(Report).get(field) for field in fields]
        for name, field in zip(fields, found):
            if not hasattr(field, "column"):
                raise ValueError(f"{name!r} is no field of a report; `beoboard describe` lists them")
        size, count = Report.size, len(self)
        data = bytearray(max(1, count) * size)
        at, read = _address(data), self._library.function("beoboard_reports")
        for index in range(count):
            read(self._handle, index, at + index * size, None, size)
        del data[count * size :]
        after = size - Report.valid_at - 8
        valid = [sets for sets, in struct.iter_unpack(f"<{Report.valid_at}xQ{after}x", data)]
        return [field.column(data, size, valid) for field in found if field is not None]

    def column(self, field: str) -> List[Any]:
        """One of them. columns() reads the board once for several."""
        return self.columns(field)[0]

    # ---- The receiver, and what happened ----

    def receiver(self) -> Receiver:
        """Whether the monitor itself works: ask before blaming nodes."""
        data = bytearray(Receiver.size)
        self._call("beoboard_receiver", _address(data), Receiver.size)
        return Receiver(data)

    def links(self) -> List[Link]:
        """The interfaces of the master by which nodes report."""
        return self._array("beoboard_links", Link, _abi.LINKS_MAX)

    def senders(self) -> List[Sender]:
        """From where reports came that were rejected."""
        return self._array("beoboard_senders", Sender, _abi.SENDERS_MAX)

    def events(self, after: Optional[int] = 0, follow: Optional[float] = None) -> Iterator[Event]:
        """What the receiver wrote down after event number `after`, the oldest first; None: from now on. With `follow`
        it goes on for ever: it looks again after so many seconds, at the board that is in place then."""
        next_one = ctypes.c_uint64(_FROM_NOW if after is None else after + 1)
        self._call("beoboard_events", ctypes.addressof(next_one), None, _abi.Event.size, 0)
        while True:
            data = bytearray(_EVENTS * Event.size)
            count = self._call("beoboard_events", ctypes.addressof(next_one), _address(data), Event.size, _EVENTS)
            for n in range(count):
                yield Event(data, n * Event.size, self)
            if count > 0:
                continue
            if follow is None:
                return
            time.sleep(follow)
            self._follow()

    def refresh(self) -> bool:
        """Follows the path to the board that is in place now; whether it is another one. Call it about once a second in
        a program that goes on, and when all states are UNKNOWN. Error: there is no other; the old one stays open."""
        changed = self._call("beoboard_refresh", about=self.path) > 0
        self._made += changed
        return changed

    def _follow(self) -> None:
        try:
            self.refresh()
        except Error:
            pass  # there is no other: the old one stays


def open(path: Union[str, os.PathLike[str], None] = None, *, owner: Optional[str] = None) -> Board:
    """Opens the board: that of this machine, or the one at `path`. A board is trusted only if it is of root, of
    beoboard, of who runs this, or of the user `owner` (else: that BEOBOARD_OWNER names). Raises Error with the
    library's sentence, LibraryError if there is no library. It is mapped: if its owner cuts the file short, which the
    receiver never does, a read ends the program by SIGBUS."""
    return Board(path, owner=owner)
