"""The layout of a .safetensors file: its header, and the order of its tensors."""

import json
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

import numpy as np

from hoist import _frameworks, _native
from hoist.errors import InvalidArgument, Unsupported

_MOST_HEADER_BYTES = 100_000_000

Prepared = Tuple[str, str, Tuple[int, ...], Any]  # name, dtype, shape, bytes


def to_bytes(prepared: Iterable[Prepared], metadata: Optional[Mapping[str, str]]) -> bytes:
    """The whole file."""
    header, placed = laid_out(prepared, metadata)
    return b"".join([header, *(memoryview(data) for _, _, _, data in placed)])


def to_file(
    prepared: Iterable[Prepared], path: str, metadata: Optional[Mapping[str, str]]
) -> None:
    """What is at `path` is replaced once the new file is whole."""
    header, placed = laid_out(prepared, metadata)
    _native.write_file(path, list(_pieces(header, placed)))


# Smaller arrays are written together: a call for each would cost more than copying them.
_PIECE_BYTES = 1 << 16


def _pieces(header: bytes, placed: Iterable[Prepared]) -> Iterator[Any]:
    small, size = [memoryview(header)], len(header)
    for _, _, _, data in placed:
        if small and size + data.size > _PIECE_BYTES:
            yield np.frombuffer(b"".join(small), np.uint8)
            small, size = [], 0
        if data.size > _PIECE_BYTES:
            yield data
        elif data.size:
            small.append(memoryview(data))
            size += data.size
    if small:
        yield np.frombuffer(b"".join(small), np.uint8)


def laid_out(
    prepared: Iterable[Prepared], metadata: Optional[Mapping[str, str]]
) -> Tuple[bytes, List[Prepared]]:
    """What a .safetensors has before its tensors' bytes, and the tensors in their order. What no
    .safetensors could hold is an error."""
    if metadata is not None and not isinstance(metadata, Mapping):
        raise TypeError(f"metadata is a map of str to str, not a {type(metadata).__name__}")
    prepared = sorted(prepared, key=_place_in_safetensors)
    _check_texts(prepared, metadata)
    header: Dict[str, Any] = {}
    if metadata is not None:
        header["__metadata__"] = dict(metadata)
    offset = 0
    for name, dtype, shape, data in prepared:
        end = offset + data.size
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > _MOST_HEADER_BYTES:
        raise InvalidArgument(
            f"names and metadata make a header of {len(text)} bytes, and safetensors takes 100 MB: "
            "save fewer tensors in a file, or under shorter names"
        )
    return len(text).to_bytes(8, "little") + text, prepared


def prepared_of(tensors: Mapping[str, Any]) -> Iterator[Prepared]:
    """Of arrays by name, of any framework."""
    if not isinstance(tensors, Mapping):
        raise TypeError(f"tensors by name are saved, not a {type(tensors).__name__}")
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise TypeError(f"names of tensors are str, not {type(name).__name__}")
        try:
            dtype, shape, data = _frameworks.framework_of(tensor).parts(tensor)
            if dtype not in SAVED_FIRST:
                raise Unsupported(
                    f"safetensors has no {dtype}: save it with numpy.savez, whose files "
                    "`hoist tensors pack` takes"
                )
            yield name, dtype, shape, data
        except Unsupported as error:
            raise Unsupported(f"tensor '{name}': {error}") from None


# As safetensors lays them out: the widest types first, so that all are aligned.
SAVED_FIRST = (
    "U64 I64 F64 C64 F32 U32 I32 BF16 F16 U16 I16 "
    "F8_E5M2FNUZ F8_E4M3FNUZ F8_E8M0 F8_E4M3 F8_E5M2 I8 U8 F4 BOOL"
).split()


def _place_in_safetensors(tensor: Prepared) -> Tuple[int, str]:
    name, dtype, _, _ = tensor
    return SAVED_FIRST.index(dtype), name


def _check_texts(prepared: List[Prepared], metadata: Optional[Mapping[str, str]]) -> None:
    for name, _, _, _ in prepared:
        _check_text(name)
        if name == "__metadata__":
            raise InvalidArgument("no tensor can be called __metadata__ in safetensors")
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise TypeError(f"metadata is of str to str, not {key!r}: {value!r}")
        _check_text(key)
        _check_text(value)


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{text!r} is no text that UTF-8 could hold: {error.reason}") from None
