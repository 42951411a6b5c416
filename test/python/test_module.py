"""The Python module on boards that python.test.ts has made; BEOBOARD_CASE is a file of JSON with what they hold."""

import ast
import copy
import gc
import glob
import json
import os
import pickle
import shutil
import time

import pytest

import beoboard
from beoboard import _abi, _hosts, _library, _record
from beoboard import EventKind, Flags, LastWords, Problem, Reason, State

with open(os.environ["BEOBOARD_CASE"], encoding="utf-8") as file:
    CASE = json.load(file)
PLACE = os.path.dirname(beoboard.__file__)


def beat(path):
    """Writes a heartbeat of the receiver, so that the board is not stalled for some seconds."""
    fd = os.open(path, os.O_WRONLY)
    os.pwrite(fd, time.monotonic_ns().to_bytes(8, "little"), CASE["heartbeatAt"])
    os.close(fd)
    return path


def opened(name):
    return beoboard.open(beat(CASE[name]))


def plain(value):
    """As the reader in TypeScript shows it: nothing of what is not known, lists, numbers."""
    if isinstance(value, dict):
        return {key: plain(of) for key, of in value.items() if of is not None}
    if isinstance(value, (tuple, bytes)):
        return [plain(of) for of in value]
    return int(value) if isinstance(value, int) else value


def numbers(value):
    """Large numbers come as texts with an n."""
    if isinstance(value, dict):
        return {key: numbers(of) for key, of in value.items()}
    if isinstance(value, list):
        return [numbers(of) for of in value]
    return int(value[:-1]) if isinstance(value, str) and value[:-1].isdigit() and value[-1] == "n" else value


def test_every_field_is_that_of_the_typescript_reader():
    with opened("reports") as board:
        nodes = board.nodes()
        assert [node.name for node in nodes] == [row["name"] for row in CASE["expected"]]
        for node, row in zip(nodes, CASE["expected"]):
            got = plain(node.report.as_dict())
            assert got.pop("number") == 2 and got.pop("age_ns") >= 0 and got.pop("stamp_ns") > 0
            assert got.pop("stamp_wall_ns") == 5
            assert got == numbers(row["report"])
            assert plain(node.before.as_dict())["seq"] == numbers(row["report"])["seq"] - 1
        whole = [name for name in beoboard.Report.fields() if name != "age_ns"]
        columns = dict(zip(whole, board.columns(*whole)))
        for index, node in enumerate(nodes):
            assert {name: repr(columns[name][index]) for name in whole} == {
                name: repr(getattr(node.report, name)) for name in whole
            }
        assert board.column("mem_avail_mib") == columns["mem_avail_mib"]
        assert None in columns["mem_avail_mib"] and any(columns["mem_avail_mib"])


def test_structures_are_those_of_the_library():
    classes = {name: getattr(_abi, cls) for name, cls in CASE["classes"].items()}
    for line in CASE["layout"]:
        struct, field, offset, *_ = line.split(" ")
        kind = classes.get(struct)
        if kind is None or "share" in line or field in ("reserved", "report"):
            continue
        assert vars(kind)[field].at == int(offset), line
    assert len(classes) > 8
    for name, size in CASE["sizes"].items():
        assert classes[name].size == size, name


def test_fields_have_units_and_cannot_be_set():
    assert vars(beoboard.Report)["mem_avail_mib"].__doc__.startswith("MiB, set memory: ")
    for cls in vars(beoboard).values():
        if isinstance(cls, type):
            assert cls.__doc__, cls
            if issubclass(cls, _record.Record):
                assert all(vars(base)[name].__doc__ for base in cls.__mro__ for name in vars(base) if name in cls.fields())
    with opened("states") as board:
        with pytest.raises(AttributeError):
            board.nodes()[0].report.mem_avail_mib = 5


