"""Functions of arrays that compute at once: a program for each signature."""

from numbers import Integral, Real
from typing import Any, Callable, Dict, Tuple

from hoist import _graph
from hoist.errors import InvalidArgument
from hoist.graph._compile import NoArrays, Tracer, native_call
from hoist.graph._program import Number
from hoist.graph._traced import has_traced, is_array
from hoist.graph._types import float_for, takes_integers


class _EagerTracer(Tracer):
    """Of a function that programs are made of: it adds to the one that is being traced.

    takes_numbers: whether one program serves all numbers that stand beside an array.
    """

    def __init__(self, function: Callable[..., Any], takes_numbers: bool) -> None:
        super().__init__(function, False, 0)
        self.takes_numbers = takes_numbers

    def __call__(self, arguments: Tuple[Any, ...], keywords: Dict[str, Any]) -> Any:
        if has_traced((arguments, keywords)):
            return self.function(*arguments, **keywords)
        if self.takes_numbers and any(map(_is_number, arguments)):
            arguments = _with_numbers(arguments, takes_integers(self.function.__name__))
        if not _has_array((arguments, keywords)):
            raise InvalidArgument(f"{self.function.__name__} is given no array")
        try:
            return super().__call__(arguments, keywords)
        except NoArrays as found:  # unstack() along an axis of length 0
            return found.result


def _has_array(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_array, value.values()))
    if isinstance(value, (tuple, list)):
        return any(map(_has_array, value))
    return is_array(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _with_numbers(arguments: Tuple[Any, ...], in_integers: bool) -> Tuple[Any, ...]:
    """Numbers that become elements of the one type that the arrays have, or of their float type."""
    arrays = [one for one in arguments if is_array(one)]
    dtypes = {_graph.signature(one, "an argument")[0] for one in arrays}
    if len(dtypes) != 1:
        return arguments
    dtype = dtypes.pop()
    if dtype == "bool":
        return arguments
    dtype = dtype if in_integers else float_for(dtype)
    kind: type = Real if "float" in dtype else Integral
    numbers = [_is_number(one) and isinstance(one, kind) for one in arguments]
    # NumPy's numbers as Python's.
    plain = int if kind is Integral else float
    return tuple(
        Number(one if type(one) is int else plain(one), dtype) if is_number else one
        for one, is_number in zip(arguments, numbers)
    )


def eager(function: Callable[..., Any], takes_numbers: bool = False) -> Any:
    """The function for arrays, which computes at once by a program for each signature."""
    return native_call(_EagerTracer(function, takes_numbers))
