"""Normalisations beside layer_norm, named as torch.nn.functional names them.

All divide by sqrt(variance + eps), with variances of all elements (not of all but one).
"""

import math
from typing import Any, List, Optional

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _arrays, _axis, _in_floats
from hoist.graph._functions import _public, broadcast_to, maximum, rsqrt
from hoist.graph._reductions import vector_norm
from hoist.graph._traced import Traced

__all__: List[str] = []

def _of_channels(who: str, x: Traced, value: Any) -> Traced:
    """A number for each of axis 1, shaped to broadcast."""
    _, made = _arrays(x, value)
    if made.shape != (x.shape[1],):
        raise InvalidArgument(
            f"{who} of {x.shape} with a parameter of shape {made.shape}: give ({x.shape[1]},)"
        )
    return made.reshape((x.shape[1], *[1] * (x.ndim - 2)))


def _with_channels(who: str, result: Traced, weight: Any, bias: Any) -> Traced:
    if weight is not None:
        result = result * _of_channels(who, result, weight)
    return result if bias is None else result + _of_channels(who, result, bias)


def _check(who: str, x: Any, least: int = 2) -> None:
    if x.ndim < least:
        raise InvalidArgument(f"{who} of shape {x.shape}: it needs {least} axes, channels second")


def _standardised(x: Traced, axes: Any, eps: float) -> Any:
    centred = x - x.mean(axes, True)
    return centred * rsqrt((centred * centred).mean(axes, True) + eps)


@_public
@_in_floats
def batch_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    *,
    eps: float = 1e-5,
) -> Any:
    """(x - mean) / sqrt(variance + eps) for each channel, times `weight`, plus `bias`.

    x: (N, C, ...); each parameter: (C,). The statistics are the running ones, or with `training` those
    of x; the running ones are not changed. Four nodes, and one each for weight and bias.
    """
    _check("batch_norm", x)
    if training:
        axes = tuple(i for i in range(x.ndim) if i != 1)
        return _with_channels("batch_norm", _standardised(x, axes, eps), weight, bias)
    if running_mean is None or running_var is None:
        raise InvalidArgument("batch_norm without running_mean and running_var: it needs training=True")
    centred = x - _of_channels("batch_norm", x, running_mean)
    variance = _of_channels("batch_norm", x, running_var)
    if x.ndim > 2:  # a number for each row, so that all is one kernel
        variance = broadcast_to(variance, x.shape[:2] + (1,) * (x.ndim - 2))
    result = centred * rsqrt(variance + eps)
    return _with_channels("batch_norm", result, weight, bias)


@_public
@_in_floats
def instance_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
    """batch_norm() with the statistics of each channel of each sample. x: (N, C, ...)."""
    _check("instance_norm", x, 3)
    result = _standardised(x, tuple(range(2, x.ndim)), eps)
    return _with_channels("instance_norm", result, weight, bias)


@_public
@_in_floats
def group_norm(
    x: Any, num_groups: int, weight: Any = None, bias: Any = None, *, eps: float = 1e-5
) -> Any:
    """batch_norm() with the statistics of each of `num_groups` groups of channels of each sample.

    x: (N, C, ...), C divisible by `num_groups`; weight, bias: (C,).
    """
    _check("group_norm", x)
    if num_groups < 1 or x.shape[1] % num_groups != 0:
        raise InvalidArgument(
            f"group_norm of {x.shape} in {num_groups} groups: they must share the channels evenly"
        )
    channels = x.shape[1] // num_groups
    groups = x.reshape((x.shape[0], num_groups, channels, math.prod(x.shape[2:])))
    result = _standardised(groups, (2, 3), eps)
    shape = (num_groups, channels, 1)
    if weight is not None:
        result = result * _of_channels("group_norm", x, weight).reshape(shape)
    if bias is not None:
        result = result + _of_channels("group_norm", x, bias).reshape(shape)
    return result.reshape(x.shape)


@_public
@_in_floats
def rms_norm(x: Any, weight: Any = None, *, eps: Optional[float] = None) -> Any:
    """x / sqrt(mean of x^2 + eps) along the last axis, times `weight`.

    eps: unless told, that of what is computed with: 2^-52 for float64, else 2^-23.
    """
    if x.ndim < 1:
        raise InvalidArgument("rms_norm of a number: it needs an axis")
    own = 2.0**-52 if x.dtype == "float64" else 2.0**-23
    least = own if eps is None else eps
    result = x * rsqrt((x * x).mean(-1, True) + least)
    return result if weight is None else result * weight


@_public
@_in_floats
def normalize(x: Any, *, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Any:
    """x divided by its p-norm along an axis, or by eps where the norm is less."""
    _axis("normalize", axis, x.ndim)
    norm = vector_norm(x, axis=axis, keepdims=True, ord=p)
    return x / maximum(norm, eps)
