"""More elements around an array."""

import operator
from typing import Any, List, Sequence

from hoist.errors import InvalidArgument
from hoist.graph._functions import _public, broadcast_to, concat
from hoist.graph._shapes import _number, _part, _with_extent, flip
from hoist.graph._traced import Traced

__all__: List[str] = []


def _side(x: Traced, axis: int, mode: str, count: int, is_front: bool, value: float) -> Any:
    """What is padded on one side of an axis."""
    extent = x.shape[axis]
    shape = _with_extent(x, axis, count)
    if mode == "constant":
        return broadcast_to(_number(x, value), shape)
    if mode == "replicate":
        at = 0 if is_front else extent - 1
        return broadcast_to(_part(x, axis, at, at + 1), shape)
    if mode == "circular":
        return _part(x, axis, extent - count, extent) if is_front else _part(x, axis, 0, count)
    inner = _part(x, axis, 1, count + 1) if is_front else _part(x, axis, extent - 1 - count, extent - 1)
    return flip(inner, axis=axis)


@_public
def pad(x: Any, pad: Sequence[int], *, mode: str = "constant", value: float = 0.0) -> Any:
    """More elements around: `pad` has how many before and behind, first of the last axis, then of the
    one before it, as torch.nn.functional.pad() has it. Negative numbers cut.

    mode: "constant", all are `value`; "replicate", the last one again; "reflect", backwards without
    the last one; "circular", those of the other end.
    """
    counts = [operator.index(one) for one in pad]
    if len(counts) % 2 != 0 or len(counts) > 2 * x.ndim:
        raise InvalidArgument(f"pad of {x.shape} by {tuple(counts)}: give a pair for an axis")
    most = {"constant": None, "replicate": None, "reflect": -1, "circular": 0}
    if mode not in most:
        raise InvalidArgument(f"pad by {mode!r}: give one of {', '.join(most)}")
    for i in range(len(counts) // 2):
        axis = x.ndim - 1 - i
        before, behind = counts[2 * i : 2 * i + 2]
        extent = x.shape[axis]
        if min(before, 0) + min(behind, 0) < -extent:
            raise InvalidArgument(f"pad of axis {axis} of {x.shape} by {before}, {behind}: too few")
        x = _part(x, axis, max(0, -before), extent - max(0, -behind))
        extent = x.shape[axis]
        longest = max(before, behind, 0)
        limit = most[mode]
        if longest > 0 and mode != "constant" and extent == 0:
            raise InvalidArgument(f"pad of axis {axis} of {x.shape} by {mode!r}: it has no elements")
        if limit is not None and longest > max(0, extent + limit):
            raise InvalidArgument(
                f"pad of axis {axis} of {x.shape} by {before}, {behind}: {mode!r} takes at most "
                f"{max(0, extent + limit)}"
            )
        parts = [x]
        if before > 0:
            parts.insert(0, _side(x, axis, mode, before, True, value))
        if behind > 0:
            parts.append(_side(x, axis, mode, behind, False, value))
        if len(parts) > 1:
            x = concat(parts, axis=axis)
    return x