def test_states():
    with opened("states") as board:
        wanted = {name: State[state.upper()] for state, names in CASE["wanted"].items() for name in names}
        assert dict(zip(board.names(), board.states())) == wanted
        assert {node.name: node.state for node in board.nodes()} == wanted
        assert len(board) == len(wanted) and "n001" in board and "n999" not in board
        counts = board.tally()
        assert {str(state): count for state, count in counts.items() if count} == {
            state: len(names) for state, names in CASE["wanted"].items()
        }
        assert f"{board.node('n001').state}" == "live" and State.LIVE.text.startswith("heard within")
        never = board.node("n008")
        assert (never.age_ns, never.report.number, never.report.mem_avail_mib, never.report.net) == (None, 0, None, None)
        assert (never.memory, never.last_words, never.last_refusal) == (None, LastWords(0), None)
        assert never.rates.seconds is None and never.rates.net[:1] == () and never.rates.ctxt is None
        held = board.node("n009")
        assert held.problems == Problem.HELD and Problem.HELD in held.problems
        assert held.problems.words == ("held",) and held.problems.texts == ("put on hold by its administrator",)
        assert held.flags == Flags.HELD and not board.node("n001").problems


def test_a_stalled_board_says_nothing_of_nodes():
    with beoboard.open(CASE["stalled"]) as board:
        assert set(board.states()) == {State.UNKNOWN}
        assert beoboard.ReceiverFlags.STALLED in board.receiver().flags


def test_fitness():
    with opened("states") as board:
        with pytest.raises(beoboard.Error, match="3 of 9 nodes are silent or uncertain, more than the brake of 2$"):
            board.fitness(brake=2)
        with pytest.raises(beoboard.Error, match="more than the brake of nan$"):
            board.fitness(brake=float("nan"))
        assert board.fitness() == {
            **dict.fromkeys(["n001", "n002", "n003", "n007"], ""),
            **{"n004": "silent", "n005": "silent", "n007": "left"},
            "n009": "unhealthy: put on hold by its administrator",
        }
    with beoboard.open(CASE["stalled"]) as board, pytest.raises(beoboard.Error, match="stalled"):
        board.fitness()


def test_what_no_board_and_no_node_can_be_called():
    with opened("states") as board:
        for name in ("n001\0", "n001\0x", "\0", "", "\ud800", "\udcff", "é", "N001", "n001\n", "x" * 100_000):
            assert name not in board
            with pytest.raises(beoboard.NoSuchNode):
                board.nodes([name])
    for given in ({"path": f"{CASE['states']}\0x"}, {"path": CASE["states"], "owner": "root\0x"}):
        with pytest.raises(ValueError, match="^a NUL in "):
            beoboard.open(**given)
    for name in ("n" + "1" * 5000, "n" + "1" * 5000 + "x"):
        assert beoboard.fold([name, "n2"]) == f"n2,{name}"


def test_a_board_is_neither_copied_nor_pickled():
    with opened("states") as board:
        node = board.node("n001")
        for use, what in ((copy.copy, board), (copy.deepcopy, node), (pickle.dumps, board), (pickle.dumps, node)):
            with pytest.raises(TypeError, match="^a board cannot be copied or pickled: open it again$"):
                use(what)
        assert copy.copy(node).report.number == node.report.number
        gc.collect()
        assert board.states()[0] == State.LIVE


def test_a_child_of_fork_has_the_board_too():
    board = opened("states")
    node = board.node("n001")
    child = os.fork()
    if child == 0:
        os._exit(0 if node.report.number > 0 and not board.close() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert node.report.number > 0 and not board.refresh()
    board.close()


def test_many_boards():
    path = beat(CASE["states"])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3000):
        beoboard.open(path)
    boards = [beoboard.open(path) for _ in range(200)]
    assert all(board.states() == boards[0].states() for board in boards)
    for board in boards:
        board.close()
    assert len(os.listdir("/proc/self/fd")) == before
    with open("/proc/self/maps", encoding="utf-8") as maps:
        assert path not in maps.read()


def test_events_of_a_board_that_is_closed_or_gone(tmp_path):
    path = str(tmp_path / "board")
    shutil.copy(beat(CASE["past"]), path)
    with beoboard.open(path) as board:
        events = board.events(follow=0.001)
        last = [next(events).number for _ in list(board.events())][-1]
        os.unlink(path)
        shutil.copy(beat(CASE["moved"]), path)
        # The other board counts its own, from the first on.
        assert next(events).number <= last
        rest = board.events()
        next(rest)
    for ended in (events, rest):
        with pytest.raises(ValueError, match="the board is closed"):
            list(ended)
        assert list(ended) == []


