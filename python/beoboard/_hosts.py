"""Host lists (`node[001-128],login1`) as Slurm, pdsh and ClusterShell have them, without sets, groups and steps."""

from __future__ import annotations

import re
from typing import Dict, Iterable, Iterator, List, Tuple

#: As many as a board can have.
MOST_NAMES = 1_000_000
NAME_LENGTH = 63
#: More digits are text, not a number.
MOST_DIGITS = 15
#: pdsh takes no more numbers in one range.
MOST_RANGE = 16_384

_ENTRY = re.compile(r"(?:\[([^][]*)\]|[a-z0-9._-]+)")
_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?\Z")
_NUMBER = re.compile(r"[0-9]{1,15}\Z")


class HostListError(ValueError):
    """A text that is no host list: its sentence says the column, from 1 on, and what to write."""


def _refuse(at: int, why: str) -> HostListError:
    return HostListError(f"host list, column {at + 1}: {why}")


def _range(text: str, at: int) -> Tuple[int, int, int]:
    """First, last and width of one piece of a bracket."""
    found = _RANGE.match(text)
    if found is None:
        odd = re.search(r"[\s/]", text)
        raise _refuse(
            at + (odd.start() if odd else 0), f"{text[:40]!r} is not a range of numbers; write digits, as in node[1-3]"
        )
    low, high = found.group(1), found.group(2) or found.group(1)
    first, last = int(low[: MOST_DIGITS + 1]), int(high[: MOST_DIGITS + 1])
    if max(len(low), len(high)) > MOST_DIGITS:
        raise _refuse(at, f"a number that is too long; at most {MOST_DIGITS} digits can be counted")
    padded = any(len(digits) > 1 and digits[0] == "0" for digits in (low, high))
    if padded and len(low) != len(high):
        raise _refuse(at, f"{text!r} is padded unevenly; write {first}-{last}")
    if first > last:
        raise _refuse(at, f"{text!r} runs backwards; write {high}-{low}")
    return first, last, len(low) if padded else 0


_Part = List[Tuple[int, int, int]]


def _entry(text: str, at: int) -> Tuple[List[object], int, int]:
    """The name that begins there: its texts and brackets, how many names it is, and where it ends."""
    parts: List[object] = []
    begun, names, longest = at, 1, 0
    while at < len(text) and text[at] != ",":
        found = _ENTRY.match(text, at)
        if found is None:
            raise _refuse(at, f"{text[at]!r} is not allowed here; names are made of a-z 0-9 . _ -, as in node[1-3]")
        if found.group(1) is None:
            parts.append(found.group())
            longest += len(found.group())
        else:
            ranges: _Part = []
            column = at + 1
            for piece in found.group(1).split(","):
                ranges.append(_range(piece, column))
                column += len(piece) + 1
            parts.append(ranges)
            names *= sum(last - first + 1 for first, last, _ in ranges)
            longest += max(max(width, len(str(last))) for _, last, width in ranges)
        if longest > NAME_LENGTH:
            raise _refuse(begun, f"a name that is too long; names have at most {NAME_LENGTH} characters")
        at = found.end()
    if at == begun:
        raise _refuse(at, "an empty name; write names, as in node[1-3],login1")
    if text[begun] in "._-":
        raise _refuse(begun, f"a name that begins with {text[begun]!r}; begin with a letter or digit")
    return parts, names, at


def _numbers(ranges: _Part) -> Iterator[str]:
    for first, last, width in ranges:
        for number in range(first, last + 1):
            yield str(number).zfill(width)


def _made(parts: List[object], begun: str = "") -> Iterator[str]:
    """The names of one entry, the last bracket fastest."""
    if not parts:
        yield begun
        return
    for text in _numbers(parts[0]) if isinstance(parts[0], list) else [str(parts[0])]:
        yield from _made(parts[1:], begun + text)


def each(hosts: str) -> Iterator[str]:
    """The names of a host list, one after another: who does not know one need not make the rest. HostListError."""
    entries: List[List[object]] = []
    total, at = 0, 0
    while True:
        parts, names, end = _entry(hosts, at)
        total += names
        if total > MOST_NAMES:
            raise _refuse(at, f"too many names; at most {MOST_NAMES} are allowed; shorten the range")
        entries.append(parts)
        if end == len(hosts):
            break
        at = end + 1
    for parts in entries:
        yield from _made(parts)


def expand(hosts: str) -> List[str]:
    """The names of a host list, each once, in the order of their first appearance; HostListError if it is none."""
    return list(dict.fromkeys(each(hosts)))


def _key(piece: str) -> Tuple[int, int, str, int]:
    """Of a number of any length, or of one other character."""
    digits = piece.lstrip("0")
    return (ord("0"), len(digits), digits, len(piece)) if piece[0] in "0123456789" else (ord(piece), 0, "", 0)


def _order(name: str) -> List[Tuple[int, int, str, int]]:
    """The order of people: digits by their number, all else by its characters."""
    return [_key(piece) for piece in re.findall(r"[0-9]+|[^0-9]", name)]


def _ranges(numbers: List[str]) -> str:
    """The numbers behind one beginning."""
    padded = {len(digits) for digits in numbers if len(digits) > 1 and digits[0] == "0"}
    rows = sorted({(len(digits) if len(digits) in padded else 0, int(digits)) for digits in numbers})
    found: List[Tuple[int, int, int]] = []
    for width, value in rows:
        first, its, last = found[-1] if found else (0, -1, 0)
        if its == width and value == last + 1 and value - first < MOST_RANGE:
            found[-1] = (first, width, value)
        else:
            found.append((value, width, value))
    found.sort()
    texts = [
        str(first).zfill(width) + ("" if first == last else f"-{str(last).zfill(width)}") for first, width, last in found
    ]
    return texts[0] if len(rows) == 1 else f"[{','.join(texts)}]"


def fold(names: Iterable[str]) -> str:
    """The host list of these names, in the order of people: `login1,node[001-128]`; of none an empty text."""
    alone: Dict[str, None] = {}
    groups: Dict[str, List[str]] = {}
    for name in names:
        found = _NUMBER.search(name)
        if found is None or found.start() == 0:
            alone[name] = None
        else:
            groups.setdefault(name[: found.start()], []).append(found.group())
    parts = [(_order(name), 0, name) for name in alone]
    parts += [(_order(begin), 1, begin + _ranges(numbers)) for begin, numbers in groups.items()]
    return ",".join(text for _, _, text in sorted(parts))
