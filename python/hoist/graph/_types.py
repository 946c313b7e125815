"""Element types: their names, and what comes of several.

Arrays of different types are promoted as the Python array API says; integers beside floats, of which
it does not say, take the floats' type. Python's numbers are weak: they take the arrays' type where it
has such numbers.
"""

import functools
from numbers import Integral
from typing import Any, Iterable, Sequence

from hoist import _graph
from hoist.errors import InvalidArgument

_BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}
_BITS.update({f"{kind}int{bits}": bits for kind in ("", "u") for bits in (8, 16, 32, 64)})
_NAMES = {"float": "float64", "int": "int64"}

DTYPES = ("bool", *_BITS)


def name_of(dtype: Any) -> str:
    """The name of a type: given so, or as a type of Python, NumPy, ml_dtypes or PyTorch."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype)
    short = str(name).rpartition(".")[2]
    return _NAMES.get(short, short)


def is_float(dtype: str) -> bool:
    return "float" in dtype


def is_integer(dtype: str) -> bool:
    return "int" in dtype


def float_for(dtype: str) -> str:
    """What functions and divisions of integers give."""
    if is_float(dtype):
        return dtype
    return "float64" if dtype in ("int64", "uint64") else "float32"


@functools.lru_cache(maxsize=None)
def promoted(a: str, b: str) -> str:
    """The type of both."""
    if a == b or b == "bool":
        return a
    if a == "bool":
        return b
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    if _BITS[a] == _BITS[b] == 16 and is_float(a):
        return "float32"
    wide, narrow = (a, b) if _BITS[a] > _BITS[b] else (b, a)
    if is_float(a) or a[0] == b[0] or (_BITS[a] != _BITS[b] and wide[0] == "i"):
        return wide
    unsigned = a if a[0] == "u" else b
    if unsigned == "uint64":
        raise InvalidArgument(f"{a} beside {b}: no integer type has both; cast one with astype()")
    return f"int{2 * _BITS[unsigned]}"


def type_of_all(dtypes: Iterable[str], numbers: Sequence[Any]) -> str:
    """The type of arrays and Python's numbers."""
    found = functools.reduce(promoted, dtypes, "bool")
    for number in numbers:
        if isinstance(number, bool):
            continue
        if not isinstance(number, Integral):
            found = float_for(found)
        elif found == "bool":
            found = "int64"
    return found


@functools.lru_cache(maxsize=None)
def takes_integers(op: str) -> bool:
    return _graph.takes(op, "int64")
