"""Records: bytes that the library filled, and their fields, which are only read when they are asked for."""

from __future__ import annotations

import enum
import struct
from typing import (
    Any,
    Callable,
    ClassVar,
    Dict,
    Generic,
    Iterator,
    List,
    NoReturn,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
    overload,
)

T = TypeVar("T")
#: What the library filled; nobody changes it afterwards.
Data = Union[bytes, bytearray]
R = TypeVar("R", bound="Record")
B = TypeVar("B", bound="Bits")

#: An age that the library has for "never", besides -1.
NEVER_NS = 2**63 - 1


class Word(enum.IntEnum):
    """A number that has a word, its `str()`, and a sentence, its `text`."""

    text: str

    def __new__(cls, value: int, text: str = "not known to this module") -> Word:
        member = int.__new__(cls, value)
        member._value_ = value
        member.text = text
        return member

    @classmethod
    def _missing_(cls, value: object) -> Optional[Word]:
        """A number of a newer library: it is kept, as NUMBER_n."""
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_, member._value_, member.text = f"NUMBER_{value}", value, "not known to this module"
        known: Dict[Any, Any] = cls._value2member_map_
        found: Word = known.setdefault(value, member)
        return found

    def __str__(self) -> str:
        return self.name.lower()

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


#: The sentences of bits: class name → bit → sentence.
_SENTENCES: Dict[str, Dict[int, str]] = {}


def says(sentences: Dict[int, str]) -> Callable[[Type[B]], Type[B]]:
    """Gives each bit of a class its sentence."""

    def decorate(bits: Type[B]) -> Type[B]:
        _SENTENCES[bits.__name__] = sentences
        return bits

    return decorate


class Bits(enum.IntFlag):
    """A set of bits; those that only a newer library knows are kept. `HELD in node.problems` asks for one."""

    @property
    def numbers(self) -> Tuple[int, ...]:
        """The numbers of its bits, from 0 on."""
        return tuple(n for n in range(self.value.bit_length()) if self.value >> n & 1)

    @property
    def words(self) -> Tuple[str, ...]:
        """A word for each bit: `held`, `root_full`."""
        names = {member.value: name for name, member in type(self).__members__.items()}
        return tuple(names.get(1 << n, f"bit_{n}").lower() for n in self.numbers)

    @property
    def texts(self) -> Tuple[str, ...]:
        """A sentence for each bit."""
        sentences = _SENTENCES.get(type(self).__name__, {})
        return tuple(sentences.get(n, "not known to this module") for n in self.numbers)

    def __str__(self) -> str:
        return ",".join(self.words)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class Record:
    """Some bytes of the library's; nothing that is on the board now changes it."""

    __slots__ = ("_data", "_at", "_sets")

    #: Bytes of the structure, as this module knows it.
    size: ClassVar[int]
    #: Where it says which sets were measured; -1: the record that it is a part of does.
    valid_at: ClassVar[int] = -1
    #: Whether an entry of an array is in use only if it has a name, at its beginning.
    named: ClassVar[bool] = False

    def __init__(self, data: Data, at: int = 0, sets: int = 0) -> None:
        self._data = data
        self._at = at
        self._sets: int = sets if self.valid_at < 0 else struct.unpack_from("<Q", data, at + self.valid_at)[0]

    @classmethod
    def fields(cls) -> Iterator[str]:
        """The names of its fields."""
        for base in cls.__mro__:
            yield from (name for name, value in vars(base).items() if isinstance(value, Field))

    def as_dict(self) -> Dict[str, Any]:
        """All fields by name, with dictionaries for the records in it."""
        return {name: _plain(getattr(self, name)) for name in self.fields()}

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items() if value is not None)
        return f"{type(self).__name__}({said})"


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.as_dict()
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value


class Field(Generic[T]):
    """A field of a record, which cannot be set."""

    def __init__(
        self, read: Callable[[Data, int, int], T], code: str, at: int, doc: str, sets: int = 0
    ) -> None:
        self.read = read
        #: Its code for `struct` if it is one number or text, and its offset.
        self.code, self.at = code, at
        #: The bits of the sets without which it was not measured; 0: it is always there.
        self.sets = sets
        self.__doc__ = doc

    @overload
    def __get__(self, record: None, owner: Type[Record]) -> Field[T]: ...

    @overload
    def __get__(self, record: Record, owner: Type[Record]) -> T: ...

    def __get__(self, record: Optional[Record], owner: Type[Record]) -> Union[Field[T], T]:
        if record is None:
            return self
        return self.read(record._data, record._at + self.at, record._sets)

    def __set__(self, record: Record, value: NoReturn) -> None:
        raise AttributeError("records cannot be changed")

    def column(self, data: Data, size: int, valid: List[int]) -> List[T]:
        """The field of each record of an array; `valid`: the sets that each has."""
        if self.code == "":
            return [self.read(data, n * size + self.at, sets) for n, sets in enumerate(valid)]
        after = size - self.at - struct.calcsize(self.code)
        values = struct.iter_unpack(f"<{self.at}x{self.code[1:]}{after}x", data)
        sets = self.sets
        found: List[Any] = (
            [value if own & sets else None for (value,), own in zip(values, valid)]
            if sets != 0
            else [value for value, in values]
        )
        return found


