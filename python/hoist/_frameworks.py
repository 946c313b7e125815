"""Arrays of PyTorch, of NumPy and of what takes NumPy's, made of flat bytes with a dtype's name and a
shape."""

import ast
import functools
import importlib
import importlib.util
import sys
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from hoist import _native
from hoist._shared_memory import is_packed
from hoist.errors import Corrupt, InvalidArgument, Unsupported

# Names of safetensors, and what the frameworks call the same. ml_dtypes gives NumPy the small floats.
_TYPES = _native.element_types()
_NUMPY = {name: framework for name, framework, holder in _TYPES if holder == "numpy"}
_ML_DTYPES = {name: framework for name, framework, holder in _TYPES if holder == "ml_dtypes"}
_TORCH = {name: framework for name, framework, holder in _TYPES if holder}
# An element of torch's F4 is a byte, which holds two: its last dimension is half as long.
_TORCH_PAIRS = "F4"


_NUMPY_NAMES = {np.dtype(numpy): name for name, numpy in _NUMPY.items()}
_ML_DTYPES_NAMES = {numpy: name for name, numpy in _ML_DTYPES.items()}


@functools.lru_cache(maxsize=None)
def numpy_dtype(name: str) -> "np.dtype[Any]":
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name in _ML_DTYPES:
        small = getattr(importlib.import_module("ml_dtypes"), _ML_DTYPES[name], None)
        if small is None:
            raise Unsupported(f"this version of ml_dtypes has no {_ML_DTYPES[name]}")
        found: "np.dtype[Any]" = np.dtype(small)
        return found
    raise Unsupported(f"no NumPy type for {name}")


_FOREIGN = "numpy:"
_NO_TYPE = "save it with numpy.savez, whose files `hoist tensors pack` takes"


def is_foreign(stored_as: str) -> bool:
    """Whether bytes are an array of a type that only NumPy has, or that nobody has."""
    return stored_as.startswith(_FOREIGN)


def _foreign_dtype(stored_as: str) -> "np.dtype[Any]":
    """By its description in a .npy, whose last dimension counts the bytes of an element."""
    text = stored_as[len(_FOREIGN) :]
    try:
        described: Any = ast.literal_eval(text) if text.startswith("[") else text
        dtype = np.lib.format.descr_to_dtype(described)
    except (SyntaxError, TypeError, ValueError):
        raise Unsupported(f"what is stored as {text} is kept, and nothing more") from None
    if dtype.hasobject:
        raise Unsupported(
            "pickled Python objects are kept and never unpickled: unpack the file, "
            "and use numpy.load(..., allow_pickle=True) if you trust it"
        )
    return dtype


class NumPy:
    """Arrays in host memory."""

    name = "numpy"

    def check_device(self, device: Any) -> None:
        if device is not None and str(device).partition(":")[0] != "cpu":
            raise InvalidArgument(
                f"NumPy arrays are in host memory, not on {device!r} (device): "
                'name "cpu", or use torch with "cuda" or "cuda:N"'
            )

    def device_name(self, device: Any) -> Optional[str]:
        """What Hoist calls that device; nothing where there is none to load onto."""
        return None

    def wrap(self, array: Any, dtype: str, shape: Sequence[int]) -> Any:
        """The memory of an array of bytes that speaks DLPack, which it goes on owning."""
        return np.from_dlpack(array).view(numpy_dtype(dtype)).reshape(tuple(shape))

    def tensor(
        self, data: Any, dtype: str, shape: Sequence[int], device: Any, offset: int = 0
    ) -> Any:
        """The memory of `data`, which speaks the buffer protocol, from a byte of it on."""
        return np.ndarray(shape, numpy_dtype(dtype), data, offset)

    def finished(self, array: Any) -> Any:
        """Of the framework's own class."""
        return array

    def check_foreign(self, stored_as: str) -> None:
        _foreign_dtype(stored_as)

    def foreign(self, data: Any, stored_as: str, shape: Sequence[int], device: Any) -> Any:
        dtype = _foreign_dtype(stored_as)
        extents = tuple(shape[:-1])
        if not data.size:  # an empty array cannot be viewed
            return np.empty(extents, dtype)
        if dtype.itemsize != shape[-1]:
            raise Corrupt(f"elements of {shape[-1]} bytes that are stored as {stored_as}")
        return data.view(dtype).reshape(extents)

    def part(self, whole: Any, index: Any, device: Any) -> Any:
        """Memory of its own, unless it is all of `whole`."""
        part = np.asarray(whole[index])
        return part.copy() if part.base is not None and part.nbytes < whole.nbytes else part

    def parts(self, tensor: Any) -> Tuple[str, Tuple[int, ...], Any]:
        if np.ma.is_masked(tensor):
            raise Unsupported("a masked array: which values it hides would be lost (fill it first)")
        array = np.asarray(tensor)
        name = _NUMPY_NAMES.get(array.dtype.newbyteorder("="))
        if name is None:
            name = _ML_DTYPES_NAMES.get(array.dtype.name)
        if name is None:
            raise Unsupported(f"arrays of {array.dtype}: {_NO_TYPE}")
        shape = array.shape
        # One dimension first: contiguous memory of rank 0 cannot be viewed as bytes.
        flat = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))
        return name, shape, flat.reshape(-1).view(np.uint8)


class ThroughNumPy(NumPy):
    """Arrays of a framework that makes its own of NumPy's."""

    def __init__(self, name: str, module: str, function: str):
        self.name = name
        self._make = getattr(importlib.import_module(module), function)

    def finished(self, array: Any) -> Any:
        return self._make(array)


