"""Indexing of traced arrays: numbers, slices, None and one ellipsis; or one array of integers."""

import operator
from typing import Any, List

from hoist.errors import InvalidArgument
from hoist.graph._traced import Traced, is_array


def indexed(array: Traced, key: Any) -> Traced:
    if isinstance(key, Traced) or (is_array(key) and getattr(key, "ndim", 1) != 0):
        from hoist.graph._along import take

        places = array._made(array._id_of(key))
        if places.dtype == "bool":
            raise InvalidArgument(
                "a mask as an index: traced arrays take numbers and slices, or an array of integers"
            )
        taken: Traced = take(array, places, axis=0)
        return taken
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for one in keys if one is not None and one is not Ellipsis)
    dots = [i for i, one in enumerate(keys) if one is Ellipsis]
    if len(dots) > 1 or used > array.ndim:
        raise InvalidArgument(f"{len(keys)} indices of an array of shape {array.shape}")
    at = dots[0] if dots else len(keys)
    keys[at : at + 1] = [slice(None)] * (array.ndim - used)
    begins: List[int] = []
    lengths: List[int] = []
    steps: List[int] = []
    shape: List[int] = []
    for one in keys:
        if one is None:
            shape.append(1)
            continue
        extent = array.shape[len(begins)]
        if isinstance(one, slice):
            begin, end, step = one.indices(extent)
            length = len(range(begin, end, step))
            shape.append(length)
        else:
            begin, length, step = _index(one, extent, array), 1, 1
        begins.append(begin)
        lengths.append(length)
        steps.append(step)
    part = array._made(array._builder.slice(array._id, begins, lengths, steps))
    return part if tuple(shape) == part.shape else part.reshape(tuple(shape))


def _index(key: Any, extent: int, array: Traced) -> int:
    try:
        if isinstance(key, bool):  # an axis of a condition's elements, not one of two places
            raise TypeError
        index = operator.index(key)
    except TypeError:
        raise InvalidArgument(
            f"an index of type {type(key).__name__}: traced arrays take numbers and slices"
        ) from None
    if not -extent <= index < extent:
        raise IndexError(f"index {index} of an array of shape {array.shape}")
    return index % extent