def _number(code: str) -> Callable[[Data, int], int]:
    """Reads one number."""
    unpack = struct.Struct(f"<{code}").unpack_from

    def read(data: Data, at: int) -> int:
        value: int = unpack(data, at)[0]
        return value

    return read


def _maybe(read: Callable[[Data, int], T], sets: int) -> Callable[[Data, int, int], Optional[T]]:
    """The same, if one of these sets was measured."""
    return lambda data, at, valid: read(data, at) if valid & sets else None


def number(code: str, at: int, doc: str) -> Field[int]:
    """A number that is always there."""
    one = _number(code)
    return Field(lambda data, at, _: one(data, at), f"<{code}", at, doc)


def maybe_number(
    code: str, at: int, doc: str, sets: int = 0, none: Optional[int] = None, beside: int = 0
) -> Field[Optional[int]]:
    """A number that may not have been measured; `none` stands for one that is not known, and so does 0 in the like
    number that lies `beside` bytes further."""
    one = _number(code)
    if none is None and beside == 0:
        return Field(_maybe(one, sets), f"<{code}", at, doc, sets)

    def read(data: Data, at: int, valid: int) -> Optional[int]:
        value = one(data, at)
        unknown = value in (none, NEVER_NS) or (beside != 0 and one(data, at + beside) == 0)
        return None if unknown or (sets != 0 and not valid & sets) else value

    return Field(read, "", at, doc, sets)


def real(code: str, at: int, doc: str) -> Field[Optional[float]]:
    """A number with a fraction; what was not measured is NaN to the library."""
    one = _number(code)

    def read(data: Data, at: int, _: int) -> Optional[float]:
        value: float = one(data, at)
        return value if value == value else None

    return Field(read, "", at, doc)


def numbers(code: str, at: int, doc: str) -> Field[Tuple[int, ...]]:
    """An array of numbers."""
    unpack = struct.Struct(f"<{code}").unpack_from
    return Field(lambda data, at, _: unpack(data, at), "", at, doc)


def raw(size: int, at: int, doc: str) -> Field[bytes]:
    """Bytes that are no text."""
    return Field(lambda data, at, _: bytes(data[at : at + size]), "", at, doc)


def _text(size: int) -> Callable[[Data, int], str]:
    return lambda data, at: bytes(data[at : at + size]).split(b"\0", 1)[0].decode("utf-8", "replace")


def text(size: int, at: int, doc: str) -> Field[str]:
    """A text, up to its NUL."""
    one = _text(size)
    return Field(lambda data, at, _: one(data, at), "", at, doc)


def maybe_text(size: int, at: int, doc: str, sets: int) -> Field[Optional[str]]:
    """A text that may not be known."""
    return Field(_maybe(_text(size), sets), "", at, doc, sets)


def word(kind: Callable[[int], T], code: str, at: int, doc: str) -> Field[T]:
    """A number that has a word, or a set of bits."""
    one = _number(code)
    return Field(lambda data, at, _: kind(one(data, at)), "", at, doc)


def maybe_word(kind: Callable[[int], T], code: str, at: int, doc: str, sets: int) -> Field[Optional[T]]:
    """The same, if it was measured."""
    one = _number(code)
    return Field(_maybe(lambda data, at: kind(one(data, at)), sets), "", at, doc, sets)


#: How many elements of an array are in use: the code of the number that says it, and how much further that lies.
Counter = Tuple[str, int]


def maybe_words(
    kind: Callable[[int], T], code: str, at: int, doc: str, sets: int, counted: Counter
) -> Field[Optional[Tuple[T, ...]]]:
    """An array of those, as many as are in use."""
    unpack = struct.Struct(f"<{code}").unpack_from
    count = _number(counted[0])
    return Field(
        _maybe(lambda data, at: tuple(map(kind, unpack(data, at)[: count(data, at + counted[1])])), sets),
        "",
        at,
        doc,
        sets,
    )


def part(kind: Type[R], at: int, doc: str) -> Field[R]:
    """A record in a record."""
    return Field(lambda data, at, valid: kind(data, at, valid), "", at, doc)


def maybe_part(kind: Type[R], at: int, doc: str, sets: int) -> Field[Optional[R]]:
    """The same, if it was measured and is in use."""

    def read(data: Data, at: int, valid: int) -> Optional[R]:
        return kind(data, at, valid) if valid & sets and not (kind.named and data[at] == 0) else None

    return Field(read, "", at, doc, sets)


def _parts(kind: Type[R], count: int, data: Data, at: int, valid: int) -> Tuple[R, ...]:
    places = range(at, at + count * kind.size, kind.size)
    return tuple(kind(data, place, valid) for place in places if not (kind.named and data[place] == 0))


def parts(kind: Type[R], count: int, at: int, doc: str) -> Field[Tuple[R, ...]]:
    """An array of records; those that are not in use are left out."""
    return Field(lambda data, at, valid: _parts(kind, count, data, at, valid), "", at, doc)


def maybe_parts(
    kind: Type[R], count: int, at: int, doc: str, sets: int, counted: Optional[Counter] = None
) -> Field[Optional[Tuple[R, ...]]]:
    """The same, if they were measured."""
    used = None if counted is None else _number(counted[0])

    def read(data: Data, at: int, valid: int) -> Optional[Tuple[R, ...]]:
        if not valid & sets:
            return None
        most = count if used is None or counted is None else min(count, used(data, at + counted[1]))
        return _parts(kind, most, data, at, valid)

    return Field(read, "", at, doc, sets)
