"""Functions that move elements: order, repetition, parts, padding, triangles.

None changes a value. What is flipped, repeated along a new axis, split or moved is a view; rolled and
padded arrays are concatenations.
"""

import math
import operator
from typing import Any, List, Optional, Sequence, Tuple, Union

from hoist.errors import InvalidArgument
from hoist.graph._arguments import _arrays, _axes, _axis, _counted
from hoist.graph._functions import _public, broadcast_to, concat, expand_dims, where
from hoist.graph._traced import Axes, Traced, axes_of
from hoist.graph._types import is_integer

__all__: List[str] = []


def _part(x: Traced, axis: int, *part: Optional[int]) -> Traced:
    """x[part] along an axis."""
    return x[(*(slice(None),) * axis, slice(*part))]


def _number(x: Traced, value: float) -> Traced:
    """Of the type of x."""
    if is_integer(x.dtype):
        if not float(value).is_integer():
            raise InvalidArgument(f"{value} among elements of {x.dtype}: give a whole number")
        value = int(value)
    return x._made(x._id_of(value, x.dtype))


def _with_extent(x: Traced, axis: int, extent: int) -> Tuple[int, ...]:
    return (*x.shape[:axis], extent, *x.shape[axis + 1 :])


@_public
def flip(x: Any, *, axis: Axes = None) -> Any:
    """Backwards along one axis, several, or all."""
    axes = _axes("flip", axis, x.ndim)
    return x[tuple(slice(None, None, -1 if i in axes else 1) for i in range(x.ndim))]


@_public
def roll(x: Any, shift: Union[int, Sequence[int]], *, axis: Axes = None) -> Any:
    """Each element `shift` places on along an axis, the last ones in front; several axes have a shift
    each. Without axes the elements count as one row."""
    if axis is None:
        if len(axes_of(shift)) != 1:
            raise InvalidArgument(f"roll by {shift} without axes: give one number")
        return roll(x.reshape((-1,) if x.size else (0,)), shift, axis=0).reshape(x.shape)
    axes = [_axis("roll", one, x.ndim) for one in axes_of(axis)]
    shifts = axes_of(shift)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(shifts) != len(axes):
        raise InvalidArgument(f"roll by {shift} over axes {axis}: give as many of both")
    for by, at in zip(shifts, axes):
        extent = x.shape[at]
        begin = -by % extent if extent else 0
        if begin:
            x = concat([_part(x, at, begin, extent), _part(x, at, 0, begin)], axis=at)
    return x


@_public
def repeat(x: Any, repeats: int, *, axis: Optional[int] = None) -> Any:
    """Each element `repeats` times, one behind the other, along an axis; without one, of all as one
    row."""
    count = operator.index(repeats)
    if count < 0:
        raise InvalidArgument(f"repeat {count} times: give no negative number")
    if axis is None:
        return repeat(x.reshape((x.size,)), count, axis=0)
    at = _axis("repeat", axis, x.ndim)
    wide = (*x.shape[: at + 1], count, *x.shape[at + 1 :])
    return broadcast_to(expand_dims(x, axis=at + 1), wide).reshape(
        _with_extent(x, at, x.shape[at] * count)
    )


@_public
def tile(x: Any, repetitions: Union[int, Sequence[int]]) -> Any:
    """The whole array as often along each of the last axes; more repetitions than axes make new
    ones."""
    counts = axes_of(repetitions)
    if min(counts, default=0) < 0:
        raise InvalidArgument(f"tile {tuple(counts)} times: give no negative number")
    shape = [1] * (len(counts) - x.ndim) + list(x.shape)
    counts = [1] * (len(shape) - len(counts)) + counts
    x = x.reshape(tuple(shape))
    for axis, count in enumerate(counts):
        if count != 1:
            before, behind = math.prod(shape[:axis]), math.prod(shape[axis:])
            repeated = broadcast_to(x.reshape((before, 1, behind)), (before, count, behind))
            shape[axis] *= count
            x = repeated.reshape(tuple(shape))
    return x


@_public
def unstack(x: Any, *, axis: int = 0) -> Any:
    """A tuple of the parts along an axis, which they lack: an empty one where there are none."""
    at = _axis("unstack", axis, x.ndim)
    return tuple(x[(*(slice(None),) * at, i)] for i in range(x.shape[at]))


@_public
def split(x: Any, split_size_or_sections: Union[int, Sequence[int]], *, axis: int = 0) -> Any:
    """A tuple of parts along an axis: of one length, but for the last one, or of these lengths."""
    at = _axis("split", axis, x.ndim)
    extent = x.shape[at]
    if isinstance(split_size_or_sections, (tuple, list)):
        sections = [operator.index(one) for one in split_size_or_sections]
        if sum(sections) != extent or min(sections, default=0) < 0:
            raise InvalidArgument(
                f"split of axis {axis} of {x.shape} in {tuple(sections)}: the sum must be {extent}"
            )
    else:
        size = operator.index(split_size_or_sections)  # type: ignore[arg-type]
        if size <= 0:
            raise InvalidArgument(f"split in parts of {size}: give at least 1")
        sections = [min(size, extent - begin) for begin in range(0, extent, size)] or [0]
    parts = []
    begin = 0
    for length in sections:
        parts.append(_part(x, at, begin, begin + length))
        begin += length
    return tuple(parts)


