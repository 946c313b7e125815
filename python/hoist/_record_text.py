"""What hoist.records encodes: all kinds of sources as a function that gives the next bytes."""

import io
import os
from contextlib import contextmanager
from typing import Any, Callable, Iterable, Iterator, List, Union

from hoist.errors import FileNotFound, InvalidArgument, IoError

Read = Callable[[int], bytes]


def source_path(source: Any) -> List[str]:
    """The source's path, if it has one: such a file is not to be replaced by what is made of it."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    name = getattr(source, "name", None)
    return [name] if isinstance(name, str) and os.path.exists(name) else []


@contextmanager
def reader_of(source: Any) -> Iterator[Read]:
    """read(size) gives up to so many bytes; none at the end."""
    if isinstance(source, (str, os.PathLike)):
        with _opened(os.fspath(source)) as file:
            yield file.read
    elif isinstance(source, (bytes, bytearray, memoryview)):
        yield _of_bytes(memoryview(source).cast("B"))
    elif hasattr(source, "read"):
        yield _of_pieces(iter(lambda: source.read(1 << 20) or b"", b""))
    elif hasattr(source, "__iter__"):
        yield _of_pieces(map(_line, source))
    else:
        raise TypeError(f"a path, bytes, a file or lines, not {type(source).__name__}")


def _opened(path: str) -> io.FileIO:
    try:
        return io.FileIO(path)
    except FileNotFoundError as error:
        raise FileNotFound(error.errno, f"{error.strerror} ({path})") from None
    except OSError as error:
        raise IoError(error.errno, f"{error.strerror} ({path})") from None


def _of_bytes(view: memoryview) -> Read:
    at = 0

    def read(size: int) -> bytes:
        nonlocal at
        piece = bytes(view[at : at + size])
        at += len(piece)
        return piece

    return read


def _of_pieces(pieces: Iterable[Union[str, bytes]]) -> Read:
    iterator = iter(pieces)
    rest = b""

    def read(size: int) -> bytes:
        nonlocal rest
        taken = [rest]
        missing = size - len(rest)
        while missing > 0:
            piece = next(iterator, None)
            if piece is None:
                break
            taken.append(_bytes(piece))
            missing -= len(taken[-1])
        whole = b"".join(taken)
        rest = whole[size:]
        return whole[:size]

    return read


def _bytes(piece: Union[str, bytes]) -> bytes:
    if isinstance(piece, str):
        return piece.encode("utf-8", "surrogateescape")
    if not isinstance(piece, (bytes, bytearray, memoryview)):
        raise TypeError(f"text is str or bytes, not {type(piece).__name__}")
    return bytes(piece)


def _line(line: Union[str, bytes]) -> bytes:
    if not isinstance(line, (str, bytes)):
        raise InvalidArgument(f"lines are str or bytes, not {type(line).__name__}")
    whole = _bytes(line)
    return whole if whole.endswith(b"\n") else whole + b"\n"
