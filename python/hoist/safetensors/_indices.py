"""What may stand in the brackets behind a PySafeSlice, for all frameworks but torch."""

import operator
from typing import Any, Optional, Sequence, Tuple, Union

from hoist.safetensors._errors import InvalidIndex, Unsupported

Part = Union[None, int, slice, Any]  # Any: `...`


def checked_index(index: Any, shape: Sequence[int]) -> Tuple[Part, ...]:
    """As safetensors takes it, and None, negative steps and negative ends: integers and what stands
    for one (True is 1), slices that end within their dimension, `...`, and no lists of indices."""
    if isinstance(index, list):
        if index:
            raise Unsupported("Non empty lists are not implemented")
        index = slice(0, 0)
    given = index if isinstance(index, tuple) else (index,)
    parts = tuple(_part(part, position) for position, part in enumerate(given))
    if sum(part is ... for part in parts) > 1:
        raise InvalidIndex("Only one ellipsis (...) is allowed in slice index")
    taken = _by_axis(parts, len(shape))
    if len(taken) > len(shape):
        raise InvalidIndex(
            f"{_slicing(taken, shape)}: more slicing indexes than dimensions in tensor"
        )
    for axis, part in enumerate(taken):
        _check_extent(part, axis, shape, taken)
    return parts


def _part(part: Any, position: int) -> Part:
    if part is None or part is ...:
        return part
    if isinstance(part, slice):
        ends = slice(_end(part.start), _end(part.stop), _end(part.step))
        if ends.step == 0:
            raise InvalidIndex("a slice of step 0")
        return ends
    try:
        return operator.index(part)
    except TypeError:
        raise InvalidIndex(
            f"Unsupported slice index at position {position}: expected slice, int, ellipsis or None"
        ) from None


def _by_axis(parts: Sequence[Part], dimensions: int) -> Sequence[Part]:
    """Without None, and with the slices that `...` stands for."""
    taken = [part for part in parts if part is not None]
    if ... in taken:
        at = taken.index(...)
        taken[at : at + 1] = [slice(None)] * (dimensions - len(taken) + 1)
    return taken


def _end(end: Any) -> Optional[int]:
    return None if end is None else operator.index(end)


def _check_extent(part: Any, axis: int, shape: Sequence[int], taken: Sequence[Part]) -> None:
    extent = shape[axis]
    if not isinstance(part, slice):
        asked = part
        if asked < -extent:
            raise InvalidIndex(f"Invalid index {asked} for dimension {axis} of size {extent}")
        is_outside = asked >= extent
    elif part.step is None or part.step > 0:
        start, stop = part.start or 0, extent if part.stop is None else part.stop
        asked = start if 0 < extent <= start else stop - 1
        is_outside = 0 < extent <= asked
    else:
        return
    if is_outside:
        raise InvalidIndex(
            f"{_slicing(taken, shape)}: index {asked} out of bounds for tensor dimension #{axis} "
            f"of size {extent}"
        )


def _slicing(taken: Sequence[Part], shape: Sequence[int]) -> str:
    texts = ", ".join(_text(part) for part in taken)
    return f"Error during slicing [{texts}] with shape {list(shape)}"


def _text(part: Part) -> str:
    if not isinstance(part, slice):
        return str(part)
    ends = ["" if end is None else str(end) for end in (part.start, part.stop)]
    return ":".join(ends if part.step is None else [*ends, str(part.step)])
