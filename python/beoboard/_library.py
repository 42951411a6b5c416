"""libbeoboard, loaded when it is first needed. What it refuses becomes an exception with its own sentence."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Dict, Optional

from ._abi import API_VERSION, PROTOTYPES

NAME = f"libbeoboard.so.{API_VERSION}"


class Error(OSError):
    """What the library refuses, or that it is not there: `str()` is a sentence, `errno` the number of beoboard(3)."""

    def __str__(self) -> str:
        if self.strerror is None:
            return super().__str__()
        return self.strerror if self.filename is None else f"{self.filename}: {self.strerror}"


class LibraryError(Error):
    """There is no libbeoboard, or one that is too old or of another interface."""


class NoSuchNode(Error, LookupError):
    """The board has no node of that name."""


class Library:
    """The functions of libbeoboard by name. During a call the interpreter's lock is held, since none waits but the one
    that opens a board: that asks for users by their names."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._functions: Dict[str, Any] = {}
        try:
            self._loaded = ctypes.PyDLL(path)
        except OSError as error:
            raise LibraryError(
                f"{path} cannot be loaded ({error}); install libbeoboard1 (EL: libbeoboard), "
                "or set BEOBOARD_LIBRARY to its path"
            ) from None
        version = self.function("beoboard_version")()
        #: As people write it: 1.0.0.
        self.version = f"{version >> 16}.{version >> 8 & 255}.{version & 255}"
        if version >> 16 != API_VERSION:
            raise LibraryError(f"{path} is libbeoboard {self.version}; this module needs one of version {API_VERSION}")

    def function(self, name: str) -> Any:
        """The function of that name; LibraryError if the library is too old to have it."""
        found = self._functions.get(name)
        if found is None:
            try:
                found = getattr(ctypes.CDLL(self.path) if name.startswith("beoboard_open") else self._loaded, name)
            except AttributeError:
                raise LibraryError(f"{self.path} is too old: it has no {name}(); install a newer one") from None
            found.restype, *found.argtypes = PROTOTYPES[name]
            self._functions[name] = found
        return found

    def call(self, name: str, *args: Any, about: Optional[str] = None) -> int:
        """Its result, which is no error; Error with the library's sentence if it is. `about`: the board or the node."""
        result: int = self.function(name)(*args)
        if result < 0:
            raise Error(-result, self.sentence(result), about)
        return result

    def sentence(self, error: int) -> str:
        """What the library says of an error, which is negative."""
        said: bytes = self.function("beoboard_strerror")(error)
        return said.decode()


_library: Optional[Library] = None


def library() -> Library:
    """The one that the environment variable BEOBOARD_LIBRARY names, or that the linker finds; loaded once."""
    global _library
    if _library is None:
        _library = Library(os.environ.get("BEOBOARD_LIBRARY") or NAME)
    return _library
