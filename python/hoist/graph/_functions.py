"""Functions of arrays, named as the Python array API names them.

With arrays of a function that is being traced they add to its program. With others they compute at
once, by a program of their own.
"""

import operator
import sys
from typing import Any, Callable, List, Sequence, TypeVar

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _axes, _base
from hoist.graph._eager import eager
from hoist.graph._traced import Axes, Traced

__all__: List[str] = []

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _public(function: _Function, takes_numbers: bool = False) -> _Function:
    sys.modules[function.__module__].__all__.append(function.__name__)
    return eager(function, takes_numbers)  # type: ignore[no-any-return]


def _unary(name: str, what: str, module: str = __name__) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return _base(x)._node(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = what, module
    return _public(function)


def _binary(name: str, what: str, module: str = __name__) -> Callable[[Any, Any], Any]:
    def function(x1: Any, x2: Any) -> Any:
        return _base(x1, x2)._node(name, x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = what, module
    return _public(function, takes_numbers=True)


negative = _unary("negative", "-x")
abs = _unary("abs", "|x|")
exp = _unary("exp", "e^x")
log = _unary("log", "The natural logarithm.")
sqrt = _unary("sqrt", "The square root.")
rsqrt = _unary("rsqrt", "1 / sqrt(x)")
tanh = _unary("tanh", "The hyperbolic tangent.")
sigmoid = _unary("sigmoid", "1 / (1 + e^-x)")
erf = _unary("erf", "The error function.")
relu = _unary("relu", "x, or 0 where it is less; NaN stays.")
add = _binary("add", "x1 + x2")
subtract = _binary("subtract", "x1 - x2")
multiply = _binary("multiply", "x1 * x2")
divide = _binary("divide", "x1 / x2")
minimum = _binary("minimum", "The lesser; NaN where one is; -0 < +0.")
maximum = _binary("maximum", "The greater; NaN where one is; -0 < +0.")
equal = _binary("equal", "x1 == x2")
not_equal = _binary("not_equal", "x1 != x2")
less = _binary("less", "x1 < x2")
less_equal = _binary("less_equal", "x1 <= x2")
greater = _binary("greater", "x1 > x2")
greater_equal = _binary("greater_equal", "x1 >= x2")


@_public
def pow(x1: Any, x2: Any) -> Any:
    """x1 to the power of x2; 2 and 3 are products."""
    return x1**x2 if isinstance(x1, Traced) else _base(x2)._node("pow", x1, x2)


@_public
def square(x: Any) -> Any:
    """x * x"""
    return x * x


@_public
def where(condition: Any, x1: Any, x2: Any) -> Any:
    """x1 where the condition is true, else x2."""
    return _base(condition, x1, x2)._node("where", condition, x1, x2)


@_public
def clip(x: Any, min: Any = None, max: Any = None) -> Any:
    """Not below `min`, not above `max`; NaN stays."""
    low = x if min is None else x._node("maximum", x, min)
    return low if max is None else low._node("minimum", low, max)


@_public
def logical_not(x: Any) -> Any:
    """Of booleans."""
    return x._node("where", x, _truth(x, False), _truth(x, True))


@_public
def logical_and(x1: Any, x2: Any) -> Any:
    """Of booleans."""
    return x1._node("where", x1, x2, _truth(x1, False))


@_public
def logical_or(x1: Any, x2: Any) -> Any:
    """Of booleans."""
    return x1._node("where", x1, _truth(x1, True), x2)


def _truth(x: Traced, value: bool) -> Traced:
    return x._node("to_bool", float(value))


@_public
def astype(x: Any, dtype: Any) -> Any:
    """As another type: rounded once; floats are truncated to integers, and saturate; integers wrap."""
    return x.astype(dtype)


@_public
def sum(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """Over one axis, several, or all; by pairs."""
    return x.sum(axis, keepdims)


@_public
def mean(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """The sum divided by the number of elements."""
    return x.mean(axis, keepdims)


@_public
def max(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """The greatest; NaN where one is."""
    return x.max(axis, keepdims)


@_public
def min(x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """The least; NaN where one is."""
    return x.min(axis, keepdims)


@_public
def matmul(x1: Any, x2: Any) -> Any:
    """x1 @ x2: matrices, stacks of them, vectors."""
    return x1 @ x2


@_public
def reshape(x: Any, shape: Sequence[int]) -> Any:
    """The same elements in another shape; one extent may be -1."""
    return x.reshape(tuple(shape))


@_public
def permute_dims(x: Any, axes: Sequence[int]) -> Any:
    """The axes in another order."""
    return x.permute_dims(axes)


@_public
def matrix_transpose(x: Any) -> Any:
    """The last two axes exchanged."""
    return x.mT


@_public
def broadcast_to(x: Any, shape: Sequence[int]) -> Any:
    """Repeated along axes of length 1 and new ones."""
    return x._made(x._builder.broadcast(x._id, list(shape)))


@_public
def expand_dims(x: Any, *, axis: int = 0) -> Any:
    """With a new axis of length 1 at that place."""
    shape = list(x.shape)
    if not -len(shape) - 1 <= axis <= len(shape):
        raise InvalidArgument(f"axis {axis} of a new axis in shape {x.shape}")
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
    return x.reshape(tuple(shape))


@_public
def squeeze(x: Any, axis: Axes) -> Any:
    """Without these axes, whose length is 1."""
    axes = _axes("squeeze", axis, x.ndim)
    if any(x.shape[one] != 1 for one in axes):
        raise InvalidArgument(f"squeeze of axes {axis} in shape {x.shape}: they must be 1")
    return x.reshape(tuple(extent for i, extent in enumerate(x.shape) if i not in axes))


@_public
def concat(arrays: Sequence[Any], *, axis: int = 0) -> Any:
    """One behind the other along an axis."""
    base = _base(*arrays)
    return base._made(base._builder.concatenate(base._alike(arrays), operator.index(axis)))


@_public
def stack(arrays: Sequence[Any], *, axis: int = 0) -> Any:
    """One behind the other along a new axis."""
    base = _base(*arrays)
    made = [base._made(base._id_of(one)) for one in arrays]
    rows = [expand_dims(one, axis=axis) for one in made]
    return concat(rows, axis=axis if axis >= 0 else rows[0].ndim + axis)


@_public
def gelu(x: Any, *, approximate: str = "tanh") -> Any:
    """x times the normal distribution function of x: by "tanh", or by erf ("none")."""
    if approximate not in ("tanh", "none"):
        raise InvalidArgument(f'gelu by {approximate!r}: give "tanh" or "none"')
    make = x._builder.gelu_tanh if approximate == "tanh" else x._builder.gelu_erf
    return x._made(make(x._id))


@_public
def softmax(x: Any, *, axis: int = -1) -> Any:
    """e^x divided by the sum of these along an axis."""
    return x._made(x._builder.softmax(x._id, operator.index(axis)))


@_public
def log_softmax(x: Any, *, axis: int = -1) -> Any:
    """The logarithm of softmax."""
    return x._made(x._builder.log_softmax(x._id, operator.index(axis)))


@_public
def layer_norm(x: Any, weight: Any = None, bias: Any = None, *, eps: float = 1e-5) -> Any:
    """(x - mean) / sqrt(variance + eps) along the last axis, times `weight`, plus `bias`."""
    result = x._made(x._builder.normalise(x._id, float(eps)))
    if weight is not None:
        result = result * weight
    return result if bias is None else result + bias
