"""Lazy access to a file."""

from typing import Any, Dict, List, Optional

from hoist import tensors
from hoist._tensor_files import PathLike
from hoist.safetensors._errors import InvalidArgument, as_safetensors
from hoist.safetensors._indices import checked_index

_TORCH = ("pt", "torch", "pytorch")
_FRAMEWORKS = (*_TORCH, "np", "numpy", "tf", "tensorflow", "jax", "flax", "mlx")


class safe_open:  # the name that it has in safetensors
    """Lazy access to the tensors of a file: opening reads the header only.

        with safe_open("model.safetensors", framework="pt", device=0) as file:
            whole = file.get_tensor("embedding")
            part = file.get_slice("embedding")[:, ::8]

    Torch tensors in host memory are the file itself, mapped copy-on-write, unless the backend is
    "pread"; arrays of other frameworks have memory of their own.
    """

    def __init__(
        self, filename: PathLike, framework: str, device: Any = "cpu", *, backend: str = "mmap"
    ):
        if not isinstance(framework, str) or framework not in _FRAMEWORKS:
            raise InvalidArgument(f"no such framework: {framework} ({', '.join(_FRAMEWORKS)})")
        device = "cpu" if device is None else device
        is_mapped = framework in _TORCH and device == "cpu" and backend == "mmap"
        self._is_torch = framework in _TORCH
        with as_safetensors():
            self._file = tensors.safe_open(
                filename, framework, device, zero_copy=is_mapped, backend=backend
            )

    def __enter__(self) -> "safe_open":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._file.__exit__(kind, error, trace)

    def keys(self) -> List[str]:
        """In alphabetical order."""
        with as_safetensors():
            return self._file.keys()

    def offset_keys(self) -> List[str]:
        """In the order of the file."""
        with as_safetensors():
            return self._file.offset_keys()

    def metadata(self) -> Optional[Dict[str, str]]:
        """What the file says of itself."""
        with as_safetensors():
            return self._file.metadata()

    def get_tensor(self, name: str) -> Any:
        with as_safetensors():
            self._check(name)
            return self._file.get_tensor(name)

    def get_tensors(self) -> Dict[str, Any]:
        """All of them, in the order of the file."""
        with as_safetensors():
            return self._file.get_tensors()

    def get_slice(self, name: str) -> "PySafeSlice":
        with as_safetensors():
            self._check(name)
            return PySafeSlice(self._file.get_slice(name), self._is_torch)

    def _check(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"names of tensors are str, not {type(name).__name__}")


class _safe_open_handle(safe_open):  # the name that it has in safetensors
    """The same of a file object that has a descriptor and a name."""

    def __init__(self, f: Any, framework: str, device: Any = "cpu", *, backend: str = "mmap"):
        f.fileno  # AttributeError where it has none
        super().__init__(f.name, framework, device, backend=backend)


class PySafeSlice:  # the name that it has in safetensors
    """A tensor to take parts of: `[...]` reads no more of the file than it takes."""

    def __init__(self, part: Any, is_torch: bool):
        self._part = part
        self._is_torch = is_torch

    def get_shape(self) -> List[int]:
        shape: List[int] = self._part.get_shape()
        return shape

    def get_dtype(self) -> str:
        dtype: str = self._part.get_dtype()
        return dtype

    def __getitem__(self, index: Any) -> Any:
        if not self._is_torch:
            index = checked_index(index, self.get_shape())
        with as_safetensors():
            return self._part[index]
