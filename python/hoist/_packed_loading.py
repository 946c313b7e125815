"""Files' tensors that are packed as they come."""

import importlib
import weakref
from typing import Any, Dict, Iterable, Optional

from hoist._packed_tensor import check_exact_like, packed_or_reason
from hoist._tensor_arrays import LoadedTensor

torch: Any = importlib.import_module("torch")

# So much of a file, as stored, comes onto a GPU while as much is packed.
GROUP_BYTES = 192 << 20


def packed_tensors(loaded: Iterable[LoadedTensor], exact_like: Optional[str]) -> Dict[str, Any]:
    """By name, those that gain by it packed; one that comes under two names stays one."""
    check_exact_like(exact_like)
    tensors: Dict[str, Any] = {}
    last: Any = lambda: None  # noqa: E731
    made: Any = None
    for name, tensor, _, _ in loaded:
        if tensor is not last():
            last, made = weakref.ref(tensor), _resident(tensor, exact_like)
        tensors[name] = made
        del tensor  # what came with it is not kept while more comes
    return tensors


def _resident(tensor: Any, exact_like: Optional[str]) -> Any:
    packed, _ = packed_or_reason(tensor, exact_like)
    if packed is not None:
        return packed
    # On a GPU its memory is a piece of what others share, and is free when all of them are read.
    return tensor.clone() if tensor.is_cuda else tensor
