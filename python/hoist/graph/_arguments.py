"""What functions do with their arguments: arrays, axes, narrow floats."""

import functools
import operator
from typing import Any, Callable, Dict, List, Tuple, TypeVar

from hoist.errors import InvalidArgument
from hoist.graph._traced import Axes, Traced, axes_of, is_array
from hoist.graph._types import float_for, is_float, is_integer, promoted

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


def _with_arrays(
    function: Callable[..., Any],
    arguments: Tuple[Any, ...],
    keywords: Dict[str, Any],
    changed: Callable[[Traced], Any],
) -> Any:
    """The function of these arguments, arrays among them traced and changed."""
    base = _base(*arguments, *keywords.values())

    def made(value: Any) -> Any:
        if isinstance(value, Traced) or is_array(value):
            return changed(base._made(base._id_of(value)))
        return value

    return function(*map(made, arguments), **{name: made(one) for name, one in keywords.items()})


def _rounded_once(function: _Function) -> _Function:
    """Arrays of 16-bit floats are computed with as float32, and so is the result until the end."""

    @functools.wraps(function)
    def called(*arguments: Any, **keywords: Any) -> Any:
        dtypes: List[str] = []

        def wide(value: Traced) -> Any:
            if is_float(value.dtype):
                dtypes.append(value.dtype)
            return value.astype("float32") if value.dtype in _NARROW else value

        result = _with_arrays(function, arguments, keywords, wide)
        if not any(one in _NARROW for one in dtypes) or not is_float(result.dtype):
            return result
        return result.astype(functools.reduce(promoted, dtypes))

    return called  # type: ignore[return-value]


def _in_floats(function: _Function) -> _Function:
    """Arrays of integers are computed with as the floats beside them; without any as their float
    type. Else differences and products would wrap."""

    @functools.wraps(function)
    def called(*arguments: Any, **keywords: Any) -> Any:
        given = [one for one in (*arguments, *keywords.values()) if isinstance(one, Traced)]
        dtypes = [one.dtype for one in given]
        floats = [one for one in dtypes if is_float(one)]
        wide = float_for(functools.reduce(promoted, floats or dtypes))

        def as_float(value: Traced) -> Any:
            return value.astype(wide) if is_integer(value.dtype) else value

        return _with_arrays(function, arguments, keywords, as_float)

    return _rounded_once(called)  # type: ignore[return-value]


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
