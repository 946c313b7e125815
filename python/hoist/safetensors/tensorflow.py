"""Arrays of TensorFlow."""

from typing import Any, Mapping

from hoist._tensor_files import PathLike
from hoist.safetensors import _arrays

__all__ = ["load", "load_file", "save", "save_file"]


def save(tensors: Mapping[str, Any], metadata: _arrays.Metadata = None) -> bytes:
    """The bytes of a .safetensors file of these arrays."""
    return _arrays.save(tensors, metadata)


def save_file(
    tensors: Mapping[str, Any], filename: PathLike, metadata: _arrays.Metadata = None
) -> None:
    """A .safetensors file of these arrays. What is there is replaced once the new file is whole."""
    _arrays.save_file(tensors, filename, metadata)


def load(data: Any) -> _arrays.Arrays:
    """All arrays of the bytes of a file by name."""
    return _arrays.load(data, "tensorflow")


def load_file(filename: PathLike, *, backend: str = "mmap") -> _arrays.Arrays:
    """All arrays of a file by name. The backend is "mmap" or "pread"."""
    return _arrays.load_file(filename, "tensorflow", "cpu", backend)
