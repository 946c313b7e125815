"""Functions along an axis by places, and those of integers; named as the Python array API names them."""

from typing import Any, List, Optional

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _axis, _base
from hoist.graph._functions import _binary, _public, _unary, broadcast_to, concat

__all__: List[str] = []

floor_divide = _binary("floor_divide", "The quotient rounded down; of integers by 0: 0.", __name__)
remainder = _binary("remainder", "With the sign of x2; of integers by 0: 0.", __name__)
bitwise_and = _binary("bitwise_and", "Of integers or booleans.", __name__)
bitwise_or = _binary("bitwise_or", "Of integers or booleans.", __name__)
bitwise_xor = _binary("bitwise_xor", "Of integers or booleans.", __name__)
bitwise_invert = _unary("bitwise_invert", "Of integers or booleans.", __name__)
bitwise_left_shift = _binary("bitwise_left_shift", "0 where x2 is not from 0 to the type's bits.", __name__)
bitwise_right_shift = _binary("bitwise_right_shift", "The sign stays; x2 as of the left shift.", __name__)


@_public
def argmax(x: Any, *, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The first place of the greatest along an axis, or of all elements in row-major order; int64. NaN
    counts as the greatest."""
    return x._reduce("argmax", axis, keepdims)


@_public
def argmin(x: Any, *, axis: Optional[int] = None, keepdims: bool = False) -> Any:
    """The first place of the least, as argmax(). NaN counts as the least."""
    return x._reduce("argmin", axis, keepdims)


@_public
def cumulative_sum(x: Any, *, axis: Optional[int] = None, include_initial: bool = False) -> Any:
    """The sums of what lies up to each place, one after the other. Integers add in 64 bits.

    axis: None for an array with one axis.
    include_initial: with a 0 in front.
    """
    if axis is None and x.ndim != 1:
        raise InvalidArgument(f"cumulative_sum of shape {x.shape}: give the axis")
    at = 0 if axis is None else _axis("cumulative_sum", axis, x.ndim)
    sums = x._made(x._builder.cumulative_sum(x._id, at))
    if not include_initial:
        return sums
    shape = list(sums.shape)
    shape[at] = 1
    zeros = broadcast_to(sums._made(sums._id_of(0, sums.dtype)), tuple(shape))
    return concat([zeros, sums], axis=at)


@_public
def take_along_axis(x: Any, indices: Any, *, axis: int = -1) -> Any:
    """x[.., indices[.., i, ..], ..]: other axes broadcast; negative indices count from the end.

    A call with an index outside of the axis is an InvalidArgument; what `out` then has is undefined.
    Where the result has no elements no index is looked at.
    """
    base = _base(x, indices)
    return base._made(base._builder.take_along(base._id_of(x), base._id_of(indices), axis))


@_public
def take(x: Any, indices: Any, *, axis: Optional[int] = None) -> Any:
    """The elements, or parts, at these places of an axis; None: of all elements in row-major order.

    Indices may have any shape, which takes the axis's place. Else as take_along_axis().
    """
    base = _base(x, indices)
    table, places = base._made(base._id_of(x)), base._made(base._id_of(indices))
    if axis is None:
        table, axis = table.reshape((-1,)), 0
    at = _axis("take", axis, table.ndim)
    if places.ndim == 0:
        part = take(table, places.reshape((1,)), axis=at)
        return part.reshape(table.shape[:at] + table.shape[at + 1 :])
    # All axes of the indices but the last one are new ones.
    rest = table.shape[at + 1 :]
    last = at + places.ndim - 1
    line = (1,) * at + places.shape + (1,) * len(rest)
    wide = table.shape[:at] + (1,) * (places.ndim - 1) + (table.shape[at],) + rest
    return take_along_axis(table.reshape(wide), places.reshape(line), axis=last)
