"""Operators of PyTorch on packed weights, `hoist::packed_linear`, `hoist::packed_embedding` and
`hoist::unpack`: what compilers, CUDA graphs and autograd see. `packed` is the packed matrix's bytes,
shape (bytes,) uint8; `rows`, `columns` and `escapes` say what they hold."""

import importlib
from typing import Any, Optional, Tuple

from hoist import _packed
from hoist.errors import Unavailable

torch: Any = importlib.import_module("torch")
if not hasattr(torch.nn.Module, "register_state_dict_post_hook"):
    raise Unavailable(f"packed weights need PyTorch 2.5 or newer; this is {torch.__version__}")

# GPUs whose kernels multiply packed weights with up to MOST_FUSED_WIDE rows of x.
_WIDE_GPUS = ((9, 0),)
# PyTorch's products of unpacked weights are faster from there on, unpacking included.
_MOST_ON_CPU = 16

_LIBRARY = torch.library.Library("hoist", "DEF")
_DEVICES = ("cpu", "cuda")


def stream_of(tensor: Any) -> Optional[int]:
    """The address of the stream that PyTorch works on; None: the tensor is not on a GPU."""
    return torch.cuda.current_stream(tensor.device).cuda_stream if tensor.is_cuda else None


def _unpack(packed: Any, rows: int, columns: int, escapes: int) -> Any:
    out = torch.empty((rows, columns), dtype=torch.bfloat16, device=packed.device)
    _packed.unpack(packed.detach(), rows, columns, escapes, out, stream_of(packed))
    return out


def _unpack_fake(packed: Any, rows: int, columns: int, escapes: int) -> Any:
    return packed.new_empty((rows, columns), dtype=torch.bfloat16)


def most_fused(x: Any) -> int:
    """So many rows of x, on its device, are multiplied with the packed bytes; more with unpacked
    ones."""
    if x.is_cuda and torch.cuda.get_device_capability(x.device) in _WIDE_GPUS:
        return _packed.MOST_FUSED_WIDE
    return _packed.MOST_FUSED if x.is_cuda else _MOST_ON_CPU


def _check_linear(x: Any, packed: Any, bias: Any, rows: int, columns: int) -> None:
    torch._check(x.dtype == torch.bfloat16, lambda: f"packed_linear: x is {x.dtype}, not bfloat16")
    torch._check(
        x.dim() > 0 and x.shape[-1] == columns,
        lambda: f"packed_linear: x of shape {tuple(x.shape)}, weights ({rows}, {columns})",
    )
    torch._check(
        x.device == packed.device and (bias is None or bias.device == packed.device),
        lambda: f"packed_linear: x is on {x.device}, the weights on {packed.device}",
    )
    if bias is not None:
        torch._check(
            bias.dtype == torch.bfloat16 and tuple(bias.shape) == (rows,),
            lambda: f"packed_linear: a bias of {bias.dtype} {tuple(bias.shape)}, not bfloat16 ({rows},)",
        )


def _linear(x: Any, packed: Any, bias: Any, rows: int, columns: int, escapes: int) -> Any:
    _check_linear(x, packed, bias, rows, columns)
    flat = x.detach().reshape(x.numel() // columns if columns else x[..., 0:1].numel(), columns)
    if len(flat) > most_fused(x):
        weight = _unpack(packed, rows, columns, escapes)
        return torch.nn.functional.linear(x, weight, bias)
    if not flat.numel() or flat.stride(1) != 1 or flat.stride(0) < columns:
        flat = flat.contiguous()
    out = torch.empty((len(flat), rows), dtype=torch.bfloat16, device=x.device)
    if out.numel():
        bias = None if bias is None else bias.detach().contiguous()
        _packed.matmul(
            flat, packed.detach(), rows, columns, escapes, out, bias, stream=stream_of(x)
        )
    return out.view(*x.shape[:-1], rows)


def _linear_fake(x: Any, packed: Any, bias: Any, rows: int, columns: int, escapes: int) -> Any:
    _check_linear(x, packed, bias, rows, columns)
    return x.new_empty((*x.shape[:-1], rows))


def _linear_context(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    _, packed, _, *ctx.form = inputs
    ctx.save_for_backward(packed)


def _linear_backward(context: Any, gradient: Any) -> Tuple[Any, ...]:
    """Of x and the bias; the weights are constant."""
    of_x = of_bias = None
    if context.needs_input_grad[0]:
        of_x = gradient @ torch.ops.hoist.unpack(*context.saved_tensors, *context.form)
    if context.needs_input_grad[2]:
        of_bias = gradient.reshape(-1, gradient.shape[-1]).sum(0)
    return of_x, None, of_bias, None, None, None


def _embedding(indices: Any, packed: Any, rows: int, columns: int, escapes: int) -> Any:
    _check_indices(indices, packed)
    flat = indices.detach().reshape(-1).contiguous()
    out = torch.empty((len(flat), columns), dtype=torch.bfloat16, device=packed.device)
    if out.numel():
        _packed.unpack_rows(
            packed.detach(), rows, columns, escapes, flat, out, stream_of(packed)
        )
    return out.view(*indices.shape, columns)


def _check_indices(indices: Any, packed: Any) -> None:
    torch._check(
        indices.dtype in (torch.int64, torch.int32),
        lambda: f"packed_embedding: indices of {indices.dtype}, not int64 or int32",
    )
    torch._check(
        indices.device == packed.device,
        lambda: f"packed_embedding: indices on {indices.device}, the weights on {packed.device}",
    )


def _embedding_fake(indices: Any, packed: Any, rows: int, columns: int, escapes: int) -> Any:
    _check_indices(indices, packed)
    return packed.new_empty((*indices.shape, columns), dtype=torch.bfloat16)


def _define(name: str, inputs: str, work: Any, fake: Any) -> None:
    form = "SymInt rows, SymInt columns, SymInt escapes"
    _LIBRARY.define(f"{name}({inputs}, {form}) -> Tensor")
    torch.library.impl(f"hoist::{name}", _DEVICES, work, lib=_LIBRARY)
    torch.library.register_fake(f"hoist::{name}", fake, lib=_LIBRARY)


_define("unpack", "Tensor packed", _unpack, _unpack_fake)
_define("packed_linear", "Tensor x, Tensor packed, Tensor? bias", _linear, _linear_fake)
_define("packed_embedding", "Tensor indices, Tensor packed", _embedding, _embedding_fake)
torch.library.register_autograd(
    "hoist::packed_linear", _linear_backward, setup_context=_linear_context, lib=_LIBRARY
)
