"""The bytes of files, from memory that is described by its address, and back."""

import ctypes
import math
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from hoist import _native
from hoist import _safetensors_layout as layout
from hoist._tensor_bytes import opened_bytes
from hoist._tensor_files import PathLike, file_path
from hoist.safetensors._errors import InvalidArgument, as_safetensors

# Names of safetensors by those of the frameworks.
_NAMES = {framework: name for name, framework, holder in _native.element_types() if holder}
_PAIRS = "F4"  # of which frameworks count pairs


class TensorSpec:
    """An array by its address: `data_len` bytes at `data_ptr`, which the caller keeps alive."""

    __slots__ = ("_dtype", "_shape", "_data_ptr", "_data_len")

    def __init__(self, *, dtype: str, shape: Sequence[int], data_ptr: int, data_len: int):
        name = _NAMES.get(dtype)
        if name is None or name not in layout.SAVED_FIRST:
            known = ", ".join(sorted(key for key in _NAMES if _NAMES[key] in layout.SAVED_FIRST))
            raise InvalidArgument(f"no such dtype: {dtype!r} ({known})")
        extents = [int(extent) for extent in shape]
        if min(extents, default=0) < 0 or data_ptr < 0 or data_len < 0:
            raise OverflowError("a negative size or address")
        if name == _PAIRS and extents:
            extents[-1] *= 2
        self._dtype, self._shape = name, extents
        self._data_ptr, self._data_len = data_ptr, data_len

    @property
    def dtype(self) -> str:
        """As in the header of a file: "BF16"."""
        return self._dtype

    @property
    def shape(self) -> List[int]:
        """In elements, also of types that pack two into a byte."""
        return list(self._shape)

    @property
    def data_ptr(self) -> int:
        return self._data_ptr

    @property
    def data_len(self) -> int:
        return self._data_len

    def __repr__(self) -> str:
        return (
            f"TensorSpec(dtype={self._dtype!r}, shape={self._shape}, "
            f"data_ptr={self._data_ptr}, data_len={self._data_len})"
        )


def serialize(
    tensor_dict: Mapping[str, TensorSpec], metadata: Optional[Mapping[str, str]] = None
) -> bytes:
    """The bytes of a .safetensors file of these tensors."""
    with as_safetensors():
        return layout.to_bytes(_prepared(tensor_dict), metadata)


def serialize_file(
    tensor_dict: Mapping[str, TensorSpec],
    filename: PathLike,
    metadata: Optional[Mapping[str, str]] = None,
) -> None:
    """The same into a file. What is there is replaced once the new file is whole."""
    with as_safetensors(is_writing=True):
        layout.to_file(_prepared(tensor_dict), file_path(filename), metadata)


def deserialize(bytes: Any) -> List[Tuple[str, Dict[str, Any]]]:  # safetensors' argument's name
    """Name, and a dict of shape, dtype and data, of each tensor of the bytes of a file."""
    found = []
    with as_safetensors(), opened_bytes(bytes) as file:
        for name in file.infos:
            dtype, shape, _ = file.elements(name)
            data = bytearray(file.load(name, None)[0])
            found.append((name, {"shape": list(shape), "dtype": dtype, "data": data}))
    return found


def _prepared(specs: Mapping[str, TensorSpec]) -> Iterator[layout.Prepared]:
    if not isinstance(specs, Mapping):
        raise TypeError(f"TensorSpecs by name are written, not a {type(specs).__name__}")
    for name, spec in specs.items():
        if not isinstance(name, str) or not isinstance(spec, TensorSpec):
            raise TypeError(f"a TensorSpec by its name is written, not {name!r}: {spec!r}")
        wanted = math.prod(spec.shape) * _bits(spec.dtype) // 8
        if spec.data_len != wanted:
            raise InvalidArgument(
                f"tensor '{name}': {spec.dtype} of shape {spec.shape} has {wanted} bytes, "
                f"not {spec.data_len}"
            )
        yield name, spec.dtype, tuple(spec.shape), _memory(spec)


def _bits(dtype: str) -> int:
    """Of an element: names of types have them."""
    digits = re.search(r"\d+", dtype)
    return int(digits[0]) if digits else 8  # BOOL


def _memory(spec: TensorSpec) -> Any:
    if not spec.data_len:
        return np.empty(0, np.uint8)
    memory = (ctypes.c_ubyte * spec.data_len).from_address(spec.data_ptr)
    return np.frombuffer(memoryview(memory), np.uint8)