def test_host_lists_in_and_out():
    with opened("states") as board:
        nodes = board.nodes("n[001-003],n009")
        assert [node.name for node in nodes] == ["n001", "n002", "n003", "n009"]
        assert beoboard.fold(node.name for node in nodes) == "n[001-003,009]"
        assert [node.name for node in board.nodes(["n002"])] == ["n002"]
        with pytest.raises(beoboard.NoSuchNode, match="^n999: no such board or node") as caught:
            board.nodes("n[001,999]")
        assert isinstance(caught.value, LookupError) and isinstance(caught.value, beoboard.Error)
        with pytest.raises(beoboard.HostListError, match="column 2: "):
            board.nodes("n[1-3")
        made, numbers = [], _hosts._numbers
        with pytest.MonkeyPatch.context() as patch, pytest.raises(beoboard.NoSuchNode):
            patch.setattr(_hosts, "_numbers", lambda ranges: (made.append(text) or text for text in numbers(ranges)))
            board.nodes("n[001-003],x[1-1000][1-900]")
        assert len(made) < 10, "no name is made behind the first that is not on the board"
    for row in CASE["hosts"]["accept"]:
        assert sorted(beoboard.expand(row["expr"])) == sorted(row["hosts"])
    for row in CASE["hosts"]["reject"]:
        with pytest.raises(beoboard.HostListError):
            beoboard.expand(row["expr"])
    for hosts, folded in CASE["folded"]:
        assert beoboard.fold(hosts) == folded and beoboard.fold(reversed(hosts)) == folded
        assert not hosts or sorted(beoboard.expand(folded.lower())) == sorted({name.lower() for name in hosts})
    for text, names in CASE["expanded"]:
        assert beoboard.expand(text) == names
    for text, column in CASE["refused"]:
        with pytest.raises(beoboard.HostListError, match=f"^host list, column {column}: "):
            beoboard.expand(text)
    assert sorted(["n10", "n9", "a", "n2b"], key=_hosts._order) == ["a", "n2b", "n9", "n10"]


def test_rates_memory_and_events():
    with opened("past") as board:
        node = board.node("trouble")
        assert node.rates.oom_kills == 0 and node.rates.ctxt == 250 and node.rates.disk_reads is None
        assert node.rates.seconds == 1 and node.rates.slow_seconds is None
        memory = node.memory
        assert memory.silences == 1 and memory.stood_still_ns == 58_000_123_000 and set(memory.trouble) == {Problem.OOM, Problem.HELD}
        episode = memory.trouble[Problem.OOM]
        assert episode.count == 1 and episode.begin_age_ns >= 299e9
        assert memory.boot_age_ns is None and memory.silence_end_age_ns < memory.silence_age_ns
        assert node.last_words == LastWords.OOM and node.last_words.texts == ("programs were killed, memory ran out",)
        assert node.recent == node.recently == Problem.OOM and not node.problems
        assert board.node("well").last_words == LastWords(0)
        refusal = board.node("well").last_refusal
        assert refusal.reason == Reason.RIVAL and refusal.is_newer == 1
        events = list(board.events())
        assert [event.number for event in events] == sorted(event.number for event in events)
        told = [(event.kind, event.node, event.reason) for event in events if event.node]
        assert (EventKind.REFUSAL, "well", Reason.RIVAL) in told and (EventKind.RESTART, "again", None) in told
        assert list(board.events(after=events[-2].number))[-1].number == events[-1].number
        assert list(board.events(after=events[-1].number)) == [] and list(board.events(after=None)) == []
        following = board.events(follow=0.01)
        assert [next(following).number for _ in events] == [event.number for event in events]
        [eth0] = [link for link in board.links() if link.name == "eth0"]
        assert beoboard.LinkFlags.UP in eth0.flags and node.link == eth0.number
        assert board.receiver().cluster == "alpha" and board.receiver().refused[Reason.RIVAL] == 1
        assert isinstance(board.senders(), list)


def test_another_board_takes_the_place(tmp_path):
    path = str(tmp_path / "board")
    shutil.copy(beat(CASE["past"]), path)
    with beoboard.open(path) as board:
        node = board.node("well")
        assert not board.refresh()
        shutil.copy(beat(CASE["moved"]), path + ".new")
        os.replace(path + ".new", path)
        assert board.refresh()
        # Its index is another one, and what is asked for from now on is of the new board.
        assert node.report.seq == 77 and board.node("well").report.seq == 77
        gone = board.nodes()[0]
        shutil.copy(beat(CASE["past"]), path + ".new")
        os.replace(path + ".new", path)
        assert board.refresh()
        with pytest.raises(beoboard.NoSuchNode, match="^first: "):
            gone.report
        os.unlink(path)
        with pytest.raises(beoboard.Error, match="no such board"):
            board.refresh()
        assert len(board) > 0