@_public
def moveaxis(x: Any, source: Axes, destination: Axes) -> Any:
    """Axes at other places; the others keep their order."""
    sources = _axes("moveaxis", axes_of(source), x.ndim)
    destinations = _axes("moveaxis", axes_of(destination), x.ndim)
    if len(sources) != len(destinations):
        raise InvalidArgument(f"moveaxis of {source} to {destination}: give as many of both")
    order = [one for one in range(x.ndim) if one not in sources]
    for to, one in sorted(zip(destinations, sources)):
        order.insert(to, one)
    return x.permute_dims(order)


@_public
def swapaxes(x: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    order = list(range(x.ndim))
    a, b = _axis("swapaxes", axis1, x.ndim), _axis("swapaxes", axis2, x.ndim)
    order[a], order[b] = b, a
    return x.permute_dims(order)


@_public
def flatten(x: Any, *, start_dim: int = 0, end_dim: int = -1) -> Any:
    """These axes, and those between them, as one."""
    if x.ndim == 0:
        return x.reshape((1,))
    first, last = _axis("flatten", start_dim, x.ndim), _axis("flatten", end_dim, x.ndim)
    if first > last:
        raise InvalidArgument(f"flatten from axis {start_dim} to {end_dim}: give the first one first")
    extent = 1
    for one in x.shape[first : last + 1]:
        extent *= one
    return x.reshape((*x.shape[:first], extent, *x.shape[last + 1 :]))


@_public
def broadcast_arrays(*arrays: Any) -> Any:
    """A tuple of them all in the shape that they broadcast to."""
    made = _arrays(*arrays)
    rank = max(one.ndim for one in made)
    shape = [1] * rank
    for one in made:
        for i, extent in enumerate(one.shape, rank - one.ndim):
            if extent != 1:
                shape[i] = extent
    return tuple(broadcast_to(one, shape) for one in made)


@_public
def meshgrid(*arrays: Any, indexing: str = "xy") -> Any:
    """A tuple of coordinates on the grid of these vectors. "xy": the first one runs along axis 1;
    "ij": along axis 0."""
    if indexing not in ("xy", "ij"):
        raise InvalidArgument(f'meshgrid by {indexing!r}: give "xy" or "ij"')
    made = _arrays(*arrays)
    if any(one.ndim != 1 for one in made):
        raise InvalidArgument("meshgrid of arrays that are no vectors")
    rank = len(made)
    order = list(range(rank))
    if indexing == "xy" and rank >= 2:
        order[0], order[1] = 1, 0
    shape = [made[order.index(i)].size for i in range(rank)]
    return tuple(
        broadcast_to(one.reshape(tuple(one.size if i == at else 1 for i in range(rank))), shape)
        for one, at in zip(made, order)
    )


@_public
def diagonal(x: Any, *, offset: int = 0) -> Any:
    """Of the last two axes: x[..., i, i + offset]."""
    if x.ndim < 2:
        raise InvalidArgument(f"diagonal of shape {x.shape}: it needs two axes")
    rows, columns = x.shape[-2:]
    row, column = max(0, -offset), max(0, offset)
    length = max(0, min(rows - row, columns - column))
    flat = x.reshape((*x.shape[:-2], rows * columns))
    begin = row * columns + column
    end = begin + (length - 1) * (columns + 1) + 1
    return flat[(..., slice(begin, end, columns + 1) if length else slice(0, 0))]


def _triangle(who: str, x: Traced, k: int, is_lower: bool) -> Any:
    if x.ndim < 2:
        raise InvalidArgument(f"{who} of shape {x.shape}: it needs two axes")
    rows, columns = x.shape[-2:]
    row = _counted(x, rows).reshape((rows, 1))
    column = _counted(x, columns) - float(k)
    return where(column <= row if is_lower else column >= row, x, _number(x, 0.0))


@_public
def tril(x: Any, *, k: int = 0) -> Any:
    """0 above the diagonal `k` of the last two axes; above the main one is 1."""
    return _triangle("tril", x, operator.index(k), True)


@_public
def triu(x: Any, *, k: int = 0) -> Any:
    """0 below the diagonal `k` of the last two axes; above the main one is 1."""
    return _triangle("triu", x, operator.index(k), False)


@_public
def diff(x: Any, *, axis: int = -1, n: int = 1) -> Any:
    """Each element less the one before it along an axis, `n` times."""
    at = _axis("diff", axis, x.ndim)
    if operator.index(n) < 0:
        raise InvalidArgument(f"diff {n} times: give no negative number")
    for _ in range(n):
        extent = x.shape[at]
        if extent == 0:
            return x
        x = _part(x, at, 1, extent) - _part(x, at, 0, extent - 1)
    return x
