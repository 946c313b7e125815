"""Reductions over axes beside sum, mean, max and min.

`axis` is a number, several, or None for all; they are dropped, or kept with length 1 by `keepdims`.
"""

import math
from typing import Any, List

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _axes, _in_floats
from hoist.graph._functions import _public, exp, log, sqrt, where
from hoist.graph._functions import abs as absolute
from hoist.graph._traced import Axes, Traced

__all__: List[str] = []


def _count(who: str, x: Traced, axis: Axes) -> int:
    """How many elements are reduced to one."""
    return math.prod(x.shape[one] for one in _axes(who, axis, x.ndim))


@_public
def prod(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """The product of elements, in the order of sum(): that of none is 1. Integers wrap, as int64 or
    uint64."""
    return x.prod(axis, keepdims)


@_public
@_in_floats
def var(x: Any, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The sum of squared distances from the mean, divided by the number of elements less `correction`.

    NaN or infinity where nothing is left to divide by.
    """
    centred = x - x.mean(axis, True)
    if correction == 0:
        return (centred * centred).mean(axis, keepdims)
    divisor = float(_count("var", x, axis) - correction)
    return (centred * centred).sum(axis, keepdims) / (divisor if divisor > 0 else 0.0)


@_public
@_in_floats
def std(x: Any, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The square root of var()."""
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def _of_truths(op: str, x: Traced, axis: Axes, keepdims: bool) -> Any:
    truths = x if x.dtype == "bool" else x.astype("bool")
    numbers = truths.astype("float32")
    if _count(op, x, axis) == 0:  # an empty sum is 0, and so is 1 less one of them
        none = numbers.sum(axis, keepdims)
        return (none if op == "any" else none + 1.0).astype("bool")
    return numbers._reduce("max" if op == "any" else "min", axis, keepdims).astype("bool")


@_public
def any(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Whether an element is true, or not 0 (NaN is not 0): booleans. False for none."""
    return _of_truths("any", x, axis, keepdims)


@_public
def all(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Whether all elements are true, or not 0 (NaN is not 0): booleans. True for none."""
    return _of_truths("all", x, axis, keepdims)


@_public
def count_nonzero(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """How many elements are not 0, as int64; NaN is not 0."""
    truths = x if x.dtype == "bool" else x.astype("bool")
    return truths.astype("int64").sum(axis, keepdims)


@_public
@_in_floats
def logsumexp(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """ln(sum of e^x), without overflow. -infinity for -infinities; NaN where one is."""
    largest = x.max(axis, True)
    # The difference of equal infinities is NaN.
    base = where(absolute(largest) == math.inf, 0.0, largest)
    total = log(exp(x - base).sum(axis, True)) + base
    if keepdims:
        return total
    dropped = _axes("logsumexp", axis, x.ndim)
    return total.reshape(tuple(n for i, n in enumerate(x.shape) if i not in dropped))


@_public
@_in_floats
def vector_norm(x: Any, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Any:
    """The p-norm for p = `ord`: (sum of |x|^p)^(1/p); the greatest of |x| for infinity, the least for
    -infinity, the number of those that are not 0 for 0."""
    if ord == 2:
        return sqrt((x * x).sum(axis, keepdims))
    if ord == 1:
        return absolute(x).sum(axis, keepdims)
    if ord == 0:
        return count_nonzero(x, axis=axis, keepdims=keepdims).astype(x.dtype)
    if ord == math.inf:
        return absolute(x).max(axis, keepdims)
    if ord == -math.inf:
        return absolute(x).min(axis, keepdims)
    if math.isnan(ord):
        raise InvalidArgument("vector_norm of order NaN")
    return (absolute(x) ** ord).sum(axis, keepdims) ** (1.0 / ord)