def test_errors_are_the_sentences_of_the_library(tmp_path):
    with pytest.raises(beoboard.Error) as caught:
        beoboard.open(str(tmp_path / "none"))
    assert caught.value.errno == 2
    assert str(caught.value) == f"{tmp_path}/none: no such board or node: is the receiver running, and the name right?"
    (tmp_path / "text").write_text("x" * 5000)
    with pytest.raises(beoboard.Error, match="not a board, or one of another version"):
        beoboard.open(tmp_path / "text")
    with opened("states") as board:
        node = board.node("n001")
        report = node.report
        with pytest.raises(ValueError, match="'mem_avail' is no field of a report"):
            board.column("mem_avail")
    assert node.report is report and node.state == State.LIVE
    for use in (board.states, board.names, lambda: board.column("seq"), lambda: node.rates, board.refresh):
        with pytest.raises(ValueError, match="the board is closed"):
            use()
    board.close()


@pytest.fixture
def other(monkeypatch):
    """Puts another library in the place of the one that was loaded."""

    def use(name):
        monkeypatch.setattr(_library, "_library", _library.Library(CASE["libraries"][name]))
        return beoboard.open("anywhere")

    return use


def test_an_older_library(other):
    with other("older") as board:
        assert [(node.name, node.state, node.link, node.cpus) for node in board.nodes()] == [
            ("a", State.LIVE, 0, 64),
            ("b", State.SILENT, 0, 64),
        ]
        assert board.states() == [State.LIVE, State.SILENT] and board.names() == ["a", "b"]
        assert board.columns("mem_avail_mib", "fs_avail_mib") == [[1000, 1001], [0, 0]]
        assert (board.node("b").report.mem_avail_mib, board.receiver().unfit_drops) == (1001, 0)
        with pytest.raises(beoboard.LibraryError, match=r"is too old: it has no beoboard_memory\(\); install a newer"):
            board.node("a").memory
        with pytest.raises(beoboard.LibraryError, match=r"is too old: it has no beoboard_links\(\)"):
            board.fitness()


def test_a_newer_library(other):
    with other("newer") as board:
        first, second = board.nodes()
        assert (first.state, first.link, second.state.name, str(second.state)) == (State.LIVE, 7, "NUMBER_6", "number_6")
        assert second.state is State(6) and second.state not in list(State) and second.state.text
        assert board.states() == [State.LIVE, State(6)]
        assert {str(state): count for state, count in board.tally().items() if count} == {"live": 1, "number_7": 1}
        assert first.problems.words == ("oom", "bit_20") and Problem.OOM in first.problems and not second.problems
        assert first.problems.texts[1] == "not known to this module"
        assert board.column("fs_avail_mib") == [5, 5]
        [event] = board.events()
        assert (str(event.kind), event.kind, event.node, event.reason) == ("number_99", 99, None, None)
        assert beoboard.ReceiverFlags.FILTERING in board.receiver().flags


def test_a_library_of_another_interface_or_none(other):
    with pytest.raises(beoboard.LibraryError, match=r"is libbeoboard 2\.9\.0; this module needs one of version 1$"):
        other("major")
    with pytest.raises(beoboard.LibraryError, match="cannot be loaded .* install libbeoboard1 .* BEOBOARD_LIBRARY"):
        _library.Library("/nowhere/libbeoboard.so.1")


def test_what_the_document_shows(monkeypatch, capsys):
    asked = []
    real = beoboard.open
    monkeypatch.setattr(beoboard, "open", lambda: asked.append(real(beat(CASE["states"]))) or asked[0])
    exec(CASE["shown"].replace("node[001-128]", "n[001-003]"), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["n001 None None", "n002 None None", "n003 None None"] and lines[3] == "n[004-005]"
    assert len(asked) == 1 and len(lines) > 4


def test_the_sources_are_of_python_3_9():
    sources = [*glob.glob(f"{PLACE}/*.py"), *CASE["examples"]]
    assert len(sources) > 5
    for path in sources:
        with open(path, encoding="utf-8") as source:
            ast.parse(source.read(), path, feature_version=(3, 9))
