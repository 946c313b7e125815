"""Calls on packed weights that go past PyTorch's dispatcher, which takes longer than a small product.

Only where nothing looks at the operators: no compiler or tracer, no mode, no transform, no gradient,
no autocast, no profiler, and operands that are memory and nothing else. Where anything does, the
functions here answer None, and the operators of `hoist._packed_ops` serve the call.

What a call writes is allocated by PyTorch, on the current stream, which the work is put on, too: the
allocator's rules hold as for its own operators. Products of few rows need no other memory; on a GPU
those of more take it from the device's pool, in the order of the same stream."""

import importlib
import threading
from functools import lru_cache
from typing import Any, FrozenSet, List, Optional

from hoist import _packed, _packed_ops

torch: Any = importlib.import_module("torch")
_C: Any = torch._C
_forward_ad: Any = importlib.import_module("torch.autograd.forward_ad")

_TENSORS = (torch.Tensor, torch.nn.Parameter)
_bfloat16 = torch.bfloat16
_keys_of: Any = _C._dispatch_keys
_included: Any = _C._dispatch_tls_local_include_set
_is_tracing: Any = torch.compiler.is_compiling
_is_profiled: Any = _C._autograd._profiler_enabled
_wants_gradients: Any = torch.is_grad_enabled
_has_autocast: Any = _C._is_any_autocast_enabled


def _with_and_without_inference(keys: Any) -> FrozenSet[int]:
    found = []
    for is_inference in (False, True):
        with torch.inference_mode(is_inference):
            found.append(keys().raw_repr())
    return frozenset(found)


def _of_a_thread_without_modes(keys: Any) -> FrozenSet[int]:
    """`keys` in a new thread, which has no mode, transform or tracer of its own."""
    found: List[FrozenSet[int]] = []
    thread = threading.Thread(target=lambda: found.append(_with_and_without_inference(keys)))
    thread.start()
    thread.join()
    return found[0]


@lru_cache(maxsize=None)
def _keys_on(device: Any) -> FrozenSet[int]:
    """Of tensors there that are memory and nothing else."""
    return _of_a_thread_without_modes(lambda: _keys_of(torch.empty(0, device=device)))


# What the dispatcher looks at besides the operands, where nothing looks on.
_NOTHING_LOOKS_ON = _of_a_thread_without_modes(_included)


def matrix_of(packed: Any, rows: int, columns: int, escapes: int) -> Optional["Matrix"]:
    """None where `packed`, (bytes,) uint8, is not memory of a CPU or a GPU."""
    is_memory = type(packed) in _TENSORS and packed.device.type in ("cpu", "cuda")
    return Matrix(packed, rows, columns, escapes) if is_memory else None


class Matrix:
    """A packed matrix as calls find it that are to be quick."""

    __slots__ = ("rows", "columns", "_packed", "_address", "_gpu", "_keys", "_most", "_native")

    def __init__(self, packed: Any, rows: int, columns: int, escapes: int):
        self.rows = rows
        self.columns = columns
        self._packed = packed
        self._address = packed.data_ptr()
        self._gpu = packed.get_device()  # -1: the CPU
        self._keys = _keys_on(packed.device)
        self._most = _packed_ops.most_fused(packed)
        gpu = self._gpu if self._gpu >= 0 else None
        self._native = _packed.Matrix(
            self._address, packed.numel(), gpu, rows, columns, escapes
        )

    def _serves(self, tensor: Any) -> bool:
        return (
            tensor.get_device() == self._gpu
            and _keys_of(tensor).raw_repr() in self._keys
            and self._packed.data_ptr() == self._address
        )

    def _stream(self) -> int:
        return _C._cuda_getCurrentRawStream(self._gpu) if self._gpu >= 0 else 0

    def linear(self, x: Any, bias: Any) -> Optional[Any]:
        """x (..., columns) bfloat16; None where an operator must serve, errors included."""
        if type(x) not in _TENSORS or x.dtype is not _bfloat16 or not self._serves(x):
            return None
        shape = x.shape
        if not shape or shape[-1] != self.columns:
            return None
        rows = self.rows
        axes = len(shape)
        if axes == 2:
            count = shape[0]
            stride, step = x.stride()
            if step != 1 or (stride < self.columns and count != 1):
                return None
            stride = max(stride, self.columns)
            wanted = (count, rows)
        elif x.is_contiguous():
            stride = self.columns
            count = x.numel() // stride if stride else 0
            wanted = (*shape[:-1], rows)
        else:
            return None
        if not 0 < count <= self._most or not rows or not stride:
            return None
        added = 0
        if bias is not None:
            if not self._takes_bias(bias):
                return None
            added = bias.data_ptr()
        if _wants_gradients() and (x.requires_grad or (added and bias.requires_grad)):
            return None
        out = x.new_empty(wanted)
        self._native.multiply(x.data_ptr(), count, stride, out.data_ptr(), added, self._stream())
        return out

    def _takes_bias(self, bias: Any) -> bool:
        return (
            type(bias) in _TENSORS
            and bias.dtype is _bfloat16
            and bias.shape == (self.rows,)
            and bias.is_contiguous()
            and self._serves(bias)
        )

    def embedding(self, indices: Any) -> Optional[Any]:
        """indices of any shape, int64 or int32."""
        if type(indices) is not torch.Tensor or not self._serves(indices):
            return None
        is_wide = indices.dtype is torch.int64
        if not (is_wide or indices.dtype is torch.int32) or not indices.is_contiguous():
            return None
        count = indices.numel()
        if not count or not self.columns:
            return None
        out = indices.new_empty((*indices.shape, self.columns), dtype=_bfloat16)
        self._native.unpack_rows(
            indices.data_ptr(), count, is_wide, out.data_ptr(), self._stream()
        )
        return out

    def is_of(self, packed: Any) -> bool:
        return self._packed is packed

    def unpack(self) -> Optional[Any]:
        if not self._serves(self._packed):
            return None
        out = self._packed.new_empty((self.rows, self.columns), dtype=_bfloat16)
        if out.numel():
            self._native.unpack(out.data_ptr(), self._stream())
        return out


def is_possible() -> bool:
    """Whether nothing looks at operators."""
    return not (
        _is_tracing()
        or _included().raw_repr() not in _NOTHING_LOOKS_ON
        or _is_profiled()
        or _has_autocast()
        or has_forward_derivatives()
    )


def has_forward_derivatives() -> bool:
    """Whether values carry tangents, as in `torch.func.jvp`: the operators have no rule for them."""
    return bool(_forward_ad._current_level >= 0)
