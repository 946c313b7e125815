"""`linear` and `embedding` of `torch.nn.functional` where the weight is a PackedTensor."""

import importlib
from typing import Any, Optional

from hoist._packed_direct import has_forward_derivatives
from hoist._packed_fallback import constant
from hoist.errors import Unsupported

torch: Any = importlib.import_module("torch")
functional: Any = importlib.import_module("torch.nn.functional")


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    matrix = weight.direct()
    if matrix is not None and weight.exact_like is None:
        product = matrix.linear(input, bias)
        if product is not None:
            return product
    if _becomes_bfloat16(input.device.type):
        input = input.to(torch.bfloat16)
        bias = None if bias is None else bias.to(torch.bfloat16)
    is_plain = input.dtype != torch.bfloat16 or (bias is not None and bias.dtype != torch.bfloat16)
    if weight.exact_like is not None or is_plain or has_forward_derivatives():
        # PyTorch itself says which other types it takes.
        return functional.linear(input, weight.unpack(), bias)
    return torch.ops.hoist.packed_linear(input, weight.packed_memory, bias, *weight.form())


def embedding(
    input: Any,
    weight: Any,
    padding_idx: Optional[int] = None,
    max_norm: Optional[float] = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    if max_norm is not None:
        raise Unsupported(constant("embedding with max_norm"))
    matrix = weight.direct()
    rows = None if matrix is None else matrix.embedding(input)
    if rows is not None:
        return rows
    return torch.ops.hoist.packed_embedding(input, weight.packed_memory, *weight.form())


def _becomes_bfloat16(device: str) -> bool:
    if not torch.amp.is_autocast_available(device) or not torch.is_autocast_enabled(device):
        return False
    return bool(torch.get_autocast_dtype(device) == torch.bfloat16)