class Torch:
    """Tensors of PyTorch, which own their memory."""

    name = "torch"

    def __init__(self) -> None:
        self._torch: Any = importlib.import_module("torch")
        self._names = {getattr(self._torch, torch, None): name for name, torch in _TORCH.items()}

    def check_device(self, device: Any) -> None:
        pass  # torch has its own words for devices that are not there

    def _dtype(self, name: str) -> Any:
        if name not in _TORCH:
            raise Unsupported(f"no type of torch for {name}")
        dtype = getattr(self._torch, _TORCH[name], None)
        if dtype is None:
            raise Unsupported(f"this version of torch has no {_TORCH[name]}")
        return dtype

    def _shape(self, name: str, shape: Sequence[int]) -> Tuple[int, ...]:
        """As torch counts elements."""
        if name != _TORCH_PAIRS:
            return tuple(shape)
        if not shape or shape[-1] % 2:
            raise Unsupported(f"{name} of shape {list(shape)} in torch: it holds pairs")
        return (*shape[:-1], shape[-1] // 2)

    def device_name(self, device: Any) -> Optional[str]:
        text = str(device)
        kind, _, index = ("cuda:" + text if text.isdigit() else text).partition(":")
        if kind != "cuda" or not self._torch.cuda.is_available():
            return None
        return f"cuda:{index or self._torch.cuda.current_device()}"

    def wrap(self, array: Any, dtype: str, shape: Sequence[int]) -> Any:
        flat = self._torch.from_dlpack(array)
        shape = self._shape(dtype, shape)
        if not flat.numel():  # an empty tensor cannot be viewed
            return self._torch.empty(shape, dtype=self._dtype(dtype), device=flat.device)
        return flat.view(self._dtype(dtype)).reshape(shape)

    def tensor(
        self, data: Any, dtype: str, shape: Sequence[int], device: Any, offset: int = 0
    ) -> Any:
        """The memory of `data`, which speaks the buffer protocol, from a byte of it on."""
        bits, viewed = self._held(dtype)
        if dtype == _TORCH_PAIRS:
            shape = self._shape(dtype, shape)
        tensor = self._torch.from_numpy(np.ndarray(shape, bits, data, offset))
        if viewed is not None:
            tensor = tensor.view(viewed)
        return tensor if device == "cpu" else tensor.to(device)

    def finished(self, array: Any) -> Any:
        return array

    @functools.lru_cache(maxsize=None)
    def _held(self, name: str) -> Tuple["np.dtype[Any]", Any]:
        """What NumPy holds it as on its way to torch, and what it is then seen as, if not that."""
        dtype = self._dtype(name)
        if name in _NUMPY and not name.startswith("U"):  # not every torch takes NumPy's unsigned
            return np.dtype(_NUMPY[name]), None
        width = self._torch.empty(0, dtype=dtype).element_size()
        return np.dtype(f"i{width}"), dtype

    def check_foreign(self, stored_as: str) -> None:
        raise Unsupported(
            f"no type of torch for what is stored as {stored_as[len(_FOREIGN):]}: "
            'framework="numpy" may have one'
        )

    def foreign(self, data: Any, stored_as: str, shape: Sequence[int], device: Any) -> Any:
        self.check_foreign(stored_as)

    def part(self, whole: Any, index: Any, device: Any) -> Any:
        """Memory of its own, unless it is all of `whole`."""
        part = whole[index]
        if part.nbytes < part.untyped_storage().nbytes():
            part = part.clone(memory_format=self._torch.contiguous_format)
        return part.to(device)

    def parts(self, tensor: Any) -> Tuple[str, Tuple[int, ...], Any]:
        if is_packed(tensor):
            tensor = tensor.unpack()
        if tensor.is_nested or tensor.layout != self._torch.strided:
            layout = "nested" if tensor.is_nested else tensor.layout
            raise Unsupported(f"tensors that are {layout}: make them dense")
        name = self._names.get(tensor.dtype)
        if name is None:
            raise Unsupported(f"tensors of {tensor.dtype}")
        shape = tuple(tensor.shape)
        if name == _TORCH_PAIRS:
            if not shape:
                raise Unsupported(f"tensors of {tensor.dtype} without a dimension")
            shape = (*shape[:-1], 2 * shape[-1])
        # What is conjugate or negative by a flag alone is made so.
        whole = tensor.detach().resolve_conj().resolve_neg()
        flat = whole.cpu().contiguous().reshape(-1)
        return name, shape, flat.view(self._torch.uint8).numpy()


def has_torch() -> bool:
    return importlib.util.find_spec("torch") is not None


def framework_of(tensor: Any) -> Any:
    """The one whose array `tensor` is, or NumPy, which takes what looks like an array."""
    torch = sys.modules.get("torch")
    return framework("torch" if torch is not None and isinstance(tensor, torch.Tensor) else "numpy")


@functools.lru_cache(maxsize=None)
def framework(name: str) -> Any:
    """"auto" is torch where it is installed, else NumPy; the others have safetensors' names."""
    if name == "auto":
        name = "torch" if has_torch() else "numpy"
    if name in ("torch", "pt", "pytorch"):
        return Torch()
    if name in ("numpy", "np"):
        return NumPy()
    if name in ("jax", "flax"):
        return ThroughNumPy("jax", "jax.numpy", "array")
    if name in ("tensorflow", "tf"):
        return ThroughNumPy("tensorflow", "tensorflow", "convert_to_tensor")
    if name == "mlx":
        return ThroughNumPy("mlx", "mlx.core", "array")
    raise InvalidArgument(
        f"no such framework: {name} (auto, torch, numpy, jax, tensorflow, mlx)"
    )
