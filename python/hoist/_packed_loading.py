"""Files' tensors that are packed as they come."""

import importlib
from typing import Any, Dict, Iterable, Optional

from hoist._packed_tensor import check_exact_like, packed_or_reason
from hoist._tensor_arrays import LoadedTensor

torch: Any = importlib.import_module("torch")

# So much of a file lies plain on a GPU at a time: enough for loads to be as quick as those of all
# at once, and little beside a model that needs packing.
GROUP_BYTES = 256 << 20


def packed_tensors(loaded: Iterable[LoadedTensor], exact_like: Optional[str]) -> Dict[str, Any]:
    """By name, those that gain by it packed; one that comes under two names stays one."""
    check_exact_like(exact_like)
    tensors: Dict[str, Any] = {}
    last: Any = None
    made: Any = None
    for name, tensor, _, _ in loaded:
        if tensor is not last:
            last, made = tensor, _resident(tensor, exact_like)
        tensors[name] = made
    return tensors


def _resident(tensor: Any, exact_like: Optional[str]) -> Any:
    packed, _ = packed_or_reason(tensor, exact_like)
    if not tensor.is_cuda:
        return tensor if packed is None else packed
    # Its memory is a piece of what others share, and is free when all of them are read.
    kept = tensor.clone() if packed is None else packed
    torch.cuda.current_stream(tensor.device).synchronize()
    return kept
