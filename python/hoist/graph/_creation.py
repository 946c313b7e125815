"""Functions that make arrays, named as the Python array API names them."""

import math
import operator
from numbers import Integral
from typing import Any, Optional, Sequence, Tuple, Union

from hoist import _graph
from hoist._graph import Array
from hoist.errors import InvalidArgument
from hoist.graph._dtypes import dtype_name
from hoist.graph._traced import Traced
from hoist.graph._types import is_integer

__all__ = [
    "Array",
    "arange",
    "array",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

Shape = Union[int, Sequence[int]]


def array(
    obj: Any, dtype: Any = None, device: Optional[str] = None, copy: Optional[bool] = None
) -> Any:
    """An Array of an array, a number, or nested sequences of numbers.

    Arrays are what has the buffer protocol, `__array_interface__`, DLPack or
    `__cuda_array_interface__`; they are used where they lie. Whole numbers become int64, others
    float32.

    dtype: another type is a copy.
    device: another one is a copy.
    copy: True: always; False: ValueError where a copy is needed; None: where one is needed.
    """
    if isinstance(obj, Traced):
        return obj if dtype is None else obj.astype(dtype)
    return _graph.asarray(obj, dtype_name(dtype), device, copy)


def asarray(
    obj: Any, dtype: Any = None, device: Optional[str] = None, copy: Optional[bool] = None
) -> Any:
    """array() by its name in the array API."""
    return array(obj, dtype, device, copy)


def from_dlpack(x: Any, *, device: Optional[str] = None, copy: Optional[bool] = None) -> Array:
    """An Array of what has DLPack, where it lies."""
    return _graph.from_dlpack(x, device, copy)


def _extents(shape: Shape) -> Tuple[int, ...]:
    if isinstance(shape, (tuple, list)):
        return tuple(operator.index(extent) for extent in shape)
    return (operator.index(shape),)  # type: ignore[arg-type]


def _place(device: Optional[str]) -> str:
    return "cpu" if device is None else device


def empty(shape: Shape, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """Of that shape; its elements are anything. float32 where no type is given."""
    return _graph.empty(_extents(shape), dtype_name(dtype) or "float32", _place(device))


def full(
    shape: Shape, fill_value: Any, *, dtype: Any = None, device: Optional[str] = None
) -> Array:
    """Of that number everywhere. The type is the number's where none is given."""
    name = dtype_name(dtype) or str(_graph.asarray(fill_value, None, None, None).dtype)
    return _graph.full(_extents(shape), fill_value, name, _place(device))


def zeros(shape: Shape, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """Of 0; float32 where no type is given."""
    return full(shape, 0, dtype=dtype or "float32", device=device)


def ones(shape: Shape, *, dtype: Any = None, device: Optional[str] = None) -> Array:
    """Of 1; float32 where no type is given."""
    return full(shape, 1, dtype=dtype or "float32", device=device)


def _like(x: Any, dtype: Any, device: Optional[str]) -> Tuple[Tuple[int, ...], str, Optional[str]]:
    known = x if isinstance(x, (Array, Traced)) else array(x)
    name = dtype_name(dtype) or str(known.dtype)
    place = known.device if device is None and isinstance(known, Array) else device
    return known.shape, name, place


def empty_like(x: Any, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """As x; its elements are anything."""
    return full_like(x, 0, dtype=dtype, device=device)


def full_like(
    x: Any, fill_value: Any, *, dtype: Any = None, device: Optional[str] = None
) -> Any:
    """As x, of that number everywhere."""
    shape, name, place = _like(x, dtype, device)
    if isinstance(x, Traced):
        number = x._builder.constant(full((), fill_value, dtype=name), "a number")
        return x._made(x._builder.broadcast(number, list(shape)))
    return full(shape, fill_value, dtype=name, device=place)


def zeros_like(x: Any, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """As x, of 0."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Any, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """As x, of 1."""
    return full_like(x, 1, dtype=dtype, device=device)


def _fits_64_bits(number: int) -> bool:
    return -(2**63) <= number < 2**63


def _counted(start: Any, step: Any, count: int, name: str) -> Array:
    """start, start + step, …: of integers exact. OverflowError where the type has one of them not."""
    made = empty(count, dtype=name)
    if count == 0:
        return made
    whole = isinstance(start, int) and isinstance(step, int)
    ends = (start, start + (count - 1) * step)
    if whole and is_integer(name):
        for one in ends:
            full((), one, dtype=name)  # refuses it
    if whole and (is_integer(name) or all(map(_fits_64_bits, ends))):
        _graph.count_integers(made, start % 2**64, step % 2**64)
    else:
        _graph.count_floats(made, float(start), float(step), False)
    return made


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Optional[str] = None,
) -> Array:
    """From start (0 where there is one number alone) to below stop. int64 of whole numbers, else
    float32. OverflowError for a whole number that the type has not."""
    if stop is None:
        start, stop = 0, start
    # NumPy's integers would wrap.
    start, stop, step = (
        operator.index(one) if isinstance(one, Integral) else one for one in (start, stop, step)
    )
    if step == 0 or not all(isinstance(one, int) or math.isfinite(one) for one in (start, stop, step)):
        raise InvalidArgument(f"arange from {start} to {stop} by {step}: give numbers, and a step not 0")
    whole = all(isinstance(one, int) for one in (start, stop, step))
    # -(-a // b) is a / b rounded up.
    count = -((start - stop) // step) if whole else math.ceil((stop - start) / step)
    name = dtype_name(dtype) or ("int64" if whole else "float32")
    made = _counted(start, step, max(count, 0), name)
    return made if device is None else made.to_device(device)


def linspace(
    start: Any,
    stop: Any,
    num: int,
    *,
    dtype: Any = None,
    device: Optional[str] = None,
    endpoint: bool = True,
) -> Array:
    """`num` numbers from start to stop at equal distances; without endpoint, stop is left out."""
    if num < 0:
        raise InvalidArgument(f"linspace of {num} numbers")
    steps = num - 1 if endpoint else num
    first, last = float(start), float(stop)
    # The whole way may be longer than the largest number.
    by_halves = math.isinf(last - first) and math.isfinite(first) and math.isfinite(last)
    way = last / 2 - first / 2 if by_halves else last - first
    made = empty(num, dtype=dtype)
    _graph.count_floats(made, first, way / steps if steps > 0 else 0.0, by_halves)
    if endpoint and num > 1:
        made[-1] = last
    return made if device is None else made.to_device(device)


def eye(
    n_rows: int,
    n_cols: Optional[int] = None,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Optional[str] = None,
) -> Array:
    """Of 1 on the k-th diagonal, which is above the main one for positive k, and 0 elsewhere."""
    columns = n_rows if n_cols is None else n_cols
    made = zeros((n_rows, columns), dtype=dtype)
    first = k if k >= 0 else -k * columns
    count = min(n_rows + min(k, 0), columns - max(k, 0))
    if count > 0:
        made.reshape(-1)[first : first + (count - 1) * (columns + 1) + 1 : columns + 1] = 1
    return made if device is None else made.to_device(device)
