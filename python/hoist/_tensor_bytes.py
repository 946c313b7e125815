"""Files of tensors whose bytes are in memory."""

import os
from contextlib import contextmanager
from typing import Any, Iterator, NoReturn, Optional, Sequence, Tuple

import numpy as np

from hoist._tensor_files import GROUP_BYTES, ModelFile, TensorFile, Wanted, open_file
from hoist.errors import Error

# Places in a copy are those in the file modulo that, so that what is aligned stays so.
_ALIGNMENT = 64


@contextmanager
def opened_bytes(data: Any, is_for_cpu: bool = True) -> Iterator[TensorFile]:
    """A file of these bytes, to use while this lasts. It is a copy of them in memory; where the CPU
    loads a .safetensors, of the header only."""
    given = memoryview(data).cast("B")
    header = _header_of(given) if is_for_cpu else None
    descriptor = os.memfd_create("tensors")
    path = f"/proc/self/fd/{descriptor}"
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(given if header is None else header)
        if header is None:
            yield open_file(path)
        else:
            os.truncate(descriptor, len(given))
            yield SafetensorsBytes(path, given)
    except Error as error:
        _raise_without(path, error)
    finally:
        os.close(descriptor)


def _header_of(given: memoryview) -> Optional[memoryview]:
    end = 8 + int.from_bytes(given[:8], "little")
    return given[:end] if end <= len(given) and bytes(given[8:9]) == b"{" else None


def _raise_without(path: str, error: Error) -> NoReturn:
    """The same error, but that nobody looks for the file."""
    texts = [arg.replace(path, "the bytes") if isinstance(arg, str) else arg for arg in error.args]
    raise type(error)(*texts) from None


class SafetensorsBytes(ModelFile):
    """The bytes of a .safetensors, and a file that has its header, and holes for its tensors."""

    def __init__(self, path: str, given: memoryview):
        super().__init__(path, zero_copy=False)
        self._bytes = np.frombuffer(given, np.uint8)

    def can_load_part(self, name: str) -> bool:
        return False

    def load(self, name: str, target: Optional[float]) -> Tuple[Any, float, bool]:
        _, offset, size, _ = self._source.place(self._index[name])
        return self._copy(offset, offset + size), 1.0, True

    def load_together(self, names: Sequence[str]) -> Iterator[Tuple[str, str, Any, Any, int]]:
        begin = end = 0
        piece: Any = None
        for name in names:
            index = self._index[name]
            _, offset, size, is_aligned = self._source.place(index)
            if not size or not is_aligned:
                alone = self._copy(offset, offset + size)
                yield (*self._outline[index][:3], alone, 0)
                continue
            if offset < begin or offset + size > end:
                begin = offset - offset % _ALIGNMENT
                end = max(offset + size, min(begin + GROUP_BYTES, len(self._bytes)))
                piece = self._copy(begin, end)
            yield (*self._outline[index][:3], piece, offset - begin)

    def _copy(self, begin: int, end: int) -> Any:
        return self._bytes[begin:end].copy()

    def load_onto(self, device: str, wanted: Wanted) -> NoReturn:
        raise AssertionError("a device loads the whole file")
