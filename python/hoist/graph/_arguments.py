"""What functions do with their arguments: arrays, axes, narrow floats."""

import functools
import operator
from typing import Any, Callable, List, TypeVar

from hoist.errors import InvalidArgument
from hoist.graph._traced import Axes, Traced, axes_of
from hoist.graph._types import is_float, promoted

_NARROW = ("float16", "bfloat16")
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _base(*values: Any) -> Traced:
    for value in values:
        if isinstance(value, Traced):
            return value
    raise InvalidArgument("a function of arrays is given none")


def _arrays(*values: Any) -> List[Traced]:
    """All of them traced, where one is."""
    base = _base(*values)
    return [base._made(base._id_of(one)) for one in values]


def _counted(base: Traced, count: int, dtype: str = "float32") -> Traced:
    """The vector 0, 1, …"""
    import numpy

    return base._made(base._id_of(numpy.arange(count, dtype=dtype)))


def _rounded_once(function: _Function) -> _Function:
    """Arrays of 16-bit floats are computed with as float32, and so is the result until the end."""

    @functools.wraps(function)
    def called(*arguments: Any, **keywords: Any) -> Any:
        given = (*arguments, *keywords.values())
        dtypes = [one.dtype for one in given if isinstance(one, Traced) and is_float(one.dtype)]
        if not any(one in _NARROW for one in dtypes):
            return function(*arguments, **keywords)

        def wide(value: Any) -> Any:
            is_narrow = isinstance(value, Traced) and value.dtype in _NARROW
            return value.astype("float32") if is_narrow else value

        result = function(*map(wide, arguments), **{name: wide(one) for name, one in keywords.items()})
        return result.astype(functools.reduce(promoted, dtypes)) if is_float(result.dtype) else result

    return called  # type: ignore[return-value]


def _axis(who: str, axis: Any, ndim: int) -> int:
    """The axis counted from the first one."""
    index = operator.index(axis)
    if not -ndim <= index < ndim:
        raise InvalidArgument(f"{who} over axis {axis} of an array with {ndim}")
    return index % ndim


def _axes(who: str, axis: Axes, ndim: int) -> List[int]:
    """Each counted from the first one; all for None."""
    if axis is None:
        return list(range(ndim))
    found = [_axis(who, one, ndim) for one in axes_of(axis)]
    if len(set(found)) != len(found):
        raise InvalidArgument(f"{who} over axes {axis} of an array with {ndim}: give each once")
    return found
